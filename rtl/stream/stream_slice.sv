// A register slice in a ready/valid stream, in both directions.
//
// Handshake: ready/valid, `in_ready_o` and `out_*` from registers, so no path passes through. Latency one cycle, one item a cycle. `shown_o`: an item
//            moves to the output in this cycle.
// Pipeline:  in ─► [spare] ─► [out]         the spare takes an item that arrives while the output is stalled

`include "weft_assert.svh"

module stream_slice #(
  parameter int unsigned WIDTH = 32
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o,
  output logic             shown_o
);

  logic out_valid_q, spare_q, free;
  logic [WIDTH-1:0] out_data_q, spare_data_q;

  assign free        = !out_valid_q || out_ready_i;
  assign in_ready_o  = !spare_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
  assign shown_o     = free && (in_valid_i || spare_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      spare_q     <= 1'b0;
    end else if (free) begin
      out_valid_q <= in_valid_i || spare_q;
      spare_q     <= 1'b0;
    end else if (in_valid_i) begin
      spare_q <= 1'b1;
    end
  end

  // No reset, and no enables by `in_valid_i`: without it the words are not valid.
  always_ff @(posedge clk_i) begin
    if (free) out_data_q <= spare_q ? spare_data_q : in_data_i;
    if (!spare_q) spare_data_q <= in_data_i;
  end

  `WEFT_ASSERT(spare_behind_output, spare_q -> out_valid_q)
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o)

endmodule
