//! Segments of flows in turn beyond gaps, one behind the other without a pause: every kind of card does what the functional model does.

use rand::seq::SliceRandom;
use rand::Rng;
use weft_layout::{reg, report_kind, table, AttachRow, Counter, FlowRxRow, Job, SegmentReport};
use weft_sim::bench::Ends;
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::mpa;
use weft_sim::seed::{generator, Stream};

use crate::receive::setup::{each, Setup, ATTACHED, FLOW, PLAIN, SEQ};
use crate::receive::stretch::{response, tagged};

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

/// A segment of FPDUs from `seq` on: Writes and Read Responses, seldom with something wrong or something else behind.
fn segment(rng: &mut impl Rng, markers: Option<u32>, seq: u32, slot: usize) -> Vec<u8> {
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
        let ulpdu = match rng.random() {
            true => tagged(at, &octets_of),
            false => response(at, &octets_of),
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
        let mut frames = Vec::new();
        let markers = (ROWS[n] & FlowRxRow::MARKERS != 0).then_some(SEQ);
        for k in 0..SEGMENTS {
            let octets = segment(&mut rng, markers, seq, n * SEGMENTS + k);
            let flags = flag::ACK
                | if rng.random_range(0..100) == 0 {
                    flag::FIN
                } else {
                    0
                };
            let job = Job::default();
            let cut = match n == CARRIES && rng.random() {
                true => rng.random_range(0..octets.len()),
                false => 0,
            };
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
    memory: Vec<u8>,
}

fn run(s: &mut Setup, seed: u64) -> Left {
    s.memory.write(0, &vec![0; s.memory.len()]).unwrap();
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
        let rcv_nxt = if row.attached() { row.rcv_nxt } else { 0 };
        positions.push(AttachRow {
            rcv_nxt,
            raw_seen: 0,
            ..row
        });
    }
    let counts = COUNTERS.into_iter().zip(before);
    let counters = counts.map(|(c, before)| s.bench.counter(c).unwrap() - before);
    Left {
        reports,
        positions,
        counters: counters.collect(),
        memory: s.memory.read(0, FLOWS.len() * SEGMENTS * SLOT).unwrap(),
    }
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
        for (flow, flags) in FLOWS.into_iter().zip(ROWS) {
            let ends = Ends::of(flow);
            let row = FlowRxRow {
                flags,
                marker_base: SEQ,
                ..s.rx
            };
            if flow == FLOW {
                let bytes = row.to_bytes();
                let written = s.bench.write_table(table::FLOW_RX, flow.into(), &bytes);
                assert!(written.unwrap());
                continue;
            }
            let tx = ends.tx(PLAIN, 0);
            s.bench.flow(flow, &ends, &row, &tx, &ATTACHED).unwrap();
        }
        let mut counted = [0; COUNTERS.len()];
        for seed in 0..seeds {
            let left = run(s, seed);
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
                    let octets = left.memory.iter().zip(&should.memory);
                    let at = octets.take_while(|(a, b)| a == b).count();
                    assert_eq!(at, left.memory.len(), "seed {seed}: memory differs there");
                    assert!(left == *should, "seed {seed}: raw frames");
                }
            }
        }
        assert!(counted.iter().all(|n| *n > 5), "what came: {counted:?}");
    });
}
