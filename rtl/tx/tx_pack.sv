// Puts FPDUs that wait behind each other into one segment, and releases the payload of each from the store (RFC 5044 §5.1).
//
// Handshake: ready/valid. A frame is taken with sum and CRC of its payload. The store's command for it goes out when it is known whether another FPDU
//            follows in its segment. The segment goes to tx_tcp as one frame, with the sum of all; its last command goes with it, when both are
//            ready. `begun_i`: a segment begins at the MAC.
// Pipeline:  frame ─► register ─┬─► segment, sum ─► tx_tcp
//            sum, CRC ──────────┴─► command ─► store
//            state  | registers           | what happens                                       | left when
//            Take   |                     | a frame is taken                                   | there is one
//            Sum    | sum_q, crc_q        | sum and CRC of its payload are added               | both are there
//            Look   | fits_q              | the next frame is compared; not of unpacked flows  | always
//            Decide | frame_q, state_q    | the next frame joins, or the segment goes          | the command is taken
// Why:       A segment whose turn it is goes: at most one waits before it. Only what waits then already joins it, while that one has work for the
//            wire. So packing delays no frame. All FPDUs are whole words (RFC 5044 §4.1), so their sums add up.

`include "weft_assert.svh"

module tx_pack
  import weft_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic          frame_valid_i,
  output logic          frame_ready_o,
  input  frame_t        frame_i,
  input  logic          sum_valid_i,
  output logic          sum_ready_o,
  input  logic   [31:0] sum_i,
  input  logic          crc_valid_i,
  output logic          crc_ready_o,
  input  logic   [31:0] crc_i,

  output logic          fetch_valid_o,
  input  logic          fetch_ready_i,
  output fetch_t        fetch_o,
  output logic          segment_valid_o,
  input  logic          segment_ready_i,
  output frame_t        segment_o,
  output logic   [ 4:0] segment_fpdus_o,
  output logic   [21:0] segment_sum_o,    // of its payload but for CRCs, and of those: first byte in bits 7:0
  output logic   [21:0] segment_crcs_o,

  input  logic begun_i,
  output logic drop_o    // pulse: a frame was dropped
);

  typedef enum logic [1:0] {
    Take,
    Sum,
    Look,
    Decide
  } state_e;

  state_e        state_q;
  frame_t        frame_q;  // the segment; length and headers are of all its FPDUs
  logic   [ 4:0] fpdus_q;
  logic   [13:0] part_q;  // payload of the newest frame in it
  logic   [31:0] crc_q;  // its CRC
  logic          crc_there_q;
  logic [21:0] sum_q, crcs_q;
  logic packs_q;  // others may join
  logic full_q;  // it has MAX_PACK_FPDUS
  logic fits_q, fits;
  logic has_payload_q, there, added, joins, goes;

  assign there = (!has_payload_q || sum_valid_i) && (!crc_there_q || crc_valid_i);
  assign added = state_q == Sum && there;

  // ---------------------------------------------------------------- does the next frame join?
  logic [11:0] room_q;  // payload that the segment may still have

  assign fits = frame_valid_i && sum_valid_i && (!frame_i.crc || crc_valid_i) && !frame_i.apart && !full_q && frame_i.length <= 14'(room_q);

  // ---------------------------------------------------------------- whose turn it is
  // Segments that were handed over and have not begun. Of flows that pack, one may be ahead, so that the others can be packed behind it.
  logic [3:0] ahead_q;
  logic ahead_none_q, ahead_few_q;  // ahead_q == 0; ahead_q < 2
  logic wants, open;

  assign wants = fits_q && !ahead_none_q;
  assign open  = frame_q.drop || (segment_ready_i && (!packs_q || ahead_few_q));
  assign joins = state_q == Decide && wants && fetch_ready_i;
  assign goes  = state_q == Decide && !wants && open && (!has_payload_q || fetch_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q      <= '0;
      ahead_none_q <= 1'b1;
      ahead_few_q  <= 1'b1;
    end else if (segment_valid_o != begun_i) begin
      ahead_q      <= segment_valid_o ? ahead_q + 1'b1 : ahead_q - 1'b1;
      ahead_none_q <= begun_i && ahead_q == 4'd1;
      ahead_few_q  <= segment_valid_o ? ahead_q == 4'd0 : ahead_q <= 4'd2;
    end
  end

  // ---------------------------------------------------------------- sequence
  assign frame_ready_o   = state_q == Take || goes || joins;
  assign sum_ready_o     = added && has_payload_q;
  assign crc_ready_o     = added && crc_there_q;
  assign segment_valid_o = goes && !frame_q.drop;
  assign segment_o       = frame_q;
  assign segment_fpdus_o = fpdus_q;
  assign segment_sum_o   = sum_q;
  assign segment_crcs_o  = crcs_q;
  assign fetch_valid_o   = joins || (goes && has_payload_q);
  assign fetch_o         = '{drop: frame_q.drop, crc: crc_there_q, more: joins, length: part_q, crc_value: crc_q};
  assign drop_o          = goes && frame_q.drop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Take;
    end else begin
      unique case (state_q)
        Take:    if (frame_valid_i) state_q <= Sum;
        Sum:     if (there) state_q <= packs_q ? Look : Decide;
        Look:    state_q <= Decide;
        Decide:  if (joins || goes) state_q <= frame_valid_i ? Sum : Take;
        default: state_q <= Take;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Take || goes) begin
      frame_q <= frame_i;
      fpdus_q <= 5'(frame_i.fpdu);
      full_q  <= 1'b0;
      sum_q   <= '0;
      crcs_q  <= '0;
      packs_q <= frame_i.fpdu && !frame_i.drop && frame_i.pack != '0;
    end else if (joins) begin
      frame_q.length         <= frame_q.length + frame_i.length;
      frame_q.says.ack       <= frame_i.says.ack;
      frame_q.says.window    <= frame_i.says.window;
      frame_q.says.ts_val    <= frame_i.says.ts_val;
      frame_q.says.ts_ecr    <= frame_i.says.ts_ecr;
      frame_q.says.tcp_flags <= frame_q.says.tcp_flags | frame_i.says.tcp_flags;
      fpdus_q                <= fpdus_q + 1'b1;
      full_q                 <= fpdus_q == 5'(MAX_PACK_FPDUS - 1);
    end
    if (frame_ready_o) begin
      part_q        <= frame_i.length;
      crc_there_q   <= frame_i.crc;
      has_payload_q <= frame_i.length != '0;
    end
    if (added) begin
      crc_q <= crc_i;
      if (has_payload_q) sum_q <= sum_q + 22'(sum_i[15:0]) + 22'(sum_i[31:16]);
      if (crc_there_q) crcs_q <= crcs_q + 22'(crc_i[15:0]) + 22'(crc_i[31:16]);
    end
    room_q <= 14'(frame_q.pack) > frame_q.length ? 12'(14'(frame_q.pack) - frame_q.length) : '0;
    fits_q <= fits && (state_q == Look || state_q == Decide);
  end

  `WEFT_ASSERT(ahead_counted, !(begun_i && ahead_q == '0) && ahead_q != '1)
  `WEFT_ASSERT(ahead_told, ahead_none_q == (ahead_q == '0) && ahead_few_q == (ahead_q < 4'd2))
  `WEFT_ASSERT(joins_in_turn, joins -> frame_valid_i && frame_i.fpdu && !frame_i.drop && !frame_q.drop)
  `WEFT_ASSERT(within_limits, segment_valid_o && segment_fpdus_o > 5'd1 -> 15'(segment_o.length) <= 15'(segment_o.pack))

endmodule
