// Executes operations strictly in order: placements and reports of the walk, and each packet's close (raw copy, report, store space).
//
// Handshake: `op_*` and `close_*` enter one queue; a close goes first, and `op_block_i` stalls operations. `wr_cmd_*` and `wr_*` follow dma_write:
//            one command, then its beats. A placement costs its beats and one cycle, a raw copy its beats and four cycles. What is not written costs
//            a cycle, and none beside a placement's beats. `rpt_*` is in order, and may wait for host memory while further writes are made.
// Pipeline:  operations, closes ─► queue ─► writes ─► reports in wait of their writes ─► rx_report ─► rpt
//                                             '─► which report each write is for ─► its outcome ─'
//            stage            | registers          | what happens                                      | hazards, bypasses
//            enter            | u_queue, u_records | an operation or close is queued, and its record   | both need room
//            Command          | raw_steps_q        | a write's command; entries without one are popped | a raw copy's address: three cycles
//            Placing          | given_q            | beats to dma_write; beside them its entry is      | until an entry with a write
//                             |                    | popped, and those behind it without a write       |
//            Copying          | raw_beat_q         | beats to dma_write; the last one pops the entry   | raw beats are read ahead
//            report           | u_told             | the report waits for the answers to its writes    | a raw copy begins with room here
//            answer           | u_writes, u_fates  | answers of one report are joined into one result  | owed_full_q: TOLD outstanding
//            rx_report        | see there          | reports are joined and written
// Why:       A report is offered when host memory has answered its writes; if one failed the report says so. Placements come before their FPDU's
//            report, and that before the segment's.

