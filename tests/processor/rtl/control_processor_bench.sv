// The control processor with the signals of AXI4 that it leaves to the card around it.

module control_processor_bench #(
  parameter int unsigned DATA_W = 512
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                stop_i,
  input  logic [63:0]         time_i,

  input  logic [15:0]         s_axil_awaddr,
  input  logic                s_axil_awvalid,
  output logic                s_axil_awready,
  input  logic [31:0]         s_axil_wdata,
  input  logic [3:0]          s_axil_wstrb,
  input  logic                s_axil_wvalid,
  output logic                s_axil_wready,
  output logic [1:0]          s_axil_bresp,
  output logic                s_axil_bvalid,
  input  logic                s_axil_bready,
  input  logic [15:0]         s_axil_araddr,
  input  logic                s_axil_arvalid,
  output logic                s_axil_arready,
  output logic [31:0]         s_axil_rdata,
  output logic [1:0]          s_axil_rresp,
  output logic                s_axil_rvalid,
  input  logic                s_axil_rready,

  output logic [1:0]          m_axi_awid,
  output logic [63:0]         m_axi_awaddr,
  output logic [7:0]          m_axi_awlen,
  output logic [2:0]          m_axi_awsize,
  output logic [1:0]          m_axi_awburst,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [DATA_W-1:0]   m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [1:0]          m_axi_bid,
  input  logic [1:0]          m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready,
  output logic [1:0]          m_axi_arid,
  output logic [63:0]         m_axi_araddr,
  output logic [7:0]          m_axi_arlen,
  output logic [2:0]          m_axi_arsize,
  output logic [1:0]          m_axi_arburst,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [1:0]          m_axi_rid,
  input  logic [DATA_W-1:0]   m_axi_rdata,
  input  logic [1:0]          m_axi_rresp,
  input  logic                m_axi_rlast,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,

  output logic                bus_idle_o,
  output logic                quiescent_o
);

  assign {m_axi_awid, m_axi_awlen, m_axi_awsize, m_axi_awburst} = {2'd1, 8'd0, 3'($clog2(DATA_W / 8)), 2'b01};
  assign {m_axi_arid, m_axi_arlen, m_axi_arsize, m_axi_arburst} = {2'd3, 8'd0, 3'($clog2(DATA_W / 8)), 2'b01};
  assign {m_axi_wlast, m_axi_bready, m_axi_rready} = '1;

  control_processor #(.DATA_W(DATA_W)) u_processor (.*);

  logic unused;
  assign unused = ^{m_axi_bid, m_axi_rid, m_axi_rlast};

endmodule
