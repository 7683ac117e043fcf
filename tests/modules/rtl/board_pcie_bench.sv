// What stands between the card and a PCIe core, side by side: irq_request, flr_request, board_regs.

module board_pcie_bench (
  input logic clk_i,
  input logic rst_ni,

  input  logic       clear_i,
  input  logic       vector_valid_i,
  output logic       vector_ready_o,
  input  logic [4:0] vector_i,
  output logic       irq_valid_o,
  output logic [4:0] irq_vector_o,
  input  logic       irq_ack_i,
  input  logic       irq_fail_i,

  input  logic       flr_set_i,
  input  logic [7:0] flr_fnc_i,
  output logic       flr_done_o,
  output logic [7:0] flr_done_fnc_o,
  output logic       req_o,
  input  logic       done_i,

  input  logic [16:0]       s_araddr_i,
  input  logic              s_arvalid_i,
  output logic              s_arready_o,
  output logic [31:0]       s_rdata_o,
  output logic [ 1:0]       s_rresp_o,
  output logic              s_rvalid_o,
  input  logic              s_rready_i,
  output logic [16:0]       m_araddr_o,
  output logic              m_arvalid_o,
  input  logic              m_arready_i,
  input  logic [31:0]       m_rdata_i,
  input  logic [ 1:0]       m_rresp_i,
  input  logic              m_rvalid_i,
  output logic              m_rready_o,
  input  logic [ 3:0][31:0] words_i
);

  irq_request #(
    .VECTORS(5),
    .RETRY  (20)
  ) u_irq (
    .clk_i,
    .rst_ni,
    .clear_i,
    .vector_valid_i,
    .vector_ready_o,
    .vector_i,
    .irq_valid_o,
    .irq_vector_o,
    .irq_ack_i,
    .irq_fail_i
  );

  flr_request #(
    .FNC_W(8)
  ) u_flr (
    .clk_i,
    .rst_ni,
    .flr_set_i,
    .flr_fnc_i,
    .flr_done_o,
    .flr_done_fnc_o,
    .req_o,
    .done_i
  );

  board_regs #(
    .FIRST(17'h0ff00),
    .WORDS(4)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .s_axil_araddr (s_araddr_i),
    .s_axil_arvalid(s_arvalid_i),
    .s_axil_arready(s_arready_o),
    .s_axil_rdata  (s_rdata_o),
    .s_axil_rresp  (s_rresp_o),
    .s_axil_rvalid (s_rvalid_o),
    .s_axil_rready (s_rready_i),
    .m_axil_araddr (m_araddr_o),
    .m_axil_arvalid(m_arvalid_o),
    .m_axil_arready(m_arready_i),
    .m_axil_rdata  (m_rdata_i),
    .m_axil_rresp  (m_rresp_i),
    .m_axil_rvalid (m_rvalid_i),
    .m_axil_rready (m_rready_o),
    .words_i
  );

endmodule
