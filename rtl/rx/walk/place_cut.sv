// Cuts the payload of each FPDU, packed from lane 0, into the runs of its scatter list: each run comes out as packed beats
// from lane 0, `last` on its last one. `run_end_i` marks an FPDU's last run; what follows it in the beat belongs to nobody.
// Handshake: ready/valid, output registered, one beat per cycle. An FPDU of one run passes straight through; only behind
// a run that ends inside a beat are beats shifted.

module place_cut #(
    parameter int unsigned DATA_W = 512,
    localparam int unsigned BYTES = DATA_W / 8,
    localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic run_valid_i,
    output logic run_ready_o,
    input logic [15:0] run_bytes_i,
    input logic run_end_i,

    input logic rd_valid_i,
    output logic rd_ready_o,
    input logic [DATA_W-1:0] rd_data_i,

    output logic place_valid_o,
    input logic place_ready_i,
    output logic [DATA_W-1:0] place_data_o,
    output logic [COUNT_W-1:0] place_count_o,
    output logic place_last_o,

    output logic idle_o
);
  // A beat of which bytes from `skip_q` on are still to go.
  logic held_q;
  logic [DATA_W-1:0] held_data_q;
  logic [COUNT_W-2:0] skip_q;
  logic [15:0] sent_q;

  logic [15:0] left;
  logic run_last, need, fire, out_ready, end_run;
  logic [COUNT_W-1:0] count;
  logic [COUNT_W:0] reach;
  logic [2*DATA_W-1:0] window;

  assign left = run_bytes_i - sent_q;
  assign run_last = left <= 16'(BYTES);
  assign count = run_last ? left[COUNT_W-1:0] : COUNT_W'(BYTES);
  assign reach = (held_q ? (COUNT_W + 1)'(skip_q) : '0) + (COUNT_W + 1)'(count);
  // The next beat is needed unless all bytes are in the held one.
  assign need = !held_q || reach > (COUNT_W + 1)'(BYTES);
  assign window = {rd_data_i, held_q ? held_data_q : rd_data_i} >> {held_q ? skip_q : '0, 3'd0};

  assign out_ready = !place_valid_o || place_ready_i;
  assign fire = run_valid_i && out_ready && (!need || rd_valid_i);
  assign end_run = fire && run_last;
  assign run_ready_o = end_run;
  assign rd_ready_o = fire && need;

  logic [COUNT_W:0] reach_new;  // in the newest beat used
  assign reach_new = held_q && need ? reach - (COUNT_W + 1)'(BYTES) : reach;

  logic valid_q, last_q;
  logic [DATA_W-1:0] data_q;
  logic [COUNT_W-1:0] count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      valid_q <= 1'b0;
      sent_q <= 16'd0;
    end else begin
      if (out_ready) valid_q <= fire;
      if (fire) begin
        sent_q <= run_last ? 16'd0 : sent_q + 16'(BYTES);
        held_q <= !(end_run && run_end_i) && reach_new != (COUNT_W + 1)'(BYTES);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      skip_q <= reach_new[COUNT_W-2:0];
      if (need) held_data_q <= rd_data_i;
    end
    if (out_ready) begin
      data_q <= window[DATA_W-1:0];
      count_q <= count;
      last_q <= run_last;
    end
  end

  assign place_valid_o = valid_q;
  assign place_data_o = data_q;
  assign place_count_o = count_q;
  assign place_last_o = last_q;
  assign idle_o = !valid_q && !run_valid_i;

  logic unused;
  assign unused = ^window[2*DATA_W-1:DATA_W];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else if (run_valid_i) begin
      assert (run_bytes_i != 16'd0);
    end
  end
`endif
endmodule
