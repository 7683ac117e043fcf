// The reads of AXI4-Lite, one at a time.
//
// Handshake: AXI4-Lite. The value is offered four cycles after the address was taken, and held until `rready`.
// Pipeline:  state   | registers | what happens
//            Idle    | addr_q    | the address is taken
//            Look    | eight_q   | one word of each eight; counter index and bus offset are given out
//            Wait    | word_q    | one of these words
//            Pick    | data_q    | word, counter, or register of others
//            Respond |           | until taken
// Why:       Doorbells and unused addresses read 0. COUNTER_HI is the high half of the moment at which the low one was read.

`include "weft_assert.svh"

module card_reads
  import weft_card_pkg::*;
  import weft_int_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,      // of the bus
  input logic core_rst_ni,

  axi_lite_if.slave s_axil,

  input logic [NUM_READ_WORDS-1:0][31:0] words_i,  // by address, from 0 on

  output logic [ 7:0] counter_index_o,
  input  logic [31:0] counter_value_i,  // of counter_index_o, two cycles later
  input  logic [31:0] counter_high_i,

  output logic        bus_read_o,    // pulse
  output logic [15:0] bus_offset_o,
  input  logic [31:0] bus_value_i,   // two cycles after bus_read_o

  output logic idle_o
);

  localparam int unsigned EIGHTS = NUM_READ_WORDS / 8;
  localparam int unsigned EIGHT_W = $clog2(EIGHTS);

  typedef enum logic [2:0] {
    Idle,
    Look,
    Wait,
    Pick,
    Respond
  } state_e;

  state_e                    state_q;
  logic   [      16:2]       addr_q;
  logic   [      15:0]       offset;
  logic   [EIGHTS-1:0][31:0] eight_q;
  logic [31:0] word_q, high_q, data_q;
  logic is_counter_q, is_word_q, is_high_q, is_bar0_q;

  assign s_axil.arready  = state_q == Idle;
  assign s_axil.rvalid   = state_q == Respond;
  assign s_axil.rdata    = data_q;
  assign s_axil.rresp    = 2'b00;
  assign offset          = {addr_q[15:2], 2'b00};
  assign counter_index_o = addr_q[9:2];
  assign bus_read_o      = state_q == Look;
  assign bus_offset_o    = offset;
  assign idle_o          = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:    if (s_axil.arvalid) state_q <= Look;
        Look:    state_q <= Wait;
        Wait:    state_q <= Pick;
        Pick:    state_q <= Respond;
        Respond: if (s_axil.rready) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) addr_q <= s_axil.araddr[16:2];
    if (state_q == Look) begin
      for (int unsigned e = 0; e < EIGHTS; e++) eight_q[e] <= words_i[8*e+32'(addr_q[4:2])];
      is_bar0_q    <= !addr_q[16];
      is_word_q    <= 32'(offset) < 4 * NUM_READ_WORDS;
      is_counter_q <= offset[15:10] == REG_COUNTERS[15:10];
      is_high_q    <= offset == REG_COUNTER_HI;
    end
    if (state_q == Wait) word_q <= eight_q[EIGHT_W'(addr_q[9:5])];
    if (state_q == Pick) begin
      if (!is_bar0_q) data_q <= '0;
      else if (is_counter_q) data_q <= counter_value_i;
      else if (is_high_q) data_q <= high_q;
      else data_q <= bus_value_i | (is_word_q ? word_q : '0);
    end
  end

  always_ff @(posedge clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) high_q <= '0;
    else if (state_q == Pick && is_bar0_q && is_counter_q) high_q <= counter_high_i;
  end

  logic unused_addr;
  assign unused_addr = ^s_axil.araddr[1:0];

  `WEFT_ASSERT(one_owner, state_q == Pick && is_word_q && word_q != '0 -> bus_value_i == '0)

endmodule
