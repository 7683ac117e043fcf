# Exceptions of the clock crossings, for Vivado: a constraints file of Tcl (XDC has no loops). For any board that uses rtl/boards/cdc.
#
# There are five kinds, each in one module of this folder. Nothing else is excepted, so that a crossing outside of them
# shows up as a violated path; report_cdc in build.tcl says the same. 3 ns: less than a cycle of the fastest clock.

# bit_sync: into the first register only. That one path has no requirement but to be short.
set_max_delay -datapath_only 3.000 -to [get_pins -hierarchical -filter {NAME =~ *sync_q_reg[0]*/D}] \
  -from [all_clocks]

# gray_sync: the bits of one count must arrive within a cycle of the source's clock of each other, or two would be seen to change at once.
foreach sync [get_cells -hierarchical -filter {ORIG_REF_NAME =~ gray_sync* || REF_NAME =~ gray_sync*}] {
  set_bus_skew 3.000 \
    -from [get_cells -hierarchical -filter "NAME =~ $sync/gray_q_reg*"] \
    -to   [get_cells -hierarchical -filter "NAME =~ $sync/u_sync/sync_q_reg\[0\]*"]
}

# word_sync: the word stands still from a cycle before its request is seen until after it was taken.
foreach word [get_cells -hierarchical -filter {ORIG_REF_NAME =~ word_sync* || REF_NAME =~ word_sync*}] {
  set_max_delay -datapath_only 3.000 \
    -from [get_cells -hierarchical -filter "NAME =~ $word/held_q_reg*"] \
    -to   [get_cells -hierarchical -filter "NAME =~ $word/taken_q_reg*"]
}

# fifo_async: its LUT RAM is written by one clock and read by the other, cycles later.
foreach fifo [get_cells -hierarchical -filter {ORIG_REF_NAME =~ fifo_async* || REF_NAME =~ fifo_async*}] {
  set_max_delay -datapath_only 3.000 \
    -from [get_cells -hierarchical -filter "NAME =~ $fifo/mem_reg* && PRIMITIVE_SUBGROUP == LUTRAM"] \
    -to   [get_cells -hierarchical -filter "NAME =~ [file dirname $fifo]/* && IS_SEQUENTIAL"]
}

# reset_sync: asserted whenever it likes, released through the registers.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *release_q_reg*/CLR}]
