// Reads receive elements from a flow's receive queue in host memory, and keeps the last one, so that a message of many
// FPDUs reads its element once.
// The user holds `want_i` with flow and MSN until `here_o`; `element_o` and `error_o` belong to what is wanted while `here_o`.
// `flush_i` forgets the element (its queue may have been set up anew); one that could not be read is forgotten when `want_i`
// ends, so that the next user tries again.

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
  typedef enum logic [1:0] {
    IDLE,
    REQUEST,
    RESPONSE
  } state_e;
  state_e state_q;
  logic valid_q, error_q, stale_q;
  logic [15:0] flow_q;
  logic [31:0] msn_q, slot;
  logic [63:0] addr_q;
  logic [511:0] element_q, shifted;

  // Element MSN n is at rq_base + 64 * ((n - 1) mod 2^rq_log2).
  always_comb begin
    slot = msn_i - 32'd1;
    for (int unsigned i = 0; i < 32; i++) begin
      if (8'(i) >= rq_log2_i) slot[i] = 1'b0;
    end
  end

  if (DATA_W == 512) begin : gen_one_beat
    assign shifted = el_rsp_data_i;
  end else begin : gen_beats
    assign shifted = {el_rsp_data_i, element_q[511:DATA_W]};
  end

  assign here_o = want_i && valid_q && flow_q == flow_i && msn_q == msn_i;
  assign error_o = error_q;
  assign element_o = element_q;
  assign el_req_valid_o = state_q == REQUEST;
  assign el_req_addr_o = addr_q;
  assign el_req_bytes_o = 16'd64;
  assign el_rsp_ready_o = state_q == RESPONSE;
  assign idle_o = state_q == IDLE;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      valid_q <= 1'b0;
      error_q <= 1'b0;
      stale_q <= 1'b0;
    end else begin
      if (flush_i) begin
        valid_q <= 1'b0;
        stale_q <= 1'b1;
      end
      unique case (state_q)
        IDLE: begin
          if (valid_q && error_q && !want_i) valid_q <= 1'b0;
          if (want_i && !here_o) begin
            state_q <= REQUEST;
            valid_q <= 1'b0;
            stale_q <= 1'b0;
          end
        end
        REQUEST: if (el_req_ready_i) state_q <= RESPONSE;
        RESPONSE: begin
          if (el_rsp_valid_i && el_rsp_last_i) begin
            state_q <= IDLE;
            valid_q <= !stale_q && !flush_i;
            error_q <= el_rsp_error_i;
          end
        end
        default: state_q <= IDLE;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == IDLE) begin
      flow_q <= here_o || !want_i ? flow_q : flow_i;
      msn_q <= here_o || !want_i ? msn_q : msn_i;
      addr_q <= rq_base_i + {26'd0, slot, 6'd0};
    end
    if (el_rsp_valid_i && el_rsp_ready_o) element_q <= shifted;
  end

  logic unused;
  assign unused = ^el_rsp_count_i;
endmodule
