#!/bin/sh
# rq_element by itself, to become a module test. pace LATENCY FLOWS CYCLES; stress LATENCY FLOWS ONE_BAD_OF +verilator+seed+N
set -e
here=$(cd "$(dirname "$0")" && pwd); rtl=$here/../../../rtl; out=${OUT:-/tmp/rq_stress}; mkdir -p "$out"
files="pkg/weft_card_pkg.sv pkg/weft_int_pkg.sv prim/ram_1r1w.sv prim/fifo_sync.sv stream/stream_rules.sv rx/walk/rq_answer.sv rx/walk/rq_ahead.sv rx/walk/rq_forget.sv rx/walk/rq_oldest.sv rx/walk/rq_request.sv rx/walk/rq_tail.sv rx/walk/rq_element.sv"
sources=""; for f in $files; do sources="$sources $rtl/$f"; done
for one in pace stress; do
  top=$([ $one = pace ] && echo tb || echo st)
  verilator --cc --exe --build --assert -O1 -Wno-fatal -Wno-lint -Wno-style -Wno-BLKANDNBLK -Wno-INITIALDLY --top-module $top --Mdir "$out/$one" $sources "$here/$one.sv" "$here/$one.cpp" >"$out/$one.log" 2>&1
done
for flows in 1 8 9 10 16 64 250; do for latency in 125 275; do echo "pace $latency $flows: $("$out/pace/Vtb" $latency $flows 9)"; done; done
for seed in 1 2 3; do for what in "60 12 40" "100 12 0" "30 3 20" "200 9 100"; do echo "stress $what, $seed: $("$out/stress/Vst" $what +verilator+seed+$seed)"; done; done
