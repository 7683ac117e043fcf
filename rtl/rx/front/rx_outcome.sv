// What a decision leaves: the flow's position, the packet's close, counters and trace.
//
// Handshake: `finish_i` ends the oldest slot of the commit queue, `direct_i` is the verdict on the packet here; never both, and only with `free_o`.
//            `close_o` is held in a register until taken. `upd_*` and `finish_position_o` are of the same cycle.
// Pipeline:  cycle    | registers                       | what happens
//            decided  | close_o (rx_close)              | position is written, report and raw copy are composed
//            behind   | ended_position_o, trace, counts | the position for the packet here (rx_ended)
// Why:       A verdict without a walk comes only if no segment was in the walk a cycle ago, an end only if one was. So the choice between the two is a
//            register, and the late `finish_i` and `direct_i` select none of the data.

`include "weft_assert.svh"

module rx_outcome
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned WALKS  = 8,
  parameter  int unsigned PORTS  = 1,
  localparam int unsigned WALK_W = $clog2(WALKS)
) (
  input logic clk_i,
  input logic rst_ni,

  // An end: the oldest slot.
  input logic                      finish_i,
  input logic                      walk_ends_i,    // finish_i, of a segment in the walk
  input logic                      slots_i,        // some slot is in use
  input logic         [WALK_W-1:0] head_i,         // the oldest one's place
  input oldest_t                   oldest_i,
  input logic         [      15:0] oldest_mark_i,  // where it leaves its flow's mark
  input logic         [ WALKS-1:0] kept_valid_i,
  input rx_position_t              kept_i,
  input logic                      same_i,         // the oldest walk is of the current packet's flow

  // A verdict without a walk.
  input logic        direct_i,
  input rx_current_t current_i,
  input logic        frame_i,    // it is no replay
  input logic        port_i,
  input logic        closed_i,   // the port takes nothing more
  input verdict_t    verdict_i,

  input  raw_room_t room_i,
  output logic      raw_o,       // a raw slot is needed for what is decided
  output logic      raw_take_o,  // it is taken
  output logic      port_o,      // of this port

  output logic                upd_valid_o,
  output logic         [15:0] upd_flow_o,
  output rx_position_t        upd_position_o,
  output rx_position_t        finish_position_o,  // where the oldest walk leaves its flow
  output logic                ended_o,            // a walk of the current packet's flow ended a cycle ago
  output rx_position_t        ended_position_o,

  output logic      free_o,         // there is room for a close
  output logic      close_valid_o,
  input  logic      close_ready_i,
  output rx_close_t close_o,

  output trace_event_t                          trace_o,
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  walking_t   oldest;
  rx_packet_t of;
  rx_position_t position_q, position_d;
  logic of_walk_q, known_q, is_known, is_duplicate, is_refused, direct_counts, direct_raw, counts_raw, detach, needs_raw, goes_up, drop, whole, raw;
  logic [WALKS-1:0] left_attached_q;  // by place, of the segments that ended
  logic [15:0] of_flow, done_len;
  logic [3:0] outcome;  // of a replay

  assign oldest     = oldest_i.segment;
  assign position_q = current_i.position;
  assign known_q    = current_i.known;
  always_ff @(posedge clk_i) of_walk_q <= slots_i;

  // ---------------------------------------------------------------- a packet that is not walked
  assign detach = known_q && verdict_i.accept == ACCEPT_LEAVE;
  // A segment to be walked gets here if it has no raw slot, or no room for its reports.
  assign needs_raw = frame_i && (!known_q || verdict_i.raw);
  // The last case is a replay of a flow that is gone.
  assign goes_up = known_q ? room_i.room && !room_i.spent : room_i.plain;
  assign drop = frame_i ? (needs_raw && !goes_up) || closed_i : !known_q;

  // ---------------------------------------------------------------- an end, or that packet
  assign whole = oldest_i.done.stop == STOP_WHOLE;
  assign outcome       = !of_walk_q ? REPLAY_OUTCOME_REFUSED : whole ? REPLAY_OUTCOME_WHOLE :
                         oldest_i.done.stop == STOP_ERROR ? REPLAY_OUTCOME_ERROR :
                         oldest_i.done.stop == STOP_NOT_WALKED ? REPLAY_OUTCOME_REFUSED : REPLAY_OUTCOME_PARTIAL;
  assign of = of_walk_q ? oldest.packet : current_i.packet;
  assign of_flow = of_walk_q ? oldest.flow : current_i.flow;
  assign is_known = of_walk_q || known_q;
  assign is_duplicate = !of_walk_q && known_q && verdict_i.accept == ACCEPT_DUPLICATE;
  assign is_refused = !of_walk_q && known_q && verdict_i.accept == ACCEPT_REFUSE;
  assign raw = of_walk_q ? oldest.walked && (!whole || oldest_i.done.engine) && !oldest.packet.segment.replay : needs_raw && !drop;
  // Segments with payload that the engine has to complete.
  assign direct_counts = known_q && !drop && verdict_i.counts;
  assign direct_raw = known_q && !drop && verdict_i.raw && frame_i;
  assign counts_raw = of_walk_q ? oldest.walked && !whole : direct_counts;
  assign done_len = !of_walk_q || !oldest.walked ? '0 : oldest_i.done.len;
  assign raw_o = raw;
  assign raw_take_o = raw && (finish_i || direct_i);
  assign port_o = PORTS != 1 && (of_walk_q ? oldest.port : port_i);

  // ---------------------------------------------------------------- position
  rx_ended #(
    .WALKS(WALKS)
  ) u_ended (
    .clk_i,
    .rst_ni,
    .finish_i  (walk_ends_i),
    .head_i,
    .oldest_i,
    .mark_i    (oldest_mark_i),
    .kept_valid_i,
    .kept_i,
    .position_o(finish_position_o),
    .same_i,
    .ended_o,
    .ended_position_o
  );
  always_comb begin
    position_d          = position_q;
    position_d.mark     = room_i.behind;  // counts only with a slot taken
    position_d.taken    = room_i.fresh ? 11'd1 : position_q.taken + 11'd1;
    position_d.attached = position_q.attached && !detach;
    position_d.gap      = position_q.gap && !detach;
  end
  // Whether the walk that ended last left its flow attached, for what is behind it in the queue.
  always_ff @(posedge clk_i) if (walk_ends_i) left_attached_q[head_i] <= finish_position_o.attached;
  assign upd_valid_o    = walk_ends_i || (direct_i && direct_raw);
  assign upd_flow_o     = of_flow;
  assign upd_position_o = of_walk_q ? finish_position_o : position_d;

  // ---------------------------------------------------------------- close, counters
  rx_close u_close (
    .clk_i,
    .rst_ni,
    .decided_i(finish_i || direct_i),
    .packet_i(of),
    .known_i(is_known),
    .report_i(of_walk_q || !drop),
    .raw_i(raw),
    .slot_i(room_i.slot),
    .plain_slot_i(room_i.plain_slot),
    .flow_i(of_flow),
    .epoch_i(of_walk_q ? oldest.epoch : current_i.row.epoch),
    .port_i(port_o),
    .attached_i  (!of_walk_q ? position_d.attached : oldest.walked ? whole : oldest.behind ? left_attached_q[oldest_i.behind[WALK_W-1:0]] : oldest.attached),
    .duplicate_i(is_duplicate),
    .refusal_i(is_refused ? verdict_i.refusal : REFUSAL_NONE),
    .done_len_i(done_len),
    .outcome_i(outcome),
    .free_o,
    .valid_o(close_valid_o),
    .ready_i(close_ready_i),
    .close_o
  );

  rx_verdict u_verdict (
    .clk_i,
    .rst_ni,
    .finish_i    (walk_ends_i),
    .direct_i    (direct_i || (finish_i && !oldest.walked)),
    .dropped_i   (!of_walk_q && drop),
    .reserved_i  (!known_q && room_i.any),
    .spent_i     (room_i.spent && room_i.room),
    .closed_i,
    .known_i     (is_known),
    .replay_i    (of.segment.replay),
    .raw_i       (raw),
    .counts_raw_i(counts_raw),
    .flow_i      (of_flow),
    .tcp_i       (of.segment.is_tcp),
    .seq_i       (of.segment.seq),
    .frame_len_i (of.frame_len),
    .stop_i      (oldest_i.done.stop),
    .engine_i    (oldest_i.done.engine),
    .accept_i    (of_walk_q ? ACCEPT_BARE : verdict_i.accept),
    .refusal_i   (verdict_i.refusal),
    .beyond_i    (oldest.beyond),
    .full_i      (verdict_i.full),
    .trace_o,
    .cnt_inc_o
  );

  logic unused;
  assign unused = ^{oldest, current_i, verdict_i, room_i};

  `WEFT_ASSERT(source_told, !(finish_i && !of_walk_q) && !(direct_i && of_walk_q))
  `WEFT_ASSERT(one_source, !(finish_i && direct_i))

endmodule
