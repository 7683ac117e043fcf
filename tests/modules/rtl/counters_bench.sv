// The counters, with one increment that goes to the counter of this index.

module counters_bench
  import weft_card_pkg::NUM_COUNTERS;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [ 7:0] add_i,     // which
  input  logic [15:0] amount_i,
  input  logic [ 7:0] index_i,
  output logic [31:0] value_o,
  output logic [31:0] high_o
);

  logic [NUM_COUNTERS-1:0][15:0] inc;

  always_comb begin
    inc = '0;
    for (int unsigned i = 0; i < NUM_COUNTERS; i++) begin
      if (32'(add_i) == i) inc[i] = amount_i;
    end
  end

  counters u_dut (
    .clk_i,
    .rst_ni,
    .rx_inc_i  (inc),
    .tx_inc_i  ('0),
    .host_inc_i('0),
    .index_i,
    .value_o,
    .high_o
  );

endmodule
