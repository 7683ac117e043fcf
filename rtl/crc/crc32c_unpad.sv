// Undoes PAD_BYTES zero bytes in a CRC32C state if `pad_i` has that bit.
//
// Handshake: No backpressure: `en_i` advances all.
// Pipeline:  one register.

module crc32c_unpad #(
  parameter int unsigned PAD_BYTES = 1,  // a power of two
  parameter int unsigned PAD_W     = 6
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             en_i,
  input  logic             valid_i,
  input  logic [     31:0] state_i,
  input  logic [PAD_W-1:0] pad_i,
  output logic             valid_o,
  output logic [     31:0] state_o,
  output logic [PAD_W-1:0] pad_o
);
  import crc32c_pkg::*;

  localparam state_matrix_t INVERSE = advance_matrix(-8 * int'(PAD_BYTES));

  logic             valid_q;
  logic [     31:0] state_q;
  logic [PAD_W-1:0] pad_q;

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      state_q <= pad_i[$clog2(PAD_BYTES)] ? multiply(INVERSE, state_i) : state_i;
      pad_q   <= pad_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (en_i) valid_q <= valid_i;
  end

  assign valid_o = valid_q;
  assign state_o = state_q;
  assign pad_o   = pad_q;
endmodule
