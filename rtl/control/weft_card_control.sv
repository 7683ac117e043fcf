// The card with a control processor: `weft_card`, unchanged, and beside it `control_processor` (docs/processor.md).
//
// Handshake: Ports and parameters of `weft_card`, and MEMORY_BYTES, PROC_CLOCK_DIV and the alarm. AXI IDs of the processor: write 1, read 3; its
//            writes have AWUSER 0.
// Pipeline:  path        | what happens
//            registers   | control_split: the card's or the processor's; control_join: host and processor to the card's
//            host memory | control_share: card and processor; a register slice behind it for each channel
//            interrupts  | control_msix, in control_processor: to the host or to the firmware
// Why:       A soft reset of the card (CTRL) leaves the processor as it is. A function-level reset stops it, and is done when the processor has
//            nothing in flight.
//            The alarm is for a simulation that skips cycles in which nothing happens.

module weft_card_control
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned       DATA_W         = 512,      // 128, 256 or 512
  parameter int unsigned       NUM_FLOWS      = 1024,
  parameter int unsigned       NUM_STAGS      = 4096,
  parameter int unsigned       PUSH_SLOTS     = 32,       // of the push window; 0: none
  parameter int unsigned       TRACE_LOG2     = 10,       // entries of the trace ring, at most 10
  parameter int unsigned       CAPTURE_BYTES  = 32768,    // of the capture's buffer, for each direction
  parameter bit                OBSERVE        = 1'b1,     // 0: without trace and capture, for a part that has no room for them
  parameter int unsigned       CLOCK_KHZ      = 250_000,  // of clk_i, for the driver
  parameter depths_t           DEPTHS         = DEEP,     // SHALLOW for a slow host and a small part
  parameter int unsigned       MEMORY_BYTES   = 65536,    // of the processor: a power of two, 16 KiB to 1 MiB
  parameter int unsigned       PROC_CLOCK_DIV = 1,        // the processor's clock is clk_i divided by it: 1 to 16
  parameter logic        [3:0] AXI_CACHE      = 4'b0011,  // normal, not cacheable, bufferable
  parameter logic        [2:0] AXI_PROT       = 3'b010    // data, non-secure, unprivileged
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

  input logic [63:0] time_i,  // clock of the time stamps: free-running, in cycles

  output logic        alarm_o,     // the processor will be awake when time_i is alarm_at_o
  output logic [63:0] alarm_at_o,
  output logic        quiescent_o  // nothing in flight; nothing will happen before the next input or the alarm
);

  axi_lite_if s_axil ();  // from the pins
  axi_lite_if host ();  // the host's accesses to the card's registers
  axi_lite_if proc ();  // the host's to the processor's
  axi_lite_if win ();  // the processor's to the card's
  axi_lite_if regs ();  // all to the card's

  axi4_if #(.DATA_W(DATA_W)) card_axi ();
  axi4_if #(.DATA_W(DATA_W)) proc_axi ();
  axi4_if #(.DATA_W(DATA_W)) bus ();

  logic card_msix_valid, card_msix_ready;
  logic [4:0] card_msix_vector;
  logic split_idle, reset_req_q, card_done, card_quiescent, proc_quiescent, proc_stopped, running;

  // ---------------------------------------------------------------- registers
  axi_lite_pins u_s_axil (
    .axil(s_axil),
    .*
  );

  control_split u_split (
    .clk_i,
    .rst_ni,
    .s_axil,
    .card  (host),
    .proc,
    .idle_o(split_idle)
  );

  control_join u_join (
    .clk_i,
    .rst_ni,
    .host,
    .proc  (win),
    .m_axil(regs)
  );

  weft_card #(
    .DATA_W       (DATA_W),
    .NUM_FLOWS    (NUM_FLOWS),
    .NUM_STAGS    (NUM_STAGS),
    .PUSH_SLOTS   (PUSH_SLOTS),
    .PORTS        (2),
    .TRACE_LOG2   (TRACE_LOG2),
    .CAPTURE_BYTES(CAPTURE_BYTES),
    .OBSERVE      (OBSERVE),
    .CLOCK_KHZ    (CLOCK_KHZ),
    .DEPTHS       (DEPTHS),
    .AXI_CACHE    (AXI_CACHE),
    .AXI_PROT     (AXI_PROT)
  ) u_card (
    .clk_i,
    .rst_ni,
    .reset_req_i   (reset_req_q),
    .reset_done_o  (card_done),
    .s_axil_awaddr (regs.awaddr),
    .s_axil_awvalid(regs.awvalid),
    .s_axil_awready(regs.awready),
    .s_axil_wdata  (regs.wdata),
    .s_axil_wstrb  (regs.wstrb),
    .s_axil_wvalid (regs.wvalid),
    .s_axil_wready (regs.wready),
    .s_axil_bresp  (regs.bresp),
    .s_axil_bvalid (regs.bvalid),
    .s_axil_bready (regs.bready),
    .s_axil_araddr (regs.araddr),
    .s_axil_arvalid(regs.arvalid),
    .s_axil_arready(regs.arready),
    .s_axil_rdata  (regs.rdata),
    .s_axil_rresp  (regs.rresp),
    .s_axil_rvalid (regs.rvalid),
    .s_axil_rready (regs.rready),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .m_axi_awid    (card_axi.awid),
    .m_axi_awaddr  (card_axi.awaddr),
    .m_axi_awlen   (card_axi.awlen),
    .m_axi_awsize  (card_axi.awsize),
    .m_axi_awburst (card_axi.awburst),
    .m_axi_awcache,
    .m_axi_awprot,
    .m_axi_awuser  (card_axi.awuser),
    .m_axi_awvalid (card_axi.awvalid),
    .m_axi_awready (card_axi.awready),
    .m_axi_wdata   (card_axi.wdata),
    .m_axi_wstrb   (card_axi.wstrb),
    .m_axi_wlast   (card_axi.wlast),
    .m_axi_wvalid  (card_axi.wvalid),
    .m_axi_wready  (card_axi.wready),
    .m_axi_bid     (card_axi.bid),
    .m_axi_bresp   (card_axi.bresp),
    .m_axi_bvalid  (card_axi.bvalid),
    .m_axi_bready  (card_axi.bready),
    .m_axi_arid    (card_axi.arid),
    .m_axi_araddr  (card_axi.araddr),
    .m_axi_arlen   (card_axi.arlen),
    .m_axi_arsize  (card_axi.arsize),
    .m_axi_arburst (card_axi.arburst),
    .m_axi_arcache,
    .m_axi_arprot,
    .m_axi_arvalid (card_axi.arvalid),
    .m_axi_arready (card_axi.arready),
    .m_axi_rid     (card_axi.rid),
    .m_axi_rdata   (card_axi.rdata),
    .m_axi_rresp   (card_axi.rresp),
    .m_axi_rlast   (card_axi.rlast),
    .m_axi_rvalid  (card_axi.rvalid),
    .m_axi_rready  (card_axi.rready),
    .msix_valid_o  (card_msix_valid),
    .msix_ready_i  (card_msix_ready),
    .msix_vector_o (card_msix_vector),
    .mac_tx_tdata,
    .mac_tx_tkeep,
    .mac_tx_tlast,
    .mac_tx_tvalid,
    .mac_tx_tready,
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tuser,
    .mac_rx_tvalid,
    .mac_rx_tready,
    .port1_off_i   (!running),
    .time_i,
    .quiescent_o   (card_quiescent)
  );

  control_clock #(
    .DATA_W      (DATA_W),
    .MEMORY_BYTES(MEMORY_BYTES),
    .CLOCK_KHZ   (CLOCK_KHZ),
    .CLOCK_DIV   (PROC_CLOCK_DIV)
  ) u_processor (
    .clk_i,
    .rst_ni,
    .stop_i            (reset_req_q),
    .time_i,
    .s_axil            (proc),
    .m_axil            (win),
    .card_msix_valid_i (card_msix_valid),
    .card_msix_ready_o (card_msix_ready),
    .card_msix_vector_i(card_msix_vector),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o,
    .m_axi             (proc_axi),
    .running_o         (running),
    .stopped_o         (proc_stopped),
    .alarm_o,
    .alarm_at_o,
    .quiescent_o       (proc_quiescent)
  );

  control_share u_share (
    .clk_i,
    .rst_ni,
    .card (card_axi),
    .proc (proc_axi),
    .m_axi(bus)
  );

  // A register slice behind the share for each channel, so that no path leads from it to a pin.
  stream_slice #(
    .WIDTH(2 + 64 + 8 + 1)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus.awvalid),
    .in_ready_o (bus.awready),
    .shown_o    (),
    .in_data_i  ({bus.awid, bus.awaddr, bus.awlen, bus.awuser}),
    .out_valid_o(m_axi_awvalid),
    .out_ready_i(m_axi_awready),
    .out_data_o ({m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awuser})
  );

  stream_slice #(
    .WIDTH(1 + DATA_W / 8 + DATA_W)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus.wvalid),
    .in_ready_o (bus.wready),
    .shown_o    (),
    .in_data_i  ({bus.wlast, bus.wstrb, bus.wdata}),
    .out_valid_o(m_axi_wvalid),
    .out_ready_i(m_axi_wready),
    .out_data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  stream_slice #(
    .WIDTH(2 + 64 + 8)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus.arvalid),
    .in_ready_o (bus.arready),
    .shown_o    (),
    .in_data_i  ({bus.arid, bus.araddr, bus.arlen}),
    .out_valid_o(m_axi_arvalid),
    .out_ready_i(m_axi_arready),
    .out_data_o ({m_axi_arid, m_axi_araddr, m_axi_arlen})
  );

  assign m_axi_awsize  = bus.awsize;
  assign m_axi_awburst = bus.awburst;
  assign m_axi_arsize  = bus.arsize;
  assign m_axi_arburst = bus.arburst;
  assign bus.bid       = m_axi_bid;
  assign bus.bresp     = m_axi_bresp;
  assign bus.bvalid    = m_axi_bvalid;
  assign m_axi_bready  = bus.bready;
  assign bus.rid       = m_axi_rid;
  assign bus.rdata     = m_axi_rdata;
  assign bus.rresp     = m_axi_rresp;
  assign bus.rlast     = m_axi_rlast;
  assign bus.rvalid    = m_axi_rvalid;
  assign m_axi_rready  = bus.rready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_req_q <= 1'b0;
    else reset_req_q <= reset_req_i;
  end

  // With the request itself, which is later in the card: the answer ends with it, and the next request gets one of its own.
  assign reset_done_o = card_done && proc_stopped && reset_req_q;
  assign quiescent_o  = card_quiescent && proc_quiescent && split_idle;

endmodule
