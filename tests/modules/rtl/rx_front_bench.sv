// The receive front alone: parser, store, payload reader, lookup, flow state and dispatch. Walk, output and host are the test.

module rx_front_bench
  import rx_front_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned NUM_FLOWS   = 16,
  parameter  int unsigned STORE_BYTES = 4096,
  parameter  int unsigned MAX_FRAMES  = 16,
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [15:0] mtu_i,
  input logic [47:0] mac_i,
  input logic [31:0] raw_head_i,
  input logic [ 7:0] raw_count_log2_i,
  input logic [31:0] raw_reserve_i,

  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tvalid,
  output logic                mac_rx_tready,

  // What became of a frame at the store.
  output logic       stored_valid_o,
  output logic       stored_kept_o,
  output logic [7:0] stored_detail_o,

  input  logic         tbl_req_valid_i,
  output logic         tbl_req_ready_o,
  input  logic         tbl_write_i,
  input  logic [  3:0] tbl_number_i,
  input  logic [ 23:0] tbl_index_i,
  input  logic [511:0] tbl_row_i,
  output logic         tbl_rsp_valid_o,
  output logic         tbl_refused_o,
  output logic [511:0] tbl_row_o,

  // A segment that is not walked takes a slot of the commit queue.
  output logic enter_o,

  output logic              start_valid_o,
  input  logic              start_ready_i,
  output logic              start_chained_o,
  output logic [      15:0] start_flow_o,
  output logic [      31:0] start_seq_o,
  output logic [      15:0] start_len_o,
  output logic [     511:0] start_row_o,
  output logic              pl_valid_o,
  input  logic              pl_ready_i,
  output logic [DATA_W-1:0] pl_data_o,
  output logic [      15:0] pl_count_o,
  output logic              pl_last_o,
  input  logic              done_valid_i,
  input  logic [      15:0] done_len_i,
  input  logic [       1:0] done_stop_i,
  input  logic              done_engine_i,
  input  logic [      31:0] done_msn_i,
  output logic              op_block_o,

  output logic              close_valid_o,
  input  logic              close_ready_i,
  output logic              close_raw_o,
  output logic              close_report_o,
  output logic [     511:0] close_record_o,
  output logic [      15:0] close_start_o,
  output logic [      15:0] close_stop_o,
  input  logic              rd_req_i,
  input  logic [      15:0] rd_pos_i,
  output logic              rd_grant_o,
  output logic [DATA_W-1:0] rd_data_o,
  input  logic              free_valid_i,
  input  logic [      15:0] free_stop_i,

  output logic idle_o
);

  localparam int unsigned WALKS = 8;

  rx_cfg_t cfg;
  logic beat_valid, beat_last, parse_idle, store_idle, packet_valid, packet_ready;
  logic        [DATA_W-1:0] beat_data;
  rx_drop_e                 drop;
  logic        [      15:0] frame_len;
  rx_segment_t              segment;
  rx_packet_t               packet;
  logic [1:0] rd_req, rd_grant;
  logic [1:0][      15:0] rd_pos;
  logic [1:0][DATA_W-1:0] rd_data;
  trace_event_t stored, verdict;
  logic payload_cmd_valid, payload_cmd_ready, payload_flush, payload_open, payload_idle, payload_valid;
  logic [COUNT_W-1:0] pl_count;
  logic [15:0] payload_cmd_start, payload_cmd_len;
  logic [ 7:0] payload_cmd_offset;
  logic [95:0] lookup_key;
  logic lookup_valid, lookup_rsp, lookup_hit, lookup_changed, lookup_busy, fetch_valid, upd_valid, hold;
  logic state_changed, state_busy, state_idle, dispatch_idle, row_written, attach, refused;
  logic [15:0] lookup_flow, fetch_flow, upd_flow, row_flow;
  flow_rx_row_t fetch_row, start_row;
  rx_position_t fetch_position, upd_position;
  logic [WALKS-1:0] busy_valid, busy_last, finish, kept_valid;
  logic         [        WALKS-1:0][15:0] busy_flow;
  rx_position_t                           kept;
  logic         [$clog2(WALKS)-1:0]       busy_head;
  logic [31:0] start_msn, start_mo;
  logic given_up;
  logic [15:0] taken_tail, taken;
  rx_close_t  close;
  table_req_t tbl_req;
  table_rsp_t key_rsp, state_rsp;
  logic key_ready, state_ready, key_rsp_valid, state_rsp_valid, open_q;
  logic [NUM_COUNTERS-1:0][15:0] store_cnt, dispatch_cnt;

  always_comb begin
    cfg                   = '0;
    cfg.enable            = 1'b1;
    cfg.mtu               = mtu_i;
    cfg.mac               = mac_i;
    cfg.raw_slot_log2     = 8'd14;
    cfg.raw_reserve       = raw_reserve_i;
    cfg.raw[0].count_log2 = raw_count_log2_i;
    cfg.raw[0].head       = raw_head_i;
  end

  rx_parse #(
    .DATA_W(DATA_W)
  ) u_parse (
    .clk_i,
    .rst_ni,
    .cfg_i       (cfg),
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tvalid,
    .mac_rx_tuser(1'b0),
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
    .STORE_BYTES(STORE_BYTES),
    .MAX_FRAMES (MAX_FRAMES)
  ) u_store (
    .clk_i,
    .rst_ni,
    .beat_valid_i  (beat_valid),
    .beat_last_i   (beat_last),
    .beat_data_i   (beat_data),
    .drop_i        (drop),
    .frame_len_i   (frame_len),
    .segment_i     (segment),
    .clock_i       ('0),
    .replay_valid_i(1'b0),
    .replay_ready_o(),
    .replay_i      ('0),
    .packet_valid_o(packet_valid),
    .packet_ready_i(packet_ready),
    .packet_o      (packet),
    .rd_req_i      (rd_req),
    .rd_pos_i      (rd_pos),
    .rd_grant_o    (rd_grant),
    .rd_data_o     (rd_data),
    .free_valid_i,
    .free_stop_i,
    .idle_o        (store_idle),
    .trace_o       (stored),
    .cnt_inc_o     (store_cnt)
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
    .pl_ready_i  (pl_ready_i && payload_open),
    .pl_data_o,
    .pl_count_o  (pl_count),
    .pl_last_o,
    .idle_o      (payload_idle)
  );

  rx_lookup #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_lookup (
    .clk_i,
    .rst_ni,
    .secret_i       ('0),
    .req_valid_i    (lookup_valid),
    .req_key_i      (lookup_key),
    .rsp_valid_o    (lookup_rsp),
    .hit_o          (lookup_hit),
    .flow_o         (lookup_flow),
    .tbl_req_valid_i(tbl_req_valid_i && !open_q && tbl_number_i == TBL_FLOW_KEY),
    .tbl_req_ready_o(key_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o(key_rsp_valid),
    .tbl_rsp_o      (key_rsp),
    .changed_o      (lookup_changed),
    .busy_o         (lookup_busy)
  );

  rx_flow_state #(
    .NUM_FLOWS(NUM_FLOWS),
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
    .attach_valid_o  (),
    .attach_flow_o   (),
    .attach_msn_o    (),
    .attach_rq_base_o(),
    .attach_rq_log2_o(),
    .tbl_req_valid_i (tbl_req_valid_i && !open_q && tbl_number_i != TBL_FLOW_KEY),
    .tbl_req_ready_o (state_ready),
    .tbl_req_i       (tbl_req),
    .tbl_rsp_valid_o (state_rsp_valid),
    .tbl_rsp_o       (state_rsp),
    .attach_o        (attach),
    .refused_o       (refused),
    .busy_o          (state_busy),
    .idle_o          (state_idle)
  );

  rx_dispatch #(
    .WALKS      (WALKS),
    .SHARE_LEAST(1024)
  ) u_dispatch (
    .clk_i,
    .rst_ni,
    .cfg_i               (cfg),
    .replay_i            ('0),
    .closed_i            (1'b0),
    .packet_valid_i      (packet_valid),
    .packet_ready_o      (packet_ready),
    .packet_i            (packet),
    .payload_cmd_valid_o (payload_cmd_valid),
    .payload_cmd_ready_i (payload_cmd_ready),
    .payload_cmd_start_o (payload_cmd_start),
    .payload_cmd_offset_o(payload_cmd_offset),
    .payload_cmd_len_o   (payload_cmd_len),
    .payload_flush_o     (payload_flush),
    .replay_start_o      (),
    .replay_flush_o      (),
    .payload_open_o      (payload_open),
    .payload_end_i       (pl_valid_o && pl_ready_i && pl_last_o),
    .lookup_busy_i       (lookup_busy),
    .lookup_valid_o      (lookup_valid),
    .lookup_key_o        (lookup_key),
    .lookup_rsp_i        (lookup_rsp),
    .lookup_hit_i        (lookup_hit),
    .lookup_flow_i       (lookup_flow),
    .lookup_changed_i    (lookup_changed),
    .state_busy_i        (state_busy),
    .raw_tail_o          (taken_tail),
    .raw_given_up_o      (given_up),
    .raw_taken_o         (taken),
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
    .start_valid_o,
    .start_ready_i,
    .start_chained_o,
    .start_behind_o      (),
    .start_place_o       (),
    .start_flow_o,
    .start_seq_o,
    .start_len_o,
    .start_row_o         (start_row),
    .start_msn_o         (start_msn),
    .start_mo_o          (start_mo),
    .done_valid_i,
    .done_len_i,
    .done_stop_i         (walk_pkg::stop_e'(done_stop_i)),
    .done_engine_i,
    .done_msn_i,
    .done_mo_i           (32'd0),
    .op_block_o,
    .close_valid_o,
    .close_ready_i,
    .close_o             (close),
    .idle_o              (dispatch_idle),
    .trace_o             (verdict),
    .cnt_inc_o           (dispatch_cnt)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else if (tbl_req_valid_i && tbl_req_ready_o) open_q <= 1'b1;
    else if (tbl_rsp_valid_o) open_q <= 1'b0;
  end

  assign enter_o         = u_dispatch.enter;
  assign tbl_req         = '{write: tbl_write_i, number: tbl_number_i, index: tbl_index_i, row: tbl_row_i};
  assign tbl_req_ready_o = !open_q && (tbl_number_i == TBL_FLOW_KEY ? key_ready : state_ready);
  assign tbl_rsp_valid_o = key_rsp_valid || state_rsp_valid;
  assign tbl_refused_o   = key_rsp_valid ? key_rsp.refused : state_rsp.refused;
  assign tbl_row_o       = key_rsp_valid ? key_rsp.row : state_rsp.row;

  assign pl_valid_o      = payload_valid && payload_open;
  assign pl_count_o      = 16'(pl_count);
  assign start_row_o     = start_row;
  assign close_raw_o     = close.raw;
  assign close_report_o  = close.report;
  assign close_record_o  = close.record;
  assign close_start_o   = close.start;
  assign close_stop_o    = close.stop;
  assign rd_req[1]       = rd_req_i;
  assign rd_pos[1]       = rd_pos_i;
  assign rd_grant_o      = rd_grant[1];
  assign rd_data_o       = rd_data[1];

  assign stored_valid_o  = stored.valid;
  assign stored_kept_o   = stored.kind == 4'(TRACE_KIND_FRAME_IN);
  assign stored_detail_o = stored.detail;
  assign idle_o          = parse_idle && store_idle && payload_idle && dispatch_idle && state_idle && !lookup_busy && !open_q;

  logic unused;
  assign unused = ^{verdict, stored, row_written, row_flow, attach, refused, given_up, taken, start_msn, start_mo, store_cnt, dispatch_cnt};

endmodule
