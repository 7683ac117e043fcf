// Makes frames of the pieces of their TCP payloads and of their headers' fields, and sends them.
//
// Handshake: ready/valid at the pieces and at the MAC. `layout_*` has an item for each frame with payload. `frame_*` has one for each frame, after
//            its last piece at the earliest. Ready of both is early: three more may come while it is low.
// Pipeline:  pieces ─► byte_packer ─► markers ─┬─► store ──────────────────────────────────┐
//            layout ───────────────────────────┘└► CRC, sum ─► pack ─► tcp ─► headers ─► join ─► emit ─► MAC
//            headers' fields, when the payload is all read ──┘
//            stage                 | what happens                                | hazards
//            byte_packer, u_filled | pieces to full beats
//            tx_markers            | markers are inserted, four cycles
//            tx_store, tx_digest   | payload is stored; CRC and sum of it        | both ready, else neither takes the beat
//            tx_pack               | FPDUs that wait share a segment             | waits for sum and CRC
//            tx_tcp                | headers with checksums, four cycles a frame
//            tx_join               | payloads of a segment become one            | its header waits for the last of them
//            tx_emit               | headers and payload are joined              | a frame has no gap once begun
// Why:       A frame waits in the store until its checksum is known, then goes out without a gap.

`include "weft_assert.svh"

module tx_framer
  import weft_int_pkg::replay_t;
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                  piece_valid_i,
  output logic                  piece_ready_o,
  input  logic    [ DATA_W-1:0] piece_data_i,
  input  logic    [COUNT_W-1:0] piece_count_i,
  input  logic                  piece_last_i,
  input  logic                  layout_valid_i,
  output logic                  layout_ready_o,
  input  layout_t               layout_i,
  input  logic                  frame_valid_i,
  output logic                  frame_ready_o,
  input  frame_t                frame_i,
  input  logic    [       15:0] frame_flow_i,
  input  logic                  frame_port_i,

  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,

  output logic    replay_valid_o,  // a replay's bytes: data, keep and last as for the MAC
  input  logic    replay_ready_i,
  output replay_t replay_about_o,

  output logic        sent_replay_o,   // with sent_o
  output logic        drop_o,          // pulses, for the counters and the idle signal
  output logic        sent_o,
  output logic [15:0] sent_bytes_o,
  output logic [ 4:0] sent_fpdus_o,
  output logic        sent_segment_o,
  output logic [31:0] sent_seq_o,
  output logic        stall_o
);

  localparam int unsigned FRAMES = 16;  // frames between the gather and their headers
  localparam int unsigned LATE = 3;  // those that may still come when `ready` goes low

  logic layout_valid, layout_ready, layout_room, frame_valid, frame_ready, frame_room;
  logic kept_valid, kept_ready;
  layout_t layout, kept;
  frame_t followed, frame;
  logic [$clog2(FRAMES+1)-1:0] layouts, frames;

  fifo_sync #(
    .WIDTH($bits(layout_t)),
    .DEPTH(FRAMES)
  ) u_layouts (
    .clk_i,
    .rst_ni,
    .wr_valid_i(layout_valid_i),
    .wr_ready_o(layout_room),
    .wr_data_i (layout_i),
    .rd_valid_o(kept_valid),
    .rd_ready_i(kept_ready),
    .rd_data_o (kept),
    .count_o   (layouts)
  );

  stream_slice #(
    .WIDTH($bits(layout_t))
  ) u_layout (
    .clk_i,
    .rst_ni,
    .in_valid_i (kept_valid),
    .in_ready_o (kept_ready),
    .in_data_i  (kept),
    .out_valid_o(layout_valid),
    .out_ready_i(layout_ready),
    .out_data_o (layout),
    .shown_o    ()
  );

  tx_follow u_follow (
    .clk_i,
    .rst_ni,
    .frame_valid_i,
    .frame_i,
    .flow_i (frame_flow_i),
    .port_i (frame_port_i),
    .frame_o(followed)
  );

  fifo_sync #(
    .WIDTH($bits(frame_t)),
    .DEPTH(FRAMES),
    .HEAD (1'b1)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .wr_valid_i(frame_valid_i),
    .wr_ready_o(frame_room),
    .wr_data_i (followed),
    .rd_valid_o(frame_valid),
    .rd_ready_i(frame_ready),
    .rd_data_o (frame),
    .count_o   (frames)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      layout_ready_o <= 1'b0;
      frame_ready_o  <= 1'b0;
    end else begin
      layout_ready_o <= 32'(layouts) <= FRAMES - LATE;
      frame_ready_o  <= 32'(frames) <= FRAMES - LATE;
    end
  end

  // ---------------------------------------------------------------- framing
  logic filled_valid, filled_ready, filled_last, packed_valid, packed_ready, packed_last;
  logic marked_valid, marked_ready, marked_last;
  logic [DATA_W-1:0] filled_data, packed_data, marked_data;
  logic [COUNT_W-1:0] filled_count, packed_count, marked_count;
  layout_t marked_layout;
  logic store_ready, digest_ready;

  byte_packer #(
    .DATA_W(DATA_W)
  ) u_packer (
    .clk_i,
    .rst_ni,
    .in_valid_i (piece_valid_i),
    .in_ready_o (piece_ready_o),
    .in_data_i  (piece_data_i),
    .in_count_i (piece_count_i),
    .in_last_i  (piece_last_i),
    .out_valid_o(filled_valid),
    .out_ready_i(filled_ready),
    .out_data_o (filled_data),
    .out_count_o(filled_count),
    .out_last_o (filled_last)
  );

  stream_slice #(
    .WIDTH(1 + COUNT_W + DATA_W)
  ) u_filled (
    .clk_i,
    .rst_ni,
    .in_valid_i (filled_valid),
    .in_ready_o (filled_ready),
    .in_data_i  ({filled_last, filled_count, filled_data}),
    .out_valid_o(packed_valid),
    .out_ready_i(packed_ready),
    .out_data_o ({packed_last, packed_count, packed_data}),
    .shown_o    ()
  );

  tx_markers #(
    .DATA_W(DATA_W)
  ) u_markers (
    .clk_i,
    .rst_ni,
    .in_layout_valid_i(layout_valid),
    .in_layout_ready_o(layout_ready),
    .in_layout_i      (layout),
    .in_valid_i       (packed_valid),
    .in_ready_o       (packed_ready),
    .in_data_i        (packed_data),
    .in_count_i       (packed_count),
    .in_last_i        (packed_last),
    .out_valid_o      (marked_valid),
    .out_ready_i      (marked_ready),
    .out_data_o       (marked_data),
    .out_count_o      (marked_count),
    .out_last_o       (marked_last),
    .out_layout_o     (marked_layout)
  );

  assign marked_ready = store_ready && digest_ready;

  // ---------------------------------------------------------------- headers
  logic sum_valid, sum_ready, crc_valid, crc_ready;
  logic [31:0] sum, crc;
  logic fetch_in_valid, fetch_in_ready, fetch_valid, fetch_ready;
  fetch_t fetch_in, fetch;
  logic segment_valid, segment_ready, begun;
  frame_t       segment;
  logic   [4:0] segment_fpdus;
  logic [21:0] segment_sum, segment_crcs;
  logic header_in_valid, header_in_ready, header_valid, header_ready;
  out_header_t header_in, header;

  tx_digest #(
    .DATA_W (DATA_W),
    .RESULTS(FRAMES)
  ) u_digest (
    .clk_i,
    .rst_ni,
    .ready_o    (digest_ready),
    .beat_i     (marked_valid && marked_ready),
    .data_i     (marked_data),
    .count_i    (marked_count),
    .last_i     (marked_last),
    .layout_i   (marked_layout),
    .sum_valid_o(sum_valid),
    .sum_ready_i(sum_ready),
    .sum_o      (sum),
    .crc_valid_o(crc_valid),
    .crc_ready_i(crc_ready),
    .crc_o      (crc)
  );

  tx_pack u_pack (
    .clk_i,
    .rst_ni,
    .frame_valid_i  (frame_valid),
    .frame_ready_o  (frame_ready),
    .frame_i        (frame),
    .sum_valid_i    (sum_valid),
    .sum_ready_o    (sum_ready),
    .sum_i          (sum),
    .crc_valid_i    (crc_valid),
    .crc_ready_o    (crc_ready),
    .crc_i          (crc),
    .fetch_valid_o  (fetch_in_valid),
    .fetch_ready_i  (fetch_in_ready),
    .fetch_o        (fetch_in),
    .segment_valid_o(segment_valid),
    .segment_ready_i(segment_ready),
    .segment_o      (segment),
    .segment_fpdus_o(segment_fpdus),
    .segment_sum_o  (segment_sum),
    .segment_crcs_o (segment_crcs),
    .begun_i        (begun),
    .drop_o
  );

  tx_tcp u_tcp (
    .clk_i,
    .rst_ni,
    .frame_valid_i (segment_valid),
    .frame_ready_o (segment_ready),
    .frame_i       (segment),
    .fpdus_i       (segment_fpdus),
    .sum_i         (segment_sum),
    .crcs_i        (segment_crcs),
    .header_valid_o(header_in_valid),
    .header_ready_i(header_in_ready),
    .header_o      (header_in)
  );

  fifo_sync #(
    .WIDTH($bits(fetch_t)),
    .DEPTH(4)
  ) u_fetches (
    .clk_i,
    .rst_ni,
    .wr_valid_i(fetch_in_valid),
    .wr_ready_o(fetch_in_ready),
    .wr_data_i (fetch_in),
    .rd_valid_o(fetch_valid),
    .rd_ready_i(fetch_ready),
    .rd_data_o (fetch),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH($bits(out_header_t)),
    .DEPTH(4)
  ) u_headers (
    .clk_i,
    .rst_ni,
    .wr_valid_i(header_in_valid),
    .wr_ready_o(header_in_ready),
    .wr_data_i (header_in),
    .rd_valid_o(header_valid),
    .rd_ready_i(header_ready),
    .rd_data_o (header),
    .count_o   ()
  );

  // ---------------------------------------------------------------- out
  logic stored_valid, stored_ready, stored_last, payload_valid, payload_ready, whole_valid, whole_ready;
  logic [DATA_W-1:0] stored_data, payload_data;
  logic [COUNT_W-3:0] stored_words;

  tx_store #(
    .DATA_W(DATA_W)
  ) u_store (
    .clk_i,
    .rst_ni,
    .in_valid_i   (marked_valid && digest_ready),
    .in_ready_o   (store_ready),
    .in_data_i    (marked_data),
    .fetch_valid_i(fetch_valid),
    .fetch_ready_o(fetch_ready),
    .fetch_i      (fetch),
    .out_valid_o  (stored_valid),
    .out_ready_i  (stored_ready),
    .out_data_o   (stored_data),
    .out_words_o  (stored_words),
    .out_last_o   (stored_last)
  );

  tx_join #(
    .DATA_W(DATA_W)
  ) u_join (
    .clk_i,
    .rst_ni,
    .in_valid_i      (stored_valid),
    .in_ready_o      (stored_ready),
    .in_data_i       (stored_data),
    .in_words_i      (stored_words),
    .in_last_i       (stored_last),
    .out_valid_o     (payload_valid),
    .out_ready_i     (payload_ready),
    .out_data_o      (payload_data),
    .header_valid_i  (header_valid),
    .header_ready_o  (header_ready),
    .header_payload_i(header.payload_bytes != '0),
    .header_parts_i  (header.fpdus > 5'd1),
    .header_valid_o  (whole_valid),
    .header_ready_i  (whole_ready)
  );

  tx_emit #(
    .DATA_W(DATA_W)
  ) u_emit (
    .clk_i,
    .rst_ni,
    .header_valid_i (whole_valid),
    .header_ready_o (whole_ready),
    .header_i       (header),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_data_i (payload_data),
    .begun_o        (begun),
    .mac_tx_tdata,
    .mac_tx_tkeep,
    .mac_tx_tlast,
    .mac_tx_tvalid,
    .mac_tx_tready,
    .replay_valid_o,
    .replay_ready_i,
    .replay_about_o,
    .sent_replay_o,
    .sent_o,
    .sent_bytes_o,
    .sent_fpdus_o,
    .sent_segment_o,
    .sent_seq_o,
    .stall_o
  );

  `WEFT_ASSERT(layout_has_room, layout_valid_i -> layout_room)
  `WEFT_ASSERT(frame_has_room, frame_valid_i -> frame_room)
`ifdef SYNTHESIS
  logic unused_room;
  assign unused_room = layout_room && frame_room;
`endif

endmodule
