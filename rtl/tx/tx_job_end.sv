// The end of a job: JOB_DONE of its port, and its report where one is asked for or it failed.
//
// Handshake: `end_i` is a pulse with the job's fields; the report is one in the same cycle, and who takes it has room.
// Pipeline:  job_done_o: a cycle behind the end.
// Why:       A job from before its port was set up anew (`of_i`) is not counted, and not told.

module tx_job_end
  import weft_card_pkg::*;
  import weft_tx_pkg::*;
#(
  parameter int unsigned PORTS = 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [PORTS-1:0]              job_reset_i,  // JOB_DONE starts again at 0
  input  logic [PORTS-1:0][EPOCH_W-1:0] epoch_i,
  output logic [PORTS-1:0][       31:0] job_done_o,

  input logic          end_i,
  input logic   [31:0] number_i,
  input epoch_t        of_i,
  input logic   [15:0] flow_i,
  input logic          notify_i,
  input logic   [ 1:0] status_i,
  input logic          read_error_i,

  output logic [PORTS-1:0] rpt_valid_o,
  output logic [    511:0] rpt_o,
  output logic             bad_job_o,    // pulses, for the counters
  output logic             read_error_o
);

  logic        [1:0] status;
  job_report_t       report;
  assign status = read_error_i ? STATUS_READ_ERROR : status_i;

  always_comb begin
    report        = '0;
    report.kind   = REPORT_KIND_JOB;
    report.status = 8'(status);
    report.flow   = flow_i;
    report.job    = number_i;
  end

  assign rpt_o        = report;
  assign bad_job_o    = end_i && status_i == STATUS_MALFORMED;
  assign read_error_o = end_i && status == STATUS_READ_ERROR;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    logic ours;
    assign ours           = of_i.port == 1'(p) && of_i.count == epoch_i[p];
    assign rpt_valid_o[p] = end_i && ours && !job_reset_i[p] && (notify_i || status != STATUS_DONE);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) job_done_o[p] <= '0;
      else if (job_reset_i[p]) job_done_o[p] <= '0;
      else if (end_i && ours) job_done_o[p] <= job_done_o[p] + 1'b1;
    end
  end

endmodule
