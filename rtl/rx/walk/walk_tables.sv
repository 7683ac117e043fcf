// What the walk's checks look up: rows of table STAG, RQ_TAIL, receive elements.
//
// Handshake: as of stag_table, rq_tail and rq_element. `ready_o`: the tables are cleared after reset.
// Pipeline:  theirs.

module walk_tables
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned CONTEXTS  = 8,                      // flows whose receive elements are read ahead
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned NUM_STAGS = 1024,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,

  input  logic                    lookup_i,
  input  logic             [23:0] lookup_index_i,
  output logic                    row_in_range_o,
  output stag_row_t               row_o,
  input  logic                    tail_read_i,
  input  logic             [15:0] tail_flow_i,
  output logic             [31:0] tail_o,
  input  logic                    want_i,
  input  logic             [31:0] want_msn_i,
  input  logic                    want_last_i,
  // verilator lint_off UNUSEDSIGNAL
  input  segment_t                seg_i,           // whose element it is
  // verilator lint_on UNUSEDSIGNAL
  input  logic                    old_row_i,       // its row was written since
  output logic                    here_o,
  output logic                    error_o,
  output receive_element_t        element_o,

  input  rq_tail_t    rq_tail_i,
  input  flow_pulse_t el_flush_i,
  input  rq_place_t   attach_i,
  input  logic        mark_i,
  output logic        marked_o,

  output logic               el_req_valid_o,
  input  logic               el_req_ready_i,
  output logic [       63:0] el_req_addr_o,
  output logic [       15:0] el_req_bytes_o,
  input  logic               el_rsp_valid_i,
  output logic               el_rsp_ready_o,
  input  logic [ DATA_W-1:0] el_rsp_data_i,
  input  logic [COUNT_W-1:0] el_rsp_count_i,
  input  logic               el_rsp_last_i,
  input  logic               el_rsp_error_i,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

  output logic idle_o
);
  logic stags_ready, tails_ready;
  assign ready_o = stags_ready && tails_ready;

  stag_table #(
    .NUM_STAGS(NUM_STAGS)
  ) u_stags (
    .clk_i,
    .rst_ni,
    .ready_o(stags_ready),
    .lookup_i,
    .lookup_index_i,
    .row_in_range_o,
    .row_o,
    .tbl_req_valid_i,
    .tbl_req_ready_o,
    .tbl_req_i,
    .tbl_rsp_valid_o,
    .tbl_rsp_o
  );

  rq_tail #(
    .NUM_FLOWS(NUM_FLOWS)
  ) u_rq_tail (
    .clk_i,
    .rst_ni,
    .ready_o      (tails_ready),
    .write_valid_i(rq_tail_i.valid),
    .write_flow_i (rq_tail_i.flow),
    .write_value_i(rq_tail_i.value),
    .read_i       (tail_read_i),
    .read_flow_i  (tail_flow_i),
    .tail_o
  );

  rq_element #(
    .DATA_W   (DATA_W),
    .CONTEXTS (CONTEXTS),
    .NUM_FLOWS(NUM_FLOWS)
  ) u_element (
    .clk_i,
    .rst_ni,
    .want_i,
    .once_i          (old_row_i),
    .flow_i          (seg_i.flow),
    .msn_i           (want_msn_i),
    .last_i          (want_last_i),
    .posted_i        (tail_o),
    .rq_base_i       (seg_i.row.rq_base),
    .rq_log2_i       (seg_i.row.rq_log2),
    .here_o,
    .error_o,
    .element_o,
    .tail_valid_i    (rq_tail_i.valid),
    .tail_flow_i     (rq_tail_i.flow),
    .tail_value_i    (rq_tail_i.value),
    .flush_i         (el_flush_i.valid),
    .flush_flow_i    (el_flush_i.flow),
    .attach_valid_i  (attach_i.valid),
    .attach_flow_i   (attach_i.flow),
    .attach_msn_i    (attach_i.msn),
    .attach_rq_base_i(attach_i.rq_base),
    .attach_rq_log2_i(attach_i.rq_log2),
    .mark_i,
    .marked_o,
    .el_req_valid_o,
    .el_req_ready_i,
    .el_req_addr_o,
    .el_req_bytes_o,
    .el_rsp_valid_i,
    .el_rsp_ready_o,
    .el_rsp_data_i,
    .el_rsp_count_i,
    .el_rsp_last_i,
    .el_rsp_error_i,
    .idle_o
  );
endmodule
