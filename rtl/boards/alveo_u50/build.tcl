# The bitstream of the Alveo U50 by Vivado: a project with runs. By documents, and not run yet: docs/boards.md.
#
#   vivado -mode batch -source rtl/boards/alveo_u50/build.tcl [-tclargs FOLDER [NAME=VALUE ...]]     (make u50 STEP=.. U50="NAME=VALUE ..")
#
# FOLDER (default target/u50) gets the project, reports and weft_u50.bit. NAME=VALUE:
#   STEP        project: sources and both cores, checked (minutes); synth; impl: placed, routed, all gates; bit (default): and the bitstream.
#               What an earlier call did in FOLDER is taken over, unless a source has changed since.
#   STRATEGIES  of place and route, separated by commas; all are run, and the best that passes the gates is taken.
#   JOBS        at once (4; a run of place and route wants some 20 GB).
#   VIVADO      any: go on with a version that this was not written for.
#   others      parameters of weft_u50: NUM_FLOWS=256 RS_FEC=0.
# Ends with an error, and without a bitstream, if a gate is not passed: gates.tcl.

set vivado 2024.2
set part   xcu50-fsvh2104-2-e
set here   [file dirname [file normalize [info script]]]
set rtl    [file normalize $here/../..]

proc read_file {file} {
  set handle [open $file]
  set text [read $handle]
  close $handle
  return $text
}
source $here/cores.tcl
source $here/gates.tcl

# ---------------------------------------------------------------- what is asked for
set out [file normalize [expr {[llength $argv] > 0 ? [lindex $argv 0] : "$rtl/../target/u50"}]]
array set options {STEP bit STRATEGIES Performance_ExplorePostRoutePhysOpt JOBS 4 VIVADO ""}
set generics {}
foreach argument [lrange $argv 1 end] {
  if {![regexp {^(\w+)=(.*)$} $argument -> name value]} { error "$argument is not NAME=VALUE" }
  if {[info exists options($name)]} { set options($name) $value } else { lappend generics $argument }
}
set steps {project synth impl bit}
set last [lsearch -exact $steps $options(STEP)]
if {$last < 0} { error "STEP=$options(STEP): one of $steps" }
if {$options(VIVADO) ne "any" && [version -short] ne $vivado} {
  error "this is Vivado [version -short], and the names of the cores' properties are those of $vivado: VIVADO=any to go on, and read what the checks say"
}

# ---------------------------------------------------------------- project
# The lists of files, packages first; lines that begin with # are comments.
proc files_of {rtl list} {
  set files {}
  foreach line [split [read_file $rtl/$list] "\n"] {
    set line [string trim $line]
    if {$line ne "" && [string index $line 0] ne "#"} { lappend files $rtl/$line }
  }
  return $files
}

proc make_project {} {
  global out part rtl here qdma_stages qdma_expected cmac_stages
  file mkdir $out
  create_project -force -part $part weft_u50 $out/project
  set_property target_language Verilog [current_project]
  foreach list {weft_card.f boards/boards.f boards/alveo_u50/weft_u50.f} {
    add_files -norecurse [files_of $rtl $list]
  }
  set_property file_type SystemVerilog [get_files *.sv]
  # Assertions and what watches are for simulations.
  set_property verilog_define {SYNTHESIS=1} [current_fileset]
  # Their macros are a header.
  set_property include_dirs $rtl/prim [current_fileset]
  set_property top weft_u50 [current_fileset]
  add_files -fileset constrs_1 -norecurse [list $here/weft_u50.xdc $here/floor.xdc $rtl/boards/cdc/cdc.tcl]
  # The crossings are found by the modules' names, and the floor by instances: in the run of place and route, where everything is there.
  set_property used_in_synthesis false [get_files {cdc.tcl floor.xdc}]

  create_ip -name qdma -vendor xilinx.com -library ip -module_name qdma_0
  configure_core qdma_0 $qdma_stages $qdma_expected
  create_ip -name cmac_usplus -vendor xilinx.com -library ip -module_name cmac_usplus_0
  configure_core cmac_usplus_0 $cmac_stages {}
  generate_target all [get_ips]
  foreach ip {qdma_0 cmac_usplus_0} {
    set template [glob -nocomplain $out/project/weft_u50.*/sources_1/ip/$ip/$ip.veo]
    if {[llength $template] != 1} { error "$ip: no instantiation template in $out/project, or several: $template" }
    check_ports $ip $here/stubs/$ip.sv [lindex $template 0]
    create_ip_run [get_ips $ip]
  }
  # Written last: without it the next call makes the project anew.
  close [open $out/project/checked w]
}

