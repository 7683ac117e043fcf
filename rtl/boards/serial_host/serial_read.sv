// The card's AXI read port over the byte stream: a request goes to the host, its answer is gathered whole, then given a beat a cycle.
//
// Handshake: AXI4, one burst at a time, so R has the order of AR. While the link is down, and when the host refuses, every beat is an error.
// Pipeline:  AR ─► serial_send ─► ... ─► serial_receive ─► memory of a burst ─► R
//            state   | what happens                 | left when
//            Address | the address is taken         | a burst comes
//            Send    | the request is sent          | sent, or the link is down
//            Wait    | the host's answer is awaited | it came, or the link is down
//            Fetch   | a beat is read from memory   | always
//            Give    | the beat is offered          | taken

`include "weft_assert.svh"

module serial_read (
  input logic clk_i,
  input logic rst_ni,
  input logic up_i,
  input logic busy_i,  // of serial_send

  input  logic [  1:0] s_axi_arid,
  input  logic [ 63:0] s_axi_araddr,
  input  logic [  7:0] s_axi_arlen,
  input  logic         s_axi_arvalid,
  output logic         s_axi_arready,
  output logic [  1:0] s_axi_rid,
  output logic [127:0] s_axi_rdata,
  output logic [  1:0] s_axi_rresp,
  output logic         s_axi_rlast,
  output logic         s_axi_rvalid,
  input  logic         s_axi_rready,

  output logic        send_valid_o,
  input  logic        send_ready_i,
  output logic [63:0] send_addr_o,
  output logic [12:0] send_bytes_o,

  input logic         we_i,
  input logic [  7:0] waddr_i,
  input logic [127:0] wdata_i,

  output logic       waits_o,    // an answer of the host is outstanding
  output logic       pending_o,  // a request is at the host, or about to be
  output logic [8:0] words_o,    // length of the answer
  input  logic       done_i,
  input  logic       failed_i    // with done_i
);

  typedef enum logic [2:0] {
    Address,
    Send,
    Wait,
    Fetch,
    Give
  } state_e;

  state_e state_q;
  logic failed_q, gone;
  logic [63:4] addr_q;
  logic [7:0] last_q, at_q;
  logic [1:0] id_q;

  assign s_axi_arready = state_q == Address;
  assign s_axi_rvalid  = state_q == Give;
  assign s_axi_rid     = id_q;
  assign s_axi_rresp   = {failed_q, 1'b0};
  assign s_axi_rlast   = at_q == last_q;
  assign send_valid_o  = state_q == Send && up_i;
  assign send_addr_o   = {addr_q, 4'd0};
  assign words_o       = {1'b0, last_q} + 9'd1;
  assign send_bytes_o  = {words_o, 4'd0};
  assign waits_o       = state_q == Wait;
  assign pending_o     = state_q == Send || state_q == Wait;
  assign gone          = !up_i && !busy_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Address;
    end else begin
      unique case (state_q)
        Address: if (s_axi_arvalid) state_q <= Send;
        Send:    if (send_ready_i) state_q <= Wait;
 else if (gone) state_q <= Fetch;
        Wait:    if (done_i || gone) state_q <= Fetch;
        Fetch:   state_q <= Give;
        Give:    if (s_axi_rready) state_q <= s_axi_rlast ? Address : Fetch;
        default: state_q <= Address;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Address) begin
      addr_q <= s_axi_araddr[63:4];
      last_q <= s_axi_arlen;
      id_q   <= s_axi_arid;
      at_q   <= '0;
    end
    if (state_q == Give && s_axi_rready) at_q <= at_q + 1'b1;
    if (state_q == Send || state_q == Wait) failed_q <= !(done_i && !failed_i);
  end

  ram_1r1w #(
    .WIDTH (128),
    .DEPTH (256),
    .UNSEEN(1'b1)
  ) u_ram (
    .clk_i,
    .we_i,
    .waddr_i,
    .wdata_i,
    .re_i   (state_q == Fetch),
    .raddr_i(at_q),
    .rdata_o(s_axi_rdata)
  );

  logic unused;
  assign unused = ^s_axi_araddr[3:0];

  `WEFT_ASSERT(answers_are_expected, !done_i || waits_o)
  `WEFT_STREAM(u_rules, s_axi_rvalid, s_axi_rready, {s_axi_rid, s_axi_rresp, s_axi_rlast, s_axi_rdata})

endmodule
