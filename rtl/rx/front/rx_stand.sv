// The packet to be decided and the one behind it: their lookups, and the fetch of row and position of the first.
//
// Handshake: `packet_ready_o` takes the packet behind when the slot is vacant and its lookup is done. `payload_ask_o` requests its payload once, and
//            is held until `payload_ready_i`. `lookup_valid_o` and `fetch_valid_o` are pulses: the answers come four cycles and one cycle later.
//            `pop_i` comes only with `ready_o`. Without a stall a packet is ready four cycles after it entered, one of no flow after one cycle.
// Pipeline:    Empty ─► Latch ─► Weigh ─► Judge ─► Ready ─► (pop)        of a known flow
//                    └────────────────────────────► Ready                 of no flow
//              Look ─► Looking ─► Fetch ─► Latch                          again, behind a FLOW_KEY write
//            state         | meaning                                       | left when
//            Empty         | vacant                                        | the packet behind has its answer, and its payload is requested
//            Look, Looking | the lookup is repeated: to be sent, in flight | it is answered
//            Fetch         | row and position are requested again          | not `hold_i`
//            Latch         | they arrive                                   | always
//            Weigh, Judge  | rx_accept works                               | always
//            Ready         | may be decided                                | `pop_i`
//            seek_q of the packet behind: Seek to be looked up, Seeking in flight, Sought answered or no TCP.
// Why:       The lookup of the packet behind overlaps the decision on the one before. A table written meanwhile repeats what depends on it: FLOW_KEY
//            the lookup, the others the fetch. vacant_o and ready_q are kept as registers beside the state, because `pop_i` and the reasons to go
//            back are late.

