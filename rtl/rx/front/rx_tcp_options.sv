// Scans TCP options (RFC 9293 §3.1, timestamps RFC 7323 §3.2, SACK RFC 2018 §3) at any alignment, a header each
// cycle: what each byte would say if an option began with it, a cycle ahead; then eight stages of five bytes find where options
// begin, and a stage later what they are. `err_o`: a length below 2 or one that reaches behind the header.
// A timestamps option whose length is not 10, and a SACK option without whole blocks, are skipped. Of several,
// the last counts. All results come LATENCY cycles after a header with
// `valid_i`, and stand for a cycle at least; what has no `valid_i` moves nothing.

module rx_tcp_options #(
  localparam int unsigned LATENCY = 10,
  localparam int unsigned OPTION_BYTES = 40
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic [OPTION_BYTES*8-1:0] options_i,
  input  logic [3:0]                data_offset_i, // of the TCP header: words before its payload
  output logic                      err_o,
  output logic                      ts_present_o,
  output logic [63:0]               ts_o,         // TSval, TSecr as on the wire
  output logic [1:0]                sack_count_o,
  output logic [191:0]              sack_o        // up to three blocks as on the wire
);

  localparam int unsigned STAGES = LATENCY - 2;
  localparam int unsigned STEP = OPTION_BYTES / STAGES;

  // An option that begins with this byte.
  typedef struct packed {
    logic       err;
    logic [5:0] len;         // the next one begins so many bytes on; 0: none does
    logic [2*STEP-1:1] soon; // the same for those of this stage and the next, a bit each
    logic       ts;
    logic [1:0] sack;        // blocks
  } option_t;

  typedef struct packed {
    logic [STEP-1:0]         here;       // of the stage's bytes: these begin one
    option_t [STEP-1:0]      option;     // those
    logic                    err;        // of what the stages before found, as all below
    logic [OPTION_BYTES-1:0] begins;     // where the next option begins: one bit, or none behind the last
    logic                    ts;
    logic [5:0]              ts_at;
    logic [1:0]              sack;
    logic [5:0]              sack_at;
  } scan_t;

  // The byte at position `at` and the one behind it. Options begin behind 20 bytes of header.
  function automatic option_t decode(input int unsigned at, input logic [7:0] kind, input logic [7:0] len, input logic [3:0] data_offset);
    option_t option;
    logic    inside_len, known, ok;
    inside_len = data_offset > 4'((at + 20) / 4);
    // Does it end inside? In words, rounded up. A length byte behind the end does not count.
    ok         = data_offset > 4'((at + 21) / 4) && len[7:6] == '0 && len[5:1] != '0 && 5'((7'(at + 23) + 7'(len[5:0])) >> 2) <= {1'b0, data_offset};
    known      = inside_len && kind[7:1] != '0;
    option     = '0;
    option.err  = known && !ok;
    option.len  = (known && ok ? len[5:0] : '0) | 6'(inside_len && kind == 8'd1);
    option.ts   = known && ok && kind == 8'd8 && len == 8'd10;
    if (known && ok && kind == 8'd5 && len[2:0] == 3'd2 && len[7:3] != '0) option.sack = len[7:3] > 5'd3 ? 2'd3 : len[4:3];
    // What follows from the length alone is ready before it is known that the option fits.
    for (int unsigned b = 1; b < 2 * STEP; b++) option.soon[b] = (known && ok && len[5:0] == 6'(b)) || (b == 1 && inside_len && kind == 8'd1);
    return option;
  endfunction

  // Which of a stage's bytes begin an option, and what those of the stage before are. Where the next one begins is settled at once for
  // the next stage's bytes; for those behind it a stage later. No two of five neighbours can be options of ten
  // bytes or more, and none of the last stage's can.
  function automatic scan_t scan_bytes(input scan_t from, input int unsigned at, input option_t [STEP-1:0] option);
    scan_t           to;
    logic [STEP-1:0] here, ts, sack;
    to = from;
    for (int unsigned b = 0; b < STEP; b++) begin
      here[b] = from.begins[at + b];
      for (int unsigned c = 0; c < b; c++) here[b] |= here[c] && option[c].soon[b - c];
    end
    for (int unsigned next = at + STEP; next < OPTION_BYTES; next++) begin
      for (int unsigned b = 0; b < STEP; b++) begin
        if (next < at + 2 * STEP) to.begins[next] |= here[b] && option[b].soon[next - at - b];
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
        to.sack    |= from.option[b].sack;
        to.sack_at |= 6'(at + b - STEP);
      end
    end
    return to;
  endfunction

  scan_t [STAGES:0]                     scan;
  option_t [STAGES-1:0][STEP-1:0]       decoded;
  logic [STAGES:0][OPTION_BYTES*8-1:0]  bytes;     // only what is still to be decoded is kept by synthesis
  logic [STAGES:0][3:0]                 data_offset;
  logic [OPTION_BYTES*8-1:0]            options;
  logic [STAGES:1]                      valid_q;
  logic [STAGES-1:0]                    valid;

  // Stage 0 only decodes; stage s scans what the one before decoded, and decodes what the next one scans.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= valid;
  end
  assign valid    = {valid_q[STAGES-1:1], valid_i};
  assign scan[0]  = '{begins: OPTION_BYTES'(1), default: '0};
  assign bytes[0] = options_i;
  assign data_offset[0] = data_offset_i;

  for (genvar s = 0; s <= STAGES; s++) begin : gen_stage
    if (s > 0) begin : gen_scan
      scan_t scan_q;
      always_ff @(posedge clk_i) begin
        if (valid_q[s]) scan_q <= scan_bytes(scan[s-1], (s - 1) * STEP, decoded[s-1]);
      end
      assign scan[s] = scan_q;
    end
    if (s < STAGES) begin : gen_next
      option_t [STEP-1:0]        decoded_q;
      logic [OPTION_BYTES*8-1:0] bytes_q;
      logic [3:0]                data_offset_q;
      always_ff @(posedge clk_i) begin
        if (valid[s]) begin
          // Behind the last byte there are zeros.
          for (int unsigned b = 0; b < STEP; b++) begin
            decoded_q[b] <= decode(s * STEP + b, bytes[s][b*8 +: 8], bytes[s][(b+1)*8 +: 8], data_offset[s]);
          end
          bytes_q <= bytes[s] >> (STEP * 8);
          data_offset_q <= data_offset[s];
        end
      end
      assign decoded[s] = decoded_q;
      assign bytes[s+1] = bytes_q;
      assign data_offset[s+1] = data_offset_q;
    end
  end

  // The values, once it is known where they lie.
  rx_delay #(.WIDTH(OPTION_BYTES*8), .CYCLES(LATENCY - 1)) i_options (.clk_i, .rst_ni, .data_i(options_i), .data_o(options));

  logic [OPTION_BYTES*8-1:0] ts_shifted, sack_shifted;
  logic [STEP-1:0] late_err;
  for (genvar b = 0; b < STEP; b++) begin : gen_late
    assign late_err[b] = scan[STAGES].here[b] && scan[STAGES].option[b].err;
  end
  assign ts_shifted   = options >> {scan[STAGES].ts_at, 3'b000};
  assign sack_shifted = options >> {scan[STAGES].sack_at, 3'b000};

  logic unused_tail;
  assign unused_tail = ^{ts_shifted[OPTION_BYTES*8-1:80], ts_shifted[15:0], sack_shifted[OPTION_BYTES*8-1:208],
                         sack_shifted[15:0], bytes[STAGES], data_offset[STAGES], scan[STAGES]};

  always_ff @(posedge clk_i) begin
    err_o        <= scan[STAGES].err || late_err != '0;
    ts_present_o <= scan[STAGES].ts;
    ts_o         <= ts_shifted[16 +: 64];
    sack_count_o <= scan[STAGES].sack;
    sack_o       <= sack_shifted[16 +: 192];
  end

endmodule
