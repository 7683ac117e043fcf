// Weft on an AMD Alveo U50: the card between AMD's QDMA core, used as a bridge, and the integrated 100G MAC (docs/boards.md).
//
// Pipeline:  PCIe ─► QDMA ─ m_axib ─► bar_port ─► board_regs ─► weft_card ─► mac_tx_fifo ─► CMAC ─► QSFP28
//                       │                  └─ push window ──────────►│  ◄──── mac_rx_fifo ◄──┘
//                       ◄─ s_axib ◄─ write_whole, read_pace ◄────────┤
//                       ◄─ usr_irq ◄─ irq_request ◄──────────────────┤
//                       ── usr_flr ─► flr_request ───────────────────┘
// Why:       Three clocks: axi_aclk (250 MHz, from PCIe: the card), mac_clk (322.265625 MHz, from the QSFP's reference: the MAC). The third is
//            clk_init (100 MHz, free-running: the MAC's start). All crossings are in modules of rtl/boards/cdc.
//            BAR0 and BAR2 are at 0x00000 and 0x10000 of m_axib (set in cores.tcl); BAR4 is the core's own, with the MSI-X table.

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
  logic pcie_refclk_gt, pcie_refclk, clk_100mhz, clk_init, axi_aclk, axi_aresetn, mac_clk;
  logic card_rst_n, far_rst_n, mac_rst_n, init_rst_n, mac_start_rst_n;

  IBUFDS_GTE4 #(
    .REFCLK_HROW_CK_SEL(2'b00)
  ) u_pcie_refclk (
    .I    (pcie_refclk_p),
    .IB   (pcie_refclk_n),
    .CEB  (1'b0),
    .O    (pcie_refclk_gt),
    .ODIV2(pcie_refclk)
  );
  IBUFDS u_clk_100mhz (
    .I (clk_100mhz_p),
    .IB(clk_100mhz_n),
    .O (clk_100mhz)
  );
  BUFG u_clk_init (
    .I(clk_100mhz),
    .O(clk_init)
  );

  // The card and both sides of the FIFOs start with the PCIe core; the MAC with the slot's reset alone, so that the link stays up when
  // the host resets the function or the bus.
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
  reset_sync u_mac_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(axi_aresetn),
    .rst_no      (mac_rst_n)
  );
  reset_sync u_init_rst (
    .clk_i       (clk_init),
    .async_rst_ni(pcie_rst_n),
    .rst_no      (init_rst_n)
  );
  reset_sync u_mac_start_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(init_rst_n),
    .rst_no      (mac_start_rst_n)
  );

  // ---------------------------------------------------------------- PCIe
  // bar_*: from the bridge; axil_*: registers, behind bar_port; push_*: the push window, likewise.
  logic [63:0] bar_awaddr, bar_araddr;
  logic [7:0] bar_arlen;
  logic [2:0] bar_awsize, bar_arsize;
  logic [3:0] bar_awid, bar_bid, bar_arid, bar_rid;
  logic [1:0] bar_bresp, bar_rresp;
  logic [DATA_W-1:0] bar_wdata, bar_rdata, push_data;
  logic [DATA_W/8-1:0] bar_wstrb, push_strb;
  logic bar_awvalid, bar_awready, bar_wlast, bar_wvalid, bar_wready, bar_bvalid, bar_bready;
  logic bar_arvalid, bar_arready, bar_rlast, bar_rvalid, bar_rready;
  logic        push_valid;
  logic [11:0] push_addr;

  logic [31:0] axil_wdata, axil_rdata, card_rdata;
  logic [3:0] axil_wstrb;
  logic [16:0] axil_awaddr, axil_araddr, card_araddr;
  logic [1:0] axil_bresp, axil_rresp, card_rresp;
  logic axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_bready;
  logic axil_arvalid, axil_arready, axil_rvalid, axil_rready;
  logic card_arvalid, card_arready, card_rvalid, card_rready;

  // aw, w, b: between write_whole and the bridge; card_*: between the card and write_whole; ask_*: of AR, between the card and read_pace.
  logic [63:0] awaddr, araddr, card_awaddr;
  logic [7:0] awlen, arlen;
  logic [2:0] arsize;
  logic [1:0] arid, arburst, bresp, rresp, card_bresp;
  logic [3:0] rid;
  logic [DATA_W-1:0] wdata, rdata, card_wdata;
  logic [DATA_W/8-1:0] wstrb, card_wstrb;
  logic awvalid, awready, wlast, wvalid, wready, bvalid, bready, arvalid, arready, rlast, rvalid, rready;
  logic ask_valid, ask_ready, card_awvalid, card_awready, card_wlast, card_wvalid, card_wready, card_bvalid, card_bready;

  logic irq_valid, irq_ack, irq_fail, flr_set, flr_done, pcie_link, pcie_phy_ready;
  logic [4:0] irq_vector;
  logic [7:0] flr_fnc, flr_done_fnc;

  qdma_0 u_qdma (
    .sys_clk     (pcie_refclk),
    .sys_clk_gt  (pcie_refclk_gt),
    .sys_rst_n   (pcie_rst_n),
    .pci_exp_rxp (pcie_rx_p),
    .pci_exp_rxn (pcie_rx_n),
    .pci_exp_txp (pcie_tx_p),
    .pci_exp_txn (pcie_tx_n),
    .user_lnk_up (pcie_link),
    .phy_ready   (pcie_phy_ready),
    .axi_aclk,
    .axi_aresetn,
    .soft_reset_n(1'b1),

    .m_axib_awid   (bar_awid),
    .m_axib_awaddr (bar_awaddr),
    .m_axib_awuser (),
    .m_axib_awlen  (),
    .m_axib_awsize (bar_awsize),
    .m_axib_awburst(),
    .m_axib_awprot (),
    .m_axib_awlock (),
    .m_axib_awcache(),
    .m_axib_awvalid(bar_awvalid),
    .m_axib_awready(bar_awready),
    .m_axib_wdata  (bar_wdata),
    .m_axib_wstrb  (bar_wstrb),
    .m_axib_wlast  (bar_wlast),
    .m_axib_wvalid (bar_wvalid),
    .m_axib_wready (bar_wready),
    .m_axib_bid    (bar_bid),
    .m_axib_bresp  (bar_bresp),
    .m_axib_bvalid (bar_bvalid),
    .m_axib_bready (bar_bready),
    .m_axib_arid   (bar_arid),
    .m_axib_araddr (bar_araddr),
    .m_axib_aruser (),
    .m_axib_arlen  (bar_arlen),
    .m_axib_arsize (bar_arsize),
    .m_axib_arburst(),
    .m_axib_arprot (),
    .m_axib_arlock (),
    .m_axib_arcache(),
    .m_axib_arvalid(bar_arvalid),
    .m_axib_arready(bar_arready),
    .m_axib_rid    (bar_rid),
    .m_axib_rdata  (bar_rdata),
    .m_axib_rresp  (bar_rresp),
    .m_axib_rlast  (bar_rlast),
    .m_axib_rvalid (bar_rvalid),
    .m_axib_rready (bar_rready),

    .s_axib_awid    ('0),
    .s_axib_awaddr  (awaddr),
    .s_axib_awuser  ('0),
    .s_axib_awregion('0),
    .s_axib_awlen   (awlen),
    .s_axib_awsize  (3'($clog2(DATA_W / 8))),
    .s_axib_awburst (2'b01),
    .s_axib_awvalid (awvalid),
    .s_axib_awready (awready),
    .s_axib_wdata   (wdata),
    .s_axib_wuser   ('0),
    .s_axib_wstrb   (wstrb),
    .s_axib_wlast   (wlast),
    .s_axib_wvalid  (wvalid),
    .s_axib_wready  (wready),
    .s_axib_bid     (),
    .s_axib_bresp   (bresp),
    .s_axib_bvalid  (bvalid),
    .s_axib_bready  (bready),
    .s_axib_arid    ({2'b00, arid}),
    .s_axib_araddr  (araddr),
    .s_axib_aruser  ('0),
    .s_axib_arregion('0),
    .s_axib_arlen   (arlen),
    .s_axib_arsize  (arsize),
    .s_axib_arburst (arburst),
    .s_axib_arvalid (arvalid),
    .s_axib_arready (arready),
    .s_axib_rid     (rid),
    .s_axib_rdata   (rdata),
    .s_axib_ruser   (),
    .s_axib_rresp   (rresp),
    .s_axib_rlast   (rlast),
    .s_axib_rvalid  (rvalid),
    .s_axib_rready  (rready),

    // They come with the slave bridge; nobody reads them, and unread they would fill the core's FIFO.
    .st_rx_msg_rdy  (1'b1),
    .st_rx_msg_valid(),
    .st_rx_msg_last (),
    .st_rx_msg_data (),

    .usr_irq_in_vld  (irq_valid),
    .usr_irq_in_vec  (11'(irq_vector)),
    .usr_irq_in_fnc  ('0),
    .usr_irq_out_ack (irq_ack),
    .usr_irq_out_fail(irq_fail),
    .usr_flr_fnc     (flr_fnc),
    .usr_flr_set     (flr_set),
    .usr_flr_done_fnc(flr_done_fnc),
    .usr_flr_done_vld(flr_done),

    // The card is its own DMA engine: no queue is set up, and nothing comes here.
    .m_axi_awid        (),
    .m_axi_awaddr      (),
    .m_axi_awuser      (),
    .m_axi_awlen       (),
    .m_axi_awsize      (),
    .m_axi_awburst     (),
    .m_axi_awprot      (),
    .m_axi_awlock      (),
    .m_axi_awcache     (),
    .m_axi_awvalid     (),
    .m_axi_awready     (1'b0),
    .m_axi_wdata       (),
    .m_axi_wuser       (),
    .m_axi_wstrb       (),
    .m_axi_wlast       (),
    .m_axi_wvalid      (),
    .m_axi_wready      (1'b0),
    .m_axi_bid         ('0),
    .m_axi_bresp       ('0),
    .m_axi_bvalid      (1'b0),
    .m_axi_bready      (),
    .m_axi_arid        (),
    .m_axi_araddr      (),
    .m_axi_aruser      (),
    .m_axi_arlen       (),
    .m_axi_arsize      (),
    .m_axi_arburst     (),
    .m_axi_arprot      (),
    .m_axi_arlock      (),
    .m_axi_arcache     (),
    .m_axi_arvalid     (),
    .m_axi_arready     (1'b0),
    .m_axi_rid         ('0),
    .m_axi_rdata       ('0),
    .m_axi_rresp       ('0),
    .m_axi_rlast       (1'b0),
    .m_axi_rvalid      (1'b0),
    .m_axi_rready      (),
    .tm_dsc_sts_vld    (),
    .tm_dsc_sts_port_id(),
    .tm_dsc_sts_qen    (),
    .tm_dsc_sts_byp    (),
    .tm_dsc_sts_dir    (),
    .tm_dsc_sts_mm     (),
    .tm_dsc_sts_error  (),
    .tm_dsc_sts_qid    (),
    .tm_dsc_sts_avl    (),
    .tm_dsc_sts_qinv   (),
    .tm_dsc_sts_irq_arm(),
    .tm_dsc_sts_pidx   (),
    .tm_dsc_sts_rdy    (1'b1),
    .dsc_crdt_in_vld   (1'b0),
    .dsc_crdt_in_crdt  ('0),
    .dsc_crdt_in_qid   ('0),
    .dsc_crdt_in_dir   (1'b0),
    .dsc_crdt_in_fence (1'b0),
    .dsc_crdt_in_rdy   (),
    .qsts_out_op       (),
    .qsts_out_data     (),
    .qsts_out_port_id  (),
    .qsts_out_qid      (),
    .qsts_out_vld      (),
    .qsts_out_rdy      (1'b1)
  );

  bar_port #(
    .DATA_W(DATA_W),
    .ID_W  (4)
  ) u_bar_port (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .s_axi_awid    (bar_awid),
    .s_axi_awaddr  (bar_awaddr[16:0]),
    .s_axi_awsize  (bar_awsize),
    .s_axi_awvalid (bar_awvalid),
    .s_axi_awready (bar_awready),
    .s_axi_wdata   (bar_wdata),
    .s_axi_wstrb   (bar_wstrb),
    .s_axi_wlast   (bar_wlast),
    .s_axi_wvalid  (bar_wvalid),
    .s_axi_wready  (bar_wready),
    .s_axi_bid     (bar_bid),
    .s_axi_bresp   (bar_bresp),
    .s_axi_bvalid  (bar_bvalid),
    .s_axi_bready  (bar_bready),
    .s_axi_arid    (bar_arid),
    .s_axi_araddr  (bar_araddr[16:0]),
    .s_axi_arlen   (bar_arlen),
    .s_axi_arsize  (bar_arsize),
    .s_axi_arvalid (bar_arvalid),
    .s_axi_arready (bar_arready),
    .s_axi_rid     (bar_rid),
    .s_axi_rdata   (bar_rdata),
    .s_axi_rresp   (bar_rresp),
    .s_axi_rlast   (bar_rlast),
    .s_axi_rvalid  (bar_rvalid),
    .s_axi_rready  (bar_rready),
    .m_axil_awaddr (axil_awaddr),
    .m_axil_awvalid(axil_awvalid),
    .m_axil_awready(axil_awready),
    .m_axil_wdata  (axil_wdata),
    .m_axil_wstrb  (axil_wstrb),
    .m_axil_wvalid (axil_wvalid),
    .m_axil_wready (axil_wready),
    .m_axil_bresp  (axil_bresp),
    .m_axil_bvalid (axil_bvalid),
    .m_axil_bready (axil_bready),
    .m_axil_araddr (axil_araddr),
    .m_axil_arvalid(axil_arvalid),
    .m_axil_arready(axil_arready),
    .m_axil_rdata  (axil_rdata),
    .m_axil_rresp  (axil_rresp),
    .m_axil_rvalid (axil_rvalid),
    .m_axil_rready (axil_rready),
    .push_valid_o  (push_valid),
    .push_addr_o   (push_addr),
    .push_data_o   (push_data),
    .push_strb_o   (push_strb)
  );

  // A drain's beats without strobes end here.
  write_whole #(
    .DATA_W(DATA_W)
  ) u_write_whole (
    .clk_i        (axi_aclk),
    .rst_ni       (card_rst_n),
    .s_axi_awaddr (card_awaddr),
    .s_axi_awvalid(card_awvalid),
    .s_axi_awready(card_awready),
    .s_axi_wdata  (card_wdata),
    .s_axi_wstrb  (card_wstrb),
    .s_axi_wlast  (card_wlast),
    .s_axi_wvalid (card_wvalid),
    .s_axi_wready (card_wready),
    .s_axi_bresp  (card_bresp),
    .s_axi_bvalid (card_bvalid),
    .s_axi_bready (card_bready),
    .m_axi_awaddr (awaddr),
    .m_axi_awlen  (awlen),
    .m_axi_awvalid(awvalid),
    .m_axi_awready(awready),
    .m_axi_wdata  (wdata),
    .m_axi_wstrb  (wstrb),
    .m_axi_wlast  (wlast),
    .m_axi_wvalid (wvalid),
    .m_axi_wready (wready),
    .m_axi_bresp  (bresp),
    .m_axi_bvalid (bvalid),
    .m_axi_bready (bready)
  );

  // The bridge serves reads before writes: gaps between reads, so that writes pass.
  read_pace u_read_pace (
    .clk_i        (axi_aclk),
    .rst_ni       (card_rst_n),
    .s_axi_arlen  (arlen),
    .s_axi_arvalid(ask_valid),
    .s_axi_arready(ask_ready),
    .m_axi_arvalid(arvalid),
    .m_axi_arready(arready)
  );

  // ---------------------------------------------------------------- interrupts, function-level reset
  logic msix_valid, msix_ready, flr_req, flr_drained;
  logic [4:0] msix_vector;

  irq_request #(
    .VECTORS(1)
  ) u_irq (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .clear_i       (flr_req),
    .vector_valid_i(msix_valid),
    .vector_ready_o(msix_ready),
    .vector_i      (msix_vector),
    .irq_valid_o   (irq_valid),
    .irq_vector_o  (irq_vector),
    .irq_ack_i     (irq_ack),
    .irq_fail_i    (irq_fail)
  );

  flr_request #(
    .FNC_W(8)
  ) u_flr (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .flr_set_i     (flr_set),
    .flr_fnc_i     (flr_fnc),
    .flr_done_o    (flr_done),
    .flr_done_fnc_o(flr_done_fnc),
    .req_o         (flr_req),
    .done_i        (flr_drained)
  );

  // ---------------------------------------------------------------- the board's registers
  logic [31:0] rx_dropped, tx_dropped;
  logic [3:0] mac_state_q, mac_state;
  logic [1:0]       pcie_state;
  logic             link;
  logic [7:0][31:0] board_words;

  assign board_words[0]   = 32'h57464244;  // "WFBD"
  assign board_words[1]   = 32'h00000050;  // which board
  assign board_words[2]   = {25'd0, flr_req, pcie_state, mac_state};
  assign board_words[3]   = rx_dropped;
  assign board_words[4]   = tx_dropped;
  assign board_words[7:5] = '0;

  bit_sync #(
    .WIDTH(2)
  ) u_pcie_state (
    .clk_i  (axi_aclk),
    .rst_ni (card_rst_n),
    .async_i({pcie_phy_ready, pcie_link}),
    .sync_o (pcie_state)
  );

  board_regs #(
    .FIRST(17'h0ff00),
    .WORDS(8)
  ) u_board_regs (
    .clk_i         (axi_aclk),
    .rst_ni        (card_rst_n),
    .s_axil_araddr (axil_araddr),
    .s_axil_arvalid(axil_arvalid),
    .s_axil_arready(axil_arready),
    .s_axil_rdata  (axil_rdata),
    .s_axil_rresp  (axil_rresp),
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
    .s_axil_awaddr (axil_awaddr),
    .s_axil_awvalid(axil_awvalid),
    .s_axil_awready(axil_awready),
    .s_axil_wdata  (axil_wdata),
    .s_axil_wstrb  (axil_wstrb),
    .s_axil_wvalid (axil_wvalid),
    .s_axil_wready (axil_wready),
    .s_axil_bresp  (axil_bresp),
    .s_axil_bvalid (axil_bvalid),
    .s_axil_bready (axil_bready),
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
    // The bridge has no AxCACHE and AxPROT, and one order for all writes: they have ID 0, full width, INCR.
    .m_axi_awid    (),
    .m_axi_awaddr  (card_awaddr),
    .m_axi_awlen   (),
    .m_axi_awsize  (),
    .m_axi_awburst (),
    .m_axi_awcache (),
    .m_axi_awprot  (),
    .m_axi_awuser  (),
    .m_axi_awvalid (card_awvalid),
    .m_axi_awready (card_awready),
    .m_axi_wdata   (card_wdata),
    .m_axi_wstrb   (card_wstrb),
    .m_axi_wlast   (card_wlast),
    .m_axi_wvalid  (card_wvalid),
    .m_axi_wready  (card_wready),
    .m_axi_bid     ('0),
    .m_axi_bresp   (card_bresp),
    .m_axi_bvalid  (card_bvalid),
    .m_axi_bready  (card_bready),
    .m_axi_arid    (arid),
    .m_axi_araddr  (araddr),
    .m_axi_arlen   (arlen),
    .m_axi_arsize  (arsize),
    .m_axi_arburst (arburst),
    .m_axi_arcache (),
    .m_axi_arprot  (),
    .m_axi_arvalid (ask_valid),
    .m_axi_arready (ask_ready),
    .m_axi_rid     (rid[1:0]),
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
    .time_i        (time_q),
    .quiescent_o   ()
  );

  // ---------------------------------------------------------------- between the card's clock and the MAC's
  // far_*: the card's clock, on the MAC's die.
  logic [DATA_W-1:0] far_tx_tdata, far_rx_tdata, mac_tx_tdata, mac_rx_tdata;
  logic [DATA_W/8-1:0] far_tx_tkeep, far_rx_tkeep, mac_tx_tkeep, mac_rx_tkeep;
  logic far_tx_tlast, far_tx_tvalid, far_tx_tready, far_rx_tlast, far_rx_tuser, far_rx_tvalid, far_rx_tready;
  logic mac_tx_tlast, mac_tx_tvalid, mac_tx_tready, mac_rx_tlast, mac_rx_tuser, mac_rx_tvalid;
  logic rx_reset, tx_reset, usr_rx_reset, usr_tx_reset;

  // The card is on PCIe's die, the FIFOs on the MAC's.
  die_crossing #(
    .WIDTH(DATA_W + DATA_W / 8 + 1)
  ) u_tx_crossing (
    .clk_i        (axi_aclk),
    .first_rst_ni (card_rst_n),
    .second_rst_ni(far_rst_n),
    .in_valid_i   (tx_tvalid),
    .in_ready_o   (tx_tready),
    .in_data_i    ({tx_tlast, tx_tkeep, tx_tdata}),
    .out_valid_o  (far_tx_tvalid),
    .out_ready_i  (far_tx_tready),
    .out_data_o   ({far_tx_tlast, far_tx_tkeep, far_tx_tdata})
  );
  die_crossing #(
    .WIDTH(DATA_W + DATA_W / 8 + 2)
  ) u_rx_crossing (
    .clk_i        (axi_aclk),
    .first_rst_ni (far_rst_n),
    .second_rst_ni(card_rst_n),
    .in_valid_i   (far_rx_tvalid),
    .in_ready_o   (far_rx_tready),
    .in_data_i    ({far_rx_tuser, far_rx_tlast, far_rx_tkeep, far_rx_tdata}),
    .out_valid_o  (rx_tvalid),
    .out_ready_i  (rx_tready),
    .out_data_o   ({rx_tuser, rx_tlast, rx_tkeep, rx_tdata})
  );

  mac_tx_fifo #(
    .DATA_W(DATA_W)
  ) u_tx_fifo (
    .clk_i     (axi_aclk),
    .rst_ni    (far_rst_n),
    .link_i    (link),
    .tx_tdata  (far_tx_tdata),
    .tx_tkeep  (far_tx_tkeep),
    .tx_tlast  (far_tx_tlast),
    .tx_tvalid (far_tx_tvalid),
    .tx_tready (far_tx_tready),
    .dropped_o (tx_dropped),
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (tx_reset),
    .mac_tdata (mac_tx_tdata),
    .mac_tkeep (mac_tx_tkeep),
    .mac_tlast (mac_tx_tlast),
    .mac_tvalid(mac_tx_tvalid),
    .mac_tready(mac_tx_tready)
  );

  mac_rx_fifo #(
    .DATA_W(DATA_W)
  ) u_rx_fifo (
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (rx_reset),
    .mac_tdata (mac_rx_tdata),
    .mac_tkeep (mac_rx_tkeep),
    .mac_tlast (mac_rx_tlast),
    .mac_tuser (mac_rx_tuser),
    .mac_tvalid(mac_rx_tvalid),
    .clk_i     (axi_aclk),
    .rst_ni    (far_rst_n),
    .rx_tdata  (far_rx_tdata),
    .rx_tkeep  (far_rx_tkeep),
    .rx_tlast  (far_rx_tlast),
    .rx_tuser  (far_rx_tuser),
    .rx_tvalid (far_rx_tvalid),
    .rx_tready (far_rx_tready),
    .dropped_o (rx_dropped)
  );

  bit_sync u_link (
    .clk_i  (axi_aclk),
    .rst_ni (far_rst_n),
    .async_i(mac_state_q[0]),
    .sync_o (link)
  );
  word_sync #(
    .WIDTH(4)
  ) u_mac_state (
    .src_clk_i (mac_clk),
    .src_rst_ni(mac_rst_n),
    .src_word_i(mac_state_q),
    .dst_clk_i (axi_aclk),
    .dst_rst_ni(card_rst_n),
    .dst_word_o(mac_state)
  );

  // ---------------------------------------------------------------- the MAC
  logic rx_enable, tx_enable, tx_send_rfi, rsfec, up, aligned, local_fault, remote_fault, overflow, underflow;

  // Both of the core's resets are treated as asynchronous.
  bit_sync #(
    .RESET_VAL(1'b1)
  ) u_rx_reset (
    .clk_i  (mac_clk),
    .rst_ni (mac_start_rst_n),
    .async_i(usr_rx_reset),
    .sync_o (rx_reset)
  );
  bit_sync #(
    .RESET_VAL(1'b1)
  ) u_tx_reset (
    .clk_i  (mac_clk),
    .rst_ni (mac_start_rst_n),
    .async_i(usr_tx_reset),
    .sync_o (tx_reset)
  );

  cmac_link #(
    .RS_FEC(RS_FEC)
  ) u_link_up (
    .clk_i                 (mac_clk),
    .rst_ni                (mac_start_rst_n),
    .usr_rx_reset_i        (rx_reset),
    .usr_tx_reset_i        (tx_reset),
    .stat_rx_aligned_i     (aligned),
    .stat_rx_remote_fault_i(remote_fault),
    .ctl_rx_enable_o       (rx_enable),
    .ctl_tx_enable_o       (tx_enable),
    .ctl_tx_send_rfi_o     (tx_send_rfi),
    .ctl_rsfec_enable_o    (rsfec),
    .up_o                  (up)
  );

  // Bit 0 up, 1 aligned, 2 a frame ran dry, 3 a frame overflowed: the last two never occur.
  always_ff @(posedge mac_clk or negedge mac_start_rst_n) begin
    if (!mac_start_rst_n) mac_state_q <= '0;
    else mac_state_q <= {mac_state_q[3] || overflow, mac_state_q[2] || underflow, aligned && !local_fault, up};
  end

  assign qsfp_led_stat_g = mac_state_q[0];
  assign qsfp_led_stat_y = !mac_state_q[0];
  assign qsfp_led_act    = mac_state_q[1];

  cmac_usplus_0 u_cmac (
    .gt_rxp_in                           (qsfp_rx_p),
    .gt_rxn_in                           (qsfp_rx_n),
    .gt_txp_out                          (qsfp_tx_p),
    .gt_txn_out                          (qsfp_tx_n),
    .gt_ref_clk_p                        (qsfp_refclk_p),
    .gt_ref_clk_n                        (qsfp_refclk_n),
    .gt_ref_clk_out                      (),
    .gt_rxrecclkout                      (),
    .gt_powergoodout                     (),
    .gt_loopback_in                      ('0),
    .gtwiz_reset_tx_datapath             (1'b0),
    .gtwiz_reset_rx_datapath             (1'b0),
    .init_clk                            (clk_init),
    .sys_reset                           (!init_rst_n),
    .gt_txusrclk2                        (mac_clk),
    .gt_rxusrclk2                        (),
    .rx_clk                              (mac_clk),
    .core_rx_reset                       (1'b0),
    .core_tx_reset                       (1'b0),
    .usr_rx_reset,
    .usr_tx_reset,
    .rx_axis_tvalid                      (mac_rx_tvalid),
    .rx_axis_tdata                       (mac_rx_tdata),
    .rx_axis_tkeep                       (mac_rx_tkeep),
    .rx_axis_tlast                       (mac_rx_tlast),
    .rx_axis_tuser                       (mac_rx_tuser),
    .rx_preambleout                      (),
    .tx_axis_tready                      (mac_tx_tready),
    .tx_axis_tvalid                      (mac_tx_tvalid),
    .tx_axis_tdata                       (mac_tx_tdata),
    .tx_axis_tkeep                       (mac_tx_tkeep),
    .tx_axis_tlast                       (mac_tx_tlast),
    .tx_axis_tuser                       (1'b0),
    .tx_ovfout                           (overflow),
    .tx_unfout                           (underflow),
    .tx_preamblein                       ('0),
    .ctl_rx_enable                       (rx_enable),
    .ctl_rx_force_resync                 (1'b0),
    .ctl_rx_test_pattern                 (1'b0),
    .ctl_tx_enable                       (tx_enable),
    .ctl_tx_send_idle                    (1'b0),
    .ctl_tx_send_rfi                     (tx_send_rfi),
    .ctl_tx_send_lfi                     (1'b0),
    .ctl_tx_test_pattern                 (1'b0),
    .ctl_rx_rsfec_enable                 (rsfec),
    .ctl_rx_rsfec_enable_correction      (rsfec),
    .ctl_rx_rsfec_enable_indication      (rsfec),
    .ctl_rsfec_ieee_error_indication_mode(rsfec),
    .ctl_tx_rsfec_enable                 (rsfec),
    .stat_rx_aligned                     (aligned),
    .stat_rx_status                      (),
    .stat_rx_local_fault                 (local_fault),
    .stat_rx_remote_fault                (remote_fault),
    .stat_tx_local_fault                 (),
    .core_drp_reset                      (1'b0),
    .drp_clk                             (1'b0),
    .drp_addr                            ('0),
    .drp_di                              ('0),
    .drp_en                              (1'b0),
    .drp_we                              (1'b0),
    .drp_do                              (),
    .drp_rdy                             ()
  );

  logic unused;
  assign unused = ^{bar_awaddr[63:17], bar_araddr[63:17], rid[3:2]};

endmodule
