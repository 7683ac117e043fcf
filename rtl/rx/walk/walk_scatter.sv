// One look into a receive element (RFC 5041 §5.3): how many bytes its SGEs have together, and of the SGE looked at what lies
// behind its first `skip` bytes, as far as `rest` bytes of payload reach. The first SGE with length 0 ends the list.
// Combinational.

module walk_scatter
  import weft_card_pkg::*;
(
    input receive_element_t element_i,
    output logic [33:0] room_o,

    input logic [1:0] sge_i,
    input logic [31:0] skip_i,
    input logic [15:0] rest_i,
    output logic [31:0] length_o,
    output logic [31:0] stag_o,
    output logic [63:0] to_o,     // behind the skipped bytes
    output logic [15:0] piece_o   // meaningful if skip < length
);
  logic [3:0][63:0] to;
  logic [3:0][31:0] length, stag;
  logic [31:0] left;

  assign to = {element_i.sge3_to, element_i.sge2_to, element_i.sge1_to, element_i.sge0_to};
  assign stag = {element_i.sge3_stag, element_i.sge2_stag, element_i.sge1_stag, element_i.sge0_stag};

  always_comb begin
    length[0] = element_i.sge0_length;
    length[1] = length[0] == 32'd0 ? 32'd0 : element_i.sge1_length;
    length[2] = length[1] == 32'd0 ? 32'd0 : element_i.sge2_length;
    length[3] = length[2] == 32'd0 ? 32'd0 : element_i.sge3_length;
    room_o = 34'(length[0]) + 34'(length[1]) + 34'(length[2]) + 34'(length[3]);
  end

  assign length_o = length[sge_i];
  assign stag_o = stag[sge_i];
  assign to_o = to[sge_i] + 64'(skip_i);
  assign left = length[sge_i] - skip_i;
  assign piece_o = left < 32'(rest_i) ? left[15:0] : rest_i;
endmodule
