//! Segments of flows in turn beyond gaps, one behind the other without a pause: every kind of card does what the functional model does.

use rand::seq::SliceRandom;
use rand::Rng;
use weft_layout::{
    doorbell, reg, report_kind, table, AttachRow, Counter, FlowRxRow, Job, ReceiveElement,
    SegmentReport, StagRow,
};
use weft_sim::bench::{Ends, Region};
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::mpa;
use weft_sim::seed::{generator, Stream};

use crate::receive::setup::{each, region_row, Setup, ATTACHED, BASE, FLOW, PLAIN, SEQ};
use crate::receive::stretch::{response, tagged, untagged};

/// The flow of the setup, and four more.
const FLOWS: [u16; 5] = [FLOW, FLOW + 1, FLOW + 2, FLOW + 3, FLOW + 4];
/// The third one's segments begin with FPDUs, the fourth one keeps no islands, the last one carries, and has all in order.
const ROWS: [u8; 5] = [
    ISLANDS,
    ISLANDS,
    PLAIN | FlowRxRow::BEYOND,
    PLAIN | FlowRxRow::MARKERS,
    PLAIN | FlowRxRow::CARRY,
];
const CARRIES: usize = 4;
const ISLANDS: u8 = PLAIN | FlowRxRow::MARKERS | FlowRxRow::BEYOND;
/// Segments of a flow in a burst.
const SEGMENTS: usize = 12;
/// Those of them that are cut in two. So no flow needs more raw slots than it may take before the host returns some, whenever that is.
const CUTS: usize = 3;
/// Octets of memory for each.
const SLOT: usize = 1080;
/// What may differ: nothing but the time of a frame's arrival, and what depends on when the host has been told.
const COUNTERS: [Counter; 9] = [
    Counter::RxSegments,
    Counter::RxSegmentsPlaced,
    Counter::RxSegmentsBeyond,
    Counter::RxSegmentsCarried,
    Counter::RxSegmentsDuplicate,
    Counter::RxSegmentsBypassed,
    Counter::RxDetachGap,
    Counter::RxDetachPartial,
    Counter::RxFpdus,
];

/// Receives of a flow, and the room of each.
const RECEIVES: u32 = 8;
const ROOM: u32 = 1100;
/// The STag of what they receive in.
const SINK: u32 = 0x0000_06b6;

/// Where the next FPDU of queue 0 belongs.
#[derive(Clone, Copy)]
struct Sends {
    msn: u32,
    mo: u32,
}

impl Sends {
    const BEGIN: Self = Self { msn: 1, mo: 0 };

    /// The next one, of these octets; seldom of another message, or in another place.
    fn next(&mut self, rng: &mut impl Rng, octets: &[u8]) -> Vec<u8> {
        match rng.random_range(0..40) {
            0 => self.msn += 1,
            1 => self.msn = self.msn.wrapping_sub(1),
            2 => self.mo += 8,
            _ => {}
        }
        let length = octets.len() as u32;
        let last = self.mo + 2 * length > ROOM || rng.random();
        let mut ulpdu = untagged(0, self.msn, self.mo, last, octets);
        ulpdu[1] = 0x40 | [3, 4, 5, 6, 8, 9][rng.random_range(0..6)];
        if last {
            (self.msn, self.mo) = (self.msn.wrapping_add(1), 0);
        } else {
            self.mo += length;
        }
        ulpdu
    }
}

/// A segment of FPDUs from `seq` on: Writes, Read Responses and Sends, seldom with something wrong or something else behind.
fn segment(
    rng: &mut impl Rng,
    markers: Option<u32>,
    seq: u32,
    slot: usize,
    sends: &mut Sends,
) -> Vec<u8> {
    let mut octets = Vec::new();
    for n in 0..rng.random_range(1..3) {
        let at = slot * SLOT + n * 540;
        let length = if rng.random_range(0..30) == 0 {
            40
        } else {
            536
        };
        let octets_of = (0..length).map(|i| (i * 3 + slot * 7 + n) as u8);
        let octets_of = octets_of.collect::<Vec<_>>();
        let ulpdu = match rng.random_range(0..3) {
            0 => tagged(at, &octets_of),
            1 => response(at, &octets_of),
            _ => sends.next(rng, &octets_of),
        };
        let at = seq.wrapping_add(octets.len() as u32);
        octets.extend(mpa::frame(at, markers, true, &ulpdu));
    }
    match rng.random_range(0..100) {
        0 => {
            let last = octets.len() - 1;
            octets[last] ^= 1;
        }
        1 => octets.truncate(octets.len() - 4),
        2 => octets.extend([0; 4]),
        _ => {}
    }
    octets
}

