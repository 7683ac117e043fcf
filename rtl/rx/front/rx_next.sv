// The packets behind the one to be decided: their lookups, the payload request, and the read of row and position ahead of their use.
//
// Handshake: `packet_ready_o` takes the head of the store's queue into the place here, in the cycle in which that is left as well. `ready_o` offers that
//            packet; `load_i` takes it, and row and position are on the memories' outputs in that cycle. `seek_o` asks for a lookup until `sent_i`;
//            answers come in the order of the requests. `payload_ask_o` requests the payload once, and is held until `payload_ready_i`.
// Pipeline:  cycle | registers                   | what happens                                                | hazards
//            0     | head_q                      | the queue's head is looked up                               | again behind `lookup_changed_i`
//            1     | packet_o, seek_q, payload_q | it stands here, its payload is requested                    | again behind `payload_flush_i`
//            4     | flow_q                      | the lookup's answer; row and position are read              | not with `hold_i`, nor a position that is
//                  |                             |                                                             | written for another reason than an end
//            5     |                             | `ready_o`: row and position stand at their memories' output |
// Why:       The head of the queue is looked up while the packet here waits or is looked up itself. Its answer stays at the lookup's output until it is
//            here, and is copied then: nobody asks meanwhile. A read that might be old is done again.

`include "weft_assert.svh"

module rx_next
  import rx_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic       packet_valid_i,
  output logic       packet_ready_o,
  input  rx_packet_t packet_i,
  input  logic       payload_ready_i,
  output logic       payload_ask_o,
  input  logic       payload_flush_i,  // requests of before are dropped

  output logic        seek_o,
  output logic [95:0] key_o,
  input  logic        sent_i,           // only with seek_o
  input  logic        answered_i,       // the answer to this module's oldest request
  input  logic        lookup_hit_i,     // held until the answer behind
  input  logic [15:0] lookup_flow_i,
  input  logic        lookup_changed_i, // all answers are void, and requests dropped

  input logic read_free_i,  // row and position of flow_o are read in this cycle
  input logic read_stale_i, // but perhaps written as well

  output logic              ready_o,
  output rx_packet_t        packet_o,
  output logic              here_o,    // packet_o is one
  output logic              hit_o,     // the packet is of flow_o
  output logic              bare_o,    // nothing but a report is to be made of it, whatever its flow stands at
  output logic       [15:0] flow_o,
  output logic              read_o,    // row and position are read in this cycle
  input  logic              load_i
);

  typedef enum logic [1:0] {
    Seek,     // to be looked up
    Seeking,  // in flight
    Sought    // answered
  } seek_e;
  seek_e seek_q, head_q, head_d;

  logic here_q, copied_q, tcp_q, bare_q, payload_q, read_q, first, open, moves, answered, found, lookup_hit_q;
  logic [15:0] flow_q;

  // ---------------------------------------------------------------- lookups: the packet here goes first
  assign open           = !here_q || load_i;
  assign packet_ready_o = open;
  assign moves          = packet_valid_i && open;
  assign first          = here_q && packet_o.segment.is_tcp && seek_q == Seek;
  assign seek_o         = first || (packet_valid_i && packet_i.segment.is_tcp && head_q == Seek);
  assign key_o          = first ? packet_o.segment.key : packet_i.segment.key;
  assign answered       = seek_q == Sought || (seek_q == Seeking && answered_i);
  assign found          = here_q && !lookup_changed_i && (answered || !packet_o.segment.is_tcp);

  // Of the queue's head, wherever it stands in the next cycle.
  always_comb begin
    head_d = head_q;
    if (sent_i && !first) head_d = Seeking;
    else if (answered_i && !(here_q && seek_q == Seeking)) head_d = Sought;
    if (lookup_changed_i) head_d = Seek;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      here_q    <= 1'b0;
      seek_q    <= Seek;
      head_q    <= Seek;
      copied_q  <= 1'b0;
      payload_q <= 1'b0;
      read_q    <= 1'b0;
    end else begin
      here_q <= moves || (here_q && !load_i);
      head_q <= moves ? Seek : head_d;
      if (open) seek_q <= head_d;
      else if (lookup_changed_i) seek_q <= Seek;
      else if (sent_i && first) seek_q <= Seeking;
      else if (answered) seek_q <= Sought;
      copied_q <= here_q && !load_i && answered && !lookup_changed_i;
      if (load_i || payload_flush_i) payload_q <= 1'b0;
      else if (here_q && payload_ready_i) payload_q <= 1'b1;
      read_q <= read_o && !read_stale_i && !load_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (open) packet_o <= packet_i;
    tcp_q  <= packet_o.segment.is_tcp;
    bare_q <= is_bare(packet_o.segment);
    if (!copied_q) {lookup_hit_q, flow_q} <= {lookup_hit_i, lookup_flow_i};
  end

  // ---------------------------------------------------------------- what is offered
  assign here_o        = here_q;
  assign flow_o        = copied_q ? flow_q : lookup_flow_i;
  assign hit_o         = tcp_q && (copied_q ? lookup_hit_q : lookup_hit_i);
  assign bare_o        = bare_q;
  assign payload_ask_o = here_q && packet_o.payload && !payload_q;
  assign read_o        = found && read_free_i;
  assign ready_o       = read_q && (payload_q || payload_ready_i || bare_q) && !lookup_changed_i;

  `WEFT_ASSERT(load_stood, load_i -> ready_o)
  `WEFT_ASSERT(read_here, read_q -> here_q && (seek_q == Sought || !tcp_q) && tcp_q == packet_o.segment.is_tcp && bare_q == is_bare(packet_o.segment))
  `WEFT_ASSERT(sent_asked, sent_i -> seek_o)
  `WEFT_ASSERT(answer_was_asked, answered_i && !lookup_changed_i -> (here_q && seek_q == Seeking) || head_q == Seeking)

endmodule
