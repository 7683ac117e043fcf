//! Everything at once: bursts of several flows' segments, jobs posted and tables written in their midst, tiny rings whose room
//! comes back late and in odd portions, memory that refuses, resets between. What is done at one time does not depend on what
//! comes first: tables change only where no frame and no job of the burst looks.

use std::collections::{HashMap, VecDeque};

use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_layout::reg::Status;
use weft_layout::{
    doorbell, job_kind, job_status, reg, report_kind, table, AttachRow, Counter, FlowKeyRow,
    FlowRxRow, FlowTxRow, FpduReport, FrameReport, Job, JobReport, PlacedReport, ReceiveElement,
    SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::iommu::Refusal;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::{mpa, tables::key_places, ModelCard, Sizes};
use weft_sim::seed::{generator, Stream};
use weft_sim::world::Stop;

use super::{comparable, hex, FlowState, Script, Step, FLOWS, MEMORY, PD, RQ_LOG2, WINDOW};

const BURSTS: usize = 4;
const GENERATIONS: usize = 2;
/// Jobs that the ring holds.
const JOB_LOG2: u8 = 2;
const REPORT_LOG2: u8 = 3;
/// Bytes of a burst: fewer than the card stores.
const BURST_BYTES: usize = 40_000;
/// STags of two banks: one is rewritten while the other is in use.
const BANK: u32 = 4;
/// Of memory that jobs read, what may be refused.
const BAD_SOURCE: std::ops::Range<u64> = 0x1_0000..0x1_4000;
/// Flows without key: their rows are nobody's.
const NOBODY: u32 = 40;

/// What the host does, one thing after the other. Nobody waits for what comes of it but at [`Op::Settle`].
#[derive(Clone, Debug)]
enum Op {
    Set(Step),
    Register(u32, u32),
    Doorbell(u32, u32),
    Row(u8, u32, [u8; 64]),
    Look(u8, u32),
    Element(u16, u32, ReceiveElement),
    Frame(Vec<u8>, bool),
    Job(Box<Job>, Vec<u8>),
    /// Cycles.
    Run(u64),
    /// Takes so many reports at most.
    Take(usize),
    /// Gives report room back in such portions.
    GiveBack(u32),
    Settle,
    /// Refuses a part of: memory, what jobs read, elements, raw slots. Without range: no more.
    Refuse(Place, std::ops::Range<u64>, Refusal),
    Reset,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Memory,
    Source,
    Queues,
    Raw,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    answers: Vec<String>,
    /// Reports and raw frames of each flow, and of none.
    received: Vec<Vec<String>>,
    failed_jobs: Vec<String>,
    frames: Vec<String>,
    positions: Vec<AttachRow>,
    registers: Vec<u32>,
}

struct Host {
    bench: Bench,
    memory: Region,
    source: Region,
    queues: Region,
    posted: u32,
    /// When and how much the host takes: what it likes.
    whim: ChaCha8Rng,
    outcome: Outcome,
    /// Good jobs that were told.
    done: Vec<u32>,
}

impl Host {
    fn new(card: Box<dyn Card>, seed: u64, rings: Rings) -> Self {
        let mut bench = Bench::new(card, seed, LinkConfig::default(), rings).unwrap();
        let [memory, source, queues] = [MEMORY, MEMORY, 4096].map(|len| bench.region(len));
        let mut rng = generator(seed, Stream::Application);
        for region in [&memory, &source] {
            let mut bytes = vec![0; MEMORY];
            rng.fill(&mut bytes[..]);
            region.write(0, &bytes).unwrap();
        }
        bench.sent();
        Self {
            bench,
            memory,
            source,
            queues,
            posted: 0,
            whim: rng,
            outcome: Outcome::default(),
            done: vec![],
        }
    }

    fn take(&mut self, most: usize) -> bool {
        let keep = self.whim.random_ratio(2, 3);
        self.bench.hold_raw(keep);
        let reports = self.bench.reports_as_written(most);
        let any = !reports.is_empty();
        self.outcome.received.resize(usize::from(FLOWS) + 1, vec![]);
        for (mut report, raw) in reports {
            report[56..59].fill(0);
            super::clear_arrival(&mut report);
            report[63] = 0;
            let segment = SegmentReport::from_bytes(&report);
            let (who, text) = match report[0] {
                report_kind::JOB => {
                    let job = JobReport::from_bytes(&report);
                    if job.status == job_status::DONE {
                        self.done.push(job.job);
                    } else {
                        self.outcome.failed_jobs.push(format!("{job:?}"));
                    }
                    continue;
                }
                report_kind::SEGMENT => (segment.flow, format!("{segment:?}")),
                report_kind::FPDU => {
                    let fpdu = FpduReport::from_bytes(&report);
                    (fpdu.flow, format!("{fpdu:?}"))
                }
                report_kind::PLACED => {
                    let placed = PlacedReport::from_bytes(&report);
                    (placed.flow, format!("{placed:?}"))
                }
                _ => (FLOWS, format!("{:?}", FrameReport::from_bytes(&report))),
            };
            let of = &mut self.outcome.received[usize::from(who.min(FLOWS))];
            of.push(text);
            let failed = segment.status & SegmentReport::RAW_FAILED != 0;
            of.extend(raw.filter(|_| !failed).map(|r| hex(&r)));
        }
        any
    }

    fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 20_000, "never still");
            let stop = self.bench.settle(800).unwrap();
            let most = self.whim.random_range(1..12);
            if !self.take(most) && stop == Stop::Quiet {
                break;
            }
        }
        self.bench.hold_raw(false);
        self.bench.some_reports(0);
        self.bench.settle(1_000_000).unwrap();
    }

    fn run(&mut self, ops: &[Op]) -> Outcome {
        for op in ops {
            self.op(op);
        }
        self.settle();
        for flow in 0..FLOWS {
            let row = self.look(table::ATTACH, flow.into());
            let position = AttachRow::from_bytes(&row);
            self.outcome.positions.push(position);
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        let status = self.bench.read(reg::STATUS).unwrap();
        outcome.registers = vec![
            // An element may be read ahead that nobody asks for.
            status & !(Status::QUIESCENT | Status::READ_ERROR),
            self.bench.read(reg::FENCE_DONE).unwrap(),
            self.bench.read(reg::JOB_DONE).unwrap(),
            self.bench.read(reg::RAW_TAIL).unwrap(),
        ];
        outcome.frames = self.bench.sent().iter().map(|s| hex(&s.frame)).collect();
        outcome
    }

    fn look(&mut self, number: u8, index: u32) -> [u8; 64] {
        let row = self.bench.read_table(number, index).unwrap();
        let row = row.unwrap_or([0xee; 64]);
        if number != table::ATTACH || row[0] & 1 != 0 {
            return row;
        }
        // Where a detached flow stands is the engine's business.
        AttachRow {
            attached: 0,
            rcv_nxt: 0,
            ts_recent: 0,
            ..AttachRow::from_bytes(&row)
        }
        .to_bytes()
    }

    fn op(&mut self, op: &Op) {
        let b = &mut self.bench;
        match op {
            Op::Set(Step::Stag(stag, row)) => b.stag(*stag, row).unwrap(),
            Op::Set(Step::Flow(flow, rx, tx, attach)) => {
                b.flow(*flow, &Ends::of(*flow), rx, tx, attach).unwrap();
            }
            Op::Set(step) => panic!("{step:?}"),
            Op::Register(register, value) => b.write(*register, *value),
            Op::Doorbell(doorbell, value) => b.ring(*doorbell, *value),
            Op::Row(number, index, row) => {
                let applied = b.write_table(*number, *index, row).unwrap();
                let text = format!("table {number}, row {index}: {applied}");
                self.outcome.answers.push(text);
            }
            Op::Look(number, index) => {
                let row = self.look(*number, *index);
                let text = format!("table {number}, row {index}: {}", hex(&row));
                self.outcome.answers.push(text);
            }
            Op::Element(flow, slot, e) => {
                let at = usize::from(*flow) * (64 << RQ_LOG2) + *slot as usize * 64;
                self.queues.write(at, &e.to_bytes()).unwrap();
            }
            Op::Frame(frame, bad) => b.world.deliver(0, frame.clone(), *bad),
            Op::Job(job, inline) => {
                for round in 0.. {
                    assert!(round < 20_000, "no room for a job");
                    let done = self.bench.read(reg::JOB_DONE).unwrap();
                    if self.posted.wrapping_sub(done) < 1 << JOB_LOG2 {
                        break;
                    }
                    self.bench.world.run_cycles(20).unwrap();
                    self.take(3);
                }
                self.bench.post(job, inline);
                self.posted = self.posted.wrapping_add(1);
                if self.whim.random_ratio(1, 2) {
                    self.bench.push_jobs();
                } else {
                    self.bench.ring_jobs();
                }
            }
            Op::Run(cycles) => b.world.run_cycles(*cycles).unwrap(),
            Op::Take(most) => {
                self.take(*most);
            }
            Op::GiveBack(portion) => b.give_back(*portion),
            Op::Settle => self.settle(),
            Op::Refuse(place, range, why) => {
                let base = match place {
                    Place::Memory => self.memory.iova,
                    Place::Source => self.source.iova,
                    Place::Queues => self.queues.iova,
                    Place::Raw => {
                        u64::from(b.read(reg::RAW_BASE_LO).unwrap())
                            | u64::from(b.read(reg::RAW_BASE_HI).unwrap()) << 32
                    }
                };
                let range = base + range.start..base + range.end;
                self.bench.world.iommu(0).refuse(range, *why);
            }
            Op::Reset => {
                b.write(reg::CTRL, 1 << 31 | 3);
                for round in 0.. {
                    assert!(round < 5000, "the reset does not end");
                    if b.read(reg::STATUS).unwrap() & Status::RESETTING == 0 {
                        break;
                    }
                }
                b.start_again().unwrap();
                self.posted = 0;
            }
        }
    }

    fn counters(&mut self) -> Vec<(&'static str, u32)> {
        let mut all = vec![];
        let mut joined = 0;
        for counter in Counter::ALL.into_iter().filter(|c| comparable(*c)) {
            let value = self.bench.counter(counter).unwrap();
            match counter {
                // Fences overtaken, and reports joined while there is no room, are a matter of timing.
                Counter::Fences => {}
                Counter::Reports | Counter::TxReportsJoined => joined += value,
                _ => all.push((counter.name(), value)),
            }
        }
        all.push(("reports written or joined", joined));
        all
    }
}

