// One request for a receive element: its slot in the queue, and its address.
//
// Handshake: `take_i` is a pulse, only without `held_o`. `req_*` is ready/valid, from the third cycle on and with `room_i`. A request whose flow is
//            forgotten is withdrawn.
// Pipeline:  ask_*_q    | what is asked for
//            ask_slot_q | element n is in slot (n - 1) mod 2^log2
//            ask_low_q  | the low half of its address, and the carry into the high one
// Why:       An address of 64 bits in one cycle would be too long.

`include "weft_assert.svh"

module rq_ask #(
  parameter int unsigned FLOW_W = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              take_i,
  input  logic [FLOW_W-1:0] take_flow_i,
  input  logic [      31:0] take_msn_i,
  input  logic [      63:0] rq_base_i,
  input  logic [       7:0] rq_log2_i,
  input  logic              gone_i,       // the flow is forgotten
  input  logic [FLOW_W-1:0] gone_flow_i,
  input  logic              room_i,
  output logic              held_o,
  output logic [FLOW_W-1:0] flow_o,
  output logic [      31:0] msn_o,

  output logic        req_valid_o,
  input  logic        req_ready_i,
  output logic [63:0] req_addr_o
);
  logic ask_valid_q, ask_carry_q, leaves;
  logic [FLOW_W-1:0] ask_flow_q;
  logic [      63:0] ask_base_q;
  logic [       7:0] ask_log2_q;
  logic [31:0] ask_msn_q, ask_slot_q, less;
  logic [37:0] ask_low_q;
  logic [ 1:0] ask_step_q;

  assign less        = ask_msn_q - 32'd1;
  assign req_valid_o = ask_valid_q && ask_step_q[1] && room_i;
  assign req_addr_o  = {ask_base_q[63:38] + 26'(ask_carry_q), ask_low_q};
  assign leaves      = req_valid_o && req_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_valid_q <= 1'b0;
      ask_step_q  <= '0;
    end else begin
      ask_step_q <= ask_valid_q ? {ask_step_q[0], 1'b1} : '0;
      if (take_i) begin
        ask_valid_q <= 1'b1;
        ask_step_q  <= '0;
      end else if (leaves || (gone_i && ask_flow_q == gone_flow_i)) ask_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      ask_flow_q <= take_flow_i;
      ask_msn_q  <= take_msn_i;
      ask_base_q <= rq_base_i;
      ask_log2_q <= rq_log2_i;
    end
    for (int unsigned i = 0; i < 32; i++) ask_slot_q[i] <= less[i] && 8'(i) < ask_log2_q;
    {ask_carry_q, ask_low_q} <= {1'b0, ask_base_q[37:0]} + {1'b0, ask_slot_q, 6'd0};
  end

  assign held_o = ask_valid_q;
  assign flow_o = ask_flow_q;
  assign msn_o  = ask_msn_q;

  `WEFT_ASSERT(one_at_a_time, take_i -> !ask_valid_q)
endmodule
