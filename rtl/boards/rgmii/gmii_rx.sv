// The receiving half of a 1 Gb/s MAC: a byte a cycle from the PHY; frames without preamble and FCS to the card.
//
// Handshake: AXI-Stream without ready, byte 0 in tdata[7:0]; nothing stalls. All outputs are registered. The last beat comes two cycles behind the
//            frame's last byte.
// Pipeline:  byte, valid, error ─► preamble, SFD ─► four bytes held back (the FCS, if the frame ends) ─► beats of 16 ─► mac_rx_fifo
//            state  | meaning
//            Idle   | no frame
//            Before | its preamble
//            Inside | behind its SFD
//            Lost   | the rest of something that is no frame, also after reset
// Why:       `tuser` is 1 with the last beat of a bad frame: wrong FCS, an error of the PHY, or below 64 bytes with its FCS. A frame without a byte
//            but an FCS, or without SFD, is none.

module gmii_rx (
  input logic clk_i,  // 125 MHz
  input logic rst_ni,

  input logic       valid_i,
  input logic       error_i,
  input logic [7:0] byte_i,

  output logic [127:0] m_axis_tdata,
  output logic [ 15:0] m_axis_tkeep,
  output logic         m_axis_tlast,
  output logic         m_axis_tuser,
  output logic         m_axis_tvalid
);

  localparam logic [31:0] RESIDUE = 32'hDEBB20E3;
  localparam logic [6:0] SHORTEST = 7'd64;

  // States: see Pipeline above.
  typedef enum logic [1:0] {
    Idle,
    Before,
    Inside,
    Lost
  } state_e;

  state_e state_q;
  logic data_now, over, bad_q, full, shift;
  logic [3:0][7:0] held_q;
  logic [2:0]      held_count_q;
  logic [6:0]      count_q;  // bytes with the FCS, at most SHORTEST
  logic [31:0] crc_q, crc_next;
  logic [15:0][7:0] word_q;
  logic [15:0]      keep_q;

  assign data_now = state_q == Inside && valid_i;
  assign over     = state_q == Inside && !valid_i;
  // A held-back byte is released.
  assign shift    = data_now && held_count_q[2];
  assign full     = keep_q[15];

  crc32_byte u_crc (
    .crc_i(crc_q),
    .byte_i,
    .crc_o(crc_next)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Lost;
    end else begin
      unique case (state_q)
        Idle:    if (valid_i) state_q <= error_i ? Lost : byte_i == 8'hd5 ? Inside : byte_i == 8'h55 ? Before : Lost;
        Before:  if (!valid_i) state_q <= Idle;
 else if (byte_i == 8'hd5) state_q <= Inside;
 else if (byte_i != 8'h55) state_q <= Lost;
        default: if (!valid_i) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q != Inside) begin
      held_count_q <= '0;
      count_q      <= '0;
      crc_q        <= '1;
      bad_q        <= 1'b0;
      keep_q       <= '0;
    end
    if (data_now) begin
      crc_q  <= crc_next;
      bad_q  <= bad_q || error_i;
      held_q <= {byte_i, held_q[3:1]};
      if (!held_count_q[2]) held_count_q <= held_count_q + 1'b1;
      if (count_q != SHORTEST) count_q <= count_q + 1'b1;
    end
    // A full word leaves when the next byte comes, or with the end.
    if (shift) begin
      keep_q <= full ? 16'd1 : {keep_q[14:0], 1'b1};
      for (int unsigned b = 0; b < 16; b++) begin
        if (b == 0 ? full || !keep_q[0] : keep_q[b-1] && !keep_q[b]) word_q[b] <= held_q[0];
      end
    end
  end

  // Registers, as the path to the FIFO is long.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) m_axis_tvalid <= 1'b0;
    else m_axis_tvalid <= (shift && full) || (over && keep_q[0]);
  end

  always_ff @(posedge clk_i) begin
    m_axis_tlast <= over;
    m_axis_tdata <= word_q;
    m_axis_tkeep <= keep_q;
    m_axis_tuser <= over && (bad_q || crc_q != RESIDUE || count_q != SHORTEST);
  end

endmodule
