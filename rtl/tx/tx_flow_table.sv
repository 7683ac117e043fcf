// FLOW_TX: addresses and options for the frames of a flow, one row for each flow.
//
// Handshake: A lookup is taken unless the host reads in the same cycle; its row is at the output in the next cycle, zero if there is no such flow. A
//            table request is held, taken in its second cycle, and answered in the next. After reset rows are cleared, one a cycle, and nothing is
//            accepted before.
// Pipeline:  one register, the RAM's output.
// Why:       A row never written is zero, so not valid.

module tx_flow_table
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned NUM_FLOWS = 1024
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  input  logic                lookup_valid_i,
  output logic                lookup_ready_o,
  input  logic         [15:0] lookup_flow_i,
  output flow_tx_row_t        lookup_row_o,
  output logic                written_o,       // pulse: a lookup in this cycle or the next may find another row

  output logic idle_o
);

  localparam int unsigned ROW_BITS = 272;
  localparam int unsigned INDEX_W = NUM_FLOWS > 1 ? $clog2(NUM_FLOWS) : 1;

  logic               cleared_q;
  logic [INDEX_W-1:0] clear_q;
  logic host_take, host_read, host_write;
  logic seen, reads, writes;  // of a request
  logic [INDEX_W-1:0] place;
  logic rsp_valid_q, refused_q, missing_q;
  logic we, re;
  logic [INDEX_W-1:0] waddr, raddr;
  logic [ROW_BITS-1:0] wdata, rdata, row;

  table_request #(
    .INDEX_W(INDEX_W)
  ) u_request (
    .clk_i,
    .rst_ni,
    .req_valid_i(tbl_req_valid_i),
    .req_i      (tbl_req_i),
    .refuse_i   (tbl_req_i.number != TBL_FLOW_TX),
    .take_i     (host_take),
    .seen_o     (seen),
    .reads_o    (reads),
    .writes_o   (writes),
    .row_o      (place)
  );

  assign host_take       = seen && cleared_q;
  assign host_read       = host_take && reads;
  assign host_write      = host_take && writes;

  assign tbl_req_ready_o = host_take;
  assign lookup_ready_o  = cleared_q && !(seen && reads);

  assign we              = host_write || !cleared_q;
  assign waddr           = cleared_q ? place : clear_q;
  assign wdata           = cleared_q ? tbl_req_i.row[ROW_BITS-1:0] : '0;
  assign re              = host_read || (lookup_valid_i && lookup_ready_o);
  assign raddr           = host_read ? place : lookup_flow_i[INDEX_W-1:0];

  ram_1r1w #(
    .WIDTH(ROW_BITS),
    .DEPTH(NUM_FLOWS)
  ) u_rows (
    .clk_i,
    .we_i   (we),
    .waddr_i(waddr),
    .wdata_i(wdata),
    .re_i   (re),
    .raddr_i(raddr),
    .rdata_o(rdata)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cleared_q   <= 1'b0;
      clear_q     <= '0;
      rsp_valid_q <= 1'b0;
      refused_q   <= 1'b0;
      missing_q   <= 1'b1;
    end else begin
      if (!cleared_q) begin
        clear_q   <= clear_q + 1'b1;
        cleared_q <= clear_q == INDEX_W'(NUM_FLOWS - 1);
      end
      rsp_valid_q <= host_take;
      refused_q   <= !(reads || writes);
      if (re) missing_q <= !host_read && lookup_flow_i >> INDEX_W != '0;
    end
  end

  assign row             = missing_q ? '0 : rdata;
  assign tbl_rsp_valid_o = rsp_valid_q;
  assign tbl_rsp_o       = '{refused: refused_q, row: 512'(row)};
  assign lookup_row_o    = 512'(row);
  assign written_o       = host_write;
  assign idle_o          = cleared_q && !tbl_req_valid_i && !rsp_valid_q;

  logic unused;
  assign unused = ^tbl_req_i.row[511:ROW_BITS];

  if ((1 << INDEX_W) != NUM_FLOWS || INDEX_W > 16) begin : gen_param_check
    $error("tx_flow_table: NUM_FLOWS must be a power of two, 2 to 65536");
  end

endmodule
