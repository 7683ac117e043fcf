//! The card's data path alone, at full rate: receive from a prepared list of frames, transmit from
//! prepared jobs, host memory with its read latency. No driver, no engine.

use cpu_time::ProcessTime;
use rtl_sim::axi::Timing;
use serde::Serialize;
use thiserror::Error;
use weft_layout::{AttachRow, Counter, FlowRxRow, FlowTxRow, Job, JobKind, StagRow};

use crate::bench::{Bench, Ends, Region, Rings};
use crate::card::CYCLE_NS;
use crate::kind::CardKind;
use crate::link::LinkConfig;
use crate::model::{ethernet, mpa};
use crate::world::WorldError;

const FLOW: u16 = 1;
const PD: u32 = 1;
const STAG: u32 = 0x0000_0101;
const MEMORY: usize = 1 << 20;
const SEQ: u32 = 0x1000;
/// Bytes of frames on their way into the card: enough to keep it busy, and less than it can store.
/// (It stores 64 KiB, and 128 frames.)
pub(super) const IN_FLIGHT: usize = 54 << 10;
/// DDP and MPA around the payload of a tagged FPDU: length field, header, CRC.
pub(super) const FRAMING: usize = 2 + 14 + 4;

/// A rate in one direction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rate {
    /// TCP payload bytes of a segment.
    pub segment: usize,
    /// Cycles for a segment, in the middle half of the run.
    pub cycles: f64,
    /// Gb/s of TCP payload at 250 MHz.
    pub gbps: f64,
}

impl Rate {
    fn new(segment: usize, cycles: f64) -> Self {
        Self {
            segment,
            cycles,
            gbps: segment as f64 * 8.0 / (cycles * CYCLE_NS as f64),
        }
    }
}

/// What one run measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rates {
    /// Receive.
    pub rx: Option<Rate>,
    /// Transmit.
    pub tx: Option<Rate>,
    /// Cycles of simulation in a second of one core's time.
    pub simulated_per_second: f64,
}

/// What to load the card with.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// TCP payload of each segment, one FPDU.
    pub segment: usize,
    /// Segments to receive.
    pub rx: usize,
    /// Segments to send, in messages of `per_message`.
    pub tx: usize,
    /// Segments in a message.
    pub per_message: usize,
}

struct Setup {
    bench: Bench,
    memory: Region,
    ends: Ends,
}

impl Setup {
    fn new(kind: CardKind, seed: u64, memory: Timing) -> Result<Self, WorldError> {
        let rings = Rings {
            job: 12,
            report: 12,
            raw: 6,
            raw_slot: 14,
        };
        let mut bench = Bench::new(
            kind.build_with(seed, 0, memory),
            seed,
            LinkConfig {
                gbps: 1_000_000,
                ..LinkConfig::default()
            },
            rings,
        )?;
        let memory = bench.region(MEMORY);
        let ends = Ends::of(FLOW);
        let stag = StagRow {
            valid: StagRow::VALID,
            key: 1,
            access: StagRow::LOCAL_WRITE
                | StagRow::REMOTE_READ
                | StagRow::REMOTE_WRITE
                | StagRow::READ_SINK,
            pd: PD,
            base: 0,
            length: MEMORY as u64,
            iova: memory.iova,
        };
        bench.stag(STAG, &stag)?;
        let rx = FlowRxRow {
            flags: FlowRxRow::CRC | FlowRxRow::CARRY | FlowRxRow::VALID,
            rq_log2: 2,
            pd: PD,
            marker_base: SEQ,
            rq_base: memory.iova,
            ..FlowRxRow::default()
        };
        let attach = AttachRow {
            attached: AttachRow::ATTACHED,
            rcv_nxt: SEQ,
            msn: 1,
            mo: 0,
            ..AttachRow::default()
        };
        bench.flow(
            FLOW,
            &ends,
            &rx,
            &ends.tx(FlowTxRow::CRC | FlowTxRow::VALID, SEQ),
            &attach,
        )?;
        bench.settle(1_000_000)?;
        bench.sent();
        Ok(Self {
            bench,
            memory,
            ends,
        })
    }

    /// The frame with the `number`th Write of `payload` bytes.
    fn frame(&self, number: usize, payload: usize) -> Vec<u8> {
        let to = (number * payload % (MEMORY - payload)) as u64;
        let mut ulpdu = vec![0xc1, 0x40];
        ulpdu.extend_from_slice(&STAG.to_be_bytes());
        ulpdu.extend_from_slice(&to.to_be_bytes());
        ulpdu.resize(14 + payload, number as u8);
        let fpdu = mpa::frame(0, None, true, &ulpdu);
        let seq = SEQ.wrapping_add((number * fpdu.len()) as u32);
        ethernet::segment(
            &self.ends.peer_tx(FlowTxRow::VALID, 0),
            &Job::default(),
            seq,
            0x10,
            0,
            &fpdu,
        )
    }

