// Proves of place_cut: the runs come out in order, each with its number of bytes and `last` on its last beat; and any one byte
// that goes in (`mark_i`, `lane_i`) comes out once, unchanged, at its place of the FPDU's payload, or is behind the FPDU's end and
// never comes out. Each FPDU begins in lane 0 of a beat of its own.

module place_cut_formal #(
  parameter  int unsigned DATA_W  = 64,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned LANE_W  = $clog2(BYTES),
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              run_valid_i,
  input logic [      15:0] run_bytes_i,
  input logic              run_end_i,
  input logic              rd_valid_i,
  input logic [DATA_W-1:0] rd_data_i,
  input logic              place_ready_i,
  input logic              mark_i,
  input logic [LANE_W-1:0] lane_i
);

  logic run_ready, rd_ready, place_valid, place_last, idle;
  logic [ DATA_W-1:0] place_data;
  logic [COUNT_W-1:0] place_count;

  place_cut #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .run_valid_i,
    .run_ready_o  (run_ready),
    .run_bytes_i,
    .run_end_i,
    .rd_valid_i,
    .rd_ready_o   (rd_ready),
    .rd_data_i,
    .place_valid_o(place_valid),
    .place_ready_i,
    .place_data_o (place_data),
    .place_count_o(place_count),
    .place_last_o (place_last),
    .idle_o       (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );
  stream_rules #(
    .WIDTH(DATA_W + COUNT_W + 1)
  ) u_rules (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(place_valid),
    .ready_i(place_ready_i),
    .data_i ({place_data, place_count, place_last})
  );

  // Runs that are not through with the output: the oldest, what is left of it, and the next.
  typedef struct packed {
    logic [15:0] bytes;
    logic        ends;
  } run_t;
  run_t old_q, new_q;
  logic [1:0] runs_q;
  logic [LANE_W+2:0] lead_q, step, ahead_q;  // bytes taken of which no output beat is past; those in front of the followed one
  logic [LANE_W-1:0] phase_q, phase, pad;  // of the next output byte in the FPDU
  logic run_take, rd_take, pop, due_last, fpdu_ends, followed_q;
  logic [COUNT_W-1:0] due;
  logic [        7:0] byte_q;
  logic [        2:0] silent_q;

  assign run_take  = run_valid_i && run_ready;
  assign rd_take   = rd_valid_i && rd_ready;
  assign pop       = place_valid && place_ready_i;
  assign due_last  = old_q.bytes <= 16'(BYTES);
  assign due       = due_last ? COUNT_W'(old_q.bytes) : COUNT_W'(BYTES);
  assign fpdu_ends = due_last && old_q.ends;
  assign phase     = phase_q + due[LANE_W-1:0];
  // What is behind the end of an FPDU is passed with it.
  assign pad       = LANE_W'(0) - phase;
  assign step      = (LANE_W + 3)'(due) + (fpdu_ends ? (LANE_W + 3)'(pad) : '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      runs_q     <= '0;
      lead_q     <= '0;
      phase_q    <= '0;
      followed_q <= 1'b0;
      silent_q   <= '0;
    end else begin
      runs_q <= runs_q + 2'(run_take) - 2'(pop && due_last);
      if (pop) begin
        phase_q     <= fpdu_ends ? '0 : phase;
        old_q.bytes <= old_q.bytes - 16'(BYTES);
        if (due_last) old_q <= new_q;
      end
      if (run_take) begin
        if (runs_q - 2'(pop && due_last) == 2'd0) old_q <= '{bytes: run_bytes_i, ends: run_end_i};
        else new_q <= '{bytes: run_bytes_i, ends: run_end_i};
      end
      lead_q <= lead_q + (rd_take ? (LANE_W + 3)'(BYTES) : '0) - (pop ? step : '0);
      if (followed_q) begin
        if (pop) begin
          ahead_q <= ahead_q - step;
          if (ahead_q < step) followed_q <= 1'b0;
        end
      end else if (rd_take && mark_i) begin
        followed_q <= 1'b1;
        ahead_q    <= lead_q + (LANE_W + 3)'(lane_i) - (pop ? step : '0);
        byte_q     <= rd_data_i[{lane_i, 3'd0}+:8];
      end
      silent_q <= (place_valid || !rd_valid_i || runs_q == '0) ? '0 : silent_q + 1'b1;
    end
  end

  always_comb begin
    a_bytes : assume (!run_valid_i || run_bytes_i != '0);
    if (rst_ni) begin
      run_is_there : assert (!place_valid || runs_q != '0);
      count_right : assert (!place_valid || place_count == due);
      last_right : assert (!place_valid || place_last == due_last);
      bytes_were_taken : assert (!place_valid || lead_q >= step);
      unchanged : assert (!(place_valid && followed_q && ahead_q < (LANE_W + 3)'(due)) || place_data[{ahead_q[LANE_W-1:0], 3'd0}+:8] == byte_q);
      goes_on : assert (silent_q <= 3'd1);
    end
  end

  // ---------------------------------------------------------------- where everything is
  // The run that beats are made of is the newest; what is in the output register is the oldest's next beat.
  logic [15:0] made_of;  // bytes of the active run that no beat was made of
  logic [LANE_W+2:0] behind, held_from;
  logic [LANE_W-1:0] next_phase;
  logic              out_ends;
  run_t              active;
  assign active     = runs_q == 2'd2 ? new_q : old_q;
  assign made_of    = (runs_q == 2'd1 && place_valid) ? old_q.bytes - 16'(BYTES) : active.bytes;
  assign out_ends   = place_valid && fpdu_ends;
  assign next_phase = place_valid ? (out_ends ? '0 : phase) : phase_q;
  assign behind     = ahead_q - (place_valid ? step : '0);
  assign held_from  = lead_q - (place_valid ? step : '0);
  always_comb begin
    if (rst_ni) begin
      inv_runs : assert (runs_q == 2'(dut.active_q) + 2'(place_valid && due_last));
      inv_made :
      assert (!dut.active_q || (made_of != '0 && (dut.last_q ? COUNT_W'(made_of) == dut.count_q && made_of <= 16'(BYTES) :
                                          dut.count_q == COUNT_W'(BYTES) && made_of - 16'(BYTES) == dut.left_q && made_of > 16'(BYTES))));
      inv_end : assert (!dut.active_q || dut.end_q == active.ends);
      inv_held : assert (dut.held_q == (dut.skip_q != '0));
      inv_skip : assert (dut.skip_q == next_phase);
      inv_reach : assert (!dut.active_q || dut.reach_q == (dut.last_q ? dut.skip_q + dut.count_q[LANE_W-1:0] : dut.skip_q));
      inv_need :
      assert (!dut.active_q || dut.need_q == ((COUNT_W + 1)'(dut.skip_q) + (COUNT_W + 1)'(dut.count_q) > (dut.held_q ? (COUNT_W + 1)'(BYTES) : '0)));
      inv_lead : assert (held_from == (dut.held_q ? (LANE_W + 3)'(BYTES) - (LANE_W + 3)'(dut.skip_q) : '0));
      inv_not_behind : assert (!(followed_q && place_valid) || ahead_q < lead_q);
      inv_inside : assert (!followed_q || ahead_q < lead_q);
      inv_held_byte : assert (!(followed_q && !(place_valid && ahead_q < step)) || dut.held_data_q[{LANE_W'(behind)+dut.skip_q, 3'd0}+:8] == byte_q);
    end
  end

endmodule
