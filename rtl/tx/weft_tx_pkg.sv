// Types between the stages of the transmit path.

package weft_tx_pkg;
  import weft_card_pkg::*;
  import weft_int_pkg::replay_t;

  // verilator lint_off UNUSEDPARAM
  parameter logic [7:0] TCP_PSH = 8'h08;
  parameter logic [7:0] TCP_ACK = 8'h10;

  parameter logic [31:0] MAX_RAW_BYTES = 32'd9216;
  parameter logic [31:0] MIN_RAW_BYTES = 32'd14;
  parameter logic [31:0] MAX_PAYLOAD_BYTES = 32'd9000;
  parameter logic [31:0] MAX_INLINE_BYTES = 32'd64;
  parameter logic [31:0] MAX_PACK_BYTES = 32'd2048;  // of a segment of several FPDUs
  parameter logic [31:0] MAX_PACK_FPDUS = 32'd16;

  // Room for the headers before the TCP payload: Ethernet, a VLAN tag, IPv6, TCP with options.
  parameter int unsigned HEADER_BYTES = 96;
  // verilator lint_on UNUSEDPARAM

  parameter logic [1:0] STATUS_DONE = 2'(JOB_STATUS_DONE);
  parameter logic [1:0] STATUS_MALFORMED = 2'(JOB_STATUS_MALFORMED);
  parameter logic [1:0] STATUS_READ_ERROR = 2'(JOB_STATUS_READ_ERROR);

  // Which set-up of which port's job ring a job belongs to. A set-up of which no job was given out does not count. So jobs in flight are of at most
  // as many set-ups as there are jobs: fewer than there are numbers (tx_steps).
  // verilator lint_off UNUSEDPARAM
  parameter int unsigned EPOCH_W = 6;
  // verilator lint_on UNUSEDPARAM
  typedef struct packed {
    logic               port;
    logic [EPOCH_W-1:0] count;
  } epoch_t;

  // A job, checked.
  typedef struct packed {
    logic [1:0]   status;  // STATUS_READ_ERROR: the slot itself could not be read
    logic [31:0]  number;
    epoch_t       epoch;
    logic         fresh;   // FLOW_TX was perhaps written since the last good job
    flow_tx_row_t row;
    job_t         job;
  } checked_t;

  // How the payload of one frame is laid out; `length` is the TCP payload (a raw frame: the whole frame).
  typedef struct packed {
    logic        crc;        // the last four bytes are an FPDU's CRC
    logic        markers;
    logic [6:0]  to_marker;  // 32-bit words of the FPDU before its first marker
    logic [13:0] length;
  } layout_t;

  // The fields of one frame's headers.
  typedef struct packed {
    logic [31:0] seq;
    logic [31:0] ack;
    logic [15:0] window;
    logic [7:0]  tcp_flags;
    logic [31:0] ts_val;
    logic [31:0] ts_ecr;
    logic [7:0]  ttl;
    logic [7:0]  tos;
    logic [47:0] remote_mac;   // byte 0 of the wire in bits 7:0, as in the row
    logic [47:0] local_mac;
    logic [31:0] local_ip;
    logic [31:0] remote_ip;
    logic [15:0] local_port;
    logic [15:0] remote_port;
  } headers_t;

  // One frame. `says` is a headers_t; of a replay, which has no headers, a replay_t (says_replay).
  typedef struct packed {
    logic        drop;        // its payload could not be read: never sent
    logic        raw;         // no headers of ours
    logic        replay;      // nor a frame: to receive, with `raw`
    logic        fpdu;
    logic        crc;
    logic        timestamps;
    logic        apart;       // it shares no segment with the frame before
    logic [11:0] pack;        // most payload of a segment of several FPDUs; 0: none is made
    logic [13:0] length;      // as in layout_t
    headers_t    says;
  } frame_t;

  // One step of a job, in job order: a frame to make, or only the end of the job.
  typedef struct packed {
    logic [31:0]       number;
    logic [15:0] flow;
    epoch_t            epoch;
    logic              job_last;    // the job ends with this step
    logic              notify;
    logic [1:0]        status;
    logic              has_frame;
    logic              from_slot;   // inline payload
    logic [13:0]       bytes;       // payload read from host memory or the slot
    logic [4:0]        head_bytes;  // MPA length and DDP header: 0, 16 or 20
    logic [159:0]      head;        // first byte in bits 7:0
    logic [2:0]        tail_bytes;  // pad and CRC field: 0, or 4 to 7
    layout_t           layout;
    frame_t            frame;
  } step_t;

  // A frame's payload, to be sent from the store.
  typedef struct packed {
    logic        drop;
    logic        crc;
    logic        more;       // another one follows in its segment
    logic [13:0] length;
    logic [31:0] crc_value;  // first wire byte in bits 7:0
  } fetch_t;

  // A frame's headers, to be sent.
  typedef struct packed {
    logic [4:0]                fpdus;          // in it; 0: it is no FPDU
    logic                      replay;
    logic [31:0]               seq;
    logic [13:0]               payload_bytes;
    logic [6:0]                header_bytes;
    logic [8*HEADER_BYTES-1:0] header;         // of a replay, which has none, replay_t in the low bits
  } out_header_t;

  // A replay's record takes the place of the headers.
  function automatic headers_t says_replay(input replay_t about);
    return headers_t'($bits(headers_t)'(about));
  endfunction

  function automatic logic [15:0] swap16(input logic [15:0] v);
    return {v[7:0], v[15:8]};
  endfunction

  function automatic logic [31:0] swap32(input logic [31:0] v);
    return {v[7:0], v[15:8], v[23:16], v[31:24]};
  endfunction

endpackage
