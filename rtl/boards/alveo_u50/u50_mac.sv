// The MAC's side of weft_u50: the integrated 100G MAC, its start, and the FIFOs between its clock and the card's.
//
// Handshake: `tx` is ready/valid. `rx` is not, as the MAC cannot wait: a frame that finds no room is dropped, and counted.
// Pipeline:  tx ─► mac_tx_fifo ─► CMAC ─► QSFP28
//            rx ◄─ mac_rx_fifo ◄──┘
// Why:       All crossings are in modules of rtl/boards/cdc. `rst_ni` is the card's, on this die; the MAC starts with the slot's reset alone,
//            `init_rst_ni`, so that the link stays up when the host resets the function or the bus.

module u50_mac #(
  parameter int unsigned DATA_W = 512,
  parameter bit          RS_FEC = 1'b1
) (
  input logic clk_i,         // of the card
  input logic rst_ni,
  input logic card_rst_ni,   // of state_o
  input logic async_rst_ni,  // of the FIFOs' other side
  input logic init_clk_i,    // free-running
  input logic init_rst_ni,

  input  logic       qsfp_refclk_p,
  input  logic       qsfp_refclk_n,
  input  logic [3:0] qsfp_rx_p,
  input  logic [3:0] qsfp_rx_n,
  output logic [3:0] qsfp_tx_p,
  output logic [3:0] qsfp_tx_n,

         frame_if.sink   tx,
         frame_if.source rx,
  output logic           rx_bad_o,

  output logic [31:0] rx_dropped_o,
  output logic [31:0] tx_dropped_o,
  output logic [ 3:0] state_o,       // in the card's clock
  output logic [ 1:0] led_o          // bits 1 and 0 of it, in the MAC's
);

  logic mac_clk, mac_rst_n, mac_start_rst_n, link;

  reset_sync u_mac_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(async_rst_ni),
    .rst_no      (mac_rst_n)
  );
  reset_sync u_mac_start_rst (
    .clk_i       (mac_clk),
    .async_rst_ni(init_rst_ni),
    .rst_no      (mac_start_rst_n)
  );

  // ---------------------------------------------------------------- between the card's clock and the MAC's
  logic [DATA_W-1:0] mac_tx_tdata, mac_rx_tdata;
  logic [DATA_W/8-1:0] mac_tx_tkeep, mac_rx_tkeep;
  logic mac_tx_tlast, mac_tx_tvalid, mac_tx_tready, mac_rx_tlast, mac_rx_tuser, mac_rx_tvalid;
  logic rx_reset, tx_reset, usr_rx_reset, usr_tx_reset;
  logic [3:0] mac_state_q;

  mac_tx_fifo #(
    .DATA_W(DATA_W)
  ) u_tx_fifo (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .link_i    (link),
    .tx_tdata  (tx.data),
    .tx_tkeep  (tx.keep),
    .tx_tlast  (tx.last),
    .tx_tvalid (tx.valid),
    .tx_tready (tx.ready),
    .dropped_o (tx_dropped_o),
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (tx_reset),
    .mac_tdata (mac_tx_tdata),
    .mac_tkeep (mac_tx_tkeep),
    .mac_tlast (mac_tx_tlast),
    .mac_tvalid(mac_tx_tvalid),
    .mac_tready(mac_tx_tready)
  );

  mac_rx_fifo #(
    .DATA_W(DATA_W)
  ) u_rx_fifo (
    .mac_clk_i (mac_clk),
    .mac_rst_ni(mac_rst_n),
    .mac_rst_i (rx_reset),
    .mac_tdata (mac_rx_tdata),
    .mac_tkeep (mac_rx_tkeep),
    .mac_tlast (mac_rx_tlast),
    .mac_tuser (mac_rx_tuser),
    .mac_tvalid(mac_rx_tvalid),
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .rx_tdata  (rx.data),
    .rx_tkeep  (rx.keep),
    .rx_tlast  (rx.last),
    .rx_tuser  (rx_bad_o),
    .rx_tvalid (rx.valid),
    .rx_tready (rx.ready),
    .dropped_o (rx_dropped_o)
  );

  bit_sync u_link (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .async_i(mac_state_q[0]),
    .sync_o (link)
  );
  word_sync #(
    .WIDTH(4)
  ) u_mac_state (
    .src_clk_i (mac_clk),
    .src_rst_ni(mac_rst_n),
    .src_word_i(mac_state_q),
    .dst_clk_i (clk_i),
    .dst_rst_ni(card_rst_ni),
    .dst_word_o(state_o)
  );

  // ---------------------------------------------------------------- the MAC
  logic rx_enable, tx_enable, tx_send_rfi, rsfec, up, aligned, local_fault, remote_fault, overflow, underflow;

  // Both of the core's resets are treated as asynchronous.
  bit_sync #(
    .RESET_VAL(1'b1)
  ) u_rx_reset (
    .clk_i  (mac_clk),
    .rst_ni (mac_start_rst_n),
    .async_i(usr_rx_reset),
    .sync_o (rx_reset)
  );
  bit_sync #(
    .RESET_VAL(1'b1)
  ) u_tx_reset (
    .clk_i  (mac_clk),
    .rst_ni (mac_start_rst_n),
    .async_i(usr_tx_reset),
    .sync_o (tx_reset)
  );

  cmac_link #(
    .RS_FEC(RS_FEC)
  ) u_link_up (
    .clk_i                 (mac_clk),
    .rst_ni                (mac_start_rst_n),
    .usr_rx_reset_i        (rx_reset),
    .usr_tx_reset_i        (tx_reset),
    .stat_rx_aligned_i     (aligned),
    .stat_rx_remote_fault_i(remote_fault),
    .ctl_rx_enable_o       (rx_enable),
    .ctl_tx_enable_o       (tx_enable),
    .ctl_tx_send_rfi_o     (tx_send_rfi),
    .ctl_rsfec_enable_o    (rsfec),
    .up_o                  (up)
  );

  // Bit 0 up, 1 aligned, 2 a frame ran dry, 3 a frame overflowed: the last two never occur.
  always_ff @(posedge mac_clk or negedge mac_start_rst_n) begin
    if (!mac_start_rst_n) mac_state_q <= '0;
    else mac_state_q <= {mac_state_q[3] || overflow, mac_state_q[2] || underflow, aligned && !local_fault, up};
  end

  assign led_o = mac_state_q[1:0];

  cmac_usplus_0 u_cmac (
    .gt_rxp_in                           (qsfp_rx_p),
    .gt_rxn_in                           (qsfp_rx_n),
    .gt_txp_out                          (qsfp_tx_p),
    .gt_txn_out                          (qsfp_tx_n),
    .gt_ref_clk_p                        (qsfp_refclk_p),
    .gt_ref_clk_n                        (qsfp_refclk_n),
    .gt_ref_clk_out                      (),
    .gt_rxrecclkout                      (),
    .gt_powergoodout                     (),
    .gt_loopback_in                      ('0),
    .gtwiz_reset_tx_datapath             (1'b0),
    .gtwiz_reset_rx_datapath             (1'b0),
    .init_clk                            (init_clk_i),
    .sys_reset                           (!init_rst_ni),
    .gt_txusrclk2                        (mac_clk),
    .gt_rxusrclk2                        (),
    .rx_clk                              (mac_clk),
    .core_rx_reset                       (1'b0),
    .core_tx_reset                       (1'b0),
    .usr_rx_reset,
    .usr_tx_reset,
    .rx_axis_tvalid                      (mac_rx_tvalid),
    .rx_axis_tdata                       (mac_rx_tdata),
    .rx_axis_tkeep                       (mac_rx_tkeep),
    .rx_axis_tlast                       (mac_rx_tlast),
    .rx_axis_tuser                       (mac_rx_tuser),
    .rx_preambleout                      (),
    .tx_axis_tready                      (mac_tx_tready),
    .tx_axis_tvalid                      (mac_tx_tvalid),
    .tx_axis_tdata                       (mac_tx_tdata),
    .tx_axis_tkeep                       (mac_tx_tkeep),
    .tx_axis_tlast                       (mac_tx_tlast),
    .tx_axis_tuser                       (1'b0),
    .tx_ovfout                           (overflow),
    .tx_unfout                           (underflow),
    .tx_preamblein                       ('0),
    .ctl_rx_enable                       (rx_enable),
    .ctl_rx_force_resync                 (1'b0),
    .ctl_rx_test_pattern                 (1'b0),
    .ctl_tx_enable                       (tx_enable),
    .ctl_tx_send_idle                    (1'b0),
    .ctl_tx_send_rfi                     (tx_send_rfi),
    .ctl_tx_send_lfi                     (1'b0),
    .ctl_tx_test_pattern                 (1'b0),
    .ctl_rx_rsfec_enable                 (rsfec),
    .ctl_rx_rsfec_enable_correction      (rsfec),
    .ctl_rx_rsfec_enable_indication      (rsfec),
    .ctl_rsfec_ieee_error_indication_mode(rsfec),
    .ctl_tx_rsfec_enable                 (rsfec),
    .stat_rx_aligned                     (aligned),
    .stat_rx_status                      (),
    .stat_rx_local_fault                 (local_fault),
    .stat_rx_remote_fault                (remote_fault),
    .stat_tx_local_fault                 (),
    .core_drp_reset                      (1'b0),
    .drp_clk                             (1'b0),
    .drp_addr                            ('0),
    .drp_di                              ('0),
    .drp_en                              (1'b0),
    .drp_we                              (1'b0),
    .drp_do                              (),
    .drp_rdy                             ()
  );

endmodule
