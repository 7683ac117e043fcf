// Decides what becomes of each frame (docs/card.md "Receiving"), in the order of arrival.
//
// The packet at the head of the store is looked up (flow, row, position) while earlier ones are walked, and its
// payload is already read. A segment to be walked is started as soon as the walk takes it: a further one of the
// same flow that continues the youngest in the walk is *chained* (the walk throws it away if the one before does
// not end whole; it then goes up raw). All other verdicts wait until the walk is empty, so that reports and
// positions keep the order. At the end of each packet stands one close: raw copy, report, store space.
// Before a segment is walked a raw slot is set aside for it, because its last FPDU may turn out partial; a frame
// that finds no free slot is dropped before it has changed anything.

module rx_dispatch
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned WALKS = 4          // segments in the walk, a power of two
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  rx_cfg_t                       cfg_i,

  input  logic                          packet_valid_i,
  output logic                          packet_ready_o,
  input  rx_packet_t                    packet_i,

  output logic                          payload_cmd_valid_o,
  input  logic                          payload_cmd_ready_i,
  output logic                          payload_flush_o,
  output logic                          payload_open_o,     // payload may pass on to the walk
  input  logic                          payload_end_i,      // last beat of a packet has passed on

  input  logic                          lookup_busy_i,
  output logic                          lookup_valid_o,
  input  logic                          lookup_rsp_i,
  input  logic                          lookup_hit_i,
  input  logic [15:0]                   lookup_flow_i,
  input  logic                          lookup_changed_i,

  input  logic                          state_busy_i,
  output logic                          fetch_valid_o,
  output logic [15:0]                   fetch_flow_o,
  input  flow_rx_row_t                  fetch_row_i,
  input  rx_position_t                  fetch_position_i,
  output logic                          upd_valid_o,
  output logic [15:0]                   upd_flow_o,
  output rx_position_t                  upd_position_o,
  output logic [WALKS-1:0]              busy_valid_o,
  output logic [WALKS-1:0][15:0]        busy_flow_o,
  output logic                          stuck_o,
  input  logic                          hold_i,
  input  logic                          state_changed_i,

  output logic                          start_valid_o,
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
  localparam logic [7:0] FLAG_SYN = 8'h02;
  localparam logic [7:0] FLAG_RST = 8'h04;
  localparam logic [7:0] FLAG_URG = 8'h20;

  typedef enum logic [2:0] {LOOK, LOOKING, FETCH, LATCH, READY} phase_e;

  typedef struct packed {
    logic [15:0]  len;
    stop_e        stop;
    logic         engine;
    logic [31:0]  msn;
    logic [31:0]  mo;
  } done_t;

  // ---------------------------------------------------------------- the next packet: flow, row, position
  phase_e       phase_q, phase_d;
  rx_segment_t  segment;
  logic         known_q, pop, has_payload, payload_asked_q, same_upd;
  logic [15:0]  flow_q;
  flow_rx_row_t row_q;
  rx_position_t position_q;

  assign segment        = packet_i.segment;
  assign has_payload    = segment.payload_len != '0;
  assign lookup_valid_o = packet_valid_i && phase_q == LOOK && segment.is_tcp && !lookup_busy_i && !state_busy_i;
  assign fetch_valid_o  = phase_q == FETCH;
  assign fetch_flow_o   = flow_q;
  assign same_upd       = upd_valid_o && upd_flow_o == flow_q;

  assign payload_cmd_valid_o = packet_valid_i && segment.is_tcp && has_payload && !payload_asked_q && !pop;

  always_comb begin
    phase_d = phase_q;
    unique case (phase_q)
      LOOK:    if (packet_valid_i && !segment.is_tcp) phase_d = READY;
               else if (lookup_valid_o) phase_d = LOOKING;
      LOOKING: if (lookup_rsp_i) phase_d = lookup_hit_i ? FETCH : READY;
      FETCH:   if (!same_upd) phase_d = LATCH;
      LATCH:   phase_d = READY;
      READY:   ;
      default: phase_d = LOOK;
    endcase
    if (phase_q != LOOK && (lookup_changed_i || state_changed_i)) phase_d = LOOK;
    if (pop) phase_d = LOOK;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q         <= LOOK;
      known_q         <= 1'b0;
      payload_asked_q <= 1'b0;
    end else begin
      phase_q <= phase_d;
      if (phase_q == LOOK) known_q <= 1'b0;
      else if (phase_q == LOOKING && lookup_rsp_i) known_q <= lookup_hit_i;
      if (pop) payload_asked_q <= 1'b0;
      else if (payload_cmd_valid_o && payload_cmd_ready_i) payload_asked_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (phase_q == LOOKING && lookup_rsp_i) flow_q <= lookup_flow_i;
    if (phase_q == LATCH) begin
      row_q      <= fetch_row_i;
      position_q <= fetch_position_i;
    end
    if (same_upd) position_q <= upd_position_o;
  end

  // ---------------------------------------------------------------- segments in the walk, oldest first
  logic [WALKS-1:0]              walk_valid_q;
  logic [WALKS-1:0][15:0]        walk_flow_q;
  logic [WALKS-1:0][7:0]         walk_raw_count_q;
  logic [WALK_W-1:0]             head_q, tail_q, young;
  logic [WALK_W:0]               walks_q, payloads_q;
  rx_packet_t                    walk_packet [WALKS];
  rx_packet_t                    oldest;
  logic [31:0]                   young_end_q;
  logic                          start, finish, flow_in_walk, young_is_same;

  assign young         = tail_q - 1'b1;
  assign oldest        = walk_packet[head_q];
  assign young_is_same = walks_q != '0 && walk_flow_q[young] == flow_q;
  always_comb begin
    flow_in_walk = 1'b0;
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (walk_valid_q[i] && walk_flow_q[i] == flow_q) flow_in_walk = 1'b1;
    end
  end

  // Ends that wait until the close before them has left.
  done_t done_in, done, done_head;
  logic  done_valid, done_waits, done_room;
  assign done_in = '{len: done_len_i, stop: done_stop_i, engine: done_engine_i, msn: done_msn_i, mo: done_mo_i};
  logic [$clog2(WALKS+1)-1:0] unused_count;
  fifo_sync #(.WIDTH($bits(done_t)), .DEPTH(WALKS)) i_dones (
    .clk_i, .rst_ni, .wr_valid_i(done_valid_i && (done_waits || !finish)), .wr_ready_o(done_room), .wr_data_i(done_in),
    .rd_valid_o(done_waits), .rd_ready_i(finish), .rd_data_o(done_head), .count_o(unused_count)
  );
  assign done       = done_waits ? done_head : done_in;
  assign done_valid = done_waits || done_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_valid_q <= '0;
      head_q       <= '0;
      tail_q       <= '0;
      walks_q      <= '0;
      payloads_q   <= '0;
    end else begin
      if (start) begin
        walk_valid_q[tail_q] <= 1'b1;
        tail_q               <= tail_q + 1'b1;
      end
      if (finish) begin
        walk_valid_q[head_q] <= 1'b0;
        head_q               <= head_q + 1'b1;
      end
      walks_q    <= walks_q + (WALK_W+1)'(start) - (WALK_W+1)'(finish);
      payloads_q <= payloads_q + (WALK_W+1)'(start) - (WALK_W+1)'(payload_end_i);
    end
  end

  always_ff @(posedge clk_i) begin
    // A later segment of the flow counts on from where this one ends.
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (finish && walk_flow_q[i] == upd_flow_o) walk_raw_count_q[i] <= upd_position_o.raw_count;
    end
    if (start) begin
      walk_packet[tail_q]      <= packet_i;
      walk_flow_q[tail_q]      <= flow_q;
      walk_raw_count_q[tail_q] <= same_upd ? upd_position_o.raw_count :
                                  young_is_same ? walk_raw_count_q[young] : position_q.raw_count;
      young_end_q              <= segment.seq + 32'(segment.payload_len);
    end
  end

  assign busy_valid_o   = walk_valid_q;
  assign busy_flow_o    = walk_flow_q;
  assign payload_open_o = payloads_q != '0;

  // ---------------------------------------------------------------- the decision
  logic [31:0] raw_tail_q, raw_used, raw_slots, behind;
  logic        odd_flags, in_sequence, duplicate, can_walk, raw_free, raw_free_walk, decide, direct, raw_take;
  logic        close_room, stuck_q;
  logic        needs_raw, to_walk, detach, drop;

  assign raw_slots     = 32'd1 << cfg_i.raw_count_log2[4:0];
  assign raw_used      = raw_tail_q - cfg_i.raw_head;
  assign raw_free      = raw_used < raw_slots;
  assign raw_free_walk = raw_used + 32'(walks_q) < raw_slots;
  assign odd_flags     = (segment.tcp_flags & (FLAG_SYN | FLAG_RST | FLAG_URG)) != '0;
  assign in_sequence   = segment.seq == position_q.rcv_nxt && !odd_flags;
  assign behind        = position_q.rcv_nxt - segment.seq - 32'(segment.payload_len);
  assign duplicate     = !behind[31];
  assign close_room    = !close_valid_o || close_ready_i;

  // Row not valid or detached; duplicate; in sequence: in this order.
  assign can_walk = known_q && has_payload && row_q.flags[2] && position_q.attached && !duplicate && in_sequence;

  always_comb begin
    start_chained_o = flow_in_walk;
    to_walk         = 1'b0;
    if (flow_in_walk) to_walk = young_is_same && has_payload && row_q.flags[2] && !odd_flags && segment.seq == young_end_q;
    else to_walk = can_walk;
  end

  assign decide        = packet_valid_i && phase_q == READY && (stuck_q || !hold_i) && !lookup_changed_i && !state_changed_i;
  assign start_valid_o = decide && known_q && to_walk && raw_free_walk && walks_q < (WALK_W+1)'(WALKS) && payload_asked_q;
  assign start         = start_valid_o && start_ready_i;
  assign direct        = decide && !start_valid_o && walks_q == '0 && payloads_q == '0 && close_room &&
                         !(can_walk && raw_free) && (!has_payload || !segment.is_tcp || payload_asked_q);
  assign pop            = start || direct;
  assign packet_ready_o = pop;
  assign stuck_o        = stuck_q;

  assign start_flow_o = flow_q;
  assign start_seq_o  = segment.seq;
  assign start_len_o  = segment.payload_len;
  assign start_row_o  = row_q;
  assign start_msn_o  = position_q.msn;
  assign start_mo_o   = position_q.mo;

  assign payload_flush_o = direct;

  // What a packet that is not walked needs.
  logic attached_payload;
  assign attached_payload = known_q && has_payload && row_q.flags[2] && position_q.attached;
  always_comb begin
    needs_raw = 1'b1;
    detach    = 1'b0;
    if (known_q && !has_payload) needs_raw = (segment.tcp_flags & (FLAG_SYN | FLAG_RST)) != '0;
    else if (attached_payload && duplicate) needs_raw = 1'b0;
    else if (attached_payload) detach = 1'b1;
    drop = (needs_raw || can_walk) && !raw_free;
  end

  assign finish = done_valid && walks_q != '0 && close_room;

  // ---------------------------------------------------------------- what is decided: position, report, close
  rx_packet_t      of;
  rx_close_t       close_d;
  rx_position_t    position_d;
  segment_report_t record;
  frame_report_t   frame_record;
  logic            whole, raw, is_known, is_duplicate, counts_raw;
  logic [15:0]     of_flow, raw_slot, done_len;
  logic [7:0]      of_raw_count, raw_count;

  assign whole        = done.stop == STOP_WHOLE;
  assign of           = finish ? oldest : packet_i;
  assign of_flow      = finish ? walk_flow_q[head_q] : flow_q;
  assign of_raw_count = finish ? walk_raw_count_q[head_q] : position_q.raw_count;
  assign is_known     = finish || known_q;
  assign is_duplicate = !finish && attached_payload && duplicate;
  assign raw          = finish ? !whole || done.engine : needs_raw && !drop;
  // Segments with payload that the engine has to complete.
  assign counts_raw   = raw && (finish ? !whole : known_q && has_payload);
  assign raw_count    = of_raw_count + 8'(counts_raw);
  assign done_len     = !finish ? '0 : (whole ? oldest.segment.payload_len : done.len);
  assign raw_slot     = raw_tail_q[15:0] & (raw_slots[15:0] - 16'd1);
  assign raw_take     = raw && (finish || direct);

  always_comb begin
    position_d           = position_q;
    position_d.raw_count = raw_count;
    if (finish) begin
      position_d.attached = whole;
      position_d.rcv_nxt  = oldest.segment.seq + 32'(done_len);
      position_d.msn      = done.msn;
      position_d.mo       = done.mo;
    end else if (detach) begin
      position_d.attached = 1'b0;
    end
  end
  assign upd_valid_o    = finish || (direct && !drop && known_q && (detach || counts_raw));
  assign upd_flow_o     = of_flow;
  assign upd_position_o = position_d;

  always_comb begin
    record           = segment_record(of.segment);
    record.flags[0]  = raw;
    record.flags[2]  = position_d.attached;
    record.flags[3]  = is_duplicate;
    record.flow      = of_flow;
    record.raw_count = raw_count;
    record.done_len  = done_len;
    record.raw_slot  = raw ? raw_slot : '0;
    record.raw_len   = raw ? of.frame_len : '0;

    frame_record          = '0;
    frame_record.kind     = 8'd3;
    frame_record.raw_slot = raw_slot;
    frame_record.raw_len  = of.frame_len;

    close_d.raw    = raw;
    close_d.report = finish || !drop;
    close_d.record = is_known ? record : frame_record;
    close_d.start  = of.start;
    close_d.stop   = of.stop;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      close_valid_o <= 1'b0;
      raw_tail_q    <= '0;
      stuck_q       <= 1'b0;
    end else begin
      if (close_room) close_valid_o <= finish || direct;
      if (cfg_i.raw_reset) raw_tail_q <= '0;
      else if (raw_take) raw_tail_q <= raw_tail_q + 32'd1;
      stuck_q <= start_valid_o && !start_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (finish || direct) close_o <= close_d;
  end

  assign op_block_o = close_valid_o || done_waits;
  assign idle_o     = !packet_valid_i && walks_q == '0 && payloads_q == '0 && !close_valid_o;

  // ---------------------------------------------------------------- counters
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_inc_o <= '0;
    end else begin
      cnt_inc_o <= '0;
      cnt_inc_o[CNT_RX_DROP_NO_RAW_SLOT]   <= 16'(direct && drop);
      cnt_inc_o[CNT_RX_RAW_FRAMES]         <= 16'(direct && !drop && !known_q);
      cnt_inc_o[CNT_RX_SEGMENTS]           <= 16'(finish || (direct && !drop && known_q));
      cnt_inc_o[CNT_RX_SEGMENTS_PLACED]    <= 16'(finish && whole);
      cnt_inc_o[CNT_RX_SEGMENTS_BYPASSED]  <= 16'((finish && raw) || (direct && counts_raw));
      cnt_inc_o[CNT_RX_SEGMENTS_DUPLICATE] <= 16'(direct && is_duplicate);
      // A segment thrown away behind one that did not end whole left with that one.
      cnt_inc_o[CNT_RX_DETACH_GAP]         <= 16'(direct && !drop && detach);
      cnt_inc_o[CNT_RX_DETACH_PARTIAL]     <= 16'(finish && done.stop == STOP_PARTIAL);
      cnt_inc_o[CNT_RX_DETACH_ERROR]       <= 16'(finish && done.stop == STOP_ERROR);
    end
  end

  rx_verdict i_verdict (
    .clk_i, .rst_ni, .valid_i(finish || direct), .walked_i(finish), .dropped_i(!finish && drop), .known_i(is_known),
    .flow_i(of_flow), .tcp_i(of.segment.is_tcp), .seq_i(of.segment.seq), .frame_len_i(of.frame_len), .stop_i(done.stop),
    .engine_i(done.engine), .payload_i(has_payload), .duplicate_i(is_duplicate), .detach_i(detach), .trace_o
  );
  logic unused;
  assign unused = ^{cfg_i, done_room, unused_count, segment, behind};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  if ((1 << WALK_W) != WALKS || WALKS < 2) begin : gen_param_check
    $error("rx_dispatch: WALKS must be a power of two from 2 up");
  end
  dones_fit: assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_i |-> done_room && walks_q != '0);
  raw_slots_fit: assert property (@(posedge clk_i) disable iff (!rst_ni) raw_take |-> raw_free || cfg_i.raw_reset);
  one_source: assert property (@(posedge clk_i) disable iff (!rst_ni) !(finish && direct));
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
