// Reads the TCP payload of a frame out of the packet store and delivers it from lane 0 on.
//
// Commands come one packet ahead: the payload of the next packet waits in here while the present one is walked.
// `flush_i` (with no command in the same cycle) throws away all that is inside, for a packet that is not walked after all.

module rx_payload #(
  parameter int unsigned DATA_W = 512,
  localparam int unsigned LANES = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               flush_i,

  input  logic               cmd_valid_i,
  output logic               cmd_ready_o,
  input  logic [15:0]        cmd_start_i,    // position of the frame in the store
  input  logic [7:0]         cmd_offset_i,   // first payload byte
  input  logic [15:0]        cmd_len_i,      // not 0

  output logic               rd_req_o,
  output logic [15:0]        rd_pos_o,
  input  logic               rd_grant_i,
  input  logic [DATA_W-1:0]  rd_data_i,

  output logic               pl_valid_o,
  input  logic               pl_ready_i,
  output logic [DATA_W-1:0]  pl_data_o,
  output logic [COUNT_W-1:0] pl_count_o,
  output logic               pl_last_o,

  output logic               idle_o
);

  localparam int unsigned LANE_W = $clog2(LANES);
  localparam int unsigned DEPTH = 4;           // covers the way from request to the slicer at a beat per cycle

  logic              reading_q, last_read, pending_q, pending_last_q;
  logic [15:0]       pos_q, left_q;            // next beat to read, beats left
  logic [16:0]       beats;
  logic              slice_ready, take;
  logic [DATA_W-1:0] buffer [DEPTH];
  logic [DEPTH-1:0]  buffer_last_q;
  logic [2:0]        wr_q, rd_q, used;
  logic              in_valid, in_ready;

  assign cmd_ready_o = !reading_q && slice_ready;
  assign take        = cmd_valid_i && cmd_ready_o;
  assign beats       = (17'(cmd_offset_i[LANE_W-1:0]) + 17'(cmd_len_i) + 17'(LANES - 1)) >> LANE_W;

  // Requests, as many as the buffer can take.
  assign used      = wr_q - rd_q;
  assign rd_req_o  = reading_q && (used + 3'(pending_q)) < 3'(DEPTH);
  assign rd_pos_o  = pos_q;
  assign last_read = left_q == 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reading_q <= 1'b0;
      pending_q <= 1'b0;
      wr_q      <= '0;
      rd_q      <= '0;
      pos_q     <= '0;
      left_q    <= '0;
    end else begin
      pending_q <= rd_grant_i;
      if (pending_q) wr_q <= wr_q + 3'd1;
      if (in_valid && in_ready) rd_q <= rd_q + 3'd1;
      if (take) begin
        reading_q <= 1'b1;
        pos_q     <= cmd_start_i + (16'(cmd_offset_i) >> LANE_W);
        left_q    <= beats[15:0];
      end else if (rd_grant_i) begin
        reading_q <= !last_read;
        pos_q     <= pos_q + 16'd1;
        left_q    <= left_q - 16'd1;
      end
      if (flush_i) begin
        reading_q <= 1'b0;
        pending_q <= 1'b0;
        wr_q      <= '0;
        rd_q      <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    pending_last_q <= last_read;
    if (pending_q) begin
      buffer[wr_q[1:0]]        <= rd_data_i;
      buffer_last_q[wr_q[1:0]] <= pending_last_q;
    end
  end

  assign in_valid = used != '0;

  byte_slicer #(.DATA_W(DATA_W)) i_slicer (
    .clk_i, .rst_ni, .flush_i,
    .cmd_valid_i(take), .cmd_ready_o(slice_ready), .cmd_skip_i(16'(cmd_offset_i[LANE_W-1:0])), .cmd_keep_i(cmd_len_i),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(buffer[rd_q[1:0]]), .in_last_i(buffer_last_q[rd_q[1:0]]),
    .out_valid_o(pl_valid_o), .out_ready_i(pl_ready_i), .out_data_o(pl_data_o), .out_count_o(pl_count_o), .out_last_o(pl_last_o)
  );

  assign idle_o = !reading_q && !pending_q && used == '0 && !pl_valid_o;

  logic unused_beats;
  assign unused_beats = beats[16];

`ifndef SYNTHESIS
  // verilator lint_off SYNCASYNCNET
  no_overrun: assert property (@(posedge clk_i) disable iff (!rst_ni) used <= 3'(DEPTH));
  no_command_with_flush: assert property (@(posedge clk_i) disable iff (!rst_ni) !(flush_i && take));
  // verilator lint_on SYNCASYNCNET
`endif

endmodule
