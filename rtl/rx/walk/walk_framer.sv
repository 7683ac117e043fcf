// FPDU delineation (RFC 5044 §4.1, §4.3): cuts a segment's payload, which begins with an FPDU or the marker before it,
// into FPDUs, each beginning in lane 0 of a beat. Markers stay inside (the CRC covers them) and are pointed out.
//
// A segment's last FPDU has `seg_last`; what is not whole in the segment comes as one with `partial`, from no words at all
// (left over bytes) to all but the CRC, and the rest of the segment is thrown away.
// Handshake: ready/valid everywhere. One beat of one FPDU per cycle, output registered; a segment may follow at once.
// An FPDU and its markers are whole words, so everything is counted in words of 4 bytes.

module walk_framer
  import walk_pkg::*;
#(
    parameter int unsigned DATA_W = 512,
    localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic seg_valid_i,
    output logic seg_ready_o,
    input logic [15:0] seg_len_i,
    input logic seg_markers_i,
    input logic [6:0] seg_phase_i,  // words since the last place of a marker

    input logic pl_valid_i,
    output logic pl_ready_o,
    input logic [DATA_W-1:0] pl_data_i,
    input logic [COUNT_W-1:0] pl_count_i,
    input logic pl_last_i,

    output logic fp_valid_o,
    input logic fp_ready_i,
    output logic [DATA_W-1:0] fp_data_o,
    output fpdu_beat_t fp_beat_o,

    output logic idle_o
);
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(WORDS);

  // The beat that holds the next word to use, and that word's lane; the beat behind it is at the port.
  logic held_q, held_last_q, drain_q;
  logic [DATA_W-1:0] held_data_q;
  logic [LANE_W-1:0] lane_q;

  // The segment, and the FPDU in it.
  logic active_q, markers_q, first_q;
  logic [6:0] phase_q;
  logic [15:0] len_q, left_q, offset_q, header_q;
  logic [14:0] rest_q;  // words of the FPDU still to come, without markers

  logic [2*DATA_W-1:0] window;
  logic [DATA_W-1:0] aligned;
  assign window = {pl_data_i, held_data_q} >> {lane_q, 5'd0};
  assign aligned = window[DATA_W-1:0];

  // Where this beat's marker is, and what remains of the FPDU.
  logic leading, marker_near, marker, cut_head, partial, last, seg_last;
  logic [6:0] marker_lane;
  logic [15:0] position, ulpdu_len;
  logic [31:0] length_word;
  logic [14:0] rest;
  logic [15:0] want, left_words;
  logic [4:0] words;

  assign position = len_q - left_q;
  assign left_words = {2'd0, left_q[15:2]};
  assign leading = first_q && markers_q && phase_q == 7'd0;
  assign length_word = leading ? aligned[63:32] : aligned[31:0];
  assign ulpdu_len = {length_word[7:0], length_word[15:8]};
  assign rest = first_q ? 15'((17'(ulpdu_len) + 17'd5) >> 2) + 15'd1 : rest_q;
  assign marker_lane = 7'd0 - phase_q;
  assign marker_near = markers_q && marker_lane < 7'(WORDS) && 15'(marker_lane) < rest;
  assign want = 16'(rest) + 16'(marker_near);
  assign cut_head = first_q && left_words < (leading ? 16'd2 : 16'd1);
  assign partial = cut_head || want > left_words;
  assign last = partial || want <= 16'(WORDS);
  assign seg_last = partial || (last && left_q == {want[13:0], 2'b00});

  always_comb begin
    words = 5'(WORDS);
    if (cut_head || left_words < 16'(WORDS)) words = cut_head ? {4'd0, left_words[0]} : left_words[4:0];
    if (!partial && want <= 16'(WORDS)) words = want[4:0];
  end
  assign marker = marker_near && marker_lane < 7'(words);

  // A beat goes out when all its lanes are here.
  logic fire, out_ready, wrap;
  logic [LANE_W:0] next_lane;
  assign fire = active_q && held_q && out_ready && (lane_q == '0 || held_last_q || pl_valid_i);
  assign next_lane = {1'b0, lane_q} + (LANE_W + 1)'(words);
  assign wrap = next_lane[LANE_W];

  // The held beat is used up, and the next one (perhaps of the next segment) takes its place; or the rest is thrown away.
  logic used_up, throw;
  assign used_up = fire && (seg_last ? held_last_q : wrap);
  assign throw = drain_q || (fire && seg_last && !held_last_q);
  assign pl_ready_o = !held_q || used_up || throw;
  assign seg_ready_o = !active_q || (fire && seg_last);
  assign idle_o = !active_q && !drain_q && !fp_valid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      drain_q <= 1'b0;
      active_q <= 1'b0;
    end else begin
      if (throw) begin
        held_q <= 1'b0;
        drain_q <= !(pl_valid_i && pl_last_i);
      end else if (pl_ready_o) begin
        held_q <= pl_valid_i;
      end
      if (seg_ready_o) active_q <= seg_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pl_ready_o) begin
      held_data_q <= pl_data_i;
      held_last_q <= pl_last_i;
    end
    if (fire) begin
      lane_q <= next_lane[LANE_W-1:0];
      phase_q <= phase_q + 7'(words);
      left_q <= left_q - {9'd0, words, 2'b00};
      rest_q <= rest - 15'(words) + 15'(marker);
      first_q <= last;
      if (first_q) begin
        offset_q <= position;
        header_q <= position + (leading ? 16'd4 : 16'd0);
      end
    end
    if (seg_ready_o && seg_valid_i) begin
      lane_q <= '0;
      phase_q <= seg_phase_i;
      markers_q <= seg_markers_i;
      len_q <= seg_len_i;
      left_q <= seg_len_i;
      first_q <= 1'b1;
    end
  end

  fpdu_beat_t beat_d, beat_q;
  logic out_valid_q;
  logic [DATA_W-1:0] out_data_q;

  assign beat_d.first = first_q;
  assign beat_d.last = last;
  assign beat_d.partial = partial;
  assign beat_d.seg_last = seg_last;
  assign beat_d.marker = marker;
  assign beat_d.lane = 4'(marker_lane);
  assign beat_d.distance = (first_q ? 16'd0 : position - header_q) + {7'd0, marker_lane, 2'b00};
  assign beat_d.words = words;
  assign beat_d.offset = first_q ? position : offset_q;

  assign out_ready = !out_valid_q || fp_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else if (out_ready) out_valid_q <= fire;
  end
  always_ff @(posedge clk_i) begin
    if (out_ready) begin
      out_data_q <= aligned;
      beat_q <= beat_d;
    end
  end
  assign fp_valid_o = out_valid_q;
  assign fp_data_o = out_data_q;
  assign fp_beat_o = beat_q;

  // The segment's length says all; the upper half of the window is only there to be shifted down.
  logic unused;
  assign unused = ^{pl_count_i, window[2*DATA_W-1:DATA_W], length_word[31:16]};

`ifndef SYNTHESIS
  initial begin
    assert (DATA_W == 128 || DATA_W == 256 || DATA_W == 512)
    else $fatal(1, "walk_framer: DATA_W must be 128, 256 or 512");
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      if (seg_valid_i && seg_ready_o) assert (seg_len_i != 16'd0);
      if (pl_valid_i && !pl_last_i) assert (pl_count_i == COUNT_W'(DATA_W / 8));
      // The beats agree with the length: a segment's last word is in its last beat.
      if (fire && held_last_q && !seg_last) assert (32'(next_lane) <= WORDS);
      if (fire && words == 5'd0) assert (partial);
    end
  end
`endif
endmodule
