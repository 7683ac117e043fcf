// Brings the 100G MAC's link up and keeps it, as its product guide asks.
//
// Handshake: Levels. `up_o`: frames pass both ways.
// Pipeline:  one register, `aligned_q` one before.
// Why:       The receiver is on from the start; the transmitter sends remote faults until the receiver is aligned, then frames. Lost alignment starts
//            it again. RS-FEC is chosen at build time (a property of the cable or module, clause 91).

module cmac_link #(
  parameter bit RS_FEC = 1'b1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic usr_rx_reset_i,
  input logic usr_tx_reset_i,
  input logic stat_rx_aligned_i,
  input logic stat_rx_remote_fault_i,

  output logic ctl_rx_enable_o,
  output logic ctl_tx_enable_o,
  output logic ctl_tx_send_rfi_o,
  output logic ctl_rsfec_enable_o,

  output logic up_o
);

  logic aligned_q;

  assign ctl_rsfec_enable_o = RS_FEC;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aligned_q         <= 1'b0;
      ctl_rx_enable_o   <= 1'b0;
      ctl_tx_enable_o   <= 1'b0;
      ctl_tx_send_rfi_o <= 1'b0;
      up_o              <= 1'b0;
    end else begin
      aligned_q         <= stat_rx_aligned_i && !usr_rx_reset_i;
      ctl_rx_enable_o   <= !usr_rx_reset_i;
      ctl_tx_enable_o   <= aligned_q && !usr_tx_reset_i;
      ctl_tx_send_rfi_o <= !aligned_q && !usr_tx_reset_i;
      up_o              <= ctl_tx_enable_o && aligned_q && !stat_rx_remote_fault_i;
    end
  end

endmodule
