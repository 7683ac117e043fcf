// Proves of reset_drain: whatever the core does and in whichever moment the reset comes, the bus gets what was announced, nothing
// that was not, and behind `done_o` nothing of before.
//
// The core shows no W before its AW, as many beats as AWLEN says, at most BURSTS bursts and what OWED_W can count, and holds what it
// offers until it is taken or reset. The buses answer what they owe, in any time.

module reset_drain_formal #(
  parameter  int unsigned DATA_W   = 8,
  parameter  int unsigned BURSTS   = 2,
  parameter  int unsigned OWED_W   = 10,
  localparam int unsigned BURSTS_W = $clog2(BURSTS + 2)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                soft_i,
  input logic                req_i,
  input logic                core_awvalid_i,
  input logic [  DATA_W-1:0] core_wdata_i,
  input logic [DATA_W/8-1:0] core_wstrb_i,
  input logic                core_wvalid_i,
  input logic                core_arvalid_i,
  input logic                core_msix_valid_i,
  input logic                core_tx_tvalid_i,
  input logic                core_tx_tlast_i,
  input logic [         7:0] m_axi_awlen,
  input logic                m_axi_awready,
  input logic                m_axi_wready,
  input logic                m_axi_bvalid,
  input logic [         7:0] m_axi_arlen,
  input logic                m_axi_arready,
  input logic                m_axi_rvalid,
  input logic                msix_ready_i,
  input logic                mac_tx_tready,
  input logic                mac_rx_tlast,
  input logic                mac_rx_tvalid,
  input logic                mark_i
);

  logic done, active, core_rst_n, awready, wready, arready, msix_ready, tx_tready, rx_tvalid, core_bvalid, core_rvalid;
  logic awvalid, wlast, wvalid, bready, arvalid, rready, msix_valid, tx_tvalid, core_wlast;
  logic [DATA_W-1:0] wdata, core_rdata;
  logic [DATA_W/8-1:0] wstrb;
  logic [1:0] core_bid, core_bresp, core_rid, core_rresp;
  logic [31:0] resets;
  logic        core_rlast;

  axi4_if #(.DATA_W(DATA_W)) core ();
  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  assign core.awvalid  = core_awvalid_i;
  assign awready       = core.awready;
  assign core.wdata    = core_wdata_i;
  assign core.wstrb    = core_wstrb_i;
  assign core.wlast    = core_wlast;
  assign core.wvalid   = core_wvalid_i;
  assign wready        = core.wready;
  assign core_bid      = core.bid;
  assign core_bresp    = core.bresp;
  assign core_bvalid   = core.bvalid;
  assign core.arvalid  = core_arvalid_i;
  assign arready       = core.arready;
  assign core_rid      = core.rid;
  assign core_rdata    = core.rdata;
  assign core_rresp    = core.rresp;
  assign core_rlast    = core.rlast;
  assign core_rvalid   = core.rvalid;
  assign core.awlen    = m_axi_awlen;
  assign awvalid       = m_axi.awvalid;
  assign m_axi.awready = m_axi_awready;
  assign wdata         = m_axi.wdata;
  assign wstrb         = m_axi.wstrb;
  assign wlast         = m_axi.wlast;
  assign wvalid        = m_axi.wvalid;
  assign m_axi.wready  = m_axi_wready;
  assign m_axi.bid     = '0;
  assign m_axi.bresp   = '0;
  assign m_axi.bvalid  = m_axi_bvalid;
  assign bready        = m_axi.bready;
  assign core.arlen    = m_axi_arlen;
  assign arvalid       = m_axi.arvalid;
  assign m_axi.arready = m_axi_arready;
  assign m_axi.rid     = '0;
  assign m_axi.rdata   = '0;
  assign m_axi.rresp   = '0;
  assign m_axi.rlast   = 1'b0;
  assign m_axi.rvalid  = m_axi_rvalid;
  assign rready        = m_axi.rready;

  reset_drain #(
    .DATA_W(DATA_W),
    .BURSTS(BURSTS),
    .OWED_W(OWED_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .soft_i,
    .req_i,
    .done_o           (done),
    .active_o         (active),
    .core_rst_no      (core_rst_n),
    .resets_o         (resets),
    .core,
    .m_axi,
    .core_msix_valid_i,
    .core_msix_ready_o(msix_ready),
    .core_tx_tvalid_i,
    .core_tx_tlast_i,
    .core_tx_tready_o (tx_tready),
    .core_rx_tvalid_o (rx_tvalid),
    .msix_valid_o     (msix_valid),
    .msix_ready_i,
    .mac_tx_tvalid    (tx_tvalid),
    .mac_tx_tready,
    .mac_rx_tlast,
    .mac_rx_tvalid
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the bus's view of it
  axi_write_rules #(
    .DATA_W(DATA_W),
    .BURSTS(BURSTS)
  ) u_w (
    .clk_i,
    .rst_ni,
    .awvalid_i(awvalid),
    .awready_i(m_axi_awready),
    .awlen_i  (m_axi_awlen),
    .wvalid_i (wvalid),
    .wready_i (m_axi_wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .wlast_i  (wlast),
    .bvalid_i (m_axi_bvalid),
    .bready_i (bready),
    .bid_i    ('0),
    .mark_i
  );
  axi_read_rules #(
    .IDS  (1),
    .BEATS((1 << OWED_W) - 257)
  ) u_r (
    .clk_i,
    .rst_ni,
    .arvalid_i(arvalid),
    .arready_i(m_axi_arready),
    .arid_i   ('0),
    .arlen_i  (m_axi_arlen),
    .rvalid_i (m_axi_rvalid),
    .rready_i (rready),
    .rid_i    ('0)
  );
  stream_rules #(
    .WIDTH(8)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(awvalid),
    .ready_i(m_axi_awready),
    .data_i (m_axi_awlen)
  );
  stream_rules #(
    .WIDTH(8)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(arvalid),
    .ready_i(m_axi_arready),
    .data_i (m_axi_arlen)
  );
  stream_rules #(
    .WIDTH(1)
  ) u_msix (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(msix_valid),
    .ready_i(msix_ready_i),
    .data_i (1'b0)
  );

  // ---------------------------------------------------------------- the core
  // What it offered and was not taken stands, unless it is in reset. Its W is what the lengths say.
  logic aw_waits_q, w_waits_q, ar_waits_q, msix_waits_q, tx_waits_q, tx_last_q, stopped_q, was_done_q, core_was_on_q;
  logic [7:0] awlen_q, arlen_q;
  logic [  DATA_W-1:0] wdata_q;
  logic [DATA_W/8-1:0] wstrb_q;

  // The block counts a beat a cycle after it was taken.
  logic                ended;
  logic [         7:0] len;
  assign ended      = dut.took_q && dut.took_last_q;
  assign len        = ended ? dut.u_lengths.gen_lut_ram.mem[~dut.u_lengths.rd_ptr_q] : dut.len;
  assign core_wlast = u_w.beat_q == len;

  always_ff @(posedge clk_i) begin
    aw_waits_q    <= rst_ni && core_rst_n && core_awvalid_i && !awready;
    w_waits_q     <= rst_ni && core_rst_n && core_wvalid_i && !wready;
    ar_waits_q    <= rst_ni && core_rst_n && core_arvalid_i && !arready;
    msix_waits_q  <= rst_ni && core_rst_n && core_msix_valid_i && !msix_ready;
    tx_waits_q    <= rst_ni && core_rst_n && core_tx_tvalid_i && !tx_tready;
    tx_last_q     <= core_tx_tlast_i;
    awlen_q       <= m_axi_awlen;
    arlen_q       <= m_axi_arlen;
    wdata_q       <= core_wdata_i;
    wstrb_q       <= core_wstrb_i;
    stopped_q     <= rst_ni && active;
    was_done_q    <= rst_ni && done;
    core_was_on_q <= rst_ni && core_rst_n;
  end

  always_comb begin
    aw_stands : assume (!(aw_waits_q && core_rst_n) || (core_awvalid_i && m_axi_awlen == awlen_q));
    w_stands : assume (!(w_waits_q && core_rst_n) || (core_wvalid_i && core_wdata_i == wdata_q && core_wstrb_i == wstrb_q));
    ar_stands : assume (!(ar_waits_q && core_rst_n) || (core_arvalid_i && m_axi_arlen == arlen_q));
    msix_stands : assume (!(msix_waits_q && core_rst_n) || core_msix_valid_i);
    tx_stands : assume (!(tx_waits_q && core_rst_n) || (core_tx_tvalid_i && core_tx_tlast_i == tx_last_q));
    core_in_reset : assume (core_rst_n || !(core_awvalid_i || core_wvalid_i || core_arvalid_i || core_msix_valid_i || core_tx_tvalid_i));
    w_behind_aw : assume (!core_wvalid_i || u_w.data_owed_q != '0);
    few_bursts : assume (!core_awvalid_i || aw_waits_q || 32'(u_w.owed_q) < BURSTS);
    few_beats : assume (!core_arvalid_i || ar_waits_q || 32'(u_r.owed_q[0]) + 32'd256 <= (32'd1 << OWED_W) - 32'd257);
    a_beat_owed : assume (!m_axi_rvalid || u_r.owed_q[0] != '0);
    request_stays : assume (!active || done || req_i);
    request_begins : assume (!soft_i || req_i);
  end

  // ---------------------------------------------------------------- what a reset does
  always_comb begin
    if (rst_ni) begin
      // Nothing new is shown once a reset has begun, and no beat of the core's is invented for what the core still writes.
      nothing_new :
      assert (!stopped_q || !active || !((awvalid && !u_w.shown_before_q) || (arvalid && !ar_waits_q) || (msix_valid && !msix_waits_q)));
      writes_nothing_more : assert (!(active && stopped_q && wvalid && !w_waits_q) || wstrb == '0);
      // Behind the acknowledgment: nothing is owed, nothing is on a bus.
      all_given : assert (!done || (u_w.data_owed_q == '0 && u_w.owed_q == '0 && u_r.owed_q[0] == '0));
      silent : assert (!done || !(awvalid || wvalid || arvalid || msix_valid || tx_tvalid));
      core_held : assert (!done || !core_rst_n || !was_done_q);
      // What came last in Drain reaches a core in reset; nothing comes behind it.
      no_old_answer : assert (!was_done_q || !(core_bvalid || core_rvalid));
    end
  end

  // What the block counts is what the bus counts; the lengths that wait are those of the bursts shown.
  logic followed_place;
  assign followed_place = dut.u_lengths.rd_ptr_q ^ u_w.ahead_q[0] ^ ended;
  always_comb begin
    if (rst_ni) begin
      inv_b : assert (8'(dut.b_owed_q) == 8'(u_w.owed_q) + 8'(core_bvalid));
      inv_r : assert (12'(dut.r_owed_q) == 12'(u_r.owed_q[0]) + 12'(core_rvalid) + (dut.ar_open_q ? 12'(arlen_q) + 1'b1 : '0));
      inv_stop : assert (dut.stop == (dut.state_q != 2'd0));
      inv_w : assert (8'(dut.u_lengths.count_q) == 8'(u_w.data_owed_q) + 8'(ended));
      inv_beat : assert (u_w.beat_q == (ended ? '0 : dut.beat_q + 8'(dut.took_q)) && (u_w.data_owed_q == '0 ? u_w.beat_q == '0 : u_w.beat_q <= len));
      inv_took : assert (!dut.took_q || (dut.len_valid && dut.took_last_q == (dut.beat_q == dut.len) && dut.beat_q <= dut.len));
      inv_fill :
      assert (!dut.fill_q || (active && !done && !dut.took_q && !dut.w_open_q && dut.len_valid && dut.fill_last_q == (dut.beat_q == dut.len)));
      inv_taken : assert (8'(u_w.owed_q) == 8'(u_w.taken_q) + 8'(u_w.shown_before_q));
      inv_done : assert (8'(u_w.owed_q) == 8'(u_w.done_q) + 8'(u_w.data_owed_q));
      inv_few : assert (8'(u_w.owed_q) <= 8'(BURSTS) && 32'(dut.r_owed_q) - 32'(core_rvalid) <= (32'd1 << OWED_W) - 32'd257);
      inv_followed : assert (!u_w.followed_q || (u_w.ahead_q < u_w.data_owed_q && dut.u_lengths.gen_lut_ram.mem[followed_place] == u_w.len_q));
      inv_pointers : assert (dut.u_lengths.wr_ptr_q == (dut.u_lengths.rd_ptr_q ^ dut.u_lengths.count_q[0]));
      inv_full : assert (dut.u_lengths.full_q == (dut.u_lengths.count_q == 2'(BURSTS)) && dut.u_lengths.count_q <= 2'(BURSTS));
      inv_shown : assert (dut.aw_open_q == u_w.shown_before_q);
      inv_open :
      assert (!(dut.aw_open_q && !aw_waits_q) && !(dut.w_open_q && !w_waits_q) && !(dut.ar_open_q && !ar_waits_q) &&
                        !(dut.msix_open_q && !msix_waits_q));
      inv_waits :
      assert (active || (dut.aw_open_q == aw_waits_q && dut.w_open_q == w_waits_q && dut.ar_open_q == ar_waits_q && dut.msix_open_q == msix_waits_q));
      inv_first_len : assert (!dut.aw_open_q || awlen_q == dut.u_lengths.gen_lut_ram.mem[~dut.u_lengths.wr_ptr_q] || u_w.data_owed_q == '0);
      inv_held : assert (core_rst_n == !(dut.state_q inside {2'd2, 2'd3}) || !core_was_on_q);
      inv_drained : assert (!(dut.state_q inside {2'd2, 2'd3}) || !dut.offered);
      inv_hold : assert (!done || !dut.owed);
    end
  end

endmodule
