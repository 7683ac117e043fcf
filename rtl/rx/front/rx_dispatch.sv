// Decides what becomes of each frame, in the order of arrival (docs/card.md "Receiving: verdicts"). Each packet ends in one close: report, raw copy,
// store space.
//
// Handshake: `packet_ready_o` takes the packet at the head of the store's queue while rx_next has room. `start_valid_o` is a pulse in a
//            cycle with `start_ready_i`: a start is never pending. `close_o` is held in a register until taken. In a cycle with `hold_i` nothing is
//            fetched, decided or ended. Latency is eight cycles from the queue's head to the start without stalls; throughput is one packet of
//            a flow in four cycles at most.
// Pipeline:  cycle   | registers         | what happens                                         | hazards, bypasses
//            0 Seek  | rx_next           | the queue's head is looked up                        | again after a FLOW_KEY write
//            1-3     | rx_lookup         | the lookup is in flight; the payload is requested    | overlaps the two packets before
//            4 Read  | rx_next           | row and position are read                            | again if a verdict without a walk writes them
//            5 load  | packet_q, row_q,  | the packet enters, row and position arrive           | `same_upd`, `ended`: an end of its flow; a
//                    | flow_q,position_q |                                                      | replay enters only with an empty walk
//            6 Weigh | rx_accept         | segment and position are compared                    | where the flow's walks leave it; `ended_same_q`  
//            7 Judge | rx_accept         | the rule of acceptance                               | `attached` is the only late input
//            8 Ready | rx_walks          | start, a slot of the commit queue, a direct verdict  | `steady_q`: none behind an end with a raw slot
//            close   | rx_close          | report, raw slot, store space                        | one at a time
//            cycle       0    1    2    3    4     5     6     7     8     9     10    11    12
//            packet n    Seek ─    ─    ─    Read  load  Weigh Judge Ready
//            packet n+1                      Seek  ─     ─     ─     Read  load  Weigh Judge Ready
//            A packet of no flow goes from cycle 5 to Ready. A table write returns the packet to an earlier stage (rx_stand).
//            Segments in the walk, and what waits its turn between them, are in rx_walks. An end (`finish`) writes the position (rx_ended) and makes
//            the close.
// Why:       A further segment of a flow in the walk is *chained*: judged by where the youngest of them will leave the flow. If that one does not end
//            whole, the walk discards the chained one, and it goes up raw. Segments of several flows are walked side by side.
//            A bare acknowledgment of an attached flow is judged in the same way, and takes a slot of the commit queue:
//            its report is made in its turn. It says ATTACHED as the walk before it has left the flow (`left_attached_q`). Walks behind it are not
//            held up, but their operations wait for its close (`op_block_o`).
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

  output logic        payload_cmd_valid_o,
  input  logic        payload_cmd_ready_i,
  output logic [15:0] payload_cmd_start_o,
  output logic [ 7:0] payload_cmd_offset_o,
  output logic [15:0] payload_cmd_len_o,
  output logic        payload_flush_o,
  output logic        replay_start_o,        // pulses: the oldest replay is started, or refused
  output logic        replay_flush_o,
  output logic        payload_open_o,        // payload may pass on to the walk, from the cycle of its start on
  input  logic        payload_end_i,         // last beat of a packet has passed on

  input  logic        lookup_busy_i,
  output logic        lookup_valid_o,
  output logic [95:0] lookup_key_o,
  input  logic        lookup_rsp_i,
  input  logic        lookup_hit_i,
  input  logic [15:0] lookup_flow_i,
  input  logic        lookup_changed_i,

  input  logic                                   state_busy_i,
  output logic         [        PORTS-1:0][15:0] raw_tail_o,        // raw slots taken since the ring was set up
  output logic         [        PORTS-1:0]       raw_given_up_o,    // as of rx_raw_slots
  output logic         [        PORTS-1:0][15:0] raw_taken_o,
  output logic                                   fetch_valid_o,
  output logic         [             15:0]       fetch_flow_o,
  input  flow_rx_row_t                           fetch_row_i,
  input  rx_position_t                           fetch_position_i,
  output logic                                   upd_valid_o,
  output logic         [             15:0]       upd_flow_o,
  output rx_position_t                           upd_position_o,
  output logic         [        WALKS-1:0]       busy_valid_o,
  output logic         [        WALKS-1:0][15:0] busy_flow_o,
  output logic         [        WALKS-1:0]       busy_last_o,       // no younger one is of its flow
  output logic         [        WALKS-1:0]       finish_o,          // which of them ends in this cycle
  output logic         [$clog2(WALKS)-1:0]       busy_head_o,       // the oldest
  input  logic         [        WALKS-1:0]       kept_valid_i,      // an ATTACH is kept, to be written at its end
  input  rx_position_t                           kept_i,            // for the oldest
  input  logic                                   hold_i,
  input  logic                                   state_changed_i,

  output logic                      start_valid_o,    // only with start_ready_i
  input  logic                      start_ready_i,
  output logic                      start_chained_o,
  output logic         [WALK_W-1:0] start_behind_o,   // to the segment of this place
  output logic         [WALK_W-1:0] start_place_o,    // its own
  output logic         [      15:0] start_flow_o,
  output logic         [      31:0] start_seq_o,
  output logic         [      15:0] start_len_o,
  output flow_rx_row_t              start_row_o,
  output logic         [      31:0] start_msn_o,
  output logic         [      31:0] start_mo_o,
  input  logic                      done_valid_i,
  input  logic         [      15:0] done_len_i,
  input  stop_e                     done_stop_i,
  input  logic                      done_engine_i,
  input  logic         [      31:0] done_msn_i,
  input  logic         [      31:0] done_mo_i,
  output logic                      op_block_o,       // operations of a later packet must wait for a close

  output logic      close_valid_o,
  input  logic      close_ready_i,
  output rx_close_t close_o,

  output logic                                  idle_o,
  output trace_event_t                          trace_o,   // the verdict of a frame, or that it found no raw slot
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned COUNT_W = $clog2(WALKS + 1);

  // ---------------------------------------------------------------- the packet here: flow, row, position
  rx_packet_t  packet_q;
  rx_segment_t segment;
  logic pop, vacant, weigh, latch, ready, known_q, same, same_upd;
  logic direct;  // a verdict without a walk
  logic ended, ended_same_q;  // a walk of this flow ended a cycle ago
  logic leaves, weigh_again;  // where the flow's segments in the walk leave it is known; is not yet
  logic frame_q, load_free_q;  // frame_q: the packet is no replay; load_free_q: the next packet is no replay, or the walk is empty
  logic [15:0] flow_q, oldest_flow;
  logic [31:0] seq_end_q, walk_end_q;
  flow_rx_row_t row_q;
  rx_position_t position_q, finish_position, ended_position;

  assign segment = packet_q.segment;

  rx_packet_t  next_packet;
  rx_segment_t entering;
  assign entering = next_packet.segment;
  logic next_ready, next_here, next_hit, next_seek, next_sent, next_answered, next_reads, next_read, load, fetch;
  logic [15:0] next_flow, flow_d;
  logic [95:0] next_key;
  assign payload_cmd_start_o  = next_packet.start;
  assign payload_cmd_offset_o = next_packet.segment.payload_start;
  assign payload_cmd_len_o    = next_packet.segment.payload_len;

  // A verdict without a walk perhaps writes a position: what is read beside it is stale. An end's position is bypassed below.
  rx_next u_next (
    .clk_i,
    .rst_ni,
    .packet_valid_i,
    .packet_ready_o,
    .packet_i,
    .payload_ready_i(payload_cmd_ready_i),
    .payload_ask_o  (payload_cmd_valid_o),
    .payload_flush_i(payload_flush_o),
    .seek_o         (next_seek),
    .key_o          (next_key),
    .sent_i         (next_sent),
    .answered_i     (next_answered),
    .lookup_hit_i,
    .lookup_flow_i,
    .lookup_changed_i,
    .read_free_i    (next_reads),
    .read_stale_i   (direct),
    .ready_o        (next_ready),
    .packet_o       (next_packet),
    .here_o         (next_here),
    .hit_o          (next_hit),
    .flow_o         (next_flow),
    .read_o         (next_read),
    .load_i         (load)
  );

  // A replay continues where its flow's last one really ended, so it enters with an empty walk.
  rx_stand u_stand (
    .clk_i,
    .rst_ni,
    .next_ready_i   (next_ready),
    .next_packet_i  (next_packet),
    .next_hit_i     (next_hit),
    .next_flow_i    (next_flow),
    .load_o         (load),
    .next_seek_i    (next_seek),
    .next_key_i     (next_key),
    .next_sent_o    (next_sent),
    .next_answered_o(next_answered),
    .next_reads_o   (next_reads),
    .lookup_busy_i,
    .lookup_valid_o,
    .lookup_key_o,
    .lookup_rsp_i,
    .lookup_hit_i,
    .lookup_flow_i,
    .lookup_changed_i,
    .state_busy_i,
    .state_changed_i,
    .hold_i,
    .fetch_valid_o  (fetch),
    .fetch_flow_o,
    .may_load_i     (load_free_q),
    .weigh_again_i  (weigh_again),
    .pop_i          (pop),
    .packet_o       (packet_q),
    .flow_o         (flow_q),
    .flow_next_o    (flow_d),
    .known_o        (known_q),
    .vacant_o       (vacant),
    .latch_o        (latch),
    .weigh_o        (weigh),
    .ready_o        (ready)
  );
  assign fetch_valid_o = fetch || next_read;

  always_ff @(posedge clk_i) begin
    if (latch) begin
      row_q      <= fetch_row_i;
      position_q <= fetch_position_i;
    end
    // An end's position arrives a cycle later, also for what was read in its cycle. `attached` alone is taken at once: the rule uses it last.
    if (same_upd) position_q.attached <= finish_position.attached;
    if (ended) position_q <= ended_position;
    if (vacant) begin
      seq_end_q  <= entering.seq + 32'(entering.payload_len);
      // Where the segment leaves the flow: behind its FIN, so that nothing is placed at the FIN's own number (RFC 9293 §3.4).
      walk_end_q <= entering.seq + 32'(entering.payload_len) + 32'(!entering.replay && (entering.tcp_flags & TCP_FIN) != '0);
    end
  end

  // Whether the oldest walk is of the flow of the packet here; if there is none, of the flow of the one that may enter.
  logic same_next_q, same_held_q;
  always_ff @(posedge clk_i) begin
    same_next_q <= oldest_flow == next_flow;
    same_held_q <= oldest_flow == flow_d;
  end
  assign same = vacant ? same_next_q : same_held_q;

  // ---------------------------------------------------------------- segments in the walk
  walking_t entry, oldest;
  walk_done_t done;
  logic [WALK_W-1:0] head, oldest_behind;
  logic [COUNT_W-1:0] walks, walking;  // slots of the commit queue; segments in the walk
  logic [31:0] young_end, young_ts_recent;
  logic [10:0] oldest_taken;
  logic [15:0] raw_behind, oldest_mark;  // the raw slot behind the next one; where the oldest walk leaves its flow's mark
  logic [31:0] done_end;
  logic payload_left, may_start, start, enter, slot, opens, finish, kept_any, chained, young_ts_valid, walk_room, done_valid, done_waits, done_waited;

  rx_walks #(
    .WALKS(WALKS)
  ) u_walks (
    .clk_i,
    .rst_ni,
    .flow_i           (flow_q),
    .flow_next_i      (flow_d),
    .start_i          (start),
    .wait_i           (enter),
    .slot_i           (slot),
    .open_i           (opens),
    .entry_i          (entry),
    .taken_i          (position_q.taken),
    .mark_i           (position_q.mark),
    .room_o           (walk_room),
    .stands_i         (!vacant),
    .kept_i           (kept_valid_i),
    .kept_o           (kept_any),
    .again_o          (weigh_again),
    .leaves_o         (leaves),
    .young_end_o      (young_end),
    .young_ts_valid_o (young_ts_valid),
    .young_ts_recent_o(young_ts_recent),
    .chained_o        (chained),
    .place_o          (start_behind_o),
    .tail_o           (start_place_o),
    .payload_end_i,
    .payload_open_o,
    .payload_left_o   (payload_left),
    .done_valid_i,
    .done_i           ('{len: done_len_i, stop: done_stop_i, engine: done_engine_i, msn: done_msn_i, mo: done_mo_i}),
    .done_valid_o     (done_valid),
    .done_waits_o     (done_waits),
    .done_waited_o    (done_waited),
    .done_o           (done),
    .done_end_o       (done_end),
    .oldest_o         (oldest),
    .oldest_flow_o    (oldest_flow),
    .behind_i         (raw_behind),
    .oldest_taken_o   (oldest_taken),
    .oldest_behind_o  (oldest_behind),
    .oldest_mark_o    (oldest_mark),
    .head_o           (head),
    .finish_i         (finish),
    .valid_o          (busy_valid_o),
    .flow_o           (busy_flow_o),
    .last_o           (busy_last_o),
    .count_o          (walks),
    .walking_o        (walking)
  );

  // ---------------------------------------------------------------- the decision
  rx_position_t judged, weighed;
  accept_e       accept;
  logic    [3:0] refusal;
  logic accept_walk, accept_counts, accept_raw, accept_report, takes_turn, walk_ends, turn_ends, whole, raw;
  logic [WALKS-1:0] left_attached_q;  // by place, of the segments that ended
  logic stamps, to_walk, room, room_any, room_walk, room_plain, decide, close_room, raw_take;
  logic needs_raw, detach, drop, settled, steady_q, replaying_q, empty_q, no_replay_q, framed_q, direct_counts, direct_raw, goes_up;
  logic [PORTS-1:0] closed_q;
  always_ff @(posedge clk_i) closed_q <= closed_i;
  logic [15:0] raw_slot;
  logic        of_walk_q;  // a decision in this cycle is the end of a walk
  logic port, of_port;  // port: of the packet here; of_port: of what is decided or ends

  // A segment behind walks of its flow is judged by where the youngest of them will leave the flow, if it ends whole. A kept ATTACH is kept for all of
  // them. Both are a cycle old: behind an ATTACH all is fetched again. If the flow's segments in the walk end whole, its position equals the
  // youngest's. If one does not, the flow is detached and nothing else counts.
  logic attached;
  assign attached = chained ? !kept_any : position_q.attached;
  always_comb begin
    weighed = ended_same_q ? ended_position : position_q;
    if (leaves) begin
      weighed.rcv_nxt   = young_end;
      weighed.ts_valid  = young_ts_valid;
      weighed.ts_recent = young_ts_recent;
    end
  end

  // The same for the verdict, which is a cycle old. An end in between was whole, so where the youngest leaves the flow still counts.
  always_comb begin
    judged = position_q;
    if (chained) begin
      judged.attached  = !kept_any;
      judged.rcv_nxt   = young_end;
      judged.ts_valid  = young_ts_valid;
      judged.ts_recent = young_ts_recent;
    end
  end

  rx_accept u_accept (
    .clk_i,
    .weigh_i   (weigh),
    .segment_i (segment),
    .seq_end_i (seq_end_q),
    .row_i     (row_q),
    .position_i(weighed),
    .follows_i (replay_i.follows),
    .attached_i(attached),
    .used_i    (pop && known_q),
    .now_i     (judged),
    .accept_o  (accept),
    .refusal_o (refusal),
    .walk_o    (accept_walk),
    .counts_o  (accept_counts),
    .raw_o     (accept_raw),
    .report_o  (accept_report),
    .stamps_o  (stamps)
  );

  // A frame of no flow is the first port's.
  assign port    = PORTS != 1 && known_q && row_q.flags[FLOW_RX_ROW_PORT_BIT];
  assign of_port = PORTS != 1 && (of_walk_q ? oldest.port : port);

  logic spent, fresh;  // spent: the flow has taken its share of the raw slots; fresh: it has taken none
  logic [15:0] plain_slot;
  rx_raw_room #(
    .WALKS      (WALKS),
    .PORTS      (PORTS),
    .SHARE_LEAST(SHARE_LEAST)
  ) u_raw_room (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .closed_i,
    .walks_i     (walking),
    .start_i     (start),
    .needless_i  (!frame_q),
    .port_i      (port),
    .take_i      (raw_take),
    .take_port_i (of_port),
    .mark_i      (weighed.mark),
    .taken_i     (weighed.taken),
    .used_i      (direct && known_q),
    .position_i  (position_q),
    .settled_o   (settled),
    .fresh_o     (fresh),
    .spent_o     (spent),
    .room_o      (room),
    .room_any_o  (room_any),
    .room_walk_o (room_walk),
    .room_plain_o(room_plain),
    .slot_o      (raw_slot),
    .plain_slot_o(plain_slot),
    .behind_o    (raw_behind),
    .tail_o      (raw_tail_o),
    .given_up_o  (raw_given_up_o),
    .raw_taken_o (raw_taken_o)
  );

  // A taken close frees its register a cycle later; no decision and no end comes before.
  assign to_walk   = known_q && accept_walk && no_replay_q;
  assign decide    = ready && settled && !hold_i && !lookup_changed_i && !state_changed_i;
  assign may_start = decide && steady_q && known_q && accept_walk && room_walk && walk_room && start_ready_i;
  assign start     = may_start && no_replay_q;
  assign opens     = may_start && framed_q;  // a frame, whose payload waits for this
  // What needs a report alone does not wait for the walk: it takes a slot of the queue, and its report is made in its turn.
  logic port_open_q;
  always_ff @(posedge clk_i) port_open_q <= !closed_i[port];
  assign takes_turn = known_q && accept_report && port_open_q;
  assign enter = decide && steady_q && takes_turn && no_replay_q && walk_room;
  assign slot       = decide && steady_q && known_q && no_replay_q && walk_room &&
                      ((accept_walk && room_walk && start_ready_i) || (accept_report && port_open_q));
  assign direct = decide && empty_q && close_room && !takes_turn && !(to_walk && (frame_q ? room_any : !closed_q[port]));
  assign finish = done_valid && close_room && !hold_i;
  assign walk_ends = finish && oldest.walked;
  assign turn_ends = finish && !oldest.walked;
  // The verdict is two cycles old in what it knows of the flow's segments in the walk, all else one. A whole end without a raw slot changes
  // nothing in it: if an ATTACH is kept for the flow, that was known before. `steady_q`: there was no other one meanwhile. `empty_q`: none is left.
  logic broke, broke_q;  // an end that takes a raw slot, or of a replay
  assign broke = finish && (raw || oldest.packet.segment.replay);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {broke_q, steady_q, empty_q, ended_same_q} <= '0;
    else {broke_q, steady_q, empty_q, ended_same_q} <= {broke, !broke && !broke_q, walks == '0 && !payload_left && !broke_q, same_upd};
  end

  // A replay is alone in the walk: it entered with an empty one, and nothing starts before it has ended. A start comes three cycles behind its end
  // at the earliest, as behind any end that breaks. A replay needs no raw slot. `frame_q` is a bit beside the packet.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) replaying_q <= 1'b0;
    else if (start) replaying_q <= !frame_q;
    else if (walk_ends) replaying_q <= 1'b0;
  end
  assign replay_start_o = start && !frame_q;
  assign replay_flush_o = direct && !frame_q;

  always_ff @(posedge clk_i) begin
    if (vacant) frame_q <= !entering.replay;
    load_free_q <= !entering.replay || (vacant && walks == '0 && !payload_left);
    no_replay_q <= !replaying_q;
    framed_q    <= !replaying_q && frame_q;
  end

  assign pop = start || enter || direct;
  assign payload_flush_o = direct;
  assign start_valid_o = start;
  assign start_chained_o = chained;
  assign start_flow_o = flow_q;
  assign start_seq_o = segment.seq;
  assign start_len_o = segment.payload_len;
  assign start_row_o = row_q;
  assign start_msn_o = segment.replay && !replay_i.follows ? replay_i.msn : position_q.msn;
  assign start_mo_o = segment.replay && !replay_i.follows ? replay_i.mo : position_q.mo;

  assign entry = '{
          packet: packet_q,
          walked: !accept_report,
          behind: chained,
          port: port,
          flow : flow_q,
          epoch: row_q.epoch,
          seq_end: walk_end_q,
          window: position_q.window,
          ts_valid: stamps || judged.ts_valid,
          ts_recent: stamps ? segment.ts_val : judged.ts_recent
      };

  // What a packet needs that is not walked.
  assign detach = known_q && accept == ACCEPT_LEAVE;
  // A segment to be walked gets here if it has no raw slot, or no room for its reports.
  assign needs_raw = frame_q && (!known_q || accept_raw);
  // The last case is a replay of a flow that is gone.
  assign goes_up = known_q ? room && !spent : room_plain;
  assign drop = frame_q ? (needs_raw && !goes_up) || closed_q[port] : !known_q;

  // ---------------------------------------------------------------- position, report, close of what is decided
  rx_packet_t   of;
  rx_position_t position_d;
  logic is_known, is_duplicate, is_refused, counts_raw;
  logic [15:0] of_flow, done_len;
  logic [3:0] outcome;  // of a replay

  // A direct verdict comes only if no segment was in the walk a cycle ago, an end only if one was. So the choice between the two is a register, and
  // the late `finish` and `direct` select none of the data.
  always_ff @(posedge clk_i) of_walk_q <= walks != '0;

  assign whole = done.stop == STOP_WHOLE;
  assign outcome       = !of_walk_q ? REPLAY_OUTCOME_REFUSED : whole ? REPLAY_OUTCOME_WHOLE :
                         done.stop == STOP_ERROR ? REPLAY_OUTCOME_ERROR :
                         done.stop == STOP_NOT_WALKED ? REPLAY_OUTCOME_REFUSED : REPLAY_OUTCOME_PARTIAL;
  assign of = of_walk_q ? oldest.packet : packet_q;
  assign of_flow = of_walk_q ? oldest.flow : flow_q;
  assign is_known = of_walk_q || known_q;
  assign is_duplicate = !of_walk_q && known_q && accept == ACCEPT_DUPLICATE;
  assign is_refused = !of_walk_q && known_q && accept == ACCEPT_REFUSE;
  assign raw = of_walk_q ? oldest.walked && (!whole || done.engine) && !oldest.packet.segment.replay : needs_raw && !drop;
  // Segments with payload that the engine has to complete.
  assign direct_counts = known_q && !drop && accept_counts;
  assign direct_raw = known_q && !drop && accept_raw && frame_q;
  assign counts_raw = of_walk_q ? oldest.walked && !whole : direct_counts;
  assign done_len = !of_walk_q || !oldest.walked ? '0 : (whole ? oldest.packet.segment.payload_len : done.len);
  assign raw_take = raw && (finish || direct);
  assign finish_o = WALKS'(finish) << head;
  assign busy_head_o = head;

  // Where a walk's end leaves the flow, and where a verdict without a walk does.
  rx_ended #(
    .WALKS(WALKS)
  ) u_ended (
    .clk_i,
    .rst_ni,
    .finish_i        (walk_ends),
    .head_i          (head),
    .oldest_i        (oldest),
    .done_i          (done),
    .done_end_i      (done_end),
    .taken_i         (oldest_taken),
    .mark_i          (oldest_mark),
    .kept_valid_i,
    .kept_i,
    .position_o      (finish_position),
    .same_i          (same),
    .ended_o         (ended),
    .ended_position_o(ended_position)
  );
  always_comb begin
    position_d          = position_q;
    position_d.mark     = raw_behind;  // counts only with a slot taken
    position_d.taken    = fresh ? 11'd1 : position_q.taken + 11'd1;
    position_d.attached = position_q.attached && !detach;
  end
  // Whether the walk that ended last left its flow attached, for what is behind it in the queue.
  always_ff @(posedge clk_i) if (walk_ends) left_attached_q[head] <= finish_position.attached;
  assign upd_valid_o    = walk_ends || (direct && direct_raw);
  assign upd_flow_o     = of_flow;
  // With a direct verdict the packet leaves, so only an end counts for the packet here. `same` was compared a cycle ago.
  assign same_upd       = walk_ends && same;
  assign upd_position_o = of_walk_q ? finish_position : position_d;

  rx_close u_close (
    .clk_i,
    .rst_ni,
    .decided_i   (finish || direct),
    .packet_i    (of),
    .known_i     (is_known),
    .report_i    (of_walk_q || !drop),
    .raw_i       (raw),
    .slot_i      (raw_slot),
    .plain_slot_i(plain_slot),
    .flow_i      (of_flow),
    .epoch_i     (of_walk_q ? oldest.epoch : row_q.epoch),
    .port_i      (of_port),
    .attached_i  (!of_walk_q ? position_d.attached : oldest.walked ? whole : !oldest.behind || left_attached_q[oldest_behind]),
    .duplicate_i (is_duplicate),
    .refusal_i   (is_refused ? refusal : REFUSAL_NONE),
    .done_len_i  (done_len),
    .outcome_i   (outcome),
    .free_o      (close_room),
    .valid_o     (close_valid_o),
    .ready_i     (close_ready_i),
    .close_o
  );

  // Equals !close_room || done_waits. The walk's next operation depends on it, and with that much of the walk. A pending end is pending in the next
  // cycle as well, or its close is.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_block_o <= 1'b0;
    else op_block_o <= done_valid_i || done_waits || direct || (close_valid_o && !close_ready_i);
  end
  assign idle_o = !packet_valid_i && !next_here && vacant && walks == '0 && !payload_left && !close_valid_o;

  // ---------------------------------------------------------------- counters, trace
  rx_verdict u_verdict (
    .clk_i,
    .rst_ni,
    .finish_i    (walk_ends),
    .direct_i    (direct || turn_ends),
    .dropped_i   (!of_walk_q && drop),
    .reserved_i  (!known_q && room_any),
    .spent_i     (spent && room),
    .closed_i    (closed_q[port]),
    .known_i     (is_known),
    .replay_i    (of.segment.replay),
    .raw_i       (raw),
    .counts_raw_i(counts_raw),
    .flow_i      (of_flow),
    .tcp_i       (of.segment.is_tcp),
    .seq_i       (of.segment.seq),
    .frame_len_i (of.frame_len),
    .stop_i      (done.stop),
    .engine_i    (done.engine),
    .accept_i    (of_walk_q ? ACCEPT_BARE : accept),
    .refusal_i   (refusal),
    .trace_o,
    .cnt_inc_o
  );

  logic unused;
  assign unused = ^{oldest, of.payload, replay_i, entering};

