// Answers of host memory to the reads of rq_element and rq_ahead, in their order: assembles elements, and stores SLOTS of them for each context.
//
// Handshake: Answers are taken whenever a read is in flight: a read is requested only with room for its answer. `ends_o` is a pulse a cycle behind
//            the last beat, when the elements are in the memory. `look_i` selects an element; it is there in the next cycle, until the next `look_i`.
// Pipeline:  stage   | registers       | what happens
//            beat    | partial_q       | beats of one element are joined
//            element | RAM, first_stag | stored at {context, low bits of the MSN}
//            end     | ends_*          | the read has ended
// Why:       The first SGE's STag comes from a register, not from the block RAM: table STAG is looked up with it at once.

`include "weft_assert.svh"

module rq_answer
  import weft_card_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned CONTEXTS  = 8,
  parameter  int unsigned SLOTS     = 64,
  parameter  int unsigned READS     = 64,                // in flight
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS),
  localparam int unsigned SLOT_W    = $clog2(SLOTS)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                 read_i,
  input  logic [CONTEXT_W-1:0] read_context_i,
  input  logic                 read_demand_i,
  input  logic [          3:0] read_chunk_i,
  input  logic [   SLOT_W-1:0] read_slot_i,     // of its first element
  input  logic                 read_ahead_i,    // a read of rq_ahead, of one element
  output logic                 roomy_o,         // for reads that are not demanded

  input  logic              rsp_valid_i,
  output logic              rsp_ready_o,
  input  logic [DATA_W-1:0] rsp_data_i,
  input  logic              rsp_last_i,
  input  logic              rsp_error_i,

  // Of rq_ahead: in the cycle of the last beat.
  input  logic         ahead_stall_i,
  output logic         ahead_ends_o,
  output logic         ahead_failed_o,
  output logic [511:0] ahead_element_o,

  output logic                 ends_o,
  output logic                 ends_failed_o,
  output logic                 ends_demand_o,
  output logic [CONTEXT_W-1:0] ends_context_o,
  output logic [          3:0] ends_chunk_o,

  input  logic                             look_i,
  input  logic             [CONTEXT_W-1:0] look_context_i,
  input  logic             [   SLOT_W-1:0] look_slot_i,
  output receive_element_t                 element_o
);
  localparam int unsigned BEATS = 512 / DATA_W;

  typedef struct packed {
    logic                 ahead;
    logic [CONTEXT_W-1:0] of;
    logic                 demand;
    logic [3:0]           chunk;
    logic [SLOT_W-1:0]    slot;
  } read_t;

  read_t read;
  logic read_valid, order_ready, rsp_fire, element_ends, rsp_ends;
  logic [$clog2(READS+1)-1:0] reads;
  fifo_sync #(
    .WIDTH($bits(read_t)),
    .DEPTH(READS)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wr_valid_i(read_i || read_ahead_i),
    .wr_ready_o(order_ready),
    .wr_data_i ({read_ahead_i, read_context_i, read_demand_i, read_chunk_i, read_slot_i}),
    .rd_valid_o(read_valid),
    .rd_ready_i(rsp_ends),
    .rd_data_o (read),
    .count_o   (reads)
  );

  logic [ $clog2(BEATS+1)-1:0] beat_q;
  logic [                 3:0] arrived_q;
  logic [CONTEXT_W+SLOT_W-1:0] slot;
  logic [511:0] shifted, partial_q;
  // verilator lint_off UNUSEDSIGNAL
  receive_element_t arrived, word;
  // verilator lint_on UNUSEDSIGNAL
  if (DATA_W == 512) begin : gen_one_beat
    assign shifted = rsp_data_i;
    logic unused_partial;
    assign unused_partial = ^partial_q;
  end else begin : gen_beats
    assign shifted = {rsp_data_i, partial_q[511:DATA_W]};
    logic unused_partial;
    assign unused_partial = ^partial_q[DATA_W-1:0];
  end
  assign slot            = {read.of, read.slot + SLOT_W'(arrived_q)};
  assign rsp_ready_o     = read_valid && !ahead_stall_i;
  assign rsp_fire        = rsp_valid_i && rsp_ready_o;
  assign element_ends    = rsp_fire && 32'(beat_q) == BEATS - 1;
  assign rsp_ends        = rsp_fire && rsp_last_i;
  assign ahead_ends_o    = element_ends && read.ahead;
  assign ahead_failed_o  = rsp_error_i;
  assign ahead_element_o = shifted;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q    <= '0;
      arrived_q <= '0;
      ends_o    <= 1'b0;
      roomy_o   <= 1'b0;
    end else begin
      // One may be asked before this is seen, and a demanded one of each context.
      roomy_o <= 32'(reads) < READS - CONTEXTS - 2;
      if (rsp_fire) beat_q <= element_ends ? '0 : beat_q + 1'b1;
      if (element_ends) arrived_q <= rsp_last_i ? 4'd0 : arrived_q + 4'd1;
      ends_o <= rsp_ends && !read.ahead;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rsp_fire) partial_q <= shifted;
    ends_failed_o  <= rsp_error_i;
    ends_demand_o  <= read.demand;
    ends_context_o <= read.of;
    ends_chunk_o   <= read.chunk;
  end

  ram_1r1w #(
    .WIDTH (512),
    .DEPTH (CONTEXTS * SLOTS),
    .UNSEEN(1'b1)
  ) u_slots (
    .clk_i,
    .we_i   (element_ends && !read.ahead),
    .waddr_i(slot),
    .wdata_i(shifted),
    .re_i   (look_i),
    .raddr_i({look_context_i, look_slot_i}),
    .rdata_o(word)
  );

  (* ram_style = "distributed" *)logic [23:0] first_stag   [CONTEXTS*SLOTS];
  logic [23:0] first_stag_q;
  assign arrived = shifted;
  always_ff @(posedge clk_i) begin
    if (element_ends && !read.ahead) first_stag[slot] <= arrived.sge0_stag[31:8];
    if (look_i) first_stag_q <= first_stag[{look_context_i, look_slot_i}];
  end
  always_comb begin
    element_o                 = word;
    element_o.sge0_stag[31:8] = first_stag_q;
  end

  logic unused;
  assign unused = order_ready;

  if ((1 << SLOT_W) != SLOTS || SLOTS < 16) begin : gen_param_check
    $error("rq_answer: SLOTS must be a power of two from 16 up");
  end
  `WEFT_ASSERT(room_for_order, read_i || read_ahead_i -> order_ready)
  `WEFT_ASSERT(one_read, !(read_i && read_ahead_i))
  `WEFT_ASSERT(one_element, ahead_ends_o -> rsp_last_i)
endmodule
