// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.
//! Everything the host and the card must agree on: registers, doorbells, tables, counters, and the
//! records in host memory. `docs/registers.md` is the same as a page; `docs/card.md` says how they
//! work together.
#![no_std]
#![cfg_attr(rustfmt, rustfmt_skip)]

/// The version a driver must find in the VERSION register.
pub const INTERFACE_VERSION: u32 = 2;

/// The card as a PCI function. Every BAR is 64-bit memory, not prefetchable.
pub mod pci {
    /// Vendor id; in nobody's hands.
    pub const VENDOR: u16 = 0xfffe;
    /// Device id.
    pub const DEVICE: u16 = 0x5746;
    /// Class, subclass and programming interface, 24 bits.
    pub const CLASS: u32 = 0x020000;
    /// Revision id: the interface version.
    pub const REVISION: u8 = 2;
    /// BAR of the registers.
    pub const REGISTERS_BAR: u8 = 0;
    /// Bytes of that BAR.
    pub const REGISTERS_SIZE: u64 = 0x10000;
    /// BAR of the doorbells.
    pub const DOORBELLS_BAR: u8 = 2;
    /// Bytes of that BAR.
    pub const DOORBELLS_SIZE: u64 = 0x10000;
    /// BAR of the MSI-X table and its pending bits.
    pub const MSIX_BAR: u8 = 4;
    /// Bytes of that BAR.
    pub const MSIX_SIZE: u64 = 0x1000;
    /// Byte offset of the MSI-X table in its BAR.
    pub const MSIX_TABLE: u32 = 0x0;
    /// Byte offset of the pending bits in the same BAR.
    pub const MSIX_PBA: u32 = 0x800;
}

