// The rule of acceptance (docs/card.md "Rule of acceptance"): the verdict on a segment of a known flow.
//
// Handshake: No valid: `weigh_i` samples segment and position, and the verdict is there two cycles later, until changed. It can be repeated.
//            Where islands decide it counts when they have answered, in as many cycles as rx_islands takes, and one. Before there is no start, and
//            `waits_o` tells that there is none without a walk.
// Pipeline:  cycle | registers                               | what happens                                      | hazards, bypasses
//            Weigh | bare_q, ack_q, older_q, duplicate_q, .. | segment and position are compared                 | where the flow's walks leave
//                  |                                         |                                                   | (`young_i`), `ended_i`
//            Judge | verdict_q                               | the rule, for an attached and for a detached flow | `attached`, late, selects one
//            Ready |                                         | `verdict_o`; if it `asks`, rx_islands is asked    | as above: where the walks leave it
// Why:       The same position serves a segment behind others in the walk, if it is where those will leave the flow. The bits beside the verdict are
//            computed for each outcome and selected with it, so no logic follows the selection.
//            Islands are those that the flow's walks leave, too: their list is written at the start.

`include "weft_assert.svh"

module rx_accept
  import rx_front_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::ISLANDS;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         weigh_i,
  input  logic         vacant_i,          // the packet enters
  input  logic         bare_i,            // nothing but a report is made of it: it is not weighed
  input  rx_current_t  current_i,
  input  rx_position_t ended_position_i,  // where an end of its flow has left it
  input  logic         ended_i,           // a cycle ago, so that the packet's position is old
  input  young_t       young_i,
  input  logic         chained_i,         // some of its flow were in the walk a cycle ago
  input  logic         kept_i,            // an ATTACH is kept for those
  input  logic         ready_i,           // the packet may be decided
  input  logic         start_i,           // it is walked
  input  logic         follows_i,         // a replay continues where the last one ended
  input  logic         used_i,            // the verdict is used (assertions)
  output rx_position_t position_o,        // the flow's position, as it is weighed
  output rx_position_t now_o,             // the same, as the verdict is used
  output verdict_t     verdict_o,
  output logic         waits_o            // level: the verdict of the next cycle is perhaps none, as islands decide
);

  logic replay_q, follows_q, valid_q;
  logic follows_young, follows_here, control, bare, has_ack, attached, wants_raw_q, judges_time, has_time, plain;
  logic bare_q, ack_q, timeless_q, older_q, duplicate_q, beyond_q, next_q;
  logic keeps, keeps_q, gap_q, after_q, asks, answered, judge_q, waits_q;  // keeps: the flow may have islands; after: the segment is beyond a gap
  logic [31:0] ahead, age, since;
  island_t answer;

  typedef struct packed {
    accept_e    accept;
    logic [3:0] refusal;
    logic       walk,    counts, raw, asks, waits, beyond;
  } rule_t;
  rule_t verdict_q, attached_verdict, detached_verdict;

  rx_segment_t segment;
  rx_position_t position_q, position;
  assign segment    = current_i.packet.segment;
  assign position_q = current_i.position;

  // A segment behind walks of its flow is judged by where the youngest of them will leave the flow, if it ends whole. A kept ATTACH is kept for all of
  // them. Both are a cycle old: behind an ATTACH all is fetched again. If the flow's segments in the walk end whole, its position equals the
  // youngest's. If one does not, the flow is detached and nothing else counts.
  logic attached_now;
  assign attached_now = chained_i ? !kept_i : position_q.attached;
  always_comb begin
    position = ended_i ? ended_position_i : position_q;
    if (young_i.valid) begin
      position.gap       = young_i.gap;
      position.rcv_nxt   = young_i.seq_end;
      position.ts_valid  = young_i.ts_valid;
      position.ts_recent = young_i.ts_recent;
    end
  end
  assign position_o = position;

  // The same for the verdict, which is a cycle old. An end in between was whole, so where the youngest leaves the flow still counts.
  always_comb begin
    now_o = position_q;
    if (chained_i) begin
      now_o.attached  = !kept_i;
      now_o.gap       = young_i.gap;
      now_o.rcv_nxt   = young_i.seq_end;
      now_o.ts_valid  = young_i.ts_valid;
      now_o.ts_recent = young_i.ts_recent;
    end
  end

  assign control          = (segment.tcp_flags & (TCP_SYN | TCP_RST)) != '0;
  assign has_ack          = (segment.tcp_flags & TCP_ACK) != '0;

  // With SYN or RST the segment's payload is ignored.
  assign bare             = segment.payload_len == '0 || control;

  assign attached         = current_i.row.flags[FLOW_RX_ROW_VALID_BIT] && attached_now;

  // RFC 7323 §3.2, §5.3. Timestamps behind IP options are unread, and left to the engine.
  assign judges_time      = current_i.row.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment.unread;
  assign has_time         = segment.ts_present;
  assign age              = segment.ts_val - position.ts_recent;
  assign verdict_o.stamps = !segment.replay && !verdict_q.beyond && current_i.row.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && has_time;

  // How far the segment reaches beyond rcv_nxt, and what the window leaves then. The latter counts only if the former is positive: so its sign is
  // right for a window below 2^31. A larger window is never exceeded.
  assign ahead            = current_i.seq_end - position.rcv_nxt;

  // The sign of window + rcv_nxt - seq_end, short because the position may be late. Three terms are made two, whose halves are added in parallel, the
  // upper half for both carries.
  logic [31:0] sum, carries;
  logic [16:0] room_low, room_high, room_high_more;
  logic no_room, unused_carry;
  assign sum                     = position.window ^ position.rcv_nxt ^ ~current_i.seq_end;
  assign {unused_carry, carries} = {(position.window & position.rcv_nxt) | ((position.window | position.rcv_nxt) & ~current_i.seq_end), 1'b1};
  assign room_low                = {1'b0, sum[15:0]} + {1'b0, carries[15:0]};
  assign room_high               = {sum[31:16], 1'b0} + {carries[31:16], 1'b0};
  assign room_high_more          = {sum[31:16], 1'b1} + {carries[31:16], 1'b1};
  assign no_room                 = room_low[16] ? room_high_more[16] : room_high[16];

  // segment.seq == position.rcv_nxt, compared before the choice.
  assign follows_young           = segment.seq == young_i.seq_end;
  assign follows_here            = segment.seq == (ended_i ? ended_position_i.rcv_nxt : position_q.rcv_nxt);
  assign since                   = position.rcv_nxt - segment.seq;
  assign plain                   = (segment.tcp_flags & TCP_URG) == '0 && !segment.unread;

  always_ff @(posedge clk_i) begin
    if (weigh_i) begin
      replay_q    <= segment.replay;
      follows_q   <= follows_i;
      valid_q     <= current_i.row.flags[FLOW_RX_ROW_VALID_BIT];
      bare_q      <= bare;
      wants_raw_q <= control || segment.unread;
      ack_q       <= has_ack;
      timeless_q  <= judges_time && !has_time;
      older_q     <= judges_time && position.ts_valid && age[31];
      duplicate_q <= ahead[31] || current_i.seq_end == position.rcv_nxt;
      beyond_q    <= position.window != '0 && !position.window[31] && no_room;
      next_q      <= (young_i.valid ? follows_young : follows_here) && plain;
      keeps_q     <= keeps && plain;
      gap_q       <= position.gap;
      after_q     <= since[31] && (segment.tcp_flags & TCP_FIN) == '0;
    end
    judge_q   <= weigh_i;
    verdict_q <= vacant_i || bare_i ? '0 : attached ? attached_verdict : detached_verdict;  // '0: ACCEPT_BARE without `raw`
  end
  assign {verdict_o.accept, verdict_o.refusal, verdict_o.walk, verdict_o.counts, verdict_o.raw, verdict_o.asks, waits_q, verdict_o.beyond} = verdict_q;
  assign verdict_o.report = bare_i;
  assign verdict_o.full = verdict_q.asks && answer.full;
  // One that does not ask is of a flow without islands.
  assign verdict_o.gap = verdict_q.asks && answer.gap;
  assign verdict_o.left = verdict_q.asks ? answer.left : '0;
  assign verdict_o.right = verdict_q.asks ? answer.right : '0;
  assign verdict_o.island = answer.island;
  assign verdict_o.seq_end = verdict_q.asks ? answer.leaves : current_i.walk_end;

  // ---------------------------------------------------------------- islands
  assign keeps = current_i.row.flags[FLOW_RX_ROW_BEYOND_BIT] && !current_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT] &&
                 !current_i.row.flags[FLOW_RX_ROW_CARRY_BIT];
  assign asks = (next_q && gap_q) || (after_q && keeps_q);

  // One that does not wait when it is first there does not later.
  assign waits_o = current_i.known && (judge_q ? asks : waits_q);

  rx_islands #(
    .NUM_FLOWS(NUM_FLOWS),
    .ISLANDS  (ISLANDS)
  ) u_islands (
    .clk_i,
    .rst_ni,
    .ask_i     (ready_i && current_i.known && verdict_q.asks),
    .flow_i    (current_i.flow),
    .gap_i     (now_o.gap),
    .beyond_i  (verdict_q.beyond),
    .rcv_nxt_i (now_o.rcv_nxt),
    .seq_i     (segment.seq),
    .seq_end_i (current_i.seq_end),
    .walk_end_i(current_i.walk_end),
    .valid_o   (answered),
    .answer_o  (answer),
    .start_i
  );

  // The bits beside a verdict are computed for each verdict and selected with it: nothing is worked out behind the selection.
  function automatic rule_t verdict(input accept_e accept, input logic [3:0] refusal = REFUSAL_NO_ACK);
    logic counts = accept inside {ACCEPT_BYPASS, ACCEPT_WALK, ACCEPT_LEAVE};
    verdict         = '0;
    verdict.accept  = accept;
    verdict.refusal = refusal;
    verdict.walk    = accept == ACCEPT_WALK;
    verdict.counts  = counts;
    verdict.raw     = counts || (accept == ACCEPT_BARE && wants_raw_q);
  endfunction

  // For a detached and for an attached flow; `attached`, which is late, selects.
  always_comb begin
    // A replay is walked while the flow is detached, from its own start, or from where the last one ended.
    if (replay_q) detached_verdict = valid_q && (next_q || !follows_q) ? verdict(ACCEPT_WALK) : verdict(ACCEPT_REFUSE);
    else if (bare_q) detached_verdict = verdict(ACCEPT_BARE);
    else if (!ack_q) detached_verdict = verdict(ACCEPT_REFUSE);
    else detached_verdict = verdict(ACCEPT_BYPASS);

    if (replay_q) attached_verdict = verdict(ACCEPT_REFUSE);
    else if (bare_q) attached_verdict = verdict(ACCEPT_BARE);
    else if (!ack_q) attached_verdict = verdict(ACCEPT_REFUSE);
    else if (timeless_q) attached_verdict = verdict(ACCEPT_REFUSE, REFUSAL_NO_TIMESTAMP);
    else if (older_q) attached_verdict = verdict(ACCEPT_REFUSE, REFUSAL_PAWS);
    else if (duplicate_q) attached_verdict = verdict(ACCEPT_DUPLICATE);
    else if (beyond_q) attached_verdict = verdict(ACCEPT_REFUSE, REFUSAL_WINDOW);
    else if (asks) begin
      attached_verdict        = verdict(answer.duplicate ? ACCEPT_DUPLICATE : answer.leave || !answered ? ACCEPT_LEAVE : ACCEPT_WALK);
      attached_verdict.asks   = 1'b1;
      attached_verdict.waits  = !answered;
      attached_verdict.beyond = after_q;
    end else if (next_q) attached_verdict = verdict(ACCEPT_WALK);
    else attached_verdict = verdict(ACCEPT_LEAVE);
  end

  logic unused;
  assign unused = ^{segment, age[30:0], since[30:0], ahead[30:0], room_low[15:0], room_high[15:0], room_high_more[15:0], unused_carry, current_i, ended_position_i, used_i};

`ifndef SYNTHESIS
  localparam logic [7:0] ISLAND_BITS = 8'd1 << FLOW_RX_ROW_BEYOND_BIT;
  localparam logic [7:0] ISLAND_FLAGS = ISLAND_BITS | 8'd1 << FLOW_RX_ROW_CHECK_ONLY_BIT | 8'd1 << FLOW_RX_ROW_CARRY_BIT;
  // The rule by another way, with the flow's present position.
  logic    [31:0] reach;
  accept_e        rule;
  logic           asked;
  assign reach = segment.seq + 32'(segment.payload_len) - now_o.rcv_nxt;
  assign asked = !segment.unread && (segment.tcp_flags & TCP_URG) == '0 && ((segment.seq == now_o.rcv_nxt && now_o.gap) ||
                 ((current_i.row.flags & ISLAND_FLAGS) == ISLAND_BITS && (segment.tcp_flags & TCP_FIN) == '0 && $signed(
      now_o.rcv_nxt - segment.seq
  ) < 0));
  always_comb begin
    if (segment.replay)
      rule = current_i.row.flags[FLOW_RX_ROW_VALID_BIT] && !now_o.attached && (!follows_i || segment.seq == now_o.rcv_nxt) ? ACCEPT_WALK : ACCEPT_REFUSE;
    else if (segment.payload_len == '0 || |(segment.tcp_flags & (TCP_SYN | TCP_RST))) rule = ACCEPT_BARE;
    else if ((segment.tcp_flags & TCP_ACK) == '0) rule = ACCEPT_REFUSE;
    else if (!current_i.row.flags[FLOW_RX_ROW_VALID_BIT] || !now_o.attached) rule = ACCEPT_BYPASS;
    else if (current_i.row.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment.unread && (!segment.ts_present || (now_o.ts_valid && $signed(
            segment.ts_val - now_o.ts_recent
        ) < 0)))
      rule = ACCEPT_REFUSE;
    else if ($signed(reach) <= 0) rule = ACCEPT_DUPLICATE;
    else if (now_o.window != '0 && reach > now_o.window) rule = ACCEPT_REFUSE;
    else if (asked) rule = answer.duplicate ? ACCEPT_DUPLICATE : answer.leave ? ACCEPT_LEAVE : ACCEPT_WALK;
    else if (segment.seq == now_o.rcv_nxt && !segment.unread && (segment.tcp_flags & TCP_URG) == '0) rule = ACCEPT_WALK;
    else rule = ACCEPT_LEAVE;
  end
  // At the first edge the user's registers may not have been reset yet.
  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  `WEFT_ASSERT(as_the_rule_says, begun_q && used_i -> verdict_o.accept == rule, clk_i, 1'b1)
  `WEFT_ASSERT(answered_then, begun_q && used_i && verdict_q.asks -> answered && !waits_q, clk_i, 1'b1)
  `WEFT_ASSERT(report_told, begun_q && used_i -> bare_i == (rule == ACCEPT_BARE && !verdict_q.raw), clk_i, 1'b1)
`endif

endmodule
