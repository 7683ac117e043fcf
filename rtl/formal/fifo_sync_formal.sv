// Proves of fifo_sync: stream_order and stream_rules; count and room are right; a word is offered at once, or a cycle later from block
// RAM.

module fifo_sync_formal #(
  parameter  int unsigned DEPTH         = 4,
  parameter  int unsigned LUT_RAM_DEPTH = 64,
  parameter  bit          HEAD          = 1'b0,
  parameter  bit          STEADY        = 1'b0,
  localparam int unsigned WIDTH         = 2,
  localparam int unsigned ADDR_W        = $clog2(DEPTH),
  localparam int unsigned COUNT_W       = $clog2(DEPTH + 1),
  localparam bit          IN_LUTS       = DEPTH <= LUT_RAM_DEPTH
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             wr_valid_i,
  input logic [WIDTH-1:0] wr_data_i,
  input logic             rd_ready_i,
  input logic             mark_i
);

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  logic wr_ready, rd_valid;
  logic [  WIDTH-1:0] rd_data;
  logic [COUNT_W-1:0] count;

  fifo_sync #(
    .WIDTH        (WIDTH),
    .DEPTH        (DEPTH),
    .LUT_RAM_DEPTH(LUT_RAM_DEPTH),
    .HEAD         (HEAD),
    .STEADY       (STEADY)
  ) dut (
    .clk_i,
    .rst_ni,
    .wr_valid_i,
    .wr_ready_o(wr_ready),
    .wr_data_i,
    .rd_valid_o(rd_valid),
    .rd_ready_i,
    .rd_data_o (rd_data),
    .count_o   (count)
  );

  stream_order #(
    .UNIT_W  (WIDTH),
    .INSIDE  (DEPTH),
    .WAIT_OUT(IN_LUTS ? 0 : 1),
    .WAIT_IN (IN_LUTS ? 1 : 2)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i    (1'b0),
    .in_valid_i (wr_valid_i),
    .in_ready_i (wr_ready),
    .in_data_i  (wr_data_i),
    .in_count_i (1'b1),
    .in_last_i  (1'b0),
    .out_valid_i(rd_valid),
    .out_ready_i(rd_ready_i),
    .out_data_i (rd_data),
    .out_count_i(1'b1),
    .out_last_i (1'b0),
    .mark_i,
    .lane_i     (1'b0)
  );

  // Where the followed word lies in the memory.
  function automatic logic [ADDR_W-1:0] place(logic [ADDR_W-1:0] from, logic [COUNT_W-1:0] steps);
    logic [COUNT_W:0] sum;
    sum   = (COUNT_W + 1)'(from) + (COUNT_W + 1)'(steps);
    place = ADDR_W'(sum >= (COUNT_W + 1)'(DEPTH) ? sum - (COUNT_W + 1)'(DEPTH) : sum);
  endfunction

  logic [COUNT_W-1:0] ahead;
  assign ahead = COUNT_W'(u_order.ahead_q);

  always_comb begin
    if (rst_ni) begin
      count_right : assert (32'(count) == 32'(u_order.inside_q));
      room : assert (wr_ready == (count != COUNT_W'(DEPTH)));
      // Invariants that make the proof inductive.
      inv_in_pointer : assert (32'(dut.wr_ptr_q) < DEPTH && 32'(dut.rd_ptr_q) < DEPTH);
      inv_silent : assert (u_order.silent_q == '0 || rd_valid);
      inv_blocked : assert (u_order.blocked_q == '0 || wr_ready || (!IN_LUTS && u_order.blocked_q == 4'd1 && rd_valid));
    end
  end

  if (IN_LUTS && HEAD) begin : gen_head
    logic               some;
    logic [COUNT_W-1:0] stored;
    assign some   = dut.gen_lut_ram.any_q;
    assign stored = count - COUNT_W'(some);
    always_comb begin
      if (rst_ni) begin
        inv_parts : assert (some == (count != '0) && dut.gen_lut_ram.gen_head.more_q == (stored != '0));
        inv_distance : assert (place(dut.rd_ptr_q, stored) == dut.wr_ptr_q);
        inv_stored :
        assert (!u_order.followed_q || (ahead == '0 ? dut.gen_lut_ram.gen_head.head_q : dut.gen_lut_ram.mem[place(
            dut.rd_ptr_q, ahead-1'b1
        )]) == u_order.unit_q);
      end
    end
  end else if (IN_LUTS) begin : gen_lut_ram
    always_comb begin
      if (rst_ni) begin
        inv_distance : assert (place(dut.rd_ptr_q, count) == dut.wr_ptr_q);
        inv_stored : assert (!u_order.followed_q || dut.gen_lut_ram.mem[place(dut.rd_ptr_q, ahead)] == u_order.unit_q);
      end
    end
  end else begin : gen_block_ram
    logic head;
    assign head = dut.gen_block_ram.head_valid_q;
    always_comb begin
      if (rst_ni) begin
        inv_parts : assert (dut.gen_block_ram.stored_q + COUNT_W'(head) == count);
        inv_no_head : assert (head || dut.gen_block_ram.stored_q <= COUNT_W'(1));
        inv_distance : assert (place(dut.rd_ptr_q, dut.gen_block_ram.stored_q) == dut.wr_ptr_q);
        inv_stored :
        assert (!u_order.followed_q || (head && ahead == '0) || dut.gen_block_ram.u_ram.mem[place(
            dut.rd_ptr_q, ahead-COUNT_W'(head)
        )] == u_order.unit_q);
        inv_head : assert (!u_order.followed_q || !head || ahead != '0 || rd_data == u_order.unit_q);
      end
    end
    if (STEADY) begin : gen_steady
      always_comb begin
        if (rst_ni) inv_kept : assert (!dut.gen_block_ram.gen_steady.kept_q || head);
      end
    end
  end

endmodule
