// In place of prim/ram_1r1w in proofs that say nothing of what a memory holds: a read gives what stands at the write port, which there
// is any word. A memory as flip-flops would be most of such a proof.

module ram_1r1w #(
  parameter int unsigned WIDTH = 32,
  parameter int unsigned DEPTH = 512,
  localparam int unsigned ADDR_W = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
  input  logic              clk_i,

  input  logic              we_i,
  input  logic [ADDR_W-1:0] waddr_i,
  input  logic [WIDTH-1:0]  wdata_i,

  input  logic              re_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [WIDTH-1:0]  rdata_o
);

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= wdata_i;
  end

  logic unused;
  assign unused = ^{we_i, waddr_i, raddr_i};

endmodule
