// The packet to be decided: its lookup, if a table was written, and the fetch of row and position.
//
// Handshake: `load_o` takes the packet that rx_next offers, when the place is vacant. `lookup_valid_o` is a pulse: the answer comes four cycles later,
//            row and position one cycle behind a read. `pop_i` comes only with `ready_o`. Without a stall a packet is ready three cycles after it
//            entered, a bare one or one of no flow after one cycle.
// Pipeline:    Empty ─► Weigh ─► Judge ─► Ready ─► (pop)        of a known flow
//                    └──────────────────► Ready                 of no flow, or bare
//              Look ─► Looking ─► Fetch ─► Latch ─► Weigh         again, behind a FLOW_KEY write
//            state         | meaning                                       | left when
//            Empty         | vacant                                        | the packet behind is ready; its row and position arrive
//            Look, Looking | the lookup is repeated: to be sent, in flight | it is answered
//            Fetch         | row and position are requested again          | not `hold_i`
//            Latch         | they arrive                                   | always
//            Weigh, Judge  | rx_accept works                               | not `weigh_again_i`
//            Ready         | may be decided                                | `pop_i`
// Why:       A table written meanwhile repeats what depends on it: FLOW_KEY the lookup, the others the fetch. vacant_o and ready_q are kept as
//            registers beside the state, because `pop_i` and the reasons to go back are late. The packet here is looked up first: it is asked of behind a
//            FLOW_KEY write alone, which has dropped all other lookups.

