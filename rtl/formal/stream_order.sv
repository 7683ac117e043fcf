// What goes through a stream comes out once, unchanged and in order, packets end where they ended, and it goes on.
//
// A beat is 1 to UNITS units of UNIT_W bits, the first one lowest; a stream of plain words has one unit a beat. Any one unit is
// followed: `mark_i` and `lane_i` choose it, so the proof is about all of them. At most INSIDE units are in the block.
//
// It goes on: when a full beat or a packet's end is inside, a beat is offered after at most WAIT_OUT cycles; a beat offered to
// the block is taken after at most WAIT_IN cycles in which the other end is ready. Stability under stall: stream_rules.

module stream_order #(
  parameter  int unsigned UNIT_W   = 8,
  parameter  int unsigned UNITS    = 1,
  parameter  int unsigned INSIDE   = 8,
  parameter  int unsigned WAIT_OUT = 1,
  parameter  int unsigned WAIT_IN  = 1,
  localparam int unsigned COUNT_W  = $clog2(UNITS + 1),
  localparam int unsigned LANE_W   = UNITS > 1 ? $clog2(UNITS) : 1,
  localparam int unsigned HELD_W   = $clog2(INSIDE + UNITS + 1)
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i,

  input logic                           in_valid_i,
  input logic                           in_ready_i,
  input logic [  UNITS-1:0][UNIT_W-1:0] in_data_i,
  input logic [COUNT_W-1:0]             in_count_i,
  input logic                           in_last_i,

  input logic                           out_valid_i,
  input logic                           out_ready_i,
  input logic [  UNITS-1:0][UNIT_W-1:0] out_data_i,
  input logic [COUNT_W-1:0]             out_count_i,
  input logic                           out_last_i,

  input logic              mark_i,
  input logic [LANE_W-1:0] lane_i
);

  logic push, pop, followed_q, is_last_q, here;
  logic [HELD_W-1:0] inside_q, left, ahead_q, ends_q;  // units and packets' ends inside; units in front of the followed one
  logic [UNIT_W-1:0] unit_q;
  logic [3:0] silent_q, blocked_q;

  assign push = in_valid_i && in_ready_i;
  assign pop  = out_valid_i && out_ready_i;
  assign left = inside_q - (pop ? HELD_W'(out_count_i) : '0);
  assign here = followed_q && ahead_q < HELD_W'(out_count_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      followed_q <= 1'b0;
      inside_q   <= '0;
      ends_q     <= '0;
      silent_q   <= '0;
      blocked_q  <= '0;
    end else begin
      inside_q <= left + (push ? HELD_W'(in_count_i) : '0);
      ends_q   <= ends_q + HELD_W'(push && in_last_i) - HELD_W'(pop && out_last_i);
      if (followed_q) begin
        if (pop) begin
          ahead_q    <= ahead_q - HELD_W'(out_count_i);
          followed_q <= !here;
        end
      end else if (push && mark_i && COUNT_W'(lane_i) < in_count_i) begin
        followed_q <= 1'b1;
        ahead_q    <= left + HELD_W'(lane_i);
        unit_q     <= in_data_i[lane_i];
        is_last_q  <= in_last_i && COUNT_W'(lane_i) + 1'b1 == in_count_i;
      end
      silent_q <= (out_valid_i || !(ends_q != '0 || inside_q >= HELD_W'(UNITS))) ? '0 : silent_q + 1'b1;
      if (!in_valid_i || in_ready_i) blocked_q <= '0;
      else if (out_ready_i) blocked_q <= blocked_q + 1'b1;
    end
  end

  always_comb begin
    if (rst_ni) begin
      nothing_invented : assert (!out_valid_i || (out_count_i != '0 && HELD_W'(out_count_i) <= inside_q));
      no_end_invented : assert (!(out_valid_i && out_last_i) || ends_q != '0);
      not_too_many : assert (inside_q <= HELD_W'(INSIDE));
      still_in : assert (!followed_q || ahead_q < inside_q);
      unchanged : assert (!(out_valid_i && here) || out_data_i[LANE_W'(ahead_q)] == unit_q);
      ends_kept : assert (!(out_valid_i && here) || is_last_q == (out_last_i && ahead_q + 1'b1 == HELD_W'(out_count_i)));
      goes_on : assert (silent_q <= 4'(WAIT_OUT));
      taken : assert (blocked_q <= 4'(WAIT_IN));
    end
  end

endmodule
