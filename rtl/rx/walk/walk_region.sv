// One FPDU ahead of the checks: takes the next header, and looks up and checks the region of a tagged FPDU (stag_check). Meanwhile walk_check is busy
// with the FPDU before, or waits for this one's end.
//
// Handshake: ready/valid. An FPDU is at the output a cycle after its header was taken. `region_valid_o` comes four cycles behind the header at the
//            earliest, and one behind the FPDU's take at the output. It is held until `free_i`, with which the next header is taken. An SGE
//            (`sge_look_i` with its index) goes first: STag, TO and bytes a cycle later, the answer three later; `pd_i` is constant.
// Pipeline:  cycle | registers           | what happens                   | hazards
//            0     | header_q            | header taken, region looked up | an SGE goes first
//            1-3   | step_q, stag_check  | row, sums, answer
//            4     | bad_q, iova_q, pd_q | the answer is held             | `pd_i` is compared in the cycle of the FPDU's take at the output
// Why:       The FPDU's segment, and with it the PD, is known only when the FPDU is taken at the output.
//            A row written after the lookup does not count. That agrees with the fence (docs/card.md "Taking away"): the FPDU's segment is in the
//            walk, and has its colour.

`include "weft_assert.svh"

module walk_region
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input logic tables_ready_i,

  input  logic       head_valid_i,
  output logic       head_ready_o,
  input  fpdu_head_t head_i,

  output logic             lookup_o,
  output logic      [23:0] lookup_index_o,
  input  logic             row_in_range_i,
  input  stag_row_t        row_i,

  input  logic        sge_look_i,
  input  logic [23:0] sge_index_i,
  input  logic [31:0] sge_stag_i,
  input  logic [63:0] sge_to_i,
  input  logic [15:0] sge_bytes_i,
  input  logic [31:0] pd_i,
  output logic        sge_bad_o,
  output logic [63:0] sge_iova_o,

  output logic               next_valid_o,
  input  logic               next_ready_i,
  output ddp_header_t        next_header_o,
  output logic        [15:0] next_offset_o,

  output logic               region_valid_o,
  output region_bad_t        region_bad_o,
  output logic        [63:0] region_iova_o,
  input  logic               free_i,          // the last FPDU at the output is finished

  output logic idle_o
);
  ddp_header_t header, header_q;
  logic [15:0] offset_q;
  logic [ 2:0] step_q;  // cycles 1, 2, 3 of a look-up
  logic busy_q, given_q, answered_q, sge_q, take, over;
  region_bad_t bad, bad_q;
  logic [63:0] iova, iova_q;
  logic [31:0] pd, pd_q;
  logic [7:0] right;
  logic       bad_pd_q;

  walk_ddp u_ddp (
    .head_i,
    .header_o(header)
  );

  // The header in hand is not needed any more: looked up, and taken at the output.
  assign over           = answered_q && given_q;
  assign take           = head_valid_i && tables_ready_i && !sge_look_i && (!busy_q || (over && free_i));
  assign head_ready_o   = take;
  assign lookup_o       = take || sge_look_i;
  // Bytes 4 to 6 of the FPDU: a tagged one's STag without its key.
  assign lookup_index_o = sge_look_i ? sge_index_i : {head_i.word[1][7:0], head_i.word[1][15:8], head_i.word[1][23:16]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= '0;
      busy_q     <= 1'b0;
      given_q    <= 1'b0;
      answered_q <= 1'b0;
      sge_q      <= 1'b0;
    end else begin
      sge_q      <= sge_look_i;
      step_q     <= {free_i ? 2'd0 : step_q[1:0], take};
      answered_q <= !free_i && (answered_q || step_q[2]);
      given_q    <= !free_i && (given_q || next_ready_i);
      busy_q     <= take || (busy_q && !free_i);
    end
  end
  always_ff @(posedge clk_i) begin
    // Sampled whenever it may be taken, so the late `take` enables none of it.
    if (!busy_q || over) begin
      header_q <= header;
      offset_q <= head_i.offset;
    end
    if (step_q[2]) begin
      bad_q  <= bad;
      iova_q <= iova;
      pd_q   <= pd;
    end
    bad_pd_q <= (step_q[2] ? pd : pd_q) != pd_i;
  end

  assign right = header_q.rdmap_control[1] ? ACCESS_READ_SINK : ACCESS_REMOTE_WRITE;

  stag_check u_check (
    .clk_i,
    .row_i,
    .in_range_i(row_in_range_i),
    .stag_i    (sge_q ? sge_stag_i : header_q.stag_or_qn),
    .to_i      (sge_q ? sge_to_i : header_q.to_or_mo),
    .bytes_i   (sge_q ? sge_bytes_i : header_q.payload_len),
    .right_i   (sge_q ? ACCESS_LOCAL_WRITE : right),
    .pd_i,
    .bad_o     (bad),
    .any_bad_o (sge_bad_o),
    .iova_o    (iova),
    .pd_o      (pd)
  );

  assign sge_iova_o     = iova;
  assign next_valid_o   = busy_q && !given_q;
  assign next_header_o  = header_told(header_q);
  assign next_offset_o  = offset_q;
  assign region_valid_o = over;
  always_comb begin
    region_bad_o    = bad_q;
    region_bad_o.pd = bad_pd_q;
  end
  assign region_iova_o = iova_q;
  assign idle_o        = !busy_q;

  `WEFT_ASSERT(one_step, $onehot0(step_q))
  `WEFT_ASSERT(taken_if_valid, next_ready_i -> next_valid_o)
  `WEFT_ASSERT(freed_if_given, free_i -> given_q)
endmodule
