// Proves of dma_read_client: an answer belongs to its request. Requests under way stand in a list here, newest first (number 1), and
// the bursts, the bus beats and the answers are held against it:
//
// bursts   those of each request in turn, from its first bus beat to its last one
// answers  as many beats as the request has bytes for, full but the last one, `last` there; any one byte of the bus (`mark_i`, `lane_i`)
//          comes out at its place of the answer, once, or is outside of what was asked for; an error of its beat is told with the answer
// It goes on: with a request inside, a burst or an answer's beat is offered, or one more request taken, after at most WAIT cycles in which
// bursts and answers are taken and the bus owes nothing.
//
// Queues are fifo_short; so the bus waits while two beats are in the buffer. That the real one has room is proven in dma_read_formal.

module dma_read_client_formal #(
  parameter  int unsigned DATA_W  = 128,
  parameter  int unsigned WAIT    = 4,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned LANE_W  = $clog2(BYTES),
  localparam int unsigned COUNT_W = LANE_W + 1,
  localparam int unsigned BEATS_W = 15 - LANE_W
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              req_valid_i,
  input logic [      63:0] req_addr_i,
  input logic [      15:0] req_bytes_i,
  input logic              burst_ready_i,
  input logic              bus_valid_i,
  input logic [DATA_W-1:0] bus_data_i,
  input logic              bus_error_i,
  input logic              rsp_ready_i,
  input logic              mark_i,
  input logic [LANE_W-1:0] lane_i
);

  logic req_ready, burst_valid, rsp_valid, rsp_last, rsp_error, idle;
  logic [  63:LANE_W] burst_addr;
  logic [        6:0] burst_beats;
  logic [ DATA_W-1:0] rsp_data;
  logic [COUNT_W-1:0] rsp_count;

  dma_read_client #(
    .DATA_W      (DATA_W),
    .BUFFER_BEATS(64),
    .REQUESTS    (32)
  ) dut (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o  (req_ready),
    .req_addr_i,
    .req_bytes_i,
    .burst_valid_o(burst_valid),
    .burst_ready_i,
    .burst_addr_o (burst_addr),
    .burst_beats_o(burst_beats),
    .bus_valid_i,
    .bus_data_i,
    .bus_error_i,
    .rsp_valid_o  (rsp_valid),
    .rsp_ready_i,
    .rsp_data_o   (rsp_data),
    .rsp_count_o  (rsp_count),
    .rsp_last_o   (rsp_last),
    .rsp_error_o  (rsp_error),
    .idle_o       (idle)
  );

  from_reset u_start (
    .clk_i,
    .rst_ni
  );

  // ---------------------------------------------------------------- the list
  localparam int unsigned LIST = 8;
  typedef struct packed {
    logic [63:0] addr;
    logic [15:0] bytes;
  } request_t;
  typedef struct packed {
    logic [3:0]         number;
    logic [BEATS_W-1:0] beat;
  } at_t;
  request_t [LIST-1:0]       list_q;
  logic     [LIST-1:0][14:0] start_q;  // bus beats of all requests in front of it
  logic     [    14:0]       total_q;  // of all requests; of all bursts; of those that have come
  logic [14:0] asked_q, come_q;

  function automatic logic [15:0] span(input request_t request);
    return 16'(request.addr[LANE_W-1:0]) + request.bytes - 16'd1;
  endfunction
  function automatic logic [BEATS_W-1:0] last_bus(input request_t request);
    return BEATS_W'(span(request) >> LANE_W);
  endfunction
  function automatic logic [BEATS_W-1:0] last_out(input request_t request);
    return BEATS_W'((request.bytes - 16'd1) >> LANE_W);
  endfunction
  function automatic at_t behind(input at_t at, input logic is_last);
    return is_last ? '{number: at.number - 4'd1, beat: BEATS_W'(0)} : '{number: at.number, beat: at.beat + BEATS_W'(1)};
  endfunction

  // What is due next: of bursts, of the bus, of the answers (as they go into the last register).
  logic accept, burst_take, take, give, first_out;
  at_t cut_q, in_q, out_q;
  request_t cut_request, in_request, out_request;
  logic [11:0] owed_q;  // beats of the bus
  logic [15:0] out_from;  // bytes of the request in front of this beat of the answer
  assign accept      = req_valid_i && req_ready;
  assign burst_take  = burst_valid && burst_ready_i;
  assign take        = bus_valid_i;
  assign give        = dut.out_valid && dut.out_ready;
  assign cut_request = list_q[cut_q.number[2:0]];
  assign in_request  = list_q[in_q.number[2:0]];
  assign out_request = list_q[out_q.number[2:0]];
  assign out_from    = {1'b0, out_q.beat, LANE_W'(0)};

  always_ff @(posedge clk_i) begin
    if (accept) begin
      for (int unsigned i = 2; i < LIST; i++) list_q[i] <= list_q[i-1];
      for (int unsigned i = 2; i < LIST; i++) start_q[i] <= start_q[i-1];
      list_q[1]  <= '{addr: req_addr_i, bytes: req_bytes_i};
      start_q[1] <= total_q;
    end
    asked_q <= !rst_ni ? '0 : asked_q + (burst_take ? 15'(burst_beats) : '0);
    come_q  <= !rst_ni ? '0 : come_q + 15'(take);
    if (!rst_ni) total_q <= '0;
    else if (accept) total_q <= total_q + 15'(last_bus('{addr: req_addr_i, bytes: req_bytes_i})) + 15'd1;
    if (!rst_ni) begin
      cut_q  <= '0;
      in_q   <= '0;
      out_q  <= '0;
      owed_q <= '0;
    end else begin
      cut_q <= !burst_take ? cut_q : cut_q.beat + BEATS_W'(burst_beats) == last_bus(
          cut_request
      ) + BEATS_W'(1) ?
      '{number: cut_q.number - 4'd1, beat: BEATS_W'(0)}
      :
      '{number: cut_q.number, beat: cut_q.beat + BEATS_W'(burst_beats)};
      in_q <= take ? behind(in_q, in_q.beat == last_bus(in_request)) : in_q;
      out_q <= give ? behind(out_q, out_q.beat == last_out(out_request)) : out_q;
      if (accept) begin
        cut_q.number <= cut_q.number + 4'd1 - 4'(burst_take && cut_q.beat + BEATS_W'(burst_beats) == last_bus(cut_request) + BEATS_W'(1));
        in_q.number  <= in_q.number + 4'd1 - 4'(take && in_q.beat == last_bus(in_request));
        out_q.number <= out_q.number + 4'd1 - 4'(give && out_q.beat == last_out(out_request));
      end
      owed_q <= owed_q + (burst_take ? 12'(burst_beats) : '0) - 12'(take);
    end
  end

  // ---------------------------------------------------------------- a byte
  logic followed_q, error_q, asked, here, passed;
  at_t byte_q;
  logic [LANE_W-1:0] lane_q, byte_lane;
  logic     [7:0] data_q;
  request_t       byte_request;
  logic [15:0] byte_bus, byte_out;
  assign byte_request = list_q[byte_q.number[2:0]];
  assign byte_bus     = {1'b0, byte_q.beat, lane_q};
  assign asked        = byte_bus >= 16'(byte_request.addr[LANE_W-1:0]) && byte_bus <= span(byte_request);
  assign byte_out     = byte_bus - 16'(byte_request.addr[LANE_W-1:0]);
  assign byte_lane    = byte_out[LANE_W-1:0];
  assign here         = followed_q && asked && byte_q.number == out_q.number && byte_out[14:LANE_W] == out_q.beat;
  assign passed       = byte_out[14:LANE_W] < out_q.beat;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      followed_q <= 1'b0;
    end else if (followed_q) begin
      byte_q.number <= byte_q.number + 4'(accept);
      // To the end of its answer.
      if (give && byte_q.number == out_q.number && out_q.beat == last_out(out_request)) followed_q <= 1'b0;
    end else if (take && mark_i) begin
      followed_q    <= 1'b1;
      byte_q        <= in_q;
      byte_q.number <= in_q.number + 4'(accept);
      lane_q        <= lane_i;
      data_q        <= bus_data_i[{lane_i, 3'd0}+:8];
      error_q       <= bus_error_i;
    end
  end

  logic       gives;
  logic [3:0] silent_q;
  assign gives = burst_ready_i && rsp_ready_i && owed_q == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) silent_q <= '0;
    else silent_q <= (out_q.number != '0 && gives && !accept && !burst_valid && !rsp_valid) ? silent_q + 1'b1 : '0;
  end

  always_comb begin
    a_bytes : assume (!req_valid_i || (req_bytes_i != '0 && req_bytes_i <= 16'd16384));
    a_bus : assume (!bus_valid_i || (owed_q != '0 && dut.buf_wr_ready));
    if (rst_ni) begin
      burst_asked :
      assert (!burst_valid || (cut_q.number != '0 && burst_addr == cut_request.addr[63:LANE_W] + (64-LANE_W)'(cut_q.beat) && burst_beats != '0 &&
                           12'(cut_q.beat) + 12'(burst_beats) <= 12'(last_bus(
          cut_request
      )) + 12'd1));
      answer_asked :
      assert (!give || (out_q.number != '0 && dut.out_last == (out_q.beat == last_out(
          out_request
      )) && dut.out_count == (dut.out_last ? COUNT_W'(out_request.bytes - out_from) : COUNT_W'(BYTES))));
      unchanged : assert (!(give && here) || dut.out_data[{byte_lane, 3'd0}+:8] == data_q);
      not_forgotten : assert (!followed_q || (byte_q.number != '0 && byte_q.number <= out_q.number));
      error_told : assert (!(followed_q && error_q && give && byte_q.number == out_q.number && dut.out_last) || dut.out_error);
      goes_on : assert (silent_q <= 4'(WAIT));
    end
  end

  // ---------------------------------------------------------------- where everything is
  localparam int unsigned DESC_W = 2 * LANE_W + BEATS_W + 1;
  function automatic logic [DESC_W-1:0] as_desc(input request_t request);
    return {request.addr[LANE_W-1:0], request.bytes[LANE_W-1:0], last_bus(request), last_bus(request) == last_out(request)};
  endfunction
  typedef struct packed {
    logic              error;
    logic              last;
    logic [LANE_W-1:0] offset;
    logic [LANE_W-1:0] tail;
    logic              flush;
  } tag_t;
  function automatic logic tagged_as(input tag_t tag, input request_t request, input logic [BEATS_W-1:0] beat);
    return tag.last == (beat == last_bus(request)) && tag.offset == request.addr[LANE_W-1:0] && tag.tail == request.bytes[LANE_W-1:0] &&
        tag.flush == (last_bus(request) == last_out(request));
  endfunction
  // The first step of the rotation: whole pieces of 8 bytes.
  function automatic logic [LANE_W-1:0] coarse(input tag_t tag);
    return {tag.offset[LANE_W-1:3], 3'd0};
  endfunction
  function automatic at_t next_bus(input at_t at, input request_t request);
    return behind(at, at.beat == last_bus(request));
  endfunction
  // Bus beats of all requests in front of here.
  function automatic logic [14:0] in_front(input at_t at);
    in_front = at.number == '0 ? total_q : start_q[at.number[2:0]] + 15'(at.beat);
  endfunction

  logic [3:0] queued, waiting;
  logic [1:0][DESC_W-1:0] desc_word;
  at_t at_new, at_pop, at_pop2, at_in;
  tag_t old_tag, new_tag;
  logic old_valid, new_valid, in_old, in_new, in_buf, in_buf2, behind_out;
  logic [1:0] held;
  logic [DATA_W:0] buf_old, buf_new;
  logic [BEATS_W-1:0] cut_pos;  // of list_q[1], while it is cut
  logic [  63:LANE_W] cut_addr;
  assign queued     = 4'(dut.u_desc_fifo.count_q);
  assign waiting    = queued + 4'(dut.u_desc.spare_q) + 4'(dut.u_desc.out_valid_q);
  assign desc_word  = dut.u_desc_fifo.word_q;
  assign old_tag    = dut.gen_realign.old_tag_q;
  assign new_tag    = dut.gen_realign.new_tag_q;
  assign old_valid  = dut.gen_realign.old_valid_q;
  assign new_valid  = dut.gen_realign.new_valid_q;
  assign held       = dut.u_buffer.count_q;
  assign buf_old    = dut.u_buffer.rd_data_o;
  assign buf_new    = dut.u_buffer.word_q[0];
  assign at_new     = old_valid ? next_bus(out_q, out_request) : out_q;
  assign at_pop     = new_valid ? next_bus(at_new, list_q[at_new.number[2:0]]) : at_new;
  assign at_pop2    = next_bus(at_pop, list_q[at_pop.number[2:0]]);
  assign at_in      = held == 2'd0 ? at_pop : held == 2'd1 ? at_pop2 : next_bus(at_pop2, list_q[at_pop2.number[2:0]]);
  assign in_old     = old_valid && byte_q == out_q;
  assign in_new     = new_valid && byte_q == at_new;
  assign in_buf     = held != '0 && byte_q == at_pop;
  assign in_buf2    = held == 2'd2 && byte_q == at_pop2;
  assign behind_out = byte_q.number == out_q.number && byte_q.beat < out_q.beat;
  assign cut_pos    = cut_q.number != 4'd1 ? '0 : cut_q.beat + (dut.have_q ? BEATS_W'(dut.burst_beats_q) : '0);
  assign cut_addr   = list_q[1].addr[63:LANE_W] + (64 - LANE_W)'(cut_pos);

  always_comb begin
    if (rst_ni) begin
      // Requests that are cut.
      inv_number : assert (out_q.number < 4'd8 && in_q.number <= out_q.number && cut_q.number <= in_q.number);
      inv_cut_number : assert (cut_q.number == (dut.have_q ? 4'd1 : 4'(dut.busy_q)) || (cut_q.number == 4'd2 && dut.have_q && dut.busy_q));
      inv_cut_none : assert (cut_q.number != '0 || cut_q.beat == '0);
      inv_cut_beat : assert (cut_q.number == '0 || cut_q.beat <= last_bus(cut_request));
      inv_burst :
      assert (!dut.have_q || (dut.burst_addr_q == cut_request.addr[63:LANE_W] + (64-LANE_W)'(cut_q.beat) && dut.burst_beats_q != '0 && dut.burst_beats_q <= 7'd64 &&
                         (12'(cut_q.beat) + 12'(dut.burst_beats_q) == 12'(last_bus(
          cut_request
      )) + 12'd1 || (dut.busy_q && cut_q.number == 4'd1 && 12'(cut_q.beat) + 12'(dut.burst_beats_q) <= 12'(last_bus(
          cut_request
      ))))));
      inv_burst_ends :
      assert (!(dut.have_q && !(dut.busy_q && cut_q.number == 4'd1)) || 12'(cut_q.beat) + 12'(dut.burst_beats_q) == 12'(last_bus(
          cut_request
      )) + 12'd1);
      inv_burst_goes_on :
      assert (!(dut.have_q && dut.busy_q && cut_q.number == 4'd1) || 12'(cut_q.beat) + 12'(dut.burst_beats_q) <= 12'(last_bus(cut_request)));
      inv_left : assert (!dut.busy_q || (dut.left_q == last_bus(list_q[1]) - cut_pos && cut_pos <= last_bus(list_q[1])));
      inv_addr : assert (!dut.busy_q || {dut.addr_q[63:32] + 32'(dut.page_carry_q), dut.addr_q[31:LANE_W]} == cut_addr);
      inv_carry : assert (!dut.page_carry_q || (dut.have_q && !dut.fits_q));
      inv_fits : assert (!dut.fits_q || dut.have_q);
      inv_minus : assert (!dut.have_q || 7'(dut.burst_minus_q + dut.burst_beats_q) == '0);
      inv_room : assert (12'(dut.room_q) + 12'(dut.freed_q) + 12'(held) + owed_q == 12'd64);
      inv_owed_fits : assert (owed_q <= 12'd64);
      inv_room_fits : assert (!dut.fits_q || 12'(dut.burst_beats_q) <= 12'(dut.room_q));
      inv_freed : assert (dut.freed_q <= 2'd1 || (dut.freed_q == 2'd2 && !dut.fits_q));
      inv_asked : assert (asked_q == in_front(cut_q));
      inv_come : assert (come_q == in_front(in_q));
      inv_owed : assert (asked_q == come_q + 15'(owed_q));
      // Descriptors.
      inv_desc_1 : assert (queued < 4'd1 || desc_word[0] == as_desc(list_q[1]));
      inv_desc_2 : assert (queued < 4'd2 || desc_word[1] == as_desc(list_q[2]));
      inv_desc_spare : assert (!dut.u_desc.spare_q || (dut.u_desc.out_valid_q && dut.u_desc.spare_data_q == as_desc(list_q[3'(queued)+3'd1])));
      inv_desc_out : assert (!dut.u_desc.out_valid_q || dut.u_desc.out_data_q == as_desc(list_q[3'(waiting)]));
      inv_desc_soon : assert (dut.u_desc.out_valid_q || queued <= 4'd1);
      // Beats: those of the answer, the buffer's, those to come.
      inv_none : assert (out_q.number != '0 || (out_q.beat == '0 && !old_valid && !new_valid));
      inv_pop : assert (at_pop == {waiting, dut.beat_q});
      inv_in : assert (at_in == in_q);
      inv_pop_beat : assert (waiting == '0 ? dut.beat_q == '0 && held == '0 : dut.beat_q <= last_bus(list_q[at_pop.number[2:0]]));
      inv_in_beat : assert (in_q.number == '0 ? in_q.beat == '0 : in_q.beat <= last_bus(in_request));
      inv_held : assert (held < 2'd2 || at_pop2.number != '0);
      inv_out_beat : assert (out_q.number == '0 || out_q.beat <= last_out(out_request));
      inv_old :
      assert (!old_valid || (tagged_as(old_tag, out_request, out_q.beat) && dut.gen_realign.need_new_q == (!old_tag.last && old_tag.offset != '0)));
      inv_new : assert (!new_valid || (at_new.number != '0 && tagged_as(new_tag, list_q[at_new.number[2:0]], at_new.beat)));
      // The byte, and errors.
      inv_byte : assert (!followed_q || (byte_q.beat <= last_bus(byte_request) && (behind_out || in_old || in_new || in_buf || in_buf2)));
      inv_byte_old : assert (!(followed_q && in_old) || dut.gen_realign.old_q[{lane_q-coarse(old_tag), 3'd0}+:8] == data_q);
      inv_byte_new : assert (!(followed_q && in_new) || dut.gen_realign.new_q[{lane_q-coarse(new_tag), 3'd0}+:8] == data_q);
      inv_byte_buf : assert (!(followed_q && in_buf) || (buf_old[{1'b0, lane_q, 3'd0}+:8] == data_q && buf_old[DATA_W] == error_q));
      inv_byte_buf2 : assert (!(followed_q && in_buf2) || (buf_new[{1'b0, lane_q, 3'd0}+:8] == data_q && buf_new[DATA_W] == error_q));
      inv_error_old : assert (!(followed_q && error_q && old_valid && byte_q.number == out_q.number && byte_q.beat <= out_q.beat) || old_tag.error);
      inv_error_new : assert (!(followed_q && error_q && new_valid && byte_q.number == at_new.number && byte_q.beat <= at_new.beat) || new_tag.error);
      inv_error_past : assert (!(followed_q && error_q && byte_q.number == at_pop.number && byte_q.beat < at_pop.beat) || new_tag.error);
      // It goes on.
      inv_soon_1 : assert (silent_q < 4'd1 || ((dut.have_q || !dut.busy_q) && (held <= 2'd1 || dut.out_valid || rsp_valid || burst_valid)));
      inv_soon_2 : assert (silent_q < 4'd2 || held == '0 || dut.out_valid || rsp_valid || burst_valid);
      inv_soon_3 : assert (silent_q < 4'd3 || (held == '0 && dut.freed_q == '0 && !new_valid) || dut.out_valid || rsp_valid || burst_valid);
      inv_soon_4 : assert (silent_q < 4'd4 || rsp_valid || burst_valid);
    end
  end

  for (genvar i = 1; i < int'(LIST); i++) begin : gen_each_1
    always_comb begin
      if (rst_ni) begin
        inv_bytes : assert (4'(i) > out_q.number || (list_q[i].bytes != '0 && list_q[i].bytes <= 16'd16384));
        inv_start : assert (4'(i) > out_q.number || start_q[i] + 15'(last_bus(list_q[i])) + 15'd1 == (i == 1 ? total_q : start_q[i-1]));
        inv_all : assert (4'(i) > out_q.number || total_q - start_q[i] <= 15'(i << BEATS_W));
      end
    end
  end
  for (genvar i = 0; i < int'(BYTES); i++) begin : gen_each_2
    always_comb begin
      if (rst_ni) begin
        inv_from_old :
        assert (!old_valid || dut.gen_realign.from_old_q[i] == (!dut.gen_realign.need_new_q ||
                              LANE_W'(i) - LANE_W'(old_tag.offset[2:0]) < LANE_W'(0) - old_tag.offset));
      end
    end
  end

endmodule
