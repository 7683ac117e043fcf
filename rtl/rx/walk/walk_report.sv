// The report of an FPDU (docs/card.md "Receiving: verdicts"), and its counters.
//
// Handshake: `valid_i` is a pulse.
// Pipeline:  the report is combinational, the counters follow a cycle later.

module walk_report
  import walk_pkg::*;
  import weft_card_pkg::*;
(
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  valid_i,        // the FPDU is reported in this cycle
  input  logic         [            15:0]       flow_i,
  input  logic         [             7:0]       epoch_i,
  input  logic                                  port_i,
  input  logic         [            31:0]       seg_seq_i,
  input  logic         [            15:0]       offset_i,       // signed
  input  ddp_header_t                           header_i,
  input  err_e                                  err_i,
  input  logic                                  nonzero_pad_i,
  output fpdu_report_t                          report_o,
  output logic         [NUM_COUNTERS-1:0][15:0] cnt_inc_o
);
  logic engine;
  assign engine = header_i.kind == CLASS_ENGINE;

  always_comb begin
    report_o                                     = '0;
    report_o.kind                                = REPORT_KIND_FPDU;
    report_o.flags[FPDU_REPORT_HEADER_VALID_BIT] = header_i.valid;
    report_o.flow                                = flow_i;
    report_o.epoch                               = epoch_i;
    report_o.seq                                 = seg_seq_i + 32'(signed'(offset_i));
    report_o.ddp_control                         = header_i.ddp_control;
    report_o.rdmap_control                       = header_i.rdmap_control;
    report_o.verdict                             = err_i != ERR_NONE ? FPDU_VERDICT_ERROR : (engine ? FPDU_VERDICT_ENGINE : FPDU_VERDICT_PLACED);
    report_o.ulpdu_len                           = header_i.ulpdu_len;
    report_o.terminate                           = terminate_code(err_i, header_i.kind == CLASS_TAGGED);
    report_o.stag_or_qn                          = header_i.stag_or_qn;
    report_o.msn                                 = header_i.msn;
    report_o.to_or_mo                            = header_i.to_or_mo;
    report_o.rsvd_ulp                            = header_i.rsvd_ulp;
    report_o.payload_len                         = 32'(header_i.payload_len);
    report_o.offset                              = offset_i;
    report_o.phase[FPDU_REPORT_PORT_BIT]         = port_i;
  end

  // `valid_i` is late.
  logic told_q, engine_q, nonzero_pad_q, good;
  err_e err_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) told_q <= 1'b0;
    else told_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    engine_q      <= engine;
    nonzero_pad_q <= nonzero_pad_i;
    err_q         <= err_i;
  end
  assign good = told_q && err_q == ERR_NONE;

  always_comb begin
    cnt_inc_o                             = '0;
    cnt_inc_o[CNT_RX_FPDUS]               = 16'(told_q);
    cnt_inc_o[CNT_RX_FPDUS_TO_ENGINE]     = 16'(good && engine_q);
    cnt_inc_o[CNT_RX_FPDU_NONZERO_PAD]    = 16'(good && nonzero_pad_q);
    cnt_inc_o[CNT_RX_ERROR_MARKER]        = 16'(told_q && err_q == ERR_MARKER);
    cnt_inc_o[CNT_RX_ERROR_CRC]           = 16'(told_q && err_q == ERR_CRC);
    cnt_inc_o[CNT_RX_ERROR_ULPDU]         = 16'(told_q && err_q == ERR_ULPDU);
    cnt_inc_o[CNT_RX_ERROR_DDP_VERSION]   = 16'(told_q && err_q == ERR_DDP_VERSION);
    cnt_inc_o[CNT_RX_ERROR_RDMAP_VERSION] = 16'(told_q && err_q == ERR_RDMAP_VERSION);
    cnt_inc_o[CNT_RX_ERROR_QN]            = 16'(told_q && err_q == ERR_QN);
    cnt_inc_o[CNT_RX_ERROR_OPCODE]        = 16'(told_q && err_q == ERR_OPCODE);
    cnt_inc_o[CNT_RX_ERROR_MSN]           = 16'(told_q && err_q == ERR_MSN);
    cnt_inc_o[CNT_RX_ERROR_MO]            = 16'(told_q && err_q == ERR_MO);
    cnt_inc_o[CNT_RX_ERROR_NO_BUFFER]     = 16'(told_q && err_q == ERR_NO_BUFFER);
    cnt_inc_o[CNT_RX_ERROR_TOO_LONG]      = 16'(told_q && err_q == ERR_TOO_LONG);
    cnt_inc_o[CNT_RX_ERROR_ELEMENT]       = 16'(told_q && err_q == ERR_ELEMENT);
    cnt_inc_o[CNT_RX_ERROR_STAG]          = 16'(told_q && err_q == ERR_STAG);
    cnt_inc_o[CNT_RX_ERROR_WRAP]          = 16'(told_q && err_q == ERR_WRAP);
    cnt_inc_o[CNT_RX_ERROR_PD]            = 16'(told_q && err_q == ERR_PD);
    cnt_inc_o[CNT_RX_ERROR_ACCESS]        = 16'(told_q && err_q == ERR_ACCESS);
    cnt_inc_o[CNT_RX_ERROR_BOUNDS]        = 16'(told_q && err_q == ERR_BOUNDS);
  end

  logic unused;
  assign unused = ^header_i;
endmodule
