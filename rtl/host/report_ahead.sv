// Report writes between `report_writer` and `dma_write`: commands of up to DEPTH reports are accepted before the beats of the first are taken.
//
// Handshake: ready/valid at both ends, latency one cycle.
// Pipeline:  two FIFOs, of commands and of beats.
// Why:       dma_write works in the order of acceptance. Without this only one report's command was accepted behind a long placement, while a segment
//            has two reports or more. So reports fell behind by one with each segment.

module report_ahead #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned DEPTH  = 4     // reports
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  logic [      63:0] cmd_addr_i,
  input  logic              wr_valid_i,
  output logic              wr_ready_o,
  input  logic [DATA_W-1:0] wr_data_i,
  input  logic              wr_last_i,

  output logic              cmd_valid_o,
  input  logic              cmd_ready_i,
  output logic [      63:0] cmd_addr_o,
  output logic              wr_valid_o,
  input  logic              wr_ready_i,
  output logic [DATA_W-1:0] wr_data_o,
  output logic              wr_last_o,

  output logic idle_o
);

  fifo_sync #(
    .WIDTH(64),
    .DEPTH(DEPTH)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .wr_valid_i(cmd_valid_i),
    .wr_ready_o(cmd_ready_o),
    .wr_data_i (cmd_addr_i),
    .rd_valid_o(cmd_valid_o),
    .rd_ready_i(cmd_ready_i),
    .rd_data_o (cmd_addr_o),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH(1 + DATA_W),
    .DEPTH(DEPTH * 512 / DATA_W)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i,
    .wr_ready_o,
    .wr_data_i ({wr_last_i, wr_data_i}),
    .rd_valid_o(wr_valid_o),
    .rd_ready_i(wr_ready_i),
    .rd_data_o ({wr_last_o, wr_data_o}),
    .count_o   ()
  );

  assign idle_o = !cmd_valid_o && !wr_valid_o;

  if (DEPTH < 2) begin : gen_param_check
    $error("report_ahead: DEPTH must be 2 or more");
  end

endmodule
