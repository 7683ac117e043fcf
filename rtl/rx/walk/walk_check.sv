// The checks of docs/card.md, FPDU by FPDU and in stream order, and what follows from them: placements, reports, verdicts
// for the waiting payload, and the end of each segment.
//
// Head and tail of an FPDU come apart, so that the tagged checks run while the rest of it is on its way. Nothing is asked of
// host memory and nothing is let through before tail and CRC verdict are there. Five cycles for a tagged FPDU; one of queue 0
// takes three more (four if its element is not the one used last), three for each further SGE it reaches into, and one for each
// SGE that lies before its offset.
// Handshake: ready/valid; `done_valid_o` for one cycle, not before all operations of the segment were taken.

module walk_check
  import walk_pkg::*;
  import weft_card_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic tables_ready_i,

    input logic seg_valid_i,
    output logic seg_ready_o,
    input segment_t seg_i,
    input logic head_valid_i,
    output logic head_ready_o,
    input fpdu_head_t head_i,
    input logic tail_valid_i,
    output logic tail_ready_o,
    input fpdu_tail_t tail_i,
    input logic crc_valid_i,
    output logic crc_ready_o,
    input logic crc_good_i,

    output logic lookup_o,
    output logic [23:0] lookup_index_o,
    input logic row_in_range_i,
    input stag_row_t row_i,
    output logic tail_read_o,
    output logic [15:0] tail_flow_o,
    input logic [31:0] rq_tail_i,
    output logic el_want_o,
    output logic [31:0] el_msn_o,
    input logic el_here_i,
    input logic el_error_i,
    input receive_element_t element_i,

    output logic verdict_valid_o,
    input logic verdict_ready_i,
    output logic verdict_keep_o,
    output logic [11:0] verdict_beats_o,
    output logic run_valid_o,
    input logic run_ready_i,
    output logic [15:0] run_bytes_o,
    output logic run_end_o,

    output logic op_valid_o,
    input logic op_ready_i,
    output op_t op_o,
    output logic done_valid_o,
    output logic [15:0] done_len_o,
    output stop_e done_stop_o,
    output logic done_engine_o,
    output logic [31:0] done_msn_o,
    output logic [31:0] done_mo_o,
    output logic done_colour_o,

    output logic idle_o,
    output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  typedef enum logic [2:0] {
    HEAD,     // wait for an FPDU's header; look up its STag
    CHECK,    // tagged and queue checks
    VERDICT,  // wait for its end
    ELEMENT,  // wait for the receive element
    SGE,      // look up the STag of the next SGE that the payload reaches into
    SGE_ROW,  // check it
    OPS       // placements, then the report
  } state_e;
  state_e state_q;

  // The FPDU.
  ddp_header_t header, header_q;
  logic [15:0] offset_q;
  err_e err_q, err_d;
  fpdu_tail_t tail_q;
  logic silent_q;  // not reported: partial, or behind the FPDU at which the walk stopped

  // The segment's walk so far.
  stop_e stop;
  logic [31:0] msn, mo;

  // Where the payload goes.
  logic [3:0][63:0] run_iova_q;
  logic [3:0][15:0] run_bytes_q;
  logic [2:0] runs_q, run_q;

  walk_ddp u_ddp (
      .head_i,
      .header_o(header)
  );

  // ------------------------------------------------------------------ scatter list
  logic [33:0] room;
  logic [1:0] sge_q;
  logic [31:0] skip_q, sge_length, sge_stag, piece_stag_q;
  logic [15:0] rest_q, piece, piece_q;
  logic [63:0] piece_to, piece_to_q;

  walk_scatter u_scatter (
      .element_i,
      .room_o(room),
      .sge_i(sge_q),
      .skip_i(skip_q),
      .rest_i(rest_q),
      .length_o(sge_length),
      .stag_o(sge_stag),
      .to_o(piece_to),
      .piece_o(piece)
  );

  // ------------------------------------------------------------------ checks
  logic first_check;
  err_e region_err;
  logic [63:0] region_iova;
  logic [7:0] right;
  assign first_check = state_q == CHECK;
  assign right = !first_check ? ACCESS_LOCAL_WRITE : (header_q.rdmap_control[1] ? ACCESS_READ_SINK : ACCESS_REMOTE_WRITE);

  stag_check u_region (
      .row_i,
      .in_range_i(row_in_range_i),
      .stag_i(first_check ? header_q.stag_or_qn : piece_stag_q),
      .to_i(first_check ? header_q.to_or_mo : piece_to_q),
      .bytes_i(first_check ? header_q.payload_len : piece_q),
      .pd_i(seg_i.row.pd),
      .right_i(right),
      .err_o(region_err),
      .iova_o(region_iova)
  );

  logic [31:0] posted_behind;
  assign posted_behind = rq_tail_i - header_q.msn;

  always_comb begin
    err_d = header_q.err;
    if (header_q.err == ERR_NONE) begin
      unique case (header_q.kind)
        CLASS_TAGGED: if (header_q.payload_len != 16'd0) err_d = region_err;
        CLASS_RECEIVE: begin
          if (header_q.msn != msn) err_d = ERR_MSN;
          else if (header_q.to_or_mo != {32'd0, mo}) err_d = ERR_MO;
          else if (posted_behind[31]) err_d = ERR_NO_BUFFER;
        end
        default: ;
      endcase
    end
  end

  logic silent, mpa_bad;
  err_e verdict;
  assign silent = tail_i.partial || stop != STOP_WHOLE;
  assign mpa_bad = tail_i.bad_marker || (seg_i.row.flags[FLOW_RX_ROW_CRC_BIT] && !crc_good_i);
  assign verdict = !mpa_bad ? err_q : (tail_i.bad_marker ? ERR_MARKER : ERR_CRC);

  logic unused;
  assign unused = ^{posted_behind[30:0], tail_q.bad_marker};

  // ------------------------------------------------------------------ the inputs
  logic take_head, take_tail;
  assign take_head = state_q == HEAD && head_valid_i && seg_valid_i && tables_ready_i;
  assign take_tail = state_q == VERDICT && tail_valid_i && crc_valid_i;
  assign head_ready_o = take_head;
  assign tail_ready_o = take_tail;
  assign crc_ready_o = take_tail;
  assign lookup_o = take_head || (state_q == SGE);
  assign lookup_index_o = state_q == SGE ? sge_stag[31:8] : header.stag_or_qn[31:8];
  assign tail_read_o = take_head;
  assign tail_flow_o = seg_i.flow;
  assign el_want_o = state_q == ELEMENT;
  assign el_msn_o = msn;

  // ------------------------------------------------------------------ the outputs
  logic op_free, step, is_place, final_step, keep;
  op_t op_d, op_q;
  logic op_valid_q, done_pending;
  fpdu_report_t report;
  logic [NUM_COUNTERS-1:0][15:0] cnt;

  assign op_free = !op_valid_q || op_ready_i;
  assign keep = runs_q != 3'd0;
  assign is_place = run_q != runs_q;
  assign verdict_keep_o = keep;
  assign verdict_beats_o = tail_q.beats;
  assign verdict_valid_o = state_q == OPS && op_free && run_q == 3'd0 && tail_q.beats != 12'd0 && (!is_place || run_ready_i);
  assign step = state_q == OPS && op_free && (!is_place || run_ready_i) &&
                (run_q != 3'd0 || tail_q.beats == 12'd0 || verdict_ready_i);
  assign final_step = step && !is_place;
  assign run_valid_o = step && is_place;
  assign run_bytes_o = run_bytes_q[run_q[1:0]];
  assign run_end_o = run_q + 3'd1 == runs_q;

  walk_report u_report (
      .valid_i(final_step && !silent_q),
      .flow_i(seg_i.flow),
      .epoch_i(seg_i.row.epoch),
      .seg_seq_i(seg_i.seq),
      .offset_i(offset_q),
      .header_i(header_q),
      .err_i(err_q),
      .nonzero_pad_i(tail_q.nonzero_pad),
      .report_o(report),
      .cnt_inc_o(cnt)
  );

  always_comb begin
    op_d.is_report = !is_place;
    op_d.last = run_end_o;
    op_d.colour = seg_i.colour;
    op_d.record = report;
    op_d.iova = run_iova_q[run_q[1:0]];
    op_d.bytes = run_bytes_q[run_q[1:0]];
  end

  walk_progress u_progress (
      .clk_i,
      .rst_ni,
      .begin_i(take_head),
      .seg_i,
      .end_i(final_step),
      .header_i(header_q),
      .err_i(err_q),
      .offset_i(offset_q),
      .partial_i(tail_q.partial),
      .seg_last_i(tail_q.seg_last),
      .stop_o(stop),
      .msn_o(msn),
      .mo_o(mo),
      .done_ready_i(op_free),
      .done_pending_o(done_pending),
      .done_valid_o,
      .done_len_o,
      .done_stop_o,
      .done_engine_o,
      .done_msn_o,
      .done_mo_o
  );

  assign seg_ready_o = final_step && tail_q.seg_last;

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= HEAD;
      op_valid_q <= 1'b0;
    end else begin
      if (op_free) op_valid_q <= step && (is_place || !silent_q);
      unique case (state_q)
        HEAD: if (take_head) state_q <= CHECK;
        CHECK: state_q <= VERDICT;
        VERDICT: begin
          if (take_tail) begin
            state_q <= !silent && verdict == ERR_NONE && header_q.kind == CLASS_RECEIVE ? ELEMENT : OPS;
          end
        end
        ELEMENT: begin
          if (el_here_i) begin
            state_q <= el_error_i || header_q.payload_len == 16'd0 || 34'(mo) + 34'(header_q.payload_len) > room ? OPS : SGE;
          end
        end
        SGE: if (skip_q < sge_length) state_q <= SGE_ROW;
        SGE_ROW: state_q <= region_err != ERR_NONE || piece_q == rest_q ? OPS : SGE;
        OPS: if (final_step) state_q <= HEAD;
        default: state_q <= HEAD;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (final_step) done_colour_o <= seg_i.colour;
    unique case (state_q)
      HEAD: begin
        if (take_head) begin
          header_q <= header;
          offset_q <= head_i.offset;
        end
      end
      CHECK: begin
        err_q <= err_d;
        run_iova_q[0] <= region_iova;
        run_bytes_q[0] <= header_q.payload_len;
      end
      VERDICT: begin
        if (take_tail) begin
          tail_q <= tail_i;
          silent_q <= silent;
          err_q <= verdict;
          run_q <= 3'd0;
          runs_q <= 3'(!silent && verdict == ERR_NONE && header_q.kind == CLASS_TAGGED && header_q.payload_len != 16'd0);
          sge_q <= 2'd0;
          skip_q <= mo;
          rest_q <= header_q.payload_len;
        end
      end
      ELEMENT: begin
        if (el_here_i) begin
          if (el_error_i) err_q <= ERR_ELEMENT;
          else if (34'(mo) + 34'(header_q.payload_len) > room) err_q <= ERR_TOO_LONG;
        end
      end
      SGE: begin
        piece_q <= piece;
        piece_to_q <= piece_to;
        piece_stag_q <= sge_stag;
        if (skip_q >= sge_length) begin
          skip_q <= skip_q - sge_length;
          sge_q <= sge_q + 2'd1;
        end
      end
      SGE_ROW: begin
        skip_q <= 32'd0;
        sge_q <= sge_q + 2'd1;
        rest_q <= rest_q - piece_q;
        if (region_err != ERR_NONE) begin
          err_q <= ERR_ELEMENT;
          runs_q <= 3'd0;
        end else begin
          run_iova_q[runs_q[1:0]] <= region_iova;
          run_bytes_q[runs_q[1:0]] <= piece_q;
          runs_q <= runs_q + 3'd1;
        end
      end
      OPS: if (step) run_q <= run_q + 3'd1;
      default: ;
    endcase
    if (op_free) op_q <= op_d;
  end

  logic [NUM_COUNTERS-1:0][15:0] cnt_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_q <= '0;
    else begin
      cnt_q <= cnt;
      cnt_q[CNT_RX_STALL_ELEMENT_CYCLES] <= 16'(state_q == ELEMENT && !el_here_i);
    end
  end

  assign op_valid_o = op_valid_q;
  assign op_o = op_q;
  assign idle_o = state_q == HEAD && !head_valid_i && !op_valid_q && !done_pending;
  assign cnt_inc_o = cnt_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else if (take_tail) begin
      assert (seg_valid_i && (!tail_i.partial || tail_i.seg_last));
    end
  end
`endif
endmodule
