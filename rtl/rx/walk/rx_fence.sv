// The fence (docs/card.md "Taking away"): ends when nothing is in flight that was checked against the tables of before it.
//
// Handshake: `fence_valid_i` is a pulse. A number written during a fence waits, and a later one replaces it.
// Pipeline:  counts are updated a cycle late (change_q), and a fence waits a cycle for that (settled_q).
// Why:       A segment takes the present colour when it enters the walk, with the row it is judged by; so do its placements. For each colour,
//            segments in the walk and FPDUs not answered by host memory are counted. A fence turns the colour, so the other count can only fall, and
//            traffic cannot prolong the fence. It ends when that count is 0 and the element reads of before are answered. Between fences the count of
//            the other colour is 0.

`include "weft_assert.svh"

module rx_fence (
  input logic clk_i,
  input logic rst_ni,

  input  logic        fence_valid_i,
  input  logic [31:0] fence_number_i,
  output logic [31:0] fence_done_o,
  output logic        fence_ended_o,   // pulse

  output logic colour_o,
  input  logic segment_i,         // takes `colour_o`
  input  logic segment_done_i,
  input  logic segment_colour_i,  // of the one that is done
  input  logic place_i,           // an FPDU's last placement is handed on
  input  logic place_colour_i,
  input  logic landed_i,          // an FPDU's placements are answered
  input  logic landed_colour_i,

  output logic mark_o,   // a fence begins
  input  logic marked_i, // reads from before are still in flight

  output logic idle_o
);
  localparam int unsigned COUNT_W = 9;

  logic colour_q, running_q, settled_q, waiting_q, begins, ends;
  logic [31:0] number_q, next_q, done_q;
  // Changes reach a count a cycle late, as does a segment that entered with the fence; the fence waits for that.
  logic [1:0][COUNT_W-1:0] count_q, change_q;

  assign begins = (fence_valid_i || waiting_q) && !running_q;
  // `marked_i` follows `mark_o` by a cycle, as `running_q` does.
  assign ends   = running_q && settled_q && count_q[!colour_q] == '0 && !marked_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      colour_q      <= 1'b0;
      running_q     <= 1'b0;
      waiting_q     <= 1'b0;
      number_q      <= '0;
      next_q        <= '0;
      done_q        <= '0;
      count_q       <= '0;
      change_q      <= '0;
      settled_q     <= 1'b0;
      fence_ended_o <= 1'b0;
    end else begin
      fence_ended_o <= ends;
      settled_q     <= running_q && !ends;
      if (begins) begin
        colour_q  <= !colour_q;
        running_q <= 1'b1;
        number_q  <= fence_valid_i ? fence_number_i : next_q;
        waiting_q <= 1'b0;
      end else if (fence_valid_i) begin
        waiting_q <= 1'b1;
        next_q    <= fence_number_i;
      end
      if (ends) begin
        running_q <= 1'b0;
        done_q    <= number_q;
      end
      for (int unsigned i = 0; i < 2; i++) begin
        change_q[i] <= COUNT_W'(segment_i && colour_q == 1'(i)) + COUNT_W'(place_i && place_colour_i == 1'(i)) -
                       COUNT_W'(segment_done_i && segment_colour_i == 1'(i)) -
                       COUNT_W'(landed_i && landed_colour_i == 1'(i));
        count_q[i] <= count_q[i] + change_q[i];
      end
    end
  end

  assign colour_o     = colour_q;
  assign mark_o       = begins;
  assign fence_done_o = done_q;
  assign idle_o       = !running_q && !waiting_q && count_q == '0 && change_q == '0;

  `WEFT_ASSERT(other_colour_is_empty, !running_q -> count_q[!colour_q] == '0)
  for (genvar i = 0; i < 2; i++) begin : gen_count_check
    `WEFT_ASSERT(no_wrap, count_q[i] < 9'd400)
  end
endmodule
