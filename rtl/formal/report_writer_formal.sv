// Proves of report_writer: report n goes to slot n mod 2^log2 with the phase of its pass, no slot is written again
// before the host has consumed it, both sources' reports go out unchanged, an interrupt was asked for or tells of a
// write that failed, and after one nothing more is taken.
//
// It goes on: while the host has room, a report that is offered is taken after one cycle in which the memory takes, or after the
// other source's next one; a report is counted a cycle behind its response; an interrupt that is due is raised after two,
// and the one of a write that failed after one, until it is taken.
//
// The host is any host that consumes no more reports than were written. The width is one report per beat.

module report_writer_formal
  import weft_int_pkg::*;
(
  input logic                clk_i,
  input logic                rst_ni,
  input report_cfg_t         any_cfg_i,
  input logic        [ 31:0] job_done_i,
  input logic                rx_valid_i,
  input logic        [511:0] rx_report_i,
  input logic                tx_valid_i,
  input logic        [511:0] tx_report_i,
  input logic                cmd_ready_i,
  input logic                wr_ready_i,
  input logic                written_i,
  input logic                failed_i,
  input logic                msix_ready_i,
  input logic        [ 31:0] consume_i      // how far the host goes in this cycle
);

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  logic rx_ready, tx_ready, cmd_valid, wr_valid, wr_last, msix_valid, msix_gap, broken, stall, idle;
  logic [ 63:0] cmd_addr;
  logic [511:0] wr_data;
  logic [  6:0] wr_count;
  logic [  4:0] msix_vector;
  logic [ 31:0] tail;

  logic [ 63:0] base_q;
  logic [  2:0] log2_q;
  logic [31:0] head_q, head_was_q, head_before_q, issued_q, sent_q, number_q;
  report_cfg_t cfg;

  assign cfg = '{
          reset: 1'b0,
          base: base_q,
          log2: 8'(log2_q),
          head: head_q,
          arm: any_cfg_i.arm,
          arm_value: any_cfg_i.arm_value,
          arm_more: any_cfg_i.arm_more,
          gap: any_cfg_i.gap
      };

  // The memory takes no data before the command, and answers only what was sent to it.
  logic written, wr_ready, take, beat_go, msix_q, armed_before_q, was_fresh_q;
  assign wr_ready = wr_ready_i && (!cmd_valid || cmd_ready_i);
  assign written  = written_i && sent_q != tail;

  report_writer #(
    .DATA_W(512)
  ) dut (
    .clk_i,
    .rst_ni,
    .cfg_i        (cfg),
    .job_done_i,
    .rx_valid_i,
    .rx_ready_o   (rx_ready),
    .rx_report_i,
    .tx_valid_i,
    .tx_ready_o   (tx_ready),
    .tx_report_i,
    .cmd_valid_o  (cmd_valid),
    .cmd_ready_i,
    .cmd_addr_o   (cmd_addr),
    .wr_valid_o   (wr_valid),
    .wr_ready_i   (wr_ready),
    .wr_data_o    (wr_data),
    .wr_count_o   (wr_count),
    .wr_last_o    (wr_last),
    .written_i    (written),
    .failed_i     (written && failed_i),
    .msix_valid_o (msix_valid),
    .msix_ready_i,
    .msix_vector_o(msix_vector),
    .taken_o      (),
    .tail_o       (tail),
    .broken_o     (broken),
    .stall_o      (stall),
    .msix_gap_o   (msix_gap),
    .trace_o      (),
    .idle_o       (idle)
  );

  assign take    = (rx_valid_i && rx_ready) || (tx_valid_i && tx_ready);
  assign beat_go = wr_valid && wr_ready;

  // Base and size are any, set while in reset.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      base_q <= any_cfg_i.base;
      log2_q <= any_cfg_i.log2[2:0];
    end
  end

  logic [511:0] taken_q;  // the report in the writer, as its source gave it
  logic [ 31:0] job_done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q         <= '0;
      head_was_q     <= '0;
      head_before_q  <= '0;
      issued_q       <= '0;
      sent_q         <= '0;
      number_q       <= '0;
      taken_q        <= '0;
      job_done_q     <= '0;
      msix_q         <= 1'b0;
      was_fresh_q    <= 1'b1;
      armed_before_q <= 1'b0;
    end else begin
      head_was_q    <= head_q;
      head_before_q <= head_was_q;
      if (consume_i <= tail - head_q) head_q <= head_q + consume_i;
      if (take) begin
        number_q   <= issued_q;
        issued_q   <= issued_q + 1'b1;
        taken_q    <= (tx_valid_i && tx_ready) ? tx_report_i : rx_report_i;
        job_done_q <= job_done_i;
      end
      if (beat_go) sent_q <= sent_q + 1'b1;
      msix_q         <= msix_valid;
      was_fresh_q    <= dut.fresh_q;
      armed_before_q <= dut.u_interrupt.armed_q || dut.u_interrupt.alarm_q;
    end
  end

  logic [31:0] size, slot, next_slot, known;
  assign known     = issued_q - 32'(dut.took_q[0]) - 32'(dut.took_q[1]);  // reports that the room was worked out of
  assign size      = 32'd1 << log2_q;
  assign slot      = number_q & (size - 32'd1);
  assign next_slot = issued_q & (size - 32'd1);

  // Cycles in which the memory takes and no report is taken, although one is offered and has room.
  logic [1:0] blocked_q, overdue_q, untold_q;
  logic room, armed_q, msix_due, rx_passed_q, tx_passed_q, armed_now_q, told_q;
  logic [31:0] arm_value_q, counted_q, beyond;
  logic [5:0] arm_more_q;
  assign room     = ((issued_q - head_was_q) & ~(size - 32'd1)) == '0;
  assign beyond   = tail - arm_value_q;
  assign msix_due = armed_q && !cfg.arm && beyond > 32'(arm_more_q) && !beyond[31];  // as many as were asked for
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      blocked_q   <= '0;
      overdue_q   <= '0;
      untold_q    <= '0;
      told_q      <= 1'b0;
      armed_q     <= 1'b0;
      armed_now_q <= 1'b0;
      rx_passed_q <= 1'b0;
      tx_passed_q <= 1'b0;
      counted_q   <= '0;
      arm_value_q <= '0;
      arm_more_q  <= '0;
    end else begin
      if (take || !room || broken || !(rx_valid_i || tx_valid_i)) blocked_q <= '0;
      else if ((cmd_ready_i || !cmd_valid) && (wr_ready_i || !wr_valid)) blocked_q <= blocked_q + 1'b1;
      // The other one was taken while this one was offered.
      if (!rx_valid_i || rx_ready) rx_passed_q <= 1'b0;
      else if (take) rx_passed_q <= 1'b1;
      if (!tx_valid_i || tx_ready) tx_passed_q <= 1'b0;
      else if (take) tx_passed_q <= 1'b1;
      counted_q <= counted_q + 32'(written && !failed_i && !broken);
      if (cfg.arm) begin
        armed_q     <= 1'b1;
        arm_value_q <= cfg.arm_value;
        arm_more_q  <= cfg.arm_more;
      end else if (msix_valid && !msix_q && !armed_now_q) begin
        armed_q <= 1'b0;
      end
      armed_now_q <= cfg.arm;
      if (broken && msix_valid && msix_ready_i) told_q <= 1'b1;
      untold_q  <= (broken && !told_q && !msix_valid) ? untold_q + 1'b1 : '0;
      overdue_q <= (msix_due && !msix_valid) ? overdue_q + 1'b1 : '0;
    end
  end

  always_comb begin
    if (rst_ni) begin
      one_source : assert (!(rx_valid_i && rx_ready && tx_valid_i && tx_ready));
      to_its_slot : assert (!cmd_valid || cmd_addr == base_q + {26'd0, slot, 6'd0});
      not_consumed_yet : assert (!(cmd_valid || wr_valid) || number_q - head_q < size);
      phase : assert (!wr_valid || wr_data[511:504] == {7'd0, ((number_q >> log2_q) & 32'd1) == '0});
      job_done : assert (!wr_valid || wr_data[471:448] == job_done_q[23:0]);
      unchanged : assert (!wr_valid || (wr_data[447:0] == taken_q[447:0] && wr_data[503:472] == taken_q[503:472]));
      ends_with_a_failure : assert (!(broken && take));
      goes_on : assert (blocked_q <= 2'd1);
      in_turn : assert (!(take && rx_passed_q && rx_valid_i && !rx_ready) && !(take && tx_passed_q && tx_valid_i && !tx_ready));
      counted : assert (tail == counted_q);
      interrupt_in_time : assert (overdue_q <= 2'd2);
      failure_told : assert (untold_q <= 2'd1);
      interrupt_once : assert (!(msix_valid && !msix_q) || armed_before_q);
      // Invariants that make the proof inductive.
      inv_counted : assert (dut.taken_q == issued_q && dut.u_interrupt.written_o == tail);
      inv_in_order : assert (issued_q - head_q <= size && tail - head_q <= issued_q - head_q);
      inv_behind : assert (sent_q - tail <= issued_q - tail && issued_q - sent_q == 32'(wr_valid));
      inv_sums : assert (dut.fresh_q || dut.used_q == issued_q - 32'(dut.took_q[0]) - head_was_q);
      inv_one : assert (dut.fresh_q || dut.one_q == (known - head_before_q < size));
      inv_two : assert (dut.fresh_q || was_fresh_q || dut.two_q == (known - head_before_q < size && known - head_before_q + 32'd1 != size));
      inv_took :
      assert (dut.took_q != 2'd3 && (dut.took_q == '0 || !(dut.fresh_q || was_fresh_q)) && !(was_fresh_q && issued_q != '0) &&
                        32'(dut.took_q[0]) + 32'(dut.took_q[1]) <= issued_q - tail);
      inv_head_forward : assert (head_q - head_was_q <= issued_q - head_was_q && tail - head_q <= tail - head_was_q);
      inv_addresses : assert (dut.fresh_q || dut.took_q[0] || {dut.addr_carry_q, dut.addr_q} == 25'(base_q[23:0]) + 25'({next_slot[17:0], 6'd0}));
      inv_index : assert (dut.fresh_q || dut.not_index_q == ~(size - 32'd1));
      inv_last_taken : assert (!(cmd_valid || wr_valid) || number_q == issued_q - 32'd1);
      inv_held : assert (wr_valid == (dut.have_q && !dut.beats_sent_q) && cmd_valid == (dut.have_q && !dut.cmd_sent_q));
      inv_beat_behind : assert (!(dut.have_q && dut.beats_sent_q && !dut.cmd_sent_q));
      inv_blocked : assert (blocked_q == '0 || !dut.fresh_q);
      inv_prefer : assert (!rx_passed_q || !tx_passed_q);
      inv_prefers : assert ((!rx_passed_q || !dut.prefer_tx_q) && (!tx_passed_q || dut.prefer_tx_q));
      inv_armed :
      assert ((!armed_q || dut.u_interrupt.armed_q || (msix_valid && !msix_q)) &&
                         (!armed_q || (arm_value_q == dut.u_interrupt.arm_value_q && arm_more_q == dut.u_interrupt.arm_more_q)));
      inv_overdue : assert (overdue_q == '0 || msix_valid || (overdue_q == 2'd1 && dut.u_interrupt.due));
      inv_gap : assert (dut.u_interrupt.gap_q <= dut.u_interrupt.gap_was_q || dut.u_interrupt.gap_q == '0);
      inv_waited :
      assert (dut.u_interrupt.waited_q == '0 ||
                          17'(dut.u_interrupt.waited_q) + 17'(dut.u_interrupt.gap_q) <= 17'(dut.u_interrupt.gap_was_q) ||
                          (dut.u_interrupt.msix_valid_o && 17'(dut.u_interrupt.waited_q) <= 17'(dut.u_interrupt.gap_was_q) + 17'd1));
      inv_no_ring_before : assert (dut.u_interrupt.old_q == '0 && !dut.old_q);
      inv_alarm : assert (!(broken && !told_q && !msix_valid) || (dut.u_interrupt.alarm_q && untold_q == '0));
      inv_no_old : assert (!(dut.have_q && dut.cmd_sent_q && dut.beats_sent_q));
    end
  end

endmodule
