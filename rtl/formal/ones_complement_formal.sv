// What rx_checksum_formal leaves to arithmetic. The one's complement sum of words (RFC 1071) adds one after the other and puts each
// carry back in. Here: with one word more, the fold of a number is the fold before it and that word added so; so the fold of a sum of
// words is their one's complement sum. And whether that is 0xffff is the same in either byte order.
//
// The step is shown in two halves, both equal to the fold of low half + high half + word, a number in which the order does not matter.

module ones_complement_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [31:0] number_i,
  input logic [15:0] word_i
);

  function automatic logic [15:0] folded(input logic [31:0] number);
    logic [16:0] once;
    once = 17'(number[15:0]) + 17'(number[31:16]);
    return once[15:0] + 16'(once[16]);
  endfunction
  function automatic logic [15:0] added(input logic [15:0] a, input logic [15:0] b);
    logic [16:0] once;
    once = 17'(a) + 17'(b);
    return once[15:0] + 16'(once[16]);
  endfunction
  function automatic logic [15:0] turned(input logic [15:0] a);
    return {a[7:0], a[15:8]};
  endfunction

  logic [15:0] low, high;
  logic [32:0] more;
  assign {high, low} = number_i;
  assign more        = 33'(number_i) + 33'(word_i);
  always_comb begin
    begins : assert (folded(32'd0) == 16'd0 && folded(32'(word_i)) == word_i);
    of_the_sum : assert (more[32] || folded(more[31:0]) == folded((32'(low) + 32'(word_i)) + 32'(high)));
    of_the_word : assert (added(folded(number_i), word_i) == folded((32'(low) + 32'(high)) + 32'(word_i)));
    either_order : assert (turned(added(low, word_i)) == added(turned(low), turned(word_i)));
  end

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

endmodule
