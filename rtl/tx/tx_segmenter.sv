// Cuts a checked job into frames: one step for each, and the reads of its payload, ahead of the data.
//
// Handshake: ready/valid; steps and reads go to FIFOs. Four cycles a frame, its first SGE piece among them, and two for each further one.
//            `slot_valid_o` comes with a step that has inline payload, once for each frame, first byte in bits 7:0.
// Pipeline:  state     | registers                     | what happens                                    | left when
//            Take      | job_q, row_q                  | a checked job is taken                          | `checked_valid_i`
//            Size      | chunk_q, final_q, to_marker_q | payload of the frame, place of the first marker | always
//            Layout    | body_q, spaces_q, piece_q     | words of the FPDU; the first piece              | always
//            Step      | length_q                      | the step is offered, and its first read         | both are taken
//            Read      | piece_q, sge_*_q              | further reads, SGE by SGE                       | the frame's payload is requested
//            DropBytes | slot_q                        | inline payload is shifted down, a byte a cycle  | the frame's bytes are gone
//            Next      | left_q, job_q.seq             | on to the next frame                            | always
// Why:       Many frames' reads are in flight, as steps and reads wait in FIFOs.
//            `abort_*` names a job whose read failed: no more frames are made of it, only its last step. It is compared between two frames.

`include "weft_assert.svh"

module tx_segmenter
  import weft_card_pkg::*;
  import weft_int_pkg::replay_t;
  import weft_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic     checked_valid_i,
  output logic     checked_ready_o,
  input  checked_t checked_i,

  input logic          abort_i,
  input logic   [31:0] abort_number_i,
  input epoch_t        abort_epoch_i,

  output logic  step_valid_o,
  input  logic  step_ready_i,
  output step_t step_o,

  output logic         slot_valid_o,  // with a step; taken when it is
  input  logic         slot_ready_i,
  output logic [511:0] slot_o,

  output logic        read_valid_o,
  input  logic        read_ready_i,
  output logic [63:0] read_addr_o,
  output logic [13:0] read_bytes_o
);

  typedef enum logic [2:0] {
    Take,
    Size,
    Layout,
    Step,
    Read,
    DropBytes,
    Next
  } state_e;

  state_e state_q, state_d;
  job_t                       job_q;  // seq and to_or_mo advance
  flow_tx_row_t               row_q;
  logic         [ 31:0]       number_q;
  epoch_t                     epoch_q;
  logic                       fresh_q;
  logic         [  1:0]       status_q;
  logic         [  3:0][63:0] sge_iova_q;  // element 0 is the current one
  logic         [  3:0][31:0] sge_len_q;
  logic         [511:0]       slot_q;
  logic         [ 31:0]       left_q;  // payload not cut yet, with this frame's
  logic [13:0] chunk_q, to_read_q;  // payload of this frame, and what of it is not requested yet
  logic final_q, has_frame_q;
  logic [13:0] length, length_q;  // TCP payload of this frame
  logic message, is_tagged, from_slot, aborted, aborted_q;
  logic append_crc;  // a segment that gets a CRC behind its payload

  assign message    = job_q.kind == JOB_KIND_MESSAGE;
  assign append_crc = job_q.kind == JOB_KIND_SEGMENT && job_q.flags[JOB_APPEND_CRC_BIT];
  assign is_tagged  = job_q.flags[JOB_TAGGED_BIT];
  assign from_slot  = job_q.flags[JOB_INLINE_PAYLOAD_BIT];
  assign aborted    = abort_i && abort_number_i == number_q && abort_epoch_i == epoch_q;

  // ---------------------------------------------------------------- size and layout of the next frame
  // Size: payload, and where the first marker lies. Layout: words. Step: markers.
  logic final_d;
  logic [11:0] body_words, body_q;  // FPDU without markers
  logic [11:0] spaces_q;  // words behind the first marker's place
  logic [12:0] spaces_round_q;  // spaces_q + 129: the first marker, and what rounds
  logic [ 6:0] to_marker_q;
  logic [ 8:0] phase;
  logic [ 4:0] markers;
  logic any_marker_q, some_q;  // some: the frame has payload

  assign final_d    = !message || left_q <= 32'(job_q.fpdu_payload);
  assign body_words = 12'(chunk_q[13:2]) + (is_tagged ? 12'd5 : 12'd6) + 12'(chunk_q[1:0] != 2'd0);
  assign phase      = 9'(job_q.seq - row_q.marker_base);
  // The first marker and one for each 127 words that begin behind it: 1 + spaces / 127, exact up to 128 * 127.
  assign markers    = any_marker_q ? 5'((spaces_round_q + 13'(spaces_q[11:7])) >> 7) : 5'd0;
  assign length     = message ? {body_q + 12'(markers), 2'b00} : chunk_q + (append_crc ? 14'd4 : 14'd0);

  // ---------------------------------------------------------------- reads
  // Measured a cycle ahead: Size, and each read or shift, change the values.
  logic [13:0] piece, piece_q;
  logic piece_ends_sge, piece_ends_sge_q, piece_is_rest_q, measured_q;
  logic sge_empty, sge_shift, read_taken, step_reads, reads, with_step;
  logic [3:0] sge_empty_q;  // the SGE is empty; one in use has bytes left until it is shifted out
  // The high halves of TO and of the current SGE's address follow a cycle later.
  logic to_carry_q, iova_carry_q;

  assign piece_ends_sge = sge_len_q[0] <= 32'(to_read_q);
  assign piece          = piece_ends_sge ? sge_len_q[0][13:0] : to_read_q;
  assign sge_empty      = sge_empty_q[0];
  // The first read goes with the step, but for an SGE without bytes.
  assign reads          = has_frame_q && !from_slot && some_q;
  assign step_reads     = reads && !sge_empty;
  assign with_step      = state_q == Step && step_reads && step_ready_i;
  assign read_valid_o   = with_step || (state_q == Read && measured_q && !sge_empty);
  assign read_taken     = read_valid_o && read_ready_i;
  assign read_addr_o    = sge_iova_q[0];
  assign read_bytes_o   = piece_q;
  // An SGE's address advances at the end of its frame only, by what the frame had of it.
  assign sge_shift      = (state_q == Read && measured_q && sge_empty) || (read_taken && piece_ends_sge_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) measured_q <= 1'b0;
    else measured_q <= !(read_taken || sge_shift);
  end
  always_ff @(posedge clk_i) begin
    piece_ends_sge_q <= piece_ends_sge;
    piece_is_rest_q  <= sge_len_q[0] >= 32'(to_read_q);
    piece_q          <= piece;
  end

  // ---------------------------------------------------------------- sequence
  logic step_taken, slot_used;

  assign slot_used    = has_frame_q && from_slot && some_q;
  assign step_valid_o = state_q == Step && (!slot_used || slot_ready_i) && (!step_reads || read_ready_i);
  assign slot_valid_o = state_q == Step && slot_used && step_ready_i;
  assign step_taken   = step_valid_o && step_ready_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Take:      if (checked_valid_i) state_d = Size;
      Size:      state_d = Layout;
      Layout:    state_d = Step;
      Step: begin
        if (step_taken) begin
          if (reads && !(step_reads && piece_is_rest_q)) state_d = Read;
          else if (final_q) state_d = Take;
          else if (reads) state_d = Next;
          else state_d = DropBytes;
        end
      end
      Read: begin
        if (read_taken && piece_is_rest_q) state_d = final_q ? Take : Next;
      end
      DropBytes: if (to_read_q == '0) state_d = Next;
      Next:      state_d = Size;
      default:   state_d = Take;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Take;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    aborted_q <= state_q == Next && aborted;
    unique case (state_q)
      Take: begin
        job_q <= checked_i.job;
        row_q <= checked_i.row;
        number_q <= checked_i.number;
        epoch_q <= checked_i.epoch;
        fresh_q <= checked_i.fresh;
        status_q <= checked_i.status;
        left_q <= checked_i.job.length;
        sge_iova_q <= {checked_i.job.sge3_iova, checked_i.job.sge2_iova, checked_i.job.sge1_iova, checked_i.job.sge0_iova};
        sge_len_q <= {checked_i.job.sge3_length, checked_i.job.sge2_length, checked_i.job.sge1_length, checked_i.job.sge0_length};
        sge_empty_q <= {
          checked_i.job.sge3_length == '0, checked_i.job.sge2_length == '0, checked_i.job.sge1_length == '0, checked_i.job.sge0_length == '0
        };
        slot_q <= checked_i.job[1023:512];
        to_carry_q <= 1'b0;
        iova_carry_q <= 1'b0;
        if (checked_i.status == STATUS_READ_ERROR) begin
          job_q.flow  <= '0;
          job_q.flags <= '0;
        end
      end
      Size: begin
        has_frame_q <= status_q == STATUS_DONE && !aborted_q;
        final_q     <= final_d || status_q != STATUS_DONE || aborted_q;
        chunk_q     <= final_d ? left_q[13:0] : job_q.fpdu_payload[13:0];
        to_read_q   <= final_d ? left_q[13:0] : job_q.fpdu_payload[13:0];
        to_marker_q <= 7'd0 - phase[8:2];
        if (to_carry_q) job_q.to_or_mo[63:32] <= job_q.to_or_mo[63:32] + 32'd1;
      end
      Layout: begin
        some_q         <= chunk_q != '0;
        body_q         <= body_words;
        spaces_q       <= body_words - 12'(to_marker_q) - 12'd1;
        spaces_round_q <= 13'(body_words) - 13'(to_marker_q) + 13'd128;
        any_marker_q   <= row_q.flags[FLOW_TX_ROW_MARKERS_BIT] && body_words > 12'(to_marker_q);
      end
      Step, Read: begin
        if (state_q == Step) length_q <= length;
        if (read_taken) begin
          {iova_carry_q, sge_iova_q[0][31:0]} <= 33'(sge_iova_q[0][31:0]) + 33'(to_read_q);
          sge_len_q[0]                        <= sge_len_q[0] - 32'(to_read_q);
          to_read_q                           <= to_read_q - piece_q;
        end
        if (sge_shift) begin
          iova_carry_q <= 1'b0;
          sge_iova_q   <= {64'd0, sge_iova_q[3:1]};
          sge_len_q    <= {32'd0, sge_len_q[3:1]};
          sge_empty_q  <= {1'b1, sge_empty_q[3:1]};
        end
      end
      DropBytes: begin
        if (to_read_q != '0) begin
          to_read_q <= to_read_q - 1'b1;
          slot_q    <= {8'd0, slot_q[511:8]};
        end
      end
      Next: begin
        left_q                             <= left_q - 32'(chunk_q);
        fresh_q                            <= 1'b0;
        job_q.seq                          <= job_q.seq + 32'(length_q);
        {to_carry_q, job_q.to_or_mo[31:0]} <= 33'(job_q.to_or_mo[31:0]) + 33'(chunk_q);
        if (iova_carry_q) sge_iova_q[0][63:32] <= sge_iova_q[0][63:32] + 32'd1;
        iova_carry_q <= 1'b0;
      end
      default: ;
    endcase
  end

  // ---------------------------------------------------------------- the step
  logic [  7:0] ddp_control;
  logic [ 15:0] ulpdu_length;
  logic [159:0] head;

  // RFC 5041 §4: T, L, reserved bits, version 1. RFC 5044 §4.1: the ULPDU's length before it.
  assign ddp_control = {is_tagged, final_q && job_q.flags[JOB_LAST_BIT], job_q.ddp_rsvd[5:2], 2'd1};
  assign ulpdu_length = 16'(chunk_q) + (is_tagged ? 16'd14 : 16'd18);
  assign head = is_tagged ? {32'd0, swap32(
      job_q.to_or_mo[31:0]
  ), swap32(
      job_q.to_or_mo[63:32]
  ), swap32(
      job_q.stag_or_qn
  ), job_q.rdmap_control, ddp_control, swap16(
      ulpdu_length
  )} : {swap32(
      job_q.to_or_mo[31:0]
  ), swap32(
      job_q.msn
  ), swap32(
      job_q.stag_or_qn
  ), swap32(
      job_q.rsvd_ulp
  ), job_q.rdmap_control, ddp_control, swap16(
      ulpdu_length
  )};

  assign slot_o = slot_q;
  assign checked_ready_o = state_q == Take;

  // Addresses and ports from the peer's side, as in what is received.
  // verilator lint_off UNUSEDSIGNAL
  replay_job_t replay;
  // verilator lint_on UNUSEDSIGNAL
  replay_t     about;
  headers_t    headers;
  assign replay = replay_job_t'(job_q);
  assign about = '{
          key: {row_q.local_port, row_q.remote_port, row_q.local_ip, row_q.remote_ip},
          seq: replay.seq,
          follows: replay.flags[REPLAY_JOB_FOLLOWS_BIT],
          msn: replay.msn,
          mo: replay.mo,
          bytes: 16'(length)
      };
  assign headers = '{
          seq: job_q.kind == JOB_KIND_RAW_FRAME ? '0 : job_q.seq,
          ack: job_q.ack,
          window: job_q.window,
          tcp_flags: final_q ? job_q.tcp_flags : job_q.tcp_flags & ~TCP_PSH,
          ts_val: job_q.ts_val,
          ts_ecr: job_q.ts_ecr,
          ttl: row_q.ttl,
          tos: row_q.tos | {6'd0, job_q.flags[JOB_ECT_BIT], 1'b0},
          remote_mac: row_q.remote_mac,
          local_mac: row_q.local_mac,
          local_ip: row_q.local_ip,
          remote_ip: row_q.remote_ip,
          local_port: row_q.local_port,
          remote_port: row_q.remote_port
      };

  always_comb begin
    step_o = '{
        number: number_q,
        flow : job_q.flow,
        epoch: epoch_q,
        job_last: final_q,
        notify: job_q.flags[JOB_NOTIFY_BIT],
        status: status_q,
        has_frame: has_frame_q,
        from_slot: from_slot,
        bytes: chunk_q,
        head_bytes: !message ? 5'd0 : is_tagged ? 5'd16 : 5'd20,
        head: head,
        tail_bytes: message || append_crc ? {1'b1, 2'd0 - chunk_q[1:0]} : 3'd0,
        layout: '{
            crc: append_crc || (message && row_q.flags[FLOW_TX_ROW_CRC_BIT]),
            markers: message && row_q.flags[FLOW_TX_ROW_MARKERS_BIT],
            to_marker: to_marker_q,
            length: length
        },
        frame: '{
            drop: 1'b0,
            raw: job_q.kind == JOB_KIND_RAW_FRAME || job_q.kind == JOB_KIND_REPLAY,
            replay: job_q.kind == JOB_KIND_REPLAY,
            fpdu: message,
            crc: append_crc || (message && row_q.flags[FLOW_TX_ROW_CRC_BIT]),
            timestamps: row_q.flags[FLOW_TX_ROW_TIMESTAMPS_BIT],
            apart: fresh_q || !message,
            pack: 32'(row_q.pack) >= MAX_PACK_BYTES ? 12'(MAX_PACK_BYTES) : row_q.pack[11:0],
            length: length,
            says: job_q.kind == JOB_KIND_REPLAY ? says_replay(about) : headers
        }
    };
  end

  logic unused;
  assign unused = ^{job_q.ddp_rsvd[7:6], job_q.ddp_rsvd[1:0], job_q.length, job_q.sge_count, row_q.rsvd_3, row_q.rsvd_34,
                    job_q.number, job_q.rsvd_56, job_q[1023:512], row_q.flags[7:4],
                    row_q.flags[FLOW_TX_ROW_VALID_BIT], job_q.flags[7:6], phase[1:0], spaces_q[6:0]};

  `WEFT_ASSERT(reads_have_sges, state_q == Read && sge_empty -> |sge_len_q[3:1])
  `WEFT_ASSERT(measure_is_new, read_valid_o -> piece_q == piece && piece_ends_sge_q == piece_ends_sge)
  `WEFT_ASSERT(address_whole, read_valid_o -> !iova_carry_q)

endmodule
