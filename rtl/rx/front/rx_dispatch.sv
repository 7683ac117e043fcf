// Decides what becomes of each frame, in the order of arrival (docs/card.md "Receiving: verdicts"). Each packet ends in one close: report, raw copy,
// store space.
//
// Handshake: `packet_ready_o` takes the packet at the head of the store's queue while rx_next has room. `start_valid_o` is a pulse in a
//            cycle with `start_ready_i`: a start is never pending. `close_o` is held in a register until taken. In a cycle with `hold_i` nothing is
//            fetched, decided or ended. Latency is eight cycles from the queue's head to the start without stalls; throughput is one packet of
//            a flow in four cycles at most, a bare acknowledgment in two.
// Pipeline:  cycle   | registers         | what happens                                         | hazards, bypasses
//            0 Seek  | rx_next           | the queue's head is looked up                        | again after a FLOW_KEY write
//            1-3     | rx_lookup         | the lookup is in flight; the payload is requested    | overlaps those of two packets more
//            4 Read  | rx_next           | row and position are read                            | again if a verdict without a walk writes them
//            5 load  | rx_current        | the packet enters, row and position arrive           | `ended`: an end of its flow; a replay enters
//                    |                   |                                                      | only with an empty walk
//            6 Weigh | rx_accept         | segment and position are compared                    | where the flow's walks leave it; `ended_same_q`
//            7 Judge | rx_accept         | the rule of acceptance                               | `attached` is the only late input
//            8 Ready | rx_walks          | start, a slot of the commit queue, a direct verdict  | `steady_q`: none behind an end with a raw slot
//            close   | rx_close          | report, raw slot, store space                        | one at a time
//            cycle       0    1    2    3    4     5     6     7     8     9     10    11    12
//            packet n    Seek ─    ─    ─    Read  load  Weigh Judge Ready
//            packet n+1                      Seek  ─     ─     ─     Read  load  Weigh Judge Ready
//            A bare acknowledgment, and a packet of no flow, goes from cycle 5 to Ready. A table write returns the packet to an earlier stage (rx_stand).
//            Segments in the walk, and what waits its turn between them, are in rx_walks. An end (`finish`) writes the position (rx_ended) and makes
//            the close.
// Why:       A further segment of a flow in the walk is *chained*: judged by where the youngest of them will leave the flow. If that one does not end
//            whole, the walk discards the chained one, and it goes up raw. Segments of several flows are walked side by side.
//            A bare acknowledgment of a flow takes a slot of the commit queue, whatever the flow stands at: its report is made in its turn. It says
//            ATTACHED as the walk before it has left the flow (rx_outcome). Walks behind it are not held up; the reports of their FPDUs wait for its
//            close (`op_block_o`), and their placements for one that may have a raw copy (`place_block_o`).
//            A segment beyond a gap, and the next one of a flow with islands, waits in Ready until rx_islands has answered.
//            All other verdicts wait until the queue is empty, so reports and positions keep the order of arrival.
//            Every walked segment has a raw slot reserved first, as its last FPDU may be partial. A frame without a free slot is dropped before it
//            has changed anything.
//            Payload is requested ahead of the decision, and passes to the walk from the cycle of the start on: no decision waits for it.
//            As no start is ever pending, table accesses never wait for a decision.