`include "weft_assert.svh"

module rx_stand
  import rx_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic              next_ready_i,     // the packet behind, as of rx_next
  input  rx_packet_t        next_packet_i,
  input  logic              next_hit_i,
  input  logic       [15:0] next_flow_i,
  input  logic              next_bare_i,
  output logic              load_o,
  input  logic              next_seek_i,      // its lookup
  input  logic       [95:0] next_key_i,
  output logic              next_sent_o,
  output logic              next_answered_o,
  output logic              next_reads_o,     // its row and position may be read in this cycle

  input  logic        lookup_busy_i,
  output logic        lookup_valid_o,
  output logic [95:0] lookup_key_o,
  input  logic        lookup_rsp_i,
  input  logic        lookup_hit_i,
  input  logic [15:0] lookup_flow_i,
  input  logic        lookup_changed_i,
  input  logic        state_busy_i,
  input  logic        state_changed_i,
  input  logic        hold_i,
  output logic        fetch_valid_o,     // the row and the position here are read in this cycle
  output logic [15:0] fetch_flow_o,

  input logic may_load_i,     // the packet behind may enter: a replay waits for an empty walk
  input logic weigh_again_i,  // it is not there yet where the flow's walks leave it
  input logic pop_i,          // the packet is decided

  output rx_packet_t        packet_o,
  output logic       [15:0] flow_o,
  output logic       [15:0] flow_next_o,  // flow_o of the next cycle
  output logic              known_o,      // the packet is of flow_o
  output logic              vacant_o,     // no packet is here
  output logic              latch_o,      // row and position arrive
  output logic              weigh_o,
  output logic              ready_o       // the packet may be decided
);

  typedef enum logic [2:0] {
    Empty,
    Look,
    Looking,
    Fetch,
    Latch,
    Weigh,
    Judge,
    Ready
  } phase_e;
  phase_e phase, phase_q, phase_d;  // phase_q means nothing while it is vacant: a pop is late, and ends in vacant_o alone
  logic may_look, look_again, fetch_again, weighed, load, turns_ready, stays_ready;
  logic popped_q, ready_q, looking_q, sent_q, needs_weighing;  // looking_q: phase_q == Looking; sent_q: a lookup, a cycle ago
  logic [15:0] flow_d;

  assign phase           = vacant_o ? Empty : phase_q;

  // ---------------------------------------------------------------- lookups
  assign may_look        = !sent_q && !lookup_busy_i && !state_busy_i && !lookup_changed_i;
  assign lookup_valid_o  = (phase == Look || next_seek_i) && may_look;
  assign lookup_key_o    = phase == Look ? packet_o.segment.key : next_key_i;
  assign next_sent_o     = phase != Look && next_seek_i && may_look;
  assign next_answered_o = lookup_rsp_i && phase != Looking;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sent_q <= 1'b0;
    else sent_q <= lookup_valid_o;
  end

  // ---------------------------------------------------------------- row, position
  assign load           = vacant_o && next_ready_i && may_load_i && !hold_i;
  assign load_o         = load;
  assign fetch_valid_o  = phase == Fetch && !hold_i;
  assign fetch_flow_o   = phase == Fetch ? flow_o : next_flow_i;
  assign next_reads_o   = phase != Fetch && !hold_i;
  assign flow_d         = vacant_o ? next_flow_i : looking_q ? lookup_flow_i : flow_o;

  assign needs_weighing = next_hit_i && !next_bare_i;

  // A table was written, or the packet was weighed too early.
  assign look_again     = packet_o.segment.is_tcp && lookup_changed_i;
  assign fetch_again    = known_o && state_changed_i;
  // `weigh_again_i` is late, and selects last.
  assign weighed        = phase inside {Weigh, Judge, Ready} && !look_again && !fetch_again && known_o;

  // The next phase without a pop, if the packet was not weighed too early.
  always_comb begin
    unique case (phase)
      Empty:   phase_d = !load ? Empty : needs_weighing ? Weigh : Ready;
      Look:    phase_d = may_look ? Looking : Look;
      Looking: phase_d = look_again ? Look : !lookup_rsp_i ? Looking : lookup_hit_i ? Fetch : Ready;
      Fetch:   phase_d = look_again ? Look : hold_i ? Fetch : Latch;
      Latch:   phase_d = look_again ? Look : fetch_again ? Fetch : Weigh;
      Weigh:   phase_d = look_again ? Look : fetch_again ? Fetch : Judge;
      Judge:   phase_d = look_again ? Look : fetch_again ? Fetch : Ready;
      Ready:   phase_d = look_again ? Look : fetch_again ? Fetch : Ready;
      default: phase_d = Empty;
    endcase
  end

  // The next phase is Ready, in a form that uses the late inputs last.
  assign turns_ready = (phase == Empty && load && !needs_weighing) || (phase == Looking && !look_again && lookup_rsp_i && !lookup_hit_i) ||
                       ((phase == Judge || phase == Ready) && !look_again && !known_o);
  assign stays_ready = (phase == Judge || phase == Ready) && !look_again && !fetch_again;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q   <= Empty;
      vacant_o  <= 1'b1;
      ready_q   <= 1'b0;
      looking_q <= 1'b0;
      popped_q  <= 1'b0;
      known_o   <= 1'b0;
    end else begin
      phase_q   <= weighed && weigh_again_i ? Weigh : phase_d;
      vacant_o  <= pop_i || (vacant_o && !load);
      looking_q <= (phase == Look && may_look) || (phase == Looking && !look_again && !lookup_rsp_i);
      ready_q   <= turns_ready || (stays_ready && !weigh_again_i);  // phase_q == Ready
      popped_q  <= pop_i;
      if (vacant_o) known_o <= next_hit_i;
      else if (phase == Look) known_o <= 1'b0;
      else if (phase == Looking && lookup_rsp_i) known_o <= lookup_hit_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (vacant_o) packet_o <= next_packet_i;
    flow_o <= flow_d;
  end

  assign flow_next_o = flow_d;
  assign latch_o     = vacant_o || phase == Latch;
  assign weigh_o     = phase == Weigh;
  assign ready_o     = ready_q && !popped_q;

  `WEFT_ASSERT(vacant_told, (vacant_o || phase_q != Empty) && ready_o == (phase == Ready))
  `WEFT_ASSERT(looking_told, looking_q == (phase_q == Looking))
  `WEFT_ASSERT(stood, pop_i -> ready_o)

endmodule
