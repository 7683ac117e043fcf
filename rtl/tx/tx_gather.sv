// Turns each step into the pieces of its TCP payload, in order: MPA length and DDP header, bytes from host memory or slot, pad and a zero CRC field.
// tx_store inserts the CRC.
//
// Handshake: ready/valid for steps, answers and pieces. Layout, frame and report are pulses a cycle late, and their ready is used a cycle late. So
//            who takes them keeps room for three more when ready. One cycle for each piece. Of a frame without a DDP header one more begins it.
// Pipeline:  step ─► next ─► register ─┬─► pieces ─► register slice ─► byte_packer
//                                      ├─► layout, when the frame begins
//                                      └─► register ─► frame headers, a cycle after its last byte was read; at the end of a job
//                                                      its report, JOB_DONE
//            state          | what happens                                      | left when
//            Begin          | a step begins: MPA length and DDP header          | there is a step, and room for layout, frame and report
//            HeadRest       | the header's second piece, at 128 bits            | the piece is taken
//            Body           | payload, from host memory or slot                 | the last byte is taken
//            Tail           | pad and CRC field                                 | the piece is taken
//            step_q: advanced_q marks the cycle in which its wide fields are still read from next_q.
// Why:       A read error marks the frame as dropped. The rest of its job is read as far as it was requested, and discarded (`quiet`).

