module tb import weft_card_pkg::*; (input int LAT, input int FLOWS, input int PERIOD, input logic clk_i, input logic rst_ni, output int sends_o, output int errors_o);
  logic want, here, error, tv, av, rqv, rqr, rspv, rspr; logic [15:0] flow, tf, af; logic [31:0] msn [256]; logic [63:0] addr; logic [15:0] bytes;
  receive_element_t el; logic marked, idle;
  logic [511:0] data; logic last;
  int state, startup, turn, wait_n;
  rq_element #(.NUM_FLOWS(256)) dut (.clk_i,.rst_ni,.want_i(want),.once_i(1'b0),.flow_i(flow),.msn_i(msn[flow[7:0]]),.posted_i(32'd1<<20),.rq_base_i(64'(flow)<<32),.rq_log2_i(8'd16),
   .here_o(here),.error_o(error),.element_o(el),.tail_valid_i(tv),.tail_flow_i(tf),.tail_value_i(32'd1<<20),.flush_i(1'b0),.flush_flow_i('0),
   .attach_valid_i(av),.attach_flow_i(af),.attach_msn_i(32'd1),.attach_rq_base_i(64'(af)<<32),.attach_rq_log2_i(8'd16),.mark_i(1'b0),.marked_o(marked),
   .el_req_valid_o(rqv),.el_req_ready_i(rqr),.el_req_addr_o(addr),.el_req_bytes_o(bytes),.el_rsp_valid_i(rspv),.el_rsp_ready_o(rspr),.el_rsp_data_i(data),.el_rsp_count_i(7'd64),.el_rsp_last_i(last),.el_rsp_error_i(1'b0),.idle_o(idle));
  // memory: queue of up to 32 requests, 64 elements
  logic [63:0] qa [64]; int qn [64]; longint qt [64]; int head, tail_, beat, elems; longint now;
  assign rqr = (tail_-head) < 32 && elems <= 56;
  assign rspv = tail_ != head && now >= qt[head%64];
  assign data = 512'(qa[head%64] + 64'(beat)*64);
  assign last = beat == qn[head%64]-1;
  initial for (int i=0;i<256;i++) msn[i]=1;
  int delta;
  always_comb delta = (rqv&&rqr ? int'(bytes)/64 : 0) - (rspv&&rspr ? 1 : 0);
  logic [511:0] w; assign w = el;
  always_ff @(posedge clk_i) if (!rst_ni) begin head<=0; tail_<=0; beat<=0; elems<=0; now<=0; end else begin
    now <= now+1; elems <= elems+delta;
    if (rqv&&rqr) begin qa[tail_%64]<=addr; qn[tail_%64]<=int'(bytes)/64; qt[tail_%64]<=now+LAT; tail_<=tail_+1; end
    if (rspv&&rspr) begin if (last) begin beat<=0; head<=head+1; end else beat<=beat+1; end
  end
  always_ff @(posedge clk_i) if (!rst_ni) begin state<=0; startup<=0; turn<=0; want<=0; flow<=0; tv<=0; av<=0; sends_o<=0; errors_o<=0; end
  else if (startup < 1200+64*FLOWS) begin
    startup<=startup+1; tv<=0; av<=0;
    if (startup>=1100 && (startup-1100)%64==0 && (startup-1100)/64<FLOWS) begin tv<=1; tf<=16'((startup-1100)/64); end
    if (startup>=1100 && (startup-1100)%64==8 && (startup-1100)/64<FLOWS) begin av<=1; af<=16'((startup-1100)/64); end
  end else begin
    if (state==2) want<=1;
    if (state>=3 && want && here) begin
      want<=0; state<=4; if (w[63:0] != (64'(flow)<<32)+64'(msn[flow[7:0]]-1)*64) begin errors_o<=errors_o+1; end
      sends_o<=sends_o+1;
    end else if (state<3 || state>3) state <= state+1;
    if (state == PERIOD-1) begin state<=0; msn[flow[7:0]]<=msn[flow[7:0]]+1; flow<=16'((int'(flow)+1)%FLOWS); end
  end
endmodule
