// Registers and doorbells: the AXI4-Lite slave (bit 16 of the address: 0 = BAR0, 1 = BAR2).
//
// Handshake: AXI4-Lite, one write and one read at a time, independent of each other.
// Pipeline:  stage     | registers           | what happens
//            writes    | see card_writes     | offset and data are shown, with a pulse
//            registers | jobs_on_q, mtu_q .. | the register is written, or the doorbell rung
//            reads     | see card_reads      | one word of `words`
// Why:       The bus lives on through a reset of the core: all accesses are answered, writes without effect (but for SCRATCH). A table access that
//            the reset overtakes is refused.

`include "weft_assert.svh"

module card_regs
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned DATA_W      = 512,
  parameter int unsigned NUM_FLOWS   = 1024,
  parameter int unsigned NUM_STAGS   = 4096,
  parameter int unsigned NUM_VECTORS = 1,
  parameter int unsigned PUSH_SLOTS  = 32,
  parameter int unsigned PORTS       = 1,
  parameter int unsigned CLOCK_KHZ   = 250_000
) (
  input logic clk_i,
  input logic rst_ni,      // of the bus
  input logic core_rst_ni, // of the registers and all behind them

  output logic soft_reset_o,  // pulse
  input  logic resetting_i,

  axi_lite_if.slave s_axil,

  output rx_cfg_t                 rx_cfg_o,
  output tx_cfg_t     [PORTS-1:0] tx_cfg_o,
  output report_cfg_t [PORTS-1:0] report_cfg_o,
  output logic                    loopback_o,

  output logic        rq_tail_valid_o,
  output logic [15:0] rq_tail_flow_o,
  output logic [31:0] rq_tail_value_o,

  output logic       tbl_req_valid_o,
  input  logic       tbl_req_ready_i,
  output table_req_t tbl_req_o,
  input  logic       tbl_rsp_valid_i,  // later than the request is taken
  input  table_rsp_t tbl_rsp_i,        // the row is valid in the next cycle as well

  output logic        fence_valid_o,   // pulse: a fence begins
  output logic [31:0] fence_number_o,
  input  logic [31:0] fence_done_i,

  input  logic                   quiescent_i,
  input  logic                   read_error_i,     // pulses
  input  logic                   write_error_i,
  input  logic [PORTS-1:0]       report_broken_i,  // level, until reset
  input  logic [PORTS-1:0]       off_i,            // level: the port's owner is gone
  input  logic [PORTS-1:0][31:0] job_done_i,
  input  logic [PORTS-1:0][31:0] report_tail_i,
  input  logic [PORTS-1:0][31:0] raw_tail_i,
  input  logic [     31:0]       msix_count_i,
  output logic [      7:0]       counter_index_o,
  input  logic [     31:0]       counter_value_i,  // of counter_index_o, two cycles later
  input  logic [     31:0]       counter_high_i,

  output reg_bus_t        bus_o,
  input  logic     [31:0] bus_value_i, // two cycles after bus_o.read; 0: not a register of others

  output logic idle_o  // no access in progress
);

  localparam logic [31:0] CAPS = 32'(NUM_VECTORS) << CAPS_VECTORS_LSB | 32'($clog2(
      NUM_STAGS
  )) << CAPS_STAGS_LOG2_LSB | 32'($clog2(
      NUM_FLOWS
  )) << CAPS_FLOWS_LOG2_LSB | 32'(DATA_W / 8) << CAPS_DATA_BYTES_LSB;

  // A value outside becomes the nearest inside.
  function automatic logic [31:0] clamp(input logic [31:0] value, input logic [31:0] least, input logic [31:0] most);
    return value < least ? least : value > most ? most : value;
  endfunction

  // ---------------------------------------------------------------- write channel
  logic reg_write, doorbell, scratch_write, table_start, table_done, writes_idle;
  logic [                         15:0] wr_offset;
  logic [                         31:0] wr_data;
  logic [TABLE_CMD_OPERATION_WIDTH-1:0] operation;
  assign operation = wr_data[TABLE_CMD_OPERATION_LSB+:TABLE_CMD_OPERATION_WIDTH];

  card_writes u_writes (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .resetting_i,
    .s_axil,
    .soft_reset_o,
    .reg_write_o    (reg_write),
    .doorbell_o     (doorbell),
    .scratch_write_o(scratch_write),
    .offset_o       (wr_offset),
    .data_o         (wr_data),
    .table_valid_o  (tbl_req_valid_o),
    .table_ready_i  (tbl_req_ready_i),
    .table_answer_i (tbl_rsp_valid_i),
    .table_start_o  (table_start),
    .table_done_o   (table_done),
    .idle_o         (writes_idle)
  );

  // ---------------------------------------------------------------- registers
  logic [31:0] scratch_q;
  logic jobs_on_q, receive_on_q, loopback_q, promisc_q;
  logic [15:0]       mtu_q;
  logic [47:0]       mac_q;
  logic [ 3:0][31:0] hash_secret_q;
  logic read_error_q, write_error_q;
  logic [15:0][31:0] table_data;
  logic table_refused_q, resetting_q, clear_scratch;

  assign clear_scratch = resetting_i && !resetting_q;  // at its begin; a value written during the reset is kept
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) resetting_q <= 1'b0;
    else resetting_q <= resetting_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) scratch_q <= '0;
    else if (scratch_write) scratch_q <= wr_data;
    else if (clear_scratch) scratch_q <= '0;
  end

  always_ff @(posedge clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) begin
      jobs_on_q       <= 1'b0;
      receive_on_q    <= 1'b0;
      loopback_q      <= 1'b0;
      mtu_q           <= REG_MTU_RESET[15:0];
      mac_q           <= '0;
      promisc_q       <= 1'b0;
      hash_secret_q   <= '0;
      read_error_q    <= 1'b0;
      write_error_q   <= 1'b0;
      table_refused_q <= 1'b0;
      rq_tail_valid_o <= 1'b0;
      rq_tail_flow_o  <= '0;
      rq_tail_value_o <= '0;
      fence_valid_o   <= 1'b0;
      fence_number_o  <= '0;
    end else begin
      rq_tail_valid_o <= 1'b0;
      fence_valid_o   <= 1'b0;
      if (reg_write) begin
        unique case (wr_offset)
          REG_CTRL: begin
            if (!wr_data[CTRL_RESET_BIT]) begin
              jobs_on_q    <= wr_data[CTRL_JOBS_BIT];
              receive_on_q <= wr_data[CTRL_RECEIVE_BIT];
              loopback_q   <= wr_data[CTRL_LOOPBACK_BIT];
            end
            read_error_q  <= 1'b0;
            write_error_q <= 1'b0;
          end
          REG_MTU:                                                                                     mtu_q <= 16'(clamp(wr_data, 32'd14, 32'd9216));
          REG_MAC_LO:                                                                                  mac_q[31:0] <= wr_data;
          REG_MAC_HI: begin
            mac_q[47:32] <= wr_data[MAC_HI_MAC_LSB+:MAC_HI_MAC_WIDTH];
            promisc_q    <= wr_data[MAC_HI_PROMISCUOUS_BIT];
          end
          REG_HASH_SECRET, REG_HASH_SECRET + 16'd4, REG_HASH_SECRET + 16'd8, REG_HASH_SECRET + 16'd12: hash_secret_q[wr_offset[3:2]] <= wr_data;
          REG_FENCE: begin
            fence_valid_o  <= 1'b1;
            fence_number_o <= wr_data;
          end
          default:                                                                                     ;
        endcase
      end
      if (doorbell) begin
        if (wr_offset >= DB_RQ_TAIL) begin
          rq_tail_valid_o <= wr_offset[14:2] >> $clog2(NUM_FLOWS) == '0;
          rq_tail_flow_o  <= 16'(wr_offset[14:2]);
          rq_tail_value_o <= wr_data;
        end
      end
      if (read_error_i) read_error_q <= 1'b1;
      if (write_error_i) write_error_q <= 1'b1;
      if (table_start) table_refused_q <= 1'b1;  // until the table answers
      else if (table_done) table_refused_q <= tbl_rsp_i.refused;
    end
  end

  table_row u_row (
    .clk_i,
    .arrives_i     (table_done && operation == TABLE_OPERATION_READ && !tbl_rsp_i.refused),
    .row_i         (tbl_rsp_i.row),
    .write_i       (reg_write),
    .write_offset_i(wr_offset),
    .write_data_i  (wr_data),
    .data_o        (table_data)
  );

  assign tbl_req_o = '{
          write: operation == TABLE_OPERATION_WRITE,
          number: wr_data[TABLE_CMD_TABLE_LSB+:TABLE_CMD_TABLE_WIDTH],
          index: wr_data[TABLE_CMD_INDEX_LSB+:TABLE_CMD_INDEX_WIDTH],
          row: table_data
      };

  // ---------------------------------------------------------------- the rings
  logic     [    PORTS-1:0][PORT_LAST:PORT_FIRST][31:0] port_words;
  raw_cfg_t [MAX_PORTS-1:0]                             raw_cfg;
  logic     [    PORTS-1:0][                 7:0]       raw_slot_log2;
  logic     [    PORTS-1:0][                31:0]       raw_reserve;
  logic     [    PORTS-1:0]                             ports_idle;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    port_regs #(
      .PORT      (p),
      .PUSH_SLOTS(p == 0 ? PUSH_SLOTS : 0)
    ) u_port (
      .clk_i,
      .rst_ni         (core_rst_ni),
      .write_i        (reg_write),
      .doorbell_i     (doorbell),
      .offset_i       (wr_offset),
      .data_i         (wr_data),
      .enable_i       (jobs_on_q && !off_i[p]),
      .tx_cfg_o       (tx_cfg_o[p]),
      .report_cfg_o   (report_cfg_o[p]),
      .raw_cfg_o      (raw_cfg[p]),
      .raw_slot_log2_o(raw_slot_log2[p]),
      .raw_reserve_o  (raw_reserve[p]),
      .job_done_i     (job_done_i[p]),
      .report_tail_i  (report_tail_i[p]),
      .raw_tail_i     (raw_tail_i[p]),
      .words_o        (port_words[p]),
      .idle_o         (ports_idle[p])
    );
  end
  for (genvar p = PORTS; p < MAX_PORTS; p++) begin : gen_no_port
    assign raw_cfg[p] = '0;
  end

  logic unused_second;
  assign unused_second = ^{raw_slot_log2, raw_reserve};

  assign rx_cfg_o = '{
          enable: receive_on_q,
          mtu: mtu_q,
          mac: mac_q,
          promisc: promisc_q,
          raw_slot_log2: raw_slot_log2[0],
          raw_reserve: raw_reserve[0],
          hash_secret: hash_secret_q,
          raw: raw_cfg
      };
  assign loopback_o = loopback_q;

  logic        bus_read;
  logic [15:0] bus_read_offset;

  assign bus_o = '{
          write: reg_write,
          doorbell: doorbell,
          offset: wr_offset,
          data: wr_data,
          table_done: table_done,
          table_refused: tbl_rsp_i.refused,
          read: bus_read,
          read_offset: bus_read_offset
      };

  // ---------------------------------------------------------------- the lock of the tables (TABLE_LOCK)
  logic [PORTS-1:0] lock;  // the port has the lock, or nobody has: a read gives this bit, and takes the lock

  table_lock #(
    .PORTS(PORTS)
  ) u_lock (
    .clk_i,
    .rst_ni        (core_rst_ni),
    .off_i,
    .write_i       (reg_write),
    .write_offset_i(wr_offset),
    .read_i        (bus_read),
    .read_offset_i (bus_read_offset),
    .lock_o        (lock)
  );

  // ---------------------------------------------------------------- read channel
  logic [NUM_READ_WORDS-1:0][31:0] words;
  logic                            reads_idle;

  always_comb begin
    words                                                    = '0;
    words[REG_ID[9:2]]                                       = REG_ID_RESET;
    words[REG_VERSION[9:2]]                                  = INTERFACE_VERSION;
    words[REG_CAPS[9:2]]                                     = CAPS;
    words[REG_SCRATCH[9:2]]                                  = scratch_q;
    words[REG_CTRL[9:2]][CTRL_JOBS_BIT]                      = jobs_on_q;
    words[REG_CTRL[9:2]][CTRL_RECEIVE_BIT]                   = receive_on_q;
    words[REG_CTRL[9:2]][CTRL_LOOPBACK_BIT]                  = loopback_q;
    words[REG_STATUS[9:2]][STATUS_QUIESCENT_BIT]             = quiescent_i && !resetting_i;
    words[REG_STATUS[9:2]][STATUS_READ_ERROR_BIT]            = read_error_q;
    words[REG_STATUS[9:2]][STATUS_WRITE_ERROR_BIT]           = write_error_q;
    words[REG_STATUS[9:2]][STATUS_RESETTING_BIT]             = resetting_i;
    words[REG_STATUS[9:2]][STATUS_REPORT_FAILED_BIT]         = report_broken_i[0];
    words[REG_STATUS[9:2]][STATUS_PORT1_FAILED_BIT]          = PORTS != 1 && report_broken_i[PORTS-1];
    words[REG_MTU[9:2]]                                      = {16'd0, mtu_q};
    words[REG_MAC_LO[9:2]]                                   = mac_q[31:0];
    words[REG_MAC_HI[9:2]][MAC_HI_MAC_LSB+:MAC_HI_MAC_WIDTH] = mac_q[47:32];
    words[REG_MAC_HI[9:2]][MAC_HI_PROMISCUOUS_BIT]           = promisc_q;
    for (int unsigned w = 0; w < 4; w++) words[32'(REG_HASH_SECRET[9:2])+w] = hash_secret_q[w];
    words[REG_PORTS[9:2]]   = PORTS;
    words[REG_ISLANDS[9:2]] = ISLANDS;
    for (int unsigned p = 0; p < PORTS; p++) begin
      for (int unsigned w = PORT_FIRST; w <= PORT_LAST; w++) words[64*p+w] = port_words[p][w];
      words[32'(REG_TABLE_LOCK[9:2])+64*p] = 32'(lock[p]);
    end
    words[REG_MSIX_COUNT[9:2]]                       = msix_count_i;
    words[REG_FENCE[9:2]]                            = fence_number_o;
    words[REG_FENCE_DONE[9:2]]                       = fence_done_i;
    words[REG_CLOCK_KHZ[9:2]]                        = CLOCK_KHZ;
    words[REG_TABLE_CMD[9:2]][TABLE_CMD_REFUSED_BIT] = table_refused_q;
    for (int unsigned w = 0; w < 16; w++) words[32'(REG_TABLE_DATA[9:2])+w] = table_data[w];
  end

  card_reads u_reads (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .s_axil,
    .words_i     (words),
    .counter_index_o,
    .counter_value_i,
    .counter_high_i,
    .bus_read_o  (bus_read),
    .bus_offset_o(bus_read_offset),
    .bus_value_i,
    .idle_o      (reads_idle)
  );

  assign idle_o = writes_idle && reads_idle && !rq_tail_valid_o && !fence_valid_o && &ports_idle;

  if (NUM_FLOWS > 8192 || (1 << $clog2(NUM_FLOWS)) != NUM_FLOWS || (1 << $clog2(NUM_STAGS)) != NUM_STAGS) begin : gen_param_check
    $error("card_regs: NUM_FLOWS (at most 8192) and NUM_STAGS must be powers of two");
  end

  `WEFT_ASSERT(one_response, tbl_rsp_valid_i -> table_done)
endmodule
