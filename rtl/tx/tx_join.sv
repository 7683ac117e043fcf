// Puts the payloads of FPDUs that share a segment one behind the other, and keeps the segment's header back until all of them are there.
//
// Handshake: ready/valid at both ends. A beat has whole words but for the end of a payload: `in_words_i` counts a last word that is not full. Headers
//            pass in the same order. One with payload in several parts passes when the last beat of its payload is in the queue.
// Pipeline:  payload ─► byte_packer ─► u_beats ─► payload
//            stage       | registers | what happens                                   | hazards
//            byte_packer | see there | words are rotated and merged, two cycles       | a segment whose end spills takes a cycle more
//            u_beats     | whole_q   | queue of BYTES; segments whose end entered it  | its output is a register
// Why:       tx_emit has no gap once begun. The store's beats come without one, but FPDUs that are not whole beats leave some. Payloads that stand
//            alone pass the packer unchanged, and their headers at once.

`include "weft_assert.svh"

module tx_join
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned BYTES   = 32'(MAX_PACK_BYTES),  // the longest payload of several FPDUs, or more
  localparam int unsigned WORDS   = DATA_W / 32,
  localparam int unsigned COUNT_W = $clog2(WORDS) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [ DATA_W-1:0] in_data_i,
  input  logic [COUNT_W-1:0] in_words_i,
  input  logic               in_last_i,    // the last beat of a segment's payload
  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [ DATA_W-1:0] out_data_o,

  input  logic header_valid_i,
  output logic header_ready_o,
  input  logic header_payload_i,  // the header is of a segment with payload
  input  logic header_parts_i,    // in several parts
  output logic header_valid_o,
  input  logic header_ready_i
);

  localparam int unsigned BEATS = BYTES / (DATA_W / 8);
  localparam int unsigned WHOLE_W = $clog2(BEATS + 1) + 1;

  logic beat_valid, beat_ready, beat_last;
  logic [ DATA_W-1:0] beat;
  logic [COUNT_W-1:0] words;

  byte_packer #(
    .DATA_W(DATA_W),
    .UNIT_W(32)
  ) u_packer (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o,
    .in_data_i,
    .in_count_i (in_words_i),
    .in_last_i,
    .out_valid_o(beat_valid),
    .out_ready_i(beat_ready),
    .out_data_o (beat),
    .out_count_o(words),
    .out_last_o (beat_last)
  );

  fifo_sync #(
    .WIDTH        (DATA_W),
    .DEPTH        (BEATS),
    .LUT_RAM_DEPTH(BEATS),
    .HEAD         (1'b1)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i(beat_valid),
    .wr_ready_o(beat_ready),
    .wr_data_i (beat),
    .rd_valid_o(out_valid_o),
    .rd_ready_i(out_ready_i),
    .rd_data_o (out_data_o),
    .count_o   ()
  );

  // ---------------------------------------------------------------- headers
  // Ends that entered the queue, less the headers with payload that passed: negative while those go ahead of it.
  logic signed [WHOLE_W-1:0] whole_q;
  logic                      whole_some_q;  // whole_q > 0
  logic may, ends, passes;

  assign may            = !header_parts_i || whole_some_q;
  assign header_valid_o = header_valid_i && may;
  assign header_ready_o = header_ready_i && may;
  assign ends           = beat_valid && beat_ready && beat_last;
  assign passes         = header_valid_i && header_ready_o && header_payload_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      whole_q      <= '0;
      whole_some_q <= 1'b0;
    end else if (ends != passes) begin
      whole_q      <= ends ? whole_q + 1'b1 : whole_q - 1'b1;
      whole_some_q <= ends ? whole_q >= 0 : whole_q > 1;
    end
  end

  logic unused;
  assign unused = ^words;

  if (BEATS * (DATA_W / 8) != BYTES || BYTES < 32'(MAX_PACK_BYTES)) begin : gen_param_check
    $error("tx_join: BYTES must be whole beats, and hold the longest payload of several FPDUs");
  end
  `WEFT_ASSERT(some_is_some, whole_some_q == (whole_q > 0))
  `WEFT_ASSERT(whole_in_range, ends && !passes -> 32'(whole_q) < $signed(32'(BEATS)))
  `WEFT_STREAM(u_rules, out_valid_o, out_ready_i, out_data_o)

endmodule
