// Proves of walk_region: the answer for a tagged FPDU is region_rule's, for what its header says (read here byte by byte), with the
// row that the table gave for its STag and the PD of its segment; the answer for an SGE likewise, with the right to write locally.
//
// Any header, any rows, any SGE at any time. The user keeps the PD from an FPDU's taking until `free_i`, and
// takes and frees as he should; he asks for no SGE while a look-up of his is on its way.

module walk_region_formal
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic              clk_i,
  input logic              rst_ni,
  input logic              tables_ready_i,
  input logic              head_valid_i,
  input fpdu_head_t        head_i,
  input logic              row_in_range_i,
  input stag_row_t         row_i,
  input logic              sge_look_i,
  input logic       [23:0] sge_index_i,
  input logic       [31:0] sge_stag_i,
  input logic       [63:0] sge_to_i,
  input logic       [15:0] sge_bytes_i,
  input logic       [31:0] pd_i,
  input logic              next_ready_i,
  input logic              free_i
);

  logic head_ready, lookup, sge_bad, next_valid, region_valid, idle;
  logic [23:0] lookup_index;
  logic [63:0] sge_iova, region_iova;
  // The header at the output while the FPDU is there, and kept by its user from then on.
  ddp_header_t header, shown, kept_q;
  logic        [15:0] next_offset;
  region_bad_t        bad;

  walk_region dut (
    .clk_i,
    .rst_ni,
    .tables_ready_i,
    .head_valid_i,
    .head_ready_o  (head_ready),
    .head_i,
    .lookup_o      (lookup),
    .lookup_index_o(lookup_index),
    .row_in_range_i,
    .row_i,
    .sge_look_i,
    .sge_index_i,
    .sge_stag_i,
    .sge_to_i,
    .sge_bytes_i,
    .pd_i,
    .sge_bad_o     (sge_bad),
    .sge_iova_o    (sge_iova),
    .next_valid_o  (next_valid),
    .next_ready_i,
    .next_header_o (shown),
    .next_offset_o (next_offset),
    .region_valid_o(region_valid),
    .region_bad_o  (bad),
    .region_iova_o (region_iova),
    .free_i,
    .idle_o        (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the FPDU
  typedef struct packed {
    stag_row_t row;
    logic      in_range;
  } found_t;
  fpdu_head_t             head_q;
  logic       [19:0][7:0] b;
  logic take, row_due_q, taken_q;
  logic   [31:0] was_pd_q;
  found_t        found_q;
  logic   [31:0] stag;
  logic   [63:0] to;
  logic   [15:0] payload;
  logic   [ 7:0] right;
  logic          judged;  // it is one whose region counts
  logic known, no_wrap, same_pd, has_right, in_bounds, may;
  logic [63:0] where;

  assign take    = head_valid_i && head_ready;
  assign header  = next_valid ? shown : kept_q;
  assign b       = head_q.word;
  assign stag    = {b[4], b[5], b[6], b[7]};
  assign to      = {b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]};
  assign payload = {b[0], b[1]} - 16'd14;
  assign right   = b[3][3:0] == 4'd0 ? ACCESS_REMOTE_WRITE : b[3][3:0] == 4'd2 ? ACCESS_READ_SINK : 8'd0;
  assign judged  = header.kind == CLASS_TAGGED && header.err == ERR_NONE;

  always_ff @(posedge clk_i) begin
    was_pd_q <= pd_i;
    kept_q   <= header;
    if (!rst_ni) begin
      row_due_q <= 1'b0;
      taken_q   <= 1'b0;
    end else begin
      row_due_q <= take;
      taken_q   <= !free_i && (taken_q || next_ready_i);
    end
    if (take) head_q <= head_i;
    if (row_due_q) found_q <= '{row: row_i, in_range: row_in_range_i};
  end

  region_rule u_rule (
    .row_i     (found_q.row),
    .in_range_i(found_q.in_range),
    .key_i     (stag[7:0]),
    .to_i      (to),
    .bytes_i   (payload),
    .right_i   (right),
    .pd_i,
    .known_o   (known),
    .no_wrap_o (no_wrap),
    .same_pd_o (same_pd),
    .right_o   (has_right),
    .inside_o  (in_bounds),
    .may_o     (may),
    .iova_o    (where)
  );

  // ---------------------------------------------------------------- an SGE: question and row a cycle behind its look-up
  logic [2:0] sge_q;
  stag_row_t sge_row_q, sge_row2_q;
  logic sge_in_q, sge_in2_q, sge_may;
  logic [31:0] sge_stag_q, sge_stag2_q, sge_pd_q;
  logic [63:0] sge_to_q, sge_to2_q, sge_where;
  logic [15:0] sge_bytes_q, sge_bytes2_q;
  always_ff @(posedge clk_i) begin
    sge_q                                                         <= rst_ni ? {sge_q[1:0], sge_look_i} : '0;
    {sge_row_q, sge_in_q, sge_stag_q, sge_to_q, sge_bytes_q}      <= {row_i, row_in_range_i, sge_stag_i, sge_to_i, sge_bytes_i};
    {sge_row2_q, sge_in2_q, sge_stag2_q, sge_to2_q, sge_bytes2_q} <= {sge_row_q, sge_in_q, sge_stag_q, sge_to_q, sge_bytes_q};
    sge_pd_q                                                      <= pd_i;
  end
  region_rule u_sge_rule (
    .row_i     (sge_row2_q),
    .in_range_i(sge_in2_q),
    .key_i     (sge_stag2_q[7:0]),
    .to_i      (sge_to2_q),
    .bytes_i   (sge_bytes2_q),
    .right_i   (ACCESS_LOCAL_WRITE),
    .pd_i      (sge_pd_q),
    .known_o   (),
    .no_wrap_o (),
    .same_pd_o (),
    .right_o   (),
    .inside_o  (),
    .may_o     (sge_may),
    .iova_o    (sge_where)
  );

  always_comb begin
    a_pd : assume (!taken_q || pd_i == was_pd_q);
    a_take : assume (!next_ready_i || next_valid);
    a_free : assume (!free_i || (dut.given_q && (region_valid || !judged || header.payload_len == '0)));
    if (rst_ni) begin
      looks_up :
      assert (!take || (lookup && (!head_i.word[0][23] || lookup_index == {head_i.word[1][7:0], head_i.word[1][15:8], head_i.word[1][23:16]})));
      sge_looks_up : assert (!sge_look_i || (lookup && lookup_index == sge_index_i));
      good_is_good : assert (!(region_valid && judged && bad == '0) || (may && b[2][7]));
      its_own : assert (!(region_valid && judged) || header.payload_len == payload);
      region : assert (!(region_valid && judged) || bad == {!known, !no_wrap, !same_pd, !has_right, !in_bounds});
      address : assert (!(region_valid && judged) || region_iova == where);
      sge_good : assert (!sge_q[2] || sge_bad == !sge_may);
      sge_address : assert (!sge_q[2] || sge_iova == sge_where);
      inv_row_due : assert (dut.step_q[0] == row_due_q && (dut.step_q & (dut.step_q - 3'd1)) == '0);
      inv_busy : assert (dut.busy_q || (dut.step_q == '0 && !dut.answered_q && !dut.given_q));
      inv_one_stage : assert (!(dut.answered_q && dut.step_q != '0) && (dut.answered_q || dut.step_q != '0 || !dut.busy_q));
      inv_taken : assert (taken_q == dut.given_q);
      inv_shown : assert (!dut.busy_q || dut.over || shown == header);
      inv_sge : assert (dut.sge_q == sge_q[0]);
      inv_header :
      assert (!(dut.busy_q && judged) || (b[2][7] && header.stag_or_qn == stag && header.to_or_mo == to &&
                          header.payload_len == payload && header.rdmap_control == b[3] && right != '0));
      inv_bad :
      assert (!(dut.answered_q && judged) || (dut.bad_q.stag == !known && dut.bad_q.wrap == !no_wrap &&
                       dut.bad_q.access == !has_right && dut.bad_q.bounds == !in_bounds));
      inv_kept : assert (!(dut.answered_q && judged) || (dut.iova_q == where && dut.pd_q == found_q.row.pd));
      inv_pd : assert (!(dut.answered_q && taken_q && judged) || dut.bad_pd_q == (found_q.row.pd != was_pd_q));
    end
  end

endmodule
