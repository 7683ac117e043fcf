// The PCIe side of weft_u50: AMD's QDMA core, used as a bridge, and what stands between it and the card.
//
// Handshake: AXI4, AXI4-Lite, ready/valid. Its clock and reset come from the core.
// Pipeline:  PCIe ─► u_qdma ─ m_axib ─► bar_port ─► m_axil, push_*
//                      ◄─ s_axib ◄─ write_whole, read_pace ◄─ m_axi
//                      ◄─ usr_irq ◄─ irq_request ◄─ msix_*
//                      ── usr_flr ─► flr_request ─► flr_*
// Why:       The card is its own DMA engine: of the core's queues and streams nothing is used.
//            BAR0 and BAR2 are at 0x00000 and 0x10000 of m_axib (set in cores.tcl); BAR4 is the core's own, with the MSI-X table.

module u50_pcie #(
  parameter int unsigned DATA_W = 512
) (
  input  logic        refclk_p,
  input  logic        refclk_n,
  input  logic        pcie_rst_n,
  input  logic [15:0] pcie_rx_p,
  input  logic [15:0] pcie_rx_n,
  output logic [15:0] pcie_tx_p,
  output logic [15:0] pcie_tx_n,

  output logic clk_o,
  output logic aresetn_o,
  input  logic rst_ni,     // the same, released with the clock

  axi_lite_if.master m_axil,

  output logic                push_valid_o,
  output logic [        11:0] push_addr_o,
  output logic [  DATA_W-1:0] push_data_o,
  output logic [DATA_W/8-1:0] push_strb_o,

  axi4_if.slave m_axi,

  input  logic       msix_valid_i,
  output logic       msix_ready_o,
  input  logic [4:0] msix_vector_i,
  output logic       flr_req_o,
  input  logic       flr_drained_i,
  output logic [1:0] state_o         // the core's phy_ready, user_lnk_up
);

  logic refclk_gt, refclk, link, phy_ready;

  IBUFDS_GTE4 #(
    .REFCLK_HROW_CK_SEL(2'b00)
  ) u_pcie_refclk (
    .I    (refclk_p),
    .IB   (refclk_n),
    .CEB  (1'b0),
    .O    (refclk_gt),
    .ODIV2(refclk)
  );

  // bar_*: from the bridge.
  logic [63:0] bar_awaddr, bar_araddr;
  logic [7:0] bar_arlen;
  logic [2:0] bar_awsize, bar_arsize;
  logic [3:0] bar_awid, bar_bid, bar_arid, bar_rid;
  logic [1:0] bar_bresp, bar_rresp;
  logic [DATA_W-1:0] bar_wdata, bar_rdata;
  logic [DATA_W/8-1:0] bar_wstrb;
  logic bar_awvalid, bar_awready, bar_wlast, bar_wvalid, bar_wready, bar_bvalid, bar_bready;
  logic bar_arvalid, bar_arready, bar_rlast, bar_rvalid, bar_rready;

  // Between the bridge and write_whole, read_pace.
  logic [        63:0] awaddr;
  logic [         7:0] awlen;
  logic [         1:0] bresp;
  logic [         3:0] rid;
  logic [  DATA_W-1:0] wdata;
  logic [DATA_W/8-1:0] wstrb;
  logic awvalid, awready, wlast, wvalid, wready, bvalid, bready, arvalid, arready;

  logic irq_valid, irq_ack, irq_fail, flr_set, flr_done;
  logic [4:0] irq_vector;
  logic [7:0] flr_fnc, flr_done_fnc;

  qdma_0 u_qdma (
    .sys_clk     (refclk),
    .sys_clk_gt  (refclk_gt),
    .sys_rst_n   (pcie_rst_n),
    .pci_exp_rxp (pcie_rx_p),
    .pci_exp_rxn (pcie_rx_n),
    .pci_exp_txp (pcie_tx_p),
    .pci_exp_txn (pcie_tx_n),
    .user_lnk_up (link),
    .phy_ready   (phy_ready),
    .axi_aclk    (clk_o),
    .axi_aresetn (aresetn_o),
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
    .s_axib_arid    ({2'b00, m_axi.arid}),
    .s_axib_araddr  (m_axi.araddr),
    .s_axib_aruser  ('0),
    .s_axib_arregion('0),
    .s_axib_arlen   (m_axi.arlen),
    .s_axib_arsize  (m_axi.arsize),
    .s_axib_arburst (m_axi.arburst),
    .s_axib_arvalid (arvalid),
    .s_axib_arready (arready),
    .s_axib_rid     (rid),
    .s_axib_rdata   (m_axi.rdata),
    .s_axib_ruser   (),
    .s_axib_rresp   (m_axi.rresp),
    .s_axib_rlast   (m_axi.rlast),
    .s_axib_rvalid  (m_axi.rvalid),
    .s_axib_rready  (m_axi.rready),

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
    .clk_i         (clk_o),
    .rst_ni        (rst_ni),
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
    .m_axil_awaddr (m_axil.awaddr),
    .m_axil_awvalid(m_axil.awvalid),
    .m_axil_awready(m_axil.awready),
    .m_axil_wdata  (m_axil.wdata),
    .m_axil_wstrb  (m_axil.wstrb),
    .m_axil_wvalid (m_axil.wvalid),
    .m_axil_wready (m_axil.wready),
    .m_axil_bresp  (m_axil.bresp),
    .m_axil_bvalid (m_axil.bvalid),
    .m_axil_bready (m_axil.bready),
    .m_axil_araddr (m_axil.araddr),
    .m_axil_arvalid(m_axil.arvalid),
    .m_axil_arready(m_axil.arready),
    .m_axil_rdata  (m_axil.rdata),
    .m_axil_rresp  (m_axil.rresp),
    .m_axil_rvalid (m_axil.rvalid),
    .m_axil_rready (m_axil.rready),
    .push_valid_o,
    .push_addr_o,
    .push_data_o,
    .push_strb_o
  );

  // A drain's beats without strobes end here.
  write_whole #(
    .DATA_W(DATA_W)
  ) u_write_whole (
    .clk_i        (clk_o),
    .rst_ni       (rst_ni),
    .s_axi_awaddr (m_axi.awaddr),
    .s_axi_awvalid(m_axi.awvalid),
    .s_axi_awready(m_axi.awready),
    .s_axi_wdata  (m_axi.wdata),
    .s_axi_wstrb  (m_axi.wstrb),
    .s_axi_wlast  (m_axi.wlast),
    .s_axi_wvalid (m_axi.wvalid),
    .s_axi_wready (m_axi.wready),
    .s_axi_bresp  (m_axi.bresp),
    .s_axi_bvalid (m_axi.bvalid),
    .s_axi_bready (m_axi.bready),
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

  // The bridge has one order for all writes, without IDs.
  assign m_axi.bid = 2'b00;
  assign m_axi.rid = rid[1:0];

  // The bridge serves reads before writes: gaps between reads, so that writes pass.
  read_pace u_read_pace (
    .clk_i        (clk_o),
    .rst_ni       (rst_ni),
    .s_axi_arlen  (m_axi.arlen),
    .s_axi_arvalid(m_axi.arvalid),
    .s_axi_arready(m_axi.arready),
    .m_axi_arvalid(arvalid),
    .m_axi_arready(arready)
  );

  // ---------------------------------------------------------------- interrupts, function-level reset
  irq_request #(
    .VECTORS(1)
  ) u_irq (
    .clk_i         (clk_o),
    .rst_ni        (rst_ni),
    .clear_i       (flr_req_o),
    .vector_valid_i(msix_valid_i),
    .vector_ready_o(msix_ready_o),
    .vector_i      (msix_vector_i),
    .irq_valid_o   (irq_valid),
    .irq_vector_o  (irq_vector),
    .irq_ack_i     (irq_ack),
    .irq_fail_i    (irq_fail)
  );

  flr_request #(
    .FNC_W(8)
  ) u_flr (
    .clk_i         (clk_o),
    .rst_ni        (rst_ni),
    .flr_set_i     (flr_set),
    .flr_fnc_i     (flr_fnc),
    .flr_done_o    (flr_done),
    .flr_done_fnc_o(flr_done_fnc),
    .req_o         (flr_req_o),
    .done_i        (flr_drained_i)
  );

  bit_sync #(
    .WIDTH(2)
  ) u_pcie_state (
    .clk_i  (clk_o),
    .rst_ni (rst_ni),
    .async_i({phy_ready, link}),
    .sync_o (state_o)
  );

  logic unused;
  assign unused = ^{bar_awaddr[63:17], bar_araddr[63:17], rid[3:2]};

endmodule
