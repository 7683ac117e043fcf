// The processor's accesses to the card's registers, from its clock to the card's.
//
// Handshake: AXI4-Lite on both sides. A channel takes a beat while its FIFO has room.
// Pipeline:  p_axil ──► aw w ar ─► m_axil ─► b r ──► p_axil, each a fifo_async

module control_lite (
  input logic clk_i,       // of the card
  input logic rst_ni,
  input logic proc_clk_i,
  input logic proc_rst_ni,

  axi_lite_if.slave  p_axil,
  axi_lite_if.master m_axil
);

  fifo_async #(
    .WIDTH(17),
    .DEPTH(4)
  ) u_m_aw (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_axil.awvalid),
    .wr_ready_o(p_axil.awready),
    .wr_data_i (p_axil.awaddr),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(m_axil.awvalid),
    .rd_ready_i(m_axil.awready),
    .rd_data_o (m_axil.awaddr)
  );

  fifo_async #(
    .WIDTH(36),
    .DEPTH(4)
  ) u_m_w (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_axil.wvalid),
    .wr_ready_o(p_axil.wready),
    .wr_data_i ({p_axil.wdata, p_axil.wstrb}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(m_axil.wvalid),
    .rd_ready_i(m_axil.wready),
    .rd_data_o ({m_axil.wdata, m_axil.wstrb})
  );

  fifo_async #(
    .WIDTH(2),
    .DEPTH(4)
  ) u_m_b (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(m_axil.bvalid),
    .wr_ready_o(m_axil.bready),
    .wr_data_i (m_axil.bresp),
    .wr_empty_o(),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p_axil.bvalid),
    .rd_ready_i(p_axil.bready),
    .rd_data_o (p_axil.bresp)
  );

  fifo_async #(
    .WIDTH(17),
    .DEPTH(4)
  ) u_m_ar (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_axil.arvalid),
    .wr_ready_o(p_axil.arready),
    .wr_data_i (p_axil.araddr),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(m_axil.arvalid),
    .rd_ready_i(m_axil.arready),
    .rd_data_o (m_axil.araddr)
  );

  fifo_async #(
    .WIDTH(34),
    .DEPTH(4)
  ) u_m_r (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(m_axil.rvalid),
    .wr_ready_o(m_axil.rready),
    .wr_data_i ({m_axil.rdata, m_axil.rresp}),
    .wr_empty_o(),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p_axil.rvalid),
    .rd_ready_i(p_axil.rready),
    .rd_data_o ({p_axil.rdata, p_axil.rresp})
  );

endmodule
