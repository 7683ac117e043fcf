// The report ring of a port: takes reports of receive and transmit, adds JOB_DONE and the phase bit, and writes each into the next slot.
//
// Handshake: ready/valid inputs, taken in turn while the ring has room; one report in two cycles at most. To dma_write a command and its beats, each
//            held until taken.
// Pipeline:  cycle  | registers                    | what happens                      | hazards
//            -2, -1 | used_q, one_q, two_q, addr_q | room and address of the next slot | took_q, fresh_q: not valid behind a report
//            0      | report_q, cmd_addr_o         | a report is taken                 | needs the one before to be sent
//            1..    | cmd_sent_q, beats_sent_q     | command and beats to dma_write    | backpressure
//            answer | report_interrupt             | counted, interrupt                | after an error nothing more
// Why:       Reports of one source keep their order, and a report is accepted only after its source's writes before it. dma_write works in order of
//            acceptance, so what a report speaks of is in memory before it.
//            A report counts as written (`tail_o`) when its write response has come; interrupts use that count. After a failed write the ring has a
//            hole that the host cannot see past: nothing more is taken or counted. One interrupt says so, armed or not (`broken_o`, until reset).
//            At a ring set up anew (`cfg_i.reset`), reports taken before go to the old ring, those behind it to the new one.
//            Room is computed two cycles ahead, for one report and for two, as one may be taken meanwhile.

