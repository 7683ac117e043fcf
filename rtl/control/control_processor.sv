// The control processor (docs/processor.md): a core with its own memory, timer and watchdog, registers for the host, and DMA to host memory.
//
// Handshake: AXI4-Lite slave for the host, AXI4-Lite master to the card's registers, AXI4 to host memory; interrupts ready/valid. Host memory: one
//            burst at a time, 256 bytes at most; AWUSER is to be 0 (docs/card.md "The RTL boundary").
// Pipeline:  AXI4-Lite ─► control_regs ─┬─ run, watchdog, commands ─► control_core ◄─ instructions ── control_memory
//                                       └─ window to the memory ──┐       │ data                          ▲
//                                                                 ├─► control_ports ─► memory, ports      │
//            AXI4 ◄─────────────────── control_dma ◄──────────────┼───────────────────────────────────────┘
//            the card's AXI4-Lite ◄─── control_window ◄───────────┘
//            port of the memory | users                       | answer
//            instructions       | the core                    | a cycle after the request
//            data               | DMA before host before core | a cycle after the grant
// Why:       Stopped, crashed or hung, it does nothing on the bus but end the burst in flight.

module control_processor
  import weft_card_pkg::*;
#(
  parameter int unsigned DATA_W       = 512,     // 128, 256 or 512
  parameter int unsigned MEMORY_BYTES = 65536,   // a power of two, 16 KiB to 1 MiB
  parameter int unsigned CLOCK_KHZ    = 250_000  // of clk_i, for the host
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        stop_i,  // level: the processor is stopped and cannot be started
  input logic [63:0] time_i,  // cycles, free-running

  axi_lite_if.slave s_axil,

  // The card's registers.
  axi_lite_if.master m_axil,

  // The card's interrupts, and those of the host.
  input  logic       card_msix_valid_i,
  output logic       card_msix_ready_o,
  input  logic [4:0] card_msix_vector_i,
  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o,

  axi4_if.master m_axi,

  output logic        running_o,   // level: the processor is not held in reset
  output logic        bus_idle_o,  // nothing of the processor is on the bus to host memory
  output logic        alarm_o,     // the processor will be awake when time_i is alarm_at_o
  output logic [63:0] alarm_at_o,
  output logic        quiescent_o  // nothing will happen before the next input or the alarm
);

  localparam int unsigned WORDS = MEMORY_BYTES / 4;
  localparam int unsigned WORD_W = $clog2(WORDS);

  logic [63:0] time_q;
  logic run, halt, core_rst_n, awake, watchdog, command, taken, ended, beat, answer, alarm;
  logic bell_taken, report, report_taken, raise, msix_idle;
  logic [1:0] route;
  logic window_req, window_ready, window_rvalid, window_err;
  logic [31:0] pc, command_value, value, window_rdata, bell;
  logic dma_start, dma_write, dma_busy, dma_failed, regs_idle;
  logic [63:2] dma_host;
  logic [31:2] dma_local, dma_words;
  logic [3:0] dma_first, dma_last;

  logic instr_req, instr_rvalid, instr_err;
  logic data_req, data_gnt, data_rvalid, data_we, data_err;
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata, memory_read;
  logic [3:0] data_be;

  // Clients of the memory's data port: 0 DMA, 1 host, 2 core.
  logic [2:0] mem_req, mem_gnt;
  logic [ 1:0]       mem_we;
  logic [ 1:0][31:2] mem_addr;
  logic [ 1:0][31:0] mem_wdata;
  logic [ 3:0]       bytes;
  logic [31:2]       word_at;
  logic [31:0]       word_data;

  always_ff @(posedge clk_i) begin
    time_q <= time_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) core_rst_n <= 1'b0;
    else core_rst_n <= run;
  end

  control_regs #(
    .MEMORY_BYTES(MEMORY_BYTES),
    .CLOCK_KHZ   (CLOCK_KHZ)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .stop_i,
    .s_axil,
    .run_o          (run),
    .halt_o         (halt),
    .awake_i        (awake),
    .pc_i           (pc),
    .end_i          (ended && run),
    .cause_i        (value),
    .beat_i         (beat),
    .beat_value_i   (value),
    .watchdog_o     (watchdog),
    .command_o      (command),
    .command_value_o(command_value),
    .taken_i        (taken),
    .answer_i       (answer),
    .answer_value_i (value),
    .bell_o         (bell),
    .bell_taken_i   (bell_taken),
    .dma_busy_i     (dma_busy),
    .dma_failed_i   (dma_failed),
    .mem_req_o      (mem_req[1]),
    .mem_gnt_i      (mem_gnt[1]),
    .mem_we_o       (mem_we[1]),
    .mem_addr_o     (mem_addr[1]),
    .mem_wdata_o    (mem_wdata[1]),
    .mem_rdata_i    (memory_read),
    .idle_o         (regs_idle)
  );

  control_core u_core (
    .clk_i,
    .rst_ni        (core_rst_n),
    .instr_req_o   (instr_req),
    .instr_gnt_i   (instr_req),
    .instr_rvalid_i(instr_rvalid),
    .instr_addr_o  (instr_addr),
    .instr_rdata_i (instr_rdata),
    .instr_err_i   (instr_err),
    .data_req_o    (data_req),
    .data_gnt_i    (data_gnt),
    .data_rvalid_i (data_rvalid),
    .data_we_o     (data_we),
    .data_be_o     (data_be),
    .data_addr_o   (data_addr),
    .data_wdata_o  (data_wdata),
    .data_rdata_i  (data_rdata),
    .data_err_i    (data_err),
    .alarm_i       (alarm),
    .command_i     (command),
    .report_i      (report),
    .bell_i        (|bell),
    .watchdog_i    (watchdog),
    .debug_i       (halt),
    .awake_o       (awake),
    .pc_o          (pc)
  );

  always_ff @(posedge clk_i or negedge core_rst_n) begin
    if (!core_rst_n) begin
      instr_rvalid <= 1'b0;
      instr_err    <= 1'b0;
    end else begin
      instr_rvalid <= instr_req;
      instr_err    <= instr_addr >= MEMORY_BYTES;
    end
  end

  control_ports #(
    .MEMORY_BYTES(MEMORY_BYTES)
  ) u_ports (
    .clk_i,
    .rst_ni         (core_rst_n),
    .time_i         (time_q),
    .data_req_i     (data_req),
    .data_gnt_o     (data_gnt),
    .data_rvalid_o  (data_rvalid),
    .data_we_i      (data_we),
    .data_addr_i    (data_addr),
    .data_wdata_i   (data_wdata),
    .data_rdata_o   (data_rdata),
    .data_err_o     (data_err),
    .mem_req_o      (mem_req[2]),
    .mem_gnt_i      (mem_gnt[2]),
    .mem_rdata_i    (memory_read),
    .window_req_o   (window_req),
    .window_ready_i (window_ready),
    .window_rvalid_i(window_rvalid),
    .window_rdata_i (window_rdata),
    .window_err_i   (window_err),
    .end_o          (ended),
    .beat_o         (beat),
    .answer_o       (answer),
    .taken_o        (taken),
    .value_o        (value),
    .command_i      (command_value),
    .alarm_o        (alarm),
    .alarm_set_o    (alarm_o),
    .alarm_at_o,
    .route_o        (route),
    .raise_o        (raise),
    .report_i       (report),
    .report_taken_o (report_taken),
    .bell_i         (bell),
    .bell_taken_o   (bell_taken),
    .dma_start_o    (dma_start),
    .dma_write_o    (dma_write),
    .dma_host_o     (dma_host),
    .dma_local_o    (dma_local),
    .dma_words_o    (dma_words),
    .dma_first_o    (dma_first),
    .dma_last_o     (dma_last),
    .dma_busy_i     (dma_busy),
    .dma_failed_i   (dma_failed)
  );

  control_dma #(
    .DATA_W(DATA_W)
  ) u_dma (
    .clk_i,
    .rst_ni,
    .start_i    (dma_start && core_rst_n),
    .write_i    (dma_write),
    .host_i     (dma_host),
    .local_i    (dma_local),
    .words_i    (dma_words),
    .first_i    (dma_first),
    .last_i     (dma_last),
    .stop_i     (!run),
    .busy_o     (dma_busy),
    .failed_o   (dma_failed),
    .mem_req_o  (mem_req[0]),
    .mem_gnt_i  (mem_gnt[0]),
    .mem_we_o   (mem_we[0]),
    .mem_addr_o (mem_addr[0]),
    .mem_wdata_o(mem_wdata[0]),
    .mem_rdata_i(memory_read),
    .m_axi
  );

  control_window u_window (
    .clk_i,
    .rst_ni,
    .core_rst_ni(core_rst_n),
    .req_i      (window_req),
    .ready_o    (window_ready),
    .we_i       (data_we),
    .addr_i     (data_addr[16:0]),
    .wdata_i    (data_wdata),
    .be_i       (data_be),
    .rvalid_o   (window_rvalid),
    .rdata_o    (window_rdata),
    .err_o      (window_err),
    .m_axil
  );

  control_msix u_msix (
    .clk_i,
    .rst_ni,
    .run_i        (core_rst_n),
    .route_i      (route),
    .silent_i     (stop_i),
    .raise_i      (raise),
    .taken_i      (report_taken),
    .report_o     (report),
    .idle_o       (msix_idle),
    .card_valid_i (card_msix_valid_i),
    .card_ready_o (card_msix_ready_o),
    .card_vector_i(card_msix_vector_i),
    .msix_valid_o,
    .msix_ready_i,
    .msix_vector_o
  );

  assign mem_gnt = {mem_req[1:0] == 0, !mem_req[0], 1'b1} & mem_req;

  always_comb begin
    bytes     = {4{data_we}} & data_be;
    word_at   = data_addr[31:2];
    word_data = data_wdata;
    for (int unsigned c = 0; c < 2; c++) begin
      if (mem_gnt[c]) begin
        bytes     = {4{mem_we[c]}};
        word_at   = mem_addr[c];
        word_data = mem_wdata[c];
      end
    end
  end

  control_memory #(
    .WORDS(WORDS)
  ) u_memory (
    .clk_i,
    .fetch_i     (instr_req),
    .fetch_word_i(instr_addr[2+:WORD_W]),
    .fetched_o   (instr_rdata),
    .access_i    (|mem_req),
    .write_i     (bytes),
    .word_i      (word_at[2+:WORD_W]),
    .data_i      (word_data),
    .read_o      (memory_read)
  );

  assign bus_idle_o = !dma_busy;
  assign running_o  = core_rst_n;

  // A register, of the cycle before, but for interrupts, which the card may request meanwhile.
  logic at_rest_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) at_rest_q <= 1'b0;
    else at_rest_q <= regs_idle && !dma_busy && window_ready && (!run && !core_rst_n || !awake);
  end

  assign quiescent_o = at_rest_q && msix_idle;

  logic unused_word;
  assign unused_word = ^word_at[31:2+WORD_W];

  if (DATA_W != 128 && DATA_W != 256 && DATA_W != 512 || MEMORY_BYTES < 16384 || MEMORY_BYTES > 1048576 || (1 << $clog2(
          MEMORY_BYTES
      )) != MEMORY_BYTES) begin : gen_param_check
    $error("control_processor: DATA_W 128, 256 or 512, MEMORY_BYTES a power of two from 16 KiB to 1 MiB");
  end

endmodule
