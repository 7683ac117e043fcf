//! Segments that end inside an FPDU, of a flow whose FLOW_RX row asks the card to carry its octets over, on every kind of card.

use rand::Rng;
use weft_layout::reg::{Ctrl, Status};
use weft_layout::{fpdu_verdict, reg, table, AttachRow, Counter, FlowRxRow, Job, SegmentReport};
use weft_sim::bench::Ends;
use weft_sim::kind::CardKind;
use weft_sim::model::ethernet::{self, flag};
use weft_sim::seed::{generator, Stream};

use crate::receive::setup::{each, Heard, Setup, ATTACHED, FLOW, PLAIN, SEQ, TIMED};
use crate::receive::stretch::{pattern, stretch, tagged, untagged, Stretch};

const CARRIES: u8 = PLAIN | FlowRxRow::CARRY;
/// Octets that a flow carries at most: whole words, and what makes none.
const MOST: usize = 4096 + 3;
/// Flows that carry at a time.
const PLACES: u16 = 8;

impl Setup {
    fn row(&mut self, flags: u8, marker_base: u32) {
        let row = FlowRxRow {
            flags,
            marker_base,
            ..self.rx
        };
        let written = self
            .bench
            .write_table(table::FLOW_RX, FLOW.into(), &row.to_bytes());
        assert!(written.unwrap());
    }

    /// At `SEQ` again, whatever was before.
    fn attach_at(&mut self, seq: u32) {
        let row = AttachRow {
            raw_seen: self.bench.raw_seen(),
            rcv_nxt: seq,
            ..ATTACHED
        };
        self.attach(&row);
    }

    /// The octets of a stretch from one to another, as a segment.
    fn piece(&mut self, of: &Stretch, these: std::ops::Range<usize>) -> Heard {
        let seq = SEQ.wrapping_add(these.start as u32);
        self.data(seq, &of.octets[these])
    }

    fn piece_with(&mut self, flags: u8, of: &Stretch, these: std::ops::Range<usize>) -> Heard {
        let seq = SEQ.wrapping_add(these.start as u32);
        let frame = self.segment(seq, flag::ACK | flags, None, &of.octets[these]);
        self.hear(&frame)
    }

    fn counts(&mut self, counters: &[Counter]) -> Vec<u32> {
        let count = |c: &Counter| self.bench.counter(*c).unwrap();
        counters.iter().map(count).collect()
    }

    /// Segments carried, without room, and detached inside an FPDU or at an error.
    fn carry_counts(&mut self) -> Vec<u32> {
        self.counts(&[
            Counter::RxSegmentsCarried,
            Counter::RxCarryFull,
            Counter::RxDetachPartial,
            Counter::RxDetachError,
        ])
    }
}

/// Each FPDU in the report of the segment that it ends in: sequence number, offset, verdict.
fn fpdus(heard: &Heard) -> Vec<(u32, i16, u8)> {
    let of = |f: &weft_layout::FpduReport| (f.seq, f.offset as i16, f.verdict);
    heard.fpdus.iter().map(of).collect()
}

