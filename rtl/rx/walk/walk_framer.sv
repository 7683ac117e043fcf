// FPDU delineation (RFC 5044 §4.1, §4.3): cuts a segment's payload into FPDUs, each beginning in lane 0 of a beat.
//
// Handshake: ready/valid for segments and payload, both readies are registers. Beats of FPDUs are registered, sent while `go_i`, and always taken. An
//            FPDU begins (`begin_o`) with `room_i`. `room_i` and `go_i` are registers of the user. An FPDU takes one cycle for each beat and two
//            before its first. A segment's start is taken while the one before is in hand, and follows it without a gap.
// Pipeline:  state  | registers           | what happens                                       | left when
//            Idle   | left_q, phase_q     | a segment is taken                                 | a start is here, or in wait_q
//            Length | ulpdu_len_q, fits_q | the FPDU's length field; limits for its first beat | it is held, and `room_i`
//            First  | beat_q, rest_q      | the first beat is judged                           | always
//            Beats  | out_*               | a beat is sent, and the next one judged            | the FPDU's last beat
//            Throw  |                     | the rest of the segment is discarded               | its last beat
// Why:       A beat is judged (last one? how many words?) in the cycle before it is sent, so no length arithmetic is in the data path.
//            Two cycles at least without a beat follow an FPDU's last one; walk_pack depends on that.
//            Markers stay inside, as the CRC covers them, and are pointed out. The segment begins with an FPDU or the marker before it. An FPDU and
//            its markers are whole words, so words of 4 bytes are counted.
//            A segment's last FPDU has `seg_last`. What is not whole in the segment is sent as one FPDU with `partial`, of no words up to all but the
//            CRC; the rest is discarded.

