// Counts the reports written, and requests the one interrupt that the host armed (docs/card.md "Reports, interrupts, back-pressure").
//
// Handshake: `taken_i` and `written_i` are pulses. `msix_valid_o` is held until `msix_ready_i`. A request comes two cycles after its report was
//            counted.
// Pipeline:  cycle | registers    | what happens
//            0     | written_o    | a report is counted
//            1     | past_armed_q | reports beyond arm_value
//            2     | msix_valid_o | due, by number, by hurry_q or by gap_q
// Why:       An interrupt is requested when more reports are written than the host had taken (`cfg_i.arm_value`), and either:
//            - they are as many as requested, one and `arm_more`, or
//            - one is written that is not bulk (`hurried_i`), or
//            - no other one was written for `gap` cycles.
//            So each report causes an interrupt in `gap` cycles, or with one of the next 64.
//            Of several reports in flight that are not bulk the last one counts: those before it wait no longer than for it. A host that saw it
//            without an interrupt, and arms with nothing new, clears it (hurry_q).
//            After a failed write the count stops, and one interrupt says so, armed or not (`broken_o`, until reset).
//            At a ring set up anew (`cfg_i.reset`), reports in flight are the old ring's: not counted, and without interrupt.

`include "weft_assert.svh"

module report_interrupt
  import weft_int_pkg::report_cfg_t;
(
  input logic clk_i,
  input logic rst_ni,

  input report_cfg_t cfg_i,

  input logic taken_i,    // a report was taken; long before its response
  input logic hurried_i,  // with it: it is not bulk
  input logic written_i,  // pulse: the write response of the oldest report has come
  input logic failed_i,   // with it: the response is an error

  output logic msix_valid_o,
  input  logic msix_ready_i,
  output logic msix_gap_o,    // with the request: it comes of REPORT_GAP

  output logic [31:0] written_o,  // reports written
  output logic        broken_o,
  output logic        idle_o
);

  logic [31:0] arm_value_q, past_armed_q;  // past_armed: a sum of the cycle before
  logic [ 5:0] arm_more_q;
  logic [15:0] gap_q;  // cycles to wait for another report
  logic armed_q, settled_q, counted_q, alarm_q, hurry_q, waiting, enough, due;

  // Reports in flight, and of these those up to the last one that is not bulk.
  logic [15:0] under_way_q, hurried_q;
  logic [15:0] old_q;  // those of the old ring, the oldest
  logic        counts;  // a report of this ring is written

  assign counts  = written_i && old_q == '0;

  // A host that polls may have seen a report in memory before its write response came here. Then the value it arms with is ahead of the count, and
  // the interrupt is for the next report.
  assign waiting = armed_q && settled_q && past_armed_q != '0 && !past_armed_q[31];
  assign enough  = past_armed_q[30:6] != '0 || past_armed_q[5:0] > arm_more_q;
  assign due     = alarm_q || (waiting && (enough || hurry_q || gap_q == '0));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_o    <= '0;
      armed_q      <= 1'b0;
      arm_value_q  <= '0;
      arm_more_q   <= '0;
      past_armed_q <= '0;
      settled_q    <= 1'b0;
      counted_q    <= 1'b0;
      broken_o     <= 1'b0;
      alarm_q      <= 1'b0;
      msix_valid_o <= 1'b0;
      msix_gap_o   <= 1'b0;
    end else begin
      if (counts && !failed_i && !broken_o) written_o <= written_o + 1'b1;
      counted_q    <= counts;
      past_armed_q <= written_o - arm_value_q;
      settled_q    <= !cfg_i.arm;
      if (msix_valid_o) begin
        msix_valid_o <= !msix_ready_i;
      end else if (due) begin
        msix_valid_o <= 1'b1;
        msix_gap_o   <= !alarm_q && !enough && !hurry_q;
        armed_q      <= 1'b0;
        alarm_q      <= 1'b0;
      end
      if (written_i && failed_i) begin
        broken_o <= 1'b1;
        alarm_q  <= !broken_o;
      end
      if (cfg_i.arm) begin
        armed_q     <= 1'b1;
        arm_value_q <= cfg_i.arm_value;
        arm_more_q  <= cfg_i.arm_more;
      end
      if (cfg_i.reset) begin
        written_o <= '0;
        armed_q   <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- reports that are not bulk
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      under_way_q <= '0;
      hurried_q   <= '0;
      old_q       <= '0;
      hurry_q     <= 1'b0;
      gap_q       <= '0;
    end else begin
      under_way_q <= under_way_q + 16'(taken_i) - 16'(written_i);
      if (taken_i && hurried_i) hurried_q <= under_way_q + 16'd1 - 16'(written_i);
      else if (written_i && hurried_q != '0) hurried_q <= hurried_q - 1'b1;
      // `past_armed_q` includes a report two cycles after its response.
      if (written_i && hurried_q == 16'd1) hurry_q <= 1'b1;
      else if (armed_q && settled_q && (waiting ? due && !msix_valid_o : !counted_q)) hurry_q <= 1'b0;
      if (cfg_i.arm || counts) gap_q <= cfg_i.gap;
      else if (gap_q != '0) gap_q <= gap_q - 1'b1;
      if (written_i && old_q != '0) old_q <= old_q - 1'b1;
      if (cfg_i.reset) begin
        old_q     <= under_way_q + 16'(taken_i) - 16'(written_i);
        hurried_q <= '0;
        hurry_q   <= 1'b0;
      end
    end
  end

  assign idle_o = !msix_valid_o && !due && !(armed_q && (counted_q || !settled_q)) && !waiting;

  logic unused;
  assign unused = ^{cfg_i.base, cfg_i.log2, cfg_i.head};

`ifndef SYNTHESIS
  logic stopped_q, held_q;
  logic [31:0] stopped_at_q;
  logic [15:0] waited_q, gap_was_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    stopped_q    <= rst_ni && broken_o && !cfg_i.reset;
    stopped_at_q <= written_o;
    held_q       <= rst_ni && msix_valid_o && !msix_ready_i;
    if (cfg_i.arm || counts) gap_was_q <= cfg_i.gap;
    // At the end of the gap an interrupt is due.
    waited_q <= rst_ni && waiting && !msix_valid_o && !counts && !cfg_i.arm && !cfg_i.reset ? waited_q + 1'b1 : '0;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(stops, stopped_q -> broken_o && written_o == stopped_at_q)
  `WEFT_ASSERT(held, held_q -> msix_valid_o)
  `WEFT_ASSERT(old_are_under_way, old_q <= under_way_q)
  `WEFT_ASSERT(none_is_forgotten, 17'(waited_q) <= 17'(gap_was_q) + 17'd1)

  `WEFT_COVER(after_enough, due && enough && arm_more_q != '0)
  `WEFT_COVER(after_a_gap, due && waiting && !enough && !hurry_q)
  `WEFT_COVER(in_a_hurry, due && waiting && !enough && hurry_q)
`endif

endmodule
