# The cores as build.tcl meets them, for the rehearsal: names, defaults and values of properties, and the ports that each brings.
#
# Of qdma: what the core's own description (IP-XACT, version 4.0, revision 8) says of the properties that a bridge needs. A property
# that is not here is unknown to the core, and its value has to be one of `choices`. Of cmac_usplus 3.1: PG203 and public instances of it.

set qdma_properties {
  mode_selection {Basic {Basic Advanced}}
  pcie_blk_locn {PCIE4C_X0Y1 {PCIE4C_X0Y1 PCIE4C_X1Y0 PCIE4C_X1Y1}}
  pl_link_cap_max_link_width {X16 {X1 X2 X4 X8 X16}}
  pl_link_cap_max_link_speed {8.0_GT/s {2.5_GT/s 5.0_GT/s 8.0_GT/s}}
  axi_data_width {512_bit {64_bit 128_bit 256_bit 512_bit}}
  axisten_freq {250 {62.5 125 250}}
  dma_intf_sel_qdma {AXI_MM_and_AXI_Stream_with_Completion {AXI_MM AXI_Stream_with_Completion AXI_MM_and_AXI_Stream_with_Completion}}
  en_axi_mm_qdma {true {true false}}
  en_axi_st_qdma {true {true false}}
  axist_bypass_en {false {true false}}
  axilite_master_en {true {true false}}
  en_bridge_slv {false {true false}}
  axibar_notranslate {false {true false}}
  axibar_0 {0x0000000000000000 {}}
  axibar_highaddr_0 {0x0000000000000000 {}}
  vdm_en {false {true false}}
  csr_axilite_slave {false {true false}}
  cfg_mgmt_if {true {true false}}
  flr_enable {false {true false}}
  adv_int_usr {false {true false}}
  dma_reset_source_sel {PCIe_User_Reset {PCIe_User_Reset Phy_Ready}}
  parity_settings {None {None Data_Protection}}
  tl_pf_enable_reg {1 {1 2 3 4}}
  testname {mm_st {mm_st mm st}}
  vendor_id {10EE {}}
  pf0_device_id {903F {}}
  pf0_revision_id {00 {}}
  pf0_subsystem_vendor_id {10EE {}}
  pf0_subsystem_id {0007 {}}
  pf0_base_class_menu_qdma {Memory_controller {Memory_controller Network_controller}}
  pf0_sub_class_interface_menu_qdma {Other_memory_controller {RAM Flash Other_memory_controller Ethernet_controller}}
  pf0_class_code_base_qdma {05 {}}
  pf0_class_code_sub_qdma {80 {}}
  pf0_class_code_interface_qdma {00 {}}
  pf0_class_code_qdma {058000 {}}
  pf0_bar0_type_qdma {DMA {DMA AXI_Bridge_Master AXI_Lite_Master}}
  pf0_bar0_64bit_qdma {true {true false}}
  pf0_bar0_prefetchable_qdma {false {true false}}
  pf0_bar0_scale_qdma {Kilobytes {Kilobytes Megabytes}}
  pf0_bar0_size_qdma {256 {}}
  pf0_pciebar2axibar_0 {0x0000000000000000 {}}
  pf0_bar2_enabled_qdma {true {true false}}
  pf0_bar2_type_qdma {AXI_Lite_Master {DMA AXI_Bridge_Master AXI_Lite_Master}}
  pf0_bar2_64bit_qdma {true {true false}}
  pf0_bar2_prefetchable_qdma {false {true false}}
  pf0_bar2_scale_qdma {Kilobytes {Kilobytes Megabytes}}
  pf0_bar2_size_qdma {4 {}}
  pf0_pciebar2axibar_2 {0x0000000000000000 {}}
  pf0_bar4_enabled_qdma {false {true false}}
  pf0_bar4_type_qdma {AXI_Bridge_Master {DMA AXI_Bridge_Master AXI_Lite_Master}}
  pf0_bar4_64bit_qdma {false {true false}}
  pf0_bar4_prefetchable_qdma {false {true false}}
  pf0_bar4_scale_qdma {Kilobytes {Kilobytes Megabytes}}
  pf0_bar4_size_qdma {128 {}}
  pf0_msix_enabled {true {true false}}
  PF0_MSIX_CAP_TABLE_SIZE_qdma {007 {}}
  PF0_MSIX_CAP_TABLE_OFFSET_qdma {30000 {}}
  PF0_MSIX_CAP_TABLE_BIR_qdma {BAR_1:0 {BAR_1:0 BAR_3:2 BAR_5:4}}
  PF0_MSIX_CAP_PBA_OFFSET_qdma {34000 {}}
  PF0_MSIX_CAP_PBA_BIR_qdma {BAR_1:0 {BAR_1:0 BAR_3:2 BAR_5:4}}
}

