# The two cores of weft_u50: what each is set to, and checks that take minutes where a wrong core would show after hours.
#
# Sources: PG302 (QDMA) and PG203 (CMAC); names, defaults and values of the QDMA's properties from the core's own description in public
# projects; the sites of the U50 from public builds for xcu50. docs/boards.md names them. Not run.

# ---------------------------------------------------------------- PCIe: QDMA as a bridge
# In stages: a change of the link, or of the BARs, makes the core derive others anew, identity among them.
set qdma_stages {
  link {
    mode_selection {Advanced}
    pcie_blk_locn {PCIE4C_X1Y0}
    pl_link_cap_max_link_width {X16}
    pl_link_cap_max_link_speed {8.0_GT/s}
    axi_data_width {512_bit}
    axisten_freq {250}
    tl_pf_enable_reg {1}
    dma_reset_source_sel {PCIe_User_Reset}
    testname {mm}
  }
  interfaces {
    dma_intf_sel_qdma {AXI_MM}
    en_axi_mm_qdma {true}
    en_axi_st_qdma {false}
    axist_bypass_en {true}
    axilite_master_en {false}
    csr_axilite_slave {false}
    en_bridge_slv {true}
    axibar_notranslate {true}
    axibar_0 {0x0000000000000000}
    axibar_highaddr_0 {0xFFFFFFFFFFFFFFFF}
    vdm_en {true}
    flr_enable {true}
    adv_int_usr {false}
    parity_settings {None}
    cfg_mgmt_if {false}
  }
  bars {
    pf0_bar0_type_qdma {AXI_Bridge_Master}
    pf0_bar0_64bit_qdma {true}
    pf0_bar0_prefetchable_qdma {false}
    pf0_bar0_scale_qdma {Kilobytes}
    pf0_bar0_size_qdma {64}
    pf0_pciebar2axibar_0 {0x0000000000000000}
    pf0_bar2_enabled_qdma {true}
    pf0_bar2_type_qdma {AXI_Bridge_Master}
    pf0_bar2_64bit_qdma {true}
    pf0_bar2_prefetchable_qdma {false}
    pf0_bar2_scale_qdma {Kilobytes}
    pf0_bar2_size_qdma {64}
    pf0_pciebar2axibar_2 {0x0000000000010000}
    pf0_bar4_enabled_qdma {true}
    pf0_bar4_type_qdma {DMA}
    pf0_bar4_64bit_qdma {true}
    pf0_bar4_prefetchable_qdma {false}
    pf0_bar4_scale_qdma {Kilobytes}
    pf0_bar4_size_qdma {256}
    PF0_MSIX_CAP_TABLE_SIZE_qdma {007}
    PF0_MSIX_CAP_TABLE_BIR_qdma {BAR_5:4}
    PF0_MSIX_CAP_PBA_BIR_qdma {BAR_5:4}
  }
  identity {
    vendor_id {FFFE}
    pf0_device_id {5746}
    pf0_revision_id {03}
    pf0_subsystem_vendor_id {FFFE}
    pf0_subsystem_id {0050}
    pf0_class_code_base_qdma {02}
    pf0_class_code_sub_qdma {00}
    pf0_class_code_interface_qdma {00}
    pf0_class_code_qdma {020000}
  }
}
# Defaults that the rest counts on: the MSI-X table and its PBA lie inside BAR4's 256 KiB.
set qdma_expected {
  pf0_msix_enabled true
  PF0_MSIX_CAP_TABLE_OFFSET_qdma 30000
  PF0_MSIX_CAP_PBA_OFFSET_qdma 34000
}

# ---------------------------------------------------------------- 100G MAC
# Frames on AXI4-Stream, FCS added and taken off, 9234 bytes at the most: 9216 is the card's largest MTU, FCS and some room.
set cmac_stages {
  mode {
    CMAC_CAUI4_MODE {1}
    NUM_LANES {4x25}
    GT_REF_CLK_FREQ {161.1328125}
    GT_DRP_CLK {100.00}
    USER_INTERFACE {AXIS}
    ENABLE_AXI_INTERFACE {0}
    INCLUDE_STATISTICS_COUNTERS {0}
    TX_FLOW_CONTROL {0}
    RX_FLOW_CONTROL {0}
    INCLUDE_RS_FEC {1}
    ENABLE_PIPELINE_REG {1}
    TX_FCS_INS_ENABLE {1}
    RX_DELETE_FCS {1}
    RX_MIN_PACKET_LEN {64}
    RX_MAX_PACKET_LEN {9234}
  }
  place {
    CMAC_CORE_SELECT {CMACE4_X0Y4}
    GT_GROUP_SELECT {X0Y28~X0Y31}
    LANE1_GT_LOC {X0Y28}
    LANE2_GT_LOC {X0Y29}
    LANE3_GT_LOC {X0Y30}
    LANE4_GT_LOC {X0Y31}
  }
}

