// The sending half of a 1 Gb/s MAC: frames from the card, with preamble, FCS and gap, a byte a cycle to the PHY.
//
// Handshake: AXI-Stream, byte 0 in tdata[7:0], ready from a register. Frames have at least 60 bytes, and no gap once begun (mac_tx_fifo). Three
//            cycles from the first beat to the first byte of the preamble.
// Pipeline:  mac_tx_fifo ─► slice ─► a beat of 16 bytes in a shift register ─► byte ─► PHY
//                                                                          └─► FCS ─┘
//            state    | what is sent
//            Idle     | nothing
//            Preamble | 7 bytes of preamble, SFD
//            Data     | the frame
//            Fcs      | four bytes
//            Gap      | nothing, at least 12 bytes with Idle

`include "weft_assert.svh"

module gmii_tx (
  input logic clk_i,  // 125 MHz
  input logic rst_ni,

  input  logic [127:0] s_axis_tdata,
  input  logic [ 15:0] s_axis_tkeep,
  input  logic         s_axis_tlast,
  input  logic         s_axis_tvalid,
  output logic         s_axis_tready,

  output logic       valid_o,
  output logic [7:0] byte_o,
  output logic       underrun_o  // pulse: never
);

  localparam logic [3:0] PREAMBLE = 4'd7;
  localparam logic [3:0] FCS = 4'd4;
  localparam logic [3:0] GAP = 4'd12;

  typedef enum logic [2:0] {
    Idle,
    Preamble,
    Data,
    Fcs,
    Gap
  } state_e;

  state_e         state_q;
  logic   [  3:0] count_q;  // cycles left in this state, less one
  logic   [127:0] word_q;
  logic   [ 14:0] more_q;  // bytes behind this one
  logic last_q, word_ends, beat_valid, beat_ready, beat_last;
  logic [127:0] beat_data;
  logic [ 14:0] beat_more;
  logic [31:0] crc_q, crc_next;

  // A slice, as the FIFO's block RAM is slow and far away.
  stream_slice #(
    .WIDTH(128 + 15 + 1)
  ) u_beat (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axis_tvalid),
    .in_ready_o (s_axis_tready),
    .in_data_i  ({s_axis_tlast, s_axis_tkeep[15:1], s_axis_tdata}),
    .out_valid_o(beat_valid),
    .out_ready_i(beat_ready),
    .out_data_o ({beat_last, beat_more, beat_data}),
    .shown_o    ()
  );

  assign word_ends  = !more_q[0];
  assign beat_ready = state_q == Idle || (state_q == Data && word_ends && !last_q);
  assign underrun_o = state_q == Data && word_ends && !last_q && !beat_valid;

  crc32_byte u_crc (
    .crc_i (crc_q),
    .byte_i(word_q[7:0]),
    .crc_o (crc_next)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      valid_o <= 1'b0;
    end else begin
      valid_o <= state_q == Preamble || state_q == Data || state_q == Fcs;
      unique case (state_q)
        Idle:     if (beat_valid) state_q <= Preamble;
        Preamble: if (count_q == '0) state_q <= Data;
        Data:     if (word_ends && (last_q || !beat_valid)) state_q <= Fcs;
        Fcs:      if (count_q == '0) state_q <= Gap;
        Gap:      if (count_q == '0) state_q <= Idle;
        default:  state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_valid && beat_ready) begin
      word_q <= beat_data;
      more_q <= beat_more;
      last_q <= beat_last;
    end else if (state_q == Data) begin
      word_q <= {8'd0, word_q[127:8]};
      more_q <= {1'b0, more_q[14:1]};
    end
    unique case (state_q)
      Idle:    count_q <= PREAMBLE;
      Data:    count_q <= FCS - 1'b1;
      Fcs:     count_q <= count_q == '0 ? GAP - 4'd2 : count_q - 1'b1;
      default: count_q <= count_q - 1'b1;
    endcase
    unique case (state_q)
      Preamble: byte_o <= count_q == '0 ? 8'hd5 : 8'h55;
      Data:     byte_o <= word_q[7:0];
      default:  byte_o <= ~crc_q[7:0];
    endcase
    // A frame that ran dry gets a wrong FCS.
    if (state_q == Idle) crc_q <= '1;
    else if (state_q == Data) crc_q <= underrun_o ? ~crc_next : crc_next;
    else if (state_q == Fcs) crc_q <= {8'd0, crc_q[31:8]};
  end

  logic unused;
  assign unused = s_axis_tkeep[0];

  `WEFT_ASSERT(no_gap_inside, !underrun_o)

endmodule
