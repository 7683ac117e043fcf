// The writes of AXI4-Lite, one at a time.
//
// Handshake: AXI4-Lite. Only writes of whole words have an effect. `reg_write_o`, `doorbell_o`, `scratch_write_o`, `table_start_o`, `table_done_o` are
//            pulses; `offset_o` and `data_o` stay from there until the response is taken. `table_*` is ready/valid, `table_answer_i` a pulse, later
//            than the request is taken.
// Pipeline:  state       | registers          | what happens                                  | left when
//            WrCollect   | aw_addr_q, w_data_q | address and data are taken, in any order      | both are held
//            WrExecute   |                    | the register is written, or the doorbell rung | always
//            WrTable     |                    | a table access is requested                   | it is taken, or the core is reset
//            WrTableWait |                    | the table works                               | it answers, or the core is reset
//            WrRespond   |                    | the response is offered                       | `bready`
// Why:       The response to a write of TABLE_CMD waits for the table's response, so the host does not poll.
//            All accesses are answered, also while the core is reset.

`include "weft_assert.svh"

module card_writes
  import weft_card_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,       // of the bus
  input logic core_rst_ni,
  input logic resetting_i,

  axi_lite_if.slave s_axil,

  output logic        soft_reset_o,     // pulse
  output logic        reg_write_o,
  output logic        doorbell_o,
  output logic        scratch_write_o,
  output logic [15:0] offset_o,
  output logic [31:0] data_o,

  output logic table_valid_o,
  input  logic table_ready_i,
  input  logic table_answer_i,
  output logic table_start_o,
  output logic table_done_o,

  output logic idle_o
);

  typedef enum logic [2:0] {
    WrCollect,
    WrExecute,
    WrTable,
    WrTableWait,
    WrRespond
  } wr_state_e;

  wr_state_e wr_state_q, wr_state_d;
  logic aw_held_q, w_held_q;
  logic [                         16:2] aw_addr_q;
  logic [                         31:0] w_data_q;
  logic                                 w_whole_q;
  logic                                 execute;
  logic [TABLE_CMD_OPERATION_WIDTH-1:0] operation;

  assign s_axil.awready  = !aw_held_q;
  assign s_axil.wready   = !w_held_q;
  assign s_axil.bvalid   = wr_state_q == WrRespond;
  assign s_axil.bresp    = 2'b00;

  assign execute         = wr_state_q == WrExecute && w_whole_q && !resetting_i;
  assign reg_write_o     = execute && !aw_addr_q[16];
  assign doorbell_o      = execute && aw_addr_q[16];
  assign offset_o        = {aw_addr_q[15:2], 2'b00};
  assign operation       = w_data_q[TABLE_CMD_OPERATION_LSB+:TABLE_CMD_OPERATION_WIDTH];
  assign table_start_o   = reg_write_o && offset_o == REG_TABLE_CMD;
  assign table_done_o    = wr_state_q == WrTableWait && table_answer_i;

  // SCRATCH is written during a reset as well.
  assign scratch_write_o = wr_state_q == WrExecute && w_whole_q && {aw_addr_q[16], offset_o} == {1'b0, REG_SCRATCH};
  // From a register, as `resetting_i` is in what leads to it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) soft_reset_o <= 1'b0;
    else soft_reset_o <= reg_write_o && offset_o == REG_CTRL && w_data_q[CTRL_RESET_BIT];
  end

  always_comb begin
    wr_state_d = wr_state_q;
    unique case (wr_state_q)
      WrCollect:   if (aw_held_q && w_held_q) wr_state_d = WrExecute;
      WrExecute:   wr_state_d = table_start_o && operation inside {TABLE_OPERATION_WRITE, TABLE_OPERATION_READ} ? WrTable : WrRespond;
      WrTable: begin
        if (!core_rst_ni) wr_state_d = WrRespond;
        else if (table_ready_i) wr_state_d = WrTableWait;
      end
      WrTableWait: if (table_done_o || !core_rst_ni) wr_state_d = WrRespond;
      WrRespond:   if (s_axil.bready) wr_state_d = WrCollect;
      default:     wr_state_d = WrCollect;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_state_q <= WrCollect;
      aw_held_q  <= 1'b0;
      w_held_q   <= 1'b0;
      aw_addr_q  <= '0;
      w_data_q   <= '0;
      w_whole_q  <= 1'b0;
    end else begin
      wr_state_q <= wr_state_d;
      // Both are held until the response is taken, so the registers behind WrExecute may use them a cycle later.
      if (s_axil.awvalid && s_axil.awready) begin
        aw_held_q <= 1'b1;
        aw_addr_q <= s_axil.awaddr[16:2];
      end
      if (s_axil.wvalid && s_axil.wready) begin
        w_held_q  <= 1'b1;
        w_data_q  <= s_axil.wdata;
        w_whole_q <= &s_axil.wstrb;
      end
      if (s_axil.bvalid && s_axil.bready) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
      end
    end
  end

  assign data_o        = w_data_q;
  assign table_valid_o = wr_state_q == WrTable;
  assign idle_o        = !aw_held_q && !w_held_q;

  logic unused;
  assign unused = ^s_axil.awaddr[1:0];

  `WEFT_STREAM(u_rules, s_axil.bvalid, s_axil.bready, 1'b0)
endmodule
