// Reads receive elements from the flows' receive queues in host memory, and reads ahead.
//
// Handshake: `want_i` is held with flow, MSN and tail until `here_o`; `element_o` and `error_o` are valid with `here_o`. `flow_i` is valid three
//            cycles before `want_i`, `msn_i` two. `last_i`: the element is not wanted again. One cycle to the element used last, two to one read
//            ahead. `flush_i` and `tail_*` are pulses. `mark_i`: `marked_o` until the reads then in flight are answered.
// Pipeline:  stage    | registers               | what happens                                             | hazards
//            want - 3 | match_q                 | the flow's context
//            want - 2 | near_q, had_q, target_q | its first MSN; if none, a context to replace (rq_oldest)
//            want - 1 | same_q, into_q, fits_q  | the wanted one is at the output; has been read           | sure_q: nothing changed meanwhile
//            want     | held_q                  | here; else from rq_answer (`in_window`) or `miss`
//            rq_fetch | see there               | the contexts in turn: what to read next, one with a miss first
//            answer   | rq_answer               | elements are stored, count_q grows                       | takes effect a cycle late
// Why:       The element used last is kept, so a message of many FPDUs reads its element once. Those posted behind it are read ahead, so a stream of
//            short Sends does not wait for host memory. CONTEXTS flows have that. Any other flow finds its next elements in rq_ahead; it gets a context
//            when one of those is not there, or is still being read while a context is idle. A miss holds up the walk until it is read.
//            Only posted elements are read ahead; `tail_*` says how many, for a flow with a context. When such a read fails, its elements are read
//            one by one, so an error affects only its own. An element that could not be read is forgotten with the end of `want_i`, so the next user
//            tries again. All have up to EACH reads ahead in flight; behind a failed one its are not taken.
//            `flush_i` forgets all of a flow, as its queue may be set up anew. It takes effect a cycle later. With `once_i` the queue is the one of
//            before: nothing is read ahead, nothing is kept.