`include "weft_assert.svh"

module walk_framer
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        seg_valid_i,
  output logic        seg_ready_o,
  input  logic [15:0] seg_len_i,
  input  logic        seg_markers_i,
  input  logic [ 6:0] seg_phase_i,    // words since the last place of a marker

  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,

  input  logic                    room_i,
  output logic                    begin_o,
  input  logic                    go_i,
  output logic                    fp_valid_o,
  output logic       [DATA_W-1:0] fp_data_o,
  output fpdu_beat_t              fp_beat_o,

  output logic idle_o
);
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(WORDS);

  typedef enum logic [2:0] {
    Idle,
    Length,  // an FPDU's length field
    First,   // its first beat is judged
    Beats,   // a beat is sent, and the next one judged
    Throw    // the rest of the segment is discarded
  } state_e;
  state_e state_q;

  // The next segment: the start in wait_q, or the one at the port.
  typedef struct packed {
    logic [15:0] len;
    logic        markers;
    logic [6:0]  phase;
  } start_t;
  start_t start, wait_q;
  logic waits_q, there, begins_seg;
  assign start = waits_q ? wait_q : '{len: seg_len_i, markers: seg_markers_i, phase: seg_phase_i};
  assign there = waits_q || seg_valid_i;

  // held: the beat with the next word to use, at lane lane_q; next: the beat behind it.
  logic held_q, held_last_q, next_valid, next_last, next_taken, used_up, throw;
  logic free_q;  // !held_q, for the data
  logic [DATA_W-1:0] held_data_q, next_data;
  logic [LANE_W-1:0] lane_q;

  stream_pair #(
    .WIDTH(DATA_W + 1)
  ) u_next (
    .clk_i,
    .rst_ni,
    .clear_i    (1'b0),
    .in_valid_i (pl_valid_i),
    .in_ready_o (pl_ready_o),
    .in_data_i  ({pl_last_i, pl_data_i}),
    .out_valid_o(next_valid),
    .out_ready_i(next_taken),
    .out_data_o ({next_last, next_data})
  );

  logic [2*DATA_W-1:0] window;
  assign window = {next_data, held_data_q} >> {lane_q, 5'd0};

  // ------------------------------------------------------------------ the next beat, judged
  typedef struct packed {
    logic       last;
    logic       partial;
    logic       seg_last;
    logic       marker;
    logic [4:0] words;
  } judged_t;

  // `want` words of the FPDU, `reaches` if that is not more than a beat; `left` words of the segment.
  function automatic judged_t judge(input logic [4:0] want, input logic reaches, input logic [13:0] left, input logic odd, input logic marker);
    logic few, whole;
    few            = left <= 14'(WORDS);
    whole          = reaches && (!few || want <= left[4:0]);
    judge.partial  = !whole && few;
    judge.last     = whole || few;
    judge.seg_last = few && (!whole || (want == left[4:0] && !odd));
    judge.words    = whole ? want : (few ? left[4:0] : 5'(WORDS));
    judge.marker   = marker;
  endfunction

  // Whether the beat has lane `lane`, if the FPDU ends in it with `rest` words.
  function automatic logic has_lane(input logic [4:0] rest, input logic [LANE_W-1:0] lane);
    has_lane = 5'(lane) < rest;
  endfunction

  typedef struct packed {
    logic       never;
    logic [3:0] most;
  } limit_t;

  // FPDUs that leave `off` - 2 words free: of the `words` of a beat, in a segment that has `left`.
  function automatic limit_t limit_of(input logic [13:0] left, input logic [4:0] words, input logic [4:0] off);
    limit_of = '{never: left < 14'(off), most: 4'(words - off)};
  endfunction

  // An FPDU of `length` bytes (below 64) has (length + 1) / 4 words and two more; are those `most` + 2 at most? As gates, two bits at a time: a carry
  // chain for so few bits is slower.
  function automatic logic at_most(input logic [5:0] length, input limit_t limit);
    logic [1:0] less, same;
    for (int unsigned i = 0; i < 2; i++) begin
      less[i] = (!length[2*i+3] && limit.most[2*i+1]) || (length[2*i+3] == limit.most[2*i+1] && !length[2*i+2] && limit.most[2*i]);
      same[i] = length[2*i+3] == limit.most[2*i+1] && length[2*i+2] == limit.most[2*i];
    end
    at_most = !limit.never && (less[1] || (same[1] && (less[0] || (same[0] && length[1:0] != 2'd3))));
  endfunction

  // The segment: `left_q` words are not sent yet, `behind_q` are behind the beat being sent.
  logic markers_q, odd_q, lead_q;  // lead_q: a marker is due
  logic [6:0] phase_q, phase, until_marker;
  logic [13:0] position_q, left_q, behind_q;
  // The FPDU: its length field as received, its words (without markers) behind the beat being sent.
  logic first_q, leading, leading_q, cut, cut_q, near_q;  // near_q: the marker's place is in the beat being judged
  logic [LANE_W:0] length_lane;
  logic [    31:0] length_word;
  logic [    15:0] ulpdu_len_q;
  logic [14:0] rest, rest_q;
  logic [4:0] few_rest, few_want, filled, filled_q;  // filled: the words if the FPDU does not end in its first beat
  logic few, few_q, long_len, near, marks, at_end, first_marker, first_whole, first_tight, next_marker;
  // The FPDU ends in the beat and in the segment; leaves a word there or more; ends before the marker's lane.
  limit_t whole_q, loose_q, before_q;
  logic [13:0] offset_q, distance_q;
  logic [LANE_W-1:0] marker_lane_q;
  logic [6-LANE_W:0] marker_beat_q;  // beats from the one being judged to the marker
  judged_t first_d, next_d, beat_q;

  assign leading = lead_q;
  assign cut = left_q == 14'd0 || (leading && left_q == 14'd1);
  assign length_lane = (LANE_W + 1)'(lane_q) + (LANE_W + 1)'(leading);
  assign length_word = 32'({next_data[31:0], held_data_q} >> {length_lane, 5'd0});
  assign phase = phase_q + 7'(beat_q.words);
  assign until_marker = 7'd0 - phase_q;
  assign rest = 15'((17'(ulpdu_len_q) + 17'd9) >> 2);
  // This beat has a marker if the FPDU reaches there. Both cases are judged in parallel.
  assign next_marker = near_q && (rest_q > 15'(WORDS) || has_lane(rest_q[4:0], marker_lane_q));
  assign next_d = next_marker ? judge(
      rest_q[4:0] + 5'd1, rest_q < 15'(WORDS), behind_q, odd_q, 1'b1
  ) : judge(
      rest_q[4:0], rest_q <= 15'(WORDS), behind_q, odd_q, 1'b0
  );
  // The same for the first beat, straight from the length field, which is late: it is compared with limits made a cycle before. A marker inside
  // takes a word from what the FPDU may have. Behind an FPDU that ends right before a marker at the segment's end the marker is left.
  assign few = left_q <= 14'(WORDS);
  assign filled = few ? left_q[4:0] : 5'(WORDS);
  assign near = markers_q && until_marker[6:LANE_W] == '0;
  assign marks = near && (!few || 5'(until_marker[LANE_W-1:0]) < left_q[4:0]);
  assign at_end = 5'(until_marker[LANE_W-1:0]) + 5'd1 == filled;
  assign long_len = ulpdu_len_q[15:6] != '0;
  assign few_rest = 5'((7'(ulpdu_len_q[5:0]) + 7'd9) >> 2);
  assign few_want = 5'((7'(ulpdu_len_q[5:0]) + 7'd13) >> 2);
  assign first_marker = near_q && (long_len || !at_most(ulpdu_len_q[5:0], before_q));
  assign first_whole = !long_len && at_most(ulpdu_len_q[5:0], whole_q);
  assign first_tight = !at_most(ulpdu_len_q[5:0], loose_q);
  always_comb begin
    first_d.partial  = !first_whole && few_q;
    first_d.last     = first_whole || few_q;
    first_d.seg_last = few_q && (!first_whole || (first_tight && !odd_q));
    first_d.words    = first_whole ? (first_marker ? few_want : few_rest) : filled_q;
    // Not even its length field is in the segment: nothing fits then.
    first_d.marker   = first_marker && !cut_q;
  end

  // ------------------------------------------------------------------ the cycle
  logic fire, ends, found, over;
  logic [LANE_W:0] next_lane;
  // A beat is sent when all its lanes are here.
  assign fire        = state_q == Beats && go_i && held_q && (lane_q == '0 || held_last_q || next_valid);
  assign ends        = fire && beat_q.last;
  assign found       = state_q == Length && room_i && held_q && (!length_lane[LANE_W] || held_last_q || next_valid);
  assign next_lane   = {1'b0, lane_q} + (LANE_W + 1)'(beat_q.words);

  // The held beat is used up, and the next one (perhaps of the next segment) replaces it; or the rest is discarded.
  assign throw       = state_q == Throw || (fire && beat_q.seg_last && !held_last_q);
  assign used_up     = fire && (beat_q.seg_last ? held_last_q : next_lane[LANE_W]);
  assign next_taken  = !held_q || used_up || throw;

  // The segment's last FPDU ends, and so does its payload.
  assign over        = ends && beat_q.seg_last && (held_last_q || (next_valid && next_last));
  assign begins_seg  = state_q == Idle || over;
  assign seg_ready_o = !waits_q;
  assign begin_o     = found;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      waits_q <= 1'b0;
      held_q  <= 1'b0;
      free_q  <= 1'b1;
    end else begin
      waits_q <= there && !begins_seg;
      if (next_taken) held_q <= next_valid && !throw;
      if (next_taken) free_q <= !next_valid || throw;
      unique case (state_q)
        Idle:    if (there) state_q <= Length;
        Length:  if (found) state_q <= First;
        First:   state_q <= Beats;
        Beats: begin
          if (over) state_q <= there ? Length : Idle;
          else if (ends) state_q <= beat_q.seg_last ? Throw : Length;
        end
        default: if (next_valid && next_last) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (next_taken) held_last_q <= next_last;
    if (free_q || used_up || throw) held_data_q <= next_data;
    if (!waits_q) wait_q <= start;
    if (state_q == Length) begin
      ulpdu_len_q                    <= {length_word[7:0], length_word[15:8]};
      leading_q                      <= leading;
      cut_q                          <= cut;
      offset_q                       <= position_q;
      behind_q                       <= left_q - 14'(WORDS);
      few_q                          <= few;
      filled_q                       <= filled;
      whole_q                        <= limit_of(left_q, filled, marks ? 5'd3 : 5'd2);
      loose_q                        <= limit_of(left_q, filled, marks && !at_end ? 5'd4 : 5'd3);
      before_q                       <= '{never: until_marker[LANE_W-1:0] < LANE_W'(2), most: 4'(until_marker[LANE_W-1:0]) - 4'd2};
      {marker_beat_q, marker_lane_q} <= until_marker;
      near_q                         <= near;
      first_q                        <= 1'b1;
      distance_q                     <= 14'd0;
    end
    if (state_q == First) begin
      beat_q        <= first_d;
      rest_q        <= rest - 15'(WORDS) + 15'(near_q);
      marker_beat_q <= marker_beat_q - 1'b1;
      near_q        <= markers_q && marker_beat_q == (7 - LANE_W)'(1);
    end
    if (fire) begin
      lane_q        <= next_lane[LANE_W-1:0];
      phase_q       <= phase;
      lead_q        <= markers_q && phase == 7'd0;
      position_q    <= position_q + 14'(beat_q.words);
      left_q        <= left_q - 14'(beat_q.words);
      behind_q      <= behind_q - 14'(WORDS);
      beat_q        <= next_d;
      rest_q        <= rest_q - 15'(WORDS) + 15'(near_q);
      marker_beat_q <= marker_beat_q - 1'b1;
      near_q        <= markers_q && marker_beat_q == (7 - LANE_W)'(1);
      // FPDUPTR counts from the length field.
      distance_q    <= distance_q + 14'(WORDS) - 14'(first_q && leading_q);
      first_q       <= 1'b0;
    end
    // Behind a segment's last beat its values do not matter; those of the next one count when it begins.
    if (state_q == Idle || (fire && beat_q.seg_last)) begin
      lane_q     <= '0;
      phase_q    <= start.phase;
      markers_q  <= start.markers;
      lead_q     <= start.markers && start.phase == 7'd0;
      odd_q      <= start.len[1:0] != 2'd0;
      left_q     <= start.len[15:2];
      position_q <= 14'd0;
    end
  end

  // ------------------------------------------------------------------ out
  logic                    out_valid_q;
  logic       [DATA_W-1:0] out_data_q;
  fpdu_beat_t              out_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else out_valid_q <= fire;
  end
  always_ff @(posedge clk_i) begin
    out_data_q     <= window[DATA_W-1:0];
    out_q.first    <= first_q;
    out_q.last     <= beat_q.last;
    out_q.partial  <= beat_q.partial;
    out_q.kept     <= 1'b0;
    out_q.seg_last <= beat_q.seg_last;
    out_q.marker   <= beat_q.marker;
    out_q.lane     <= 4'(marker_lane_q);
    out_q.distance <= {distance_q + 14'(marker_lane_q), 2'd0};
    out_q.words    <= beat_q.words;
    out_q.offset   <= {offset_q, 2'd0};
  end
  assign fp_valid_o = out_valid_q;
  assign fp_data_o  = out_data_q;
  assign fp_beat_o  = out_q;
  assign idle_o     = state_q == Idle && !waits_q && !out_valid_q;

  // pl_count_i is redundant to the segment's length; the upper half of the window is only shifted down.
  logic unused;
  assign unused = ^{pl_count_i, window[2*DATA_W-1:DATA_W], length_word[31:16]};

  if (DATA_W != 128 && DATA_W != 256 && DATA_W != 512) begin : gen_param_check
    $error("walk_framer: DATA_W must be 128, 256 or 512");
  end
  `WEFT_ASSERT(not_empty, seg_valid_i && seg_ready_o -> seg_len_i != 16'd0)
  `WEFT_ASSERT(full_but_last, pl_valid_i && !pl_last_i -> pl_count_i == COUNT_W'(DATA_W / 8))
  // The beats agree with the length: a segment's last word is in its last beat.
  `WEFT_ASSERT(ends_in_last_beat, fire && held_last_q && !beat_q.seg_last -> 32'(next_lane) <= WORDS)
  `WEFT_ASSERT(empty_is_partial, fire && beat_q.words == 5'd0 -> beat_q.partial)
  `WEFT_ASSERT(whole_but_last, fire && !beat_q.last -> beat_q.words == 5'(WORDS))
  `WEFT_ASSERT(room_behind_last, fp_valid_o && fp_beat_o.last -> !fire)
  `WEFT_ASSERT(free_told, free_q == !held_q)
  `WEFT_ASSERT(near_told, state_q inside {First, Beats} -> near_q == (markers_q && marker_beat_q == '0))
  `WEFT_ASSERT(lead_told, state_q != Idle -> lead_q == (markers_q && phase_q == 7'd0))
endmodule
