// The receive walk: TCP payload of in-sequence segments, FPDU by FPDU, to placements and reports (docs/card.md "Receiving: verdicts").
//
// Handshake: `start_*` is ready/valid and may come before the beats; beats of the next segment may wait at the port. `done_valid_o` is a pulse,
//            always taken, in the order of the starts. `op_*` is in order; the payload of each PLACE operation comes at `place_*` as one packed run
//            of beats, `last` at its end.
// Pipeline:  payload -> walk_carry -> walk_fpdus --- heads, tails, CRC verdicts ---> walk_check -> operations, done
//                                         '-------- packed payload -> walk_place <------'   '--- walk_tables
//                                                                        '-> payload of the placements
//            stage      | registers  | what happens                              | hazards
//            start      | u_segments | the segment is queued, with its row       | room for SEGMENTS
//            walk_carry | see there  | octets carried from the flow's segment before | waits for its framing
//            walk_fpdus | see there  | framing, CRC, header, packed payload      | stalls with walk_place full
//            walk_check | see there  | the checks, in order; operations, done    | waits for receive elements
//            walk_place | see there  | payload behind its verdict, cut into runs | waits for rx_output
// Why:       Nothing of an FPDU is visible before its CRC verdict and all its checks.
//            A start with `chained` continues the segment at place `behind`: it is the same flow's, and ends where this one begins. It
//            may not be done yet; others may be between. MSN and MO are carried over inside. If that segment does not end with STOP_WHOLE, this one is
//            discarded with STOP_NOT_WALKED (done_len 0). A place is given away again at any time: its next
//            segment ends behind what continues the one before.
//            A user that waits for each done ties `chained` to 0.
//            STOP_NOT_WALKED also ends a segment whose rest was left, for want of room for reports.

