// Copies of the frames of one direction, in wait of the capture ring: a ring of beats, and a queue of the frames in it.
//
// Handshake: Observes one beat a cycle, without backpressure. Frames are ready/valid. Read data come a cycle after `rd_valid_i`; space is freed in
//            the order of the frames, up to `free_stop_i`.
// Pipeline:  stage     | registers                | what happens                        | hazards
//            beat      | data_q, count_q, clock_q | the beat is registered              | the first beat decides on the capture
//            memory    | wr_q, left_q, seen_q     | the first `snap_i` bytes are stored | full_q: a cycle late, a beat to spare
//            last beat | u_frames                 | visible, or rolled back and counted | ring or queue was full
// Why:       As full is a cycle late, a frame right behind one that was left out may be left out and counted, too.
//            The input is registered, so that the paths observed are not loaded.

`include "weft_assert.svh"

module capture_buffer
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W       = 512,
  parameter int unsigned BUFFER_BYTES = 32768,
  parameter int unsigned FRAMES       = 64
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] time_i,

  input logic        enable_i,
  input logic [15:0] snap_i,

  input logic                beat_valid_i,
  input logic                beat_last_i,
  input logic                beat_bad_i,    // with the last beat
  input logic [  DATA_W-1:0] beat_data_i,
  input logic [DATA_W/8-1:0] beat_keep_i,

  output logic                        frame_valid_o,
  input  logic                        frame_ready_i,
  output capture_frame_t              frame_o,
  input  logic                        rd_valid_i,
  input  logic           [      15:0] rd_pos_i,
  output logic           [DATA_W-1:0] rd_data_o,
  input  logic                        free_valid_i,
  input  logic           [      15:0] free_stop_i,

  output logic lost_o,  // pulse: a frame was left out
  output logic idle_o   // no beat is in flight to the memory
);

  localparam int unsigned LANES = DATA_W / 8;
  localparam int unsigned COUNT_W = $clog2(LANES) + 1;
  localparam int unsigned DEPTH = BUFFER_BYTES / LANES;
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam int unsigned POS_W = ADDR_W + 1;

  // ---------------------------------------------------------------- the beat as it came
  logic inside_q, taking_q, taking;
  logic valid_q, first_q, last_q, bad_q;
  logic [DATA_W-1:0] data_q;
  logic [COUNT_W-1:0] count, count_q;
  logic [15:0] snap_q;
  logic [63:0] clock_q;

  assign taking = inside_q ? taking_q : enable_i;

  // Bytes of the beat: all, or in the last beat the highest set bit of keep. The cheap case comes first for a simulator, which would else search keep
  // in every cycle.
  always_comb begin
    count = COUNT_W'(LANES);
    if (beat_valid_i && beat_last_i) begin
      count = '0;
      for (int unsigned i = 0; i < LANES; i++) begin
        if (beat_keep_i[i] && (i == LANES - 1 || !beat_keep_i[(i+1)%LANES])) count |= COUNT_W'(i + 1);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      taking_q <= 1'b0;
      valid_q  <= 1'b0;
    end else begin
      valid_q <= beat_valid_i && taking;
      if (beat_valid_i) begin
        inside_q <= !beat_last_i;
        taking_q <= taking;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat_valid_i && taking) begin
      first_q <= !inside_q;
      last_q  <= beat_last_i;
      bad_q   <= beat_bad_i;
      data_q  <= beat_data_i;
      count_q <= count;
      clock_q <= time_i;
      if (!inside_q) snap_q <= snap_i;
    end
  end

  // ---------------------------------------------------------------- into the memory
  logic [POS_W-1:0] wr_q, start_q, free_q, wr_next;
  logic gone_q, gone;  // a beat of this frame found no room
  logic [15:0] seen_q, seen, length;  // bytes before this beat; with it
  logic [15:0] left_q, left;  // bytes to be kept, from this beat on
  logic [16:0] sum;
  logic more, more_q, full_q;  // more: the next beat of this frame is kept; full_q: there may be no room
  logic wanted, write, queue_ready, keep;
  logic           [31:0] lost_q;
  capture_frame_t        frame;

  assign seen    = first_q ? '0 : seen_q;
  assign sum     = 17'(seen) + 17'(count_q);
  assign length  = sum[16] ? '1 : sum[15:0];
  assign left    = first_q ? snap_q : left_q;
  assign more    = left > 16'(count_q);
  assign wanted  = first_q ? snap_q != '0 : more_q;
  assign gone    = (!first_q && gone_q) || (wanted && full_q);
  assign write   = valid_q && wanted && !gone;
  assign wr_next = write ? wr_q + 1'b1 : wr_q;
  assign keep    = valid_q && last_q && !gone && queue_ready;
  assign lost_o  = valid_q && last_q && !keep;

  always_comb begin
    frame          = '0;
    frame.length   = length;
    frame.captured = more ? length : snap_q;
    frame.bad      = bad_q;
    frame.clock    = clock_q;
    frame.lost     = lost_q;
    frame.start    = 16'(start_q);
    frame.stop     = 16'(wr_next);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q    <= '0;
      start_q <= '0;
      free_q  <= '0;
      lost_q  <= '0;
      full_q  <= 1'b0;
    end else begin
      // From the positions of this cycle, for the next one, which may have one beat more.
      full_q <= POS_W'(wr_q - free_q) >= POS_W'(DEPTH - 1);
      if (free_valid_i) free_q <= free_stop_i[POS_W-1:0];
      if (valid_q) wr_q <= last_q && !keep ? start_q : wr_next;
      if (keep) start_q <= wr_next;
      if (lost_o) lost_q <= lost_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      seen_q <= length;
      left_q <= more ? left - 16'(count_q) : '0;
      more_q <= more;
      gone_q <= gone;
    end
  end

  ram_1r1w #(
    .WIDTH(DATA_W),
    .DEPTH(DEPTH)
  ) u_ram (
    .clk_i,
    .we_i   (write),
    .waddr_i(wr_q[ADDR_W-1:0]),
    .wdata_i(data_q),
    .re_i   (rd_valid_i),
    .raddr_i(rd_pos_i[ADDR_W-1:0]),
    .rdata_o(rd_data_o)
  );

  fifo_sync #(
    .WIDTH($bits(capture_frame_t)),
    .DEPTH(FRAMES)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .wr_valid_i(keep),
    .wr_ready_o(queue_ready),
    .wr_data_i (frame),
    .rd_valid_o(frame_valid_o),
    .rd_ready_i(frame_ready_i),
    .rd_data_o (frame_o),
    .count_o   ()
  );

  assign idle_o = !valid_q;

  logic unused;
  assign unused = ^{rd_pos_i, free_stop_i};

  if ((1 << ADDR_W) != DEPTH || POS_W > 16) begin : gen_param_check
    $error("capture_buffer: BUFFER_BYTES is a power of two and holds at most 2^15 beats");
  end

  `WEFT_ASSERT(left_told, valid_q -> more == (length < snap_q))
  `WEFT_ASSERT(room, wr_q - free_q <= POS_W'(DEPTH))
  `WEFT_ASSERT(beats_fit, keep -> 32'(POS_W'(wr_next - start_q)) * LANES >= 32'(frame.captured))

endmodule
