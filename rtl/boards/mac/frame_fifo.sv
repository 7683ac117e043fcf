// Whole frames from one clock to another: the reader sees a frame when all of it is in, and then without a gap.
//
// Handshake: Reader: ready/valid, held. Writer, DROP = 0: ready/valid, stalled for room; the longest frame has DEPTH - 2 beats. Writer, DROP = 1:
//            always ready, for a source that cannot wait; a frame without room for any beat is dropped whole (`wr_dropped_o`). From a frame's last
//            beat to its first at the reader: one cycle of the writer and 7 to 8 of the reader.
// Pipeline:  writer: beats ─► memory                          ─► reader: beats
//                    last  ─► length ─► fifo_async ─► length  ─► counts them down
//                    room  ◄──────── gray_sync ◄───────────────  beats read
// Why:       Nobody ever sees a part of a frame. A source that cannot wait may be inside a frame when the reset ends. Its beats up to the first last
//            one, or abort, are ignored.
//            `wr_drop_i`: frames with a beat meanwhile are dropped (and counted), nothing stalls. `wr_abort_i`: the present frame has no end, and the
//            next beat begins another (dropped and counted); beats meanwhile are ignored. `rd_abort_i`: the reader lost what it had of a frame:
//            nothing is shown, and the rest of that frame is dropped.
//            Room is DEPTH - 2 beats and FRAMES frames; read beats are room again some 5 cycles of both clocks later. Both resets are one reset.

