# Vivado's commands as build.tcl uses them, without Vivado: what was asked for is written down, and the answers are those of a world.
#
#   tclsh vivado.tcl RECORD WORLD SCRIPT [ARGUMENT ...]
#
# RECORD gets one command a line, as a list. WORLD is a dict: `version`; `properties` and `ports` that a core has besides or instead (by core;
# a value or a port of {} takes it away); `runs`, what a run ends with (by run: PROGRESS, STATS.*); `violations` (by report: severities);
# `cells`, how many of a kind there are. Ends with status 1 and the message when SCRIPT ends with an error.
# A command that is not here is an error, as a misspelt one is in Vivado.

set here [file dirname [file normalize [info script]]]
lassign $argv record_file world script
set argv [lrange $argv 3 end]
source $here/core_facts.tcl
set record [open $record_file w]

proc note {args} {
  puts $::record $args
  flush $::record
}
proc world {args} {
  expr {[dict exists $::world {*}$args] ? [dict get $::world {*}$args] : {}}
}

# ---------------------------------------------------------------- options
# Splits arguments into options with a value, flags, and the rest.
proc options {with_value arguments} {
  set taken {}
  set rest {}
  while {[llength $arguments] > 0} {
    set arguments [lassign $arguments word]
    if {$word in $with_value} {
      set arguments [lassign $arguments value]
      dict set taken $word $value
    } elseif {[string match {-[a-z]*} $word]} {
      dict set taken $word 1
    } else {
      lappend rest $word
    }
  }
  return [list $taken $rest]
}

# ---------------------------------------------------------------- objects: a name and its properties
array set objects {}
set runs {synth_1 impl_1}
set ips {}

# A property of a core: nothing is set that the core does not know, and no value that it does not have.
proc set_core_property {ip name value} {
  set core [dict get $::core_of $ip]
  set known [dict keys [set ::properties($core)]]
  set at [lsearch -exact -nocase $known $name]
  if {$at < 0} {
    puts "WARNING: \[Common 17-599\] Property 'CONFIG.$name' does not exist for '$ip'"
    return
  }
  set name [lindex $known $at]
  lassign [dict get [set ::properties($core)] $name] default choices
  if {[llength $choices] > 0 && $value ni $choices} {
    error "\[IP_Flow 19-3461\] Value '$value' is out of the range for parameter '$name' for IP '$ip'. Valid values are - $choices"
  }
  set ::objects($ip,CONFIG.$name) $value
}

proc set_property {args} {
  note set_property {*}$args
  lassign [options {-dict -name -value -objects} $args] taken rest
  if {[dict exists $taken -dict]} {
    set pairs [dict get $taken -dict]
  } elseif {[dict exists $taken -name]} {
    set pairs [list [dict get $taken -name] [dict get $taken -value]]
  } else {
    set rest [lassign $rest name value]
    set pairs [list $name $value]
  }
  set targets [expr {[dict exists $taken -objects] ? [dict get $taken -objects] : [lindex $rest 0]}]
  foreach target $targets {
    foreach {name value} $pairs {
      if {$target in $::ips && [string match -nocase CONFIG.* $name]} {
        set_core_property $target [string range $name 7 end] $value
      } else {
        set ::objects($target,[string toupper $name]) $value
      }
    }
  }
}

proc get_property {name object} {
  if {$object in $::ips && [string match -nocase CONFIG.* $name]} {
    foreach {known value} [core_values $object] {
      if {[string equal -nocase $known [string range $name 7 end]]} { return $value }
    }
    error "\[Common 17-54\] The object '$object' does not have a property '$name'."
  }
  if {[info exists ::objects($object,[string toupper $name])]} { return $::objects($object,[string toupper $name]) }
  return {}
}

proc list_property {object args} {
  set names {}
  foreach {name value} [core_values $object] { lappend names CONFIG.$name }
  return $names
}

proc core_values {ip} {
  set values {}
  dict for {name default} [set ::properties([dict get $::core_of $ip])] {
    dict set values $name [lindex $default 0]
    if {[info exists ::objects($ip,CONFIG.$name)]} { dict set values $name $::objects($ip,CONFIG.$name) }
  }
  return $values
}

# ---------------------------------------------------------------- project
proc version {args} { return [world version] }
proc create_project {args} {
  note create_project {*}$args
  lassign [options {-part} $args] taken rest
  set ::project [lindex $rest 1]
  file mkdir $::project
  close [open $::project/[lindex $rest 0].xpr w]
}
proc open_project {args} {
  note open_project {*}$args
  set ::project [file dirname [lindex $args end]]
  # What an earlier step left.
  set ::ips {qdma_0 cmac_usplus_0}
  set ::core_of {qdma_0 qdma cmac_usplus_0 cmac_usplus}
  set ::runs {synth_1 impl_1 qdma_0_synth_1 cmac_usplus_0_synth_1}
}
proc current_project {args} { return project }
proc current_fileset {args} { return sources_1 }
proc get_filesets {args} { return [lindex $args end] }
proc get_files {args} { return [lindex $args end] }
proc get_parts {args} { return part }
proc add_files {args} {
  note add_files {*}$args
  lassign [options {-fileset} $args] taken rest
  foreach file [lindex $rest end] {
    if {![file exists $file]} { error "\[filemgmt 20-1741\] file $file does not exist" }
  }
}

# ---------------------------------------------------------------- cores
proc create_ip {args} {
  note create_ip {*}$args
  lassign [options {-name -vendor -library -module_name -dir -version} $args] taken rest
  set name [dict get $taken -module_name]
  lappend ::ips $name
  dict set ::core_of $name [dict get $taken -name]
  lappend ::runs ${name}_synth_1
}
proc get_ips {args} { expr {[llength $args] > 0 ? [lindex $args end] : $::ips} }
proc generate_target {args} {
  note generate_target {*}$args
  foreach ip $::ips { write_template $ip }
}
proc create_ip_run {args} { note create_ip_run {*}$args }

