//! The functional model of the card: all of `docs/card.md` in plain Rust, one file per layer.
//!
//! It is the reference that the RTL is compared with, and a fast card to run the software stack on.
//! What it does is exact; when it does it is only roughly like the RTL: a frame takes the time of its
//! beats at 512 bits a cycle plus a fixed pipeline delay, and a job a memory latency.

pub mod checks;
pub mod counters;
pub mod ethernet;
pub mod mpa;
pub mod receive;
pub mod reports;
pub mod tables;
pub mod transmit;

use std::collections::VecDeque;

use weft_layout::{doorbell, reg, Counter, INTERFACE_VERSION, NUM_COUNTERS};

use self::counters::Counters;
use self::receive::{accept, Accepted, Config, RawRing, Receive};
use self::reports::ReportRing;
use self::tables::Tables;
use self::transmit::Transmit;
use crate::card::{Card, Event, DOORBELLS};
use crate::iommu::HostMemory;

/// Bytes of a beat.
const BEAT: usize = 64;
/// Cycles from a frame's last beat to its effects.
const RECEIVE_DELAY: u64 = 40;
/// Cycles from a doorbell to the first beat of a frame: two memory reads of 400 ns.
const TRANSMIT_DELAY: u64 = 220;
/// Bytes of frames that may wait for a verdict.
const BUFFER: usize = 64 << 10;

/// Sizes of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flows, a power of two.
    pub flows: usize,
    /// STags, a power of two.
    pub stags: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            flows: 256,
            stags: 1024,
        }
    }
}

enum Access {
    Read(u32),
    Write(u32, u32),
}

/// The card.
pub struct ModelCard {
    sizes: Sizes,
    accesses: VecDeque<Access>,
    state: State,
}

/// Everything a reset clears.
struct State {
    now: u64,
    scratch: u32,
    ctrl: u32,
    errors: u32,
    mac: [u32; 2],
    table_data: [u32; 16],
    table_refused: bool,
    msix_count: u32,
    config: Config,
    tables: Tables,
    transmit: Transmit,
    reports: ReportRing,
    raw: RawRing,
    counters: Counters,
    incoming: Vec<(Vec<u8>, bool)>,
    arriving: VecDeque<(u64, Vec<u8>, bool)>,
    wire_busy: u64,
    stored: VecDeque<Accepted>,
    stored_bytes: usize,
    leaving: VecDeque<(u64, Vec<u8>)>,
    jobs_at: u64,
}

impl State {
    fn new(sizes: Sizes) -> Self {
        Self {
            now: 0,
            scratch: 0,
            ctrl: 0,
            errors: 0,
            mac: [0; 2],
            table_data: [0; 16],
            table_refused: false,
            msix_count: 0,
            config: Config {
                enable: false,
                mtu: reg::MTU_RESET,
                mac: [0; 6],
                promiscuous: false,
            },
            tables: Tables::new(sizes.flows, sizes.stags),
            transmit: Transmit::default(),
            reports: ReportRing::default(),
            raw: RawRing::default(),
            counters: Counters::default(),
            incoming: Vec::new(),
            arriving: VecDeque::new(),
            wire_busy: 0,
            stored: VecDeque::new(),
            stored_bytes: 0,
            leaving: VecDeque::new(),
            jobs_at: 0,
        }
    }

    fn loopback(&self) -> bool {
        self.ctrl & 4 != 0
    }

    fn job_ready(&self) -> bool {
        self.ctrl & 1 != 0 && self.transmit.has_work() && !self.reports.stalled()
    }

    fn store_ready(&self) -> bool {
        !self.stored.is_empty() && !self.reports.stalled()
    }
}

impl ModelCard {
    /// A card after reset.
    pub fn new(sizes: Sizes) -> Self {
        assert!(
            sizes.flows.is_power_of_two() && sizes.stags.is_power_of_two(),
            "sizes are powers of two"
        );
        Self {
            sizes,
            accesses: VecDeque::new(),
            state: State::new(sizes),
        }
    }

