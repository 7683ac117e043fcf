// Proves of rx_replay: a replay asks for its place once; none of its bytes pass before it was started, all of them once, unchanged and in order
// when it was, and none when it was refused; the frames' payload passes as if the block were not there whenever no replay is open.
//
// Assumed: what is offered stands, `keep_i` as on AXI-Stream; a replay is started or refused once, behind its placing.

module rx_replay_formal
  import rx_front_pkg::*;
  import weft_int_pkg::replay_t;
#(
  parameter  int unsigned DATA_W  = 128,
  localparam int unsigned LANES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(LANES) + 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  valid_i,
  input logic    [ DATA_W-1:0] data_i,
  input logic    [COUNT_W-1:0] bytes_i,
  input logic                  last_i,
  input replay_t               about_i,
  input logic                  place_ready_i,
  input logic                  start_i,
  input logic                  flush_i,
  input logic                  pl_valid_i,
  input logic    [ DATA_W-1:0] pl_data_i,
  input logic    [COUNT_W-1:0] pl_count_i,
  input logic                  pl_last_i,
  input logic                  walk_ready_i
);

  logic ready, place_valid, pl_ready, walk_valid, walk_last, stall, idle;
  logic        [ DATA_W-1:0] walk_data;
  logic        [COUNT_W-1:0] walk_count;
  logic        [  LANES-1:0] keep;
  rx_segment_t               segment;

  for (genvar i = 0; i < int'(LANES); i++) begin : gen_keep
    assign keep[i] = COUNT_W'(i) < bytes_i;
  end

  rx_replay #(
    .DATA_W(DATA_W)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o      (ready),
    .data_i,
    .keep_i       (keep),
    .last_i,
    .about_i,
    .place_valid_o(place_valid),
    .place_ready_i,
    .segment_o    (segment),
    .start_i,
    .flush_i,
    .pl_valid_i,
    .pl_ready_o   (pl_ready),
    .pl_data_i,
    .pl_count_i,
    .pl_last_i,
    .walk_valid_o (walk_valid),
    .walk_ready_i,
    .walk_data_o  (walk_data),
    .walk_count_o (walk_count),
    .walk_last_o  (walk_last),
    .stall_o      (stall),
    .idle_o       (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // What has become of the replay that is offered.
  logic placed_q, open_q, refused_q, ends, stood_q, last_q;
  logic [DATA_W-1:0] data_q;

  assign ends = valid_i && ready && last_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || ends) begin
      {placed_q, open_q, refused_q} <= '0;
    end else begin
      if (place_valid && place_ready_i) placed_q <= 1'b1;
      if (start_i) open_q <= 1'b1;
      if (flush_i) refused_q <= 1'b1;
    end
    stood_q          <= rst_ni && valid_i && !ready;
    {last_q, data_q} <= {last_i, data_i};
  end

  always_comb begin
    if (rst_ni) begin
      offer_stands : assume (!stood_q || (valid_i && data_i == data_q && last_i == last_q));
      some_bytes : assume (bytes_i != '0 && bytes_i <= COUNT_W'(LANES));
      one_word : assume (!(start_i && flush_i) && (!(start_i || flush_i) || (placed_q && !open_q && !refused_q && valid_i)));

      placed_once : assert (place_valid == (valid_i && !placed_q));
      about_it :
      assert (segment.replay && segment.is_tcp && segment.key == about_i.key && segment.seq == about_i.seq && segment.payload_len == about_i.bytes);
      decided : assert (!ready || open_q || refused_q);
      thrown_away : assert (!refused_q || ready);
      passes : assert (!open_q || (ready == walk_ready_i && walk_valid == valid_i));
      unchanged : assert (!(open_q && valid_i) || (walk_data == data_i && walk_last == last_i && walk_count == bytes_i));
      frames_wait : assert (!open_q || !pl_ready);
      frames_pass :
      assert (open_q || (walk_valid == pl_valid_i && pl_ready == walk_ready_i && walk_data == pl_data_i &&
                                       walk_last == pl_last_i && walk_count == pl_count_i));
      told : assert (stall == (valid_i && !ready) && (!idle || !valid_i));
    end
  end

endmodule
