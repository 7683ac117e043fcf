// The core's data bus: its memory, its ports (proc_port in docs/registers.md), and from 0x20020000 on the card's registers (control_window).
//
// Handshake: A request is held until granted. Memory and ports answer a cycle after the grant, the card's registers when they answer.
// Pipeline:  one register.
// Why:       An access to no address, or into the guard below the stack, is answered in error. The core takes that as a fault of the instruction.

module control_ports
  import weft_card_pkg::*;
#(
  parameter int unsigned MEMORY_BYTES = 65536
) (
  input logic        clk_i,
  input logic        rst_ni,  // the core's
  input logic [63:0] time_i,

  input  logic        data_req_i,
  output logic        data_gnt_o,
  output logic        data_rvalid_o,
  input  logic        data_we_i,
  input  logic [31:0] data_addr_i,
  input  logic [31:0] data_wdata_i,
  output logic [31:0] data_rdata_o,
  output logic        data_err_o,

  output logic        mem_req_o,
  input  logic        mem_gnt_i,
  input  logic [31:0] mem_rdata_i,

  output logic        window_req_o,     // an access of the card's registers, with the core's address, data and bytes
  input  logic        window_ready_i,
  input  logic        window_rvalid_i,
  input  logic [31:0] window_rdata_i,
  input  logic        window_err_i,

  output logic        end_o,           // pulses, with the value
  output logic        beat_o,
  output logic        answer_o,
  output logic        taken_o,
  output logic [31:0] value_o,
  input  logic [31:0] command_i,
  output logic        alarm_o,         // level
  output logic        alarm_set_o,     // an alarm is set, for alarm_at_o
  output logic [63:0] alarm_at_o,
  output logic [ 1:0] route_o,         // level: interrupts to the firmware, bit 0: of both ports; bit 1: of port 1 alone
  output logic        raise_o,
  input  logic        report_i,
  output logic        report_taken_o,
  input  logic [31:0] bell_i,
  output logic        bell_taken_o,

  output logic        dma_start_o,
  output logic        dma_write_o,
  output logic [63:2] dma_host_o,
  output logic [31:2] dma_local_o,
  output logic [31:2] dma_words_o,
  output logic [ 3:0] dma_first_o,
  output logic [ 3:0] dma_last_o,
  input  logic        dma_busy_i,
  input  logic        dma_failed_i
);

  logic in_memory, in_guard, in_ports, in_window, port, late_memory_q, rvalid_q, err_q;
  logic [7:0] number;
  logic [31:0] word, word_q, high_q;
  logic [31:8] guard_q;
  logic [63:0] host_q;
  logic [31:0] dma_end;
  logic [31:2] local_q;

  assign in_memory      = data_addr_i < MEMORY_BYTES;
  assign in_guard       = guard_q != 0 && data_addr_i[31:8] == guard_q;
  assign in_ports       = data_addr_i[31:10] == {4'h1, 18'd0} && data_addr_i[9:2] <= PROC_PORT_INTERRUPT;
  assign in_window      = data_addr_i[31:17] == 15'h1001;
  assign number         = data_addr_i[9:2];

  assign mem_req_o      = data_req_i && in_memory && !in_guard;
  assign window_req_o   = data_req_i && in_window;
  assign data_gnt_o     = mem_req_o ? mem_gnt_i : window_req_o ? window_ready_i : data_req_i;
  assign port           = data_req_i && in_ports;

  assign value_o        = data_wdata_i;
  assign end_o          = port && data_we_i && number == PROC_PORT_END;
  assign beat_o         = port && data_we_i && number == PROC_PORT_BEAT;
  assign answer_o       = port && data_we_i && number == PROC_PORT_ANSWER;
  assign taken_o        = port && !data_we_i && number == PROC_PORT_COMMAND;
  assign dma_write_o    = number == PROC_PORT_DMA_WRITE;
  assign dma_start_o    = port && data_we_i && (number == PROC_PORT_DMA_READ || dma_write_o);
  assign dma_host_o     = host_q[63:2];
  assign dma_local_o    = local_q;
  assign raise_o        = port && data_we_i && number == PROC_PORT_INTERRUPT;
  assign report_taken_o = port && !data_we_i && number == PROC_PORT_REPORTS;
  assign bell_taken_o   = port && !data_we_i && number == PROC_PORT_BELL;

  // From the first byte's word to the last one's.
  assign dma_end        = data_wdata_i + 32'(host_q[1:0]) - 32'd1;
  assign dma_words_o    = data_wdata_i == 0 ? '0 : dma_end[31:2] + 30'd1;
  assign dma_first_o    = 4'b1111 << host_q[1:0];
  assign dma_last_o     = 4'b1111 >> ~dma_end[1:0];

  always_comb begin
    word = '0;
    unique case (number)
      PROC_PORT_COMMAND:  word = command_i;
      PROC_PORT_TIME_LO:  word = time_i[31:0];
      PROC_PORT_TIME_HI:  word = high_q;
      PROC_PORT_DMA_READ: word = {30'd0, dma_failed_i, dma_busy_i};
      PROC_PORT_REPORTS:  word = 32'(report_i);
      PROC_PORT_BELL:     word = bell_i;
      default:            ;
    endcase
  end

  assign alarm_o       = alarm_set_o && time_i >= alarm_at_o;
  assign data_rvalid_o = rvalid_q || window_rvalid_i;
  assign data_err_o    = window_rvalid_i ? window_err_i : err_q;
  assign data_rdata_o  = window_rvalid_i ? window_rdata_i : late_memory_q ? mem_rdata_i : word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q      <= 1'b0;
      err_q         <= 1'b0;
      late_memory_q <= 1'b0;
      guard_q       <= '0;
      alarm_set_o   <= 1'b0;
      route_o       <= '0;
    end else begin
      rvalid_q      <= data_req_i && data_gnt_o && !window_req_o;
      err_q         <= data_req_i && !mem_req_o && !in_ports;
      late_memory_q <= mem_req_o;
      if (port && data_we_i && number == PROC_PORT_GUARD) guard_q <= data_wdata_i[31:8];
      if (port && data_we_i && number == PROC_PORT_ALARM) alarm_set_o <= data_wdata_i != 0;
      if (port && data_we_i && number == PROC_PORT_REPORTS) route_o <= data_wdata_i[1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    word_q <= word;
    if (port && !data_we_i && number == PROC_PORT_TIME_LO) high_q <= time_i[63:32];
    if (port && data_we_i) begin
      unique case (number)
        PROC_PORT_ALARM:       alarm_at_o <= time_i + 64'(data_wdata_i);
        PROC_PORT_DMA_HOST_LO: host_q[31:0] <= data_wdata_i;
        PROC_PORT_DMA_HOST_HI: host_q[63:32] <= data_wdata_i;
        PROC_PORT_DMA_LOCAL:   local_q <= data_wdata_i[31:2];
        default:               ;
      endcase
    end
  end

  logic unused_addr;
  assign unused_addr = ^data_addr_i[1:0];

endmodule
