// Copies a block of memory: AXI4-Lite registers, an AXI4 master. Whole, or broken on purpose.
//
// Registers (32 bits): 0x00 SRC, 0x04 DST, 0x08 BEATS (bus words to copy), 0x0c GO (write starts; reads 1 while busy),
// 0x10 ERRORS (error responses seen). SRC and DST are multiples of the bus width. Each round reads a burst of at
// most 16 beats that stays within a 4 KiB page on both sides, keeps it, and writes it; one round at a time.
// `fault_i` (constant during a run) breaks one rule of a protocol; 0 breaks none. Faults 1 to 20 are the
// AXI master's, 32 up the register port's.
module copier #(
  parameter int unsigned DATA_W = 64
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [7:0] fault_i,

  input  logic [ 7:0] s_axil_awaddr_i,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [ 3:0] s_axil_wstrb_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  output logic [ 1:0] s_axil_bresp_o,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  input  logic [ 7:0] s_axil_araddr_i,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  output logic [31:0] s_axil_rdata_o,
  output logic [ 1:0] s_axil_rresp_o,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,

  output logic [        63:0] m_axi_awaddr_o,
  output logic [         1:0] m_axi_awid_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic [         2:0] m_axi_awsize_o,
  output logic [         1:0] m_axi_awburst_o,
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [  DATA_W-1:0] m_axi_wdata_o,
  output logic [DATA_W/8-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  input  logic [         1:0] m_axi_bid_i,
  input  logic [         1:0] m_axi_bresp_i,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o,
  output logic [        63:0] m_axi_araddr_o,
  output logic [         1:0] m_axi_arid_o,
  output logic [         7:0] m_axi_arlen_o,
  output logic [         2:0] m_axi_arsize_o,
  output logic [         1:0] m_axi_arburst_o,
  output logic                m_axi_arvalid_o,
  input  logic                m_axi_arready_i,
  input  logic [  DATA_W-1:0] m_axi_rdata_i,
  input  logic [         1:0] m_axi_rid_i,
  input  logic [         1:0] m_axi_rresp_i,
  input  logic                m_axi_rlast_i,
  input  logic                m_axi_rvalid_i,
  output logic                m_axi_rready_o,

  output logic quiescent_o
);
  localparam int unsigned BYTES = DATA_W / 8;
  localparam int unsigned SIZE = $clog2(BYTES);

  localparam logic [7:0] AR_DROPS = 8'd1;  // arvalid goes away before arready
  localparam logic [7:0] AR_CHANGES = 8'd2;  // araddr changes while waiting
  localparam logic [7:0] AW_DROPS = 8'd3;
  localparam logic [7:0] AW_CHANGES = 8'd4;
  localparam logic [7:0] W_DROPS = 8'd5;
  localparam logic [7:0] W_CHANGES = 8'd6;
  localparam logic [7:0] VALID_IN_RESET = 8'd7;
  localparam logic [7:0] CROSSES_4K = 8'd8;  // a burst over a 4 KiB boundary
  localparam logic [7:0] EARLY_WLAST = 8'd9;
  localparam logic [7:0] NO_WLAST = 8'd10;
  localparam logic [7:0] TOO_WIDE = 8'd11;  // beats wider than the bus
  localparam logic [7:0] RESERVED_BURST = 8'd12;
  localparam logic [7:0] BAD_WRAP = 8'd13;  // wrapping burst of 3 beats
  localparam logic [7:0] LONG_FIXED = 8'd14;  // fixed burst of more than 16 beats
  localparam logic [7:0] STRAY_STROBE = 8'd15;  // strobes outside of a narrow beat
  localparam logic [7:0] NEVER_RREADY = 8'd16;  // read data are not taken
  localparam logic [7:0] NEVER_BREADY = 8'd17;
  localparam logic [7:0] MISSING_W = 8'd18;  // write data do not come
  localparam logic [7:0] AW_WAITS = 8'd19;  // awvalid only after awready
  localparam logic [7:0] EXTRA_W = 8'd20;  // one beat more than the bursts have

  localparam logic [7:0] B_DROPS = 8'd32;
  localparam logic [7:0] B_CHANGES = 8'd33;
  localparam logic [7:0] R_DROPS = 8'd34;
  localparam logic [7:0] R_CHANGES = 8'd35;
  localparam logic [7:0] B_TWICE = 8'd36;  // two responses to one write
  localparam logic [7:0] R_TWICE = 8'd37;
  localparam logic [7:0] B_EARLY = 8'd38;  // the response before the data
  localparam logic [7:0] LITE_EXOKAY = 8'd39;
  localparam logic [7:0] NEVER_ANSWERS = 8'd40;
  localparam logic [7:0] NEVER_AWREADY = 8'd41;
  localparam logic [7:0] LITE_IN_RESET = 8'd42;

  typedef enum logic [2:0] {
    IDLE,
    ASK,
    READ,
    WRITE,
    WAIT
  } state_e;

  // ---- registers -------------------------------------------------------------------------------
  logic [31:0] src_q, dst_q, beats_q, errors_q;
  logic aw_held_q, w_held_q, b_q, b_again_q, r_q, r_again_q, b_drop_q, r_drop_q;
  logic [7:0] awaddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [7:0] cycle_q;
  logic write_now, go;
  logic answers;

  assign answers          = fault_i != NEVER_ANSWERS;
  assign s_axil_awready_o = rst_ni && !aw_held_q && fault_i != NEVER_AWREADY;
  assign s_axil_wready_o  = rst_ni && !w_held_q && !(fault_i == B_EARLY && !b_q);
  assign s_axil_arready_o = rst_ni && !r_q;
  assign write_now        = aw_held_q && (w_held_q || fault_i == B_EARLY) && !b_q;
  assign go               = write_now && awaddr_q == 8'h0c;
  assign s_axil_bresp_o   = (fault_i == LITE_EXOKAY) ? 2'd1 : (fault_i == B_CHANGES) ? {cycle_q[2], 1'b0} : 2'd0;
  assign s_axil_bvalid_o  = (b_q && answers && !(fault_i == B_DROPS && b_drop_q)) || (fault_i == LITE_IN_RESET && !rst_ni);
  assign s_axil_rresp_o   = 2'd0;
  assign s_axil_rdata_o   = (fault_i == R_CHANGES) ? rdata_q ^ 32'(cycle_q[2]) : rdata_q;
  assign s_axil_rvalid_o  = r_q && answers && !(fault_i == R_DROPS && r_drop_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      src_q     <= '0;
      dst_q     <= '0;
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_q       <= 1'b0;
      b_again_q <= 1'b0;
      b_drop_q  <= 1'b0;
      r_q       <= 1'b0;
      r_again_q <= 1'b0;
      r_drop_q  <= 1'b0;
      awaddr_q  <= '0;
      wdata_q   <= '0;
      rdata_q   <= '0;
      cycle_q   <= '0;
    end else begin
      cycle_q  <= cycle_q + 8'd1;
      b_drop_q <= s_axil_bvalid_o;
      r_drop_q <= s_axil_rvalid_o;
      if (s_axil_awvalid_i && s_axil_awready_o) begin
        aw_held_q <= 1'b1;
        awaddr_q  <= s_axil_awaddr_i;
      end
      if (s_axil_wvalid_i && s_axil_wready_o) begin
        w_held_q <= 1'b1;
        wdata_q  <= s_axil_wdata_i;
      end
      if (write_now) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
        b_q       <= 1'b1;
        b_again_q <= fault_i == B_TWICE;
        unique case (awaddr_q)
          8'h00:   src_q <= wdata_q;
          8'h04:   dst_q <= wdata_q;
          default: ;
        endcase
      end
      if (s_axil_bvalid_o && s_axil_bready_i) begin
        b_q       <= b_again_q;
        b_again_q <= 1'b0;
      end
      if (s_axil_arvalid_i && s_axil_arready_o) begin
        r_q       <= 1'b1;
        r_again_q <= fault_i == R_TWICE;
        unique case (s_axil_araddr_i)
          8'h00:   rdata_q <= src_q;
          8'h04:   rdata_q <= dst_q;
          8'h08:   rdata_q <= beats_q;
          8'h0c:   rdata_q <= 32'(state_q != IDLE);
          8'h10:   rdata_q <= errors_q;
          default: rdata_q <= '0;
        endcase
      end
      if (s_axil_rvalid_o && s_axil_rready_i) begin
        r_q       <= r_again_q;
        r_again_q <= 1'b0;
      end
    end
  end

  // ---- rounds ----------------------------------------------------------------------------------
  state_e state_q;
  logic [31:0] from_q, to_q, left_q;
  logic [4:0] got_q, sent_q, len_q;
  logic aw_done_q, extra_q;
  logic [DATA_W-1:0] buffer_q[16];
  logic [31:0] page, len;
  logic w_done;

  // Beats until the nearer of the two pages ends, at most 16 and what is left.
  always_comb begin
    page = (32'd4096 - 32'(from_q[11:0])) >> SIZE;
    if (((32'd4096 - 32'(to_q[11:0])) >> SIZE) < page) begin
      page = (32'd4096 - 32'(to_q[11:0])) >> SIZE;
    end
    if (fault_i == CROSSES_4K) begin
      page = 32'd16;
    end
    len = (page < 32'd16) ? page : 32'd16;
    if (left_q < len) begin
      len = left_q;
    end
  end

  assign w_done = sent_q == len_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= IDLE;
      beats_q   <= '0;
      from_q    <= '0;
      to_q      <= '0;
      left_q    <= '0;
      len_q     <= '0;
      got_q     <= '0;
      sent_q    <= '0;
      aw_done_q <= 1'b0;
      extra_q   <= 1'b0;
      errors_q  <= '0;
    end else begin
      if (write_now && awaddr_q == 8'h08) begin
        beats_q <= wdata_q;
      end
      unique case (state_q)
        IDLE: begin
          from_q <= src_q;
          to_q   <= dst_q;
          left_q <= beats_q;
          if (go && beats_q != '0) begin
            state_q <= ASK;
          end
        end
        ASK: begin
          got_q  <= '0;
          sent_q <= '0;
          if (m_axi_arvalid_o && m_axi_arready_i) begin
            len_q   <= 5'(len);
            state_q <= READ;
          end
        end
        READ: begin
          if (m_axi_rvalid_i && m_axi_rready_o) begin
            got_q <= got_q + 5'd1;
            if (m_axi_rresp_i != 2'd0) begin
              errors_q <= errors_q + 32'd1;
            end
            if (m_axi_rlast_i) begin
              state_q   <= WRITE;
              aw_done_q <= 1'b0;
              extra_q   <= fault_i == EXTRA_W;
            end
          end
        end
        WRITE: begin
          if (m_axi_awvalid_o && m_axi_awready_i) begin
            aw_done_q <= 1'b1;
          end
          if (m_axi_wvalid_o && m_axi_wready_i) begin
            if (w_done) begin
              extra_q <= 1'b0;
            end else begin
              sent_q <= sent_q + 5'd1;
            end
          end
          if (w_done && aw_done_q && !extra_q) begin
            state_q <= WAIT;
          end
        end
        WAIT: begin
          if (m_axi_bvalid_i && m_axi_bready_o) begin
            if (m_axi_bresp_i != 2'd0) begin
              errors_q <= errors_q + 32'd1;
            end
            from_q  <= from_q + (32'(len_q) << SIZE);
            to_q    <= to_q + (32'(len_q) << SIZE);
            left_q  <= left_q - 32'(len_q);
            state_q <= (left_q == 32'(len_q)) ? IDLE : ASK;
          end
        end
        default: state_q <= IDLE;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (m_axi_rvalid_i && m_axi_rready_o) begin
      buffer_q[got_q[3:0]] <= m_axi_rdata_i;
    end
  end

  assign quiescent_o     = state_q == IDLE && !aw_held_q && !w_held_q && !b_q && !r_q;

  // ---- the master port, with its mistakes ------------------------------------------------------
  assign m_axi_arid_o    = 2'd1;
  assign m_axi_awid_o    = 2'd2;
  assign m_axi_arsize_o  = 3'(SIZE) + 3'(fault_i == TOO_WIDE);
  assign m_axi_awsize_o  = 3'(SIZE) - 3'(fault_i == STRAY_STROBE);
  assign m_axi_awlen_o   = 8'(len_q) - 8'd1;
  assign m_axi_awburst_o = 2'd1;
  assign m_axi_rready_o  = state_q == READ && fault_i != NEVER_RREADY;
  assign m_axi_bready_o  = state_q == WAIT && fault_i != NEVER_BREADY;
  assign m_axi_wstrb_o   = '1;

  always_comb begin
    m_axi_araddr_o  = 64'(from_q);
    m_axi_awaddr_o  = 64'(to_q);
    m_axi_arlen_o   = 8'(len) - 8'd1;
    m_axi_arburst_o = 2'd1;
    m_axi_arvalid_o = state_q == ASK;
    m_axi_awvalid_o = state_q == WRITE && !aw_done_q;
    m_axi_wvalid_o  = state_q == WRITE && (!w_done || extra_q);
    m_axi_wdata_o   = buffer_q[sent_q[3:0]];
    m_axi_wlast_o   = sent_q + 5'd1 == len_q;
    unique case (fault_i)
      AR_DROPS:       m_axi_arvalid_o = state_q == ASK && cycle_q[1:0] != 2'd1;
      AR_CHANGES:     m_axi_araddr_o = 64'(from_q) ^ 64'(cycle_q[1]) << SIZE;
      AW_DROPS:       m_axi_awvalid_o = state_q == WRITE && !aw_done_q && cycle_q[1:0] != 2'd1;
      AW_CHANGES:     m_axi_awaddr_o = 64'(to_q) ^ 64'(cycle_q[1]) << SIZE;
      W_DROPS:        m_axi_wvalid_o = state_q == WRITE && !w_done && cycle_q[1:0] != 2'd1;
      W_CHANGES:      m_axi_wdata_o = buffer_q[sent_q[3:0]] ^ DATA_W'(cycle_q[1]);
      VALID_IN_RESET: m_axi_arvalid_o = !rst_ni || state_q == ASK;
      EARLY_WLAST:    m_axi_wlast_o = sent_q + 5'd1 == len_q || sent_q == 5'd1;
      NO_WLAST:       m_axi_wlast_o = 1'b0;
      RESERVED_BURST: m_axi_arburst_o = 2'd3;
      BAD_WRAP: begin
        m_axi_arburst_o = 2'd2;
        m_axi_arlen_o   = 8'd2;
      end
      LONG_FIXED: begin
        m_axi_arburst_o = 2'd0;
        m_axi_arlen_o   = 8'd16;
      end
      MISSING_W:      m_axi_wvalid_o = 1'b0;
      AW_WAITS:       m_axi_awvalid_o = state_q == WRITE && !aw_done_q && m_axi_awready_i;
      default:        ;
    endcase
  end

  // Ports that the copier has no use for.
  logic unused;
  assign unused = ^{s_axil_wstrb_i, m_axi_bid_i, m_axi_rid_i};

`ifndef SYNTHESIS
  // The reset is asynchronous for the registers and a condition of the assertions.
  /* verilator lint_off SYNCASYNCNET */
  initial begin
    assert (2 ** SIZE == BYTES)
    else $fatal(1, "DATA_W must be a power of two");
  end
  a_len :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == ASK |-> left_q != '0)
  else $error("a round with nothing to copy");
  /* verilator lint_on SYNCASYNCNET */
`endif
endmodule