    fn post(&mut self, load: &Load) {
        let payload = load.segment - FRAMING;
        let message = payload * load.per_message;
        for number in 0..load.tx / load.per_message {
            let at = number * message % (MEMORY - message);
            let job = Job {
                kind: JobKind::Message.raw(),
                flags: Job::TAGGED | Job::LAST,
                flow: FLOW,
                seq: SEQ.wrapping_add((number * load.per_message * load.segment) as u32),
                tcp_flags: 0x18,
                sge_count: 1,
                length: message as u32,
                fpdu_payload: payload as u16,
                rdmap_control: 0x40,
                stag_or_qn: STAG,
                to_or_mo: at as u64,
                sge0_iova: self.memory.iova + at as u64,
                sge0_length: message as u32,
                ..Job::default()
            };
            self.bench.post(&job, &[]);
        }
        self.bench.ring_jobs();
    }
}

/// When a direction passed the first and the last quarter of its work.
#[derive(Default)]
pub(super) struct Marks {
    total: usize,
    pub(super) done: usize,
    first: Option<(usize, u64)>,
    last: Option<(usize, u64)>,
}

impl Marks {
    pub(super) fn of(total: usize) -> Self {
        Self {
            total,
            ..Self::default()
        }
    }

    pub(super) fn pass(&mut self, now: u64) {
        if self.done >= self.total / 4 {
            self.first.get_or_insert((self.done, now));
        }
        if self.done >= self.total - self.total / 4 {
            self.last.get_or_insert((self.done, now));
        }
    }

    /// Cycles for each in the middle half of the run.
    pub(super) fn cycles(&self) -> Option<f64> {
        let ((a, from), (b, to)) = (self.first?, self.last?);
        Some(((to - from) / CYCLE_NS) as f64 / (b - a).max(1) as f64)
    }

    fn rate(&self, segment: usize) -> Option<Rate> {
        Some(Rate::new(segment, self.cycles()?))
    }
}

/// Why a measurement is none.
#[derive(Debug, Error)]
pub enum DataPathError {
    /// The card failed.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Not every segment was placed, or not every one was sent.
    #[error("of {rx} segments {placed} were placed, of {tx} segments {sent} were sent")]
    Incomplete {
        /// Segments given to the card.
        rx: usize,
        /// Segments placed whole.
        placed: u32,
        /// Segments it should send.
        tx: usize,
        /// Segments sent.
        sent: usize,
    },
}

/// Runs a load and measures its middle half.
pub fn run(kind: CardKind, seed: u64, load: &Load, memory: Timing) -> Result<Rates, DataPathError> {
    let mut s = Setup::new(kind, seed, memory)?;
    let payload = load.segment - FRAMING;
    let window = (IN_FLIGHT / (load.segment + 54)).min(100);
    let (mut rx, mut tx) = (Marks::of(load.rx), Marks::of(load.tx));
    let mut fed = 0;
    let mut silent = 0;
    if load.tx > 0 {
        s.post(load);
    }
    let clock = ProcessTime::now();
    let before = s.bench.world.work(0).0;
    while (rx.done < rx.total || tx.done < tx.total) && silent < 10_000 {
        while fed < load.rx && fed - rx.done < window {
            let frame = s.frame(fed, payload);
            s.bench.world.deliver(0, frame, false);
            fed += 1;
        }
        s.bench.world.run_cycles(4)?;
        let (received, sent) = (rx.done, tx.done);
        rx.done += s
            .bench
            .reports()
            .iter()
            .filter(|r| r.0[0] == weft_layout::report_kind::SEGMENT)
            .count();
        tx.done += s.bench.sent().len();
        rx.pass(s.bench.world.now());
        tx.pass(s.bench.world.now());
        silent = if (received, sent) == (rx.done, tx.done) {
            silent + 1
        } else {
            0
        };
    }
    let cycles = s.bench.world.work(0).0 - before;
    let simulated_per_second = cycles as f64 / clock.elapsed().as_secs_f64();
    let placed = s.bench.counter(Counter::RxSegmentsPlaced)?;
    if placed as usize != load.rx || tx.done != load.tx {
        return Err(DataPathError::Incomplete {
            rx: load.rx,
            placed,
            tx: load.tx,
            sent: tx.done,
        });
    }
    Ok(Rates {
        rx: (load.rx > 0).then(|| rx.rate(load.segment)).flatten(),
        tx: (load.tx > 0).then(|| tx.rate(load.segment)).flatten(),
        simulated_per_second,
    })
}

/// Cycles from a frame's last beat to the last byte of its 64-byte Write in host memory.
pub fn wire_to_memory(
    kind: CardKind,
    seed: u64,
    memory: Timing,
) -> Result<Option<u64>, WorldError> {
    let mut s = Setup::new(kind, seed, memory)?;
    let frame = s.frame(1, 64);
    let beats = frame.len().div_ceil(kind.lanes()) as u64;
    // The frame is number 1 by its place in memory; by its sequence number it has to be the first.
    let mut first = frame;
    first[38..42].copy_from_slice(&SEQ.to_be_bytes());
    ethernet::fill_checksums(&mut first);
    s.bench.world.deliver(0, first, false);
    for cycle in 1..10_000 {
        s.bench.world.run_cycles(1)?;
        let there = s
            .memory
            .read(64, 64)
            .is_ok_and(|b| b.iter().all(|b| *b == 1));
        if there {
            return Ok(Some(cycle - beats));
        }
    }
    Ok(None)
}
