// Running CRC32C state over the beats of packets, packets back to back.
//
// Handshake: No backpressure: `en_i` advances all, one beat per enabled cycle. The state behind a packet's last beat comes CORE_LATENCY enabled
//            cycles later.
// Pipeline:  stage | registers | what happens
//            1     | data_q    | the last word is filled with zero bytes
//            2     | group_q   | parity by groups of 128 bits
//            3     | state_q   | their sum and the state
// Why:       The last word goes through the same full-width XOR as every other; `pad_o` says how many zero bytes it has. A user undoes them (crc32c),
//            or compares with a residue advanced by as many (receive). So the feedback path is one 32-bit matrix only, without the variable tail.

`include "weft_assert.svh"

module crc32c_core #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  logic               valid_i,
  input  logic               first_i,
  input  logic               last_i,
  input  logic [ DATA_W-1:0] data_i,
  input  logic [COUNT_W-1:0] count_i,
  output logic               valid_o,  // the packet whose last beat went in is complete
  output logic [       31:0] state_o,  // not inverted, advanced by pad_o zero bytes
  output logic [COUNT_W-2:0] pad_o
);
  import crc32c_pkg::*;

  localparam int unsigned GROUPS = (DATA_W + 127) / 128;
  localparam data_matrix_t DATA_MATRIX = data_matrix();
  localparam state_matrix_t WORD_MATRIX = advance_matrix(int'(DATA_W));
  localparam logic [31:0] FIRST_STATE = advance(INIT, int'(DATA_W));

  typedef struct packed {
    logic               valid;
    logic               first;
    logic               last;
    logic [COUNT_W-2:0] pad;
  } mark_t;

  mark_t [       1:0]       mark_q;
  logic  [DATA_W-1:0]       data_q;
  logic  [GROUPS-1:0][31:0] group_q;
  logic [31:0] sum, state_d, state_q;
  logic               valid_q;
  logic [COUNT_W-2:0] pad_q;

  // Functions at the registers' inputs: a simulator evaluates them only for a valid beat.
  function automatic logic [DATA_W-1:0] filled(input logic [DATA_W-1:0] data, input logic [COUNT_W-1:0] count);
    for (int unsigned b = 0; b < BYTES; b++) begin
      filled[8*b+:8] = COUNT_W'(b) < count ? data[8*b+:8] : 8'd0;
    end
  endfunction

  function automatic logic [GROUPS-1:0][31:0] parity(input logic [DATA_W-1:0] data);
    for (int unsigned g = 0; g < GROUPS; g++) begin
      for (int unsigned i = 0; i < 32; i++) begin
        parity[g][i] = ^(data[128*g+:128] & DATA_MATRIX[i][MAX_W-DATA_W+128*g+:128]);
      end
    end
  endfunction

  always_comb begin
    sum = 32'd0;
    for (int unsigned g = 0; g < GROUPS; g++) sum ^= group_q[g];
  end

  assign state_d = (mark_q[1].first ? FIRST_STATE : multiply(WORD_MATRIX, state_q)) ^ sum;

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (valid_i) data_q <= filled(data_i, count_i);
      if (mark_q[0].valid) group_q <= parity(data_q);
      if (mark_q[1].valid) state_q <= state_d;
      pad_q <= mark_q[1].pad;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mark_q  <= '0;
      valid_q <= 1'b0;
    end else if (en_i) begin
      mark_q[0] <= '{valid: valid_i, first: first_i, last: last_i, pad: last_i ? (COUNT_W - 1)'(COUNT_W'(BYTES) - count_i) : '0};
      mark_q[1] <= mark_q[0];
      valid_q   <= mark_q[1].valid && mark_q[1].last;
    end
  end

  assign valid_o = valid_q;
  assign state_o = state_q;
  assign pad_o   = pad_q;

  if (DATA_W % 128 != 0 || DATA_W > MAX_W) begin : gen_param_check
    $error("crc32c_core: DATA_W must be a multiple of 128, at most 512");
  end
  `WEFT_ASSERT(beats_full, en_i && valid_i -> count_i != '0 && count_i <= COUNT_W'(BYTES) && (last_i || count_i == COUNT_W'(BYTES)))
endmodule
