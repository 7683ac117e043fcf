// What rtl/boards/ecpix5 has between its serial line and its PHY: bytes on one side, GMII on the other. One clock is both, card's and MAC's.

module serial_board (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rx_valid_i,
  output logic       rx_ready_o,
  input  logic [7:0] rx_byte_i,
  output logic       tx_valid_o,
  input  logic       tx_ready_i,
  output logic [7:0] tx_byte_o,
  input  logic       line_error_i,
  output logic       up_o,

  input  logic       gmii_rx_valid_i,
  input  logic [7:0] gmii_rx_byte_i,
  output logic       gmii_tx_valid_o,
  output logic [7:0] gmii_tx_byte_o
);

  logic [63:0] unused_time;
  logic        unused_link;

  serial_nic u_nic (
    .clk_i,
    .rst_ni,
    .time_o         (unused_time),
    .rx_valid_i,
    .rx_ready_o,
    .rx_byte_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_byte_o,
    .line_error_i,
    .up_o,
    .mac_clk_i      (clk_i),
    .mac_rst_ni     (rst_ni),
    .gmii_rx_valid_i,
    .gmii_rx_error_i(1'b0),
    .gmii_rx_byte_i,
    .gmii_tx_valid_o,
    .gmii_tx_byte_o,
    .status_i       (4'b1101),
    .link_o         (unused_link)
  );

endmodule
