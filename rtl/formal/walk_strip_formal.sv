// Proves of walk_strip: of the words of a beat the marker, and nothing else, is dropped, the others keep their order (any one, `lane_i`,
// is followed), and a marker is bad just if it does not point at the FPDU's length field (RFC 5044 §4.3; the two low bits count as zero, §4.2).

module walk_strip_formal
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W = 128,
  localparam int unsigned WORDS  = DATA_W / 32,
  localparam int unsigned LANE_W = $clog2(WORDS)
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    fp_valid_i,
  input logic       [DATA_W-1:0] fp_data_i,
  input fpdu_beat_t              fp_beat_i,
  input logic       [LANE_W-1:0] lane_i
);

  logic st_valid, st_bad_marker;
  logic       [DATA_W-1:0] st_data;
  fpdu_beat_t              st_beat;

  walk_strip #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .fp_valid_i,
    .fp_data_i,
    .fp_beat_i,
    .st_valid_o     (st_valid),
    .st_data_o      (st_data),
    .st_beat_o      (st_beat),
    .st_bad_marker_o(st_bad_marker)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // A cycle later: the beat, its marker, the word followed and where it belongs.
  logic valid_q, is_word_q;
  fpdu_beat_t beat_q;
  logic [7:0] high_q, low_q;
  logic [      31:0] word_q;
  logic [LANE_W-1:0] place_q;
  always_ff @(posedge clk_i) begin
    valid_q   <= rst_ni && fp_valid_i;
    beat_q    <= fp_beat_i;
    // The marker's bytes 2 and 3.
    high_q    <= fp_data_i[{fp_beat_i.lane[LANE_W-1:0], 5'd16}+:8];
    low_q     <= fp_data_i[{fp_beat_i.lane[LANE_W-1:0], 5'd24}+:8];
    is_word_q <= 5'(lane_i) < fp_beat_i.words && !(fp_beat_i.marker && 4'(lane_i) == fp_beat_i.lane);
    word_q    <= fp_data_i[{lane_i, 5'd0}+:32];
    place_q   <= lane_i - LANE_W'(fp_beat_i.marker && 4'(lane_i) > fp_beat_i.lane);
  end

  always_comb begin
    a_words : assume (fp_beat_i.words <= 5'(WORDS));
    a_marker : assume (!fp_beat_i.marker || (fp_beat_i.lane < 4'(WORDS) && fp_beat_i.words != '0));
    if (rst_ni) begin
      each_beat : assert (st_valid == valid_q);
      unchanged : assert (!(valid_q && is_word_q) || st_data[{place_q, 5'd0}+:32] == word_q);
      counted : assert (!(valid_q && is_word_q && beat_q.marker && 5'(beat_q.lane) < beat_q.words) || 5'(place_q) < st_beat.words);
      one_less : assert (!valid_q || st_beat.words == beat_q.words - 5'(beat_q.marker));
      same_beat :
      assert (!valid_q || {st_beat.first, st_beat.last, st_beat.partial, st_beat.seg_last, st_beat.offset} ==
                         {beat_q.first, beat_q.last, beat_q.partial, beat_q.seg_last, beat_q.offset});
      pointed : assert (!valid_q || st_bad_marker == (beat_q.marker && {high_q, low_q} >> 2 != beat_q.distance >> 2));
    end
  end

endmodule
