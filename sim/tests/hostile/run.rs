//! One run: flows, a short stream of frames, and the comparison after each batch.

use std::collections::VecDeque;

use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_layout::{
    doorbell, fpdu_verdict, reg, report_kind, table, AttachRow, Counter, FlowKeyRow, FlowRxRow,
    FpduReport, ReceiveElement, SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::tables::key_places;
use weft_sim::seed::{generator, Stream};

use super::frames::{fpdu, frame, tagged, untagged, Spec};
use super::oracle::{outcome, Memory, Outcome, Tracked, APART, ELEMENTS, PIECES, RQ_LOG2};

/// Frames of a run, at most.
const FRAMES: usize = 40;
const REGION: usize = 4096;
const ALL_RIGHTS: u8 =
    StagRow::LOCAL_WRITE | StagRow::REMOTE_READ | StagRow::REMOTE_WRITE | StagRow::READ_SINK;
/// Simulated nanoseconds in which a card has to come to rest.
const LIMIT: u64 = 1_000_000;

/// How often things happened.
#[derive(Debug, Default)]
pub struct Tally {
    pub frames: u64,
    pub dropped: u64,
    pub not_tcp: u64,
    pub refused: [u64; 5],
    pub duplicates: u64,
    pub placed: u64,
    pub errors: u64,
    pub partial: u64,
    pub by_hand: u64,
    pub attached_again: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.frames += other.frames;
        self.dropped += other.dropped;
        self.not_tcp += other.not_tcp;
        for (mine, its) in self.refused.iter_mut().zip(other.refused) {
            *mine += its;
        }
        self.duplicates += other.duplicates;
        self.placed += other.placed;
        self.errors += other.errors;
        self.partial += other.partial;
        self.by_hand += other.by_hand;
        self.attached_again += other.attached_again;
    }

    pub fn all_seen(&self) -> bool {
        let each = [
            self.dropped,
            self.not_tcp,
            self.duplicates,
            self.placed,
            self.errors,
            self.partial,
            self.by_hand,
            self.attached_again,
        ];
        self.refused[1..].iter().chain(&each).all(|n| *n > 0)
    }
}

struct Flow {
    number: u16,
    ends: Ends,
    rq: Region,
    rq_before: Vec<u8>,
    key_index: u32,
    tracked: Tracked,
    /// Segments of before.
    history: Vec<Spec>,
}

/// What has to come of a frame that is not dropped.
enum Expected {
    Frame(Vec<u8>),
    Segment(u16, Spec, Outcome, Vec<u8>),
}

struct Run<'a> {
    bench: Bench,
    random: ChaCha8Rng,
    flows: Vec<Flow>,
    memories: Vec<Memory>,
    expected: VecDeque<Expected>,
    /// Raw slots taken by what was sent.
    raw_tail: u32,
    drops: Vec<(Counter, u32)>,
    frames: u32,
    tally: &'a mut Tally,
}

type Failed = String;

fn failed(what: impl std::fmt::Debug) -> Failed {
    format!("{what:?}")
}

/// Runs a seed.
pub fn run(kind: CardKind, seed: u64, tally: &mut Tally) -> Result<(), Failed> {
    let rings = Rings {
        job: 2,
        report: 8,
        raw: 6,
        raw_slot: 12,
    };
    let link = LinkConfig::default();
    let bench = Bench::new(kind.build(seed, 0), seed, link, rings).map_err(failed)?;
    let mut run = Run {
        bench,
        random: generator(seed, Stream::Application),
        flows: Vec::new(),
        memories: Vec::new(),
        expected: VecDeque::new(),
        raw_tail: 0,
        drops: Vec::new(),
        frames: 0,
        tally,
    };
    run.set_up()?;
    let mut sent = 0;
    let mut step = 0;
    while sent < FRAMES {
        let batch = run.random.random_range(1..=6).min(FRAMES - sent);
        for _ in 0..batch {
            run.send();
            if run.random.random_ratio(1, 12) {
                run.between().map_err(|e| format!("step {step}: {e}"))?;
            }
        }
        sent += batch;
        run.compare()
            .and_then(|()| run.at_rest())
            .map_err(|e| format!("step {step}, frames to {sent}: {e}"))?;
        step += 1;
    }
    run.counters()
}

