# Modules for wrappers that no vendor owns; behind weft_card.f.
boards/cdc/reset_sync.sv
boards/cdc/bit_sync.sv
boards/cdc/word_sync.sv
boards/cdc/gray_sync.sv
boards/cdc/fifo_async.sv
boards/cdc/ram_2clk.sv
boards/mac/frame_fifo.sv
boards/mac/mac_rx_fifo.sv
boards/mac/mac_tx_fifo.sv
boards/pcie/write_whole.sv
boards/pcie/irq_request.sv
boards/pcie/flr_request.sv
boards/board_regs.sv
