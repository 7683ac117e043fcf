// The control processor's bursts, from its clock to the card's, and the answers back.
//
// Handshake: ready/valid; answers are always taken. One burst each way at a time, and its beats have room.
// Pipeline:  fifo_async for each channel; answers have a register before.
// Why:       A write's address is sent behind the burst's last beat. So all of it is there when it is shown, and the card's own writes wait for its
//            beats only.

`include "weft_assert.svh"

module control_bursts #(
  parameter  int unsigned DATA_W = 512,
  localparam int unsigned BEATS  = 2048 / DATA_W,         // of control_dma's longest burst
  localparam int unsigned DEPTH  = BEATS < 4 ? 4 : BEATS
) (
  input logic clk_i,
  input logic rst_ni,
  input logic proc_clk_i,
  input logic proc_rst_ni,

  axi4_if.slave  p,
  axi4_if.master m_axi
);

  logic whole_q, aw_room, awvalid, wvalid, aw_q, w_q, aw, w_last, b_room, r_room, b_q, r_q;
  logic [1:0] b_resp_q, r_resp_q;
  logic [DATA_W-1:0] r_data_q;

  assign p.awready     = aw_room && whole_q;
  assign m_axi.awvalid = awvalid && !aw_q;
  assign m_axi.wvalid  = wvalid && (awvalid || aw_q) && !w_q;

  always_ff @(posedge proc_clk_i or negedge proc_rst_ni) begin
    if (!proc_rst_ni) whole_q <= 1'b0;
    else if (p.wvalid && p.wready && p.wlast) whole_q <= 1'b1;
    else if (p.awvalid && p.awready) whole_q <= 1'b0;
  end

  // Of the burst shown: its address was taken, its last beat was. With both it is over.
  assign aw     = aw_q || m_axi.awvalid && m_axi.awready;
  assign w_last = w_q || m_axi.wvalid && m_axi.wready && m_axi.wlast;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {aw_q, w_q} <= '0;
    else {aw_q, w_q} <= aw && w_last ? '0 : {aw, w_last};
  end

  // Answers: a register before they are written.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {b_q, r_q} <= '0;
    else {b_q, r_q} <= {m_axi.bvalid, m_axi.rvalid};
  end

  always_ff @(posedge clk_i) begin
    b_resp_q <= m_axi.bresp;
    r_resp_q <= m_axi.rresp;
    r_data_q <= m_axi.rdata;
  end

  fifo_async #(
    .WIDTH(72),
    .DEPTH(4)
  ) u_aw (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p.awvalid && whole_q),
    .wr_ready_o(aw_room),
    .wr_data_i ({p.awaddr, p.awlen}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(awvalid),
    .rd_ready_i(m_axi.awready && !aw_q),
    .rd_data_o ({m_axi.awaddr, m_axi.awlen})
  );

  fifo_async #(
    .WIDTH(DATA_W + DATA_W / 8 + 1),
    .DEPTH(DEPTH)
  ) u_w (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p.wvalid),
    .wr_ready_o(p.wready),
    .wr_data_i ({p.wlast, p.wstrb, p.wdata}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(wvalid),
    .rd_ready_i(m_axi.wready && m_axi.wvalid),
    .rd_data_o ({m_axi.wlast, m_axi.wstrb, m_axi.wdata})
  );

  fifo_async #(
    .WIDTH(2),
    .DEPTH(4)
  ) u_b (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(b_q),
    .wr_ready_o(b_room),
    .wr_data_i (b_resp_q),
    .wr_empty_o(),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p.bvalid),
    .rd_ready_i(1'b1),
    .rd_data_o (p.bresp)
  );

  fifo_async #(
    .WIDTH(72),
    .DEPTH(4)
  ) u_ar (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p.arvalid),
    .wr_ready_o(p.arready),
    .wr_data_i ({p.araddr, p.arlen}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(m_axi.arvalid),
    .rd_ready_i(m_axi.arready),
    .rd_data_o ({m_axi.araddr, m_axi.arlen})
  );

  fifo_async #(
    .WIDTH(DATA_W + 2),
    .DEPTH(DEPTH)
  ) u_r (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(r_q),
    .wr_ready_o(r_room),
    .wr_data_i ({r_resp_q, r_data_q}),
    .wr_empty_o(),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p.rvalid),
    .rd_ready_i(1'b1),
    .rd_data_o ({p.rresp, p.rdata})
  );

  `WEFT_ASSERT(a_answers, !(b_q && !b_room) && !(r_q && !r_room))
  // A burst that is shown has a beat in each cycle.
  `WEFT_ASSERT(a_whole, !(m_axi.awvalid || aw_q) || wvalid || w_q)

endmodule