/// Where the boundaries are.
#[derive(Default)]
pub struct Edges {
    /// Regions of this burst.
    stags: Vec<(u32, StagRow)>,
    /// Bytes of the element in a slot of a flow's queue.
    rooms: HashMap<(u16, u32), u32>,
    /// Where the next FPDU begins.
    pub seq: u32,
}

impl Script {
    /// Now and then, a ULPDU that just meets a boundary, or just does not.
    pub fn at_an_edge(&mut self, flow: u16) -> Option<Vec<u8>> {
        let edges = self.edges.as_ref()?;
        let rng = &mut self.rng;
        if rng.random_ratio(1, 2) {
            return None;
        }
        let state = &mut self.flows[usize::from(flow)];
        let off = *[0u64, 0, 0, 0, 0, 1, u64::MAX].choose(rng).unwrap();
        match rng.random_range(0..4) {
            0 | 1 => {
                let (stag, row) = *edges.stags.choose(rng)?;
                let len = rng.random_range(1..row.length.clamp(2, 900));
                let begin = rng.random_ratio(1, 3);
                let to = if begin {
                    row.base
                } else {
                    row.base.wrapping_add(row.length).wrapping_sub(len)
                };
                let opcode = if row.access & StagRow::REMOTE_WRITE != 0 {
                    0
                } else {
                    2
                };
                let mut u = tagged(stag, to.wrapping_add(off), opcode);
                u.extend((0..len).map(|_| rng.random::<u8>()));
                Some(u)
            }
            2 => {
                let slot = state.msn.wrapping_sub(1) & ((1 << RQ_LOG2) - 1);
                let room = *edges.rooms.get(&(flow, slot))?;
                let len = room.checked_sub(state.mo)?.wrapping_add(off as u32);
                if len > 1500 {
                    return None;
                }
                let mut u = vec![0x41, 0x43];
                for word in [0, 0, state.msn, state.mo] {
                    u.extend(u32::to_be_bytes(word));
                }
                u.extend((0..len).map(|_| rng.random::<u8>()));
                state.msn = state.msn.wrapping_add(1);
                state.mo = 0;
                Some(u)
            }
            _ => {
                // Ends where a marker comes.
                let base = state.rx.markers().then_some(state.rx.marker_base)?;
                let mut u = tagged(0x101, (1 << 40) + rng.random_range(0..10_000), 0);
                u.resize(14 + rng.random_range(0..300), 0x5c);
                for _ in 0..140 {
                    let end = mpa::frame(edges.seq, Some(base), false, &u).len() as u32;
                    if edges.seq.wrapping_add(end).wrapping_sub(base) % 512 == 0 {
                        break;
                    }
                    u.extend([rng.random::<u8>(); 4]);
                }
                Some(u)
            }
        }
    }
}

