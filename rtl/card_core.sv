// The card behind its edge: registers, both paths, host memory, what watches. All of it is what a reset of the core resets, but for the register bus.
//
// Handshake: As of weft_card, whose edge (pins, resets, MAC) is around this. R, B, push writes and `rx` are always taken.
// Pipeline:  AXI4-Lite ─► card_regs ─► configuration, doorbells, table_route ─► weft_rx, weft_tx
//            push window ─────────────────────────────────────────────────────► weft_tx
//            AXI4 ◄─ host_side ◄─ placement, raw frames, reports ◄────────────── weft_rx ◄─ rx
//                 ◄─ host_side ◄─ reports ◄───────────────────────────────────── weft_tx
//                 ─► host_side ─► receive elements, jobs, payload ─────────────► weft_rx, weft_tx ─► tx
//            observe: counters, trace, capture; nothing waits for it but as dma_write says
// Why:       `rst_ni` is the core's reset, `power_on_ni` that of the register bus, of which an access is answered during a reset of the core, too.

module card_core
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W        = 512,
  parameter int unsigned NUM_FLOWS     = 1024,
  parameter int unsigned NUM_STAGS     = 4096,
  parameter int unsigned PUSH_SLOTS    = 32,
  parameter int unsigned PORTS         = 1,
  parameter int unsigned TRACE_LOG2    = 10,
  parameter int unsigned CAPTURE_BYTES = 32768,
  parameter bit          OBSERVE       = 1'b1,
  parameter int unsigned CLOCK_KHZ     = 250_000,
  parameter depths_t     DEPTHS        = DEEP
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       power_on_ni,
  input  edge_t      edge_i,
  output logic       soft_reset_o,  // pulse
  output core_idle_t idle_o,

  axi_lite_if.slave s_axil,
  axi4_if.writer    m_axi_write,
  axi4_if.reader    m_axi_read,

  input logic                push_valid_i,
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

         frame_if.source tx,
         frame_if.sink   rx,
  input  logic           rx_bad_i,   // with the last beat
  output logic           loopback_o, // level

  input logic [PORTS-1:0] off_i,  // level: the port's owner is gone
  input logic [     63:0] time_i
);

  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1;

  rx_cfg_t                 rx_cfg;
  tx_cfg_t     [PORTS-1:0] tx_cfg;
  report_cfg_t [PORTS-1:0] report_cfg;
  logic [PORTS-1:0] report_broken, closed, hold, rx_begun, rx_merged;

  logic               fence_valid;
  walk_pkg::rq_tail_t rq_tail;
  logic [31:0] fence_number, fence_done, msix_count;
  logic [PORTS-1:0][31:0] job_done, report_tail, raw_tail;

  logic tbl_req_valid, tbl_rsp_valid, rx_tbl_valid, rx_tbl_ready, rx_tbl_rsp_valid, tx_tbl_valid, tx_tbl_ready, tx_tbl_rsp_valid;
  table_req_t tbl_req;
  table_rsp_t tbl_rsp, rx_tbl_rsp, tx_tbl_rsp;

  // Reads: 0 gather, 1 jobs, 2 receive elements.
  logic [2:0] rd_req_valid, rd_req_ready, rd_rsp_valid, rd_rsp_ready, rd_rsp_last, rd_rsp_error;
  logic [2:0][       63:0] rd_req_addr;
  logic [2:0][       15:0] rd_req_bytes;
  logic [2:0][ DATA_W-1:0] rd_rsp_data;
  logic [2:0][COUNT_W-1:0] rd_rsp_count;

  // Writes: 0 receive, 1 capture.
  logic [1:0] wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, written;
  logic [1:0][       63:0] wr_cmd_addr;
  logic [1:0][       15:0] wr_cmd_bytes;
  logic [1:0][ DATA_W-1:0] wr_data;
  logic [1:0][COUNT_W-1:0] wr_count;

  logic rx_rpt_valid, rx_rpt_ready, rx_rpt_full, failed;
  logic [511:0] rx_rpt;
  logic [PORTS-1:0] tx_rpt_valid, tx_rpt_ready;
  logic [PORTS-1:0][511:0] tx_rpt;

  logic replay_valid, replay_ready;  // from transmit to receive
  replay_t        replay_about;

  host_activity_t activity;
  logic [NUM_COUNTERS-1:0][15:0] rx_inc, tx_inc;
  logic [7:0] counter_index;
  logic [31:0] counter_value, counter_high, observe_value;
  reg_bus_t reg_bus;
  trace_event_t [1:0] rx_trace, report_trace;
  trace_event_t [2:0] tx_trace;

  // ---------------------------------------------------------------- registers, tables
  card_regs #(
    .DATA_W     (DATA_W),
    .NUM_FLOWS  (NUM_FLOWS),
    .NUM_STAGS  (NUM_STAGS),
    .NUM_VECTORS(PORTS),
    .PUSH_SLOTS (PUSH_SLOTS),
    .PORTS      (PORTS),
    .CLOCK_KHZ  (CLOCK_KHZ)
  ) u_regs (
    .clk_i,
    .rst_ni         (power_on_ni),
    .core_rst_ni    (rst_ni),
    .soft_reset_o,
    .resetting_i    (edge_i.resetting),
    .s_axil,
    .rx_cfg_o       (rx_cfg),
    .tx_cfg_o       (tx_cfg),
    .report_cfg_o   (report_cfg),
    .loopback_o,
    .rq_tail_valid_o(rq_tail.valid),
    .rq_tail_flow_o (rq_tail.flow),
    .rq_tail_value_o(rq_tail.value),
    .tbl_req_valid_o(tbl_req_valid),
    .tbl_req_ready_i(1'b1),
    .tbl_req_o      (tbl_req),
    .tbl_rsp_valid_i(tbl_rsp_valid),
    .tbl_rsp_i      (tbl_rsp),
    .quiescent_i    (edge_i.core_idle),
    .read_error_i   (activity.read_error),
    .write_error_i  (activity.write_error),
    .report_broken_i(report_broken),
    .off_i          (off_i),
    .fence_valid_o  (fence_valid),
    .fence_number_o (fence_number),
    .fence_done_i   (fence_done),
    .job_done_i     (job_done),
    .report_tail_i  (report_tail),
    .raw_tail_i     (raw_tail),
    .msix_count_i   (msix_count),
    .counter_index_o(counter_index),
    .counter_value_i(counter_value),
    .counter_high_i (counter_high),
    .bus_o          (reg_bus),
    .bus_value_i    (observe_value),
    .idle_o         (idle_o.regs)
  );

  table_route u_tables (
    .clk_i,
    .rst_ni,
    .valid_i       (tbl_req_valid),
    .number_i      (tbl_req.number),
    .rsp_valid_o   (tbl_rsp_valid),
    .rsp_o         (tbl_rsp),
    .rx_valid_o    (rx_tbl_valid),
    .rx_ready_i    (rx_tbl_ready),
    .rx_rsp_valid_i(rx_tbl_rsp_valid),
    .rx_rsp_i      (rx_tbl_rsp),
    .tx_valid_o    (tx_tbl_valid),
    .tx_ready_i    (tx_tbl_ready),
    .tx_rsp_valid_i(tx_tbl_rsp_valid),
    .tx_rsp_i      (tx_tbl_rsp)
  );

  // ---------------------------------------------------------------- counters, trace, capture
  observe #(
    .DATA_W       (DATA_W),
    .TRACE_LOG2   (TRACE_LOG2),
    .CAPTURE_BYTES(CAPTURE_BYTES),
    .OBSERVE      (OBSERVE)
  ) u_observe (
    .clk_i,
    .rst_ni,
    .power_on_ni,
    .time_i         (time_i),
    .rx_inc_i       (rx_inc),
    .tx_inc_i       (tx_inc),
    .host_i         (activity),
    .counter_index_i(counter_index),
    .counter_value_o(counter_value),
    .counter_high_o (counter_high),
    .msix_count_o   (msix_count),
    .rx_trace_i     (rx_trace),
    .tx_trace_i     (tx_trace),
    .report_trace_i (report_trace),
    .resets_i       (edge_i.resets),
    .looped_i       (edge_i.looped),
    .bus_i          (reg_bus),
    .bus_value_o    (observe_value),
    .beat_valid_i   ({tx.valid && tx.ready, rx.valid}),
    .beat_last_i    ({tx.last, rx.last}),
    .beat_bad_i     (rx_bad_i),
    .beat_data_i    ({tx.data, rx.data}),
    .beat_keep_i    ({tx.keep, rx.keep}),
    .cmd_valid_o    (wr_cmd_valid[1]),
    .cmd_ready_i    (wr_cmd_ready[1]),
    .cmd_addr_o     (wr_cmd_addr[1]),
    .cmd_bytes_o    (wr_cmd_bytes[1]),
    .wr_valid_o     (wr_valid[1]),
    .wr_ready_i     (wr_ready[1]),
    .wr_data_o      (wr_data[1]),
    .wr_count_o     (wr_count[1]),
    .wr_last_o      (wr_last[1]),
    .written_i      (written[1]),
    .trace_idle_o   (idle_o.trace),
    .capture_idle_o (idle_o.capture)
  );

  // ---------------------------------------------------------------- host memory
  host_side #(
    .DATA_W(DATA_W),
    .PORTS (PORTS),
    .DEPTHS(DEPTHS)
  ) u_host (
    .clk_i,
    .rst_ni,
    .rd_req_valid_i (rd_req_valid),
    .rd_req_ready_o (rd_req_ready),
    .rd_req_addr_i  (rd_req_addr),
    .rd_req_bytes_i (rd_req_bytes),
    .rd_rsp_valid_o (rd_rsp_valid),
    .rd_rsp_ready_i (rd_rsp_ready),
    .rd_rsp_data_o  (rd_rsp_data),
    .rd_rsp_count_o (rd_rsp_count),
    .rd_rsp_last_o  (rd_rsp_last),
    .rd_rsp_error_o (rd_rsp_error),
    .wr_cmd_valid_i (wr_cmd_valid),
    .wr_cmd_ready_o (wr_cmd_ready),
    .wr_cmd_addr_i  (wr_cmd_addr),
    .wr_cmd_bytes_i (wr_cmd_bytes),
    .wr_valid_i     (wr_valid),
    .wr_ready_o     (wr_ready),
    .wr_data_i      (wr_data),
    .wr_count_i     (wr_count),
    .wr_last_i      (wr_last),
    .wr_written_o   (written),
    .wr_failed_o    (failed),
    .report_cfg_i   (report_cfg),
    .off_i,
    .closed_o       (closed),
    .hold_o         (hold),
    .job_done_i     (job_done),
    .rx_rpt_valid_i (rx_rpt_valid),
    .rx_rpt_ready_o (rx_rpt_ready),
    .rx_rpt_i       (rx_rpt),
    .rx_rpt_full_o  (rx_rpt_full),
    .rx_begun_i     (rx_begun),
    .rx_merged_i    (rx_merged),
    .tx_rpt_valid_i (tx_rpt_valid),
    .tx_rpt_ready_o (tx_rpt_ready),
    .tx_rpt_i       (tx_rpt),
    .report_tail_o  (report_tail),
    .report_broken_o(report_broken),
    .report_trace_o (report_trace),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o,
    .m_axi_write,
    .m_axi_read,
    .edge_i,
    .activity_o     (activity),
    .read_idle_o    (idle_o.read),
    .write_idle_o   (idle_o.write),
    .reports_idle_o (idle_o.reports)
  );

  // ---------------------------------------------------------------- receive
  weft_rx #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .PORTS    (PORTS),
    .DEPTHS   (DEPTHS)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .mac_rx_tdata   (rx.data),
    .mac_rx_tkeep   (rx.keep),
    .mac_rx_tlast   (rx.last),
    .mac_rx_tuser   (rx_bad_i),
    .mac_rx_tvalid  (rx.valid),
    .mac_rx_tready  (rx.ready),
    .cfg_i          (rx_cfg),
    .clock_i        (time_i[26:3]),
    .closed_i       (closed),
    .replay_valid_i (replay_valid),
    .replay_ready_o (replay_ready),
    .replay_data_i  (tx.data),
    .replay_keep_i  (tx.keep),
    .replay_last_i  (tx.last),
    .replay_about_i (replay_about),
    .rq_tail_i      (rq_tail),
    .tbl_req_valid_i(rx_tbl_valid),
    .tbl_req_ready_o(rx_tbl_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o(rx_tbl_rsp_valid),
    .tbl_rsp_o      (rx_tbl_rsp),
    .el_req_valid_o (rd_req_valid[2]),
    .el_req_ready_i (rd_req_ready[2]),
    .el_req_addr_o  (rd_req_addr[2]),
    .el_req_bytes_o (rd_req_bytes[2]),
    .el_rsp_valid_i (rd_rsp_valid[2]),
    .el_rsp_ready_o (rd_rsp_ready[2]),
    .el_rsp_data_i  (rd_rsp_data[2]),
    .el_rsp_count_i (rd_rsp_count[2]),
    .el_rsp_last_i  (rd_rsp_last[2]),
    .el_rsp_error_i (rd_rsp_error[2]),
    .wr_cmd_valid_o (wr_cmd_valid[0]),
    .wr_cmd_ready_i (wr_cmd_ready[0]),
    .wr_cmd_addr_o  (wr_cmd_addr[0]),
    .wr_cmd_bytes_o (wr_cmd_bytes[0]),
    .wr_valid_o     (wr_valid[0]),
    .wr_ready_i     (wr_ready[0]),
    .wr_data_o      (wr_data[0]),
    .wr_count_o     (wr_count[0]),
    .wr_last_o      (wr_last[0]),
    .wr_written_i   (written[0]),
    .wr_failed_i    (failed),
    .fence_valid_i  (fence_valid),
    .fence_number_i (fence_number),
    .fence_done_o   (fence_done),
    .rpt_valid_o    (rx_rpt_valid),
    .rpt_ready_i    (rx_rpt_ready),
    .rpt_o          (rx_rpt),
    .rpt_full_i     (rx_rpt_full),
    .rpt_merged_o   (rx_merged),
    .rpt_begun_o    (rx_begun),
    .raw_tail_o     (raw_tail),
    .idle_o         (idle_o.rx),
    .trace_o        (rx_trace),
    .cnt_inc_o      (rx_inc)
  );

  // ---------------------------------------------------------------- transmit
  weft_tx #(
    .DATA_W    (DATA_W),
    .NUM_FLOWS (NUM_FLOWS),
    .NUM_STAGS (NUM_STAGS),
    .PUSH_SLOTS(PUSH_SLOTS),
    .PORTS     (PORTS),
    .DEPTHS    (DEPTHS)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .cfg_i          (tx_cfg),
    .hold_i         (hold),
    .job_done_o     (job_done),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .tbl_req_valid_i(tx_tbl_valid),
    .tbl_req_ready_o(tx_tbl_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o(tx_tbl_rsp_valid),
    .tbl_rsp_o      (tx_tbl_rsp),
    .job_req_valid_o(rd_req_valid[1]),
    .job_req_ready_i(rd_req_ready[1]),
    .job_req_addr_o (rd_req_addr[1]),
    .job_req_bytes_o(rd_req_bytes[1]),
    .job_rsp_valid_i(rd_rsp_valid[1]),
    .job_rsp_ready_o(rd_rsp_ready[1]),
    .job_rsp_data_i (rd_rsp_data[1]),
    .job_rsp_count_i(rd_rsp_count[1]),
    .job_rsp_last_i (rd_rsp_last[1]),
    .job_rsp_error_i(rd_rsp_error[1]),
    .ga_req_valid_o (rd_req_valid[0]),
    .ga_req_ready_i (rd_req_ready[0]),
    .ga_req_addr_o  (rd_req_addr[0]),
    .ga_req_bytes_o (rd_req_bytes[0]),
    .ga_rsp_valid_i (rd_rsp_valid[0]),
    .ga_rsp_ready_o (rd_rsp_ready[0]),
    .ga_rsp_data_i  (rd_rsp_data[0]),
    .ga_rsp_count_i (rd_rsp_count[0]),
    .ga_rsp_last_i  (rd_rsp_last[0]),
    .ga_rsp_error_i (rd_rsp_error[0]),
    .rpt_valid_o    (tx_rpt_valid),
    .rpt_ready_i    (tx_rpt_ready),
    .rpt_o          (tx_rpt),
    .replay_valid_o (replay_valid),
    .replay_ready_i (replay_ready),
    .replay_about_o (replay_about),
    .mac_tx_tdata   (tx.data),
    .mac_tx_tkeep   (tx.keep),
    .mac_tx_tlast   (tx.last),
    .mac_tx_tvalid  (tx.valid),
    .mac_tx_tready  (tx.ready),
    .idle_o         (idle_o.tx),
    .trace_o        (tx_trace),
    .cnt_inc_o      (tx_inc)
  );

endmodule
