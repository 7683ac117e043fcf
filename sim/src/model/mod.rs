//! The functional model of the card: all of `docs/card.md` in plain Rust, one file per layer.
//!
//! It is the reference that the RTL is compared with, and a fast card to run the software stack on.
//! What it does is exact; when it does it is only roughly like the RTL: a frame takes the time of its
//! beats at 512 bits a cycle plus a fixed pipeline delay, and a job a memory latency.

pub mod acceptance;
pub mod beyond;
pub mod capture;
pub mod carried;
pub mod checks;
pub mod counters;
pub mod ethernet;
pub mod islands;
pub mod mpa;
pub mod raw_ring;
pub mod receive;
mod registers;
pub mod reports;
pub mod tables;
pub mod trace;
pub mod transmit;

use std::collections::VecDeque;

use weft_layout::{reg, trace_kind, Counter};

use self::capture::{Capture, Passing};
use self::counters::Counters;
use self::raw_ring::RawRing;
use self::receive::{accept, Accepted, Config, Receive};
use self::reports::ReportRing;
use self::tables::Tables;
use self::trace::{Trace, NO_FLOW};
use self::transmit::{Outgoing, Transmit, MAX_REPLAY};
use crate::card::{Card, Event, DOORBELLS};
use crate::iommu::{Group, HostMemory};

/// Bytes of a beat.
const BEAT: usize = 64;
/// Cycles from a frame's last beat to its effects.
const RECEIVE_DELAY: u64 = 40;
/// Cycles from a doorbell to the first beat of a frame: two memory reads of 400 ns.
const TRANSMIT_DELAY: u64 = 220;
/// The same from a pushed job: one read.
const PUSHED_DELAY: u64 = 120;
/// Cycles of a fence: what the RTL takes for a segment in its walk and the answer of host memory, roughly. Here all that
/// was checked is in memory already.
const FENCE_DELAY: u64 = 60;
/// Bytes of frames that may wait for a verdict.
const BUFFER: usize = 64 << 10;

/// Sizes of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flows, a power of two.
    pub flows: usize,
    /// STags, a power of two.
    pub stags: usize,
    /// Payload bytes of a replay job at most; 0: the card has none.
    pub replay: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            flows: 256,
            stags: 1024,
            replay: MAX_REPLAY,
        }
    }
}

enum Access {
    Read(u32),
    Write(u32, u32),
    /// Into the push window.
    Push(u32, Vec<u8>),
}

/// The card.
pub struct ModelCard {
    sizes: Sizes,
    accesses: VecDeque<Access>,
    /// Resets since power-on.
    resets: u32,
    state: State,
}

/// Everything a reset clears.
#[derive(Clone)]
struct State {
    now: u64,
    scratch: u32,
    ctrl: u32,
    errors: u32,
    mac: [u32; 2],
    table_data: [u32; 16],
    table_refused: bool,
    msix_count: u32,
    fence: u32,
    fence_at: Option<u64>,
    fence_done: u32,
    counter_high: u32,
    config: Config,
    tables: Tables,
    transmit: Transmit,
    reports: ReportRing,
    raw: RawRing,
    counters: Counters,
    trace: Trace,
    capture: Capture,
    incoming: Vec<(Vec<u8>, bool)>,
    arriving: VecDeque<(u64, Vec<u8>, bool)>,
    wire_busy: u64,
    stored: VecDeque<Accepted>,
    stored_bytes: usize,
    leaving: VecDeque<(u64, Outgoing)>,
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
            fence: 0,
            fence_at: None,
            fence_done: 0,
            counter_high: 0,
            config: Config {
                enable: false,
                mtu: reg::MTU_RESET,
                mac: [0; 6],
                promiscuous: false,
            },
            tables: Tables::new(sizes.flows, sizes.stags),
            transmit: Transmit::new(sizes.replay),
            reports: ReportRing::default(),
            raw: RawRing::default(),
            counters: Counters::default(),
            trace: Trace::default(),
            capture: Capture::default(),
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

    /// `which`: bit 0 a read, bit 1 a write. Which client's read it was the model does not tell.
    fn dma_error(&mut self, which: u8) {
        self.errors |= u32::from(which);
        self.trace.other(trace_kind::DMA_ERROR, which, 0, 0);
    }

    fn job_ready(&self) -> bool {
        self.ctrl & 1 != 0 && self.transmit.has_work() && self.reports.has_room_for_job()
    }

