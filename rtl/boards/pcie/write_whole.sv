// Write bursts for a bridge that needs them whole: each is shown when all of it is here, without its trailing beats that have no strobe.
//
// Handshake: ready/valid; no output depends on an input of the same cycle but for the answers. A burst of n beats is sent n + 4 cycles after it came
//            in, a beat each cycle.
// Pipeline:  AW ─► addresses ──────────────► AW, as long as there are beats with strobes
//            W  ─► beats with strobes ─► W      │
//                   count of them ──────────────┘   none: no burst, and the answer from here
//            B  ◄─ in order ◄─ B
// Why:       A drain of the card gives the beats that it owes without strobes. A bridge's guide does not say what becomes of a burst that ends early,
//            or has no strobe at all. It may write what must not be written any more, so such beats end here.
//            All writes have one ID. In a burst the beats with strobes come first and have no hole, as the card gives them. DEPTH beats are more than
//            the longest burst; BURSTS are in flight at most.

`include "weft_assert.svh"

module write_whole #(
  parameter int unsigned DATA_W = 512,
  parameter int unsigned DEPTH  = 256,
  parameter int unsigned BURSTS = 32
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [        63:0] s_axi_awaddr,
  input  logic                s_axi_awvalid,
  output logic                s_axi_awready,
  input  logic [  DATA_W-1:0] s_axi_wdata,
  input  logic [DATA_W/8-1:0] s_axi_wstrb,
  input  logic                s_axi_wlast,
  input  logic                s_axi_wvalid,
  output logic                s_axi_wready,
  output logic [         1:0] s_axi_bresp,
  output logic                s_axi_bvalid,
  input  logic                s_axi_bready,

  output logic [        63:0] m_axi_awaddr,
  output logic [         7:0] m_axi_awlen,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [  DATA_W-1:0] m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wlast,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [         1:0] m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic                m_axi_bready
);

  localparam int unsigned BEAT_W = DATA_W + DATA_W / 8;

  // ---------------------------------------------------------------- in: beats with strobes, and how many
  logic in_valid, in_ready, in_last, strobed, taken, beat_ready, beat_valid, beat_next;
  logic [BEAT_W-1:0] in_beat;
  logic [7:0] count_q, in_len;  // count_q: beats with strobes so far, at most one less than there can be; in_len: AxLEN
  logic some_q, in_empty;  // a beat with strobes came

  stream_slice #(
    .WIDTH(BEAT_W + 2)
  ) u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axi_wvalid),
    .in_ready_o (s_axi_wready),
    .in_data_i  ({s_axi_wstrb != '0, s_axi_wlast, s_axi_wstrb, s_axi_wdata}),
    .out_valid_o(in_valid),
    .out_ready_i(in_ready),
    .out_data_o ({strobed, in_last, in_beat}),
    .shown_o    ()
  );

  logic aw_valid, go_ready, go_valid, start, empty;
  logic [7:0] send_len, left_q;
  logic send_ready, send_valid, send_next, busy_q, order_ready, order_valid, order_empty;

  assign in_ready = beat_ready && go_ready;
  assign taken    = in_valid && in_ready;
  assign in_empty = !some_q && !strobed;
  assign in_len   = strobed ? count_q : count_q - 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      some_q  <= 1'b0;
    end else if (taken) begin
      count_q <= in_last ? '0 : count_q + 8'(strobed);
      some_q  <= !in_last && (some_q || strobed);
    end
  end

  fifo_sync #(
    .WIDTH(64),
    .DEPTH(BURSTS)
  ) u_addresses (
    .clk_i,
    .rst_ni,
    .wr_valid_i(s_axi_awvalid),
    .wr_ready_o(s_axi_awready),
    .wr_data_i (s_axi_awaddr),
    .rd_valid_o(aw_valid),
    .rd_ready_i(start),
    .rd_data_o (m_axi_awaddr),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH(BEAT_W),
    .DEPTH(DEPTH)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .wr_valid_i(taken && strobed),
    .wr_ready_o(beat_ready),
    .wr_data_i (in_beat),
    .rd_valid_o(beat_valid),
    .rd_ready_i(beat_next),
    .rd_data_o ({m_axi_wstrb, m_axi_wdata}),
    .count_o   ()
  );

  fifo_sync #(
    .WIDTH(9),
    .DEPTH(BURSTS)
  ) u_whole (
    .clk_i,
    .rst_ni,
    .wr_valid_i(taken && in_last),
    .wr_ready_o(go_ready),
    .wr_data_i ({in_empty, in_len}),
    .rd_valid_o(go_valid),
    .rd_ready_i(start),
    .rd_data_o ({empty, m_axi_awlen}),
    .count_o   ()
  );

  // ---------------------------------------------------------------- out: whole bursts
  assign m_axi_awvalid = aw_valid && go_valid && !empty && order_ready && send_ready;
  assign start         = aw_valid && go_valid && order_ready && (empty || (send_ready && m_axi_awready));

  fifo_sync #(
    .WIDTH(8),
    .DEPTH(BURSTS)
  ) u_send (
    .clk_i,
    .rst_ni,
    .wr_valid_i(start && !empty),
    .wr_ready_o(send_ready),
    .wr_data_i (m_axi_awlen),
    .rd_valid_o(send_valid),
    .rd_ready_i(send_next),
    .rd_data_o (send_len),
    .count_o   ()
  );

  assign m_axi_wvalid = beat_valid && busy_q;
  assign m_axi_wlast  = left_q == '0;
  assign beat_next    = busy_q && m_axi_wready;
  assign send_next    = !busy_q || (m_axi_wlast && m_axi_wvalid && m_axi_wready);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      left_q <= '0;
    end else if (send_next) begin
      busy_q <= send_valid;
      left_q <= send_len;
    end else if (m_axi_wvalid && m_axi_wready) begin
      left_q <= left_q - 1'b1;
    end
  end

  // ---------------------------------------------------------------- answers, in the order of the bursts
  fifo_sync #(
    .WIDTH(1),
    .DEPTH(BURSTS)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wr_valid_i(start),
    .wr_ready_o(order_ready),
    .wr_data_i (empty),
    .rd_valid_o(order_valid),
    .rd_ready_i(s_axi_bvalid && s_axi_bready),
    .rd_data_o (order_empty),
    .count_o   ()
  );

  assign s_axi_bvalid = order_valid && (order_empty || m_axi_bvalid);
  assign s_axi_bresp  = order_empty ? 2'b00 : m_axi_bresp;
  assign m_axi_bready = order_valid && !order_empty && s_axi_bready;

`ifndef SYNTHESIS
  logic gap_q;
  // verilator lint_off SYNCASYNCNET
  always_ff @(posedge clk_i) begin
    if (!rst_ni) gap_q <= 1'b0;
    else if (taken) gap_q <= !in_last && (gap_q || !strobed);
  end
  // verilator lint_on SYNCASYNCNET
  `WEFT_ASSERT(strobes_come_first, !(taken && strobed && gap_q))
  `WEFT_ASSERT(whole_is_here, !busy_q || beat_valid)
  `WEFT_STREAM(u_aw_rules, m_axi_awvalid, m_axi_awready, {m_axi_awaddr, m_axi_awlen})
  `WEFT_STREAM(u_w_rules, m_axi_wvalid, m_axi_wready, {m_axi_wlast, m_axi_wstrb, m_axi_wdata})
`endif

endmodule
