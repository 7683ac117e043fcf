// Weft on a LambdaConcept ECPIX-5 (LFE5UM5G-85F): the card with a serial line to its host and gigabit Ethernet (docs/boards.md).
//
// Pipeline:  FTDI ── serial_uart ══ serial_nic ══ rgmii_pins ── PHY ── RJ45
// Why:       Two clocks: `clk` (from the board's 100 MHz: the card and the serial line), `mac_clk` (125 MHz, the PHY's). All crossings are in modules
//            of rtl/boards/cdc.

module weft_ecpix5 #(
  parameter int unsigned NUM_FLOWS = 64,
  parameter int unsigned NUM_STAGS = 256,
  parameter bit          OBSERVE   = 1'b0,      // trace and capture: no room for them
  parameter int unsigned CLOCK_KHZ = 50_000,    // of `clk`: 600 MHz divided; 40, 50, 60
  parameter int unsigned BAUD      = 3_000_000  // what the FTDI can do: 12 MHz divided
) (
  input logic clk100,
  input logic rst_n,

  input  logic serial_rxd,
  output logic serial_txd,

  output logic       eth_rst_n,
  input  logic       eth_rx_clk,
  input  logic       eth_rx_ctl,
  input  logic [3:0] eth_rx_data,
  output logic       eth_tx_clk,
  output logic       eth_tx_ctl,
  output logic [3:0] eth_tx_data,

  output logic [1:0] led_g  // low: Ethernet has a link (0), a host is connected (1)
);

  // ---------------------------------------------------------------- clocks, resets
  logic clk, locked, mac_clk, rst_n_card, rst_n_mac;

  EHXPLLL #(
    .FEEDBK_PATH    ("CLKOP"),
    .OUTDIVIDER_MUXA("DIVA"),
    .CLKOP_ENABLE   ("ENABLED"),
    .CLKI_DIV       (100_000 / 10_000),
    .CLKFB_DIV      (int'(CLOCK_KHZ / 10_000)),
    .CLKOP_DIV      (int'(600_000 / CLOCK_KHZ)),
    .CLKOP_CPHASE   (int'(600_000 / CLOCK_KHZ) - 1),
    .CLKOP_FPHASE   (0)
  ) u_pll (
    .CLKI        (clk100),
    .CLKFB       (clk),
    .RST         (!rst_n),
    .STDBY       (1'b0),
    .PHASESEL0   (1'b0),
    .PHASESEL1   (1'b0),
    .PHASEDIR    (1'b1),
    .PHASESTEP   (1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC (1'b0),
    .ENCLKOP     (1'b0),
    .CLKOP       (clk),
    .LOCK        (locked)
  );

  reset_sync u_card_rst (
    .clk_i       (clk),
    .async_rst_ni(locked),
    .rst_no      (rst_n_card)
  );
  reset_sync u_mac_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(rst_n_card),
    .rst_no      (rst_n_mac)
  );

  // The PHY needs 10 ms of reset.
  logic [63:0] cycles;
  logic        phy_on_q;
  always_ff @(posedge clk or negedge rst_n_card) begin
    if (!rst_n_card) phy_on_q <= 1'b0;
    else phy_on_q <= phy_on_q || cycles[20];
  end
  assign eth_rst_n = phy_on_q;

  // ---------------------------------------------------------------- the host's line
  logic rx_valid, rx_ready, tx_valid, tx_ready, line_error, host_up;
  logic [7:0] rx_byte, tx_byte;

  serial_uart #(
    .CLOCK_KHZ(CLOCK_KHZ),
    .BAUD     (BAUD)
  ) u_uart (
    .clk_i     (clk),
    .rst_ni    (rst_n_card),
    .rxd_i     (serial_rxd),
    .txd_o     (serial_txd),
    .rx_valid_o(rx_valid),
    .rx_ready_i(rx_ready),
    .rx_byte_o (rx_byte),
    .error_o   (line_error),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .tx_byte_i (tx_byte)
  );

  // ---------------------------------------------------------------- the card
  logic gmii_rx_valid, gmii_rx_error, gmii_tx_valid, link;
  logic [7:0] gmii_rx_byte, gmii_tx_byte;
  logic [3:0] status;

  serial_nic #(
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .OBSERVE  (OBSERVE),
    .CLOCK_KHZ(CLOCK_KHZ),
    .BOARD    (32'h00000E85)
  ) u_nic (
    .clk_i          (clk),
    .rst_ni         (rst_n_card),
    .time_o         (cycles),
    .rx_valid_i     (rx_valid),
    .rx_ready_o     (rx_ready),
    .rx_byte_i      (rx_byte),
    .tx_valid_o     (tx_valid),
    .tx_ready_i     (tx_ready),
    .tx_byte_o      (tx_byte),
    .line_error_i   (line_error),
    .up_o           (host_up),
    .mac_clk_i      (mac_clk),
    .mac_rst_ni     (rst_n_mac),
    .gmii_rx_valid_i(gmii_rx_valid),
    .gmii_rx_error_i(gmii_rx_error),
    .gmii_rx_byte_i (gmii_rx_byte),
    .gmii_tx_valid_o(gmii_tx_valid),
    .gmii_tx_byte_o (gmii_tx_byte),
    .status_i       (status),
    .link_o         (link)
  );

  // ---------------------------------------------------------------- the PHY's pins
  rgmii_pins u_pins (
    .rx_clk_i  (eth_rx_clk),
    .rx_ctl_i  (eth_rx_ctl),
    .rx_data_i (eth_rx_data),
    .tx_clk_o  (eth_tx_clk),
    .tx_ctl_o  (eth_tx_ctl),
    .tx_data_o (eth_tx_data),
    .clk_o     (mac_clk),
    .rx_valid_o(gmii_rx_valid),
    .rx_error_o(gmii_rx_error),
    .rx_byte_o (gmii_rx_byte),
    .status_o  (status),
    .tx_valid_i(gmii_tx_valid),
    .tx_byte_i (gmii_tx_byte)
  );

  logic unused;
  assign unused = ^{cycles[63:21], cycles[19:0]};

  assign led_g  = {!host_up, !link};

endmodule
