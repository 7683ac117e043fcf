//! The RTL against the functional model: the same tables, jobs and frames make the same frames,
//! reports, memory, positions and counters. `WEFT_EQUIVALENCE_SEEDS` asks for more than the usual few.

mod concurrent;

use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_layout::{
    doorbell, reg, report_kind, table, trace_kind, AttachRow, CaptureHeader, Counter, FlowRxRow,
    FlowTxRow, Job, ReceiveElement, ReplayJob, StagRow, TraceEntry, TraceTable, NUM_COUNTERS,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::islands::may_have;
use weft_sim::model::{carried::CARRY_BYTES, ethernet, mpa, ModelCard, Sizes};
use weft_sim::seed::{generator, Stream};

const FLOWS: u16 = 4;
const PD: u32 = 7;
const MEMORY: usize = 1 << 18;
const RQ_LOG2: u8 = 3;
const ELEMENT_BYTES: u64 = 3000;
const WINDOW: u32 = 40_000;

/// What a test does to a card. The model's run decides, the RTL's repeats.
#[derive(Clone, Debug)]
enum Step {
    Stag(u32, StagRow),
    Flow(u16, FlowRxRow, FlowTxRow, AttachRow),
    Element(u16, u32, ReceiveElement),
    RqTail(u16, u32),
    Attach(u16, AttachRow),
    Frames(Vec<(Vec<u8>, bool)>),
    /// These, and so many cycles later new rings for reports and raw frames, for each port: in one or the other is all that comes of them.
    Renewed(Vec<(Vec<u8>, bool)>, u64),
    Jobs(Vec<(Job, Vec<u8>)>),
    /// These bytes, by these jobs, each behind the one before.
    Replays(Vec<(Vec<u8>, Job)>),
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    received: Vec<String>,
    jobs: Vec<String>,
    frames: Vec<String>,
    /// Received, sent: how they mix is a matter of timing.
    captured: [Vec<String>; 2],
    /// All flows' positions, of segments that come alone.
    positions: Vec<AttachRow>,
}

/// How segments come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Together,
    /// Each when all is still. Then it is certain where a detached flow stands, too.
    Alone,
}

/// How a subject uses the card's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    /// The first one.
    One,
    /// Both: flows with an odd number, and the jobs of every other step, are the second one's.
    Two,
    /// The first one, in place of both: what a card with one port makes of the same.
    OneForTwo,
}

struct Subject {
    ports: Ports,
    pace: Pace,
    /// Ports that have rings.
    port_count: usize,
    /// Steps with jobs so far.
    turns: usize,
    /// Jobs so far, and the numbers of each port's among them.
    jobs: u32,
    numbers: [Vec<u32>; 2],
    bench: Bench,
    memory: Region,
    queues: Region,
    capture: Region,
    capture_head: u32,
    /// Of the stream, to be walked again.
    pieces: Region,
}

/// Slots of the capture ring, and bytes of one.
const CAPTURE_LOG2: u32 = 9;
const CAPTURE_SLOT_LOG2: u32 = 11;
/// Bytes of a replay at most, and some more.
const PIECES: usize = 8192;
/// Replays at once.
const REPLAYS: usize = 3;
/// What is kept of a frame: not all of the longest ones.
const SNAP: u32 = 700;

impl Subject {
    fn new(card: Box<dyn Card>, seed: u64, ports: Ports, pace: Pace) -> Self {
        let rings = Rings {
            job: 6,
            report: 10,
            raw: 8,
            raw_slot: 14,
        };
        // Rings that nobody uses keep the addresses of all else the same.
        let count = if ports == Ports::One { 1 } else { 2 };
        let link = LinkConfig::default();
        let mut bench = Bench::with_ports(card, seed, link, rings, count).unwrap();
        let memory = bench.region(MEMORY);
        let queues = bench.region(4096);
        let mut rng = generator(seed, Stream::Application);
        let mut bytes = vec![0; MEMORY];
        rng.fill(&mut bytes[..]);
        memory.write(0, &bytes).unwrap();
        bench.sent();
        let capture = bench.region(1 << (CAPTURE_LOG2 + CAPTURE_SLOT_LOG2));
        let pieces = bench.region(REPLAYS * PIECES);
        bench.write(reg::CAPTURE_BASE_LO, capture.iova as u32);
        bench.write(reg::CAPTURE_BASE_HI, (capture.iova >> 32) as u32);
        bench.write(reg::CAPTURE_LOG2, CAPTURE_LOG2 << 8 | CAPTURE_SLOT_LOG2);
        bench.write(reg::CAPTURE_CTRL, 3 | SNAP << 16);
        Self {
            ports,
            pace,
            port_count: count,
            turns: 0,
            jobs: 0,
            numbers: [vec![], vec![]],
            bench,
            memory,
            queues,
            capture,
            capture_head: 0,
            pieces,
        }
    }

    /// The frames captured since the last call.
    fn captured(&mut self) -> [Vec<String>; 2] {
        let mut frames = [vec![], vec![]];
        loop {
            let slot = (self.capture_head as usize % (1 << CAPTURE_LOG2)) << CAPTURE_SLOT_LOG2;
            let header = self.capture.read(slot, CaptureHeader::SIZE).unwrap();
            let header = CaptureHeader::from_bytes(&header.try_into().unwrap());
            if u32::from(header.phase) == self.capture_head >> CAPTURE_LOG2 & 1 {
                break;
            }
            let bytes = self
                .capture
                .read(slot + CaptureHeader::SIZE, header.captured.into())
                .unwrap();
            let CaptureHeader {
                length,
                flags,
                lost,
                ..
            } = header;
            let text = format!(
                "{length} bytes, flags {flags}, lost {lost}: {}",
                hex(&bytes)
            );
            frames[usize::from(flags & CaptureHeader::SENT)].push(text);
            self.capture_head += 1;
        }
        let head = self.capture_head;
        self.bench.ring(doorbell::CAPTURE_HEAD, head);
        frames
    }

