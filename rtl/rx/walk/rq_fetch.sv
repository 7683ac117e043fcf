// Reads for rq_element's contexts: where each is in its receive queue, what to read next, and the elements that were read (rq_answer).
//
// Handshake: `used_i`, `miss_i`, `tail_i` are pulses; so are `ahead_o`, a read that nobody waits for, and `ends_o`, the answer of a context's read. A
//            miss is taken while `take_miss_o`. `other_*` is ready/valid, and goes between the contexts.
// Pipeline:  stage   | registers         | what happens                                     | hazards
//            Look    | of_q              | a context is selected, one with a miss first     | demand_q
//            Step1-4 | rq_request        | what to read next, and its address               | changed_q: a read ahead is abandoned
//            Ask     | req_valid_q       | the read is requested                            | waits for the request before
//            tail    | told_q            | RQ_TAIL of a flow with a context, a cycle late
//            answer  | rq_answer         | elements are stored                              | takes effect a cycle late
//            fields  | used_q, missed_q  | base, queue and tail follow their use by a cycle | selecting takes another one
// Why:       A context's fields follow a miss by a cycle; selecting it takes another one. So does the base: it is used only if the wanted element is not
//            the one used last, so never in the cycle behind a use.
//            All contexts have up to EACH reads in flight: more would hold those of rq_ahead up.

