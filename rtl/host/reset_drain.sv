// The edge of the card in a reset (docs/card.md "Reset"): the core is reset as a whole, while the buses live on.
//
// Handshake: Outside Run, offered valids are held until taken, and nothing new is offered. R and B are always taken. `done_o` is high in Hold. A
//            register on R and B costs one cycle, W, AW, AR pass through.
// Pipeline:    Run ─ soft_i, req_i ─► Stop ─ nothing is offered ─► Drain ─ nothing is owed ─► Hold ─ !req_i ─► Run
//            state | meaning
//            Run   | the core's signals pass
//            Stop  | offers are held until taken, a frame to the MAC continues to its end, nothing new is offered
//            Drain | the core is in reset; answers outstanding are awaited and dropped
//            Hold  | `done_o`, until `req_i` is low
// Why:       What was announced on the buses is ended first, without the core where the core might never end it.
//            Stop and Drain give the W beats that are owed without strobes, so nothing more is written. One in three cycles: a beat is counted a
//            cycle after it was taken, so WREADY reaches no counter.
//            Answers go to the core, which is in reset from Drain on and leaves it when none is outstanding. A frame that the MAC is in the middle of
//            at the end of a reset is dropped to its end.
//            AXI: at most 2^OWED_W - 1 read beats and BURSTS write bursts without answer; W data never before their AW is shown. The core takes every
//            R and B at once, so their register needs no handshake.

