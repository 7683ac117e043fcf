// Executes operations strictly in order: placements and reports of the walk, and each packet's close (raw copy, report, store space).
//
// Handshake: `op_*` and `close_*` enter one queue; a close goes first, `op_block_i` stalls reports, and `place_block_i` placements. `wr_cmd_*` and `wr_*` follow dma_write:
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
  input  logic      op_block_i,     // level: a report waits
  input  logic      place_block_i,  // level: a placement waits
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

  output logic             rpt_valid_o,
  input  logic             rpt_ready_i,
  output logic [    511:0] rpt_o,
  input  logic             rpt_full_i,   // level: the report that is offered waits for room in its ring
  output logic [PORTS-1:0] rpt_merged_o, // pulse: a report of this port will not come, as a later one stands for it

  input  raw_count_t [       PORTS-1:0]       raw_i,       // given_up: slots taken before are of the old ring
  output logic       [       PORTS-1:0][31:0] raw_tail_o,  // frames written into the present one
  output logic                                idle_o,
  output logic       [NUM_COUNTERS-1:0][15:0] cnt_inc_o
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

  entry_t in, head;
  logic op_stays, in_port, in_valid, close_joins, in_ready, head_valid, pop, queue_ready, record_ready;
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
  assign op_stays      = op_i.is_report ? op_block_i : place_block_i || close_valid_i;
  assign op_ready_o    = in_ready && !op_stays;
  assign in_valid      = close_valid_i || (op_valid_i && !op_stays);
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
  logic is_place, placing, copying, last_beat, placed_q, given_q, told_push, told_ready, may_write, write_push, write_room;
  logic copy_addressed, copy_valid, copy_last, copies;
  logic [       63:0] copy_addr;
  logic [ DATA_W-1:0] copy_data;
  logic [COUNT_W-1:0] copy_count;

  assign is_place       = head.kind[0];
  assign placing        = state_q[0];
  assign copying        = state_q[1];

  assign may_write      = write_room && (is_place || (told_ready && copy_addressed));
  assign wr_cmd_valid_o = head_valid && state_q == Command && head.writes && may_write;
  assign wr_cmd_addr_o  = is_place ? head.iova : copy_addr;
  assign wr_cmd_bytes_o = head.bytes;

  assign last_beat      = wr_ready_i && ((placing && place_valid_i && place_last_i) || (copying && copy_valid && copy_last));
  // A raw copy begins only if its report has room.
  assign told_push      = pop && head.report;
  assign write_push     = wr_cmd_valid_o && wr_cmd_ready_i;

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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {placed_q, free_valid_o} <= '0;
      given_q                  <= 1'b0;
      state_q                  <= Command;
    end else begin
      state_q      <= state_d;
      free_valid_o <= pop && head.kind == Close;
      given_q      <= write_push && is_place;
      // A close may come between an FPDU's placements and its report, but none with a copy.
      if (pop && head.kind != Close) placed_q <= is_place;
    end
  end
  always_ff @(posedge clk_i) free_stop_o <= head.iova[15:0];

  // ---------------------------------------------------------------- copies of frames, and reports
  assign copies = copying && wr_ready_i;
  rx_raw_copy #(
    .DATA_W(DATA_W),
    .PORTS (PORTS)
  ) u_copy (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .frame_valid_i(head_valid),
    .frame_raw_i  (head.raw),
    .frame_port_i (PORTS != 1 && head.iova[48]),
    .frame_slot_i (head.iova[47:32]),
    .frame_start_i(head.iova[31:16]),
    .frame_bytes_i(head.bytes),
    .pop_i        (pop),
    .written_i    (last_beat && copying),
    .addr_valid_o (copy_addressed),
    .addr_o       (copy_addr),
    .rd_req_o,
    .rd_pos_o,
    .rd_grant_i,
    .rd_data_i,
    .valid_o      (copy_valid),
    .take_i       (copies),
    .data_o       (copy_data),
    .count_o      (copy_count),
    .last_o       (copy_last),
    .raw_i,
    .raw_tail_o
  );

  logic told_idle, placed, place_failed, raw_failed, merged;
  // verilator lint_off UNUSEDSIGNAL
  segment_report_t offered;  // of the flow of the one that is merged
  // verilator lint_on UNUSEDSIGNAL
  assign offered = segment_report_t'(rpt_o);
  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) rpt_merged_o[p] = merged && (PORTS == 1 || offered.phase[SEGMENT_REPORT_PORT_BIT] == 1'(p));
  end
  rx_told u_told (
    .clk_i,
    .rst_ni,
    .record_valid_i(in_valid && in.report && queue_ready),
    .record_ready_o(record_ready),
    .record_i      (in_record),
    .write_valid_i (write_push),
    .write_ready_o (write_room),
    .write_i       ('{last: head.last, fpdu: is_place, colour: head.colour}),
    .told_valid_i  (told_push),
    .told_ready_o  (told_ready),
    .told_i        ('{awaits: head.kind == Report ? placed_q : head.raw, fpdu: head.kind == Report, placed: head.placed, joins: head.joins}),
    .wr_written_i,
    .wr_failed_i,
    .landed_o,
    .landed_colour_o,
    .rpt_valid_o,
    .rpt_ready_i,
    .rpt_o,
    .rpt_full_i,
    .merged_o      (merged),
    .placed_o      (placed),
    .place_failed_o(place_failed),
    .raw_failed_o  (raw_failed),
    .idle_o        (told_idle)
  );

  // ---------------------------------------------------------------- data out
  assign place_ready_o = placing && wr_ready_i;
  assign wr_valid_o    = (placing && place_valid_i) || (copying && copy_valid);
  assign wr_data_o     = copying ? copy_data : place_data_i;
  assign wr_last_o     = copying ? copy_last : place_last_i;
  assign wr_count_o    = !copying ? place_count_i : copy_count;

  assign idle_o        = !in_valid && !head_valid && !free_valid_o && told_idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cnt_inc_o <= '0;
    else begin
      cnt_inc_o <= '0;
      if (placing && wr_valid_o && wr_ready_i) cnt_inc_o[CNT_RX_PLACE_BYTES] <= 16'(wr_count_o);
      cnt_inc_o[CNT_RX_FPDUS_PLACED]   <= 16'(placed);
      cnt_inc_o[CNT_RX_PLACE_FAILED]   <= 16'(place_failed);
      cnt_inc_o[CNT_RX_RAW_FAILED]     <= 16'(raw_failed);
      cnt_inc_o[CNT_RX_REPORTS_MERGED] <= 16'(merged);
    end
  end

  `WEFT_ASSERT(one_bit_each, state_q != 2'b11 && !(head_valid && head.kind == 2'b11))
  `WEFT_ASSERT(told_fits, told_push -> told_ready)
  `WEFT_ASSERT(copy_behind_reports, head_valid && head.raw -> !placed_q)
  `WEFT_ASSERT(copy_ends_with_op, state_q == Copying -> head_valid && head.raw)
  `WEFT_ASSERT(given_told, given_q -> placing && head_valid && is_place)

endmodule
