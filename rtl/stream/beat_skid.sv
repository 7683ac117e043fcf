// A register slice for a stream: what is taken comes out one cycle later, and `ready_o` is a register. One word per cycle.

module beat_skid #(
    parameter int unsigned WIDTH = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input logic valid_i,
    output logic ready_o,
    input logic [WIDTH-1:0] data_i,

    output logic valid_o,
    input logic ready_i,
    output logic [WIDTH-1:0] data_o
);
  logic valid_q, spare_valid_q;  // a word waits behind the one at the output
  logic [WIDTH-1:0] data_q, spare_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (ready_i || !valid_q) begin
      valid_q <= spare_valid_q || valid_i;
      spare_valid_q <= 1'b0;
    end else if (valid_i) begin
      spare_valid_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ready_i || !valid_q) data_q <= spare_valid_q ? spare_q : data_i;
    if (!spare_valid_q) spare_q <= data_i;
  end

  assign ready_o = !spare_valid_q;
  assign valid_o = valid_q;
  assign data_o = data_q;

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  output_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                  valid_o && !ready_i |=> valid_o && $stable(data_o));
  // verilator lint_on SYNCASYNCNET
`endif
endmodule
