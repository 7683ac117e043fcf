// Decodes a DDP header (RFC 5041 §4) with its RDMAP control byte (RFC 5040 §4.1). Makes the checks that need nothing else, in the order of
// docs/card.md "Receiving: verdicts".
//
// Pipeline:  none, combinational.
// Why:       If the FPDU is too short for a header, `valid` is 0, and the other fields are masked by `header_told` (walk_pkg). `valid` is late, so it
//            does not mask them here.

module walk_ddp
  import walk_pkg::*;
(
  input  fpdu_head_t  head_i,
  output ddp_header_t header_o
);
  // Byte 0 of the length field is byte 0 here; lanes hold the first byte in their low bits.
  logic [19:0][7:0] b;
  assign b = head_i.word;

  logic is_tagged, known, long_enough;
  logic [15:0] ulpdu_len;
  logic [ 7:0] head_bytes;
  logic [31:0] qn;
  logic [ 3:0] opcode;

  assign ulpdu_len   = {b[0], b[1]};
  assign is_tagged   = b[2][7];
  assign head_bytes  = is_tagged ? 8'd14 : 8'd18;
  // ulpdu_len >= head_bytes
  assign long_enough = ulpdu_len[15:5] != '0 || (is_tagged ? ulpdu_len[4] || ulpdu_len[3:1] == 3'd7 : ulpdu_len[4] && ulpdu_len[3:1] != 3'd0);
  assign qn          = {b[8], b[9], b[10], b[11]};
  assign opcode      = b[3][3:0];

  always_comb begin
    known = 1'b0;
    if (is_tagged) known = opcode == 4'h0 || opcode == 4'h2;
    else begin
      unique case (qn[1:0])
        2'd0:    known = (opcode >= 4'h3 && opcode <= 4'h6) || opcode == 4'h8 || opcode == 4'h9;
        2'd1:    known = opcode == 4'h1 || opcode == 4'hA;
        2'd2:    known = opcode == 4'h7;
        default: known = opcode == 4'hB;
      endcase
    end
  end

  always_comb begin
    header_o               = '0;
    header_o.ulpdu_len     = ulpdu_len;
    header_o.err           = ERR_NONE;
    header_o.kind          = is_tagged ? CLASS_TAGGED : (qn == 32'd0 ? CLASS_RECEIVE : CLASS_ENGINE);
    header_o.valid         = long_enough;
    header_o.last          = b[2][6];
    header_o.ddp_control   = b[2];
    header_o.rdmap_control = b[3];
    header_o.payload_len   = ulpdu_len - 16'(head_bytes);
    if (is_tagged) begin
      header_o.stag_or_qn = {b[4], b[5], b[6], b[7]};
      header_o.to_or_mo   = {b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]};
    end else begin
      header_o.rsvd_ulp   = {b[4], b[5], b[6], b[7]};
      header_o.stag_or_qn = qn;
      header_o.msn        = {b[12], b[13], b[14], b[15]};
      header_o.to_or_mo   = {32'd0, b[16], b[17], b[18], b[19]};
    end
    if (!long_enough) header_o.err = ERR_ULPDU;
    else if (b[2][1:0] != 2'd1) header_o.err = ERR_DDP_VERSION;
    else if (b[3][7:6] != 2'd1) header_o.err = ERR_RDMAP_VERSION;
    else if (!is_tagged && qn > 32'd3) header_o.err = ERR_QN;
    else if (!known) header_o.err = ERR_OPCODE;
  end

  logic unused;
  assign unused = ^{head_i.offset, b[3][5:4], b[2][5:2]};
endmodule
