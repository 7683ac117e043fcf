// An AXI-Stream FIFO, whole or broken on purpose.
//
// Beats come out in the order they went in, at least one cycle later. A beat leaves the FIFO on
// m_axis_tvalid && m_axis_tready. `fault_i` (constant during a run) breaks one rule of the protocol; 0 breaks none.
module stream_fifo #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned DEPTH  = 16
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [7:0] fault_i,

  input  logic [  DATA_W-1:0] s_axis_tdata_i,
  input  logic [DATA_W/8-1:0] s_axis_tkeep_i,
  input  logic                s_axis_tlast_i,
  input  logic                s_axis_tvalid_i,
  output logic                s_axis_tready_o,

  output logic [  DATA_W-1:0] m_axis_tdata_o,
  output logic [DATA_W/8-1:0] m_axis_tkeep_o,
  output logic                m_axis_tlast_o,
  output logic                m_axis_tvalid_o,
  input  logic                m_axis_tready_i,

  output logic quiescent_o
);
  localparam int unsigned PTR_W = $clog2(DEPTH);

  localparam logic [7:0] VALID_DROPS = 8'd1;  // valid goes away before ready came
  localparam logic [7:0] DATA_CHANGES = 8'd2;  // data change while waiting for ready
  localparam logic [7:0] KEEP_CHANGES = 8'd3;  // keep changes while waiting for ready
  localparam logic [7:0] LAST_CHANGES = 8'd4;  // last changes while waiting for ready
  localparam logic [7:0] VALID_IN_RESET = 8'd5;  // valid during reset
  localparam logic [7:0] KEEP_HOLE = 8'd6;  // a hole between bytes
  localparam logic [7:0] PARTIAL_MIDDLE = 8'd7;  // a partial beat inside a packet
  localparam logic [7:0] EMPTY_BEAT = 8'd8;  // a beat without bytes
  localparam logic [7:0] WAITS_FOR_READY = 8'd9;  // valid only after ready
  localparam logic [7:0] NEVER_READY = 8'd10;  // stops taking beats
  localparam logic [7:0] LOSES_LAST = 8'd11;  // packets never end
  localparam logic [7:0] ASSERTION = 8'd12;  // an assertion in the design fails

  typedef struct packed {
    logic                last;
    logic [DATA_W/8-1:0] keep;
    logic [DATA_W-1:0]   data;
  } beat_t;

  beat_t store_q[DEPTH];
  logic [PTR_W-1:0] wr_q, rd_q;
  logic [PTR_W:0] count_q;
  logic [    7:0] cycle_q;
  logic [    7:0] beat_q;
  logic push, pop, stuck;
  beat_t head;

  assign stuck           = fault_i == NEVER_READY && beat_q > 8'd20;
  assign s_axis_tready_o = rst_ni && count_q != (PTR_W + 1)'(DEPTH) && !stuck;
  assign push            = s_axis_tvalid_i && s_axis_tready_o;
  assign pop             = m_axis_tvalid_o && m_axis_tready_i;
  assign head            = store_q[rd_q];
  assign quiescent_o     = count_q == '0;

  always_comb begin
    m_axis_tvalid_o = rst_ni && count_q != '0;
    m_axis_tdata_o  = head.data;
    m_axis_tkeep_o  = head.keep;
    m_axis_tlast_o  = head.last;
    unique case (fault_i)
      VALID_DROPS:     m_axis_tvalid_o = rst_ni && count_q != '0 && cycle_q[2:0] != 3'd5;
      DATA_CHANGES:    m_axis_tdata_o = head.data ^ DATA_W'(cycle_q[4]);
      KEEP_CHANGES:    m_axis_tkeep_o = (cycle_q[4] && head.last) ? {head.keep[DATA_W/8-2:0], 1'b1} : head.keep;
      LAST_CHANGES:    m_axis_tlast_o = head.last || cycle_q[4];
      VALID_IN_RESET:  m_axis_tvalid_o = !rst_ni || count_q != '0;
      KEEP_HOLE:       m_axis_tkeep_o = head.keep & ~(DATA_W / 8)'(2);
      PARTIAL_MIDDLE:  m_axis_tkeep_o = head.last ? head.keep : head.keep >> 1;
      EMPTY_BEAT:      m_axis_tkeep_o = head.last ? '0 : head.keep;
      WAITS_FOR_READY: m_axis_tvalid_o = rst_ni && count_q != '0 && m_axis_tready_i;
      LOSES_LAST: begin
        m_axis_tlast_o = 1'b0;
        m_axis_tkeep_o = '1;
      end
      default:         ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q    <= '0;
      rd_q    <= '0;
      count_q <= '0;
      cycle_q <= '0;
      beat_q  <= '0;
    end else begin
      cycle_q <= cycle_q + 8'd1;
      if (push) begin
        wr_q   <= wr_q + 1'b1;
        beat_q <= beat_q + 8'd1;
      end
      if (pop) begin
        rd_q <= rd_q + 1'b1;
      end
      count_q <= count_q + (PTR_W + 1)'(push) - (PTR_W + 1)'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      store_q[wr_q] <= '{last: s_axis_tlast_i, keep: s_axis_tkeep_i, data: s_axis_tdata_i};
    end
  end

`ifndef SYNTHESIS
  // The reset is asynchronous for the registers and a condition of the assertions.
  /* verilator lint_off SYNCASYNCNET */
  initial begin
    assert (DATA_W % 8 == 0)
    else $fatal(1, "DATA_W must be whole bytes");
    assert (2 ** PTR_W == DEPTH)
    else $fatal(1, "DEPTH must be a power of two");
  end
  a_fill :
  assert property (@(posedge clk_i) disable iff (!rst_ni) count_q <= (PTR_W + 1)'(DEPTH))
  else $error("more beats than fit");
  a_fault :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(fault_i == ASSERTION && beat_q == 8'd9))
  else $error("the ninth beat was too many");
  /* verilator lint_on SYNCASYNCNET */
`endif
endmodule
