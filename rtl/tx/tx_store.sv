// Keeps TCP payloads until their headers are known, then sends them, with their CRC inserted.
//
// Handshake: ready/valid at all ports. `in_ready_o` is a register, so one place of the ring stays empty. From a packet's first beat at the output on,
//            there is one beat a cycle.
// Pipeline:  stage   | registers      | what happens                            | hazards
//            write   | u_ring, used_q | a beat is stored                        | room_q: freed space is seen a cycle late
//            command | now_q, left_q  | fetch or drop, in order                 | a drop takes one cycle
//            read    | m_valid_q      | a beat is read                          | credit_q: room in u_out
//            CRC     | c_data_q       | the CRC replaces the packet's last word
//            out     | u_out          | FIFO

`include "weft_assert.svh"

module tx_store
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned BYTES   = 32768,                  // at least two of the longest frames
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [DATA_W-1:0] in_data_i,

  input  logic   fetch_valid_i,
  output logic   fetch_ready_o,
  input  fetch_t fetch_i,

  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [ DATA_W-1:0] out_data_o,
  output logic [COUNT_W-3:0] out_words_o,  // in the beat, a last one that is not full among them
  output logic               out_last_o    // the last beat of a segment's payload
);

  localparam int unsigned BEAT_BYTES = DATA_W / 8;
  localparam int unsigned LANE_W = COUNT_W - 1;
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned WORD_W = LANE_W - 2;
  localparam int unsigned DEPTH = BYTES / BEAT_BYTES;
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam int unsigned OUT_DEPTH = 8;

  // The present command; the next one is taken as it ends.
  logic have_q, last_q;  // last_q: its last beat is read next
  fetch_t now_q;
  logic [13-LANE_W:0] beats, left_q;  // of the packet, from the next beat on, less one
  logic next_take, discard, read, out_pop;
  logic [3:0] credit_q;  // beats in flight to the output or waiting there
  logic       credit_ok_q;

  assign beats         = (14 - LANE_W)'((fetch_i.length - 14'd1) >> LANE_W);
  assign discard       = have_q && now_q.drop;
  assign read          = have_q && !now_q.drop && credit_ok_q;
  assign next_take     = !have_q || discard || (read && last_q);
  assign fetch_ready_o = next_take;
  assign out_pop       = out_valid_o && out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q      <= 1'b0;
      credit_q    <= '0;
      credit_ok_q <= 1'b1;
    end else begin
      if (next_take) have_q <= fetch_valid_i;
      if (read && !out_pop) begin
        credit_q    <= credit_q + 1'b1;
        credit_ok_q <= credit_q != 4'(OUT_DEPTH - 1);
      end else if (!read && out_pop) begin
        credit_q    <= credit_q - 1'b1;
        credit_ok_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (next_take) begin
      now_q  <= fetch_i;
      left_q <= beats;
      last_q <= beats == '0;
    end else if (read) begin
      left_q <= left_q - 1'b1;
      last_q <= left_q == (14 - LANE_W)'(1);
    end
  end

  // ---------------------------------------------------------------- room: freed a cycle late, visible a cycle late
  logic [ADDR_W-1:0] wr_ptr_q, rd_ptr_q;
  logic [  ADDR_W:0] used_q;
  logic [ADDR_W-1:0] freed_q;
  logic room_q, write;

  assign in_ready_o = room_q;
  assign write      = in_valid_i && room_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      used_q   <= '0;
      freed_q  <= '0;
      room_q   <= 1'b0;
    end else begin
      if (write) wr_ptr_q <= wr_ptr_q + 1'b1;
      if (discard) rd_ptr_q <= rd_ptr_q + ADDR_W'(left_q) + 1'b1;
      else if (read) rd_ptr_q <= rd_ptr_q + 1'b1;
      freed_q <= discard ? ADDR_W'(left_q) + 1'b1 : ADDR_W'(read);
      used_q  <= used_q + (ADDR_W + 1)'(write) - (ADDR_W + 1)'(freed_q);
      room_q  <= used_q < (ADDR_W + 1)'(DEPTH - 1);
    end
  end

  // ---------------------------------------------------------------- memory
  logic m_valid_q, m_crc_q, m_end_q;
  logic [LANE_W-1:0] last_lane;  // of the packet's last beat
  logic [WORD_W-1:0] m_word_q;  // the beat's last word: at the packet's end that of the CRC
  logic [      31:0] m_crc_value_q;
  logic [DATA_W-1:0] m_data;

  ram_1r1w #(
    .WIDTH (DATA_W),
    .DEPTH (DEPTH),
    .UNSEEN(1'b1)
  ) u_ring (
    .clk_i,
    .we_i   (write),
    .waddr_i(wr_ptr_q),
    .wdata_i(in_data_i),
    .re_i   (read),
    .raddr_i(rd_ptr_q),
    .rdata_o(m_data)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) m_valid_q <= 1'b0;
    else m_valid_q <= read;
  end

  assign last_lane = LANE_W'(now_q.length) - 1'b1;

  always_ff @(posedge clk_i) begin
    m_crc_q       <= now_q.crc && last_q;
    m_end_q       <= last_q && !now_q.more;
    m_word_q      <= last_q ? last_lane[LANE_W-1:2] : '1;
    m_crc_value_q <= now_q.crc_value;
  end

  // ---------------------------------------------------------------- CRC in its place
  logic c_valid_q, c_end_q, out_room;
  logic [WORD_W-1:0] c_word_q, out_word;
  logic [DATA_W-1:0] c_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) c_valid_q <= 1'b0;
    else c_valid_q <= m_valid_q;
  end

  always_ff @(posedge clk_i) begin
    c_end_q  <= m_end_q;
    c_word_q <= m_word_q;
    for (int unsigned w = 0; w < WORDS; w++) begin
      c_data_q[32*w+:32] <= m_crc_q && m_word_q == WORD_W'(w) ? m_crc_value_q : m_data[32*w+:32];
    end
  end

  fifo_sync #(
    .WIDTH(1 + WORD_W + DATA_W),
    .DEPTH(OUT_DEPTH)
  ) u_out (
    .clk_i,
    .rst_ni,
    .wr_valid_i(c_valid_q),
    .wr_ready_o(out_room),
    .wr_data_i ({c_end_q, c_word_q, c_data_q}),
    .rd_valid_o(out_valid_o),
    .rd_ready_i(out_ready_i),
    .rd_data_o ({out_last_o, out_word, out_data_o}),
    .count_o   ()
  );

  assign out_words_o = (WORD_W + 1)'(out_word) + 1'b1;

  logic unused;
  assign unused = ^{out_room, last_lane[1:0]};

  if ((1 << ADDR_W) != DEPTH || BYTES < 2 * 9216) begin : gen_param_check
    $error("tx_store: BYTES must be a power of two, and hold two of the longest frames");
  end
  `WEFT_ASSERT(out_has_room, c_valid_q -> out_room)
  `WEFT_ASSERT(has_beats, read -> used_q > (ADDR_W + 1)'(freed_q))
  `WEFT_ASSERT(has_room, write -> used_q != (ADDR_W + 1)'(DEPTH))
  `WEFT_ASSERT(fetch_has_length, fetch_valid_i -> fetch_i.length != '0)

endmodule
