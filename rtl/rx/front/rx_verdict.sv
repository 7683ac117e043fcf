// What became of a frame, as an event of the trace ring: one cycle behind `rx_dispatch`.

module rx_verdict
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         valid_i,
  input  logic         walked_i,       // else decided without a walk
  input  logic         dropped_i,      // no raw slot
  input  logic         reserved_i,     // but reserved ones
  input  logic         known_i,        // of a flow
  input  logic [15:0]  flow_i,
  input  logic         tcp_i,
  input  logic [31:0]  seq_i,
  input  logic [15:0]  frame_len_i,
  input  stop_e        stop_i,         // of the walk
  input  logic         engine_i,
  input  accept_e      accept_i,       // without a walk

  output trace_event_t trace_o
);

  logic [7:0] verdict;

  always_comb begin
    verdict = TRACE_VERDICT_BYPASSED;
    if (walked_i) begin
      unique case (stop_i)
        STOP_WHOLE:   verdict = engine_i ? TRACE_VERDICT_ENGINE : TRACE_VERDICT_PLACED;
        STOP_PARTIAL: verdict = TRACE_VERDICT_PARTIAL;
        STOP_ERROR:   verdict = TRACE_VERDICT_ERROR;
        default:      ;     // behind one that did not end whole
      endcase
    end else if (!known_i) begin
      verdict = TRACE_VERDICT_NO_FLOW;
    end else begin
      unique case (accept_i)
        ACCEPT_BARE:      verdict = TRACE_VERDICT_NO_PAYLOAD;
        ACCEPT_REFUSE:    verdict = TRACE_VERDICT_REFUSED;
        ACCEPT_DUPLICATE: verdict = TRACE_VERDICT_DUPLICATE;
        ACCEPT_LEAVE:     verdict = TRACE_VERDICT_GAP;
        default:          ;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trace_o <= '0;
    end else begin
      trace_o.valid  <= valid_i;
      trace_o.kind   <= dropped_i ? 4'(TRACE_KIND_FRAME_DROPPED) : 4'(TRACE_KIND_VERDICT);
      trace_o.detail <= !dropped_i ? verdict : reserved_i ? TRACE_DROP_RAW_RESERVED : TRACE_DROP_NO_RAW_SLOT;
      trace_o.flow   <= known_i ? flow_i : NO_FLOW;
      trace_o.value  <= tcp_i && !dropped_i ? seq_i : '0;
      trace_o.info   <= frame_len_i;
    end
  end

endmodule
