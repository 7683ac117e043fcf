// A replay (docs/card.md "Replays"): bytes that transmit has read from host memory go to the walk as the payload of a segment.
//
// Handshake: The input is held by transmit until the replay is decided, then taken one beat a cycle, from the cycle behind its start on. `about_i` is
//            valid with the first beat, for rx_dispatch as well. One replay at a time. `start_i` and `flush_i` are pulses.
// Pipeline:  None: the data path is combinational, as the input comes from registers of transmit.
//            transmit ─► its place in the store's queue ─► rx_dispatch: started, or refused
//                   └──► held ─► walk, or discarded

`include "weft_assert.svh"

module rx_replay
  import rx_front_pkg::*;
  import weft_int_pkg::replay_t;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                   valid_i,  // from transmit
  output logic                   ready_o,
  input  logic    [  DATA_W-1:0] data_i,
  input  logic    [DATA_W/8-1:0] keep_i,
  input  logic                   last_i,
  // verilator lint_off UNUSEDSIGNAL
  input  replay_t                about_i,  // fields not used here go from transmit to rx_dispatch
  // verilator lint_on UNUSEDSIGNAL

  output logic        place_valid_o,  // to the store's queue, once for each replay
  input  logic        place_ready_i,
  output rx_segment_t segment_o,

  input logic start_i,  // pulses: the replay is started, or refused
  input logic flush_i,

  // Payload of frames, and the payload to the walk.
  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,
  output logic               walk_valid_o,
  input  logic               walk_ready_i,
  output logic [ DATA_W-1:0] walk_data_o,
  output logic [COUNT_W-1:0] walk_count_o,
  output logic               walk_last_o,

  output logic stall_o,
  output logic idle_o
);

  // Offer: a place in the queue is requested. Wait: it is to be decided. Pass: its beats go to the walk. Drain: it was refused.
  typedef enum logic [1:0] {
    Offer,
    Wait,
    Pass,
    Drain
  } state_e;

  state_e state_q, state_d;
  logic pass, taken;
  logic [COUNT_W-1:0] count;

  assign pass          = state_q == Pass;
  assign ready_o       = state_q == Drain || (pass && walk_ready_i);
  assign taken         = valid_i && ready_o;
  assign place_valid_o = state_q == Offer && valid_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Offer:       if (place_valid_o && place_ready_i) state_d = Wait;
      Wait:        if (flush_i) state_d = Drain;
 else if (start_i) state_d = Pass;
      Pass, Drain: if (taken && last_i) state_d = Offer;
      default:     state_d = Offer;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Offer;
    else state_q <= state_d;
  end

  always_comb begin
    segment_o             = '0;
    segment_o.is_tcp      = 1'b1;
    segment_o.replay      = 1'b1;
    segment_o.key         = about_i.key;
    segment_o.seq         = about_i.seq;
    segment_o.payload_len = about_i.bytes;
  end

  // Bytes of the beat: the highest set bit of keep.
  always_comb begin
    count = '0;
    for (int unsigned i = 0; i < DATA_W / 8; i++) begin
      if (keep_i[i] && (i == DATA_W / 8 - 1 || !keep_i[(i+1)%(DATA_W/8)])) count |= COUNT_W'(i + 1);
    end
  end

  // No frame's payload on `pl_*` is then of a segment that was started.
  assign walk_valid_o = pass ? valid_i : pl_valid_i;
  assign walk_data_o  = pass ? data_i : pl_data_i;
  assign walk_count_o = pass ? count : pl_count_i;
  assign walk_last_o  = pass ? last_i : pl_last_i;
  assign pl_ready_o   = walk_ready_i && !pass;
  assign stall_o      = valid_i && !ready_o;
  assign idle_o       = state_q == Offer && !valid_i;

  `WEFT_STREAM(u_rules, valid_i, ready_o, {last_i, data_i})
  `WEFT_ASSERT(decided_once, flush_i || start_i -> state_q == Wait && !(flush_i && start_i))

endmodule
