// The receive path: frames in, placements, raw copies and reports out (docs/card.md "Receiving: verdicts").
//
// Handshake: Frames from the MAC are always taken. `wr_*` and `rpt_*` are ready/valid, and may stall without end: frames are then dropped. A table
//            access is ready/valid, one at a time, and never waits for frames, reports or host memory.
// Pipeline:  mac_rx ─► rx_parse ─► rx_store ─► rx_dispatch ─► rx_walk ─► rx_output ─► wr, rpt
//                                     │         rx_lookup         ▲          ▲
//                                     │         rx_flow_state     │          │
//                                     └──────── rx_payload ───────┘          │
//                                     └────────────── raw copy ──────────────┘
//            stage       | what happens                                             | hazards
//            rx_parse    | headers, lengths, checksums: a verdict, 13 cycles        | never stalls
//            rx_store    | good frames, in their order                              | full: the frame is dropped
//            rx_dispatch | lookup, rule of acceptance: start or close, eight cycles | direct verdicts wait for an empty walk
//            rx_payload  | TCP payload to lane 0, six cycles, beside rx_dispatch    | flushed if the packet is not walked
//            rx_walk     | FPDUs: framing, CRC, checks                              | waits for receive elements, and for rx_output
//            rx_output   | writes and reports in order                              | waits for host memory
// Why:       Nothing of a frame leaves rx_store before its TCP checksum is good, nothing of an FPDU leaves rx_walk before all its checks.

