// The first cycle of a proof is in reset: the state before it is any.

module from_reset (
  input logic clk_i,
  input logic rst_ni
);

  logic begun_q = 1'b0;

  always_ff @(posedge clk_i) begun_q <= 1'b1;

  always_comb begin
    in_reset_first : assume (begun_q || !rst_ni);
  end

endmodule
