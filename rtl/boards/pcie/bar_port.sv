// BAR0 and BAR2 as a bridge's AXI4 master accesses them: beats of any width at any byte, in bursts of any length.
//
// Handshake: ready/valid on all channels; the push port always takes. Bursts are INCR. A burst of the push window takes two cycles and one for each
//            beat. Any other takes two cycles, and for each word with a strobe two and its AXI4-Lite write.
// Pipeline:  AW, W ─► a beat of the push window ──────────────────► push port of the card, as it is
//                     any other ─► its words, one after the other ─► AXI4-Lite
//            AR, R ◄─ the word at the beat's address, in every place ◄─ AXI4-Lite
//            state        | what happens                            | left when
//            WIdle        | the address is taken                    | a burst comes
//            WBeat        | a beat is taken, or pushed              | it has words to write; the burst's last: WDone
//            WPick, WTake | the next word with a strobe is selected | always
//            WWord        | AXI4-Lite write                         | it is answered
//            WDone        | the response is offered                 | taken
//            RIdle        | the address is taken                    | a burst comes
//            RAsk, RWait  | AXI4-Lite read                          | it is answered
//            RGive        | the beat is offered                     | taken
// Why:       All writes go one way and one at a time, so registers, doorbells and pushed jobs reach the card in the bridge's order.
//            A write without strobes is only answered. The worst response of a burst's words is its response.
//            Registers are read as words of 32 bits: of a wider beat the first word is read, and is in all of its words.

