// The operations of the walk: placements of an FPDU and its report, one a cycle, in a register; and the counters of the checks.
//
// Handshake: `step_i` is a pulse, not without `free_o`: a placement, or with `final_i` the report, unless it is silent. `op_*` is ready/valid.
// Pipeline:  stage | registers         | what happens
//            step  | op_q, op_valid_q  | the operation is put together
//            count | see walk_report   | counters, a cycle later
// Why:       `step_i` is late, as `op_ready_i` is. So the operation's register loads whenever it is free, and only its valid bit depends on the step.

`include "weft_assert.svh"

module walk_output
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic step_i,
  input logic place_i,  // with it: a placement, else the report
  input logic final_i,  // pulse: the FPDU is finished, with its report
  input logic silent_i, // which is not given

  input logic        [63:0] run_iova_i,
  input logic        [15:0] run_bytes_i,
  input logic               run_last_i,
  input segment_t           seg_i,
  input logic        [15:0] offset_i,
  input ddp_header_t        header_i,
  input err_e               err_i,
  input logic               nonzero_pad_i,
  input logic               stall_i,        // the walk waits for a receive element

  output logic free_o,
  output logic op_valid_o,
  input  logic op_ready_i,
  output op_t  op_o,
  output logic colour_o,    // the fence's, of the FPDU finished last

  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  fpdu_report_t report;
  op_t op_d, op_q;
  logic op_valid_q, op_empty_q;  // op_empty_q: !op_valid_q, for the operation
  logic [NUM_COUNTERS-1:0][15:0] cnt, cnt_q;

  assign free_o = !op_valid_q || op_ready_i;

  walk_report u_report (
    .clk_i,
    .rst_ni,
    .valid_i  (final_i && !silent_i),
    .flow_i   (seg_i.flow),
    .epoch_i  (seg_i.row.epoch),
    .port_i   (seg_i.row.flags[FLOW_RX_ROW_PORT_BIT]),
    .seg_seq_i(seg_i.seq),
    .offset_i,
    .header_i,
    .err_i,
    .nonzero_pad_i,
    .report_o (report),
    .cnt_inc_o(cnt)
  );

  always_comb begin
    op_d.is_report = !place_i;
    op_d.last      = run_last_i;
    op_d.colour    = seg_i.colour;
    op_d.record    = report;
    op_d.iova      = run_iova_i;
    op_d.bytes     = run_bytes_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_valid_q <= 1'b0;
      op_empty_q <= 1'b1;
    end else if (free_o) begin
      op_valid_q <= step_i && (place_i || !silent_i);
      op_empty_q <= !step_i || (!place_i && silent_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (op_empty_q || op_ready_i) op_q <= op_d;
    if (final_i) colour_o <= seg_i.colour;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_q <= '0;
    else begin
      cnt_q                              <= cnt;
      cnt_q[CNT_RX_STALL_ELEMENT_CYCLES] <= 16'(stall_i);
    end
  end

  assign op_valid_o = op_valid_q;
  assign op_o       = op_q;
  assign cnt_inc_o  = cnt_q;

  logic unused;
  assign unused = ^seg_i;

  `WEFT_ASSERT(op_empty_told, op_empty_q == !op_valid_q)
  `WEFT_ASSERT(steps_fit, step_i -> free_o)
endmodule
