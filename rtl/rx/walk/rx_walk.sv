// (Interface first; the inside follows.)
// start: may be given before the beats. With start_chained_i the next start may come before the done of the one before it:
// it says "same flow, and it begins where the segment before ends": msn and mo are carried over inside, and if the
// segment before does not end with STOP_WHOLE, this one is thrown away with STOP_NOT_WALKED (done_len 0).
// A start of another flow may also come before the done of the one before. Up to two segments are inside; dones are in order.
// A user that waits for each done ties start_chained_i to 0.
module rx_walk
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
    parameter int unsigned DATA_W = 512,
    parameter int unsigned NUM_FLOWS = 256,
    parameter int unsigned NUM_STAGS = 1024,
    localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic start_valid_i,
    output logic start_ready_o,
    input logic start_chained_i,
    input logic [15:0] start_flow_i,
    input logic [31:0] start_seq_i,
    input logic [15:0] start_len_i,
    input flow_rx_row_t start_row_i,
    input logic [31:0] start_msn_i,
    input logic [31:0] start_mo_i,

    input logic pl_valid_i,
    output logic pl_ready_o,
    input logic [DATA_W-1:0] pl_data_i,
    input logic [COUNT_W-1:0] pl_count_i,
    input logic pl_last_i,

    output logic done_valid_o,
    output logic [15:0] done_len_o,
    output stop_e done_stop_o,
    output logic done_engine_o,
    output logic [31:0] done_msn_o,
    output logic [31:0] done_mo_o,

    output logic op_valid_o,
    input logic op_ready_i,
    output op_t op_o,

    output logic place_valid_o,
    input logic place_ready_i,
    output logic [DATA_W-1:0] place_data_o,
    output logic [COUNT_W-1:0] place_count_o,
    output logic place_last_o,

    // Receive elements.
    output logic el_req_valid_o,
    input logic el_req_ready_i,
    output logic [63:0] el_req_addr_o,
    output logic [15:0] el_req_bytes_o,
    input logic el_rsp_valid_i,
    output logic el_rsp_ready_o,
    input logic [DATA_W-1:0] el_rsp_data_i,
    input logic [COUNT_W-1:0] el_rsp_count_i,
    input logic el_rsp_last_i,
    input logic el_rsp_error_i,
    input logic el_flush_i,  // a FLOW_RX row was written: forget the element read last

    // Table STAG (other numbers are refused).
    input logic tbl_req_valid_i,
    output logic tbl_req_ready_o,
    input table_req_t tbl_req_i,
    output logic tbl_rsp_valid_o,
    output table_rsp_t tbl_rsp_o,

    input logic rq_tail_valid_i,
    input logic [15:0] rq_tail_flow_i,
    input logic [31:0] rq_tail_value_i,

    output logic idle_o,
    output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
endmodule