/// Two Writes, cut once at every octet, without markers, with one inside, and with one before the first FPDU.
#[test]
fn two_writes_cut_at_every_octet() {
    each(CARRIES, ATTACHED, |s| {
        let bases = [None, Some(SEQ.wrapping_add(40)), Some(SEQ), Some(SEQ + 96)];
        let (mut cuts, mut segments) = (0, 0);
        for base in bases {
            let markers = if base.is_some() {
                FlowRxRow::MARKERS
            } else {
                0
            };
            s.row(CARRIES | markers, base.unwrap_or(0).wrapping_sub(512));
            let data = [pattern(71, 1), pattern(42, 2)];
            let writes = [tagged(5, &data[0]), tagged(301, &data[1])];
            let of = stretch(base.map(|b| b.wrapping_sub(512)), &writes);
            let (first, all) = (of.ends[1], of.octets.len());
            for cut in 1..all {
                s.memory.write(0, &[0; 400]).unwrap();
                s.attach_at(SEQ);
                let what = format!("markers {base:?}, cut at {cut}");
                let one = s.piece(&of, 0..cut);
                let carried = cut != first;
                let done = if cut < first { 0 } else { first };
                assert_eq!(one.outcome(), (carried, true, 0, done as u16), "{what}");
                assert_eq!(one.raw.is_some(), carried, "{what}");
                let position = s.position();
                assert_eq!(position.rcv_nxt, SEQ.wrapping_add(cut as u32), "{what}");
                let two = s.piece(&of, cut..all);
                let length = (all - cut) as u16;
                assert_eq!(two.outcome(), (false, true, 0, length), "{what}");
                let mut expected: [Vec<_>; 2] = Default::default();
                for n in 0..2 {
                    let (begin, end) = (of.ends[n], of.ends[n + 1]);
                    let in_second = usize::from(end > cut);
                    let offset = begin as i16 - [0, cut as i16][in_second];
                    let seq = SEQ.wrapping_add(begin as u32);
                    expected[in_second].push((seq, offset, fpdu_verdict::PLACED));
                }
                assert_eq!([fpdus(&one), fpdus(&two)], expected, "{what}");
                for (at, octets) in [(5, &data[0]), (301, &data[1])] {
                    let there = s.memory.read(at, octets.len()).unwrap();
                    assert_eq!(&there, octets, "{what}");
                }
                (cuts, segments) = (cuts + u32::from(carried), segments + 2);
            }
        }
        assert_eq!(s.carry_counts(), [cuts, 0, 0, 0]);
        let counts = [Counter::RxSegmentsPlaced, Counter::RxSegmentsBypassed];
        assert_eq!(s.counts(&counts), [segments, cuts]);
    });
}

/// An FPDU of three segments and of many; and what has no payload or comes twice between them changes nothing.
#[test]
fn an_fpdu_of_many_segments() {
    each(CARRIES, ATTACHED, |s| {
        let data = pattern(300, 3);
        let of = stretch(None, &[tagged(0, &data)]);
        let all = of.octets.len();
        for step in [150, 1] {
            s.memory.write(0, &[0; 300]).unwrap();
            s.attach_at(SEQ);
            let mut at = 0;
            while at + step < all {
                let heard = s.piece(&of, at..at + step);
                assert_eq!(heard.outcome(), (true, true, 0, 0), "{at}");
                assert!(heard.fpdus.is_empty());
                if at % 50 == 0 {
                    // The same again, a bare acknowledgment, and one that is refused.
                    assert!(s.piece(&of, at..at + step).segment.duplicate());
                    s.data(SEQ.wrapping_add((at + step) as u32), &[]);
                    let frame = s.segment(SEQ.wrapping_add((at + step) as u32), 0, None, b"?");
                    assert_eq!(s.hear(&frame).segment.status, 1);
                }
                at += step;
            }
            let heard = s.piece(&of, at..all);
            assert_eq!(heard.outcome(), (false, true, 0, (all - at) as u16));
            let fpdu = (SEQ, -(at as i16), fpdu_verdict::PLACED);
            assert_eq!(fpdus(&heard), [fpdu]);
            assert_eq!(s.memory.read(0, 300).unwrap(), data);
        }
    });
}

/// The position of queue 0 moves with whole FPDUs; an FPDU for the engine is in the report of its last segment.
#[test]
fn sends_and_what_is_for_the_engine() {
    each(CARRIES, ATTACHED, |s| {
        let data = pattern(100, 4);
        let ulpdus = [
            untagged(0, 1, 0, false, &data[..60]),
            untagged(1, 1, 0, true, &pattern(28, 5)),
            untagged(0, 1, 60, true, &data[60..]),
        ];
        let of = stretch(None, &ulpdus);
        let [_, a, b, c] = of.ends[..] else {
            unreachable!("three FPDUs")
        };
        let mut positions = Vec::new();
        let cuts = [0, 30, a + 10, b - 1, b + 2, c];
        let mut outcomes = Vec::new();
        for cut in cuts.windows(2) {
            let heard = s.piece(&of, cut[0]..cut[1]);
            outcomes.push((heard.outcome(), fpdus(&heard)));
            let position = s.position();
            positions.push((position.msn, position.mo));
        }
        assert_eq!(positions, [(1, 0), (1, 60), (1, 60), (1, 60), (2, 0)]);
        let seq = |at: usize| SEQ.wrapping_add(at as u32);
        let (placed, engine) = (fpdu_verdict::PLACED, fpdu_verdict::ENGINE);
        assert_eq!(outcomes[0], ((true, true, 0, 0), vec![]));
        let done = (a - 30) as u16;
        let first = (seq(0), -30, placed);
        assert_eq!(outcomes[1], ((true, true, 0, done), vec![first]));
        assert_eq!(outcomes[2], ((true, true, 0, 0), vec![]));
        let request = (seq(a), a as i16 - (b as i16 - 1), engine);
        assert_eq!(outcomes[3], ((true, true, 0, 1), vec![request]));
        let last = (seq(b), -2, placed);
        let done = (c - b - 2) as u16;
        assert_eq!(outcomes[4], ((false, true, 0, done), vec![last]));
        assert_eq!(s.memory.read(0, 100).unwrap(), data);
    });
}

