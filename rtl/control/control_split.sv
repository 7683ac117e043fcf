// The card's registers and those of its control processor behind one AXI4-Lite slave: BAR0 0x2000 to 0x20ff are the processor's.
//
// Handshake: AXI4-Lite, one write and one read at a time, each two cycles later than without it. W is passed on with its AW or behind it.
// Pipeline:  a register slice on each channel, then combinational.
// Why:       The slices end every path from a pin into either of both.

module control_split (
  input logic clk_i,
  input logic rst_ni,

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

  // 0 the card, 1 the processor; addresses, data and strobes go to both.
  output logic [16:0]       awaddr_o,
  output logic [31:0]       wdata_o,
  output logic [ 3:0]       wstrb_o,
  output logic [16:0]       araddr_o,
  output logic              idle_o,     // no access a cycle ago, and none shown
  output logic [ 1:0]       awvalid_o,
  input  logic [ 1:0]       awready_i,
  output logic [ 1:0]       wvalid_o,
  input  logic [ 1:0]       wready_i,
  input  logic [ 1:0][ 1:0] bresp_i,
  input  logic [ 1:0]       bvalid_i,
  output logic [ 1:0]       bready_o,
  output logic [ 1:0]       arvalid_o,
  input  logic [ 1:0]       arready_i,
  input  logic [ 1:0][31:0] rdata_i,
  input  logic [ 1:0][ 1:0] rresp_i,
  input  logic [ 1:0]       rvalid_i,
  output logic [ 1:0]       rready_o
);

  logic wr_busy_q, wr_at_q, wr_at, w_done_q, rd_busy_q, rd_at_q, rd_at;

  localparam logic [16:8] PROCESSOR = 9'h020;

  // ---------------------------------------------------------------- registers in front
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata;

  stream_slice #(
    .WIDTH(17)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil_awvalid),
    .in_ready_o (s_axil_awready),
    .in_data_i  (s_axil_awaddr),
    .out_valid_o(awvalid),
    .out_ready_i(awready),
    .out_data_o (awaddr_o),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(36)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil_wvalid),
    .in_ready_o (s_axil_wready),
    .in_data_i  ({s_axil_wdata, s_axil_wstrb}),
    .out_valid_o(wvalid),
    .out_ready_i(wready),
    .out_data_o ({wdata_o, wstrb_o}),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(2)
  ) u_b (
    .clk_i,
    .rst_ni,
    .in_valid_i (bvalid),
    .in_ready_o (bready),
    .in_data_i  (bresp),
    .out_valid_o(s_axil_bvalid),
    .out_ready_i(s_axil_bready),
    .out_data_o (s_axil_bresp),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(17)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil_arvalid),
    .in_ready_o (s_axil_arready),
    .in_data_i  (s_axil_araddr),
    .out_valid_o(arvalid),
    .out_ready_i(arready),
    .out_data_o (araddr_o),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(34)
  ) u_r (
    .clk_i,
    .rst_ni,
    .in_valid_i (rvalid),
    .in_ready_o (rready),
    .in_data_i  ({rdata, rresp}),
    .out_valid_o(s_axil_rvalid),
    .out_ready_i(s_axil_rready),
    .out_data_o ({s_axil_rdata, s_axil_rresp}),
    .shown_o    ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) idle_o <= 1'b0;
    else idle_o <= !(s_axil_awvalid || s_axil_wvalid || s_axil_arvalid || awvalid || wvalid || arvalid || wr_busy_q || rd_busy_q);
  end

  // ---------------------------------------------------------------- writes
  assign wr_at = wr_busy_q ? wr_at_q : awaddr_o[16:8] == PROCESSOR;

  always_comb begin
    {awvalid_o, wvalid_o, bready_o} = '0;
    awvalid_o[wr_at]                = awvalid && !wr_busy_q;
    wvalid_o[wr_at]                 = wvalid && (wr_busy_q ? !w_done_q : awvalid);
    bready_o[wr_at_q]               = bready && wr_busy_q;
  end

  assign awready = awready_i[wr_at] && !wr_busy_q;
  assign wready  = wready_i[wr_at] && (wr_busy_q ? !w_done_q : awvalid);
  assign bvalid  = bvalid_i[wr_at_q] && wr_busy_q;
  assign bresp   = bresp_i[wr_at_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wr_busy_q, wr_at_q, w_done_q} <= '0;
    end else begin
      if (awvalid && awready) begin
        wr_busy_q <= 1'b1;
        wr_at_q   <= wr_at;
        w_done_q  <= wvalid && wready;
      end else if (wvalid && wready) begin
        w_done_q <= 1'b1;
      end
      if (bvalid && bready) wr_busy_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  assign rd_at = rd_busy_q ? rd_at_q : araddr_o[16:8] == PROCESSOR;

  always_comb begin
    {arvalid_o, rready_o} = '0;
    arvalid_o[rd_at]      = arvalid && !rd_busy_q;
    rready_o[rd_at_q]     = rready && rd_busy_q;
  end

  assign arready = arready_i[rd_at] && !rd_busy_q;
  assign rvalid  = rvalid_i[rd_at_q] && rd_busy_q;
  assign rdata   = rdata_i[rd_at_q];
  assign rresp   = rresp_i[rd_at_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_busy_q, rd_at_q} <= '0;
    end else begin
      if (arvalid && arready) begin
        rd_busy_q <= 1'b1;
        rd_at_q   <= rd_at;
      end
      if (rvalid && rready) rd_busy_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A slave takes the data of an access before its address only with that address.
      a_data : assert (!(wvalid && wready && !wr_busy_q && !(awvalid && awready)));
    end
  end
`endif

endmodule