module rx_walk
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned NUM_STAGS = 1024,
  parameter  int unsigned SEGMENTS  = 8,                      // inside, a power of two
  parameter  int unsigned CONTEXTS  = 8,                      // flows whose receive elements are read ahead
  parameter  int unsigned CARRIES   = 8,                      // flows with an FPDU over the end of a segment
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [1:0] closed_i, // level, of each port: no room for more reports

  input  logic     wants_i,        // level: start_i is of a flow that carries, and will come once it can
  input  logic     start_valid_i,
  output logic     start_ready_o,
  // verilator lint_off UNUSEDSIGNAL
  input  segment_t start_i,        // its colour is given here
  // verilator lint_on UNUSEDSIGNAL

  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,

  output logic       done_valid_o,
  output walk_done_t done_o,

  output logic op_valid_o,
  input  logic op_ready_i,
  output op_t  op_o,

  output logic               place_valid_o,
  input  logic               place_ready_i,
  output logic [ DATA_W-1:0] place_data_o,
  output logic [COUNT_W-1:0] place_count_o,
  output logic               place_last_o,

  // Receive elements.
  output logic                      el_req_valid_o,
  input  logic                      el_req_ready_i,
  output logic        [       63:0] el_req_addr_o,
  output logic        [       15:0] el_req_bytes_o,
  input  logic                      el_rsp_valid_i,
  output logic                      el_rsp_ready_o,
  input  logic        [ DATA_W-1:0] el_rsp_data_i,
  input  logic        [COUNT_W-1:0] el_rsp_count_i,
  input  logic                      el_rsp_last_i,
  input  logic                      el_rsp_error_i,
  input  flow_pulse_t               el_flush_i,      // the FLOW_RX row of this flow was written
  input  rq_place_t                 attach_i,        // a flow becomes the card's

  // Table STAG (other numbers are refused).
  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  input rq_tail_t    rq_tail_i,
  input flow_pulse_t left_i,     // the flow has left the card, or is its anew

  // Fence; and what host memory has answered, FPDU by FPDU.
  input  logic        fence_valid_i,
  input  logic [31:0] fence_number_i,
  output logic [31:0] fence_done_o,
  input  logic        landed_i,
  input  logic        landed_colour_i,

  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  // Between framing and checks.
  localparam int unsigned FPDUS = 8;

  logic fpdus_idle, check_idle, element_idle, place_idle, fence_idle;

  // ------------------------------------------------------------------ start
  segment_t seg, start, seg_in;
  logic seg_valid, seg_ready, seg_room, fpdus_ready, carry_idle, carry_waits, keeps, fp_valid;
  logic       [DATA_W-1:0] fp_data;
  fpdu_beat_t              fp_beat;
  logic       [      15:0] framed_len;
  logic       [       6:0] framed_phase;
  logic framed_valid, framed_ready, framed_last;
  logic [ DATA_W-1:0] framed_data;
  logic [COUNT_W-1:0] framed_count;

  walk_carry #(
    .DATA_W (DATA_W),
    .CARRIES(CARRIES)
  ) u_carry (
    .clk_i,
    .rst_ni,
    .left_i,
    .wants_i,
    .start_valid_i,
    .start_ready_o,
    .start_i,
    .start_ready_i(fpdus_ready && seg_room),
    .start_o      (start),
    .len_o        (framed_len),
    .phase_o      (framed_phase),
    .pl_valid_i,
    .pl_ready_o,
    .pl_data_i,
    .pl_count_i,
    .pl_last_i,
    .pl_valid_o   (framed_valid),
    .pl_ready_i   (framed_ready),
    .pl_data_o    (framed_data),
    .pl_count_o   (framed_count),
    .pl_last_o    (framed_last),
    .fp_valid_i   (fp_valid),
    .fp_data_i    (fp_data),
    .fp_beat_i    (fp_beat),
    .keeps_o      (keeps),
    .idle_o       (carry_idle),
    .waits_o      (carry_waits)
  );
  logic colour, done_colour, mark, marked, fence_ended, old_row;
  always_comb begin
    seg_in        = start;
    seg_in.colour = colour;
  end

  walk_segments #(
    .SEGMENTS(SEGMENTS)
  ) u_segments (
    .clk_i,
    .rst_ni,
    .valid_i       (start_valid_i && start_ready_o && fpdus_ready),
    .ready_o       (seg_room),
    .segment_i     (seg_in),
    .valid_o       (seg_valid),
    .ready_i       (seg_ready),
    .segment_o     (seg),
    .old_row_o     (old_row),
    .written_i     (el_flush_i.valid),
    .written_flow_i(el_flush_i.flow)
  );

  // ------------------------------------------------------------------ FPDUs
  logic head_valid, head_ready, tail_valid, tail_ready, crc_valid, crc_ready, crc_good, pk_valid, pk_go;
  fpdu_head_t              head;
  fpdu_tail_t              tail;
  logic       [DATA_W-1:0] pk_data;

  walk_fpdus #(
    .DATA_W(DATA_W),
    .FPDUS (FPDUS)
  ) u_fpdus (
    .clk_i,
    .rst_ni,
    .seg_valid_i  (start_valid_i && start_ready_o && seg_room),
    .seg_ready_o  (fpdus_ready),
    .seg_len_i    (framed_len),
    .seg_markers_i(start.row.flags[FLOW_RX_ROW_MARKERS_BIT]),
    .seg_phase_i  (framed_phase),
    .pl_valid_i   (framed_valid),
    .pl_ready_o   (framed_ready),
    .pl_data_i    (framed_data),
    .pl_count_i   (framed_count),
    .pl_last_i    (framed_last),
    .fp_valid_o   (fp_valid),
    .fp_data_o    (fp_data),
    .fp_beat_o    (fp_beat),
    .keeps_i      (keeps),
    .head_valid_o (head_valid),
    .head_ready_i (head_ready),
    .head_o       (head),
    .tail_valid_o (tail_valid),
    .tail_ready_i (tail_ready),
    .tail_o       (tail),
    .crc_valid_o  (crc_valid),
    .crc_ready_i  (crc_ready),
    .crc_good_o   (crc_good),
    .pk_valid_o   (pk_valid),
    .pk_go_i      (pk_go),
    .pk_data_o    (pk_data),
    .idle_o       (fpdus_idle)
  );

  // ------------------------------------------------------------------ tables and receive elements
  logic lookup, row_in_range, tables_ready, tail_read, want, want_last, here, element_error;
  logic [23:0] lookup_index;
  logic [15:0] tail_flow;
  logic [31:0] tail_value, want_msn;
  stag_row_t        stag_row;
  receive_element_t element;

  walk_tables #(
    .DATA_W   (DATA_W),
    .CONTEXTS (CONTEXTS),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS)
  ) u_tables (
    .clk_i,
    .rst_ni,
    .ready_o       (tables_ready),
    .lookup_i      (lookup),
    .lookup_index_i(lookup_index),
    .row_in_range_o(row_in_range),
    .row_o         (stag_row),
    .tail_read_i   (tail_read),
    .tail_flow_i   (tail_flow),
    .tail_o        (tail_value),
    .want_i        (want),
    .want_msn_i    (want_msn),
    .want_last_i   (want_last),
    .seg_i         (seg),
    .old_row_i     (old_row),
    .here_o        (here),
    .error_o       (element_error),
    .element_o     (element),
    .rq_tail_i,
    .el_flush_i,
    .attach_i,
    .mark_i        (mark),
    .marked_o      (marked),
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
    .tbl_req_valid_i,
    .tbl_req_ready_o,
    .tbl_req_i,
    .tbl_rsp_valid_o,
    .tbl_rsp_o,
    .idle_o        (element_idle)
  );

  // ------------------------------------------------------------------ fence
  rx_fence u_fence (
    .clk_i,
    .rst_ni,
    .fence_valid_i,
    .fence_number_i,
    .fence_done_o,
    .fence_ended_o   (fence_ended),
    .colour_o        (colour),
    .segment_i       (start_valid_i && start_ready_o),
    .segment_done_i  (done_valid_o),
    .segment_colour_i(done_colour),
    .place_i         (op_valid_o && op_ready_i && !op_o.is_report && op_o.last),
    .place_colour_i  (op_o.colour),
    .landed_i,
    .landed_colour_i,
    .mark_o          (mark),
    .marked_i        (marked),
    .idle_o          (fence_idle)
  );

  // ------------------------------------------------------------------ checks
  logic [NUM_COUNTERS-1:0][15:0] check_cnt;
  logic verdict_valid, verdict_ready, run_valid, run_ready, fpdu_begins;
  place_verdict_t verdict;
  place_run_t     run;

  walk_check #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_check (
    .clk_i,
    .rst_ni,
    .tables_ready_i (tables_ready),
    .closed_i,
    .seg_valid_i    (seg_valid),
    .seg_ready_o    (seg_ready),
    .seg_i          (seg),
    .head_valid_i   (head_valid),
    .head_ready_o   (head_ready),
    .head_i         (head),
    .begin_o        (fpdu_begins),
    .tail_valid_i   (tail_valid),
    .tail_ready_o   (tail_ready),
    .tail_i         (tail),
    .crc_valid_i    (crc_valid),
    .crc_ready_o    (crc_ready),
    .crc_good_i     (crc_good),
    .lookup_o       (lookup),
    .lookup_index_o (lookup_index),
    .row_in_range_i (row_in_range),
    .row_i          (stag_row),
    .tail_read_o    (tail_read),
    .tail_flow_o    (tail_flow),
    .rq_tail_i      (tail_value),
    .el_want_o      (want),
    .el_msn_o       (want_msn),
    .el_last_o      (want_last),
    .el_here_i      (here),
    .el_error_i     (element_error),
    .element_i      (element),
    .verdict_valid_o(verdict_valid),
    .verdict_ready_i(verdict_ready),
    .verdict_o      (verdict),
    .run_valid_o    (run_valid),
    .run_ready_i    (run_ready),
    .run_o          (run),
    .op_valid_o,
    .op_ready_i,
    .op_o,
    .done_valid_o,
    .done_o,
    .done_colour_o  (done_colour),
    .idle_o         (check_idle),
    .cnt_inc_o      (check_cnt)
  );

  walk_place #(
    .DATA_W(DATA_W),
    .FPDUS (FPDUS)
  ) u_place (
    .clk_i,
    .rst_ni,
    .pk_valid_i     (pk_valid),
    .pk_go_o        (pk_go),
    .pk_data_i      (pk_data),
    .verdict_valid_i(verdict_valid),
    .verdict_ready_o(verdict_ready),
    .verdict_i      (verdict),
    .run_valid_i    (run_valid),
    .run_ready_o    (run_ready),
    .run_i          (run),
    .place_valid_o,
    .place_ready_i,
    .place_data_o,
    .place_count_o,
    .place_last_o,
    .idle_o         (place_idle)
  );

  assign idle_o = carry_idle && tables_ready && fpdus_idle && !seg_valid && check_idle && element_idle && place_idle && fence_idle;

  always_comb begin
    cnt_inc_o                            = check_cnt;
    cnt_inc_o[CNT_FENCES]                = 16'(fence_ended);
    cnt_inc_o[CNT_RX_STALL_CARRY_CYCLES] = 16'(carry_waits);
  end

  if (SEGMENTS > (1 << PLACE_W)) begin : gen_param_check
    $error("rx_walk: SEGMENTS is at most the places that PLACE_W bits name");
  end

`ifndef SYNTHESIS
  place_watch #(
    .NUM_STAGS(NUM_STAGS)
  ) u_watch (
    .clk_i,
    .rst_ni,
    .tbl_accepted_i(tbl_req_valid_i && tbl_req_ready_o),
    .tbl_req_i,
    .seg_i         (seg),
    .head_i        (head_valid && head_ready),
    .head_words_i  (head),
    .begin_i       (fpdu_begins),
    .tail_i        (tail_valid && tail_ready),
    .tail_end_i    (tail),
    .crc_good_i    (crc_good),
    .element_i     (want && here && !element_error),
    .element_read_i(element),
    .place_i       (op_valid_o && op_ready_i && !op_o.is_report),
    .iova_i        (op_o.iova),
    .bytes_i       (op_o.bytes)
  );
`endif
endmodule
