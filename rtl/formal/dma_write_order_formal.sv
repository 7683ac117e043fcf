// Proves of dma_write: what is written is what was commanded. The commands under way stand in a list here, as their clients gave
// them, and what enters the registers of AW and W is held against the list:
//
// AW  the bursts of each command in turn, from its first bus beat to its last one, cut at 4 KiB and nowhere else
// W   the bus beats of each command in turn; strobes at the bytes of [address, address + length) and nowhere else; WLAST where the
//     same cut is. Any one byte of a client is followed (`mark_i`, `lane_i`): it is written once, at its own address.
// W is not shown before its burst's AW is (axi_write_rules), for ever.
// It goes on: with a command inside something moves (a command or a beat is taken, on AW, W or B) after at most WAIT cycles in which AW and
// W are taken, the slave owes no answer and the client has its beat there. As a command has so many beats and bursts and no more, it ends.
// With nothing inside a command is taken in the third cycle at the latest (in the first one, but for client 2); of clients 0 and 1 neither is passed twice.
//
// The list has the newest command first, as the queues have (fifo_short). How many are not through with AW, and with W: from_aw, from_w.

module dma_write_order_formal #(
  parameter  int unsigned DATA_W      = 128,
  parameter  int unsigned OUTSTANDING = 64,
  parameter  int unsigned WAIT        = 2,
  localparam int unsigned BYTES       = DATA_W / 8,
  localparam int unsigned LANE_W      = $clog2(BYTES),
  localparam int unsigned COUNT_W     = LANE_W + 1
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic [       2:0]             cmd_valid_i,
  input logic [       2:0][      63:0] cmd_addr_i,
  input logic [       2:0][      15:0] cmd_bytes_i,
  input logic [       2:0]             wr_valid_i,
  input logic [       2:0][DATA_W-1:0] wr_data_i,
  input logic                          m_axi_awready,
  input logic                          m_axi_wready,
  input logic [       1:0]             m_axi_bid,
  input logic [       1:0]             m_axi_bresp,
  input logic                          m_axi_bvalid,
  input logic                          mark_i,
  input logic [LANE_W-1:0]             lane_i
);

  logic [2:0] cmd_ready, wr_ready, written, failed, wr_last;
  logic [2:0][COUNT_W-1:0] wr_count;
  logic [1:0] awid, awburst;
  logic [63:0] awaddr;
  logic [ 7:0] awlen;
  logic [ 2:0] awsize;
  logic awvalid, wlast, wvalid, bready, request, error, idle;
  logic [DATA_W-1:0] wdata;
  logic [ BYTES-1:0] wstrb;

  // Clients hand over what they commanded: the count of the beats follows from the list, below.
  axi4_if #(.DATA_W(DATA_W)) m_axi ();

  assign awid          = m_axi.awid;
  assign awaddr        = m_axi.awaddr;
  assign awlen         = m_axi.awlen;
  assign awsize        = m_axi.awsize;
  assign awburst       = m_axi.awburst;
  assign awvalid       = m_axi.awvalid;
  assign m_axi.awready = m_axi_awready;
  assign wdata         = m_axi.wdata;
  assign wstrb         = m_axi.wstrb;
  assign wlast         = m_axi.wlast;
  assign wvalid        = m_axi.wvalid;
  assign m_axi.wready  = m_axi_wready;
  assign m_axi.bid     = m_axi_bid;
  assign m_axi.bresp   = m_axi_bresp;
  assign m_axi.bvalid  = m_axi_bvalid;
  assign bready        = m_axi.bready;

  dma_write #(
    .DATA_W     (DATA_W),
    .OUTSTANDING(OUTSTANDING)
  ) dut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .cmd_addr_i,
    .cmd_bytes_i,
    .wr_valid_i,
    .wr_ready_o (wr_ready),
    .wr_data_i,
    .wr_count_i (wr_count),
    .wr_last_i  (wr_last),
    .written_o  (written),
    .failed_o   (failed),
    .m_axi,
    .request_o  (request),
    .error_o    (error),
    .idle_o     (idle)
  );

  axi_write_rules #(
    .DATA_W(DATA_W),
    .BURSTS(OUTSTANDING + 2)
  ) u_w (
    .clk_i,
    .rst_ni,
    .awvalid_i(awvalid),
    .awready_i(m_axi_awready),
    .awlen_i  (awlen),
    .wvalid_i (wvalid),
    .wready_i (m_axi_wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .wlast_i  (wlast),
    .bvalid_i (m_axi_bvalid),
    .bready_i (bready),
    .bid_i    (m_axi_bid),
    .mark_i   (1'b0)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  for (genvar c = 0; c < 3; c++) begin : gen_client
    logic offered_q;
    always_ff @(posedge clk_i) offered_q <= rst_ni && cmd_valid_i[c] && !cmd_ready[c];
    always_comb begin
      stands : assume (!offered_q || cmd_valid_i[c]);
      bytes : assume (!cmd_valid_i[c] || (cmd_bytes_i[c] != '0 && cmd_bytes_i[c] <= 16'd16384));
    end
  end

  // ---------------------------------------------------------------- the list
  localparam int unsigned BEATS_W = 15 - LANE_W;
  localparam int unsigned BURST_W = 2 + 64 - LANE_W + BEATS_W;
  localparam int unsigned GIVEN_W = 2 + 12 + LANE_W + BEATS_W + 2;
  localparam int unsigned LIST = 8;  // 0 is nobody: the newest command is number 1

  typedef struct packed {
    logic [1:0]  client;
    logic [63:0] addr;
    logic [15:0] bytes;
  } command_t;

  command_t [LIST-1:0] list_q;
  logic [3:0] from_aw_q, from_w_q;
  logic [BEATS_W-1:0] aw_pos_q, w_pos_q;  // bus beats of the oldest that are done
  command_t aw_cmd, w_cmd, in_cmd;
  logic     accept;
  command_t accepted;

  assign accept = (cmd_valid_i & cmd_ready) != '0;
  assign accepted = (cmd_valid_i[0] && cmd_ready[0]) ?
      '{client: 2'd0, addr: cmd_addr_i[0], bytes: cmd_bytes_i[0]}
      : (cmd_valid_i[1] && cmd_ready[1]) ?
      '{client: 2'd1, addr: cmd_addr_i[1], bytes: cmd_bytes_i[1]} :
      '{client: 2'd2, addr: cmd_addr_i[2], bytes: cmd_bytes_i[2]};

  // Bytes from the first bus beat on, of which the first ones are not the command's; less one.
  function automatic logic [15:0] span(input command_t cmd);
    return 16'(cmd.addr[LANE_W-1:0]) + cmd.bytes - 16'd1;
  endfunction
  function automatic logic [BEATS_W-1:0] last_beat(input command_t cmd);  // on the bus
    return BEATS_W'(span(cmd) >> LANE_W);
  endfunction
  function automatic logic [BEATS_W-1:0] last_given(input command_t cmd);  // of the client
    return BEATS_W'((cmd.bytes - 16'd1) >> LANE_W);
  endfunction
  function automatic logic [BYTES-1:0] lanes(input command_t cmd, input logic [BEATS_W-1:0] beat);
    logic [15:0] at;
    for (int unsigned i = 0; i < BYTES; i++) begin
      at       = {1'b0, beat, LANE_W'(i)};
      lanes[i] = at >= 16'(cmd.addr[LANE_W-1:0]) && at <= span(cmd);
    end
  endfunction
  function automatic logic ends_burst(input command_t cmd, input logic [BEATS_W-1:0] beat);
    return beat == last_beat(cmd) || (12'(cmd.addr[11:LANE_W]) + 12'(beat) + 12'd1) % 12'(4096 / BYTES) == '0;
  endfunction

  assign aw_cmd = list_q[from_aw_q[2:0]];
  assign w_cmd  = list_q[from_w_q[2:0]];

  // ---------------------------------------------------------------- AW
  logic [BEATS_W-1:0] burst_last;  // of the burst that is due
  logic [  63:LANE_W] burst_addr;
  logic aw_done, w_done;
  assign burst_addr = aw_cmd.addr[63:LANE_W] + (64 - LANE_W)'(aw_pos_q);
  assign burst_last = aw_pos_q + BEATS_W'(dut.burst_beats);
  assign aw_done    = dut.aw_load && burst_last == last_beat(aw_cmd);

  // ---------------------------------------------------------------- W
  assign w_done     = dut.u_data.out_load && w_pos_q == last_beat(w_cmd);

  // ---------------------------------------------------------------- a byte
  logic [        3:0] in_number;  // the command whose data are taken
  logic [BEATS_W-1:0] in_pos_q;  // of its beats
  logic take, in_done;
  logic followed_q, here;
  logic [ 3:0] byte_cmd_q;
  logic [14:0] byte_at_q;  // number of the byte in the command
  logic [ 7:0] byte_q;
  logic [15:0] byte_bus;  // and from the first bus beat on
  assign in_number = 4'(dut.u_data_fifo.count_q);
  assign in_cmd    = list_q[in_number[2:0]];
  assign take      = (wr_valid_i & wr_ready) != '0;
  assign in_done   = take && in_pos_q == last_given(in_cmd);
  assign byte_bus  = 16'(list_q[byte_cmd_q[2:0]].addr[LANE_W-1:0]) + 16'(byte_at_q);
  assign here      = followed_q && byte_cmd_q == from_w_q && byte_bus[15:LANE_W] == (16 - LANE_W)'(w_pos_q);

  for (genvar c = 0; c < 3; c++) begin : gen_given
    assign wr_last[c]  = in_pos_q == last_given(in_cmd);
    assign wr_count[c] = wr_last[c] ? COUNT_W'(in_cmd.bytes - {1'b0, in_pos_q, LANE_W'(0)}) : COUNT_W'(BYTES);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      from_aw_q  <= '0;
      from_w_q   <= '0;
      aw_pos_q   <= '0;
      w_pos_q    <= '0;
      in_pos_q   <= '0;
      followed_q <= 1'b0;
    end else begin
      from_aw_q <= from_aw_q + 4'(accept) - 4'(aw_done);
      from_w_q  <= from_w_q + 4'(accept) - 4'(w_done);
      if (dut.aw_load) aw_pos_q <= aw_done ? '0 : burst_last + BEATS_W'(1);
      if (dut.u_data.out_load) w_pos_q <= w_done ? '0 : w_pos_q + BEATS_W'(1);
      if (take) in_pos_q <= in_done ? '0 : in_pos_q + BEATS_W'(1);
      if (followed_q) begin
        byte_cmd_q <= byte_cmd_q + 4'(accept);
        if (here && dut.u_data.out_load) followed_q <= 1'b0;
      end else if (take && mark_i && {1'b0, in_pos_q, lane_i} < in_cmd.bytes) begin
        followed_q <= 1'b1;
        byte_cmd_q <= in_number + 4'(accept);
        byte_at_q  <= {in_pos_q, lane_i};
        byte_q     <= wr_data_i[in_cmd.client][{lane_i, 3'd0}+:8];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (accept) begin
      for (int unsigned i = 2; i < LIST; i++) list_q[i] <= list_q[i-1];
      list_q[1] <= accepted;
    end
  end

  always_comb begin
    if (rst_ni) begin
      aw_commanded : assert (!dut.aw_load || (from_aw_q != '0 && dut.burst_addr == burst_addr));
      aw_cut : assert (!dut.aw_load || (ends_burst(aw_cmd, burst_last) && burst_last <= last_beat(aw_cmd)));
      aw_not_before : assert (!dut.aw_load || dut.burst_beats == '0 || !ends_burst(aw_cmd, aw_pos_q));
      aw_told : assert (!dut.aw_load || (dut.burst_final == aw_done && dut.burst.client == aw_cmd.client));
      data_of_its_client : assert (!take || (in_number != '0 && wr_ready == 3'd1 << in_cmd.client));
      w_commanded : assert (!dut.u_data.out_load || (from_w_q != '0 && dut.u_data.strobe == lanes(w_cmd, w_pos_q)));
      w_has_bytes : assert (!dut.u_data.out_load || dut.u_data.strobe != '0);
      w_last : assert (!dut.u_data.out_load || dut.u_data.w_last == ends_burst(w_cmd, w_pos_q));
      byte_written :
      assert (!(dut.u_data.out_load && here) || (dut.u_data.strobe[byte_bus[LANE_W-1:0]] && dut.u_data.merged[{byte_bus[LANE_W-1:0], 3'd0}+:8] == byte_q));
      byte_not_forgotten :
      assert (!followed_q || (byte_cmd_q <= from_w_q && (byte_cmd_q != from_w_q || byte_bus[15:LANE_W] >= (16 - LANE_W)'(w_pos_q))));
    end
  end

  // ---------------------------------------------------------------- it goes on
  logic busy, fair, moved;
  logic [1:0] waited_q;
  logic [1:0] high, passed_q;  // clients 0 and 1: accepted; the other one was while this one was offered
  logic [3:0] stuck_q;
  assign busy  = from_aw_q != '0 || from_w_q != '0 || u_w.owed_q != '0 || awvalid || wvalid;
  assign fair  = m_axi_awready && m_axi_wready && !(u_w.taken_q != '0 && u_w.done_q != '0) && (!dut.data_valid || wr_valid_i[dut.data.client]);
  assign moved = accept || take || (awvalid && m_axi_awready) || (wvalid && m_axi_wready) || m_axi_bvalid;
  assign high  = cmd_valid_i[1:0] & cmd_ready[1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stuck_q  <= '0;
      passed_q <= '0;
      waited_q <= '0;
    end else begin
      waited_q <= !busy && cmd_valid_i != '0 && !accept ? waited_q + 1'b1 : '0;
      if (!busy || moved) stuck_q <= '0;
      else if (fair) stuck_q <= stuck_q + 1'b1;
      for (int unsigned c = 0; c < 2; c++) begin
        if (!cmd_valid_i[c] || high[c]) passed_q[c] <= 1'b0;
        else if (high != '0) passed_q[c] <= 1'b1;
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      goes_on : assert (stuck_q <= 4'(WAIT));
      taken_soon : assert (busy || cmd_valid_i == '0 || accept || waited_q < 2'd2);
      high_at_once : assert (busy || cmd_valid_i[1:0] == '0 || accept || dut.low_turn_q);
      one_at_a_time : assert ((cmd_valid_i & cmd_ready & ((cmd_valid_i & cmd_ready) - 3'd1)) == '0);
      in_turn : assert ((passed_q & cmd_valid_i[1:0] & ~high) == '0 || high == '0);
      inv_split_out : assert (!dut.split_q || dut.u_burst.out_valid_q);
      inv_stuck_1 : assert (stuck_q < 4'd1 || dut.u_burst_fifo.count_q == '0 || dut.u_burst.out_valid_q);
      inv_stuck_2 : assert (stuck_q < 4'd2 || awvalid || wvalid);
      inv_passed : assert ((!passed_q[0] || dut.passed_q) && (!passed_q[1] || !dut.passed_q));
      inv_low_turn : assert (!dut.low_turn_q || dut.low_may);
      inv_high : assert (dut.high_q == 4'(in_number >= 4'd1 && list_q[1].client != 2'd2) + 4'(in_number >= 4'd2 && list_q[2].client != 2'd2));
      inv_high_none : assert (dut.high_none_q == (dut.high_q == '0));
      inv_low : assert (4'(dut.low_q) == in_number - dut.high_q);
    end
  end

  // ---------------------------------------------------------------- where everything is
  // AW: the queue, then the slice; the oldest one partly issued.
  logic [3:0] queued, waiting;  // commands in the queue; and with those in the slice
  logic [1:0][BURST_W-1:0] queue_word;
  assign queued     = 4'(dut.u_burst_fifo.count_q);
  assign waiting    = queued + 4'(dut.u_burst.spare_q) + 4'(dut.u_burst.out_valid_q);
  assign queue_word = dut.u_burst_fifo.word_q;

  function automatic logic [BURST_W-1:0] as_burst(input command_t cmd);
    return {cmd.client, cmd.addr[63:LANE_W], last_beat(cmd)};
  endfunction
  function automatic logic in_page(input command_t cmd);
    return last_beat(cmd) <= BEATS_W'((12 - LANE_W)'(~cmd.addr[11:LANE_W]));
  endfunction
  function automatic logic [GIVEN_W-1:0] as_data(input command_t cmd);
    return {
      cmd.client,
      cmd.addr[LANE_W-1:0],
      cmd.addr[11:LANE_W],
      LANE_W'(span(cmd)) + 1'b1,
      last_given(cmd),
      last_given(cmd) == '0,
      last_beat(cmd) != last_given(cmd)
    };
  endfunction

  logic [LIST-1:0] sizes;
  for (genvar i = 0; i < LIST; i++) begin : gen_size
    assign sizes[i] = i == 0 || list_q[i].bytes - 16'd1 < 16'd16384;
  end

  logic [64-LANE_W-1:0] first_addr;
  assign first_addr = aw_cmd.addr[63:LANE_W];
  always_comb begin
    if (rst_ni) begin
      inv_sizes : assert (&(sizes | ~(LIST'(2) << (from_w_q > from_aw_q ? from_w_q : from_aw_q)) + 1'b1) || (from_w_q > 4'd7));
      inv_from_aw : assert (from_aw_q == waiting);
      inv_aw_queue_1 : assert (queued < 4'd1 || queue_word[0] == as_burst(list_q[1]));
      inv_aw_queue_2 : assert (queued < 4'd2 || queue_word[1] == as_burst(list_q[2]));
      inv_aw_spare :
      assert (!dut.u_burst.spare_q || dut.u_burst.spare_data_q == {as_burst(list_q[3'(queued)+3'd1]), in_page(list_q[3'(queued)+3'd1])});
      inv_aw_out : assert (!dut.u_burst.out_valid_q || dut.u_burst.out_data_q == {as_burst(list_q[3'(waiting)]), in_page(list_q[3'(waiting)])});
      inv_aw_split : assert (dut.split_q == (aw_pos_q != '0) && (!dut.split_q || waiting != '0));
      inv_aw_page :
      assert (!dut.split_q || ({dut.next_page_q, (12 - LANE_W)'(0)} == first_addr + (64 - LANE_W)'(aw_pos_q) && dut.left_q == last_beat(
          aw_cmd
      ) - aw_pos_q && aw_pos_q <= last_beat(
          aw_cmd
      )));
    end
  end

  // W: the queue of commands whose data come, then rotated beats, then the carry. `at` goes from what is due on the bus through the
  // rotated beats, and has to end with what is due from the client.
  typedef struct packed {
    logic [3:0]         number;
    logic [BEATS_W-1:0] beat;
  } at_t;
  typedef struct packed {
    logic [11-LANE_W:0] page_beat;
    logic [BYTES-1:0]   from_offset;
    logic [BYTES-1:0]   below_end;
    logic               extra;
    logic               first;
    logic               last;
  } tag_t;

  function automatic tag_t as_tag(input command_t cmd, input logic [BEATS_W-1:0] beat);
    logic [LANE_W-1:0] last_lane;
    last_lane = LANE_W'(span(cmd));
    for (int unsigned i = 0; i < BYTES; i++) begin
      as_tag.from_offset[i] = LANE_W'(i) >= cmd.addr[LANE_W-1:0];
      as_tag.below_end[i]   = LANE_W'(i) <= last_lane;
    end
    as_tag.page_beat = cmd.addr[11:LANE_W];
    as_tag.extra     = last_beat(cmd) != last_given(cmd);
    as_tag.first     = beat == '0;
    as_tag.last      = beat == last_given(cmd);
  endfunction
  function automatic at_t behind(input at_t at, input logic is_last);
    return is_last ? '{number: at.number - 4'd1, beat: BEATS_W'(0)} : '{number: at.number, beat: at.beat + BEATS_W'(1)};
  endfunction

  at_t at_due, at_old, at_new, at_end;
  logic [1:0] rotated;
  logic [DATA_W-1:0] old_data, new_data;
  tag_t old_tag, new_tag;
  logic byte_in_old, byte_in_new, byte_carried;
  logic     [LANE_W-1:0] byte_lane;
  command_t              byte_cmd;
  assign rotated = dut.u_data.u_rotated.count_q;
  assign {old_tag, old_data} = dut.u_data.u_rotated.rd_data_o;
  assign {new_tag, new_data} = dut.u_data.u_rotated.word_q[0];
  assign at_due = '{number: from_w_q, beat: w_pos_q};
  assign at_old = dut.u_data.extra_q ? '{number: from_w_q - 4'd1, beat: BEATS_W'(0)} : at_due;
  assign at_new = behind(at_old, at_old.beat == last_given(list_q[at_old.number[2:0]]));
  assign at_end = rotated == 2'd0 ? at_old : rotated == 2'd1 ? at_new : behind(at_new, at_new.beat == last_given(list_q[at_new.number[2:0]]));
  assign byte_lane = byte_bus[LANE_W-1:0];
  assign byte_cmd = list_q[byte_cmd_q[2:0]];
  assign byte_in_old = rotated != '0 && byte_cmd_q == at_old.number && byte_at_q[14:LANE_W] == at_old.beat;
  assign byte_in_new = rotated == 2'd2 && byte_cmd_q == at_new.number && byte_at_q[14:LANE_W] == at_new.beat;
  assign byte_carried = byte_cmd_q == from_w_q && byte_at_q[14:LANE_W] + BEATS_W'(1) == w_pos_q && byte_bus[15:LANE_W] == (16 - LANE_W)'(w_pos_q);

  always_comb begin
    if (rst_ni) begin
      inv_list : assert (from_w_q < 4'd8 && from_aw_q < 4'd8);
      inv_data_queue_1 : assert (dut.u_data_fifo.count_q < 2'd1 || dut.u_data_fifo.word_q[0] == as_data(list_q[1]));
      inv_data_queue_2 : assert (dut.u_data_fifo.count_q < 2'd2 || dut.u_data_fifo.word_q[1] == as_data(list_q[2]));
      inv_in_first : assert (dut.u_data.in_first_q == (in_pos_q == '0) && (dut.u_data.in_first_q || in_number != '0));
      inv_in_left :
      assert (dut.u_data.in_first_q || (dut.u_data.in_left_q == last_given(
          in_cmd
      ) - in_pos_q && in_pos_q <= last_given(
          in_cmd
      ) && dut.u_data.in_last_q == (in_pos_q == last_given(
          in_cmd
      ))));
      inv_chain : assert (at_end == {in_number, in_pos_q});
      inv_in_list : assert (in_number <= from_w_q && (!dut.u_data.extra_q || from_w_q != '0));
      inv_old :
      assert (rotated < 2'd1 || (at_old.number != '0 && at_old.number <= from_w_q && old_tag == as_tag(list_q[at_old.number[2:0]], at_old.beat)));
      inv_new :
      assert (rotated < 2'd2 || (at_new.number != '0 && at_new.number <= from_w_q && new_tag == as_tag(list_q[at_new.number[2:0]], at_new.beat)));
      inv_extra :
      assert (!dut.u_data.extra_q || (w_pos_q == last_beat(
          w_cmd
      ) && last_beat(
          w_cmd
      ) != last_given(
          w_cmd
      ) && dut.u_data.below_end_q == as_tag(
          w_cmd, '0
      ).below_end));
      inv_not_extra : assert (dut.u_data.extra_q || from_w_q == '0 || w_pos_q <= last_given(w_cmd));
      inv_none : assert (from_w_q != '0 || w_pos_q == '0);
      inv_page_beat :
      assert (w_pos_q == '0 || (dut.u_data.page_beat_q == (12-LANE_W)'(12'(w_cmd.addr[11:LANE_W]) + 12'(w_pos_q)) &&
                                               dut.u_data.page_start_q == (dut.u_data.page_beat_q == '0)));
      inv_byte_size : assert (!followed_q || (byte_cmd_q != '0 && 16'(byte_at_q) < byte_cmd.bytes));
      inv_byte : assert (!followed_q || byte_in_old || byte_in_new || byte_carried);
      inv_byte_old : assert (!(followed_q && byte_in_old) || old_data[{byte_lane, 3'd0}+:8] == byte_q);
      inv_byte_new : assert (!(followed_q && byte_in_new) || new_data[{byte_lane, 3'd0}+:8] == byte_q);
      inv_byte_carried : assert (!(followed_q && byte_carried) || dut.u_data.carry_q[{byte_lane, 3'd0}+:8] == byte_q);
    end
  end

  // Bursts that AW's register has taken and whose W has not begun: numbered through all commands, as far as AW and W are.
  localparam int unsigned NUMBER_W = 8;
  logic [LIST-1:0][NUMBER_W-1:0] start_q;  // bursts of all commands in front of it
  logic [NUMBER_W-1:0] total_q, from_now, aw_number, w_number;
  function automatic logic [NUMBER_W-1:0] begun(input command_t cmd, input logic [BEATS_W:0] beats);
    return beats == '0 ? '0 : NUMBER_W'((13'(cmd.addr[11:LANE_W]) + 13'(beats) - 13'd1) >> (12 - LANE_W)) + 1'b1;
  endfunction
  function automatic logic [NUMBER_W-1:0] bursts(input command_t cmd);
    return begun(cmd, (BEATS_W + 1)'(last_beat(cmd)) + 1'b1);
  endfunction
  assign aw_number = from_aw_q == '0 ? total_q : start_q[from_aw_q[2:0]] + begun(aw_cmd, (BEATS_W + 1)'(aw_pos_q));
  assign w_number  = from_w_q == '0 ? total_q : start_q[from_w_q[2:0]] + begun(w_cmd, (BEATS_W + 1)'(w_pos_q));
  assign from_now  = total_q + bursts(accepted);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) total_q <= '0;
    else if (accept) total_q <= from_now;
    if (accept) begin
      for (int unsigned i = 2; i < LIST; i++) start_q[i] <= start_q[i-1];
      start_q[1] <= total_q;
    end
  end
  for (genvar i = 1; i < int'(LIST); i++) begin : gen_start
    always_comb begin
      if (rst_ni) inv_start : assert (4'(i) > from_w_q || start_q[i] + bursts(list_q[i]) == (i == 1 ? total_q : start_q[i-1]));
    end
  end
  always_comb begin
    if (rst_ni) begin
      inv_number : assert (NUMBER_W'(dut.u_data.given_q) == aw_number - w_number);
      inv_taken : assert (8'(u_w.owed_q) == 8'(u_w.taken_q) + 8'(u_w.shown_before_q) && (!u_w.shown_before_q || awvalid));
      inv_aw_ahead : assert (from_aw_q <= from_w_q);
    end
  end

  // Bursts on AW whose WLAST has not passed: not begun, begun before the register of W, ended inside of it.
  logic       mid;
  logic [1:0] ends_in_w;
  logic spare_last, out_last;
  assign mid        = from_w_q != '0 && w_pos_q != '0 && !dut.u_data.page_start_q;
  assign spare_last = dut.u_data.u_w.spare_q && dut.u_data.u_w.spare_data_q[BYTES+DATA_W];
  assign out_last   = dut.u_data.u_w.out_valid_q && dut.u_data.u_w.out_data_q[BYTES+DATA_W];
  assign ends_in_w  = 2'(spare_last) + 2'(out_last);
  // Bursts that were shown and have no answer; those with their place in the queue of answers.
  logic [7:0] unanswered, tracked;
  assign unanswered = 8'(u_w.owed_q) + 8'(u_w.shown);
  assign tracked    = 8'(dut.u_track_fifo.count_q) + 8'(dut.u_track.spare_q) + 8'(dut.u_track.out_valid_q);
  always_comb begin
    if (rst_ni) begin
      inv_given :
      assert (dut.u_data.some_given_q == (dut.u_data.given_q != '0) && dut.u_data.more_given_q == (dut.u_data.given_q > 1) && (!dut.u_aw.spare_q || dut.u_data.some_given_q));
      inv_owed : assert (8'(u_w.data_owed) + 8'(dut.u_aw.spare_q) == 8'(dut.u_data.given_q) + 8'(mid) + 8'(ends_in_w));
      inv_tracked : assert (unanswered + 8'(dut.u_aw.spare_q) == tracked);
      inv_answers : assert (unanswered == 8'(u_w.data_owed) + 8'(u_w.done_q));
      inv_track_new :
      assert (dut.u_track_fifo.count_q == '0 || dut.u_track.out_valid_q || (dut.u_track_fifo.count_q == 2'd1 && (u_w.shown || dut.u_aw.spare_q)));
      inv_spare_ends : assert (!dut.u_data.u_w.spare_q || spare_last || mid);
      inv_out_ends : assert (!dut.u_data.u_w.out_valid_q || out_last || (dut.u_data.u_w.spare_q || mid));
    end
  end

endmodule
