// The smallest wrapper around the card: a reset, a clock of the time stamps, and the card's ports as they are.
//
// Handshake: the card's, at each port.
// Why:       docs/integrating.md shows it from "begin" to "end", and says what goes on the other side.

module weft_template #(
  parameter int unsigned DATA_W    = 512,
  parameter int unsigned NUM_FLOWS = 1024,
  parameter int unsigned NUM_STAGS = 4096
) (
  input logic clk_i,        // the card and all its ports
  input logic async_rst_ni, // power, PERST#, the clock lost: asserted at any time

  // A function-level reset: held until it is done.
  input  logic flr_i,
  output logic flr_done_o,

  // Registers and doorbells: AXI4-Lite, bit 16 of the address is BAR2.
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

  // The push window, from a bridge that shows whole beats (bar_port).
  input logic                push_valid_i,
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  // Host memory: AXI4.
  output logic [         1:0] m_axi_awid,
  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic [         2:0] m_axi_awsize,
  output logic [         1:0] m_axi_awburst,
  output logic                m_axi_awuser,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [  DATA_W-1:0] m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [         1:0] m_axi_bid,
  input  logic [         1:0] m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready,
  output logic [         1:0] m_axi_arid,
  output logic [        63:0] m_axi_araddr,
  output logic [         7:0] m_axi_arlen,
  output logic [         2:0] m_axi_arsize,
  output logic [         1:0] m_axi_arburst,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [         1:0] m_axi_rid,
  input  logic [  DATA_W-1:0] m_axi_rdata,
  input  logic [         1:0] m_axi_rresp,
  input  logic                m_axi_rlast,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,

  // Interrupt requests, to the MSI-X table.
  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  // Frames, in this clock.
  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,
  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tuser,
  input  logic                mac_rx_tvalid,
  output logic                mac_rx_tready
);

  // begin
  logic        rst_n;
  logic [63:0] time_q;

  // Asserted at any time, released with the clock.
  reset_sync u_rst (
    .clk_i,
    .async_rst_ni,
    .rst_no(rst_n)
  );

  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) time_q <= '0;
    else time_q <= time_q + 1'b1;
  end

  // verilog_format: off
  weft_card #(
    .DATA_W(DATA_W), .NUM_FLOWS(NUM_FLOWS), .NUM_STAGS(NUM_STAGS),
    .CLOCK_KHZ(250_000)  // of clk_i: the driver reads it
  ) u_card (
    .clk_i,
    .rst_ni(rst_n),

    // Without function-level reset: 0, and open.
    .reset_req_i(flr_i), .reset_done_o(flr_done_o),

    // Registers and doorbells.
    .s_axil_awaddr, .s_axil_awvalid, .s_axil_awready,
    .s_axil_wdata, .s_axil_wstrb, .s_axil_wvalid, .s_axil_wready,
    .s_axil_bresp, .s_axil_bvalid, .s_axil_bready,
    .s_axil_araddr, .s_axil_arvalid, .s_axil_arready,
    .s_axil_rdata, .s_axil_rresp, .s_axil_rvalid, .s_axil_rready,

    // Without a push window: PUSH_SLOTS 0, and these 0.
    .push_valid_i, .push_addr_i, .push_data_i, .push_strb_i,

    // Host memory. AxCACHE and AxPROT are AXI_CACHE and AXI_PROT. A bridge that relaxes no order leaves awuser open.
    .m_axi_awid, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst, .m_axi_awcache(), .m_axi_awprot(),
    .m_axi_awuser, .m_axi_awvalid, .m_axi_awready,
    .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
    .m_axi_bid, .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arcache(), .m_axi_arprot(),
    .m_axi_arvalid, .m_axi_arready,
    .m_axi_rid, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,

    .msix_valid_o, .msix_ready_i, .msix_vector_o,

    // Frames: behind mac_tx_fifo and mac_rx_fifo, if the MAC has another clock.
    .mac_tx_tdata, .mac_tx_tkeep, .mac_tx_tlast, .mac_tx_tvalid, .mac_tx_tready,
    .mac_rx_tdata, .mac_rx_tkeep, .mac_rx_tlast, .mac_rx_tuser, .mac_rx_tvalid, .mac_rx_tready,

    // With two ports: the second owner is gone.
    .port1_off_i(1'b0),
    .time_i(time_q),
    .quiescent_o()
  );
  // verilog_format: on
  // end

endmodule