/// The header of a tagged segment.
pub fn tagged(stag: u32, to: u64, opcode: u8) -> Vec<u8> {
    let mut u = vec![0xc1, 0x40 | opcode];
    u.extend(stag.to_be_bytes());
    u.extend(to.to_be_bytes());
    u
}

/// Decides what happens. It knows where the model stood when all was still.
struct Plan {
    script: Script,
    /// How many the card has.
    card_flows: u32,
    rings: Rings,
    reserve: u32,
    burst: u32,
    fence: u32,
    stags: HashMap<u32, StagRow>,
    keys: [bool; FLOWS as usize],
    tails: [u32; FLOWS as usize],
}

impl Plan {
    fn rings() -> Rings {
        Rings {
            job: JOB_LOG2,
            report: REPORT_LOG2,
            raw: 9,
            raw_slot: 14,
        }
    }

    /// After power-on or a reset.
    fn start(&mut self) -> Vec<Op> {
        self.script.flows.clear();
        let mut ops: Vec<Op> = self.script.start().into_iter().map(Op::Set).collect();
        self.keys = [true; FLOWS as usize];
        self.tails = [0; FLOWS as usize];
        self.stags.clear();
        self.burst = 0;
        self.script.edges = Some(Edges::default());
        let rng = &mut self.script.rng;
        self.reserve = rng.random_range(0..3);
        ops.push(Op::Register(reg::RAW_RESERVE, self.reserve));
        // What is refused stays so: nobody knows what the card has read ahead.
        let why = *[Refusal::NotMapped, Refusal::Broken].choose(rng).unwrap();
        let region = 20_000 * rng.random_range(1..4) + 1;
        let element = 64 * rng.random_range(0..u64::from(FLOWS) << RQ_LOG2);
        let slot = rng.random_range(0..1u64 << self.rings.raw) << self.rings.raw_slot;
        ops.push(match rng.random_range(0..6) {
            0 => Op::Refuse(Place::Memory, region..region + 20_000, why),
            1 => Op::Refuse(Place::Source, BAD_SOURCE, why),
            2 => Op::Refuse(Place::Queues, element..element + 64, why),
            3 => Op::Refuse(Place::Raw, slot..slot + (1 << self.rings.raw_slot), why),
            _ => Op::Refuse(Place::Memory, 0..0, why),
        });
        for number in [0, BANK] {
            ops.extend(self.bank(number));
        }
        ops
    }

