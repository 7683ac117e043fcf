// Internet checksum (RFC 1071) over a byte range of each frame.
//
// Handshake: No backpressure: one beat a cycle, frames of any length back to back. `ok_o` follows the last beat by LATENCY cycles.
// Pipeline:  stage | registers         | what happens
//            1     | start1_q, stop1_q | the range within the beat
//            2     | mask2_q           | a bit for each byte
//            3     | group3_q          | sums of four words
//            4     | beat4_q           | the beat's sum
//            5     | sum5_q            | the frame's sum
//            6     | sum6_q            | `extra_i` is added
//            7, 8  | fold7_q, ok_o     | folded twice, compared with 0xffff
//            `ok_o`: the sum over [start, stop) plus `extra_i` (given with the last beat, in the byte order of the beats) is 0xffff.
// Why:       The range comes with every beat, and may be found out late. It has to be right only from the beat on in which its bytes lie.
//            Words are added as they lie in the beat, low byte first: a one's complement sum has either byte order (RFC 1071 §2 B).

`include "weft_assert.svh"

module rx_checksum #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned LATENCY = 8,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned REL_W   = $clog2(LANES + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic              first_i,
  input  logic [DATA_W-1:0] data_i,
  input  logic [      15:0] pos_i,    // position of the beat's first byte in the frame
  input  logic [      15:0] start_i,  // even
  input  logic [      16:0] stop_i,
  input  logic [      31:0] extra_i,
  output logic              ok_o
);

  localparam int unsigned GROUPS = LANES / 8;  // of four words each

  // Where the range begins and ends within this beat.
  function automatic logic [REL_W-1:0] in_beat(input logic [16:0] position, input logic [15:0] pos);
    logic [16:0] distance;
    distance = position - {1'b0, pos};
    if (position <= {1'b0, pos}) return '0;
    if (distance >= 17'(LANES)) return REL_W'(LANES);
    return distance[REL_W-1:0];
  endfunction

  logic [DATA_W-1:0] data1_q, data2_q;
  logic [LANES-1:0] mask2_q;
  logic [REL_W-1:0] start1_q, stop1_q;
  logic [GROUPS-1:0][17:0] group3_q;
  logic [21:0] beat4_d, beat4_q;
  logic [31:0] sum5_q, sum6_q;
  logic [16:0] fold7_q;
  logic [4:1] valid_q, first_q;
  logic [31:0] extra5;

  // Four words each, without the bytes outside of the range.
  function automatic logic [GROUPS-1:0][17:0] groups(input logic [DATA_W-1:0] data, input logic [LANES-1:0] mask);
    logic [DATA_W-1:0] masked;
    for (int unsigned i = 0; i < LANES; i++) masked[i*8+:8] = data[i*8+:8] & {8{mask[i]}};
    for (int unsigned g = 0; g < GROUPS; g++) begin
      groups[g] = (18'(masked[g*64+:16]) + 18'(masked[g*64+16+:16])) + (18'(masked[g*64+32+:16]) + 18'(masked[g*64+48+:16]));
    end
  endfunction

  // Stage 1: the range within the beat. Up to stage 5 a stage without a beat keeps its value.
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data1_q  <= data_i;
      start1_q <= in_beat({1'b0, start_i}, pos_i);
      stop1_q  <= in_beat(stop_i, pos_i);
    end
  end

  // Stage 2: a bit for each byte.
  always_ff @(posedge clk_i) begin
    if (valid_q[1]) begin
      data2_q <= data1_q;
      for (int unsigned i = 0; i < LANES; i++) mask2_q[i] <= REL_W'(i) >= start1_q && REL_W'(i) < stop1_q;
    end
  end

  // Stage 3: sums of four words.
  always_ff @(posedge clk_i) begin
    if (valid_q[2]) group3_q <= groups(data2_q, mask2_q);
  end

  // Stage 4: the beat's sum.
  always_comb begin
    beat4_d = '0;
    for (int unsigned g = 0; g < GROUPS; g++) beat4_d = beat4_d + 22'(group3_q[g]);
  end
  always_ff @(posedge clk_i) if (valid_q[3]) beat4_q <= beat4_d;

  // Stages 5 to 8: the frame's sum, the extra words, two folds.
  rx_delay #(
    .WIDTH (32),
    .CYCLES(5)
  ) u_extra (
    .clk_i,
    .rst_ni,
    .data_i(extra_i),
    .data_o(extra5)
  );

  always_ff @(posedge clk_i) begin
    if (valid_q[4]) sum5_q <= (first_q[4] ? 32'd0 : sum5_q) + 32'(beat4_q);
    sum6_q  <= sum5_q + extra5;
    fold7_q <= 17'(sum6_q[15:0]) + 17'(sum6_q[31:16]);
    ok_o    <= fold7_q == 17'h0ffff || fold7_q == 17'h1fffe;  // the carry added in
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      first_q <= '0;
    end else begin
      valid_q <= {valid_q[3:1], valid_i};
      first_q <= {first_q[3:1], first_i};
    end
  end

  if (DATA_W % 64 != 0) begin : gen_param_check
    $error("rx_checksum: DATA_W must be a multiple of 64");
  end
  `WEFT_ASSERT(even_start, valid_i -> !start_i[0])

endmodule