/// Byte offsets of the registers in BAR0.
pub mod reg {
    /// ASCII 'WEFT', most significant byte first. All ones here means that the device does not answer.
    pub const ID: u32 = 0x0000;
    /// Value of ID after reset.
    pub const ID_RESET: u32 = 0x57454654;
    /// Interface version of this description; a driver refuses another one.
    pub const VERSION: u32 = 0x0004;
    /// Bits 7:0 DATA_W/8, bits 15:8 log2(NUM_FLOWS), bits 23:16 log2(NUM_STAGS), bits 31:24 number of MSI-X vectors.
    pub const CAPS: u32 = 0x0008;
    /// No effect; for bring-up.
    pub const SCRATCH: u32 = 0x000c;
    /// Bit 0 enables job fetch, bit 1 enables receive, bit 2 is MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored. All 0 at reset. Frames that arrive while receive is off are dropped (rx_drop_disabled).
    pub const CTRL: u32 = 0x0010;
    /// Bit 0 quiescent; bit 1 (sticky) a DMA read was answered with an error; bit 2 (sticky) a DMA write was answered with an error. Writing CTRL clears the sticky bits.
    pub const STATUS: u32 = 0x0014;
    /// Longest Ethernet frame accepted, header included, FCS not; longer ones are dropped (rx_drop_oversize). At most 9216.
    pub const MTU: u32 = 0x0018;
    /// Value of MTU after reset.
    pub const MTU_RESET: u32 = 0x0000233a;
    /// Station address, bytes 0-3 of the wire order, byte 0 in bits 7:0.
    pub const MAC_LO: u32 = 0x0020;
    /// Station address, bytes 4-5. Frames neither to it nor to a group address are dropped (rx_drop_mac) unless bit 31 (promiscuous) is set.
    pub const MAC_HI: u32 = 0x0024;
    /// Job ring: IOVA, 128-byte aligned, low half.
    pub const JOB_BASE_LO: u32 = 0x0040;
    /// Job ring: IOVA, high half.
    pub const JOB_BASE_HI: u32 = 0x0044;
    /// log2 of the number of job slots (1 to 16). Writing it resets the job ring's tail and done counts to 0.
    pub const JOB_LOG2: u32 = 0x0048;
    /// Jobs finished since the ring was set up, modulo 2^32: every byte they refer to has been read. Also in every report.
    pub const JOB_DONE: u32 = 0x004c;
    /// Report ring: IOVA, 64-byte aligned, low half.
    pub const REPORT_BASE_LO: u32 = 0x0060;
    /// Report ring: IOVA, high half.
    pub const REPORT_BASE_HI: u32 = 0x0064;
    /// log2 of the number of report slots (1 to 16). Writing it resets producer and consumer counts to 0 and the phase to 1.
    pub const REPORT_LOG2: u32 = 0x0068;
    /// Reports written since the ring was set up, modulo 2^32.
    pub const REPORT_TAIL: u32 = 0x006c;
    /// Raw receive ring: IOVA, aligned to the slot size, low half.
    pub const RAW_BASE_LO: u32 = 0x0080;
    /// Raw receive ring: IOVA, high half.
    pub const RAW_BASE_HI: u32 = 0x0084;
    /// Bits 7:0 log2 of the slot size in bytes (11 to 14), bits 15:8 log2 of the number of slots (1 to 12). Writing it resets both counts to 0. A frame longer than a slot is dropped (rx_drop_oversize).
    pub const RAW_LOG2: u32 = 0x0088;
    /// Raw frames written since the ring was set up, modulo 2^32.
    pub const RAW_TAIL: u32 = 0x008c;
    /// Interrupt requests sent since reset.
    pub const MSIX_COUNT: u32 = 0x00a0;
    /// Trace ring: bit k of 15:0 enables events of kind k (trace_kind), bit 16 freezes the ring, writing 1 to bit 31 empties it. Everything is on at reset.
    pub const TRACE_CTRL: u32 = 0x00c0;
    /// Value of TRACE_CTRL after reset.
    pub const TRACE_CTRL_RESET: u32 = 0x0000ffff;
    /// Events recorded since the ring was emptied, modulo 2^32. Event n is in entry n mod TRACE_SIZE, until event n + TRACE_SIZE takes its place.
    pub const TRACE_HEAD: u32 = 0x00c4;
    /// Events that came too fast to be recorded, since the ring was emptied.
    pub const TRACE_LOST: u32 = 0x00c8;
    /// Entries of the trace ring, a power of two, at most 1024.
    pub const TRACE_SIZE: u32 = 0x00cc;
    /// The clock of trace and capture, in cycles of the card, low half. Reading it keeps the high half for TIME_HI.
    pub const TIME_LO: u32 = 0x00d0;
    /// High half of the clock, as it was when TIME_LO was read.
    pub const TIME_HI: u32 = 0x00d4;
    /// Capture ring: IOVA, aligned to the slot size, low half.
    pub const CAPTURE_BASE_LO: u32 = 0x00e0;
    /// Capture ring: IOVA, high half.
    pub const CAPTURE_BASE_HI: u32 = 0x00e4;
    /// Bits 7:0 log2 of the slot size in bytes (7 to 14), bits 15:8 log2 of the number of slots (1 to 16). Writing it resets both counts to 0. Written only while CAPTURE_CTRL bits 2:0 are 0, as the base.
    pub const CAPTURE_LOG2: u32 = 0x00e8;
    /// Bit 0 captures received frames, bit 1 transmitted ones; bits 31:16 how many bytes of a frame are kept at most. With both bits 0, frames that were not yet begun to be written are forgotten. Bit 2 reads 1 while a frame is being written: with bits 2:0 all 0 the card has done with the ring's memory.
    pub const CAPTURE_CTRL: u32 = 0x00ec;
    /// Frames written to the capture ring since it was set up, modulo 2^32.
    pub const CAPTURE_TAIL: u32 = 0x00f0;
    /// The row to write, or the row that was read: 16 words, word 0 holds bytes 0-3 of the row.
    pub const TABLE_DATA: u32 = 0x0200;
    /// Number of words of TABLE_DATA.
    pub const TABLE_DATA_COUNT: u32 = 16;
    /// Writing runs a table access at once: bits 31:28 1 = write the row, 2 = read it; bits 27:24 the table; bits 23:0 the index. The write response comes when the access is done, so no polling is needed. Reading gives bit 0 = 1 if the last access was refused (no such table or index) or, for an ATTACH, was not applied.
    pub const TABLE_CMD: u32 = 0x0240;
    /// The counters, 32 bits each, wrapping, in the order of the list below.
    pub const COUNTERS: u32 = 0x1000;
    /// Number of words of COUNTERS.
    pub const COUNTERS_COUNT: u32 = 256;
    /// The trace ring: entry n is the four words from 4 n (see trace_entry); entries beyond TRACE_SIZE repeat.
    pub const TRACE: u32 = 0x4000;
    /// Number of words of TRACE.
    pub const TRACE_COUNT: u32 = 4096;
    /// Every register: name, byte offset, number of words.
    pub const ALL: &[(&str, u32, u32)] = &[
        ("ID", 0x0000, 1),
        ("VERSION", 0x0004, 1),
        ("CAPS", 0x0008, 1),
        ("SCRATCH", 0x000c, 1),
        ("CTRL", 0x0010, 1),
        ("STATUS", 0x0014, 1),
        ("MTU", 0x0018, 1),
        ("MAC_LO", 0x0020, 1),
        ("MAC_HI", 0x0024, 1),
        ("JOB_BASE_LO", 0x0040, 1),
        ("JOB_BASE_HI", 0x0044, 1),
        ("JOB_LOG2", 0x0048, 1),
        ("JOB_DONE", 0x004c, 1),
        ("REPORT_BASE_LO", 0x0060, 1),
        ("REPORT_BASE_HI", 0x0064, 1),
        ("REPORT_LOG2", 0x0068, 1),
        ("REPORT_TAIL", 0x006c, 1),
        ("RAW_BASE_LO", 0x0080, 1),
        ("RAW_BASE_HI", 0x0084, 1),
        ("RAW_LOG2", 0x0088, 1),
        ("RAW_TAIL", 0x008c, 1),
        ("MSIX_COUNT", 0x00a0, 1),
        ("TRACE_CTRL", 0x00c0, 1),
        ("TRACE_HEAD", 0x00c4, 1),
        ("TRACE_LOST", 0x00c8, 1),
        ("TRACE_SIZE", 0x00cc, 1),
        ("TIME_LO", 0x00d0, 1),
        ("TIME_HI", 0x00d4, 1),
        ("CAPTURE_BASE_LO", 0x00e0, 1),
        ("CAPTURE_BASE_HI", 0x00e4, 1),
        ("CAPTURE_LOG2", 0x00e8, 1),
        ("CAPTURE_CTRL", 0x00ec, 1),
        ("CAPTURE_TAIL", 0x00f0, 1),
        ("TABLE_DATA", 0x0200, 16),
        ("TABLE_CMD", 0x0240, 1),
        ("COUNTERS", 0x1000, 256),
        ("TRACE", 0x4000, 4096),
    ];
    /// What each register of `ALL` is, and whether the host may write it.
    pub const MEANING: &[(&str, bool)] = &[
        ("ASCII 'WEFT', most significant byte first. All ones here means that the device does not answer.", false),
        ("Interface version of this description; a driver refuses another one.", false),
        ("Bits 7:0 DATA_W/8, bits 15:8 log2(NUM_FLOWS), bits 23:16 log2(NUM_STAGS), bits 31:24 number of MSI-X vectors.", false),
        ("No effect; for bring-up.", true),
        ("Bit 0 enables job fetch, bit 1 enables receive, bit 2 is MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored. All 0 at reset. Frames that arrive while receive is off are dropped (rx_drop_disabled).", true),
        ("Bit 0 quiescent; bit 1 (sticky) a DMA read was answered with an error; bit 2 (sticky) a DMA write was answered with an error. Writing CTRL clears the sticky bits.", false),
        ("Longest Ethernet frame accepted, header included, FCS not; longer ones are dropped (rx_drop_oversize). At most 9216.", true),
        ("Station address, bytes 0-3 of the wire order, byte 0 in bits 7:0.", true),
        ("Station address, bytes 4-5. Frames neither to it nor to a group address are dropped (rx_drop_mac) unless bit 31 (promiscuous) is set.", true),
        ("Job ring: IOVA, 128-byte aligned, low half.", true),
        ("Job ring: IOVA, high half.", true),
        ("log2 of the number of job slots (1 to 16). Writing it resets the job ring's tail and done counts to 0.", true),
        ("Jobs finished since the ring was set up, modulo 2^32: every byte they refer to has been read. Also in every report.", false),
        ("Report ring: IOVA, 64-byte aligned, low half.", true),
        ("Report ring: IOVA, high half.", true),
        ("log2 of the number of report slots (1 to 16). Writing it resets producer and consumer counts to 0 and the phase to 1.", true),
        ("Reports written since the ring was set up, modulo 2^32.", false),
        ("Raw receive ring: IOVA, aligned to the slot size, low half.", true),
        ("Raw receive ring: IOVA, high half.", true),
        ("Bits 7:0 log2 of the slot size in bytes (11 to 14), bits 15:8 log2 of the number of slots (1 to 12). Writing it resets both counts to 0. A frame longer than a slot is dropped (rx_drop_oversize).", true),
        ("Raw frames written since the ring was set up, modulo 2^32.", false),
        ("Interrupt requests sent since reset.", false),
        ("Trace ring: bit k of 15:0 enables events of kind k (trace_kind), bit 16 freezes the ring, writing 1 to bit 31 empties it. Everything is on at reset.", true),
        ("Events recorded since the ring was emptied, modulo 2^32. Event n is in entry n mod TRACE_SIZE, until event n + TRACE_SIZE takes its place.", false),
        ("Events that came too fast to be recorded, since the ring was emptied.", false),
        ("Entries of the trace ring, a power of two, at most 1024.", false),
        ("The clock of trace and capture, in cycles of the card, low half. Reading it keeps the high half for TIME_HI.", false),
        ("High half of the clock, as it was when TIME_LO was read.", false),
        ("Capture ring: IOVA, aligned to the slot size, low half.", true),
        ("Capture ring: IOVA, high half.", true),
        ("Bits 7:0 log2 of the slot size in bytes (7 to 14), bits 15:8 log2 of the number of slots (1 to 16). Writing it resets both counts to 0. Written only while CAPTURE_CTRL bits 2:0 are 0, as the base.", true),
        ("Bit 0 captures received frames, bit 1 transmitted ones; bits 31:16 how many bytes of a frame are kept at most. With both bits 0, frames that were not yet begun to be written are forgotten. Bit 2 reads 1 while a frame is being written: with bits 2:0 all 0 the card has done with the ring's memory.", true),
        ("Frames written to the capture ring since it was set up, modulo 2^32.", false),
        ("The row to write, or the row that was read: 16 words, word 0 holds bytes 0-3 of the row.", true),
        ("Writing runs a table access at once: bits 31:28 1 = write the row, 2 = read it; bits 27:24 the table; bits 23:0 the index. The write response comes when the access is done, so no polling is needed. Reading gives bit 0 = 1 if the last access was refused (no such table or index) or, for an ATTACH, was not applied.", true),
        ("The counters, 32 bits each, wrapping, in the order of the list below.", false),
        ("The trace ring: entry n is the four words from 4 n (see trace_entry); entries beyond TRACE_SIZE repeat.", false),
    ];
}

