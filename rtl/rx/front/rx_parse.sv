// From the MAC to a verdict: finds the headers, checks lengths and checksums, and adds verdict and TCP fields to each frame's last beat.
//
// Handshake: `mac_rx_tready` is always 1, as a MAC cannot wait. Nothing stalls: one beat a cycle, frames of any length back to back. Latency is 13
//            cycles from `mac_rx_tvalid` to `beat_valid_o`.
// Pipeline:  stage  | registers         | what happens
//            S0     | s0_*              | the beat as it came
//            S1     | s1_*, window_q    | byte count; the header window collects the frame's first 128 bytes
//            S2     | s2_*, rx_layers   | layers, frame length, station address; from here on fields2
//            S3-S10 | rx_checksum       | IPv4 and TCP checksum
//            S2-S11 | rx_tcp_options    | TCP options
//            S12    | drop_o, segment_o | the verdict, beside the frame's last beat
// Why:       The pipeline is feed-forward. Beats travel in a delay ring beside the checks, and leave with the verdict. So a bad frame is simply
//            rolled back by rx_store.

`include "weft_assert.svh"

module rx_parse
  import rx_front_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input logic    clk_i,
  input logic    rst_ni,
  input rx_cfg_t cfg_i,

  input  logic [  DATA_W-1:0] mac_rx_tdata,
  input  logic [DATA_W/8-1:0] mac_rx_tkeep,
  input  logic                mac_rx_tlast,
  input  logic                mac_rx_tvalid,
  input  logic                mac_rx_tuser,   // with tlast: bad frame
  output logic                mac_rx_tready,

  output logic                     beat_valid_o,
  output logic                     beat_last_o,
  output logic        [DATA_W-1:0] beat_data_o,
  output rx_drop_e                 drop_o,        // the rest is valid with beat_last_o
  output logic        [      15:0] frame_len_o,   // saturates at 65535
  output rx_segment_t              segment_o,

  output logic idle_o
);

  localparam int unsigned LANES = DATA_W / 8;
  localparam int unsigned COUNT_W = $clog2(LANES) + 1;
  localparam int unsigned WINDOW_BEATS = WINDOW_BYTES / LANES;
  localparam int unsigned CHECK = 10;  // cycles from S2 to S12
  localparam logic [15:0] POS_MAX = 16'(65536 - 2 * LANES);

  assign mac_rx_tready = 1'b1;

  // ---------------------------------------------------------------- S0: the beat as it came
  logic s0_valid_q, s0_last_q, s0_bad_q, s0_first_q;
  logic [DATA_W-1:0] s0_data_q;
  logic [ LANES-1:0] s0_keep_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s0_valid_q <= 1'b0;
      s0_first_q <= 1'b1;
    end else begin
      s0_valid_q <= mac_rx_tvalid;
      if (s0_valid_q) s0_first_q <= s0_last_q;
    end
  end
  always_ff @(posedge clk_i) begin
    s0_data_q <= mac_rx_tdata;
    s0_keep_q <= mac_rx_tkeep;
    s0_last_q <= mac_rx_tlast;
    s0_bad_q  <= mac_rx_tuser && mac_rx_tlast;
  end

  // Bytes of the beat: the highest set bit of tkeep.
  logic [COUNT_W-1:0] s0_count;
  always_comb begin
    s0_count = '0;
    for (int unsigned i = 0; i < LANES; i++) begin
      if (s0_keep_q[i] && (i == LANES - 1 || !s0_keep_q[(i+1)%LANES])) s0_count |= COUNT_W'(i + 1);
    end
    if (!s0_last_q) s0_count = COUNT_W'(LANES);
  end

  // ---------------------------------------------------------------- S1: the header window
  logic s1_valid_q, s1_first_q, s1_last_q, s1_bad_q, s1_enabled_q;
  logic [ DATA_W-1:0] s1_data_q;
  logic [COUNT_W-1:0] s1_count_q;
  logic [15:0] s1_pos_q, s1_pos_d;
  logic [WINDOW_BEATS-1:0] slot, slot_q;  // which part of the window the beat fills, if any
  logic [WINDOW_BYTES*8-1:0] window_q;

  always_comb begin
    s1_pos_d = s1_pos_q;
    if (s0_first_q) s1_pos_d = '0;
    else if (s1_pos_q < POS_MAX) s1_pos_d = s1_pos_q + 16'(LANES);
  end
  assign slot = s0_first_q ? WINDOW_BEATS'(1) : slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q   <= 1'b0;
      s1_enabled_q <= 1'b0;
    end else begin
      s1_valid_q <= s0_valid_q;
      if (s0_valid_q && s0_first_q) s1_enabled_q <= cfg_i.enable;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s0_valid_q) begin
      s1_first_q <= s0_first_q;
      s1_last_q  <= s0_last_q;
      s1_bad_q   <= s0_bad_q;
      s1_data_q  <= s0_data_q;
      s1_count_q <= s0_count;
      s1_pos_q   <= s1_pos_d;
      slot_q     <= slot << 1;
      for (int unsigned b = 0; b < WINDOW_BEATS; b++) begin
        if (slot[b]) window_q[b*DATA_W+:DATA_W] <= s0_data_q;
      end
    end
  end

  // ---------------------------------------------------------------- S2: layers, length, station
  logic s2_valid_q, s2_first_q, s2_last_q, s2_bad_q, s2_enabled_q, station_q, for_us_q;
  logic [DATA_W-1:0] s2_data_q;
  logic [15:0] s2_pos_q, s2_len_q, limit_q;
  logic       [ 16:0] s2_len_sum;
  logic       [  3:0] data_offset1;
  logic       [319:0] options1;
  rx_layers_t         layers;

  rx_layers u_layers (
    .clk_i,
    .window_i      (window_q),
    .plain_offset_o(data_offset1),
    .options_o     (options1),
    .layers_o      (layers)
  );

  assign s2_len_sum = 17'(s1_count_q) + (s1_first_q ? 17'd0 : {1'b0, s2_len_q});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) s2_valid_q <= 1'b0;
    else s2_valid_q <= s1_valid_q;
  end
  always_ff @(posedge clk_i) begin
    s2_first_q   <= s1_first_q;
    s2_last_q    <= s1_last_q;
    s2_bad_q     <= s1_bad_q;
    s2_enabled_q <= s1_enabled_q;
    s2_data_q    <= s1_data_q;
    s2_pos_q     <= s1_pos_q;
    station_q    <= window_q[47:0] == cfg_i.mac;
    for_us_q     <= cfg_i.promisc || window_q[0];
    if (s1_valid_q) s2_len_q <= s2_len_sum[16] ? 16'hffff : s2_len_sum[15:0];
    // The longest frame: MTU or raw slot, whichever is less.
    limit_q <= cfg_i.raw_slot_log2 < 8'd16 && (cfg_i.mtu >> cfg_i.raw_slot_log2[3:0]) != '0 ? 16'd1 << cfg_i.raw_slot_log2[3:0] : cfg_i.mtu;
  end

  // ---------------------------------------------------------------- S2: what the fields alone decide
  typedef struct packed {
    rx_drop_e    early;      // reasons before the IP checksum
    logic        is_ip;
    logic        tcp_bad;
    logic [15:0] frame_len;
    logic [15:0] first;      // two bytes of the payload
    rx_segment_t segment;    // without the options
  } fields_t;

  fields_t fields2, fields11;
  logic [159:0] tcp;

  assign tcp = layers.tcp_header;

  always_comb begin
    fields2       = '0;
    fields2.early = KEEP;
    if (!s2_enabled_q) fields2.early = DROP_DISABLED;
    else if (s2_bad_q) fields2.early = DROP_FCS;
    else if (s2_len_q < 16'd14) fields2.early = DROP_RUNT;
    else if (s2_len_q > limit_q) fields2.early = DROP_OVERSIZE;
    else if (!for_us_q && !station_q) fields2.early = DROP_MAC;
    else if (layers.is_ip && (s2_len_q < 16'd34 || layers.ip_bad || layers.ip_end > {1'b0, s2_len_q})) begin
      fields2.early = DROP_IP_HEADER;
    end
    fields2.is_ip                 = layers.is_ip;
    fields2.tcp_bad               = layers.tcp_bad;
    fields2.frame_len             = s2_len_q;
    fields2.first                 = be16(layers.first);
    // A frame to a group or another station is of no flow.
    fields2.segment.replay        = 1'b0;
    fields2.segment.is_tcp        = layers.is_tcp && station_q;
    fields2.segment.unread        = layers.ip_options;
    fields2.segment.ecn           = {tcp[12*8], layers.ecn};
    fields2.segment.key           = {tcp[31:0], layers.addresses};
    fields2.segment.seq           = be32(tcp[4*8+:32]);
    fields2.segment.ack           = be32(tcp[8*8+:32]);
    fields2.segment.tcp_flags     = tcp[13*8+:8];
    fields2.segment.window        = be16(tcp[14*8+:16]);
    fields2.segment.payload_start = layers.tcp_start[7:0] + 8'd20 + 8'(layers.options_len);
    fields2.segment.payload_len   = layers.tcp_len - 16'd20 - 16'(layers.options_len);
  end

  // ---------------------------------------------------------------- S3 to S11
  logic ip_ok10, tcp_ok10, ip_ok11_q, tcp_ok11_q;
  logic options_err11, ts_present11;
  logic [ 63:0] ts11;
  logic [  1:0] sack_count11;
  logic [191:0] sack11;
  logic [CHECK:1] valid_q, last_q;  // S3 to S12

  rx_checksum #(
    .DATA_W(DATA_W)
  ) u_ip_checksum (
    .clk_i,
    .rst_ni,
    .valid_i(s2_valid_q),
    .first_i(s2_first_q),
    .data_i (s2_data_q),
    .pos_i  (s2_pos_q),
    .start_i(layers.ip_start),
    .stop_i ({1'b0, layers.ip_sum_end}),
    .extra_i(32'd0),
    .ok_o   (ip_ok10)
  );

  // The pseudo-header (RFC 9293 §3.1): addresses, protocol, length.
  logic [31:0] pseudo;
  assign pseudo = ((32'(layers.addresses[15:0]) + 32'(layers.addresses[31:16])) +
                   (32'(layers.addresses[47:32]) + 32'(layers.addresses[63:48]))) +
                  (32'(be16(
      layers.tcp_len
  )) + 32'h0000_0600);

  rx_checksum #(
    .DATA_W(DATA_W)
  ) u_tcp_checksum (
    .clk_i,
    .rst_ni,
    .valid_i(s2_valid_q),
    .first_i(s2_first_q),
    .data_i (s2_data_q),
    .pos_i  (s2_pos_q),
    .start_i(layers.tcp_start),
    .stop_i (layers.ip_end),
    .extra_i(pseudo),
    .ok_o   (tcp_ok10)
  );

  rx_tcp_options u_options (
    .clk_i,
    .rst_ni,
    .valid_i      (s1_valid_q && s1_last_q),
    .options_i    (options1),
    .data_offset_i(data_offset1),
    .err_o        (options_err11),
    .ts_present_o (ts_present11),
    .ts_o         (ts11),
    .sack_count_o (sack_count11),
    .sack_o       (sack11)
  );

  rx_delay #(
    .WIDTH ($bits(fields_t)),
    .CYCLES(CHECK - 1)
  ) u_fields (
    .clk_i,
    .rst_ni,
    .data_i(fields2),
    .data_o(fields11)
  );
  rx_delay #(
    .WIDTH (DATA_W),
    .CYCLES(CHECK)
  ) u_data (
    .clk_i,
    .rst_ni,
    .data_i(s2_data_q),
    .data_o(beat_data_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      last_q  <= '0;
    end else begin
      valid_q <= {valid_q[CHECK-1:1], s2_valid_q};
      last_q  <= {last_q[CHECK-1:1], s2_valid_q && s2_last_q};
    end
  end
  always_ff @(posedge clk_i) begin
    ip_ok11_q  <= ip_ok10;
    tcp_ok11_q <= tcp_ok10;
  end

  // ---------------------------------------------------------------- S12: verdict
  assign beat_valid_o = valid_q[CHECK];
  assign beat_last_o  = last_q[CHECK];

  // TCP options are unread behind IP options, or if one has an impossible length: software reads up to there.
  logic unread, ts_present;
  logic [1:0] sack_count;
  assign unread     = fields11.segment.unread || (fields11.segment.is_tcp && options_err11);
  assign ts_present = ts_present11 && !unread;
  assign sack_count = unread ? 2'd0 : sack_count11;

  // An FPDU has two octets of length, the ULPDU, up to three of pad, four of CRC (RFC 5044 §4). Behind IP options nothing is known of it.
  logic [16:0] padded;
  logic [15:0] body_len;
  logic        alone;
  assign padded   = 17'(fields11.first) + 17'd5;
  assign body_len = fields11.segment.payload_len;
  assign alone    = !fields11.segment.unread && body_len[1:0] == 2'd0 && {1'b0, body_len[15:2]} == padded[16:2] + 15'd1;

  rx_drop_e    drop_d;
  rx_segment_t segment_d;
  always_comb begin
    drop_d = KEEP;
    if (fields11.early != KEEP) drop_d = fields11.early;
    else if (fields11.is_ip && !ip_ok11_q) drop_d = DROP_IP_CHECKSUM;
    else if (fields11.segment.is_tcp && fields11.tcp_bad) drop_d = DROP_TCP_HEADER;
    else if (fields11.segment.is_tcp && !tcp_ok11_q) drop_d = DROP_TCP_CHECKSUM;

    segment_d            = fields11.segment;
    segment_d.unread     = unread;
    segment_d.alone      = alone;
    segment_d.ts_present = ts_present;
    segment_d.ts_val     = ts_present ? be32(ts11[31:0]) : '0;
    segment_d.ts_ecr     = ts_present ? be32(ts11[63:32]) : '0;
    segment_d.sack_count = sack_count;
    for (int unsigned i = 0; i < 6; i++) begin
      segment_d.sack[i*32+:32] = (i / 2 < 32'(sack_count)) ? be32(sack11[i*32+:32]) : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    drop_o      <= drop_d;
    frame_len_o <= fields11.frame_len;
    segment_o   <= segment_d;
  end

  assign idle_o = !s0_valid_q && s0_first_q && !s1_valid_q && !s2_valid_q && valid_q == '0;

  logic unused;
  assign unused = ^{cfg_i, tcp, padded[1:0]};

  if (WINDOW_BYTES % LANES != 0) begin : gen_param_check
    $error("rx_parse: DATA_W/8 must divide %0d", WINDOW_BYTES);
  end
  `WEFT_ASSERT(keep_contiguous, mac_rx_tvalid -> ((mac_rx_tkeep + 1'b1) & mac_rx_tkeep) == '0 && mac_rx_tkeep[0] && (mac_rx_tlast || &mac_rx_tkeep))

  for (genvar i = 0; i < int'(LANES); i++) begin : gen_point
    `WEFT_COVER(ends, mac_rx_tvalid && mac_rx_tlast && mac_rx_tkeep == '1 >> (int'(LANES) - 1 - i))
  end

endmodule
