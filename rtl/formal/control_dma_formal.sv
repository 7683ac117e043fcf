// Proves of control_dma, for a memory that grants when it likes and a bus that answers when it likes:
//
// AXI      the rules of a master (axi_rules.sv); one burst at a time, and never both a read and a write
// inside   no beat and no byte outside the copy: bursts begin and end with its beats, strobes are its bytes, accesses of memory its words
// exact    any one word of the copy, followed: what goes to memory is what the bus gave for it, what goes to the bus is what memory gave, with all
//          bytes of it that were asked for; and it has moved when the copy ends without error and without being stopped
// told     an error of any burst is told, and none that was not; after it no further burst is shown
// goes on  while the copy is under way something is shown to bus or memory, or awaited of them, but for 4 cycles at most

module control_dma_formal #(
  parameter  int unsigned DATA_W      = 64,
  parameter  int unsigned BLOCK_BYTES = 16,
  localparam int unsigned LANES       = DATA_W / 32,
  localparam int unsigned LANE_W      = $clog2(LANES),
  localparam int unsigned WORDS       = 3 * BLOCK_BYTES / 4,  // of a copy at most, from any word of four blocks on
  localparam int unsigned PLACE_W     = $clog2(BLOCK_BYTES)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               start_i,
  input logic               write_i,
  input logic [PLACE_W-1:0] host_place_i,
  input logic [PLACE_W-1:0] local_place_i,
  input logic [        3:0] few_words_i,
  input logic [        3:0] first_i,
  input logic [        3:0] last_i,
  input logic               stop_i,
  input logic               mem_gnt_i,
  input logic [       31:0] mem_rdata_i,
  input logic               m_axi_awready,
  input logic               m_axi_wready,
  input logic [        1:0] m_axi_bresp,
  input logic               m_axi_bvalid,
  input logic               m_axi_arready,
  input logic [ DATA_W-1:0] m_axi_rdata,
  input logic [        1:0] m_axi_rresp,
  input logic               m_axi_rvalid,
  input logic               mark_i,
  input logic [        3:0] word_i          // the followed word of the copy
);

  logic [63:2] host_i;
  logic [31:2] local_i, words_i;

  assign host_i  = {8'h5a, (54 - PLACE_W)'(0), host_place_i};
  assign local_i = 30'(local_place_i);
  assign words_i = 30'(few_words_i);

  logic busy, failed, mem_req, mem_we, awvalid, wlast, wvalid, arvalid;
  logic [31:2] mem_addr;
  logic [31:0] mem_wdata;
  logic [63:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [  DATA_W-1:0] wdata;
  logic [DATA_W/8-1:0] wstrb;

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  assign {awaddr, awlen, awvalid}                 = {m_axi.awaddr, m_axi.awlen, m_axi.awvalid};
  assign m_axi.awready                            = m_axi_awready;
  assign {wdata, wstrb, wlast, wvalid}            = {m_axi.wdata, m_axi.wstrb, m_axi.wlast, m_axi.wvalid};
  assign m_axi.wready                             = m_axi_wready;
  assign {m_axi.bresp, m_axi.bvalid}              = {m_axi_bresp, m_axi_bvalid};
  assign {araddr, arlen, arvalid}                 = {m_axi.araddr, m_axi.arlen, m_axi.arvalid};
  assign m_axi.arready                            = m_axi_arready;
  assign {m_axi.rdata, m_axi.rresp, m_axi.rvalid} = {m_axi_rdata, m_axi_rresp, m_axi_rvalid};

  control_dma #(
    .DATA_W     (DATA_W),
    .BLOCK_BYTES(BLOCK_BYTES)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .write_i,
    .host_i,
    .local_i,
    .words_i,
    .first_i,
    .last_i,
    .stop_i,
    .busy_o     (busy),
    .failed_o   (failed),
    .mem_req_o  (mem_req),
    .mem_gnt_i  (mem_gnt_i && mem_req),
    .mem_we_o   (mem_we),
    .mem_addr_o (mem_addr),
    .mem_wdata_o(mem_wdata),
    .mem_rdata_i,
    .m_axi
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  axi_address_rules #(
    .DATA_W (DATA_W),
    .LONGEST(BLOCK_BYTES * 8 / DATA_W)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .valid_i(arvalid),
    .ready_i(m_axi_arready),
    .id_i   (2'd0),
    .addr_i (araddr),
    .len_i  (arlen),
    .size_i (3'($clog2(DATA_W / 8))),
    .burst_i(2'b01),
    .user_i (1'b0)
  );

  axi_address_rules #(
    .DATA_W (DATA_W),
    .LONGEST(BLOCK_BYTES * 8 / DATA_W)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .valid_i(awvalid),
    .ready_i(m_axi_awready),
    .id_i   (2'd0),
    .addr_i (awaddr),
    .len_i  (awlen),
    .size_i (3'($clog2(DATA_W / 8))),
    .burst_i(2'b01),
    .user_i (1'b0)
  );

  axi_write_rules #(
    .DATA_W(DATA_W),
    .BURSTS(1)
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
    .bready_i (1'b1),
    .bid_i    (2'd0),
    .mark_i
  );

  axi_read_rules #(
    .IDS  (1),
    .BEATS(BLOCK_BYTES * 8 / DATA_W)
  ) u_r (
    .clk_i,
    .rst_ni,
    .arvalid_i(arvalid),
    .arready_i(m_axi_arready),
    .arid_i   (2'd0),
    .arlen_i  (arlen),
    .rvalid_i (m_axi_rvalid),
    .rready_i (1'b1),
    .rid_i    (2'd0)
  );

  // ---------------------------------------------------------------- the copy under way, and the bursts of it
  logic write_q, read_open_q, write_open_q, aw_done_q, was_stopped_q, error_q;
  logic [63:2] host_q, end_q, read_at_q, write_at_q;  // the copy's first word and its last; the word that the next beat begins with
  logic [31:2] local_q, words_q;
  logic [3:0] first_q, last_q;
  logic [7:0] r_left_q;
  logic [3:0] word_q;
  logic taken, r_beat, w_beat;
  logic [63:2] w_at;

  assign taken  = start_i && !busy && !stop_i && words_i != 0;
  assign r_beat = m_axi_rvalid && read_open_q;
  assign w_beat = wvalid && m_axi_wready;
  assign w_at   = write_open_q ? write_at_q : awaddr[63:2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {read_open_q, write_open_q, was_stopped_q, error_q} <= '0;
    end else begin
      if (taken) begin
        {write_q, host_q, local_q, words_q, first_q, last_q, word_q} <= {write_i, host_i, local_i, words_i, first_i, last_i, word_i};
        end_q                                                        <= host_i + 62'(words_i) - 1'b1;
        was_stopped_q                                                <= 1'b0;
        error_q                                                      <= 1'b0;
      end else begin
        was_stopped_q <= was_stopped_q || stop_i;
      end
      if (arvalid && m_axi_arready) begin
        read_open_q <= 1'b1;
        read_at_q   <= araddr[63:2];
        r_left_q    <= arlen;
      end else if (r_beat) begin
        read_open_q <= r_left_q != 0;
        r_left_q    <= r_left_q - 1'b1;
        read_at_q   <= read_at_q + 62'(LANES);
      end
      if (r_beat && m_axi_rresp[1] || m_axi_bvalid && m_axi_bresp[1]) error_q <= 1'b1;
      if (w_beat) begin
        write_open_q <= !wlast;
        write_at_q   <= w_at + 62'(LANES);
      end
    end
  end

  // ---------------------------------------------------------------- the followed word
  logic [      63:2] at;
  logic [LANE_W-1:0] at_lane;
  logic [      31:2] at_local;
  logic [      31:0] value_q;
  logic given_q, asked_q, moved_q, here_r, here_w;
  logic [3:0] bytes;

  assign at       = host_q + 62'(word_q);
  assign at_lane  = at[2+:LANE_W];
  assign at_local = local_q + 30'(word_q);
  assign here_r   = r_beat && read_at_q[63:2+LANE_W] == at[63:2+LANE_W];
  assign here_w   = wvalid && w_at[63:2+LANE_W] == at[63:2+LANE_W];
  assign bytes    = (word_q == 0 ? first_q : '1) & (30'(word_q) == words_q - 1'b1 ? last_q : '1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || taken) begin
      {given_q, asked_q, moved_q} <= '0;
    end else begin
      asked_q <= mem_req && mem_gnt_i && !mem_we && mem_addr == at_local;
      if (write_q ? asked_q : here_r) begin
        given_q <= 1'b1;
        value_q <= write_q ? mem_rdata_i : m_axi_rdata[32*at_lane+:32];
      end
      if (write_q ? here_w && m_axi_wready : mem_req && mem_gnt_i && mem_addr == at_local) moved_q <= 1'b1;
    end
  end

  // Of a beat: words before the copy's first, or behind its last, of which a byte is written.
  logic [LANES-1:0] outside;

  for (genvar l = 0; l < LANES; l++) begin : gen_lane
    logic [63:2] lane_at;
    assign lane_at    = {w_at[63:2+LANE_W], LANE_W'(l)};
    assign outside[l] = wstrb[4*l+:4] != 0 && (lane_at < host_q || lane_at > end_q);
  end

  // ---------------------------------------------------------------- cycles in which nothing is shown and nothing is awaited
  logic [2:0] still_q;
  logic       busy_before_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_before_q <= 1'b0;
    else busy_before_q <= busy;
    if (!rst_ni || !busy || arvalid || awvalid || wvalid || read_open_q || mem_req || m_axi_bvalid || u_w.owed_q != 0) still_q <= '0;
    else still_q <= still_q + 1'b1;
  end

  always_comb begin
    copies : assume (!taken || (words_i <= 30'(WORDS) && word_i < few_words_i && (first_i != 0 && last_i != 0)));
    // A stop stands until the copy has ended.
    stays : assume (!(busy && was_stopped_q) || stop_i);
    if (rst_ni) begin
      one_way : assert (!(arvalid || read_open_q) || !(awvalid || wvalid || u_w.owed_q != 0));
      one_read : assert (!(arvalid && read_open_q));
      read_inside :
      assert (!arvalid || !write_q && araddr[63:2+LANE_W] >= host_q[63:2+LANE_W] &&
                           araddr[63:2+LANE_W] + (62-LANE_W)'(arlen) <= end_q[63:2+LANE_W]);
      write_inside :
      assert (!awvalid || write_q && awaddr[63:2+LANE_W] >= host_q[63:2+LANE_W] && awaddr[63:2+LANE_W] + (62 - LANE_W)'(awlen) <= end_q[63:2+LANE_W]);
      memory_inside : assert (!mem_req || mem_we == !write_q && mem_addr - local_q < words_q);
      bytes_inside : assert (!wvalid || outside == '0);
      data_to_memory : assert (!(mem_req && mem_we && mem_addr == at_local) || given_q && mem_wdata == value_q);
      data_to_bus : assert (!(here_w && wstrb[4*at_lane+:4] != 0) || given_q && wdata[32*at_lane+:32] == value_q && wstrb[4*at_lane+:4] == bytes);
      all_moved : assert (!(busy_before_q && !busy) || failed || was_stopped_q || moved_q);
      error_told : assert (!(busy_before_q && !busy) || failed == error_q);
      no_more : assert (!(error_q && (arvalid || awvalid)));
      // About its inside: where it is in the copy, and that the burst is what of it lies in a block.
      inv_left : assert (!busy || dut.host_q + 62'(dut.words_q) == end_q + 1'b1);
      inv_here :
      assert (!busy || dut.local_q - local_q == 30'(dut.host_q - host_q) && dut.host_q >= host_q && dut.write_q == write_q && dut.words_q <= words_q);
      inv_burst :
      assert (!(busy && dut.state_q > 3'd1) || dut.from_q <= dut.to_q && {dut.block_q, dut.from_q} >= host_q &&
                         {dut.block_q, dut.to_q} <= end_q && dut.host_q >= {dut.block_q, dut.from_q});
      goes_on : assert (still_q <= 3'd4);
    end
  end

endmodule
