// Proves of walk_check: a placement that it gives was granted. Of a tagged FPDU it is the whole payload at the address that
// walk_region answered, without objection; of one of queue 0 the placements are the pieces of the SGEs, each as it was asked of
// walk_region and answered without objection, and one objection stops all of them. Each time the FPDU is whole, its markers are
// right, its CRC is good (or the flow has none), and the segment's walk had not stopped. The payload is kept only with the first
// placement, dropped else, once for each FPDU that has some; the run handed to walk_place has the placement's bytes.
//
// Any headers, rows, elements and answers. Assumed: a segment stands until it is taken, and four SGEs hold what fits (walk_scatter).

module walk_check_formal
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    tables_ready_i,
  input logic             [ 1:0] closed_i,
  input logic                    seg_valid_i,
  input segment_t                seg_i,
  input logic                    head_valid_i,
  input fpdu_head_t              head_i,
  input logic                    tail_valid_i,
  input fpdu_tail_t              tail_i,
  input logic                    crc_valid_i,
  input logic                    crc_good_i,
  input logic                    row_in_range_i,
  input stag_row_t               row_i,
  input logic             [31:0] rq_tail_i,
  input logic                    el_here_i,
  input logic                    el_error_i,
  input receive_element_t        element_i,
  input logic                    verdict_ready_i,
  input logic                    run_ready_i,
  input logic                    op_ready_i
);

  logic seg_ready, head_ready, begins, tail_ready, crc_ready, lookup, tail_read, el_want, el_last, verdict_valid, run_valid;
  logic op_valid, done_valid, done_colour, idle;
  logic           [            23:0]       lookup_index;
  logic           [            15:0]       tail_flow;
  place_verdict_t                          verdict;
  place_run_t                              run_told;
  logic           [            31:0]       el_msn;
  op_t                                     op;
  walk_done_t                              done;
  logic           [NUM_COUNTERS-1:0][15:0] cnt_inc;

  walk_check #(
    .NUM_FLOWS(2)
  ) dut (
    .clk_i,
    .rst_ni,
    .tables_ready_i,
    .closed_i,
    .seg_valid_i,
    .seg_ready_o    (seg_ready),
    .seg_i,
    .head_valid_i,
    .head_ready_o   (head_ready),
    .head_i,
    .begin_o        (begins),
    .tail_valid_i,
    .tail_ready_o   (tail_ready),
    .tail_i,
    .crc_valid_i,
    .crc_ready_o    (crc_ready),
    .crc_good_i,
    .lookup_o       (lookup),
    .lookup_index_o (lookup_index),
    .row_in_range_i,
    .row_i,
    .tail_read_o    (tail_read),
    .tail_flow_o    (tail_flow),
    .rq_tail_i,
    .el_want_o      (el_want),
    .el_msn_o       (el_msn),
    .el_last_o      (el_last),
    .el_here_i,
    .el_error_i,
    .element_i,
    .verdict_valid_o(verdict_valid),
    .verdict_ready_i,
    .verdict_o      (verdict),
    .run_valid_o    (run_valid),
    .run_ready_i,
    .run_o          (run_told),
    .op_valid_o     (op_valid),
    .op_ready_i,
    .op_o           (op),
    .done_valid_o   (done_valid),
    .done_o         (done),
    .done_colour_o  (done_colour),
    .idle_o         (idle),
    .cnt_inc_o      (cnt_inc)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  localparam logic [3:0] HEAD = 4'd0, CHECK = 4'd1, VERDICT = 4'd2, ELEMENT = 4'd3, SKIP = 4'd4, SKIPPED = 4'd5, LOOK = 4'd6,
                         ROW = 4'd7, SUMS = 4'd8, RESULT = 4'd9, OPS = 4'd10, ORDER = 4'd11, WEIGH = 4'd12;
  localparam logic [2:0] EDGES_IDLE = 3'd0, EDGES_SETTLE = 3'd6, EDGES_DONE = 3'd7;

  typedef struct packed {
    logic [63:0] iova;
    logic [15:0] bytes;
  } grant_t;
  ddp_header_t       header_q;
  grant_t      [3:0] grant_q;
  grant_t            given_q;
  logic [2:0] grants_q, placed_q;  // granted, and handed out, of this FPDU
  logic whole_q, refused_q, seg_on_q, judged_q, verdict_given_q;
  logic     [11:0] beats_q;
  logic     [31:0] pd_q;  // of the FPDU's segment
  segment_t        seg_q;  // a cycle ago
  logic     [ 2:0] asked_q;  // an SGE: question, then two cycles, then the answer
  logic [15:0] piece_1_q, piece_2_q;
  logic check_only_q;  // its flow's FPDUs are only checked
  logic granted, place;
  logic [3:0] state;

  assign state   = dut.state_q;
  assign place   = dut.step && dut.u_ops.is_place;
  assign granted = dut.region_bad == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seg_on_q <= 1'b0;
      asked_q  <= '0;
      judged_q <= 1'b0;
    end else begin
      seg_on_q <= seg_valid_i && !seg_ready;
      asked_q  <= {asked_q[1:0], dut.sge_look && !dut.refused_q};  // behind a refusal nobody looks
      if (begins) judged_q <= 1'b0;
      else if (tail_ready) judged_q <= 1'b1;
    end
    seg_q     <= seg_i;
    piece_1_q <= dut.piece;
    piece_2_q <= piece_1_q;
    if (begins || !rst_ni) begin
      header_q      <= dut.next_header;
      header_q.kind <= dut.next_kind;
      check_only_q  <= seg_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT];
      pd_q          <= seg_i.row.pd;
      grants_q      <= '0;
      placed_q      <= '0;
      refused_q     <= 1'b0;
    end
    if (tail_ready && rst_ni) begin
      whole_q         <= !tail_i.partial && !tail_i.bad_marker && (crc_good_i || !seg_i.row.flags[FLOW_RX_ROW_CRC_BIT]) && !dut.strays && dut.stop == STOP_WHOLE;
      beats_q <= tail_i.beats;
      verdict_given_q <= 1'b0;
      if (header_q.kind == CLASS_TAGGED && header_q.err == ERR_NONE && header_q.payload_len != '0 && granted) begin
        grants_q   <= 3'd1;
        grant_q[0] <= '{iova: dut.region_iova, bytes: header_q.payload_len};
      end
    end
    if (asked_q[2] && rst_ni) begin
      if (dut.sge_bad) refused_q <= 1'b1;
      grant_q[grants_q[1:0]] <= '{iova: dut.sge_iova, bytes: piece_2_q};
      grants_q               <= grants_q + 3'd1;
    end
    if (place && rst_ni) begin
      placed_q <= placed_q + 3'd1;
      given_q  <= grant_q[placed_q[1:0]];
    end
    if (verdict_valid && verdict_ready_i) verdict_given_q <= 1'b1;
  end

  always_comb begin
    a_seg : assume (!seg_on_q || (seg_valid_i && seg_i == seg_q));
    a_beyond : assume (!seg_i.beyond || (!seg_i.carries && seg_i.carry == '0));
    a_partial : assume (!(tail_valid_i && tail_i.partial) || tail_i.seg_last);
    a_four : assume (!(asked_q[2] && grants_q == 3'd3) || dut.ends || dut.too_long || !dut.has_payload_q);
    if (rst_ni) begin
      checked_only : assert (!place || !check_only_q);
      of_the_engine : assert (!check_only_q || header_q.kind == CLASS_ENGINE || header_q.err != ERR_NONE);
      answer_awaited :
      assert (!tail_ready || header_q.kind != CLASS_TAGGED || header_q.err != ERR_NONE || header_q.payload_len == '0 || dut.region_valid);
      its_pd : assert (state == HEAD || dut.u_region.pd_i == pd_q);
      granted_first : assert (!place || (judged_q && placed_q < grants_q));
      of_a_good_fpdu : assert (!place || (whole_q && header_q.err == ERR_NONE && !refused_q && header_q.kind != CLASS_ENGINE));
      address : assert (!place || dut.u_ops.run_iova == grant_q[placed_q[1:0]].iova);
      bytes : assert (!place || run_told.bytes == grant_q[placed_q[1:0]].bytes);
      run : assert (run_valid == place && (!run_valid || run_told.bytes == grant_q[placed_q[1:0]].bytes));
      op_is_it : assert (!(op_valid && !op.is_report) || {op.iova, op.bytes} == given_q);
      run_ends : assert (!run_valid || run_told.ends == (placed_q + 3'd1 == grants_q));
      kept_if_placed :
      assert (!verdict_valid || (verdict.keep == (grants_q != '0 && dut.u_ops.u_runs.todo_q != '0) && placed_q == '0 && verdict.beats == beats_q));
      kept_with_place : assert (!(verdict_valid && verdict_ready_i && verdict.keep) || place);
      one_verdict : assert (!verdict_valid || (!verdict_given_q && beats_q != '0));
      verdict_given : assert (!dut.final_step || beats_q == '0 || verdict_given_q || (verdict_valid && verdict_ready_i));
      all_or_nothing : assert (!dut.final_step || placed_q == '0 || placed_q == grants_q);
    end
  end

  // ---------------------------------------------------------------- how it comes to that
  logic ops, gathering, unjudged, needs;
  logic [2:0] edges;
  logic [3:0] ones, left;
  assign ops       = state == OPS;
  assign unjudged  = state inside {ORDER, CHECK, WEIGH, VERDICT};
  assign needs     = seg_i.beyond || seg_i.right.valid;
  assign edges     = dut.u_order.u_beyond.state_q;
  assign gathering = state inside {ELEMENT, SKIP, SKIPPED, LOOK, ROW, SUMS, RESULT};
  assign ones      = (4'd1 << grants_q[2:0]) - 4'd1;
  assign left      = ones >> placed_q;
  always_comb begin
    if (rst_ni) begin
      inv_state : assert (state <= WEIGH);
      inv_seg : assert (state == HEAD || seg_on_q);
      inv_given : assert (unjudged == dut.u_region.given_q && (!dut.u_region.given_q || dut.u_region.busy_q));
      inv_looks_up : assert ((dut.u_region.step_q & (dut.u_region.step_q - 3'd1)) == '0 && (dut.u_region.busy_q || dut.u_region.step_q == '0));
      inv_begun : assert (state == HEAD || !dut.u_order.u_progress.first_q);
      inv_header : assert (state == HEAD || dut.header_q == header_q);
      inv_bad : assert (state == HEAD || dut.bad_q == (dut.err_q != ERR_NONE));
      inv_payload : assert (state == HEAD || dut.has_payload_q == (header_q.payload_len != '0));
      inv_region :
      assert (state == HEAD || dut.region_q == (header_q.kind == CLASS_TAGGED && header_q.err == ERR_NONE && header_q.payload_len != '0));
      inv_receive : assert (state == HEAD || dut.receive_q == (header_q.kind == CLASS_RECEIVE && header_q.err == ERR_NONE));
      inv_judged : assert (!(gathering || ops) || judged_q);
      inv_not_judged : assert (!unjudged || (!judged_q && grants_q == '0 && placed_q == '0 && !refused_q));
      inv_asked : assert (asked_q[0] == (state == ROW) && asked_q[1] == (state == SUMS) && (!asked_q[2] || state == RESULT));
      inv_piece_1 : assert (state != SUMS || piece_1_q == dut.taken);
      inv_piece_2 : assert (!(state == RESULT && asked_q[2]) || piece_2_q == dut.taken);
      inv_result : assert (state != RESULT || asked_q[2] || dut.too_long);
      inv_gathering : assert (!gathering || (whole_q && dut.receive_q && placed_q == '0 && dut.u_ops.u_runs.run_q == '0 && !verdict_given_q));
      inv_run_q : assert (!ops || dut.u_ops.u_runs.run_q == placed_q[1:0]);
      inv_owed : assert (!(gathering || ops) || (dut.owed_q == (beats_q != '0 && !verdict_given_q) && dut.tail_q.beats == beats_q));
      inv_owed_first : assert (!(ops && dut.owed_q) || placed_q == '0);
      inv_refused : assert (!dut.refused_q || (refused_q && (ops || state == LOOK)));
      inv_refused_all : assert (!(ops && refused_q && !dut.refused_q) || dut.u_ops.u_runs.todo_q == '0);
      inv_refused_ends : assert (!(gathering && refused_q) || dut.refused_q || !dut.has_payload_q);
      inv_grants : assert (grants_q <= 3'd4 && placed_q <= grants_q);
      inv_four : assert (!gathering || grants_q <= 3'd3);
      inv_none_yet : assert (!(state inside {ELEMENT, SKIP, SKIPPED}) || grants_q == '0);
      inv_todo :
      assert (!(ops && !dut.refused_q) || dut.u_ops.u_runs.todo_q == '0 || (dut.u_ops.u_runs.todo_q == left && whole_q && header_q.err == ERR_NONE &&
                        header_q.kind != CLASS_ENGINE && !refused_q));
      inv_todo_gathering :
      assert (!gathering || dut.refused_q || !dut.has_payload_q || (dut.u_ops.u_runs.todo_q == ones && dut.u_ops.u_runs.runs_q == grants_q[1:0]));
      inv_todo_none : assert (!gathering || dut.has_payload_q || dut.u_ops.u_runs.todo_q == '0);
      inv_done : assert (!(ops && !dut.refused_q && dut.u_ops.u_runs.todo_q == '0) || placed_q == '0 || placed_q == grants_q);
      inv_order : assert (!(state inside {ORDER, WEIGH}) || (seg_i.beyond && dut.receive_q));
      inv_edges : assert (edges == EDGES_IDLE || (seg_on_q && needs));
      inv_edges_read : assert (edges != EDGES_IDLE || state == HEAD || !needs);
      inv_edges_last : assert (edges <= 3'd3 || ((gathering || ops) && dut.tail_q.seg_last));
      inv_hold : assert (!dut.hold || (needs && edges inside {[3'd1 : EDGES_SETTLE]} && (gathering || ops) && dut.tail_q.seg_last));
      inv_held : assert (!((gathering || ops) && needs && dut.tail_q.seg_last) || dut.hold || edges == EDGES_DONE);
      inv_hold_until : assert (edges <= 3'd3 || edges == EDGES_DONE || dut.hold);
      inv_op : assert (!(op_valid && !op.is_report) || {op.iova, op.bytes} == given_q);
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_grant
    always_comb begin
      if (rst_ni) begin
        inv_grant :
        assert (!(gathering || ops) || dut.refused_q || dut.u_ops.u_runs.todo_q == '0 || 3'(i) >= grants_q ||
                           {dut.u_ops.u_runs.run_iova_q[i], dut.u_ops.u_runs.run_bytes_q[i]} == grant_q[i]);
      end
    end
  end

endmodule
