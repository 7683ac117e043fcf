// dma_read with a stream for each client's answers (tuser: error) and a write channel that does nothing.

module dma_read_bench #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [2:0]       req_valid_i,
  output logic [2:0]       req_ready_o,
  input  logic [2:0][63:0] req_addr_i,
  input  logic [2:0][15:0] req_bytes_i,

  output logic              gather_tvalid_o,
  input  logic              gather_tready_i,
  output logic [DATA_W-1:0] gather_tdata_o,
  output logic [ BYTES-1:0] gather_tkeep_o,
  output logic              gather_tlast_o,
  output logic              gather_tuser_o,

  output logic              job_tvalid_o,
  input  logic              job_tready_i,
  output logic [DATA_W-1:0] job_tdata_o,
  output logic [ BYTES-1:0] job_tkeep_o,
  output logic              job_tlast_o,
  output logic              job_tuser_o,

  output logic              element_tvalid_o,
  input  logic              element_tready_i,
  output logic [DATA_W-1:0] element_tdata_o,
  output logic [ BYTES-1:0] element_tkeep_o,
  output logic              element_tlast_o,
  output logic              element_tuser_o,

  output logic [      63:0] m_axi_awaddr,
  output logic              m_axi_awvalid,
  input  logic              m_axi_awready,
  output logic [DATA_W-1:0] m_axi_wdata,
  output logic              m_axi_wlast,
  output logic              m_axi_wvalid,
  input  logic              m_axi_wready,
  input  logic              m_axi_bvalid,
  output logic              m_axi_bready,
  output logic [       1:0] m_axi_arid,
  output logic [      63:0] m_axi_araddr,
  output logic [       7:0] m_axi_arlen,
  output logic [       2:0] m_axi_arsize,
  output logic [       1:0] m_axi_arburst,
  output logic              m_axi_arvalid,
  input  logic              m_axi_arready,
  input  logic [       1:0] m_axi_rid,
  input  logic [DATA_W-1:0] m_axi_rdata,
  input  logic [       1:0] m_axi_rresp,
  input  logic              m_axi_rlast,
  input  logic              m_axi_rvalid,
  output logic              m_axi_rready,

  output logic request_o,
  output logic error_o,
  output logic idle_o
);

  logic [2:0][COUNT_W-1:0] count;

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi4_read_pins #(
    .DATA_W(DATA_W)
  ) u_pins (
    .axi(m_axi),
    .*
  );

  dma_read #(
    .DATA_W(DATA_W)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_addr_i,
    .req_bytes_i,
    .rsp_valid_o({element_tvalid_o, job_tvalid_o, gather_tvalid_o}),
    .rsp_ready_i({element_tready_i, job_tready_i, gather_tready_i}),
    .rsp_data_o ({element_tdata_o, job_tdata_o, gather_tdata_o}),
    .rsp_count_o(count),
    .rsp_last_o ({element_tlast_o, job_tlast_o, gather_tlast_o}),
    .rsp_error_o({element_tuser_o, job_tuser_o, gather_tuser_o}),
    .m_axi,
    .request_o,
    .error_o,
    .idle_o
  );

  assign gather_tkeep_o  = ~({BYTES{1'b1}} << count[0]);
  assign job_tkeep_o     = ~({BYTES{1'b1}} << count[1]);
  assign element_tkeep_o = ~({BYTES{1'b1}} << count[2]);

  assign m_axi_awaddr    = '0;
  assign m_axi_awvalid   = 1'b0;
  assign m_axi_wdata     = '0;
  assign m_axi_wlast     = 1'b0;
  assign m_axi_wvalid    = 1'b0;
  assign m_axi_bready    = 1'b0;

  logic unused;
  assign unused = ^{m_axi_awready, m_axi_wready, m_axi_bvalid};

endmodule
