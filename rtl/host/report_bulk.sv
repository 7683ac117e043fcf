// Whether a report is bulk (docs/card.md "Reports, interrupts, back-pressure"): one of many alike, for which no host waits.
//
// Pipeline:  none, combinational.
// Why:       Bulk is a placed FPDU in the middle of a message, or a segment that only acknowledges: no loss, no end, nothing for the engine.

module report_bulk
  import weft_card_pkg::*;
(
  input  logic [511:0] report_i,
  output logic         bulk_o
);

  localparam int unsigned DDP_LAST = 6;  // L in the DDP control byte (RFC 5041 §4.2)
  localparam logic [7:0] FIN_SYN_RST = 8'h07;

  segment_report_t segment;
  placed_report_t  placed;
  fpdu_report_t    fpdu;
  logic            quiet;

  assign segment = report_i;
  assign placed  = report_i;
  assign fpdu    = report_i;
  // A placed report has its TCP flags at the same place as a segment report.
  assign quiet   = (segment.tcp_flags & FIN_SYN_RST) == '0;

  always_comb begin
    unique case (segment.kind)
      REPORT_KIND_PLACED: bulk_o = quiet && !placed.ddp_control[DDP_LAST];
      REPORT_KIND_FPDU: bulk_o = fpdu.verdict == FPDU_VERDICT_PLACED && !fpdu.ddp_control[DDP_LAST];
      REPORT_KIND_SEGMENT:
      bulk_o = quiet && !segment.status[SEGMENT_REPORT_RAW_FAILED_BIT] &&
                 segment.status[SEGMENT_REPORT_REFUSAL_LSB +: SEGMENT_REPORT_REFUSAL_WIDTH] == REFUSAL_NONE && !segment.flags[SEGMENT_REPORT_RAW_BIT] && !segment.flags[SEGMENT_REPORT_DUPLICATE_BIT] &&
                 segment.flags[SEGMENT_REPORT_SACK_COUNT_LSB +: SEGMENT_REPORT_SACK_COUNT_WIDTH] == '0;
      default: bulk_o = 1'b0;
    endcase
  end

  logic unused;
  assign unused = ^{segment, placed, fpdu};

endmodule
