// The context of rq_element to replace: the least recently used one without a read in flight.
//
// Handshake: `used_i` is a pulse.
// Pipeline:  combinational; the order of use is a register.

`include "weft_assert.svh"

module rq_oldest #(
  parameter  int unsigned CONTEXTS  = 8,
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS)
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                 used_i,
  input  logic [CONTEXT_W-1:0] used_context_i,
  input  logic [ CONTEXTS-1:0] waits_i,
  output logic                 found_o,
  output logic [CONTEXT_W-1:0] oldest_o,

  input  logic count_i,  // an element is used, of a context or not
  output logic idle_o    // the oldest one was not used among the last AWHILE elements or more
);
  localparam int unsigned AWHILE = 32;
  logic [CONTEXTS-1:0][CONTEXTS-1:0] newer_q;  // [i][j]: i was used after j
  logic [CONTEXTS-1:0]               oldest;

  always_comb begin
    oldest_o = '0;
    for (int unsigned i = 0; i < CONTEXTS; i++) begin
      oldest[i] = !waits_i[i];
      for (int unsigned j = 0; j < CONTEXTS; j++) begin
        if (i != j && !waits_i[j] && !newer_q[j][i]) oldest[i] = 1'b0;
      end
      if (oldest[i]) oldest_o = oldest_o | CONTEXT_W'(i);
    end
  end
  assign found_o = waits_i != '1;

  // Used among the present AWHILE elements, or among those before.
  logic [CONTEXTS-1:0] recent_q, before_q;
  logic [$clog2(AWHILE)-1:0] count_q;
  assign idle_o = (oldest & (recent_q | before_q)) == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      recent_q <= '0;
      before_q <= '0;
      count_q  <= '0;
    end else begin
      if (count_i) begin
        count_q <= count_q + 1'b1;
        if (count_q == '1) begin
          before_q <= recent_q;
          recent_q <= '0;
        end
      end
      if (used_i) recent_q[used_context_i] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < CONTEXTS; i++) begin
        for (int unsigned j = 0; j < CONTEXTS; j++) newer_q[i][j] <= i > j;
      end
    end else if (used_i) begin
      for (int unsigned j = 0; j < CONTEXTS; j++) begin
        newer_q[j][used_context_i] <= 1'b0;
        newer_q[used_context_i][j] <= CONTEXT_W'(j) != used_context_i;
      end
    end
  end

  `WEFT_ASSERT(one_oldest, found_o ? $onehot(oldest) : oldest == '0)
endmodule