/// Frames of a burst: of each flow a stretch, out of order, now and then twice or not at all.
fn burst(seed: u64) -> Vec<Vec<u8>> {
    let mut rng = generator(seed, Stream::Application);
    let mut queues: Vec<Vec<Vec<u8>>> = Vec::new();
    for (n, flow) in FLOWS.iter().enumerate() {
        let row = Ends::of(*flow).peer_tx(4, 0);
        let mut seq = SEQ;
        let (mut frames, mut sends) = (Vec::new(), Sends::BEGIN);
        let markers = (ROWS[n] & FlowRxRow::MARKERS != 0).then_some(SEQ);
        let mut cuts = 0;
        for k in 0..SEGMENTS {
            let octets = segment(&mut rng, markers, seq, n * SEGMENTS + k, &mut sends);
            let flags = flag::ACK
                | if rng.random_range(0..100) == 0 {
                    flag::FIN
                } else {
                    0
                };
            let job = Job::default();
            let cut = match n == CARRIES && cuts < CUTS && rng.random() {
                true => rng.random_range(0..octets.len()),
                false => 0,
            };
            cuts += usize::from(cut > 0);
            let (first, last) = octets.split_at(cut);
            for octets in [first, last].into_iter().filter(|o| !o.is_empty()) {
                frames.push(ethernet::segment(&row, &job, seq, flags, 9, octets));
                seq = seq.wrapping_add(octets.len() as u32);
            }
        }
        match rng.random_range(0..4) {
            _ if n == CARRIES => {}
            0 => frames.shuffle(&mut rng),
            1 => frames.swap(0, SEGMENTS - 1),
            2 => {
                let lost = frames.remove(rng.random_range(0..SEGMENTS - 1));
                frames.push(lost);
            }
            // Each second one first.
            _ => {
                let (even, mut odd): (Vec<_>, Vec<_>) = (0..SEGMENTS).partition(|k| k % 2 == 0);
                odd.extend(even);
                frames = odd.into_iter().map(|k| frames[k].clone()).collect();
            }
        }
        if rng.random() {
            let again = frames[rng.random_range(0..SEGMENTS)].clone();
            frames.insert(rng.random_range(0..SEGMENTS), again);
        }
        // Bare acknowledgments between them.
        let ack = ethernet::segment(&row, &Job::default(), SEQ, flag::ACK, 9, &[]);
        frames.insert(rng.random_range(0..SEGMENTS), ack);
        queues.push(frames);
    }
    let mut all = Vec::new();
    while !queues.is_empty() {
        let at = rng.random_range(0..queues.len());
        for _ in 0..rng.random_range(1..4) {
            if !queues[at].is_empty() {
                all.push(queues[at].remove(0));
            }
        }
        queues.retain(|q| !q.is_empty());
    }
    all
}

/// All that the card says and leaves.
#[derive(Debug, PartialEq)]
struct Left {
    reports: Vec<([u8; 64], Option<Vec<u8>>)>,
    positions: Vec<AttachRow>,
    counters: Vec<u32>,
    memory: [Vec<u8>; 2],
}

fn run(s: &mut Setup, received: &Region, seed: u64) -> Left {
    s.memory.write(0, &vec![0; s.memory.len()]).unwrap();
    received.write(0, &vec![0; received.len()]).unwrap();
    for flow in FLOWS {
        let row = AttachRow {
            raw_seen: s.bench.raw_seen(),
            ..ATTACHED
        };
        let bytes = row.to_bytes();
        let applied = s.bench.write_table(table::ATTACH, flow.into(), &bytes);
        assert!(applied.unwrap());
    }
    let mut before: Vec<u32> = Vec::new();
    for counter in COUNTERS {
        before.push(s.bench.counter(counter).unwrap());
    }
    for frame in burst(seed) {
        s.bench.inject(frame);
    }
    s.bench.settle(1_000_000).unwrap();
    let mut reports = s.bench.reports();
    for (record, _) in &mut reports {
        if record[0] == report_kind::SEGMENT {
            let report = SegmentReport {
                arrival: Default::default(),
                raw_slot: 0,
                phase: 0,
                ..SegmentReport::from_bytes(record)
            };
            *record = report.to_bytes();
        } else {
            // The phase is that of the ring.
            record[63] = 0;
        }
    }
    let mut positions = Vec::new();
    for flow in FLOWS {
        let row = s.bench.read_table(table::ATTACH, flow.into()).unwrap();
        let row = AttachRow::from_bytes(&row.unwrap());
        // Where a detached flow stands depends on what was in the walk behind the segment that detached it.
        positions.push(match row.attached() {
            true => AttachRow { raw_seen: 0, ..row },
            false => AttachRow {
                attached: row.attached,
                window: row.window,
                ts_recent: row.ts_recent,
                ..AttachRow::default()
            },
        });
    }
    let counts = COUNTERS.into_iter().zip(before);
    let counters = counts.map(|(c, before)| s.bench.counter(c).unwrap() - before);
    Left {
        reports,
        positions,
        counters: counters.collect(),
        memory: [
            s.memory.read(0, FLOWS.len() * SEGMENTS * SLOT).unwrap(),
            received.read(0, received.len()).unwrap(),
        ],
    }
}

