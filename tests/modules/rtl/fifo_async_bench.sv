// Three fifo_async of different widths and depths side by side, a lane of 128 bits each, and a word_sync. The two clocks are clk_i where
// the test lets it through, so that any two rates and phases are a pattern of the test.

module fifo_async_bench #(
  localparam int unsigned FIFOS  = 3,
  localparam int unsigned LANE_W = 128
) (
  input logic clk_i,
  input logic rst_ni,
  input logic wr_go_i,
  input logic rd_go_i,

  input  logic [FIFOS-1:0]             wr_valid_i,
  output logic [FIFOS-1:0]             wr_ready_o,
  input  logic [FIFOS-1:0][LANE_W-1:0] wr_data_i,

  output logic [FIFOS-1:0]             rd_valid_o,
  input  logic [FIFOS-1:0]             rd_ready_i,
  output logic [FIFOS-1:0][LANE_W-1:0] rd_data_o,

  input  logic [31:0] word_i,
  output logic [31:0] word_o
);

  // The test has the same table. The last one first.
  localparam logic [FIFOS-1:0][7:0] WIDTH = {8'd128, 8'd17, 8'd1};
  localparam logic [FIFOS-1:0][7:0] DEPTH = {8'd64, 8'd16, 8'd4};

  logic wr_clk, rd_clk, wr_rst_n, rd_rst_n;
  assign wr_clk = clk_i && wr_go_i;
  assign rd_clk = clk_i && rd_go_i;

  reset_sync u_wr_rst (
    .clk_i       (wr_clk),
    .async_rst_ni(rst_ni),
    .rst_no      (wr_rst_n)
  );
  reset_sync u_rd_rst (
    .clk_i       (rd_clk),
    .async_rst_ni(rst_ni),
    .rst_no      (rd_rst_n)
  );

  for (genvar f = 0; f < int'(FIFOS); f++) begin : gen_fifo
    localparam int unsigned W = 32'(WIDTH[f]);
    localparam int unsigned D = 32'(DEPTH[f]);

    logic         ready;
    logic [W-1:0] rd_data;

    // A source waits for its reset.
    assign wr_ready_o[f] = ready && wr_rst_n;

    fifo_async #(
      .WIDTH(W),
      .DEPTH(D)
    ) u_dut (
      .wr_clk_i  (wr_clk),
      .wr_rst_ni (wr_rst_n),
      .wr_valid_i(wr_valid_i[f] && wr_rst_n),
      .wr_ready_o(ready),
      .wr_data_i (wr_data_i[f][W-1:0]),
      .wr_empty_o(),
      .rd_clk_i  (rd_clk),
      .rd_rst_ni (rd_rst_n),
      .rd_valid_o(rd_valid_o[f]),
      .rd_ready_i(rd_ready_i[f]),
      .rd_data_o (rd_data)
    );

    assign rd_data_o[f] = LANE_W'(rd_data);
  end


  word_sync #(
    .WIDTH(32)
  ) u_word (
    .src_clk_i (wr_clk),
    .src_rst_ni(wr_rst_n),
    .src_word_i(word_i),
    .dst_clk_i (rd_clk),
    .dst_rst_ni(rd_rst_n),
    .dst_word_o(word_o)
  );

endmodule
