pkg/weft_card_pkg.sv
pkg/weft_int_pkg.sv
prim/ram_1r1w.sv
prim/fifo_sync.sv
