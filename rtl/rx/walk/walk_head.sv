// Collects length field and DDP header of each FPDU.
//
// Handshake: Observes beats that are taken elsewhere. `head_valid_o` is a pulse, in the cycle of the beat that completes the header or ends the FPDU.
// Pipeline:  None: combinational from the completing beat; earlier words are in word_q.

module walk_head
  import walk_pkg::*;
#(
  parameter int unsigned DATA_W = 512
) (
  input  logic                    clk_i,
  input  logic                    valid_i,
  input  logic       [DATA_W-1:0] data_i,
  input  fpdu_beat_t              beat_i,
  output logic                    head_valid_o,
  output fpdu_head_t              head_o
);
  localparam int unsigned WORDS = DATA_W / 32;
  localparam int unsigned HEAD = 5;
  // From 8 words on, a header and two markers fit into the first beat.
  localparam bit ONE_BEAT = WORDS >= 8;

  logic [4:0][31:0] word_d, word_q;
  logic [2:0] at_q, at;
  logic [5:0] reach;
  logic pending_q, pending;

  assign at      = ONE_BEAT || beat_i.first ? 3'd0 : at_q;
  assign pending = beat_i.first || pending_q;
  assign reach   = 6'(at) + 6'(beat_i.words);

  always_comb begin
    word_d = word_q;
    for (int unsigned w = 0; w < HEAD; w++) begin
      for (int unsigned i = 0; i <= w && i < WORDS; i++) begin
        if (at == 3'(w - i)) word_d[w] = data_i[32*i+:32];
      end
    end
  end

  assign head_valid_o  = valid_i && pending && (reach >= 6'(HEAD) || beat_i.last);
  assign head_o.word   = word_d;
  assign head_o.offset = beat_i.offset;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      pending_q <= pending && !head_valid_o;
      if (pending) begin
        word_q <= word_d;
        at_q   <= reach > 6'd7 ? 3'd7 : reach[2:0];
      end
    end
  end

  logic unused;
  assign unused = ^beat_i;
endmodule