    /// New rows for the STags of a bank.
    fn bank(&mut self, first: u32) -> Vec<Op> {
        let mut ops = vec![];
        for number in 0..BANK {
            let rng = &mut self.script.rng;
            let index = 8 + first + number;
            let stag = index << 8 | rng.random_range(0..4);
            let length: u64 = rng.random_range(1..3000);
            let row = StagRow {
                valid: u8::from(rng.random_ratio(9, 10)),
                key: stag as u8,
                access: *[15, 15, 4, 8, 1].choose(rng).unwrap(),
                pd: PD + u32::from(rng.random_ratio(1, 20)),
                base: match rng.random_range(0..3) {
                    0 => length.wrapping_neg(),
                    1 => 0,
                    _ => rng.random::<u64>() >> 1,
                },
                length,
                iova: self.script.memory
                    + 130_000
                    + u64::from(index) * 4000
                    + rng.random_range(0..64),
            };
            self.stags.insert(index, row);
            ops.push(Op::Row(table::STAG, index, row.to_bytes()));
        }
        ops
    }

    fn state(&mut self, flow: u16) -> &mut FlowState {
        &mut self.script.flows[usize::from(flow)]
    }

    /// Fills a flow's queue, without telling.
    fn elements(&mut self, flow: u16) -> Vec<Op> {
        let mut ops = vec![];
        loop {
            let rng = &mut self.script.rng;
            let state = &mut self.script.flows[usize::from(flow)];
            if (state.posted.wrapping_sub(state.msn.wrapping_sub(1)) as i32) >= 1 << RQ_LOG2 {
                return ops;
            }
            let slot = state.posted & ((1 << RQ_LOG2) - 1);
            state.posted = state.posted.wrapping_add(1);
            let base = (1u64 << 40) | (u64::from(slot) * 2000);
            let mut e = ReceiveElement {
                sge0_to: base,
                sge0_stag: 0x101,
                sge0_length: rng.random_range(0..1500),
                ..ReceiveElement::default()
            };
            match rng.random_range(0..8) {
                0 => (e.sge0_length, e.sge1_length) = (0, 100),
                1 => e.sge0_length = 3000,
                2 => (e.sge1_to, e.sge1_stag, e.sge1_length) = (base, 0x404, 10),
                3..6 => {
                    e.sge0_length = rng.random_range(1..100);
                    (e.sge1_to, e.sge1_stag, e.sge1_length) =
                        (base + 500, 0x101, rng.random_range(0..700));
                    (e.sge2_to, e.sge2_stag, e.sge2_length) =
                        (base + 64, 0x101, rng.random_range(0..500));
                    (e.sge3_to, e.sge3_stag, e.sge3_length) =
                        (base + 3, 0x101, rng.random_range(0..500));
                }
                _ => {}
            }
            let lengths = [e.sge0_length, e.sge1_length, e.sge2_length, e.sge3_length];
            let room = lengths.into_iter().take_while(|l| *l != 0).sum();
            let edges = self.script.edges.as_mut().unwrap();
            edges.rooms.insert((flow, slot), room);
            ops.push(Op::Element(flow, slot, e));
        }
    }

