// What of the packet here goes to the walk when it is started, and to the commit queue; and that a replay is alone there.
//
// Handshake: `start_i`, `direct_i` and `walk_ends_i` are pulses. `start_o` and `entry_o` count in the cycle of a start.
// Pipeline:  none. `wants_o` comes a cycle late: a packet behind it is not ready before this is told.
// Why:       A replay entered with an empty walk, and nothing starts before it has ended. A start comes three cycles behind its end at the earliest,
//            as behind any end that takes a raw slot. A replay itself needs none.

`include "weft_assert.svh"

module rx_start
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic                       frame_i,         // it is no replay
  input  logic                       port_i,
  // verilator lint_off UNUSEDSIGNAL
  input  rx_current_t                current_i,
  input  verdict_t                   verdict_i,
  input  rx_position_t               judged_i,        // the flow's position, as it was judged
  input  replay_t                    replay_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic                       chained_i,       // others of its flow are in the walk,
  input  logic                       in_walk_i,
  input  logic         [PLACE_W-1:0] behind_i,        // the youngest of them at this place
  input  logic         [PLACE_W-1:0] place_i,         // its own
  input  logic                       waits_i,         // it is to be walked, and not in this cycle
  input  logic                       start_i,
  input  logic                       direct_i,        // a verdict without a walk
  input  logic                       walk_ends_i,
  output logic                       no_replay_o,     // none is in the walk,
  output logic                       framed_o,        // and the packet here is none
  output segment_t                   start_o,
  output walking_t                   entry_o,
  output logic                       wants_o,
  output logic                       replay_start_o,
  output logic                       replay_flush_o
);
  // verilator lint_off UNUSEDSIGNAL
  rx_segment_t segment;
  // verilator lint_on UNUSEDSIGNAL
  logic markers, afresh, replaying_q;
  assign segment = current_i.packet.segment;
  assign markers = current_i.row.flags[FLOW_RX_ROW_MARKERS_BIT];
  assign afresh  = segment.replay && !replay_i.follows;

  always_comb begin
    start_o         = '0;
    start_o.chained = chained_i;
    start_o.behind  = behind_i;
    start_o.place   = place_i;
    start_o.flow    = current_i.flow;
    start_o.seq     = segment.seq;
    start_o.len     = segment.payload_len;
    start_o.row     = current_i.row;
    start_o.msn     = afresh ? replay_i.msn : current_i.position.msn;
    start_o.mo      = afresh ? replay_i.mo : current_i.position.mo;
    start_o.carries = current_i.row.flags[FLOW_RX_ROW_CARRY_BIT] && !current_i.row.flags[FLOW_RX_ROW_CHECK_ONLY_BIT] && frame_i;
    start_o.alone   = segment.alone && !markers;
    start_o.beyond  = verdict_i.beyond;
    // An FPDU begins where an island ends. Without markers the two ends have agreed that segments begin with FPDUs.
    start_o.certain = verdict_i.left.valid || !markers;
    start_o.left    = verdict_i.left;
    start_o.right   = verdict_i.right;
    start_o.island  = verdict_i.island;
    start_o.fin     = (segment.tcp_flags & TCP_FIN) != '0;
  end

  assign entry_o = '{
          packet: current_i.packet,
          walked: !verdict_i.report,
          behind: in_walk_i,
          attached: current_i.position.attached,
          port: port_i,
          flow : current_i.flow,
          epoch: current_i.row.epoch,
          beyond: verdict_i.beyond,
          gap: verdict_i.gap,
          seq_end: verdict_i.seq_end,
          window: current_i.position.window,
          ts_valid: verdict_i.stamps || judged_i.ts_valid,
          ts_recent: verdict_i.stamps ? segment.ts_val : judged_i.ts_recent
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {replaying_q, wants_o} <= '0;
    else begin
      wants_o <= waits_i && start_o.carries;
      if (start_i) replaying_q <= !frame_i;
      else if (walk_ends_i) replaying_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    no_replay_o <= !replaying_q;
    framed_o    <= !replaying_q && frame_i;
  end
  assign replay_start_o = start_i && !frame_i;
  assign replay_flush_o = direct_i && !frame_i;

  `WEFT_ASSERT(nobody_beside_a_replay, start_i -> !replaying_q)
endmodule
