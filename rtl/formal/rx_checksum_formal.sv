// Proves of rx_checksum: `ok_o` says whether the one's complement sum (RFC 1071) over the bytes of [start, stop) of a frame's beats
// so far and `extra_i` is 0xffff, for any range, any bytes, any number of beats, frames back to back and with pauses; and the
// sum of a frame of 64 KiB cannot grow out of its register.
//
// The sum is kept here as a number, of the words that lie in the range, position by position. What a number has to do with adding words
// with the carry put back in, one after the other, is ones_complement_formal.

module rx_checksum_formal #(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned GROUPS  = LANES / 8,
  localparam int unsigned RANGE_W = $clog2(LANES + 1)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              valid_i,
  input logic              first_i,
  input logic [DATA_W-1:0] data_i,
  input logic [      15:0] start_i,
  input logic [      16:0] stop_i,
  input logic [      31:0] extra_i
);

  localparam logic [31:0] MOST = 32'h0008_0000;  // eight words

  logic ok;
  logic [15:0] pos, pos_q;

  rx_checksum #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .first_i,
    .data_i,
    .pos_i(pos),
    .start_i,
    .stop_i,
    .extra_i,
    .ok_o (ok)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // A frame of 64 KiB at most: the beats' positions.
  logic begun_q;
  assign pos = first_i ? '0 : pos_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (valid_i) begun_q <= 1'b1;
    if (valid_i) pos_q <= pos + 16'(LANES);
  end

  // The bytes in the range; the others are 0.
  logic [DATA_W-1:0] ranged;
  for (genvar i = 0; i < int'(LANES); i++) begin : gen_byte
    assign ranged[8*i+:8] = (17'(pos) + 17'(i) >= 17'(start_i) && 17'(pos) + 17'(i) < stop_i) ? data_i[8*i+:8] : '0;
  end

  // Four words of 16 bits, then all of the beat's.
  function automatic logic [17:0] four(input logic [DATA_W-1:0] beat, input int unsigned group);
    return (18'(beat[64*group+:16]) + 18'(beat[64*group+16+:16])) + (18'(beat[64*group+32+:16]) + 18'(beat[64*group+48+:16]));
  endfunction
  function automatic logic [21:0] sum(input logic [DATA_W-1:0] beat);
    sum = '0;
    for (int unsigned g = 0; g < GROUPS; g++) sum = sum + 22'(four(beat, g));
  endfunction
  // A number with the carries out of 16 bits added in.
  function automatic logic [15:0] folded(input logic [31:0] number);
    logic [16:0] once;
    once = 17'(number[15:0]) + 17'(number[31:16]);
    return once[15:0] + 16'(once[16]);
  endfunction

  logic [ 8:1]             valid_q;
  logic [ 4:1]             first_q;
  logic [ 4:1][DATA_W-1:0] ranged_q;
  logic [ 5:1][      31:0] extra_q;
  logic                    seen_q;  // a beat has got there
  logic [ 2:0]             up_q;  // cycles behind reset
  logic [31:0]             number_q;  // the frame's sum to the beat taken five cycles before
  logic [12:0]             beats_q;  // of these beats
  logic [ 8:6][      31:0] total_q;
  logic [32:0]             total;
  assign total = 33'(number_q) + 33'(extra_q[5]);

  always_ff @(posedge clk_i) begin
    ranged_q <= {ranged_q[3:1], ranged};
    extra_q  <= {extra_q[4:1], extra_i};
    total_q  <= {total_q[7:6], total[31:0]};
    first_q  <= {first_q[3:1], first_i};
    if (!rst_ni) begin
      valid_q  <= '0;
      up_q     <= '0;
      number_q <= '0;
      beats_q  <= '0;
      seen_q   <= 1'b0;
    end else begin
      valid_q <= {valid_q[7:1], valid_i};
      if (up_q != 3'd7) up_q <= up_q + 1'b1;
      if (valid_q[4]) begin
        seen_q   <= 1'b1;
        number_q <= (first_q[4] ? '0 : number_q) + 32'(sum(ranged_q[4]));
        beats_q  <= (first_q[4] ? '0 : beats_q) + 1'b1;
      end
    end
  end

  // How many beats of the frame are in, to each stage's beat.
  logic [5:1][12:0] due;
  logic [4:1][15:0] pos_at_q;
  logic             late;  // the oldest of them is not a frame's first
  assign late = valid_q[4] ? !first_q[4] : valid_q[3] ? !first_q[3] : valid_q[2] ? !first_q[2] : valid_q[1] && !first_q[1];
  always_ff @(posedge clk_i) pos_at_q <= {pos_at_q[3:1], pos};
  always_comb begin
    due[5] = beats_q;
    for (int unsigned i = 4; i > 0; i--) due[i] = valid_q[i] ? 13'(pos_at_q[i] >> $clog2(LANES)) + 1'b1 : due[i+1];
  end

  always_comb begin
    a_first : assume (!valid_i || begun_q || first_i);
    a_even : assume (!start_i[0]);
    a_extra : assume (extra_i < MOST);
    a_longest : assume (!valid_i || first_i || pos_q != '0);
    if (rst_ni) begin
      verdict : assert (!valid_q[8] || ok == (folded(total_q[8]) == 16'hffff));
      inside_register : assert (!valid_q[5] || !total[32]);
      // How it comes to that.
      inv_valid : assert (dut.valid_q == valid_q[4:1]);
      inv_first : assert ((valid_q[4:1] & (dut.first_q ^ first_q)) == '0);
      inv_number : assert (!seen_q || dut.sum5_q == number_q);
      inv_seen : assert ((seen_q || valid_q[8:5] == '0) && begun_q == (seen_q || valid_q[4:1] != '0));
      inv_oldest : assert (seen_q || !late);
      inv_total : assert (!valid_q[6] || (dut.sum6_q == total_q[6]));
      inv_fold : assert (!valid_q[7] || dut.fold7_q == 17'(total_q[7][15:0]) + 17'(total_q[7][31:16]));
      inv_beat : assert (!valid_q[4] || dut.beat4_q == sum(ranged_q[4]));
      inv_next : assert (!begun_q || pos_q == 16'(due[1] << $clog2(LANES)));
      inv_not_longer : assert (beats_q <= 13'(65536 / LANES));
      inv_bound : assert (number_q <= (32'(beats_q) << ($clog2(LANES) + 15)) - (32'(beats_q) << ($clog2(LANES) - 1)));
      inv_extra_small :
      assert ((up_q < 3'd1 || extra_q[1] < MOST) && (up_q < 3'd2 || extra_q[2] < MOST) && (up_q < 3'd3 || extra_q[3] < MOST) &&
                               (up_q < 3'd4 || extra_q[4] < MOST) && (up_q < 3'd5 || extra_q[5] < MOST));
      inv_extra_1 : assert (up_q < 3'd1 || dut.u_extra.mem[2'(dut.u_extra.ptr_q-2'd1)] == extra_q[1]);
      inv_extra_2 : assert (up_q < 3'd2 || dut.u_extra.mem[2'(dut.u_extra.ptr_q-2'd2)] == extra_q[2]);
      inv_extra_3 : assert (up_q < 3'd3 || dut.u_extra.mem[2'(dut.u_extra.ptr_q-2'd3)] == extra_q[3]);
      inv_extra_4 : assert (up_q < 3'd4 || dut.u_extra.mem[dut.u_extra.ptr_q] == extra_q[4]);
      inv_extra_5 : assert (up_q < 3'd5 || dut.extra5 == extra_q[5]);
    end
  end

  for (genvar g = 0; g < int'(GROUPS); g++) begin : gen_each_1
    always_comb begin
      if (rst_ni) begin
        inv_group : assert (!valid_q[3] || dut.group3_q[g] == four(ranged_q[3], g));
      end
    end
  end
  for (genvar i = 1; i < int'(5); i++) begin : gen_each_2
    always_comb begin
      if (rst_ni) begin
        inv_position : assert (!valid_q[i] || pos_at_q[i] == (first_q[i] ? '0 : 16'(due[i+1] << $clog2(LANES))));
        inv_not_past : assert (!valid_q[i] || first_q[i] || due[i+1] < 13'(65536 / LANES));
      end
    end
  end
  for (genvar i = 0; i < int'(LANES); i++) begin : gen_each_3
    always_comb begin
      if (rst_ni) begin
        inv_masked : assert (!valid_q[2] || (dut.data2_q[8*i+:8] & {8{dut.mask2_q[i]}}) == ranged_q[2][8*i+:8]);
        inv_range :
        assert (!valid_q[1] || ((RANGE_W'(i) >= dut.start1_q && RANGE_W'(i) < dut.stop1_q) ? dut.data1_q[8*i+:8] : 8'd0) == ranged_q[1][8*i+:8]);
      end
    end
  end
  for (genvar i = 1; i < int'(9); i++) begin : gen_each_4
    always_comb begin
      if (rst_ni) begin
        inv_up : assert (!valid_q[i] || up_q >= 3'(i < 8 ? i : 7));
      end
    end
  end

endmodule
