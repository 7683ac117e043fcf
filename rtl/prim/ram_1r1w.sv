// One write port, one read port, one clock: an inferred block RAM.
//
// Handshake: No valid. Read data come one cycle after `re_i` and are held until the next `re_i`. Contents have no reset.
// Pipeline:  one register, the RAM's output.
// Why:       A read of the address written in the same cycle gives the old or the new word: users forward. If the block RAM guarantees nothing for
//            such a read (ECP5), that costs a comparison and a multiplexer. With UNSEEN the user never uses such a word, and both are left out; in
//            simulation the word is then wrong.

`include "weft_assert.svh"

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

  (* ram_style = "block", no_rw_check = UNSEEN *) logic [WIDTH-1:0] mem[DEPTH];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
`ifndef SYNTHESIS
    if (UNSEEN && re_i && we_i && waddr_i == raddr_i) rdata_o <= ~mem[raddr_i];
`endif
  end

`ifndef SYNTHESIS
  if (WIDTH == 0 || DEPTH < 1) begin : gen_param_check
    $error("ram_1r1w: WIDTH and DEPTH must be positive");
  end
  if ((1 << ADDR_W) != DEPTH) begin : gen_range_check
    // At the first edge the user's registers may not have been reset yet.
    logic begun_q = 1'b0;
    always_ff @(posedge clk_i) begun_q <= 1'b1;
    `WEFT_ASSERT(write_in_range, begun_q && we_i -> 32'(waddr_i) < DEPTH, clk_i, 1'b1)
    `WEFT_ASSERT(read_in_range, begun_q && re_i -> 32'(raddr_i) < DEPTH, clk_i, 1'b1)
  end
`endif

endmodule
