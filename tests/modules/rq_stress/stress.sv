module st import weft_card_pkg::*; (input int seed, input int LAT, input int FLOWS, input int BAD, input logic clk_i, input logic rst_ni, output int sends_o, output int errors_o, output int bads_o, output int flushes_o);
  logic want, once, here, error, tv, av, rqv, rqr, rspv, rspr, fl, mk; logic [15:0] flow, tf, af, ff; logic [63:0] addr; logic [15:0] bytes;
  logic [31:0] cmsn; logic [63:0] cbase;
  logic [31:0] msn [16], posted [16]; logic [7:0] gen [16]; int since [16]; logic [31:0] lastmsn[16];
  receive_element_t el; logic marked, idle; logic [511:0] data, w; logic last, rerr; assign w = el;
  int state, startup, hold; int sf;
  function automatic logic [63:0] base(int f, logic [7:0] g); return (64'(g)<<48) | (64'(f)<<32); endfunction
  function automatic logic bad(logic [63:0] a); logic [31:0] h; h = (32'(a>>6) ^ 32'(a>>32)*32'd2654435) * 32'd2654435761; return BAD != 0 && (h>>8) % BAD == 0; endfunction
  rq_element #(.NUM_FLOWS(16)) dut (.clk_i,.rst_ni,.want_i(want),.once_i(once),.flow_i(flow),.msn_i(cmsn),.posted_i(posted[flow[3:0]]),.rq_base_i(cbase),.rq_log2_i(8'd6),
   .here_o(here),.error_o(error),.element_o(el),.tail_valid_i(tv),.tail_flow_i(tf),.tail_value_i(posted[tf[3:0]]),.flush_i(fl),.flush_flow_i(ff),
   .attach_valid_i(av),.attach_flow_i(af),.attach_msn_i(msn[af[3:0]]),.attach_rq_base_i(base(int'(af),gen[af[3:0]])),.attach_rq_log2_i(8'd6),.mark_i(mk),.marked_o(marked),
   .el_req_valid_o(rqv),.el_req_ready_i(rqr),.el_req_addr_o(addr),.el_req_bytes_o(bytes),.el_rsp_valid_i(rspv),.el_rsp_ready_o(rspr),.el_rsp_data_i(data),.el_rsp_count_i(7'd64),.el_rsp_last_i(last),.el_rsp_error_i(rerr),.idle_o(idle));
  // memory
  logic [63:0] qa [64]; int qn [64]; longint qt [64]; int head, tail_, beat; longint now; logic qbad [64];
  logic [63:0] ea; int ef; logic [31:0] em;
  assign rqr = (tail_-head) < 32 && ($urandom % 8 != 0 || rqr_q); logic rqr_q;
  assign rspv = tail_ != head && now >= qt[head%64];
  always_comb begin
    ea = qa[head%64] + 64'(beat)*64; ef = int'(ea[47:32]);
    // the newest posted MSN of this slot
    em = posted[ef[3:0]] - ((posted[ef[3:0]] - 32'd1 - 32'(ea[11:6])) & 32'd63);
    data = {416'd0, em, ea};
    last = beat == qn[head%64]-1;
    rerr = last && qbad[head%64];
  end
  logic anybad; always_comb begin anybad = 0; for (int i=0;i<8;i++) if (i < int'(bytes)/64 && bad(addr+64'(i)*64)) anybad = 1; end
  // marks
  int markn; logic mk_q, marking;
  always_ff @(posedge clk_i) if (!rst_ni) begin head<=0; tail_<=0; beat<=0; now<=0; rqr_q<=0; marking<=0; mk_q<=0; end else begin
    now <= now+1; rqr_q <= rqv && !rqr ? rqr_q : 1'b0; mk_q<=mk;
    if (rqv&&rqr) begin qa[tail_%64]<=addr; qn[tail_%64]<=int'(bytes)/64; qt[tail_%64]<=now+LAT+longint'($urandom%20); qbad[tail_%64]<=anybad; tail_<=tail_+1;
      for (int i=0;i<8;i++) if (i<int'(bytes)/64) begin automatic logic [63:0] a = addr+64'(i)*64; automatic int f=int'(a[47:32]); if (((posted[f[3:0]]-32'd1-32'(a[11:6]))&32'd63) >= posted[f[3:0]]) begin $display("%0d read of unposted %h", now, a); errors_o<=errors_o+1; end
        if (a[63:48] != 16'(gen[f[3:0]]) && since[f[3:0]] > 400) begin $display("%0d read of an old queue %h", now, a); errors_o<=errors_o+1; end end end
    if (rspv&&rspr) begin if (last) begin beat<=0; head<=head+1; end else beat<=beat+1; end
    if (mk) begin markn <= tail_; marking<=1; end
    else if (marking && !mk_q && !marked) begin if (head < markn) begin $display("%0d mark ended early %0d %0d", now, head, markn); errors_o<=errors_o+1; end marking<=0; end
  end
  initial for (int i=0;i<16;i++) begin msn[i]=1; posted[i]=0; gen[i]=0; since[i]=1000; end
  logic isbad; assign isbad = bad(cbase + 64'((cmsn-1)&63)*64);
  int g, n;
  always_ff @(posedge clk_i) if (!rst_ni) begin state<=0; startup<=0; want<=0; once<=0; flow<=0; tv<=0; av<=0; fl<=0; mk<=0; sends_o<=0; errors_o<=0; bads_o<=0; flushes_o<=0; sf<=100; cmsn<=1; cbase<=0; end
  else if (startup < 200) startup<=startup+1;
  else begin
    tv<=0; av<=0; fl<=0; mk<=0; sf<=sf+1;
    for (int i=0;i<16;i++) if (since[i] < 1000) since[i] <= since[i]+1;
    g = $urandom % FLOWS;
    if ($urandom % 4 == 0 && posted[g]-msn[g]+1 < 32'd50) begin n = 1 + $urandom%6; posted[g] <= posted[g] + 32'(n); tv<=1; tf<=16'(g); end
    if ($urandom % 500 == 0) begin g = $urandom%FLOWS; if (since[g] > 20 && !fl) begin av<=1; af<=16'(g); end end
    if ($urandom % 400 == 0) mk<=1;
    if ($urandom % 300 == 0 && sf > 12) begin g = $urandom%FLOWS; if (!(av && af==16'(g))) begin
      fl<=1; ff<=16'(g); sf<=0; since[g]<=0; gen[g] <= gen[g]+1; flushes_o<=flushes_o+1; end end
    if (fl && state != 0 && ff == flow) once<=1;   // as walk_rows does
    if (state == 0) begin
      g = $urandom % FLOWS; if ($urandom%2==0) g = int'(flow);
      if (posted[g] >= msn[g] && !(posted[g][31]) && msn[g] != 0 && since[g] > 14 && !(fl && ff==16'(g))) begin state<=1; flow<=16'(g); cmsn<=msn[g]; cbase<=base(g,gen[g]); once<=0; end
    end else if (state < 4) begin state<=state+1; if (state==3) want<=1; hold <= $urandom%5; end
    else if (state == 4) begin
      if (want && here) begin
        if (error != isbad || (!error && (w[63:0] != cbase + 64'((cmsn-1)&63)*64 || w[95:64] != cmsn))) begin
          $display("%0d flow %0d msn %0d once %0d: error %0d bad %0d addr %h em %0d base %h", now, flow, cmsn, once, error, isbad, w[63:0], w[95:64], cbase); errors_o<=errors_o+1; end
        if (error) bads_o<=bads_o+1;
        if (hold == 0) begin want<=0; state<=5; sends_o<=sends_o+1; if ($urandom%3!=0) msn[flow[3:0]] <= msn[flow[3:0]]+1; end else hold<=hold-1;
      end
    end else begin state <= $urandom%2==0 ? 0 : state; if (!(fl)) once<=0; end
  end
endmodule
