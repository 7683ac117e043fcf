// Both halves of the MAC for 1 Gb/s, each for itself.

module gmii_bench (
  input logic clk_i,
  input logic rst_ni,

  input  logic [127:0] tx_tdata_i,
  input  logic [ 15:0] tx_tkeep_i,
  input  logic         tx_tlast_i,
  input  logic         tx_tvalid_i,
  output logic         tx_tready_o,
  output logic         tx_valid_o,
  output logic [  7:0] tx_byte_o,
  output logic         underrun_o,

  input  logic         rx_valid_i,
  input  logic         rx_error_i,
  input  logic [  7:0] rx_byte_i,
  output logic [127:0] rx_tdata_o,
  output logic [ 15:0] rx_tkeep_o,
  output logic         rx_tlast_o,
  output logic         rx_tuser_o,
  output logic         rx_tvalid_o
);

  gmii_tx u_tx (
    .clk_i,
    .rst_ni,
    .s_axis_tdata (tx_tdata_i),
    .s_axis_tkeep (tx_tkeep_i),
    .s_axis_tlast (tx_tlast_i),
    .s_axis_tvalid(tx_tvalid_i),
    .s_axis_tready(tx_tready_o),
    .valid_o      (tx_valid_o),
    .byte_o       (tx_byte_o),
    .underrun_o
  );

  gmii_rx u_rx (
    .clk_i,
    .rst_ni,
    .valid_i      (rx_valid_i),
    .error_i      (rx_error_i),
    .byte_i       (rx_byte_i),
    .m_axis_tdata (rx_tdata_o),
    .m_axis_tkeep (rx_tkeep_o),
    .m_axis_tlast (rx_tlast_o),
    .m_axis_tuser (rx_tuser_o),
    .m_axis_tvalid(rx_tvalid_o)
  );

endmodule
