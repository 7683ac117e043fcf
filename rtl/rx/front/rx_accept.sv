// The rule of acceptance (docs/card.md "Rule of acceptance"): what becomes of a segment of a known flow. Combinational.
//
// The same position serves for a segment behind others that are still in the walk, if it says where those will leave the flow.

module rx_accept
  import rx_front_pkg::*;
  import weft_card_pkg::*;
(
  // verilator lint_off UNUSEDSIGNAL
  input  rx_segment_t  segment_i,
  input  flow_rx_row_t row_i,
  input  rx_position_t position_i,
  // verilator lint_on UNUSEDSIGNAL
  output accept_e      accept_o,
  output logic [3:0]   refusal_o,       // why, with ACCEPT_REFUSE
  output logic         wants_raw_o,     // with ACCEPT_BARE: the frame goes up all the same
  output logic         stamps_o         // if it is walked, its TSval is the flow's TS.Recent
);

  logic        control, bare, has_ack, attached, judges_time, has_time, older, duplicate, beyond, next;
  logic [31:0] ahead, age;

  assign control = (segment_i.tcp_flags & (TCP_SYN | TCP_RST)) != '0;
  assign has_ack = (segment_i.tcp_flags & TCP_ACK) != '0;

  // SYN and RST: what else is in the segment is nobody's.
  assign bare        = segment_i.payload_len == '0 || control;
  assign wants_raw_o = control || segment_i.ip_options;

  assign attached = row_i.flags[FLOW_RX_ROW_VALID_BIT] && position_i.attached;

  // RFC 7323 §3.2, §5.3. Timestamps behind IP options have not been read: the engine's to judge.
  assign judges_time = row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && !segment_i.ip_options;
  assign has_time    = segment_i.ts_present;
  assign age         = segment_i.ts_val - position_i.ts_recent;
  assign older       = position_i.ts_valid && age[31];
  assign stamps_o    = row_i.flags[FLOW_RX_ROW_TIMESTAMPS_BIT] && has_time;

  // How far the segment reaches beyond what was received.
  assign ahead     = segment_i.seq + 32'(segment_i.payload_len) - position_i.rcv_nxt;
  assign duplicate = ahead[31] || ahead == '0;
  assign beyond    = position_i.window != '0 && ahead > position_i.window;
  assign next      = segment_i.seq == position_i.rcv_nxt && (segment_i.tcp_flags & TCP_URG) == '0 && !segment_i.ip_options;

  always_comb begin
    refusal_o = REFUSAL_NO_ACK;
    if (bare)                              accept_o = ACCEPT_BARE;
    else if (!has_ack)                     accept_o = ACCEPT_REFUSE;
    else if (!attached)                    accept_o = ACCEPT_BYPASS;
    else if (judges_time && !has_time) begin
      accept_o  = ACCEPT_REFUSE;
      refusal_o = REFUSAL_NO_TIMESTAMP;
    end else if (judges_time && older) begin
      accept_o  = ACCEPT_REFUSE;
      refusal_o = REFUSAL_PAWS;
    end else if (duplicate)                accept_o = ACCEPT_DUPLICATE;
    else if (beyond) begin
      accept_o  = ACCEPT_REFUSE;
      refusal_o = REFUSAL_WINDOW;
    end else if (next)                     accept_o = ACCEPT_WALK;
    else                                   accept_o = ACCEPT_LEAVE;
  end

  logic unused;
  assign unused = ^age[30:0];

endmodule
