// Holds each report until host memory has answered the writes that it tells of, in order.
//
// Handshake: ready/valid for records, writes and reports. A report's record is there two cycles before the report is (`told_*`). `wr_written_i` answers
//            the writes in their order.
// Pipeline:  stage   | registers | what happens                                                  | hazards, bypasses
//            record  | u_records | the report, in block RAM                                      | STEADY: two cycles until it can be read
//            told    | u_told    | what decides, in LUT RAM and a register                       |
//            answer  | u_writes  | which report a write is for                                   | owed_full_q: TOLD results outstanding
//            result  | u_fates   | the answers to one report's writes, joined: did one fail?     |
//            report  | u_report  | the report goes, with what became of its writes               | see rx_report
// Why:       A report that says "placed" must not be seen before the bytes are. Writes of later reports go on meanwhile.

`include "weft_assert.svh"

module rx_told
  import rx_front_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic         record_valid_i,
  output logic         record_ready_o,
  input  logic [511:0] record_i,

  input  logic        write_valid_i,  // a write is commanded, only with write_ready_o
  output logic        write_ready_o,
  input  told_write_t write_i,
  input  logic        told_valid_i,   // its report: behind its writes
  output logic        told_ready_o,
  input  told_t       told_i,

  input  logic wr_written_i,    // pulse: a command is answered, in their order
  input  logic wr_failed_i,     // with it: by an error
  output logic landed_o,        // pulse: all placements of an FPDU are answered
  output logic landed_colour_o,

  output logic         rpt_valid_o,
  input  logic         rpt_ready_i,
  output logic [511:0] rpt_o,
  input  logic         rpt_full_i,   // level: the report that is offered waits for room in its ring

  output logic placed_o,        // pulses: an FPDU was placed; its writes failed, or a frame's
  output logic place_failed_o,
  output logic raw_failed_o,
  output logic merged_o,        // pulse: a report is not written, as the next one stands for it
  output logic idle_o
);

  localparam int unsigned TOLD = 64;  // reports in wait of their writes
  localparam int unsigned RECORDS = 2 * TOLD;  // with those of operations that are queued
  localparam int unsigned OWED_W = $clog2(TOLD + 1);

  logic write_there, told_valid, fate_valid, fate_ready, fate_failed, failed, failed_q, result, told_pop, tell;
  logic written_q, written_failed_q, write_room, tell_failed, record_valid;
  told_write_t              write;
  told_t                    told;
  logic        [     511:0] told_record;
  logic        [OWED_W-1:0] owed_q;  // results outstanding or not taken by their report yet
  logic owed_full_q, owed_more_q, owed_less;  // no more may be; one more since the last cycle; one is taken
  logic [6:0] unused_counts;
  logic tell_ready, report_idle;

  assign write_ready_o = write_room && !owed_full_q;

  fifo_sync #(
    .WIDTH($bits(told_write_t)),
    .DEPTH(TOLD)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .wr_valid_i(write_valid_i),
    .wr_ready_o(write_room),
    .wr_data_i (write_i),
    .rd_valid_o(write_there),
    .rd_ready_i(written_q),
    .rd_data_o (write),
    .count_o   (unused_counts)
  );
  fifo_sync #(
    .WIDTH($bits(told_t)),
    .DEPTH(TOLD),
    .HEAD (1'b1)
  ) u_told (
    .clk_i,
    .rst_ni,
    .wr_valid_i(told_valid_i),
    .wr_ready_o(told_ready_o),
    .wr_data_i (told_i),
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
    .wr_valid_i(record_valid_i),
    .wr_ready_o(record_ready_o),
    .wr_data_i (record_i),
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
    .full_i  (rpt_full_i),
    .merged_o,
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
      owed_more_q <= write_valid_i && write_i.last;
      owed_q      <= owed_q + OWED_W'(owed_more_q) - OWED_W'(owed_less);
      if (owed_more_q != owed_less) owed_full_q <= owed_more_q && owed_q == OWED_W'(TOLD - 1);
    end
  end

  assign placed_o       = told_pop && told.placed && !tell_failed;
  assign place_failed_o = told_pop && told.fpdu && tell_failed;
  assign raw_failed_o   = told_pop && !told.fpdu && tell_failed;
  assign idle_o         = !told_valid && report_idle && !write_there;

  logic unused;
  assign unused = ^{record_valid, fate_ready, unused_counts};

  `WEFT_ASSERT(write_fits, write_valid_i -> write_ready_o)
  `WEFT_ASSERT(write_expected, wr_written_i -> write_there)
  `WEFT_ASSERT(fate_fits, result -> fate_ready)
  `WEFT_ASSERT(owed_full, owed_full_q == (owed_q == OWED_W'(TOLD)))
  `WEFT_ASSERT(owed_counted, !(owed_more_q && write_valid_i))
  `WEFT_ASSERT(record_there, told_valid -> record_valid)

endmodule
