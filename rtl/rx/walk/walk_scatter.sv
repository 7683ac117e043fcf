// Steps along the SGEs of a receive element (RFC 5041 §5.3): where an FPDU's payload begins, and what of it each SGE takes. The first SGE with length
// 0 ends the list.
//
// Handshake: Pulses of walk_check. `load_i` takes the element and selects its first SGE; `too_long_o` follows three cycles later. `compare_i`, then
//            `skip_i`: advances to the message offset, by one SGE with `beyond_o`, else into this one. `cut_i` registers the piece of this SGE;
//            `next_i` takes it off and selects the next SGE. `ends_o` follows `cut_i` by two cycles.
// Pipeline:  step        | registers                                     | what happens
//            load        | element_q, left_q, to_q, skip_q, rest_q       | element, first SGE, offset, payload
//            compare     | beyond_q, left_less_q, skip_less_q, to_more_q | both outcomes of the skip
//            cut         | taken_q                                       | the smaller of SGE and payload left
//            load        | need_q, some_q                                | offset plus payload; lengths that are not 0
//            load + 1    | *_left_q, both_high_q, *_counts_q             | sums of lengths, less what is needed; which count
//            load + 2    | too_long_o                                    | the sum of those that count is below 0

module walk_scatter
  import weft_card_pkg::*;
(
  input logic clk_i,

  input  logic                    load_i,
  input  receive_element_t        element_i,
  input  logic             [31:0] mo_i,           // valid from the cycle before `load_i` until `too_long_o`
  input  logic             [15:0] payload_len_i,
  output logic                    too_long_o,

  input  logic compare_i,
  input  logic skip_i,
  output logic beyond_o,
  input  logic cut_i,
  output logic ends_o,
  input  logic next_i,

  output logic        first_o,  // the element's first SGE
  output logic [31:0] stag_o,   // of the selected SGE
  output logic [63:0] to_o,
  output logic [15:0] piece_o,
  output logic [15:0] taken_o   // the piece of `cut_i`
);
  // ------------------------------------------------------------------ the selected SGE
  receive_element_t             element_q;
  logic             [1:0]       sge_q;
  logic             [3:0][63:0] to;
  logic [3:0][31:0] length, stag;
  logic [1:0] following;
  assign to        = {element_q.sge3_to, element_q.sge2_to, element_q.sge1_to, element_q.sge0_to};
  assign length    = {element_q.sge3_length, element_q.sge2_length, element_q.sge1_length, element_q.sge0_length};
  assign stag      = {element_q.sge3_stag, element_q.sge2_stag, element_q.sge1_stag, element_q.sge0_stag};
  assign following = sge_q + 2'd1;

  logic [31:0] left_q, stag_q, skip_q, left_less_q, skip_less_q;
  logic [63:0] to_q, to_more_q;
  logic [15:0] rest_q, taken_q;
  logic beyond_q, ends_q;
  logic [32:0] low;
  assign low     = {1'b0, to_q[31:0]} + {1'b0, skip_q};
  assign piece_o = left_q[31:16] == '0 && left_q[15:0] < rest_q ? left_q[15:0] : rest_q;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      element_q <= element_i;
      sge_q     <= 2'd0;
      left_q    <= element_i.sge0_length;
      stag_q    <= element_i.sge0_stag;
      to_q      <= element_i.sge0_to;
      skip_q    <= mo_i;
      rest_q    <= payload_len_i;
    end
    if (compare_i) begin
      beyond_q    <= skip_q >= left_q;
      left_less_q <= left_q - skip_q;
      skip_less_q <= skip_q - left_q;
      to_more_q   <= {low[32] ? to_q[63:32] + 32'd1 : to_q[63:32], low[31:0]};
    end
    if (skip_i && !beyond_q) begin
      left_q <= left_less_q;
      to_q   <= to_more_q;
    end
    if (skip_i) skip_q <= skip_less_q;
    if (next_i || (skip_i && beyond_q)) begin
      sge_q  <= following;
      left_q <= length[following];
      stag_q <= stag[following];
      to_q   <= to[following];
    end
    if (cut_i) taken_q <= piece_o;
    ends_q <= taken_q == rest_q;
    if (next_i) rest_q <= rest_q - taken_q;
  end

  // ------------------------------------------------------------------ does it fit?
  // The length of an SGE counts where no SGE before it has length 0.
  logic [2:0][3:0] some_q;  // a byte of the SGE's length is not 0
  logic [2:0]      some;
  logic [32:0] need_q, both_high_q, high;
  logic [31:0] third_q;
  logic second_counts_q, third_counts_q, fourth_counts_q;
  logic [34:0] a, b, c, x, y, first_left_q, both_left_q, low_left, over;
  logic [33:0] over_q;
  always_comb begin
    for (int unsigned i = 0; i < 3; i++) some[i] = some_q[i] != '0;
    // The first two lengths less what is needed: three numbers to two, which are added.
    a        = 35'(length[0]);
    b        = 35'(length[1]);
    c        = ~35'(need_q);
    x        = a ^ b ^ c;
    y        = {34'((a & b) | (a & c) | (b & c)), 1'b1};
    low_left = second_counts_q ? both_left_q : first_left_q;
    high     = fourth_counts_q ? both_high_q : third_counts_q ? 33'(third_q) : 33'd0;
    over     = low_left + 35'(high);
  end
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned i = 0; i < 4; i++) begin
        some_q[0][i] <= element_i.sge0_length[8*i+:8] != '0;
        some_q[1][i] <= element_i.sge1_length[8*i+:8] != '0;
        some_q[2][i] <= element_i.sge2_length[8*i+:8] != '0;
      end
    end
    need_q               <= 33'(mo_i) + 33'(payload_len_i);
    first_left_q         <= a - 35'(need_q);
    both_left_q          <= x + y;
    both_high_q          <= 33'(length[2]) + 33'(length[3]);
    third_q              <= length[2];
    second_counts_q      <= some[0];
    third_counts_q       <= &some[1:0];
    fourth_counts_q      <= &some;
    {too_long_o, over_q} <= over;
  end

  assign first_o  = sge_q == 2'd0;
  assign beyond_o = beyond_q;
  assign ends_o   = ends_q;
  assign stag_o   = stag_q;
  assign to_o     = to_q;
  assign taken_o  = taken_q;

  logic unused;
  assign unused = ^over_q;
endmodule