/// Receives of all flows, and where they receive.
fn receives(s: &mut Setup) -> [Region; 2] {
    let elements = s.bench.region(4096);
    let received = s.bench.region(FLOWS.len() * (RECEIVES * ROOM) as usize);
    let row = StagRow {
        key: SINK as u8,
        access: StagRow::LOCAL_WRITE,
        length: received.len() as u64,
        ..region_row(&received)
    };
    s.bench.stag(SINK, &row).unwrap();
    for n in 0..FLOWS.len() * RECEIVES as usize {
        let element = ReceiveElement {
            sge0_to: BASE + u64::from(ROOM) * n as u64,
            sge0_length: ROOM,
            sge0_stag: SINK,
            ..ReceiveElement::default()
        };
        elements.write(64 * n, &element.to_bytes()).unwrap();
    }
    [elements, received]
}

#[test]
fn flows_in_turn_at_full_rate() {
    let seeds = 100;
    let expected = std::cell::RefCell::new(Vec::<Left>::new());
    each(ISLANDS, ATTACHED, |s| {
        if s.bench.read(reg::ISLANDS).unwrap() == 0 {
            return;
        }
        s.opens_sink();
        let [elements, received] = receives(s);
        for (n, (flow, flags)) in FLOWS.into_iter().zip(ROWS).enumerate() {
            let ends = Ends::of(flow);
            let row = FlowRxRow {
                flags,
                marker_base: SEQ,
                rq_base: elements.iova + 64 * u64::from(RECEIVES) * n as u64,
                rq_log2: 3,
                ..s.rx
            };
            let tail = doorbell::RQ_TAIL + 4 * u32::from(flow);
            s.bench.ring(tail, 0);
            if flow == FLOW {
                let bytes = row.to_bytes();
                let written = s.bench.write_table(table::FLOW_RX, flow.into(), &bytes);
                assert!(written.unwrap());
            } else {
                let tx = ends.tx(PLAIN, 0);
                s.bench.flow(flow, &ends, &row, &tx, &ATTACHED).unwrap();
            }
            s.bench.ring(tail, RECEIVES);
        }
        let (mut counted, mut sent) = ([0; COUNTERS.len()], (0, 0));
        for seed in 0..seeds {
            let left = run(s, &received, seed);
            let msns = left.positions.iter().map(|row| row.msn);
            let passed = msns.clone().filter(|msn| (2..1 << 30).contains(msn));
            let torn = msns.filter(|msn| *msn >= 1 << 30);
            (sent.0, sent.1) = (sent.0 + passed.count(), sent.1 + torn.count());
            counted
                .iter_mut()
                .zip(&left.counters)
                .for_each(|(all, n)| *all += n);
            let mut expected = expected.borrow_mut();
            match expected.get(seed as usize) {
                None => expected.push(left),
                Some(should) => {
                    let reports = left.reports.iter().zip(&should.reports);
                    let at = reports.take_while(|(a, b)| a.0 == b.0).count();
                    let (is, should_be) = (left.reports.get(at), should.reports.get(at));
                    assert_eq!(is, should_be, "seed {seed}, report {at}");
                    assert_eq!(left.positions, should.positions, "seed {seed}");
                    assert_eq!(left.counters, should.counters, "seed {seed}");
                    for (is, should) in left.memory.iter().zip(&should.memory) {
                        let octets = is.iter().zip(should);
                        let at = octets.take_while(|(a, b)| a == b).count();
                        assert_eq!(at, is.len(), "seed {seed}: memory differs there");
                    }
                    assert!(left == *should, "seed {seed}: raw frames");
                }
            }
        }
        assert!(counted.iter().all(|n| *n > 5), "what came: {counted:?}");
        eprintln!("{counted:?} {sent:?}");
        assert!(sent.0 > 50 && sent.1 > 2, "Sends: {sent:?}");
    });
}
