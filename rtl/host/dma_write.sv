// Host memory writes of three clients, in the order of acceptance, on one AXI ID.
//
// Handshake: Each client gives a command (address, bytes), then exactly that many bytes as packed beats, first byte in lane 0. Ready of both depends
//            on the order. Latency is two cycles from a beat to its W beat, with no gap between beats, bursts or commands. Responses are always
//            taken; those of a command are reported as one (`written_o`).
// Pipeline:  command ─► order FIFO ─► splitter at 4 KiB ─► AW          (a burst never exceeds 4 KiB; 256 beats at 128 bits)
//                   └─► data FIFO ──► dma_write_data ─► W
//            stage  | registers                 | what happens                              | hazards
//            accept | u_burst_fifo, u_data_fifo | a command of the client whose turn it is  | both have room
//            burst  | u_burst, split_q          | cut at 4 KiB pages, one burst a cycle     | OUTSTANDING bursts at most (u_track_fifo)
//            AW     | u_aw                      | register slice                            | AWREADY
//            data   | u_data                    | the client's beats, rotated and merged    | a burst's first beat waits for its AW
//            B      | u_track, bad_q            | responses by command
// Why:       Commands and data are executed in the order of acceptance, so host memory changes in that order too.
//            AW is in a register slice, so no path leads from the bus to a client.
//            AWUSER is 1 for the writes of client 0, whose order matters only to a report that waits for their answers. It is 0 for all others, which
//            may not be seen before any earlier write (docs/card.md "The RTL boundary").
//            Clients 0 and 1 take turns. Client 2 may be left out: its command is accepted only when the others offer nothing, now and a cycle ago,
//            and have nothing in flight. It has two commands of its own at most, which it keeps short: the others wait for these two, and a cycle.
//            Client 0's offer is late in the cycle and selects nothing in it.

