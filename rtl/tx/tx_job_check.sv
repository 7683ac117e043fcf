// Looks up the flow of a job, and decides whether the job can be executed as it is.
//
// Handshake: ready/valid. The job is held in tx_job_fetch's register meanwhile; if it is withdrawn there (ring set up anew), the check starts again.
// Pipeline:  state    | registers               | what happens
//            Lookup   | first_two_q, last_two_q | the flow's row is requested; SGE lengths are added in pairs
//            Row      | row_q, sge_sum_q        | the row arrives; sum of all SGEs
//            Check    | status_q                | the checks
//            HandOver |                         | the job is offered

module tx_job_check
  import weft_card_pkg::*;
  import weft_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic          job_valid_i,
  output logic          job_ready_o,
  input  job_t          job_i,
  input  logic   [31:0] job_number_i,
  input  logic          job_error_i,
  input  epoch_t        epoch_i,

  output logic                lookup_valid_o,
  input  logic                lookup_ready_i,
  output logic         [15:0] lookup_flow_o,
  input  flow_tx_row_t        lookup_row_i,
  input  logic                written_i,       // a row was written

  output logic     checked_valid_o,
  input  logic     checked_ready_i,
  output checked_t checked_o
);

  typedef enum logic [1:0] {
    Lookup,
    Row,
    Check,
    HandOver
  } state_e;

  state_e state_q, state_d;
  flow_tx_row_t row_q;
  logic [1:0] status_d, status_q;
  logic [33:0] first_two_q, last_two_q, sge_sum_q;
  logic is_inline;

  assign is_inline = job_i.flags[JOB_INLINE_PAYLOAD_BIT];

  always_comb begin
    unique case (state_q)
      Lookup:   state_d = job_valid_i && lookup_ready_i ? Row : Lookup;
      Row:      state_d = job_valid_i ? Check : Lookup;
      Check:    state_d = job_valid_i ? HandOver : Lookup;
      HandOver: state_d = job_valid_i && !checked_ready_i ? HandOver : Lookup;
      default:  state_d = Lookup;
    endcase
  end

  // ---------------------------------------------------------------- the checks
  logic bad_payload, bad_flow, bad_size, bad_fpdu, bad_phase, bad_crc;
  logic [1:0] phase;

  // FPDUs are whole words, so a marker can only lie at whole words from an FPDU's begin (RFC 5044 §4.3).
  assign phase = job_i.seq[1:0] - row_q.marker_base[1:0];

  always_comb begin
    if (is_inline) bad_payload = job_i.sge_count != '0 || job_i.length > MAX_INLINE_BYTES;
    else bad_payload = job_i.sge_count > 8'd4 || sge_sum_q != 34'(job_i.length);

    bad_flow  = !row_q.flags[FLOW_TX_ROW_VALID_BIT];
    bad_fpdu  = job_i.length != '0 && (job_i.fpdu_payload == '0 || (job_i.length > MAX_PAYLOAD_BYTES && 32'(job_i.fpdu_payload) > MAX_PAYLOAD_BYTES));
    bad_phase = row_q.flags[FLOW_TX_ROW_MARKERS_BIT] && phase != '0;
    // The CRC is a word of its own behind whole words.
    bad_crc   = job_i.flags[JOB_APPEND_CRC_BIT] && (job_i.length == '0 || job_i.length[1:0] != '0 || job_i.length > MAX_PAYLOAD_BYTES - 32'd4);

    unique case (job_i.kind)
      JOB_KIND_RAW_FRAME: bad_size = job_i.length < MIN_RAW_BYTES || job_i.length > MAX_RAW_BYTES;
      JOB_KIND_SEGMENT:   bad_size = bad_flow || bad_crc || job_i.length > MAX_PAYLOAD_BYTES;
      JOB_KIND_REPLAY:    bad_size = bad_flow || job_i.length == '0 || job_i.length > weft_int_pkg::MAX_REPLAY_BYTES;
      JOB_KIND_MESSAGE:   bad_size = bad_flow || bad_fpdu || bad_phase;
      default:            bad_size = 1'b1;
    endcase

    if (job_error_i) status_d = STATUS_READ_ERROR;
    else if (bad_payload || bad_size) status_d = STATUS_MALFORMED;
    else status_d = STATUS_DONE;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Lookup;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Row) begin
      row_q     <= lookup_row_i;
      sge_sum_q <= first_two_q + last_two_q;
    end
    // Three bits of the number of SGEs suffice: more than four are refused in any case.
    first_two_q <= (job_i.sge_count[2:0] > 3'd0 ? 34'(job_i.sge0_length) : 34'd0) + (job_i.sge_count[2:0] > 3'd1 ? 34'(job_i.sge1_length) : 34'd0);
    last_two_q  <= (job_i.sge_count[2:0] > 3'd2 ? 34'(job_i.sge2_length) : 34'd0) + (job_i.sge_count[2:0] > 3'd3 ? 34'(job_i.sge3_length) : 34'd0);
    if (state_q == Check) status_q <= status_d;
  end

  // ---------------------------------------------------------------- whether the row may be another one than that of the job before
  // Jobs that send nothing do not count: what comes behind them is compared with what was sent before.
  logic written_q, fresh_q;  // since the last lookup; since the row of the last good job

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= 1'b0;
      fresh_q   <= 1'b0;
    end else begin
      written_q <= written_i || (written_q && !(lookup_valid_o && lookup_ready_i));
      if (lookup_valid_o && lookup_ready_i) fresh_q <= fresh_q || written_q || written_i;
      else if (checked_valid_o && checked_ready_i && status_q == STATUS_DONE) fresh_q <= 1'b0;
    end
  end

  assign lookup_valid_o  = state_q == Lookup && job_valid_i;
  assign lookup_flow_o   = job_i.flow;
  assign checked_valid_o = state_q == HandOver && job_valid_i;
  assign job_ready_o     = state_q == HandOver && checked_ready_i;
  assign checked_o       = '{status: status_q, number: job_number_i, epoch: epoch_i, fresh: fresh_q, row: row_q, job: job_i};

endmodule
