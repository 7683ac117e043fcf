// Proves of byte_packer: stream_order (a unit is a byte) and stream_rules; beats are full but for a packet's last one.

module byte_packer_formal #(
  parameter  int unsigned DATA_W  = 32,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     in_valid_i,
  input logic [       DATA_W-1:0] in_data_i,
  input logic [      COUNT_W-1:0] in_count_i,
  input logic                     in_last_i,
  input logic                     out_ready_i,
  input logic                     mark_i,
  input logic [$clog2(BYTES)-1:0] lane_i
);

  logic in_ready, out_valid, out_last;
  logic [ DATA_W-1:0] out_data;
  logic [COUNT_W-1:0] out_count;

  byte_packer #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .in_count_i,
    .in_last_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data),
    .out_count_o(out_count),
    .out_last_o (out_last)
  );

  stream_order #(
    .UNITS   (BYTES),
    .INSIDE  (4 * BYTES),
    .WAIT_OUT(1),
    .WAIT_IN (1)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i    (1'b0),
    .in_valid_i,
    .in_ready_i (in_ready),
    .in_data_i,
    .in_count_i,
    .in_last_i,
    .out_valid_i(out_valid),
    .out_ready_i,
    .out_data_i (out_data),
    .out_count_i(out_count),
    .out_last_i (out_last),
    .mark_i,
    .lane_i
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // Where the bytes are: output, rest of earlier pieces, the rotated piece; so an unknown state is none that is never reached.
  localparam int unsigned HELD_W = $clog2(5 * BYTES + 1);
  logic [HELD_W-1:0] in_out, in_rest, in_piece, behind_out, in_lane;
  logic [BYTES-1:0][7:0] rest, piece;
  logic [7:0] found;
  logic       found_last;

  assign in_out     = dut.o_valid_q ? HELD_W'(dut.o_count_q) : '0;
  assign in_rest    = dut.flush_q ? HELD_W'(dut.flush_count_q) : HELD_W'(dut.r_valid_q ? dut.r_fill_q : dut.fill_q);
  assign in_piece   = dut.r_valid_q ? HELD_W'(dut.r_sum_q) - HELD_W'(dut.r_fill_q) : '0;
  assign behind_out = u_order.ahead_q - in_out;
  assign in_lane    = behind_out - in_rest + HELD_W'(dut.r_fill_q);
  assign rest       = dut.rest_q;
  assign piece      = dut.r_data_q;
  assign found      = behind_out < in_rest ? rest[behind_out[$clog2(BYTES)-1:0]] : piece[in_lane[$clog2(BYTES)-1:0]];
  assign found_last = behind_out < in_rest ? dut.flush_q && behind_out + 1'b1 == in_rest : dut.r_last_q && behind_out - in_rest + 1'b1 == in_piece;

  always_comb begin
    if (rst_ni) begin
      inv_counted : assert (u_order.inside_q == in_out + in_rest + in_piece);
      inv_ends_counted :
      assert (u_order.ends_q == HELD_W'(dut.o_valid_q && dut.o_last_q) + HELD_W'(dut.flush_q) + HELD_W'(dut.r_valid_q && dut.r_last_q));
      inv_found_there : assert (!u_order.followed_q || u_order.ahead_q < in_out || found == u_order.unit_q);
      inv_end_there : assert (!u_order.followed_q || u_order.ahead_q < in_out || found_last == u_order.is_last_q);
      inv_new_packet : assert (!dut.flush_q || (dut.r_valid_q ? dut.r_fill_q : dut.fill_q) == '0);
      inv_next_fill : assert (!dut.r_valid_q || dut.fill_q == (dut.r_last_q ? '0 : dut.r_sum_q[$clog2(BYTES)-1:0]));
      inv_piece_size : assert (!dut.r_valid_q || (in_piece != '0 && in_piece <= HELD_W'(BYTES)));
      full_beats : assert (!out_valid || (out_count != '0 && out_count <= COUNT_W'(BYTES) && (out_last || out_count == COUNT_W'(BYTES))));
      inv_silent_once : assert (u_order.silent_q == '0 || out_valid);
      inv_blocked_once : assert (u_order.blocked_q == '0 || !dut.flush_q);
      inv_spilled : assert (!dut.flush_q || (dut.flush_count_q != '0 && dut.flush_count_q < COUNT_W'(BYTES)));
    end
  end

  always_comb begin
    a_piece_has_bytes : assume (!in_valid_i || (in_count_i != '0 && in_count_i <= COUNT_W'(BYTES)));
  end

endmodule