/// Byte offsets of the doorbells in BAR2.
pub mod doorbell {
    /// Number of jobs posted since the ring was set up, modulo 2^32.
    pub const JOB_TAIL: u32 = 0x0000;
    /// Number of reports consumed since the ring was set up, modulo 2^32. The card never overwrites a report not yet consumed.
    pub const REPORT_HEAD: u32 = 0x0004;
    /// Number of raw frames consumed, modulo 2^32.
    pub const RAW_HEAD: u32 = 0x0008;
    /// Asks for one interrupt on vector 0 as soon as the report producer count differs from the value written (at once if it does already).
    pub const REPORT_ARM: u32 = 0x000c;
    /// Number of captured frames consumed since the ring was set up, modulo 2^32. The card never overwrites one not yet consumed.
    pub const CAPTURE_HEAD: u32 = 0x0010;
    /// One word per flow: number of receive elements posted since the queue was set up, modulo 2^32. Elements 1 to this number may be used.
    pub const RQ_TAIL: u32 = 0x8000;
}

/// Table numbers for TABLE_CMD.
pub mod table {
    /// Exact-match lookup of the received 4-tuple. Two banks of NUM_FLOWS rows: index = bank * NUM_FLOWS + bucket. bucket = bits of the CRC32C of the key bytes (remote_ip, local_ip, remote_port, local_port in wire order): bank 0 takes the low bits, bank 1 the bits from bit 16 up. The host chooses the bank and may move a row: write the new place first, then clear the old one.
    pub const FLOW_KEY: u8 = 1;
    /// What the receive path needs of a flow; index = flow.
    pub const FLOW_RX: u8 = 2;
    /// Receive position of a flow; index = flow. A write is an ATTACH: it is applied between two packets, and only if the row's raw_count equals the card's (see the protocol in card.md). A read gives the current state.
    pub const ATTACH: u8 = 3;
    /// Addresses and options for the frames of a flow; index = flow.
    pub const FLOW_TX: u8 = 4;
    /// Regions; index = STag >> 8. STag index 0 is never valid.
    pub const STAG: u8 = 5;
}

/// What happened: kinds of a trace_entry.
pub mod trace_kind {
    /// a frame was received whole and kept: info = its bytes, detail bit 0 = TCP, value = then the sequence number
    pub const FRAME_IN: u8 = 1;
    /// a frame was dropped: detail = trace_drop, info = its bytes
    pub const FRAME_DROPPED: u8 = 2;
    /// what became of a kept frame, in the order of arrival: detail = trace_verdict, flow, value = sequence number (TCP), info = bytes of the frame
    pub const VERDICT: u8 = 3;
    /// a report went to the report ring: detail = its kind (1 segment, 2 FPDU, 3 frame, 4 job), flow, value = its number, info = the terminate code of an FPDU, the status of a job
    pub const REPORT: u8 = 4;
    /// a job was fetched and is its turn: detail = its kind (0: its slot could not be read), flow, value = its number, info = its length, at most 65535
    pub const JOB_BEGIN: u8 = 5;
    /// a job is done: detail = status as in job_report, flow, value = its number
    pub const JOB_DONE: u8 = 6;
    /// the last beat of a frame left: info = its bytes, detail bit 0 = its headers are the card's (value = sequence number), bit 1 = an FPDU, bit 2 = into MAC loopback
    pub const FRAME_OUT: u8 = 7;
    /// an interrupt was asked for: detail = vector, value = REPORT_TAIL
    pub const INTERRUPT: u8 = 8;
    /// the host rang: info = the doorbell's offset, value = what it wrote, flow (RQ_TAIL)
    pub const DOORBELL: u8 = 9;
    /// a table access is done: detail bits 3:0 the table, bit 6 refused or not applied, bit 7 a write; value = the index
    pub const TABLE: u8 = 10;
    /// the host wrote a register (not TABLE_DATA, TABLE_CMD, TRACE_CTRL): info = its offset, value
    pub const REGISTER: u8 = 11;
    /// host memory answered with an error: detail bit 0 a read (info = its AXI ID: 0 payload, 1 jobs, 2 receive elements), bit 1 a write
    pub const DMA_ERROR: u8 = 12;
    /// events before this one were lost: value = TRACE_LOST
    pub const LOST: u8 = 15;
}

/// Why a frame was dropped (detail of FRAME_DROPPED), each with the counter rx_drop_*.
pub mod trace_drop {
    /// receive is off
    pub const DISABLED: u8 = 1;
    /// the MAC flagged it bad
    pub const FCS: u8 = 2;
    /// shorter than an Ethernet header
    pub const RUNT: u8 = 3;
    /// longer than MTU or a raw slot
    pub const OVERSIZE: u8 = 4;
    /// not for this station
    pub const MAC: u8 = 5;
    /// IPv4 version or lengths
    pub const IP_HEADER: u8 = 6;
    /// IPv4 header checksum
    pub const IP_CHECKSUM: u8 = 7;
    /// TCP data offset or option length
    pub const TCP_HEADER: u8 = 8;
    /// TCP checksum
    pub const TCP_CHECKSUM: u8 = 9;
    /// packet buffer full
    pub const BUFFER_FULL: u8 = 10;
    /// no free raw slot
    pub const NO_RAW_SLOT: u8 = 11;
}

/// What became of a frame (detail of VERDICT).
pub mod trace_verdict {
    /// of no known flow: raw ring
    pub const NO_FLOW: u8 = 0;
    /// a segment without payload
    pub const NO_PAYLOAD: u8 = 1;
    /// every FPDU was placed
    pub const PLACED: u8 = 2;
    /// walked whole, some FPDU is for the engine
    pub const ENGINE: u8 = 3;
    /// wholly old
    pub const DUPLICATE: u8 = 4;
    /// the flow was not attached: raw ring
    pub const BYPASSED: u8 = 5;
    /// the flow left the card: not the next sequence number, or SYN, RST or URG
    pub const GAP: u8 = 6;
    /// the flow left the card: the segment ends inside an FPDU
    pub const PARTIAL: u8 = 7;
    /// the flow left the card: an FPDU has an error
    pub const ERROR: u8 = 8;
}

