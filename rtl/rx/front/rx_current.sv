// The packet to be decided, with its flow, row and position; and the packets behind it, of which these are read ahead.
//
// Handshake: `packet_ready_o` takes the packet at the head of the store's queue. `pop_i` comes only with `ready_o`. The payload request is
//            ready/valid. `same_o` compares the oldest walk of this cycle with the packet here, or the one that enters.
// Pipeline:  rx_next ─► rx_stand: the stages are there. Row and position are registers here, and count from Weigh on.
// Why:       An end of the packet's flow moves its position while it waits. `attached` alone is taken at once, as the rule of acceptance uses it last;
//            all else comes a cycle later (`ended_i`).

`include "weft_assert.svh"

module rx_current
  import rx_front_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic       packet_valid_i,
  output logic       packet_ready_o,
  input  rx_packet_t packet_i,

  output logic         payload_cmd_valid_o,
  input  logic         payload_cmd_ready_i,
  output payload_cmd_t payload_cmd_o,

  output logic               lookup_valid_o,
  output logic        [95:0] lookup_key_o,
  input  lookup_rsp_t        lookup_i,

  input  logic                state_busy_i,
  input  logic                state_changed_i,
  input  logic                hold_i,
  output logic                fetch_valid_o,
  output logic         [15:0] fetch_flow_o,
  input  flow_rx_row_t        fetch_row_i,
  input  rx_position_t        fetch_position_i,

  input logic                walk_empty_i,       // no segment is in the walk
  input logic         [15:0] oldest_flow_i,      // of the oldest one, a cycle ahead
  input logic                walk_ends_i,
  input logic         [15:0] walk_ends_flow_i,   // with it (assertions)
  input rx_position_t        finish_position_i,  // with it: where it leaves its flow
  input logic                ended_i,            // a cycle behind it, if it is of the packet's flow
  input rx_position_t        ended_position_i,
  input logic                weigh_again_i,
  input logic                direct_i,           // the packet is decided without a walk, which perhaps writes a position
  input logic                pop_i,

  output rx_current_t        current_o,
  output logic               frame_o,      // it is no replay
  output logic               bare_o,       // nothing but a report is made of it
  output logic        [15:0] flow_next_o,  // its flow in the next cycle
  output logic               same_o,       // the oldest walk is of its flow
  output logic               vacant_o,     // there is none
  output logic               weigh_o,
  output logic               ready_o,      // it may be decided
  output logic               idle_o        // nor one behind it
);

  rx_packet_t next_packet, packet;
  rx_segment_t entering;
  logic next_ready, next_here, next_hit, next_bare, next_seek, next_sent, next_answered, next_reads, next_read, load, fetch, latch, load_free_q;
  logic [15:0] next_flow, flow_d;
  logic [95:0] next_key;
  logic same_next_q, same_held_q;
  flow_rx_row_t row_q;
  rx_position_t position_q;
  logic [31:0] seq_end_q, walk_end_q;

  assign entering      = next_packet.segment;
  assign payload_cmd_o = '{start: next_packet.start, offset: entering.payload_start, len: entering.payload_len};

  // A verdict without a walk perhaps writes a position: what is read beside it is stale. An end's position is bypassed below.
  rx_next u_next (
    .clk_i,
    .rst_ni,
    .packet_valid_i,
    .packet_ready_o,
    .packet_i,
    .payload_ready_i (payload_cmd_ready_i),
    .payload_ask_o   (payload_cmd_valid_o),
    .payload_flush_i (direct_i),
    .seek_o          (next_seek),
    .key_o           (next_key),
    .sent_i          (next_sent),
    .answered_i      (next_answered),
    .lookup_hit_i    (lookup_i.hit),
    .lookup_flow_i   (lookup_i.flow),
    .lookup_changed_i(lookup_i.changed),
    .read_free_i     (next_reads),
    .read_stale_i    (direct_i),
    .ready_o         (next_ready),
    .packet_o        (next_packet),
    .here_o          (next_here),
    .hit_o           (next_hit),
    .bare_o          (next_bare),
    .flow_o          (next_flow),
    .read_o          (next_read),
    .load_i          (load)
  );

  // A replay continues where its flow's last one really ended, so it enters with an empty walk.
  rx_stand u_stand (
    .clk_i,
    .rst_ni,
    .next_ready_i    (next_ready),
    .next_packet_i   (next_packet),
    .next_hit_i      (next_hit),
    .next_flow_i     (next_flow),
    .next_bare_i     (next_bare),
    .load_o          (load),
    .next_seek_i     (next_seek),
    .next_key_i      (next_key),
    .next_sent_o     (next_sent),
    .next_answered_o (next_answered),
    .next_reads_o    (next_reads),
    .lookup_busy_i   (lookup_i.busy),
    .lookup_valid_o,
    .lookup_key_o,
    .lookup_rsp_i    (lookup_i.valid),
    .lookup_hit_i    (lookup_i.hit),
    .lookup_flow_i   (lookup_i.flow),
    .lookup_changed_i(lookup_i.changed),
    .state_busy_i,
    .state_changed_i,
    .hold_i,
    .fetch_valid_o   (fetch),
    .fetch_flow_o,
    .may_load_i      (load_free_q),
    .weigh_again_i,
    .pop_i,
    .packet_o        (packet),
    .flow_o          (current_o.flow),
    .flow_next_o     (flow_d),
    .known_o         (current_o.known),
    .vacant_o,
    .latch_o         (latch),
    .weigh_o,
    .ready_o
  );
  assign fetch_valid_o = fetch || next_read;
  assign flow_next_o   = flow_d;

  always_ff @(posedge clk_i) begin
    if (latch) begin
      row_q      <= fetch_row_i;
      position_q <= fetch_position_i;
    end
    if (walk_ends_i && same_o) position_q.attached <= finish_position_i.attached;
    if (ended_i) position_q <= ended_position_i;
    if (vacant_o) begin
      seq_end_q  <= entering.seq + 32'(entering.payload_len);
      // Nothing is placed at the FIN's own number (RFC 9293 §3.4).
      walk_end_q <= entering.seq + 32'(entering.payload_len) + 32'(!entering.replay && (entering.tcp_flags & TCP_FIN) != '0);
      frame_o    <= !entering.replay;
      bare_o     <= next_bare;
    end
    load_free_q <= !entering.replay || (vacant_o && walk_empty_i);
  end

  // Whether the oldest walk is of the flow of the packet here; if there is none, of the flow of the one that may enter.
  always_ff @(posedge clk_i) begin
    same_next_q <= oldest_flow_i == next_flow;
    same_held_q <= oldest_flow_i == flow_d;
  end
  assign same_o             = vacant_o ? same_next_q : same_held_q;

  assign current_o.packet   = packet;
  assign current_o.row      = row_q;
  assign current_o.position = position_q;
  assign current_o.seq_end  = seq_end_q;
  assign current_o.walk_end = walk_end_q;
  assign idle_o             = !packet_valid_i && !next_here && vacant_o;

  logic unused;
  assign unused = ^{entering, finish_position_i, walk_ends_flow_i};

`ifndef SYNTHESIS
  logic        ended_q;
  logic [15:0] ended_flow_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    ended_q      <= rst_ni && walk_ends_i;
    ended_flow_q <= walk_ends_flow_i;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(same_as_ever, walk_ends_i && (!vacant_o || load) -> same_o == (walk_ends_flow_i == (vacant_o ? next_flow : current_o.flow)))
  `WEFT_ASSERT(ended_of_it, ended_q && (!vacant_o || load) -> same_o == (ended_flow_q == (vacant_o ? next_flow : current_o.flow)))
  `WEFT_ASSERT(replay_alone, !vacant_o && !frame_o -> walk_empty_i)
  `WEFT_ASSERT(kind_told, ready_o -> frame_o == !packet.segment.replay && bare_o == is_bare(packet.segment))
`endif

endmodule
