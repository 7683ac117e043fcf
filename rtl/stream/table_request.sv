// What a table needs of an access to take it, in registers a cycle behind the request.
//
// Handshake: A request is held from its first cycle on (`stream_rules`). The table takes it (`take_i`, its ready) with `seen_o`, in its second cycle
//            or later.
// Pipeline:  one register.
// Why:       Neither the comparison with the table's size nor the request's way through the card is in the path to the memories.

`include "weft_assert.svh"

module table_request
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned INDEX_W = 10  // of a table of 2**INDEX_W rows
) (
  input logic clk_i,
  input logic rst_ni,

  input logic       req_valid_i,
  input table_req_t req_i,
  input logic       refuse_i,     // a reason of the table's own, besides an index behind its last row
  input logic       take_i,

  output logic               seen_o,    // a request is pending, and the outputs below are of it
  output logic               reads_o,   // the request reads a row
  output logic               writes_o,  // the request writes a row; neither: it is refused
  output logic [INDEX_W-1:0] row_o
);
  logic good;
  assign good = req_i.index >> INDEX_W == '0 && !refuse_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seen_o <= 1'b0;
    else seen_o <= req_valid_i && !take_i;
  end

  always_ff @(posedge clk_i) begin
    reads_o  <= good && !req_i.write;
    writes_o <= good && req_i.write;
    row_o    <= req_i.index[INDEX_W-1:0];
  end

  logic unused;
  assign unused = ^{req_i.number, req_i.row};

  if (INDEX_W < 1 || INDEX_W >= 24) begin : gen_param_check
    $error("table_request: INDEX_W is 1 to 23");
  end
  `WEFT_ASSERT(taken_when_seen, take_i -> req_valid_i && seen_o)
  `WEFT_STREAM(u_rules, req_valid_i, take_i, req_i)
endmodule