    /// The port of the next jobs.
    fn take_turns(&mut self) -> usize {
        self.turns += 1;
        let port = match self.ports {
            Ports::Two => self.turns % 2,
            _ => 0,
        };
        self.bench.use_port(port);
        port
    }

    fn post(&mut self, port: usize, job: &Job, inline: &[u8]) {
        self.bench.post(job, inline);
        self.numbers[port].push(self.jobs);
        self.jobs += 1;
    }

    /// The reports that have come, each with its raw frame, and whether it came by the port that it should come by.
    fn reports(&mut self) -> Vec<weft_sim::bench::Report> {
        if self.ports != Ports::Two {
            return self.bench.reports_as_written(usize::MAX);
        }
        let mut all = vec![];
        for port in 0..2 {
            for (mut report, raw) in self.bench.reports_of_port(port, usize::MAX) {
                let segment = weft_layout::SegmentReport::from_bytes(&report);
                assert_eq!(usize::from(segment.phase >> 1), port);
                match report[0] {
                    report_kind::JOB => {
                        let mut job = weft_layout::JobReport::from_bytes(&report);
                        job.job = self.numbers[port][job.job as usize];
                        report = job.to_bytes();
                    }
                    report_kind::FRAME => assert_eq!(port, 0),
                    _ => assert_eq!(usize::from(segment.flow % 2), port, "{segment:?}"),
                }
                all.push((report, raw));
            }
        }
        all
    }

    fn deliver(&mut self, frames: &[(Vec<u8>, bool)]) {
        for (frame, bad) in frames {
            self.bench.world.deliver(0, frame.clone(), *bad);
            if self.pace == Pace::Alone {
                self.bench.settle(10_000_000).unwrap();
            }
        }
    }

    fn run(&mut self, step: &Step) -> Outcome {
        let port = match step {
            Step::Jobs(_) | Step::Replays(_) => self.take_turns(),
            _ => 0,
        };
        let marked = self.ports != Ports::One;
        match step {
            Step::Replays(replays) => {
                for (n, (bytes, job)) in replays.iter().enumerate() {
                    self.pieces.write(n * PIECES, bytes).unwrap();
                    self.post(port, job, &[]);
                }
            }
            Step::Jobs(jobs) => {
                for (job, inline) in jobs {
                    self.post(port, job, inline);
                }
            }
            Step::Frames(frames) | Step::Renewed(frames, _) => self.deliver(frames),
            _ => {}
        }
        let b = &mut self.bench;
        match step {
            Step::Stag(stag, row) => b.stag(*stag, row).unwrap(),
            Step::Flow(flow, rx, tx, attach) => {
                let mut rx = *rx;
                if marked && flow % 2 == 1 {
                    rx.flags |= FlowRxRow::PORT;
                }
                b.flow(*flow, &Ends::of(*flow), &rx, tx, attach).unwrap()
            }
            Step::Element(flow, slot, e) => {
                let at = usize::from(*flow) * (64 << RQ_LOG2) + *slot as usize * 64;
                self.queues.write(at, &e.to_bytes()).unwrap();
            }
            Step::RqTail(flow, tail) => b.ring(doorbell::RQ_TAIL + 4 * u32::from(*flow), *tail),
            Step::Attach(flow, row) => {
                // Slots have numbers of their own in each port: said from the flow's mark on.
                let now = b.read_table(table::ATTACH, (*flow).into()).unwrap();
                let mark = now.map_or(0, |now| AttachRow::from_bytes(&now).raw_seen);
                let row = AttachRow {
                    raw_seen: mark.wrapping_sub(row.raw_seen),
                    ..*row
                };
                b.write_table(table::ATTACH, (*flow).into(), &row.to_bytes())
                    .unwrap();
            }
            Step::Frames(_) => {}
            Step::Renewed(_, cycles) => {
                b.world.run_cycles(*cycles).unwrap();
                (0..self.port_count).for_each(|port| b.renew_rings(port));
            }
            Step::Replays(_) => b.ring_jobs(),
            Step::Jobs(jobs) => {
                // By the push window as well, if it has room for them.
                if port == 0 && jobs.len() % 2 == 1 && jobs.len() < 32 {
                    b.push_jobs();
                } else {
                    b.ring_jobs();
                }
            }
        }
        b.settle(10_000_000).unwrap();
        let mut outcome = Outcome {
            received: vec![],
            jobs: vec![],
            frames: vec![],
            captured: [vec![], vec![]],
            positions: vec![],
        };
        let mut frames = vec![];
        for (mut report, raw) in self.reports() {
            // How many jobs were done by then is a matter of timing.
            report[56..59].fill(0);
            clear_arrival(&mut report);
            report[63] = 0;
            if report[0] == report_kind::JOB {
                outcome
                    .jobs
                    .push(format!("{:?}", weft_layout::JobReport::from_bytes(&report)));
                continue;
            }
            let received = if marked && report[0] == report_kind::FRAME {
                &mut frames
            } else {
                &mut outcome.received
            };
            // Which slot a frame has is a matter of ports, and of when a ring was set up. The bench sees that they are taken in order.
            let slot = weft_layout::SegmentReport::RAW_SLOT_AT;
            if matches!(report[0], report_kind::FRAME | report_kind::SEGMENT) {
                report[slot..slot + 2].fill(0);
            }
            received.push(match report[0] {
                report_kind::SEGMENT => {
                    format!("{:?}", weft_layout::SegmentReport::from_bytes(&report))
                }
                report_kind::FPDU => format!("{:?}", weft_layout::FpduReport::from_bytes(&report)),
                report_kind::FRAME => {
                    format!("{:?}", weft_layout::FrameReport::from_bytes(&report))
                }
                report_kind::REPLAY => {
                    format!("{:?}", weft_layout::ReplayReport::from_bytes(&report))
                }
                report_kind::PLACED => {
                    format!("{:?}", weft_layout::PlacedReport::from_bytes(&report))
                }
                _ => format!("{report:?}"),
            });
            received.extend(raw.map(|r| hex(&r)));
        }
        outcome.received.extend(frames);
        outcome.captured = self.captured();
        self.counts_are_of_the_rings();
        let b = &mut self.bench;
        outcome.frames = b.sent().iter().map(|s| hex(&s.frame)).collect();
        if self.pace == Pace::Alone {
            outcome.positions = (0..FLOWS).map(|flow| self.position(flow)).collect();
        }
        outcome
    }

