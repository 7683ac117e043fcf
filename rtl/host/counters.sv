// The card's counters: 32 bits each, wrapping. Each counter belongs to one subsystem, so the three
// increment vectors are simply merged. The read port is combinational.

module counters
  import weft_card_pkg::NUM_COUNTERS;
(
  input  logic                          clk_i,
  input  logic                          rst_ni,

  input  logic [NUM_COUNTERS-1:0][15:0] rx_inc_i,
  input  logic [NUM_COUNTERS-1:0][15:0] tx_inc_i,
  input  logic [NUM_COUNTERS-1:0][15:0] host_inc_i,

  input  logic [7:0]                    index_i,
  output logic [31:0]                   value_o
);

  logic [NUM_COUNTERS-1:0][31:0] count_q;
  logic [NUM_COUNTERS-1:0][15:0] inc;

  assign inc = rx_inc_i | tx_inc_i | host_inc_i;

  for (genvar i = 0; i < int'(NUM_COUNTERS); i++) begin : gen_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q[i] <= '0;
      else count_q[i] <= count_q[i] + 32'(inc[i]);
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
