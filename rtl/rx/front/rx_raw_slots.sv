// Slots of a port's raw ring: which frames may take one, and which is next.
//
// Handshake: No ready/valid pair. `take_i` takes `slot_o`. The `room_*` outputs are LATENCY cycles old and valid with `settled_o`.
// Pipeline:  cycle | registers                                     | what happens
//            1     | used_q, walks_q                               | slots in use
//            2     | with_walks_q, with_reserve_q, with_eighth_q   | the same with walks, reserve or the eighth
//            3     | room_o, room_any_o, room_walk_o, room_plain_o | compared with the size of the ring
// Why:       Frames of no flow leave RAW_RESERVE slots free, so that junk takes none from the flows. A segment is walked only with a slot reserved,
//            as its last FPDU may be partial. Frames that are not walked leave an eighth of the slots to segments that are.
//            *Credit by flow.* Slots are taken in *generations*. A new one begins at the ring's tail (`begin_o`) when the host has returned a slot
//            taken in the present one. A flow takes at most `share_o` slots of a generation for segments that are not walked: one in RAW_SHARE_PART,
//            or SHARE_LEAST of a small ring.
//            A flow holds two shares at most. Slots not returned are of the present generation or the one before: this one began when slots of that
//            one came back.
//            A flow never starves itself: once all slots are returned, a new generation begins, or none was taken in the present one.
//            The count that a flow has taken is beside its mark, which says whether the last of them is of this generation (rx_dispatch). A
//            generation begins in a cycle without a decision, and the next two have none either: each decision is counted in its own generation.
//            A ring set up anew (`cfg_i.reset`): `given_up_o` says in the next cycle how many slots of the old one were taken (`taken_o`). A new ring
//            has room for the segments in the walk: its owner sees to that.
//            `settled_o`: no slot was taken and no walk started in these cycles but perhaps in the last one. Nothing is decided in the cycle behind a
//            start or a take, so neither is considered in its own cycle. Only room that the host returned is seen late. Segments in the walk count
//            for every port, whichever they are of.

