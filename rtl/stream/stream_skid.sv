// A skid buffer: ready of a stream from a register, without latency. A stalled word waits in here.
//
// Handshake: ready/valid; `in_ready_o` is a register, valid and data pass through. No latency, one item a cycle.
// Pipeline:  in ─┬──────────► out
//                └─► [spare] ─┘
// Why:       For a beat that may not become later. stream_slice cuts the other direction as well.

`include "weft_assert.svh"

module stream_skid #(
  parameter int unsigned WIDTH = 32
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);

  logic spare_q, ready_q;  // ready_q: !spare_q in a register of its own, as spare_q selects the data
  logic [WIDTH-1:0] spare_data_q;

  assign in_ready_o  = ready_q;
  assign out_valid_o = spare_q || in_valid_i;
  assign out_data_o  = spare_q ? spare_data_q : in_data_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      spare_q <= 1'b0;
      ready_q <= 1'b1;
    end else begin
      spare_q <= out_valid_o && !out_ready_i;
      ready_q <= !out_valid_o || out_ready_i;
    end
  end

  // No reset, and no enable by `in_valid_i`: without it the word is not valid.
  always_ff @(posedge clk_i) begin
    if (!spare_q) spare_data_q <= in_data_i;
  end

  `WEFT_ASSERT(ready_told, ready_q == !spare_q)
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o)

endmodule
