// Payload that waits for its verdict. Beats are written as they come; nothing of them can be seen at the output before a
// verdict says "keep the next n beats" or "drop them" (dropping takes one cycle). Verdicts come in the order of the FPDUs.
// Handshake: ready/valid. A verdict may come before the last of its beats were written. From the write to the output two
// cycles; one beat per cycle. DEPTH beats must hold the longest FPDU, because a verdict waits for all of it.

module place_fifo #(
    parameter int unsigned DATA_W = 512,
    parameter int unsigned DEPTH = 256
) (
    input logic clk_i,
    input logic rst_ni,

    input logic wr_valid_i,
    output logic wr_ready_o,
    input logic [DATA_W-1:0] wr_data_i,

    input logic verdict_valid_i,
    output logic verdict_ready_o,
    input logic verdict_keep_i,
    input logic [11:0] verdict_beats_i,

    output logic rd_valid_o,
    input logic rd_ready_i,
    output logic [DATA_W-1:0] rd_data_o,

    output logic idle_o
);
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam logic [ADDR_W:0] FULL = (ADDR_W + 1)'(DEPTH);

  logic [ADDR_W-1:0] wr_ptr_q, rd_ptr_q;
  logic [ADDR_W:0] stored_q;
  logic [11:0] keep_q;  // beats to keep that are not yet fetched
  logic head_q;         // the memory's output register holds a beat
  logic write, fetch, drop;
  logic [ADDR_W:0] leave;

  assign wr_ready_o = stored_q != FULL;
  assign write = wr_valid_i && wr_ready_o;
  assign fetch = keep_q != 12'd0 && stored_q != '0 && (!head_q || rd_ready_i);
  assign drop = verdict_valid_i && !verdict_keep_i && keep_q == 12'd0 && 12'(stored_q) >= verdict_beats_i;
  assign verdict_ready_o = verdict_keep_i ? keep_q == 12'd0 : drop;
  assign leave = drop ? (ADDR_W + 1)'(verdict_beats_i) : (ADDR_W + 1)'(fetch);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      stored_q <= '0;
      keep_q <= '0;
      head_q <= 1'b0;
    end else begin
      if (write) wr_ptr_q <= wr_ptr_q + 1'b1;
      rd_ptr_q <= rd_ptr_q + leave[ADDR_W-1:0];
      stored_q <= stored_q + (ADDR_W + 1)'(write) - leave;
      if (verdict_valid_i && verdict_ready_o && verdict_keep_i) keep_q <= verdict_beats_i;
      else if (fetch) keep_q <= keep_q - 12'd1;
      if (fetch) head_q <= 1'b1;
      else if (rd_ready_i) head_q <= 1'b0;
    end
  end

  ram_1r1w #(
      .WIDTH(DATA_W),
      .DEPTH(DEPTH)
  ) u_ram (
      .clk_i,
      .we_i(write),
      .waddr_i(wr_ptr_q),
      .wdata_i(wr_data_i),
      .re_i(fetch),
      .raddr_i(rd_ptr_q),
      .rdata_o(rd_data_o)
  );

  assign rd_valid_o = head_q;
  assign idle_o = !head_q && keep_q == 12'd0 && stored_q == '0;

`ifndef SYNTHESIS
  initial begin
    assert ((1 << ADDR_W) == DEPTH && DEPTH < 4096)
    else $fatal(1, "place_fifo: DEPTH must be a power of two below 4096");
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      assert (stored_q <= FULL);
      if (verdict_valid_i) assert (verdict_beats_i <= 12'(DEPTH));
      // Nothing leaves without a verdict.
      if (fetch) assert (keep_q != 12'd0);
    end
  end
`endif
endmodule
