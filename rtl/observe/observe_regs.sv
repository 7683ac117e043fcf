// Registers of clock, trace ring and capture ring.
//
// Handshake: Accesses are pulses from card_regs, which has the bus. A value is there two cycles after `bus_i.read`; 0 for other addresses.
// Pipeline:  cycle | registers        | what happens
//            0     | trace_ring       | the trace entry is read
//            1     | offset_q, read_q | the register is selected
//            2     | value_o          | the value

module observe_regs
  import weft_card_pkg::*;
  import weft_int_pkg::*;
#(
  parameter int unsigned TRACE_LOG2 = 10,
  parameter bit          OBSERVE    = 1'b1  // 0: no trace and no capture, their registers are 0
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] time_i,

  input  reg_bus_t        bus_i,
  output logic     [31:0] value_o,

  output logic         [15:0] trace_enable_o,
  output logic                trace_freeze_o,
  output logic                trace_clear_o,     // pulse
  output logic                trace_rd_valid_o,
  output logic         [ 9:0] trace_rd_entry_o,
  input  trace_entry_t        trace_rd_data_i,   // a cycle later
  input  logic         [31:0] trace_head_i,
  input  logic         [31:0] trace_lost_i,

  output capture_cfg_t        capture_cfg_o,
  input  logic         [31:0] capture_tail_i,
  input  logic                capture_busy_i
);

  // ---------------------------------------------------------------- writes
  logic [63:0] base_q;
  logic [7:0] slot_log2_q, count_log2_q;
  logic [ 1:0] enable_q;
  logic [15:0] snap_q;
  logic [31:0] head_q;
  logic reset_q, ring_ok_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trace_enable_o <= OBSERVE ? REG_TRACE_CTRL_RESET[15:0] : '0;
      trace_freeze_o <= 1'b0;
      trace_clear_o  <= 1'b0;
      base_q         <= '0;
      slot_log2_q    <= '0;
      count_log2_q   <= '0;
      enable_q       <= '0;
      snap_q         <= '0;
      head_q         <= '0;
      reset_q        <= 1'b0;
    end else begin
      trace_clear_o <= 1'b0;
      reset_q       <= 1'b0;
      if (bus_i.write && OBSERVE) begin
        unique case (bus_i.offset)
          REG_TRACE_CTRL: begin
            trace_enable_o <= bus_i.data[TRACE_CTRL_KINDS_LSB+:TRACE_CTRL_KINDS_WIDTH];
            trace_freeze_o <= bus_i.data[TRACE_CTRL_FREEZE_BIT];
            trace_clear_o  <= bus_i.data[TRACE_CTRL_CLEAR_BIT];
          end
          REG_CAPTURE_BASE_LO: base_q[31:0] <= bus_i.data;
          REG_CAPTURE_BASE_HI: base_q[63:32] <= bus_i.data;
          REG_CAPTURE_LOG2: begin
            slot_log2_q  <= bus_i.data[CAPTURE_LOG2_SLOT_LSB+:CAPTURE_LOG2_SLOT_WIDTH];
            count_log2_q <= bus_i.data[CAPTURE_LOG2_COUNT_LSB+:CAPTURE_LOG2_COUNT_WIDTH];
            head_q       <= '0;
            reset_q      <= 1'b1;
          end
          REG_CAPTURE_CTRL: begin
            enable_q <= {bus_i.data[CAPTURE_CTRL_SENT_BIT], bus_i.data[CAPTURE_CTRL_RECEIVED_BIT]};
            snap_q   <= bus_i.data[CAPTURE_CTRL_SNAP_LSB+:CAPTURE_CTRL_SNAP_WIDTH];
          end
          default:             ;
        endcase
      end
      if (OBSERVE && bus_i.doorbell && bus_i.offset == DB_CAPTURE_HEAD) head_q <= bus_i.data;
    end
  end

  // A cycle late: in that cycle the ring is being reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ring_ok_q <= 1'b0;
    else ring_ok_q <= slot_log2_q inside {[8'd7 : 8'd14]} && count_log2_q inside {[8'd1 : 8'd16]};
  end

  assign capture_cfg_o = '{
          enable: ring_ok_q ? enable_q : '0,
          reset: reset_q,
          snap: snap_q,
          base: base_q,
          slot_log2: slot_log2_q,
          count_log2: count_log2_q,
          head: head_q
      };

  // ---------------------------------------------------------------- reads
  logic        read_q;
  logic [15:0] offset_q;
  logic [31:0] time_hi_q, value;

  assign trace_rd_valid_o = bus_i.read;
  assign trace_rd_entry_o = bus_i.read_offset[13:4];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q    <= 1'b0;
      offset_q  <= '0;
      time_hi_q <= '0;
    end else begin
      read_q <= bus_i.read;
      if (bus_i.read) offset_q <= bus_i.read_offset;
      if (read_q && offset_q == REG_TIME_LO) time_hi_q <= time_i[63:32];
    end
  end

  always_comb begin
    value = '0;
    unique case (offset_q)
      REG_CAPTURE_BASE_LO: value = base_q[31:0];
      REG_CAPTURE_BASE_HI: value = base_q[63:32];
      REG_CAPTURE_LOG2: begin
        value[CAPTURE_LOG2_SLOT_LSB+:CAPTURE_LOG2_SLOT_WIDTH]   = slot_log2_q;
        value[CAPTURE_LOG2_COUNT_LSB+:CAPTURE_LOG2_COUNT_WIDTH] = count_log2_q;
      end
      REG_CAPTURE_CTRL: begin
        {value[CAPTURE_CTRL_SENT_BIT], value[CAPTURE_CTRL_RECEIVED_BIT]} = enable_q;
        value[CAPTURE_CTRL_BUSY_BIT]                                     = capture_busy_i;
        value[CAPTURE_CTRL_SNAP_LSB+:CAPTURE_CTRL_SNAP_WIDTH]            = snap_q;
      end
      REG_CAPTURE_TAIL:    value = capture_tail_i;
      REG_TRACE_CTRL: begin
        value[TRACE_CTRL_KINDS_LSB+:TRACE_CTRL_KINDS_WIDTH] = trace_enable_o;
        value[TRACE_CTRL_FREEZE_BIT]                        = trace_freeze_o;
      end
      REG_TRACE_HEAD:      value = trace_head_i;
      REG_TRACE_LOST:      value = trace_lost_i;
      REG_TRACE_SIZE:      value = OBSERVE ? 32'd1 << TRACE_LOG2 : '0;
      REG_TIME_LO:         value = time_i[31:0];
      REG_TIME_HI:         value = time_hi_q;
      default:             if (offset_q[15:14] == REG_TRACE[15:14]) value = trace_rd_data_i[32*offset_q[3:2]+:32];
    endcase
  end

  // 0 in a reset, in which the bus lives on.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) value_o <= '0;
    else if (read_q) value_o <= value;
  end

  logic unused;
  assign unused = ^bus_i;

endmodule
