// Executes what the packets have come to, strictly in order: placements and reports of the walk, and the close of
// each packet (raw copy, report, store space given back).
//
//   operations, closes ─► queue ─► writes ─► reports that wait for their writes ─► rx_report ─► rpt
//                                    '─► which report each write is for ─► what became of it ─'
//
// Writes are made one after the other: a placement takes its beats and one cycle, a raw copy its beats and four cycles, in which its
// address is worked out and its first beats are read. A report is offered, in order, when host memory has answered the writes that it
// speaks of; if one of them failed the report says so. Meanwhile further writes are made, so that answers may take their time.

module rx_output
  import rx_front_pkg::*;
  import walk_pkg::op_t;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned OPERATIONS = 32,        // that wait for those before them; up to 16 in LUT RAM
  localparam int unsigned LANES = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  rx_cfg_t                       cfg_i,

  input  logic                          op_valid_i,
  output logic                          op_ready_o,
  input  op_t                           op_i,
  input  logic                          op_block_i,
  input  logic                          close_valid_i,
  output logic                          close_ready_o,
  input  rx_close_t                     close_i,

  input  logic                          place_valid_i,
  output logic                          place_ready_o,
  input  logic [DATA_W-1:0]             place_data_i,
  input  logic [COUNT_W-1:0]            place_count_i,
  input  logic                          place_last_i,

  output logic                          rd_req_o,
  output logic [15:0]                   rd_pos_o,
  input  logic                          rd_grant_i,
  input  logic [DATA_W-1:0]             rd_data_i,
  output logic                          free_valid_o,
  output logic [15:0]                   free_stop_o,

  output logic                          wr_cmd_valid_o,
  input  logic                          wr_cmd_ready_i,
  output logic [63:0]                   wr_cmd_addr_o,
  output logic [15:0]                   wr_cmd_bytes_o,
  output logic                          wr_valid_o,
  input  logic                          wr_ready_i,
  output logic [DATA_W-1:0]             wr_data_o,
  output logic [COUNT_W-1:0]            wr_count_o,
  output logic                          wr_last_o,
  input  logic                          wr_written_i,   // pulse: a command is answered, in their order
  input  logic                          wr_failed_i,    // with it: by an error
  output logic                          landed_o,       // pulse: all placements of an FPDU are answered
  output logic                          landed_colour_o,

  output logic                          rpt_valid_o,
  input  logic                          rpt_ready_i,
  output logic [511:0]                  rpt_o,

  output logic [31:0]                   raw_tail_o,
  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  // A bit each for what much waits for.
  typedef enum logic [1:0] {REPORT = 2'b00, PLACE = 2'b01, CLOSE = 2'b10} kind_e;
  typedef enum logic [1:0] {COMMAND = 2'b00, PLACING = 2'b01, COPYING = 2'b10} state_e;

  localparam int unsigned TOLD = 64;             // reports that may wait for their writes
  localparam int unsigned OWED_W = $clog2(TOLD + 1);

  typedef struct packed {
    kind_e        kind;
    logic         raw;
    logic         report;
    logic         last;          // PLACE: of its FPDU
    logic         colour;        // PLACE: the fence's
    logic [15:0]  start;
    logic [15:0]  stop;
    logic [511:0] record;        // PLACE: iova, then the number of bytes
  } entry_t;

  // A write under way: is it the last that its report waits for, and is that the report of an FPDU?
  typedef struct packed {
    logic last;
    logic fpdu;
    logic colour;
  } write_t;

  typedef struct packed {
    logic awaits;                // writes of its own
    logic fpdu;
    logic joins;                 // for rx_report
  } told_t;

  entry_t in, next, head_d, head;
  logic   in_valid, in_ready, next_valid, next_pop, head_valid, head_empty_q, pop, write_first;   // head_empty_q: !head_valid, for the wide register

  assign close_ready_o = in_ready;
  assign op_ready_o    = in_ready && !op_block_i;
  assign in_valid      = close_valid_i || (op_valid_i && !op_block_i);

  always_comb begin
    if (close_valid_i) begin
      in = '{kind: CLOSE, raw: close_i.raw, report: close_i.report, last: 1'b1, colour: 1'b0, start: close_i.start,
             stop: close_i.stop, record: close_i.record};
    end else begin
      in        = '0;
      in.kind   = op_i.is_report ? REPORT : PLACE;
      in.report = op_i.is_report;
      in.last   = op_i.last;
      in.colour = op_i.colour;
      in.record = op_i.is_report ? op_i.record : 512'({op_i.bytes, op_i.iova});
    end
  end

  // If deep, in block RAM, as it is wide; what comes goes past it if there is nothing before it.
  logic [$clog2(OPERATIONS+1)-1:0] waiting;
  logic       waits_q, push;     // something is in the queue
  fifo_sync #(.WIDTH($bits(entry_t)), .DEPTH(OPERATIONS), .LUT_RAM_DEPTH(16)) i_queue (
    .clk_i, .rst_ni, .wr_valid_i(push), .wr_ready_o(in_ready), .wr_data_i(in),
    .rd_valid_o(next_valid), .rd_ready_i(next_pop), .rd_data_o(next), .count_o(waiting)
  );

  // What is being made, in registers.
  assign next_pop = !head_valid || pop;
  assign head_d   = waits_q ? next : in;
  assign push     = in_valid && (waits_q || head_valid);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {head_valid, waits_q} <= '0;
      head_empty_q <= 1'b1;
    end else begin
      if (next_pop) head_valid <= waits_q ? next_valid : in_valid && !head_valid;
      if (next_pop) head_empty_q <= waits_q ? !next_valid : !in_valid || head_valid;
      if (push) waits_q <= 1'b1;
      else if (next_valid && next_pop && 32'(waiting) == 1) waits_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (head_empty_q || pop) begin
      head        <= head_d;
      write_first <= head_d.kind == PLACE || head_d.raw;
    end
  end

  // ---------------------------------------------------------------- one operation after the other
  state_e        state_q, state_d;
  frame_report_t raw_record;       // slot and length lie at the same place in a segment report
  logic          is_place, placing, copying, last_beat, placed_q, told_push, told_ready, may_write, write_room;
  told_t         told_in;

  assign is_place    = head.kind[0];
  assign placing     = state_q[0];
  assign copying     = state_q[1];
  assign raw_record  = frame_report_t'(head.record);

  logic              raw_start, reading_q, room;
  logic [15:0]       pos_q, beats_q, left_q;      // next beat, beats to read, beats not yet handed on
  logic [15:0]       raw_beats;
  logic              raw_last_q;
  logic [COUNT_W-1:0] raw_count_q;                // bytes of the last one
  logic [DATA_W-1:0] read_beat, raw_beat_q;
  logic              buffered, raw_valid_q, raw_free, raw_take, unused_idle; // one has been read; it is in the register; it goes

  // Where a raw frame goes to: the slot's offset, and the sum in two halves.
  logic [30:0] raw_offset_q;
  logic [32:0] raw_low_q;
  logic [31:0] raw_addr_low_q, raw_addr_high_q;
  logic [2:0]  raw_steps_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) raw_steps_q <= '0;
    else if (next_pop) raw_steps_q <= '0;
    else raw_steps_q <= {raw_steps_q[1:0], 1'b1};
  end
  always_ff @(posedge clk_i) begin
    raw_offset_q    <= 31'(raw_record.raw_slot) << cfg_i.raw_slot_log2[3:0];
    raw_low_q       <= 33'(cfg_i.raw_base[31:0]) + 33'(raw_offset_q);
    raw_addr_low_q  <= raw_low_q[31:0];
    raw_addr_high_q <= cfg_i.raw_base[63:32] + 32'(raw_low_q[32]);
  end

  assign may_write      = write_room && (is_place || (told_ready && raw_steps_q[2]));
  assign wr_cmd_valid_o = head_valid && state_q == COMMAND && write_first && may_write;
  assign wr_cmd_addr_o  = is_place ? head.record[63:0] : {raw_addr_high_q, raw_addr_low_q};
  assign wr_cmd_bytes_o = is_place ? head.record[79:64] : raw_record.raw_len;

  assign last_beat = wr_ready_i && ((placing && place_valid_i && place_last_i) ||
                                    (copying && raw_valid_q && raw_last_q));
  // A raw copy begins only where its report has room.
  assign told_push = pop && head.report;

  // verilator lint_off UNUSEDSIGNAL
  fpdu_report_t    head_fpdu;
  segment_report_t head_segment;
  // verilator lint_on UNUSEDSIGNAL
  assign head_fpdu      = fpdu_report_t'(head.record);
  assign head_segment   = segment_report_t'(head.record);
  assign told_in.awaits = head.kind == REPORT ? placed_q : head.raw;
  assign told_in.fpdu   = head.kind == REPORT;
  assign told_in.joins  = head.kind == REPORT ? head_fpdu.verdict == FPDU_VERDICT_PLACED && head_fpdu.offset == '0 :
                          !head.raw && head_segment.kind == REPORT_KIND_SEGMENT &&
                          head_segment.flags[SEGMENT_REPORT_SACK_COUNT_LSB +: SEGMENT_REPORT_SACK_COUNT_WIDTH] == '0;

  always_comb begin
    state_d = state_q;
    pop     = 1'b0;
    unique case (state_q)
      COMMAND: begin
        if (!write_first) pop = head_valid && (told_ready || !head.report);
        else if (wr_cmd_valid_o && wr_cmd_ready_i) state_d = is_place ? PLACING : COPYING;
      end
      PLACING, COPYING: begin
        pop = last_beat;
        if (last_beat) state_d = COMMAND;
      end
      default: state_d = COMMAND;
    endcase
  end

  // ---------------------------------------------------------------- answers of host memory, and the reports
  logic              write_valid, told_valid, fate_valid, fate_ready, fate_failed, failed, failed_q, result, told_pop, tell;
  logic              written_q, written_failed_q;
  logic              write_push, tell_failed, kind_ready, told_next, told_some;
  write_t            write_in, write;
  told_t             told_d, told;
  logic [511:0]      told_record;
  logic [OWED_W-1:0] owed_q;                     // results that reports will take
  logic owed_full_q, owed_more_q, owed_less;     // no more of them; another one since the last cycle; one is taken
  logic [6:0]        unused_counts;
  logic              tell_ready, report_idle;
  // verilator lint_off UNUSEDSIGNAL
  fpdu_report_t      told_fpdu;
  // verilator lint_on UNUSEDSIGNAL

  assign write_push = wr_cmd_valid_o && wr_cmd_ready_i;
  assign write_in   = '{last: head.last, fpdu: is_place, colour: head.colour};
  logic write_ready;
  assign write_room = write_ready && !owed_full_q;

  fifo_sync #(.WIDTH($bits(write_t)), .DEPTH(TOLD)) i_writes (
    .clk_i, .rst_ni, .wr_valid_i(write_push), .wr_ready_o(write_ready), .wr_data_i(write_in),
    .rd_valid_o(write_valid), .rd_ready_i(written_q), .rd_data_o(write), .count_o(unused_counts)
  );
  // The records in block RAM. What decides is beside them, in LUT RAM and a register that is loaded as the memory's output is.
  assign told_next = !told_valid || told_pop;
  always_ff @(posedge clk_i) if (told_next) told <= told_d;
  fifo_sync #(.WIDTH($bits(told_t)), .DEPTH(TOLD)) i_told (
    .clk_i, .rst_ni, .wr_valid_i(told_push), .wr_ready_o(kind_ready), .wr_data_i(told_in),
    .rd_valid_o(told_some), .rd_ready_i(told_next), .rd_data_o(told_d), .count_o()
  );
  fifo_sync #(.WIDTH(512), .DEPTH(TOLD), .LUT_RAM_DEPTH(0)) i_records (
    .clk_i, .rst_ni, .wr_valid_i(told_push), .wr_ready_o(told_ready), .wr_data_i(head.record),
    .rd_valid_o(told_valid), .rd_ready_i(told_pop), .rd_data_o(told_record), .count_o()
  );
  fifo_sync #(.WIDTH(1), .DEPTH(TOLD)) i_fates (
    .clk_i, .rst_ni, .wr_valid_i(result), .wr_ready_o(fate_ready), .wr_data_i(failed),
    .rd_valid_o(fate_valid), .rd_ready_i(told_pop && told.awaits), .rd_data_o(fate_failed), .count_o()
  );

  always_ff @(posedge clk_i) written_failed_q <= wr_failed_i;

  assign failed          = failed_q || written_failed_q;
  assign result          = written_q && write.last;
  assign landed_o        = result && write.fpdu;
  assign landed_colour_o = write.colour;
  assign tell            = told_valid && (fate_valid || !told.awaits);
  assign told_pop        = tell && tell_ready;
  assign tell_failed     = told.awaits && fate_failed;
  assign told_fpdu       = fpdu_report_t'(told_record);
  assign owed_less       = told_pop && told.awaits;

  rx_report i_report (
    .clk_i, .rst_ni, .valid_i(tell), .ready_o(tell_ready), .fpdu_i(told.fpdu), .joins_i(told.joins), .failed_i(tell_failed),
    .next_i(told_valid), .record_i(told_record), .rpt_valid_o, .rpt_ready_i, .rpt_o, .idle_o(report_idle)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {written_q, failed_q} <= '0;
      owed_q <= '0;
      {owed_more_q, owed_full_q} <= '0;
    end else begin
      written_q <= wr_written_i;
      if (written_q) failed_q <= failed && !write.last;
      // Counted a cycle late: the next command comes two cycles after one at the earliest, and its answer later still.
      owed_more_q <= write_push && head.last;
      owed_q <= owed_q + OWED_W'(owed_more_q) - OWED_W'(owed_less);
      if (owed_more_q != owed_less) owed_full_q <= owed_more_q && owed_q == OWED_W'(TOLD - 1);
    end
  end

  // ---------------------------------------------------------------- raw copy: beats of the frame from the store
  assign raw_start   = head_valid && head.raw && !raw_steps_q[0];
  assign raw_take    = copying && raw_valid_q && wr_ready_i;
  assign rd_req_o    = reading_q && room;
  assign rd_pos_o    = pos_q;
  assign raw_beats   = (raw_record.raw_len + 16'(LANES - 1)) / 16'(LANES);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {placed_q, free_valid_o} <= '0;
      state_q     <= COMMAND;
      reading_q   <= 1'b0;
      pos_q       <= '0;
      beats_q     <= '0;
      left_q      <= '0;
      raw_tail_o  <= '0;
    end else begin
      state_q      <= state_d;
      free_valid_o <= pop && head.kind == CLOSE;
      if (pop) placed_q <= is_place;
      if (raw_start) begin
        reading_q <= 1'b1;
        pos_q     <= head.start;
        left_q    <= raw_beats;
        beats_q   <= raw_beats;
      end else begin
        if (rd_grant_i) begin
          pos_q     <= pos_q + 16'd1;
          beats_q   <= beats_q - 16'd1;
          reading_q <= beats_q != 16'd1;
        end
        if (raw_take) left_q <= left_q - 16'd1;
      end
      if (cfg_i.raw_reset) raw_tail_o <= '0;
      else if (last_beat && copying) raw_tail_o <= raw_tail_o + 32'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    free_stop_o <= head.stop;
    if (raw_start) begin
      raw_last_q  <= raw_record.raw_len <= 16'(LANES);
      raw_count_q <= {raw_record.raw_len[COUNT_W-2:0] == '0, raw_record.raw_len[COUNT_W-2:0]};
    end else if (raw_take) begin
      raw_last_q <= left_q == 16'd2;
    end
  end

  read_ahead #(.WIDTH(DATA_W)) i_ahead (
    .clk_i, .rst_ni, .clear_i(1'b0), .room_o(room), .grant_i(rd_grant_i), .data_i(rd_data_i),
    .valid_o(buffered), .take_i(buffered && raw_free), .data_o(read_beat), .idle_o(unused_idle)
  );

  // Behind a beat stand dma_write's choice and rotation, so it comes from a register and not from the LUT RAM.
  assign raw_free = !raw_valid_q || raw_take;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) raw_valid_q <= 1'b0; else if (raw_free) raw_valid_q <= buffered;
  always_ff @(posedge clk_i) if (raw_free) raw_beat_q <= read_beat;

  // ---------------------------------------------------------------- data out
  assign place_ready_o = placing && wr_ready_i;
  assign wr_valid_o    = (placing && place_valid_i) || (copying && raw_valid_q);
  assign wr_data_o     = copying ? raw_beat_q : place_data_i;
  assign wr_last_o     = copying ? raw_last_q : place_last_i;
  assign wr_count_o    = !copying ? place_count_i : (raw_last_q ? raw_count_q : COUNT_W'(LANES));

  assign idle_o = !waits_q && !in_valid && !head_valid && !free_valid_o && !told_some && !told_valid && report_idle && !write_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_inc_o <= '0;
    else begin
      cnt_inc_o <= '0;
      if (placing && wr_valid_o && wr_ready_i) cnt_inc_o[CNT_RX_PLACE_BYTES] <= 16'(wr_count_o);
      cnt_inc_o[CNT_RX_FPDUS_PLACED] <= 16'(told_pop && told.fpdu && told_fpdu.verdict == FPDU_VERDICT_PLACED && !tell_failed);
      cnt_inc_o[CNT_RX_PLACE_FAILED] <= 16'(told_pop && told.fpdu && tell_failed);
      cnt_inc_o[CNT_RX_RAW_FAILED]   <= 16'(told_pop && !told.fpdu && tell_failed);
    end
  end

  logic unused;
  assign unused = ^{cfg_i, raw_record, fate_ready, kind_ready, unused_counts, unused_idle};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      write_expected: assert (wr_written_i -> write_valid);
      fate_fits: assert (result -> fate_ready);
      owed_full: assert (owed_full_q == (owed_q == OWED_W'(TOLD)));
      owed_counted: assert (!(owed_more_q && write_push));
      one_bit_each: assert (state_q != 2'b11 && !(head_valid && head.kind == 2'b11));
      told_fits: assert (told_push -> told_ready && kind_ready);
      empty_told: assert (head_empty_q == !head_valid);
      past_nothing: assert (waits_q == (waiting != '0) && (waits_q || in_ready));
      report_behind_places: assert (pop && head.kind != REPORT -> !placed_q || is_place);
      first_told: assert (head_valid -> write_first == (is_place || head.raw));
      place_ends_with_op: assert (state_q != COMMAND -> head_valid && is_place == (state_q == PLACING));
    end
  end
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
