// Requests words of a memory before they are used, one a cycle, and keeps them until taken.
//
// Handshake: The user requests while `room_o`; a granted word arrives in the cycle behind `grant_i`, and can be taken one cycle later. `valid_o` and
//            `room_o` are registers.
// Pipeline:  a ring of DEPTH words, which cover the latency from a request to here.

`include "weft_assert.svh"

module read_ahead #(
  parameter  int unsigned WIDTH = 32,
  parameter  int unsigned DEPTH = 4,                 // a power of two
  localparam int unsigned PTR_W = $clog2(DEPTH) + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i, // drops words inside, in flight, and granted in this cycle

  output logic             room_o,   // one more may be requested
  input  logic             grant_i,
  input  logic [WIDTH-1:0] data_i,   // in the cycle behind grant_i

  output logic             valid_o,
  input  logic             take_i,   // only with valid_o
  output logic [WIDTH-1:0] data_o,
  output logic             idle_o    // nothing is inside or in flight
);

  logic [WIDTH-1:0] buffer[DEPTH];
  logic [PTR_W-1:0] wr_q, rd_q;
  logic [PTR_W-1:0] asked_q;  // words inside or in flight
  logic pending_q, some_q;  // pending_q: a word arrives in this cycle; some_q: one is inside

  assign room_o  = asked_q != PTR_W'(DEPTH);
  assign valid_o = some_q;
  assign data_o  = buffer[rd_q[PTR_W-2:0]];
  assign idle_o  = !pending_q && !some_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      some_q    <= 1'b0;
      wr_q      <= '0;
      rd_q      <= '0;
      asked_q   <= '0;
    end else if (clear_i) begin
      pending_q <= 1'b0;
      some_q    <= 1'b0;
      wr_q      <= '0;
      rd_q      <= '0;
      asked_q   <= '0;
    end else begin
      pending_q <= grant_i;
      some_q    <= pending_q || (some_q && !(take_i && wr_q == rd_q + 1'b1));
      if (pending_q) wr_q <= wr_q + 1'b1;
      if (take_i) rd_q <= rd_q + 1'b1;
      asked_q <= asked_q + PTR_W'(grant_i) - PTR_W'(take_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (pending_q) buffer[wr_q[PTR_W-2:0]] <= data_i;
  end

  if ((1 << (PTR_W - 1)) != DEPTH || DEPTH < 2) begin : gen_param_check
    $error("read_ahead: DEPTH must be a power of two from 2 up");
  end
  `WEFT_ASSERT(granted_with_room, grant_i -> room_o)
  `WEFT_ASSERT(taken_if_there, take_i -> valid_o)
  `WEFT_ASSERT(told,
               some_q == (wr_q != rd_q) && asked_q >= PTR_W'(pending_q) && asked_q <= PTR_W'(DEPTH) && asked_q == wr_q - rd_q + PTR_W'(pending_q))

endmodule
