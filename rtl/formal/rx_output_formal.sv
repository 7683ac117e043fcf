// Proves of rx_output: each placement that the walk gives, and each raw copy, becomes one write command with its address and its
// bytes, in their order, and behind it come exactly that many bytes of its own; nothing else is written. A report and a close without
// raw copy write nothing.
//
// What was accepted stands in a list here, newest first (fifo_short); the oldest is left when the block is done with it. The placement
// data come as place_cut gives them: the runs in order, each in full beats with `last` on its last one.

module rx_output_formal
  import rx_front_pkg::*;
  import walk_pkg::op_t;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input rx_cfg_t                 cfg_i,
  input logic                    op_valid_i,
  input op_t                     op_i,
  input logic                    op_block_i,
  input logic                    place_block_i,
  input logic                    close_valid_i,
  input rx_close_t               close_i,
  input logic                    place_valid_i,
  input logic      [ DATA_W-1:0] place_data_i,
  input logic      [COUNT_W-1:0] place_count_i,
  input logic                    place_last_i,
  input logic                    rd_grant_i,
  input logic      [ DATA_W-1:0] rd_data_i,
  input logic                    wr_cmd_ready_i,
  input logic                    wr_ready_i,
  input logic                    wr_written_i,
  input logic                    wr_failed_i,
  input logic                    rpt_ready_i,
  input logic                    rpt_full_i
);

  logic op_ready, close_ready, place_ready, rd_req, free_valid, cmd_valid, wr_valid, wr_last, landed, landed_colour;
  logic rpt_valid, idle;
  logic [15:0] rd_pos, free_stop, cmd_bytes;
  logic [            63:0]       cmd_addr;
  logic [      DATA_W-1:0]       wr_data;
  logic [     COUNT_W-1:0]       wr_count;
  logic [           511:0]       rpt;
  logic [            31:0]       raw_tail;
  logic [NUM_COUNTERS-1:0][15:0] cnt_inc;

  rx_output #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .op_valid_i,
    .op_ready_o     (op_ready),
    .op_i,
    .op_block_i,
    .place_block_i,
    .close_valid_i,
    .close_ready_o  (close_ready),
    .close_i,
    .place_valid_i,
    .place_ready_o  (place_ready),
    .place_data_i,
    .place_count_i,
    .place_last_i,
    .rd_req_o       (rd_req),
    .rd_pos_o       (rd_pos),
    .rd_grant_i,
    .rd_data_i,
    .free_valid_o   (free_valid),
    .free_stop_o    (free_stop),
    .wr_cmd_valid_o (cmd_valid),
    .wr_cmd_ready_i,
    .wr_cmd_addr_o  (cmd_addr),
    .wr_cmd_bytes_o (cmd_bytes),
    .wr_valid_o     (wr_valid),
    .wr_ready_i,
    .wr_data_o      (wr_data),
    .wr_count_o     (wr_count),
    .wr_last_o      (wr_last),
    .wr_written_i,
    .wr_failed_i,
    .landed_o       (landed),
    .landed_colour_o(landed_colour),
    .rpt_valid_o    (rpt_valid),
    .rpt_ready_i,
    .rpt_o          (rpt),
    .rpt_full_i,
    .rpt_merged_o   (),
    .raw_i          ('0),
    .raw_tail_o     (raw_tail),
    .idle_o         (idle),
    .cnt_inc_o      (cnt_inc)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  typedef struct packed {
    logic        place;
    logic        raw;
    logic [63:0] iova;
    logic [15:0] bytes;  // of either
    logic [15:0] slot;
  } write_t;
  write_t [2:0] list_q;  // [0] is nobody
  write_t       oldest;
  logic   [1:0] inside_q;
  logic accept, commanded_q, place_q, given_q, cmd, beat, due_last;  // of the write commanded last: it is a placement, and of a cycle ago
  logic          [       15:0] left_q;  // bytes of the command
  logic          [COUNT_W-1:0] due;
  frame_report_t               record;
  logic          [       63:0] base_q;
  logic          [        3:0] log2_q;

  assign record   = frame_report_t'(close_i.record);
  assign accept   = (close_valid_i && close_ready) || (op_valid_i && op_ready && !close_valid_i);
  assign oldest   = list_q[inside_q];
  assign cmd      = cmd_valid && wr_cmd_ready_i;
  assign beat     = wr_valid && wr_ready_i;
  assign due_last = left_q <= 16'(LANES);
  assign due      = due_last ? COUNT_W'(left_q) : COUNT_W'(LANES);

  always_ff @(posedge clk_i) begin
    base_q <= cfg_i.raw[0].base;
    log2_q <= cfg_i.raw_slot_log2[3:0];
    if (!rst_ni) begin
      inside_q    <= '0;
      commanded_q <= 1'b0;
      given_q     <= 1'b0;
    end else begin
      inside_q    <= inside_q + 2'(accept) - 2'(dut.pop);
      commanded_q <= cmd || (commanded_q && !(beat && due_last));
      if (cmd) left_q <= cmd_bytes;
      else if (beat) left_q <= left_q - 16'(LANES);
      if (cmd) place_q <= oldest.place;
      given_q <= cmd && oldest.place;
    end
    if (accept) begin
      list_q[2] <= list_q[1];
      if (close_valid_i) list_q[1] <= '{place: 1'b0, raw: close_i.raw, iova: '0, bytes: record.raw_len, slot: record.raw_slot};
      else list_q[1] <= '{place: !op_i.is_report, raw: 1'b0, iova: op_i.iova, bytes: op_i.bytes, slot: '0};
    end
  end

  always_comb begin
    a_set_once : assume (!rst_ni || (cfg_i.raw[0].base == base_q && cfg_i.raw_slot_log2[3:0] == log2_q));
    // Set up once, before anything comes: no slot is of a ring before.
    a_one_ring : assume (!cfg_i.raw[0].reset);
    a_close : assume (!(close_valid_i && close_i.raw) || (record.raw_len != '0 && record.raw_len <= 16'd16384));
    a_op : assume (!(op_valid_i && !op_i.is_report) || (op_i.bytes != '0 && op_i.bytes <= 16'd16384));
    a_grant : assume (!rd_grant_i || rd_req);
    a_runs : assume (!(place_valid_i && place_ready) || (place_count_i == due && place_last_i == due_last));
    if (rst_ni) begin
      write_is_given : assert (!cmd_valid || (inside_q != '0 && (oldest.place || oldest.raw) && !commanded_q));
      bytes : assert (!cmd_valid || cmd_bytes == oldest.bytes);
      to_its_place : assert (!(cmd_valid && oldest.place) || cmd_addr == oldest.iova);
      to_its_slot : assert (!(cmd_valid && oldest.raw) || cmd_addr == base_q + (64'(oldest.slot) << log2_q));
      data_behind : assert (!wr_valid || commanded_q);
      data_count : assert (!beat || (wr_count == due && wr_last == due_last));
      data_unchanged : assert (!(beat && place_q) || (place_valid_i && place_ready && wr_data == place_data_i));
      nobody_elses : assert (!(place_valid_i && place_ready) || (commanded_q && place_q && beat));
      placed_once : assert ((dut.pop && oldest.place) == given_q);
      copied : assert (!(dut.pop && oldest.raw) || (commanded_q && !place_q && beat && due_last));
      copy_ends : assert (!(commanded_q && !place_q && beat && due_last) || dut.pop);
      known : assert (!dut.pop || inside_q != '0);
    end
  end

  // ---------------------------------------------------------------- where everything is
  localparam int unsigned ENTRY_W = 9 + 16 + 64;
  localparam logic [1:0] REPORT = 2'd0, PLACE = 2'd1, CLOSE = 2'd2, COMMAND = 2'd0, PLACING = 2'd1, COPYING = 2'd2;
  function automatic logic is_it(input logic [ENTRY_W-1:0] entry, input write_t given);
    logic [1:0] kind;
    logic       raw;
    kind = entry[ENTRY_W-1-:2];
    raw  = entry[ENTRY_W-3];
    if (entry[ENTRY_W-7] != (kind == PLACE || raw)) return 1'b0;
    if (kind == PLACE) return given.place && !given.raw && !raw && entry[63:0] == given.iova && entry[79:64] == given.bytes;
    return !given.place && raw == given.raw && (kind == CLOSE || (kind == REPORT && !given.raw)) &&
           (!given.raw || (entry[79:64] == given.bytes && entry[47:32] == given.slot));
  endfunction
  logic [        1:0] queued;
  logic [ENTRY_W-1:0] head;
  logic [       31:0] low;
  logic [       63:0] slot_at;
  assign queued  = dut.u_queue.count_q;
  assign head    = dut.head;
  assign slot_at = 64'(oldest.slot) << log2_q;
  logic [32:0] low_sum;
  assign low_sum = 33'(base_q[31:0]) + 33'(slot_at[31:0]);
  assign low     = low_sum[31:0];
  logic sized_1, sized_2;
  assign sized_1 = !(list_q[1].place || list_q[1].raw) || (list_q[1].bytes != '0 && list_q[1].bytes <= 16'd16384);
  assign sized_2 = !(list_q[2].place || list_q[2].raw) || (list_q[2].bytes != '0 && list_q[2].bytes <= 16'd16384);
  always_comb begin
    if (rst_ni) begin
      inv_one_ring : assert (dut.u_copy.old_q == '0 && dut.u_copy.base_q == base_q && dut.u_copy.slot_log2_q[3:0] == log2_q);
      inv_inside : assert (inside_q == queued && queued <= 2'd2);
      inv_queue_1 : assert (queued < 2'd1 || is_it(dut.u_queue.word_q[0], list_q[1]));
      inv_queue_2 : assert (queued < 2'd2 || is_it(dut.u_queue.word_q[1], list_q[2]));
      inv_head : assert (!dut.head_valid || is_it(head, oldest));
      // Of each report the record: of those in the queue, and of those that may be told.
      inv_records :
      assert (3'(dut.u_told.u_records.count_q) == 3'(dut.u_told.u_told.count_q) + 3'(queued >= 2'd1 && dut.u_queue.word_q[0][ENTRY_W-4]) +
                           3'(queued == 2'd2 && dut.u_queue.word_q[1][ENTRY_W-4]));
      inv_sizes : assert ((inside_q < 2'd1 || sized_1) && (inside_q < 2'd2 || sized_2));
      inv_state : assert (commanded_q == (dut.state_q != COMMAND) && dut.state_q != 2'd3);
      inv_kind : assert (dut.state_q == COMMAND || (dut.state_q == PLACING ? place_q : !place_q && dut.head_valid && oldest.raw));
      inv_given : assert (dut.given_q == given_q && (!given_q || (dut.state_q == PLACING && dut.head_valid && oldest.place)));
      inv_left : assert (!commanded_q || (left_q != '0 && left_q <= 16'd16384));
      inv_copy :
      assert (dut.state_q != COPYING || (dut.u_copy.left_q == (left_q + 16'(LANES - 1)) / 16'(LANES) && dut.u_copy.raw_last_q == due_last &&
                        (!due_last || dut.u_copy.raw_count_q == COUNT_W'(left_q))));
      // From the second cycle of its head on a raw copy is set up, and waits for its command.
      inv_copy_ahead :
      assert (!(dut.head_valid && oldest.raw && dut.u_copy.raw_steps_q[0] && dut.state_q != COPYING) ||
                              (dut.u_copy.left_q == (oldest.bytes + 16'(LANES - 1)) / 16'(LANES) && dut.u_copy.raw_last_q == (oldest.bytes <= 16'(LANES)) &&
                               dut.u_copy.raw_count_q == {oldest.bytes[COUNT_W-2:0] == '0, oldest.bytes[COUNT_W-2:0]}));
      inv_copy_count : assert (dut.state_q != COPYING || dut.u_copy.raw_count_q == {left_q[COUNT_W-2:0] == '0, left_q[COUNT_W-2:0]});
      inv_steps :
      assert (dut.u_copy.raw_steps_q == 3'd0 || dut.u_copy.raw_steps_q == 3'd1 || dut.u_copy.raw_steps_q == 3'd3 || dut.u_copy.raw_steps_q == 3'd7);
      inv_raw_1 : assert (!(dut.head_valid && oldest.raw && dut.u_copy.raw_steps_q[0]) || 64'(dut.u_copy.raw_offset_q) == slot_at);
      inv_raw_2 : assert (!(dut.head_valid && oldest.raw && dut.u_copy.raw_steps_q[1]) || dut.u_copy.raw_low_q == low_sum);
      inv_raw_3 :
      assert (!(dut.head_valid && oldest.raw && dut.u_copy.raw_steps_q[2]) || {dut.u_copy.raw_addr_high_q, dut.u_copy.raw_addr_low_q} == base_q + slot_at);
    end
  end

endmodule
