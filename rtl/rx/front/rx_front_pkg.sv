// Types of the receive front: the parsed frame, the flow's position, and the verdict.

package rx_front_pkg;
  import walk_pkg::walk_done_t;
  import walk_pkg::PLACE_W;
  import walk_pkg::ISLAND_W;
  import walk_pkg::touch_t;
  import weft_card_pkg::*;

  // Bytes of a frame in which every header lies that the card reads. Ethernet, IPv4 without options and the
  // longest TCP header are 94, as are the longest IPv4 header and TCP without options; an 802.1Q tag and IPv6 would make it 118.
  parameter int unsigned WINDOW_BYTES = 128;

  // Reasons to drop a frame, in the order in which they are tried.
  typedef enum logic [3:0] {
    KEEP              = 4'd0,
    DROP_DISABLED     = 4'(TRACE_DROP_DISABLED),
    DROP_FCS          = 4'(TRACE_DROP_FCS),
    DROP_RUNT         = 4'(TRACE_DROP_RUNT),
    DROP_OVERSIZE     = 4'(TRACE_DROP_OVERSIZE),
    DROP_MAC          = 4'(TRACE_DROP_MAC),
    DROP_IP_HEADER    = 4'(TRACE_DROP_IP_HEADER),
    DROP_IP_CHECKSUM  = 4'(TRACE_DROP_IP_CHECKSUM),
    DROP_TCP_HEADER   = 4'(TRACE_DROP_TCP_HEADER),
    DROP_TCP_CHECKSUM = 4'(TRACE_DROP_TCP_CHECKSUM),
    DROP_BUFFER_FULL  = 4'(TRACE_DROP_BUFFER_FULL)
  } rx_drop_e;

  // The layers of a frame, from its first bytes alone.
  typedef struct packed {
    logic         is_ip;        // network layer whose header the card checks
    logic         ip_bad;       // version, header length or total length contradict themselves
    logic [15:0]  ip_start;     // first byte of the network header
    logic [15:0]  ip_sum_end;   // end of the bytes under the header checksum
    logic [16:0]  ip_end;       // end of the datagram; Ethernet padding begins here
    logic         ip_options;   // bytes between the network header's fixed part and the TCP header
    logic [63:0]  addresses;    // source and destination, as on the wire
    logic [1:0]   ecn;          // ECN field of the network header
    logic         is_tcp;       // an unfragmented TCP segment
    logic [15:0]  tcp_start;    // first byte of the TCP header
    logic [159:0] tcp_header;   // its fixed part
    logic [15:0]  tcp_len;      // TCP header and payload
    logic         tcp_bad;      // shorter than its own header, or than 20 bytes
    logic [5:0]   options_len;  // bytes of TCP options, 0 to 40
    logic [15:0]  first;        // the payload's first two bytes, of a frame without IP options
  } rx_layers_t;

  // The TCP segment of a frame.
  typedef struct packed {
    logic         is_tcp;         // a TCP segment to this station alone
    logic         replay;         // a replay (replay_t), not a segment: of it key, seq and payload_len are here
    logic         unread;         // its TCP options were not read: IP options, or an impossible length
    logic [2:0]   ecn;            // AE flag, ECN field of the IP header
    logic [95:0]  key;            // source and destination address, source and destination port as on the wire
    logic [31:0]  seq;
    logic [31:0]  ack;
    logic [15:0]  window;
    logic [7:0]   tcp_flags;
    logic [7:0]   payload_start;  // first payload byte, counted from the start of the frame
    logic [15:0]  payload_len;
    logic         alone;          // its payload is as long as the FPDU with which it begins, if it begins with one and there are no markers
    logic         ts_present;
    logic [31:0]  ts_val;
    logic [31:0]  ts_ecr;
    logic [1:0]   sack_count;
    logic [191:0] sack;           // left and right edge of each block, first block in the low 64 bits
  } rx_segment_t;

  // A frame in the packet store. Positions count beats, modulo twice the depth of the store.
  typedef struct packed {
    logic [15:0] start;
    logic [15:0] stop;       // position behind the last beat
    logic [15:0] frame_len;
    logic [23:0] arrival;    // when it was whole: clock in units of 8 cycles; 0 for a replay
    logic        payload;    // it has TCP payload
    rx_segment_t segment;
  } rx_packet_t;

  // Receive position of a flow.
  typedef struct packed {
    logic        attached;
    logic        gap;        // it has islands (rx_islands)
    logic        ts_valid;
    logic [10:0] taken;      // raw slots taken of its share (rx_raw_slots), if the last one is of this generation
    logic [15:0] mark;       // behind the last raw slot that the flow took for a segment that did not end whole (rx_flow_state)
    logic [31:0] rcv_nxt;
    logic [31:0] msn;
    logic [31:0] mo;
    logic [31:0] ts_recent;
    logic [31:0] window;
  } rx_position_t;

  // A request for the payload of a frame: where the frame begins in the store, and its payload in the frame.
  typedef struct packed {
    logic [15:0] start;
    logic [7:0]  offset;
    logic [15:0] len;
  } payload_cmd_t;

  // What rx_lookup says: `valid` answers the oldest request. `changed` voids answers and requests, and `busy` takes none.
  typedef struct packed {
    logic              busy;
    logic              changed;
    logic              valid;
    logic              hit;
    logic [15:0] flow;
  } lookup_rsp_t;

  // The packet to be decided. Row and position count only if the flow is known.
  typedef struct packed {
    rx_packet_t        packet;
    logic              known;
    logic [15:0] flow;
    flow_rx_row_t      row;
    rx_position_t      position;
    logic [31:0]       seq_end;   // behind its payload
    logic [31:0]       walk_end;  // behind its FIN
  } rx_current_t;

  // What rx_raw_room says to the packet to be decided; each room as of rx_raw_slots.
  typedef struct packed {
    logic        settled;
    logic        fresh;       // its flow has taken no slot of this generation
    logic        spent;       // its flow has taken its share
    logic        room;        // for its port
    logic        any;
    logic        walk;
    logic        plain;       // of port 0, to which frames of no flow belong
    logic [15:0] slot;
    logic [15:0] plain_slot;
    logic [15:0] behind;      // the number behind `slot`
  } raw_room_t;

  // The raw slots of a port since its ring was set up, as of rx_raw_slots.
  typedef struct packed {
    logic [15:0] tail;
    logic        given_up;
    logic [15:0] taken;
  } raw_count_t;

  // A place of the commit queue; last: no younger one is of its flow.
  typedef struct packed {
    logic              valid;
    logic              last;
    logic [15:0] flow;
  } walk_place_t;

  // The verdict on a segment of a known flow (docs/card.md "Rule of acceptance").
  typedef enum logic [2:0] {
    ACCEPT_BARE,       // no payload, or SYN or RST: report, and the frame if SYN, RST or unread
    ACCEPT_REFUSE,     // report with the reason, nothing changes
    ACCEPT_BYPASS,     // the flow is not attached: up raw
    ACCEPT_DUPLICATE,  // wholly old: report only
    ACCEPT_WALK,       // next in sequence: walked
    ACCEPT_LEAVE       // the card cannot continue with it: up raw, and the flow is detached
  } accept_e;

  // A verdict, and what follows from it.
  typedef struct packed {
    accept_e             accept;
    logic [3:0]          refusal;  // why, with ACCEPT_REFUSE
    logic                walk;     // it is ACCEPT_WALK
    logic                counts;   // an outcome with which the engine has to complete the segment, if it is not walked
    logic                raw;      // without a walk the frame goes up: `counts`, or ACCEPT_BARE with SYN, RST or unread
    logic                report;   // nothing but a report: ACCEPT_BARE without `raw`
    logic                stamps;   // if walked, its TSval becomes the flow's TS.Recent
    logic                asks;     // the flow's islands decide
    logic                beyond;   // with asks: it is beyond a gap
    logic                full;     // with asks: no island is free
    touch_t              left;     // the islands that it touches,
    touch_t              right;
    logic [ISLAND_W-1:0] island;   // and with beyond the one that it becomes
    logic                gap;      // if walked to its end: the flow has islands,
    logic [31:0]         seq_end;  // and stands here
  } verdict_t;

  // What the islands of its flow make of a segment.
  typedef struct packed {
    logic                duplicate;  // inside one
    logic                leave;      // the card cannot continue with it
    logic                full;       // with leave: no island is free
    touch_t              left;       // ends where it begins
    touch_t              right;      // begins where it ends
    logic [ISLAND_W-1:0] island;     // beyond: the one that it becomes
    logic                gap;        // if it is walked to its end, the flow has islands,
    logic [31:0]         leaves;     // and stands here
  } island_t;

  // Where the flow's youngest segment in the walk leaves it. Its fields hold for the verdict as well, when `valid` has gone.
  typedef struct packed {
    logic        valid;
    logic        gap;
    logic [31:0] seq_end;
    logic        ts_valid;
    logic [31:0] ts_recent;
  } young_t;

  // A segment in the commit queue: what its end needs.
  typedef struct packed {
    rx_packet_t        packet;
    logic              walked;     // else it was judged already (ACCEPT_BARE, no raw copy), and its report waits its turn
    logic              behind;     // not walked: some of its flow are in the walk before it
    logic              attached;   // not walked, and none is: whether its flow is attached
    logic              port;
    logic [15:0] flow;
    logic [7:0]        epoch;
    logic              beyond;     // beyond a gap
    logic              gap;        // where it leaves the flow if it ends whole: with islands,
    logic [31:0]       seq_end;    // and standing here
    logic [31:0]       window;
    logic              ts_valid;   // TS.Recent with this segment
    logic [31:0]       ts_recent;
  } walking_t;

  // The oldest slot of the commit queue, and the end of its walk.
  typedef struct packed {
    walking_t           segment;
    logic [PLACE_W-1:0] behind;    // the place of the one to which it is chained
    logic [10:0]        taken;
    walk_done_t         done;
    logic [31:0]        done_end;  // where it leaves the flow
  } oldest_t;

  // The end of a packet: its report, its raw copy, and the store space that it returns.
  typedef struct packed {
    logic         raw;
    logic         report;
    logic [511:0] record;  // raw slot, length and port are fields of it
    logic [15:0]  start;
    logic [15:0]  stop;
  } rx_close_t;

  parameter logic [7:0] TCP_FIN = 8'h01;
  parameter logic [7:0] TCP_SYN = 8'h02;
  parameter logic [7:0] TCP_RST = 8'h04;
  parameter logic [7:0] TCP_ACK = 8'h10;
  parameter logic [7:0] TCP_URG = 8'h20;

  // Of a flow, nothing but a report is made of it: no payload, neither SYN nor RST, and the card has read its options.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic is_bare(input rx_segment_t segment);
    return segment.payload_len == '0 && (segment.tcp_flags & (TCP_SYN | TCP_RST)) == '0 && !segment.unread && !segment.replay;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Numbers of the wire are big-endian; byte 0 is in the low bits.
  function automatic logic [15:0] be16(input logic [15:0] bytes);
    return {bytes[7:0], bytes[15:8]};
  endfunction

  function automatic logic [31:0] be32(input logic [31:0] bytes);
    return {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24]};
  endfunction

  // The report of a segment, without the fields of its verdict.
  // verilator lint_off UNUSEDSIGNAL
  function automatic segment_report_t segment_record(input rx_segment_t segment);
    segment_report_t record;
    record                                                                                                                = '0;
    record.kind                                                                                                           = REPORT_KIND_SEGMENT;
    record.flags[SEGMENT_REPORT_TIMESTAMPS_BIT]                                                                           = segment.ts_present;
    record.flags[SEGMENT_REPORT_SACK_COUNT_LSB+:SEGMENT_REPORT_SACK_COUNT_WIDTH]                                          = 4'(segment.sack_count);
    record.seq                                                                                                            = segment.seq;
    record.ack                                                                                                            = segment.ack;
    record.window                                                                                                         = segment.window;
    record.tcp_flags                                                                                                      = segment.tcp_flags;
    record.ts_val                                                                                                         = segment.ts_val;
    record.ts_ecr                                                                                                         = segment.ts_ecr;
    record.payload_len                                                                                                    = segment.payload_len;
    record.status[SEGMENT_REPORT_IP_ECN_LSB+:SEGMENT_REPORT_IP_ECN_WIDTH]                                                 = segment.ecn[1:0];
    record.status[SEGMENT_REPORT_TCP_AE_BIT]                                                                              = segment.ecn[2];
    {record.sack2_right, record.sack2_left, record.sack1_right, record.sack1_left, record.sack0_right, record.sack0_left} = segment.sack;
    if (segment.replay) begin
      record             = '0;
      record.kind        = REPORT_KIND_REPLAY;
      record.seq         = segment.seq;
      record.payload_len = segment.payload_len;
    end
    return record;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // A write to host memory, for rx_told: the last one of its report, of an FPDU, its fence's colour.
  typedef struct packed {
    logic last;
    logic fpdu;
    logic colour;
  } told_write_t;

  // A report in wait of its writes: whether it has some, is of an FPDU, of one that was placed, may be joined (rx_report).
  typedef struct packed {
    logic awaits;
    logic fpdu;
    logic placed;
    logic joins;
  } told_t;
endpackage
