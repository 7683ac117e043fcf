// Packs the DDP payload of each FPDU into full beats from lane 0: drops length field, DDP header, pad word excess and CRC.
// At the FPDU's end `tail_valid_o` (one cycle, no back-pressure) says what was seen and how many beats were made; they may
// still be on their way out. Handshake: ready/valid; one beat per cycle, and one cycle more when the last words of an FPDU
// spill over.

module walk_pack
  import walk_pkg::*;
#(
    parameter int unsigned DATA_W = 512
) (
    input logic clk_i,
    input logic rst_ni,

    input logic st_valid_i,
    output logic st_ready_o,
    input logic [DATA_W-1:0] st_data_i,
    input fpdu_beat_t st_beat_i,
    input logic st_bad_marker_i,

    output logic pk_valid_o,
    input logic pk_ready_i,
    output logic [DATA_W-1:0] pk_data_o,

    output logic tail_valid_o,
    output fpdu_tail_t tail_o
);
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(WORDS);

  // What the first word says; kept for the FPDU's other beats.
  logic is_tagged, tagged_q;
  logic [15:0] ulpdu_len, ulpdu_len_q, head_bytes, payload_len;
  logic [14:0] at, at_q, head_words, end_word, pad_word;
  logic first;

  assign first = st_beat_i.first;
  assign is_tagged = first ? st_data_i[23] : tagged_q;
  assign ulpdu_len = first ? {st_data_i[7:0], st_data_i[15:8]} : ulpdu_len_q;
  assign head_bytes = is_tagged ? 16'd14 : 16'd18;
  assign head_words = is_tagged ? 15'd4 : 15'd5;
  assign payload_len = ulpdu_len > head_bytes ? ulpdu_len - head_bytes : 16'd0;
  assign end_word = head_words + 15'((17'(payload_len) + 17'd3) >> 2);
  assign pad_word = 15'((17'(ulpdu_len) + 17'd1) >> 2);
  assign at = first ? 15'd0 : at_q;

  // Payload words of this beat are lanes [low, high).
  logic [4:0] low, high, payload;
  always_comb begin
    low = at < head_words ? 5'(head_words - at) : 5'd0;
    high = at >= end_word ? 5'd0 : (end_word - at < 15'(st_beat_i.words) ? 5'(end_word - at) : st_beat_i.words);
    payload = high > low ? high - low : 5'd0;
  end

  // They go behind the words kept from before.
  logic [LANE_W-1:0] kept_q, kept;
  logic [DATA_W-1:0] keep_q, turned, merged;
  logic [2*DATA_W-1:0] twice;
  logic [LANE_W-1:0] turn;
  logic [LANE_W+1:0] filled;
  assign kept = first ? '0 : kept_q;
  assign turn = LANE_W'(low) - kept;  // to the right
  assign twice = {st_data_i, st_data_i} >> {turn, 5'd0};
  assign turned = twice[DATA_W-1:0];
  assign filled = (LANE_W + 2)'(kept) + (LANE_W + 2)'(payload);
  always_comb begin
    for (int unsigned i = 0; i < WORDS; i++) begin
      merged[32*i+:32] = LANE_W'(i) < kept ? keep_q[32*i+:32] : turned[32*i+:32];
    end
  end

  logic fire, out_ready, full, over, emit, spill_q;
  assign full = filled >= (LANE_W + 2)'(WORDS);
  assign over = filled > (LANE_W + 2)'(WORDS);
  assign out_ready = !pk_valid_o || pk_ready_i;
  assign st_ready_o = out_ready && !spill_q;
  assign fire = st_valid_i && st_ready_o;
  assign emit = full || (st_beat_i.last && filled != '0);

  // Pad bytes: behind the ULPDU's end in its last word (RFC 5044 §4.1).
  logic [14:0] pad_lane;
  logic [DATA_W-1:0] pad_shifted;
  logic nonzero_pad, nonzero_pad_q, bad_marker, bad_marker_q;
  logic [1:0] used;
  assign pad_lane = pad_word - at;
  assign pad_shifted = st_data_i >> {LANE_W'(pad_lane), 5'd0};
  assign used = 2'(ulpdu_len + 16'd2);
  always_comb begin
    nonzero_pad = nonzero_pad_q && !first;
    if (pad_word >= at && pad_lane < 15'(st_beat_i.words)) begin
      unique case (used)
        2'd1: nonzero_pad = |pad_shifted[31:8];
        2'd2: nonzero_pad = |pad_shifted[31:16];
        2'd3: nonzero_pad = |pad_shifted[31:24];
        default: nonzero_pad = 1'b0;
      endcase
    end
  end
  assign bad_marker = st_bad_marker_i || (bad_marker_q && !first);

  logic [11:0] beats, beats_q;
  assign beats = (first ? 12'd0 : beats_q) + 12'(emit);

  assign tail_valid_o = fire && st_beat_i.last;
  assign tail_o.partial = st_beat_i.partial;
  assign tail_o.seg_last = st_beat_i.seg_last;
  assign tail_o.bad_marker = bad_marker;
  assign tail_o.nonzero_pad = nonzero_pad;
  assign tail_o.beats = beats + 12'(over);

  logic out_valid_q;
  logic [DATA_W-1:0] out_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      spill_q <= 1'b0;
    end else begin
      if (out_ready) out_valid_q <= spill_q || (fire && emit);
      if (fire) spill_q <= st_beat_i.last && over;
      else if (out_ready) spill_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_ready) out_data_q <= spill_q ? keep_q : merged;
    if (fire) begin
      tagged_q <= is_tagged;
      ulpdu_len_q <= ulpdu_len;
      at_q <= at + 15'(st_beat_i.words);
      kept_q <= filled[LANE_W-1:0];
      keep_q <= full ? turned : merged;
      beats_q <= beats;
      nonzero_pad_q <= nonzero_pad;
      bad_marker_q <= bad_marker;
    end
  end
  assign pk_valid_o = out_valid_q;
  assign pk_data_o = out_data_q;

  logic unused;
  assign unused = ^{payload, twice[2*DATA_W-1:DATA_W], pad_shifted[DATA_W-1:32], pad_shifted[7:0], st_beat_i.marker, st_beat_i.lane,
                    st_beat_i.distance, st_beat_i.offset};
endmodule
