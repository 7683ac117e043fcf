// A register in a ready/valid stream, in both directions, for wide words with a late ready.
//
// Handshake: ready/valid, both from registers. Latency one cycle, one item a cycle, as stream_slice.
// Pipeline:  in ─┬─► [place 0] ─┐
//                └─► [place 1] ─┴─► out
// Why:       Each place loads while it is empty, so no enable of the data depends on `out_ready_i`. The output is behind a multiplexer.

`include "weft_assert.svh"

module stream_pair #(
  parameter int unsigned WIDTH = 32
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

  logic out_valid_q, spare_q, first_q;  // items in one place, in both; place of the older one
  logic [1:0][WIDTH-1:0] data_q;

  assign in_ready_o  = !spare_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = data_q[first_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      spare_q     <= 1'b0;
      first_q     <= 1'b0;
    end else begin
      if (clear_i) begin
        out_valid_q <= 1'b0;
        spare_q     <= 1'b0;
      end else if (!out_valid_q || out_ready_i) begin
        out_valid_q <= in_valid_i || spare_q;
        spare_q     <= 1'b0;
      end else if (in_valid_i) begin
        spare_q <= 1'b1;
      end
      first_q <= first_q ^ (out_valid_q && out_ready_i);
    end
  end

  // No reset; without `in_valid_i` the words are not valid.
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 2; i++) begin
      if (!spare_q && !(out_valid_q && first_q == 1'(i))) data_q[i] <= in_data_i;
    end
  end

  `WEFT_ASSERT(spare_behind_output, spare_q -> out_valid_q)
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o, clear_i)

endmodule