# ---------------------------------------------------------------- checks
# Two values of a property that are one: numbers by value, names by letters of either case.
proc same_value {a b} {
  if {[string match -nocase 0x* $a] && [string is entier -strict $a] && [string is entier -strict $b]} { return [expr {$a == $b}] }
  return [string equal -nocase $a $b]
}

# A name that a core does not know is a warning of the tool, and a value may be changed by one that is set after it. So every property is
# looked up before, and read back when all are set.
proc configure_core {ip stages expected} {
  set wrong {}
  set known [list_property [get_ips $ip]]
  dict for {stage pairs} $stages {
    set settings {}
    foreach {name value} $pairs {
      if {[lsearch -exact -nocase $known CONFIG.$name] < 0} { lappend wrong "no property $name" }
      lappend settings CONFIG.$name $value
    }
    set_property -dict $settings [get_ips $ip]
    lappend expected {*}$pairs
  }
  foreach {name value} $expected {
    if {[lsearch -exact -nocase $known CONFIG.$name] < 0} {
      if {"no property $name" ni $wrong} { lappend wrong "no property $name" }
      continue
    }
    set has [get_property CONFIG.$name [get_ips $ip]]
    puts "$ip $name = $has"
    if {![same_value $value $has]} { lappend wrong "$name is $has, not $value" }
  }
  if {[llength $wrong] > 0} {
    error "$ip is not what was asked for: [join $wrong {; }]. Compare cores.tcl with the customisation dialogue of this version"
  }
}

# Widths that versions of the cores and their guides disagree about: inputs that are tied or filled with zeros, outputs that nobody reads.
set varying {s_axib_awuser s_axib_aruser usr_irq_in_vec usr_irq_in_fnc usr_flr_fnc usr_flr_done_fnc m_axib_awuser m_axib_aruser m_axi_awuser m_axi_aruser}

# Ports of a module of ports: name to direction and width.
proc ports_of_stub {file} {
  set ports [dict create]
  foreach line [split [read_file $file] "\n"] {
    if {[regexp {^\s*(input|output)\s+logic\s*(?:\[\s*(\d+)\s*:\s*0\s*\])?\s*(\w+)\s*,?\s*$} $line -> direction left name]} {
      dict set ports $name [list $direction [expr {$left eq "" ? 1 : $left + 1}]]
    }
  }
  return $ports
}

# The same of an instantiation template, which the tool writes with the core.
proc ports_of_template {file} {
  set ports [dict create]
  foreach line [split [read_file $file] "\n"] {
    if {[regexp {^\s*\.(\w+)\(\w+\)\s*,?\s*//\s*(input|output) wire\s*(?:\[\s*(\d+)\s*:\s*0\s*\])?} $line -> name direction left]} {
      dict set ports $name [list $direction [expr {$left eq "" ? 1 : $left + 1}]]
    }
  }
  return $ports
}

# The generated core against the stub that the wrapper was elaborated with here: an input that is left open, or a port that is not there, would
# stop the build when all has been synthesized. Outputs that the stub does not name are open.
proc check_ports {ip stub template} {
  set wanted [ports_of_stub $stub]
  set has [ports_of_template $template]
  set wrong {}
  if {[dict size $wanted] == 0} { lappend wrong "no ports found in $stub" }
  if {[dict size $has] == 0} { lappend wrong "no ports found in $template" }
  dict for {name kind} $has {
    if {[lindex $kind 0] eq "input" && ![dict exists $wanted $name]} { lappend wrong "input $name would be open" }
  }
  dict for {name kind} $wanted {
    if {![dict exists $has $name]} {
      lappend wrong "no port $name"
    } elseif {[dict get $has $name] ne $kind} {
      set line "$name is [dict get $has $name], not $kind"
      if {$name in $::varying && [lindex [dict get $has $name] 0] eq [lindex $kind 0]} { puts "$ip: $line" } else { lappend wrong $line }
    }
  }
  if {[llength $wrong] > 0} { error "$ip does not fit $stub: [join $wrong {; }]. Mend the stub and weft_u50.sv, and lint them" }
}
