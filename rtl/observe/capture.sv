// The capture ring (docs/card.md "Capture ring"): copies of the frames received and sent, in host memory.
//
// Handshake: Observes both directions; to dma_write a command, then its beats.
// Pipeline:  stage          | what happens
//            capture_buffer | a buffer of frames for each direction
//            capture_writer | the older frame to host memory: bytes, then header
// Why:       Neither direction is ever stalled; a frame without room is left out and counted.

module capture
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W       = 512,
  parameter  int unsigned BUFFER_BYTES = 32768,                  // for each direction
  localparam int unsigned COUNT_W      = $clog2(DATA_W / 8) + 1
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic         [63:0] time_i,
  input capture_cfg_t        cfg_i,

  // Beats as they pass: 0 receive, 1 transmit.
  input logic [1:0]               beat_valid_i,
  input logic [1:0]               beat_last_i,
  input logic [1:0]               beat_bad_i,
  input logic [1:0][  DATA_W-1:0] beat_data_i,
  input logic [1:0][DATA_W/8-1:0] beat_keep_i,

  // To dma_write.
  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output logic [       63:0] cmd_addr_o,
  output logic [       15:0] cmd_bytes_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               written_i,

  output logic [31:0] tail_o,
  output logic        busy_o,   // a frame is being written
  output logic [ 1:0] taken_o,  // pulses: a frame begins to be written, a frame was left out
  output logic [ 1:0] lost_o,
  output logic        idle_o
);

  logic [1:0] frame_valid, frame_ready, rd_valid, free_valid, buffer_idle;
  logic [15:0] rd_pos, free_stop;
  logic           [1:0][DATA_W-1:0] rd_data;
  capture_frame_t [1:0]             frame;
  logic                             writer_idle;

  for (genvar side = 0; side < 2; side++) begin : gen_side
    capture_buffer #(
      .DATA_W      (DATA_W),
      .BUFFER_BYTES(BUFFER_BYTES)
    ) u_buffer (
      .clk_i,
      .rst_ni,
      .time_i,
      .enable_i     (cfg_i.enable[side]),
      .snap_i       (cfg_i.snap),
      .beat_valid_i (beat_valid_i[side]),
      .beat_last_i  (beat_last_i[side]),
      .beat_bad_i   (beat_bad_i[side]),
      .beat_data_i  (beat_data_i[side]),
      .beat_keep_i  (beat_keep_i[side]),
      .frame_valid_o(frame_valid[side]),
      .frame_ready_i(frame_ready[side]),
      .frame_o      (frame[side]),
      .rd_valid_i   (rd_valid[side]),
      .rd_pos_i     (rd_pos),
      .rd_data_o    (rd_data[side]),
      .free_valid_i (free_valid[side]),
      .free_stop_i  (free_stop),
      .lost_o       (lost_o[side]),
      .idle_o       (buffer_idle[side])
    );
  end

  capture_writer #(
    .DATA_W(DATA_W)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .frame_valid_i(frame_valid),
    .frame_ready_o(frame_ready),
    .frame_i      (frame),
    .rd_valid_o   (rd_valid),
    .rd_pos_o     (rd_pos),
    .rd_data_i    (rd_data),
    .free_valid_o (free_valid),
    .free_stop_o  (free_stop),
    .cmd_valid_o,
    .cmd_ready_i,
    .cmd_addr_o,
    .cmd_bytes_o,
    .wr_valid_o,
    .wr_ready_i,
    .wr_data_o,
    .wr_count_o,
    .wr_last_o,
    .written_i,
    .tail_o,
    .taken_o,
    .idle_o       (writer_idle)
  );

  assign busy_o = !writer_idle;
  assign idle_o = writer_idle && buffer_idle == '1;

  logic unused;
  assign unused = ^cfg_i;

endmodule