# The instantiation template, with the ports of the core as it is configured.
proc write_template {ip} {
  set core [dict get $::core_of $ip]
  set ports [dict create]
  foreach {condition list} [set ::${core}_ports] {
    if {$condition ne "always" && [get_property CONFIG.$condition $ip] ne "true"} { continue }
    foreach {name kind} $list { dict set ports $name $kind }
  }
  foreach {name kind} [world ports $core] {
    if {$kind eq ""} { dict unset ports $name } else { dict set ports $name $kind }
  }
  set folder $::project/weft_u50.gen/sources_1/ip/$ip
  file mkdir $folder
  set file [open $folder/$ip.veo w]
  puts $file "// IP VLNV: xilinx.com:ip:$core\n//----------- Begin Cut here for INSTANTIATION Template ---// INST_TAG\n$ip your_instance_name ("
  set lines {}
  dict for {name kind} $ports {
    set direction [expr {[string index $kind 0] eq "i" ? "input" : "output"}]
    set width [string range $kind 1 end]
    set range [expr {$width > 1 ? " \[[expr {$width - 1}] : 0\]" : ""}]
    lappend lines [list "  .${name}($name)" "// $direction wire$range $name"]
  }
  foreach line $lines {
    puts $file "[lindex $line 0][expr {$line eq [lindex $lines end] ? " " : ","}]    [lindex $line 1]"
  }
  puts $file ");\n// INST_TAG_END ------ End INSTANTIATION Template ---------"
  close $file
}

# ---------------------------------------------------------------- runs
proc get_runs {args} {
  lassign [options {-filter} $args] taken rest
  if {[llength $rest] == 0} { return $::runs }
  set found {}
  foreach pattern [concat {*}$rest] {
    foreach run $::runs {
      if {[string match $pattern $run] && $run ni $found && !([dict exists $taken -filter] && $run eq "synth_1")} { lappend found $run }
    }
  }
  return $found
}
proc create_run {args} {
  note create_run {*}$args
  lassign [options {-parent_run -flow -strategy -constrset} $args] taken rest
  lappend ::runs [lindex $rest 0]
  if {[dict exists $taken -strategy]} { set ::objects([lindex $rest 0],STRATEGY) [dict get $taken -strategy] }
}
proc launch_runs {args} {
  note launch_runs {*}$args
  lassign [options {-jobs -to_step} $args] taken rest
  foreach run [concat {*}$rest] {
    if {$run ni $::runs} { error "no run $run" }
    set strategy [get_property STRATEGY $run]
    set ends [dict merge {PROGRESS 100% STATS.WNS 0.05 STATS.WHS 0.01 STATS.TPWS 0.0 STATS.FAILED_NETS 0} [world runs $run] [world strategies $strategy]]
    dict for {name value} $ends { set ::objects($run,$name) $value }
  }
}
proc wait_on_run {args} { note wait_on_run {*}$args }
proc wait_on_runs {args} { note wait_on_runs {*}$args }
proc reset_run {args} { note reset_run {*}$args }
proc open_run {args} { note open_run {*}$args }

# ---------------------------------------------------------------- reports, and what they found
proc report {args} {
  note {*}$args
  lassign [options {-file -name -max_paths -delay_type -nworst -sort_by -hierarchical_depth} [lrange $args 1 end]] taken rest
  if {[dict exists $taken -return_string]} { return [world text [lindex $args 0]] }
}
foreach command {
  report_utilization report_cdc report_methodology report_drc report_timing report_timing_summary report_bus_skew report_clock_interaction
  report_power report_control_sets report_high_fanout_nets check_timing
} {
  proc $command {args} "report $command {*}\$args"
}
proc violations {report} {
  set found {}
  foreach severity [world violations $report] {
    set name "$report-[llength $found]"
    set ::objects($name,SEVERITY) $severity
    lappend found $name
  }
  return $found
}
proc get_cdc_violations {args} { violations cdc }
proc get_methodology_violations {args} { violations methodology }
proc get_drc_violations {args} { violations drc }
proc get_cells {args} {
  lassign [options {-filter} $args] taken rest
  set many [world cells]
  set found 0
  dict for {pattern count} $many {
    if {[dict exists $taken -filter] && [string match *$pattern* [dict get $taken -filter]]} { set found $count }
  }
  return [lrepeat $found cell]
}
proc get_timing_paths {args} { return {} }
proc write_xdc {args} {
  note write_xdc {*}$args
  set file [open [lindex $args end] w]
  puts $file [world text write_xdc]
  close $file
}

# ---------------------------------------------------------------- what is only written down
foreach command {
  synth_design opt_design place_design phys_opt_design route_design write_checkpoint write_bitstream write_cfgmem set_param update_compile_order
  close_project close_design
} {
  proc $command {args} "note $command {*}\$args"
}

foreach core {qdma cmac_usplus} {
  set properties($core) [set ${core}_properties]
  foreach {name value} [world properties $core] {
    if {$value eq ""} { dict unset properties($core) $name } else { dict set properties($core) $name $value }
  }
}
set core_of {}
array set objects {part,LUT_ELEMENTS 870720 part,FLIPFLOPS 1741440 part,BLOCK_RAMS 1344}

set argv0 $script
info script $script
if {[catch {uplevel #0 [list source $script]} message]} {
  puts stderr $message
  close $record
  exit 1
}
close $record
