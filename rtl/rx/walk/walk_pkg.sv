// Types of the receive walk: from the TCP payload of an in-sequence segment to checked placements and reports.

package walk_pkg;
  import weft_card_pkg::*;

  // What the walk asks of the ordered output. `record` if `is_report`, else `bytes` of placed payload to `iova`.
  typedef struct packed {
    logic         is_report;
    fpdu_report_t record;
    logic [63:0]  iova;
    logic [15:0]  bytes;
  } op_t;

  // How the walk of a segment ended.
  typedef enum logic [1:0] {
    STOP_WHOLE = 2'd0,
    STOP_PARTIAL = 2'd1,
    STOP_ERROR = 2'd2,
    STOP_NOT_WALKED = 2'd3
  } stop_e;

  // A segment to walk.
  typedef struct packed {
    logic         chained;
    logic [15:0]  flow;
    logic [31:0]  seq;
    logic [15:0]  len;
    logic [31:0]  msn;
    logic [31:0]  mo;
    flow_rx_row_t row;
  } segment_t;

endpackage
