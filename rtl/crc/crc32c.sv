// CRC32C of packets of beats, packets back to back, any number of bytes in the last beat.
//
// Handshake: No backpressure: `en_i` advances all, one beat per enabled cycle. `valid_o` comes crc32c_pkg::latency(DATA_W) enabled cycles after the
//            packet's last beat.
// Pipeline:  crc32c_core, then one register for each power of two of padding (crc32c_unpad).
// Why:       `crc_o` is the finished (inverted) CRC; its byte crc_o[7:0] is the first on the wire (RFC 5044 §4.4). The zero bytes that filled the
//            last word are undone by one inverse matrix for each power of two.

module crc32c #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  logic               valid_i,
  input  logic               first_i,
  input  logic               last_i,
  input  logic [ DATA_W-1:0] data_i,
  input  logic [COUNT_W-1:0] count_i,
  output logic               valid_o,
  output logic [       31:0] crc_o
);
  import crc32c_pkg::*;

  localparam int unsigned STAGES = COUNT_W - 1;

  logic [STAGES:0]             valid;
  logic [STAGES:0][      31:0] state;
  logic [STAGES:0][STAGES-1:0] pad;

  crc32c_core #(
    .DATA_W(DATA_W)
  ) u_core (
    .clk_i,
    .rst_ni,
    .en_i,
    .valid_i,
    .first_i,
    .last_i,
    .data_i,
    .count_i,
    .valid_o(valid[0]),
    .state_o(state[0]),
    .pad_o  (pad[0])
  );

  for (genvar s = 0; s < int'(STAGES); s++) begin : gen_unpad
    crc32c_unpad #(
      .PAD_BYTES(1 << s),
      .PAD_W    (STAGES)
    ) u_unpad (
      .clk_i,
      .rst_ni,
      .en_i,
      .valid_i(valid[s]),
      .state_i(state[s]),
      .pad_i  (pad[s]),
      .valid_o(valid[s+1]),
      .state_o(state[s+1]),
      .pad_o  (pad[s+1])
    );
  end

  assign valid_o = valid[STAGES];
  assign crc_o   = ~state[STAGES];

  // No padding is left behind the last stage.
  logic unused;
  assign unused = ^pad[STAGES];
endmodule
