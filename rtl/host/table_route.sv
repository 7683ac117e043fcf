// Table accesses of card_regs, to the path that has the table: FLOW_TX is transmit's, all others are receive's.
//
// Handshake: One access at a time, held until it is answered; `valid_i` is a pulse. Request and answer cost a cycle each.
// Pipeline:  stage   | registers    | what happens
//            request | rx_q, tx_q   | offered to its path until taken
//            answer  | rsp_valid_o  | the path's answer
// Why:       A table's ready and answer are late in their cycle, from deep in the paths. So both end at registers; the request itself stands.

`include "weft_assert.svh"

module table_route
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic       valid_i,
  input logic [3:0] number_i, // of the table

  output logic       rsp_valid_o,
  output table_rsp_t rsp_o,

  output logic       rx_valid_o,
  input  logic       rx_ready_i,
  input  logic       rx_rsp_valid_i,
  input  table_rsp_t rx_rsp_i,
  output logic       tx_valid_o,
  input  logic       tx_ready_i,
  input  logic       tx_rsp_valid_i,
  input  table_rsp_t tx_rsp_i
);

  logic to_tx, rx_q, tx_q;

  assign to_tx                    = number_i == TBL_FLOW_TX;
  assign {rx_valid_o, tx_valid_o} = {rx_q, tx_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rx_q, tx_q} <= '0;
      rsp_valid_o  <= 1'b0;
    end else begin
      rx_q        <= valid_i ? !to_tx : rx_q && !rx_ready_i;
      tx_q        <= valid_i ? to_tx : tx_q && !tx_ready_i;
      rsp_valid_o <= to_tx ? tx_rsp_valid_i : rx_rsp_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rsp_valid_o) rsp_o <= to_tx ? tx_rsp_i : rx_rsp_i;
  end

  `WEFT_ASSERT(one_at_a_time, !(rx_q && tx_q))

endmodule
