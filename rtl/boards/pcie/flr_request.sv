// A function-level reset of AMD's cores (a pulse with the function's number, a pulse as answer) as the card's handshake.
//
// Handshake: `req_o` is held until the card has drained (`done_i`); then the core is answered, and `req_o` is lowered.
// Pipeline:  one register.
// Why:       The card is function 0. A pulse for another function is answered at once, since nothing here belongs to it. During a reset, pulses of
//            function 0 are the same reset; those of others are not answered (a device with one function has none).

`include "weft_assert.svh"

module flr_request #(
  parameter int unsigned FNC_W = 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             flr_set_i,
  input  logic [FNC_W-1:0] flr_fnc_i,
  output logic             flr_done_o,
  output logic [FNC_W-1:0] flr_done_fnc_o,

  output logic req_o,
  input  logic done_i
);

  logic drained;
  assign drained = req_o && done_i;

  // The answer is a pulse: once the card is done, `req_o` goes with it, and the card then leaves its reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_o          <= 1'b0;
      flr_done_o     <= 1'b0;
      flr_done_fnc_o <= '0;
    end else begin
      flr_done_o <= 1'b0;
      if (drained) begin
        req_o          <= 1'b0;
        flr_done_o     <= 1'b1;
        flr_done_fnc_o <= '0;
      end else if (flr_set_i && flr_fnc_i == '0) begin
        req_o <= 1'b1;
      end else if (flr_set_i && !req_o) begin
        flr_done_o     <= 1'b1;
        flr_done_fnc_o <= flr_fnc_i;
      end
    end
  end

`ifndef SYNTHESIS
  logic req_last_q, done_last_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    req_last_q  <= rst_ni && req_o;
    done_last_q <= done_i;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(req_until_done, !req_last_q || req_o || done_last_q)
`endif

endmodule
