// The rule of acceptance (docs/card.md "Rule of acceptance"): the verdict on a segment of a known flow.
//
// Handshake: No valid: `weigh_i` samples segment and position, and the verdict is there two cycles later, until changed. It can be repeated.
// Pipeline:  cycle | registers                               | what happens                                      | hazards, bypasses
//            Weigh | bare_q, ack_q, older_q, duplicate_q, .. | segment and position are compared                 | where the flow's walks leave
//                  |                                         |                                                   | (rx_dispatch)
//            Judge | verdict_q                               | the rule, for an attached and for a detached flow | `attached_i`, late, selects one
//            Ready |                                         | `accept_o` and the bits beside it
// Why:       The same position serves a segment behind others in the walk, if it is where those will leave the flow. The bits beside the verdict are
//            computed for each outcome and selected with it, so no logic follows the selection.

`include "weft_assert.svh"

module rx_accept
  import rx_front_pkg::*;
  import weft_card_pkg::*;
(
  input  logic                clk_i,
  input  logic                weigh_i,
  // verilator lint_off UNUSEDSIGNAL
  input  rx_segment_t         segment_i,
  input  logic         [31:0] seq_end_i,
  input  flow_rx_row_t        row_i,
  input  rx_position_t        position_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic                follows_i,   // a replay continues where the last one ended
  input  logic                attached_i,
  input  logic                used_i,      // the verdict is used, with the position now_i (assertions)
  input  rx_position_t        now_i,
  output accept_e             accept_o,
  output logic         [ 3:0] refusal_o,   // why, with ACCEPT_REFUSE
  output logic                walk_o,      // accept_o is ACCEPT_WALK
  output logic                counts_o,    // an outcome with which the engine has to complete the segment, if it is not walked
  output logic                raw_o,       // without a walk the frame goes up: counts_o, or ACCEPT_BARE with SYN, RST or unread
  output logic                report_o,    // of an attached flow, and nothing but a report: ACCEPT_BARE without raw_o
  output logic                stamps_o     // if walked, its TSval becomes the flow's TS.Recent
);

  logic replay_q, follows_q, valid_q;
  logic control, bare, has_ack, attached, wants_raw_q, judges_time, has_time, plain;
  logic bare_q, ack_q, timeless_q, older_q, duplicate_q, beyond_q, next_q;
  logic [31:0] ahead, age;

  typedef struct packed {
    accept_e    accept;
    logic [3:0] refusal;
    logic       walk,    counts, raw;
  } verdict_t;
  verdict_t verdict_q, attached_verdict, detached_verdict;

  assign control     = (segment_i.tcp_flags & (TCP_SYN | TCP_RST)) != '0;
  assign has_ack     = (segment_i.tcp_flags & TCP_ACK) != '0;

  // With SYN or RST the segment's payload is ignored.
  assign bare        = segment_i.payload_len == '0 || control;

  assign attached    = row_i.flags[FLOW_RX_ROW_VALID_BIT] && attached_i;

  // RFC 7323 §3.2, §5.3. Timestamps behind IP options are unread, and left to the engine.
  assign judges_time = row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment_i.unread;
  assign has_time    = segment_i.ts_present;
  assign age         = segment_i.ts_val - position_i.ts_recent;
  assign stamps_o    = !segment_i.replay && row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && has_time;

  // How far the segment reaches beyond rcv_nxt, and what the window leaves then. The latter counts only if the former is positive: so its sign is
  // right for a window below 2^31. A larger window is never exceeded.
  assign ahead       = seq_end_i - position_i.rcv_nxt;

  // The sign of window + rcv_nxt - seq_end, short because the position may be late. Three terms are made two, whose halves are added in parallel, the
  // upper half for both carries.
  logic [31:0] sum, carries;
  logic [16:0] room_low, room_high, room_high_more;
  logic no_room, unused_carry;
  assign sum                     = position_i.window ^ position_i.rcv_nxt ^ ~seq_end_i;
  assign {unused_carry, carries} = {(position_i.window & position_i.rcv_nxt) | ((position_i.window | position_i.rcv_nxt) & ~seq_end_i), 1'b1};
  assign room_low                = {1'b0, sum[15:0]} + {1'b0, carries[15:0]};
  assign room_high               = {sum[31:16], 1'b0} + {carries[31:16], 1'b0};
  assign room_high_more          = {sum[31:16], 1'b1} + {carries[31:16], 1'b1};
  assign no_room                 = room_low[16] ? room_high_more[16] : room_high[16];

  assign plain                   = (segment_i.tcp_flags & TCP_URG) == '0 && !segment_i.unread;

  always_ff @(posedge clk_i) begin
    if (weigh_i) begin
      replay_q    <= segment_i.replay;
      follows_q   <= follows_i;
      valid_q     <= row_i.flags[FLOW_RX_ROW_VALID_BIT];
      bare_q      <= bare;
      wants_raw_q <= control || segment_i.unread;
      ack_q       <= has_ack;
      timeless_q  <= judges_time && !has_time;
      older_q     <= judges_time && position_i.ts_valid && age[31];
      duplicate_q <= ahead[31] || seq_end_i == position_i.rcv_nxt;
      beyond_q    <= position_i.window != '0 && !position_i.window[31] && no_room;
      next_q      <= segment_i.seq == position_i.rcv_nxt && plain;
    end
    verdict_q <= attached ? attached_verdict : detached_verdict;
    report_o  <= attached && bare_q && !wants_raw_q && !replay_q;
  end
  assign {accept_o, refusal_o, walk_o, counts_o, raw_o} = verdict_q;

  // The bits beside a verdict are computed for each verdict and selected with it: nothing is worked out behind the selection.
  function automatic verdict_t verdict(input accept_e accept, input logic [3:0] refusal = REFUSAL_NO_ACK);
    logic counts = accept inside {ACCEPT_BYPASS, ACCEPT_WALK, ACCEPT_LEAVE};
    return
    '{accept: accept, refusal: refusal, walk: accept == ACCEPT_WALK, counts: counts, raw: counts || (accept == ACCEPT_BARE && wants_raw_q)}
    ;
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
    else if (next_q) attached_verdict = verdict(ACCEPT_WALK);
    else attached_verdict = verdict(ACCEPT_LEAVE);
  end

  logic unused;
  assign unused = ^{age[30:0], ahead[30:0], room_low[15:0], room_high[15:0], room_high_more[15:0], unused_carry, used_i, now_i};

`ifndef SYNTHESIS
  // The rule by another way, with the flow's present position.
  logic    [31:0] reach;
  accept_e        rule;
  assign reach = segment_i.seq + 32'(segment_i.payload_len) - now_i.rcv_nxt;
  always_comb begin
    if (segment_i.replay)
      rule = row_i.flags[FLOW_RX_ROW_VALID_BIT] && !now_i.attached && (!follows_i || segment_i.seq == now_i.rcv_nxt) ? ACCEPT_WALK : ACCEPT_REFUSE;
    else if (segment_i.payload_len == '0 || |(segment_i.tcp_flags & (TCP_SYN | TCP_RST))) rule = ACCEPT_BARE;
    else if ((segment_i.tcp_flags & TCP_ACK) == '0) rule = ACCEPT_REFUSE;
    else if (!row_i.flags[FLOW_RX_ROW_VALID_BIT] || !now_i.attached) rule = ACCEPT_BYPASS;
    else if (row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment_i.unread && (!segment_i.ts_present || (now_i.ts_valid && $signed(
            segment_i.ts_val - now_i.ts_recent
        ) < 0)))
      rule = ACCEPT_REFUSE;
    else if ($signed(reach) <= 0) rule = ACCEPT_DUPLICATE;
    else if (now_i.window != '0 && reach > now_i.window) rule = ACCEPT_REFUSE;
    else if (segment_i.seq == now_i.rcv_nxt && !segment_i.unread && (segment_i.tcp_flags & TCP_URG) == '0) rule = ACCEPT_WALK;
    else rule = ACCEPT_LEAVE;
  end
  // At the first edge the user's registers may not have been reset yet.
  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  `WEFT_ASSERT(as_the_rule_says, begun_q && used_i -> accept_o == rule, clk_i, 1'b1)
  `WEFT_ASSERT(report_told, begun_q && used_i -> report_o == (rule == ACCEPT_BARE && !raw_o && row_i.flags[FLOW_RX_ROW_VALID_BIT] && now_i.attached),
               clk_i, 1'b1)
`endif

endmodule
