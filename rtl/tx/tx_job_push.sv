// The push window: jobs that the host writes into the card, so that they are not fetched from its memory (docs/card.md "Sending: jobs").
//
// Handshake: Writes are always taken, one beat each, with a strobe for each word of 32 bits. `here_o` is of the `head_i` of two cycles ago: the user
//            waits that long after a change. `take_i` only with `here_o`; the beats of taken jobs come out in order, ready/valid.
// Pipeline:  writes ─► a register ─► slots ─► the head's slot: full, with its number? ─► `here_o`
//                                      '────► beats of those taken ─► out
//            stage | registers                | what happens                            | hazards
//            write | data_q, place_q          | a beat at its place
//            slot  | u_slots, full_q, numbers | full with the last word of the slot     | numbered_q: the number is stored a cycle late
//            look  | some_q, number, sought_q | full flag and number of the head's slot
//            here  | here_o                   | both agree
//            take  | u_taken, u_ahead         | beats of the job are read ahead
// Why:       A slot is written again only when the host knows that its job is done. That job may have come from the ring, and its writes here be
//            late.

`include "weft_assert.svh"

module tx_job_push
  import weft_card_pkg::*;
#(
  parameter  int unsigned DATA_W = 512,
  parameter  int unsigned SLOTS  = 32,
  localparam int unsigned BEATS  = 8 * 128 / DATA_W
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i, // all earlier writes are dropped

  input logic                push_valid_i,  // always taken
  input logic [        11:0] push_addr_i,
  input logic [  DATA_W-1:0] push_data_i,
  input logic [DATA_W/8-1:0] push_strb_i,

  input  logic [31:0] head_i,
  output logic        here_o,
  input  logic        take_i,

  output logic              beat_valid_o,
  input  logic              beat_ready_i,
  output logic [DATA_W-1:0] beat_o,

  output logic idle_o
);

  localparam int unsigned LANES = DATA_W / 8;
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned SLOT_W = $clog2(SLOTS);
  localparam int unsigned BEAT_W = $clog2(BEATS);
  localparam int unsigned PLACE_W = SLOT_W + BEAT_W;
  localparam int unsigned NUMBER_W = 32 - SLOT_W;
  localparam int unsigned NUMBER_BEAT = 52 / LANES;  // the beat of a job in which its number is, and where there
  localparam int unsigned NUMBER_LSB = 8 * (52 % LANES);

  // ---------------------------------------------------------------- writes
  logic               write_q;
  logic [PLACE_W-1:0] place_q;
  logic [ DATA_W-1:0] data_q;
  logic [  WORDS-1:0] words_q;  // written
  logic whole, numbered;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_q <= 1'b0;
    else write_q <= push_valid_i;
  end
  always_ff @(posedge clk_i) begin
    place_q <= push_addr_i[$clog2(LANES)+:PLACE_W];
    data_q  <= push_data_i;
    for (int unsigned w = 0; w < WORDS; w++) words_q[w] <= &push_strb_i[4*w+:4];
  end

  assign whole    = write_q && place_q[BEAT_W-1:0] == BEAT_W'(BEATS - 1) && words_q[WORDS-1];
  assign numbered = write_q && place_q[BEAT_W-1:0] == BEAT_W'(NUMBER_BEAT) && words_q[NUMBER_LSB/32];

  // ---------------------------------------------------------------- which slots are full
  logic [SLOTS-1:0] full_q;
  logic             some_q;  // of the head's slot, a cycle ago
  logic [NUMBER_W-1:0] number, sought_q;

  // A slot that is being written is not full, whatever it held: its new number enters the memory a cycle later.
  logic                numbered_q;
  logic [  SLOT_W-1:0] slot_q;
  logic [NUMBER_W-1:0] number_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) numbered_q <= 1'b0;
    else numbered_q <= numbered;
  end
  always_ff @(posedge clk_i) begin
    slot_q   <= place_q[BEAT_W+:SLOT_W];
    number_q <= data_q[NUMBER_LSB+SLOT_W+:NUMBER_W];
  end

  // In LUT RAM: behind a block RAM's output the comparison would be too long.
  logic [NUMBER_W-1:0] numbers[SLOTS];
  always_ff @(posedge clk_i) begin
    if (numbered_q) numbers[slot_q] <= number_q;
    number <= numbers[head_i[SLOT_W-1:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= '0;
      some_q <= 1'b0;
      here_o <= 1'b0;
    end else begin
      if (whole || numbered) full_q[place_q[BEAT_W+:SLOT_W]] <= whole;
      if (take_i) full_q[head_i[SLOT_W-1:0]] <= 1'b0;
      if (clear_i) full_q <= '0;
      some_q <= full_q[head_i[SLOT_W-1:0]];
      here_o <= some_q && number == sought_q;
    end
  end
  always_ff @(posedge clk_i) begin
    sought_q <= head_i[31:SLOT_W];
  end

  // ---------------------------------------------------------------- beats of those taken
  logic reading, room, take, unused_ready, unused_idle;
  logic [SLOT_W-1:0] slot;
  logic [BEAT_W-1:0] beat_no_q;
  logic [DATA_W-1:0] read;
  logic [  SLOT_W:0] waiting;

  fifo_sync #(
    .WIDTH(SLOT_W),
    .DEPTH(SLOTS)
  ) u_taken (
    .clk_i,
    .rst_ni,
    .wr_valid_i(take_i),
    .wr_ready_o(unused_ready),
    .wr_data_i (head_i[SLOT_W-1:0]),
    .rd_valid_o(reading),
    .rd_ready_i(take && beat_no_q == BEAT_W'(BEATS - 1)),
    .rd_data_o (slot),
    .count_o   (waiting)
  );

  assign take = reading && room;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_no_q <= '0;
    else if (take) beat_no_q <= beat_no_q + 1'b1;
  end

  for (genvar w = 0; w < WORDS; w++) begin : gen_word
    ram_1r1w #(
      .WIDTH(32),
      .DEPTH(SLOTS * BEATS)
    ) u_slots (
      .clk_i,
      .we_i   (write_q && words_q[w]),
      .waddr_i(place_q),
      .wdata_i(data_q[32*w+:32]),
      .re_i   (take),
      .raddr_i({slot, beat_no_q}),
      .rdata_o(read[32*w+:32])
    );
  end

  read_ahead #(
    .WIDTH(DATA_W)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .room_o (room),
    .grant_i(take),
    .data_i (read),
    .valid_o(beat_valid_o),
    .take_i (beat_valid_o && beat_ready_i),
    .data_o (beat_o),
    .idle_o (unused_idle)
  );

  // The latency of a write.
  logic [3:0] recent_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) recent_q <= '0;
    else recent_q <= {recent_q[2:0], push_valid_i};
  end
  assign idle_o = recent_q == '0;

  logic unused;
  assign unused = ^{push_addr_i, unused_idle, unused_ready, waiting};

  if (SLOTS * 128 > 4096 || (1 << SLOT_W) != SLOTS || SLOTS < 2 || (DATA_W != 128 && DATA_W != 256 && DATA_W != 512)) begin : gen_param_check
    $error("tx_job_push: SLOTS must be a power of two from 2 to 32, DATA_W 128, 256 or 512");
  end
  `WEFT_ASSERT(taken_if_here, take_i -> here_o)
  `WEFT_ASSERT(room_for_taken, take_i -> unused_ready)

endmodule
