// One path to the card's registers for the host (0) and the control processor (1).
//
// Handshake: AXI4-Lite handshakes, one write and one read at a time, W with its AW or behind it. Writes and reads are independent.
// Pipeline:  none, combinational; the owner of the open access is a register.
// Why:       An access of the host is not later than without this module if nothing is in flight. If both request, they take turns, so either waits
//            for one access of the other.

module control_join (
  input logic clk_i,
  input logic rst_ni,

  input  logic [1:0] awvalid_i,
  output logic [1:0] awready_o,
  input  logic [1:0] wvalid_i,
  output logic [1:0] wready_o,
  output logic [1:0] bvalid_o,
  input  logic [1:0] bready_i,
  input  logic [1:0] arvalid_i,
  output logic [1:0] arready_o,
  output logic [1:0] rvalid_o,
  input  logic [1:0] rready_i,

  // The owner of addresses and data that the card sees.
  output logic write_proc_o,
  output logic read_proc_o,
  output logic m_axil_awvalid,
  input  logic m_axil_awready,
  output logic m_axil_wvalid,
  input  logic m_axil_wready,
  input  logic m_axil_bvalid,
  output logic m_axil_bready,
  output logic m_axil_arvalid,
  input  logic m_axil_arready,
  input  logic m_axil_rvalid,
  output logic m_axil_rready
);

  // The owner of the access that was shown and not answered, or of the last one.
  logic wr_open_q, wr_proc_q, rd_open_q, rd_proc_q;

  assign write_proc_o   = wr_open_q ? wr_proc_q : awvalid_i[1] && (!awvalid_i[0] || !wr_proc_q);
  assign read_proc_o    = rd_open_q ? rd_proc_q : arvalid_i[1] && (!arvalid_i[0] || !rd_proc_q);

  assign m_axil_awvalid = awvalid_i[write_proc_o];
  assign m_axil_wvalid  = wvalid_i[write_proc_o];
  assign m_axil_bready  = bready_i[wr_proc_q] && wr_open_q;
  assign m_axil_arvalid = arvalid_i[read_proc_o];
  assign m_axil_rready  = rready_i[rd_proc_q] && rd_open_q;

  always_comb begin
    {awready_o, wready_o, bvalid_o, arready_o, rvalid_o} = '0;
    awready_o[write_proc_o]                              = m_axil_awready;
    wready_o[write_proc_o]                               = m_axil_wready;
    bvalid_o[wr_proc_q]                                  = m_axil_bvalid && wr_open_q;
    arready_o[read_proc_o]                               = m_axil_arready;
    rvalid_o[rd_proc_q]                                  = m_axil_rvalid && rd_open_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wr_open_q, wr_proc_q, rd_open_q, rd_proc_q} <= '0;
    end else begin
      if (m_axil_bvalid && m_axil_bready) wr_open_q <= 1'b0;
      else if (m_axil_awvalid) wr_open_q <= 1'b1;
      if (!wr_open_q && m_axil_awvalid) wr_proc_q <= write_proc_o;
      if (m_axil_rvalid && m_axil_rready) rd_open_q <= 1'b0;
      else if (m_axil_arvalid) rd_open_q <= 1'b1;
      if (!rd_open_q && m_axil_arvalid) rd_proc_q <= read_proc_o;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_data_behind : assert ((!(wvalid_i[0] && !wr_open_q) || awvalid_i[0]) && (!(wvalid_i[1] && !wr_open_q) || awvalid_i[1]));
    end
  end
`endif

endmodule
