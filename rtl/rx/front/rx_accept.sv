// The rule of acceptance (docs/card.md "Rule of acceptance"): what becomes of a segment of a known flow. Three cycles: what segment
// and position say of each other, with `weigh_i`; the rule; the verdict's register.
//
// The same position serves for a segment behind others that are still in the walk, if it says where those will leave the flow.
// `attached_i` may come later than the rest: it counts with the cycle before the verdict.

module rx_accept
  import rx_front_pkg::*;
  import weft_card_pkg::*;
(
  input  logic         clk_i,
  input  logic         weigh_i,
  // verilator lint_off UNUSEDSIGNAL
  input  rx_segment_t  segment_i,
  input  logic [31:0]  seq_end_i,
  input  flow_rx_row_t row_i,
  input  rx_position_t position_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic         attached_i,
  input  logic         used_i,          // the verdict counts, and for the position as it is now
  input  rx_position_t now_i,
  output accept_e      accept_o,
  output logic [3:0]   refusal_o,       // why, with ACCEPT_REFUSE
  output logic         walk_o,          // accept_o is ACCEPT_WALK,
  output logic         counts_o,        // or another one with which the engine has to complete the segment, if it is not walked
  output logic         raw_o,           // without a walk the frame goes up: so, or with ACCEPT_BARE if that wants it
  output logic         stamps_o         // if it is walked, its TSval is the flow's TS.Recent
);

  logic        replay_q, follows_q, valid_q;
  logic        control, bare, has_ack, attached, wants_raw_q, judges_time, has_time, plain;
  logic        bare_q, ack_q, timeless_q, older_q, duplicate_q, beyond_q, next_q;
  logic [31:0] ahead, room, age;
  accept_e     attached_accept, detached_accept;
  logic [3:0]  attached_refusal;

  assign control = (segment_i.tcp_flags & (TCP_SYN | TCP_RST)) != '0;
  assign has_ack = (segment_i.tcp_flags & TCP_ACK) != '0;

  // SYN and RST: what else is in the segment is nobody's.
  assign bare = segment_i.payload_len == '0 || control;

  assign attached = row_i.flags[FLOW_RX_ROW_VALID_BIT] && attached_i;

  // RFC 7323 §3.2, §5.3. Timestamps behind IP options have not been read: the engine's to judge.
  assign judges_time = row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment_i.ip_options;
  assign has_time    = segment_i.ts_present;
  assign age         = segment_i.ts_val - position_i.ts_recent;
  assign stamps_o    = !segment_i.replay && row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && has_time;

  // How far the segment reaches beyond what was received, and what the window leaves then. The latter is asked for only where the
  // former is positive, so its sign is right for a window below 2^31, and a larger one is never passed.
  assign ahead = seq_end_i - position_i.rcv_nxt;
  assign room  = position_i.window + position_i.rcv_nxt - seq_end_i;
  assign plain = (segment_i.tcp_flags & TCP_URG) == '0 && !segment_i.ip_options;

  always_ff @(posedge clk_i) begin
    if (weigh_i) begin
      replay_q    <= segment_i.replay;
      follows_q   <= !segment_i.ts_present;
      valid_q     <= row_i.flags[FLOW_RX_ROW_VALID_BIT];
      bare_q      <= bare;
      wants_raw_q <= control || segment_i.ip_options;
      ack_q       <= has_ack;
      timeless_q  <= judges_time && !has_time;
      older_q     <= judges_time && position_i.ts_valid && age[31];
      duplicate_q <= ahead[31] || seq_end_i == position_i.rcv_nxt;
      beyond_q    <= position_i.window != '0 && !position_i.window[31] && room[31];
      next_q      <= segment_i.seq == position_i.rcv_nxt && plain;
    end
    accept_o  <= attached ? attached_accept : detached_accept;
    refusal_o <= attached ? attached_refusal : REFUSAL_NO_ACK;
    walk_o    <= attached ? attached_accept == ACCEPT_WALK : detached_accept == ACCEPT_WALK;
    counts_o  <= attached ? counts(attached_accept) : counts(detached_accept);
    raw_o     <= attached ? goes_raw(attached_accept, wants_raw_q) : goes_raw(detached_accept, wants_raw_q);
  end

  // Of a flow that is not attached, and of one that is: `attached`, which is late, chooses.
  always_comb begin
    // A replay is walked while the flow is detached, from where it says itself, or where the last one ended.
    if (replay_q)                          detached_accept = valid_q && (next_q || !follows_q) ? ACCEPT_WALK : ACCEPT_REFUSE;
    else if (bare_q)                       detached_accept = ACCEPT_BARE;
    else if (!ack_q)                       detached_accept = ACCEPT_REFUSE;
    else                                   detached_accept = ACCEPT_BYPASS;

    attached_refusal = REFUSAL_NO_ACK;
    if (replay_q)                          attached_accept = ACCEPT_REFUSE;
    else if (bare_q)                       attached_accept = ACCEPT_BARE;
    else if (!ack_q)                       attached_accept = ACCEPT_REFUSE;
    else if (timeless_q) begin
      attached_accept  = ACCEPT_REFUSE;
      attached_refusal = REFUSAL_NO_TIMESTAMP;
    end else if (older_q) begin
      attached_accept  = ACCEPT_REFUSE;
      attached_refusal = REFUSAL_PAWS;
    end else if (duplicate_q)              attached_accept = ACCEPT_DUPLICATE;
    else if (beyond_q) begin
      attached_accept  = ACCEPT_REFUSE;
      attached_refusal = REFUSAL_WINDOW;
    end else if (next_q)                   attached_accept = ACCEPT_WALK;
    else                                   attached_accept = ACCEPT_LEAVE;
  end

  function automatic logic counts(input accept_e accept);
    return accept inside {ACCEPT_BYPASS, ACCEPT_WALK, ACCEPT_LEAVE};
  endfunction
  function automatic logic goes_raw(input accept_e accept, input logic wants_raw);
    return counts(accept) || (accept == ACCEPT_BARE && wants_raw);
  endfunction

  logic unused;
  assign unused = ^{age[30:0], ahead[30:0], room[30:0], used_i, now_i};

