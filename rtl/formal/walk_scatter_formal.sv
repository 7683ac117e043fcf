// Proves of walk_scatter, asked as walk_check asks (a question may be given up at any SGE): "too long" is said just if the payload does
// not lie in the element's SGEs, of which the first with length 0 ends the list; else the pieces are, from byte MO on, those bytes of
// each SGE in turn that the payload reaches: of the SGE's STag, at its address, inside its length, never empty, together the payload.
// It goes on: after at most 18 cycles behind the element all is cut, with at most four pieces.
//
// Any element, MO and length; with FEW, by which faults are found sooner, lengths and MO have ones in ten places only. Assumed: MO and length
// stand while it works.

module walk_scatter_formal
  import weft_card_pkg::*;
#(
  parameter bit FEW = 1'b0
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    go_i,
  input logic                    here_i,        // the element that is loaded is the one
  input logic                    refuse_i,      // the SGE was refused
  input receive_element_t        element_i,
  input logic             [31:0] mo_i,
  input logic             [15:0] payload_len_i
);

  localparam int unsigned MOST = 18;
  localparam logic [31:0] MASK = FEW ? 32'hc003_c00f : '1;

  typedef enum logic [3:0] {
    Idle,
    Before,
    Element,
    Skip,
    Skipped,
    Look,
    Row,
    Sums,
    Result
  } state_e;

  state_e state_q, state_d;
  logic [31:0] mo_q;
  logic [15:0] len_q;
  logic too_long, beyond, ends, first;
  logic [31:0] stag;
  logic [63:0] to;
  logic [15:0] piece, taken;

  walk_scatter dut (
    .clk_i,
    .load_i       (state_q == Element),
    .element_i,
    .mo_i         (mo_q),
    .payload_len_i(len_q),
    .too_long_o   (too_long),
    .compare_i    (state_q == Skip),
    .skip_i       (state_q == Skipped),
    .beyond_o     (beyond),
    .cut_i        (state_q == Row),
    .ends_o       (ends),
    .next_i       (state_q == Result),
    .first_o      (first),
    .stag_o       (stag),
    .to_o         (to),
    .piece_o      (piece),
    .taken_o      (taken)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  always_comb begin
    a_mo : assume ((mo_i & ~MASK) == '0 && (payload_len_i & ~MASK[15:0]) == '0);
    a_lengths : assume (((element_i.sge0_length | element_i.sge1_length | element_i.sge2_length | element_i.sge3_length) & ~MASK) == '0);
  end

  // ---------------------------------------------------------------- as walk_check asks
  logic payload, straight, ended;
  assign payload  = len_q != '0;
  assign straight = mo_q == '0 || !payload;
  assign ended    = state_q == Result && (too_long || !payload || ends || refuse_i);
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle:    if (go_i) state_d = Before;
      Before:  state_d = Element;
      Element: if (here_i) state_d = straight ? Row : Skip;
      Skip:    state_d = !first && too_long ? Result : Skipped;
      Skipped: state_d = beyond ? Skip : Look;
      Look:    state_d = Row;
      Row:     state_d = Sums;
      Sums:    state_d = Result;
      Result:  state_d = ended ? Idle : Look;
      default: state_d = Idle;
    endcase
  end

  // ---------------------------------------------------------------- what the element says
  receive_element_t        element_q;
  logic             [ 1:0] age_q;  // cycles behind the element
  logic             [ 2:0] sge_q;  // the one looked at
  logic             [31:0] offset_q;  // of the payload's next byte in it
  logic             [15:0] rest_q;  // of the payload
  logic             [ 4:0] busy_q;
  logic working, fits;
  logic [3:0][31:0] length, stags;
  logic [ 3:0][63:0] tos;
  logic [ 4:0][33:0] behind;  // bytes of an SGE and those behind it, as far as the list goes
  logic [ 3:0][31:0] counts;  // the lengths as far as the list goes
  logic [ 1:0][32:0] pairs;
  logic [31:0]       here_length;

  assign length = {element_q.sge3_length, element_q.sge2_length, element_q.sge1_length, element_q.sge0_length};
  assign stags  = {element_q.sge3_stag, element_q.sge2_stag, element_q.sge1_stag, element_q.sge0_stag};
  assign tos    = {element_q.sge3_to, element_q.sge2_to, element_q.sge1_to, element_q.sge0_to};
  always_comb begin
    behind[4] = '0;
    for (int i = 3; i >= 0; i--) behind[i] = length[i] == '0 ? '0 : 34'(length[i]) + behind[i+1];
    counts[0] = length[0];
    for (int i = 1; i < 4; i++) counts[i] = counts[i-1] == '0 ? '0 : length[i];
    pairs = {33'(counts[2]) + 33'(counts[3]), 33'(counts[0]) + 33'(counts[1])};
  end
  assign fits        = 34'(mo_q) + 34'(len_q) <= 34'(pairs[0]) + 34'(pairs[1]);
  assign here_length = length[sge_q[1:0]];
  assign working     = state_q > Element;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
    if (state_q == Idle) begin
      mo_q  <= mo_i;
      len_q <= payload_len_i;
    end
    if (state_q == Element) begin
      element_q <= element_i;
      age_q     <= '0;
      busy_q    <= 5'd1;
      sge_q     <= '0;
      offset_q  <= mo_q;
      rest_q    <= len_q;
    end else begin
      busy_q <= busy_q + 5'd1;
      if (age_q != 2'd2) age_q <= age_q + 2'd1;
      if (state_q == Skipped && beyond) begin
        sge_q    <= sge_q + 3'd1;
        offset_q <= offset_q - here_length;
      end
      if (state_q == Result) begin
        sge_q    <= sge_q + 3'd1;
        offset_q <= '0;
        rest_q   <= rest_q - taken;
      end
    end
  end

  logic cut;  // a piece that counts
  assign cut = state_q == Result && !too_long && payload;
  always_comb begin
    if (rst_ni) begin
      goes_on : assert (!working || busy_q <= 5'(MOST));
      too_long_told : assert (state_q != Result || too_long == !fits);
      all_cut : assert (!cut || ends == (taken == rest_q));
      fourth_ends : assert (!(cut && sge_q == 3'd3) || ends);
      inside_sge : assert (!cut || (taken != '0 && taken <= rest_q && 33'(offset_q) + 33'(taken) <= 33'(here_length)));
      whole_piece : assert (!cut || taken == rest_q || 33'(offset_q) + 33'(taken) == 33'(here_length));
      address : assert (!cut || (stag == stags[sge_q[1:0]] && to == tos[sge_q[1:0]] + 64'(offset_q)));
    end
  end

  // ---------------------------------------------------------------- how it comes to that
  logic [4:0] turn;  // cycles that an SGE may still take, with those behind it
  logic looking, skipping;
  logic [2:0] more;
  assign looking  = state_q inside {Look, Row, Sums, Result};
  assign skipping = state_q inside {Skip, Skipped};
  assign more     = 3'd3 - sge_q;
  assign turn     = {more, 2'd0};
  always_comb begin
    if (rst_ni) begin
      inv_state : assert (state_q <= Result && age_q <= 2'd2);
      inv_mask : assert (state_q == Idle || ((mo_q & ~MASK) == '0 && (len_q & ~MASK[15:0]) == '0));
      inv_lengths : assert (!working || ((length[0] | length[1] | length[2] | length[3]) & ~MASK) == '0);
      inv_before : assert (state_q inside {Idle, Before} || dut.need_q == 33'(mo_q) + 33'(len_q));
      inv_element : assert (!working || dut.element_q == element_q);
      inv_some : assert (!working || dut.some == {element_q.sge2_length != '0, element_q.sge1_length != '0, element_q.sge0_length != '0});
      inv_sge : assert (!working || (sge_q < 3'd4 && dut.sge_q == sge_q[1:0]));
      inv_age : assert (!working || age_q >= 2'd1 || (sge_q == '0 && state_q == (straight ? Row : Skip)));
      inv_age_1 : assert (!working || age_q != 2'd1 || (sge_q == '0 && state_q == (straight ? Sums : Skipped)));
      inv_seen : assert (!working || fits || sge_q == '0 || (sge_q == 3'd1 && state_q inside {Skip, Result}));
      inv_skipped : assert (!skipping || age_q != 2'd2 || (state_q == Skip ? sge_q != '0 : fits));
      inv_start : assert (!working || age_q == 2'd2 || (offset_q == mo_q && rest_q == len_q));
      inv_first_left : assert (!working || age_q == '0 || dut.first_left_q == 35'(length[0]) - 35'(dut.need_q));
      inv_both_left : assert (!working || age_q == '0 || dut.both_left_q == 35'(length[0]) + 35'(length[1]) - 35'(dut.need_q));
      inv_high : assert (!working || age_q == '0 || (dut.third_q == length[2] && dut.both_high_q == 33'(length[2]) + 33'(length[3])));
      inv_counts :
      assert (!working || age_q == '0 || {dut.fourth_counts_q, dut.third_counts_q, dut.second_counts_q} == {&dut.some, &dut.some[1:0], dut.some[0]});
      inv_sum : assert (!working || 34'(pairs[0]) + 34'(pairs[1]) == behind[0]);
      inv_too_long : assert (!working || age_q != 2'd2 || too_long == !fits);
      inv_length : assert (!skipping || dut.left_q == here_length);
      inv_skip : assert (!skipping || dut.skip_q == offset_q);
      inv_left : assert (!looking || !fits || !payload || 33'(dut.left_q) + 33'(offset_q) == 33'(here_length));
      inv_rest : assert (!working || dut.rest_q == rest_q);
      inv_some_left : assert (!working || !payload || rest_q != '0);
      inv_no_payload : assert (!working || payload || (rest_q == '0 && sge_q == '0 && offset_q == mo_q && looking));
      inv_fits : assert (!working || !fits || !payload || (sge_q < 3'd4 && 34'(offset_q) + 34'(rest_q) <= behind[sge_q]));
      inv_in_it : assert (!looking || !fits || !payload || offset_q < here_length);
      inv_stag : assert (!working || dut.stag_q == stags[sge_q[1:0]]);
      inv_to_skip : assert (!skipping || dut.to_q == tos[sge_q[1:0]]);
      inv_to : assert (!looking || !payload || !fits || dut.to_q == tos[sge_q[1:0]] + 64'(offset_q));
      inv_compared :
      assert (state_q != Skipped || (beyond == (dut.skip_q >= dut.left_q) && dut.left_less_q == dut.left_q - dut.skip_q &&
                            dut.skip_less_q == dut.skip_q - dut.left_q && dut.to_more_q == dut.to_q + 64'(dut.skip_q)));
      inv_taken : assert (!(state_q inside {Sums, Result}) || (age_q == 2'd2 && too_long) || taken == piece);
      inv_ends : assert (state_q != Result || too_long || ends == (taken == rest_q));
      inv_busy_skip : assert (state_q != Skip || (busy_q <= 5'd1 + {1'b0, sge_q, 1'b0}));
      inv_busy_skipped : assert (state_q != Skipped || (busy_q <= 5'd2 + {1'b0, sge_q, 1'b0}));
      inv_busy_look : assert (state_q != Look || busy_q + turn <= 5'd15);
      inv_busy_row : assert (state_q != Row || busy_q + turn <= 5'd16);
      inv_busy_sums : assert (state_q != Sums || busy_q + turn <= 5'd17);
      inv_busy_result : assert (state_q != Result || too_long || busy_q + turn <= 5'd18);
    end
  end

endmodule
