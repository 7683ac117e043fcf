// Frames to the host, one after the other, a byte a cycle at most.
//
// Handshake: Requests are ready/valid: valid and fields are held until ready, which comes with the last byte of the frame. Priority: SYNC, fault,
//            register value, DMA write, DMA read, interrupt. The first two are sent whether the link is up or not, the others only while `up_i`. A
//            request withdrawn while `busy_o` is low, or before the link was up, was not begun.
// Pipeline:  state | what is sent                           | left when
//            Idle  | nothing; a request is selected         | there is one
//            Head  | kind, sequence, length, fields         | sent
//            Fetch | nothing; a word of a DMA write is read | always
//            Data  | its bytes with a strobe                | sent
//            Crc   | the CRC                                | sent
// Why:       The bytes of a DMA write come from the caller's memory: words of 16 bytes with a strobe for each byte, a cycle after `re_o`.

`include "weft_assert.svh"

module serial_send
  import serial_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,
  input  logic up_i,
  output logic busy_o,

  input  logic          sync_valid_i,
  output logic          sync_ready_o,
  input  logic   [31:0] sync_nonce_i,
  input  logic          fault_valid_i,
  output logic          fault_ready_o,
  input  fault_e        fault_i,
  input  logic          value_valid_i,
  output logic          value_ready_o,
  input  logic   [31:0] value_i,
  input  logic          write_valid_i,
  output logic          write_ready_o,
  input  logic   [63:0] write_addr_i,   // of the first byte that goes
  input  logic   [12:0] write_bytes_i,  // 1 to 4096
  input  logic          read_valid_i,
  output logic          read_ready_o,
  input  logic   [63:0] read_addr_i,
  input  logic   [12:0] read_bytes_i,
  input  logic          irq_valid_i,
  output logic          irq_ready_o,
  input  logic   [ 4:0] irq_vector_i,

  output logic         re_o,
  output logic [  7:0] raddr_o,
  input  logic [127:0] rdata_i,
  input  logic [ 15:0] rstrb_i,

  output logic       byte_valid_o,
  input  logic       byte_ready_i,
  output logic [7:0] byte_o
);

  typedef enum logic [2:0] {
    Idle,
    Head,
    Fetch,
    Data,
    Crc
  } state_e;

  // Bytes before the CRC and before a DMA write's bytes: at most 4 + 10.
  localparam int unsigned HEAD = 14;

  state_e state_q;
  logic [5:0] pick, pick_q;  // one-hot: SYNC, fault, value, write, read, interrupt, from bit 0 on
  logic [8*HEAD-1:0] head, head_q;
  logic [3:0] bytes, left_q;  // of the head
  logic [12:0] length, data_left_q;
  logic [7:0] kind, sequence_q, word_q;
  logic [3:0] lane_q;
  logic [1:0] crc_left_q;
  logic [31:0] crc_q, crc_next;
  logic take, done, present;
  logic [127:0] payload;

  assign busy_o = state_q != Idle;

  always_comb begin
    pick    = '0;
    kind    = CARD_SYNC;
    bytes   = 4'd8;
    payload = {64'd0, VERSION, sync_nonce_i};
    if (sync_valid_i) begin
      pick[0] = 1'b1;
    end else if (fault_valid_i) begin
      {pick[1], kind, bytes} = {1'b1, CARD_FAULT, 4'd1};
      payload[7:0]           = 8'(fault_i);
    end else if (up_i && value_valid_i) begin
      {pick[2], kind, bytes} = {1'b1, CARD_VALUE, 4'd4};
      payload[31:0]          = value_i;
    end else if (up_i && write_valid_i) begin
      {pick[3], kind, bytes} = {1'b1, CARD_DMA_WRITE, 4'd8};
      payload[63:0]          = write_addr_i;
    end else if (up_i && read_valid_i) begin
      {pick[4], kind, bytes} = {1'b1, CARD_DMA_READ, 4'd10};
      payload[79:0]          = {3'd0, read_bytes_i, read_addr_i};
    end else if (up_i && irq_valid_i) begin
      {pick[5], kind, bytes} = {1'b1, CARD_IRQ, 4'd1};
      payload[7:0]           = 8'(irq_vector_i);
    end
    length = 13'(bytes) + (pick[3] ? write_bytes_i : '0);
    head   = {payload[79:0], 3'd0, length, pick[0] ? 8'd0 : sequence_q, kind};
  end

  // A byte of the word at `lane_q`.
  assign present = rstrb_i[lane_q];

  always_comb begin
    unique case (state_q)
      Head:    byte_o = head_q[7:0];
      Data:    byte_o = rdata_i[8*lane_q+:8];
      default: byte_o = ~crc_q[7:0];
    endcase
  end

  assign byte_valid_o = state_q == Head || (state_q == Data && present) || state_q == Crc;
  assign take = byte_valid_o && byte_ready_i;
  assign done = take && state_q == Crc && crc_left_q == '0;

  assign {irq_ready_o, read_ready_o, write_ready_o, value_ready_o, fault_ready_o, sync_ready_o} = pick_q & {6{done}};

  crc32_byte #(
    .POLY(CRC_POLY)
  ) u_crc (
    .crc_i (crc_q),
    .byte_i(byte_o),
    .crc_o (crc_next)
  );

  assign re_o    = state_q == Fetch;
  assign raddr_o = word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      sequence_q <= '0;
    end else begin
      unique case (state_q)
        Idle:
        if (pick != '0) begin
          state_q    <= Head;
          sequence_q <= pick[0] ? 8'd1 : sequence_q + 1'b1;
        end
        Head:    if (take && left_q == 4'd1) state_q <= pick_q[3] ? Fetch : Crc;
        Fetch:   state_q <= Data;
        Data: begin
          if (take && data_left_q == 13'd1) state_q <= Crc;
          else if ((take || !present) && lane_q == '1) state_q <= Fetch;
        end
        Crc:     if (done) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      pick_q      <= pick;
      head_q      <= head;
      left_q      <= bytes + 4'd4;
      data_left_q <= write_bytes_i;
      word_q      <= '0;
      lane_q      <= '0;
      crc_left_q  <= '1;
      crc_q       <= '1;
    end
    if (state_q == Head && take) begin
      head_q <= {8'd0, head_q[8*HEAD-1:8]};
      left_q <= left_q - 1'b1;
    end
    if (state_q == Data) begin
      if (take) data_left_q <= data_left_q - 1'b1;
      if (take || !present) begin
        lane_q <= lane_q + 1'b1;
        if (lane_q == '1) word_q <= word_q + 1'b1;
      end
    end
    if (take) begin
      crc_q <= state_q == Crc ? {8'd0, crc_q[31:8]} : crc_next;
      if (state_q == Crc) crc_left_q <= crc_left_q - 1'b1;
    end
  end

  logic unused;
  assign unused = ^payload[127:80];

  `WEFT_ASSERT(one_at_a_time, (pick_q & (pick_q - 1'b1)) == '0 || state_q == Idle)
  `WEFT_ASSERT(requests_are_whole, !write_valid_i || write_bytes_i != '0)
  `WEFT_ASSERT(inside_the_burst, state_q != Data || data_left_q != '0)
  `WEFT_STREAM(u_rules, byte_valid_o, byte_ready_i, byte_o)

endmodule