/// A place has 4096 octets and what makes no word; with one more the flow leaves the card.
#[test]
fn as_many_octets_as_a_place_has() {
    each(CARRIES, ATTACHED, |s| {
        let data = pattern(5000, 6);
        let of = stretch(None, &[tagged(0, b"before"), tagged(8, &data)]);
        let (begin, all) = (of.ends[1], of.octets.len());
        // In one segment, behind another FPDU, and octet by octet at the end.
        for (more, first) in [(0, None), (1, None), (0, Some(2000)), (1, Some(2000))] {
            let before = s.carry_counts();
            s.memory.write(0, &[0; 5008]).unwrap();
            s.attach_at(SEQ);
            let cut = begin + MOST + more;
            let mut at = 0;
            if let Some(first) = first {
                let heard = s.piece(&of, 0..first);
                assert_eq!(heard.outcome(), (true, true, 0, begin as u16));
                at = first;
            }
            let heard = s.piece(&of, at..cut);
            let done = if at == 0 { begin as u16 } else { 0 };
            let room = more == 0;
            assert_eq!(heard.outcome(), (true, room, 0, done));
            let after = s.carry_counts();
            let carried = u32::from(room) + u32::from(first.is_some());
            let full = u32::from(!room);
            let counted: Vec<_> = after.iter().zip(before).map(|(a, b)| a - b).collect();
            assert_eq!(counted, [carried, full, full, 0]);
            let rest = s.piece(&of, cut..all);
            let done = if room { (all - cut) as u16 } else { 0 };
            assert_eq!(rest.outcome(), (!room, room, 0, done));
            let expected = if room { data.clone() } else { vec![0; 5000] };
            assert!(s.memory.read(8, 5000).unwrap() == expected);
        }
    });
}

/// A segment of another flow, whose FPDUs are those of a stretch.
fn of_flow(s: &mut Setup, flow: u16, of: &Stretch, these: std::ops::Range<usize>) -> Heard {
    let seq = SEQ.wrapping_add(these.start as u32);
    let row = Ends::of(flow).peer_tx(4, 0);
    let octets = &of.octets[these];
    let frame = ethernet::segment(&row, &Job::default(), seq, flag::ACK, 9, octets);
    s.hear(&frame)
}

fn add_flow(s: &mut Setup, flow: u16) {
    let ends = Ends::of(flow);
    let tx = ends.tx(FlowRxRow::CRC | 4, 0);
    s.bench.flow(flow, &ends, &s.rx, &tx, &ATTACHED).unwrap();
}

