// The front of the receive path: frames into the store, and what becomes of each, in the order of arrival.
//
// Handshake: Frames from the MAC are always taken. `start_valid_o` is a pulse in a cycle with `start_ready_i`. `close_*`, `pl_*` and the table
//            access are ready/valid. The raw copy reads the store by `rd_*`, and `free_*` gives its beats back.
// Pipeline:  mac_rx ─► rx_parse ─► rx_store ─► rx_dispatch ─► start, close
//                                     │         rx_lookup
//                                     │         rx_flow_state
//                                     └──────── rx_payload ──────────► pl
//            replay ───────────────────────────── rx_replay ─────────┘
//            stage       | what happens                                             | hazards
//            rx_parse    | headers, lengths, checksums: a verdict, 13 cycles        | never stalls
//            rx_store    | good frames, in their order                              | full: the frame is dropped
//            rx_dispatch | lookup, rule of acceptance: start or close, eight cycles | direct verdicts wait for an empty walk
//            rx_payload  | TCP payload to lane 0, six cycles, beside rx_dispatch    | flushed if the packet is not walked
// Why:       Nothing of a frame leaves rx_store before its TCP checksum is good. Tables FLOW_KEY, FLOW_RX and ATTACH are here: nobody else reads them.

`include "weft_assert.svh"

module rx_front
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned NUM_FLOWS   = 256,
  parameter  int unsigned PORTS       = 1,
  parameter  int unsigned WALKS       = 8,
  parameter  int unsigned STORE_BYTES = 65536,
  parameter  int unsigned MAX_FRAMES  = 128,
  parameter  int unsigned SHARE_LEAST = RAW_SHARE_LEAST,
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
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

  input  logic       tbl_req_valid_i,  // FLOW_KEY, FLOW_RX and ATTACH only
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output flow_pulse_t row_written_o,  // the FLOW_RX row of this flow
  output rq_place_t   attach_o,       // a flow becomes the card's
  output flow_pulse_t left_o,         // it is not the card's any more, or anew

  output logic                     start_valid_o,  // only with start_ready_i
  input  logic                     start_ready_i,
  output segment_t                 start_o,        // but for the fence's colour
  output logic                     wants_o,        // level: it is of a flow that carries, and will come once it can
  output logic                     pl_valid_o,     // payload, in the order of the starts
  input  logic                     pl_ready_i,
  output logic       [ DATA_W-1:0] pl_data_o,
  output logic       [COUNT_W-1:0] pl_count_o,
  output logic                     pl_last_o,
  input  logic                     done_valid_i,
  input  walk_done_t               done_i,
  output logic                     op_block_o,     // reports of a later packet's FPDUs must wait for a close
  output logic                     place_block_o,  // its placements as well

  output logic                   close_valid_o,
  input  logic                   close_ready_i,
  output rx_close_t              close_o,
  output raw_count_t [PORTS-1:0] raw_o,

  input  logic              rd_req_i,
  input  logic [      15:0] rd_pos_i,
  output logic              rd_grant_o,
  output logic [DATA_W-1:0] rd_data_o,
  input  logic              free_valid_i,
  input  logic [      15:0] free_stop_i,

  output logic                                  idle_o,
  output trace_event_t [             1:0]       trace_o,   // frames stored or dropped; verdicts
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  // ---------------------------------------------------------------- frames into the store
  logic beat_valid, beat_last, parse_idle, store_idle, place_replay, replay_placed, packet_valid, packet_ready, rd_req, rd_grant;
  logic [DATA_W-1:0] beat_data, rd_data;
  rx_drop_e drop;
  logic [15:0] frame_len, rd_pos;
  rx_segment_t segment, replay_segment;
  rx_packet_t packet;
  logic [NUM_COUNTERS-1:0][15:0] store_cnt, dispatch_cnt;

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
    .clock_i,
    .replay_valid_i(place_replay),
    .replay_ready_o(replay_placed),
    .replay_i      (replay_segment),
    .packet_valid_o(packet_valid),
    .packet_ready_i(packet_ready),
    .packet_o      (packet),
    .rd_req_i      ({rd_req_i, rd_req}),
    .rd_pos_i      ({rd_pos_i, rd_pos}),
    .rd_grant_o    ({rd_grant_o, rd_grant}),
    .rd_data_o     ({rd_data_o, rd_data}),
    .free_valid_i  (free_valid_i),
    .free_stop_i   (free_stop_i),
    .idle_o        (store_idle),
    .trace_o       (trace_o[0]),
    .cnt_inc_o     (store_cnt)
  );

  // ---------------------------------------------------------------- payload of the next packet
  logic payload_cmd_valid, payload_cmd_ready, payload_flush, payload_open, payload_end, payload_idle, payload_valid;
  logic replay_start, replay_flush, replay_idle, replay_stall, frames_ready, frames_last;
  payload_cmd_t               payload_cmd;
  logic         [ DATA_W-1:0] frames_data;
  logic         [COUNT_W-1:0] frames_count;

  assign payload_end = pl_valid_o && pl_ready_i && pl_last_o;

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
    .walk_valid_o (pl_valid_o),
    .walk_ready_i (pl_ready_i),
    .walk_data_o  (pl_data_o),
    .walk_count_o (pl_count_o),
    .walk_last_o  (pl_last_o),
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
    .cmd_start_i (payload_cmd.start),
    .cmd_offset_i(payload_cmd.offset),
    .cmd_len_i   (payload_cmd.len),
    .rd_req_o    (rd_req),
    .rd_pos_o    (rd_pos),
    .rd_grant_i  (rd_grant),
    .rd_data_i   (rd_data),
    .pl_valid_o  (payload_valid),
    .pl_ready_i  (frames_ready && payload_open),
    .pl_data_o   (frames_data),
    .pl_count_o  (frames_count),
    .pl_last_o   (frames_last),
    .idle_o      (payload_idle)
  );

  // ---------------------------------------------------------------- flow and verdict
  lookup_rsp_t  looked_up;
  flow_rx_row_t fetch_row;
  rx_position_t fetch_position, upd_position, kept;
  walk_place_t [        WALKS-1:0] places;
  logic        [$clog2(WALKS)-1:0] head;
  logic [WALKS-1:0] finish, kept_valid;
  logic
      lookup_valid,
      lookup_rsp,
      lookup_hit,
      lookup_changed,
      lookup_busy,
      fetch_valid,
      upd_valid,
      hold,
      state_changed,
      state_busy,
      state_idle,
      dispatch_idle,
      attach,
      refused;
  logic key_ready, key_rsp_valid, state_ready, state_rsp_valid;
  logic [95:0] lookup_key;
  logic [15:0] lookup_flow, fetch_flow, upd_flow;
  table_rsp_t key_rsp, state_rsp;

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
    .tbl_req_valid_i(tbl_req_valid_i && tbl_req_i.number == TBL_FLOW_KEY),
    .tbl_req_ready_o(key_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(key_rsp_valid),
    .tbl_rsp_o      (key_rsp),
    .changed_o      (lookup_changed),
    .busy_o         (lookup_busy)
  );

  assign looked_up = '{busy: lookup_busy, changed: lookup_changed, valid: lookup_rsp, hit: lookup_hit, flow : lookup_flow};

  rx_flow_state #(
    .NUM_FLOWS(NUM_FLOWS),
    .PORTS    (PORTS),
    .WALKS    (WALKS)
  ) u_flow_state (
    .clk_i,
    .rst_ni,
    .fetch_valid_i  (fetch_valid),
    .fetch_flow_i   (fetch_flow),
    .row_o          (fetch_row),
    .position_o     (fetch_position),
    .raw_i          (raw_o),
    .upd_valid_i    (upd_valid),
    .upd_flow_i     (upd_flow),
    .upd_position_i (upd_position),
    .busy_i         (places),
    .busy_head_i    (head),
    .finish_i       (finish),
    .kept_valid_o   (kept_valid),
    .kept_o         (kept),
    .hold_o         (hold),
    .changed_o      (state_changed),
    .row_written_o,
    .rq_place_o     (attach_o),
    .left_o,
    .tbl_req_valid_i(tbl_req_valid_i && tbl_req_i.number != TBL_FLOW_KEY),
    .tbl_req_ready_o(state_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(state_rsp_valid),
    .tbl_rsp_o      (state_rsp),
    .attach_o       (attach),
    .refused_o      (refused),
    .busy_o         (state_busy),
    .idle_o         (state_idle)
  );

  rx_dispatch #(
    .WALKS      (WALKS),
    .PORTS      (PORTS),
    .NUM_FLOWS  (NUM_FLOWS),
    .SHARE_LEAST(SHARE_LEAST)
  ) u_dispatch (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .replay_i           (replay_about_i),
    .closed_i,
    .packet_valid_i     (packet_valid),
    .packet_ready_o     (packet_ready),
    .packet_i           (packet),
    .payload_cmd_valid_o(payload_cmd_valid),
    .payload_cmd_ready_i(payload_cmd_ready),
    .payload_cmd_o      (payload_cmd),
    .payload_flush_o    (payload_flush),
    .replay_start_o     (replay_start),
    .replay_flush_o     (replay_flush),
    .payload_open_o     (payload_open),
    .payload_end_i      (payload_end),
    .lookup_valid_o     (lookup_valid),
    .lookup_key_o       (lookup_key),
    .lookup_i           (looked_up),
    .state_busy_i       (state_busy),
    .raw_o,
    .fetch_valid_o      (fetch_valid),
    .fetch_flow_o       (fetch_flow),
    .fetch_row_i        (fetch_row),
    .fetch_position_i   (fetch_position),
    .upd_valid_o        (upd_valid),
    .upd_flow_o         (upd_flow),
    .upd_position_o     (upd_position),
    .places_o           (places),
    .finish_o           (finish),
    .head_o             (head),
    .kept_valid_i       (kept_valid),
    .kept_i             (kept),
    .hold_i             (hold),
    .state_changed_i    (state_changed),
    .start_valid_o,
    .start_ready_i,
    .start_o,
    .wants_o,
    .done_valid_i,
    .done_i,
    .op_block_o,
    .place_block_o,
    .close_valid_o,
    .close_ready_i,
    .close_o,
    .idle_o             (dispatch_idle),
    .trace_o            (trace_o[1]),
    .cnt_inc_o          (dispatch_cnt)
  );

  assign tbl_req_ready_o = tbl_req_i.number == TBL_FLOW_KEY ? key_ready : state_ready;
  assign tbl_rsp_valid_o = key_rsp_valid || state_rsp_valid;
  assign tbl_rsp_o       = key_rsp_valid ? key_rsp : state_rsp;

  always_comb begin
    cnt_inc_o                             = store_cnt | dispatch_cnt;
    cnt_inc_o[CNT_TX_STALL_REPLAY_CYCLES] = 16'(replay_stall);
    cnt_inc_o[CNT_RX_ATTACH]              = 16'(attach);
    cnt_inc_o[CNT_RX_ATTACH_REFUSED]      = 16'(refused);
  end

  assign idle_o = parse_idle && replay_idle && store_idle && payload_idle && dispatch_idle && state_idle && !lookup_busy;

  `WEFT_ASSERT(one_answer, !(key_rsp_valid && state_rsp_valid))

endmodule
