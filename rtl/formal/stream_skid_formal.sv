// Proves of stream_skid: what goes in comes out once, unchanged and in order, in its own cycle if nothing waits; ready where nothing
// waits, whatever the other end does.
//
// The queue is told once more here, as the two ends see it: a word that went in and has not come out.

module stream_skid_formal #(
  parameter int unsigned WIDTH = 8
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [WIDTH-1:0] in_data_i,
  input logic             out_ready_i
);

  logic in_ready, out_valid, push, pop, inside_q;
  logic [WIDTH-1:0] out_data, word_q;

  stream_skid #(
    .WIDTH(WIDTH)
  ) dut (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (push != pop) inside_q <= push;
    if (push) word_q <= in_data_i;
  end

  always_comb begin
    if (rst_ni) begin
      room : assert (in_ready == !inside_q);
      offered : assert (out_valid == (inside_q || in_valid_i));
      unchanged : assert (!out_valid || out_data == (inside_q ? word_q : in_data_i));
    end
  end

endmodule
