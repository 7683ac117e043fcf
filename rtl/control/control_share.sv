// One path to host memory for the card and its control processor.
//
// Handshake: ready/valid of AXI4. The processor's burst has its address and first beat shown together, and a beat in each cycle. The processor's read
//            has ID 3, its write ID 1.
// Pipeline:  none, combinational; turns are registers.
// Why:       Reads: the processor, with one burst in flight at a time, goes before the card's next one.
//            Writes: the processor's burst goes between two of the card. While it waits, the card's shown bursts are finished, and no new one is
//            shown. So either waits for one burst of the other, and the processor's has 256 bytes at most.

module control_share (
  input logic clk_i,
  input logic rst_ni,

  // The card.
  input  logic awvalid_i,
  output logic awready_o,
  input  logic wvalid_i,
  input  logic wlast_i,
  output logic wready_o,
  input  logic arvalid_i,
  output logic arready_o,

  // The processor: a burst's address and its first beat are shown together, and a beat in each cycle until the last one is taken.
  input  logic proc_awvalid_i,
  output logic proc_awready_o,
  input  logic proc_wvalid_i,
  input  logic proc_wlast_i,
  output logic proc_wready_o,
  input  logic proc_arvalid_i,
  output logic proc_arready_o,

  // The bus, and the owner of its addresses and data.
  output logic write_proc_o,
  output logic read_proc_o,
  output logic m_axi_awvalid,
  input  logic m_axi_awready,
  output logic m_axi_wvalid,
  output logic m_axi_wlast,
  input  logic m_axi_wready,
  output logic m_axi_arvalid,
  input  logic m_axi_arready
);

  // Bursts whose address was taken, less those whose last beat was: -1 to the card's limit.
  logic signed [8:0] ahead_q;
  logic some_q, none_q;  // ahead_q is over 0, is 0
  logic write_proc_q, aw_shown_q, ar_shown_q, wants_q, let_aw, let_w, aw, w_last, more, less, ends;

  // By a register: the card is held a cycle after the processor has shown its burst.
  assign let_aw       = !wants_q || aw_shown_q;
  assign let_w        = !wants_q || some_q || aw_shown_q && none_q;
  assign ends         = write_proc_q && !(proc_awvalid_i && !m_axi_awready) && !(proc_wvalid_i && !(m_axi_wready && proc_wlast_i));

  assign write_proc_o = write_proc_q;

  always_comb begin
    if (write_proc_q) begin
      m_axi_awvalid = proc_awvalid_i;
      m_axi_wvalid  = proc_wvalid_i;
      m_axi_wlast   = proc_wlast_i;
    end else begin
      m_axi_awvalid = awvalid_i && let_aw;
      m_axi_wvalid  = wvalid_i && let_w;
      m_axi_wlast   = wlast_i;
    end
  end

  assign awready_o      = m_axi_awready && !write_proc_q && let_aw;
  assign wready_o       = m_axi_wready && !write_proc_q && let_w;
  assign proc_awready_o = m_axi_awready && write_proc_q;
  assign proc_wready_o  = m_axi_wready && write_proc_q;

  assign aw             = awvalid_i && awready_o;
  assign w_last         = wvalid_i && wready_o && wlast_i;
  assign more           = aw && !w_last;
  assign less           = w_last && !aw;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q      <= '0;
      some_q       <= 1'b0;
      none_q       <= 1'b1;
      write_proc_q <= 1'b0;
      wants_q      <= 1'b0;
      aw_shown_q   <= 1'b0;
    end else begin
      ahead_q    <= more ? ahead_q + 9'd1 : less ? ahead_q - 9'd1 : ahead_q;
      some_q     <= more ? some_q || none_q : less ? ahead_q > 1 : some_q;
      none_q     <= more ? !some_q && !none_q : less ? ahead_q == 1 : none_q;
      aw_shown_q <= !write_proc_q && m_axi_awvalid && !m_axi_awready;
      wants_q    <= (proc_awvalid_i || proc_wvalid_i) && !ends;
      // Nothing of the card is shown in a cycle in which the turn changes.
      if (!write_proc_q) write_proc_q <= wants_q && none_q && !aw_shown_q;
      else if (ends) write_proc_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  assign read_proc_o    = proc_arvalid_i && !ar_shown_q;
  assign m_axi_arvalid  = read_proc_o || arvalid_i;
  assign arready_o      = m_axi_arready && !read_proc_o;
  assign proc_arready_o = m_axi_arready && read_proc_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ar_shown_q <= 1'b0;
    else ar_shown_q <= arvalid_i && !read_proc_o && !m_axi_arready;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // The turns depend on this: a burst's data are not shown before its address.
      a_data_behind : assert (!wvalid_i || ahead_q + 9'(awvalid_i) > 0);
      a_far : assert (ahead_q >= -1 && ahead_q < 255 && some_q == (ahead_q > 0) && none_q == (ahead_q == 0));
    end
  end
`endif

endmodule
