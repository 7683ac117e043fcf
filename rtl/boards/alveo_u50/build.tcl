# Builds the bitstream of the Alveo U50 with Vivado (2022.1 or later; written for 2024.1, see docs/boards.md: not run yet).
#
#   vivado -mode batch -source rtl/boards/alveo_u50/build.tcl [-tclargs FOLDER [NAME=VALUE ...]]
#
# FOLDER (default target/u50) gets the project, reports and weft_u50.bit. NAME=VALUE are parameters of weft_u50: NUM_FLOWS=256 RS_FEC=0.
# Ends with an error if timing is not met: a bitstream that misses it is not written.

set part  xcu50-fsvh2104-2-e
set here  [file dirname [file normalize [info script]]]
set rtl   [file normalize $here/../..]
set out   [file normalize [expr {[llength $argv] > 0 ? [lindex $argv 0] : "$rtl/../target/u50"}]]
set generics [lrange $argv 1 end]

file mkdir $out
create_project -force -part $part weft_u50 $out/project
set_property target_language Verilog [current_project]

# ---------------------------------------------------------------- sources
# The lists of files, packages first; lines that begin with # are comments.
proc files_of {rtl list} {
  set handle [open $rtl/$list]
  set files {}
  foreach line [split [read $handle] "\n"] {
    set line [string trim $line]
    if {$line ne "" && [string index $line 0] ne "#"} { lappend files $rtl/$line }
  }
  close $handle
  return $files
}

foreach list {weft_card.f boards/boards.f boards/alveo_u50/weft_u50.f} {
  add_files -norecurse [files_of $rtl $list]
}
set_property file_type SystemVerilog [get_files *.sv]
# Assertions and what watches are for simulations.
set_property verilog_define {SYNTHESIS=1} [current_fileset]
set_property top weft_u50 [current_fileset]
if {[llength $generics] > 0} { set_property generic $generics [current_fileset] }
add_files -fileset constrs_1 -norecurse [list $here/weft_u50.xdc $rtl/boards/cdc/cdc.tcl]
# The crossings are found by the modules' names, once everything is there.
set_property used_in_synthesis false [get_files cdc.tcl]

# ---------------------------------------------------------------- PCIe: QDMA as a bridge (PG302)
# Slave bridge without address translation: IOVAs go out as they are. BAR0 and BAR2 are the card's, at 0x00000 and 0x10000 of m_axib;
# BAR4 is the core's own (the registers of its queues, which nobody uses, and the MSI-X table). axi_aresetn goes with the link (User_Reset).
create_ip -name qdma -vendor xilinx.com -library ip -module_name qdma_0
set_property -dict [list \
  CONFIG.mode_selection {Advanced} \
  CONFIG.pcie_blk_locn {PCIE4C_X1Y0} \
  CONFIG.pl_link_cap_max_link_width {X16} \
  CONFIG.pl_link_cap_max_link_speed {8.0_GT/s} \
  CONFIG.axi_data_width {512_bit} \
  CONFIG.axisten_freq {250} \
  CONFIG.dma_intf_sel_qdma {AXI_MM} \
  CONFIG.en_axi_st_qdma {false} \
  CONFIG.en_bridge_slv {true} \
  CONFIG.axibar_notranslate {true} \
  CONFIG.csr_axilite_slave {false} \
  CONFIG.cfg_mgmt_if {false} \
  CONFIG.flr_enable {true} \
  CONFIG.dma_reset_source_sel {User_Reset} \
  CONFIG.tl_pf_enable_reg {1} \
  CONFIG.testname {mm} \
  CONFIG.vendor_id {FFFE} \
  CONFIG.pf0_device_id {5746} \
  CONFIG.pf0_revision_id {03} \
  CONFIG.pf0_subsystem_vendor_id {FFFE} \
  CONFIG.pf0_subsystem_id {0050} \
  CONFIG.pf0_base_class_menu_qdma {Network_controller} \
  CONFIG.pf0_class_code_base_qdma {02} \
  CONFIG.pf0_sub_class_interface_menu_qdma {Ethernet_controller} \
  CONFIG.pf0_class_code_sub_qdma {00} \
  CONFIG.pf0_class_code_interface_qdma {00} \
  CONFIG.pf0_class_code_qdma {020000} \
  CONFIG.pf0_bar0_type_qdma {AXI_Bridge_Master} \
  CONFIG.pf0_bar0_64bit_qdma {true} \
  CONFIG.pf0_bar0_prefetchable_qdma {false} \
  CONFIG.pf0_bar0_scale_qdma {Kilobytes} \
  CONFIG.pf0_bar0_size_qdma {64} \
  CONFIG.pf0_pciebar2axibar_0 {0x0000000000000000} \
  CONFIG.pf0_bar2_enabled_qdma {true} \
  CONFIG.pf0_bar2_type_qdma {AXI_Bridge_Master} \
  CONFIG.pf0_bar2_64bit_qdma {true} \
  CONFIG.pf0_bar2_prefetchable_qdma {false} \
  CONFIG.pf0_bar2_scale_qdma {Kilobytes} \
  CONFIG.pf0_bar2_size_qdma {64} \
  CONFIG.pf0_pciebar2axibar_2 {0x0000000000010000} \
  CONFIG.pf0_bar4_enabled_qdma {true} \
  CONFIG.pf0_bar4_type_qdma {DMA} \
  CONFIG.pf0_bar4_64bit_qdma {true} \
  CONFIG.pf0_bar4_prefetchable_qdma {false} \
  CONFIG.pf0_bar4_scale_qdma {Kilobytes} \
  CONFIG.pf0_bar4_size_qdma {256} \
  CONFIG.PF0_MSIX_CAP_TABLE_SIZE_qdma {007} \
] [get_ips qdma_0]

