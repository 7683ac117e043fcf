// The raw slots of all ports, for rx_dispatch: whether there is room, and whether the flow has taken its share (rx_raw_slots).
//
// Handshake: No ready/valid pair. `fresh` and `spent` follow `mark_i` and `taken_i` by two cycles.
// Pipeline:  two registers; all else of `room_o` is that of rx_raw_slots.
// Why:       Position, tail and generation are constant for longer than that when the flow is decided (`settled_o`).

`include "weft_assert.svh"

module rx_raw_room
  import rx_front_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned WALKS       = 8,
  parameter  int unsigned PORTS       = 1,
  parameter  int unsigned SHARE_LEAST = 8,
  localparam int unsigned COUNT_W     = $clog2(WALKS + 1)
) (
  input logic                       clk_i,
  input logic                       rst_ni,
  // verilator lint_off UNUSEDSIGNAL
  input rx_cfg_t                    cfg_i,
  // verilator lint_on UNUSEDSIGNAL
  input logic         [  PORTS-1:0] closed_i,     // level: a port takes nothing more
  input logic         [COUNT_W-1:0] walks_i,      // segments in the walk
  input logic                       start_i,      // a walk starts
  input logic                       needless_i,   // the segment never needs a slot
  input logic                       port_i,       // of what is decided
  input logic                       take_i,       // a slot is taken
  input logic                       take_port_i,  // of this port
  input logic         [       15:0] mark_i,
  input logic         [       10:0] taken_i,
  // verilator lint_off UNUSEDSIGNAL
  input logic                       used_i,       // a decision is made (assertions)
  input rx_position_t               position_i,   // position of its flow then
  // verilator lint_on UNUSEDSIGNAL

  output raw_room_t              room_o,
  output raw_count_t [PORTS-1:0] count_o
);

  logic [PORTS-1:0] settled, room, room_any, room_walk, room_plain;
  logic [PORTS-1:0][15:0] slot, behind, begins, tail;
  logic fresh_q, spent_q;
  logic [PORTS-1:0][10:0] share;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    rx_raw_slots #(
      .WALKS      (WALKS),
      .SHARE_LEAST(SHARE_LEAST)
    ) u_slots (
      .clk_i,
      .rst_ni,
      .cfg_i       (cfg_i.raw[p]),
      .reserve_i   (p == 0 ? cfg_i.raw_reserve : '0),
      .closed_i    (closed_i[p]),
      .walks_i,
      .start_i,
      .own_i       (port_i == 1'(p)),
      .needless_i,
      .take_i      (take_i && take_port_i == 1'(p)),
      .settled_o   (settled[p]),
      .begin_o     (begins[p]),
      .share_o     (share[p]),
      .slot_o      (slot[p]),
      .tail_o      (tail[p]),
      .behind_o    (behind[p]),
      .room_o      (room[p]),
      .room_any_o  (room_any[p]),
      .room_walk_o (room_walk[p]),
      .room_plain_o(room_plain[p]),
      .given_up_o  (count_o[p].given_up),
      .taken_o     (count_o[p].taken)
    );
    assign count_o[p].tail = tail[p];
  end

  logic of_port, of_take;  // as an index
  assign of_port = PORTS != 1 && port_i;
  assign of_take = PORTS != 1 && take_port_i;
  assign room_o = '{
          settled: &settled,
          fresh: fresh_q,
          spent: spent_q,
          room: room[of_port],
          any: room_any[of_port],
          walk: room_walk[of_port],
          plain: room_plain[0],
          slot: slot[of_take],
          plain_slot: slot[0],
          behind: behind[of_take]
      };

  // Whether the mark is in begin + 1 .. tail, modulo 2^16: then the flow has taken slots of this generation.
  logic after_begin_q, in_tail_q, wraps_q, fresh;
  logic [10:0] taken_q;
  assign fresh = !(wraps_q ? after_begin_q || in_tail_q : after_begin_q && in_tail_q);
  always_ff @(posedge clk_i) begin
    after_begin_q <= mark_i > begins[of_port];
    in_tail_q     <= mark_i <= tail[of_port];
    wraps_q       <= tail[of_port] < begins[of_port];
    taken_q       <= taken_i;
    fresh_q       <= fresh;
    spent_q       <= !fresh && taken_q >= share[of_port];
  end

  logic unused;
  assign unused = ^room_plain;

`ifndef SYNTHESIS
  // By another way, without the latency.
  logic fresh_now;
  assign fresh_now = position_i.mark - begins[of_port] - 16'd1 >= tail[of_port] - begins[of_port];
  `WEFT_ASSERT(credit_told, used_i -> fresh_q == fresh_now && spent_q == (!fresh_now && position_i.taken >= share[of_port]))
`endif

endmodule
