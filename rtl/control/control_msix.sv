// The interrupts of a card with a control processor (docs/processor.md).
//
// Handshake: ready/valid; what is shown on `msix_*` is held until taken. `raise_i` and `taken_i` are pulses.
// Pipeline:  none for the card's requests, one register for the processor's.
// Why:       Interrupts of port 1 are always the processor's, those of port 0 while it has the card's reports (`route_i[0]`): `report_o`. Those of a
//            stopped processor are dropped.
//            The processor requests one of its own by `raise_i`, on vector 0, behind its writes. An end of its firmware while it had the reports
//            requests one as well, since nobody else reports anything then. With the second port alone, both are on vector 1.

module control_msix (
  input logic clk_i,
  input logic rst_ni,

  input  logic       run_i,     // level: the processor is not held in reset
  input  logic [1:0] route_i,   // level: the firmware has the reports of the card (0), of port 1 (1)
  input  logic       silent_i,  // level: no interrupt at an end
  input  logic       raise_i,   // pulse: the firmware requests an interrupt
  input  logic       taken_i,   // pulse: the firmware has seen report_o
  output logic       report_o,  // level: the card interrupts the processor
  output logic       idle_o,    // level: no interrupt waits here

  input  logic       card_valid_i,
  output logic       card_ready_o,
  input  logic [4:0] card_vector_i,

  output logic       msix_valid_o,
  input  logic       msix_ready_i,
  output logic [4:0] msix_vector_o
);

  // Offered in this cycle: the card's interrupt (`card`) or the processor's own (`ours`). `*_shown_q`: it was offered and not taken.
  // `reported_q`: the firmware had the reports in the last cycle. `vector1_q`: those of port 1 alone.
  logic raise_q, route_q, vector1_q, reported_q, card_shown_q, ours_shown_q, ours, card, routed;

  assign routed        = route_q || card_vector_i != '0;
  assign card          = card_valid_i && (!routed || card_shown_q) && !ours_shown_q;
  assign ours          = !card && (raise_q || ours_shown_q);

  assign msix_valid_o  = card || ours;
  assign msix_vector_o = card ? card_vector_i : 5'(vector1_q);
  assign card_ready_o  = card ? msix_ready_i : routed && !card_shown_q;
  assign idle_o        = !raise_q && !report_o && !ours_shown_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {raise_q, route_q, vector1_q, reported_q, report_o, card_shown_q, ours_shown_q} <= '0;
    end else begin
      route_q    <= route_i[0];
      reported_q <= route_i != '0;
      if (route_i != '0) vector1_q <= !route_i[0];
      card_shown_q <= card && !msix_ready_i;
      ours_shown_q <= ours && !msix_ready_i;
      if (raise_i || reported_q && route_i == '0 && !silent_i) raise_q <= 1'b1;
      else if (ours && msix_ready_i) raise_q <= 1'b0;
      if (!run_i) report_o <= 1'b0;
      else if (card_valid_i && card_ready_o && !card) report_o <= 1'b1;
      else if (taken_i) report_o <= 1'b0;
    end
  end

endmodule
