// A counter that advances by at most one a cycle, in another clock domain.
//
// Handshake: No handshake: a count is seen one cycle of the source and 2 to 3 of the destination late.
// Pipeline:  a register of Gray code in the source, bit_sync and a register in the destination.
// Why:       The value seen is one that the counter had shortly before, never another one, because one bit of its Gray code changes. Both resets are
//            one reset.

`include "weft_assert.svh"

module gray_sync #(
  parameter int unsigned WIDTH = 8
) (
  input logic             src_clk_i,
  input logic             src_rst_ni,
  input logic [WIDTH-1:0] src_count_i,

  input  logic             dst_clk_i,
  input  logic             dst_rst_ni,
  output logic [WIDTH-1:0] dst_count_o
);

  logic [WIDTH-1:0] gray_q, gray_d, seen, count;

  assign gray_d = src_count_i ^ (src_count_i >> 1);

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) gray_q <= '0;
    else gray_q <= gray_d;
  end

  bit_sync #(
    .WIDTH(WIDTH)
  ) u_sync (
    .clk_i  (dst_clk_i),
    .rst_ni (dst_rst_ni),
    .async_i(gray_q),
    .sync_o (seen)
  );

  // A bit is the parity of the Gray code's bits from its place on.
  always_comb begin
    for (int unsigned b = 0; b < WIDTH; b++) count[b] = ^(seen >> b);
  end

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) dst_count_o <= '0;
    else dst_count_o <= count;
  end

  `WEFT_ASSERT(one_bit_at_a_time, $onehot0(gray_d ^ gray_q), src_clk_i, src_rst_ni)

endmodule
