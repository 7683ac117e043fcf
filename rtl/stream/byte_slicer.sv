// Cuts bytes [skip, skip + keep) out of each packet: the first of them comes out in lane 0, packed, `last` with
// the final one. One command per packet, taken before the packet; the packet has at least skip + keep bytes and
// keep is not 0; what follows in it is dropped.
//
// One input beat per cycle, one cycle from input to output; a packet that needs as many output beats as input
// beats takes one cycle more for its tail. `flush_i` forgets everything inside.

module byte_slicer #(
  parameter int unsigned DATA_W = 512,
  localparam int unsigned LANES = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               flush_i,

  input  logic               cmd_valid_i,
  output logic               cmd_ready_o,
  input  logic [15:0]        cmd_skip_i,
  input  logic [15:0]        cmd_keep_i,

  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [DATA_W-1:0]  in_data_i,
  input  logic               in_last_i,

  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [DATA_W-1:0]  out_data_o,
  output logic [COUNT_W-1:0] out_count_o,
  output logic               out_last_o
);

  localparam int unsigned LANE_W = $clog2(LANES);

  logic                run_q, have_q, in_done_q;  // have: prev_q holds bytes from lane `shift` up
  logic [15:0]         skip_q, keep_q, keep_d;
  logic [DATA_W-1:0]   prev_q;
  logic [LANE_W-1:0]   shift;
  logic [COUNT_W-1:0]  in_prev;                   // bytes of a beat from lane `shift` up
  logic [2*DATA_W-1:0] pair;
  logic                room, whole_skip, tail, in_fire, out_fire, finish, needs_more;

  assign room       = !out_valid_o || out_ready_i;
  assign shift      = skip_q[LANE_W-1:0];
  assign in_prev    = COUNT_W'(LANES) - COUNT_W'(shift);
  assign whole_skip = skip_q >= 16'(LANES);
  assign tail       = have_q && keep_q != '0 && keep_q <= 16'(in_prev);
  assign needs_more = !have_q && keep_q > 16'(in_prev) && shift != '0;  // only stored: its bytes need a second beat

  always_comb begin
    in_ready_o = 1'b0;
    out_fire   = 1'b0;
    if (run_q) begin
      if (whole_skip || keep_q == '0) begin
        in_ready_o = !in_done_q;
      end else if (tail) begin
        out_fire = room;
      end else begin
        in_ready_o = needs_more || room;
        out_fire   = in_valid_i && !needs_more && room;
      end
    end
  end

  assign in_fire = in_valid_i && in_ready_o;
  assign keep_d  = !out_fire ? keep_q : (keep_q > 16'(LANES) ? keep_q - 16'(LANES) : '0);
  assign finish  = run_q && keep_d == '0 && (in_done_q || (in_fire && in_last_i));
  assign pair    = have_q ? {in_data_i, prev_q} : {{DATA_W{1'b0}}, in_data_i};

  assign cmd_ready_o = !run_q || finish;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q       <= 1'b0;
      have_q      <= 1'b0;
      in_done_q   <= 1'b0;
      skip_q      <= '0;
      keep_q      <= '0;
      out_valid_o <= 1'b0;
    end else begin
      if (room) out_valid_o <= out_fire;
      if (cmd_ready_o) begin
        run_q     <= cmd_valid_i;
        skip_q    <= cmd_skip_i;
        keep_q    <= cmd_keep_i;
        have_q    <= 1'b0;
        in_done_q <= 1'b0;
      end else begin
        keep_q <= keep_d;
        if (in_fire && in_last_i) in_done_q <= 1'b1;
        if (in_fire && whole_skip) skip_q <= skip_q - 16'(LANES);
        else if (in_fire && shift != '0) have_q <= 1'b1;
      end
      if (flush_i) begin
        run_q       <= 1'b0;
        out_valid_o <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_fire) prev_q <= in_data_i;
    if (out_fire) begin
      out_data_o  <= DATA_W'(pair >> {shift, 3'b000});
      out_count_o <= keep_q > 16'(LANES) ? COUNT_W'(LANES) : keep_q[COUNT_W-1:0];
      out_last_o  <= keep_d == '0;
    end
  end

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  keep_positive: assert property (@(posedge clk_i) disable iff (!rst_ni) cmd_valid_i |-> cmd_keep_i != '0);
  long_enough: assert property (@(posedge clk_i) disable iff (!rst_ni || flush_i)
    in_fire && in_last_i |-> !whole_skip && (tail || needs_more || keep_q <= 16'(LANES) + (have_q ? 16'(in_prev) : '0)) && !(needs_more));
  out_stable: assert property (@(posedge clk_i) disable iff (!rst_ni || flush_i)
    out_valid_o && !out_ready_i |=> out_valid_o && $stable(out_data_o) && $stable(out_count_o) && $stable(out_last_o));
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