`include "weft_assert.svh"

module frame_fifo #(
  parameter int unsigned WIDTH  = 577,
  parameter int unsigned DEPTH  = 512,  // beats, a power of two
  parameter int unsigned FRAMES = 128,  // a power of two
  parameter bit          DROP   = 1'b0
) (
  input  logic             wr_clk_i,
  input  logic             wr_rst_ni,
  input  logic             wr_valid_i,
  output logic             wr_ready_o,
  input  logic             wr_last_i,
  input  logic [WIDTH-1:0] wr_data_i,
  input  logic             wr_drop_i,
  input  logic             wr_abort_i,
  output logic             wr_dropped_o, // a frame each cycle

  input  logic             rd_clk_i,
  input  logic             rd_rst_ni,
  output logic             rd_valid_o,
  input  logic             rd_ready_i,
  output logic             rd_last_o,
  output logic [WIDTH-1:0] rd_data_o,
  input  logic             rd_abort_i
);

  localparam int unsigned ADDR_W = $clog2(DEPTH);

  // ---------------------------------------------------------------- writer
  // Beats written less those rolled back, one bit more than the address; the present frame began at `start_q`.
  logic [ADDR_W:0] count_q, start_q, used, read_seen;
  logic [ADDR_W-1:0] length_q;  // beats of it so far
  logic room_q, skip_q, length_ready, room, refuse, taken, push, finish;

  assign used         = count_q - read_seen;
  assign room         = room_q && length_ready;
  assign refuse       = wr_drop_i || (DROP && !room);
  assign wr_ready_o   = DROP || skip_q || wr_drop_i || room;
  assign taken        = wr_valid_i && wr_ready_o && !wr_abort_i;
  assign push         = taken && !skip_q && !refuse;
  assign finish       = push && wr_last_i;
  assign wr_dropped_o = wr_abort_i ? length_q != '0 : taken && !skip_q && refuse;

  // Room is computed a cycle ahead, with a beat to spare for the one that comes meanwhile.
  always_ff @(posedge wr_clk_i or negedge wr_rst_ni) begin
    if (!wr_rst_ni) begin
      count_q  <= '0;
      start_q  <= '0;
      length_q <= '0;
      room_q   <= 1'b0;
      skip_q   <= DROP;
    end else begin
      room_q <= used < (ADDR_W + 1)'(DEPTH - 2);
      if (wr_abort_i) begin
        count_q  <= start_q;
        length_q <= '0;
        skip_q   <= 1'b0;
      end else if (push) begin
        count_q  <= count_q + 1'b1;
        length_q <= wr_last_i ? '0 : length_q + 1'b1;
        if (wr_last_i) start_q <= count_q + 1'b1;
      end else if (taken) begin
        count_q  <= start_q;
        length_q <= '0;
        skip_q   <= !wr_last_i;
      end
    end
  end

  // ---------------------------------------------------------------- across
  logic length_valid, length_taken;
  logic [ADDR_W-1:0] length;
  logic [  ADDR_W:0] read_q;

  fifo_async #(
    .WIDTH(ADDR_W),
    .DEPTH(FRAMES)
  ) u_lengths (
    .wr_clk_i,
    .wr_rst_ni,
    .wr_valid_i(finish),
    .wr_ready_o(length_ready),
    .wr_data_i (length_q + 1'b1),
    .wr_empty_o(),
    .rd_clk_i,
    .rd_rst_ni,
    .rd_valid_o(length_valid),
    .rd_ready_i(length_taken),
    .rd_data_o (length)
  );

  gray_sync #(
    .WIDTH(ADDR_W + 1)
  ) u_read (
    .src_clk_i  (rd_clk_i),
    .src_rst_ni (rd_rst_ni),
    .src_count_i(read_q),
    .dst_clk_i  (wr_clk_i),
    .dst_rst_ni (wr_rst_ni),
    .dst_count_o(read_seen)
  );

  // ---------------------------------------------------------------- reader
  // The memory's output register is the beat shown. `left_q` beats of its frame are not fetched yet; none and one are bits of their own. The next
  // frame's length is in a slice, so that no path leads from a taken beat to the lengths' FIFO.
  logic [ADDR_W-1:0] left_q, ahead;
  logic some_q, one_q, ahead_valid, ahead_one, head_valid_q, head_last_q, inside_q, lost_q, fetch, take, next;

  stream_slice #(
    .WIDTH(ADDR_W + 1)
  ) u_ahead (
    .clk_i      (rd_clk_i),
    .rst_ni     (rd_rst_ni),
    .in_valid_i (length_valid),
    .in_ready_o (length_taken),
    .in_data_i  ({length == ADDR_W'(1), length}),
    .out_valid_o(ahead_valid),
    .out_ready_i(next),
    .out_data_o ({ahead_one, ahead}),
    .shown_o    ()
  );

  assign rd_valid_o = head_valid_q && !lost_q && !rd_abort_i;
  assign rd_last_o  = head_last_q;
  assign take       = head_valid_q && (lost_q || (rd_ready_i && !rd_abort_i));
  assign fetch      = some_q && (!head_valid_q || take);
  assign next       = !some_q || (one_q && fetch);

  always_ff @(posedge rd_clk_i or negedge rd_rst_ni) begin
    if (!rd_rst_ni) begin
      left_q       <= '0;
      some_q       <= 1'b0;
      one_q        <= 1'b0;
      read_q       <= '0;
      head_valid_q <= 1'b0;
      head_last_q  <= 1'b0;
      inside_q     <= 1'b0;
      lost_q       <= 1'b0;
    end else begin
      if (next) begin
        left_q <= ahead;
        some_q <= ahead_valid;
        one_q  <= ahead_one;
      end else if (fetch) begin
        left_q <= left_q - 1'b1;
        one_q  <= left_q == ADDR_W'(2);
      end
      if (fetch) begin
        read_q       <= read_q + 1'b1;
        head_valid_q <= 1'b1;
        head_last_q  <= one_q;
      end else if (take) begin
        head_valid_q <= 1'b0;
      end
      if (take) inside_q <= !head_last_q;
      if (take && head_last_q) lost_q <= 1'b0;
      else if (rd_abort_i && inside_q) lost_q <= 1'b1;
    end
  end

  ram_2clk #(
    .WIDTH(WIDTH),
    .DEPTH(DEPTH)
  ) u_ram (
    .wr_clk_i,
    .we_i   (push),
    .waddr_i(count_q[ADDR_W-1:0]),
    .wdata_i(wr_data_i),
    .rd_clk_i,
    .re_i   (fetch),
    .raddr_i(read_q[ADDR_W-1:0]),
    .rdata_o(rd_data_o)
  );

  if (DEPTH < 8 || (1 << ADDR_W) != DEPTH) begin : gen_param_check
    $error("frame_fifo: DEPTH must be a power of two, at least 8");
  end

  `WEFT_ASSERT(never_over_the_unread, used < (ADDR_W + 1)'(DEPTH), wr_clk_i, wr_rst_ni)
  `WEFT_ASSERT(length_is_what_is_in, length_q == ADDR_W'(count_q - start_q), wr_clk_i, wr_rst_ni)
  // A frame that never fits would wait for ever.
  `WEFT_ASSERT(longest_frame_fits, DROP || length_q < ADDR_W'(DEPTH - 2), wr_clk_i, wr_rst_ni)
  `WEFT_ASSERT(no_gap_inside, !inside_q || head_valid_q, rd_clk_i, rd_rst_ni)
  `WEFT_ASSERT(one_is_one, !some_q || (one_q == (left_q == ADDR_W'(1)) && left_q != '0), rd_clk_i, rd_rst_ni)
  `WEFT_STREAM(u_rules, rd_valid_o || rd_abort_i, rd_ready_i, {rd_last_o, rd_data_o}, rd_abort_i, rd_clk_i, rd_rst_ni)

endmodule