/// Eight flows carry; a ninth has no place before one of them has done with its own. Each has its own octets.
#[test]
fn the_ninth_flow() {
    each(CARRIES, ATTACHED, |s| {
        let flows: Vec<u16> = (10..10 + PLACES + 2).collect();
        let stretches: Vec<Stretch> = flows
            .iter()
            .map(|flow| {
                let at = 100 * usize::from(*flow);
                stretch(None, &[tagged(at, &pattern(90, at)), tagged(at, b"more")])
            })
            .collect();
        for flow in &flows {
            add_flow(s, *flow);
        }
        let (end, cut) = (stretches[0].ends[1], 33);
        let places = usize::from(PLACES);
        for n in 0..places {
            let heard = of_flow(s, flows[n], &stretches[n], 0..cut);
            assert_eq!(heard.outcome(), (true, true, 0, 0), "flow {n}");
        }
        // Whole ones go on; who has a place keeps it.
        let ninth = of_flow(s, flows[places], &stretches[places], 0..end);
        assert_eq!(ninth.outcome(), (false, true, 0, end as u16));
        let ninth = of_flow(s, flows[places], &stretches[places], end..end + 7);
        assert_eq!(ninth.outcome(), (true, false, 0, 0));
        let third = of_flow(s, flows[3], &stretches[3], cut..cut + 5);
        assert_eq!(third.outcome(), (true, true, 0, 0));
        assert_eq!(s.carry_counts(), [9, 1, 1, 0]);
        // One that is done with gives its place to the tenth.
        let third = of_flow(s, flows[3], &stretches[3], cut + 5..end);
        assert_eq!(third.outcome(), (false, true, 0, (end - cut - 5) as u16));
        let tenth = of_flow(s, flows[places + 1], &stretches[places + 1], 0..cut);
        assert_eq!(tenth.outcome(), (true, true, 0, 0));
        for n in (0..places + 2).filter(|n| ![3, places].contains(n)) {
            let heard = of_flow(s, flows[n], &stretches[n], cut..end);
            assert_eq!(heard.outcome(), (false, true, 0, (end - cut) as u16));
        }
        for flow in flows {
            let at = 100 * usize::from(flow);
            assert_eq!(s.memory.read(at, 90).unwrap(), pattern(90, at));
        }
    });
}

/// What makes a place free again, each eight times over: then there are eight free ones.
#[test]
fn what_makes_a_place_free() {
    for way in 0..5 {
        each(CARRIES, ATTACHED, |s| {
            let of = stretch(None, &[tagged(0, &pattern(50, 7))]);
            let wrong = stretch(None, &[tagged(1 << 16, &pattern(50, 7))]);
            let detach = AttachRow::default().to_bytes();
            let flows: Vec<u16> = (20..20 + PLACES).collect();
            for flow in &flows {
                add_flow(s, *flow);
                let of = if way == 3 { &wrong } else { &of };
                let heard = of_flow(s, *flow, of, 0..20);
                assert_eq!(heard.outcome(), (true, true, 0, 0));
                let table = (table::ATTACH, u32::from(*flow));
                match way {
                    0 => {
                        s.bench.write_table(table.0, table.1, &detach).unwrap();
                    }
                    1 => {
                        let row = AttachRow {
                            raw_seen: s.bench.raw_seen(),
                            ..ATTACHED
                        };
                        let bytes = row.to_bytes();
                        assert!(s.bench.write_table(table.0, table.1, &bytes).unwrap());
                    }
                    2 => {
                        let heard = of_flow(s, *flow, of, 30..40);
                        assert_eq!(heard.outcome(), (true, false, 0, 0), "a gap");
                    }
                    3 => {
                        let heard = of_flow(s, *flow, of, 20..of.octets.len());
                        assert_eq!(heard.outcome(), (true, false, 0, 0), "an error");
                        let verdict = (SEQ, -20, fpdu_verdict::ERROR);
                        assert_eq!(fpdus(&heard), [verdict]);
                    }
                    _ => {}
                }
            }
            if way == 4 {
                reset(s);
            }
            for flow in 40..40 + PLACES {
                add_flow(s, flow);
                let heard = of_flow(s, flow, &of, 0..20);
                assert_eq!(heard.outcome(), (true, true, 0, 0), "way {way}");
            }
        });
    }
}

fn reset(s: &mut Setup) {
    s.bench.write(reg::CTRL, Ctrl::RESET);
    for _ in 0..1000 {
        s.bench.world.run_cycles(100).unwrap();
        if s.bench.read(reg::STATUS).unwrap() & Status::RESETTING == 0 {
            break;
        }
    }
    s.bench.start_again().unwrap();
}