`include "weft_assert.svh"

module rx_stand
  import rx_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic       packet_valid_i,
  output logic       packet_ready_o,
  input  rx_packet_t packet_i,
  input  logic       payload_ready_i,  // its payload may be requested
  output logic       payload_ask_o,
  input  logic       payload_flush_i,  // drops the request for the packet behind as well

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
  output logic        fetch_valid_o,
  output logic [15:0] fetch_flow_o,

  input logic may_load_i,     // the packet behind may enter: a replay waits for an empty walk
  input logic weigh_again_i,  // a known packet was weighed against an older position
  input logic pop_i,          // the packet is decided

  output rx_packet_t        packet_o,
  output logic       [15:0] flow_o,
  output logic              known_o,   // the packet is of flow_o
  output logic              vacant_o,  // no packet is here
  output logic              found_o,   // flow_o is lookup_flow_i of the cycle before
  output logic              latch_o,   // row and position arrive
  output logic              weigh_o,
  output logic              ready_o    // the packet may be decided
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
  typedef enum logic [1:0] {
    Seek,
    Seeking,
    Sought
  } seek_e;

  phase_e phase_q, phase_d;
  seek_e seek_q;
  logic again, seek, may_look, look_again, fetch_again, weigh_again, next_found, next_tcp_q, load, load_known, turns_ready, stays_ready;
  logic popped_q, ready_q, payload_set_q;
  logic [15:0] flow_d;

  // ---------------------------------------------------------------- the packet behind: flow
  // One lookup at a time; the packet here goes first.
  assign again          = phase_q == Look || phase_q == Looking;
  assign seek           = packet_valid_i && packet_i.segment.is_tcp && seek_q == Seek && !again;
  assign next_found     = seek_q == Sought || (seek_q == Seeking && lookup_rsp_i);
  assign may_look       = seek_q != Seeking && !lookup_busy_i && !state_busy_i && !lookup_changed_i;
  assign lookup_valid_o = (phase_q == Look || seek) && may_look;
  assign lookup_key_o   = phase_q == Look ? packet_o.segment.key : packet_i.segment.key;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seek_q <= Seek;
    else if (load || lookup_changed_i) seek_q <= Seek;
    else if (seek && lookup_valid_o) seek_q <= Seeking;
    else if (next_found || (packet_valid_i && !packet_i.segment.is_tcp)) seek_q <= Sought;
  end
  always_ff @(posedge clk_i) next_tcp_q <= packet_i.segment.is_tcp;

  // ---------------------------------------------------------------- the packet here: row, position
  // Its payload is requested, or it has none.
  assign load           = vacant_o && next_found && may_load_i && (payload_set_q || payload_ready_i) && !hold_i && !lookup_changed_i;
  assign load_known     = next_tcp_q && lookup_hit_i;
  assign packet_ready_o = load;
  assign fetch_valid_o  = (phase_q == Fetch && !hold_i) || load;
  assign fetch_flow_o   = vacant_o ? lookup_flow_i : flow_o;
  assign flow_d         = vacant_o || phase_q == Looking ? lookup_flow_i : flow_o;
  assign payload_ask_o  = packet_valid_i && packet_i.payload && !payload_set_q;

  // A table was written, or an end changed the position.
  assign look_again     = packet_o.segment.is_tcp && lookup_changed_i;
  assign fetch_again    = known_o && state_changed_i;
  assign weigh_again    = known_o && weigh_again_i;

  // The next phase without a pop.
  always_comb begin
    unique case (phase_q)
      Empty:   phase_d = !load ? Empty : load_known ? Latch : Ready;
      Look:    phase_d = may_look ? Looking : Look;
      Looking: phase_d = look_again ? Look : !lookup_rsp_i ? Looking : lookup_hit_i ? Fetch : Ready;
      Fetch:   phase_d = look_again ? Look : hold_i ? Fetch : Latch;
      Latch:   phase_d = look_again ? Look : fetch_again ? Fetch : Weigh;
      Weigh:   phase_d = look_again ? Look : fetch_again ? Fetch : weigh_again ? Weigh : Judge;
      Judge:   phase_d = look_again ? Look : fetch_again ? Fetch : weigh_again ? Weigh : Ready;
      Ready:   phase_d = look_again ? Look : fetch_again ? Fetch : weigh_again ? Weigh : Ready;
      default: phase_d = Empty;
    endcase
  end

  // phase_d == Ready, in a form that uses the late inputs last.
  assign turns_ready = (phase_q == Empty && load && !load_known) || (phase_q == Looking && !look_again && lookup_rsp_i && !lookup_hit_i) ||
                       ((phase_q == Judge || phase_q == Ready) && !look_again && !known_o);
  assign stays_ready = (phase_q == Judge || phase_q == Ready) && !look_again && !fetch_again;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q       <= Empty;
      vacant_o      <= 1'b1;
      ready_q       <= 1'b0;
      popped_q      <= 1'b0;
      known_o       <= 1'b0;
      payload_set_q <= 1'b0;
    end else begin
      phase_q  <= pop_i ? Empty : phase_d;
      vacant_o <= pop_i || (vacant_o && !load);  // phase_q == Empty
      ready_q  <= turns_ready || (stays_ready && !weigh_again_i);  // phase_q == Ready, or it was until a pop
      popped_q <= pop_i;
      if (vacant_o) known_o <= load_known;
      else if (phase_q == Look) known_o <= 1'b0;
      else if (phase_q == Looking && lookup_rsp_i) known_o <= lookup_hit_i;
      if (load || payload_flush_i) payload_set_q <= 1'b0;
      else if (packet_valid_i && payload_ready_i) payload_set_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (vacant_o) packet_o <= packet_i;
    flow_o  <= flow_d;
    found_o <= vacant_o || phase_q == Looking;
  end

  assign latch_o = phase_q == Latch;
  assign weigh_o = phase_q == Weigh;
  assign ready_o = ready_q && !popped_q;

  `WEFT_ASSERT(vacant_told, vacant_o == (phase_q == Empty) && ready_o == (phase_q == Ready))
  `WEFT_ASSERT(stood, pop_i -> ready_o)

endmodule
