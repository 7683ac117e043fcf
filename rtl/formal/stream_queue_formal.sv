// Proves of stream_pair (DEPTH 2) and stream_fifo: stream_order and stream_rules, a word offered after one cycle, none refused while there is room.

module stream_queue_formal #(
  parameter int unsigned WIDTH = 8,
  parameter int unsigned DEPTH = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic             in_valid_i,
  input logic [WIDTH-1:0] in_data_i,
  input logic             out_ready_i,
  input logic             mark_i
);

  logic in_ready, out_valid;
  logic [WIDTH-1:0] out_data;

  if (DEPTH == 2) begin : gen_pair
    stream_pair #(
      .WIDTH(WIDTH)
    ) dut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i,
      .in_ready_o (in_ready),
      .in_data_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o (out_data)
    );
  end else begin : gen_fifo
    stream_fifo #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH)
    ) dut (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i,
      .in_ready_o (in_ready),
      .in_data_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o (out_data)
    );
  end

  stream_order #(
    .UNIT_W  (WIDTH),
    .INSIDE  (DEPTH),
    .WAIT_OUT(0),
    .WAIT_IN (1)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i,
    .in_ready_i (in_ready),
    .in_data_i,
    .in_count_i (1'b1),
    .in_last_i  (1'b0),
    .out_valid_i(out_valid),
    .out_ready_i,
    .out_data_i (out_data),
    .out_count_i(1'b1),
    .out_last_i (1'b0),
    .mark_i,
    .lane_i     (1'b0)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // Ready does not look at the other end: with room inside it is given.
  always_comb begin
    if (rst_ni) room : assert (in_ready == (32'(u_order.inside_q) != DEPTH));
  end

endmodule
