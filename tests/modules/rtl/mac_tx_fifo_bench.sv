// mac_tx_fifo with little room. The two clocks are clk_i where the test lets it through.

module mac_tx_fifo_bench #(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,
  input logic card_go_i,
  input logic mac_go_i,

  input  logic                link_i,
  input  logic [  DATA_W-1:0] tx_tdata_i,
  input  logic [DATA_W/8-1:0] tx_tkeep_i,
  input  logic                tx_tlast_i,
  input  logic                tx_tvalid_i,
  output logic                tx_tready_o,
  output logic [        31:0] dropped_o,

  input  logic                mac_rst_i,
  output logic [  DATA_W-1:0] mac_tdata_o,
  output logic [DATA_W/8-1:0] mac_tkeep_o,
  output logic                mac_tlast_o,
  output logic                mac_tvalid_o,
  input  logic                mac_tready_i
);

  logic mac_clk, card_clk, mac_rst_n, card_rst_n, ready;
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

  // A source waits for its reset.
  assign tx_tready_o = ready && card_rst_n;

  mac_tx_fifo #(
    .DATA_W(DATA_W),
    .DEPTH (32),
    .FRAMES(8)
  ) u_dut (
    .clk_i     (card_clk),
    .rst_ni    (card_rst_n),
    .link_i    (link_i),
    .tx_tdata  (tx_tdata_i),
    .tx_tkeep  (tx_tkeep_i),
    .tx_tlast  (tx_tlast_i),
    .tx_tvalid (tx_tvalid_i && card_rst_n),
    .tx_tready (ready),
    .dropped_o,
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (mac_rst_i),
    .mac_tdata (mac_tdata_o),
    .mac_tkeep (mac_tkeep_o),
    .mac_tlast (mac_tlast_o),
    .mac_tvalid(mac_tvalid_o),
    .mac_tready(mac_tready_i)
  );

endmodule
