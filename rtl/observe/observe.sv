// Counters, trace ring and capture ring, with their registers.
//
// Handshake: Observes only. Nothing in the data path waits for it, but for up to two short writes of the capture (dma_write).
// Pipeline:  a register on the counters' increments and on the captured beats; further see the submodules.
// Why:       With OBSERVE = 0 there are only the counters: for a part without room for more. The registers of trace and capture then read 0,
//            TRACE_SIZE too, by which a driver knows; the clock's are there.

module observe
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter  int unsigned DATA_W        = 512,
  parameter  int unsigned TRACE_LOG2    = 10,
  parameter  int unsigned CAPTURE_BYTES = 32768,
  parameter  bit          OBSERVE       = 1'b1,
  localparam int unsigned COUNT_W       = $clog2(DATA_W / 8) + 1
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        power_on_ni,  // empties the trace ring, which outlives other resets
  input logic [63:0] time_i,

  // Counters.
  input  logic           [NUM_COUNTERS-1:0][15:0] rx_inc_i,
  input  logic           [NUM_COUNTERS-1:0][15:0] tx_inc_i,
  input  host_activity_t                          host_i,
  input  logic           [            31:0]       resets_i,         // not reset with the other counters
  input  logic           [             7:0]       counter_index_i,
  output logic           [            31:0]       counter_value_o,
  output logic           [            31:0]       counter_high_o,
  output logic           [            31:0]       msix_count_o,

  // Trace.
  input trace_event_t [1:0] rx_trace_i,
  input trace_event_t [2:0] tx_trace_i,      // the last one: frames out
  input trace_event_t [1:0] report_trace_i,
  input logic               looped_i,        // frames out go into MAC loopback

  // Registers.
  input  reg_bus_t        bus_i,
  output logic     [31:0] bus_value_o,

  // Capture: beats as they pass (0 receive, 1 transmit); port to dma_write.
  input  logic [        1:0]               beat_valid_i,
  input  logic [        1:0]               beat_last_i,
  input  logic                             beat_bad_i,    // receive
  input  logic [        1:0][  DATA_W-1:0] beat_data_i,
  input  logic [        1:0][DATA_W/8-1:0] beat_keep_i,
  output logic                             cmd_valid_o,
  input  logic                             cmd_ready_i,
  output logic [       63:0]               cmd_addr_o,
  output logic [       15:0]               cmd_bytes_o,
  output logic                             wr_valid_o,
  input  logic                             wr_ready_i,
  output logic [ DATA_W-1:0]               wr_data_o,
  output logic [COUNT_W-1:0]               wr_count_o,
  output logic                             wr_last_o,
  input  logic                             written_i,

  output logic trace_idle_o,
  output logic capture_idle_o
);

  // ---------------------------------------------------------------- counters
  logic [NUM_COUNTERS-1:0][15:0] host_inc_q;
  logic [1:0] captured, left_out;
  logic [31:0] counter_value;

  counters u_counters (
    .clk_i,
    .rst_ni,
    .rx_inc_i,
    .tx_inc_i,
    .host_inc_i(host_inc_q),
    .index_i   (counter_index_i),
    .value_o   (counter_value),
    .high_o    (counter_high_o)
  );

  assign counter_value_o = 32'(counter_index_i) == CNT_RESETS ? resets_i : counter_value;

  // Of the receive stalls, those visible on the host side only are counted here.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_inc_q   <= '0;
      msix_count_o <= '0;
    end else begin
      host_inc_q[CNT_RX_DROP_LOOPBACK]       <= 16'(host_i.rx_ignored);
      host_inc_q[CNT_RX_STALL_REPORT_CYCLES] <= 16'(host_i.report_stall);
      host_inc_q[CNT_RX_STALL_WRITE_CYCLES]  <= 16'(host_i.write_stall);
      host_inc_q[CNT_DMA_AW_STALL_CYCLES]    <= 16'(host_i.aw_stall);
      host_inc_q[CNT_DMA_READ_REQUESTS]      <= 16'(host_i.read_request);
      host_inc_q[CNT_DMA_READ_ERRORS]        <= 16'(host_i.read_error);
      host_inc_q[CNT_DMA_WRITE_REQUESTS]     <= 16'(host_i.write_request);
      host_inc_q[CNT_DMA_WRITE_ERRORS]       <= 16'(host_i.write_error);
      host_inc_q[CNT_REPORTS]                <= 16'(host_i.report_written);
      host_inc_q[CNT_MSIX_REQUESTS]          <= 16'(host_i.msix);
      host_inc_q[CNT_MSIX_GAP]               <= 16'(host_i.msix_gap);
      host_inc_q[CNT_CAPTURE_RX_FRAMES]      <= 16'(captured[0]);
      host_inc_q[CNT_CAPTURE_TX_FRAMES]      <= 16'(captured[1]);
      host_inc_q[CNT_CAPTURE_RX_LOST]        <= 16'(left_out[0]);
      host_inc_q[CNT_CAPTURE_TX_LOST]        <= 16'(left_out[1]);
      if (host_i.msix) msix_count_o <= msix_count_o + 1'b1;
    end
  end

  // ---------------------------------------------------------------- registers
  capture_cfg_t        capture_cfg;
  logic         [31:0] capture_tail;
  logic capture_busy, capture_busy_q;
  trace_event_t access, dma_error, frame_out;
  logic [15:0] enable;
  logic freeze, clear, rd_valid;
  logic         [9:0] rd_entry;
  trace_entry_t       rd_data;
  logic [31:0] head, lost;

  observe_regs #(
    .TRACE_LOG2(TRACE_LOG2),
    .OBSERVE   (OBSERVE)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .time_i,
    .bus_i,
    .value_o         (bus_value_o),
    .trace_enable_o  (enable),
    .trace_freeze_o  (freeze),
    .trace_clear_o   (clear),
    .trace_rd_valid_o(rd_valid),
    .trace_rd_entry_o(rd_entry),
    .trace_rd_data_i (rd_data),
    .trace_head_i    (head),
    .trace_lost_i    (lost),
    .capture_cfg_o   (capture_cfg),
    .capture_tail_i  (capture_tail),
    .capture_busy_i  (capture_busy_q)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) capture_busy_q <= 1'b0;
    else capture_busy_q <= capture_busy;
  end

  // ---------------------------------------------------------------- trace
  if (OBSERVE) begin : gen_observe
    trace_events u_events (
      .clk_i,
      .rst_ni,
      .bus_i,
      .host_i,
      .access_o   (access),
      .dma_error_o(dma_error)
    );

    // The event of a frame sent is a cycle behind its last beat.
    logic looped_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) looped_q <= 1'b0;
      else looped_q <= looped_i;
    end
    always_comb begin
      frame_out                                      = tx_trace_i[2];
      frame_out.detail[TRACE_FRAME_OUT_LOOPBACK_BIT] = looped_q;
    end

    trace_ring #(
      .SOURCES(9),
      .LOG2   (TRACE_LOG2)
    ) u_trace (
      .clk_i,
      .rst_ni,
      .power_on_ni,
      .time_i,
      .enable_i  (enable),
      .freeze_i  (freeze),
      .clear_i   (clear),
      .event_i   ({dma_error, access, report_trace_i, frame_out, tx_trace_i[1:0], rx_trace_i}),
      .rd_valid_i(rd_valid),
      .rd_entry_i(rd_entry),
      .rd_data_o (rd_data),
      .head_o    (head),
      .lost_o    (lost),
      .idle_o    (trace_idle_o)
    );

    // -------------------------------------------------------------- capture
    // A register for the beats: their valid may come from a pin.
    logic [1:0] passed_q, passed_last_q;
    logic passed_bad_q, capture_idle;
    logic [1:0][  DATA_W-1:0] passed_data_q;
    logic [1:0][DATA_W/8-1:0] passed_keep_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) passed_q <= '0;
      else passed_q <= beat_valid_i;
    end

    always_ff @(posedge clk_i) begin
      passed_last_q <= beat_last_i;
      passed_bad_q  <= beat_bad_i;
      passed_data_q <= beat_data_i;
      passed_keep_q <= beat_keep_i;
    end

    assign capture_idle_o = capture_idle && passed_q == '0;

    capture #(
      .DATA_W      (DATA_W),
      .BUFFER_BYTES(CAPTURE_BYTES)
    ) u_capture (
      .clk_i,
      .rst_ni,
      .time_i,
      .cfg_i       (capture_cfg),
      .beat_valid_i(passed_q),
      .beat_last_i (passed_last_q),
      .beat_bad_i  ({1'b0, passed_bad_q}),
      .beat_data_i (passed_data_q),
      .beat_keep_i (passed_keep_q),
      .cmd_valid_o,
      .cmd_ready_i,
      .cmd_addr_o,
      .cmd_bytes_o,
      .wr_valid_o,
      .wr_ready_i,
      .wr_data_o,
      .wr_count_o,
      .wr_last_o,
      .written_i,
      .tail_o      (capture_tail),
      .busy_o      (capture_busy),
      .taken_o     (captured),
      .lost_o      (left_out),
      .idle_o      (capture_idle)
    );
  end else begin : gen_counters_only
    assign rd_data                        = '0;
    assign head                           = '0;
    assign lost                           = '0;
    assign trace_idle_o                   = 1'b1;
    assign cmd_valid_o                    = 1'b0;
    assign cmd_addr_o                     = '0;
    assign cmd_bytes_o                    = '0;
    assign wr_valid_o                     = 1'b0;
    assign wr_data_o                      = '0;
    assign wr_count_o                     = '0;
    assign wr_last_o                      = 1'b0;
    assign capture_tail                   = '0;
    assign capture_busy                   = 1'b0;
    assign captured                       = '0;
    assign left_out                       = '0;
    assign capture_idle_o                 = 1'b1;
    assign {access, dma_error, frame_out} = '0;

    logic unused;
    assign unused = ^{rx_trace_i, tx_trace_i, report_trace_i, looped_i, beat_valid_i, beat_last_i, beat_bad_i, beat_data_i, beat_keep_i,
                      cmd_ready_i, wr_ready_i, written_i, power_on_ni, enable, freeze, clear, rd_valid, rd_entry, capture_cfg, access, dma_error, frame_out, host_i};
  end

endmodule
