// Proves of rx_islands: no octet of a flow is placed twice, and none is passed that was not placed.
//
// One octet of the stream, any, is followed. Segments come in any order, as rx_accept lets them ask: next in sequence, or beyond the gap; each is
// walked as a whole or not at all. The flow may be taken from the card at any time between them, and given back anywhere.

module rx_islands_formal
  import rx_front_pkg::*;
#(
  parameter int unsigned ISLANDS = 2
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        ask_i,
  input logic        start_i,
  input logic        forget_i,
  input logic        fin_i,
  input logic [31:0] any_octet_i,
  input logic [31:0] any_next_i,
  input logic [31:0] seq_i,
  input logic [15:0] len_i
);

  logic [31:0] octet_q, next_q, seq_end, walk_end;
  logic gap_q, placed_q, asked_q, was_answered_q, valid, used, start, beyond, in_it;
  logic    [31:0] seq_q;
  logic    [15:0] len_q;
  logic           fin_q;
  island_t        answer;

  assign beyond   = seq_i != next_q;
  assign seq_end  = seq_i + 32'(len_i);
  assign walk_end = seq_end + 32'(fin_i);
  assign used     = ask_i && start_i && valid;
  assign start    = used && !answer.duplicate && !answer.leave;
  assign in_it    = octet_q - seq_i < 32'(len_i);

  rx_islands #(
    .NUM_FLOWS(2),
    .ISLANDS  (ISLANDS)
  ) dut (
    .clk_i,
    .rst_ni,
    .ask_i,
    .flow_i    (16'd1),
    .gap_i     (gap_q),
    .beyond_i  (beyond),
    .rcv_nxt_i (next_q),
    .seq_i,
    .seq_end_i (seq_end),
    .walk_end_i(walk_end),
    .valid_o   (valid),
    .answer_o  (answer),
    .start_i   (start)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  always_ff @(posedge clk_i) begin
    asked_q        <= rst_ni && ask_i && !used;
    was_answered_q <= rst_ni && used;
    seq_q          <= seq_i;
    len_q          <= len_i;
    fin_q          <= fin_i;
    if (!rst_ni) begin
      octet_q  <= any_octet_i;
      next_q   <= any_next_i;
      gap_q    <= 1'b0;
      placed_q <= 1'b0;
    end else if (start) begin
      gap_q <= answer.gap;
      if (beyond) placed_q <= placed_q || in_it;
      else next_q <= answer.leaves;
    end else if (forget_i) begin
      next_q   <= any_next_i;
      gap_q    <= 1'b0;
      placed_q <= 1'b0;
    end
  end

  always_comb begin
    // What is asked stands until it is answered and used, and for a cycle more.
    stands : assume (!(asked_q || was_answered_q) || (seq_i == seq_q && len_i == len_q && fin_i == fin_q));
    asks_on : assume (!asked_q || ask_i);
    used_once : assume (!was_answered_q || !ask_i);
    // Of a segment with payload, which is not old, and within the window; a FIN beyond a gap is not asked about.
    has_payload : assume (!ask_i || len_i != '0);
    not_old : assume (!ask_i || seq_i - next_q < 32'd64);
    no_fin : assume (!ask_i || !beyond || !fin_i);
    // Near the wrap of sequence numbers, on either side: what is further apart is no other case, and takes the solver long.
    at_the_wrap : assume (any_next_i + 32'd256 < 32'd512);
    short : assume (len_i < 16'd64);
    between : assume (!forget_i || (!ask_i && !was_answered_q));
    near : assume (octet_q - next_q < 32'd1024 || !placed_q);
    if (rst_ni) begin
      once : assert (!(start && in_it) || !placed_q);
      passed_was_placed : assert (!(start && !beyond && octet_q - walk_end < answer.leaves - walk_end) || placed_q);
      duplicate_is : assert (!(used && answer.duplicate && in_it) || placed_q);
      stays : assert (!(start && beyond) || (answer.leaves == next_q && answer.gap));
      no_gap_no_island : assert (!(placed_q && octet_q - next_q < 32'd1024) || gap_q);
      passes_one : assert (!(start && !beyond) || answer.right.valid == (answer.leaves != walk_end));
    end
  end


endmodule
