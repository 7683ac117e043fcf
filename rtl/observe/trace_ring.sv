// The trace ring (docs/card.md "Trace ring"): the card's events with their times, in a memory that the host reads through registers.
//
// Handshake: Every source may have an event in each cycle, and is never stalled: an event that finds its queue full is lost and counted. Read data
//            come a cycle after `rd_valid_i`. `freeze_i` stops taking events.
// Pipeline:  events ─► register ─► a small queue for each source ─► one at a time, in turn ─► its age ─► its time ─► ring
//            stage | registers               | what happens                                                           | hazards
//            event | entry_q, wanted_q       | the event, with the clock's low bits
//            queue | u_queue                 | QUEUE events of each source                                            | full: lost
//            turn  | turn_q, turns_q, head_q | in rounds: a source that waits at a round's begin is served once in it | head_q counts here
//            age   | chosen_q, age_q         | the event's age
//            time  | entry_q                 | its time
//            write | u_ring                  | written                                                                | three cycles behind head_q
// Why:       It works when DMA does not.
//            When all queues are empty after a loss, an event LOST is recorded.
//            The time is that of the event: it carries the low bits of the clock, since no event waits until these wrap. So entries of different
//            sources may be out of order in the ring; those of one source are not.
//            An event counts as recorded at its turn, three cycles before it is in memory. So a read of the count right behind a register write
//            includes that write's event. A read of the entry itself comes later.
//            Entries and their count outlive a reset of the card, for whoever opens it next. Events in the queues are lost by it; one with its number
//            continues into the memory.

