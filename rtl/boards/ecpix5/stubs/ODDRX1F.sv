// Lattice ECP5: two values of a cycle to a pin. Ports only.

module ODDRX1F (
  input  logic D0,    // from the rising edge on
  input  logic D1,    // from the falling one on
  input  logic SCLK,
  input  logic RST,
  output logic Q
);
endmodule
