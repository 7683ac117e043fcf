// The islands of all flows (docs/card.md "Beyond a gap"): ranges beyond a gap that were placed. What becomes of a segment that meets them.
//
// Handshake: `ask_i` is a level: the packet that dispatch holds needs an answer. `valid_o` comes ISLANDS + 4 cycles later and is held as long as
//            `ask_i`. All inputs but `start_i`, a pulse with `valid_o`, stand meanwhile, and for a cycle more. Without `ask_i` the answer is void.
// Pipeline:  state  | registers          | what happens                                                | left when
//            Idle   | RAM output         | the flow's islands are read                                 | `ask_i`
//            Load   | list_q, begin_q, .. | they arrive; none count without `gap_i`                    | always
//            Search | meets_q, .., list_q | each is compared, and a cycle later taken out if it is     | all were; a cycle more
//                   |                     | joined or passed                                           |
//            Judge  | answer_o            | the answer; the segment is put in, in a free place          | always
//            Answer |                     | with `start_i` the list is written, a cycle later           | not `ask_i`
// Why:       The list is written when the walk starts, not when it ends. A walk that does not end whole detaches the flow, and its islands are
//            forgotten: `gap` of its position says whether the list counts. So memory is never cleared.
//            Islands of a flow neither meet nor touch, so on each side at most one is joined.

