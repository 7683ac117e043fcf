// A host at the other end of a byte stream instead of a bus: the card's registers, host memory and interrupts as frames (docs/boards.md).
//
// Handshake: Bytes are ready/valid. One register access, one read burst and one write burst are in flight at a time.
// Pipeline:  bytes ─► serial_receive ─► read, write ─► AXI4-Lite to the card        ─► value      ─┐
//                                   ├─► data       ─► serial_read  ◄─► AXI of the card ─► request ─┼─► serial_send ─► bytes
//                                   └─► done       ─► serial_write ◄─► AXI of the card ─► bytes   ─┤
//                                                                   interrupts of the card ────────┘
// Why:       The order of docs/card.md "The RTL boundary" is kept: all is one stream, in which the host works frame by frame. B is given when the
//            host has confirmed its write.
//            Either side has to hold at most a burst of each kind and a value without being read.
//            The link is down after reset, and from a fault on (a bad frame, `line_error_i`) until the host's next SYNC. Meanwhile reads and writes
//            of the card are answered with errors and its interrupts dropped. So a reset of the card, which waits for answers, never waits for a
//            host. A SYNC itself ends what was in flight for the program before it.

module serial_host
  import serial_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic       rx_valid_i,
  output logic       rx_ready_o,
  input  logic [7:0] rx_byte_i,
  output logic       tx_valid_o,
  input  logic       tx_ready_i,
  output logic [7:0] tx_byte_o,
  input  logic       line_error_i,  // pulse: a byte was lost
  output logic       up_o,

  output logic [16:0] m_axil_awaddr,
  output logic        m_axil_awvalid,
  input  logic        m_axil_awready,
  output logic [31:0] m_axil_wdata,
  output logic        m_axil_wvalid,
  input  logic        m_axil_wready,
  input  logic        m_axil_bvalid,
  output logic        m_axil_bready,
  output logic [16:0] m_axil_araddr,
  output logic        m_axil_arvalid,
  input  logic        m_axil_arready,
  input  logic [31:0] m_axil_rdata,
  input  logic        m_axil_rvalid,
  output logic        m_axil_rready,

  input  logic [ 63:0] s_axi_awaddr,
  input  logic         s_axi_awvalid,
  output logic         s_axi_awready,
  input  logic [127:0] s_axi_wdata,
  input  logic [ 15:0] s_axi_wstrb,
  input  logic         s_axi_wlast,
  input  logic         s_axi_wvalid,
  output logic         s_axi_wready,
  output logic [  1:0] s_axi_bresp,
  output logic         s_axi_bvalid,
  input  logic         s_axi_bready,
  input  logic [  1:0] s_axi_arid,
  input  logic [ 63:0] s_axi_araddr,
  input  logic [  7:0] s_axi_arlen,
  input  logic         s_axi_arvalid,
  output logic         s_axi_arready,
  output logic [  1:0] s_axi_rid,
  output logic [127:0] s_axi_rdata,
  output logic [  1:0] s_axi_rresp,
  output logic         s_axi_rlast,
  output logic         s_axi_rvalid,
  input  logic         s_axi_rready,

  input  logic       msix_valid_i,
  output logic       msix_ready_o,
  input  logic [4:0] msix_vector_i
);

  typedef enum logic [2:0] {
    Idle,
    Read,
    ReadWait,
    Write,
    WriteWait
  } access_e;

  logic frame_valid, frame_ready, break_now, bad, we, busy, re;
  logic [7:0] kind, waddr, raddr;
  logic [8:0] words, read_words;
  logic [63:0] tail, write_addr, read_addr;
  logic [127:0] wdata, rdata;
  logic [15:0] rstrb;
  fault_e fault, break_fault;

  logic sync_q, fault_q, up_q, sync_ready, fault_ready, value_ready, irq_ready;
  fault_e reason_q;
  logic [31:0] nonce_q, value_q;
  logic write_valid, write_ready, read_valid, read_ready, write_waits, read_waits, write_pending, read_pending;
  logic [12:0] write_bytes, read_bytes;
  logic is_read, is_write, is_data, is_done, write_done, read_done, write_failed, read_failed, wrong;
  access_e access_q;
  logic    value_valid_q;
  logic aw_q, w_q;  // shown and not yet taken

  assign up_o = up_q;

  serial_receive u_receive (
    .clk_i,
    .rst_ni,
    .byte_valid_i (rx_valid_i),
    .byte_ready_o (rx_ready_o),
    .byte_i       (rx_byte_i),
    .frame_valid_o(frame_valid),
    .frame_ready_i(frame_ready),
    .kind_o       (kind),
    .words_o      (words),
    .tail_o       (tail),
    .we_o         (we),
    .waddr_o      (waddr),
    .wdata_o      (wdata),
    .break_i      (break_now),
    .break_fault_i(break_fault),
    .bad_o        (bad),
    .fault_o      (fault)
  );

  // ---------------------------------------------------------------- frames from the host
  assign is_read      = kind == HOST_READ;
  assign is_write     = kind == HOST_WRITE;
  assign is_data      = kind == HOST_DATA || kind == HOST_READ_ERROR;
  assign is_done      = kind == HOST_WRITTEN || kind == HOST_WRITE_ERROR;

  // An unexpected answer, or one of a wrong length.
  assign wrong        = frame_valid && ((is_data && (!read_waits || (kind == HOST_DATA && words != read_words))) || (is_done && !write_waits));
  assign read_done    = frame_valid && is_data && !wrong;
  assign write_done   = frame_valid && is_done && !wrong;
  assign read_failed  = (kind == HOST_READ_ERROR);
  assign write_failed = kind == HOST_WRITE_ERROR;
  assign break_now    = wrong || line_error_i;
  assign break_fault  = line_error_i ? FaultLine : FaultAnswer;

  // A frame of an access is taken when the access is over, some cycles later: the next frame follows on the line, which cannot be stalled. So it does
  // not wait until the value is sent, behind all of a burst perhaps; the host reads one register at a time.
  assign frame_ready  = frame_valid && (is_read ? m_axil_rvalid && m_axil_rready : is_write ? m_axil_bvalid && m_axil_bready : 1'b1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      access_q <= Idle;
      aw_q     <= 1'b0;
      w_q      <= 1'b0;
    end else begin
      unique case (access_q)
        Idle:
        if (frame_valid && !break_now) begin
          if (is_read) access_q <= Read;
          if (is_write) access_q <= Write;
          aw_q <= is_write;
          w_q  <= is_write;
        end
        Read:      if (m_axil_arready) access_q <= ReadWait;
        ReadWait:  if (m_axil_rvalid && m_axil_rready) access_q <= Idle;
        Write: begin
          if (m_axil_awready) aw_q <= 1'b0;
          if (m_axil_wready) w_q <= 1'b0;
          if ((!aw_q || m_axil_awready) && (!w_q || m_axil_wready)) access_q <= WriteWait;
        end
        WriteWait: if (m_axil_bvalid) access_q <= Idle;
        default:   access_q <= Idle;
      endcase
    end
  end

  // Address and value of an access, held: a frame that is broken off meanwhile does not change the one on the bus.
  logic [16:0] address_q;
  logic [31:0] data_q;

  always_ff @(posedge clk_i) begin
    if (access_q == Idle) begin
      address_q <= is_read ? tail[48:32] : tail[16:0];
      data_q    <= tail[63:32];
    end
    if (m_axil_rvalid && m_axil_rready) value_q <= m_axil_rdata;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) value_valid_q <= 1'b0;
    else if (m_axil_rvalid && m_axil_rready) value_valid_q <= 1'b1;
    else if (value_ready || (!up_q && !busy)) value_valid_q <= 1'b0;
  end

  assign m_axil_araddr  = address_q;
  assign m_axil_arvalid = access_q == Read;
  assign m_axil_rready  = access_q == ReadWait && !value_valid_q;
  assign m_axil_awaddr  = address_q;
  assign m_axil_awvalid = aw_q;
  assign m_axil_wdata   = data_q;
  assign m_axil_wvalid  = w_q;
  assign m_axil_bready  = access_q == WriteWait;

  // ---------------------------------------------------------------- the link
  // SYNC is answered when nothing of the program before is left.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q    <= 1'b0;
      sync_q  <= 1'b0;
      fault_q <= 1'b0;
    end else begin
      if (frame_valid && frame_ready && kind == HOST_SYNC && !break_now) begin
        up_q    <= 1'b0;
        sync_q  <= 1'b1;
        fault_q <= 1'b0;
      end else if (bad) begin
        up_q    <= 1'b0;
        sync_q  <= 1'b0;
        fault_q <= 1'b1;
      end else begin
        if (sync_ready) {sync_q, up_q} <= {1'b0, sync_q};
        if (fault_ready) fault_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (frame_valid && kind == HOST_SYNC) nonce_q <= tail[63:32];
    if (bad) reason_q <= fault;
  end

  serial_send u_send (
    .clk_i,
    .rst_ni,
    .up_i         (up_q),
    .busy_o       (busy),
    .sync_valid_i (sync_q && !write_pending && !read_pending && access_q == Idle && !value_valid_q),
    .sync_ready_o (sync_ready),
    .sync_nonce_i (nonce_q),
    .fault_valid_i(fault_q),
    .fault_ready_o(fault_ready),
    .fault_i      (reason_q),
    .value_valid_i(value_valid_q),
    .value_ready_o(value_ready),
    .value_i      (value_q),
    .write_valid_i(write_valid),
    .write_ready_o(write_ready),
    .write_addr_i (write_addr),
    .write_bytes_i(write_bytes),
    .read_valid_i (read_valid),
    .read_ready_o (read_ready),
    .read_addr_i  (read_addr),
    .read_bytes_i (read_bytes),
    .irq_valid_i  (msix_valid_i),
    .irq_ready_o  (irq_ready),
    .irq_vector_i (msix_vector_i),
    .re_o         (re),
    .raddr_o      (raddr),
    .rdata_i      (rdata),
    .rstrb_i      (rstrb),
    .byte_valid_o (tx_valid_o),
    .byte_ready_i (tx_ready_i),
    .byte_o       (tx_byte_o)
  );

  assign msix_ready_o = irq_ready || (!up_q && !busy);

  // ---------------------------------------------------------------- host memory
  serial_write u_write (
    .clk_i,
    .rst_ni,
    .up_i        (up_q),
    .busy_i      (busy),
    .s_axi_awaddr,
    .s_axi_awvalid,
    .s_axi_awready,
    .s_axi_wdata,
    .s_axi_wstrb,
    .s_axi_wlast,
    .s_axi_wvalid,
    .s_axi_wready,
    .s_axi_bresp,
    .s_axi_bvalid,
    .s_axi_bready,
    .send_valid_o(write_valid),
    .send_ready_i(write_ready),
    .send_addr_o (write_addr),
    .send_bytes_o(write_bytes),
    .re_i        (re),
    .raddr_i     (raddr),
    .rdata_o     (rdata),
    .rstrb_o     (rstrb),
    .waits_o     (write_waits),
    .pending_o   (write_pending),
    .done_i      (write_done),
    .failed_i    (write_failed)
  );

  serial_read u_read (
    .clk_i,
    .rst_ni,
    .up_i        (up_q),
    .busy_i      (busy),
    .s_axi_arid,
    .s_axi_araddr,
    .s_axi_arlen,
    .s_axi_arvalid,
    .s_axi_arready,
    .s_axi_rid,
    .s_axi_rdata,
    .s_axi_rresp,
    .s_axi_rlast,
    .s_axi_rvalid,
    .s_axi_rready,
    .send_valid_o(read_valid),
    .send_ready_i(read_ready),
    .send_addr_o (read_addr),
    .send_bytes_o(read_bytes),
    .we_i        (we),
    .waddr_i     (waddr),
    .wdata_i     (wdata),
    .waits_o     (read_waits),
    .pending_o   (read_pending),
    .words_o     (read_words),
    .done_i      (read_done),
    .failed_i    (read_failed)
  );

  logic unused;
  assign unused = ^tail[31:17];

endmodule
