// One client of dma_read: cuts requests into bursts, reserves room for their answers, and returns these in order, packed from lane 0.
//
// Handshake: ready/valid requests and answers, `burst_*` is held until taken; bus beats are always taken. A request is offered as a burst three
//            cycles later, and bursts follow each other after two.
// Pipeline:  request ─► {address, beats} ─► bursts (at most 64 beats, never over 4 KiB), as the response buffer has room
//                   └─► descriptor FIFO ──────────────────────────────────────────────────┐
//            bus beats ─► response buffer ─► rotate by the address ─► merge two neighbours ─► packed beats
//            stage   | registers                   | what happens                                  | hazards
//            request | addr_q, left_q, u_desc_fifo | the request and its descriptor                | one request at a time; REQUESTS descriptors
//            cut     | burst_addr_q, burst_beats_q | one burst                                     | page_carry_q: the upper half follows a cycle
//                    |                             |                                               | later
//            fit     | fits_q, room_q              | measured against the room                     | freed beats count a cycle later
//            beat    | u_buffer                    | a bus beat, one a cycle
//            rotate  | new_q, old_q                | by whole pieces of 8 bytes                    | not with ALIGNED
//            merge   | u_answer                    | two neighbours, then the rest of the rotation | the last beat may need no neighbour
// Why:       Bus beats of a request leave the buffer one a cycle, those of the next one right behind. With ALIGNED every request begins at a multiple
//            of the bus width, and the buffer's output is the answer.

