// The operations of an FPDU that has passed the checks, or has not: its placements, run by run, then its report; and the verdict for its payload.
//
// Handshake: `ops_i` is a level: all runs are known. `step_o` is a pulse for each operation, `final_o` for the last one. Ready/valid at operations,
//            verdict and runs; a placement is taken when its run and, with the first one, the payload's verdict are.
// Pipeline:  runs are registers (walk_runs), as is the operation (walk_output): one a cycle.
// Why:       Payload waits for one verdict: it is kept with the first placement, and dropped with a report that has none before it.

module walk_ops
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic               ops_i,
  input logic               owed_i,         // the payload's verdict is due
  input logic               silent_i,       // the FPDU is not reported
  input segment_t           seg_i,
  input logic        [15:0] offset_i,
  input ddp_header_t        header_i,
  // verilator lint_off UNUSEDSIGNAL
  input fpdu_tail_t         tail_i,
  // verilator lint_on UNUSEDSIGNAL
  input err_e               err_i,
  input logic               stall_i,        // it waits for its receive element
  input logic               first_i,        // a run for all of the payload, as of walk_runs
  input logic               first_valid_i,
  input logic        [63:0] first_iova_i,
  input logic               add_i,          // one more
  input logic               add_valid_i,
  input logic        [63:0] add_iova_i,
  input logic        [15:0] add_bytes_i,
  input logic               drop_i,         // none

  output logic           verdict_valid_o,
  input  logic           verdict_ready_i,
  output place_verdict_t verdict_o,
  output logic           run_valid_o,
  input  logic           run_ready_i,
  output place_run_t     run_o,

  output logic op_valid_o,
  input  logic op_ready_i,
  output op_t  op_o,
  output logic colour_o,
  output logic free_o,      // an operation can be taken
  output logic step_o,
  output logic final_o,

  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  logic is_place, goes;
  logic [63:0] run_iova;

  assign goes            = ops_i && free_o;
  assign verdict_o       = '{keep: is_place, beats: tail_i.beats};
  assign verdict_valid_o = goes && owed_i && (!is_place || run_ready_i);
  assign step_o          = goes && (!is_place || run_ready_i) && (!owed_i || verdict_ready_i);
  assign final_o         = goes && !is_place && (!owed_i || verdict_ready_i);
  assign run_valid_o     = step_o && is_place;

  walk_runs u_runs (
    .clk_i,
    .first_i,
    .first_valid_i,
    .first_iova_i,
    .first_bytes_i(header_i.payload_len),
    .add_i,
    .add_valid_i,
    .add_iova_i,
    .add_bytes_i,
    .drop_i,
    .next_i       (step_o),
    .valid_o      (is_place),
    .last_o       (run_o.ends),
    .iova_o       (run_iova),
    .bytes_o      (run_o.bytes)
  );

  walk_output u_output (
    .clk_i,
    .rst_ni,
    .step_i       (step_o),
    .place_i      (is_place),
    .final_i      (final_o),
    .silent_i,
    .run_iova_i   (run_iova),
    .run_bytes_i  (run_o.bytes),
    .run_last_i   (run_o.ends),
    .seg_i,
    .offset_i,
    .header_i,
    .err_i,
    .nonzero_pad_i(tail_i.nonzero_pad),
    .stall_i,
    .free_o,
    .op_valid_o,
    .op_ready_i,
    .op_o,
    .colour_o,
    .cnt_inc_o
  );
endmodule
