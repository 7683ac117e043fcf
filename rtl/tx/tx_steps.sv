// Jobs, checked, to the steps of their frames, ahead of the payload: what to read is asked for here, what to do with it waits for tx_gather.
//
// Handshake: ready/valid throughout. A step for each frame, four cycles; STEPS ahead at most.
// Pipeline:  checked job ─► tx_segmenter ─┬─► u_steps ─► step
//                                         ├─► u_slots ─► inline payload
//                                         └─► u_reads ─► read request
//            stage        | registers | what happens                          | hazards
//            tx_segmenter | see there | size, layout, step and reads of a frame | waits for room in all three
//            queues       | u_*       | in job order
// Why:       Host memory takes its time: the reads of STEPS frames may be in flight.

module tx_steps
  import weft_tx_pkg::*;
#(
  parameter int unsigned STEPS = 32,  // frames whose reads may be in flight
  parameter int unsigned SLOTS = 16   // inline payloads in wait
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic     checked_valid_i,
  output logic     checked_ready_o,
  input  checked_t checked_i,

  input logic          abort_i,         // the rest of this job is left out
  input logic   [31:0] abort_number_i,
  input epoch_t        abort_epoch_i,

  output logic          step_valid_o,
  input  logic          step_ready_i,
  output step_t         step_o,
  output logic          slot_valid_o,
  input  logic          slot_ready_i,
  output logic  [511:0] slot_o,
  output logic          req_valid_o,
  input  logic          req_ready_i,
  output logic  [ 63:0] req_addr_o,
  output logic  [ 15:0] req_bytes_o
);

  logic cut_valid, cut_ready, slot_in_valid, slot_in_ready, read_valid, read_ready;
  step_t         cut;
  logic  [511:0] slot_in;
  logic  [ 63:0] read_addr;
  logic [13:0] read_bytes, req_bytes;

  tx_segmenter u_segmenter (
    .clk_i,
    .rst_ni,
    .checked_valid_i,
    .checked_ready_o,
    .checked_i,
    .abort_i,
    .abort_number_i,
    .abort_epoch_i,
    .step_valid_o(cut_valid),
    .step_ready_i(cut_ready),
    .step_o      (cut),
    .slot_valid_o(slot_in_valid),
    .slot_ready_i(slot_in_ready),
    .slot_o      (slot_in),
    .read_valid_o(read_valid),
    .read_ready_i(read_ready),
    .read_addr_o (read_addr),
    .read_bytes_o(read_bytes)
  );

  // Jobs between tx_job_fetch and the end of the last step: one each in the register of the ports, job_check and segmenter, one for each step in
  // u_steps and gather.
  localparam int unsigned JOBS_UNDER_WAY = 3 + STEPS + 3;
  if ((1 << EPOCH_W) <= JOBS_UNDER_WAY) begin : gen_epoch_check
    $error("tx_steps: jobs under way may be of more epochs than there are numbers");
  end

  fifo_sync #(
    .WIDTH($bits(step_t)),
    .DEPTH(STEPS)
  ) u_steps (
    .clk_i,
    .rst_ni,
    .wr_valid_i(cut_valid),
    .wr_ready_o(cut_ready),
    .wr_data_i (cut),
    .rd_valid_o(step_valid_o),
    .rd_ready_i(step_ready_i),
    .rd_data_o (step_o),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH(512),
    .DEPTH(SLOTS)
  ) u_slots (
    .clk_i,
    .rst_ni,
    .wr_valid_i(slot_in_valid),
    .wr_ready_o(slot_in_ready),
    .wr_data_i (slot_in),
    .rd_valid_o(slot_valid_o),
    .rd_ready_i(slot_ready_i),
    .rd_data_o (slot_o),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH(64 + 14),
    .DEPTH(4)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .wr_valid_i(read_valid),
    .wr_ready_o(read_ready),
    .wr_data_i ({read_bytes, read_addr}),
    .rd_valid_o(req_valid_o),
    .rd_ready_i(req_ready_i),
    .rd_data_o ({req_bytes, req_addr_o}),
    .count_o   ()
  );

  assign req_bytes_o = 16'(req_bytes);

endmodule
