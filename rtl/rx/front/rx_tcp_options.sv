// Scans TCP options at any alignment (RFC 9293 §3.1; timestamps RFC 7323 §3.2; SACK RFC 2018 §3).
//
// Handshake: No backpressure: one header a cycle. Results follow `valid_i` by LATENCY cycles, and are valid for one cycle at least. Without `valid_i`
//            no stage moves.
// Pipeline:  stage        | what happens
//            s, two ahead | how much of the header lies behind each of five bytes (room_behind)
//            s, one ahead | each byte is decoded as if an option began there (decode)
//            s = 1 to 8   | which of the five bytes begin an option (scan_bytes); what those of the stage before are
//            9            | values of timestamps and SACK are cut out of the delayed header (LATENCY is 10)
// Why:       `err_o` is a length below 2, or one that reaches behind the header; then no other result is valid. A timestamps option whose length is
//            not 10, and a SACK option without whole blocks, are skipped. Of several options of a kind the last counts.

module rx_tcp_options #(
  localparam int unsigned LATENCY      = 10,
  localparam int unsigned OPTION_BYTES = 40
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic [OPTION_BYTES*8-1:0] options_i,
  input  logic [               3:0] data_offset_i,  // of the TCP header: words before its payload
  output logic                      err_o,
  output logic                      ts_present_o,
  output logic [              63:0] ts_o,           // TSval, TSecr as on the wire
  output logic [               1:0] sack_count_o,
  output logic [             191:0] sack_o          // up to three blocks as on the wire
);

  localparam int unsigned STAGES = LATENCY - 2;
  localparam int unsigned STEP = OPTION_BYTES / STAGES;

  // How much of the header there is behind a byte.
  typedef struct packed {
    logic       kind;   // it lies inside
    logic       len;    // so does the one behind it
    logic [3:0] words;  // from the next whole word on
  } room_t;

  // An option that begins with this byte.
  typedef struct packed {
    logic              err;
    logic [5:0]        len;   // distance of the next option; 0: none follows
    logic [2*STEP-1:1] soon;  // len as one bit each, for this stage and the next
    logic              ts;
    logic [1:0]        sack;  // blocks
  } option_t;

  typedef struct packed {
    logic [STEP-1:0]         here;     // which of the stage's bytes begin an option
    option_t [STEP-1:0]      option;   // decoded as options
    logic                    err;      // found by the stages before, as all below
    logic [OPTION_BYTES-1:0] begins;   // where the next option begins: one bit, none behind the last
    logic                    ts;
    logic [5:0]              ts_at;
    logic [1:0]              sack;
    logic [5:0]              sack_at;
  } scan_t;

  // a + more <= b, as gates, two bits at a time: a carry chain for so few bits is slower.
  function automatic logic at_most(input logic [3:0] a, input logic more, input logic [3:0] b);
    logic [1:0] less, same;
    for (int unsigned i = 0; i < 2; i++) begin
      less[i] = (!a[2*i+1] && b[2*i+1]) || (a[2*i+1] == b[2*i+1] && !a[2*i] && b[2*i]);
      same[i] = a[2*i+1] == b[2*i+1] && a[2*i] == b[2*i];
    end
    return less[1] || (same[1] && less[0]) || (same[1] && same[0] && !more);
  endfunction

  // Behind the byte at position `at`. Options begin behind 20 bytes of header.
  function automatic room_t room_behind(input int unsigned at, input logic [3:0] data_offset);
    room_t room;
    room = '0;
    for (int unsigned words = 0; words < 16; words++) begin
      if (data_offset == 4'(words)) room |= room_t'{kind: words > (at + 20) / 4, len: words > (at + 21) / 4, words: 4'(words - (at + 23) / 4)};
    end
    return room;
  endfunction

  // The byte at position `at` and the one behind it.
  function automatic option_t decode(input int unsigned at, input logic [7:0] kind, input logic [7:0] len, input room_t room);
    option_t option;
    logic known, ok, more;
    // Whether it ends inside, in words, rounded up. A length byte behind the end does not count.
    more       = 32'(len[1:0]) + (at + 23) % 4 > 3;
    ok         = room.len && len[7:6] == '0 && len[5:1] != '0 && at_most(len[5:2], more, room.words);
    known      = room.kind && kind[7:1] != '0;
    option     = '0;
    option.err = known && !ok;
    // The results from kind and length do not depend on whether it fits: if not, `err_o` says so, and nothing else counts.
    option.len = (known ? len[5:0] : '0) | 6'(room.kind && kind == 8'd1);
    option.ts  = room.kind && kind == 8'd8 && len == 8'd10;
    if (room.kind && kind == 8'd5 && len[2:0] == 3'd2 && len[7:3] != '0) option.sack = len[7:3] > 5'd3 ? 2'd3 : len[4:3];
    for (int unsigned b = 1; b < 2 * STEP; b++) option.soon[b] = (known && len[5:0] == 6'(b)) || (b == 1 && room.kind && kind == 8'd1);
    return option;
  endfunction

  // Which of a stage's bytes begin an option, and what those of the stage before are. Where the next option begins is settled at once for the next
  // stage's bytes, a stage later for those behind. No two of five neighbours can be options of ten bytes or more, and none of the last stage's can.
  function automatic scan_t scan_bytes(input scan_t from, input int unsigned at, input option_t [STEP-1:0] option);
    scan_t to;
    logic [STEP-1:0] here, ts, sack;
    to = from;
    for (int unsigned b = 0; b < STEP; b++) begin
      here[b] = from.begins[at+b];
      for (int unsigned c = 0; c < b; c++) here[b] |= here[c] && option[c].soon[b-c];
    end
    for (int unsigned next = at + STEP; next < OPTION_BYTES; next++) begin
      for (int unsigned b = 0; b < STEP; b++) begin
        if (next < at + 2 * STEP) to.begins[next] |= here[b] && option[b].soon[next-at-b];
        to.begins[next] |= from.here[b] && from.option[b].len == 6'(next + STEP - at - b);
      end
    end
    to.here   = here;
    to.option = option;

    for (int unsigned b = 0; b < STEP; b++) begin
      to.err |= from.here[b] && from.option[b].err;
      ts[b]   = from.here[b] && from.option[b].ts;
      sack[b] = from.here[b] && from.option[b].sack != '0;
    end
    if (ts != '0) begin
      to.ts    = 1'b1;
      to.ts_at = '0;
    end
    if (sack != '0) begin
      to.sack    = '0;
      to.sack_at = '0;
    end
    for (int unsigned b = 0; b < STEP; b++) begin
      if (ts[b]) to.ts_at |= 6'(at + b - STEP);
      if (sack[b]) begin
        to.sack |= from.option[b].sack;
        to.sack_at |= 6'(at + b - STEP);
      end
    end
    return to;
  endfunction

  scan_t   [          STAGES:0]                     scan;
  option_t [        STAGES-1:0][          STEP-1:0] decoded;
  logic    [          STAGES:0][OPTION_BYTES*8-1:0] bytes;  // only what is still to be decoded is kept by synthesis
  logic    [          STAGES:0][               3:0] data_offset;
  room_t   [          STAGES:0][          STEP-1:0] room;  // of the bytes that the stage decodes
  logic    [OPTION_BYTES*8-1:0]                     options;
  logic    [          STAGES:1]                     valid_q;
  logic    [        STAGES-1:0]                     valid;

  // Stage 0 only decodes; stage s scans what the one before decoded, and decodes what the next one scans.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= valid;
  end
  assign valid          = {valid_q[STAGES-1:1], valid_i};
  assign scan[0]        = '{begins: OPTION_BYTES'(1), default: '0};
  assign bytes[0]       = options_i;
  assign data_offset[0] = data_offset_i;
  for (genvar b = 0; b < int'(STEP); b++) begin : gen_room
    assign room[0][b] = room_behind(b, data_offset_i);
  end

  for (genvar s = 0; s <= STAGES; s++) begin : gen_stage
    if (s > 0) begin : gen_scan
      scan_t scan_q;
      always_ff @(posedge clk_i) begin
        if (valid_q[s]) scan_q <= scan_bytes(scan[s-1], (s - 1) * STEP, decoded[s-1]);
      end
      assign scan[s] = scan_q;
    end
    if (s < STAGES) begin : gen_next
      option_t [          STEP-1:0] decoded_q;
      logic    [OPTION_BYTES*8-1:0] bytes_q;
      logic    [               3:0] data_offset_q;
      room_t   [          STEP-1:0] room_q;
      always_ff @(posedge clk_i) begin
        if (valid[s]) begin
          // Behind the last byte there are zeros.
          for (int unsigned b = 0; b < STEP; b++) begin
            decoded_q[b] <= decode(s * STEP + b, bytes[s][b*8+:8], bytes[s][(b+1)*8+:8], room[s][b]);
            room_q[b]    <= room_behind((s + 1) * STEP + b, data_offset[s]);
          end
          bytes_q       <= bytes[s] >> (STEP * 8);
          data_offset_q <= data_offset[s];
        end
      end
      assign decoded[s]       = decoded_q;
      assign bytes[s+1]       = bytes_q;
      assign data_offset[s+1] = data_offset_q;
      assign room[s+1]        = room_q;
    end
  end

  // The header, delayed until the options' places are known.
  rx_delay #(
    .WIDTH (OPTION_BYTES * 8),
    .CYCLES(LATENCY - 1)
  ) u_options (
    .clk_i,
    .rst_ni,
    .data_i(options_i),
    .data_o(options)
  );

  // From byte `at` on, the large steps first, as each leaves less to be shifted. No option with values begins behind byte 30. Bytes behind an
  // option's end do not count, so the last ones may stay in place.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [207:0] from_byte(input logic [OPTION_BYTES*8-1:0] all, input logic [5:0] at);
    logic [319:0] by16;
    logic [263:0] by8;
    logic [231:0] by4;
    logic [215:0] by2;
    by16 = at[4] ? {all[319:192], all[319:128]} : all;
    by8  = at[3] ? {by16[263:256], by16[319:64]} : by16[263:0];
    by4  = at[2] ? by8[263:32] : by8[231:0];
    by2  = at[1] ? by4[231:16] : by4[215:0];
    return at[0] ? by2[215:8] : by2[207:0];
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  logic [207:0] ts_shifted, sack_shifted;
  logic [STEP-1:0] late_err;
  for (genvar b = 0; b < STEP; b++) begin : gen_late
    assign late_err[b] = scan[STAGES].here[b] && scan[STAGES].option[b].err;
  end
  assign ts_shifted   = from_byte(options, scan[STAGES].ts_at);
  assign sack_shifted = from_byte(options, scan[STAGES].sack_at);

  logic unused_tail;
  assign unused_tail = ^{ts_shifted[207:80], ts_shifted[15:0], sack_shifted[15:0], bytes[STAGES], data_offset[STAGES], room[STAGES], scan[STAGES]};

  always_ff @(posedge clk_i) begin
    err_o        <= scan[STAGES].err || late_err != '0;
    ts_present_o <= scan[STAGES].ts;
    ts_o         <= ts_shifted[16+:64];
    sack_count_o <= scan[STAGES].sack;
    sack_o       <= sack_shifted[16+:192];
  end

endmodule
