// What to read next from a receive queue, and where: for the context that rq_element has selected.
//
// Handshake: No valid. Outputs follow the context's values by four cycles. Queue, size and tail are constant meanwhile; base and count may advance
//            together.
// Pipeline:  cycle | registers                        | what happens
//            1     | base_q, plus_q, posted_q, log2_q | the context's values
//            2     | first_q, mask_q                  | n - 1, and the mask of the queue's size
//            3     | slot_q, unread_q, far_q          | the slot; elements posted from there on
//            4     | chunk_q, low_q, carry_q          | how many; the address but for a carry
// Why:       Element MSN n is at rq_base + 64 * ((n - 1) mod 2^rq_log2). A read does not wrap around the queue's end.

module rq_request #(
  parameter int unsigned CHUNK  = 8,  // elements of a read, at most
  parameter int unsigned SLOT_W = 6   // low bits of an MSN that say where an element is kept
) (
  input logic clk_i,

  input logic            demand_i,   // one element, `base_i` itself; else those behind `base_i` + `count_i`
  input logic [    31:0] base_i,
  input logic [SLOT_W:0] count_i,
  input logic [    31:0] posted_i,
  input logic [    63:0] rq_base_i,
  input logic [     7:0] rq_log2_i,

  output logic [SLOT_W-1:0] slot_o,   // of the first one
  output logic [       3:0] chunk_o,
  output logic [      63:0] addr_o,
  output logic              posted_o  // there is something to read ahead
);
  // 1: the context's values.
  logic [31:0] base_q, posted_q;
  logic [SLOT_W+1:0] plus_q;
  logic [       7:0] log2_q;
  always_ff @(posedge clk_i) begin
    base_q   <= base_i;
    plus_q   <= (demand_i ? '0 : {1'b0, count_i}) - 1'b1;
    posted_q <= posted_i;
    log2_q   <= rq_log2_i;
  end

  // 2: n - 1, and how much of it counts.
  logic [31:0] first_q, mask_q;
  always_ff @(posedge clk_i) begin
    first_q <= base_q + {{(30 - SLOT_W) {plus_q[SLOT_W+1]}}, plus_q};
    for (int unsigned i = 0; i < 32; i++) mask_q[i] <= 8'(i) < log2_q;
  end

  // 3: the slot; how many are posted from there on.
  logic [31:0] slot_q, unread_q;
  logic [SLOT_W-1:0] msn_q;
  logic [      63:0] rq_base_q;
  logic              far_q;  // more than 8 slots before the queue's end, or the first one
  always_ff @(posedge clk_i) begin
    slot_q    <= first_q & mask_q;
    unread_q  <= posted_q - first_q;
    msn_q     <= first_q[SLOT_W-1:0] + 1'b1;
    rq_base_q <= rq_base_i;
    far_q     <= (first_q[2:0] & mask_q[2:0]) == 3'd0 || (~first_q[31:3] & mask_q[31:3]) != '0;
  end

  // 4: how many; the address, all but a carry.
  logic [3:0] chunk, chunk_q;
  logic [SLOT_W-1:0] msn2_q;
  logic [      37:0] low_q;
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

  if (CHUNK != 8) begin : gen_param_check
    $error("rq_request: CHUNK is 8");
  end
endmodule
