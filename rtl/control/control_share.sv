// One path to host memory for the card and its control processor.
//
// Handshake: ready/valid of AXI4. The processor's burst has its address and first beat shown together, and a beat in each cycle. The processor's read
//            has ID 3, its write ID 1.
// Pipeline:  none, combinational; turns are registers.
// Why:       Reads: the processor, with one burst in flight at a time, goes before the card's next one.
//            Writes: the processor's burst goes between two of the card. While it waits, the card's shown bursts are finished, and no new one is
//            shown. So either waits for one burst of the other, and the processor's has 256 bytes at most.

`include "weft_assert.svh"

module control_share (
  input logic clk_i,
  input logic rst_ni,

  axi4_if.slave  card,
  axi4_if.slave  proc,  // a burst's address and its first beat are shown together, and a beat in each cycle until the last one is taken
  axi4_if.master m_axi
);

  localparam logic [1:0] PROC_WRITE = 2'd1;
  localparam logic [1:0] PROC_READ = 2'd3;

  // Bursts whose address was taken, less those whose last beat was: -1 to the card's limit.
  logic signed [8:0] ahead_q;
  logic some_q, none_q;  // ahead_q is over 0, is 0
  logic write_proc_q, read_proc, aw_shown_q, ar_shown_q, wants_q, let_aw, let_w, aw, w_last, more, less, ends;

  // By a register: the card is held a cycle after the processor has shown its burst.
  assign let_aw = !wants_q || aw_shown_q;
  assign let_w  = !wants_q || some_q || aw_shown_q && none_q;
  assign ends   = write_proc_q && !(proc.awvalid && !m_axi.awready) && !(proc.wvalid && !(m_axi.wready && proc.wlast));

  always_comb begin
    if (write_proc_q) begin
      m_axi.awid    = PROC_WRITE;
      m_axi.awaddr  = proc.awaddr;
      m_axi.awlen   = proc.awlen;
      m_axi.awuser  = 1'b0;
      m_axi.awvalid = proc.awvalid;
      m_axi.wdata   = proc.wdata;
      m_axi.wstrb   = proc.wstrb;
      m_axi.wvalid  = proc.wvalid;
      m_axi.wlast   = proc.wlast;
    end else begin
      m_axi.awid    = card.awid;
      m_axi.awaddr  = card.awaddr;
      m_axi.awlen   = card.awlen;
      m_axi.awuser  = card.awuser;
      m_axi.awvalid = card.awvalid && let_aw;
      m_axi.wdata   = card.wdata;
      m_axi.wstrb   = card.wstrb;
      m_axi.wvalid  = card.wvalid && let_w;
      m_axi.wlast   = card.wlast;
    end
  end

  assign m_axi.awsize  = card.awsize;
  assign m_axi.awburst = card.awburst;

  assign card.awready  = m_axi.awready && !write_proc_q && let_aw;
  assign card.wready   = m_axi.wready && !write_proc_q && let_w;
  assign proc.awready  = m_axi.awready && write_proc_q;
  assign proc.wready   = m_axi.wready && write_proc_q;

  assign aw            = card.awvalid && card.awready;
  assign w_last        = card.wvalid && card.wready && card.wlast;
  assign more          = aw && !w_last;
  assign less          = w_last && !aw;

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
      aw_shown_q <= !write_proc_q && m_axi.awvalid && !m_axi.awready;
      wants_q    <= (proc.awvalid || proc.wvalid) && !ends;
      // Nothing of the card is shown in a cycle in which the turn changes.
      if (!write_proc_q) write_proc_q <= wants_q && none_q && !aw_shown_q;
      else if (ends) write_proc_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  assign read_proc     = proc.arvalid && !ar_shown_q;
  assign m_axi.arvalid = read_proc || card.arvalid;
  assign card.arready  = m_axi.arready && !read_proc;
  assign proc.arready  = m_axi.arready && read_proc;

  assign m_axi.arid    = read_proc ? PROC_READ : card.arid;
  assign m_axi.araddr  = read_proc ? proc.araddr : card.araddr;
  assign m_axi.arlen   = read_proc ? proc.arlen : card.arlen;
  assign m_axi.arsize  = card.arsize;
  assign m_axi.arburst = card.arburst;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ar_shown_q <= 1'b0;
    else ar_shown_q <= card.arvalid && !read_proc && !m_axi.arready;
  end

  // ---------------------------------------------------------------- answers, by ID; the processor takes each in its cycle
  assign card.bid     = m_axi.bid;
  assign card.bresp   = m_axi.bresp;
  assign card.bvalid  = m_axi.bvalid && m_axi.bid != PROC_WRITE;
  assign card.rid     = m_axi.rid;
  assign card.rdata   = m_axi.rdata;
  assign card.rresp   = m_axi.rresp;
  assign card.rlast   = m_axi.rlast;
  assign card.rvalid  = m_axi.rvalid && m_axi.rid != PROC_READ;
  assign proc.bresp   = m_axi.bresp;
  assign proc.bvalid  = m_axi.bvalid && m_axi.bid == PROC_WRITE;
  assign proc.rdata   = m_axi.rdata;
  assign proc.rresp   = m_axi.rresp;
  assign proc.rvalid  = m_axi.rvalid && m_axi.rid == PROC_READ;
  assign m_axi.bready = m_axi.bid == PROC_WRITE || card.bready;
  assign m_axi.rready = m_axi.rid == PROC_READ || card.rready;

  // The turns depend on this: a burst's data are not shown before its address.
  `WEFT_ASSERT(a_data_behind, !card.wvalid || ahead_q + 9'(card.awvalid) > 0)
  `WEFT_ASSERT(a_far, ahead_q >= -1 && ahead_q < 255 && some_q == (ahead_q > 0) && none_q == (ahead_q == 0))

endmodule
