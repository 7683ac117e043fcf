// The channels of reads of an axi4_if as pins, for a module that is wrapped; connected by names, `.*`.
//
// Handshake: AXI4's.
// Pipeline:  none, wires.

module axi4_read_pins #(
  parameter int unsigned DATA_W = 512
) (
  axi4_if.read axi,

  output logic [       1:0] m_axi_arid,
  output logic [      63:0] m_axi_araddr,
  output logic [       7:0] m_axi_arlen,
  output logic [       2:0] m_axi_arsize,
  output logic [       1:0] m_axi_arburst,
  output logic              m_axi_arvalid,
  input  logic              m_axi_arready,
  input  logic [       1:0] m_axi_rid,
  input  logic [DATA_W-1:0] m_axi_rdata,
  input  logic [       1:0] m_axi_rresp,
  input  logic              m_axi_rlast,
  input  logic              m_axi_rvalid,
  output logic              m_axi_rready
);

  assign m_axi_arid    = axi.arid;
  assign m_axi_araddr  = axi.araddr;
  assign m_axi_arlen   = axi.arlen;
  assign m_axi_arsize  = axi.arsize;
  assign m_axi_arburst = axi.arburst;
  assign m_axi_arvalid = axi.arvalid;
  assign axi.arready   = m_axi_arready;
  assign axi.rid       = m_axi_rid;
  assign axi.rdata     = m_axi_rdata;
  assign axi.rresp     = m_axi_rresp;
  assign axi.rlast     = m_axi_rlast;
  assign axi.rvalid    = m_axi_rvalid;
  assign m_axi_rready  = axi.rready;

endmodule
