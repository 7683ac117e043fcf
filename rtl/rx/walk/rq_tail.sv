// How many receive elements each flow has posted (doorbell RQ_TAIL).
//
// Handshake: Writes are always taken. `tail_o` follows `read_i` by a cycle and is held; with a write in the same cycle it may be old or new. After
//            reset all are cleared, a cycle for each flow (`ready_o`).
// Pipeline:  one register (the RAM's output).

module rq_tail #(
  parameter int unsigned NUM_FLOWS = 256
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,

  input logic        write_valid_i,
  input logic [15:0] write_flow_i,
  input logic [31:0] write_value_i,

  input  logic        read_i,
  input  logic [15:0] read_flow_i,
  output logic [31:0] tail_o
);
  localparam int unsigned FLOW_W = $clog2(NUM_FLOWS);

  logic              clear_q;
  logic [FLOW_W-1:0] next_q;
  logic              write;
  assign write = write_valid_i && write_flow_i >> FLOW_W == '0;

  // A doorbell during the sweep stalls it for a cycle, and the sweep may clear its value. The host cannot set up a region before the sweep of table
  // STAG has ended. That takes longer with NUM_STAGS > NUM_FLOWS, and without a region no element can be used.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b1;
      next_q  <= '0;
    end else if (clear_q && !write) begin
      next_q  <= next_q + 1'b1;
      clear_q <= 32'(next_q) != NUM_FLOWS - 1;
    end
  end

  ram_1r1w #(
    .WIDTH(32),
    .DEPTH(NUM_FLOWS)
  ) u_tails (
    .clk_i,
    .we_i   (write || clear_q),
    .waddr_i(write ? write_flow_i[FLOW_W-1:0] : next_q),
    .wdata_i(write ? write_value_i : 32'd0),
    .re_i   (read_i),
    .raddr_i(read_flow_i[FLOW_W-1:0]),
    .rdata_o(tail_o)
  );

  assign ready_o = !clear_q;

  logic unused;
  assign unused = ^{write_flow_i, read_flow_i};

  if (NUM_FLOWS < 2 || (1 << FLOW_W) != NUM_FLOWS || FLOW_W > 16) begin : gen_param_check
    $error("rq_tail: NUM_FLOWS must be a power of two");
  end
endmodule
