// One path to the card's registers for the host (0) and the control processor (1).
//
// Handshake: AXI4-Lite handshakes, one write and one read at a time, W with its AW or behind it. Writes and reads are independent.
// Pipeline:  none, combinational; the owner of the open access is a register.
// Why:       An access of the host is not later than without this module if nothing is in flight. If both request, they take turns, so either waits
//            for one access of the other.

`include "weft_assert.svh"

module control_join (
  input logic clk_i,
  input logic rst_ni,

  axi_lite_if.slave  host,
  axi_lite_if.slave  proc,
  axi_lite_if.master m_axil
);

  // The owner of the access that was shown and not answered, or of the last one.
  logic wr_open_q, wr_proc_q, rd_open_q, rd_proc_q;

  logic write_proc, read_proc;  // the owner of addresses and data that the card sees

  assign write_proc     = wr_open_q ? wr_proc_q : proc.awvalid && (!host.awvalid || !wr_proc_q);
  assign read_proc      = rd_open_q ? rd_proc_q : proc.arvalid && (!host.arvalid || !rd_proc_q);

  assign m_axil.awaddr  = write_proc ? proc.awaddr : host.awaddr;
  assign m_axil.awvalid = write_proc ? proc.awvalid : host.awvalid;
  assign m_axil.wdata   = write_proc ? proc.wdata : host.wdata;
  assign m_axil.wstrb   = write_proc ? proc.wstrb : host.wstrb;
  assign m_axil.wvalid  = write_proc ? proc.wvalid : host.wvalid;
  assign m_axil.bready  = (wr_proc_q ? proc.bready : host.bready) && wr_open_q;
  assign m_axil.araddr  = read_proc ? proc.araddr : host.araddr;
  assign m_axil.arvalid = read_proc ? proc.arvalid : host.arvalid;
  assign m_axil.rready  = (rd_proc_q ? proc.rready : host.rready) && rd_open_q;

  assign host.awready   = m_axil.awready && !write_proc;
  assign host.wready    = m_axil.wready && !write_proc;
  assign host.bresp     = m_axil.bresp;
  assign host.bvalid    = m_axil.bvalid && wr_open_q && !wr_proc_q;
  assign host.arready   = m_axil.arready && !read_proc;
  assign host.rdata     = m_axil.rdata;
  assign host.rresp     = m_axil.rresp;
  assign host.rvalid    = m_axil.rvalid && rd_open_q && !rd_proc_q;
  assign proc.awready   = m_axil.awready && write_proc;
  assign proc.wready    = m_axil.wready && write_proc;
  assign proc.bresp     = m_axil.bresp;
  assign proc.bvalid    = m_axil.bvalid && wr_open_q && wr_proc_q;
  assign proc.arready   = m_axil.arready && read_proc;
  assign proc.rdata     = m_axil.rdata;
  assign proc.rresp     = m_axil.rresp;
  assign proc.rvalid    = m_axil.rvalid && rd_open_q && rd_proc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wr_open_q, wr_proc_q, rd_open_q, rd_proc_q} <= '0;
    end else begin
      if (m_axil.bvalid && m_axil.bready) wr_open_q <= 1'b0;
      else if (m_axil.awvalid) wr_open_q <= 1'b1;
      if (!wr_open_q && m_axil.awvalid) wr_proc_q <= write_proc;
      if (m_axil.rvalid && m_axil.rready) rd_open_q <= 1'b0;
      else if (m_axil.arvalid) rd_open_q <= 1'b1;
      if (!rd_open_q && m_axil.arvalid) rd_proc_q <= read_proc;
    end
  end

  `WEFT_ASSERT(a_data_behind, wr_open_q || (!host.wvalid || host.awvalid) && (!proc.wvalid || proc.awvalid))

endmodule
