// Two words in registers between a sender and a receiver, so that neither sees the other's handshake of the same cycle.
//
// Ready/valid at both ends, both from registers; a word a cycle, one cycle from input to output. `clear_i` forgets what is inside.

module skid_buffer #(
  parameter int unsigned WIDTH = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,

  input  logic             wr_valid_i,
  output logic             wr_ready_o,
  input  logic [WIDTH-1:0] wr_data_i,

  output logic             rd_valid_o,
  input  logic             rd_ready_i,
  output logic [WIDTH-1:0] rd_data_o
);

  logic             valid_q, held_q;
  logic [WIDTH-1:0] data_q, held_data_q;

  assign wr_ready_o = !held_q;
  assign rd_valid_o = valid_q;
  assign rd_data_o  = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      held_q  <= 1'b0;
    end else if (clear_i) begin
      valid_q <= 1'b0;
      held_q  <= 1'b0;
    end else begin
      if (!valid_q || rd_ready_i) valid_q <= held_q || wr_valid_i;
      held_q <= valid_q && !rd_ready_i && (held_q || wr_valid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!valid_q || rd_ready_i) data_q <= held_q ? held_data_q : wr_data_i;
    if (!held_q) held_data_q <= wr_data_i;
  end

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  output_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    rd_valid_o && !rd_ready_i && !clear_i |=> rd_valid_o && $stable(rd_data_o));
  held_behind: assert property (@(posedge clk_i) disable iff (!rst_ni) held_q |-> valid_q);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
