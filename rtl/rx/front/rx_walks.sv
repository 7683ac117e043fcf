// The commit queue: the segments in the walk, oldest first, what waits its turn between them, and the ends of those that are not closed yet.
//
// Handshake: No ready/valid pair but pulses. `start_i` and `wait_i` need `room_o`; `done_i` comes in the order of the starts and always fits.
//            `done_valid_o` offers the oldest end until `finish_i` takes it. A whole segment's end is offered a cycle behind `done_valid_i`, another one
//            two cycles behind.
// Pipeline:  stage     | registers                   | what happens                        | hazards, bypasses
//            start     | entry_q, flow_q, mark_q, .. | the segment enters at the tail      | written while there is room; `start_i` only makes it
//                      |                             |                                     | valid
//            start + 1 | young_*                     | it becomes the youngest             | used two cycles behind the start at the earliest
//            judged    | chained_q, place_q, far_*   | the flow's youngest, if it is an    | a cycle old; `again_o` until far_* are of the flow
//                      |                             | older one                           |
//            oldest    | oldest_*_q                  | the entry at the head is copied out | not valid in the cycle behind a finish
//            done      | done_q, u_dones             | ends wait here for their close      | the first bypasses the FIFO into done_q; none with
//                      |                             |                                     | `waits`, the oldest is not walked
//            finish    | left_mark                   | the head advances                   | a chained successor takes its mark from left_mark
// Why:       What is not walked takes a slot alone: it is never the youngest, and neither position nor mark changes with it. Its end is offered as soon
//            as it is the oldest.
//            A segment behind others of its flow is *chained* to the youngest of them, which may be anywhere in the queue. The mark passes from it to
//            the chained one. Otherwise the mark is that of the start, as nobody else changes the mark of a flow in the walk.
//            Whether it is chained is known a cycle late. The one before may have ended whole in that cycle: what it left is kept by its place, which
//            is not given away so soon.

