// Proves of card_regs: the rules of an AXI4-Lite slave, whatever the host writes and reads, over resets of the core.
//
// One B for each pair of AW and W, after both; one R for each AR; both stand until taken, with OKAY; and each comes within WAIT
// cycles, unless the table that a write of TABLE_CMD asks has not answered yet.

module card_regs_formal
  import weft_int_pkg::*;
#(
  parameter int unsigned WAIT = 5
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              core_rst_ni,
  input logic              resetting_i,
  input logic       [16:0] s_axil_awaddr,
  input logic              s_axil_awvalid,
  input logic       [31:0] s_axil_wdata,
  input logic       [ 3:0] s_axil_wstrb,
  input logic              s_axil_wvalid,
  input logic              s_axil_bready,
  input logic       [16:0] s_axil_araddr,
  input logic              s_axil_arvalid,
  input logic              s_axil_rready,
  input logic              tbl_req_ready_i,
  input logic              tbl_rsp_valid_i,
  input table_rsp_t        tbl_rsp_i,
  input logic       [31:0] fence_done_i,
  input logic              quiescent_i,
  input logic              read_error_i,
  input logic              write_error_i,
  input logic              report_broken_i,
  input logic       [31:0] job_done_i,
  input logic       [31:0] report_tail_i,
  input logic       [31:0] raw_tail_i,
  input logic       [31:0] msix_count_i,
  input logic       [31:0] counter_value_i,
  input logic       [31:0] counter_high_i
);

  logic awready, wready, bvalid, arready, rvalid, tbl_req_valid, soft_reset, loopback, rq_valid, fence_valid, idle;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata, rq_value, fence_number;
  logic        [15:0] rq_flow;
  logic        [ 7:0] counter_index;
  rx_cfg_t            rx_cfg;
  tx_cfg_t            tx_cfg;
  report_cfg_t        report_cfg;
  table_req_t         tbl_req;
  reg_bus_t           bus;
  logic asked_q, taken, answer;

  // A table answers once, later than it was asked, and not after a reset of the core.
  assign taken  = tbl_req_valid && tbl_req_ready_i;
  assign answer = tbl_rsp_valid_i && core_rst_ni && asked_q;

  axi_lite_if s_axil ();

  assign s_axil.awaddr  = s_axil_awaddr;
  assign s_axil.awvalid = s_axil_awvalid;
  assign awready        = s_axil.awready;
  assign s_axil.wdata   = s_axil_wdata;
  assign s_axil.wstrb   = s_axil_wstrb;
  assign s_axil.wvalid  = s_axil_wvalid;
  assign wready         = s_axil.wready;
  assign bresp          = s_axil.bresp;
  assign bvalid         = s_axil.bvalid;
  assign s_axil.bready  = s_axil_bready;
  assign s_axil.araddr  = s_axil_araddr;
  assign s_axil.arvalid = s_axil_arvalid;
  assign arready        = s_axil.arready;
  assign rdata          = s_axil.rdata;
  assign rresp          = s_axil.rresp;
  assign rvalid         = s_axil.rvalid;
  assign s_axil.rready  = s_axil_rready;

  card_regs dut (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .soft_reset_o   (soft_reset),
    .resetting_i,
    .s_axil,
    .rx_cfg_o       (rx_cfg),
    .tx_cfg_o       (tx_cfg),
    .report_cfg_o   (report_cfg),
    .loopback_o     (loopback),
    .rq_tail_valid_o(rq_valid),
    .rq_tail_flow_o (rq_flow),
    .rq_tail_value_o(rq_value),
    .tbl_req_valid_o(tbl_req_valid),
    .tbl_req_ready_i,
    .tbl_req_o      (tbl_req),
    .tbl_rsp_valid_i(answer),
    .tbl_rsp_i,
    .fence_valid_o  (fence_valid),
    .fence_number_o (fence_number),
    .fence_done_i,
    .quiescent_i,
    .read_error_i,
    .write_error_i,
    .report_broken_i,
    .off_i          (1'b0),
    .job_done_i,
    .report_tail_i,
    .raw_tail_i,
    .msix_count_i,
    .counter_index_o(counter_index),
    .counter_value_i,
    .counter_high_i,
    .bus_o          (bus),
    .bus_value_i    ('0),
    .idle_o         (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  stream_rules #(
    .WIDTH(2)
  ) u_b (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(bvalid),
    .ready_i(s_axil_bready),
    .data_i (bresp)
  );
  stream_rules #(
    .WIDTH(34)
  ) u_r (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(rvalid),
    .ready_i(s_axil_rready),
    .data_i ({rresp, rdata})
  );
  stream_rules #(
    .WIDTH($bits(table_req_t))
  ) u_table (
    .clk_i,
    .rst_ni,
    .clear_i(!core_rst_ni),
    .valid_i(tbl_req_valid),
    .ready_i(tbl_req_ready_i),
    .data_i (tbl_req)
  );

  logic [2:0] aws_q, ws_q, ars_q, b_wait_q, r_wait_q;  // taken and not answered; cycles that an answer is late

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aws_q    <= '0;
      ws_q     <= '0;
      ars_q    <= '0;
      b_wait_q <= '0;
      r_wait_q <= '0;
      asked_q  <= 1'b0;
    end else begin
      aws_q    <= aws_q + 3'(s_axil_awvalid && awready) - 3'(bvalid && s_axil_bready);
      ws_q     <= ws_q + 3'(s_axil_wvalid && wready) - 3'(bvalid && s_axil_bready);
      ars_q    <= ars_q + 3'(s_axil_arvalid && arready) - 3'(rvalid && s_axil_rready);
      b_wait_q <= (bvalid || aws_q == '0 || ws_q == '0) ? '0 : b_wait_q + 3'(!tbl_req_valid && !asked_q);
      r_wait_q <= (rvalid || ars_q == '0) ? '0 : r_wait_q + 1'b1;
      asked_q  <= core_rst_ni && (asked_q || taken) && !answer;
    end
  end

  always_comb begin
    if (rst_ni) begin
      b_after_both : assert (!bvalid || (aws_q != '0 && ws_q != '0));
      r_after_ar : assert (!rvalid || ars_q != '0);
      one_at_a_time : assert (aws_q <= 3'd1 && ws_q <= 3'd1 && ars_q <= 3'd1);
      okay : assert ((!bvalid || bresp == 2'b00) && (!rvalid || rresp == 2'b00));
      b_comes : assert (b_wait_q <= 3'(WAIT));
      r_comes : assert (r_wait_q <= 3'(WAIT));
      // Nothing is asked of a table for a write that has been answered.
      asked_for_one : assert (!asked_q || (!tbl_req_valid && aws_q != '0));
    end
  end

endmodule