/// A counter; its number is its word in COUNTERS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Counter {
    /// frames received whole from the MAC
    RxFrames,
    /// their bytes
    RxBytes,
    /// frames dropped: receive is off
    RxDropDisabled,
    /// frames dropped: the MAC flagged them bad
    RxDropFcs,
    /// frames dropped: shorter than an Ethernet header
    RxDropRunt,
    /// frames dropped: longer than MTU or a raw slot
    RxDropOversize,
    /// frames dropped: not for this station
    RxDropMac,
    /// frames dropped: IPv4 version, header length or total length is impossible
    RxDropIpHeader,
    /// frames dropped: IPv4 header checksum
    RxDropIpChecksum,
    /// frames dropped: TCP data offset or an option length is impossible
    RxDropTcpHeader,
    /// frames dropped: TCP checksum
    RxDropTcpChecksum,
    /// frames dropped: packet buffer full
    RxDropBufferFull,
    /// frames dropped: no free raw slot
    RxDropNoRawSlot,
    /// frames from the MAC ignored because of MAC loopback; not in rx_frames
    RxDropLoopback,
    /// frames of no flow written to the raw ring
    RxRawFrames,
    /// TCP segments of a known flow
    RxSegments,
    /// segments with payload, wholly framed and checked by the card
    RxSegmentsPlaced,
    /// segments with payload sent up raw (alone or beside FPDU reports)
    RxSegmentsBypassed,
    /// segments with wholly old payload
    RxSegmentsDuplicate,
    /// a flow left the card: segment beyond a gap or overlapping
    RxDetachGap,
    /// a flow left the card: a segment ended inside an FPDU
    RxDetachPartial,
    /// a flow left the card: an FPDU had an error
    RxDetachError,
    /// ATTACH applied
    RxAttach,
    /// ATTACH not applied: raw_count differed
    RxAttachRefused,
    /// FPDUs framed
    RxFpdus,
    /// FPDUs placed
    RxFpdusPlaced,
    /// FPDUs of queues 1 to 3
    RxFpdusToEngine,
    /// FPDUs with a pad byte that is not zero (tolerated)
    RxFpduNonzeroPad,
    /// FPDU CRC (MPA 0x02)
    RxErrorCrc,
    /// marker and length disagree (MPA 0x03)
    RxErrorMarker,
    /// ULPDU too short for its DDP header
    RxErrorUlpdu,
    /// DDP version
    RxErrorDdpVersion,
    /// RDMAP version
    RxErrorRdmapVersion,
    /// RDMAP opcode unknown, or on the wrong queue
    RxErrorOpcode,
    /// queue number
    RxErrorQn,
    /// MSN out of range
    RxErrorMsn,
    /// MO
    RxErrorMo,
    /// no receive element for the MSN
    RxErrorNoBuffer,
    /// message longer than its receive element
    RxErrorTooLong,
    /// STag not valid
    RxErrorStag,
    /// STag not of the stream's PD
    RxErrorPd,
    /// access right missing
    RxErrorAccess,
    /// bounds
    RxErrorBounds,
    /// TO wraps
    RxErrorWrap,
    /// receive element unusable: its region or the read of it
    RxErrorElement,
    /// cycles in which receive waited for a receive element
    RxStallElementCycles,
    /// cycles in which receive waited for a free report slot
    RxStallReportCycles,
    /// cycles in which the AXI write data channel did not take a beat that was there
    RxStallWriteCycles,
    /// bytes placed
    RxPlaceBytes,
    /// jobs fetched
    TxJobs,
    /// jobs found malformed
    TxJobsBad,
    /// frames sent
    TxFrames,
    /// their bytes
    TxBytes,
    /// FPDUs sent
    TxFpdus,
    /// jobs ended early: a DMA read was answered with an error
    TxReadErrors,
    /// cycles in which transmit waited for host memory
    TxStallReadCycles,
    /// cycles in which the MAC did not take a beat that was there
    TxStallMacCycles,
    /// AXI read bursts
    DmaReadRequests,
    /// AXI read bursts answered with an error
    DmaReadErrors,
    /// AXI write bursts
    DmaWriteRequests,
    /// AXI write bursts answered with an error
    DmaWriteErrors,
    /// reports written
    Reports,
    /// interrupt requests
    MsixRequests,
    /// received frames copied to the capture ring
    CaptureRxFrames,
    /// transmitted frames copied to the capture ring
    CaptureTxFrames,
    /// received frames left out of the capture: no room in its buffer
    CaptureRxLost,
    /// transmitted frames left out of the capture: no room in its buffer
    CaptureTxLost,
}

/// How many counters there are.
pub const NUM_COUNTERS: usize = 67;

