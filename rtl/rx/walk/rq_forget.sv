// Which receive elements rq_ahead forgets: all after reset, then those of a flow.
//
// Handshake: `flush_i` and `take_i` are pulses, always taken; a take comes never while `taking_o`. `gone_o` is a pulse: from then on nothing
//            of that flow counts that was read, is being read, or is to be read. Its slots are then written, one a cycle (`forgets_o`, `at_o`).
//            `flush_o` is a `gone_o` of a flush.
// Pipeline:  stage   | registers                     | what happens                 | hazards
//            flush   | flush_q, gone_q, gone_flow_q  | which flow                   | before a flow that was taken: that one begins again
//            forgets | forget_q, at_q                | its slots, one after another | a flush comes never sooner than FORGET cycles behind one
// Why:       A flow whose row is written is forgotten with its place, within FORGET cycles: a segment judged by the new row wants an element later.
//            A flow that gets a context is forgotten, too, but for its place: its MSNs may come round to what was kept.

`include "weft_assert.svh"

module rq_forget
  import walk_pkg::*;
#(
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned ELEMENTS  = 4,
  localparam int unsigned FLOW_W    = $clog2(NUM_FLOWS),
  localparam int unsigned SLOT_W    = $clog2(ELEMENTS)
) (
  input logic clk_i,
  input logic rst_ni,

  input flow_pulse_t flush_i,
  input flow_pulse_t take_i,

  output logic                     taking_o,     // until a flow that was taken is forgotten
  output logic                     clears_o,     // all, after reset
  output logic                     flush_o,
  output logic                     gone_o,
  output logic [       FLOW_W-1:0] gone_flow_o,
  output logic                     forgets_o,
  output logic [FLOW_W+SLOT_W-1:0] at_o,
  output logic                     busy_o
);
  logic take_q, drop_q, drops_q;  // of a flow that was taken: to come, begins, goes on
  logic flush_q, gone_q, clear_q, drop;
  logic [FLOW_W-1:0] take_flow_q, gone_flow_q;
  logic [FLOW_W+SLOT_W-1:0] at_q;
  logic [         SLOT_W:0] forget_q;  // slots to go
  logic                     forgets_q;  // there are some, or all are cleared
  assign drop = take_q && !flush_i.valid && !gone_q && !forgets_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {flush_q, gone_q, take_q, drop_q, drops_q} <= '0;
      clear_q                                    <= 1'b1;
      forgets_q                                  <= 1'b1;
      forget_q                                   <= '0;
      at_q                                       <= '0;
    end else begin
      flush_q <= flush_i.valid;
      drop_q  <= drop;
      gone_q  <= flush_i.valid || drop;
      drops_q <= !flush_q && (drop_q || (drops_q && forget_q != '0));
      if (take_i.valid) take_q <= 1'b1;
      else if (drops_q && !flush_q && forget_q == (SLOT_W + 1)'(1)) take_q <= 1'b0;
      forgets_q <= clear_q ? at_q != '1 : gone_q || forget_q > (SLOT_W + 1)'(1);
      if (clear_q) begin
        at_q    <= at_q + 1'b1;
        clear_q <= at_q != '1;
      end else if (gone_q) begin
        at_q     <= {gone_flow_q, SLOT_W'(0)};
        forget_q <= (SLOT_W + 1)'(ELEMENTS);
      end else if (forget_q != '0) begin
        at_q     <= at_q + 1'b1;
        forget_q <= forget_q - 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    gone_flow_q <= flush_i.valid ? FLOW_W'(flush_i.flow) : take_flow_q;
    if (take_i.valid) take_flow_q <= FLOW_W'(take_i.flow);
  end
  assign taking_o    = take_q;
  assign clears_o    = clear_q;
  assign flush_o     = flush_q;
  assign gone_o      = gone_q;
  assign gone_flow_o = gone_flow_q;
  assign forgets_o   = forgets_q;
  assign at_o        = at_q;
  assign busy_o      = forgets_o || gone_q || take_q;

  logic unused;
  assign unused = ^{flush_i.flow, take_i.flow};

`ifndef SYNTHESIS
  localparam int unsigned FORGET = ELEMENTS + 1;
  logic [FORGET-1:0] flushed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flushed_q <= '0;
    else flushed_q <= {flushed_q[FORGET-2:0], flush_i.valid};
  end
  `WEFT_ASSERT(one_flush_at_a_time, flush_q && !clear_q -> forget_q == '0 || drops_q)
  `WEFT_ASSERT(forgets_told, forgets_q == (clear_q || forget_q != '0))
  `WEFT_ASSERT(one_take_at_a_time, take_i.valid -> !take_q)
  `WEFT_ASSERT(forgotten_in_time, flushed_q == '0 -> forget_q == '0 || drops_q)
`endif
endmodule
