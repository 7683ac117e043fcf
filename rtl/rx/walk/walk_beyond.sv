// Walks beyond a gap (docs/card.md "Beyond a gap"): which FPDUs they may take, and the edges of the flow's islands, so that MSN and MO go on over them.
//
// Handshake: `begin_i` (an FPDU is in hand), `weigh_i` (whether its MSN and MO follow is known), `tail_i` (its end is there) and `leave_i` are pulses
//            in this order. `order_i`, between the first two, is a level until `ready_o`. `hold_o` is one: the segment's last FPDU may not end yet.
// Pipeline:  state  | registers        | what happens                                           | left when
//            Idle   | RAM output       | the edges of the island that ends at the segment        | a segment with edges is there
//            Left   | left_q           | they arrive; those of the island that begins behind it  | always
//            Right  | right_q          | they arrive                                             | always
//            Walk   |                  | `ready_o`                                               | the segment's last FPDU is at its end
//            After  | after_q          | MSN and MO behind the segment                           | always
//            Meet   | fits_q           | are they the right island's?                            | always
//            Settle | u_edges, leaves_q | the island's edges are written; what the flow is left at | always
//            Done   |                  | `hold_o` is low                                         | `leave_i`
// Why:       An island's FPDUs of queue 0 say their MSN and MO themselves, so they are checked where islands and stream meet. Else a peer could have a
//            receive written that was completed before. The walk is in order, so an island's edges are written before anyone reads them.
//            Where they do not meet the flow is left at an MSN for which there is no element, and the engine ends the connection.

