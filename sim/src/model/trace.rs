//! The trace ring: what the card did, and when.

use weft_layout::{doorbell, reg, trace_kind, Counter, TableOperation, TraceEntry, TraceTable};
use weft_layout::{trace_drop, trace_verdict};

/// Entries.
pub const SIZE: usize = 1024;
/// No flow.
pub const NO_FLOW: u16 = u16::MAX;

/// The ring and its registers.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The clock, in cycles.
    pub now: u64,
    control: u32,
    head: u32,
    entries: Vec<TraceEntry>,
    time_hi: u32,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            now: 0,
            control: reg::TRACE_CTRL_RESET,
            head: 0,
            entries: vec![TraceEntry::default(); SIZE],
            time_hi: 0,
        }
    }
}

impl Trace {
    /// What a reset leaves: the registers are as at power-on, what was recorded stays.
    #[must_use]
    pub fn after_reset(self) -> Self {
        Self {
            head: self.head,
            entries: self.entries,
            ..Self::default()
        }
    }

    /// An event; its kind, what it is told by, and no time.
    pub fn record(&mut self, event: TraceEntry) {
        let control = reg::TraceCtrl(self.control);
        if control.freeze() || control.kinds() >> (event.kind & 15) & 1 == 0 {
            return;
        }
        self.entries[self.head as usize % SIZE] = TraceEntry {
            time_hi: (self.now >> 32) as u16,
            time_lo: self.now as u32,
            ..event
        };
        self.head = self.head.wrapping_add(1);
    }

    /// A frame that was dropped, for the reason that this counter counts.
    pub fn dropped(&mut self, reason: Counter, len: usize, flow: u16) {
        let detail = match reason {
            Counter::RxDropDisabled => trace_drop::DISABLED,
            Counter::RxDropFcs => trace_drop::FCS,
            Counter::RxDropRunt => trace_drop::RUNT,
            Counter::RxDropOversize => trace_drop::OVERSIZE,
            Counter::RxDropMac => trace_drop::MAC,
            Counter::RxDropIpHeader => trace_drop::IP_HEADER,
            Counter::RxDropIpChecksum => trace_drop::IP_CHECKSUM,
            Counter::RxDropTcpHeader => trace_drop::TCP_HEADER,
            Counter::RxDropTcpChecksum => trace_drop::TCP_CHECKSUM,
            Counter::RxDropBufferFull => trace_drop::BUFFER_FULL,
            Counter::RxDropRawReserved => trace_drop::RAW_RESERVED,
            Counter::RxDropNoRawCredit => trace_drop::RAW_CREDIT,
            Counter::RxDropNoReportRoom => trace_drop::REPORT_ROOM,
            _ => trace_drop::NO_RAW_SLOT,
        };
        self.record(TraceEntry {
            kind: trace_kind::FRAME_DROPPED,
            detail,
            flow,
            info: len.min(65535) as u16,
            ..TraceEntry::default()
        });
    }

    /// What became of a frame.
    pub fn verdict(&mut self, verdict: u8, flow: u16, seq: u32, len: usize) {
        debug_assert!(verdict <= trace_verdict::REPLAYED);
        self.record(TraceEntry {
            kind: trace_kind::VERDICT,
            detail: verdict,
            flow,
            value: seq,
            info: len as u16,
            ..TraceEntry::default()
        });
    }

    /// An event without a flow.
    pub fn other(&mut self, kind: u8, detail: u8, value: u32, info: u16) {
        self.record(TraceEntry {
            kind,
            detail,
            flow: NO_FLOW,
            value,
            info,
            ..TraceEntry::default()
        });
    }

    /// The host wrote a register.
    pub fn register(&mut self, offset: u32, value: u32) {
        let table = reg::TABLE_DATA..reg::TABLE_DATA + 4 * reg::TABLE_DATA_COUNT;
        if !table.contains(&offset) && offset != reg::TABLE_CMD && offset != reg::TRACE_CTRL {
            self.other(trace_kind::REGISTER, 0, value, offset as u16);
        }
    }

    /// The host rang a doorbell.
    pub fn doorbell(&mut self, offset: u32, value: u32) {
        let flow = match offset.checked_sub(doorbell::RQ_TAIL) {
            Some(at) => (at / 4) as u16,
            None => NO_FLOW,
        };
        self.record(TraceEntry {
            kind: trace_kind::DOORBELL,
            flow,
            value,
            info: offset as u16,
            ..TraceEntry::default()
        });
    }

    /// A table access is done.
    pub fn table(&mut self, command: u32, refused: bool) {
        let command = reg::TableCmd(command);
        let detail = TraceTable::default()
            .with_table(command.table())
            .with_write(command.operation() == Ok(TableOperation::Write))
            .with_refused(refused);
        self.other(trace_kind::TABLE, detail.0, command.index(), 0);
    }

    /// TRACE_CTRL was written.
    pub fn set_control(&mut self, value: u32) {
        let control = reg::TraceCtrl(value);
        self.control = value & (reg::TraceCtrl::KINDS_MASK | reg::TraceCtrl::FREEZE);
        if control.clear() {
            self.head = 0;
        }
    }

    /// One of the ring's registers; 0 for any other.
    pub fn read(&mut self, offset: u32) -> u32 {
        match offset {
            reg::TRACE_CTRL => self.control,
            reg::TRACE_HEAD => self.head,
            reg::TRACE_SIZE => SIZE as u32,
            reg::TIME_LO => {
                self.time_hi = (self.now >> 32) as u32;
                self.now as u32
            }
            reg::TIME_HI => self.time_hi,
            _ if (reg::TRACE..reg::TRACE + 4 * reg::TRACE_COUNT).contains(&offset) => {
                let word = (offset - reg::TRACE) as usize / 4;
                let entry = self.entries[word / 4 % SIZE].to_bytes();
                let at = word % 4 * 4;
                u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
            }
            _ => 0,
        }
    }
}
