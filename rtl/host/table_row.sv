// TABLE_DATA: the row that was read last, or what was written into its sixteen words.
//
// Handshake: pulses; the row and the word written stand in the next cycle as well. `data_o` follows by two cycles.
// Pipeline:  table_row_q, table_word_q | what the words take
//            table_data_q              | the words
// Why:       The enables of 512 flip-flops come from registers.

module table_row
  import weft_card_pkg::*;
(
  input logic clk_i,

  input  logic              arrives_i,
  input  logic [15:0][31:0] row_i,
  input  logic              write_i,
  input  logic [15:0]       write_offset_i,
  input  logic [31:0]       write_data_i,
  output logic [15:0][31:0] data_o
);
  logic              table_row_q;
  logic [15:0]       table_word_q;
  logic [15:0][31:0] table_data_q;

  always_ff @(posedge clk_i) begin
    table_row_q <= arrives_i;
    for (int unsigned w = 0; w < 16; w++) begin
      table_word_q[w] <= write_i && write_offset_i == REG_TABLE_DATA + 16'(4 * w);
      if (table_row_q || table_word_q[w]) table_data_q[w] <= table_row_q ? row_i[w] : write_data_i;
    end
  end
  assign data_o = table_data_q;

endmodule
