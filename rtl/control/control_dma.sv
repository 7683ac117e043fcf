// Copies between the control processor's memory and host memory, both ways, one at a time: one bus beat after the other, each with all the words in
// it. Words are moved whole; of the first and the last one that go to host memory only the bytes that are asked for are written. It is for records
// of some hundred bytes, not for payload: the data path moves that.
//
// `start_i` is taken while `busy_o` is 0. A copy ends early on a bus error (`failed_o`, until the next one), and when `stop_i` is set, but
// never in the middle of an access to the bus. Memory: `mem_req_o` stands until `mem_gnt_i`, and what is read comes a cycle later.

module control_dma #(
  parameter int unsigned DATA_W = 512
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                start_i,
  input  logic                write_i,      // to host memory
  input  logic [63:2]         host_i,
  input  logic [31:2]         local_i,
  input  logic [31:2]         words_i,
  input  logic [3:0]          first_i,      // bytes of the first word and of the last that are written
  input  logic [3:0]          last_i,
  input  logic                stop_i,
  output logic                busy_o,
  output logic                failed_o,

  output logic                mem_req_o,
  input  logic                mem_gnt_i,
  output logic                mem_we_o,
  output logic [31:2]         mem_addr_o,
  output logic [31:0]         mem_wdata_o,
  input  logic [31:0]         mem_rdata_i,

  output logic [63:0]         m_axi_awaddr,
  output logic                m_axi_awvalid,
  input  logic                m_axi_awready,
  output logic [DATA_W-1:0]   m_axi_wdata,
  output logic [DATA_W/8-1:0] m_axi_wstrb,
  output logic                m_axi_wvalid,
  input  logic                m_axi_wready,
  input  logic [1:0]          m_axi_bresp,
  input  logic                m_axi_bvalid,
  output logic [63:0]         m_axi_araddr,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  input  logic [DATA_W-1:0]   m_axi_rdata,
  input  logic [1:0]          m_axi_rresp,
  input  logic                m_axi_rvalid
);

  localparam int unsigned LANES  = DATA_W / 32;
  localparam int unsigned LANE_W = $clog2(LANES);

  typedef enum logic [2:0] {Idle, Ask, Answer, Fill, Collect, Send, Sent} state_e;

  state_e                 state_q;
  logic                   aw_q, w_q, late_q;
  logic [63:2]            host_q;
  logic [31:2]            local_q, words_q;
  logic [LANES-1:0][31:0] line_q;
  logic [LANES-1:0][3:0]  strobe_q;
  logic [3:0]             first_q, last_q;
  logic [LANE_W-1:0]      lane, late_lane_q;
  logic [63:2+LANE_W]     block_q;  // of what was collected: host_q is already behind it
  logic                   step, last_lane, done;

  assign lane      = host_q[2 +: LANE_W];
  assign last_lane = &lane;
  assign done      = words_q == 0 || stop_i;

  assign busy_o      = state_q != Idle;
  assign mem_req_o   = words_q != 0 && (state_q == Fill || state_q == Collect && !(late_q && late_lane_q == '1));
  assign mem_we_o    = state_q == Fill;
  assign mem_addr_o  = local_q;
  assign mem_wdata_o = line_q[lane];
  assign step        = mem_req_o && mem_gnt_i;

  assign m_axi_araddr  = {host_q[63:2+LANE_W], (2 + LANE_W)'(0)};
  assign m_axi_arvalid = state_q == Ask;
  assign m_axi_awaddr  = {block_q, (2 + LANE_W)'(0)};
  assign m_axi_awvalid = state_q == Send && !aw_q;
  assign m_axi_wvalid  = state_q == Send && !w_q;
  assign m_axi_wdata   = line_q;

  assign m_axi_wstrb   = strobe_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      failed_o <= 1'b0;
      {aw_q, w_q, late_q} <= '0;
      words_q  <= '0;
      strobe_q <= '0;
    end else begin
      late_q <= step && !mem_we_o && !stop_i;
      if (step) words_q <= words_q - 1'b1;
      unique case (state_q)
        Idle:
          if (start_i && !stop_i) begin
            words_q  <= words_i;
            failed_o <= 1'b0;
            strobe_q <= '0;
            state_q  <= words_i == 0 ? Idle : write_i ? Collect : Ask;
          end
        Ask: if (m_axi_arready) state_q <= Answer;
        Answer:
          if (m_axi_rvalid) begin
            failed_o <= m_axi_rresp[1];
            state_q  <= m_axi_rresp[1] ? Idle : Fill;
          end
        Fill:
          if (done) state_q <= Idle;
          else if (step && last_lane) state_q <= words_q == 1 ? Idle : Ask;
        Collect:
          if (stop_i) state_q <= Idle;
          else if (late_q && (late_lane_q == '1 || words_q == 0)) begin
            {aw_q, w_q} <= '0;
            state_q     <= Send;
          end
        Send: begin
          if (m_axi_awready) aw_q <= 1'b1;
          if (m_axi_wready) w_q <= 1'b1;
          if ((aw_q || m_axi_awready) && (w_q || m_axi_wready)) state_q <= Sent;
        end
        Sent:
          if (m_axi_bvalid) begin
            failed_o <= m_axi_bresp[1];
            strobe_q <= '0;
            state_q  <= m_axi_bresp[1] || done ? Idle : Collect;
          end
        default: state_q <= Idle;
      endcase
      if (late_q) strobe_q[late_lane_q] <= first_q & (words_q == 0 ? last_q : '1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      host_q  <= host_i;
      local_q <= local_i;
      first_q <= first_i;
      last_q  <= last_i;
    end else if (step) begin
      host_q  <= host_q + 1'b1;
      local_q <= local_q + 1'b1;
    end
    if (step) begin
      late_lane_q <= lane;
      block_q     <= host_q[63:2+LANE_W];
    end
    if (state_q == Answer && m_axi_rvalid) line_q <= m_axi_rdata;
    if (late_q) begin
      line_q[late_lane_q] <= mem_rdata_i;
      first_q             <= '1;
    end
  end

  logic unused_resp;
  assign unused_resp = ^{m_axi_bresp[0], m_axi_rresp[0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_answer: assert (!m_axi_bvalid || state_q == Sent);
      a_data:   assert (!m_axi_rvalid || state_q == Answer);
    end
  end
`endif

endmodule
