// byte_packer between two streams with byte enables.

module byte_packer_bench #(
  parameter  int unsigned DATA_W  = 512,
  localparam int unsigned BYTES   = DATA_W / 8,
  localparam int unsigned COUNT_W = $clog2(BYTES) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic              s_axis_tvalid_i,
  output logic              s_axis_tready_o,
  input  logic [DATA_W-1:0] s_axis_tdata_i,
  input  logic [ BYTES-1:0] s_axis_tkeep_i,
  input  logic              s_axis_tlast_i,

  output logic              m_axis_tvalid_o,
  input  logic              m_axis_tready_i,
  output logic [DATA_W-1:0] m_axis_tdata_o,
  output logic [ BYTES-1:0] m_axis_tkeep_o,
  output logic              m_axis_tlast_o
);

  logic [COUNT_W-1:0] out_count;

  byte_packer #(
    .DATA_W(DATA_W)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axis_tvalid_i),
    .in_ready_o (s_axis_tready_o),
    .in_data_i  (s_axis_tdata_i),
    .in_count_i (COUNT_W'($countones(s_axis_tkeep_i))),
    .in_last_i  (s_axis_tlast_i),
    .out_valid_o(m_axis_tvalid_o),
    .out_ready_i(m_axis_tready_i),
    .out_data_o (m_axis_tdata_o),
    .out_count_o(out_count),
    .out_last_o (m_axis_tlast_o)
  );

  assign m_axis_tkeep_o = ~({BYTES{1'b1}} << out_count);

endmodule
