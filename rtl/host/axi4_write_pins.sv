// The channels of writes of an axi4_if as pins, for a module that is wrapped; connected by names, `.*`.
//
// Handshake: AXI4's.
// Pipeline:  none, wires.

module axi4_write_pins #(
  parameter int unsigned DATA_W = 512
) (
  axi4_if.written axi,

  output logic [         1:0] m_axi_awid,
  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic [         2:0] m_axi_awsize,
  output logic [         1:0] m_axi_awburst,
  output logic                m_axi_awuser,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [  DATA_W-1:0] m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [         1:0] m_axi_bid,
  input  logic [         1:0] m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready
);

  assign m_axi_awid    = axi.awid;
  assign m_axi_awaddr  = axi.awaddr;
  assign m_axi_awlen   = axi.awlen;
  assign m_axi_awsize  = axi.awsize;
  assign m_axi_awburst = axi.awburst;
  assign m_axi_awuser  = axi.awuser;
  assign m_axi_awvalid = axi.awvalid;
  assign axi.awready   = m_axi_awready;
  assign m_axi_wdata   = axi.wdata;
  assign m_axi_wstrb   = axi.wstrb;
  assign m_axi_wlast   = axi.wlast;
  assign m_axi_wvalid  = axi.wvalid;
  assign axi.wready    = m_axi_wready;
  assign axi.bid       = m_axi_bid;
  assign axi.bresp     = m_axi_bresp;
  assign axi.bvalid    = m_axi_bvalid;
  assign m_axi_bready  = axi.bready;

endmodule
