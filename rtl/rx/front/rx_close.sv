// The close of a packet: its report, whether its frame goes up raw, and the store space that it returns.
//
// Handshake: `decided_i` is a pulse, only with `free_o`. `close_o` is valid a cycle later and held until `ready_i`; one close in two cycles at most.
// Pipeline:  one register.
// Why:       `decided_i` is late: it only makes the record valid, which was worked out before. free_o is !valid_o in a register of its own, because
//            some 500 flip-flops load valid_o.

`include "weft_assert.svh"

module rx_close
  import rx_front_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic              decided_i,     // a packet ends in this cycle; only with `free_o`
  // verilator lint_off UNUSEDSIGNAL
  input rx_packet_t        packet_i,
  // verilator lint_on UNUSEDSIGNAL
  input logic              known_i,       // of a flow
  input logic              report_i,      // the packet has a report: it was not dropped
  input logic              raw_i,
  input logic       [15:0] slot_i,        // the raw slot, of a flow's packet and of another
  input logic       [15:0] plain_slot_i,
  input logic       [15:0] flow_i,
  input logic       [ 7:0] epoch_i,
  input logic              port_i,
  input logic              attached_i,
  input logic              duplicate_i,
  input logic       [ 3:0] refusal_i,     // REFUSAL_NONE if not refused
  input logic       [15:0] done_len_i,
  input logic       [ 3:0] outcome_i,     // of a replay

  output logic      free_o,   // no close is held
  output logic      valid_o,
  input  logic      ready_i,
  output rx_close_t close_o
);

  rx_close_t       close;
  segment_report_t record;
  frame_report_t   frame_record;

  always_comb begin
    record                                                                  = segment_record(packet_i.segment);
    record.flags[SEGMENT_REPORT_RAW_BIT]                                    = raw_i;
    record.flags[SEGMENT_REPORT_ATTACHED_BIT]                               = attached_i;
    record.flags[SEGMENT_REPORT_DUPLICATE_BIT]                              = duplicate_i;
    record.flow                                                             = flow_i;
    record.arrival                                                          = packet_i.arrival;
    record.epoch                                                            = epoch_i;
    record.status[SEGMENT_REPORT_REFUSAL_LSB+:SEGMENT_REPORT_REFUSAL_WIDTH] = refusal_i;
    record.done_len                                                         = done_len_i;
    record.raw_slot                                                         = raw_i ? slot_i : '0;
    record.raw_len                                                          = raw_i ? packet_i.frame_len : '0;
    record.phase[SEGMENT_REPORT_PORT_BIT]                                   = port_i;
    if (packet_i.segment.replay) begin
      record.flags  = '0;
      record.status = 8'(outcome_i);
    end

    frame_record          = '0;
    frame_record.kind     = REPORT_KIND_FRAME;
    frame_record.raw_slot = plain_slot_i;
    frame_record.raw_len  = packet_i.frame_len;
    frame_record.arrival  = packet_i.arrival;

    close.raw             = raw_i;
    close.report          = report_i;
    close.record          = known_i ? record : frame_record;
    close.start           = packet_i.start;
    close.stop            = packet_i.stop;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      free_o  <= 1'b1;
    end else begin
      valid_o <= valid_o ? !ready_i : decided_i;
      free_o  <= valid_o ? ready_i : !decided_i;
    end
  end
  always_ff @(posedge clk_i) if (!valid_o) close_o <= close;

  `WEFT_ASSERT(free_told, free_o == !valid_o)
  `WEFT_ASSERT(one_at_a_time, decided_i -> free_o)

endmodule
