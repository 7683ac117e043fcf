// FPDUs over the ends of segments, in order: the octets of an FPDU that its segment does not end go before the flow's next segment.
//
// Handshake: ready/valid for payload at both ends, as at walk_framer. `start_ready_o` waits for no valid: `wants_i`, a level, tells that the start is of
//            a flow that carries, and will come once it can. Another start passes in its cycle; so do beats of segments before which nothing is put.
//            `start_i.flow` stands from the cycle before a start on. `keeps_o` is of the cycle of a framed beat. `left_i` is a pulse.
// Pipeline:  state | registers                 | what happens                                       | left when
//            Pass  | match_q, free_q, same_q   | starts and payload pass; of a start that is wanted | nothing is before it any more, or will be in the
//                  |                           | the flow's place is looked for, or a free one      | next cycle
//            Issue | carry_q, place_q          | the start may come: it is of what is carried and   | it has: Feed, or Pass with nothing carried
//                  |                           | the segment                                        |
//            Feed  | read_q, u_places          | the carried words go into u_packer                 | the last one went
//            Odd   |                           | so do up to three octets behind them               | they went
//            Body  |                           | so does the payload                                | its last beat went
//            Drain |                           | the packer is emptied                              | its last beat went
// Why:       What is carried is taken from walk_framer's output, where an FPDU begins in lane 0. Where the segment ends is known there alone, so a
//            segment of a flow that carries is not started before the one before it is framed: that costs two cycles. Others do not wait; nor does a
//            segment that is one FPDU, if nothing is carried to it or may be yet.
//            A place is a flow's from the end of a segment that is carried to the start of the next. A flow that leaves the card gives its place away;
//            whatever of it is in the walk then leaves the card as well, later.
//            Framed beats are written where carried ones were read: those of the same octets, and later.

