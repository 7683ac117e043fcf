// Proves of rq_ahead, the receive elements of every flow on chip: an element that is here is the one of that flow's queue with that MSN, as host memory
// gave it, and was asked for behind the last flush of its flow. The assertions of rq_forget are proven with it.
//
// Assumed: two flows, whose queue moves with each flush; MSNs of three bits; answers in order, two cycles behind their requests at least, none
// while it stalls; flushes FORGET cycles apart; one flow taken at a time. What is looked up for three cycles counts, and not within FORGET cycles of a flush.

module rq_ahead_formal
  import weft_card_pkg::*;
#(
  parameter int unsigned ELEMENTS = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       flow_i,
  input logic [2:0] msn_i,
  input logic       place_valid_i,
  input logic       place_ahead_i,
  input logic       place_last_i,
  input logic       place_flow_i,
  input logic [2:0] place_msn_i,
  input logic       attach_valid_i,
  input logic       attach_flow_i,
  input logic [2:0] attach_msn_i,
  input logic       evict_valid_i,
  input logic       evict_flow_i,
  input logic       take_valid_i,
  input logic       take_flow_i,
  input logic       tail_valid_i,
  input logic       tail_flow_i,
  input logic [2:0] tail_value_i,
  input logic       flush_i,
  input logic       flush_flow_i,
  input logic       req_ready_i,
  input logic       answer_i,
  input logic       answer_failed_i
);
  localparam int unsigned FORGET = ELEMENTS + 1;

  logic [1:0][7:0] moved_q;  // how often each flow was flushed
  logic [1:0][2:0] flushed_q;  // cycles since its flush, up to 7
  logic [2:0] any_flush_q, looked_q;
  logic flow_q, here, awaited, req_valid, stall, marked, idle, taking;
  logic [ 2:0]       msn_q;
  logic [63:0]       req_addr;
  logic [ 1:0][63:0] asked_q;  // oldest first
  logic [1:0] count_q, age_q;
  logic                     leaves;
  receive_element_t         element;
  logic             [511:0] word;

  function automatic logic [63:0] base(input logic flow, input logic [7:0] moved);
    return {44'd0, moved, flow, 11'd0};
  endfunction

  assign leaves = req_valid && req_ready_i;
  assign word   = element;

  rq_ahead #(
    .NUM_FLOWS(2),
    .READS    (2),
    .ELEMENTS (ELEMENTS)
  ) dut (
    .clk_i,
    .rst_ni,
    .flow_i          (16'(flow_i)),
    .msn_i           (32'(msn_i)),
    .here_o          (here),
    .awaited_o       (awaited),
    .element_o       (element),
    .place_i         ({place_valid_i, 16'(place_flow_i), 32'(place_msn_i), base(place_flow_i, moved_q[place_flow_i]), 8'd3}),
    .place_ahead_i,
    .place_last_i,
    .attach_i        ({attach_valid_i, 16'(attach_flow_i), 32'(attach_msn_i), base(attach_flow_i, moved_q[attach_flow_i]), 8'd3}),
    .evict_i         ({evict_valid_i, 16'(evict_flow_i)}),
    .take_i          ({take_valid_i, 16'(take_flow_i)}),
    .taking_o        (taking),
    .tail_i          ({tail_valid_i, 16'(tail_flow_i), 32'(tail_value_i)}),
    .flush_i         ({flush_i, 16'(flush_flow_i)}),
    .req_valid_o     (req_valid),
    .req_ready_i,
    .req_addr_o      (req_addr),
    .answer_i,
    .answer_failed_i,
    .answer_element_i(512'(asked_q[0])),
    .stall_o         (stall),
    .mark_i          (1'b0),
    .marked_o        (marked),
    .idle_o          (idle)
  );

  from_reset u_reset (
    .clk_i,
    .rst_ni
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moved_q     <= '0;
      flushed_q   <= '1;
      any_flush_q <= '1;
      looked_q    <= '0;
      count_q     <= '0;
      age_q       <= '0;
      asked_q     <= '0;
      flow_q      <= 1'b0;
      msn_q       <= '0;
    end else begin
      any_flush_q <= flush_i ? '0 : any_flush_q == '1 ? '1 : any_flush_q + 3'd1;
      for (int unsigned f = 0; f < 2; f++) begin
        if (flush_i && flush_flow_i == 1'(f)) begin
          moved_q[f]   <= moved_q[f] + 8'd1;
          flushed_q[f] <= '0;
        end else if (flushed_q[f] != '1) flushed_q[f] <= flushed_q[f] + 3'd1;
      end
      looked_q <= flow_i != flow_q || msn_i != msn_q ? 3'd0 : looked_q == '1 ? '1 : looked_q + 3'd1;
      flow_q   <= flow_i;
      msn_q    <= msn_i;
      // Answered the second cycle behind its request at the soonest.
      age_q    <= leaves ? 2'd0 : age_q == '1 ? '1 : age_q + 2'd1;
      count_q  <= count_q + 2'(leaves) - 2'(answer_i);
      if (answer_i) asked_q[0] <= asked_q[1];
      if (leaves) asked_q[1'(count_q-2'(answer_i))] <= req_addr;
    end
  end

  always_comb begin
    answers_in_order : assume (answer_i -> count_q != '0 && !stall && (count_q == 2'd2 || age_q >= 2'd2));
    takes_apart : assume (take_valid_i -> !taking);
    flushes_apart : assume (flush_i -> any_flush_q >= 3'(FORGET));
    if (rst_ni) begin
      the_flows_own :
      assert (here && flow_i == flow_q && msn_i == msn_q && looked_q >= 3'd2 && flushed_q[flow_i] >= 3'(FORGET) -> word[63:0] == base(
          flow_i, moved_q[flow_i]
      ) + {55'd0, msn_i - 3'd1, 6'd0});
      no_more_than_room : assert (32'(count_q) <= 2);
    end
  end

  logic unused;
  assign unused = ^{awaited, marked, idle, word[511:64]};

endmodule
