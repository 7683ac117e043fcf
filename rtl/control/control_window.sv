// The card's registers and doorbells in the core's address space: an access of the core becomes one of an AXI4-Lite master.
//
// Handshake: `req_i` is taken with `ready_o`, one at a time; `rvalid_o` is a pulse when the card has answered. AXI4-Lite valids are held until taken.
// Pipeline:  state  | what happens                 | left when
//            Idle   | an access is taken           | `req_i`
//            Write  | address and data are offered | both are taken
//            Wrote  | the response is awaited      | it came
//            Read   | the address is offered       | taken
//            Answer | the value is awaited         | it came
// Why:       An access in flight when the core is stopped is completed, and its answer dropped (ours_q).

module control_window (
  input logic clk_i,
  input logic rst_ni,      // of the bus
  input logic core_rst_ni,

  input  logic        req_i,     // taken while `ready_o`
  output logic        ready_o,
  input  logic        we_i,
  input  logic [16:0] addr_i,
  input  logic [31:0] wdata_i,
  input  logic [ 3:0] be_i,
  output logic        rvalid_o,
  output logic [31:0] rdata_o,
  output logic        err_o,

  axi_lite_if.master m_axil
);

  typedef enum logic [2:0] {
    Idle,
    Write,
    Wrote,
    Read,
    Answer
  } state_e;

  state_e state_q;
  logic aw_q, w_q, done, error, ours_q;
  logic [16:0] addr_q;
  logic [31:0] data_q;
  logic [ 3:0] be_q;

  assign ready_o        = state_q == Idle;

  assign m_axil.awaddr  = addr_q;
  assign m_axil.awvalid = state_q == Write && !aw_q;
  assign m_axil.wdata   = data_q;
  assign m_axil.wstrb   = be_q;
  assign m_axil.wvalid  = state_q == Write && !w_q;
  assign m_axil.bready  = state_q == Wrote;
  assign m_axil.araddr  = addr_q;
  assign m_axil.arvalid = state_q == Read;
  assign m_axil.rready  = state_q == Answer;

  assign done           = state_q == Wrote && m_axil.bvalid || state_q == Answer && m_axil.rvalid;
  assign error          = state_q == Wrote ? m_axil.bresp[1] : m_axil.rresp[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      {aw_q, w_q} <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          {aw_q, w_q} <= '0;
          if (req_i && core_rst_ni) state_q <= we_i ? Write : Read;
        end
        Write: begin
          if (m_axil.awready) aw_q <= 1'b1;
          if (m_axil.wready) w_q <= 1'b1;
          if ((aw_q || m_axil.awready) && (w_q || m_axil.wready)) state_q <= Wrote;
        end
        Wrote:   if (done) state_q <= Idle;
        Read:    if (m_axil.arready) state_q <= Answer;
        Answer:  if (done) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  // The core that requested still runs.
  always_ff @(posedge clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) begin
      ours_q   <= 1'b0;
      rvalid_o <= 1'b0;
      err_o    <= 1'b0;
    end else begin
      ours_q   <= ready_o ? req_i : ours_q && !done;
      rvalid_o <= ours_q && done;
      err_o    <= error;
    end
  end

  always_ff @(posedge clk_i) begin
    if (ready_o) begin
      addr_q <= {addr_i[16:2], 2'b00};
      data_q <= wdata_i;
      be_q   <= be_i;
    end
    if (done) rdata_o <= m_axil.rdata;
  end

  logic unused;
  assign unused = ^{addr_i[1:0], m_axil.bresp[0], m_axil.rresp[0]};

endmodule
