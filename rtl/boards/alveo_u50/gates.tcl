# What a routed design has to be before a bitstream of it is written. Every report is in a file; what is counted here is a gate.

# Of the die that the card has, by UG949's guidelines for designs that close: shares of LUTs, registers, block RAMs.
set most {LUT 0.70 FF 0.50 BRAM 0.80}

proc count_severe {kind violations severities} {
  set severe 0
  foreach violation $violations {
    foreach severity $severities {
      if {[string match -nocase $severity [get_property SEVERITY $violation]]} { incr severe }
    }
  }
  puts "$kind: $severe severe of [llength $violations]"
  return $severe
}

# A number that a run has to tell.
proc stat {run name} {
  set value [get_property STATS.$name [get_runs $run]]
  if {![string is double -strict $value]} { error "$run tells no $name ('$value')" }
  return $value
}

# Complaints about the design that is open, from `run`; none, and it may be loaded.
proc gates {run out} {
  set wrong {}
  foreach {name what} {WNS setup WHS hold TPWS {pulse width}} {
    puts "$run, worst slack, $what: [stat $run $name] ns"
    if {[stat $run $name] < 0} { lappend wrong "$what is missed by [expr {-[stat $run $name]}] ns: $out/timing_paths.rpt" }
  }
  if {[stat $run FAILED_NETS] != 0} { lappend wrong "[stat $run FAILED_NETS] nets are not routed" }

  report_timing_summary -delay_type min_max -max_paths 20 -report_unconstrained -file $out/timing.rpt
  report_timing -max_paths 50 -nworst 1 -sort_by group -file $out/timing_paths.rpt
  report_bus_skew -file $out/bus_skew.rpt
  report_clock_interaction -file $out/clocks.rpt
  report_high_fanout_nets -timing -max_nets 50 -file $out/fanout.rpt
  report_control_sets -verbose -file $out/control_sets.rpt
  report_power -file $out/power.rpt

  # Two lines of which neither may be missing: a report that cannot be read is no clean one.
  set text [check_timing -verbose -return_string]
  foreach check {no_clock unconstrained_internal_endpoints} {
    if {![regexp "checking $check \\((\\d+)\\)" $text -> found]} {
      lappend wrong "check_timing says nothing of $check"
    } elseif {$found != 0} {
      lappend wrong "$check: $found"
    }
  }

  # Exceptions of the crossings are found by names: where a name is another, there are none, and nobody would say so.
  write_xdc -force $out/constraints.xdc
  set text [read_file $out/constraints.xdc]
  foreach {kind pattern} {{bus skew} {set_bus_skew} {largest delay} {set_max_delay[^\n]*-datapath_only} {false path} {set_false_path}} {
    set found [regexp -all $pattern $text]
    puts "crossings, $kind: $found exceptions"
    if {$found == 0} { lappend wrong "cdc.tcl found nothing for its $kind" }
  }
  report_cdc -details -file $out/cdc.rpt
  if {[count_severe "crossings" [get_cdc_violations] {*critical*}] > 0} { lappend wrong "a crossing outside of rtl/boards/cdc: $out/cdc.rpt" }
  report_methodology -file $out/methodology.rpt
  if {[count_severe "methodology" [get_methodology_violations] {*critical* error fatal}] > 0} { lappend wrong "methodology: $out/methodology.rpt" }
  report_drc -file $out/drc.rpt
  if {[count_severe "rules" [get_drc_violations] {*critical* error fatal}] > 0} { lappend wrong "design rules: $out/drc.rpt" }

  report_utilization -hierarchical -file $out/utilization.rpt
  foreach {kind filter has} {
    LUT {REF_NAME =~ LUT* && NAME =~ u_card/*} LUT_ELEMENTS
    FF {REF_NAME =~ FD* && NAME =~ u_card/*} FLIPFLOPS
    BRAM {REF_NAME =~ RAMB36* && NAME =~ u_card/*} BLOCK_RAMS
  } {
    set used [llength [get_cells -hierarchical -filter $filter]]
    # Two dies, one of which is the card's.
    set share [expr {2.0 * $used / [get_property $has [get_parts [get_property PART [current_project]]]]}]
    puts [format "card, %s: %d, %.0f %% of its die" $kind $used [expr {100 * $share}]]
    if {$used == 0} { lappend wrong "no $kind found in u_card" }
    if {$share > [dict get $::most $kind]} { lappend wrong [format "%s: %.0f %% of the card's die" $kind [expr {100 * $share}]] }
  }
  return $wrong
}
