// The trace ring: the card's own events with the time of each, in a memory that the host reads through registers. It
// works when DMA does not.
//
//   events ─► a small queue for each source ─► one at a time, in turn ─► ring
//
// Every source may have an event in each cycle and never waits: one that finds its queue full is lost and counted, and
// when all queues are empty again an event LOST says so. The time is that of the event, not of its way into the ring: it
// travels as the low bits of the clock, since no event waits as long as these take to come around. So
// entries of different sources may stand in the ring in another order than they happened in; of one source they do not.
// `freeze_i` stops taking new ones. Read data come a cycle after `rd_valid_i`.

module trace_ring
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned SOURCES = 9,
  parameter int unsigned LOG2    = 10,         // of the entries, at most 10
  parameter int unsigned QUEUE   = 16
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [63:0]                time_i,

  input  logic [15:0]                enable_i,   // by kind
  input  logic                       freeze_i,
  input  logic                       clear_i,
  input  trace_event_t [SOURCES-1:0] event_i,

  input  logic                       rd_valid_i,
  input  logic [9:0]                 rd_entry_i,
  output trace_entry_t               rd_data_o,

  output logic [31:0]                head_o,     // events recorded
  output logic [31:0]                lost_o,
  output logic                       idle_o
);

  localparam int unsigned AGE_W    = 16;         // of the clock, beside an event in its queue
  localparam int unsigned SOURCE_W = $clog2(SOURCES);

  typedef struct packed {
    logic [AGE_W-1:0] stamp;
    logic [3:0]       kind;
    logic [7:0]       detail;
    logic [15:0]      flow;
    logic [31:0]      value;
    logic [15:0]      info;
  } queued_t;

  // ---------------------------------------------------------------- a queue for each source
  queued_t [SOURCES-1:0] head;
  logic    [SOURCES-1:0] wanted, ready, waiting, take, lost;

  for (genvar s = 0; s < int'(SOURCES); s++) begin : gen_source
    trace_event_t now;
    queued_t      entry;

    assign now       = event_i[s];
    assign wanted[s] = now.valid && enable_i[now.kind] && !freeze_i;
    assign lost[s]   = wanted[s] && !ready[s];
    assign entry     = '{stamp: time_i[AGE_W-1:0], kind: now.kind, detail: now.detail, flow: now.flow,
                         value: now.value, info: now.info};

    fifo_sync #(.WIDTH($bits(queued_t)), .DEPTH(QUEUE)) u_queue (
      .clk_i, .rst_ni,
      .wr_valid_i(wanted[s]),  .wr_ready_o(ready[s]), .wr_data_i(entry),
      .rd_valid_o(waiting[s]), .rd_ready_i(take[s]),  .rd_data_o(head[s]),
      .count_o   ()
    );
  end

  // ---------------------------------------------------------------- one at a time
  logic [SOURCE_W-1:0] last_q, pick;             // the source served last
  logic                tell_lost, write_q;
  logic [31:0]         lost_q, told_q, head_q;
  logic [47:0]         age;
  queued_t             chosen;
  trace_entry_t        entry_d, entry_q;

  // The first that waits behind the one served last; else the first of all.
  always_comb begin
    pick = '0;
    for (int unsigned s = SOURCES; s > 0; s--) begin
      if (waiting[s-1]) pick = SOURCE_W'(s - 1);
    end
    for (int unsigned s = SOURCES; s > 0; s--) begin
      if (waiting[s-1] && SOURCE_W'(s - 1) > last_q) pick = SOURCE_W'(s - 1);
    end
    take = '0;
    if (waiting != '0) take[pick] = 1'b1;
  end

  assign tell_lost = waiting == '0 && lost_q != told_q && !freeze_i;
  assign chosen    = head[pick];
  assign age       = 48'(AGE_W'(time_i[AGE_W-1:0] - chosen.stamp));

  always_comb begin
    entry_d        = '0;
    entry_d.kind   = tell_lost ? TRACE_KIND_LOST : {4'd0, chosen.kind};
    entry_d.detail = tell_lost ? '0 : chosen.detail;
    entry_d.flow   = tell_lost ? NO_FLOW : chosen.flow;
    entry_d.value  = tell_lost ? lost_q : chosen.value;
    entry_d.info   = tell_lost ? '0 : chosen.info;
    {entry_d.time_hi, entry_d.time_lo} = time_i[47:0] - (tell_lost ? '0 : age);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q  <= '0;
      write_q <= 1'b0;
      head_q  <= '0;
      lost_q  <= '0;
      told_q  <= '0;
    end else begin
      write_q <= waiting != '0 || tell_lost;
      if (waiting != '0) last_q <= pick;
      if (write_q) head_q <= head_q + 1'b1;
      if (tell_lost) told_q <= lost_q;
      lost_q <= lost_q + 32'($countones(lost));
      if (clear_i) begin
        head_q <= '0;
        lost_q <= '0;
        told_q <= '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    entry_q <= entry_d;
  end

  ram_1r1w #(.WIDTH($bits(trace_entry_t)), .DEPTH(1 << LOG2)) u_ring (
    .clk_i,
    .we_i(write_q),    .waddr_i(head_q[LOG2-1:0]),     .wdata_i(entry_q),
    .re_i(rd_valid_i), .raddr_i(rd_entry_i[LOG2-1:0]), .rdata_o(rd_data_o)
  );

  assign head_o = head_q;
  assign lost_o = lost_q;
  assign idle_o = waiting == '0 && !tell_lost && !write_q;

  logic unused;
  assign unused = ^{rd_entry_i, time_i[63:48]};

  if (SOURCES < 2 || LOG2 > 10 || LOG2 < 2 || SOURCES * QUEUE >= (1 << AGE_W)) begin : gen_param_check
    $error("trace_ring: 2 sources or more, 4 to 1024 entries, queues that empty before the clock's low bits come around");
  end

`ifndef SYNTHESIS
  // Assertions sample the asynchronous reset.
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_taken: assert ($onehot0(take) && (take & ~waiting) == '0);
      all_served: assert (waiting != '0 -> take != '0);
    end
  end
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
