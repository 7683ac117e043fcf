// CRC32C and TCP checksum sum of each packet that enters the store, in order.
//
// Handshake: Observes beats (`beat_i`). `ready_o` is low only at the begin of a packet, while the results of RESULTS packets are not taken. Results
//            are ready/valid, in order.
// Pipeline:  stage   | registers               | what happens
//            b       | b_data_q                | bytes outside the packet are masked
//            crc     | crc32c                  | CRC of all but the CRC field
//            g, t, s | group_q, total_q, sum_q | sums of four words, of four groups, of all beats
// Why:       The sum is the plain sum of 16-bit words, first byte in bits 7:0, of the whole packet, whose CRC field is still zero. The CRC covers all
//            but that field (RFC 5044 §4.4); packets without `layout.crc` have none.

`include "weft_assert.svh"

module tx_digest
  import weft_tx_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned RESULTS = 16,
  localparam int unsigned COUNT_W = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  output logic                  ready_o,
  input  logic                  beat_i,   // a beat passes
  input  logic    [ DATA_W-1:0] data_i,
  input  logic    [COUNT_W-1:0] count_i,
  input  logic                  last_i,
  input  layout_t               layout_i,

  output logic        sum_valid_o,
  input  logic        sum_ready_i,
  output logic [31:0] sum_o,
  output logic        crc_valid_o,
  input  logic        crc_ready_i,
  output logic [31:0] crc_o
);

  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned HALVES = DATA_W / 16;
  localparam int unsigned GROUPS = HALVES / 4;  // of four words
  localparam int unsigned TOTALS = (GROUPS + 3) / 4;  // of four groups
  localparam int unsigned OPEN_W = $clog2(RESULTS + 1);

  // ---------------------------------------------------------------- results not taken yet
  logic              first_q;
  logic [OPEN_W-1:0] open_q;
  logic              full_q;  // open_q == RESULTS
  logic open, close;

  assign open    = beat_i && first_q;
  assign close   = sum_valid_o && sum_ready_i;
  assign ready_o = !first_q || !full_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      open_q  <= '0;
      full_q  <= 1'b0;
    end else begin
      if (beat_i) first_q <= last_i;
      if (open && !close) begin
        open_q <= open_q + 1'b1;
        full_q <= open_q == OPEN_W'(RESULTS - 1);
      end else if (!open && close) begin
        open_q <= open_q - 1'b1;
        full_q <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- beats, masked
  logic [13:0] left_q, left;  // packet bytes from this beat on
  logic [13:0] covered;  // of these, under the CRC
  logic b_valid_q, b_first_q, b_last_q, b_crc_q, b_crc_last_q;
  logic [DATA_W-1:0] masked, b_data_q;
  logic [COUNT_W-1:0] b_crc_count_q;

  assign left    = first_q ? layout_i.length : left_q;
  assign covered = left - 14'd4;

  always_comb begin
    for (int unsigned b = 0; b < BYTES; b++) begin
      masked[8*b+:8] = COUNT_W'(b) < count_i ? data_i[8*b+:8] : 8'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) b_valid_q <= 1'b0;
    else b_valid_q <= beat_i;
  end

  always_ff @(posedge clk_i) begin
    if (beat_i) left_q <= left - 14'(count_i);
    b_first_q     <= first_q;
    b_last_q      <= last_i;
    b_data_q      <= masked;
    b_crc_q       <= layout_i.crc && left > 14'd4;
    b_crc_last_q  <= covered <= 14'(BYTES);
    b_crc_count_q <= covered < 14'(BYTES) ? COUNT_W'(covered) : COUNT_W'(BYTES);
  end

  // ---------------------------------------------------------------- CRC
  logic crc_valid, crc_room;
  logic [31:0] crc;

  crc32c #(
    .DATA_W(DATA_W)
  ) u_crc (
    .clk_i,
    .rst_ni,
    .en_i   (1'b1),
    .valid_i(b_valid_q && b_crc_q),
    .first_i(b_first_q),
    .last_i (b_crc_last_q),
    .data_i (b_data_q),
    .count_i(b_crc_count_q),
    .valid_o(crc_valid),
    .crc_o  (crc)
  );

  fifo_sync #(
    .WIDTH(32),
    .DEPTH(RESULTS)
  ) u_crcs (
    .clk_i,
    .rst_ni,
    .wr_valid_i(crc_valid),
    .wr_ready_o(crc_room),
    .wr_data_i (crc),
    .rd_valid_o(crc_valid_o),
    .rd_ready_i(crc_ready_i),
    .rd_data_o (crc_o),
    .count_o   ()
  );

  // ---------------------------------------------------------------- sum: groups of four words, of four groups, all beats
  logic g_valid_q, g_first_q, g_last_q, t_valid_q, t_first_q, t_last_q, s_valid_q, sum_room;
  logic [GROUPS-1:0][17:0] group_d, group_q;
  logic [TOTALS-1:0][19:0] total_d, total_q;
  logic [31:0] beat_sum, sum_q;

  always_comb begin
    group_d  = '0;
    total_d  = '0;
    beat_sum = '0;
    for (int unsigned g = 0; g < GROUPS; g++) begin
      for (int unsigned h = 0; h < 4; h++) group_d[g] += 18'(b_data_q[64*g+16*h+:16]);
      total_d[g/4] += 20'(group_q[g]);
    end
    for (int unsigned t = 0; t < TOTALS; t++) beat_sum += 32'(total_q[t]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      g_valid_q <= 1'b0;
      t_valid_q <= 1'b0;
      s_valid_q <= 1'b0;
    end else begin
      g_valid_q <= b_valid_q;
      t_valid_q <= g_valid_q;
      s_valid_q <= t_valid_q && t_last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    group_q   <= group_d;
    g_first_q <= b_first_q;
    g_last_q  <= b_last_q;
    total_q   <= total_d;
    t_first_q <= g_first_q;
    t_last_q  <= g_last_q;
    if (t_valid_q) sum_q <= (t_first_q ? 32'd0 : sum_q) + beat_sum;
  end

  fifo_sync #(
    .WIDTH(32),
    .DEPTH(RESULTS)
  ) u_sums (
    .clk_i,
    .rst_ni,
    .wr_valid_i(s_valid_q),
    .wr_ready_o(sum_room),
    .wr_data_i (sum_q),
    .rd_valid_o(sum_valid_o),
    .rd_ready_i(sum_ready_i),
    .rd_data_o (sum_o),
    .count_o   ()
  );

  logic unused;
  assign unused = ^{layout_i.markers, layout_i.to_marker, sum_room, crc_room};

  `WEFT_ASSERT(crc_has_room, crc_valid -> crc_room)
  `WEFT_ASSERT(sum_has_room, s_valid_q -> sum_room)
  `WEFT_ASSERT(full_is_full, full_q == (open_q == OPEN_W'(RESULTS)))
  `WEFT_ASSERT(length_right, beat_i -> last_i == (left == 14'(count_i)))

endmodule
