// Joins headers and payload into frames for the MAC.
//
// Handshake: ready/valid; the output is a register slice, held until taken. A frame begins when its header and the first beat of its payload are
//            there. The store then has a beat each cycle, so a frame once begun has no gap.
// Pipeline:  stage  | registers      | what happens                                   | hazards
//            header | next_q         | the next frame's header
//            frame  | head_q, beat_q | the present frame, and what its next beat is
//            merge  | carry_q, u_out | payload rotated by the header's length, merged | waits for the payload's first beat
// Why:       Headers have any even length up to HEADER_BYTES, or none. A replay's bytes go to receive, from lane 0 on, with replay_t in place of the
//            headers.

`include "weft_assert.svh"

module tx_emit
  import weft_int_pkg::replay_t;
  import weft_tx_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                     header_valid_i,
  output logic                     header_ready_o,
  input  out_header_t              header_i,
  input  logic                     payload_valid_i,
  output logic                     payload_ready_o,
  input  logic        [DATA_W-1:0] payload_data_i,
  output logic                     begun_o,          // pulse: it is the next frame's turn

  output logic [  DATA_W-1:0] mac_tx_tdata,
  output logic [DATA_W/8-1:0] mac_tx_tkeep,
  output logic                mac_tx_tlast,
  output logic                mac_tx_tvalid,
  input  logic                mac_tx_tready,

  output logic    replay_valid_o,  // data, keep and last as for the MAC
  input  logic    replay_ready_i,
  output replay_t replay_about_o,

  output logic        sent_replay_o,   // with sent_o: it was a replay
  output logic        sent_o,          // pulses with the last beat: a frame, its bytes, its FPDUs
  output logic [15:0] sent_bytes_o,
  output logic [ 4:0] sent_fpdus_o,
  output logic        sent_segment_o,  // the card made its headers
  output logic [31:0] sent_seq_o,      // its sequence number then
  output logic        stall_o
);

  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned LANE_W = $clog2(BYTES);
  localparam int unsigned HEADER_BEATS = (HEADER_BYTES + BYTES - 1) / BYTES;
  localparam int unsigned PADDED_W = HEADER_BEATS * DATA_W;
  localparam logic [14:0] BEAT_BYTES = 15'(BYTES);

  // The next header, and the bytes of its frame.
  logic next_valid_q, next_take;
  out_header_t        next_q;
  logic        [14:0] next_bytes_q;

  assign header_ready_o = !next_valid_q || next_take;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) next_valid_q <= 1'b0;
    else if (header_ready_o) next_valid_q <= header_valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (header_ready_o) begin
      next_q       <= header_i;
      next_bytes_q <= 15'(header_i.header_bytes) + 15'(header_i.payload_bytes);
    end
  end

  // ---------------------------------------------------------------- the present frame, and what its next beat is
  logic head_valid_q, head_take;
  out_header_t head_q;
  logic [14:0] bytes_q, left_q;  // of the frame; of the frame from the next beat on
  logic [14:0] payload_left_q;
  logic [2:0] beat_q, beat_d;  // saturates at the first beat behind the header
  logic [2:0] header_beats, next_header_beats;  // full ones
  logic [LANE_W-1:0] rest;  // header bytes behind these
  logic [BYTES-1:0] in_rest_q, keep_q;
  logic in_header_q, edge_q;  // in_header_q: the beat is all header; edge_q: it has the header's last bytes
  logic last_q, use_payload_q, need_payload_q;
  logic [PADDED_W-1:0] padded;
  logic [DATA_W-1:0] header_beat, rotated, merged, carry_q, carry;
  logic in_header_d, more_payload, have, free, load;

  assign header_beats      = 3'(head_q.header_bytes >> LANE_W);
  assign next_header_beats = 3'(next_q.header_bytes >> LANE_W);
  assign rest              = head_q.header_bytes[LANE_W-1:0];
  assign beat_d            = beat_q > header_beats ? beat_q : beat_q + 3'd1;
  assign in_header_d       = beat_d < header_beats;
  assign more_payload      = use_payload_q ? payload_left_q > BEAT_BYTES : payload_left_q != '0;

  assign have              = head_valid_q && (payload_valid_i || !need_payload_q);
  assign load              = have && free;
  assign payload_ready_o   = load && use_payload_q;
  assign head_take         = load && last_q;
  assign next_take         = !head_valid_q || head_take;

  assign begun_o           = next_take && next_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) head_valid_q <= 1'b0;
    else if (next_take) head_valid_q <= next_valid_q;
  end

  always_ff @(posedge clk_i) begin
    if (next_take) begin
      head_q         <= next_q;
      bytes_q        <= next_bytes_q;
      left_q         <= next_bytes_q;
      last_q         <= next_bytes_q <= BEAT_BYTES;
      beat_q         <= 3'd0;
      in_header_q    <= next_header_beats != 3'd0;
      edge_q         <= next_header_beats == 3'd0;
      payload_left_q <= 15'(next_q.payload_bytes);
      use_payload_q  <= next_header_beats == 3'd0 && next_q.payload_bytes != '0;
      // The payload's first beat has to be there even if the headers fill the first beat.
      need_payload_q <= next_q.payload_bytes != '0;
      for (int unsigned b = 0; b < BYTES; b++) begin
        in_rest_q[b] <= LANE_W'(b) < next_q.header_bytes[LANE_W-1:0];
        keep_q[b]    <= 15'(b) < next_bytes_q;
      end
    end else if (load) begin
      left_q      <= left_q - BEAT_BYTES;
      last_q      <= left_q <= 15'(2 * BYTES);
      beat_q      <= beat_d;
      in_header_q <= in_header_d;
      edge_q      <= beat_d == header_beats;
      if (use_payload_q) payload_left_q <= payload_left_q > BEAT_BYTES ? payload_left_q - BEAT_BYTES : '0;
      use_payload_q  <= !in_header_d && more_payload;
      need_payload_q <= !in_header_d && more_payload;
      for (int unsigned b = 0; b < BYTES; b++) keep_q[b] <= 15'(b + BYTES) < left_q;
    end
    if (load) carry_q <= rotated;
  end

  logic unused_payload_bytes;
  assign unused_payload_bytes = ^head_q.payload_bytes;

  // ---------------------------------------------------------------- data
  always_comb begin
    padded                     = '0;
    padded[8*HEADER_BYTES-1:0] = head_q.header;
    header_beat                = padded[DATA_W-1:0];
    for (int unsigned b = 1; b < HEADER_BEATS; b++) begin
      if (beat_q == 3'(b)) header_beat = padded[DATA_W*b+:DATA_W];
    end
    rotated = payload_data_i;
    for (int unsigned s = 1; s < LANE_W; s++) begin
      if (rest[s]) rotated = (rotated << (8 << s)) | (rotated >> (DATA_W - (8 << s)));
    end
    carry = edge_q ? header_beat : carry_q;
    for (int unsigned b = 0; b < BYTES; b++) begin
      if (in_header_q) merged[8*b+:8] = header_beat[8*b+:8];
      else merged[8*b+:8] = in_rest_q[b] ? carry[8*b+:8] : rotated[8*b+:8];
    end
  end

  // ---------------------------------------------------------------- out, and what was sent
  typedef struct packed {
    logic [14:0] bytes;
    logic [4:0]  fpdus;
    logic        segment;
    logic [31:0] seq;
    logic        replay;
    replay_t     about;
  } sent_t;

  sent_t sent_in, sent;
  logic out_valid, out_ready;

  assign sent_in = '{
          bytes: bytes_q,
          fpdus: head_q.fpdus,
          segment: head_q.header_bytes != '0,
          seq: head_q.seq,
          replay: head_q.replay,
          about: replay_t'(head_q.header[$bits(replay_t)-1:0])
      };

  stream_slice #(
    .WIDTH($bits(sent_t) + 1 + DATA_W / 8 + DATA_W)
  ) u_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (have),
    .in_ready_o (free),
    .in_data_i  ({sent_in, last_q, keep_q, merged}),
    .out_valid_o(out_valid),
    .out_ready_i(out_ready),
    .out_data_o ({sent, mac_tx_tlast, mac_tx_tkeep, mac_tx_tdata}),
    .shown_o    ()
  );

  assign mac_tx_tvalid  = out_valid && !sent.replay;
  assign replay_valid_o = out_valid && sent.replay;
  assign replay_about_o = sent.about;
  assign out_ready      = sent.replay ? replay_ready_i : mac_tx_tready;
  assign sent_o         = out_valid && out_ready && mac_tx_tlast;
  assign sent_replay_o  = sent.replay;
  assign sent_bytes_o   = 16'(sent.bytes);
  assign sent_fpdus_o   = sent.fpdus;
  assign sent_segment_o = sent.segment;
  assign sent_seq_o     = sent.seq;
  assign stall_o        = mac_tx_tvalid && !mac_tx_tready;

`ifndef SYNTHESIS
  `WEFT_STREAM(u_rules, mac_tx_tvalid, mac_tx_tready, {mac_tx_tdata, mac_tx_tkeep})
  // A frame has no gap.
  logic inside_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (out_valid) inside_q <= !(out_ready && mac_tx_tlast);
  end
  `WEFT_ASSERT(no_bubble, inside_q -> out_valid)
  `WEFT_ASSERT(even_header, header_valid_i -> !header_i.header_bytes[0] && 32'(header_i.header_bytes) <= HEADER_BYTES)

  for (genvar i = 0; i < DATA_W / 8; i++) begin : gen_point
    `WEFT_COVER(ends, mac_tx_tvalid && mac_tx_tlast && mac_tx_tkeep == '1 >> (DATA_W / 8 - 1 - i))
  end
`endif

endmodule