`include "weft_assert.svh"

module weft_rx
  import rx_front_pkg::*;
  import walk_pkg::op_t;
  import walk_pkg::stop_e;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned NUM_STAGS = 1024,
  parameter  int unsigned PORTS     = 1,
  parameter  depths_t     DEPTHS    = DEEP,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic                clk_i,
  input logic                rst_ni,
  input rx_cfg_t             cfg_i,
  input logic    [     23:0] clock_i,  // in units of 8 cycles
  input logic    [PORTS-1:0] closed_i, // level: a port takes nothing more

  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tvalid,
  input  logic                mac_rx_tuser,
  output logic                mac_rx_tready,

  input  logic                   replay_valid_i,  // a replay's bytes, read by transmit
  output logic                   replay_ready_o,
  input  logic    [  DATA_W-1:0] replay_data_i,
  input  logic    [DATA_W/8-1:0] replay_keep_i,
  input  logic                   replay_last_i,
  input  replay_t                replay_about_i,

  input logic        rq_tail_valid_i,
  input logic [15:0] rq_tail_flow_i,
  input logic [31:0] rq_tail_value_i,

  input  logic        fence_valid_i,
  input  logic [31:0] fence_number_i,
  output logic [31:0] fence_done_o,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output logic               el_req_valid_o,
  input  logic               el_req_ready_i,
  output logic [       63:0] el_req_addr_o,
  output logic [       15:0] el_req_bytes_o,
  input  logic               el_rsp_valid_i,
  output logic               el_rsp_ready_o,
  input  logic [ DATA_W-1:0] el_rsp_data_i,
  input  logic [COUNT_W-1:0] el_rsp_count_i,
  input  logic               el_rsp_last_i,
  input  logic               el_rsp_error_i,

  output logic               wr_cmd_valid_o,
  input  logic               wr_cmd_ready_i,
  output logic [       63:0] wr_cmd_addr_o,
  output logic [       15:0] wr_cmd_bytes_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               wr_written_i,    // pulse: a command is answered, in their order
  input  logic               wr_failed_i,     // with it: by an error

  output logic             rpt_valid_o,
  input  logic             rpt_ready_i,
  output logic [    511:0] rpt_o,
  input  logic             rpt_full_i,    // level: the report that is offered waits for room in its ring
  output logic [PORTS-1:0] rpt_merged_o,  // pulse: a report of this port will not come, as a later one stands for it
  output logic [PORTS-1:0] rpt_begun_o,   // pulse: one more report of this port will come, alone or as half of a joined one

  output logic         [       PORTS-1:0][31:0] raw_tail_o,
  output logic                                  idle_o,
  output trace_event_t [             1:0]       trace_o,     // frames stored or dropped; verdicts
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned WALKS = 32'(DEPTHS.walks);

  // ---------------------------------------------------------------- frames into the store
  logic beat_valid, beat_last, parse_idle, store_idle;
  logic     [DATA_W-1:0] beat_data;
  rx_drop_e              drop;
  logic [15:0] frame_len, free_stop;
  rx_segment_t segment, replay_segment;
  logic place_replay, replay_placed;
  logic packet_valid, packet_ready, free_valid;
  rx_packet_t packet;
  logic [1:0] rd_req, rd_grant;
  logic [1:0][      15:0] rd_pos;
  logic [1:0][DATA_W-1:0] rd_data;
  logic [NUM_COUNTERS-1:0][15:0] store_cnt, dispatch_cnt, walk_cnt, output_cnt;

  rx_parse #(
    .DATA_W(DATA_W)
  ) u_parse (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tvalid,
    .mac_rx_tuser,
    .mac_rx_tready,
    .beat_valid_o(beat_valid),
    .beat_last_o (beat_last),
    .beat_data_o (beat_data),
    .drop_o      (drop),
    .frame_len_o (frame_len),
    .segment_o   (segment),
    .idle_o      (parse_idle)
  );

  rx_store #(
    .DATA_W     (DATA_W),
    .STORE_BYTES(DEPTHS.store_bytes)
  ) u_store (
    .clk_i,
    .rst_ni,
    .beat_valid_i  (beat_valid),
    .beat_last_i   (beat_last),
    .beat_data_i   (beat_data),
    .drop_i        (drop),
    .frame_len_i   (frame_len),
    .segment_i     (segment),
    .clock_i,
    .replay_valid_i(place_replay),
    .replay_ready_o(replay_placed),
    .replay_i      (replay_segment),
    .packet_valid_o(packet_valid),
    .packet_ready_i(packet_ready),
    .packet_o      (packet),
    .rd_req_i      (rd_req),
    .rd_pos_i      (rd_pos),
    .rd_grant_o    (rd_grant),
    .rd_data_o     (rd_data),
    .free_valid_i  (free_valid),
    .free_stop_i   (free_stop),
    .idle_o        (store_idle),
    .trace_o       (trace_o[0]),
    .cnt_inc_o     (store_cnt)
  );

  // ---------------------------------------------------------------- payload of the next packet
  logic payload_cmd_valid, payload_cmd_ready, payload_flush, payload_open, payload_end, payload_idle;
  logic [15:0] payload_cmd_start, payload_cmd_len;
  logic [7:0] payload_cmd_offset;
  logic payload_valid, pl_valid, pl_ready, pl_last;
  logic [ DATA_W-1:0] pl_data;
  logic [COUNT_W-1:0] pl_count;

  logic replay_start, replay_flush, replay_idle, replay_stall, frames_ready, frames_last;
  logic [ DATA_W-1:0] frames_data;
  logic [COUNT_W-1:0] frames_count;

  assign payload_end = pl_valid && pl_ready && pl_last;

  rx_replay #(
    .DATA_W(DATA_W)
  ) u_replay (
    .clk_i,
    .rst_ni,
    .valid_i      (replay_valid_i),
    .ready_o      (replay_ready_o),
    .data_i       (replay_data_i),
    .keep_i       (replay_keep_i),
    .last_i       (replay_last_i),
    .about_i      (replay_about_i),
    .place_valid_o(place_replay),
    .place_ready_i(replay_placed),
    .segment_o    (replay_segment),
    .start_i      (replay_start),
    .flush_i      (replay_flush),
    .pl_valid_i   (payload_valid && payload_open),
    .pl_ready_o   (frames_ready),
    .pl_data_i    (frames_data),
    .pl_count_i   (frames_count),
    .pl_last_i    (frames_last),
    .walk_valid_o (pl_valid),
    .walk_ready_i (pl_ready),
    .walk_data_o  (pl_data),
    .walk_count_o (pl_count),
    .walk_last_o  (pl_last),
    .stall_o      (replay_stall),
    .idle_o       (replay_idle)
  );

  rx_payload #(
    .DATA_W(DATA_W)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .flush_i     (payload_flush),
    .cmd_valid_i (payload_cmd_valid),
    .cmd_ready_o (payload_cmd_ready),
    .cmd_start_i (payload_cmd_start),
    .cmd_offset_i(payload_cmd_offset),
    .cmd_len_i   (payload_cmd_len),
    .rd_req_o    (rd_req[0]),
    .rd_pos_o    (rd_pos[0]),
    .rd_grant_i  (rd_grant[0]),
    .rd_data_i   (rd_data[0]),
    .pl_valid_o  (payload_valid),
    .pl_ready_i  (frames_ready && payload_open),
    .pl_data_o   (frames_data),
    .pl_count_o  (frames_count),
    .pl_last_o   (frames_last),
    .idle_o      (payload_idle)
  );

  // ---------------------------------------------------------------- flow and verdict
  logic        attach_valid;
  logic [15:0] attach_flow;
  logic [31:0] attach_msn;
  logic [63:0] attach_rq_base;
  logic [ 7:0] attach_rq_log2;
  logic lookup_valid, lookup_rsp, lookup_hit, lookup_changed, lookup_busy;
  logic [95:0] lookup_key;
  logic [15:0] lookup_flow, fetch_flow, upd_flow, row_flow;
  logic fetch_valid, upd_valid, hold, state_changed, row_written, state_busy, state_idle;
  flow_rx_row_t fetch_row, start_row;
  rx_position_t fetch_position, upd_position;
  rx_position_t             kept;
  logic         [PORTS-1:0] raw_given_up;
  logic [PORTS-1:0][15:0] taken_tail, raw_taken;
  logic [$clog2(WALKS)-1:0] busy_head, start_behind, start_place;
  logic [WALKS-1:0] busy_valid, busy_last, finish, kept_valid;
  logic [WALKS-1:0][15:0] busy_flow;
  logic start_valid, start_ready, start_chained, done_valid, done_engine, op_block;
  logic [15:0] start_flow, start_len, done_len;
  logic [31:0] start_seq, start_msn, start_mo, done_msn, done_mo;
  stop_e done_stop;
  logic close_valid, close_ready, dispatch_idle, attach, refused;
  rx_close_t close;
  logic key_req_valid, key_req_ready, key_rsp_valid, state_req_valid, state_req_ready, state_rsp_valid;
  logic stag_req_valid, stag_req_ready, stag_rsp_valid;
  table_rsp_t key_rsp, state_rsp, stag_rsp;

  rx_lookup #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_lookup (
    .clk_i,
    .rst_ni,
    .secret_i       (cfg_i.hash_secret),
    .req_valid_i    (lookup_valid),
    .req_key_i      (lookup_key),
    .rsp_valid_o    (lookup_rsp),
    .hit_o          (lookup_hit),
    .flow_o         (lookup_flow),
    .tbl_req_valid_i(key_req_valid),
    .tbl_req_ready_o(key_req_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(key_rsp_valid),
    .tbl_rsp_o      (key_rsp),
    .changed_o      (lookup_changed),
    .busy_o         (lookup_busy)
  );

  rx_flow_state #(
    .NUM_FLOWS(NUM_FLOWS),
    .PORTS    (PORTS),
    .WALKS    (WALKS)
  ) u_flow_state (
    .clk_i,
    .rst_ni,
    .fetch_valid_i   (fetch_valid),
    .fetch_flow_i    (fetch_flow),
    .row_o           (fetch_row),
    .position_o      (fetch_position),
    .raw_tail_i      (taken_tail),
    .upd_valid_i     (upd_valid),
    .upd_flow_i      (upd_flow),
    .upd_position_i  (upd_position),
    .busy_valid_i    (busy_valid),
    .busy_flow_i     (busy_flow),
    .busy_last_i     (busy_last),
    .busy_head_i     (busy_head),
    .finish_i        (finish),
    .kept_valid_o    (kept_valid),
    .kept_o          (kept),
    .hold_o          (hold),
    .changed_o       (state_changed),
    .row_written_o   (row_written),
    .row_flow_o      (row_flow),
    .attach_valid_o  (attach_valid),
    .attach_flow_o   (attach_flow),
    .attach_msn_o    (attach_msn),
    .attach_rq_base_o(attach_rq_base),
    .attach_rq_log2_o(attach_rq_log2),
    .tbl_req_valid_i (state_req_valid),
    .tbl_req_ready_o (state_req_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o (state_rsp_valid),
    .tbl_rsp_o       (state_rsp),
    .attach_o        (attach),
    .refused_o       (refused),
    .busy_o          (state_busy),
    .idle_o          (state_idle)
  );

  rx_dispatch #(
    .WALKS(WALKS),
    .PORTS(PORTS)
  ) u_dispatch (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .replay_i            (replay_about_i),
    .closed_i,
    .packet_valid_i      (packet_valid),
    .packet_ready_o      (packet_ready),
    .packet_i            (packet),
    .payload_cmd_valid_o (payload_cmd_valid),
    .payload_cmd_ready_i (payload_cmd_ready),
    .payload_cmd_start_o (payload_cmd_start),
    .payload_cmd_offset_o(payload_cmd_offset),
    .payload_cmd_len_o   (payload_cmd_len),
    .payload_flush_o     (payload_flush),
    .replay_start_o      (replay_start),
    .replay_flush_o      (replay_flush),
    .payload_open_o      (payload_open),
    .payload_end_i       (payload_end),
    .lookup_busy_i       (lookup_busy),
    .lookup_valid_o      (lookup_valid),
    .lookup_key_o        (lookup_key),
    .lookup_rsp_i        (lookup_rsp),
    .lookup_hit_i        (lookup_hit),
    .lookup_flow_i       (lookup_flow),
    .lookup_changed_i    (lookup_changed),
    .state_busy_i        (state_busy),
    .raw_tail_o          (taken_tail),
    .raw_given_up_o      (raw_given_up),
    .raw_taken_o         (raw_taken),
    .fetch_valid_o       (fetch_valid),
    .fetch_flow_o        (fetch_flow),
    .fetch_row_i         (fetch_row),
    .fetch_position_i    (fetch_position),
    .upd_valid_o         (upd_valid),
    .upd_flow_o          (upd_flow),
    .upd_position_o      (upd_position),
    .busy_valid_o        (busy_valid),
    .busy_flow_o         (busy_flow),
    .busy_last_o         (busy_last),
    .busy_head_o         (busy_head),
    .finish_o            (finish),
    .kept_valid_i        (kept_valid),
    .kept_i              (kept),
    .hold_i              (hold),
    .state_changed_i     (state_changed),
    .start_valid_o       (start_valid),
    .start_ready_i       (start_ready),
    .start_chained_o     (start_chained),
    .start_behind_o      (start_behind),
    .start_place_o       (start_place),
    .start_flow_o        (start_flow),
    .start_seq_o         (start_seq),
    .start_len_o         (start_len),
    .start_row_o         (start_row),
    .start_msn_o         (start_msn),
    .start_mo_o          (start_mo),
    .done_valid_i        (done_valid),
    .done_len_i          (done_len),
    .done_stop_i         (done_stop),
    .done_engine_i       (done_engine),
    .done_msn_i          (done_msn),
    .done_mo_i           (done_mo),
    .op_block_o          (op_block),
    .close_valid_o       (close_valid),
    .close_ready_i       (close_ready),
    .close_o             (close),
    .idle_o              (dispatch_idle),
    .trace_o             (trace_o[1]),
    .cnt_inc_o           (dispatch_cnt)
  );

  // ---------------------------------------------------------------- walk and output
  logic op_valid, op_ready, place_valid, place_ready, place_last, walk_idle, output_idle, landed, landed_colour;
  op_t                op;
  logic [ DATA_W-1:0] place_data;
  logic [COUNT_W-1:0] place_count;

  // To host memory, from rx_output.
  logic beat_out_valid, beat_out_ready, beat_out_last;
  logic [ DATA_W-1:0] beat_out_data;
  logic [COUNT_W-1:0] beat_out_count;

  rx_walk #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .SEGMENTS (WALKS),
    .CONTEXTS (32'(DEPTHS.contexts))
  ) u_walk (
    .clk_i,
    .rst_ni,
    .closed_i        (2'(closed_i)),
    .start_valid_i   (start_valid),
    .start_ready_o   (start_ready),
    .start_chained_i (start_chained),
    .start_behind_i  (walk_pkg::PLACE_W'(start_behind)),
    .start_place_i   (walk_pkg::PLACE_W'(start_place)),
    .start_flow_i    (start_flow),
    .start_seq_i     (start_seq),
    .start_len_i     (start_len),
    .start_row_i     (start_row),
    .start_msn_i     (start_msn),
    .start_mo_i      (start_mo),
    .pl_valid_i      (pl_valid),
    .pl_ready_o      (pl_ready),
    .pl_data_i       (pl_data),
    .pl_count_i      (pl_count),
    .pl_last_i       (pl_last),
    .done_valid_o    (done_valid),
    .done_len_o      (done_len),
    .done_stop_o     (done_stop),
    .done_engine_o   (done_engine),
    .done_msn_o      (done_msn),
    .done_mo_o       (done_mo),
    .op_valid_o      (op_valid),
    .op_ready_i      (op_ready),
    .op_o            (op),
    .place_valid_o   (place_valid),
    .place_ready_i   (place_ready),
    .place_data_o    (place_data),
    .place_count_o   (place_count),
    .place_last_o    (place_last),
    .el_req_valid_o,
    .el_req_ready_i,
    .el_req_addr_o,
    .el_req_bytes_o,
    .el_rsp_valid_i,
    .el_rsp_ready_o,
    .el_rsp_data_i,
    .el_rsp_count_i,
    .el_rsp_last_i,
    .el_rsp_error_i,
    .el_flush_i      (row_written),
    .el_flush_flow_i (row_flow),
    .attach_valid_i  (attach_valid),
    .attach_flow_i   (attach_flow),
    .attach_msn_i    (attach_msn),
    .attach_rq_base_i(attach_rq_base),
    .attach_rq_log2_i(attach_rq_log2),
    .fence_valid_i,
    .fence_number_i,
    .fence_done_o,
    .landed_i        (landed),
    .landed_colour_i (landed_colour),
    .tbl_req_valid_i (stag_req_valid),
    .tbl_req_ready_o (stag_req_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o (stag_rsp_valid),
    .tbl_rsp_o       (stag_rsp),
    .rq_tail_valid_i,
    .rq_tail_flow_i,
    .rq_tail_value_i,
    .idle_o          (walk_idle),
    .cnt_inc_o       (walk_cnt)
  );

  rx_output #(
    .DATA_W    (DATA_W),
    .OPERATIONS(32'(DEPTHS.operations)),
    .PORTS     (PORTS)
  ) u_output (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .op_valid_i     (op_valid),
    .op_ready_o     (op_ready),
    .op_i           (op),
    .op_block_i     (op_block),
    .close_valid_i  (close_valid),
    .close_ready_o  (close_ready),
    .close_i        (close),
    .place_valid_i  (place_valid),
    .place_ready_o  (place_ready),
    .place_data_i   (place_data),
    .place_count_i  (place_count),
    .place_last_i   (place_last),
    .rd_req_o       (rd_req[1]),
    .rd_pos_o       (rd_pos[1]),
    .rd_grant_i     (rd_grant[1]),
    .rd_data_i      (rd_data[1]),
    .free_valid_o   (free_valid),
    .free_stop_o    (free_stop),
    .wr_cmd_valid_o,
    .wr_cmd_ready_i,
    .wr_cmd_addr_o,
    .wr_cmd_bytes_o,
    .wr_valid_o     (beat_out_valid),
    .wr_ready_i     (beat_out_ready),
    .wr_data_o      (beat_out_data),
    .wr_count_o     (beat_out_count),
    .wr_last_o      (beat_out_last),
    .wr_written_i,
    .wr_failed_i,
    .landed_o       (landed),
    .landed_colour_o(landed_colour),
    .rpt_valid_o,
    .rpt_ready_i,
    .rpt_o,
    .rpt_full_i,
    .rpt_merged_o,
    .raw_given_up_i (raw_given_up),
    .raw_taken_i    (raw_taken),
    .raw_tail_o,
    .idle_o         (output_idle),
    .cnt_inc_o      (output_cnt)
  );

  // verilator lint_off UNUSEDSIGNAL
  segment_report_t begun;
  // verilator lint_on UNUSEDSIGNAL
  logic            begins;
  assign begins = close_valid ? close_ready && close.report : op_valid && op_ready && op.is_report;
  assign begun  = close_valid ? close.record : op.record;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rpt_begun_o <= '0;
    else for (int unsigned p = 0; p < PORTS; p++) rpt_begun_o[p] <= begins && (PORTS == 1 || begun.phase[SEGMENT_REPORT_PORT_BIT] == 1'(p));
  end

  // dma_write's choice of a source is late in the cycle, so it ends at this skid buffer. A beat in here is of a write without an answer, so rx_output
  // is not idle.
  stream_skid #(
    .WIDTH(DATA_W + COUNT_W + 1)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .in_valid_i (beat_out_valid),
    .in_ready_o (beat_out_ready),
    .in_data_i  ({beat_out_data, beat_out_count, beat_out_last}),
    .out_valid_o(wr_valid_o),
    .out_ready_i(wr_ready_i),
    .out_data_o ({wr_data_o, wr_count_o, wr_last_o})
  );

  // ---------------------------------------------------------------- tables by number; one access at a time
  logic tbl_open_q, refuse_q, tbl_idle, other;

  assign other = !(tbl_req_i.number inside {TBL_FLOW_KEY, TBL_FLOW_RX, TBL_ATTACH, TBL_STAG});
  assign tbl_idle = tbl_req_valid_i && !tbl_open_q;
  assign key_req_valid = tbl_idle && tbl_req_i.number == TBL_FLOW_KEY;
  assign state_req_valid = tbl_idle && (tbl_req_i.number == TBL_FLOW_RX || tbl_req_i.number == TBL_ATTACH);
  assign stag_req_valid = tbl_idle && tbl_req_i.number == TBL_STAG;
  assign tbl_req_ready_o = !tbl_open_q && ((key_req_valid && key_req_ready) || (state_req_valid && state_req_ready) ||
                                           (stag_req_valid && stag_req_ready) || other);
  assign tbl_rsp_valid_o = key_rsp_valid || state_rsp_valid || stag_rsp_valid || refuse_q;

  always_comb begin
    tbl_rsp_o         = '0;
    tbl_rsp_o.refused = refuse_q;
    if (key_rsp_valid) tbl_rsp_o = key_rsp;
    if (state_rsp_valid) tbl_rsp_o = state_rsp;
    if (stag_rsp_valid) tbl_rsp_o = stag_rsp;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tbl_open_q <= 1'b0;
      refuse_q   <= 1'b0;
    end else begin
      tbl_open_q <= tbl_open_q ? !tbl_rsp_valid_o : tbl_req_valid_i && tbl_req_ready_o;
      refuse_q   <= tbl_idle && other;
    end
  end

  // ---------------------------------------------------------------- counters, idle
  logic [NUM_COUNTERS-1:0][15:0] own_cnt;
  always_comb begin
    own_cnt                             = '0;
    own_cnt[CNT_TX_STALL_REPLAY_CYCLES] = 16'(replay_stall);
    own_cnt[CNT_RX_ATTACH]              = 16'(attach);
    own_cnt[CNT_RX_ATTACH_REFUSED]      = 16'(refused);
  end

  // No counter has two sources.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_inc_o <= '0;
    else cnt_inc_o <= store_cnt | dispatch_cnt | walk_cnt | output_cnt | own_cnt;
  end

  assign idle_o = parse_idle && replay_idle && store_idle && payload_idle && dispatch_idle && walk_idle && output_idle && state_idle &&
                  !lookup_busy && !tbl_open_q && !refuse_q;

`ifndef SYNTHESIS
  // Once the tables are cleared, an access is answered within ANSWER cycles.
  localparam int unsigned CLEARED = NUM_STAGS + NUM_FLOWS;
  localparam int unsigned ANSWER = 24;
  logic [31:0] age_q, waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age_q    <= '0;
      waited_q <= '0;
    end else begin
      if (age_q != CLEARED) age_q <= age_q + 32'd1;
      waited_q <= age_q != CLEARED || tbl_rsp_valid_o || !(tbl_req_valid_i || tbl_open_q) ? '0 : waited_q + 32'd1;
    end
  end
  `WEFT_ASSERT(access_bounded, waited_q <= ANSWER)
`endif

endmodule
