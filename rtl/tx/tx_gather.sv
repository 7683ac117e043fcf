// Turns each step into the pieces of its TCP payload, in order: MPA length and DDP header, the bytes read from host memory
// or the job's slot, pad and a zero CRC field. The CRC itself is put in on the way out (tx_store).
//
//   step ─┬─► pieces ─► byte_packer         per frame: one cycle to begin, one a piece
//         ├─► layout, when the frame begins
//         └─► frame headers, when its last byte has been read; at the end of a job its report and JOB_DONE
//
// A read error marks the frame as dropped; the rest of its job is read and thrown away as far as it was asked for.

module tx_gather
  import weft_card_pkg::*;
  import weft_tx_pkg::*;
#(
  parameter int unsigned DATA_W = 512,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               job_reset_i,     // JOB_DONE starts again at 0
  input  logic [1:0]         epoch_i,
  output logic [31:0]        job_done_o,

  input  logic               step_valid_i,
  output logic               step_ready_o,
  input  step_t              step_i,
  input  logic               slot_valid_i,
  output logic               slot_ready_o,
  input  logic [511:0]       slot_i,

  input  logic               rsp_valid_i,
  output logic               rsp_ready_o,
  input  logic [DATA_W-1:0]  rsp_data_i,
  input  logic [COUNT_W-1:0] rsp_count_i,
  input  logic               rsp_last_i,
  input  logic               rsp_error_i,

  output logic               abort_o,
  output logic [31:0]        abort_number_o,
  output logic [1:0]         abort_epoch_o,

  output logic               piece_valid_o,
  input  logic               piece_ready_i,
  output logic [DATA_W-1:0]  piece_data_o,
  output logic [COUNT_W-1:0] piece_count_o,
  output logic               piece_last_o,

  output logic               layout_valid_o,
  input  logic               layout_ready_i,
  output layout_t            layout_o,
  output logic               frame_valid_o,   // there is room: layout_ready_i and frame_ready_i are looked at when a
  input  logic               frame_ready_i,   // step begins
  output frame_t             frame_o,

  output logic               rpt_valid_o,
  input  logic               rpt_ready_i,     // likewise
  output logic [511:0]       rpt_o,

  output logic               begin_frame_o,   // pulses, for the counters and the idle signal
  output logic               end_job_o,
  output logic               bad_job_o,
  output logic               read_error_o,
  output logic               stall_o
);

  localparam int unsigned BYTES      = DATA_W / 8;
  localparam int unsigned SLOT_BEATS = 512 / DATA_W;
  localparam logic [13:0] BEAT_BYTES = 14'(BYTES);
  // A header of 20 bytes needs two pieces of 16.
  localparam logic [7:0]  HEAD_BYTES = BYTES < 20 ? 8'd16 : 8'd20;

  typedef enum logic [2:0] {BEGIN, HEAD, HEAD_REST, BODY, TAIL} state_e;

  state_e      state_q, state_d;
  logic [13:0] left_q;                        // payload bytes of the step not taken yet
  logic [1:0]  slot_beat_q;
  logic        error_q, failed_q;             // of this frame; of this job
  logic        room, quiet, can_put, put, done;
  logic        body_valid, body_take, body_last, error_now;
  logic [COUNT_W-1:0] body_count;

  assign room    = layout_ready_i && frame_ready_i && rpt_ready_i;
  assign quiet   = failed_q;                  // nothing more is sent of this job
  assign can_put = !piece_valid_o || piece_ready_i;

  // ---------------------------------------------------------------- payload bytes
  assign body_count = step_i.from_slot ? (left_q < BEAT_BYTES ? COUNT_W'(left_q) : COUNT_W'(BYTES)) : rsp_count_i;
  assign body_last  = left_q == 14'(body_count);
  assign body_valid = step_i.from_slot ? slot_valid_i : rsp_valid_i;
  assign body_take  = state_q == BODY && body_valid && (quiet || can_put);
  assign rsp_ready_o  = state_q == BODY && !step_i.from_slot && (quiet || can_put);
  assign slot_ready_o = body_take && step_i.from_slot && body_last;
  assign error_now    = error_q || (body_take && !step_i.from_slot && rsp_last_i && rsp_error_i);
  assign stall_o      = state_q == BODY && !step_i.from_slot && !rsp_valid_i;

  logic [DATA_W-1:0] slot_data;
  always_comb begin
    slot_data = slot_i[DATA_W-1:0];
    for (int unsigned b = 1; b < SLOT_BEATS; b++) begin
      if (slot_beat_q == 2'(b)) slot_data = slot_i[DATA_W*b+:DATA_W];
    end
  end

  // ---------------------------------------------------------------- sequence
  logic       start, fpdu;
  logic [7:0] head_bytes;

  assign head_bytes = 8'(step_i.head_bytes);
  assign fpdu  = head_bytes != '0;
  assign start = state_q == BEGIN && step_valid_i && room;
  assign put   = can_put && !quiet && ((state_q == BODY && body_valid) || state_q == HEAD || state_q == HEAD_REST ||
                                       state_q == TAIL);

  always_comb begin
    state_d = state_q;
    done    = 1'b0;
    unique case (state_q)
      BEGIN: begin
        if (start) begin
          if (!step_i.has_frame) done = 1'b1;
          else if (fpdu && !quiet) state_d = HEAD;
          else if (step_i.bytes != '0) state_d = BODY;
          else done = 1'b1;
        end
      end
      HEAD: begin
        if (can_put) begin
          if (head_bytes > HEAD_BYTES) state_d = HEAD_REST;
          else state_d = step_i.bytes != '0 ? BODY : TAIL;
        end
      end
      HEAD_REST: if (can_put) state_d = step_i.bytes != '0 ? BODY : TAIL;
      BODY: begin
        if (body_take && body_last) begin
          if (fpdu && !quiet) begin
            state_d = TAIL;
          end else begin
            state_d = BEGIN;
            done    = 1'b1;
          end
        end
      end
      TAIL: begin
        if (can_put) begin
          state_d = BEGIN;
          done    = 1'b1;
        end
      end
      default: state_d = BEGIN;
    endcase
  end

  assign step_ready_o = done;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= BEGIN;
      error_q       <= 1'b0;
      failed_q      <= 1'b0;
      piece_valid_o <= 1'b0;
    end else begin
      state_q <= state_d;
      error_q <= error_now && !done;
      if (done) failed_q <= (failed_q || error_now) && !step_i.job_last;
      if (can_put) piece_valid_o <= put;
    end
  end

  always_ff @(posedge clk_i) begin
    if (done) begin
      abort_number_o <= step_i.number;
      abort_epoch_o  <= step_i.epoch;
    end
    if (state_q == BEGIN) begin
      left_q      <= step_i.bytes;
      slot_beat_q <= '0;
    end else if (body_take) begin
      left_q      <= left_q - 14'(body_count);
      slot_beat_q <= slot_beat_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- pieces
  logic [DATA_W-1:0] head_first, head_rest;

  if (DATA_W < 160) begin : gen_two_head_pieces
    assign head_first = step_i.head[DATA_W-1:0];
    assign head_rest  = DATA_W'(step_i.head[159:DATA_W]);
  end else begin : gen_one_head_piece
    assign head_first = DATA_W'(step_i.head);
    assign head_rest  = '0;
  end

  always_ff @(posedge clk_i) begin
    if (can_put) begin
      unique case (state_q)
        HEAD: begin
          piece_data_o  <= head_first;
          piece_count_o <= COUNT_W'(head_bytes > HEAD_BYTES ? HEAD_BYTES : head_bytes);
          piece_last_o  <= 1'b0;
        end
        HEAD_REST: begin
          piece_data_o  <= head_rest;
          piece_count_o <= COUNT_W'(head_bytes - HEAD_BYTES);
          piece_last_o  <= 1'b0;
        end
        BODY: begin
          piece_data_o  <= step_i.from_slot ? slot_data : rsp_data_i;
          piece_count_o <= body_count;
          piece_last_o  <= body_last && !fpdu;
        end
        default: begin
          piece_data_o  <= '0;
          piece_count_o <= COUNT_W'(step_i.tail_bytes);
          piece_last_o  <= 1'b1;
        end
      endcase
    end
  end

  // ---------------------------------------------------------------- what goes beside the pieces
  assign layout_valid_o = start && state_d != BEGIN && !quiet;
  assign layout_o       = step_i.layout;
  assign begin_frame_o  = start && step_i.has_frame && !quiet;
  assign frame_valid_o  = done && step_i.has_frame && !quiet;
  assign abort_o        = failed_q;

  always_comb begin
    frame_o      = step_i.frame;
    frame_o.drop = error_now;
  end

  // ---------------------------------------------------------------- the end of a job
  logic [1:0]  status;
  job_report_t report;

  assign status = (failed_q || error_now) ? STATUS_READ_ERROR : step_i.status;

  always_comb begin
    report        = '0;
    report.kind   = REPORT_KIND_JOB;
    report.status = 8'(status);
    report.flow   = step_i.flow;
    report.job    = step_i.number;
  end

  assign end_job_o    = done && step_i.job_last;
  assign rpt_valid_o  = end_job_o && step_i.epoch == epoch_i && !job_reset_i && (step_i.notify || status != STATUS_DONE);
  assign rpt_o        = report;
  assign bad_job_o    = end_job_o && step_i.status == STATUS_MALFORMED;
  assign read_error_o = end_job_o && status == STATUS_READ_ERROR;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) job_done_o <= '0;
    else if (job_reset_i) job_done_o <= '0;
    else if (end_job_o && step_i.epoch == epoch_i) job_done_o <= job_done_o + 1'b1;
  end

`ifndef SYNTHESIS
  answer_within_step: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                       body_take |-> 14'(body_count) <= left_q && body_count != '0);
  layout_room_kept: assert property (@(posedge clk_i) disable iff (!rst_ni) layout_valid_o |-> layout_ready_i);
  frame_room_kept: assert property (@(posedge clk_i) disable iff (!rst_ni) frame_valid_o |-> frame_ready_i);
  report_room_kept: assert property (@(posedge clk_i) disable iff (!rst_ni) rpt_valid_o |-> rpt_ready_i);
`endif

endmodule
