// Frames from the host: each is checked to its end (form, length, sequence, CRC) before it is offered.
//
// Handshake: ready/valid for bytes and frames; a frame's fields are held until taken, and no byte is taken meanwhile. A frame is offered in the cycle
//            after its last byte.
// Pipeline:  bytes ─► kind, sequence, length ─► payload ─► the last 16 bytes in a register ─► `tail_o`
//                                                      └─► of HOST_DATA each 16 into the caller's memory
//            States: the field of the next byte.
// Why:       An error, or `break_i`, makes a pulse on `bad_o`. From then on all but a good HOST_SYNC is skipped, as it is after reset.

`include "weft_assert.svh"

module serial_receive
  import serial_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic       byte_valid_i,
  output logic       byte_ready_o,
  input  logic [7:0] byte_i,

  output logic        frame_valid_o,
  input  logic        frame_ready_i,
  output logic [ 7:0] kind_o,
  output logic [ 8:0] words_o,        // of HOST_DATA: 16 bytes each
  output logic [63:0] tail_o,         // the last 8 bytes of the payload, the last one on top

  output logic         we_o,     // a word of HOST_DATA, also of a frame that turns out to be bad
  output logic [  7:0] waddr_o,
  output logic [127:0] wdata_o,

  input  logic   break_i,
  input  fault_e break_fault_i,
  output logic   bad_o,
  output fault_e fault_o
);

  typedef enum logic [2:0] {
    Kind,
    Sequence,
    LengthLow,
    LengthHigh,
    Payload,
    Crc
  } state_e;

  state_e state_q;
  logic broken_q, offered_q, we_q, take, good, form_ok;
  logic [7:0] kind_q, expect_q, low_q, waddr_q;
  logic [12:0] left_q;  // bytes of the payload to come
  logic [12:0] length;
  logic [ 3:0] lane_q;
  logic [ 1:0] crc_left_q;
  logic [31:0] crc_q, crc_next;
  logic   [127:0] shift_q;
  logic           fail;
  fault_e         fault;

  assign byte_ready_o  = !offered_q;
  assign take          = byte_valid_i && byte_ready_o;
  assign frame_valid_o = offered_q;
  assign kind_o        = kind_q;
  assign tail_o        = shift_q[127:64];
  assign we_o          = we_q;
  assign wdata_o       = shift_q;
  assign waddr_o       = waddr_q;

  crc32_byte #(
    .POLY(CRC_POLY)
  ) u_crc (
    .crc_i (state_q == Kind ? '1 : crc_q),
    .byte_i(byte_i),
    .crc_o (crc_next)
  );

  assign length = {byte_i[4:0], low_q};

  // Valid lengths: at most a burst of 4 KiB.
  always_comb begin
    unique case (kind_q)
      HOST_SYNC, HOST_READ:                            form_ok = length == 13'd4;
      HOST_WRITE:                                      form_ok = length == 13'd8;
      HOST_DATA:                                       form_ok = length != '0 && length[3:0] == '0 && length <= 13'd4096;
      HOST_READ_ERROR, HOST_WRITTEN, HOST_WRITE_ERROR: form_ok = length == '0;
      default:                                         form_ok = 1'b0;
    endcase
    form_ok = form_ok && byte_i[7:5] == '0;
  end

  always_comb begin
    good  = 1'b0;
    fail  = 1'b0;
    fault = FaultForm;
    unique case (state_q)
      Sequence: begin
        fail  = take && byte_i != (kind_q == HOST_SYNC ? 8'd0 : expect_q);
        fault = FaultSequence;
      end
      LengthHigh: fail = take && !form_ok;
      Crc: begin
        good  = take && crc_left_q == '0 && crc_next == CRC_RESIDUE;
        fail  = take && crc_left_q == '0 && !good;
        fault = FaultCrc;
      end
      default:    ;
    endcase
    if (break_i) begin
      fail  = 1'b1;
      fault = break_fault_i;
    end
  end

  assign bad_o   = fail && !broken_q;
  assign fault_o = fault;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Kind;
      broken_q  <= 1'b1;
      offered_q <= 1'b0;
      expect_q  <= '0;
      we_q      <= 1'b0;
    end else begin
      we_q <= take && state_q == Payload && kind_q == HOST_DATA && lane_q == '1;
      if (take) begin
        unique case (state_q)
          // 0 is a filler; before a SYNC no other kind begins a frame.
          Kind:       if (broken_q ? byte_i == HOST_SYNC : byte_i != '0) state_q <= Sequence;
          Sequence:   state_q <= LengthLow;
          LengthLow:  state_q <= LengthHigh;
          LengthHigh: state_q <= length == '0 ? Crc : Payload;
          Payload:    if (left_q == 13'd1) state_q <= Crc;
          Crc:        if (crc_left_q == '0) state_q <= Kind;
          default:    state_q <= Kind;
        endcase
      end
      if (good) begin
        offered_q <= 1'b1;
        broken_q  <= 1'b0;
        expect_q  <= kind_q == HOST_SYNC ? 8'd1 : expect_q + 1'b1;
      end else if (frame_ready_i) begin
        offered_q <= 1'b0;
      end
      if (fail) begin
        state_q   <= Kind;
        broken_q  <= 1'b1;
        offered_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    waddr_q <= words_o[7:0];
    if (take) begin
      crc_q <= crc_next;
      unique case (state_q)
        Kind:      kind_q <= byte_i;
        LengthLow: low_q <= byte_i;
        LengthHigh: begin
          left_q  <= length;
          lane_q  <= '0;
          words_o <= '0;
        end
        Payload: begin
          shift_q <= {byte_i, shift_q[127:8]};
          left_q  <= left_q - 1'b1;
          lane_q  <= lane_q + 1'b1;
          if (lane_q == '1) words_o <= words_o + 1'b1;
        end
        default:   ;
      endcase
      crc_left_q <= state_q == Crc ? crc_left_q - 1'b1 : '1;
    end
  end

  `WEFT_ASSERT(nothing_offered_while_broken, !offered_q || !broken_q)
  `WEFT_ASSERT(words_are_written_in_data, !we_q || kind_q == HOST_DATA)
  `WEFT_STREAM(u_rules, frame_valid_o || break_i, frame_ready_i, {kind_o, tail_o}, break_i)

endmodule
