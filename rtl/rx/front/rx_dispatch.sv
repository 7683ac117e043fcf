// Decides what becomes of each frame (docs/card.md "Receiving"), in the order of arrival.
//
// The packet at the head of the store's queue is looked up while the one before it stands here: its row and position are read, it is
// judged (rx_accept), all while earlier ones are walked. Its payload was asked for before, at the queue's head, so no decision waits for
// it; it passes on to the walk from the cycle of the start on. A segment to be walked is started as soon as the walk takes it: a
// further one of the same flow that continues the youngest in the walk is *chained* (the walk throws it away if the one before does
// not end whole; it then goes up raw). All other verdicts wait until the walk is empty, so that reports and
// positions keep the order. At the end of each packet stands one close: raw copy, report, store space.
// From the packet at the queue's head to its start, if nothing is in the way: eight cycles.
// Before a segment is walked a raw slot is set aside for it, because its last FPDU may turn out partial; a frame
// that finds no free slot is dropped before it has changed anything.
// A start is not offered but given: only in a cycle in which the walk takes it. So no decision ever stands, and the tables need
// not wait for one: in a cycle with `hold_i` nothing is decided.

module rx_dispatch
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned WALKS = 8,         // segments in the walk, a power of two
  parameter int unsigned PORTS = 1,
  parameter int unsigned SHARE_LEAST = 8    // raw slots that a flow may take of a generation, however small the ring
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  rx_cfg_t                       cfg_i,
  input  replay_t                       replay_i,           // what is to be known of the replay that comes first
  input  logic [PORTS-1:0]              closed_i,           // level: a port takes no segments

  input  logic                          packet_valid_i,
  output logic                          packet_ready_o,
  input  rx_packet_t                    packet_i,

  output logic                          payload_cmd_valid_o,
  input  logic                          payload_cmd_ready_i,
  output logic [15:0]                   payload_cmd_start_o,
  output logic [7:0]                    payload_cmd_offset_o,
  output logic [15:0]                   payload_cmd_len_o,
  output logic                          payload_flush_o,
  output logic                          replay_start_o,     // pulses: the replay that comes first is started, or refused
  output logic                          replay_flush_o,
  output logic                          payload_open_o,     // payload may pass on to the walk, from the cycle of its start on
  input  logic                          payload_end_i,      // last beat of a packet has passed on

  input  logic                          lookup_busy_i,
  output logic                          lookup_valid_o,
  output logic [95:0]                   lookup_key_o,
  input  logic                          lookup_rsp_i,
  input  logic                          lookup_hit_i,
  input  logic [15:0]                   lookup_flow_i,
  input  logic                          lookup_changed_i,

  input  logic                          state_busy_i,
  output logic [PORTS-1:0][15:0]        raw_tail_o,         // raw slots taken since the ring was set up
  output logic [PORTS-1:0]              raw_given_up_o,     // as of rx_raw_slots
  output logic [PORTS-1:0][15:0]        raw_taken_o,
  output logic                          fetch_valid_o,
  output logic [15:0]                   fetch_flow_o,
  input  flow_rx_row_t                  fetch_row_i,
  input  rx_position_t                  fetch_position_i,
  output logic                          upd_valid_o,
  output logic [15:0]                   upd_flow_o,
  output rx_position_t                  upd_position_o,
  output logic [WALKS-1:0]              busy_valid_o,
  output logic [WALKS-1:0][15:0]        busy_flow_o,
  output logic [WALKS-1:0]              busy_last_o,        // no younger one is of its flow
  output logic [WALKS-1:0]              finish_o,           // which of them ends in this cycle
  output logic [$clog2(WALKS)-1:0]      busy_head_o,        // the oldest
  input  logic [WALKS-1:0]              kept_valid_i,       // the host's word for when it has ended
  input  rx_position_t                  kept_i,             // for the oldest
  input  logic                          hold_i,
  input  logic                          state_changed_i,

  output logic                          start_valid_o,      // only with start_ready_i
  input  logic                          start_ready_i,
  output logic                          start_chained_o,
  output logic [15:0]                   start_flow_o,
  output logic [31:0]                   start_seq_o,
  output logic [15:0]                   start_len_o,
  output flow_rx_row_t                  start_row_o,
  output logic [31:0]                   start_msn_o,
  output logic [31:0]                   start_mo_o,
  input  logic                          done_valid_i,
  input  logic [15:0]                   done_len_i,
  input  stop_e                         done_stop_i,
  input  logic                          done_engine_i,
  input  logic [31:0]                   done_msn_i,
  input  logic [31:0]                   done_mo_i,
  output logic                          op_block_o,         // operations of a later packet must wait for a close

  output logic                          close_valid_o,
  input  logic                          close_ready_i,
  output rx_close_t                     close_o,

  output logic                          idle_o,
  output trace_event_t                  trace_o,            // the verdict of a frame, or that it found no raw slot
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned WALK_W = $clog2(WALKS);
  localparam int unsigned COUNT_W = $clog2(WALKS + 1);

  // LOOK, LOOKING, FETCH: again, because a table was written.
  typedef enum logic [2:0] {EMPTY, LOOK, LOOKING, FETCH, LATCH, WEIGH, JUDGE, READY} phase_e;

  // ---------------------------------------------------------------- the packet behind: flow
  typedef enum logic [1:0] {SEEK, SEEKING, SOUGHT} seek_e;

  phase_e       phase_q, phase_d;
  seek_e        seek_q;
  rx_packet_t   packet_q;
  rx_segment_t  segment;
  logic         again, seek, may_look, look_again, fetch_again, weigh_again, next_found, next_tcp_q, load, load_known, known_q;
  logic         pop, popped_q, vacant_q, ready_q, payload_set_q, same, same_upd;
  logic         young_is_same, ended, ended_same_q;   // ended: a cycle ago a walk of the flow
  logic         frame_q, load_free_q;                 // it is no replay; the next packet is none, or nothing is in the walk
  logic [15:0]  flow_d, flow_q, oldest_flow;
  logic [31:0]  seq_end_q, walk_end_q;
  flow_rx_row_t row_q;
  rx_position_t position_q, finish_position, ended_position;

  assign segment = packet_q.segment;

  // One lookup at a time. The packet that stands here goes first.
  assign again          = phase_q == LOOK || phase_q == LOOKING;
  assign seek           = packet_valid_i && packet_i.segment.is_tcp && seek_q == SEEK && !again;
  assign next_found     = seek_q == SOUGHT || (seek_q == SEEKING && lookup_rsp_i);
  assign may_look       = seek_q != SEEKING && !lookup_busy_i && !state_busy_i && !lookup_changed_i;
  assign lookup_valid_o = (phase_q == LOOK || seek) && may_look;
  assign lookup_key_o   = phase_q == LOOK ? segment.key : packet_i.segment.key;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seek_q <= SEEK;
    else if (load || lookup_changed_i) seek_q <= SEEK;
    else if (seek && lookup_valid_o) seek_q <= SEEKING;
    else if (next_found || (packet_valid_i && !packet_i.segment.is_tcp)) seek_q <= SOUGHT;
  end
  always_ff @(posedge clk_i) next_tcp_q <= packet_i.segment.is_tcp;

  // ---------------------------------------------------------------- the next packet: row, position
  // Its payload has been asked for, or there is none to ask for. A replay goes on where its flow's last one really ended, so it waits for that.
  assign load           = vacant_q && next_found && load_free_q && (payload_set_q || payload_cmd_ready_i) && !hold_i && !lookup_changed_i;
  assign load_known     = next_tcp_q && lookup_hit_i;
  assign packet_ready_o = load;
  assign fetch_valid_o  = (phase_q == FETCH && !hold_i) || load;
  assign fetch_flow_o   = vacant_q ? lookup_flow_i : flow_q;
  assign flow_d         = vacant_q || phase_q == LOOKING ? lookup_flow_i : flow_q;

  assign payload_cmd_valid_o  = packet_valid_i && packet_i.payload && !payload_set_q;
  assign payload_cmd_start_o  = packet_i.start;
  assign payload_cmd_offset_o = packet_i.segment.payload_start;
  assign payload_cmd_len_o    = packet_i.segment.payload_len;

  // A table was written; or its flow's last segment in the walk was not the youngest there, so it was weighed against an older position.
  assign look_again  = segment.is_tcp && lookup_changed_i;
  assign fetch_again = known_q && state_changed_i;
  assign weigh_again = known_q && same_upd && !young_is_same;

  // But for a pop.
  always_comb begin
    unique case (phase_q)
      EMPTY:   phase_d = !load ? EMPTY : load_known ? LATCH : READY;
      LOOK:    phase_d = may_look ? LOOKING : LOOK;
      LOOKING: phase_d = look_again ? LOOK : !lookup_rsp_i ? LOOKING : lookup_hit_i ? FETCH : READY;
      FETCH:   phase_d = look_again ? LOOK : hold_i ? FETCH : LATCH;
      LATCH:   phase_d = look_again ? LOOK : fetch_again ? FETCH : WEIGH;
      WEIGH:   phase_d = look_again ? LOOK : fetch_again ? FETCH : weigh_again ? WEIGH : JUDGE;
      JUDGE:   phase_d = look_again ? LOOK : fetch_again ? FETCH : weigh_again ? WEIGH : READY;
      READY:   phase_d = look_again ? LOOK : fetch_again ? FETCH : weigh_again ? WEIGH : READY;
      default: phase_d = EMPTY;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q       <= EMPTY;
      vacant_q      <= 1'b1;
      ready_q       <= 1'b0;
      popped_q      <= 1'b0;
      known_q       <= 1'b0;
      payload_set_q <= 1'b0;
    end else begin
      phase_q  <= pop ? EMPTY : phase_d;
      vacant_q <= pop || (vacant_q && !load);      // phase_q == EMPTY
      ready_q  <= phase_d == READY;                // phase_q == READY, or it was until a pop
      popped_q <= pop;
      if (vacant_q) known_q <= load_known;
      else if (phase_q == LOOK) known_q <= 1'b0;
      else if (phase_q == LOOKING && lookup_rsp_i) known_q <= lookup_hit_i;
      // A flush takes with it what was asked for the packet behind.
      if (load || payload_flush_o) payload_set_q <= 1'b0;
      else if (packet_valid_i && payload_cmd_ready_i) payload_set_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (vacant_q) packet_q <= packet_i;
    flow_q      <= flow_d;
    if (phase_q == LATCH) begin
      row_q      <= fetch_row_i;
      position_q <= fetch_position_i;
    end
    // What an end leaves comes a cycle behind it, also for what was read in its cycle; at once only what the rule looks at last.
    if (same_upd) position_q.attached <= finish_position.attached;
    if (ended) position_q <= ended_position;
    seq_end_q <= segment.seq + 32'(segment.payload_len);
    // Where it leaves the flow: behind its FIN, so that nothing is placed at the FIN's own number (RFC 9293 §3.4).
    walk_end_q <= segment.seq + 32'(segment.payload_len) + 32'(!segment.replay && (segment.tcp_flags & TCP_FIN) != '0);
  end

  // Whether the oldest walk is of the flow, by both flows that it may be: which of them it is chooses late.
  logic found_q, same_found_q, same_held_q;
  always_ff @(posedge clk_i) begin
    found_q      <= vacant_q || phase_q == LOOKING;
    same_found_q <= oldest_flow == lookup_flow_i;
    same_held_q  <= oldest_flow == flow_q;
  end
  assign same = found_q ? same_found_q : same_held_q;

  // ---------------------------------------------------------------- segments in the walk
  walking_t          entry, oldest;
  walk_done_t        done;
  logic [WALK_W-1:0] head, young;
  logic [COUNT_W-1:0] walks;
  logic [31:0]       young_end, young_ts_recent;
  logic [10:0]       oldest_taken;
  logic [15:0]       raw_behind, oldest_mark;               // the raw slot behind the next one; where the oldest walk leaves its flow's mark
  logic [31:0]       done_end;
  logic              payload_left, may_start, start, opens, finish, flow_in_walk, was_youngest, young_ts_valid, walk_room, done_valid, done_waits;

  rx_walks #(.WALKS(WALKS)) i_walks (
    .clk_i, .rst_ni, .flow_i(flow_q), .start_i(start), .open_i(opens), .entry_i(entry), .taken_i(position_q.taken), .mark_i(position_q.mark), .room_o(walk_room),
    .in_walk_o(flow_in_walk), .youngest_o(young_is_same), .was_youngest_o(was_youngest), .young_o(young), .young_end_o(young_end),
    .young_ts_valid_o(young_ts_valid), .young_ts_recent_o(young_ts_recent), .payload_end_i, .payload_open_o, .payload_left_o(payload_left),
    .done_valid_i, .done_i('{len: done_len_i, stop: done_stop_i, engine: done_engine_i, msn: done_msn_i, mo: done_mo_i}),
    .done_valid_o(done_valid), .done_waits_o(done_waits), .done_o(done), .done_end_o(done_end), .oldest_o(oldest), .oldest_flow_o(oldest_flow),
    .behind_i(raw_behind), .oldest_taken_o(oldest_taken), .oldest_mark_o(oldest_mark), .head_o(head), .finish_i(finish), .valid_o(busy_valid_o), .flow_o(busy_flow_o), .last_o(busy_last_o),
    .count_o(walks)
  );

  // ---------------------------------------------------------------- the decision
  rx_position_t judged, weighed;
  accept_e      accept;
  logic [3:0]   refusal;
  logic         accept_walk, accept_counts, accept_raw, stamps, to_walk, room, room_any, room_walk, room_plain, decide, direct, close_room, close_free_q, raw_take;
  logic         needs_raw, detach, drop, settled, steady_q, replaying_q, empty_q, follows_q, framed_q, follows, chained_q, direct_counts, direct_raw, goes_up;
  logic [PORTS-1:0] closed_q;
  always_ff @(posedge clk_i) closed_q <= closed_i;
  logic [15:0]  raw_slot;
  logic         of_walk_q;                                // what is decided would be the end of a walk
  logic         port, of_port;                            // of the flow of what stands here; of what is decided, or ends

  // Behind its own segments in the walk: where the youngest will leave the flow, if it ends whole. What is kept is so for all of them.
  // If the youngest of all is another flow's nothing is decided before these have ended. Whether something is kept is asked a cycle
  // before: behind its ATTACH all is fetched again, and behind a start nothing is judged for some cycles.
  logic young_kept_q, attached;
  always_ff @(posedge clk_i) young_kept_q <= kept_valid_i[young];
  assign attached = young_is_same ? !young_kept_q : position_q.attached;
  always_comb begin
    judged = position_q;
    if (young_is_same) begin
      judged.attached  = !kept_valid_i[young];
      judged.rcv_nxt   = young_end;
      judged.ts_valid  = young_ts_valid;
      judged.ts_recent = young_ts_recent;
    end
  end

  // The same as a cycle before. Where the flow's segments in the walk end whole, its position says the same as the youngest
  // said; where one does not the flow is not attached, and nothing else counts.
  always_comb begin
    weighed = ended_same_q ? ended_position : position_q;
    if (was_youngest) begin
      weighed.rcv_nxt   = young_end;
      weighed.ts_valid  = young_ts_valid;
      weighed.ts_recent = young_ts_recent;
    end
  end

  rx_accept i_accept (
    .clk_i, .weigh_i(phase_q == WEIGH), .segment_i(segment), .seq_end_i(seq_end_q), .row_i(row_q), .position_i(weighed),
    .follows_i(replay_i.follows), .attached_i(attached), .used_i(pop && known_q), .now_i(judged), .accept_o(accept), .refusal_o(refusal), .walk_o(accept_walk), .counts_o(accept_counts),
    .raw_o(accept_raw), .stamps_o(stamps)
  );

  logic [PORTS-1:0]       settled_of, room_of, room_any_of, room_walk_of, room_plain_of;
  logic [PORTS-1:0][15:0] slot_of, behind_of, begin_of;
  logic [PORTS-1:0][10:0] share_of;
  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    rx_raw_slots #(.WALKS(WALKS), .SHARE_LEAST(SHARE_LEAST)) i_raw_slots (
      .clk_i, .rst_ni, .cfg_i(cfg_i.raw[p]), .reserve_i(p == 0 ? cfg_i.raw_reserve : '0), .closed_i(closed_i[p]), .walks_i(walks), .start_i(start), .own_i(port == 1'(p)),
      .needless_i(!frame_q), .take_i(raw_take && of_port == 1'(p)), .settled_o(settled_of[p]), .begin_o(begin_of[p]), .share_o(share_of[p]), .slot_o(slot_of[p]), .tail_o(raw_tail_o[p]), .given_up_o(raw_given_up_o[p]), .taken_o(raw_taken_o[p]), .behind_o(behind_of[p]), .room_o(room_of[p]),
      .room_any_o(room_any_of[p]), .room_walk_o(room_walk_of[p]), .room_plain_o(room_plain_of[p])
    );
  end
  // A frame of no flow is the first port's.
  if (PORTS == 1) begin : gen_one_port
    assign {port, of_port} = '0;
    assign room      = room_of[0];
    assign room_any  = room_any_of[0];
    assign room_walk = room_walk_of[0];
    assign raw_slot  = slot_of[0];
    assign raw_behind = behind_of[0];
  end else begin : gen_two_ports
    assign port      = known_q && row_q.flags[FLOW_RX_ROW_PORT_BIT];
    assign of_port   = of_walk_q ? oldest.port : port;
    assign room      = room_of[port];
    assign room_any  = room_any_of[port];
    assign room_walk = room_walk_of[port];
    assign raw_slot  = slot_of[of_port];
    assign raw_behind = behind_of[of_port];
  end
  assign settled    = &settled_of;
  assign room_plain = room_plain_of[0];

  // Whether the flow has taken its share of the raw slots: its mark is in begin + 1 .. tail, modulo 2^16, and so many are before it. Two cycles;
  // position, tail and generation have stood for longer when it is decided, but for a generation that begins: then it is seen late.
  logic        after_begin_q, in_tail_q, wraps_q, spent_q, fresh_q;
  logic [10:0] taken_q;
  logic [15:0] begins, ends;
  assign begins = begin_of[port];
  assign ends   = raw_tail_o[port];
  always_ff @(posedge clk_i) begin
    after_begin_q <= weighed.mark > begins;
    in_tail_q     <= weighed.mark <= ends;
    wraps_q       <= ends < begins;
    taken_q       <= weighed.taken;
    fresh_q       <= !(wraps_q ? after_begin_q || in_tail_q : after_begin_q && in_tail_q);
    spent_q       <= (wraps_q ? after_begin_q || in_tail_q : after_begin_q && in_tail_q) && taken_q >= share_of[port];
  end

  // A close that is taken leaves room a cycle later: until then neither a decision nor an end can come. Beside the bit that five hundred
  // registers wait for, the same for what is decided.
  assign close_room = close_free_q;
  assign to_walk    = known_q && accept_walk && follows_q;
  assign decide     = ready_q && !popped_q && settled && !hold_i && !lookup_changed_i && !state_changed_i;
  assign may_start  = decide && steady_q && known_q && accept_walk && room_walk && walk_room && start_ready_i;
  assign start      = may_start && follows_q;
  assign opens      = may_start && framed_q;        // a frame, whose payload waits for this
  assign direct     = decide && empty_q && close_room && !(to_walk && (room_any || !frame_q));
  assign finish     = done_valid && close_room && !hold_i;
  // The verdict is a cycle old, and what is known of its flow's segments in the walk: no segment has ended in that cycle; none is in
  // the walk any more.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {steady_q, empty_q, ended_same_q} <= '0;
    else {steady_q, empty_q, ended_same_q} <= {!finish, walks == '0 && !payload_left, same_upd};
  end

  // A replay is alone in the walk: it was looked at when nothing was in it, nothing is started before it has ended (two cycles later at the
  // earliest, as behind any end), and it needs no raw slot. What it changes is worked out a cycle before, and whether it is one is a bit beside the packet.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) replaying_q <= 1'b0;
    else if (start) replaying_q <= !frame_q;
    else if (finish) replaying_q <= 1'b0;
  end
  assign replay_start_o = start && !frame_q;
  assign replay_flush_o = direct && !frame_q;
  assign follows        = !flow_in_walk || young_is_same;

  always_ff @(posedge clk_i) begin
    if (vacant_q) frame_q <= !packet_i.segment.replay;
    load_free_q <= !packet_i.segment.replay || (vacant_q && walks == '0 && !payload_left);
    follows_q <= !replaying_q && follows;
    framed_q  <= !replaying_q && frame_q && follows;
    chained_q <= flow_in_walk;
  end

  assign pop             = start || direct;
  assign payload_flush_o = direct;
  assign start_valid_o   = start;
  assign start_chained_o = chained_q;
  assign start_flow_o    = flow_q;
  assign start_seq_o     = segment.seq;
  assign start_len_o     = segment.payload_len;
  assign start_row_o     = row_q;
  assign start_msn_o     = segment.replay && !replay_i.follows ? replay_i.msn : position_q.msn;
  assign start_mo_o      = segment.replay && !replay_i.follows ? replay_i.mo : position_q.mo;

  assign entry = '{packet: packet_q, port: port, flow: flow_q, epoch: row_q.epoch, seq_end: walk_end_q,
                   window: position_q.window, ts_valid: stamps || judged.ts_valid,
                   ts_recent: stamps ? segment.ts_val : judged.ts_recent};

  // What a packet that is not walked needs.
  assign detach = known_q && accept == ACCEPT_LEAVE;
  // One that should be walked is here because there is no slot, or no room for its reports.
  assign needs_raw = frame_q && (!known_q || accept_raw);
  // Or it is a replay of a flow that is gone.
  assign goes_up = known_q ? room && !spent_q : room_plain;
  assign drop    = frame_q ? (needs_raw && !goes_up) || (known_q && closed_q[port]) : !known_q;

  // ---------------------------------------------------------------- what is decided: position, report, close
  rx_packet_t      of;
  rx_close_t       close_d;
  rx_position_t    position_d;
  segment_report_t record;
  frame_report_t   frame_record;
  logic            whole, raw, is_known, is_duplicate, is_refused, counts_raw;
  logic [15:0]     of_flow, done_len;
  logic [3:0]      outcome;           // of a replay

  // A verdict without a walk comes only where no segment was in the walk a cycle ago, an end of a walk only where one was. So which
  // of the two it would be is a register, and whether it is one, known late, stands before none of what it says.
  always_ff @(posedge clk_i) of_walk_q <= walks != '0;

  assign whole         = done.stop == STOP_WHOLE;
  assign outcome       = !of_walk_q ? REPLAY_OUTCOME_REFUSED : whole ? REPLAY_OUTCOME_WHOLE :
                         done.stop == STOP_ERROR ? REPLAY_OUTCOME_ERROR : REPLAY_OUTCOME_PARTIAL;
  assign of            = of_walk_q ? oldest.packet : packet_q;
  assign of_flow       = of_walk_q ? oldest.flow : flow_q;
  assign is_known      = of_walk_q || known_q;
  assign is_duplicate  = !of_walk_q && known_q && accept == ACCEPT_DUPLICATE;
  assign is_refused    = !of_walk_q && known_q && accept == ACCEPT_REFUSE;
  assign raw           = of_walk_q ? (!whole || done.engine) && !oldest.packet.segment.replay : needs_raw && !drop;
  // Segments with payload that the engine has to complete.
  assign direct_counts = known_q && !drop && accept_counts;
  assign direct_raw    = known_q && !drop && accept_raw && frame_q;
  assign counts_raw    = of_walk_q ? !whole : direct_counts;
  assign done_len      = !of_walk_q ? '0 : (whole ? oldest.packet.segment.payload_len : done.len);
  assign raw_take      = raw && (finish || direct);
  assign finish_o      = WALKS'(finish) << head;
  assign busy_head_o   = head;

  // Where a walk's end leaves the flow, and where a verdict without a walk does.
  rx_ended #(.WALKS(WALKS)) i_ended (
    .clk_i, .rst_ni, .finish_i(finish), .head_i(head), .oldest_i(oldest), .done_i(done), .done_end_i(done_end), .taken_i(oldest_taken), .mark_i(oldest_mark),
    .kept_valid_i, .kept_i, .position_o(finish_position), .same_i(same), .ended_o(ended), .ended_position_o(ended_position)
  );
  always_comb begin
    position_d           = position_q;
    position_d.mark      = raw_behind;       // written only if it takes a slot
    position_d.taken     = fresh_q ? 11'd1 : position_q.taken + 11'd1;
    position_d.attached  = position_q.attached && !detach;
  end
  assign upd_valid_o    = finish || (direct && direct_raw);
  assign upd_flow_o     = of_flow;
  // With a verdict without a walk the packet leaves, so only an end of a walk counts for what is here. Compared a cycle ago.
  assign same_upd       = finish && same;
  assign upd_position_o = of_walk_q ? finish_position : position_d;

  always_comb begin
    record           = segment_record(of.segment);
    record.flags[SEGMENT_REPORT_RAW_BIT]       = raw;
    record.flags[SEGMENT_REPORT_ATTACHED_BIT]  = of_walk_q ? whole : position_d.attached;
    record.flags[SEGMENT_REPORT_DUPLICATE_BIT] = is_duplicate;
    record.flow      = of_flow;
    record.arrival   = of.arrival;
    record.epoch     = of_walk_q ? oldest.epoch : row_q.epoch;
    record.status[SEGMENT_REPORT_REFUSAL_LSB +: SEGMENT_REPORT_REFUSAL_WIDTH] = is_refused ? refusal : REFUSAL_NONE;
    record.done_len  = done_len;
    record.raw_slot  = raw ? raw_slot : '0;
    record.raw_len   = raw ? of.frame_len : '0;
    record.phase[SEGMENT_REPORT_PORT_BIT] = of_port;
    if (of.segment.replay) begin
      record.flags  = '0;
      record.status = 8'(outcome);
    end

    frame_record          = '0;
    frame_record.kind     = REPORT_KIND_FRAME;
    frame_record.raw_slot = slot_of[0];
    frame_record.raw_len  = of.frame_len;
    frame_record.arrival  = of.arrival;

    close_d.raw    = raw;
    close_d.report = of_walk_q || !drop;
    close_d.record = is_known ? record : frame_record;
    close_d.start  = of.start;
    close_d.stop   = of.stop;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      close_valid_o <= 1'b0;
      close_free_q  <= 1'b1;
    end else begin
      close_valid_o <= close_valid_o ? !close_ready_i : finish || direct;
      close_free_q  <= close_valid_o ? close_ready_i : !(finish || direct);
    end
  end
  always_ff @(posedge clk_i) if (!close_valid_o) close_o <= close_d;

  // !close_free_q || done_waits: the walk's next operation waits for it, and with it much of the walk. An end that waits still does in
  // the next cycle, or its close does.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_block_o <= 1'b0;
    else op_block_o <= done_valid_i || done_waits || direct || (close_valid_o && !close_ready_i);
  end
  assign idle_o     = !packet_valid_i && phase_q == EMPTY && walks == '0 && !payload_left && !close_valid_o;

  // ---------------------------------------------------------------- counters, trace
  rx_verdict i_verdict (
    .clk_i, .rst_ni, .finish_i(finish), .direct_i(direct), .dropped_i(!of_walk_q && drop), .reserved_i(!known_q && room_any), .spent_i(spent_q && room), .closed_i(closed_q[port]),
    .known_i(is_known), .replay_i(of.segment.replay), .raw_i(raw), .counts_raw_i(counts_raw), .flow_i(of_flow), .tcp_i(of.segment.is_tcp), .seq_i(of.segment.seq),
    .frame_len_i(of.frame_len), .stop_i(done.stop), .engine_i(done.engine), .accept_i(accept), .refusal_i(refusal), .trace_o, .cnt_inc_o
  );

  logic unused;
  assign unused = ^{cfg_i, oldest, of.payload, room_plain_of, replay_i};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  logic        ended_q;
  logic [15:0] ended_flow_q;
  always_ff @(posedge clk_i) begin
    ended_q      <= rst_ni && finish;
    ended_flow_q <= oldest.flow;
    if (rst_ni) begin
      vacant_told: assert (vacant_q == (phase_q == EMPTY) && (ready_q && !popped_q) == (phase_q == READY));
      free_told: assert (close_free_q == !close_valid_o);
      block_told: assert (op_block_o == (!close_free_q || done_waits));
      nothing_in_walk: assert (direct -> walks == '0 && !payload_left);
      chained_as_it_stands: assert (start -> start_chained_o == young_is_same);
      same_as_ever: assert (finish -> same == (oldest.flow == flow_q));
      ended_of_it: assert (ended_q -> same == (ended_flow_q == flow_q));
      ended_as_compared: assert (phase_q == WEIGH -> ended_same_q == ended);
      known_by_then: assert (start || direct -> !ended);
      replay_alone: assert (phase_q != EMPTY && !frame_q -> walks == '0 && !payload_left);
      opens_told: assert (opens == (start && !segment.replay));
      frame_told: assert (start || direct -> frame_q == !segment.replay && !(start && replaying_q));
      one_source: assert (!(finish && direct));
      source_told: assert (!(finish && !of_walk_q) && !(direct && of_walk_q));
    end
  end
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
