// Registers and doorbells of one port: its job ring, report ring and raw ring (docs/card.md "Ports").
//
// Handshake: One pulse for each access, from card_regs, which also reads `words_o`.
// Pipeline:  one register.
// Why:       Those of the second port lie 0x100 behind those of the first, doorbells 0x200. Only RAW_RESERVE and the size of raw slots exist once for
//            the card.
//            A ring's base takes effect when the ring is set up, by its LOG2: until then everything in flight goes to the ring of before.

module port_regs
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned        PORT       = 0,
  parameter logic        [31:0] PUSH_SLOTS = 32'd0
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        write_i,     // pulses: of a register, of a doorbell
  input logic        doorbell_i,
  input logic [15:0] offset_i,
  input logic [31:0] data_i,

  input  logic               enable_i,         // jobs are fetched
  output tx_cfg_t            tx_cfg_o,
  output report_cfg_t        report_cfg_o,
  output raw_cfg_t           raw_cfg_o,
  output logic        [ 7:0] raw_slot_log2_o,  // of the first port alone
  output logic        [31:0] raw_reserve_o,

  input  logic [                31:0]       job_done_i,
  input  logic [                31:0]       report_tail_i,
  input  logic [                31:0]       raw_tail_i,
  output logic [PORT_LAST:PORT_FIRST][31:0] words_o,        // by the address of the first port's
  output logic                              idle_o
);

  localparam logic [15:0] REGISTERS = 16'(PORT) << 8;
  localparam logic [15:0] DOORBELLS = 16'(PORT) << 9;

  logic [63:0] job_base_q, report_base_q, raw_base_q;  // as they were written
  logic [63:0] job_ring_q, report_ring_q, raw_ring_q;  // as they were when the ring was set up
  logic [7:0] job_log2_q, report_log2_q, raw_slot_log2_q, raw_count_log2_q;
  logic [31:0] job_tail_q, report_head_q, raw_head_q, raw_reserve_q, arm_value_q;
  logic job_reset_q, report_reset_q, raw_reset_q, arm_q;
  logic [ 5:0] arm_more_q;
  logic [15:0] gap_q;

  // A value outside becomes the nearest inside.
  function automatic logic [31:0] clamp(input logic [31:0] value, input logic [31:0] least, input logic [31:0] most);
    return value < least ? least : value > most ? most : value;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_base_q                              <= '0;
      {job_ring_q, report_ring_q, raw_ring_q} <= '0;
      job_log2_q                              <= '0;
      report_base_q                           <= '0;
      report_log2_q                           <= '0;
      raw_base_q                              <= '0;
      raw_slot_log2_q                         <= '0;
      raw_count_log2_q                        <= '0;
      job_tail_q                              <= '0;
      report_head_q                           <= '0;
      raw_head_q                              <= '0;
      raw_reserve_q                           <= '0;
      arm_value_q                             <= '0;
      arm_more_q                              <= '0;
      gap_q                                   <= '0;
      job_reset_q                             <= 1'b0;
      report_reset_q                          <= 1'b0;
      raw_reset_q                             <= 1'b0;
      arm_q                                   <= 1'b0;
    end else begin
      job_reset_q    <= 1'b0;
      report_reset_q <= 1'b0;
      raw_reset_q    <= 1'b0;
      arm_q          <= 1'b0;
      if (write_i) begin
        unique case (offset_i)
          REGISTERS + REG_JOB_BASE_LO:    job_base_q[31:0] <= data_i;
          REGISTERS + REG_JOB_BASE_HI:    job_base_q[63:32] <= data_i;
          REGISTERS + REG_JOB_LOG2: begin
            job_log2_q  <= data_i[7:0];
            job_ring_q  <= job_base_q;
            job_tail_q  <= '0;
            job_reset_q <= 1'b1;
          end
          REGISTERS + REG_REPORT_BASE_LO: report_base_q[31:0] <= data_i;
          REGISTERS + REG_REPORT_BASE_HI: report_base_q[63:32] <= data_i;
          REGISTERS + REG_REPORT_LOG2: begin
            report_log2_q  <= data_i[7:0];
            report_ring_q  <= report_base_q;
            report_head_q  <= '0;
            report_reset_q <= 1'b1;
          end
          REGISTERS + REG_REPORT_GAP:     gap_q <= data_i[15:0];
          REGISTERS + REG_RAW_BASE_LO:    raw_base_q[31:0] <= data_i;
          REGISTERS + REG_RAW_BASE_HI:    raw_base_q[63:32] <= data_i;
          REGISTERS + REG_RAW_LOG2: begin
            if (PORT == 0) raw_slot_log2_q <= 8'(clamp(32'(data_i[RAW_LOG2_SLOT_LSB+:RAW_LOG2_SLOT_WIDTH]), 32'd11, 32'd14));
            raw_count_log2_q <= 8'(clamp(32'(data_i[RAW_LOG2_COUNT_LSB+:RAW_LOG2_COUNT_WIDTH]), 32'd1, 32'd12));
            raw_head_q       <= '0;
            raw_ring_q       <= raw_base_q;
            raw_reset_q      <= 1'b1;
          end
          REGISTERS + REG_RAW_RESERVE:    if (PORT == 0) raw_reserve_q <= data_i;
          default:                        ;
        endcase
      end
      if (doorbell_i) begin
        if (offset_i[15:8] == DB_REPORT_ARM_AFTER[15:8] + DOORBELLS[15:8]) begin
          arm_q       <= 1'b1;
          arm_value_q <= data_i;
          arm_more_q  <= offset_i[7:2];
        end
        unique case (offset_i)
          DOORBELLS + DB_JOB_TAIL:    job_tail_q <= data_i;
          DOORBELLS + DB_REPORT_HEAD: report_head_q <= data_i;
          DOORBELLS + DB_RAW_HEAD:    raw_head_q <= data_i;
          DOORBELLS + DB_REPORT_ARM: begin
            arm_q       <= 1'b1;
            arm_value_q <= data_i;
            arm_more_q  <= '0;
          end
          default:                    ;
        endcase
      end
    end
  end

  assign tx_cfg_o = '{enable: enable_i, job_reset: job_reset_q, job_base: job_ring_q, job_log2: job_log2_q, job_tail: job_tail_q};
  assign report_cfg_o = '{
          reset: report_reset_q,
          base: report_ring_q,
          log2: report_log2_q,
          head: report_head_q,
          arm: arm_q,
          arm_value: arm_value_q,
          arm_more: arm_more_q,
          gap: gap_q
      };
  assign raw_cfg_o = '{reset: raw_reset_q, base: raw_ring_q, count_log2: raw_count_log2_q, head: raw_head_q};
  assign {raw_slot_log2_o, raw_reserve_o} = {raw_slot_log2_q, raw_reserve_q};
  assign idle_o = !(job_reset_q || report_reset_q || raw_reset_q || arm_q);

  always_comb begin
    words_o                                                              = '0;
    words_o[REG_JOB_BASE_LO[9:2]]                                        = job_base_q[31:0];
    words_o[REG_JOB_BASE_HI[9:2]]                                        = job_base_q[63:32];
    words_o[REG_JOB_LOG2[9:2]]                                           = {24'd0, job_log2_q};
    words_o[REG_JOB_DONE[9:2]]                                           = job_done_i;
    words_o[REG_JOB_PUSH[9:2]]                                           = PUSH_SLOTS;
    words_o[REG_JOB_REPLAY[9:2]]                                         = MAX_REPLAY_BYTES;
    words_o[REG_REPORT_BASE_LO[9:2]]                                     = report_base_q[31:0];
    words_o[REG_REPORT_BASE_HI[9:2]]                                     = report_base_q[63:32];
    words_o[REG_REPORT_LOG2[9:2]]                                        = {24'd0, report_log2_q};
    words_o[REG_REPORT_TAIL[9:2]]                                        = report_tail_i;
    words_o[REG_REPORT_GAP[9:2]]                                         = {16'd0, gap_q};
    words_o[REG_RAW_BASE_LO[9:2]]                                        = raw_base_q[31:0];
    words_o[REG_RAW_BASE_HI[9:2]]                                        = raw_base_q[63:32];
    words_o[REG_RAW_LOG2[9:2]][RAW_LOG2_SLOT_LSB+:RAW_LOG2_SLOT_WIDTH]   = raw_slot_log2_q;
    words_o[REG_RAW_LOG2[9:2]][RAW_LOG2_COUNT_LSB+:RAW_LOG2_COUNT_WIDTH] = raw_count_log2_q;
    words_o[REG_RAW_TAIL[9:2]]                                           = raw_tail_i;
    words_o[REG_RAW_RESERVE[9:2]]                                        = raw_reserve_q;
  end

endmodule
