// The receive walk alone, its records as numbers. Dispatch, output, host memory and tables' owner are the test.

module rx_walk_bench
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned NUM_FLOWS = 16,
  parameter  int unsigned NUM_STAGS = 32,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic         start_valid_i,
  output logic         start_ready_o,
  input  logic         start_chained_i,
  input  logic         start_wanted_i,
  input  logic         start_carries_i,
  input  logic         start_alone_i,
  input  logic         start_fin_i,
  input  logic         start_beyond_i,
  input  logic         start_certain_i,
  input  logic [  3:0] start_left_i,     // valid, and the island
  input  logic [  3:0] start_right_i,
  input  logic [  2:0] start_island_i,
  input  logic [  2:0] start_behind_i,
  input  logic [  2:0] start_place_i,
  input  logic [ 15:0] start_flow_i,
  input  logic [ 31:0] start_seq_i,
  input  logic [ 15:0] start_len_i,
  input  logic [511:0] start_row_i,
  input  logic [ 31:0] start_msn_i,
  input  logic [ 31:0] start_mo_i,

  input  logic               pl_valid_i,
  output logic               pl_ready_o,
  input  logic [ DATA_W-1:0] pl_data_i,
  input  logic [COUNT_W-1:0] pl_count_i,
  input  logic               pl_last_i,

  output logic        done_valid_o,
  output logic [15:0] done_len_o,
  output logic [ 1:0] done_stop_o,
  output logic        done_engine_o,
  output logic [31:0] done_msn_o,
  output logic [31:0] done_mo_o,

  output logic         op_valid_o,
  input  logic         op_ready_i,
  output logic         op_is_report_o,
  output logic         op_last_o,
  output logic         op_colour_o,
  output logic [511:0] op_record_o,
  output logic [ 63:0] op_iova_o,
  output logic [ 15:0] op_bytes_o,

  output logic               place_valid_o,
  input  logic               place_ready_i,
  output logic [ DATA_W-1:0] place_data_o,
  output logic [COUNT_W-1:0] place_count_o,
  output logic               place_last_o,

  output logic              el_req_valid_o,
  input  logic              el_req_ready_i,
  output logic [      63:0] el_req_addr_o,
  output logic [      15:0] el_req_bytes_o,
  input  logic              el_rsp_valid_i,
  output logic              el_rsp_ready_o,
  input  logic [DATA_W-1:0] el_rsp_data_i,
  input  logic              el_rsp_last_i,
  input  logic              el_rsp_error_i,
  input  logic              el_flush_i,
  input  logic [      15:0] el_flush_flow_i,

  input  logic         tbl_req_valid_i,
  output logic         tbl_req_ready_o,
  input  logic         tbl_write_i,
  input  logic [  3:0] tbl_number_i,
  input  logic [ 23:0] tbl_index_i,
  input  logic [511:0] tbl_row_i,
  output logic         tbl_rsp_valid_o,
  output logic         tbl_refused_o,
  output logic [511:0] tbl_row_o,

  input logic        left_valid_i,
  input logic [15:0] left_flow_i,
  input logic        rq_tail_valid_i,
  input logic [15:0] rq_tail_flow_i,
  input logic [31:0] rq_tail_value_i,

  input  logic        fence_valid_i,
  input  logic [31:0] fence_number_i,
  output logic [31:0] fence_done_o,
  input  logic        landed_i,
  input  logic        landed_colour_i,

  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  op_t        op;
  segment_t   start;
  walk_done_t done;
  table_req_t tbl_req;
  table_rsp_t tbl_rsp;

  assign op_is_report_o = op.is_report;
  assign op_last_o = op.last;
  assign op_colour_o = op.colour;
  assign op_record_o = op.record;
  assign op_iova_o = op.iova;
  assign op_bytes_o = op.bytes;
  assign done_len_o = done.len;
  assign done_stop_o = done.stop;
  assign done_engine_o = done.engine;
  assign done_msn_o = done.msn;
  assign done_mo_o = done.mo;
  assign start = '{
          chained: start_chained_i,
          behind: start_behind_i,
          place: start_place_i,
          colour: 1'b0,
          carries: start_carries_i,
          alone: start_alone_i,
          fin: start_fin_i,
          beyond: start_beyond_i,
          certain: start_certain_i,
          left: start_left_i,
          right: start_right_i,
          island: start_island_i,
          carry: '0,
          flow : start_flow_i,
          seq: start_seq_i,
          len: start_len_i,
          msn: start_msn_i,
          mo: start_mo_i,
          row: flow_rx_row_t'(start_row_i)
      };
  assign tbl_req = '{write: tbl_write_i, number: tbl_number_i, index: tbl_index_i, row: tbl_row_i};
  assign tbl_refused_o = tbl_rsp.refused;
  assign tbl_row_o = tbl_rsp.row;

  rx_walk #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .closed_i      ('0),
    .wants_i       (start_wanted_i),
    .start_valid_i,
    .start_ready_o,
    .start_i       (start),
    .pl_valid_i,
    .pl_ready_o,
    .pl_data_i,
    .pl_count_i,
    .pl_last_i,
    .done_valid_o,
    .done_o        (done),
    .op_valid_o,
    .op_ready_i,
    .op_o          (op),
    .place_valid_o,
    .place_ready_i,
    .place_data_o,
    .place_count_o,
    .place_last_o,
    .el_req_valid_o,
    .el_req_ready_i,
    .el_req_addr_o,
    .el_req_bytes_o,
    .el_rsp_valid_i,
    .el_rsp_ready_o,
    .el_rsp_data_i,
    .el_rsp_count_i(COUNT_W'(DATA_W / 8)),
    .el_rsp_last_i,
    .el_rsp_error_i,
    .el_flush_i    ('{valid: el_flush_i, flow : el_flush_flow_i}),
    .attach_i      ('0),
    .tbl_req_valid_i,
    .tbl_req_ready_o,
    .tbl_req_i     (tbl_req),
    .tbl_rsp_valid_o,
    .tbl_rsp_o     (tbl_rsp),
    .rq_tail_i     ('{valid: rq_tail_valid_i, flow : rq_tail_flow_i, value: rq_tail_value_i}),
    .left_i        ('{valid: left_valid_i, flow : left_flow_i}),
    .fence_valid_i,
    .fence_number_i,
    .fence_done_o,
    .landed_i,
    .landed_colour_i,
    .idle_o,
    .cnt_inc_o
  );

endmodule
