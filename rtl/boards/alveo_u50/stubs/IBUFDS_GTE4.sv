// A buffer of UltraScale+ (UG974), ports only, for elaboration without the vendor's tool.

(* black_box *)
module IBUFDS_GTE4 #(
  parameter logic [1:0] REFCLK_HROW_CK_SEL = 2'b00
) (
  input  logic I,
  input  logic IB,
  input  logic CEB,
  output logic O,
  output logic ODIV2
);
endmodule
