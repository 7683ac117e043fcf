// Weft on an AMD Alveo U50: the card between AMD's QDMA core, used as a bridge, and the integrated 100G MAC (docs/boards.md).
//
// Pipeline:  PCIe ◄─► u50_pcie ─► board_regs ─► weft_card ◄─► die_crossing ◄─► u50_mac ◄─► QSFP28
//                      ├─ push window ─────────► │
//                      ◄─ host memory, MSI-X ────┤
//                      └─ function-level reset ─►┘
// Why:       Three clocks: axi_aclk (250 MHz, from PCIe: the card), mac_clk (322.265625 MHz, from the QSFP's reference: the MAC). The third is
//            clk_init (100 MHz, free-running: the MAC's start). All crossings are in modules of rtl/boards/cdc.

module weft_u50 #(
  parameter int unsigned NUM_FLOWS = 1024,
  parameter int unsigned NUM_STAGS = 4096,
  parameter bit          RS_FEC    = 1'b1
) (
  input  logic        pcie_refclk_p,
  input  logic        pcie_refclk_n,
  input  logic        pcie_rst_n,
  input  logic [15:0] pcie_rx_p,
  input  logic [15:0] pcie_rx_n,
  output logic [15:0] pcie_tx_p,
  output logic [15:0] pcie_tx_n,

  input logic clk_100mhz_p,
  input logic clk_100mhz_n,

  input  logic       qsfp_refclk_p,
  input  logic       qsfp_refclk_n,
  input  logic [3:0] qsfp_rx_p,
  input  logic [3:0] qsfp_rx_n,
  output logic [3:0] qsfp_tx_p,
  output logic [3:0] qsfp_tx_n,
  output logic       qsfp_led_act,
  output logic       qsfp_led_stat_g,
  output logic       qsfp_led_stat_y,

  output logic hbm_cattrip  // high would cut the board's power
);

  localparam int unsigned DATA_W = 512;

  assign hbm_cattrip = 1'b0;

  // ---------------------------------------------------------------- clocks, resets
  logic clk_100mhz, clk_init, axi_aclk, axi_aresetn, card_rst_n, far_rst_n, init_rst_n;

  IBUFDS u_clk_100mhz (
    .I (clk_100mhz_p),
    .IB(clk_100mhz_n),
    .O (clk_100mhz)
  );
  BUFG u_clk_init (
    .I(clk_100mhz),
    .O(clk_init)
  );

  // The card and both sides of the FIFOs start with the PCIe core; the MAC with the slot's reset alone (u50_mac).
  reset_sync u_card_rst (
    .clk_i       (axi_aclk),
    .async_rst_ni(axi_aresetn),
    .rst_no      (card_rst_n)
  );
  // Of the card's clock on the MAC's die: released behind the other, before the MAC has a frame and the card's tables are clear.
  reset_sync u_far_rst (
    .clk_i       (axi_aclk),
    .async_rst_ni(card_rst_n),
    .rst_no      (far_rst_n)
  );
  reset_sync u_init_rst (
    .clk_i       (clk_init),
    .async_rst_ni(pcie_rst_n),
    .rst_no      (init_rst_n)
  );

  // ---------------------------------------------------------------- PCIe
  axi_lite_if axil ();
  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  logic push_valid, msix_valid, msix_ready, flr_req, flr_drained;
  logic [        11:0] push_addr;
  logic [  DATA_W-1:0] push_data;
  logic [DATA_W/8-1:0] push_strb;
  logic [         4:0] msix_vector;
  logic [         1:0] pcie_state;

  u50_pcie #(
    .DATA_W(DATA_W)
  ) u_pcie (
    .refclk_p     (pcie_refclk_p),
    .refclk_n     (pcie_refclk_n),
    .pcie_rst_n,
    .pcie_rx_p,
    .pcie_rx_n,
    .pcie_tx_p,
    .pcie_tx_n,
    .clk_o        (axi_aclk),
    .aresetn_o    (axi_aresetn),
    .rst_ni       (card_rst_n),
    .m_axil       (axil),
    .push_valid_o (push_valid),
    .push_addr_o  (push_addr),
    .push_data_o  (push_data),
    .push_strb_o  (push_strb),
    .m_axi,
    .msix_valid_i (msix_valid),
    .msix_ready_o (msix_ready),
    .msix_vector_i(msix_vector),
    .flr_req_o    (flr_req),
    .flr_drained_i(flr_drained),
    .state_o      (pcie_state)
  );

  // ---------------------------------------------------------------- the board's registers
  logic [31:0] rx_dropped, tx_dropped, card_rdata;
  logic [ 3:0]       mac_state;
  logic [ 7:0][31:0] board_words;
  logic [16:0]       card_araddr;
  logic [ 1:0]       card_rresp;
  logic card_arvalid, card_arready, card_rvalid, card_rready;

  assign board_words[0]   = 32'h57464244;  // "WFBD"
  assign board_words[1]   = 32'h00000050;  // which board
  assign board_words[2]   = {25'd0, flr_req, pcie_state, mac_state};
  assign board_words[3]   = rx_dropped;
  assign board_words[4]   = tx_dropped;
  assign board_words[7:5] = '0;

  board_regs #(
    .FIRST(17'h0ff00),
    .WORDS(8)
  ) u_board_regs (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .s_axil_araddr (axil.araddr),
    .s_axil_arvalid(axil.arvalid),
    .s_axil_arready(axil.arready),
    .s_axil_rdata  (axil.rdata),
    .s_axil_rresp  (axil.rresp),
    .s_axil_rvalid (axil.rvalid),
    .s_axil_rready (axil.rready),
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
  frame_if #(.DATA_W(DATA_W)) tx ();
  frame_if #(.DATA_W(DATA_W)) rx ();

  logic        rx_bad;
  logic [63:0] time_q;

  always_ff @(posedge axi_aclk or negedge card_rst_n) begin
    if (!card_rst_n) time_q <= '0;
    else time_q <= time_q + 1'b1;
  end

  weft_card #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .CLOCK_KHZ(250_000)
  ) u_card (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .reset_req_i   (flr_req),
    .reset_done_o  (flr_drained),
    .s_axil_awaddr (axil.awaddr),
    .s_axil_awvalid(axil.awvalid),
    .s_axil_awready(axil.awready),
    .s_axil_wdata  (axil.wdata),
    .s_axil_wstrb  (axil.wstrb),
    .s_axil_wvalid (axil.wvalid),
    .s_axil_wready (axil.wready),
    .s_axil_bresp  (axil.bresp),
    .s_axil_bvalid (axil.bvalid),
    .s_axil_bready (axil.bready),
    .s_axil_araddr (card_araddr),
    .s_axil_arvalid(card_arvalid),
    .s_axil_arready(card_arready),
    .s_axil_rdata  (card_rdata),
    .s_axil_rresp  (card_rresp),
    .s_axil_rvalid (card_rvalid),
    .s_axil_rready (card_rready),
    .push_valid_i  (push_valid),
    .push_addr_i   (push_addr),
    .push_data_i   (push_data),
    .push_strb_i   (push_strb),
    // The bridge has no AxCACHE and AxPROT.
    .m_axi_awid    (m_axi.awid),
    .m_axi_awaddr  (m_axi.awaddr),
    .m_axi_awlen   (m_axi.awlen),
    .m_axi_awsize  (m_axi.awsize),
    .m_axi_awburst (m_axi.awburst),
    .m_axi_awcache (),
    .m_axi_awprot  (),
    .m_axi_awuser  (m_axi.awuser),
    .m_axi_awvalid (m_axi.awvalid),
    .m_axi_awready (m_axi.awready),
    .m_axi_wdata   (m_axi.wdata),
    .m_axi_wstrb   (m_axi.wstrb),
    .m_axi_wlast   (m_axi.wlast),
    .m_axi_wvalid  (m_axi.wvalid),
    .m_axi_wready  (m_axi.wready),
    .m_axi_bid     (m_axi.bid),
    .m_axi_bresp   (m_axi.bresp),
    .m_axi_bvalid  (m_axi.bvalid),
    .m_axi_bready  (m_axi.bready),
    .m_axi_arid    (m_axi.arid),
    .m_axi_araddr  (m_axi.araddr),
    .m_axi_arlen   (m_axi.arlen),
    .m_axi_arsize  (m_axi.arsize),
    .m_axi_arburst (m_axi.arburst),
    .m_axi_arcache (),
    .m_axi_arprot  (),
    .m_axi_arvalid (m_axi.arvalid),
    .m_axi_arready (m_axi.arready),
    .m_axi_rid     (m_axi.rid),
    .m_axi_rdata   (m_axi.rdata),
    .m_axi_rresp   (m_axi.rresp),
    .m_axi_rlast   (m_axi.rlast),
    .m_axi_rvalid  (m_axi.rvalid),
    .m_axi_rready  (m_axi.rready),
    .msix_valid_o  (msix_valid),
    .msix_ready_i  (msix_ready),
    .msix_vector_o (msix_vector),
    .mac_tx_tdata  (tx.data),
    .mac_tx_tkeep  (tx.keep),
    .mac_tx_tlast  (tx.last),
    .mac_tx_tvalid (tx.valid),
    .mac_tx_tready (tx.ready),
    .mac_rx_tdata  (rx.data),
    .mac_rx_tkeep  (rx.keep),
    .mac_rx_tlast  (rx.last),
    .mac_rx_tuser  (rx_bad),
    .mac_rx_tvalid (rx.valid),
    .mac_rx_tready (rx.ready),
    .port1_off_i   (1'b0),
    .time_i        (time_q),
    .quiescent_o   ()
  );

  // ---------------------------------------------------------------- the MAC
  // far_*: the card's clock, on the MAC's die.
  frame_if #(.DATA_W(DATA_W)) far_tx ();
  frame_if #(.DATA_W(DATA_W)) far_rx ();
  logic                       far_rx_bad;
  logic [DATA_W+DATA_W/8+1:0] rx_beat;

  // The card is on PCIe's die, the FIFOs on the MAC's.
  die_crossing #(
    .WIDTH(DATA_W + DATA_W / 8 + 1)
  ) u_tx_crossing (
    .clk_i        (axi_aclk),
    .first_rst_ni (card_rst_n),
    .second_rst_ni(far_rst_n),
    .in_valid_i   (tx.valid),
    .in_ready_o   (tx.ready),
    .in_data_i    ({tx.last, tx.keep, tx.data}),
    .out_valid_o  (far_tx.valid),
    .out_ready_i  (far_tx.ready),
    .out_data_o   ({far_tx.last, far_tx.keep, far_tx.data})
  );
  die_crossing #(
    .WIDTH(DATA_W + DATA_W / 8 + 2)
  ) u_rx_crossing (
    .clk_i        (axi_aclk),
    .first_rst_ni (far_rst_n),
    .second_rst_ni(card_rst_n),
    .in_valid_i   (far_rx.valid),
    .in_ready_o   (far_rx.ready),
    .in_data_i    ({far_rx_bad, far_rx.last, far_rx.keep, far_rx.data}),
    .out_valid_o  (rx.valid),
    .out_ready_i  (rx.ready),
    .out_data_o   (rx_beat)
  );

  assign {rx_bad, rx.last, rx.keep, rx.data} = rx_beat;

  u50_mac #(
    .DATA_W(DATA_W),
    .RS_FEC(RS_FEC)
  ) u_mac (
    .clk_i       (axi_aclk),
    .rst_ni      (far_rst_n),
    .card_rst_ni (card_rst_n),
    .async_rst_ni(axi_aresetn),
    .init_clk_i  (clk_init),
    .init_rst_ni (init_rst_n),
    .qsfp_refclk_p,
    .qsfp_refclk_n,
    .qsfp_rx_p,
    .qsfp_rx_n,
    .qsfp_tx_p,
    .qsfp_tx_n,
    .tx          (far_tx),
    .rx          (far_rx),
    .rx_bad_o    (far_rx_bad),
    .rx_dropped_o(rx_dropped),
    .tx_dropped_o(tx_dropped),
    .state_o     (mac_state),
    .led_o       ({qsfp_led_act, qsfp_led_stat_g})
  );

  assign qsfp_led_stat_y = !qsfp_led_stat_g;

endmodule
