// Whether the FLOW_RX row of the segment being checked was written after the segment was started.
//
// Handshake: Pulses, in the order of the segments.
// Pipeline:  one entry for each segment.
// Why:       Such a segment goes by the receive queue of before the write, so nothing of it may be read ahead or kept.

`include "weft_assert.svh"

module walk_rows #(
  parameter int unsigned SEGMENTS = 8  // a power of two
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        start_i,         // a segment enters
  input  logic [15:0] start_flow_i,
  input  logic        end_i,           // the oldest segment has passed the checks
  input  logic        written_i,
  input  logic [15:0] written_flow_i,
  output logic        old_row_o
);
  localparam int unsigned ROW_W = $clog2(SEGMENTS);
  logic [SEGMENTS-1:0]       old_q;
  logic [SEGMENTS-1:0][15:0] flow_q;
  logic [ROW_W-1:0] in_q, out_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      old_q  <= '0;
      flow_q <= '0;
      in_q   <= '0;
      out_q  <= '0;
    end else begin
      for (int unsigned i = 0; i < SEGMENTS; i++) begin
        if (written_i && flow_q[i] == written_flow_i) old_q[i] <= 1'b1;
      end
      if (start_i) begin
        old_q[in_q]  <= written_i && start_flow_i == written_flow_i;
        flow_q[in_q] <= start_flow_i;
        in_q         <= in_q + 1'b1;
      end
      if (end_i) out_q <= out_q + 1'b1;
    end
  end

  assign old_row_o = old_q[out_q];

`ifndef SYNTHESIS
  logic [ROW_W:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + (ROW_W + 1)'(start_i) - (ROW_W + 1)'(end_i);
  end
  `WEFT_ASSERT(starts_fit, start_i -> 32'(count_q) < SEGMENTS)
  `WEFT_ASSERT(ends_of_one, end_i -> count_q != '0)
`endif
endmodule
