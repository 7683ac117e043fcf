// Proves of report_writer: report n goes to slot n mod 2^log2 with the phase of its pass, no slot is written again
// before the host has consumed it, both sources' reports go out unchanged, an interrupt was asked for or tells of a
// write that failed, and after one nothing more is taken.
//
// The host is any host that consumes no more reports than were written. The width is one report per beat.

module report_writer_formal
  import weft_int_pkg::*;
(
  input logic         clk_i,
  input logic         rst_ni,
  input report_cfg_t  any_cfg_i,
  input logic [31:0]  job_done_i,
  input logic         rx_valid_i,
  input logic [511:0] rx_report_i,
  input logic         tx_valid_i,
  input logic [511:0] tx_report_i,
  input logic         cmd_ready_i,
  input logic         wr_ready_i,
  input logic         written_i,
  input logic         failed_i,
  input logic         msix_ready_i,
  input logic [31:0]  consume_i       // how far the host goes in this cycle
);

  from_reset u_start (.clk_i, .rst_ni);

  logic         rx_ready, tx_ready, cmd_valid, wr_valid, wr_last, msix_valid, broken, stall, idle;
  logic [63:0]  cmd_addr;
  logic [511:0] wr_data;
  logic [6:0]   wr_count;
  logic [4:0]   msix_vector;
  logic [31:0]  tail;

  logic [63:0]  base_q;
  logic [2:0]   log2_q;
  logic [31:0]  head_q, head_was_q, issued_q, sent_q, number_q;
  report_cfg_t  cfg;

  assign cfg = '{reset: 1'b0, base: base_q, log2: 8'(log2_q), head: head_q,
                 arm: any_cfg_i.arm, arm_value: any_cfg_i.arm_value};

  // The memory takes no data before the command, and answers only what was sent to it.
  logic written, wr_ready, take, beat_go, msix_q, armed_before_q;
  assign wr_ready = wr_ready_i && (!cmd_valid || cmd_ready_i);
  assign written  = written_i && sent_q != tail;

  report_writer #(.DATA_W(512)) dut (
    .clk_i, .rst_ni,
    .cfg_i(cfg), .job_done_i,
    .rx_valid_i, .rx_ready_o(rx_ready), .rx_report_i,
    .tx_valid_i, .tx_ready_o(tx_ready), .tx_report_i,
    .cmd_valid_o(cmd_valid), .cmd_ready_i, .cmd_addr_o(cmd_addr),
    .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_data_o(wr_data), .wr_count_o(wr_count), .wr_last_o(wr_last),
    .written_i(written), .failed_i(written && failed_i),
    .msix_valid_o(msix_valid), .msix_ready_i, .msix_vector_o(msix_vector),
    .tail_o(tail), .broken_o(broken), .stall_o(stall), .idle_o(idle)
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

  logic [511:0] taken_q;    // the report in the writer, as its source gave it
  logic [31:0]  job_done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q     <= '0;
      head_was_q <= '0;
      issued_q   <= '0;
      sent_q     <= '0;
      number_q   <= '0;
      taken_q    <= '0;
      job_done_q <= '0;
      msix_q         <= 1'b0;
      armed_before_q <= 1'b0;
    end else begin
      head_was_q <= head_q;
      if (consume_i <= tail - head_q) head_q <= head_q + consume_i;
      if (take) begin
        number_q   <= issued_q;
        issued_q   <= issued_q + 1'b1;
        taken_q    <= (tx_valid_i && tx_ready) ? tx_report_i : rx_report_i;
        job_done_q <= job_done_i;
      end
      if (beat_go) sent_q <= sent_q + 1'b1;
      msix_q         <= msix_valid;
      armed_before_q <= dut.armed_q || dut.alarm_q;
    end
  end

  logic [31:0] size, slot, next_slot;
  assign size = 32'd1 << log2_q;
  assign slot = number_q & (size - 32'd1);
  assign next_slot = issued_q & (size - 32'd1);

  always_comb begin
    if (rst_ni) begin
      one_source: assert (!(rx_valid_i && rx_ready && tx_valid_i && tx_ready));
      to_its_slot: assert (!cmd_valid || cmd_addr == base_q + {26'd0, slot, 6'd0});
      not_consumed_yet: assert (!(cmd_valid || wr_valid) || number_q - head_q < size);
      phase: assert (!wr_valid || wr_data[511:504] == {7'd0, ((number_q >> log2_q) & 32'd1) == '0});
      job_done: assert (!wr_valid || wr_data[479:448] == job_done_q);
      unchanged: assert (!wr_valid || (wr_data[447:0] == taken_q[447:0] && wr_data[503:480] == taken_q[503:480]));
      ends_with_a_failure: assert (!(broken && take));
      interrupt_once: assert (!(msix_valid && !msix_q) || armed_before_q);
      // Invariants that make the proof inductive.
      inv_counted: assert (dut.taken_q == issued_q && dut.written_q == tail);
      inv_in_order: assert (issued_q - head_q <= size && tail - head_q <= issued_q - head_q);
      inv_behind: assert (sent_q - tail <= issued_q - tail && issued_q - sent_q == 32'(wr_valid));
      inv_sums: assert (dut.fresh_q || dut.used_q == issued_q - head_was_q);
      inv_head_forward: assert (head_q - head_was_q <= issued_q - head_was_q && tail - head_q <= tail - head_was_q);
      inv_addresses: assert (dut.fresh_q || {dut.addr_carry_q, dut.addr_q} == 25'(base_q[23:0]) + 25'({next_slot[17:0], 6'd0}));
      inv_index: assert (dut.fresh_q || dut.not_index_q == ~(size - 32'd1));
      inv_last_taken: assert (!(cmd_valid || wr_valid) || number_q == issued_q - 32'd1);
      inv_held: assert (wr_valid == (dut.have_q && !dut.beats_sent_q) && cmd_valid == (dut.have_q && !dut.cmd_sent_q));
      inv_beat_behind: assert (!(dut.have_q && dut.beats_sent_q && !dut.cmd_sent_q));
      inv_no_old: assert (!(dut.have_q && dut.cmd_sent_q && dut.beats_sent_q));
    end
  end

endmodule
