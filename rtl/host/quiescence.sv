// When nothing is in flight: the core idle, for card_regs, and the card quiescent, for a simulation that skips time.
//
// Handshake: levels. `core_idle_o` is a cycle behind its inputs, `quiescent_o` ten.
// Pipeline:  stage | registers                 | what happens
//            idle  | core_idle_q, other_idle_q | each idle signal, late in its cycle, by itself
//            quiet | quiet_q, input_q          | all joined; was there an input?
//            calm  | calm_q                    | the last eight cycles; an input clears the last one at once, the others a cycle later
// Why:       Idle for eight cycles without an input, so that nothing between two subsystems is missed.

module quiescence #(
  parameter int unsigned CORE  = 10,
  parameter int unsigned OTHER = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             resetting_i,
  input  logic [ CORE-1:0] core_idle_i,   // the core's subsystems
  input  logic [OTHER-1:0] other_idle_i,  // what may be busy while the core is idle
  input  logic             input_i,       // something comes in at the pins
  output logic             core_idle_o,
  output logic             quiescent_o
);

  logic [ CORE-1:0] core_idle_q;
  logic [OTHER-1:0] other_idle_q;
  logic quiet_q, input_q;
  logic [7:0] calm_q;

  assign core_idle_o = core_idle_q == '1;
  assign quiescent_o = calm_q[7];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      core_idle_q  <= '0;
      other_idle_q <= '0;
      quiet_q      <= 1'b0;
      input_q      <= 1'b1;
      calm_q       <= '0;
    end else begin
      core_idle_q  <= core_idle_i;
      other_idle_q <= other_idle_i;
      quiet_q      <= core_idle_o && other_idle_q == '1;
      input_q      <= input_i || resetting_i;
      calm_q       <= quiet_q && !input_q ? {calm_q[6] && !input_i, calm_q[5:0], 1'b1} : '0;
    end
  end

endmodule