`include "weft_assert.svh"

module trace_ring
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned SOURCES = 9,
  parameter int unsigned LOG2    = 10,  // of the entries, at most 10
  parameter int unsigned QUEUE   = 16
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        power_on_ni,  // the reset that empties the ring
  input logic [63:0] time_i,

  input logic         [       15:0] enable_i,  // by kind
  input logic                       freeze_i,
  input logic                       clear_i,
  input trace_event_t [SOURCES-1:0] event_i,

  input  logic               rd_valid_i,
  input  logic         [9:0] rd_entry_i,
  output trace_entry_t       rd_data_o,

  output logic [31:0] head_o,  // events recorded, with those in flight
  output logic [31:0] lost_o,
  output logic        idle_o
);

  localparam int unsigned AGE_W = 16;  // low bits of the clock, beside an event in its queue
  localparam int unsigned LOST_W = $clog2(SOURCES + 1);

  typedef struct packed {
    logic [AGE_W-1:0]  stamp;
    logic [3:0]        kind;
    logic [7:0]        detail;
    logic [15:0] flow;
    logic [31:0]       value;
    logic [15:0]       info;
  } queued_t;

  // ---------------------------------------------------------------- a queue for each source
  queued_t [SOURCES-1:0] head;
  logic [SOURCES-1:0] wanted, wanted_q, ready, waiting, more, turn_q, take, lost;
  // more: than one event waits; turn_q: sources to be served in this round; take: the present one

  for (genvar s = 0; s < int'(SOURCES); s++) begin : gen_source
    trace_event_t                       now;
    queued_t                            entry_q;
    logic         [$clog2(QUEUE+1)-1:0] count;

    assign now       = event_i[s];
    assign wanted[s] = now.valid && enable_i[now.kind] && !freeze_i;
    assign lost[s]   = wanted_q[s] && !ready[s];

    always_ff @(posedge clk_i) begin
      entry_q <= '{stamp: time_i[AGE_W-1:0], kind: now.kind, detail: now.detail, flow : now.flow, value: now.value, info: now.info};
    end

    fifo_sync #(
      .WIDTH($bits(queued_t)),
      .DEPTH(QUEUE)
    ) u_queue (
      .clk_i,
      .rst_ni,
      .wr_valid_i(wanted_q[s]),
      .wr_ready_o(ready[s]),
      .wr_data_i (entry_q),
      .rd_valid_o(waiting[s]),
      .rd_ready_i(take[s]),
      .rd_data_o (head[s]),
      .count_o   (count)
    );
    assign more[s] = (count >> 1) != '0;
  end

  // ---------------------------------------------------------------- one at a time
  logic [SOURCES-1:0] asks, left;  // asks: sources with events; left: sources of this round without the present one
  logic [LOST_W-1:0] turns_q;  // sources of this round, with the present one
  logic last, now_one;  // now_one: an event is taken
  logic tell_lost, owed_q;  // a loss without its event yet
  logic [LOST_W-1:0] lost_now_q;
  logic [31:0] lost_q, head_q;
  queued_t chosen, chosen_q;

  // In rounds: a source that waits at a round's begin is served once in it. The last one of a round, which is served as the next round is made up, is
  // in that one only if it has more.
  assign asks      = waiting & (~turn_q | more);
  assign take      = turn_q & (~turn_q + 1'b1);
  assign left      = turn_q & (turn_q - 1'b1);
  assign last      = turns_q <= LOST_W'(1);
  assign now_one   = turns_q != '0 || tell_lost;

  // The event LOST is recorded once no queue has an event and all losses are counted.
  assign tell_lost = waiting == '0 && owed_q && lost_now_q == '0 && !freeze_i;

  always_comb begin
    chosen = '0;
    for (int unsigned s = 0; s < SOURCES; s++) begin
      if (take[s]) chosen |= head[s];
    end
    if (tell_lost) begin
      chosen = '{stamp: time_i[AGE_W-1:0], kind: TRACE_KIND_LOST[3:0], detail: '0, flow : NO_FLOW, value: lost_q, info: '0};
    end
  end

  // ---------------------------------------------------------------- its age, its time, into the ring
  logic chosen_valid_q, aged_valid_q, write_q;
  logic [47:0] time_q, aged_time_q;  // of the age
  logic [AGE_W-1:0] age_q;
  logic [LOG2-1:0] chosen_at_q, aged_at_q, write_at_q;
  queued_t aged_q;
  trace_entry_t entry_d, entry_q;

  always_comb begin
    entry_d                            = '0;
    entry_d.kind                       = {4'd0, aged_q.kind};
    entry_d.detail                     = aged_q.detail;
    entry_d.flow                       = aged_q.flow;
    entry_d.value                      = aged_q.value;
    entry_d.info                       = aged_q.info;
    {entry_d.time_hi, entry_d.time_lo} = aged_time_q - 48'(age_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wanted_q   <= '0;
      turn_q     <= '0;
      turns_q    <= '0;
      lost_now_q <= '0;
      owed_q     <= 1'b0;
    end else begin
      wanted_q   <= wanted;
      turn_q     <= last ? asks : left;
      turns_q    <= last ? LOST_W'($countones(asks)) : turns_q - 1'b1;
      lost_now_q <= LOST_W'($countones(lost));
      if (lost_now_q != '0) owed_q <= 1'b1;
      else if (tell_lost) owed_q <= 1'b0;
      if (clear_i) begin
        lost_now_q <= '0;
        owed_q     <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i or negedge power_on_ni) begin
    if (!power_on_ni) begin
      chosen_valid_q <= 1'b0;
      aged_valid_q   <= 1'b0;
      write_q        <= 1'b0;
      lost_q         <= '0;
      head_q         <= '0;
    end else begin
      chosen_valid_q <= now_one;
      aged_valid_q   <= chosen_valid_q;
      write_q        <= aged_valid_q;
      if (now_one) head_q <= head_q + 1'b1;
      lost_q <= lost_q + 32'(lost_now_q);
      if (clear_i) begin
        head_q         <= '0;
        lost_q         <= '0;
        chosen_valid_q <= 1'b0;  // with their numbers
        aged_valid_q   <= 1'b0;
        write_q        <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    time_q      <= time_i[47:0];
    chosen_q    <= chosen;
    aged_q      <= chosen_q;
    aged_time_q <= time_q;
    age_q       <= time_q[AGE_W-1:0] - chosen_q.stamp;
    entry_q     <= entry_d;
    chosen_at_q <= head_q[LOG2-1:0];
    aged_at_q   <= chosen_at_q;
    write_at_q  <= aged_at_q;
  end

  ram_1r1w #(
    .WIDTH($bits(trace_entry_t)),
    .DEPTH(1 << LOG2)
  ) u_ring (
    .clk_i,
    .we_i   (write_q),
    .waddr_i(write_at_q),
    .wdata_i(entry_q),
    .re_i   (rd_valid_i),
    .raddr_i(rd_entry_i[LOG2-1:0]),
    .rdata_o(rd_data_o)
  );

  assign head_o = head_q;
  assign lost_o = lost_q;
  assign idle_o = wanted_q == '0 && waiting == '0 && lost_now_q == '0 && !tell_lost && !chosen_valid_q && !aged_valid_q && !write_q;

  logic unused;
  assign unused = ^{rd_entry_i, time_i[63:48], aged_q.stamp};

  if (SOURCES < 2 || LOG2 > 10 || LOG2 < 2 || SOURCES * QUEUE >= (1 << AGE_W)) begin : gen_param_check
    $error("trace_ring: 2 sources or more, 4 to 1024 entries, queues that empty before the clock's low bits come around");
  end

  `WEFT_ASSERT(one_taken, $onehot0(take) && (turn_q & ~waiting) == '0)
  `WEFT_ASSERT(turns_told, turns_q == LOST_W'($countones(turn_q)))

endmodule
