// Proves of dma_read: the rules of an AXI4 master, under any requests, any consumers and any slave that gives what was asked for.

module dma_read_formal #(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned LANE_W  = $clog2(DATA_W / 8),
  localparam int unsigned COUNT_W = LANE_W + 1
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic [       2:0]       req_valid_i,
  input logic [       2:0][63:0] req_addr_i,
  input logic [       2:0][15:0] req_bytes_i,
  input logic [       2:0]       rsp_ready_i,
  input logic                    m_axi_arready,
  input logic [       1:0]       m_axi_rid,
  input logic [DATA_W-1:0]       m_axi_rdata,
  input logic [       1:0]       m_axi_rresp,
  input logic                    m_axi_rlast,
  input logic                    m_axi_rvalid
);

  logic [2:0] req_ready, rsp_valid, rsp_last, rsp_error;
  logic [2:0][ DATA_W-1:0] rsp_data;
  logic [2:0][COUNT_W-1:0] rsp_count;
  logic [1:0] arid, arburst;
  logic [63:0] araddr;
  logic [ 7:0] arlen;
  logic [ 2:0] arsize;
  logic arvalid, rready, request, error, idle;

  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  assign arid          = m_axi.arid;
  assign araddr        = m_axi.araddr;
  assign arlen         = m_axi.arlen;
  assign arsize        = m_axi.arsize;
  assign arburst       = m_axi.arburst;
  assign arvalid       = m_axi.arvalid;
  assign m_axi.arready = m_axi_arready;
  assign m_axi.rid     = m_axi_rid;
  assign m_axi.rdata   = m_axi_rdata;
  assign m_axi.rresp   = m_axi_rresp;
  assign m_axi.rlast   = m_axi_rlast;
  assign m_axi.rvalid  = m_axi_rvalid;
  assign rready        = m_axi.rready;

  dma_read #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o(req_ready),
    .req_addr_i,
    .req_bytes_i,
    .rsp_valid_o(rsp_valid),
    .rsp_ready_i,
    .rsp_data_o (rsp_data),
    .rsp_count_o(rsp_count),
    .rsp_last_o (rsp_last),
    .rsp_error_o(rsp_error),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (idle)
  );

  axi_address_rules #(
    .DATA_W (DATA_W),
    .LONGEST(64)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .valid_i(arvalid),
    .ready_i(m_axi_arready),
    .id_i   (arid),
    .addr_i (araddr),
    .len_i  (arlen),
    .size_i (arsize),
    .burst_i(arburst),
    .user_i (1'b0)
  );

  axi_read_rules #(
    .IDS  (3),
    .BEATS(512)
  ) u_r (
    .clk_i,
    .rst_ni,
    .arvalid_i(arvalid),
    .arready_i(m_axi_arready),
    .arid_i   (arid),
    .arlen_i  (arlen),
    .rvalid_i (m_axi_rvalid),
    .rready_i (rready),
    .rid_i    (m_axi_rid)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // A client's room is what is neither in its buffer, nor awaited, nor in the register slice of AR.
  logic [      1:0] spare_id;
  logic [      5:0] spare_beats;
  logic [63:LANE_W] spare_addr;
  assign {spare_id, spare_addr, spare_beats} = dut.u_ar.spare_data_q;
  always_comb begin
    if (rst_ni) begin
      inv_spare : assert (!dut.u_ar.spare_q || (arvalid && spare_id != 2'd3 && 7'(spare_addr[LANE_W+:6]) + 7'(spare_beats) < 7'd64));
      inv_shown : assert (!arvalid || (arid != 2'd3 && 7'(araddr[LANE_W+:6]) + 7'(arlen) < 7'd64));
      inv_no_id_3 : assert (u_r.owed_q[3] == '0);
    end
  end

  for (genvar c = 0; c < 3; c++) begin : gen_client
    localparam int unsigned BEATS = c == 0 ? 512 : 32 * 1024 / DATA_W;
    localparam int unsigned ROOM_W = $clog2(BEATS + 1);
    logic [11:0] in_slice;
    assign in_slice = ((arvalid && arid == 2'(c)) ? 12'(arlen) + 1'b1 : '0) +
                      ((dut.u_ar.spare_q && spare_id == 2'(c)) ? 12'(spare_beats) + 1'b1 : '0);
    always_comb begin
      if (rst_ni) begin
        inv_room :
        assert (12'(dut.gen_client[c].u_client.room_q) + 12'(dut.gen_client[c].u_client.freed_q) + 12'(dut.gen_client[c].u_client.u_buffer.count_q) +
                          12'(u_r.owed_q[c]) + in_slice == 12'(BEATS));
        inv_freed :
        assert (dut.gen_client[c].u_client.freed_q <= 2'd1 || (dut.gen_client[c].u_client.freed_q == 2'd2 && !dut.gen_client[c].u_client.fits_q));
        inv_minus :
        assert (!dut.gen_client[c].u_client.have_q ||
                           ROOM_W'(dut.gen_client[c].u_client.burst_minus_q + dut.gen_client[c].u_client.burst_beats_q) == '0);
        inv_fits :
        assert (!(dut.gen_client[c].u_client.have_q && dut.gen_client[c].u_client.fits_q) ||
                          12'(dut.gen_client[c].u_client.burst_beats_q) <= 12'(dut.gen_client[c].u_client.room_q));
        inv_burst :
        assert (!dut.gen_client[c].u_client.have_q || (dut.gen_client[c].u_client.burst_beats_q != '0 &&
                          8'(dut.gen_client[c].u_client.burst_addr_q[LANE_W+:6]) + 8'(dut.gen_client[c].u_client.burst_beats_q) <= 8'd64));
        inv_parts :
        assert (12'(dut.gen_client[c].u_client.u_buffer.gen_block_ram.stored_q) +
                           12'(dut.gen_client[c].u_client.u_buffer.gen_block_ram.head_valid_q) ==
                           12'(dut.gen_client[c].u_client.u_buffer.count_q));
        inv_any :
        assert (dut.gen_client[c].u_client.u_buffer.gen_block_ram.any_stored_q == (dut.gen_client[c].u_client.u_buffer.gen_block_ram.stored_q != '0));
        inv_full : assert (dut.gen_client[c].u_client.u_buffer.full_q == (12'(dut.gen_client[c].u_client.u_buffer.count_q) == 12'(BEATS)));
      end
      bytes : assume (!req_valid_i[c] || (req_bytes_i[c] != '0 && req_bytes_i[c] <= 16'd16384));
      if (c > 0) aligned : assume (!req_valid_i[c] || req_addr_i[c][LANE_W-1:0] == '0);
    end
  end

endmodule