    /// What leads to a burst, and the burst.
    fn burst(&mut self, positions: &[AttachRow]) -> Vec<Op> {
        self.burst += 1;
        let used = BANK * (self.burst & 1);
        let edges = self.script.edges.as_mut().unwrap();
        let rows = self
            .stags
            .iter()
            .filter(|s| (8 + used..8 + used + BANK).contains(s.0));
        edges.stags = rows
            .map(|(i, row)| (i << 8 | u32::from(row.key), *row))
            .collect();
        edges.stags.sort_by_key(|s| s.0);
        let mut order: Vec<u16> = (0..FLOWS).collect();
        for i in 0..order.len() {
            let other = self.script.rng.random_range(i..order.len());
            order.swap(i, other);
        }
        let (active, idle) = order.split_at(self.script.rng.random_range(2..=usize::from(FLOWS)));
        let mut ops = vec![];
        let mut streams: Vec<VecDeque<Op>> = vec![];
        let (mut room, mut bytes) = ((1usize << self.rings.raw) - self.reserve as usize, 0);
        let mut longest = 0;
        for flow in active {
            ops.extend(self.ready(*flow, &positions[usize::from(*flow)]));
            let mut frames = VecDeque::new();
            let mut tries = 0;
            while tries < 6 {
                let before = self.state(*flow).clone();
                let more = self.script.frames(*flow);
                let size: usize = more.iter().map(|f| f.0.len()).sum();
                if more.len() > room || bytes + size > BURST_BYTES {
                    *self.state(*flow) = before;
                    tries += 1;
                    continue;
                }
                (room, bytes) = (room - more.len(), bytes + size);
                longest = more.iter().map(|f| f.0.len()).fold(longest, usize::max);
                frames.extend(more.into_iter().map(|f| Op::Frame(f.0, f.1)));
                if self.script.rng.random_ratio(1, 3) {
                    break;
                }
            }
            streams.push(frames);
            // Elements are there before the need, all of them or more and more; or there are too few.
            let (full, msn) = (self.state(*flow).posted, self.state(*flow).msn);
            let told = &mut self.tails[usize::from(*flow)];
            let rng = &mut self.script.rng;
            let left = full.wrapping_sub(*told);
            // The message that goes on has its element, too.
            let needed = msn.wrapping_sub(*told).min(left);
            let starve = rng.random_ratio(1, 10);
            let first = if starve {
                rng.random_range(0..=left)
            } else {
                needed
            };
            *told = told.wrapping_add(first);
            let bell = doorbell::RQ_TAIL + 4 * u32::from(*flow);
            ops.push(Op::Doorbell(bell, *told));
            if !starve {
                let mut bells = VecDeque::new();
                while *told != full {
                    *told = told.wrapping_add(1);
                    bells.push_back(Op::Doorbell(bell, *told));
                }
                streams.push(bells);
            }
        }
        for flow in idle {
            streams.push(self.idle(*flow, &positions[usize::from(*flow)]).into());
        }
        streams.push(self.bank(BANK - used).into());
        streams.push(self.nobody().into());
        // All jobs but those of one flow, whose row changes.
        let quiet = self.script.rng.random_range(0..FLOWS);
        let mut jobs = VecDeque::new();
        for _ in 0..self.script.rng.random_range(2..9) {
            let (mut job, inline) = self.script.job();
            self.clear_of_edges(&mut job);
            if job.flow != quiet || job.kind == job_kind::RAW_FRAME {
                jobs.push_back(Op::Job(Box::new(job), inline));
            }
        }
        streams.push(jobs);
        let send_seq = self.state(quiet).send_seq;
        let rng = &mut self.script.rng;
        let mut row = Ends::of(quiet).tx(FlowTxRow::VALID | rng.random_range(0..16), send_seq);
        row.tos = rng.random();
        let row = Op::Row(table::FLOW_TX, quiet.into(), row.to_bytes());
        streams.push([row, Op::Look(table::FLOW_TX, quiet.into())].into());
        let mtu = match rng.random_range(0..8) {
            0 | 1 => longest as u32,
            2 => longest as u32 - 1,
            _ => 9216,
        };
        ops.push(Op::Register(reg::MTU, mtu));
        ops.push(Op::Settle);
        let portion = rng.random_range(1..=1 << REPORT_LOG2);
        self.merge(streams, &mut ops);
        ops.push(Op::Settle);
        ops.insert(0, Op::GiveBack(portion));
        ops
    }

