// The control processor, with the card's clock or a slower one of its own, and with the signals of AXI4 that it leaves to the card around it.

module control_processor_bench #(
  parameter int unsigned DATA_W    = 512,
  parameter int unsigned CLOCK_DIV = 1
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        stop_i,
  input logic [63:0] time_i,

  input  logic [15:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [ 3:0] s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [ 1:0] s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [15:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  output logic [         1:0] m_axi_awid,
  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic [         2:0] m_axi_awsize,
  output logic [         1:0] m_axi_awburst,
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
  output logic                m_axi_bready,
  output logic [         1:0] m_axi_arid,
  output logic [        63:0] m_axi_araddr,
  output logic [         7:0] m_axi_arlen,
  output logic [         2:0] m_axi_arsize,
  output logic [         1:0] m_axi_arburst,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [         1:0] m_axi_rid,
  input  logic [  DATA_W-1:0] m_axi_rdata,
  input  logic [         1:0] m_axi_rresp,
  input  logic                m_axi_rlast,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,

  output logic        running_o,
  output logic        stopped_o,
  output logic        alarm_o,
  output logic [63:0] alarm_at_o,
  output logic        quiescent_o
);

  axi_lite_if s_axil ();
  axi_lite_if m_axil ();
  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi_lite_pins u_s_axil (
    .axil         (s_axil),
    .s_axil_awaddr({1'b0, s_axil_awaddr}),
    .s_axil_araddr({1'b0, s_axil_araddr}),
    .*
  );
  axi4_write_pins #(
    .DATA_W(DATA_W)
  ) u_m_axi_write (
    .axi         (m_axi),
    .m_axi_awuser(),
    .*
  );
  axi4_read_pins #(
    .DATA_W(DATA_W)
  ) u_m_axi_read (
    .axi(m_axi),
    .*
  );

  // What the card around it says, which takes each answer.
  assign {m_axi.awid, m_axi.awsize, m_axi.awburst, m_axi.awuser, m_axi.bready}         = {2'd1, 3'($clog2(DATA_W / 8)), 2'b01, 1'b0, 1'b1};
  assign {m_axi.arid, m_axi.arsize, m_axi.arburst, m_axi.rready}                       = {2'd3, 3'($clog2(DATA_W / 8)), 2'b01, 1'b1};

  // No card around it: its registers answer 0 at once, and it has no interrupts.
  assign {m_axil.awready, m_axil.wready, m_axil.bvalid, m_axil.arready, m_axil.rvalid} = '1;
  assign {m_axil.bresp, m_axil.rresp, m_axil.rdata}                                    = '0;

  logic [4:0] msix_vector_o;
  logic card_msix_ready_o, msix_valid_o;

  control_clock #(
    .DATA_W   (DATA_W),
    .CLOCK_DIV(CLOCK_DIV)
  ) u_processor (
    .s_axil,
    .m_axil,
    .m_axi,
    .card_msix_valid_i (1'b0),
    .card_msix_vector_i(5'd0),
    .msix_ready_i      (1'b1),
    .*
  );

  logic unused;
  assign unused = ^{s_axil.awaddr[16], s_axil.araddr[16], m_axi.bid, m_axi.rid, m_axi.rlast, msix_vector_o, card_msix_ready_o, msix_valid_o};

endmodule
