// Proves of rx_report with rx_report_merge: reports go out in their order, none twice, and each of them, but those for which another one stands.
//
// What is left out is the FPDU's report of a joined one, and a bare acknowledgment behind one that was written. It acknowledges more than that one and
// less than the next one, both of its flow, and no window shrinks. It is left out only while the ring is full.
//
// The source is any that keeps what it shows. A report has its number where it says when its frame came.

module rx_report_formal
  import weft_card_pkg::*;
(
  input logic         clk_i,
  input logic         rst_ni,
  input logic         valid_i,
  input logic         next_i,
  input logic         fpdu_i,
  input logic         joins_i,
  input logic         failed_i,
  input logic [511:0] record_i,
  input logic         full_i,
  input logic         rpt_ready_i,
  input logic [  7:0] any_number_i
);

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  logic ready, rpt_valid, merged, idle, take, leave;
  logic [511:0] rpt;

  rx_report dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o    (ready),
    .fpdu_i,
    .joins_i,
    .failed_i,
    .next_i,
    .record_i,
    .full_i,
    .merged_o   (merged),
    .rpt_valid_o(rpt_valid),
    .rpt_ready_i,
    .rpt_o      (rpt),
    .idle_o     (idle)
  );

  segment_report_t given, out, last_q, kept_q;  // kept: the report of one number, any
  logic [7:0] taken_q, outs_q, gone_q, kept_number_q;  // taken, outs: reports taken, written; gone: the number behind the last written
  logic [7:0] number, held;
  logic written_q, full_q, shown_q, waits_q, fpdu_q, joins_q, failed_q;
  logic [511:0] record_q;
  logic [  7:0] left_out_q;  // merged, and FPDUs of joined reports

  assign given  = segment_report_t'(record_i);
  assign out    = segment_report_t'(rpt);
  assign take   = valid_i && ready;
  assign leave  = rpt_valid && rpt_ready_i;
  assign number = out.arrival[7:0];
  assign held   = 8'(dut.used_q[0]) + 8'(dut.used_q[1]);

  function automatic logic bare(input segment_report_t report);
    return report.kind == REPORT_KIND_SEGMENT && report.flags == 8'd1 << SEGMENT_REPORT_ATTACHED_BIT && report.tcp_flags == 8'h10 && report.status == '0 &&
           report.payload_len == '0;
  endfunction
  function automatic logic goes_on(input segment_report_t earlier, input segment_report_t later);
    logic [31:0] step;
    step = later.ack - earlier.ack;
    return bare(
        earlier
    ) && bare(
        later
    ) && {earlier.flow, earlier.epoch, earlier.seq} == {later.flow, later.epoch, later.seq} && step != '0 && !step[31] &&
        earlier.window <= later.window;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {taken_q, outs_q, gone_q, left_out_q} <= '0;
      {written_q, full_q, shown_q, waits_q} <= '0;
      kept_number_q                         <= any_number_i;
    end else begin
      taken_q    <= taken_q + 8'(take);
      left_out_q <= left_out_q + 8'(merged) + 8'(take && dut.merge);
      outs_q     <= outs_q + 8'(leave);
      full_q     <= full_i;
      shown_q    <= valid_i && !ready;
      waits_q    <= next_i && !take;
      if (leave) begin
        gone_q    <= number + 8'd1;
        last_q    <= out;
        written_q <= 1'b1;
      end
      if (take && taken_q == kept_number_q) kept_q <= given;
    end
    {fpdu_q, joins_q, failed_q, record_q} <= {fpdu_i, joins_i, failed_i, record_i};
  end

  logic passed;  // the kept report did not go out, and a later one goes
  assign passed = leave && kept_number_q >= gone_q && kept_number_q < number && !(out.kind == REPORT_KIND_PLACED && kept_number_q == number - 8'd1);

  always_comb begin
    a_next : assume (!valid_i || next_i);
    a_stays : assume (!shown_q || (valid_i && failed_i == failed_q && record_i == record_q));
    a_next_stays : assume (!waits_q || (next_i && fpdu_i == fpdu_q && joins_i == joins_q));
    a_kind : assume (fpdu_i == (given.kind == REPORT_KIND_FPDU) && (fpdu_i || given.kind == REPORT_KIND_SEGMENT || given.kind == REPORT_KIND_FRAME));
    // Of a report without a write none fails.
    a_failed : assume (!failed_i || fpdu_i || given.kind == REPORT_KIND_FRAME || given.flags[SEGMENT_REPORT_RAW_BIT]);
    a_number : assume (given.arrival[7:0] == taken_q);
    if (rst_ni) begin
      order : assert (!rpt_valid || number >= gone_q);
      nothing_lost : assert (!passed || (written_q && goes_on(last_q, kept_q) && goes_on(kept_q, out)));
      only_if_full : assert (!merged || full_q);
      takes_or_offers : assert (ready || rpt_valid);
      counted : assert (taken_q == outs_q + left_out_q + held);
    end
  end

  logic unused;
  assign unused = idle;

endmodule
