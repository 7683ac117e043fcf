// Proves of walk_scatter: each piece lies in its SGE: from the byte that is due (the message offset, where the first piece begins) to no
// more than the SGE's end, with the SGE's STag; the pieces follow each other; and if not `too_long_o`, they end with the payload in the
// fourth SGE at the latest, and before one without length.
//
// The user goes the way of walk_check: load; if the offset is not 0 `compare_i` and `skip_i` until not beyond, which is not asked for
// beyond an SGE when too long; then `cut_i` and `next_i` two cycles later for each piece.

module walk_scatter_formal
  import weft_card_pkg::*;
(
  input logic             clk_i,
  input logic             rst_ni,
  input receive_element_t element_i,
  input logic [31:0]      mo_i,
  input logic [15:0]      payload_len_i,
  input logic             go_i,
  input logic             load_any_i
);

  logic        too_long, beyond, ends, first;
  logic [31:0] stag;
  logic [63:0] to;
  logic [15:0] piece, taken;

  // Steps of the user; COMPARE to CUT as walk_check's SKIP, SKIPPED, LOOK, ROW, SUMS, RESULT.
  localparam logic [2:0] IDLE = 3'd0, COMPARE = 3'd1, SKIP = 3'd2, LOOK = 3'd3, CUT = 3'd4, SUMS = 3'd5, NEXT = 3'd6;
  logic [2:0]       step_q;
  receive_element_t element_q;
  logic [31:0]      mo_q;
  logic [15:0]      len_q;
  logic             load;
  logic [1:0]       age_q;      // cycles since the load, 3 at most
  assign load = step_q == IDLE && load_any_i;

  walk_scatter dut (
    .clk_i, .load_i(load), .element_i, .mo_i(mo_q), .payload_len_i(len_q), .too_long_o(too_long),
    .compare_i(step_q == COMPARE), .skip_i(step_q == SKIP), .beyond_o(beyond), .cut_i(step_q == CUT), .ends_o(ends), .next_i(step_q == NEXT),
    .first_o(first), .stag_o(stag), .to_o(to), .piece_o(piece), .taken_o(taken)
  );

  from_reset u_start (.clk_i, .rst_ni);

  logic [3:0][31:0] length, stags;
  logic [3:0][63:0] tos;
  logic [2:0]       sge_q;               // the SGE looked at
  logic [31:0]      off_q;               // of its bytes that are before what is due
  logic [15:0]      rest_q;              // of the payload that no piece has yet
  logic [34:0]      earlier, need;        // bytes of the SGEs earlier; of the message up to the payload's end
  logic [34:0]      room;
  logic             fits;
  assign length = {element_q.sge3_length, element_q.sge2_length, element_q.sge1_length, element_q.sge0_length};
  assign stags  = {element_q.sge3_stag, element_q.sge2_stag, element_q.sge1_stag, element_q.sge0_stag};
  assign tos    = {element_q.sge3_to, element_q.sge2_to, element_q.sge1_to, element_q.sge0_to};
  assign need   = 35'(mo_q) + 35'(len_q);
  assign earlier = (sge_q > 3'd0 ? 35'(length[0]) : '0) + (sge_q > 3'd1 ? 35'(length[1]) : '0) + (sge_q > 3'd2 ? 35'(length[2]) : '0);
  assign room   = 35'(length[0]) + (length[0] == '0 ? '0 : 35'(length[1]) + (length[1] == '0 ? '0 : 35'(length[2]) +
                  (length[2] == '0 ? '0 : 35'(length[3]))));
  assign fits   = need <= room;

  always_ff @(posedge clk_i) begin
    if (age_q != 2'd3) age_q <= age_q + 2'd1;
    if (!rst_ni) begin
      step_q <= IDLE;
    end else begin
      unique case (step_q)
        IDLE: if (load) step_q <= (mo_q == '0 || len_q == '0) ? CUT : COMPARE;
        COMPARE: step_q <= (sge_q != '0 && age_q == 2'd3 && too_long) ? IDLE : SKIP;
        SKIP: step_q <= beyond ? COMPARE : LOOK;
        LOOK: step_q <= CUT;
        CUT: step_q <= SUMS;
        SUMS: step_q <= NEXT;
        default: step_q <= (too_long || len_q == '0 || ends || !go_i) ? IDLE : LOOK;
      endcase
    end
    if (step_q == IDLE && !load) begin
      mo_q  <= mo_i;
      len_q <= payload_len_i;
    end
    if (load) begin
      element_q <= element_i;
      sge_q     <= '0;
      off_q     <= '0;
      rest_q    <= len_q;
      age_q     <= 2'd1;
    end
    if (step_q == SKIP) begin
      // The byte that is due: in this SGE, or behind it.
      if (35'(mo_q) - earlier < 35'(length[sge_q[1:0]])) off_q <= 32'(35'(mo_q) - earlier);
      else sge_q <= sge_q + 3'd1;
    end
    if (step_q == NEXT) begin
      rest_q <= rest_q - taken;
      sge_q  <= sge_q + 3'd1;
      off_q  <= '0;
    end
  end

  logic        piecing;
  logic [31:0] here;
  assign piecing = step_q == LOOK || step_q == CUT || step_q == SUMS || step_q == NEXT;
  assign here    = length[sge_q[1:0]];
  always_comb begin
    if (rst_ni) begin
      says_too_long: assert (age_q != 2'd3 || step_q == IDLE || too_long == !fits);
      its_sge: assert (step_q != CUT || sge_q > 3'd3 || (stag == stags[sge_q[1:0]] && to == tos[sge_q[1:0]] + 64'(off_q)));
      in_its_sge: assert (step_q != CUT || sge_q > 3'd3 || 33'(off_q) + 33'(piece) <= 33'(here));
      of_the_payload: assert (step_q != CUT || piece <= rest_q);
      four_do: assert (!(step_q == NEXT && fits && len_q != '0 && sge_q == 3'd3) || ends);
      all_is_placed: assert (!(step_q == NEXT && ends) || taken == rest_q);
      none_empty: assert (!(step_q == CUT && fits && len_q != '0) || piece != '0);
      // How it comes to that.
      inv_step: assert (step_q != 3'd7);
      inv_age: assert (step_q == IDLE || age_q != '0);
      inv_age_2: assert (!(step_q == SKIP || step_q == SUMS) || age_q >= 2'd2);
      inv_age_3: assert (!(step_q == LOOK || step_q == NEXT) || age_q == 2'd3);
      inv_element: assert (step_q == IDLE || dut.element_q == element_q);
      inv_sge: assert (step_q == IDLE || (dut.sge_q == sge_q[1:0] && first == (sge_q[1:0] == '0)));
      inv_list: assert (step_q == IDLE || sge_q <= 3'd3);
      inv_looked_at: assert (step_q == IDLE || sge_q > 3'd3 || (dut.stag_q == stags[sge_q[1:0]] && dut.left_q == here - off_q &&
                             dut.to_q == tos[sge_q[1:0]] + 64'(off_q) && off_q <= here));
      inv_no_offset: assert (!(step_q == COMPARE || step_q == SKIP) || off_q == '0);
      inv_skip: assert (!(step_q == COMPARE || step_q == SKIP) || sge_q > 3'd3 || (35'(dut.skip_q) + earlier == 35'(mo_q) && rest_q == len_q));
      inv_rest: assert (step_q == IDLE || dut.rest_q == rest_q);
      inv_progress: assert (!piecing || !fits || len_q == '0 || earlier + 35'(off_q) + 35'(rest_q) == need);
      inv_rest_left: assert (!piecing || !fits || len_q == '0 || rest_q != '0);
      inv_taken: assert (!(step_q == SUMS || step_q == NEXT) || taken == piece);
      inv_ends: assert (step_q != NEXT || ends == (taken == rest_q));
      inv_compared: assert (step_q != SKIP || sge_q > 3'd3 || (beyond == (dut.skip_q >= here) && (beyond || dut.left_less_q == here - dut.skip_q) &&
                            (!beyond || dut.skip_less_q == dut.skip_q - here) && dut.to_more_q == tos[sge_q[1:0]] + 64'(dut.skip_q)));
    end
  end

endmodule
