// A delay of CYCLES cycles for data that a pipeline only carries along.
//
// Pipeline:  CYCLES - 1 entries of a ring memory and an output register. It never stalls; its user delays the valid bits elsewhere.
// Why:       A ring memory costs less than a flip-flop for each bit and stage.

module rx_delay #(
  parameter int unsigned WIDTH  = 32,
  parameter int unsigned CYCLES = 4    // from 2 up
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [WIDTH-1:0] data_i,
  output logic [WIDTH-1:0] data_o
);

  localparam int unsigned DEPTH = CYCLES - 1;
  localparam int unsigned ADDR_W = DEPTH > 1 ? $clog2(DEPTH) : 1;

  logic [ WIDTH-1:0] mem   [DEPTH];
  logic [ADDR_W-1:0] ptr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ptr_q <= '0;
    else ptr_q <= (ptr_q == ADDR_W'(DEPTH - 1)) ? '0 : ptr_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    data_o     <= mem[ptr_q];
    mem[ptr_q] <= data_i;
  end

  if (CYCLES < 2) begin : gen_param_check
    $error("rx_delay: CYCLES must be at least 2");
  end

endmodule
