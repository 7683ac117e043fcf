// The host's register accesses on their way to a control processor with a clock of its own.
//
// Handshake: AXI4-Lite, one write at a time, which is answered when it is in its FIFO; the processor refuses none. A read waits for the writes before it.
// Pipeline:  s_axil ──► aw w ar ─► p_axil ─► r ──► s_axil, each a fifo_async
// Why:       A host that writes does not wait for the slower clock. `empty_o` tells the card's side what the processor's may not have seen yet.

module control_accesses (
  input logic clk_i,       // of the card
  input logic rst_ni,
  input logic proc_clk_i,
  input logic proc_rst_ni,

         axi_lite_if.slave  s_axil,
         axi_lite_if.master p_axil,
  output logic              empty_o  // level: no access is in a FIFO
);

  logic aw_q, w_q, aw_room, w_room, ar_room, aw_empty, w_empty, ar_empty, ar;

  assign s_axil.awready    = aw_room && !aw_q;
  assign s_axil.wready     = w_room && !w_q && (aw_q || s_axil.awvalid && s_axil.awready);
  assign s_axil.bvalid     = aw_q && w_q;
  assign s_axil.bresp      = 2'b00;
  assign ar                = s_axil.arvalid && aw_empty && w_empty;
  assign s_axil.arready    = ar_room && aw_empty && w_empty;
  assign p_axil.awaddr[16] = 1'b0;
  assign p_axil.araddr[16] = 1'b0;
  assign p_axil.bready     = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q} <= '0;
    end else begin
      aw_q <= s_axil.bvalid ? !s_axil.bready : aw_q || s_axil.awvalid && s_axil.awready;
      w_q  <= s_axil.bvalid ? !s_axil.bready : w_q || s_axil.wvalid && s_axil.wready;
    end
  end

  fifo_async #(
    .WIDTH(16),
    .DEPTH(16)
  ) u_s_aw (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(s_axil.awvalid && !aw_q),
    .wr_ready_o(aw_room),
    .wr_data_i (s_axil.awaddr[15:0]),
    .wr_empty_o(aw_empty),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p_axil.awvalid),
    .rd_ready_i(p_axil.awready),
    .rd_data_o (p_axil.awaddr[15:0])
  );

  fifo_async #(
    .WIDTH(36),
    .DEPTH(16)
  ) u_s_w (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(s_axil.wvalid && s_axil.wready),
    .wr_ready_o(w_room),
    .wr_data_i ({s_axil.wdata, s_axil.wstrb}),
    .wr_empty_o(w_empty),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p_axil.wvalid),
    .rd_ready_i(p_axil.wready),
    .rd_data_o ({p_axil.wdata, p_axil.wstrb})
  );

  fifo_async #(
    .WIDTH(16),
    .DEPTH(4)
  ) u_s_ar (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(ar),
    .wr_ready_o(ar_room),
    .wr_data_i (s_axil.araddr[15:0]),
    .wr_empty_o(ar_empty),
    .rd_clk_i  (proc_clk_i),
    .rd_rst_ni (proc_rst_ni),
    .rd_valid_o(p_axil.arvalid),
    .rd_ready_i(p_axil.arready),
    .rd_data_o (p_axil.araddr[15:0])
  );

  fifo_async #(
    .WIDTH(34),
    .DEPTH(4)
  ) u_s_r (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_axil.rvalid),
    .wr_ready_o(p_axil.rready),
    .wr_data_i ({p_axil.rdata, p_axil.rresp}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(s_axil.rvalid),
    .rd_ready_i(s_axil.rready),
    .rd_data_o ({s_axil.rdata, s_axil.rresp})
  );

  assign empty_o = aw_empty && w_empty && ar_empty;

endmodule