`include "weft_assert.svh"

module tx_gather
  import weft_card_pkg::*;
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned PORTS   = 1,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [PORTS-1:0]              job_reset_i,  // JOB_DONE starts again at 0
  input  logic [PORTS-1:0][EPOCH_W-1:0] epoch_i,
  output logic [PORTS-1:0][       31:0] job_done_o,

  input  logic          step_valid_i,
  output logic          step_ready_o,
  input  step_t         step_i,
  input  logic          slot_valid_i,
  output logic          slot_ready_o,
  input  logic  [511:0] slot_i,

  input  logic               rsp_valid_i,
  output logic               rsp_ready_o,
  input  logic [ DATA_W-1:0] rsp_data_i,
  input  logic [COUNT_W-1:0] rsp_count_i,
  input  logic               rsp_last_i,
  input  logic               rsp_error_i,

  output logic          abort_o,
  output logic   [31:0] abort_number_o,
  output epoch_t        abort_epoch_o,

  output logic               piece_valid_o,
  input  logic               piece_ready_i,
  output logic [ DATA_W-1:0] piece_data_o,
  output logic [COUNT_W-1:0] piece_count_o,
  output logic               piece_last_o,

  output logic           layout_valid_o,
  input  logic           layout_ready_i,
  output layout_t        layout_o,
  output logic           frame_valid_o,   // see Handshake: layout_ready_i and frame_ready_i are used
  input  logic           frame_ready_i,   // when a step begins
  output frame_t         frame_o,
  output logic    [15:0] frame_flow_o,
  output logic           frame_port_o,

  output logic [PORTS-1:0] rpt_valid_o,  // by port
  input  logic             rpt_ready_i,  // likewise
  output logic [    511:0] rpt_o,

  output logic begin_frame_o,  // pulses, for the counters and the idle signal
  output logic end_job_o,
  output logic bad_job_o,
  output logic read_error_o,
  output logic stall_o
);

  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned SLOT_BEATS = 512 / DATA_W;
  localparam logic [13:0] BEAT_BYTES = 14'(BYTES);
  // A header of 20 bytes needs two pieces of 16.
  localparam logic [7:0] HEAD_BYTES = BYTES < 20 ? 8'd16 : 8'd20;

  typedef enum logic [1:0] {
    Begin,
    HeadRest,
    Body,
    Tail
  } state_e;

  state_e state_q, state_d;
  logic [13:0] left_q, left_then;  // payload bytes of the step not taken yet
  logic       fits_q;  // they fit into a beat
  logic [1:0] slot_beat_q;
  logic error_q, failed_q;  // of this frame; of this job
  logic room, quiet, can_put, put, done;
  logic body_valid, body_take, body_last, error_now;
  logic [COUNT_W-1:0] body_count;

  assign room  = layout_ready_i && frame_ready_i && rpt_ready_i;
  assign quiet = failed_q;  // nothing more is sent of this job

  // ---------------------------------------------------------------- the present step; the next one is taken as it ends
  logic next_valid_q, there_q, next_there, step_valid_q, advance;
  step_t next_q, step_q, step;
  logic fpdu_q, long_head_q, empty_q;  // the step has a header, one of two pieces, no payload
  logic tail_q;  // pad or CRC field behind it
  logic advanced_q;

  // `done` is late: it does not reach the queue of steps, and loads only the fields that the sequence needs at once. The hundreds of bits beside them
  // follow a cycle later. In their first cycle they are read from next_q, which holds them until then. That the next step was taken is visible a
  // cycle later, too.
  assign next_there   = next_valid_q && !(advanced_q && there_q);
  assign step_ready_o = !next_there;
  assign advance      = !step_valid_q || done;

  always_comb begin
    step = step_q;
    if (advanced_q) begin
      step.number = next_q.number;
      step.flow   = next_q.flow;
      step.epoch  = next_q.epoch;
      step.head   = next_q.head;
      step.layout = next_q.layout;
      step.frame  = next_q.frame;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      there_q      <= 1'b0;
      step_valid_q <= 1'b0;
      advanced_q   <= 1'b0;
    end else begin
      advanced_q   <= advance;
      there_q      <= next_there;
      next_valid_q <= next_there || step_valid_i;
      if (advance) step_valid_q <= next_there;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_ready_o) next_q <= step_i;
    if (advanced_q) begin
      step_q.number <= next_q.number;
      step_q.flow   <= next_q.flow;
      step_q.epoch  <= next_q.epoch;
      step_q.head   <= next_q.head;
      step_q.layout <= next_q.layout;
      step_q.frame  <= next_q.frame;
    end
    if (advance) begin
      step_q.job_last   <= next_q.job_last;
      step_q.notify     <= next_q.notify;
      step_q.status     <= next_q.status;
      step_q.has_frame  <= next_q.has_frame;
      step_q.from_slot  <= next_q.from_slot;
      step_q.bytes      <= next_q.bytes;
      step_q.head_bytes <= next_q.head_bytes;
      step_q.tail_bytes <= next_q.tail_bytes;
      fpdu_q            <= next_q.head_bytes != '0;
      tail_q            <= next_q.tail_bytes != '0;
      long_head_q       <= 8'(next_q.head_bytes) > HEAD_BYTES;
      empty_q           <= next_q.bytes == '0;
    end
  end

  // ---------------------------------------------------------------- payload bytes
  assign body_count   = step.from_slot ? (fits_q ? COUNT_W'(left_q) : COUNT_W'(BYTES)) : rsp_count_i;
  assign body_last    = fits_q && (step.from_slot || left_q[COUNT_W-1:0] == rsp_count_i);
  assign left_then    = left_q - 14'(body_count);
  // A slot comes with its step, which takes two cycles more to get here.
  assign body_valid   = step.from_slot || rsp_valid_i;
  assign body_take    = state_q == Body && body_valid && (quiet || can_put);
  assign rsp_ready_o  = state_q == Body && !step.from_slot && (quiet || can_put);
  assign slot_ready_o = body_take && step.from_slot && body_last;
  assign error_now    = error_q || (body_take && !step.from_slot && rsp_last_i && rsp_error_i);
  assign stall_o      = state_q == Body && !step.from_slot && !rsp_valid_i;

  logic [DATA_W-1:0] slot_data;
  always_comb begin
    slot_data = slot_i[DATA_W-1:0];
    for (int unsigned b = 1; b < SLOT_BEATS; b++) begin
      if (slot_beat_q == 2'(b)) slot_data = slot_i[DATA_W*b+:DATA_W];
    end
  end

  // ---------------------------------------------------------------- sequence
  logic start, begins, put_head;
  logic [7:0] head_bytes;

  assign head_bytes = 8'(step.head_bytes);
  assign begins     = state_q == Begin && step_valid_q && room;
  assign put_head   = begins && step.has_frame && fpdu_q && !quiet;
  assign start      = begins && (!put_head || can_put);
  assign put        = put_head || (!quiet && ((state_q == Body && body_valid) || state_q == HeadRest || state_q == Tail));

  always_comb begin
    state_d = state_q;
    done    = 1'b0;
    unique case (state_q)
      Begin: begin
        if (start) begin
          if (!step.has_frame) done = 1'b1;
          else if (put_head && long_head_q) state_d = HeadRest;
          else if (!empty_q) state_d = Body;
          else if (put_head) state_d = Tail;
          else done = 1'b1;
        end
      end
      HeadRest: if (can_put) state_d = empty_q ? Tail : Body;
      Body: begin
        if (body_take && body_last) begin
          if (tail_q && !quiet) begin
            state_d = Tail;
          end else begin
            state_d = Begin;
            done    = 1'b1;
          end
        end
      end
      Tail: begin
        if (can_put) begin
          state_d = Begin;
          done    = 1'b1;
        end
      end
      default:  state_d = Begin;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Begin;
      error_q  <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      state_q <= state_d;
      error_q <= error_now && !done;
      if (done) failed_q <= (failed_q || error_now) && !step.job_last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Begin) begin
      left_q      <= step.bytes;
      fits_q      <= step.bytes <= BEAT_BYTES;
      slot_beat_q <= '0;
    end else if (body_take) begin
      left_q      <= left_then;
      fits_q      <= left_then <= BEAT_BYTES;
      slot_beat_q <= slot_beat_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- pieces
  logic [DATA_W-1:0] head_first, head_rest;

  if (DATA_W < 160) begin : gen_two_head_pieces
    assign head_first = step.head[DATA_W-1:0];
    assign head_rest  = DATA_W'(step.head[159:DATA_W]);
  end else begin : gen_one_head_piece
    assign head_first = DATA_W'(step.head);
    assign head_rest  = '0;
  end

  logic [ DATA_W-1:0] piece_data;
  logic [COUNT_W-1:0] piece_count;
  logic               piece_last;

  always_comb begin
    unique case (state_q)
      Begin: begin
        piece_data  = head_first;
        piece_count = COUNT_W'(long_head_q ? HEAD_BYTES : head_bytes);
        piece_last  = 1'b0;
      end
      HeadRest: begin
        piece_data  = head_rest;
        piece_count = COUNT_W'(head_bytes - HEAD_BYTES);
        piece_last  = 1'b0;
      end
      Body: begin
        piece_data  = step.from_slot ? slot_data : rsp_data_i;
        piece_count = body_count;
        piece_last  = body_last && !tail_q;
      end
      default: begin
        piece_data  = '0;
        piece_count = COUNT_W'(step.tail_bytes);
        piece_last  = 1'b1;
      end
    endcase
  end

  stream_slice #(
    .WIDTH(1 + COUNT_W + DATA_W)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .in_valid_i (put),
    .in_ready_o (can_put),
    .in_data_i  ({piece_last, piece_count, piece_data}),
    .out_valid_o(piece_valid_o),
    .out_ready_i(piece_ready_i),
    .out_data_o ({piece_last_o, piece_count_o, piece_data_o}),
    .shown_o    ()
  );

  // ---------------------------------------------------------------- layout of the frame
  logic begins_frame, begins_layout;

  assign begins_frame  = start && step.has_frame && !quiet;
  assign begins_layout = begins_frame && (fpdu_q || !empty_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begin_frame_o  <= 1'b0;
      layout_valid_o <= 1'b0;
    end else begin
      begin_frame_o  <= begins_frame;
      layout_valid_o <= begins_layout;
    end
  end

  always_ff @(posedge clk_i) begin
    layout_o <= step.layout;
  end

  // ---------------------------------------------------------------- the step that ended
  logic end_q, end_frame_q, end_bad_q;  // bad: of its job, a read failed
  logic end_last_q, end_notify_q;
  logic   [ 1:0] end_status_q;
  logic   [15:0] end_flow_q;
  logic          end_port_q;
  frame_t        end_step_frame_q;
  logic          end_drop_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q       <= 1'b0;
      end_frame_q <= 1'b0;
    end else begin
      end_q       <= done;
      end_frame_q <= done && step.has_frame && !quiet;
    end
  end

  // Used in the cycle after the end only. Number and epoch are held for the abort.
  always_ff @(posedge clk_i) begin
    end_bad_q        <= failed_q || error_now;
    end_last_q       <= step.job_last;
    end_notify_q     <= step.notify;
    end_status_q     <= step.status;
    end_flow_q       <= step.flow;
    end_port_q       <= step.epoch.port;
    end_step_frame_q <= step.frame;
    end_drop_q       <= error_now;
    if (done) begin
      abort_number_o <= step.number;
      abort_epoch_o  <= step.epoch;
    end
  end

  assign frame_valid_o = end_frame_q;
  assign frame_flow_o  = end_flow_q;
  assign frame_port_o  = end_port_q;
  assign abort_o       = failed_q;

  always_comb begin
    frame_o      = end_step_frame_q;
    frame_o.drop = end_drop_q;
  end

  // ---------------------------------------------------------------- the end of a job
  assign end_job_o = end_q && end_last_q;
  tx_job_end #(
    .PORTS(PORTS)
  ) u_job_end (
    .clk_i,
    .rst_ni,
    .job_reset_i,
    .epoch_i,
    .job_done_o,
    .end_i       (end_job_o),
    .number_i    (abort_number_o),
    .of_i        (abort_epoch_o),
    .flow_i      (end_flow_q),
    .notify_i    (end_notify_q),
    .status_i    (end_status_q),
    .read_error_i(end_bad_q),
    .rpt_valid_o,
    .rpt_o,
    .bad_job_o,
    .read_error_o
  );

  logic unused;
  assign unused = slot_valid_i;

  `WEFT_ASSERT(slot_is_there, state_q == Body && step.from_slot -> slot_valid_i)
  `WEFT_ASSERT(answer_within_step, body_take -> 14'(body_count) <= left_q && body_count != '0)

endmodule