`include "weft_assert.svh"

module rx_walks
  import rx_front_pkg::*;
  import walk_pkg::STOP_WHOLE;
  import walk_pkg::PLACE_W;
  import walk_pkg::walk_done_t;
#(
  parameter  int unsigned WALKS   = 8,                  // a power of two
  localparam int unsigned COUNT_W = $clog2(WALKS + 1),
  localparam int unsigned INDEX_W = $clog2(WALKS)
) (
  input logic clk_i,
  input logic rst_ni,

  // The segment to be started; what is known of its flow if none of the flow is in the walk.
  input  logic     [       15:0] flow_i,
  input  logic     [       15:0] flow_next_i,  // flow_i of the next cycle
  input  logic                   start_i,
  input  logic                   wait_i,       // a segment that is not walked takes a slot; never with start_i
  input  logic                   slot_i,       // start_i || wait_i
  input  logic                   open_i,       // a start whose payload is a frame's
  input  walking_t               entry_i,      // of flow_i
  input  logic     [       10:0] taken_i,      // of the flow's share; nobody else changes it
  input  logic     [       15:0] mark_i,       // the flow's mark in this cycle
  output logic                   room_o,
  input  logic                   stands_i,     // flow_i is the same in the next cycle
  input  logic     [  WALKS-1:0] kept_i,       // an ATTACH is kept for these
  output logic                   kept_o,       // an ATTACH is kept for them, a cycle late
  output logic                   again_o,      // what the flow's youngest leaves is there in the next cycle only
  output young_t                 young_o,      // valid: it is there
  output logic                   chained_o,    // some of flow_i's flow were in the walk a cycle ago
  output logic                   in_walk_o,    // some are
  output logic     [INDEX_W-1:0] place_o,      // of the flow's youngest, a cycle ago
  output logic     [INDEX_W-1:0] tail_o,       // the place that a start takes

  input  logic payload_end_i,
  output logic payload_open_o,  // some segment's payload has not all passed; with open_i at once
  output logic payload_left_o,  // the same without the one that starts

  input  logic                     done_valid_i,
  input  walk_done_t               done_i,
  output logic                     done_valid_o,
  output logic                     done_waits_o,   // an end is pending, perhaps not offered yet
  output logic                     done_waited_o,  // the same, what is not walked a cycle later (assertions)
  output oldest_t                  oldest_o,
  output logic       [       15:0] oldest_mark_o,  // where it leaves its flow's mark: at its slot if it did not end whole
  output logic       [       15:0] oldest_flow_o,  // its flow, a cycle ahead
  input  logic       [       15:0] behind_i,       // the number behind the raw slot that the end would take
  output logic       [INDEX_W-1:0] head_o,
  input  logic                     finish_i,

  output walk_place_t [  WALKS-1:0] places_o,
  output logic        [COUNT_W-1:0] count_o,   // slots in use
  output logic        [COUNT_W-1:0] walking_o  // of these, segments in the walk
);

  walking_t entry_q        [WALKS];
  walking_t oldest_q;
  logic     oldest_valid_q;
  logic [WALKS-1:0] valid_q, walked_q, walking, same_q, mine, behind_some_q, last_q;
  logic ended, waits;  // ended: finish_i, of a segment in the walk; waits: the oldest was never walked
  logic [WALKS-1:0][       15:0] flow_q;
  logic [WALKS-1:0][       10:0] taken_q;
  logic [     10:0]              oldest_taken_q;
  logic [WALKS-1:0][       15:0] mark_q;
  logic [WALKS-1:0][INDEX_W-1:0] behind_q;
  logic [     15:0]              left_mark      [WALKS];  // by place, of the segments that ended
  logic [15:0] head_mark, oldest_mark_q;
  logic [INDEX_W-1:0] head_q, tail_q, young_q, place, place_q, oldest_behind_q;
  logic [COUNT_W-1:0] count_q, walking_q, payloads_q;
  logic some_payload_q, more_payloads_q;  // payloads_q != 0, > 1: kept beside it, as start_i and payload_end_i are late
  logic some_q, more_q;  // of walking_q, likewise
  logic [15:0] young_flow_q;
  logic [31:0] young_end_q, young_ts_recent_q, stopped_at_q;
  logic
      young_same_q,
      young_gap_q,
      young_ts_valid_q,
      near,
      chained_q,
      far_q,
      far_gap_q,
      far_ts_valid_q,
      in_walk;  // near: the flow's youngest is the youngest of all
  logic [31:0] far_end_q, far_ts_recent_q;

  assign walking           = valid_q & walked_q;
  assign mine              = walking & same_q;
  assign in_walk           = mine != '0;
  assign near              = some_q && young_same_q;
  assign again_o           = in_walk && !near && !far_q;
  assign young_o.valid     = near || far_q;
  assign young_o.gap       = far_q ? far_gap_q : young_gap_q;
  assign young_o.seq_end   = far_q ? far_end_q : young_end_q;
  assign young_o.ts_valid  = far_q ? far_ts_valid_q : young_ts_valid_q;
  assign young_o.ts_recent = far_q ? far_ts_recent_q : young_ts_recent_q;
  assign chained_o         = chained_q;
  assign in_walk_o         = in_walk;
  assign place_o           = place_q;
  assign tail_o            = tail_q;
  assign waits             = valid_q[head_q] && !walked_q[head_q];
  assign ended             = finish_i && oldest_q.walked;

  // A start's flow has been on `flow_i` for some cycles, and afterwards `flow_i` changes. The youngest's fields are written a cycle late, as
  // `start_i` is late.
  logic started_q, gap_q, ts_valid_q;
  logic [31:0] ts_recent_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) started_q <= 1'b0;
    else started_q <= start_i;
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < WALKS; i++) same_q[i] <= flow_q[i] == flow_next_i;
    young_same_q <= (started_q ? flow_i : young_flow_q) == flow_next_i;
    gap_q        <= entry_i.gap;
    ts_valid_q   <= entry_i.ts_valid;
    ts_recent_q  <= entry_i.ts_recent;
    if (started_q) begin
      young_flow_q      <= flow_i;
      young_gap_q       <= gap_q;
      young_end_q       <= entry_i.seq_end;
      young_ts_valid_q  <= ts_valid_q;
      young_ts_recent_q <= ts_recent_q;
    end
  end

  // The flow's youngest, by its place. far_* are of the flow from the second cycle of flow_i on.
  always_comb begin
    place = '0;
    for (int unsigned i = 0; i < WALKS; i++) if (mine[i] && last_q[i]) place |= INDEX_W'(i);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) far_q <= 1'b0;
    else far_q <= stands_i && in_walk && !near;
  end
  always_ff @(posedge clk_i) begin
    chained_q       <= in_walk;
    place_q         <= place;
    kept_o          <= (kept_i & mine) != '0;
    far_gap_q       <= entry_q[place].gap;
    far_end_q       <= entry_q[place].seq_end;
    far_ts_valid_q  <= entry_q[place].ts_valid;
    far_ts_recent_q <= entry_q[place].ts_recent;
  end

  // A cycle late: a slot taken is counted long before the next one.
  logic room, room_q;
  assign room   = count_q < COUNT_W'(WALKS);
  assign room_o = room_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= 1'b0;
    else room_q <= room;
  end
  assign payload_left_o = some_payload_q;
  assign payload_open_o = payload_left_o || open_i;
  assign head_o         = head_q;
  assign oldest_flow_o  = oldest_valid_q ? oldest_q.flow : entry_q[head_q].flow;
  always_comb for (int unsigned i = 0; i < WALKS; i++) places_o[i] = '{valid: walking[i], last: last_q[i], flow : flow_q[i]};
  assign count_o   = count_q;
  assign walking_o = walking_q;

  assign head_mark = behind_some_q[head_q] ? left_mark[behind_q[head_q]] : mark_q[head_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) oldest_valid_q <= 1'b0;
    else oldest_valid_q <= valid_q[head_q] && !finish_i;
  end
  always_ff @(posedge clk_i) begin
    if (!oldest_valid_q) begin
      oldest_q        <= entry_q[head_q];
      oldest_mark_q   <= head_mark;
      oldest_taken_q  <= taken_q[head_q];
      oldest_behind_q <= behind_q[head_q];
    end
    // The cycle of the end counts; a chained segment becomes the oldest later.
    left_mark[head_q] <= oldest_mark_o;
  end

  // The ends of segments that are not closed yet; the first in a register.
  logic done_valid_q, done_aged_q, done_ready_q, done_free, fifo_valid, fifo_ready, whole, waits_q;
  walk_done_t done_q, fifo_done;
  logic [$clog2(WALKS+1)-1:0] unused_count;

  assign done_free = !done_valid_q || ended;
  // Of the end that done_q holds in the next cycle.
  assign whole     = (done_valid_q ? done_q.stop : (fifo_valid ? fifo_done.stop : done_i.stop)) == STOP_WHOLE;

  fifo_sync #(
    .WIDTH($bits(walk_done_t)),
    .DEPTH(WALKS)
  ) u_dones (
    .clk_i,
    .rst_ni,
    .wr_valid_i(done_valid_i && (fifo_valid || done_valid_q)),
    .wr_ready_o(fifo_ready),
    .wr_data_i (done_i),
    .rd_valid_o(fifo_valid),
    .rd_ready_i(done_free),
    .rd_data_o (fifo_done),
    .count_o   (unused_count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_valid_q <= 1'b0;
      done_aged_q  <= 1'b0;
      waits_q      <= 1'b0;
      done_ready_q <= 1'b0;
    end else begin
      if (done_free) done_valid_q <= fifo_valid || (done_valid_i && !done_valid_q);
      done_aged_q <= done_valid_q && oldest_valid_q && !finish_i;
      waits_q <= waits;
      // In the cycle behind an end oldest_q does not hold the next segment yet.
      done_ready_q <= !finish_i && valid_q[head_q] &&
                      (waits || ((done_valid_q || fifo_valid || done_valid_i) && (whole || (done_valid_q && oldest_valid_q))));
    end
  end
  always_ff @(posedge clk_i) begin
    if (done_free) done_q <= fifo_valid ? fifo_done : done_i;
    stopped_at_q <= oldest_q.packet.segment.seq + 32'(done_q.len);
  end

  assign oldest_o.done     = done_q;
  assign oldest_o.done_end = done_q.stop == STOP_WHOLE || oldest_q.beyond ? oldest_q.seq_end : stopped_at_q;
  assign oldest_o.segment  = oldest_q;
  assign oldest_o.behind   = PLACE_W'(oldest_behind_q);
  assign oldest_mark_o     = done_q.stop == STOP_WHOLE || oldest_q.packet.segment.replay || !oldest_q.walked ? oldest_mark_q : behind_i;
  // A segment that did not end whole starts the account again: its flow was attached, so the host has handled all slots taken before.
  assign oldest_o.taken    = done_q.stop == STOP_WHOLE || oldest_q.packet.segment.replay ? oldest_taken_q : 11'd1;
  assign done_waits_o      = done_valid_q || fifo_valid || waits;
  assign done_waited_o     = done_valid_q || fifo_valid || waits_q;
  assign done_valid_o      = done_ready_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q                                           <= '0;
      head_q                                            <= '0;
      tail_q                                            <= '0;
      young_q                                           <= '1;
      count_q                                           <= '0;
      walking_q                                         <= '0;
      payloads_q                                        <= '0;
      {some_payload_q, more_payloads_q, some_q, more_q} <= '0;
    end else begin
      if (finish_i) begin
        valid_q[head_q] <= 1'b0;
        head_q          <= head_q + 1'b1;
      end
      if (slot_i) begin
        valid_q[tail_q] <= 1'b1;
        tail_q          <= tail_q + 1'b1;
      end
      if (start_i) young_q <= tail_q;
      count_q   <= count_q + COUNT_W'(slot_i) - COUNT_W'(finish_i);
      walking_q <= walking_q + COUNT_W'(start_i) - COUNT_W'(ended);
      if (start_i != ended) begin
        some_q <= start_i || more_q;
        more_q <= start_i ? some_q : walking_q > COUNT_W'(2);
      end
      if (start_i != payload_end_i) begin
        payloads_q      <= start_i ? payloads_q + 1'b1 : payloads_q - 1'b1;
        some_payload_q  <= start_i || more_payloads_q;
        more_payloads_q <= start_i ? some_payload_q : payloads_q > COUNT_W'(2);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      last_q[tail_q] <= 1'b1;
      if (chained_q) last_q[place_q] <= 1'b0;
    end
    // `slot_i`, which is late, makes the entry valid.
    if (room) begin
      entry_q[tail_q]       <= entry_i;
      walked_q[tail_q]      <= entry_i.walked;
      flow_q[tail_q]        <= flow_i;
      taken_q[tail_q]       <= taken_i;
      mark_q[tail_q]        <= mark_i;
      behind_some_q[tail_q] <= chained_q && entry_i.walked;
      behind_q[tail_q]      <= entry_i.walked ? place_q : place;
    end
  end

  logic unused;
  assign unused = ^{unused_count, fifo_ready};

`ifndef SYNTHESIS
  if ((1 << INDEX_W) != WALKS || WALKS < 2) begin : gen_param_check
    $error("rx_walks: WALKS must be a power of two from 2 up");
  end
  logic same_as_told;
  always_comb begin
    same_as_told = 1'b1;
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (walking[i] && (flow_q[i] == flow_i) != same_q[i]) same_as_told = 1'b0;
    end
  end
  // The marks by another way: an end changes those of all its flow's segments.
  logic [WALKS-1:0][15:0] marks_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (ended && flow_q[i] == oldest_q.flow) marks_q[i] <= oldest_mark_o;
    end
    if (start_i) marks_q[tail_q] <= ended && flow_i == oldest_q.flow ? oldest_mark_o : mark_i;
  end
  logic [31:0] started_end_q;
  logic [15:0] left_flow_q;
  logic        ended_before_q;
  always_ff @(posedge clk_i) begin
    started_end_q  <= entry_i.seq_end;
    ended_before_q <= ended;
    left_flow_q    <= oldest_q.flow;
  end
  `WEFT_ASSERT(young_is_last, count_q == '0 || count_q != walking_q || young_q == tail_q - 1'b1)
  `WEFT_ASSERT(marks_on, ended -> oldest_mark_q == marks_q[head_q])
  `WEFT_ASSERT(one_mark, start_i && in_walk -> mark_i == marks_q[place])
  `WEFT_ASSERT(ready_told, done_ready_q == (oldest_valid_q && (!oldest_q.walked || (done_valid_q && (done_q.stop == STOP_WHOLE || done_aged_q)))))
  `WEFT_ASSERT(no_more_than_fit, 32'(count_q) <= WALKS)
  `WEFT_ASSERT(count_told, some_q == (walking_q != '0) && more_q == (walking_q > COUNT_W'(1)))
  `WEFT_ASSERT(walking_told, 32'(walking_q) == $countones(walking) && 32'(count_q) == $countones(valid_q))
  `WEFT_ASSERT(one_at_a_time, !(start_i && wait_i))
  `WEFT_ASSERT(as_it_says, (start_i -> entry_i.walked) && (wait_i -> !entry_i.walked && room) && slot_i == (start_i || wait_i))
  `WEFT_ASSERT(payloads_told, some_payload_q == (payloads_q != '0) && more_payloads_q == (payloads_q > COUNT_W'(1)))
  `WEFT_ASSERT(dones_fit, done_valid_i -> fifo_ready && walking_q != '0)
  `WEFT_ASSERT(oldest_is_oldest, finish_i -> valid_q[head_q] && oldest_q.flow == flow_q[head_q])
  `WEFT_ASSERT(flow_stood, slot_i -> (walking_q == '0 || young_same_q == (flow_q[young_q] == flow_i)) && same_as_told)
  `WEFT_ASSERT(chained_stood, start_i -> chained_q == in_walk || (chained_q && ended_before_q && left_flow_q == flow_i))
  `WEFT_ASSERT(one_youngest, slot_i && in_walk -> $onehot(mine & last_q) && (wait_i || place == place_q))
  `WEFT_ASSERT(young_told, walking_q != '0 && !started_q -> young_flow_q == flow_q[young_q])
  `WEFT_ASSERT(stands_behind, started_q -> flow_i == flow_q[young_q] && entry_i.seq_end == started_end_q && !start_i)
  `WEFT_ASSERT(starts_fit, start_i -> room)
`endif

endmodule
