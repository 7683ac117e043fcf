// Proves of tx_pack: each frame with payload has one command to the store, in the order of frames, with its length, CRC and fate. A segment is what the
// frames between two ends of segments make: their payload, their sums, the first one's sequence number, the last one's acknowledgment. Frames
// that are apart, dropped, too many or too long never share one. It goes on: what can go, goes within WAIT cycles.

module tx_pack_formal
  import weft_tx_pkg::*;
#(
  parameter int unsigned WAIT = 2
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          frame_valid_i,
  input frame_t        frame_i,
  input logic          sum_valid_i,
  input logic   [31:0] sum_i,
  input logic          crc_valid_i,
  input logic   [31:0] crc_i,
  input logic          fetch_ready_i,
  input logic          segment_ready_i,
  input logic          begun_i
);

  logic frame_ready, sum_ready, crc_ready, fetch_valid, segment_valid, drop;
  fetch_t       fetch;
  frame_t       segment;
  logic   [4:0] fpdus;
  logic [21:0] sum, crcs;

  tx_pack dut (
    .clk_i,
    .rst_ni,
    .frame_valid_i,
    .frame_ready_o  (frame_ready),
    .frame_i,
    .sum_valid_i,
    .sum_ready_o    (sum_ready),
    .sum_i,
    .crc_valid_i,
    .crc_ready_o    (crc_ready),
    .crc_i,
    .fetch_valid_o  (fetch_valid),
    .fetch_ready_i,
    .fetch_o        (fetch),
    .segment_valid_o(segment_valid),
    .segment_ready_i,
    .segment_o      (segment),
    .segment_fpdus_o(fpdus),
    .segment_sum_o  (sum),
    .segment_crcs_o (crcs),
    .begun_i,
    .drop_o         (drop)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- what it should be: the newest frame, and the segment up to it
  logic there_q, summed_q;  // there is one that did not go; its sum and CRC were taken
  frame_t newest_q;
  logic [31:0] crc_q, seq_q;
  logic [14:0] length_q;
  logic [21:0] sum_q, crcs_q;
  logic [4:0] count_q;
  logic [7:0] flags_q;
  logic [3:0] waits_q, ahead_q;
  logic take, fetched, ends, joins;

  assign take    = frame_valid_i && frame_ready;
  assign fetched = fetch_valid && fetch_ready_i;
  assign ends    = (segment_valid && segment_ready_i) || drop;
  assign joins   = fetched && fetch.more;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q  <= 1'b0;
      summed_q <= 1'b0;
      waits_q  <= '0;
      ahead_q  <= '0;
    end else begin
      ahead_q <= ahead_q + 4'(segment_valid && segment_ready_i) - 4'(begun_i);
      if (sum_ready || crc_ready || (there_q && newest_q.length == '0)) begin
        summed_q <= 1'b1;
        if (crc_ready) crc_q <= crc_i;
        if (sum_ready) sum_q <= sum_q + 22'(sum_i[15:0]) + 22'(sum_i[31:16]);
        if (crc_ready) crcs_q <= crcs_q + 22'(crc_i[15:0]) + 22'(crc_i[31:16]);
      end
      if (ends) there_q <= 1'b0;
      if (take) begin
        there_q  <= 1'b1;
        summed_q <= 1'b0;
        newest_q <= frame_i;
        seq_q    <= joins ? seq_q : frame_i.says.seq;
        length_q <= joins ? length_q + 15'(frame_i.length) : 15'(frame_i.length);
        count_q  <= joins ? count_q + 5'd1 : 5'd1;
        flags_q  <= joins ? flags_q | frame_i.says.tcp_flags : frame_i.says.tcp_flags;
        if (!joins) begin
          sum_q  <= '0;
          crcs_q <= '0;
        end
      end
      if (!there_q || ends || joins || !fetch_ready_i || !segment_ready_i || ahead_q > 4'd1 || !sum_valid_i || !crc_valid_i) waits_q <= '0;
      else waits_q <= waits_q + 1'b1;
    end
  end

  always_comb begin
    if (rst_ni) begin
      one_at_a_time : assert (!take || !there_q || ends || joins);
      together : assert (!fetch_valid || fetch_ready_i);
      of_a_frame : assert (!(fetch_valid || segment_valid || drop) || (there_q && summed_q));
      fetched_whole : assert (!(ends && newest_q.length != '0) || fetched);
      no_fetch_of_nothing : assert (!fetch_valid || newest_q.length != '0);
      end_is_end : assert (!fetched || fetch.more == !ends);
      more_follows : assert (!joins || take);
      fetch_right : assert (!fetch_valid || (fetch.length == newest_q.length && fetch.drop == newest_q.drop && fetch.crc == newest_q.crc));
      crc_right : assert (!(fetch_valid && fetch.crc) || fetch.crc_value == crc_q);
      dropped_never_sent : assert (!ends || drop == newest_q.drop);
      apart : assert (!joins || (!frame_i.apart && !newest_q.drop && count_q < 5'd16 && length_q + 15'(frame_i.length) <= 15'(newest_q.pack)));
      length_right : assert (!segment_valid || 15'(segment.length) == length_q);
      count_right : assert (!segment_valid || fpdus == (newest_q.fpdu ? count_q : 5'd0));
      first_right : assert (!segment_valid || segment.says.seq == seq_q);
      last_right :
      assert (!segment_valid || (segment.says.ack == newest_q.says.ack && segment.says.window == newest_q.says.window && segment.says.ts_val ==
                                 newest_q.says.ts_val && segment.says.ts_ecr == newest_q.says.ts_ecr && segment.says.tcp_flags == flags_q));
      sums_right : assert (!segment_valid || (sum == sum_q && crcs == crcs_q));
      goes_on : assert (waits_q <= 4'(WAIT));

      inv_there : assert (there_q == (dut.state_q != 2'd0));
      inv_summed : assert (!there_q || summed_q == (dut.state_q != 2'd1) || newest_q.length == '0);
      inv_crc_of_payload : assert (!there_q || !newest_q.crc || newest_q.length != '0);
      inv_fpdu_has_payload : assert (!there_q || !newest_q.fpdu || newest_q.length != '0);
      inv_one : assert (!there_q || (count_q != '0 && count_q <= 5'd16));
      inv_newest :
      assert (!there_q || (dut.part_q == newest_q.length && dut.crc_there_q == newest_q.crc && dut.frame_q.drop == newest_q.drop && dut.has_payload_q
                           == (newest_q.length != '0)));
      inv_packs : assert (!there_q || dut.packs_q == (newest_q.fpdu && !newest_q.drop && newest_q.pack != '0));
      inv_alone : assert (!there_q || count_q == 5'd1 || dut.packs_q);
      inv_segment :
      assert (!there_q || (15'(dut.frame_q.length) == length_q && dut.frame_q.says.seq == seq_q && dut.frame_q.says.ack == newest_q.says.ack && dut.frame_q
                           .says.window == newest_q.says.window && dut.frame_q.says.ts_val == newest_q.says.ts_val && dut.frame_q.says.ts_ecr ==
                           newest_q.says.ts_ecr && dut.frame_q.says.tcp_flags == flags_q && dut.frame_q.pack == newest_q.pack));
      inv_limit : assert (!there_q || count_q == 5'd1 || length_q <= 15'(newest_q.pack));
      inv_count : assert (!there_q || (dut.fpdus_q == (newest_q.fpdu ? count_q : 5'd0) && dut.full_q == (dut.fpdus_q == 5'd16 && count_q != 5'd1)));
      inv_sums : assert (!there_q || (dut.sum_q == sum_q && dut.crcs_q == crcs_q));
      inv_crc : assert (!there_q || !summed_q || !newest_q.crc || dut.crc_q == crc_q);
      inv_room :
      assert (!there_q || dut.state_q < 2'd2 || 15'(dut.room_q) == (15'(newest_q.pack) > length_q ? 15'(newest_q.pack) - length_q : 15'd0));
      inv_fits :
      assert (!dut.fits_q || dut.state_q < 2'd2 || (frame_valid_i && !frame_i.apart && !dut.full_q && 15'(frame_i.length) <= 15'(dut.room_q)));
      inv_waits : assert (!there_q || waits_q < 4'(dut.state_q));
      inv_none_waits : assert (there_q || waits_q == '0);
      inv_ahead : assert (dut.ahead_q == ahead_q);
    end
  end

  // ---------------------------------------------------------------- around
  logic   stands_q;
  frame_t stood_q;
  always_ff @(posedge clk_i) begin
    stands_q <= rst_ni && frame_valid_i && !frame_ready;
    stood_q  <= frame_i;
  end

  always_comb begin
    // Frames wait unchanged. What may join is an FPDU of the same row, as tx_follow tells.
    waits : assume (!stands_q || (frame_valid_i && frame_i == stood_q));
    may_join :
    assume (!frame_valid_i || frame_i.apart || (frame_i.fpdu && !frame_i.drop && (!there_q || (frame_i.pack == newest_q.pack && newest_q.fpdu && !newest_q.drop))));
    fpdu_has_payload : assume (!frame_valid_i || !frame_i.fpdu || (frame_i.length != '0 && frame_i.length < 14'd9300));
    crc_of_payload : assume (!frame_valid_i || !frame_i.crc || frame_i.length != '0);
    begun_was_ahead : assume (!begun_i || ahead_q != '0);
    few_ahead : assume (!segment_ready_i || ahead_q < 4'd7);
  end

endmodule
