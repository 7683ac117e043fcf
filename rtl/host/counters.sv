// The card's counters: 32 bits each, those of bytes 64, wrapping.
//
// Handshake: Increments are always taken. A value is read two cycles after its index; its two halves are of one moment.
// Pipeline:  stage | registers        | what happens
//            1     | inc              | the three increment vectors are merged
//            2     | count_q          | added; a carry reaches high_q a cycle later
//            read  | eight_q, value_o | one of each eight, then one of all
// Why:       Each counter belongs to one subsystem, so merging is an OR.

`include "weft_assert.svh"

module counters
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic [NUM_COUNTERS-1:0][15:0] rx_inc_i,
  input logic [NUM_COUNTERS-1:0][15:0] tx_inc_i,
  input logic [NUM_COUNTERS-1:0][15:0] host_inc_i,

  input  logic [ 7:0] index_i,
  output logic [31:0] value_o,
  output logic [31:0] high_o    // bits 63:32, of those that have them
);

  // Counters with a name in _bytes.
  localparam int unsigned NUM_WIDE = 3;
  localparam int unsigned WIDE[NUM_WIDE] = '{CNT_RX_BYTES, CNT_RX_PLACE_BYTES, CNT_TX_BYTES};

  logic [NUM_COUNTERS-1:0][31:0] count_q;
  logic [NUM_COUNTERS-1:0][15:0] inc;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inc <= '0;
    else inc <= rx_inc_i | tx_inc_i | host_inc_i;
  end

  for (genvar i = 0; i < int'(NUM_COUNTERS); i++) begin : gen_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q[i] <= '0;
      else count_q[i] <= count_q[i] + 32'(inc[i]);
    end
  end

  // A carry is added a cycle late, and the high half is read a cycle after the low one.
  logic [NUM_WIDE-1:0][31:0] high_q;
  logic [NUM_WIDE-1:0]       carry_q;

  for (genvar w = 0; w < int'(NUM_WIDE); w++) begin : gen_high
    logic        carry;
    logic [31:0] unused_sum;
    assign {carry, unused_sum} = {1'b0, count_q[WIDE[w]]} + 33'(inc[WIDE[w]]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        carry_q[w] <= 1'b0;
        high_q[w]  <= '0;
      end else begin
        carry_q[w] <= carry;
        if (carry_q[w]) high_q[w] <= high_q[w] + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- read, in eights
  localparam int unsigned EIGHTS = (NUM_COUNTERS + 7) / 8;
  localparam int unsigned EIGHT_W = $clog2(EIGHTS);

  logic [8*EIGHTS-1:0][31:0] padded;
  logic [  EIGHTS-1:0][31:0] eight_q;

  always_comb begin
    padded                   = '0;
    padded[NUM_COUNTERS-1:0] = count_q;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < EIGHTS; e++) eight_q[e] <= padded[8*e+32'(index_i[2:0])];
    value_o <= 32'(index_i[7:3]) < EIGHTS ? eight_q[EIGHT_W'(index_i[7:3])] : '0;
    high_o  <= '0;
    for (int unsigned w = 0; w < NUM_WIDE; w++) begin
      if (32'(index_i) == WIDE[w]) high_o <= high_q[w];
    end
  end

  `WEFT_ASSERT(one_owner, ((rx_inc_i & tx_inc_i) | (rx_inc_i & host_inc_i) | (tx_inc_i & host_inc_i)) == '0)

  for (genvar i = 0; i < int'(NUM_COUNTERS); i++) begin : gen_point
    `WEFT_COVER(counted, inc[i] != '0)
  end

endmodule