# Ports by the property that brings them: name, direction and width. Of the streams a few only.
set qdma_ports {
  always {
    sys_clk i1  sys_clk_gt i1  sys_rst_n i1  user_lnk_up o1  pci_exp_txp o16  pci_exp_txn o16  pci_exp_rxp i16  pci_exp_rxn i16  axi_aclk o1
    axi_aresetn o1  usr_irq_in_vld i1  usr_irq_in_vec i11  usr_irq_in_fnc i8  usr_irq_out_ack o1  usr_irq_out_fail o1  tm_dsc_sts_vld o1
    tm_dsc_sts_port_id o3  tm_dsc_sts_qen o1  tm_dsc_sts_byp o1  tm_dsc_sts_dir o1  tm_dsc_sts_mm o1  tm_dsc_sts_error o1  tm_dsc_sts_qid o11
    tm_dsc_sts_avl o16  tm_dsc_sts_qinv o1  tm_dsc_sts_irq_arm o1  tm_dsc_sts_rdy i1  tm_dsc_sts_pidx o16  dsc_crdt_in_crdt i16  dsc_crdt_in_qid i11
    dsc_crdt_in_dir i1  dsc_crdt_in_fence i1  dsc_crdt_in_vld i1  dsc_crdt_in_rdy o1  soft_reset_n i1  phy_ready o1  qsts_out_op o8  qsts_out_data o64
    qsts_out_port_id o3  qsts_out_qid o13  qsts_out_vld o1  qsts_out_rdy i1
  }
  en_axi_mm_qdma {
    m_axi_awready i1  m_axi_wready i1  m_axi_bid i4  m_axi_bresp i2  m_axi_bvalid i1  m_axi_arready i1  m_axi_rid i4  m_axi_rdata i512  m_axi_rresp i2
    m_axi_rlast i1  m_axi_rvalid i1  m_axi_awid o4  m_axi_awaddr o64  m_axi_awuser o32  m_axi_awlen o8  m_axi_awsize o3  m_axi_awburst o2
    m_axi_awprot o3  m_axi_awvalid o1  m_axi_awlock o1  m_axi_awcache o4  m_axi_wdata o512  m_axi_wuser o64  m_axi_wstrb o64  m_axi_wlast o1
    m_axi_wvalid o1  m_axi_bready o1  m_axi_arid o4  m_axi_araddr o64  m_axi_aruser o32  m_axi_arlen o8  m_axi_arsize o3  m_axi_arburst o2
    m_axi_arprot o3  m_axi_arvalid o1  m_axi_arlock o1  m_axi_arcache o4  m_axi_rready o1
  }
  axist_bypass_en {
    m_axib_awid o4  m_axib_awaddr o64  m_axib_awlen o8  m_axib_awuser o55  m_axib_awsize o3  m_axib_awburst o2  m_axib_awprot o3  m_axib_awvalid o1
    m_axib_awready i1  m_axib_awlock o1  m_axib_awcache o4  m_axib_wdata o512  m_axib_wstrb o64  m_axib_wlast o1  m_axib_wvalid o1  m_axib_wready i1
    m_axib_bid i4  m_axib_bresp i2  m_axib_bvalid i1  m_axib_bready o1  m_axib_arid o4  m_axib_araddr o64  m_axib_arlen o8  m_axib_aruser o55
    m_axib_arsize o3  m_axib_arburst o2  m_axib_arprot o3  m_axib_arvalid o1  m_axib_arready i1  m_axib_arlock o1  m_axib_arcache o4  m_axib_rid i4
    m_axib_rdata i512  m_axib_rresp i2  m_axib_rlast i1  m_axib_rvalid i1  m_axib_rready o1
  }
  en_bridge_slv {
    s_axib_awid i4  s_axib_awaddr i64  s_axib_awregion i4  s_axib_awlen i8  s_axib_awsize i3  s_axib_awburst i2  s_axib_awvalid i1  s_axib_wdata i512
    s_axib_wstrb i64  s_axib_wlast i1  s_axib_wvalid i1  s_axib_wuser i64  s_axib_ruser o64  s_axib_bready i1  s_axib_arid i4  s_axib_araddr i64
    s_axib_aruser i12  s_axib_awuser i12  s_axib_arregion i4  s_axib_arlen i8  s_axib_arsize i3  s_axib_arburst i2  s_axib_arvalid i1  s_axib_rready i1
    s_axib_awready o1  s_axib_wready o1  s_axib_bid o4  s_axib_bresp o2  s_axib_bvalid o1  s_axib_arready o1  s_axib_rid o4  s_axib_rdata o512
    s_axib_rresp o2  s_axib_rlast o1  s_axib_rvalid o1
  }
  vdm_en {
    st_rx_msg_rdy i1  st_rx_msg_valid o1  st_rx_msg_last o1  st_rx_msg_data o32
  }
  flr_enable {
    usr_flr_fnc o8  usr_flr_set o1  usr_flr_clr o1  usr_flr_done_fnc i8  usr_flr_done_vld i1
  }
  axilite_master_en {
    m_axil_awaddr o32  m_axil_awuser o55  m_axil_awprot o3  m_axil_awvalid o1  m_axil_awready i1  m_axil_wdata o32  m_axil_wstrb o4  m_axil_wvalid o1
    m_axil_wready i1  m_axil_bvalid i1  m_axil_bresp i2  m_axil_bready o1  m_axil_araddr o32  m_axil_aruser o55  m_axil_arprot o3  m_axil_arvalid o1
    m_axil_arready i1  m_axil_rdata i32  m_axil_rresp i2  m_axil_rvalid i1  m_axil_rready o1
  }
  en_axi_st_qdma {
    m_axis_h2c_tdata o512  m_axis_h2c_tvalid o1  m_axis_h2c_tready i1  s_axis_c2h_tdata i512  s_axis_c2h_tvalid i1  s_axis_c2h_tready o1
  }
}

