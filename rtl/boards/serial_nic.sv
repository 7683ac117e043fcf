// The card between a serial line and a gigabit MAC, without vendor parts: bytes on one side, GMII on the other.
//
// Handshake: Bytes are ready/valid; GMII is a byte a cycle in either direction.
// Pipeline:  bytes ── serial_host ─ board_regs ─► weft_card ─► mac_tx_fifo ─► fifo_async ─► gmii_tx ── GMII
//                                 ◄──── AXI ─────────┘    ◄──────────────────── fifo_async ◄─ gmii_rx
// Why:       Two clocks: `clk_i` (the card and its host), `mac_clk_i` (125 MHz, the PHY's). All crossings are in modules of rtl/boards/cdc.

`include "weft_assert.svh"

module serial_nic #(
  parameter int unsigned        NUM_FLOWS = 64,
  parameter int unsigned        NUM_STAGS = 256,
  parameter bit                 OBSERVE   = 1'b0,
  parameter int unsigned        CLOCK_KHZ = 50_000,  // of clk_i
  parameter logic        [31:0] BOARD     = '0       // board number, for the registers
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic [63:0] time_o,  // cycles since the reset

  // The host, byte by byte.
  input  logic       rx_valid_i,
  output logic       rx_ready_o,
  input  logic [7:0] rx_byte_i,
  output logic       tx_valid_o,
  input  logic       tx_ready_i,
  output logic [7:0] tx_byte_o,
  input  logic       line_error_i,
  output logic       up_o,          // a host is connected

  // The PHY.
  input  logic       mac_clk_i,
  input  logic       mac_rst_ni,
  input  logic       gmii_rx_valid_i,
  input  logic       gmii_rx_error_i,
  input  logic [7:0] gmii_rx_byte_i,
  output logic       gmii_tx_valid_o,
  output logic [7:0] gmii_tx_byte_o,
  input  logic [3:0] status_i,         // the PHY's status between frames: duplex, speed, link
  output logic       link_o
);

  localparam int unsigned DATA_W = 128;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) time_o <= '0;
    else time_o <= time_o + 1'b1;
  end

  // ---------------------------------------------------------------- the host
  logic [16:0] axil_awaddr, axil_araddr, card_araddr;
  logic [31:0] axil_wdata, axil_rdata, card_rdata;
  logic [1:0] card_rresp;
  logic axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_bready;
  logic axil_arvalid, axil_arready, axil_rvalid, axil_rready;
  logic card_arvalid, card_arready, card_rvalid, card_rready;

  logic [63:0] awaddr, araddr;
  logic [7:0] arlen;
  logic [1:0] arid, rid, bresp, rresp;
  logic [DATA_W-1:0] wdata, rdata;
  logic [DATA_W/8-1:0] wstrb;
  logic awvalid, awready, wlast, wvalid, wready, bvalid, bready, arvalid, arready, rlast, rvalid, rready;
  logic msix_valid, msix_ready;
  logic [4:0] msix_vector;

  serial_host u_host (
    .clk_i,
    .rst_ni,
    .rx_valid_i,
    .rx_ready_o,
    .rx_byte_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_byte_o,
    .line_error_i,
    .up_o,
    .m_axil_awaddr (axil_awaddr),
    .m_axil_awvalid(axil_awvalid),
    .m_axil_awready(axil_awready),
    .m_axil_wdata  (axil_wdata),
    .m_axil_wvalid (axil_wvalid),
    .m_axil_wready (axil_wready),
    .m_axil_bvalid (axil_bvalid),
    .m_axil_bready (axil_bready),
    .m_axil_araddr (axil_araddr),
    .m_axil_arvalid(axil_arvalid),
    .m_axil_arready(axil_arready),
    .m_axil_rdata  (axil_rdata),
    .m_axil_rvalid (axil_rvalid),
    .m_axil_rready (axil_rready),
    .s_axi_awaddr  (awaddr),
    .s_axi_awvalid (awvalid),
    .s_axi_awready (awready),
    .s_axi_wdata   (wdata),
    .s_axi_wstrb   (wstrb),
    .s_axi_wlast   (wlast),
    .s_axi_wvalid  (wvalid),
    .s_axi_wready  (wready),
    .s_axi_bresp   (bresp),
    .s_axi_bvalid  (bvalid),
    .s_axi_bready  (bready),
    .s_axi_arid    (arid),
    .s_axi_araddr  (araddr),
    .s_axi_arlen   (arlen),
    .s_axi_arvalid (arvalid),
    .s_axi_arready (arready),
    .s_axi_rid     (rid),
    .s_axi_rdata   (rdata),
    .s_axi_rresp   (rresp),
    .s_axi_rlast   (rlast),
    .s_axi_rvalid  (rvalid),
    .s_axi_rready  (rready),
    .msix_valid_i  (msix_valid),
    .msix_ready_o  (msix_ready),
    .msix_vector_i (msix_vector)
  );

  // ---------------------------------------------------------------- the board's registers
  logic [31:0] tx_dropped;
  logic [4:0] mac_state_q, mac_state;
  logic [7:0][31:0] board_words;

  assign board_words[0]   = 32'h57464244;  // "WFBD"
  assign board_words[1]   = BOARD;
  assign board_words[2]   = {27'd0, mac_state};
  assign board_words[3]   = '0;  // no frame is dropped before the card
  assign board_words[4]   = tx_dropped;
  assign board_words[7:5] = '0;

  board_regs #(
    .FIRST(17'h0ff00),
    .WORDS(8)
  ) u_board_regs (
    .clk_i,
    .rst_ni,
    .s_axil_araddr (axil_araddr),
    .s_axil_arvalid(axil_arvalid),
    .s_axil_arready(axil_arready),
    .s_axil_rdata  (axil_rdata),
    .s_axil_rresp  (),
    .s_axil_rvalid (axil_rvalid),
    .s_axil_rready (axil_rready),
    .m_axil_araddr (card_araddr),
    .m_axil_arvalid(card_arvalid),
    .m_axil_arready(card_arready),
    .m_axil_rdata  (card_rdata),
    .m_axil_rresp  (card_rresp),
    .m_axil_rvalid (card_rvalid),
    .m_axil_rready (card_rready),
    .words_i       (board_words)
  );

  // ---------------------------------------------------------------- the card
  logic [DATA_W-1:0] tx_tdata, rx_tdata;
  logic [DATA_W/8-1:0] tx_tkeep, rx_tkeep;
  logic tx_tlast, tx_tvalid, tx_tready, rx_tlast, rx_tuser, rx_tvalid, rx_tready;

  weft_card #(
    .DATA_W       (DATA_W),
    .NUM_FLOWS    (NUM_FLOWS),
    .NUM_STAGS    (NUM_STAGS),
    .PUSH_SLOTS   (0),
    .OBSERVE      (OBSERVE),
    .TRACE_LOG2   (6),
    .CAPTURE_BYTES(4096),
    .CLOCK_KHZ    (CLOCK_KHZ),
    .DEPTHS       (weft_int_pkg::SHALLOW)
  ) u_card (
    .clk_i,
    .rst_ni,
    .reset_req_i   (1'b0),
    .reset_done_o  (),
    .s_axil_awaddr (axil_awaddr),
    .s_axil_awvalid(axil_awvalid),
    .s_axil_awready(axil_awready),
    .s_axil_wdata  (axil_wdata),
    .s_axil_wstrb  (4'hf),
    .s_axil_wvalid (axil_wvalid),
    .s_axil_wready (axil_wready),
    .s_axil_bresp  (),
    .s_axil_bvalid (axil_bvalid),
    .s_axil_bready (axil_bready),
    .s_axil_araddr (card_araddr),
    .s_axil_arvalid(card_arvalid),
    .s_axil_arready(card_arready),
    .s_axil_rdata  (card_rdata),
    .s_axil_rresp  (card_rresp),
    .s_axil_rvalid (card_rvalid),
    .s_axil_rready (card_rready),
    .push_valid_i  (1'b0),
    .push_addr_i   ('0),
    .push_data_i   ('0),
    .push_strb_i   ('0),
    .m_axi_awid    (),
    .m_axi_awaddr  (awaddr),
    .m_axi_awlen   (),
    .m_axi_awsize  (),
    .m_axi_awburst (),
    .m_axi_awcache (),
    .m_axi_awprot  (),
    .m_axi_awuser  (),
    .m_axi_awvalid (awvalid),
    .m_axi_awready (awready),
    .m_axi_wdata   (wdata),
    .m_axi_wstrb   (wstrb),
    .m_axi_wlast   (wlast),
    .m_axi_wvalid  (wvalid),
    .m_axi_wready  (wready),
    .m_axi_bid     ('0),
    .m_axi_bresp   (bresp),
    .m_axi_bvalid  (bvalid),
    .m_axi_bready  (bready),
    .m_axi_arid    (arid),
    .m_axi_araddr  (araddr),
    .m_axi_arlen   (arlen),
    .m_axi_arsize  (),
    .m_axi_arburst (),
    .m_axi_arcache (),
    .m_axi_arprot  (),
    .m_axi_arvalid (arvalid),
    .m_axi_arready (arready),
    .m_axi_rid     (rid),
    .m_axi_rdata   (rdata),
    .m_axi_rresp   (rresp),
    .m_axi_rlast   (rlast),
    .m_axi_rvalid  (rvalid),
    .m_axi_rready  (rready),
    .msix_valid_o  (msix_valid),
    .msix_ready_i  (msix_ready),
    .msix_vector_o (msix_vector),
    .mac_tx_tdata  (tx_tdata),
    .mac_tx_tkeep  (tx_tkeep),
    .mac_tx_tlast  (tx_tlast),
    .mac_tx_tvalid (tx_tvalid),
    .mac_tx_tready (tx_tready),
    .mac_rx_tdata  (rx_tdata),
    .mac_rx_tkeep  (rx_tkeep),
    .mac_rx_tlast  (rx_tlast),
    .mac_rx_tuser  (rx_tuser),
    .mac_rx_tvalid (rx_tvalid),
    .mac_rx_tready (rx_tready),
    .port1_off_i   (1'b0),
    .time_i        (time_o),
    .quiescent_o   ()
  );

  // ---------------------------------------------------------------- between the card's clock and the MAC's
  // The wide and deep FIFO is in the card's clock; the MAC's has only two short FIFOs in LUT RAM. The card takes a beat of 16 bytes each cycle, so
  // nothing waits for it, and drops and counts what it has no room for. Its frames come faster than they are sent, and whole.
  logic [DATA_W-1:0] whole_tdata, mac_tx_tdata, mac_rx_tdata;
  logic [DATA_W/8-1:0] whole_tkeep, mac_tx_tkeep, mac_rx_tkeep;
  logic whole_tlast, whole_tvalid, whole_tready;
  logic mac_tx_tlast, mac_tx_tvalid, mac_tx_tready, mac_rx_tlast, mac_rx_tuser, mac_rx_tvalid, mac_rx_tready;

  // Pads, drops without a link, and holds the longest frame of the card (9018 bytes): none is lost in the middle with the link.
  mac_tx_fifo #(
    .DATA_W(DATA_W),
    .DEPTH (1024),
    .FRAMES(16)
  ) u_tx_fifo (
    .clk_i,
    .rst_ni,
    .link_i    (link_o),
    .tx_tdata,
    .tx_tkeep,
    .tx_tlast,
    .tx_tvalid,
    .tx_tready,
    .dropped_o (tx_dropped),
    .mac_clk_i (clk_i),
    .mac_rst_ni(rst_ni),
    .mac_rst_i (1'b0),
    .mac_tdata (whole_tdata),
    .mac_tkeep (whole_tkeep),
    .mac_tlast (whole_tlast),
    .mac_tvalid(whole_tvalid),
    .mac_tready(whole_tready)
  );

  fifo_async #(
    .WIDTH(1 + DATA_W / 8 + DATA_W),
    .DEPTH(16)
  ) u_to_mac (
    .wr_clk_i  (clk_i),
    .wr_rst_ni (rst_ni),
    .wr_valid_i(whole_tvalid),
    .wr_ready_o(whole_tready),
    .wr_data_i ({whole_tlast, whole_tkeep, whole_tdata}),
    .wr_empty_o(),
    .rd_clk_i  (mac_clk_i),
    .rd_rst_ni (mac_rst_ni),
    .rd_valid_o(mac_tx_tvalid),
    .rd_ready_i(mac_tx_tready),
    .rd_data_o ({mac_tx_tlast, mac_tx_tkeep, mac_tx_tdata})
  );

  fifo_async #(
    .WIDTH(2 + DATA_W / 8 + DATA_W),
    .DEPTH(16)
  ) u_from_mac (
    .wr_clk_i  (mac_clk_i),
    .wr_rst_ni (mac_rst_ni),
    .wr_valid_i(mac_rx_tvalid),
    .wr_ready_o(mac_rx_tready),
    .wr_data_i ({mac_rx_tuser, mac_rx_tlast, mac_rx_tkeep, mac_rx_tdata}),
    .wr_empty_o(),
    .rd_clk_i  (clk_i),
    .rd_rst_ni (rst_ni),
    .rd_valid_o(rx_tvalid),
    .rd_ready_i(rx_tready),
    .rd_data_o ({rx_tuser, rx_tlast, rx_tkeep, rx_tdata})
  );

  // ---------------------------------------------------------------- the MAC
  logic underrun, overrun;

  assign overrun = mac_rx_tvalid && !mac_rx_tready;

  gmii_rx u_gmii_rx (
    .clk_i        (mac_clk_i),
    .rst_ni       (mac_rst_ni),
    .valid_i      (gmii_rx_valid_i),
    .error_i      (gmii_rx_error_i),
    .byte_i       (gmii_rx_byte_i),
    .m_axis_tdata (mac_rx_tdata),
    .m_axis_tkeep (mac_rx_tkeep),
    .m_axis_tlast (mac_rx_tlast),
    .m_axis_tuser (mac_rx_tuser),
    .m_axis_tvalid(mac_rx_tvalid)
  );

  gmii_tx u_gmii_tx (
    .clk_i        (mac_clk_i),
    .rst_ni       (mac_rst_ni),
    .s_axis_tdata (mac_tx_tdata),
    .s_axis_tkeep (mac_tx_tkeep),
    .s_axis_tlast (mac_tx_tlast),
    .s_axis_tvalid(mac_tx_tvalid),
    .s_axis_tready(mac_tx_tready),
    .valid_o      (gmii_tx_valid_o),
    .byte_o       (gmii_tx_byte_o),
    .underrun_o   (underrun)
  );

  // Bit 0: a link of 1 Gb/s, full duplex; others are none. 3:1 link and speed from the PHY. 4: a frame ran dry, or a beat found no room: never.
  always_ff @(posedge mac_clk_i or negedge mac_rst_ni) begin
    if (!mac_rst_ni) mac_state_q <= '0;
    else mac_state_q <= {mac_state_q[4] || underrun || overrun, status_i[2:0], status_i == 4'b1101};
  end

  bit_sync u_link (
    .clk_i,
    .rst_ni,
    .async_i(mac_state_q[0]),
    .sync_o (link_o)
  );
  word_sync #(
    .WIDTH(5)
  ) u_mac_state (
    .src_clk_i (mac_clk_i),
    .src_rst_ni(mac_rst_ni),
    .src_word_i(mac_state_q),
    .dst_clk_i (clk_i),
    .dst_rst_ni(rst_ni),
    .dst_word_o(mac_state)
  );

  `WEFT_ASSERT(nothing_waits_for_the_card, !overrun, mac_clk_i, mac_rst_ni)

endmodule
