// Reads receive elements from a flow's receive queue in host memory. The one used last is kept, so that a message of many
// FPDUs reads its element once, and those posted behind it are read ahead, so that a stream of short Sends does not wait
// for host memory each time.
//
// The user holds `want_i` with flow, MSN and what is posted until `here_o`; `element_o` and `error_o` belong to what is
// wanted while `here_o`. One cycle to an element already read, two for the next of those read ahead.
// What was read ahead belongs to one flow: another one begins anew. Elements are read ahead only as far as they were
// posted; when such a read fails, its elements are read one by one as they are wanted, so that an error hits only its own.
// `flush_i` forgets everything (a queue may have been set up anew); an element that could not be read is forgotten when
// `want_i` ends, so that the next user tries again.

module rq_element
  import weft_card_pkg::*;
#(
    parameter int unsigned DATA_W = 512,
    localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic want_i,
    input logic [15:0] flow_i,
    input logic [31:0] msn_i,
    input logic [31:0] posted_i,
    input logic [63:0] rq_base_i,
    input logic [7:0] rq_log2_i,
    output logic here_o,
    output logic error_o,
    output receive_element_t element_o,
    input logic flush_i,

    output logic el_req_valid_o,
    input logic el_req_ready_i,
    output logic [63:0] el_req_addr_o,
    output logic [15:0] el_req_bytes_o,
    input logic el_rsp_valid_i,
    output logic el_rsp_ready_o,
    input logic [DATA_W-1:0] el_rsp_data_i,
    input logic [COUNT_W-1:0] el_rsp_count_i,
    input logic el_rsp_last_i,
    input logic el_rsp_error_i,

    output logic idle_o
);
  localparam int unsigned SLOTS = 16;  // elements read ahead, slot = low bits of the MSN
  localparam int unsigned CHUNK = 8;  // at most so many at once
  localparam int unsigned BEATS = 512 / DATA_W;

  typedef enum logic [1:0] {
    IDLE,
    REQUEST,
    RESPONSE
  } state_e;
  state_e state_q;

  // The element in the output register.
  logic held_q, held_error_q;
  logic [31:0] held_msn_q;
  receive_element_t held_element_q;

  // The flow, and the elements [base, base + count) of its queue that were read.
  logic window_q, alone_q, stale_q, demand_q;
  logic [15:0] flow_q;
  logic [31:0] base_q, posted_q;
  logic [4:0] count_q;
  logic [63:0] rq_base_q;
  logic [7:0] rq_log2_q;
  logic [511:0] slots[SLOTS];

  logic same_flow, in_window, miss;
  logic [31:0] into;
  assign same_flow = window_q && flow_q == flow_i;
  assign into = msn_i - base_q;
  assign here_o = want_i && same_flow && held_q && held_msn_q == msn_i;
  assign in_window = want_i && !here_o && same_flow && into < 32'(count_q);
  assign miss = want_i && !here_o && !in_window && state_q == IDLE;

  // Element MSN n is at rq_base + 64 * ((n - 1) mod 2^rq_log2). What is read at once does not go round the end.
  logic [31:0] next_msn, slot, before_end, unread;
  logic [3:0] chunk, chunk_q;
  logic ahead;
  assign next_msn = miss ? msn_i : base_q + 32'(count_q);
  assign unread = posted_q - next_msn + 32'd1;
  always_comb begin
    slot = next_msn - 32'd1;
    before_end = 32'd0 - slot;
    for (int unsigned i = 0; i < 32; i++) begin
      if (8'(i) >= (miss ? rq_log2_i : rq_log2_q)) begin
        slot[i] = 1'b0;
        before_end[i] = 1'b0;
      end
    end
    // All of the queue is before its end if the slot is the first one.
    chunk = 4'(CHUNK);
    if (before_end != 32'd0 && before_end < 32'(CHUNK)) chunk = before_end[3:0];
    if (rq_log2_q < 8'd3 && before_end == 32'd0) chunk = 4'd1;
    if (unread < 32'(chunk)) chunk = unread[3:0];
    if (miss) chunk = 4'd1;
  end
  assign ahead = state_q == IDLE && !miss && window_q && !alone_q && count_q <= 5'(SLOTS - CHUNK) && !unread[31] &&
                 unread != 32'd0;

  logic [$clog2(BEATS+1)-1:0] beat_q;
  logic [3:0] arriving_q;
  logic [511:0] shifted, partial_q;
  logic rsp_fire, element_ends, rsp_ends, rsp_good;
  if (DATA_W == 512) begin : gen_one_beat
    assign shifted = el_rsp_data_i;
    logic unused_partial;
    assign unused_partial = ^partial_q;
  end else begin : gen_beats
    assign shifted = {el_rsp_data_i, partial_q[511:DATA_W]};
    logic unused_partial;
    assign unused_partial = ^partial_q[DATA_W-1:0];
  end
  assign rsp_fire = el_rsp_valid_i && el_rsp_ready_o;
  assign element_ends = rsp_fire && 32'(beat_q) == BEATS - 1;
  assign rsp_ends = rsp_fire && el_rsp_last_i;
  assign rsp_good = rsp_ends && !el_rsp_error_i && !stale_q && !flush_i;

  logic [63:0] addr_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      window_q <= 1'b0;
      held_q <= 1'b0;
      held_error_q <= 1'b0;
      alone_q <= 1'b0;
      stale_q <= 1'b0;
      count_q <= 5'd0;
    end else begin
      if (held_error_q && !want_i) begin
        held_q <= 1'b0;
        held_error_q <= 1'b0;
      end
      if (in_window) begin
        held_q <= 1'b1;
        held_error_q <= 1'b0;
      end
      // Elements before the one wanted now are over.
      count_q <= count_q - (in_window ? into[4:0] : 5'd0) + (rsp_good ? 5'(chunk_q) : 5'd0);
      unique case (state_q)
        IDLE: begin
          if (miss) begin
            window_q <= 1'b1;
            count_q <= 5'd0;
            held_q <= 1'b0;
            if (!same_flow) alone_q <= 1'b0;
          end
          if (miss || ahead) state_q <= REQUEST;
          stale_q <= 1'b0;
        end
        REQUEST: if (el_req_ready_i) state_q <= RESPONSE;
        RESPONSE: begin
          if (rsp_ends) begin
            state_q <= IDLE;
            if (el_rsp_error_i && !stale_q) begin
              alone_q <= 1'b1;
              if (demand_q) begin
                held_q <= 1'b1;
                held_error_q <= 1'b1;
              end
            end
          end
        end
        default: state_q <= IDLE;
      endcase
      if (flush_i) begin
        window_q <= 1'b0;
        held_q <= 1'b0;
        held_error_q <= 1'b0;
        alone_q <= 1'b0;
        count_q <= 5'd0;
        stale_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_window) begin
      base_q <= msn_i;
      held_msn_q <= msn_i;
      held_element_q <= slots[msn_i[3:0]];
    end
    if (want_i && same_flow) posted_q <= posted_i;
    if (state_q == IDLE) begin
      demand_q <= miss;
      chunk_q <= chunk;
      arriving_q <= next_msn[3:0];
      addr_q <= (miss ? rq_base_i : rq_base_q) + {26'd0, slot, 6'd0};
      beat_q <= '0;
    end
    if (miss) begin
      flow_q <= flow_i;
      base_q <= msn_i;
      held_msn_q <= msn_i;
      posted_q <= posted_i;
      rq_base_q <= rq_base_i;
      rq_log2_q <= rq_log2_i;
    end
    if (rsp_fire) begin
      partial_q <= shifted;
      beat_q <= element_ends ? '0 : beat_q + 1'b1;
    end
    if (element_ends) begin
      slots[arriving_q] <= shifted;
      arriving_q <= arriving_q + 4'd1;
    end
  end

  assign error_o = held_error_q;
  assign element_o = held_element_q;
  assign el_req_valid_o = state_q == REQUEST;
  assign el_req_addr_o = addr_q;
  assign el_req_bytes_o = {6'd0, chunk_q, 6'd0};
  assign el_rsp_ready_o = state_q == RESPONSE;
  assign idle_o = state_q == IDLE && !ahead;

  logic unused;
  assign unused = ^el_rsp_count_i;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      if (el_req_valid_o) assert (chunk_q != 4'd0);
      assert (32'(count_q) <= SLOTS);
    end
  end
`endif
endmodule
