// Proves of walk_carry: what was framed of an FPDU that its segment does not end comes before the flow's next segment, each octet once, in order and
// unchanged; then comes the segment, and its length and sequence number are of both. Nothing comes before a segment of another flow, of one that does
// not carry, or of one that has left the card. Any flow and any octet are followed.
// A segment of one FPDU that does not wait has nothing that belongs before it.
//
// Assumed: starts as rx_dispatch gives them, those of one FPDU framed whole, payload of started segments alone, framed beats of octets that have passed.
// A flow does not leave while its start is wanted: such a segment is discarded.

module walk_carry_formal
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W      = 64,
  parameter  int unsigned CARRY_BYTES = 16,
  parameter  int unsigned MOST        = 20,                     // octets of a segment
  localparam int unsigned BYTES       = DATA_W / 8,
  localparam int unsigned WORDS       = DATA_W / 32,
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              left_valid_i,
  input logic [       1:0] left_flow_i,
  input logic              wants_i,
  input logic              start_valid_i,
  input logic              start_ready_i,
  input logic [       1:0] start_flow_i,
  input logic [       4:0] start_len_i,
  input logic [      31:0] start_seq_i,
  input logic              start_carries_i,
  input logic              start_alone_i,
  input logic              start_fin_i,
  input logic              pl_valid_i,
  input logic [DATA_W-1:0] pl_data_i,
  input logic              pl_ready_i,
  input logic              fp_valid_i,
  input logic [DATA_W-1:0] fp_data_i,
  input logic              fp_last_i,
  input logic              fp_partial_i,
  input logic              fp_seg_last_i,
  input logic [       2:0] fp_words_i,
  input logic [       1:0] flow_any_i,       // what is followed: the flow, an octet of what is carried, one of its payload
  input logic [       5:0] octet_any_i,
  input logic              alone_any_i       // no other flow carries
);

  segment_t start, started;
  fpdu_beat_t beat;
  logic start_ready, pl_ready, out_valid, out_last, keeps, idle, waits, first_q, pl_last;
  logic [COUNT_W-1:0] pl_count, out_count;
  logic [DATA_W-1:0] out_data;
  logic [      15:0] len;
  logic [       6:0] phase;
  logic [       8:0] since;

  always_comb begin
    start         = '0;
    start.flow    = 16'(start_flow_i);
    start.len     = 16'(start_len_i);
    start.seq     = start_seq_i;
    start.carries = start_carries_i;
    start.alone   = start_alone_i;
    start.fin     = start_fin_i;
    beat          = '0;
    beat.first    = first_q;
    beat.last     = fp_last_i;
    beat.partial  = fp_partial_i;
    beat.seg_last = fp_seg_last_i;
    beat.words    = 5'(fp_words_i);
  end

  walk_carry #(
    .DATA_W     (DATA_W),
    .CARRIES    (2),
    .CARRY_BYTES(CARRY_BYTES)
  ) dut (
    .clk_i,
    .rst_ni,
    .left_i       ('{valid: left_valid_i, flow : 16'(left_flow_i)}),
    .wants_i,
    .start_valid_i,
    .start_ready_o(start_ready),
    .start_i      (start),
    .start_ready_i,
    .start_o      (started),
    .len_o        (len),
    .phase_o      (phase),
    .pl_valid_i,
    .pl_ready_o   (pl_ready),
    .pl_data_i,
    .pl_count_i   (pl_count),
    .pl_last_i    (pl_last),
    .pl_valid_o   (out_valid),
    .pl_ready_i,
    .pl_data_o    (out_data),
    .pl_count_o   (out_count),
    .pl_last_o    (out_last),
    .fp_valid_i,
    .fp_data_i,
    .fp_beat_i    (beat),
    .keeps_o      (keeps),
    .idle_o       (idle),
    .waits_o      (waits)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- what is followed
  logic [1:0] flow_q;
  logic [5:0] octet_q;
  logic       alone_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flow_q  <= flow_any_i;
      octet_q <= octet_any_i;
      alone_q <= alone_any_i;
    end
  end

  // ---------------------------------------------------------------- segments whose payload has not all come, or not all passed
  typedef struct packed {
    logic       mine;
    logic       carries;
    logic [5:0] left;     // octets
    logic [5:0] at;       // octets that have passed
    logic [5:0] carry;
  } open_t;
  open_t [1:0] in_q, out_q;
  logic [1:0] in_count_q, out_count_q;
  logic issued, mine, comes, passes, in_ends, out_ends;
  open_t in_new, out_new;

  assign since    = start.seq[8:0] - start.row.marker_base[8:0] - 9'(started.carry);
  assign issued   = start_valid_i && start_ready;
  assign mine     = start_carries_i && start_flow_i == flow_q;
  assign comes    = pl_valid_i && pl_ready;
  assign passes   = out_valid && pl_ready_i;
  assign pl_last  = in_q[0].left <= 6'(BYTES);
  assign pl_count = pl_last ? COUNT_W'(in_q[0].left) : COUNT_W'(BYTES);
  assign in_ends  = comes && pl_last;
  assign out_ends = passes && out_last;
  assign in_new   = '{mine: mine, carries: start_carries_i, left: 6'(start_len_i), at: '0, carry: '0};
  assign out_new  = '{mine: mine, carries: start_carries_i, left: 6'(len), at: '0, carry: 6'(started.carry)};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_count_q  <= '0;
      out_count_q <= '0;
    end else begin
      in_count_q  <= in_count_q + 2'(issued) - 2'(in_ends);
      out_count_q <= out_count_q + 2'(issued) - 2'(out_ends);
    end
    if (in_ends) in_q[0] <= in_q[1];
    else if (comes) begin
      in_q[0].left <= in_q[0].left - 6'(BYTES);
      in_q[0].at   <= in_q[0].at + 6'(BYTES);
    end
    if (issued) in_q[1'(in_count_q-2'(in_ends))] <= in_new;
    if (out_ends) out_q[0] <= out_q[1];
    else if (passes) begin
      out_q[0].left <= out_q[0].left - 6'(BYTES);
      out_q[0].at   <= out_q[0].at + 6'(BYTES);
    end
    if (issued) out_q[1'(out_count_q-2'(out_ends))] <= out_new;
  end

  // ---------------------------------------------------------------- framed beats
  logic [2:0] unframed_q, beats_q;  // beats_q: of the segment that carries, passed
  logic [2:0] whole_q;  // of those that are not framed, oldest first: one FPDU, which did not wait
  logic free, watched;
  assign free    = start.alone && !dut.takes;
  assign watched = issued && start_carries_i && !free;
  logic [1:0] index, index_q;  // of the beat in its FPDU
  logic framing_q, carrying_q, fin_q, framed, kept;  // a segment of the followed flow, of one that carries
  assign index  = first_q ? '0 : index_q;
  assign framed = fp_valid_i && fp_last_i && fp_seg_last_i;
  assign kept   = framed && framing_q && keeps;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      unframed_q <= '0;
      framing_q  <= 1'b0;
      carrying_q <= 1'b0;
      first_q    <= 1'b1;
    end else begin
      unframed_q <= unframed_q + 3'(issued) - 3'(framed);
      framing_q  <= (watched && mine) || (framing_q && !framed);
      carrying_q <= watched || (carrying_q && !framed);
      if (fp_valid_i) first_q <= fp_last_i;
    end
    if (fp_valid_i) index_q <= index + 2'(index != '1);
    if (framed) whole_q <= whole_q >> 1;
    if (issued) whole_q[2'(unframed_q-3'(framed))] <= free;
    if (watched && mine) fin_q <= start_fin_i;
    beats_q <= watched ? '0 : beats_q + 3'(passes && beats_q != '1);
  end

  // ---------------------------------------------------------------- the followed octet
  logic holds_q;  // something is carried
  logic [5:0] words_q, held;
  logic [1:0] odd_q, tail_q;
  logic [7:0] octet_now_q, taken_q, expected;  // as framed, of the FPDU in hand; taken by the segment in hand
  logic [2:0][7:0] odd_octets_q;
  assign held     = holds_q ? {words_q[3:0], odd_q} : '0;
  assign expected = octet_q < {words_q[3:0], 2'd0} ? octet_now_q : odd_octets_q[2'(octet_q-{words_q[3:0], 2'd0})];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) holds_q <= 1'b0;
    else begin
      if (left_valid_i && left_flow_i == flow_q) holds_q <= 1'b0;
      if (issued && mine) holds_q <= 1'b0;
      if (kept) holds_q <= 1'b1;
    end
    if (fp_valid_i && framing_q && 6'(index) == 6'(octet_q[5:COUNT_W-1])) octet_now_q <= fp_data_i[{octet_q[COUNT_W-2:0], 3'd0}+:8];
    if (watched && mine) begin
      tail_q  <= len[1:0];
      taken_q <= expected;
    end
    if (kept) begin
      words_q <= 6'(index) * 6'(WORDS) + 6'(fp_words_i);
      odd_q   <= tail_q;
    end
    if (out_ends && out_count_q != '0 && out_q[0].mine) begin
      for (int unsigned i = 0; i < 3; i++) odd_octets_q[i] <= out_data[{(COUNT_W-1)'(out_count-COUNT_W'(tail_q)+COUNT_W'(i)), 3'd0}+:8];
    end
  end

  // The octet of the payload, in the cycle in which it comes and later.
  logic in_here, out_here_carried, out_here_payload;
  logic [7:0] in_octet, in_octet_q, payload_octet;
  logic [5:0] at_payload;
  assign in_here  = comes && in_q[0].mine && octet_q >= in_q[0].at && octet_q < in_q[0].at + 6'(pl_count);
  assign in_octet = pl_data_i[{(COUNT_W-1)'(octet_q-in_q[0].at), 3'd0}+:8];
  always_ff @(posedge clk_i) if (in_here) in_octet_q <= in_octet;
  assign payload_octet    = in_here ? in_octet : in_octet_q;
  assign at_payload       = out_q[0].carry + octet_q;
  assign out_here_carried = passes && out_q[0].mine && octet_q < out_q[0].carry && octet_q >= out_q[0].at && octet_q < out_q[0].at + 6'(out_count);
  assign out_here_payload = passes && out_q[0].mine && octet_q < 6'(MOST) && at_payload >= out_q[0].at && at_payload < out_q[0].at + 6'(out_count);

  // ---------------------------------------------------------------- what stood in the cycle before
  logic wanted_q, stood_q;
  segment_t              start_before_q;
  logic     [DATA_W-1:0] data_before_q;
  always_ff @(posedge clk_i) begin
    wanted_q       <= rst_ni && wants_i && !issued;
    start_before_q <= start;
    stood_q        <= rst_ni && pl_valid_i && !pl_ready;
    data_before_q  <= pl_data_i;
  end

  always_comb begin
    if (rst_ni) begin
      a_start : assume (!start_valid_i || (start_ready && (wants_i || start_alone_i || !start_carries_i)));
      a_looked_up : assume (!(start_valid_i && start_alone_i) || start_before_q.flow == start.flow);
      a_one_fpdu : assume (!(framed && whole_q[0]) || !fp_partial_i);
      a_wanted : assume (!wants_i || start_carries_i);
      a_stands : assume (!(wanted_q && wants_i) || start == start_before_q);
      a_len : assume (start_len_i != '0 && start_len_i <= 5'(MOST));
      a_open : assume (!start_valid_i || (in_count_q != 2'd2 && out_count_q != 2'd2 && unframed_q < 3'd3));
      a_alone : assume (!alone_q || !start_carries_i || start_flow_i == flow_q);
      a_left : assume (!(left_valid_i && left_flow_i == flow_q && (wants_i || wanted_q) && start_flow_i == flow_q));
      a_payload : assume (!pl_valid_i || in_count_q != '0);
      a_payload_stands : assume (!stood_q || (pl_valid_i && pl_data_i == data_before_q));
      a_framed : assume (!fp_valid_i || unframed_q != '0);
      a_passed : assume (!(fp_valid_i && carrying_q) || beats_q > 3'(index));
      a_all_passed : assume (!(framed && carrying_q) || out_count_q == '0 || !out_q[0].carries || out_q[0].left < 6'd4);
      a_partial : assume (!fp_partial_i || (fp_last_i && fp_seg_last_i));
      a_seg_last : assume (!fp_seg_last_i || fp_last_i);
      a_words : assume (fp_words_i <= 3'(WORDS) && (fp_last_i || fp_words_i == 3'(WORDS)) && (fp_words_i != '0 || fp_partial_i));

      carried : assert (!issued || started.carry == (mine ? CARRY_W'(held) : started.carry));
      others : assert (!issued || start_carries_i || started.carry == '0);
      of_both : assert (!issued || (len == start.len + 16'(started.carry) && phase == since[8:2]));
      counted :
      assert (!passes || (out_count_q != '0 && out_last == (out_q[0].left <= 6'(BYTES)) &&
                                    out_count == (out_last ? COUNT_W'(out_q[0].left) : COUNT_W'(BYTES))));
      carried_octet : assert (!out_here_carried || out_data[{(COUNT_W-1)'(octet_q-out_q[0].at), 3'd0}+:8] == taken_q);
      payload_octet_same : assert (!out_here_payload || out_data[{(COUNT_W-1)'(at_payload-out_q[0].at), 3'd0}+:8] == payload_octet);
      kept_if_it_may : assert (!(framed && framing_q) || !keeps || (fp_partial_i && !fin_q && 6'(index) < 6'(CARRY_BYTES / BYTES)));
      kept_if_alone : assert (!(framed && framing_q && alone_q && fp_partial_i && !fin_q && 6'(index) < 6'(CARRY_BYTES / BYTES)) || keeps);
      told : assert (!idle || (out_count_q == '0 && unframed_q == '0));
      one_waits : assert (!waits || (wants_i && !start_ready));
    end
  end

  logic unused;
  assign unused = ^started;

endmodule
