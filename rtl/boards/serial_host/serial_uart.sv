// An asynchronous serial line, 8 bits, no parity, one stop bit, in both directions.
//
// Handshake: Bytes are ready/valid. Received bytes wait in a queue of 16. A byte that finds it full is lost, as is one without a stop bit: a pulse on
//            `error_o`. There are no handshake lines.
// Pipeline:  bit_sync, shift register, queue; transmit one shift register.
// Why:       The rate is a fraction of the clock: a phase of 16 bits advances by BAUD * 2^16 / clock each cycle, and its overflow is a bit. So an
//            edge is at most one cycle off. The error does not add up over a byte, which begins with the phase at 0. A bit needs 8 cycles or more.

module serial_uart #(
  parameter int unsigned CLOCK_KHZ = 50_000,
  parameter int unsigned BAUD      = 3_000_000
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rxd_i,   // asynchronous
  output logic txd_o,

  output logic       rx_valid_o,
  input  logic       rx_ready_i,
  output logic [7:0] rx_byte_o,
  output logic       error_o,

  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_byte_i
);

  // Rounded; in 1/65536 of a bit a cycle.
  localparam logic [15:0] STEP = 16'((BAUD / 1000 * 65536 + CLOCK_KHZ / 2) / CLOCK_KHZ);

  // ---------------------------------------------------------------- receive
  logic rxd, busy_q, tick, valid, room, stop;
  logic [16:0] sum;
  logic [15:0] phase_q;
  logic [ 3:0] left_q;  // bits to come: start, 8, stop
  logic [ 7:0] shift_q;

  bit_sync #(
    .RESET_VAL(1'b1)
  ) u_rxd (
    .clk_i,
    .rst_ni,
    .async_i(rxd_i),
    .sync_o (rxd)
  );

  assign sum     = {1'b0, phase_q} + {1'b0, STEP};
  assign tick    = busy_q && sum[16];
  assign stop    = tick && left_q == 4'd1;
  assign valid   = stop && rxd;
  assign error_o = stop && (!rxd || !room);

  // The first sample is half a bit behind the edge. A start bit that is over by then was none.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (!busy_q) begin
      busy_q <= !rxd;
    end else if (tick && (left_q == 4'd1 || (left_q == 4'd10 && rxd))) begin
      busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    phase_q <= busy_q ? sum[15:0] : 16'h8000;
    if (!busy_q) left_q <= 4'd10;
    else if (tick) left_q <= left_q - 1'b1;
    if (tick) shift_q <= {rxd, shift_q[7:1]};
  end

  fifo_sync #(
    .WIDTH(8),
    .DEPTH(16)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .wr_valid_i(valid),
    .wr_ready_o(room),
    .wr_data_i (shift_q),
    .rd_valid_o(rx_valid_o),
    .rd_ready_i(rx_ready_i),
    .rd_data_o (rx_byte_o),
    .count_o   ()
  );

  // ---------------------------------------------------------------- transmit
  logic [16:0] tx_sum;
  logic [15:0] tx_phase_q;
  logic [ 3:0] tx_left_q;
  logic [ 8:0] tx_shift_q;

  assign tx_sum     = {1'b0, tx_phase_q} + {1'b0, STEP};
  assign tx_ready_o = tx_left_q == '0;
  assign txd_o      = tx_shift_q[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_left_q  <= '0;
      tx_shift_q <= '1;
      tx_phase_q <= '0;
    end else if (tx_left_q == '0) begin
      tx_phase_q <= '0;
      if (tx_valid_i) begin
        tx_left_q  <= 4'd10;
        tx_shift_q <= {tx_byte_i, 1'b0};
      end
    end else begin
      tx_phase_q <= tx_sum[15:0];
      if (tx_sum[16]) begin
        tx_left_q  <= tx_left_q - 1'b1;
        tx_shift_q <= {1'b1, tx_shift_q[8:1]};
      end
    end
  end

  if (BAUD / 1000 * 8 > CLOCK_KHZ || BAUD / 1000 * 65536 / 1000 > 4_000_000) begin : gen_param_check
    $error("serial_uart: at least 8 cycles a bit");
  end

endmodule
