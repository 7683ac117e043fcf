// Generated from rtl/pkg/card.toml by weft-layout-gen; do not edit.
//! Everything the host and the card must agree on: registers, doorbells, tables, counters, and the
//! records in host memory. `docs/registers.md` is the same as a page; `docs/card.md` says how they
//! work together.
#![no_std]
#![cfg_attr(rustfmt, rustfmt_skip)]

mod bulk;
mod count;
mod merge;
mod placed;
mod port;
mod register;

pub use bulk::is_bulk;
pub use count::count_near;
pub use merge::stands_for_both;
pub use port::{PORT_DOORBELLS, PORT_REGISTERS};
pub use register::{Doorbell, DoorbellArray, ReadOnly, ReadWrite, Register, RegisterArray, Writable};

/// The version a driver must find in the VERSION register.
pub const INTERFACE_VERSION: u32 = 6;

/// A flow takes one in so many of a ring's raw slots in a generation, for segments that are not walked.
pub const RAW_SHARE_PART: u32 = 4;

/// But so many at least, however small the ring.
pub const RAW_SHARE_LEAST: u32 = 8;

/// The card as a PCI function. Every BAR is 64-bit memory, not prefetchable.
pub mod pci {
    /// Vendor id; in nobody's hands.
    pub const VENDOR: u16 = 0xfffe;
    /// Device id.
    pub const DEVICE: u16 = 0x5746;
    /// Class, subclass and programming interface, 24 bits.
    pub const CLASS: u32 = 0x020000;
    /// Revision id: the interface version.
    pub const REVISION: u8 = 6;
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
    /// What this card was built with.
    pub const CAPS: u32 = 0x0008;
    /// No effect; for bring-up.
    pub const SCRATCH: u32 = 0x000c;
    /// What the card does. A write clears the sticky bits of STATUS.
    pub const CTRL: u32 = 0x0010;
    /// How the card is. Writing CTRL clears READ_ERROR and WRITE_ERROR.
    pub const STATUS: u32 = 0x0014;
    /// Longest Ethernet frame accepted, header included, FCS not; longer ones are dropped (rx_drop_oversize). 14 to 9216: a value outside becomes the nearest of these.
    pub const MTU: u32 = 0x0018;
    /// Value of MTU after reset.
    pub const MTU_RESET: u32 = 0x0000233a;
    /// Station address, bytes 0-3 of the wire order, byte 0 in bits 7:0.
    pub const MAC_LO: u32 = 0x0020;
    /// Station address, bytes 4-5. Frames neither to it nor to a group address are dropped (rx_drop_mac).
    pub const MAC_HI: u32 = 0x0024;
    /// What the hash of FLOW_KEY is keyed with, word 0 the low one: 128 bits, of which the highest counts for nothing. 0, as after reset: none. Written before rows of FLOW_KEY are: which row a key may be in depends on it.
    pub const HASH_SECRET: u32 = 0x0030;
    /// Number of words of HASH_SECRET.
    pub const HASH_SECRET_COUNT: u32 = 4;
    /// Job ring: IOVA, 128-byte aligned, low half.
    pub const JOB_BASE_LO: u32 = 0x0040;
    /// Job ring: IOVA, high half.
    pub const JOB_BASE_HI: u32 = 0x0044;
    /// log2 of the number of job slots (1 to 16). Writing it sets up the ring, at JOB_BASE as it is then: tail and done counts are 0, jobs that were posted before are forgotten.
    pub const JOB_LOG2: u32 = 0x0048;
    /// Jobs finished since the ring was set up, modulo 2^32: every byte they refer to has been read. Its low 24 bits are in every report: the host takes a report before it has posted 2^23 jobs more.
    pub const JOB_DONE: u32 = 0x004c;
    /// Slots of the push window (doorbell JOB_PUSH), a power of two. 0: the card has none.
    pub const JOB_PUSH: u32 = 0x0050;
    /// Payload bytes that a replay job may have at most. 0: the card has none; such a job is malformed.
    pub const JOB_REPLAY: u32 = 0x0054;
    /// Report ring: IOVA, 64-byte aligned, low half.
    pub const REPORT_BASE_LO: u32 = 0x0060;
    /// Report ring: IOVA, high half.
    pub const REPORT_BASE_HI: u32 = 0x0064;
    /// log2 of the number of report slots (1 to 16). Writing it sets up the ring, at REPORT_BASE as it is then: producer and consumer counts are 0, the phase is 1, no interrupt is asked for. Reports on their way go to the ring before, and are not counted (docs/card.md, Rings that are set up anew).
    pub const REPORT_LOG2: u32 = 0x0068;
    /// Reports written since the ring was set up, modulo 2^32.
    pub const REPORT_TAIL: u32 = 0x006c;
    /// How long an interrupt that REPORT_ARM_AFTER asked for waits for the next report: cycles since the last one, 16 bits. 0: it does not wait.
    pub const REPORT_GAP: u32 = 0x0070;
    /// Raw receive ring: IOVA, aligned to the slot size, low half.
    pub const RAW_BASE_LO: u32 = 0x0080;
    /// Raw receive ring: IOVA, high half.
    pub const RAW_BASE_HI: u32 = 0x0084;
    /// Shape of the raw receive ring; a value outside its range becomes the nearest inside. Writing it sets up the ring, at RAW_BASE as it is then: both counts are 0. Frames that have a slot go to the ring before, and are not counted. A frame longer than a slot is dropped (rx_drop_oversize).
    pub const RAW_LOG2: u32 = 0x0088;
    /// Raw frames written since the ring was set up, modulo 2^32.
    pub const RAW_TAIL: u32 = 0x008c;
    /// Raw slots that frames of no flow leave free, so that junk cannot take them from flows. Smaller than the number of slots.
    pub const RAW_RESERVE: u32 = 0x0090;
    /// Interrupt requests sent since reset.
    pub const MSIX_COUNT: u32 = 0x00a0;
    /// Writing a number begins a fence: FENCE_DONE takes this number when every placement that was checked against the tables as they were before this write has been answered by host memory. A number written while a fence is under way begins its fence when that one has ended, and stands for those it overwrote. Ends in bounded time whatever else arrives, as long as the host makes room for reports.
    pub const FENCE: u32 = 0x00a4;
    /// The number of the last fence that has ended. 0 at reset.
    pub const FENCE_DONE: u32 = 0x00a8;
    /// Frequency of the card's clock in kHz, as the board that was built for says (parameter CLOCK_KHZ).
    pub const CLOCK_KHZ: u32 = 0x00ac;
    /// Bits 63:32 of the counter whose low half was read last from COUNTERS; 0 unless its name ends in _bytes (those have 64 bits).
    pub const COUNTER_HI: u32 = 0x00b0;
    /// Ports of the card, 1 or 2: a port is a job ring, a report ring and a raw ring with their registers and doorbells, for one owner. 0 is 1.
    pub const PORTS: u32 = 0x00b4;
    /// Whose turn it is at TABLE_DATA and TABLE_CMD, where there are two ports. Reading takes it if the other port does not have it: 1, it is this port's; 0, it is not. Any value written by the port that has it gives it back. With one port it reads 0, and nobody has to ask.
    pub const TABLE_LOCK: u32 = 0x00b8;
    /// Islands of a flow: ranges of its stream beyond a gap that the card places and keeps account of (FLOW_RX bit beyond). 0: the bit has no effect.
    pub const ISLANDS: u32 = 0x00bc;
    /// Trace ring. Everything is on at reset.
    pub const TRACE_CTRL: u32 = 0x00c0;
    /// Value of TRACE_CTRL after reset.
    pub const TRACE_CTRL_RESET: u32 = 0x0000ffff;
    /// Events recorded since the ring was emptied, modulo 2^32. Event n is in entry n mod TRACE_SIZE, until event n + TRACE_SIZE takes its place.
    pub const TRACE_HEAD: u32 = 0x00c4;
    /// Events that came too fast to be recorded, since the ring was emptied.
    pub const TRACE_LOST: u32 = 0x00c8;
    /// Entries of the trace ring, a power of two, at most 1024. 0: the card was made without trace and capture; their registers are 0 and stay so.
    pub const TRACE_SIZE: u32 = 0x00cc;
    /// The clock of trace and capture, in cycles of the card, low half. Reading it keeps the high half for TIME_HI.
    pub const TIME_LO: u32 = 0x00d0;
    /// High half of the clock, as it was when TIME_LO was read.
    pub const TIME_HI: u32 = 0x00d4;
    /// Capture ring: IOVA, aligned to the slot size, low half.
    pub const CAPTURE_BASE_LO: u32 = 0x00e0;
    /// Capture ring: IOVA, high half.
    pub const CAPTURE_BASE_HI: u32 = 0x00e4;
    /// Shape of the capture ring. Writing it resets both counts to 0. Written only while RECEIVED, SENT and BUSY of CAPTURE_CTRL are 0, as the base.
    pub const CAPTURE_LOG2: u32 = 0x00e8;
    /// What is captured. With RECEIVED and SENT both 0, frames that were not yet begun to be written are forgotten; when BUSY is 0, too, the card has done with the ring's memory.
    pub const CAPTURE_CTRL: u32 = 0x00ec;
    /// Frames written to the capture ring since it was set up, modulo 2^32.
    pub const CAPTURE_TAIL: u32 = 0x00f0;
    /// Port 1, where there is one (a report ring of fewer than 128 slots is none): the rings' registers from JOB_BASE_LO to RAW_TAIL, and TABLE_LOCK, each 0x100 behind its like of port 0. RAW_LOG2 has COUNT alone: slots are as large as port 0's. A flow is of the port that its FLOW_RX row names; frames of no flow are port 0's, and have their RAW_RESERVE there. Without a port 1 they read 0.
    pub const PORT1: u32 = 0x0140;
    /// Number of words of PORT1.
    pub const PORT1_COUNT: u32 = 31;
    /// The row to write, or the row that was read: 16 words, word 0 holds bytes 0-3 of the row.
    pub const TABLE_DATA: u32 = 0x0200;
    /// Number of words of TABLE_DATA.
    pub const TABLE_DATA_COUNT: u32 = 16;
    /// Writing runs a table access at once. The write response comes when the access is done, so no polling is needed; reading tells how it went.
    pub const TABLE_CMD: u32 = 0x0240;
    /// The counters, in the order of the list below: wrapping, 32 bits, those whose name ends in _bytes 64 bits, with the high half in COUNTER_HI.
    pub const COUNTERS: u32 = 0x1000;
    /// Number of words of COUNTERS.
    pub const COUNTERS_COUNT: u32 = 256;
    /// ASCII 'WFCP', most significant byte first: the card has a control processor. 0: it has none, and its other registers are 0 too.
    pub const PROC_ID: u32 = 0x2000;
    /// Value of PROC_ID after reset.
    pub const PROC_ID_RESET: u32 = 0x57464350;
    /// Bytes of the processor's memory, a power of two.
    pub const PROC_MEMORY: u32 = 0x2004;
    /// Starts and stops it.
    pub const PROC_CTRL: u32 = 0x2008;
    /// How the processor is. Starting it clears REFUSED, CRASHED, WATCHDOG, HUNG and DMA_ERROR.
    pub const PROC_STATUS: u32 = 0x200c;
    /// With CRASHED: why, as RISC-V's mcause has it, or a value of proc_end.
    pub const PROC_CAUSE: u32 = 0x2010;
    /// The instruction that it is at, or, stopped by the watchdog, was at.
    pub const PROC_PC: u32 = 0x2014;
    /// Address in the processor's memory of the word that PROC_DATA is; a multiple of 4. It goes on by 4 with each writing of PROC_DATA.
    pub const PROC_ADDR: u32 = 0x2018;
    /// The word at PROC_ADDR, whether the processor runs or not. What is written while it is stopped goes into the checksum.
    pub const PROC_DATA: u32 = 0x201c;
    /// Written: the CRC32C that the words since LOAD are to have, in their order, low byte first. Read: the one that they have.
    pub const PROC_CHECK: u32 = 0x2020;
    /// Cycles that the firmware may be awake without a beat; 0: any. The first time it gets an interrupt that cannot be masked, the second time it is stopped.
    pub const PROC_WATCHDOG: u32 = 0x2024;
    /// The firmware's last beat: a count.
    pub const PROC_BEAT: u32 = 0x2028;
    /// Written: a command for the firmware, with an interrupt; without effect while the processor is stopped.
    pub const PROC_COMMAND: u32 = 0x202c;
    /// The word that the firmware gave last.
    pub const PROC_ANSWER: u32 = 0x2030;
    /// Cycles in which the processor was awake, since it was started; low half.
    pub const PROC_AWAKE_LO: u32 = 0x2034;
    /// The high half, as it was when PROC_AWAKE_LO was read.
    pub const PROC_AWAKE_HI: u32 = 0x2038;
    /// Written: there is something in queues that the firmware looks at, with an interrupt: a bit for each of them (proc_bell), besides those that were written before; without effect while the processor is stopped. Read: the bits that the firmware did not take since.
    pub const PROC_BELL: u32 = 0x203c;
    /// The processor's clock in kHz, which is the card's (CLOCK_KHZ) or slower: what its cycles are.
    pub const PROC_CLOCK: u32 = 0x2040;
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
        ("HASH_SECRET", 0x0030, 4),
        ("JOB_BASE_LO", 0x0040, 1),
        ("JOB_BASE_HI", 0x0044, 1),
        ("JOB_LOG2", 0x0048, 1),
        ("JOB_DONE", 0x004c, 1),
        ("JOB_PUSH", 0x0050, 1),
        ("JOB_REPLAY", 0x0054, 1),
        ("REPORT_BASE_LO", 0x0060, 1),
        ("REPORT_BASE_HI", 0x0064, 1),
        ("REPORT_LOG2", 0x0068, 1),
        ("REPORT_TAIL", 0x006c, 1),
        ("REPORT_GAP", 0x0070, 1),
        ("RAW_BASE_LO", 0x0080, 1),
        ("RAW_BASE_HI", 0x0084, 1),
        ("RAW_LOG2", 0x0088, 1),
        ("RAW_TAIL", 0x008c, 1),
        ("RAW_RESERVE", 0x0090, 1),
        ("MSIX_COUNT", 0x00a0, 1),
        ("FENCE", 0x00a4, 1),
        ("FENCE_DONE", 0x00a8, 1),
        ("CLOCK_KHZ", 0x00ac, 1),
        ("COUNTER_HI", 0x00b0, 1),
        ("PORTS", 0x00b4, 1),
        ("TABLE_LOCK", 0x00b8, 1),
        ("ISLANDS", 0x00bc, 1),
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
        ("PORT1", 0x0140, 31),
        ("TABLE_DATA", 0x0200, 16),
        ("TABLE_CMD", 0x0240, 1),
        ("COUNTERS", 0x1000, 256),
        ("PROC_ID", 0x2000, 1),
        ("PROC_MEMORY", 0x2004, 1),
        ("PROC_CTRL", 0x2008, 1),
        ("PROC_STATUS", 0x200c, 1),
        ("PROC_CAUSE", 0x2010, 1),
        ("PROC_PC", 0x2014, 1),
        ("PROC_ADDR", 0x2018, 1),
        ("PROC_DATA", 0x201c, 1),
        ("PROC_CHECK", 0x2020, 1),
        ("PROC_WATCHDOG", 0x2024, 1),
        ("PROC_BEAT", 0x2028, 1),
        ("PROC_COMMAND", 0x202c, 1),
        ("PROC_ANSWER", 0x2030, 1),
        ("PROC_AWAKE_LO", 0x2034, 1),
        ("PROC_AWAKE_HI", 0x2038, 1),
        ("PROC_BELL", 0x203c, 1),
        ("PROC_CLOCK", 0x2040, 1),
        ("TRACE", 0x4000, 4096),
    ];
    /// What each register of `ALL` is, and whether the host may write it.
    pub const MEANING: &[(&str, bool)] = &[
        ("ASCII 'WEFT', most significant byte first. All ones here means that the device does not answer.", false),
        ("Interface version of this description; a driver refuses another one.", false),
        ("What this card was built with.", false),
        ("No effect; for bring-up.", true),
        ("What the card does. A write clears the sticky bits of STATUS.", true),
        ("How the card is. Writing CTRL clears READ_ERROR and WRITE_ERROR.", false),
        ("Longest Ethernet frame accepted, header included, FCS not; longer ones are dropped (rx_drop_oversize). 14 to 9216: a value outside becomes the nearest of these.", true),
        ("Station address, bytes 0-3 of the wire order, byte 0 in bits 7:0.", true),
        ("Station address, bytes 4-5. Frames neither to it nor to a group address are dropped (rx_drop_mac).", true),
        ("What the hash of FLOW_KEY is keyed with, word 0 the low one: 128 bits, of which the highest counts for nothing. 0, as after reset: none. Written before rows of FLOW_KEY are: which row a key may be in depends on it.", true),
        ("Job ring: IOVA, 128-byte aligned, low half.", true),
        ("Job ring: IOVA, high half.", true),
        ("log2 of the number of job slots (1 to 16). Writing it sets up the ring, at JOB_BASE as it is then: tail and done counts are 0, jobs that were posted before are forgotten.", true),
        ("Jobs finished since the ring was set up, modulo 2^32: every byte they refer to has been read. Its low 24 bits are in every report: the host takes a report before it has posted 2^23 jobs more.", false),
        ("Slots of the push window (doorbell JOB_PUSH), a power of two. 0: the card has none.", false),
        ("Payload bytes that a replay job may have at most. 0: the card has none; such a job is malformed.", false),
        ("Report ring: IOVA, 64-byte aligned, low half.", true),
        ("Report ring: IOVA, high half.", true),
        ("log2 of the number of report slots (1 to 16). Writing it sets up the ring, at REPORT_BASE as it is then: producer and consumer counts are 0, the phase is 1, no interrupt is asked for. Reports on their way go to the ring before, and are not counted (docs/card.md, Rings that are set up anew).", true),
        ("Reports written since the ring was set up, modulo 2^32.", false),
        ("How long an interrupt that REPORT_ARM_AFTER asked for waits for the next report: cycles since the last one, 16 bits. 0: it does not wait.", true),
        ("Raw receive ring: IOVA, aligned to the slot size, low half.", true),
        ("Raw receive ring: IOVA, high half.", true),
        ("Shape of the raw receive ring; a value outside its range becomes the nearest inside. Writing it sets up the ring, at RAW_BASE as it is then: both counts are 0. Frames that have a slot go to the ring before, and are not counted. A frame longer than a slot is dropped (rx_drop_oversize).", true),
        ("Raw frames written since the ring was set up, modulo 2^32.", false),
        ("Raw slots that frames of no flow leave free, so that junk cannot take them from flows. Smaller than the number of slots.", true),
        ("Interrupt requests sent since reset.", false),
        ("Writing a number begins a fence: FENCE_DONE takes this number when every placement that was checked against the tables as they were before this write has been answered by host memory. A number written while a fence is under way begins its fence when that one has ended, and stands for those it overwrote. Ends in bounded time whatever else arrives, as long as the host makes room for reports.", true),
        ("The number of the last fence that has ended. 0 at reset.", false),
        ("Frequency of the card's clock in kHz, as the board that was built for says (parameter CLOCK_KHZ).", false),
        ("Bits 63:32 of the counter whose low half was read last from COUNTERS; 0 unless its name ends in _bytes (those have 64 bits).", false),
        ("Ports of the card, 1 or 2: a port is a job ring, a report ring and a raw ring with their registers and doorbells, for one owner. 0 is 1.", false),
        ("Whose turn it is at TABLE_DATA and TABLE_CMD, where there are two ports. Reading takes it if the other port does not have it: 1, it is this port's; 0, it is not. Any value written by the port that has it gives it back. With one port it reads 0, and nobody has to ask.", true),
        ("Islands of a flow: ranges of its stream beyond a gap that the card places and keeps account of (FLOW_RX bit beyond). 0: the bit has no effect.", false),
        ("Trace ring. Everything is on at reset.", true),
        ("Events recorded since the ring was emptied, modulo 2^32. Event n is in entry n mod TRACE_SIZE, until event n + TRACE_SIZE takes its place.", false),
        ("Events that came too fast to be recorded, since the ring was emptied.", false),
        ("Entries of the trace ring, a power of two, at most 1024. 0: the card was made without trace and capture; their registers are 0 and stay so.", false),
        ("The clock of trace and capture, in cycles of the card, low half. Reading it keeps the high half for TIME_HI.", false),
        ("High half of the clock, as it was when TIME_LO was read.", false),
        ("Capture ring: IOVA, aligned to the slot size, low half.", true),
        ("Capture ring: IOVA, high half.", true),
        ("Shape of the capture ring. Writing it resets both counts to 0. Written only while RECEIVED, SENT and BUSY of CAPTURE_CTRL are 0, as the base.", true),
        ("What is captured. With RECEIVED and SENT both 0, frames that were not yet begun to be written are forgotten; when BUSY is 0, too, the card has done with the ring's memory.", true),
        ("Frames written to the capture ring since it was set up, modulo 2^32.", false),
        ("Port 1, where there is one (a report ring of fewer than 128 slots is none): the rings' registers from JOB_BASE_LO to RAW_TAIL, and TABLE_LOCK, each 0x100 behind its like of port 0. RAW_LOG2 has COUNT alone: slots are as large as port 0's. A flow is of the port that its FLOW_RX row names; frames of no flow are port 0's, and have their RAW_RESERVE there. Without a port 1 they read 0.", true),
        ("The row to write, or the row that was read: 16 words, word 0 holds bytes 0-3 of the row.", true),
        ("Writing runs a table access at once. The write response comes when the access is done, so no polling is needed; reading tells how it went.", true),
        ("The counters, in the order of the list below: wrapping, 32 bits, those whose name ends in _bytes 64 bits, with the high half in COUNTER_HI.", false),
        ("ASCII 'WFCP', most significant byte first: the card has a control processor. 0: it has none, and its other registers are 0 too.", false),
        ("Bytes of the processor's memory, a power of two.", false),
        ("Starts and stops it.", true),
        ("How the processor is. Starting it clears REFUSED, CRASHED, WATCHDOG, HUNG and DMA_ERROR.", false),
        ("With CRASHED: why, as RISC-V's mcause has it, or a value of proc_end.", false),
        ("The instruction that it is at, or, stopped by the watchdog, was at.", false),
        ("Address in the processor's memory of the word that PROC_DATA is; a multiple of 4. It goes on by 4 with each writing of PROC_DATA.", true),
        ("The word at PROC_ADDR, whether the processor runs or not. What is written while it is stopped goes into the checksum.", true),
        ("Written: the CRC32C that the words since LOAD are to have, in their order, low byte first. Read: the one that they have.", true),
        ("Cycles that the firmware may be awake without a beat; 0: any. The first time it gets an interrupt that cannot be masked, the second time it is stopped.", true),
        ("The firmware's last beat: a count.", false),
        ("Written: a command for the firmware, with an interrupt; without effect while the processor is stopped.", true),
        ("The word that the firmware gave last.", false),
        ("Cycles in which the processor was awake, since it was started; low half.", false),
        ("The high half, as it was when PROC_AWAKE_LO was read.", false),
        ("Written: there is something in queues that the firmware looks at, with an interrupt: a bit for each of them (proc_bell), besides those that were written before; without effect while the processor is stopped. Read: the bits that the firmware did not take since.", true),
        ("The processor's clock in kHz, which is the card's (CLOCK_KHZ) or slower: what its cycles are.", false),
        ("The trace ring: entry n is the four words from 4 n (see trace_entry); entries beyond TRACE_SIZE repeat.", false),
    ];

    /// Some bits of a register: for those who print registers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bits {
        /// The name.
        pub name: &'static str,
        /// The lowest of them.
        pub shift: u32,
        /// How many.
        pub width: u32,
        /// What they say.
        pub doc: &'static str,
    }

    impl Bits {
        /// Their value in that of the register.
        pub const fn of(&self, register: u32) -> u32 {
            register >> self.shift & u32::MAX >> (32 - self.width)
        }
    }

    /// The bits of each register of `ALL`, as they are read.
    pub const BITS: &[&[Bits]] = &[
        &[],
        &[],
        &[
            Bits { name: "DATA_BYTES", shift: 0, width: 8, doc: "DATA_W/8: bytes of the data path" },
            Bits { name: "FLOWS_LOG2", shift: 8, width: 8, doc: "log2(NUM_FLOWS)" },
            Bits { name: "STAGS_LOG2", shift: 16, width: 8, doc: "log2(NUM_STAGS)" },
            Bits { name: "VECTORS", shift: 24, width: 8, doc: "number of MSI-X vectors" },
        ],
        &[],
        &[
            Bits { name: "JOBS", shift: 0, width: 1, doc: "job fetch is on" },
            Bits { name: "RECEIVE", shift: 1, width: 1, doc: "receive is on; frames that arrive while it is off are dropped (rx_drop_disabled)" },
            Bits { name: "LOOPBACK", shift: 2, width: 1, doc: "MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored" },
            Bits { name: "RESET", shift: 31, width: 1, doc: "writing 1 is a soft reset: the card lets what is under way end, drops the rest, and is as after power-on but for this register block answering all the while; reads 0" },
        ],
        &[
            Bits { name: "QUIESCENT", shift: 0, width: 1, doc: "nothing is under way" },
            Bits { name: "READ_ERROR", shift: 1, width: 1, doc: "sticky: a DMA read was answered with an error" },
            Bits { name: "WRITE_ERROR", shift: 2, width: 1, doc: "sticky: a DMA write was answered with an error" },
            Bits { name: "RESETTING", shift: 3, width: 1, doc: "a reset is under way: writes of all registers but SCRATCH are without effect" },
            Bits { name: "REPORT_FAILED", shift: 4, width: 1, doc: "until reset: the write of a report failed, the report ring is broken, nothing more is reported, only a reset helps" },
            Bits { name: "PORT1_FAILED", shift: 5, width: 1, doc: "the same, of port 1's report ring" },
        ],
        &[],
        &[],
        &[
            Bits { name: "MAC", shift: 0, width: 16, doc: "bytes 4-5 of the wire order, byte 4 in bits 7:0" },
            Bits { name: "PROMISCUOUS", shift: 31, width: 1, doc: "frames to any address are kept" },
        ],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[
            Bits { name: "SLOT", shift: 0, width: 8, doc: "log2 of the slot size in bytes (11 to 14)" },
            Bits { name: "COUNT", shift: 8, width: 8, doc: "log2 of the number of slots (1 to 12)" },
        ],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[
            Bits { name: "KINDS", shift: 0, width: 16, doc: "bit k: events of kind k (trace_kind) are recorded" },
            Bits { name: "FREEZE", shift: 16, width: 1, doc: "nothing is recorded" },
            Bits { name: "CLEAR", shift: 31, width: 1, doc: "writing 1 empties the ring; reads 0" },
        ],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[
            Bits { name: "SLOT", shift: 0, width: 8, doc: "log2 of the slot size in bytes (7 to 14)" },
            Bits { name: "COUNT", shift: 8, width: 8, doc: "log2 of the number of slots (1 to 16)" },
        ],
        &[
            Bits { name: "RECEIVED", shift: 0, width: 1, doc: "received frames are captured" },
            Bits { name: "SENT", shift: 1, width: 1, doc: "transmitted frames are captured" },
            Bits { name: "BUSY", shift: 2, width: 1, doc: "a frame is being written (read only)" },
            Bits { name: "SNAP", shift: 16, width: 16, doc: "bytes of a frame that are kept at most" },
        ],
        &[],
        &[],
        &[],
        &[
            Bits { name: "REFUSED", shift: 0, width: 1, doc: "the last access was refused (no such table or index) or, for an ATTACH, was not applied" },
        ],
        &[],
        &[],
        &[],
        &[
            Bits { name: "RUN", shift: 0, width: 1, doc: "1: it runs, from its reset on; refused (PROC_STATUS) unless PROC_CHECK was right for what is loaded. 0: it is held in reset; its memory stays as it is, and can be read" },
            Bits { name: "LOAD", shift: 1, width: 1, doc: "writing 1 while it is stopped begins a load: the checksum is that of no word; reads 0" },
            Bits { name: "HALT", shift: 2, width: 1, doc: "with RUN: it goes to its debug monitor, and again until this is 0 (RISC-V debug mode, docs/processor.md)" },
        ],
        &[
            Bits { name: "RUNNING", shift: 0, width: 1, doc: "it is not held in reset" },
            Bits { name: "ASLEEP", shift: 1, width: 1, doc: "it waits for an interrupt: nothing happens until one" },
            Bits { name: "LOADED", shift: 2, width: 1, doc: "what is loaded has the checksum that was told; starting it clears this, for a firmware changes its memory: each start needs a load" },
            Bits { name: "REFUSED", shift: 3, width: 1, doc: "it was asked to run what was not LOADED" },
            Bits { name: "CRASHED", shift: 4, width: 1, doc: "its firmware told of its end: PROC_CAUSE, and the dump in its memory; it is stopped" },
            Bits { name: "WATCHDOG", shift: 5, width: 1, doc: "the watchdog went off" },
            Bits { name: "HUNG", shift: 6, width: 1, doc: "the watchdog went off twice: the firmware could not tell of its end, and was stopped where it was (PROC_PC)" },
            Bits { name: "DMA_BUSY", shift: 7, width: 1, doc: "its DMA engine has an access to host memory under way" },
            Bits { name: "DMA_ERROR", shift: 8, width: 1, doc: "host memory answered one in error" },
        ],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[
            Bits { name: "WAITING", shift: 0, width: 1, doc: "the firmware did not take it yet" },
            Bits { name: "OPEN", shift: 1, width: 1, doc: "the firmware did not answer it yet" },
        ],
        &[],
        &[],
        &[],
        &[],
        &[],
        &[],
    ];

    /// The value of CAPS.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Caps(pub u32);

    impl Caps {
        /// Bits 7:0: DATA_W/8: bytes of the data path.
        pub const DATA_BYTES_MASK: u32 = 0xff;
        /// The lowest of them.
        pub const DATA_BYTES_SHIFT: u32 = 0;
        /// Bits 15:8: log2(NUM_FLOWS).
        pub const FLOWS_LOG2_MASK: u32 = 0xff00;
        /// The lowest of them.
        pub const FLOWS_LOG2_SHIFT: u32 = 8;
        /// Bits 23:16: log2(NUM_STAGS).
        pub const STAGS_LOG2_MASK: u32 = 0xff0000;
        /// The lowest of them.
        pub const STAGS_LOG2_SHIFT: u32 = 16;
        /// Bits 31:24: number of MSI-X vectors.
        pub const VECTORS_MASK: u32 = 0xff000000;
        /// The lowest of them.
        pub const VECTORS_SHIFT: u32 = 24;

        /// Bits 7:0: DATA_W/8: bytes of the data path.
        pub const fn data_bytes(&self) -> u8 {
            (self.0 & Self::DATA_BYTES_MASK) as u8
        }

        /// The same with this data_bytes.
        #[must_use]
        pub const fn with_data_bytes(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::DATA_BYTES_MASK | (value as u32) & Self::DATA_BYTES_MASK;
            self
        }

        /// Bits 15:8: log2(NUM_FLOWS).
        pub const fn flows_log2(&self) -> u8 {
            ((self.0 & Self::FLOWS_LOG2_MASK) >> Self::FLOWS_LOG2_SHIFT) as u8
        }

        /// The same with this flows_log2.
        #[must_use]
        pub const fn with_flows_log2(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::FLOWS_LOG2_MASK | (value as u32) << Self::FLOWS_LOG2_SHIFT & Self::FLOWS_LOG2_MASK;
            self
        }

        /// Bits 23:16: log2(NUM_STAGS).
        pub const fn stags_log2(&self) -> u8 {
            ((self.0 & Self::STAGS_LOG2_MASK) >> Self::STAGS_LOG2_SHIFT) as u8
        }

        /// The same with this stags_log2.
        #[must_use]
        pub const fn with_stags_log2(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::STAGS_LOG2_MASK | (value as u32) << Self::STAGS_LOG2_SHIFT & Self::STAGS_LOG2_MASK;
            self
        }

        /// Bits 31:24: number of MSI-X vectors.
        pub const fn vectors(&self) -> u8 {
            ((self.0 & Self::VECTORS_MASK) >> Self::VECTORS_SHIFT) as u8
        }

        /// The same with this vectors.
        #[must_use]
        pub const fn with_vectors(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::VECTORS_MASK | (value as u32) << Self::VECTORS_SHIFT & Self::VECTORS_MASK;
            self
        }
    }

    impl From<u32> for Caps {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<Caps> for u32 {
        fn from(value: Caps) -> u32 {
            value.0
        }
    }

    /// The value of CTRL.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Ctrl(pub u32);

    impl Ctrl {
        /// Bit 0: job fetch is on.
        pub const JOBS: u32 = 0x1;
        /// Bit 1: receive is on; frames that arrive while it is off are dropped (rx_drop_disabled).
        pub const RECEIVE: u32 = 0x2;
        /// Bit 2: MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored.
        pub const LOOPBACK: u32 = 0x4;
        /// Bit 31: writing 1 is a soft reset: the card lets what is under way end, drops the rest, and is as after power-on but for this register block answering all the while; reads 0.
        pub const RESET: u32 = 0x80000000;

        /// Bit 0: job fetch is on.
        pub const fn jobs(&self) -> bool {
            self.0 & Self::JOBS != 0
        }

        /// The same with jobs set or clear.
        #[must_use]
        pub const fn with_jobs(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::JOBS | if on { Self::JOBS } else { 0 };
            self
        }

        /// Bit 1: receive is on; frames that arrive while it is off are dropped (rx_drop_disabled).
        pub const fn receive(&self) -> bool {
            self.0 & Self::RECEIVE != 0
        }

        /// The same with receive set or clear.
        #[must_use]
        pub const fn with_receive(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RECEIVE | if on { Self::RECEIVE } else { 0 };
            self
        }

        /// Bit 2: MAC loopback: what the card sends goes to its own receive path, the MAC gets nothing and its frames are ignored.
        pub const fn loopback(&self) -> bool {
            self.0 & Self::LOOPBACK != 0
        }

        /// The same with loopback set or clear.
        #[must_use]
        pub const fn with_loopback(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::LOOPBACK | if on { Self::LOOPBACK } else { 0 };
            self
        }

        /// Bit 31: writing 1 is a soft reset: the card lets what is under way end, drops the rest, and is as after power-on but for this register block answering all the while; reads 0.
        pub const fn reset(&self) -> bool {
            self.0 & Self::RESET != 0
        }

        /// The same with reset set or clear.
        #[must_use]
        pub const fn with_reset(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RESET | if on { Self::RESET } else { 0 };
            self
        }
    }

    impl From<u32> for Ctrl {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<Ctrl> for u32 {
        fn from(value: Ctrl) -> u32 {
            value.0
        }
    }

    /// The value of STATUS.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Status(pub u32);

    impl Status {
        /// Bit 0: nothing is under way.
        pub const QUIESCENT: u32 = 0x1;
        /// Bit 1: sticky: a DMA read was answered with an error.
        pub const READ_ERROR: u32 = 0x2;
        /// Bit 2: sticky: a DMA write was answered with an error.
        pub const WRITE_ERROR: u32 = 0x4;
        /// Bit 3: a reset is under way: writes of all registers but SCRATCH are without effect.
        pub const RESETTING: u32 = 0x8;
        /// Bit 4: until reset: the write of a report failed, the report ring is broken, nothing more is reported, only a reset helps.
        pub const REPORT_FAILED: u32 = 0x10;
        /// Bit 5: the same, of port 1's report ring.
        pub const PORT1_FAILED: u32 = 0x20;

        /// Bit 0: nothing is under way.
        pub const fn quiescent(&self) -> bool {
            self.0 & Self::QUIESCENT != 0
        }

        /// The same with quiescent set or clear.
        #[must_use]
        pub const fn with_quiescent(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::QUIESCENT | if on { Self::QUIESCENT } else { 0 };
            self
        }

        /// Bit 1: sticky: a DMA read was answered with an error.
        pub const fn read_error(&self) -> bool {
            self.0 & Self::READ_ERROR != 0
        }

        /// The same with read_error set or clear.
        #[must_use]
        pub const fn with_read_error(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::READ_ERROR | if on { Self::READ_ERROR } else { 0 };
            self
        }

        /// Bit 2: sticky: a DMA write was answered with an error.
        pub const fn write_error(&self) -> bool {
            self.0 & Self::WRITE_ERROR != 0
        }

        /// The same with write_error set or clear.
        #[must_use]
        pub const fn with_write_error(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::WRITE_ERROR | if on { Self::WRITE_ERROR } else { 0 };
            self
        }

        /// Bit 3: a reset is under way: writes of all registers but SCRATCH are without effect.
        pub const fn resetting(&self) -> bool {
            self.0 & Self::RESETTING != 0
        }

        /// The same with resetting set or clear.
        #[must_use]
        pub const fn with_resetting(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RESETTING | if on { Self::RESETTING } else { 0 };
            self
        }

        /// Bit 4: until reset: the write of a report failed, the report ring is broken, nothing more is reported, only a reset helps.
        pub const fn report_failed(&self) -> bool {
            self.0 & Self::REPORT_FAILED != 0
        }

        /// The same with report_failed set or clear.
        #[must_use]
        pub const fn with_report_failed(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::REPORT_FAILED | if on { Self::REPORT_FAILED } else { 0 };
            self
        }

        /// Bit 5: the same, of port 1's report ring.
        pub const fn port1_failed(&self) -> bool {
            self.0 & Self::PORT1_FAILED != 0
        }

        /// The same with port1_failed set or clear.
        #[must_use]
        pub const fn with_port1_failed(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::PORT1_FAILED | if on { Self::PORT1_FAILED } else { 0 };
            self
        }
    }

    impl From<u32> for Status {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<Status> for u32 {
        fn from(value: Status) -> u32 {
            value.0
        }
    }

    /// The value of MAC_HI.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MacHi(pub u32);

    impl MacHi {
        /// Bits 15:0: bytes 4-5 of the wire order, byte 4 in bits 7:0.
        pub const MAC_MASK: u32 = 0xffff;
        /// The lowest of them.
        pub const MAC_SHIFT: u32 = 0;
        /// Bit 31: frames to any address are kept.
        pub const PROMISCUOUS: u32 = 0x80000000;

        /// Bits 15:0: bytes 4-5 of the wire order, byte 4 in bits 7:0.
        pub const fn mac(&self) -> u16 {
            (self.0 & Self::MAC_MASK) as u16
        }

        /// The same with this mac.
        #[must_use]
        pub const fn with_mac(mut self, value: u16) -> Self {
            self.0 = self.0 & !Self::MAC_MASK | (value as u32) & Self::MAC_MASK;
            self
        }

        /// Bit 31: frames to any address are kept.
        pub const fn promiscuous(&self) -> bool {
            self.0 & Self::PROMISCUOUS != 0
        }

        /// The same with promiscuous set or clear.
        #[must_use]
        pub const fn with_promiscuous(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::PROMISCUOUS | if on { Self::PROMISCUOUS } else { 0 };
            self
        }
    }

    impl From<u32> for MacHi {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<MacHi> for u32 {
        fn from(value: MacHi) -> u32 {
            value.0
        }
    }

    /// The value of RAW_LOG2.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RawLog2(pub u32);

    impl RawLog2 {
        /// Bits 7:0: log2 of the slot size in bytes (11 to 14).
        pub const SLOT_MASK: u32 = 0xff;
        /// The lowest of them.
        pub const SLOT_SHIFT: u32 = 0;
        /// Bits 15:8: log2 of the number of slots (1 to 12).
        pub const COUNT_MASK: u32 = 0xff00;
        /// The lowest of them.
        pub const COUNT_SHIFT: u32 = 8;

        /// Bits 7:0: log2 of the slot size in bytes (11 to 14).
        pub const fn slot(&self) -> u8 {
            (self.0 & Self::SLOT_MASK) as u8
        }

        /// The same with this slot.
        #[must_use]
        pub const fn with_slot(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::SLOT_MASK | (value as u32) & Self::SLOT_MASK;
            self
        }

        /// Bits 15:8: log2 of the number of slots (1 to 12).
        pub const fn count(&self) -> u8 {
            ((self.0 & Self::COUNT_MASK) >> Self::COUNT_SHIFT) as u8
        }

        /// The same with this count.
        #[must_use]
        pub const fn with_count(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::COUNT_MASK | (value as u32) << Self::COUNT_SHIFT & Self::COUNT_MASK;
            self
        }
    }

    impl From<u32> for RawLog2 {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<RawLog2> for u32 {
        fn from(value: RawLog2) -> u32 {
            value.0
        }
    }

    /// The value of TRACE_CTRL.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TraceCtrl(pub u32);

    impl TraceCtrl {
        /// Bits 15:0: bit k: events of kind k (trace_kind) are recorded.
        pub const KINDS_MASK: u32 = 0xffff;
        /// The lowest of them.
        pub const KINDS_SHIFT: u32 = 0;
        /// Bit 16: nothing is recorded.
        pub const FREEZE: u32 = 0x10000;
        /// Bit 31: writing 1 empties the ring; reads 0.
        pub const CLEAR: u32 = 0x80000000;

        /// Bits 15:0: bit k: events of kind k (trace_kind) are recorded.
        pub const fn kinds(&self) -> u16 {
            (self.0 & Self::KINDS_MASK) as u16
        }

        /// The same with this kinds.
        #[must_use]
        pub const fn with_kinds(mut self, value: u16) -> Self {
            self.0 = self.0 & !Self::KINDS_MASK | (value as u32) & Self::KINDS_MASK;
            self
        }

        /// Bit 16: nothing is recorded.
        pub const fn freeze(&self) -> bool {
            self.0 & Self::FREEZE != 0
        }

        /// The same with freeze set or clear.
        #[must_use]
        pub const fn with_freeze(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::FREEZE | if on { Self::FREEZE } else { 0 };
            self
        }

        /// Bit 31: writing 1 empties the ring; reads 0.
        pub const fn clear(&self) -> bool {
            self.0 & Self::CLEAR != 0
        }

        /// The same with clear set or clear.
        #[must_use]
        pub const fn with_clear(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::CLEAR | if on { Self::CLEAR } else { 0 };
            self
        }
    }

    impl From<u32> for TraceCtrl {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<TraceCtrl> for u32 {
        fn from(value: TraceCtrl) -> u32 {
            value.0
        }
    }

    /// The value of CAPTURE_LOG2.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CaptureLog2(pub u32);

    impl CaptureLog2 {
        /// Bits 7:0: log2 of the slot size in bytes (7 to 14).
        pub const SLOT_MASK: u32 = 0xff;
        /// The lowest of them.
        pub const SLOT_SHIFT: u32 = 0;
        /// Bits 15:8: log2 of the number of slots (1 to 16).
        pub const COUNT_MASK: u32 = 0xff00;
        /// The lowest of them.
        pub const COUNT_SHIFT: u32 = 8;

        /// Bits 7:0: log2 of the slot size in bytes (7 to 14).
        pub const fn slot(&self) -> u8 {
            (self.0 & Self::SLOT_MASK) as u8
        }

        /// The same with this slot.
        #[must_use]
        pub const fn with_slot(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::SLOT_MASK | (value as u32) & Self::SLOT_MASK;
            self
        }

        /// Bits 15:8: log2 of the number of slots (1 to 16).
        pub const fn count(&self) -> u8 {
            ((self.0 & Self::COUNT_MASK) >> Self::COUNT_SHIFT) as u8
        }

        /// The same with this count.
        #[must_use]
        pub const fn with_count(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::COUNT_MASK | (value as u32) << Self::COUNT_SHIFT & Self::COUNT_MASK;
            self
        }
    }

    impl From<u32> for CaptureLog2 {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<CaptureLog2> for u32 {
        fn from(value: CaptureLog2) -> u32 {
            value.0
        }
    }

    /// The value of CAPTURE_CTRL.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CaptureCtrl(pub u32);

    impl CaptureCtrl {
        /// Bit 0: received frames are captured.
        pub const RECEIVED: u32 = 0x1;
        /// Bit 1: transmitted frames are captured.
        pub const SENT: u32 = 0x2;
        /// Bit 2: a frame is being written (read only).
        pub const BUSY: u32 = 0x4;
        /// Bits 31:16: bytes of a frame that are kept at most.
        pub const SNAP_MASK: u32 = 0xffff0000;
        /// The lowest of them.
        pub const SNAP_SHIFT: u32 = 16;

        /// Bit 0: received frames are captured.
        pub const fn received(&self) -> bool {
            self.0 & Self::RECEIVED != 0
        }

        /// The same with received set or clear.
        #[must_use]
        pub const fn with_received(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RECEIVED | if on { Self::RECEIVED } else { 0 };
            self
        }

        /// Bit 1: transmitted frames are captured.
        pub const fn sent(&self) -> bool {
            self.0 & Self::SENT != 0
        }

        /// The same with sent set or clear.
        #[must_use]
        pub const fn with_sent(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::SENT | if on { Self::SENT } else { 0 };
            self
        }

        /// Bit 2: a frame is being written (read only).
        pub const fn busy(&self) -> bool {
            self.0 & Self::BUSY != 0
        }

        /// The same with busy set or clear.
        #[must_use]
        pub const fn with_busy(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::BUSY | if on { Self::BUSY } else { 0 };
            self
        }

        /// Bits 31:16: bytes of a frame that are kept at most.
        pub const fn snap(&self) -> u16 {
            ((self.0 & Self::SNAP_MASK) >> Self::SNAP_SHIFT) as u16
        }

        /// The same with this snap.
        #[must_use]
        pub const fn with_snap(mut self, value: u16) -> Self {
            self.0 = self.0 & !Self::SNAP_MASK | (value as u32) << Self::SNAP_SHIFT & Self::SNAP_MASK;
            self
        }
    }

    impl From<u32> for CaptureCtrl {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<CaptureCtrl> for u32 {
        fn from(value: CaptureCtrl) -> u32 {
            value.0
        }
    }

    /// The value of TABLE_CMD.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TableCmd(pub u32);

    impl TableCmd {
        /// Bits 23:0: index of the row.
        pub const INDEX_MASK: u32 = 0xffffff;
        /// The lowest of them.
        pub const INDEX_SHIFT: u32 = 0;
        /// Bits 27:24: number of the table.
        pub const TABLE_MASK: u32 = 0xf000000;
        /// The lowest of them.
        pub const TABLE_SHIFT: u32 = 24;
        /// Bits 31:28: what is done with it; another value does nothing.
        pub const OPERATION_MASK: u32 = 0xf0000000;
        /// The lowest of them.
        pub const OPERATION_SHIFT: u32 = 28;

        /// Bits 23:0: index of the row.
        pub const fn index(&self) -> u32 {
            self.0 & Self::INDEX_MASK
        }

        /// The same with this index.
        #[must_use]
        pub const fn with_index(mut self, value: u32) -> Self {
            self.0 = self.0 & !Self::INDEX_MASK | value & Self::INDEX_MASK;
            self
        }

        /// Bits 27:24: number of the table.
        pub const fn table(&self) -> u8 {
            ((self.0 & Self::TABLE_MASK) >> Self::TABLE_SHIFT) as u8
        }

        /// The same with this table.
        #[must_use]
        pub const fn with_table(mut self, value: u8) -> Self {
            self.0 = self.0 & !Self::TABLE_MASK | (value as u32) << Self::TABLE_SHIFT & Self::TABLE_MASK;
            self
        }

        /// Bits 31:28: what is done with it; another value does nothing.
        pub fn operation(&self) -> Result<super::TableOperation, super::UnknownValue> {
            super::TableOperation::try_from(((self.0 & Self::OPERATION_MASK) >> Self::OPERATION_SHIFT) as u8)
        }

        /// The same with this operation.
        #[must_use]
        pub const fn with_operation(mut self, value: super::TableOperation) -> Self {
            self.0 = self.0 & !Self::OPERATION_MASK | (value.raw() as u32) << Self::OPERATION_SHIFT & Self::OPERATION_MASK;
            self
        }
    }

    impl From<u32> for TableCmd {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<TableCmd> for u32 {
        fn from(value: TableCmd) -> u32 {
            value.0
        }
    }

    /// What TABLE_CMD answers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TableCmdRead(pub u32);

    impl TableCmdRead {
        /// Bit 0: the last access was refused (no such table or index) or, for an ATTACH, was not applied.
        pub const REFUSED: u32 = 0x1;

        /// Bit 0: the last access was refused (no such table or index) or, for an ATTACH, was not applied.
        pub const fn refused(&self) -> bool {
            self.0 & Self::REFUSED != 0
        }

        /// The same with refused set or clear.
        #[must_use]
        pub const fn with_refused(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::REFUSED | if on { Self::REFUSED } else { 0 };
            self
        }
    }

    impl From<u32> for TableCmdRead {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<TableCmdRead> for u32 {
        fn from(value: TableCmdRead) -> u32 {
            value.0
        }
    }

    /// The value of PROC_CTRL.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcCtrl(pub u32);

    impl ProcCtrl {
        /// Bit 0: 1: it runs, from its reset on; refused (PROC_STATUS) unless PROC_CHECK was right for what is loaded. 0: it is held in reset; its memory stays as it is, and can be read.
        pub const RUN: u32 = 0x1;
        /// Bit 1: writing 1 while it is stopped begins a load: the checksum is that of no word; reads 0.
        pub const LOAD: u32 = 0x2;
        /// Bit 2: with RUN: it goes to its debug monitor, and again until this is 0 (RISC-V debug mode, docs/processor.md).
        pub const HALT: u32 = 0x4;

        /// Bit 0: 1: it runs, from its reset on; refused (PROC_STATUS) unless PROC_CHECK was right for what is loaded. 0: it is held in reset; its memory stays as it is, and can be read.
        pub const fn run(&self) -> bool {
            self.0 & Self::RUN != 0
        }

        /// The same with run set or clear.
        #[must_use]
        pub const fn with_run(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RUN | if on { Self::RUN } else { 0 };
            self
        }

        /// Bit 1: writing 1 while it is stopped begins a load: the checksum is that of no word; reads 0.
        pub const fn load(&self) -> bool {
            self.0 & Self::LOAD != 0
        }

        /// The same with load set or clear.
        #[must_use]
        pub const fn with_load(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::LOAD | if on { Self::LOAD } else { 0 };
            self
        }

        /// Bit 2: with RUN: it goes to its debug monitor, and again until this is 0 (RISC-V debug mode, docs/processor.md).
        pub const fn halt(&self) -> bool {
            self.0 & Self::HALT != 0
        }

        /// The same with halt set or clear.
        #[must_use]
        pub const fn with_halt(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::HALT | if on { Self::HALT } else { 0 };
            self
        }
    }

    impl From<u32> for ProcCtrl {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<ProcCtrl> for u32 {
        fn from(value: ProcCtrl) -> u32 {
            value.0
        }
    }

    /// The value of PROC_STATUS.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcStatus(pub u32);

    impl ProcStatus {
        /// Bit 0: it is not held in reset.
        pub const RUNNING: u32 = 0x1;
        /// Bit 1: it waits for an interrupt: nothing happens until one.
        pub const ASLEEP: u32 = 0x2;
        /// Bit 2: what is loaded has the checksum that was told; starting it clears this, for a firmware changes its memory: each start needs a load.
        pub const LOADED: u32 = 0x4;
        /// Bit 3: it was asked to run what was not LOADED.
        pub const REFUSED: u32 = 0x8;
        /// Bit 4: its firmware told of its end: PROC_CAUSE, and the dump in its memory; it is stopped.
        pub const CRASHED: u32 = 0x10;
        /// Bit 5: the watchdog went off.
        pub const WATCHDOG: u32 = 0x20;
        /// Bit 6: the watchdog went off twice: the firmware could not tell of its end, and was stopped where it was (PROC_PC).
        pub const HUNG: u32 = 0x40;
        /// Bit 7: its DMA engine has an access to host memory under way.
        pub const DMA_BUSY: u32 = 0x80;
        /// Bit 8: host memory answered one in error.
        pub const DMA_ERROR: u32 = 0x100;

        /// Bit 0: it is not held in reset.
        pub const fn running(&self) -> bool {
            self.0 & Self::RUNNING != 0
        }

        /// The same with running set or clear.
        #[must_use]
        pub const fn with_running(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::RUNNING | if on { Self::RUNNING } else { 0 };
            self
        }

        /// Bit 1: it waits for an interrupt: nothing happens until one.
        pub const fn asleep(&self) -> bool {
            self.0 & Self::ASLEEP != 0
        }

        /// The same with asleep set or clear.
        #[must_use]
        pub const fn with_asleep(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::ASLEEP | if on { Self::ASLEEP } else { 0 };
            self
        }

        /// Bit 2: what is loaded has the checksum that was told; starting it clears this, for a firmware changes its memory: each start needs a load.
        pub const fn loaded(&self) -> bool {
            self.0 & Self::LOADED != 0
        }

        /// The same with loaded set or clear.
        #[must_use]
        pub const fn with_loaded(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::LOADED | if on { Self::LOADED } else { 0 };
            self
        }

        /// Bit 3: it was asked to run what was not LOADED.
        pub const fn refused(&self) -> bool {
            self.0 & Self::REFUSED != 0
        }

        /// The same with refused set or clear.
        #[must_use]
        pub const fn with_refused(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::REFUSED | if on { Self::REFUSED } else { 0 };
            self
        }

        /// Bit 4: its firmware told of its end: PROC_CAUSE, and the dump in its memory; it is stopped.
        pub const fn crashed(&self) -> bool {
            self.0 & Self::CRASHED != 0
        }

        /// The same with crashed set or clear.
        #[must_use]
        pub const fn with_crashed(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::CRASHED | if on { Self::CRASHED } else { 0 };
            self
        }

        /// Bit 5: the watchdog went off.
        pub const fn watchdog(&self) -> bool {
            self.0 & Self::WATCHDOG != 0
        }

        /// The same with watchdog set or clear.
        #[must_use]
        pub const fn with_watchdog(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::WATCHDOG | if on { Self::WATCHDOG } else { 0 };
            self
        }

        /// Bit 6: the watchdog went off twice: the firmware could not tell of its end, and was stopped where it was (PROC_PC).
        pub const fn hung(&self) -> bool {
            self.0 & Self::HUNG != 0
        }

        /// The same with hung set or clear.
        #[must_use]
        pub const fn with_hung(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::HUNG | if on { Self::HUNG } else { 0 };
            self
        }

        /// Bit 7: its DMA engine has an access to host memory under way.
        pub const fn dma_busy(&self) -> bool {
            self.0 & Self::DMA_BUSY != 0
        }

        /// The same with dma_busy set or clear.
        #[must_use]
        pub const fn with_dma_busy(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::DMA_BUSY | if on { Self::DMA_BUSY } else { 0 };
            self
        }

        /// Bit 8: host memory answered one in error.
        pub const fn dma_error(&self) -> bool {
            self.0 & Self::DMA_ERROR != 0
        }

        /// The same with dma_error set or clear.
        #[must_use]
        pub const fn with_dma_error(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::DMA_ERROR | if on { Self::DMA_ERROR } else { 0 };
            self
        }
    }

    impl From<u32> for ProcStatus {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<ProcStatus> for u32 {
        fn from(value: ProcStatus) -> u32 {
            value.0
        }
    }

    /// The value of PROC_COMMAND.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcCommand(pub u32);

    impl ProcCommand {
        /// Bits 7:0: what it is to do.
        pub const KIND_MASK: u32 = 0xff;
        /// The lowest of them.
        pub const KIND_SHIFT: u32 = 0;
        /// Bits 31:8: with what.
        pub const ARGUMENT_MASK: u32 = 0xffffff00;
        /// The lowest of them.
        pub const ARGUMENT_SHIFT: u32 = 8;

        /// Bits 7:0: what it is to do.
        pub fn kind(&self) -> Result<super::ProcCommand, super::UnknownValue> {
            super::ProcCommand::try_from((self.0 & Self::KIND_MASK) as u8)
        }

        /// The same with this kind.
        #[must_use]
        pub const fn with_kind(mut self, value: super::ProcCommand) -> Self {
            self.0 = self.0 & !Self::KIND_MASK | (value.raw() as u32) & Self::KIND_MASK;
            self
        }

        /// Bits 31:8: with what.
        pub const fn argument(&self) -> u32 {
            (self.0 & Self::ARGUMENT_MASK) >> Self::ARGUMENT_SHIFT
        }

        /// The same with this argument.
        #[must_use]
        pub const fn with_argument(mut self, value: u32) -> Self {
            self.0 = self.0 & !Self::ARGUMENT_MASK | value << Self::ARGUMENT_SHIFT & Self::ARGUMENT_MASK;
            self
        }
    }

    impl From<u32> for ProcCommand {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<ProcCommand> for u32 {
        fn from(value: ProcCommand) -> u32 {
            value.0
        }
    }

    /// What PROC_COMMAND answers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcCommandRead(pub u32);

    impl ProcCommandRead {
        /// Bit 0: the firmware did not take it yet.
        pub const WAITING: u32 = 0x1;
        /// Bit 1: the firmware did not answer it yet.
        pub const OPEN: u32 = 0x2;

        /// Bit 0: the firmware did not take it yet.
        pub const fn waiting(&self) -> bool {
            self.0 & Self::WAITING != 0
        }

        /// The same with waiting set or clear.
        #[must_use]
        pub const fn with_waiting(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::WAITING | if on { Self::WAITING } else { 0 };
            self
        }

        /// Bit 1: the firmware did not answer it yet.
        pub const fn open(&self) -> bool {
            self.0 & Self::OPEN != 0
        }

        /// The same with open set or clear.
        #[must_use]
        pub const fn with_open(mut self, on: bool) -> Self {
            self.0 = self.0 & !Self::OPEN | if on { Self::OPEN } else { 0 };
            self
        }
    }

    impl From<u32> for ProcCommandRead {
        fn from(value: u32) -> Self {
            Self(value)
        }
    }

    impl From<ProcCommandRead> for u32 {
        fn from(value: ProcCommandRead) -> u32 {
            value.0
        }
    }
}

/// Byte offsets of the doorbells in BAR2.
pub mod doorbell {
    /// Number of jobs posted since the ring was set up, modulo 2^32.
    pub const JOB_TAIL: u32 = 0x0000;
    /// Number of reports consumed since the ring was set up, modulo 2^32. The card never overwrites a report not yet consumed.
    pub const REPORT_HEAD: u32 = 0x0004;
    /// Number of raw frames consumed, modulo 2^32.
    pub const RAW_HEAD: u32 = 0x0008;
    /// Asks for one interrupt on vector 0 as soon as the report producer count is beyond the value written, which is the number of reports that the host has taken (at once if it is already).
    pub const REPORT_ARM: u32 = 0x000c;
    /// Number of captured frames consumed since the ring was set up, modulo 2^32. The card never overwrites one not yet consumed.
    pub const CAPTURE_HEAD: u32 = 0x0010;
    /// As REPORT_ARM, but the interrupt may wait until the report producer count is n + 1 beyond the value written. It comes sooner when REPORT_GAP cycles have passed without a report, and with a report that does not wait (see card.md). At most one is asked for: each write, of this one and of REPORT_ARM, replaces the one before.
    pub const REPORT_ARM_AFTER: u32 = 0x0100;
    /// Port 1: JOB_TAIL, REPORT_HEAD, RAW_HEAD, REPORT_ARM (its interrupts are on vector 1) and REPORT_ARM_AFTER, each 0x200 behind its like of port 0.
    pub const PORT1: u32 = 0x0200;
    /// The push window: job n is written to 128 * (n mod slots) from here on, front to back in words of 32 bits or several of them; with its last word it is posted, as by JOB_TAIL n + 1. Its slot of the job ring has the same bytes. Reads give 0.
    pub const JOB_PUSH: u32 = 0x1000;
    /// One word per flow: number of receive elements posted since the queue was set up, modulo 2^32. Elements 1 to this number may be used.
    pub const RQ_TAIL: u32 = 0x8000;
}

/// Table numbers for TABLE_CMD.
pub mod table {
    /// Exact-match lookup of the received 4-tuple. Two banks of NUM_FLOWS/2 buckets of two rows: index = bank * NUM_FLOWS + bucket * 2 + way. bucket = bits of the CRC32C of the key bytes (remote_ip, local_ip, remote_port, local_port in wire order): bank 0 takes the low bits, bank 1 the bits from bit 16 up. To bit b of the CRC32C, bits of the key being numbered from bit 0 of its first byte, is added for each bit i of the key that is set bit i + b of HASH_SECRET, modulo 2. The host chooses bank and way and may move a row: write the new place first, then clear the old one. A row whose flow is not below NUM_FLOWS is refused.
    pub const FLOW_KEY: u8 = 1;
    /// What the receive path needs of a flow; index = flow.
    pub const FLOW_RX: u8 = 2;
    /// Receive position of a flow; index = flow. A write is an ATTACH: it is applied between two packets, and, if it attaches, only if the flow's mark is before raw_seen (see the protocol in card.md). A read gives the current state.
    pub const ATTACH: u8 = 3;
    /// Addresses and options for the frames of a flow; index = flow.
    pub const FLOW_TX: u8 = 4;
    /// Regions; index = STag >> 8. STag index 0 is never valid.
    pub const STAG: u8 = 5;
}

/// What TABLE_CMD does.
pub mod table_operation {
    /// write the row in TABLE_DATA
    pub const WRITE: u8 = 1;
    /// read the row into TABLE_DATA
    pub const READ: u8 = 2;
}

/// What TABLE_CMD does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TableOperation {
    /// write the row in TABLE_DATA
    Write = 1,
    /// read the row into TABLE_DATA
    Read = 2,
}

impl TableOperation {
    /// All of them.
    pub const ALL: [Self; 2] = [
        Self::Write,
        Self::Read,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Write),
            2 => Some(Self::Read),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "WRITE",
            Self::Read => "READ",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Write => "write the row in TABLE_DATA",
            Self::Read => "read the row into TABLE_DATA",
        }
    }
}

impl TryFrom<u8> for TableOperation {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "table_operation", value: raw })
    }
}

impl From<TableOperation> for u8 {
    fn from(value: TableOperation) -> u8 {
        value.raw()
    }
}

/// Ports of the control processor: words from address 0x10000000 of its own address space, by their number. Only its firmware sees them.
pub mod proc_port {
    /// written: the firmware ends, with this cause; the host sees CRASHED
    pub const END: u8 = 0;
    /// written: a beat for the watchdog, and PROC_BEAT
    pub const BEAT: u8 = 1;
    /// read: what the host wrote to PROC_COMMAND, which is taken by that
    pub const COMMAND: u8 = 2;
    /// written: PROC_ANSWER
    pub const ANSWER: u8 = 3;
    /// read: cycles, low half; the high half is kept beside it
    pub const TIME_LO: u8 = 4;
    /// read: the high half
    pub const TIME_HI: u8 = 5;
    /// written: cycles from now to the timer's interrupt; 0: none
    pub const ALARM: u8 = 6;
    /// written: the first of 256 bytes, aligned, of which the processor can neither read nor write one; 0: none
    pub const GUARD: u8 = 7;
    /// written: IOVA of a copy, low half
    pub const DMA_HOST_LO: u8 = 8;
    /// written: the high half
    pub const DMA_HOST_HI: u8 = 9;
    /// written: address in the processor's memory, a multiple of 4, of the aligned word of host memory that has the first byte
    pub const DMA_LOCAL: u8 = 10;
    /// written: so many bytes from host memory to the processor's, in whole words; read: 1 while a copy is under way, and bit 1: the last one failed
    pub const DMA_READ: u8 = 11;
    /// written: so many bytes from the processor's memory to host memory, and not one more
    pub const DMA_WRITE: u8 = 12;
    /// written: 1: the card's interrupts are the firmware's, those of port 0, too; 2: those of port 1 alone; 0: nobody is told of the firmware's end; read: 1 if the card asked for one since the last reading
    pub const REPORTS: u8 = 13;
    /// read: the bits that the host wrote to PROC_BELL since the last reading
    pub const BELL: u8 = 14;
    /// written: an interrupt of the host, on vector 0, behind all that DMA has written
    pub const INTERRUPT: u8 = 15;
}

/// Ports of the control processor: words from address 0x10000000 of its own address space, by their number. Only its firmware sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcPort {
    /// written: the firmware ends, with this cause; the host sees CRASHED
    End = 0,
    /// written: a beat for the watchdog, and PROC_BEAT
    Beat = 1,
    /// read: what the host wrote to PROC_COMMAND, which is taken by that
    Command = 2,
    /// written: PROC_ANSWER
    Answer = 3,
    /// read: cycles, low half; the high half is kept beside it
    TimeLo = 4,
    /// read: the high half
    TimeHi = 5,
    /// written: cycles from now to the timer's interrupt; 0: none
    Alarm = 6,
    /// written: the first of 256 bytes, aligned, of which the processor can neither read nor write one; 0: none
    Guard = 7,
    /// written: IOVA of a copy, low half
    DmaHostLo = 8,
    /// written: the high half
    DmaHostHi = 9,
    /// written: address in the processor's memory, a multiple of 4, of the aligned word of host memory that has the first byte
    DmaLocal = 10,
    /// written: so many bytes from host memory to the processor's, in whole words; read: 1 while a copy is under way, and bit 1: the last one failed
    DmaRead = 11,
    /// written: so many bytes from the processor's memory to host memory, and not one more
    DmaWrite = 12,
    /// written: 1: the card's interrupts are the firmware's, those of port 0, too; 2: those of port 1 alone; 0: nobody is told of the firmware's end; read: 1 if the card asked for one since the last reading
    Reports = 13,
    /// read: the bits that the host wrote to PROC_BELL since the last reading
    Bell = 14,
    /// written: an interrupt of the host, on vector 0, behind all that DMA has written
    Interrupt = 15,
}

impl ProcPort {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::End,
        Self::Beat,
        Self::Command,
        Self::Answer,
        Self::TimeLo,
        Self::TimeHi,
        Self::Alarm,
        Self::Guard,
        Self::DmaHostLo,
        Self::DmaHostHi,
        Self::DmaLocal,
        Self::DmaRead,
        Self::DmaWrite,
        Self::Reports,
        Self::Bell,
        Self::Interrupt,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::End),
            1 => Some(Self::Beat),
            2 => Some(Self::Command),
            3 => Some(Self::Answer),
            4 => Some(Self::TimeLo),
            5 => Some(Self::TimeHi),
            6 => Some(Self::Alarm),
            7 => Some(Self::Guard),
            8 => Some(Self::DmaHostLo),
            9 => Some(Self::DmaHostHi),
            10 => Some(Self::DmaLocal),
            11 => Some(Self::DmaRead),
            12 => Some(Self::DmaWrite),
            13 => Some(Self::Reports),
            14 => Some(Self::Bell),
            15 => Some(Self::Interrupt),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "END",
            Self::Beat => "BEAT",
            Self::Command => "COMMAND",
            Self::Answer => "ANSWER",
            Self::TimeLo => "TIME_LO",
            Self::TimeHi => "TIME_HI",
            Self::Alarm => "ALARM",
            Self::Guard => "GUARD",
            Self::DmaHostLo => "DMA_HOST_LO",
            Self::DmaHostHi => "DMA_HOST_HI",
            Self::DmaLocal => "DMA_LOCAL",
            Self::DmaRead => "DMA_READ",
            Self::DmaWrite => "DMA_WRITE",
            Self::Reports => "REPORTS",
            Self::Bell => "BELL",
            Self::Interrupt => "INTERRUPT",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::End => "written: the firmware ends, with this cause; the host sees CRASHED",
            Self::Beat => "written: a beat for the watchdog, and PROC_BEAT",
            Self::Command => "read: what the host wrote to PROC_COMMAND, which is taken by that",
            Self::Answer => "written: PROC_ANSWER",
            Self::TimeLo => "read: cycles, low half; the high half is kept beside it",
            Self::TimeHi => "read: the high half",
            Self::Alarm => "written: cycles from now to the timer's interrupt; 0: none",
            Self::Guard => "written: the first of 256 bytes, aligned, of which the processor can neither read nor write one; 0: none",
            Self::DmaHostLo => "written: IOVA of a copy, low half",
            Self::DmaHostHi => "written: the high half",
            Self::DmaLocal => "written: address in the processor's memory, a multiple of 4, of the aligned word of host memory that has the first byte",
            Self::DmaRead => "written: so many bytes from host memory to the processor's, in whole words; read: 1 while a copy is under way, and bit 1: the last one failed",
            Self::DmaWrite => "written: so many bytes from the processor's memory to host memory, and not one more",
            Self::Reports => "written: 1: the card's interrupts are the firmware's, those of port 0, too; 2: those of port 1 alone; 0: nobody is told of the firmware's end; read: 1 if the card asked for one since the last reading",
            Self::Bell => "read: the bits that the host wrote to PROC_BELL since the last reading",
            Self::Interrupt => "written: an interrupt of the host, on vector 0, behind all that DMA has written",
        }
    }
}

impl TryFrom<u8> for ProcPort {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_port", value: raw })
    }
}

impl From<ProcPort> for u8 {
    fn from(value: ProcPort) -> u8 {
        value.raw()
    }
}

/// Ends of the firmware that RISC-V has no cause for; PROC_CAUSE has them with bits 31:8 zero, and all of RISC-V's are below.
pub mod proc_end {
    /// an assertion, or another panic; its words are the last of the log
    pub const ASSERT: u8 = 64;
    /// the stack was used up
    pub const STACK: u8 = 65;
    /// no beat in time
    pub const WATCHDOG: u8 = 66;
}

/// Ends of the firmware that RISC-V has no cause for; PROC_CAUSE has them with bits 31:8 zero, and all of RISC-V's are below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcEnd {
    /// an assertion, or another panic; its words are the last of the log
    Assert = 64,
    /// the stack was used up
    Stack = 65,
    /// no beat in time
    Watchdog = 66,
}

impl ProcEnd {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::Assert,
        Self::Stack,
        Self::Watchdog,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            64 => Some(Self::Assert),
            65 => Some(Self::Stack),
            66 => Some(Self::Watchdog),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assert => "ASSERT",
            Self::Stack => "STACK",
            Self::Watchdog => "WATCHDOG",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Assert => "an assertion, or another panic; its words are the last of the log",
            Self::Stack => "the stack was used up",
            Self::Watchdog => "no beat in time",
        }
    }
}

impl TryFrom<u8> for ProcEnd {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_end", value: raw })
    }
}

impl From<ProcEnd> for u8 {
    fn from(value: ProcEnd) -> u8 {
        value.raw()
    }
}

/// What the host asks of the firmware, in the low byte of PROC_COMMAND; the other three have an argument.
pub mod proc_command {
    /// answers the argument, plus 1
    pub const PING: u8 = 1;
    /// copies so many bytes by DMA, as proc_copy says, at most 1024; answers 0, or 1 in error
    pub const COPY: u8 = 2;
    /// ends in a way of the host's choice (proc_crash), to see what it is told of it
    pub const CRASH: u8 = 3;
    /// sets the timer to so many cycles from now; answers 0
    pub const ALARM: u8 = 4;
    /// writes the last row of STAG and reads it back, so many times with other contents; answers how often it was not the same. The row is invalid afterwards
    pub const TABLES: u8 = 5;
    /// asks for an interrupt of the host; answers 0
    pub const RAISE: u8 = 6;
    /// the firmware takes the card, as proc_engine says: it resets it, gives it rings and turns it on, and takes commands from the command ring. Answers proc_started
    pub const ENGINE: u8 = 7;
    /// a queue pair of the firmware's engine has its queues where proc_queues says, or a shared receive queue is there; answers 0, or 1 if they cannot be there
    pub const QUEUES: u8 = 8;
}

/// What the host asks of the firmware, in the low byte of PROC_COMMAND; the other three have an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcCommand {
    /// answers the argument, plus 1
    Ping = 1,
    /// copies so many bytes by DMA, as proc_copy says, at most 1024; answers 0, or 1 in error
    Copy = 2,
    /// ends in a way of the host's choice (proc_crash), to see what it is told of it
    Crash = 3,
    /// sets the timer to so many cycles from now; answers 0
    Alarm = 4,
    /// writes the last row of STAG and reads it back, so many times with other contents; answers how often it was not the same. The row is invalid afterwards
    Tables = 5,
    /// asks for an interrupt of the host; answers 0
    Raise = 6,
    /// the firmware takes the card, as proc_engine says: it resets it, gives it rings and turns it on, and takes commands from the command ring. Answers proc_started
    Engine = 7,
    /// a queue pair of the firmware's engine has its queues where proc_queues says, or a shared receive queue is there; answers 0, or 1 if they cannot be there
    Queues = 8,
}

impl ProcCommand {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Ping,
        Self::Copy,
        Self::Crash,
        Self::Alarm,
        Self::Tables,
        Self::Raise,
        Self::Engine,
        Self::Queues,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Ping),
            2 => Some(Self::Copy),
            3 => Some(Self::Crash),
            4 => Some(Self::Alarm),
            5 => Some(Self::Tables),
            6 => Some(Self::Raise),
            7 => Some(Self::Engine),
            8 => Some(Self::Queues),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ping => "PING",
            Self::Copy => "COPY",
            Self::Crash => "CRASH",
            Self::Alarm => "ALARM",
            Self::Tables => "TABLES",
            Self::Raise => "RAISE",
            Self::Engine => "ENGINE",
            Self::Queues => "QUEUES",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Ping => "answers the argument, plus 1",
            Self::Copy => "copies so many bytes by DMA, as proc_copy says, at most 1024; answers 0, or 1 in error",
            Self::Crash => "ends in a way of the host's choice (proc_crash), to see what it is told of it",
            Self::Alarm => "sets the timer to so many cycles from now; answers 0",
            Self::Tables => "writes the last row of STAG and reads it back, so many times with other contents; answers how often it was not the same. The row is invalid afterwards",
            Self::Raise => "asks for an interrupt of the host; answers 0",
            Self::Engine => "the firmware takes the card, as proc_engine says: it resets it, gives it rings and turns it on, and takes commands from the command ring. Answers proc_started",
            Self::Queues => "a queue pair of the firmware's engine has its queues where proc_queues says, or a shared receive queue is there; answers 0, or 1 if they cannot be there",
        }
    }
}

impl TryFrom<u8> for ProcCommand {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_command", value: raw })
    }
}

impl From<ProcCommand> for u8 {
    fn from(value: ProcCommand) -> u8 {
        value.raw()
    }
}

/// Bits of PROC_BELL, by number, for the firmware with the engine.
pub mod proc_bell {
    /// commands were posted, or events taken
    pub const RINGS: u8 = 0;
    /// work was posted to a queue pair that has this bit (proc_queues); so have all bits above. Several queue pairs may have the same one
    pub const FIRST_QUEUES: u8 = 1;
}

/// Bits of PROC_BELL, by number, for the firmware with the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcBell {
    /// commands were posted, or events taken
    Rings = 0,
    /// work was posted to a queue pair that has this bit (proc_queues); so have all bits above. Several queue pairs may have the same one
    FirstQueues = 1,
}

impl ProcBell {
    /// All of them.
    pub const ALL: [Self; 2] = [
        Self::Rings,
        Self::FirstQueues,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Rings),
            1 => Some(Self::FirstQueues),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rings => "RINGS",
            Self::FirstQueues => "FIRST_QUEUES",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Rings => "commands were posted, or events taken",
            Self::FirstQueues => "work was posted to a queue pair that has this bit (proc_queues); so have all bits above. Several queue pairs may have the same one",
        }
    }
}

impl TryFrom<u8> for ProcBell {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_bell", value: raw })
    }
}

impl From<ProcBell> for u8 {
    fn from(value: ProcBell) -> u8 {
        value.raw()
    }
}

/// Whether the firmware has the card.
pub mod proc_started {
    /// it has
    pub const DONE: u8 = 0;
    /// this firmware has no engine
    pub const NO_ENGINE: u8 = 1;
    /// proc_engine says what cannot be
    pub const SETTINGS: u8 = 2;
    /// the card does not come out of its reset, or has no second port, or slots of another size
    pub const CARD: u8 = 3;
    /// it had it before: each start needs a load
    pub const RUNNING: u8 = 4;
}

/// Whether the firmware has the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcStarted {
    /// it has
    Done = 0,
    /// this firmware has no engine
    NoEngine = 1,
    /// proc_engine says what cannot be
    Settings = 2,
    /// the card does not come out of its reset, or has no second port, or slots of another size
    Card = 3,
    /// it had it before: each start needs a load
    Running = 4,
}

impl ProcStarted {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Done,
        Self::NoEngine,
        Self::Settings,
        Self::Card,
        Self::Running,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Done),
            1 => Some(Self::NoEngine),
            2 => Some(Self::Settings),
            3 => Some(Self::Card),
            4 => Some(Self::Running),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::NoEngine => "NO_ENGINE",
            Self::Settings => "SETTINGS",
            Self::Card => "CARD",
            Self::Running => "RUNNING",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Done => "it has",
            Self::NoEngine => "this firmware has no engine",
            Self::Settings => "proc_engine says what cannot be",
            Self::Card => "the card does not come out of its reset, or has no second port, or slots of another size",
            Self::Running => "it had it before: each start needs a load",
        }
    }
}

impl TryFrom<u8> for ProcStarted {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_started", value: raw })
    }
}

impl From<ProcStarted> for u8 {
    fn from(value: ProcStarted) -> u8 {
        value.raw()
    }
}

/// Ways to end.
pub mod proc_crash {
    /// an assertion that does not hold
    pub const ASSERT: u8 = 1;
    /// an instruction that there is not
    pub const ILLEGAL: u8 = 2;
    /// a read of nowhere
    pub const FAULT: u8 = 3;
    /// calls without end
    pub const STACK: u8 = 4;
    /// a loop without a beat
    pub const SPIN: u8 = 5;
    /// a loop without a beat, with the handler of traps overwritten
    pub const DEAF: u8 = 6;
}

/// Ways to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProcCrash {
    /// an assertion that does not hold
    Assert = 1,
    /// an instruction that there is not
    Illegal = 2,
    /// a read of nowhere
    Fault = 3,
    /// calls without end
    Stack = 4,
    /// a loop without a beat
    Spin = 5,
    /// a loop without a beat, with the handler of traps overwritten
    Deaf = 6,
}

impl ProcCrash {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Assert,
        Self::Illegal,
        Self::Fault,
        Self::Stack,
        Self::Spin,
        Self::Deaf,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Assert),
            2 => Some(Self::Illegal),
            3 => Some(Self::Fault),
            4 => Some(Self::Stack),
            5 => Some(Self::Spin),
            6 => Some(Self::Deaf),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assert => "ASSERT",
            Self::Illegal => "ILLEGAL",
            Self::Fault => "FAULT",
            Self::Stack => "STACK",
            Self::Spin => "SPIN",
            Self::Deaf => "DEAF",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Assert => "an assertion that does not hold",
            Self::Illegal => "an instruction that there is not",
            Self::Fault => "a read of nowhere",
            Self::Stack => "calls without end",
            Self::Spin => "a loop without a beat",
            Self::Deaf => "a loop without a beat, with the handler of traps overwritten",
        }
    }
}

impl TryFrom<u8> for ProcCrash {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "proc_crash", value: raw })
    }
}

impl From<ProcCrash> for u8 {
    fn from(value: ProcCrash) -> u8 {
        value.raw()
    }
}

/// What a job sends.
pub mod job_kind {
    /// a whole frame, as it is
    pub const RAW_FRAME: u8 = 1;
    /// payload in one TCP segment of a flow
    pub const SEGMENT: u8 = 2;
    /// a DDP message, or a piece of one, in as many FPDUs as it takes
    pub const MESSAGE: u8 = 3;
    /// nothing: its bytes, a piece of the flow's received stream, are walked over as a segment's, and a replay_report tells what became of them
    pub const REPLAY: u8 = 4;
}

/// What a job sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum JobKind {
    /// a whole frame, as it is
    RawFrame = 1,
    /// payload in one TCP segment of a flow
    Segment = 2,
    /// a DDP message, or a piece of one, in as many FPDUs as it takes
    Message = 3,
    /// nothing: its bytes, a piece of the flow's received stream, are walked over as a segment's, and a replay_report tells what became of them
    Replay = 4,
}

impl JobKind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::RawFrame,
        Self::Segment,
        Self::Message,
        Self::Replay,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::RawFrame),
            2 => Some(Self::Segment),
            3 => Some(Self::Message),
            4 => Some(Self::Replay),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RawFrame => "RAW_FRAME",
            Self::Segment => "SEGMENT",
            Self::Message => "MESSAGE",
            Self::Replay => "REPLAY",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::RawFrame => "a whole frame, as it is",
            Self::Segment => "payload in one TCP segment of a flow",
            Self::Message => "a DDP message, or a piece of one, in as many FPDUs as it takes",
            Self::Replay => "nothing: its bytes, a piece of the flow's received stream, are walked over as a segment's, and a replay_report tells what became of them",
        }
    }
}

impl TryFrom<u8> for JobKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "job_kind", value: raw })
    }
}

impl From<JobKind> for u8 {
    fn from(value: JobKind) -> u8 {
        value.raw()
    }
}

/// How a job ended.
pub mod job_status {
    /// done
    pub const DONE: u8 = 0;
    /// kind, length, SGEs or flow row are impossible; nothing was sent
    pub const MALFORMED: u8 = 1;
    /// a DMA read was answered with an error; the frame concerned was not sent
    pub const READ_ERROR: u8 = 2;
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum JobStatus {
    /// done
    Done = 0,
    /// kind, length, SGEs or flow row are impossible; nothing was sent
    Malformed = 1,
    /// a DMA read was answered with an error; the frame concerned was not sent
    ReadError = 2,
}

impl JobStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::Done,
        Self::Malformed,
        Self::ReadError,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Done),
            1 => Some(Self::Malformed),
            2 => Some(Self::ReadError),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Malformed => "MALFORMED",
            Self::ReadError => "READ_ERROR",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Malformed => "kind, length, SGEs or flow row are impossible; nothing was sent",
            Self::ReadError => "a DMA read was answered with an error; the frame concerned was not sent",
        }
    }
}

impl TryFrom<u8> for JobStatus {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "job_status", value: raw })
    }
}

impl From<JobStatus> for u8 {
    fn from(value: JobStatus) -> u8 {
        value.raw()
    }
}

/// What a report tells of.
pub mod report_kind {
    /// a TCP segment of a known flow: segment_report
    pub const SEGMENT: u8 = 1;
    /// an FPDU that the card framed: fpdu_report
    pub const FPDU: u8 = 2;
    /// a frame of no known flow: frame_report
    pub const FRAME: u8 = 3;
    /// a job: job_report
    pub const JOB: u8 = 4;
    /// a TCP segment of a known flow and its one FPDU, which was placed: placed_report
    pub const PLACED: u8 = 5;
    /// a replay job's bytes: replay_report
    pub const REPLAY: u8 = 6;
}

/// What a report tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ReportKind {
    /// a TCP segment of a known flow: segment_report
    Segment = 1,
    /// an FPDU that the card framed: fpdu_report
    Fpdu = 2,
    /// a frame of no known flow: frame_report
    Frame = 3,
    /// a job: job_report
    Job = 4,
    /// a TCP segment of a known flow and its one FPDU, which was placed: placed_report
    Placed = 5,
    /// a replay job's bytes: replay_report
    Replay = 6,
}

impl ReportKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Segment,
        Self::Fpdu,
        Self::Frame,
        Self::Job,
        Self::Placed,
        Self::Replay,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Segment),
            2 => Some(Self::Fpdu),
            3 => Some(Self::Frame),
            4 => Some(Self::Job),
            5 => Some(Self::Placed),
            6 => Some(Self::Replay),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Segment => "SEGMENT",
            Self::Fpdu => "FPDU",
            Self::Frame => "FRAME",
            Self::Job => "JOB",
            Self::Placed => "PLACED",
            Self::Replay => "REPLAY",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Segment => "a TCP segment of a known flow: segment_report",
            Self::Fpdu => "an FPDU that the card framed: fpdu_report",
            Self::Frame => "a frame of no known flow: frame_report",
            Self::Job => "a job: job_report",
            Self::Placed => "a TCP segment of a known flow and its one FPDU, which was placed: placed_report",
            Self::Replay => "a replay job's bytes: replay_report",
        }
    }
}

impl TryFrom<u8> for ReportKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "report_kind", value: raw })
    }
}

impl From<ReportKind> for u8 {
    fn from(value: ReportKind) -> u8 {
        value.raw()
    }
}

/// How far a replay came.
pub mod replay_outcome {
    /// all of it was walked
    pub const WHOLE: u8 = 0;
    /// it ends inside an FPDU
    pub const PARTIAL: u8 = 1;
    /// an FPDU has an error: its report says which
    pub const ERROR: u8 = 2;
    /// the flow's FLOW_RX row is not valid, or the flow is attached: nothing was done
    pub const REFUSED: u8 = 3;
}

/// How far a replay came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ReplayOutcome {
    /// all of it was walked
    Whole = 0,
    /// it ends inside an FPDU
    Partial = 1,
    /// an FPDU has an error: its report says which
    Error = 2,
    /// the flow's FLOW_RX row is not valid, or the flow is attached: nothing was done
    Refused = 3,
}

impl ReplayOutcome {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Whole,
        Self::Partial,
        Self::Error,
        Self::Refused,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Whole),
            1 => Some(Self::Partial),
            2 => Some(Self::Error),
            3 => Some(Self::Refused),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "WHOLE",
            Self::Partial => "PARTIAL",
            Self::Error => "ERROR",
            Self::Refused => "REFUSED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Whole => "all of it was walked",
            Self::Partial => "it ends inside an FPDU",
            Self::Error => "an FPDU has an error: its report says which",
            Self::Refused => "the flow's FLOW_RX row is not valid, or the flow is attached: nothing was done",
        }
    }
}

impl TryFrom<u8> for ReplayOutcome {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "replay_outcome", value: raw })
    }
}

impl From<ReplayOutcome> for u8 {
    fn from(value: ReplayOutcome) -> u8 {
        value.raw()
    }
}

/// Why a segment was not acceptable.
pub mod refusal {
    /// accepted
    pub const NONE: u8 = 0;
    /// no ACK flag
    pub const NO_ACK: u8 = 1;
    /// beyond the window
    pub const WINDOW: u8 = 2;
    /// older than TS.Recent
    pub const PAWS: u8 = 3;
    /// without the timestamps it must have
    pub const NO_TIMESTAMP: u8 = 4;
}

/// Why a segment was not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// accepted
    None = 0,
    /// no ACK flag
    NoAck = 1,
    /// beyond the window
    Window = 2,
    /// older than TS.Recent
    Paws = 3,
    /// without the timestamps it must have
    NoTimestamp = 4,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::NoAck,
        Self::Window,
        Self::Paws,
        Self::NoTimestamp,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::None),
            1 => Some(Self::NoAck),
            2 => Some(Self::Window),
            3 => Some(Self::Paws),
            4 => Some(Self::NoTimestamp),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::NoAck => "NO_ACK",
            Self::Window => "WINDOW",
            Self::Paws => "PAWS",
            Self::NoTimestamp => "NO_TIMESTAMP",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::None => "accepted",
            Self::NoAck => "no ACK flag",
            Self::Window => "beyond the window",
            Self::Paws => "older than TS.Recent",
            Self::NoTimestamp => "without the timestamps it must have",
        }
    }
}

impl TryFrom<u8> for Refusal {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "refusal", value: raw })
    }
}

impl From<Refusal> for u8 {
    fn from(value: Refusal) -> u8 {
        value.raw()
    }
}

/// What became of an FPDU.
pub mod fpdu_verdict {
    /// all its payload is in host memory
    pub const PLACED: u8 = 0;
    /// for the engine: an untagged FPDU of queue 1 to 3, correct, whose bytes are in the segment's raw frame
    pub const ENGINE: u8 = 1;
    /// see terminate
    pub const ERROR: u8 = 2;
    /// checked, but a write to host memory was answered with an error: not placed
    pub const PLACE_FAILED: u8 = 3;
}

/// What became of an FPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FpduVerdict {
    /// all its payload is in host memory
    Placed = 0,
    /// for the engine: an untagged FPDU of queue 1 to 3, correct, whose bytes are in the segment's raw frame
    Engine = 1,
    /// see terminate
    Error = 2,
    /// checked, but a write to host memory was answered with an error: not placed
    PlaceFailed = 3,
}

impl FpduVerdict {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Placed,
        Self::Engine,
        Self::Error,
        Self::PlaceFailed,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Placed),
            1 => Some(Self::Engine),
            2 => Some(Self::Error),
            3 => Some(Self::PlaceFailed),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Placed => "PLACED",
            Self::Engine => "ENGINE",
            Self::Error => "ERROR",
            Self::PlaceFailed => "PLACE_FAILED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Placed => "all its payload is in host memory",
            Self::Engine => "for the engine: an untagged FPDU of queue 1 to 3, correct, whose bytes are in the segment's raw frame",
            Self::Error => "see terminate",
            Self::PlaceFailed => "checked, but a write to host memory was answered with an error: not placed",
        }
    }
}

impl TryFrom<u8> for FpduVerdict {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "fpdu_verdict", value: raw })
    }
}

impl From<FpduVerdict> for u8 {
    fn from(value: FpduVerdict) -> u8 {
        value.raw()
    }
}

/// What a WQE is to do.
pub mod wqe_opcode {
    /// Send
    pub const SEND: u8 = 1;
    /// RDMA Write
    pub const WRITE: u8 = 2;
    /// RDMA Read into the SGEs
    pub const READ: u8 = 3;
    /// Immediate Data (RFC 7306)
    pub const IMMEDIATE: u8 = 4;
    /// takes away a memory window or fast-registered region: stag
    pub const LOCAL_INVALIDATE: u8 = 5;
    /// binds a memory window: stag with its new key, TO of its first byte, inline a binding
    pub const BIND: u8 = 6;
    /// gives memory to an STag that was allocated without: likewise
    pub const FAST_REGISTER: u8 = 7;
    /// Atomic Request (RFC 7306) FetchAdd: stag, to, inline atomic_operands
    pub const FETCH_ADD: u8 = 8;
    /// Atomic Request CmpSwap: likewise
    pub const CMP_SWAP: u8 = 9;
    /// Send of an XRC initiator: to the peer's shared receive queue of this number, in stag
    pub const XRC_SEND: u8 = 10;
}

/// What a WQE is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum WqeOpcode {
    /// Send
    Send = 1,
    /// RDMA Write
    Write = 2,
    /// RDMA Read into the SGEs
    Read = 3,
    /// Immediate Data (RFC 7306)
    Immediate = 4,
    /// takes away a memory window or fast-registered region: stag
    LocalInvalidate = 5,
    /// binds a memory window: stag with its new key, TO of its first byte, inline a binding
    Bind = 6,
    /// gives memory to an STag that was allocated without: likewise
    FastRegister = 7,
    /// Atomic Request (RFC 7306) FetchAdd: stag, to, inline atomic_operands
    FetchAdd = 8,
    /// Atomic Request CmpSwap: likewise
    CmpSwap = 9,
    /// Send of an XRC initiator: to the peer's shared receive queue of this number, in stag
    XrcSend = 10,
}

impl WqeOpcode {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Send,
        Self::Write,
        Self::Read,
        Self::Immediate,
        Self::LocalInvalidate,
        Self::Bind,
        Self::FastRegister,
        Self::FetchAdd,
        Self::CmpSwap,
        Self::XrcSend,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Send),
            2 => Some(Self::Write),
            3 => Some(Self::Read),
            4 => Some(Self::Immediate),
            5 => Some(Self::LocalInvalidate),
            6 => Some(Self::Bind),
            7 => Some(Self::FastRegister),
            8 => Some(Self::FetchAdd),
            9 => Some(Self::CmpSwap),
            10 => Some(Self::XrcSend),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "SEND",
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::Immediate => "IMMEDIATE",
            Self::LocalInvalidate => "LOCAL_INVALIDATE",
            Self::Bind => "BIND",
            Self::FastRegister => "FAST_REGISTER",
            Self::FetchAdd => "FETCH_ADD",
            Self::CmpSwap => "CMP_SWAP",
            Self::XrcSend => "XRC_SEND",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Send => "Send",
            Self::Write => "RDMA Write",
            Self::Read => "RDMA Read into the SGEs",
            Self::Immediate => "Immediate Data (RFC 7306)",
            Self::LocalInvalidate => "takes away a memory window or fast-registered region: stag",
            Self::Bind => "binds a memory window: stag with its new key, TO of its first byte, inline a binding",
            Self::FastRegister => "gives memory to an STag that was allocated without: likewise",
            Self::FetchAdd => "Atomic Request (RFC 7306) FetchAdd: stag, to, inline atomic_operands",
            Self::CmpSwap => "Atomic Request CmpSwap: likewise",
            Self::XrcSend => "Send of an XRC initiator: to the peer's shared receive queue of this number, in stag",
        }
    }
}

impl TryFrom<u8> for WqeOpcode {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "wqe_opcode", value: raw })
    }
}

impl From<WqeOpcode> for u8 {
    fn from(value: WqeOpcode) -> u8 {
        value.raw()
    }
}

/// What was completed.
pub mod cqe_opcode {
    /// Send, Immediate Data
    pub const SEND: u8 = 1;
    /// RDMA Write
    pub const WRITE: u8 = 2;
    /// RDMA Read
    pub const READ: u8 = 3;
    /// a receive
    pub const RECV: u8 = 4;
    /// a local invalidate
    pub const LOCAL_INVALIDATE: u8 = 5;
    /// a bind of a memory window
    pub const BIND: u8 = 6;
    /// a fast registration
    pub const FAST_REGISTER: u8 = 7;
    /// an atomic FetchAdd
    pub const FETCH_ADD: u8 = 8;
    /// an atomic CmpSwap
    pub const CMP_SWAP: u8 = 9;
}

/// What was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CqeOpcode {
    /// Send, Immediate Data
    Send = 1,
    /// RDMA Write
    Write = 2,
    /// RDMA Read
    Read = 3,
    /// a receive
    Recv = 4,
    /// a local invalidate
    LocalInvalidate = 5,
    /// a bind of a memory window
    Bind = 6,
    /// a fast registration
    FastRegister = 7,
    /// an atomic FetchAdd
    FetchAdd = 8,
    /// an atomic CmpSwap
    CmpSwap = 9,
}

impl CqeOpcode {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Send,
        Self::Write,
        Self::Read,
        Self::Recv,
        Self::LocalInvalidate,
        Self::Bind,
        Self::FastRegister,
        Self::FetchAdd,
        Self::CmpSwap,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Send),
            2 => Some(Self::Write),
            3 => Some(Self::Read),
            4 => Some(Self::Recv),
            5 => Some(Self::LocalInvalidate),
            6 => Some(Self::Bind),
            7 => Some(Self::FastRegister),
            8 => Some(Self::FetchAdd),
            9 => Some(Self::CmpSwap),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "SEND",
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::Recv => "RECV",
            Self::LocalInvalidate => "LOCAL_INVALIDATE",
            Self::Bind => "BIND",
            Self::FastRegister => "FAST_REGISTER",
            Self::FetchAdd => "FETCH_ADD",
            Self::CmpSwap => "CMP_SWAP",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Send => "Send, Immediate Data",
            Self::Write => "RDMA Write",
            Self::Read => "RDMA Read",
            Self::Recv => "a receive",
            Self::LocalInvalidate => "a local invalidate",
            Self::Bind => "a bind of a memory window",
            Self::FastRegister => "a fast registration",
            Self::FetchAdd => "an atomic FetchAdd",
            Self::CmpSwap => "an atomic CmpSwap",
        }
    }
}

impl TryFrom<u8> for CqeOpcode {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "cqe_opcode", value: raw })
    }
}

impl From<CqeOpcode> for u8 {
    fn from(value: CqeOpcode) -> u8 {
        value.raw()
    }
}

/// How work ended.
pub mod cqe_status {
    /// done
    pub const SUCCESS: u8 = 0;
    /// not done: the connection ended, or the queue pair failed, before
    pub const FLUSHED: u8 = 1;
    /// its memory could not be used
    pub const LOCAL_PROTECTION: u8 = 2;
    /// the WQE says nothing that can be done
    pub const LOCAL_OPERATION: u8 = 3;
    /// the peer refused the access
    pub const REMOTE_ACCESS: u8 = 4;
    /// the peer could not do it
    pub const REMOTE_OPERATION: u8 = 5;
}

/// How work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CqeStatus {
    /// done
    Success = 0,
    /// not done: the connection ended, or the queue pair failed, before
    Flushed = 1,
    /// its memory could not be used
    LocalProtection = 2,
    /// the WQE says nothing that can be done
    LocalOperation = 3,
    /// the peer refused the access
    RemoteAccess = 4,
    /// the peer could not do it
    RemoteOperation = 5,
}

impl CqeStatus {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Success,
        Self::Flushed,
        Self::LocalProtection,
        Self::LocalOperation,
        Self::RemoteAccess,
        Self::RemoteOperation,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Success),
            1 => Some(Self::Flushed),
            2 => Some(Self::LocalProtection),
            3 => Some(Self::LocalOperation),
            4 => Some(Self::RemoteAccess),
            5 => Some(Self::RemoteOperation),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Flushed => "FLUSHED",
            Self::LocalProtection => "LOCAL_PROTECTION",
            Self::LocalOperation => "LOCAL_OPERATION",
            Self::RemoteAccess => "REMOTE_ACCESS",
            Self::RemoteOperation => "REMOTE_OPERATION",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Success => "done",
            Self::Flushed => "not done: the connection ended, or the queue pair failed, before",
            Self::LocalProtection => "its memory could not be used",
            Self::LocalOperation => "the WQE says nothing that can be done",
            Self::RemoteAccess => "the peer refused the access",
            Self::RemoteOperation => "the peer could not do it",
        }
    }
}

impl TryFrom<u8> for CqeStatus {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "cqe_status", value: raw })
    }
}

impl From<CqeStatus> for u8 {
    fn from(value: CqeStatus) -> u8 {
        value.raw()
    }
}

/// What a command is to do, with which fields; in the answer.
pub mod command_opcode {
    /// a new protection domain; pd
    pub const ALLOC_PD: u8 = 1;
    /// removes an empty one: pd
    pub const DEALLOC_PD: u8 = 2;
    /// a new region: pd, base_to, iova, region_length, access; stag
    pub const REGISTER: u8 = 3;
    /// removes a region: stag
    pub const DEREGISTER: u8 = 4;
    /// a new queue pair: pd, send_depth, recv_depth, max_sge, rung, srq, qp_kind, of an XRC target xrcd; qp
    pub const CREATE_QP: u8 = 5;
    /// removes a queue pair: qp
    pub const DESTROY_QP: u8 = 6;
    /// moves a queue pair to CLOSING or ERROR: qp, state
    pub const MODIFY_QP: u8 = 7;
    /// asks for a queue pair: qp; state and its connection
    pub const QUERY_QP: u8 = 8;
    /// listens: port, backlog; port
    pub const LISTEN: u8 = 9;
    /// listens no more: port
    pub const UNLISTEN: u8 = 10;
    /// connects a queue pair: qp, remote_ip, remote_port, port, ird, ord, rtr, flags, extensions, revision, next_hop, mtu, tos, private data; conn
    pub const CONNECT: u8 = 11;
    /// answers a request with a queue pair: conn, qp, ird, ord, rtr, crc and markers of flags, extensions, tos, private data
    pub const ACCEPT: u8 = 12;
    /// answers a request with no: conn, private data
    pub const REJECT: u8 = 13;
    /// closes in order: conn
    pub const DISCONNECT: u8 = 14;
    /// closes at once: conn
    pub const ABORT: u8 = 15;
    /// asks for the next station on the way to an address, by ARP if it is not known: remote_ip; next_hop
    pub const RESOLVE: u8 = 16;
    /// makes a stream of a TCP connection of another stack: qp, port, remote_ip, remote_port, and a ring (stag, base_to, region_length) at whose begin lie the bytes not acknowledged, and behind them those not read; private data: a stream_state; conn
    pub const ADOPT: u8 = 17;
    /// ends a stream's plain bytes, RDMA follows: conn, passive or past_start_up of flags, ird, ord; to begin the start-up also what CONNECT has, with private data; past it crc, markers, markers_sent, extensions, revision
    pub const START_MPA: u8 = 18;
    /// a new shared receive queue: pd, recv_depth, max_sge, srq_limit, xrcd; srq
    pub const CREATE_SRQ: u8 = 19;
    /// removes one that no queue pair has: srq
    pub const DESTROY_SRQ: u8 = 20;
    /// asks for an event at a limit: srq, srq_limit
    pub const MODIFY_SRQ: u8 = 21;
    /// asks for a shared receive queue: srq; srq_limit, srq_waiting
    pub const QUERY_SRQ: u8 = 22;
    /// an STag without memory, for a memory window or a fast-registered region: pd, stag_kind; stag
    pub const ALLOC_STAG: u8 = 23;
    /// a new XRC domain; xrcd
    pub const ALLOC_XRCD: u8 = 24;
    /// removes one that no shared receive queue and no XRC target is in: xrcd
    pub const DEALLOC_XRCD: u8 = 25;
    /// a connection that is over and waits (TIME_WAIT) makes room, if there is one: port, remote_ip, remote_port
    pub const FORGET: u8 = 26;
}

/// What a command is to do, with which fields; in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CommandOpcode {
    /// a new protection domain; pd
    AllocPd = 1,
    /// removes an empty one: pd
    DeallocPd = 2,
    /// a new region: pd, base_to, iova, region_length, access; stag
    Register = 3,
    /// removes a region: stag
    Deregister = 4,
    /// a new queue pair: pd, send_depth, recv_depth, max_sge, rung, srq, qp_kind, of an XRC target xrcd; qp
    CreateQp = 5,
    /// removes a queue pair: qp
    DestroyQp = 6,
    /// moves a queue pair to CLOSING or ERROR: qp, state
    ModifyQp = 7,
    /// asks for a queue pair: qp; state and its connection
    QueryQp = 8,
    /// listens: port, backlog; port
    Listen = 9,
    /// listens no more: port
    Unlisten = 10,
    /// connects a queue pair: qp, remote_ip, remote_port, port, ird, ord, rtr, flags, extensions, revision, next_hop, mtu, tos, private data; conn
    Connect = 11,
    /// answers a request with a queue pair: conn, qp, ird, ord, rtr, crc and markers of flags, extensions, tos, private data
    Accept = 12,
    /// answers a request with no: conn, private data
    Reject = 13,
    /// closes in order: conn
    Disconnect = 14,
    /// closes at once: conn
    Abort = 15,
    /// asks for the next station on the way to an address, by ARP if it is not known: remote_ip; next_hop
    Resolve = 16,
    /// makes a stream of a TCP connection of another stack: qp, port, remote_ip, remote_port, and a ring (stag, base_to, region_length) at whose begin lie the bytes not acknowledged, and behind them those not read; private data: a stream_state; conn
    Adopt = 17,
    /// ends a stream's plain bytes, RDMA follows: conn, passive or past_start_up of flags, ird, ord; to begin the start-up also what CONNECT has, with private data; past it crc, markers, markers_sent, extensions, revision
    StartMpa = 18,
    /// a new shared receive queue: pd, recv_depth, max_sge, srq_limit, xrcd; srq
    CreateSrq = 19,
    /// removes one that no queue pair has: srq
    DestroySrq = 20,
    /// asks for an event at a limit: srq, srq_limit
    ModifySrq = 21,
    /// asks for a shared receive queue: srq; srq_limit, srq_waiting
    QuerySrq = 22,
    /// an STag without memory, for a memory window or a fast-registered region: pd, stag_kind; stag
    AllocStag = 23,
    /// a new XRC domain; xrcd
    AllocXrcd = 24,
    /// removes one that no shared receive queue and no XRC target is in: xrcd
    DeallocXrcd = 25,
    /// a connection that is over and waits (TIME_WAIT) makes room, if there is one: port, remote_ip, remote_port
    Forget = 26,
}

impl CommandOpcode {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::AllocPd,
        Self::DeallocPd,
        Self::Register,
        Self::Deregister,
        Self::CreateQp,
        Self::DestroyQp,
        Self::ModifyQp,
        Self::QueryQp,
        Self::Listen,
        Self::Unlisten,
        Self::Connect,
        Self::Accept,
        Self::Reject,
        Self::Disconnect,
        Self::Abort,
        Self::Resolve,
        Self::Adopt,
        Self::StartMpa,
        Self::CreateSrq,
        Self::DestroySrq,
        Self::ModifySrq,
        Self::QuerySrq,
        Self::AllocStag,
        Self::AllocXrcd,
        Self::DeallocXrcd,
        Self::Forget,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::AllocPd),
            2 => Some(Self::DeallocPd),
            3 => Some(Self::Register),
            4 => Some(Self::Deregister),
            5 => Some(Self::CreateQp),
            6 => Some(Self::DestroyQp),
            7 => Some(Self::ModifyQp),
            8 => Some(Self::QueryQp),
            9 => Some(Self::Listen),
            10 => Some(Self::Unlisten),
            11 => Some(Self::Connect),
            12 => Some(Self::Accept),
            13 => Some(Self::Reject),
            14 => Some(Self::Disconnect),
            15 => Some(Self::Abort),
            16 => Some(Self::Resolve),
            17 => Some(Self::Adopt),
            18 => Some(Self::StartMpa),
            19 => Some(Self::CreateSrq),
            20 => Some(Self::DestroySrq),
            21 => Some(Self::ModifySrq),
            22 => Some(Self::QuerySrq),
            23 => Some(Self::AllocStag),
            24 => Some(Self::AllocXrcd),
            25 => Some(Self::DeallocXrcd),
            26 => Some(Self::Forget),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllocPd => "ALLOC_PD",
            Self::DeallocPd => "DEALLOC_PD",
            Self::Register => "REGISTER",
            Self::Deregister => "DEREGISTER",
            Self::CreateQp => "CREATE_QP",
            Self::DestroyQp => "DESTROY_QP",
            Self::ModifyQp => "MODIFY_QP",
            Self::QueryQp => "QUERY_QP",
            Self::Listen => "LISTEN",
            Self::Unlisten => "UNLISTEN",
            Self::Connect => "CONNECT",
            Self::Accept => "ACCEPT",
            Self::Reject => "REJECT",
            Self::Disconnect => "DISCONNECT",
            Self::Abort => "ABORT",
            Self::Resolve => "RESOLVE",
            Self::Adopt => "ADOPT",
            Self::StartMpa => "START_MPA",
            Self::CreateSrq => "CREATE_SRQ",
            Self::DestroySrq => "DESTROY_SRQ",
            Self::ModifySrq => "MODIFY_SRQ",
            Self::QuerySrq => "QUERY_SRQ",
            Self::AllocStag => "ALLOC_STAG",
            Self::AllocXrcd => "ALLOC_XRCD",
            Self::DeallocXrcd => "DEALLOC_XRCD",
            Self::Forget => "FORGET",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::AllocPd => "a new protection domain; pd",
            Self::DeallocPd => "removes an empty one: pd",
            Self::Register => "a new region: pd, base_to, iova, region_length, access; stag",
            Self::Deregister => "removes a region: stag",
            Self::CreateQp => "a new queue pair: pd, send_depth, recv_depth, max_sge, rung, srq, qp_kind, of an XRC target xrcd; qp",
            Self::DestroyQp => "removes a queue pair: qp",
            Self::ModifyQp => "moves a queue pair to CLOSING or ERROR: qp, state",
            Self::QueryQp => "asks for a queue pair: qp; state and its connection",
            Self::Listen => "listens: port, backlog; port",
            Self::Unlisten => "listens no more: port",
            Self::Connect => "connects a queue pair: qp, remote_ip, remote_port, port, ird, ord, rtr, flags, extensions, revision, next_hop, mtu, tos, private data; conn",
            Self::Accept => "answers a request with a queue pair: conn, qp, ird, ord, rtr, crc and markers of flags, extensions, tos, private data",
            Self::Reject => "answers a request with no: conn, private data",
            Self::Disconnect => "closes in order: conn",
            Self::Abort => "closes at once: conn",
            Self::Resolve => "asks for the next station on the way to an address, by ARP if it is not known: remote_ip; next_hop",
            Self::Adopt => "makes a stream of a TCP connection of another stack: qp, port, remote_ip, remote_port, and a ring (stag, base_to, region_length) at whose begin lie the bytes not acknowledged, and behind them those not read; private data: a stream_state; conn",
            Self::StartMpa => "ends a stream's plain bytes, RDMA follows: conn, passive or past_start_up of flags, ird, ord; to begin the start-up also what CONNECT has, with private data; past it crc, markers, markers_sent, extensions, revision",
            Self::CreateSrq => "a new shared receive queue: pd, recv_depth, max_sge, srq_limit, xrcd; srq",
            Self::DestroySrq => "removes one that no queue pair has: srq",
            Self::ModifySrq => "asks for an event at a limit: srq, srq_limit",
            Self::QuerySrq => "asks for a shared receive queue: srq; srq_limit, srq_waiting",
            Self::AllocStag => "an STag without memory, for a memory window or a fast-registered region: pd, stag_kind; stag",
            Self::AllocXrcd => "a new XRC domain; xrcd",
            Self::DeallocXrcd => "removes one that no shared receive queue and no XRC target is in: xrcd",
            Self::Forget => "a connection that is over and waits (TIME_WAIT) makes room, if there is one: port, remote_ip, remote_port",
        }
    }
}

impl TryFrom<u8> for CommandOpcode {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "command_opcode", value: raw })
    }
}

impl From<CommandOpcode> for u8 {
    fn from(value: CommandOpcode) -> u8 {
        value.raw()
    }
}

/// Kinds of queue pairs.
pub mod queue_pair_kind {
    /// sends to shared receive queues that it names, and receives nothing
    pub const XRC_INITIATOR: u8 = 1;
    /// receives for the shared receive queues of an XRC domain, and sends nothing
    pub const XRC_TARGET: u8 = 2;
}

/// Kinds of queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QueuePairKind {
    /// sends to shared receive queues that it names, and receives nothing
    XrcInitiator = 1,
    /// receives for the shared receive queues of an XRC domain, and sends nothing
    XrcTarget = 2,
}

impl QueuePairKind {
    /// All of them.
    pub const ALL: [Self; 2] = [
        Self::XrcInitiator,
        Self::XrcTarget,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::XrcInitiator),
            2 => Some(Self::XrcTarget),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::XrcInitiator => "XRC_INITIATOR",
            Self::XrcTarget => "XRC_TARGET",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::XrcInitiator => "sends to shared receive queues that it names, and receives nothing",
            Self::XrcTarget => "receives for the shared receive queues of an XRC domain, and sends nothing",
        }
    }
}

impl TryFrom<u8> for QueuePairKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "queue_pair_kind", value: raw })
    }
}

impl From<QueuePairKind> for u8 {
    fn from(value: QueuePairKind) -> u8 {
        value.raw()
    }
}

/// What an STag without memory is for.
pub mod stag_kind {
    /// a memory window of type 1: for every queue pair of its domain
    pub const WINDOW_1: u8 = 1;
    /// a memory window of type 2: for the queue pair that binds it
    pub const WINDOW_2: u8 = 2;
    /// a region that gets its memory by FAST_REGISTER
    pub const FAST_REGION: u8 = 3;
}

/// What an STag without memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StagKind {
    /// a memory window of type 1: for every queue pair of its domain
    Window1 = 1,
    /// a memory window of type 2: for the queue pair that binds it
    Window2 = 2,
    /// a region that gets its memory by FAST_REGISTER
    FastRegion = 3,
}

impl StagKind {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::Window1,
        Self::Window2,
        Self::FastRegion,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Window1),
            2 => Some(Self::Window2),
            3 => Some(Self::FastRegion),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window1 => "WINDOW_1",
            Self::Window2 => "WINDOW_2",
            Self::FastRegion => "FAST_REGION",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Window1 => "a memory window of type 1: for every queue pair of its domain",
            Self::Window2 => "a memory window of type 2: for the queue pair that binds it",
            Self::FastRegion => "a region that gets its memory by FAST_REGISTER",
        }
    }
}

impl TryFrom<u8> for StagKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "stag_kind", value: raw })
    }
}

impl From<StagKind> for u8 {
    fn from(value: StagKind) -> u8 {
        value.raw()
    }
}

/// What became of a command. Unless it was DONE, nothing was changed.
pub mod command_status {
    /// done
    pub const DONE: u8 = 0;
    /// no such command, or a field of it has a value without meaning
    pub const MALFORMED: u8 = 1;
    /// no such protection domain
    pub const UNKNOWN_PD: u8 = 2;
    /// no such queue pair
    pub const UNKNOWN_QP: u8 = 3;
    /// no such connection
    pub const UNKNOWN_CONNECTION: u8 = 4;
    /// no such region: stag
    pub const UNKNOWN_STAG: u8 = 5;
    /// base plus length exceeds 2^64
    pub const INVALID_REGION: u8 = 6;
    /// all STags are in use
    pub const NO_STAGS: u8 = 7;
    /// all flows of the card are in use
    pub const NO_FLOWS: u8 = 8;
    /// the card's flow lookup has no place for this address pair
    pub const NO_FLOW_KEY: u8 = 9;
    /// all connections are in use
    pub const NO_CONNECTIONS: u8 = 10;
    /// no memory for a receive queue
    pub const NO_MEMORY: u8 = 11;
    /// all local ports are in use
    pub const NO_PORTS: u8 = 12;
    /// a depth or a number of SGEs that no queue pair has
    pub const INVALID_QP_CONFIG: u8 = 13;
    /// not in this state of the queue pair
    pub const WRONG_QP_STATE: u8 = 14;
    /// not in this state of the connection
    pub const WRONG_CONNECTION_STATE: u8 = 15;
    /// still in use
    pub const IN_USE: u8 = 16;
    /// another listener or connection has the port: port
    pub const PORT_IN_USE: u8 = 17;
    /// more than the MPA frame has room for: given, limit
    pub const PRIVATE_DATA_TOO_LONG: u8 = 18;
    /// an IRD or ORD above 16382: given
    pub const INVALID_READ_DEPTH: u8 = 19;
    /// peer-to-peer without revision 2 or without RTR kind
    pub const INVALID_PEER_TO_PEER: u8 = 20;
    /// not the address of a station that can be reached
    pub const INVALID_ADDRESS: u8 = 21;
    /// a queue pair in state is not moved to the one asked for by command
    pub const NO_TRANSITION: u8 = 22;
    /// rung: the card has no processor for the control
    pub const RUNG_NO_PROCESSOR: u8 = 24;
    /// rung: the card has no control in RTL
    pub const RUNG_NO_FAST_PATH: u8 = 25;
    /// rung: the host gave no memory for a send buffer
    pub const RUNG_NO_SEND_BUFFER: u8 = 26;
    /// no connection can be in this stream_state; why: given
    pub const INVALID_HANDOVER: u8 = 27;
    /// no such shared receive queue
    pub const UNKNOWN_SRQ: u8 = 28;
    /// a depth, a number of SGEs or a limit that no shared receive queue has, or a queue pair of another domain
    pub const INVALID_SRQ: u8 = 29;
    /// rung: the control of this card is on its own processor
    pub const RUNG_ON_CARD: u8 = 30;
    /// no such XRC domain
    pub const UNKNOWN_XRCD: u8 = 31;
    /// a queue pair of this kind does not do that
    pub const WRONG_QP_KIND: u8 = 32;
    /// segments that begin with an FPDU, without revision 2 or without CRC32C
    pub const INVALID_ALIGNED: u8 = 33;
}

/// What became of a command. Unless it was DONE, nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CommandStatus {
    /// done
    Done = 0,
    /// no such command, or a field of it has a value without meaning
    Malformed = 1,
    /// no such protection domain
    UnknownPd = 2,
    /// no such queue pair
    UnknownQp = 3,
    /// no such connection
    UnknownConnection = 4,
    /// no such region: stag
    UnknownStag = 5,
    /// base plus length exceeds 2^64
    InvalidRegion = 6,
    /// all STags are in use
    NoStags = 7,
    /// all flows of the card are in use
    NoFlows = 8,
    /// the card's flow lookup has no place for this address pair
    NoFlowKey = 9,
    /// all connections are in use
    NoConnections = 10,
    /// no memory for a receive queue
    NoMemory = 11,
    /// all local ports are in use
    NoPorts = 12,
    /// a depth or a number of SGEs that no queue pair has
    InvalidQpConfig = 13,
    /// not in this state of the queue pair
    WrongQpState = 14,
    /// not in this state of the connection
    WrongConnectionState = 15,
    /// still in use
    InUse = 16,
    /// another listener or connection has the port: port
    PortInUse = 17,
    /// more than the MPA frame has room for: given, limit
    PrivateDataTooLong = 18,
    /// an IRD or ORD above 16382: given
    InvalidReadDepth = 19,
    /// peer-to-peer without revision 2 or without RTR kind
    InvalidPeerToPeer = 20,
    /// not the address of a station that can be reached
    InvalidAddress = 21,
    /// a queue pair in state is not moved to the one asked for by command
    NoTransition = 22,
    /// rung: the card has no processor for the control
    RungNoProcessor = 24,
    /// rung: the card has no control in RTL
    RungNoFastPath = 25,
    /// rung: the host gave no memory for a send buffer
    RungNoSendBuffer = 26,
    /// no connection can be in this stream_state; why: given
    InvalidHandover = 27,
    /// no such shared receive queue
    UnknownSrq = 28,
    /// a depth, a number of SGEs or a limit that no shared receive queue has, or a queue pair of another domain
    InvalidSrq = 29,
    /// rung: the control of this card is on its own processor
    RungOnCard = 30,
    /// no such XRC domain
    UnknownXrcd = 31,
    /// a queue pair of this kind does not do that
    WrongQpKind = 32,
    /// segments that begin with an FPDU, without revision 2 or without CRC32C
    InvalidAligned = 33,
}

impl CommandStatus {
    /// All of them.
    pub const ALL: [Self; 33] = [
        Self::Done,
        Self::Malformed,
        Self::UnknownPd,
        Self::UnknownQp,
        Self::UnknownConnection,
        Self::UnknownStag,
        Self::InvalidRegion,
        Self::NoStags,
        Self::NoFlows,
        Self::NoFlowKey,
        Self::NoConnections,
        Self::NoMemory,
        Self::NoPorts,
        Self::InvalidQpConfig,
        Self::WrongQpState,
        Self::WrongConnectionState,
        Self::InUse,
        Self::PortInUse,
        Self::PrivateDataTooLong,
        Self::InvalidReadDepth,
        Self::InvalidPeerToPeer,
        Self::InvalidAddress,
        Self::NoTransition,
        Self::RungNoProcessor,
        Self::RungNoFastPath,
        Self::RungNoSendBuffer,
        Self::InvalidHandover,
        Self::UnknownSrq,
        Self::InvalidSrq,
        Self::RungOnCard,
        Self::UnknownXrcd,
        Self::WrongQpKind,
        Self::InvalidAligned,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Done),
            1 => Some(Self::Malformed),
            2 => Some(Self::UnknownPd),
            3 => Some(Self::UnknownQp),
            4 => Some(Self::UnknownConnection),
            5 => Some(Self::UnknownStag),
            6 => Some(Self::InvalidRegion),
            7 => Some(Self::NoStags),
            8 => Some(Self::NoFlows),
            9 => Some(Self::NoFlowKey),
            10 => Some(Self::NoConnections),
            11 => Some(Self::NoMemory),
            12 => Some(Self::NoPorts),
            13 => Some(Self::InvalidQpConfig),
            14 => Some(Self::WrongQpState),
            15 => Some(Self::WrongConnectionState),
            16 => Some(Self::InUse),
            17 => Some(Self::PortInUse),
            18 => Some(Self::PrivateDataTooLong),
            19 => Some(Self::InvalidReadDepth),
            20 => Some(Self::InvalidPeerToPeer),
            21 => Some(Self::InvalidAddress),
            22 => Some(Self::NoTransition),
            24 => Some(Self::RungNoProcessor),
            25 => Some(Self::RungNoFastPath),
            26 => Some(Self::RungNoSendBuffer),
            27 => Some(Self::InvalidHandover),
            28 => Some(Self::UnknownSrq),
            29 => Some(Self::InvalidSrq),
            30 => Some(Self::RungOnCard),
            31 => Some(Self::UnknownXrcd),
            32 => Some(Self::WrongQpKind),
            33 => Some(Self::InvalidAligned),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Malformed => "MALFORMED",
            Self::UnknownPd => "UNKNOWN_PD",
            Self::UnknownQp => "UNKNOWN_QP",
            Self::UnknownConnection => "UNKNOWN_CONNECTION",
            Self::UnknownStag => "UNKNOWN_STAG",
            Self::InvalidRegion => "INVALID_REGION",
            Self::NoStags => "NO_STAGS",
            Self::NoFlows => "NO_FLOWS",
            Self::NoFlowKey => "NO_FLOW_KEY",
            Self::NoConnections => "NO_CONNECTIONS",
            Self::NoMemory => "NO_MEMORY",
            Self::NoPorts => "NO_PORTS",
            Self::InvalidQpConfig => "INVALID_QP_CONFIG",
            Self::WrongQpState => "WRONG_QP_STATE",
            Self::WrongConnectionState => "WRONG_CONNECTION_STATE",
            Self::InUse => "IN_USE",
            Self::PortInUse => "PORT_IN_USE",
            Self::PrivateDataTooLong => "PRIVATE_DATA_TOO_LONG",
            Self::InvalidReadDepth => "INVALID_READ_DEPTH",
            Self::InvalidPeerToPeer => "INVALID_PEER_TO_PEER",
            Self::InvalidAddress => "INVALID_ADDRESS",
            Self::NoTransition => "NO_TRANSITION",
            Self::RungNoProcessor => "RUNG_NO_PROCESSOR",
            Self::RungNoFastPath => "RUNG_NO_FAST_PATH",
            Self::RungNoSendBuffer => "RUNG_NO_SEND_BUFFER",
            Self::InvalidHandover => "INVALID_HANDOVER",
            Self::UnknownSrq => "UNKNOWN_SRQ",
            Self::InvalidSrq => "INVALID_SRQ",
            Self::RungOnCard => "RUNG_ON_CARD",
            Self::UnknownXrcd => "UNKNOWN_XRCD",
            Self::WrongQpKind => "WRONG_QP_KIND",
            Self::InvalidAligned => "INVALID_ALIGNED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Malformed => "no such command, or a field of it has a value without meaning",
            Self::UnknownPd => "no such protection domain",
            Self::UnknownQp => "no such queue pair",
            Self::UnknownConnection => "no such connection",
            Self::UnknownStag => "no such region: stag",
            Self::InvalidRegion => "base plus length exceeds 2^64",
            Self::NoStags => "all STags are in use",
            Self::NoFlows => "all flows of the card are in use",
            Self::NoFlowKey => "the card's flow lookup has no place for this address pair",
            Self::NoConnections => "all connections are in use",
            Self::NoMemory => "no memory for a receive queue",
            Self::NoPorts => "all local ports are in use",
            Self::InvalidQpConfig => "a depth or a number of SGEs that no queue pair has",
            Self::WrongQpState => "not in this state of the queue pair",
            Self::WrongConnectionState => "not in this state of the connection",
            Self::InUse => "still in use",
            Self::PortInUse => "another listener or connection has the port: port",
            Self::PrivateDataTooLong => "more than the MPA frame has room for: given, limit",
            Self::InvalidReadDepth => "an IRD or ORD above 16382: given",
            Self::InvalidPeerToPeer => "peer-to-peer without revision 2 or without RTR kind",
            Self::InvalidAddress => "not the address of a station that can be reached",
            Self::NoTransition => "a queue pair in state is not moved to the one asked for by command",
            Self::RungNoProcessor => "rung: the card has no processor for the control",
            Self::RungNoFastPath => "rung: the card has no control in RTL",
            Self::RungNoSendBuffer => "rung: the host gave no memory for a send buffer",
            Self::InvalidHandover => "no connection can be in this stream_state; why: given",
            Self::UnknownSrq => "no such shared receive queue",
            Self::InvalidSrq => "a depth, a number of SGEs or a limit that no shared receive queue has, or a queue pair of another domain",
            Self::RungOnCard => "rung: the control of this card is on its own processor",
            Self::UnknownXrcd => "no such XRC domain",
            Self::WrongQpKind => "a queue pair of this kind does not do that",
            Self::InvalidAligned => "segments that begin with an FPDU, without revision 2 or without CRC32C",
        }
    }
}

impl TryFrom<u8> for CommandStatus {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "command_status", value: raw })
    }
}

impl From<CommandStatus> for u8 {
    fn from(value: CommandStatus) -> u8 {
        value.raw()
    }
}

/// Rungs of the partition ladder.
pub mod partition_rung {
    /// software frames, computes and checks CRCs, and copies
    pub const HOST: u8 = 1;
    /// the card computes and checks the CRCs
    pub const CRC: u8 = 2;
    /// the card frames, checks and places
    pub const PLACEMENT: u8 = 3;
    /// the control on a processor of the card
    pub const FIRMWARE: u8 = 4;
    /// the usual case in RTL
    pub const FULL: u8 = 5;
    /// the card computes the CRCs of what is sent
    pub const CRC_SEND: u8 = 6;
}

/// Rungs of the partition ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PartitionRung {
    /// software frames, computes and checks CRCs, and copies
    Host = 1,
    /// the card computes and checks the CRCs
    Crc = 2,
    /// the card frames, checks and places
    Placement = 3,
    /// the control on a processor of the card
    Firmware = 4,
    /// the usual case in RTL
    Full = 5,
    /// the card computes the CRCs of what is sent
    CrcSend = 6,
}

impl PartitionRung {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Host,
        Self::Crc,
        Self::Placement,
        Self::Firmware,
        Self::Full,
        Self::CrcSend,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Host),
            2 => Some(Self::Crc),
            3 => Some(Self::Placement),
            4 => Some(Self::Firmware),
            5 => Some(Self::Full),
            6 => Some(Self::CrcSend),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "HOST",
            Self::Crc => "CRC",
            Self::Placement => "PLACEMENT",
            Self::Firmware => "FIRMWARE",
            Self::Full => "FULL",
            Self::CrcSend => "CRC_SEND",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Host => "software frames, computes and checks CRCs, and copies",
            Self::Crc => "the card computes and checks the CRCs",
            Self::Placement => "the card frames, checks and places",
            Self::Firmware => "the control on a processor of the card",
            Self::Full => "the usual case in RTL",
            Self::CrcSend => "the card computes the CRCs of what is sent",
        }
    }
}

impl TryFrom<u8> for PartitionRung {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "partition_rung", value: raw })
    }
}

impl From<PartitionRung> for u8 {
    fn from(value: PartitionRung) -> u8 {
        value.raw()
    }
}

/// States of a queue pair.
pub mod queue_pair_state {
    /// not connected yet
    pub const IDLE: u8 = 0;
    /// connected
    pub const RTS: u8 = 1;
    /// this side closes: what is posted is still done
    pub const CLOSING: u8 = 2;
    /// a Terminate is on its way out
    pub const TERMINATING: u8 = 3;
    /// everything is flushed
    pub const ERROR: u8 = 4;
}

/// States of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QueuePairState {
    /// not connected yet
    Idle = 0,
    /// connected
    Rts = 1,
    /// this side closes: what is posted is still done
    Closing = 2,
    /// a Terminate is on its way out
    Terminating = 3,
    /// everything is flushed
    Error = 4,
}

impl QueuePairState {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Idle,
        Self::Rts,
        Self::Closing,
        Self::Terminating,
        Self::Error,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Idle),
            1 => Some(Self::Rts),
            2 => Some(Self::Closing),
            3 => Some(Self::Terminating),
            4 => Some(Self::Error),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Rts => "RTS",
            Self::Closing => "CLOSING",
            Self::Terminating => "TERMINATING",
            Self::Error => "ERROR",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Idle => "not connected yet",
            Self::Rts => "connected",
            Self::Closing => "this side closes: what is posted is still done",
            Self::Terminating => "a Terminate is on its way out",
            Self::Error => "everything is flushed",
        }
    }
}

impl TryFrom<u8> for QueuePairState {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "queue_pair_state", value: raw })
    }
}

impl From<QueuePairState> for u8 {
    fn from(value: QueuePairState) -> u8 {
        value.raw()
    }
}

/// Whether connections have ECN (RFC 3168).
pub mod ecn_use {
    /// never
    pub const NEVER: u8 = 0;
    /// when the peer asks for it, and for DCTCP, which needs it, this side asks
    pub const WHEN_ASKED: u8 = 1;
    /// this side asks, and agrees when asked
    pub const ASK: u8 = 2;
}

/// Whether connections have ECN (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EcnUse {
    /// never
    Never = 0,
    /// when the peer asks for it, and for DCTCP, which needs it, this side asks
    WhenAsked = 1,
    /// this side asks, and agrees when asked
    Ask = 2,
}

impl EcnUse {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::Never,
        Self::WhenAsked,
        Self::Ask,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Never),
            1 => Some(Self::WhenAsked),
            2 => Some(Self::Ask),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "NEVER",
            Self::WhenAsked => "WHEN_ASKED",
            Self::Ask => "ASK",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::WhenAsked => "when the peer asks for it, and for DCTCP, which needs it, this side asks",
            Self::Ask => "this side asks, and agrees when asked",
        }
    }
}

impl TryFrom<u8> for EcnUse {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "ecn_use", value: raw })
    }
}

impl From<EcnUse> for u8 {
    fn from(value: EcnUse) -> u8 {
        value.raw()
    }
}

/// Congestion control of a connection.
pub mod congestion_control {
    /// RFC 5681, RFC 6582
    pub const RENO: u8 = 0;
    /// RFC 9438
    pub const CUBIC: u8 = 1;
    /// RFC 8257
    pub const DCTCP: u8 = 2;
    /// by delay
    pub const DELAY: u8 = 3;
    /// another one, which a program has brought: told of a connection, and never asked for
    pub const CUSTOM: u8 = 255;
}

/// Congestion control of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CongestionControl {
    /// RFC 5681, RFC 6582
    Reno = 0,
    /// RFC 9438
    Cubic = 1,
    /// RFC 8257
    Dctcp = 2,
    /// by delay
    Delay = 3,
    /// another one, which a program has brought: told of a connection, and never asked for
    Custom = 255,
}

impl CongestionControl {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Reno,
        Self::Cubic,
        Self::Dctcp,
        Self::Delay,
        Self::Custom,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Reno),
            1 => Some(Self::Cubic),
            2 => Some(Self::Dctcp),
            3 => Some(Self::Delay),
            255 => Some(Self::Custom),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "RENO",
            Self::Cubic => "CUBIC",
            Self::Dctcp => "DCTCP",
            Self::Delay => "DELAY",
            Self::Custom => "CUSTOM",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Reno => "RFC 5681, RFC 6582",
            Self::Cubic => "RFC 9438",
            Self::Dctcp => "RFC 8257",
            Self::Delay => "by delay",
            Self::Custom => "another one, which a program has brought: told of a connection, and never asked for",
        }
    }
}

impl TryFrom<u8> for CongestionControl {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "congestion_control", value: raw })
    }
}

impl From<CongestionControl> for u8 {
    fn from(value: CongestionControl) -> u8 {
        value.raw()
    }
}

/// What an event tells of, with which fields.
pub mod event_kind {
    /// somebody wants to connect: conn, port, remote_ip, remote_port, ird, ord, rtr, revision, private data
    pub const CONNECT_REQUEST: u8 = 1;
    /// the connection stands: conn, qp, revision, ird, ord, rtr, flags, peer_ird, peer_ord, private data
    pub const ESTABLISHED: u8 = 2;
    /// the peer's application said no: conn, ird, ord, private data
    pub const REJECTED: u8 = 3;
    /// the connection did not come about: conn, failure
    pub const CONNECT_ERROR: u8 = 4;
    /// an established connection ended: conn, qp, reason
    pub const DISCONNECTED: u8 = 5;
    /// the queue pair failed: qp, terminate, received
    pub const QP_FATAL: u8 = 6;
    /// somebody has connected to a port of plain bytes: conn, port, remote_ip, remote_port
    pub const STREAM_REQUEST: u8 = 7;
    /// a connection of plain bytes stands: conn, qp
    pub const STREAM_ESTABLISHED: u8 = 8;
    /// a connection of plain bytes is over: conn, qp, reason
    pub const STREAM_CLOSED: u8 = 9;
    /// a shared receive queue has fewer elements than its limit, which is 0 from now on: srq
    pub const SRQ_LIMIT: u8 = 10;
    /// a queue pair takes nothing more from its shared receive queue: qp
    pub const LAST_WQE: u8 = 11;
    /// nothing is left of a connection that is over: conn. An engine on the card says so
    pub const FORGOTTEN: u8 = 12;
    /// the next station on the way of a connection is another one: conn. Likewise
    pub const MOVED: u8 = 13;
}

/// What an event tells of, with which fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// somebody wants to connect: conn, port, remote_ip, remote_port, ird, ord, rtr, revision, private data
    ConnectRequest = 1,
    /// the connection stands: conn, qp, revision, ird, ord, rtr, flags, peer_ird, peer_ord, private data
    Established = 2,
    /// the peer's application said no: conn, ird, ord, private data
    Rejected = 3,
    /// the connection did not come about: conn, failure
    ConnectError = 4,
    /// an established connection ended: conn, qp, reason
    Disconnected = 5,
    /// the queue pair failed: qp, terminate, received
    QpFatal = 6,
    /// somebody has connected to a port of plain bytes: conn, port, remote_ip, remote_port
    StreamRequest = 7,
    /// a connection of plain bytes stands: conn, qp
    StreamEstablished = 8,
    /// a connection of plain bytes is over: conn, qp, reason
    StreamClosed = 9,
    /// a shared receive queue has fewer elements than its limit, which is 0 from now on: srq
    SrqLimit = 10,
    /// a queue pair takes nothing more from its shared receive queue: qp
    LastWqe = 11,
    /// nothing is left of a connection that is over: conn. An engine on the card says so
    Forgotten = 12,
    /// the next station on the way of a connection is another one: conn. Likewise
    Moved = 13,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::ConnectRequest,
        Self::Established,
        Self::Rejected,
        Self::ConnectError,
        Self::Disconnected,
        Self::QpFatal,
        Self::StreamRequest,
        Self::StreamEstablished,
        Self::StreamClosed,
        Self::SrqLimit,
        Self::LastWqe,
        Self::Forgotten,
        Self::Moved,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::ConnectRequest),
            2 => Some(Self::Established),
            3 => Some(Self::Rejected),
            4 => Some(Self::ConnectError),
            5 => Some(Self::Disconnected),
            6 => Some(Self::QpFatal),
            7 => Some(Self::StreamRequest),
            8 => Some(Self::StreamEstablished),
            9 => Some(Self::StreamClosed),
            10 => Some(Self::SrqLimit),
            11 => Some(Self::LastWqe),
            12 => Some(Self::Forgotten),
            13 => Some(Self::Moved),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectRequest => "CONNECT_REQUEST",
            Self::Established => "ESTABLISHED",
            Self::Rejected => "REJECTED",
            Self::ConnectError => "CONNECT_ERROR",
            Self::Disconnected => "DISCONNECTED",
            Self::QpFatal => "QP_FATAL",
            Self::StreamRequest => "STREAM_REQUEST",
            Self::StreamEstablished => "STREAM_ESTABLISHED",
            Self::StreamClosed => "STREAM_CLOSED",
            Self::SrqLimit => "SRQ_LIMIT",
            Self::LastWqe => "LAST_WQE",
            Self::Forgotten => "FORGOTTEN",
            Self::Moved => "MOVED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::ConnectRequest => "somebody wants to connect: conn, port, remote_ip, remote_port, ird, ord, rtr, revision, private data",
            Self::Established => "the connection stands: conn, qp, revision, ird, ord, rtr, flags, peer_ird, peer_ord, private data",
            Self::Rejected => "the peer's application said no: conn, ird, ord, private data",
            Self::ConnectError => "the connection did not come about: conn, failure",
            Self::Disconnected => "an established connection ended: conn, qp, reason",
            Self::QpFatal => "the queue pair failed: qp, terminate, received",
            Self::StreamRequest => "somebody has connected to a port of plain bytes: conn, port, remote_ip, remote_port",
            Self::StreamEstablished => "a connection of plain bytes stands: conn, qp",
            Self::StreamClosed => "a connection of plain bytes is over: conn, qp, reason",
            Self::SrqLimit => "a shared receive queue has fewer elements than its limit, which is 0 from now on: srq",
            Self::LastWqe => "a queue pair takes nothing more from its shared receive queue: qp",
            Self::Forgotten => "nothing is left of a connection that is over: conn. An engine on the card says so",
            Self::Moved => "the next station on the way of a connection is another one: conn. Likewise",
        }
    }
}

impl TryFrom<u8> for EventKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "event_kind", value: raw })
    }
}

impl From<EventKind> for u8 {
    fn from(value: EventKind) -> u8 {
        value.raw()
    }
}

/// Why a connection did not come about.
pub mod connect_failure {
    /// no answer to ARP or SYN
    pub const UNREACHABLE: u8 = 1;
    /// the port has no listener
    pub const REFUSED: u8 = 2;
    /// the peer's TCP answered, its MPA did not
    pub const TIMED_OUT: u8 = 3;
    /// closed or reset during start-up
    pub const CLOSED: u8 = 4;
    /// the reply is malformed, or no answer to the request
    pub const INVALID_REPLY: u8 = 5;
    /// the reply allows none of the RTR kinds offered
    pub const NO_MATCHING_RTR: u8 = 6;
    /// the peer takes fewer Reads than this side insists on
    pub const INSUFFICIENT_READS: u8 = 7;
    /// the card had no room for the flow
    pub const NO_RESOURCES: u8 = 8;
    /// the first message was none that may come first, or the RTR never came
    pub const NO_RTR: u8 = 9;
    /// the peer speaks another revision of MPA
    pub const UNSUPPORTED_REVISION: u8 = 10;
    /// the peer's MSS leaves no room for an FPDU of 128 bytes
    pub const SEGMENT_TOO_SMALL: u8 = 11;
    /// the peer has accepted, but not as an XRC target
    pub const NO_XRC: u8 = 12;
}

/// Why a connection did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ConnectFailure {
    /// no answer to ARP or SYN
    Unreachable = 1,
    /// the port has no listener
    Refused = 2,
    /// the peer's TCP answered, its MPA did not
    TimedOut = 3,
    /// closed or reset during start-up
    Closed = 4,
    /// the reply is malformed, or no answer to the request
    InvalidReply = 5,
    /// the reply allows none of the RTR kinds offered
    NoMatchingRtr = 6,
    /// the peer takes fewer Reads than this side insists on
    InsufficientReads = 7,
    /// the card had no room for the flow
    NoResources = 8,
    /// the first message was none that may come first, or the RTR never came
    NoRtr = 9,
    /// the peer speaks another revision of MPA
    UnsupportedRevision = 10,
    /// the peer's MSS leaves no room for an FPDU of 128 bytes
    SegmentTooSmall = 11,
    /// the peer has accepted, but not as an XRC target
    NoXrc = 12,
}

impl ConnectFailure {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Unreachable,
        Self::Refused,
        Self::TimedOut,
        Self::Closed,
        Self::InvalidReply,
        Self::NoMatchingRtr,
        Self::InsufficientReads,
        Self::NoResources,
        Self::NoRtr,
        Self::UnsupportedRevision,
        Self::SegmentTooSmall,
        Self::NoXrc,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Unreachable),
            2 => Some(Self::Refused),
            3 => Some(Self::TimedOut),
            4 => Some(Self::Closed),
            5 => Some(Self::InvalidReply),
            6 => Some(Self::NoMatchingRtr),
            7 => Some(Self::InsufficientReads),
            8 => Some(Self::NoResources),
            9 => Some(Self::NoRtr),
            10 => Some(Self::UnsupportedRevision),
            11 => Some(Self::SegmentTooSmall),
            12 => Some(Self::NoXrc),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "UNREACHABLE",
            Self::Refused => "REFUSED",
            Self::TimedOut => "TIMED_OUT",
            Self::Closed => "CLOSED",
            Self::InvalidReply => "INVALID_REPLY",
            Self::NoMatchingRtr => "NO_MATCHING_RTR",
            Self::InsufficientReads => "INSUFFICIENT_READS",
            Self::NoResources => "NO_RESOURCES",
            Self::NoRtr => "NO_RTR",
            Self::UnsupportedRevision => "UNSUPPORTED_REVISION",
            Self::SegmentTooSmall => "SEGMENT_TOO_SMALL",
            Self::NoXrc => "NO_XRC",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Unreachable => "no answer to ARP or SYN",
            Self::Refused => "the port has no listener",
            Self::TimedOut => "the peer's TCP answered, its MPA did not",
            Self::Closed => "closed or reset during start-up",
            Self::InvalidReply => "the reply is malformed, or no answer to the request",
            Self::NoMatchingRtr => "the reply allows none of the RTR kinds offered",
            Self::InsufficientReads => "the peer takes fewer Reads than this side insists on",
            Self::NoResources => "the card had no room for the flow",
            Self::NoRtr => "the first message was none that may come first, or the RTR never came",
            Self::UnsupportedRevision => "the peer speaks another revision of MPA",
            Self::SegmentTooSmall => "the peer's MSS leaves no room for an FPDU of 128 bytes",
            Self::NoXrc => "the peer has accepted, but not as an XRC target",
        }
    }
}

impl TryFrom<u8> for ConnectFailure {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "connect_failure", value: raw })
    }
}

impl From<ConnectFailure> for u8 {
    fn from(value: ConnectFailure) -> u8 {
        value.raw()
    }
}

/// Why a connection ended.
pub mod disconnect_reason {
    /// this side closed it in order
    pub const LOCAL: u8 = 1;
    /// the peer closed it in order
    pub const PEER: u8 = 2;
    /// RST from the peer
    pub const RESET: u8 = 3;
    /// the peer no longer answers
    pub const TIMED_OUT: u8 = 4;
    /// aborted by this side
    pub const ABORTED: u8 = 5;
    /// after a Terminate
    pub const TERMINATED: u8 = 6;
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DisconnectReason {
    /// this side closed it in order
    Local = 1,
    /// the peer closed it in order
    Peer = 2,
    /// RST from the peer
    Reset = 3,
    /// the peer no longer answers
    TimedOut = 4,
    /// aborted by this side
    Aborted = 5,
    /// after a Terminate
    Terminated = 6,
}

impl DisconnectReason {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Local,
        Self::Peer,
        Self::Reset,
        Self::TimedOut,
        Self::Aborted,
        Self::Terminated,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Local),
            2 => Some(Self::Peer),
            3 => Some(Self::Reset),
            4 => Some(Self::TimedOut),
            5 => Some(Self::Aborted),
            6 => Some(Self::Terminated),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "LOCAL",
            Self::Peer => "PEER",
            Self::Reset => "RESET",
            Self::TimedOut => "TIMED_OUT",
            Self::Aborted => "ABORTED",
            Self::Terminated => "TERMINATED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Local => "this side closed it in order",
            Self::Peer => "the peer closed it in order",
            Self::Reset => "RST from the peer",
            Self::TimedOut => "the peer no longer answers",
            Self::Aborted => "aborted by this side",
            Self::Terminated => "after a Terminate",
        }
    }
}

impl TryFrom<u8> for DisconnectReason {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "disconnect_reason", value: raw })
    }
}

impl From<DisconnectReason> for u8 {
    fn from(value: DisconnectReason) -> u8 {
        value.raw()
    }
}

/// What happened: kinds of a trace_entry.
pub mod trace_kind {
    /// a frame was received whole and kept: info = its bytes, detail = trace_frame_in, value = the sequence number if it is TCP
    pub const FRAME_IN: u8 = 1;
    /// a frame was dropped: detail = trace_drop, info = its bytes
    pub const FRAME_DROPPED: u8 = 2;
    /// what became of a kept frame, in the order of arrival: detail = trace_verdict, flow, value = sequence number (TCP), info = bytes of the frame
    pub const VERDICT: u8 = 3;
    /// a report went to the report ring: detail = report_kind, flow, value = its number, info = the terminate code of an FPDU, the status of a job
    pub const REPORT: u8 = 4;
    /// a job was fetched and is its turn: detail = job_kind (0: its slot could not be read), flow, value = its number, info = its length, at most 65535
    pub const JOB_BEGIN: u8 = 5;
    /// a job is done: detail = job_status, flow, value = its number
    pub const JOB_DONE: u8 = 6;
    /// the last beat of a frame left: info = its bytes, detail = trace_frame_out, value = the sequence number if its headers are the card's
    pub const FRAME_OUT: u8 = 7;
    /// an interrupt was asked for: detail = vector, value = REPORT_TAIL, info = 1 if REPORT_GAP made it
    pub const INTERRUPT: u8 = 8;
    /// the host rang: info = the doorbell's offset, value = what it wrote, flow (RQ_TAIL)
    pub const DOORBELL: u8 = 9;
    /// a table access is done: detail = trace_table, value = the index
    pub const TABLE: u8 = 10;
    /// the host wrote a register (not TABLE_DATA, TABLE_CMD, TRACE_CTRL): info = its offset, value
    pub const REGISTER: u8 = 11;
    /// host memory answered with an error: detail = trace_dma_error, info = the AXI ID of a read (0 payload, 1 jobs, 2 receive elements)
    pub const DMA_ERROR: u8 = 12;
    /// events before this one were lost: value = TRACE_LOST
    pub const LOST: u8 = 15;
}

/// What happened: kinds of a trace_entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TraceKind {
    /// a frame was received whole and kept: info = its bytes, detail = trace_frame_in, value = the sequence number if it is TCP
    FrameIn = 1,
    /// a frame was dropped: detail = trace_drop, info = its bytes
    FrameDropped = 2,
    /// what became of a kept frame, in the order of arrival: detail = trace_verdict, flow, value = sequence number (TCP), info = bytes of the frame
    Verdict = 3,
    /// a report went to the report ring: detail = report_kind, flow, value = its number, info = the terminate code of an FPDU, the status of a job
    Report = 4,
    /// a job was fetched and is its turn: detail = job_kind (0: its slot could not be read), flow, value = its number, info = its length, at most 65535
    JobBegin = 5,
    /// a job is done: detail = job_status, flow, value = its number
    JobDone = 6,
    /// the last beat of a frame left: info = its bytes, detail = trace_frame_out, value = the sequence number if its headers are the card's
    FrameOut = 7,
    /// an interrupt was asked for: detail = vector, value = REPORT_TAIL, info = 1 if REPORT_GAP made it
    Interrupt = 8,
    /// the host rang: info = the doorbell's offset, value = what it wrote, flow (RQ_TAIL)
    Doorbell = 9,
    /// a table access is done: detail = trace_table, value = the index
    Table = 10,
    /// the host wrote a register (not TABLE_DATA, TABLE_CMD, TRACE_CTRL): info = its offset, value
    Register = 11,
    /// host memory answered with an error: detail = trace_dma_error, info = the AXI ID of a read (0 payload, 1 jobs, 2 receive elements)
    DmaError = 12,
    /// events before this one were lost: value = TRACE_LOST
    Lost = 15,
}

impl TraceKind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::FrameIn,
        Self::FrameDropped,
        Self::Verdict,
        Self::Report,
        Self::JobBegin,
        Self::JobDone,
        Self::FrameOut,
        Self::Interrupt,
        Self::Doorbell,
        Self::Table,
        Self::Register,
        Self::DmaError,
        Self::Lost,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::FrameIn),
            2 => Some(Self::FrameDropped),
            3 => Some(Self::Verdict),
            4 => Some(Self::Report),
            5 => Some(Self::JobBegin),
            6 => Some(Self::JobDone),
            7 => Some(Self::FrameOut),
            8 => Some(Self::Interrupt),
            9 => Some(Self::Doorbell),
            10 => Some(Self::Table),
            11 => Some(Self::Register),
            12 => Some(Self::DmaError),
            15 => Some(Self::Lost),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FrameIn => "FRAME_IN",
            Self::FrameDropped => "FRAME_DROPPED",
            Self::Verdict => "VERDICT",
            Self::Report => "REPORT",
            Self::JobBegin => "JOB_BEGIN",
            Self::JobDone => "JOB_DONE",
            Self::FrameOut => "FRAME_OUT",
            Self::Interrupt => "INTERRUPT",
            Self::Doorbell => "DOORBELL",
            Self::Table => "TABLE",
            Self::Register => "REGISTER",
            Self::DmaError => "DMA_ERROR",
            Self::Lost => "LOST",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::FrameIn => "a frame was received whole and kept: info = its bytes, detail = trace_frame_in, value = the sequence number if it is TCP",
            Self::FrameDropped => "a frame was dropped: detail = trace_drop, info = its bytes",
            Self::Verdict => "what became of a kept frame, in the order of arrival: detail = trace_verdict, flow, value = sequence number (TCP), info = bytes of the frame",
            Self::Report => "a report went to the report ring: detail = report_kind, flow, value = its number, info = the terminate code of an FPDU, the status of a job",
            Self::JobBegin => "a job was fetched and is its turn: detail = job_kind (0: its slot could not be read), flow, value = its number, info = its length, at most 65535",
            Self::JobDone => "a job is done: detail = job_status, flow, value = its number",
            Self::FrameOut => "the last beat of a frame left: info = its bytes, detail = trace_frame_out, value = the sequence number if its headers are the card's",
            Self::Interrupt => "an interrupt was asked for: detail = vector, value = REPORT_TAIL, info = 1 if REPORT_GAP made it",
            Self::Doorbell => "the host rang: info = the doorbell's offset, value = what it wrote, flow (RQ_TAIL)",
            Self::Table => "a table access is done: detail = trace_table, value = the index",
            Self::Register => "the host wrote a register (not TABLE_DATA, TABLE_CMD, TRACE_CTRL): info = its offset, value",
            Self::DmaError => "host memory answered with an error: detail = trace_dma_error, info = the AXI ID of a read (0 payload, 1 jobs, 2 receive elements)",
            Self::Lost => "events before this one were lost: value = TRACE_LOST",
        }
    }
}

impl TryFrom<u8> for TraceKind {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "trace_kind", value: raw })
    }
}

impl From<TraceKind> for u8 {
    fn from(value: TraceKind) -> u8 {
        value.raw()
    }
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
    /// TCP header cut short, or its data offset
    pub const TCP_HEADER: u8 = 8;
    /// TCP checksum
    pub const TCP_CHECKSUM: u8 = 9;
    /// packet buffer full
    pub const BUFFER_FULL: u8 = 10;
    /// no free raw slot
    pub const NO_RAW_SLOT: u8 = 11;
    /// of no flow, and only the raw slots of RAW_RESERVE were free
    pub const RAW_RESERVED: u8 = 12;
    /// its flow has taken its share of the raw slots
    pub const RAW_CREDIT: u8 = 13;
    /// its port's report ring has no room for its reports
    pub const REPORT_ROOM: u8 = 14;
}

/// Why a frame was dropped (detail of FRAME_DROPPED), each with the counter rx_drop_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TraceDrop {
    /// receive is off
    Disabled = 1,
    /// the MAC flagged it bad
    Fcs = 2,
    /// shorter than an Ethernet header
    Runt = 3,
    /// longer than MTU or a raw slot
    Oversize = 4,
    /// not for this station
    Mac = 5,
    /// IPv4 version or lengths
    IpHeader = 6,
    /// IPv4 header checksum
    IpChecksum = 7,
    /// TCP header cut short, or its data offset
    TcpHeader = 8,
    /// TCP checksum
    TcpChecksum = 9,
    /// packet buffer full
    BufferFull = 10,
    /// no free raw slot
    NoRawSlot = 11,
    /// of no flow, and only the raw slots of RAW_RESERVE were free
    RawReserved = 12,
    /// its flow has taken its share of the raw slots
    RawCredit = 13,
    /// its port's report ring has no room for its reports
    ReportRoom = 14,
}

impl TraceDrop {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Disabled,
        Self::Fcs,
        Self::Runt,
        Self::Oversize,
        Self::Mac,
        Self::IpHeader,
        Self::IpChecksum,
        Self::TcpHeader,
        Self::TcpChecksum,
        Self::BufferFull,
        Self::NoRawSlot,
        Self::RawReserved,
        Self::RawCredit,
        Self::ReportRoom,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::Disabled),
            2 => Some(Self::Fcs),
            3 => Some(Self::Runt),
            4 => Some(Self::Oversize),
            5 => Some(Self::Mac),
            6 => Some(Self::IpHeader),
            7 => Some(Self::IpChecksum),
            8 => Some(Self::TcpHeader),
            9 => Some(Self::TcpChecksum),
            10 => Some(Self::BufferFull),
            11 => Some(Self::NoRawSlot),
            12 => Some(Self::RawReserved),
            13 => Some(Self::RawCredit),
            14 => Some(Self::ReportRoom),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Fcs => "FCS",
            Self::Runt => "RUNT",
            Self::Oversize => "OVERSIZE",
            Self::Mac => "MAC",
            Self::IpHeader => "IP_HEADER",
            Self::IpChecksum => "IP_CHECKSUM",
            Self::TcpHeader => "TCP_HEADER",
            Self::TcpChecksum => "TCP_CHECKSUM",
            Self::BufferFull => "BUFFER_FULL",
            Self::NoRawSlot => "NO_RAW_SLOT",
            Self::RawReserved => "RAW_RESERVED",
            Self::RawCredit => "RAW_CREDIT",
            Self::ReportRoom => "REPORT_ROOM",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Disabled => "receive is off",
            Self::Fcs => "the MAC flagged it bad",
            Self::Runt => "shorter than an Ethernet header",
            Self::Oversize => "longer than MTU or a raw slot",
            Self::Mac => "not for this station",
            Self::IpHeader => "IPv4 version or lengths",
            Self::IpChecksum => "IPv4 header checksum",
            Self::TcpHeader => "TCP header cut short, or its data offset",
            Self::TcpChecksum => "TCP checksum",
            Self::BufferFull => "packet buffer full",
            Self::NoRawSlot => "no free raw slot",
            Self::RawReserved => "of no flow, and only the raw slots of RAW_RESERVE were free",
            Self::RawCredit => "its flow has taken its share of the raw slots",
            Self::ReportRoom => "its port's report ring has no room for its reports",
        }
    }
}

impl TryFrom<u8> for TraceDrop {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "trace_drop", value: raw })
    }
}

impl From<TraceDrop> for u8 {
    fn from(value: TraceDrop) -> u8 {
        value.raw()
    }
}

/// What became of a frame (detail of VERDICT).
pub mod trace_verdict {
    /// of no known flow: raw ring
    pub const NO_FLOW: u8 = 0;
    /// a segment without payload, or with SYN or RST
    pub const NO_PAYLOAD: u8 = 1;
    /// every FPDU was placed
    pub const PLACED: u8 = 2;
    /// walked whole, some FPDU is for the engine
    pub const ENGINE: u8 = 3;
    /// wholly old
    pub const DUPLICATE: u8 = 4;
    /// the flow was not attached: raw ring
    pub const BYPASSED: u8 = 5;
    /// the flow left the card: not the next sequence number, URG, or TCP options not read
    pub const GAP: u8 = 6;
    /// the flow left the card: the segment ends inside an FPDU
    pub const PARTIAL: u8 = 7;
    /// the flow left the card: an FPDU has an error
    pub const ERROR: u8 = 8;
    /// not acceptable (no ACK, window, PAWS): report only; a replay that was refused
    pub const REFUSED: u8 = 9;
    /// a replay, walked as far as it went
    pub const REPLAYED: u8 = 10;
}

/// What became of a frame (detail of VERDICT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TraceVerdict {
    /// of no known flow: raw ring
    NoFlow = 0,
    /// a segment without payload, or with SYN or RST
    NoPayload = 1,
    /// every FPDU was placed
    Placed = 2,
    /// walked whole, some FPDU is for the engine
    Engine = 3,
    /// wholly old
    Duplicate = 4,
    /// the flow was not attached: raw ring
    Bypassed = 5,
    /// the flow left the card: not the next sequence number, URG, or TCP options not read
    Gap = 6,
    /// the flow left the card: the segment ends inside an FPDU
    Partial = 7,
    /// the flow left the card: an FPDU has an error
    Error = 8,
    /// not acceptable (no ACK, window, PAWS): report only; a replay that was refused
    Refused = 9,
    /// a replay, walked as far as it went
    Replayed = 10,
}

impl TraceVerdict {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::NoFlow,
        Self::NoPayload,
        Self::Placed,
        Self::Engine,
        Self::Duplicate,
        Self::Bypassed,
        Self::Gap,
        Self::Partial,
        Self::Error,
        Self::Refused,
        Self::Replayed,
    ];

    /// The number.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// What has this number.
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::NoFlow),
            1 => Some(Self::NoPayload),
            2 => Some(Self::Placed),
            3 => Some(Self::Engine),
            4 => Some(Self::Duplicate),
            5 => Some(Self::Bypassed),
            6 => Some(Self::Gap),
            7 => Some(Self::Partial),
            8 => Some(Self::Error),
            9 => Some(Self::Refused),
            10 => Some(Self::Replayed),
            _ => None,
        }
    }

    /// The name, as in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoFlow => "NO_FLOW",
            Self::NoPayload => "NO_PAYLOAD",
            Self::Placed => "PLACED",
            Self::Engine => "ENGINE",
            Self::Duplicate => "DUPLICATE",
            Self::Bypassed => "BYPASSED",
            Self::Gap => "GAP",
            Self::Partial => "PARTIAL",
            Self::Error => "ERROR",
            Self::Refused => "REFUSED",
            Self::Replayed => "REPLAYED",
        }
    }

    /// What it means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::NoFlow => "of no known flow: raw ring",
            Self::NoPayload => "a segment without payload, or with SYN or RST",
            Self::Placed => "every FPDU was placed",
            Self::Engine => "walked whole, some FPDU is for the engine",
            Self::Duplicate => "wholly old",
            Self::Bypassed => "the flow was not attached: raw ring",
            Self::Gap => "the flow left the card: not the next sequence number, URG, or TCP options not read",
            Self::Partial => "the flow left the card: the segment ends inside an FPDU",
            Self::Error => "the flow left the card: an FPDU has an error",
            Self::Refused => "not acceptable (no ACK, window, PAWS): report only; a replay that was refused",
            Self::Replayed => "a replay, walked as far as it went",
        }
    }
}

impl TryFrom<u8> for TraceVerdict {
    type Error = UnknownValue;

    fn try_from(raw: u8) -> Result<Self, UnknownValue> {
        Self::from_raw(raw).ok_or(UnknownValue { of: "trace_verdict", value: raw })
    }
}

impl From<TraceVerdict> for u8 {
    fn from(value: TraceVerdict) -> u8 {
        value.raw()
    }
}

/// A number that this interface has no name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    /// The enumeration.
    pub of: &'static str,
    /// The number.
    pub value: u8,
}

impl core::fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} has no value {}", self.of, self.value)
    }
}

impl core::error::Error for UnknownValue {}

/// Detail of FRAME_IN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFrameIn(pub u8);

impl TraceFrameIn {
    /// Bit 0: it is TCP.
    pub const TCP: u8 = 0x1;

    /// Bit 0: it is TCP.
    pub const fn tcp(&self) -> bool {
        self.0 & Self::TCP != 0
    }

    /// The same with tcp set or clear.
    #[must_use]
    pub const fn with_tcp(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::TCP | if on { Self::TCP } else { 0 };
        self
    }
}

impl From<u8> for TraceFrameIn {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl From<TraceFrameIn> for u8 {
    fn from(value: TraceFrameIn) -> u8 {
        value.0
    }
}

/// Detail of FRAME_OUT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFrameOut(pub u8);

impl TraceFrameOut {
    /// Bit 0: its headers are the card's.
    pub const HEADERS: u8 = 0x1;
    /// Bit 1: an FPDU.
    pub const FPDU: u8 = 0x2;
    /// Bit 2: into MAC loopback.
    pub const LOOPBACK: u8 = 0x4;

    /// Bit 0: its headers are the card's.
    pub const fn headers(&self) -> bool {
        self.0 & Self::HEADERS != 0
    }

    /// The same with headers set or clear.
    #[must_use]
    pub const fn with_headers(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::HEADERS | if on { Self::HEADERS } else { 0 };
        self
    }

    /// Bit 1: an FPDU.
    pub const fn fpdu(&self) -> bool {
        self.0 & Self::FPDU != 0
    }

    /// The same with fpdu set or clear.
    #[must_use]
    pub const fn with_fpdu(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::FPDU | if on { Self::FPDU } else { 0 };
        self
    }

    /// Bit 2: into MAC loopback.
    pub const fn loopback(&self) -> bool {
        self.0 & Self::LOOPBACK != 0
    }

    /// The same with loopback set or clear.
    #[must_use]
    pub const fn with_loopback(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::LOOPBACK | if on { Self::LOOPBACK } else { 0 };
        self
    }
}

impl From<u8> for TraceFrameOut {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl From<TraceFrameOut> for u8 {
    fn from(value: TraceFrameOut) -> u8 {
        value.0
    }
}

/// Detail of TABLE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceTable(pub u8);

impl TraceTable {
    /// Bits 3:0: number of the table.
    pub const TABLE_MASK: u8 = 0xf;
    /// The lowest of them.
    pub const TABLE_SHIFT: u32 = 0;
    /// Bit 6: refused or not applied.
    pub const REFUSED: u8 = 0x40;
    /// Bit 7: a write; else a read.
    pub const WRITE: u8 = 0x80;

    /// Bits 3:0: number of the table.
    pub const fn table(&self) -> u8 {
        self.0 & Self::TABLE_MASK
    }

    /// The same with this table.
    #[must_use]
    pub const fn with_table(mut self, value: u8) -> Self {
        self.0 = self.0 & !Self::TABLE_MASK | value & Self::TABLE_MASK;
        self
    }

    /// Bit 6: refused or not applied.
    pub const fn refused(&self) -> bool {
        self.0 & Self::REFUSED != 0
    }

    /// The same with refused set or clear.
    #[must_use]
    pub const fn with_refused(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::REFUSED | if on { Self::REFUSED } else { 0 };
        self
    }

    /// Bit 7: a write; else a read.
    pub const fn write(&self) -> bool {
        self.0 & Self::WRITE != 0
    }

    /// The same with write set or clear.
    #[must_use]
    pub const fn with_write(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::WRITE | if on { Self::WRITE } else { 0 };
        self
    }
}

impl From<u8> for TraceTable {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl From<TraceTable> for u8 {
    fn from(value: TraceTable) -> u8 {
        value.0
    }
}

/// Detail of DMA_ERROR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceDmaError(pub u8);

impl TraceDmaError {
    /// Bit 0: a read.
    pub const READ: u8 = 0x1;
    /// Bit 1: a write.
    pub const WRITE: u8 = 0x2;

    /// Bit 0: a read.
    pub const fn read(&self) -> bool {
        self.0 & Self::READ != 0
    }

    /// The same with read set or clear.
    #[must_use]
    pub const fn with_read(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::READ | if on { Self::READ } else { 0 };
        self
    }

    /// Bit 1: a write.
    pub const fn write(&self) -> bool {
        self.0 & Self::WRITE != 0
    }

    /// The same with write set or clear.
    #[must_use]
    pub const fn with_write(mut self, on: bool) -> Self {
        self.0 = self.0 & !Self::WRITE | if on { Self::WRITE } else { 0 };
        self
    }
}

impl From<u8> for TraceDmaError {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl From<TraceDmaError> for u8 {
    fn from(value: TraceDmaError) -> u8 {
        value.0
    }
}

/// The registers, each with what may be done with it and what is in it.
pub mod registers {
    use super::{reg, ReadOnly, ReadWrite, Register, RegisterArray};

    /// ASCII 'WEFT', most significant byte first. All ones here means that the device does not answer.
    pub const ID: Register<ReadOnly, u32> = Register::new("ID", reg::ID);
    /// Interface version of this description; a driver refuses another one.
    pub const VERSION: Register<ReadOnly, u32> = Register::new("VERSION", reg::VERSION);
    /// What this card was built with.
    pub const CAPS: Register<ReadOnly, reg::Caps> = Register::new("CAPS", reg::CAPS);
    /// No effect; for bring-up.
    pub const SCRATCH: Register<ReadWrite, u32> = Register::new("SCRATCH", reg::SCRATCH);
    /// What the card does. A write clears the sticky bits of STATUS.
    pub const CTRL: Register<ReadWrite, reg::Ctrl> = Register::new("CTRL", reg::CTRL);
    /// How the card is. Writing CTRL clears READ_ERROR and WRITE_ERROR.
    pub const STATUS: Register<ReadOnly, reg::Status> = Register::new("STATUS", reg::STATUS);
    /// Longest Ethernet frame accepted, header included, FCS not; longer ones are dropped (rx_drop_oversize). 14 to 9216: a value outside becomes the nearest of these.
    pub const MTU: Register<ReadWrite, u32> = Register::new("MTU", reg::MTU);
    /// Station address, bytes 0-3 of the wire order, byte 0 in bits 7:0.
    pub const MAC_LO: Register<ReadWrite, u32> = Register::new("MAC_LO", reg::MAC_LO);
    /// Station address, bytes 4-5. Frames neither to it nor to a group address are dropped (rx_drop_mac).
    pub const MAC_HI: Register<ReadWrite, reg::MacHi> = Register::new("MAC_HI", reg::MAC_HI);
    /// What the hash of FLOW_KEY is keyed with, word 0 the low one: 128 bits, of which the highest counts for nothing. 0, as after reset: none. Written before rows of FLOW_KEY are: which row a key may be in depends on it.
    pub const HASH_SECRET: RegisterArray<ReadWrite, u32> = RegisterArray::new("HASH_SECRET", reg::HASH_SECRET, reg::HASH_SECRET_COUNT);
    /// Job ring: IOVA, 128-byte aligned, low half.
    pub const JOB_BASE_LO: Register<ReadWrite, u32> = Register::new("JOB_BASE_LO", reg::JOB_BASE_LO);
    /// Job ring: IOVA, high half.
    pub const JOB_BASE_HI: Register<ReadWrite, u32> = Register::new("JOB_BASE_HI", reg::JOB_BASE_HI);
    /// log2 of the number of job slots (1 to 16). Writing it sets up the ring, at JOB_BASE as it is then: tail and done counts are 0, jobs that were posted before are forgotten.
    pub const JOB_LOG2: Register<ReadWrite, u32> = Register::new("JOB_LOG2", reg::JOB_LOG2);
    /// Jobs finished since the ring was set up, modulo 2^32: every byte they refer to has been read. Its low 24 bits are in every report: the host takes a report before it has posted 2^23 jobs more.
    pub const JOB_DONE: Register<ReadOnly, u32> = Register::new("JOB_DONE", reg::JOB_DONE);
    /// Slots of the push window (doorbell JOB_PUSH), a power of two. 0: the card has none.
    pub const JOB_PUSH: Register<ReadOnly, u32> = Register::new("JOB_PUSH", reg::JOB_PUSH);
    /// Payload bytes that a replay job may have at most. 0: the card has none; such a job is malformed.
    pub const JOB_REPLAY: Register<ReadOnly, u32> = Register::new("JOB_REPLAY", reg::JOB_REPLAY);
    /// Report ring: IOVA, 64-byte aligned, low half.
    pub const REPORT_BASE_LO: Register<ReadWrite, u32> = Register::new("REPORT_BASE_LO", reg::REPORT_BASE_LO);
    /// Report ring: IOVA, high half.
    pub const REPORT_BASE_HI: Register<ReadWrite, u32> = Register::new("REPORT_BASE_HI", reg::REPORT_BASE_HI);
    /// log2 of the number of report slots (1 to 16). Writing it sets up the ring, at REPORT_BASE as it is then: producer and consumer counts are 0, the phase is 1, no interrupt is asked for. Reports on their way go to the ring before, and are not counted (docs/card.md, Rings that are set up anew).
    pub const REPORT_LOG2: Register<ReadWrite, u32> = Register::new("REPORT_LOG2", reg::REPORT_LOG2);
    /// Reports written since the ring was set up, modulo 2^32.
    pub const REPORT_TAIL: Register<ReadOnly, u32> = Register::new("REPORT_TAIL", reg::REPORT_TAIL);
    /// How long an interrupt that REPORT_ARM_AFTER asked for waits for the next report: cycles since the last one, 16 bits. 0: it does not wait.
    pub const REPORT_GAP: Register<ReadWrite, u32> = Register::new("REPORT_GAP", reg::REPORT_GAP);
    /// Raw receive ring: IOVA, aligned to the slot size, low half.
    pub const RAW_BASE_LO: Register<ReadWrite, u32> = Register::new("RAW_BASE_LO", reg::RAW_BASE_LO);
    /// Raw receive ring: IOVA, high half.
    pub const RAW_BASE_HI: Register<ReadWrite, u32> = Register::new("RAW_BASE_HI", reg::RAW_BASE_HI);
    /// Shape of the raw receive ring; a value outside its range becomes the nearest inside. Writing it sets up the ring, at RAW_BASE as it is then: both counts are 0. Frames that have a slot go to the ring before, and are not counted. A frame longer than a slot is dropped (rx_drop_oversize).
    pub const RAW_LOG2: Register<ReadWrite, reg::RawLog2> = Register::new("RAW_LOG2", reg::RAW_LOG2);
    /// Raw frames written since the ring was set up, modulo 2^32.
    pub const RAW_TAIL: Register<ReadOnly, u32> = Register::new("RAW_TAIL", reg::RAW_TAIL);
    /// Raw slots that frames of no flow leave free, so that junk cannot take them from flows. Smaller than the number of slots.
    pub const RAW_RESERVE: Register<ReadWrite, u32> = Register::new("RAW_RESERVE", reg::RAW_RESERVE);
    /// Interrupt requests sent since reset.
    pub const MSIX_COUNT: Register<ReadOnly, u32> = Register::new("MSIX_COUNT", reg::MSIX_COUNT);
    /// Writing a number begins a fence: FENCE_DONE takes this number when every placement that was checked against the tables as they were before this write has been answered by host memory. A number written while a fence is under way begins its fence when that one has ended, and stands for those it overwrote. Ends in bounded time whatever else arrives, as long as the host makes room for reports.
    pub const FENCE: Register<ReadWrite, u32> = Register::new("FENCE", reg::FENCE);
    /// The number of the last fence that has ended. 0 at reset.
    pub const FENCE_DONE: Register<ReadOnly, u32> = Register::new("FENCE_DONE", reg::FENCE_DONE);
    /// Frequency of the card's clock in kHz, as the board that was built for says (parameter CLOCK_KHZ).
    pub const CLOCK_KHZ: Register<ReadOnly, u32> = Register::new("CLOCK_KHZ", reg::CLOCK_KHZ);
    /// Bits 63:32 of the counter whose low half was read last from COUNTERS; 0 unless its name ends in _bytes (those have 64 bits).
    pub const COUNTER_HI: Register<ReadOnly, u32> = Register::new("COUNTER_HI", reg::COUNTER_HI);
    /// Ports of the card, 1 or 2: a port is a job ring, a report ring and a raw ring with their registers and doorbells, for one owner. 0 is 1.
    pub const PORTS: Register<ReadOnly, u32> = Register::new("PORTS", reg::PORTS);
    /// Whose turn it is at TABLE_DATA and TABLE_CMD, where there are two ports. Reading takes it if the other port does not have it: 1, it is this port's; 0, it is not. Any value written by the port that has it gives it back. With one port it reads 0, and nobody has to ask.
    pub const TABLE_LOCK: Register<ReadWrite, u32> = Register::new("TABLE_LOCK", reg::TABLE_LOCK);
    /// Islands of a flow: ranges of its stream beyond a gap that the card places and keeps account of (FLOW_RX bit beyond). 0: the bit has no effect.
    pub const ISLANDS: Register<ReadOnly, u32> = Register::new("ISLANDS", reg::ISLANDS);
    /// Trace ring. Everything is on at reset.
    pub const TRACE_CTRL: Register<ReadWrite, reg::TraceCtrl> = Register::new("TRACE_CTRL", reg::TRACE_CTRL);
    /// Events recorded since the ring was emptied, modulo 2^32. Event n is in entry n mod TRACE_SIZE, until event n + TRACE_SIZE takes its place.
    pub const TRACE_HEAD: Register<ReadOnly, u32> = Register::new("TRACE_HEAD", reg::TRACE_HEAD);
    /// Events that came too fast to be recorded, since the ring was emptied.
    pub const TRACE_LOST: Register<ReadOnly, u32> = Register::new("TRACE_LOST", reg::TRACE_LOST);
    /// Entries of the trace ring, a power of two, at most 1024. 0: the card was made without trace and capture; their registers are 0 and stay so.
    pub const TRACE_SIZE: Register<ReadOnly, u32> = Register::new("TRACE_SIZE", reg::TRACE_SIZE);
    /// The clock of trace and capture, in cycles of the card, low half. Reading it keeps the high half for TIME_HI.
    pub const TIME_LO: Register<ReadOnly, u32> = Register::new("TIME_LO", reg::TIME_LO);
    /// High half of the clock, as it was when TIME_LO was read.
    pub const TIME_HI: Register<ReadOnly, u32> = Register::new("TIME_HI", reg::TIME_HI);
    /// Capture ring: IOVA, aligned to the slot size, low half.
    pub const CAPTURE_BASE_LO: Register<ReadWrite, u32> = Register::new("CAPTURE_BASE_LO", reg::CAPTURE_BASE_LO);
    /// Capture ring: IOVA, high half.
    pub const CAPTURE_BASE_HI: Register<ReadWrite, u32> = Register::new("CAPTURE_BASE_HI", reg::CAPTURE_BASE_HI);
    /// Shape of the capture ring. Writing it resets both counts to 0. Written only while RECEIVED, SENT and BUSY of CAPTURE_CTRL are 0, as the base.
    pub const CAPTURE_LOG2: Register<ReadWrite, reg::CaptureLog2> = Register::new("CAPTURE_LOG2", reg::CAPTURE_LOG2);
    /// What is captured. With RECEIVED and SENT both 0, frames that were not yet begun to be written are forgotten; when BUSY is 0, too, the card has done with the ring's memory.
    pub const CAPTURE_CTRL: Register<ReadWrite, reg::CaptureCtrl> = Register::new("CAPTURE_CTRL", reg::CAPTURE_CTRL);
    /// Frames written to the capture ring since it was set up, modulo 2^32.
    pub const CAPTURE_TAIL: Register<ReadOnly, u32> = Register::new("CAPTURE_TAIL", reg::CAPTURE_TAIL);
    /// Port 1, where there is one (a report ring of fewer than 128 slots is none): the rings' registers from JOB_BASE_LO to RAW_TAIL, and TABLE_LOCK, each 0x100 behind its like of port 0. RAW_LOG2 has COUNT alone: slots are as large as port 0's. A flow is of the port that its FLOW_RX row names; frames of no flow are port 0's, and have their RAW_RESERVE there. Without a port 1 they read 0.
    pub const PORT1: RegisterArray<ReadWrite, u32> = RegisterArray::new("PORT1", reg::PORT1, reg::PORT1_COUNT);
    /// The row to write, or the row that was read: 16 words, word 0 holds bytes 0-3 of the row.
    pub const TABLE_DATA: RegisterArray<ReadWrite, u32> = RegisterArray::new("TABLE_DATA", reg::TABLE_DATA, reg::TABLE_DATA_COUNT);
    /// Writing runs a table access at once. The write response comes when the access is done, so no polling is needed; reading tells how it went.
    pub const TABLE_CMD: Register<ReadWrite, reg::TableCmd, reg::TableCmdRead> = Register::new("TABLE_CMD", reg::TABLE_CMD);
    /// The counters, in the order of the list below: wrapping, 32 bits, those whose name ends in _bytes 64 bits, with the high half in COUNTER_HI.
    pub const COUNTERS: RegisterArray<ReadOnly, u32> = RegisterArray::new("COUNTERS", reg::COUNTERS, reg::COUNTERS_COUNT);
    /// ASCII 'WFCP', most significant byte first: the card has a control processor. 0: it has none, and its other registers are 0 too.
    pub const PROC_ID: Register<ReadOnly, u32> = Register::new("PROC_ID", reg::PROC_ID);
    /// Bytes of the processor's memory, a power of two.
    pub const PROC_MEMORY: Register<ReadOnly, u32> = Register::new("PROC_MEMORY", reg::PROC_MEMORY);
    /// Starts and stops it.
    pub const PROC_CTRL: Register<ReadWrite, reg::ProcCtrl> = Register::new("PROC_CTRL", reg::PROC_CTRL);
    /// How the processor is. Starting it clears REFUSED, CRASHED, WATCHDOG, HUNG and DMA_ERROR.
    pub const PROC_STATUS: Register<ReadOnly, reg::ProcStatus> = Register::new("PROC_STATUS", reg::PROC_STATUS);
    /// With CRASHED: why, as RISC-V's mcause has it, or a value of proc_end.
    pub const PROC_CAUSE: Register<ReadOnly, u32> = Register::new("PROC_CAUSE", reg::PROC_CAUSE);
    /// The instruction that it is at, or, stopped by the watchdog, was at.
    pub const PROC_PC: Register<ReadOnly, u32> = Register::new("PROC_PC", reg::PROC_PC);
    /// Address in the processor's memory of the word that PROC_DATA is; a multiple of 4. It goes on by 4 with each writing of PROC_DATA.
    pub const PROC_ADDR: Register<ReadWrite, u32> = Register::new("PROC_ADDR", reg::PROC_ADDR);
    /// The word at PROC_ADDR, whether the processor runs or not. What is written while it is stopped goes into the checksum.
    pub const PROC_DATA: Register<ReadWrite, u32> = Register::new("PROC_DATA", reg::PROC_DATA);
    /// Written: the CRC32C that the words since LOAD are to have, in their order, low byte first. Read: the one that they have.
    pub const PROC_CHECK: Register<ReadWrite, u32> = Register::new("PROC_CHECK", reg::PROC_CHECK);
    /// Cycles that the firmware may be awake without a beat; 0: any. The first time it gets an interrupt that cannot be masked, the second time it is stopped.
    pub const PROC_WATCHDOG: Register<ReadWrite, u32> = Register::new("PROC_WATCHDOG", reg::PROC_WATCHDOG);
    /// The firmware's last beat: a count.
    pub const PROC_BEAT: Register<ReadOnly, u32> = Register::new("PROC_BEAT", reg::PROC_BEAT);
    /// Written: a command for the firmware, with an interrupt; without effect while the processor is stopped.
    pub const PROC_COMMAND: Register<ReadWrite, reg::ProcCommand, reg::ProcCommandRead> = Register::new("PROC_COMMAND", reg::PROC_COMMAND);
    /// The word that the firmware gave last.
    pub const PROC_ANSWER: Register<ReadOnly, u32> = Register::new("PROC_ANSWER", reg::PROC_ANSWER);
    /// Cycles in which the processor was awake, since it was started; low half.
    pub const PROC_AWAKE_LO: Register<ReadOnly, u32> = Register::new("PROC_AWAKE_LO", reg::PROC_AWAKE_LO);
    /// The high half, as it was when PROC_AWAKE_LO was read.
    pub const PROC_AWAKE_HI: Register<ReadOnly, u32> = Register::new("PROC_AWAKE_HI", reg::PROC_AWAKE_HI);
    /// Written: there is something in queues that the firmware looks at, with an interrupt: a bit for each of them (proc_bell), besides those that were written before; without effect while the processor is stopped. Read: the bits that the firmware did not take since.
    pub const PROC_BELL: Register<ReadWrite, u32> = Register::new("PROC_BELL", reg::PROC_BELL);
    /// The processor's clock in kHz, which is the card's (CLOCK_KHZ) or slower: what its cycles are.
    pub const PROC_CLOCK: Register<ReadOnly, u32> = Register::new("PROC_CLOCK", reg::PROC_CLOCK);
    /// The trace ring: entry n is the four words from 4 n (see trace_entry); entries beyond TRACE_SIZE repeat.
    pub const TRACE: RegisterArray<ReadOnly, u32> = RegisterArray::new("TRACE", reg::TRACE, reg::TRACE_COUNT);
}

/// The doorbells, which can only be rung.
pub mod doorbells {
    use super::{doorbell, Doorbell, DoorbellArray};

    /// Number of jobs posted since the ring was set up, modulo 2^32.
    pub const JOB_TAIL: Doorbell = Doorbell::new("JOB_TAIL", doorbell::JOB_TAIL);
    /// Number of reports consumed since the ring was set up, modulo 2^32. The card never overwrites a report not yet consumed.
    pub const REPORT_HEAD: Doorbell = Doorbell::new("REPORT_HEAD", doorbell::REPORT_HEAD);
    /// Number of raw frames consumed, modulo 2^32.
    pub const RAW_HEAD: Doorbell = Doorbell::new("RAW_HEAD", doorbell::RAW_HEAD);
    /// Asks for one interrupt on vector 0 as soon as the report producer count is beyond the value written, which is the number of reports that the host has taken (at once if it is already).
    pub const REPORT_ARM: Doorbell = Doorbell::new("REPORT_ARM", doorbell::REPORT_ARM);
    /// Number of captured frames consumed since the ring was set up, modulo 2^32. The card never overwrites one not yet consumed.
    pub const CAPTURE_HEAD: Doorbell = Doorbell::new("CAPTURE_HEAD", doorbell::CAPTURE_HEAD);
    /// As REPORT_ARM, but the interrupt may wait until the report producer count is n + 1 beyond the value written. It comes sooner when REPORT_GAP cycles have passed without a report, and with a report that does not wait (see card.md). At most one is asked for: each write, of this one and of REPORT_ARM, replaces the one before.
    pub const REPORT_ARM_AFTER: DoorbellArray = DoorbellArray::new("REPORT_ARM_AFTER", doorbell::REPORT_ARM_AFTER);
    /// Port 1: JOB_TAIL, REPORT_HEAD, RAW_HEAD, REPORT_ARM (its interrupts are on vector 1) and REPORT_ARM_AFTER, each 0x200 behind its like of port 0.
    pub const PORT1: DoorbellArray = DoorbellArray::new("PORT1", doorbell::PORT1);
    /// The push window: job n is written to 128 * (n mod slots) from here on, front to back in words of 32 bits or several of them; with its last word it is posted, as by JOB_TAIL n + 1. Its slot of the job ring has the same bytes. Reads give 0.
    pub const JOB_PUSH: DoorbellArray = DoorbellArray::new("JOB_PUSH", doorbell::JOB_PUSH);
    /// One word per flow: number of receive elements posted since the queue was set up, modulo 2^32. Elements 1 to this number may be used.
    pub const RQ_TAIL: DoorbellArray = DoorbellArray::new("RQ_TAIL", doorbell::RQ_TAIL);
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
    /// frames dropped: TCP header cut short, or its data offset is impossible
    RxDropTcpHeader,
    /// frames dropped: TCP checksum
    RxDropTcpChecksum,
    /// frames dropped: packet buffer full
    RxDropBufferFull,
    /// frames dropped: no free raw slot, or a second port that takes none
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
    /// ATTACH not applied: a raw segment of the flow was not handled yet, or some were in the walk
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
    /// segments with payload refused: no ACK flag
    RxRefusedAck,
    /// segments with payload refused: beyond the window
    RxRefusedWindow,
    /// segments with payload refused: older than TS.Recent
    RxRefusedPaws,
    /// segments with payload refused: timestamps were agreed and are not there
    RxRefusedNoTimestamp,
    /// frames of no flow dropped: only raw slots of RAW_RESERVE were free
    RxDropRawReserved,
    /// raw frames whose write was answered with an error
    RxRawFailed,
    /// FPDUs a write of which was answered with an error
    RxPlaceFailed,
    /// job reports that another one, of a later job, stands for
    TxReportsJoined,
    /// cycles in which the AXI write address channel did not take an address that was there
    DmaAwStallCycles,
    /// fences ended
    Fences,
    /// soft and function-level resets since power-on
    Resets,
    /// interrupt requests that REPORT_GAP made: fewer reports than were asked for had come
    MsixGap,
    /// replays walked whole
    RxReplays,
    /// replays that ended inside an FPDU
    RxReplaysPartial,
    /// replays that ended at an FPDU with an error
    RxReplaysError,
    /// replays of a flow whose row is not valid or that is attached, or that were to go on elsewhere than where the last one ended
    RxReplaysRefused,
    /// cycles in which a replay's bytes were there and the walk did not take them
    TxStallReplayCycles,
    /// segments of a flow dropped: it has taken its share of the raw slots
    RxDropNoRawCredit,
    /// frames dropped: their port's report ring has no room for their reports
    RxDropNoReportRoom,
    /// reports of bare acknowledgments that a later one of their flow stands for, as the report ring was full
    RxReportsMerged,
    /// segments that ended inside an FPDU whose octets the card carries: their flow stays attached
    RxSegmentsCarried,
    /// segments of a flow that carries that detached it: no room for the FPDU's octets, or they are too many
    RxCarryFull,
    /// cycles in which a segment of a flow that carries waited for the one before to be framed
    RxStallCarryCycles,
    /// segments beyond a gap that were placed as a whole: islands of their flow, which stays attached
    RxSegmentsBeyond,
    /// segments beyond a gap that detached their flow: it has as many islands as the card keeps
    RxIslandsFull,
    /// FPDUs sent that are not the first of their segment (card.md, Sending: jobs)
    TxFpdusPacked,
}

/// How many counters there are.
pub const NUM_COUNTERS: usize = 93;

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
        Counter::RxRefusedAck,
        Counter::RxRefusedWindow,
        Counter::RxRefusedPaws,
        Counter::RxRefusedNoTimestamp,
        Counter::RxDropRawReserved,
        Counter::RxRawFailed,
        Counter::RxPlaceFailed,
        Counter::TxReportsJoined,
        Counter::DmaAwStallCycles,
        Counter::Fences,
        Counter::Resets,
        Counter::MsixGap,
        Counter::RxReplays,
        Counter::RxReplaysPartial,
        Counter::RxReplaysError,
        Counter::RxReplaysRefused,
        Counter::TxStallReplayCycles,
        Counter::RxDropNoRawCredit,
        Counter::RxDropNoReportRoom,
        Counter::RxReportsMerged,
        Counter::RxSegmentsCarried,
        Counter::RxCarryFull,
        Counter::RxStallCarryCycles,
        Counter::RxSegmentsBeyond,
        Counter::RxIslandsFull,
        Counter::TxFpdusPacked,
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
            Counter::RxRefusedAck => "rx_refused_ack",
            Counter::RxRefusedWindow => "rx_refused_window",
            Counter::RxRefusedPaws => "rx_refused_paws",
            Counter::RxRefusedNoTimestamp => "rx_refused_no_timestamp",
            Counter::RxDropRawReserved => "rx_drop_raw_reserved",
            Counter::RxRawFailed => "rx_raw_failed",
            Counter::RxPlaceFailed => "rx_place_failed",
            Counter::TxReportsJoined => "tx_reports_joined",
            Counter::DmaAwStallCycles => "dma_aw_stall_cycles",
            Counter::Fences => "fences",
            Counter::Resets => "resets",
            Counter::MsixGap => "msix_gap",
            Counter::RxReplays => "rx_replays",
            Counter::RxReplaysPartial => "rx_replays_partial",
            Counter::RxReplaysError => "rx_replays_error",
            Counter::RxReplaysRefused => "rx_replays_refused",
            Counter::TxStallReplayCycles => "tx_stall_replay_cycles",
            Counter::RxDropNoRawCredit => "rx_drop_no_raw_credit",
            Counter::RxDropNoReportRoom => "rx_drop_no_report_room",
            Counter::RxReportsMerged => "rx_reports_merged",
            Counter::RxSegmentsCarried => "rx_segments_carried",
            Counter::RxCarryFull => "rx_carry_full",
            Counter::RxStallCarryCycles => "rx_stall_carry_cycles",
            Counter::RxSegmentsBeyond => "rx_segments_beyond",
            Counter::RxIslandsFull => "rx_islands_full",
            Counter::TxFpdusPacked => "tx_fpdus_packed",
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
            Counter::RxDropTcpHeader => "frames dropped: TCP header cut short, or its data offset is impossible",
            Counter::RxDropTcpChecksum => "frames dropped: TCP checksum",
            Counter::RxDropBufferFull => "frames dropped: packet buffer full",
            Counter::RxDropNoRawSlot => "frames dropped: no free raw slot, or a second port that takes none",
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
            Counter::RxAttachRefused => "ATTACH not applied: a raw segment of the flow was not handled yet, or some were in the walk",
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
            Counter::RxRefusedAck => "segments with payload refused: no ACK flag",
            Counter::RxRefusedWindow => "segments with payload refused: beyond the window",
            Counter::RxRefusedPaws => "segments with payload refused: older than TS.Recent",
            Counter::RxRefusedNoTimestamp => "segments with payload refused: timestamps were agreed and are not there",
            Counter::RxDropRawReserved => "frames of no flow dropped: only raw slots of RAW_RESERVE were free",
            Counter::RxRawFailed => "raw frames whose write was answered with an error",
            Counter::RxPlaceFailed => "FPDUs a write of which was answered with an error",
            Counter::TxReportsJoined => "job reports that another one, of a later job, stands for",
            Counter::DmaAwStallCycles => "cycles in which the AXI write address channel did not take an address that was there",
            Counter::Fences => "fences ended",
            Counter::Resets => "soft and function-level resets since power-on",
            Counter::MsixGap => "interrupt requests that REPORT_GAP made: fewer reports than were asked for had come",
            Counter::RxReplays => "replays walked whole",
            Counter::RxReplaysPartial => "replays that ended inside an FPDU",
            Counter::RxReplaysError => "replays that ended at an FPDU with an error",
            Counter::RxReplaysRefused => "replays of a flow whose row is not valid or that is attached, or that were to go on elsewhere than where the last one ended",
            Counter::TxStallReplayCycles => "cycles in which a replay's bytes were there and the walk did not take them",
            Counter::RxDropNoRawCredit => "segments of a flow dropped: it has taken its share of the raw slots",
            Counter::RxDropNoReportRoom => "frames dropped: their port's report ring has no room for their reports",
            Counter::RxReportsMerged => "reports of bare acknowledgments that a later one of their flow stands for, as the report ring was full",
            Counter::RxSegmentsCarried => "segments that ended inside an FPDU whose octets the card carries: their flow stays attached",
            Counter::RxCarryFull => "segments of a flow that carries that detached it: no room for the FPDU's octets, or they are too many",
            Counter::RxStallCarryCycles => "cycles in which a segment of a flow that carries waited for the one before to be framed",
            Counter::RxSegmentsBeyond => "segments beyond a gap that were placed as a whole: islands of their flow, which stays attached",
            Counter::RxIslandsFull => "segments beyond a gap that detached their flow: it has as many islands as the card keeps",
            Counter::TxFpdusPacked => "FPDUs sent that are not the first of their segment (card.md, Sending: jobs)",
        }
    }
}

/// A row of FLOW_KEY. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKeyRow {
    /// Its bits have getters.
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
    /// Where valid begins.
    pub const VALID_AT: usize = 0;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where remote_ip begins.
    pub const REMOTE_IP_AT: usize = 4;
    /// Where local_ip begins.
    pub const LOCAL_IP_AT: usize = 8;
    /// Where remote_port begins.
    pub const REMOTE_PORT_AT: usize = 12;
    /// Where local_port begins.
    pub const LOCAL_PORT_AT: usize = 14;
    /// Bit 0: the row holds a flow.
    pub const VALID: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
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
    #[inline]
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

    /// Bit 0: the row holds a flow.
    pub const fn valid(&self) -> bool {
        self.valid & Self::VALID != 0
    }

    /// The same with valid set or clear.
    #[must_use]
    pub const fn with_valid(mut self, on: bool) -> Self {
        self.valid = self.valid & !Self::VALID | if on { Self::VALID } else { 0 };
        self
    }
}

/// A row of FLOW_RX. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRxRow {
    /// Its bits have getters.
    pub flags: u8,
    /// log2 of the number of receive elements in the ring
    pub rq_log2: u8,
    /// comes back in every report of the flow: tells the reports of its queue pair from those of the one before
    pub epoch: u8,
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
    /// Where flags begins.
    pub const FLAGS_AT: usize = 0;
    /// Where rq_log2 begins.
    pub const RQ_LOG2_AT: usize = 1;
    /// Where epoch begins.
    pub const EPOCH_AT: usize = 2;
    /// Where pd begins.
    pub const PD_AT: usize = 4;
    /// Where marker_base begins.
    pub const MARKER_BASE_AT: usize = 8;
    /// Where rq_base begins.
    pub const RQ_BASE_AT: usize = 16;
    /// Bit 0: markers are received.
    pub const MARKERS: u8 = 0x1;
    /// Bit 1: CRC is checked.
    pub const CRC: u8 = 0x2;
    /// Bit 2: the row is valid; 0: payload is always bypassed.
    pub const VALID: u8 = 0x4;
    /// Bit 3: the connection has TCP timestamps: PAWS is checked.
    pub const TIMESTAMPS: u8 = 0x8;
    /// Bit 4: FPDUs are framed and checked, their CRC too, but not placed: each good one is for the engine.
    pub const CHECK_ONLY: u8 = 0x10;
    /// Bit 5: the port that has its reports and raw frames, also while the row is not valid; with one port without meaning.
    pub const PORT: u8 = 0x20;
    /// Bit 6: an attached flow stays the card's where a segment ends inside an FPDU: the card carries the FPDU's octets over to the next segment. A segment that is not one FPDU waits until those before are framed.
    pub const CARRY: u8 = 0x40;
    /// Bit 7: if neither check_only nor carry is set: Writes, Read Responses and messages of queue 0 beyond a gap are checked and placed, and the flow stays attached (card.md, Beyond a gap). Without markers each segment begins with an FPDU, as the two ends have agreed.
    pub const BEYOND: u8 = 0x80;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.flags.to_le_bytes());
        b[1..2].copy_from_slice(&self.rq_log2.to_le_bytes());
        b[2..3].copy_from_slice(&self.epoch.to_le_bytes());
        b[4..8].copy_from_slice(&self.pd.to_le_bytes());
        b[8..12].copy_from_slice(&self.marker_base.to_le_bytes());
        b[16..24].copy_from_slice(&self.rq_base.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            flags: u8::from_le_bytes([b[0]]),
            rq_log2: u8::from_le_bytes([b[1]]),
            epoch: u8::from_le_bytes([b[2]]),
            pd: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            marker_base: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            rq_base: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
        }
    }

    /// Bit 0: markers are received.
    pub const fn markers(&self) -> bool {
        self.flags & Self::MARKERS != 0
    }

    /// The same with markers set or clear.
    #[must_use]
    pub const fn with_markers(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS | if on { Self::MARKERS } else { 0 };
        self
    }

    /// Bit 1: CRC is checked.
    pub const fn crc(&self) -> bool {
        self.flags & Self::CRC != 0
    }

    /// The same with crc set or clear.
    #[must_use]
    pub const fn with_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CRC | if on { Self::CRC } else { 0 };
        self
    }

    /// Bit 2: the row is valid; 0: payload is always bypassed.
    pub const fn valid(&self) -> bool {
        self.flags & Self::VALID != 0
    }

    /// The same with valid set or clear.
    #[must_use]
    pub const fn with_valid(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::VALID | if on { Self::VALID } else { 0 };
        self
    }

    /// Bit 3: the connection has TCP timestamps: PAWS is checked.
    pub const fn timestamps(&self) -> bool {
        self.flags & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }

    /// Bit 4: FPDUs are framed and checked, their CRC too, but not placed: each good one is for the engine.
    pub const fn check_only(&self) -> bool {
        self.flags & Self::CHECK_ONLY != 0
    }

    /// The same with check_only set or clear.
    #[must_use]
    pub const fn with_check_only(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CHECK_ONLY | if on { Self::CHECK_ONLY } else { 0 };
        self
    }

    /// Bit 5: the port that has its reports and raw frames, also while the row is not valid; with one port without meaning.
    pub const fn port(&self) -> bool {
        self.flags & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }

    /// Bit 6: an attached flow stays the card's where a segment ends inside an FPDU: the card carries the FPDU's octets over to the next segment. A segment that is not one FPDU waits until those before are framed.
    pub const fn carry(&self) -> bool {
        self.flags & Self::CARRY != 0
    }

    /// The same with carry set or clear.
    #[must_use]
    pub const fn with_carry(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CARRY | if on { Self::CARRY } else { 0 };
        self
    }

    /// Bit 7: if neither check_only nor carry is set: Writes, Read Responses and messages of queue 0 beyond a gap are checked and placed, and the flow stays attached (card.md, Beyond a gap). Without markers each segment begins with an FPDU, as the two ends have agreed.
    pub const fn beyond(&self) -> bool {
        self.flags & Self::BEYOND != 0
    }

    /// The same with beyond set or clear.
    #[must_use]
    pub const fn with_beyond(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::BEYOND | if on { Self::BEYOND } else { 0 };
        self
    }
}

/// A row of ATTACH. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttachRow {
    /// Its bits have getters.
    pub attached: u8,
    /// next TCP sequence number; an FPDU (or the marker before it) begins there
    pub rcv_nxt: u32,
    /// next MSN expected on queue 0 (1 at the start)
    pub msn: u32,
    /// next MO expected in that message
    pub mo: u32,
    /// TS.Recent (RFC 7323 §4.3)
    pub ts_recent: u32,
    /// the most that was ever promised beyond rcv_nxt: payload that ends further on is refused. 0: not checked
    pub window: u32,
    /// raw slots of the flow's port, counted since its ring was set up, whose reports the host has handled. A read gives the flow's mark plus 1, 16 bits: the number behind the last raw slot that a payload segment of the flow took
    pub raw_seen: u32,
}

impl AttachRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where attached begins.
    pub const ATTACHED_AT: usize = 0;
    /// Where rcv_nxt begins.
    pub const RCV_NXT_AT: usize = 4;
    /// Where msn begins.
    pub const MSN_AT: usize = 8;
    /// Where mo begins.
    pub const MO_AT: usize = 12;
    /// Where ts_recent begins.
    pub const TS_RECENT_AT: usize = 16;
    /// Where window begins.
    pub const WINDOW_AT: usize = 20;
    /// Where raw_seen begins.
    pub const RAW_SEEN_AT: usize = 24;
    /// Bit 0: the card frames, checks and places; else everything with payload goes up raw.
    pub const ATTACHED: u8 = 0x1;
    /// Bit 1: ts_recent is valid.
    pub const TS_RECENT_VALID: u8 = 0x2;
    /// Bit 2: write: of an attached flow with nothing in the walk ts_recent and ts_recent_valid become these, and nothing else changes; else it is not applied. Reads 0.
    pub const FRESHEN: u8 = 0x4;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.attached.to_le_bytes());
        b[4..8].copy_from_slice(&self.rcv_nxt.to_le_bytes());
        b[8..12].copy_from_slice(&self.msn.to_le_bytes());
        b[12..16].copy_from_slice(&self.mo.to_le_bytes());
        b[16..20].copy_from_slice(&self.ts_recent.to_le_bytes());
        b[20..24].copy_from_slice(&self.window.to_le_bytes());
        b[24..28].copy_from_slice(&self.raw_seen.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            attached: u8::from_le_bytes([b[0]]),
            rcv_nxt: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            msn: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            mo: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            ts_recent: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            window: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            raw_seen: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
        }
    }

    /// Bit 0: the card frames, checks and places; else everything with payload goes up raw.
    pub const fn attached(&self) -> bool {
        self.attached & Self::ATTACHED != 0
    }

    /// The same with attached set or clear.
    #[must_use]
    pub const fn with_attached(mut self, on: bool) -> Self {
        self.attached = self.attached & !Self::ATTACHED | if on { Self::ATTACHED } else { 0 };
        self
    }

    /// Bit 1: ts_recent is valid.
    pub const fn ts_recent_valid(&self) -> bool {
        self.attached & Self::TS_RECENT_VALID != 0
    }

    /// The same with ts_recent_valid set or clear.
    #[must_use]
    pub const fn with_ts_recent_valid(mut self, on: bool) -> Self {
        self.attached = self.attached & !Self::TS_RECENT_VALID | if on { Self::TS_RECENT_VALID } else { 0 };
        self
    }

    /// Bit 2: write: of an attached flow with nothing in the walk ts_recent and ts_recent_valid become these, and nothing else changes; else it is not applied. Reads 0.
    pub const fn freshen(&self) -> bool {
        self.attached & Self::FRESHEN != 0
    }

    /// The same with freshen set or clear.
    #[must_use]
    pub const fn with_freshen(mut self, on: bool) -> Self {
        self.attached = self.attached & !Self::FRESHEN | if on { Self::FRESHEN } else { 0 };
        self
    }
}

/// A row of FLOW_TX. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTxRow {
    /// Its bits have getters.
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
    /// FPDUs of messages that wait behind each other share a segment of at most so many octets of payload, 2048 at most (card.md, Sending: jobs). 0: each has its own
    pub pack: u16,
}

impl FlowTxRow {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 0;
    /// Where ttl begins.
    pub const TTL_AT: usize = 1;
    /// Where tos begins.
    pub const TOS_AT: usize = 2;
    /// Where remote_mac begins.
    pub const REMOTE_MAC_AT: usize = 4;
    /// Where local_mac begins.
    pub const LOCAL_MAC_AT: usize = 10;
    /// Where local_ip begins.
    pub const LOCAL_IP_AT: usize = 16;
    /// Where remote_ip begins.
    pub const REMOTE_IP_AT: usize = 20;
    /// Where local_port begins.
    pub const LOCAL_PORT_AT: usize = 24;
    /// Where remote_port begins.
    pub const REMOTE_PORT_AT: usize = 26;
    /// Where marker_base begins.
    pub const MARKER_BASE_AT: usize = 28;
    /// Where pack begins.
    pub const PACK_AT: usize = 32;
    /// Bit 0: markers are sent.
    pub const MARKERS: u8 = 0x1;
    /// Bit 1: CRC is generated; else the field is 0.
    pub const CRC: u8 = 0x2;
    /// Bit 2: the row is valid; 0: jobs fail.
    pub const VALID: u8 = 0x4;
    /// Bit 3: the TCP timestamps option is sent.
    pub const TIMESTAMPS: u8 = 0x8;

    /// The record as it lies in memory.
    #[inline]
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
        b[32..34].copy_from_slice(&self.pack.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
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
            pack: u16::from_le_bytes([b[32], b[33]]),
        }
    }

    /// Bit 0: markers are sent.
    pub const fn markers(&self) -> bool {
        self.flags & Self::MARKERS != 0
    }

    /// The same with markers set or clear.
    #[must_use]
    pub const fn with_markers(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS | if on { Self::MARKERS } else { 0 };
        self
    }

    /// Bit 1: CRC is generated; else the field is 0.
    pub const fn crc(&self) -> bool {
        self.flags & Self::CRC != 0
    }

    /// The same with crc set or clear.
    #[must_use]
    pub const fn with_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CRC | if on { Self::CRC } else { 0 };
        self
    }

    /// Bit 2: the row is valid; 0: jobs fail.
    pub const fn valid(&self) -> bool {
        self.flags & Self::VALID != 0
    }

    /// The same with valid set or clear.
    #[must_use]
    pub const fn with_valid(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::VALID | if on { Self::VALID } else { 0 };
        self
    }

    /// Bit 3: the TCP timestamps option is sent.
    pub const fn timestamps(&self) -> bool {
        self.flags & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }
}

/// A row of STAG. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StagRow {
    /// Its bits have getters.
    pub valid: u8,
    /// low 8 bits of the STag
    pub key: u8,
    /// access rights
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
    /// Where valid begins.
    pub const VALID_AT: usize = 0;
    /// Where key begins.
    pub const KEY_AT: usize = 1;
    /// Where access begins.
    pub const ACCESS_AT: usize = 2;
    /// Where pd begins.
    pub const PD_AT: usize = 4;
    /// Where base begins.
    pub const BASE_AT: usize = 8;
    /// Where length begins.
    pub const LENGTH_AT: usize = 16;
    /// Where iova begins.
    pub const IOVA_AT: usize = 24;
    /// Bit 0: the region may be used.
    pub const VALID: u8 = 0x1;
    /// Bit 0: receive elements may point here.
    pub const LOCAL_WRITE: u8 = 0x1;
    /// Bit 1: the peer may read (checked by the engine).
    pub const REMOTE_READ: u8 = 0x2;
    /// Bit 2: the peer may write.
    pub const REMOTE_WRITE: u8 = 0x4;
    /// Bit 3: Read Responses may be placed here.
    pub const READ_SINK: u8 = 0x8;

    /// The record as it lies in memory.
    #[inline]
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
    #[inline]
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

    /// Bit 0: the region may be used.
    pub const fn valid(&self) -> bool {
        self.valid & Self::VALID != 0
    }

    /// The same with valid set or clear.
    #[must_use]
    pub const fn with_valid(mut self, on: bool) -> Self {
        self.valid = self.valid & !Self::VALID | if on { Self::VALID } else { 0 };
        self
    }

    /// Bit 0: receive elements may point here.
    pub const fn local_write(&self) -> bool {
        self.access & Self::LOCAL_WRITE != 0
    }

    /// The same with local_write set or clear.
    #[must_use]
    pub const fn with_local_write(mut self, on: bool) -> Self {
        self.access = self.access & !Self::LOCAL_WRITE | if on { Self::LOCAL_WRITE } else { 0 };
        self
    }

    /// Bit 1: the peer may read (checked by the engine).
    pub const fn remote_read(&self) -> bool {
        self.access & Self::REMOTE_READ != 0
    }

    /// The same with remote_read set or clear.
    #[must_use]
    pub const fn with_remote_read(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_READ | if on { Self::REMOTE_READ } else { 0 };
        self
    }

    /// Bit 2: the peer may write.
    pub const fn remote_write(&self) -> bool {
        self.access & Self::REMOTE_WRITE != 0
    }

    /// The same with remote_write set or clear.
    #[must_use]
    pub const fn with_remote_write(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_WRITE | if on { Self::REMOTE_WRITE } else { 0 };
        self
    }

    /// Bit 3: Read Responses may be placed here.
    pub const fn read_sink(&self) -> bool {
        self.access & Self::READ_SINK != 0
    }

    /// The same with read_sink set or clear.
    #[must_use]
    pub const fn with_read_sink(mut self, on: bool) -> Self {
        self.access = self.access & !Self::READ_SINK | if on { Self::READ_SINK } else { 0 };
        self
    }
}

/// A slot of the job ring: 'send this'. A REPLAY is a replay_job. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// what is sent
    pub kind: u8,
    /// Its bits have getters.
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
    /// payload bytes: the sum of the SGEs' lengths, or the inline bytes. Raw frame: whole frame, 14 to 9216. Segment: at most 9000; with append_crc a multiple of 4, from 4 to 8996.
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
    /// push window: the job's number, counted from 0 since the ring was set up, modulo 2^32. Job ring: not looked at
    pub number: u32,
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
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where ack begins.
    pub const ACK_AT: usize = 8;
    /// Where window begins.
    pub const WINDOW_AT: usize = 12;
    /// Where tcp_flags begins.
    pub const TCP_FLAGS_AT: usize = 14;
    /// Where sge_count begins.
    pub const SGE_COUNT_AT: usize = 15;
    /// Where ts_val begins.
    pub const TS_VAL_AT: usize = 16;
    /// Where ts_ecr begins.
    pub const TS_ECR_AT: usize = 20;
    /// Where length begins.
    pub const LENGTH_AT: usize = 24;
    /// Where fpdu_payload begins.
    pub const FPDU_PAYLOAD_AT: usize = 28;
    /// Where rdmap_control begins.
    pub const RDMAP_CONTROL_AT: usize = 30;
    /// Where ddp_rsvd begins.
    pub const DDP_RSVD_AT: usize = 31;
    /// Where stag_or_qn begins.
    pub const STAG_OR_QN_AT: usize = 32;
    /// Where msn begins.
    pub const MSN_AT: usize = 36;
    /// Where to_or_mo begins.
    pub const TO_OR_MO_AT: usize = 40;
    /// Where rsvd_ulp begins.
    pub const RSVD_ULP_AT: usize = 48;
    /// Where number begins.
    pub const NUMBER_AT: usize = 52;
    /// Where sge0_iova begins.
    pub const SGE0_IOVA_AT: usize = 64;
    /// Where sge0_length begins.
    pub const SGE0_LENGTH_AT: usize = 72;
    /// Where sge1_iova begins.
    pub const SGE1_IOVA_AT: usize = 80;
    /// Where sge1_length begins.
    pub const SGE1_LENGTH_AT: usize = 88;
    /// Where sge2_iova begins.
    pub const SGE2_IOVA_AT: usize = 96;
    /// Where sge2_length begins.
    pub const SGE2_LENGTH_AT: usize = 104;
    /// Where sge3_iova begins.
    pub const SGE3_IOVA_AT: usize = 112;
    /// Where sge3_length begins.
    pub const SGE3_LENGTH_AT: usize = 120;
    /// Bit 0: message: tagged.
    pub const TAGGED: u8 = 0x1;
    /// Bit 1: message: it ends here, the final FPDU has L.
    pub const LAST: u8 = 0x2;
    /// Bit 2: a report is written when it is done.
    pub const NOTIFY: u8 = 0x4;
    /// Bit 3: the payload is in the slot from byte 64, at most 64 bytes, and there are no SGEs.
    pub const INLINE_PAYLOAD: u8 = 0x8;
    /// Bit 4: segment, message: each frame says that congestion may be marked in it, ECT(0) (RFC 3168 §5).
    pub const ECT: u8 = 0x10;
    /// Bit 5: segment: the CRC32C of the payload goes behind it, four octets more that nobody reads.
    pub const APPEND_CRC: u8 = 0x20;

    /// The record as it lies in memory.
    #[inline]
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
        b[52..56].copy_from_slice(&self.number.to_le_bytes());
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
    #[inline]
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
            number: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
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

    /// What is sent: by its name.
    pub fn kind(&self) -> Result<JobKind, UnknownValue> {
        JobKind::try_from(self.kind)
    }

    /// Bit 0: message: tagged.
    pub const fn tagged(&self) -> bool {
        self.flags & Self::TAGGED != 0
    }

    /// The same with tagged set or clear.
    #[must_use]
    pub const fn with_tagged(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TAGGED | if on { Self::TAGGED } else { 0 };
        self
    }

    /// Bit 1: message: it ends here, the final FPDU has L.
    pub const fn last(&self) -> bool {
        self.flags & Self::LAST != 0
    }

    /// The same with last set or clear.
    #[must_use]
    pub const fn with_last(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::LAST | if on { Self::LAST } else { 0 };
        self
    }

    /// Bit 2: a report is written when it is done.
    pub const fn notify(&self) -> bool {
        self.flags & Self::NOTIFY != 0
    }

    /// The same with notify set or clear.
    #[must_use]
    pub const fn with_notify(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::NOTIFY | if on { Self::NOTIFY } else { 0 };
        self
    }

    /// Bit 3: the payload is in the slot from byte 64, at most 64 bytes, and there are no SGEs.
    pub const fn inline_payload(&self) -> bool {
        self.flags & Self::INLINE_PAYLOAD != 0
    }

    /// The same with inline_payload set or clear.
    #[must_use]
    pub const fn with_inline_payload(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::INLINE_PAYLOAD | if on { Self::INLINE_PAYLOAD } else { 0 };
        self
    }

    /// Bit 4: segment, message: each frame says that congestion may be marked in it, ECT(0) (RFC 3168 §5).
    pub const fn ect(&self) -> bool {
        self.flags & Self::ECT != 0
    }

    /// The same with ect set or clear.
    #[must_use]
    pub const fn with_ect(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ECT | if on { Self::ECT } else { 0 };
        self
    }

    /// Bit 5: segment: the CRC32C of the payload goes behind it, four octets more that nobody reads.
    pub const fn append_crc(&self) -> bool {
        self.flags & Self::APPEND_CRC != 0
    }

    /// The same with append_crc set or clear.
    #[must_use]
    pub const fn with_append_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::APPEND_CRC | if on { Self::APPEND_CRC } else { 0 };
        self
    }
}

/// A slot of the job ring whose kind is REPLAY: 'walk over this piece of the received stream'. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayJob {
    /// REPLAY
    pub kind: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// flow
    pub flow: u16,
    /// TCP sequence number of the first byte, as it was received
    pub seq: u32,
    /// SGEs used, 0 to 4
    pub sge_count: u8,
    /// bytes, 1 to what JOB_REPLAY says: the sum of the SGEs' lengths, or the inline bytes
    pub length: u32,
    /// MSN expected on queue 0
    pub msn: u32,
    /// MO expected in that message
    pub mo: u32,
    /// as in a job
    pub number: u32,
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

impl ReplayJob {
    /// Bytes of the record.
    pub const SIZE: usize = 128;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where sge_count begins.
    pub const SGE_COUNT_AT: usize = 15;
    /// Where length begins.
    pub const LENGTH_AT: usize = 24;
    /// Where msn begins.
    pub const MSN_AT: usize = 36;
    /// Where mo begins.
    pub const MO_AT: usize = 40;
    /// Where number begins.
    pub const NUMBER_AT: usize = 52;
    /// Where sge0_iova begins.
    pub const SGE0_IOVA_AT: usize = 64;
    /// Where sge0_length begins.
    pub const SGE0_LENGTH_AT: usize = 72;
    /// Where sge1_iova begins.
    pub const SGE1_IOVA_AT: usize = 80;
    /// Where sge1_length begins.
    pub const SGE1_LENGTH_AT: usize = 88;
    /// Where sge2_iova begins.
    pub const SGE2_IOVA_AT: usize = 96;
    /// Where sge2_length begins.
    pub const SGE2_LENGTH_AT: usize = 104;
    /// Where sge3_iova begins.
    pub const SGE3_IOVA_AT: usize = 112;
    /// Where sge3_length begins.
    pub const SGE3_LENGTH_AT: usize = 120;
    /// Bit 0: it goes on where the flow's last replay ended; then msn and mo mean nothing.
    pub const FOLLOWS: u8 = 0x1;
    /// Bit 2: a job_report is written when its bytes have been read, too.
    pub const NOTIFY: u8 = 0x4;
    /// Bit 3: the bytes are in the slot from byte 64, at most 64, and there are no SGEs.
    pub const INLINE_PAYLOAD: u8 = 0x8;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[15..16].copy_from_slice(&self.sge_count.to_le_bytes());
        b[24..28].copy_from_slice(&self.length.to_le_bytes());
        b[36..40].copy_from_slice(&self.msn.to_le_bytes());
        b[40..44].copy_from_slice(&self.mo.to_le_bytes());
        b[52..56].copy_from_slice(&self.number.to_le_bytes());
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
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            sge_count: u8::from_le_bytes([b[15]]),
            length: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            msn: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            mo: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            number: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
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

    /// REPLAY: by its name.
    pub fn kind(&self) -> Result<JobKind, UnknownValue> {
        JobKind::try_from(self.kind)
    }

    /// Bit 0: it goes on where the flow's last replay ended; then msn and mo mean nothing.
    pub const fn follows(&self) -> bool {
        self.flags & Self::FOLLOWS != 0
    }

    /// The same with follows set or clear.
    #[must_use]
    pub const fn with_follows(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::FOLLOWS | if on { Self::FOLLOWS } else { 0 };
        self
    }

    /// Bit 2: a job_report is written when its bytes have been read, too.
    pub const fn notify(&self) -> bool {
        self.flags & Self::NOTIFY != 0
    }

    /// The same with notify set or clear.
    #[must_use]
    pub const fn with_notify(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::NOTIFY | if on { Self::NOTIFY } else { 0 };
        self
    }

    /// Bit 3: the bytes are in the slot from byte 64, at most 64, and there are no SGEs.
    pub const fn inline_payload(&self) -> bool {
        self.flags & Self::INLINE_PAYLOAD != 0
    }

    /// The same with inline_payload set or clear.
    #[must_use]
    pub const fn with_inline_payload(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::INLINE_PAYLOAD | if on { Self::INLINE_PAYLOAD } else { 0 };
        self
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
    /// Where sge0_to begins.
    pub const SGE0_TO_AT: usize = 0;
    /// Where sge0_length begins.
    pub const SGE0_LENGTH_AT: usize = 8;
    /// Where sge0_stag begins.
    pub const SGE0_STAG_AT: usize = 12;
    /// Where sge1_to begins.
    pub const SGE1_TO_AT: usize = 16;
    /// Where sge1_length begins.
    pub const SGE1_LENGTH_AT: usize = 24;
    /// Where sge1_stag begins.
    pub const SGE1_STAG_AT: usize = 28;
    /// Where sge2_to begins.
    pub const SGE2_TO_AT: usize = 32;
    /// Where sge2_length begins.
    pub const SGE2_LENGTH_AT: usize = 40;
    /// Where sge2_stag begins.
    pub const SGE2_STAG_AT: usize = 44;
    /// Where sge3_to begins.
    pub const SGE3_TO_AT: usize = 48;
    /// Where sge3_length begins.
    pub const SGE3_LENGTH_AT: usize = 56;
    /// Where sge3_stag begins.
    pub const SGE3_STAG_AT: usize = 60;

    /// The record as it lies in memory.
    #[inline]
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
    #[inline]
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

/// One per received TCP segment of a known flow that has no placed_report; comes after the FPDU reports of the same segment. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    /// SEGMENT
    pub kind: u8,
    /// Its bits have getters.
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
    /// epoch of the flow's FLOW_RX row
    pub epoch: u8,
    /// TSval
    pub ts_val: u32,
    /// TSecr
    pub ts_ecr: u32,
    /// TCP payload bytes
    pub payload_len: u16,
    /// of these, from the front, bytes covered by FPDU reports without error (markers included). Fewer than payload_len with an attached flow: the card carries the rest, and the raw frame has it too
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
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    pub arrival: u32,
    /// Its bits have getters.
    pub status: u8,
    /// written last
    pub phase: u8,
}

impl SegmentReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where ack begins.
    pub const ACK_AT: usize = 8;
    /// Where window begins.
    pub const WINDOW_AT: usize = 12;
    /// Where tcp_flags begins.
    pub const TCP_FLAGS_AT: usize = 14;
    /// Where epoch begins.
    pub const EPOCH_AT: usize = 15;
    /// Where ts_val begins.
    pub const TS_VAL_AT: usize = 16;
    /// Where ts_ecr begins.
    pub const TS_ECR_AT: usize = 20;
    /// Where payload_len begins.
    pub const PAYLOAD_LEN_AT: usize = 24;
    /// Where done_len begins.
    pub const DONE_LEN_AT: usize = 26;
    /// Where raw_slot begins.
    pub const RAW_SLOT_AT: usize = 28;
    /// Where raw_len begins.
    pub const RAW_LEN_AT: usize = 30;
    /// Where sack0_left begins.
    pub const SACK0_LEFT_AT: usize = 32;
    /// Where sack0_right begins.
    pub const SACK0_RIGHT_AT: usize = 36;
    /// Where sack1_left begins.
    pub const SACK1_LEFT_AT: usize = 40;
    /// Where sack1_right begins.
    pub const SACK1_RIGHT_AT: usize = 44;
    /// Where sack2_left begins.
    pub const SACK2_LEFT_AT: usize = 48;
    /// Where sack2_right begins.
    pub const SACK2_RIGHT_AT: usize = 52;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where arrival begins.
    pub const ARRIVAL_AT: usize = 59;
    /// Where status begins.
    pub const STATUS_AT: usize = 62;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 0: the frame is in raw_slot.
    pub const RAW: u8 = 0x1;
    /// Bit 1: ts_val and ts_ecr are there.
    pub const TIMESTAMPS: u8 = 0x2;
    /// Bit 2: the flow is attached after this segment. A raw segment with payload, neither SYN nor RST, without it is one that the card left to the engine: the flow's mark is at its slot.
    pub const ATTACHED: u8 = 0x4;
    /// Bit 3: wholly old data, nothing done.
    pub const DUPLICATE: u8 = 0x8;
    /// Bits 7:4: number of SACK blocks below, 0 to 3.
    pub const SACK_COUNT_MASK: u8 = 0xf0;
    /// The lowest of them.
    pub const SACK_COUNT_SHIFT: u32 = 4;
    /// Bits 3:0: why it was refused, with nothing done and no raw frame.
    pub const REFUSAL_MASK: u8 = 0xf;
    /// The lowest of them.
    pub const REFUSAL_SHIFT: u32 = 0;
    /// Bits 5:4: congestion marks: the ECN field of the IP header.
    pub const IP_ECN_MASK: u8 = 0x30;
    /// The lowest of them.
    pub const IP_ECN_SHIFT: u32 = 4;
    /// Bit 6: congestion marks: the AE flag of the TCP header.
    pub const TCP_AE: u8 = 0x40;
    /// Bit 7: the raw frame's write failed: nothing valid is in the slot.
    pub const RAW_FAILED: u8 = 0x80;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..12].copy_from_slice(&self.ack.to_le_bytes());
        b[12..14].copy_from_slice(&self.window.to_le_bytes());
        b[14..15].copy_from_slice(&self.tcp_flags.to_le_bytes());
        b[15..16].copy_from_slice(&self.epoch.to_le_bytes());
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
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[59..62].copy_from_slice(&self.arrival.to_le_bytes()[..3]);
        b[62..63].copy_from_slice(&self.status.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ack: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            window: u16::from_le_bytes([b[12], b[13]]),
            tcp_flags: u8::from_le_bytes([b[14]]),
            epoch: u8::from_le_bytes([b[15]]),
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
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            arrival: u32::from_le_bytes([b[59], b[60], b[61], 0]),
            status: u8::from_le_bytes([b[62]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// SEGMENT: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// Bit 0: the frame is in raw_slot.
    pub const fn raw(&self) -> bool {
        self.flags & Self::RAW != 0
    }

    /// The same with raw set or clear.
    #[must_use]
    pub const fn with_raw(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::RAW | if on { Self::RAW } else { 0 };
        self
    }

    /// Bit 1: ts_val and ts_ecr are there.
    pub const fn timestamps(&self) -> bool {
        self.flags & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }

    /// Bit 2: the flow is attached after this segment. A raw segment with payload, neither SYN nor RST, without it is one that the card left to the engine: the flow's mark is at its slot.
    pub const fn attached(&self) -> bool {
        self.flags & Self::ATTACHED != 0
    }

    /// The same with attached set or clear.
    #[must_use]
    pub const fn with_attached(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ATTACHED | if on { Self::ATTACHED } else { 0 };
        self
    }

    /// Bit 3: wholly old data, nothing done.
    pub const fn duplicate(&self) -> bool {
        self.flags & Self::DUPLICATE != 0
    }

    /// The same with duplicate set or clear.
    #[must_use]
    pub const fn with_duplicate(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::DUPLICATE | if on { Self::DUPLICATE } else { 0 };
        self
    }

    /// Bits 7:4: number of SACK blocks below, 0 to 3.
    pub const fn sack_count(&self) -> u8 {
        (self.flags & Self::SACK_COUNT_MASK) >> Self::SACK_COUNT_SHIFT
    }

    /// The same with this sack_count.
    #[must_use]
    pub const fn with_sack_count(mut self, value: u8) -> Self {
        self.flags = self.flags & !Self::SACK_COUNT_MASK | value << Self::SACK_COUNT_SHIFT & Self::SACK_COUNT_MASK;
        self
    }

    /// Bits 3:0: why it was refused, with nothing done and no raw frame.
    pub fn refusal(&self) -> Result<Refusal, UnknownValue> {
        Refusal::try_from(self.status & Self::REFUSAL_MASK)
    }

    /// The same with this refusal.
    #[must_use]
    pub const fn with_refusal(mut self, value: Refusal) -> Self {
        self.status = self.status & !Self::REFUSAL_MASK | value.raw() & Self::REFUSAL_MASK;
        self
    }

    /// Bits 5:4: congestion marks: the ECN field of the IP header.
    pub const fn ip_ecn(&self) -> u8 {
        (self.status & Self::IP_ECN_MASK) >> Self::IP_ECN_SHIFT
    }

    /// The same with this ip_ecn.
    #[must_use]
    pub const fn with_ip_ecn(mut self, value: u8) -> Self {
        self.status = self.status & !Self::IP_ECN_MASK | value << Self::IP_ECN_SHIFT & Self::IP_ECN_MASK;
        self
    }

    /// Bit 6: congestion marks: the AE flag of the TCP header.
    pub const fn tcp_ae(&self) -> bool {
        self.status & Self::TCP_AE != 0
    }

    /// The same with tcp_ae set or clear.
    #[must_use]
    pub const fn with_tcp_ae(mut self, on: bool) -> Self {
        self.status = self.status & !Self::TCP_AE | if on { Self::TCP_AE } else { 0 };
        self
    }

    /// Bit 7: the raw frame's write failed: nothing valid is in the slot.
    pub const fn raw_failed(&self) -> bool {
        self.status & Self::RAW_FAILED != 0
    }

    /// The same with raw_failed set or clear.
    #[must_use]
    pub const fn with_raw_failed(mut self, on: bool) -> Self {
        self.status = self.status & !Self::RAW_FAILED | if on { Self::RAW_FAILED } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// One per FPDU that the card framed and that has no placed_report, in stream order, before its segment's report. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FpduReport {
    /// FPDU
    pub kind: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// flow
    pub flow: u16,
    /// TCP sequence number where the FPDU begins (its leading marker, if it has one)
    pub seq: u32,
    /// DDP control byte
    pub ddp_control: u8,
    /// RDMAP control byte
    pub rdmap_control: u8,
    /// what became of it
    pub verdict: u8,
    /// epoch of the flow's FLOW_RX row
    pub epoch: u8,
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
    /// where in the TCP payload the FPDU begins, signed: negative where its first octets were carried from segments before
    pub offset: u16,
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// written last
    pub phase: u8,
}

impl FpduReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where ddp_control begins.
    pub const DDP_CONTROL_AT: usize = 8;
    /// Where rdmap_control begins.
    pub const RDMAP_CONTROL_AT: usize = 9;
    /// Where verdict begins.
    pub const VERDICT_AT: usize = 10;
    /// Where epoch begins.
    pub const EPOCH_AT: usize = 11;
    /// Where ulpdu_len begins.
    pub const ULPDU_LEN_AT: usize = 12;
    /// Where terminate begins.
    pub const TERMINATE_AT: usize = 14;
    /// Where stag_or_qn begins.
    pub const STAG_OR_QN_AT: usize = 16;
    /// Where msn begins.
    pub const MSN_AT: usize = 20;
    /// Where to_or_mo begins.
    pub const TO_OR_MO_AT: usize = 24;
    /// Where rsvd_ulp begins.
    pub const RSVD_ULP_AT: usize = 32;
    /// Where payload_len begins.
    pub const PAYLOAD_LEN_AT: usize = 36;
    /// Where offset begins.
    pub const OFFSET_AT: usize = 40;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 0: the header below is valid: it was long enough.
    pub const HEADER_VALID: u8 = 0x1;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..9].copy_from_slice(&self.ddp_control.to_le_bytes());
        b[9..10].copy_from_slice(&self.rdmap_control.to_le_bytes());
        b[10..11].copy_from_slice(&self.verdict.to_le_bytes());
        b[11..12].copy_from_slice(&self.epoch.to_le_bytes());
        b[12..14].copy_from_slice(&self.ulpdu_len.to_le_bytes());
        b[14..16].copy_from_slice(&self.terminate.to_le_bytes());
        b[16..20].copy_from_slice(&self.stag_or_qn.to_le_bytes());
        b[20..24].copy_from_slice(&self.msn.to_le_bytes());
        b[24..32].copy_from_slice(&self.to_or_mo.to_le_bytes());
        b[32..36].copy_from_slice(&self.rsvd_ulp.to_le_bytes());
        b[36..40].copy_from_slice(&self.payload_len.to_le_bytes());
        b[40..42].copy_from_slice(&self.offset.to_le_bytes());
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ddp_control: u8::from_le_bytes([b[8]]),
            rdmap_control: u8::from_le_bytes([b[9]]),
            verdict: u8::from_le_bytes([b[10]]),
            epoch: u8::from_le_bytes([b[11]]),
            ulpdu_len: u16::from_le_bytes([b[12], b[13]]),
            terminate: u16::from_le_bytes([b[14], b[15]]),
            stag_or_qn: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            msn: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            to_or_mo: u64::from_le_bytes([b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31]]),
            rsvd_ulp: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            payload_len: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            offset: u16::from_le_bytes([b[40], b[41]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// FPDU: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// Bit 0: the header below is valid: it was long enough.
    pub const fn header_valid(&self) -> bool {
        self.flags & Self::HEADER_VALID != 0
    }

    /// The same with header_valid set or clear.
    #[must_use]
    pub const fn with_header_valid(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HEADER_VALID | if on { Self::HEADER_VALID } else { 0 };
        self
    }

    /// What became of it: by its name.
    pub fn verdict(&self) -> Result<FpduVerdict, UnknownValue> {
        FpduVerdict::try_from(self.verdict)
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// A TCP segment of a known flow whose payload is one FPDU that was placed, without SACK blocks: stands for the fpdu_report and the segment_report, which is accepted, neither raw nor duplicate, and done as a whole. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacedReport {
    /// PLACED
    pub kind: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// flow
    pub flow: u16,
    /// TCP sequence number of the segment and of its FPDU
    pub seq: u32,
    /// TCP acknowledgment number
    pub ack: u32,
    /// TCP window field as received
    pub window: u16,
    /// TCP flags
    pub tcp_flags: u8,
    /// epoch of the flow's FLOW_RX row
    pub epoch: u8,
    /// TSval
    pub ts_val: u32,
    /// TSecr
    pub ts_ecr: u32,
    /// TCP payload bytes
    pub payload_len: u16,
    /// ULPDU length
    pub ulpdu_len: u16,
    /// DDP control byte
    pub ddp_control: u8,
    /// RDMAP control byte
    pub rdmap_control: u8,
    /// DDP payload bytes; all of them are in host memory
    pub ddp_payload_len: u16,
    /// STag (tagged) or queue number
    pub stag_or_qn: u32,
    /// MSN (untagged)
    pub msn: u32,
    /// TO (tagged) or MO
    pub to_or_mo: u64,
    /// untagged: the RDMAP part of RsvdULP
    pub rsvd_ulp: u32,
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    pub arrival: u32,
    /// Its bits have getters.
    pub status: u8,
    /// written last
    pub phase: u8,
}

impl PlacedReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where ack begins.
    pub const ACK_AT: usize = 8;
    /// Where window begins.
    pub const WINDOW_AT: usize = 12;
    /// Where tcp_flags begins.
    pub const TCP_FLAGS_AT: usize = 14;
    /// Where epoch begins.
    pub const EPOCH_AT: usize = 15;
    /// Where ts_val begins.
    pub const TS_VAL_AT: usize = 16;
    /// Where ts_ecr begins.
    pub const TS_ECR_AT: usize = 20;
    /// Where payload_len begins.
    pub const PAYLOAD_LEN_AT: usize = 24;
    /// Where ulpdu_len begins.
    pub const ULPDU_LEN_AT: usize = 26;
    /// Where ddp_control begins.
    pub const DDP_CONTROL_AT: usize = 28;
    /// Where rdmap_control begins.
    pub const RDMAP_CONTROL_AT: usize = 29;
    /// Where ddp_payload_len begins.
    pub const DDP_PAYLOAD_LEN_AT: usize = 30;
    /// Where stag_or_qn begins.
    pub const STAG_OR_QN_AT: usize = 32;
    /// Where msn begins.
    pub const MSN_AT: usize = 36;
    /// Where to_or_mo begins.
    pub const TO_OR_MO_AT: usize = 40;
    /// Where rsvd_ulp begins.
    pub const RSVD_ULP_AT: usize = 48;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where arrival begins.
    pub const ARRIVAL_AT: usize = 59;
    /// Where status begins.
    pub const STATUS_AT: usize = 62;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 1: ts_val and ts_ecr are there.
    pub const TIMESTAMPS: u8 = 0x2;
    /// Bit 2: the flow is attached after this segment.
    pub const ATTACHED: u8 = 0x4;
    /// Bits 5:4: congestion marks, as in a segment_report.
    pub const IP_ECN_MASK: u8 = 0x30;
    /// The lowest of them.
    pub const IP_ECN_SHIFT: u32 = 4;
    /// Bit 6: congestion marks, as in a segment_report.
    pub const TCP_AE: u8 = 0x40;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..12].copy_from_slice(&self.ack.to_le_bytes());
        b[12..14].copy_from_slice(&self.window.to_le_bytes());
        b[14..15].copy_from_slice(&self.tcp_flags.to_le_bytes());
        b[15..16].copy_from_slice(&self.epoch.to_le_bytes());
        b[16..20].copy_from_slice(&self.ts_val.to_le_bytes());
        b[20..24].copy_from_slice(&self.ts_ecr.to_le_bytes());
        b[24..26].copy_from_slice(&self.payload_len.to_le_bytes());
        b[26..28].copy_from_slice(&self.ulpdu_len.to_le_bytes());
        b[28..29].copy_from_slice(&self.ddp_control.to_le_bytes());
        b[29..30].copy_from_slice(&self.rdmap_control.to_le_bytes());
        b[30..32].copy_from_slice(&self.ddp_payload_len.to_le_bytes());
        b[32..36].copy_from_slice(&self.stag_or_qn.to_le_bytes());
        b[36..40].copy_from_slice(&self.msn.to_le_bytes());
        b[40..48].copy_from_slice(&self.to_or_mo.to_le_bytes());
        b[48..52].copy_from_slice(&self.rsvd_ulp.to_le_bytes());
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[59..62].copy_from_slice(&self.arrival.to_le_bytes()[..3]);
        b[62..63].copy_from_slice(&self.status.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            ack: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            window: u16::from_le_bytes([b[12], b[13]]),
            tcp_flags: u8::from_le_bytes([b[14]]),
            epoch: u8::from_le_bytes([b[15]]),
            ts_val: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            ts_ecr: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            payload_len: u16::from_le_bytes([b[24], b[25]]),
            ulpdu_len: u16::from_le_bytes([b[26], b[27]]),
            ddp_control: u8::from_le_bytes([b[28]]),
            rdmap_control: u8::from_le_bytes([b[29]]),
            ddp_payload_len: u16::from_le_bytes([b[30], b[31]]),
            stag_or_qn: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            msn: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            to_or_mo: u64::from_le_bytes([b[40], b[41], b[42], b[43], b[44], b[45], b[46], b[47]]),
            rsvd_ulp: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            arrival: u32::from_le_bytes([b[59], b[60], b[61], 0]),
            status: u8::from_le_bytes([b[62]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// PLACED: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// Bit 1: ts_val and ts_ecr are there.
    pub const fn timestamps(&self) -> bool {
        self.flags & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }

    /// Bit 2: the flow is attached after this segment.
    pub const fn attached(&self) -> bool {
        self.flags & Self::ATTACHED != 0
    }

    /// The same with attached set or clear.
    #[must_use]
    pub const fn with_attached(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ATTACHED | if on { Self::ATTACHED } else { 0 };
        self
    }

    /// Bits 5:4: congestion marks, as in a segment_report.
    pub const fn ip_ecn(&self) -> u8 {
        (self.status & Self::IP_ECN_MASK) >> Self::IP_ECN_SHIFT
    }

    /// The same with this ip_ecn.
    #[must_use]
    pub const fn with_ip_ecn(mut self, value: u8) -> Self {
        self.status = self.status & !Self::IP_ECN_MASK | value << Self::IP_ECN_SHIFT & Self::IP_ECN_MASK;
        self
    }

    /// Bit 6: congestion marks, as in a segment_report.
    pub const fn tcp_ae(&self) -> bool {
        self.status & Self::TCP_AE != 0
    }

    /// The same with tcp_ae set or clear.
    #[must_use]
    pub const fn with_tcp_ae(mut self, on: bool) -> Self {
        self.status = self.status & !Self::TCP_AE | if on { Self::TCP_AE } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// One per replay job that did not fail; comes after the FPDU reports of its bytes. The flow is as much attached as it was, and its mark is the same. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// REPLAY
    pub kind: u8,
    /// flow
    pub flow: u16,
    /// the job's seq
    pub seq: u32,
    /// epoch of the flow's FLOW_RX row
    pub epoch: u8,
    /// bytes of the job
    pub payload_len: u16,
    /// of these, from the front, bytes covered by FPDU reports without error (markers included)
    pub done_len: u16,
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// Its bits have getters.
    pub status: u8,
    /// written last
    pub phase: u8,
}

impl ReplayReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where seq begins.
    pub const SEQ_AT: usize = 4;
    /// Where epoch begins.
    pub const EPOCH_AT: usize = 15;
    /// Where payload_len begins.
    pub const PAYLOAD_LEN_AT: usize = 24;
    /// Where done_len begins.
    pub const DONE_LEN_AT: usize = 26;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where status begins.
    pub const STATUS_AT: usize = 62;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bits 3:0: how far it came.
    pub const OUTCOME_MASK: u8 = 0xf;
    /// The lowest of them.
    pub const OUTCOME_SHIFT: u32 = 0;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[15..16].copy_from_slice(&self.epoch.to_le_bytes());
        b[24..26].copy_from_slice(&self.payload_len.to_le_bytes());
        b[26..28].copy_from_slice(&self.done_len.to_le_bytes());
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[62..63].copy_from_slice(&self.status.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            seq: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            epoch: u8::from_le_bytes([b[15]]),
            payload_len: u16::from_le_bytes([b[24], b[25]]),
            done_len: u16::from_le_bytes([b[26], b[27]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            status: u8::from_le_bytes([b[62]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// REPLAY: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// Bits 3:0: how far it came.
    pub fn outcome(&self) -> Result<ReplayOutcome, UnknownValue> {
        ReplayOutcome::try_from(self.status & Self::OUTCOME_MASK)
    }

    /// The same with this outcome.
    #[must_use]
    pub const fn with_outcome(mut self, value: ReplayOutcome) -> Self {
        self.status = self.status & !Self::OUTCOME_MASK | value.raw() & Self::OUTCOME_MASK;
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// A frame of no known flow, in the raw ring. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameReport {
    /// FRAME
    pub kind: u8,
    /// raw slot
    pub raw_slot: u16,
    /// frame bytes in it
    pub raw_len: u16,
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// when the frame had come: the card's clock (TIME_LO) in units of 8 cycles, modulo 2^24, a fixed number of cycles, fewer than 16, after its last beat at the MAC's port
    pub arrival: u32,
    /// Its bits have getters.
    pub status: u8,
    /// written last
    pub phase: u8,
}

impl FrameReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where raw_slot begins.
    pub const RAW_SLOT_AT: usize = 28;
    /// Where raw_len begins.
    pub const RAW_LEN_AT: usize = 30;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where arrival begins.
    pub const ARRIVAL_AT: usize = 59;
    /// Where status begins.
    pub const STATUS_AT: usize = 62;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 7: the raw frame's write failed: nothing valid is in the slot.
    pub const RAW_FAILED: u8 = 0x80;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[28..30].copy_from_slice(&self.raw_slot.to_le_bytes());
        b[30..32].copy_from_slice(&self.raw_len.to_le_bytes());
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[59..62].copy_from_slice(&self.arrival.to_le_bytes()[..3]);
        b[62..63].copy_from_slice(&self.status.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            raw_slot: u16::from_le_bytes([b[28], b[29]]),
            raw_len: u16::from_le_bytes([b[30], b[31]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            arrival: u32::from_le_bytes([b[59], b[60], b[61], 0]),
            status: u8::from_le_bytes([b[62]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// FRAME: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// Bit 7: the raw frame's write failed: nothing valid is in the slot.
    pub const fn raw_failed(&self) -> bool {
        self.status & Self::RAW_FAILED != 0
    }

    /// The same with raw_failed set or clear.
    #[must_use]
    pub const fn with_raw_failed(mut self, on: bool) -> Self {
        self.status = self.status & !Self::RAW_FAILED | if on { Self::RAW_FAILED } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// A job that asked for it is done, or a job failed. Of several jobs that are done while a report of status 0 waits for room, the last one is reported: all before it are done, too. Failures are all reported. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobReport {
    /// JOB
    pub kind: u8,
    /// how it ended
    pub status: u8,
    /// flow of the job
    pub flow: u16,
    /// number of the job, counted from 0 since the ring was set up, modulo 2^32
    pub job: u32,
    /// JOB_DONE when the report was written, its low 24 bits
    pub job_done: u32,
    /// written last
    pub phase: u8,
}

impl JobReport {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where status begins.
    pub const STATUS_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where job begins.
    pub const JOB_AT: usize = 4;
    /// Where job_done begins.
    pub const JOB_DONE_AT: usize = 56;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;
    /// Bit 1: whose ring it is.
    pub const PORT: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.status.to_le_bytes());
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.job.to_le_bytes());
        b[56..59].copy_from_slice(&self.job_done.to_le_bytes()[..3]);
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            status: u8::from_le_bytes([b[1]]),
            flow: u16::from_le_bytes([b[2], b[3]]),
            job: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            job_done: u32::from_le_bytes([b[56], b[57], b[58], 0]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// JOB: by its name.
    pub fn kind(&self) -> Result<ReportKind, UnknownValue> {
        ReportKind::try_from(self.kind)
    }

    /// How it ended: by its name.
    pub fn status(&self) -> Result<JobStatus, UnknownValue> {
        JobStatus::try_from(self.status)
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }

    /// Bit 1: whose ring it is.
    pub const fn port(&self) -> bool {
        self.phase & Self::PORT != 0
    }

    /// The same with port set or clear.
    #[must_use]
    pub const fn with_port(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PORT | if on { Self::PORT } else { 0 };
        self
    }
}

/// The first 64 bytes of a slot of the capture ring; the frame's bytes are behind it. It is written after them. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureHeader {
    /// bytes of the frame, without FCS
    pub length: u16,
    /// of these, in the slot
    pub captured: u16,
    /// Its bits have getters.
    pub flags: u8,
    /// frames of this direction left out since reset, when this one came
    pub lost: u32,
    /// the card's clock when the last beat of the frame passed the MAC's port
    pub clock: u64,
    /// written last
    pub phase: u8,
}

impl CaptureHeader {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where length begins.
    pub const LENGTH_AT: usize = 0;
    /// Where captured begins.
    pub const CAPTURED_AT: usize = 2;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 4;
    /// Where lost begins.
    pub const LOST_AT: usize = 8;
    /// Where clock begins.
    pub const CLOCK_AT: usize = 16;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 0: transmitted; else received.
    pub const SENT: u8 = 0x1;
    /// Bit 1: the MAC flagged it bad.
    pub const BAD: u8 = 0x2;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
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
    #[inline]
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

    /// Bit 0: transmitted; else received.
    pub const fn sent(&self) -> bool {
        self.flags & Self::SENT != 0
    }

    /// The same with sent set or clear.
    #[must_use]
    pub const fn with_sent(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SENT | if on { Self::SENT } else { 0 };
        self
    }

    /// Bit 1: the MAC flagged it bad.
    pub const fn bad(&self) -> bool {
        self.flags & Self::BAD != 0
    }

    /// The same with bad set or clear.
    #[must_use]
    pub const fn with_bad(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::BAD | if on { Self::BAD } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }
}

/// The first block of a WQE in a send queue. Inline payload begins at byte 32 and goes on in the blocks behind it; else there are two SGEs here and four in each block behind it, laid out as a receive_element. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendWqe {
    /// what is to be done
    pub opcode: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// blocks of 64 bytes, this one included: 1 to 5
    pub blocks: u8,
    /// SGEs, 0 to 16; 0 if inline
    pub sge_count: u8,
    /// inline: bytes, at most 256; else 0
    pub length: u32,
    /// Write, Read, atomics: TO in the peer's region. Immediate: the data. BIND, FAST_REGISTER: TO of the first byte, as the peer names it
    pub to: u64,
    /// Write, Read, atomics: the peer's STag. Send with invalidate: what is to be invalidated. LOCAL_INVALIDATE, BIND, FAST_REGISTER: an STag of this side
    pub stag: u32,
    /// TO in the region of sge0_stag
    pub sge0_to: u64,
    /// bytes
    pub sge0_length: u32,
    /// STag of a region in the queue pair's PD
    pub sge0_stag: u32,
    /// second SGE
    pub sge1_to: u64,
    /// bytes
    pub sge1_length: u32,
    /// STag
    pub sge1_stag: u32,
}

impl SendWqe {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where opcode begins.
    pub const OPCODE_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where blocks begins.
    pub const BLOCKS_AT: usize = 2;
    /// Where sge_count begins.
    pub const SGE_COUNT_AT: usize = 3;
    /// Where length begins.
    pub const LENGTH_AT: usize = 4;
    /// Where to begins.
    pub const TO_AT: usize = 8;
    /// Where stag begins.
    pub const STAG_AT: usize = 16;
    /// Where sge0_to begins.
    pub const SGE0_TO_AT: usize = 32;
    /// Where sge0_length begins.
    pub const SGE0_LENGTH_AT: usize = 40;
    /// Where sge0_stag begins.
    pub const SGE0_STAG_AT: usize = 44;
    /// Where sge1_to begins.
    pub const SGE1_TO_AT: usize = 48;
    /// Where sge1_length begins.
    pub const SGE1_LENGTH_AT: usize = 56;
    /// Where sge1_stag begins.
    pub const SGE1_STAG_AT: usize = 60;
    /// Bit 0: a CQE is written on success too.
    pub const SIGNALED: u8 = 0x1;
    /// Bit 1: starts when all Reads before it are complete.
    pub const FENCE: u8 = 0x2;
    /// Bit 2: Send, Immediate: the receiver is asked for an event.
    pub const SOLICITED: u8 = 0x4;
    /// Bit 3: Send: invalidates the peer's STag in stag.
    pub const INVALIDATE: u8 = 0x8;
    /// Bit 4: the payload is in the WQE.
    pub const INLINE_PAYLOAD: u8 = 0x10;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.opcode.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..3].copy_from_slice(&self.blocks.to_le_bytes());
        b[3..4].copy_from_slice(&self.sge_count.to_le_bytes());
        b[4..8].copy_from_slice(&self.length.to_le_bytes());
        b[8..16].copy_from_slice(&self.to.to_le_bytes());
        b[16..20].copy_from_slice(&self.stag.to_le_bytes());
        b[32..40].copy_from_slice(&self.sge0_to.to_le_bytes());
        b[40..44].copy_from_slice(&self.sge0_length.to_le_bytes());
        b[44..48].copy_from_slice(&self.sge0_stag.to_le_bytes());
        b[48..56].copy_from_slice(&self.sge1_to.to_le_bytes());
        b[56..60].copy_from_slice(&self.sge1_length.to_le_bytes());
        b[60..64].copy_from_slice(&self.sge1_stag.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            opcode: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            blocks: u8::from_le_bytes([b[2]]),
            sge_count: u8::from_le_bytes([b[3]]),
            length: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            to: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            stag: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            sge0_to: u64::from_le_bytes([b[32], b[33], b[34], b[35], b[36], b[37], b[38], b[39]]),
            sge0_length: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            sge0_stag: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            sge1_to: u64::from_le_bytes([b[48], b[49], b[50], b[51], b[52], b[53], b[54], b[55]]),
            sge1_length: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            sge1_stag: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
        }
    }

    /// What is to be done: by its name.
    pub fn opcode(&self) -> Result<WqeOpcode, UnknownValue> {
        WqeOpcode::try_from(self.opcode)
    }

    /// Bit 0: a CQE is written on success too.
    pub const fn signaled(&self) -> bool {
        self.flags & Self::SIGNALED != 0
    }

    /// The same with signaled set or clear.
    #[must_use]
    pub const fn with_signaled(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SIGNALED | if on { Self::SIGNALED } else { 0 };
        self
    }

    /// Bit 1: starts when all Reads before it are complete.
    pub const fn fence(&self) -> bool {
        self.flags & Self::FENCE != 0
    }

    /// The same with fence set or clear.
    #[must_use]
    pub const fn with_fence(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::FENCE | if on { Self::FENCE } else { 0 };
        self
    }

    /// Bit 2: Send, Immediate: the receiver is asked for an event.
    pub const fn solicited(&self) -> bool {
        self.flags & Self::SOLICITED != 0
    }

    /// The same with solicited set or clear.
    #[must_use]
    pub const fn with_solicited(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SOLICITED | if on { Self::SOLICITED } else { 0 };
        self
    }

    /// Bit 3: Send: invalidates the peer's STag in stag.
    pub const fn invalidate(&self) -> bool {
        self.flags & Self::INVALIDATE != 0
    }

    /// The same with invalidate set or clear.
    #[must_use]
    pub const fn with_invalidate(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::INVALIDATE | if on { Self::INVALIDATE } else { 0 };
        self
    }

    /// Bit 4: the payload is in the WQE.
    pub const fn inline_payload(&self) -> bool {
        self.flags & Self::INLINE_PAYLOAD != 0
    }

    /// The same with inline_payload set or clear.
    #[must_use]
    pub const fn with_inline_payload(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::INLINE_PAYLOAD | if on { Self::INLINE_PAYLOAD } else { 0 };
        self
    }
}

/// An entry of a completion queue. 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cqe {
    /// the queue pair
    pub qp_num: u32,
    /// send queue: number of the WQE's first block, receive queue: number of the element; counted from 0, modulo 2^32. Shared receive queue: the element's slot
    pub work: u32,
    /// the Immediate Data, if has_immediate
    pub immediate: u64,
    /// bytes moved
    pub byte_len: u32,
    /// the STag that the peer invalidated, if has_invalidated; the number of a shared receive queue, if of_xrc
    pub invalidated: u32,
    /// the queue pair's flow
    pub flow: u16,
    /// what it was
    pub opcode: u8,
    /// how it ended
    pub status: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// written last
    pub phase: u8,
}

impl Cqe {
    /// Bytes of the record.
    pub const SIZE: usize = 32;
    /// Where qp_num begins.
    pub const QP_NUM_AT: usize = 0;
    /// Where work begins.
    pub const WORK_AT: usize = 4;
    /// Where immediate begins.
    pub const IMMEDIATE_AT: usize = 8;
    /// Where byte_len begins.
    pub const BYTE_LEN_AT: usize = 16;
    /// Where invalidated begins.
    pub const INVALIDATED_AT: usize = 20;
    /// Where flow begins.
    pub const FLOW_AT: usize = 24;
    /// Where opcode begins.
    pub const OPCODE_AT: usize = 26;
    /// Where status begins.
    pub const STATUS_AT: usize = 27;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 28;
    /// Where phase begins.
    pub const PHASE_AT: usize = 31;
    /// Bit 0: the sender asked for an event.
    pub const SOLICITED: u8 = 0x1;
    /// Bit 1: the receive took Immediate Data.
    pub const HAS_IMMEDIATE: u8 = 0x2;
    /// Bit 2: an STag was invalidated.
    pub const HAS_INVALIDATED: u8 = 0x4;
    /// Bit 3: the receive came from the shared queue of an XRC domain: its number is in invalidated.
    pub const OF_XRC: u8 = 0x8;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.qp_num.to_le_bytes());
        b[4..8].copy_from_slice(&self.work.to_le_bytes());
        b[8..16].copy_from_slice(&self.immediate.to_le_bytes());
        b[16..20].copy_from_slice(&self.byte_len.to_le_bytes());
        b[20..24].copy_from_slice(&self.invalidated.to_le_bytes());
        b[24..26].copy_from_slice(&self.flow.to_le_bytes());
        b[26..27].copy_from_slice(&self.opcode.to_le_bytes());
        b[27..28].copy_from_slice(&self.status.to_le_bytes());
        b[28..29].copy_from_slice(&self.flags.to_le_bytes());
        b[31..32].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            qp_num: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            work: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            immediate: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            byte_len: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            invalidated: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            flow: u16::from_le_bytes([b[24], b[25]]),
            opcode: u8::from_le_bytes([b[26]]),
            status: u8::from_le_bytes([b[27]]),
            flags: u8::from_le_bytes([b[28]]),
            phase: u8::from_le_bytes([b[31]]),
        }
    }

    /// What it was: by its name.
    pub fn opcode(&self) -> Result<CqeOpcode, UnknownValue> {
        CqeOpcode::try_from(self.opcode)
    }

    /// How it ended: by its name.
    pub fn status(&self) -> Result<CqeStatus, UnknownValue> {
        CqeStatus::try_from(self.status)
    }

    /// Bit 0: the sender asked for an event.
    pub const fn solicited(&self) -> bool {
        self.flags & Self::SOLICITED != 0
    }

    /// The same with solicited set or clear.
    #[must_use]
    pub const fn with_solicited(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SOLICITED | if on { Self::SOLICITED } else { 0 };
        self
    }

    /// Bit 1: the receive took Immediate Data.
    pub const fn has_immediate(&self) -> bool {
        self.flags & Self::HAS_IMMEDIATE != 0
    }

    /// The same with has_immediate set or clear.
    #[must_use]
    pub const fn with_has_immediate(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_IMMEDIATE | if on { Self::HAS_IMMEDIATE } else { 0 };
        self
    }

    /// Bit 2: an STag was invalidated.
    pub const fn has_invalidated(&self) -> bool {
        self.flags & Self::HAS_INVALIDATED != 0
    }

    /// The same with has_invalidated set or clear.
    #[must_use]
    pub const fn with_has_invalidated(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_INVALIDATED | if on { Self::HAS_INVALIDATED } else { 0 };
        self
    }

    /// Bit 3: the receive came from the shared queue of an XRC domain: its number is in invalidated.
    pub const fn of_xrc(&self) -> bool {
        self.flags & Self::OF_XRC != 0
    }

    /// The same with of_xrc set or clear.
    #[must_use]
    pub const fn with_of_xrc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::OF_XRC | if on { Self::OF_XRC } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }
}

/// Doorbells of a queue pair, written by the one who posts. Each in a word of 8 bytes of its own. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDoorbell {
    /// blocks posted to the send queue
    pub send_tail: u32,
    /// elements posted to the receive queue; of a shared one there is this alone
    pub recv_tail: u32,
}

impl QueueDoorbell {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where send_tail begins.
    pub const SEND_TAIL_AT: usize = 0;
    /// Where recv_tail begins.
    pub const RECV_TAIL_AT: usize = 8;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.send_tail.to_le_bytes());
        b[8..12].copy_from_slice(&self.recv_tail.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            send_tail: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            recv_tail: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
        }
    }
}

/// How far the work of a queue pair is, written by the one who takes it. Each in a word of 8 bytes of its own. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// blocks of the send queue whose WQEs were done successfully
    pub send_done: u32,
    /// elements of the receive queue that were filled
    pub recv_done: u32,
}

impl QueueStatus {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where send_done begins.
    pub const SEND_DONE_AT: usize = 0;
    /// Where recv_done begins.
    pub const RECV_DONE_AT: usize = 8;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.send_done.to_le_bytes());
        b[8..12].copy_from_slice(&self.recv_done.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            send_done: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            recv_done: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
        }
    }
}

/// Doorbells of a completion queue, written by the one who polls. Each in a word of 8 bytes of its own. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CqDoorbell {
    /// CQEs taken
    pub taken: u32,
    /// Its bits have getters.
    pub armed: u8,
}

impl CqDoorbell {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where taken begins.
    pub const TAKEN_AT: usize = 0;
    /// Where armed begins.
    pub const ARMED_AT: usize = 8;
    /// Bit 0: the next CQE makes an event.
    pub const ANY: u8 = 0x1;
    /// Bit 1: the next one that is solicited or failed does.
    pub const SOLICITED: u8 = 0x2;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.taken.to_le_bytes());
        b[8..9].copy_from_slice(&self.armed.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            taken: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            armed: u8::from_le_bytes([b[8]]),
        }
    }

    /// Bit 0: the next CQE makes an event.
    pub const fn any(&self) -> bool {
        self.armed & Self::ANY != 0
    }

    /// The same with any set or clear.
    #[must_use]
    pub const fn with_any(mut self, on: bool) -> Self {
        self.armed = self.armed & !Self::ANY | if on { Self::ANY } else { 0 };
        self
    }

    /// Bit 1: the next one that is solicited or failed does.
    pub const fn solicited(&self) -> bool {
        self.armed & Self::SOLICITED != 0
    }

    /// The same with solicited set or clear.
    #[must_use]
    pub const fn with_solicited(mut self, on: bool) -> Self {
        self.armed = self.armed & !Self::SOLICITED | if on { Self::SOLICITED } else { 0 };
        self
    }
}

/// The inline payload of BIND and FAST_REGISTER: the memory that an STag names from then on, as a part of a region. 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// TO of the first byte in that region
    pub region_to: u64,
    /// bytes; BIND of a window of type 1: 0 unbinds it
    pub length: u64,
    /// STag of that region, in the queue pair's PD
    pub region_stag: u32,
    /// rights, as a command's
    pub access: u8,
}

impl Binding {
    /// Bytes of the record.
    pub const SIZE: usize = 32;
    /// Where region_to begins.
    pub const REGION_TO_AT: usize = 0;
    /// Where length begins.
    pub const LENGTH_AT: usize = 8;
    /// Where region_stag begins.
    pub const REGION_STAG_AT: usize = 16;
    /// Where access begins.
    pub const ACCESS_AT: usize = 20;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..8].copy_from_slice(&self.region_to.to_le_bytes());
        b[8..16].copy_from_slice(&self.length.to_le_bytes());
        b[16..20].copy_from_slice(&self.region_stag.to_le_bytes());
        b[20..21].copy_from_slice(&self.access.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            region_to: u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            length: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            region_stag: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            access: u8::from_le_bytes([b[20]]),
        }
    }
}

/// The inline payload of FETCH_ADD and CMP_SWAP. 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicOperands {
    /// TO of the 8 bytes where the value that was there goes
    pub sink_to: u64,
    /// STag of their region, in the queue pair's PD
    pub sink_stag: u32,
    /// FETCH_ADD: what is added; CMP_SWAP: what is compared
    pub operand: u64,
    /// CMP_SWAP: what is stored if it is the same
    pub swap: u64,
}

impl AtomicOperands {
    /// Bytes of the record.
    pub const SIZE: usize = 32;
    /// Where sink_to begins.
    pub const SINK_TO_AT: usize = 0;
    /// Where sink_stag begins.
    pub const SINK_STAG_AT: usize = 8;
    /// Where operand begins.
    pub const OPERAND_AT: usize = 16;
    /// Where swap begins.
    pub const SWAP_AT: usize = 24;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..8].copy_from_slice(&self.sink_to.to_le_bytes());
        b[8..12].copy_from_slice(&self.sink_stag.to_le_bytes());
        b[16..24].copy_from_slice(&self.operand.to_le_bytes());
        b[24..32].copy_from_slice(&self.swap.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            sink_to: u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            sink_stag: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            operand: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
            swap: u64::from_le_bytes([b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31]]),
        }
    }
}

/// A slot of a command ring; 512 bytes for private data follow it. A command has the fields that command_opcode names; the others are ignored. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// what is to be done
    pub opcode: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// rights of a region
    pub access: u8,
    /// RTR kinds offered, or good enough
    pub rtr: u8,
    /// bytes of private data; of more than 512 the slot has the first 512, and the command is refused
    pub length: u32,
    /// number of a connection
    pub conn: u64,
    /// number of a queue pair
    pub qp: u32,
    /// number of a protection domain
    pub pd: u32,
    /// STag of a region
    pub stag: u32,
    /// connections that may wait for their answer
    pub backlog: u32,
    /// TO of a region's first byte
    pub base_to: u64,
    /// IOVA of a region's first byte
    pub iova: u64,
    /// bytes of a region
    pub region_length: u64,
    /// work requests that the send queue holds
    pub send_depth: u32,
    /// work requests that the receive queue holds
    pub recv_depth: u32,
    /// the peer's IPv4 address
    pub remote_ip: [u8; 4],
    /// the peer's TCP port
    pub remote_port: u16,
    /// TCP port of this side; 0: one is chosen
    pub port: u16,
    /// Reads of the peer that this side takes at a time
    pub ird: u16,
    /// Reads of this side under way at a time
    pub ord: u16,
    /// SGEs of a work request
    pub max_sge: u8,
    /// MPA revision: 1 or 2
    pub revision: u8,
    /// the state to move a queue pair to
    pub state: u8,
    /// who does what for a queue pair; 0: as the device is set up
    pub rung: u8,
    /// MAC address of the next station on the way, if routed
    pub next_hop: [u8; 6],
    /// largest IPv4 packet on the way, if routed
    pub mtu: u16,
    /// number of a shared receive queue; CREATE_QP: 0, the queue pair has a receive queue of its own
    pub srq: u32,
    /// an event is told when a shared receive queue has fewer elements; 0: none is
    pub srq_limit: u32,
    /// what an STag is allocated for
    pub stag_kind: u8,
    /// IPv4 type of service of a connection's packets; bits 1:0 are ECN's, and ignored
    pub tos: u8,
    /// what kind of queue pair; 0: reliable connected
    pub qp_kind: u8,
    /// extensions of the start-up that are asked for, granted, or past start-up agreed on
    pub extensions: u8,
    /// number of an XRC domain; CREATE_SRQ: 0, the shared receive queue is in none
    pub xrcd: u32,
}

impl Command {
    /// Bytes of the record.
    pub const SIZE: usize = 128;
    /// Where opcode begins.
    pub const OPCODE_AT: usize = 0;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 1;
    /// Where access begins.
    pub const ACCESS_AT: usize = 2;
    /// Where rtr begins.
    pub const RTR_AT: usize = 3;
    /// Where length begins.
    pub const LENGTH_AT: usize = 4;
    /// Where conn begins.
    pub const CONN_AT: usize = 8;
    /// Where qp begins.
    pub const QP_AT: usize = 16;
    /// Where pd begins.
    pub const PD_AT: usize = 20;
    /// Where stag begins.
    pub const STAG_AT: usize = 24;
    /// Where backlog begins.
    pub const BACKLOG_AT: usize = 28;
    /// Where base_to begins.
    pub const BASE_TO_AT: usize = 32;
    /// Where iova begins.
    pub const IOVA_AT: usize = 40;
    /// Where region_length begins.
    pub const REGION_LENGTH_AT: usize = 48;
    /// Where send_depth begins.
    pub const SEND_DEPTH_AT: usize = 56;
    /// Where recv_depth begins.
    pub const RECV_DEPTH_AT: usize = 60;
    /// Where remote_ip begins.
    pub const REMOTE_IP_AT: usize = 64;
    /// Where remote_port begins.
    pub const REMOTE_PORT_AT: usize = 68;
    /// Where port begins.
    pub const PORT_AT: usize = 70;
    /// Where ird begins.
    pub const IRD_AT: usize = 72;
    /// Where ord begins.
    pub const ORD_AT: usize = 74;
    /// Where max_sge begins.
    pub const MAX_SGE_AT: usize = 76;
    /// Where revision begins.
    pub const REVISION_AT: usize = 77;
    /// Where state begins.
    pub const STATE_AT: usize = 78;
    /// Where rung begins.
    pub const RUNG_AT: usize = 79;
    /// Where next_hop begins.
    pub const NEXT_HOP_AT: usize = 80;
    /// Where mtu begins.
    pub const MTU_AT: usize = 86;
    /// Where srq begins.
    pub const SRQ_AT: usize = 88;
    /// Where srq_limit begins.
    pub const SRQ_LIMIT_AT: usize = 92;
    /// Where stag_kind begins.
    pub const STAG_KIND_AT: usize = 96;
    /// Where tos begins.
    pub const TOS_AT: usize = 97;
    /// Where qp_kind begins.
    pub const QP_KIND_AT: usize = 98;
    /// Where extensions begins.
    pub const EXTENSIONS_AT: usize = 99;
    /// Where xrcd begins.
    pub const XRCD_AT: usize = 100;
    /// Bit 0: either side may send first.
    pub const PEER_TO_PEER: u8 = 0x1;
    /// Bit 1: CRC32C is asked for.
    pub const CRC: u8 = 0x2;
    /// Bit 2: the peer is asked for markers.
    pub const MARKERS: u8 = 0x4;
    /// Bit 3: once more with revision 1 if the peer closes instead of replying.
    pub const FALL_BACK: u8 = 0x8;
    /// Bit 4: next_hop and mtu say the way: nobody is asked for it.
    pub const ROUTED: u8 = 0x10;
    /// Bit 5: the peer begins the start-up.
    pub const PASSIVE: u8 = 0x20;
    /// Bit 6: there is no start-up: FPDUs follow at once.
    pub const PAST_START_UP: u8 = 0x40;
    /// Bit 7: past start-up: FPDUs to the peer have markers.
    pub const MARKERS_SENT: u8 = 0x80;
    /// Bit 0: receive elements may point here.
    pub const LOCAL_WRITE: u8 = 0x1;
    /// Bit 1: the peer may read.
    pub const REMOTE_READ: u8 = 0x2;
    /// Bit 2: the peer may write.
    pub const REMOTE_WRITE: u8 = 0x4;
    /// Bit 3: Reads of this side may fill it.
    pub const READ_SINK: u8 = 0x8;
    /// Bit 4: the peer may invalidate its STag.
    pub const REMOTE_INVALIDATE: u8 = 0x10;
    /// Bit 5: memory windows may be bound to it.
    pub const BIND: u8 = 0x20;
    /// Bit 6: atomics of the peer may change it.
    pub const REMOTE_ATOMIC: u8 = 0x40;
    /// Bit 0: Send of 0 bytes.
    pub const RTR_SEND: u8 = 0x1;
    /// Bit 1: Write of 0 bytes.
    pub const RTR_WRITE: u8 = 0x2;
    /// Bit 2: Read of 0 bytes.
    pub const RTR_READ: u8 = 0x4;
    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const RTR_FRAME: u8 = 0x8;
    /// Bit 0: each segment of either side begins with an FPDU.
    pub const ALIGNED: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.opcode.to_le_bytes());
        b[1..2].copy_from_slice(&self.flags.to_le_bytes());
        b[2..3].copy_from_slice(&self.access.to_le_bytes());
        b[3..4].copy_from_slice(&self.rtr.to_le_bytes());
        b[4..8].copy_from_slice(&self.length.to_le_bytes());
        b[8..16].copy_from_slice(&self.conn.to_le_bytes());
        b[16..20].copy_from_slice(&self.qp.to_le_bytes());
        b[20..24].copy_from_slice(&self.pd.to_le_bytes());
        b[24..28].copy_from_slice(&self.stag.to_le_bytes());
        b[28..32].copy_from_slice(&self.backlog.to_le_bytes());
        b[32..40].copy_from_slice(&self.base_to.to_le_bytes());
        b[40..48].copy_from_slice(&self.iova.to_le_bytes());
        b[48..56].copy_from_slice(&self.region_length.to_le_bytes());
        b[56..60].copy_from_slice(&self.send_depth.to_le_bytes());
        b[60..64].copy_from_slice(&self.recv_depth.to_le_bytes());
        b[64..68].copy_from_slice(&self.remote_ip);
        b[68..70].copy_from_slice(&self.remote_port.to_le_bytes());
        b[70..72].copy_from_slice(&self.port.to_le_bytes());
        b[72..74].copy_from_slice(&self.ird.to_le_bytes());
        b[74..76].copy_from_slice(&self.ord.to_le_bytes());
        b[76..77].copy_from_slice(&self.max_sge.to_le_bytes());
        b[77..78].copy_from_slice(&self.revision.to_le_bytes());
        b[78..79].copy_from_slice(&self.state.to_le_bytes());
        b[79..80].copy_from_slice(&self.rung.to_le_bytes());
        b[80..86].copy_from_slice(&self.next_hop);
        b[86..88].copy_from_slice(&self.mtu.to_le_bytes());
        b[88..92].copy_from_slice(&self.srq.to_le_bytes());
        b[92..96].copy_from_slice(&self.srq_limit.to_le_bytes());
        b[96..97].copy_from_slice(&self.stag_kind.to_le_bytes());
        b[97..98].copy_from_slice(&self.tos.to_le_bytes());
        b[98..99].copy_from_slice(&self.qp_kind.to_le_bytes());
        b[99..100].copy_from_slice(&self.extensions.to_le_bytes());
        b[100..104].copy_from_slice(&self.xrcd.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            opcode: u8::from_le_bytes([b[0]]),
            flags: u8::from_le_bytes([b[1]]),
            access: u8::from_le_bytes([b[2]]),
            rtr: u8::from_le_bytes([b[3]]),
            length: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            conn: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            qp: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            pd: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            stag: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            backlog: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            base_to: u64::from_le_bytes([b[32], b[33], b[34], b[35], b[36], b[37], b[38], b[39]]),
            iova: u64::from_le_bytes([b[40], b[41], b[42], b[43], b[44], b[45], b[46], b[47]]),
            region_length: u64::from_le_bytes([b[48], b[49], b[50], b[51], b[52], b[53], b[54], b[55]]),
            send_depth: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            recv_depth: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
            remote_ip: [b[64], b[65], b[66], b[67]],
            remote_port: u16::from_le_bytes([b[68], b[69]]),
            port: u16::from_le_bytes([b[70], b[71]]),
            ird: u16::from_le_bytes([b[72], b[73]]),
            ord: u16::from_le_bytes([b[74], b[75]]),
            max_sge: u8::from_le_bytes([b[76]]),
            revision: u8::from_le_bytes([b[77]]),
            state: u8::from_le_bytes([b[78]]),
            rung: u8::from_le_bytes([b[79]]),
            next_hop: [b[80], b[81], b[82], b[83], b[84], b[85]],
            mtu: u16::from_le_bytes([b[86], b[87]]),
            srq: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            srq_limit: u32::from_le_bytes([b[92], b[93], b[94], b[95]]),
            stag_kind: u8::from_le_bytes([b[96]]),
            tos: u8::from_le_bytes([b[97]]),
            qp_kind: u8::from_le_bytes([b[98]]),
            extensions: u8::from_le_bytes([b[99]]),
            xrcd: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
        }
    }

    /// What is to be done: by its name.
    pub fn opcode(&self) -> Result<CommandOpcode, UnknownValue> {
        CommandOpcode::try_from(self.opcode)
    }

    /// Bit 0: either side may send first.
    pub const fn peer_to_peer(&self) -> bool {
        self.flags & Self::PEER_TO_PEER != 0
    }

    /// The same with peer_to_peer set or clear.
    #[must_use]
    pub const fn with_peer_to_peer(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::PEER_TO_PEER | if on { Self::PEER_TO_PEER } else { 0 };
        self
    }

    /// Bit 1: CRC32C is asked for.
    pub const fn crc(&self) -> bool {
        self.flags & Self::CRC != 0
    }

    /// The same with crc set or clear.
    #[must_use]
    pub const fn with_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CRC | if on { Self::CRC } else { 0 };
        self
    }

    /// Bit 2: the peer is asked for markers.
    pub const fn markers(&self) -> bool {
        self.flags & Self::MARKERS != 0
    }

    /// The same with markers set or clear.
    #[must_use]
    pub const fn with_markers(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS | if on { Self::MARKERS } else { 0 };
        self
    }

    /// Bit 3: once more with revision 1 if the peer closes instead of replying.
    pub const fn fall_back(&self) -> bool {
        self.flags & Self::FALL_BACK != 0
    }

    /// The same with fall_back set or clear.
    #[must_use]
    pub const fn with_fall_back(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::FALL_BACK | if on { Self::FALL_BACK } else { 0 };
        self
    }

    /// Bit 4: next_hop and mtu say the way: nobody is asked for it.
    pub const fn routed(&self) -> bool {
        self.flags & Self::ROUTED != 0
    }

    /// The same with routed set or clear.
    #[must_use]
    pub const fn with_routed(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ROUTED | if on { Self::ROUTED } else { 0 };
        self
    }

    /// Bit 5: the peer begins the start-up.
    pub const fn passive(&self) -> bool {
        self.flags & Self::PASSIVE != 0
    }

    /// The same with passive set or clear.
    #[must_use]
    pub const fn with_passive(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::PASSIVE | if on { Self::PASSIVE } else { 0 };
        self
    }

    /// Bit 6: there is no start-up: FPDUs follow at once.
    pub const fn past_start_up(&self) -> bool {
        self.flags & Self::PAST_START_UP != 0
    }

    /// The same with past_start_up set or clear.
    #[must_use]
    pub const fn with_past_start_up(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::PAST_START_UP | if on { Self::PAST_START_UP } else { 0 };
        self
    }

    /// Bit 7: past start-up: FPDUs to the peer have markers.
    pub const fn markers_sent(&self) -> bool {
        self.flags & Self::MARKERS_SENT != 0
    }

    /// The same with markers_sent set or clear.
    #[must_use]
    pub const fn with_markers_sent(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS_SENT | if on { Self::MARKERS_SENT } else { 0 };
        self
    }

    /// Bit 0: receive elements may point here.
    pub const fn local_write(&self) -> bool {
        self.access & Self::LOCAL_WRITE != 0
    }

    /// The same with local_write set or clear.
    #[must_use]
    pub const fn with_local_write(mut self, on: bool) -> Self {
        self.access = self.access & !Self::LOCAL_WRITE | if on { Self::LOCAL_WRITE } else { 0 };
        self
    }

    /// Bit 1: the peer may read.
    pub const fn remote_read(&self) -> bool {
        self.access & Self::REMOTE_READ != 0
    }

    /// The same with remote_read set or clear.
    #[must_use]
    pub const fn with_remote_read(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_READ | if on { Self::REMOTE_READ } else { 0 };
        self
    }

    /// Bit 2: the peer may write.
    pub const fn remote_write(&self) -> bool {
        self.access & Self::REMOTE_WRITE != 0
    }

    /// The same with remote_write set or clear.
    #[must_use]
    pub const fn with_remote_write(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_WRITE | if on { Self::REMOTE_WRITE } else { 0 };
        self
    }

    /// Bit 3: Reads of this side may fill it.
    pub const fn read_sink(&self) -> bool {
        self.access & Self::READ_SINK != 0
    }

    /// The same with read_sink set or clear.
    #[must_use]
    pub const fn with_read_sink(mut self, on: bool) -> Self {
        self.access = self.access & !Self::READ_SINK | if on { Self::READ_SINK } else { 0 };
        self
    }

    /// Bit 4: the peer may invalidate its STag.
    pub const fn remote_invalidate(&self) -> bool {
        self.access & Self::REMOTE_INVALIDATE != 0
    }

    /// The same with remote_invalidate set or clear.
    #[must_use]
    pub const fn with_remote_invalidate(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_INVALIDATE | if on { Self::REMOTE_INVALIDATE } else { 0 };
        self
    }

    /// Bit 5: memory windows may be bound to it.
    pub const fn bind(&self) -> bool {
        self.access & Self::BIND != 0
    }

    /// The same with bind set or clear.
    #[must_use]
    pub const fn with_bind(mut self, on: bool) -> Self {
        self.access = self.access & !Self::BIND | if on { Self::BIND } else { 0 };
        self
    }

    /// Bit 6: atomics of the peer may change it.
    pub const fn remote_atomic(&self) -> bool {
        self.access & Self::REMOTE_ATOMIC != 0
    }

    /// The same with remote_atomic set or clear.
    #[must_use]
    pub const fn with_remote_atomic(mut self, on: bool) -> Self {
        self.access = self.access & !Self::REMOTE_ATOMIC | if on { Self::REMOTE_ATOMIC } else { 0 };
        self
    }

    /// Bit 0: Send of 0 bytes.
    pub const fn rtr_send(&self) -> bool {
        self.rtr & Self::RTR_SEND != 0
    }

    /// The same with rtr_send set or clear.
    #[must_use]
    pub const fn with_rtr_send(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_SEND | if on { Self::RTR_SEND } else { 0 };
        self
    }

    /// Bit 1: Write of 0 bytes.
    pub const fn rtr_write(&self) -> bool {
        self.rtr & Self::RTR_WRITE != 0
    }

    /// The same with rtr_write set or clear.
    #[must_use]
    pub const fn with_rtr_write(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_WRITE | if on { Self::RTR_WRITE } else { 0 };
        self
    }

    /// Bit 2: Read of 0 bytes.
    pub const fn rtr_read(&self) -> bool {
        self.rtr & Self::RTR_READ != 0
    }

    /// The same with rtr_read set or clear.
    #[must_use]
    pub const fn with_rtr_read(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_READ | if on { Self::RTR_READ } else { 0 };
        self
    }

    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const fn rtr_frame(&self) -> bool {
        self.rtr & Self::RTR_FRAME != 0
    }

    /// The same with rtr_frame set or clear.
    #[must_use]
    pub const fn with_rtr_frame(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_FRAME | if on { Self::RTR_FRAME } else { 0 };
        self
    }

    /// The state to move a queue pair to: by its name.
    pub fn state(&self) -> Result<QueuePairState, UnknownValue> {
        QueuePairState::try_from(self.state)
    }

    /// Who does what for a queue pair; 0: as the device is set up: by its name.
    pub fn rung(&self) -> Result<PartitionRung, UnknownValue> {
        PartitionRung::try_from(self.rung)
    }

    /// What an STag is allocated for: by its name.
    pub fn stag_kind(&self) -> Result<StagKind, UnknownValue> {
        StagKind::try_from(self.stag_kind)
    }

    /// What kind of queue pair; 0: reliable connected: by its name.
    pub fn qp_kind(&self) -> Result<QueuePairKind, UnknownValue> {
        QueuePairKind::try_from(self.qp_kind)
    }

    /// Bit 0: each segment of either side begins with an FPDU.
    pub const fn aligned(&self) -> bool {
        self.extensions & Self::ALIGNED != 0
    }

    /// The same with aligned set or clear.
    #[must_use]
    pub const fn with_aligned(mut self, on: bool) -> Self {
        self.extensions = self.extensions & !Self::ALIGNED | if on { Self::ALIGNED } else { 0 };
        self
    }
}

/// A TCP connection on its way to this stack: the private data of ADOPT. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamState {
    /// oldest byte that the peer has not acknowledged
    pub snd_una: u32,
    /// next byte to be sent
    pub snd_nxt: u32,
    /// bytes that the peer takes beyond snd_una
    pub snd_wnd: u32,
    /// the most that it has ever taken
    pub snd_wnd_max: u32,
    /// sequence number of the segment that said so last
    pub snd_wl1: u32,
    /// next byte expected; behind the peer's FIN, if that has come
    pub rcv_nxt: u32,
    /// right edge of the window that the peer was told
    pub rcv_edge: u32,
    /// most payload in a segment, timestamps taken off
    pub mss: u32,
    /// this side's TSval now, in ms
    pub ts_now: u32,
    /// TS.Recent
    pub ts_recent: u32,
    /// bytes of the ring from snd_una on
    pub unacknowledged: u32,
    /// bytes behind them, up to rcv_nxt
    pub unread: u32,
    /// shift of the peer's window field
    pub peer_scale: u8,
    /// shift of this side's
    pub own_scale: u8,
    /// Its bits have getters.
    pub flags: u8,
}

impl StreamState {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where snd_una begins.
    pub const SND_UNA_AT: usize = 0;
    /// Where snd_nxt begins.
    pub const SND_NXT_AT: usize = 4;
    /// Where snd_wnd begins.
    pub const SND_WND_AT: usize = 8;
    /// Where snd_wnd_max begins.
    pub const SND_WND_MAX_AT: usize = 12;
    /// Where snd_wl1 begins.
    pub const SND_WL1_AT: usize = 16;
    /// Where rcv_nxt begins.
    pub const RCV_NXT_AT: usize = 20;
    /// Where rcv_edge begins.
    pub const RCV_EDGE_AT: usize = 24;
    /// Where mss begins.
    pub const MSS_AT: usize = 28;
    /// Where ts_now begins.
    pub const TS_NOW_AT: usize = 32;
    /// Where ts_recent begins.
    pub const TS_RECENT_AT: usize = 36;
    /// Where unacknowledged begins.
    pub const UNACKNOWLEDGED_AT: usize = 40;
    /// Where unread begins.
    pub const UNREAD_AT: usize = 44;
    /// Where peer_scale begins.
    pub const PEER_SCALE_AT: usize = 48;
    /// Where own_scale begins.
    pub const OWN_SCALE_AT: usize = 49;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 50;
    /// Bit 0: windows are scaled.
    pub const SCALED: u8 = 0x1;
    /// Bit 1: the peer permits SACK.
    pub const SACK: u8 = 0x2;
    /// Bit 2: both sides send timestamps.
    pub const TIMESTAMPS: u8 = 0x4;
    /// Bit 3: ts_recent is known.
    pub const HAS_TS_RECENT: u8 = 0x8;
    /// Bit 4: both sides have agreed to ECN.
    pub const ECN: u8 = 0x10;
    /// Bit 5: the peer's FIN has come.
    pub const PEER_CLOSED: u8 = 0x20;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.snd_una.to_le_bytes());
        b[4..8].copy_from_slice(&self.snd_nxt.to_le_bytes());
        b[8..12].copy_from_slice(&self.snd_wnd.to_le_bytes());
        b[12..16].copy_from_slice(&self.snd_wnd_max.to_le_bytes());
        b[16..20].copy_from_slice(&self.snd_wl1.to_le_bytes());
        b[20..24].copy_from_slice(&self.rcv_nxt.to_le_bytes());
        b[24..28].copy_from_slice(&self.rcv_edge.to_le_bytes());
        b[28..32].copy_from_slice(&self.mss.to_le_bytes());
        b[32..36].copy_from_slice(&self.ts_now.to_le_bytes());
        b[36..40].copy_from_slice(&self.ts_recent.to_le_bytes());
        b[40..44].copy_from_slice(&self.unacknowledged.to_le_bytes());
        b[44..48].copy_from_slice(&self.unread.to_le_bytes());
        b[48..49].copy_from_slice(&self.peer_scale.to_le_bytes());
        b[49..50].copy_from_slice(&self.own_scale.to_le_bytes());
        b[50..51].copy_from_slice(&self.flags.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            snd_una: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            snd_nxt: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            snd_wnd: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            snd_wnd_max: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            snd_wl1: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            rcv_nxt: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            rcv_edge: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            mss: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            ts_now: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            ts_recent: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            unacknowledged: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            unread: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            peer_scale: u8::from_le_bytes([b[48]]),
            own_scale: u8::from_le_bytes([b[49]]),
            flags: u8::from_le_bytes([b[50]]),
        }
    }

    /// Bit 0: windows are scaled.
    pub const fn scaled(&self) -> bool {
        self.flags & Self::SCALED != 0
    }

    /// The same with scaled set or clear.
    #[must_use]
    pub const fn with_scaled(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SCALED | if on { Self::SCALED } else { 0 };
        self
    }

    /// Bit 1: the peer permits SACK.
    pub const fn sack(&self) -> bool {
        self.flags & Self::SACK != 0
    }

    /// The same with sack set or clear.
    #[must_use]
    pub const fn with_sack(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::SACK | if on { Self::SACK } else { 0 };
        self
    }

    /// Bit 2: both sides send timestamps.
    pub const fn timestamps(&self) -> bool {
        self.flags & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }

    /// Bit 3: ts_recent is known.
    pub const fn has_ts_recent(&self) -> bool {
        self.flags & Self::HAS_TS_RECENT != 0
    }

    /// The same with has_ts_recent set or clear.
    #[must_use]
    pub const fn with_has_ts_recent(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_TS_RECENT | if on { Self::HAS_TS_RECENT } else { 0 };
        self
    }

    /// Bit 4: both sides have agreed to ECN.
    pub const fn ecn(&self) -> bool {
        self.flags & Self::ECN != 0
    }

    /// The same with ecn set or clear.
    #[must_use]
    pub const fn with_ecn(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ECN | if on { Self::ECN } else { 0 };
        self
    }

    /// Bit 5: the peer's FIN has come.
    pub const fn peer_closed(&self) -> bool {
        self.flags & Self::PEER_CLOSED != 0
    }

    /// The same with peer_closed set or clear.
    #[must_use]
    pub const fn with_peer_closed(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::PEER_CLOSED | if on { Self::PEER_CLOSED } else { 0 };
        self
    }
}

/// What became of a command: an entry of the ring of answers, at the command's place. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// number of the command, counted from 0, modulo 2^32
    pub command: u32,
    /// done, or why not
    pub status: u8,
    /// QUERY_QP: the queue pair's state; NO_TRANSITION: the state that it is in
    pub state: u8,
    /// LISTEN: the port; PORT_IN_USE: which
    pub port: u16,
    /// CONNECT: the connection; QUERY_QP: likewise
    pub conn: u64,
    /// CREATE_QP: the queue pair
    pub qp: u32,
    /// ALLOC_PD: the domain
    pub pd: u32,
    /// REGISTER: the region; UNKNOWN_STAG: which
    pub stag: u32,
    /// PRIVATE_DATA_TOO_LONG: bytes; INVALID_READ_DEPTH: which
    pub given: u32,
    /// PRIVATE_DATA_TOO_LONG: bytes possible
    pub limit: u32,
    /// QUERY_QP, here and below: this side's address
    pub local_ip: [u8; 4],
    /// the other side's
    pub remote_ip: [u8; 4],
    /// this side's TCP port
    pub local_port: u16,
    /// the other side's
    pub remote_port: u16,
    /// MAC address of the next station, also RESOLVE; 0: not known yet
    pub next_hop: [u8; 6],
    /// MPA revision agreed on
    pub revision: u8,
    /// RTR kinds agreed on, if has_rtr
    pub rtr: u8,
    /// Reads of the peer that this side takes at a time
    pub ird: u16,
    /// Reads of this side under way at a time
    pub ord: u16,
    /// who decides how much is under way
    pub congestion: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// extensions of the start-up that were agreed on
    pub extensions: u8,
    /// smoothed round-trip time, ns
    pub round_trip: u64,
    /// retransmission timeout, ns
    pub timeout: u64,
    /// times that fast recovery began
    pub recoveries: u64,
    /// bytes of the largest segment
    pub segment: u32,
    /// bytes that may be under way
    pub congestion_window: u32,
    /// bytes that the peer takes
    pub peer_window: u32,
    /// bytes sent and not acknowledged
    pub in_flight: u32,
    /// QUERY_QP: the queue pair's; RUNG_*: the one asked for
    pub rung: u8,
    /// CREATE_SRQ: the shared receive queue
    pub srq: u32,
    /// QUERY_SRQ: the limit that stands
    pub srq_limit: u32,
    /// QUERY_SRQ: elements that no message has taken
    pub srq_waiting: u32,
    /// ALLOC_XRCD: the XRC domain
    pub xrcd: u32,
    /// written last
    pub phase: u8,
}

impl Answer {
    /// Bytes of the record.
    pub const SIZE: usize = 128;
    /// Where command begins.
    pub const COMMAND_AT: usize = 0;
    /// Where status begins.
    pub const STATUS_AT: usize = 4;
    /// Where state begins.
    pub const STATE_AT: usize = 5;
    /// Where port begins.
    pub const PORT_AT: usize = 6;
    /// Where conn begins.
    pub const CONN_AT: usize = 8;
    /// Where qp begins.
    pub const QP_AT: usize = 16;
    /// Where pd begins.
    pub const PD_AT: usize = 20;
    /// Where stag begins.
    pub const STAG_AT: usize = 24;
    /// Where given begins.
    pub const GIVEN_AT: usize = 28;
    /// Where limit begins.
    pub const LIMIT_AT: usize = 32;
    /// Where local_ip begins.
    pub const LOCAL_IP_AT: usize = 36;
    /// Where remote_ip begins.
    pub const REMOTE_IP_AT: usize = 40;
    /// Where local_port begins.
    pub const LOCAL_PORT_AT: usize = 44;
    /// Where remote_port begins.
    pub const REMOTE_PORT_AT: usize = 46;
    /// Where next_hop begins.
    pub const NEXT_HOP_AT: usize = 48;
    /// Where revision begins.
    pub const REVISION_AT: usize = 54;
    /// Where rtr begins.
    pub const RTR_AT: usize = 55;
    /// Where ird begins.
    pub const IRD_AT: usize = 56;
    /// Where ord begins.
    pub const ORD_AT: usize = 58;
    /// Where congestion begins.
    pub const CONGESTION_AT: usize = 60;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 61;
    /// Where extensions begins.
    pub const EXTENSIONS_AT: usize = 62;
    /// Where round_trip begins.
    pub const ROUND_TRIP_AT: usize = 64;
    /// Where timeout begins.
    pub const TIMEOUT_AT: usize = 72;
    /// Where recoveries begins.
    pub const RECOVERIES_AT: usize = 80;
    /// Where segment begins.
    pub const SEGMENT_AT: usize = 88;
    /// Where congestion_window begins.
    pub const CONGESTION_WINDOW_AT: usize = 92;
    /// Where peer_window begins.
    pub const PEER_WINDOW_AT: usize = 96;
    /// Where in_flight begins.
    pub const IN_FLIGHT_AT: usize = 100;
    /// Where rung begins.
    pub const RUNG_AT: usize = 104;
    /// Where srq begins.
    pub const SRQ_AT: usize = 108;
    /// Where srq_limit begins.
    pub const SRQ_LIMIT_AT: usize = 112;
    /// Where srq_waiting begins.
    pub const SRQ_WAITING_AT: usize = 116;
    /// Where xrcd begins.
    pub const XRCD_AT: usize = 120;
    /// Where phase begins.
    pub const PHASE_AT: usize = 127;
    /// Bit 0: Send of 0 bytes.
    pub const RTR_SEND: u8 = 0x1;
    /// Bit 1: Write of 0 bytes.
    pub const RTR_WRITE: u8 = 0x2;
    /// Bit 2: Read of 0 bytes.
    pub const RTR_READ: u8 = 0x4;
    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const RTR_FRAME: u8 = 0x8;
    /// Bit 0: the queue pair has a connection.
    pub const HAS_CONNECTION: u8 = 0x1;
    /// Bit 1: its start-up is over.
    pub const AGREED: u8 = 0x2;
    /// Bit 2: peer-to-peer was agreed on.
    pub const HAS_RTR: u8 = 0x4;
    /// Bit 3: CRC32C was agreed on.
    pub const CRC: u8 = 0x8;
    /// Bit 4: this side sends markers.
    pub const MARKERS_SENT: u8 = 0x10;
    /// Bit 5: the other side does.
    pub const MARKERS_RECEIVED: u8 = 0x20;
    /// Bit 6: ECN was agreed on.
    pub const ECN: u8 = 0x40;
    /// Bit 7: a round trip was measured.
    pub const HAS_ROUND_TRIP: u8 = 0x80;
    /// Bit 0: each segment of either side begins with an FPDU.
    pub const ALIGNED: u8 = 0x1;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.command.to_le_bytes());
        b[4..5].copy_from_slice(&self.status.to_le_bytes());
        b[5..6].copy_from_slice(&self.state.to_le_bytes());
        b[6..8].copy_from_slice(&self.port.to_le_bytes());
        b[8..16].copy_from_slice(&self.conn.to_le_bytes());
        b[16..20].copy_from_slice(&self.qp.to_le_bytes());
        b[20..24].copy_from_slice(&self.pd.to_le_bytes());
        b[24..28].copy_from_slice(&self.stag.to_le_bytes());
        b[28..32].copy_from_slice(&self.given.to_le_bytes());
        b[32..36].copy_from_slice(&self.limit.to_le_bytes());
        b[36..40].copy_from_slice(&self.local_ip);
        b[40..44].copy_from_slice(&self.remote_ip);
        b[44..46].copy_from_slice(&self.local_port.to_le_bytes());
        b[46..48].copy_from_slice(&self.remote_port.to_le_bytes());
        b[48..54].copy_from_slice(&self.next_hop);
        b[54..55].copy_from_slice(&self.revision.to_le_bytes());
        b[55..56].copy_from_slice(&self.rtr.to_le_bytes());
        b[56..58].copy_from_slice(&self.ird.to_le_bytes());
        b[58..60].copy_from_slice(&self.ord.to_le_bytes());
        b[60..61].copy_from_slice(&self.congestion.to_le_bytes());
        b[61..62].copy_from_slice(&self.flags.to_le_bytes());
        b[62..63].copy_from_slice(&self.extensions.to_le_bytes());
        b[64..72].copy_from_slice(&self.round_trip.to_le_bytes());
        b[72..80].copy_from_slice(&self.timeout.to_le_bytes());
        b[80..88].copy_from_slice(&self.recoveries.to_le_bytes());
        b[88..92].copy_from_slice(&self.segment.to_le_bytes());
        b[92..96].copy_from_slice(&self.congestion_window.to_le_bytes());
        b[96..100].copy_from_slice(&self.peer_window.to_le_bytes());
        b[100..104].copy_from_slice(&self.in_flight.to_le_bytes());
        b[104..105].copy_from_slice(&self.rung.to_le_bytes());
        b[108..112].copy_from_slice(&self.srq.to_le_bytes());
        b[112..116].copy_from_slice(&self.srq_limit.to_le_bytes());
        b[116..120].copy_from_slice(&self.srq_waiting.to_le_bytes());
        b[120..124].copy_from_slice(&self.xrcd.to_le_bytes());
        b[127..128].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            command: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            status: u8::from_le_bytes([b[4]]),
            state: u8::from_le_bytes([b[5]]),
            port: u16::from_le_bytes([b[6], b[7]]),
            conn: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            qp: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            pd: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            stag: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            given: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            limit: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            local_ip: [b[36], b[37], b[38], b[39]],
            remote_ip: [b[40], b[41], b[42], b[43]],
            local_port: u16::from_le_bytes([b[44], b[45]]),
            remote_port: u16::from_le_bytes([b[46], b[47]]),
            next_hop: [b[48], b[49], b[50], b[51], b[52], b[53]],
            revision: u8::from_le_bytes([b[54]]),
            rtr: u8::from_le_bytes([b[55]]),
            ird: u16::from_le_bytes([b[56], b[57]]),
            ord: u16::from_le_bytes([b[58], b[59]]),
            congestion: u8::from_le_bytes([b[60]]),
            flags: u8::from_le_bytes([b[61]]),
            extensions: u8::from_le_bytes([b[62]]),
            round_trip: u64::from_le_bytes([b[64], b[65], b[66], b[67], b[68], b[69], b[70], b[71]]),
            timeout: u64::from_le_bytes([b[72], b[73], b[74], b[75], b[76], b[77], b[78], b[79]]),
            recoveries: u64::from_le_bytes([b[80], b[81], b[82], b[83], b[84], b[85], b[86], b[87]]),
            segment: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            congestion_window: u32::from_le_bytes([b[92], b[93], b[94], b[95]]),
            peer_window: u32::from_le_bytes([b[96], b[97], b[98], b[99]]),
            in_flight: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
            rung: u8::from_le_bytes([b[104]]),
            srq: u32::from_le_bytes([b[108], b[109], b[110], b[111]]),
            srq_limit: u32::from_le_bytes([b[112], b[113], b[114], b[115]]),
            srq_waiting: u32::from_le_bytes([b[116], b[117], b[118], b[119]]),
            xrcd: u32::from_le_bytes([b[120], b[121], b[122], b[123]]),
            phase: u8::from_le_bytes([b[127]]),
        }
    }

    /// Done, or why not: by its name.
    pub fn status(&self) -> Result<CommandStatus, UnknownValue> {
        CommandStatus::try_from(self.status)
    }

    /// QUERY_QP: the queue pair's state; NO_TRANSITION: the state that it is in: by its name.
    pub fn state(&self) -> Result<QueuePairState, UnknownValue> {
        QueuePairState::try_from(self.state)
    }

    /// Bit 0: Send of 0 bytes.
    pub const fn rtr_send(&self) -> bool {
        self.rtr & Self::RTR_SEND != 0
    }

    /// The same with rtr_send set or clear.
    #[must_use]
    pub const fn with_rtr_send(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_SEND | if on { Self::RTR_SEND } else { 0 };
        self
    }

    /// Bit 1: Write of 0 bytes.
    pub const fn rtr_write(&self) -> bool {
        self.rtr & Self::RTR_WRITE != 0
    }

    /// The same with rtr_write set or clear.
    #[must_use]
    pub const fn with_rtr_write(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_WRITE | if on { Self::RTR_WRITE } else { 0 };
        self
    }

    /// Bit 2: Read of 0 bytes.
    pub const fn rtr_read(&self) -> bool {
        self.rtr & Self::RTR_READ != 0
    }

    /// The same with rtr_read set or clear.
    #[must_use]
    pub const fn with_rtr_read(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_READ | if on { Self::RTR_READ } else { 0 };
        self
    }

    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const fn rtr_frame(&self) -> bool {
        self.rtr & Self::RTR_FRAME != 0
    }

    /// The same with rtr_frame set or clear.
    #[must_use]
    pub const fn with_rtr_frame(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_FRAME | if on { Self::RTR_FRAME } else { 0 };
        self
    }

    /// Who decides how much is under way: by its name.
    pub fn congestion(&self) -> Result<CongestionControl, UnknownValue> {
        CongestionControl::try_from(self.congestion)
    }

    /// Bit 0: the queue pair has a connection.
    pub const fn has_connection(&self) -> bool {
        self.flags & Self::HAS_CONNECTION != 0
    }

    /// The same with has_connection set or clear.
    #[must_use]
    pub const fn with_has_connection(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_CONNECTION | if on { Self::HAS_CONNECTION } else { 0 };
        self
    }

    /// Bit 1: its start-up is over.
    pub const fn agreed(&self) -> bool {
        self.flags & Self::AGREED != 0
    }

    /// The same with agreed set or clear.
    #[must_use]
    pub const fn with_agreed(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::AGREED | if on { Self::AGREED } else { 0 };
        self
    }

    /// Bit 2: peer-to-peer was agreed on.
    pub const fn has_rtr(&self) -> bool {
        self.flags & Self::HAS_RTR != 0
    }

    /// The same with has_rtr set or clear.
    #[must_use]
    pub const fn with_has_rtr(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_RTR | if on { Self::HAS_RTR } else { 0 };
        self
    }

    /// Bit 3: CRC32C was agreed on.
    pub const fn crc(&self) -> bool {
        self.flags & Self::CRC != 0
    }

    /// The same with crc set or clear.
    #[must_use]
    pub const fn with_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CRC | if on { Self::CRC } else { 0 };
        self
    }

    /// Bit 4: this side sends markers.
    pub const fn markers_sent(&self) -> bool {
        self.flags & Self::MARKERS_SENT != 0
    }

    /// The same with markers_sent set or clear.
    #[must_use]
    pub const fn with_markers_sent(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS_SENT | if on { Self::MARKERS_SENT } else { 0 };
        self
    }

    /// Bit 5: the other side does.
    pub const fn markers_received(&self) -> bool {
        self.flags & Self::MARKERS_RECEIVED != 0
    }

    /// The same with markers_received set or clear.
    #[must_use]
    pub const fn with_markers_received(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS_RECEIVED | if on { Self::MARKERS_RECEIVED } else { 0 };
        self
    }

    /// Bit 6: ECN was agreed on.
    pub const fn ecn(&self) -> bool {
        self.flags & Self::ECN != 0
    }

    /// The same with ecn set or clear.
    #[must_use]
    pub const fn with_ecn(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::ECN | if on { Self::ECN } else { 0 };
        self
    }

    /// Bit 7: a round trip was measured.
    pub const fn has_round_trip(&self) -> bool {
        self.flags & Self::HAS_ROUND_TRIP != 0
    }

    /// The same with has_round_trip set or clear.
    #[must_use]
    pub const fn with_has_round_trip(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_ROUND_TRIP | if on { Self::HAS_ROUND_TRIP } else { 0 };
        self
    }

    /// Bit 0: each segment of either side begins with an FPDU.
    pub const fn aligned(&self) -> bool {
        self.extensions & Self::ALIGNED != 0
    }

    /// The same with aligned set or clear.
    #[must_use]
    pub const fn with_aligned(mut self, on: bool) -> Self {
        self.extensions = self.extensions & !Self::ALIGNED | if on { Self::ALIGNED } else { 0 };
        self
    }

    /// QUERY_QP: the queue pair's; RUNG_*: the one asked for: by its name.
    pub fn rung(&self) -> Result<PartitionRung, UnknownValue> {
        PartitionRung::try_from(self.rung)
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }
}

/// A slot of an event ring; 512 bytes for private data follow it. An event has the fields that event_kind names; the others are 0. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventEntry {
    /// what happened
    pub kind: u8,
    /// CONNECT_ERROR: why
    pub failure: u8,
    /// DISCONNECTED, STREAM_CLOSED: why
    pub reason: u8,
    /// MPA revision of the request, or as agreed
    pub revision: u8,
    /// number of the queue pair
    pub qp: u32,
    /// number of the connection
    pub conn: u64,
    /// who wants to connect
    pub remote_ip: [u8; 4],
    /// its TCP port
    pub remote_port: u16,
    /// the port that listens
    pub port: u16,
    /// the peer's IRD, if has_ird; ESTABLISHED: this side's
    pub ird: u16,
    /// the peer's ORD, if has_ord; ESTABLISHED: this side's
    pub ord: u16,
    /// bytes of private data, at most 512
    pub length: u16,
    /// the Terminate's layer, type and code, if has_terminate
    pub terminate: u16,
    /// RTR kinds, if has_rtr
    pub rtr: u8,
    /// Its bits have getters.
    pub flags: u8,
    /// extensions of the start-up that the peer asks for, or that were agreed on
    pub extensions: u8,
    /// ESTABLISHED: what the peer said of Reads
    pub said: u8,
    /// number of the shared receive queue
    pub srq: u32,
    /// ESTABLISHED: the peer's IRD, if has_peer_ird
    pub peer_ird: u16,
    /// ESTABLISHED: the peer's ORD, if has_peer_ord
    pub peer_ord: u16,
    /// written last
    pub phase: u8,
}

impl EventEntry {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where failure begins.
    pub const FAILURE_AT: usize = 1;
    /// Where reason begins.
    pub const REASON_AT: usize = 2;
    /// Where revision begins.
    pub const REVISION_AT: usize = 3;
    /// Where qp begins.
    pub const QP_AT: usize = 4;
    /// Where conn begins.
    pub const CONN_AT: usize = 8;
    /// Where remote_ip begins.
    pub const REMOTE_IP_AT: usize = 16;
    /// Where remote_port begins.
    pub const REMOTE_PORT_AT: usize = 20;
    /// Where port begins.
    pub const PORT_AT: usize = 22;
    /// Where ird begins.
    pub const IRD_AT: usize = 24;
    /// Where ord begins.
    pub const ORD_AT: usize = 26;
    /// Where length begins.
    pub const LENGTH_AT: usize = 28;
    /// Where terminate begins.
    pub const TERMINATE_AT: usize = 30;
    /// Where rtr begins.
    pub const RTR_AT: usize = 32;
    /// Where flags begins.
    pub const FLAGS_AT: usize = 33;
    /// Where extensions begins.
    pub const EXTENSIONS_AT: usize = 34;
    /// Where said begins.
    pub const SAID_AT: usize = 35;
    /// Where srq begins.
    pub const SRQ_AT: usize = 36;
    /// Where peer_ird begins.
    pub const PEER_IRD_AT: usize = 40;
    /// Where peer_ord begins.
    pub const PEER_ORD_AT: usize = 42;
    /// Where phase begins.
    pub const PHASE_AT: usize = 63;
    /// Bit 0: Send of 0 bytes.
    pub const RTR_SEND: u8 = 0x1;
    /// Bit 1: Write of 0 bytes.
    pub const RTR_WRITE: u8 = 0x2;
    /// Bit 2: Read of 0 bytes.
    pub const RTR_READ: u8 = 0x4;
    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const RTR_FRAME: u8 = 0x8;
    /// Bit 0: the peer said its IRD.
    pub const HAS_IRD: u8 = 0x1;
    /// Bit 1: the peer said its ORD.
    pub const HAS_ORD: u8 = 0x2;
    /// Bit 2: peer-to-peer is wanted, or was agreed on.
    pub const HAS_RTR: u8 = 0x4;
    /// Bit 3: CRC32C was agreed on.
    pub const CRC: u8 = 0x8;
    /// Bit 4: this side sends markers.
    pub const MARKERS_SENT: u8 = 0x10;
    /// Bit 5: the other side does.
    pub const MARKERS_RECEIVED: u8 = 0x20;
    /// Bit 6: a Terminate ended the queue pair.
    pub const HAS_TERMINATE: u8 = 0x40;
    /// Bit 7: the peer sent it.
    pub const RECEIVED: u8 = 0x80;
    /// Bit 0: the peer is an XRC initiator.
    pub const XRC: u8 = 0x1;
    /// Bit 1: ESTABLISHED: each segment of either side begins with an FPDU.
    pub const ALIGNED: u8 = 0x2;
    /// Bit 0: its IRD.
    pub const HAS_PEER_IRD: u8 = 0x1;
    /// Bit 1: its ORD.
    pub const HAS_PEER_ORD: u8 = 0x2;
    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const PHASE: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..1].copy_from_slice(&self.kind.to_le_bytes());
        b[1..2].copy_from_slice(&self.failure.to_le_bytes());
        b[2..3].copy_from_slice(&self.reason.to_le_bytes());
        b[3..4].copy_from_slice(&self.revision.to_le_bytes());
        b[4..8].copy_from_slice(&self.qp.to_le_bytes());
        b[8..16].copy_from_slice(&self.conn.to_le_bytes());
        b[16..20].copy_from_slice(&self.remote_ip);
        b[20..22].copy_from_slice(&self.remote_port.to_le_bytes());
        b[22..24].copy_from_slice(&self.port.to_le_bytes());
        b[24..26].copy_from_slice(&self.ird.to_le_bytes());
        b[26..28].copy_from_slice(&self.ord.to_le_bytes());
        b[28..30].copy_from_slice(&self.length.to_le_bytes());
        b[30..32].copy_from_slice(&self.terminate.to_le_bytes());
        b[32..33].copy_from_slice(&self.rtr.to_le_bytes());
        b[33..34].copy_from_slice(&self.flags.to_le_bytes());
        b[34..35].copy_from_slice(&self.extensions.to_le_bytes());
        b[35..36].copy_from_slice(&self.said.to_le_bytes());
        b[36..40].copy_from_slice(&self.srq.to_le_bytes());
        b[40..42].copy_from_slice(&self.peer_ird.to_le_bytes());
        b[42..44].copy_from_slice(&self.peer_ord.to_le_bytes());
        b[63..64].copy_from_slice(&self.phase.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            kind: u8::from_le_bytes([b[0]]),
            failure: u8::from_le_bytes([b[1]]),
            reason: u8::from_le_bytes([b[2]]),
            revision: u8::from_le_bytes([b[3]]),
            qp: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            conn: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
            remote_ip: [b[16], b[17], b[18], b[19]],
            remote_port: u16::from_le_bytes([b[20], b[21]]),
            port: u16::from_le_bytes([b[22], b[23]]),
            ird: u16::from_le_bytes([b[24], b[25]]),
            ord: u16::from_le_bytes([b[26], b[27]]),
            length: u16::from_le_bytes([b[28], b[29]]),
            terminate: u16::from_le_bytes([b[30], b[31]]),
            rtr: u8::from_le_bytes([b[32]]),
            flags: u8::from_le_bytes([b[33]]),
            extensions: u8::from_le_bytes([b[34]]),
            said: u8::from_le_bytes([b[35]]),
            srq: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            peer_ird: u16::from_le_bytes([b[40], b[41]]),
            peer_ord: u16::from_le_bytes([b[42], b[43]]),
            phase: u8::from_le_bytes([b[63]]),
        }
    }

    /// What happened: by its name.
    pub fn kind(&self) -> Result<EventKind, UnknownValue> {
        EventKind::try_from(self.kind)
    }

    /// CONNECT_ERROR: why: by its name.
    pub fn failure(&self) -> Result<ConnectFailure, UnknownValue> {
        ConnectFailure::try_from(self.failure)
    }

    /// DISCONNECTED, STREAM_CLOSED: why: by its name.
    pub fn reason(&self) -> Result<DisconnectReason, UnknownValue> {
        DisconnectReason::try_from(self.reason)
    }

    /// Bit 0: Send of 0 bytes.
    pub const fn rtr_send(&self) -> bool {
        self.rtr & Self::RTR_SEND != 0
    }

    /// The same with rtr_send set or clear.
    #[must_use]
    pub const fn with_rtr_send(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_SEND | if on { Self::RTR_SEND } else { 0 };
        self
    }

    /// Bit 1: Write of 0 bytes.
    pub const fn rtr_write(&self) -> bool {
        self.rtr & Self::RTR_WRITE != 0
    }

    /// The same with rtr_write set or clear.
    #[must_use]
    pub const fn with_rtr_write(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_WRITE | if on { Self::RTR_WRITE } else { 0 };
        self
    }

    /// Bit 2: Read of 0 bytes.
    pub const fn rtr_read(&self) -> bool {
        self.rtr & Self::RTR_READ != 0
    }

    /// The same with rtr_read set or clear.
    #[must_use]
    pub const fn with_rtr_read(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_READ | if on { Self::RTR_READ } else { 0 };
        self
    }

    /// Bit 3: the frame proposed in 2007, only between Weft ends.
    pub const fn rtr_frame(&self) -> bool {
        self.rtr & Self::RTR_FRAME != 0
    }

    /// The same with rtr_frame set or clear.
    #[must_use]
    pub const fn with_rtr_frame(mut self, on: bool) -> Self {
        self.rtr = self.rtr & !Self::RTR_FRAME | if on { Self::RTR_FRAME } else { 0 };
        self
    }

    /// Bit 0: the peer said its IRD.
    pub const fn has_ird(&self) -> bool {
        self.flags & Self::HAS_IRD != 0
    }

    /// The same with has_ird set or clear.
    #[must_use]
    pub const fn with_has_ird(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_IRD | if on { Self::HAS_IRD } else { 0 };
        self
    }

    /// Bit 1: the peer said its ORD.
    pub const fn has_ord(&self) -> bool {
        self.flags & Self::HAS_ORD != 0
    }

    /// The same with has_ord set or clear.
    #[must_use]
    pub const fn with_has_ord(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_ORD | if on { Self::HAS_ORD } else { 0 };
        self
    }

    /// Bit 2: peer-to-peer is wanted, or was agreed on.
    pub const fn has_rtr(&self) -> bool {
        self.flags & Self::HAS_RTR != 0
    }

    /// The same with has_rtr set or clear.
    #[must_use]
    pub const fn with_has_rtr(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_RTR | if on { Self::HAS_RTR } else { 0 };
        self
    }

    /// Bit 3: CRC32C was agreed on.
    pub const fn crc(&self) -> bool {
        self.flags & Self::CRC != 0
    }

    /// The same with crc set or clear.
    #[must_use]
    pub const fn with_crc(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::CRC | if on { Self::CRC } else { 0 };
        self
    }

    /// Bit 4: this side sends markers.
    pub const fn markers_sent(&self) -> bool {
        self.flags & Self::MARKERS_SENT != 0
    }

    /// The same with markers_sent set or clear.
    #[must_use]
    pub const fn with_markers_sent(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS_SENT | if on { Self::MARKERS_SENT } else { 0 };
        self
    }

    /// Bit 5: the other side does.
    pub const fn markers_received(&self) -> bool {
        self.flags & Self::MARKERS_RECEIVED != 0
    }

    /// The same with markers_received set or clear.
    #[must_use]
    pub const fn with_markers_received(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::MARKERS_RECEIVED | if on { Self::MARKERS_RECEIVED } else { 0 };
        self
    }

    /// Bit 6: a Terminate ended the queue pair.
    pub const fn has_terminate(&self) -> bool {
        self.flags & Self::HAS_TERMINATE != 0
    }

    /// The same with has_terminate set or clear.
    #[must_use]
    pub const fn with_has_terminate(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::HAS_TERMINATE | if on { Self::HAS_TERMINATE } else { 0 };
        self
    }

    /// Bit 7: the peer sent it.
    pub const fn received(&self) -> bool {
        self.flags & Self::RECEIVED != 0
    }

    /// The same with received set or clear.
    #[must_use]
    pub const fn with_received(mut self, on: bool) -> Self {
        self.flags = self.flags & !Self::RECEIVED | if on { Self::RECEIVED } else { 0 };
        self
    }

    /// Bit 0: the peer is an XRC initiator.
    pub const fn xrc(&self) -> bool {
        self.extensions & Self::XRC != 0
    }

    /// The same with xrc set or clear.
    #[must_use]
    pub const fn with_xrc(mut self, on: bool) -> Self {
        self.extensions = self.extensions & !Self::XRC | if on { Self::XRC } else { 0 };
        self
    }

    /// Bit 1: ESTABLISHED: each segment of either side begins with an FPDU.
    pub const fn aligned(&self) -> bool {
        self.extensions & Self::ALIGNED != 0
    }

    /// The same with aligned set or clear.
    #[must_use]
    pub const fn with_aligned(mut self, on: bool) -> Self {
        self.extensions = self.extensions & !Self::ALIGNED | if on { Self::ALIGNED } else { 0 };
        self
    }

    /// Bit 0: its IRD.
    pub const fn has_peer_ird(&self) -> bool {
        self.said & Self::HAS_PEER_IRD != 0
    }

    /// The same with has_peer_ird set or clear.
    #[must_use]
    pub const fn with_has_peer_ird(mut self, on: bool) -> Self {
        self.said = self.said & !Self::HAS_PEER_IRD | if on { Self::HAS_PEER_IRD } else { 0 };
        self
    }

    /// Bit 1: its ORD.
    pub const fn has_peer_ord(&self) -> bool {
        self.said & Self::HAS_PEER_ORD != 0
    }

    /// The same with has_peer_ord set or clear.
    #[must_use]
    pub const fn with_has_peer_ord(mut self, on: bool) -> Self {
        self.said = self.said & !Self::HAS_PEER_ORD | if on { Self::HAS_PEER_ORD } else { 0 };
        self
    }

    /// Bit 0: 1 on the first pass through the ring, then alternating.
    pub const fn phase(&self) -> bool {
        self.phase & Self::PHASE != 0
    }

    /// The same with phase set or clear.
    #[must_use]
    pub const fn with_phase(mut self, on: bool) -> Self {
        self.phase = self.phase & !Self::PHASE | if on { Self::PHASE } else { 0 };
        self
    }
}

/// Doorbells of a command ring, written by the one who commands. Each in a word of 8 bytes of its own. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandDoorbell {
    /// commands posted
    pub tail: u32,
    /// Its bits have getters.
    pub armed: u8,
}

impl CommandDoorbell {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where tail begins.
    pub const TAIL_AT: usize = 0;
    /// Where armed begins.
    pub const ARMED_AT: usize = 8;
    /// Bit 0: the next answer wakes the one who commands.
    pub const ANY: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.tail.to_le_bytes());
        b[8..9].copy_from_slice(&self.armed.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            tail: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            armed: u8::from_le_bytes([b[8]]),
        }
    }

    /// Bit 0: the next answer wakes the one who commands.
    pub const fn any(&self) -> bool {
        self.armed & Self::ANY != 0
    }

    /// The same with any set or clear.
    #[must_use]
    pub const fn with_any(mut self, on: bool) -> Self {
        self.armed = self.armed & !Self::ANY | if on { Self::ANY } else { 0 };
        self
    }
}

/// Doorbells of an event ring, written by the one who takes the events. Each in a word of 8 bytes of its own. 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventDoorbell {
    /// events taken
    pub taken: u32,
    /// Its bits have getters.
    pub armed: u8,
}

impl EventDoorbell {
    /// Bytes of the record.
    pub const SIZE: usize = 64;
    /// Where taken begins.
    pub const TAKEN_AT: usize = 0;
    /// Where armed begins.
    pub const ARMED_AT: usize = 8;
    /// Bit 0: the next event wakes the one who takes.
    pub const ANY: u8 = 0x1;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.taken.to_le_bytes());
        b[8..9].copy_from_slice(&self.armed.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            taken: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            armed: u8::from_le_bytes([b[8]]),
        }
    }

    /// Bit 0: the next event wakes the one who takes.
    pub const fn any(&self) -> bool {
        self.armed & Self::ANY != 0
    }

    /// The same with any set or clear.
    #[must_use]
    pub const fn with_any(mut self, on: bool) -> Self {
        self.armed = self.armed & !Self::ANY | if on { Self::ANY } else { 0 };
        self
    }
}

/// An event in the trace ring. Fields that an event does not use are 0, but for flow: 65535. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceEntry {
    /// what happened
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
    /// Where kind begins.
    pub const KIND_AT: usize = 0;
    /// Where detail begins.
    pub const DETAIL_AT: usize = 1;
    /// Where flow begins.
    pub const FLOW_AT: usize = 2;
    /// Where value begins.
    pub const VALUE_AT: usize = 4;
    /// Where info begins.
    pub const INFO_AT: usize = 8;
    /// Where time_hi begins.
    pub const TIME_HI_AT: usize = 10;
    /// Where time_lo begins.
    pub const TIME_LO_AT: usize = 12;

    /// The record as it lies in memory.
    #[inline]
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
    #[inline]
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

    /// What happened: by its name.
    pub fn kind(&self) -> Result<TraceKind, UnknownValue> {
        TraceKind::try_from(self.kind)
    }
}

/// What the firmware says of itself, at address 0x100 of the processor's memory. Magic, layout, version, build and log_bytes are part of what is loaded; places and counts are the running firmware's. 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcInfo {
    /// PROC_ID's
    pub magic: u32,
    /// 1: this layout
    pub layout: u32,
    /// version, ASCII, filled up with zeros
    pub version: [u8; 16],
    /// hash of the sources that it was built from, ASCII, filled up with zeros
    pub build: [u8; 16],
    /// address of the log: a ring of bytes
    pub log_at: u32,
    /// bytes of that ring, a power of two
    pub log_bytes: u32,
    /// address of the proc_dump
    pub dump_at: u32,
    /// lowest address of the stack, which is filled with 0x5a at the start; the guard is below
    pub stack_low: u32,
    /// address behind it
    pub stack_high: u32,
    /// address of the proc_copy
    pub copy_at: u32,
    /// bytes of the log so far, modulo 2^32; the last of them are in the ring
    pub logged: u32,
    /// commands so far
    pub commands: u32,
    /// copies so far
    pub copies: u32,
    /// interrupts of the timer so far
    pub alarms: u32,
    /// address of the proc_engine; 0: this firmware has no engine
    pub engine_at: u32,
    /// reports of the card handled so far
    pub reports: u32,
    /// jobs posted so far
    pub jobs: u32,
    /// times that the engine was awake so far
    pub turns: u32,
    /// bytes of the heap
    pub heap_bytes: u32,
    /// most bytes of it that were used
    pub heap_used: u32,
    /// instructions since the start, modulo 2^32, as of the last turn
    pub instructions: u32,
    /// address of the proc_queues; 0: this firmware has no engine
    pub queues_at: u32,
    /// address of the proc_debug
    pub debug_at: u32,
    /// bytes that it has copied: raw frames that it fetched, and what its engine copied; modulo 2^32, as of the last turn
    pub copied: u32,
    /// bytes over which its engine has computed a CRC32C, likewise
    pub checked: u32,
    /// segments and FPDUs that its engine has sent again, likewise
    pub again: u32,
}

impl ProcInfo {
    /// Bytes of the record.
    pub const SIZE: usize = 128;
    /// Where magic begins.
    pub const MAGIC_AT: usize = 0;
    /// Where layout begins.
    pub const LAYOUT_AT: usize = 4;
    /// Where version begins.
    pub const VERSION_AT: usize = 8;
    /// Where build begins.
    pub const BUILD_AT: usize = 24;
    /// Where log_at begins.
    pub const LOG_AT_AT: usize = 40;
    /// Where log_bytes begins.
    pub const LOG_BYTES_AT: usize = 44;
    /// Where dump_at begins.
    pub const DUMP_AT_AT: usize = 48;
    /// Where stack_low begins.
    pub const STACK_LOW_AT: usize = 52;
    /// Where stack_high begins.
    pub const STACK_HIGH_AT: usize = 56;
    /// Where copy_at begins.
    pub const COPY_AT_AT: usize = 60;
    /// Where logged begins.
    pub const LOGGED_AT: usize = 64;
    /// Where commands begins.
    pub const COMMANDS_AT: usize = 68;
    /// Where copies begins.
    pub const COPIES_AT: usize = 72;
    /// Where alarms begins.
    pub const ALARMS_AT: usize = 76;
    /// Where engine_at begins.
    pub const ENGINE_AT_AT: usize = 80;
    /// Where reports begins.
    pub const REPORTS_AT: usize = 84;
    /// Where jobs begins.
    pub const JOBS_AT: usize = 88;
    /// Where turns begins.
    pub const TURNS_AT: usize = 92;
    /// Where heap_bytes begins.
    pub const HEAP_BYTES_AT: usize = 96;
    /// Where heap_used begins.
    pub const HEAP_USED_AT: usize = 100;
    /// Where instructions begins.
    pub const INSTRUCTIONS_AT: usize = 104;
    /// Where queues_at begins.
    pub const QUEUES_AT_AT: usize = 108;
    /// Where debug_at begins.
    pub const DEBUG_AT_AT: usize = 112;
    /// Where copied begins.
    pub const COPIED_AT: usize = 116;
    /// Where checked begins.
    pub const CHECKED_AT: usize = 120;
    /// Where again begins.
    pub const AGAIN_AT: usize = 124;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.magic.to_le_bytes());
        b[4..8].copy_from_slice(&self.layout.to_le_bytes());
        b[8..24].copy_from_slice(&self.version);
        b[24..40].copy_from_slice(&self.build);
        b[40..44].copy_from_slice(&self.log_at.to_le_bytes());
        b[44..48].copy_from_slice(&self.log_bytes.to_le_bytes());
        b[48..52].copy_from_slice(&self.dump_at.to_le_bytes());
        b[52..56].copy_from_slice(&self.stack_low.to_le_bytes());
        b[56..60].copy_from_slice(&self.stack_high.to_le_bytes());
        b[60..64].copy_from_slice(&self.copy_at.to_le_bytes());
        b[64..68].copy_from_slice(&self.logged.to_le_bytes());
        b[68..72].copy_from_slice(&self.commands.to_le_bytes());
        b[72..76].copy_from_slice(&self.copies.to_le_bytes());
        b[76..80].copy_from_slice(&self.alarms.to_le_bytes());
        b[80..84].copy_from_slice(&self.engine_at.to_le_bytes());
        b[84..88].copy_from_slice(&self.reports.to_le_bytes());
        b[88..92].copy_from_slice(&self.jobs.to_le_bytes());
        b[92..96].copy_from_slice(&self.turns.to_le_bytes());
        b[96..100].copy_from_slice(&self.heap_bytes.to_le_bytes());
        b[100..104].copy_from_slice(&self.heap_used.to_le_bytes());
        b[104..108].copy_from_slice(&self.instructions.to_le_bytes());
        b[108..112].copy_from_slice(&self.queues_at.to_le_bytes());
        b[112..116].copy_from_slice(&self.debug_at.to_le_bytes());
        b[116..120].copy_from_slice(&self.copied.to_le_bytes());
        b[120..124].copy_from_slice(&self.checked.to_le_bytes());
        b[124..128].copy_from_slice(&self.again.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            magic: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            layout: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            version: [b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15], b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]],
            build: [b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31], b[32], b[33], b[34], b[35], b[36], b[37], b[38], b[39]],
            log_at: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            log_bytes: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            dump_at: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            stack_low: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
            stack_high: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            copy_at: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
            logged: u32::from_le_bytes([b[64], b[65], b[66], b[67]]),
            commands: u32::from_le_bytes([b[68], b[69], b[70], b[71]]),
            copies: u32::from_le_bytes([b[72], b[73], b[74], b[75]]),
            alarms: u32::from_le_bytes([b[76], b[77], b[78], b[79]]),
            engine_at: u32::from_le_bytes([b[80], b[81], b[82], b[83]]),
            reports: u32::from_le_bytes([b[84], b[85], b[86], b[87]]),
            jobs: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            turns: u32::from_le_bytes([b[92], b[93], b[94], b[95]]),
            heap_bytes: u32::from_le_bytes([b[96], b[97], b[98], b[99]]),
            heap_used: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
            instructions: u32::from_le_bytes([b[104], b[105], b[106], b[107]]),
            queues_at: u32::from_le_bytes([b[108], b[109], b[110], b[111]]),
            debug_at: u32::from_le_bytes([b[112], b[113], b[114], b[115]]),
            copied: u32::from_le_bytes([b[116], b[117], b[118], b[119]]),
            checked: u32::from_le_bytes([b[120], b[121], b[122], b[123]]),
            again: u32::from_le_bytes([b[124], b[125], b[126], b[127]]),
        }
    }
}

/// What a COPY copies, in the processor's memory, where the host writes it before. 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcCopy {
    /// IOVA
    pub source: u64,
    /// IOVA, as far from a multiple of 4 as the source
    pub destination: u64,
}

impl ProcCopy {
    /// Bytes of the record.
    pub const SIZE: usize = 32;
    /// Where source begins.
    pub const SOURCE_AT: usize = 0;
    /// Where destination begins.
    pub const DESTINATION_AT: usize = 8;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..8].copy_from_slice(&self.source.to_le_bytes());
        b[8..16].copy_from_slice(&self.destination.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            source: u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            destination: u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
        }
    }
}

/// What the firmware's engine is to be, in the processor's memory, where the host writes it before ENGINE. 192 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcEngine {
    /// IOVA of memory for what lies between firmware and card, all its own: jobs, reports, raw frames, frames to send, receive queues; a multiple of 4096
    pub rings: u64,
    /// bytes of it
    pub rings_bytes: u32,
    /// bytes of the memory that the host shares with the firmware
    pub queues_bytes: u32,
    /// IOVA of it, a multiple of 64: first a command ring, behind it an event ring, and a frame ring if there is one, all zero
    pub queues: u64,
    /// commands that the command ring holds, a power of two
    pub commands: u32,
    /// events that the event ring holds, a power of two
    pub events: u32,
    /// the station's address
    pub mac: [u8; 6],
    /// largest IPv4 packet, 576 to 1500
    pub mtu: u16,
    /// IPv4 address
    pub ip: [u8; 4],
    /// of the local network
    pub netmask: [u8; 4],
    /// next hop for everything else; 0: none
    pub gateway: [u8; 4],
    /// payload bytes of a replay job at most, if the card does not have less (JOB_REPLAY); 0: what comes while a flow is detached is copied
    pub replay: u16,
    /// 0: the firmware has the whole card. Else it has the card's second port, and frames of no flow that may be for it come by the frame ring, which holds so many
    pub frames: u16,
    /// congestion control of connections that name none
    pub congestion: u8,
    /// whether connections have ECN
    pub ecn: u8,
    /// retransmissions of the same data before a connection is given up
    pub retries: u8,
    /// SYNs sent again before it is given up
    pub syn_retries: u8,
    /// full segments for which a long message waits where the peer's window limits it
    pub burst: u8,
    /// what is done and what is not
    pub ways: u8,
    /// initial congestion window, segments
    pub initial_window: u16,
    /// of all that nobody outside is to foresee, first half
    pub seed: [u8; 16],
    /// the other half
    pub seed_more: [u8; 16],
    /// RSTs for segments of no connection, in a second
    pub resets: u32,
    /// answers to unacceptable segments of a connection, in a second
    pub challenge_acks: u32,
    /// nanoseconds, as all below: how long a peer keeps an acknowledgment back
    pub peer_ack_delay: u64,
    /// how long the engine does
    pub delayed_ack: u64,
    /// what the variance counts for at least in the retransmission timer
    pub rto_min: u64,
    /// the same with two full segments or more under way
    pub rto_min_in_flight: u64,
    /// upper bound of the retransmission timer
    pub rto_max: u64,
    /// how long a closed connection's addresses stay reserved
    pub time_wait: u64,
    /// how long each side waits for the other's MPA frame
    pub mpa_timeout: u64,
    /// how long a responder without RTR waits for the first message
    pub first_message_timeout: u64,
    /// how long what is posted may make no progress after a disconnect
    pub drain_timeout: u64,
    /// how long a closing side waits for the peer to close too
    pub close_timeout: u64,
    /// after which a silent peer is asked whether it is still there; 0: never
    pub keepalive: u64,
}

impl ProcEngine {
    /// Bytes of the record.
    pub const SIZE: usize = 192;
    /// Where rings begins.
    pub const RINGS_AT: usize = 0;
    /// Where rings_bytes begins.
    pub const RINGS_BYTES_AT: usize = 8;
    /// Where queues_bytes begins.
    pub const QUEUES_BYTES_AT: usize = 12;
    /// Where queues begins.
    pub const QUEUES_AT: usize = 16;
    /// Where commands begins.
    pub const COMMANDS_AT: usize = 24;
    /// Where events begins.
    pub const EVENTS_AT: usize = 28;
    /// Where mac begins.
    pub const MAC_AT: usize = 32;
    /// Where mtu begins.
    pub const MTU_AT: usize = 38;
    /// Where ip begins.
    pub const IP_AT: usize = 40;
    /// Where netmask begins.
    pub const NETMASK_AT: usize = 44;
    /// Where gateway begins.
    pub const GATEWAY_AT: usize = 48;
    /// Where replay begins.
    pub const REPLAY_AT: usize = 52;
    /// Where frames begins.
    pub const FRAMES_AT: usize = 54;
    /// Where congestion begins.
    pub const CONGESTION_AT: usize = 56;
    /// Where ecn begins.
    pub const ECN_AT: usize = 57;
    /// Where retries begins.
    pub const RETRIES_AT: usize = 58;
    /// Where syn_retries begins.
    pub const SYN_RETRIES_AT: usize = 59;
    /// Where burst begins.
    pub const BURST_AT: usize = 60;
    /// Where ways begins.
    pub const WAYS_AT: usize = 61;
    /// Where initial_window begins.
    pub const INITIAL_WINDOW_AT: usize = 62;
    /// Where seed begins.
    pub const SEED_AT: usize = 64;
    /// Where seed_more begins.
    pub const SEED_MORE_AT: usize = 80;
    /// Where resets begins.
    pub const RESETS_AT: usize = 96;
    /// Where challenge_acks begins.
    pub const CHALLENGE_ACKS_AT: usize = 100;
    /// Where peer_ack_delay begins.
    pub const PEER_ACK_DELAY_AT: usize = 104;
    /// Where delayed_ack begins.
    pub const DELAYED_ACK_AT: usize = 112;
    /// Where rto_min begins.
    pub const RTO_MIN_AT: usize = 120;
    /// Where rto_min_in_flight begins.
    pub const RTO_MIN_IN_FLIGHT_AT: usize = 128;
    /// Where rto_max begins.
    pub const RTO_MAX_AT: usize = 136;
    /// Where time_wait begins.
    pub const TIME_WAIT_AT: usize = 144;
    /// Where mpa_timeout begins.
    pub const MPA_TIMEOUT_AT: usize = 152;
    /// Where first_message_timeout begins.
    pub const FIRST_MESSAGE_TIMEOUT_AT: usize = 160;
    /// Where drain_timeout begins.
    pub const DRAIN_TIMEOUT_AT: usize = 168;
    /// Where close_timeout begins.
    pub const CLOSE_TIMEOUT_AT: usize = 176;
    /// Where keepalive begins.
    pub const KEEPALIVE_AT: usize = 184;
    /// Bit 0: new data goes at the pace of the congestion control.
    pub const PACING: u8 = 0x1;
    /// Bit 1: TCP timestamps are asked for.
    pub const TIMESTAMPS: u8 = 0x2;
    /// Bit 2: the end of a Write is acknowledged at once, of a Send soon.
    pub const PROMPT_ACK: u8 = 0x4;
    /// Bit 3: usual segments are handled the short way.
    pub const SHORT_WAY: u8 = 0x8;
    /// Bit 4: the card frames and places.
    pub const ATTACH: u8 = 0x10;
    /// Bit 5: FLOW_RX asks for carry where segments are cut.
    pub const CARRY: u8 = 0x20;
    /// Bit 6: FLOW_RX asks for Writes, Read Responses and messages of queue 0 beyond gaps to be placed.
    pub const BEYOND: u8 = 0x40;
    /// Bit 7: FLOW_TX asks for FPDUs that wait to share segments.
    pub const PACK: u8 = 0x80;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..8].copy_from_slice(&self.rings.to_le_bytes());
        b[8..12].copy_from_slice(&self.rings_bytes.to_le_bytes());
        b[12..16].copy_from_slice(&self.queues_bytes.to_le_bytes());
        b[16..24].copy_from_slice(&self.queues.to_le_bytes());
        b[24..28].copy_from_slice(&self.commands.to_le_bytes());
        b[28..32].copy_from_slice(&self.events.to_le_bytes());
        b[32..38].copy_from_slice(&self.mac);
        b[38..40].copy_from_slice(&self.mtu.to_le_bytes());
        b[40..44].copy_from_slice(&self.ip);
        b[44..48].copy_from_slice(&self.netmask);
        b[48..52].copy_from_slice(&self.gateway);
        b[52..54].copy_from_slice(&self.replay.to_le_bytes());
        b[54..56].copy_from_slice(&self.frames.to_le_bytes());
        b[56..57].copy_from_slice(&self.congestion.to_le_bytes());
        b[57..58].copy_from_slice(&self.ecn.to_le_bytes());
        b[58..59].copy_from_slice(&self.retries.to_le_bytes());
        b[59..60].copy_from_slice(&self.syn_retries.to_le_bytes());
        b[60..61].copy_from_slice(&self.burst.to_le_bytes());
        b[61..62].copy_from_slice(&self.ways.to_le_bytes());
        b[62..64].copy_from_slice(&self.initial_window.to_le_bytes());
        b[64..80].copy_from_slice(&self.seed);
        b[80..96].copy_from_slice(&self.seed_more);
        b[96..100].copy_from_slice(&self.resets.to_le_bytes());
        b[100..104].copy_from_slice(&self.challenge_acks.to_le_bytes());
        b[104..112].copy_from_slice(&self.peer_ack_delay.to_le_bytes());
        b[112..120].copy_from_slice(&self.delayed_ack.to_le_bytes());
        b[120..128].copy_from_slice(&self.rto_min.to_le_bytes());
        b[128..136].copy_from_slice(&self.rto_min_in_flight.to_le_bytes());
        b[136..144].copy_from_slice(&self.rto_max.to_le_bytes());
        b[144..152].copy_from_slice(&self.time_wait.to_le_bytes());
        b[152..160].copy_from_slice(&self.mpa_timeout.to_le_bytes());
        b[160..168].copy_from_slice(&self.first_message_timeout.to_le_bytes());
        b[168..176].copy_from_slice(&self.drain_timeout.to_le_bytes());
        b[176..184].copy_from_slice(&self.close_timeout.to_le_bytes());
        b[184..192].copy_from_slice(&self.keepalive.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            rings: u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            rings_bytes: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            queues_bytes: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            queues: u64::from_le_bytes([b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23]]),
            commands: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            events: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            mac: [b[32], b[33], b[34], b[35], b[36], b[37]],
            mtu: u16::from_le_bytes([b[38], b[39]]),
            ip: [b[40], b[41], b[42], b[43]],
            netmask: [b[44], b[45], b[46], b[47]],
            gateway: [b[48], b[49], b[50], b[51]],
            replay: u16::from_le_bytes([b[52], b[53]]),
            frames: u16::from_le_bytes([b[54], b[55]]),
            congestion: u8::from_le_bytes([b[56]]),
            ecn: u8::from_le_bytes([b[57]]),
            retries: u8::from_le_bytes([b[58]]),
            syn_retries: u8::from_le_bytes([b[59]]),
            burst: u8::from_le_bytes([b[60]]),
            ways: u8::from_le_bytes([b[61]]),
            initial_window: u16::from_le_bytes([b[62], b[63]]),
            seed: [b[64], b[65], b[66], b[67], b[68], b[69], b[70], b[71], b[72], b[73], b[74], b[75], b[76], b[77], b[78], b[79]],
            seed_more: [b[80], b[81], b[82], b[83], b[84], b[85], b[86], b[87], b[88], b[89], b[90], b[91], b[92], b[93], b[94], b[95]],
            resets: u32::from_le_bytes([b[96], b[97], b[98], b[99]]),
            challenge_acks: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
            peer_ack_delay: u64::from_le_bytes([b[104], b[105], b[106], b[107], b[108], b[109], b[110], b[111]]),
            delayed_ack: u64::from_le_bytes([b[112], b[113], b[114], b[115], b[116], b[117], b[118], b[119]]),
            rto_min: u64::from_le_bytes([b[120], b[121], b[122], b[123], b[124], b[125], b[126], b[127]]),
            rto_min_in_flight: u64::from_le_bytes([b[128], b[129], b[130], b[131], b[132], b[133], b[134], b[135]]),
            rto_max: u64::from_le_bytes([b[136], b[137], b[138], b[139], b[140], b[141], b[142], b[143]]),
            time_wait: u64::from_le_bytes([b[144], b[145], b[146], b[147], b[148], b[149], b[150], b[151]]),
            mpa_timeout: u64::from_le_bytes([b[152], b[153], b[154], b[155], b[156], b[157], b[158], b[159]]),
            first_message_timeout: u64::from_le_bytes([b[160], b[161], b[162], b[163], b[164], b[165], b[166], b[167]]),
            drain_timeout: u64::from_le_bytes([b[168], b[169], b[170], b[171], b[172], b[173], b[174], b[175]]),
            close_timeout: u64::from_le_bytes([b[176], b[177], b[178], b[179], b[180], b[181], b[182], b[183]]),
            keepalive: u64::from_le_bytes([b[184], b[185], b[186], b[187], b[188], b[189], b[190], b[191]]),
        }
    }

    /// Congestion control of connections that name none: by its name.
    pub fn congestion(&self) -> Result<CongestionControl, UnknownValue> {
        CongestionControl::try_from(self.congestion)
    }

    /// Whether connections have ECN: by its name.
    pub fn ecn(&self) -> Result<EcnUse, UnknownValue> {
        EcnUse::try_from(self.ecn)
    }

    /// Bit 0: new data goes at the pace of the congestion control.
    pub const fn pacing(&self) -> bool {
        self.ways & Self::PACING != 0
    }

    /// The same with pacing set or clear.
    #[must_use]
    pub const fn with_pacing(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::PACING | if on { Self::PACING } else { 0 };
        self
    }

    /// Bit 1: TCP timestamps are asked for.
    pub const fn timestamps(&self) -> bool {
        self.ways & Self::TIMESTAMPS != 0
    }

    /// The same with timestamps set or clear.
    #[must_use]
    pub const fn with_timestamps(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::TIMESTAMPS | if on { Self::TIMESTAMPS } else { 0 };
        self
    }

    /// Bit 2: the end of a Write is acknowledged at once, of a Send soon.
    pub const fn prompt_ack(&self) -> bool {
        self.ways & Self::PROMPT_ACK != 0
    }

    /// The same with prompt_ack set or clear.
    #[must_use]
    pub const fn with_prompt_ack(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::PROMPT_ACK | if on { Self::PROMPT_ACK } else { 0 };
        self
    }

    /// Bit 3: usual segments are handled the short way.
    pub const fn short_way(&self) -> bool {
        self.ways & Self::SHORT_WAY != 0
    }

    /// The same with short_way set or clear.
    #[must_use]
    pub const fn with_short_way(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::SHORT_WAY | if on { Self::SHORT_WAY } else { 0 };
        self
    }

    /// Bit 4: the card frames and places.
    pub const fn attach(&self) -> bool {
        self.ways & Self::ATTACH != 0
    }

    /// The same with attach set or clear.
    #[must_use]
    pub const fn with_attach(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::ATTACH | if on { Self::ATTACH } else { 0 };
        self
    }

    /// Bit 5: FLOW_RX asks for carry where segments are cut.
    pub const fn carry(&self) -> bool {
        self.ways & Self::CARRY != 0
    }

    /// The same with carry set or clear.
    #[must_use]
    pub const fn with_carry(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::CARRY | if on { Self::CARRY } else { 0 };
        self
    }

    /// Bit 6: FLOW_RX asks for Writes, Read Responses and messages of queue 0 beyond gaps to be placed.
    pub const fn beyond(&self) -> bool {
        self.ways & Self::BEYOND != 0
    }

    /// The same with beyond set or clear.
    #[must_use]
    pub const fn with_beyond(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::BEYOND | if on { Self::BEYOND } else { 0 };
        self
    }

    /// Bit 7: FLOW_TX asks for FPDUs that wait to share segments.
    pub const fn pack(&self) -> bool {
        self.ways & Self::PACK != 0
    }

    /// The same with pack set or clear.
    #[must_use]
    pub const fn with_pack(mut self, on: bool) -> Self {
        self.ways = self.ways & !Self::PACK | if on { Self::PACK } else { 0 };
        self
    }
}

/// Where the queues of a queue pair are, or a shared receive queue is, in the processor's memory, where the host writes it before QUEUES. Offsets are from the begin of the memory that both share (proc_engine), multiples of 64. 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcQueues {
    /// number in commands: the queue pair's, or the shared receive queue's
    pub qp: u32,
    /// offset of doorbells, send queue and receive queue, or of the shared receive queue
    pub queues: u32,
    /// offset of the completion queue, which is of no other queue pair
    pub completions: u32,
    /// WQEs of the send queue
    pub send: u32,
    /// elements of the receive queue, or of the shared one
    pub recv: u32,
    /// SGEs of a WQE
    pub sges: u16,
    /// inline bytes of a WQE
    pub inline_bytes: u16,
    /// CQEs of the completion queue; 0: it is a shared receive queue, of which nothing below and nothing of send queue and completion queue counts
    pub cqes: u32,
    /// number of the bit of PROC_BELL by which the host says that work was posted, from FIRST_QUEUES (proc_bell) to 31
    pub bell: u32,
}

impl ProcQueues {
    /// Bytes of the record.
    pub const SIZE: usize = 32;
    /// Where qp begins.
    pub const QP_AT: usize = 0;
    /// Where queues begins.
    pub const QUEUES_AT: usize = 4;
    /// Where completions begins.
    pub const COMPLETIONS_AT: usize = 8;
    /// Where send begins.
    pub const SEND_AT: usize = 12;
    /// Where recv begins.
    pub const RECV_AT: usize = 16;
    /// Where sges begins.
    pub const SGES_AT: usize = 20;
    /// Where inline_bytes begins.
    pub const INLINE_BYTES_AT: usize = 22;
    /// Where cqes begins.
    pub const CQES_AT: usize = 24;
    /// Where bell begins.
    pub const BELL_AT: usize = 28;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.qp.to_le_bytes());
        b[4..8].copy_from_slice(&self.queues.to_le_bytes());
        b[8..12].copy_from_slice(&self.completions.to_le_bytes());
        b[12..16].copy_from_slice(&self.send.to_le_bytes());
        b[16..20].copy_from_slice(&self.recv.to_le_bytes());
        b[20..22].copy_from_slice(&self.sges.to_le_bytes());
        b[22..24].copy_from_slice(&self.inline_bytes.to_le_bytes());
        b[24..28].copy_from_slice(&self.cqes.to_le_bytes());
        b[28..32].copy_from_slice(&self.bell.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            qp: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            queues: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            completions: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            send: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            recv: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            sges: u16::from_le_bytes([b[20], b[21]]),
            inline_bytes: u16::from_le_bytes([b[22], b[23]]),
            cqes: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            bell: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
        }
    }
}

/// What is left of a firmware that ended. 160 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcDump {
    /// as in PROC_CAUSE; 0: there is no dump
    pub cause: u32,
    /// the instruction at which it ended, or that it would have returned to
    pub pc: u32,
    /// RISC-V's mtval: the address, or the instruction
    pub value: u32,
    /// when, low half of the time
    pub cycle: u32,
    /// the command that it had taken last
    pub command: u32,
    /// register x1
    pub ra: u32,
    /// register x2
    pub sp: u32,
    /// register x3
    pub gp: u32,
    /// register x4
    pub tp: u32,
    /// register x5
    pub t0: u32,
    /// register x6
    pub t1: u32,
    /// register x7
    pub t2: u32,
    /// register x8
    pub s0: u32,
    /// register x9
    pub s1: u32,
    /// register x10
    pub a0: u32,
    /// register x11
    pub a1: u32,
    /// register x12
    pub a2: u32,
    /// register x13
    pub a3: u32,
    /// register x14
    pub a4: u32,
    /// register x15
    pub a5: u32,
    /// register x16
    pub a6: u32,
    /// register x17
    pub a7: u32,
    /// register x18
    pub s2: u32,
    /// register x19
    pub s3: u32,
    /// register x20
    pub s4: u32,
    /// register x21
    pub s5: u32,
    /// register x22
    pub s6: u32,
    /// register x23
    pub s7: u32,
    /// register x24
    pub s8: u32,
    /// register x25
    pub s9: u32,
    /// register x26
    pub s10: u32,
    /// register x27
    pub s11: u32,
    /// register x28
    pub t3: u32,
    /// register x29
    pub t4: u32,
    /// register x30
    pub t5: u32,
    /// register x31
    pub t6: u32,
}

impl ProcDump {
    /// Bytes of the record.
    pub const SIZE: usize = 160;
    /// Where cause begins.
    pub const CAUSE_AT: usize = 0;
    /// Where pc begins.
    pub const PC_AT: usize = 4;
    /// Where value begins.
    pub const VALUE_AT: usize = 8;
    /// Where cycle begins.
    pub const CYCLE_AT: usize = 12;
    /// Where command begins.
    pub const COMMAND_AT: usize = 16;
    /// Where ra begins.
    pub const RA_AT: usize = 20;
    /// Where sp begins.
    pub const SP_AT: usize = 24;
    /// Where gp begins.
    pub const GP_AT: usize = 28;
    /// Where tp begins.
    pub const TP_AT: usize = 32;
    /// Where t0 begins.
    pub const T0_AT: usize = 36;
    /// Where t1 begins.
    pub const T1_AT: usize = 40;
    /// Where t2 begins.
    pub const T2_AT: usize = 44;
    /// Where s0 begins.
    pub const S0_AT: usize = 48;
    /// Where s1 begins.
    pub const S1_AT: usize = 52;
    /// Where a0 begins.
    pub const A0_AT: usize = 56;
    /// Where a1 begins.
    pub const A1_AT: usize = 60;
    /// Where a2 begins.
    pub const A2_AT: usize = 64;
    /// Where a3 begins.
    pub const A3_AT: usize = 68;
    /// Where a4 begins.
    pub const A4_AT: usize = 72;
    /// Where a5 begins.
    pub const A5_AT: usize = 76;
    /// Where a6 begins.
    pub const A6_AT: usize = 80;
    /// Where a7 begins.
    pub const A7_AT: usize = 84;
    /// Where s2 begins.
    pub const S2_AT: usize = 88;
    /// Where s3 begins.
    pub const S3_AT: usize = 92;
    /// Where s4 begins.
    pub const S4_AT: usize = 96;
    /// Where s5 begins.
    pub const S5_AT: usize = 100;
    /// Where s6 begins.
    pub const S6_AT: usize = 104;
    /// Where s7 begins.
    pub const S7_AT: usize = 108;
    /// Where s8 begins.
    pub const S8_AT: usize = 112;
    /// Where s9 begins.
    pub const S9_AT: usize = 116;
    /// Where s10 begins.
    pub const S10_AT: usize = 120;
    /// Where s11 begins.
    pub const S11_AT: usize = 124;
    /// Where t3 begins.
    pub const T3_AT: usize = 128;
    /// Where t4 begins.
    pub const T4_AT: usize = 132;
    /// Where t5 begins.
    pub const T5_AT: usize = 136;
    /// Where t6 begins.
    pub const T6_AT: usize = 140;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.cause.to_le_bytes());
        b[4..8].copy_from_slice(&self.pc.to_le_bytes());
        b[8..12].copy_from_slice(&self.value.to_le_bytes());
        b[12..16].copy_from_slice(&self.cycle.to_le_bytes());
        b[16..20].copy_from_slice(&self.command.to_le_bytes());
        b[20..24].copy_from_slice(&self.ra.to_le_bytes());
        b[24..28].copy_from_slice(&self.sp.to_le_bytes());
        b[28..32].copy_from_slice(&self.gp.to_le_bytes());
        b[32..36].copy_from_slice(&self.tp.to_le_bytes());
        b[36..40].copy_from_slice(&self.t0.to_le_bytes());
        b[40..44].copy_from_slice(&self.t1.to_le_bytes());
        b[44..48].copy_from_slice(&self.t2.to_le_bytes());
        b[48..52].copy_from_slice(&self.s0.to_le_bytes());
        b[52..56].copy_from_slice(&self.s1.to_le_bytes());
        b[56..60].copy_from_slice(&self.a0.to_le_bytes());
        b[60..64].copy_from_slice(&self.a1.to_le_bytes());
        b[64..68].copy_from_slice(&self.a2.to_le_bytes());
        b[68..72].copy_from_slice(&self.a3.to_le_bytes());
        b[72..76].copy_from_slice(&self.a4.to_le_bytes());
        b[76..80].copy_from_slice(&self.a5.to_le_bytes());
        b[80..84].copy_from_slice(&self.a6.to_le_bytes());
        b[84..88].copy_from_slice(&self.a7.to_le_bytes());
        b[88..92].copy_from_slice(&self.s2.to_le_bytes());
        b[92..96].copy_from_slice(&self.s3.to_le_bytes());
        b[96..100].copy_from_slice(&self.s4.to_le_bytes());
        b[100..104].copy_from_slice(&self.s5.to_le_bytes());
        b[104..108].copy_from_slice(&self.s6.to_le_bytes());
        b[108..112].copy_from_slice(&self.s7.to_le_bytes());
        b[112..116].copy_from_slice(&self.s8.to_le_bytes());
        b[116..120].copy_from_slice(&self.s9.to_le_bytes());
        b[120..124].copy_from_slice(&self.s10.to_le_bytes());
        b[124..128].copy_from_slice(&self.s11.to_le_bytes());
        b[128..132].copy_from_slice(&self.t3.to_le_bytes());
        b[132..136].copy_from_slice(&self.t4.to_le_bytes());
        b[136..140].copy_from_slice(&self.t5.to_le_bytes());
        b[140..144].copy_from_slice(&self.t6.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            cause: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            pc: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            value: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            cycle: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            command: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            ra: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            sp: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            gp: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            tp: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            t0: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            t1: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            t2: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            s0: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            s1: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
            a0: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            a1: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
            a2: u32::from_le_bytes([b[64], b[65], b[66], b[67]]),
            a3: u32::from_le_bytes([b[68], b[69], b[70], b[71]]),
            a4: u32::from_le_bytes([b[72], b[73], b[74], b[75]]),
            a5: u32::from_le_bytes([b[76], b[77], b[78], b[79]]),
            a6: u32::from_le_bytes([b[80], b[81], b[82], b[83]]),
            a7: u32::from_le_bytes([b[84], b[85], b[86], b[87]]),
            s2: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            s3: u32::from_le_bytes([b[92], b[93], b[94], b[95]]),
            s4: u32::from_le_bytes([b[96], b[97], b[98], b[99]]),
            s5: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
            s6: u32::from_le_bytes([b[104], b[105], b[106], b[107]]),
            s7: u32::from_le_bytes([b[108], b[109], b[110], b[111]]),
            s8: u32::from_le_bytes([b[112], b[113], b[114], b[115]]),
            s9: u32::from_le_bytes([b[116], b[117], b[118], b[119]]),
            s10: u32::from_le_bytes([b[120], b[121], b[122], b[123]]),
            s11: u32::from_le_bytes([b[124], b[125], b[126], b[127]]),
            t3: u32::from_le_bytes([b[128], b[129], b[130], b[131]]),
            t4: u32::from_le_bytes([b[132], b[133], b[134], b[135]]),
            t5: u32::from_le_bytes([b[136], b[137], b[138], b[139]]),
            t6: u32::from_le_bytes([b[140], b[141], b[142], b[143]]),
        }
    }
}

/// What the firmware's debug monitor and a debugger of the host have in common, in the processor's memory (docs/processor.md). While the processor is halted the debugger may change the registers. 160 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcDebug {
    /// written by the monitor: 1 while the processor is halted
    pub halted: u32,
    /// written by the debugger: 1: go on, with the registers that are here; the monitor writes 0
    pub go: u32,
    /// RISC-V's dpc: the instruction that is next
    pub pc: u32,
    /// RISC-V's dcsr: why it halted; whether it is to halt after one instruction, and at EBREAK
    pub dcsr: u32,
    /// register x1
    pub ra: u32,
    /// register x2
    pub sp: u32,
    /// register x3
    pub gp: u32,
    /// register x4
    pub tp: u32,
    /// register x5
    pub t0: u32,
    /// register x6
    pub t1: u32,
    /// register x7
    pub t2: u32,
    /// register x8
    pub s0: u32,
    /// register x9
    pub s1: u32,
    /// register x10
    pub a0: u32,
    /// register x11
    pub a1: u32,
    /// register x12
    pub a2: u32,
    /// register x13
    pub a3: u32,
    /// register x14
    pub a4: u32,
    /// register x15
    pub a5: u32,
    /// register x16
    pub a6: u32,
    /// register x17
    pub a7: u32,
    /// register x18
    pub s2: u32,
    /// register x19
    pub s3: u32,
    /// register x20
    pub s4: u32,
    /// register x21
    pub s5: u32,
    /// register x22
    pub s6: u32,
    /// register x23
    pub s7: u32,
    /// register x24
    pub s8: u32,
    /// register x25
    pub s9: u32,
    /// register x26
    pub s10: u32,
    /// register x27
    pub s11: u32,
    /// register x28
    pub t3: u32,
    /// register x29
    pub t4: u32,
    /// register x30
    pub t5: u32,
    /// register x31
    pub t6: u32,
}

impl ProcDebug {
    /// Bytes of the record.
    pub const SIZE: usize = 160;
    /// Where halted begins.
    pub const HALTED_AT: usize = 0;
    /// Where go begins.
    pub const GO_AT: usize = 4;
    /// Where pc begins.
    pub const PC_AT: usize = 8;
    /// Where dcsr begins.
    pub const DCSR_AT: usize = 12;
    /// Where ra begins.
    pub const RA_AT: usize = 20;
    /// Where sp begins.
    pub const SP_AT: usize = 24;
    /// Where gp begins.
    pub const GP_AT: usize = 28;
    /// Where tp begins.
    pub const TP_AT: usize = 32;
    /// Where t0 begins.
    pub const T0_AT: usize = 36;
    /// Where t1 begins.
    pub const T1_AT: usize = 40;
    /// Where t2 begins.
    pub const T2_AT: usize = 44;
    /// Where s0 begins.
    pub const S0_AT: usize = 48;
    /// Where s1 begins.
    pub const S1_AT: usize = 52;
    /// Where a0 begins.
    pub const A0_AT: usize = 56;
    /// Where a1 begins.
    pub const A1_AT: usize = 60;
    /// Where a2 begins.
    pub const A2_AT: usize = 64;
    /// Where a3 begins.
    pub const A3_AT: usize = 68;
    /// Where a4 begins.
    pub const A4_AT: usize = 72;
    /// Where a5 begins.
    pub const A5_AT: usize = 76;
    /// Where a6 begins.
    pub const A6_AT: usize = 80;
    /// Where a7 begins.
    pub const A7_AT: usize = 84;
    /// Where s2 begins.
    pub const S2_AT: usize = 88;
    /// Where s3 begins.
    pub const S3_AT: usize = 92;
    /// Where s4 begins.
    pub const S4_AT: usize = 96;
    /// Where s5 begins.
    pub const S5_AT: usize = 100;
    /// Where s6 begins.
    pub const S6_AT: usize = 104;
    /// Where s7 begins.
    pub const S7_AT: usize = 108;
    /// Where s8 begins.
    pub const S8_AT: usize = 112;
    /// Where s9 begins.
    pub const S9_AT: usize = 116;
    /// Where s10 begins.
    pub const S10_AT: usize = 120;
    /// Where s11 begins.
    pub const S11_AT: usize = 124;
    /// Where t3 begins.
    pub const T3_AT: usize = 128;
    /// Where t4 begins.
    pub const T4_AT: usize = 132;
    /// Where t5 begins.
    pub const T5_AT: usize = 136;
    /// Where t6 begins.
    pub const T6_AT: usize = 140;

    /// The record as it lies in memory.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut b = [0; Self::SIZE];
        b[0..4].copy_from_slice(&self.halted.to_le_bytes());
        b[4..8].copy_from_slice(&self.go.to_le_bytes());
        b[8..12].copy_from_slice(&self.pc.to_le_bytes());
        b[12..16].copy_from_slice(&self.dcsr.to_le_bytes());
        b[20..24].copy_from_slice(&self.ra.to_le_bytes());
        b[24..28].copy_from_slice(&self.sp.to_le_bytes());
        b[28..32].copy_from_slice(&self.gp.to_le_bytes());
        b[32..36].copy_from_slice(&self.tp.to_le_bytes());
        b[36..40].copy_from_slice(&self.t0.to_le_bytes());
        b[40..44].copy_from_slice(&self.t1.to_le_bytes());
        b[44..48].copy_from_slice(&self.t2.to_le_bytes());
        b[48..52].copy_from_slice(&self.s0.to_le_bytes());
        b[52..56].copy_from_slice(&self.s1.to_le_bytes());
        b[56..60].copy_from_slice(&self.a0.to_le_bytes());
        b[60..64].copy_from_slice(&self.a1.to_le_bytes());
        b[64..68].copy_from_slice(&self.a2.to_le_bytes());
        b[68..72].copy_from_slice(&self.a3.to_le_bytes());
        b[72..76].copy_from_slice(&self.a4.to_le_bytes());
        b[76..80].copy_from_slice(&self.a5.to_le_bytes());
        b[80..84].copy_from_slice(&self.a6.to_le_bytes());
        b[84..88].copy_from_slice(&self.a7.to_le_bytes());
        b[88..92].copy_from_slice(&self.s2.to_le_bytes());
        b[92..96].copy_from_slice(&self.s3.to_le_bytes());
        b[96..100].copy_from_slice(&self.s4.to_le_bytes());
        b[100..104].copy_from_slice(&self.s5.to_le_bytes());
        b[104..108].copy_from_slice(&self.s6.to_le_bytes());
        b[108..112].copy_from_slice(&self.s7.to_le_bytes());
        b[112..116].copy_from_slice(&self.s8.to_le_bytes());
        b[116..120].copy_from_slice(&self.s9.to_le_bytes());
        b[120..124].copy_from_slice(&self.s10.to_le_bytes());
        b[124..128].copy_from_slice(&self.s11.to_le_bytes());
        b[128..132].copy_from_slice(&self.t3.to_le_bytes());
        b[132..136].copy_from_slice(&self.t4.to_le_bytes());
        b[136..140].copy_from_slice(&self.t5.to_le_bytes());
        b[140..144].copy_from_slice(&self.t6.to_le_bytes());
        b
    }

    /// Reads it back; reserved bytes are ignored.
    #[inline]
    pub fn from_bytes(b: &[u8; Self::SIZE]) -> Self {
        Self {
            halted: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            go: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
            pc: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            dcsr: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
            ra: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            sp: u32::from_le_bytes([b[24], b[25], b[26], b[27]]),
            gp: u32::from_le_bytes([b[28], b[29], b[30], b[31]]),
            tp: u32::from_le_bytes([b[32], b[33], b[34], b[35]]),
            t0: u32::from_le_bytes([b[36], b[37], b[38], b[39]]),
            t1: u32::from_le_bytes([b[40], b[41], b[42], b[43]]),
            t2: u32::from_le_bytes([b[44], b[45], b[46], b[47]]),
            s0: u32::from_le_bytes([b[48], b[49], b[50], b[51]]),
            s1: u32::from_le_bytes([b[52], b[53], b[54], b[55]]),
            a0: u32::from_le_bytes([b[56], b[57], b[58], b[59]]),
            a1: u32::from_le_bytes([b[60], b[61], b[62], b[63]]),
            a2: u32::from_le_bytes([b[64], b[65], b[66], b[67]]),
            a3: u32::from_le_bytes([b[68], b[69], b[70], b[71]]),
            a4: u32::from_le_bytes([b[72], b[73], b[74], b[75]]),
            a5: u32::from_le_bytes([b[76], b[77], b[78], b[79]]),
            a6: u32::from_le_bytes([b[80], b[81], b[82], b[83]]),
            a7: u32::from_le_bytes([b[84], b[85], b[86], b[87]]),
            s2: u32::from_le_bytes([b[88], b[89], b[90], b[91]]),
            s3: u32::from_le_bytes([b[92], b[93], b[94], b[95]]),
            s4: u32::from_le_bytes([b[96], b[97], b[98], b[99]]),
            s5: u32::from_le_bytes([b[100], b[101], b[102], b[103]]),
            s6: u32::from_le_bytes([b[104], b[105], b[106], b[107]]),
            s7: u32::from_le_bytes([b[108], b[109], b[110], b[111]]),
            s8: u32::from_le_bytes([b[112], b[113], b[114], b[115]]),
            s9: u32::from_le_bytes([b[116], b[117], b[118], b[119]]),
            s10: u32::from_le_bytes([b[120], b[121], b[122], b[123]]),
            s11: u32::from_le_bytes([b[124], b[125], b[126], b[127]]),
            t3: u32::from_le_bytes([b[128], b[129], b[130], b[131]]),
            t4: u32::from_le_bytes([b[132], b[133], b[134], b[135]]),
            t5: u32::from_le_bytes([b[136], b[137], b[138], b[139]]),
            t6: u32::from_le_bytes([b[140], b[141], b[142], b[143]]),
        }
    }
}
