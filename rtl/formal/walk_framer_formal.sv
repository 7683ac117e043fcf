// Proves of walk_framer: the beats of FPDUs are the words of the segment, in turn, none left out before its last FPDU, each unchanged
// (any one, `mark_i` and `lane_i`, is followed); a whole FPDU has the words that its own length field asks for (RFC 5044 §4.1), and the markers
// that lie inside, which are pointed out, at each 128th word from the place that the phase tells (§4.3), with what their FPDUPTR has to be;
// what is not whole ends with the segment, and says so. The next FPDU begins where the last one ended. A segment takes its
// payload to the last beat, and no more.
//
// Any segments and payload that agree in length; payload may come before its segment does.

module walk_framer_formal
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned WORDS   = DATA_W / 32,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned LANE_W  = $clog2(WORDS),
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              seg_valid_i,
  input logic [      15:0] seg_len_i,
  input logic              seg_markers_i,
  input logic [       6:0] seg_phase_i,
  input logic              pl_valid_i,
  input logic [DATA_W-1:0] pl_data_i,
  input logic              pl_last_i,
  input logic              room_i,
  input logic              go_i,
  input logic              mark_i,
  input logic [LANE_W-1:0] lane_i
);

  logic seg_ready, pl_ready, begins, fp_valid, idle;
  logic       [DATA_W-1:0] fp_data;
  fpdu_beat_t              fp_beat;

  walk_framer #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .seg_valid_i,
    .seg_ready_o(seg_ready),
    .seg_len_i,
    .seg_markers_i,
    .seg_phase_i,
    .pl_valid_i,
    .pl_ready_o (pl_ready),
    .pl_data_i,
    .pl_count_i (COUNT_W'(BYTES)),
    .pl_last_i,
    .room_i,
    .begin_o    (begins),
    .go_i,
    .fp_valid_o (fp_valid),
    .fp_data_o  (fp_data),
    .fp_beat_o  (fp_beat),
    .idle_o     (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the payload inside, newest beat first
  typedef struct packed {
    logic [11:0] number;  // of the beat in its segment
    logic        last;
  } tag_t;
  tag_t [ 2:0] tag_q;
  tag_t        in;
  logic [ 1:0] beats;  // inside
  logic [11:0] number_q;
  logic        push;
  assign push  = pl_valid_i && pl_ready;
  assign in    = '{number: number_q, last: pl_last_i};
  assign beats = 2'(dut.held_q) + 2'(dut.u_next.out_valid_q) + 2'(dut.u_next.spare_q);

  // The segment in hand: from its taking to its last beat's end.
  logic active, take, markers_q, waits_q;
  typedef struct packed {
    logic [15:0] len;
    logic        markers;
    logic [6:0]  phase;
  } start_t;
  start_t now_start, wait_q;  // of the segment that begins next: here, or taken before
  logic [15:0] len_q;
  logic [ 6:0] phase_q;
  logic [11:0] last_number, next_number;
  logic [1:0] until_last, oldest;  // beats inside to the first last one; 0: there is none
  logic [1:0] pops;  // beats that leave: the one held, and one thrown away behind it
  logic [1:0] kept, until_next;  // the same of those that stay when the next segment begins
  assign active      = dut.state_q != '0;
  assign now_start   = waits_q ? wait_q : '{len: seg_len_i, markers: seg_markers_i, phase: seg_phase_i};
  assign take        = dut.begins_seg && (waits_q || seg_valid_i);
  assign pops        = 2'(dut.held_q && dut.next_taken) + 2'(dut.throw && dut.next_valid);
  assign kept        = beats - pops;
  assign last_number = 12'((17'(len_q) + 17'(BYTES - 1)) >> (LANE_W + 2)) - 12'd1;
  assign next_number = 12'((17'(now_start.len) + 17'(BYTES - 1)) >> (LANE_W + 2)) - 12'd1;
  assign oldest      = beats - 2'd1;
  always_comb begin
    until_last = '0;
    until_next = '0;
    for (int unsigned i = 0; i < 3; i++) begin  // from the newest on
      if (2'(i) < beats && tag_q[i].last) until_last = beats - 2'(i);
      if (2'(i) < kept && tag_q[i].last) until_next = kept - 2'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) number_q <= '0;
    else if (push) number_q <= pl_last_i ? '0 : number_q + 1'b1;
    if (push) tag_q <= {tag_q[1:0], in};
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= (waits_q && !take) || (seg_valid_i && seg_ready && (waits_q || !take));
    if (seg_valid_i && seg_ready) wait_q <= '{len: seg_len_i, markers: seg_markers_i, phase: seg_phase_i};
    if (take) begin
      len_q     <= now_start.len;
      markers_q <= now_start.markers;
      phase_q   <= now_start.phase;
    end
  end

  // ---------------------------------------------------------------- a word followed: in which beat, newest 0
  logic followed_q, current;
  logic [       1:0] slot_q;
  logic [LANE_W-1:0] lane_q;
  logic [      31:0] word_q;
  logic [      13:0] at;
  assign at      = {tag_q[slot_q].number, lane_q};
  assign current = followed_q && active && (until_last == '0 || beats - slot_q <= until_last);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      followed_q <= 1'b0;
    end else if (followed_q) begin
      slot_q <= slot_q + 2'(push);
      if (slot_q >= beats - pops) followed_q <= 1'b0;
    end else if (push && mark_i) begin
      followed_q <= 1'b1;
      slot_q     <= '0;
      lane_q     <= lane_i;
      word_q     <= pl_data_i[{lane_i, 5'd0}+:32];
    end
  end

  // Last beats that left since the segment was taken.
  logic [1:0] lasts_q, lasts;
  assign lasts = lasts_q + 2'(pops != '0 && tag_q[oldest].last) + 2'(pops == 2'd2 && tag_q[oldest-2'd1].last);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) lasts_q <= 2'd1;
    else lasts_q <= take ? '0 : lasts;
  end

  // ---------------------------------------------------------------- what goes out: the registers of the port are a cycle behind
  logic fired_q, hit_q;
  fpdu_beat_t now, now_q;
  logic [      31:0] hit_word_q;
  logic [DATA_W-1:0] data_q;
  logic [LANE_W-1:0] hit_lane_q;
  logic [13:0] opos_q, words, left, start_q;  // of the segment's words: gone, all, still to go; where the FPDU begins
  logic [14:0] reach;
  logic first_q, odd, lead, near, here;
  logic [LANE_W-1:0] marker_lane;
  logic [14:0] plain_q, plain, total;  // the FPDU's words without markers: gone, with this beat, all
  logic [15:0] ulpdu_q, ulpdu;
  logic [31:0] length_word;
  assign words = len_q[15:2];
  assign odd = len_q[1:0] != '0;
  assign left = words - opos_q;
  assign reach = 15'(opos_q) + 15'(now.words);
  assign now = '{
          first: dut.first_q,
          last: dut.beat_q.last,
          partial: dut.beat_q.partial,
          kept: 1'b0,
          seg_last: dut.beat_q.seg_last,
          marker: dut.beat_q.marker,
          lane: 4'(dut.marker_lane_q),
          distance: {14'(dut.distance_q + 14'(dut.marker_lane_q)), 2'd0},
          words: dut.beat_q.words,
          offset: {dut.offset_q, 2'd0}
      };
  // Is there a place of a marker among the words of a whole beat, and among those of this one?
  function automatic logic is_marker(input logic [13:0] position);
    return markers_q && 7'(phase_q + 7'(position)) == '0;
  endfunction
  always_comb begin
    near        = 1'b0;
    marker_lane = '0;
    for (int unsigned i = 0; i < WORDS; i++) begin
      if (is_marker(opos_q + 14'(i))) begin
        near        = 1'b1;
        marker_lane = LANE_W'(i);
      end
    end
  end
  assign here        = near && 5'(marker_lane) < now.words;
  assign lead        = is_marker(start_q);
  assign length_word = dut.window[{LANE_W'(lead), 5'd0}+:32];
  assign ulpdu       = first_q ? {length_word[7:0], length_word[15:8]} : ulpdu_q;
  assign total       = 15'((17'(ulpdu) + 17'd9) >> 2);
  assign plain       = (first_q ? '0 : plain_q) + 15'(now.words) - 15'(here);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fired_q <= 1'b0;
      hit_q   <= 1'b0;
      first_q <= 1'b1;
    end else begin
      fired_q <= dut.fire;
      hit_q   <= dut.fire && current && at >= opos_q && 15'(at) < reach;
      if (dut.fire) first_q <= now.last;
    end
    now_q      <= now;
    data_q     <= dut.window[DATA_W-1:0];
    hit_word_q <= word_q;
    hit_lane_q <= LANE_W'(at - opos_q);
    if (take) begin
      opos_q  <= '0;
      start_q <= '0;
    end else if (dut.fire) begin
      opos_q <= 14'(reach);
      if (now.last) start_q <= 14'(reach);
    end
    if (dut.fire) begin
      plain_q <= plain;
      ulpdu_q <= ulpdu;
    end
  end

  logic        known;  // the length field is in the segment
  logic [13:0] marker_at;
  assign known     = 15'(start_q) + 15'(lead) < 15'(words);
  assign marker_at = opos_q + 14'(marker_lane);

  always_comb begin
    a_length : assume (!seg_valid_i || seg_len_i != '0);
    // Payload agrees with its segment: beats that came before, and those that come.
    a_early_all : assume (!take || until_next != '0 || kept == '0 || tag_q[0].number < next_number);
    a_late : assume (!(push && active && !take && until_last == '0) || pl_last_i == (number_q == last_number));
    a_late_next : assume (!(push && take && until_next == '0) || pl_last_i == (number_q == next_number));
    a_longest : assume (!push || number_q < 12'hfff || pl_last_i);
    if (rst_ni) begin
      registered : assert (fp_valid == fired_q && (!fp_valid || (fp_beat == now_q && fp_data == data_q)));
      unchanged : assert (!(fp_valid && hit_q) || fp_data[{hit_lane_q, 5'd0}+:32] == hit_word_q);
      its_payload : assert (lasts_q == (active ? 2'd0 : 2'd1));
      its_last_beat : assert (!(take && active) || lasts == 2'd1);
      none_lost : assert (seg_ready || waits_q);
      inv_waits : assert (waits_q == dut.waits_q && (!waits_q || (wait_q == dut.wait_q && wait_q.len != '0)));
      of_a_segment : assert (!dut.fire || (active && reach <= 15'(words) && now.words <= 5'(WORDS)));
      first_right : assert (!dut.fire || now.first == first_q);
      begins_where : assert (!dut.fire || now.offset == {start_q, 2'd0});
      beats_full : assert (!dut.fire || now.last || (now.words == 5'(WORDS) && known && plain < total && reach < 15'(words)));
      whole :
      assert (!(dut.fire && now.last && !now.partial) || (known && plain == total && now.words != '0 && !(here && 5'(marker_lane) + 5'd1 == now.words)));
      not_whole : assert (!(dut.fire && now.partial) || (now.last && now.seg_last && reach == 15'(words) && (!known || plain < total)));
      segment_ends : assert (!(dut.fire && now.last) || now.seg_last == (now.partial || (reach == 15'(words) && !odd)));
      marker_told :
      assert (!(dut.fire && !now.partial) || (now.marker == here && (!here || (now.lane == 4'(marker_lane) &&
                           now.distance[15:2] == (marker_at == start_q ? 14'd0 : marker_at - start_q - 14'(lead))))));
      ends_once : assert (!fp_valid || !fp_beat.last || !dut.fire);
    end
  end

  // ---------------------------------------------------------------- where everything is
  localparam logic [2:0] IDLE = 3'd0, LENGTH = 3'd1, FIRST = 3'd2, BEATS = 3'd3, THROW = 3'd4;
  logic [ 2:0] state;
  logic [14:0] rest;  // the FPDU's words from this beat on, without markers
  logic beyond, few, all, takes, leaves;
  logic [       4:0] cap;  // words that the beat can have
  logic [      15:0] want;
  logic [DATA_W-1:0] slot_data;
  logic [      31:0] in_hand;  // the length field, if all is here
  logic [  LANE_W:0] length_lane;
  assign state = 3'(dut.state_q);
  assign rest = 15'((17'(dut.ulpdu_len_q) + 17'd9) >> 2) - (first_q ? '0 : plain_q);
  assign beyond = near && 15'(marker_lane) < rest;
  assign want = 16'(rest) + 16'(beyond);
  assign few = left <= 14'(WORDS);
  assign all = want <= 16'(WORDS) && want <= 16'(left);
  assign cap = few ? 5'(left) : 5'(WORDS);
  assign takes = near && 5'(marker_lane) < cap;  // the marker is among them
  assign leaves = takes && 5'(marker_lane) + 5'd1 != cap;
  assign length_lane = (LANE_W + 1)'(dut.lane_q) + (LANE_W + 1)'(lead);
  assign in_hand = 32'({dut.next_data[31:0], dut.held_data_q} >> {length_lane, 5'd0});
  assign slot_data   = slot_q == oldest && dut.held_q ? dut.held_data_q :
                       (dut.u_next.spare_q && slot_q == 2'd0) ? dut.u_next.data_q[!dut.u_next.first_q][DATA_W-1:0] : dut.u_next.data_q[dut.u_next.first_q][DATA_W-1:0];

  always_comb begin
    if (rst_ni) begin
      inv_state : assert (state <= THROW);
      inv_lead : assert (state == IDLE || dut.lead_q == (dut.markers_q && dut.phase_q == 7'd0));
      inv_slice : assert (!dut.u_next.spare_q || dut.u_next.out_valid_q);
      // Tags: of beats inside, and of the registers.
      inv_number : assert (beats == '0 || number_q == (tag_q[0].last ? '0 : tag_q[0].number + 12'd1));
      inv_held_last : assert (!dut.held_q || dut.held_last_q == tag_q[oldest].last);
      inv_out_last : assert (!dut.u_next.out_valid_q || dut.u_next.data_q[dut.u_next.first_q][DATA_W] == tag_q[dut.u_next.spare_q].last);
      inv_spare_last : assert (!dut.u_next.spare_q || dut.u_next.data_q[!dut.u_next.first_q][DATA_W] == tag_q[0].last);
      inv_idle_number : assert (active || (beats == '0 ? number_q == '0 : tag_q[oldest].number == '0));
      inv_slot : assert (!followed_q || slot_q < beats);
      inv_slot_data : assert (!followed_q || slot_data[{lane_q, 5'd0}+:32] == word_q);
      // The segment in hand.
      inv_more : assert (!active || until_last != '0 || number_q <= last_number);
      inv_len : assert (!active || len_q != '0);
      inv_position :
      assert (!active || state == THROW || (dut.position_q == opos_q && dut.left_q == left && opos_q <= words && dut.phase_q == 7'(phase_q + 7'(opos_q)) &&
                            dut.markers_q == markers_q && dut.odd_q == odd));
      inv_where : assert (!active || state == THROW || opos_q == {beats != '0 ? tag_q[oldest].number : number_q, dut.lane_q});
      inv_first : assert (!active || first_q == (state inside {LENGTH, FIRST, THROW} || dut.first_q));
      inv_idle_first : assert (active || first_q);
      inv_start : assert (!active || state == THROW || (first_q ? start_q == opos_q : start_q < opos_q));
      inv_left : assert (!active || state == THROW || left != '0 || odd);
      inv_fpdu :
      assert (!(state inside {FIRST, BEATS}) || (dut.leading_q == lead && dut.offset_q == start_q &&
                        dut.cut_q == (15'(start_q) + 15'(lead) >= 15'(words))));
      inv_cut : assert (!(state inside {FIRST, BEATS}) || !dut.cut_q || first_q);
      inv_length :
      assert (!(state inside {FIRST, BEATS}) || dut.cut_q || (first_q ? {in_hand[7:0], in_hand[15:8]} == dut.ulpdu_len_q : ulpdu_q == dut.ulpdu_len_q));
      inv_length_here :
      assert (!(state inside {FIRST, BEATS}) || !first_q || (dut.held_q && (!length_lane[LANE_W] || dut.held_last_q || dut.next_valid)));
      inv_rest : assert (!(state == BEATS) || first_q || (plain_q < total));
      inv_marker : assert (state != FIRST || {dut.marker_beat_q, dut.marker_lane_q} == 7'd0 - 7'(phase_q + 7'(opos_q)));
      inv_next_marker : assert (state != BEATS || {dut.marker_beat_q, dut.marker_lane_q} == 7'd0 - 7'(phase_q + 7'(opos_q + 14'(WORDS))));
      inv_distance : assert (!(state inside {FIRST, BEATS}) || dut.distance_q == opos_q - start_q - (first_q ? 14'd0 : 14'(lead)));
      inv_few : assert (state != FIRST || dut.few_q == (left <= 14'(WORDS)));
      inv_near : assert (!(state inside {FIRST, BEATS}) || dut.near_q == (dut.markers_q && dut.marker_beat_q == '0));
      inv_whole : assert (state != FIRST || (dut.whole_q.most == 4'(cap - 5'd2 - 5'(takes)) && dut.whole_q.never == (left < 14'd2 + 14'(takes))));
      inv_loose : assert (state != FIRST || (dut.loose_q.most == 4'(cap - 5'd3 - 5'(leaves)) && dut.loose_q.never == (left < 14'd3 + 14'(leaves))));
      inv_before :
      assert (state != FIRST || ((dut.before_q | 5'h10) == {1'b1, 4'(4'(dut.marker_lane_q) - 4'd2)} &&
                          dut.before_q[4] == (dut.marker_lane_q < LANE_W'(2))));
      inv_behind : assert (!(state inside {FIRST, BEATS}) || dut.behind_q == left - 14'(WORDS));
      inv_rest_behind : assert (state != BEATS || dut.cut_q || dut.beat_q.last || dut.rest_q == rest - 15'(WORDS) + 15'(near));
      inv_beat :
      assert (state != BEATS || dut.cut_q || (dut.beat_q.last == (all || few) && dut.beat_q.partial == (few && !all) &&
                        dut.beat_q.seg_last == (few && (!all || (want == 16'(left) && !odd))) && dut.beat_q.marker == beyond &&
                        dut.beat_q.words == (all ? 5'(want) : few ? 5'(left) : 5'(WORDS))));
      inv_beat_cut :
      assert (state != BEATS || !dut.cut_q || (dut.beat_q.last && dut.beat_q.partial && dut.beat_q.seg_last && !dut.beat_q.marker &&
                            dut.beat_q.words == 5'(left) && left <= 14'd1));
      inv_throw : assert (state != THROW || !dut.held_q);
      inv_fired : assert (!fired_q || !now_q.last || state != BEATS);
    end
  end

  for (genvar i = 0; i < int'(3); i++) begin : gen_each_1
    always_comb begin
      a_early :
      assume (!take || 2'(i) >= kept || (until_next != '0 && kept - 2'(i) > until_next) || tag_q[i].last == (tag_q[i].number == next_number));
    end
  end
  for (genvar i = 0; i < int'(2); i++) begin : gen_each_2
    always_comb begin
      if (rst_ni) begin
        inv_next_number : assert (2'(i) + 2'd1 >= beats || tag_q[i].number == (tag_q[i+1].last ? '0 : tag_q[i+1].number + 12'd1));
      end
    end
  end
  for (genvar i = 0; i < int'(3); i++) begin : gen_each_3
    always_comb begin
      if (rst_ni) begin
        inv_its_last :
        assert (!active || 2'(i) >= beats || (until_last != '0 && beats - 2'(i) > until_last) || tag_q[i].last == (tag_q[i].number == last_number));
        inv_not_past : assert (!active || 2'(i) >= beats || (until_last != '0 && beats - 2'(i) > until_last) || tag_q[i].number <= last_number);
      end
    end
  end

endmodule
