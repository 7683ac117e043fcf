// A stream from one die to the other, in one clock: a register slice on either side.
//
// Handshake: valid/ready at both ends; what is offered is held. Two cycles, an item a cycle.
// Pipeline:  in ─► [u_first] ══ between the dies ══► [u_second] ─► out        the floor plan places both
// Why:       The wires between the dies, ready among them, go from register to register. Each side has its own reset, asserted together; nothing may
//            come in before both are released.

`include "weft_assert.svh"

module die_crossing #(
  parameter int unsigned WIDTH = 32
) (
  input logic clk_i,
  input logic first_rst_ni,
  input logic second_rst_ni,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);

  logic valid, ready;
  logic [WIDTH-1:0] data;

  stream_slice #(
    .WIDTH(WIDTH)
  ) u_first (
    .clk_i,
    .rst_ni     (first_rst_ni),
    .in_valid_i,
    .in_ready_o,
    .in_data_i,
    .out_valid_o(valid),
    .out_ready_i(ready),
    .out_data_o (data),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(WIDTH)
  ) u_second (
    .clk_i,
    .rst_ni    (second_rst_ni),
    .in_valid_i(valid),
    .in_ready_o(ready),
    .in_data_i (data),
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .shown_o   ()
  );

  `WEFT_ASSERT(both_released, !(first_rst_ni && in_valid_i) || second_rst_ni, clk_i, 1'b1)

endmodule
