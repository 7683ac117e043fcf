// CRC32C (Castagnoli, RFC 3720 appendix B.4, as MPA uses it: RFC 5044 §4.4) as linear algebra over GF(2).
//
// Why:       The state is kept reflected: bit 0 of byte 0 goes in first. One zero bit advances the state by `step`; `unstep` is its inverse, which
//            undoes zero padding behind the data. The matrices are elaboration-time constants; row i of a matrix selects the input bits whose parity
//            is output bit i.

package crc32c_pkg;

  // verilator lint_off UNUSEDPARAM
  parameter logic [31:0] POLY = 32'h82F6_3B78;
  parameter logic [31:0] INIT = 32'hFFFF_FFFF;
  parameter int unsigned MAX_W = 512;

  // Enabled cycles of `crc32c_core` from a beat to the state behind it.
  parameter int unsigned CORE_LATENCY = 3;
  // verilator lint_on UNUSEDPARAM

  // Enabled cycles of `crc32c` from the last beat to the CRC: one stage more for each power of two of padding.
  function automatic int unsigned latency(input int unsigned data_w);
    return CORE_LATENCY + $clog2(data_w / 8);
  endfunction

  typedef logic [31:0][MAX_W-1:0] data_matrix_t;
  typedef logic [31:0][31:0] state_matrix_t;

  function automatic logic [31:0] step(input logic [31:0] s);
    return {1'b0, s[31:1]} ^ (s[0] ? POLY : 32'd0);
  endfunction

  function automatic logic [31:0] unstep(input logic [31:0] s);
    return s[31] ? {s[30:0] ^ POLY[30:0], 1'b1} : {s[30:0], 1'b0};
  endfunction

  // The state behind `s` and `bits` zero bits; for a negative number, the state before `s` and as many.
  function automatic logic [31:0] advance(input logic [31:0] s, input int bits);
    logic [31:0] r;
    r = s;
    for (int i = 0; i < bits; i++) r = step(r);
    for (int i = 0; i < -bits; i++) r = unstep(r);
    return r;
  endfunction

  // State behind a packet, its own CRC field and `words` words of zero: a constant.
  typedef logic [15:0][31:0] residue_table_t;

  function automatic residue_table_t residue_table();
    residue_table_t t;
    for (int words = 0; words < 16; words++) t[words] = advance(INIT, 32 + 32 * words);
    return t;
  endfunction

  // The contribution of MAX_W data bits to the state behind them; narrower words use the upper columns.
  function automatic data_matrix_t data_matrix();
    data_matrix_t        m;
    logic         [31:0] column;
    column = POLY;
    for (int j = MAX_W - 1; j >= 0; j--) begin
      for (int i = 0; i < 32; i++) m[i][j] = column[i];
      column = step(column);
    end
    return m;
  endfunction

  // `advance` as a matrix.
  function automatic state_matrix_t advance_matrix(input int bits);
    state_matrix_t        m;
    logic          [31:0] column;
    for (int j = 0; j < 32; j++) begin
      column = advance(32'd1 << j, bits);
      for (int i = 0; i < 32; i++) m[i][j] = column[i];
    end
    return m;
  endfunction

  function automatic logic [31:0] multiply(input state_matrix_t m, input logic [31:0] s);
    logic [31:0] r;
    for (int i = 0; i < 32; i++) r[i] = ^(m[i] & s);
    return r;
  endfunction

endpackage
