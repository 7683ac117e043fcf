// dma_write with a stream for each client's data and a read channel that does nothing.

module dma_write_bench #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [2:0]       cmd_valid_i,
  output logic [2:0]       cmd_ready_o,
  input  logic [2:0][63:0] cmd_addr_i,
  input  logic [2:0][15:0] cmd_bytes_i,
  output logic [2:0]       written_o,
  output logic [2:0]       failed_o,

  input  logic              place_tvalid_i,
  output logic              place_tready_o,
  input  logic [DATA_W-1:0] place_tdata_i,
  input  logic [ BYTES-1:0] place_tkeep_i,
  input  logic              place_tlast_i,

  input  logic              report_tvalid_i,
  output logic              report_tready_o,
  input  logic [DATA_W-1:0] report_tdata_i,
  input  logic [ BYTES-1:0] report_tkeep_i,
  input  logic              report_tlast_i,

  input  logic              low_tvalid_i,
  output logic              low_tready_o,
  input  logic [DATA_W-1:0] low_tdata_i,
  input  logic [ BYTES-1:0] low_tkeep_i,
  input  logic              low_tlast_i,

  output logic [       1:0] m_axi_awid,
  output logic [      63:0] m_axi_awaddr,
  output logic [       7:0] m_axi_awlen,
  output logic [       2:0] m_axi_awsize,
  output logic [       1:0] m_axi_awburst,
  output logic              m_axi_awuser,
  output logic              m_axi_awvalid,
  input  logic              m_axi_awready,
  output logic [DATA_W-1:0] m_axi_wdata,
  output logic [ BYTES-1:0] m_axi_wstrb,
  output logic              m_axi_wlast,
  output logic              m_axi_wvalid,
  input  logic              m_axi_wready,
  input  logic [       1:0] m_axi_bid,
  input  logic [       1:0] m_axi_bresp,
  input  logic              m_axi_bvalid,
  output logic              m_axi_bready,
  output logic [      63:0] m_axi_araddr,
  output logic              m_axi_arvalid,
  input  logic              m_axi_arready,
  input  logic [DATA_W-1:0] m_axi_rdata,
  input  logic              m_axi_rvalid,
  output logic              m_axi_rready,

  output logic request_o,
  output logic error_o,
  output logic idle_o
);

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi4_write_pins #(
    .DATA_W(DATA_W)
  ) u_pins (
    .axi(m_axi),
    .*
  );

  dma_write #(
    .DATA_W(DATA_W)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_addr_i,
    .cmd_bytes_i,
    .wr_valid_i({low_tvalid_i, report_tvalid_i, place_tvalid_i}),
    .wr_ready_o({low_tready_o, report_tready_o, place_tready_o}),
    .wr_data_i ({low_tdata_i, report_tdata_i, place_tdata_i}),
    .wr_count_i({COUNT_W'($countones(low_tkeep_i)), COUNT_W'($countones(report_tkeep_i)), COUNT_W'($countones(place_tkeep_i))}),
    .wr_last_i ({low_tlast_i, report_tlast_i, place_tlast_i}),
    .written_o,
    .failed_o,
    .m_axi,
    .request_o,
    .error_o,
    .idle_o
  );

  assign m_axi_araddr  = '0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;

  logic unused;
  assign unused = ^{m_axi_arready, m_axi_rdata, m_axi_rvalid};

endmodule
