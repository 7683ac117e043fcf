// A buffer of UltraScale+ (UG974), ports only, for elaboration without the vendor's tool.

(* black_box *)
module BUFG (
  input  logic I,
  output logic O
);
endmodule