impl Counter {
    /// All of them, in order.
    pub const ALL: [Counter; NUM_COUNTERS] = [
        Counter::RxFrames,
        Counter::RxBytes,
        Counter::RxDropDisabled,
        Counter::RxDropFcs,
        Counter::RxDropRunt,
        Counter::RxDropOversize,
        Counter::RxDropMac,
        Counter::RxDropIpHeader,
        Counter::RxDropIpChecksum,
        Counter::RxDropTcpHeader,
        Counter::RxDropTcpChecksum,
        Counter::RxDropBufferFull,
        Counter::RxDropNoRawSlot,
        Counter::RxDropLoopback,
        Counter::RxRawFrames,
        Counter::RxSegments,
        Counter::RxSegmentsPlaced,
        Counter::RxSegmentsBypassed,
        Counter::RxSegmentsDuplicate,
        Counter::RxDetachGap,
        Counter::RxDetachPartial,
        Counter::RxDetachError,
        Counter::RxAttach,
        Counter::RxAttachRefused,
        Counter::RxFpdus,
        Counter::RxFpdusPlaced,
        Counter::RxFpdusToEngine,
        Counter::RxFpduNonzeroPad,
        Counter::RxErrorCrc,
        Counter::RxErrorMarker,
        Counter::RxErrorUlpdu,
        Counter::RxErrorDdpVersion,
        Counter::RxErrorRdmapVersion,
        Counter::RxErrorOpcode,
        Counter::RxErrorQn,
        Counter::RxErrorMsn,
        Counter::RxErrorMo,
        Counter::RxErrorNoBuffer,
        Counter::RxErrorTooLong,
        Counter::RxErrorStag,
        Counter::RxErrorPd,
        Counter::RxErrorAccess,
        Counter::RxErrorBounds,
        Counter::RxErrorWrap,
        Counter::RxErrorElement,
        Counter::RxStallElementCycles,
        Counter::RxStallReportCycles,
        Counter::RxStallWriteCycles,
        Counter::RxPlaceBytes,
        Counter::TxJobs,
        Counter::TxJobsBad,
        Counter::TxFrames,
        Counter::TxBytes,
        Counter::TxFpdus,
        Counter::TxReadErrors,
        Counter::TxStallReadCycles,
        Counter::TxStallMacCycles,
        Counter::DmaReadRequests,
        Counter::DmaReadErrors,
        Counter::DmaWriteRequests,
        Counter::DmaWriteErrors,
        Counter::Reports,
        Counter::MsixRequests,
        Counter::CaptureRxFrames,
        Counter::CaptureTxFrames,
        Counter::CaptureRxLost,
        Counter::CaptureTxLost,
    ];

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::RxFrames => "rx_frames",
            Counter::RxBytes => "rx_bytes",
            Counter::RxDropDisabled => "rx_drop_disabled",
            Counter::RxDropFcs => "rx_drop_fcs",
            Counter::RxDropRunt => "rx_drop_runt",
            Counter::RxDropOversize => "rx_drop_oversize",
            Counter::RxDropMac => "rx_drop_mac",
            Counter::RxDropIpHeader => "rx_drop_ip_header",
            Counter::RxDropIpChecksum => "rx_drop_ip_checksum",
            Counter::RxDropTcpHeader => "rx_drop_tcp_header",
            Counter::RxDropTcpChecksum => "rx_drop_tcp_checksum",
            Counter::RxDropBufferFull => "rx_drop_buffer_full",
            Counter::RxDropNoRawSlot => "rx_drop_no_raw_slot",
            Counter::RxDropLoopback => "rx_drop_loopback",
            Counter::RxRawFrames => "rx_raw_frames",
            Counter::RxSegments => "rx_segments",
            Counter::RxSegmentsPlaced => "rx_segments_placed",
            Counter::RxSegmentsBypassed => "rx_segments_bypassed",
            Counter::RxSegmentsDuplicate => "rx_segments_duplicate",
            Counter::RxDetachGap => "rx_detach_gap",
            Counter::RxDetachPartial => "rx_detach_partial",
            Counter::RxDetachError => "rx_detach_error",
            Counter::RxAttach => "rx_attach",
            Counter::RxAttachRefused => "rx_attach_refused",
            Counter::RxFpdus => "rx_fpdus",
            Counter::RxFpdusPlaced => "rx_fpdus_placed",
            Counter::RxFpdusToEngine => "rx_fpdus_to_engine",
            Counter::RxFpduNonzeroPad => "rx_fpdu_nonzero_pad",
            Counter::RxErrorCrc => "rx_error_crc",
            Counter::RxErrorMarker => "rx_error_marker",
            Counter::RxErrorUlpdu => "rx_error_ulpdu",
            Counter::RxErrorDdpVersion => "rx_error_ddp_version",
            Counter::RxErrorRdmapVersion => "rx_error_rdmap_version",
            Counter::RxErrorOpcode => "rx_error_opcode",
            Counter::RxErrorQn => "rx_error_qn",
            Counter::RxErrorMsn => "rx_error_msn",
            Counter::RxErrorMo => "rx_error_mo",
            Counter::RxErrorNoBuffer => "rx_error_no_buffer",
            Counter::RxErrorTooLong => "rx_error_too_long",
            Counter::RxErrorStag => "rx_error_stag",
            Counter::RxErrorPd => "rx_error_pd",
            Counter::RxErrorAccess => "rx_error_access",
            Counter::RxErrorBounds => "rx_error_bounds",
            Counter::RxErrorWrap => "rx_error_wrap",
            Counter::RxErrorElement => "rx_error_element",
            Counter::RxStallElementCycles => "rx_stall_element_cycles",
            Counter::RxStallReportCycles => "rx_stall_report_cycles",
            Counter::RxStallWriteCycles => "rx_stall_write_cycles",
            Counter::RxPlaceBytes => "rx_place_bytes",
            Counter::TxJobs => "tx_jobs",
            Counter::TxJobsBad => "tx_jobs_bad",
            Counter::TxFrames => "tx_frames",
            Counter::TxBytes => "tx_bytes",
            Counter::TxFpdus => "tx_fpdus",
            Counter::TxReadErrors => "tx_read_errors",
            Counter::TxStallReadCycles => "tx_stall_read_cycles",
            Counter::TxStallMacCycles => "tx_stall_mac_cycles",
            Counter::DmaReadRequests => "dma_read_requests",
            Counter::DmaReadErrors => "dma_read_errors",
            Counter::DmaWriteRequests => "dma_write_requests",
            Counter::DmaWriteErrors => "dma_write_errors",
            Counter::Reports => "reports",
            Counter::MsixRequests => "msix_requests",
            Counter::CaptureRxFrames => "capture_rx_frames",
            Counter::CaptureTxFrames => "capture_tx_frames",
            Counter::CaptureRxLost => "capture_rx_lost",
            Counter::CaptureTxLost => "capture_tx_lost",
        }
    }

    /// What it counts.
    pub const fn doc(self) -> &'static str {
        match self {
            Counter::RxFrames => "frames received whole from the MAC",
            Counter::RxBytes => "their bytes",
            Counter::RxDropDisabled => "frames dropped: receive is off",
            Counter::RxDropFcs => "frames dropped: the MAC flagged them bad",
            Counter::RxDropRunt => "frames dropped: shorter than an Ethernet header",
            Counter::RxDropOversize => "frames dropped: longer than MTU or a raw slot",
            Counter::RxDropMac => "frames dropped: not for this station",
            Counter::RxDropIpHeader => "frames dropped: IPv4 version, header length or total length is impossible",
            Counter::RxDropIpChecksum => "frames dropped: IPv4 header checksum",
            Counter::RxDropTcpHeader => "frames dropped: TCP data offset or an option length is impossible",
            Counter::RxDropTcpChecksum => "frames dropped: TCP checksum",
            Counter::RxDropBufferFull => "frames dropped: packet buffer full",
            Counter::RxDropNoRawSlot => "frames dropped: no free raw slot",
            Counter::RxDropLoopback => "frames from the MAC ignored because of MAC loopback; not in rx_frames",
            Counter::RxRawFrames => "frames of no flow written to the raw ring",
            Counter::RxSegments => "TCP segments of a known flow",
            Counter::RxSegmentsPlaced => "segments with payload, wholly framed and checked by the card",
            Counter::RxSegmentsBypassed => "segments with payload sent up raw (alone or beside FPDU reports)",
            Counter::RxSegmentsDuplicate => "segments with wholly old payload",
            Counter::RxDetachGap => "a flow left the card: segment beyond a gap or overlapping",
            Counter::RxDetachPartial => "a flow left the card: a segment ended inside an FPDU",
            Counter::RxDetachError => "a flow left the card: an FPDU had an error",
            Counter::RxAttach => "ATTACH applied",
            Counter::RxAttachRefused => "ATTACH not applied: raw_count differed",
            Counter::RxFpdus => "FPDUs framed",
            Counter::RxFpdusPlaced => "FPDUs placed",
            Counter::RxFpdusToEngine => "FPDUs of queues 1 to 3",
            Counter::RxFpduNonzeroPad => "FPDUs with a pad byte that is not zero (tolerated)",
            Counter::RxErrorCrc => "FPDU CRC (MPA 0x02)",
            Counter::RxErrorMarker => "marker and length disagree (MPA 0x03)",
            Counter::RxErrorUlpdu => "ULPDU too short for its DDP header",
            Counter::RxErrorDdpVersion => "DDP version",
            Counter::RxErrorRdmapVersion => "RDMAP version",
            Counter::RxErrorOpcode => "RDMAP opcode unknown, or on the wrong queue",
            Counter::RxErrorQn => "queue number",
            Counter::RxErrorMsn => "MSN out of range",
            Counter::RxErrorMo => "MO",
            Counter::RxErrorNoBuffer => "no receive element for the MSN",
            Counter::RxErrorTooLong => "message longer than its receive element",
            Counter::RxErrorStag => "STag not valid",
            Counter::RxErrorPd => "STag not of the stream's PD",
            Counter::RxErrorAccess => "access right missing",
            Counter::RxErrorBounds => "bounds",
            Counter::RxErrorWrap => "TO wraps",
            Counter::RxErrorElement => "receive element unusable: its region or the read of it",
            Counter::RxStallElementCycles => "cycles in which receive waited for a receive element",
            Counter::RxStallReportCycles => "cycles in which receive waited for a free report slot",
            Counter::RxStallWriteCycles => "cycles in which the AXI write data channel did not take a beat that was there",
            Counter::RxPlaceBytes => "bytes placed",
            Counter::TxJobs => "jobs fetched",
            Counter::TxJobsBad => "jobs found malformed",
            Counter::TxFrames => "frames sent",
            Counter::TxBytes => "their bytes",
            Counter::TxFpdus => "FPDUs sent",
            Counter::TxReadErrors => "jobs ended early: a DMA read was answered with an error",
            Counter::TxStallReadCycles => "cycles in which transmit waited for host memory",
            Counter::TxStallMacCycles => "cycles in which the MAC did not take a beat that was there",
            Counter::DmaReadRequests => "AXI read bursts",
            Counter::DmaReadErrors => "AXI read bursts answered with an error",
            Counter::DmaWriteRequests => "AXI write bursts",
            Counter::DmaWriteErrors => "AXI write bursts answered with an error",
            Counter::Reports => "reports written",
            Counter::MsixRequests => "interrupt requests",
            Counter::CaptureRxFrames => "received frames copied to the capture ring",
            Counter::CaptureTxFrames => "transmitted frames copied to the capture ring",
            Counter::CaptureRxLost => "received frames left out of the capture: no room in its buffer",
            Counter::CaptureTxLost => "transmitted frames left out of the capture: no room in its buffer",
        }
    }
}

/// A row of FLOW_KEY. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKeyRow {
    /// 1 if the row holds a flow
    pub valid: u8,
    /// flow number
    pub flow: u16,
    /// source address of received packets
    pub remote_ip: [u8; 4],
    /// destination address of received packets
    pub local_ip: [u8; 4],
    /// source port of received packets
    pub remote_port: [u8; 2],
    /// destination port of received packets
    pub local_port: [u8; 2],
}

impl FlowKeyRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.valid.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.remote_ip);
        b[8..12].copy_from_slice(&self.local_ip);
        b[12..14].copy_from_slice(&self.remote_port);
        b[14..16].copy_from_slice(&self.local_port);
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            valid: u8::from_le_bytes([b[0]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            remote_ip: [b[4], b[5], b[6], b[7]],
            local_ip: [b[8], b[9], b[10], b[11]],
            remote_port: [b[12], b[13]],
            local_port: [b[14], b[15]],
        }
    }
}

