// What an AXI4 master owes its bus, said of the bus alone; and what the slave owes, as assumptions.
//
// axi_address_rules  AW or AR: stands until taken; full width, INCR, aligned, inside 4 KiB, at most LONGEST beats
// axi_write_rules    W: stands until taken, not before its AW is shown, WLAST where AWLEN says (any one burst is followed, chosen by
//                    `mark_i`); at most BURSTS without response, responses are taken; the slave gives B behind AW and WLAST only
// axi_read_rules     R: every beat is taken; at most BEATS of an ID are awaited; the slave gives what was asked for, no more

module axi_address_rules #(
  parameter int unsigned DATA_W  = 128,
  parameter int unsigned LONGEST = 256
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input logic        ready_i,
  input logic [ 1:0] id_i,
  input logic [63:0] addr_i,
  input logic [ 7:0] len_i,
  input logic [ 2:0] size_i,
  input logic [ 1:0] burst_i,
  input logic        user_i
);

  localparam int unsigned LANE_W = $clog2(DATA_W / 8);

  logic [12:0] first, beats;
  assign first = 13'(addr_i[11:LANE_W]);
  assign beats = 13'(len_i) + 1'b1;

  stream_rules #(
    .WIDTH(2 + 64 + 8 + 1)
  ) u_stands (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i,
    .ready_i,
    .data_i ({id_i, addr_i, len_i, user_i})
  );

  always_comb begin
    if (rst_ni && valid_i) begin
      whole_beats : assert (addr_i[LANE_W-1:0] == '0 && size_i == 3'(LANE_W));
      incr : assert (burst_i == 2'b01);
      inside_4k : assert (first + beats <= 13'(4096 * 8 / DATA_W));
      not_longer : assert (beats <= 13'(LONGEST));
    end
  end

endmodule

module axi_write_rules #(
  parameter  int unsigned DATA_W = 128,
  parameter  int unsigned BURSTS = 64,
  localparam int unsigned OPEN_W = $clog2(BURSTS + 3)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                awvalid_i,
  input logic                awready_i,
  input logic [         7:0] awlen_i,
  input logic                wvalid_i,
  input logic                wready_i,
  input logic [  DATA_W-1:0] wdata_i,
  input logic [DATA_W/8-1:0] wstrb_i,
  input logic                wlast_i,
  input logic                bvalid_i,
  input logic                bready_i,
  input logic [         1:0] bid_i,
  input logic                mark_i
);

  logic shown_before_q, shown, ended, followed_q, answered;
  logic [OPEN_W-1:0] data_owed_q, data_owed, ahead_q, taken_q, done_q, owed_q;
  logic [7:0] len_q, beat_q;

  assign shown     = awvalid_i && !shown_before_q;  // a burst's first cycle on AW
  assign ended     = wvalid_i && wready_i && wlast_i;
  assign answered  = bvalid_i && bready_i;
  assign data_owed = data_owed_q + OPEN_W'(shown);

  stream_rules #(
    .WIDTH(DATA_W + DATA_W / 8 + 1)
  ) u_stands (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(wvalid_i),
    .ready_i(wready_i),
    .data_i ({wdata_i, wstrb_i, wlast_i})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      shown_before_q <= 1'b0;
      followed_q     <= 1'b0;
      data_owed_q    <= '0;
      taken_q        <= '0;
      done_q         <= '0;
      owed_q         <= '0;
      beat_q         <= '0;
    end else begin
      shown_before_q <= awvalid_i && !awready_i;
      data_owed_q    <= data_owed - OPEN_W'(ended);
      owed_q         <= owed_q + OPEN_W'(shown) - OPEN_W'(answered);
      // Taken on AW, and ended on W, without response.
      taken_q        <= taken_q + OPEN_W'(awvalid_i && awready_i) - OPEN_W'(answered);
      done_q         <= done_q + OPEN_W'(ended) - OPEN_W'(answered);
      if (wvalid_i && wready_i) beat_q <= wlast_i ? '0 : beat_q + 1'b1;
      if (followed_q) begin
        if (ended) begin
          ahead_q    <= ahead_q - 1'b1;
          followed_q <= ahead_q != '0;
        end
      end else if (shown && mark_i && !(ended && data_owed_q == '0)) begin
        followed_q <= 1'b1;
        ahead_q    <= data_owed_q - OPEN_W'(ended);
        len_q      <= awlen_i;
      end
    end
  end

  always_comb begin
    b_after_aw_and_wlast : assume (!bvalid_i || (taken_q != '0 && done_q != '0));
    b_id : assume (!bvalid_i || bid_i == '0);
    if (rst_ni) begin
      w_behind_aw : assert (!wvalid_i || data_owed != '0);
      last_in_place : assert (!(wvalid_i && followed_q && ahead_q == '0) || wlast_i == (beat_q == len_q));
      // The burst that is just shown may have its first beat in the same cycle.
      last_at_once : assert (!(wvalid_i && shown && data_owed_q == '0) || wlast_i == (beat_q == awlen_i));
      outstanding : assert (owed_q <= OPEN_W'(BURSTS));
      responses_taken : assert (!bvalid_i || bready_i);
    end
  end

endmodule

module axi_read_rules #(
  parameter int unsigned IDS   = 3,
  parameter int unsigned BEATS = 512
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       arvalid_i,
  input logic       arready_i,
  input logic [1:0] arid_i,
  input logic [7:0] arlen_i,
  input logic       rvalid_i,
  input logic       rready_i,
  input logic [1:0] rid_i
);

  localparam int unsigned BEATS_W = $clog2(BEATS + 257);

  logic [3:0][BEATS_W-1:0] owed_q;

  for (genvar i = 0; i < 4; i++) begin : gen_id
    always_ff @(posedge clk_i) begin
      if (!rst_ni) owed_q[i] <= '0;
      else
        owed_q[i] <= owed_q[i] + ((arvalid_i && arready_i && arid_i == 2'(i)) ? BEATS_W'(arlen_i) + 1'b1 : '0) -
                        BEATS_W'(rvalid_i && rready_i && rid_i == 2'(i));
    end
    always_comb begin
      if (rst_ni) room_was_kept : assert (owed_q[i] <= BEATS_W'(BEATS));
    end
  end

  always_comb begin
    only_what_is_owed : assume (!rvalid_i || owed_q[rid_i] != '0);
    if (rst_ni) begin
      known_id : assert (!arvalid_i || 32'(arid_i) < IDS);
      beats_taken : assert (!rvalid_i || rready_i);
    end
  end

endmodule
