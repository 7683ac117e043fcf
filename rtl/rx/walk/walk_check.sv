// The checks of docs/card.md "Receiving: verdicts" ("Checks"), FPDU by FPDU in stream order, and their results. These are placements, reports,
// verdicts for the payload that waits, and the end of each segment.
//
// Handshake: ready/valid; `done_valid_o` is a pulse, not before all operations of the segment were taken. Four cycles for a tagged FPDU. Nine for one
//            of queue 0, ten if its element is not the one used last. Five for each further SGE it reaches into. If its message has begun before,
//            three more and two for each SGE before its offset.
// Pipeline:  state         | registers           | what happens                                                   | left when
//            Head          | header_q            | the next FPDU's header is taken (walk_region)                  | an FPDU and its segment are there
//            Order         | u_order             | queue 0, beyond a gap: from where MSN and MO go on              | the islands' edges are there
//            Check         | bad_msn_q, bad_mo_q | queue 0: MSN and MO are compared                               | always
//            Weigh         | u_order             | beyond a gap: the walk stops if they do not follow              | always
//            Verdict       | err_q, tail_q       | tail, CRC verdict and region are joined into one error         | all three are there
//            Element       | u_scatter           | queue 0: the receive element is read, its first STag looked up | element, or no buffer
//            Skip, Skipped | u_scatter           | SGEs before the message offset are skipped                     | the offset is in this SGE
//            Look          | stag_table          | the STag of the SGE is looked up                               | always
//            Row, Sums     | stag_check          | the SGE is checked                                             | always
//            Result        | u_ops               | a run is added                                                 | the payload ends: Ops; else Look
//            Ops           | u_ops               | placements, then the report, one a cycle                       | the report is taken
// Why:       Head and tail of an FPDU come apart. walk_region checks the region of a tagged FPDU while the rest of it arrives, or the FPDU before is
//            in hand.
//            Nothing is requested from host memory and no payload released before tail and CRC verdict are there.
//            If the port has no room for more reports (`closed_i`), a segment is walked to the end of its first FPDU and no further.
//            Beyond a gap the walk stops before an FPDU that walk_beyond does not let pass, whatever else is wrong with it: as if the segment ended
//            inside that FPDU. Where FPDUs begin is certain there by a right marker in the segment's first one, or as the segment says.

