// Proves of tx_markers: what comes out is what came in, with markers: one at each 512 bytes of the stream, counted from where the
// packet's first one lies, none behind the last word; each points back to the FPDU's length field (RFC 5044 §4.3). Any one
// word, a marker or not (`mark_i`, `lane_i`), comes out once, unchanged, in order, and packets end where they ended, with their layout.
//
// Words are counted here as they go out, markers included. Where a marker has to be follows from the packet's layout alone.

module tx_markers_formal
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned WORDS   = DATA_W / 32,
  localparam int unsigned WORD_W  = $clog2(WORDS),
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  in_layout_valid_i,
  input layout_t               in_layout_i,
  input logic                  in_valid_i,
  input logic    [ DATA_W-1:0] in_data_i,
  input logic    [COUNT_W-1:0] in_count_i,
  input logic                  in_last_i,
  input logic                  out_ready_i,
  input logic                  mark_i,
  input logic    [   WORD_W:0] lane_i
);

  logic in_layout_ready, in_ready, out_valid, out_last;
  logic    [ DATA_W-1:0] out_data;
  logic    [COUNT_W-1:0] out_count;
  layout_t               out_layout;

  tx_markers #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_layout_valid_i,
    .in_layout_ready_o(in_layout_ready),
    .in_layout_i,
    .in_valid_i,
    .in_ready_o       (in_ready),
    .in_data_i,
    .in_count_i,
    .in_last_i,
    .out_valid_o      (out_valid),
    .out_ready_i,
    .out_data_o       (out_data),
    .out_count_o      (out_count),
    .out_last_o       (out_last),
    .out_layout_o     (out_layout)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  localparam int unsigned HELD_W = WORD_W + 5;

  // ---------------------------------------------------------------- a beat that comes in
  typedef struct packed {
    logic [12:0]       start;   // words of the packet that go out before it
    logic [WORD_W:0]   words;   // as they come in
    logic              marker;  // there is one among them, in this lane
    logic [WORD_W-1:0] lane;
    logic              last;
    logic [1:0]        tail;    // bytes of a word that is not whole
    layout_t           layout;
  } shadow_t;

  function automatic logic [WORD_W:0] going(input shadow_t beat);
    return beat.words + (WORD_W + 1)'(beat.marker);
  endfunction
  // Words of a beat that is not full, behind this one; and what the beat adds in whole beats, those that fill up a packet's last one included.
  function automatic logic [WORD_W-1:0] keeping(input shadow_t beat);
    return WORD_W'(beat.start) + WORD_W'(going(beat));
  endfunction
  function automatic logic [HELD_W-1:0] making(input logic valid, input shadow_t beat);
    making = valid ? HELD_W'(going(beat)) : '0;
    if (valid && beat.last && keeping(beat) != '0) making = making + HELD_W'(WORDS) - HELD_W'(keeping(beat));
  endfunction
  function automatic logic is_marker(input logic [12:0] at, input layout_t layout);
    return layout.markers && at >= 13'(layout.to_marker) && 7'(at - 13'(layout.to_marker)) == '0;
  endfunction
  // From the length field, which lies behind a leading marker.
  function automatic logic [15:0] pointer(input logic [12:0] at, input layout_t layout);
    return {1'b0, at, 2'b00} - (layout.to_marker == '0 && at != '0 ? 16'd4 : 16'd0);
  endfunction

  logic push, pop, first_q, held_q;
  logic    [12:0] start_q;
  layout_t        held_layout_q;
  shadow_t        in;
  logic    [15:0] points;
  assign push   = in_valid_i && in_ready;
  assign pop    = out_valid && out_ready_i;
  assign points = pointer(in.start + 13'(lane_i), in_layout_i);
  always_comb begin
    in.start  = first_q ? '0 : start_q;
    in.words  = (WORD_W + 1)'((in_count_i + COUNT_W'(3)) >> 2);
    in.last   = in_last_i;
    in.tail   = in_count_i[1:0];
    in.layout = in_layout_i;
    in.marker = 1'b0;
    in.lane   = '0;
    for (int unsigned i = 0; i < WORDS; i++) begin
      if ((WORD_W + 1)'(i) < in.words && is_marker(in.start + 13'(i), in_layout_i)) begin
        in.marker = 1'b1;
        in.lane   = WORD_W'(i);
      end
    end
  end

  // ---------------------------------------------------------------- what is inside, and the word followed
  logic followed_q, here, is_last_q;
  logic [HELD_W-1:0] inside_q, left, ahead_q;
  logic    [      31:0] word_q;
  logic    [       1:0] tail_q;
  layout_t              layout_q;
  logic    [  WORD_W:0] out_words;
  logic    [WORD_W-1:0] lane;
  logic    [       2:0] silent_q;
  assign left      = inside_q - (pop ? HELD_W'(WORDS) : '0);
  assign here      = followed_q && ahead_q < HELD_W'(WORDS);
  assign lane      = ahead_q[WORD_W-1:0];
  assign out_words = (WORD_W + 1)'((out_count + COUNT_W'(3)) >> 2);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q    <= 1'b1;
      held_q     <= 1'b0;
      inside_q   <= '0;
      followed_q <= 1'b0;
      silent_q   <= '0;
    end else begin
      if (push) first_q <= in_last_i;
      held_q   <= in_layout_valid_i && !in_layout_ready;
      inside_q <= left + making(push, in);
      if (followed_q) begin
        if (pop) begin
          ahead_q    <= ahead_q - HELD_W'(WORDS);
          followed_q <= !here;
        end
      end else if (push && mark_i && lane_i < going(in)) begin
        followed_q <= 1'b1;
        ahead_q <= left + HELD_W'(lane_i);
        word_q     <= !in.marker || lane_i < (WORD_W + 1)'(in.lane) ? in_data_i[{lane_i[WORD_W-1:0], 5'd0} +: 32] :
                      lane_i == (WORD_W + 1)'(in.lane) ? {points[7:0], points[15:8], 16'd0} : in_data_i[{WORD_W'(lane_i - 1'b1), 5'd0} +: 32];
        is_last_q <= in_last_i && lane_i + 1'b1 == going(in);
        tail_q <= in_count_i[1:0];
        layout_q <= in_layout_i;
      end
      silent_q <= (out_valid || inside_q < HELD_W'(WORDS)) ? '0 : silent_q + 1'b1;
    end
    if (push) start_q <= in.start + 13'(going(in));
    held_layout_q <= in_layout_i;
  end

  always_comb begin
    a_full : assume (!in_valid_i || (in_count_i != '0 && in_count_i <= COUNT_W'(BYTES) && (in_last_i || in_count_i == COUNT_W'(BYTES))));
    a_words : assume (!(in_valid_i && in_layout_valid_i && in_layout_i.markers) || in_count_i[1:0] == '0);
    a_layout : assume (!held_q || (in_layout_valid_i && in_layout_i == held_layout_q));
    a_length : assume (!in_valid_i || in.start < 13'd4088);  // 16 KiB
    if (rst_ni) begin
      nothing_invented : assert (!out_valid || inside_q >= HELD_W'(WORDS));
      beats_full : assert (!out_valid || (out_count != '0 && (out_last || out_count == COUNT_W'(BYTES))));
      unchanged : assert (!(out_valid && here) || out_data[{lane, 5'd0}+:32] == word_q);
      there : assert (!(out_valid && here) || (WORD_W + 1)'(lane) < out_words);
      ends_kept : assert (!(out_valid && here) || is_last_q == (out_last && (WORD_W + 1)'(lane) + 1'b1 == out_words));
      tail_kept : assert (!(out_valid && here && is_last_q) || out_count[1:0] == tail_q);
      layout_kept : assert (!(out_valid && here) || out_layout == layout_q);
      goes_on : assert (silent_q <= 3'd3);
    end
  end

  // ---------------------------------------------------------------- where everything is
  // The beat in each stage, and the one that has left it last.
  shadow_t p_q, x_q, r_q, past_p_q, past_x_q, past_r_q, latest;
  logic [HELD_W-1:0] base_flush, base_kept, base_r, base_x, base_p, kept, at_r, at_x, at_p;
  logic in_kept, in_r, in_x, in_p;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      past_p_q      <= '0;
      past_x_q      <= '0;
      past_r_q      <= '0;
      past_p_q.last <= 1'b1;
      past_x_q.last <= 1'b1;
      past_r_q.last <= 1'b1;
    end else begin
      if (dut.p_valid_q && dut.p_take) past_p_q <= p_q;
      if (dut.x_valid_q && dut.x_take) past_x_q <= x_q;
      if (dut.r_valid_q && dut.r_take) past_r_q <= r_q;
    end
    if (push) p_q <= in;
    if (dut.p_take) x_q <= p_q;
    if (dut.x_take) r_q <= x_q;
  end
  assign latest     = dut.p_valid_q ? p_q : past_p_q;
  assign kept       = past_r_q.last ? '0 : HELD_W'(keeping(past_r_q));
  assign base_flush = (out_valid ? HELD_W'(WORDS) : '0) + (dut.u_out.spare_q ? HELD_W'(WORDS) : '0);
  assign base_kept  = base_flush + (dut.flush_q ? HELD_W'(WORDS) : '0);
  assign base_r     = base_kept + kept;
  assign base_x     = base_r + making(dut.r_valid_q, r_q);
  assign base_p     = base_x + making(dut.x_valid_q, x_q);
  assign at_r       = ahead_q - base_r;
  assign at_x       = ahead_q - base_x;
  assign at_p       = ahead_q - base_p;
  assign in_kept    = followed_q && ahead_q >= base_kept && ahead_q < base_r;
  assign in_r       = followed_q && ahead_q >= base_r && ahead_q < base_x;
  assign in_x       = followed_q && ahead_q >= base_x && ahead_q < base_p;
  assign in_p       = followed_q && ahead_q >= base_p;

  function automatic logic follows(input shadow_t beat, input shadow_t prior);
    return beat.words != '0 && beat.words <= (WORD_W + 1)'(WORDS) && (beat.last || (beat.words == (WORD_W + 1)'(WORDS) && beat.tail == '0)) &&
           (!beat.marker || (beat.layout.markers && (WORD_W + 1)'(beat.lane) < beat.words)) && (!beat.layout.markers || beat.tail == '0) &&
           (beat.layout.markers || WORD_W'(beat.start) == '0) &&
           (prior.last ? beat.start == '0 : beat.start == prior.start + 13'(going(prior)) && beat.layout == prior.layout);
  endfunction
  // The word followed is the one at `at` of this beat.
  function automatic logic is_here(input shadow_t beat, input logic [HELD_W-1:0] at);
    return at < HELD_W'(going(beat)) && is_last_q == (beat.last && at + 1'b1 == HELD_W'(going(beat))) && layout_q == beat.layout &&
        (!is_last_q || tail_q == beat.tail);
  endfunction
  function automatic logic [COUNT_W:0] bytes(input shadow_t beat);
    return {(WORD_W + 2)'(WORD_W'(beat.start)) + (WORD_W + 2)'(going(beat)), 2'b00} - (COUNT_W + 1)'(beat.tail == '0 ? 3'd0 : 3'd4 - 3'(beat.tail));
  endfunction
  function automatic logic as_beat(input logic last, input logic [COUNT_W-1:0] count, input layout_t layout);
    logic [WORD_W:0] words;
    words = (WORD_W + 1)'((count + COUNT_W'(3)) >> 2);
    return (WORD_W + 1)'(lane) < words && is_last_q == (last && (WORD_W + 1)'(lane) + 1'b1 == words) && (!is_last_q || count[1:0] == tail_q) && layout == layout_q;
  endfunction

  typedef struct packed {
    layout_t            layout;
    logic               last;
    logic [COUNT_W-1:0] count;
    logic [DATA_W-1:0]  data;
  } out_t;
  out_t spare;
  logic in_out, in_spare, in_flush;
  logic [12:0] next_marker;
  assign spare       = dut.u_out.spare_data_q;
  assign in_out      = here && out_valid;
  assign in_spare    = followed_q && dut.u_out.spare_q && !here && ahead_q < base_flush;
  assign in_flush    = followed_q && ahead_q >= base_flush && ahead_q < base_kept;
  assign next_marker = start_q + 13'(dut.to_marker_q);

  always_comb begin
    if (rst_ni) begin
      inv_first : assert (dut.first_q == first_q && first_q == latest.last);
      inv_start : assert (first_q || (start_q == latest.start + 13'(going(latest)) && held_q && held_layout_q == latest.layout));
      inv_fill : assert (dut.fill_q == (first_q ? '0 : WORD_W'(start_q)));
      inv_length : assert (first_q || start_q < 13'd4096);
      inv_unmarked : assert (first_q || held_layout_q.markers || WORD_W'(start_q) == '0);
      inv_next :
      assert (first_q || !held_layout_q.markers || (is_marker(
          next_marker, held_layout_q
      ) && dut.seen_q == (start_q > 13'(held_layout_q.to_marker)) && (dut.seen_q || next_marker == 13'(held_layout_q.to_marker)) &&
          (!dut.seen_q || dut.next_q == 14'(pointer(
          next_marker, held_layout_q
      )))));
      inv_inside : assert (inside_q == base_p + making(dut.p_valid_q, p_q));
      inv_followed : assert (!followed_q || ahead_q < inside_q);
      inv_follows_p : assert (!dut.p_valid_q || follows(p_q, past_p_q));
      inv_follows_x : assert (!dut.x_valid_q || follows(x_q, past_x_q));
      inv_follows_r : assert (!dut.r_valid_q || follows(r_q, past_r_q));
      inv_past_p : assert (past_p_q == (dut.x_valid_q ? x_q : past_x_q));
      inv_past_x : assert (past_x_q == (dut.r_valid_q ? r_q : past_r_q));
      inv_p :
      assert (!dut.p_valid_q || (dut.p_fill_q == WORD_W'(p_q.start) && dut.p_sum_q == bytes(
          p_q
      ) && dut.p_last_q == p_q.last && dut.p_layout_q == p_q.layout));
      inv_x :
      assert (!dut.x_valid_q || (dut.x_fill_q == WORD_W'(x_q.start) && dut.x_sum_q == bytes(
          x_q
      ) && dut.x_last_q == x_q.last && dut.x_layout_q == x_q.layout));
      inv_r :
      assert (!dut.r_valid_q || (dut.r_fill_q == WORD_W'(r_q.start) && dut.r_sum_q == bytes(
          r_q
      ) && dut.r_last_q == r_q.last && dut.r_layout_q == r_q.layout));
      inv_in_p :
      assert (!in_p || (dut.p_valid_q && is_here(
          p_q, at_p
      ) && word_q == (!p_q.marker || at_p < HELD_W'(p_q.lane) ? dut.p_data_q[{WORD_W'(at_p), 5'd0}+:32] :
                      at_p == HELD_W'(p_q.lane) ? dut.p_marker_q : dut.p_data_q[{WORD_W'(at_p-1'b1), 5'd0}+:32])));
      inv_in_x : assert (!in_x || (dut.x_valid_q && is_here(x_q, at_x) && word_q == dut.x_data_q[{(WORD_W+1)'(at_x), 5'd0}+:32]));
      inv_in_r :
      assert (!in_r || (dut.r_valid_q && is_here(r_q, at_r) && word_q == (at_r == HELD_W'(WORDS) ? dut.r_extra_q : dut.r_data_q[{lane, 5'd0}+:32])));
      inv_in_kept : assert (!in_kept || (!is_last_q && layout_q == past_r_q.layout && word_q == dut.rest_q[{lane, 5'd0}+:32]));
      inv_in_flush :
      assert (!in_flush || (as_beat(dut.flush_last_q, dut.flush_count_q, dut.flush_layout_q) && word_q == dut.rest_q[{lane, 5'd0}+:32]));
      inv_in_spare : assert (!in_spare || (as_beat(spare.last, spare.count, spare.layout) && word_q == spare.data[{lane, 5'd0}+:32]));
      inv_flush :
      assert (!dut.flush_q || (out_valid && kept == '0 && dut.flush_count_q != '0 && dut.flush_count_q <= COUNT_W'(BYTES) &&
                         (dut.flush_last_q || dut.flush_count_q == COUNT_W'(BYTES))));
      inv_flush_ends : assert (!dut.flush_q || dut.flush_last_q == past_r_q.last);
      inv_spare : assert (!dut.u_out.spare_q || (spare.count != '0 && (spare.last || spare.count == COUNT_W'(BYTES))));
      inv_soon_1 : assert (silent_q < 3'd1 || base_p >= HELD_W'(WORDS));
      inv_soon_2 : assert (silent_q < 3'd2 || base_x >= HELD_W'(WORDS));
      inv_soon_3 : assert (silent_q < 3'd3 || out_valid);
    end
  end

  for (genvar w = 0; w <= int'(WORDS); w++) begin : gen_each_1
    always_comb begin
      if (rst_ni) begin
        inv_p_at :
        assert (!dut.p_valid_q || (WORD_W + 1)'(w) >= going(
            p_q
        ) || (dut.p_at_q[w] == (p_q.marker && (WORD_W + 1)'(w) == (WORD_W + 1)'(p_q.lane)) &&
              dut.p_behind_q[w] == (p_q.marker && (WORD_W + 1)'(w) > (WORD_W + 1)'(p_q.lane))));
      end
    end
  end

endmodule
