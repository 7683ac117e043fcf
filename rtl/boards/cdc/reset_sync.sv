// A reset into a clock domain: asserted at once, released synchronously, STAGES cycles after its source.
//
// Pipeline:  STAGES registers.
// Why:       The source may belong to any clock, but must come from a register or a pin: a glitch would be a reset. A stopped clock holds its domain
//            in reset until it runs.

module reset_sync #(
  parameter int unsigned STAGES = 3
) (
  input  logic clk_i,
  input  logic async_rst_ni,
  output logic rst_no
);

  (* ASYNC_REG = "TRUE" *) logic [STAGES-1:0] release_q;

  assign rst_no = release_q[STAGES-1];

  always_ff @(posedge clk_i or negedge async_rst_ni) begin
    if (!async_rst_ni) release_q <= '0;
    else release_q <= {release_q[STAGES-2:0], 1'b1};
  end

  if (STAGES < 2) begin : gen_param_check
    $error("reset_sync: at least two stages");
  end

endmodule