    fn register(&self, address: u32) -> u32 {
        let s = &self.state;
        let (flows, stags) = (self.sizes.flows.ilog2(), self.sizes.stags.ilog2());
        match address {
            reg::ID => reg::ID_RESET,
            reg::VERSION => INTERFACE_VERSION,
            reg::CAPS => BEAT as u32 | flows << 8 | stags << 16 | 1 << 24,
            reg::SCRATCH => s.scratch,
            reg::CTRL => s.ctrl,
            reg::STATUS => u32::from(self.quiescent()) | s.errors << 1,
            reg::MTU => s.config.mtu,
            reg::MAC_LO => s.mac[0],
            reg::MAC_HI => s.mac[1],
            reg::JOB_BASE_LO => s.transmit.base as u32,
            reg::JOB_BASE_HI => (s.transmit.base >> 32) as u32,
            reg::JOB_LOG2 => s.transmit.log2().into(),
            reg::JOB_DONE => s.transmit.done(),
            reg::REPORT_BASE_LO => s.reports.base as u32,
            reg::REPORT_BASE_HI => (s.reports.base >> 32) as u32,
            reg::REPORT_LOG2 => s.reports.log2().into(),
            reg::REPORT_TAIL => s.reports.tail(),
            reg::RAW_BASE_LO => s.raw.base as u32,
            reg::RAW_BASE_HI => (s.raw.base >> 32) as u32,
            reg::RAW_LOG2 => s.raw.log2(),
            reg::RAW_TAIL => s.raw.tail(),
            reg::MSIX_COUNT => s.msix_count,
            reg::TABLE_CMD => s.table_refused.into(),
            _ if (reg::TABLE_DATA..reg::TABLE_DATA + 64).contains(&address) => {
                s.table_data[(address - reg::TABLE_DATA) as usize / 4]
            }
            _ if (reg::COUNTERS..reg::COUNTERS + 4 * NUM_COUNTERS as u32).contains(&address) => {
                s.counters.word((address - reg::COUNTERS) as usize / 4)
            }
            _ => 0,
        }
    }

    fn write_register(&mut self, address: u32, value: u32) {
        let s = &mut self.state;
        let low = |base: u64| base & !0xffff_ffff | u64::from(value);
        let high = |base: u64| base & 0xffff_ffff | u64::from(value) << 32;
        match address {
            reg::SCRATCH => s.scratch = value,
            reg::CTRL => {
                s.ctrl = value & 7;
                s.errors = 0;
                s.config.enable = value & 2 != 0;
            }
            reg::MTU => s.config.mtu = value,
            reg::MAC_LO => {
                s.mac[0] = value;
                s.config.mac[..4].copy_from_slice(&value.to_le_bytes());
            }
            reg::MAC_HI => {
                s.mac[1] = value;
                s.config.mac[4..].copy_from_slice(&value.to_le_bytes()[..2]);
                s.config.promiscuous = value >> 31 != 0;
            }
            reg::JOB_BASE_LO => s.transmit.base = low(s.transmit.base),
            reg::JOB_BASE_HI => s.transmit.base = high(s.transmit.base),
            reg::JOB_LOG2 => s.transmit.set_log2(value as u8),
            reg::REPORT_BASE_LO => s.reports.base = low(s.reports.base),
            reg::REPORT_BASE_HI => s.reports.base = high(s.reports.base),
            reg::REPORT_LOG2 => s.reports.set_log2(value as u8),
            reg::RAW_BASE_LO => s.raw.base = low(s.raw.base),
            reg::RAW_BASE_HI => s.raw.base = high(s.raw.base),
            reg::RAW_LOG2 => s.raw.set_log2(value),
            reg::TABLE_CMD => self.table_command(value),
            _ if (reg::TABLE_DATA..reg::TABLE_DATA + 64).contains(&address) => {
                s.table_data[(address - reg::TABLE_DATA) as usize / 4] = value;
            }
            _ => {}
        }
    }

    fn table_command(&mut self, value: u32) {
        let s = &mut self.state;
        let (number, index) = ((value >> 24 & 15) as u8, (value & 0xff_ffff) as usize);
        s.table_refused = match value >> 28 {
            1 => {
                let mut row = [0; 64];
                for (bytes, word) in row.chunks_exact_mut(4).zip(s.table_data) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                !s.tables.write(number, index, &row, &mut s.counters)
            }
            2 => match s.tables.read(number, index) {
                Some(row) => {
                    for (word, bytes) in s.table_data.iter_mut().zip(row.chunks_exact(4)) {
                        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    }
                    false
                }
                None => true,
            },
            _ => true,
        };
    }

