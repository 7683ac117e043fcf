// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.
//
// Offsets of registers and doorbells, table numbers, counter numbers, and the records that the
// host and the card exchange. In every record bit 0 is bit 0 of byte 0; numbers are little-endian,
// byte strings have their first byte in bits 7:0. X_BIT is the position of one bit in its register or
// field, X_LSB and X_WIDTH that of several: value[X_LSB +: X_WIDTH].

package weft_card_pkg;

  parameter logic [31:0] INTERFACE_VERSION = 32'd6;

  // A flow takes one in so many of a ring's raw slots in a generation, for segments that are not walked.
  parameter int unsigned RAW_SHARE_PART = 4;

  // But so many at least, however small the ring.
  parameter int unsigned RAW_SHARE_LEAST = 8;

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
  parameter logic [15:0] REG_HASH_SECRET = 16'h0030;
  parameter int unsigned REG_HASH_SECRET_COUNT = 4;
  parameter logic [15:0] REG_JOB_BASE_LO = 16'h0040;
  parameter logic [15:0] REG_JOB_BASE_HI = 16'h0044;
  parameter logic [15:0] REG_JOB_LOG2 = 16'h0048;
  parameter logic [15:0] REG_JOB_DONE = 16'h004c;
  parameter logic [15:0] REG_JOB_PUSH = 16'h0050;
  parameter logic [15:0] REG_JOB_REPLAY = 16'h0054;
  parameter logic [15:0] REG_REPORT_BASE_LO = 16'h0060;
  parameter logic [15:0] REG_REPORT_BASE_HI = 16'h0064;
  parameter logic [15:0] REG_REPORT_LOG2 = 16'h0068;
  parameter logic [15:0] REG_REPORT_TAIL = 16'h006c;
  parameter logic [15:0] REG_REPORT_GAP = 16'h0070;
  parameter logic [15:0] REG_RAW_BASE_LO = 16'h0080;
  parameter logic [15:0] REG_RAW_BASE_HI = 16'h0084;
  parameter logic [15:0] REG_RAW_LOG2 = 16'h0088;
  parameter logic [15:0] REG_RAW_TAIL = 16'h008c;
  parameter logic [15:0] REG_RAW_RESERVE = 16'h0090;
  parameter logic [15:0] REG_MSIX_COUNT = 16'h00a0;
  parameter logic [15:0] REG_FENCE = 16'h00a4;
  parameter logic [15:0] REG_FENCE_DONE = 16'h00a8;
  parameter logic [15:0] REG_CLOCK_KHZ = 16'h00ac;
  parameter logic [15:0] REG_COUNTER_HI = 16'h00b0;
  parameter logic [15:0] REG_PORTS = 16'h00b4;
  parameter logic [15:0] REG_TABLE_LOCK = 16'h00b8;
  parameter logic [15:0] REG_ISLANDS = 16'h00bc;
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
  parameter logic [15:0] REG_PORT1 = 16'h0140;
  parameter int unsigned REG_PORT1_COUNT = 31;
  parameter logic [15:0] REG_TABLE_DATA = 16'h0200;
  parameter int unsigned REG_TABLE_DATA_COUNT = 16;
  parameter logic [15:0] REG_TABLE_CMD = 16'h0240;
  parameter logic [15:0] REG_COUNTERS = 16'h1000;
  parameter int unsigned REG_COUNTERS_COUNT = 256;
  parameter logic [15:0] REG_PROC_ID = 16'h2000;
  parameter logic [31:0] REG_PROC_ID_RESET = 32'h57464350;
  parameter logic [15:0] REG_PROC_MEMORY = 16'h2004;
  parameter logic [15:0] REG_PROC_CTRL = 16'h2008;
  parameter logic [15:0] REG_PROC_STATUS = 16'h200c;
  parameter logic [15:0] REG_PROC_CAUSE = 16'h2010;
  parameter logic [15:0] REG_PROC_PC = 16'h2014;
  parameter logic [15:0] REG_PROC_ADDR = 16'h2018;
  parameter logic [15:0] REG_PROC_DATA = 16'h201c;
  parameter logic [15:0] REG_PROC_CHECK = 16'h2020;
  parameter logic [15:0] REG_PROC_WATCHDOG = 16'h2024;
  parameter logic [15:0] REG_PROC_BEAT = 16'h2028;
  parameter logic [15:0] REG_PROC_COMMAND = 16'h202c;
  parameter logic [15:0] REG_PROC_ANSWER = 16'h2030;
  parameter logic [15:0] REG_PROC_AWAKE_LO = 16'h2034;
  parameter logic [15:0] REG_PROC_AWAKE_HI = 16'h2038;
  parameter logic [15:0] REG_PROC_BELL = 16'h203c;
  parameter logic [15:0] REG_PROC_CLOCK = 16'h2040;
  parameter logic [15:0] REG_TRACE = 16'h4000;
  parameter int unsigned REG_TRACE_COUNT = 4096;

  // Bits of registers.
  parameter int unsigned CAPS_DATA_BYTES_LSB = 0;  // DATA_W/8: bytes of the data path
  parameter int unsigned CAPS_DATA_BYTES_WIDTH = 8;
  parameter int unsigned CAPS_FLOWS_LOG2_LSB = 8;  // log2(NUM_FLOWS)
  parameter int unsigned CAPS_FLOWS_LOG2_WIDTH = 8;
  parameter int unsigned CAPS_STAGS_LOG2_LSB = 16;  // log2(NUM_STAGS)
  parameter int unsigned CAPS_STAGS_LOG2_WIDTH = 8;
  parameter int unsigned CAPS_VECTORS_LSB = 24;  // number of MSI-X vectors
  parameter int unsigned CAPS_VECTORS_WIDTH = 8;
  parameter int unsigned CTRL_JOBS_BIT = 0;  // job fetch is on
  parameter int unsigned CTRL_RECEIVE_BIT = 1;  // receive is on; frames that arrive while it is off are dropped (rx_drop_disabled)
  parameter int unsigned CTRL_LOOPBACK_BIT = 2;  // MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored
  parameter int unsigned CTRL_RESET_BIT = 31;  // writing 1 is a soft reset: the card lets what is under way end, drops the rest, and is as after power-on but for this register block answering all the while; reads 0
  parameter int unsigned STATUS_QUIESCENT_BIT = 0;  // nothing is under way
  parameter int unsigned STATUS_READ_ERROR_BIT = 1;  // sticky: a DMA read was answered with an error
  parameter int unsigned STATUS_WRITE_ERROR_BIT = 2;  // sticky: a DMA write was answered with an error
  parameter int unsigned STATUS_RESETTING_BIT = 3;  // a reset is under way: writes of all registers but SCRATCH are without effect
  parameter int unsigned STATUS_REPORT_FAILED_BIT = 4;  // until reset: the write of a report failed, the report ring is broken, nothing more is reported, only a reset helps
  parameter int unsigned STATUS_PORT1_FAILED_BIT = 5;  // the same, of port 1's report ring
  parameter int unsigned MAC_HI_MAC_LSB = 0;  // bytes 4-5 of the wire order, byte 4 in bits 7:0
  parameter int unsigned MAC_HI_MAC_WIDTH = 16;
  parameter int unsigned MAC_HI_PROMISCUOUS_BIT = 31;  // frames to any address are kept
  parameter int unsigned RAW_LOG2_SLOT_LSB = 0;  // log2 of the slot size in bytes (11 to 14)
  parameter int unsigned RAW_LOG2_SLOT_WIDTH = 8;
  parameter int unsigned RAW_LOG2_COUNT_LSB = 8;  // log2 of the number of slots (1 to 12)
  parameter int unsigned RAW_LOG2_COUNT_WIDTH = 8;
  parameter int unsigned TRACE_CTRL_KINDS_LSB = 0;  // bit k: events of kind k (trace_kind) are recorded
  parameter int unsigned TRACE_CTRL_KINDS_WIDTH = 16;
  parameter int unsigned TRACE_CTRL_FREEZE_BIT = 16;  // nothing is recorded
  parameter int unsigned TRACE_CTRL_CLEAR_BIT = 31;  // writing 1 empties the ring; reads 0
  parameter int unsigned CAPTURE_LOG2_SLOT_LSB = 0;  // log2 of the slot size in bytes (7 to 14)
  parameter int unsigned CAPTURE_LOG2_SLOT_WIDTH = 8;
  parameter int unsigned CAPTURE_LOG2_COUNT_LSB = 8;  // log2 of the number of slots (1 to 16)
  parameter int unsigned CAPTURE_LOG2_COUNT_WIDTH = 8;
  parameter int unsigned CAPTURE_CTRL_RECEIVED_BIT = 0;  // received frames are captured
  parameter int unsigned CAPTURE_CTRL_SENT_BIT = 1;  // transmitted frames are captured
  parameter int unsigned CAPTURE_CTRL_BUSY_BIT = 2;  // a frame is being written (read only)
  parameter int unsigned CAPTURE_CTRL_SNAP_LSB = 16;  // bytes of a frame that are kept at most
  parameter int unsigned CAPTURE_CTRL_SNAP_WIDTH = 16;
  parameter int unsigned TABLE_CMD_INDEX_LSB = 0;  // index of the row
  parameter int unsigned TABLE_CMD_INDEX_WIDTH = 24;
  parameter int unsigned TABLE_CMD_TABLE_LSB = 24;  // number of the table
  parameter int unsigned TABLE_CMD_TABLE_WIDTH = 4;
  parameter int unsigned TABLE_CMD_OPERATION_LSB = 28;  // what is done with it; another value does nothing
  parameter int unsigned TABLE_CMD_OPERATION_WIDTH = 4;
  parameter int unsigned TABLE_CMD_REFUSED_BIT = 0;  // the last access was refused (no such table or index) or, for an ATTACH, was not applied
  parameter int unsigned PROC_CTRL_RUN_BIT = 0;  // 1: it runs, from its reset on; refused (PROC_STATUS) unless PROC_CHECK was right for what is loaded. 0: it is held in reset; its memory stays as it is, and can be read
  parameter int unsigned PROC_CTRL_LOAD_BIT = 1;  // writing 1 while it is stopped begins a load: the checksum is that of no word; reads 0
  parameter int unsigned PROC_CTRL_HALT_BIT = 2;  // with RUN: it goes to its debug monitor, and again until this is 0 (RISC-V debug mode, docs/processor.md)
  parameter int unsigned PROC_STATUS_RUNNING_BIT = 0;  // it is not held in reset
  parameter int unsigned PROC_STATUS_ASLEEP_BIT = 1;  // it waits for an interrupt: nothing happens until one
  parameter int unsigned PROC_STATUS_LOADED_BIT = 2;  // what is loaded has the checksum that was told; starting it clears this, for a firmware changes its memory: each start needs a load
  parameter int unsigned PROC_STATUS_REFUSED_BIT = 3;  // it was asked to run what was not LOADED
  parameter int unsigned PROC_STATUS_CRASHED_BIT = 4;  // its firmware told of its end: PROC_CAUSE, and the dump in its memory; it is stopped
  parameter int unsigned PROC_STATUS_WATCHDOG_BIT = 5;  // the watchdog went off
  parameter int unsigned PROC_STATUS_HUNG_BIT = 6;  // the watchdog went off twice: the firmware could not tell of its end, and was stopped where it was (PROC_PC)
  parameter int unsigned PROC_STATUS_DMA_BUSY_BIT = 7;  // its DMA engine has an access to host memory under way
  parameter int unsigned PROC_STATUS_DMA_ERROR_BIT = 8;  // host memory answered one in error
  parameter int unsigned PROC_COMMAND_KIND_LSB = 0;  // what it is to do
  parameter int unsigned PROC_COMMAND_KIND_WIDTH = 8;
  parameter int unsigned PROC_COMMAND_ARGUMENT_LSB = 8;  // with what
  parameter int unsigned PROC_COMMAND_ARGUMENT_WIDTH = 24;
  parameter int unsigned PROC_COMMAND_WAITING_BIT = 0;  // the firmware did not take it yet
  parameter int unsigned PROC_COMMAND_OPEN_BIT = 1;  // the firmware did not answer it yet

  // Doorbells (byte offset in BAR2).
  parameter logic [15:0] DB_JOB_TAIL = 16'h0000;
  parameter logic [15:0] DB_REPORT_HEAD = 16'h0004;
  parameter logic [15:0] DB_RAW_HEAD = 16'h0008;
  parameter logic [15:0] DB_REPORT_ARM = 16'h000c;
  parameter logic [15:0] DB_CAPTURE_HEAD = 16'h0010;
  parameter logic [15:0] DB_REPORT_ARM_AFTER = 16'h0100;
  parameter logic [15:0] DB_PORT1 = 16'h0200;
  parameter logic [15:0] DB_JOB_PUSH = 16'h1000;
  parameter logic [15:0] DB_RQ_TAIL = 16'h8000;

  // Tables.
  parameter logic [3:0] TBL_FLOW_KEY = 4'd1;
  parameter logic [3:0] TBL_FLOW_RX = 4'd2;
  parameter logic [3:0] TBL_ATTACH = 4'd3;
  parameter logic [3:0] TBL_FLOW_TX = 4'd4;
  parameter logic [3:0] TBL_STAG = 4'd5;

  // What TABLE_CMD does.
  parameter logic [3:0] TABLE_OPERATION_WRITE = 4'd1;
  parameter logic [3:0] TABLE_OPERATION_READ = 4'd2;

  // Ports of the control processor: words from address 0x10000000 of its own address space, by their number. Only its firmware sees them.
  parameter logic [7:0] PROC_PORT_END = 8'd0;
  parameter logic [7:0] PROC_PORT_BEAT = 8'd1;
  parameter logic [7:0] PROC_PORT_COMMAND = 8'd2;
  parameter logic [7:0] PROC_PORT_ANSWER = 8'd3;
  parameter logic [7:0] PROC_PORT_TIME_LO = 8'd4;
  parameter logic [7:0] PROC_PORT_TIME_HI = 8'd5;
  parameter logic [7:0] PROC_PORT_ALARM = 8'd6;
  parameter logic [7:0] PROC_PORT_GUARD = 8'd7;
  parameter logic [7:0] PROC_PORT_DMA_HOST_LO = 8'd8;
  parameter logic [7:0] PROC_PORT_DMA_HOST_HI = 8'd9;
  parameter logic [7:0] PROC_PORT_DMA_LOCAL = 8'd10;
  parameter logic [7:0] PROC_PORT_DMA_READ = 8'd11;
  parameter logic [7:0] PROC_PORT_DMA_WRITE = 8'd12;
  parameter logic [7:0] PROC_PORT_REPORTS = 8'd13;
  parameter logic [7:0] PROC_PORT_BELL = 8'd14;
  parameter logic [7:0] PROC_PORT_INTERRUPT = 8'd15;

  // Ends of the firmware that RISC-V has no cause for; PROC_CAUSE has them with bits 31:8 zero, and all of RISC-V's are below.
  parameter logic [7:0] PROC_END_ASSERT = 8'd64;
  parameter logic [7:0] PROC_END_STACK = 8'd65;
  parameter logic [7:0] PROC_END_WATCHDOG = 8'd66;

  // What the host asks of the firmware, in the low byte of PROC_COMMAND; the other three have an argument.
  parameter logic [7:0] PROC_COMMAND_PING = 8'd1;
  parameter logic [7:0] PROC_COMMAND_COPY = 8'd2;
  parameter logic [7:0] PROC_COMMAND_CRASH = 8'd3;
  parameter logic [7:0] PROC_COMMAND_ALARM = 8'd4;
  parameter logic [7:0] PROC_COMMAND_TABLES = 8'd5;
  parameter logic [7:0] PROC_COMMAND_RAISE = 8'd6;
  parameter logic [7:0] PROC_COMMAND_ENGINE = 8'd7;
  parameter logic [7:0] PROC_COMMAND_QUEUES = 8'd8;

  // Bits of PROC_BELL, by number, for the firmware with the engine.
  parameter logic [7:0] PROC_BELL_RINGS = 8'd0;
  parameter logic [7:0] PROC_BELL_FIRST_QUEUES = 8'd1;

  // Whether the firmware has the card.
  parameter logic [7:0] PROC_STARTED_DONE = 8'd0;
  parameter logic [7:0] PROC_STARTED_NO_ENGINE = 8'd1;
  parameter logic [7:0] PROC_STARTED_SETTINGS = 8'd2;
  parameter logic [7:0] PROC_STARTED_CARD = 8'd3;
  parameter logic [7:0] PROC_STARTED_RUNNING = 8'd4;

  // Ways to end.
  parameter logic [7:0] PROC_CRASH_ASSERT = 8'd1;
  parameter logic [7:0] PROC_CRASH_ILLEGAL = 8'd2;
  parameter logic [7:0] PROC_CRASH_FAULT = 8'd3;
  parameter logic [7:0] PROC_CRASH_STACK = 8'd4;
  parameter logic [7:0] PROC_CRASH_SPIN = 8'd5;
  parameter logic [7:0] PROC_CRASH_DEAF = 8'd6;

  // What a job sends.
  parameter logic [7:0] JOB_KIND_RAW_FRAME = 8'd1;
  parameter logic [7:0] JOB_KIND_SEGMENT = 8'd2;
  parameter logic [7:0] JOB_KIND_MESSAGE = 8'd3;
  parameter logic [7:0] JOB_KIND_REPLAY = 8'd4;

  // How a job ended.
  parameter logic [7:0] JOB_STATUS_DONE = 8'd0;
  parameter logic [7:0] JOB_STATUS_MALFORMED = 8'd1;
  parameter logic [7:0] JOB_STATUS_READ_ERROR = 8'd2;

  // What a report tells of.
  parameter logic [7:0] REPORT_KIND_SEGMENT = 8'd1;
  parameter logic [7:0] REPORT_KIND_FPDU = 8'd2;
  parameter logic [7:0] REPORT_KIND_FRAME = 8'd3;
  parameter logic [7:0] REPORT_KIND_JOB = 8'd4;
  parameter logic [7:0] REPORT_KIND_PLACED = 8'd5;
  parameter logic [7:0] REPORT_KIND_REPLAY = 8'd6;

  // How far a replay came.
  parameter logic [3:0] REPLAY_OUTCOME_WHOLE = 4'd0;
  parameter logic [3:0] REPLAY_OUTCOME_PARTIAL = 4'd1;
  parameter logic [3:0] REPLAY_OUTCOME_ERROR = 4'd2;
  parameter logic [3:0] REPLAY_OUTCOME_REFUSED = 4'd3;

  // Why a segment was not acceptable.
  parameter logic [3:0] REFUSAL_NONE = 4'd0;
  parameter logic [3:0] REFUSAL_NO_ACK = 4'd1;
  parameter logic [3:0] REFUSAL_WINDOW = 4'd2;
  parameter logic [3:0] REFUSAL_PAWS = 4'd3;
  parameter logic [3:0] REFUSAL_NO_TIMESTAMP = 4'd4;

  // What became of an FPDU.
  parameter logic [7:0] FPDU_VERDICT_PLACED = 8'd0;
  parameter logic [7:0] FPDU_VERDICT_ENGINE = 8'd1;
  parameter logic [7:0] FPDU_VERDICT_ERROR = 8'd2;
  parameter logic [7:0] FPDU_VERDICT_PLACE_FAILED = 8'd3;

  // What a WQE is to do.
  parameter logic [7:0] WQE_OPCODE_SEND = 8'd1;
  parameter logic [7:0] WQE_OPCODE_WRITE = 8'd2;
  parameter logic [7:0] WQE_OPCODE_READ = 8'd3;
  parameter logic [7:0] WQE_OPCODE_IMMEDIATE = 8'd4;
  parameter logic [7:0] WQE_OPCODE_LOCAL_INVALIDATE = 8'd5;
  parameter logic [7:0] WQE_OPCODE_BIND = 8'd6;
  parameter logic [7:0] WQE_OPCODE_FAST_REGISTER = 8'd7;
  parameter logic [7:0] WQE_OPCODE_FETCH_ADD = 8'd8;
  parameter logic [7:0] WQE_OPCODE_CMP_SWAP = 8'd9;
  parameter logic [7:0] WQE_OPCODE_XRC_SEND = 8'd10;

  // What was completed.
  parameter logic [7:0] CQE_OPCODE_SEND = 8'd1;
  parameter logic [7:0] CQE_OPCODE_WRITE = 8'd2;
  parameter logic [7:0] CQE_OPCODE_READ = 8'd3;
  parameter logic [7:0] CQE_OPCODE_RECV = 8'd4;
  parameter logic [7:0] CQE_OPCODE_LOCAL_INVALIDATE = 8'd5;
  parameter logic [7:0] CQE_OPCODE_BIND = 8'd6;
  parameter logic [7:0] CQE_OPCODE_FAST_REGISTER = 8'd7;
  parameter logic [7:0] CQE_OPCODE_FETCH_ADD = 8'd8;
  parameter logic [7:0] CQE_OPCODE_CMP_SWAP = 8'd9;

  // How work ended.
  parameter logic [7:0] CQE_STATUS_SUCCESS = 8'd0;
  parameter logic [7:0] CQE_STATUS_FLUSHED = 8'd1;
  parameter logic [7:0] CQE_STATUS_LOCAL_PROTECTION = 8'd2;
  parameter logic [7:0] CQE_STATUS_LOCAL_OPERATION = 8'd3;
  parameter logic [7:0] CQE_STATUS_REMOTE_ACCESS = 8'd4;
  parameter logic [7:0] CQE_STATUS_REMOTE_OPERATION = 8'd5;

  // What a command is to do, with which fields; in the answer.
  parameter logic [7:0] COMMAND_OPCODE_ALLOC_PD = 8'd1;
  parameter logic [7:0] COMMAND_OPCODE_DEALLOC_PD = 8'd2;
  parameter logic [7:0] COMMAND_OPCODE_REGISTER = 8'd3;
  parameter logic [7:0] COMMAND_OPCODE_DEREGISTER = 8'd4;
  parameter logic [7:0] COMMAND_OPCODE_CREATE_QP = 8'd5;
  parameter logic [7:0] COMMAND_OPCODE_DESTROY_QP = 8'd6;
  parameter logic [7:0] COMMAND_OPCODE_MODIFY_QP = 8'd7;
  parameter logic [7:0] COMMAND_OPCODE_QUERY_QP = 8'd8;
  parameter logic [7:0] COMMAND_OPCODE_LISTEN = 8'd9;
  parameter logic [7:0] COMMAND_OPCODE_UNLISTEN = 8'd10;
  parameter logic [7:0] COMMAND_OPCODE_CONNECT = 8'd11;
  parameter logic [7:0] COMMAND_OPCODE_ACCEPT = 8'd12;
  parameter logic [7:0] COMMAND_OPCODE_REJECT = 8'd13;
  parameter logic [7:0] COMMAND_OPCODE_DISCONNECT = 8'd14;
  parameter logic [7:0] COMMAND_OPCODE_ABORT = 8'd15;
  parameter logic [7:0] COMMAND_OPCODE_RESOLVE = 8'd16;
  parameter logic [7:0] COMMAND_OPCODE_ADOPT = 8'd17;
  parameter logic [7:0] COMMAND_OPCODE_START_MPA = 8'd18;
  parameter logic [7:0] COMMAND_OPCODE_CREATE_SRQ = 8'd19;
  parameter logic [7:0] COMMAND_OPCODE_DESTROY_SRQ = 8'd20;
  parameter logic [7:0] COMMAND_OPCODE_MODIFY_SRQ = 8'd21;
  parameter logic [7:0] COMMAND_OPCODE_QUERY_SRQ = 8'd22;
  parameter logic [7:0] COMMAND_OPCODE_ALLOC_STAG = 8'd23;
  parameter logic [7:0] COMMAND_OPCODE_ALLOC_XRCD = 8'd24;
  parameter logic [7:0] COMMAND_OPCODE_DEALLOC_XRCD = 8'd25;
  parameter logic [7:0] COMMAND_OPCODE_FORGET = 8'd26;

  // Kinds of queue pairs.
  parameter logic [7:0] QUEUE_PAIR_KIND_XRC_INITIATOR = 8'd1;
  parameter logic [7:0] QUEUE_PAIR_KIND_XRC_TARGET = 8'd2;

  // What an STag without memory is for.
  parameter logic [7:0] STAG_KIND_WINDOW_1 = 8'd1;
  parameter logic [7:0] STAG_KIND_WINDOW_2 = 8'd2;
  parameter logic [7:0] STAG_KIND_FAST_REGION = 8'd3;

  // What became of a command. Unless it was DONE, nothing was changed.
  parameter logic [7:0] COMMAND_STATUS_DONE = 8'd0;
  parameter logic [7:0] COMMAND_STATUS_MALFORMED = 8'd1;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_PD = 8'd2;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_QP = 8'd3;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_CONNECTION = 8'd4;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_STAG = 8'd5;
  parameter logic [7:0] COMMAND_STATUS_INVALID_REGION = 8'd6;
  parameter logic [7:0] COMMAND_STATUS_NO_STAGS = 8'd7;
  parameter logic [7:0] COMMAND_STATUS_NO_FLOWS = 8'd8;
  parameter logic [7:0] COMMAND_STATUS_NO_FLOW_KEY = 8'd9;
  parameter logic [7:0] COMMAND_STATUS_NO_CONNECTIONS = 8'd10;
  parameter logic [7:0] COMMAND_STATUS_NO_MEMORY = 8'd11;
  parameter logic [7:0] COMMAND_STATUS_NO_PORTS = 8'd12;
  parameter logic [7:0] COMMAND_STATUS_INVALID_QP_CONFIG = 8'd13;
  parameter logic [7:0] COMMAND_STATUS_WRONG_QP_STATE = 8'd14;
  parameter logic [7:0] COMMAND_STATUS_WRONG_CONNECTION_STATE = 8'd15;
  parameter logic [7:0] COMMAND_STATUS_IN_USE = 8'd16;
  parameter logic [7:0] COMMAND_STATUS_PORT_IN_USE = 8'd17;
  parameter logic [7:0] COMMAND_STATUS_PRIVATE_DATA_TOO_LONG = 8'd18;
  parameter logic [7:0] COMMAND_STATUS_INVALID_READ_DEPTH = 8'd19;
  parameter logic [7:0] COMMAND_STATUS_INVALID_PEER_TO_PEER = 8'd20;
  parameter logic [7:0] COMMAND_STATUS_INVALID_ADDRESS = 8'd21;
  parameter logic [7:0] COMMAND_STATUS_NO_TRANSITION = 8'd22;
  parameter logic [7:0] COMMAND_STATUS_RUNG_NO_PROCESSOR = 8'd24;
  parameter logic [7:0] COMMAND_STATUS_RUNG_NO_FAST_PATH = 8'd25;
  parameter logic [7:0] COMMAND_STATUS_RUNG_NO_SEND_BUFFER = 8'd26;
  parameter logic [7:0] COMMAND_STATUS_INVALID_HANDOVER = 8'd27;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_SRQ = 8'd28;
  parameter logic [7:0] COMMAND_STATUS_INVALID_SRQ = 8'd29;
  parameter logic [7:0] COMMAND_STATUS_RUNG_ON_CARD = 8'd30;
  parameter logic [7:0] COMMAND_STATUS_UNKNOWN_XRCD = 8'd31;
  parameter logic [7:0] COMMAND_STATUS_WRONG_QP_KIND = 8'd32;
  parameter logic [7:0] COMMAND_STATUS_INVALID_ALIGNED = 8'd33;

  // Rungs of the partition ladder.
  parameter logic [7:0] PARTITION_RUNG_HOST = 8'd1;
  parameter logic [7:0] PARTITION_RUNG_CRC = 8'd2;
  parameter logic [7:0] PARTITION_RUNG_PLACEMENT = 8'd3;
  parameter logic [7:0] PARTITION_RUNG_FIRMWARE = 8'd4;
  parameter logic [7:0] PARTITION_RUNG_FULL = 8'd5;
  parameter logic [7:0] PARTITION_RUNG_CRC_SEND = 8'd6;

  // States of a queue pair.
  parameter logic [7:0] QUEUE_PAIR_STATE_IDLE = 8'd0;
  parameter logic [7:0] QUEUE_PAIR_STATE_RTS = 8'd1;
  parameter logic [7:0] QUEUE_PAIR_STATE_CLOSING = 8'd2;
  parameter logic [7:0] QUEUE_PAIR_STATE_TERMINATING = 8'd3;
  parameter logic [7:0] QUEUE_PAIR_STATE_ERROR = 8'd4;

  // Whether connections have ECN (RFC 3168).
  parameter logic [7:0] ECN_USE_NEVER = 8'd0;
  parameter logic [7:0] ECN_USE_WHEN_ASKED = 8'd1;
  parameter logic [7:0] ECN_USE_ASK = 8'd2;

  // Congestion control of a connection.
  parameter logic [7:0] CONGESTION_CONTROL_RENO = 8'd0;
  parameter logic [7:0] CONGESTION_CONTROL_CUBIC = 8'd1;
  parameter logic [7:0] CONGESTION_CONTROL_DCTCP = 8'd2;
  parameter logic [7:0] CONGESTION_CONTROL_DELAY = 8'd3;
  parameter logic [7:0] CONGESTION_CONTROL_CUSTOM = 8'd255;

  // What an event tells of, with which fields.
  parameter logic [7:0] EVENT_KIND_CONNECT_REQUEST = 8'd1;
  parameter logic [7:0] EVENT_KIND_ESTABLISHED = 8'd2;
  parameter logic [7:0] EVENT_KIND_REJECTED = 8'd3;
  parameter logic [7:0] EVENT_KIND_CONNECT_ERROR = 8'd4;
  parameter logic [7:0] EVENT_KIND_DISCONNECTED = 8'd5;
  parameter logic [7:0] EVENT_KIND_QP_FATAL = 8'd6;
  parameter logic [7:0] EVENT_KIND_STREAM_REQUEST = 8'd7;
  parameter logic [7:0] EVENT_KIND_STREAM_ESTABLISHED = 8'd8;
  parameter logic [7:0] EVENT_KIND_STREAM_CLOSED = 8'd9;
  parameter logic [7:0] EVENT_KIND_SRQ_LIMIT = 8'd10;
  parameter logic [7:0] EVENT_KIND_LAST_WQE = 8'd11;
  parameter logic [7:0] EVENT_KIND_FORGOTTEN = 8'd12;
  parameter logic [7:0] EVENT_KIND_MOVED = 8'd13;

  // Why a connection did not come about.
  parameter logic [7:0] CONNECT_FAILURE_UNREACHABLE = 8'd1;
  parameter logic [7:0] CONNECT_FAILURE_REFUSED = 8'd2;
  parameter logic [7:0] CONNECT_FAILURE_TIMED_OUT = 8'd3;
  parameter logic [7:0] CONNECT_FAILURE_CLOSED = 8'd4;
  parameter logic [7:0] CONNECT_FAILURE_INVALID_REPLY = 8'd5;
  parameter logic [7:0] CONNECT_FAILURE_NO_MATCHING_RTR = 8'd6;
  parameter logic [7:0] CONNECT_FAILURE_INSUFFICIENT_READS = 8'd7;
  parameter logic [7:0] CONNECT_FAILURE_NO_RESOURCES = 8'd8;
  parameter logic [7:0] CONNECT_FAILURE_NO_RTR = 8'd9;
  parameter logic [7:0] CONNECT_FAILURE_UNSUPPORTED_REVISION = 8'd10;
  parameter logic [7:0] CONNECT_FAILURE_SEGMENT_TOO_SMALL = 8'd11;
  parameter logic [7:0] CONNECT_FAILURE_NO_XRC = 8'd12;

  // Why a connection ended.
  parameter logic [7:0] DISCONNECT_REASON_LOCAL = 8'd1;
  parameter logic [7:0] DISCONNECT_REASON_PEER = 8'd2;
  parameter logic [7:0] DISCONNECT_REASON_RESET = 8'd3;
  parameter logic [7:0] DISCONNECT_REASON_TIMED_OUT = 8'd4;
  parameter logic [7:0] DISCONNECT_REASON_ABORTED = 8'd5;
  parameter logic [7:0] DISCONNECT_REASON_TERMINATED = 8'd6;

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
  parameter logic [7:0] TRACE_DROP_RAW_RESERVED = 8'd12;
  parameter logic [7:0] TRACE_DROP_RAW_CREDIT = 8'd13;
  parameter logic [7:0] TRACE_DROP_REPORT_ROOM = 8'd14;

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
  parameter logic [7:0] TRACE_VERDICT_REFUSED = 8'd9;
  parameter logic [7:0] TRACE_VERDICT_REPLAYED = 8'd10;

  // Detail of FRAME_IN.
  parameter int unsigned TRACE_FRAME_IN_TCP_BIT = 0;  // it is TCP

  // Detail of FRAME_OUT.
  parameter int unsigned TRACE_FRAME_OUT_HEADERS_BIT = 0;  // its headers are the card's
  parameter int unsigned TRACE_FRAME_OUT_FPDU_BIT = 1;  // an FPDU
  parameter int unsigned TRACE_FRAME_OUT_LOOPBACK_BIT = 2;  // into MAC loopback

  // Detail of TABLE.
  parameter int unsigned TRACE_TABLE_TABLE_LSB = 0;  // number of the table
  parameter int unsigned TRACE_TABLE_TABLE_WIDTH = 4;
  parameter int unsigned TRACE_TABLE_REFUSED_BIT = 6;  // refused or not applied
  parameter int unsigned TRACE_TABLE_WRITE_BIT = 7;  // a write; else a read

  // Detail of DMA_ERROR.
  parameter int unsigned TRACE_DMA_ERROR_READ_BIT = 0;  // a read
  parameter int unsigned TRACE_DMA_ERROR_WRITE_BIT = 1;  // a write

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
  parameter int unsigned CNT_RX_REFUSED_ACK = 67;
  parameter int unsigned CNT_RX_REFUSED_WINDOW = 68;
  parameter int unsigned CNT_RX_REFUSED_PAWS = 69;
  parameter int unsigned CNT_RX_REFUSED_NO_TIMESTAMP = 70;
  parameter int unsigned CNT_RX_DROP_RAW_RESERVED = 71;
  parameter int unsigned CNT_RX_RAW_FAILED = 72;
  parameter int unsigned CNT_RX_PLACE_FAILED = 73;
  parameter int unsigned CNT_TX_REPORTS_JOINED = 74;
  parameter int unsigned CNT_DMA_AW_STALL_CYCLES = 75;
  parameter int unsigned CNT_FENCES = 76;
  parameter int unsigned CNT_RESETS = 77;
  parameter int unsigned CNT_MSIX_GAP = 78;
  parameter int unsigned CNT_RX_REPLAYS = 79;
  parameter int unsigned CNT_RX_REPLAYS_PARTIAL = 80;
  parameter int unsigned CNT_RX_REPLAYS_ERROR = 81;
  parameter int unsigned CNT_RX_REPLAYS_REFUSED = 82;
  parameter int unsigned CNT_TX_STALL_REPLAY_CYCLES = 83;
  parameter int unsigned CNT_RX_DROP_NO_RAW_CREDIT = 84;
  parameter int unsigned CNT_RX_DROP_NO_REPORT_ROOM = 85;
  parameter int unsigned CNT_RX_REPORTS_MERGED = 86;
  parameter int unsigned CNT_RX_SEGMENTS_CARRIED = 87;
  parameter int unsigned CNT_RX_CARRY_FULL = 88;
  parameter int unsigned CNT_RX_STALL_CARRY_CYCLES = 89;
  parameter int unsigned CNT_RX_SEGMENTS_BEYOND = 90;
  parameter int unsigned CNT_RX_ISLANDS_FULL = 91;
  parameter int unsigned CNT_TX_FPDUS_PACKED = 92;
  parameter int unsigned NUM_COUNTERS = 93;

  // A row of FLOW_KEY.
  typedef struct packed {
    logic [383:0] rsvd_16;
    logic [15:0] local_port;  // destination port of received packets
    logic [15:0] remote_port;  // source port of received packets
    logic [31:0] local_ip;  // destination address of received packets
    logic [31:0] remote_ip;  // source address of received packets
    logic [15:0] flow;  // flow number
    logic [7:0] rsvd_1;
    logic [7:0] valid;
  } flow_key_row_t;
  parameter int unsigned FLOW_KEY_ROW_VALID_BIT = 0;  // the row holds a flow

  // A row of FLOW_RX.
  typedef struct packed {
    logic [319:0] rsvd_24;
    logic [63:0] rq_base;  // IOVA of the receive queue, 64-byte aligned: element MSN n is at rq_base + 64 * ((n-1) mod 2^rq_log2)
    logic [31:0] rsvd_12;
    logic [31:0] marker_base;  // TCP sequence number of the first marker received
    logic [31:0] pd;  // protection domain of the stream
    logic [7:0] rsvd_3;
    logic [7:0] epoch;  // comes back in every report of the flow: tells the reports of its queue pair from those of the one before
    logic [7:0] rq_log2;  // log2 of the number of receive elements in the ring
    logic [7:0] flags;
  } flow_rx_row_t;
  parameter int unsigned FLOW_RX_ROW_MARKERS_BIT = 0;  // markers are received
  parameter int unsigned FLOW_RX_ROW_CRC_BIT = 1;  // CRC is checked
  parameter int unsigned FLOW_RX_ROW_VALID_BIT = 2;  // the row is valid; 0: payload is always bypassed
  parameter int unsigned FLOW_RX_ROW_TIMESTAMPS_BIT = 3;  // the connection has TCP timestamps: PAWS is checked
  parameter int unsigned FLOW_RX_ROW_CHECK_ONLY_BIT = 4;  // FPDUs are framed and checked, their CRC too, but not placed: each good one is for the engine
  parameter int unsigned FLOW_RX_ROW_PORT_BIT = 5;  // the port that has its reports and raw frames, also while the row is not valid; with one port without meaning
  parameter int unsigned FLOW_RX_ROW_CARRY_BIT = 6;  // an attached flow stays the card's where a segment ends inside an FPDU: the card carries the FPDU's octets over to the next segment. A segment that is not one FPDU waits until those before are framed
  parameter int unsigned FLOW_RX_ROW_BEYOND_BIT = 7;  // if neither check_only nor carry is set: Writes, Read Responses and messages of queue 0 beyond a gap are checked and placed, and the flow stays attached (card.md, Beyond a gap). Without markers each segment begins with an FPDU, as the two ends have agreed

  // A row of ATTACH.
  typedef struct packed {
    logic [287:0] rsvd_28;
    logic [31:0] raw_seen;  // raw slots of the flow's port, counted since its ring was set up, whose reports the host has handled. A read gives the flow's mark plus 1, 16 bits: the number behind the last raw slot that a payload segment of the flow took
    logic [31:0] window;  // the most that was ever promised beyond rcv_nxt: payload that ends further on is refused. 0: not checked
    logic [31:0] ts_recent;  // TS.Recent (RFC 7323 §4.3)
    logic [31:0] mo;  // next MO expected in that message
    logic [31:0] msn;  // next MSN expected on queue 0 (1 at the start)
    logic [31:0] rcv_nxt;  // next TCP sequence number; an FPDU (or the marker before it) begins there
    logic [23:0] rsvd_1;
    logic [7:0] attached;
  } attach_row_t;
  parameter int unsigned ATTACH_ROW_ATTACHED_BIT = 0;  // the card frames, checks and places; else everything with payload goes up raw
  parameter int unsigned ATTACH_ROW_TS_RECENT_VALID_BIT = 1;  // ts_recent is valid
  parameter int unsigned ATTACH_ROW_FRESHEN_BIT = 2;  // write: of an attached flow with nothing in the walk ts_recent and ts_recent_valid become these, and nothing else changes; else it is not applied. Reads 0

  // A row of FLOW_TX.
  typedef struct packed {
    logic [239:0] rsvd_34;
    logic [15:0] pack;  // FPDUs of messages that wait behind each other share a segment of at most so many octets of payload, 2048 at most (card.md, Sending: jobs). 0: each has its own
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
    logic [7:0] flags;
  } flow_tx_row_t;
  parameter int unsigned FLOW_TX_ROW_MARKERS_BIT = 0;  // markers are sent
  parameter int unsigned FLOW_TX_ROW_CRC_BIT = 1;  // CRC is generated; else the field is 0
  parameter int unsigned FLOW_TX_ROW_VALID_BIT = 2;  // the row is valid; 0: jobs fail
  parameter int unsigned FLOW_TX_ROW_TIMESTAMPS_BIT = 3;  // the TCP timestamps option is sent

  // A row of STAG.
  typedef struct packed {
    logic [255:0] rsvd_32;
    logic [63:0] iova;  // IOVA of the first byte
    logic [63:0] length;  // bytes; base + length does not exceed 2^64
    logic [63:0] base;  // TO of the first byte
    logic [31:0] pd;  // protection domain
    logic [7:0] rsvd_3;
    logic [7:0] access;  // access rights
    logic [7:0] key;  // low 8 bits of the STag
    logic [7:0] valid;
  } stag_row_t;
  parameter int unsigned STAG_ROW_VALID_BIT = 0;  // the region may be used
  parameter int unsigned STAG_ROW_LOCAL_WRITE_BIT = 0;  // receive elements may point here
  parameter int unsigned STAG_ROW_REMOTE_READ_BIT = 1;  // the peer may read (checked by the engine)
  parameter int unsigned STAG_ROW_REMOTE_WRITE_BIT = 2;  // the peer may write
  parameter int unsigned STAG_ROW_READ_SINK_BIT = 3;  // Read Responses may be placed here

  // A slot of the job ring: 'send this'. A REPLAY is a replay_job.
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
    logic [63:0] rsvd_56;
    logic [31:0] number;  // push window: the job's number, counted from 0 since the ring was set up, modulo 2^32. Job ring: not looked at
    logic [31:0] rsvd_ulp;  // untagged: the RDMAP part of RsvdULP (Invalidate STag, or 0)
    logic [63:0] to_or_mo;  // TO (tagged) or MO of the first payload byte
    logic [31:0] msn;  // untagged message: MSN
    logic [31:0] stag_or_qn;  // message: STag (tagged) or queue number
    logic [7:0] ddp_rsvd;  // message: reserved bits of the DDP control byte to send (0)
    logic [7:0] rdmap_control;  // message: the RDMAP control byte (version and opcode)
    logic [15:0] fpdu_payload;  // message: DDP payload bytes in each FPDU but the last; a multiple of 4 is not required
    logic [31:0] length;  // payload bytes: the sum of the SGEs' lengths, or the inline bytes. Raw frame: whole frame, 14 to 9216. Segment: at most 9000; with append_crc a multiple of 4, from 4 to 8996.
    logic [31:0] ts_ecr;  // TSecr
    logic [31:0] ts_val;  // TSval, if the flow sends timestamps
    logic [7:0] sge_count;  // SGEs used, 0 to 4
    logic [7:0] tcp_flags;  // TCP flags of each segment; PSH (0x08) is kept on the last one only
    logic [15:0] window;  // TCP window field as sent
    logic [31:0] ack;  // TCP acknowledgment number
    logic [31:0] seq;  // TCP sequence number of the first byte
    logic [15:0] flow;  // flow (segment, message)
    logic [7:0] flags;
    logic [7:0] kind;  // what is sent (JOB_KIND_*)
  } job_t;
  parameter int unsigned JOB_TAGGED_BIT = 0;  // message: tagged
  parameter int unsigned JOB_LAST_BIT = 1;  // message: it ends here, the final FPDU has L
  parameter int unsigned JOB_NOTIFY_BIT = 2;  // a report is written when it is done
  parameter int unsigned JOB_INLINE_PAYLOAD_BIT = 3;  // the payload is in the slot from byte 64, at most 64 bytes, and there are no SGEs
  parameter int unsigned JOB_ECT_BIT = 4;  // segment, message: each frame says that congestion may be marked in it, ECT(0) (RFC 3168 §5)
  parameter int unsigned JOB_APPEND_CRC_BIT = 5;  // segment: the CRC32C of the payload goes behind it, four octets more that nobody reads

  // A slot of the job ring whose kind is REPLAY: 'walk over this piece of the received stream'.
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
    logic [63:0] rsvd_56;
    logic [31:0] number;  // as in a job
    logic [63:0] rsvd_44;
    logic [31:0] mo;  // MO expected in that message
    logic [31:0] msn;  // MSN expected on queue 0
    logic [63:0] rsvd_28;
    logic [31:0] length;  // bytes, 1 to what JOB_REPLAY says: the sum of the SGEs' lengths, or the inline bytes
    logic [63:0] rsvd_16;
    logic [7:0] sge_count;  // SGEs used, 0 to 4
    logic [55:0] rsvd_8;
    logic [31:0] seq;  // TCP sequence number of the first byte, as it was received
    logic [15:0] flow;  // flow
    logic [7:0] flags;
    logic [7:0] kind;  // REPLAY (JOB_KIND_*)
  } replay_job_t;
  parameter int unsigned REPLAY_JOB_FOLLOWS_BIT = 0;  // it goes on where the flow's last replay ended; then msn and mo mean nothing
  parameter int unsigned REPLAY_JOB_NOTIFY_BIT = 2;  // a job_report is written when its bytes have been read, too
  parameter int unsigned REPLAY_JOB_INLINE_PAYLOAD_BIT = 3;  // the bytes are in the slot from byte 64, at most 64, and there are no SGEs

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

  // One per received TCP segment of a known flow that has no placed_report; comes after the FPDU reports of the same segment.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [7:0] status;
    logic [23:0] arrival;  // when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [31:0] sack2_right;
    logic [31:0] sack2_left;
    logic [31:0] sack1_right;
    logic [31:0] sack1_left;
    logic [31:0] sack0_right;
    logic [31:0] sack0_left;  // SACK blocks
    logic [15:0] raw_len;  // frame bytes in it
    logic [15:0] raw_slot;  // raw slot
    logic [15:0] done_len;  // of these, from the front, bytes covered by FPDU reports without error (markers included). Fewer than payload_len with an attached flow: the card carries the rest, and the raw frame has it too
    logic [15:0] payload_len;  // TCP payload bytes
    logic [31:0] ts_ecr;  // TSecr
    logic [31:0] ts_val;  // TSval
    logic [7:0] epoch;  // epoch of the flow's FLOW_RX row
    logic [7:0] tcp_flags;  // TCP flags
    logic [15:0] window;  // TCP window field as received
    logic [31:0] ack;  // TCP acknowledgment number
    logic [31:0] seq;  // TCP sequence number
    logic [15:0] flow;  // flow
    logic [7:0] flags;
    logic [7:0] kind;  // SEGMENT (REPORT_KIND_*)
  } segment_report_t;
  parameter int unsigned SEGMENT_REPORT_RAW_BIT = 0;  // the frame is in raw_slot
  parameter int unsigned SEGMENT_REPORT_TIMESTAMPS_BIT = 1;  // ts_val and ts_ecr are there
  parameter int unsigned SEGMENT_REPORT_ATTACHED_BIT = 2;  // the flow is attached after this segment. A raw segment with payload, neither SYN nor RST, without it is one that the card left to the engine: the flow's mark is at its slot
  parameter int unsigned SEGMENT_REPORT_DUPLICATE_BIT = 3;  // wholly old data, nothing done
  parameter int unsigned SEGMENT_REPORT_SACK_COUNT_LSB = 4;  // number of SACK blocks below, 0 to 3
  parameter int unsigned SEGMENT_REPORT_SACK_COUNT_WIDTH = 4;
  parameter int unsigned SEGMENT_REPORT_REFUSAL_LSB = 0;  // why it was refused, with nothing done and no raw frame
  parameter int unsigned SEGMENT_REPORT_REFUSAL_WIDTH = 4;
  parameter int unsigned SEGMENT_REPORT_IP_ECN_LSB = 4;  // congestion marks: the ECN field of the IP header
  parameter int unsigned SEGMENT_REPORT_IP_ECN_WIDTH = 2;
  parameter int unsigned SEGMENT_REPORT_TCP_AE_BIT = 6;  // congestion marks: the AE flag of the TCP header
  parameter int unsigned SEGMENT_REPORT_RAW_FAILED_BIT = 7;  // the raw frame's write failed: nothing valid is in the slot
  parameter int unsigned SEGMENT_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned SEGMENT_REPORT_PORT_BIT = 1;  // whose ring it is

  // One per FPDU that the card framed and that has no placed_report, in stream order, before its segment's report.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [31:0] rsvd_59;
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [111:0] rsvd_42;
    logic [15:0] offset;  // where in the TCP payload the FPDU begins, signed: negative where its first octets were carried from segments before
    logic [31:0] payload_len;  // DDP payload bytes; all of them are in host memory if the verdict is 'placed'
    logic [31:0] rsvd_ulp;  // untagged: the RDMAP part of RsvdULP
    logic [63:0] to_or_mo;  // TO (tagged) or MO
    logic [31:0] msn;  // MSN (untagged)
    logic [31:0] stag_or_qn;  // STag (tagged) or queue number
    logic [15:0] terminate;  // layer, type and code of the Terminate that the error calls for, as its first 16 bits read in wire order (0x1100 = DDP, tagged, invalid STag); 0 otherwise
    logic [15:0] ulpdu_len;  // ULPDU length
    logic [7:0] epoch;  // epoch of the flow's FLOW_RX row
    logic [7:0] verdict;  // what became of it (FPDU_VERDICT_*)
    logic [7:0] rdmap_control;  // RDMAP control byte
    logic [7:0] ddp_control;  // DDP control byte
    logic [31:0] seq;  // TCP sequence number where the FPDU begins (its leading marker, if it has one)
    logic [15:0] flow;  // flow
    logic [7:0] flags;
    logic [7:0] kind;  // FPDU (REPORT_KIND_*)
  } fpdu_report_t;
  parameter int unsigned FPDU_REPORT_HEADER_VALID_BIT = 0;  // the header below is valid: it was long enough
  parameter int unsigned FPDU_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned FPDU_REPORT_PORT_BIT = 1;  // whose ring it is

  // A TCP segment of a known flow whose payload is one FPDU that was placed, without SACK blocks: stands for the fpdu_report and the segment_report, which is accepted, neither raw nor duplicate, and done as a whole.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [7:0] status;
    logic [23:0] arrival;  // when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [31:0] rsvd_52;
    logic [31:0] rsvd_ulp;  // untagged: the RDMAP part of RsvdULP
    logic [63:0] to_or_mo;  // TO (tagged) or MO
    logic [31:0] msn;  // MSN (untagged)
    logic [31:0] stag_or_qn;  // STag (tagged) or queue number
    logic [15:0] ddp_payload_len;  // DDP payload bytes; all of them are in host memory
    logic [7:0] rdmap_control;  // RDMAP control byte
    logic [7:0] ddp_control;  // DDP control byte
    logic [15:0] ulpdu_len;  // ULPDU length
    logic [15:0] payload_len;  // TCP payload bytes
    logic [31:0] ts_ecr;  // TSecr
    logic [31:0] ts_val;  // TSval
    logic [7:0] epoch;  // epoch of the flow's FLOW_RX row
    logic [7:0] tcp_flags;  // TCP flags
    logic [15:0] window;  // TCP window field as received
    logic [31:0] ack;  // TCP acknowledgment number
    logic [31:0] seq;  // TCP sequence number of the segment and of its FPDU
    logic [15:0] flow;  // flow
    logic [7:0] flags;
    logic [7:0] kind;  // PLACED (REPORT_KIND_*)
  } placed_report_t;
  parameter int unsigned PLACED_REPORT_TIMESTAMPS_BIT = 1;  // ts_val and ts_ecr are there
  parameter int unsigned PLACED_REPORT_ATTACHED_BIT = 2;  // the flow is attached after this segment
  parameter int unsigned PLACED_REPORT_IP_ECN_LSB = 4;  // congestion marks, as in a segment_report
  parameter int unsigned PLACED_REPORT_IP_ECN_WIDTH = 2;
  parameter int unsigned PLACED_REPORT_TCP_AE_BIT = 6;  // congestion marks, as in a segment_report
  parameter int unsigned PLACED_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned PLACED_REPORT_PORT_BIT = 1;  // whose ring it is

  // One per replay job that did not fail; comes after the FPDU reports of its bytes. The flow is as much attached as it was, and its mark is the same.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [7:0] status;
    logic [23:0] rsvd_59;
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [223:0] rsvd_28;
    logic [15:0] done_len;  // of these, from the front, bytes covered by FPDU reports without error (markers included)
    logic [15:0] payload_len;  // bytes of the job
    logic [63:0] rsvd_16;
    logic [7:0] epoch;  // epoch of the flow's FLOW_RX row
    logic [55:0] rsvd_8;
    logic [31:0] seq;  // the job's seq
    logic [15:0] flow;  // flow
    logic [7:0] rsvd_1;
    logic [7:0] kind;  // REPLAY (REPORT_KIND_*)
  } replay_report_t;
  parameter int unsigned REPLAY_REPORT_OUTCOME_LSB = 0;  // how far it came
  parameter int unsigned REPLAY_REPORT_OUTCOME_WIDTH = 4;
  parameter int unsigned REPLAY_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned REPLAY_REPORT_PORT_BIT = 1;  // whose ring it is

  // A frame of no known flow, in the raw ring.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [7:0] status;
    logic [23:0] arrival;  // when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [191:0] rsvd_32;
    logic [15:0] raw_len;  // frame bytes in it
    logic [15:0] raw_slot;  // raw slot
    logic [215:0] rsvd_1;
    logic [7:0] kind;  // FRAME (REPORT_KIND_*)
  } frame_report_t;
  parameter int unsigned FRAME_REPORT_RAW_FAILED_BIT = 7;  // the raw frame's write failed: nothing valid is in the slot
  parameter int unsigned FRAME_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned FRAME_REPORT_PORT_BIT = 1;  // whose ring it is

  // A job that asked for it is done, or a job failed. Of several jobs that are done while a report of status 0 waits for room, the last one is reported: all before it are done, too. Failures are all reported.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [31:0] rsvd_59;
    logic [23:0] job_done;  // JOB_DONE when the report was written, its low 24 bits
    logic [383:0] rsvd_8;
    logic [31:0] job;  // number of the job, counted from 0 since the ring was set up, modulo 2^32
    logic [15:0] flow;  // flow of the job
    logic [7:0] status;  // how it ended (JOB_STATUS_*)
    logic [7:0] kind;  // JOB (REPORT_KIND_*)
  } job_report_t;
  parameter int unsigned JOB_REPORT_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating
  parameter int unsigned JOB_REPORT_PORT_BIT = 1;  // whose ring it is

  // The first 64 bytes of a slot of the capture ring; the frame's bytes are behind it. It is written after them.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [311:0] rsvd_24;
    logic [63:0] clock;  // the card's clock when the last beat of the frame passed the MAC's port
    logic [31:0] rsvd_12;
    logic [31:0] lost;  // frames of this direction left out since reset, when this one came
    logic [23:0] rsvd_5;
    logic [7:0] flags;
    logic [15:0] captured;  // of these, in the slot
    logic [15:0] length;  // bytes of the frame, without FCS
  } capture_header_t;
  parameter int unsigned CAPTURE_HEADER_SENT_BIT = 0;  // transmitted; else received
  parameter int unsigned CAPTURE_HEADER_BAD_BIT = 1;  // the MAC flagged it bad
  parameter int unsigned CAPTURE_HEADER_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating

  // The first block of a WQE in a send queue. Inline payload begins at byte 32 and goes on in the blocks behind it; else there are two SGEs here and four in each block behind it, laid out as a receive_element.
  typedef struct packed {
    logic [31:0] sge1_stag;  // STag
    logic [31:0] sge1_length;  // bytes
    logic [63:0] sge1_to;  // second SGE
    logic [31:0] sge0_stag;  // STag of a region in the queue pair's PD
    logic [31:0] sge0_length;  // bytes
    logic [63:0] sge0_to;  // TO in the region of sge0_stag
    logic [95:0] rsvd_20;
    logic [31:0] stag;  // Write, Read, atomics: the peer's STag. Send with invalidate: what is to be invalidated. LOCAL_INVALIDATE, BIND, FAST_REGISTER: an STag of this side
    logic [63:0] to;  // Write, Read, atomics: TO in the peer's region. Immediate: the data. BIND, FAST_REGISTER: TO of the first byte, as the peer names it
    logic [31:0] length;  // inline: bytes, at most 256; else 0
    logic [7:0] sge_count;  // SGEs, 0 to 16; 0 if inline
    logic [7:0] blocks;  // blocks of 64 bytes, this one included: 1 to 5
    logic [7:0] flags;
    logic [7:0] opcode;  // what is to be done (WQE_OPCODE_*)
  } send_wqe_t;
  parameter int unsigned SEND_WQE_SIGNALED_BIT = 0;  // a CQE is written on success too
  parameter int unsigned SEND_WQE_FENCE_BIT = 1;  // starts when all Reads before it are complete
  parameter int unsigned SEND_WQE_SOLICITED_BIT = 2;  // Send, Immediate: the receiver is asked for an event
  parameter int unsigned SEND_WQE_INVALIDATE_BIT = 3;  // Send: invalidates the peer's STag in stag
  parameter int unsigned SEND_WQE_INLINE_PAYLOAD_BIT = 4;  // the payload is in the WQE

  // An entry of a completion queue.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [15:0] rsvd_29;
    logic [7:0] flags;
    logic [7:0] status;  // how it ended (CQE_STATUS_*)
    logic [7:0] opcode;  // what it was (CQE_OPCODE_*)
    logic [15:0] flow;  // the queue pair's flow
    logic [31:0] invalidated;  // the STag that the peer invalidated, if has_invalidated; the number of a shared receive queue, if of_xrc
    logic [31:0] byte_len;  // bytes moved
    logic [63:0] immediate;  // the Immediate Data, if has_immediate
    logic [31:0] work;  // send queue: number of the WQE's first block, receive queue: number of the element; counted from 0, modulo 2^32. Shared receive queue: the element's slot
    logic [31:0] qp_num;  // the queue pair
  } cqe_t;
  parameter int unsigned CQE_SOLICITED_BIT = 0;  // the sender asked for an event
  parameter int unsigned CQE_HAS_IMMEDIATE_BIT = 1;  // the receive took Immediate Data
  parameter int unsigned CQE_HAS_INVALIDATED_BIT = 2;  // an STag was invalidated
  parameter int unsigned CQE_OF_XRC_BIT = 3;  // the receive came from the shared queue of an XRC domain: its number is in invalidated
  parameter int unsigned CQE_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating

  // Doorbells of a queue pair, written by the one who posts. Each in a word of 8 bytes of its own.
  typedef struct packed {
    logic [415:0] rsvd_12;
    logic [31:0] recv_tail;  // elements posted to the receive queue; of a shared one there is this alone
    logic [31:0] rsvd_4;
    logic [31:0] send_tail;  // blocks posted to the send queue
  } queue_doorbell_t;

  // How far the work of a queue pair is, written by the one who takes it. Each in a word of 8 bytes of its own.
  typedef struct packed {
    logic [415:0] rsvd_12;
    logic [31:0] recv_done;  // elements of the receive queue that were filled
    logic [31:0] rsvd_4;
    logic [31:0] send_done;  // blocks of the send queue whose WQEs were done successfully
  } queue_status_t;

  // Doorbells of a completion queue, written by the one who polls. Each in a word of 8 bytes of its own.
  typedef struct packed {
    logic [439:0] rsvd_9;
    logic [7:0] armed;
    logic [31:0] rsvd_4;
    logic [31:0] taken;  // CQEs taken
  } cq_doorbell_t;
  parameter int unsigned CQ_DOORBELL_ANY_BIT = 0;  // the next CQE makes an event
  parameter int unsigned CQ_DOORBELL_SOLICITED_BIT = 1;  // the next one that is solicited or failed does

  // The inline payload of BIND and FAST_REGISTER: the memory that an STag names from then on, as a part of a region.
  typedef struct packed {
    logic [87:0] rsvd_21;
    logic [7:0] access;  // rights, as a command's
    logic [31:0] region_stag;  // STag of that region, in the queue pair's PD
    logic [63:0] length;  // bytes; BIND of a window of type 1: 0 unbinds it
    logic [63:0] region_to;  // TO of the first byte in that region
  } binding_t;

  // The inline payload of FETCH_ADD and CMP_SWAP.
  typedef struct packed {
    logic [63:0] swap;  // CMP_SWAP: what is stored if it is the same
    logic [63:0] operand;  // FETCH_ADD: what is added; CMP_SWAP: what is compared
    logic [31:0] rsvd_12;
    logic [31:0] sink_stag;  // STag of their region, in the queue pair's PD
    logic [63:0] sink_to;  // TO of the 8 bytes where the value that was there goes
  } atomic_operands_t;

  // A slot of a command ring; 512 bytes for private data follow it. A command has the fields that command_opcode names; the others are ignored.
  typedef struct packed {
    logic [191:0] rsvd_104;
    logic [31:0] xrcd;  // number of an XRC domain; CREATE_SRQ: 0, the shared receive queue is in none
    logic [7:0] extensions;  // extensions of the start-up that are asked for, granted, or past start-up agreed on
    logic [7:0] qp_kind;  // what kind of queue pair; 0: reliable connected (QUEUE_PAIR_KIND_*)
    logic [7:0] tos;  // IPv4 type of service of a connection's packets; bits 1:0 are ECN's, and ignored
    logic [7:0] stag_kind;  // what an STag is allocated for (STAG_KIND_*)
    logic [31:0] srq_limit;  // an event is told when a shared receive queue has fewer elements; 0: none is
    logic [31:0] srq;  // number of a shared receive queue; CREATE_QP: 0, the queue pair has a receive queue of its own
    logic [15:0] mtu;  // largest IPv4 packet on the way, if routed
    logic [47:0] next_hop;  // MAC address of the next station on the way, if routed
    logic [7:0] rung;  // who does what for a queue pair; 0: as the device is set up (PARTITION_RUNG_*)
    logic [7:0] state;  // the state to move a queue pair to (QUEUE_PAIR_STATE_*)
    logic [7:0] revision;  // MPA revision: 1 or 2
    logic [7:0] max_sge;  // SGEs of a work request
    logic [15:0] ord;  // Reads of this side under way at a time
    logic [15:0] ird;  // Reads of the peer that this side takes at a time
    logic [15:0] port;  // TCP port of this side; 0: one is chosen
    logic [15:0] remote_port;  // the peer's TCP port
    logic [31:0] remote_ip;  // the peer's IPv4 address
    logic [31:0] recv_depth;  // work requests that the receive queue holds
    logic [31:0] send_depth;  // work requests that the send queue holds
    logic [63:0] region_length;  // bytes of a region
    logic [63:0] iova;  // IOVA of a region's first byte
    logic [63:0] base_to;  // TO of a region's first byte
    logic [31:0] backlog;  // connections that may wait for their answer
    logic [31:0] stag;  // STag of a region
    logic [31:0] pd;  // number of a protection domain
    logic [31:0] qp;  // number of a queue pair
    logic [63:0] conn;  // number of a connection
    logic [31:0] length;  // bytes of private data; of more than 512 the slot has the first 512, and the command is refused
    logic [7:0] rtr;  // RTR kinds offered, or good enough
    logic [7:0] access;  // rights of a region
    logic [7:0] flags;
    logic [7:0] opcode;  // what is to be done (COMMAND_OPCODE_*)
  } command_t;
  parameter int unsigned COMMAND_PEER_TO_PEER_BIT = 0;  // either side may send first
  parameter int unsigned COMMAND_CRC_BIT = 1;  // CRC32C is asked for
  parameter int unsigned COMMAND_MARKERS_BIT = 2;  // the peer is asked for markers
  parameter int unsigned COMMAND_FALL_BACK_BIT = 3;  // once more with revision 1 if the peer closes instead of replying
  parameter int unsigned COMMAND_ROUTED_BIT = 4;  // next_hop and mtu say the way: nobody is asked for it
  parameter int unsigned COMMAND_PASSIVE_BIT = 5;  // the peer begins the start-up
  parameter int unsigned COMMAND_PAST_START_UP_BIT = 6;  // there is no start-up: FPDUs follow at once
  parameter int unsigned COMMAND_MARKERS_SENT_BIT = 7;  // past start-up: FPDUs to the peer have markers
  parameter int unsigned COMMAND_LOCAL_WRITE_BIT = 0;  // receive elements may point here
  parameter int unsigned COMMAND_REMOTE_READ_BIT = 1;  // the peer may read
  parameter int unsigned COMMAND_REMOTE_WRITE_BIT = 2;  // the peer may write
  parameter int unsigned COMMAND_READ_SINK_BIT = 3;  // Reads of this side may fill it
  parameter int unsigned COMMAND_REMOTE_INVALIDATE_BIT = 4;  // the peer may invalidate its STag
  parameter int unsigned COMMAND_BIND_BIT = 5;  // memory windows may be bound to it
  parameter int unsigned COMMAND_REMOTE_ATOMIC_BIT = 6;  // atomics of the peer may change it
  parameter int unsigned COMMAND_RTR_SEND_BIT = 0;  // Send of 0 bytes
  parameter int unsigned COMMAND_RTR_WRITE_BIT = 1;  // Write of 0 bytes
  parameter int unsigned COMMAND_RTR_READ_BIT = 2;  // Read of 0 bytes
  parameter int unsigned COMMAND_RTR_FRAME_BIT = 3;  // the frame proposed in 2007, only between Weft ends
  parameter int unsigned COMMAND_ALIGNED_BIT = 0;  // each segment of either side begins with an FPDU

  // A TCP connection on its way to this stack: the private data of ADOPT.
  typedef struct packed {
    logic [103:0] rsvd_51;
    logic [7:0] flags;
    logic [7:0] own_scale;  // shift of this side's
    logic [7:0] peer_scale;  // shift of the peer's window field
    logic [31:0] unread;  // bytes behind them, up to rcv_nxt
    logic [31:0] unacknowledged;  // bytes of the ring from snd_una on
    logic [31:0] ts_recent;  // TS.Recent
    logic [31:0] ts_now;  // this side's TSval now, in ms
    logic [31:0] mss;  // most payload in a segment, timestamps taken off
    logic [31:0] rcv_edge;  // right edge of the window that the peer was told
    logic [31:0] rcv_nxt;  // next byte expected; behind the peer's FIN, if that has come
    logic [31:0] snd_wl1;  // sequence number of the segment that said so last
    logic [31:0] snd_wnd_max;  // the most that it has ever taken
    logic [31:0] snd_wnd;  // bytes that the peer takes beyond snd_una
    logic [31:0] snd_nxt;  // next byte to be sent
    logic [31:0] snd_una;  // oldest byte that the peer has not acknowledged
  } stream_state_t;
  parameter int unsigned STREAM_STATE_SCALED_BIT = 0;  // windows are scaled
  parameter int unsigned STREAM_STATE_SACK_BIT = 1;  // the peer permits SACK
  parameter int unsigned STREAM_STATE_TIMESTAMPS_BIT = 2;  // both sides send timestamps
  parameter int unsigned STREAM_STATE_HAS_TS_RECENT_BIT = 3;  // ts_recent is known
  parameter int unsigned STREAM_STATE_ECN_BIT = 4;  // both sides have agreed to ECN
  parameter int unsigned STREAM_STATE_PEER_CLOSED_BIT = 5;  // the peer's FIN has come

  // What became of a command: an entry of the ring of answers, at the command's place.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [23:0] rsvd_124;
    logic [31:0] xrcd;  // ALLOC_XRCD: the XRC domain
    logic [31:0] srq_waiting;  // QUERY_SRQ: elements that no message has taken
    logic [31:0] srq_limit;  // QUERY_SRQ: the limit that stands
    logic [31:0] srq;  // CREATE_SRQ: the shared receive queue
    logic [23:0] rsvd_105;
    logic [7:0] rung;  // QUERY_QP: the queue pair's; RUNG_*: the one asked for (PARTITION_RUNG_*)
    logic [31:0] in_flight;  // bytes sent and not acknowledged
    logic [31:0] peer_window;  // bytes that the peer takes
    logic [31:0] congestion_window;  // bytes that may be under way
    logic [31:0] segment;  // bytes of the largest segment
    logic [63:0] recoveries;  // times that fast recovery began
    logic [63:0] timeout;  // retransmission timeout, ns
    logic [63:0] round_trip;  // smoothed round-trip time, ns
    logic [7:0] rsvd_63;
    logic [7:0] extensions;  // extensions of the start-up that were agreed on
    logic [7:0] flags;
    logic [7:0] congestion;  // who decides how much is under way (CONGESTION_CONTROL_*)
    logic [15:0] ord;  // Reads of this side under way at a time
    logic [15:0] ird;  // Reads of the peer that this side takes at a time
    logic [7:0] rtr;  // RTR kinds agreed on, if has_rtr
    logic [7:0] revision;  // MPA revision agreed on
    logic [47:0] next_hop;  // MAC address of the next station, also RESOLVE; 0: not known yet
    logic [15:0] remote_port;  // the other side's
    logic [15:0] local_port;  // this side's TCP port
    logic [31:0] remote_ip;  // the other side's
    logic [31:0] local_ip;  // QUERY_QP, here and below: this side's address
    logic [31:0] limit;  // PRIVATE_DATA_TOO_LONG: bytes possible
    logic [31:0] given;  // PRIVATE_DATA_TOO_LONG: bytes; INVALID_READ_DEPTH: which
    logic [31:0] stag;  // REGISTER: the region; UNKNOWN_STAG: which
    logic [31:0] pd;  // ALLOC_PD: the domain
    logic [31:0] qp;  // CREATE_QP: the queue pair
    logic [63:0] conn;  // CONNECT: the connection; QUERY_QP: likewise
    logic [15:0] port;  // LISTEN: the port; PORT_IN_USE: which
    logic [7:0] state;  // QUERY_QP: the queue pair's state; NO_TRANSITION: the state that it is in (QUEUE_PAIR_STATE_*)
    logic [7:0] status;  // done, or why not (COMMAND_STATUS_*)
    logic [31:0] command;  // number of the command, counted from 0, modulo 2^32
  } answer_t;
  parameter int unsigned ANSWER_RTR_SEND_BIT = 0;  // Send of 0 bytes
  parameter int unsigned ANSWER_RTR_WRITE_BIT = 1;  // Write of 0 bytes
  parameter int unsigned ANSWER_RTR_READ_BIT = 2;  // Read of 0 bytes
  parameter int unsigned ANSWER_RTR_FRAME_BIT = 3;  // the frame proposed in 2007, only between Weft ends
  parameter int unsigned ANSWER_HAS_CONNECTION_BIT = 0;  // the queue pair has a connection
  parameter int unsigned ANSWER_AGREED_BIT = 1;  // its start-up is over
  parameter int unsigned ANSWER_HAS_RTR_BIT = 2;  // peer-to-peer was agreed on
  parameter int unsigned ANSWER_CRC_BIT = 3;  // CRC32C was agreed on
  parameter int unsigned ANSWER_MARKERS_SENT_BIT = 4;  // this side sends markers
  parameter int unsigned ANSWER_MARKERS_RECEIVED_BIT = 5;  // the other side does
  parameter int unsigned ANSWER_ECN_BIT = 6;  // ECN was agreed on
  parameter int unsigned ANSWER_HAS_ROUND_TRIP_BIT = 7;  // a round trip was measured
  parameter int unsigned ANSWER_ALIGNED_BIT = 0;  // each segment of either side begins with an FPDU
  parameter int unsigned ANSWER_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating

  // A slot of an event ring; 512 bytes for private data follow it. An event has the fields that event_kind names; the others are 0.
  typedef struct packed {
    logic [7:0] phase;  // written last
    logic [151:0] rsvd_44;
    logic [15:0] peer_ord;  // ESTABLISHED: the peer's ORD, if has_peer_ord
    logic [15:0] peer_ird;  // ESTABLISHED: the peer's IRD, if has_peer_ird
    logic [31:0] srq;  // number of the shared receive queue
    logic [7:0] said;  // ESTABLISHED: what the peer said of Reads
    logic [7:0] extensions;  // extensions of the start-up that the peer asks for, or that were agreed on
    logic [7:0] flags;
    logic [7:0] rtr;  // RTR kinds, if has_rtr
    logic [15:0] terminate;  // the Terminate's layer, type and code, if has_terminate
    logic [15:0] length;  // bytes of private data, at most 512
    logic [15:0] ord;  // the peer's ORD, if has_ord; ESTABLISHED: this side's
    logic [15:0] ird;  // the peer's IRD, if has_ird; ESTABLISHED: this side's
    logic [15:0] port;  // the port that listens
    logic [15:0] remote_port;  // its TCP port
    logic [31:0] remote_ip;  // who wants to connect
    logic [63:0] conn;  // number of the connection
    logic [31:0] qp;  // number of the queue pair
    logic [7:0] revision;  // MPA revision of the request, or as agreed
    logic [7:0] reason;  // DISCONNECTED, STREAM_CLOSED: why (DISCONNECT_REASON_*)
    logic [7:0] failure;  // CONNECT_ERROR: why (CONNECT_FAILURE_*)
    logic [7:0] kind;  // what happened (EVENT_KIND_*)
  } event_entry_t;
  parameter int unsigned EVENT_ENTRY_RTR_SEND_BIT = 0;  // Send of 0 bytes
  parameter int unsigned EVENT_ENTRY_RTR_WRITE_BIT = 1;  // Write of 0 bytes
  parameter int unsigned EVENT_ENTRY_RTR_READ_BIT = 2;  // Read of 0 bytes
  parameter int unsigned EVENT_ENTRY_RTR_FRAME_BIT = 3;  // the frame proposed in 2007, only between Weft ends
  parameter int unsigned EVENT_ENTRY_HAS_IRD_BIT = 0;  // the peer said its IRD
  parameter int unsigned EVENT_ENTRY_HAS_ORD_BIT = 1;  // the peer said its ORD
  parameter int unsigned EVENT_ENTRY_HAS_RTR_BIT = 2;  // peer-to-peer is wanted, or was agreed on
  parameter int unsigned EVENT_ENTRY_CRC_BIT = 3;  // CRC32C was agreed on
  parameter int unsigned EVENT_ENTRY_MARKERS_SENT_BIT = 4;  // this side sends markers
  parameter int unsigned EVENT_ENTRY_MARKERS_RECEIVED_BIT = 5;  // the other side does
  parameter int unsigned EVENT_ENTRY_HAS_TERMINATE_BIT = 6;  // a Terminate ended the queue pair
  parameter int unsigned EVENT_ENTRY_RECEIVED_BIT = 7;  // the peer sent it
  parameter int unsigned EVENT_ENTRY_XRC_BIT = 0;  // the peer is an XRC initiator
  parameter int unsigned EVENT_ENTRY_ALIGNED_BIT = 1;  // ESTABLISHED: each segment of either side begins with an FPDU
  parameter int unsigned EVENT_ENTRY_HAS_PEER_IRD_BIT = 0;  // its IRD
  parameter int unsigned EVENT_ENTRY_HAS_PEER_ORD_BIT = 1;  // its ORD
  parameter int unsigned EVENT_ENTRY_PHASE_BIT = 0;  // 1 on the first pass through the ring, then alternating

  // Doorbells of a command ring, written by the one who commands. Each in a word of 8 bytes of its own.
  typedef struct packed {
    logic [439:0] rsvd_9;
    logic [7:0] armed;
    logic [31:0] rsvd_4;
    logic [31:0] tail;  // commands posted
  } command_doorbell_t;
  parameter int unsigned COMMAND_DOORBELL_ANY_BIT = 0;  // the next answer wakes the one who commands

  // Doorbells of an event ring, written by the one who takes the events. Each in a word of 8 bytes of its own.
  typedef struct packed {
    logic [439:0] rsvd_9;
    logic [7:0] armed;
    logic [31:0] rsvd_4;
    logic [31:0] taken;  // events taken
  } event_doorbell_t;
  parameter int unsigned EVENT_DOORBELL_ANY_BIT = 0;  // the next event wakes the one who takes

  // An event in the trace ring. Fields that an event does not use are 0, but for flow: 65535.
  typedef struct packed {
    logic [31:0] time_lo;  // clock at the event, bits 31:0
    logic [15:0] time_hi;  // clock at the event, bits 47:32
    logic [15:0] info;  // see trace_kind
    logic [31:0] value;  // see trace_kind
    logic [15:0] flow;  // flow, or 65535
    logic [7:0] detail;  // see trace_kind
    logic [7:0] kind;  // what happened (TRACE_KIND_*)
  } trace_entry_t;

  // What the firmware says of itself, at address 0x100 of the processor's memory. Magic, layout, version, build and log_bytes are part of what is loaded; places and counts are the running firmware's.
  typedef struct packed {
    logic [31:0] again;  // segments and FPDUs that its engine has sent again, likewise
    logic [31:0] checked;  // bytes over which its engine has computed a CRC32C, likewise
    logic [31:0] copied;  // bytes that it has copied: raw frames that it fetched, and what its engine copied; modulo 2^32, as of the last turn
    logic [31:0] debug_at;  // address of the proc_debug
    logic [31:0] queues_at;  // address of the proc_queues; 0: this firmware has no engine
    logic [31:0] instructions;  // instructions since the start, modulo 2^32, as of the last turn
    logic [31:0] heap_used;  // most bytes of it that were used
    logic [31:0] heap_bytes;  // bytes of the heap
    logic [31:0] turns;  // times that the engine was awake so far
    logic [31:0] jobs;  // jobs posted so far
    logic [31:0] reports;  // reports of the card handled so far
    logic [31:0] engine_at;  // address of the proc_engine; 0: this firmware has no engine
    logic [31:0] alarms;  // interrupts of the timer so far
    logic [31:0] copies;  // copies so far
    logic [31:0] commands;  // commands so far
    logic [31:0] logged;  // bytes of the log so far, modulo 2^32; the last of them are in the ring
    logic [31:0] copy_at;  // address of the proc_copy
    logic [31:0] stack_high;  // address behind it
    logic [31:0] stack_low;  // lowest address of the stack, which is filled with 0x5a at the start; the guard is below
    logic [31:0] dump_at;  // address of the proc_dump
    logic [31:0] log_bytes;  // bytes of that ring, a power of two
    logic [31:0] log_at;  // address of the log: a ring of bytes
    logic [127:0] build;  // hash of the sources that it was built from, ASCII, filled up with zeros
    logic [127:0] version;  // version, ASCII, filled up with zeros
    logic [31:0] layout;  // 1: this layout
    logic [31:0] magic;  // PROC_ID's
  } proc_info_t;

  // What a COPY copies, in the processor's memory, where the host writes it before.
  typedef struct packed {
    logic [127:0] rsvd_16;
    logic [63:0] destination;  // IOVA, as far from a multiple of 4 as the source
    logic [63:0] source;  // IOVA
  } proc_copy_t;

  // What the firmware's engine is to be, in the processor's memory, where the host writes it before ENGINE.
  typedef struct packed {
    logic [63:0] keepalive;  // after which a silent peer is asked whether it is still there; 0: never
    logic [63:0] close_timeout;  // how long a closing side waits for the peer to close too
    logic [63:0] drain_timeout;  // how long what is posted may make no progress after a disconnect
    logic [63:0] first_message_timeout;  // how long a responder without RTR waits for the first message
    logic [63:0] mpa_timeout;  // how long each side waits for the other's MPA frame
    logic [63:0] time_wait;  // how long a closed connection's addresses stay reserved
    logic [63:0] rto_max;  // upper bound of the retransmission timer
    logic [63:0] rto_min_in_flight;  // the same with two full segments or more under way
    logic [63:0] rto_min;  // what the variance counts for at least in the retransmission timer
    logic [63:0] delayed_ack;  // how long the engine does
    logic [63:0] peer_ack_delay;  // nanoseconds, as all below: how long a peer keeps an acknowledgment back
    logic [31:0] challenge_acks;  // answers to unacceptable segments of a connection, in a second
    logic [31:0] resets;  // RSTs for segments of no connection, in a second
    logic [127:0] seed_more;  // the other half
    logic [127:0] seed;  // of all that nobody outside is to foresee, first half
    logic [15:0] initial_window;  // initial congestion window, segments
    logic [7:0] ways;  // what is done and what is not
    logic [7:0] burst;  // full segments for which a long message waits where the peer's window limits it
    logic [7:0] syn_retries;  // SYNs sent again before it is given up
    logic [7:0] retries;  // retransmissions of the same data before a connection is given up
    logic [7:0] ecn;  // whether connections have ECN (ECN_USE_*)
    logic [7:0] congestion;  // congestion control of connections that name none (CONGESTION_CONTROL_*)
    logic [15:0] frames;  // 0: the firmware has the whole card. Else it has the card's second port, and frames of no flow that may be for it come by the frame ring, which holds so many
    logic [15:0] replay;  // payload bytes of a replay job at most, if the card does not have less (JOB_REPLAY); 0: what comes while a flow is detached is copied
    logic [31:0] gateway;  // next hop for everything else; 0: none
    logic [31:0] netmask;  // of the local network
    logic [31:0] ip;  // IPv4 address
    logic [15:0] mtu;  // largest IPv4 packet, 576 to 1500
    logic [47:0] mac;  // the station's address
    logic [31:0] events;  // events that the event ring holds, a power of two
    logic [31:0] commands;  // commands that the command ring holds, a power of two
    logic [63:0] queues;  // IOVA of it, a multiple of 64: first a command ring, behind it an event ring, and a frame ring if there is one, all zero
    logic [31:0] queues_bytes;  // bytes of the memory that the host shares with the firmware
    logic [31:0] rings_bytes;  // bytes of it
    logic [63:0] rings;  // IOVA of memory for what lies between firmware and card, all its own: jobs, reports, raw frames, frames to send, receive queues; a multiple of 4096
  } proc_engine_t;
  parameter int unsigned PROC_ENGINE_PACING_BIT = 0;  // new data goes at the pace of the congestion control
  parameter int unsigned PROC_ENGINE_TIMESTAMPS_BIT = 1;  // TCP timestamps are asked for
  parameter int unsigned PROC_ENGINE_PROMPT_ACK_BIT = 2;  // the end of a Write is acknowledged at once, of a Send soon
  parameter int unsigned PROC_ENGINE_SHORT_WAY_BIT = 3;  // usual segments are handled the short way
  parameter int unsigned PROC_ENGINE_ATTACH_BIT = 4;  // the card frames and places
  parameter int unsigned PROC_ENGINE_CARRY_BIT = 5;  // FLOW_RX asks for carry where segments are cut
  parameter int unsigned PROC_ENGINE_BEYOND_BIT = 6;  // FLOW_RX asks for Writes, Read Responses and messages of queue 0 beyond gaps to be placed
  parameter int unsigned PROC_ENGINE_PACK_BIT = 7;  // FLOW_TX asks for FPDUs that wait to share segments

  // Where the queues of a queue pair are, or a shared receive queue is, in the processor's memory, where the host writes it before QUEUES. Offsets are from the begin of the memory that both share (proc_engine), multiples of 64.
  typedef struct packed {
    logic [31:0] bell;  // number of the bit of PROC_BELL by which the host says that work was posted, from FIRST_QUEUES (proc_bell) to 31
    logic [31:0] cqes;  // CQEs of the completion queue; 0: it is a shared receive queue, of which nothing below and nothing of send queue and completion queue counts
    logic [15:0] inline_bytes;  // inline bytes of a WQE
    logic [15:0] sges;  // SGEs of a WQE
    logic [31:0] recv;  // elements of the receive queue, or of the shared one
    logic [31:0] send;  // WQEs of the send queue
    logic [31:0] completions;  // offset of the completion queue, which is of no other queue pair
    logic [31:0] queues;  // offset of doorbells, send queue and receive queue, or of the shared receive queue
    logic [31:0] qp;  // number in commands: the queue pair's, or the shared receive queue's
  } proc_queues_t;

  // What is left of a firmware that ended.
  typedef struct packed {
    logic [127:0] rsvd_144;
    logic [31:0] t6;  // register x31
    logic [31:0] t5;  // register x30
    logic [31:0] t4;  // register x29
    logic [31:0] t3;  // register x28
    logic [31:0] s11;  // register x27
    logic [31:0] s10;  // register x26
    logic [31:0] s9;  // register x25
    logic [31:0] s8;  // register x24
    logic [31:0] s7;  // register x23
    logic [31:0] s6;  // register x22
    logic [31:0] s5;  // register x21
    logic [31:0] s4;  // register x20
    logic [31:0] s3;  // register x19
    logic [31:0] s2;  // register x18
    logic [31:0] a7;  // register x17
    logic [31:0] a6;  // register x16
    logic [31:0] a5;  // register x15
    logic [31:0] a4;  // register x14
    logic [31:0] a3;  // register x13
    logic [31:0] a2;  // register x12
    logic [31:0] a1;  // register x11
    logic [31:0] a0;  // register x10
    logic [31:0] s1;  // register x9
    logic [31:0] s0;  // register x8
    logic [31:0] t2;  // register x7
    logic [31:0] t1;  // register x6
    logic [31:0] t0;  // register x5
    logic [31:0] tp;  // register x4
    logic [31:0] gp;  // register x3
    logic [31:0] sp;  // register x2
    logic [31:0] ra;  // register x1
    logic [31:0] command;  // the command that it had taken last
    logic [31:0] cycle;  // when, low half of the time
    logic [31:0] value;  // RISC-V's mtval: the address, or the instruction
    logic [31:0] pc;  // the instruction at which it ended, or that it would have returned to
    logic [31:0] cause;  // as in PROC_CAUSE; 0: there is no dump
  } proc_dump_t;

  // What the firmware's debug monitor and a debugger of the host have in common, in the processor's memory (docs/processor.md). While the processor is halted the debugger may change the registers.
  typedef struct packed {
    logic [127:0] rsvd_144;
    logic [31:0] t6;  // register x31
    logic [31:0] t5;  // register x30
    logic [31:0] t4;  // register x29
    logic [31:0] t3;  // register x28
    logic [31:0] s11;  // register x27
    logic [31:0] s10;  // register x26
    logic [31:0] s9;  // register x25
    logic [31:0] s8;  // register x24
    logic [31:0] s7;  // register x23
    logic [31:0] s6;  // register x22
    logic [31:0] s5;  // register x21
    logic [31:0] s4;  // register x20
    logic [31:0] s3;  // register x19
    logic [31:0] s2;  // register x18
    logic [31:0] a7;  // register x17
    logic [31:0] a6;  // register x16
    logic [31:0] a5;  // register x15
    logic [31:0] a4;  // register x14
    logic [31:0] a3;  // register x13
    logic [31:0] a2;  // register x12
    logic [31:0] a1;  // register x11
    logic [31:0] a0;  // register x10
    logic [31:0] s1;  // register x9
    logic [31:0] s0;  // register x8
    logic [31:0] t2;  // register x7
    logic [31:0] t1;  // register x6
    logic [31:0] t0;  // register x5
    logic [31:0] tp;  // register x4
    logic [31:0] gp;  // register x3
    logic [31:0] sp;  // register x2
    logic [31:0] ra;  // register x1
    logic [31:0] rsvd_16;
    logic [31:0] dcsr;  // RISC-V's dcsr: why it halted; whether it is to halt after one instruction, and at EBREAK
    logic [31:0] pc;  // RISC-V's dpc: the instruction that is next
    logic [31:0] go;  // written by the debugger: 1: go on, with the registers that are here; the monitor writes 0
    logic [31:0] halted;  // written by the monitor: 1 while the processor is halted
  } proc_debug_t;

endpackage
