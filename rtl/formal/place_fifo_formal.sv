// Proves of place_fifo: a beat is not seen before a verdict says that it is kept; what is kept comes out once, unchanged and in
// order; what is dropped never comes out; and it goes on.
//
// Any one beat is followed (`mark_i`): at its place among those inside it comes out. As it may be any, and no more come out than
// are kept, a dropped one never does. Verdicts are any, of beats that were written or are still to come, each standing until taken.
// The writer stops at most SLACK - 2 beats behind the cycle in which `wr_go_o` falls.

module place_fifo_formal #(
  parameter int unsigned DATA_W = 4,
  parameter int unsigned DEPTH  = 8,
  parameter int unsigned SLACK  = 4
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              wr_valid_i,
  input logic [DATA_W-1:0] wr_data_i,
  input logic              verdict_valid_i,
  input logic              verdict_keep_i,
  input logic [      11:0] verdict_beats_i,
  input logic              rd_ready_i,
  input logic              mark_i
);

  logic wr_go, verdict_ready, rd_valid, idle;
  logic [DATA_W-1:0] rd_data;

  place_fifo #(
    .DATA_W(DATA_W),
    .DEPTH (DEPTH),
    .SLACK (SLACK)
  ) dut (
    .clk_i,
    .rst_ni,
    .wr_valid_i,
    .wr_go_o        (wr_go),
    .wr_data_i,
    .verdict_valid_i,
    .verdict_ready_o(verdict_ready),
    .verdict_keep_i,
    .verdict_beats_i,
    .rd_valid_o     (rd_valid),
    .rd_ready_i,
    .rd_data_o      (rd_data),
    .idle_o         (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  localparam int unsigned COUNT_W = $clog2(DEPTH) + 3;

  logic judged, pop, followed_q, waits_q, was_keep_q;
  logic [COUNT_W-1:0] inside_q, kept_q, ahead_q, beats;  // beats inside; judged "keep" and not out, written or not
  logic [DATA_W-1:0] data_q;
  logic [      11:0] was_beats_q;
  logic [2:0] late_q, silent_q;  // beats since `wr_go_o` fell; cycles without an offer
  logic [3:0] unjudged_q;  // cycles of a verdict that can be done

  assign judged = verdict_valid_i && verdict_ready;
  assign pop    = rd_valid && rd_ready_i;
  assign beats  = COUNT_W'(verdict_beats_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      followed_q <= 1'b0;
      waits_q    <= 1'b0;
      inside_q   <= '0;
      kept_q     <= '0;
      late_q     <= '0;
      silent_q   <= '0;
      unjudged_q <= '0;
    end else begin
      waits_q     <= verdict_valid_i && !verdict_ready;
      was_keep_q  <= verdict_keep_i;
      was_beats_q <= verdict_beats_i;
      inside_q    <= inside_q + COUNT_W'(wr_valid_i) - COUNT_W'(pop) - (judged && !verdict_keep_i ? beats : '0);
      kept_q      <= kept_q + (judged && verdict_keep_i ? beats : '0) - COUNT_W'(pop);
      late_q      <= wr_go ? '0 : late_q + 3'(wr_valid_i);
      if (followed_q) begin
        if (judged && !verdict_keep_i && ahead_q >= kept_q) begin
          if (ahead_q < kept_q + beats) followed_q <= 1'b0;
          ahead_q <= ahead_q - beats - COUNT_W'(pop);
        end else begin
          ahead_q <= ahead_q - COUNT_W'(pop);
          if (pop && ahead_q == '0) followed_q <= 1'b0;
        end
      end else if (wr_valid_i && mark_i) begin
        // Beats behind a drop in this cycle move up; this one is behind all.
        followed_q <= 1'b1;
        ahead_q    <= inside_q - COUNT_W'(pop) - (judged && !verdict_keep_i ? beats : '0);
        data_q     <= wr_data_i;
      end
      silent_q   <= (rd_valid || kept_q == '0 || inside_q == '0) ? '0 : silent_q + 1'b1;
      unjudged_q <= (verdict_valid_i && !verdict_ready && kept_q == '0 && (verdict_keep_i || inside_q >= beats)) ? unjudged_q + 1'b1 : '0;
    end
  end

  always_comb begin
    a_beats : assume (!verdict_valid_i || (verdict_beats_i != '0 && verdict_beats_i <= 12'(DEPTH - SLACK)));
    a_stands : assume (!waits_q || (verdict_valid_i && verdict_keep_i == was_keep_q && verdict_beats_i == was_beats_q));
    a_room : assume (!wr_valid_i || wr_go || late_q < 3'(SLACK - 2));
    if (rst_ni) begin
      hidden : assert (!rd_valid || (kept_q != '0 && inside_q != '0));
      unchanged : assert (!(rd_valid && followed_q && ahead_q == '0) || rd_data == data_q);
      dropped_is_there : assert (!(judged && !verdict_keep_i) || inside_q >= kept_q + beats);
      not_lost : assert (!followed_q || ahead_q < inside_q);
      goes_on : assert (silent_q <= 3'd2);
      judges : assert (unjudged_q <= 4'd2);
    end
  end

  // ---------------------------------------------------------------- where everything is
  logic [COUNT_W-1:0] in_out, stored, behind, place;
  logic [$clog2(DEPTH)-1:0] at;
  assign in_out = COUNT_W'(dut.u_out.out_valid_q) + COUNT_W'(dut.u_out.spare_q) + COUNT_W'(dut.head_q);
  assign stored = COUNT_W'(dut.stored_q);
  assign behind = ahead_q - in_out;
  assign place  = COUNT_W'(dut.u_out.out_valid_q) + COUNT_W'(dut.u_out.spare_q);
  assign at     = dut.rd_ptr_q + behind[$clog2(DEPTH)-1:0];
  always_comb begin
    if (rst_ni) begin
      inv_inside : assert (inside_q == in_out + stored);
      inv_kept : assert (kept_q == in_out + COUNT_W'(dut.keep_q) && dut.keep_q <= 12'(DEPTH - SLACK));
      inv_ptr : assert (dut.wr_ptr_q == dut.rd_ptr_q + dut.stored_q[$clog2(DEPTH)-1:0]);
      inv_stored : assert (dut.stored_q <= ($clog2(DEPTH) + 1)'(DEPTH));
      inv_keeping : assert (dut.keeping_q == (dut.keep_q != '0));
      inv_some : assert (dut.stored_q != '0 || !dut.some_q || !dut.keeping_q);
      inv_some_there : assert (dut.stored_q == '0 || dut.some_q);
      inv_enough : assert (!dut.enough_q || (waits_q && !was_keep_q && !dut.keeping_q && 12'(dut.stored_q) >= was_beats_q));
      inv_room :
      assert (wr_go ? dut.stored_q <= ($clog2(
          DEPTH
      ) + 1)'(DEPTH - SLACK + 1) : dut.stored_q <= ($clog2(
          DEPTH
      ) + 1)'(DEPTH - SLACK + 2) + ($clog2(
          DEPTH
      ) + 1)'(late_q));
      inv_late : assert (late_q <= 3'(SLACK - 2));
      inv_silent : assert (silent_q == '0 || rd_valid || (silent_q == 3'd1 && dut.head_q));
      inv_out : assert (!(followed_q && ahead_q == '0 && dut.u_out.out_valid_q) || dut.u_out.data_q[dut.u_out.first_q] == data_q);
      inv_spare : assert (!(followed_q && ahead_q == 1 && dut.u_out.spare_q) || dut.u_out.data_q[!dut.u_out.first_q] == data_q);
      inv_head : assert (!(followed_q && dut.head_q && ahead_q == place) || dut.rdata == data_q);
      inv_memory : assert (!(followed_q && ahead_q >= in_out) || dut.u_ram.mem[at] == data_q);
    end
  end

endmodule
