// How far a segment's walk has come, which MSN and MO come next, in the order of the stream (walk_progress) and beyond gaps (walk_beyond), and whether
// the FPDU in hand has them and its receive element is posted.
//
// Handshake: as of walk_progress and walk_beyond.
// Pipeline:  theirs.
// Why:       Of what is beyond a gap MSN and MO go on where an island does, so both have to agree on them.

module walk_order
  import walk_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 256
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               seg_valid_i,
  input  segment_t           seg_i,
  input  ddp_header_t        next_i,       // of the FPDU that begins next
  input  class_e             kind_i,
  output logic               orders_o,     // of it MSN and MO are to follow what is beyond a gap
  input  logic               begin_i,      // it begins
  input  logic               first_i,      // as the segment's first
  input  ddp_header_t        header_i,     // the FPDU in hand
  input  logic               order_i,      // level: its MSN and MO are to follow, with ready_o
  output logic               ready_o,
  input  logic               weigh_i,
  input  logic               tail_i,       // its end is there
  input  logic               seg_last_i,   // with tail_i: and the segment's
  input  logic               marked_i,     // with tail_i: a marker is in it
  output logic               strays_o,     // with tail_i: the walk stops before it
  output logic               hold_o,       // level: it may not be finished
  input  logic               end_i,        // it is finished
  input  logic               bad_i,        // the following as of walk_progress
  input  logic        [15:0] offset_i,
  input  logic               partial_i,
  input  logic               kept_i,
  input  logic               cut_i,
  input  logic               end_last_i,

  output stop_e        stop_o,
  output logic  [31:0] msn_o,
  output logic  [31:0] mo_o,

  input  logic [31:0] rq_tail_i,    // of the flow, a cycle behind Check
  output logic        bad_msn_o,    // a cycle behind MSN and MO: the FPDU has others
  output logic        bad_mo_o,
  output logic        no_buffer_o,  // no element is posted for it
  output logic        unposted_o,   // the same, a cycle later

  input  logic       done_ready_i,
  output logic       done_pending_o,
  output logic       done_valid_o,
  output walk_done_t done_o,
  output logic       carried_o,
  output logic       full_o
);
  logic set, leaves;
  logic [31:0] msn_more, mo_more, set_msn, set_mo, leaves_msn, leaves_mo;

  // RQ_TAIL is compared while the FPDU's end is awaited: MSN and MO come first (RFC 5041 §7).
  logic [31:0] posted_q, posted_behind;
  assign posted_behind = posted_q - header_i.msn;
  assign no_buffer_o   = posted_behind[31];
  always_ff @(posedge clk_i) begin
    posted_q   <= rq_tail_i;
    unposted_o <= no_buffer_o;
    bad_msn_o  <= header_i.msn != msn_o;
    bad_mo_o   <= header_i.to_or_mo != {32'd0, mo_o};
  end

  walk_progress u_progress (
    .clk_i,
    .rst_ni,
    .begin_i,
    .set_i       (set),
    .set_msn_i   (set_msn),
    .set_mo_i    (set_mo),
    .leaves_i    (leaves),
    .leaves_msn_i(leaves_msn),
    .leaves_mo_i (leaves_mo),
    .seg_valid_i,
    .seg_i,
    .end_i,
    .header_i,
    .bad_i,
    .offset_i,
    .partial_i,
    .kept_i,
    .cut_i,
    .seg_last_i  (end_last_i),
    .stop_o,
    .msn_o,
    .mo_o,
    .msn_more_o  (msn_more),
    .mo_more_o   (mo_more),
    .done_ready_i,
    .done_pending_o,
    .done_valid_o,
    .done_o,
    .carried_o,
    .full_o
  );

  walk_beyond #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_beyond (
    .clk_i,
    .rst_ni,
    .seg_valid_i,
    .seg_i,
    .next_i,
    .kind_i,
    .orders_o,
    .begin_i,
    .first_i,
    .header_i,
    .msn_i       (msn_o),
    .mo_i        (mo_o),
    .msn_more_i  (msn_more),
    .mo_more_i   (mo_more),
    .order_i,
    .ready_o,
    .set_o       (set),
    .set_msn_o   (set_msn),
    .set_mo_o    (set_mo),
    .posted_i    (posted_q),
    .weigh_i,
    .wrong_i     (bad_msn_o || bad_mo_o || unposted_o),
    .tail_i,
    .seg_last_i,
    .marked_i,
    .strays_o,
    .hold_o,
    .leaves_o    (leaves),
    .leaves_msn_o(leaves_msn),
    .leaves_mo_o (leaves_mo),
    .leave_i     (end_i && end_last_i)
  );

  logic unused;
  assign unused = ^posted_behind[30:0];
endmodule
