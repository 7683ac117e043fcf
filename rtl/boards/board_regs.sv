// Read-only registers of the board, in a part of BAR0 that the card does not use: words from FIRST (in bytes) on.
//
// Handshake: AXI4-Lite at both ends, one read at a time; a read of the board's words takes two cycles.
// Pipeline:  none for the card's reads, one register for the board's.
// Why:       Everything else passes to the card. Writes do not come here: the card ignores those to its unused addresses.
//            States: Idle; Card, the card's answer is awaited; Own, the board's word is offered.

`include "weft_assert.svh"

module board_regs #(
  parameter logic        [16:0] FIRST = 17'h0ff00,  // a multiple of the window's size
  parameter int unsigned        WORDS = 8           // a power of two
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [16:0] s_axil_araddr,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [ 1:0] s_axil_rresp,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,

  output logic [16:0] m_axil_araddr,
  output logic        m_axil_arvalid,
  input  logic        m_axil_arready,
  input  logic [31:0] m_axil_rdata,
  input  logic [ 1:0] m_axil_rresp,
  input  logic        m_axil_rvalid,
  output logic        m_axil_rready,

  input logic [WORDS-1:0][31:0] words_i
);

  localparam int unsigned INDEX_W = $clog2(WORDS);

  typedef enum logic [1:0] {
    Idle,
    Card,
    Own
  } state_e;

  state_e        state_q;
  logic          mine;
  logic   [31:0] data_q;

  assign mine           = s_axil_araddr[16:INDEX_W+2] == FIRST[16:INDEX_W+2];

  assign m_axil_araddr  = s_axil_araddr;
  assign m_axil_arvalid = s_axil_arvalid && state_q == Idle && !mine;
  assign s_axil_arready = state_q == Idle && (mine || m_axil_arready);

  assign m_axil_rready  = s_axil_rready && state_q == Card;
  assign s_axil_rvalid  = state_q == Own || (state_q == Card && m_axil_rvalid);
  assign s_axil_rdata   = state_q == Own ? data_q : m_axil_rdata;
  assign s_axil_rresp   = state_q == Own ? 2'b00 : m_axil_rresp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:      if (s_axil_arvalid && s_axil_arready) state_q <= mine ? Own : Card;
        Card, Own: if (s_axil_rvalid && s_axil_rready) state_q <= Idle;
        default:   state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) data_q <= words_i[s_axil_araddr[INDEX_W+1:2]];
  end

  if ((1 << INDEX_W) != WORDS || WORDS < 2 || FIRST[INDEX_W+1:0] != '0) begin : gen_param_check
    $error("board_regs: WORDS must be a power of two, FIRST a multiple of its bytes");
  end

  `WEFT_STREAM(u_rules, s_axil_rvalid, s_axil_rready, {s_axil_rresp, s_axil_rdata})

endmodule
