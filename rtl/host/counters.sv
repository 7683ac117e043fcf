// The card's counters: 32 bits each, those of bytes 64, wrapping. Each counter belongs to one subsystem, so the three
// increment vectors are simply merged. The read port is combinational.

module counters
  import weft_card_pkg::*;
(
  input  logic                          clk_i,
  input  logic                          rst_ni,

  input  logic [NUM_COUNTERS-1:0][15:0] rx_inc_i,
  input  logic [NUM_COUNTERS-1:0][15:0] tx_inc_i,
  input  logic [NUM_COUNTERS-1:0][15:0] host_inc_i,

  input  logic [7:0]                    index_i,
  output logic [31:0]                   value_o,
  output logic [31:0]                   high_o       // bits 63:32, of those that have them
);

  // Those whose name ends in _bytes.
  localparam int unsigned NUM_WIDE = 3;
  localparam int unsigned WIDE [NUM_WIDE] = '{CNT_RX_BYTES, CNT_RX_PLACE_BYTES, CNT_TX_BYTES};

  logic [NUM_COUNTERS-1:0][31:0] count_q;
  logic [NUM_COUNTERS-1:0][15:0] inc;

  assign inc = rx_inc_i | tx_inc_i | host_inc_i;

  for (genvar i = 0; i < int'(NUM_COUNTERS); i++) begin : gen_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q[i] <= '0;
      else count_q[i] <= count_q[i] + 32'(inc[i]);
    end
  end

  logic [NUM_WIDE-1:0][31:0] high_q;

  for (genvar w = 0; w < int'(NUM_WIDE); w++) begin : gen_high
    logic carry;
    logic [31:0] unused_sum;
    assign {carry, unused_sum} = {1'b0, count_q[WIDE[w]]} + 33'(inc[WIDE[w]]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) high_q[w] <= '0;
      else if (carry) high_q[w] <= high_q[w] + 1'b1;
    end
  end

  always_comb begin
    high_o = '0;
    for (int unsigned w = 0; w < NUM_WIDE; w++) begin
      if (32'(index_i) == WIDE[w]) high_o = high_q[w];
    end
  end

  assign value_o = 32'(index_i) < NUM_COUNTERS ? count_q[index_i[$clog2(NUM_COUNTERS)-1:0]] : '0;

`ifndef SYNTHESIS
  // Assertions sample the asynchronous reset.
  // verilator lint_off SYNCASYNCNET
  one_owner: assert property (@(posedge clk_i) disable iff (!rst_ni)
                              ((rx_inc_i & tx_inc_i) | (rx_inc_i & host_inc_i) | (tx_inc_i & host_inc_i)) == '0);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
