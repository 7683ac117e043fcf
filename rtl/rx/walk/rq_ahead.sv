// Receive elements of every flow on chip: ELEMENTS from the one a flow used last, in block RAM by flow.
//
// Handshake: `here_o` and `element_o` follow flow and MSN by three cycles; `awaited_o`: the element is being read. `attach_i`, `place_i`, `tail_i` are
//            pulses and always taken. `req_*` is ready/valid, a request is one element; `answer_i` is a pulse, in the order of the requests, and
//            never with `stall_o`.
// Pipeline:  stage     | registers          | what happens                                    | hazards
//            look      | u_elements         | the flow's slot for the MSN is read             | collides_q: it is written in that cycle
//            look + 1  | looked_*, element_q | its MSN and the element arrive
//            look + 2  | here_q             | and is compared
//            place     | u_places           | where the flow is, and its queue, is stored     | a flush of the flow drops it
//            Idle      | u_places           | the next flow is taken, its place is read       | none in the cycle of a flush
//            Latch     | from_q, asked_q   | place, tail, and what was asked for before       | a flush of this flow ends it, here and below
//            Compare   | beyond_q           | how far that was
//            Choose    | next_q, left_q     | the first one to ask for, and how many
//            Check     | there_q            | whether it is posted; the last one not while a flow waits
//            Ask       | ask_*              | asked, then the next one; else u_next            | waits until the request before has left
//            ask       | u_ask              | slot of the queue, its address                  | u_reads has READS at most
//            answer    | u_reads, u_elements | the element is stored with its MSN             | dropped if failed, or flushed since
// Why:       rq_element reads far ahead for a few flows. Any other flow finds its next elements here, so that none waits for host memory in its turn.
//            A flow is looked at when it becomes the card's, when it has used an element from here, when rq_element gives its context to another flow,
//            and at RQ_TAIL.
//            An element that is used for the last time gives its slot to the one ELEMENTS behind it. It is kept for a message's next FPDU otherwise.
//            Few flows in turn need that one; many at once need their next ones sooner.
//            A flow that gets a context is forgotten: its MSNs may come round to what was kept of it.
//            What is not done costs time alone: an element that is not here is read when it is wanted.
//            `flush_i` forgets all of a flow (rq_forget).

