// Reads receive elements from the flows' receive queues in host memory. The one used last is kept, so that a message of
// many FPDUs reads its element once, and those posted behind it are read ahead, so that a stream of short Sends does not
// wait for host memory each time. That is done for CONTEXTS flows, so that flows whose Sends come in turn do not cost each
// other a round trip; a further flow takes the place of the one that was used longest ago.
//
// The user holds `want_i` with flow, MSN and what is posted until `here_o`; `element_o` and `error_o` belong to what is
// wanted while `here_o`. `flow_i` is there at least three cycles before `want_i`, `msn_i` two. One cycle to the element used
// last, two to one read ahead. Elements are read ahead only as far as they were posted; when such a read fails, its elements are read one
// by one as they are wanted, so that an error hits only its own. An element that could not be read is forgotten when
// `want_i` ends, so that the next user tries again. A context has at most one read under way. A read takes six cycles to be
// asked for, and so does each look at a context for something to read ahead.
//
// `flush_i` forgets all of a flow (its queue may have been set up anew). With `once_i` the queue wanted is the one of before
// that: nothing is read ahead of it, nothing is kept. `mark_i`: `marked_o` until the reads under way then are answered.

module rq_element
  import weft_card_pkg::*;
#(
    parameter int unsigned DATA_W = 512,
    parameter int unsigned CONTEXTS = 8,
    localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic want_i,
    input logic once_i,
    input logic [15:0] flow_i,
    input logic [31:0] msn_i,
    input logic [31:0] posted_i,
    input logic [63:0] rq_base_i,
    input logic [7:0] rq_log2_i,
    output logic here_o,
    output logic error_o,
    output receive_element_t element_o,
    input logic flush_i,
    input logic [15:0] flush_flow_i,
    input logic mark_i,
    output logic marked_o,

    output logic el_req_valid_o,
    input logic el_req_ready_i,
    output logic [63:0] el_req_addr_o,
    output logic [15:0] el_req_bytes_o,
    input logic el_rsp_valid_i,
    output logic el_rsp_ready_o,
    input logic [DATA_W-1:0] el_rsp_data_i,
    input logic [COUNT_W-1:0] el_rsp_count_i,
    input logic el_rsp_last_i,
    input logic el_rsp_error_i,

    output logic idle_o
);
  localparam int unsigned SLOTS = 16;  // elements of a context, slot = low bits of the MSN
  localparam int unsigned CHUNK = 8;  // at most so many at once
  localparam int unsigned BEATS = 512 / DATA_W;
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS);

  typedef logic [CONTEXT_W-1:0] context_t;
  typedef struct packed {
    context_t   of;
    logic       demand;
    logic [3:0] chunk;
    logic [3:0] slot;
  } read_t;

  // The element at the memory's output.
  logic held_q, held_error_q;
  logic [15:0] held_flow_q;
  logic [31:0] held_msn_q;

  // For each context the flow, and the elements [base, base + count) of its queue that were read.
  logic [CONTEXTS-1:0] valid_q, alone_q, once_q, reading_q, stale_q, marked_q;
  logic [CONTEXTS-1:0][15:0] flow_q;
  logic [CONTEXTS-1:0][31:0] base_q, posted_q;
  logic [CONTEXTS-1:0][4:0] count_q;
  logic [CONTEXTS-1:0][63:0] rq_base_q;
  logic [CONTEXTS-1:0][7:0] rq_log2_q;
  logic [CONTEXTS-1:0][CONTEXTS-1:0] newer_q;  // [i][j]: i was used after j

  // ------------------------------------------------------------------ what is wanted
  logic known_q, known, in_window, miss, take_miss, found, room;
  context_t context_q, match, victim, target;

  always_comb begin
    match = '0;
    found = 1'b0;
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      if (valid_q[i] && flow_q[i] == flow_i) begin
        match = context_t'(i);
        found = 1'b1;
      end
    end
  end

  // Used longest ago of those that wait for nothing.
  always_comb begin
    victim = '0;
    room = 1'b0;
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      logic oldest;
      oldest = !reading_q[i];
      for (int unsigned j = 0; j < CONTEXTS; j++) begin
        if (i != j && !reading_q[j] && !newer_q[j][i]) oldest = 1'b0;
      end
      if (oldest) begin
        victim = context_t'(i);
        room = 1'b1;
      end
    end
  end

  // Where it is was found out the cycle before: `same_q`, `into_q`, and `victim_q`, which may have begun to read since.
  logic same_q, room_q;
  context_t victim_q;
  logic [31:0] into_q;
  assign known = known_q && valid_q[context_q];
  assign here_o = want_i && held_q && same_q;
  assign in_window = want_i && !here_o && known && into_q < 32'(count_q[context_q]);
  assign target = known ? context_q : victim_q;
  assign miss = want_i && !here_o && !in_window && take_miss && (known || room_q) && !reading_q[target];

  always_ff @(posedge clk_i) begin
    same_q <= in_window || miss || (held_flow_q == flow_i && held_msn_q == msn_i);
    into_q <= msn_i - base_q[context_q];
    victim_q <= victim;
    room_q <= room;
  end

  // ------------------------------------------------------------------ reads
  logic rsp_ends;
  // Looks at one context after the other, at one where an element is missed (`demand_q`) first.
  typedef enum logic [2:0] {
    LOOK,  // at a context; then rq_request takes four cycles
    STEP1,
    STEP2,
    STEP3,
    STEP4,
    ASK
  } look_e;
  look_e look_q;
  logic req_valid_q, ahead, asked, demand_q, of_demand_q, changed, changed_q, allowed_q, posted;
  context_t scan_q, demand_of_q, of_q;
  logic [3:0] chunk, chunk_q, slot;
  logic [63:0] addr, addr_q;

  rq_request #(
      .CHUNK(CHUNK)
  ) u_request (
      .clk_i,
      .demand_i(of_demand_q),
      .base_i(base_q[of_q]),
      .count_i(count_q[of_q]),
      .posted_i(posted_q[of_q]),
      .rq_base_i(rq_base_q[of_q]),
      .rq_log2_i(rq_log2_q[of_q]),
      .slot_o(slot),
      .chunk_o(chunk),
      .addr_o(addr),
      .posted_o(posted)
  );

  // What was looked at has changed: a look that was for reading ahead was in vain.
  assign changed = miss || rsp_ends || flush_i;
  // No element is missed in the cycle in which one may be read ahead.
  assign take_miss = !demand_q && look_q != ASK;
  assign asked = look_q == ASK && !req_valid_q && (of_demand_q || !changed_q);
  assign ahead = asked && !of_demand_q && allowed_q && posted && valid_q[of_q] && !reading_q[of_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      look_q <= LOOK;
      demand_q <= 1'b0;
      scan_q <= '0;
      req_valid_q <= 1'b0;
    end else begin
      unique case (look_q)
        LOOK: look_q <= STEP1;
        STEP1: look_q <= STEP2;
        STEP2: look_q <= STEP3;
        STEP3: look_q <= STEP4;
        STEP4: look_q <= ASK;
        default: if (!req_valid_q) look_q <= LOOK;
      endcase
      if (miss) demand_q <= 1'b1;
      else if (look_q == LOOK) demand_q <= 1'b0;
      if (in_window) scan_q <= context_q;
      else if (look_q == LOOK && !demand_q) scan_q <= scan_q + 1'b1;
      else if (look_q == ASK && changed_q && !of_demand_q) scan_q <= of_q;
      if (el_req_ready_i) req_valid_q <= 1'b0;
      if (ahead || (asked && of_demand_q)) req_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (miss) demand_of_q <= target;
    changed_q <= changed || (look_q != LOOK && changed_q);
    if (look_q == LOOK) begin
      of_q <= demand_q ? demand_of_q : scan_q;
      of_demand_q <= demand_q;
    end
    allowed_q <= !alone_q[of_q] && count_q[of_q] <= 5'(SLOTS - CHUNK);
    if (!req_valid_q) begin
      chunk_q <= chunk;
      addr_q <= addr;
    end
  end

  // Answers come in the order of the requests.
  read_t read_in, read;
  logic read_valid, order_ready;
  assign read_in = '{of: of_q, demand: of_demand_q, chunk: chunk, slot: slot};
  logic [$clog2(CONTEXTS+1)-1:0] reads;
  logic rsp_fire, element_ends, rsp_good, flushed;
  fifo_sync #(
      .WIDTH($bits(read_t)),
      .DEPTH(CONTEXTS)
  ) u_order (
      .clk_i,
      .rst_ni,
      .wr_valid_i(ahead || (asked && of_demand_q)),
      .wr_ready_o(order_ready),
      .wr_data_i(read_in),
      .rd_valid_o(read_valid),
      .rd_ready_i(rsp_ends),
      .rd_data_o(read),
      .count_o(reads)
  );

  logic [$clog2(BEATS+1)-1:0] beat_q;
  logic [3:0] arrived_q;
  logic [511:0] shifted, partial_q;
  if (DATA_W == 512) begin : gen_one_beat
    assign shifted = el_rsp_data_i;
    logic unused_partial;
    assign unused_partial = ^partial_q;
  end else begin : gen_beats
    assign shifted = {el_rsp_data_i, partial_q[511:DATA_W]};
    logic unused_partial;
    assign unused_partial = ^partial_q[DATA_W-1:0];
  end
  assign el_rsp_ready_o = read_valid;
  assign rsp_fire = el_rsp_valid_i && el_rsp_ready_o;
  assign element_ends = rsp_fire && 32'(beat_q) == BEATS - 1;
  assign rsp_ends = rsp_fire && el_rsp_last_i;
  assign flushed = stale_q[read.of] || (flush_i && flow_q[read.of] == flush_flow_i);
  assign rsp_good = rsp_ends && !el_rsp_error_i && !flushed;

  ram_1r1w #(
      .WIDTH(512),
      .DEPTH(CONTEXTS * SLOTS)
  ) u_slots (
      .clk_i,
      .we_i(element_ends),
      .waddr_i({read.of, read.slot + arrived_q}),
      .wdata_i(shifted),
      .re_i(in_window),
      .raddr_i({context_q, msn_i[3:0]}),
      .rdata_o(element_o)
  );

  // ------------------------------------------------------------------ state
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      alone_q <= '0;
      once_q <= '0;
      reading_q <= '0;
      stale_q <= '0;
      marked_q <= '0;
      known_q <= 1'b0;
      context_q <= '0;
      held_q <= 1'b0;
      held_error_q <= 1'b0;
      beat_q <= '0;
      arrived_q <= '0;
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        count_q[i] <= 5'd0;
        for (int unsigned j = 0; j < CONTEXTS; j++) newer_q[i][j] <= i > j;
      end
    end else begin
      context_q <= miss ? target : match;
      known_q <= miss || found;
      if (rsp_fire) beat_q <= element_ends ? '0 : beat_q + 1'b1;
      if (element_ends) arrived_q <= el_rsp_last_i ? 4'd0 : arrived_q + 4'd1;

      if (!want_i && (held_error_q || (once_q & valid_q) != '0)) begin
        held_q <= 1'b0;
        held_error_q <= 1'b0;
      end
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        // Elements before the one wanted now are over.
        count_q[i] <= count_q[i] - (in_window && context_q == context_t'(i) ? into_q[4:0] : 5'd0) +
                      (rsp_good && read.of == context_t'(i) ? 5'(read.chunk) : 5'd0);
        if (once_q[i] && !want_i) valid_q[i] <= 1'b0;
      end
      if (in_window) begin
        held_q <= 1'b1;
        held_error_q <= 1'b0;
        for (int unsigned j = 0; j < CONTEXTS; j++) begin
          newer_q[j][context_q] <= 1'b0;
          newer_q[context_q][j] <= context_t'(j) != context_q;
        end
      end
      if (rsp_ends) begin
        reading_q[read.of] <= 1'b0;
        stale_q[read.of] <= 1'b0;
        marked_q[read.of] <= 1'b0;
        if (el_rsp_error_i && !flushed) begin
          alone_q[read.of] <= 1'b1;
          if (read.demand) begin
            held_q <= 1'b1;
            held_error_q <= 1'b1;
          end
        end
      end
      if (miss) begin
        held_q <= 1'b0;
        count_q[target] <= 5'd0;
        valid_q[target] <= 1'b1;
        once_q[target] <= once_i;
        if (!known) alone_q[target] <= once_i;
      end
      if (miss) reading_q[target] <= 1'b1;
      if (ahead) reading_q[of_q] <= 1'b1;
      if (mark_i) begin
        for (int unsigned i = 0; i < CONTEXTS; i++) begin
          marked_q[i] <= (reading_q[i] && !(rsp_ends && read.of == context_t'(i))) ||
                         (miss && target == context_t'(i)) || (ahead && of_q == context_t'(i));
        end
      end
      if (flush_i) begin
        if ((in_window || miss ? flow_i : held_flow_q) == flush_flow_i) begin
          held_q <= 1'b0;
          held_error_q <= 1'b0;
        end
        for (int unsigned i = 0; i < CONTEXTS; i++) begin
          logic newly;
          newly = (miss && target == context_t'(i)) || (ahead && of_q == context_t'(i));
          if (valid_q[i] && flow_q[i] == flush_flow_i || miss && newly && flow_i == flush_flow_i) begin
            valid_q[i] <= 1'b0;
            count_q[i] <= 5'd0;
            stale_q[i] <= newly || (reading_q[i] && !(rsp_ends && read.of == context_t'(i)));
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_window) begin
      base_q[context_q] <= msn_i;
      held_flow_q <= flow_i;
      held_msn_q <= msn_i;
    end
    if (want_i && known) posted_q[context_q] <= posted_i;
    if (miss) begin
      held_flow_q <= flow_i;
      held_msn_q <= msn_i;
      flow_q[target] <= flow_i;
      base_q[target] <= msn_i;
      posted_q[target] <= posted_i;
      rq_base_q[target] <= rq_base_i;
      rq_log2_q[target] <= rq_log2_i;
    end
    if (rsp_fire) partial_q <= shifted;
  end

  // At rest when all contexts were looked at since something changed.
  logic [CONTEXT_W:0] looked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) looked_q <= '0;
    else if (want_i || flush_i || reading_q != '0) looked_q <= '0;
    else if (!looked_q[CONTEXT_W] && asked) looked_q <= looked_q + 1'b1;
  end

  assign error_o = held_error_q;
  assign marked_o = marked_q != '0;
  assign el_req_valid_o = req_valid_q;
  assign el_req_addr_o = addr_q;
  assign el_req_bytes_o = {6'd0, chunk_q, 6'd0};
  assign idle_o = looked_q[CONTEXT_W] && reading_q == '0;

  logic unused;
  assign unused = ^{el_rsp_count_i, order_ready, reads};

`ifndef SYNTHESIS
  if (CONTEXTS < 2 || (1 << CONTEXT_W) != CONTEXTS) begin : gen_param_check
    $error("rq_element: CONTEXTS must be a power of two from 2 up");
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      if (el_req_valid_o) assert (chunk_q != 4'd0);
      if (ahead || (asked && of_demand_q)) assert (order_ready);
      if (ahead) assert (!miss && !reading_q[of_q]);
      if (miss) assert (!reading_q[target]);
      if (asked && of_demand_q) assert (reading_q[of_q]);
      // What was found out the cycle before is of what is wanted now.
      if (want_i && held_q) assert (same_q == (held_flow_q == flow_i && held_msn_q == msn_i));
      if (want_i && known && count_q[context_q] != 5'd0) assert (here_o || (flow_q[context_q] == flow_i && into_q == msn_i - base_q[context_q]));
      if (rsp_ends) assert (reading_q[read.of]);
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        assert (32'(count_q[i]) <= SLOTS);
        // A flow has one context.
        if (found && valid_q[i] && flow_q[i] == flow_i) assert (match == context_t'(i));
      end
    end
  end
`endif
endmodule