`include "weft_assert.svh"

module rq_fetch
  import walk_pkg::*;
  import weft_card_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned CONTEXTS  = 8,
  parameter  int unsigned SLOTS     = 64,                // elements of a context
  parameter  int unsigned EACH      = 5,                 // reads in flight, of all contexts
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS),
  localparam int unsigned SLOT_W    = $clog2(SLOTS)
) (
  input logic clk_i,
  input logic rst_ni,

  // Of each context.
  input logic [CONTEXTS-1:0]       valid_i,
  input logic [CONTEXTS-1:0]       alone_i,    // nothing is read ahead
  input logic [CONTEXTS-1:0]       reading_i,
  input logic [CONTEXTS-1:0][15:0] flow_i,

  // The wanted element.
  input  logic                 want_i,
  input  logic [   SLOT_W-1:0] want_msn_i,  // low bits
  input  logic [ CONTEXTS-1:0] match_i,     // its flow's context
  input  logic [CONTEXT_W-1:0] current_i,   // the same
  input  logic                 used_i,      // it was read: the context goes on to it
  input  logic [   SLOT_W-1:0] into_i,      // with used_i: its distance from the base
  input  logic                 miss_i,      // it is to be read, for this context
  input  logic [CONTEXT_W-1:0] target_i,
  input  logic [         31:0] msn_i,       // of the element used or missed last
  input  logic [         31:0] posted_i,
  input  logic [         63:0] rq_base_i,
  input  logic [          7:0] rq_log2_i,
  output logic [         31:0] base_o,      // of context current_i: the first element kept

  input  rq_tail_t tail_i,
  input  logic     flush_i,
  input  logic     flush_late_i,  // the cycle in which it takes effect
  output logic     take_miss_o,

  output logic                 ahead_o,    // a read ahead is asked for
  output logic [CONTEXT_W-1:0] ahead_of_o, // for this context

  // Single elements of rq_ahead.
  input  logic         other_valid_i,
  output logic         other_ready_o,
  input  logic [ 63:0] other_addr_i,
  input  logic         other_stall_i,
  output logic         other_ends_o,
  output logic         other_failed_o,
  output logic [511:0] other_element_o,

  output logic              el_req_valid_o,
  input  logic              el_req_ready_i,
  output logic [      63:0] el_req_addr_o,
  output logic [      15:0] el_req_bytes_o,
  input  logic              el_rsp_valid_i,
  output logic              el_rsp_ready_o,
  input  logic [DATA_W-1:0] el_rsp_data_i,
  input  logic              el_rsp_last_i,
  input  logic              el_rsp_error_i,

  output logic                             ends_o,      // a context's read is answered
  output logic                             failed_o,    // with it, as the next three
  output logic                             demanded_o,  // it was that of a miss
  output logic             [CONTEXT_W-1:0] ended_o,
  output logic             [          3:0] gain_o,      // elements
  output receive_element_t                 element_o,   // the one that was used last
  output logic                             rest_o       // all contexts were selected since the last change
);
  localparam int unsigned CHUNK = 8;  // elements of a read, at most
  localparam int unsigned READS = 64;  // in flight, those of rq_ahead too

  typedef logic [CONTEXT_W-1:0] context_t;

  // ------------------------------------------------------------------ where each context is
  logic [CONTEXTS-1:0][31:0] base_q, posted_q;
  logic [CONTEXTS-1:0][SLOT_W:0] upto_q;  // elements from the base on that were asked for
  logic [CONTEXTS-1:0][    63:0] rq_base_q;
  logic [CONTEXTS-1:0][     7:0] rq_log2_q;

  // The new tail of a flow with a context, unless another flow takes the context.
  logic [CONTEXTS-1:0]           told_q;
  logic [        31:0]           told_value_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) told_q <= '0;
    else begin
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        told_q[i] <= tail_i.valid && valid_i[i] && flow_i[i] == tail_i.flow && !(miss_i && target_i == context_t'(i));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    told_value_q <= tail_i.value;
  end

  logic [CONTEXTS-1:0] used, used_q, missed_q, grows;
  logic asked, roomy;
  logic [SLOT_W-1:0] into_q, slot;
  logic [3:0] chunk, chunk_q;
  context_t scan_q, demand_of_q, of_q;
  always_comb begin
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      used[i]  = (used_i && match_i[i]) || (miss_i && target_i == context_t'(i));
      grows[i] = ahead_o && of_q == context_t'(i);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      missed_q <= '0;
      used_q   <= '0;
    end else begin
      missed_q <= miss_i ? CONTEXTS'(1) << target_i : '0;
      used_q   <= used;
    end
  end
  always_ff @(posedge clk_i) begin
    into_q <= into_i;
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      if (used_q[i]) base_q[i] <= msn_i;
      if (missed_q[i]) upto_q[i] <= (SLOT_W + 1)'(1);
      else upto_q[i] <= upto_q[i] - ((SLOT_W + 1)'(into_q) & {(SLOT_W + 1) {used_q[i]}}) + ((SLOT_W + 1)'(chunk) & {(SLOT_W + 1) {grows[i]}});
      if (told_q[i] || missed_q[i] || (want_i && match_i[i] && valid_i[i])) posted_q[i] <= told_q[i] ? told_value_q : posted_i;
      if (missed_q[i]) begin
        rq_base_q[i] <= rq_base_i;
        rq_log2_q[i] <= rq_log2_i;
      end
    end
  end
  assign base_o = base_q[current_i];

  // ------------------------------------------------------------------ one context after the other
  typedef enum logic [2:0] {
    Look,   // a context is selected; rq_request then takes four cycles
    Step1,
    Step2,
    Step3,
    Step4,
    Ask
  } look_e;
  look_e       look_q;
  logic        led_q;  // `scan_q` is of the element used last, and was not selected yet
  logic  [4:0] all_q;  // reads of contexts in flight
  logic demand_q, of_demand_q, changed_q, allowed_q, can_q, posted, due;
  logic [63:0] addr;

  rq_request #(
    .CHUNK (CHUNK),
    .SLOT_W(SLOT_W)
  ) u_request (
    .clk_i,
    .demand_i (of_demand_q),
    .base_i   (base_q[of_q]),
    .count_i  (upto_q[of_q]),
    .posted_i (posted_q[of_q]),
    .rq_base_i(rq_base_q[of_q]),
    .rq_log2_i(rq_log2_q[of_q]),
    .slot_o   (slot),
    .chunk_o  (chunk),
    .addr_o   (addr),
    .posted_o (posted)
  );

  // A miss is not taken in the cycle of a read ahead.
  assign take_miss_o   = !demand_q && look_q != Ask;
  assign other_ready_o = look_q != Ask && !el_req_valid_o && roomy;
  assign due           = look_q == Ask && !el_req_valid_o && (of_demand_q || !changed_q);
  assign ahead_o       = due && !of_demand_q && posted && can_q && !flush_late_i;
  assign asked         = ahead_o || (due && of_demand_q);
  assign ahead_of_o    = of_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      look_q         <= Look;
      demand_q       <= 1'b0;
      led_q          <= 1'b0;
      scan_q         <= '0;
      el_req_valid_o <= 1'b0;
      all_q          <= '0;
    end else begin
      unique case (look_q)
        Look:    look_q <= Step1;
        Step1:   look_q <= Step2;
        Step2:   look_q <= Step3;
        Step3:   look_q <= Step4;
        Step4:   look_q <= Ask;
        default: if (!el_req_valid_o) look_q <= Look;
      endcase
      if (miss_i) demand_q <= 1'b1;
      else if (look_q == Look) demand_q <= 1'b0;
      if (used_i) scan_q <= current_i;
      else if (look_q == Look && !demand_q) scan_q <= scan_q + 1'b1;
      else if (look_q == Ask && changed_q && !of_demand_q && !led_q) scan_q <= of_q;
      if (used_i) led_q <= 1'b1;
      else if (look_q == Look && !demand_q) led_q <= 1'b0;
      if (el_req_ready_i) el_req_valid_o <= 1'b0;
      if (asked || (other_valid_i && other_ready_o)) el_req_valid_o <= 1'b1;
      all_q <= all_q + 5'(asked) - 5'(ends_o);
    end
  end

  always_ff @(posedge clk_i) begin
    if (miss_i) demand_of_q <= target_i;
    // The selected context may have changed: a read ahead is abandoned.
    changed_q <= miss_i || (ends_o && failed_o) || flush_late_i || (look_q != Look && changed_q);
    if (look_q == Look) begin
      of_q        <= demand_q ? demand_of_q : scan_q;
      of_demand_q <= demand_q;
    end
    // Changes since then are in `changed_q`.
    can_q     <= allowed_q && valid_i[of_q] && roomy && 32'(all_q) < EACH;
    allowed_q <= !alone_i[of_q] && 32'(upto_q[of_q]) <= SLOTS - CHUNK;
    if (!el_req_valid_o) begin
      chunk_q       <= look_q != Ask ? 4'd1 : chunk;
      el_req_addr_o <= look_q != Ask ? other_addr_i : addr;
    end
  end
  assign el_req_bytes_o = {6'd0, chunk_q, 6'd0};

  rq_answer #(
    .DATA_W  (DATA_W),
    .CONTEXTS(CONTEXTS),
    .SLOTS   (SLOTS),
    .READS   (READS)
  ) u_answer (
    .clk_i,
    .rst_ni,
    .read_i         (asked),
    .read_context_i (of_q),
    .read_demand_i  (of_demand_q),
    .read_chunk_i   (chunk),
    .read_slot_i    (slot),
    .read_ahead_i   (other_valid_i && other_ready_o),
    .roomy_o        (roomy),
    .ahead_stall_i  (other_stall_i),
    .ahead_ends_o   (other_ends_o),
    .ahead_failed_o (other_failed_o),
    .ahead_element_o(other_element_o),
    .rsp_valid_i    (el_rsp_valid_i),
    .rsp_ready_o    (el_rsp_ready_o),
    .rsp_data_i     (el_rsp_data_i),
    .rsp_last_i     (el_rsp_last_i),
    .rsp_error_i    (el_rsp_error_i),
    .ends_o         (ends_o),
    .ends_failed_o  (failed_o),
    .ends_demand_o  (demanded_o),
    .ends_context_o (ended_o),
    .ends_chunk_o   (gain_o),
    .look_i         (used_i),
    .look_context_i (current_i),
    .look_slot_i    (want_msn_i),
    .element_o
  );

  logic [CONTEXT_W:0] looked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) looked_q <= '0;
    else if (want_i || flush_i || tail_i.valid || told_q != '0 || reading_i != '0) looked_q <= '0;
    else if (!looked_q[CONTEXT_W] && due) looked_q <= looked_q + 1'b1;
  end
  assign rest_o = looked_q[CONTEXT_W];

  `WEFT_ASSERT(not_empty, el_req_valid_o -> chunk_q != 4'd0)
  `WEFT_ASSERT(demand_reads, due && of_demand_q -> reading_i[of_q])
  for (genvar i = 0; i < int'(CONTEXTS); i++) begin : gen_upto_in_range
    `WEFT_ASSERT(upto_in_range, valid_i[i] && !missed_q[i] -> 32'(upto_q[i]) <= SLOTS)
  end
endmodule