`include "weft_assert.svh"

module walk_carry
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned CARRIES     = 8,                      // flows at a time, a power of two
  parameter  int unsigned CARRY_BYTES = 4096,                   // of each, in whole words
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input flow_pulse_t left_i,  // the flow is not the card's any more, or anew

  input  logic            wants_i,        // start_i is of a flow that carries, and will come
  input  logic            start_valid_i,
  output logic            start_ready_o,
  input  segment_t        start_i,
  input  logic            start_ready_i,
  output segment_t        start_o,
  output logic     [15:0] len_o,          // of what is framed: with what is carried
  output logic     [ 6:0] phase_o,        // words from the last place of a marker to its begin

  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,
  output logic               pl_valid_o,
  input  logic               pl_ready_i,
  output logic [ DATA_W-1:0] pl_data_o,
  output logic [COUNT_W-1:0] pl_count_o,
  output logic               pl_last_o,

  input  logic                    fp_valid_i,
  input  logic       [DATA_W-1:0] fp_data_i,
  // verilator lint_off UNUSEDSIGNAL
  input  fpdu_beat_t              fp_beat_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                    keeps_o,

  output logic idle_o,
  output logic waits_o  // a start waits for the segment before it
);
  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned BEATS = CARRY_BYTES / BYTES;
  localparam int unsigned BEAT_W = $clog2(BEATS);
  localparam int unsigned INDEX_W = $clog2(CARRIES);
  localparam int unsigned WORD_W = $clog2(CARRY_BYTES / 4) + 1;

  typedef enum logic [2:0] {
    Pass,
    Issue,  // the start may come
    Feed,   // the carried words
    Odd,    // the octets behind them
    Body,   // the payload
    Drain   // of the packer
  } state_e;
  state_e state_q;

  // What a place holds, and the segment in hand.
  logic [CARRIES-1:0] valid_q, match;
  logic [CARRIES-1:0][      15:0] flow_q;
  logic [CARRIES-1:0][WORD_W-1:0] words_q;
  logic [CARRIES-1:0][       1:0] odd_q;
  logic [CARRIES-1:0][      23:0] octets_q;  // behind the words
  logic [INDEX_W-1:0] match_index, free_index, place, place_q;
  logic has_place_q, joins, joins_q, fin_q, framing_q, tail_open_q;
  logic [15:0] of_flow_q;
  logic [WORD_W-1:0] words, seen_words;
  logic [1:0] odd, seen_odd, held_odd;
  logic [CARRY_W-1:0] carry_q;

  // Of the start that is wanted, a cycle ago: its flow's place, and the free ones; the segment that is framed is of its flow.
  logic [CARRIES-1:0] free, match_q, free_q;
  logic found, has;
  logic prepared_q, same_q, same, fresh_q, go;
  logic kept_q, none_q, carries;  // none_q: match_q is 0; carries: there may be something to put before the segment, or to keep of it

  // The end of what is framed.
  logic [1:0] odd_left_q;  // octets behind the last word of what is framed
  logic [BEAT_W:0] beat, beat_q;
  logic takes, too_long, kept;
  logic [WORD_W-1:0] kept_words;
  logic [DATA_W-1:0] last_word;

  // ------------------------------------------------------------------ starts
  logic [3:0] framed_q, open_q;  // starts that are not framed; whose payload has not all passed, or has before they come
  logic issued, through, framed, passed;
  logic [8:0] since, since_q, sooner;
  logic packed_valid, packed_ready, packed_last, in_valid, in_ready, in_last, piece_valid, piece_ready, piece_last;
  logic [COUNT_W-1:0] packed_count, piece_count, in_count;
  logic [DATA_W-1:0] packed_data, piece_data, in_data;

  // What was looked up a cycle ago knows of all that is carried but what was kept then.
  assign carries       = start_i.carries && !(start_i.alone && none_q && !framing_q && !kept_q);
  assign start_ready_o = start_ready_i && (state_q == Issue ? wants_i : state_q == Pass && !carries);
  assign issued        = start_valid_i && start_ready_o;
  always_comb begin
    start_o       = start_i;
    start_o.carry = state_q == Issue ? carry_q : '0;
  end
  assign len_o   = start_i.len + 16'(start_o.carry);
  // The word of the stream, of the segment and of what is carried.
  assign since   = start_i.seq[8:0] - start_i.row.marker_base[8:0];
  assign sooner  = since_q - 9'(carry_q);
  assign phase_o = state_q == Issue ? sooner[8:2] : since[8:2];
  assign waits_o = wants_i && carries && state_q == Pass && !go;

  assign framed  = fp_valid_i && fp_beat_i.last && fp_beat_i.seg_last;
  assign passed  = pl_valid_o && pl_ready_i && pl_last_o;

  always_comb begin
    for (int unsigned i = 0; i < CARRIES; i++) begin
      match[i] = valid_q[i] && flow_q[i] == start_i.flow;
      free[i]  = !valid_q[i] && !(framing_q && has_place_q && place_q == INDEX_W'(i));
    end
    match_index = '0;
    free_index  = '0;
    seen_words  = '0;
    seen_odd    = '0;
    for (int unsigned i = 0; i < CARRIES; i++) begin
      if (match_q[i]) match_index |= INDEX_W'(i);
      if (match_q[i]) seen_words |= words_q[i];
      if (match_q[i]) seen_odd |= odd_q[i];
    end
    for (int unsigned i = CARRIES; i > 0; i--) if (free_q[i-1]) free_index = INDEX_W'(i - 1);
  end
  assign found    = match_q != '0;
  assign has      = found || free_q != '0;
  assign held_odd = odd_q[place_q];

  // Nothing is before it: all that was started is framed, or the last of it is in this cycle, which may be what is carried.
  assign go       = prepared_q && wants_i && fresh_q && open_q == '0 && (framed_q == '0 || (framed_q == 4'd1 && framed));
  assign same     = same_q && framing_q;
  assign joins    = same ? kept : found;
  assign words    = same ? kept_words : seen_words;
  assign odd      = same ? odd_left_q : seen_odd;
  // A place that is given away in this cycle is free.
  assign place    = (same && has_place_q) || !has ? place_q : found ? match_index : free_index;

  logic [WORD_W-1:0] unread_q, unsent_q;
  logic [BEAT_W-1:0] read_q;
  logic read, read_valid_q, sent;
  logic [DATA_W-1:0] read_data;
  logic              few;  // the words that are left are at most a beat

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Pass;
      framed_q   <= '0;
      open_q     <= '0;
      prepared_q <= 1'b0;
      fresh_q    <= 1'b0;
      kept_q     <= 1'b0;
    end else begin
      kept_q     <= kept;
      framed_q   <= framed_q + 4'(issued) - 4'(framed);
      open_q     <= open_q + 4'(issued) - 4'(passed);
      prepared_q <= wants_i && !issued;
      // What was looked up a cycle ago knows of all places.
      fresh_q    <= !framed;
      unique case (state_q)
        Pass:    if (go && carries) state_q <= Issue;
        Issue: begin
          if (issued) state_q <= !joins_q ? Pass : unread_q != '0 ? Feed : Odd;
          else if (!wants_i) state_q <= Pass;
        end
        Feed:    if (sent && few) state_q <= held_odd != '0 ? Odd : Body;
        Odd:     if (in_ready) state_q <= Body;
        Body:    if (in_ready && pl_valid_i && pl_last_i) state_q <= Drain;
        Drain:   if (packed_valid && packed_ready && packed_last) state_q <= Pass;
        default: state_q <= Pass;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    {match_q, free_q} <= {match, free};
    none_q            <= match == '0;
    since_q           <= since;
    same_q            <= of_flow_q == start_i.flow;
    if (state_q == Pass && go) begin
      place_q     <= place;
      has_place_q <= has || (framing_q && has_place_q && (same || !kept));
      joins_q     <= joins;
      carry_q     <= joins ? CARRY_W'({words, odd}) : '0;
    end
    if (state_q == Issue) begin
      of_flow_q <= start_i.flow;
      fin_q     <= start_i.fin;
    end
  end

  // ------------------------------------------------------------------ places

  assign takes      = state_q == Issue && issued;
  assign beat       = fp_beat_i.first ? '0 : beat_q;
  assign too_long   = beat[BEAT_W];
  assign keeps_o    = framing_q && has_place_q && !fin_q && fp_beat_i.partial && !too_long;
  assign kept       = framed && keeps_o;
  assign kept_words = WORD_W'(beat) * WORD_W'(WORDS) + WORD_W'(fp_beat_i.words);
  assign last_word  = pl_data_o >> {pl_count_o[COUNT_W-2:2], 5'd0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q     <= '0;
      framing_q   <= 1'b0;
      tail_open_q <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < CARRIES; i++) begin
        if (left_i.valid && flow_q[i] == left_i.flow) valid_q[i] <= 1'b0;
      end
      if (takes && joins_q) valid_q[place_q] <= 1'b0;
      if (kept) valid_q[place_q] <= 1'b1;
      framing_q   <= takes || (framing_q && !framed);
      tail_open_q <= (takes || tail_open_q) && !passed;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fp_valid_i) beat_q <= too_long ? beat : beat + 1'b1;
    if (state_q == Issue) odd_left_q <= len_o[1:0];
    if (kept) begin
      flow_q[place_q]  <= of_flow_q;
      words_q[place_q] <= kept_words;
      odd_q[place_q]   <= odd_left_q;
    end
    if ((takes || tail_open_q) && passed && has_place_q) octets_q[place_q] <= last_word[23:0];
  end

  ram_1r1w #(
    .WIDTH(DATA_W),
    .DEPTH(CARRIES * BEATS)
  ) u_places (
    .clk_i,
    .we_i   (fp_valid_i && framing_q && has_place_q && !too_long),
    .waddr_i({place_q, beat[BEAT_W-1:0]}),
    .wdata_i(fp_data_i),
    .re_i   (read),
    .raddr_i({place_q, read_q}),
    .rdata_o(read_data)
  );

  // ------------------------------------------------------------------ payload
  assign few  = unsent_q <= WORD_W'(WORDS);
  assign read = state_q == Feed && unread_q != '0 && (!read_valid_q || in_ready);
  assign sent = state_q == Feed && read_valid_q && in_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_valid_q <= 1'b0;
    else if (read) read_valid_q <= 1'b1;
    else if (sent) read_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Pass) begin
      unread_q <= words;
      unsent_q <= words;
      read_q   <= '0;
    end
    if (read) begin
      unread_q <= unread_q > WORD_W'(WORDS) ? unread_q - WORD_W'(WORDS) : '0;
      read_q   <= read_q + 1'b1;
    end
    if (sent) unsent_q <= unsent_q - WORD_W'(WORDS);
  end

  always_comb begin
    in_valid = state_q == Body && pl_valid_i;
    in_data  = pl_data_i;
    in_count = pl_count_i;
    in_last  = pl_last_i;
    if (state_q == Feed) begin
      in_valid = read_valid_q;
      in_data  = read_data;
      in_count = few ? COUNT_W'({unsent_q[$clog2(WORDS):0], 2'd0}) : COUNT_W'(BYTES);
      in_last  = 1'b0;
    end else if (state_q == Odd) begin
      in_valid = 1'b1;
      in_data  = DATA_W'(octets_q[place_q]);
      in_count = COUNT_W'(held_odd);
      in_last  = 1'b0;
    end
  end

  // The choice and the packer's rotation each take a cycle.
  stream_slice #(
    .WIDTH(DATA_W + COUNT_W + 1)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_data_i  ({in_data, in_count, in_last}),
    .out_valid_o(piece_valid),
    .out_ready_i(piece_ready),
    .out_data_o ({piece_data, piece_count, piece_last}),
    .shown_o    ()
  );

  byte_packer #(
    .DATA_W(DATA_W)
  ) u_packer (
    .clk_i,
    .rst_ni,
    .in_valid_i (piece_valid),
    .in_ready_o (piece_ready),
    .in_data_i  (piece_data),
    .in_count_i (piece_count),
    .in_last_i  (piece_last),
    .out_valid_o(packed_valid),
    .out_ready_i(packed_ready),
    .out_data_o (packed_data),
    .out_count_o(packed_count),
    .out_last_o (packed_last)
  );

  assign through      = state_q == Pass || (state_q == Issue && !joins_q);
  assign packed_ready = !through && pl_ready_i;
  assign pl_ready_o   = through ? pl_ready_i : state_q == Body && in_ready;
  assign pl_valid_o   = through ? pl_valid_i : packed_valid;
  assign pl_data_o    = through ? pl_data_i : packed_data;
  assign pl_count_o   = through ? pl_count_i : packed_count;
  assign pl_last_o    = through ? pl_last_i : packed_last;

  assign idle_o       = state_q == Pass && framed_q == '0 && open_q == '0;

  logic unused;
  assign unused = ^{last_word[DATA_W-1:24], sooner[1:0], since[1:0]};

  if ((1 << INDEX_W) != CARRIES || CARRIES < 2 || (1 << BEAT_W) != BEATS || BEATS < 2) begin : gen_param_check
    $error("walk_carry: CARRIES and CARRY_BYTES / (DATA_W / 8) must be powers of two from 2 up");
  end
  `WEFT_ASSERT(alone_when_issued, state_q == Issue -> framed_q == '0 && open_q == '0 && !fp_valid_i)
  `WEFT_ASSERT(wanted_then, issued && carries -> state_q == Issue && wants_i)
  `WEFT_ASSERT(nothing_before, wants_i -> start_i.carries)
  `WEFT_ASSERT(one_place, $onehot0(match))
  `WEFT_ASSERT(none_told, start_valid_i -> none_q == (match_q == '0))
  `WEFT_ASSERT(no_more_than_counted, framed_q != '1)
  `WEFT_ASSERT(framed_was_started, framed -> framed_q != '0)
  `WEFT_ASSERT(something_is_carried, state_q == Issue && joins_q -> carry_q != '0)
endmodule
