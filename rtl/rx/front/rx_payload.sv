// Reads the TCP payload of a frame from the packet store and delivers it from lane 0 on.
//
// Handshake: `cmd_*` is ready/valid, `cmd_ready_o` a register. Commands come up to two packets ahead, and a third waits in its register. `pl_*` comes
//            from a short queue, so `pl_ready_i` goes no further. `flush_i` drops all inside and a command in the same cycle. Latency is six cycles
//            from the command to the first beat; throughput one beat a cycle.
// Pipeline:  cycle | registers                | what happens                                       | hazards
//            1     | cmd_*_q                  | the command                                        | waits while the one before is read
//            2     | reading_q, pos_q, next_q | beats are requested from the store                 | the other reader may go first; room in u_ahead
//            3     | u_ahead                  | a beat arrives
//            5     | prev_q, cut_q            | the earlier of two beats is held                   | a packet that *spills* discards its last beat in
//            6     | u_out                    | upper lanes of prev_q, lower ones of the next beat | `alone`: the next beat is not needed
// Why:       The payload of the next packet is read while the present one is walked. A packet *spills* if its last beat in has only lower lanes, for
//            the last beat out. Then the next packet's first beat is a cycle late: u_out has beats meanwhile, while the walk takes up a segment.

`include "weft_assert.svh"

module rx_payload #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic flush_i,

  input  logic        cmd_valid_i,
  output logic        cmd_ready_o,
  input  logic [15:0] cmd_start_i,   // position of the frame in the store
  input  logic [ 7:0] cmd_offset_i,  // first payload byte
  input  logic [15:0] cmd_len_i,     // not 0

  output logic              rd_req_o,
  output logic [      15:0] rd_pos_o,
  input  logic              rd_grant_i,
  input  logic [DATA_W-1:0] rd_data_i,

  output logic               pl_valid_o,
  input  logic               pl_ready_i,
  output logic [ DATA_W-1:0] pl_data_o,
  output logic [COUNT_W-1:0] pl_count_o,
  output logic               pl_last_o,

  output logic idle_o
);

  localparam int unsigned LANE_W = $clog2(LANES);

  // A packet to be cut out.
  typedef struct packed {
    logic [LANE_W-1:0]  shift;    // lane of its first byte
    logic               aligned;  // shift is 0
    logic [15:0]        left;     // beats out still to come
    logic [COUNT_W-1:0] count;    // bytes of the last one
    logic               last;     // the next one is the last
    logic               spill;
  } cut_t;

  // ---------------------------------------------------------------- commands
  logic cmd_valid_q, take, reading_q, next_valid_q, cut_valid_q;
  logic [15:0] cmd_start_q, cmd_len_q;
  logic [7:0] cmd_offset_q;
  cut_t next_d, next_q, cut_q;
  logic [16:0] beats_in, beats_out;

  assign cmd_ready_o = !cmd_valid_q;
  assign take        = cmd_valid_q && !reading_q && !next_valid_q;
  assign beats_in    = (17'(cmd_offset_q[LANE_W-1:0]) + 17'(LANES - 1) + 17'(cmd_len_q)) >> LANE_W;
  assign beats_out   = (17'(cmd_len_q) + 17'(LANES - 1)) >> LANE_W;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cmd_valid_q <= 1'b0;
    else if (flush_i) cmd_valid_q <= 1'b0;
    else if (!cmd_valid_q) cmd_valid_q <= cmd_valid_i;
    else if (take) cmd_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (!cmd_valid_q) begin
      cmd_start_q  <= cmd_start_i;
      cmd_offset_q <= cmd_offset_i;
      cmd_len_q    <= cmd_len_i;
    end
  end

  always_comb begin
    next_d.shift   = cmd_offset_q[LANE_W-1:0];
    next_d.aligned = cmd_offset_q[LANE_W-1:0] == '0;
    next_d.left    = beats_out[15:0];
    next_d.count   = {cmd_len_q[LANE_W-1:0] == '0, cmd_len_q[LANE_W-1:0]};
    next_d.last    = cmd_len_q <= 16'(LANES);
    next_d.spill   = beats_in[0] != beats_out[0];  // the difference is one at most
  end

  // ---------------------------------------------------------------- requests, as many as the buffer has room for
  logic room, last_read, pending_last_q, in_valid, in_pop, in_last, ahead_idle;
  logic [15:0] pos_q, left_q;  // next beat to read, beats left
  logic [DATA_W-1:0] in_data;

  assign rd_req_o  = reading_q && room;
  assign rd_pos_o  = pos_q;
  assign last_read = left_q == 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reading_q <= 1'b0;
      pos_q     <= '0;
      left_q    <= '0;
    end else begin
      if (take) begin
        reading_q <= 1'b1;
        pos_q     <= cmd_start_q + (16'(cmd_offset_q) >> LANE_W);
        left_q    <= beats_in[15:0];
      end else if (rd_grant_i) begin
        reading_q <= !last_read;
        pos_q     <= pos_q + 16'd1;
        left_q    <= left_q - 16'd1;
      end
      if (flush_i) reading_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) pending_last_q <= last_read;

  read_ahead #(
    .WIDTH(1 + DATA_W)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .clear_i(flush_i),
    .room_o (room),
    .grant_i(rd_grant_i),
    .data_i ({pending_last_q, rd_data_i}),
    .valid_o(in_valid),
    .take_i (in_pop),
    .data_o ({in_last, in_data}),
    .idle_o (ahead_idle)
  );

  // ---------------------------------------------------------------- the bytes, to lane 0
  logic prev_valid_q, prev_last_q, alone, fire, finish, swallow, load, out_ready;
  logic [  DATA_W-1:0] prev_q;
  logic [2*DATA_W-1:0] pair;

  // The next beat is not needed.
  assign alone   = prev_last_q || cut_q.aligned;
  assign fire    = prev_valid_q && out_ready && (alone || in_valid);
  assign finish  = fire && cut_q.last;
  assign swallow = finish && cut_q.spill;
  // The next packet's first beat may follow at once behind a packet's last beat out.
  assign load    = in_valid && (!prev_valid_q || fire) && !swallow;
  assign in_pop  = load || swallow;
  assign pair    = {in_data, prev_q} >> {cut_q.shift, 3'b000};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      cut_valid_q  <= 1'b0;
      prev_valid_q <= 1'b0;
    end else if (flush_i) begin
      next_valid_q <= 1'b0;
      cut_valid_q  <= 1'b0;
      prev_valid_q <= 1'b0;
    end else begin
      if (take) next_valid_q <= 1'b1;
      else if (!cut_valid_q || finish) next_valid_q <= 1'b0;
      if (!cut_valid_q || finish) cut_valid_q <= next_valid_q;
      if (load) prev_valid_q <= 1'b1;
      else if (fire) prev_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) next_q <= next_d;
    if (!cut_valid_q || finish) begin
      cut_q <= next_q;
    end else if (fire) begin
      cut_q.left <= cut_q.left - 16'd1;
      cut_q.last <= cut_q.left == 16'd2;
    end
    if (load) begin
      prev_q      <= in_data;
      prev_last_q <= in_last;
    end
  end

  stream_fifo #(
    .WIDTH(DATA_W + COUNT_W + 1)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i    (flush_i),
    .in_valid_i (fire),
    .in_ready_o (out_ready),
    .in_data_i  ({pair[DATA_W-1:0], cut_q.last ? cut_q.count : COUNT_W'(LANES), cut_q.last}),
    .out_valid_o(pl_valid_o),
    .out_ready_i(pl_ready_i),
    .out_data_o ({pl_data_o, pl_count_o, pl_last_o})
  );

  assign idle_o = !cmd_valid_q && !reading_q && ahead_idle && !prev_valid_q && !pl_valid_o;

  logic unused;
  assign unused = ^{beats_in[16], beats_out[16], pair[2*DATA_W-1:DATA_W]};

  `WEFT_ASSERT(not_empty, take -> cmd_len_q != '0)
  `WEFT_ASSERT(one_packet, prev_valid_q -> cut_valid_q)
  `WEFT_ASSERT(ends_agree, fire -> (cut_q.last && !cut_q.spill) == prev_last_q && (!swallow || in_last))

endmodule