`include "weft_assert.svh"

module bar_port #(
  parameter int unsigned        DATA_W = 512,
  parameter int unsigned        ID_W   = 4,
  parameter logic        [16:0] WINDOW = 17'h11000  // the push window's 4 KiB
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [    ID_W-1:0] s_axi_awid,
  input  logic [        16:0] s_axi_awaddr,
  input  logic [         2:0] s_axi_awsize,
  input  logic                s_axi_awvalid,
  output logic                s_axi_awready,
  input  logic [  DATA_W-1:0] s_axi_wdata,
  input  logic [DATA_W/8-1:0] s_axi_wstrb,
  input  logic                s_axi_wlast,
  input  logic                s_axi_wvalid,
  output logic                s_axi_wready,
  output logic [    ID_W-1:0] s_axi_bid,
  output logic [         1:0] s_axi_bresp,
  output logic                s_axi_bvalid,
  input  logic                s_axi_bready,
  input  logic [    ID_W-1:0] s_axi_arid,
  input  logic [        16:0] s_axi_araddr,
  input  logic [         7:0] s_axi_arlen,
  input  logic [         2:0] s_axi_arsize,
  input  logic                s_axi_arvalid,
  output logic                s_axi_arready,
  output logic [    ID_W-1:0] s_axi_rid,
  output logic [  DATA_W-1:0] s_axi_rdata,
  output logic [         1:0] s_axi_rresp,
  output logic                s_axi_rlast,
  output logic                s_axi_rvalid,
  input  logic                s_axi_rready,

  output logic [16:0] m_axil_awaddr,
  output logic        m_axil_awvalid,
  input  logic        m_axil_awready,
  output logic [31:0] m_axil_wdata,
  output logic [ 3:0] m_axil_wstrb,
  output logic        m_axil_wvalid,
  input  logic        m_axil_wready,
  input  logic [ 1:0] m_axil_bresp,
  input  logic        m_axil_bvalid,
  output logic        m_axil_bready,
  output logic [16:0] m_axil_araddr,
  output logic        m_axil_arvalid,
  input  logic        m_axil_arready,
  input  logic [31:0] m_axil_rdata,
  input  logic [ 1:0] m_axil_rresp,
  input  logic        m_axil_rvalid,
  output logic        m_axil_rready,

  output logic                push_valid_o,
  output logic [        11:0] push_addr_o,
  output logic [  DATA_W-1:0] push_data_o,
  output logic [DATA_W/8-1:0] push_strb_o
);

  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned WORD_W = $clog2(WORDS);
  localparam int unsigned BEAT_W = $clog2(DATA_W / 8);
  localparam int unsigned BEAT_BITS = DATA_W + DATA_W / 8 + 1;

  // The address of the beat after this one (AXI4, A3.4.1). No burst crosses 4 KiB.
  function automatic logic [16:0] after(logic [16:0] address, logic [2:0] size);
    logic [11:0] low;
    low = address[11:0] | ((12'd1 << size) - 12'd1);
    return {address[16:12], low + 12'd1};
  endfunction

  // ---------------------------------------------------------------- writes
  typedef enum logic [2:0] {
    WIdle,
    WBeat,
    WPick,
    WTake,
    WWord,
    WDone
  } write_e;

  write_e             write_q;
  logic   [     16:0] waddr_q;  // of the beat that comes next
  logic   [      2:0] wsize_q;
  logic   [16:BEAT_W] base_q;  // of the beat whose words are being written
  logic [DATA_W-1:0] data_q, in_data;
  logic [WORDS-1:0][3:0] strb_q, in_strb;
  logic [WORDS-1:0] todo_q, strobed;  // words with strobes
  logic [WORD_W-1:0] word, word_q;  // the first of them
  logic last_q, aw_done_q, w_done_q, in_valid, in_last, pushes, beat;

  stream_slice #(
    .WIDTH(BEAT_BITS)
  ) u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i (s_axi_wvalid),
    .in_ready_o (s_axi_wready),
    .in_data_i  ({s_axi_wlast, s_axi_wstrb, s_axi_wdata}),
    .out_valid_o(in_valid),
    .out_ready_i(write_q == WBeat),
    .out_data_o ({in_last, in_strb, in_data}),
    .shown_o    ()
  );

  assign s_axi_awready = write_q == WIdle;
  assign s_axi_bvalid  = write_q == WDone;

  assign beat          = in_valid && write_q == WBeat;
  assign pushes        = waddr_q[16:12] == WINDOW[16:12];

  assign push_valid_o  = beat && pushes;
  assign push_addr_o   = waddr_q[11:0];
  assign push_data_o   = in_data;
  assign push_strb_o   = in_strb;

  always_comb begin
    word = '0;
    for (int unsigned w = 0; w < WORDS; w++) strobed[w] = in_strb[w] != '0;
    for (int unsigned w = WORDS; w > 0; w--) if (todo_q[w-1]) word = WORD_W'(w - 1);
  end

  assign m_axil_awvalid = write_q == WWord && !aw_done_q;
  assign m_axil_wvalid  = write_q == WWord && !w_done_q;
  assign m_axil_bready  = write_q == WWord && aw_done_q && w_done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q   <= WIdle;
      aw_done_q <= 1'b0;
      w_done_q  <= 1'b0;
    end else begin
      unique case (write_q)
        WIdle:   if (s_axi_awvalid) write_q <= WBeat;
        WBeat: begin
          if (beat && !pushes && strobed != '0) write_q <= WPick;
          else if (beat && in_last) write_q <= WDone;
        end
        WPick:   write_q <= WTake;
        WTake:   write_q <= WWord;
        WWord: begin
          if (m_axil_awready) aw_done_q <= 1'b1;
          if (m_axil_wready) w_done_q <= 1'b1;
          if (m_axil_bvalid && m_axil_bready) begin
            aw_done_q <= 1'b0;
            w_done_q  <= 1'b0;
            if (todo_q != '0) write_q <= WPick;
            else write_q <= last_q ? WDone : WBeat;
          end
        end
        WDone:   if (s_axi_bready) write_q <= WIdle;
        default: write_q <= WIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axi_awvalid && s_axi_awready) begin
      waddr_q     <= s_axi_awaddr;
      wsize_q     <= s_axi_awsize;
      s_axi_bid   <= s_axi_awid;
      s_axi_bresp <= 2'b00;
    end
    if (beat) begin
      waddr_q <= after(waddr_q, wsize_q);
      base_q  <= waddr_q[16:BEAT_W];
      data_q  <= in_data;
      strb_q  <= in_strb;
      todo_q  <= strobed;
      last_q  <= in_last;
    end
    if (write_q == WPick) word_q <= word;
    if (write_q == WTake) begin
      m_axil_awaddr  <= {base_q, word_q, 2'b00};
      m_axil_wdata   <= data_q[32*word_q+:32];
      m_axil_wstrb   <= strb_q[word_q];
      todo_q[word_q] <= 1'b0;
    end
    if (m_axil_bvalid && m_axil_bready && m_axil_bresp > s_axi_bresp) s_axi_bresp <= m_axil_bresp;
  end

  // ---------------------------------------------------------------- reads
  typedef enum logic [1:0] {
    RIdle,
    RAsk,
    RWait,
    RGive
  } read_e;

  read_e        read_q;
  logic  [16:0] raddr_q;
  logic  [ 2:0] rsize_q;
  logic  [ 7:0] left_q;  // beats after this one
  logic  [31:0] rdata_q;

  assign s_axi_arready  = read_q == RIdle;
  assign m_axil_araddr  = {raddr_q[16:2], 2'b00};
  assign m_axil_arvalid = read_q == RAsk;
  assign m_axil_rready  = read_q == RWait;
  assign s_axi_rvalid   = read_q == RGive;
  assign s_axi_rdata    = {WORDS{rdata_q}};
  assign s_axi_rlast    = left_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= RIdle;
    end else begin
      unique case (read_q)
        RIdle:   if (s_axi_arvalid) read_q <= RAsk;
        RAsk:    if (m_axil_arready) read_q <= RWait;
        RWait:   if (m_axil_rvalid) read_q <= RGive;
        RGive:   if (s_axi_rready) read_q <= s_axi_rlast ? RIdle : RAsk;
        default: read_q <= RIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axi_arvalid && s_axi_arready) begin
      raddr_q   <= s_axi_araddr;
      rsize_q   <= s_axi_arsize;
      left_q    <= s_axi_arlen;
      s_axi_rid <= s_axi_arid;
    end
    if (m_axil_rvalid && m_axil_rready) begin
      rdata_q     <= m_axil_rdata;
      s_axi_rresp <= m_axil_rresp;
    end
    if (s_axi_rvalid && s_axi_rready) begin
      raddr_q <= after(raddr_q, rsize_q);
      left_q  <= left_q - 1'b1;
    end
  end

  if (DATA_W < 64 || 32 << WORD_W != DATA_W || WINDOW[11:0] != '0) begin : gen_param_check
    $error("bar_port: DATA_W must be a power of two of at least 64, WINDOW a multiple of 4 KiB");
  end

  `WEFT_STREAM(u_aw_rules, m_axil_awvalid, m_axil_awready, m_axil_awaddr)
  `WEFT_STREAM(u_w_rules, m_axil_wvalid, m_axil_wready, {m_axil_wstrb, m_axil_wdata})
  `WEFT_STREAM(u_r_rules, s_axi_rvalid, s_axi_rready, {s_axi_rlast, s_axi_rresp, s_axi_rdata})
  `WEFT_ASSERT(words_have_strobes, write_q == WTake -> todo_q[word_q])

endmodule