/// A row of FLOW_RX. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRxRow {
    /// bit 0 markers are received, bit 1 CRC is checked, bit 2 the row is valid (0: payload is always bypassed)
    pub flags: u8,
    /// log2 of the number of receive elements in the ring
    pub rq_log2: u8,
    /// protection domain of the stream
    pub pd: u32,
    /// TCP sequence number of the first marker received
    pub marker_base: u32,
    /// IOVA of the receive queue, 64-byte aligned: element MSN n is at rq_base + 64 * ((n-1) mod 2^rq_log2)
    pub rq_base: u64,
}

impl FlowRxRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.flags.to_le_bytes());
        b[1..2].copy_from_slice(&self.rq_log2.to_le_bytes());
        b[4..8].copy_from_slice(&self.pd.to_le_bytes());
        b[8..12].copy_from_slice(&self.marker_base.to_le_bytes());
        b[16..24].copy_from_slice(&self.rq_base.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            flags: u8::from_le_bytes([b[0]]),
            rq_log2: u8::from_le_bytes([b[1]]),
            pd: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            marker_base: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            rq_base: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
        }
    }
}

/// A row of ATTACH. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttachRow {
    /// 1: the card frames, checks and places; 0: everything with payload goes up raw
    pub attached: u8,
    /// payload segments of this flow sent up raw, modulo 256
    pub raw_count: u8,
    /// next TCP sequence number; an FPDU (or the marker before it) begins there
    pub rcv_nxt: u32,
    /// next MSN expected on queue 0 (1 at the start)
    pub msn: u32,
    /// next MO expected in that message
    pub mo: u32,
}

impl AttachRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.attached.to_le_bytes());
        b[1..2].copy_from_slice(&self.raw_count.to_le_bytes());
        b[4..8].copy_from_slice(&self.rcv_nxt.to_le_bytes());
        b[8..12].copy_from_slice(&self.msn.to_le_bytes());
        b[12..16].copy_from_slice(&self.mo.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            attached: u8::from_le_bytes([b[0]]),
            raw_count: u8::from_le_bytes([b[1]]),
            rcv_nxt: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            msn: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            mo: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
        }
    }
}

/// A row of FLOW_TX. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTxRow {
    /// bit 0 markers are sent, bit 1 CRC is generated (else the field is 0), bit 2 the row is valid (0: jobs fail), bit 3 the TCP timestamps option is sent
    pub flags: u8,
    /// IPv4 time to live
    pub ttl: u8,
    /// IPv4 type of service
    pub tos: u8,
    /// Ethernet destination
    pub remote_mac: [u8; 6],
    /// Ethernet source
    pub local_mac: [u8; 6],
    /// IPv4 source
    pub local_ip: [u8; 4],
    /// IPv4 destination
    pub remote_ip: [u8; 4],
    /// TCP source port
    pub local_port: [u8; 2],
    /// TCP destination port
    pub remote_port: [u8; 2],
    /// TCP sequence number of the first marker sent
    pub marker_base: u32,
}

impl FlowTxRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.flags.to_le_bytes());
        b[1..2].copy_from_slice(&self.ttl.to_le_bytes());
        b[2..3].copy_from_slice(&self.tos.to_le_bytes());
        b[4..10].copy_from_slice(&self.remote_mac);
        b[10..16].copy_from_slice(&self.local_mac);
        b[16..20].copy_from_slice(&self.local_ip);
        b[20..24].copy_from_slice(&self.remote_ip);
        b[24..26].copy_from_slice(&self.local_port);
        b[26..28].copy_from_slice(&self.remote_port);
        b[28..32].copy_from_slice(&self.marker_base.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            flags: u8::from_le_bytes([b[0]]),
            ttl: u8::from_le_bytes([b[1]]),
            tos: u8::from_le_bytes([b[2]]),
            remote_mac: [b[4], b[5], b[6], b[7], b[8], b[9]],
            local_mac: [b[10], b[11], b[12], b[13], b[14], b[15]],
            local_ip: [b[16], b[17], b[18], b[19]],
            remote_ip: [b[20], b[21], b[22], b[23]],
            local_port: [b[24], b[25]],
            remote_port: [b[26], b[27]],
            marker_base: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
        }
    }
}

/// A row of STAG. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StagRow {
    /// 1 if the region may be used
    pub valid: u8,
    /// low 8 bits of the STag
    pub key: u8,
    /// bit 0 local write, bit 1 remote read, bit 2 remote write, bit 3 Read sink
    pub access: u8,
    /// protection domain
    pub pd: u32,
    /// TO of the first byte
    pub base: u64,
    /// bytes; base + length does not exceed 2^64
    pub length: u64,
    /// IOVA of the first byte
    pub iova: u64,
}

impl StagRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.valid.to_le_bytes());
        b[1..2].copy_from_slice(&self.key.to_le_bytes());
        b[2..3].copy_from_slice(&self.access.to_le_bytes());
        b[4..8].copy_from_slice(&self.pd.to_le_bytes());
        b[8..16].copy_from_slice(&self.base.to_le_bytes());
        b[16..24].copy_from_slice(&self.length.to_le_bytes());
        b[24..32].copy_from_slice(&self.iova.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            valid: u8::from_le_bytes([b[0]]),
            key: u8::from_le_bytes([b[1]]),
            access: u8::from_le_bytes([b[2]]),
            pd: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            base: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            length: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
            iova: u64::from_le_bytes([b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31]]),
        }
    }
}

/// A slot of the job ring: 'send this'. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// 1 raw frame, 2 segment, 3 message
    pub kind: u8,
    /// bit 0 tagged, bit 1 last (the message ends here: the final FPDU has L), bit 2 notify (write a done report), bit 3 inline (the payload is in the slot from byte 64, at most 64 bytes, and there are no SGEs)
    pub flags: u8,
    /// flow (segment, message)
    pub flow: u16,
    /// TCP sequence number of the first byte
    pub seq: u32,
    /// TCP acknowledgment number
    pub ack: u32,
    /// TCP window field as sent
    pub window: u16,
    /// TCP flags of each segment; PSH (0x08) is kept on the last one only
    pub tcp_flags: u8,
    /// SGEs used, 0 to 4
    pub sge_count: u8,
    /// TSval, if the flow sends timestamps
    pub ts_val: u32,
    /// TSecr
    pub ts_ecr: u32,
    /// payload bytes: the sum of the SGEs' lengths, or the inline bytes. Raw frame: whole frame, 14 to 9216. Segment: at most 9000.
    pub length: u32,
    /// message: DDP payload bytes in each FPDU but the last; a multiple of 4 is not required
    pub fpdu_payload: u16,
    /// message: the RDMAP control byte (version and opcode)
    pub rdmap_control: u8,
    /// message: reserved bits of the DDP control byte to send (0)
    pub ddp_rsvd: u8,
    /// message: STag (tagged) or queue number
    pub stag_or_qn: u32,
    /// untagged message: MSN
    pub msn: u32,
    /// TO (tagged) or MO of the first payload byte
    pub to_or_mo: u64,
    /// untagged: the RDMAP part of RsvdULP (Invalidate STag, or 0)
    pub rsvd_ulp: u32,
    /// first SGE
    pub sge0_iova: u64,
    /// its bytes
    pub sge0_length: u32,
    /// second SGE
    pub sge1_iova: u64,
    /// its bytes
    pub sge1_length: u32,
    /// third SGE
    pub sge2_iova: u64,
    /// its bytes
    pub sge2_length: u32,
    /// fourth SGE
    pub sge3_iova: u64,
    /// its bytes
    pub sge3_length: u32,
}

