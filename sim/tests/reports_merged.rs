//! Bare acknowledgments that wait for room in the report ring: which of them a later one stands for, and that nothing else is left out.

use crate::flows::Flows;

use rand::Rng;
use weft_layout::{report_kind, Counter, FlowTxRow, Job, SegmentReport};
use weft_sim::bench::Rings;
use weft_sim::kind::CardKind;
use weft_sim::model::ethernet;
use weft_sim::seed::{generator, Stream};

/// Frames of a run: fewer than any card stores.
const FRAMES: usize = 60;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;

/// What a frame says, as its report repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    flow: u16,
    seq: u32,
    ack: u32,
    window: u16,
    tcp_flags: u8,
    payload_len: u16,
    /// SACK blocks, and the edges of the first one.
    sack: (u8, u32, u32),
}

impl Said {
    fn of(report: &SegmentReport) -> Self {
        Self {
            flow: report.flow,
            seq: report.seq,
            ack: report.ack,
            window: report.window,
            tcp_flags: report.tcp_flags,
            payload_len: report.payload_len,
            sack: (report.sack_count(), report.sack0_left, report.sack0_right),
        }
    }

    fn is_bare(&self) -> bool {
        self.tcp_flags == ACK && self.payload_len == 0 && self.sack.0 == 0
    }

    /// Acknowledges more than the one before, and offers no less.
    fn goes_on_from(&self, before: &Self) -> bool {
        let step = self.ack.wrapping_sub(before.ack);
        self.is_bare()
            && before.is_bare()
            && (self.flow, self.seq) == (before.flow, before.seq)
            && (1..1 << 31).contains(&step)
            && before.window <= self.window
    }
}

/// Options with one SACK block, and its edges.
const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 0x20, 0, 0, 0, 0x30, 0];
const EDGES: (u8, u32, u32) = (1, 0x2000, 0x3000);

/// Frames of two flows: most of them acknowledge and go on, some repeat, take room back, are marked, or bring a Write.
fn frames(s: &mut Flows, rng: &mut impl Rng) -> Vec<(Vec<u8>, Said)> {
    let mut at = [(0xffff_8000u32, 1000u16); 2];
    let mut turn = 0;
    let mut made = Vec::new();
    while made.len() < FRAMES {
        if rng.random_ratio(1, 12) {
            turn = 1 - turn;
        }
        let (ack, window) = &mut at[turn];
        let mut flags = ACK;
        let (mut payload, mut sacks) = (Vec::new(), false);
        match rng.random_range(0..24) {
            0 => {}
            1 => *window -= 1,
            2 => flags |= ECE,
            3 => sacks = true,
            4 => {
                let flow = &s.flows[turn];
                let ulpdu = flow.write(0, &[made.len() as u8; 64]);
                payload = weft_sim::model::mpa::frame(0, None, true, &ulpdu);
            }
            _ => {
                *ack = ack.wrapping_add(rng.random_range(1..3000));
                *window += rng.random_range(0..2);
            }
        }
        let flow = &mut s.flows[turn];
        let job = Job {
            ack: *ack,
            window: *window,
            ..Job::default()
        };
        let row = flow.ends.peer_tx(FlowTxRow::VALID, 0);
        let said = Said {
            flow: flow.number,
            seq: flow.seq,
            ack: *ack,
            window: *window,
            tcp_flags: flags,
            payload_len: payload.len() as u16,
            sack: if sacks { EDGES } else { (0, 0, 0) },
        };
        let mut frame = ethernet::segment(&row, &job, flow.seq, flags, 0, &payload);
        if sacks {
            frame = ethernet::with_tcp_options(&frame, &SACK);
        }
        flow.seq = flow.seq.wrapping_add(payload.len() as u32);
        made.push((frame, said));
    }
    made
}

/// What a card reports of these frames to a host that does not look before all of them are there, and the reports that it merged.
fn told(kind: CardKind, seed: u64) -> (Vec<Said>, Vec<Said>, u32) {
    let rings = Rings {
        report: 2,
        ..Rings::default()
    };
    let mut s = Flows::new(kind.build(1, 0), 2, rings);
    let mut rng = generator(seed, Stream::Application);
    let made = frames(&mut s, &mut rng);
    let sent = made.iter().map(|(_, said)| *said).collect();
    for (frame, _) in made {
        s.deliver(frame);
    }
    s.bench.settle(50_000).expect("a card");
    let mut told = Vec::new();
    for _ in 0..2 * FRAMES {
        for (report, _) in s.bench.some_reports(rng.random_range(1..4)) {
            if report[0] == report_kind::SEGMENT {
                told.push(Said::of(&SegmentReport::from_bytes(&report)));
            }
        }
        s.bench.settle(2_000).expect("a card");
    }
    let merged = s
        .bench
        .counter(Counter::RxReportsMerged)
        .expect("a counter");
    (sent, told, merged)
}

#[test]
fn a_bare_acknowledgment_goes_unreported_only_where_a_later_one_tells_all_of_it() {
    for seed in 0..6 {
        let mut before: Option<Vec<Said>> = None;
        for kind in CardKind::available() {
            let (sent, told, merged) = told(kind, seed);
            let mut due = sent.iter();
            let mut last: Option<Said> = None;
            let mut left_out = 0;
            for said in &told {
                let mut missing = Vec::new();
                loop {
                    let next = due.next();
                    let next = next.unwrap_or_else(|| panic!("{kind}, seed {seed}: {said:?}"));
                    if next == said {
                        break;
                    }
                    missing.push(*next);
                }
                left_out += missing.len();
                for gone in missing {
                    let first = last.expect("the first that waits is reported");
                    assert!(
                        gone.goes_on_from(&first) && said.goes_on_from(&gone),
                        "{kind}, seed {seed}: {first:?}, {gone:?}, {said:?}"
                    );
                }
                last = Some(*said);
            }
            assert_eq!(due.next(), None, "{kind}, seed {seed}: the last is told");
            assert_eq!(left_out, merged as usize, "{kind}, seed {seed}");
            assert!(
                merged as usize > FRAMES / 6,
                "{kind}, seed {seed}: {merged}"
            );
            // The host looks at the same times, so each card merges the same.
            let same = before.get_or_insert_with(|| told.clone());
            assert_eq!(*same, told, "{kind}, seed {seed}");
        }
    }
}

#[test]
fn where_the_ring_has_room_each_acknowledgment_is_reported() {
    for kind in CardKind::available() {
        let mut s = Flows::new(kind.build(1, 0), 2, Rings::default());
        let mut rng = generator(1, Stream::Application);
        let made = frames(&mut s, &mut rng);
        for (frame, _) in &made {
            s.deliver(frame.clone());
        }
        let reports = s.settle();
        let told: Vec<_> = reports
            .iter()
            .filter(|report| report[0] == report_kind::SEGMENT)
            .map(|report| Said::of(&SegmentReport::from_bytes(report)))
            .collect();
        let sent: Vec<_> = made.into_iter().map(|(_, said)| said).collect();
        assert_eq!(told, sent, "{kind}");
        assert_eq!(s.bench.counter(Counter::RxReportsMerged).unwrap(), 0);
    }
}
