// Finds the layers in the first bytes of a frame: Ethernet II, IPv4 (RFC 791), TCP (RFC 9293).
//
// Pipeline:  one register; the fields that depend on the TCP header's data offset are combinational behind it.
// Why:       This is the only place that knows where a header lies: checksums and option scanner get byte positions. An 802.1Q tag would move
//            `ip_start` by 4. IPv6 would bring its own `addresses`, no header checksum (`ip_sum_end` = `ip_start`), and a `tcp_start` 40 bytes on.
//            The window may hold bytes of an earlier frame behind the end of a short one. So the user compares `ip_end` with the length of the frame.

module rx_layers
  import rx_front_pkg::*;
(
  input  logic                            clk_i,
  input  logic       [WINDOW_BYTES*8-1:0] window_i,
  output logic       [               3:0] plain_offset_o,  // TCP's data offset and options of a frame without IP options; combinational
  output logic       [             319:0] options_o,
  output rx_layers_t                      layers_o
);

  localparam logic [15:0] ETHERTYPE_IPV4 = 16'h0800;
  localparam logic [7:0] PROTOCOL_TCP = 8'd6;
  localparam int unsigned IP_START = 14;
  localparam int unsigned IP_WORDS_MIN = 5;
  localparam int unsigned IP_WORDS_MAX = 15;
  localparam int unsigned OPTIONS_START = IP_START + 4 * IP_WORDS_MIN + 20;

  logic [15:0] ethertype, total_len, fragment;
  logic [3:0] version, ihl, data_offset;
  logic [  5:0] ip_header_len;
  logic [  7:0] protocol;
  logic [159:0] tcp_header;
  logic [ 15:0] first;
  logic         unused;

  assign unused         = ^{window_i, fragment[15:14]};

  assign ethertype      = be16(window_i[12*8+:16]);
  assign ihl            = window_i[IP_START*8+:4];
  assign version        = window_i[IP_START*8+4+:4];
  assign total_len      = be16(window_i[(IP_START+2)*8+:16]);
  assign fragment       = be16(window_i[(IP_START+6)*8+:16]);
  assign protocol       = window_i[(IP_START+9)*8+:8];
  assign ip_header_len  = {ihl, 2'b00};

  assign plain_offset_o = window_i[(OPTIONS_START-8)*8+4+:4];
  assign options_o      = window_i[OPTIONS_START*8+:320];

  always_comb begin
    tcp_header = '0;
    for (int unsigned words = IP_WORDS_MIN; words <= IP_WORDS_MAX; words++) begin
      if (ihl == 4'(words)) tcp_header |= window_i[(IP_START+4*words)*8+:160];
    end
  end

  always_comb begin
    first = '0;
    for (int unsigned words = 0; words <= 10; words++) begin
      if (plain_offset_o == 4'(words + 5)) first |= window_i[(OPTIONS_START+4*words)*8+:16];
    end
  end

  // The network layer's fields; of the TCP header only its bytes.
  rx_layers_t layers_q;
  always_ff @(posedge clk_i) begin
    layers_q            <= '0;
    layers_q.is_ip      <= ethertype == ETHERTYPE_IPV4;
    layers_q.ip_start   <= 16'(IP_START);
    layers_q.ip_sum_end <= 16'(IP_START) + 16'(ip_header_len);
    layers_q.ip_end     <= 17'(IP_START) + 17'(total_len);
    layers_q.ip_options <= ihl != 4'(IP_WORDS_MIN);
    layers_q.ecn        <= window_i[(IP_START+1)*8+:2];
    layers_q.addresses  <= window_i[(IP_START+12)*8+:64];
    layers_q.ip_bad     <= version != 4'd4 || ihl < 4'd5 || total_len < 16'(ip_header_len);
    // Bits 13:0 of the fragment word: More Fragments and the offset.
    layers_q.is_tcp     <= ethertype == ETHERTYPE_IPV4 && protocol == PROTOCOL_TCP && fragment[13:0] == '0;
    layers_q.first      <= first;
    layers_q.tcp_header <= tcp_header;
    layers_q.tcp_len    <= total_len - 16'(ip_header_len);
  end

  assign data_offset = layers_q.tcp_header[12*8+4+:4];

  always_comb begin
    layers_o             = layers_q;
    layers_o.tcp_start   = layers_q.ip_sum_end;
    layers_o.tcp_bad     = layers_q.tcp_len < 16'd20 || data_offset < 4'd5 || layers_q.tcp_len < {10'd0, data_offset, 2'b00};
    layers_o.options_len = data_offset < 4'd5 ? 6'd0 : {data_offset - 4'd5, 2'b00};
  end

endmodule
