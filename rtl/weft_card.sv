// The card: everything between the PCIe hard IP and the MAC. docs/integrating.md describes the boundary.
//
// Handshake: AXI4-Lite slave for registers and doorbells, AXI4 master for host memory, AXI-Streams to and from the MAC. Write ID is 0; read IDs are 0
//            payload, 1 jobs, 2 receive elements. R, B, push writes and `mac_rx_*` are always taken. A frame to the MAC has no gap once begun.
// Pipeline:  AXI4-Lite ─► card_regs ─► configuration, doorbells, tables ─► weft_rx, weft_tx
//            push window ────────────────────────────────────────────────► weft_tx
//            AXI4 ◄─ dma_write ◄─ placement and raw frames ◄──────────────── weft_rx ◄─ MAC
//                 ◄─ dma_write ◄─ reports ◄───────────────────────────────── weft_rx, weft_tx
//                 ─► dma_read  ─► receive elements, jobs, payload ─────────► weft_rx, weft_tx ─► MAC
//            stage                 | what happens
//            reset_drain           | the buses in a reset of the core; a register on R, B and the request
//            mac_loopback, out, in | loopback between both paths and the MAC; a register slice out, a register in
//            tables                | one access at a time: request and answer in a register each
//            quiescence            | idle for eight cycles, evaluated a cycle later and joined in the next
//            observe               | counters, trace, capture: nothing waits for it but as dma_write says
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

  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1;

  // Clients of dma_read.
  localparam int unsigned RD_GATHER = 0;
  localparam int unsigned RD_JOB = 1;
  localparam int unsigned RD_ELEMENT = 2;

  logic core_rst_n, soft_reset, resetting;
  logic [31:0] resets;

  // The core's side of reset_drain.
  axi4_if #(.DATA_W(DATA_W)) core ();
  axi4_if #(.DATA_W(DATA_W)) m_axi ();
  axi_lite_if s_axil ();

  logic core_msix_valid, core_msix_ready, core_msix_gap;
  logic core_tx_tvalid, core_tx_tready, core_rx_tvalid, out_tvalid, out_tready, out_tlast, unused_ready;

  rx_cfg_t                 rx_cfg;
  tx_cfg_t     [PORTS-1:0] tx_cfg;
  report_cfg_t [PORTS-1:0] report_cfg;
  logic [PORTS-1:0] report_broken, off, closed, hold, rx_begun, rx_merged;
  logic loopback, fence_valid;

  logic        rq_tail_valid;
  logic [15:0] rq_tail_flow;
  logic [31:0] rq_tail_value;

  logic tbl_req_valid, tbl_rx_q, tbl_tx_q, tbl_rsp_valid, tbl_to_tx;  // tbl_rx_q, tbl_tx_q: requested of the receive, of the transmit path
  logic rx_tbl_req_ready, rx_tbl_rsp_valid, tx_tbl_req_ready, tx_tbl_rsp_valid;
  table_req_t tbl_req;
  table_rsp_t tbl_rsp, rx_tbl_rsp, tx_tbl_rsp;

  logic [31:0] fence_number, fence_done, msix_count;
  logic [PORTS-1:0][31:0] job_done, report_tail, raw_tail;
  logic core_idle;
  logic regs_idle, rx_idle, tx_idle, read_idle, write_idle, report_idle, loopback_idle, trace_idle, capture_idle;

  logic [2:0] rd_req_valid, rd_req_ready, rd_rsp_valid, rd_rsp_ready, rd_rsp_last, rd_rsp_error;
  logic [2:0][       63:0] rd_req_addr;
  logic [2:0][       15:0] rd_req_bytes;
  logic [2:0][ DATA_W-1:0] rd_rsp_data;
  logic [2:0][COUNT_W-1:0] rd_rsp_count;

  // Clients of dma_write: 0 receive, 1 reports, 2 capture.
  logic [2:0] wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, written, failed;
  logic [2:0][       63:0] wr_cmd_addr;
  logic [2:0][       15:0] wr_cmd_bytes;
  logic [2:0][ DATA_W-1:0] wr_data;
  logic [2:0][COUNT_W-1:0] wr_count;

  logic rx_rpt_valid, rx_rpt_ready, rx_rpt_full;
  logic [511:0] rx_rpt;
  logic [PORTS-1:0] tx_rpt_valid, tx_rpt_ready;
  logic [PORTS-1:0][511:0] tx_rpt;

  // Both paths at mac_loopback; out_*: its offer to the MAC.
  logic [DATA_W-1:0] out_tdata, tx_tdata, rx_tdata, in_tdata;
  logic [DATA_W/8-1:0] out_tkeep, tx_tkeep, rx_tkeep, in_tkeep;
  logic tx_tlast, tx_tvalid, tx_tready, rx_tlast, rx_tuser, rx_tvalid, rx_tready, looped;
  logic in_tlast, in_tuser, in_tvalid;

  host_activity_t host;
  logic [NUM_COUNTERS-1:0][15:0] rx_inc, tx_inc;
  logic [7:0] counter_index;
  logic [31:0] counter_value, counter_high, observe_value;
  reg_bus_t reg_bus;
  trace_event_t [1:0] rx_trace, report_trace;
  trace_event_t [2:0] tx_trace;

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

  // ---------------------------------------------------------------- reset
  // The answer ends with the request, a cycle before the drain does: the next request gets one of its own.
  logic reset_req_q, drained;
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
    .active_o         (resetting),
    .core_rst_no      (core_rst_n),
    .resets_o         (resets),
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

  assign mac_rx_tready                 = 1'b1;

  assign {m_axi_awcache, m_axi_awprot} = {AXI_CACHE, AXI_PROT};
  assign {m_axi_arcache, m_axi_arprot} = {AXI_CACHE, AXI_PROT};

  // ---------------------------------------------------------------- registers, tables
  logic port1_off_q;
  always_ff @(posedge clk_i) port1_off_q <= port1_off_i;
  assign off = PORTS'({port1_off_q, 1'b0});

  card_regs #(
    .DATA_W     (DATA_W),
    .NUM_FLOWS  (NUM_FLOWS),
    .NUM_STAGS  (NUM_STAGS),
    .NUM_VECTORS(PORTS),
    .PUSH_SLOTS (PUSH_SLOTS),
    .PORTS      (PORTS),
    .CLOCK_KHZ  (CLOCK_KHZ)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .core_rst_ni    (core_rst_n),
    .soft_reset_o   (soft_reset),
    .resetting_i    (resetting),
    .s_axil,
    .rx_cfg_o       (rx_cfg),
    .tx_cfg_o       (tx_cfg),
    .report_cfg_o   (report_cfg),
    .loopback_o     (loopback),
    .rq_tail_valid_o(rq_tail_valid),
    .rq_tail_flow_o (rq_tail_flow),
    .rq_tail_value_o(rq_tail_value),
    .tbl_req_valid_o(tbl_req_valid),
    .tbl_req_ready_i(1'b1),
    .tbl_req_o      (tbl_req),
    .tbl_rsp_valid_i(tbl_rsp_valid),
    .tbl_rsp_i      (tbl_rsp),
    .quiescent_i    (core_idle),
    .read_error_i   (host.read_error),
    .write_error_i  (host.write_error),
    .report_broken_i(report_broken),
    .off_i          (off),
    .fence_valid_o  (fence_valid),
    .fence_number_o (fence_number),
    .fence_done_i   (fence_done),
    .job_done_i     (job_done),
    .report_tail_i  (report_tail),
    .raw_tail_i     (raw_tail),
    .msix_count_i   (msix_count),
    .counter_index_o(counter_index),
    .counter_value_i(counter_value),
    .counter_high_i (counter_high),
    .bus_o          (reg_bus),
    .bus_value_i    (observe_value),
    .idle_o         (regs_idle)
  );

  // A table's ready and answer are late in their cycle, from deep in the paths. There is one access at a time, held until answered, so only its
  // request has to be kept.
  assign tbl_to_tx = tbl_req.number == TBL_FLOW_TX;

  always_ff @(posedge clk_i or negedge core_rst_n) begin
    if (!core_rst_n) begin
      {tbl_rx_q, tbl_tx_q} <= '0;
      tbl_rsp_valid        <= 1'b0;
    end else begin
      tbl_rx_q      <= tbl_req_valid ? !tbl_to_tx : tbl_rx_q && !rx_tbl_req_ready;
      tbl_tx_q      <= tbl_req_valid ? tbl_to_tx : tbl_tx_q && !tx_tbl_req_ready;
      tbl_rsp_valid <= tbl_to_tx ? tx_tbl_rsp_valid : rx_tbl_rsp_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!tbl_rsp_valid) tbl_rsp <= tbl_to_tx ? tx_tbl_rsp : rx_tbl_rsp;
  end

  // ---------------------------------------------------------------- counters, trace
  assign host.read_error_id  = core.rid;
  assign host.write_stall    = m_axi_wvalid && !m_axi_wready;
  assign host.aw_stall       = m_axi_awvalid && !m_axi_awready;
  assign host.report_written = written[1] && !failed[1];
  assign host.msix           = msix_valid_o && msix_ready_i;
  assign host.msix_gap       = core_msix_valid && core_msix_ready && core_msix_gap;

  logic [63:0] time_q;
  always_ff @(posedge clk_i) begin
    time_q <= time_i;
  end

  observe #(
    .DATA_W       (DATA_W),
    .TRACE_LOG2   (TRACE_LOG2),
    .CAPTURE_BYTES(CAPTURE_BYTES),
    .OBSERVE      (OBSERVE)
  ) u_observe (
    .clk_i,
    .rst_ni         (core_rst_n),
    .power_on_ni    (rst_ni),
    .time_i         (time_q),
    .rx_inc_i       (rx_inc),
    .tx_inc_i       (tx_inc),
    .host_i         (host),
    .counter_index_i(counter_index),
    .counter_value_o(counter_value),
    .counter_high_o (counter_high),
    .msix_count_o   (msix_count),
    .rx_trace_i     (rx_trace),
    .tx_trace_i     (tx_trace),
    .report_trace_i (report_trace),
    .resets_i       (resets),
    .looped_i       (looped),
    .bus_i          (reg_bus),
    .bus_value_o    (observe_value),
    .beat_valid_i   ({tx_tvalid && tx_tready, rx_tvalid}),
    .beat_last_i    ({tx_tlast, rx_tlast}),
    .beat_bad_i     (rx_tuser),
    .beat_data_i    ({tx_tdata, rx_tdata}),
    .beat_keep_i    ({tx_tkeep, rx_tkeep}),
    .cmd_valid_o    (wr_cmd_valid[2]),
    .cmd_ready_i    (wr_cmd_ready[2]),
    .cmd_addr_o     (wr_cmd_addr[2]),
    .cmd_bytes_o    (wr_cmd_bytes[2]),
    .wr_valid_o     (wr_valid[2]),
    .wr_ready_i     (wr_ready[2]),
    .wr_data_o      (wr_data[2]),
    .wr_count_o     (wr_count[2]),
    .wr_last_o      (wr_last[2]),
    .written_i      (written[2]),
    .trace_idle_o   (trace_idle),
    .capture_idle_o (capture_idle)
  );

  // ---------------------------------------------------------------- host memory
  dma_read #(
    .DATA_W  (DATA_W),
    .REQUESTS(32'(DEPTHS.reads)),
    .JOBS    (32'(DEPTHS.jobs))
  ) u_dma_read (
    .clk_i,
    .rst_ni     (core_rst_n),
    .req_valid_i(rd_req_valid),
    .req_ready_o(rd_req_ready),
    .req_addr_i (rd_req_addr),
    .req_bytes_i(rd_req_bytes),
    .rsp_valid_o(rd_rsp_valid),
    .rsp_ready_i(rd_rsp_ready),
    .rsp_data_o (rd_rsp_data),
    .rsp_count_o(rd_rsp_count),
    .rsp_last_o (rd_rsp_last),
    .rsp_error_o(rd_rsp_error),
    .m_axi      (core),
    .request_o  (host.read_request),
    .error_o    (host.read_error),
    .idle_o     (read_idle)
  );

  dma_write #(
    .DATA_W     (DATA_W),
    .OUTSTANDING(32'(DEPTHS.bursts))
  ) u_dma_write (
    .clk_i,
    .rst_ni     (core_rst_n),
    .cmd_valid_i(wr_cmd_valid),
    .cmd_ready_o(wr_cmd_ready),
    .cmd_addr_i (wr_cmd_addr),
    .cmd_bytes_i(wr_cmd_bytes),
    .wr_valid_i (wr_valid),
    .wr_ready_o (wr_ready),
    .wr_data_i  (wr_data),
    .wr_count_i (wr_count),
    .wr_last_i  (wr_last),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi      (core),
    .request_o  (host.write_request),
    .error_o    (host.write_error),
    .idle_o     (write_idle)
  );

  assign wr_cmd_bytes[1] = 16'd64;

  logic unused_failed;
  assign unused_failed = failed[2];

  logic ahead_cmd_valid, ahead_cmd_ready, ahead_valid, ahead_ready, ahead_last, ahead_idle;
  logic [      63:0] ahead_cmd_addr;
  logic [DATA_W-1:0] ahead_data;

  // Besides the bursts without a response: 4 in report_ahead, 8 in dma_write, and the slices between them.
  reports #(
    .DATA_W    (DATA_W),
    .PORTS     (PORTS),
    .UNANSWERED(32'(DEPTHS.bursts) + 2 + 4 + 8)
  ) u_reports (
    .clk_i,
    .rst_ni      (core_rst_n),
    .cfg_i       (report_cfg),
    .off_i       (off),
    .closed_o    (closed),
    .hold_o      (hold),
    .job_done_i  (job_done),
    .rx_valid_i  (rx_rpt_valid),
    .rx_ready_o  (rx_rpt_ready),
    .rx_report_i (rx_rpt),
    .rx_full_o   (rx_rpt_full),
    .rx_begun_i  (rx_begun),
    .rx_merged_i (rx_merged),
    .tx_valid_i  (tx_rpt_valid),
    .tx_ready_o  (tx_rpt_ready),
    .tx_report_i (tx_rpt),
    .cmd_valid_o (ahead_cmd_valid),
    .cmd_ready_i (ahead_cmd_ready),
    .cmd_addr_o  (ahead_cmd_addr),
    .wr_valid_o  (ahead_valid),
    .wr_ready_i  (ahead_ready),
    .wr_data_o   (ahead_data),
    .wr_count_o  (wr_count[1]),
    .wr_last_o   (ahead_last),
    .written_i   (written[1]),
    .failed_i    (failed[1]),
    .msix_valid_o(core_msix_valid),
    .msix_ready_i(core_msix_ready),
    .msix_vector_o,
    .tail_o      (report_tail),
    .broken_o    (report_broken),
    .stall_o     (host.report_stall),
    .msix_gap_o  (core_msix_gap),
    .trace_o     (report_trace),
    .idle_o      (report_idle)
  );

  report_ahead #(
    .DATA_W(DATA_W)
  ) u_report_ahead (
    .clk_i,
    .rst_ni     (core_rst_n),
    .cmd_valid_i(ahead_cmd_valid),
    .cmd_ready_o(ahead_cmd_ready),
    .cmd_addr_i (ahead_cmd_addr),
    .wr_valid_i (ahead_valid),
    .wr_ready_o (ahead_ready),
    .wr_data_i  (ahead_data),
    .wr_last_i  (ahead_last),
    .cmd_valid_o(wr_cmd_valid[1]),
    .cmd_ready_i(wr_cmd_ready[1]),
    .cmd_addr_o (wr_cmd_addr[1]),
    .wr_valid_o (wr_valid[1]),
    .wr_ready_i (wr_ready[1]),
    .wr_data_o  (wr_data[1]),
    .wr_last_o  (wr_last[1]),
    .idle_o     (ahead_idle)
  );

  // ---------------------------------------------------------------- wire
  logic replay_valid, replay_ready;  // from transmit to receive
  replay_t replay_about;

  mac_loopback #(
    .DATA_W(DATA_W)
  ) u_loopback (
    .clk_i,
    .rst_ni       (core_rst_n),
    .enable_i     (loopback),
    .tx_tdata_i   (tx_tdata),
    .tx_tkeep_i   (tx_tkeep),
    .tx_tlast_i   (tx_tlast),
    .tx_tvalid_i  (tx_tvalid),
    .tx_tready_o  (tx_tready),
    .rx_tdata_o   (in_tdata),
    .rx_tkeep_o   (in_tkeep),
    .rx_tlast_o   (in_tlast),
    .rx_tuser_o   (in_tuser),
    .rx_tvalid_o  (in_tvalid),
    .mac_tx_tdata (out_tdata),
    .mac_tx_tkeep (out_tkeep),
    .mac_tx_tlast (out_tlast),
    .mac_tx_tvalid(out_tvalid),
    .mac_tx_tready(out_tready),
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tuser,
    .mac_rx_tvalid(core_rx_tvalid),
    .mac_rx_tready(unused_ready),
    .looped_o     (looped),
    .ignored_o    (host.rx_ignored),
    .idle_o       (loopback_idle)
  );

  // TREADY ends at this register.
  stream_slice #(
    .WIDTH(1 + DATA_W / 8 + DATA_W)
  ) u_mac_tx (
    .clk_i,
    .rst_ni     (core_rst_n),
    .in_valid_i (out_tvalid),
    .in_ready_o (out_tready),
    .in_data_i  ({out_tlast, out_tkeep, out_tdata}),
    .out_valid_o(core_tx_tvalid),
    .out_ready_i(core_tx_tready),
    .out_data_o ({mac_tx_tlast, mac_tx_tkeep, mac_tx_tdata}),
    .shown_o    ()
  );

  // A register for beats in, from the MAC or looped.
  always_ff @(posedge clk_i or negedge core_rst_n) begin
    if (!core_rst_n) rx_tvalid <= 1'b0;
    else rx_tvalid <= in_tvalid;
  end

  always_ff @(posedge clk_i) begin
    rx_tdata <= in_tdata;
    rx_tkeep <= in_tkeep;
    rx_tlast <= in_tlast;
    rx_tuser <= in_tuser;
  end

  logic unused_wire;
  assign unused_wire = ^{rx_tready, unused_ready};

  // ---------------------------------------------------------------- receive
  weft_rx #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .PORTS    (PORTS),
    .DEPTHS   (DEPTHS)
  ) u_rx (
    .clk_i,
    .rst_ni         (core_rst_n),
    .mac_rx_tdata   (rx_tdata),
    .mac_rx_tkeep   (rx_tkeep),
    .mac_rx_tlast   (rx_tlast),
    .mac_rx_tuser   (rx_tuser),
    .mac_rx_tvalid  (rx_tvalid),
    .mac_rx_tready  (rx_tready),
    .cfg_i          (rx_cfg),
    .clock_i        (time_q[26:3]),
    .closed_i       (closed),
    .replay_valid_i (replay_valid),
    .replay_ready_o (replay_ready),
    .replay_data_i  (tx_tdata),
    .replay_keep_i  (tx_tkeep),
    .replay_last_i  (tx_tlast),
    .replay_about_i (replay_about),
    .rq_tail_valid_i(rq_tail_valid),
    .rq_tail_flow_i (rq_tail_flow),
    .rq_tail_value_i(rq_tail_value),
    .tbl_req_valid_i(tbl_rx_q),
    .tbl_req_ready_o(rx_tbl_req_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o(rx_tbl_rsp_valid),
    .tbl_rsp_o      (rx_tbl_rsp),
    .el_req_valid_o (rd_req_valid[RD_ELEMENT]),
    .el_req_ready_i (rd_req_ready[RD_ELEMENT]),
    .el_req_addr_o  (rd_req_addr[RD_ELEMENT]),
    .el_req_bytes_o (rd_req_bytes[RD_ELEMENT]),
    .el_rsp_valid_i (rd_rsp_valid[RD_ELEMENT]),
    .el_rsp_ready_o (rd_rsp_ready[RD_ELEMENT]),
    .el_rsp_data_i  (rd_rsp_data[RD_ELEMENT]),
    .el_rsp_count_i (rd_rsp_count[RD_ELEMENT]),
    .el_rsp_last_i  (rd_rsp_last[RD_ELEMENT]),
    .el_rsp_error_i (rd_rsp_error[RD_ELEMENT]),
    .wr_cmd_valid_o (wr_cmd_valid[0]),
    .wr_cmd_ready_i (wr_cmd_ready[0]),
    .wr_cmd_addr_o  (wr_cmd_addr[0]),
    .wr_cmd_bytes_o (wr_cmd_bytes[0]),
    .wr_valid_o     (wr_valid[0]),
    .wr_ready_i     (wr_ready[0]),
    .wr_data_o      (wr_data[0]),
    .wr_count_o     (wr_count[0]),
    .wr_last_o      (wr_last[0]),
    .wr_written_i   (written[0]),
    .wr_failed_i    (failed[0]),
    .fence_valid_i  (fence_valid),
    .fence_number_i (fence_number),
    .fence_done_o   (fence_done),
    .rpt_valid_o    (rx_rpt_valid),
    .rpt_ready_i    (rx_rpt_ready),
    .rpt_o          (rx_rpt),
    .rpt_full_i     (rx_rpt_full),
    .rpt_merged_o   (rx_merged),
    .rpt_begun_o    (rx_begun),
    .raw_tail_o     (raw_tail),
    .idle_o         (rx_idle),
    .trace_o        (rx_trace),
    .cnt_inc_o      (rx_inc)
  );

  // ---------------------------------------------------------------- transmit
  weft_tx #(
    .DATA_W    (DATA_W),
    .NUM_FLOWS (NUM_FLOWS),
    .NUM_STAGS (NUM_STAGS),
    .PUSH_SLOTS(PUSH_SLOTS),
    .PORTS     (PORTS),
    .DEPTHS    (DEPTHS)
  ) u_tx (
    .clk_i,
    .rst_ni         (core_rst_n),
    .cfg_i          (tx_cfg),
    .hold_i         (hold),
    .job_done_o     (job_done),
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .tbl_req_valid_i(tbl_tx_q),
    .tbl_req_ready_o(tx_tbl_req_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o(tx_tbl_rsp_valid),
    .tbl_rsp_o      (tx_tbl_rsp),
    .job_req_valid_o(rd_req_valid[RD_JOB]),
    .job_req_ready_i(rd_req_ready[RD_JOB]),
    .job_req_addr_o (rd_req_addr[RD_JOB]),
    .job_req_bytes_o(rd_req_bytes[RD_JOB]),
    .job_rsp_valid_i(rd_rsp_valid[RD_JOB]),
    .job_rsp_ready_o(rd_rsp_ready[RD_JOB]),
    .job_rsp_data_i (rd_rsp_data[RD_JOB]),
    .job_rsp_count_i(rd_rsp_count[RD_JOB]),
    .job_rsp_last_i (rd_rsp_last[RD_JOB]),
    .job_rsp_error_i(rd_rsp_error[RD_JOB]),
    .ga_req_valid_o (rd_req_valid[RD_GATHER]),
    .ga_req_ready_i (rd_req_ready[RD_GATHER]),
    .ga_req_addr_o  (rd_req_addr[RD_GATHER]),
    .ga_req_bytes_o (rd_req_bytes[RD_GATHER]),
    .ga_rsp_valid_i (rd_rsp_valid[RD_GATHER]),
    .ga_rsp_ready_o (rd_rsp_ready[RD_GATHER]),
    .ga_rsp_data_i  (rd_rsp_data[RD_GATHER]),
    .ga_rsp_count_i (rd_rsp_count[RD_GATHER]),
    .ga_rsp_last_i  (rd_rsp_last[RD_GATHER]),
    .ga_rsp_error_i (rd_rsp_error[RD_GATHER]),
    .rpt_valid_o    (tx_rpt_valid),
    .rpt_ready_i    (tx_rpt_ready),
    .rpt_o          (tx_rpt),
    .replay_valid_o (replay_valid),
    .replay_ready_i (replay_ready),
    .replay_about_o (replay_about),
    .mac_tx_tdata   (tx_tdata),
    .mac_tx_tkeep   (tx_tkeep),
    .mac_tx_tlast   (tx_tlast),
    .mac_tx_tvalid  (tx_tvalid),
    .mac_tx_tready  (tx_tready),
    .idle_o         (tx_idle),
    .trace_o        (tx_trace),
    .cnt_inc_o      (tx_inc)
  );

  // ---------------------------------------------------------------- quiescence
  // Idle for eight cycles without an input, so that nothing between two subsystems is missed. Each idle signal is late in its cycle: it is
  // registered, and all are joined in the next cycle.
  logic [9:0] core_idle_now, core_idle_q;
  logic [1:0] other_idle_q;
  logic quiet_q, input_now, input_q;  // input_now: from the pins
  logic [7:0] calm_q;  // of the last eight cycles; an input clears the last one at once, the others a cycle later

  assign core_idle_now = {rx_idle, tx_idle, read_idle, write_idle, report_idle, ahead_idle, loopback_idle, capture_idle, !core_tx_tvalid, !rx_tvalid};
  assign core_idle = core_idle_q == '1;
  // Without the answers of host memory: while one is outstanding a client is not idle.
  assign input_now = reset_req_i || s_axil_awvalid || s_axil_wvalid || s_axil_arvalid || push_valid_i || mac_rx_tvalid;
  assign quiescent_o = calm_q[7];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      core_idle_q  <= '0;
      other_idle_q <= '0;
      quiet_q      <= 1'b0;
      input_q      <= 1'b1;
      calm_q       <= '0;
    end else begin
      core_idle_q  <= core_idle_now;
      other_idle_q <= {regs_idle, trace_idle};
      quiet_q      <= core_idle && other_idle_q == '1;
      input_q      <= input_now || resetting;
      calm_q       <= quiet_q && !input_q ? {calm_q[6] && !input_now, calm_q[5:0], 1'b1} : '0;
    end
  end

`ifndef SYNTHESIS
  // ---------------------------------------------------------------- every byte written is checked at the port
  walk_pkg::op_t watch_op;
  capture_cfg_t  watch_capture;
  logic          watch_grant;
  assign watch_op      = u_rx.op;
  assign watch_grant   = u_rx.op_valid && u_rx.op_ready && !watch_op.is_report;
  assign watch_capture = u_observe.capture_cfg;

  localparam int unsigned RINGS = 1 + 2 * PORTS;
  logic [RINGS-1:0][63:0] watch_base;
  logic [RINGS-1:0][ 7:0] watch_log2;
  always_comb begin
    watch_base[0] = watch_capture.base;
    watch_log2[0] = watch_capture.slot_log2 + watch_capture.count_log2;
    for (int unsigned p = 0; p < PORTS; p++) begin
      watch_base[1+2*p] = report_cfg[p].base;
      watch_log2[1+2*p] = report_cfg[p].log2 + 8'd6;
      watch_base[2+2*p] = rx_cfg.raw[p].base;
      watch_log2[2+2*p] = rx_cfg.raw_slot_log2 + rx_cfg.raw[p].count_log2;
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
    .idle_i       (core_idle_now == '1 && !resetting),
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
  logic rx_busy_q, tx_busy_q;  // before the access, which is work as well
  always_ff @(posedge clk_i) if (!tbl_req_valid && !tbl_rx_q && !tbl_tx_q) {rx_busy_q, tx_busy_q} <= {!rx_idle, !tx_idle};
  for (genvar t = int'(TBL_FLOW_KEY); t <= int'(TBL_STAG); t++) begin : gen_table_point
    logic now, busy;
    assign now  = ((tbl_rx_q && rx_tbl_req_ready) || (tbl_tx_q && tx_tbl_req_ready)) && tbl_req.number == 4'(t);
    assign busy = tbl_to_tx ? tx_busy_q : rx_busy_q;
    `WEFT_COVER(write_at_rest, now && tbl_req.write && !busy, clk_i, 1'b1)
    `WEFT_COVER(write_in_traffic, now && tbl_req.write && busy, clk_i, 1'b1)
    `WEFT_COVER(read_at_rest, now && !tbl_req.write && !busy, clk_i, 1'b1)
    `WEFT_COVER(read_in_traffic, now && !tbl_req.write && busy, clk_i, 1'b1)
  end
  for (genvar i = 0; i < 3; i++) begin : gen_read_point
    `WEFT_COVER(failed, host.read_error && host.read_error_id == 2'(i), clk_i, core_rst_n)
  end
  `WEFT_COVER(soft_reset_in_traffic, soft_reset && !core_idle, clk_i, core_rst_n)
  `WEFT_COVER(function_reset_in_traffic, reset_req_i && !core_idle, clk_i, core_rst_n)
  `WEFT_COVER(owed_answers_in_reset, resetting && (m_axi_bvalid || m_axi_rvalid), clk_i, 1'b1)
  `WEFT_COVER(reset_inside_a_frame, resetting && mac_rx_tvalid && !mac_rx_tlast, clk_i, 1'b1)
`endif

endmodule
