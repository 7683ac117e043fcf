// The packet store: a ring of beats in memory, and a queue of the frames in it.
//
// Handshake: Beats are always taken. A frame becomes visible with its last beat and a good verdict; otherwise its beats are rolled back. `packet_*`
//            is ready/valid. `rd_grant_o[k]` answers `rd_req_i[k]` in the same cycle, and the beat follows in the next one. Frames are freed in
//            order: `free_stop_i` is the `stop` of the frame.
// Pipeline:  stage     | registers      | what happens                                    | hazards
//            beat      | memory, wr_q   | written                                         | full_q: freed space is seen a cycle late
//            last beat | u_queue, u_tcp | kept or rolled back                             | ring or queue full: the frame is dropped
//            replay    | u_queue, u_tcp | takes a place in the queue                      | not in the cycle of a last beat
//            read      | RAM output     | even and odd positions are in separate memories | both in one bank: one waits a cycle
//            count     | drop_q         | counters and trace, a cycle later
// Why:       Both readers go from beat to beat. So they meet in a bank once, one waits a cycle, and from then on each reads a beat a cycle.

`include "weft_assert.svh"

module rx_store
  import rx_front_pkg::*;
  import weft_card_pkg::*;
  import weft_int_pkg::NO_FLOW;
  import weft_int_pkg::trace_event_t;
#(
  parameter int unsigned DATA_W      = 512,
  parameter int unsigned STORE_BYTES = 65536,
  parameter int unsigned MAX_FRAMES  = 128
) (
  input logic clk_i,
  input logic rst_ni,

  input logic                     beat_valid_i,
  input logic                     beat_last_i,
  input logic        [DATA_W-1:0] beat_data_i,
  input rx_drop_e                 drop_i,
  input logic        [      15:0] frame_len_i,
  input rx_segment_t              segment_i,
  input logic        [      23:0] clock_i,       // in units of 8 cycles

  input  logic        replay_valid_i,  // a replay: it has a place among the frames, and no beats
  output logic        replay_ready_o,
  input  rx_segment_t replay_i,

  output logic       packet_valid_o,
  input  logic       packet_ready_i,
  output rx_packet_t packet_o,

  input  logic [1:0]             rd_req_i,
  input  logic [1:0][      15:0] rd_pos_i,
  output logic [1:0]             rd_grant_o,
  output logic [1:0][DATA_W-1:0] rd_data_o,

  input logic        free_valid_i,
  input logic [15:0] free_stop_i,

  output logic                                  idle_o,
  output trace_event_t                          trace_o,   // a frame was stored, or dropped
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);

  localparam int unsigned DEPTH = STORE_BYTES / (DATA_W / 8);
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam int unsigned POS_W = ADDR_W + 1;

  logic [POS_W-1:0] wr_q, start_q, free_q, wr_next;
  logic [POS_W-1:0] end_q, end_before_q;  // the position at which the ring is full, and the one before
  logic full_q;
  logic lost_q;  // a beat of the present frame found no room
  logic queue_ready, write, ends, keep, push;  // push: a frame or a replay enters the queue
  rx_drop_e drop;
  rx_packet_t packet_d, head;

  logic [$clog2(MAX_FRAMES+1)-1:0] unused_count;

  assign write   = beat_valid_i && !full_q && !lost_q;
  assign wr_next = wr_q + 1'b1;

  assign drop    = drop_i == KEEP && (full_q || lost_q || !queue_ready) ? DROP_BUFFER_FULL : drop_i;
  assign ends    = beat_valid_i && beat_last_i;
  // Equals ends && drop == KEEP, in a shorter form.
  assign keep    = ends && drop_i == KEEP && queue_ready && !(full_q || lost_q);

  always_comb begin
    packet_d           = '0;
    packet_d.start     = 16'(start_q);
    packet_d.stop      = 16'(wr_next);
    packet_d.frame_len = frame_len_i;
    packet_d.arrival   = clock_i;
    packet_d.payload   = segment_i.is_tcp && segment_i.payload_len != '0;
    packet_d.segment   = segment_i;
    // A replay enters only in a cycle without a frame's end, so the late verdict selects nothing here. It frees what lies before the incoming frame.
    if (!beat_last_i) begin
      packet_d.stop      = 16'(start_q);
      packet_d.frame_len = replay_i.payload_len;
      packet_d.arrival   = '0;
      packet_d.payload   = 1'b0;
      packet_d.segment   = replay_i;
    end
  end
  assign replay_ready_o = queue_ready && !beat_last_i;
  assign push           = keep || (replay_valid_i && replay_ready_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q         <= '0;
      start_q      <= '0;
      free_q       <= '0;
      lost_q       <= 1'b0;
      full_q       <= 1'b0;
      end_q        <= POS_W'(DEPTH);
      end_before_q <= POS_W'(DEPTH - 1);
    end else begin
      if (free_valid_i) begin
        free_q       <= free_stop_i[POS_W-1:0];
        end_q        <= free_stop_i[POS_W-1:0] ^ POS_W'(DEPTH);
        end_before_q <= free_stop_i[POS_W-1:0] + POS_W'(DEPTH - 1);
      end
      // Freed space is seen a cycle late.
      if (beat_valid_i && beat_last_i && !keep) full_q <= start_q == end_q;
      else if (keep || write) full_q <= wr_q == end_before_q;
      else full_q <= wr_q == end_q;
      if (beat_valid_i) begin
        if (!beat_last_i) begin
          if (write) wr_q <= wr_next;
          lost_q <= !write;
        end else begin
          lost_q  <= 1'b0;
          wr_q    <= keep ? wr_next : start_q;
          start_q <= keep ? wr_next : start_q;
        end
      end
    end
  end

  fifo_sync #(
    .WIDTH ($bits(rx_packet_t)),
    .DEPTH (MAX_FRAMES),
    .STEADY(1'b1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .wr_valid_i(push),
    .wr_ready_o(queue_ready),
    .wr_data_i (packet_d),
    .rd_valid_o(packet_valid_o),
    .rd_ready_i(packet_ready_i),
    .rd_data_o (head),
    .count_o   (unused_count)
  );
  // Whether the frame is a segment comes from a register, not from the block RAM: its lookup depends on that.
  logic head_tcp;
  fifo_sync #(
    .WIDTH        (1),
    .DEPTH        (MAX_FRAMES),
    .LUT_RAM_DEPTH(MAX_FRAMES),
    .HEAD         (1'b1)
  ) u_tcp (
    .clk_i,
    .rst_ni,
    .wr_valid_i(push),
    .wr_ready_o(),
    .wr_data_i (packet_d.segment.is_tcp),
    .rd_valid_o(),
    .rd_ready_i(packet_valid_o && packet_ready_i),
    .rd_data_o (head_tcp),
    .count_o   ()
  );
  always_comb begin
    packet_o                = head;
    packet_o.segment.is_tcp = head_tcp;
  end

  // ---------------------------------------------------------------- banks
  logic turn_q, clash;  // turn_q: the reader that goes first if both want the same bank
  logic [1:0]             bank_q;  // each reader's beat is in this one
  logic [1:0][DATA_W-1:0] bank_data;

  assign clash         = rd_req_i == 2'b11 && rd_pos_i[0][0] == rd_pos_i[1][0];
  assign rd_grant_o[0] = rd_req_i[0] && !(clash && turn_q);
  assign rd_grant_o[1] = rd_req_i[1] && !(clash && !turn_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= 1'b0;
    else if (clash) turn_q <= !turn_q;
  end
  always_ff @(posedge clk_i) bank_q <= {rd_pos_i[1][0], rd_pos_i[0][0]};

  for (genvar bank = 0; bank < 2; bank++) begin : gen_bank
    logic [1:0] reads;
    assign reads[0] = rd_grant_o[0] && rd_pos_i[0][0] == 1'(bank);
    assign reads[1] = rd_grant_o[1] && rd_pos_i[1][0] == 1'(bank);
    ram_1r1w #(
      .WIDTH (DATA_W),
      .DEPTH (DEPTH / 2),
      .UNSEEN(1'b1)
    ) u_ram (
      .clk_i,
      .we_i   (write && wr_q[0] == 1'(bank)),
      .waddr_i(wr_q[ADDR_W-1:1]),
      .wdata_i(beat_data_i),
      .re_i   (reads != '0),
      .raddr_i(rd_pos_i[reads[1]][ADDR_W-1:1]),
      .rdata_o(bank_data[bank])
    );
  end
  assign rd_data_o = {bank_data[bank_q[1]], bank_data[bank_q[0]]};

  logic unused;
  assign unused = ^{free_stop_i, rd_pos_i, unused_count};

  // ---------------------------------------------------------------- counters, trace
  // A cycle later, as the verdict is late.
  logic ended_q, tcp_q;
  rx_drop_e        drop_q;
  logic     [15:0] frame_len_q;
  logic     [31:0] seq_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ended_q <= 1'b0;
    else ended_q <= ends;
  end
  always_ff @(posedge clk_i) begin
    drop_q      <= drop;
    frame_len_q <= frame_len_i;
    tcp_q       <= segment_i.is_tcp;
    seq_q       <= segment_i.seq;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_inc_o <= '0;
    end else begin
      cnt_inc_o <= '0;
      if (ended_q) begin
        cnt_inc_o[CNT_RX_FRAMES] <= 16'd1;
        cnt_inc_o[CNT_RX_BYTES]  <= frame_len_q;
        unique case (drop_q)
          KEEP:              ;
          DROP_DISABLED:     cnt_inc_o[CNT_RX_DROP_DISABLED] <= 16'd1;
          DROP_FCS:          cnt_inc_o[CNT_RX_DROP_FCS] <= 16'd1;
          DROP_RUNT:         cnt_inc_o[CNT_RX_DROP_RUNT] <= 16'd1;
          DROP_OVERSIZE:     cnt_inc_o[CNT_RX_DROP_OVERSIZE] <= 16'd1;
          DROP_MAC:          cnt_inc_o[CNT_RX_DROP_MAC] <= 16'd1;
          DROP_IP_HEADER:    cnt_inc_o[CNT_RX_DROP_IP_HEADER] <= 16'd1;
          DROP_IP_CHECKSUM:  cnt_inc_o[CNT_RX_DROP_IP_CHECKSUM] <= 16'd1;
          DROP_TCP_HEADER:   cnt_inc_o[CNT_RX_DROP_TCP_HEADER] <= 16'd1;
          DROP_TCP_CHECKSUM: cnt_inc_o[CNT_RX_DROP_TCP_CHECKSUM] <= 16'd1;
          DROP_BUFFER_FULL:  cnt_inc_o[CNT_RX_DROP_BUFFER_FULL] <= 16'd1;
          default:           ;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trace_o <= '0;
    end else begin
      trace_o.valid  <= ended_q;
      trace_o.kind   <= drop_q == KEEP ? 4'(TRACE_KIND_FRAME_IN) : 4'(TRACE_KIND_FRAME_DROPPED);
      trace_o.detail <= drop_q == KEEP ? 8'(tcp_q) << TRACE_FRAME_IN_TCP_BIT : 8'(drop_q);
      trace_o.flow   <= NO_FLOW;
      trace_o.value  <= drop_q == KEEP && tcp_q ? seq_q : '0;
      trace_o.info   <= frame_len_q;
    end
  end

  assign idle_o = wr_q == free_q && !packet_valid_o && !ended_q;

  if ((1 << ADDR_W) != DEPTH || POS_W > 16) begin : gen_param_check
    $error("rx_store: STORE_BYTES must be a power of two and hold at most 2^15 beats");
  end
  `WEFT_ASSERT(kept_as_said, keep == (ends && drop == KEEP))
  `WEFT_ASSERT(tcp_told, packet_valid_o -> head_tcp == head.segment.is_tcp)
  `WEFT_ASSERT(no_overwrite, write -> wr_q - free_q < POS_W'(DEPTH))
  `WEFT_ASSERT(room, wr_q - free_q <= POS_W'(DEPTH))
  `WEFT_ASSERT(one_of_a_bank, !(rd_grant_o == 2'b11 && rd_pos_i[0][0] == rd_pos_i[1][0]))
  `WEFT_ASSERT(somebody_reads, rd_req_i == '0 || rd_grant_o != '0)

endmodule