# ---------------------------------------------------------------- 100G MAC (PG203)
# Frames on AXI4-Stream, FCS added and taken off, 9234 bytes at the most: 9216 is the card's largest MTU, FCS and some room.
create_ip -name cmac_usplus -vendor xilinx.com -library ip -module_name cmac_usplus_0
set_property -dict [list \
  CONFIG.CMAC_CAUI4_MODE {1} \
  CONFIG.NUM_LANES {4x25} \
  CONFIG.GT_REF_CLK_FREQ {161.1328125} \
  CONFIG.GT_DRP_CLK {100.00} \
  CONFIG.USER_INTERFACE {AXIS} \
  CONFIG.ENABLE_AXI_INTERFACE {0} \
  CONFIG.INCLUDE_STATISTICS_COUNTERS {0} \
  CONFIG.TX_FLOW_CONTROL {0} \
  CONFIG.RX_FLOW_CONTROL {0} \
  CONFIG.INCLUDE_RS_FEC {1} \
  CONFIG.ENABLE_PIPELINE_REG {1} \
  CONFIG.TX_FCS_INS_ENABLE {1} \
  CONFIG.RX_DELETE_FCS {1} \
  CONFIG.RX_MIN_PACKET_LEN {64} \
  CONFIG.RX_MAX_PACKET_LEN {9234} \
  CONFIG.CMAC_CORE_SELECT {CMACE4_X0Y4} \
  CONFIG.GT_GROUP_SELECT {X0Y28~X0Y31} \
  CONFIG.LANE1_GT_LOC {X0Y28} \
  CONFIG.LANE2_GT_LOC {X0Y29} \
  CONFIG.LANE3_GT_LOC {X0Y30} \
  CONFIG.LANE4_GT_LOC {X0Y31} \
] [get_ips cmac_usplus_0]

# A name that this version of a core does not know is only a warning above: say which, before hours are spent.
foreach {ip names} {
  qdma_0 {en_bridge_slv axibar_notranslate flr_enable pf0_bar0_type_qdma pf0_bar2_type_qdma pf0_bar4_type_qdma pf0_pciebar2axibar_2}
  cmac_usplus_0 {USER_INTERFACE ENABLE_AXI_INTERFACE RX_DELETE_FCS TX_FCS_INS_ENABLE TX_FLOW_CONTROL RX_FLOW_CONTROL}
} {
  foreach name $names {
    if {[lsearch -nocase [list_property [get_ips $ip]] CONFIG.$name] < 0} {
      error "$ip has no property $name: compare with the customisation dialogue of this version"
    }
    puts "$ip $name = [get_property CONFIG.$name [get_ips $ip]]"
  }
}

generate_target all [get_ips]
foreach ip [get_ips] { create_ip_run $ip }
launch_runs -jobs 4 [get_runs *_synth_1 -filter {IS_SYNTHESIS && NAME != synth_1}]
foreach run [get_runs *_synth_1 -filter {IS_SYNTHESIS && NAME != synth_1}] { wait_on_run $run }

# ---------------------------------------------------------------- synthesis, place and route
synth_design -top weft_u50 -part $part -flatten_hierarchy rebuilt
write_checkpoint -force $out/synth.dcp
report_utilization -hierarchical -file $out/utilization_synth.rpt
report_cdc -details -file $out/cdc.rpt

opt_design
place_design -directive ExtraTimingOpt
phys_opt_design -directive AggressiveExplore
route_design -directive AggressiveExplore
phys_opt_design
write_checkpoint -force $out/route.dcp

report_timing_summary -delay_type min_max -max_paths 20 -report_unconstrained -file $out/timing.rpt
report_timing -max_paths 50 -nworst 1 -sort_by group -file $out/timing_paths.rpt
report_bus_skew -file $out/bus_skew.rpt
report_clock_interaction -file $out/clocks.rpt
report_utilization -hierarchical -file $out/utilization.rpt
report_power -file $out/power.rpt
report_drc -file $out/drc.rpt

foreach type {setup hold} {
  set paths [get_timing_paths -max_paths 1 -$type]
  set slack [expr {[llength $paths] > 0 ? [get_property SLACK $paths] : 0}]
  puts "worst slack, $type: $slack ns"
  if {$slack < 0} { error "timing is not met ($type, $slack ns): see $out/timing_paths.rpt, and docs/boards.md for what to turn" }
}

write_bitstream -force $out/weft_u50.bit
write_cfgmem -force -format mcs -size 128 -interface SPIx4 -loadbit "up 0x01002000 $out/weft_u50.bit" -file $out/weft_u50.mcs
puts "$out/weft_u50.bit"
