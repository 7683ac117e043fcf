// Transmit alone, behind the card's own DMA reader: jobs and payload come over AXI, frames go out as a stream.

module weft_tx_bench
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned NUM_FLOWS = 16,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        enable_i,
  input  logic        job_reset_i,
  input  logic [63:0] job_base_i,
  input  logic [ 7:0] job_log2_i,
  input  logic [31:0] job_tail_i,
  output logic [31:0] job_done_o,

  input logic                push_valid_i,
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  input  logic         tbl_req_valid_i,
  output logic         tbl_req_ready_o,
  input  logic         tbl_write_i,
  input  logic [ 23:0] tbl_index_i,
  input  logic [511:0] tbl_row_i,
  output logic         tbl_rsp_valid_o,
  output logic         tbl_refused_o,
  output logic [511:0] tbl_row_o,

  output logic         rpt_valid_o,
  input  logic         rpt_ready_i,
  output logic [511:0] rpt_o,

  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,

  output logic [  DATA_W-1:0] replay_tdata,   // a replay's bytes, to receive
  output logic [DATA_W/8-1:0] replay_tkeep,
  output logic                replay_tlast,
  output logic                replay_tvalid,
  input  logic                replay_tready,

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

  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  tx_cfg_t            cfg;
  table_req_t         tbl_req;
  table_rsp_t         tbl_rsp;
  trace_event_t [2:0] trace;
  logic [2:0] req_valid, req_ready, rsp_valid, rsp_ready, rsp_last, rsp_error;
  logic [2:0][       63:0] req_addr;
  logic [2:0][       15:0] req_bytes;
  logic [2:0][ DATA_W-1:0] rsp_data;
  logic [2:0][COUNT_W-1:0] rsp_count;
  logic tx_idle, read_idle, request, error;

  assign cfg           = '{enable: enable_i, job_reset: job_reset_i, job_base: job_base_i, job_log2: job_log2_i, job_tail: job_tail_i};
  assign tbl_req       = '{write: tbl_write_i, number: TBL_FLOW_TX, index: tbl_index_i, row: tbl_row_i};
  assign tbl_refused_o = tbl_rsp.refused;
  assign tbl_row_o     = tbl_rsp.row;
  assign idle_o        = tx_idle && read_idle;
  assign replay_tdata  = mac_tx_tdata;
  assign replay_tkeep  = mac_tx_tkeep;
  assign replay_tlast  = mac_tx_tlast;

  weft_tx #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .cfg_i          (cfg),
    .hold_i         ('0),
    .job_done_o,
    .push_valid_i,
    .push_addr_i,
    .push_data_i,
    .push_strb_i,
    .tbl_req_valid_i,
    .tbl_req_ready_o,
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o,
    .tbl_rsp_o      (tbl_rsp),
    .job_req_valid_o(req_valid[1]),
    .job_req_ready_i(req_ready[1]),
    .job_req_addr_o (req_addr[1]),
    .job_req_bytes_o(req_bytes[1]),
    .job_rsp_valid_i(rsp_valid[1]),
    .job_rsp_ready_o(rsp_ready[1]),
    .job_rsp_data_i (rsp_data[1]),
    .job_rsp_count_i(rsp_count[1]),
    .job_rsp_last_i (rsp_last[1]),
    .job_rsp_error_i(rsp_error[1]),
    .ga_req_valid_o (req_valid[0]),
    .ga_req_ready_i (req_ready[0]),
    .ga_req_addr_o  (req_addr[0]),
    .ga_req_bytes_o (req_bytes[0]),
    .ga_rsp_valid_i (rsp_valid[0]),
    .ga_rsp_ready_o (rsp_ready[0]),
    .ga_rsp_data_i  (rsp_data[0]),
    .ga_rsp_count_i (rsp_count[0]),
    .ga_rsp_last_i  (rsp_last[0]),
    .ga_rsp_error_i (rsp_error[0]),
    .rpt_valid_o,
    .rpt_ready_i,
    .rpt_o,
    .mac_tx_tdata,
    .mac_tx_tkeep,
    .mac_tx_tlast,
    .mac_tx_tvalid,
    .mac_tx_tready,
    .replay_valid_o (replay_tvalid),
    .replay_ready_i (replay_tready),
    .replay_about_o (),
    .idle_o         (tx_idle),
    .trace_o        (trace),
    .cnt_inc_o
  );

  assign req_valid[2] = 1'b0;
  assign req_addr[2]  = '0;
  assign req_bytes[2] = '0;
  assign rsp_ready[2] = 1'b1;

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  axi4_read_pins #(
    .DATA_W(DATA_W)
  ) u_pins (
    .axi(m_axi),
    .*
  );

  dma_read #(
    .DATA_W(DATA_W)
  ) u_read (
    .clk_i,
    .rst_ni,
    .req_valid_i(req_valid),
    .req_ready_o(req_ready),
    .req_addr_i (req_addr),
    .req_bytes_i(req_bytes),
    .rsp_valid_o(rsp_valid),
    .rsp_ready_i(rsp_ready),
    .rsp_data_o (rsp_data),
    .rsp_count_o(rsp_count),
    .rsp_last_o (rsp_last),
    .rsp_error_o(rsp_error),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (read_idle)
  );

  assign m_axi_awaddr  = '0;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata   = '0;
  assign m_axi_wlast   = 1'b0;
  assign m_axi_wvalid  = 1'b0;
  assign m_axi_bready  = 1'b0;

  logic unused;
  assign unused = ^{m_axi_awready, m_axi_wready, m_axi_bvalid, trace, request, error, req_ready[2], rsp_valid[2], rsp_data[2],
                    rsp_count[2], rsp_last[2], rsp_error[2]};

endmodule
