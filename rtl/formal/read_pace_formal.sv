// Proves of read_pace: behind a read of n beats no read is shown for n cycles; in the cycle behind them one that is asked for is shown; each is
// taken on both sides or on neither, and stands until then (stream_rules).

module read_pace_formal (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [7:0] len_i,
  input logic       valid_i,
  input logic       ready_i
);

  logic in_ready, out_valid;

  read_pace dut (
    .clk_i,
    .rst_ni,
    .s_axi_arlen  (len_i),
    .s_axi_arvalid(valid_i),
    .s_axi_arready(in_ready),
    .m_axi_arvalid(out_valid),
    .m_axi_arready(ready_i)
  );

  // Cycles since the last read was taken, and its beats.
  logic [9:0] since_q, beats_q;
  logic       any_q;
  logic [7:0] len_q;
  logic       waited_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      since_q  <= '0;
      beats_q  <= '0;
      any_q    <= 1'b0;
      waited_q <= 1'b0;
    end else begin
      waited_q <= valid_i && !in_ready;
      if (out_valid && ready_i) begin
        since_q <= '0;
        beats_q <= 10'(len_i) + 1'b1;
        any_q   <= 1'b1;
      end else if (since_q != '1) begin
        since_q <= since_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) len_q <= len_i;

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  always_comb begin
    if (rst_ni) begin
      // The client keeps what it shows.
      stands : assume (!waited_q || (valid_i && len_i == len_q));
      gap : assert (!(out_valid && any_q && since_q < beats_q));
      goes_on : assert (!(valid_i && !out_valid) || (any_q && since_q < beats_q));
      together : assert ((out_valid && ready_i) == (valid_i && in_ready));
      inv_open : assert (dut.open_q == !(any_q && since_q < beats_q));
      inv_left : assert (dut.open_q || 10'(dut.left_q) + since_q + 10'd1 == beats_q);
      inv_beats : assert (beats_q <= 10'd256);
    end
  end

endmodule
