// Eight fifo_sync of different widths and depths side by side, in both kinds of memory; a lane of 128 bits each.

module fifo_sync_bench #(
  localparam int unsigned FIFOS  = 8,
  localparam int unsigned LANE_W = 128
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [FIFOS-1:0]             wr_valid_i,
  output logic [FIFOS-1:0]             wr_ready_o,
  input  logic [FIFOS-1:0][LANE_W-1:0] wr_data_i,

  output logic [FIFOS-1:0]             rd_valid_o,
  input  logic [FIFOS-1:0]             rd_ready_i,
  output logic [FIFOS-1:0][LANE_W-1:0] rd_data_o,

  output logic [FIFOS-1:0][7:0] count_o
);

  // The test has the same table. The last one first.
  localparam logic [FIFOS-1:0][7:0] WIDTH = {8'd48, 8'd128, 8'd17, 8'd64, 8'd33, 8'd72, 8'd9, 8'd1};
  localparam logic [FIFOS-1:0][7:0] DEPTH = {8'd6, 8'd128, 8'd65, 8'd5, 8'd64, 8'd16, 8'd3, 8'd2};
  localparam logic [FIFOS-1:0][7:0] LUT_RAM_DEPTH = {8'd2, 8'd64, 8'd64, 8'd4, 8'd64, 8'd64, 8'd64, 8'd64};
  localparam logic [FIFOS-1:0] STEADY = 8'b1010_0000;

  for (genvar f = 0; f < int'(FIFOS); f++) begin : gen_fifo
    localparam int unsigned W = 32'(WIDTH[f]);
    localparam int unsigned D = 32'(DEPTH[f]);

    logic [          W-1:0] rd_data;
    logic [$clog2(D+1)-1:0] count;

    fifo_sync #(
      .WIDTH        (W),
      .DEPTH        (D),
      .LUT_RAM_DEPTH(32'(LUT_RAM_DEPTH[f])),
      .STEADY       (STEADY[f])
    ) u_dut (
      .clk_i,
      .rst_ni,
      .wr_valid_i(wr_valid_i[f]),
      .wr_ready_o(wr_ready_o[f]),
      .wr_data_i (wr_data_i[f][W-1:0]),
      .rd_valid_o(rd_valid_o[f]),
      .rd_ready_i(rd_ready_i[f]),
      .rd_data_o (rd_data),
      .count_o   (count)
    );

    assign rd_data_o[f] = LANE_W'(rd_data);
    assign count_o[f]   = 8'(count);
  end

endmodule
