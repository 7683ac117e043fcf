// The host's registers of the control processor (PROC_* in docs/registers.md): start and stop, load with checksum, watchdog, commands, memory window.
//
// Handshake: AXI4-Lite, one access at a time. An access of the memory window waits until the memory has a cycle.
// Pipeline:  state       | what happens               | left when
//            Idle        | address and data are taken | an access comes
//            Write       | the register is written    | always
//            WriteMemory | the memory is requested    | granted
//            Wrote       | the response is offered    | taken
//            Read        | the register is read       | always
//            ReadMemory  | the memory is requested    | granted
//            ReadLate    | the word arrives           | always
//            Answer      | the value is offered       | taken

`include "weft_assert.svh"

module control_regs
  import weft_card_pkg::*;
#(
  parameter int unsigned MEMORY_BYTES = 65536,
  parameter int unsigned CLOCK_KHZ    = 250_000
) (
  input logic clk_i,
  input logic rst_ni,
  input logic stop_i,  // level: the processor is stopped and cannot be started

  axi_lite_if.slave s_axil,

  output logic        run_o,            // the processor is not held in reset
  output logic        halt_o,           // level: enter the debug monitor
  input  logic        awake_i,
  input  logic [31:0] pc_i,
  input  logic        end_i,            // the firmware ends, with cause_i
  input  logic [31:0] cause_i,
  input  logic        beat_i,
  input  logic [31:0] beat_value_i,
  output logic        watchdog_o,       // the watchdog fired once
  output logic        command_o,        // level: a command is pending
  output logic [31:0] command_value_o,
  input  logic        taken_i,
  input  logic        answer_i,
  input  logic [31:0] answer_value_i,
  output logic [31:0] bell_o,           // the host's bell, held until taken
  input  logic        bell_taken_i,
  input  logic        dma_busy_i,
  input  logic        dma_failed_i,

  output logic        mem_req_o,    // held until granted; read data come a cycle later
  input  logic        mem_gnt_i,
  output logic        mem_we_o,
  output logic [31:2] mem_addr_o,
  output logic [31:0] mem_wdata_o,
  input  logic [31:0] mem_rdata_i,

  output logic idle_o
);

  // CRC32C, reflected, of one more word, low byte first.
  function automatic logic [31:0] crc_word(input logic [31:0] crc, input logic [31:0] word);
    logic [31:0] c;
    c = crc ^ word;
    for (int unsigned i = 0; i < 32; i++) c = {1'b0, c[31:1]} ^ (c[0] ? 32'h82f63b78 : 32'd0);
    return c;
  endfunction

  typedef enum logic [2:0] {
    Idle,
    Write,
    WriteMemory,
    Wrote,
    Read,
    ReadMemory,
    ReadLate,
    Answer
  } state_e;

  state_e        state_q;
  logic   [15:2] at_q;
  logic   [15:0] at;
  logic [31:0] data_q, read_q, addr_q, crc_q, limit_q, since_q, cause_q, pc_q, beat_q, answer_q, high_q, word;
  logic [63:0] awake_q;
  logic run_q, loaded_q, refused_q, crashed_q, fired_q, hung_q, whole_q, dma_error_q, open_q;
  logic start, halt, over;

  assign at             = {at_q, 2'b00};

  assign s_axil.awready = state_q == Idle && s_axil.awvalid && s_axil.wvalid;
  assign s_axil.wready  = s_axil.awready;
  assign s_axil.arready = state_q == Idle && !(s_axil.awvalid && s_axil.wvalid);
  assign s_axil.bvalid  = state_q == Wrote;
  assign s_axil.bresp   = 2'b00;
  assign s_axil.rvalid  = state_q == Answer;
  assign s_axil.rresp   = 2'b00;
  assign s_axil.rdata   = read_q;

  assign mem_req_o      = state_q == WriteMemory || state_q == ReadMemory;
  assign mem_we_o       = state_q == WriteMemory;
  assign mem_addr_o     = addr_q[31:2];
  assign mem_wdata_o    = data_q;

  always_comb begin
    word = '0;
    unique case (at)
      REG_PROC_ID:       word = REG_PROC_ID_RESET;
      REG_PROC_MEMORY:   word = MEMORY_BYTES;
      REG_PROC_CTRL: begin
        word[PROC_CTRL_RUN_BIT]  = run_q;
        word[PROC_CTRL_HALT_BIT] = halt_o;
      end
      REG_PROC_STATUS: begin
        word[PROC_STATUS_RUNNING_BIT]   = run_q;
        word[PROC_STATUS_ASLEEP_BIT]    = run_q && !awake_i;
        word[PROC_STATUS_LOADED_BIT]    = loaded_q;
        word[PROC_STATUS_REFUSED_BIT]   = refused_q;
        word[PROC_STATUS_CRASHED_BIT]   = crashed_q;
        word[PROC_STATUS_WATCHDOG_BIT]  = fired_q;
        word[PROC_STATUS_HUNG_BIT]      = hung_q;
        word[PROC_STATUS_DMA_BUSY_BIT]  = dma_busy_i;
        word[PROC_STATUS_DMA_ERROR_BIT] = dma_error_q;
      end
      REG_PROC_CAUSE:    word = cause_q;
      REG_PROC_PC:       word = pc_q;
      REG_PROC_ADDR:     word = addr_q;
      REG_PROC_CHECK:    word = ~crc_q;
      REG_PROC_WATCHDOG: word = limit_q;
      REG_PROC_BEAT:     word = beat_q;
      REG_PROC_COMMAND: begin
        word[PROC_COMMAND_WAITING_BIT] = command_o;
        word[PROC_COMMAND_OPEN_BIT]    = open_q;
      end
      REG_PROC_ANSWER:   word = answer_q;
      REG_PROC_AWAKE_LO: word = awake_q[31:0];
      REG_PROC_AWAKE_HI: word = high_q;
      REG_PROC_BELL:     word = bell_o;
      REG_PROC_CLOCK:    word = CLOCK_KHZ;
      default:           ;
    endcase
  end

  // ---------------------------------------------------------------- accesses
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:        if (s_axil.awready) state_q <= Write;
 else if (s_axil.arvalid) state_q <= Read;
        Write:       state_q <= at == REG_PROC_DATA && whole_q ? WriteMemory : Wrote;
        WriteMemory: if (mem_gnt_i) state_q <= Wrote;
        Wrote:       if (s_axil.bready) state_q <= Idle;
        Read:        state_q <= at == REG_PROC_DATA ? ReadMemory : Answer;
        ReadMemory:  if (mem_gnt_i) state_q <= ReadLate;
        ReadLate:    state_q <= Answer;
        Answer:      if (s_axil.rready) state_q <= Idle;
        default:     state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      at_q    <= s_axil.awready ? s_axil.awaddr[15:2] : s_axil.araddr[15:2];
      data_q  <= s_axil.wdata;
      whole_q <= &s_axil.wstrb;
    end
    if (state_q == Read) read_q <= word;
    if (state_q == Read && at == REG_PROC_AWAKE_LO) high_q <= awake_q[63:32];
    if (state_q == ReadLate) read_q <= mem_rdata_i;
  end

  // ---------------------------------------------------------------- effects of the accesses
  logic written;

  assign written = state_q == Write && whole_q;
  assign start   = written && at == REG_PROC_CTRL && data_q[PROC_CTRL_RUN_BIT] && !run_q && loaded_q && !stop_i;
  assign over    = limit_q != 0 && since_q >= limit_q;
  assign halt    = stop_i || end_i || over && fired_q || written && at == REG_PROC_CTRL && !data_q[PROC_CTRL_RUN_BIT];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {run_q, loaded_q, refused_q, crashed_q, fired_q, hung_q, dma_error_q, command_o, open_q, watchdog_o, halt_o} <= '0;
      {bell_o, addr_q, limit_q, since_q, cause_q, pc_q, beat_q, answer_q, command_value_o}                         <= '0;
      awake_q                                                                                                      <= '0;
      crc_q                                                                                                        <= '1;
    end else begin
      if (written) begin
        unique case (at)
          REG_PROC_CTRL: begin
            if (!run_q && data_q[PROC_CTRL_LOAD_BIT]) begin
              crc_q    <= '1;
              loaded_q <= 1'b0;
            end
            if (data_q[PROC_CTRL_RUN_BIT] && !run_q && !loaded_q) refused_q <= 1'b1;
            halt_o <= data_q[PROC_CTRL_HALT_BIT];
          end
          REG_PROC_ADDR:     addr_q <= {data_q[31:2], 2'b00};
          REG_PROC_CHECK:    loaded_q <= !run_q && data_q == ~crc_q;
          REG_PROC_WATCHDOG: limit_q <= data_q;
          REG_PROC_COMMAND: begin
            command_o       <= run_q;
            open_q          <= run_q;
            command_value_o <= data_q;
          end
          default:           ;
        endcase
      end
      if (mem_req_o && mem_gnt_i) begin
        if (mem_we_o) addr_q <= addr_q + 32'd4;
        if (mem_we_o && !run_q) begin
          crc_q    <= crc_word(crc_q, data_q);
          loaded_q <= 1'b0;
        end
      end
      if (run_q) begin
        pc_q    <= pc_i;
        since_q <= beat_i || !awake_i ? '0 : over ? '0 : since_q + 1'b1;
        if (awake_i) awake_q <= awake_q + 1'b1;
        if (over && !beat_i) begin
          fired_q    <= 1'b1;
          watchdog_o <= 1'b1;
          hung_q     <= fired_q;
        end
        if (beat_i) beat_q <= beat_value_i;
        if (taken_i) command_o <= 1'b0;
        bell_o <= (bell_taken_i ? '0 : bell_o) | (written && at == REG_PROC_BELL ? data_q : '0);
        if (answer_i) begin
          answer_q <= answer_value_i;
          open_q   <= 1'b0;
        end
        if (dma_failed_i) dma_error_q <= 1'b1;
        if (end_i) begin
          crashed_q <= 1'b1;
          cause_q   <= cause_i;
        end
      end
      if (halt) begin
        run_q      <= 1'b0;
        command_o  <= 1'b0;
        bell_o     <= '0;
        halt_o     <= 1'b0;
        watchdog_o <= 1'b0;
      end else if (start) begin
        run_q                                                                                         <= 1'b1;
        awake_q                                                                                       <= '0;
        since_q                                                                                       <= '0;
        {loaded_q, refused_q, crashed_q, fired_q, hung_q, dma_error_q, command_o, open_q, watchdog_o} <= '0;
        {cause_q, beat_q, answer_q}                                                                   <= '0;
      end
    end
  end

  assign run_o  = run_q;
  assign idle_o = state_q == Idle && !s_axil.awvalid && !s_axil.arvalid;

  logic unused_addr;
  assign unused_addr = ^{s_axil.awaddr[1:0], s_axil.araddr[1:0]};

  `WEFT_ASSERT(a_end, !(end_i && !run_q))

endmodule
