// The control processor with a clock of its own: that of the card, or for CLOCK_DIV over 1 the card's divided by it, from a register.
//
// Handshake: As of control_processor. A host's write is answered here, when it is in its FIFO; the processor refuses none. A burst to host memory is
//            shown when all of it is there.
// Pipeline:  AXI4-Lite, card ──► aw w ar ─► control_processor ─► b r ──► (writes are answered here)
//            AXI4-Lite, card ◄── aw w ar ◄─                   ◄─ b r
//            AXI4, host      ◄── aw w ar ◄─                   ◄─ b r
//            interrupts, time, stop, rest
//            Each channel is a fifo_async, in control_accesses, control_lite,
//            control_bursts or here; CLOCK_DIV 1 has none of them.
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

  axi_lite_if.slave s_axil,

  // The card's registers.
  axi_lite_if.master m_axil,

  // The card's interrupts, and those of the host.
  input  logic       card_msix_valid_i,
  output logic       card_msix_ready_o,
  input  logic [4:0] card_msix_vector_i,
  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  axi4_if.master m_axi,

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
      .s_axil,
      .m_axil,
      .card_msix_valid_i,
      .card_msix_ready_o,
      .card_msix_vector_i,
      .msix_valid_o,
      .msix_ready_i,
      .msix_vector_o,
      .m_axi,
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
    logic [4:0] pi_vector, po_vector;
    logic pi_valid, pi_ready, po_valid, po_ready;

    axi_lite_if ps ();
    axi_lite_if pm ();
    axi4_if #(.DATA_W(DATA_W)) px ();

    control_processor #(
      .DATA_W      (DATA_W),
      .MEMORY_BYTES(MEMORY_BYTES),
      .CLOCK_KHZ   (CLOCK_KHZ / CLOCK_DIV)
    ) u_processor (
      .clk_i             (proc_clk_q),
      .rst_ni            (proc_rst_n),
      .stop_i            (p_stop),
      .time_i            (p_time),
      .s_axil            (ps),
      .m_axil            (pm),
      .card_msix_valid_i (pi_valid),
      .card_msix_ready_o (pi_ready),
      .card_msix_vector_i(pi_vector),
      .msix_valid_o      (po_valid),
      .msix_ready_i      (po_ready),
      .msix_vector_o     (po_vector),
      .m_axi             (px),
      .running_o         (p_running),
      .bus_idle_o        (p_bus_idle),
      .alarm_o           (p_alarm),
      .alarm_at_o        (p_alarm_at),
      .quiescent_o       (p_quiet)
    );

    // ---------------------------------------------------------------- the host's accesses, the processor's, memory
    logic s_empty;

    control_accesses u_accesses (
      .clk_i,
      .rst_ni     (card_rst_n),
      .proc_clk_i (proc_clk_q),
      .proc_rst_ni(proc_rst_n),
      .s_axil,
      .p_axil     (ps),
      .empty_o    (s_empty)
    );

    control_lite u_lite (
      .clk_i,
      .rst_ni     (card_rst_n),
      .proc_clk_i (proc_clk_q),
      .proc_rst_ni(proc_rst_n),
      .p_axil     (pm),
      .m_axil
    );

    control_bursts #(
      .DATA_W(DATA_W)
    ) u_bursts (
      .clk_i,
      .rst_ni     (card_rst_n),
      .proc_clk_i (proc_clk_q),
      .proc_rst_ni(proc_rst_n),
      .p          (px),
      .m_axi
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

    assign quiet = p_quiet && !ps.awvalid && !ps.wvalid && !ps.arvalid && !pi_valid;

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
        quiescent_o <= rested && s_empty && i_empty && !s_axil.rvalid && !i_valid && !msix_valid_o &&
                          !s_axil.awvalid && !s_axil.wvalid && !s_axil.arvalid && !card_msix_valid_i;
    end
  end

  if (CLOCK_DIV < 1 || CLOCK_DIV > 16) begin : gen_param_check
    $error("control_clock: CLOCK_DIV 1 to 16");
  end

endmodule
