// What the core has to do with the host's memory: reads for three clients, writes for three, reports of both paths and their interrupts.
//
// Handshake: ready/valid throughout. R and B are always taken.
// Pipeline:  AXI4 R ──► dma_read ──► gather, jobs, receive elements
//            AXI4 W ◄── dma_write ◄─┬─ placement, raw frames
//                                   ├─ reports ◄── reports of receive, transmit
//                                   └─ capture
//            MSI-X  ◄── reports
// Why:       A report goes behind the payload of which it speaks: dma_write works in order, and all reports come through one of its clients.

module host_side
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned PORTS   = 1,
  parameter  depths_t     DEPTHS  = DEEP,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  // Reads: 0 gather, 1 jobs, 2 receive elements.
  input  logic [2:0]              rd_req_valid_i,
  output logic [2:0]              rd_req_ready_o,
  input  logic [2:0][       63:0] rd_req_addr_i,
  input  logic [2:0][       15:0] rd_req_bytes_i,
  output logic [2:0]              rd_rsp_valid_o,
  input  logic [2:0]              rd_rsp_ready_i,
  output logic [2:0][ DATA_W-1:0] rd_rsp_data_o,
  output logic [2:0][COUNT_W-1:0] rd_rsp_count_o,
  output logic [2:0]              rd_rsp_last_o,
  output logic [2:0]              rd_rsp_error_o,

  // Writes: 0 receive, 1 capture.
  input  logic [1:0]              wr_cmd_valid_i,
  output logic [1:0]              wr_cmd_ready_o,
  input  logic [1:0][       63:0] wr_cmd_addr_i,
  input  logic [1:0][       15:0] wr_cmd_bytes_i,
  input  logic [1:0]              wr_valid_i,
  output logic [1:0]              wr_ready_o,
  input  logic [1:0][ DATA_W-1:0] wr_data_i,
  input  logic [1:0][COUNT_W-1:0] wr_count_i,
  input  logic [1:0]              wr_last_i,
  output logic [1:0]              wr_written_o,    // pulse: the oldest command's write is answered
  output logic                    wr_failed_o,     // with that of receive: by an error

  // Reports, as of module reports.
  input  report_cfg_t  [PORTS-1:0]        report_cfg_i,
  input  logic         [PORTS-1:0]        off_i,
  output logic         [PORTS-1:0]        closed_o,
  output logic         [PORTS-1:0]        hold_o,
  input  logic         [PORTS-1:0][ 31:0] job_done_i,
  input  logic                            rx_rpt_valid_i,
  output logic                            rx_rpt_ready_o,
  input  logic         [    511:0]        rx_rpt_i,
  output logic                            rx_rpt_full_o,
  input  logic         [PORTS-1:0]        rx_begun_i,
  input  logic         [PORTS-1:0]        rx_merged_i,
  input  logic         [PORTS-1:0]        tx_rpt_valid_i,
  output logic         [PORTS-1:0]        tx_rpt_ready_o,
  input  logic         [PORTS-1:0][511:0] tx_rpt_i,
  output logic         [PORTS-1:0][ 31:0] report_tail_o,
  output logic         [PORTS-1:0]        report_broken_o,
  output trace_event_t [      1:0]        report_trace_o,
  output logic                            msix_valid_o,
  input  logic                            msix_ready_i,
  output logic         [      4:0]        msix_vector_o,

  axi4_if.writer m_axi_write,
  axi4_if.reader m_axi_read,

  // verilator lint_off UNUSEDSIGNAL
  input  edge_t          edge_i,         // what it knows of the host's side
  // verilator lint_on UNUSEDSIGNAL
  output host_activity_t activity_o,
  output logic           read_idle_o,
  output logic           write_idle_o,
  output logic           reports_idle_o
);

  logic rpt_cmd_valid, rpt_cmd_ready, rpt_valid, rpt_ready, rpt_last, rpt_written, rpt_failed, msix_gap, unused_failed;
  logic [       63:0] rpt_cmd_addr;
  logic [ DATA_W-1:0] rpt_data;
  logic [COUNT_W-1:0] rpt_count;

  dma_read #(
    .DATA_W  (DATA_W),
    .REQUESTS(32'(DEPTHS.reads)),
    .JOBS    (32'(DEPTHS.jobs))
  ) u_dma_read (
    .clk_i,
    .rst_ni,
    .req_valid_i(rd_req_valid_i),
    .req_ready_o(rd_req_ready_o),
    .req_addr_i (rd_req_addr_i),
    .req_bytes_i(rd_req_bytes_i),
    .rsp_valid_o(rd_rsp_valid_o),
    .rsp_ready_i(rd_rsp_ready_i),
    .rsp_data_o (rd_rsp_data_o),
    .rsp_count_o(rd_rsp_count_o),
    .rsp_last_o (rd_rsp_last_o),
    .rsp_error_o(rd_rsp_error_o),
    .m_axi      (m_axi_read),
    .request_o  (activity_o.read_request),
    .error_o    (activity_o.read_error),
    .idle_o     (read_idle_o)
  );

  dma_write #(
    .DATA_W     (DATA_W),
    .OUTSTANDING(32'(DEPTHS.bursts))
  ) u_dma_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i({wr_cmd_valid_i[1], rpt_cmd_valid, wr_cmd_valid_i[0]}),
    .cmd_ready_o({wr_cmd_ready_o[1], rpt_cmd_ready, wr_cmd_ready_o[0]}),
    .cmd_addr_i ({wr_cmd_addr_i[1], rpt_cmd_addr, wr_cmd_addr_i[0]}),
    .cmd_bytes_i({wr_cmd_bytes_i[1], 16'd64, wr_cmd_bytes_i[0]}),
    .wr_valid_i ({wr_valid_i[1], rpt_valid, wr_valid_i[0]}),
    .wr_ready_o ({wr_ready_o[1], rpt_ready, wr_ready_o[0]}),
    .wr_data_i  ({wr_data_i[1], rpt_data, wr_data_i[0]}),
    .wr_count_i ({wr_count_i[1], rpt_count, wr_count_i[0]}),
    .wr_last_i  ({wr_last_i[1], rpt_last, wr_last_i[0]}),
    .written_o  ({wr_written_o[1], rpt_written, wr_written_o[0]}),
    .failed_o   ({unused_failed, rpt_failed, wr_failed_o}),
    .m_axi      (m_axi_write),
    .request_o  (activity_o.write_request),
    .error_o    (activity_o.write_error),
    .idle_o     (write_idle_o)
  );

  reports #(
    .DATA_W    (DATA_W),
    .PORTS     (PORTS),
    .UNANSWERED(32'(DEPTHS.bursts) + 2 + 4 + 8)  // besides those without a response: 4 ahead, 8 in dma_write, and the slices between them
  ) u_reports (
    .clk_i,
    .rst_ni,
    .cfg_i      (report_cfg_i),
    .off_i,
    .closed_o,
    .hold_o,
    .job_done_i,
    .rx_valid_i (rx_rpt_valid_i),
    .rx_ready_o (rx_rpt_ready_o),
    .rx_report_i(rx_rpt_i),
    .rx_full_o  (rx_rpt_full_o),
    .rx_begun_i,
    .rx_merged_i,
    .tx_valid_i (tx_rpt_valid_i),
    .tx_ready_o (tx_rpt_ready_o),
    .tx_report_i(tx_rpt_i),
    .cmd_valid_o(rpt_cmd_valid),
    .cmd_ready_i(rpt_cmd_ready),
    .cmd_addr_o (rpt_cmd_addr),
    .wr_valid_o (rpt_valid),
    .wr_ready_i (rpt_ready),
    .wr_data_o  (rpt_data),
    .wr_count_o (rpt_count),
    .wr_last_o  (rpt_last),
    .written_i  (rpt_written),
    .failed_i   (rpt_failed),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o,
    .tail_o     (report_tail_o),
    .broken_o   (report_broken_o),
    .stall_o    (activity_o.report_stall),
    .msix_gap_o (msix_gap),
    .trace_o    (report_trace_o),
    .idle_o     (reports_idle_o)
  );

  assign activity_o.read_error_id  = m_axi_read.rid;
  assign activity_o.write_stall    = edge_i.write_stall;
  assign activity_o.aw_stall       = edge_i.aw_stall;
  assign activity_o.report_written = rpt_written && !rpt_failed;
  assign activity_o.msix           = edge_i.msix;
  assign activity_o.msix_gap       = msix_valid_o && msix_ready_i && msix_gap;
  assign activity_o.rx_ignored     = edge_i.rx_ignored;

endmodule
