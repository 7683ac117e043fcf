// The card's AXI write port over the byte stream: a burst is gathered whole, sent as one frame, and answered as the host answers.
//
// Handshake: AXI4, one burst at a time. While the link is down every burst is answered with an error.
// Pipeline:  AW, W ─► memory of a burst ─► serial_send ─► ... ─► `done_i`, `failed_i` ─► B
//            state   | what happens                 | left when
//            Address | the address is taken         | a burst comes
//            Data    | beats enter the memory       | the last one
//            Send    | the frame is sent            | sent, or the link is down
//            Wait    | the host's answer is awaited | it came, or the link is down
//            Answer  | the response is offered      | taken
// Why:       Strobes may have no hole from the first to the last (the card keeps that). A burst without any is answered at once.

`include "weft_assert.svh"

module serial_write (
  input logic clk_i,
  input logic rst_ni,
  input logic up_i,
  input logic busy_i,  // of serial_send

  input  logic [ 63:0] s_axi_awaddr,
  input  logic         s_axi_awvalid,
  output logic         s_axi_awready,
  input  logic [127:0] s_axi_wdata,
  input  logic [ 15:0] s_axi_wstrb,
  input  logic         s_axi_wlast,
  input  logic         s_axi_wvalid,
  output logic         s_axi_wready,
  output logic [  1:0] s_axi_bresp,
  output logic         s_axi_bvalid,
  input  logic         s_axi_bready,

  output logic         send_valid_o,
  input  logic         send_ready_i,
  output logic [ 63:0] send_addr_o,
  output logic [ 12:0] send_bytes_o,
  input  logic         re_i,
  input  logic [  7:0] raddr_i,
  output logic [127:0] rdata_o,
  output logic [ 15:0] rstrb_o,

  output logic waits_o,    // an answer of the host is outstanding
  output logic pending_o,  // a burst is at the host, or about to be
  input  logic done_i,
  input  logic failed_i    // with done_i
);

  typedef enum logic [2:0] {
    Address,
    Data,
    Send,
    Wait,
    Answer
  } state_e;

  state_e state_q;
  logic failed_q, push, gone;
  logic [ 7:0] word_q;
  logic [63:4] addr_q;
  logic [3:0] skip, skip_q;  // bytes of the first word that are not written
  logic [ 4:0] ones;
  logic [12:0] bytes_q;

  assign s_axi_awready = state_q == Address;
  assign s_axi_wready  = state_q == Data;
  assign s_axi_bvalid  = state_q == Answer;
  assign s_axi_bresp   = {failed_q, 1'b0};
  assign send_valid_o  = state_q == Send && up_i;
  assign send_addr_o   = {addr_q, skip_q};
  assign send_bytes_o  = bytes_q;
  assign waits_o       = state_q == Wait;
  assign pending_o     = state_q == Send || state_q == Wait;
  assign push          = s_axi_wvalid && s_axi_wready;
  // The link is down, and nothing of the burst is being sent.
  assign gone          = !up_i && !busy_i;

  always_comb begin
    ones = '0;
    skip = '0;
    for (int unsigned b = 0; b < 16; b++) begin
      ones = ones + 5'(s_axi_wstrb[b]);
    end
    for (int b = 15; b >= 0; b--) begin
      if (s_axi_wstrb[b]) skip = 4'(b);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Address;
    end else begin
      unique case (state_q)
        Address: if (s_axi_awvalid) state_q <= Data;
        Data:    if (push && s_axi_wlast) state_q <= bytes_q == '0 && ones == '0 ? Answer : Send;
        Send:    if (send_ready_i) state_q <= Wait;
 else if (gone) state_q <= Answer;
        Wait:    if (done_i || gone) state_q <= Answer;
        Answer:  if (s_axi_bready) state_q <= Address;
        default: state_q <= Address;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Address) begin
      addr_q  <= s_axi_awaddr[63:4];
      word_q  <= '0;
      bytes_q <= '0;
    end
    if (push) begin
      bytes_q <= bytes_q + 13'(ones);
      word_q  <= word_q + 1'b1;
      // Words before the first strobe are left out: it is then in the first word of the memory.
      if (bytes_q == '0) begin
        skip_q <= skip;
        if (ones == '0) begin
          word_q <= '0;
          addr_q <= addr_q + 1'b1;
        end
      end
    end
    failed_q <= (state_q == Send && gone && !send_ready_i) || (state_q == Wait && !(done_i && !failed_i)) || (state_q == Answer && failed_q);
  end

  ram_1r1w #(
    .WIDTH (144),
    .DEPTH (256),
    .UNSEEN(1'b1)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(word_q),
    .wdata_i({s_axi_wstrb, s_axi_wdata}),
    .re_i,
    .raddr_i,
    .rdata_o({rstrb_o, rdata_o})
  );

  logic unused;
  assign unused = ^s_axi_awaddr[3:0];

`ifndef SYNTHESIS
  logic ended_q;  // a word did not reach its end: no more strobes
  always_ff @(posedge clk_i) begin
    if (state_q == Address) ended_q <= 1'b0;
    else if (push && (bytes_q != '0 || ones != '0) && !s_axi_wstrb[15]) ended_q <= 1'b1;
  end
  `WEFT_ASSERT(no_strobes_behind_a_hole, !push || !ended_q || ones == '0)
  `WEFT_ASSERT(no_hole_in_a_word, !push || ones == '0 || 32'(s_axi_wstrb) >> skip == (32'd1 << ones) - 1)
  `WEFT_ASSERT(no_hole_in_front, !push || bytes_q == '0 || ones == '0 || s_axi_wstrb[0])
  `WEFT_ASSERT(answers_are_expected, !done_i || waits_o)
`endif

endmodule
