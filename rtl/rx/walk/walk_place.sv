// Payload behind its verdict, cut into placements (place_fifo, place_cut).
//
// Handshake: ready/valid. Packed payload is always taken, and comes only with `pk_go_o` and some cycles after (place_fifo). One verdict for each FPDU
//            with payload beats, one run for each of its placements, in order.
// Pipeline:  stage      | registers          | what happens
//            queues     | u_verdicts, u_runs | FPDUS verdicts and runs wait here
//            place_fifo | see there          | payload in wait of its verdict
//            place_cut  | see there          | cut into runs

module walk_place
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned FPDUS   = 8,                      // depth of the queues of verdicts and runs
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              pk_valid_i,
  output logic              pk_go_o,
  input  logic [DATA_W-1:0] pk_data_i,

  input  logic           verdict_valid_i,
  output logic           verdict_ready_o,
  input  place_verdict_t verdict_i,
  input  logic           run_valid_i,
  output logic           run_ready_o,
  input  place_run_t     run_i,

  output logic               place_valid_o,
  input  logic               place_ready_i,
  output logic [ DATA_W-1:0] place_data_o,
  output logic [COUNT_W-1:0] place_count_o,
  output logic               place_last_o,

  output logic idle_o
);
  // 16 KiB: more than the longest FPDU that a frame can hold.
  localparam int unsigned PLACE_DEPTH = 16384 / (DATA_W / 8);

  place_verdict_t judged;
  place_run_t     run;
  logic judged_valid, judged_ready, run_valid, run_ready, rd_valid, rd_ready, fifo_idle, cut_idle;
  logic [DATA_W-1:0] rd_data;

  fifo_sync #(
    .WIDTH($bits(place_verdict_t)),
    .DEPTH(FPDUS)
  ) u_verdicts (
    .clk_i,
    .rst_ni,
    .wr_valid_i(verdict_valid_i),
    .wr_ready_o(verdict_ready_o),
    .wr_data_i (verdict_i),
    .rd_valid_o(judged_valid),
    .rd_ready_i(judged_ready),
    .rd_data_o (judged),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH($bits(place_run_t)),
    .DEPTH(FPDUS)
  ) u_runs (
    .clk_i,
    .rst_ni,
    .wr_valid_i(run_valid_i),
    .wr_ready_o(run_ready_o),
    .wr_data_i (run_i),
    .rd_valid_o(run_valid),
    .rd_ready_i(run_ready),
    .rd_data_o (run),
    .count_o   ()
  );
  place_fifo #(
    .DATA_W(DATA_W),
    .DEPTH (PLACE_DEPTH)
  ) u_place_fifo (
    .clk_i,
    .rst_ni,
    .wr_valid_i     (pk_valid_i),
    .wr_go_o        (pk_go_o),
    .wr_data_i      (pk_data_i),
    .verdict_valid_i(judged_valid),
    .verdict_ready_o(judged_ready),
    .verdict_keep_i (judged.keep),
    .verdict_beats_i(judged.beats),
    .rd_valid_o     (rd_valid),
    .rd_ready_i     (rd_ready),
    .rd_data_o      (rd_data),
    .idle_o         (fifo_idle)
  );
  place_cut #(
    .DATA_W(DATA_W)
  ) u_place_cut (
    .clk_i,
    .rst_ni,
    .run_valid_i(run_valid),
    .run_ready_o(run_ready),
    .run_bytes_i(run.bytes),
    .run_end_i  (run.ends),
    .rd_valid_i (rd_valid),
    .rd_ready_o (rd_ready),
    .rd_data_i  (rd_data),
    .place_valid_o,
    .place_ready_i,
    .place_data_o,
    .place_count_o,
    .place_last_o,
    .idle_o     (cut_idle)
  );

  assign idle_o = !judged_valid && fifo_idle && cut_idle;
endmodule