/// After a detach and an ATTACH the FPDU comes from its begin: nothing carried is before it. A timestamp that is freshened forgets nothing.
#[test]
fn attached_again() {
    each(TIMED | FlowRxRow::CARRY, ATTACHED, |s| {
        let data = pattern(200, 8);
        let of = stretch(None, &[tagged(0, &data)]);
        let all = of.octets.len();
        let half = |s: &mut Setup, these: std::ops::Range<usize>| {
            let seq = SEQ.wrapping_add(these.start as u32);
            let frame = s.segment(seq, flag::ACK, Some(9), &of.octets[these]);
            s.hear(&frame)
        };
        for taken_away in [true, false] {
            s.memory.write(0, &[0; 200]).unwrap();
            s.attach_at(SEQ);
            assert_eq!(half(s, 0..77).outcome(), (true, true, 0, 0));
            if taken_away {
                s.attach(&AttachRow::default());
            }
            s.attach_at(SEQ);
            let heard = half(s, 0..all);
            assert_eq!(heard.outcome(), (false, true, 0, all as u16));
            assert_eq!(fpdus(&heard), [(SEQ, 0, fpdu_verdict::PLACED)]);
            assert_eq!(s.memory.read(0, 200).unwrap(), data);
        }
        s.memory.write(0, &[0; 200]).unwrap();
        s.attach_at(SEQ);
        half(s, 0..77);
        let fresh = AttachRow {
            ts_recent: 5,
            ..AttachRow::default()
        };
        s.attach(&fresh.with_freshen(true).with_ts_recent_valid(true));
        let heard = half(s, 77..all);
        assert_eq!(heard.outcome(), (false, true, 0, (all - 77) as u16));
        assert_eq!(s.memory.read(0, 200).unwrap(), data);
    });
}

/// An FPDU with an error, carried or before one that would be: the flow leaves, with what was good of the segment, and nothing is carried.
#[test]
fn errors() {
    each(CARRIES, ATTACHED, |s| {
        let writes = [tagged(0, b"good"), tagged(8, b"bad"), tagged(16, b"then")];
        let mut of = stretch(None, &writes);
        let [_, a, b, c] = of.ends[..] else {
            unreachable!("three FPDUs")
        };
        of.octets[b - 1] ^= 1;
        let error = |begin: usize, cut: usize| {
            let seq = SEQ.wrapping_add(begin as u32);
            (seq, begin as i16 - cut as i16, fpdu_verdict::ERROR)
        };
        // Inside the bad one, and inside the good one before it.
        for cut in [a + 3, a - 3] {
            s.attach_at(SEQ);
            let heard = s.piece(&of, 0..cut);
            let done = if cut > a { a } else { 0 };
            assert_eq!(heard.outcome(), (true, true, 0, done as u16));
            let heard = s.piece(&of, cut..c - 4);
            let done = a.saturating_sub(cut);
            assert_eq!(heard.outcome(), (true, false, 0, done as u16));
            assert_eq!(fpdus(&heard).last(), Some(&error(a, cut)));
        }
        // Before an FPDU that ends in another segment.
        s.attach_at(SEQ);
        let heard = s.piece(&of, 0..c - 4);
        assert_eq!(heard.outcome(), (true, false, 0, a as u16));
        assert_eq!(fpdus(&heard).last(), Some(&error(a, 0)));
        assert_eq!(s.carry_counts(), [2, 0, 0, 3]);
        assert_eq!(s.memory.read(8, 3).unwrap(), [0; 3]);
    });
}

/// A segment with a FIN ends the FPDU before it, and is itself not carried.
#[test]
fn fins() {
    each(CARRIES, ATTACHED, |s| {
        let of = stretch(None, &[tagged(0, &pattern(40, 9)), tagged(50, b"more")]);
        let (first, all) = (of.ends[1], of.octets.len());
        s.piece(&of, 0..first + 5);
        let heard = s.piece_with(flag::FIN, &of, first + 5..all);
        assert_eq!(heard.outcome(), (false, true, 0, (all - first - 5) as u16));
        assert_eq!(s.position().rcv_nxt, SEQ.wrapping_add(all as u32 + 1));
        // Of an FPDU that goes on nowhere.
        for before in [0, 5] {
            s.attach_at(SEQ);
            if before > 0 {
                s.piece(&of, 0..before);
            }
            let heard = s.piece_with(flag::FIN, &of, before..first + 5);
            let done = (first - before) as u16;
            assert_eq!(heard.outcome(), (true, false, 0, done));
        }
        assert_eq!(s.carry_counts(), [2, 0, 2, 0]);
    });
}

