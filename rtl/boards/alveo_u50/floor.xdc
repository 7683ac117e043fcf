# Where the parts of weft_u50 go. Two dies: SLR0 is clock regions Y0 to Y3, SLR1 Y4 to Y7. By documents, not yet read by Vivado: docs/boards.md.
#
#   SLR1   [ MAC: CMACE4_X0Y4, GTY quad X0Y7 (left) ]   both FIFOs
#   ------------------------------------------------ two registers each way, in the card's clock (die_crossing)
#   SLR0   [ the card ]              [ PCIe: PCIE4CE4_X1Y0, GTY quads X1Y0 to X1Y3 (right) ]

create_pblock pblock_card
add_cells_to_pblock pblock_card [get_cells {u_card u_pcie/u_write_whole u_pcie/u_read_pace u_pcie/u_bar_port u_board_regs}]
resize_pblock pblock_card -add SLR0

# The bridge stays near its block, in half of the die, and gives way where the card needs room.
create_pblock pblock_pcie
add_cells_to_pblock pblock_pcie [get_cells {u_pcie/u_qdma u_pcie/u_irq u_pcie/u_flr}]
resize_pblock pblock_pcie -add CLOCKREGION_X4Y0:CLOCKREGION_X7Y3
set_property IS_SOFT TRUE [get_pblocks pblock_pcie]

# All that has the MAC's clock, and the FIFOs with both. The whole die: of CMACE4_X0Y4 the die is known, and not the clock region.
create_pblock pblock_mac
add_cells_to_pblock pblock_mac [get_cells {u_mac/u_cmac u_mac/u_link_up u_mac/u_link u_mac/u_rx_fifo u_mac/u_tx_fifo u_mac/u_rx_reset u_mac/u_tx_reset u_far_rst}]
resize_pblock pblock_mac -add SLR1

# The registers on either side of the crossing.
create_pblock pblock_near
add_cells_to_pblock pblock_near [get_cells {u_tx_crossing/u_first u_rx_crossing/u_second}]
resize_pblock pblock_near -add SLR0
create_pblock pblock_far
add_cells_to_pblock pblock_far [get_cells {u_tx_crossing/u_second u_rx_crossing/u_first}]
resize_pblock pblock_far -add SLR1
