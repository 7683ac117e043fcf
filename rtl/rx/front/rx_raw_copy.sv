// Copies a frame from the packet store into its slot of the host's raw ring: address, beats, and the ring's tail.
//
// Handshake: `frame_*` is level, until `pop_i`; `addr_valid_o` from the third cycle on. Beats are valid/take. `written_i` is the pulse of a copy's end.
// Pipeline:  registers       | what happens
//            raw_steps_q     | the slot's offset, the low half of the sum, the high half
//            pos_q, beats_q  | beats are read ahead from the store
//            raw_beat_q      | a beat waits for dma_write
//            raw_tail_o      | a frame more is in the ring, a cycle behind its last beat
// Why:       With the raw ring set up anew, copies of slots that were taken before go to the old ring and are not counted. The first one behind them
//            waits for the new base and size.

`include "weft_assert.svh"

module rx_raw_copy
  import rx_front_pkg::raw_count_t;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W  = 512,
  parameter  int unsigned PORTS   = 1,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input logic    clk_i,
  input logic    rst_ni,
  input rx_cfg_t cfg_i,

  input  logic        frame_valid_i,
  input  logic        frame_raw_i,    // it is to be copied
  input  logic        frame_port_i,
  input  logic [15:0] frame_slot_i,
  input  logic [15:0] frame_start_i,  // in the store
  input  logic [15:0] frame_bytes_i,
  input  logic        pop_i,
  input  logic        written_i,
  output logic        addr_valid_o,
  output logic [63:0] addr_o,

  output logic              rd_req_o,
  output logic [      15:0] rd_pos_o,
  input  logic              rd_grant_i,
  input  logic [DATA_W-1:0] rd_data_i,

  output logic               valid_o,
  input  logic               take_i,
  output logic [ DATA_W-1:0] data_o,
  output logic [COUNT_W-1:0] count_o,
  output logic               last_o,

  // verilator lint_off UNUSEDSIGNAL
  input  raw_count_t [PORTS-1:0]       raw_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic       [PORTS-1:0][31:0] raw_tail_o
);

  // ---------------------------------------------------------------- the slot's address, and the ring
  // A raw frame's address: the slot's offset, and the sum in two halves.
  logic [30:0] raw_offset_q;
  logic [32:0] raw_low_q;
  logic [31:0] raw_addr_low_q, raw_addr_high_q;
  logic [      2:0]       raw_steps_q;
  logic [     63:0]       raw_base;
  logic [PORTS-1:0][63:0] base_q;
  logic [      7:0]       slot_log2_q;
  logic [PORTS-1:0][ 7:0] old_q;
  logic [PORTS-1:0] copied_q, stays, moves;  // copied_q: a cycle late, so that no count depends on the last beat's ready
  logic [2:0] settled_q;
  assign raw_base = base_q[frame_port_i];
  for (genvar p = 0; p < PORTS; p++) begin : gen_ring
    assign stays[p] = cfg_i.raw[p].reset || raw_i[p].given_up || old_q[p] != '0;
    assign moves[p] = copied_q[p] && old_q[p] == 8'd1;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        raw_tail_o[p] <= '0;
        old_q[p]      <= '0;
        copied_q[p]   <= 1'b0;
      end else begin
        copied_q[p] <= written_i && frame_port_i == 1'(p);
        if (raw_i[p].given_up) begin
          raw_tail_o[p] <= '0;
          old_q[p]      <= old_q[p] + 8'(raw_i[p].taken - raw_tail_o[p][15:0]) - 8'(copied_q[p]);
        end else if (copied_q[p]) begin
          if (old_q[p] != '0) old_q[p] <= old_q[p] - 8'd1;
          else raw_tail_o[p] <= raw_tail_o[p] + 32'd1;
        end
      end
    end
    always_ff @(posedge clk_i) if (!stays[p]) base_q[p] <= cfg_i.raw[p].base;
  end
  always_ff @(posedge clk_i) if (!stays[0]) slot_log2_q <= cfg_i.raw_slot_log2;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) settled_q <= '0;
    else settled_q <= moves != '0 ? '0 : {settled_q[1:0], 1'b1};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) raw_steps_q <= '0;
    else if (!frame_valid_i || pop_i) raw_steps_q <= '0;
    else raw_steps_q <= {raw_steps_q[1] && settled_q[2], raw_steps_q[0], 1'b1};
  end
  always_ff @(posedge clk_i) begin
    raw_offset_q    <= 31'(frame_slot_i) << slot_log2_q[3:0];
    raw_low_q       <= 33'(raw_base[31:0]) + 33'(raw_offset_q);
    raw_addr_low_q  <= raw_low_q[31:0];
    raw_addr_high_q <= raw_base[63:32] + 32'(raw_low_q[32]);
  end

  assign addr_valid_o = raw_steps_q[2];
  assign addr_o       = {raw_addr_high_q, raw_addr_low_q};

  // ---------------------------------------------------------------- beats of the frame from the store
  logic raw_start, reading_q, room;
  logic [15:0] pos_q, beats_q, left_q;  // next beat, beats to read, beats not yet handed on
  logic [       15:0] raw_beats;
  logic               raw_last_q;
  logic [COUNT_W-1:0] raw_count_q;  // bytes of the last one
  logic [DATA_W-1:0] read_beat, raw_beat_q;
  logic buffered, raw_valid_q, raw_free, raw_take, unused_idle;  // beat was read, is in the register, leaves

  assign raw_start = frame_valid_i && frame_raw_i && !raw_steps_q[0];
  assign raw_take  = take_i && raw_valid_q;
  assign rd_req_o  = reading_q && room;
  assign rd_pos_o  = pos_q;
  assign raw_beats = (frame_bytes_i + 16'(LANES - 1)) / 16'(LANES);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reading_q <= 1'b0;
      pos_q     <= '0;
      beats_q   <= '0;
      left_q    <= '0;
    end else begin
      if (raw_start) begin
        reading_q <= 1'b1;
        pos_q     <= frame_start_i;
        left_q    <= raw_beats;
        beats_q   <= raw_beats;
      end else begin
        if (rd_grant_i) begin
          pos_q     <= pos_q + 16'd1;
          beats_q   <= beats_q - 16'd1;
          reading_q <= beats_q != 16'd1;
        end
        if (raw_take) left_q <= left_q - 16'd1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (raw_start) begin
      raw_last_q  <= frame_bytes_i <= 16'(LANES);
      raw_count_q <= {frame_bytes_i[COUNT_W-2:0] == '0, frame_bytes_i[COUNT_W-2:0]};
    end else if (raw_take) begin
      raw_last_q <= left_q == 16'd2;
    end
  end

  read_ahead #(
    .WIDTH(DATA_W)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .room_o (room),
    .grant_i(rd_grant_i),
    .data_i (rd_data_i),
    .valid_o(buffered),
    .take_i (buffered && raw_free),
    .data_o (read_beat),
    .idle_o (unused_idle)
  );

  // A register, not the LUT RAM: behind the beat come dma_write's choice and rotation.
  assign raw_free = !raw_valid_q || raw_take;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) raw_valid_q <= 1'b0;
    else if (raw_free) raw_valid_q <= buffered;
  always_ff @(posedge clk_i) if (raw_free) raw_beat_q <= read_beat;

  assign valid_o = raw_valid_q;
  assign data_o  = raw_beat_q;
  assign last_o  = raw_last_q;
  assign count_o = raw_last_q ? raw_count_q : COUNT_W'(LANES);

  logic unused;
  assign unused = ^{cfg_i, slot_log2_q[7:4], unused_idle};

  `WEFT_ASSERT(ends_with_last, written_i -> raw_valid_q && raw_last_q)

endmodule