    /// A source that begins or ends within a beat of where reads are refused would be cut by the bus.
    fn clear_of_edges(&self, job: &mut Job) {
        let base = self.script.source;
        for (iova, length) in [
            (&mut job.sge0_iova, job.sge0_length),
            (&mut job.sge1_iova, job.sge1_length),
            (&mut job.sge2_iova, job.sge2_length),
            (&mut job.sge3_iova, job.sge3_length),
        ] {
            let near = |at: u64, edge: u64| at.abs_diff(base + edge) < 128;
            let ends = [*iova, iova.wrapping_add(length.into())];
            if ends
                .iter()
                .any(|e| near(*e, BAD_SOURCE.start) || near(*e, BAD_SOURCE.end))
            {
                *iova = base + 3;
            }
        }
    }

    /// A flow that is to have traffic: its key, its position, its elements.
    fn ready(&mut self, flow: u16, position: &AttachRow) -> Vec<Op> {
        let mut ops = vec![];
        if !self.keys[usize::from(flow)] && self.script.rng.random_ratio(3, 4) {
            ops.push(self.key(flow, true));
        }
        let state = &mut self.script.flows[usize::from(flow)];
        if position.attached & AttachRow::ATTACHED != 0 {
            (state.msn, state.mo) = (position.msn, position.mo);
        } else {
            state.mo = 0;
            if self.script.rng.random_ratio(1, 4) {
                state.rx.flags ^= FlowRxRow::CARRY;
                let row = state.rx.to_bytes();
                ops.push(Op::Row(table::FLOW_RX, flow.into(), row));
            }
            ops.push(self.attach(flow, position));
        }
        ops.extend(self.elements(flow));
        ops
    }

    /// Attaches a flow where the generator stands, mostly with the right count.
    fn attach(&mut self, flow: u16, position: &AttachRow) -> Op {
        let rng = &mut self.script.rng;
        let state = &self.script.flows[usize::from(flow)];
        let row = AttachRow {
            attached: [
                AttachRow::ATTACHED,
                AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
            ][usize::from(rng.random_range(0..2u8))],
            raw_seen: position
                .raw_seen
                .wrapping_sub(u32::from(rng.random_ratio(1, 10))),
            rcv_nxt: state.seq,
            msn: state.msn,
            mo: state.mo,
            ts_recent: state.ts,
            window: *[0, WINDOW].choose(rng).unwrap(),
        };
        Op::Row(table::ATTACH, flow.into(), row.to_bytes())
    }

    fn key(&mut self, flow: u16, valid: bool) -> Op {
        self.keys[usize::from(flow)] = valid;
        let ends = Ends::of(flow);
        let row = FlowKeyRow {
            valid: u8::from(valid) * FlowKeyRow::VALID,
            flow,
            remote_ip: ends.remote_ip,
            local_ip: ends.local_ip,
            remote_port: ends.remote_port.to_be_bytes(),
            local_port: ends.local_port.to_be_bytes(),
        };
        let key: Vec<u8> = [
            &row.remote_ip[..],
            &row.local_ip,
            &row.remote_port,
            &row.local_port,
        ]
        .concat();
        let places = key_places(&key.try_into().unwrap(), self.card_flows);
        let index = places[usize::from(flow & 3)];
        Op::Row(table::FLOW_KEY, index, row.to_bytes())
    }

