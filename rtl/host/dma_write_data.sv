// The data of dma_write's commands: rotates a client's packed beats by the address, merges each with the one before, and gives them to W.
//
// Handshake: `cmd_*` is the command whose data are due, level, until `cmd_pop_o`. The ready of a client's beats does not depend on the bus. `given_i`
//            is the pulse of a burst that AW's register takes; a burst's first beat waits for it. `wr_ends_o`: the beat is the command's last one.
// Pipeline:  stage  | registers        | what happens                                     | hazards
//            rotate | u_rotated        | a beat of the command's client is rotated        | room for four
//            merge  | carry_q, extra_q | merged with the beat before, strobes             | given_q: a burst's first beat waits for its AW
//            W      | u_w              | register slice                                   | WREADY
// Why:       The rotated beats are in a queue and W in a register slice, so no path leads from the bus to a client.

`include "weft_assert.svh"

module dma_write_data #(
  parameter  int unsigned DATA_W      = 512,
  parameter  int unsigned OUTSTANDING = 64,             // write bursts without a response
  parameter  int unsigned CLIENTS     = 3,
  localparam int unsigned BYTES       = DATA_W / 8,
  localparam int unsigned LANE_W      = $clog2(BYTES),
  localparam int unsigned PAGE_BEAT_W = 12 - LANE_W,
  localparam int unsigned BEATS_W     = 15 - LANE_W
) (
  input logic clk_i,
  input logic rst_ni,

  // Fields as in dma_write's data_cmd_t.
  input  logic                   cmd_valid_i,
  output logic                   cmd_pop_o,
  input  logic [            1:0] cmd_client_i,
  input  logic [     LANE_W-1:0] cmd_offset_i,
  input  logic [PAGE_BEAT_W-1:0] cmd_page_beat_i,
  input  logic [     LANE_W-1:0] cmd_end_lane_i,
  input  logic [    BEATS_W-1:0] cmd_in_beats_i,
  input  logic                   cmd_single_i,
  input  logic                   cmd_extra_i,

  input  logic [CLIENTS-1:0]             wr_valid_i,
  output logic [CLIENTS-1:0]             wr_ready_o,
  input  logic [CLIENTS-1:0][DATA_W-1:0] wr_data_i,
  output logic                           wr_ends_o,

  input logic given_i,
  input logic aw_ready_i,

  output logic              wvalid_o,
  input  logic              wready_i,
  output logic              wlast_o,
  output logic [ BYTES-1:0] wstrb_o,
  output logic [DATA_W-1:0] wdata_o,

  output logic idle_o
);

  // ---------------------------------------------------------------- rotate
  typedef struct packed {
    logic [PAGE_BEAT_W-1:0] page_beat;    // of the command's first bus beat
    logic [BYTES-1:0]       from_offset;  // lanes from the first byte on
    logic [BYTES-1:0]       below_end;    // lanes up to the last one
    logic                   extra;
    logic                   first;
    logic                   last;
  } tag_t;

  logic [BEATS_W-1:0] in_left_q, in_left;  // beats of the client from this one on, less one
  logic in_first_q, in_last_q;  // this beat is the command's first one; of others: its last one
  logic in_valid, in_last, rot_ready, rot_valid, rot_take;
  logic [DATA_W-1:0] in_data, rot_d, rot_q;
  tag_t tag_d, tag_q;

  assign in_valid = cmd_valid_i && wr_valid_i[cmd_client_i];
  assign in_data  = wr_data_i[cmd_client_i];
  assign in_left  = in_first_q ? cmd_in_beats_i : in_left_q;
  assign in_last  = in_first_q ? cmd_single_i : in_last_q;
  for (genvar c = 0; c < CLIENTS; c++) begin : gen_data_ready
    assign wr_ready_o[c] = cmd_valid_i && rot_ready && cmd_client_i == 2'(c);
  end
  assign cmd_pop_o = in_valid && rot_ready && in_last;
  assign rot_d = DATA_W'({in_data, in_data} >> {LANE_W'(0) - cmd_offset_i, 3'd0});
  assign tag_d = '{
          page_beat: cmd_page_beat_i,
          from_offset: {BYTES{1'b1}} << cmd_offset_i,
          below_end: cmd_end_lane_i == '0 ? '1 : ~({BYTES{1'b1}} << cmd_end_lane_i),
          extra: cmd_extra_i,
          first: in_first_q,
          last: in_last
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) in_first_q <= 1'b1;
    else if (in_valid && rot_ready) in_first_q <= in_last;
  end
  always_ff @(posedge clk_i) begin
    if (in_valid && rot_ready) begin
      in_left_q <= in_left - 1'b1;
      in_last_q <= in_left == BEATS_W'(1);
    end
  end

  // A client's ready ends here: no bus signal reaches it. Four beats, as many as come before a command's AW is shown.
  fifo_sync #(
    .WIDTH($bits(tag_t) + DATA_W),
    .DEPTH(4)
  ) u_rotated (
    .clk_i,
    .rst_ni,
    .wr_valid_i(in_valid),
    .wr_ready_o(rot_ready),
    .wr_data_i ({tag_d, rot_d}),
    .rd_valid_o(rot_valid),
    .rd_ready_i(rot_take),
    .rd_data_o ({tag_q, rot_q}),
    .count_o   ()
  );

  // ---------------------------------------------------------------- merge
  logic [DATA_W-1:0] carry_q;  // the rotated beat before this one
  logic [BYTES-1:0] below_end_q, below_end;
  logic extra_q;  // the carry holds the command's last bytes
  logic [PAGE_BEAT_W-1:0] page_beat_q, page_beat;
  logic page_start_q;  // the next beat is the first of a page
  logic out_valid, out_first, out_final, out_load, burst_start;
  logic [ BYTES-1:0] strobe;
  logic [DATA_W-1:0] merged;

  assign below_end   = extra_q ? below_end_q : tag_q.below_end;
  assign out_first   = !extra_q && tag_q.first;
  assign out_final   = extra_q || (tag_q.last && !tag_q.extra);
  assign page_beat   = out_first ? tag_q.page_beat : page_beat_q;
  assign burst_start = out_first || page_start_q;

  for (genvar i = 0; i < int'(BYTES); i++) begin : gen_lane
    assign merged[8*i+:8] = (tag_q.from_offset[i] && !extra_q) ? rot_q[8*i+:8] : carry_q[8*i+:8];
  end
  assign strobe = (out_first ? tag_q.from_offset : '1) & (out_final ? below_end : '1);

  // Bursts given to AW's register whose W has not begun. All of them are shown, but for one that waits behind another there (AWREADY itself reaches
  // no counter).
  logic [$clog2(OUTSTANDING+3)-1:0] given_q;
  logic some_given_q, more_given_q, any_shown, starts;  // given_q != 0, given_q > 1

  logic w_ready, w_last;

  assign any_shown = more_given_q || (some_given_q && aw_ready_i);
  assign out_valid = (rot_valid || extra_q) && (!burst_start || any_shown);
  assign out_load  = out_valid && w_ready;
  assign starts    = out_load && burst_start;
  assign rot_take  = out_load && !extra_q;
  assign w_last    = out_final || page_beat == '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      extra_q      <= 1'b0;
      given_q      <= '0;
      some_given_q <= 1'b0;
      more_given_q <= 1'b0;
    end else begin
      if (out_load) extra_q <= !extra_q && tag_q.last && tag_q.extra;
      if (given_i && !starts) begin
        given_q      <= given_q + 1'b1;
        some_given_q <= 1'b1;
        more_given_q <= some_given_q;
      end else if (!given_i && starts) begin
        given_q      <= given_q - 1'b1;
        some_given_q <= more_given_q;
        more_given_q <= given_q > 2;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_load) begin
      below_end_q  <= below_end;
      carry_q      <= rot_q;
      page_beat_q  <= page_beat + 1'b1;
      page_start_q <= page_beat == '1;
    end
  end

  stream_slice #(
    .WIDTH(1 + BYTES + DATA_W)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (out_valid),
    .in_ready_o (w_ready),
    .in_data_i  ({w_last, strobe, merged}),
    .out_valid_o(wvalid_o),
    .out_ready_i(wready_i),
    .out_data_o ({wlast_o, wstrb_o, wdata_o}),
    .shown_o    ()
  );

  assign wr_ends_o = in_last;
  assign idle_o    = !rot_valid && !extra_q && !wvalid_o;

  `WEFT_ASSERT(given_told, some_given_q == (given_q != '0) && more_given_q == (given_q > 1))

endmodule
