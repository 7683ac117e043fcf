// report_writer and the dma_write that it was made for, which has no other client here.

module report_writer_bench
  import weft_int_pkg::report_cfg_t;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        ring_reset_i,
  input logic [63:0] base_i,
  input logic [ 7:0] log2_i,
  input logic [31:0] head_i,
  input logic        arm_i,
  input logic [31:0] arm_value_i,
  input logic [ 5:0] arm_more_i,
  input logic [15:0] gap_i,
  input logic [31:0] job_done_i,

  input  logic [  1:0] report_valid_i,  // 0 receive, 1 transmit
  output logic [  1:0] report_ready_o,
  input  logic [511:0] rx_report_i,
  input  logic [511:0] tx_report_i,

  output logic        msix_valid_o,
  input  logic        msix_ready_i,
  output logic [ 4:0] msix_vector_o,
  output logic        msix_gap_o,
  output logic [31:0] tail_o,
  output logic        broken_o,
  output logic        stall_o,
  output logic        idle_o,

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
  output logic              m_axi_rready
);

  report_cfg_t cfg;
  logic cmd_valid, wr_valid, wr_last, writer_idle, dma_idle, request, error;
  logic [       63:0] cmd_addr;
  logic [ DATA_W-1:0] wr_data;
  logic [COUNT_W-1:0] wr_count;
  logic [2:0] cmd_ready, wr_ready, written, failed;

  assign cfg = '{
          reset: ring_reset_i,
          base: base_i,
          log2: log2_i,
          head: head_i,
          arm: arm_i,
          arm_value: arm_value_i,
          arm_more: arm_more_i,
          gap: gap_i
      };

  report_writer #(
    .DATA_W(DATA_W)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .cfg_i      (cfg),
    .job_done_i,
    .rx_valid_i (report_valid_i[0]),
    .rx_ready_o (report_ready_o[0]),
    .rx_report_i,
    .tx_valid_i (report_valid_i[1]),
    .tx_ready_o (report_ready_o[1]),
    .tx_report_i,
    .cmd_valid_o(cmd_valid),
    .cmd_ready_i(cmd_ready[1]),
    .cmd_addr_o (cmd_addr),
    .wr_valid_o (wr_valid),
    .wr_ready_i (wr_ready[1]),
    .wr_data_o  (wr_data),
    .wr_count_o (wr_count),
    .wr_last_o  (wr_last),
    .written_i  (written[1]),
    .failed_i   (failed[1]),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o,
    .taken_o    (),
    .msix_gap_o,
    .tail_o,
    .broken_o,
    .stall_o,
    .trace_o    (),
    .idle_o     (writer_idle)
  );

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi4_write_pins #(
    .DATA_W(DATA_W)
  ) u_pins (
    .axi(m_axi),
    .*
  );

  dma_write #(
    .DATA_W(DATA_W)
  ) u_dma_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i({1'b0, cmd_valid, 1'b0}),
    .cmd_ready_o(cmd_ready),
    .cmd_addr_i ({64'd0, cmd_addr, 64'd0}),
    .cmd_bytes_i({16'd64, 16'd64, 16'd64}),
    .wr_valid_i ({1'b0, wr_valid, 1'b0}),
    .wr_ready_o (wr_ready),
    .wr_data_i  ({DATA_W'(0), wr_data, DATA_W'(0)}),
    .wr_count_i ({COUNT_W'(0), wr_count, COUNT_W'(0)}),
    .wr_last_i  ({1'b1, wr_last, 1'b1}),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (dma_idle)
  );

  assign idle_o        = writer_idle && dma_idle;
  assign m_axi_araddr  = '0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;

  logic unused;
  assign unused = ^{cmd_ready[2], cmd_ready[0], wr_ready[2], wr_ready[0], written[2], written[0], failed[2], failed[0], request, error, m_axi_arready, m_axi_rdata, m_axi_rvalid};

endmodule
