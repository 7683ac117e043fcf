// Proves of tx_markers: with markers there is one at each 512 bytes of the stream, counted from where the packet's first one lies,
// none behind the last word; it points back to the FPDU's length field (RFC 5044 §4.3); and what is between them is what came in: any
// one word (`mark_i`, `lane_i`) comes out once, unchanged, in order, and packets end where they ended, with their layout.
//
// Words are counted at the output alone: where a marker has to be follows from the packet's layout and the words that went out.

module tx_markers_formal
  import weft_tx_pkg::*;
#(
  parameter int unsigned DATA_W = 128,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned WORDS   = DATA_W / 32,
  localparam int unsigned WORD_W  = $clog2(WORDS),
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               in_layout_valid_i,
  input layout_t            in_layout_i,
  input logic               in_valid_i,
  input logic [DATA_W-1:0]  in_data_i,
  input logic [COUNT_W-1:0] in_count_i,
  input logic               in_last_i,
  input logic               out_ready_i,
  input logic               mark_i,
  input logic [WORD_W-1:0]  lane_i
);

  logic               in_layout_ready, in_ready, out_valid, out_last;
  logic [DATA_W-1:0]  out_data;
  logic [COUNT_W-1:0] out_count;
  layout_t            out_layout;

  tx_markers #(.DATA_W(DATA_W)) dut (
    .clk_i, .rst_ni, .in_layout_valid_i, .in_layout_ready_o(in_layout_ready), .in_layout_i,
    .in_valid_i, .in_ready_o(in_ready), .in_data_i, .in_count_i, .in_last_i,
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data), .out_count_o(out_count), .out_last_o(out_last), .out_layout_o(out_layout)
  );

  from_reset u_start (.clk_i, .rst_ni);

  localparam int unsigned HELD_W = WORD_W + 5;

  logic               push, pop, followed_q, is_last_q, here, first_q, held_q;
  logic [WORD_W:0]    in_words, out_words, plain;         // words in the beat; of these not markers
  logic [HELD_W-1:0]  inside_q, left, ahead_q;            // words inside, as they came; those in front of the followed one
  logic [31:0]        word_q;
  logic [COUNT_W-1:0] tail_q;
  layout_t            layout_q, held_layout_q;
  logic [13:0]        at_q, marker_at;                    // words of the packet that are out; where the beat's marker is
  logic [WORDS-1:0]   is_marker;
  logic [WORDS-1:0][31:0] out_word;
  logic [3:0]         silent_q;

  assign push      = in_valid_i && in_ready;
  assign pop       = out_valid && out_ready_i;
  assign in_words  = (WORD_W + 1)'((in_count_i + COUNT_W'(3)) >> 2);
  assign out_words = (WORD_W + 1)'((out_count + COUNT_W'(3)) >> 2);
  assign out_word  = out_data;
  assign left      = inside_q - (pop ? HELD_W'(plain) : '0);
  assign here      = followed_q && ahead_q < HELD_W'(plain);

  // A marker in this lane: a whole number of 128 words behind the first one.
  always_comb begin
    plain     = out_words;
    marker_at = '0;
    for (int unsigned i = 0; i < WORDS; i++) begin
      is_marker[i] = out_layout.markers && (WORD_W + 1)'(i) < out_words && at_q + 14'(i) >= 14'(out_layout.to_marker) &&
                     7'(at_q + 14'(i) - 14'(out_layout.to_marker)) == '0;
      if (is_marker[i]) begin
        plain     = out_words - 1'b1;
        marker_at = at_q + 14'(i);
      end
    end
  end

  // The followed word is behind the marker, if there is one in front of it.
  logic [WORD_W-1:0] lane;
  logic [WORDS-1:0]  below;
  assign below = is_marker & ~({WORDS{1'b1}} << (WORD_W + 1)'(ahead_q[WORD_W-1:0] + 1'b1));
  assign lane  = ahead_q[WORD_W-1:0] + WORD_W'(below != '0 || (ahead_q[WORD_W-1:0] == '1 && is_marker != '0));

  logic [15:0] pointer;
  assign pointer = {marker_at, 2'b00} - (out_layout.to_marker == '0 && marker_at != '0 ? 16'd4 : 16'd0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      followed_q <= 1'b0;
      inside_q   <= '0;
      at_q       <= '0;
      first_q    <= 1'b1;
      held_q     <= 1'b0;
      silent_q   <= '0;
    end else begin
      inside_q <= left + (push ? HELD_W'(in_words) : '0);
      if (push) first_q <= in_last_i;
      held_q        <= in_layout_valid_i && !in_layout_ready;
      held_layout_q <= in_layout_i;
      if (pop) at_q <= out_last ? '0 : at_q + 14'(out_words);
      if (followed_q) begin
        if (pop) begin
          ahead_q    <= ahead_q - HELD_W'(plain);
          followed_q <= !here;
        end
      end else if (push && mark_i && (WORD_W + 1)'(lane_i) < in_words) begin
        followed_q <= 1'b1;
        ahead_q    <= left + HELD_W'(lane_i);
        word_q     <= in_data_i[{lane_i, 5'd0} +: 32];
        is_last_q  <= in_last_i && (WORD_W + 1)'(lane_i) + 1'b1 == in_words;
        tail_q     <= in_count_i;
        layout_q   <= in_layout_i;
      end
      silent_q <= (out_valid || inside_q < HELD_W'(WORDS)) ? '0 : silent_q + 1'b1;
    end
  end

  always_comb begin
    a_full: assume (!in_valid_i || (in_count_i != '0 && in_count_i <= COUNT_W'(BYTES) && (in_last_i || in_count_i == COUNT_W'(BYTES))));
    a_words: assume (!(in_valid_i && in_layout_valid_i && in_layout_i.markers) || in_count_i[1:0] == '0);
    a_layout: assume (!held_q || (in_layout_valid_i && in_layout_i == held_layout_q));
    if (rst_ni) begin
      nothing_invented: assert (!out_valid || HELD_W'(plain) <= inside_q);
      beats_full: assert (!out_valid || (out_count != '0 && (out_last || out_count == COUNT_W'(BYTES))));
      marker_at_most_one: assert (!out_valid || (is_marker & (is_marker - 1'b1)) == '0);
      marker_right: assert (!(out_valid && is_marker != '0) ||
                            out_word[WORD_W'(marker_at - at_q)] == {pointer[7:0], pointer[15:8], 16'd0});
      no_marker_last: assert (!(out_valid && out_last) || !is_marker[WORD_W'(out_words - 1'b1)]);
      unchanged: assert (!(out_valid && here) || (tail_q[1:0] == '0 || !is_last_q ? out_word[lane] == word_q :
                         tail_q[1:0] == 2'd1 ? out_word[lane][7:0] == word_q[7:0] :
                         tail_q[1:0] == 2'd2 ? out_word[lane][15:0] == word_q[15:0] : out_word[lane][23:0] == word_q[23:0]));
      ends_kept: assert (!(out_valid && here) || is_last_q == (out_last && (WORD_W + 1)'(lane) + 1'b1 == out_words));
      tail_kept: assert (!(out_valid && here && is_last_q) || out_count[1:0] == tail_q[1:0]);
      layout_kept: assert (!(out_valid && here) || out_layout == layout_q);
      goes_on: assert (silent_q <= 4'd6);
    end
  end

endmodule
