// The card's registers and those of its control processor behind one AXI4-Lite slave: BAR0 0x2000 to 0x20ff are the processor's. Both answer one
// access at a time, and so does this: nothing is later than without it. W goes on with its AW or behind it.

module control_split (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [16:0] s_axil_awaddr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  output logic [1:0]  s_axil_bresp,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  input  logic [16:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  // 0 the card, 1 the processor; addresses, data and strobes go to both.
  output logic [1:0]       awvalid_o,
  input  logic [1:0]       awready_i,
  output logic [1:0]       wvalid_o,
  input  logic [1:0]       wready_i,
  input  logic [1:0][1:0]  bresp_i,
  input  logic [1:0]       bvalid_i,
  output logic [1:0]       bready_o,
  output logic [1:0]       arvalid_o,
  input  logic [1:0]       arready_i,
  input  logic [1:0][31:0] rdata_i,
  input  logic [1:0][1:0]  rresp_i,
  input  logic [1:0]       rvalid_i,
  output logic [1:0]       rready_o
);

  logic wr_busy_q, wr_at_q, wr_at, w_done_q, rd_busy_q, rd_at_q, rd_at;

  localparam logic [16:8] PROCESSOR = 9'h020;

  // ---------------------------------------------------------------- writes
  assign wr_at = wr_busy_q ? wr_at_q : s_axil_awaddr[16:8] == PROCESSOR;

  always_comb begin
    {awvalid_o, wvalid_o, bready_o} = '0;
    awvalid_o[wr_at] = s_axil_awvalid && !wr_busy_q;
    wvalid_o[wr_at]  = s_axil_wvalid && (wr_busy_q ? !w_done_q : s_axil_awvalid);
    bready_o[wr_at_q] = s_axil_bready && wr_busy_q;
  end

  assign s_axil_awready = awready_i[wr_at] && !wr_busy_q;
  assign s_axil_wready  = wready_i[wr_at] && (wr_busy_q ? !w_done_q : s_axil_awvalid);
  assign s_axil_bvalid  = bvalid_i[wr_at_q] && wr_busy_q;
  assign s_axil_bresp   = bresp_i[wr_at_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wr_busy_q, wr_at_q, w_done_q} <= '0;
    end else begin
      if (s_axil_awvalid && s_axil_awready) begin
        wr_busy_q <= 1'b1;
        wr_at_q   <= wr_at;
        w_done_q  <= s_axil_wvalid && s_axil_wready;
      end else if (s_axil_wvalid && s_axil_wready) begin
        w_done_q <= 1'b1;
      end
      if (s_axil_bvalid && s_axil_bready) wr_busy_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  assign rd_at = rd_busy_q ? rd_at_q : s_axil_araddr[16:8] == PROCESSOR;

  always_comb begin
    {arvalid_o, rready_o} = '0;
    arvalid_o[rd_at]  = s_axil_arvalid && !rd_busy_q;
    rready_o[rd_at_q] = s_axil_rready && rd_busy_q;
  end

  assign s_axil_arready = arready_i[rd_at] && !rd_busy_q;
  assign s_axil_rvalid  = rvalid_i[rd_at_q] && rd_busy_q;
  assign s_axil_rdata   = rdata_i[rd_at_q];
  assign s_axil_rresp   = rresp_i[rd_at_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_busy_q, rd_at_q} <= '0;
    end else begin
      if (s_axil_arvalid && s_axil_arready) begin
        rd_busy_q <= 1'b1;
        rd_at_q   <= rd_at;
      end
      if (s_axil_rvalid && s_axil_rready) rd_busy_q <= 1'b0;
    end
  end

  logic unused_addr;
  assign unused_addr = ^{s_axil_awaddr[7:0], s_axil_araddr[7:0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A slave takes the data of an access whose address it did not take only while it takes the address too.
      a_data: assert (!(s_axil_wvalid && s_axil_wready && !wr_busy_q && !(s_axil_awvalid && s_axil_awready)));
    end
  end
`endif

endmodule
