// Lattice ECP5: a pin's two values of a cycle, both in step with the rising edge. Ports only.

module IDDRX1F (
  input  logic D,
  input  logic SCLK,
  input  logic RST,
  output logic Q0,    // at the rising edge
  output logic Q1     // at the falling one behind it
);
endmodule
