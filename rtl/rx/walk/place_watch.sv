// Check before place, a second time, for simulation (docs/card.md "Check before place"). Each placement is compared with the received bytes, the
// table rows as written, and the receive element as read.
//
// Handshake: Observes only; `place_i` is compared in its cycle.
// Pipeline:  copies of header, tail, element and rows, taken when the walk takes them.
// Why:       Nothing of the walk's own checks is used: this module copies table STAG, decodes the header, and finds the region anew.
//            A row may be written between its lookup and the placement: then the row of before is accepted as well.

`include "weft_assert.svh"

module place_watch
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_STAGS = 1024
) (
  input logic clk_i,
  input logic rst_ni,

  input logic       tbl_accepted_i,
  input table_req_t tbl_req_i,

  input segment_t         seg_i,
  input logic             head_i,         // an FPDU's header, and its lookup; the FPDU before may be in hand
  input fpdu_head_t       head_words_i,
  input logic             begin_i,        // pulses: that FPDU is in hand; its end, its receive element
  input logic             tail_i,
  input fpdu_tail_t       tail_end_i,
  input logic             crc_good_i,
  input logic             element_i,
  input receive_element_t element_read_i,

  input logic        place_i,
  input logic [63:0] iova_i,
  input logic [15:0] bytes_i
);
  localparam int unsigned INDEX_W = $clog2(NUM_STAGS);
  stag_row_t                 rows                      [NUM_STAGS];
  logic      [NUM_STAGS-1:0] written_q;  // since reset
  fpdu_head_t next_head_q, head_q;
  fpdu_tail_t tail_q;
  logic crc_good_q, judged_q;
  receive_element_t element_q;
  stag_row_t next_then_q, tagged_then_q;
  stag_row_t [3:0] sge_then_q;

  function automatic logic [31:0] be32(input logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // A row and a STag have more bits than are used.
  // verilator lint_off UNUSEDSIGNAL
  function automatic stag_row_t row_of(input logic [31:0] stag);
    return written_q[stag[8+:INDEX_W]] ? rows[stag[8+:INDEX_W]] : '0;
  endfunction

  // Whether `length` bytes at TO may be written with this STag, and those at `iova` are among them.
  function automatic logic lies_in(input stag_row_t row, input logic [31:0] stag, input logic [7:0] right, input logic [63:0] to,
                                   input logic [15:0] length, input logic [63:0] iova);
    logic [65:0] first, last, from, behind;
    logic [63:0] offset;
    first  = 66'(row.base);
    last   = 66'(row.base) + 66'(row.length);
    from   = 66'(to);
    behind = 66'(to) + 66'(length);
    offset = iova - row.iova;
    return stag[31:8] != '0 && 32'(stag[31:8]) < NUM_STAGS && row.valid[STAG_ROW_VALID_BIT] && row.key == stag[7:0] &&
           row.pd == seg_i.row.pd && (row.access & right) != '0 && from >= first && behind <= last &&
           66'(offset) == from - first;
  endfunction

  // Whether `iova` lies in this SGE, and may be written there. RFC 5041 §7 checks the bytes of the segment only.
  function automatic logic lies_in_sge(input stag_row_t row, input logic [31:0] stag, input logic [63:0] to, input logic [31:0] length,
                                       input logic [63:0] iova, input logic [15:0] bytes);
    logic [63:0] at, into;
    at   = row.base + (iova - row.iova);
    into = at - to;
    return into < 64'(length) && into + 64'(bytes) <= 64'(length) && lies_in(row, stag, ACCESS_LOCAL_WRITE, at, bytes, iova);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  logic [31:0] stag;
  logic [63:0] to;
  logic [15:0] ulpdu;
  logic [ 3:0] opcode;
  logic        is_tagged;
  assign ulpdu     = {head_q.word[0][7:0], head_q.word[0][15:8]};
  assign is_tagged = head_q.word[0][23];
  assign opcode    = head_q.word[0][27:24];
  assign stag      = be32(head_q.word[1]);
  assign to        = {be32(head_q.word[2]), be32(head_q.word[3])};

  logic [3:0][31:0] sge_stag, sge_length;
  logic [3:0][63:0] sge_to;
  assign sge_stag   = {element_q.sge3_stag, element_q.sge2_stag, element_q.sge1_stag, element_q.sge0_stag};
  assign sge_length = {element_q.sge3_length, element_q.sge2_length, element_q.sge1_length, element_q.sge0_length};
  assign sge_to     = {element_q.sge3_to, element_q.sge2_to, element_q.sge1_to, element_q.sge0_to};

  logic row_write;
  assign row_write = tbl_accepted_i && tbl_req_i.write && tbl_req_i.number == TBL_STAG && 32'(tbl_req_i.index) < NUM_STAGS;

  logic [7:0] right;
  logic allowed, tagged_good;
  logic [3:0] sge_good;
  assign right = opcode == 4'd0 ? ACCESS_REMOTE_WRITE : opcode == 4'd2 ? ACCESS_READ_SINK : 8'd0;
  assign tagged_good = bytes_i == ulpdu - 16'd14 && (lies_in(
      tagged_then_q, stag, right, to, bytes_i, iova_i
  ) || lies_in(
      row_of(stag), stag, right, to, bytes_i, iova_i
  ));
  for (genvar i = 0; i < 4; i++) begin : gen_sge
    assign sge_good[i] = lies_in_sge(
        sge_then_q[i], sge_stag[i], sge_to[i], sge_length[i], iova_i, bytes_i
    ) || lies_in_sge(
        row_of(sge_stag[i]), sge_stag[i], sge_to[i], sge_length[i], iova_i, bytes_i
    );
  end
  assign allowed = is_tagged ? tagged_good : head_q.word[2] == '0 && sge_good != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // verilator lint_off WIDTHCONCAT
      written_q <= '0;  // wide on purpose: a bit for each STag
      // verilator lint_on WIDTHCONCAT
      judged_q  <= 1'b0;
    end else begin
      if (row_write) written_q[tbl_req_i.index[INDEX_W-1:0]] <= 1'b1;
      if (begin_i) judged_q <= 1'b0;
      else if (tail_i) judged_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (row_write) rows[tbl_req_i.index[INDEX_W-1:0]] <= stag_row_t'(tbl_req_i.row);
    if (head_i) begin
      next_head_q <= head_words_i;
      next_then_q <= row_of(be32(head_words_i.word[1]));
    end
    if (begin_i) begin
      head_q        <= next_head_q;
      tagged_then_q <= next_then_q;
    end
    if (tail_i) begin
      tail_q     <= tail_end_i;
      crc_good_q <= crc_good_i;
    end
    if (element_i) begin
      element_q     <= element_read_i;
      sge_then_q[0] <= row_of(element_read_i.sge0_stag);
      sge_then_q[1] <= row_of(element_read_i.sge1_stag);
      sge_then_q[2] <= row_of(element_read_i.sge2_stag);
      sge_then_q[3] <= row_of(element_read_i.sge3_stag);
    end
  end

  logic unused;
  assign unused = ^{head_q, tail_q, element_q, seg_i, tbl_req_i};

  `WEFT_ASSERT(good_fpdu, place_i -> judged_q && !tail_q.partial && !tail_q.bad_marker && (crc_good_q || !seg_i.row.flags[FLOW_RX_ROW_CRC_BIT]))
  `WEFT_ASSERT(has_bytes, place_i -> bytes_i != 16'd0)
  `WEFT_ASSERT(not_check_only, place_i -> !seg_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT])
  `WEFT_ASSERT(allowed_by_row, place_i -> allowed)
endmodule
