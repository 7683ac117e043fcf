// Lattice ECP5: a fixed delay at a pin, in steps of 25 ps. Ports and parameters only.

module DELAYG #(
  parameter string DEL_MODE  = "USER_DEFINED",
  parameter int    DEL_VALUE = 0
) (
  input  logic A,
  output logic Z
);
endmodule
