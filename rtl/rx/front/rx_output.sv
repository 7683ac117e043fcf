// Executes what the packets have come to, strictly in order: placements and reports of the walk, and the close of
// each packet (raw copy, report, store space given back).
//
// A report is offered only after the data of every write before it were taken. One operation at a time: a placement
// takes its beats and one cycle, a report one cycle, a raw copy its beats and four cycles.

module rx_output
  import rx_front_pkg::*;
  import walk_pkg::op_t;
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W = 512,
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

  output logic                          rpt_valid_o,
  input  logic                          rpt_ready_i,
  output logic [511:0]                  rpt_o,

  output logic [31:0]                   raw_tail_o,
  output logic                          idle_o,
  output logic [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  typedef enum logic [1:0] {REPORT, PLACE, CLOSE} kind_e;
  typedef enum logic [1:0] {COMMAND, DATA, TELL} state_e;

  typedef struct packed {
    kind_e        kind;
    logic         raw;
    logic         report;
    logic [15:0]  start;
    logic [15:0]  stop;
    logic [511:0] record;        // PLACE: iova, then the number of bytes
  } entry_t;

  entry_t in, head;
  logic   in_valid, in_ready, head_valid, pop;

  assign close_ready_o = in_ready;
  assign op_ready_o    = in_ready && !op_block_i;
  assign in_valid      = close_valid_i || (op_valid_i && !op_block_i);

  always_comb begin
    if (close_valid_i) begin
      in = '{kind: CLOSE, raw: close_i.raw, report: close_i.report, start: close_i.start, stop: close_i.stop,
             record: close_i.record};
    end else begin
      in        = '0;
      in.kind   = op_i.is_report ? REPORT : PLACE;
      in.report = op_i.is_report;
      in.record = op_i.is_report ? op_i.record : 512'({op_i.bytes, op_i.iova});
    end
  end

  logic [5:0] waiting;
  fifo_sync #(.WIDTH($bits(entry_t)), .DEPTH(32)) i_queue (
    .clk_i, .rst_ni, .wr_valid_i(in_valid), .wr_ready_o(in_ready), .wr_data_i(in),
    .rd_valid_o(head_valid), .rd_ready_i(pop), .rd_data_o(head), .count_o(waiting)
  );

  // ---------------------------------------------------------------- one operation after the other
  state_e        state_q, state_d;
  frame_report_t raw_record;       // slot and length lie at the same place in a segment report
  logic          is_place, write_first, told, last_beat;

  assign is_place    = head.kind == PLACE;
  assign write_first = is_place || head.raw;
  assign raw_record  = frame_report_t'(head.record);

  assign wr_cmd_valid_o = head_valid && state_q == COMMAND && write_first;
  assign wr_cmd_addr_o  = is_place ? head.record[63:0] :
                          cfg_i.raw_base + (64'(raw_record.raw_slot) << cfg_i.raw_slot_log2[3:0]);
  assign wr_cmd_bytes_o = is_place ? head.record[79:64] : raw_record.raw_len;

  assign rpt_valid_o = head_valid && head.report && (state_q == TELL || (state_q == COMMAND && !write_first));
  assign rpt_o       = head.record;
  assign told        = head_valid && (rpt_valid_o ? rpt_ready_i : !head.report);
  assign last_beat   = wr_valid_o && wr_ready_i && wr_last_o;

  always_comb begin
    state_d = state_q;
    pop     = 1'b0;
    unique case (state_q)
      COMMAND: begin
        if (!write_first) pop = told;
        else if (wr_cmd_valid_o && wr_cmd_ready_i) state_d = DATA;
      end
      DATA: begin
        if (last_beat) begin
          pop     = is_place;
          state_d = is_place ? COMMAND : TELL;
        end
      end
      TELL: begin
        pop = told;
        if (told) state_d = COMMAND;
      end
      default: state_d = COMMAND;
    endcase
  end

  assign free_valid_o = pop && head.kind == CLOSE;
  assign free_stop_o  = head.stop;

  // ---------------------------------------------------------------- raw copy: beats of the frame from the store
  localparam int unsigned DEPTH = 4;
  logic              raw_start, reading_q, pending_q, raw_data;
  logic [15:0]       pos_q, beats_q, left_q;      // next beat, beats to read, bytes not yet handed on
  logic [DATA_W-1:0] buffer [DEPTH];
  logic [2:0]        buffer_wr_q, buffer_rd_q, buffer_used;

  assign raw_start   = wr_cmd_valid_o && wr_cmd_ready_i && !is_place;
  assign raw_data    = state_q == DATA && !is_place;
  assign buffer_used = buffer_wr_q - buffer_rd_q;
  assign rd_req_o    = reading_q && (buffer_used + 3'(pending_q)) < 3'(DEPTH);
  assign rd_pos_o    = pos_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= COMMAND;
      reading_q   <= 1'b0;
      pending_q   <= 1'b0;
      pos_q       <= '0;
      beats_q     <= '0;
      left_q      <= '0;
      buffer_wr_q <= '0;
      buffer_rd_q <= '0;
      raw_tail_o  <= '0;
    end else begin
      state_q   <= state_d;
      pending_q <= rd_grant_i;
      if (raw_start) begin
        reading_q <= 1'b1;
        pos_q     <= head.start;
        left_q    <= raw_record.raw_len;
        beats_q   <= (raw_record.raw_len + 16'(LANES - 1)) / 16'(LANES);
      end else begin
        if (rd_grant_i) begin
          pos_q     <= pos_q + 16'd1;
          beats_q   <= beats_q - 16'd1;
          reading_q <= beats_q != 16'd1;
        end
        if (raw_data && wr_valid_o && wr_ready_i) left_q <= left_q - 16'(wr_count_o);
      end
      if (pending_q) buffer_wr_q <= buffer_wr_q + 3'd1;
      if (raw_data && wr_valid_o && wr_ready_i) buffer_rd_q <= buffer_rd_q + 3'd1;
      if (cfg_i.raw_reset) raw_tail_o <= '0;
      else if (last_beat && !is_place) raw_tail_o <= raw_tail_o + 32'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pending_q) buffer[buffer_wr_q[1:0]] <= rd_data_i;
  end

  // ---------------------------------------------------------------- data out
  always_comb begin
    wr_valid_o    = 1'b0;
    place_ready_o = 1'b0;
    wr_data_o     = place_data_i;
    wr_count_o    = place_count_i;
    wr_last_o     = place_last_i;
    if (state_q == DATA && is_place) begin
      wr_valid_o    = place_valid_i;
      place_ready_o = wr_ready_i;
    end else if (raw_data) begin
      wr_valid_o = buffer_used != '0;
      wr_data_o  = buffer[buffer_rd_q[1:0]];
      wr_last_o  = left_q <= 16'(LANES);
      wr_count_o = wr_last_o ? left_q[COUNT_W-1:0] : COUNT_W'(LANES);
    end
  end

  assign idle_o = waiting == '0 && !in_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_inc_o <= '0;
    end else begin
      cnt_inc_o <= '0;
      if (is_place && wr_valid_o && wr_ready_i) cnt_inc_o[CNT_RX_PLACE_BYTES] <= 16'(wr_count_o);
    end
  end

  logic unused;
  assign unused = ^{cfg_i, raw_record};

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  report_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    rpt_valid_o && !rpt_ready_i |=> rpt_valid_o && $stable(rpt_o));
  place_ends_with_op: assert property (@(posedge clk_i) disable iff (!rst_ni)
    state_q == DATA |-> head_valid);
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
