// What a table needs to know of an access to take it, in registers a cycle behind it: neither a comparison with the table's size nor
// the request's way through the card lies before the enables and addresses of its memories.
//
// A request stands from its first cycle on (`stream_rules`), so what is known of it holds until it is taken; the table takes it
// (`take_i`, its ready) in its second cycle or later, with `seen_o`.

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
  input logic       refuse_i,     // the table has a reason of its own, besides an index behind its last row
  input logic       take_i,

  output logic               seen_o,    // a request stands, and what follows is of it
  output logic               reads_o,   // it reads a row, or
  output logic               writes_o,  // it writes one, or neither: it is refused
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

`ifndef SYNTHESIS
  initial begin
    assert (INDEX_W >= 1 && INDEX_W < 24)
    else $fatal(1, "table_request: INDEX_W is 1 to 23");
  end
  // Assertions sample the asynchronous reset.
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (rst_ni && take_i) taken_when_seen : assert (req_valid_i && seen_o);
  end
  stream_rules #(
    .WIDTH($bits(table_req_t))
  ) u_rules (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(req_valid_i),
    .ready_i(take_i),
    .data_i (req_i)
  );
  // verilator lint_on SYNCASYNCNET
`endif
endmodule