`include "weft_assert.svh"

module rx_raw_slots
  import weft_card_pkg::RAW_SHARE_LEAST;
  import weft_card_pkg::RAW_SHARE_PART;
  import weft_int_pkg::raw_cfg_t;
#(
  parameter  int unsigned WALKS       = 8,
  parameter  int unsigned SHARE_LEAST = RAW_SHARE_LEAST,
  localparam int unsigned LATENCY     = 3,
  localparam int unsigned COUNT_W     = $clog2(WALKS + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // verilator lint_off UNUSEDSIGNAL
  input  raw_cfg_t               cfg_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic     [       31:0] reserve_i,
  input  logic                   closed_i,     // level: no slot is given, nor reserved
  input  logic     [COUNT_W-1:0] walks_i,      // segments in the walk
  input  logic                   start_i,      // a walk starts
  input  logic                   own_i,        // the start is of this port (assertions)
  input  logic                   needless_i,   // the segment never needs a slot, as of a cycle ago
  input  logic                   take_i,       // slot_o is taken
  output logic                   settled_o,
  output logic     [       15:0] begin_o,      // the first slot of this generation
  output logic     [       10:0] share_o,      // slots that a flow may take of it
  output logic     [       15:0] slot_o,
  output logic     [       15:0] tail_o,       // number of that slot since the ring was set up
  output logic     [       15:0] behind_o,     // number of the slot behind it
  output logic                   given_up_o,
  output logic     [       15:0] taken_o,
  output logic                   room_o,       // for a segment of a flow that is not walked: leaves the eighth
  output logic                   room_any_o,   // any slot is free
  output logic                   room_walk_o,  // for one more in the walk
  output logic                   room_plain_o  // for a frame of no flow
);

  logic [15:0] behind_q, begin_q, given_q;  // given_q: slots of this generation that came back, two cycles late
  logic [10:0] share_q;
  logic [31:0] share_rest;  // of the ring's size less one
  logic ends, ends_q, begun_q;  // ends: this generation ends in the next cycle, ends_q: in this one; begun_q: a new one has just begun
  logic [31:0] tail_q, used_q, plain_used_q, slot_mask_q;
  logic [32:0] with_walks_q, with_reserve_q, with_eighth_q;
  logic [COUNT_W-1:0] walks_q;
  logic [LATENCY-2:0] recent_q;  // of the cycles before this one
  logic               recent;

  assign slot_o     = tail_q[15:0] & slot_mask_q[15:0];
  assign tail_o     = tail_q[15:0];
  assign behind_o   = behind_q;
  assign begin_o    = begin_q;
  assign share_o    = share_q;
  assign recent     = start_i || take_i || ends_q || cfg_i.reset;
  assign share_rest = slot_mask_q / RAW_SHARE_PART;
  assign ends       = !ends_q && !begun_q && !given_q[15] && given_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q     <= '0;
      behind_q   <= 16'd1;
      recent_q   <= '1;
      settled_o  <= 1'b0;
      given_up_o <= 1'b0;
    end else begin
      if (cfg_i.reset) begin
        tail_q   <= '0;
        behind_q <= 16'd1;
      end else if (take_i) begin
        tail_q   <= tail_q + 32'd1;
        behind_q <= behind_q + 16'd1;
      end
      given_up_o <= cfg_i.reset;
      recent_q   <= {recent_q[LATENCY-3:0], recent};
      settled_o  <= recent_q == '0 && !ends && !ends_q && !cfg_i.reset;
    end
  end

  always_ff @(posedge clk_i) taken_o <= take_i ? behind_q : tail_q[15:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begin_q <= '0;
      given_q <= '0;
      ends_q  <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      given_q <= cfg_i.head[15:0] - begin_q;
      ends_q  <= ends && !cfg_i.reset;
      begun_q <= ends_q || cfg_i.reset;
      if (cfg_i.reset) begin_q <= '0;
      else if (ends_q) begin_q <= tail_q[15:0];
    end
  end

  // The number of slots is a power of two: a number is below it if no bit above its mask is set.
  always_ff @(posedge clk_i) begin
    slot_mask_q    <= (32'd1 << cfg_i.count_log2[4:0]) - 32'd1;
    used_q         <= tail_q - cfg_i.head;
    walks_q        <= walks_i;
    plain_used_q   <= used_q;
    room_any_o     <= !closed_i && (plain_used_q & ~slot_mask_q) == '0;
    with_walks_q   <= 33'(used_q) + 33'(walks_q);
    with_reserve_q <= 33'(used_q) + 33'(reserve_i);
    with_eighth_q  <= 33'(used_q) + 33'((slot_mask_q + 32'd1) >> 3);
    share_q        <= share_rest < SHARE_LEAST - 1 ? 11'(SHARE_LEAST) : 11'(share_rest) + 11'd1;
    room_o         <= !closed_i && (with_eighth_q & {1'b1, ~slot_mask_q}) == '0;
    room_walk_o    <= !closed_i && (needless_i || (with_walks_q & {1'b1, ~slot_mask_q}) == '0);
    room_plain_o   <= !closed_i && (with_reserve_q & {1'b1, ~slot_mask_q}) == '0;
  end

  logic unused_own;
  assign unused_own = own_i;

`ifndef SYNTHESIS
  // By another way, without the latency.
  logic [31:0] used, slots;
  assign used  = tail_q - cfg_i.head;
  assign slots = 32'd1 << cfg_i.count_log2[4:0];
  `WEFT_ASSERT(room_is_there, take_i -> used < slots || cfg_i.reset)
  `WEFT_ASSERT(behind_told, behind_q == tail_q[15:0] + 16'd1)
  `WEFT_ASSERT(not_at_once, start_i -> !recent_q[0])
  `WEFT_ASSERT(settled_generation, settled_o -> !ends_q && !begun_q)
  `WEFT_ASSERT(walk_has_slot, start_i && own_i && !needless_i -> used + 32'(walks_i) < slots || cfg_i.reset)
`endif

endmodule