impl Run<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        self.random.random_range(0..limit)
    }

    fn set_up(&mut self) -> Result<(), Failed> {
        for n in 0..self.random.random_range(2..=3u16) {
            let number = 1 + n * 5;
            let pd = 100 + u32::from(n);
            let elements = self.memories.len();
            for second in 0..2 {
                let region = self.bench.region(REGION);
                let key = self.random.random();
                let stag = (0x10 + 2 * u32::from(n) + second) << 8 | u32::from(key);
                let bases = [
                    0,
                    0xffff_f800,
                    0u64.wrapping_sub(REGION as u64),
                    0x1234_5678,
                ];
                let row = StagRow {
                    valid: StagRow::VALID,
                    key,
                    access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE | StagRow::READ_SINK,
                    pd,
                    base: *bases.choose(&mut self.random).unwrap_or(&0),
                    length: REGION as u64,
                    iova: region.iova,
                };
                self.bench.stag(stag, &row).map_err(failed)?;
                let shadow = vec![0; REGION];
                self.memories.push(Memory {
                    region,
                    stag,
                    row,
                    shadow,
                });
            }
            let flow = self.flow(n, number, pd, elements)?;
            self.flows.push(flow);
        }
        self.bench.settle(LIMIT).map_err(failed)?;
        Ok(())
    }

    fn flow(&mut self, n: u16, number: u16, pd: u32, elements: usize) -> Result<Flow, Failed> {
        let ends = Ends::of(number);
        let rq = self.bench.region(ReceiveElement::SIZE << RQ_LOG2);
        let (stag, base) = (
            self.memories[elements].stag,
            self.memories[elements].row.base,
        );
        for slot in 0..1u64 << RQ_LOG2 {
            let to = base.wrapping_add(ELEMENTS + slot * APART);
            let element = ReceiveElement {
                sge0_to: to.wrapping_add(PIECES[0].0),
                sge0_length: PIECES[0].1 as u32,
                sge0_stag: stag,
                sge1_to: to.wrapping_add(PIECES[1].0),
                sge1_length: PIECES[1].1 as u32,
                sge1_stag: stag,
                ..ReceiveElement::default()
            };
            rq.write(64 * slot as usize, &element.to_bytes())
                .map_err(failed)?;
        }
        let at = self.position(0);
        let shift = 4 * self.below(128);
        let markers = self
            .random
            .random_bool(0.4)
            .then(|| at.rcv_nxt.wrapping_add(shift));
        let tracked = Tracked {
            timestamps: self.random.random(),
            markers,
            crc: self.random.random_bool(0.8),
            pd,
            rq_tail: at.msn.wrapping_add(self.below(5)),
            elements,
            epoch: n as u8 + 3,
            at,
        };
        let rx = FlowRxRow {
            flags: u8::from(markers.is_some())
                | u8::from(tracked.crc) << 1
                | 4
                | u8::from(tracked.timestamps) << 3,
            rq_log2: RQ_LOG2,
            epoch: tracked.epoch,
            pd,
            marker_base: markers.unwrap_or(0),
            rq_base: rq.iova,
        };
        let tx = ends.tx(4, 0);
        self.bench
            .flow(number, &ends, &rx, &tx, &tracked.at)
            .map_err(failed)?;
        let tail = doorbell::RQ_TAIL + 4 * u32::from(number);
        self.bench.ring(tail, tracked.rq_tail);
        Ok(Flow {
            number,
            key_index: places(&ends, self.bench.flows())[usize::from(number & 3)],
            ends,
            rq_before: rq.read(0, rq.len()).map_err(failed)?,
            rq,
            tracked,
            history: Vec::new(),
        })
    }

    /// Somewhere, often near a wrap.
    fn position(&mut self, raw_seen: u32) -> AttachRow {
        let near = |random: &mut ChaCha8Rng| {
            let around: u32 = *[0, 1 << 31, random.random()].choose(random).unwrap_or(&0);
            around.wrapping_sub(random.random_range(0..1500u32))
        };
        let windows = [
            0,
            600,
            2000,
            2400,
            4000,
            65535,
            1 << 20,
            1 << 30,
            0x7fff_ffff,
        ];
        let ts_recent_valid = self.random.random_bool(0.7);
        AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen,
            rcv_nxt: near(&mut self.random) & !3,
            msn: near(&mut self.random),
            mo: *[0, 0, 0, 7].choose(&mut self.random).unwrap_or(&0),
            ts_recent: near(&mut self.random),
            window: *windows.choose(&mut self.random).unwrap_or(&0),
        }
        .with_ts_recent_valid(ts_recent_valid)
    }

    /// A ULPDU, mostly right, for this MSN and MO; says how they go on.
    fn ulpdu(&mut self, f: usize, msn: &mut u32, mo: &mut u32, wrong: bool) -> Vec<u8> {
        let number = self.flows[f].tracked.elements + self.below(2) as usize;
        let (stag, base) = (self.memories[number].stag, self.memories[number].row.base);
        let lengths = [0, 1, 2, 3, 4, 5, 30, 63, 64, 65, 200, 490, 512, 700];
        let length = *lengths.choose(&mut self.random).unwrap_or(&0);
        let mut data: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
        if self.random.random_bool(0.4) {
            let room = PIECES.iter().map(|p| p.1 as u32).sum::<u32>();
            data.truncate(room.saturating_sub(*mo) as usize);
            let last = self.random.random_bool(0.7);
            let opcode = 3 + self.below(4) as u8;
            let mut header = [0, *msn, *mo];
            let opcode = match wrong.then(|| self.below(6)) {
                Some(0) => {
                    header[0] = self.random.random_range(1..6);
                    self.below(16) as u8
                }
                Some(1) => {
                    header[1] = msn.wrapping_add(*self.edge());
                    opcode
                }
                Some(2) => {
                    header[2] = mo.wrapping_add(*self.edge());
                    opcode
                }
                Some(3) => {
                    data.resize(201, 0x77);
                    opcode
                }
                Some(4) => self.below(16) as u8,
                _ => opcode,
            };
            (*msn, *mo) = if last {
                (msn.wrapping_add(1), 0)
            } else {
                (*msn, *mo + data.len() as u32)
            };
            return untagged(last, opcode, header, &data);
        }
        let most = ELEMENTS as u32 - length as u32;
        let to = base.wrapping_add(u64::from(self.below(most + 1)));
        let mut ulpdu = match wrong.then(|| self.below(6)) {
            Some(0) => tagged(0, stag ^ 1 << self.below(32), to, &data),
            Some(1) => {
                // Around both ends of the region, and of all there is.
                let ends = [base, base.wrapping_add(REGION as u64 - length), 0];
                let end = *ends.choose(&mut self.random).unwrap_or(&0);
                let by = i64::from(self.below(5)) - 2;
                tagged(0, stag, end.wrapping_add(by as u64), &data)
            }
            Some(2) => {
                let other = self.below(self.memories.len() as u32) as usize;
                tagged(0, self.memories[other].stag, to, &data)
            }
            Some(3) => tagged(self.below(16) as u8, stag, to, &data),
            Some(4) => tagged(0, self.random.random(), self.random.random(), &data),
            _ => tagged(self.below(2) as u8 * 2, stag, to, &data),
        };
        if wrong && self.random.random_ratio(1, 5) {
            ulpdu[self.random.random_range(0..2)] ^= 1 << self.below(8);
        }
        if wrong && self.random.random_ratio(1, 8) {
            ulpdu.truncate(self.below(18) as usize);
        }
        ulpdu
    }

    fn edge(&mut self) -> &'static u32 {
        const EDGES: [u32; 9] = [
            1,
            u32::MAX,
            2,
            8,
            0u32.wrapping_sub(8),
            1 << 16,
            1 << 31,
            (1 << 31) - 1,
            (1 << 31) + 1,
        ];
        EDGES.choose(&mut self.random).unwrap_or(&1)
    }

    /// The segment that is next, with some FPDUs; `wrong`: something in one of them.
    fn next(&mut self, f: usize, seq: u32, wrong: bool) -> Spec {
        let at = self.flows[f].tracked.at;
        let (mut msn, mut mo) = (at.msn, at.mo);
        let mut payload = Vec::new();
        let count = self.random.random_range(1..=3);
        for n in 0..count {
            let here = seq.wrapping_add(payload.len() as u32);
            let ulpdu = self.ulpdu(f, &mut msn, &mut mo, wrong && n + 1 == count);
            payload.extend(fpdu(here, self.flows[f].tracked.markers, &ulpdu));
        }
        let tracked = &self.flows[f].tracked;
        let later = at.ts_recent.wrapping_add(self.random.random_range(0..3));
        Spec {
            seq,
            ack: self.random.random(),
            flags: *[0x10, 0x18, 0x11, 0xd0]
                .choose(&mut self.random)
                .unwrap_or(&0x10),
            ts_val: tracked.timestamps.then_some(later),
            ip_options: 0,
            fragment: 0x4000,
            protocol: 6,
            payload,
        }
    }

    /// Sends a frame: a good one, or one to do harm.
    fn send(&mut self) {
        self.tally.frames += 1;
        self.frames += 1;
        let f = self.below(self.flows.len() as u32) as usize;
        let at = self.flows[f].tracked.at;
        if self.random.random_bool(0.4) {
            let spec = self.next(f, at.rcv_nxt, false);
            return self.segment(f, spec);
        }
        let kind = self.below(14);
        let wrong = kind == 0 || self.random.random_ratio(1, 6);
        let mut spec = self.next(f, at.rcv_nxt, wrong);
        let length = spec.payload.len() as u32;
        match kind {
            1 | 2 => {
                let half = 1 << 31;
                let edges = [
                    1,
                    u32::MAX,
                    4,
                    0u32.wrapping_sub(length),
                    1u32.wrapping_sub(length),
                    u32::MAX.wrapping_sub(length),
                    at.window.wrapping_sub(length),
                    at.window.wrapping_sub(length).wrapping_add(1),
                    at.window.wrapping_sub(length).wrapping_sub(1),
                    at.window,
                    half,
                    half - 1,
                    half + 1,
                    half - length,
                    half - length - 1,
                    half - length + 1,
                    1 << 30,
                    self.random.random(),
                ];
                let by = edges.choose(&mut self.random).unwrap_or(&1);
                spec = Spec {
                    seq: at.rcv_nxt.wrapping_add(*by),
                    ..spec
                };
            }
            3 => spec.flags = self.random.random(),
            4 => {
                let edge = *self.edge();
                spec.ts_val = self
                    .random
                    .random_bool(0.7)
                    .then(|| at.ts_recent.wrapping_add(edge));
            }
            5 => spec.ip_options = 4 * self.random.random_range(1..=10),
            6 => {
                spec.fragment = *[0x2000, 0x2001, 1, 0x1fff, 0x8000]
                    .choose(&mut self.random)
                    .unwrap_or(&1)
            }
            // An overlap: some of it was there before, with other content.
            7 => {
                spec.seq = at
                    .rcv_nxt
                    .wrapping_sub(self.random.random_range(1..=length))
            }
            // One of before, as it was, or with other bytes and as good a CRC.
            8 => {
                if let Some(old) = self.flows[f].history.choose(&mut self.random).cloned() {
                    let again = self.next(f, old.seq, false);
                    spec = if self.random.random() { old } else { again };
                }
            }
            9 => {
                let left = self.below(length) as usize;
                spec.payload.truncate(left);
            }
            10 => {
                let byte = self.below(length) as usize;
                spec.payload[byte] ^= 1 << self.below(8);
            }
            11 => {
                let extra = self.random.random_range(1..9);
                spec.payload
                    .extend((0..extra).map(|_| self.random.random::<u8>() & 3));
            }
            12 => return self.no_segment(f, &spec),
            13 => return self.broken(f, &spec),
            _ => {}
        }
        self.segment(f, spec);
    }

    /// A segment of a flow, and what has to come of it.
    fn segment(&mut self, f: usize, mut spec: Spec) {
        // Nothing comes behind a FIN; with markers this test's next segment would begin within a word.
        if self.flows[f].tracked.markers.is_some() {
            spec.flags &= !1;
        }
        let flow = &mut self.flows[f];
        let bytes = frame(&flow.ends, &spec);
        // More fragments, or an offset: no segment.
        if spec.fragment & 0x3fff != 0 {
            self.raw_tail += 1;
            self.expected.push_back(Expected::Frame(bytes.clone()));
        } else {
            let was = flow.tracked.at.attached & AttachRow::ATTACHED != 0;
            let what = outcome(&mut flow.tracked, &mut self.memories, &spec);
            self.raw_tail += u32::from(what.raw);
            // Or it was not walked at all.
            if what.leaves || what.raw && what.done == 0 && what.fpdus.is_empty() {
                flow.tracked.at.raw_seen = self.raw_tail;
            }
            let t = &mut *self.tally;
            t.refused[usize::from(what.status)] += 1;
            t.duplicates += u64::from(what.duplicate);
            let has = |verdict: u8| what.fpdus.iter().any(|x| x.0 == verdict);
            t.placed += u64::from(has(fpdu_verdict::PLACED));
            t.errors += u64::from(has(fpdu_verdict::ERROR));
            if was && !what.attached && !has(fpdu_verdict::ERROR) {
                let in_sequence = what.done > 0 || !what.fpdus.is_empty();
                t.partial += u64::from(in_sequence);
                t.by_hand += u64::from(!in_sequence);
            }
            flow.history.push(spec.clone());
            self.expected
                .push_back(Expected::Segment(flow.number, spec, what, bytes.clone()));
        }
        self.bench.world.deliver(0, bytes, false);
    }

    /// A frame that is no segment of a flow: it goes up as it is.
    fn no_segment(&mut self, f: usize, spec: &Spec) {
        let mut ends = self.flows[f].ends;
        let mut spec = spec.clone();
        let bytes = match self.below(5) {
            0 => {
                spec.protocol = *[17, 1, 0, 255].choose(&mut self.random).unwrap_or(&17);
                frame(&ends, &spec)
            }
            1 => {
                ends.remote_port ^= 1 << self.below(16);
                frame(&ends, &spec)
            }
            2 => {
                ends.remote_ip[3] ^= 0x80;
                frame(&ends, &spec)
            }
            // To everyone: no segment, whatever is in it.
            3 => {
                ends.local_mac = [0xff; 6];
                frame(&ends, &spec)
            }
            _ => {
                let length = self.random.random_range(14..300);
                let mut junk: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
                junk[..6].copy_from_slice(&ends.local_mac);
                junk[12] |= 0x80;
                junk
            }
        };
        self.tally.not_tcp += 1;
        self.raw_tail += 1;
        self.expected.push_back(Expected::Frame(bytes.clone()));
        self.bench.world.deliver(0, bytes, false);
    }

    /// A frame to be dropped: the next segment, with something wrong outside its payload.
    fn broken(&mut self, f: usize, spec: &Spec) {
        let mut ends = self.flows[f].ends;
        let mut bytes = frame(&ends, spec);
        let flip = 1u8 << self.below(8);
        let mut bad = false;
        let counter = match self.below(8) {
            0 => {
                bad = true;
                Counter::RxDropFcs
            }
            1 => {
                bytes.truncate(self.random.random_range(1..14));
                Counter::RxDropRunt
            }
            2 => {
                ends.local_mac[5] ^= flip;
                bytes = frame(&ends, spec);
                Counter::RxDropMac
            }
            3 => {
                bytes[14] = 0x65;
                Counter::RxDropIpHeader
            }
            4 => {
                // Longer than what is there.
                bytes.truncate(bytes.len() - 1);
                Counter::RxDropIpHeader
            }
            5 => {
                bytes[24] ^= flip;
                Counter::RxDropIpChecksum
            }
            6 => {
                bytes[46] &= 0x0f;
                Counter::RxDropTcpHeader
            }
            _ => {
                let at = bytes.len() - 1 - self.below(spec.payload.len() as u32) as usize;
                bytes[at] ^= flip;
                Counter::RxDropTcpChecksum
            }
        };
        self.tally.dropped += 1;
        match self.drops.iter_mut().find(|d| d.0 == counter) {
            Some((_, count)) => *count += 1,
            None => self.drops.push((counter, 1)),
        }
        self.bench.world.deliver(0, bytes, bad);
    }

    /// What the host does while frames are under way, and none of their business.
    fn between(&mut self) -> Result<(), Failed> {
        let f = self.below(self.flows.len() as u32) as usize;
        let number = u32::from(self.flows[f].number);
        let tracked = &self.flows[f].tracked;
        let tail = tracked.rq_tail;
        match self.below(6) {
            0 => {
                let row = StagRow {
                    valid: StagRow::VALID,
                    key: self.random.random(),
                    access: ALL_RIGHTS,
                    length: 64,
                    ..StagRow::default()
                };
                let stag = (200 + self.below(9)) << 8;
                self.bench.stag(stag, &row).map_err(failed)?;
            }
            1 => {
                // As if its last raw segment were not seen.
                let row = self.bench.read_table(table::ATTACH, number);
                let mark = row
                    .map_err(failed)?
                    .map_or(0, |r| AttachRow::from_bytes(&r).raw_seen);
                let row = AttachRow {
                    attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
                    ..self.position(mark.wrapping_sub(1))
                };
                let applied = self
                    .bench
                    .write_table(table::ATTACH, number, &row.to_bytes())
                    .map_err(failed)?;
                if applied {
                    return Err(format!("flow {number} attached with a raw segment unseen"));
                }
            }
            2 => {
                let ends = Ends::of(200);
                let row = FlowKeyRow {
                    valid: FlowKeyRow::VALID,
                    flow: 200,
                    remote_ip: ends.remote_ip,
                    local_ip: ends.local_ip,
                    remote_port: ends.remote_port.to_be_bytes(),
                    local_port: ends.local_port.to_be_bytes(),
                };
                let taken = |at: &&u32| self.flows.iter().all(|f| f.key_index != **at);
                if let Some(at) = places(&ends, self.bench.flows()).iter().find(taken) {
                    self.bench
                        .write_table(table::FLOW_KEY, *at, &row.to_bytes())
                        .map_err(failed)?;
                }
            }
            3 => self.bench.ring(doorbell::RQ_TAIL + 4 * number, tail),
            4 => self.bench.ring(doorbell::RQ_TAIL + 4 * 200, tail),
            _ => {
                let number = self.random.random();
                self.bench.write(reg::FENCE, number);
            }
        }
        Ok(())
    }

    /// Runs until the card is at rest; holds reports, positions and memory against what had to come.
    fn compare(&mut self) -> Result<(), Failed> {
        self.bench.settle(LIMIT).map_err(failed)?;
        let mut fpdus = Vec::new();
        for (bytes, raw) in self.bench.reports() {
            match bytes[0] {
                report_kind::SEGMENT => {
                    let report = SegmentReport::from_bytes(&bytes);
                    self.reported(&report, raw, std::mem::take(&mut fpdus))?;
                }
                report_kind::FPDU => {
                    let r = FpduReport::from_bytes(&bytes);
                    fpdus.push((r.verdict, r.terminate, r.offset));
                }
                report_kind::FRAME => match self.expected.pop_front() {
                    Some(Expected::Frame(sent)) if raw.as_ref() == Some(&sent) => {}
                    _ => return Err("a frame report that has no frame".into()),
                },
                kind => return Err(format!("a report of kind {kind}")),
            }
        }
        if !self.expected.is_empty() || !fpdus.is_empty() {
            let left = self.expected.len();
            return Err(format!("{left} frames without a report, FPDUs {fpdus:?}"));
        }
        for n in 0..self.flows.len() {
            let flow = &self.flows[n];
            let (number, want) = (flow.number, flow.tracked.at);
            let rq = flow.rq.read(0, flow.rq_before.len()).map_err(failed)?;
            if rq != flow.rq_before {
                return Err(format!("flow {number}: receive queue written to"));
            }
            let row = self
                .bench
                .read_table(table::ATTACH, number.into())
                .map_err(failed)?;
            let is = row.map(|r| AttachRow::from_bytes(&r));
            if is != Some(want) {
                return Err(format!("flow {number}: at {is:x?}, not {want:x?}"));
            }
        }
        for memory in &self.memories {
            let bytes = memory.region.read(0, REGION).map_err(failed)?;
            if bytes != memory.shadow {
                let mut pairs = bytes.iter().zip(&memory.shadow);
                let at = pairs.position(|(a, b)| a != b);
                let stag = memory.stag;
                return Err(format!(
                    "STag {stag:x}: another byte than it has to be at {at:?}"
                ));
            }
        }
        let faults = self.bench.world.iommu(0).take_faults();
        if !faults.is_empty() {
            return Err(format!("outside all memory: {faults:x?}"));
        }
        Ok(())
    }

    fn reported(
        &mut self,
        r: &SegmentReport,
        raw: Option<Vec<u8>>,
        fpdus: Vec<(u8, u16, u16)>,
    ) -> Result<(), Failed> {
        let Some(Expected::Segment(flow, spec, want, sent)) = self.expected.pop_front() else {
            return Err(format!("a report without a segment: {r:x?}"));
        };
        let is = Outcome {
            status: r.status & SegmentReport::REFUSAL_MASK,
            duplicate: r.duplicate(),
            raw: r.raw(),
            attached: r.attached(),
            leaves: r.raw() && !r.attached() && r.payload_len > 0 && r.tcp_flags & 6 == 0,
            done: r.done_len,
            fpdus,
        };
        let tracked = self.flows.iter().find(|f| f.number == flow);
        let epoch = tracked.map_or(0, |f| f.tracked.epoch);
        let said = (r.flow, r.seq, r.ack, r.tcp_flags, r.payload_len, r.epoch);
        let length = spec.payload.len() as u16;
        let was = (flow, spec.seq, spec.ack, spec.flags, length, epoch);
        let stamp = r.timestamps().then_some(r.ts_val);
        let stamped = spec.ts_val.filter(|_| spec.ip_options == 0);
        if is != want || said != was || stamp != stamped {
            return Err(format!(
                "{is:x?}, not {want:x?}; {said:x?} of {was:x?}; {stamp:x?} of {stamped:x?}"
            ));
        }
        if raw.is_some_and(|raw| raw != sent) {
            return Err(format!("the raw frame of {was:x?} is another"));
        }
        Ok(())
    }

    /// What the host does when nothing is under way: flows attached again, elements, regions changed.
    fn at_rest(&mut self) -> Result<(), Failed> {
        for n in 0..self.flows.len() {
            let at = self.flows[n].tracked.at;
            let number = u32::from(self.flows[n].number);
            if at.attached & AttachRow::ATTACHED == 0 && self.random.random_bool(0.8) {
                let mut row = AttachRow {
                    attached: at.attached | AttachRow::ATTACHED,
                    raw_seen: self.bench.raw_seen(),
                    ..at
                };
                // As if the engine had taken some by hand.
                if self.random.random_bool(0.3) {
                    row = self.position(row.raw_seen);
                    let rest = row.rcv_nxt.wrapping_sub(at.rcv_nxt) & 3;
                    row.rcv_nxt = row.rcv_nxt.wrapping_sub(rest);
                    self.flows[n].tracked.rq_tail = row.msn.wrapping_add(1);
                    let tail = self.flows[n].tracked.rq_tail;
                    self.bench.ring(doorbell::RQ_TAIL + 4 * number, tail);
                    self.flows[n].history.clear();
                }
                let applied = self
                    .bench
                    .write_table(table::ATTACH, number, &row.to_bytes())
                    .map_err(failed)?;
                if !applied {
                    return Err(format!("flow {number}: not attached with {row:x?}"));
                }
                self.flows[n].tracked.at = AttachRow {
                    raw_seen: at.raw_seen,
                    ..row
                };
                self.tally.attached_again += 1;
            } else if self.random.random_bool(0.2) {
                let tail = self.flows[n].tracked.at.msn.wrapping_add(self.below(4));
                let old = self.flows[n].tracked.rq_tail;
                if tail.wrapping_sub(old) as i32 > 0 {
                    self.flows[n].tracked.rq_tail = tail;
                    self.bench.ring(doorbell::RQ_TAIL + 4 * number, tail);
                }
            }
        }
        if self.random.random_bool(0.2) {
            // The second region of a flow: its rights, bounds, key.
            let number = self.below(self.flows.len() as u32) as usize * 2 + 1;
            let (draw, longest) = (self.below(6), REGION as u64);
            let pd = self.memories[number - 1].row.pd;
            let memory = &mut self.memories[number];
            match draw {
                0 => memory.row.valid ^= StagRow::VALID,
                1 => memory.row.key = memory.row.key.wrapping_add(1),
                2 => memory.row.access = self.random.random_range(0..=ALL_RIGHTS),
                3 => memory.row.pd ^= 1,
                4 => memory.row.length = self.random.random_range(0..=longest),
                _ => {
                    memory.row = StagRow {
                        valid: StagRow::VALID,
                        key: memory.stag as u8,
                        access: StagRow::REMOTE_WRITE | StagRow::READ_SINK,
                        pd,
                        length: longest,
                        ..memory.row
                    }
                }
            }
            let memory = &self.memories[number];
            self.bench.stag(memory.stag, &memory.row).map_err(failed)?;
        }
        Ok(())
    }

    /// Every frame was counted, where it had to be.
    fn counters(&mut self) -> Result<(), Failed> {
        let drops = [
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
            Counter::RxDropNoRawCredit,
        ];
        let frames = self.bench.counter(Counter::RxFrames).map_err(failed)?;
        if frames != self.frames {
            return Err(format!("{frames} frames counted, not {}", self.frames));
        }
        for counter in drops {
            let is = self.bench.counter(counter).map_err(failed)?;
            let known = self.drops.iter().find(|d| d.0 == counter);
            let want = known.map_or(0, |d| d.1);
            if is != want {
                return Err(format!("{counter:?} is {is}, not {want}"));
            }
        }
        Ok(())
    }
}

/// Where the key of a flow may be.
fn places(ends: &Ends, flows: u32) -> [u32; 4] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&ends.remote_ip);
    key[4..8].copy_from_slice(&ends.local_ip);
    key[8..10].copy_from_slice(&ends.remote_port.to_be_bytes());
    key[10..].copy_from_slice(&ends.local_port.to_be_bytes());
    key_places(&key, flows)
}
