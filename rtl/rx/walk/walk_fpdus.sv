// From the payload of segments to FPDUs: head, tail, CRC verdict and packed DDP payload of each.
//
// Handshake: ready/valid. Heads, tails and verdicts are queues in the order of the FPDUs; a head is there before its FPDU has ended. A segment's last
//            FPDU has `seg_last` in its tail. Packed payload is always taken, and comes only with `pk_go_i` and some cycles after.
// Pipeline:  stage       | registers                        | what happens
//            walk_framer | see there                        | cut into FPDUs, each from lane 0 on
//            walk_crc    | CORE_LATENCY stages              | CRC verdict, beside the others
//            walk_strip  | one                              | markers are removed and checked
//            walk_head   | word_q                           | the header is collected
//            walk_pack   | four stages                      | payload is packed into full beats; tail
//            queues      | u_heads, u_tails, u_crc_verdicts | in wait of walk_check
// Why:       Nothing stalls behind walk_framer. An FPDU begins only if all three queues have room, and a beat is sent only if there is room for all
//            in flight. So only payload can block.

`include "weft_assert.svh"

module walk_fpdus
  import walk_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned FPDUS   = 8,                      // FPDUs between framer and checks
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        seg_valid_i,
  output logic        seg_ready_o,
  input  logic [15:0] seg_len_i,
  input  logic        seg_markers_i,
  input  logic [ 6:0] seg_phase_i,    // words since the last place of a marker

  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,

  output logic                    fp_valid_o,  // as framed
  output logic       [DATA_W-1:0] fp_data_o,
  output fpdu_beat_t              fp_beat_o,
  input  logic                    keeps_i,     // of the beat's cycle: the FPDU that ends in it is carried

  output logic       head_valid_o,
  input  logic       head_ready_i,
  output fpdu_head_t head_o,
  output logic       tail_valid_o,
  input  logic       tail_ready_i,
  output fpdu_tail_t tail_o,
  output logic       crc_valid_o,
  input  logic       crc_ready_i,
  output logic       crc_good_o,

  input  logic              pk_go_i,
  output logic              pk_valid_o,
  output logic [DATA_W-1:0] pk_data_o,

  output logic idle_o
);
  logic fp_valid, st_valid, st_bad_marker;
  logic [DATA_W-1:0] fp_data, st_data;
  fpdu_beat_t framed, fp_beat, st_beat;
  logic fpdu_begins, fpdu_ends, framer_idle, crc_idle, pack_idle;

  // An FPDU begins only with room for its head, tail and verdict.
  logic [$clog2(FPDUS+1)-1:0] fpdus_q;
  logic                       room_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fpdus_q <= '0;
      room_q  <= 1'b0;
    end else begin
      if (fpdu_begins && !fpdu_ends) fpdus_q <= fpdus_q + 1'b1;
      else if (!fpdu_begins && fpdu_ends) fpdus_q <= fpdus_q - 1'b1;
      room_q <= 32'(fpdus_q) != FPDUS;  // walk_framer begins none for two cycles behind another
    end
  end

  walk_framer #(
    .DATA_W(DATA_W)
  ) u_framer (
    .clk_i,
    .rst_ni,
    .seg_valid_i,
    .seg_ready_o,
    .seg_len_i,
    .seg_markers_i,
    .seg_phase_i,
    .pl_valid_i,
    .pl_ready_o,
    .pl_data_i,
    .pl_count_i,
    .pl_last_i,
    .room_i    (room_q),
    .begin_o   (fpdu_begins),
    .go_i      (pk_go_i),
    .fp_valid_o(fp_valid),
    .fp_data_o (fp_data),
    .fp_beat_o (framed),
    .idle_o    (framer_idle)
  );

  assign fp_valid_o = fp_valid;
  assign fp_data_o  = fp_data;
  assign fp_beat_o  = framed;
  always_comb begin
    fp_beat      = framed;
    fp_beat.kept = keeps_i;
  end

  logic verdict_valid, verdict_good;
  walk_crc #(
    .DATA_W(DATA_W)
  ) u_crc (
    .clk_i,
    .rst_ni,
    .valid_i        (fp_valid),
    .data_i         (fp_data),
    .beat_i         (fp_beat),
    .verdict_valid_o(verdict_valid),
    .verdict_good_o (verdict_good),
    .idle_o         (crc_idle)
  );

  walk_strip #(
    .DATA_W(DATA_W)
  ) u_strip (
    .clk_i,
    .rst_ni,
    .fp_valid_i     (fp_valid),
    .fp_data_i      (fp_data),
    .fp_beat_i      (fp_beat),
    .st_valid_o     (st_valid),
    .st_data_o      (st_data),
    .st_beat_o      (st_beat),
    .st_bad_marker_o(st_bad_marker)
  );

  logic head_new, tail_new;
  fpdu_head_t head_d;
  fpdu_tail_t tail_d;
  walk_head #(
    .DATA_W(DATA_W)
  ) u_head (
    .clk_i,
    .valid_i     (st_valid),
    .data_i      (st_data),
    .beat_i      (st_beat),
    .head_valid_o(head_new),
    .head_o      (head_d)
  );

  walk_pack #(
    .DATA_W(DATA_W)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .st_valid_i     (st_valid),
    .st_data_i      (st_data),
    .st_beat_i      (st_beat),
    .st_bad_marker_i(st_bad_marker),
    .pk_valid_o,
    .pk_data_o,
    .tail_valid_o   (tail_new),
    .tail_o         (tail_d),
    .idle_o         (pack_idle)
  );

  // ------------------------------------------------------------------ queues to the checks
  logic head_room, tail_room, crc_room;
  fifo_sync #(
    .WIDTH($bits(fpdu_head_t)),
    .DEPTH(FPDUS)
  ) u_heads (
    .clk_i,
    .rst_ni,
    .wr_valid_i(head_new),
    .wr_ready_o(head_room),
    .wr_data_i (head_d),
    .rd_valid_o(head_valid_o),
    .rd_ready_i(head_ready_i),
    .rd_data_o (head_o),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH($bits(fpdu_tail_t)),
    .DEPTH(FPDUS)
  ) u_tails (
    .clk_i,
    .rst_ni,
    .wr_valid_i(tail_new),
    .wr_ready_o(tail_room),
    .wr_data_i (tail_d),
    .rd_valid_o(tail_valid_o),
    .rd_ready_i(tail_ready_i),
    .rd_data_o (tail_o),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH(1),
    .DEPTH(FPDUS)
  ) u_crc_verdicts (
    .clk_i,
    .rst_ni,
    .wr_valid_i(verdict_valid),
    .wr_ready_o(crc_room),
    .wr_data_i (verdict_good),
    .rd_valid_o(crc_valid_o),
    .rd_ready_i(crc_ready_i),
    .rd_data_o (crc_good_o),
    .count_o   ()
  );
  assign fpdu_ends = tail_valid_o && tail_ready_i;

  assign idle_o    = framer_idle && crc_idle && pack_idle && fpdus_q == '0;

  `WEFT_ASSERT(head_has_room, head_new -> head_room)
  `WEFT_ASSERT(tail_has_room, tail_new -> tail_room)
  `WEFT_ASSERT(crc_has_room, verdict_valid -> crc_room)
endmodule
