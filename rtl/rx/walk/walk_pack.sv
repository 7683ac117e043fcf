// Packs the DDP payload of each FPDU into full beats from lane 0: drops length field, DDP header, excess of the pad word, and CRC.
//
// Handshake: No backpressure: one beat a cycle in. The cycle behind an FPDU's last beat has to be without one, for the words that spill over. Beats
//            come out four cycles later, a spilled one five. `tail_valid_o` is a pulse at the FPDU's end, two cycles before its last beat, with the
//            number of beats.
// Pipeline:  stage | registers                     | what happens
//            1     | to_begin_q, to_end_q, data1_q | which words of the beat are payload, and where the pad is
//            2     | kept_q, turn_q, full_q        | how many words are kept from before, and how the beat continues them
//            3     | turned_q                      | the beat is rotated to its place
//            4     | keep_q, out_data_q            | it is put behind the words kept

`include "weft_assert.svh"

module walk_pack
  import walk_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,

  input logic                    st_valid_i,
  input logic       [DATA_W-1:0] st_data_i,
  input fpdu_beat_t              st_beat_i,
  input logic                    st_bad_marker_i,

  output logic              pk_valid_o,
  output logic [DATA_W-1:0] pk_data_o,

  output logic       tail_valid_o,
  output fpdu_tail_t tail_o,

  output logic idle_o
);
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(WORDS);

  typedef struct packed {
    logic first;
    logic last;
    logic partial;
    logic kept;
    logic seg_last;
    logic marker;
    logic bad_marker;
  } mark_t;

  logic [2:0] valid_q;  // a beat in stage 2, 3, 4
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], st_valid_i};
  end

  // ------------------------------------------------------------------ 1: payload in the beat
  // Words from this beat's begin to the payload's (pad included) end and begin. The pad is in the last one of them.
  // Without payload that is the header's last word.
  logic [14:0] to_end, to_end_q;
  logic [2:0] to_begin, to_begin_q;
  logic [15:0] ulpdu_len;
  logic [1:0] used, used_q;
  logic [4:0] words;
  assign words     = st_beat_i.words;
  assign ulpdu_len = {st_data_i[7:0], st_data_i[15:8]};
  assign to_end    = st_beat_i.first ? 15'((17'(ulpdu_len) + 17'd5) >> 2) : to_end_q;
  assign to_begin  = st_beat_i.first ? (st_data_i[23] ? 3'd4 : 3'd5) : to_begin_q;
  assign used      = st_beat_i.first ? 2'(ulpdu_len + 16'd2) : used_q;

  logic [DATA_W-1:0] data1_q, data2_q;
  mark_t mark1_q, mark2_q;
  logic [      4:0] high_q;
  logic [      2:0] low_q;
  logic             pad_here_q;
  logic [WORDS-1:0] pad_word_q;  // with pad_here_q: in which
  always_ff @(posedge clk_i) begin
    if (st_valid_i) begin
      to_end_q   <= to_end > 15'(words) ? to_end - 15'(words) : 15'd0;
      to_begin_q <= 5'(to_begin) > words ? 3'(5'(to_begin) - words) : 3'd0;
      used_q     <= used;
    end
    data1_q <= st_data_i;
    mark1_q <= '{
        first: st_beat_i.first,
        last: st_beat_i.last,
        partial: st_beat_i.partial,
        kept: st_beat_i.kept,
        seg_last: st_beat_i.seg_last,
        marker: st_beat_i.marker,
        bad_marker: st_bad_marker_i
    };
    // Payload words are lanes [low, high).
    low_q <= to_begin;
    high_q <= to_end < 15'(words) ? to_end[4:0] : words;
    pad_here_q <= to_end != 15'd0 && to_end <= 15'(words);
    for (int unsigned i = 0; i < WORDS; i++) pad_word_q[i] <= LANE_W'(to_end) == LANE_W'(i + 1);
  end

  // ------------------------------------------------------------------ 2: continuation of the beats before
  logic [4:0] payload;
  logic [LANE_W-1:0] kept, kept_q, kept2_q, turn_q;
  logic [LANE_W+1:0] filled;
  logic full, full_q, over_q, emit_q;
  assign payload = high_q > 5'(low_q) ? high_q - 5'(low_q) : 5'd0;
  assign kept    = mark1_q.first ? '0 : kept_q;
  assign filled  = (LANE_W + 2)'(kept) + (LANE_W + 2)'(payload);
  assign full    = filled >= (LANE_W + 2)'(WORDS);

  // Pad bytes: behind the ULPDU's end in its last word (RFC 5044 §4.1). Checked in each word.
  logic [WORDS-1:0] nonzero_pad;
  logic             nonzero_pad_q;
  always_comb begin
    for (int unsigned i = 0; i < WORDS; i++) begin
      unique case (used_q)
        2'd1:    nonzero_pad[i] = |data1_q[32*i+8+:24];
        2'd2:    nonzero_pad[i] = |data1_q[32*i+16+:16];
        2'd3:    nonzero_pad[i] = |data1_q[32*i+24+:8];
        default: nonzero_pad[i] = 1'b0;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[0]) kept_q <= filled[LANE_W-1:0];
    data2_q <= data1_q;
    mark2_q <= mark1_q;
    turn_q  <= LANE_W'(low_q) - kept;  // to the right
    kept2_q <= kept;
    full_q  <= full;
    over_q  <= filled > (LANE_W + 2)'(WORDS);
    emit_q  <= full || (mark1_q.last && filled != '0);
    if (valid_q[0] && (mark1_q.first || pad_here_q)) nonzero_pad_q <= pad_here_q && (nonzero_pad & pad_word_q) != '0;
  end

  // ------------------------------------------------------------------ 3: rotated
  logic [  DATA_W-1:0] turned_q;
  logic [2*DATA_W-1:0] twice;
  logic [  LANE_W-1:0] kept3_q;
  logic full3_q, emit3_q, spill3_q, marked, marked_q, bad_marker, bad_marker_q;
  logic [11:0] beats, beats_q;
  assign twice      = {data2_q, data2_q} >> {turn_q, 5'd0};
  assign beats      = (mark2_q.first ? 12'd0 : beats_q) + 12'(emit_q);
  assign marked     = mark2_q.marker || (marked_q && !mark2_q.first);
  assign bad_marker = mark2_q.bad_marker || (bad_marker_q && !mark2_q.first);

  always_ff @(posedge clk_i) begin
    if (valid_q[1]) begin
      beats_q      <= beats;
      marked_q     <= marked;
      bad_marker_q <= bad_marker;
    end
    turned_q <= twice[DATA_W-1:0];
    kept3_q  <= kept2_q;
    full3_q  <= full_q;
    emit3_q  <= emit_q;
    spill3_q <= mark2_q.last && over_q;
  end

  assign tail_valid_o       = valid_q[1] && mark2_q.last;
  assign tail_o.partial     = mark2_q.partial;
  assign tail_o.kept        = mark2_q.kept;
  assign tail_o.seg_last    = mark2_q.seg_last;
  assign tail_o.marked      = marked;
  assign tail_o.bad_marker  = bad_marker;
  assign tail_o.nonzero_pad = nonzero_pad_q;
  assign tail_o.beats       = beats + 12'(over_q);

  // ------------------------------------------------------------------ 4: behind the words kept
  logic [DATA_W-1:0] keep_q, merged, out_data_q;
  logic out_valid_q, spill_q;
  always_comb begin
    for (int unsigned i = 0; i < WORDS; i++) begin
      merged[32*i+:32] = LANE_W'(i) < kept3_q ? keep_q[32*i+:32] : turned_q[32*i+:32];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      spill_q     <= 1'b0;
    end else begin
      out_valid_q <= spill_q || (valid_q[2] && emit3_q);
      spill_q     <= valid_q[2] && spill3_q;
    end
  end
  always_ff @(posedge clk_i) begin
    out_data_q <= spill_q ? keep_q : merged;
    if (valid_q[2]) keep_q <= full3_q ? turned_q : merged;
  end
  assign pk_valid_o = out_valid_q;
  assign pk_data_o  = out_data_q;
  assign idle_o     = !st_valid_i && valid_q == '0 && !spill_q && !pk_valid_o;

  logic unused;
  assign unused = ^{payload, twice[2*DATA_W-1:DATA_W], st_beat_i.lane, st_beat_i.distance, st_beat_i.offset};

  // Room for the words that spill over.
  `WEFT_ASSERT(room_behind_last, valid_q[0] && mark1_q.last -> !st_valid_i)
endmodule
