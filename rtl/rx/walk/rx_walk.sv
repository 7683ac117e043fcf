// The receive walk: the TCP payload of in-sequence segments, FPDU by FPDU, to placements and reports (docs/card.md).
//
//   payload -> walk_framer -+-> walk_crc ------------------------------.
//                           '-> walk_strip -+-> walk_head --------------+-> walk_check -> operations, done
//                                           '-> walk_pack -> place_fifo -> place_cut -> payload of the placements
//
// start: may be given before the beats; beats of the next segment may wait at the port. With `start_chained_i` the next
// start may come before the done of the one before it: it says "same flow, and it begins where the segment before ends".
// MSN and MO are then carried over inside, and if the segment before does not end with STOP_WHOLE, this one is thrown away
// with STOP_NOT_WALKED (done_len 0). A start of another flow may come before the done of the one before, too. A user that
// waits for each done ties start_chained_i to 0. Dones are in the order of the starts, one cycle each, always taken.
// ops: in order; the payload of the PLACE ops comes at place_*, one packed run of beats for each, `last` at its end.
// Nothing of an FPDU comes out before its CRC verdict and all its checks.

module rx_walk
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
    parameter int unsigned DATA_W = 512,
    parameter int unsigned NUM_FLOWS = 256,
    parameter int unsigned NUM_STAGS = 1024,
    localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic start_valid_i,
    output logic start_ready_o,
    input logic start_chained_i,
    input logic [15:0] start_flow_i,
    input logic [31:0] start_seq_i,
    input logic [15:0] start_len_i,
    input flow_rx_row_t start_row_i,
    input logic [31:0] start_msn_i,
    input logic [31:0] start_mo_i,

    input logic pl_valid_i,
    output logic pl_ready_o,
    input logic [DATA_W-1:0] pl_data_i,
    input logic [COUNT_W-1:0] pl_count_i,
    input logic pl_last_i,

    output logic done_valid_o,
    output logic [15:0] done_len_o,
    output stop_e done_stop_o,
    output logic done_engine_o,
    output logic [31:0] done_msn_o,
    output logic [31:0] done_mo_o,

    output logic op_valid_o,
    input logic op_ready_i,
    output op_t op_o,

    output logic place_valid_o,
    input logic place_ready_i,
    output logic [DATA_W-1:0] place_data_o,
    output logic [COUNT_W-1:0] place_count_o,
    output logic place_last_o,

    // Receive elements.
    output logic el_req_valid_o,
    input logic el_req_ready_i,
    output logic [63:0] el_req_addr_o,
    output logic [15:0] el_req_bytes_o,
    input logic el_rsp_valid_i,
    output logic el_rsp_ready_o,
    input logic [DATA_W-1:0] el_rsp_data_i,
    input logic [COUNT_W-1:0] el_rsp_count_i,
    input logic el_rsp_last_i,
    input logic el_rsp_error_i,
    input logic el_flush_i,  // a FLOW_RX row was written: forget the element read last

    // Table STAG (other numbers are refused).
    input logic tbl_req_valid_i,
    output logic tbl_req_ready_o,
    input table_req_t tbl_req_i,
    output logic tbl_rsp_valid_o,
    output table_rsp_t tbl_rsp_o,

    input logic rq_tail_valid_i,
    input logic [15:0] rq_tail_flow_i,
    input logic [31:0] rq_tail_value_i,

    output logic idle_o,
    output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  // Segments inside, and FPDUs between framer and checks: the small FIFOs below never overflow.
  localparam int unsigned SEGMENTS = 4;
  localparam int unsigned FPDUS = 8;
  // 16 KiB of payload: more than the longest FPDU a frame can hold.
  localparam int unsigned PLACE_DEPTH = 16384 / (DATA_W / 8);

  logic fp_valid, fp_ready, st_valid, st_ready, pk_valid, pk_ready, rd_valid, rd_ready;
  logic [DATA_W-1:0] fp_data, st_data, pk_data, rd_data;
  fpdu_beat_t fp_beat, st_beat;
  logic st_bad_marker, fp_fire, st_fire, framer_idle, crc_idle, check_idle, element_idle, fifo_idle, cut_idle;

  // ------------------------------------------------------------------ start
  segment_t start_seg, seg;
  logic seg_valid, seg_ready, seg_room, framer_ready;
  logic [31:0] since_marker;
  assign start_seg.chained = start_chained_i;
  assign start_seg.flow = start_flow_i;
  assign start_seg.seq = start_seq_i;
  assign start_seg.len = start_len_i;
  assign start_seg.msn = start_msn_i;
  assign start_seg.mo = start_mo_i;
  assign start_seg.row = start_row_i;
  assign since_marker = start_seq_i - start_row_i.marker_base;
  assign start_ready_o = framer_ready && seg_room;

  fifo_sync #(
      .WIDTH($bits(segment_t)),
      .DEPTH(SEGMENTS)
  ) u_segments (
      .clk_i,
      .rst_ni,
      .wr_valid_i(start_valid_i && framer_ready),
      .wr_ready_o(seg_room),
      .wr_data_i(start_seg),
      .rd_valid_o(seg_valid),
      .rd_ready_i(seg_ready),
      .rd_data_o(seg),
      .count_o()
  );

  // ------------------------------------------------------------------ framing, CRC, markers, header, payload
  walk_framer #(
      .DATA_W(DATA_W)
  ) u_framer (
      .clk_i,
      .rst_ni,
      .seg_valid_i(start_valid_i && seg_room),
      .seg_ready_o(framer_ready),
      .seg_len_i(start_len_i),
      .seg_markers_i(start_row_i.flags[0]),
      .seg_phase_i(since_marker[8:2]),
      .pl_valid_i,
      .pl_ready_o,
      .pl_data_i,
      .pl_count_i,
      .pl_last_i,
      .fp_valid_o(fp_valid),
      .fp_ready_i(fp_ready && fp_room),
      .fp_data_o(fp_data),
      .fp_beat_o(fp_beat),
      .idle_o(framer_idle)
  );

  // An FPDU begins only if there is room for its head, its tail and its verdict.
  logic [$clog2(FPDUS+1)-1:0] fpdus_q;
  logic fp_room, fpdu_begins, fpdu_ends;
  assign fp_room = !fp_beat.first || 32'(fpdus_q) != FPDUS;
  assign fp_fire = fp_valid && fp_ready && fp_room;
  assign fpdu_begins = fp_fire && fp_beat.first;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fpdus_q <= '0;
    else if (fpdu_begins && !fpdu_ends) fpdus_q <= fpdus_q + 1'b1;
    else if (!fpdu_begins && fpdu_ends) fpdus_q <= fpdus_q - 1'b1;
  end

  logic verdict_valid, verdict_good;
  walk_crc #(
      .DATA_W(DATA_W)
  ) u_crc (
      .clk_i,
      .rst_ni,
      .valid_i(fp_fire),
      .data_i(fp_data),
      .beat_i(fp_beat),
      .verdict_valid_o(verdict_valid),
      .verdict_good_o(verdict_good),
      .idle_o(crc_idle)
  );

  walk_strip #(
      .DATA_W(DATA_W)
  ) u_strip (
      .clk_i,
      .rst_ni,
      .fp_valid_i(fp_valid && fp_room),
      .fp_ready_o(fp_ready),
      .fp_data_i(fp_data),
      .fp_beat_i(fp_beat),
      .st_valid_o(st_valid),
      .st_ready_i(st_ready),
      .st_data_o(st_data),
      .st_beat_o(st_beat),
      .st_bad_marker_o(st_bad_marker)
  );
  assign st_fire = st_valid && st_ready;

  logic head_new, tail_new;
  fpdu_head_t head_d, head;
  fpdu_tail_t tail_d, tail;
  walk_head #(
      .DATA_W(DATA_W)
  ) u_head (
      .clk_i,
      .valid_i(st_fire),
      .data_i(st_data),
      .beat_i(st_beat),
      .head_valid_o(head_new),
      .head_o(head_d)
  );

  walk_pack #(
      .DATA_W(DATA_W)
  ) u_pack (
      .clk_i,
      .rst_ni,
      .st_valid_i(st_valid),
      .st_ready_o(st_ready),
      .st_data_i(st_data),
      .st_beat_i(st_beat),
      .st_bad_marker_i(st_bad_marker),
      .pk_valid_o(pk_valid),
      .pk_ready_i(pk_ready),
      .pk_data_o(pk_data),
      .tail_valid_o(tail_new),
      .tail_o(tail_d)
  );

  // ------------------------------------------------------------------ what the checks wait for
  logic head_valid, head_ready, tail_valid, tail_ready, crc_valid, crc_ready, crc_good;
  logic head_room, tail_room, crc_room;
  fifo_sync #(
      .WIDTH($bits(fpdu_head_t)),
      .DEPTH(FPDUS)
  ) u_heads (
      .clk_i,
      .rst_ni,
      .wr_valid_i(head_new),
      .wr_ready_o(head_room),
      .wr_data_i(head_d),
      .rd_valid_o(head_valid),
      .rd_ready_i(head_ready),
      .rd_data_o(head),
      .count_o()
  );
  fifo_sync #(
      .WIDTH($bits(fpdu_tail_t)),
      .DEPTH(FPDUS)
  ) u_tails (
      .clk_i,
      .rst_ni,
      .wr_valid_i(tail_new),
      .wr_ready_o(tail_room),
      .wr_data_i(tail_d),
      .rd_valid_o(tail_valid),
      .rd_ready_i(tail_ready),
      .rd_data_o(tail),
      .count_o()
  );
  fifo_sync #(
      .WIDTH(1),
      .DEPTH(FPDUS)
  ) u_crc_verdicts (
      .clk_i,
      .rst_ni,
      .wr_valid_i(verdict_valid),
      .wr_ready_o(crc_room),
      .wr_data_i(verdict_good),
      .rd_valid_o(crc_valid),
      .rd_ready_i(crc_ready),
      .rd_data_o(crc_good),
      .count_o()
  );
  assign fpdu_ends = tail_valid && tail_ready;

  // ------------------------------------------------------------------ tables and receive elements
  logic lookup, row_in_range, stags_ready, tails_ready, tail_read, want, here, element_error;
  logic [23:0] lookup_index;
  logic [15:0] tail_flow;
  logic [31:0] tail_value, want_msn;
  stag_row_t stag_row;
  receive_element_t element;

  stag_table #(
      .NUM_STAGS(NUM_STAGS)
  ) u_stags (
      .clk_i,
      .rst_ni,
      .ready_o(stags_ready),
      .lookup_i(lookup),
      .lookup_index_i(lookup_index),
      .row_in_range_o(row_in_range),
      .row_o(stag_row),
      .tbl_req_valid_i,
      .tbl_req_ready_o,
      .tbl_req_i,
      .tbl_rsp_valid_o,
      .tbl_rsp_o
  );

  rq_tail #(
      .NUM_FLOWS(NUM_FLOWS)
  ) u_rq_tail (
      .clk_i,
      .rst_ni,
      .ready_o(tails_ready),
      .write_valid_i(rq_tail_valid_i),
      .write_flow_i(rq_tail_flow_i),
      .write_value_i(rq_tail_value_i),
      .read_i(tail_read),
      .read_flow_i(tail_flow),
      .tail_o(tail_value)
  );

  rq_element #(
      .DATA_W(DATA_W)
  ) u_element (
      .clk_i,
      .rst_ni,
      .want_i(want),
      .flow_i(seg.flow),
      .msn_i(want_msn),
      .rq_base_i(seg.row.rq_base),
      .rq_log2_i(seg.row.rq_log2),
      .here_o(here),
      .error_o(element_error),
      .element_o(element),
      .flush_i(el_flush_i),
      .el_req_valid_o,
      .el_req_ready_i,
      .el_req_addr_o,
      .el_req_bytes_o,
      .el_rsp_valid_i,
      .el_rsp_ready_o,
      .el_rsp_data_i,
      .el_rsp_count_i,
      .el_rsp_last_i,
      .el_rsp_error_i,
      .idle_o(element_idle)
  );

  // ------------------------------------------------------------------ checks
  typedef struct packed {
    logic        keep;
    logic [11:0] beats;
  } verdict_t;
  typedef struct packed {
    logic        ends;
    logic [15:0] bytes;
  } run_t;
  verdict_t judged_d, judged;
  run_t run_d, run;
  logic judged_wr, judged_room, judged_valid, judged_ready, run_wr, run_room, run_valid, run_ready;

  walk_check u_check (
      .clk_i,
      .rst_ni,
      .tables_ready_i(stags_ready && tails_ready),
      .seg_valid_i(seg_valid),
      .seg_ready_o(seg_ready),
      .seg_i(seg),
      .head_valid_i(head_valid),
      .head_ready_o(head_ready),
      .head_i(head),
      .tail_valid_i(tail_valid),
      .tail_ready_o(tail_ready),
      .tail_i(tail),
      .crc_valid_i(crc_valid),
      .crc_ready_o(crc_ready),
      .crc_good_i(crc_good),
      .lookup_o(lookup),
      .lookup_index_o(lookup_index),
      .row_in_range_i(row_in_range),
      .row_i(stag_row),
      .tail_read_o(tail_read),
      .tail_flow_o(tail_flow),
      .rq_tail_i(tail_value),
      .el_want_o(want),
      .el_msn_o(want_msn),
      .el_here_i(here),
      .el_error_i(element_error),
      .element_i(element),
      .verdict_valid_o(judged_wr),
      .verdict_ready_i(judged_room),
      .verdict_keep_o(judged_d.keep),
      .verdict_beats_o(judged_d.beats),
      .run_valid_o(run_wr),
      .run_ready_i(run_room),
      .run_bytes_o(run_d.bytes),
      .run_end_o(run_d.ends),
      .op_valid_o,
      .op_ready_i,
      .op_o,
      .done_valid_o,
      .done_len_o,
      .done_stop_o,
      .done_engine_o,
      .done_msn_o,
      .done_mo_o,
      .idle_o(check_idle),
      .cnt_inc_o
  );

  // ------------------------------------------------------------------ payload behind its verdict
  fifo_sync #(
      .WIDTH($bits(verdict_t)),
      .DEPTH(FPDUS)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .wr_valid_i(judged_wr),
      .wr_ready_o(judged_room),
      .wr_data_i(judged_d),
      .rd_valid_o(judged_valid),
      .rd_ready_i(judged_ready),
      .rd_data_o(judged),
      .count_o()
  );
  fifo_sync #(
      .WIDTH($bits(run_t)),
      .DEPTH(FPDUS)
  ) u_runs (
      .clk_i,
      .rst_ni,
      .wr_valid_i(run_wr),
      .wr_ready_o(run_room),
      .wr_data_i(run_d),
      .rd_valid_o(run_valid),
      .rd_ready_i(run_ready),
      .rd_data_o(run),
      .count_o()
  );
  place_fifo #(
      .DATA_W(DATA_W),
      .DEPTH(PLACE_DEPTH)
  ) u_place_fifo (
      .clk_i,
      .rst_ni,
      .wr_valid_i(pk_valid),
      .wr_ready_o(pk_ready),
      .wr_data_i(pk_data),
      .verdict_valid_i(judged_valid),
      .verdict_ready_o(judged_ready),
      .verdict_keep_i(judged.keep),
      .verdict_beats_i(judged.beats),
      .rd_valid_o(rd_valid),
      .rd_ready_i(rd_ready),
      .rd_data_o(rd_data),
      .idle_o(fifo_idle)
  );
  place_cut #(
      .DATA_W(DATA_W)
  ) u_place_cut (
      .clk_i,
      .rst_ni,
      .run_valid_i(run_valid),
      .run_ready_o(run_ready),
      .run_bytes_i(run.bytes),
      .run_end_i(run.ends),
      .rd_valid_i(rd_valid),
      .rd_ready_o(rd_ready),
      .rd_data_i(rd_data),
      .place_valid_o,
      .place_ready_i,
      .place_data_o,
      .place_count_o,
      .place_last_o,
      .idle_o(cut_idle)
  );

  assign idle_o = stags_ready && tails_ready && framer_idle && crc_idle && !st_valid && !pk_valid && !seg_valid && check_idle &&
                  element_idle && !judged_valid && fifo_idle && cut_idle;

  logic unused;
  assign unused = ^{since_marker[31:9], since_marker[1:0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      if (head_new) assert (head_room);
      if (tail_new) assert (tail_room);
      if (verdict_valid) assert (crc_room);
    end
  end
`endif
endmodule
