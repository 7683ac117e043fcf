// Types that the card's subsystems exchange, invisible to the host. What the host sees is in weft_card_pkg.

package weft_int_pkg;

  // Most ports of a card: each has a job ring, a report ring and a raw ring (docs/card.md "Ports").
  parameter int unsigned MAX_PORTS = 2;

  // Registers of a raw ring.
  typedef struct packed {
    logic        reset;       // one-cycle pulse: the ring starts again at 0
    logic [63:0] base;
    logic [7:0]  count_log2;
    logic [31:0] head;        // raw frames the host has consumed
  } raw_cfg_t;

  // Registers of the receive path. Ports that do not exist have 0.
  typedef struct packed {
    logic                     enable;
    logic [15:0]              mtu;            // longest frame in bytes, Ethernet header included
    logic [47:0]              mac;            // station address, byte 0 of the wire in bits 7:0
    logic                     promisc;
    logic [7:0]               raw_slot_log2;
    logic [31:0]              raw_reserve;    // slots that frames of no flow leave free
    logic [127:0]             hash_secret;    // of FLOW_KEY; only bits 126:0 count
    raw_cfg_t [MAX_PORTS-1:0] raw;
  } rx_cfg_t;

  // Registers of a job ring, for the transmit path.
  typedef struct packed {
    logic        enable;
    logic        job_reset;  // one-cycle pulse: the job ring starts again at 0
    logic [63:0] job_base;
    logic [7:0]  job_log2;
    logic [31:0] job_tail;   // jobs the host has posted
  } tx_cfg_t;

  // Registers of a report ring.
  typedef struct packed {
    logic        reset;      // one-cycle pulse: the report ring starts again at 0
    logic [63:0] base;
    logic [7:0]  log2;
    logic [31:0] head;       // reports the host has consumed
    logic        arm;        // one-cycle pulse: one interrupt, when the producer count is beyond arm_value
    logic [31:0] arm_value;
    logic [5:0]  arm_more;   // by so many more than one
    logic [15:0] gap;        // cycles without a report after which one beyond is enough
  } report_cfg_t;

  // An event for the trace ring. The fields are those of trace_entry_t.
  typedef struct packed {
    logic              valid;
    logic [3:0]        kind;    // weft_card_pkg::TRACE_KIND_*
    logic [7:0]        detail;
    logic [15:0] flow;
    logic [31:0]       value;
    logic [15:0]       info;
  } trace_event_t;

  // Activity of the host side in a cycle, for counters and trace.
  typedef struct packed {
    logic       read_request;
    logic       read_error;
    logic [1:0] read_error_id;   // AXI ID
    logic       write_request;
    logic       write_error;
    logic       write_stall;     // the bus does not take a beat
    logic       aw_stall;        // the bus does not take a write's address
    logic       report_written;
    logic       report_stall;
    logic       msix;
    logic       msix_gap;        // an interrupt that came of REPORT_GAP
    logic       rx_ignored;      // a frame from the MAC, in loopback
  } host_activity_t;

  // What the card's edge tells its core.
  typedef struct packed {
    logic        resetting;    // a reset is in progress
    logic [31:0] resets;       // since power-on
    logic        core_idle;    // as quiescence has it
    logic        write_stall;  // as in host_activity_t, from here on
    logic        aw_stall;
    logic        msix;
    logic        rx_ignored;
    logic        looped;       // transmit goes to receive
  } edge_t;

  // Which parts of the core are idle.
  typedef struct packed {
    logic rx;
    logic tx;
    logic read;
    logic write;
    logic reports;
    logic capture;
    logic regs;
    logic trace;
  } core_idle_t;

  // Words of a port's registers, by address: from JOB_BASE_LO to RAW_RESERVE.
  parameter int unsigned PORT_FIRST = 16;
  parameter int unsigned PORT_LAST = 36;

  // Words that card_regs itself has for reads: up to TABLE_CMD, in eights.
  parameter int unsigned NUM_READ_WORDS = 152;

  // Accesses of the host to registers, for modules with registers of their own and for the trace.
  typedef struct packed {
    logic        write;          // pulses: of a register, of a doorbell
    logic        doorbell;
    logic [15:0] offset;
    logic [31:0] data;
    logic        table_done;     // pulse: TABLE_CMD, with `data`, is done
    logic        table_refused;
    logic        read;           // pulse: the value of a register is wanted two cycles later
    logic [15:0] read_offset;
  } reg_bus_t;

  // Registers of the capture.
  typedef struct packed {
    logic [1:0]  enable;      // receive, transmit; 0 if the ring is impossible
    logic        reset;       // one-cycle pulse: the ring starts again at 0
    logic [15:0] snap;        // bytes of a frame at most
    logic [63:0] base;
    logic [7:0]  slot_log2;
    logic [7:0]  count_log2;
    logic [31:0] head;        // frames the host has consumed
  } capture_cfg_t;

  // A frame in a capture buffer. Positions count beats, modulo twice the depth of the buffer.
  typedef struct packed {
    logic [15:0] length;
    logic [15:0] captured;  // bytes kept
    logic        bad;
    logic [63:0] clock;
    logic [31:0] lost;
    logic [15:0] start;
    logic [15:0] stop;
  } capture_frame_t;

  parameter logic [31:0] MAX_REPLAY_BYTES = 32'd4096;  // payload of a replay job at most: register JOB_REPLAY

  parameter int unsigned ISLANDS = 8;  // of a flow: register ISLANDS

  // A replay, from transmit to receive.
  typedef struct packed {
    logic [95:0] key;      // of its flow, as the parser makes it of a received segment
    logic [31:0] seq;
    logic        follows;  // it continues where the last one ended: MSN and MO are known
    logic [31:0] msn;      // otherwise the next MSN and MO of queue 0
    logic [31:0] mo;
    logic [15:0] bytes;
  } replay_t;

  parameter logic [15:0] NO_FLOW = 16'hffff;

  // Depths of queues and in-flight limits. DEEP is for a host whose answers take a microsecond while frames come at 100 Gb/s. SHALLOW is for one that
  // answers one burst after the other, in a small part.
  typedef struct packed {
    logic [31:0] store_bytes;  // of frames received and not closed
    logic [15:0] walks;        // segments in the walk, a power of two
    logic [15:0] contexts;     // flows whose receive elements are read ahead, a power of two
    logic [15:0] carries;      // flows with an FPDU over the end of a segment, a power of two from 2 up
    logic [15:0] operations;   // placements, reports and closes queued in order
    logic [15:0] jobs;         // read ahead
    logic [15:0] steps;        // frames whose payload may be requested
    logic [15:0] job_reports;  // job reports queued, of failures as of others
    logic [15:0] bursts;       // writes without an answer
    logic [15:0] reads;        // of a client of dma_read without a complete answer
  } depths_t;

  // verilator lint_off UNUSEDPARAM
  parameter depths_t DEEP = '{
      store_bytes: 65536,
      walks: 8,
      contexts: 8,
      carries: 8,
      operations: 32,
      jobs: 32,
      steps: 32,
      job_reports: 16,
      bursts: 64,
      reads: 32
  };
  parameter depths_t SHALLOW = '{
      store_bytes: 32768,
      walks: 2,
      contexts: 2,
      carries: 2,
      operations: 16,
      jobs: 2,
      steps: 16,
      job_reports: 6,
      bursts: 16,
      reads: 16
  };
  // verilator lint_on UNUSEDPARAM

  // One access to a table; each request gets exactly one response.
  typedef struct packed {
    logic         write;
    logic [3:0]   number;  // weft_card_pkg::TBL_*
    logic [23:0]  index;
    logic [511:0] row;     // write only
  } table_req_t;

  typedef struct packed {
    logic         refused;
    logic [511:0] row;      // read only
  } table_rsp_t;

endpackage
