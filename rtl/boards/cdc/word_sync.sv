// A word that may change in any way at any time, in another clock domain: sampled now and then, never torn.
//
// Handshake: No handshake outside; inside a request and an answer. A word is seen about three cycles of each clock after it was held.
// Pipeline:  source: word ─► held ─ request ─►  destination: taken
//                                 ◄─ answer ──
// Why:       One word at a time is held until the other side has taken it. Values of the source in between are not seen. It is for counters and
//            states. Both resets are one reset.

`include "weft_assert.svh"

module word_sync #(
  parameter int unsigned WIDTH = 32
) (
  input logic             src_clk_i,
  input logic             src_rst_ni,
  input logic [WIDTH-1:0] src_word_i,

  input  logic             dst_clk_i,
  input  logic             dst_rst_ni,
  output logic [WIDTH-1:0] dst_word_o   // 0 until the first one came
);

  logic request_q, answer, answer_q, request;
  logic [WIDTH-1:0] held_q, taken_q;

  bit_sync u_answer (
    .clk_i  (src_clk_i),
    .rst_ni (src_rst_ni),
    .async_i(answer_q),
    .sync_o (answer)
  );

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) begin
      request_q <= 1'b0;
      held_q    <= '0;
    end else if (request_q == answer) begin
      request_q <= !request_q;
      held_q    <= src_word_i;
    end
  end

  bit_sync u_request (
    .clk_i  (dst_clk_i),
    .rst_ni (dst_rst_ni),
    .async_i(request_q),
    .sync_o (request)
  );

  assign dst_word_o = taken_q;

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      answer_q <= 1'b0;
      taken_q  <= '0;
    end else if (request != answer_q) begin
      answer_q <= request;
      taken_q  <= held_q;
    end
  end

`ifndef SYNTHESIS
  // The word in flight does not change.
  logic [WIDTH-1:0] last_q;
  logic             under_way_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge src_clk_i) begin
    under_way_q <= src_rst_ni && request_q != answer;
    last_q      <= held_q;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(held_stays, under_way_q -> held_q == last_q, src_clk_i, src_rst_ni)
`endif

endmodule
