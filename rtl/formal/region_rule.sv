// May `bytes_i` bytes at TO be written with this STag, as RFC 5041 §7 and RFC 5040 §4.8 have it and docs/card.md says it? Written
// from them, with sums wide enough for any carry; nothing of how stag_check computes it. Where the first byte lies is modulo 2^64.

module region_rule
  import weft_card_pkg::*;
(
  // verilator lint_off UNUSEDSIGNAL
  input  stag_row_t        row_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic             in_range_i,
  input  logic      [ 7:0] key_i,
  input  logic      [63:0] to_i,
  input  logic      [15:0] bytes_i,
  input  logic      [ 7:0] right_i,
  input  logic      [31:0] pd_i,
  output logic             known_o,     // valid and the STag's key
  output logic             no_wrap_o,   // the last byte's TO is below 2^64
  output logic             same_pd_o,
  output logic             right_o,
  output logic             inside_o,    // from the region's first byte to its last one
  output logic             may_o,
  output logic      [63:0] iova_o
);

  logic [66:0] first, behind_last, from, behind;

  assign first       = 67'(row_i.base);
  assign behind_last = 67'(row_i.base) + 67'(row_i.length);
  assign from        = 67'(to_i);
  assign behind      = 67'(to_i) + 67'(bytes_i);

  assign known_o     = in_range_i && row_i.valid[STAG_ROW_VALID_BIT] && row_i.key == key_i;
  assign no_wrap_o   = behind <= {3'd1, 64'd0};
  assign same_pd_o   = row_i.pd == pd_i;
  assign right_o     = (row_i.access & right_i) != '0;
  assign inside_o    = first <= from && behind <= behind_last;
  assign may_o       = known_o && no_wrap_o && same_pd_o && right_o && inside_o;
  assign iova_o      = row_i.iova + (to_i - row_i.base);

endmodule
