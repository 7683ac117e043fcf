// The report rings of all ports: a report_writer for each, and one path to dma_write, which runs ahead (report_ahead).
//
// Handshake: ready/valid. Outputs are those of the writers, one port after the other.
// Pipeline:  receive ──► by the report's port ─┬─► report_writer 0 ─┐
//            transmit, of port 0 ──────────────┘                    ├─► one report after the other ─► report_ahead
//            transmit, of port 1 ────────────────► report_writer 1 ─┘
//            stage  | registers                        | what happens
//            room   | used_q, with_q, full_q, closed_o | half a ring is full, with all reports in flight: four cycles
//            order  | port_q, u_order                  | command and beats of one report, then the other port; whose answer comes next
//            answer | written_q, failed_q              | to the port of the oldest command, a cycle later
// Why:       Reports of the second port are discarded if its owner is gone (`off_i`), or it has no ring of LEAST slots: nothing waits for it.
//            Two owners do not wait for each other (docs/card.md "Ports"). While a port's ring is half full, with all reports in flight, the port is
//            `closed_o`: its frames are dropped. Of its segments in the walk no FPDU behind the first is walked. It is also `hold_o`: none of its
//            jobs begins.
//            What may still come has room in the other half: two reports of each segment in the walk, one of each job that began. Failed jobs wait in
//            transmit as well. Interrupts are on vectors 0 and 1.