    /// Whatever may be done to a flow that has no traffic.
    fn idle(&mut self, flow: u16, position: &AttachRow) -> Vec<Op> {
        let mut ops = vec![];
        let index = u32::from(flow);
        for _ in 0..self.script.rng.random_range(0..6) {
            match self.script.rng.random_range(0..6) {
                0 => {
                    let epoch = self.script.rng.random();
                    let state = self.state(flow);
                    state.rx.epoch = epoch;
                    ops.push(Op::Row(table::FLOW_RX, index, state.rx.to_bytes()));
                    ops.push(Op::Look(table::FLOW_RX, index));
                }
                1 => {
                    let row = AttachRow {
                        raw_seen: self.script.rng.random(),
                        msn: self.state(flow).msn,
                        ..AttachRow::default()
                    };
                    ops.push(Op::Row(table::ATTACH, index, row.to_bytes()));
                }
                2 => {
                    self.state(flow).mo = 0;
                    ops.push(self.attach(flow, position));
                }
                3 => {
                    let valid = !self.keys[usize::from(flow)];
                    ops.push(self.key(flow, valid));
                }
                4 if position.attached & AttachRow::ATTACHED == 0 => {
                    ops.extend(self.elements(flow));
                    let posted = self.state(flow).posted;
                    self.tails[usize::from(flow)] = posted;
                    ops.push(Op::Doorbell(doorbell::RQ_TAIL + 4 * index, posted));
                }
                _ => ops.push(Op::Look(table::ATTACH, index)),
            }
        }
        ops
    }

    /// Rows of nobody, fences, reads.
    fn nobody(&mut self) -> Vec<Op> {
        let mut ops = vec![];
        let rng = &mut self.script.rng;
        for _ in 0..rng.random_range(2..10) {
            let index = NOBODY + rng.random_range(0..8);
            ops.push(match rng.random_range(0..8) {
                0 => {
                    let row = FlowRxRow {
                        flags: rng.random_range(0..32)
                            | *[0, FlowRxRow::CARRY].choose(rng).unwrap(),
                        rq_log2: rng.random_range(1..16),
                        epoch: rng.random(),
                        pd: rng.random(),
                        marker_base: rng.random(),
                        rq_base: rng.random::<u64>() & !63,
                    };
                    Op::Row(table::FLOW_RX, index, row.to_bytes())
                }
                1 => {
                    let row = AttachRow {
                        attached: rng.random_range(0..8),
                        raw_seen: rng.random_range(0..2),
                        msn: rng.random(),
                        rcv_nxt: rng.random(),
                        ..AttachRow::default()
                    };
                    Op::Row(table::ATTACH, index, row.to_bytes())
                }
                2 => Op::Look(table::ATTACH, index),
                3 => Op::Look(table::FLOW_RX, rng.random_range(0..8) + index),
                4 => Op::Look(table::STAG, rng.random_range(1..6)),
                5 => Op::Look(table::FLOW_KEY, 2 * index),
                _ => {
                    self.fence += 1;
                    Op::Register(reg::FENCE, self.fence)
                }
            });
        }
        ops
    }

    /// One after the other, in any order that keeps each stream's own, with pauses in between.
    fn merge(&mut self, mut streams: Vec<VecDeque<Op>>, ops: &mut Vec<Op>) {
        let rng = &mut self.script.rng;
        loop {
            streams.retain(|s| !s.is_empty());
            let Some(stream) = (0..streams.len()).collect::<Vec<_>>().choose(rng).copied() else {
                return;
            };
            for _ in 0..rng.random_range(1..4) {
                ops.extend(streams[stream].pop_front());
            }
            match rng.random_range(0..12) {
                0 | 1 => ops.push(Op::Run(rng.random_range(0..120))),
                2 => ops.push(Op::Take(rng.random_range(1..9))),
                _ => {}
            }
        }
    }
}

/// What one did of a seed, and what came of it.
struct Record {
    ops: Vec<Op>,
    outcome: Outcome,
    done: Vec<u32>,
    counters: Vec<(&'static str, u32)>,
    memory: Vec<u8>,
}

fn do_it(host: &mut Host, ops: Vec<Op>) -> Record {
    let outcome = host.run(&ops);
    host.bench.world.iommu(0).take_faults();
    Record {
        ops,
        outcome,
        done: std::mem::take(&mut host.done),
        counters: host.counters(),
        memory: host.memory.read(0, MEMORY).unwrap(),
    }
}

fn record(seed: u64, sizes: Sizes) -> Vec<Record> {
    let rings = Plan::rings();
    let mut host = Host::new(Box::new(ModelCard::new(sizes)), seed, rings);
    let mut plan = Plan {
        script: Script {
            rng: generator(seed ^ 0xc0_0000, Stream::Application),
            memory: host.memory.iova,
            source: host.source.iova,
            pieces: host.source.iova,
            edges: None,
            queues: host.queues.iova,
            flows: vec![],
        },
        card_flows: host.bench.flows(),
        rings,
        reserve: 0,
        burst: 0,
        fence: 0,
        stags: HashMap::new(),
        keys: [true; FLOWS as usize],
        tails: [0; FLOWS as usize],
    };
    let mut log = vec![];
    for generation in 0..GENERATIONS {
        let mut ops = vec![];
        if generation > 0 {
            ops.push(Op::Reset);
        }
        ops.extend(plan.start());
        log.push(do_it(&mut host, ops));
        for _ in 0..BURSTS {
            let positions = log.last().map_or(vec![], |r| r.outcome.positions.clone());
            let ops = plan.burst(&positions);
            log.push(do_it(&mut host, ops));
        }
    }
    log
}

/// A list of what is to be the same: the first that differs is told.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, name: &str, is: &[T], should: &[T]) {
    for i in 0..is.len().max(should.len()) {
        assert_eq!(is.get(i), should.get(i), "{what}: {name} {i}");
    }
}

