// Proves of control_share, for a card that shows no data before its address and a processor that shows both at once, and data until the last:
//
// stands   what the bus is shown of either stays, and stays whose it is, until it is taken
// order    the bus has no data of the processor while a burst of the card is open, and nothing of the card while a part of the
//          processor's burst was taken: data come in the order of their addresses
// taken    nobody is told that something was taken that the bus was not shown as its own

module control_share_formal (
  input logic clk_i,
  input logic rst_ni,
  input logic awvalid_i,
  input logic wvalid_i,
  input logic wlast_i,
  input logic arvalid_i,
  input logic start_i,         // the processor writes
  input logic proc_wlast_i,
  input logic proc_arvalid_i,
  input logic m_axi_awready,
  input logic m_axi_wready,
  input logic m_axi_arready
);

  localparam int unsigned OPEN_W = 4;

  logic awready, wready, arready, proc_awready, proc_wready, proc_arready, write_proc, read_proc;
  logic m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_arvalid;
  logic proc_aw_q, proc_w_q;

  axi4_if card ();
  axi4_if proc ();
  axi4_if m_axi ();

  control_share dut (
    .clk_i,
    .rst_ni,
    .card,
    .proc,
    .m_axi
  );

  assign {card.awvalid, card.wvalid, card.wlast, card.arvalid}     = {awvalid_i, wvalid_i, wlast_i, arvalid_i};
  assign {awready, wready, arready}                                = {card.awready, card.wready, card.arready};
  assign {proc.awvalid, proc.wvalid, proc.wlast, proc.arvalid}     = {proc_aw_q, proc_w_q, proc_wlast_i, proc_arvalid_i};
  assign {proc_awready, proc_wready, proc_arready}                 = {proc.awready, proc.wready, proc.arready};
  assign {m_axi.awready, m_axi.wready, m_axi.arready}              = {m_axi_awready, m_axi_wready, m_axi_arready};
  assign {m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_arvalid} = {m_axi.awvalid, m_axi.wvalid, m_axi.wlast, m_axi.arvalid};
  assign write_proc                                                = dut.write_proc_q;
  assign read_proc                                                 = dut.read_proc;

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the two
  // Bursts of the card: shown or taken on AW, and of those the ones whose last beat was taken.
  logic aw_before_q, aw_shown, w_last;
  logic [OPEN_W-1:0] open_q, open;

  assign aw_shown = awvalid_i && !aw_before_q;
  assign open     = open_q + OPEN_W'(aw_shown);
  assign w_last   = wvalid_i && wready && wlast_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {aw_before_q, open_q, proc_aw_q, proc_w_q} <= '0;
    end else begin
      aw_before_q <= awvalid_i && !awready;
      open_q      <= open - OPEN_W'(w_last);
      proc_aw_q   <= proc_aw_q ? !proc_awready : start_i && !proc_w_q;
      proc_w_q    <= proc_w_q ? !(proc_wready && proc_wlast_i) : start_i && !proc_aw_q;
    end
  end

  // What was shown and not taken, a cycle ago.
  logic card_aw_q, card_w_q, card_wlast_q, card_ar_q, proc_ar_q, proc_held_q, proc_wlast_q, begun_q;
  logic aw_q, aw_proc_q, w_q, w_proc_q, w_last_q, ar_q, ar_proc_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {card_aw_q, card_w_q, card_ar_q, proc_ar_q, proc_held_q, begun_q, aw_q, w_q, ar_q} <= '0;
    end else begin
      card_aw_q   <= awvalid_i && !awready;
      card_w_q    <= wvalid_i && !wready;
      card_ar_q   <= arvalid_i && !arready;
      proc_ar_q   <= proc_arvalid_i && !proc_arready;
      proc_held_q <= proc_w_q && !proc_wready;
      // A beat of the processor's burst was taken, and not its last.
      if (proc_w_q && proc_wready) begun_q <= !proc_wlast_i;
      aw_q <= m_axi_awvalid && !m_axi_awready;
      w_q  <= m_axi_wvalid && !m_axi_wready;
      ar_q <= m_axi_arvalid && !m_axi_arready;
    end
    card_wlast_q <= wlast_i;
    proc_wlast_q <= proc_wlast_i;
    aw_proc_q    <= write_proc;
    w_proc_q     <= write_proc;
    w_last_q     <= m_axi_wlast;
    ar_proc_q    <= read_proc;
  end

  always_comb begin
    card_stands : assume ((!card_aw_q || awvalid_i) && (!card_w_q || (wvalid_i && wlast_i == card_wlast_q)) && (!card_ar_q || arvalid_i));
    proc_stands : assume ((!proc_ar_q || proc_arvalid_i) && (!proc_held_q || proc_wlast_i == proc_wlast_q));
    data_behind : assume (!wvalid_i || open != '0);
    not_more : assume (open <= OPEN_W'(7));
    if (rst_ni) begin
      aw_stands : assert (!aw_q || (m_axi_awvalid && write_proc == aw_proc_q));
      w_stands : assert (!w_q || (m_axi_wvalid && write_proc == w_proc_q && m_axi_wlast == w_last_q));
      ar_stands : assert (!ar_q || (m_axi_arvalid && read_proc == ar_proc_q));
      proc_alone : assert (!(write_proc && m_axi_wvalid) || open == OPEN_W'(awvalid_i));
      card_alone : assert (write_proc || !(m_axi_awvalid || m_axi_wvalid) || proc_aw_q == proc_w_q && !begun_q);
      aw_taken : assert (!(awvalid_i && awready) || (m_axi_awvalid && m_axi_awready && !write_proc));
      w_taken : assert (!(wvalid_i && wready) || (m_axi_wvalid && m_axi_wready && !write_proc));
      ar_taken : assert (!(arvalid_i && arready) || (m_axi_arvalid && m_axi_arready && !read_proc));
      proc_taken :
      assert ((!(proc_aw_q && proc_awready) || (m_axi_awvalid && m_axi_awready && write_proc)) &&
                          (!(proc_w_q && proc_wready) || (m_axi_wvalid && m_axi_wready && write_proc)) &&
                          (!(proc_arvalid_i && proc_arready) || (m_axi_arvalid && m_axi_arready && read_proc)));
    end
  end

endmodule
