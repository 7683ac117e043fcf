// The transmit path: jobs become frames at the MAC (docs/card.md "Sending: jobs").
//
// Handshake: Jobs run strictly in order. Reads, reports and MAC are ready/valid; push writes are always taken. A frame once begun has no gap at the
//            MAC.
// Pipeline:  jobs ─► job_check ─► tx_steps ─┬─ reads ──────────────────► host memory ─┐
//                           │ FLOW_TX       └─ steps ─► gather ◄──────────────────────┘
//                                                                  │ pieces of TCP payload, headers' fields
//                                                                framer ─► MAC
//            stage        | what happens                                       | hazards
//            tx_jobs      | jobs are fetched ahead, from ring or push window   | room for reports (`hold_i`)
//            tx_job_check | flow lookup and checks, four cycles a job
//            tx_steps     | one step and its reads for each frame, four cycles | STEPS frames ahead at most
//            tx_gather    | pieces of TCP payload, as reads are answered       | room for layout, frame and report
//            tx_framer    | markers, CRC, checksum, headers                    | the store holds a frame until its checksum is known
// Why:       Reads run ahead of the data by up to STEPS frames. A frame is sent only when its checksum is known and all its bytes were read without
//            error: then it has no gap.

module weft_tx
  import weft_card_pkg::*;
  import weft_int_pkg::*;
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W     = 512,
  parameter  int unsigned NUM_FLOWS  = 1024,
  parameter  int unsigned NUM_STAGS  = 4096,                   // of the receive path
  parameter  int unsigned PUSH_SLOTS = 32,                     // of the push window; 0: none
  parameter  int unsigned PORTS      = 1,
  parameter  depths_t     DEPTHS     = DEEP,
  localparam int unsigned COUNT_W    = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  tx_cfg_t [PORTS-1:0]       cfg_i,
  input  logic    [PORTS-1:0]       hold_i,     // level: none of the port's jobs is begun
  output logic    [PORTS-1:0][31:0] job_done_o,

  input logic                push_valid_i,  // writes of the push window, always taken
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output logic               job_req_valid_o,
  input  logic               job_req_ready_i,
  output logic [       63:0] job_req_addr_o,
  output logic [       15:0] job_req_bytes_o,
  input  logic               job_rsp_valid_i,
  output logic               job_rsp_ready_o,
  input  logic [ DATA_W-1:0] job_rsp_data_i,
  input  logic [COUNT_W-1:0] job_rsp_count_i,
  input  logic               job_rsp_last_i,
  input  logic               job_rsp_error_i,

  output logic               ga_req_valid_o,
  input  logic               ga_req_ready_i,
  output logic [       63:0] ga_req_addr_o,
  output logic [       15:0] ga_req_bytes_o,
  input  logic               ga_rsp_valid_i,
  output logic               ga_rsp_ready_o,
  input  logic [ DATA_W-1:0] ga_rsp_data_i,
  input  logic [COUNT_W-1:0] ga_rsp_count_i,
  input  logic               ga_rsp_last_i,
  input  logic               ga_rsp_error_i,

  output logic [PORTS-1:0]        rpt_valid_o,
  input  logic [PORTS-1:0]        rpt_ready_i,
  output logic [PORTS-1:0][511:0] rpt_o,

  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,

  output logic    replay_valid_o,  // a replay's bytes: data, keep and last as for the MAC
  input  logic    replay_ready_i,
  output replay_t replay_about_o,

  output logic                                  idle_o,
  output trace_event_t [             2:0]       trace_o,   // jobs begun; jobs done; frames out
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  // ---------------------------------------------------------------- jobs
  logic job_valid, job_ready, job_error, jobs_idle, table_idle;
  job_t                            job;
  logic   [     31:0]              job_number;
  epoch_t                          job_epoch;
  logic   [PORTS-1:0][EPOCH_W-1:0] epoch;
  logic   [PORTS-1:0]              job_reset;
  logic lookup_valid, lookup_ready, row_written, checked_valid, checked_ready;
  logic         [15:0] lookup_flow;
  flow_tx_row_t        lookup_row;
  checked_t            checked;

  tx_jobs #(
    .DATA_W    (DATA_W),
    .PUSH_SLOTS(PUSH_SLOTS),
    .PORTS     (PORTS),
    .PREFETCH  (32'(DEPTHS.jobs))
  ) u_jobs (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .hold_i,
    .epoch_o     (epoch),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .req_valid_o (job_req_valid_o),
    .req_ready_i (job_req_ready_i),
    .req_addr_o  (job_req_addr_o),
    .req_bytes_o (job_req_bytes_o),
    .rsp_valid_i (job_rsp_valid_i),
    .rsp_ready_o (job_rsp_ready_o),
    .rsp_data_i  (job_rsp_data_i),
    .rsp_count_i (job_rsp_count_i),
    .rsp_last_i  (job_rsp_last_i),
    .rsp_error_i (job_rsp_error_i),
    .job_valid_o (job_valid),
    .job_ready_i (job_ready),
    .job_o       (job),
    .job_number_o(job_number),
    .job_epoch_o (job_epoch),
    .job_error_o (job_error),
    .idle_o      (jobs_idle)
  );

  tx_flow_table #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_flow_table (
    .clk_i,
    .rst_ni,
    .tbl_req_valid_i,
    .tbl_req_ready_o,
    .tbl_req_i,
    .tbl_rsp_valid_o,
    .tbl_rsp_o,
    .lookup_valid_i(lookup_valid),
    .lookup_ready_o(lookup_ready),
    .lookup_flow_i (lookup_flow),
    .lookup_row_o  (lookup_row),
    .written_o     (row_written),
    .idle_o        (table_idle)
  );

  tx_job_check u_job_check (
    .clk_i,
    .rst_ni,
    .job_valid_i    (job_valid),
    .job_ready_o    (job_ready),
    .job_i          (job),
    .job_number_i   (job_number),
    .job_error_i    (job_error),
    .epoch_i        (job_epoch),
    .lookup_valid_o (lookup_valid),
    .lookup_ready_i (lookup_ready),
    .lookup_flow_o  (lookup_flow),
    .lookup_row_i   (lookup_row),
    .written_i      (row_written),
    .checked_valid_o(checked_valid),
    .checked_ready_i(checked_ready),
    .checked_o      (checked)
  );

  // ---------------------------------------------------------------- steps and reads
  logic          abort;
  logic   [31:0] abort_number;
  epoch_t        abort_epoch;
  logic step_valid, step_ready, slot_valid, slot_ready;
  step_t         step;
  logic  [511:0] slot;

  tx_steps #(
    .STEPS(32'(DEPTHS.steps))
  ) u_steps (
    .clk_i,
    .rst_ni,
    .checked_valid_i(checked_valid),
    .checked_ready_o(checked_ready),
    .checked_i      (checked),
    .abort_i        (abort),
    .abort_number_i (abort_number),
    .abort_epoch_i  (abort_epoch),
    .step_valid_o   (step_valid),
    .step_ready_i   (step_ready),
    .step_o         (step),
    .slot_valid_o   (slot_valid),
    .slot_ready_i   (slot_ready),
    .slot_o         (slot),
    .req_valid_o    (ga_req_valid_o),
    .req_ready_i    (ga_req_ready_i),
    .req_addr_o     (ga_req_addr_o),
    .req_bytes_o    (ga_req_bytes_o)
  );

  // ---------------------------------------------------------------- payload
  logic piece_valid, piece_ready, piece_last;
  logic [ DATA_W-1:0] piece_data;
  logic [COUNT_W-1:0] piece_count;
  logic layout_valid, layout_ready, frame_valid, frame_ready;
  layout_t        layout;
  frame_t         frame;
  logic    [15:0] frame_flow;
  logic           frame_port;
  logic [PORTS-1:0] report_valid, report_ready, joined, reports_idle;
  logic [511:0] report;
  logic begin_frame, end_job, bad_job, read_error, read_stall;

  for (genvar p = 0; p < PORTS; p++) begin : gen_reset
    assign job_reset[p] = cfg_i[p].job_reset;
  end

  tx_gather #(
    .DATA_W(DATA_W),
    .PORTS (PORTS)
  ) u_gather (
    .clk_i,
    .rst_ni,
    .job_reset_i   (job_reset),
    .epoch_i       (epoch),
    .job_done_o,
    .step_valid_i  (step_valid),
    .step_ready_o  (step_ready),
    .step_i        (step),
    .slot_valid_i  (slot_valid),
    .slot_ready_o  (slot_ready),
    .slot_i        (slot),
    .rsp_valid_i   (ga_rsp_valid_i),
    .rsp_ready_o   (ga_rsp_ready_o),
    .rsp_data_i    (ga_rsp_data_i),
    .rsp_count_i   (ga_rsp_count_i),
    .rsp_last_i    (ga_rsp_last_i),
    .rsp_error_i   (ga_rsp_error_i),
    .abort_o       (abort),
    .abort_number_o(abort_number),
    .abort_epoch_o (abort_epoch),
    .piece_valid_o (piece_valid),
    .piece_ready_i (piece_ready),
    .piece_data_o  (piece_data),
    .piece_count_o (piece_count),
    .piece_last_o  (piece_last),
    .layout_valid_o(layout_valid),
    .layout_ready_i(layout_ready),
    .layout_o      (layout),
    .frame_valid_o (frame_valid),
    .frame_ready_i (frame_ready),
    .frame_o       (frame),
    .frame_flow_o  (frame_flow),
    .frame_port_o  (frame_port),
    .rpt_valid_o   (report_valid),
    .rpt_ready_i   (&report_ready),
    .rpt_o         (report),
    .begin_frame_o (begin_frame),
    .end_job_o     (end_job),
    .bad_job_o     (bad_job),
    .read_error_o  (read_error),
    .stall_o       (read_stall)
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_reports
    tx_reports #(
      .FAILURES(32'(DEPTHS.job_reports)),
      .JOINED  (32'(DEPTHS.job_reports))
    ) u_reports (
      .clk_i,
      .rst_ni,
      .valid_i    (report_valid[p]),
      .ready_o    (report_ready[p]),
      .report_i   (report),
      .rpt_valid_o(rpt_valid_o[p]),
      .rpt_ready_i(rpt_ready_i[p]),
      .rpt_o      (rpt_o[p]),
      .joined_o   (joined[p]),
      .idle_o     (reports_idle[p])
    );
  end

  // ---------------------------------------------------------------- frames
  logic sent_replay, out;  // out: a frame was sent
  logic drop, sent, sent_segment, mac_stall;
  logic [ 4:0] sent_fpdus;
  logic [15:0] sent_bytes;
  logic [31:0] sent_seq;

  tx_framer #(
    .DATA_W(DATA_W)
  ) u_framer (
    .clk_i,
    .rst_ni,
    .piece_valid_i (piece_valid),
    .piece_ready_o (piece_ready),
    .piece_data_i  (piece_data),
    .piece_count_i (piece_count),
    .piece_last_i  (piece_last),
    .layout_valid_i(layout_valid),
    .layout_ready_o(layout_ready),
    .layout_i      (layout),
    .frame_valid_i (frame_valid),
    .frame_ready_o (frame_ready),
    .frame_i       (frame),
    .frame_flow_i  (frame_flow),
    .frame_port_i  (frame_port),
    .mac_tx_tdata,
    .mac_tx_tkeep,
    .mac_tx_tlast,
    .mac_tx_tvalid,
    .mac_tx_tready,
    .replay_valid_o,
    .replay_ready_i,
    .replay_about_o,
    .sent_replay_o (sent_replay),
    .drop_o        (drop),
    .sent_o        (sent),
    .sent_bytes_o  (sent_bytes),
    .sent_fpdus_o  (sent_fpdus),
    .sent_segment_o(sent_segment),
    .sent_seq_o    (sent_seq),
    .stall_o       (mac_stall)
  );

  // ---------------------------------------------------------------- jobs and frames in flight, counters
  logic [7:0] jobs_q, frames_q;  // jobs behind job_fetch; frames behind gather's first piece
  logic [4:0] sent_frames;  // of the gather's
  logic       take_job;

  assign sent_frames = sent_fpdus == '0 ? 5'd1 : sent_fpdus;
  assign take_job    = job_valid && job_ready;
  assign out         = sent && !sent_replay;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      jobs_q   <= '0;
      frames_q <= '0;
    end else begin
      jobs_q   <= jobs_q + 8'(take_job) - 8'(end_job);
      frames_q <= frames_q + 8'(begin_frame) - (sent ? 8'(sent_frames) : 8'd0) - 8'(drop);
    end
  end

  assign idle_o = jobs_idle && table_idle && jobs_q == '0 && frames_q == '0 && &reports_idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_inc_o <= '0;
    end else begin
      cnt_inc_o                           <= '0;
      cnt_inc_o[CNT_TX_JOBS]              <= 16'(take_job);
      cnt_inc_o[CNT_TX_JOBS_BAD]          <= 16'(bad_job);
      cnt_inc_o[CNT_TX_FRAMES]            <= 16'(out);
      cnt_inc_o[CNT_TX_BYTES]             <= out ? sent_bytes : 16'd0;
      cnt_inc_o[CNT_TX_FPDUS]             <= out ? 16'(sent_fpdus) : 16'd0;
      cnt_inc_o[CNT_TX_FPDUS_PACKED]      <= out ? 16'(sent_frames) - 16'd1 : 16'd0;
      cnt_inc_o[CNT_TX_READ_ERRORS]       <= 16'(read_error);
      cnt_inc_o[CNT_TX_REPORTS_JOINED]    <= 16'(|joined);
      cnt_inc_o[CNT_TX_STALL_READ_CYCLES] <= 16'(read_stall);
      cnt_inc_o[CNT_TX_STALL_MAC_CYCLES]  <= 16'(mac_stall);
    end
  end

  // ---------------------------------------------------------------- trace
  job_report_t ended;

  assign ended = report;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trace_o <= '0;
    end else begin
      trace_o[0].valid  <= take_job;
      trace_o[0].kind   <= 4'(TRACE_KIND_JOB_BEGIN);
      trace_o[0].detail <= job_error ? '0 : job.kind;
      trace_o[0].flow   <= job_error ? NO_FLOW : job.flow;
      trace_o[0].value  <= job_number;
      trace_o[0].info   <= job_error ? '0 : job.length[31:16] != '0 ? '1 : job.length[15:0];
      trace_o[1].valid  <= end_job;
      trace_o[1].kind   <= 4'(TRACE_KIND_JOB_DONE);
      trace_o[1].detail <= ended.status;
      trace_o[1].flow   <= ended.flow;
      trace_o[1].value  <= ended.job;
      trace_o[2].valid  <= out;
      trace_o[2].kind   <= 4'(TRACE_KIND_FRAME_OUT);
      trace_o[2].detail <= 8'(sent_fpdus != '0) << TRACE_FRAME_OUT_FPDU_BIT | 8'(sent_segment) << TRACE_FRAME_OUT_HEADERS_BIT;
      trace_o[2].flow   <= NO_FLOW;
      trace_o[2].value  <= sent_seq;
      trace_o[2].info   <= sent_bytes;
    end
  end

  logic unused;
  assign unused = ^{NUM_STAGS == 0, ended};

  if (DATA_W != 128 && DATA_W != 256 && DATA_W != 512) begin : gen_param_check
    $error("weft_tx: DATA_W must be 128, 256 or 512");
  end

endmodule
