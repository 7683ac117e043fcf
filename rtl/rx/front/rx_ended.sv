// Where the end of a walk leaves its flow: for the table at once, and a cycle later for the packet that dispatch holds.
//
// Handshake: Pulses only. `position_o` is valid with `finish_i`; `ended_o` and `ended_position_o` come in the next cycle.
// Pipeline:  one register.
// Why:       `finish_i` is late, so nothing wide depends on it. An ATTACH kept for the flow (`kept_*`) takes precedence, but for mark and credit,
//            which are the card's alone. It is constant for at least two cycles before an end.

`include "weft_assert.svh"

module rx_ended
  import rx_front_pkg::*;
  import walk_pkg::STOP_WHOLE;
#(
  parameter  int unsigned WALKS   = 8,
  localparam int unsigned INDEX_W = $clog2(WALKS)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                       finish_i,
  input  logic         [INDEX_W-1:0] head_i,        // of this place in the walk
  // verilator lint_off UNUSEDSIGNAL
  input  oldest_t                    oldest_i,
  input  logic         [       15:0] mark_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic         [  WALKS-1:0] kept_valid_i,
  input  rx_position_t               kept_i,        // for the oldest walk
  output rx_position_t               position_o,

  input  logic         same_i,           // the oldest walk a cycle ago is of the flow of dispatch's packet
  output logic         ended_o,          // a walk of that flow ended a cycle ago
  output rx_position_t ended_position_o
);

  logic kept_valid_q, ended_q;
  rx_position_t kept_q;

  always_comb begin
    // A replay leaves its flow detached.
    position_o = '{
        attached: oldest_i.done.stop == STOP_WHOLE && !oldest_i.segment.packet.segment.replay,
        gap: oldest_i.done.stop == STOP_WHOLE && oldest_i.segment.gap && !oldest_i.segment.packet.segment.replay,
        ts_valid: oldest_i.segment.ts_valid,
        taken: oldest_i.taken,
        mark: mark_i,
        rcv_nxt: oldest_i.done_end,
        msn: oldest_i.done.msn,
        mo: oldest_i.done.mo,
        ts_recent: oldest_i.segment.ts_recent,
        window: oldest_i.segment.window
    };
    if (kept_valid_q) begin
      position_o       = kept_q;
      position_o.taken = oldest_i.taken;
      position_o.mark  = mark_i;
    end
  end

  assign ended_o = ended_q && same_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ended_q <= 1'b0;
    else ended_q <= finish_i;
  end
  always_ff @(posedge clk_i) begin
    kept_valid_q     <= kept_valid_i[head_i];
    kept_q           <= kept_i;
    ended_position_o <= position_o;
  end

  `WEFT_ASSERT(kept_stood, finish_i -> kept_valid_q == kept_valid_i[head_i] && (!kept_valid_q || kept_q == kept_i))
  `WEFT_ASSERT(one_at_a_time, !(finish_i && ended_q))

endmodule