    /// The card's counts are of what lies in the present rings.
    fn counts_are_of_the_rings(&mut self) {
        for port in 0..if self.ports == Ports::Two { 2 } else { 1 } {
            let behind = port as u32 * weft_layout::PORT_REGISTERS;
            let tails =
                [reg::REPORT_TAIL, reg::RAW_TAIL].map(|r| self.bench.read(behind + r).unwrap());
            assert_eq!((tails[0], tails[1]), self.bench.heads(port), "port {port}");
        }
    }

    fn attach_row(&mut self, flow: u16) -> AttachRow {
        let row = self.bench.read_table(table::ATTACH, flow.into()).unwrap();
        AttachRow::from_bytes(&row.unwrap())
    }

    /// The number behind the last raw slot that a payload segment of the flow took.
    fn mark(&mut self, flow: u16) -> u32 {
        self.attach_row(flow).raw_seen
    }

    fn position(&mut self, flow: u16) -> AttachRow {
        let row = AttachRow {
            raw_seen: 0,
            ..self.attach_row(flow)
        };
        // Where a detached flow stands is the engine's business: segments that were in the walk behind the one that detached it leave theirs.
        if row.attached & AttachRow::ATTACHED != 0 || self.pace == Pace::Alone {
            return row;
        }
        AttachRow {
            attached: 0,
            rcv_nxt: 0,
            ts_recent: 0,
            ..row
        }
    }
}

/// The doorbells by which the host says what it has taken out of its rings.
const TAKEN: [u32; 2] = [doorbell::REPORT_HEAD, doorbell::RAW_HEAD];

/// The trace ring as it is, without times: who did it, and what.
fn trace(bench: &mut Bench) -> Vec<(Source, TraceEntry)> {
    let size = bench.read(reg::TRACE_SIZE).unwrap();
    let head = bench.read(reg::TRACE_HEAD).unwrap();
    assert_eq!(bench.read(reg::TRACE_LOST).unwrap(), 0);
    let mut events = Vec::new();
    for number in head - head.min(size)..head {
        let mut bytes = [0; TraceEntry::SIZE];
        for (word, to) in (0..).zip(bytes.chunks_exact_mut(4)) {
            let at = reg::TRACE + 16 * (number % size) + 4 * word;
            to.copy_from_slice(&bench.read(at).unwrap().to_le_bytes());
        }
        let mut event = TraceEntry::from_bytes(&bytes);
        (event.time_hi, event.time_lo) = (0, 0);
        let source = match event.kind {
            trace_kind::FRAME_DROPPED if event.detail == weft_layout::trace_drop::NO_RAW_SLOT => {
                Source::Verdicts
            }
            trace_kind::FRAME_IN | trace_kind::FRAME_DROPPED => Source::Frames,
            trace_kind::VERDICT => Source::Verdicts,
            trace_kind::REPORT => {
                // How the reports of both paths mix is a matter of timing.
                event.value = 0;
                if event.detail == report_kind::JOB {
                    Source::JobReports
                } else {
                    Source::Reports
                }
            }
            trace_kind::JOB_BEGIN => Source::JobsBegun,
            trace_kind::JOB_DONE => Source::JobsDone,
            trace_kind::FRAME_OUT => Source::FramesOut,
            // The generator looks at positions, the run after it does not.
            trace_kind::TABLE if !TraceTable(event.detail).write() => continue,
            // How much of a burst was in a ring when the next one was set up is a matter of timing.
            trace_kind::DOORBELL if TAKEN.contains(&u32::from(event.info)) => continue,
            trace_kind::DOORBELL | trace_kind::TABLE | trace_kind::REGISTER => Source::Host,
            _ => continue,
        };
        events.push((source, event));
    }
    events
}

/// What happens in one place of the card, in one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Frames,
    Verdicts,
    Reports,
    JobReports,
    JobsBegun,
    JobsDone,
    FramesOut,
    Host,
}

