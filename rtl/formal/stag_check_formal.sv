// Proves of stag_check: for any row and any question, each cycle another one, the answer is that of region_rule, reason by reason,
// and the address is the region's byte at TO.

module stag_check_formal
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic             clk_i,
  input stag_row_t        row_i,
  input logic             in_range_i,
  input logic      [31:0] stag_i,
  input logic      [63:0] to_i,
  input logic      [15:0] bytes_i,
  input logic      [ 7:0] right_i,
  input logic      [31:0] pd_i         // a cycle behind the rest
);

  region_bad_t        bad;
  logic               any_bad;
  logic        [63:0] iova;
  logic        [31:0] pd;

  stag_check dut (
    .clk_i,
    .row_i,
    .in_range_i,
    .stag_i,
    .to_i,
    .bytes_i,
    .right_i,
    .pd_i,
    .bad_o    (bad),
    .any_bad_o(any_bad),
    .iova_o   (iova),
    .pd_o     (pd)
  );

  // The question that is answered now was put two cycles ago.
  typedef struct packed {
    stag_row_t   row;
    logic        in_range;
    logic [7:0]  key;
    logic [63:0] to;
    logic [15:0] bytes;
    logic [7:0]  right;
  } question_t;
  question_t asked_q, answered_q;
  logic [31:0] pd_q;
  logic [ 1:0] age_q = 2'd0;
  logic known, no_wrap, same_pd, right, in_bounds, may;
  logic [63:0] where;

  always_ff @(posedge clk_i) begin
    asked_q    <= '{row: row_i, in_range: in_range_i, key: stag_i[7:0], to: to_i, bytes: bytes_i, right: right_i};
    answered_q <= asked_q;
    pd_q       <= pd_i;
    if (age_q != 2'd2) age_q <= age_q + 2'd1;
  end

  region_rule u_rule (
    .row_i     (answered_q.row),
    .in_range_i(answered_q.in_range),
    .key_i     (answered_q.key),
    .to_i      (answered_q.to),
    .bytes_i   (answered_q.bytes),
    .right_i   (answered_q.right),
    .pd_i      (pd_q),
    .known_o   (known),
    .no_wrap_o (no_wrap),
    .same_pd_o (same_pd),
    .right_o   (right),
    .inside_o  (in_bounds),
    .may_o     (may),
    .iova_o    (where)
  );

  always_comb begin
    if (age_q == 2'd2) begin
      good_is_good : assert (any_bad || may);
      refused_is_bad : assert (!any_bad || !may);
      any_of_them : assert (any_bad == (bad != '0));
      stag : assert (bad.stag == !known);
      wrap : assert (bad.wrap == !no_wrap);
      access : assert (bad.access == !right);
      domain : assert (bad.pd == !same_pd && pd == answered_q.row.pd);
      bounds : assert (bad.bounds == !in_bounds);
      address : assert (iova == where);
    end
  end

endmodule
