// Which elements of a receive queue to read next, and where they are: of the context that rq_element looks at, four cycles
// after its values are there. Queue, size and posted stay as they are in these; base and count may move on together.
//
// Element MSN n is at rq_base + 64 * ((n - 1) mod 2^rq_log2). What is read at once does not go round the end.

module rq_request #(
  parameter int unsigned CHUNK = 8  // at most so many at once
) (
  input logic clk_i,

  input logic        demand_i,   // one element: `base_i` itself. Else those behind `count_i` from there on.
  input logic [31:0] base_i,
  input logic [ 4:0] count_i,
  input logic [31:0] posted_i,
  input logic [63:0] rq_base_i,
  input logic [ 7:0] rq_log2_i,

  output logic [ 3:0] slot_o,   // of the first one: low bits of its MSN
  output logic [ 3:0] chunk_o,
  output logic [63:0] addr_o,
  output logic        posted_o  // there is something to read ahead
);
  // 1: the context's values.
  logic [31:0] base_q, posted_q;
  logic [5:0] plus_q;
  logic [7:0] log2_q;
  always_ff @(posedge clk_i) begin
    base_q   <= base_i;
    plus_q   <= (demand_i ? 6'd0 : {1'b0, count_i}) - 6'd1;
    posted_q <= posted_i;
    log2_q   <= rq_log2_i;
  end

  // 2: n - 1, and how much of it counts.
  logic [31:0] first_q, mask_q;
  always_ff @(posedge clk_i) begin
    first_q <= base_q + {{26{plus_q[5]}}, plus_q};
    for (int unsigned i = 0; i < 32; i++) mask_q[i] <= 8'(i) < log2_q;
  end

  // 3: the slot; how many are posted from there on.
  logic [31:0] slot_q, unread_q;
  logic [ 3:0] msn_q;
  logic [63:0] rq_base_q;
  logic        far_q;  // more than 8 slots before the queue's end, or the first one
  always_ff @(posedge clk_i) begin
    slot_q    <= first_q & mask_q;
    unread_q  <= posted_q - first_q;
    msn_q     <= first_q[3:0] + 4'd1;
    rq_base_q <= rq_base_i;
    far_q     <= (first_q[2:0] & mask_q[2:0]) == 3'd0 || (~first_q[31:3] & mask_q[31:3]) != '0;
  end

  // 4: how many; the address, all but a carry.
  logic [3:0] chunk, chunk_q, msn2_q;
  logic [37:0] low_q;
  logic carry_q, any_q;
  always_comb begin
    chunk = 4'(CHUNK);
    if (!far_q) chunk = {1'b0, (3'd0 - slot_q[2:0]) & mask_q[2:0]};
    else if (!mask_q[2]) chunk = 4'd1;
    if (unread_q < 32'(chunk)) chunk = unread_q[3:0];
    if (demand_i) chunk = 4'd1;
  end
  always_ff @(posedge clk_i) begin
    chunk_q          <= chunk;
    {carry_q, low_q} <= {1'b0, rq_base_q[37:0]} + {1'b0, slot_q, 6'd0};
    any_q            <= !unread_q[31] && unread_q != 32'd0;
    msn2_q           <= msn_q;
  end

  assign slot_o   = msn2_q;
  assign chunk_o  = chunk_q;
  assign addr_o   = {rq_base_q[63:38] + 26'(carry_q), low_q};
  assign posted_o = any_q;

`ifndef SYNTHESIS
  if (CHUNK != 8) begin : gen_param_check
    $error("rq_request: CHUNK is 8");
  end
`endif
endmodule
