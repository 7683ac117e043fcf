// The reads of elements in flight: which flow and MSN each is for, and whether its answer still counts.
//
// Handshake: `leaves_i` and `answer_i` are pulses, answers in the order of the requests. `room_o`: one more may leave. `awaited_o` follows flow and slot
//            by two cycles, for two more than the element is awaited.
// Pipeline:  registers              | what happens
//            read_*, stale_q        | a request that leaves; stale if its flow is forgotten, also in the same cycle
//            oldest_*               | whose answer comes next
//            awaits_q, awaited_q    | the wanted element against each read
//            in_flight_q, marked_q  | counted a cycle late
// Why:       An answer to a flow that was forgotten meanwhile is of a queue that may be another one's by now.

`include "weft_assert.svh"

module rq_reads #(
  parameter  int unsigned FLOW_W = 8,
  parameter  int unsigned SLOT_W = 2,
  parameter  int unsigned READS  = 32,            // a power of two
  localparam int unsigned READ_W = $clog2(READS)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [FLOW_W-1:0] flow_i,
  input  logic [SLOT_W-1:0] slot_i,
  output logic              awaited_o,

  input  logic              leaves_i,
  input  logic [FLOW_W-1:0] ask_flow_i,
  input  logic [      31:0] ask_msn_i,
  output logic              room_o,
  input  logic              gone_i,           // the flow is forgotten
  input  logic [FLOW_W-1:0] gone_flow_i,
  input  logic              answer_i,
  input  logic              answer_failed_i,
  output logic              taken_o,          // the answer counts
  output logic [FLOW_W-1:0] answer_flow_o,
  output logic [      31:0] answer_msn_o,

  input  logic mark_i,
  output logic marked_o,  // requests from before the mark are not answered
  output logic idle_o
);
  typedef logic [FLOW_W-1:0] flow_t;
  typedef logic [SLOT_W-1:0] slot_t;

  logic [READ_W:0] in_flight_q;
  logic [READS-1:0] read_valid_q, stale_q, awaited;
  flow_t [  READS-1:0] read_flow_q;
  slot_t [  READS-1:0] read_slot_q;
  (* ram_style = "distributed" *)logic  [FLOW_W+31:0] read_of     [READS];
  logic [READ_W-1:0] in_q, out_q;
  logic              answer_q;  // an answer is counted a cycle late
  logic  [READS-1:0] awaits_q;
  logic  [      1:0] awaited_q;
  flow_t             oldest_flow_q;
  logic  [     31:0] oldest_msn_q;
  always_comb begin
    for (int unsigned i = 0; i < READS; i++) begin
      awaited[i] = read_valid_q[i] && !stale_q[i] && read_flow_q[i] == flow_i && read_slot_q[i] == slot_i;
    end
  end
  // Until an element that has come is seen by `here_o`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) awaited_q <= '0;
    else awaited_q <= {awaited_q[0], awaits_q != '0};
  end
  assign awaited_o = awaited_q != '0;
  always_ff @(posedge clk_i) awaits_q <= awaited;

  assign taken_o       = answer_i && !answer_failed_i && !stale_q[out_q];
  assign answer_flow_o = oldest_flow_q;
  assign answer_msn_o  = oldest_msn_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_q <= '0;
      stale_q      <= '0;
      in_q         <= '0;
      out_q        <= '0;
      in_flight_q  <= '0;
      answer_q     <= 1'b0;
    end else begin
      answer_q    <= answer_i;
      in_flight_q <= in_flight_q + (READ_W + 1)'(leaves_i) - (READ_W + 1)'(answer_q);
      if (leaves_i) begin
        read_valid_q[in_q] <= 1'b1;
        stale_q[in_q]      <= gone_i && ask_flow_i == gone_flow_i;
        in_q               <= in_q + 1'b1;
      end
      if (answer_i) begin
        read_valid_q[out_q] <= 1'b0;
        out_q               <= out_q + 1'b1;
      end
      for (int unsigned i = 0; i < READS; i++) begin
        if (gone_i && read_valid_q[i] && read_flow_q[i] == gone_flow_i) stale_q[i] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (leaves_i) begin
      read_flow_q[in_q] <= ask_flow_i;
      read_slot_q[in_q] <= slot_t'(ask_msn_i);
      read_of[in_q]     <= {ask_flow_i, ask_msn_i};
    end
    // A request is answered cycles after it is made.
    {oldest_flow_q, oldest_msn_q} <= read_of[answer_i?out_q+1'b1 : out_q];
  end

  // How many of the reads were in flight at the mark.
  logic [READ_W:0] marked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) marked_q <= '0;
    else if (mark_i) marked_q <= in_flight_q + (READ_W + 1)'(leaves_i) - (READ_W + 1)'(answer_q);
    else if (answer_q && marked_q != '0) marked_q <= marked_q - 1'b1;
  end
  assign marked_o = marked_q != '0;

  assign room_o   = 32'(in_flight_q) < READS;
  assign idle_o   = in_flight_q == '0;

  if ((1 << READ_W) != READS) begin : gen_param_check
    $error("rq_reads: READS must be a power of two");
  end
  `WEFT_ASSERT(answers_what_was_asked, answer_i -> in_flight_q != '0 && read_valid_q[out_q])
  `WEFT_ASSERT(of_the_oldest, answer_i -> {oldest_flow_q, oldest_msn_q} == read_of[out_q])
endmodule