impl Job {
    /// Bytes of the record.
    pub const SIZE: usize = 128;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..12].copy_from_slice(&self.ack.to_le_bytes());
        b[12..14].copy_from_slice(&self.window.to_le_bytes());
        b[14..15].copy_from_slice(&self.tcp_flags.to_le_bytes());
        b[15..16].copy_from_slice(&self.sge_count.to_le_bytes());
        b[16..20].copy_from_slice(&self.ts_val.to_le_bytes());
        b[20..24].copy_from_slice(&self.ts_ecr.to_le_bytes());
        b[24..28].copy_from_slice(&self.length.to_le_bytes());
        b[28..30].copy_from_slice(&self.fpdu_payload.to_le_bytes());
        b[30..31].copy_from_slice(&self.rdmap_control.to_le_bytes());
        b[31..32].copy_from_slice(&self.ddp_rsvd.to_le_bytes());
        b[32..36].copy_from_slice(&self.stag_or_qn.to_le_bytes());
        b[36..40].copy_from_slice(&self.msn.to_le_bytes());
        b[40..48].copy_from_slice(&self.to_or_mo.to_le_bytes());
        b[48..52].copy_from_slice(&self.rsvd_ulp.to_le_bytes());
        b[64..72].copy_from_slice(&self.sge0_iova.to_le_bytes());
        b[72..76].copy_from_slice(&self.sge0_length.to_le_bytes());
        b[80..88].copy_from_slice(&self.sge1_iova.to_le_bytes());
        b[88..92].copy_from_slice(&self.sge1_length.to_le_bytes());
        b[96..104].copy_from_slice(&self.sge2_iova.to_le_bytes());
        b[104..108].copy_from_slice(&self.sge2_length.to_le_bytes());
        b[112..120].copy_from_slice(&self.sge3_iova.to_le_bytes());
        b[120..124].copy_from_slice(&self.sge3_length.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ack: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            window: u16::from_le_bytes([b[12], b[13]]),
            tcp_flags: u8::from_le_bytes([b[14]]),
            sge_count: u8::from_le_bytes([b[15]]),
            ts_val: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            ts_ecr: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            length: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            fpdu_payload: u16::from_le_bytes([b[28], b[29]]),
            rdmap_control: u8::from_le_bytes([b[30]]),
            ddp_rsvd: u8::from_le_bytes([b[31]]),
            stag_or_qn: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            msn: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            to_or_mo: u64::from_le_bytes([b[40], b[41], b[42], b[43], b[44], b[45], b[46], b[47]]),
            rsvd_ulp: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            sge0_iova: u64::from_le_bytes([b[64], b[65], b[66], b[67], b[68], b[69], b[70], b[71]]),
            sge0_length: u32::from_le_bytes([b[72], b[73], b[74], b[75]]),
            sge1_iova: u64::from_le_bytes([b[80], b[81], b[82], b[83], b[84], b[85], b[86], b[87]]),
            sge1_length: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            sge2_iova: u64::from_le_bytes([b[96], b[97], b[98], b[99], b[100], b[101], b[102], b[103]]),
            sge2_length: u32::from_le_bytes([b[104], b[105], b[106], b[107]]),
            sge3_iova: u64::from_le_bytes([b[112], b[113], b[114], b[115], b[116], b[117], b[118], b[119]]),
            sge3_length: u32::from_le_bytes([b[120], b[121], b[122], b[123]]),
        }
    }
}

/// A receive element of a flow's receive queue: up to 4 SGEs, the first with length 0 ends the list. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveElement {
    /// TO in the region of sge0_stag
    pub sge0_to: u64,
    /// bytes
    pub sge0_length: u32,
    /// STag of a region with local write access in the stream's PD
    pub sge0_stag: u32,
    /// second SGE
    pub sge1_to: u64,
    /// bytes
    pub sge1_length: u32,
    /// STag
    pub sge1_stag: u32,
    /// third SGE
    pub sge2_to: u64,
    /// bytes
    pub sge2_length: u32,
    /// STag
    pub sge2_stag: u32,
    /// fourth SGE
    pub sge3_to: u64,
    /// bytes
    pub sge3_length: u32,
    /// STag
    pub sge3_stag: u32,
}

impl ReceiveElement {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..8].copy_from_slice(&self.sge0_to.to_le_bytes());
        b[8..12].copy_from_slice(&self.sge0_length.to_le_bytes());
        b[12..16].copy_from_slice(&self.sge0_stag.to_le_bytes());
        b[16..24].copy_from_slice(&self.sge1_to.to_le_bytes());
        b[24..28].copy_from_slice(&self.sge1_length.to_le_bytes());
        b[28..32].copy_from_slice(&self.sge1_stag.to_le_bytes());
        b[32..40].copy_from_slice(&self.sge2_to.to_le_bytes());
        b[40..44].copy_from_slice(&self.sge2_length.to_le_bytes());
        b[44..48].copy_from_slice(&self.sge2_stag.to_le_bytes());
        b[48..56].copy_from_slice(&self.sge3_to.to_le_bytes());
        b[56..60].copy_from_slice(&self.sge3_length.to_le_bytes());
        b[60..64].copy_from_slice(&self.sge3_stag.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            sge0_to: u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            sge0_length: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            sge0_stag: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            sge1_to: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
            sge1_length: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            sge1_stag: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            sge2_to: u64::from_le_bytes([b[32], b[33], b[34], b[35], b[36], b[37], b[38], b[39]]),
            sge2_length: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            sge2_stag: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            sge3_to: u64::from_le_bytes([b[48], b[49], b[50], b[51], b[52], b[53], b[54], b[55]]),
            sge3_length: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            sge3_stag: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
        }
    }
}

/// One per received TCP segment of a known flow; comes after the FPDU reports of the same segment. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    /// 1
    pub kind: u8,
    /// bit 0 raw: the frame is in raw_slot; bit 1 timestamps present; bit 2 attached (after this segment); bit 3 wholly old data (duplicate), nothing done; bits 7:4 number of SACK blocks below (0 to 3)
    pub flags: u8,
    /// flow
    pub flow: u16,
    /// TCP sequence number
    pub seq: u32,
    /// TCP acknowledgment number
    pub ack: u32,
    /// TCP window field as received
    pub window: u16,
    /// TCP flags
    pub tcp_flags: u8,
    /// payload segments of this flow sent up raw, this one included, modulo 256
    pub raw_count: u8,
    /// TSval
    pub ts_val: u32,
    /// TSecr
    pub ts_ecr: u32,
    /// TCP payload bytes
    pub payload_len: u16,
    /// of these, from the front, bytes covered by FPDU reports without error (markers included)
    pub done_len: u16,
    /// raw slot
    pub raw_slot: u16,
    /// frame bytes in it
    pub raw_len: u16,
    /// SACK blocks
    pub sack0_left: u32,
    /// See the field before.
    pub sack0_right: u32,
    /// See the field before.
    pub sack1_left: u32,
    /// See the field before.
    pub sack1_right: u32,
    /// See the field before.
    pub sack2_left: u32,
    /// See the field before.
    pub sack2_right: u32,
    /// JOB_DONE when the report was written
    pub job_done: u32,
    /// bit 0: 1 on the first pass through the ring, then alternating; written last
    pub phase: u8,
}

impl SegmentReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..12].copy_from_slice(&self.ack.to_le_bytes());
        b[12..14].copy_from_slice(&self.window.to_le_bytes());
        b[14..15].copy_from_slice(&self.tcp_flags.to_le_bytes());
        b[15..16].copy_from_slice(&self.raw_count.to_le_bytes());
        b[16..20].copy_from_slice(&self.ts_val.to_le_bytes());
        b[20..24].copy_from_slice(&self.ts_ecr.to_le_bytes());
        b[24..26].copy_from_slice(&self.payload_len.to_le_bytes());
        b[26..28].copy_from_slice(&self.done_len.to_le_bytes());
        b[28..30].copy_from_slice(&self.raw_slot.to_le_bytes());
        b[30..32].copy_from_slice(&self.raw_len.to_le_bytes());
        b[32..36].copy_from_slice(&self.sack0_left.to_le_bytes());
        b[36..40].copy_from_slice(&self.sack0_right.to_le_bytes());
        b[40..44].copy_from_slice(&self.sack1_left.to_le_bytes());
        b[44..48].copy_from_slice(&self.sack1_right.to_le_bytes());
        b[48..52].copy_from_slice(&self.sack2_left.to_le_bytes());
        b[52..56].copy_from_slice(&self.sack2_right.to_le_bytes());
        b[56..60].copy_from_slice(&self.job_done.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ack: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            window: u16::from_le_bytes([b[12], b[13]]),
            tcp_flags: u8::from_le_bytes([b[14]]),
            raw_count: u8::from_le_bytes([b[15]]),
            ts_val: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            ts_ecr: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            payload_len: u16::from_le_bytes([b[24], b[25]]),
            done_len: u16::from_le_bytes([b[26], b[27]]),
            raw_slot: u16::from_le_bytes([b[28], b[29]]),
            raw_len: u16::from_le_bytes([b[30], b[31]]),
            sack0_left: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            sack0_right: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            sack1_left: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            sack1_right: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            sack2_left: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            sack2_right: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }
}

