// Counters and trace event of each frame's verdict.
//
// Handshake: Pulses only: the trace event comes one cycle behind `finish_i` or `direct_i`, the counters two.
// Pipeline:  two registers of what is counted: `direct_i` is late.

module rx_verdict
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic           finish_i,      // its walk has ended
  input logic           direct_i,      // decided without a walk
  input logic           dropped_i,     // no raw slot, or no room for reports
  input logic           reserved_i,    // only reserved raw slots are free
  input logic           spent_i,       // the flow has taken its share of raw slots
  input logic           closed_i,      // its port has no room for reports
  input logic           known_i,       // of a flow
  input logic           replay_i,      // a replay, not a frame
  input logic           raw_i,
  input logic           counts_raw_i,  // the engine has to complete the segment
  input logic    [15:0] flow_i,
  input logic           tcp_i,
  input logic    [31:0] seq_i,
  input logic    [15:0] frame_len_i,
  input stop_e          stop_i,        // of the walk
  input logic           engine_i,
  input accept_e        accept_i,      // without a walk
  input logic    [ 3:0] refusal_i,
  input logic           beyond_i,      // with finish_i: beyond a gap
  input logic           full_i,        // with ACCEPT_LEAVE: the flow has no island free

  output trace_event_t                          trace_o,
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  logic [7:0] why;  // reason of a drop
  always_comb begin
    if (closed_i) why = 8'(TRACE_DROP_REPORT_ROOM);
    else if (known_i) why = spent_i ? 8'(TRACE_DROP_RAW_CREDIT) : 8'(TRACE_DROP_NO_RAW_SLOT);
    else why = reserved_i ? 8'(TRACE_DROP_RAW_RESERVED) : 8'(TRACE_DROP_NO_RAW_SLOT);
  end

  typedef struct packed {
    logic       finish,  direct, dropped, known, replay, raw, counts_raw, beyond, full;
    logic [7:0] why;
    stop_e      stop;
    accept_e    accept;
    logic [3:0] refusal;
  } told_t;
  told_t told_q;
  logic plain, known, walked, dropped;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) told_q <= '0;
    else begin
      told_q <= '{
          finish: finish_i,
          direct: direct_i,
          dropped: dropped_i,
          known: known_i,
          replay: replay_i,
          raw: raw_i,
          counts_raw: counts_raw_i,
          beyond: beyond_i,
          full: full_i,
          why: why,
          stop: stop_i,
          accept: accept_i,
          refusal: refusal_i
      };
    end
  end
  assign plain   = told_q.direct && !told_q.dropped && !told_q.replay;
  assign known   = told_q.direct && told_q.known && !told_q.replay;
  assign walked  = told_q.finish && !told_q.replay;
  assign dropped = told_q.direct && !told_q.replay && told_q.dropped;

  logic refused, leaves, whole;
  assign refused = known && told_q.accept == ACCEPT_REFUSE;
  assign leaves  = known && !told_q.dropped && told_q.accept == ACCEPT_LEAVE;
  assign whole   = told_q.stop == STOP_WHOLE;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_inc_o <= '0;
    end else begin
      cnt_inc_o                              <= '0;
      cnt_inc_o[CNT_RX_DROP_NO_RAW_SLOT]     <= 16'(dropped && told_q.why == 8'(TRACE_DROP_NO_RAW_SLOT));
      cnt_inc_o[CNT_RX_DROP_RAW_RESERVED]    <= 16'(dropped && told_q.why == 8'(TRACE_DROP_RAW_RESERVED));
      cnt_inc_o[CNT_RX_DROP_NO_RAW_CREDIT]   <= 16'(dropped && told_q.why == 8'(TRACE_DROP_RAW_CREDIT));
      cnt_inc_o[CNT_RX_DROP_NO_REPORT_ROOM]  <= 16'(dropped && told_q.why == 8'(TRACE_DROP_REPORT_ROOM));
      cnt_inc_o[CNT_RX_RAW_FRAMES]           <= 16'(plain && !told_q.known);
      cnt_inc_o[CNT_RX_SEGMENTS]             <= 16'(walked || (plain && told_q.known));
      cnt_inc_o[CNT_RX_SEGMENTS_PLACED]      <= 16'(walked && whole);
      cnt_inc_o[CNT_RX_SEGMENTS_BYPASSED]    <= 16'((walked && told_q.raw) || (told_q.direct && told_q.counts_raw));
      cnt_inc_o[CNT_RX_SEGMENTS_DUPLICATE]   <= 16'(known && told_q.accept == ACCEPT_DUPLICATE);
      cnt_inc_o[CNT_RX_REFUSED_ACK]          <= 16'(refused && told_q.refusal == REFUSAL_NO_ACK);
      cnt_inc_o[CNT_RX_REFUSED_WINDOW]       <= 16'(refused && told_q.refusal == REFUSAL_WINDOW);
      cnt_inc_o[CNT_RX_REFUSED_PAWS]         <= 16'(refused && told_q.refusal == REFUSAL_PAWS);
      cnt_inc_o[CNT_RX_REFUSED_NO_TIMESTAMP] <= 16'(refused && told_q.refusal == REFUSAL_NO_TIMESTAMP);
      // A segment discarded behind one that did not end whole: that one's counter covers both.
      cnt_inc_o[CNT_RX_DETACH_GAP]           <= 16'(leaves);
      cnt_inc_o[CNT_RX_SEGMENTS_BEYOND]      <= 16'(walked && whole && told_q.beyond);
      cnt_inc_o[CNT_RX_ISLANDS_FULL]         <= 16'(leaves && told_q.full);
      cnt_inc_o[CNT_RX_DETACH_PARTIAL]       <= 16'(walked && told_q.stop == STOP_PARTIAL);
      cnt_inc_o[CNT_RX_DETACH_ERROR]         <= 16'(walked && told_q.stop == STOP_ERROR);
      cnt_inc_o[CNT_RX_REPLAYS]              <= 16'(told_q.finish && told_q.replay && whole);
      cnt_inc_o[CNT_RX_REPLAYS_PARTIAL]      <= 16'(told_q.finish && told_q.replay && told_q.stop == STOP_PARTIAL);
      cnt_inc_o[CNT_RX_REPLAYS_ERROR]        <= 16'(told_q.finish && told_q.replay && told_q.stop == STOP_ERROR);
      cnt_inc_o[CNT_RX_REPLAYS_REFUSED]      <= 16'(told_q.replay && (told_q.direct || (told_q.finish && told_q.stop == STOP_NOT_WALKED)));
    end
  end

  logic [7:0] verdict;

  always_comb begin
    verdict = TRACE_VERDICT_BYPASSED;
    if (replay_i) begin
      verdict = finish_i ? TRACE_VERDICT_REPLAYED : TRACE_VERDICT_REFUSED;
    end else if (finish_i) begin
      unique case (stop_i)
        STOP_WHOLE:   verdict = engine_i ? TRACE_VERDICT_ENGINE : TRACE_VERDICT_PLACED;
        STOP_PARTIAL: verdict = TRACE_VERDICT_PARTIAL;
        STOP_ERROR:   verdict = TRACE_VERDICT_ERROR;
        default:      ;  // discarded behind one that did not end whole, or no room for more reports
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
      trace_o.valid  <= finish_i || direct_i;
      trace_o.kind   <= dropped_i && !replay_i ? 4'(TRACE_KIND_FRAME_DROPPED) : 4'(TRACE_KIND_VERDICT);
      trace_o.detail <= !dropped_i || replay_i ? verdict : why;
      trace_o.flow   <= known_i ? flow_i : NO_FLOW;
      trace_o.value  <= tcp_i && !dropped_i ? seq_i : '0;
      trace_o.info   <= frame_len_i;
    end
  end

endmodule
