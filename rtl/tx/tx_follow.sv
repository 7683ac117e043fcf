// Tells of each frame whether it may share a segment with the one before, as far as the two of them decide that.
//
// Handshake: observes frames as they come; `frame_o` is one in the same cycle, with `apart` complete.
// Pipeline:  frame ─► register, of the last one
// Why:       FLOW_TX was not written between the two (`apart` of what comes in). So the same flow and port are the same addresses and options.
//            An FPDU behind one that was dropped goes alone.

module tx_follow
  import weft_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic          frame_valid_i,
  input  frame_t        frame_i,
  input  logic   [15:0] flow_i,
  input  logic          port_i,
  output frame_t        frame_o
);

  localparam logic [7:0] PLAIN_FLAGS = TCP_ACK | TCP_PSH;

  logic may, may_q;  // an FPDU that is sent, with no flags but ACK and PSH
  logic [15:0] flow_q;
  logic        port_q;
  logic [ 7:0] tos_q;
  logic [31:0] next_seq_q;

  assign may = frame_i.fpdu && !frame_i.drop && (frame_i.says.tcp_flags & ~PLAIN_FLAGS) == '0;

  always_comb begin
    frame_o = frame_i;
    frame_o.apart = frame_i.apart || !may || !may_q || flow_i != flow_q || port_i != port_q || frame_i.says.tos != tos_q || frame_i.says.seq != next_seq_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) may_q <= 1'b0;
    else if (frame_valid_i) may_q <= may;
  end

  always_ff @(posedge clk_i) begin
    if (frame_valid_i) begin
      flow_q     <= flow_i;
      port_q     <= port_i;
      tos_q      <= frame_i.says.tos;
      next_seq_q <= frame_i.says.seq + 32'(frame_i.length);
    end
  end

endmodule