    fn write_doorbell(&mut self, offset: u32, value: u32) {
        let s = &mut self.state;
        match offset {
            doorbell::JOB_TAIL => {
                if !s.transmit.has_work() {
                    s.jobs_at = s.jobs_at.max(s.now + TRANSMIT_DELAY);
                }
                s.transmit.set_tail(value);
            }
            doorbell::REPORT_HEAD => s.reports.set_head(value),
            doorbell::RAW_HEAD => s.raw.set_head(value),
            doorbell::REPORT_ARM => s.reports.arm(value),
            _ if offset >= doorbell::RQ_TAIL => {
                if let Some(tail) = s
                    .tables
                    .rq_tail
                    .get_mut((offset - doorbell::RQ_TAIL) as usize / 4)
                {
                    *tail = value;
                }
            }
            _ => {}
        }
    }

    fn quiescent(&self) -> bool {
        let s = &self.state;
        s.incoming.is_empty()
            && s.arriving.is_empty()
            && !s.store_ready()
            && s.leaving.is_empty()
            && !s.job_ready()
            && !s.reports.has_work()
    }
}

impl Card for ModelCard {
    fn name(&self) -> String {
        "functional model".into()
    }

    fn write(&mut self, address: u32, value: u32) {
        self.accesses.push_back(Access::Write(address, value));
    }

    fn read(&mut self, address: u32) {
        self.accesses.push_back(Access::Read(address));
    }

    fn receive(&mut self, frame: Vec<u8>, bad: bool) {
        self.state.incoming.push((frame, bad));
    }

    fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        self.state.now = now;
        for (frame, bad) in std::mem::take(&mut self.state.incoming) {
            let s = &mut self.state;
            if s.loopback() {
                s.counters.count(Counter::RxDropLoopback);
                continue;
            }
            s.wire_busy = s.wire_busy.max(now) + frame.len().div_ceil(BEAT) as u64;
            s.arriving
                .push_back((s.wire_busy + RECEIVE_DELAY, frame, bad));
        }
        match self.accesses.pop_front() {
            Some(Access::Read(address)) => events.push(Event::Read(if address < DOORBELLS {
                self.register(address)
            } else {
                0
            })),
            Some(Access::Write(address, value)) if address < DOORBELLS => {
                self.write_register(address, value)
            }
            Some(Access::Write(address, value)) => self.write_doorbell(address - DOORBELLS, value),
            None => {}
        }
        let s = &mut self.state;
        while s.arriving.front().is_some_and(|a| a.0 <= s.now) {
            let Some((_, frame, bad)) = s.arriving.pop_front() else {
                break;
            };
            if let Some(accepted) = accept(frame, bad, &s.config, &s.raw, &mut s.counters) {
                if s.stored_bytes + accepted.frame.len() > BUFFER {
                    s.counters.count(Counter::RxDropBufferFull);
                } else {
                    s.stored_bytes += accepted.frame.len();
                    s.stored.push_back(accepted);
                }
            }
        }
        if s.store_ready() {
            if let Some(accepted) = s.stored.pop_front() {
                s.stored_bytes -= accepted.frame.len();
                let mut receive = Receive {
                    tables: &mut s.tables,
                    raw: &mut s.raw,
                    reports: &mut s.reports,
                    counters: &mut s.counters,
                    memory,
                    write_error: false,
                };
                receive.handle(&accepted);
                s.errors |= u32::from(receive.write_error) << 1;
            }
        }
        if s.job_ready() && s.leaving.len() < 2 && s.now >= s.jobs_at {
            let mut frames = VecDeque::new();
            let result = s.transmit.run(
                &s.tables.tx,
                memory,
                &mut s.counters,
                &mut s.reports,
                &mut frames,
            );
            s.errors |= u32::from(result.is_err());
            let mut at = s.leaving.back().map_or(s.now, |l| l.0);
            for frame in frames {
                at += frame.len().div_ceil(BEAT) as u64;
                s.leaving.push_back((at, frame));
            }
        }
        while s.leaving.front().is_some_and(|l| l.0 <= s.now) {
            let Some((_, frame)) = s.leaving.pop_front() else {
                break;
            };
            if s.loopback() {
                s.arriving.push_back((s.now + RECEIVE_DELAY, frame, false));
            } else {
                events.push(Event::Frame(frame));
            }
        }
        match s.reports.write(s.transmit.done(), memory, &mut s.counters) {
            Ok(true) => {
                s.msix_count += 1;
                s.counters.count(Counter::MsixRequests);
                events.push(Event::Interrupt(0));
            }
            Ok(false) => {}
            Err(_) => s.errors |= 2,
        }
    }

    fn idle(&self) -> bool {
        self.accesses.is_empty() && self.quiescent()
    }

    fn reset(&mut self) {
        self.accesses.clear();
        self.state = State::new(self.sizes);
    }
}