set cmac_usplus_properties {
  CMAC_CAUI4_MODE {1 {}}
  NUM_LANES {4x25 {}}
  GT_REF_CLK_FREQ {156.25 {156.25 161.1328125 322.265625}}
  GT_DRP_CLK {100.00 {}}
  USER_INTERFACE {LBUS {LBUS AXIS}}
  ENABLE_AXI_INTERFACE {1 {0 1}}
  INCLUDE_STATISTICS_COUNTERS {1 {0 1}}
  TX_FLOW_CONTROL {1 {0 1}}
  RX_FLOW_CONTROL {1 {0 1}}
  INCLUDE_RS_FEC {0 {0 1}}
  ENABLE_PIPELINE_REG {0 {0 1}}
  TX_FCS_INS_ENABLE {1 {0 1}}
  RX_DELETE_FCS {1 {0 1}}
  RX_MIN_PACKET_LEN {64 {}}
  RX_MAX_PACKET_LEN {9600 {}}
  CMAC_CORE_SELECT {CMACE4_X0Y0 {}}
  GT_GROUP_SELECT {X0Y4~X0Y7 {}}
  LANE1_GT_LOC {X0Y4 {}}
  LANE2_GT_LOC {X0Y5 {}}
  LANE3_GT_LOC {X0Y6 {}}
  LANE4_GT_LOC {X0Y7 {}}
}

# USER_INTERFACE AXIS, ENABLE_AXI_INTERFACE 0, both flow controls 0, INCLUDE_RS_FEC 1. Statistics are outputs, and left out.
set cmac_usplus_ports {
  always {
    gt_rxp_in i4  gt_rxn_in i4  gt_txp_out o4  gt_txn_out o4  gt_ref_clk_p i1  gt_ref_clk_n i1  gt_ref_clk_out o1  gt_rxrecclkout o4
    gt_powergoodout o4  gt_loopback_in i12  gtwiz_reset_tx_datapath i1  gtwiz_reset_rx_datapath i1  init_clk i1  sys_reset i1
    gt_txusrclk2 o1  gt_rxusrclk2 o1  rx_clk i1  core_rx_reset i1  core_tx_reset i1  usr_rx_reset o1  usr_tx_reset o1
    rx_axis_tvalid o1  rx_axis_tdata o512  rx_axis_tkeep o64  rx_axis_tlast o1  rx_axis_tuser o1  rx_preambleout o56
    tx_axis_tready o1  tx_axis_tvalid i1  tx_axis_tdata i512  tx_axis_tkeep i64  tx_axis_tlast i1  tx_axis_tuser i1  tx_ovfout o1
    tx_unfout o1  tx_preamblein i56  ctl_rx_enable i1  ctl_rx_force_resync i1  ctl_rx_test_pattern i1  ctl_tx_enable i1
    ctl_tx_send_idle i1  ctl_tx_send_rfi i1  ctl_tx_send_lfi i1  ctl_tx_test_pattern i1  ctl_rx_rsfec_enable i1
    ctl_rx_rsfec_enable_correction i1  ctl_rx_rsfec_enable_indication i1  ctl_rsfec_ieee_error_indication_mode i1
    ctl_tx_rsfec_enable i1  stat_rx_aligned o1  stat_rx_status o1  stat_rx_local_fault o1  stat_rx_remote_fault o1
    stat_tx_local_fault o1  core_drp_reset i1  drp_clk i1  drp_addr i10  drp_di i16  drp_en i1  drp_we i1  drp_do o16  drp_rdy o1
  }
}
