// Proves of walk_pack: what comes out is the payload of each FPDU, packed from lane 0 of a beat of its own, in order, each word once
// and unchanged (any one, `mark_i` and `lane_i`, is followed); the tail tells how many beats that is, and what the FPDU was.
//
// Payload is what lies between header and pad, by the length field in the FPDU's first two bytes and its T bit; of an FPDU that is cut
// off, what came of it. A whole FPDU has as many words as its length field says (walk_framer). Words are counted in the FPDU.

module walk_pack_formal
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W = 128,
  localparam int unsigned BYTES  = DATA_W / 8,
  localparam int unsigned WORDS  = DATA_W / 32,
  localparam int unsigned LANE_W = $clog2(WORDS)
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    st_valid_i,
  input logic       [DATA_W-1:0] st_data_i,
  input fpdu_beat_t              st_any_i,
  input logic                    st_bad_marker_i,
  input logic                    mark_i,
  input logic       [LANE_W-1:0] lane_i
);

  fpdu_beat_t beat;
  logic pk_valid, tail_valid, idle;
  logic       [DATA_W-1:0] pk_data;
  fpdu_tail_t              tail;

  walk_pack #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .st_valid_i,
    .st_data_i,
    .st_beat_i   (beat),
    .st_bad_marker_i,
    .pk_valid_o  (pk_valid),
    .pk_data_o   (pk_data),
    .tail_valid_o(tail_valid),
    .tail_o      (tail),
    .idle_o      (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the FPDU that comes in
  typedef struct packed {
    logic             first;
    logic             last;
    logic             partial;
    logic             kept;
    logic             seg_last;
    logic             bad_marker;  // up to this beat
    logic             bad_pad;
    logic             marker;      // of this beat alone
    logic             pad_here;
    logic             pad;
    logic             header;      // the ULPDU is as long as its header
    logic [14:0]      earlier;     // payload words in front of this beat's
    logic [2:0] from;              // the lane of the first one
    logic [4:0]       words;       // of payload
    logic [15:0]      bytes;       // of the whole payload, by the length field
  } shadow_t;

  logic first_q, was_last_q, tagged_q, is_tagged, bad_marker_q, bad_pad_q;
  logic [15:0] len_q, len, head;
  logic [14:0] pos_q, pos, payload_q, behind, begins, ends, reach, from, until_word;
  logic [31:0] pad_word;
  logic pad_here, bad_pad;
  shadow_t in;

  // The first beat of an FPDU is the one behind a last one.
  always_comb begin
    beat       = st_any_i;
    beat.first = first_q;
  end
  assign pos        = first_q ? '0 : pos_q;
  assign len        = first_q ? {st_data_i[7:0], st_data_i[15:8]} : len_q;
  assign is_tagged  = first_q ? st_data_i[23] : tagged_q;
  assign head       = is_tagged ? 16'd14 : 16'd18;
  assign begins     = is_tagged ? 15'd4 : 15'd5;
  assign ends       = 15'((17'(len) + 17'd5) >> 2);  // length field and ULPDU, in words
  assign behind     = 15'((17'(len) + 17'd9) >> 2);  // with the CRC
  assign reach      = pos + 15'(beat.words);
  assign from       = begins > pos ? begins : pos;
  assign until_word = ends < reach ? ends : reach;
  assign pad_here   = ends > pos && ends <= reach;
  assign pad_word   = st_data_i[{LANE_W'(ends-pos-15'd1), 5'd0}+:32];
  // The ULPDU ends in byte len + 1 of the FPDU.
  always_comb begin
    bad_pad = 1'b0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (pad_here && 17'({ends - 15'd1, 2'b00}) + 17'(i) > 17'(len) + 17'd1 && pad_word[8*i+:8] != '0) bad_pad = 1'b1;
    end
  end
  always_comb begin
    in.first      = first_q;
    in.last       = beat.last;
    in.partial    = beat.partial;
    in.kept       = beat.kept;
    in.seg_last   = beat.seg_last;
    in.bad_marker = st_bad_marker_i || (!first_q && bad_marker_q);
    in.bad_pad    = bad_pad || (!first_q && bad_pad_q);
    in.earlier    = first_q ? '0 : payload_q;
    in.words      = until_word > from ? 5'(until_word - from) : '0;
    in.from       = begins > pos ? 3'(begins - pos) : '0;
    in.marker     = st_bad_marker_i;
    in.pad_here   = pad_here;
    in.pad        = bad_pad;
    in.header     = len >= head;
    in.bytes      = len - head;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q    <= 1'b1;
      was_last_q <= 1'b0;
    end else begin
      was_last_q <= st_valid_i && beat.last;
      if (st_valid_i) first_q <= beat.last;
    end
    if (st_valid_i) begin
      pos_q        <= reach;
      len_q        <= len;
      tagged_q     <= is_tagged;
      payload_q    <= in.earlier + 15'(in.words);
      bad_marker_q <= in.bad_marker;
      bad_pad_q    <= in.bad_pad;
    end
  end

  // ---------------------------------------------------------------- what is inside: at most four beats' words and what was kept
  localparam int unsigned HELD_W = LANE_W + 5;
  logic    [3:1]             valid_q;
  shadow_t [3:1]             at_q;
  logic    [3:1][HELD_W-1:0] owed;  // words that make beats, those that fill up an FPDU's last one included
  logic [HELD_W-1:0] in_owed, inside_q, left, ahead_q;
  logic followed_q, here, ended_q;
  logic [31:0] word_q;
  logic [ 2:0] silent_q;

  function automatic logic [LANE_W-1:0] keeping(input shadow_t beat);  // words of a beat that is not full, behind this one
    return LANE_W'(beat.earlier + 15'(beat.words));
  endfunction
  function automatic logic [HELD_W-1:0] making(input logic valid, input shadow_t beat);
    making = valid ? HELD_W'(beat.words) : '0;
    if (valid && beat.last && keeping(beat) != '0) making = making + HELD_W'(WORDS) - HELD_W'(keeping(beat));
  endfunction

  assign in_owed = making(st_valid_i, in);
  assign left    = inside_q - (pk_valid ? HELD_W'(WORDS) : '0);
  assign here    = followed_q && ahead_q < HELD_W'(WORDS);
  for (genvar i = 1; i < 4; i++) begin : gen_owed
    assign owed[i] = making(valid_q[i], at_q[i]);
  end

  always_ff @(posedge clk_i) begin
    at_q <= {at_q[2:1], in};
    if (!rst_ni) begin
      valid_q    <= '0;
      inside_q   <= '0;
      followed_q <= 1'b0;
      silent_q   <= '0;
    end else begin
      valid_q  <= {valid_q[2:1], st_valid_i};
      inside_q <= left + in_owed;
      if (followed_q) begin
        if (pk_valid) begin
          ahead_q    <= ahead_q - HELD_W'(WORDS);
          followed_q <= !here;
        end
      end else if (st_valid_i && mark_i && 5'(lane_i) >= 5'(in.from) && 5'(lane_i) < 5'(in.from) + in.words) begin
        followed_q <= 1'b1;
        ahead_q    <= left + HELD_W'(lane_i) - HELD_W'(in.from);
        word_q     <= st_data_i[{lane_i, 5'd0}+:32];
      end
      silent_q <= (pk_valid || inside_q < HELD_W'(WORDS)) ? '0 : silent_q + 1'b1;
    end
  end

  always_comb begin
    a_words : assume (!st_valid_i || (beat.words <= 5'(WORDS) && (beat.last || beat.words >= 5'(WORDS - 1))));
    a_gap : assume (!st_valid_i || !was_last_q);
    a_segment : assume (17'(pos) + 17'(beat.words) <= 17'd16384);
    // walk_framer: the FPDU is whole, or it is cut off.
    a_whole : assume (!st_valid_i || (beat.last && (beat.partial ? reach <= behind : reach == behind)) || (!beat.last && reach < behind));
    a_len : assume (!st_valid_i || !first_q || beat.words != '0 || beat.partial);
    if (rst_ni) begin
      nothing_invented : assert (!pk_valid || inside_q >= HELD_W'(WORDS));
      unchanged : assert (!(pk_valid && here) || pk_data[{ahead_q[LANE_W-1:0], 5'd0}+:32] == word_q);
      goes_on : assert (silent_q <= 3'd3);
      nothing_left : assert (!idle || inside_q < HELD_W'(WORDS));
      tail_when : assert (tail_valid == (valid_q[2] && at_q[2].last));
      tail_same :
      assert (!tail_valid || (tail.partial == at_q[2].partial && tail.kept == at_q[2].kept && tail.seg_last == at_q[2].seg_last && tail.bad_marker == at_q[2].bad_marker));
      tail_pad : assert (!(tail_valid && !tail.partial) || tail.nonzero_pad == at_q[2].bad_pad);
      // Beats of an FPDU are those of its words; of a whole one with a header, those of its payload.
      tail_beats : assert (!tail_valid || tail.beats == 12'((at_q[2].earlier + 15'(at_q[2].words) + 15'(WORDS - 1)) >> LANE_W));
      payload_beats :
      assert (!(tail_valid && !tail.partial && at_q[2].header) || tail.beats == 12'((17'(at_q[2].bytes) + 17'(BYTES - 1)) >> (LANE_W + 2)));
    end
  end

  // ---------------------------------------------------------------- where everything is
  // The beat that has left stage 1, 2, 3 last; a beat goes on from the one before it.
  shadow_t [       3:1] past_q;
  shadow_t              latest;
  logic    [LANE_W-1:0] kept_q;  // words of a beat that is not full, behind stage 3
  logic [HELD_W-1:0] out_words, base_3, base_2, base_1, at_2, at_1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      kept_q <= '0;
      for (int unsigned i = 1; i < 4; i++) begin
        past_q[i]      <= '0;
        past_q[i].last <= 1'b1;
      end
    end else begin
      if (valid_q[3]) kept_q <= at_q[3].last ? '0 : LANE_W'(at_q[3].earlier + 15'(at_q[3].words));
      for (int unsigned i = 1; i < 4; i++) begin
        if (valid_q[i]) past_q[i] <= at_q[i];
      end
    end
  end
  assign latest    = valid_q[1] ? at_q[1] : past_q[1];
  // Words in front of those in stage 3, 2, 1.
  assign out_words = (pk_valid ? HELD_W'(WORDS) : '0) + (dut.spill_q ? HELD_W'(WORDS) : '0);
  assign base_3    = out_words + HELD_W'(kept_q);
  assign base_2    = base_3 + owed[3];
  assign base_1    = base_2 + owed[2];
  assign at_2      = ahead_q - base_2;
  assign at_1      = ahead_q - base_1;

  function automatic logic follows(input shadow_t beat, input shadow_t prior);
    return beat.first == prior.last && (beat.first ? beat.earlier == '0 && beat.bad_marker == beat.marker && beat.bad_pad == beat.pad :
           beat.earlier == prior.earlier + 15'(prior.words) && beat.bad_marker == (beat.marker || prior.bad_marker) &&
           beat.bad_pad == (beat.pad || prior.bad_pad) && (!beat.pad_here || !prior.bad_pad));
  endfunction
  function automatic logic [LANE_W+1:0] filled(input shadow_t beat);
    return (LANE_W + 2)'(LANE_W'(beat.earlier)) + (LANE_W + 2)'(beat.words);
  endfunction
  // Payload words of an FPDU in front of its word `at`.
  function automatic logic [14:0] so_far(input logic [14:0] at, input logic [14:0] header, input logic [14:0] payload_end);
    return at <= header || payload_end <= header ? '0 : (at < payload_end ? at : payload_end) - header;
  endfunction

  always_comb begin
    if (rst_ni) begin
      inv_valid : assert (dut.valid_q == valid_q);
      inv_gap : assert (!(valid_q[2] && at_q[2].last && valid_q[1]) && !(valid_q[3] && at_q[3].last && valid_q[2]));
      inv_was_last : assert (was_last_q == (valid_q[1] && at_q[1].last));
      inv_inside : assert (inside_q == base_1 + owed[1]);
      inv_followed : assert (!followed_q || ahead_q < inside_q);
      // The input: `begins` and `ends` are the FPDU's.
      inv_first : assert (first_q == latest.last);
      inv_latest :
      assert (first_q || (payload_q == latest.earlier + 15'(latest.words) && bad_marker_q == latest.bad_marker && bad_pad_q == latest.bad_pad));
      inv_so_far : assert (first_q || payload_q == so_far(pos_q, begins, ends));
      inv_pad_once : assert (first_q || !bad_pad_q || pos_q >= ends);
      inv_to_end : assert (first_q || dut.to_end_q == (ends > pos_q ? ends - pos_q : 15'd0));
      inv_to_begin : assert (first_q || dut.to_begin_q == (begins > pos_q ? 3'(begins - pos_q) : 3'd0));
      inv_used : assert (first_q || dut.used_q == 2'(len_q + 16'd2));
      inv_pos : assert (first_q || (pos_q != '0 && pos_q < behind));
      // From stage to stage.
      inv_follows_1 : assert (!valid_q[1] || follows(at_q[1], past_q[1]));
      inv_follows_2 : assert (!valid_q[2] || follows(at_q[2], past_q[2]));
      inv_follows_3 : assert (!valid_q[3] || follows(at_q[3], past_q[3]));
      inv_past_1 : assert (past_q[1] == (valid_q[2] ? at_q[2] : past_q[2]));
      inv_past_2 : assert (past_q[2] == (valid_q[3] ? at_q[3] : past_q[3]));
      inv_kept : assert (kept_q == (past_q[3].last ? '0 : LANE_W'(past_q[3].earlier + 15'(past_q[3].words))));
      // Stage 1.
      inv_1 :
      assert (!valid_q[1] || (dut.low_q == at_q[1].from && dut.payload == at_q[1].words &&
                     {dut.mark1_q.first, dut.mark1_q.last, dut.mark1_q.partial, dut.mark1_q.kept, dut.mark1_q.seg_last, dut.mark1_q.bad_marker} ==
                     {at_q[1].first, at_q[1].last, at_q[1].partial, at_q[1].kept, at_q[1].seg_last, at_q[1].marker}));
      inv_1_pad :
      assert (!valid_q[1] || (dut.pad_here_q == at_q[1].pad_here && (dut.pad_here_q && (dut.nonzero_pad & dut.pad_word_q) != '0) == at_q[1].pad));
      inv_1_word :
      assert (!(followed_q && ahead_q >= base_1) || (5'(at_1) < at_q[1].words &&
                          dut.data1_q[{LANE_W'(at_1) + LANE_W'(at_q[1].from), 5'd0} +: 32] == word_q));
      inv_1_kept : assert (past_q[1].last || (dut.kept_q == LANE_W'(past_q[1].earlier + 15'(past_q[1].words))));
      inv_1_bad : assert ((past_q[1].last && !valid_q[2]) || dut.nonzero_pad_q == past_q[1].bad_pad);
      // Stage 2.
      inv_2 :
      assert (!valid_q[2] || (dut.kept2_q == LANE_W'(at_q[2].earlier) && dut.turn_q == LANE_W'(at_q[2].from) - LANE_W'(at_q[2].earlier) &&
                     {dut.mark2_q.first, dut.mark2_q.last, dut.mark2_q.partial, dut.mark2_q.kept, dut.mark2_q.seg_last, dut.mark2_q.bad_marker} ==
                     {at_q[2].first, at_q[2].last, at_q[2].partial, at_q[2].kept, at_q[2].seg_last, at_q[2].marker}));
      inv_2_full :
      assert (!valid_q[2] || (dut.full_q == (filled(
          at_q[2]
      ) >= (LANE_W + 2)'(WORDS)) && dut.over_q == (filled(
          at_q[2]
      ) > (LANE_W + 2)'(WORDS)) && dut.emit_q == (filled(
          at_q[2]
      ) >= (LANE_W + 2)'(WORDS) || (at_q[2].last && filled(
          at_q[2]
      ) != '0))));
      inv_2_word :
      assert (!(followed_q && ahead_q >= base_2 && ahead_q < base_1 && 5'(at_2) < at_q[2].words) ||
                          dut.data2_q[{LANE_W'(at_2) + LANE_W'(at_q[2].from), 5'd0} +: 32] == word_q);
      inv_2_beats :
      assert (past_q[2].last || (dut.beats_q == 12'((past_q[2].earlier + 15'(past_q[2].words)) >> LANE_W) && dut.bad_marker_q == past_q[2].bad_marker));
      // Stage 3, and the words kept.
      inv_3 :
      assert (!valid_q[3] || (dut.kept3_q == LANE_W'(at_q[3].earlier) && dut.full3_q == (filled(
          at_q[3]
      ) >= (LANE_W + 2)'(WORDS)) && dut.emit3_q == (filled(
          at_q[3]
      ) >= (LANE_W + 2)'(WORDS) || (at_q[3].last && filled(
          at_q[3]
      ) != '0)) && dut.spill3_q == (at_q[3].last && filled(
          at_q[3]
      ) > (LANE_W + 2)'(WORDS))));
      inv_3_word :
      assert (!(followed_q && ahead_q >= base_3 && ahead_q < base_2 && 5'(ahead_q - base_3) < at_q[3].words) ||
                          dut.turned_q[{LANE_W'(ahead_q), 5'd0} +: 32] == word_q);
      inv_real :
      assert (!followed_q || ahead_q < base_3 || (ahead_q < base_2 ? 5'(ahead_q - base_3) < at_q[3].words :
                        ahead_q >= base_1 || 5'(at_2) < at_q[2].words));
      inv_kept_word :
      assert (!(followed_q && ahead_q < base_3 && !(pk_valid && ahead_q < HELD_W'(WORDS))) || dut.keep_q[{LANE_W'(ahead_q), 5'd0}+:32] == word_q);
      inv_spill : assert (!dut.spill_q || (pk_valid && past_q[3].last && kept_q == '0 && !valid_q[3]));
      // It goes on: words that make a beat are a stage further with each cycle.
      inv_soon_1 : assert (silent_q < 3'd1 || base_1 >= HELD_W'(WORDS));
      inv_soon_2 : assert (silent_q < 3'd2 || base_2 >= HELD_W'(WORDS));
      inv_soon_3 : assert (silent_q < 3'd3 || out_words != '0);
    end
  end

  for (genvar i = 1; i < int'(4); i++) begin : gen_each_1
    always_comb begin
      if (rst_ni) begin
        inv_words : assert (!valid_q[i] || at_q[i].words <= 5'(WORDS));
        inv_whole :
        assert (!(valid_q[i] && at_q[i].last && !at_q[i].partial && at_q[i].header) ||
                           17'(at_q[i].earlier + 15'(at_q[i].words)) == (17'(at_q[i].bytes) + 17'd3) >> 2);
      end
    end
  end

endmodule
