// mac_rx_fifo with little room. The two clocks are clk_i where the test lets it through.

module mac_rx_fifo_bench #(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,
  input logic mac_go_i,
  input logic card_go_i,

  input logic                mac_rst_i,
  input logic [  DATA_W-1:0] mac_tdata_i,
  input logic [DATA_W/8-1:0] mac_tkeep_i,
  input logic                mac_tlast_i,
  input logic                mac_tuser_i,
  input logic                mac_tvalid_i,

  output logic [  DATA_W-1:0] rx_tdata_o,
  output logic [DATA_W/8-1:0] rx_tkeep_o,
  output logic                rx_tlast_o,
  output logic                rx_tuser_o,
  output logic                rx_tvalid_o,
  input  logic                rx_tready_i,

  output logic        mac_up_o,  // out of reset
  output logic [31:0] dropped_o
);

  logic mac_clk, card_clk, mac_rst_n, card_rst_n;
  assign mac_clk  = clk_i && mac_go_i;
  assign card_clk = clk_i && card_go_i;

  reset_sync u_mac_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(rst_ni),
    .rst_no      (mac_rst_n)
  );
  reset_sync u_card_rst (
    .clk_i       (card_clk),
    .async_rst_ni(rst_ni),
    .rst_no      (card_rst_n)
  );

  assign mac_up_o = mac_rst_n;

  mac_rx_fifo #(
    .DATA_W(DATA_W),
    .DEPTH (32),
    .FRAMES(8)
  ) u_dut (
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (mac_rst_i),
    .mac_tdata (mac_tdata_i),
    .mac_tkeep (mac_tkeep_i),
    .mac_tlast (mac_tlast_i),
    .mac_tuser (mac_tuser_i),
    .mac_tvalid(mac_tvalid_i),
    .clk_i     (card_clk),
    .rst_ni    (card_rst_n),
    .rx_tdata  (rx_tdata_o),
    .rx_tkeep  (rx_tkeep_o),
    .rx_tlast  (rx_tlast_o),
    .rx_tuser  (rx_tuser_o),
    .rx_tvalid (rx_tvalid_o),
    .rx_tready (rx_tready_i),
    .dropped_o
  );

endmodule
