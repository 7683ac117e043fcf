// Inserts MPA markers (RFC 5044 §4.2, §4.3) into packed FPDUs, and passes everything else through.
//
// Handshake: ready/valid at both ends. `in_layout_i` has one item for each packet; `out_layout_o` is constant over a packet. Latency four cycles; one
//            beat a cycle, one cycle more when a packet spills into another beat.
// Pipeline:  stage  | registers          | what happens                                       | hazards
//            place  | p_*_q, to_marker_q | where the marker lies in the beat, and its pointer | fill_q, next_q carry on from the beat before
//            insert | x_data_q           | it is inserted among the words, at most one a beat
//            rotate | r_data_q           | rotated to the fill level
//            merge  | rest_q, u_out      | merged with the words left                         | flush_q: a spill takes a cycle
// Why:       Markers and FPDUs are whole 32-bit words, so all shifts are by words.

`include "weft_assert.svh"

module tx_markers
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned WORDS   = DATA_W / 32,
  localparam int unsigned WORD_W  = $clog2(WORDS),
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                  in_layout_valid_i,
  output logic                  in_layout_ready_o,
  input  layout_t               in_layout_i,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic    [ DATA_W-1:0] in_data_i,
  input  logic    [COUNT_W-1:0] in_count_i,
  input  logic                  in_last_i,

  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic    [ DATA_W-1:0] out_data_o,
  output logic    [COUNT_W-1:0] out_count_o,
  output logic                  out_last_o,
  output layout_t               out_layout_o
);

  // ---------------------------------------------------------------- insert
  // How far the next marker is from this beat's first word.
  logic first_q;
  logic [6:0] to_marker_q, to_marker;
  logic seen_q, seen;  // the packet has a marker already
  logic [      13:0] next_q;  // pointer of the next marker
  logic [WORD_W-1:0] fill_q;  // words that do not fill a beat yet
  logic [COUNT_W:0] sum, plain, marked;  // at most 2 * BYTES
  logic insert, take;
  logic [ 7:0] words;  // of this beat, begun ones included
  logic [13:0] pointer;
  logic [31:0] marker;

  assign words     = (8'(in_count_i) + 8'd3) >> 2;
  assign to_marker = first_q ? in_layout_i.to_marker : to_marker_q;
  assign seen      = !first_q && seen_q;
  assign insert    = in_layout_i.markers && 8'(to_marker) < words;
  // From the ULPDU length field to the marker. A leading marker's pointer is 0, and the length field is behind it.
  assign pointer   = seen ? next_q : {5'd0, in_layout_i.to_marker, 2'b00};
  assign marker    = {swap16(16'(pointer)), 16'd0};
  // Both sums, selected last, as `insert` is late.
  assign plain     = (COUNT_W + 1)'({fill_q, 2'b00}) + (COUNT_W + 1)'(in_count_i);
  assign marked    = (COUNT_W + 1)'({(WORD_W + 1)'(fill_q) + (WORD_W + 1)'(1), 2'b00}) + (COUNT_W + 1)'(in_count_i);
  assign sum       = insert ? marked : plain;

  logic p_valid_q, p_take, p_last_q;
  logic [DATA_W-1:0] p_data_q;
  logic [WORDS:0] at, behind, p_at_q, p_behind_q;  // at: the word is the marker; behind: it lies behind the marker
  logic    [      31:0] p_marker_q;
  logic    [WORD_W-1:0] p_fill_q;
  logic    [ COUNT_W:0] p_sum_q;
  layout_t              p_layout_q;

  assign in_ready_o        = in_layout_valid_i && (!p_valid_q || p_take);
  assign take              = in_valid_i && in_ready_o;
  assign in_layout_ready_o = take && in_last_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q   <= 1'b1;
      fill_q    <= '0;
      p_valid_q <= 1'b0;
    end else begin
      if (take) begin
        first_q <= in_last_i;
        fill_q  <= (in_last_i || !in_layout_i.markers) ? '0 : sum[COUNT_W-2:2];
      end
      if (!p_valid_q || p_take) p_valid_q <= take;
    end
  end

  // As shifts: comparisons with each word's number would be chains.
  assign at     = {{WORDS{1'b0}}, in_layout_i.markers} << to_marker;
  assign behind = {{WORDS{in_layout_i.markers}}, 1'b0} << to_marker;

  // 512 further; 508 behind a marker in front of its FPDU, which only a packet's first one can be.
  logic [13:0] following;
  always_comb begin
    if (seen) following = {next_q[13:9] + 5'd1, next_q[8:0]};
    else if (in_layout_i.to_marker == '0) following = 14'd508;
    else following = {5'd1, in_layout_i.to_marker, 2'b00};
  end

  // A place behind the beat's last word may get a marker as well: these words are not used.
  always_ff @(posedge clk_i) begin
    if (take) begin
      to_marker_q <= insert ? to_marker + (7'd127 - 7'(words)) : to_marker - 7'(words);
      seen_q      <= seen || insert;
      if (insert) next_q <= following;
      p_behind_q <= behind;
      p_at_q     <= at;
      p_marker_q <= marker;
      p_data_q   <= in_data_i;
      p_fill_q   <= fill_q;
      p_sum_q    <= sum;
      p_last_q   <= in_last_i;
      p_layout_q <= in_layout_i;
    end
  end

  logic x_valid_q, x_take, x_last_q;
  logic [DATA_W+31:0] expanded, x_data_q;
  logic    [WORD_W-1:0] x_fill_q;
  logic    [ COUNT_W:0] x_sum_q;
  layout_t              x_layout_q;

  assign p_take = !x_valid_q || x_take;

  always_comb begin
    expanded = {32'd0, p_data_q};
    for (int unsigned w = 0; w <= WORDS; w++) begin
      if (p_at_q[w]) expanded[32*w+:32] = p_marker_q;
      else if (w > 0 && p_behind_q[w]) expanded[32*w+:32] = p_data_q[32*(w>0?w-1 : 0)+:32];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) x_valid_q <= 1'b0;
    else if (p_take) x_valid_q <= p_valid_q;
  end

  always_ff @(posedge clk_i) begin
    if (p_take) begin
      x_data_q   <= expanded;
      x_fill_q   <= p_fill_q;
      x_sum_q    <= p_sum_q;
      x_last_q   <= p_last_q;
      x_layout_q <= p_layout_q;
    end
  end

  // ---------------------------------------------------------------- rotate
  logic r_valid_q, r_take, r_last_q;
  logic [DATA_W-1:0] rotated, r_data_q;
  logic    [      31:0] r_extra_q;  // the word pushed out of a full beat
  logic    [WORD_W-1:0] r_fill_q;
  logic    [ COUNT_W:0] r_sum_q;
  layout_t              r_layout_q;

  assign x_take = !r_valid_q || r_take;

  always_comb begin
    rotated = x_data_q[DATA_W-1:0];
    for (int unsigned s = 0; s < WORD_W; s++) begin
      if (x_fill_q[s]) rotated = (rotated << (32 << s)) | (rotated >> (DATA_W - (32 << s)));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) r_valid_q <= 1'b0;
    else if (x_take) r_valid_q <= x_valid_q;
  end

  always_ff @(posedge clk_i) begin
    if (x_take) begin
      r_data_q   <= rotated;
      r_extra_q  <= x_data_q[DATA_W+:32];
      r_fill_q   <= x_fill_q;
      r_sum_q    <= x_sum_q;
      r_last_q   <= x_last_q;
      r_layout_q <= x_layout_q;
    end
  end

  // ---------------------------------------------------------------- merge
  localparam logic [COUNT_W:0] ONE_BEAT = (COUNT_W + 1)'(BYTES);
  localparam logic [COUNT_W:0] TWO_BEATS = (COUNT_W + 1)'(2 * BYTES);

  logic full, spill, flush_q, flush_last_q, o_free, o_valid, o_last;
  logic [DATA_W-1:0] merged, beyond, rest_q, o_data;
  logic [COUNT_W-1:0] o_count, flush_count_q;
  layout_t o_layout, flush_layout_q;

  assign full   = r_sum_q >= ONE_BEAT;
  assign spill  = (r_last_q && r_sum_q > ONE_BEAT) || r_sum_q == TWO_BEATS;
  assign r_take = o_free && !flush_q;

  always_comb begin
    for (int unsigned w = 0; w < WORDS; w++) begin
      merged[32*w+:32] = WORD_W'(w) < r_fill_q ? rest_q[32*w+:32] : r_data_q[32*w+:32];
      beyond[32*w+:32] = WORD_W'(w) == r_fill_q ? r_extra_q : r_data_q[32*w+:32];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flush_q <= 1'b0;
    else if (o_free) flush_q <= !flush_q && r_valid_q && spill;
  end

  always_ff @(posedge clk_i) begin
    if (o_free && r_valid_q && !flush_q) begin
      rest_q         <= full ? beyond : merged;
      flush_count_q  <= COUNT_W'(r_sum_q - ONE_BEAT);
      flush_last_q   <= r_last_q;
      flush_layout_q <= r_layout_q;
    end
  end

  assign o_valid  = flush_q || (r_valid_q && (full || r_last_q));
  assign o_data   = flush_q ? rest_q : merged;
  assign o_last   = flush_q ? flush_last_q : r_last_q && !spill;
  assign o_count  = flush_q ? flush_count_q : full ? COUNT_W'(BYTES) : COUNT_W'(r_sum_q);
  assign o_layout = flush_q ? flush_layout_q : r_layout_q;

  stream_slice #(
    .WIDTH($bits(layout_t) + 1 + COUNT_W + DATA_W)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i(o_valid),
    .in_ready_o(o_free),
    .in_data_i ({o_layout, o_last, o_count, o_data}),
    .out_valid_o,
    .out_ready_i,
    .out_data_o({out_layout_o, out_last_o, out_count_o, out_data_o}),
    .shown_o   ()
  );

  `WEFT_ASSERT(whole_words, take && in_layout_i.markers -> in_count_i[1:0] == 2'd0)
  `WEFT_ASSERT(beats_full, out_valid_o -> out_count_o != '0 && (out_last_o || out_count_o == COUNT_W'(BYTES)))

  for (genvar i = 0; i < int'(WORDS); i++) begin : gen_point
    `WEFT_COVER(marker, take && insert && to_marker == 7'(i))
  end

endmodule
