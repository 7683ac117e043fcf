// Progress of a segment's walk: next MSN and MO of queue 0, where it stopped, whether an FPDU is for the engine; and its `done`.
//
// Handshake: `begin_i` and `end_i` are pulses, `end_i` two cycles behind `begin_i` at least. `done_valid_o` waits for `done_ready_i`: the operation
//            pushed last is taken. `stop_o`, `msn_o` and `mo_o` are valid from the cycle behind `begin_i`.
// Pipeline:  one register; MSN and MO follow `end_i` by one more. What each segment leaves is kept by its place (`left`).
// Why:       A chained segment continues where another of its flow ended; if that was not walked whole, it is not walked at all. If that one was the last
//            to end, its values are still in the registers.

`include "weft_assert.svh"

module walk_progress
  import walk_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic               begin_i,       // an FPDU of this segment begins
  input logic               set_i,         // from here on MSN and MO are these
  input logic        [31:0] set_msn_i,
  input logic        [31:0] set_mo_i,
  input logic               leaves_i,      // the segment leaves these behind, where its walk does not stop
  input logic        [31:0] leaves_msn_i,
  input logic        [31:0] leaves_mo_i,
  input logic               seg_valid_i,
  input segment_t           seg_i,
  input logic               end_i,         // the FPDU is finished
  input ddp_header_t        header_i,
  input logic               bad_i,         // the FPDU has an error
  input logic        [15:0] offset_i,      // signed: negative if it began before the segment
  input logic               partial_i,
  input logic               kept_i,        // with partial_i: it is carried
  input logic               cut_i,         // neither the FPDU nor what follows it is walked
  input logic               seg_last_i,

  output stop_e        stop_o,      // from the cycle after `begin_i`
  output logic  [31:0] msn_o,       // likewise
  output logic  [31:0] mo_o,
  output logic  [31:0] msn_more_o,  // two cycles after: what follows the FPDU if its message ends with it
  output logic  [31:0] mo_more_o,   // or does not

  input  logic       done_ready_i,
  output logic       done_pending_o,
  output logic       done_valid_o,
  output walk_done_t done_o,
  output logic       carried_o,       // pulse: a segment's last FPDU is carried
  output logic       full_o           // pulse: there was no room to carry it
);
  logic first_q, engine_q, engine_d, ended_q, counts_q, last_q, replaces_q, carried;
  stop_e stop_q, stop_d;
  logic [15:0] offset_q, stop_at_q;  // in the segment
  logic [31:0] msn_q, msn_d, mo_q, mo_d, msn_more_q, mo_more_q;

  always_comb begin
    stop_d   = stop_q;
    engine_d = engine_q;
    if (stop_q == STOP_WHOLE) begin
      if (cut_i) stop_d = STOP_NOT_WALKED;
      else if (partial_i) stop_d = kept_i ? STOP_WHOLE : STOP_PARTIAL;
      else if (bad_i) stop_d = STOP_ERROR;
      else engine_d = engine_q || header_i.kind == CLASS_ENGINE;
      // What is carried goes up as well: the engine needs it if the card cannot finish it.
      if (carried) engine_d = 1'b1;
    end
  end
  assign carried = stop_q == STOP_WHOLE && !cut_i && partial_i && kept_i;

  // `end_i` is late, so MSN and MO follow a cycle behind it. The next FPDU uses them behind its `begin_i`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ended_q <= 1'b0;
    else ended_q <= end_i;
  end
  always_ff @(posedge clk_i) begin
    counts_q   <= stop_q == STOP_WHOLE && !cut_i && !partial_i && !bad_i && header_i.kind == CLASS_RECEIVE;
    last_q     <= header_i.last;
    // Beyond a gap the flow stays where it is, however the walk ends.
    replaces_q <= leaves_i && seg_last_i && (seg_i.beyond || stop_d == STOP_WHOLE);
  end
  always_comb begin
    msn_d = msn_q;
    mo_d  = mo_q;
    if (counts_q) begin
      if (last_q) msn_d = msn_more_q;
      mo_d = last_q ? 32'd0 : mo_more_q;
    end
    if (replaces_q) {msn_d, mo_d} = {leaves_msn_i, leaves_mo_i};
  end

  // What a segment leaves, by its place: written in the cycle behind its end, and read by another one's first FPDU, which waits longer.
  typedef struct packed {
    logic        whole;
    logic [31:0] msn;
    logic [31:0] mo;
  } left_t;
  left_t               left                                       [1 << PLACE_W];
  left_t               of_behind;
  logic  [PLACE_W-1:0] place_q;  // of the segment that ended last
  logic                adjacent;

  assign adjacent  = seg_i.behind == place_q;
  assign of_behind = left[seg_i.behind];
  always_ff @(posedge clk_i) begin
    if (end_i) place_q <= seg_i.place;
    if (ended_q && first_q) left[place_q] <= '{whole: stop_q == STOP_WHOLE, msn: msn_d, mo: mo_d};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      stop_q  <= STOP_WHOLE;
    end else if (begin_i) begin
      first_q <= 1'b0;
      if (first_q) stop_q <= seg_i.chained && !(adjacent ? stop_q == STOP_WHOLE : of_behind.whole) ? STOP_NOT_WALKED : STOP_WHOLE;
    end else if (end_i) begin
      first_q <= seg_last_i;
      stop_q  <= stop_d;
    end
  end

  // `end_i` comes two cycles behind `begin_i` at least.
  always_ff @(posedge clk_i) begin
    offset_q   <= offset_i[15] ? '0 : offset_i;
    msn_more_q <= msn_q + 32'd1;
    mo_more_q  <= mo_q + 32'(header_i.payload_len);
  end
  always_ff @(posedge clk_i) begin
    if (begin_i && first_q) engine_q <= 1'b0;
    else if (end_i) engine_q <= engine_d;
    // Where the walk stops, if it does.
    if (begin_i && first_q) stop_at_q <= 16'd0;
    else if (stop_q == STOP_WHOLE) stop_at_q <= offset_q;
    // `begin_i`, which is late, makes the values count.
    if (first_q && seg_valid_i && !(seg_i.chained && adjacent)) begin
      msn_q <= seg_i.chained ? of_behind.msn : seg_i.msn;
      mo_q  <= seg_i.chained ? of_behind.mo : seg_i.mo;
    end else if (set_i) begin
      msn_q <= set_msn_i;
      mo_q  <= set_mo_i;
    end else if (ended_q) begin
      msn_q <= msn_d;
      mo_q  <= mo_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {carried_o, full_o} <= '0;
    else {carried_o, full_o} <= {end_i && carried, end_i && stop_q == STOP_WHOLE && stop_d == STOP_PARTIAL && seg_i.carries && !seg_i.fin};
  end

  logic done_q, done_engine_q;
  logic  [15:0] done_len_q;
  stop_e        done_stop_q;
  logic [31:0] done_msn_q, done_mo_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_q <= 1'b0;
    else if (done_ready_i) done_q <= end_i && seg_last_i;
  end
  always_ff @(posedge clk_i) begin
    if (done_ready_i) begin
      done_len_q    <= stop_d == STOP_WHOLE && !carried ? seg_i.len : (stop_q == STOP_WHOLE ? offset_q : stop_at_q);
      done_stop_q   <= stop_d;
      done_engine_q <= engine_d;
    end
    // For a done that waits longer than a cycle.
    if (ended_q) begin
      done_msn_q <= msn_d;
      done_mo_q  <= mo_d;
    end
  end

  assign stop_o = stop_q;
  assign msn_o = msn_q;
  assign mo_o = mo_q;
  assign msn_more_o = msn_more_q;
  assign mo_more_o = mo_more_q;
  assign done_pending_o = done_q;
  assign done_valid_o = done_q && done_ready_i;
  assign done_o = '{
          len: done_len_q,
          stop: done_stop_q,
          engine: done_engine_q,
          msn: ended_q ? msn_d : done_msn_q,
          mo: ended_q ? mo_d : done_mo_q
      };

  logic unused;
  assign unused = ^{header_i, seg_i};

  // A done would be lost otherwise.
  `WEFT_ASSERT(done_fits, end_i -> done_ready_i && !begin_i && !first_q)
  `WEFT_ASSERT(offset_told, end_i -> offset_q == (offset_i[15] ? '0 : offset_i))
  `WEFT_ASSERT(more_told, end_i -> msn_more_q == msn_q + 32'd1 && mo_more_q - mo_q == 32'(header_i.payload_len))
endmodule
