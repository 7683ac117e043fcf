// A short queue in a ready/valid stream, which evens out gaps of either side and can be cleared.
//
// Handshake: ready/valid, both from registers. Latency one cycle, one item a cycle.
// Pipeline:  in ──► [ring of DEPTH words, LUT RAM] ──► out
// Why:       A stream_pair under way holds one word, so a gap before it comes out behind it. This one holds up to DEPTH - 1 meanwhile.

`include "weft_assert.svh"

module stream_fifo #(
  parameter  int unsigned WIDTH = 32,
  parameter  int unsigned DEPTH = 4,                 // a power of two
  localparam int unsigned PTR_W = $clog2(DEPTH) + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i, // drops what is inside

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);

  logic [WIDTH-1:0] buffer[DEPTH];
  logic [PTR_W-1:0] wr_q, rd_q;
  logic full_q, some_q, push, pop;

  assign in_ready_o  = !full_q;
  assign out_valid_o = some_q;
  assign out_data_o  = buffer[rd_q[PTR_W-2:0]];
  assign push        = in_valid_i && !full_q;
  assign pop         = some_q && out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q   <= '0;
      rd_q   <= '0;
      full_q <= 1'b0;
      some_q <= 1'b0;
    end else if (clear_i) begin
      wr_q   <= '0;
      rd_q   <= '0;
      full_q <= 1'b0;
      some_q <= 1'b0;
    end else begin
      if (push) wr_q <= wr_q + 1'b1;
      if (pop) rd_q <= rd_q + 1'b1;
      if (push != pop) begin
        full_q <= push && wr_q + 1'b1 == {~rd_q[PTR_W-1], rd_q[PTR_W-2:0]};
        some_q <= push || rd_q + 1'b1 != wr_q;
      end
    end
  end
  // The word at the tail is free, or is not valid yet.
  always_ff @(posedge clk_i) begin
    if (!full_q) buffer[wr_q[PTR_W-2:0]] <= in_data_i;
  end

  if ((1 << (PTR_W - 1)) != DEPTH || DEPTH < 2) begin : gen_param_check
    $error("stream_fifo: DEPTH must be a power of two from 2 up");
  end
  `WEFT_ASSERT(told, some_q == (wr_q != rd_q) && full_q == (wr_q - rd_q == PTR_W'(DEPTH)) && wr_q - rd_q <= PTR_W'(DEPTH))
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o, clear_i)

endmodule
