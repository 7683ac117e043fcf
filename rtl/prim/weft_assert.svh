// Assertions, cover points and the rule of streams, for simulations and proofs; under SYNTHESIS nothing.
//
//     `include "weft_assert.svh"
//     `WEFT_ASSERT(name, condition)                 checked at each edge outside reset
//     `WEFT_COVER(name, condition)                  counted there (docs/testbench.md, Coverage)
//     `WEFT_STREAM(u_name, valid, ready, data)      what is offered stands until it is taken, or until a clear (stream_rules)
//
// They stand where a module's items do, without a semicolon. Further arguments are clock and reset (low), of a stream a clear before them.
//
// Why:       The prefix keeps them apart from the macros of cores that are compiled with the card. An assertion watches the asynchronous reset as data.

`ifndef WEFT_ASSERT_SVH
`define WEFT_ASSERT_SVH

`ifdef SYNTHESIS

`define WEFT_ASSERT(NAME, CONDITION, CLK = clk_i, RST_N = rst_ni)
`define WEFT_COVER(NAME, CONDITION, CLK = clk_i, RST_N = rst_ni)
`define WEFT_STREAM(NAME, VALID, READY, DATA, CLEAR = 1'b0, CLK = clk_i, RST_N = rst_ni)

`else

`define WEFT_ASSERT(NAME, CONDITION, CLK = clk_i, RST_N = rst_ni) \
  /* verilator lint_off SYNCASYNCNET */ \
  always_ff @(posedge CLK) if (RST_N) NAME : assert (CONDITION); \
  /* verilator lint_on SYNCASYNCNET */

`define WEFT_COVER(NAME, CONDITION, CLK = clk_i, RST_N = rst_ni) \
  NAME : cover property (@(posedge CLK) RST_N && (CONDITION));

`define WEFT_STREAM(NAME, VALID, READY, DATA, CLEAR = 1'b0, CLK = clk_i, RST_N = rst_ni) \
  stream_rules #(.WIDTH($bits(DATA))) NAME ( \
    .clk_i(CLK), .rst_ni(RST_N), .clear_i(CLEAR), .valid_i(VALID), .ready_i(READY), .data_i(DATA) \
  );

`endif

`endif