`ifndef SYNTHESIS
  // The rule once more, as the flow stands now.
  logic [31:0] reach;
  accept_e     rule;
  assign reach = segment_i.seq + 32'(segment_i.payload_len) - now_i.rcv_nxt;
  always_comb begin
    if (segment_i.replay) rule = row_i.flags[FLOW_RX_ROW_VALID_BIT] && !now_i.attached && (segment_i.ts_present || segment_i.seq == now_i.rcv_nxt) ? ACCEPT_WALK : ACCEPT_REFUSE;
    else if (segment_i.payload_len == '0 || |(segment_i.tcp_flags & (TCP_SYN | TCP_RST))) rule = ACCEPT_BARE;
    else if ((segment_i.tcp_flags & TCP_ACK) == '0) rule = ACCEPT_REFUSE;
    else if (!row_i.flags[FLOW_RX_ROW_VALID_BIT] || !now_i.attached) rule = ACCEPT_BYPASS;
    else if (row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment_i.ip_options &&
             (!segment_i.ts_present || (now_i.ts_valid && $signed(segment_i.ts_val - now_i.ts_recent) < 0))) rule = ACCEPT_REFUSE;
    else if ($signed(reach) <= 0) rule = ACCEPT_DUPLICATE;
    else if (now_i.window != '0 && reach > now_i.window) rule = ACCEPT_REFUSE;
    else if (segment_i.seq == now_i.rcv_nxt && !segment_i.ip_options && (segment_i.tcp_flags & TCP_URG) == '0) rule = ACCEPT_WALK;
    else rule = ACCEPT_LEAVE;
  end
  // At the first edge the user's registers may not have been reset yet.
  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    as_the_rule_says: assert (begun_q && used_i -> accept_o == rule);
  end
`endif

endmodule
