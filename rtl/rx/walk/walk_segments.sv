// The segments in the walk, in order, each with its FLOW_RX row; and whether the row was written since.
//
// Handshake: ready/valid at both ends; `written_i` is a pulse.
// Pipeline:  a FIFO, and beside it an entry for each segment.
// Why:       A segment whose row was written goes by the receive queue of before the write, so nothing of it may be read ahead or kept.

module walk_segments
  import walk_pkg::*;
#(
  parameter int unsigned SEGMENTS = 8  // a power of two
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic     valid_i,
  output logic     ready_o,
  input  segment_t segment_i,
  output logic     valid_o,
  input  logic     ready_i,    // it has passed the checks
  output segment_t segment_o,
  output logic     old_row_o,  // of segment_o

  input logic        written_i,
  input logic [15:0] written_flow_i
);
  localparam int unsigned ROW_W = $clog2(SEGMENTS);
  logic [SEGMENTS-1:0]       old_q;
  logic [SEGMENTS-1:0][15:0] flow_q;
  logic [ROW_W-1:0] in_q, out_q;
  logic enters, leaves;

  fifo_sync #(
    .WIDTH($bits(segment_t)),
    .DEPTH(SEGMENTS)
  ) u_segments (
    .clk_i,
    .rst_ni,
    .wr_valid_i(valid_i),
    .wr_ready_o(ready_o),
    .wr_data_i (segment_i),
    .rd_valid_o(valid_o),
    .rd_ready_i(ready_i),
    .rd_data_o (segment_o),
    .count_o   ()
  );

  assign enters = valid_i && ready_o;
  assign leaves = valid_o && ready_i;

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
      if (enters) begin
        old_q[in_q]  <= written_i && segment_i.flow == written_flow_i;
        flow_q[in_q] <= segment_i.flow;
        in_q         <= in_q + 1'b1;
      end
      if (leaves) out_q <= out_q + 1'b1;
    end
  end

  assign old_row_o = old_q[out_q];

endmodule
