// The receive path: frames in, placements, raw copies and reports out (docs/card.md "Receiving: verdicts").
//
// Handshake: Frames from the MAC are always taken. `wr_*` and `rpt_*` are ready/valid, and may stall without end: frames are then dropped. A table
//            access is ready/valid, one at a time, and never waits for frames, reports or host memory.
// Pipeline:  mac_rx ─► rx_front ─► rx_walk ─► rx_output ─► wr, rpt
//                         └──────── raw copy ─────┘
//            stage     | what happens                                          | hazards
//            rx_front  | a verdict on each frame; payload of what is walked    | direct verdicts wait for an empty walk
//            rx_walk   | FPDUs: framing, CRC, checks                           | waits for receive elements, and for rx_output
//            rx_output | writes and reports in order                           | waits for host memory
// Why:       Nothing of a frame leaves rx_front before its TCP checksum is good, nothing of an FPDU leaves rx_walk before all its checks.

`include "weft_assert.svh"

module weft_rx
  import rx_front_pkg::*;
  import walk_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W    = 512,
  parameter  int unsigned NUM_FLOWS = 256,
  parameter  int unsigned NUM_STAGS = 1024,
  parameter  int unsigned PORTS     = 1,
  parameter  depths_t     DEPTHS    = DEEP,
  localparam int unsigned COUNT_W   = $clog2(DATA_W / 8) + 1
) (
  input logic                clk_i,
  input logic                rst_ni,
  input rx_cfg_t             cfg_i,
  input logic    [     23:0] clock_i,  // in units of 8 cycles
  input logic    [PORTS-1:0] closed_i, // level: a port takes nothing more

  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tvalid,
  input  logic                mac_rx_tuser,
  output logic                mac_rx_tready,

  input  logic                   replay_valid_i,  // a replay's bytes, read by transmit
  output logic                   replay_ready_o,
  input  logic    [  DATA_W-1:0] replay_data_i,
  input  logic    [DATA_W/8-1:0] replay_keep_i,
  input  logic                   replay_last_i,
  input  replay_t                replay_about_i,

  input rq_tail_t rq_tail_i,

  input  logic        fence_valid_i,
  input  logic [31:0] fence_number_i,
  output logic [31:0] fence_done_o,

  input  logic       tbl_req_valid_i,
  output logic       tbl_req_ready_o,
  input  table_req_t tbl_req_i,
  output logic       tbl_rsp_valid_o,
  output table_rsp_t tbl_rsp_o,

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

  output logic               wr_cmd_valid_o,
  input  logic               wr_cmd_ready_i,
  output logic [       63:0] wr_cmd_addr_o,
  output logic [       15:0] wr_cmd_bytes_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               wr_written_i,    // pulse: a command is answered, in their order
  input  logic               wr_failed_i,     // with it: by an error

  output logic             rpt_valid_o,
  input  logic             rpt_ready_i,
  output logic [    511:0] rpt_o,
  input  logic             rpt_full_i,    // level: the report that is offered waits for room in its ring
  output logic [PORTS-1:0] rpt_merged_o,  // pulse: a report of this port will not come, as a later one stands for it
  output logic [PORTS-1:0] rpt_begun_o,   // pulse: one more report of this port will come, alone or as half of a joined one

  output logic         [       PORTS-1:0][31:0] raw_tail_o,
  output logic                                  idle_o,
  output trace_event_t [             1:0]       trace_o,     // frames stored or dropped; verdicts
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned WALKS = 32'(DEPTHS.walks);

  // ---------------------------------------------------------------- front
  logic wants, start_valid, start_ready, done_valid, op_block, place_block, close_valid, close_ready, front_idle;
  segment_t   start;
  walk_done_t done;
  rx_close_t  close;
  flow_pulse_t row_written, left;
  rq_place_t              attach;
  raw_count_t [PORTS-1:0] raw;
  logic pl_valid, pl_ready, pl_last, rd_req, rd_grant, free_valid;
  logic [DATA_W-1:0] pl_data, rd_data;
  logic [COUNT_W-1:0] pl_count;
  logic [15:0] rd_pos, free_stop;
  logic front_req_valid, front_req_ready, front_rsp_valid, stag_req_valid, stag_req_ready, stag_rsp_valid;
  table_rsp_t front_rsp, stag_rsp;
  logic [NUM_COUNTERS-1:0][15:0] front_cnt, walk_cnt, output_cnt;

  rx_front #(
    .DATA_W     (DATA_W),
    .NUM_FLOWS  (NUM_FLOWS),
    .PORTS      (PORTS),
    .WALKS      (WALKS),
    .STORE_BYTES(DEPTHS.store_bytes)
  ) u_front (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .clock_i,
    .closed_i,
    .mac_rx_tdata,
    .mac_rx_tkeep,
    .mac_rx_tlast,
    .mac_rx_tvalid,
    .mac_rx_tuser,
    .mac_rx_tready,
    .replay_valid_i,
    .replay_ready_o,
    .replay_data_i,
    .replay_keep_i,
    .replay_last_i,
    .replay_about_i,
    .tbl_req_valid_i(front_req_valid),
    .tbl_req_ready_o(front_req_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(front_rsp_valid),
    .tbl_rsp_o      (front_rsp),
    .row_written_o  (row_written),
    .attach_o       (attach),
    .left_o         (left),
    .start_valid_o  (start_valid),
    .start_ready_i  (start_ready),
    .start_o        (start),
    .wants_o        (wants),
    .pl_valid_o     (pl_valid),
    .pl_ready_i     (pl_ready),
    .pl_data_o      (pl_data),
    .pl_count_o     (pl_count),
    .pl_last_o      (pl_last),
    .done_valid_i   (done_valid),
    .done_i         (done),
    .op_block_o     (op_block),
    .place_block_o  (place_block),
    .close_valid_o  (close_valid),
    .close_ready_i  (close_ready),
    .close_o        (close),
    .raw_o          (raw),
    .rd_req_i       (rd_req),
    .rd_pos_i       (rd_pos),
    .rd_grant_o     (rd_grant),
    .rd_data_o      (rd_data),
    .free_valid_i   (free_valid),
    .free_stop_i    (free_stop),
    .idle_o         (front_idle),
    .trace_o,
    .cnt_inc_o      (front_cnt)
  );

  // ---------------------------------------------------------------- walk and output
  logic op_valid, op_ready, place_valid, place_ready, place_last, walk_idle, output_idle, landed, landed_colour;
  op_t                op;
  logic [ DATA_W-1:0] place_data;
  logic [COUNT_W-1:0] place_count;

  // To host memory, from rx_output.
  logic beat_out_valid, beat_out_ready, beat_out_last;
  logic [ DATA_W-1:0] beat_out_data;
  logic [COUNT_W-1:0] beat_out_count;

  rx_walk #(
    .DATA_W   (DATA_W),
    .NUM_FLOWS(NUM_FLOWS),
    .NUM_STAGS(NUM_STAGS),
    .SEGMENTS (WALKS),
    .CONTEXTS (32'(DEPTHS.contexts)),
    .CARRIES  (32'(DEPTHS.carries))
  ) u_walk (
    .clk_i,
    .rst_ni,
    .closed_i       (2'(closed_i)),
    .wants_i        (wants),
    .start_valid_i  (start_valid),
    .start_ready_o  (start_ready),
    .start_i        (start),
    .pl_valid_i     (pl_valid),
    .pl_ready_o     (pl_ready),
    .pl_data_i      (pl_data),
    .pl_count_i     (pl_count),
    .pl_last_i      (pl_last),
    .done_valid_o   (done_valid),
    .done_o         (done),
    .op_valid_o     (op_valid),
    .op_ready_i     (op_ready),
    .op_o           (op),
    .place_valid_o  (place_valid),
    .place_ready_i  (place_ready),
    .place_data_o   (place_data),
    .place_count_o  (place_count),
    .place_last_o   (place_last),
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
    .el_flush_i     (row_written),
    .attach_i       (attach),
    .fence_valid_i,
    .fence_number_i,
    .fence_done_o,
    .landed_i       (landed),
    .landed_colour_i(landed_colour),
    .tbl_req_valid_i(stag_req_valid),
    .tbl_req_ready_o(stag_req_ready),
    .tbl_req_i,
    .tbl_rsp_valid_o(stag_rsp_valid),
    .tbl_rsp_o      (stag_rsp),
    .rq_tail_i,
    .left_i         (left),
    .idle_o         (walk_idle),
    .cnt_inc_o      (walk_cnt)
  );

  rx_output #(
    .DATA_W    (DATA_W),
    .OPERATIONS(32'(DEPTHS.operations)),
    .PORTS     (PORTS)
  ) u_output (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .op_valid_i     (op_valid),
    .op_ready_o     (op_ready),
    .op_i           (op),
    .op_block_i     (op_block),
    .place_block_i  (place_block),
    .close_valid_i  (close_valid),
    .close_ready_o  (close_ready),
    .close_i        (close),
    .place_valid_i  (place_valid),
    .place_ready_o  (place_ready),
    .place_data_i   (place_data),
    .place_count_i  (place_count),
    .place_last_i   (place_last),
    .rd_req_o       (rd_req),
    .rd_pos_o       (rd_pos),
    .rd_grant_i     (rd_grant),
    .rd_data_i      (rd_data),
    .free_valid_o   (free_valid),
    .free_stop_o    (free_stop),
    .wr_cmd_valid_o,
    .wr_cmd_ready_i,
    .wr_cmd_addr_o,
    .wr_cmd_bytes_o,
    .wr_valid_o     (beat_out_valid),
    .wr_ready_i     (beat_out_ready),
    .wr_data_o      (beat_out_data),
    .wr_count_o     (beat_out_count),
    .wr_last_o      (beat_out_last),
    .wr_written_i,
    .wr_failed_i,
    .landed_o       (landed),
    .landed_colour_o(landed_colour),
    .rpt_valid_o,
    .rpt_ready_i,
    .rpt_o,
    .rpt_full_i,
    .rpt_merged_o,
    .raw_i          (raw),
    .raw_tail_o,
    .idle_o         (output_idle),
    .cnt_inc_o      (output_cnt)
  );

  // verilator lint_off UNUSEDSIGNAL
  segment_report_t begun;
  // verilator lint_on UNUSEDSIGNAL
  logic            begins;
  assign begins = close_valid ? close_ready && close.report : op_valid && op_ready && op.is_report;
  assign begun  = close_valid ? close.record : op.record;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rpt_begun_o <= '0;
    else for (int unsigned p = 0; p < PORTS; p++) rpt_begun_o[p] <= begins && (PORTS == 1 || begun.phase[SEGMENT_REPORT_PORT_BIT] == 1'(p));
  end

  // dma_write's choice of a source is late in the cycle, so it ends at this skid buffer. A beat in here is of a write without an answer, so rx_output
  // is not idle.
  stream_skid #(
    .WIDTH(DATA_W + COUNT_W + 1)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .in_valid_i (beat_out_valid),
    .in_ready_o (beat_out_ready),
    .in_data_i  ({beat_out_data, beat_out_count, beat_out_last}),
    .out_valid_o(wr_valid_o),
    .out_ready_i(wr_ready_i),
    .out_data_o ({wr_data_o, wr_count_o, wr_last_o})
  );

  // ---------------------------------------------------------------- tables by number; one access at a time
  logic tbl_open_q, refuse_q, tbl_idle, other;

  assign other           = !(tbl_req_i.number inside {TBL_FLOW_KEY, TBL_FLOW_RX, TBL_ATTACH, TBL_STAG});
  assign tbl_idle        = tbl_req_valid_i && !tbl_open_q;
  assign front_req_valid = tbl_idle && tbl_req_i.number inside {TBL_FLOW_KEY, TBL_FLOW_RX, TBL_ATTACH};
  assign stag_req_valid  = tbl_idle && tbl_req_i.number == TBL_STAG;
  assign tbl_req_ready_o = !tbl_open_q && ((front_req_valid && front_req_ready) || (stag_req_valid && stag_req_ready) || other);
  assign tbl_rsp_valid_o = front_rsp_valid || stag_rsp_valid || refuse_q;

  always_comb begin
    tbl_rsp_o         = '0;
    tbl_rsp_o.refused = refuse_q;
    if (front_rsp_valid) tbl_rsp_o = front_rsp;
    if (stag_rsp_valid) tbl_rsp_o = stag_rsp;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tbl_open_q <= 1'b0;
      refuse_q   <= 1'b0;
    end else begin
      tbl_open_q <= tbl_open_q ? !tbl_rsp_valid_o : tbl_req_valid_i && tbl_req_ready_o;
      refuse_q   <= tbl_idle && other;
    end
  end

  // ---------------------------------------------------------------- counters, idle
  // No counter has two sources.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_inc_o <= '0;
    else cnt_inc_o <= front_cnt | walk_cnt | output_cnt;
  end

  assign idle_o = front_idle && walk_idle && output_idle && !tbl_open_q && !refuse_q;

`ifndef SYNTHESIS
  // Once the tables are cleared, an access is answered within ANSWER cycles.
  localparam int unsigned CLEARED = NUM_STAGS + NUM_FLOWS;
  localparam int unsigned ANSWER = 24;
  logic [31:0] age_q, waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age_q    <= '0;
      waited_q <= '0;
    end else begin
      if (age_q != CLEARED) age_q <= age_q + 32'd1;
      waited_q <= age_q != CLEARED || tbl_rsp_valid_o || !(tbl_req_valid_i || tbl_open_q) ? '0 : waited_q + 32'd1;
    end
  end
  `WEFT_ASSERT(access_bounded, waited_q <= ANSWER)
`endif

endmodule
