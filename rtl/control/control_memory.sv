// The control processor's memory: one port fetches instructions, the other reads and writes words by bytes.
//
// Handshake: No valid; both ports answer a cycle later.
// Pipeline:  one register, the RAM's output.
// Why:       A word written while it is fetched may be fetched old or new.

module control_memory #(
  parameter int unsigned WORDS = 16384  // a power of two
) (
  input logic clk_i,

  input  logic                     fetch_i,
  input  logic [$clog2(WORDS)-1:0] fetch_word_i,
  output logic [             31:0] fetched_o,

  input  logic                     access_i,
  input  logic [              3:0] write_i,   // bytes; 0: a read
  input  logic [$clog2(WORDS)-1:0] word_i,
  input  logic [             31:0] data_i,
  output logic [             31:0] read_o
);

  logic [31:0] words[WORDS];

  always_ff @(posedge clk_i) begin
    if (fetch_i) fetched_o <= words[fetch_word_i];
  end

  always_ff @(posedge clk_i) begin
    if (access_i) begin
      for (int unsigned b = 0; b < 4; b++) begin
        if (write_i[b]) words[word_i][8*b+:8] <= data_i[8*b+:8];
      end
      read_o <= words[word_i];
    end
  end

endmodule