`include "weft_assert.svh"

module rq_ahead
  import weft_card_pkg::*;
  import walk_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256,
  parameter int unsigned READS     = 32,   // in flight, at most
  parameter int unsigned ELEMENTS  = 4     // of a flow
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             [15:0] flow_i,
  input  logic             [31:0] msn_i,
  output logic                    here_o,
  output logic                    awaited_o,
  output receive_element_t        element_o,

  input  rq_place_t   place_i,        // the flow uses this element
  input  logic        place_ahead_i,  // from here, not from a context
  input  logic        place_last_i,   // for the last time
  input  rq_place_t   attach_i,       // the flow becomes the card's, with this MSN
  input  flow_pulse_t evict_i,        // the flow has lost its context
  input  flow_pulse_t take_i,         // the flow has got one: what is here of it is forgotten
  output logic        taking_o,       // it is being forgotten: no other one is taken
  input  rq_tail_t    tail_i,
  input  flow_pulse_t flush_i,

  output logic         req_valid_o,
  input  logic         req_ready_i,
  output logic [ 63:0] req_addr_o,
  input  logic         answer_i,
  input  logic         answer_failed_i,
  input  logic [511:0] answer_element_i,
  output logic         stall_o,

  input  logic mark_i,
  output logic marked_o,  // requests from before the mark are not answered
  output logic idle_o
);
  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);
  localparam int unsigned SLOT_W = $clog2(ELEMENTS);

  typedef logic [FLOW_W-1:0] flow_t;
  typedef logic [SLOT_W-1:0] slot_t;
  typedef struct packed {
    logic [63:0] base;
    logic [7:0]  log2;
  } queue_t;
  typedef struct packed {
    logic             valid;
    logic [31:0]      msn;
    receive_element_t element;
  } stored_t;
  typedef struct packed {
    logic        valid;
    logic [31:0] msn;    // those before it were asked for
  } next_t;

  // ------------------------------------------------------------------ forgetting
  logic flush_q, clear_q, gone_q, forgets, forget_busy;
  flow_t                     gone_flow_q;
  logic  [FLOW_W+SLOT_W-1:0] forget_at;
  rq_forget #(
    .NUM_FLOWS(NUM_FLOWS),
    .ELEMENTS (ELEMENTS)
  ) u_forget (
    .clk_i,
    .rst_ni,
    .flush_i,
    .take_i,
    .taking_o,
    .clears_o   (clear_q),
    .flush_o    (flush_q),
    .gone_o     (gone_q),
    .gone_flow_o(gone_flow_q),
    .forgets_o  (forgets),
    .at_o       (forget_at),
    .busy_o     (forget_busy)
  );
  assign stall_o = forgets || gone_q;

  // ------------------------------------------------------------------ look
  logic [FLOW_W+SLOT_W-1:0] look_at, store_at, answer_at;
  stored_t looked, stored;
  logic store, collides, here_q, taken, looked_valid_q;
  logic             [ 1:0] collides_q;
  logic             [31:0] looked_msn_q;
  receive_element_t        element_q;
  assign look_at  = {flow_t'(flow_i), slot_t'(msn_i)};
  // Both are compared before it is known whether an answer comes.
  assign collides = (forgets && forget_at == look_at) || (taken && answer_at == look_at);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) here_q <= 1'b0;
    else here_q <= looked_valid_q && looked_msn_q == msn_i && collides_q == '0 && !forgets;
  end
  always_ff @(posedge clk_i) begin
    collides_q     <= {collides_q[0], collides};
    looked_valid_q <= looked.valid;
    looked_msn_q   <= looked.msn;
    element_q      <= looked.element;
  end
  assign here_o    = here_q;
  assign element_o = element_q;

  ram_1r1w #(
    .WIDTH ($bits(stored_t)),
    .DEPTH (NUM_FLOWS * ELEMENTS),
    .UNSEEN(1'b1)
  ) u_elements (
    .clk_i,
    .we_i   (store),
    .waddr_i(store_at),
    .wdata_i(stored),
    .re_i   (1'b1),
    .raddr_i(look_at),
    .rdata_o(looked)
  );

  // ------------------------------------------------------------------ where each flow is
  logic flow_valid, flow_pop, evicted_next, known, context_has, places_idle;
  flow_t flow_next;
  logic [31:0] first, posted;
  logic   [SLOT_W:0] most;
  queue_t            queue;
  rq_places #(
    .NUM_FLOWS(NUM_FLOWS),
    .ELEMENTS (ELEMENTS)
  ) u_places (
    .clk_i,
    .rst_ni,
    .place_i,
    .place_ahead_i,
    .place_last_i,
    .attach_i,
    .evict_i,
    .tail_i,
    .clears_i     (clear_q),
    .clear_flow_i (forget_at[SLOT_W+:FLOW_W]),
    .flush_i      (flush_q),
    .gone_flow_i  (gone_flow_q),
    .flow_valid_o (flow_valid),
    .flow_ready_i (flow_pop),
    .flow_o       (flow_next),
    .evicted_o    (evicted_next),
    .known_o      (known),
    .context_has_o(context_has),
    .msn_o        (first),
    .left_o       (most),
    .rq_base_o    (queue.base),
    .rq_log2_o    (queue.log2),
    .posted_o     (posted),
    .idle_o       (places_idle)
  );

  // ------------------------------------------------------------------ which of its elements are to be read
  typedef enum logic [2:0] {
    Idle,
    Latch,
    Compare,
    Choose,
    Check,
    Ask
  } fill_e;
  fill_e  fill_q;
  flow_t  of_q;
  queue_t queue_q;
  next_t next, asked_q;
  logic evicted_q, known_q, has_q, far_q, there_q, more, was_asked, ask_take, ask_held, gone, done;
  logic [31:0] posted_q, from_q, next_q, beyond, behind;
  logic [SLOT_W:0] most_q, beyond_q, left_q;  // elements from next_q on
  assign flow_pop  = fill_q == Idle && flow_valid && !stall_o && !flush_i.valid;
  assign gone      = gone_q && of_q == gone_flow_q;
  // What was asked for before is skipped, if that was of these elements.
  assign beyond    = asked_q.msn - from_q;
  assign was_asked = !far_q && beyond_q <= most_q;
  // The last one waits until no other flow does.
  assign more      = left_q > (SLOT_W + 1)'(most_q[SLOT_W] && flow_valid);
  // Element n is posted if the tail is n or beyond.
  assign behind    = posted_q - next_q;
  assign ask_take  = fill_q == Ask && there_q && !ask_held && !stall_o && !gone;
  assign done      = fill_q == Ask && !there_q && !gone && !stall_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fill_q <= Idle;
    else begin
      unique case (fill_q)
        Idle:    if (flow_pop) fill_q <= Latch;
        Latch:   fill_q <= Compare;
        Compare: fill_q <= known_q && (!has_q || evicted_q) ? Choose : Idle;
        Choose:  fill_q <= Check;
        Check:   fill_q <= Ask;
        default: begin
          if (ask_take) fill_q <= Check;
          if (done) fill_q <= Idle;
        end
      endcase
      if (gone) fill_q <= Idle;
    end
  end
  always_ff @(posedge clk_i) begin
    if (flow_pop) begin
      of_q      <= flow_next;
      evicted_q <= evicted_next;
    end
    if (fill_q == Latch) begin
      queue_q  <= queue;
      from_q   <= first;
      most_q   <= most;
      asked_q  <= next;
      known_q  <= known;
      has_q    <= context_has;
      posted_q <= posted;
    end
    far_q    <= !asked_q.valid || beyond[31:SLOT_W+1] != '0;
    beyond_q <= beyond[SLOT_W:0];
    there_q  <= more && !behind[31];
    if (fill_q == Choose) begin
      next_q <= was_asked ? asked_q.msn : from_q;
      left_q <= most_q - (was_asked ? beyond_q : '0);
    end else if (ask_take) begin
      next_q <= next_q + 32'd1;
      left_q <= left_q - 1'b1;
    end
  end

  ram_1r1w #(
    .WIDTH($bits(next_t)),
    .DEPTH(NUM_FLOWS)
  ) u_next (
    .clk_i,
    .we_i   (clear_q || gone_q || done),
    .waddr_i(clear_q ? forget_at[SLOT_W+:FLOW_W] : gone_q ? gone_flow_q : of_q),
    .wdata_i({!clear_q && !gone_q, next_q}),
    .re_i   (flow_pop),
    .raddr_i(flow_next),
    .rdata_o(next)
  );

  // ------------------------------------------------------------------ the request
  logic leaves, read_room;
  flow_t        ask_flow;
  logic  [31:0] ask_msn;
  assign leaves = req_valid_o && req_ready_i;
  rq_ask #(
    .FLOW_W(FLOW_W)
  ) u_ask (
    .clk_i,
    .rst_ni,
    .take_i     (ask_take),
    .take_flow_i(of_q),
    .take_msn_i (next_q),
    .rq_base_i  (queue_q.base),
    .rq_log2_i  (queue_q.log2),
    .gone_i     (gone_q),
    .gone_flow_i(gone_flow_q),
    .room_i     (read_room),
    .held_o     (ask_held),
    .flow_o     (ask_flow),
    .msn_o      (ask_msn),
    .req_valid_o,
    .req_ready_i,
    .req_addr_o
  );

  // ------------------------------------------------------------------ reads in flight, and their answers
  logic         reads_idle;
  logic  [31:0] answer_msn;
  flow_t        answer_flow;
  rq_reads #(
    .FLOW_W(FLOW_W),
    .SLOT_W(SLOT_W),
    .READS (READS)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .flow_i       (flow_t'(flow_i)),
    .slot_i       (slot_t'(msn_i)),
    .awaited_o,
    .leaves_i     (leaves),
    .ask_flow_i   (ask_flow),
    .ask_msn_i    (ask_msn),
    .room_o       (read_room),
    .gone_i       (gone_q),
    .gone_flow_i  (gone_flow_q),
    .answer_i,
    .answer_failed_i,
    .taken_o      (taken),
    .answer_flow_o(answer_flow),
    .answer_msn_o (answer_msn),
    .mark_i,
    .marked_o,
    .idle_o       (reads_idle)
  );
  assign answer_at = {answer_flow, slot_t'(answer_msn)};
  assign store     = forgets || taken;
  assign store_at  = forgets ? forget_at : answer_at;
  assign stored    = '{valid: !forgets, msn: answer_msn, element: answer_element_i};

  assign idle_o    = !forget_busy && places_idle && fill_q == Idle && !ask_held && reads_idle;

  logic unused;
  assign unused = ^{flow_i, behind[30:0]};

  if ((1 << FLOW_W) != NUM_FLOWS || NUM_FLOWS < 2 || FLOW_W > 16) begin : gen_param_check
    $error("rq_ahead: NUM_FLOWS must be a power of two, 2 to 65536");
  end
  `WEFT_ASSERT(none_while_forgetting, stall_o -> !answer_i)
endmodule
