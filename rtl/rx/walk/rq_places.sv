// Where each flow is in its receive queue, and which flow is to be looked at next (rq_ahead).
//
// Handshake: `place_i`, `attach_i`, `evict_i`, `tail_i` are pulses and always taken. `flow_*` is ready/valid; place and tail of the flow that was
//            taken are there a cycle later.
// Pipeline:  stage | registers         | what happens                                | hazards
//            place | place_q, u_places | where the flow is, and its queue, is stored | a flush of the flow drops it
//            line  | u_flows           | the flow waits to be looked at              | none if the line is full: it is forgotten
//            take  | u_places, u_tails | its place and its tail are read             |
// Why:       A flow is looked at when it becomes the card's, when it has used an element from here, when its context is gone, and at RQ_TAIL.
//            What the line forgets costs time alone.

module rq_places
  import walk_pkg::*;
#(
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned ELEMENTS  = 4,                  // of a flow
  localparam int unsigned FLOW_W    = $clog2(NUM_FLOWS),
  localparam int unsigned SLOT_W    = $clog2(ELEMENTS)
) (
  input logic clk_i,
  input logic rst_ni,

  input rq_place_t   place_i,        // the flow uses this element
  input logic        place_ahead_i,  // one that was read here, not of a context
  input logic        place_last_i,   // and is done with it
  input rq_place_t   attach_i,       // the flow becomes the card's, with this MSN
  input flow_pulse_t evict_i,        // the flow has lost its context
  input rq_tail_t    tail_i,

  input logic              clears_i,      // level: the sweep after reset
  input logic [FLOW_W-1:0] clear_flow_i,
  input logic              flush_i,       // this flow's place is forgotten
  input logic [FLOW_W-1:0] gone_flow_i,

  output logic              flow_valid_o,
  input  logic              flow_ready_i,
  output logic [FLOW_W-1:0] flow_o,
  output logic              evicted_o,      // it is looked at as its context is gone
  output logic              known_o,        // there is a place of it
  output logic              context_has_o,  // rq_element reads ahead for it
  output logic [      31:0] msn_o,          // the first element that is to be here
  output logic [  SLOT_W:0] left_o,         // how many are
  output logic [      63:0] rq_base_o,
  output logic [       7:0] rq_log2_o,
  output logic [      31:0] posted_o,       // its RQ_TAIL

  output logic idle_o
);
  typedef logic [FLOW_W-1:0] flow_t;
  typedef struct packed {
    logic            known;
    logic            context_has;
    logic [31:0]     msn;
    logic [SLOT_W:0] left;
    logic [63:0]     rq_base;
    logic [7:0]      rq_log2;
  } place_t;

  logic place_valid_q, place_ahead_q, place_write;
  flow_t place_flow_q;
  place_t place_q, place;
  logic flow_ready, evict_q, fills;
  flow_t evict_flow_q;
  // A flush of the flow, and the sweep, come first. What is used in the cycle of the flush or the next one may be of the queue of before.
  assign place_write = place_valid_q && !flush_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) place_valid_q <= 1'b0;
    else if ((place_i.valid && !flush_i) || attach_i.valid) place_valid_q <= !clears_i;
    else if (!flush_i || place_flow_q == gone_flow_i) place_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (attach_i.valid) begin
      place_ahead_q <= 1'b1;
      place_flow_q <= flow_t'(attach_i.flow);
      place_q <= '{
          known: 1'b1,
          context_has: 1'b0,
          msn: attach_i.msn,
          left: (SLOT_W + 1)'(ELEMENTS),
          rq_base: attach_i.rq_base,
          rq_log2: attach_i.rq_log2
      };
    end else if (place_i.valid) begin
      place_ahead_q <= place_ahead_i;
      place_flow_q <= flow_t'(place_i.flow);
      place_q <= '{
          known: 1'b1,
          context_has: !place_ahead_i,
          msn: place_ahead_i ? place_i.msn + 32'd1 : place_i.msn,
          left: (SLOT_W + 1)'(place_ahead_i && !place_last_i ? ELEMENTS - 1 : ELEMENTS),  // the one still in use is there
          rq_base: place_i.rq_base,
          rq_log2: place_i.rq_log2
      };
    end
  end

  ram_1r1w #(
    .WIDTH($bits(place_t)),
    .DEPTH(NUM_FLOWS)
  ) u_places (
    .clk_i,
    .we_i   (clears_i || flush_i || place_write),
    .waddr_i(clears_i ? clear_flow_i : flush_i ? gone_flow_i : place_flow_q),
    .wdata_i(clears_i || flush_i ? '0 : place_q),
    .re_i   (flow_ready_i),
    .raddr_i(flow_o),
    .rdata_o(place)
  );
  logic unused_ready;
  rq_tail #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_tails (
    .clk_i,
    .rst_ni,
    .ready_o      (unused_ready),
    .write_valid_i(tail_i.valid),
    .write_flow_i (tail_i.flow),
    .write_value_i(tail_i.value),
    .read_i       (flow_ready_i),
    .read_flow_i  (16'(flow_o)),
    .tail_o       (posted_o)
  );

  // Flows to look at. What does not fit is forgotten.
  logic  push;
  flow_t push_flow;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) evict_q <= 1'b0;
    else if (evict_i.valid) evict_q <= 1'b1;
    else if (fills) evict_q <= 1'b0;
  end
  always_ff @(posedge clk_i) if (evict_i.valid) evict_flow_q <= flow_t'(evict_i.flow);
  assign fills     = evict_q && !(place_write && place_ahead_q);
  assign push      = (place_write && place_ahead_q) || evict_q || (tail_i.valid && tail_i.flow >> FLOW_W == '0);
  assign push_flow = place_write && place_ahead_q ? place_flow_q : evict_q ? evict_flow_q : flow_t'(tail_i.flow);
  fifo_sync #(
    .WIDTH(FLOW_W + 1),
    .DEPTH(32)
  ) u_flows (
    .clk_i,
    .rst_ni,
    .wr_valid_i(push && !clears_i),
    .wr_ready_o(flow_ready),
    .wr_data_i ({fills, push_flow}),
    .rd_valid_o(flow_valid_o),
    .rd_ready_i(flow_ready_i),
    .rd_data_o ({evicted_o, flow_o}),
    .count_o   ()
  );

  assign known_o       = place.known;
  assign context_has_o = place.context_has;
  assign msn_o         = place.msn;
  assign left_o        = place.left;
  assign rq_base_o     = place.rq_base;
  assign rq_log2_o     = place.rq_log2;
  assign idle_o        = !place_valid_q && !evict_q && !flow_valid_o;

  logic unused;
  assign unused = ^{unused_ready, flow_ready, place_i.flow, evict_i.flow, attach_i.flow};
endmodule
