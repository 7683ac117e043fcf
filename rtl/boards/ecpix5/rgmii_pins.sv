// RGMII at 1 Gb/s at the ECP5's pins: 4 bits at each edge of 125 MHz, low half first, to bytes and back.
//
// Handshake: A byte a cycle in either direction. Two cycles from pin to byte, and from byte to pin.
// Pipeline:  two registers.
// Why:       One clock for all: the PHY's receive clock, which is also sent back to it. The PHY (KSZ9031) delays its receive clock itself. The
//            transmit clock is delayed here, by 2 ns, so that its edges are in the middle of the data.
//            Control is valid at the rising edge, valid ^ error at the falling one. Between frames the PHY shows the link in its four bits (RGMII
//            2.0, "in-band"): up, two of speed (2: 125 MHz), full duplex.

module rgmii_pins #(
  parameter int TX_CLOCK_DELAY = 80  // in steps of 25 ps
) (
  input  logic       rx_clk_i,
  input  logic       rx_ctl_i,
  input  logic [3:0] rx_data_i,
  output logic       tx_clk_o,
  output logic       tx_ctl_o,
  output logic [3:0] tx_data_o,

  output logic       clk_o,       // the clock of everything below
  output logic       rx_valid_o,
  output logic       rx_error_o,
  output logic [7:0] rx_byte_o,
  output logic [3:0] status_o,
  input  logic       tx_valid_i,
  input  logic [7:0] tx_byte_i
);

  logic [4:0] rise, fall, tx_rise, tx_fall, tx_pins;
  logic tx_clk;

  assign clk_o = rx_clk_i;

  for (genvar i = 0; i < 5; i++) begin : gen_rx
    logic pin;
    DELAYG #(
      .DEL_MODE ("SCLK_ALIGNED"),
      .DEL_VALUE(0)
    ) u_delay (
      .A(i == 4 ? rx_ctl_i : rx_data_i[i%4]),
      .Z(pin)
    );
    IDDRX1F u_ddr (
      .D   (pin),
      .SCLK(rx_clk_i),
      .RST (1'b0),
      .Q0  (rise[i]),
      .Q1  (fall[i])
    );
  end

  always_ff @(posedge rx_clk_i) begin
    rx_valid_o <= rise[4];
    rx_error_o <= rise[4] ^ fall[4];
    rx_byte_o  <= {fall[3:0], rise[3:0]};
    if (!rise[4] && !fall[4]) status_o <= rise[3:0];
    tx_rise <= {tx_valid_i, tx_byte_i[3:0]};
    tx_fall <= {tx_valid_i, tx_byte_i[7:4]};
  end

  for (genvar i = 0; i < 5; i++) begin : gen_tx
    logic pin;
    ODDRX1F u_ddr (
      .D0  (tx_rise[i]),
      .D1  (tx_fall[i]),
      .SCLK(rx_clk_i),
      .RST (1'b0),
      .Q   (pin)
    );
    DELAYG #(
      .DEL_MODE ("SCLK_ALIGNED"),
      .DEL_VALUE(0)
    ) u_delay (
      .A(pin),
      .Z(tx_pins[i])
    );
  end
  assign {tx_ctl_o, tx_data_o} = tx_pins;

  ODDRX1F u_tx_clk (
    .D0  (1'b1),
    .D1  (1'b0),
    .SCLK(rx_clk_i),
    .RST (1'b0),
    .Q   (tx_clk)
  );
  DELAYG #(
    .DEL_MODE ("SCLK_ALIGNED"),
    .DEL_VALUE(TX_CLOCK_DELAY)
  ) u_tx_clk_delay (
    .A(tx_clk),
    .Z(tx_clk_o)
  );

endmodule
