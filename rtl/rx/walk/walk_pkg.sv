// Types of the receive walk: from the TCP payload of an in-sequence segment to checked placements and reports.

package walk_pkg;
  import weft_card_pkg::*;

  // An operation for the ordered output: `record` if `is_report`, else `bytes` of placed payload to `iova`. `last` marks the last placement of an
  // FPDU, right before its report.
  typedef struct packed {
    logic         is_report;
    logic         last;
    logic         colour;     // the fence's
    fpdu_report_t record;
    logic [63:0]  iova;
    logic [15:0]  bytes;
  } op_t;

  // How the walk of a segment ended. WHOLE: all of it is walked, or the rest is carried; PARTIAL: it ends inside an FPDU that is not carried; ERROR:
  // an FPDU has one; NOT_WALKED: discarded, or left for want of report room.
  typedef enum logic [1:0] {
    STOP_WHOLE      = 2'd0,
    STOP_PARTIAL    = 2'd1,
    STOP_ERROR      = 2'd2,
    STOP_NOT_WALKED = 2'd3
  } stop_e;

  // Segments in the walk have places, as in the commit queue: so many bits.
  parameter int unsigned PLACE_W = 3;

  // Octets of an FPDU that are carried over the end of a segment: so many bits.
  parameter int unsigned CARRY_W = 13;

  // Islands of a flow: so many bits.
  parameter int unsigned ISLAND_W = 3;
  typedef struct packed {
    logic                valid;
    logic [ISLAND_W-1:0] island;
  } touch_t;

  // A segment in the walk.
  typedef struct packed {
    logic                chained;  // it continues the segment of place `behind`
    logic [PLACE_W-1:0]  behind;
    logic [PLACE_W-1:0]  place;
    logic                colour;   // the fence's
    logic                carries;  // an FPDU may be carried into it,
    logic                alone;    // unless one is, it ends whole: it is one FPDU
    logic                fin;      // none is carried out of it
    logic                beyond;   // it is beyond a gap,
    logic                certain;  // and an FPDU begins there, markers or not
    touch_t              left;     // beyond: the island that ends where it begins
    touch_t              right;    // the one that begins where it ends
    logic [ISLAND_W-1:0] island;   // beyond: the one that it becomes, with those
    logic [CARRY_W-1:0]  carry;    // octets that are put before it
    logic [15:0] flow;
    logic [31:0]         seq;
    logic [15:0]         len;
    logic [31:0]         msn;
    logic [31:0]         mo;
    flow_rx_row_t        row;
  } segment_t;

  // The end of its walk.
  typedef struct packed {
    logic [15:0] len;
    stop_e       stop;
    logic        engine;
    logic [31:0] msn;
    logic [31:0] mo;
  } walk_done_t;

  // Where a flow is in its receive queue, told by a pulse.
  typedef struct packed {
    logic              valid;
    logic [15:0] flow;
    logic [31:0]       msn;
    logic [63:0]       rq_base;
    logic [7:0]        rq_log2;
  } rq_place_t;

  // Its RQ_TAIL was written.
  typedef struct packed {
    logic              valid;
    logic [15:0] flow;
    logic [31:0]       value;
  } rq_tail_t;

  // Something happens to a flow.
  typedef struct packed {
    logic              valid;
    logic [15:0] flow;
  } flow_pulse_t;

  // A beat of one FPDU, which begins in lane 0 of its first beat. Lanes are words of 4 bytes.
  typedef struct packed {
    logic        first;
    logic        last;
    logic        partial;   // with last: the segment ends inside this FPDU
    logic        kept;      // with partial: it is carried
    logic        seg_last;  // with last: nothing of the segment is left
    logic        marker;    // lane `lane` is a marker
    logic [3:0]  lane;
    logic [15:0] distance;  // its FPDUPTR, if it is right
    logic [4:0]  words;     // 0 only with `partial`
    logic [15:0] offset;    // where in the segment the FPDU begins
  } fpdu_beat_t;

  // The length field and the longest DDP header behind it, as they came.
  typedef struct packed {
    logic [15:0]      offset;
    logic [4:0][31:0] word;
  } fpdu_head_t;

  // The result at an FPDU's end.
  typedef struct packed {
    logic        partial;
    logic        kept;
    logic        seg_last;
    logic        marked;       // a marker is in it
    logic        bad_marker;
    logic        nonzero_pad;
    logic [11:0] beats;        // payload beats written to the placement FIFO
  } fpdu_tail_t;

  // What becomes of an FPDU's payload, and a placement of it.
  typedef struct packed {
    logic        keep;
    logic [11:0] beats;
  } place_verdict_t;
  typedef struct packed {
    logic        ends;   // the FPDU's last
    logic [15:0] bytes;
  } place_run_t;

  // Errors in the order of the checks.
  typedef enum logic [4:0] {
    ERR_NONE,
    ERR_MARKER,
    ERR_CRC,
    ERR_ULPDU,
    ERR_DDP_VERSION,
    ERR_RDMAP_VERSION,
    ERR_QN,
    ERR_OPCODE,
    ERR_MSN,
    ERR_MO,
    ERR_NO_BUFFER,
    ERR_TOO_LONG,
    ERR_ELEMENT,
    ERR_STAG,
    ERR_WRAP,
    ERR_PD,
    ERR_ACCESS,
    ERR_BOUNDS
  } err_e;

  typedef enum logic [1:0] {
    CLASS_TAGGED,
    CLASS_RECEIVE,  // untagged, queue 0
    CLASS_ENGINE    // untagged, queues 1 to 3; and every good one of a check-only flow
  } class_e;

  // A DDP header that was long enough (else all zero, with `err`).
  typedef struct packed {
    logic        valid;
    class_e      kind;
    err_e        err;            // of the checks that need nothing but the header
    logic        last;           // L
    logic [7:0]  ddp_control;
    logic [7:0]  rdmap_control;
    logic [15:0] ulpdu_len;
    logic [15:0] payload_len;
    logic [31:0] stag_or_qn;
    logic [31:0] msn;
    logic [63:0] to_or_mo;
    logic [31:0] rsvd_ulp;
  } ddp_header_t;

  // The reported header: of one that was too short only class, error and length.
  function automatic ddp_header_t header_told(input ddp_header_t header);
    header_told = header;
    if (!header.valid) begin
      header_told           = '0;
      header_told.kind      = header.kind;
      header_told.err       = header.err;
      header_told.ulpdu_len = header.ulpdu_len;
    end
  endfunction

  // Reasons against a region, in the order of the checks.
  typedef struct packed {
    logic         stag;
    logic         wrap;
    logic         pd;
    logic access;
    logic         bounds;
  } region_bad_t;

  function automatic err_e region_error(input region_bad_t bad);
    if (bad.stag) return ERR_STAG;
    if (bad.wrap) return ERR_WRAP;
    if (bad.pd) return ERR_PD;
    if (bad.access) return ERR_ACCESS;
    return bad.bounds ? ERR_BOUNDS : ERR_NONE;
  endfunction

  // Access rights of a region, as bits of stag_row_t.access.
  parameter logic [7:0] ACCESS_LOCAL_WRITE = 8'd1 << STAG_ROW_LOCAL_WRITE_BIT;
  parameter logic [7:0] ACCESS_REMOTE_WRITE = 8'd1 << STAG_ROW_REMOTE_WRITE_BIT;
  parameter logic [7:0] ACCESS_READ_SINK = 8'd1 << STAG_ROW_READ_SINK_BIT;

  // Layer, type and code of the Terminate (RFC 5044 §8, 5041 §7, 5040 §4.8).
  function automatic logic [15:0] terminate_code(input err_e err, input logic is_tagged);
    unique case (err)
      ERR_MARKER:        return 16'h2003;
      ERR_CRC:           return 16'h2002;
      ERR_ULPDU:         return 16'h1000;
      ERR_DDP_VERSION:   return is_tagged ? 16'h1104 : 16'h1206;
      ERR_RDMAP_VERSION: return 16'h0205;
      ERR_QN:            return 16'h1201;
      ERR_OPCODE:        return 16'h0206;
      ERR_MSN:           return 16'h1203;
      ERR_MO:            return 16'h1204;
      ERR_NO_BUFFER:     return 16'h1202;
      ERR_TOO_LONG:      return 16'h1205;
      ERR_ELEMENT:       return 16'h1000;
      ERR_STAG:          return 16'h1100;
      ERR_WRAP:          return 16'h1103;
      ERR_PD:            return 16'h1102;
      ERR_ACCESS:        return 16'h0102;
      ERR_BOUNDS:        return 16'h1101;
      default:           return 16'h0000;
    endcase
  endfunction

endpackage
