// Writes captured frames to the capture ring in host memory, one slot each: bytes from byte 64 of the slot on, then the header at byte 0.
//
// Handshake: Frames are ready/valid. To dma_write commands and beats, each held until taken, at the lowest priority. Buffer reads have a latency of
//            one cycle.
// Pipeline:  frame, the older one of both directions ─► commands: pieces, header ─► register slice ─► dma_write
//                                                   └─► beats: memory, header ─► queue ───────────►
//            state  | registers                 | what happens                       | left when
//            Idle   | valid_q, below_q, equal_q | frames are compared by their times | a frame is there
//            Choose | side_q                    | the older one is selected          | always
//            Wait   |                           | waits for room in the host's ring  | room: Send; capture off: the frame is dropped
//            Send   | cmd_*, feed_*             | commands and beats, in parallel    | both are done
//            Ring: inside_q, room_q and slot_next_q follow the ring's state by AHEAD cycles (settling_q behind a reset of the ring).
// Why:       The header is a write of its own behind the bytes, so a header with the right phase is behind all its bytes.
//            Pieces end at multiples of PIECE bytes, so another client's write waits for two of them at most.
//            Without room in the host's ring a frame waits in its buffer, which may then overflow. With capture off, waiting frames are dropped; a
//            frame begun is finished.
//            A frame takes longer than the AHEAD cycles, and behind a reset of the ring none begins for as long.

