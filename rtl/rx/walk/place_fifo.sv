// Payload in wait of its verdict. No beat is visible at the output before a verdict keeps it; a dropped FPDU never is.
//
// Handshake: Beats are always taken; with `wr_go_o` (a register) there is room for SLACK more. Verdicts and output are ready/valid. Verdicts come in
//            the order of the FPDUs, perhaps before the last of their beats; a drop takes two cycles. Latency is three cycles from write to output;
//            throughput one beat a cycle.
// Pipeline:  cycle | registers      | what happens           | hazards
//            0     | RAM, stored_q  | a beat is written
//            1     | some_q, keep_q | beats kept are fetched | keeping_q: nothing without a verdict; enough_q: a drop waits for all its beats
//            2     | head_q         | the RAM's output
//            3     | u_out          | skid buffer
// Why:       DEPTH without SLACK holds the longest FPDU, because a verdict comes only behind all of it.

`include "weft_assert.svh"

module place_fifo #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned DEPTH  = 256,
  parameter int unsigned SLACK  = 16
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              wr_valid_i,
  output logic              wr_go_o,
  input  logic [DATA_W-1:0] wr_data_i,

  input  logic        verdict_valid_i,
  output logic        verdict_ready_o,
  input  logic        verdict_keep_i,
  input  logic [11:0] verdict_beats_i,

  output logic              rd_valid_o,
  input  logic              rd_ready_i,
  output logic [DATA_W-1:0] rd_data_o,

  output logic idle_o
);
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam logic [ADDR_W:0] FULL = (ADDR_W + 1)'(DEPTH);

  logic [ADDR_W-1:0] wr_ptr_q, rd_ptr_q;
  logic [ADDR_W:0] stored_q;
  logic [    11:0] keep_q;  // beats to keep, not fetched yet
  logic keeping_q, head_q;  // keeping_q: keep_q is not 0; head_q: the memory's output holds a beat
  logic some_q;  // `stored_q` is not 0; a cycle late behind a drop, when nothing is fetched
  logic enough_q;  // the verdict "drop" can be executed
  logic out_ready, fetch, drop;
  logic [  ADDR_W:0] leave;
  logic [DATA_W-1:0] rdata;

  assign fetch           = keeping_q && some_q && (!head_q || out_ready);
  assign drop            = verdict_valid_i && enough_q;
  assign verdict_ready_o = verdict_keep_i ? !keeping_q : enough_q;
  assign leave           = drop ? (ADDR_W + 1)'(verdict_beats_i) : (ADDR_W + 1)'(fetch);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q  <= '0;
      rd_ptr_q  <= '0;
      stored_q  <= '0;
      some_q    <= 1'b0;
      keep_q    <= '0;
      keeping_q <= 1'b0;
      enough_q  <= 1'b0;
      head_q    <= 1'b0;
      wr_go_o   <= 1'b0;
    end else begin
      if (wr_valid_i) wr_ptr_q <= wr_ptr_q + 1'b1;
      rd_ptr_q <= rd_ptr_q + leave[ADDR_W-1:0];
      stored_q <= stored_q + (ADDR_W + 1)'(wr_valid_i) - leave;
      some_q   <= wr_valid_i || stored_q > (ADDR_W + 1)'(1) || (stored_q[0] && !fetch);
      wr_go_o  <= stored_q <= (ADDR_W + 1)'(DEPTH - SLACK);
      if (verdict_valid_i && verdict_keep_i && !keeping_q) begin
        keep_q    <= verdict_beats_i;
        keeping_q <= verdict_beats_i != 12'd0;
      end else if (fetch) begin
        keep_q    <= keep_q - 12'd1;
        keeping_q <= keep_q != 12'd1;
      end
      // Nothing is fetched during a drop.
      enough_q <= verdict_valid_i && !verdict_keep_i && !keeping_q && !enough_q && 12'(stored_q) >= verdict_beats_i;
      if (fetch) head_q <= 1'b1;
      else if (out_ready) head_q <= 1'b0;
    end
  end

  ram_1r1w #(
    .WIDTH (DATA_W),
    .DEPTH (DEPTH),
    .UNSEEN(1'b1)
  ) u_ram (
    .clk_i,
    .we_i   (wr_valid_i),
    .waddr_i(wr_ptr_q),
    .wdata_i(wr_data_i),
    .re_i   (fetch),
    .raddr_i(rd_ptr_q),
    .rdata_o(rdata)
  );

  // No input reaches the memory combinationally, and a register follows it.
  stream_pair #(
    .WIDTH(DATA_W)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i    (1'b0),
    .in_valid_i (head_q),
    .in_ready_o (out_ready),
    .in_data_i  (rdata),
    .out_valid_o(rd_valid_o),
    .out_ready_i(rd_ready_i),
    .out_data_o (rd_data_o)
  );

  assign idle_o = !head_q && !rd_valid_o && !keeping_q && stored_q == '0;

  if ((1 << ADDR_W) != DEPTH || DEPTH >= 4096 || DEPTH <= SLACK) begin : gen_param_check
    $error("place_fifo: DEPTH must be a power of two below 4096");
  end
  `WEFT_ASSERT(no_overrun, stored_q <= FULL && !(wr_valid_i && stored_q == FULL))
  `WEFT_ASSERT(verdict_fits, verdict_valid_i -> verdict_beats_i <= 12'(DEPTH - SLACK))
  // Nothing leaves without a verdict.
  `WEFT_ASSERT(keeping_told, keeping_q == (keep_q != 12'd0))
  `WEFT_ASSERT(some_told, keeping_q -> some_q == (stored_q != '0))
  `WEFT_ASSERT(drop_alone, drop -> !fetch && !verdict_keep_i && stored_q >= leave)
endmodule