/// Who does not ask, and whose FPDUs are only checked, is as ever.
#[test]
fn who_does_not_carry() {
    for flags in [PLAIN, CARRIES | FlowRxRow::CHECK_ONLY] {
        each(flags, ATTACHED, |s| {
            let of = stretch(None, &[tagged(0, b"one"), tagged(4, b"two")]);
            let first = of.ends[1];
            let heard = s.piece(&of, 0..first + 9);
            assert_eq!(heard.outcome(), (true, false, 0, first as u16));
            assert_eq!(s.carry_counts(), [0, 0, 1, 0]);
        });
    }
}

/// Any FPDUs in any segments: everything is placed, and the flow stays the card's.
#[test]
fn any_segments() {
    for kind in CardKind::available() {
        // The model is quick.
        let seeds = if kind == CardKind::Model { 40 } else { 4 };
        for seed in 0..seeds {
            let mut random = generator(seed, Stream::Application);
            let mut s = Setup::new(kind.build(seed, 0), CARRIES, ATTACHED);
            let base = (seed % 2 == 1).then_some(SEQ.wrapping_sub(4 * (seed as u32 % 128)));
            let markers = [0, FlowRxRow::MARKERS][(seed % 2) as usize];
            s.row(CARRIES | markers, base.unwrap_or(0));
            let mut wanted = vec![0; 1 << 15];
            let (mut ulpdus, mut requests) = (Vec::new(), 0);
            for n in 0..25usize {
                if random.random_ratio(1, 5) {
                    requests += 1;
                    ulpdus.push(untagged(1, requests, 0, true, &pattern(28, n)));
                    continue;
                }
                let octets = pattern(random.random_range(0..1300), n);
                wanted[1300 * n..][..octets.len()].copy_from_slice(&octets);
                ulpdus.push(tagged(1300 * n, &octets));
            }
            let of = stretch(base, &ulpdus);
            let (mut at, mut heard) = (0, Vec::new());
            while at < of.octets.len() {
                let most = [5, 100, 1460][random.random_range(0..3)];
                let end = (at + random.random_range(1..=most)).min(of.octets.len());
                let one = s.piece(&of, at..end);
                let what = format!("{kind}, seed {seed}, from {at} to {end}");
                let done = of.ends.iter().rfind(|e| **e <= end).map_or(0, |e| *e);
                let done = done.saturating_sub(at) as u16;
                assert!(one.segment.attached(), "{what}");
                assert_eq!(one.segment.done_len, done, "{what}");
                assert!(one.segment.raw() || usize::from(done) == end - at, "{what}");
                heard.extend(
                    fpdus(&one)
                        .into_iter()
                        .map(|f| (f.0, at as i64 + i64::from(f.1))),
                );
                at = end;
            }
            let begins = of.ends[..of.ends.len() - 1].iter();
            let expected = begins.map(|e| (SEQ.wrapping_add(*e as u32), *e as i64));
            assert_eq!(heard, expected.collect::<Vec<_>>(), "{kind}, seed {seed}");
            let there = s.memory.read(0, 1 << 15).unwrap();
            assert!(there == wanted, "{kind}, seed {seed}");
            assert_eq!(s.carry_counts()[1..], [0, 0, 0], "{kind}, seed {seed}");
        }
    }
}

/// The mark and the flow's share of raw slots are not those of a detached flow: carried segments never run out of slots that come back.
#[test]
fn carried_segments_take_no_share() {
    each(CARRIES, ATTACHED, |s| {
        let of = stretch(None, &[tagged(0, &pattern(100, 1))]);
        s.bench.hold_raw(true);
        for n in 0..40 {
            let heard = s.piece(&of, n..n + 1);
            assert_eq!(heard.outcome(), (true, true, 0, 0), "{n}");
        }
        // The mark has not moved: an ATTACH that has seen no slot is applied.
        assert_eq!(s.position().raw_seen, 0);
        assert!(s.is_applied(&ATTACHED));
        let report: SegmentReport = s.piece(&of, 0..of.octets.len()).segment;
        assert!(report.attached() && !report.raw());
    });
}
