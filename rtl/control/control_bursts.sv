// The control processor's bursts, from its clock to the card's, and the answers back.
//
// Handshake: ready/valid; answers are always taken. One burst each way at a time, and its beats have room.
// Pipeline:  fifo_async for each channel; answers have a register before.
// Why:       A write's address is sent behind the burst's last beat. So all of it is there when it is shown, and the card's own writes wait for its
//            beats only.

module control_bursts #(
  parameter  int unsigned DATA_W = 512,
  localparam int unsigned BEATS  = 2048 / DATA_W,         // of control_dma's longest burst
  localparam int unsigned DEPTH  = BEATS < 4 ? 4 : BEATS
) (
  input logic clk_i,
  input logic rst_ni,
  input logic proc_clk_i,
  input logic proc_rst_ni,

  input  logic [        63:0] p_awaddr_i,
  input  logic [         7:0] p_awlen_i,
  input  logic                p_awvalid_i,
  output logic                p_awready_o,
  input  logic [  DATA_W-1:0] p_wdata_i,
  input  logic [DATA_W/8-1:0] p_wstrb_i,
  input  logic                p_wlast_i,
  input  logic                p_wvalid_i,
  output logic                p_wready_o,
  output logic [         1:0] p_bresp_o,
  output logic                p_bvalid_o,
  input  logic [        63:0] p_araddr_i,
  input  logic [         7:0] p_arlen_i,
  input  logic                p_arvalid_i,
  output logic                p_arready_o,
  output logic [  DATA_W-1:0] p_rdata_o,
  output logic [         1:0] p_rresp_o,
  output logic                p_rvalid_o,

  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [  DATA_W-1:0] m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [         1:0] m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic [        63:0] m_axi_araddr,
  output logic [         7:0] m_axi_arlen,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [  DATA_W-1:0] m_axi_rdata,
  input  logic [         1:0] m_axi_rresp,
  input  logic                m_axi_rvalid
);

  logic whole_q, aw_room, awvalid, wvalid, aw_q, w_q, aw, w_last, b_room, r_room, b_q, r_q;
  logic [1:0] b_resp_q, r_resp_q;
  logic [DATA_W-1:0] r_data_q;

  assign p_awready_o   = aw_room && whole_q;
  assign m_axi_awvalid = awvalid && !aw_q;
  assign m_axi_wvalid  = wvalid && (awvalid || aw_q) && !w_q;

  always_ff @(posedge proc_clk_i or negedge proc_rst_ni) begin
    if (!proc_rst_ni) whole_q <= 1'b0;
    else if (p_wvalid_i && p_wready_o && p_wlast_i) whole_q <= 1'b1;
    else if (p_awvalid_i && p_awready_o) whole_q <= 1'b0;
  end

  // Of the burst shown: its address was taken, its last beat was. With both it is over.
  assign aw     = aw_q || m_axi_awvalid && m_axi_awready;
  assign w_last = w_q || m_axi_wvalid && m_axi_wready && m_axi_wlast;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {aw_q, w_q} <= '0;
    else {aw_q, w_q} <= aw && w_last ? '0 : {aw, w_last};
  end

  // Answers: a register before they are written.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {b_q, r_q} <= '0;
    else {b_q, r_q} <= {m_axi_bvalid, m_axi_rvalid};
  end

  always_ff @(posedge clk_i) begin
    b_resp_q <= m_axi_bresp;
    r_resp_q <= m_axi_rresp;
    r_data_q <= m_axi_rdata;
  end

  fifo_async #(
    .WIDTH(72),
    .DEPTH(4)
  ) u_aw (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_awvalid_i && whole_q),
    .wr_ready_o(aw_room),
    .wr_data_i ({p_awaddr_i, p_awlen_i}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(awvalid),
    .rd_ready_i(m_axi_awready && !aw_q),
    .rd_data_o ({m_axi_awaddr, m_axi_awlen})
  );

  fifo_async #(
    .WIDTH(DATA_W + DATA_W / 8 + 1),
    .DEPTH(DEPTH)
  ) u_w (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_wvalid_i),
    .wr_ready_o(p_wready_o),
    .wr_data_i ({p_wlast_i, p_wstrb_i, p_wdata_i}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(wvalid),
    .rd_ready_i(m_axi_wready && m_axi_wvalid),
    .rd_data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
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
    .rd_valid_o(p_bvalid_o),
    .rd_ready_i(1'b1),
    .rd_data_o (p_bresp_o)
  );

  fifo_async #(
    .WIDTH(72),
    .DEPTH(4)
  ) u_ar (
    .wr_clk_i  (proc_clk_i),
    .wr_rst_ni (proc_rst_ni),
    .wr_valid_i(p_arvalid_i),
    .wr_ready_o(p_arready_o),
    .wr_data_i ({p_araddr_i, p_arlen_i}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(m_axi_arvalid),
    .rd_ready_i(m_axi_arready),
    .rd_data_o ({m_axi_araddr, m_axi_arlen})
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
    .rd_valid_o(p_rvalid_o),
    .rd_ready_i(1'b1),
    .rd_data_o ({p_rresp_o, p_rdata_o})
  );

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_answers : assert (!(b_q && !b_room) && !(r_q && !r_room));
      // A burst that is shown has a beat in each cycle.
      a_whole : assert (!(m_axi_awvalid || aw_q) || wvalid || w_q);
    end
  end
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
