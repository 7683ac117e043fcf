// The receive path's reports as they are written: marks failures, and joins the two reports of a placed one-FPDU segment (placed_report).
//
// Handshake: ready/valid both sides; `rpt_o` is held until taken. Latency is one cycle, throughput one report a cycle. A report that may join is held
//            until the next report comes.
// Pipeline:  two places, loaded in turn.
//            record ─┬─► [place 0] ─┐
//                    └─► [place 1] ─┴─► rpt
// Why:       The report of a placed FPDU stays in its place until the next report, which is of the same segment. If that one joins, both go together
//            into the other place; otherwise the first goes alone, before it. Reports are wide, and `valid_i` and `rpt_ready_i` late: each place
//            loads while it is empty, so its enable depends on neither.
//            While the ring is full the next report may take the place of the one that waits behind the offered one (rx_report_merge). What is offered
//            stays as it is.

`include "weft_assert.svh"

module rx_report
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic         valid_i,   // the next report may go out
  output logic         ready_o,
  input  logic         fpdu_i,    // of an FPDU; else of a segment or a frame
  input  logic         joins_i,   // a placed FPDU, first of its segment; a segment without raw frame and SACK blocks
  input  logic         failed_i,  // a write of this report failed
  input  logic         next_i,    // a next report exists, with `fpdu_i` and `joins_i` valid; it may have to wait
  input  logic [511:0] record_i,
  input  logic         full_i,    // level: the report that is offered waits for room in its ring
  output logic         merged_o,  // pulse: a report went, and the next one stands for it

  output logic         rpt_valid_o,
  input  logic         rpt_ready_i,
  output logic [511:0] rpt_o,

  output logic idle_o
);

  // verilator lint_off UNUSEDSIGNAL
  fpdu_report_t fpdu, held;
  // verilator lint_on UNUSEDSIGNAL
  segment_report_t segment;  // a frame report has its status at the same place
  placed_report_t  placed;
  logic hold_q, merge, replace, there, take, leave, held_next;  // hold_q: the younger report inside, or the only one, is held
  logic head_q;  // the place of the older one
  logic [1:0] used_q, used;
  logic [1:0][511:0] place_q;

  assign merge   = hold_q && joins_i && !fpdu_i;
  assign ready_o = used_q != 2'b11 || replace;
  assign take    = valid_i && ready_o;
  assign leave   = rpt_valid_o && rpt_ready_i;
  assign rpt_o   = place_q[head_q];
  assign held    = fpdu_report_t'(rpt_o);

  always_comb begin
    fpdu    = fpdu_report_t'(record_i);
    segment = segment_report_t'(record_i);
    if (failed_i) begin
      fpdu.verdict                                  = FPDU_VERDICT_PLACE_FAILED;
      segment.status[SEGMENT_REPORT_RAW_FAILED_BIT] = 1'b1;
    end
    // The FPDU's fields take the place of raw slot and SACK blocks.
    placed                 = placed_report_t'(segment);
    placed.kind            = REPORT_KIND_PLACED;
    placed.ulpdu_len       = held.ulpdu_len;
    placed.ddp_control     = held.ddp_control;
    placed.rdmap_control   = held.rdmap_control;
    placed.ddp_payload_len = held.payload_len[15:0];
    placed.stag_or_qn      = held.stag_or_qn;
    placed.msn             = held.msn;
    placed.to_or_mo        = held.to_or_mo;
    placed.rsvd_ulp        = held.rsvd_ulp;
  end

  // A held report is alone inside when the next one is taken.
  assign held_next = take ? fpdu_i && joins_i && !failed_i : hold_q && !(next_i && !merge);
  always_comb begin
    used = used_q;
    if (leave || (take && merge)) used[head_q] = 1'b0;
    if (take && !replace) used[used_q[0]] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rpt_valid_o, hold_q, head_q} <= '0;
      used_q                        <= '0;
    end else begin
      used_q      <= used;
      hold_q      <= held_next;
      head_q      <= used_q != '0 && (head_q ^ (leave || (take && merge)));
      rpt_valid_o <= used == 2'b11 || (used != '0 && !held_next);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 2; i++) begin
      if (!used_q[i] || (replace && head_q != 1'(i))) place_q[i] <= fpdu_i ? 512'(fpdu) : merge ? 512'(placed) : 512'(segment);
    end
  end

  // Of three that are there the oldest is offered, and the newest comes next. If one goes it begins anew.
  assign there    = used_q == 2'b11 && !hold_q && valid_i && !fpdu_i && full_i && !leave;
  assign merged_o = replace;
  rx_report_merge u_merge (
    .clk_i,
    .rst_ni,
    .there_i (there),
    .older_i (rpt_o),
    .middle_i(place_q[!head_q]),
    .newer_i (record_i),
    .merge_o (replace)
  );

  assign idle_o = used_q == '0;

  `WEFT_STREAM(u_rules, rpt_valid_o, rpt_ready_i, rpt_o)
  `WEFT_ASSERT(held_inside, hold_q -> used_q != '0)
  `WEFT_ASSERT(offered, rpt_valid_o == (used_q == 2'b11 || (used_q != '0 && !hold_q)))
  `WEFT_ASSERT(head_inside, used_q == '0 || used_q[head_q])
  `WEFT_ASSERT(next_of_all, valid_i -> next_i)
  `WEFT_ASSERT(replaced_by_one, replace -> used_q == 2'b11 && !hold_q && valid_i && !fpdu_i)
  `WEFT_ASSERT(
      of_one_segment,
      take && merge -> {held.flow, held.seq, held.epoch} == {segment.flow, segment.seq, segment.epoch} && segment.done_len == segment.payload_len && !segment.status[SEGMENT_REPORT_RAW_FAILED_BIT] && segment.status[SEGMENT_REPORT_REFUSAL_LSB+:SEGMENT_REPORT_REFUSAL_WIDTH] == REFUSAL_NONE)

endmodule
