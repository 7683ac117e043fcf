// FIFO between two clocks without a fixed phase; first-word fall-through, DEPTH words (a power of two) in LUT RAM.
//
// Handshake: ready/valid at both ends, both from registers. A word can be read one cycle of the writer and 4 to 5 of the reader after it was written.
// Pipeline:  counts in Gray code, one gray_sync each way.
// Why:       The writer sees room as late as the reader sees words: with equal clocks 16 words suffice for one each cycle. Both resets are one reset,
//            each released in its own clock.

`include "weft_assert.svh"

module fifo_async #(
  parameter int unsigned WIDTH = 32,
  parameter int unsigned DEPTH = 16
) (
  input  logic             wr_clk_i,
  input  logic             wr_rst_ni,
  input  logic             wr_valid_i,
  output logic             wr_ready_o,
  input  logic [WIDTH-1:0] wr_data_i,
  output logic             wr_empty_o,  // every word was read, as far as the writer knows

  input  logic             rd_clk_i,
  input  logic             rd_rst_ni,
  output logic             rd_valid_o,
  input  logic             rd_ready_i,
  output logic [WIDTH-1:0] rd_data_o
);

  localparam int unsigned ADDR_W = $clog2(DEPTH);

  // One bit more than the address, to tell full from empty.
  logic [ADDR_W:0] wr_count_q, rd_count_q, rd_next_q, wr_seen, rd_seen, used;
  logic push, pop, room, room_still, more, more_still;
  logic [WIDTH-1:0] mem[DEPTH];

  // ---------------------------------------------------------------- writer
  assign used       = wr_count_q - rd_seen;
  assign push       = wr_valid_i && wr_ready_o;

  assign wr_empty_o = used == 0;

  // Both outcomes are computed before it is known whether a word moves now.
  assign room       = used < (ADDR_W + 1)'(DEPTH);
  assign room_still = used < (ADDR_W + 1)'(DEPTH - 1);
  assign more       = wr_seen != rd_count_q;
  assign more_still = wr_seen != rd_next_q;

  always_ff @(posedge wr_clk_i) begin
    if (push) mem[wr_count_q[ADDR_W-1:0]] <= wr_data_i;
  end

  always_ff @(posedge wr_clk_i or negedge wr_rst_ni) begin
    if (!wr_rst_ni) begin
      wr_count_q <= '0;
      wr_ready_o <= 1'b0;
    end else begin
      if (push) wr_count_q <= wr_count_q + 1'b1;
      wr_ready_o <= push ? room_still : room;
    end
  end

  gray_sync #(
    .WIDTH(ADDR_W + 1)
  ) u_wr_count (
    .src_clk_i  (wr_clk_i),
    .src_rst_ni (wr_rst_ni),
    .src_count_i(wr_count_q),
    .dst_clk_i  (rd_clk_i),
    .dst_rst_ni (rd_rst_ni),
    .dst_count_o(wr_seen)
  );

  // ---------------------------------------------------------------- reader
  assign rd_data_o = mem[rd_count_q[ADDR_W-1:0]];
  assign pop       = rd_valid_o && rd_ready_i;

  always_ff @(posedge rd_clk_i or negedge rd_rst_ni) begin
    if (!rd_rst_ni) begin
      rd_count_q <= '0;
      rd_next_q  <= (ADDR_W + 1)'(1);
      rd_valid_o <= 1'b0;
    end else begin
      if (pop) begin
        rd_count_q <= rd_next_q;
        rd_next_q  <= rd_next_q + 1'b1;
      end
      rd_valid_o <= pop ? more_still : more;
    end
  end

  gray_sync #(
    .WIDTH(ADDR_W + 1)
  ) u_rd_count (
    .src_clk_i  (rd_clk_i),
    .src_rst_ni (rd_rst_ni),
    .src_count_i(rd_count_q),
    .dst_clk_i  (wr_clk_i),
    .dst_rst_ni (wr_rst_ni),
    .dst_count_o(rd_seen)
  );

  if (DEPTH < 4 || (1 << ADDR_W) != DEPTH) begin : gen_param_check
    $error("fifo_async: DEPTH must be a power of two, at least 4");
  end

`ifndef SYNTHESIS
  logic [ADDR_W:0] held;
  assign held = wr_seen - rd_count_q;
  `WEFT_ASSERT(never_more_than_room, used <= (ADDR_W + 1)'(DEPTH), wr_clk_i, wr_rst_ni)
  `WEFT_ASSERT(never_read_ahead, held <= (ADDR_W + 1)'(DEPTH), rd_clk_i, rd_rst_ni)
  `WEFT_STREAM(u_rules, rd_valid_o, rd_ready_i, rd_data_o, 1'b0, rd_clk_i, rd_rst_ni)
`endif

endmodule