`include "weft_assert.svh"

module reports
  import weft_int_pkg::*;
  import weft_card_pkg::*;
#(
  parameter  int unsigned DATA_W     = 512,
  parameter  int unsigned PORTS      = 1,
  parameter  int unsigned UNANSWERED = 80,                     // reports whose commands are taken and not answered, at most
  localparam int unsigned COUNT_W    = $clog2(DATA_W / 8) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  report_cfg_t [PORTS-1:0]       cfg_i,
  input  logic        [PORTS-1:0]       off_i,      // level: the port's owner is gone
  output logic        [PORTS-1:0]       closed_o,   // level, a register
  output logic        [PORTS-1:0]       hold_o,     // likewise
  input  logic        [PORTS-1:0][31:0] job_done_i,

  input  logic                    rx_valid_i,
  output logic                    rx_ready_o,
  input  logic [    511:0]        rx_report_i,
  output logic                    rx_full_o,    // level: the report of receive that is offered waits for room in its ring
  input  logic [PORTS-1:0]        rx_begun_i,   // pulse: one more report will come
  input  logic [PORTS-1:0]        rx_merged_i,  // pulse: one of them will not, as a later one stands for it
  input  logic [PORTS-1:0]        tx_valid_i,
  output logic [PORTS-1:0]        tx_ready_o,
  input  logic [PORTS-1:0][511:0] tx_report_i,

  // To dma_write: a command, then its beats.
  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output logic [       63:0] cmd_addr_o,
  output logic               wr_valid_o,
  input  logic               wr_ready_i,
  output logic [ DATA_W-1:0] wr_data_o,
  output logic [COUNT_W-1:0] wr_count_o,
  output logic               wr_last_o,
  input  logic               written_i,    // pulse: the write response of the oldest report has come
  input  logic               failed_i,     // with it: the response is an error

  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  output logic         [PORTS-1:0][31:0] tail_o,
  output logic         [PORTS-1:0]       broken_o,
  output logic                           stall_o,     // as of report_writer, of any port
  output logic                           msix_gap_o,
  output trace_event_t [      1:0]       trace_o,     // a report is in flight; an interrupt
  output logic                           idle_o
);

  // Reports in flight: accepted ahead, and written without an answer. More than there can be, as `over` does not check for room.
  localparam int unsigned ANSWERS = 128;
  localparam int unsigned LEAST_LOG2 = 7;  // slots of a ring that needs no waiting for its owner

  logic [PORTS-1:0] rx_valid, rx_ready, tx_valid, tx_ready, cmd_valid, cmd_ready, valid, ready, last;
  logic [PORTS-1:0] written, failed, msix_valid, msix_ready, stall, gap, idle;
  logic         [PORTS-1:0][       31:0] taken;
  logic         [PORTS-1:0][       63:0] cmd_addr;
  logic         [PORTS-1:0][ DATA_W-1:0] data;
  logic         [PORTS-1:0][COUNT_W-1:0] count;
  logic         [PORTS-1:0][        4:0] vector;
  trace_event_t [PORTS-1:0][        1:0] trace;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    report_writer #(
      .DATA_W(DATA_W),
      .PORT  (p)
    ) u_writer (
      .clk_i,
      .rst_ni,
      .cfg_i        (cfg_i[p]),
      .job_done_i   (job_done_i[p]),
      .rx_valid_i   (rx_valid[p]),
      .rx_ready_o   (rx_ready[p]),
      .rx_report_i,
      .tx_valid_i   (tx_valid[p]),
      .tx_ready_o   (tx_ready[p]),
      .tx_report_i  (tx_report_i[p]),
      .cmd_valid_o  (cmd_valid[p]),
      .cmd_ready_i  (cmd_ready[p]),
      .cmd_addr_o   (cmd_addr[p]),
      .wr_valid_o   (valid[p]),
      .wr_ready_i   (ready[p]),
      .wr_data_o    (data[p]),
      .wr_count_o   (count[p]),
      .wr_last_o    (last[p]),
      .written_i    (written[p]),
      .failed_i     (failed[p]),
      .msix_valid_o (msix_valid[p]),
      .msix_ready_i (msix_ready[p]),
      .msix_vector_o(vector[p]),
      .taken_o      (taken[p]),
      .tail_o       (tail_o[p]),
      .broken_o     (broken_o[p]),
      .stall_o      (stall[p]),
      .msix_gap_o   (gap[p]),
      .trace_o      (trace[p]),
      .idle_o       (idle[p])
    );
  end

  // What goes to report_ahead, from one writer or the other.
  logic out_cmd_valid, out_cmd_ready, out_valid, out_ready, out_last, ahead_idle;
  logic [      63:0] out_addr;
  logic [DATA_W-1:0] out_data;

  report_ahead #(
    .DATA_W(DATA_W)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .cmd_valid_i(out_cmd_valid),
    .cmd_ready_o(out_cmd_ready),
    .cmd_addr_i (out_addr),
    .wr_valid_i (out_valid),
    .wr_ready_o (out_ready),
    .wr_data_i  (out_data),
    .wr_last_i  (out_last),
    .cmd_valid_o,
    .cmd_ready_i,
    .cmd_addr_o,
    .wr_valid_o,
    .wr_ready_i,
    .wr_data_o,
    .wr_last_o,
    .idle_o     (ahead_idle)
  );

  assign stall_o   = |stall;
  assign rx_full_o = |(stall & rx_valid);
  assign idle_o    = &idle && ahead_idle;

  if (PORTS == 1) begin : gen_one_port
    assign rx_valid      = rx_valid_i;
    assign rx_ready_o    = rx_ready[0];
    assign tx_valid      = tx_valid_i;
    assign tx_ready_o    = tx_ready;
    assign out_cmd_valid = cmd_valid[0];
    assign cmd_ready     = out_cmd_ready;
    assign out_addr      = cmd_addr[0];
    assign out_valid     = valid[0];
    assign ready         = out_ready;
    assign out_data      = data[0];
    assign wr_count_o    = count[0];
    assign out_last      = last[0];
    assign written       = written_i;
    assign failed        = failed_i;
    assign msix_valid_o  = msix_valid[0];
    assign msix_ready    = msix_ready_i;
    assign msix_vector_o = vector[0];
    assign msix_gap_o    = gap[0];
    assign trace_o       = trace[0];
    assign closed_o      = '0;
    assign hold_o        = '0;

    logic unused;
    assign unused = ^{off_i, rx_begun_i, rx_merged_i, taken, LEAST_LOG2 == 0};
  end else begin : gen_two_ports
    // ---------------------------------------------------------------- the port of a report
    // verilator lint_off UNUSEDSIGNAL
    segment_report_t       rx_report;  // the port is at the same place in all reports
    // verilator lint_on UNUSEDSIGNAL
    logic                  rx_port;
    logic            [1:0] gone_q;

    assign rx_report  = rx_report_i;
    assign rx_port    = rx_report.phase[SEGMENT_REPORT_PORT_BIT];
    assign rx_valid   = {rx_port, !rx_port} & {2{rx_valid_i}} & ~gone_q;
    assign rx_ready_o = rx_ready[rx_port] || gone_q[rx_port];
    assign tx_valid   = tx_valid_i & ~gone_q;
    assign tx_ready_o = tx_ready | gone_q;

    // A register decides for a port that has just come or gone, so what is shown stays shown.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) gone_q <= 2'b10;
      else gone_q <= {off_i[1] || cfg_i[1].log2 < 8'(LEAST_LOG2) || broken_o[1], 1'b0};
    end

    // ---------------------------------------------------------------- room in the rings
    logic left_q, left_port_q, left_two_q;  // a receive report was taken; it is two joined ones
    logic [1:0]      full_q;
    logic [1:0][8:0] coming_q;  // begun in receive, not taken yet
    logic [1:0][31:0] used_q, with_q, half_q;  // half: the bits of a count that half a ring does not have

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q <= 1'b0;
      else left_q <= rx_valid_i && rx_ready_o;
    end
    always_ff @(posedge clk_i) begin
      left_port_q <= rx_port;
      left_two_q  <= rx_report.kind == REPORT_KIND_PLACED;
    end

    for (genvar p = 0; p < 2; p++) begin : gen_room
      logic [8:0] left;
      assign left = !left_q || left_port_q != 1'(p) ? 9'd0 : left_two_q ? 9'd2 : 9'd1;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          coming_q[p] <= '0;
          full_q[p]   <= 1'b0;
        end else begin
          coming_q[p] <= coming_q[p] + 9'(rx_begun_i[p]) - 9'(rx_merged_i[p]) - left;
          full_q[p]   <= (with_q[p] & half_q[p]) != '0;
        end
      end
      always_ff @(posedge clk_i) begin
        used_q[p] <= taken[p] - cfg_i[p].head;
        with_q[p] <= used_q[p] + 32'(coming_q[p]);
        half_q[p] <= '1 << (cfg_i[p].log2[4:0] - 5'd1);
      end
    end

    // With one owner nothing is closed: nobody waits for the other.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        closed_o <= 2'b10;
        hold_o   <= 2'b00;
      end else begin
        closed_o <= {gone_q[1] || full_q[1], !gone_q[1] && full_q[0]};
        hold_o   <= full_q & {2{!gone_q[1]}};
      end
    end

    // ---------------------------------------------------------------- one report after the other
    logic port_q, over, of_port, order_ready, order_valid;

    // Command and beats of a report go together: the port changes when both are sent.
    assign over = (!cmd_valid[port_q] || out_cmd_ready) && (!valid[port_q] || (out_ready && last[port_q]));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) port_q <= 1'b0;
      else if (over && (cmd_valid[!port_q] || valid[!port_q])) port_q <= !port_q;
    end

    assign out_cmd_valid = cmd_valid[port_q] && order_ready;
    assign cmd_ready     = {port_q, !port_q} & {2{out_cmd_ready && order_ready}};
    assign out_addr      = cmd_addr[port_q];
    assign out_valid     = valid[port_q];
    assign ready         = {port_q, !port_q} & {2{out_ready}};
    assign out_data      = data[port_q];
    assign wr_count_o    = count[port_q];
    assign out_last      = last[port_q];

    // Answers come in the order of the commands, and are used a cycle later.
    logic written_q, failed_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {written_q, failed_q} <= '0;
      else {written_q, failed_q} <= {written_i, failed_i};
    end
    fifo_sync #(
      .WIDTH        (1),
      .DEPTH        (ANSWERS),
      .LUT_RAM_DEPTH(ANSWERS),
      .HEAD         (1'b1)
    ) u_order (
      .clk_i,
      .rst_ni,
      .wr_valid_i(out_cmd_valid && out_cmd_ready),
      .wr_ready_o(order_ready),
      .wr_data_i (port_q),
      .rd_valid_o(order_valid),
      .rd_ready_i(written_q),
      .rd_data_o (of_port),
      .count_o   ()
    );
    assign written = {of_port, !of_port} & {2{written_q}};
    assign failed  = {of_port, !of_port} & {2{failed_q}};

    // ---------------------------------------------------------------- one interrupt after the other
    logic msix_port_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) msix_port_q <= 1'b0;
      else if (msix_valid[!msix_port_q] && (!msix_valid[msix_port_q] || msix_ready_i)) msix_port_q <= !msix_port_q;
    end
    assign msix_valid_o  = msix_valid[msix_port_q];
    assign msix_ready    = {msix_port_q, !msix_port_q} & {2{msix_ready_i}};
    assign msix_vector_o = vector[msix_port_q];
    assign msix_gap_o    = gap[msix_port_q];

    // ---------------------------------------------------------------- one event after the other
    // A report's event is emitted with its command; interrupts go one at a time.
    trace_event_t [1:0] report_q, report;
    always_comb begin
      for (int unsigned p = 0; p < 2; p++) report[p] = trace[p][0].valid ? trace[p][0] : report_q[p];
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        report_q <= '0;
        trace_o  <= '0;
      end else begin
        report_q         <= report;
        trace_o[0]       <= report[port_q];
        trace_o[0].valid <= out_cmd_valid && out_cmd_ready;
        trace_o[1]       <= trace[0][1].valid ? trace[0][1] : trace[1][1];
      end
    end

    logic unused;
    assign unused = ^{off_i[0], order_valid};

    `WEFT_ASSERT(room_for_order, cmd_valid[port_q] -> order_ready)
    `WEFT_ASSERT(answer_of_one, written_q -> order_valid)
    `WEFT_ASSERT(none_comes_of_nothing, left_q -> coming_q[left_port_q] >= (left_two_q ? 9'd2 : 9'd1))
  end

  if (UNANSWERED >= ANSWERS) begin : gen_room_check
    $error("reports: more reports without an answer than there are places for whose they are");
  end
  if (PORTS != 1 && PORTS != MAX_PORTS) begin : gen_param_check
    $error("reports: PORTS must be 1 or 2");
  end

endmodule
