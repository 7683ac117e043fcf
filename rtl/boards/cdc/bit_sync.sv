// Bits into another clock domain, each on its own.
//
// Handshake: No handshake: a bit is seen STAGES cycles later, or one more.
// Pipeline:  STAGES registers.
// Why:       The bits must come from registers. Two that change together may be seen one after the other. So a word may cross here only if one bit
//            changes at a time (a Gray code). Other words go through word_sync.

module bit_sync #(
  parameter int unsigned             WIDTH     = 1,
  parameter int unsigned             STAGES    = 2,
  parameter logic        [WIDTH-1:0] RESET_VAL = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [WIDTH-1:0] async_i,
  output logic [WIDTH-1:0] sync_o
);

  (* ASYNC_REG = "TRUE" *) logic [STAGES-1:0][WIDTH-1:0] sync_q;

  assign sync_o = sync_q[STAGES-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_q <= {STAGES{RESET_VAL}};
    else sync_q <= {sync_q[STAGES-2:0], async_i};
  end

  if (STAGES < 2) begin : gen_param_check
    $error("bit_sync: at least two stages");
  end

endmodule