fn compare(seed: u64, kind: CardKind, card: Box<dyn Card>) {
    let log = record(seed, kind.sizes());
    let mut host = Host::new(card, seed, Plan::rings());
    for (number, should) in log.iter().enumerate() {
        let is = do_it(&mut host, should.ops.clone());
        let what = format!("{kind}, seed {seed}, burst {number}");
        let (a, b) = (&is.outcome, &should.outcome);
        same(&what, "answer", &a.answers, &b.answers);
        for flow in 0..=usize::from(FLOWS) {
            let of = |o: &Outcome| o.received.get(flow).cloned().unwrap_or_default();
            let name = format!("of flow {flow}, report or raw frame");
            same(&what, &name, &of(a), &of(b));
        }
        same(&what, "failed job", &a.failed_jobs, &b.failed_jobs);
        same(&what, "frame sent", &a.frames, &b.frames);
        same(&what, "position", &a.positions, &b.positions);
        same(&what, "register", &a.registers, &b.registers);
        // One report may stand for jobs before its own.
        let told = is.done.iter().all(|job| should.done.contains(job));
        assert!(
            told && is.done.is_sorted() && is.done.last() == should.done.last(),
            "{what}: jobs {:?}, should be {:?}",
            is.done,
            should.done
        );
        let differ: Vec<_> = is.counters.iter().zip(&should.counters).collect();
        let differ: Vec<_> = differ.iter().filter(|(a, b)| a != b).collect();
        assert!(differ.is_empty(), "{what}: counters {differ:?}");
        let byte = (0..MEMORY).find(|i| is.memory[*i] != should.memory[*i]);
        assert_eq!(byte, None, "{what}: memory differs");
    }
}

#[test]
fn the_model_repeats_itself() {
    for seed in 0..4 {
        compare(seed, CardKind::Model, CardKind::Model.build(seed, 0));
    }
}

/// The bursts have in them what they are for.
#[test]
fn everything_happens() {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for seed in 0..40 {
        for record in record(seed, Sizes::default()) {
            for (name, value) in record.counters {
                *counts.entry(name).or_default() += value;
            }
        }
    }
    use Counter::*;
    for counter in [
        RxDropOversize,
        RxRawFrames,
        RxSegmentsPlaced,
        RxSegmentsBypassed,
        RxSegmentsCarried,
        RxCarryFull,
        RxDetachPartial,
        RxDetachError,
        RxDetachGap,
        RxAttach,
        RxAttachRefused,
        RxErrorMarker,
        RxErrorNoBuffer,
        RxErrorTooLong,
        RxErrorBounds,
        RxErrorWrap,
        RxErrorElement,
        RxPlaceFailed,
        RxRawFailed,
        TxReadErrors,
        TxJobsBad,
    ] {
        assert_ne!(
            counts[counter.name()],
            0,
            "{} never happens",
            counter.name()
        );
    }
    for counter in [
        RxDropNoRawSlot,
        RxDropNoRawCredit,
        RxDropRawReserved,
        RxDropBufferFull,
    ] {
        assert_eq!(
            counts[counter.name()],
            0,
            "{}: a matter of timing",
            counter.name()
        );
    }
}

#[cfg(rtl)]
fn seeds() -> u64 {
    let asked = std::env::var("WEFT_EQUIVALENCE_SEEDS").ok();
    asked.and_then(|s| s.parse().ok()).unwrap_or(10)
}

#[cfg(rtl)]
mod rtl {
    use super::{compare, seeds, CardKind};
    use weft_sim::rtl;

    #[test]
    fn rtl_at_512_bits() {
        for seed in 0..seeds() {
            compare(seed, CardKind::Rtl512, Box::new(rtl::any512(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_256_bits() {
        for seed in 0..seeds() {
            compare(seed, CardKind::Rtl256, Box::new(rtl::any256(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_128_bits() {
        for seed in 0..seeds() {
            compare(seed, CardKind::Rtl128, Box::new(rtl::any128(seed, 0)));
        }
    }
}
