// Builds Ethernet, IPv4 and TCP headers with their checksums, and releases the frame's payload from the store.
//
//   frame, sum and CRC of its payload ─► header without checksums ─► sums ─► folded ─► header, fetch command
//
// Five cycles a frame. All sums are of 16-bit words with the first byte in bits 7:0: the ones' complement sum does not mind
// (RFC 1071). Addresses serve both the IPv4 header and TCP's pseudo header. A frame to drop has only its payload thrown away.

module tx_tcp
  import weft_tx_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        frame_valid_i,
  output logic        frame_ready_o,
  input  frame_t      frame_i,
  input  logic        sum_valid_i,
  output logic        sum_ready_o,
  input  logic [31:0] sum_i,
  input  logic        crc_valid_i,
  output logic        crc_ready_o,
  input  logic [31:0] crc_i,

  output logic        fetch_valid_o,
  input  logic        fetch_ready_i,
  output fetch_t      fetch_o,
  output logic        header_valid_o,
  input  logic        header_ready_i,
  output out_header_t header_o,

  output logic        drop_o                 // pulse: a frame was thrown away
);

  localparam int unsigned ETHERNET = 14;
  localparam int unsigned IPV4     = 20;
  localparam int unsigned TCP      = 20;
  localparam int unsigned STAMPS   = 12;
  localparam int unsigned BYTES    = ETHERNET + IPV4 + TCP + STAMPS;

  typedef enum logic [2:0] {WAIT, ADD, FOLD, FINISH, OUT} state_e;

  state_e      state_q;
  logic        has_payload, ready, out_taken;
  logic [31:0] sum_q, crc_q;
  logic [15:0] id_q;

  assign has_payload = frame_i.length != '0;
  assign ready       = frame_valid_i && (!has_payload || sum_valid_i) && (!frame_i.crc || crc_valid_i);

  // ---------------------------------------------------------------- headers, checksums zero
  logic [6:0]         length;
  logic [15:0]        tcp_length;
  logic [8*BYTES-1:0] header;
  logic [7:0]         offset;

  assign tcp_length = 16'(TCP) + (frame_i.timestamps ? 16'(STAMPS) : 16'd0) + 16'(frame_i.length);
  assign length     = frame_i.raw ? 7'd0 : frame_i.timestamps ? 7'(BYTES) : 7'(BYTES - STAMPS);
  assign offset     = frame_i.timestamps ? 8'h80 : 8'h50;

  assign header = {
      frame_i.timestamps ? {swap32(frame_i.ts_ecr), swap32(frame_i.ts_val), 32'h0A08_0101} : 96'd0,
      16'd0, 16'd0, swap16(frame_i.window), frame_i.tcp_flags, offset,
      swap32(frame_i.ack), swap32(frame_i.seq), frame_i.remote_port, frame_i.local_port,
      frame_i.remote_ip, frame_i.local_ip, 16'd0, 8'd6, frame_i.ttl, swap16(16'h4000), swap16(id_q),
      swap16(tcp_length + 16'(IPV4)), frame_i.tos, 8'h45,
      16'h0008, frame_i.local_mac, frame_i.remote_mac};

  // ---------------------------------------------------------------- checksums
  logic [20:0] ip_fixed_d, ip_fixed_q, addresses_d, addresses_q;
  logic [21:0] tcp_d, tcp_q;
  logic [21:0] ip_sum_q;
  logic [32:0] tcp_sum_q;
  logic [15:0] ip_check_q, tcp_check_q;

  function automatic logic [15:0] fold(input logic [32:0] s);
    logic [17:0] once;
    logic [16:0] twice;
    once  = 18'(s[15:0]) + 18'(s[31:16]) + 18'(s[32]);
    twice = 17'(once[15:0]) + 17'(once[17:16]);
    return twice[15:0] + 16'(twice[16]);
  endfunction

  always_comb begin
    ip_fixed_d  = '0;
    addresses_d = '0;
    tcp_d       = 22'h600 + 22'(swap16(tcp_length));
    for (int unsigned b = ETHERNET; b < ETHERNET + 12; b += 2) ip_fixed_d += 21'(header[8*b+:16]);
    for (int unsigned b = ETHERNET + 12; b < ETHERNET + IPV4; b += 2) addresses_d += 21'(header[8*b+:16]);
    for (int unsigned b = ETHERNET + IPV4; b < BYTES; b += 2) tcp_d += 22'(header[8*b+:16]);
  end

  always_ff @(posedge clk_i) begin
    if (state_q == WAIT) begin
      ip_fixed_q  <= ip_fixed_d;
      addresses_q <= addresses_d;
      tcp_q       <= tcp_d;
      sum_q       <= has_payload ? sum_i : 32'd0;
      crc_q       <= frame_i.crc ? crc_i : 32'd0;
    end
    ip_sum_q    <= 22'(ip_fixed_q) + 22'(addresses_q);
    tcp_sum_q   <= 33'(sum_q) + 33'(tcp_q) + 33'(addresses_q) + (33'(crc_q[15:0]) + 33'(crc_q[31:16]));
    ip_check_q  <= ~fold(33'(ip_sum_q));
    tcp_check_q <= ~fold(tcp_sum_q);
  end

  // ---------------------------------------------------------------- out
  logic want_header, want_fetch;

  assign want_header = !frame_i.drop;
  assign want_fetch  = has_payload;
  assign out_taken   = state_q == OUT && (!want_header || header_ready_i) && (!want_fetch || fetch_ready_i);

  assign header_valid_o = out_taken && want_header;
  assign fetch_valid_o  = out_taken && want_fetch;
  assign fetch_o        = '{drop: frame_i.drop, crc: frame_i.crc, length: frame_i.length, crc_value: crc_q};
  assign drop_o         = out_taken && frame_i.drop;
  assign frame_ready_o  = out_taken;
  assign sum_ready_o    = out_taken && has_payload;
  assign crc_ready_o    = out_taken && frame_i.crc;

  always_comb begin
    header_o = '{fpdu: frame_i.fpdu, seq: frame_i.raw ? '0 : frame_i.seq, payload_bytes: frame_i.length,
                 header_bytes: length, header: '0};
    header_o.header[8*BYTES-1:0] = header;
    header_o.header[8*(ETHERNET+10)+:16] = ip_check_q;
    header_o.header[8*(ETHERNET+IPV4+16)+:16] = tcp_check_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= WAIT;
      id_q    <= '0;
    end else begin
      unique case (state_q)
        WAIT:    if (ready) state_q <= ADD;
        ADD:     state_q <= FOLD;
        FOLD:    state_q <= FINISH;
        FINISH:  state_q <= OUT;
        OUT:     if (out_taken) state_q <= WAIT;
        default: state_q <= WAIT;
      endcase
      if (out_taken && !frame_i.drop && !frame_i.raw) id_q <= id_q + 1'b1;
    end
  end

endmodule
