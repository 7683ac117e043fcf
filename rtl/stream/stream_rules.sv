// The rule of every ready/valid stream, for simulation and proofs.
//
// Handshake: Observes only. Once valid, `valid_i` and the payload are held until `ready_i`, or until the stream is cleared.
// Why:       A word is copied only while it is stalled, so the check costs little.

`include "weft_assert.svh"

module stream_rules #(
  parameter int unsigned WIDTH = 32
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic             valid_i,
  input logic             ready_i,
  input logic [WIDTH-1:0] data_i
);
  logic             waits_q;
  logic [WIDTH-1:0] data_q;

  // Watches the asynchronous reset as data.
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && valid_i && !ready_i && !clear_i;
    if (valid_i && !ready_i) data_q <= data_i;
    if (rst_ni && waits_q) begin
      valid_stays : assert (valid_i);
      data_stays : assert (data_i == data_q);
    end
  end
  // verilator lint_on SYNCASYNCNET

  `WEFT_COVER(stalled, valid_i && !ready_i)
endmodule