`include "weft_assert.svh"

module rx_output
  import rx_front_pkg::*;
  import walk_pkg::op_t;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W     = 512,
  parameter  int unsigned OPERATIONS = 32,                // entries in the queue
  parameter  int unsigned PORTS      = 1,
  localparam int unsigned LANES      = DATA_W / 8,
  localparam int unsigned COUNT_W    = $clog2(LANES) + 1
) (
  input logic    clk_i,
  input logic    rst_ni,
  input rx_cfg_t cfg_i,

  input  logic      op_valid_i,
  output logic      op_ready_o,
  input  op_t       op_i,
  input  logic      op_block_i,
  input  logic      close_valid_i,
  output logic      close_ready_o,
  input  rx_close_t close_i,

  input  logic               place_valid_i,
  output logic               place_ready_o,
  input  logic [ DATA_W-1:0] place_data_i,
  input  logic [COUNT_W-1:0] place_count_i,
  input  logic               place_last_i,

  output logic              rd_req_o,
  output logic [      15:0] rd_pos_o,
  input  logic              rd_grant_i,
  input  logic [DATA_W-1:0] rd_data_i,
  output logic              free_valid_o,
  output logic [      15:0] free_stop_o,

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
  output logic               landed_o,        // pulse: all placements of an FPDU are answered
  output logic               landed_colour_o,

  output logic         rpt_valid_o,
  input  logic         rpt_ready_i,
  output logic [511:0] rpt_o,

  input  logic [       PORTS-1:0]       raw_given_up_i,  // the raw ring is set up anew: slots taken before,
  input  logic [       PORTS-1:0][15:0] raw_taken_i,     // so many in all, are the old ring's
  output logic [       PORTS-1:0][31:0] raw_tail_o,      // frames written into the present one
  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  // One bit each for the kinds on which much logic depends.
  typedef enum logic [1:0] {
    Report = 2'b00,
    Place  = 2'b01,
    Close  = 2'b10
  } kind_e;
  typedef enum logic [1:0] {
    Command = 2'b00,
    Placing = 2'b01,
    Copying = 2'b10
  } state_e;

  localparam int unsigned TOLD = 64;  // reports in wait of their writes
  localparam int unsigned RECORDS = 2 * TOLD;  // with those of queued operations
  localparam int unsigned OWED_W = $clog2(TOLD + 1);

  typedef struct packed {
    kind_e       kind;
    logic        raw;
    logic        report;
    logic        last;    // Place: of its FPDU
    logic        colour;  // Place: the fence's
    logic        writes;  // Place, or a raw copy
    logic        placed;  // Report: of an FPDU that was
    logic        joins;   // its report, for rx_report
    logic [15:0] bytes;   // Place, and of a raw copy
    logic [63:0] iova;    // Place; else port, raw slot, start and stop in the store
  } entry_t;

  // A write in flight: the last one of its report, and whether that is an FPDU's.
  typedef struct packed {
    logic last;
    logic fpdu;
    logic colour;
  } write_t;

  typedef struct packed {
    logic awaits;  // writes of its own
    logic fpdu;
    logic placed;
    logic joins;
  } told_t;

  entry_t in, head;
  logic in_port, in_valid, close_joins, in_ready, head_valid, pop, queue_ready, record_ready;
  logic            [SEGMENT_REPORT_SACK_COUNT_WIDTH-1:0] sacks;
  logic            [                              511:0] in_record;
  // verilator lint_off UNUSEDSIGNAL
  fpdu_report_t                                          in_fpdu;
  segment_report_t                                       in_segment;
  frame_report_t                                         in_raw;  // slot and length lie at the same place in a segment report
  // verilator lint_on UNUSEDSIGNAL

  assign in_ready      = queue_ready && record_ready;
  assign in_record     = close_valid_i ? close_i.record : op_i.record;
  assign in_fpdu       = fpdu_report_t'(op_i.record);
  assign in_segment    = segment_report_t'(close_i.record);
  assign in_raw        = frame_report_t'(close_i.record);
  assign in_port       = PORTS != 1 && in_segment.phase[SEGMENT_REPORT_PORT_BIT];
  assign close_ready_o = in_ready;
  assign op_ready_o    = in_ready && !op_block_i;
  assign in_valid      = close_valid_i || (op_valid_i && !op_block_i);
  assign close_joins   = !close_i.raw && in_segment.kind == REPORT_KIND_SEGMENT && sacks == '0;
  assign sacks         = in_segment.flags[SEGMENT_REPORT_SACK_COUNT_LSB+:SEGMENT_REPORT_SACK_COUNT_WIDTH];

  always_comb begin
    if (close_valid_i) begin
      in = '{
          kind: Close,
          raw: close_i.raw,
          report: close_i.report,
          last: 1'b1,
          colour: 1'b0,
          writes: close_i.raw,
          placed: 1'b0,
          joins: close_joins,
          bytes: in_raw.raw_len,
          iova: {15'd0, in_port, in_raw.raw_slot, close_i.start, close_i.stop}
      };
    end else begin
      in = '{
          kind: op_i.is_report ? Report : Place,
          raw: 1'b0,
          report: op_i.is_report,
          last: op_i.last,
          colour: op_i.colour,
          writes: !op_i.is_report,
          placed: in_fpdu.verdict == FPDU_VERDICT_PLACED,
          joins: in_fpdu.verdict == FPDU_VERDICT_PLACED && in_fpdu.offset == '0,
          bytes: op_i.bytes,
          iova: op_i.iova
      };
    end
  end

  // The queue is narrow, in LUT RAM, its head in a register. A report's record bypasses it, into the memory where reports wait.
  fifo_sync #(
    .WIDTH($bits(entry_t)),
    .DEPTH(OPERATIONS),
    .HEAD (1'b1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .wr_valid_i(in_valid && record_ready),
    .wr_ready_o(queue_ready),
    .wr_data_i (in),
    .rd_valid_o(head_valid),
    .rd_ready_i(pop),
    .rd_data_o (head),
    .count_o   ()
  );

  // ---------------------------------------------------------------- one operation after the other
  state_e state_q, state_d;
  logic is_place, placing, copying, last_beat, placed_q, given_q, told_push, told_ready, may_write, write_room;
  told_t told_in;

  assign is_place = head.kind[0];
  assign placing  = state_q[0];
  assign copying  = state_q[1];

  logic raw_start, reading_q, room;
  logic [15:0] pos_q, beats_q, left_q;  // next beat, beats to read, beats not yet handed on
  logic [       15:0] raw_beats;
  logic               raw_last_q;
  logic [COUNT_W-1:0] raw_count_q;  // bytes of the last one
  logic [DATA_W-1:0] read_beat, raw_beat_q;
  logic buffered, raw_valid_q, raw_free, raw_take, unused_idle;  // beat was read, is in the register, leaves

  // A raw frame's address: the slot's offset, and the sum in two halves.
  logic [30:0] raw_offset_q;
  logic [32:0] raw_low_q;
  logic [31:0] raw_addr_low_q, raw_addr_high_q;
  logic [      2:0]       raw_steps_q;
  logic                   raw_port;
  logic [     63:0]       raw_base;
  // Raw ring set up anew: copies of slots taken before go to the old ring, uncounted. The first one behind waits for the new base and size.
  logic [PORTS-1:0][63:0] base_q;
  logic [      7:0]       slot_log2_q;
  logic [PORTS-1:0][ 7:0] old_q;
  logic [PORTS-1:0] copied_q, stays, moves;  // copied_q: a cycle late, so that no count depends on the last beat's ready
  logic [2:0] settled_q;
  assign raw_port = PORTS != 1 && head.iova[48];
  assign raw_base = base_q[raw_port];
  for (genvar p = 0; p < PORTS; p++) begin : gen_ring
    assign stays[p] = cfg_i.raw[p].reset || raw_given_up_i[p] || old_q[p] != '0;
    assign moves[p] = copied_q[p] && old_q[p] == 8'd1;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        raw_tail_o[p] <= '0;
        old_q[p]      <= '0;
        copied_q[p]   <= 1'b0;
      end else begin
        copied_q[p] <= last_beat && copying && raw_port == 1'(p);
        if (raw_given_up_i[p]) begin
          raw_tail_o[p] <= '0;
          old_q[p]      <= old_q[p] + 8'(raw_taken_i[p] - raw_tail_o[p][15:0]) - 8'(copied_q[p]);
        end else if (copied_q[p]) begin
          if (old_q[p] != '0) old_q[p] <= old_q[p] - 8'd1;
          else raw_tail_o[p] <= raw_tail_o[p] + 32'd1;
        end
      end
    end
    always_ff @(posedge clk_i) if (!stays[p]) base_q[p] <= cfg_i.raw[p].base;
  end
  always_ff @(posedge clk_i) if (!stays[0]) slot_log2_q <= cfg_i.raw_slot_log2;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) settled_q <= '0;
    else settled_q <= moves != '0 ? '0 : {settled_q[1:0], 1'b1};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) raw_steps_q <= '0;
    else if (!head_valid || pop) raw_steps_q <= '0;
    else raw_steps_q <= {raw_steps_q[1] && settled_q[2], raw_steps_q[0], 1'b1};
  end
  always_ff @(posedge clk_i) begin
    raw_offset_q    <= 31'(head.iova[47:32]) << slot_log2_q[3:0];
    raw_low_q       <= 33'(raw_base[31:0]) + 33'(raw_offset_q);
    raw_addr_low_q  <= raw_low_q[31:0];
    raw_addr_high_q <= raw_base[63:32] + 32'(raw_low_q[32]);
  end

  assign may_write      = write_room && (is_place || (told_ready && raw_steps_q[2]));
  assign wr_cmd_valid_o = head_valid && state_q == Command && head.writes && may_write;
  assign wr_cmd_addr_o  = is_place ? head.iova : {raw_addr_high_q, raw_addr_low_q};
  assign wr_cmd_bytes_o = head.bytes;

  assign last_beat      = wr_ready_i && ((placing && place_valid_i && place_last_i) || (copying && raw_valid_q && raw_last_q));
  // A raw copy begins only if its report has room.
  assign told_push      = pop && head.report;

  assign told_in.awaits = head.kind == Report ? placed_q : head.raw;
  assign told_in.fpdu   = head.kind == Report;
  assign told_in.placed = head.placed;
  assign told_in.joins  = head.joins;

  always_comb begin
    state_d = state_q;
    // A placement that was commanded, or an entry without a write.
    pop     = given_q || (head_valid && !head.writes && (told_ready || !head.report));
    unique case (state_q)
      Command: begin
        if (wr_cmd_valid_o && wr_cmd_ready_i) state_d = is_place ? Placing : Copying;
      end
      Placing: if (last_beat) state_d = Command;
      Copying: begin
        pop = last_beat;
        if (last_beat) state_d = Command;
      end
      default: state_d = Command;
    endcase
  end

  // ---------------------------------------------------------------- answers of host memory, and the reports
  logic write_valid, told_valid, fate_valid, fate_ready, fate_failed, failed, failed_q, result, told_pop, tell;
  logic written_q, written_failed_q;
  logic write_push, tell_failed, record_valid;
  write_t write_in, write;
  told_t              told;
  logic  [     511:0] told_record;
  logic  [OWED_W-1:0] owed_q;  // results outstanding or not taken by their report yet
  logic owed_full_q, owed_more_q, owed_less;  // no more may be; one more since the last cycle; one is taken
  logic [6:0] unused_counts;
  logic tell_ready, report_idle;

  assign write_push = wr_cmd_valid_o && wr_cmd_ready_i;
  assign write_in   = '{last: head.last, fpdu: is_place, colour: head.colour};
  logic write_ready;
  assign write_room = write_ready && !owed_full_q;

  fifo_sync #(
    .WIDTH($bits(write_t)),
    .DEPTH(TOLD)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .wr_valid_i(write_push),
    .wr_ready_o(write_ready),
    .wr_data_i (write_in),
    .rd_valid_o(write_valid),
    .rd_ready_i(written_q),
    .rd_data_o (write),
    .count_o   (unused_counts)
  );
  // Records are in block RAM two cycles before they can be reported. What decides is beside them, in LUT RAM and a register.
  fifo_sync #(
    .WIDTH($bits(told_t)),
    .DEPTH(TOLD),
    .HEAD (1'b1)
  ) u_told (
    .clk_i,
    .rst_ni,
    .wr_valid_i(told_push),
    .wr_ready_o(told_ready),
    .wr_data_i (told_in),
    .rd_valid_o(told_valid),
    .rd_ready_i(told_pop),
    .rd_data_o (told),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH        (512),
    .DEPTH        (RECORDS),
    .LUT_RAM_DEPTH(0),
    .STEADY       (1'b1)
  ) u_records (
    .clk_i,
    .rst_ni,
    .wr_valid_i(in_valid && in.report && queue_ready),
    .wr_ready_o(record_ready),
    .wr_data_i (in_record),
    .rd_valid_o(record_valid),
    .rd_ready_i(told_pop),
    .rd_data_o (told_record),
    .count_o   ()
  );
  fifo_sync #(
    .WIDTH(1),
    .DEPTH(TOLD)
  ) u_fates (
    .clk_i,
    .rst_ni,
    .wr_valid_i(result),
    .wr_ready_o(fate_ready),
    .wr_data_i (failed),
    .rd_valid_o(fate_valid),
    .rd_ready_i(told_pop && told.awaits),
    .rd_data_o (fate_failed),
    .count_o   ()
  );

  always_ff @(posedge clk_i) written_failed_q <= wr_failed_i;

  assign failed          = failed_q || written_failed_q;
  assign result          = written_q && write.last;
  assign landed_o        = result && write.fpdu;
  assign landed_colour_o = write.colour;
  assign tell            = told_valid && (fate_valid || !told.awaits);
  assign told_pop        = tell && tell_ready;
  assign tell_failed     = told.awaits && fate_failed;
  assign owed_less       = told_pop && told.awaits;

  rx_report u_report (
    .clk_i,
    .rst_ni,
    .valid_i (tell),
    .ready_o (tell_ready),
    .fpdu_i  (told.fpdu),
    .joins_i (told.joins),
    .failed_i(tell_failed),
    .next_i  (told_valid),
    .record_i(told_record),
    .rpt_valid_o,
    .rpt_ready_i,
    .rpt_o,
    .idle_o  (report_idle)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {written_q, failed_q}      <= '0;
      owed_q                     <= '0;
      {owed_more_q, owed_full_q} <= '0;
    end else begin
      written_q <= wr_written_i;
      if (written_q) failed_q <= failed && !write.last;
      // Counted a cycle late: commands are two cycles apart at least, and an answer comes later still.
      owed_more_q <= write_push && head.last;
      owed_q      <= owed_q + OWED_W'(owed_more_q) - OWED_W'(owed_less);
      if (owed_more_q != owed_less) owed_full_q <= owed_more_q && owed_q == OWED_W'(TOLD - 1);
    end
  end

  // ---------------------------------------------------------------- raw copy: beats of the frame from the store
  assign raw_start = head_valid && head.raw && !raw_steps_q[0];
  assign raw_take  = copying && raw_valid_q && wr_ready_i;
  assign rd_req_o  = reading_q && room;
  assign rd_pos_o  = pos_q;
  assign raw_beats = (head.bytes + 16'(LANES - 1)) / 16'(LANES);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {placed_q, free_valid_o} <= '0;
      given_q                  <= 1'b0;
      state_q                  <= Command;
      reading_q                <= 1'b0;
      pos_q                    <= '0;
      beats_q                  <= '0;
      left_q                   <= '0;
    end else begin
      state_q      <= state_d;
      free_valid_o <= pop && head.kind == Close;
      given_q      <= write_push && is_place;
      if (pop) placed_q <= is_place;
      if (raw_start) begin
        reading_q <= 1'b1;
        pos_q     <= head.iova[31:16];
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
    end
  end
  always_ff @(posedge clk_i) begin
    free_stop_o <= head.iova[15:0];
    if (raw_start) begin
      raw_last_q  <= head.bytes <= 16'(LANES);
      raw_count_q <= {head.bytes[COUNT_W-2:0] == '0, head.bytes[COUNT_W-2:0]};
    end else if (raw_take) begin
      raw_last_q <= left_q == 16'd2;
    end
  end

  read_ahead #(
    .WIDTH(DATA_W)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .room_o (room),
    .grant_i(rd_grant_i),
    .data_i (rd_data_i),
    .valid_o(buffered),
    .take_i (buffered && raw_free),
    .data_o (read_beat),
    .idle_o (unused_idle)
  );

  // A register, not the LUT RAM: behind the beat come dma_write's choice and rotation.
  assign raw_free = !raw_valid_q || raw_take;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) raw_valid_q <= 1'b0;
    else if (raw_free) raw_valid_q <= buffered;
  always_ff @(posedge clk_i) if (raw_free) raw_beat_q <= read_beat;

  // ---------------------------------------------------------------- data out
  assign place_ready_o = placing && wr_ready_i;
  assign wr_valid_o    = (placing && place_valid_i) || (copying && raw_valid_q);
  assign wr_data_o     = copying ? raw_beat_q : place_data_i;
  assign wr_last_o     = copying ? raw_last_q : place_last_i;
  assign wr_count_o    = !copying ? place_count_i : (raw_last_q ? raw_count_q : COUNT_W'(LANES));

  assign idle_o        = !in_valid && !head_valid && !free_valid_o && !told_valid && report_idle && !write_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_inc_o <= '0;
    else begin
      cnt_inc_o <= '0;
      if (placing && wr_valid_o && wr_ready_i) cnt_inc_o[CNT_RX_PLACE_BYTES] <= 16'(wr_count_o);
      cnt_inc_o[CNT_RX_FPDUS_PLACED] <= 16'(told_pop && told.placed && !tell_failed);
      cnt_inc_o[CNT_RX_PLACE_FAILED] <= 16'(told_pop && told.fpdu && tell_failed);
      cnt_inc_o[CNT_RX_RAW_FAILED]   <= 16'(told_pop && !told.fpdu && tell_failed);
    end
  end

  logic unused;
  assign unused = ^{cfg_i, slot_log2_q[7:4], record_valid, fate_ready, unused_counts, unused_idle};

  `WEFT_ASSERT(write_expected, wr_written_i -> write_valid)
  `WEFT_ASSERT(fate_fits, result -> fate_ready)
  `WEFT_ASSERT(owed_full, owed_full_q == (owed_q == OWED_W'(TOLD)))
  `WEFT_ASSERT(owed_counted, !(owed_more_q && write_push))
  `WEFT_ASSERT(one_bit_each, state_q != 2'b11 && !(head_valid && head.kind == 2'b11))
  `WEFT_ASSERT(told_fits, told_push -> told_ready)
  `WEFT_ASSERT(record_there, told_valid -> record_valid)
  `WEFT_ASSERT(report_behind_places, pop && head.kind != Report -> !placed_q || is_place)
  `WEFT_ASSERT(copy_ends_with_op, state_q == Copying -> head_valid && head.raw)
  `WEFT_ASSERT(given_told, given_q -> placing && head_valid && is_place)

endmodule