`include "weft_assert.svh"

module walk_check
  import walk_pkg::*;
  import weft_card_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       tables_ready_i,
  input logic [1:0] closed_i,        // of each port

  input  logic       seg_valid_i,
  output logic       seg_ready_o,
  input  segment_t   seg_i,
  input  logic       head_valid_i,
  output logic       head_ready_o,
  input  fpdu_head_t head_i,
  output logic       begin_o,       // the FPDU whose head was taken last is in hand
  input  logic       tail_valid_i,
  output logic       tail_ready_o,
  input  fpdu_tail_t tail_i,
  input  logic       crc_valid_i,
  output logic       crc_ready_o,
  input  logic       crc_good_i,

  output logic                    lookup_o,
  output logic             [23:0] lookup_index_o,
  input  logic                    row_in_range_i,
  input  stag_row_t               row_i,
  output logic                    tail_read_o,
  output logic             [15:0] tail_flow_o,
  input  logic             [31:0] rq_tail_i,
  output logic                    el_want_o,
  output logic             [31:0] el_msn_o,
  output logic                    el_last_o,       // the message ends with this FPDU
  input  logic                    el_here_i,
  input  logic                    el_error_i,
  input  receive_element_t        element_i,

  output logic           verdict_valid_o,
  input  logic           verdict_ready_i,
  output place_verdict_t verdict_o,
  output logic           run_valid_o,
  input  logic           run_ready_i,
  output place_run_t     run_o,

  output logic       op_valid_o,
  input  logic       op_ready_i,
  output op_t        op_o,
  output logic       done_valid_o,
  output walk_done_t done_o,
  output logic       done_colour_o,

  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  typedef enum logic [3:0] {
    Head,     // an FPDU is awaited
    Check,    // queue 0: MSN and MO are compared
    Verdict,  // tail, CRC verdict and region are awaited
    Element,  // the receive element is awaited; the STag of its first SGE is looked up
    Skip,     // does the message offset lie in this SGE?
    Skipped,
    Look,     // the STag of the SGE that the payload reaches into is looked up
    Row,      // it is checked
    Sums,
    Result,
    Ops,      // placements, then the report
    Order,    // beyond a gap, queue 0: what MSN and MO are to follow is awaited
    Weigh     // and whether they do is told
  } state_e;
  state_e state_q;

  // The FPDU.
  ddp_header_t next_header, header_q;
  logic [15:0] next_offset, offset_q;  // in what is framed; in the segment, signed
  logic next_valid, next_checked, next_orders, take, take_tail;
  class_e next_kind;
  logic   has_payload_q;
  logic receive_q, bad_msn_q, bad_mo_q;  // receive_q: queue 0, good so far; bad_*_q: wrong MSN, MO
  logic       region_q;  // a region is to be checked
  err_e       err_q;
  logic       bad_q;  // err_q is not ERR_NONE
  fpdu_tail_t tail_q;
  logic       cut_q;  // not the segment's first FPDU, and no room for its report
  logic strays, strays_q, hold, order_ready;  // strays: beyond a gap, the walk stops before it; hold: the segment may not end yet
  logic  silent_q;  // not reported: cut, partial, or behind the FPDU at which the walk stopped

  // The segment's walk so far.
  stop_e stop;
  logic [31:0] msn, mo;

  // Where the payload goes.
  logic run_first;  // the region of a tagged FPDU is where it all goes
  logic owed_q;  // the payload's verdict is due: it has beats, and nothing of the FPDU was sent

  // ------------------------------------------------------------------ regions
  logic region_valid, region_idle, sge_look, sge_bad;
  region_bad_t        region_bad;
  logic        [31:0] sge_stag;
  logic [63:0] region_iova, sge_iova, sge_to;
  logic [15:0] piece, taken;

  walk_region u_region (
    .clk_i,
    .rst_ni,
    .tables_ready_i,
    .head_valid_i,
    .head_ready_o,
    .head_i,
    .lookup_o,
    .lookup_index_o,
    .row_in_range_i,
    .row_i,
    .sge_look_i    (sge_look),
    .sge_index_i   (state_q == Look ? sge_stag[31:8] : element_i.sge0_stag[31:8]),
    .sge_stag_i    (sge_stag),
    .sge_to_i      (sge_to),
    .sge_bytes_i   (piece),
    .pd_i          (seg_i.row.pd),
    .sge_bad_o     (sge_bad),
    .sge_iova_o    (sge_iova),
    .next_valid_o  (next_valid),
    .next_ready_i  (take),
    .next_header_o (next_header),
    .next_offset_o (next_offset),
    .region_valid_o(region_valid),
    .region_bad_o  (region_bad),
    .region_iova_o (region_iova),
    .free_i        (take_tail),
    .idle_o        (region_idle)
  );

  // ------------------------------------------------------------------ scatter list
  logic el_good, in_element_q, want_q, no_buffer, no_buffer_q, straight_q, too_long, beyond, ends, first_sge;
  assign el_good  = want_q && el_here_i && !el_error_i;
  assign sge_look = (el_good && straight_q) || state_q == Look;

  walk_scatter u_scatter (
    .clk_i,
    .load_i       (state_q == Element),    // the last cycle's values count
    .element_i,
    .mo_i         (mo),
    .payload_len_i(header_q.payload_len),
    .too_long_o   (too_long),
    .compare_i    (state_q == Skip),
    .skip_i       (state_q == Skipped),
    .beyond_o     (beyond),
    .cut_i        (state_q == Row),
    .ends_o       (ends),
    .next_i       (state_q == Result),
    .first_o      (first_sge),
    .stag_o       (sge_stag),
    .to_o         (sge_to),
    .piece_o      (piece),
    .taken_o      (taken)
  );

  // ------------------------------------------------------------------ checks
  logic silent, mpa_bad, port;
  assign port = seg_i.row.flags[FLOW_RX_ROW_PORT_BIT];
  err_e checked, verdict;
  assign silent  = cut_q || tail_i.partial || strays || stop != STOP_WHOLE;
  assign mpa_bad = tail_i.bad_marker || (seg_i.row.flags[FLOW_RX_ROW_CRC_BIT] && !crc_good_i);
  always_comb begin
    checked = header_q.err;
    if (region_q) checked = region_error(region_bad);
    else if (receive_q && bad_msn_q) checked = ERR_MSN;
    else if (receive_q && bad_mo_q) checked = ERR_MO;
  end
  assign verdict      = !mpa_bad ? checked : (tail_i.bad_marker ? ERR_MARKER : ERR_CRC);

  // ------------------------------------------------------------------ the inputs
  // Of a flow that is check only, each good FPDU is for the engine.
  assign next_kind    = seg_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT] && next_header.err == ERR_NONE ? CLASS_ENGINE : next_header.kind;
  assign take         = state_q == Head && next_valid && seg_valid_i;
  assign next_checked = !region_q || region_valid;
  assign take_tail    = state_q == Verdict && tail_valid_i && crc_valid_i && next_checked;
  assign begin_o      = take;
  assign tail_ready_o = take_tail;
  assign crc_ready_o  = take_tail;
  assign tail_read_o  = take;
  assign tail_flow_o  = seg_i.flow;
  assign el_want_o    = want_q;
  assign el_msn_o     = msn;
  assign el_last_o    = header_q.last;
  // ------------------------------------------------------------------ the outputs
  logic refused_q;  // the SGE checked last
  logic ops, op_free, step, final_step, done_pending, carried, carry_full;
  logic [NUM_COUNTERS-1:0][15:0] output_cnt;

  assign ops       = state_q == Ops && !refused_q && !hold;
  assign run_first = !silent && !mpa_bad && region_q && region_bad == '0;

  walk_ops u_ops (
    .clk_i,
    .rst_ni,
    .ops_i        (ops),
    .owed_i       (owed_q),
    .silent_i     (silent_q),
    .seg_i,
    .offset_i     (offset_q),
    .header_i     (header_q),
    .tail_i       (tail_q),
    .err_i        (err_q),
    .stall_i      (el_want_o && !el_here_i),
    .first_i      (state_q == Verdict),                            // the last cycle's values count
    .first_valid_i(run_first),
    .first_iova_i (region_iova),
    .add_i        (state_q == Result),
    .add_valid_i  (has_payload_q),
    .add_iova_i   (sge_iova),
    .add_bytes_i  (taken),
    .drop_i       (refused_q || (state_q == Result && too_long)),
    .verdict_valid_o,
    .verdict_ready_i,
    .verdict_o,
    .run_valid_o,
    .run_ready_i,
    .run_o,
    .op_valid_o,
    .op_ready_i,
    .op_o,
    .colour_o     (done_colour_o),
    .free_o       (op_free),
    .step_o       (step),
    .final_o      (final_step),
    .cnt_inc_o    (output_cnt)
  );
  always_comb begin
    cnt_inc_o                          = output_cnt;
    cnt_inc_o[CNT_RX_SEGMENTS_CARRIED] = 16'(carried);
    cnt_inc_o[CNT_RX_CARRY_FULL]       = 16'(carry_full);
  end

  walk_order #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_order (
    .clk_i,
    .rst_ni,
    .seg_valid_i,
    .seg_i,
    .next_i        (next_header),
    .kind_i        (next_kind),
    .orders_o      (next_orders),
    .begin_i       (take),
    .first_i       (next_offset == 16'd0),
    .header_i      (header_q),
    .order_i       (state_q == Order),
    .ready_o       (order_ready),
    .weigh_i       (state_q == Weigh),
    .rq_tail_i,
    .bad_msn_o     (bad_msn_q),
    .bad_mo_o      (bad_mo_q),
    .no_buffer_o   (no_buffer),
    .unposted_o    (no_buffer_q),
    .tail_i        (take_tail),
    .seg_last_i    (tail_i.seg_last),
    .marked_i      (tail_i.marked),
    .strays_o      (strays),
    .hold_o        (hold),
    .end_i         (final_step),
    .bad_i         (bad_q),
    .offset_i      (offset_q),
    .partial_i     (tail_q.partial || strays_q),
    .kept_i        (tail_q.kept),
    .cut_i         (cut_q),
    .end_last_i    (tail_q.seg_last),
    .stop_o        (stop),
    .msn_o         (msn),
    .mo_o          (mo),
    .done_ready_i  (op_free),
    .done_pending_o(done_pending),
    .done_valid_o,
    .done_o,
    .carried_o     (carried),
    .full_o        (carry_full)
  );

  assign seg_ready_o = final_step && tail_q.seg_last;

  // ------------------------------------------------------------------ state
  // State Element has a bit of its own, as has the wanted element: much logic depends on them.
  logic to_element, in_element_d;
  assign in_element_d = in_element_q ? want_q && !el_here_i : take_tail && to_element;
  assign to_element   = !silent && !mpa_bad && receive_q && !bad_msn_q && !bad_mo_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q                           <= Head;
      {in_element_q, want_q, refused_q} <= '0;
    end else begin
      in_element_q <= in_element_d;
      want_q       <= in_element_d && !no_buffer;
      refused_q    <= state_q == Result && sge_bad && has_payload_q && !too_long;
      unique case (state_q)
        Head:    if (take) state_q <= next_orders ? Order : next_kind == CLASS_RECEIVE ? Check : Verdict;
        Order:   if (order_ready) state_q <= Check;
        Check:   state_q <= seg_i.beyond && receive_q ? Weigh : Verdict;
        Weigh:   state_q <= Verdict;
        Verdict: if (take_tail) state_q <= to_element ? Element : Ops;
        Element: begin
          if (no_buffer_q || (el_here_i && el_error_i)) state_q <= Ops;
          else if (el_here_i) state_q <= straight_q ? Row : Skip;
        end
        // Not beyond the last SGE: too_long is known by then.
        Skip:    state_q <= !first_sge && too_long ? Result : Skipped;
        Skipped: state_q <= beyond ? Skip : Look;
        Look:    state_q <= Row;
        Row:     state_q <= Sums;
        Sums:    state_q <= Result;
        Result:  state_q <= too_long || !has_payload_q || ends ? Ops : Look;
        Ops:     if (final_step) state_q <= Head;
        default: state_q <= Head;
      endcase
      if (refused_q) state_q <= Ops;
    end
  end

  always_ff @(posedge clk_i) begin
    straight_q <= mo == 32'd0 || !has_payload_q;
    unique case (state_q)
      Head: begin
        // The values of the cycle of `take` count.
        header_q      <= next_header;
        header_q.kind <= next_kind;
        offset_q      <= next_offset - 16'(seg_i.carry);
        cut_q         <= next_offset != 16'd0 && closed_i[port];
        has_payload_q <= next_header.payload_len != 16'd0;
        receive_q     <= next_kind == CLASS_RECEIVE && next_header.err == ERR_NONE;
        region_q      <= next_kind == CLASS_TAGGED && next_header.err == ERR_NONE && next_header.payload_len != 16'd0;
        err_q         <= next_header.err;
        bad_q         <= next_header.err != ERR_NONE;
      end
      Verdict: begin
        // The values of the cycle of `take_tail`, which is late, count.
        err_q    <= verdict;
        bad_q    <= verdict != ERR_NONE;
        tail_q   <= tail_i;
        silent_q <= silent;
        strays_q <= strays;
        owed_q   <= tail_i.beats != 12'd0;
      end
      Element: begin
        if (no_buffer_q || (el_here_i && el_error_i)) begin
          err_q <= no_buffer_q ? ERR_NO_BUFFER : ERR_ELEMENT;
          bad_q <= 1'b1;
        end
      end
      Result: begin
        if (too_long) begin
          err_q <= ERR_TOO_LONG;
          bad_q <= 1'b1;
        end
      end
      Ops:     if (step) owed_q <= 1'b0;
      default: ;
    endcase
    // The state behind Result takes this.
    if (refused_q) begin
      err_q <= ERR_ELEMENT;
      bad_q <= 1'b1;
    end
  end

  assign idle_o = state_q == Head && region_idle && !head_valid_i && !op_valid_o && !done_pending;

  `WEFT_ASSERT(in_element_told, in_element_q == (state_q == Element))
  `WEFT_ASSERT(want_told, want_q == (in_element_q && !no_buffer_q))
  `WEFT_ASSERT(partial_ends, take_tail -> seg_valid_i && (!tail_i.partial || tail_i.seg_last))
  `WEFT_ASSERT(beyond_alone, take && seg_i.beyond -> !seg_i.carries && seg_i.carry == '0)
  `WEFT_ASSERT(bad_told, final_step -> bad_q == (err_q != ERR_NONE))
endmodule
