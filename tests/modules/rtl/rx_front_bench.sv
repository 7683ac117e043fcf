// The receive front alone: parser, store, payload reader, lookup, flow state and dispatch. Walk, output and host are the test.

module rx_front_bench
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned NUM_FLOWS   = 16,
  parameter  int unsigned STORE_BYTES = 4096,
  parameter  int unsigned MAX_FRAMES  = 16,
  localparam int unsigned COUNT_W     = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [15:0] mtu_i,
  input logic [47:0] mac_i,
  input logic [31:0] raw_head_i,
  input logic [ 7:0] raw_count_log2_i,
  input logic [31:0] raw_reserve_i,

  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tvalid,
  output logic                mac_rx_tready,

  // What became of a frame at the store.
  output logic       stored_valid_o,
  output logic       stored_kept_o,
  output logic [7:0] stored_detail_o,

  input  logic         tbl_req_valid_i,
  output logic         tbl_req_ready_o,
  input  logic         tbl_write_i,
  input  logic [  3:0] tbl_number_i,
  input  logic [ 23:0] tbl_index_i,
  input  logic [511:0] tbl_row_i,
  output logic         tbl_rsp_valid_o,
  output logic         tbl_refused_o,
  output logic [511:0] tbl_row_o,

  // A segment that is not walked takes a slot of the commit queue.
  output logic enter_o,

  output logic              start_valid_o,
  input  logic              start_ready_i,
  output logic              start_chained_o,
  output logic              start_beyond_o,
  output logic              start_certain_o,
  output logic              start_alone_o,
  output logic [      15:0] start_flow_o,
  output logic [      31:0] start_seq_o,
  output logic [      15:0] start_len_o,
  output logic [     511:0] start_row_o,
  output logic              pl_valid_o,
  input  logic              pl_ready_i,
  output logic [DATA_W-1:0] pl_data_o,
  output logic [      15:0] pl_count_o,
  output logic              pl_last_o,
  input  logic              done_valid_i,
  input  logic [      15:0] done_len_i,
  input  logic [       1:0] done_stop_i,
  input  logic              done_engine_i,
  input  logic [      31:0] done_msn_i,
  output logic              op_block_o,

  output logic              close_valid_o,
  input  logic              close_ready_i,
  output logic              close_raw_o,
  output logic              close_report_o,
  output logic [     511:0] close_record_o,
  output logic [      15:0] close_start_o,
  output logic [      15:0] close_stop_o,
  input  logic              rd_req_i,
  input  logic [      15:0] rd_pos_i,
  output logic              rd_grant_o,
  output logic [DATA_W-1:0] rd_data_o,
  input  logic              free_valid_i,
  input  logic [      15:0] free_stop_i,

  output logic idle_o
);

  rx_cfg_t    cfg;
  table_req_t tbl_req;
  table_rsp_t tbl_rsp;
  logic front_ready, open_q, front_idle, place_block;
  segment_t                              start;
  walk_done_t                            done;
  rx_close_t                             close;
  trace_event_t [             1:0]       trace;
  logic         [     COUNT_W-1:0]       pl_count;
  flow_pulse_t                           row_written;
  rq_place_t                             attach;
  flow_pulse_t                           left;
  logic                                  wants;
  raw_count_t                            raw;
  logic         [NUM_COUNTERS-1:0][15:0] cnt_inc;

  always_comb begin
    cfg                   = '0;
    cfg.enable            = 1'b1;
    cfg.mtu               = mtu_i;
    cfg.mac               = mac_i;
    cfg.raw_slot_log2     = 8'd14;
    cfg.raw_reserve       = raw_reserve_i;
    cfg.raw[0].count_log2 = raw_count_log2_i;
    cfg.raw[0].head       = raw_head_i;
    done                  = '0;
    done.len              = done_len_i;
    done.stop             = stop_e'(done_stop_i);
    done.engine           = done_engine_i;
    done.msn              = done_msn_i;
  end

  rx_front #(
    .DATA_W     (DATA_W),
    .NUM_FLOWS  (NUM_FLOWS),
    .STORE_BYTES(STORE_BYTES),
    .MAX_FRAMES (MAX_FRAMES),
    .SHARE_LEAST(1024)
  ) u_front (
    .clk_i,
    .rst_ni,
    .cfg_i          (cfg),
    .clock_i        ('0),
    .closed_i       (1'b0),
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tvalid,
    .mac_rx_tuser   (1'b0),
    .mac_rx_tready,
    .replay_valid_i (1'b0),
    .replay_ready_o (),
    .replay_data_i  ('0),
    .replay_keep_i  ('0),
    .replay_last_i  (1'b0),
    .replay_about_i ('0),
    .tbl_req_valid_i(tbl_req_valid_i && !open_q),
    .tbl_req_ready_o(front_ready),
    .tbl_req_i      (tbl_req),
    .tbl_rsp_valid_o,
    .tbl_rsp_o      (tbl_rsp),
    .row_written_o  (row_written),
    .attach_o       (attach),
    .left_o         (left),
    .start_valid_o,
    .start_ready_i,
    .start_o        (start),
    .wants_o        (wants),
    .pl_valid_o,
    .pl_ready_i,
    .pl_data_o,
    .pl_count_o     (pl_count),
    .pl_last_o,
    .done_valid_i,
    .done_i         (done),
    .op_block_o,
    .place_block_o  (place_block),
    .close_valid_o,
    .close_ready_i,
    .close_o        (close),
    .raw_o          (raw),
    .rd_req_i,
    .rd_pos_i,
    .rd_grant_o,
    .rd_data_o,
    .free_valid_i,
    .free_stop_i,
    .idle_o         (front_idle),
    .trace_o        (trace),
    .cnt_inc_o      (cnt_inc)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else if (tbl_req_valid_i && tbl_req_ready_o) open_q <= 1'b1;
    else if (tbl_rsp_valid_o) open_q <= 1'b0;
  end

  assign enter_o         = u_front.u_dispatch.enter;
  assign tbl_req         = '{write: tbl_write_i, number: tbl_number_i, index: tbl_index_i, row: tbl_row_i};
  assign tbl_req_ready_o = !open_q && front_ready;
  assign tbl_refused_o   = tbl_rsp.refused;
  assign tbl_row_o       = tbl_rsp.row;

  assign pl_count_o      = 16'(pl_count);
  assign start_chained_o = start.chained;
  assign start_beyond_o  = start.beyond;
  assign start_certain_o = start.certain;
  assign start_alone_o   = start.alone;
  assign start_flow_o    = start.flow;
  assign start_seq_o     = start.seq;
  assign start_len_o     = start.len;
  assign start_row_o     = start.row;
  assign close_raw_o     = close.raw;
  assign close_report_o  = close.report;
  assign close_record_o  = close.record;
  assign close_start_o   = close.start;
  assign close_stop_o    = close.stop;

  assign stored_valid_o  = trace[0].valid;
  assign stored_kept_o   = trace[0].kind == 4'(TRACE_KIND_FRAME_IN);
  assign stored_detail_o = trace[0].detail;
  assign idle_o          = front_idle && !open_q;

  logic unused;
  assign unused = ^{trace, left, wants, place_block, start, row_written, attach, raw, cnt_inc};

endmodule
