// capture and the dma_write that it was made for, which has no other client here. Its buffers are small, so that they overflow.

module capture_bench
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] time_i,

  input logic [ 1:0] enable_i,
  input logic        ring_reset_i,
  input logic [15:0] snap_i,
  input logic [63:0] base_i,
  input logic [ 7:0] slot_log2_i,
  input logic [ 7:0] count_log2_i,
  input logic [31:0] head_i,

  input  logic              rx_tvalid_i,
  output logic              rx_tready_o,
  input  logic [DATA_W-1:0] rx_tdata_i,
  input  logic [ BYTES-1:0] rx_tkeep_i,
  input  logic              rx_tlast_i,
  input  logic              rx_tuser_i,
  input  logic              tx_tvalid_i,
  output logic              tx_tready_o,
  input  logic [DATA_W-1:0] tx_tdata_i,
  input  logic [ BYTES-1:0] tx_tkeep_i,
  input  logic              tx_tlast_i,

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

  output logic [31:0] tail_o,
  output logic [ 1:0] taken_o,
  output logic [ 1:0] lost_o,
  output logic        idle_o
);

  capture_cfg_t cfg;
  logic cmd_valid, wr_valid, wr_last, capture_idle, dma_idle, request, error, busy;
  logic [       63:0] cmd_addr;
  logic [       15:0] cmd_bytes;
  logic [ DATA_W-1:0] wr_data;
  logic [COUNT_W-1:0] wr_count;
  logic [2:0] cmd_ready, wr_ready, written, failed;

  assign cfg = '{
          enable: enable_i,
          reset: ring_reset_i,
          snap: snap_i,
          base: base_i,
          slot_log2: slot_log2_i,
          count_log2: count_log2_i,
          head: head_i
      };

  capture #(
    .DATA_W      (DATA_W),
    .BUFFER_BYTES(4096)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .time_i,
    .cfg_i       (cfg),
    .beat_valid_i({tx_tvalid_i, rx_tvalid_i}),
    .beat_last_i ({tx_tlast_i, rx_tlast_i}),
    .beat_bad_i  ({1'b0, rx_tuser_i}),
    .beat_data_i ({tx_tdata_i, rx_tdata_i}),
    .beat_keep_i ({tx_tkeep_i, rx_tkeep_i}),
    .cmd_valid_o (cmd_valid),
    .cmd_ready_i (cmd_ready[2]),
    .cmd_addr_o  (cmd_addr),
    .cmd_bytes_o (cmd_bytes),
    .wr_valid_o  (wr_valid),
    .wr_ready_i  (wr_ready[2]),
    .wr_data_o   (wr_data),
    .wr_count_o  (wr_count),
    .wr_last_o   (wr_last),
    .written_i   (written[2]),
    .tail_o,
    .taken_o,
    .lost_o,
    .busy_o      (busy),
    .idle_o      (capture_idle)
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
    .cmd_valid_i({cmd_valid, 2'b00}),
    .cmd_ready_o(cmd_ready),
    .cmd_addr_i ({cmd_addr, 128'd0}),
    .cmd_bytes_i({cmd_bytes, 32'h0040_0040}),
    .wr_valid_i ({wr_valid, 2'b00}),
    .wr_ready_o (wr_ready),
    .wr_data_i  ({wr_data, (2 * DATA_W)'(0)}),
    .wr_count_i ({wr_count, (2 * COUNT_W)'(0)}),
    .wr_last_i  ({wr_last, 2'b11}),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (dma_idle)
  );

  assign rx_tready_o   = 1'b1;
  assign tx_tready_o   = 1'b1;
  assign idle_o        = capture_idle && dma_idle;
  assign m_axi_araddr  = '0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;

  logic unused;
  assign unused = ^{cmd_ready[1:0], wr_ready[1:0], written[1:0], failed, request, error, busy, m_axi_arready, m_axi_rdata, m_axi_rvalid};

endmodule