`include "weft_assert.svh"

module dma_write #(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned OUTSTANDING = 64,             // write bursts without a response
  localparam int unsigned BYTES       = DATA_W / 8,
  localparam int unsigned LANE_W      = $clog2(BYTES),
  localparam int unsigned COUNT_W     = LANE_W + 1
) (
  input logic clk_i,
  input logic rst_ni,

  // Clients: 0 placement and raw frames, 1 reports, 2 capture. 1 to 16384 bytes.
  input  logic [2:0]              cmd_valid_i,
  output logic [2:0]              cmd_ready_o,
  input  logic [2:0][       63:0] cmd_addr_i,
  input  logic [2:0][       15:0] cmd_bytes_i,
  input  logic [2:0]              wr_valid_i,
  output logic [2:0]              wr_ready_o,
  input  logic [2:0][ DATA_W-1:0] wr_data_i,
  input  logic [2:0][COUNT_W-1:0] wr_count_i,
  input  logic [2:0]              wr_last_i,
  output logic [2:0]              written_o,    // pulse: a command's last response arrived
  output logic [2:0]              failed_o,     // with it: one of its bursts was answered with an error

  axi4_if.writer m_axi,

  output logic request_o,  // pulses, for the counters
  output logic error_o,
  output logic idle_o
);

  localparam int unsigned PAGE_BEAT_W = 12 - LANE_W;  // beats in 4 KiB, as a power of two
  localparam int unsigned BEATS_W = 15 - LANE_W;  // beats of a command: up to 16384 bytes, and one for alignment

  // ---------------------------------------------------------------- acceptance
  typedef struct packed {
    logic [1:0]         client;
    logic [63:LANE_W]   addr;
    logic [BEATS_W-1:0] beats;   // on the bus, less one
  } burst_cmd_t;

  typedef struct packed {
    logic [1:0]             client;
    logic [LANE_W-1:0]      offset;
    logic [PAGE_BEAT_W-1:0] page_beat;
    logic [LANE_W-1:0]      end_lane;   // lanes used of the last bus beat; 0: all of them
    logic [BEATS_W-1:0]     in_beats;   // less one
    logic                   single;     // one beat in all
    logic                   extra;      // one bus beat more than beats from the client
  } data_cmd_t;

  localparam logic [1:0] LOW = 2'd2;  // the client of low priority

  logic [1:0] choice, low_q;  // low_q: commands of LOW whose data are outstanding
  logic [3:0] high_q, high_less;  // the same of the others, and one less
  logic high_none_q;  // high_q is 0
  logic
      low_may,
      room,
      others,
      accept,
      high_in,
      high_out,
      low_in,
      passed_q,
      low_turn_q;  // passed_q: client 0 was passed over, and is next; low_turn_q: LOW is next
  logic burst_wr_ready, burst_valid, burst_pop, data_wr_ready, data_valid, data_pop;
  logic kept_valid, kept_ready;
  burst_cmd_t burst_in, kept_burst, burst;
  data_cmd_t data_in, data;

  assign low_may     = high_none_q && low_q < 2'd2;
  assign room        = burst_wr_ready && data_wr_ready;
  assign choice      = low_turn_q ? LOW : {1'b0, cmd_valid_i[1] && !passed_q};
  assign cmd_ready_o = {room && low_turn_q && low_may && cmd_valid_i[1:0] == '0, room && !low_turn_q && !passed_q, room && choice == 2'd0};
  assign high_in     = room && !low_turn_q && (cmd_valid_i[0] || (cmd_valid_i[1] && !passed_q));
  assign high_out    = data_pop && data.client != LOW;
  assign high_less   = high_q - 4'd1;
  assign low_in      = room && low_turn_q && low_may && cmd_valid_i == 3'b100;
  // With client 0's offer, and without it.
  assign others      = room && (low_turn_q ? low_may && cmd_valid_i[2] && !cmd_valid_i[1] : cmd_valid_i[1] && !passed_q);
  assign accept      = cmd_valid_i[0] ? room && !low_turn_q : others;

  // Each client's command is worked out by itself, as its address may be late.
  burst_cmd_t [2:0] burst_of;
  data_cmd_t  [2:0] data_of;
  logic       [2:0] unused_bytes;
  for (genvar c = 0; c < 3; c++) begin : gen_command
    logic [15:0] bytes, in_span, bus_more;
    logic [LANE_W-1:0] offset, unused_lane;
    logic over;  // a beat more on the bus than from the client
    assign bytes = cmd_bytes_i[c];
    assign offset = cmd_addr_i[c][LANE_W-1:0];
    assign in_span = bytes - 16'd1;
    assign bus_more = bytes + 16'(BYTES - 1);
    assign {over, unused_lane} = {1'b0, in_span[LANE_W-1:0]} + {1'b0, offset};
    assign burst_of[c] = '{client: 2'(c), addr: cmd_addr_i[c][63:LANE_W], beats: over ? bus_more[LANE_W+:BEATS_W] : in_span[LANE_W+:BEATS_W]};
    assign data_of[c] = '{
            client: 2'(c),
            offset: offset,
            page_beat: cmd_addr_i[c][11:LANE_W],
            end_lane: offset + bytes[LANE_W-1:0],
            in_beats: in_span[LANE_W+:BEATS_W],
            single: in_span[LANE_W+:BEATS_W] == '0,
            extra: over
        };
    assign unused_bytes[c] = ^{unused_lane, in_span[15], bus_more[15], bus_more[LANE_W-1:0]};
  end
  assign burst_in = burst_of[choice];
  assign data_in  = data_of[choice];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {passed_q, low_turn_q} <= '0;
      high_q                 <= '0;
      high_none_q            <= 1'b1;
      low_q                  <= '0;
    end else begin
      passed_q   <= cmd_valid_i[0] && (room && !low_turn_q ? cmd_valid_i[1] && !passed_q : passed_q);
      low_turn_q <= !low_turn_q && cmd_valid_i == 3'b100 && low_may && room;
      if (high_in != high_out) begin
        high_q      <= high_in ? high_q + 4'd1 : high_less;
        high_none_q <= !high_in && high_less == '0;
      end
      low_q <= low_q + 2'(low_in) - 2'(data_pop && data.client == LOW);
    end
  end

  fifo_sync #(
    .WIDTH($bits(burst_cmd_t)),
    .DEPTH(8)
  ) u_burst_fifo (
    .clk_i,
    .rst_ni,
    .wr_valid_i(accept),
    .wr_ready_o(burst_wr_ready),
    .wr_data_i (burst_in),
    .rd_valid_o(kept_valid),
    .rd_ready_i(kept_ready),
    .rd_data_o (kept_burst),
    .count_o   ()
  );

  // The head from a register: select and ready of a client's beat begin with it.
  fifo_sync #(
    .WIDTH($bits(data_cmd_t)),
    .DEPTH(8),
    .HEAD (1'b1)
  ) u_data_fifo (
    .clk_i,
    .rst_ni,
    .wr_valid_i(accept),
    .wr_ready_o(data_wr_ready),
    .wr_data_i (data_in),
    .rd_valid_o(data_valid),
    .rd_ready_i(data_pop),
    .rd_data_o (data),
    .count_o   ()
  );

  // Also: whether all of it lies in one page.
  logic kept_whole, whole;
  assign kept_whole = kept_burst.beats <= BEATS_W'(PAGE_BEAT_W'(~kept_burst.addr[11:LANE_W]));

  stream_slice #(
    .WIDTH($bits(burst_cmd_t) + 1)
  ) u_burst (
    .clk_i,
    .rst_ni,
    .in_valid_i (kept_valid),
    .in_ready_o (kept_ready),
    .in_data_i  ({kept_burst, kept_whole}),
    .out_valid_o(burst_valid),
    .out_ready_i(burst_pop),
    .out_data_o ({burst, whole}),
    .shown_o    ()
  );

  // ---------------------------------------------------------------- AW: one burst per page
  // All numbers of beats are less one: so those to the end of the page are the beat in the page, inverted.
  logic             split_q;  // the command at the FIFO's head is already partly issued
  logic [    63:12] next_page_q;
  logic [63:LANE_W] burst_addr;
  logic [BEATS_W-1:0] left_q, burst_left;
  logic [PAGE_BEAT_W-1:0] to_page_end, burst_beats;
  logic burst_final, aw_load, aw_ready, track_ready;

  assign burst_addr  = split_q ? {next_page_q, PAGE_BEAT_W'(0)} : burst.addr;
  assign burst_left  = split_q ? left_q : burst.beats;
  assign to_page_end = ~burst_addr[11:LANE_W];
  assign burst_final = split_q ? left_q >> PAGE_BEAT_W == '0 : whole;
  assign burst_beats = burst_final ? burst_left[PAGE_BEAT_W-1:0] : to_page_end;
  assign aw_load     = burst_valid && track_ready && aw_ready;
  assign burst_pop   = aw_load && burst_final;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) split_q <= 1'b0;
    else if (aw_load) split_q <= !burst_final;
  end

  always_ff @(posedge clk_i) begin
    if (aw_load) begin
      next_page_q <= burst_addr[63:12] + 52'd1;
      left_q      <= burst_left - BEATS_W'(to_page_end) - 1'b1;
    end
  end

  logic [      63:LANE_W] aw_addr;
  logic [PAGE_BEAT_W-1:0] aw_beats;

  stream_slice #(
    .WIDTH(1 + 64 - LANE_W + PAGE_BEAT_W)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (burst_valid && track_ready),
    .in_ready_o (aw_ready),
    .in_data_i  ({burst.client == 2'd0, burst_addr, burst_beats}),
    .out_valid_o(m_axi.awvalid),
    .out_ready_i(m_axi.awready),
    .out_data_o ({m_axi.awuser, aw_addr, aw_beats}),
    .shown_o    ()
  );

  assign m_axi.awaddr  = {aw_addr, LANE_W'(0)};
  assign m_axi.awlen   = 8'(aw_beats);
  assign m_axi.awid    = 2'd0;
  assign m_axi.awsize  = 3'(LANE_W);
  assign m_axi.awburst = 2'b01;

  // ---------------------------------------------------------------- W
  logic data_last, data_idle;
  dma_write_data #(
    .DATA_W     (DATA_W),
    .OUTSTANDING(OUTSTANDING),
    .CLIENTS    (3)
  ) u_data (
    .clk_i,
    .rst_ni,
    .cmd_valid_i    (data_valid),
    .cmd_pop_o      (data_pop),
    .cmd_client_i   (data.client),
    .cmd_offset_i   (data.offset),
    .cmd_page_beat_i(data.page_beat),
    .cmd_end_lane_i (data.end_lane),
    .cmd_in_beats_i (data.in_beats),
    .cmd_single_i   (data.single),
    .cmd_extra_i    (data.extra),
    .wr_valid_i,
    .wr_ready_o,
    .wr_data_i,
    .wr_ends_o      (data_last),
    .given_i        (aw_load),
    .aw_ready_i     (aw_ready),
    .wvalid_o       (m_axi.wvalid),
    .wready_i       (m_axi.wready),
    .wlast_o        (m_axi.wlast),
    .wstrb_o        (m_axi.wstrb),
    .wdata_o        (m_axi.wdata),
    .idle_o         (data_idle)
  );

  // ---------------------------------------------------------------- responses, in the order of the bursts
  logic track_valid, kept_track_valid, kept_track_ready;
  logic [2:0] track, kept_track;  // {client, the command's last burst}

  fifo_sync #(
    .WIDTH(3),
    .DEPTH(OUTSTANDING)
  ) u_track_fifo (
    .clk_i,
    .rst_ni,
    .wr_valid_i(aw_load),
    .wr_ready_o(track_ready),
    .wr_data_i ({burst.client, burst_final}),
    .rd_valid_o(kept_track_valid),
    .rd_ready_i(kept_track_ready),
    .rd_data_o (kept_track),
    .count_o   ()
  );

  // Two cycles behind the AW at most, which is before its answer.
  stream_slice #(
    .WIDTH(3)
  ) u_track (
    .clk_i,
    .rst_ni,
    .in_valid_i (kept_track_valid),
    .in_ready_o (kept_track_ready),
    .in_data_i  (kept_track),
    .out_valid_o(track_valid),
    .out_ready_i(m_axi.bvalid),
    .out_data_o (track),
    .shown_o    ()
  );

  logic bad, bad_q;  // an error in this command so far

  assign m_axi.bready = 1'b1;
  assign bad          = bad_q || m_axi.bresp[1];
  for (genvar c = 0; c < 3; c++) begin : gen_written
    assign written_o[c] = m_axi.bvalid && track[0] && track[2:1] == 2'(c);
    assign failed_o[c]  = written_o[c] && bad;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bad_q <= 1'b0;
    else if (m_axi.bvalid) bad_q <= bad && !track[0];
  end
  assign request_o = m_axi.awvalid && m_axi.awready;
  assign error_o   = m_axi.bvalid && m_axi.bresp[1];
  assign idle_o    = !burst_valid && !data_valid && !kept_track_valid && !track_valid && data_idle && !kept_valid && cmd_valid_i == '0;

  logic unused_inputs;
  assign unused_inputs = ^{m_axi.bid, m_axi.bresp[0], wr_count_i, wr_last_i, unused_bytes};

  if (BYTES < 16 || BYTES > 64 || (1 << LANE_W) != BYTES) begin : gen_param_check
    $error("dma_write: DATA_W must be 128, 256 or 512");
  end

  for (genvar c = 0; c < 3; c++) begin : gen_client_check
    `WEFT_ASSERT(size_ok, cmd_valid_i[c] -> cmd_bytes_i[c] >= 16'd1 && cmd_bytes_i[c] <= 16'd16384)
    `WEFT_ASSERT(last_fits, wr_valid_i[c] && wr_ready_o[c] -> wr_last_i[c] == data_last)
    `WEFT_ASSERT(full_but_last, wr_valid_i[c] && !wr_last_i[c] -> wr_count_i[c] == COUNT_W'(BYTES))
    `WEFT_ASSERT(count_fits, wr_valid_i[c] && wr_ready_o[c] && data_last -> wr_count_i[c][LANE_W-1:0] == data.end_lane - data.offset)
  end
  `WEFT_ASSERT(low_waits, cmd_ready_o[LOW] -> cmd_valid_i[1:0] == '0 && high_q == '0)
  `WEFT_ASSERT(accepts_what_it_takes, accept == ((cmd_valid_i & cmd_ready_o) != '0))
  `WEFT_ASSERT(none_told, high_none_q == (high_q == '0))
  `WEFT_ASSERT(response_expected, m_axi.bvalid -> track_valid)
  `WEFT_ASSERT(one_id, m_axi.bvalid -> m_axi.bid == 2'd0)

  for (genvar i = 0; i < int'(BYTES); i++) begin : gen_point
    `WEFT_COVER(begins, accept && data_in.offset == LANE_W'(i))
    `WEFT_COVER(ends, accept && data_in.end_lane == LANE_W'(i))
  end
  for (genvar c = 0; c < 3; c++) begin : gen_client_point
    `WEFT_COVER(failed, failed_o[c])
  end

endmodule
