// Cuts the payload of each FPDU, packed from lane 0, into the runs of its scatter list, each packed from lane 0.
//
// Handshake: ready/valid, output registered and held, one beat a cycle. A run is taken in the cycle before its first beat. `place_last_o` ends each
//            run; `run_end_i` marks an FPDU's last run, and what follows it in the beat is discarded.
// Pipeline:  stage  | registers                        | what happens                    | hazards
//            plan   | count_q, skip_q, reach_q, need_q | what the next output beat needs | a run behind another loads with its last beat
//            output | data_q, held_data_q              | two beats, shifted              | need_q: waits for `rd_valid_i`
// Why:       An FPDU of one run passes straight through. Beats are shifted only behind a run that ends inside a beat.

`include "weft_assert.svh"

module place_cut #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        run_valid_i,
  output logic        run_ready_o,
  input  logic [15:0] run_bytes_i,
  input  logic        run_end_i,

  input  logic              rd_valid_i,
  output logic              rd_ready_o,
  input  logic [DATA_W-1:0] rd_data_i,

  output logic               place_valid_o,
  input  logic               place_ready_i,
  output logic [ DATA_W-1:0] place_data_o,
  output logic [COUNT_W-1:0] place_count_o,
  output logic               place_last_o,

  output logic idle_o
);
  // The next output beat, worked out a cycle before: bytes of the run in it and behind it. From which byte of the held beat it begins (0: none is
  // held), and up to which byte of its last beat it reaches.
  logic active_q, last_q, end_q, need_q, held_q;
  logic [COUNT_W-1:0] count_q, count_d;
  logic [15:0] left_q, left;
  logic [COUNT_W-2:0] skip_q, skip_d, reach_q;
  logic [ COUNT_W:0] reach_d;
  logic [DATA_W-1:0] held_data_q;
  logic fire, out_ready, load, whole, need_d;
  logic [2*DATA_W-1:0] window;

  assign window      = {rd_data_i, held_q ? held_data_q : rd_data_i} >> {skip_q, 3'd0};
  assign out_ready   = !place_valid_o || place_ready_i;
  assign fire        = active_q && out_ready && (!need_q || rd_valid_i);
  assign load        = !active_q || (fire && last_q);
  assign run_ready_o = load;
  assign rd_ready_o  = fire && need_q;

  // The output beat behind it: of the same run, or the first of the next.
  assign left        = active_q && !last_q ? left_q : run_bytes_i;
  assign whole       = left > 16'(BYTES);
  // A whole beat needs the next one, if only to begin with it.
  assign need_d      = whole || skip_d == '0 || reach_d > (COUNT_W + 1)'(BYTES);
  assign count_d     = whole ? COUNT_W'(BYTES) : left[COUNT_W-1:0];
  assign skip_d      = !active_q ? skip_q : (last_q && end_q ? '0 : reach_q);
  assign reach_d     = (COUNT_W + 1)'(skip_d) + (COUNT_W + 1)'(left[COUNT_W-1:0]);  // of a beat that is not whole

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      skip_q   <= '0;
      held_q   <= 1'b0;
    end else begin
      if (load) active_q <= run_valid_i;
      if (fire) begin
        skip_q <= skip_d;
        held_q <= skip_d != '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire || !active_q) begin
      last_q  <= !whole;
      count_q <= count_d;
      left_q  <= left - 16'(BYTES);
      reach_q <= whole ? skip_d : reach_d[COUNT_W-2:0];
      need_q  <= need_d;
    end
    if (load) end_q <= run_end_i;
    if (fire && need_q) held_data_q <= rd_data_i;
  end

  logic valid_q, empty_q, place_last_q;  // empty_q: !valid_q, for the data
  logic [ DATA_W-1:0] data_q;
  logic [COUNT_W-1:0] place_count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      empty_q <= 1'b1;
    end else if (out_ready) begin
      valid_q <= fire;
      empty_q <= !fire;
    end
  end
  always_ff @(posedge clk_i) begin
    if (empty_q || place_ready_i) begin
      data_q        <= window[DATA_W-1:0];
      place_count_q <= count_q;
      place_last_q  <= last_q;
    end
  end

  assign place_valid_o = valid_q;
  assign place_data_o  = data_q;
  assign place_count_o = place_count_q;
  assign place_last_o  = place_last_q;
  assign idle_o        = !valid_q && !active_q && !run_valid_i;

  logic unused;
  assign unused = ^window[2*DATA_W-1:DATA_W];

  `WEFT_ASSERT(runs_have_bytes, run_valid_i -> run_bytes_i != 16'd0)
  `WEFT_ASSERT(empty_told, empty_q == !valid_q)
endmodule
