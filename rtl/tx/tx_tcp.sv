// Builds Ethernet, IPv4 and TCP headers with their checksums.
//
// Handshake: ready/valid. Four cycles a frame. The register takes the next frame at the end of the present one.
// Pipeline:  frame ─► register, with sums of its words in groups ─► sums ─► folded ─► header
//            state  | registers                   | what happens
//            Wait   | ip_part_q, tcp_q, payload_q | a frame is there
//            Add    | ip_sum_q, tcp_sum_q         | sums
//            Fold   | ip_once_q, tcp_once_q       | folded once
//            Out    |                             | folded twice, inverted; the header is sent
// Why:       All sums are of 16-bit words with the first byte in bits 7:0: the ones' complement sum has either order (RFC 1071 §2 B). Addresses serve
//            both the IPv4 header and TCP's pseudo header.

module tx_tcp
  import weft_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic          frame_valid_i,
  output logic          frame_ready_o,
  input  frame_t        frame_i,
  input  logic   [ 4:0] fpdus_i,
  input  logic   [21:0] sum_i,          // of its payload but for CRCs, and of those
  input  logic   [21:0] crcs_i,

  output logic        header_valid_o,
  input  logic        header_ready_i,
  output out_header_t header_o
);

  localparam int unsigned ETHERNET = 14;
  localparam int unsigned IPV4 = 20;
  localparam int unsigned TCP = 20;
  localparam int unsigned STAMPS = 12;
  localparam int unsigned BYTES = ETHERNET + IPV4 + TCP + STAMPS;

  typedef enum logic [1:0] {
    Wait,
    Add,
    Fold,
    Out
  } state_e;

  state_e state_q;
  logic frame_valid_q, out_taken;
  frame_t       frame_q;
  logic   [4:0] fpdus_q;
  logic [21:0] sum_q, crcs_q;
  logic [15:0] id_q;

  assign frame_ready_o = !frame_valid_q || out_taken;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) frame_valid_q <= 1'b0;
    else if (frame_ready_o) frame_valid_q <= frame_valid_i;
  end

  // ---------------------------------------------------------------- headers, checksums zero
  logic [        6:0] length;
  logic [       15:0] ip_length;
  logic [8*BYTES-1:0] header;
  logic [        7:0] offset;

  assign ip_length = 16'(frame_q.length) + (frame_q.timestamps ? 16'(IPV4 + TCP + STAMPS) : 16'(IPV4 + TCP));
  assign length = frame_q.raw ? 7'd0 : frame_q.timestamps ? 7'(BYTES) : 7'(BYTES - STAMPS);
  assign offset = frame_q.timestamps ? 8'h80 : 8'h50;

  assign header = {
    frame_q.timestamps ? {swap32(frame_q.says.ts_ecr), swap32(frame_q.says.ts_val), 32'h0A08_0101} : 96'd0,
    16'd0,
    16'd0,
    swap16(frame_q.says.window),
    frame_q.says.tcp_flags,
    offset,
    swap32(frame_q.says.ack),
    swap32(frame_q.says.seq),
    frame_q.says.remote_port,
    frame_q.says.local_port,
    frame_q.says.remote_ip,
    frame_q.says.local_ip,
    16'd0,
    8'd6,
    frame_q.says.ttl,
    swap16(16'h4000),
    swap16(id_q),
    swap16(ip_length),
    frame_q.says.tos,
    8'h45,
    16'h0008,
    frame_q.says.local_mac,
    frame_q.says.remote_mac
  };

  // ---------------------------------------------------------------- checksums
  // For the frame that the register takes: four words or less in a group. Lengths go in as payload and constant apart. That leaves the folded sum
  // unchanged as long as it is not zero, and no sum here is.
  localparam logic [15:0] IP_WORDS = swap16(16'h4000) + 16'h45;  // fragment field; version and length
  localparam logic [15:0] PLAIN = 16'(TCP);
  localparam logic [15:0] STAMPED = 16'(TCP + STAMPS);

  logic [17:0] ip_q, addresses_q, ports_q, numbers_q, stamps_q;
  logic [18:0] fields_q;
  logic [15:0] options;  // NOP NOP, kind and length of the timestamps, in one word

  assign options = 16'h0101 + 16'h0A08;

  always_ff @(posedge clk_i) begin
    if (frame_ready_o) begin
      frame_q <= frame_i;
      fpdus_q <= fpdus_i;
      sum_q <= sum_i;
      crcs_q <= crcs_i;
      ip_q <= 18'(swap16(
          16'(frame_i.length)
      )) + 18'(swap16(
          16'(IPV4) + (frame_i.timestamps ? STAMPED : PLAIN)
      )) + 18'({frame_i.says.tos, 8'd0}) + 18'({8'd6, frame_i.says.ttl});
      addresses_q <= 18'(frame_i.says.local_ip[15:0]) + 18'(frame_i.says.local_ip[31:16]) + 18'(frame_i.says.remote_ip[15:0]) +
                     18'(frame_i.says.remote_ip[31:16]);
      ports_q <= 18'(frame_i.says.local_port) + 18'(frame_i.says.remote_port) + 18'(swap16(
          frame_i.says.window
      )) + 18'({frame_i.says.tcp_flags, frame_i.timestamps ? 8'h80 : 8'h50});
      numbers_q <= 18'(swap16(
          frame_i.says.seq[15:0]
      )) + 18'(swap16(
          frame_i.says.seq[31:16]
      )) + 18'(swap16(
          frame_i.says.ack[15:0]
      )) + 18'(swap16(
          frame_i.says.ack[31:16]
      ));
      stamps_q <= frame_i.timestamps ? 18'(swap16(
          frame_i.says.ts_val[15:0]
      )) + 18'(swap16(
          frame_i.says.ts_val[31:16]
      )) + 18'(swap16(
          frame_i.says.ts_ecr[15:0]
      )) + 18'(swap16(
          frame_i.says.ts_ecr[31:16]
      )) : '0;
      fields_q <= 19'h600 + 19'(swap16(
          16'(frame_i.length)
      )) + 19'(swap16(
          frame_i.timestamps ? STAMPED : PLAIN
      )) + (frame_i.timestamps ? 19'(options) : 19'd0);
    end
  end

  logic [19:0] ip_part_q, ip_sum_q;
  logic [20:0] tcp_q;
  logic [22:0] payload_q;
  logic [23:0] tcp_sum_q;
  logic [16:0] ip_once_q, tcp_once_q;
  logic [15:0] ip_check, tcp_check;

  // Wait, Add, Fold, Out: a step in each. Folded once, a sum has 17 bits, and its carry fits.
  always_ff @(posedge clk_i) begin
    if (state_q == Wait) begin
      ip_part_q <= 20'(ip_q) + 20'(IP_WORDS) + 20'(swap16(id_q));
      tcp_q     <= (21'(ports_q) + 21'(numbers_q)) + (21'(stamps_q) + 21'(fields_q)) + 21'(addresses_q);
      payload_q <= 23'(sum_q) + 23'(crcs_q);
    end
    ip_sum_q   <= ip_part_q + 20'(addresses_q);
    tcp_sum_q  <= 24'(tcp_q) + 24'(payload_q);
    ip_once_q  <= 17'(ip_sum_q[15:0]) + 17'(ip_sum_q[19:16]);
    tcp_once_q <= 17'(tcp_sum_q[15:0]) + 17'(tcp_sum_q[23:16]);
  end
  assign ip_check       = ~(ip_once_q[15:0] + 16'(ip_once_q[16]));
  assign tcp_check      = ~(tcp_once_q[15:0] + 16'(tcp_once_q[16]));

  // ---------------------------------------------------------------- out
  assign header_valid_o = state_q == Out;
  assign out_taken      = header_valid_o && header_ready_i;

  always_comb begin
    header_o = '{
        fpdus: fpdus_q,
        replay: frame_q.replay,
        seq: frame_q.says.seq,
        payload_bytes: frame_q.length,
        header_bytes: length,
        header: '0
    };
    header_o.header[8*BYTES-1:0] = header;
    header_o.header[8*(ETHERNET+10)+:16] = ip_check;
    header_o.header[8*(ETHERNET+IPV4+16)+:16] = tcp_check;
    if (frame_q.replay) header_o.header[$bits(headers_t)-1:0] = frame_q.says;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Wait;
      id_q    <= '0;
    end else begin
      unique case (state_q)
        Wait:    if (frame_valid_q) state_q <= Add;
        Add:     state_q <= Fold;
        Fold:    state_q <= Out;
        Out:     if (out_taken) state_q <= Wait;
        default: state_q <= Wait;
      endcase
      if (out_taken && !frame_q.raw) id_q <= id_q + 1'b1;
    end
  end

  logic unused;
  assign unused = ^{frame_q.drop, frame_q.fpdu, frame_q.crc, frame_q.apart, frame_q.pack};

endmodule