`include "weft_assert.svh"

module reset_drain #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned BURSTS = 64,
  parameter int unsigned OWED_W = 14
) (
  input logic clk_i,
  input logic rst_ni, // power-on

  input  logic        soft_i,       // pulse
  input  logic        req_i,        // level, until done_o
  output logic        done_o,
  output logic        active_o,     // a reset is in progress
  output logic        core_rst_no,
  output logic [31:0] resets_o,     // since power-on

  // The core's side, and the card's ports. Addresses pass.
         axi4_if.slave  core,
         axi4_if.master m_axi,
  input  logic          core_msix_valid_i,
  output logic          core_msix_ready_o,
  input  logic          core_tx_tvalid_i,
  input  logic          core_tx_tlast_i,
  output logic          core_tx_tready_o,
  output logic          core_rx_tvalid_o,
  output logic          msix_valid_o,
  input  logic          msix_ready_i,
  output logic          mac_tx_tvalid,
  input  logic          mac_tx_tready,
  input  logic          mac_rx_tlast,
  input  logic          mac_rx_tvalid
);

  typedef enum logic [1:0] {
    Run,
    Stop,
    Drain,
    Hold
  } state_e;

  state_e state_q, state_d;
  logic stop, offered, owed;  // stop: a register of its own, state_q != Run

  assign active_o = stop;
  assign done_o   = state_q == Hold;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Run:     if (soft_i || req_i) state_d = Stop;
      Stop:    if (!offered) state_d = Drain;
      Drain:   if (!owed) state_d = Hold;
      Hold:    if (!req_i) state_d = Run;
      default: state_d = Run;
    endcase
  end

  // The core's reset comes from a register, as it is asynchronous inside.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Run;
      stop        <= 1'b0;
      core_rst_no <= 1'b0;
      resets_o    <= '0;
    end else begin
      state_q     <= state_d;
      stop        <= state_d != Run;
      core_rst_no <= !(state_d inside {Drain, Hold});
      if (state_q == Run && state_d == Stop) resets_o <= resets_o + 1'b1;
    end
  end

  // ---------------------------------------------------------------- offers, held until taken
  logic aw_open_q, w_open_q, ar_open_q, msix_open_q, tx_open_q;
  logic pass_aw, pass_w, pass_ar, pass_msix, pass_tx, fill_q;  // fill_q: a beat without strobes is offered

  assign pass_aw           = !stop || aw_open_q;
  assign pass_w            = !stop || w_open_q;
  assign pass_ar           = !stop || ar_open_q;
  assign pass_msix         = !stop || msix_open_q;
  assign pass_tx           = !stop || tx_open_q;
  assign offered           = aw_open_q || w_open_q || ar_open_q || msix_open_q || tx_open_q;

  assign m_axi.awid        = core.awid;
  assign m_axi.awaddr      = core.awaddr;
  assign m_axi.awlen       = core.awlen;
  assign m_axi.awsize      = core.awsize;
  assign m_axi.awburst     = core.awburst;
  assign m_axi.awuser      = core.awuser;
  assign m_axi.arid        = core.arid;
  assign m_axi.araddr      = core.araddr;
  assign m_axi.arlen       = core.arlen;
  assign m_axi.arsize      = core.arsize;
  assign m_axi.arburst     = core.arburst;

  assign m_axi.awvalid     = pass_aw && core.awvalid;
  assign m_axi.arvalid     = pass_ar && core.arvalid;
  assign msix_valid_o      = pass_msix && core_msix_valid_i;
  assign mac_tx_tvalid     = pass_tx && core_tx_tvalid_i;

  assign core.awready      = pass_aw && m_axi.awready;
  assign core.wready       = pass_w && m_axi.wready;
  assign core.arready      = pass_ar && m_axi.arready;
  assign core_msix_ready_o = pass_msix && msix_ready_i;
  assign core_tx_tready_o  = pass_tx && mac_tx_tready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_open_q   <= 1'b0;
      w_open_q    <= 1'b0;
      ar_open_q   <= 1'b0;
      msix_open_q <= 1'b0;
      tx_open_q   <= 1'b0;
    end else begin
      aw_open_q   <= m_axi.awvalid && !m_axi.awready;
      w_open_q    <= pass_w && core.wvalid && !m_axi.wready;
      ar_open_q   <= m_axi.arvalid && !m_axi.arready;
      msix_open_q <= msix_valid_o && !msix_ready_i;
      if (mac_tx_tvalid) tx_open_q <= !(mac_tx_tready && core_tx_tlast_i);
    end
  end

  // ---------------------------------------------------------------- what is owed
  localparam int unsigned BURSTS_W = $clog2(BURSTS + 1);

  logic aw_new, ar_new, took_q, took_last_q, len_valid, len_room, ends, fill_last_q;
  logic [7:0] len, beat_q;
  logic [BURSTS_W-1:0] b_owed_q;
  logic [  OWED_W-1:0] r_owed_q;

  assign aw_new = m_axi.awvalid && !aw_open_q;
  assign ar_new = m_axi.arvalid && !ar_open_q;
  // Answers are counted as they go to the core.
  assign owed   = len_valid || b_owed_q != '0 || r_owed_q != '0;
  assign ends   = beat_q == len;

  // Bursts shown whose W has not ended.
  fifo_sync #(
    .WIDTH(8),
    .DEPTH(BURSTS)
  ) u_lengths (
    .clk_i,
    .rst_ni,
    .wr_valid_i(aw_new),
    .wr_ready_o(len_room),
    .wr_data_i (m_axi.awlen),
    .rd_valid_o(len_valid),
    .rd_ready_i(took_q && took_last_q),
    .rd_data_o (len),
    .count_o   ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q   <= '0;
      b_owed_q <= '0;
      r_owed_q <= '0;
      took_q   <= 1'b0;
      fill_q   <= 1'b0;
    end else begin
      took_q <= m_axi.wvalid && m_axi.wready;
      if (took_q) beat_q <= took_last_q ? '0 : beat_q + 1'b1;
      fill_q   <= fill_q ? !m_axi.wready : stop && !w_open_q && len_valid && !took_q;
      b_owed_q <= b_owed_q + BURSTS_W'(aw_new) - BURSTS_W'(core.bvalid);
      r_owed_q <= r_owed_q + (ar_new ? OWED_W'(m_axi.arlen) + 1'b1 : '0) - OWED_W'(core.rvalid);
    end
  end

  always_ff @(posedge clk_i) begin
    took_last_q <= m_axi.wlast;
    if (!fill_q) fill_last_q <= ends;
  end

  assign m_axi.wvalid = fill_q || (pass_w && core.wvalid);
  assign m_axi.wdata  = fill_q ? '0 : core.wdata;
  assign m_axi.wstrb  = fill_q ? '0 : core.wstrb;
  assign m_axi.wlast  = fill_q ? fill_last_q : core.wlast;

  // ---------------------------------------------------------------- answers
  assign m_axi.bready = 1'b1;
  assign m_axi.rready = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      core.bvalid <= 1'b0;
      core.rvalid <= 1'b0;
    end else begin
      core.bvalid <= m_axi.bvalid;
      core.rvalid <= m_axi.rvalid;
    end
  end

  always_ff @(posedge clk_i) begin
    core.bid   <= m_axi.bid;
    core.bresp <= m_axi.bresp;
    core.rid   <= m_axi.rid;
    core.rdata <= m_axi.rdata;
    core.rresp <= m_axi.rresp;
    core.rlast <= m_axi.rlast;
  end

  // ---------------------------------------------------------------- frames from the MAC: the core gets whole ones
  logic rx_inside_q, rx_whole_q, rx_whole;

  assign rx_whole         = rx_inside_q ? rx_whole_q : !stop;
  assign core_rx_tvalid_o = mac_rx_tvalid && rx_whole;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rx_inside_q <= 1'b0;
      rx_whole_q  <= 1'b0;
    end else begin
      if (mac_rx_tvalid) rx_inside_q <= !mac_rx_tlast;
      rx_whole_q <= rx_whole && !stop;
    end
  end

  logic unused;
  assign unused = len_room;

`ifndef SYNTHESIS
  `WEFT_ASSERT(lengths_fit, aw_new -> len_room)
  `WEFT_ASSERT(w_behind_aw, took_q -> len_valid)
  `WEFT_ASSERT(last_right, took_q -> took_last_q == ends)
  `WEFT_ASSERT(b_expected, core.bvalid -> b_owed_q != '0)
  `WEFT_ASSERT(r_expected, core.rvalid -> r_owed_q != '0)
  `WEFT_ASSERT(stop_told, stop == (state_q != Run))
  `WEFT_ASSERT(clean_start, state_q == Hold -> !offered && !owed)
  stream_rules #(
    .WIDTH(DATA_W / 8 + 1)
  ) u_rules (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(m_axi.wvalid),
    .ready_i(m_axi.wready),
    .data_i ({m_axi.wstrb, m_axi.wlast})
  );
`endif

endmodule
