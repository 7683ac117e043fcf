// serial_uart with little to a bit: 8.33 cycles.

module serial_uart_bench (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rxd_i,
  output logic       txd_o,
  output logic       rx_valid_o,
  input  logic       rx_ready_i,
  output logic [7:0] rx_byte_o,
  output logic       error_o,
  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_byte_i
);

  serial_uart #(
    .CLOCK_KHZ(25_000),
    .BAUD     (3_000_000)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .rxd_i,
    .txd_o,
    .rx_valid_o,
    .rx_ready_i,
    .rx_byte_o,
    .error_o,
    .tx_valid_i,
    .tx_ready_o,
    .tx_byte_i
  );

endmodule
