// Job reports in wait of the report ring, so that transmit continues while the host makes no room.
//
// Handshake: `ready_o` is room for a failure, a done report needs none. It is low only while FAILURES or more failures wait, and a cycle late: up to
//            three reports may come while it is low. Output ready/valid, held until taken.
// Pipeline:  done ────►┬─► FIFO ─► register slice ─► report_writer       in the order of the jobs
//            failed ───┘ ▲
//            done ─► late┘   when JOINED or more waited a cycle ago: the last one stands for those before it
//            stage | registers         | what happens
//            enter | u_waiting, late_q | a report is queued; a done one beyond JOINED replaces the one in late_q
//            out   | u_head            | register slice
// Why:       A joined done report may follow failures of later jobs (docs/card.md "Reports, interrupts, back-pressure").

`include "weft_assert.svh"

module tx_reports
  import weft_card_pkg::*;
#(
  parameter int unsigned FAILURES = 16,
  parameter int unsigned JOINED   = 16
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic         valid_i,
  output logic         ready_o,
  input  logic [511:0] report_i,

  output logic         rpt_valid_o,
  input  logic         rpt_ready_i,
  output logic [511:0] rpt_o,

  output logic joined_o,  // pulse: a report was joined into another
  output logic idle_o
);

  // Between a report and its effect on `ready_o`, two more may begin.
  localparam int unsigned LATE = 3;
  localparam int unsigned DEPTH = FAILURES + JOINED + LATE;
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  // The fields in which reports differ.
  typedef struct packed {
    logic [7:0]        status;
    logic [15:0] flow;
    logic [31:0]       job;
  } told_t;

  job_report_t in, out;
  told_t now, late_q, next, head;
  logic done, late_valid_q, few_q, push, wait_late, take_late, room, ready_q, kept_valid, kept_ready;
  told_t               kept;
  logic  [COUNT_W-1:0] count;

  assign in        = report_i;
  assign now       = '{status: in.status, flow : in.flow, job: in.job};
  assign done      = in.status == JOB_STATUS_DONE;
  assign wait_late = valid_i && done && (late_valid_q || !few_q);
  assign take_late = late_valid_q && few_q && !valid_i;
  assign push      = (valid_i && !wait_late) || take_late;
  assign ready_o   = ready_q;
  assign next      = take_late ? late_q : now;
  assign joined_o  = wait_late && late_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) late_valid_q <= 1'b0;
    else if (wait_late) late_valid_q <= 1'b1;
    else if (take_late) late_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      few_q   <= 1'b0;
      ready_q <= 1'b0;
    end else begin
      few_q   <= count < COUNT_W'(JOINED);
      ready_q <= count < COUNT_W'(FAILURES + JOINED);
    end
  end
  always_ff @(posedge clk_i) begin
    if (wait_late) late_q <= now;
  end

  fifo_sync #(
    .WIDTH($bits(told_t)),
    .DEPTH(DEPTH)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .wr_valid_i(push),
    .wr_ready_o(room),
    .wr_data_i (next),
    .rd_valid_o(kept_valid),
    .rd_ready_i(kept_ready),
    .rd_data_o (kept),
    .count_o   (count)
  );

  // A register slice, as the report writer's ready is late and far away.
  stream_slice #(
    .WIDTH($bits(told_t))
  ) u_head (
    .clk_i,
    .rst_ni,
    .in_valid_i (kept_valid),
    .in_ready_o (kept_ready),
    .in_data_i  (kept),
    .out_valid_o(rpt_valid_o),
    .out_ready_i(rpt_ready_i),
    .out_data_o (head),
    .shown_o    ()
  );

  always_comb begin
    out        = '0;
    out.kind   = REPORT_KIND_JOB;
    out.status = head.status;
    out.flow   = head.flow;
    out.job    = head.job;
  end
  assign rpt_o  = out;
  assign idle_o = !rpt_valid_o && !kept_valid && !late_valid_q;

  logic unused;
  assign unused = ^{in, room};

  `WEFT_ASSERT(late_has_room, take_late -> room)
  `WEFT_ASSERT(report_has_room, valid_i -> room)

endmodule
