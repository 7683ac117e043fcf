// In place of rx/walk/stag_check, and of region_rule, in the proof of who asks: the same latency and another function of the same
// question, without sums, so that it is about which question is answered, and when. That the real answer is region_rule's for any
// question is proven by itself (stag_check_formal).

module region_rule
  import weft_card_pkg::*;
(
  input  stag_row_t        row_i,
  input  logic             in_range_i,
  input  logic      [ 7:0] key_i,
  input  logic      [63:0] to_i,
  input  logic      [15:0] bytes_i,
  input  logic      [ 7:0] right_i,
  input  logic      [31:0] pd_i,
  output logic             known_o,
  output logic             no_wrap_o,
  output logic             same_pd_o,
  output logic             right_o,
  output logic             inside_o,
  output logic             may_o,
  output logic      [63:0] iova_o
);

  assign known_o   = in_range_i && row_i.valid[STAG_ROW_VALID_BIT] && row_i.key == key_i;
  assign no_wrap_o = to_i[63:48] != bytes_i;
  assign same_pd_o = row_i.pd == pd_i;
  assign right_o   = (row_i.access & right_i) != '0;
  assign inside_o  = (to_i ^ row_i.base) != (row_i.length ^ 64'(bytes_i));
  assign may_o     = known_o && no_wrap_o && same_pd_o && right_o && inside_o;
  assign iova_o    = row_i.iova ^ to_i ^ row_i.base;

endmodule

module stag_check
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input  logic               clk_i,
  input  stag_row_t          row_i,
  input  logic               in_range_i,
  input  logic        [31:0] stag_i,
  input  logic        [63:0] to_i,
  input  logic        [15:0] bytes_i,
  input  logic        [ 7:0] right_i,
  input  logic        [31:0] pd_i,
  output region_bad_t        bad_o,
  output logic               any_bad_o,
  output logic        [63:0] iova_o,
  output logic        [31:0] pd_o
);

  stag_row_t row_q;
  logic in_range_q, known, no_wrap, same_pd, right, in_bounds, may, may_q;
  logic [7:0] key_q, right_q;
  logic [63:0] to_q, iova, iova_q;
  logic        [15:0] bytes_q;
  logic        [31:0] pd_q;
  region_bad_t        bad_q;

  region_rule u_rule (
    .row_i     (row_q),
    .in_range_i(in_range_q),
    .key_i     (key_q),
    .to_i      (to_q),
    .bytes_i   (bytes_q),
    .right_i   (right_q),
    .pd_i,
    .known_o   (known),
    .no_wrap_o (no_wrap),
    .same_pd_o (same_pd),
    .right_o   (right),
    .inside_o  (in_bounds),
    .may_o     (may),
    .iova_o    (iova)
  );

  always_ff @(posedge clk_i) begin
    {row_q, in_range_q, key_q, to_q, bytes_q, right_q} <= {row_i, in_range_i, stag_i[7:0], to_i, bytes_i, right_i};
    bad_q                                              <= {!known, !no_wrap, !same_pd, !right, !in_bounds};
    may_q                                              <= may;
    iova_q                                             <= iova;
    pd_q                                               <= row_q.pd;
  end

  assign bad_o     = bad_q;
  assign any_bad_o = !may_q;
  assign iova_o    = iova_q;
  assign pd_o      = pd_q;

  logic unused;
  assign unused = ^stag_i[31:8];

endmodule
