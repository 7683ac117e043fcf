// Checks an access to a region (RFC 5041 §7, RFC 5040 §4.8, order of docs/card.md "Receiving: verdicts"), and computes its IOVA.
//
// Handshake: No valid, no backpressure: one question a cycle, the user counts the three cycles.
// Pipeline:  cycle | registers             | what happens
//            1     | row_q, to_q, bytes_q  | the row at the table's output, STag, TO, bytes, right
//            2     | bad_q, room_q, iova_q | sums and differences; the stream's PD is compared
//            3     |                       | the answer; and the row's PD for a user without a PD in cycle 2
// Why:       With to >= base, base + length - to is what the region has from TO on, less than 2^64 either way. So its sign and 16 bits of it suffice
//            to compare with `bytes`.

module stag_check
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,

  input stag_row_t        row_i,
  input logic             in_range_i,
  input logic      [31:0] stag_i,
  input logic      [63:0] to_i,
  input logic      [15:0] bytes_i,
  input logic      [ 7:0] right_i,

  input logic [31:0] pd_i,

  output region_bad_t        bad_o,
  output logic               any_bad_o,
  output logic        [63:0] iova_o,
  output logic        [31:0] pd_o
);
  // The lowest and highest bits are only there for the carry.
  // verilator lint_off UNUSEDSIGNAL
  // a + b - c. A carry chain of 65 bits would be too long: three of 22 bits, the upper two for either carry.
  function automatic logic [64:0] add_sub(input logic [64:0] a, input logic [64:0] b, input logic [64:0] c);
    logic [65:0] x, y;
    logic [22:0] low, mid;
    logic [23:0] mid_0, mid_1;
    logic [22:0] high_0, high_1;
    x       = {1'b0, a ^ b ^ ~c};
    y       = {(a & b) | (a & ~c) | (b & ~c), 1'b1};
    low     = {1'b0, x[21:0]} + {1'b0, y[21:0]};
    mid_0   = {1'b0, x[43:22], 1'b0} + {1'b0, y[43:22], 1'b0};
    mid_1   = {1'b0, x[43:22], 1'b1} + {1'b0, y[43:22], 1'b1};
    high_0  = {x[65:44], 1'b0} + {y[65:44], 1'b0};
    high_1  = {x[65:44], 1'b1} + {y[65:44], 1'b1};
    mid     = low[22] ? mid_1[23:1] : mid_0[23:1];
    add_sub = {mid[22] ? high_1[21:1] : high_0[21:1], mid[21:0], low[21:0]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // 1: the row.
  // verilator lint_off UNUSEDSIGNAL
  stag_row_t row_q;
  // verilator lint_on UNUSEDSIGNAL
  logic      in_range_q;
  logic [7:0] key_q, right_q;
  logic [63:0] to_q;
  logic [15:0] bytes_q;
  always_ff @(posedge clk_i) begin
    row_q      <= row_i;
    in_range_q <= in_range_i;
    key_q      <= stag_i[7:0];
    to_q       <= to_i;
    bytes_q    <= bytes_i;
    right_q    <= right_i;
  end

  // 2: sums and differences.
  logic [16:0] end_low;
  region_bad_t bad_d, bad_q;
  logic below, below_q, other_bad_q;  // any of them but the sums' wrap and bounds
  logic [64:0] room_q;
  logic [63:0] iova_q;
  logic [31:0] pd_q;
  logic [15:0] asked_q;
  assign end_low = {1'b0, to_q[15:0]} + {1'b0, bytes_q};
  assign below   = to_q[63:32] < row_q.base[63:32] || (to_q[63:32] == row_q.base[63:32] && to_q[31:0] < row_q.base[31:0]);
  always_comb begin
    bad_d.stag   = !in_range_q || !row_q.valid[STAG_ROW_VALID_BIT] || row_q.key != key_q;
    bad_d.wrap   = to_q[63:16] == '1 && end_low[16] && end_low[15:0] != 16'd0;
    bad_d.pd     = row_q.pd != pd_i;
    bad_d.access = (row_q.access & right_q) == 8'd0;
    bad_d.bounds = 1'b0;
  end
  always_ff @(posedge clk_i) begin
    bad_q       <= bad_d;
    below_q     <= below;
    other_bad_q <= bad_d.stag || bad_d.pd || bad_d.access || below;
    room_q      <= add_sub({1'b0, row_q.base}, {1'b0, row_q.length}, {1'b0, to_q});
    iova_q      <= 64'(add_sub({1'b0, row_q.iova}, {1'b0, to_q}, {1'b0, row_q.base}));
    pd_q        <= row_q.pd;
    asked_q     <= bytes_q;
  end

  // 3: the answer.
  logic beyond;
  assign beyond = room_q[64] || (room_q[63:16] == '0 && (room_q[15:8] < asked_q[15:8] ||
                                                         (room_q[15:8] == asked_q[15:8] && room_q[7:0] < asked_q[7:0])));
  always_comb begin
    bad_o        = bad_q;
    bad_o.bounds = below_q || beyond;
  end
  assign any_bad_o = other_bad_q || bad_q.wrap || beyond;
  assign iova_o    = iova_q;
  assign pd_o      = pd_q;

  logic unused;
  assign unused = ^stag_i[31:8];
endmodule
