// Proves of rx_walks, the commit queue: what entered ends in that order, each once, and as what it entered: a segment in the walk with its own end, another
// one without any. What may end is offered within WITHIN cycles. From the second cycle of a flow on it is told where its walks leave
// it, in the next cycle at the latest.
//
// Assumed: two flows, whose marks stay; a flow stands for two cycles before it takes a slot; slots are taken two cycles apart at least, while there is
// room; ends of walks come in the order of the starts.

module rx_walks_formal
  import rx_front_pkg::*;
  import walk_pkg::stop_e;
  import walk_pkg::walk_done_t;
#(
  parameter  int unsigned WALKS   = 2,
  localparam int unsigned INDEX_W = $clog2(WALKS),
  localparam int unsigned COUNT_W = $clog2(WALKS + 1)
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input logic       wait_i,
  input logic       done_valid_i,
  input logic [1:0] done_stop_i,
  input logic       finish_i,
  input logic       flow_next_i,
  input logic [7:0] watched_i
);
  localparam int unsigned WITHIN = 5;

  logic [7:0] entered_q, closed_q, started_q, told_q, ended_q;
  logic room, chained, in_walk, kept, again, open, left, done_valid, done_waits, done_waited, recent_q, slot, watched_walked_q;
  logic [7:0] watched_q;
  logic [INDEX_W-1:0] behind, tail, head;
  logic [1:0][        7:0] end_q;  // where each flow's youngest segment leaves it
  logic                    stood_more_q;  // for two cycles
  logic [1:0][INDEX_W-1:0] youngest_q;  // place of each flow's youngest segment
  logic [1:0][7:0] walks_q, before_q;  // segments of each flow in the walk, and a cycle ago
  logic flow_q, stood_q, ended_of;
  young_t                  young;
  oldest_t                 oldest_slot;
  walk_place_t [WALKS-1:0] places;
  logic [15:0] oldest_flow, oldest_mark;
  logic [COUNT_W-1:0] count, walking;
  logic [2:0] silent_q;
  walking_t entry, oldest;
  walk_done_t done;

  assign oldest = oldest_slot.segment;
  assign slot   = start_i || wait_i;
  always_comb begin
    entry              = '0;
    entry.packet.start = 16'(entered_q);
    entry.flow         = 16'(flow_q);
    entry.seq_end      = 32'(recent_q ? entered_q - 8'd1 : entered_q);
    entry.walked       = !wait_i;
    done               = '0;
    done.len           = 16'(told_q);
    done.stop          = stop_e'(done_stop_i);
  end

  rx_walks #(
    .WALKS(WALKS)
  ) dut (
    .clk_i,
    .rst_ni,
    .flow_i        (16'(flow_q)),
    .flow_next_i   (16'(flow_next_i)),
    .start_i,
    .wait_i,
    .slot_i        (slot),
    .open_i        (start_i),
    .entry_i       (entry),
    .taken_i       ('0),
    .mark_i        ('0),
    .room_o        (room),
    .stands_i      (flow_next_i == flow_q),
    .kept_i        ('0),
    .kept_o        (kept),
    .again_o       (again),
    .young_o       (young),
    .chained_o     (chained),
    .in_walk_o     (in_walk),
    .place_o       (behind),
    .tail_o        (tail),
    .payload_end_i (left),
    .payload_open_o(open),
    .payload_left_o(left),
    .done_valid_i,
    .done_i        (done),
    .done_valid_o  (done_valid),
    .done_waits_o  (done_waits),
    .done_waited_o (done_waited),
    .oldest_o      (oldest_slot),
    .oldest_mark_o (oldest_mark),
    .oldest_flow_o (oldest_flow),
    .behind_i      ('0),
    .head_o        (head),
    .finish_i,
    .places_o      (places),
    .count_o       (count),
    .walking_o     (walking)
  );

  from_reset u_reset (
    .clk_i,
    .rst_ni
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {entered_q, closed_q, started_q, told_q, ended_q} <= '0;
      recent_q                                          <= 1'b0;
      silent_q                                          <= '0;
      watched_walked_q                                  <= 1'b0;
      {walks_q, before_q}                               <= '0;
      {flow_q, stood_q}                                 <= '0;
    end else begin
      flow_q   <= flow_next_i;
      stood_q  <= flow_next_i == flow_q;
      before_q <= walks_q;
      for (int unsigned f = 0; f < 2; f++) begin
        walks_q[f] <= walks_q[f] + 8'(start_i && flow_q == 1'(f)) - 8'(finish_i && oldest.walked && ended_of == 1'(f));
      end
      recent_q <= slot;
      if (slot) entered_q <= entered_q + 8'd1;
      if (start_i) started_q <= started_q + 8'd1;
      if (done_valid_i) told_q <= told_q + 8'd1;
      if (finish_i) closed_q <= closed_q + 8'd1;
      if (finish_i && oldest.walked) ended_q <= ended_q + 8'd1;
      if (slot && entered_q == watched_q) watched_walked_q <= start_i;
      // All walks have been told of.
      silent_q <= finish_i || done_valid || count == '0 || told_q != started_q ? '0 : silent_q + 3'd1;
    end
  end
  assign ended_of = oldest.flow[0];
  always_ff @(posedge clk_i) begin
    stood_more_q <= rst_ni && stood_q && flow_next_i == flow_q;
    if (start_i) begin
      youngest_q[flow_q] <= tail;
      end_q[flow_q]      <= entered_q;
    end
  end
  always_ff @(posedge clk_i) watched_q <= rst_ni ? watched_q : watched_i;

  always_comb begin
    as_dispatch_does : assume (!(start_i && wait_i) && (slot -> room && !recent_q && stood_q && flow_next_i == flow_q) && (finish_i -> done_valid));
    ends_of_walks : assume (done_valid_i -> told_q != started_q);
    few : assume (entered_q < 8'd200);
    if (rst_ni) begin
      in_order : assert (finish_i -> oldest.packet.start == 16'(closed_q));
      each_once : assert (closed_q <= entered_q && count == COUNT_W'(entered_q - closed_q));
      as_what_it_entered : assert (finish_i && closed_q == watched_q -> oldest.walked == watched_walked_q);
      with_its_own_end : assert (finish_i && oldest.walked -> oldest_slot.done.len == 16'(ended_q) && ended_q != told_q);
      chained_to_youngest : assert (start_i -> chained == (before_q[flow_q] != '0) && (!chained || behind == youngest_q[flow_q]));
      where_it_leaves : assert (stood_q && !recent_q && young.valid && walks_q[flow_q] != '0 -> young.seq_end == 32'(end_q[flow_q]));
      leaves_or_again : assert (!recent_q && walks_q[flow_q] != '0 -> young.valid || again);
      once_again : assert (stood_more_q && !recent_q && walks_q[flow_q] != '0 -> young.valid);
      goes_on : assert (32'(silent_q) < WITHIN);
    end
  end

  logic unused;
  assign unused = ^{kept, in_walk, young, open, done_waits, done_waited, oldest_slot, oldest_flow, oldest_mark, head, places, walking};

endmodule
