// Proves of fifo_sync: what goes in comes out, once and in order; a word offered stays; count and room are right.
//
// Any one word is followed: `mark_i` chooses the moment, so the proof is about all of them.

module fifo_sync_formal #(
  parameter int unsigned DEPTH = 4,
  parameter int unsigned LUT_RAM_DEPTH = 64,
  localparam int unsigned WIDTH = 2,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             wr_valid_i,
  input logic [WIDTH-1:0] wr_data_i,
  input logic             rd_ready_i,
  input logic             mark_i
);

  from_reset u_start (.clk_i, .rst_ni);

  logic               wr_ready, rd_valid;
  logic [WIDTH-1:0]   rd_data;
  logic [COUNT_W-1:0] count;

  fifo_sync #(.WIDTH(WIDTH), .DEPTH(DEPTH), .LUT_RAM_DEPTH(LUT_RAM_DEPTH)) dut (
    .clk_i, .rst_ni,
    .wr_valid_i, .wr_ready_o(wr_ready), .wr_data_i,
    .rd_valid_o(rd_valid), .rd_ready_i, .rd_data_o(rd_data), .count_o(count)
  );

  logic               push, pop, followed_q, was_offered_q;
  logic [COUNT_W-1:0] ahead_q;        // words in front of the followed one
  logic [WIDTH-1:0]   word_q, offered_q;

  assign push = wr_valid_i && wr_ready;
  assign pop  = rd_valid && rd_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      followed_q    <= 1'b0;
      was_offered_q <= 1'b0;
      ahead_q       <= '0;
      word_q        <= '0;
      offered_q     <= '0;
    end else begin
      was_offered_q <= rd_valid && !rd_ready_i;
      offered_q     <= rd_data;
      if (followed_q) begin
        if (pop) begin
          ahead_q    <= ahead_q - 1'b1;
          followed_q <= ahead_q != '0;
        end
      end else if (push && mark_i) begin
        followed_q <= 1'b1;
        ahead_q    <= count - COUNT_W'(pop);
        word_q     <= wr_data_i;
      end
    end
  end

  // Where the followed word lies in the memory.
  function automatic logic [$clog2(DEPTH)-1:0] place(logic [$clog2(DEPTH)-1:0] from, logic [COUNT_W-1:0] steps);
    logic [COUNT_W:0] sum;
    sum = (COUNT_W+1)'(from) + (COUNT_W+1)'(steps);
    place = $clog2(DEPTH)'(sum >= (COUNT_W+1)'(DEPTH) ? sum - (COUNT_W+1)'(DEPTH) : sum);
  endfunction

  always_comb begin
    if (rst_ni) begin
      count_range: assert (count <= COUNT_W'(DEPTH));
      room: assert (wr_ready == (count != COUNT_W'(DEPTH)));
      nothing_from_nothing: assert (!(rd_valid && count == '0));
      still_in: assert (!followed_q || ahead_q < count);
      integrity: assert (!(followed_q && ahead_q == '0 && rd_valid) || rd_data == word_q);
      held: assert (!was_offered_q || (rd_valid && rd_data == offered_q));
      // Invariants that make the proof inductive.
      inv_in_pointer: assert (32'(dut.wr_ptr_q) < DEPTH && 32'(dut.rd_ptr_q) < DEPTH);
      inv_full_flag: assert (dut.full_q == (count == COUNT_W'(DEPTH)));
    end
  end

  if (DEPTH <= LUT_RAM_DEPTH) begin : gen_lut_ram
    always_comb begin
      if (rst_ni) begin
        at_once: assert (rd_valid == (count != '0));
        inv_distance: assert (place(dut.rd_ptr_q, count) == dut.wr_ptr_q);
        inv_stored: assert (!followed_q || dut.gen_lut_ram.mem[place(dut.rd_ptr_q, ahead_q)] == word_q);
      end
    end
  end else begin : gen_block_ram
    logic head;
    assign head = dut.gen_block_ram.head_valid_q;
    always_comb begin
      if (rst_ni) begin
        inv_parts: assert (dut.gen_block_ram.stored_q + COUNT_W'(head) == count);
        inv_distance: assert (place(dut.rd_ptr_q, dut.gen_block_ram.stored_q) == dut.wr_ptr_q);
        inv_stored: assert (!followed_q || (head && ahead_q == '0) ||
                        dut.gen_block_ram.u_ram.mem[place(dut.rd_ptr_q, ahead_q - COUNT_W'(head))] == word_q);
      end
    end
  end

endmodule
