// dma_write with write_watch at its port, as in the card. What is granted and where the ring lies is the test's word.

module write_watch_bench #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic core_rst_ni,

  input logic        grant_i,
  input logic [63:0] grant_addr_i,
  input logic [15:0] grant_bytes_i,
  input logic [63:0] ring_base_i,
  input logic [ 7:0] ring_log2_i,
  input logic        more_i,         // something is still to be written

  input  logic [1:0]       cmd_valid_i,
  output logic [1:0]       cmd_ready_o,
  input  logic [1:0][63:0] cmd_addr_i,
  input  logic [1:0][15:0] cmd_bytes_i,

  input  logic              place_tvalid_i,
  output logic              place_tready_o,
  input  logic [DATA_W-1:0] place_tdata_i,
  input  logic [ BYTES-1:0] place_tkeep_i,
  input  logic              place_tlast_i,

  input  logic              report_tvalid_i,
  output logic              report_tready_o,
  input  logic [DATA_W-1:0] report_tdata_i,
  input  logic [ BYTES-1:0] report_tkeep_i,
  input  logic              report_tlast_i,

  output logic [       1:0] m_axi_awid,
  output logic [      63:0] m_axi_awaddr,
  output logic [       7:0] m_axi_awlen,
  output logic [       2:0] m_axi_awsize,
  output logic [       1:0] m_axi_awburst,
  output logic              m_axi_awuser,
  output logic              m_axi_awvalid,
  input  logic              m_axi_awready,
  output logic [DATA_W-1:0] m_axi_wdata,
  output logic [ BYTES-1:0] m_axi_wstrb,
  output logic              m_axi_wlast,
  output logic              m_axi_wvalid,
  input  logic              m_axi_wready,
  input  logic [       1:0] m_axi_bid,
  input  logic [       1:0] m_axi_bresp,
  input  logic              m_axi_bvalid,
  output logic              m_axi_bready,
  output logic [      63:0] m_axi_araddr,
  output logic              m_axi_arvalid,
  input  logic              m_axi_arready,
  input  logic [DATA_W-1:0] m_axi_rdata,
  input  logic              m_axi_rvalid,
  output logic              m_axi_rready,

  output logic idle_o
);

  logic [2:0] cmd_ready, wr_ready, written, failed;
  logic request, error;

  assign cmd_ready_o     = cmd_ready[1:0];
  assign place_tready_o  = wr_ready[0];
  assign report_tready_o = wr_ready[1];

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi4_write_pins #(
    .DATA_W(DATA_W)
  ) u_pins (
    .axi(m_axi),
    .*
  );

  dma_write #(
    .DATA_W(DATA_W)
  ) u_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i({1'b0, cmd_valid_i}),
    .cmd_ready_o(cmd_ready),
    .cmd_addr_i ({64'd0, cmd_addr_i}),
    .cmd_bytes_i({16'd0, cmd_bytes_i}),
    .wr_valid_i ({1'b0, report_tvalid_i, place_tvalid_i}),
    .wr_ready_o (wr_ready),
    .wr_data_i  ({{DATA_W{1'b0}}, report_tdata_i, place_tdata_i}),
    .wr_count_i ({COUNT_W'(0), COUNT_W'($countones(report_tkeep_i)), COUNT_W'($countones(place_tkeep_i))}),
    .wr_last_i  ({1'b0, report_tlast_i, place_tlast_i}),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o
  );

  write_watch #(
    .DATA_W(DATA_W),
    .RINGS (1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .grant_i,
    .grant_addr_i,
    .grant_bytes_i,
    .ring_base_i,
    .ring_log2_i,
    .idle_i   (idle_o && !more_i),
    .awaddr_i (m_axi_awaddr),
    .awvalid_i(m_axi_awvalid),
    .awready_i(m_axi_awready),
    .wstrb_i  (m_axi_wstrb),
    .wlast_i  (m_axi_wlast),
    .wvalid_i (m_axi_wvalid),
    .wready_i (m_axi_wready)
  );

  assign m_axi_araddr  = '0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;

  logic unused;
  assign unused = ^{m_axi_arready, m_axi_rdata, m_axi_rvalid, cmd_ready[2], wr_ready[2], written, failed, request, error};

endmodule
