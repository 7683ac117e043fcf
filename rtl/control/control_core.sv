// The core: Ibex (lowRISC, Apache-2.0), RV32IMC with a writeback stage, installed by rtl/control/setup.sh (docs/processor.md).
//
// Handshake: Ibex's buses: a request is held until granted, and answered by `rvalid`, one cycle later or, of the card's registers, when they answer.
// Pipeline:  that of Ibex: fetch, decode and execute, writeback.
// Why:       The clock is not gated: in sleep nothing in it changes.
//            It starts at 0x80. Exceptions go to 0x00, the timer to 0x1c, a command to 0x2c, the card's interrupts to 0x40, the bell to 0x44. The
//            watchdog goes to 0x7c. Debug mode (`debug_i`, EBREAK if enabled by the debugger, a step) starts at 0x180.

module control_core
  import ibex_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  output logic        instr_req_o,
  input  logic        instr_gnt_i,
  input  logic        instr_rvalid_i,
  output logic [31:0] instr_addr_o,
  input  logic [31:0] instr_rdata_i,
  input  logic        instr_err_i,

  output logic        data_req_o,
  input  logic        data_gnt_i,
  input  logic        data_rvalid_i,
  output logic        data_we_o,
  output logic [ 3:0] data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input  logic [31:0] data_rdata_i,
  input  logic        data_err_i,

  input logic alarm_i,     // levels
  input logic command_i,
  input logic report_i,
  input logic bell_i,
  input logic watchdog_i,
  input logic debug_i,

  output logic        awake_o,
  output logic [31:0] pc_o
);

  logic irq_pending, rf_we;
  logic [4:0] rf_raddr_a, rf_raddr_b, rf_waddr;
  logic [31:0] rf_wdata, rf_rdata_a, rf_rdata_b;
  logic        busy_q;
  ibex_mubi_t  core_busy;
  crash_dump_t crash;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b1;
    else busy_q <= core_busy[0];
  end

  assign awake_o = busy_q || irq_pending || watchdog_i;
  assign pc_o    = crash.current_pc;

  logic unused;
  assign unused = ^{core_busy, crash};

  logic [31:0] no_tags [IC_NUM_WAYS];
  logic [63:0] no_lines[IC_NUM_WAYS];
  assign no_tags  = '{default: '0};
  assign no_lines = '{default: '0};

  ibex_core #(
    .RV32M          (RV32MSingleCycle),
    .WritebackStage (1'b1),
    .BranchTargetALU(1'b1),
    .TagSizeECC     (32),
    .LineSizeECC    (64),
    .DmBaseAddr     (32'd0),
    .DmHaltAddr     (32'h0000_0180),
    .DmExceptionAddr(32'h0000_0180)
  ) u_ibex_core (  // Ibex's messages use this name
    .clk_i,
    .rst_ni,
    .hart_id_i             (32'd0),
    .boot_addr_i           (32'd0),
    .instr_req_o,
    .instr_gnt_i,
    .instr_rvalid_i,
    .instr_addr_o,
    .instr_rdata_i,
    .instr_err_i,
    .data_req_o,
    .data_gnt_i,
    .data_rvalid_i,
    .data_we_o,
    .data_be_o,
    .data_addr_o,
    .data_wdata_o,
    .data_rdata_i,
    .data_err_i,
    .dummy_instr_id_o      (),
    .dummy_instr_wb_o      (),
    .rf_raddr_a_o          (rf_raddr_a),
    .rf_raddr_b_o          (rf_raddr_b),
    .rf_waddr_wb_o         (rf_waddr),
    .rf_we_wb_o            (rf_we),
    .rf_wdata_wb_ecc_o     (rf_wdata),
    .rf_rdata_a_ecc_i      (rf_rdata_a),
    .rf_rdata_b_ecc_i      (rf_rdata_b),
    .ic_tag_req_o          (),
    .ic_tag_write_o        (),
    .ic_tag_addr_o         (),
    .ic_tag_wdata_o        (),
    .ic_tag_rdata_i        (no_tags),
    .ic_data_req_o         (),
    .ic_data_write_o       (),
    .ic_data_addr_o        (),
    .ic_data_wdata_o       (),
    .ic_data_rdata_i       (no_lines),
    .ic_scr_key_valid_i    (1'b0),
    .ic_scr_key_req_o      (),
    .irq_software_i        (1'b0),
    .irq_timer_i           (alarm_i),
    .irq_external_i        (command_i),
    .irq_fast_i            ({13'd0, bell_i, report_i}),
    .irq_nm_i              (watchdog_i),
    .irq_pending_o         (irq_pending),
    .debug_req_i           (debug_i),
    .crash_dump_o          (crash),
    .double_fault_seen_o   (),
    .fetch_enable_i        (IbexMuBiOn),
    .alert_minor_o         (),
    .alert_major_internal_o(),
    .alert_major_bus_o     (),
    .core_busy_o           (core_busy)
  );

  ibex_register_file_fpga u_registers (
    .clk_i,
    .rst_ni,
    .test_en_i       (1'b0),
    .dummy_instr_id_i(1'b0),
    .dummy_instr_wb_i(1'b0),
    .raddr_a_i       (rf_raddr_a),
    .rdata_a_o       (rf_rdata_a),
    .raddr_b_i       (rf_raddr_b),
    .rdata_b_o       (rf_rdata_b),
    .waddr_a_i       (rf_waddr),
    .wdata_a_i       (rf_wdata),
    .we_a_i          (rf_we),
    .err_o           ()
  );

endmodule
