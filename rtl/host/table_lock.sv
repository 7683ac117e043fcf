// TABLE_LOCK: one of two ports may have the card's tables (docs/card.md "Ports").
//
// Handshake: `write_i` and `read_i` are pulses with an offset in BAR0. `lock_o`: the port has the lock, or nobody has. A read gives this bit, and
//            takes the lock.
// Pipeline:  held_q, owner_q: from the cycle behind the read on.
// Why:       A lock whose owner is gone (`off_i`) is free again.

module table_lock
  import weft_card_pkg::*;
#(
  parameter int unsigned PORTS = 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [PORTS-1:0] off_i,
  input  logic             write_i,
  input  logic [     15:0] write_offset_i,
  input  logic             read_i,
  input  logic [     15:0] read_offset_i,
  output logic [PORTS-1:0] lock_o
);

  if (PORTS == 1) begin : gen_no_lock
    assign lock_o = '0;
    logic unused;
    assign unused = ^{clk_i, rst_ni, off_i, write_i, write_offset_i, read_i, read_offset_i};
  end else begin : gen_lock
    localparam logic [15:0] SECOND = 16'h0100;
    logic held_q, owner_q;
    assign lock_o = {!held_q || owner_q, !held_q || !owner_q};

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {held_q, owner_q} <= '0;
      else if (held_q && off_i[owner_q]) held_q <= 1'b0;
      else if (write_i && write_offset_i == REG_TABLE_LOCK + (owner_q ? SECOND : '0)) held_q <= 1'b0;
      else if (read_i && read_offset_i == REG_TABLE_LOCK && lock_o[0]) {held_q, owner_q} <= 2'b10;
      else if (read_i && read_offset_i == REG_TABLE_LOCK + SECOND && lock_o[1]) {held_q, owner_q} <= 2'b11;
    end
  end

endmodule
