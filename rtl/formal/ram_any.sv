// In place of prim/ram_1r1w, in proofs of which its contents are no part: what is read is anything.

module ram_1r1w #(
  parameter  int unsigned WIDTH  = 32,
  parameter  int unsigned DEPTH  = 512,
  parameter  bit          UNSEEN = 1'b0,
  localparam int unsigned ADDR_W = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
  input logic clk_i,

  input logic              we_i,
  input logic [ADDR_W-1:0] waddr_i,
  input logic [ WIDTH-1:0] wdata_i,

  input  logic              re_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [ WIDTH-1:0] rdata_o
);

  logic [WIDTH-1:0] any;
  assign rdata_o = any;

  logic unused;
  assign unused = UNSEEN ^ (^{clk_i, we_i, waddr_i, wdata_i, re_i, raddr_i});

endmodule
