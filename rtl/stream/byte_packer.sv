// Concatenates pieces of 1 to DATA_W/UNIT_W units, bytes if nothing else is said, into full beats, up to the piece with `last`.
//
// Handshake: ready/valid at both ends, output held until taken. Latency two cycles. One piece a cycle, and one cycle more for a packet whose last
//            piece spills into another beat.
// Pipeline:  stage  | registers        | what happens                           | hazards
//            rotate | r_data_q, fill_q | the piece is rotated to the fill level
//            merge  | o_data_q, rest_q | it is merged with the units left       | flush_q: a spill takes a cycle, and stalls rotate
// Why:       A piece never has zero units. Those behind `out_count_o` are undefined.

`include "weft_assert.svh"

module byte_packer #(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned UNIT_W  = 8,
  localparam int unsigned UNITS   = DATA_W / UNIT_W,
  localparam int unsigned FILL_W  = $clog2(UNITS),
  localparam int unsigned COUNT_W = FILL_W + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [ DATA_W-1:0] in_data_i,
  input  logic [COUNT_W-1:0] in_count_i,
  input  logic               in_last_i,

  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [ DATA_W-1:0] out_data_o,
  output logic [COUNT_W-1:0] out_count_o,
  output logic               out_last_o
);

  // ---------------------------------------------------------------- rotate
  logic [ FILL_W-1:0] fill_q;  // units of the packet that do not fill a beat yet
  logic [COUNT_W-1:0] sum;  // at most 2 * UNITS - 1
  logic [ DATA_W-1:0] rotated;
  logic r_valid_q, r_last_q, r_take;
  logic [ DATA_W-1:0] r_data_q;
  logic [ FILL_W-1:0] r_fill_q;
  logic [COUNT_W-1:0] r_sum_q;

  assign sum        = COUNT_W'(fill_q) + in_count_i;
  assign in_ready_o = !r_valid_q || r_take;

  always_comb begin
    rotated = in_data_i;
    for (int unsigned s = 0; s < FILL_W; s++) begin
      if (fill_q[s]) rotated = (rotated << (UNIT_W << s)) | (rotated >> (DATA_W - (UNIT_W << s)));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_q    <= '0;
      r_valid_q <= 1'b0;
    end else if (in_ready_o) begin
      r_valid_q <= in_valid_i;
      if (in_valid_i) fill_q <= in_last_i ? '0 : sum[FILL_W-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_ready_o) begin
      r_data_q <= rotated;
      r_fill_q <= fill_q;
      r_sum_q  <= sum;
      r_last_q <= in_last_i;
    end
  end

  // ---------------------------------------------------------------- merge
  logic full, spill, flush_q, o_free, o_load;
  logic [DATA_W-1:0] merged, rest_q;
  logic o_valid_q, o_last_q;
  logic [DATA_W-1:0] o_data_q;
  logic [COUNT_W-1:0] o_count_q, flush_count_q;

  assign full   = r_sum_q >= COUNT_W'(UNITS);
  assign spill  = r_last_q && r_sum_q > COUNT_W'(UNITS);
  assign o_free = !o_valid_q || out_ready_i;
  assign r_take = o_free && !flush_q;
  assign o_load = flush_q || (r_valid_q && (full || r_last_q));

  always_comb begin
    for (int unsigned u = 0; u < UNITS; u++) begin
      merged[UNIT_W*u+:UNIT_W] = FILL_W'(u) < r_fill_q ? rest_q[UNIT_W*u+:UNIT_W] : r_data_q[UNIT_W*u+:UNIT_W];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      o_valid_q <= 1'b0;
      flush_q   <= 1'b0;
    end else if (o_free) begin
      o_valid_q <= o_load;
      flush_q   <= !flush_q && r_valid_q && spill;
    end
  end

  always_ff @(posedge clk_i) begin
    if (o_free) begin
      o_data_q  <= flush_q ? rest_q : merged;
      o_last_q  <= flush_q || (r_last_q && !spill);
      o_count_q <= flush_q ? flush_count_q : full ? COUNT_W'(UNITS) : r_sum_q;
      if (r_valid_q && !flush_q) begin
        rest_q        <= full ? r_data_q : merged;
        flush_count_q <= r_sum_q - COUNT_W'(UNITS);
      end
    end
  end

  assign out_valid_o = o_valid_q;
  assign out_data_o  = o_data_q;
  assign out_count_o = o_count_q;
  assign out_last_o  = o_last_q;

  if (UNITS < 2 || (1 << FILL_W) * UNIT_W != DATA_W) begin : gen_param_check
    $error("byte_packer: DATA_W / UNIT_W must be a power of two, at least 2");
  end
  `WEFT_ASSERT(piece_size, in_valid_i -> in_count_i != '0 && in_count_i <= COUNT_W'(UNITS))
  `WEFT_ASSERT(beats_full, out_valid_o -> out_count_o != '0 && (out_last_o || out_count_o == COUNT_W'(UNITS)))
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o)

endmodule
