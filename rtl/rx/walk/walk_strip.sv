// Removes markers from FPDU beats (RFC 5044 §4.3), and checks that they point where they should.
//
// Handshake: No backpressure: one beat a cycle.
// Pipeline:  one register.
// Why:       The two low bits of FPDUPTR count as zero (RFC 5044 §4.2).

`include "weft_assert.svh"

module walk_strip
  import walk_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,

  input logic                    fp_valid_i,
  input logic       [DATA_W-1:0] fp_data_i,
  input fpdu_beat_t              fp_beat_i,

  output logic                    st_valid_o,
  output logic       [DATA_W-1:0] st_data_o,
  output fpdu_beat_t              st_beat_o,       // `words` without the marker
  output logic                    st_bad_marker_o
);
  localparam int unsigned WORDS = DATA_W / 32;

  logic [DATA_W-1:0] data_d, data_q, at_marker;
  fpdu_beat_t beat_d, beat_q;
  logic valid_q;
  logic [1:0] bad_d, bad_q;  // the pointer's upper and lower half are wrong
  logic [15:0] pointer;

  assign at_marker = fp_data_i >> {fp_beat_i.lane, 5'd0};
  assign pointer   = {at_marker[23:16], at_marker[31:24]};
  assign bad_d     = {2{fp_beat_i.marker}} & {pointer[15:9] != fp_beat_i.distance[15:9], pointer[8:2] != fp_beat_i.distance[8:2]};

  always_comb begin
    data_d = fp_data_i;
    for (int unsigned i = 0; i < WORDS - 1; i++) begin
      if (fp_beat_i.marker && 4'(i) >= fp_beat_i.lane) data_d[32*i+:32] = fp_data_i[32*(i+1)+:32];
    end
    beat_d       = fp_beat_i;
    beat_d.words = fp_beat_i.words - 5'(fp_beat_i.marker);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= fp_valid_i;
  end
  always_ff @(posedge clk_i) begin
    data_q <= data_d;
    beat_q <= beat_d;
    bad_q  <= bad_d;
  end

  assign st_valid_o      = valid_q;
  assign st_data_o       = data_q;
  assign st_beat_o       = beat_q;
  assign st_bad_marker_o = bad_q != '0;

  logic unused;
  assign unused = ^{at_marker[DATA_W-1:32], at_marker[15:0], pointer[1:0]};

  for (genvar i = 0; i < int'(WORDS); i++) begin : gen_point
    `WEFT_COVER(marker, fp_valid_i && fp_beat_i.marker && fp_beat_i.lane == 4'(i))
    `WEFT_COVER(bad_marker, fp_valid_i && bad_d != '0 && fp_beat_i.lane == 4'(i))
  end
endmodule