if {[file exists $out/project/checked]} { open_project $out/project/weft_u50.xpr } else { make_project }
if {[llength $generics] > 0 && [get_property generic [current_fileset]] ne $generics} { set_property generic $generics [current_fileset] }

# ---------------------------------------------------------------- runs
# Each run to its end; what is there already and still right is not done again.
proc finish {runs} {
  set waiting {}
  foreach run $runs {
    if {[get_property PROGRESS [get_runs $run]] eq "100%" && [get_property NEEDS_REFRESH [get_runs $run]] ne "1"} { continue }
    if {[get_property PROGRESS [get_runs $run]] ni {"" "0%"}} { reset_run [get_runs $run] }
    lappend waiting $run
  }
  if {[llength $waiting] == 0} { return }
  launch_runs -jobs $::options(JOBS) [get_runs $waiting]
  foreach run $waiting { wait_on_run [get_runs $run] }
  foreach run $waiting {
    if {[get_property PROGRESS [get_runs $run]] ne "100%"} { error "$run ended as '[get_property STATUS [get_runs $run]]': its log is in $::out/project" }
  }
}

if {$last >= [lsearch $steps synth]} {
  finish {qdma_0_synth_1 cmac_usplus_0_synth_1}
  set_property strategy Flow_PerfOptimized_high [get_runs synth_1]
  finish synth_1
  open_run [get_runs synth_1]
  report_utilization -hierarchical -file $out/utilization_synth.rpt
  close_design
}

# Of two runs, the one with less slack is the smaller.
proc slacker {a b} {
  expr {[stat $a WNS] < [stat $b WNS] ? -1 : [stat $a WNS] > [stat $b WNS]}
}

if {$last >= [lsearch $steps impl]} {
  # The first strategy has the project's own run, the others get one each.
  set tries {}
  foreach strategy [split $options(STRATEGIES) ,] {
    set run impl_[expr {[llength $tries] + 1}]
    if {[llength [get_runs -quiet $run]] == 0} { create_run $run -parent_run [get_runs synth_1] -flow {Vivado Implementation 2024} }
    if {[get_property STRATEGY [get_runs $run]] ne $strategy} { set_property strategy $strategy [get_runs $run] }
    lappend tries $run
  }
  finish $tries

  set passed ""
  set complaints {}
  foreach run [lsort -decreasing -command slacker $tries] {
    file mkdir $out/$run
    open_run [get_runs $run]
    set wrong [gates $run $out/$run]
    if {[llength $wrong] == 0} {
      set passed $run
      break
    }
    lappend complaints "$run ([get_property STRATEGY [get_runs $run]]): [join $wrong {; }]"
    close_design
  }
  if {$passed eq ""} { error "no run passed the gates. [join $complaints {. }]. docs/boards.md says what to turn" }
  puts "$passed passed all gates"
}

if {$last >= [lsearch $steps bit]} {
  write_bitstream -force $out/weft_u50.bit
  write_cfgmem -force -format mcs -size 128 -interface SPIx4 -loadbit "up 0x01002000 $out/weft_u50.bit" -file $out/weft_u50.mcs
  puts "$out/weft_u50.bit"
}
