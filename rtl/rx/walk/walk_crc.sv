// The CRC verdict of each FPDU (RFC 5044 §4.4), in order.
//
// Handshake: No backpressure: one beat a cycle. The verdict follows the last beat by crc32c_pkg::CORE_LATENCY cycles.
// Pipeline:  that of crc32c_core, and a comparison.
// Why:       The CRC field goes through the CRC as well, which leaves a constant if it is right. The words that fill the last beat lead from that
//            constant to another, so no padding has to be undone. A partial FPDU makes a verdict without meaning.

module walk_crc
  import walk_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    valid_i,          // one beat
  input  logic       [DATA_W-1:0] data_i,
  input  fpdu_beat_t              beat_i,
  output logic                    verdict_valid_o,
  output logic                    verdict_good_o,
  output logic                    idle_o
);
  import crc32c_pkg::*;

  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1;
  localparam residue_table_t RESIDUE = residue_table();

  logic [            31:0] state;
  logic [     COUNT_W-2:0] pad;
  logic [CORE_LATENCY-1:0] last_q;

  crc32c_core #(
    .DATA_W(DATA_W)
  ) u_core (
    .clk_i,
    .rst_ni,
    .en_i   (1'b1),
    .valid_i(valid_i && beat_i.words != 5'd0),
    .first_i(beat_i.first),
    .last_i (beat_i.last),
    .data_i,
    .count_i(COUNT_W'({beat_i.words, 2'b00})),
    .valid_o(),
    .state_o(state),
    .pad_o  (pad)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= '0;
    else last_q <= {last_q[CORE_LATENCY-2:0], valid_i && beat_i.last};
  end

  assign verdict_valid_o = last_q[CORE_LATENCY-1];
  assign verdict_good_o  = state == RESIDUE[4'(pad>>2)];
  assign idle_o          = last_q == '0;

  logic unused;
  assign unused = ^beat_i;
endmodule
