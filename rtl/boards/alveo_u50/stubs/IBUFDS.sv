// A buffer of UltraScale+ (UG974), ports only, for elaboration without the vendor's tool.

(* black_box *)
module IBUFDS (
  input  logic I,
  input  logic IB,
  output logic O
);
endmodule
