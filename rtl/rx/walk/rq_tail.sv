// How many receive elements each flow has posted (doorbell RQ_TAIL): 0 after reset, which takes a cycle per flow
// (`ready_o`). Writes are always taken. Reads: the value comes one cycle after `read_i` and stays; of a write in the same
// cycle it may be the old or the new one.

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

  // A doorbell during the sweep makes it wait a cycle; it may be cleared again by it. The host can set up no region before
  // the sweep of table STAG has ended, which with NUM_STAGS > NUM_FLOWS takes longer, and without one no element can be used.
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

`ifndef SYNTHESIS
  initial begin
    assert (NUM_FLOWS >= 2 && (1 << FLOW_W) == NUM_FLOWS && FLOW_W <= 16)
    else $fatal(1, "rq_tail: NUM_FLOWS must be a power of two");
  end
`endif
endmodule