/// One per FPDU that the card framed, in stream order, before its segment's report. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FpduReport {
    /// 2
    pub kind: u8,
    /// bit 0 the header below is valid (it was long enough)
    pub flags: u8,
    /// flow
    pub flow: u16,
    /// TCP sequence number where the FPDU begins (its leading marker, if it has one)
    pub seq: u32,
    /// DDP control byte
    pub ddp_control: u8,
    /// RDMAP control byte
    pub rdmap_control: u8,
    /// 0 placed; 1 for the engine: an untagged FPDU of queue 1 to 3, correct, whose bytes are in the segment's raw frame; 2 error, see terminate
    pub verdict: u8,
    /// reserved
    pub pad: u8,
    /// ULPDU length
    pub ulpdu_len: u16,
    /// layer, type and code of the Terminate that the error calls for, as its first 16 bits read in wire order (0x1100 = DDP, tagged, invalid STag); 0 otherwise
    pub terminate: u16,
    /// STag (tagged) or queue number
    pub stag_or_qn: u32,
    /// MSN (untagged)
    pub msn: u32,
    /// TO (tagged) or MO
    pub to_or_mo: u64,
    /// untagged: the RDMAP part of RsvdULP
    pub rsvd_ulp: u32,
    /// DDP payload bytes; all of them are in host memory if the verdict is 'placed'
    pub payload_len: u32,
    /// where in the TCP payload the FPDU begins
    pub offset: u16,
    /// JOB_DONE when the report was written
    pub job_done: u32,
    /// as above
    pub phase: u8,
}

impl FpduReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..9].copy_from_slice(&self.ddp_control.to_le_bytes());
        b[9..10].copy_from_slice(&self.rdmap_control.to_le_bytes());
        b[10..11].copy_from_slice(&self.verdict.to_le_bytes());
        b[11..12].copy_from_slice(&self.pad.to_le_bytes());
        b[12..14].copy_from_slice(&self.ulpdu_len.to_le_bytes());
        b[14..16].copy_from_slice(&self.terminate.to_le_bytes());
        b[16..20].copy_from_slice(&self.stag_or_qn.to_le_bytes());
        b[20..24].copy_from_slice(&self.msn.to_le_bytes());
        b[24..32].copy_from_slice(&self.to_or_mo.to_le_bytes());
        b[32..36].copy_from_slice(&self.rsvd_ulp.to_le_bytes());
        b[36..40].copy_from_slice(&self.payload_len.to_le_bytes());
        b[40..42].copy_from_slice(&self.offset.to_le_bytes());
        b[56..60].copy_from_slice(&self.job_done.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ddp_control: u8::from_le_bytes([b[8]]),
            rdmap_control: u8::from_le_bytes([b[9]]),
            verdict: u8::from_le_bytes([b[10]]),
            pad: u8::from_le_bytes([b[11]]),
            ulpdu_len: u16::from_le_bytes([b[12], b[13]]),
            terminate: u16::from_le_bytes([b[14], b[15]]),
            stag_or_qn: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            msn: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            to_or_mo: u64::from_le_bytes([b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31]]),
            rsvd_ulp: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            payload_len: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            offset: u16::from_le_bytes([b[40], b[41]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }
}

/// A frame of no known flow, in the raw ring. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameReport {
    /// 3
    pub kind: u8,
    /// raw slot
    pub raw_slot: u16,
    /// frame bytes in it
    pub raw_len: u16,
    /// JOB_DONE when the report was written
    pub job_done: u32,
    /// as above
    pub phase: u8,
}

impl FrameReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[28..30].copy_from_slice(&self.raw_slot.to_le_bytes());
        b[30..32].copy_from_slice(&self.raw_len.to_le_bytes());
        b[56..60].copy_from_slice(&self.job_done.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            raw_slot: u16::from_le_bytes([b[28], b[29]]),
            raw_len: u16::from_le_bytes([b[30], b[31]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }
}

/// A job that asked for it is done, or a job failed. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobReport {
    /// 4
    pub kind: u8,
    /// 0 done; 1 malformed (kind, length, SGEs or flow row); 2 a DMA read was answered with an error, the frame concerned was not sent
    pub status: u8,
    /// flow of the job
    pub flow: u16,
    /// number of the job, counted from 0 since the ring was set up, modulo 2^32
    pub job: u32,
    /// JOB_DONE when the report was written
    pub job_done: u32,
    /// as above
    pub phase: u8,
}

impl JobReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.status.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.job.to_le_bytes());
        b[56..60].copy_from_slice(&self.job_done.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            status: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            job: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }
}

/// The first 64 bytes of a slot of the capture ring; the frame's bytes are behind it. It is written after them. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureHeader {
    /// bytes of the frame, without FCS
    pub length: u16,
    /// of these, in the slot
    pub captured: u16,
    /// bit 0 transmitted (else received), bit 1 the MAC flagged it bad
    pub flags: u8,
    /// frames of this direction left out since reset, when this one came
    pub lost: u32,
    /// the card's clock when the last beat of the frame passed the MAC's port
    pub clock: u64,
    /// bit 0: 1 on the first pass through the ring, then alternating; written last
    pub phase: u8,
}

impl CaptureHeader {
    /// Bytes of the record.
    pub const SIZE: usize = 64;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..2].copy_from_slice(&self.length.to_le_bytes());
        b[2..4].copy_from_slice(&self.captured.to_le_bytes());
        b[4..5].copy_from_slice(&self.flags.to_le_bytes());
        b[8..12].copy_from_slice(&self.lost.to_le_bytes());
        b[16..24].copy_from_slice(&self.clock.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            length: u16::from_le_bytes([b[0], b[1]]),
            captured: u16::from_le_bytes([b[2], b[3]]),
            flags: u8::from_le_bytes([b[4]]),
            lost: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            clock: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }
}

/// An event in the trace ring. Fields that an event does not use are 0, but for flow: 65535. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceEntry {
    /// trace_kind
    pub kind: u8,
    /// see trace_kind
    pub detail: u8,
    /// flow, or 65535
    pub flow: u16,
    /// see trace_kind
    pub value: u32,
    /// see trace_kind
    pub info: u16,
    /// clock at the event, bits 47:32
    pub time_hi: u16,
    /// clock at the event, bits 31:0
    pub time_lo: u32,
}

impl TraceEntry {
    /// Bytes of the record.
    pub const SIZE: usize = 16;

    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.detail.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.value.to_le_bytes());
        b[8..10].copy_from_slice(&self.info.to_le_bytes());
        b[10..12].copy_from_slice(&self.time_hi.to_le_bytes());
        b[12..16].copy_from_slice(&self.time_lo.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            detail: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            value: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            info: u16::from_le_bytes([b[8], b[9]]),
            time_hi: u16::from_le_bytes([b[10], b[11]]),
            time_lo: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
        }
    }
}
