// Copies between the control processor's memory and host memory, both ways, one at a time (docs/processor.md).
//
// Handshake: `start_i` is taken while `busy_o` is 0. Memory requests are held until granted, read data come a cycle later. AXI4: valids are held
//            until taken. A write burst has a beat in each cycle.
// Pipeline:  state   | what happens                                       | left when
//            Idle    | no copy                                            | `start_i`
//            Cut     | the burst: what of the copy lies in this block     | always
//            Ask     | read: the address                                  | taken
//            Fill    | read: beats enter the store, words go on to memory | the burst's last word is written
//            Drain   | read: the rest of a burst that is not used         | all beats came
//            Collect | write: words enter the store                       | the burst's last word is there
//            Send    | write: address and beats                           | both are taken
//            Sent    | write: the response                                | it came
// Why:       Each burst is what of the copy lies in one block of BLOCK_BYTES, so none crosses 4 KiB. Words are moved whole; of the first and last
//            word to host memory only the bytes requested are written.
//            A burst passes a store of one block: read beats enter at the bus' pace, written words are collected first.
//            A copy ends early on a bus error (`failed_o`, until the next copy): nothing of that beat is moved, and no further burst requested. It
//            ends early with `stop_i` as well, but never before the bus has had or given all of a burst.
//            It is for the firmware's records and frames, not for payload: the data path moves that.

