// Host memory reads for three clients, each with its own AXI ID and response buffer. Client 0 is the gather (any alignment), 1 jobs, 2 receive
// elements (both aligned to the bus).
//
// Handshake: Requests and answers are ready/valid. Answers of a client are in order; every R beat is taken at once.
// Pipeline:  stage   | registers                  | what happens                                          | hazards
//            request | dma_read_client            | cut into bursts                                       | room in the client's buffer for all of it
//            AR      | u_ar                       | one burst a cycle; elements before jobs before gather
//            R       | u_buffer (dma_read_client) | beats to the client of their ID                       | clients interleave
//            answer  | u_answer (dma_read_client) | packed beats, in order                                | the consumer's ready
// Why:       A burst is sent only when its client has room for all of it, so no client waits for another's consumer.
//            Jobs and elements, few and short, go before the gather.

`include "weft_assert.svh"

module dma_read #(
  parameter  int unsigned DATA_W   = 512,
  parameter  int unsigned REQUESTS = 32,                     // of a client, without a complete answer
  parameter  int unsigned JOBS     = 32,                     // that there is room for
  localparam int unsigned COUNT_W  = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [2:0]              req_valid_i,
  output logic [2:0]              req_ready_o,
  input  logic [2:0][       63:0] req_addr_i,
  input  logic [2:0][       15:0] req_bytes_i,
  output logic [2:0]              rsp_valid_o,
  input  logic [2:0]              rsp_ready_i,
  output logic [2:0][ DATA_W-1:0] rsp_data_o,
  output logic [2:0][COUNT_W-1:0] rsp_count_o,
  output logic [2:0]              rsp_last_o,
  output logic [2:0]              rsp_error_o,

  axi4_if.reader m_axi,

  output logic request_o,  // pulses, for the counters
  output logic error_o,
  output logic idle_o
);

  localparam int unsigned LANE_W = $clog2(DATA_W / 8);
  localparam int unsigned BURST_W = 7;

  logic [2:0] burst_valid, burst_ready, client_idle;
  logic [2:0][  63:LANE_W] burst_addr;
  logic [2:0][BURST_W-1:0] burst_beats;
  logic [1:0]              pick;
  logic                    ar_ready;

  for (genvar c = 0; c < 3; c++) begin : gen_client
    localparam bit GATHER = c == 0;

    dma_read_client #(
      .DATA_W      (DATA_W),
      .BUFFER_BEATS(GATHER ? 512 : (c == 1 ? JOBS : 32) * 1024 / DATA_W),  // of 128 bytes; 64 elements
      .REQUESTS    (REQUESTS),
      .ALIGNED     (!GATHER)
    ) u_client (
      .clk_i,
      .rst_ni,
      .req_valid_i  (req_valid_i[c]),
      .req_ready_o  (req_ready_o[c]),
      .req_addr_i   (req_addr_i[c]),
      .req_bytes_i  (req_bytes_i[c]),
      .burst_valid_o(burst_valid[c]),
      .burst_ready_i(burst_ready[c]),
      .burst_addr_o (burst_addr[c]),
      .burst_beats_o(burst_beats[c]),
      .bus_valid_i  (m_axi.rvalid && m_axi.rid == 2'(c)),
      .bus_data_i   (m_axi.rdata),
      .bus_error_i  (m_axi.rresp[1]),
      .rsp_valid_o  (rsp_valid_o[c]),
      .rsp_ready_i  (rsp_ready_i[c]),
      .rsp_data_o   (rsp_data_o[c]),
      .rsp_count_o  (rsp_count_o[c]),
      .rsp_last_o   (rsp_last_o[c]),
      .rsp_error_o  (rsp_error_o[c]),
      .idle_o       (client_idle[c])
    );

    assign burst_ready[c] = ar_ready && pick == 2'(c);
  end

  // ---------------------------------------------------------------- AR
  assign pick = burst_valid[2] ? 2'd2 : burst_valid[1] ? 2'd1 : 2'd0;

  logic [  63:LANE_W] ar_addr;
  logic [BURST_W-2:0] ar_beats;

  stream_slice #(
    .WIDTH(2 + 64 - LANE_W + BURST_W - 1)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (burst_valid != '0),
    .in_ready_o (ar_ready),
    .in_data_i  ({pick, burst_addr[pick], (BURST_W - 1)'(burst_beats[pick] - 1'b1)}),
    .out_valid_o(m_axi.arvalid),
    .out_ready_i(m_axi.arready),
    .out_data_o ({m_axi.arid, ar_addr, ar_beats}),
    .shown_o    ()
  );

  assign m_axi.araddr  = {ar_addr, LANE_W'(0)};
  assign m_axi.arlen   = 8'(ar_beats);
  assign m_axi.arsize  = 3'(LANE_W);
  assign m_axi.arburst = 2'b01;
  assign m_axi.rready  = 1'b1;

  // ---------------------------------------------------------------- errors
  // Bursts of different IDs may interleave: errors are gathered per ID until the burst ends.
  logic [3:0] bad_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bad_q <= '0;
    else if (m_axi.rvalid) bad_q[m_axi.rid] <= !m_axi.rlast && (bad_q[m_axi.rid] || m_axi.rresp[1]);
  end

  assign request_o = m_axi.arvalid && m_axi.arready;
  assign error_o   = m_axi.rvalid && m_axi.rlast && (bad_q[m_axi.rid] || m_axi.rresp[1]);
  assign idle_o    = client_idle == '1 && req_valid_i == '0 && !m_axi.arvalid;

  logic unused_resp;
  assign unused_resp = m_axi.rresp[0];

  `WEFT_ASSERT(id_known, m_axi.rvalid -> m_axi.rid != 2'd3)

endmodule
