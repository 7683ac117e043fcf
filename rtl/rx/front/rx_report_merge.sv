// Whether the middle one of three reports that follow each other tells nothing that the third does not tell (docs/card.md "Reports, interrupts,
// back-pressure"): then it need not be written.
//
// Handshake: in a cycle with `there_i` all three are there, and the oldest waits for room in its ring. They stay while it is so. `merge_o` is a register;
//            it answers for the cycles before.
// Pipeline:  cycle | registers                  | what happens                     | hazards
//            0     | old_q, mid_q, newer_q      | what is compared                 | there_q counts the cycles in which nothing moved
//            1     | quiet_q .. window_q        | what each is, and how two differ |
//            2     | merge_o                    | all of it holds                  | not behind a cycle in which one has left
// Why:       A bare acknowledgment of an attached flow: no payload, ACK alone of the flags, no SACK block, no timestamp, no congestion mark, accepted,
//            without raw frame. Three of one flow and epoch, with one sequence number, each of which acknowledges more than the one before and offers no
//            smaller window. The third then tells all that the second does. The first was there already: so the second repeats no number, and no
//            duplicate is lost.
//            Only where the ring is full: what has room is written as it comes.

`include "weft_assert.svh"

module rx_report_merge
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic         there_i,
  input  logic [511:0] older_i,   // it goes first, and is never taken back
  input  logic [511:0] middle_i,
  input  logic [511:0] newer_i,
  output logic         merge_o    // the newer one may take the place of the middle one
);

  // verilator lint_off UNUSEDSIGNAL
  segment_report_t older, middle, newer;
  // verilator lint_on UNUSEDSIGNAL

  assign older  = segment_report_t'(older_i);
  assign middle = segment_report_t'(middle_i);
  assign newer  = segment_report_t'(newer_i);

  // What is compared.
  typedef struct packed {
    logic [47:0] shape;   // kind, flags, TCP flags, status, length of the payload
    logic [55:0] of;      // flow, epoch, sequence number
    logic [31:0] ack;
    logic [15:0] window;
  } said_t;

  // The status has refusal, congestion marks and what failed; the flags have raw frame, timestamps, duplicate and SACK blocks.
  localparam logic [47:0] BARE = {REPORT_KIND_SEGMENT, 8'(1 << SEGMENT_REPORT_ATTACHED_BIT), 8'h10, 8'd0, 16'd0};

  // verilator lint_off UNUSEDSIGNAL
  function automatic said_t said(input segment_report_t report);
    said_t what;
    what.shape  = {report.kind, report.flags, report.tcp_flags, report.status, report.payload_len};
    what.of     = {report.flow, report.epoch, report.seq};
    what.ack    = report.ack;
    what.window = report.window;
    return what;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  said_t old_q, mid_q, newer_q;
  logic [1:0] there_q;
  logic quiet_q, alike_q, differ_q, ahead_q, window_q;
  logic [31:0] first_step, second_step, both_steps;

  assign first_step  = mid_q.ack - old_q.ack;
  assign second_step = newer_q.ack - mid_q.ack;
  assign both_steps  = newer_q.ack - old_q.ack;  // many that went one by one lie within half of the numbers, too

  always_ff @(posedge clk_i) begin
    old_q    <= said(older);
    mid_q    <= said(middle);
    newer_q  <= said(newer);
    quiet_q  <= old_q.shape == BARE && mid_q.shape == BARE && newer_q.shape == BARE;
    alike_q  <= old_q.of == mid_q.of && mid_q.of == newer_q.of;
    differ_q <= old_q.ack != mid_q.ack && mid_q.ack != newer_q.ack;
    ahead_q  <= !first_step[31] && !second_step[31] && !both_steps[31];
    window_q <= old_q.window <= mid_q.window && mid_q.window <= newer_q.window;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {there_q, merge_o} <= '0;
    else begin
      there_q <= there_i && !merge_o ? {there_q[0], 1'b1} : '0;
      merge_o <= there_i && !merge_o && there_q == '1 && quiet_q && alike_q && differ_q && ahead_q && window_q;
    end
  end

  logic unused;
  assign unused = ^{first_step[30:0], second_step[30:0], both_steps[30:0]};

  `WEFT_COVER(merged, merge_o)

endmodule