`include "weft_assert.svh"

module dma_read_client #(
  parameter  int unsigned DATA_W       = 512,
  parameter  int unsigned BUFFER_BEATS = 512,            // at least the beats of the longest burst
  parameter  int unsigned REQUESTS     = 32,             // requests without a complete answer
  parameter  bit          ALIGNED      = 1'b0,
  localparam int unsigned BYTES        = DATA_W / 8,
  localparam int unsigned LANE_W       = $clog2(BYTES),
  localparam int unsigned COUNT_W      = LANE_W + 1,
  localparam int unsigned BURST_W      = 7               // 1 to 64
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        req_valid_i,
  output logic        req_ready_o,
  input  logic [63:0] req_addr_i,
  input  logic [15:0] req_bytes_i,  // 1 to 16384

  output logic               burst_valid_o,  // offered only with room for its answer
  input  logic               burst_ready_i,
  output logic [  63:LANE_W] burst_addr_o,
  output logic [BURST_W-1:0] burst_beats_o,

  input logic              bus_valid_i,  // always taken
  input logic [DATA_W-1:0] bus_data_i,
  input logic              bus_error_i,

  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output logic [ DATA_W-1:0] rsp_data_o,
  output logic [COUNT_W-1:0] rsp_count_o,
  output logic               rsp_last_o,
  output logic               rsp_error_o,  // with rsp_last_o: some beat of the answer had an error

  output logic idle_o
);

  localparam int unsigned BEATS_W = 15 - LANE_W;
  localparam int unsigned ROOM_W = $clog2(BUFFER_BEATS + 1);
  localparam int unsigned BURST_64 = 6;  // bursts end where the beat address is a multiple of 64
  localparam int unsigned PAGE_LOW_W = 32 - LANE_W - BURST_64;

  // ---------------------------------------------------------------- requests into bursts
  typedef struct packed {
    logic [LANE_W-1:0]  offset;
    logic [LANE_W-1:0]  tail;       // bytes of the last packed beat; 0: all of them
    logic [BEATS_W-1:0] bus_beats;  // less one
    logic               flush;      // the last bus beat does not complete the last packed beat by itself
  } desc_t;

  desc_t desc_in, kept_desc, desc;
  logic kept_valid, kept_ready;
  logic desc_wr_ready, desc_valid, desc_pop, accept;
  logic [15:0] bus_span, out_span;
  logic busy_q, burst_final, burst_take, cut, have_q, fits_q;
  logic [63:LANE_W] addr_q, burst_addr_q;
  logic                page_carry_q;  // of the next burst's address, from its lower half
  logic [PAGE_LOW_W:0] page_low;
  logic [ BEATS_W-1:0] left_q;  // less one
  logic [BURST_64-1:0] to_boundary, cut_beats;  // less one
  logic [BURST_W-1:0] burst_beats_q;
  logic [ROOM_W-1:0] room_q, burst_minus_q;  // the beats of the burst, negative
  logic [1:0] freed_q;  // beats that have left, not counted as room yet
  logic       pop;

  assign bus_span = req_bytes_i + 16'(req_addr_i[LANE_W-1:0]) - 16'd1;
  assign out_span = req_bytes_i - 16'd1;
  assign desc_in = '{
          offset: req_addr_i[LANE_W-1:0],
          tail: req_bytes_i[LANE_W-1:0],
          bus_beats: bus_span[LANE_W+:BEATS_W],
          flush: bus_span[LANE_W+:BEATS_W] == out_span[LANE_W+:BEATS_W]
      };

  // A burst is cut in one cycle, and measured against the room in the next: the room for a pending burst only grows. room_q has one adder, so beats
  // freed while a burst is taken count a cycle later.
  assign burst_take = have_q && fits_q && burst_ready_i;
  assign cut = busy_q && (!have_q || burst_take);
  assign req_ready_o = desc_wr_ready && !busy_q;
  assign accept = req_valid_i && req_ready_o;
  assign page_low = {1'b0, addr_q[31:LANE_W+BURST_64]} + 1'b1;
  assign to_boundary = ~addr_q[LANE_W+:BURST_64];
  assign burst_final = left_q <= BEATS_W'(to_boundary);
  assign cut_beats = burst_final ? left_q[BURST_64-1:0] : to_boundary;
  assign burst_beats_o = burst_beats_q;
  assign burst_addr_o = burst_addr_q;
  assign burst_valid_o = have_q && fits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      have_q  <= 1'b0;
      fits_q  <= 1'b0;
      room_q  <= ROOM_W'(BUFFER_BEATS);
      freed_q <= '0;
    end else begin
      if (accept) busy_q <= 1'b1;
      else if (cut && burst_final) busy_q <= 1'b0;
      if (cut) have_q <= 1'b1;
      else if (burst_take) have_q <= 1'b0;
      fits_q  <= have_q && !burst_take && ROOM_W'(burst_beats_q) <= room_q;
      room_q  <= room_q + (burst_take ? burst_minus_q : ROOM_W'(freed_q));
      freed_q <= (burst_take ? freed_q : 2'd0) + 2'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      addr_q <= req_addr_i[63:LANE_W];
      left_q <= bus_span[LANE_W+:BEATS_W];
    end else begin
      if (cut) begin
        addr_q[31:LANE_W] <= {page_low[PAGE_LOW_W-1:0], BURST_64'(0)};
        left_q            <= left_q - BEATS_W'(to_boundary) - 1'b1;
      end
      // The carry comes a cycle later; a burst follows the other after two.
      if (page_carry_q) addr_q[63:32] <= addr_q[63:32] + 32'd1;
    end
    page_carry_q <= cut && page_low[PAGE_LOW_W];
    if (cut) begin
      burst_addr_q  <= addr_q;
      burst_beats_q <= BURST_W'(cut_beats) + 1'b1;
      burst_minus_q <= ~ROOM_W'(cut_beats);
    end
  end

  fifo_sync #(
    .WIDTH($bits(desc_t)),
    .DEPTH(REQUESTS)
  ) u_desc_fifo (
    .clk_i,
    .rst_ni,
    .wr_valid_i(accept),
    .wr_ready_o(desc_wr_ready),
    .wr_data_i (desc_in),
    .rd_valid_o(kept_valid),
    .rd_ready_i(kept_ready),
    .rd_data_o (kept_desc),
    .count_o   ()
  );

  stream_slice #(
    .WIDTH($bits(desc_t))
  ) u_desc (
    .clk_i,
    .rst_ni,
    .in_valid_i (kept_valid),
    .in_ready_o (kept_ready),
    .in_data_i  (kept_desc),
    .out_valid_o(desc_valid),
    .out_ready_i(desc_pop),
    .out_data_o (desc),
    .shown_o    ()
  );

  // ---------------------------------------------------------------- response buffer
  logic buf_valid, buf_ready, buf_wr_ready, buf_error;
  logic [DATA_W-1:0] buf_data;
  logic bus_first, bus_last;
  logic [BEATS_W-1:0] beat_q;

  fifo_sync #(
    .WIDTH(DATA_W + 1),
    .DEPTH(BUFFER_BEATS)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .wr_valid_i(bus_valid_i),
    .wr_ready_o(buf_wr_ready),
    .wr_data_i ({bus_error_i, bus_data_i}),
    .rd_valid_o(buf_valid),
    .rd_ready_i(buf_ready),
    .rd_data_o ({buf_error, buf_data}),
    .count_o   ()
  );

  assign pop       = buf_valid && buf_ready;
  assign bus_first = beat_q == '0;
  assign bus_last  = beat_q == desc.bus_beats;
  assign desc_pop  = pop && bus_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (pop) beat_q <= bus_last ? '0 : beat_q + 1'b1;
  end

  // A register slice behind the answer: neither the memory nor the ready to it is visible outside.
  logic out_valid, out_ready, out_last, out_error;
  logic [ DATA_W-1:0] out_data;
  logic [COUNT_W-1:0] out_count;

  stream_slice #(
    .WIDTH(2 + COUNT_W + DATA_W)
  ) u_answer (
    .clk_i,
    .rst_ni,
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_data_i  ({out_error, out_last, out_count, out_data}),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_ready_i),
    .out_data_o ({rsp_error_o, rsp_last_o, rsp_count_o, rsp_data_o}),
    .shown_o    ()
  );

  if (ALIGNED) begin : gen_aligned
    logic error_q;

    assign buf_ready = out_ready;
    assign out_valid = buf_valid;
    assign out_data  = buf_data;
    assign out_last  = bus_last;
    assign out_count = (bus_last && desc.tail != '0) ? COUNT_W'(desc.tail) : COUNT_W'(BYTES);
    assign out_error = bus_last && (buf_error || (error_q && !bus_first));
    assign idle_o    = !busy_q && !have_q && !kept_valid && !desc_valid && !rsp_valid_o;

    always_ff @(posedge clk_i) begin
      if (pop) error_q <= buf_error || (error_q && !bus_first);
    end

    logic unused_desc;
    assign unused_desc = ^{desc.offset, desc.flush};
  end else begin : gen_realign
    typedef struct packed {
      logic              error;   // in this bus beat or one before it in the request
      logic              last;
      logic [LANE_W-1:0] offset;
      logic [LANE_W-1:0] tail;
      logic              flush;
    } tag_t;

    // A beat is rotated in two steps: by whole pieces of 8 bytes behind the memory, which may feed three levels, and by what is
    // left of the offset behind the merge. A rotation moves a lane the same way in both neighbours, so they can be merged in between.
    localparam int unsigned FINE_W = 3;

    // Two neighbours, half rotated: `old` the earlier, `new` the later one.
    logic new_valid_q, old_valid_q, new_ready, old_ready, emit, needs, need_new_q, joined, old_keeps;
    logic [DATA_W-1:0] rotated, new_q, old_q, merged;
    tag_t new_tag_q, old_tag_q;
    logic [BYTES-1:0] from_old_q, from_old;  // by the lane before the second step

    assign rotated   = DATA_W'({buf_data, buf_data} >> {desc.offset[LANE_W-1:FINE_W], FINE_W'(0), 3'd0});

    // `old` is complete with its last bus beat or without an offset; else the next bus beat has the rest.
    assign needs     = !new_tag_q.last && new_tag_q.offset != '0;
    // The later neighbour completes the answer and leaves nothing.
    assign joined    = need_new_q && new_tag_q.last && !new_tag_q.flush;
    assign out_valid = old_valid_q && (!need_new_q || new_valid_q);
    assign emit      = out_valid && out_ready;
    assign old_ready = !old_valid_q || emit;
    assign new_ready = !new_valid_q || old_ready;
    assign buf_ready = new_ready;
    assign old_keeps = new_valid_q && !(emit && joined);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        new_valid_q <= 1'b0;
        old_valid_q <= 1'b0;
      end else begin
        if (new_ready) new_valid_q <= buf_valid;
        if (old_ready) old_valid_q <= old_keeps;
      end
    end

    always_ff @(posedge clk_i) begin
      if (new_ready) begin
        new_q     <= rotated;
        new_tag_q <= '{error: buf_error || (!bus_first && new_tag_q.error), last: bus_last, offset: desc.offset, tail: desc.tail, flush: desc.flush};
      end
      if (old_ready) begin
        old_q      <= new_q;
        old_tag_q  <= new_tag_q;
        need_new_q <= needs;
        from_old_q <= from_old;
      end
    end

    // Lane i comes to lane i - offset % 8, and from there on to be the answer's first `BYTES - offset` bytes, which `old` has.
    for (genvar i = 0; i < int'(BYTES); i++) begin : gen_lane
      assign from_old[i]    = !needs || LANE_W'(i) - LANE_W'(new_tag_q.offset[FINE_W-1:0]) < LANE_W'(0) - new_tag_q.offset;
      assign merged[8*i+:8] = from_old_q[i] ? old_q[8*i+:8] : new_q[8*i+:8];
    end
    assign out_data  = DATA_W'({merged, merged} >> {old_tag_q.offset[FINE_W-1:0], 3'd0});
    assign out_last  = old_tag_q.last || joined;
    assign out_count = (out_last && old_tag_q.tail != '0) ? COUNT_W'(old_tag_q.tail) : COUNT_W'(BYTES);
    assign out_error = out_last && (old_tag_q.error || (joined && new_tag_q.error));
    assign idle_o    = !busy_q && !have_q && !kept_valid && !desc_valid && !new_valid_q && !old_valid_q && !rsp_valid_o;

    logic unused_tag;
    assign unused_tag = ^{old_tag_q.flush, old_tag_q.offset[LANE_W-1:FINE_W]};
  end

  logic unused_inputs;
  assign unused_inputs = ^{buf_wr_ready, bus_span[LANE_W-1:0], out_span[LANE_W-1:0], bus_span[15], out_span[15]};

  if (BYTES < 16 || BYTES > 64 || (1 << LANE_W) != BYTES) begin : gen_param_check
    $error("dma_read_client: DATA_W must be 128, 256 or 512");
  end

  `WEFT_ASSERT(buffer_has_room, bus_valid_i -> buf_wr_ready)
  `WEFT_ASSERT(answer_expected, buf_valid -> desc_valid)
  `WEFT_ASSERT(size_ok, req_valid_i -> req_bytes_i >= 16'd1 && req_bytes_i <= 16'd16384)
  `WEFT_ASSERT(fits_buffer, have_q -> 32'(burst_beats_o) <= BUFFER_BEATS)
  `WEFT_ASSERT(freed_fits, freed_q != 2'd3)
  `WEFT_ASSERT(room_is_there, burst_valid_o -> ROOM_W'(burst_beats_o) <= room_q)
  if (ALIGNED) begin : gen_aligned_check
    `WEFT_ASSERT(aligned, req_valid_i -> req_addr_i[LANE_W-1:0] == '0)
  end
  `WEFT_STREAM(u_rules, rsp_valid_o, rsp_ready_i, {rsp_data_o, rsp_last_o})

endmodule
