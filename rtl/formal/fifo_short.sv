// In place of prim/fifo_sync in proofs of its users: a queue of the same ports with at most two words, newest first, so that an
// induction can name what is inside. Fewer words are inside than in the real one; that what goes in comes out once, unchanged
// and in order, and stands until taken, is proven of the real one (fifo_sync_formal).

module fifo_sync #(
  parameter  int unsigned WIDTH         = 32,
  parameter  int unsigned DEPTH         = 16,
  parameter  int unsigned LUT_RAM_DEPTH = 64,
  parameter  bit          HEAD          = 1'b0,
  parameter  bit          STEADY        = 1'b0,
  localparam int unsigned COUNT_W       = $clog2(DEPTH + 1)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             wr_valid_i,
  output logic             wr_ready_o,
  input  logic [WIDTH-1:0] wr_data_i,

  output logic             rd_valid_o,
  input  logic             rd_ready_i,
  output logic [WIDTH-1:0] rd_data_o,

  output logic [COUNT_W-1:0] count_o
);

  logic [1:0]            count_q;
  logic [1:0][WIDTH-1:0] word_q;
  logic push, pop;

  assign push       = wr_valid_i && wr_ready_o;
  assign pop        = rd_valid_o && rd_ready_i;
  assign wr_ready_o = count_q < 2'd2;
  assign rd_valid_o = count_q != '0;
  assign rd_data_o  = count_q == 2'd2 ? word_q[1] : word_q[0];
  assign count_o    = COUNT_W'(count_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 2'(push) - 2'(pop);
  end
  always_ff @(posedge clk_i) begin
    if (push) word_q <= {word_q[0], wr_data_i};
  end

  always_comb begin
    if (rst_ni) inv_at_most_two : assert (count_q <= 2'd2);
  end

endmodule
