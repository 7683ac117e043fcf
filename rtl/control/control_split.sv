// The card's registers and those of its control processor behind one AXI4-Lite slave: BAR0 0x2000 to 0x20ff are the processor's.
//
// Handshake: AXI4-Lite, one write and one read at a time, each two cycles later than without it. W is passed on with its AW or behind it.
// Pipeline:  a register slice on each channel, then combinational.
// Why:       The slices end every path from a pin into either of both.

`include "weft_assert.svh"

module control_split (
  input logic clk_i,
  input logic rst_ni,

  axi_lite_if.slave  s_axil,
  axi_lite_if.master card,
  axi_lite_if.master proc,

  output logic idle_o  // no access a cycle ago, and none shown
);

  logic wr_busy_q, wr_at_q, wr_at, w_done_q, w_next, rd_busy_q, rd_at_q, rd_at;

  localparam logic [16:8] PROCESSOR = 9'h020;

  // ---------------------------------------------------------------- registers in front
  axi_lite_if in ();

  stream_slice #(
    .WIDTH(17)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil.awvalid),
    .in_ready_o (s_axil.awready),
    .in_data_i  (s_axil.awaddr),
    .out_valid_o(in.awvalid),
    .out_ready_i(in.awready),
    .out_data_o (in.awaddr),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(36)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil.wvalid),
    .in_ready_o (s_axil.wready),
    .in_data_i  ({s_axil.wdata, s_axil.wstrb}),
    .out_valid_o(in.wvalid),
    .out_ready_i(in.wready),
    .out_data_o ({in.wdata, in.wstrb}),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(2)
  ) u_b (
    .clk_i,
    .rst_ni,
    .in_valid_i (in.bvalid),
    .in_ready_o (in.bready),
    .in_data_i  (in.bresp),
    .out_valid_o(s_axil.bvalid),
    .out_ready_i(s_axil.bready),
    .out_data_o (s_axil.bresp),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(17)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axil.arvalid),
    .in_ready_o (s_axil.arready),
    .in_data_i  (s_axil.araddr),
    .out_valid_o(in.arvalid),
    .out_ready_i(in.arready),
    .out_data_o (in.araddr),
    .shown_o    ()
  );

  stream_slice #(
    .WIDTH(34)
  ) u_r (
    .clk_i,
    .rst_ni,
    .in_valid_i (in.rvalid),
    .in_ready_o (in.rready),
    .in_data_i  ({in.rdata, in.rresp}),
    .out_valid_o(s_axil.rvalid),
    .out_ready_i(s_axil.rready),
    .out_data_o ({s_axil.rdata, s_axil.rresp}),
    .shown_o    ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) idle_o <= 1'b0;
    else idle_o <= !(s_axil.awvalid || s_axil.wvalid || s_axil.arvalid || in.awvalid || in.wvalid || in.arvalid || wr_busy_q || rd_busy_q);
  end

  // ---------------------------------------------------------------- writes
  assign wr_at        = wr_busy_q ? wr_at_q : in.awaddr[16:8] == PROCESSOR;

  assign card.awaddr  = in.awaddr;
  assign card.awvalid = in.awvalid && !wr_busy_q && !wr_at;
  assign card.wdata   = in.wdata;
  assign card.wstrb   = in.wstrb;
  assign card.wvalid  = in.wvalid && w_next && !wr_at;
  assign card.bready  = in.bready && wr_busy_q && !wr_at_q;
  assign proc.awaddr  = in.awaddr;
  assign proc.awvalid = in.awvalid && !wr_busy_q && wr_at;
  assign proc.wdata   = in.wdata;
  assign proc.wstrb   = in.wstrb;
  assign proc.wvalid  = in.wvalid && w_next && wr_at;
  assign proc.bready  = in.bready && wr_busy_q && wr_at_q;

  assign w_next       = wr_busy_q ? !w_done_q : in.awvalid;
  assign in.awready   = (wr_at ? proc.awready : card.awready) && !wr_busy_q;
  assign in.wready    = (wr_at ? proc.wready : card.wready) && w_next;
  assign in.bvalid    = (wr_at_q ? proc.bvalid : card.bvalid) && wr_busy_q;
  assign in.bresp     = wr_at_q ? proc.bresp : card.bresp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wr_busy_q, wr_at_q, w_done_q} <= '0;
    end else begin
      if (in.awvalid && in.awready) begin
        wr_busy_q <= 1'b1;
        wr_at_q   <= wr_at;
        w_done_q  <= in.wvalid && in.wready;
      end else if (in.wvalid && in.wready) begin
        w_done_q <= 1'b1;
      end
      if (in.bvalid && in.bready) wr_busy_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  assign rd_at        = rd_busy_q ? rd_at_q : in.araddr[16:8] == PROCESSOR;

  assign card.araddr  = in.araddr;
  assign card.arvalid = in.arvalid && !rd_busy_q && !rd_at;
  assign card.rready  = in.rready && rd_busy_q && !rd_at_q;
  assign proc.araddr  = in.araddr;
  assign proc.arvalid = in.arvalid && !rd_busy_q && rd_at;
  assign proc.rready  = in.rready && rd_busy_q && rd_at_q;

  assign in.arready   = (rd_at ? proc.arready : card.arready) && !rd_busy_q;
  assign in.rvalid    = (rd_at_q ? proc.rvalid : card.rvalid) && rd_busy_q;
  assign in.rdata     = rd_at_q ? proc.rdata : card.rdata;
  assign in.rresp     = rd_at_q ? proc.rresp : card.rresp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_busy_q, rd_at_q} <= '0;
    end else begin
      if (in.arvalid && in.arready) begin
        rd_busy_q <= 1'b1;
        rd_at_q   <= rd_at;
      end
      if (in.rvalid && in.rready) rd_busy_q <= 1'b0;
    end
  end

  // A slave takes the data of an access before its address only with that address.
  `WEFT_ASSERT(a_data, !(in.wvalid && in.wready && !wr_busy_q && !(in.awvalid && in.awready)))

endmodule