    fn store_ready(&self) -> bool {
        !self.stored.is_empty() && self.reports.has_room_for_frame()
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
            resets: 0,
            state: State::new(sizes),
        }
    }

    /// The accesses of frames and jobs in a cycle are one group: if one of them has to wait, none of it happened.
    fn data_path_as_a_whole(&mut self, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        match memory.begin() {
            Group::Free => self.state.data_path(memory, events),
            Group::Waiting => {}
            Group::Begun => {
                let (before, count) = (self.state.clone(), events.len());
                self.state.data_path(memory, events);
                if !memory.commit() {
                    self.state = before;
                    events.truncate(count);
                }
            }
        }
    }

    /// What is under way ends at once: the model has nothing half done between two cycles.
    fn core_reset(&mut self) {
        self.resets = self.resets.wrapping_add(1);
        let trace = std::mem::take(&mut self.state.trace);
        self.state = State {
            trace: trace.after_reset(),
            ..State::new(self.sizes)
        };
    }

    fn quiescent(&self) -> bool {
        let s = &self.state;
        s.incoming.is_empty()
            && s.arriving.is_empty()
            && !s.store_ready()
            && s.leaving.is_empty()
            && !s.job_ready()
            && !s.reports.has_work()
            && !s.capture.has_work()
            && s.fence_at.is_none()
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

    fn push(&mut self, offset: u32, bytes: &[u8]) {
        self.accesses
            .push_back(Access::Push(offset, bytes.to_vec()));
    }

    fn receive(&mut self, frame: Vec<u8>, bad: bool) {
        self.state.incoming.push((frame, bad));
    }

    fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        self.state.now = now;
        self.state.trace.now = now;
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
            Some(Access::Push(offset, bytes)) => self.write_push_window(offset, &bytes),
            None => {}
        }
        if !self.state.reports.has_room_for_frame() && !self.state.job_ready() {
            // Then neither frames nor jobs reach memory.
            self.state.data_path(memory, events);
        } else {
            self.data_path_as_a_whole(memory, events);
        }
        self.state.report(memory, events);
    }

    fn idle(&self) -> bool {
        self.accesses.is_empty() && self.quiescent()
    }

    fn reset(&mut self) {
        self.accesses.clear();
        self.core_reset();
    }
}

impl State {
    /// What one cycle does with frames and jobs.
    fn data_path(&mut self, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        let s = self;
        while s.arriving.front().is_some_and(|a| a.0 <= s.now) {
            let Some((at, frame, bad)) = s.arriving.pop_front() else {
                break;
            };
            let passing_clock = at - RECEIVE_DELAY;
            let passing = Passing {
                frame: &frame,
                sent: false,
                bad,
                clock: passing_clock,
            };
            s.capture.note(&passing, &mut s.counters);
            if let Some(mut accepted) =
                accept(frame, bad, &s.config, &s.raw, &mut s.counters, &mut s.trace)
            {
                accepted.arrival = (passing_clock / 8) as u32 & 0xff_ffff;
                let bytes = accepted.frame.len();
                if s.stored_bytes + bytes > BUFFER {
                    s.counters.count(Counter::RxDropBufferFull);
                    s.trace.dropped(Counter::RxDropBufferFull, bytes, NO_FLOW);
                } else {
                    s.trace.record(accepted.event());
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
                    trace: &mut s.trace,
                    memory,
                    write_error: false,
                };
                receive.handle(&accepted);
                if receive.write_error {
                    s.dma_error(2);
                }
            }
        }
        if s.job_ready() && s.leaving.len() < 2 && s.now >= s.jobs_at {
            let mut frames: VecDeque<Outgoing> = VecDeque::new();
            // Jobs that wait behind FPDUs that another may join are done with them.
            loop {
                let result = s.transmit.run(
                    &s.tables.tx,
                    memory,
                    &mut s.counters,
                    &mut s.reports,
                    &mut s.trace,
                    &mut frames,
                );
                let failed = result.is_err();
                if failed {
                    s.dma_error(1);
                }
                let open = frames.len() == 1 && frames.iter().all(Outgoing::is_open);
                if failed || !open || !s.job_ready() {
                    break;
                }
            }
            let mut at = s.leaving.back().map_or(s.now, |l| l.0);
            for frame in frames {
                if frame.replay.is_none() {
                    s.counters.count(Counter::TxFrames);
                    s.counters.add(Counter::TxBytes, frame.bytes.len());
                }
                at += frame.bytes.len().div_ceil(BEAT) as u64;
                s.leaving.push_back((at, frame));
            }
        }
        while s.leaving.front().is_some_and(|l| l.0 <= s.now) {
            let Some((at, frame)) = s.leaving.pop_front() else {
                break;
            };
            if let Some(replay) = frame.replay {
                s.stored_bytes += frame.bytes.len();
                s.stored.push_back(Accepted::replay(frame.bytes, replay));
                continue;
            }
            let passing = Passing {
                frame: &frame.bytes,
                sent: true,
                bad: false,
                clock: at,
            };
            s.capture.note(&passing, &mut s.counters);
            let looped = s.loopback();
            s.trace.record(frame.event(looped));
            if looped {
                s.arriving
                    .push_back((s.now + RECEIVE_DELAY, frame.bytes, false));
            } else {
                events.push(Event::Frame(frame.bytes));
            }
        }
    }

    /// Writes reports and captured frames, and asks for an interrupt when one is due.
    fn report(&mut self, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        let s = self;
        let turn = s.reports.write(
            s.now,
            s.transmit.done(),
            memory,
            &mut s.counters,
            &mut s.trace,
        );
        if turn.interrupt {
            s.msix_count += 1;
            s.counters.count(Counter::MsixRequests);
            events.push(Event::Interrupt(0));
        }
        if turn.failed {
            s.dma_error(2);
        }
        if s.fence_at.is_some_and(|at| at <= s.now) {
            s.fence_at = None;
            s.fence_done = s.fence;
            s.counters.count(Counter::Fences);
        }
        if s.capture.write(memory, &mut s.counters).is_err() {
            s.dma_error(2);
        }
    }
}