`include "weft_assert.svh"

module walk_beyond
  import walk_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        seg_valid_i,
  // verilator lint_off UNUSEDSIGNAL
  input  segment_t    seg_i,
  input  ddp_header_t next_i,       // of the FPDU that is taken next
  input  class_e      kind_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic        orders_o,     // with begin_i: of queue 0 beyond a gap
  input  logic        begin_i,
  input  logic        first_i,      // it is the segment's first

  // verilator lint_off UNUSEDSIGNAL
  input  ddp_header_t        header_i,    // from the cycle behind begin_i on
  // verilator lint_on UNUSEDSIGNAL
  input  logic        [31:0] msn_i,       // next MSN and MO, likewise
  input  logic        [31:0] mo_i,
  input  logic        [31:0] msn_more_i,  // those behind the FPDU, if its message ends with it, or else
  input  logic        [31:0] mo_more_i,
  input  logic               order_i,
  output logic               ready_o,
  output logic               set_o,       // with order_i: MSN and MO that count from here on
  output logic        [31:0] set_msn_o,
  output logic        [31:0] set_mo_o,
  input  logic        [31:0] posted_i,    // the last MSN that has an element
  input  logic               weigh_i,
  input  logic               wrong_i,     // with weigh_i: they do not follow, or there is no element

  input  logic tail_i,
  input  logic seg_last_i,
  input  logic marked_i,
  output logic strays_o,    // with tail_i: the walk stops before the FPDU
  output logic hold_o,

  output logic        leaves_o,      // the segment leaves the flow at these
  output logic [31:0] leaves_msn_o,
  output logic [31:0] leaves_mo_o,
  input  logic        leave_i        // the segment has passed the checks
);

  // The edges of an island.
  typedef struct packed {
    logic [31:0] msn;
    logic [31:0] mo;
  } edge_t;
  typedef struct packed {
    logic  some;   // an FPDU of queue 0 is in it
    logic  torn;   // its parts do not meet
    edge_t first;  // MSN and MO of the first such one
    edge_t next;   // and those that follow the last
  } edges_t;

  typedef enum logic [2:0] {
    Idle,
    Left,
    Right,
    Walk,
    After,
    Meet,
    Settle,
    Done
  } state_e;
  state_e state_q;

  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);
  logic needs;
  assign needs = seg_i.beyond || seg_i.right.valid;

  // ---------------------------------------------------------------- what may be taken beyond a gap
  // A Write's opcode is 0, a Read Response's 2.
  logic places, orders, foreign_q, unsure_q;
  assign places   = next_i.valid && next_i.kind == CLASS_TAGGED && (next_i.rdmap_control[3:0] & 4'b1101) == 4'd0;
  assign orders   = next_i.valid && kind_i == CLASS_RECEIVE && next_i.err == ERR_NONE;
  assign orders_o = seg_i.beyond && orders;
  assign strays_o = foreign_q || (unsure_q && !marked_i);

  // ---------------------------------------------------------------- MSN and MO
  edges_t left_q, right_q, edges, edges_rd;
  edge_t low_q, first_q, after_q, leaves_q;  // low_q: where the stream stands in order
  logic any_q, below_q, begun_q, fits_q, after_known, torn_leaves;
  logic [31:0] above_low, posted_above;

  assign ready_o      = state_q == Walk && !begun_q;
  assign set_o        = order_i && ready_o && !any_q;
  assign set_msn_o    = left_q.some ? left_q.next.msn : header_i.msn;
  assign set_mo_o     = left_q.some ? left_q.next.mo : header_i.to_or_mo[31:0];
  assign above_low    = header_i.msn - low_q.msn;
  assign posted_above = posted_i - low_q.msn;
  assign after_known  = !seg_i.beyond || any_q;
  always_ff @(posedge clk_i) begin
    // From where the stream stands to what is posted: behind islands that did not meet nothing is.
    below_q <= above_low[31] || posted_above[31];
    begun_q <= begin_i && first_i;
    if (begun_q) low_q <= '{msn: msn_i, mo: mo_i};
    if (begin_i) begin
      foreign_q <= seg_i.beyond && !places && !orders;
      unsure_q  <= seg_i.beyond && !seg_i.certain && first_i;
    end
    if (begin_i && first_i) any_q <= 1'b0;
    if (order_i && ready_o) begin
      any_q <= 1'b1;
      if (!any_q) first_q <= '{msn: header_i.msn, mo: header_i.to_or_mo[31:0]};
    end
    if (weigh_i) foreign_q <= foreign_q || wrong_i || below_q;
  end

  // ---------------------------------------------------------------- the segment's end
  always_comb begin
    edges       = '0;
    edges.some  = left_q.some || any_q || right_q.some;
    edges.torn  = left_q.torn || right_q.torn || (right_q.some && (left_q.some || any_q) && !fits_q);
    edges.first = left_q.some ? left_q.first : any_q ? first_q : right_q.first;
    edges.next  = right_q.some ? right_q.next : after_q;
  end
  assign torn_leaves = right_q.torn || !fits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      hold_o  <= 1'b0;
    end else begin
      unique case (state_q)
        Idle:    if (seg_valid_i && needs) state_q <= Left;
        Left:    state_q <= Right;
        Right:   state_q <= Walk;
        Walk:    if (hold_o) state_q <= After;
        After:   state_q <= Meet;
        Meet:    state_q <= Settle;
        Settle:  state_q <= Done;
        default: if (leave_i) state_q <= Idle;
      endcase
      if (tail_i) hold_o <= needs && seg_last_i;
      else if (state_q == Settle) hold_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Left: begin
        left_q      <= edges_rd;
        left_q.some <= edges_rd.some && seg_i.beyond && seg_i.left.valid;
        left_q.torn <= edges_rd.torn && seg_i.beyond && seg_i.left.valid;
      end
      Right: begin
        right_q      <= edges_rd;
        right_q.some <= edges_rd.some && seg_i.right.valid;
        right_q.torn <= edges_rd.torn && seg_i.right.valid;
      end
      After: begin
        after_q <= after_known ? '{msn: msn_i, mo: mo_i} : left_q.next;
        if (after_known && header_i.kind == CLASS_RECEIVE) begin
          if (header_i.last) after_q <= '{msn: msn_more_i, mo: 32'd0};
          else after_q.mo <= mo_more_i;
        end
      end
      Meet:    fits_q <= after_q == right_q.first;
      Settle: begin
        leaves_o <= seg_i.beyond || right_q.some;
        leaves_q <= seg_i.beyond ? low_q : right_q.next;
        // No element is posted so far ahead.
        if (!seg_i.beyond && torn_leaves) leaves_q.msn[31:30] <= right_q.next.msn[31:30] + 2'd1;
      end
      default: ;
    endcase
    if (tail_i) leaves_o <= 1'b0;
  end
  assign {leaves_msn_o, leaves_mo_o} = leaves_q;

  ram_1r1w #(
    .WIDTH ($bits(edges_t)),
    .DEPTH (NUM_FLOWS << ISLAND_W),
    .UNSEEN(1'b1)
  ) u_edges (
    .clk_i,
    .we_i   (state_q == Settle && seg_i.beyond),
    .waddr_i({seg_i.flow[FLOW_W-1:0], seg_i.island}),
    .wdata_i(edges),
    .re_i   (state_q inside {Idle, Left}),
    .raddr_i({seg_i.flow[FLOW_W-1:0], state_q == Left ? seg_i.right.island : seg_i.left.island}),
    .rdata_o(edges_rd)
  );

  logic unused;
  assign unused = ^{above_low[30:0], posted_above[30:0]};

  `WEFT_ASSERT(one_at_a_time, leave_i && needs -> state_q == Done)
  `WEFT_ASSERT(order_beyond, order_i -> needs && seg_i.beyond)
  `WEFT_ASSERT(holds_until, leave_i -> !hold_o)
  `WEFT_ASSERT(more_is_new, state_q == After -> msn_more_i == msn_i + 32'd1 && mo_more_i == mo_i + 32'(header_i.payload_len))
endmodule
