// May `bytes` bytes at TO of the region be written by this stream with this access right, and where are they? The checks
// of RFC 5041 §7 and RFC 5040 §4.8 in the order of docs/card.md. Combinational.

module stag_check
  import walk_pkg::*;
  import weft_card_pkg::*;
(
    input stag_row_t row_i,
    input logic in_range_i,
    input logic [31:0] stag_i,
    input logic [63:0] to_i,
    input logic [15:0] bytes_i,
    input logic [31:0] pd_i,
    input logic [7:0] right_i,
    output err_e err_o,
    output logic [63:0] iova_o
);
  logic [64:0] end_to, end_region;
  assign end_to = {1'b0, to_i} + 65'(bytes_i);
  assign end_region = {1'b0, row_i.base} + {1'b0, row_i.length};
  assign iova_o = row_i.iova + (to_i - row_i.base);

  always_comb begin
    err_o = ERR_NONE;
    if (!in_range_i || !row_i.valid[STAG_ROW_VALID_BIT] || row_i.key != stag_i[7:0]) err_o = ERR_STAG;
    else if (end_to[64] && end_to[63:0] != 64'd0) err_o = ERR_WRAP;
    else if (row_i.pd != pd_i) err_o = ERR_PD;
    else if ((row_i.access & right_i) == 8'd0) err_o = ERR_ACCESS;
    else if (to_i < row_i.base || end_to > end_region) err_o = ERR_BOUNDS;
  end

  logic unused;
  assign unused = ^{row_i.rsvd_32, row_i.rsvd_3, row_i.valid[7:1], stag_i[31:8]};
endmodule
