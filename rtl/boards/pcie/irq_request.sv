// Between the card's vector requests and a PCIe core that has the MSI-X table itself and takes one vector at a time.
//
// Handshake: `irq_valid_o` is held until the core has sent it or keeps it pending in its PBA behind a mask (`irq_ack_i`),
//            or has not (`irq_fail_i`: MSI-X is off). A request of the card is
//            always taken.
// Pipeline:  one register: pending vectors, then the lowest one to the core.
// Why:       Requests of one vector that were not sent are one. What was not sent is requested again RETRY cycles later, so that an interrupt is not
//            lost because its vector was masked.
//            `clear_i` (a reset of the function) drops pending ones; the one at the core is held until it answers.

`include "weft_assert.svh"

module irq_request #(
  parameter int unsigned VECTORS = 1,   // at most 32
  parameter int unsigned RETRY   = 256  // cycles
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i,

  input  logic       vector_valid_i,  // from the card
  output logic       vector_ready_o,
  input  logic [4:0] vector_i,

  output logic       irq_valid_o,   // to the core
  output logic [4:0] irq_vector_o,
  input  logic       irq_ack_i,
  input  logic       irq_fail_i
);

  localparam int unsigned WAIT_W = $clog2(RETRY + 1);

  logic [31:0] pending_q, asked, pick, again;
  logic [       4:0] picked;
  logic [WAIT_W-1:0] wait_q;
  logic              start;

  assign vector_ready_o = 1'b1;
  assign pick           = pending_q & (~pending_q + 1'b1);
  assign start          = !irq_valid_o && wait_q == '0 && pending_q != '0 && !clear_i;

  always_comb begin
    picked = '0;
    for (int unsigned v = 0; v < 32; v++) begin
      asked[v] = vector_valid_i && 32'(vector_i) == v;
      again[v] = irq_valid_o && irq_fail_i && 32'(irq_vector_o) == v;
      if (pick[v]) picked |= 5'(v);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q    <= '0;
      irq_valid_o  <= 1'b0;
      irq_vector_o <= '0;
      wait_q       <= '0;
    end else begin
      // A request of a vector that is at the core already is another one.
      pending_q <= clear_i ? '0 : (pending_q & ~(start ? pick : '0)) | asked | again;
      if (start) begin
        irq_valid_o  <= 1'b1;
        irq_vector_o <= picked;
      end else if (irq_ack_i || irq_fail_i) begin
        irq_valid_o <= 1'b0;
      end
      if (irq_valid_o && irq_fail_i) wait_q <= WAIT_W'(RETRY);
      else if (wait_q != '0) wait_q <= wait_q - 1'b1;
    end
  end

  if (VECTORS < 1 || VECTORS > 32 || RETRY < 1) begin : gen_param_check
    $error("irq_request: 1 to 32 vectors, RETRY at least 1");
  end

  `WEFT_STREAM(u_rules, irq_valid_o, irq_ack_i || irq_fail_i, irq_vector_o)
  `WEFT_ASSERT(vector_known, vector_valid_i -> 32'(vector_i) < VECTORS)
  `WEFT_ASSERT(answer_asked, (irq_ack_i || irq_fail_i) -> irq_valid_o)

endmodule
