// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.
//
// Offsets of registers and doorbells, table numbers, counter numbers, and the records that the
// host and the card exchange. In every record bit 0 is bit 0 of byte 0; numbers are little-endian,
// byte strings have their first byte in bits 7:0.

package weft_card_pkg;

  parameter logic [31:0] INTERFACE_VERSION = 32'd2;

  // Registers (byte offset in BAR0).
  parameter logic [15:0] REG_ID = 16'h0000;
  parameter logic [31:0] REG_ID_RESET = 32'h57454654;
  parameter logic [15:0] REG_VERSION = 16'h0004;
  parameter logic [15:0] REG_CAPS = 16'h0008;
  parameter logic [15:0] REG_SCRATCH = 16'h000c;
  parameter logic [15:0] REG_CTRL = 16'h0010;
  parameter logic [15:0] REG_STATUS = 16'h0014;
  parameter logic [15:0] REG_MTU = 16'h0018;
  parameter logic [31:0] REG_MTU_RESET = 32'h0000233a;
  parameter logic [15:0] REG_MAC_LO = 16'h0020;
  parameter logic [15:0] REG_MAC_HI = 16'h0024;
  parameter logic [15:0] REG_JOB_BASE_LO = 16'h0040;
  parameter logic [15:0] REG_JOB_BASE_HI = 16'h0044;
  parameter logic [15:0] REG_JOB_LOG2 = 16'h0048;
  parameter logic [15:0] REG_JOB_DONE = 16'h004c;
  parameter logic [15:0] REG_REPORT_BASE_LO = 16'h0060;
  parameter logic [15:0] REG_REPORT_BASE_HI = 16'h0064;
  parameter logic [15:0] REG_REPORT_LOG2 = 16'h0068;
  parameter logic [15:0] REG_REPORT_TAIL = 16'h006c;
  parameter logic [15:0] REG_RAW_BASE_LO = 16'h0080;
  parameter logic [15:0] REG_RAW_BASE_HI = 16'h0084;
  parameter logic [15:0] REG_RAW_LOG2 = 16'h0088;
  parameter logic [15:0] REG_RAW_TAIL = 16'h008c;
  parameter logic [15:0] REG_MSIX_COUNT = 16'h00a0;
  parameter logic [15:0] REG_TRACE_CTRL = 16'h00c0;
  parameter logic [31:0] REG_TRACE_CTRL_RESET = 32'h0000ffff;
  parameter logic [15:0] REG_TRACE_HEAD = 16'h00c4;
  parameter logic [15:0] REG_TRACE_LOST = 16'h00c8;
  parameter logic [15:0] REG_TRACE_SIZE = 16'h00cc;
  parameter logic [15:0] REG_TIME_LO = 16'h00d0;
  parameter logic [15:0] REG_TIME_HI = 16'h00d4;
  parameter logic [15:0] REG_CAPTURE_BASE_LO = 16'h00e0;
  parameter logic [15:0] REG_CAPTURE_BASE_HI = 16'h00e4;
  parameter logic [15:0] REG_CAPTURE_LOG2 = 16'h00e8;
  parameter logic [15:0] REG_CAPTURE_CTRL = 16'h00ec;
  parameter logic [15:0] REG_CAPTURE_TAIL = 16'h00f0;
  parameter logic [15:0] REG_TABLE_DATA = 16'h0200;
  parameter int unsigned REG_TABLE_DATA_COUNT = 16;
  parameter logic [15:0] REG_TABLE_CMD = 16'h0240;
  parameter logic [15:0] REG_COUNTERS = 16'h1000;
  parameter int unsigned REG_COUNTERS_COUNT = 256;
  parameter logic [15:0] REG_TRACE = 16'h4000;
  parameter int unsigned REG_TRACE_COUNT = 4096;

  // Doorbells (byte offset in BAR2).
  parameter logic [15:0] DB_JOB_TAIL = 16'h0000;
  parameter logic [15:0] DB_REPORT_HEAD = 16'h0004;
  parameter logic [15:0] DB_RAW_HEAD = 16'h0008;
  parameter logic [15:0] DB_REPORT_ARM = 16'h000c;
  parameter logic [15:0] DB_CAPTURE_HEAD = 16'h0010;
  parameter logic [15:0] DB_RQ_TAIL = 16'h8000;

  // Tables.
  parameter logic [3:0] TBL_FLOW_KEY = 4'd1;
  parameter logic [3:0] TBL_FLOW_RX = 4'd2;
  parameter logic [3:0] TBL_ATTACH = 4'd3;
  parameter logic [3:0] TBL_FLOW_TX = 4'd4;
  parameter logic [3:0] TBL_STAG = 4'd5;

  // What happened: kinds of a trace_entry.
  parameter logic [7:0] TRACE_KIND_FRAME_IN = 8'd1;
  parameter logic [7:0] TRACE_KIND_FRAME_DROPPED = 8'd2;
  parameter logic [7:0] TRACE_KIND_VERDICT = 8'd3;
  parameter logic [7:0] TRACE_KIND_REPORT = 8'd4;
  parameter logic [7:0] TRACE_KIND_JOB_BEGIN = 8'd5;
  parameter logic [7:0] TRACE_KIND_JOB_DONE = 8'd6;
  parameter logic [7:0] TRACE_KIND_FRAME_OUT = 8'd7;
  parameter logic [7:0] TRACE_KIND_INTERRUPT = 8'd8;
  parameter logic [7:0] TRACE_KIND_DOORBELL = 8'd9;
  parameter logic [7:0] TRACE_KIND_TABLE = 8'd10;
  parameter logic [7:0] TRACE_KIND_REGISTER = 8'd11;
  parameter logic [7:0] TRACE_KIND_DMA_ERROR = 8'd12;
  parameter logic [7:0] TRACE_KIND_LOST = 8'd15;

  // Why a frame was dropped (detail of FRAME_DROPPED), each with the counter rx_drop_*.
  parameter logic [7:0] TRACE_DROP_DISABLED = 8'd1;
  parameter logic [7:0] TRACE_DROP_FCS = 8'd2;
  parameter logic [7:0] TRACE_DROP_RUNT = 8'd3;
  parameter logic [7:0] TRACE_DROP_OVERSIZE = 8'd4;
  parameter logic [7:0] TRACE_DROP_MAC = 8'd5;
  parameter logic [7:0] TRACE_DROP_IP_HEADER = 8'd6;
  parameter logic [7:0] TRACE_DROP_IP_CHECKSUM = 8'd7;
  parameter logic [7:0] TRACE_DROP_TCP_HEADER = 8'd8;
  parameter logic [7:0] TRACE_DROP_TCP_CHECKSUM = 8'd9;
  parameter logic [7:0] TRACE_DROP_BUFFER_FULL = 8'd10;
  parameter logic [7:0] TRACE_DROP_NO_RAW_SLOT = 8'd11;

  // What became of a frame (detail of VERDICT).
  parameter logic [7:0] TRACE_VERDICT_NO_FLOW = 8'd0;
  parameter logic [7:0] TRACE_VERDICT_NO_PAYLOAD = 8'd1;
  parameter logic [7:0] TRACE_VERDICT_PLACED = 8'd2;
  parameter logic [7:0] TRACE_VERDICT_ENGINE = 8'd3;
  parameter logic [7:0] TRACE_VERDICT_DUPLICATE = 8'd4;
  parameter logic [7:0] TRACE_VERDICT_BYPASSED = 8'd5;
  parameter logic [7:0] TRACE_VERDICT_GAP = 8'd6;
  parameter logic [7:0] TRACE_VERDICT_PARTIAL = 8'd7;
  parameter logic [7:0] TRACE_VERDICT_ERROR = 8'd8;

  // Counters.
  parameter int unsigned CNT_RX_FRAMES = 0;
  parameter int unsigned CNT_RX_BYTES = 1;
  parameter int unsigned CNT_RX_DROP_DISABLED = 2;
  parameter int unsigned CNT_RX_DROP_FCS = 3;
  parameter int unsigned CNT_RX_DROP_RUNT = 4;
  parameter int unsigned CNT_RX_DROP_OVERSIZE = 5;
  parameter int unsigned CNT_RX_DROP_MAC = 6;
  parameter int unsigned CNT_RX_DROP_IP_HEADER = 7;
  parameter int unsigned CNT_RX_DROP_IP_CHECKSUM = 8;
  parameter int unsigned CNT_RX_DROP_TCP_HEADER = 9;
  parameter int unsigned CNT_RX_DROP_TCP_CHECKSUM = 10;
  parameter int unsigned CNT_RX_DROP_BUFFER_FULL = 11;
  parameter int unsigned CNT_RX_DROP_NO_RAW_SLOT = 12;
  parameter int unsigned CNT_RX_DROP_LOOPBACK = 13;
  parameter int unsigned CNT_RX_RAW_FRAMES = 14;
  parameter int unsigned CNT_RX_SEGMENTS = 15;
  parameter int unsigned CNT_RX_SEGMENTS_PLACED = 16;
  parameter int unsigned CNT_RX_SEGMENTS_BYPASSED = 17;
  parameter int unsigned CNT_RX_SEGMENTS_DUPLICATE = 18;
  parameter int unsigned CNT_RX_DETACH_GAP = 19;
  parameter int unsigned CNT_RX_DETACH_PARTIAL = 20;
  parameter int unsigned CNT_RX_DETACH_ERROR = 21;
  parameter int unsigned CNT_RX_ATTACH = 22;
  parameter int unsigned CNT_RX_ATTACH_REFUSED = 23;
  parameter int unsigned CNT_RX_FPDUS = 24;
  parameter int unsigned CNT_RX_FPDUS_PLACED = 25;
  parameter int unsigned CNT_RX_FPDUS_TO_ENGINE = 26;
  parameter int unsigned CNT_RX_FPDU_NONZERO_PAD = 27;
  parameter int unsigned CNT_RX_ERROR_CRC = 28;
  parameter int unsigned CNT_RX_ERROR_MARKER = 29;
  parameter int unsigned CNT_RX_ERROR_ULPDU = 30;
  parameter int unsigned CNT_RX_ERROR_DDP_VERSION = 31;
  parameter int unsigned CNT_RX_ERROR_RDMAP_VERSION = 32;
  parameter int unsigned CNT_RX_ERROR_OPCODE = 33;
  parameter int unsigned CNT_RX_ERROR_QN = 34;
  parameter int unsigned CNT_RX_ERROR_MSN = 35;
  parameter int unsigned CNT_RX_ERROR_MO = 36;
  parameter int unsigned CNT_RX_ERROR_NO_BUFFER = 37;
  parameter int unsigned CNT_RX_ERROR_TOO_LONG = 38;
  parameter int unsigned CNT_RX_ERROR_STAG = 39;
  parameter int unsigned CNT_RX_ERROR_PD = 40;
  parameter int unsigned CNT_RX_ERROR_ACCESS = 41;
  parameter int unsigned CNT_RX_ERROR_BOUNDS = 42;
  parameter int unsigned CNT_RX_ERROR_WRAP = 43;
  parameter int unsigned CNT_RX_ERROR_ELEMENT = 44;
  parameter int unsigned CNT_RX_STALL_ELEMENT_CYCLES = 45;
  parameter int unsigned CNT_RX_STALL_REPORT_CYCLES = 46;
  parameter int unsigned CNT_RX_STALL_WRITE_CYCLES = 47;
  parameter int unsigned CNT_RX_PLACE_BYTES = 48;
  parameter int unsigned CNT_TX_JOBS = 49;
  parameter int unsigned CNT_TX_JOBS_BAD = 50;
  parameter int unsigned CNT_TX_FRAMES = 51;
  parameter int unsigned CNT_TX_BYTES = 52;
  parameter int unsigned CNT_TX_FPDUS = 53;
  parameter int unsigned CNT_TX_READ_ERRORS = 54;
  parameter int unsigned CNT_TX_STALL_READ_CYCLES = 55;
  parameter int unsigned CNT_TX_STALL_MAC_CYCLES = 56;
  parameter int unsigned CNT_DMA_READ_REQUESTS = 57;
  parameter int unsigned CNT_DMA_READ_ERRORS = 58;
  parameter int unsigned CNT_DMA_WRITE_REQUESTS = 59;
  parameter int unsigned CNT_DMA_WRITE_ERRORS = 60;
  parameter int unsigned CNT_REPORTS = 61;
  parameter int unsigned CNT_MSIX_REQUESTS = 62;
  parameter int unsigned CNT_CAPTURE_RX_FRAMES = 63;
  parameter int unsigned CNT_CAPTURE_TX_FRAMES = 64;
  parameter int unsigned CNT_CAPTURE_RX_LOST = 65;
  parameter int unsigned CNT_CAPTURE_TX_LOST = 66;
  parameter int unsigned NUM_COUNTERS = 67;

  // A row of FLOW_KEY.
  typedef struct packed {
    logic [383:0] rsvd_16;
    logic [15:0] local_port;  // destination port of received packets
    logic [15:0] remote_port;  // source port of received packets
    logic [31:0] local_ip;  // destination address of received packets
    logic [31:0] remote_ip;  // source address of received packets
    logic [15:0] flow;  // flow number
    logic [7:0] rsvd_1;
    logic [7:0] valid;  // 1 if the row holds a flow
  } flow_key_row_t;

  // A row of FLOW_RX.
  typedef struct packed {
    logic [319:0] rsvd_24;
    logic [63:0] rq_base;  // IOVA of the receive queue, 64-byte aligned: element MSN n is at rq_base + 64 * ((n-1) mod 2^rq_log2)
    logic [31:0] rsvd_12;
    logic [31:0] marker_base;  // TCP sequence number of the first marker received
    logic [31:0] pd;  // protection domain of the stream
    logic [15:0] rsvd_2;
    logic [7:0] rq_log2;  // log2 of the number of receive elements in the ring
    logic [7:0] flags;  // bit 0 markers are received, bit 1 CRC is checked, bit 2 the row is valid (0: payload is always bypassed)
  } flow_rx_row_t;

  // A row of ATTACH.
  typedef struct packed {
    logic [383:0] rsvd_16;
    logic [31:0] mo;  // next MO expected in that message
    logic [31:0] msn;  // next MSN expected on queue 0 (1 at the start)
    logic [31:0] rcv_nxt;  // next TCP sequence number; an FPDU (or the marker before it) begins there
    logic [15:0] rsvd_2;
    logic [7:0] raw_count;  // payload segments of this flow sent up raw, modulo 256
    logic [7:0] attached;  // 1: the card frames, checks and places; 0: everything with payload goes up raw
  } attach_row_t;

  // A row of FLOW_TX.
  typedef struct packed {
    logic [255:0] rsvd_32;
    logic [31:0] marker_base;  // TCP sequence number of the first marker sent
    logic [15:0] remote_port;  // TCP destination port
    logic [15:0] local_port;  // TCP source port
    logic [31:0] remote_ip;  // IPv4 destination
    logic [31:0] local_ip;  // IPv4 source
    logic [47:0] local_mac;  // Ethernet source
    logic [47:0] remote_mac;  // Ethernet destination
    logic [7:0] rsvd_3;
    logic [7:0] tos;  // IPv4 type of service
    logic [7:0] ttl;  // IPv4 time to live
    logic [7:0] flags;  // bit 0 markers are sent, bit 1 CRC is generated (else the field is 0), bit 2 the row is valid (0: jobs fail), bit 3 the TCP timestamps option is sent
  } flow_tx_row_t;

  // A row of STAG.
  typedef struct packed {
    logic [255:0] rsvd_32;
    logic [63:0] iova;  // IOVA of the first byte
    logic [63:0] length;  // bytes; base + length does not exceed 2^64
    logic [63:0] base;  // TO of the first byte
    logic [31:0] pd;  // protection domain
    logic [7:0] rsvd_3;
    logic [7:0] access;  // bit 0 local write, bit 1 remote read, bit 2 remote write, bit 3 Read sink
    logic [7:0] key;  // low 8 bits of the STag
    logic [7:0] valid;  // 1 if the region may be used
  } stag_row_t;

  // A slot of the job ring: 'send this'.
  typedef struct packed {
    logic [31:0] rsvd_124;
    logic [31:0] sge3_length;  // its bytes
    logic [63:0] sge3_iova;  // fourth SGE
    logic [31:0] rsvd_108;
    logic [31:0] sge2_length;  // its bytes
    logic [63:0] sge2_iova;  // third SGE
    logic [31:0] rsvd_92;
    logic [31:0] sge1_length;  // its bytes
    logic [63:0] sge1_iova;  // second SGE
    logic [31:0] rsvd_76;
    logic [31:0] sge0_length;  // its bytes
    logic [63:0] sge0_iova;  // first SGE
    logic [95:0] rsvd_52;
    logic [31:0] rsvd_ulp;  // untagged: the RDMAP part of RsvdULP (Invalidate STag, or 0)
    logic [63:0] to_or_mo;  // TO (tagged) or MO of the first payload byte
    logic [31:0] msn;  // untagged message: MSN
    logic [31:0] stag_or_qn;  // message: STag (tagged) or queue number
    logic [7:0] ddp_rsvd;  // message: reserved bits of the DDP control byte to send (0)
    logic [7:0] rdmap_control;  // message: the RDMAP control byte (version and opcode)
    logic [15:0] fpdu_payload;  // message: DDP payload bytes in each FPDU but the last; a multiple of 4 is not required
    logic [31:0] length;  // payload bytes: the sum of the SGEs' lengths, or the inline bytes. Raw frame: whole frame, 14 to 9216. Segment: at most 9000.
    logic [31:0] ts_ecr;  // TSecr
    logic [31:0] ts_val;  // TSval, if the flow sends timestamps
    logic [7:0] sge_count;  // SGEs used, 0 to 4
    logic [7:0] tcp_flags;  // TCP flags of each segment; PSH (0x08) is kept on the last one only
    logic [15:0] window;  // TCP window field as sent
    logic [31:0] ack;  // TCP acknowledgment number
    logic [31:0] seq;  // TCP sequence number of the first byte
    logic [15:0] flow;  // flow (segment, message)
    logic [7:0] flags;  // bit 0 tagged, bit 1 last (the message ends here: the final FPDU has L), bit 2 notify (write a done report), bit 3 inline (the payload is in the slot from byte 64, at most 64 bytes, and there are no SGEs)
    logic [7:0] kind;  // 1 raw frame, 2 segment, 3 message
  } job_t;

  // A receive element of a flow's receive queue: up to 4 SGEs, the first with length 0 ends the list.
  typedef struct packed {
    logic [31:0] sge3_stag;  // STag
    logic [31:0] sge3_length;  // bytes
    logic [63:0] sge3_to;  // fourth SGE
    logic [31:0] sge2_stag;  // STag
    logic [31:0] sge2_length;  // bytes
    logic [63:0] sge2_to;  // third SGE
    logic [31:0] sge1_stag;  // STag
    logic [31:0] sge1_length;  // bytes
    logic [63:0] sge1_to;  // second SGE
    logic [31:0] sge0_stag;  // STag of a region with local write access in the stream's PD
    logic [31:0] sge0_length;  // bytes
    logic [63:0] sge0_to;  // TO in the region of sge0_stag
  } receive_element_t;

  // One per received TCP segment of a known flow; comes after the FPDU reports of the same segment.
  typedef struct packed {
    logic [7:0] phase;  // bit 0: 1 on the first pass through the ring, then alternating; written last
    logic [23:0] rsvd_60;
    logic [31:0] job_done;  // JOB_DONE when the report was written
    logic [31:0] sack2_right;
    logic [31:0] sack2_left;
    logic [31:0] sack1_right;
    logic [31:0] sack1_left;
    logic [31:0] sack0_right;
    logic [31:0] sack0_left;  // SACK blocks
    logic [15:0] raw_len;  // frame bytes in it
    logic [15:0] raw_slot;  // raw slot
    logic [15:0] done_len;  // of these, from the front, bytes covered by FPDU reports without error (markers included)
    logic [15:0] payload_len;  // TCP payload bytes
    logic [31:0] ts_ecr;  // TSecr
    logic [31:0] ts_val;  // TSval
    logic [7:0] raw_count;  // payload segments of this flow sent up raw, this one included, modulo 256
    logic [7:0] tcp_flags;  // TCP flags
    logic [15:0] window;  // TCP window field as received
    logic [31:0] ack;  // TCP acknowledgment number
    logic [31:0] seq;  // TCP sequence number
    logic [15:0] flow;  // flow
    logic [7:0] flags;  // bit 0 raw: the frame is in raw_slot; bit 1 timestamps present; bit 2 attached (after this segment); bit 3 wholly old data (duplicate), nothing done; bits 7:4 number of SACK blocks below (0 to 3)
    logic [7:0] kind;  // 1
  } segment_report_t;

  // One per FPDU that the card framed, in stream order, before its segment's report.
  typedef struct packed {
    logic [7:0] phase;  // as above
    logic [23:0] rsvd_60;
    logic [31:0] job_done;  // JOB_DONE when the report was written
    logic [111:0] rsvd_42;
    logic [15:0] offset;  // where in the TCP payload the FPDU begins
    logic [31:0] payload_len;  // DDP payload bytes; all of them are in host memory if the verdict is 'placed'
    logic [31:0] rsvd_ulp;  // untagged: the RDMAP part of RsvdULP
    logic [63:0] to_or_mo;  // TO (tagged) or MO
    logic [31:0] msn;  // MSN (untagged)
    logic [31:0] stag_or_qn;  // STag (tagged) or queue number
    logic [15:0] terminate;  // layer, type and code of the Terminate that the error calls for, as its first 16 bits read in wire order (0x1100 = DDP, tagged, invalid STag); 0 otherwise
    logic [15:0] ulpdu_len;  // ULPDU length
    logic [7:0] pad;  // reserved
    logic [7:0] verdict;  // 0 placed; 1 for the engine: an untagged FPDU of queue 1 to 3, correct, whose bytes are in the segment's raw frame; 2 error, see terminate
    logic [7:0] rdmap_control;  // RDMAP control byte
    logic [7:0] ddp_control;  // DDP control byte
    logic [31:0] seq;  // TCP sequence number where the FPDU begins (its leading marker, if it has one)
    logic [15:0] flow;  // flow
    logic [7:0] flags;  // bit 0 the header below is valid (it was long enough)
    logic [7:0] kind;  // 2
  } fpdu_report_t;

  // A frame of no known flow, in the raw ring.
  typedef struct packed {
    logic [7:0] phase;  // as above
    logic [23:0] rsvd_60;
    logic [31:0] job_done;  // JOB_DONE when the report was written
    logic [191:0] rsvd_32;
    logic [15:0] raw_len;  // frame bytes in it
    logic [15:0] raw_slot;  // raw slot
    logic [215:0] rsvd_1;
    logic [7:0] kind;  // 3
  } frame_report_t;

  // A job that asked for it is done, or a job failed.
  typedef struct packed {
    logic [7:0] phase;  // as above
    logic [23:0] rsvd_60;
    logic [31:0] job_done;  // JOB_DONE when the report was written
    logic [383:0] rsvd_8;
    logic [31:0] job;  // number of the job, counted from 0 since the ring was set up, modulo 2^32
    logic [15:0] flow;  // flow of the job
    logic [7:0] status;  // 0 done; 1 malformed (kind, length, SGEs or flow row); 2 a DMA read was answered with an error, the frame concerned was not sent
    logic [7:0] kind;  // 4
  } job_report_t;

  // The first 64 bytes of a slot of the capture ring; the frame's bytes are behind it. It is written after them.
  typedef struct packed {
    logic [7:0] phase;  // bit 0: 1 on the first pass through the ring, then alternating; written last
    logic [311:0] rsvd_24;
    logic [63:0] clock;  // the card's clock when the last beat of the frame passed the MAC's port
    logic [31:0] rsvd_12;
    logic [31:0] lost;  // frames of this direction left out since reset, when this one came
    logic [23:0] rsvd_5;
    logic [7:0] flags;  // bit 0 transmitted (else received), bit 1 the MAC flagged it bad
    logic [15:0] captured;  // of these, in the slot
    logic [15:0] length;  // bytes of the frame, without FCS
  } capture_header_t;

  // An event in the trace ring. Fields that an event does not use are 0, but for flow: 65535.
  typedef struct packed {
    logic [31:0] time_lo;  // clock at the event, bits 31:0
    logic [15:0] time_hi;  // clock at the event, bits 47:32
    logic [15:0] info;  // see trace_kind
    logic [31:0] value;  // see trace_kind
    logic [15:0] flow;  // flow, or 65535
    logic [7:0] detail;  // see trace_kind
    logic [7:0] kind;  // trace_kind
  } trace_entry_t;

endpackage