`include "weft_assert.svh"

module rx_dispatch
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned WALKS       = 8,                // segments in the walk, a power of two
  parameter  int unsigned PORTS       = 1,
  parameter  int unsigned NUM_FLOWS   = 256,
  parameter  int unsigned SHARE_LEAST = RAW_SHARE_LEAST,  // raw slots that a flow may take of a generation, however small the ring
  localparam int unsigned WALK_W      = $clog2(WALKS)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input rx_cfg_t             cfg_i,
  input replay_t             replay_i,  // of the oldest replay
  input logic    [PORTS-1:0] closed_i,  // level: a port takes nothing more

  input  logic       packet_valid_i,
  output logic       packet_ready_o,
  input  rx_packet_t packet_i,

  output logic         payload_cmd_valid_o,
  input  logic         payload_cmd_ready_i,
  output payload_cmd_t payload_cmd_o,
  output logic         payload_flush_o,
  output logic         replay_start_o,       // pulses: the oldest replay is started, or refused
  output logic         replay_flush_o,
  output logic         payload_open_o,       // payload may pass on to the walk, from the cycle of its start on
  input  logic         payload_end_i,        // last beat of a packet has passed on

  output logic               lookup_valid_o,
  output logic        [95:0] lookup_key_o,
  input  lookup_rsp_t        lookup_i,

  input  logic                      state_busy_i,
  output raw_count_t   [ PORTS-1:0] raw_o,
  output logic                      fetch_valid_o,
  output logic         [      15:0] fetch_flow_o,
  input  flow_rx_row_t              fetch_row_i,
  input  rx_position_t              fetch_position_i,
  output logic                      upd_valid_o,
  output logic         [      15:0] upd_flow_o,
  output rx_position_t              upd_position_o,
  output walk_place_t  [ WALKS-1:0] places_o,
  output logic         [ WALKS-1:0] finish_o,          // which of them ends in this cycle
  output logic         [WALK_W-1:0] head_o,            // the oldest
  input  logic         [ WALKS-1:0] kept_valid_i,      // an ATTACH is kept, to be written at its end
  input  rx_position_t              kept_i,            // for the oldest
  input  logic                      hold_i,
  input  logic                      state_changed_i,

  output logic       start_valid_o,  // only with start_ready_i
  input  logic       start_ready_i,
  output segment_t   start_o,        // but for the fence's colour
  output logic       wants_o,        // level: it is of a flow that carries, and will come once it can
  input  logic       done_valid_i,
  input  walk_done_t done_i,
  output logic       op_block_o,     // reports of a later packet's FPDUs must wait for a close
  output logic       place_block_o,  // its placements as well: the close has perhaps a raw copy, whose writes come before

  output logic      close_valid_o,
  input  logic      close_ready_i,
  output rx_close_t close_o,

  output logic                                  idle_o,
  output trace_event_t                          trace_o,   // the verdict of a frame, or that it found no raw slot
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned COUNT_W = $clog2(WALKS + 1);

  // ---------------------------------------------------------------- the packet here: flow, row, position
  rx_current_t current;
  rx_segment_t segment;
  rx_position_t position_q, finish_position, ended_position;
  logic pop, vacant, weigh, ready, known_q, frame_q, bare_q, same, ended, current_idle;
  logic direct;  // a verdict without a walk
  logic weigh_again;  // where the flow's segments in the walk leave it is not known yet
  logic walk_ends, walk_empty;
  logic [15:0] flow_d, oldest_flow, oldest_mark;
  oldest_t oldest;

  assign segment    = current.packet.segment;
  assign position_q = current.position;
  assign known_q    = current.known;

  rx_current u_current (
    .clk_i,
    .rst_ni,
    .packet_valid_i,
    .packet_ready_o,
    .packet_i,
    .payload_cmd_valid_o,
    .payload_cmd_ready_i,
    .payload_cmd_o,
    .lookup_valid_o,
    .lookup_key_o,
    .lookup_i,
    .state_busy_i,
    .state_changed_i,
    .hold_i,
    .fetch_valid_o,
    .fetch_flow_o,
    .fetch_row_i,
    .fetch_position_i,
    .walk_empty_i     (walk_empty),
    .oldest_flow_i    (oldest_flow),
    .walk_ends_i      (walk_ends),
    .walk_ends_flow_i (oldest.segment.flow),
    .finish_position_i(finish_position),
    .ended_i          (ended),
    .ended_position_i (ended_position),
    .weigh_again_i    (weigh_again),
    .direct_i         (direct),
    .pop_i            (pop),
    .current_o        (current),
    .frame_o          (frame_q),
    .bare_o           (bare_q),
    .flow_next_o      (flow_d),
    .same_o           (same),
    .vacant_o         (vacant),
    .weigh_o          (weigh),
    .ready_o          (ready),
    .idle_o           (current_idle)
  );

  // ---------------------------------------------------------------- segments in the walk
  walking_t  entry;
  young_t    young;
  raw_room_t raw_room;
  logic [WALK_W-1:0] head, start_behind, start_place;
  logic [COUNT_W-1:0] walks, walking;  // slots of the commit queue; segments in the walk
  logic payload_left, may_start, start, enter, slot, opens, finish, kept_any, chained, in_walk, walk_room, done_valid, done_waits, done_waited;

  assign walk_empty = walks == '0 && !payload_left;
  assign head_o     = head;

  rx_walks #(
    .WALKS(WALKS)
  ) u_walks (
    .clk_i,
    .rst_ni,
    .flow_i        (current.flow),
    .flow_next_i   (flow_d),
    .start_i       (start),
    .wait_i        (enter),
    .slot_i        (slot),
    .open_i        (opens),
    .entry_i       (entry),
    .taken_i       (position_q.taken),
    .mark_i        (position_q.mark),
    .room_o        (walk_room),
    .stands_i      (!vacant),
    .kept_i        (kept_valid_i),
    .kept_o        (kept_any),
    .again_o       (weigh_again),
    .young_o       (young),
    .chained_o     (chained),
    .in_walk_o     (in_walk),
    .place_o       (start_behind),
    .tail_o        (start_place),
    .payload_end_i,
    .payload_open_o,
    .payload_left_o(payload_left),
    .done_valid_i,
    .done_i,
    .done_valid_o  (done_valid),
    .done_waits_o  (done_waits),
    .done_waited_o (done_waited),
    .oldest_o      (oldest),
    .oldest_mark_o (oldest_mark),
    .oldest_flow_o (oldest_flow),
    .behind_i      (raw_room.behind),
    .head_o        (head),
    .finish_i      (finish),
    .places_o,
    .count_o       (walks),
    .walking_o     (walking)
  );

  // ---------------------------------------------------------------- the decision
  rx_position_t judged, weighed;
  verdict_t verdict;
  logic waits, takes_turn, raw, to_walk, stands, decide, close_room, raw_take, steady_q, empty_q, no_replay_q, framed_q, ended_same_q;
  logic [PORTS-1:0] closed_q;
  always_ff @(posedge clk_i) closed_q <= closed_i;
  logic port, of_port;  // port: of the packet here; of_port: of what is decided or ends

  rx_accept #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_accept (
    .clk_i,
    .rst_ni,
    .weigh_i         (weigh),
    .vacant_i        (vacant),
    .bare_i          (bare_q),
    .current_i       (current),
    .ended_position_i(ended_position),
    .ended_i         (ended_same_q),
    .young_i         (young),
    .chained_i       (chained),
    .kept_i          (kept_any),
    .ready_i         (ready),
    .start_i         (start),
    .follows_i       (replay_i.follows),
    .used_i          (pop && known_q),
    .position_o      (weighed),
    .now_o           (judged),
    .verdict_o       (verdict),
    .waits_o         (waits)
  );

  // A frame of no flow is the first port's.
  assign port = PORTS != 1 && known_q && current.row.flags[FLOW_RX_ROW_PORT_BIT];

  rx_raw_room #(
    .WALKS      (WALKS),
    .PORTS      (PORTS),
    .SHARE_LEAST(SHARE_LEAST)
  ) u_raw_room (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .closed_i,
    .walks_i    (walking),
    .start_i    (start),
    .needless_i (!frame_q),
    .port_i     (port),
    .take_i     (raw_take),
    .take_port_i(of_port),
    .mark_i     (weighed.mark),
    .taken_i    (weighed.taken),
    .used_i     (direct && known_q),
    .position_i (position_q),
    .room_o     (raw_room),
    .count_o    (raw_o)
  );

  // A taken close frees its register a cycle later; no decision and no end comes before.
  assign to_walk = known_q && verdict.walk && no_replay_q;
  // A report alone needs no raw slot, and does not wait until it is known who may have one.
  assign stands = ready && !hold_i && !lookup_i.changed && !state_changed_i;
  assign decide = stands && raw_room.settled;
  assign may_start = decide && steady_q && known_q && verdict.walk && raw_room.walk && walk_room && start_ready_i;
  assign start = may_start && no_replay_q;
  assign opens = may_start && framed_q;  // a frame, whose payload waits for this
  // What needs a report alone does not wait for the walk: it takes a slot of the queue, and its report is made in its turn.
  // `slot` is start || enter, of what is there before either of them.
  assign takes_turn = known_q && verdict.report && !closed_q[port];
  assign enter = stands && steady_q && takes_turn && no_replay_q && walk_room;
  assign slot = stands && steady_q && known_q && no_replay_q && walk_room &&
                      ((verdict.walk && raw_room.walk && raw_room.settled && start_ready_i) || (verdict.report && !closed_q[port]));
  assign direct = decide && empty_q && close_room && !takes_turn && !(to_walk && (frame_q ? raw_room.any : !closed_q[port]));
  assign finish = done_valid && close_room && !hold_i;
  assign walk_ends = finish && oldest.segment.walked;
  assign finish_o = WALKS'(finish) << head;
  // The verdict is two cycles old in what it knows of the flow's segments in the walk, all else one. A whole end without a raw slot changes
  // nothing in it: if an ATTACH is kept for the flow, that was known before. `steady_q`: there was no other one meanwhile. `empty_q`: none is left, and
  // the flow's islands have answered if they decide.
  logic broke, broke_q;  // an end that takes a raw slot, or of a replay
  assign broke = finish && (raw || oldest.segment.packet.segment.replay);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {broke_q, steady_q, empty_q, ended_same_q} <= '0;
    else {broke_q, steady_q, empty_q, ended_same_q} <= {broke, !broke && !broke_q, walk_empty && !broke_q && !waits, walk_ends && same};
  end

  rx_start u_start (
    .clk_i,
    .rst_ni,
    .current_i  (current),
    .frame_i    (frame_q),
    .port_i     (port),
    .verdict_i  (verdict),
    .judged_i   (judged),
    .replay_i,
    .chained_i  (chained),
    .in_walk_i  (in_walk),
    .behind_i   (PLACE_W'(start_behind)),
    .place_i    (PLACE_W'(start_place)),
    .waits_i    (ready && to_walk && !pop),
    .start_i    (start),
    .direct_i   (direct),
    .walk_ends_i(walk_ends),
    .no_replay_o(no_replay_q),
    .framed_o   (framed_q),
    .start_o,
    .entry_o    (entry),
    .wants_o,
    .replay_start_o,
    .replay_flush_o
  );
  assign pop             = start || enter || direct;
  assign payload_flush_o = direct;
  assign start_valid_o   = start;

  // ---------------------------------------------------------------- what it leaves
  rx_outcome #(
    .WALKS(WALKS),
    .PORTS(PORTS)
  ) u_outcome (
    .clk_i,
    .rst_ni,
    .finish_i         (finish),
    .walk_ends_i      (walk_ends),
    .slots_i          (walks != '0),
    .head_i           (head),
    .oldest_i         (oldest),
    .oldest_mark_i    (oldest_mark),
    .kept_valid_i,
    .kept_i,
    .same_i           (same),
    .direct_i         (direct),
    .current_i        (current),
    .frame_i          (frame_q),
    .port_i           (port),
    .closed_i         (closed_q[port]),
    .verdict_i        (verdict),
    .room_i           (raw_room),
    .raw_o            (raw),
    .raw_take_o       (raw_take),
    .port_o           (of_port),
    .upd_valid_o,
    .upd_flow_o,
    .upd_position_o,
    .finish_position_o(finish_position),
    .ended_o          (ended),
    .ended_position_o (ended_position),
    .free_o           (close_room),
    .close_valid_o,
    .close_ready_i,
    .close_o,
    .trace_o,
    .cnt_inc_o
  );

  // Equals !close_room || done_waits. The walk's next operation depends on it, and with that much of the walk. A pending end is pending in the next
  // cycle as well, or its close is. `place_block_o` is the same from the first of them on that may take a raw slot.
  logic pending, may_copy;
  assign pending  = done_valid_i || done_waits || direct || (close_valid_o && !close_ready_i);
  assign may_copy = direct || (done_valid_i && (done_i.stop != STOP_WHOLE || done_i.engine));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {op_block_o, place_block_o} <= '0;
    else {op_block_o, place_block_o} <= {pending, pending && (place_block_o || may_copy)};
  end
  assign idle_o = current_idle && walk_empty && !close_valid_o;

  logic unused;
  assign unused = ^{segment, judged, weighed, replay_i};

  `WEFT_ASSERT(block_told, op_block_o == (!close_room || done_waited))
  `WEFT_ASSERT(copies_block, raw && (finish || direct) || (close_valid_o && close_o.raw) -> place_block_o || direct)
  `WEFT_ASSERT(nothing_in_walk, direct -> walk_empty)
  `WEFT_ASSERT(ended_as_compared, weigh -> ended_same_q == ended)
  `WEFT_ASSERT(known_by_then, pop && !bare_q && ended -> chained)
  `WEFT_ASSERT(opens_told, opens == (start && !segment.replay))
  `WEFT_ASSERT(one_source, $onehot0({start, enter, direct}))
  `WEFT_ASSERT(nothing_but_a_report, enter -> segment.payload_len == '0 && !current.packet.payload && frame_q)

endmodule
