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

  logic [1:0] awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [1:0][1:0] bresp, rresp;
  logic [1:0][31:0] rdata;
  logic [16:0] host_awaddr, host_araddr;
  logic [31:0] host_wdata;
  logic [ 3:0] host_wstrb;
  logic split_idle, reset_req_q;

  // The processor's path to the card's registers, and the joined one (control_join).
  logic win_awvalid, win_awready, win_wvalid, win_wready, win_bvalid, win_bready, win_arvalid, win_arready, win_rvalid, win_rready;
  logic all_awvalid, all_awready, all_wvalid, all_wready, all_bvalid, all_bready, all_arvalid, all_arready, all_rvalid, all_rready;
  logic reg_write_proc, reg_read_proc;
  logic [16:0] win_awaddr, win_araddr, all_awaddr, all_araddr;
  logic [31:0] win_wdata, all_wdata;
  logic [3:0] win_wstrb, all_wstrb;

  logic card_msix_valid, card_msix_ready;
  logic [4:0] card_msix_vector;

  // The card's side of control_share, and the processor's.
  logic card_awvalid, card_awready, card_wvalid, card_wlast, card_wready, card_arvalid, card_arready, card_awuser;
  logic [1:0] card_awid, card_arid;
  logic [63:0] card_awaddr, card_araddr;
  logic [7:0] card_awlen, card_arlen;
  logic [  DATA_W-1:0] card_wdata;
  logic [DATA_W/8-1:0] card_wstrb;
  logic proc_awvalid, proc_awready, proc_wlast, proc_wvalid, proc_wready, proc_arvalid, proc_arready;
  logic [63:0] proc_awaddr, proc_araddr;
  logic [7:0] proc_awlen, proc_arlen;
  logic [  DATA_W-1:0] proc_wdata;
  logic [DATA_W/8-1:0] proc_wstrb;
  logic bus_awvalid, bus_awready, bus_wvalid, bus_wlast, bus_wready, bus_arvalid, bus_arready;
  logic card_bready, card_rready, card_done, card_quiescent, proc_quiescent, proc_stopped, running, write_proc, read_proc;

  localparam logic [1:0] PROC_WRITE = 2'd1;
  localparam logic [1:0] PROC_READ = 2'd3;

  control_split u_split (
    .clk_i,
    .rst_ni,
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
    .awaddr_o (host_awaddr),
    .wdata_o  (host_wdata),
    .wstrb_o  (host_wstrb),
    .araddr_o (host_araddr),
    .idle_o   (split_idle),
    .awvalid_o(awvalid),
    .awready_i(awready),
    .wvalid_o (wvalid),
    .wready_i (wready),
    .bresp_i  (bresp),
    .bvalid_i (bvalid),
    .bready_o (bready),
    .arvalid_o(arvalid),
    .arready_i(arready),
    .rdata_i  (rdata),
    .rresp_i  (rresp),
    .rvalid_i (rvalid),
    .rready_o (rready)
  );

  control_join u_join (
    .clk_i,
    .rst_ni,
    .awvalid_i     ({win_awvalid, awvalid[0]}),
    .awready_o     ({win_awready, awready[0]}),
    .wvalid_i      ({win_wvalid, wvalid[0]}),
    .wready_o      ({win_wready, wready[0]}),
    .bvalid_o      ({win_bvalid, bvalid[0]}),
    .bready_i      ({win_bready, bready[0]}),
    .arvalid_i     ({win_arvalid, arvalid[0]}),
    .arready_o     ({win_arready, arready[0]}),
    .rvalid_o      ({win_rvalid, rvalid[0]}),
    .rready_i      ({win_rready, rready[0]}),
    .write_proc_o  (reg_write_proc),
    .read_proc_o   (reg_read_proc),
    .m_axil_awvalid(all_awvalid),
    .m_axil_awready(all_awready),
    .m_axil_wvalid (all_wvalid),
    .m_axil_wready (all_wready),
    .m_axil_bvalid (all_bvalid),
    .m_axil_bready (all_bready),
    .m_axil_arvalid(all_arvalid),
    .m_axil_arready(all_arready),
    .m_axil_rvalid (all_rvalid),
    .m_axil_rready (all_rready)
  );

  assign all_awaddr             = reg_write_proc ? win_awaddr : host_awaddr;
  assign {all_wdata, all_wstrb} = reg_write_proc ? {win_wdata, win_wstrb} : {host_wdata, host_wstrb};
  assign all_araddr             = reg_read_proc ? win_araddr : host_araddr;

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
    .s_axil_awaddr (all_awaddr),
    .s_axil_awvalid(all_awvalid),
    .s_axil_awready(all_awready),
    .s_axil_wdata  (all_wdata),
    .s_axil_wstrb  (all_wstrb),
    .s_axil_wvalid (all_wvalid),
    .s_axil_wready (all_wready),
    .s_axil_bresp  (bresp[0]),
    .s_axil_bvalid (all_bvalid),
    .s_axil_bready (all_bready),
    .s_axil_araddr (all_araddr),
    .s_axil_arvalid(all_arvalid),
    .s_axil_arready(all_arready),
    .s_axil_rdata  (rdata[0]),
    .s_axil_rresp  (rresp[0]),
    .s_axil_rvalid (all_rvalid),
    .s_axil_rready (all_rready),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .m_axi_awid    (card_awid),
    .m_axi_awaddr  (card_awaddr),
    .m_axi_awlen   (card_awlen),
    .m_axi_awsize,
    .m_axi_awburst,
    .m_axi_awcache,
    .m_axi_awprot,
    .m_axi_awuser  (card_awuser),
    .m_axi_awvalid (card_awvalid),
    .m_axi_awready (card_awready),
    .m_axi_wdata   (card_wdata),
    .m_axi_wstrb   (card_wstrb),
    .m_axi_wlast   (card_wlast),
    .m_axi_wvalid  (card_wvalid),
    .m_axi_wready  (card_wready),
    .m_axi_bid,
    .m_axi_bresp,
    .m_axi_bvalid  (m_axi_bvalid && m_axi_bid != PROC_WRITE),
    .m_axi_bready  (card_bready),
    .m_axi_arid    (card_arid),
    .m_axi_araddr  (card_araddr),
    .m_axi_arlen   (card_arlen),
    .m_axi_arsize,
    .m_axi_arburst,
    .m_axi_arcache,
    .m_axi_arprot,
    .m_axi_arvalid (card_arvalid),
    .m_axi_arready (card_arready),
    .m_axi_rid,
    .m_axi_rdata,
    .m_axi_rresp,
    .m_axi_rlast,
    .m_axi_rvalid  (m_axi_rvalid && m_axi_rid != PROC_READ),
    .m_axi_rready  (card_rready),
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
    .s_axil_awaddr     (host_awaddr[15:0]),
    .s_axil_awvalid    (awvalid[1]),
    .s_axil_awready    (awready[1]),
    .s_axil_wdata      (host_wdata),
    .s_axil_wstrb      (host_wstrb),
    .s_axil_wvalid     (wvalid[1]),
    .s_axil_wready     (wready[1]),
    .s_axil_bresp      (bresp[1]),
    .s_axil_bvalid     (bvalid[1]),
    .s_axil_bready     (bready[1]),
    .s_axil_araddr     (host_araddr[15:0]),
    .s_axil_arvalid    (arvalid[1]),
    .s_axil_arready    (arready[1]),
    .s_axil_rdata      (rdata[1]),
    .s_axil_rresp      (rresp[1]),
    .s_axil_rvalid     (rvalid[1]),
    .s_axil_rready     (rready[1]),
    .m_axil_awaddr     (win_awaddr),
    .m_axil_awvalid    (win_awvalid),
    .m_axil_awready    (win_awready),
    .m_axil_wdata      (win_wdata),
    .m_axil_wstrb      (win_wstrb),
    .m_axil_wvalid     (win_wvalid),
    .m_axil_wready     (win_wready),
    .m_axil_bresp      (bresp[0]),
    .m_axil_bvalid     (win_bvalid),
    .m_axil_bready     (win_bready),
    .m_axil_araddr     (win_araddr),
    .m_axil_arvalid    (win_arvalid),
    .m_axil_arready    (win_arready),
    .m_axil_rdata      (rdata[0]),
    .m_axil_rresp      (rresp[0]),
    .m_axil_rvalid     (win_rvalid),
    .m_axil_rready     (win_rready),
    .card_msix_valid_i (card_msix_valid),
    .card_msix_ready_o (card_msix_ready),
    .card_msix_vector_i(card_msix_vector),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o,
    .m_axi_awaddr      (proc_awaddr),
    .m_axi_awlen       (proc_awlen),
    .m_axi_awvalid     (proc_awvalid),
    .m_axi_awready     (proc_awready),
    .m_axi_wdata       (proc_wdata),
    .m_axi_wstrb       (proc_wstrb),
    .m_axi_wlast       (proc_wlast),
    .m_axi_wvalid      (proc_wvalid),
    .m_axi_wready      (proc_wready),
    .m_axi_bresp,
    .m_axi_bvalid      (m_axi_bvalid && m_axi_bid == PROC_WRITE),
    .m_axi_araddr      (proc_araddr),
    .m_axi_arlen       (proc_arlen),
    .m_axi_arvalid     (proc_arvalid),
    .m_axi_arready     (proc_arready),
    .m_axi_rdata,
    .m_axi_rresp,
    .m_axi_rvalid      (m_axi_rvalid && m_axi_rid == PROC_READ),
    .running_o         (running),
    .stopped_o         (proc_stopped),
    .alarm_o,
    .alarm_at_o,
    .quiescent_o       (proc_quiescent)
  );

  control_share u_share (
    .clk_i,
    .rst_ni,
    .awvalid_i     (card_awvalid),
    .awready_o     (card_awready),
    .wvalid_i      (card_wvalid),
    .wlast_i       (card_wlast),
    .wready_o      (card_wready),
    .arvalid_i     (card_arvalid),
    .arready_o     (card_arready),
    .proc_awvalid_i(proc_awvalid),
    .proc_awready_o(proc_awready),
    .proc_wvalid_i (proc_wvalid),
    .proc_wlast_i  (proc_wlast),
    .proc_wready_o (proc_wready),
    .proc_arvalid_i(proc_arvalid),
    .proc_arready_o(proc_arready),
    .write_proc_o  (write_proc),
    .read_proc_o   (read_proc),
    .m_axi_awvalid (bus_awvalid),
    .m_axi_awready (bus_awready),
    .m_axi_wvalid  (bus_wvalid),
    .m_axi_wlast   (bus_wlast),
    .m_axi_wready  (bus_wready),
    .m_axi_arvalid (bus_arvalid),
    .m_axi_arready (bus_arready)
  );

  // A register slice behind the share for each channel, so that no path leads from it to a pin.
  stream_slice #(
    .WIDTH(2 + 64 + 8 + 1)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus_awvalid),
    .in_ready_o (bus_awready),
    .shown_o    (),
    .in_data_i  (write_proc ? {PROC_WRITE, proc_awaddr, proc_awlen, 1'b0} : {card_awid, card_awaddr, card_awlen, card_awuser}),
    .out_valid_o(m_axi_awvalid),
    .out_ready_i(m_axi_awready),
    .out_data_o ({m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awuser})
  );

  stream_slice #(
    .WIDTH(1 + DATA_W / 8 + DATA_W)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus_wvalid),
    .in_ready_o (bus_wready),
    .shown_o    (),
    .in_data_i  ({bus_wlast, write_proc ? {proc_wstrb, proc_wdata} : {card_wstrb, card_wdata}}),
    .out_valid_o(m_axi_wvalid),
    .out_ready_i(m_axi_wready),
    .out_data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  stream_slice #(
    .WIDTH(2 + 64 + 8)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (bus_arvalid),
    .in_ready_o (bus_arready),
    .shown_o    (),
    .in_data_i  (read_proc ? {PROC_READ, proc_araddr, proc_arlen} : {card_arid, card_araddr, card_arlen}),
    .out_valid_o(m_axi_arvalid),
    .out_ready_i(m_axi_arready),
    .out_data_o ({m_axi_arid, m_axi_araddr, m_axi_arlen})
  );

  // The processor takes each answer in its cycle.
  assign m_axi_bready = m_axi_bid == PROC_WRITE || card_bready;
  assign m_axi_rready = m_axi_rid == PROC_READ || card_rready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_req_q <= 1'b0;
    else reset_req_q <= reset_req_i;
  end

  assign reset_done_o = card_done && proc_stopped;
  assign quiescent_o  = card_quiescent && proc_quiescent && split_idle;

endmodule