`include "weft_assert.svh"

module rx_islands
  import rx_front_pkg::*;
  import walk_pkg::ISLAND_W;
  import walk_pkg::touch_t;
#(
  parameter int unsigned NUM_FLOWS = 256,
  parameter int unsigned ISLANDS   = 8     // of each flow, from 2 to 8
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic           ask_i,
  input  logic    [15:0] flow_i,
  input  logic           gap_i,       // the flow has islands
  input  logic           beyond_i,    // the segment is beyond a gap; else it is next in sequence
  input  logic    [31:0] rcv_nxt_i,
  input  logic    [31:0] seq_i,
  input  logic    [31:0] seq_end_i,   // behind its payload
  input  logic    [31:0] walk_end_i,  // behind its FIN
  output logic           valid_o,
  output island_t        answer_o,
  input  logic           start_i      // it is walked
);

  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);
  localparam int unsigned COUNT_W = $clog2(ISLANDS + 1);
  localparam int unsigned LAST = ISLANDS - 1;

  typedef struct packed {
    logic        valid;
    logic [31:0] left;
    logic [31:0] right;
  } range_t;

  typedef enum logic [2:0] {
    Idle,
    Load,
    Search,
    Judge,
    Answer
  } state_e;
  state_e state_q;

  range_t [ISLANDS-1:0] list_rd, list_q, less, list_d, more;
  range_t first, last;  // the one that is compared, and the one that was a cycle ago
  logic [COUNT_W-1:0] count_q;
  logic               write_q;

  // ---------------------------------------------------------------- the one that is compared, a cycle later
  logic before_right_q, behind_left_q, from_left_q, to_right_q, at_right_q, at_left_q;
  logic looked_q, drop, joins_left, joins_right;
  logic [31:0] to_right, behind_left, from_left, past_right;
  assign first       = list_q[0];
  assign last        = list_q[LAST];
  assign to_right    = seq_i - first.right;
  assign behind_left = first.left - seq_end_i;
  assign from_left   = seq_i - first.left;
  assign past_right  = first.right - seq_end_i;
  always_ff @(posedge clk_i) begin
    before_right_q <= to_right[31];  // the segment begins before its right edge,
    behind_left_q  <= behind_left[31];  // and ends behind its left one
    from_left_q    <= !from_left[31];  // it begins at its left edge or behind,
    to_right_q     <= !past_right[31];  // and ends at its right one or before
    at_right_q     <= seq_i == first.right;
    at_left_q      <= walk_end_i == first.left;
  end
  assign joins_left  = last.valid && looked_q && beyond_i && at_right_q;
  assign joins_right = last.valid && looked_q && at_left_q;
  assign drop        = joins_left || joins_right;

  // ---------------------------------------------------------------- all of them
  logic meets_q, covers_q, covered, free, some;
  logic [ISLAND_W-1:0] island, compared;  // the free one; the one that was compared a cycle ago
  logic [31:0] begin_q, end_q;
  always_comb begin
    less             = list_q;
    less[LAST].valid = last.valid && !drop;
    // Once around: each one is compared in the first place.
    list_d           = count_q == COUNT_W'(ISLANDS) ? less : {less[0], less[LAST:1]};
  end
  // Of the islands that are neither joined nor passed; and the segment put in.
  always_comb begin
    free   = 1'b0;
    some   = 1'b0;
    more   = list_q;
    island = '0;
    for (int unsigned i = 0; i < ISLANDS; i++) begin
      if (!list_q[i].valid && !free) begin
        more[i] = '{valid: 1'b1, left: begin_q, right: end_q};
        island  = ISLAND_W'(i);
      end
      free |= !list_q[i].valid;
      some |= list_q[i].valid;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      looked_q <= 1'b0;
      write_q  <= 1'b0;
    end else begin
      looked_q <= state_q == Search && count_q != COUNT_W'(ISLANDS);
      write_q  <= start_i && valid_o;
      unique case (state_q)
        Idle:    if (ask_i) state_q <= Load;
        Load:    state_q <= Search;
        Search:  if (count_q == COUNT_W'(ISLANDS)) state_q <= Judge;
        Judge:   state_q <= Answer;
        default: ;
      endcase
      if (!ask_i) state_q <= Idle;
    end
  end

  assign covered  = beyond_i && covers_q;
  assign compared = ISLAND_W'(count_q) - 1'b1;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Load: begin
        list_q <= list_rd;
        for (int unsigned i = 0; i < ISLANDS; i++) list_q[i].valid <= list_rd[i].valid && gap_i;
        {meets_q, covers_q}             <= '0;
        {answer_o.left, answer_o.right} <= '0;
        count_q                         <= '0;
        begin_q                         <= seq_i;
        end_q                           <= walk_end_i;
      end
      Search: begin
        list_q  <= list_d;
        count_q <= count_q + 1'b1;
        if (looked_q && last.valid) begin
          meets_q  <= meets_q || (before_right_q && behind_left_q);
          covers_q <= covers_q || (from_left_q && to_right_q);
        end
        if (joins_left) begin
          begin_q       <= last.left;
          answer_o.left <= '{valid: 1'b1, island: compared};
        end
        if (joins_right) begin
          end_q          <= last.right;
          answer_o.right <= '{valid: 1'b1, island: compared};
        end
      end
      Judge: begin
        answer_o.duplicate <= covered;
        answer_o.leave     <= !covered && (meets_q || (beyond_i && !free));
        answer_o.full      <= !meets_q && beyond_i && !free;
        answer_o.leaves    <= beyond_i ? rcv_nxt_i : end_q;
        answer_o.island    <= island;
        answer_o.gap       <= beyond_i || some;
        if (beyond_i) list_q <= more;
      end
      default: ;
    endcase
  end

  assign valid_o = state_q == Answer;

  ram_1r1w #(
    .WIDTH ($bits(list_q)),
    .DEPTH (NUM_FLOWS),
    .UNSEEN(1'b1)
  ) u_lists (
    .clk_i,
    .we_i   (write_q),
    .waddr_i(flow_i[FLOW_W-1:0]),
    .wdata_i(list_q),
    .re_i   (1'b1),
    .raddr_i(flow_i[FLOW_W-1:0]),
    .rdata_o(list_rd)
  );

  logic unused;
  assign unused = ^{flow_i, first.valid, to_right[30:0], behind_left[30:0], from_left[30:0], past_right[30:0]};

`ifndef SYNTHESIS
  if (ISLANDS < 2 || ISLANDS > 1 << ISLAND_W) begin : gen_param_check
    $error("rx_islands: ISLANDS must be from 2 to what ISLAND_W bits name");
  end
  // The flow stands for a cycle more, and none of it is asked of so soon.
  logic [15:0] started_flow_q;
  always_ff @(posedge clk_i) started_flow_q <= flow_i;
  `WEFT_ASSERT(flow_stood, write_q -> flow_i == started_flow_q && !ask_i)
  `WEFT_ASSERT(started_as_answered, start_i && valid_o -> ask_i && !answer_o.duplicate && !answer_o.leave)
  `WEFT_ASSERT(beyond_ends_there, ask_i && beyond_i -> walk_end_i == seq_end_i)
  // What is kept: no island is empty, none meets or touches another.
  logic apart;
  always_comb begin
    apart = 1'b1;
    for (int unsigned i = 0; i < ISLANDS; i++) begin
      for (int unsigned j = 0; j < ISLANDS; j++) begin
        if (i != j && list_q[i].valid && list_q[j].valid && list_q[i].left - list_q[j].left <= list_q[j].right - list_q[j].left) apart = 1'b0;
      end
    end
  end
  `WEFT_ASSERT(apart_told, write_q -> apart)
`endif
endmodule
