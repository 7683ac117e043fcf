// What watches the card: counters and the trace ring, with their registers. Nothing in the data path waits for anything here.

module observe
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned TRACE_LOG2 = 10
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [63:0]                   time_i,

  // Counters.
  input  logic [NUM_COUNTERS-1:0][15:0] rx_inc_i,
  input  logic [NUM_COUNTERS-1:0][15:0] tx_inc_i,
  input  host_activity_t                host_i,
  input  logic [7:0]                    counter_index_i,
  output logic [31:0]                   counter_value_o,
  output logic [31:0]                   msix_count_o,

  // Trace.
  input  trace_event_t [1:0]            rx_trace_i,
  input  trace_event_t [2:0]            tx_trace_i,       // the last one: frames out
  input  trace_event_t [1:0]            report_trace_i,
  input  logic                          looped_i,         // frames out go into MAC loopback

  // Registers.
  input  reg_bus_t                      bus_i,
  output logic [31:0]                   bus_value_o,

  output logic                          idle_o
);

  // ---------------------------------------------------------------- counters
  logic [NUM_COUNTERS-1:0][15:0] host_inc_q;

  counters u_counters (
    .clk_i, .rst_ni,
    .rx_inc_i, .tx_inc_i,
    .host_inc_i(host_inc_q),
    .index_i   (counter_index_i),
    .value_o   (counter_value_o)
  );

  // Of the receive stalls, those that only the host side can see are counted here.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_inc_q   <= '0;
      msix_count_o <= '0;
    end else begin
      host_inc_q[CNT_RX_DROP_LOOPBACK]       <= 16'(host_i.rx_ignored);
      host_inc_q[CNT_RX_STALL_REPORT_CYCLES] <= 16'(host_i.report_stall);
      host_inc_q[CNT_RX_STALL_WRITE_CYCLES]  <= 16'(host_i.write_stall);
      host_inc_q[CNT_DMA_READ_REQUESTS]      <= 16'(host_i.read_request);
      host_inc_q[CNT_DMA_READ_ERRORS]        <= 16'(host_i.read_error);
      host_inc_q[CNT_DMA_WRITE_REQUESTS]     <= 16'(host_i.write_request);
      host_inc_q[CNT_DMA_WRITE_ERRORS]       <= 16'(host_i.write_error);
      host_inc_q[CNT_REPORTS]                <= 16'(host_i.report_written);
      host_inc_q[CNT_MSIX_REQUESTS]          <= 16'(host_i.msix);
      if (host_i.msix) msix_count_o <= msix_count_o + 1'b1;
    end
  end

  // ---------------------------------------------------------------- trace
  trace_event_t access, dma_error, frame_out;
  logic [15:0]  enable;
  logic         freeze, clear, rd_valid;
  logic [9:0]   rd_entry;
  trace_entry_t rd_data;
  logic [31:0]  head, lost;

  observe_regs #(.TRACE_LOG2(TRACE_LOG2)) u_regs (
    .clk_i, .rst_ni, .time_i, .bus_i,
    .value_o         (bus_value_o),
    .trace_enable_o  (enable),
    .trace_freeze_o  (freeze),
    .trace_clear_o   (clear),
    .trace_rd_valid_o(rd_valid),
    .trace_rd_entry_o(rd_entry),
    .trace_rd_data_i (rd_data),
    .trace_head_i    (head),
    .trace_lost_i    (lost)
  );

  trace_events u_events (
    .clk_i, .rst_ni, .bus_i, .host_i,
    .access_o   (access),
    .dma_error_o(dma_error)
  );

  // The event of a frame that left is a cycle behind its last beat.
  logic looped_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) looped_q <= 1'b0;
    else looped_q <= looped_i;
  end
  always_comb begin
    frame_out           = tx_trace_i[2];
    frame_out.detail[2] = looped_q;
  end

  trace_ring #(.SOURCES(9), .LOG2(TRACE_LOG2)) u_trace (
    .clk_i, .rst_ni, .time_i,
    .enable_i  (enable),
    .freeze_i  (freeze),
    .clear_i   (clear),
    .event_i   ({dma_error, access, report_trace_i, frame_out, tx_trace_i[1:0], rx_trace_i}),
    .rd_valid_i(rd_valid),
    .rd_entry_i(rd_entry),
    .rd_data_o (rd_data),
    .head_o    (head),
    .lost_o    (lost),
    .idle_o    (idle_o)
  );

endmodule
