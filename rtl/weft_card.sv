// The card: everything between the PCIe hard IP and the MAC. docs/integrating.md describes the boundary.
//
// Handshake: AXI4-Lite slave for registers and doorbells, AXI4 master for host memory, AXI-Streams to and from the MAC. Write ID is 0; read IDs are 0
//            payload, 1 jobs, 2 receive elements. R, B, push writes and `mac_rx_*` are always taken. A frame to the MAC has no gap once begun.
// Pipeline:  AXI4-Lite, push window ─────────────────────────► card_core
//            AXI4, MSI-X ◄─► reset_drain ◄───────────────────► card_core
//            MAC         ◄─► reset_drain ◄─► wire_side ◄─────► card_core
//            stage       | what happens
//            reset_drain | the buses in a reset of the core; a register on R, B and the request
//            wire_side   | loopback between both paths and the MAC; a register slice out, a register in
//            card_core   | registers, both paths, host memory, what watches
//            quiescence  | idle for eight cycles, evaluated a cycle later and joined in the next
// Why:       `rst_ni` is released synchronously to the clock, and resets the buses with the card. All other resets go through reset_drain: the core,
//            which is all but the register bus, has its own.

`include "weft_assert.svh"

module weft_card
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned       DATA_W        = 512,      // 128, 256 or 512
  parameter int unsigned       NUM_FLOWS     = 1024,
  parameter int unsigned       NUM_STAGS     = 4096,
  parameter int unsigned       PUSH_SLOTS    = 32,       // of the push window; 0: none
  parameter int unsigned       PORTS         = 1,        // 2: rings for a second owner (docs/card.md, Ports)
  parameter int unsigned       TRACE_LOG2    = 10,       // entries of the trace ring, at most 10
  parameter int unsigned       CAPTURE_BYTES = 32768,    // of the capture's buffer, for each direction
  parameter bit                OBSERVE       = 1'b1,     // 0: without trace and capture, for a part that has no room for them
  parameter int unsigned       CLOCK_KHZ     = 250_000,  // of clk_i, for the driver
  parameter depths_t           DEPTHS        = DEEP,     // SHALLOW for a slow host and a small part
  parameter logic        [3:0] AXI_CACHE     = 4'b0011,  // normal, not cacheable, bufferable
  parameter logic        [2:0] AXI_PROT      = 3'b010    // data, non-secure, unprivileged
) (
  input  logic clk_i,
  input  logic rst_ni,       // power-on
  input  logic reset_req_i,  // a function-level reset: level, until reset_done_o
  output logic reset_done_o,

  // Registers (bit 16 = 0) and doorbells (bit 16 = 1).
  input  logic [16:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [ 3:0] s_axil_wstrb,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [ 1:0] s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [16:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  // The push window: writes of the bridge to its 4 KiB, a beat at its place each, always taken. Without one: tied to 0.
  input logic                push_valid_i,
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  // Host memory.
  output logic [         1:0] m_axi_awid,
  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic [         2:0] m_axi_awsize,
  output logic [         1:0] m_axi_awburst,
  output logic [         3:0] m_axi_awcache,
  output logic [         2:0] m_axi_awprot,
  output logic                m_axi_awuser,   // the write may be reordered: PCIe relaxed ordering, if the wrapper uses it
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [  DATA_W-1:0] m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [         1:0] m_axi_bid,
  input  logic [         1:0] m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready,
  output logic [         1:0] m_axi_arid,
  output logic [        63:0] m_axi_araddr,
  output logic [         7:0] m_axi_arlen,
  output logic [         2:0] m_axi_arsize,
  output logic [         1:0] m_axi_arburst,
  output logic [         3:0] m_axi_arcache,
  output logic [         2:0] m_axi_arprot,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [         1:0] m_axi_rid,
  input  logic [  DATA_W-1:0] m_axi_rdata,
  input  logic [         1:0] m_axi_rresp,
  input  logic                m_axi_rlast,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,

  // Interrupt requests.
  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  // Wire.
  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,
  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tuser,
  input  logic                mac_rx_tvalid,
  output logic                mac_rx_tready,

  input logic        port1_off_i,  // level: the second port's owner is gone; with one port: any
  input logic [63:0] time_i,       // clock of the time stamps: free-running, in cycles

  output logic quiescent_o  // nothing in flight; nothing will happen before the next input. A register
);

  edge_t      at_edge;
  core_idle_t idle;
  logic core_rst_n, soft_reset, reset_req_q, drained;
  logic core_msix_valid, core_msix_ready, core_tx_tvalid, core_tx_tready, core_rx_tvalid, loopback, wire_idle, rx_bad;

  // The core's side of reset_drain, and the card's.
  axi4_if #(.DATA_W(DATA_W)) core ();
  axi4_if #(.DATA_W(DATA_W)) m_axi ();
  axi_lite_if s_axil ();

  // The core's side of the wire.
  frame_if #(.DATA_W(DATA_W)) tx ();
  frame_if #(.DATA_W(DATA_W)) rx ();

  // ---------------------------------------------------------------- pins
  axi_lite_pins u_s_axil (
    .axil(s_axil),
    .*
  );
  axi4_write_pins #(
    .DATA_W(DATA_W)
  ) u_m_axi_write (
    .axi(m_axi),
    .*
  );
  axi4_read_pins #(
    .DATA_W(DATA_W)
  ) u_m_axi_read (
    .axi(m_axi),
    .*
  );

  assign {m_axi_awcache, m_axi_awprot} = {AXI_CACHE, AXI_PROT};
  assign {m_axi_arcache, m_axi_arprot} = {AXI_CACHE, AXI_PROT};
  assign mac_rx_tready                 = 1'b1;

  logic        port1_off_q;
  logic [63:0] time_q;
  always_ff @(posedge clk_i) begin
    port1_off_q <= port1_off_i;
    time_q      <= time_i;
  end

  // ---------------------------------------------------------------- reset
  // The answer ends with the request, a cycle before the drain does: the next request gets one of its own.
  assign reset_done_o = drained && reset_req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_req_q <= 1'b0;
    else reset_req_q <= reset_req_i;
  end

  reset_drain #(
    .DATA_W(DATA_W),
    .BURSTS(32'(DEPTHS.bursts))
  ) u_reset_drain (
    .clk_i,
    .rst_ni,
    .soft_i           (soft_reset),
    .req_i            (reset_req_q),
    .done_o           (drained),
    .active_o         (at_edge.resetting),
    .core_rst_no      (core_rst_n),
    .resets_o         (at_edge.resets),
    .core,
    .m_axi,
    .core_msix_valid_i(core_msix_valid),
    .core_msix_ready_o(core_msix_ready),
    .core_tx_tvalid_i (core_tx_tvalid),
    .core_tx_tlast_i  (mac_tx_tlast),
    .core_tx_tready_o (core_tx_tready),
    .core_rx_tvalid_o (core_rx_tvalid),
    .msix_valid_o,
    .msix_ready_i,
    .mac_tx_tvalid,
    .mac_tx_tready,
    .mac_rx_tlast,
    .mac_rx_tvalid
  );

  // ---------------------------------------------------------------- wire
  wire_side #(
    .DATA_W(DATA_W)
  ) u_wire (
    .clk_i,
    .rst_ni       (core_rst_n),
    .enable_i     (loopback),
    .tx,
    .rx,
    .rx_bad_o     (rx_bad),
    .mac_tx_tdata,
    .mac_tx_tkeep,
    .mac_tx_tlast,
    .mac_tx_tvalid(core_tx_tvalid),
    .mac_tx_tready(core_tx_tready),
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tuser,
    .mac_rx_tvalid(core_rx_tvalid),
    .looped_o     (at_edge.looped),
    .ignored_o    (at_edge.rx_ignored),
    .idle_o       (wire_idle)
  );

  // ---------------------------------------------------------------- the core
  assign at_edge.write_stall = m_axi_wvalid && !m_axi_wready;
  assign at_edge.aw_stall    = m_axi_awvalid && !m_axi_awready;
  assign at_edge.msix        = msix_valid_o && msix_ready_i;

  card_core #(
    .DATA_W       (DATA_W),
    .NUM_FLOWS    (NUM_FLOWS),
    .NUM_STAGS    (NUM_STAGS),
    .PUSH_SLOTS   (PUSH_SLOTS),
    .PORTS        (PORTS),
    .TRACE_LOG2   (TRACE_LOG2),
    .CAPTURE_BYTES(CAPTURE_BYTES),
    .OBSERVE      (OBSERVE),
    .CLOCK_KHZ    (CLOCK_KHZ),
    .DEPTHS       (DEPTHS)
  ) u_core (
    .clk_i,
    .rst_ni      (core_rst_n),
    .power_on_ni (rst_ni),
    .edge_i      (at_edge),
    .soft_reset_o(soft_reset),
    .idle_o      (idle),
    .s_axil,
    .m_axi_write (core),
    .m_axi_read  (core),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .msix_valid_o(core_msix_valid),
    .msix_ready_i(core_msix_ready),
    .msix_vector_o,
    .tx,
    .rx,
    .rx_bad_i    (rx_bad),
    .loopback_o  (loopback),
    .off_i       (PORTS'({port1_off_q, 1'b0})),
    .time_i      (time_q)
  );

  // ---------------------------------------------------------------- quiescence
  // An input is one of the pins. The answers of host memory are none: while one is outstanding a client is not idle.
  logic [8:0] core_idle;
  assign core_idle = {idle.rx, idle.tx, idle.read, idle.write, idle.reports, idle.capture, wire_idle, !core_tx_tvalid, !rx.valid};

  quiescence #(
    .CORE (9),
    .OTHER(2)
  ) u_quiescence (
    .clk_i,
    .rst_ni,
    .resetting_i (at_edge.resetting),
    .core_idle_i (core_idle),
    .other_idle_i({idle.regs, idle.trace}),
    .input_i     (reset_req_i || s_axil_awvalid || s_axil_wvalid || s_axil_arvalid || push_valid_i || mac_rx_tvalid),
    .core_idle_o (at_edge.core_idle),
    .quiescent_o
  );

`ifndef SYNTHESIS
  // ---------------------------------------------------------------- every byte written is checked at the port
  walk_pkg::op_t watch_op;
  capture_cfg_t  watch_capture;
  logic          watch_grant;
  assign watch_op      = u_core.u_rx.op;
  assign watch_grant   = u_core.u_rx.op_valid && u_core.u_rx.op_ready && !watch_op.is_report;
  assign watch_capture = u_core.u_observe.capture_cfg;

  localparam int unsigned RINGS = 1 + 2 * PORTS;
  logic [RINGS-1:0][63:0] watch_base;
  logic [RINGS-1:0][ 7:0] watch_log2;
  always_comb begin
    watch_base[0] = watch_capture.base;
    watch_log2[0] = watch_capture.slot_log2 + watch_capture.count_log2;
    for (int unsigned p = 0; p < PORTS; p++) begin
      watch_base[1+2*p] = u_core.report_cfg[p].base;
      watch_log2[1+2*p] = u_core.report_cfg[p].log2 + 8'd6;
      watch_base[2+2*p] = u_core.rx_cfg.raw[p].base;
      watch_log2[2+2*p] = u_core.rx_cfg.raw_slot_log2 + u_core.rx_cfg.raw[p].count_log2;
    end
  end

  write_watch #(
    .DATA_W(DATA_W),
    .RINGS (RINGS)
  ) u_write_watch (
    .clk_i,
    .rst_ni,
    .core_rst_ni  (core_rst_n),
    .grant_i      (watch_grant),
    .grant_addr_i (watch_op.iova),
    .grant_bytes_i(watch_op.bytes),
    .ring_base_i  (watch_base),
    .ring_log2_i  (watch_log2),
    .idle_i       (core_idle == '1 && !at_edge.resetting),
    .awaddr_i     (m_axi_awaddr),
    .awvalid_i    (m_axi_awvalid),
    .awready_i    (m_axi_awready),
    .wstrb_i      (m_axi_wstrb),
    .wlast_i      (m_axi_wlast),
    .wvalid_i     (m_axi_wvalid),
    .wready_i     (m_axi_wready)
  );

  logic unused_watch;
  assign unused_watch = ^{watch_op, watch_capture};

  // ---------------------------------------------------------------- cover points (docs/testbench.md, Coverage)
  logic tbl_taken, tbl_busy, rx_busy_q, tx_busy_q;  // of a path before the access, which is work as well
  assign tbl_taken = (u_core.rx_tbl_valid && u_core.rx_tbl_ready) || (u_core.tx_tbl_valid && u_core.tx_tbl_ready);
  assign tbl_busy  = u_core.u_tables.to_tx ? tx_busy_q : rx_busy_q;
  always_ff @(posedge clk_i) begin
    if (!u_core.tbl_req_valid && !u_core.rx_tbl_valid && !u_core.tx_tbl_valid) {rx_busy_q, tx_busy_q} <= {!idle.rx, !idle.tx};
  end
  for (genvar t = int'(TBL_FLOW_KEY); t <= int'(TBL_STAG); t++) begin : gen_table_point
    logic now;
    assign now = tbl_taken && u_core.tbl_req.number == 4'(t);
    `WEFT_COVER(write_at_rest, now && u_core.tbl_req.write && !tbl_busy, clk_i, 1'b1)
    `WEFT_COVER(write_in_traffic, now && u_core.tbl_req.write && tbl_busy, clk_i, 1'b1)
    `WEFT_COVER(read_at_rest, now && !u_core.tbl_req.write && !tbl_busy, clk_i, 1'b1)
    `WEFT_COVER(read_in_traffic, now && !u_core.tbl_req.write && tbl_busy, clk_i, 1'b1)
  end
  for (genvar i = 0; i < 3; i++) begin : gen_read_point
    `WEFT_COVER(failed, u_core.activity.read_error && u_core.activity.read_error_id == 2'(i), clk_i, core_rst_n)
  end
  `WEFT_COVER(soft_reset_in_traffic, soft_reset && !at_edge.core_idle, clk_i, core_rst_n)
  `WEFT_COVER(function_reset_in_traffic, reset_req_i && !at_edge.core_idle, clk_i, core_rst_n)
  `WEFT_COVER(owed_answers_in_reset, at_edge.resetting && (m_axi_bvalid || m_axi_rvalid), clk_i, 1'b1)
  `WEFT_COVER(reset_inside_a_frame, at_edge.resetting && mac_rx_tvalid && !mac_rx_tlast, clk_i, 1'b1)
`endif

endmodule
