// Proves of control_join, for two masters that each have one write and one read under way, show W with its AW or behind it, and keep what they show, and for
// a slave that answers what was taken and nothing else:
//
// stands    what the slave is shown stays, and stays whose it is, until it is taken
// alone     from its first showing to its answer an access is by itself: address and data that the slave takes are of one master
// answered  an answer goes to the master whose access was taken, and to no other
// turns     who waits is next: the other one has no second access before it

module control_join_formal (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [1:0] start_i,    // 0 the host, 1 the processor
  input logic [1:0] late_w_i,   // W comes behind AW
  input logic [1:0] bready_i,
  input logic       awready_i,
  input logic       wready_i,
  input logic       bvalid_i
);

  logic [1:0] aw_q, w_q, wait_q, sent_aw_q, sent_w_q, awready, wready, bvalid, got;
  logic write_proc, m_aw, m_w, m_bready, slave_aw_q, slave_w_q, slave_of_q, shown_q, shown_w_q, shown_of_q;
  logic [1:0] overtaken_q;

  axi_lite_if host ();
  axi_lite_if proc ();
  axi_lite_if m_axil ();

  control_join dut (
    .clk_i,
    .rst_ni,
    .host,
    .proc,
    .m_axil
  );

  assign {proc.awvalid, host.awvalid}    = aw_q;
  assign {proc.wvalid, host.wvalid}      = w_q;
  assign {proc.bready, host.bready}      = bready_i & sent_aw_q & sent_w_q;
  assign awready                         = {proc.awready, host.awready};
  assign wready                          = {proc.wready, host.wready};
  assign bvalid                          = {proc.bvalid, host.bvalid};
  // Reads have the same logic without W.
  assign {proc.arvalid, host.arvalid}    = '0;

  assign write_proc                      = dut.write_proc;
  assign m_aw                            = m_axil.awvalid;
  assign m_w                             = m_axil.wvalid;
  assign m_bready                        = m_axil.bready;
  assign m_axil.awready                  = awready_i;
  assign m_axil.wready                   = wready_i;
  assign m_axil.bvalid                   = bvalid_i;
  assign {m_axil.arready, m_axil.rvalid} = '0;

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  assign got = bvalid & bready_i & sent_aw_q & sent_w_q;

  // The masters.
  always_ff @(posedge clk_i) begin
    for (int unsigned m = 0; m < 2; m++) begin
      if (!rst_ni) begin
        {aw_q[m], w_q[m], wait_q[m], sent_aw_q[m], sent_w_q[m]} <= '0;
      end else if (got[m] || !(aw_q[m] || w_q[m] || wait_q[m] || sent_aw_q[m] || sent_w_q[m])) begin
        {sent_aw_q[m], sent_w_q[m]} <= '0;
        aw_q[m]                     <= start_i[m];
        w_q[m]                      <= start_i[m] && !late_w_i[m];
        wait_q[m]                   <= start_i[m] && late_w_i[m];
      end else begin
        if (aw_q[m] && awready[m]) {aw_q[m], sent_aw_q[m]} <= 2'b01;
        if (w_q[m] && wready[m]) {w_q[m], sent_w_q[m]} <= 2'b01;
        if (wait_q[m] && !late_w_i[m]) {wait_q[m], w_q[m]} <= 2'b01;
      end
    end
  end

  // The slave, and what it was shown a cycle ago.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {slave_aw_q, slave_w_q, slave_of_q, shown_q, shown_w_q, shown_of_q, overtaken_q} <= '0;
    end else begin
      if (m_aw && awready_i) slave_aw_q <= 1'b1;
      if (m_w && wready_i) slave_w_q <= 1'b1;
      if (m_aw && awready_i || m_w && wready_i) slave_of_q <= write_proc;
      if (bvalid_i && m_bready) {slave_aw_q, slave_w_q} <= '0;
      shown_q    <= m_aw && !awready_i;
      shown_w_q  <= m_w && !wready_i;
      shown_of_q <= write_proc;
      for (int unsigned m = 0; m < 2; m++) begin
        if (!aw_q[m] || awready[m]) overtaken_q[m] <= 1'b0;
        else if (aw_q[1-m] && awready[1-m]) overtaken_q[m] <= 1'b1;
      end
    end
  end

  always_comb begin
    slave_answers : assume (!bvalid_i || slave_aw_q && slave_w_q);
    slave_one : assume ((!awready_i || !slave_aw_q) && (!wready_i || !slave_w_q));
    if (rst_ni) begin
      aw_stands : assert (!shown_q || (m_aw && write_proc == shown_of_q));
      w_stands : assert (!shown_w_q || (m_w && write_proc == shown_of_q));
      alone : assert (!(slave_aw_q || slave_w_q) || !(m_aw || m_w) || write_proc == slave_of_q);
      answered : assert (!(|bvalid) || bvalid == (slave_of_q ? 2'b10 : 2'b01) && bvalid_i);
      taken : assert ((awready & aw_q) == (m_aw && awready_i ? write_proc ? 2'b10 : 2'b01 : 2'b00));
      turns : assert (!(overtaken_q[0] && m_aw && write_proc) && !(overtaken_q[1] && m_aw && !write_proc));
    end
  end

endmodule
