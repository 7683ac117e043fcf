// Ports of AMD's UltraScale+ integrated 100G Ethernet subsystem (cmac_usplus, PG203 v3.1) as build.tcl configures it: AXI4-Stream user interface,
// transceivers inside, RS-FEC, no AXI4-Lite, no flow control, no time stamps, no OTN, no auto-negotiation. For elaboration without the vendor's
// tool; no contents. Statistics that the wrapper does not use are left out: an output that nobody names is open.

(* black_box *)
module cmac_usplus_0 (
  // Transceivers.
  input  logic [ 3:0] gt_rxp_in,
  input  logic [ 3:0] gt_rxn_in,
  output logic [ 3:0] gt_txp_out,
  output logic [ 3:0] gt_txn_out,
  input  logic        gt_ref_clk_p,
  input  logic        gt_ref_clk_n,
  output logic        gt_ref_clk_out,
  output logic [ 3:0] gt_rxrecclkout,
  output logic [ 3:0] gt_powergoodout,
  input  logic [11:0] gt_loopback_in,
  input  logic        gtwiz_reset_tx_datapath,
  input  logic        gtwiz_reset_rx_datapath,

  // Clocks, resets.
  input  logic init_clk,
  input  logic sys_reset,
  output logic gt_txusrclk2,
  output logic gt_rxusrclk2,
  input  logic rx_clk,
  input  logic core_rx_reset,
  input  logic core_tx_reset,
  output logic usr_rx_reset,
  output logic usr_tx_reset,

  // Frames.
  output logic         rx_axis_tvalid,
  output logic [511:0] rx_axis_tdata,
  output logic [ 63:0] rx_axis_tkeep,
  output logic         rx_axis_tlast,
  output logic         rx_axis_tuser,
  output logic [ 55:0] rx_preambleout,
  output logic         tx_axis_tready,
  input  logic         tx_axis_tvalid,
  input  logic [511:0] tx_axis_tdata,
  input  logic [ 63:0] tx_axis_tkeep,
  input  logic         tx_axis_tlast,
  input  logic         tx_axis_tuser,
  output logic         tx_ovfout,
  output logic         tx_unfout,
  input  logic [ 55:0] tx_preamblein,

  // Control and status.
  input  logic ctl_rx_enable,
  input  logic ctl_rx_force_resync,
  input  logic ctl_rx_test_pattern,
  input  logic ctl_tx_enable,
  input  logic ctl_tx_send_idle,
  input  logic ctl_tx_send_rfi,
  input  logic ctl_tx_send_lfi,
  input  logic ctl_tx_test_pattern,
  input  logic ctl_rx_rsfec_enable,
  input  logic ctl_rx_rsfec_enable_correction,
  input  logic ctl_rx_rsfec_enable_indication,
  input  logic ctl_rsfec_ieee_error_indication_mode,
  input  logic ctl_tx_rsfec_enable,
  output logic stat_rx_aligned,
  output logic stat_rx_status,
  output logic stat_rx_local_fault,
  output logic stat_rx_remote_fault,
  output logic stat_tx_local_fault,

  // Reconfiguration.
  input  logic        core_drp_reset,
  input  logic        drp_clk,
  input  logic [ 9:0] drp_addr,
  input  logic [15:0] drp_di,
  input  logic        drp_en,
  input  logic        drp_we,
  output logic [15:0] drp_do,
  output logic        drp_rdy
);
endmodule
