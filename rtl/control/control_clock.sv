// The control processor with a clock of its own: that of the card, or for CLOCK_DIV over 1 the card's divided by it, from a register.
//
// Handshake: As of control_processor. A host's write is answered here, when it is in its FIFO; the processor refuses none. A burst to host memory is
//            shown when all of it is there.
// Pipeline:  AXI4-Lite, card ──► aw w ar ─► control_processor ─► b r ──► (writes are answered here)
//            AXI4-Lite, card ◄── aw w ar ◄─                   ◄─ b r
//            AXI4, host      ◄── aw w ar ◄─                   ◄─ b r
//            interrupts, time, stop, rest
//            Each channel is a fifo_async, or control_bursts; CLOCK_DIV 1 has none of them.
// Why:       A core's paths are longer than the card's may be (docs/processor.md). Everything crosses in FIFOs between clocks without a fixed phase,
//            so a PLL's clock may replace the divided one.
//            Outputs for a simulation (`quiescent_o` and the alarm's) are late by as long as anything takes to cross.

module control_clock
  import weft_card_pkg::*;
#(
  parameter int unsigned DATA_W       = 512,      // 128, 256 or 512
  parameter int unsigned MEMORY_BYTES = 65536,    // a power of two, 16 KiB to 1 MiB
  parameter int unsigned CLOCK_KHZ    = 250_000,  // of clk_i
  parameter int unsigned CLOCK_DIV    = 1         // 1 to 16
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        stop_i,  // level: the processor is stopped and cannot be started
  input logic [63:0] time_i,  // cycles, free-running

  input  logic [15:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [ 3:0] s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [ 1:0] s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [15:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  // The card's registers.
  output logic [16:0] m_axil_awaddr,
  output logic        m_axil_awvalid,
  input  logic        m_axil_awready,
  output logic [31:0] m_axil_wdata,
  output logic [ 3:0] m_axil_wstrb,
  output logic        m_axil_wvalid,
  input  logic        m_axil_wready,
  input  logic [ 1:0] m_axil_bresp,
  input  logic        m_axil_bvalid,
  output logic        m_axil_bready,
  output logic [16:0] m_axil_araddr,
  output logic        m_axil_arvalid,
  input  logic        m_axil_arready,
  input  logic [31:0] m_axil_rdata,
  input  logic [ 1:0] m_axil_rresp,
  input  logic        m_axil_rvalid,
  output logic        m_axil_rready,

  // The card's interrupts, and those of the host.
  input  logic       card_msix_valid_i,
  output logic       card_msix_ready_o,
  input  logic [4:0] card_msix_vector_i,
  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

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
  input  logic                m_axi_rvalid,

  output logic        running_o,   // level: the processor is not held in reset
  output logic        stopped_o,   // `stop_i` was seen, and nothing of the processor is on the bus to host memory
  output logic        alarm_o,     // the processor will be awake when time_i is alarm_at_o
  output logic [63:0] alarm_at_o,
  output logic        quiescent_o  // nothing will happen before the next input or the alarm
);

  if (CLOCK_DIV == 1) begin : gen_same
    logic bus_idle;

    control_processor #(
      .DATA_W      (DATA_W),
      .MEMORY_BYTES(MEMORY_BYTES),
      .CLOCK_KHZ   (CLOCK_KHZ / CLOCK_DIV)
    ) u_processor (
      .clk_i,
      .rst_ni,
      .stop_i,
      .time_i,
      .s_axil_awaddr,
      .s_axil_awvalid,
      .s_axil_awready,
      .s_axil_wdata,
      .s_axil_wstrb,
      .s_axil_wvalid,
      .s_axil_wready,
      .s_axil_bresp,
      .s_axil_bvalid,
      .s_axil_bready,
      .s_axil_araddr,
      .s_axil_arvalid,
      .s_axil_arready,
      .s_axil_rdata,
      .s_axil_rresp,
      .s_axil_rvalid,
      .s_axil_rready,
      .m_axil_awaddr,
      .m_axil_awvalid,
      .m_axil_awready,
      .m_axil_wdata,
      .m_axil_wstrb,
      .m_axil_wvalid,
      .m_axil_wready,
      .m_axil_bresp,
      .m_axil_bvalid,
      .m_axil_bready,
      .m_axil_araddr,
      .m_axil_arvalid,
      .m_axil_arready,
      .m_axil_rdata,
      .m_axil_rresp,
      .m_axil_rvalid,
      .m_axil_rready,
      .card_msix_valid_i,
      .card_msix_ready_o,
      .card_msix_vector_i,
      .msix_valid_o,
      .msix_ready_i,
      .msix_vector_o,
      .m_axi_awaddr,
      .m_axi_awlen,
      .m_axi_awvalid,
      .m_axi_awready,
      .m_axi_wdata,
      .m_axi_wstrb,
      .m_axi_wlast,
      .m_axi_wvalid,
      .m_axi_wready,
      .m_axi_bresp,
      .m_axi_bvalid,
      .m_axi_araddr,
      .m_axi_arlen,
      .m_axi_arvalid,
      .m_axi_arready,
      .m_axi_rdata,
      .m_axi_rresp,
      .m_axi_rvalid,
      .running_o,
      .bus_idle_o(bus_idle),
      .alarm_o,
      .alarm_at_o,
      .quiescent_o
    );

    assign stopped_o = bus_idle;
  end else begin : gen_own
    localparam int unsigned PHASE_W = $clog2(CLOCK_DIV);

    // ---------------------------------------------------------------- clock and reset
    logic [PHASE_W-1:0] phase_q;
    logic proc_clk_q, proc_rst_n;

    // The clock runs in reset, too, and begins low behind it in any case.
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        phase_q    <= '0;
        proc_clk_q <= !proc_clk_q;
      end else begin
        phase_q    <= phase_q == PHASE_W'(CLOCK_DIV - 1) ? '0 : phase_q + 1'b1;
        proc_clk_q <= phase_q >= PHASE_W'(CLOCK_DIV / 2);
      end
    end

    // This side is released behind the other one, so that it sees no count of before.
    logic proc_up, card_rst_n;

    reset_sync u_proc_rst (
      .clk_i       (proc_clk_q),
      .async_rst_ni(rst_ni),
      .rst_no      (proc_rst_n)
    );
    bit_sync u_up (
      .clk_i,
      .rst_ni,
      .async_i(proc_rst_n),
      .sync_o (proc_up)
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) card_rst_n <= 1'b0;
      else card_rst_n <= proc_up;
    end

    // ---------------------------------------------------------------- the processor's side
    logic p_stop, p_running, p_stopped_q, p_bus_idle, p_quiet, p_alarm;
    logic [63:0] p_time, p_alarm_at;
    logic [15:0] ps_awaddr, ps_araddr;
    logic [31:0] ps_wdata, ps_rdata, pm_wdata, pm_rdata;
    logic [3:0] ps_wstrb, pm_wstrb;
    logic [1:0] ps_bresp, ps_rresp, pm_bresp, pm_rresp, px_bresp, px_rresp;
    logic [16:0] pm_awaddr, pm_araddr;
    logic [63:0] px_awaddr, px_araddr;
    logic [7:0] px_awlen, px_arlen;
    logic [DATA_W-1:0] px_wdata, px_rdata;
    logic [DATA_W/8-1:0] px_wstrb;
    logic [4:0] pi_vector, po_vector;
    logic ps_awvalid, ps_awready, ps_wvalid, ps_wready, ps_bvalid, ps_arvalid, ps_arready, ps_rvalid, ps_rready;
    logic pm_awvalid, pm_awready, pm_wvalid, pm_wready, pm_bvalid, pm_bready, pm_arvalid, pm_arready, pm_rvalid, pm_rready;
    logic px_awvalid, px_awready, px_wlast, px_wvalid, px_wready, px_bvalid, px_arvalid, px_arready, px_rvalid;
    logic pi_valid, pi_ready, po_valid, po_ready;

    control_processor #(
      .DATA_W      (DATA_W),
      .MEMORY_BYTES(MEMORY_BYTES),
      .CLOCK_KHZ   (CLOCK_KHZ / CLOCK_DIV)
    ) u_processor (
      .clk_i             (proc_clk_q),
      .rst_ni            (proc_rst_n),
      .stop_i            (p_stop),
      .time_i            (p_time),
      .s_axil_awaddr     (ps_awaddr),
      .s_axil_awvalid    (ps_awvalid),
      .s_axil_awready    (ps_awready),
      .s_axil_wdata      (ps_wdata),
      .s_axil_wstrb      (ps_wstrb),
      .s_axil_wvalid     (ps_wvalid),
      .s_axil_wready     (ps_wready),
      .s_axil_bresp      (ps_bresp),
      .s_axil_bvalid     (ps_bvalid),
      .s_axil_bready     (1'b1),
      .s_axil_araddr     (ps_araddr),
      .s_axil_arvalid    (ps_arvalid),
      .s_axil_arready    (ps_arready),
      .s_axil_rdata      (ps_rdata),
      .s_axil_rresp      (ps_rresp),
      .s_axil_rvalid     (ps_rvalid),
      .s_axil_rready     (ps_rready),
      .m_axil_awaddr     (pm_awaddr),
      .m_axil_awvalid    (pm_awvalid),
      .m_axil_awready    (pm_awready),
      .m_axil_wdata      (pm_wdata),
      .m_axil_wstrb      (pm_wstrb),
      .m_axil_wvalid     (pm_wvalid),
      .m_axil_wready     (pm_wready),
      .m_axil_bresp      (pm_bresp),
      .m_axil_bvalid     (pm_bvalid),
      .m_axil_bready     (pm_bready),
      .m_axil_araddr     (pm_araddr),
      .m_axil_arvalid    (pm_arvalid),
      .m_axil_arready    (pm_arready),
      .m_axil_rdata      (pm_rdata),
      .m_axil_rresp      (pm_rresp),
      .m_axil_rvalid     (pm_rvalid),
      .m_axil_rready     (pm_rready),
      .card_msix_valid_i (pi_valid),
      .card_msix_ready_o (pi_ready),
      .card_msix_vector_i(pi_vector),
      .msix_valid_o      (po_valid),
      .msix_ready_i      (po_ready),
      .msix_vector_o     (po_vector),
      .m_axi_awaddr      (px_awaddr),
      .m_axi_awlen       (px_awlen),
      .m_axi_awvalid     (px_awvalid),
      .m_axi_awready     (px_awready),
      .m_axi_wdata       (px_wdata),
      .m_axi_wstrb       (px_wstrb),
      .m_axi_wlast       (px_wlast),
      .m_axi_wvalid      (px_wvalid),
      .m_axi_wready      (px_wready),
      .m_axi_bresp       (px_bresp),
      .m_axi_bvalid      (px_bvalid),
      .m_axi_araddr      (px_araddr),
      .m_axi_arlen       (px_arlen),
      .m_axi_arvalid     (px_arvalid),
      .m_axi_arready     (px_arready),
      .m_axi_rdata       (px_rdata),
      .m_axi_rresp       (px_rresp),
      .m_axi_rvalid      (px_rvalid),
      .running_o         (p_running),
      .bus_idle_o        (p_bus_idle),
      .alarm_o           (p_alarm),
      .alarm_at_o        (p_alarm_at),
      .quiescent_o       (p_quiet)
    );

    // ---------------------------------------------------------------- the host's accesses
    // A write is answered when it is in its FIFO; a read goes behind the writes before it.
    logic aw_q, w_q, aw_room, w_room, ar_room, aw_empty, w_empty, ar_empty, ar;

    assign s_axil_awready = aw_room && !aw_q;
    assign s_axil_wready  = w_room && !w_q && (aw_q || s_axil_awvalid && s_axil_awready);
    assign s_axil_bvalid  = aw_q && w_q;
    assign s_axil_bresp   = 2'b00;
    assign ar             = s_axil_arvalid && aw_empty && w_empty;
    assign s_axil_arready = ar_room && aw_empty && w_empty;

    always_ff @(posedge clk_i or negedge card_rst_n) begin
      if (!card_rst_n) begin
        {aw_q, w_q} <= '0;
      end else begin
        aw_q <= s_axil_bvalid ? !s_axil_bready : aw_q || s_axil_awvalid && s_axil_awready;
        w_q  <= s_axil_bvalid ? !s_axil_bready : w_q || s_axil_wvalid && s_axil_wready;
      end
    end

    fifo_async #(
      .WIDTH(16),
      .DEPTH(16)
    ) u_s_aw (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(s_axil_awvalid && !aw_q),
      .wr_ready_o(aw_room),
      .wr_data_i (s_axil_awaddr),
      .wr_empty_o(aw_empty),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(ps_awvalid),
      .rd_ready_i(ps_awready),
      .rd_data_o (ps_awaddr)
    );

    fifo_async #(
      .WIDTH(36),
      .DEPTH(16)
    ) u_s_w (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(s_axil_wvalid && s_axil_wready),
      .wr_ready_o(w_room),
      .wr_data_i ({s_axil_wdata, s_axil_wstrb}),
      .wr_empty_o(w_empty),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(ps_wvalid),
      .rd_ready_i(ps_wready),
      .rd_data_o ({ps_wdata, ps_wstrb})
    );

    fifo_async #(
      .WIDTH(16),
      .DEPTH(4)
    ) u_s_ar (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(ar),
      .wr_ready_o(ar_room),
      .wr_data_i (s_axil_araddr),
      .wr_empty_o(ar_empty),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(ps_arvalid),
      .rd_ready_i(ps_arready),
      .rd_data_o (ps_araddr)
    );

    fifo_async #(
      .WIDTH(34),
      .DEPTH(4)
    ) u_s_r (
      .wr_clk_i  (proc_clk_q),
      .wr_rst_ni (proc_rst_n),
      .wr_valid_i(ps_rvalid),
      .wr_ready_o(ps_rready),
      .wr_data_i ({ps_rdata, ps_rresp}),
      .wr_empty_o(),
      .rd_clk_i  (clk_i),
      .rd_rst_ni (card_rst_n),
      .rd_valid_o(s_axil_rvalid),
      .rd_ready_i(s_axil_rready),
      .rd_data_o ({s_axil_rdata, s_axil_rresp})
    );

    // ---------------------------------------------------------------- the card's registers
    fifo_async #(
      .WIDTH(17),
      .DEPTH(4)
    ) u_m_aw (
      .wr_clk_i  (proc_clk_q),
      .wr_rst_ni (proc_rst_n),
      .wr_valid_i(pm_awvalid),
      .wr_ready_o(pm_awready),
      .wr_data_i (pm_awaddr),
      .wr_empty_o(),
      .rd_clk_i  (clk_i),
      .rd_rst_ni (card_rst_n),
      .rd_valid_o(m_axil_awvalid),
      .rd_ready_i(m_axil_awready),
      .rd_data_o (m_axil_awaddr)
    );

    fifo_async #(
      .WIDTH(36),
      .DEPTH(4)
    ) u_m_w (
      .wr_clk_i  (proc_clk_q),
      .wr_rst_ni (proc_rst_n),
      .wr_valid_i(pm_wvalid),
      .wr_ready_o(pm_wready),
      .wr_data_i ({pm_wdata, pm_wstrb}),
      .wr_empty_o(),
      .rd_clk_i  (clk_i),
      .rd_rst_ni (card_rst_n),
      .rd_valid_o(m_axil_wvalid),
      .rd_ready_i(m_axil_wready),
      .rd_data_o ({m_axil_wdata, m_axil_wstrb})
    );

    fifo_async #(
      .WIDTH(2),
      .DEPTH(4)
    ) u_m_b (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(m_axil_bvalid),
      .wr_ready_o(m_axil_bready),
      .wr_data_i (m_axil_bresp),
      .wr_empty_o(),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(pm_bvalid),
      .rd_ready_i(pm_bready),
      .rd_data_o (pm_bresp)
    );

    fifo_async #(
      .WIDTH(17),
      .DEPTH(4)
    ) u_m_ar (
      .wr_clk_i  (proc_clk_q),
      .wr_rst_ni (proc_rst_n),
      .wr_valid_i(pm_arvalid),
      .wr_ready_o(pm_arready),
      .wr_data_i (pm_araddr),
      .wr_empty_o(),
      .rd_clk_i  (clk_i),
      .rd_rst_ni (card_rst_n),
      .rd_valid_o(m_axil_arvalid),
      .rd_ready_i(m_axil_arready),
      .rd_data_o (m_axil_araddr)
    );

    fifo_async #(
      .WIDTH(34),
      .DEPTH(4)
    ) u_m_r (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(m_axil_rvalid),
      .wr_ready_o(m_axil_rready),
      .wr_data_i ({m_axil_rdata, m_axil_rresp}),
      .wr_empty_o(),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(pm_rvalid),
      .rd_ready_i(pm_rready),
      .rd_data_o ({pm_rdata, pm_rresp})
    );

    control_bursts #(
      .DATA_W(DATA_W)
    ) u_bursts (
      .clk_i      (clk_i),
      .rst_ni     (card_rst_n),
      .proc_clk_i (proc_clk_q),
      .proc_rst_ni(proc_rst_n),
      .p_awaddr_i (px_awaddr),
      .p_awlen_i  (px_awlen),
      .p_awvalid_i(px_awvalid),
      .p_awready_o(px_awready),
      .p_wdata_i  (px_wdata),
      .p_wstrb_i  (px_wstrb),
      .p_wlast_i  (px_wlast),
      .p_wvalid_i (px_wvalid),
      .p_wready_o (px_wready),
      .p_bresp_o  (px_bresp),
      .p_bvalid_o (px_bvalid),
      .p_araddr_i (px_araddr),
      .p_arlen_i  (px_arlen),
      .p_arvalid_i(px_arvalid),
      .p_arready_o(px_arready),
      .p_rdata_o  (px_rdata),
      .p_rresp_o  (px_rresp),
      .p_rvalid_o (px_rvalid),
      .m_axi_awaddr,
      .m_axi_awlen,
      .m_axi_awvalid,
      .m_axi_awready,
      .m_axi_wdata,
      .m_axi_wstrb,
      .m_axi_wlast,
      .m_axi_wvalid,
      .m_axi_wready,
      .m_axi_bresp,
      .m_axi_bvalid,
      .m_axi_araddr,
      .m_axi_arlen,
      .m_axi_arvalid,
      .m_axi_arready,
      .m_axi_rdata,
      .m_axi_rresp,
      .m_axi_rvalid
    );

    // ---------------------------------------------------------------- interrupts, time, stop
    logic i_empty, i_valid, i_ready;
    logic [4:0] i_vector;

    fifo_async #(
      .WIDTH(5),
      .DEPTH(4)
    ) u_i_in (
      .wr_clk_i  (clk_i),
      .wr_rst_ni (card_rst_n),
      .wr_valid_i(card_msix_valid_i),
      .wr_ready_o(card_msix_ready_o),
      .wr_data_i (card_msix_vector_i),
      .wr_empty_o(i_empty),
      .rd_clk_i  (proc_clk_q),
      .rd_rst_ni (proc_rst_n),
      .rd_valid_o(pi_valid),
      .rd_ready_i(pi_ready),
      .rd_data_o (pi_vector)
    );

    fifo_async #(
      .WIDTH(5),
      .DEPTH(4)
    ) u_i_out (
      .wr_clk_i  (proc_clk_q),
      .wr_rst_ni (proc_rst_n),
      .wr_valid_i(po_valid),
      .wr_ready_o(po_ready),
      .wr_data_i (po_vector),
      .wr_empty_o(),
      .rd_clk_i  (clk_i),
      .rd_rst_ni (card_rst_n),
      .rd_valid_o(i_valid),
      .rd_ready_i(i_ready),
      .rd_data_o (i_vector)
    );

    stream_slice #(
      .WIDTH(5)
    ) u_msix (
      .clk_i,
      .rst_ni     (card_rst_n),
      .in_valid_i (i_valid),
      .in_ready_o (i_ready),
      .in_data_i  (i_vector),
      .out_valid_o(msix_valid_o),
      .out_ready_i(msix_ready_i),
      .out_data_o (msix_vector_o),
      .shown_o    ()
    );

    word_sync #(
      .WIDTH(64)
    ) u_time (
      .src_clk_i (clk_i),
      .src_rst_ni(card_rst_n),
      .src_word_i(time_i),
      .dst_clk_i (proc_clk_q),
      .dst_rst_ni(proc_rst_n),
      .dst_word_o(p_time)
    );

    word_sync #(
      .WIDTH(65)
    ) u_alarm (
      .src_clk_i (proc_clk_q),
      .src_rst_ni(proc_rst_n),
      .src_word_i({p_alarm, p_alarm_at}),
      .dst_clk_i (clk_i),
      .dst_rst_ni(card_rst_n),
      .dst_word_o({alarm_o, alarm_at_o})
    );

    bit_sync u_running (
      .clk_i,
      .rst_ni (card_rst_n),
      .async_i(p_running),
      .sync_o (running_o)
    );
    bit_sync u_stop (
      .clk_i  (proc_clk_q),
      .rst_ni (proc_rst_n),
      .async_i(stop_i),
      .sync_o (p_stop)
    );
    bit_sync u_stopped (
      .clk_i,
      .rst_ni (card_rst_n),
      .async_i(p_stopped_q),
      .sync_o (stopped_o)
    );

    always_ff @(posedge proc_clk_q or negedge proc_rst_n) begin
      if (!proc_rst_n) p_stopped_q <= 1'b0;
      else p_stopped_q <= p_stop && p_bus_idle;
    end

    // At rest for longer than anything takes to cross. An input ends the processor's rest at the edge that takes it. So the other side learns of that
    // before it sees its FIFO empty.
    logic [3:0] rest_q;
    logic rested_q, rested, quiet;

    assign quiet = p_quiet && !ps_awvalid && !ps_wvalid && !ps_arvalid && !pi_valid;

    always_ff @(posedge proc_clk_q or negedge proc_rst_n) begin
      if (!proc_rst_n) begin
        rest_q   <= '0;
        rested_q <= 1'b0;
      end else begin
        rest_q   <= !quiet ? '0 : rest_q + 4'(rest_q != '1);
        rested_q <= quiet && rest_q == '1;
      end
    end

    bit_sync u_rested (
      .clk_i,
      .rst_ni (card_rst_n),
      .async_i(rested_q),
      .sync_o (rested)
    );

    // A register, which an input of this cycle clears.
    always_ff @(posedge clk_i or negedge card_rst_n) begin
      if (!card_rst_n) quiescent_o <= 1'b0;
      else
        quiescent_o <= rested && aw_empty && w_empty && ar_empty && i_empty && !s_axil_rvalid && !i_valid && !msix_valid_o &&
                          !s_axil_awvalid && !s_axil_wvalid && !s_axil_arvalid && !card_msix_valid_i;
    end

    logic unused_answer;
    assign unused_answer = ^{ps_bvalid, ps_bresp};
  end

  if (CLOCK_DIV < 1 || CLOCK_DIV > 16) begin : gen_param_check
    $error("control_clock: CLOCK_DIV 1 to 16");
  end

endmodule
