// Proves of dma_write: the rules of an AXI4 master, under any commands and any slave that answers in order.
//
// A client's beats are any; `last` and the count are said as the block expects them, which it only checks.

module dma_write_formal #(
  parameter  int unsigned DATA_W      = 128,
  parameter  int unsigned OUTSTANDING = 64,
  parameter  int unsigned CLIENTS     = 3,              // that have commands
  parameter  int unsigned MOST        = 16384,          // bytes of a command
  localparam int unsigned BYTES       = DATA_W / 8,
  localparam int unsigned LANE_W      = $clog2(BYTES),
  localparam int unsigned COUNT_W     = LANE_W + 1
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [2:0]             cmd_valid_i,
  input logic [2:0][      63:0] cmd_addr_i,
  input logic [2:0][      15:0] cmd_bytes_i,
  input logic [2:0]             wr_valid_i,
  input logic [2:0][DATA_W-1:0] wr_data_i,
  input logic                   m_axi_awready,
  input logic                   m_axi_wready,
  input logic [1:0]             m_axi_bid,
  input logic [1:0]             m_axi_bresp,
  input logic                   m_axi_bvalid,
  input logic                   mark_i
);

  logic [2:0] cmd_ready, wr_ready, written, failed, wr_last;
  logic [2:0][COUNT_W-1:0] wr_count;
  logic [1:0] awid, awburst;
  logic [63:0] awaddr;
  logic [ 7:0] awlen;
  logic [ 2:0] awsize;
  logic awuser, awvalid, wlast, wvalid, bready, request, error, idle;
  logic [DATA_W-1:0] wdata;
  logic [ BYTES-1:0] wstrb;
  logic [LANE_W-1:0] last_count;

  assign last_count = dut.data.end_lane - dut.data.offset;
  assign wr_last    = {3{dut.u_data.in_last}};
  assign wr_count   = {3{(dut.u_data.in_last && last_count != '0) ? COUNT_W'(last_count) : COUNT_W'(BYTES)}};

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  assign awid          = m_axi.awid;
  assign awaddr        = m_axi.awaddr;
  assign awlen         = m_axi.awlen;
  assign awsize        = m_axi.awsize;
  assign awburst       = m_axi.awburst;
  assign awuser        = m_axi.awuser;
  assign awvalid       = m_axi.awvalid;
  assign m_axi.awready = m_axi_awready;
  assign wdata         = m_axi.wdata;
  assign wstrb         = m_axi.wstrb;
  assign wlast         = m_axi.wlast;
  assign wvalid        = m_axi.wvalid;
  assign m_axi.wready  = m_axi_wready;
  assign m_axi.bid     = m_axi_bid;
  assign m_axi.bresp   = m_axi_bresp;
  assign m_axi.bvalid  = m_axi_bvalid;
  assign bready        = m_axi.bready;

  dma_write #(
    .DATA_W     (DATA_W),
    .OUTSTANDING(OUTSTANDING)
  ) dut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .cmd_addr_i,
    .cmd_bytes_i,
    .wr_valid_i,
    .wr_ready_o (wr_ready),
    .wr_data_i,
    .wr_count_i (wr_count),
    .wr_last_i  (wr_last),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (idle)
  );

  axi_address_rules #(
    .DATA_W (DATA_W),
    .LONGEST(4096 / BYTES)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .valid_i(awvalid),
    .ready_i(m_axi_awready),
    .id_i   (awid),
    .addr_i (awaddr),
    .len_i  (awlen),
    .size_i (awsize),
    .burst_i(awburst),
    .user_i (awuser)
  );

  axi_write_rules #(
    .DATA_W(DATA_W),
    .BURSTS(OUTSTANDING + 2)
  ) u_w (
    .clk_i,
    .rst_ni,
    .awvalid_i(awvalid),
    .awready_i(m_axi_awready),
    .awlen_i  (awlen),
    .wvalid_i (wvalid),
    .wready_i (m_axi_wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .wlast_i  (wlast),
    .bvalid_i (m_axi_bvalid),
    .bready_i (bready),
    .bid_i    (m_axi_bid),
    .mark_i
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  for (genvar c = 0; c < 3; c++) begin : gen_client
    always_comb begin
      bytes : assume (!cmd_valid_i[c] || (cmd_bytes_i[c] != '0 && cmd_bytes_i[c] <= 16'(MOST)));
      if (c >= CLIENTS) silent : assume (!cmd_valid_i[c]);
      if (rst_ni) told_once : assert (!(written[c] && written[(c+1)%3]));
    end
  end

  // Of what waits for AW, as dma_write_order_formal proves it of every command (inv_aw_out).
  always_comb begin
    page_told : assume (!dut.burst_valid || dut.whole == (dut.burst.beats <= (15 - LANE_W)'((12 - LANE_W)'(~dut.burst.addr[11:LANE_W]))));
  end

endmodule