/// The last events of each place must be the same; the ring holds a time, not a number of each.
fn compare_traces(what: &str, is: &[(Source, TraceEntry)], should: &[(Source, TraceEntry)]) {
    use Source::*;
    for source in [
        Frames, Verdicts, Reports, JobReports, JobsBegun, JobsDone, FramesOut, Host,
    ] {
        let of = |events: &[(Source, TraceEntry)]| -> Vec<TraceEntry> {
            let these = events.iter().filter(|e| e.0 == source);
            these.map(|e| e.1).collect()
        };
        let (is, should) = (of(is), of(should));
        let common = is.len().min(should.len());
        assert!(common > 0, "{what}: nothing of {source:?}");
        assert_eq!(
            is[is.len() - common..],
            should[should.len() - common..],
            "{what}: trace of {source:?}"
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A random stream of steps.
struct Script {
    rng: ChaCha8Rng,
    memory: u64,
    /// Where replays read.
    pieces: u64,
    /// Where jobs read: MEMORY bytes.
    source: u64,
    /// What the boundaries of regions, elements and FPDUs are, if ULPDUs are to meet them.
    edges: Option<concurrent::Edges>,
    queues: u64,
    flows: Vec<FlowState>,
}

#[derive(Clone)]
struct FlowState {
    rx: FlowRxRow,
    seq: u32,
    msn: u32,
    mo: u32,
    posted: u32,
    send_seq: u32,
    /// TSval of the segment sent last.
    ts: u32,
}

impl Script {
    fn start(&mut self) -> Vec<Step> {
        const LOCAL_WRITE: u8 = StagRow::LOCAL_WRITE;
        const REMOTE_WRITE: u8 = StagRow::REMOTE_WRITE;
        const READ_SINK: u8 = StagRow::READ_SINK;
        const ALL: u8 = LOCAL_WRITE | StagRow::REMOTE_READ | REMOTE_WRITE | READ_SINK;
        let mut steps = Vec::new();
        for index in 1..6u32 {
            let row = StagRow {
                valid: u8::from(index != 5),
                key: index as u8,
                access: [ALL, REMOTE_WRITE, READ_SINK, LOCAL_WRITE, ALL][index as usize - 1],
                pd: if index == 4 { PD + 1 } else { PD },
                base: u64::from(index) << 40,
                length: 20_000,
                iova: self.memory + u64::from(index) * 20_000 + 1,
            };
            steps.push(Step::Stag(index << 8 | index, row));
        }
        for flow in 0..FLOWS {
            let flags = FlowRxRow::VALID
                | self.rng.random_range(0..4u8)
                | self.rng.random_range(0..2u8) << 3
                | *[0, 0, FlowRxRow::CHECK_ONLY].choose(&mut self.rng).unwrap()
                | *[0, FlowRxRow::CARRY].choose(&mut self.rng).unwrap()
                | *[0, FlowRxRow::BEYOND].choose(&mut self.rng).unwrap();
            let seq: u32 = if flow == 0 {
                u32::MAX - 3000
            } else {
                self.rng.random()
            };
            let send_seq: u32 = self.rng.random();
            let rx = FlowRxRow {
                flags,
                rq_log2: RQ_LOG2,
                epoch: self.rng.random(),
                pd: PD,
                marker_base: seq,
                rq_base: self.queues + u64::from(flow) * (64 << RQ_LOG2),
            };
            let tx_flags = FlowTxRow::VALID
                | self.rng.random_range(0..4u8)
                | self.rng.random_range(0..2u8) << 3;
            let tx = Ends::of(flow).tx(
                tx_flags,
                send_seq.wrapping_sub(4 * self.rng.random_range(0..128)),
            );
            let attach = AttachRow {
                attached: AttachRow::ATTACHED,
                rcv_nxt: seq,
                msn: 1,
                mo: 0,
                window: WINDOW,
                ..AttachRow::default()
            };
            let ts = if flow == 1 {
                u32::MAX - 20
            } else {
                self.rng.random()
            };
            self.flows.push(FlowState {
                ts,
                rx,
                seq,
                msn: 1,
                mo: 0,
                posted: 0,
                send_seq,
            });
            steps.push(Step::Flow(flow, rx, tx, attach));
        }
        steps
    }

    fn elements(&mut self, flow: u16) -> Vec<Step> {
        let mut steps = Vec::new();
        let state = &mut self.flows[usize::from(flow)];
        let wanted = self.rng.random_range(1..=1 << RQ_LOG2);
        while (state.posted.wrapping_sub(state.msn.wrapping_sub(1)) as i32) < wanted {
            let slot = state.posted & ((1 << RQ_LOG2) - 1);
            state.posted = state.posted.wrapping_add(1);
            let mut e = ReceiveElement::default();
            let base = (1u64 << 40) | (u64::from(slot) * 2000);
            let stag = if self.rng.random_ratio(1, 30) {
                0x404
            } else {
                0x101
            };
            e.sge0_to = base;
            e.sge0_stag = stag;
            if self.rng.random() {
                e.sge0_length = ELEMENT_BYTES as u32;
            } else {
                (e.sge0_length, e.sge1_length) = (
                    self.rng.random_range(1..100),
                    self.rng.random_range(0..2500),
                );
                (e.sge1_to, e.sge1_stag) = (base + 500, 0x101);
                (e.sge2_to, e.sge2_stag, e.sge2_length) =
                    (base + 64, 0x101, self.rng.random_range(0..500));
                (e.sge3_to, e.sge3_stag, e.sge3_length) =
                    (base + 3, 0x101, self.rng.random_range(0..500));
            }
            steps.push(Step::Element(flow, slot, e));
        }
        steps.push(Step::RqTail(flow, state.posted));
        steps
    }

    fn ulpdu(&mut self, flow: u16) -> Vec<u8> {
        if let Some(ulpdu) = self.at_an_edge(flow) {
            return ulpdu;
        }
        let rng = &mut self.rng;
        let state = &mut self.flows[usize::from(flow)];
        let len = *[0usize, 1, 3, 4, 13, 64, 200, 512, 700, 1400]
            .choose(rng)
            .unwrap()
            + rng.random_range(0..9);
        let mut u = Vec::new();
        let sound = rng.random_ratio(29, 30);
        match rng.random_range(0..10) {
            0..5 => {
                let index: u32 = if sound {
                    *[1, 2, 3].choose(rng).unwrap()
                } else {
                    rng.random_range(0..6)
                };
                let at = rng.random_range(0..20_000 - 1500u64);
                let to = match rng.random_range(0..4) {
                    0 if !sound => u64::MAX - rng.random_range(1..300),
                    1 if !sound => rng.random(),
                    _ => u64::from(index) << 40 | at,
                };
                let opcode = if (index == 3) != (!sound && rng.random()) {
                    2
                } else {
                    0
                };
                u.extend([if rng.random() { 0xc1 } else { 0x81 }, 0x40 | opcode]);
                u.extend((index << 8 | index).to_be_bytes());
                u.extend(to.to_be_bytes());
            }
            5..9 => {
                let last = rng.random_ratio(2, 3);
                u.extend([
                    if last { 0x41 } else { 1 },
                    0x40 | *[3, 4, 5, 6, 8, 9].choose(rng).unwrap(),
                ]);
                u.extend(rng.random::<u32>().to_be_bytes());
                u.extend(0u32.to_be_bytes());
                let off = u32::from(!sound);
                u.extend(state.msn.wrapping_add(off).to_be_bytes());
                u.extend(state.mo.to_be_bytes());
                if last {
                    state.msn = state.msn.wrapping_add(1);
                    state.mo = 0;
                } else {
                    state.mo += len as u32;
                }
            }
            _ => {
                let (qn, opcode) = *[(1u32, 1u8), (2, 7), (3, 0xb), (1, 0xa)]
                    .choose(rng)
                    .unwrap();
                u.extend([0x41, 0x40 | opcode]);
                u.extend([0; 4]);
                u.extend(qn.to_be_bytes());
                u.extend(1u32.to_be_bytes());
                u.extend(0u32.to_be_bytes());
            }
        }
        u.extend((0..len).map(|_| rng.random::<u8>()));
        if rng.random_ratio(1, 60) {
            u.truncate(rng.random_range(0..u.len()));
        } else if rng.random_ratio(1, 25) {
            // The control bytes more often than the rest of the header.
            let at = *[0, 1, rng.random_range(0..18.min(u.len()))]
                .choose(rng)
                .unwrap();
            u[at] ^= 1 << rng.random_range(0..8);
        }
        u
    }

    /// Segments of a flow, nearly all whole FPDUs in order.
    fn frames(&mut self, flow: u16) -> Vec<(Vec<u8>, bool)> {
        let mut frames = Vec::new();
        for _ in 0..self.rng.random_range(1..6) {
            let mut payload = Vec::new();
            let (markers, crc, carries, islands) = {
                let rx = &self.flows[usize::from(flow)].rx;
                let markers = rx.markers().then_some(rx.marker_base);
                (markers, rx.crc(), rx.carry(), may_have(rx))
            };
            let mut seq = self.flows[usize::from(flow)].seq;
            for _ in 0..*[0, 1, 1, 1, 1, 2, 5].choose(&mut self.rng).unwrap() {
                if let Some(edges) = &mut self.edges {
                    edges.seq = seq;
                }
                let long = carries && payload.is_empty() && self.rng.random_ratio(1, 10);
                let ulpdu = match long {
                    true => self.write_of(CARRY_BYTES - 40..CARRY_BYTES + 1500),
                    // Beyond a gap most other things are not placed.
                    false if islands && self.rng.random_ratio(1, 2) => self.write_of(400..900),
                    false => self.ulpdu(flow),
                };
                let mut fpdu = mpa::frame(seq, markers, crc, &ulpdu);
                let marker = markers
                    .map(|base| base.wrapping_sub(seq) as usize % 512)
                    .filter(|at| at + 4 < fpdu.len());
                if let Some(at) = marker.filter(|_| self.rng.random_ratio(1, 20)) {
                    fpdu[at + 3] ^= 1 << self.rng.random_range(0..5);
                }
                if !crc && markers.is_none() && ulpdu.len() % 4 != 2 && self.rng.random_ratio(1, 20)
                {
                    // The last byte of the pad.
                    let at = fpdu.len() - 5;
                    fpdu[at] = 1;
                }
                if self.rng.random_ratio(1, 60) {
                    let at = self.rng.random_range(0..fpdu.len());
                    fpdu[at] ^= 1 << self.rng.random_range(0..8);
                }
                seq = seq.wrapping_add(fpdu.len() as u32);
                payload.extend(fpdu);
                if payload.len() > 6000 {
                    break;
                }
            }
            let first = self.flows[usize::from(flow)].seq;
            self.flows[usize::from(flow)].seq = seq;
            let agreed = self.flows[usize::from(flow)].rx.timestamps();
            let timestamps = if agreed {
                self.rng.random_ratio(29, 30)
            } else {
                self.rng.random()
            };
            let ts_val = if self.rng.random_ratio(1, 30) {
                self.rng.random()
            } else {
                let ts = &mut self.flows[usize::from(flow)].ts;
                *ts = ts.wrapping_add(self.rng.random_range(0..3));
                *ts
            };
            let mut row = Ends::of(flow)
                .peer_tx(FlowTxRow::VALID, 0)
                .with_timestamps(timestamps);
            row.tos = self.rng.random();
            let job = Job {
                ack: self.rng.random(),
                window: self.rng.random(),
                ts_val,
                ts_ecr: self.rng.random(),
                ..Job::default()
            };
            let mut flags = 0x10 | *[0, 8, 8].choose(&mut self.rng).unwrap();
            if self.rng.random_ratio(1, 40) {
                flags ^= 1 << self.rng.random_range(0..8);
            }
            // Now and then what is far off, or at the edge of a window.
            let first = if self.rng.random_ratio(1, 40) {
                let len = payload.len() as u32;
                first.wrapping_add(match self.rng.random_range(0..4) {
                    0 => WINDOW
                        .wrapping_sub(len)
                        .wrapping_add(self.rng.random_range(0..2)),
                    1 => len.wrapping_neg().wrapping_add(self.rng.random_range(0..2)),
                    _ => self.rng.random(),
                })
            } else {
                first
            };
            let mut frame = ethernet::segment(&row, &job, first, flags, 0, &payload);
            if self.rng.random_ratio(1, 12) {
                // SACK (RFC 2018 §3), as of a peer that lacks something.
                let blocks = self.rng.random_range(1..=3u8);
                let mut options = vec![1, 1, 5, 2 + 8 * blocks];
                options.extend((0..8 * blocks).map(|_| self.rng.random::<u8>()));
                frame = ethernet::with_tcp_options(&frame, &options);
            }
            if self.rng.random_ratio(1, 30) {
                // A length of 0, of 1, beyond the header, or none.
                let odd: [&[u8]; 5] = [
                    &[253, 0, 1, 1],
                    &[253, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2],
                    &[5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 253, 1],
                    &[1, 1, 8, 10],
                    &[1, 1, 1, 253],
                ];
                let odd = odd.choose(&mut self.rng).unwrap();
                // Beside SACK blocks there may be no room.
                if usize::from(frame[46] >> 4) + odd.len() / 4 <= 15 {
                    frame = ethernet::with_tcp_options(&frame, odd);
                }
            }
            if self.rng.random_ratio(1, 30) {
                let words = self.rng.random_range(1..=10);
                let options: Vec<u8> = (0..4 * words).map(|_| self.rng.random()).collect();
                frame = ethernet::with_ip_options(&frame, &options);
            }
            if self.rng.random_ratio(1, 60) {
                // To a group.
                frame[0] |= 1;
            }
            if frame.len() < 60 {
                frame.resize(60, 0xee);
            }
            if self.rng.random_ratio(1, 20) {
                let end = *[54, 54, frame.len()].choose(&mut self.rng).unwrap();
                // The data offset more often than the rest.
                let at = if self.rng.random_ratio(1, 6) {
                    46
                } else {
                    self.rng.random_range(0..end)
                };
                frame[at] ^= 1 << self.rng.random_range(0..8);
            }
            for piece in self.segments_of(&frame, carries) {
                frames.push((piece, self.rng.random_ratio(1, 60)));
            }
            if self.rng.random_ratio(1, 25) {
                frames.push((frame, false));
            }
        }
        if may_have(&self.flows[usize::from(flow)].rx) && self.rng.random() {
            // One is late, or two.
            for _ in 0..self.rng.random_range(1..3) {
                let late = frames.remove(self.rng.random_range(0..frames.len()));
                frames.insert(self.rng.random_range(0..=frames.len()), late);
            }
        }
        if self.rng.random_ratio(1, 10) {
            let len = self.rng.random_range(14..2000);
            let mut other: Vec<u8> = (0..len).map(|_| self.rng.random()).collect();
            other[0] |= 1;
            frames.push((other, false));
        }
        frames
    }

    /// A Write with so many octets.
    fn write_of(&mut self, length: std::ops::Range<usize>) -> Vec<u8> {
        let rng = &mut self.rng;
        let mut ulpdu = concurrent::tagged(0x101, (1 << 40) + rng.random_range(0..10_000), 0);
        let len = rng.random_range(length);
        ulpdu.extend((0..len).map(|_| rng.random::<u8>()));
        ulpdu
    }

    /// The frame's segment in one or more; in more of a flow that carries.
    fn segments_of(&mut self, frame: &[u8], carries: bool) -> Vec<Vec<u8>> {
        let cuts = match carries {
            true => *[0, 0, 1, 1, 2, 5].choose(&mut self.rng).unwrap(),
            false => u32::from(self.rng.random_ratio(1, 25)),
        };
        let (mut pieces, mut rest) = (vec![], frame.to_vec());
        for _ in 0..cuts {
            // Where the octets before the cut just have a place, or just have none.
            let at = match self.rng.random_ratio(1, 4) {
                true => CARRY_BYTES as u32 + self.rng.random_range(0..6),
                false => self.rng.random(),
            };
            let Some((first, second)) = ethernet::cut_segment(&rest, at) else {
                break;
            };
            pieces.push(first);
            rest = second;
        }
        pieces.push(rest);
        pieces
    }

    /// Pieces of a flow's stream that are to be walked again, mostly from where the flow stands.
    fn replays(&mut self, flow: u16) -> Step {
        let count = self.rng.random_range(1..=REPLAYS);
        let replay = |n| self.replay(flow, n);
        Step::Replays((0..count).map(replay).collect())
    }

    fn replay(&mut self, flow: u16, number: usize) -> (Vec<u8>, Job) {
        let (markers, crc, seq, msn, mo) = {
            let f = &self.flows[usize::from(flow)];
            let markers = f.rx.markers().then_some(f.rx.marker_base);
            (markers, f.rx.crc(), f.seq, f.msn, f.mo)
        };
        let mut bytes = Vec::new();
        for _ in 0..self.rng.random_range(1..5) {
            let at = seq.wrapping_add(bytes.len() as u32);
            if let Some(edges) = &mut self.edges {
                edges.seq = at;
            }
            let ulpdu = self.ulpdu(flow);
            let mut fpdu = mpa::frame(at, markers, crc, &ulpdu);
            if self.rng.random_ratio(1, 30) {
                let at = self.rng.random_range(0..fpdu.len());
                fpdu[at] ^= 1 << self.rng.random_range(0..8);
            }
            bytes.extend(fpdu);
        }
        self.flows[usize::from(flow)].seq = seq.wrapping_add(bytes.len() as u32);
        let rng = &mut self.rng;
        if rng.random_ratio(1, 4) {
            bytes.truncate(rng.random_range(1..bytes.len()));
        }
        let mut left = bytes.len() as u32;
        let count = rng.random_range(1..=4u8);
        let mut at = self.pieces + (number * PIECES) as u64;
        let mut part = |last: bool| {
            let n = match last {
                true => left,
                false => rng.random_range(0..=left),
            };
            (left, at) = (left - n, at + u64::from(n));
            (at - u64::from(n), n)
        };
        let mut job = Job {
            kind: weft_layout::job_kind::REPLAY,
            flow,
            seq,
            msn,
            to_or_mo: mo.into(),
            length: bytes.len() as u32,
            sge_count: count,
            ..Job::default()
        };
        (job.sge0_iova, job.sge0_length) = part(count == 1);
        if count > 1 {
            (job.sge1_iova, job.sge1_length) = part(count == 2);
        }
        if count > 2 {
            (job.sge2_iova, job.sge2_length) = part(count == 3);
        }
        if count > 3 {
            (job.sge3_iova, job.sge3_length) = part(true);
        }
        // What a segment's job would say counts for nothing.
        (job.ack, job.window, job.tcp_flags) = self.rng.random();
        (job.ts_val, job.ts_ecr, job.stag_or_qn) = self.rng.random();
        job.flags = self.rng.random::<u8>() & Job::ECT;
        // Those behind the first mostly follow it.
        let follows = self.rng.random_ratio(if number > 0 { 7 } else { 1 }, 8);
        job.flags |= if follows { ReplayJob::FOLLOWS } else { 0 };
        if self.rng.random_ratio(1, 40) {
            job.sge0_iova = 0x1234;
        }
        (bytes, job)
    }

    fn job(&mut self) -> (Job, Vec<u8>) {
        use weft_layout::job_kind::{MESSAGE, RAW_FRAME, SEGMENT};
        let flow = self.rng.random_range(0..FLOWS);
        let kind = *[RAW_FRAME, SEGMENT, MESSAGE, MESSAGE, MESSAGE, MESSAGE]
            .choose(&mut self.rng)
            .unwrap();
        let rng = &mut self.rng;
        let state = &mut self.flows[usize::from(flow)];
        let mut length =
            *[0u32, 1, 4, 60, 64, 100, 1400, 5000].choose(rng).unwrap() + rng.random_range(0..5);
        if kind == RAW_FRAME {
            length = length.max(14);
        }
        let append_crc = rng.random();
        if kind == SEGMENT && append_crc && rng.random_ratio(9, 10) {
            length &= !3;
        }
        let mut job = Job {
            kind,
            flags: rng.random_range(0..8)
                | *[0, Job::ECT].choose(rng).unwrap()
                | if append_crc { Job::APPEND_CRC } else { 0 },
            flow,
            seq: state.send_seq,
            ack: rng.random(),
            window: rng.random(),
            tcp_flags: 0x10 | *[0, 8].choose(rng).unwrap(),
            ts_val: rng.random(),
            ts_ecr: rng.random(),
            length,
            fpdu_payload: *[100, 1000, 1401, 1448, 8900].choose(rng).unwrap(),
            rdmap_control: 0x40,
            stag_or_qn: rng.random(),
            msn: rng.random(),
            to_or_mo: rng.random(),
            rsvd_ulp: rng.random(),
            ..Job::default()
        };
        if !job.tagged() {
            job.to_or_mo &= 0xffff;
        }
        // Where the stream goes on does not matter to the card; it only has to stay at multiples of 4.
        state.send_seq = state.send_seq.wrapping_add(length & !3).wrapping_add(24);
        let mut inline = Vec::new();
        if length <= 64 && rng.random() {
            job.flags |= Job::INLINE_PAYLOAD;
            inline = (0..length).map(|_| rng.random()).collect();
        } else {
            let mut left = length;
            let count = rng.random_range(1..=4u8);
            let mut part = |last: bool| {
                let n = if last {
                    left
                } else {
                    rng.random_range(0..=left)
                };
                left -= n;
                let at = self.source + rng.random_range(0..MEMORY as u64 - 6000);
                (at, n)
            };
            job.sge_count = count;
            (job.sge0_iova, job.sge0_length) = part(count == 1);
            if count > 1 {
                (job.sge1_iova, job.sge1_length) = part(count == 2);
            }
            if count > 2 {
                (job.sge2_iova, job.sge2_length) = part(count == 3);
            }
            if count > 3 {
                (job.sge3_iova, job.sge3_length) = part(true);
            }
            if self.rng.random_ratio(1, 40) {
                job.sge0_iova = 0x1234;
            } else if self.rng.random_ratio(1, 40) {
                job.sge0_length += 1;
            }
        }
        (job, inline)
    }
}

/// Runs the script on the model and writes it down.
fn record(
    seed: u64,
    rounds: usize,
    sizes: Sizes,
    ports: Ports,
    pace: Pace,
) -> (Vec<(Step, Outcome)>, Subject) {
    let mut subject = Subject::new(Box::new(ModelCard::new(sizes)), seed, ports, pace);
    let mut script = Script {
        rng: generator(seed, Stream::Application),
        memory: subject.memory.iova,
        source: subject.memory.iova,
        pieces: subject.pieces.iova,
        edges: None,
        queues: subject.queues.iova,
        flows: Vec::new(),
    };
    let mut log = Vec::new();
    let mut run = |subject: &mut Subject, steps: Vec<Step>| {
        for step in steps {
            let outcome = subject.run(&step);
            log.push((step, outcome));
        }
    };
    run(&mut subject, script.start());
    // Each flow's mark when rings were set up anew: whether an ATTACH with too small a count is applied is then a matter of timing.
    let mut old_marks = [None; FLOWS as usize];
    for _ in 0..rounds {
        let flow = script.rng.random_range(0..FLOWS);
        // Attach again where the generator stands, mostly with the right count.
        let position = subject.position(flow);
        let state = &mut script.flows[usize::from(flow)];
        // Behind an island that did not fit it is far off.
        let near = position.msn.wrapping_sub(state.posted) as i32 <= 1;
        if position.attached & AttachRow::ATTACHED != 0 && near {
            (state.msn, state.mo) = (position.msn, position.mo);
        } else {
            state.mo = 0;
            // How many of the flow's raw slots are still to be seen.
            let is_old = old_marks[usize::from(flow)] == Some(subject.mark(flow));
            let raw_seen = u32::from(script.rng.random_ratio(1, 8) && !is_old);
            let row = AttachRow {
                attached: AttachRow::ATTACHED | script.rng.random_range(0..2u8) << 1,
                raw_seen,
                rcv_nxt: state.seq,
                msn: state.msn,
                mo: state.mo,
                ts_recent: state.ts,
                window: *[0, WINDOW].choose(&mut script.rng).unwrap(),
            };
            run(&mut subject, vec![Step::Attach(flow, row)]);
        }
        let steps = script.elements(flow);
        run(&mut subject, steps);
        let frames = script.frames(flow);
        let renewed = script.rng.random_ratio(1, 6);
        let cycles = script.rng.random_range(1..200);
        run(
            &mut subject,
            vec![match renewed {
                true => Step::Renewed(frames, cycles),
                false => Step::Frames(frames),
            }],
        );
        if renewed {
            old_marks = std::array::from_fn(|flow| Some(subject.mark(flow as u16)));
        }
        // Of a flow that is attached as well.
        let other = script.rng.random_range(0..FLOWS);
        let detached = subject.position(other).attached & AttachRow::ATTACHED == 0;
        if detached || script.rng.random_ratio(1, 8) {
            let steps = script.elements(other);
            run(&mut subject, steps);
            let replays = script.replays(other);
            run(&mut subject, vec![replays]);
        }
        let jobs = (0..script.rng.random_range(1..4))
            .map(|_| script.job())
            .collect();
        run(&mut subject, vec![Step::Jobs(jobs)]);
    }
    (log, subject)
}

/// Counters whose values do not depend on timing or on how DMA is cut into bursts.
fn comparable(counter: Counter) -> bool {
    use Counter::*;
    !counter.name().ends_with("_cycles")
        && !matches!(
            counter,
            DmaReadRequests | DmaReadErrors | DmaWriteRequests | DmaWriteErrors | MsixRequests
        )
}

fn compare(seed: u64, rounds: usize, kind: CardKind, card: Box<dyn Card>) {
    compare_as(seed, rounds, kind, card, Ports::One, Pace::Together)
}

fn compare_as(
    seed: u64,
    rounds: usize,
    kind: CardKind,
    card: Box<dyn Card>,
    ports: Ports,
    pace: Pace,
) {
    let by_one = match ports {
        Ports::Two => Ports::OneForTwo,
        ports => ports,
    };
    let (log, mut model) = record(seed, rounds, kind.sizes(), by_one, pace);
    let should = trace(&mut model.bench);
    let mut subject = Subject::new(card, seed, ports, pace);
    for (number, (step, expected)) in log.iter().enumerate() {
        let outcome = subject.run(step);
        assert_eq!(
            &outcome, expected,
            "{kind}, seed {seed}, step {number}: {step:?}"
        );
    }
    let is = trace(&mut subject.bench);
    if ports == Ports::One {
        compare_traces(&format!("{kind}, seed {seed}"), &is, &should);
    }
    for flow in 0..FLOWS {
        assert_eq!(
            subject.position(flow),
            model.position(flow),
            "{kind}, seed {seed}: position of flow {flow}"
        );
    }
    let mut differ = Vec::new();
    for counter in Counter::ALL.into_iter().filter(|c| comparable(*c)) {
        let (is, should) = (
            subject.bench.counter(counter).unwrap(),
            model.bench.counter(counter).unwrap(),
        );
        if is != should {
            differ.push(format!("{} is {is}, should be {should}", counter.name()));
        }
    }
    assert!(
        differ.is_empty(),
        "{kind}, seed {seed}: counters: {}",
        differ.join("; ")
    );
    assert!(
        subject.memory.read(0, MEMORY).unwrap() == model.memory.read(0, MEMORY).unwrap(),
        "{kind}, seed {seed}: memory differs"
    );
}

#[cfg(rtl)]
fn seeds() -> u64 {
    // Environment (tests): `WEFT_EQUIVALENCE_SEEDS`: RTL against model: how many seeds. Without it: a few.
    std::env::var("WEFT_EQUIVALENCE_SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(4)
}

#[test]
fn the_script_is_worth_its_name() {
    let mut counts = vec![0u32; NUM_COUNTERS];
    for seed in 0..40 {
        let (_, mut model) = record(seed, 40, Sizes::default(), Ports::One, Pace::Together);
        for counter in Counter::ALL {
            counts[counter as usize] += model.bench.counter(counter).unwrap();
        }
    }
    use Counter::*;
    let cannot = [
        RxDropDisabled,
        RxDropRunt,
        RxDropBufferFull,
        RxDropNoRawSlot,
        RxDropNoRawCredit,
        RxDropNoReportRoom,
        RxDropOversize,
        RxDropLoopback,
        CaptureRxLost,
        CaptureTxLost,
        DmaWriteErrors,
        MsixRequests,
        MsixGap,
        RxDropRawReserved,
        RxIslandsFull,
        RxRawFailed,
        RxPlaceFailed,
        TxFpdusPacked,
        TxReportsJoined,
        RxReportsMerged,
        Fences,
        Resets,
    ];
    for counter in Counter::ALL
        .iter()
        .filter(|c| !c.name().ends_with("_cycles") && !cannot.contains(c))
    {
        assert_ne!(
            counts[*counter as usize],
            0,
            "{} never happens",
            counter.name()
        );
    }
}

#[test]
fn the_model_repeats_itself() {
    compare(1, 30, CardKind::Model, CardKind::Model.build(1, 0));
}

#[cfg(rtl)]
mod rtl {
    use super::*;
    use weft_sim::rtl;

    #[test]
    fn rtl_at_512_bits() {
        for seed in 0..seeds() {
            compare(seed, 30, CardKind::Rtl512, Box::new(rtl::any512(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_256_bits() {
        for seed in 0..seeds() {
            compare(seed, 30, CardKind::Rtl256, Box::new(rtl::any256(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_128_bits() {
        for seed in 0..seeds() {
            compare(seed, 30, CardKind::Rtl128, Box::new(rtl::any128(seed, 0)));
        }
    }

    #[test]
    fn two_ports_at_128_bits() {
        for seed in 0..seeds() {
            let card = Box::new(rtl::any128(seed, 0));
            let pace = Pace::Together;
            compare_as(seed, 30, CardKind::Rtl128, card, Ports::Two, pace);
        }
    }

    #[test]
    fn one_segment_at_a_time() {
        for seed in 0..seeds() {
            let cards: [(_, Box<dyn Card>); 3] = [
                (CardKind::Rtl512, Box::new(rtl::any512(seed, 0))),
                (CardKind::Rtl256, Box::new(rtl::any256(seed, 0))),
                (CardKind::Rtl128, Box::new(rtl::any128(seed, 0))),
            ];
            for (kind, card) in cards {
                compare_as(seed, 30, kind, card, Ports::One, Pace::Alone);
            }
        }
    }
}

/// When a frame came is another time for each card.
fn clear_arrival(report: &mut [u8; 64]) {
    use weft_layout::report_kind::{FRAME, PLACED, SEGMENT};
    if matches!(report[0], SEGMENT | PLACED | FRAME) {
        report[weft_layout::SegmentReport::ARRIVAL_AT..][..3].fill(0);
    }
}