`include "weft_assert.svh"

module control_dma #(
  parameter int unsigned DATA_W      = 512,
  parameter int unsigned BLOCK_BYTES = 256   // a power of two, 2 beats at least, 4096 at most
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        start_i,
  input  logic        write_i,  // to host memory
  input  logic [63:2] host_i,
  input  logic [31:2] local_i,
  input  logic [31:2] words_i,
  input  logic [ 3:0] first_i,  // bytes of the first word and of the last that are written
  input  logic [ 3:0] last_i,
  input  logic        stop_i,
  output logic        busy_o,
  output logic        failed_o,

  output logic        mem_req_o,
  input  logic        mem_gnt_i,
  output logic        mem_we_o,
  output logic [31:2] mem_addr_o,
  output logic [31:0] mem_wdata_o,
  input  logic [31:0] mem_rdata_i,

  axi4_if.master m_axi
);

  localparam int unsigned LANES = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(LANES);
  localparam int unsigned WORD_W = $clog2(BLOCK_BYTES / 4);  // words of a block
  localparam int unsigned BEAT_W = WORD_W - LANE_W;  // its beats
  localparam int unsigned BEATS = 1 << BEAT_W;

  // States: see Pipeline above.
  typedef enum logic [2:0] {
    Idle,
    Cut,
    Ask,
    Fill,
    Drain,
    Collect,
    Send,
    Sent
  } state_e;

  state_e state_q;
  logic write_q, aw_q, w_q, late_q;
  logic [63:2] host_q;
  logic [31:2] local_q, words_q;
  logic [3:0] first_q, last_q;
  logic [63:2+WORD_W] block_q;  // the burst's
  logic [WORD_W-1:0] from_q, to_q;  // its first word in the block, and its last
  logic [  BEAT_W:0] beat_q;  // beats that the bus gave, from the block's begin; and the one on the bus
  logic [WORD_W-1:0] late_word_q;
  logic [      31:2] more;
  logic [WORD_W-1:0] to_end;
  logic [BEAT_W-1:0] from_beat, to_beat, beats, read_beat;
  logic step, burst_end, there, answer, all_there, bad;
  logic [LANES-1:0][31:0] line;

  assign more          = words_q - 1'b1;
  assign to_end        = ~host_q[2+:WORD_W];
  assign beats         = to_beat - from_beat;
  assign from_beat     = from_q[WORD_W-1:LANE_W];
  assign to_beat       = to_q[WORD_W-1:LANE_W];
  assign burst_end     = host_q[2+:WORD_W] == to_q;
  assign there         = {1'b0, host_q[2+LANE_W+:BEAT_W]} < beat_q;
  assign answer        = m_axi.rvalid && (state_q == Fill || state_q == Drain);
  assign all_there     = beat_q > {1'b0, to_beat};
  assign bad           = answer && m_axi.rresp[1];

  assign busy_o        = state_q != Idle;
  assign mem_req_o     = state_q == Fill && there && !failed_o || state_q == Collect && !(late_q && late_word_q == to_q);
  assign mem_we_o      = state_q == Fill;
  assign mem_addr_o    = local_q;
  assign mem_wdata_o   = line[host_q[2+:LANE_W]];
  assign step          = mem_req_o && mem_gnt_i;

  assign m_axi.araddr  = {block_q, from_beat, (2 + LANE_W)'(0)};
  assign m_axi.arlen   = 8'(beats);
  assign m_axi.arvalid = state_q == Ask;
  assign m_axi.awaddr  = m_axi.araddr;
  assign m_axi.awlen   = m_axi.arlen;
  assign m_axi.awvalid = state_q == Send && !aw_q;
  assign m_axi.wvalid  = state_q == Send && !w_q;
  assign m_axi.wlast   = beat_q[BEAT_W-1:0] == to_beat;
  assign m_axi.wdata   = line;

  always_comb begin
    m_axi.wstrb = '0;
    for (int unsigned l = 0; l < LANES; l++) begin
      automatic logic [WORD_W-1:0] word = {beat_q[BEAT_W-1:0], LANE_W'(l)};
      if (word >= from_q && word <= to_q) m_axi.wstrb[4*l+:4] = (word == from_q ? first_q : '1) & (word == to_q && words_q == 0 ? last_q : '1);
    end
  end

  // ---------------------------------------------------------------- the store
  assign read_beat = state_q == Send ? beat_q[BEAT_W-1:0] : host_q[2+LANE_W+:BEAT_W];

  for (genvar l = 0; l < LANES; l++) begin : gen_lane
    logic [      31:0] store    [BEATS];
    logic              put;
    logic [BEAT_W-1:0] put_at;
    logic [      31:0] put_data;

    assign put      = state_q == Fill ? m_axi.rvalid : late_q && late_word_q[LANE_W-1:0] == LANE_W'(l);
    assign put_at   = state_q == Fill ? beat_q[BEAT_W-1:0] : late_word_q[WORD_W-1:LANE_W];
    assign put_data = state_q == Fill ? m_axi.rdata[32*l+:32] : mem_rdata_i;
    assign line[l]  = store[read_beat];

    always_ff @(posedge clk_i) begin
      if (put) store[put_at] <= put_data;
    end
  end

  // ---------------------------------------------------------------- sequence
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q             <= Idle;
      failed_o            <= 1'b0;
      {aw_q, w_q, late_q} <= '0;
      words_q             <= '0;
    end else begin
      late_q <= step && !mem_we_o && !stop_i;
      if (step) words_q <= more;
      unique case (state_q)
        Idle:
        if (start_i && !stop_i) begin
          words_q  <= words_i;
          failed_o <= 1'b0;
          state_q  <= words_i == 0 ? Idle : Cut;
        end
        Cut:     state_q <= stop_i ? Idle : write_q ? Collect : Ask;
        Ask:     if (m_axi.arready) state_q <= Fill;
        Fill:    if (stop_i || failed_o) state_q <= all_there ? Idle : Drain;
 else if (step && burst_end) state_q <= more == 0 ? Idle : Cut;
        Drain:   if (all_there) state_q <= Idle;
        Collect:
        if (stop_i) state_q <= Idle;
        else if (late_q && late_word_q == to_q) begin
          {aw_q, w_q} <= '0;
          state_q     <= Send;
        end
        Send: begin
          if (m_axi.awready) aw_q <= 1'b1;
          if (m_axi.wready && m_axi.wlast) w_q <= 1'b1;
          if ((aw_q || m_axi.awready) && (w_q || m_axi.wready && m_axi.wlast)) state_q <= Sent;
        end
        Sent:
        if (m_axi.bvalid) begin
          failed_o <= m_axi.bresp[1];
          state_q  <= m_axi.bresp[1] || stop_i || words_q == 0 ? Idle : Cut;
        end
        default: state_q <= Idle;
      endcase
      if (bad) failed_o <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      host_q  <= host_i;
      local_q <= local_i;
      write_q <= write_i;
      first_q <= first_i;
      last_q  <= last_i;
    end else if (step) begin
      host_q  <= host_q + 1'b1;
      local_q <= local_q + 1'b1;
    end
    if (step) late_word_q <= host_q[2+:WORD_W];
    if (state_q == Cut) begin
      block_q <= host_q[63:2+WORD_W];
      from_q  <= host_q[2+:WORD_W];
      to_q    <= more >= 30'(to_end) ? '1 : host_q[2+:WORD_W] + more[2+:WORD_W];
      beat_q  <= {1'b0, host_q[2+LANE_W+:BEAT_W]};
    end else if (answer || m_axi.wvalid && m_axi.wready && !m_axi.wlast) begin
      beat_q <= beat_q + 1'b1;
    end
    // first_i counts for the copy's first burst only.
    if (state_q == Sent) first_q <= '1;
  end

  logic unused_resp;
  assign unused_resp = ^{m_axi.bresp[0], m_axi.rresp[0]};

  `WEFT_ASSERT(a_answer, !m_axi.bvalid || state_q == Sent)
  `WEFT_ASSERT(a_data, !m_axi.rvalid || answer && !all_there)

endmodule