`include "weft_assert.svh"

module report_writer
  import weft_int_pkg::NO_FLOW;
  import weft_int_pkg::report_cfg_t;
  import weft_int_pkg::trace_event_t;
  import weft_card_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned PORT    = 0,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input report_cfg_t        cfg_i,
  input logic        [31:0] job_done_i,

  input  logic         rx_valid_i,
  output logic         rx_ready_o,
  input  logic [511:0] rx_report_i,
  input  logic         tx_valid_i,
  output logic         tx_ready_o,
  input  logic [511:0] tx_report_i,

  // To dma_write: a command, then its beats.
  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output logic [       63:0] cmd_addr_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               written_i,    // pulse: the write response of the oldest report has come
  input  logic               failed_i,     // with it: the response is an error

  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  output logic         [31:0] taken_o,     // reports taken
  output logic         [31:0] tail_o,      // reports written
  output logic                broken_o,    // a report could not be written
  output logic                stall_o,     // a report waits for room in the ring
  output logic                msix_gap_o,  // the interrupt taken now comes of REPORT_GAP
  output trace_event_t [ 1:0] trace_o,     // a report is in flight; an interrupt
  output logic                idle_o
);

  localparam int unsigned BEATS = 512 / DATA_W;

  logic [31:0] taken_q;
  logic have_q, cmd_sent_q, beats_sent_q;
  logic [511:0] report_q;
  logic prefer_tx_q, room, load, take, take_tx, cmd_done, beats_done, broken_q, interrupt_idle;

  // Sums of the cycle before.
  logic [31:0] not_index_q, used_q;  // not_index: the bits of a count that are no slot number
  logic [23:0] addr_q;  // the lower bits of the next slot's address, and the carry out of them
  logic        addr_carry_q;
  logic one_q, two_q;  // room for one, for two behind those that `used_q` counted
  logic [1:0] took_q;  // a report was taken: a cycle ago, two cycles ago
  logic       fresh_q;  // the ring was reset a cycle ago

  // ---------------------------------------------------------------- one report at a time, the next one right behind
  // Occupancy counts modulo 2^32; log2 is at most 16. HEAD may have moved since, which only makes room.
  always_ff @(posedge clk_i) begin
    not_index_q            <= '1 << cfg_i.log2[4:0];
    used_q                 <= taken_q - cfg_i.head;
    one_q                  <= fresh_q || (used_q & not_index_q) == '0;  // a ring that was reset is empty
    two_q                  <= (used_q & not_index_q) == '0 && (used_q | not_index_q) != '1;
    {addr_carry_q, addr_q} <= {1'b0, cfg_i.base[23:0]} + 25'({taken_q[17:0] & ~not_index_q[17:0], 6'd0});
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      took_q  <= '0;
      fresh_q <= 1'b1;
    end else begin
      took_q  <= {took_q[0], take};
      fresh_q <= cfg_i.reset;
    end
  end
  assign room       = (took_q[1] ? two_q : one_q) && !took_q[0] && !fresh_q;

  assign cmd_done   = cmd_sent_q || cmd_ready_i;
  assign beats_done = beats_sent_q || (wr_ready_i && wr_last_o);
  assign load       = (!have_q || (cmd_done && beats_done)) && room && !broken_q && !cfg_i.reset;

  assign take       = load && (rx_valid_i || tx_valid_i);
  assign take_tx    = tx_valid_i && (prefer_tx_q || !rx_valid_i);
  assign tx_ready_o = load && (prefer_tx_q || !rx_valid_i);
  assign rx_ready_o = load && !(prefer_tx_q && tx_valid_i);
  assign stall_o    = (rx_valid_i || tx_valid_i) && !room && !took_q[0] && !fresh_q;

  // Every report has job_done and phase at the same place.
  segment_report_t filled;
  always_comb begin
    filled          = take_tx ? tx_report_i : rx_report_i;
    filled.job_done = job_done_i[23:0];
    filled.phase    = 8'(!taken_q[cfg_i.log2[4:0]]) << SEGMENT_REPORT_PHASE_BIT | 8'(PORT) << SEGMENT_REPORT_PORT_BIT;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q      <= '0;
      have_q       <= 1'b0;
      cmd_sent_q   <= 1'b0;
      beats_sent_q <= 1'b0;
      prefer_tx_q  <= 1'b0;
      cmd_addr_o   <= '0;
    end else begin
      if (take) begin
        have_q       <= 1'b1;
        cmd_sent_q   <= 1'b0;
        beats_sent_q <= 1'b0;
        prefer_tx_q  <= !tx_ready_o;
        taken_q      <= taken_q + 1'b1;
        cmd_addr_o   <= {cfg_i.base[63:24] + 40'(addr_carry_q), addr_q};
      end else begin
        if (have_q && cmd_ready_i) cmd_sent_q <= 1'b1;
        if (wr_valid_o && wr_ready_i && wr_last_o) beats_sent_q <= 1'b1;
        if (cmd_done && beats_done) have_q <= 1'b0;
      end
      if (cfg_i.reset) taken_q <= '0;
    end
  end

  assign cmd_valid_o = have_q && !cmd_sent_q;
  assign wr_valid_o  = have_q && !beats_sent_q;
  assign wr_count_o  = COUNT_W'(DATA_W / 8);
  assign wr_data_o   = report_q[DATA_W-1:0];

  if (BEATS == 1) begin : gen_one_beat
    assign wr_last_o = 1'b1;
    always_ff @(posedge clk_i) begin
      if (load) report_q <= filled;
    end
  end else begin : gen_beats
    logic [$clog2(BEATS)-1:0] beat_q;
    assign wr_last_o = beat_q == '1;
    always_ff @(posedge clk_i) begin
      if (load) report_q <= filled;
      else if (wr_valid_o && wr_ready_i) report_q <= report_q >> DATA_W;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) beat_q <= '0;
      else if (wr_valid_o && wr_ready_i) beat_q <= beat_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- written, and the interrupt
  // Evaluated a cycle after it was taken, from its register.
  logic bulk;
  report_bulk u_bulk (
    .report_i(report_q),
    .bulk_o  (bulk)
  );

  report_interrupt u_interrupt (
    .clk_i,
    .rst_ni,
    .cfg_i,
    .taken_i  (took_q[0]),
    .hurried_i(!bulk),
    .written_i,
    .failed_i,
    .msix_valid_o,
    .msix_ready_i,
    .msix_gap_o,
    .written_o(tail_o),
    .broken_o (broken_q),
    .idle_o   (interrupt_idle)
  );

  assign taken_o       = taken_q;
  assign msix_vector_o = 5'(PORT);
  assign broken_o      = broken_q;
  assign idle_o        = !have_q && !rx_valid_i && !tx_valid_i && interrupt_idle;

  // ---------------------------------------------------------------- trace
  // Kind and flow are at the same place in all reports but the frame report, which has no flow. A segment report's flags are at the place of a job
  // report's status. Its tcp_flags and epoch are at the place of an FPDU report's code.
  logic [15:0] info;
  assign info = filled.kind == REPORT_KIND_FPDU ? {filled.epoch, filled.tcp_flags} : filled.kind == REPORT_KIND_JOB ? 16'(filled.flags) : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trace_o <= '0;
    end else begin
      trace_o[0].valid  <= take;
      trace_o[0].kind   <= 4'(TRACE_KIND_REPORT);
      trace_o[0].detail <= filled.kind;
      trace_o[0].flow   <= filled.kind == REPORT_KIND_FRAME ? NO_FLOW : filled.flow;
      trace_o[0].value  <= taken_q;
      trace_o[0].info   <= info;
      trace_o[1].valid  <= msix_valid_o && msix_ready_i;
      trace_o[1].kind   <= 4'(TRACE_KIND_INTERRUPT);
      trace_o[1].detail <= {3'd0, msix_vector_o};
      trace_o[1].flow   <= NO_FLOW;
      trace_o[1].value  <= tail_o;
      trace_o[1].info   <= 16'(msix_gap_o);
    end
  end

  logic unused_cfg;
  assign unused_cfg = ^{cfg_i.log2[7:5], job_done_i[31:24]};

  if (DATA_W > 512 || 512 % DATA_W != 0) begin : gen_param_check
    $error("report_writer: DATA_W must divide 512");
  end

`ifndef SYNTHESIS
  logic stopped_q, old_q;
  logic [31:0] stopped_at_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (!rst_ni || take) old_q <= 1'b0;
    else if (cfg_i.reset) old_q <= 1'b1;
    stopped_q    <= rst_ni && broken_q && !cfg_i.reset;
    stopped_at_q <= tail_o;
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(one_source, !(rx_valid_i && rx_ready_o && tx_valid_i && tx_ready_o))
  `WEFT_ASSERT(stops, stopped_q -> broken_q && tail_o == stopped_at_q)
  `WEFT_ASSERT(no_overrun, cmd_valid_o && !cfg_i.reset && !old_q -> ((taken_q - 1'b1 - cfg_i.head) >> cfg_i.log2[4:0]) == '0)
`endif

endmodule
