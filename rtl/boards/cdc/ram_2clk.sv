// One write port and one read port, each with its own clock: an inferred block RAM.
//
// Handshake: No valid. Read data come one cycle after `re_i` and are held until the next `re_i`. Contents have no reset.
// Pipeline:  one register, the RAM's output.
// Why:       A word must not be read in the cycles around its write: users read only words that a synchroniser has announced.

module ram_2clk #(
  parameter  int unsigned WIDTH  = 32,
  parameter  int unsigned DEPTH  = 512,           // a power of two
  localparam int unsigned ADDR_W = $clog2(DEPTH)
) (
  input logic              wr_clk_i,
  input logic              we_i,
  input logic [ADDR_W-1:0] waddr_i,
  input logic [ WIDTH-1:0] wdata_i,

  input  logic              rd_clk_i,
  input  logic              re_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [ WIDTH-1:0] rdata_o
);

  logic [WIDTH-1:0] mem[DEPTH];

  always_ff @(posedge wr_clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  always_ff @(posedge rd_clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
  end

endmodule
