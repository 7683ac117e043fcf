// The segments in the walk, oldest first, and how those ended that have not been closed yet.
//
// A flow's segments stand behind one another: a further one is started only if the youngest of all is of its flow. `last_o`
// marks the youngest of each flow. `done_i` comes in the order of the starts and is kept until `finish_i` takes it.

module rx_walks
  import rx_front_pkg::*;
#(
  parameter int unsigned WALKS = 4,          // a power of two
  localparam int unsigned COUNT_W = $clog2(WALKS + 1),
  localparam int unsigned INDEX_W = $clog2(WALKS)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // The segment to be started: what is known of its flow if none of it is in the walk.
  input  logic [15:0]            flow_i,
  input  logic                   start_i,
  input  walking_t               entry_i,          // of flow_i
  input  logic [7:0]             raw_count_i,
  output logic                   room_o,
  output logic                   in_walk_o,        // its flow is in the walk,
  output logic                   youngest_o,       // as the youngest,
  output logic [INDEX_W-1:0]     young_o,          // in this place,
  output logic [31:0]            young_end_o,      // which ends here
  output logic                   young_ts_valid_o, // and leaves this TS.Recent
  output logic [31:0]            young_ts_recent_o,

  input  logic                   payload_end_i,
  output logic                   payload_open_o,   // payload of some segment has not all passed

  input  logic                   done_valid_i,
  input  walk_done_t             done_i,
  output logic                   done_valid_o,
  output logic                   done_waits_o,     // one was there before this cycle
  output walk_done_t             done_o,
  output walking_t               oldest_o,
  output logic [7:0]             oldest_raw_count_o,
  output logic [INDEX_W-1:0]     head_o,
  input  logic                   finish_i,
  input  logic [7:0]             finish_raw_count_i,

  output logic [WALKS-1:0]       valid_o,
  output logic [WALKS-1:0][15:0] flow_o,
  output logic [WALKS-1:0]       last_o,
  output logic [COUNT_W-1:0]     count_o
);

  walking_t               entry_q [WALKS];
  walking_t               youngest;
  logic [WALKS-1:0]       valid_q, last_q;
  logic [WALKS-1:0][15:0] flow_q;
  logic [WALKS-1:0][7:0]  raw_count_q;
  logic [INDEX_W-1:0]     head_q, tail_q;
  logic [COUNT_W-1:0]     count_q, payloads_q;
  logic                   done_room;
  walk_done_t             done_head;

  assign young_o  = tail_q - 1'b1;
  assign youngest = entry_q[young_o];

  assign youngest_o        = count_q != '0 && flow_q[young_o] == flow_i;
  assign young_end_o       = youngest.seq_end;
  assign young_ts_valid_o  = youngest.ts_valid;
  assign young_ts_recent_o = youngest.ts_recent;

  always_comb begin
    in_walk_o = 1'b0;
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (valid_q[i] && flow_q[i] == flow_i) in_walk_o = 1'b1;
    end
  end

  assign room_o             = count_q < COUNT_W'(WALKS);
  assign payload_open_o     = payloads_q != '0;
  assign head_o             = head_q;
  assign oldest_o           = entry_q[head_q];
  assign oldest_raw_count_o = raw_count_q[head_q];
  assign valid_o            = valid_q;
  assign flow_o             = flow_q;
  assign last_o             = last_q;
  assign count_o            = count_q;

  // The fate of a segment whose close has to wait is kept.
  logic [$clog2(WALKS+1)-1:0] unused_count;
  fifo_sync #(.WIDTH($bits(walk_done_t)), .DEPTH(WALKS)) i_dones (
    .clk_i, .rst_ni, .wr_valid_i(done_valid_i && (done_waits_o || !finish_i)), .wr_ready_o(done_room), .wr_data_i(done_i),
    .rd_valid_o(done_waits_o), .rd_ready_i(finish_i), .rd_data_o(done_head), .count_o(unused_count)
  );
  assign done_o       = done_waits_o ? done_head : done_i;
  assign done_valid_o = (done_waits_o || done_valid_i) && count_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q    <= '0;
      last_q     <= '0;
      head_q     <= '0;
      tail_q     <= '0;
      count_q    <= '0;
      payloads_q <= '0;
    end else begin
      if (finish_i) begin
        valid_q[head_q] <= 1'b0;
        last_q[head_q]  <= 1'b0;
        head_q          <= head_q + 1'b1;
      end
      if (start_i) begin
        if (youngest_o) last_q[young_o] <= 1'b0;
        valid_q[tail_q] <= 1'b1;
        last_q[tail_q]  <= 1'b1;
        tail_q          <= tail_q + 1'b1;
      end
      count_q    <= count_q + COUNT_W'(start_i) - COUNT_W'(finish_i);
      payloads_q <= payloads_q + COUNT_W'(start_i) - COUNT_W'(payload_end_i);
    end
  end

  always_ff @(posedge clk_i) begin
    // A later segment of the flow counts on from where this one ends.
    for (int unsigned i = 0; i < WALKS; i++) begin
      if (finish_i && flow_q[i] == oldest_o.flow) raw_count_q[i] <= finish_raw_count_i;
    end
    if (start_i) begin
      entry_q[tail_q]     <= entry_i;
      flow_q[tail_q]      <= flow_i;
      raw_count_q[tail_q] <= finish_i && oldest_o.flow == flow_i ? finish_raw_count_i :
                             youngest_o ? raw_count_q[young_o] : raw_count_i;
    end
  end

  logic unused;
  assign unused = ^{unused_count, done_room, youngest};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  if ((1 << INDEX_W) != WALKS || WALKS < 2) begin : gen_param_check
    $error("rx_walks: WALKS must be a power of two from 2 up");
  end
  dones_fit: assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_i |-> done_room && count_q != '0);
  starts_fit: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> room_o && (!in_walk_o || youngest_o));
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
