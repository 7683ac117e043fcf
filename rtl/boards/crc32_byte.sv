// A reflected CRC of 32 bits, a byte at a time.
//
// Pipeline:  none, combinational: 8 bits through 32 exclusive ors of at most 8 + 1 bits, two levels of LUTs.
// Why:       It begins with all ones. The complement of the register is sent behind the data, lowest byte first. A receiver that takes those four
//            bytes as well has a constant in its register, whatever the data.

module crc32_byte #(
  parameter logic [31:0] POLY = 32'hEDB88320  // IEEE 802.3; CRC32C is 32'h82F63B78
) (
  input  logic [31:0] crc_i,
  input  logic [ 7:0] byte_i,
  output logic [31:0] crc_o
);

  always_comb begin
    crc_o = crc_i ^ {24'd0, byte_i};
    for (int unsigned i = 0; i < 8; i++) crc_o = {1'b0, crc_o[31:1]} ^ (crc_o[0] ? POLY : 32'd0);
  end

endmodule
