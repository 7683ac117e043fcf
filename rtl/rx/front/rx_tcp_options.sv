// Scans TCP options (RFC 9293 §3.1, timestamps RFC 7323 §3.2, SACK RFC 2018 §3) at any alignment, a header each
// cycle: eight stages of five bytes. `err_o`: a length below 2 or one that reaches behind the header.
// A timestamps option whose length is not 10, and a SACK option without whole blocks, are skipped. Of several,
// the last counts. All results come LATENCY cycles after the input, for every cycle, useful or not.

module rx_tcp_options #(
  localparam int unsigned LATENCY = 9,
  localparam int unsigned OPTION_BYTES = 40
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [OPTION_BYTES*8-1:0] options_i,
  input  logic [5:0]                len_i,
  output logic                      err_o,
  output logic                      ts_present_o,
  output logic [63:0]               ts_o,         // TSval, TSecr as on the wire
  output logic [1:0]                sack_count_o,
  output logic [191:0]              sack_o        // up to three blocks as on the wire
);

  localparam int unsigned STAGES = 8;
  localparam int unsigned STEP = OPTION_BYTES / STAGES;

  typedef struct packed {
    logic       err;
    logic       ended;
    logic [5:0] skip;        // bytes until the next option begins
    logic       ts;
    logic [5:0] ts_at;
    logic [1:0] sack;
    logic [5:0] sack_at;
  } scan_t;

  // One byte at position `at`: `kind` and, behind it, `len`; `stop` is the end of the options.
  function automatic scan_t scan_byte(input scan_t from, input logic [5:0] at, input logic [7:0] kind,
                                      input logic [7:0] len, input logic [5:0] stop);
    scan_t      to;
    logic [8:0] option_end;
    logic       bad;
    option_end = 9'(at) + 9'(len);
    bad        = (7'(at) + 7'd1 >= 7'(stop)) || len < 8'd2 || option_end > 9'(stop);
    to         = from;
    if (at < stop && !from.ended) begin
      if (from.skip != '0) begin
        to.skip = from.skip - 6'd1;
      end else if (kind == 8'd0) begin
        to.ended = 1'b1;
      end else if (kind != 8'd1) begin
        if (bad) begin
          to.err   = 1'b1;
          to.ended = 1'b1;
        end else begin
          to.skip = len[5:0] - 6'd1;
          if (kind == 8'd8 && len == 8'd10) begin
            to.ts    = 1'b1;
            to.ts_at = at;
          end
          if (kind == 8'd5 && len[2:0] == 3'd2 && len[7:3] != '0) begin
            to.sack    = len[7:3] > 5'd3 ? 2'd3 : len[4:3];
            to.sack_at = at;
          end
        end
      end
    end
    return to;
  endfunction

  scan_t [STAGES:0]                     scan;
  logic [STAGES:0][OPTION_BYTES*8-1:0]  bytes;     // only what is still to be scanned is kept by synthesis
  logic [STAGES:0][5:0]                 options_len;
  logic [OPTION_BYTES*8-1:0]            options;

  assign scan[0]  = '0;
  assign bytes[0] = options_i;
  assign options_len[0] = len_i;

  for (genvar s = 0; s < STAGES; s++) begin : gen_stage
    scan_t                     scan_d, scan_q;
    logic [OPTION_BYTES*8-1:0] bytes_q;
    logic [5:0]                len_q;

    always_comb begin
      scan_d = scan[s];
      for (int unsigned b = 0; b < STEP; b++) begin
        scan_d = scan_byte(scan_d, 6'(s*STEP + b), bytes[s][b*8 +: 8], bytes[s][(b+1)*8 +: 8], options_len[s]);
      end
    end
    always_ff @(posedge clk_i) begin
      scan_q  <= scan_d;
      bytes_q <= bytes[s] >> (STEP * 8);
      len_q   <= options_len[s];
    end
    assign scan[s+1]  = scan_q;
    assign bytes[s+1] = bytes_q;
    assign options_len[s+1] = len_q;
  end

  // The values, once it is known where they lie.
  rx_delay #(.WIDTH(OPTION_BYTES*8), .CYCLES(STAGES)) i_options (.clk_i, .rst_ni, .data_i(options_i), .data_o(options));

  logic [OPTION_BYTES*8-1:0] ts_shifted, sack_shifted;
  assign ts_shifted   = options >> {scan[STAGES].ts_at, 3'b000};
  assign sack_shifted = options >> {scan[STAGES].sack_at, 3'b000};

  logic unused_tail;
  assign unused_tail = ^{ts_shifted[OPTION_BYTES*8-1:80], ts_shifted[15:0], sack_shifted[OPTION_BYTES*8-1:208],
                         sack_shifted[15:0], bytes[STAGES], options_len[STAGES], scan[STAGES].ended, scan[STAGES].skip};

  always_ff @(posedge clk_i) begin
    err_o        <= scan[STAGES].err;
    ts_present_o <= scan[STAGES].ts;
    ts_o         <= ts_shifted[16 +: 64];
    sack_count_o <= scan[STAGES].sack;
    sack_o       <= sack_shifted[16 +: 192];
  end

endmodule
