// Reads at the pace of their data, for a bridge that serves reads before writes and asks for gaps between reads (PG302, Slave Bridge).
//
// Handshake: valid/ready of AR; the rest of AR goes past. Neither valid nor ready looks at the other end's ready but through the handshake of AR.
// Pipeline:  AR of n beats taken │ n cycles in which no read is shown │ the next AR
// Why:       Without gaps, reads for transmit at rate hold back placements and reports. R brings one beat a cycle at most, so a read of n beats takes
//            n + 1 cycles, and what is requested more slowly comes no later in the long run. In n cycles a bridge makes the read's requests, of 128
//            bytes or more; at 64 bytes a beat half of the cycles at least are left for writes. The card itself bounds the beats in flight: 512 of
//            payload, 64 of jobs, 64 of elements.

`include "weft_assert.svh"

module read_pace (
  input logic clk_i,
  input logic rst_ni,

  input  logic [7:0] s_axi_arlen,
  input  logic       s_axi_arvalid,
  output logic       s_axi_arready,

  output logic m_axi_arvalid,
  input  logic m_axi_arready
);

  logic [8:0] left_q;  // cycles without a read
  logic       open_q;  // there are none left

  assign m_axi_arvalid = s_axi_arvalid && open_q;
  assign s_axi_arready = m_axi_arready && open_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
      open_q <= 1'b1;
    end else if (open_q) begin
      if (s_axi_arvalid && m_axi_arready) begin
        left_q <= 9'(s_axi_arlen);
        open_q <= 1'b0;
      end
    end else begin
      left_q <= left_q - 1'b1;
      open_q <= left_q == '0;
    end
  end

  `WEFT_STREAM(u_rules, m_axi_arvalid, m_axi_arready, s_axi_arlen)

endmodule