`include "weft_assert.svh"

module capture_writer
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned PIECE       = 256,                    // bytes
  parameter  int unsigned OUTSTANDING = 16,                     // commands without a response
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
) (
  input logic         clk_i,
  input logic         rst_ni,
  input capture_cfg_t cfg_i,

  // The buffers: 0 receive, 1 transmit.
  input  logic           [ 1:0]             frame_valid_i,
  output logic           [ 1:0]             frame_ready_o,
  input  capture_frame_t [ 1:0]             frame_i,
  output logic           [ 1:0]             rd_valid_o,
  output logic           [15:0]             rd_pos_o,
  input  logic           [ 1:0][DATA_W-1:0] rd_data_i,      // a cycle later
  output logic           [ 1:0]             free_valid_o,
  output logic           [15:0]             free_stop_o,

  // To dma_write: commands, and their beats.
  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output logic [       63:0] cmd_addr_o,
  output logic [       15:0] cmd_bytes_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               written_i,    // pulse: the response of the oldest command has come

  output logic [31:0] tail_o,   // frames written
  output logic [ 1:0] taken_o,  // pulses: a frame begins to be written
  output logic        idle_o    // nothing in flight, and nothing that could begin
);

  localparam int unsigned LANES = DATA_W / 8;
  localparam int unsigned HEADER = 64;
  localparam int unsigned HEADER_BEATS = HEADER / LANES;
  localparam int unsigned PIECE_W = $clog2(PIECE);
  localparam int unsigned QUEUE = 4;

  // ---------------------------------------------------------------- the next frame
  typedef enum logic [1:0] {
    Idle,
    Choose,
    Wait,
    Send
  } state_e;

  localparam int unsigned AHEAD = 5;  // cycles from the ring's state to room and address

  state_e               state_q;
  capture_frame_t [1:0] waiting;
  capture_frame_t frame_q, chosen;
  logic side_q, on, start, discard, finished;
  logic [      1:0] valid_q;  // frames that were compared
  logic [      3:0] below_q;  // transmit's frame is older, by 16 bits of the clock
  logic [      3:1] equal_q;  // as old, likewise
  logic             older;
  logic [AHEAD-1:0] settling_q;  // after a reset of the ring
  logic [31:0] taken_q, inside_q;
  logic        room_q;
  logic [29:0] slot_offset_q;  // at most 2^16 slots of 2^14 bytes
  logic [32:0] slot_low_q;
  logic [63:0] slot_next_q, slot_q;
  logic [63:16] up_next_q, up_q;  // upper slot address plus one, selected by the carry of the lower half
  logic [15:0] limit_q, captured, captured_q;
  logic phase_q;

  assign waiting  = frame_i;
  assign chosen   = waiting[side_q];
  assign on       = cfg_i.enable != '0;
  assign start    = state_q == Wait && on && room_q && !cfg_i.reset && settling_q == '0;
  assign discard  = state_q == Wait && !on;
  assign captured = chosen.captured < limit_q ? chosen.captured : limit_q;
  assign older    = below_q[3] || (equal_q[3] && (below_q[2] || (equal_q[2] && (below_q[1] || (equal_q[1] && below_q[0])))));

  always_comb begin
    frame_ready_o         = '0;
    frame_ready_o[side_q] = start || discard;
    free_valid_o          = '0;
    free_valid_o[side_q]  = finished || discard;
    taken_o               = '0;
    taken_o[side_q]       = start;
  end
  assign free_stop_o = finished ? frame_q.stop : chosen.stop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      taken_q    <= '0;
      settling_q <= '1;
    end else begin
      unique case (state_q)
        Idle:    if (frame_valid_i != '0) state_q <= Choose;
        Choose:  state_q <= Wait;
        Wait: begin
          if (start) state_q <= Send;
          else if (discard) state_q <= Idle;
        end
        Send:    if (finished) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      settling_q <= {settling_q[AHEAD-2:0], cfg_i.reset};
      if (cfg_i.reset) taken_q <= '0;
      else if (start) taken_q <= taken_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    valid_q <= frame_valid_i;
    for (int unsigned w = 0; w < 4; w++) begin
      below_q[w] <= waiting[1].clock[16*w+:16] < waiting[0].clock[16*w+:16];
    end
    for (int unsigned w = 1; w < 4; w++) begin
      equal_q[w] <= waiting[1].clock[16*w+:16] == waiting[0].clock[16*w+:16];
    end
    if (state_q == Choose) side_q <= valid_q[1] && (!valid_q[0] || older);
    if (start) begin
      frame_q    <= chosen;
      captured_q <= captured;
      slot_q     <= slot_next_q;
      up_q       <= up_next_q;
      phase_q    <= !taken_q[cfg_i.count_log2[4:0]];
    end
  end

  // Occupancy counts modulo 2^32; there are at most 2^16 slots.
  always_ff @(posedge clk_i) begin
    inside_q      <= taken_q - cfg_i.head;
    room_q        <= (inside_q >> cfg_i.count_log2[4:0]) == '0;
    limit_q       <= 16'((32'd1 << cfg_i.slot_log2[3:0]) - HEADER);
    slot_offset_q <= 30'(taken_q & ~(32'hffff_ffff << cfg_i.count_log2[4:0])) << cfg_i.slot_log2[3:0];
    slot_low_q    <= 33'(cfg_i.base[31:0]) + 33'(slot_offset_q);
    slot_next_q   <= {cfg_i.base[63:32] + 32'(slot_low_q[32]), slot_low_q[31:0]};
    up_next_q     <= slot_next_q[63:16] + 48'd1;
  end

  // ---------------------------------------------------------------- commands: pieces of the bytes, then the header
  logic [15:0] cmd_left_q, cmd_at_q, piece_room, cmd_bytes;
  logic cmd_done_q, cmd_first_q, cmd_header, cmd_short, track_ready, track_valid, track_header;
  logic piece_valid, piece_ready, piece_take;
  logic [16:0] cmd_low;
  logic [63:0] cmd_addr;

  // The first piece begins behind the header, all others at multiples of PIECE.
  assign piece_room  = 16'(PIECE) - (cmd_first_q ? 16'(HEADER) : 16'd0);
  assign cmd_short   = cmd_left_q <= piece_room;
  assign cmd_header  = cmd_left_q == '0;
  assign piece_valid = state_q == Send && !cmd_done_q && track_ready;
  assign piece_take  = piece_valid && piece_ready;
  assign cmd_low     = 17'(slot_q[15:0]) + (cmd_header ? 17'd0 : 17'(cmd_at_q));
  assign cmd_addr    = {cmd_low[16] ? up_q : slot_q[63:16], cmd_low[15:0]};
  assign cmd_bytes   = cmd_header ? 16'(HEADER) : cmd_short ? cmd_left_q : piece_room;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmd_done_q  <= 1'b1;
      cmd_left_q  <= '0;
      cmd_at_q    <= '0;
      cmd_first_q <= 1'b0;
    end else if (start) begin
      cmd_done_q  <= 1'b0;
      cmd_left_q  <= captured;
      cmd_at_q    <= 16'(HEADER);
      cmd_first_q <= 1'b1;
    end else if (piece_take) begin
      if (cmd_header) begin
        cmd_done_q <= 1'b1;
      end else begin
        cmd_left_q  <= cmd_short ? '0 : cmd_left_q - piece_room;
        cmd_at_q    <= {cmd_at_q[15:PIECE_W] + 1'b1, PIECE_W'(0)};
        cmd_first_q <= 1'b0;
      end
    end
  end

  stream_slice #(
    .WIDTH(64 + 16)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .in_valid_i (piece_valid),
    .in_ready_o (piece_ready),
    .in_data_i  ({cmd_addr, cmd_bytes}),
    .out_valid_o(cmd_valid_o),
    .out_ready_i(cmd_ready_i),
    .out_data_o ({cmd_addr_o, cmd_bytes_o}),
    .shown_o    ()
  );

  // Responses: a frame is written when its header is.
  fifo_sync #(
    .WIDTH(1),
    .DEPTH(OUTSTANDING)
  ) u_track (
    .clk_i,
    .rst_ni,
    .wr_valid_i(piece_take),
    .wr_ready_o(track_ready),
    .wr_data_i (cmd_header),
    .rd_valid_o(track_valid),
    .rd_ready_i(written_i),
    .rd_data_o (track_header),
    .count_o   ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tail_o <= '0;
    else if (cfg_i.reset) tail_o <= '0;
    else if (written_i && track_header) tail_o <= tail_o + 1'b1;
  end

  // ---------------------------------------------------------------- beats in the same order
  typedef struct packed {
    logic               last;
    logic [COUNT_W-1:0] count;
    logic [DATA_W-1:0]  data;
  } beat_t;

  logic [15:0] feed_left_q, feed_pos_q;
  logic [PIECE_W-1:0] feed_at_q;
  logic [3:0] header_beat_q, header_beat;
  logic feed_done_q, issue, feed_header, feed_final, piece_ends;
  logic read_q, read_header_q, read_last_q;
  logic            [        COUNT_W-1:0] read_count_q;
  logic            [$clog2(QUEUE+1)-1:0] queued;
  capture_header_t                       header;
  logic            [              511:0] header_bits;
  beat_t beat, out;

  assign feed_header = feed_left_q == '0;
  assign feed_final  = feed_left_q <= 16'(LANES);
  assign piece_ends  = feed_at_q == PIECE_W'(PIECE - LANES);
  assign issue       = state_q == Send && !feed_done_q && 32'(queued) + 32'(read_q) < QUEUE - 1;

  always_comb begin
    rd_valid_o         = '0;
    rd_valid_o[side_q] = issue && !feed_header;
  end
  assign rd_pos_o = feed_pos_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      feed_done_q   <= 1'b1;
      feed_left_q   <= '0;
      feed_pos_q    <= '0;
      feed_at_q     <= '0;
      header_beat_q <= '0;
      read_q        <= 1'b0;
    end else begin
      read_q <= issue;
      if (start) begin
        feed_done_q   <= 1'b0;
        feed_left_q   <= captured;
        feed_pos_q    <= chosen.start;
        feed_at_q     <= PIECE_W'(HEADER);
        header_beat_q <= '0;
      end else if (issue) begin
        if (feed_header) begin
          header_beat_q <= header_beat_q + 1'b1;
          feed_done_q   <= header_beat_q == 4'(HEADER_BEATS - 1);
        end else begin
          feed_left_q <= feed_final ? '0 : feed_left_q - 16'(LANES);
          feed_pos_q  <= feed_pos_q + 1'b1;
          feed_at_q   <= feed_at_q + PIECE_W'(LANES);
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (issue) begin
      read_header_q <= feed_header;
      header_beat   <= header_beat_q;
      read_count_q  <= feed_header || !feed_final ? COUNT_W'(LANES) : COUNT_W'(feed_left_q);
      read_last_q   <= feed_header ? header_beat_q == 4'(HEADER_BEATS - 1) : feed_final || piece_ends;
    end
  end

  always_comb begin
    header          = '0;
    header.length   = frame_q.length;
    header.captured = captured_q;
    header.flags    = 8'(frame_q.bad) << CAPTURE_HEADER_BAD_BIT | 8'(side_q) << CAPTURE_HEADER_SENT_BIT;
    header.lost     = frame_q.lost;
    header.clock    = frame_q.clock;
    header.phase    = 8'(phase_q) << CAPTURE_HEADER_PHASE_BIT;
  end
  assign header_bits = header;
  assign beat.last   = read_last_q;
  assign beat.count  = read_count_q;
  assign beat.data   = read_header_q ? DATA_W'(header_bits >> (10'(header_beat) * 10'(DATA_W))) : rd_data_i[side_q];

  fifo_sync #(
    .WIDTH($bits(beat_t)),
    .DEPTH(QUEUE)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i(read_q),
    .wr_ready_o(),
    .wr_data_i (beat),
    .rd_valid_o(wr_valid_o),
    .rd_ready_i(wr_ready_i),
    .rd_data_o (out),
    .count_o   (queued)
  );

  assign wr_data_o = out.data;
  assign wr_count_o = out.count;
  assign wr_last_o = out.last;
  assign finished = state_q == Send && cmd_done_q && feed_done_q && !read_q;
  assign idle_o     = ((state_q == Idle && frame_valid_i == '0) || (state_q == Wait && on && !start && settling_q == '0)) &&
                      !cmd_valid_o && !wr_valid_o && !track_valid && !cfg_i.reset;

  logic unused;
  assign unused = ^{cfg_i, waiting, frame_q};

  if (HEADER % LANES != 0 || PIECE % LANES != 0 || PIECE < 2 * HEADER || (1 << PIECE_W) != PIECE) begin : gen_param_check
    $error("capture_writer: PIECE is a power of two, 128 or more; DATA_W at most 512");
  end

`ifndef SYNTHESIS
  logic [31:0] slot_number;
  assign slot_number = taken_q & ~(32'hffff_ffff << cfg_i.count_log2[4:0]);

  `WEFT_ASSERT(room_for_beat, read_q -> 32'(queued) < QUEUE)
  `WEFT_ASSERT(inside_slot, piece_valid -> (cmd_header ? 32'd0 : 32'(cmd_at_q)) + 32'(cmd_bytes) <= 32'd1 << cfg_i.slot_log2[3:0])
  `WEFT_ASSERT(right_address, piece_valid -> cmd_addr == slot_q + (cmd_header ? '0 : 64'(cmd_at_q)))
  `WEFT_ASSERT(there_is_room, start -> (taken_q - cfg_i.head) >> cfg_i.count_log2[4:0] == '0)
  `WEFT_ASSERT(in_its_slot, start -> slot_next_q == cfg_i.base + (64'(slot_number) << cfg_i.slot_log2[3:0]))
  `WEFT_ASSERT(response_expected, written_i -> track_valid)
`endif

endmodule