`ifndef SYNTHESIS
  logic        ended_q;
  logic [15:0] ended_flow_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    ended_q      <= rst_ni && walk_ends;
    ended_flow_q <= oldest.flow;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(block_told, op_block_o == (!close_room || done_waited))
  `WEFT_ASSERT(nothing_in_walk, direct -> walks == '0 && !payload_left)
  `WEFT_ASSERT(same_as_ever, walk_ends && (!vacant || load) -> same == (oldest.flow == (vacant ? next_flow : flow_q)))
  `WEFT_ASSERT(ended_of_it, ended_q && (!vacant || load) -> same == (ended_flow_q == (vacant ? next_flow : flow_q)))
  `WEFT_ASSERT(ended_as_compared, weigh -> ended_same_q == ended)
  `WEFT_ASSERT(known_by_then, pop && ended -> chained)
  `WEFT_ASSERT(replay_alone, !vacant && !frame_q -> walks == '0 && !payload_left)
  `WEFT_ASSERT(opens_told, opens == (start && !segment.replay))
  `WEFT_ASSERT(frame_told, start || direct -> frame_q == !segment.replay && !(start && replaying_q))
  `WEFT_ASSERT(one_source, !(finish && direct) && $onehot0({start, enter, direct}))
  `WEFT_ASSERT(nothing_but_a_report, enter -> segment.payload_len == '0 && !packet_q.payload && frame_q)
  `WEFT_ASSERT(source_told, !(finish && !of_walk_q) && !(direct && of_walk_q))
`endif

endmodule