`include "weft_assert.svh"

module rq_element
  import weft_card_pkg::*;
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned CONTEXTS  = 8,
  parameter  int unsigned NUM_FLOWS = 256,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                    want_i,
  input  logic                    once_i,
  input  logic             [15:0] flow_i,
  input  logic             [31:0] msn_i,
  input  logic                    last_i,
  input  logic             [31:0] posted_i,
  input  logic             [63:0] rq_base_i,
  input  logic             [ 7:0] rq_log2_i,
  output logic                    here_o,
  output logic                    error_o,
  output receive_element_t        element_o,
  input  logic                    tail_valid_i,
  input  logic             [15:0] tail_flow_i,
  input  logic             [31:0] tail_value_i,
  input  logic                    flush_i,
  input  logic             [15:0] flush_flow_i,
  input  logic                    attach_valid_i,
  input  logic             [15:0] attach_flow_i,
  input  logic             [31:0] attach_msn_i,
  input  logic             [63:0] attach_rq_base_i,
  input  logic             [ 7:0] attach_rq_log2_i,
  input  logic                    mark_i,
  output logic                    marked_o,

  output logic               el_req_valid_o,
  input  logic               el_req_ready_i,
  output logic [       63:0] el_req_addr_o,
  output logic [       15:0] el_req_bytes_o,
  input  logic               el_rsp_valid_i,
  output logic               el_rsp_ready_o,
  input  logic [ DATA_W-1:0] el_rsp_data_i,
  input  logic [COUNT_W-1:0] el_rsp_count_i,
  input  logic               el_rsp_last_i,
  input  logic               el_rsp_error_i,

  output logic idle_o
);
  localparam int unsigned SLOTS = 64;  // elements of a context
  localparam int unsigned EACH = 5;  // reads ahead in flight, of all contexts: more would hold those of rq_ahead up
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS);
  localparam int unsigned SLOT_W = $clog2(SLOTS);
  localparam int unsigned EACH_W = $clog2(EACH + 1);

  typedef logic [CONTEXT_W-1:0] context_t;

  // The element at the memory's output.
  logic held_q, held_error_q;
  logic [15:0] held_flow_q;
  logic [31:0] held_msn_q;

  // For each context its flow, and the elements [base, base + count) of its queue that were read. Base, and what is being read, are in rq_fetch.
  logic [CONTEXTS-1:0] valid_q, alone_q, once_q, reading_q, stale_q;
  logic [CONTEXTS-1:0][EACH_W-1:0] reads_q, marked_q;  // in flight; of these, from before the mark
  logic [CONTEXTS-1:0][    15:0] flow_q;
  logic [CONTEXTS-1:0][SLOT_W:0] count_q;

  // ------------------------------------------------------------------ the wanted element
  logic known, in_window, miss, take_miss, room, flush_q, ahead, idle, idle_q, aged_q;
  logic ahead_here, ahead_awaited, ahead_taking, near, same, absent, ahead_used;  // of rq_ahead; near: the element is there
  logic [CONTEXTS-1:0] match, match_q;  // the flow's context
  context_t current, victim;

  always_comb begin
    current = '0;
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      match[i] = valid_q[i] && flow_q[i] == flow_i;
      if (match_q[i]) current = current | context_t'(i);
    end
  end

  rq_oldest #(
    .CONTEXTS(CONTEXTS)
  ) u_oldest (
    .clk_i,
    .rst_ni,
    .used_i        (in_window),
    .used_context_i(current),
    .waits_i       (reading_q),
    .found_o       (room),
    .oldest_o      (victim),
    .count_i       (in_window || ahead_used),
    .idle_o        (idle)
  );

  // Worked out a cycle before: whether the element is at the memory's output (`same_q`), and its distance from the context's first element
  // (`into_q`). Also whether it was read (`fits_q`, by base and count of one more cycle ago). Also whether there is a context (`had_q`), or which
  // one may be used. `sure_q`: nothing has changed since; `fit_q`: but for elements that came, so that what was there still is.
  logic old_q;  // `once_i` of the cycle before: a flush takes effect as late
  logic same_q, fits_q, free_q, had_q, calm, fit_q, sure_q, ends, ends_q, close;
  context_t target_q;
  logic [31:0] near_q, base;  // the context's base, of a cycle ago and now
  logic [  SLOT_W:0] near_count_q;  // and its count
  logic [ 31:SLOT_W] far;
  logic [SLOT_W-1:0] into_q;
  logic [  SLOT_W:0] into;
  assign into       = {1'b0, msn_i[SLOT_W-1:0]} - {1'b0, near_q[SLOT_W-1:0]};
  // Whether base and MSN agree in the upper bits, the carry of the lower ones included: each bit follows from those at its right.
  assign far        = near_q[31:SLOT_W] ^ msn_i[31:SLOT_W] ^ {near_q[30:SLOT_W] & ~msn_i[30:SLOT_W], into[SLOT_W]};
  assign close      = far == '0;
  assign known      = (match_q & valid_q) != '0;
  // A flow with a context is served by it, so that it reads on ahead. By the queue of before nothing of rq_ahead is used.
  assign near       = ahead_here && !old_q && !had_q;
  assign same       = held_q && same_q;
  assign ahead_used = want_i && near && !same;
  assign here_o     = want_i && (same || near);
  assign in_window  = want_i && !same && had_q && fits_q && fit_q && !ends;
  // An element that rq_ahead is reading is waited for, unless a context is idle: the flow may stay then.
  assign absent     = had_q ? !fits_q : old_q || (!ahead_here && (!ahead_awaited || idle_q));
  assign miss       = want_i && !same && absent && take_miss && free_q && sure_q && aged_q;
  assign calm       = !in_window && !miss && !flush_i && !flush_q && !((once_q & valid_q) != '0 && !want_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {fit_q, sure_q} <= '0;
    else {fit_q, sure_q} <= {calm, calm && !ahead && !ends && !ends_q};
  end
  always_ff @(posedge clk_i) begin
    same_q       <= in_window || miss || (held_flow_q == flow_i && held_msn_q == msn_i);
    near_q       <= base;
    near_count_q <= count_q[current];
    ends_q       <= ends;
    into_q       <= into[SLOT_W-1:0];
    fits_q       <= had_q && close && {1'b0, into[SLOT_W-1:0]} < near_count_q;
    free_q       <= known ? !reading_q[current] : room && !ahead_taking;
    had_q        <= known;
    idle_q       <= idle;
    aged_q       <= want_i;  // rq_ahead answers a cycle late
    old_q        <= once_i;
    target_q     <= known ? current : victim;
  end

  // A flush takes effect a cycle later, in which nothing else happens; what began with it counts as before it.
  logic [15:0] flush_flow_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flush_q <= 1'b0;
    else flush_q <= flush_i;
  end
  always_ff @(posedge clk_i) begin
    flush_flow_q <= flush_flow_i;
  end

  // ------------------------------------------------------------------ reads
  rq_place_t place, attach;
  rq_tail_t tail;
  logic ahead_ask, ahead_ready, ahead_stall, ahead_ends, ahead_failed, ahead_marked, ahead_idle, failed, demanded, resting, mark_q;
  context_t of, ended;  // the read ahead that is asked for; the one that is answered
  logic [  3:0] gain;
  logic [ 63:0] ahead_addr;
  logic [511:0] ahead_arrived;
  receive_element_t ahead_element, context_element;

  rq_fetch #(
    .DATA_W  (DATA_W),
    .CONTEXTS(CONTEXTS),
    .SLOTS   (SLOTS),
    .EACH    (EACH)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .valid_i        (valid_q),
    .alone_i        (alone_q),
    .reading_i      (reading_q),
    .flow_i         (flow_q),
    .want_i,
    .want_msn_i     (msn_i[SLOT_W-1:0]),
    .match_i        (match_q),
    .current_i      (current),
    .used_i         (in_window),
    .into_i         (into_q),
    .miss_i         (miss),
    .target_i       (target_q),
    .msn_i          (held_msn_q),
    .posted_i,
    .rq_base_i,
    .rq_log2_i,
    .base_o         (base),
    .tail_i         (tail),
    .flush_i,
    .flush_late_i   (flush_q),
    .take_miss_o    (take_miss),
    .ahead_o        (ahead),
    .ahead_of_o     (of),
    .other_valid_i  (ahead_ask),
    .other_ready_o  (ahead_ready),
    .other_addr_i   (ahead_addr),
    .other_stall_i  (ahead_stall),
    .other_ends_o   (ahead_ends),
    .other_failed_o (ahead_failed),
    .other_element_o(ahead_arrived),
    .el_req_valid_o,
    .el_req_ready_i,
    .el_req_addr_o,
    .el_req_bytes_o,
    .rest_o         (resting),
    .el_rsp_valid_i,
    .el_rsp_ready_o,
    .el_rsp_data_i,
    .el_rsp_last_i,
    .el_rsp_error_i,
    .ends_o         (ends),
    .failed_o       (failed),
    .demanded_o     (demanded),
    .ended_o        (ended),
    .gain_o         (gain),
    .element_o      (context_element)
  );

  assign element_o = near ? ahead_element : context_element;
  assign place     = {(in_window || ahead_used || (miss && !had_q)) && !old_q, flow_i, msn_i, rq_base_i, rq_log2_i};
  assign attach    = {attach_valid_i, attach_flow_i, attach_msn_i, attach_rq_base_i, attach_rq_log2_i};
  assign tail      = {tail_valid_i, tail_flow_i, tail_value_i};

  rq_ahead #(
    .NUM_FLOWS(NUM_FLOWS),
    .READS    (32)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .flow_i,
    .msn_i,
    .here_o          (ahead_here),
    .awaited_o       (ahead_awaited),
    .element_o       (ahead_element),
    .place_i         (place),
    .place_ahead_i   (ahead_used),
    .place_last_i    (last_i),
    .attach_i        (attach),
    .evict_i         ({miss && !had_q && valid_q[target_q], flow_q[target_q]}),
    .take_i          ({miss && !had_q && !old_q, flow_i}),
    .taking_o        (ahead_taking),
    .tail_i          (tail),
    .flush_i         ({flush_i, flush_flow_i}),
    .req_valid_o     (ahead_ask),
    .req_ready_i     (ahead_ready),
    .req_addr_o      (ahead_addr),
    .answer_i        (ahead_ends),
    .answer_failed_i (ahead_failed),
    .answer_element_i(ahead_arrived),
    .stall_o         (ahead_stall),
    .mark_i          (mark_q),
    .marked_o        (ahead_marked),
    .idle_o          (ahead_idle)
  );

  // ------------------------------------------------------------------ state
  // A read begins with its miss, or as it is asked ahead; it ends with its answer. A context with a miss has no other one.
  logic [CONTEXTS-1:0] grows, finishes, last;
  always_comb begin
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      grows[i]    = ahead && of == context_t'(i);
      finishes[i] = ends && ended == context_t'(i);
      last[i]     = finishes[i] && !grows[i] && reads_q[i] == EACH_W'(1);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      alone_q      <= '0;
      once_q       <= '0;
      reading_q    <= '0;
      reads_q      <= '0;
      stale_q      <= '0;
      marked_q     <= '0;
      match_q      <= '0;
      held_q       <= 1'b0;
      held_error_q <= 1'b0;
      count_q      <= '0;
      mark_q       <= 1'b0;
    end else begin
      mark_q  <= mark_i;
      match_q <= miss ? CONTEXTS'(1) << target_q : match;

      if (!want_i && (held_error_q || (once_q & valid_q) != '0)) begin
        held_q       <= 1'b0;
        held_error_q <= 1'b0;
      end
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        // Elements before the wanted one are used up.
        if (in_window && match_q[i]) count_q[i] <= count_q[i] - {1'b0, into_q};
        if (finishes[i] && !failed && !stale_q[i]) count_q[i] <= count_q[i] + (SLOT_W + 1)'(gain);
        if (once_q[i] && !want_i) valid_q[i] <= 1'b0;
        if (grows[i] != finishes[i]) reads_q[i] <= grows[i] ? reads_q[i] + 1'b1 : reads_q[i] - 1'b1;
        if (grows[i] || last[i]) reading_q[i] <= grows[i];
        if (mark_q) marked_q[i] <= reads_q[i] - EACH_W'(finishes[i]);
        else if (finishes[i] && marked_q[i] != '0) marked_q[i] <= marked_q[i] - 1'b1;
        // What was asked behind a failed one is not taken.
        if (last[i]) stale_q[i] <= 1'b0;
        else if (finishes[i] && failed) stale_q[i] <= 1'b1;
      end
      if (in_window) begin
        held_q       <= 1'b1;
        held_error_q <= 1'b0;
      end
      if (ends && failed && !stale_q[ended]) begin
        alone_q[ended] <= 1'b1;
        if (demanded) begin
          held_q       <= 1'b1;
          held_error_q <= 1'b1;
        end
      end
      if (miss) begin
        held_q              <= 1'b0;
        count_q[target_q]   <= '0;
        reads_q[target_q]   <= EACH_W'(1);
        reading_q[target_q] <= 1'b1;
        valid_q[target_q]   <= 1'b1;
        once_q[target_q]    <= old_q;
        if (!had_q) alone_q[target_q] <= old_q;
      end
      if (flush_q && held_flow_q == flush_flow_q) begin
        held_q       <= 1'b0;
        held_error_q <= 1'b0;
      end
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        if (flush_q && valid_q[i] && flow_q[i] == flush_flow_q) begin
          valid_q[i] <= 1'b0;
          count_q[i] <= '0;
          stale_q[i] <= reading_q[i] && !last[i];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_window || miss) begin
      held_flow_q <= flow_i;
      held_msn_q  <= msn_i;
    end
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      if (miss && target_q == context_t'(i)) flow_q[i] <= flow_i;
    end
  end

  assign error_o  = held_error_q && same_q;
  assign marked_o = mark_q || marked_q != '0 || ahead_marked;
  assign idle_o   = resting && reading_q == '0 && ahead_idle;

  logic unused;
  assign unused = ^el_rsp_count_i;

  if (CONTEXTS < 2 || (1 << CONTEXT_W) != CONTEXTS) begin : gen_param_check
    $error("rq_element: CONTEXTS must be a power of two from 2 up");
  end
  `WEFT_ASSERT(ahead_of_room, ahead -> !miss && valid_q[of] && 32'(reads_q[of]) < EACH)
  `WEFT_ASSERT(miss_of_target, miss -> !reading_q[target_q] && target_q == (known ? current : victim) && had_q == known)
  `WEFT_ASSERT(flush_alone, flush_q -> !in_window && !miss && !ahead)
  // What was worked out the cycle before is of the element wanted now.
  `WEFT_ASSERT(one_match, in_window -> $onehot(match_q))
  `WEFT_ASSERT(same_told, want_i && held_q -> same_q == (held_flow_q == flow_i && held_msn_q == msn_i))
  `WEFT_ASSERT(had_told, want_i && sure_q -> had_q == known)
  `WEFT_ASSERT(ends_alone, ends -> reading_q[ended] && !in_window)
  `WEFT_ASSERT(one_context, $onehot0(match) && $onehot0(match_q))
  `WEFT_ASSERT(
      fits_told,
      want_i && known && count_q[current] != '0 && sure_q && !here_o -> flow_q[current] == flow_i && fits_q == (msn_i - base < 32'(count_q[current])))
  `WEFT_ASSERT(into_told, want_i && known && count_q[current] != '0 && in_window -> into_q == msn_i[SLOT_W-1:0] - base[SLOT_W-1:0])
  for (genvar i = 0; i < int'(CONTEXTS); i++) begin : gen_count_in_range
    `WEFT_ASSERT(count_in_range, 32'(count_q[i]) <= SLOTS)
    `WEFT_ASSERT(count_below_upto, valid_q[i] && !u_fetch.missed_q[i] -> alone_q[i] || count_q[i] <= u_fetch.upto_q[i])
    `WEFT_ASSERT(reads_counted, reading_q[i] == (reads_q[i] != '0) && marked_q[i] <= reads_q[i])
  end
endmodule
