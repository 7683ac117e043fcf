//! A flow between the card and the engine: what ATTACH waits for, and who pays for a flow that the engine has.

use weft_layout::{
    doorbell, reg, report_kind, table, AttachRow, Counter, FlowRxRow, PlacedReport, SegmentReport,
};
use weft_sim::bench::{Ends, Rings};
use weft_sim::kind::CardKind;
use weft_sim::model::ethernet::{self, flag};

use crate::setup::{each, write, Setup, ATTACHED, FLOW, PLAIN, SEQ, TIMED};

/// The 256th segment that nobody has seen is as unseen as the first one (a count of 8 bits said otherwise), in a ring that has room for them.
#[test]
fn raw_segments_that_nobody_has_seen_keep_a_flow_detached() {
    for kind in CardKind::available() {
        let rings = Rings {
            raw: 11,
            raw_slot: 11,
            ..Rings::default()
        };
        let mut s = Setup::with_rings(kind.build(1, 0), PLAIN, ATTACHED, rings);
        let whole = write(64);
        // Half an FPDU: the host sees it.
        let heard = s.data(SEQ, &whole[..20]);
        assert_eq!(heard.outcome(), (true, false, 0, 0), "{kind}");
        let row = AttachRow {
            rcv_nxt: SEQ.wrapping_add(20),
            raw_seen: s.bench.raw_seen(),
            ..ATTACHED
        };
        // And then nothing of what comes in sequence.
        for n in 1..=511u32 {
            let seq = SEQ.wrapping_add(20 * n);
            let frame = s.segment(seq, flag::ACK, None, &whole[20..40]);
            s.bench.inject(frame);
            if n % 64 == 0 || n % 64 == 63 || n < 3 {
                s.bench.settle(1_000_000).unwrap();
                assert!(!s.is_applied(&row), "{kind}: {n} raw segments unseen");
            }
        }
        s.bench.settle(1_000_000).unwrap();
        assert_eq!(s.bench.reports().len(), 511, "{kind}");
        let seen = AttachRow {
            rcv_nxt: SEQ,
            raw_seen: s.bench.raw_seen(),
            ..ATTACHED
        };
        s.attach(&seen);
        assert!(s.data(SEQ, &whole).segment.attached(), "{kind}");
    }
}

/// A row that takes the flow away does not make the card forget a raw segment that nobody has seen.
#[test]
fn a_detach_leaves_the_mark() {
    each(PLAIN, ATTACHED, |s| {
        let frame = s.segment(SEQ.wrapping_add(999), flag::ACK, None, &write(64));
        s.bench.inject(frame);
        s.bench.settle(100_000).unwrap();
        for raw_seen in [0, 1, 7, u32::MAX] {
            let row = AttachRow {
                raw_seen,
                ..AttachRow::default()
            };
            s.attach(&row);
            assert_eq!(s.position().raw_seen, 1);
            assert!(!s.is_applied(&ATTACHED), "behind {raw_seen}");
        }
        s.bench.reports();
        let seen = AttachRow {
            raw_seen: s.bench.raw_seen(),
            ..ATTACHED
        };
        s.attach(&seen);
    });
}

/// TS.Recent alone, and of an attached flow alone.
#[test]
fn a_freshened_timestamp_changes_nothing_else() {
    let attach = AttachRow {
        attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
        ts_recent: 100,
        window: 5000,
        mo: 3,
        ..ATTACHED
    };
    each(TIMED, attach, |s| {
        let fresh = AttachRow {
            ts_recent: 0x9000_0000,
            raw_seen: 77,
            rcv_nxt: 5,
            ..AttachRow::default()
        };
        for valid in [true, false] {
            let row = fresh.with_freshen(true).with_ts_recent_valid(valid);
            s.attach(&row);
            let expected = AttachRow {
                ts_recent: 0x9000_0000,
                ..attach
            };
            assert_eq!(s.position(), expected.with_ts_recent_valid(valid));
        }
        // What PAWS would have refused by the old one.
        let frame = s.segment(SEQ, flag::ACK, Some(0x9000_0001), &write(20));
        assert_eq!(s.hear(&frame).outcome(), (false, true, 0, 40));
        // Detached: nothing is applied.
        s.attach(&AttachRow::default());
        let before = s.position();
        assert!(!s.is_applied(&fresh.with_freshen(true).with_ts_recent_valid(true)));
        assert_eq!(s.position(), before);
    });
}

/// Reports say when a frame came: between two readings of the clock around it.
#[test]
fn reports_say_when_a_frame_came() {
    each(PLAIN, ATTACHED, |s| {
        let bare = s.segment(SEQ, flag::ACK, None, &[]);
        let data = s.segment(SEQ, flag::ACK, None, &write(20));
        let mut strange = s.segment(SEQ, flag::ACK, None, &[]);
        strange[12..14].copy_from_slice(&[0x88, 0xb5]);
        let kinds = [
            report_kind::SEGMENT,
            report_kind::PLACED,
            report_kind::FRAME,
        ];
        for (frame, kind) in [bare, data, strange].into_iter().zip(kinds) {
            let from = s.bench.read(reg::TIME_LO).unwrap() / 8;
            s.bench.inject(frame);
            s.bench.world.run_cycles(300).unwrap();
            let to = s.bench.read(reg::TIME_LO).unwrap() / 8;
            s.bench.settle(100_000).unwrap();
            let reports = s.bench.reports_as_written(usize::MAX);
            let report = SegmentReport::from_bytes(&reports[0].0);
            assert_eq!((reports.len(), report.kind), (1, kind));
            let late = report.arrival.wrapping_sub(from) & 0xff_ffff;
            assert!(
                late <= (to - from) & 0xff_ffff,
                "{from} {} {to}",
                report.arrival
            );
        }
    });
}

/// 64 raw slots, and a host that takes no reports: 70 segments of a detached flow, then 20 Writes of another one.
#[test]
fn a_detached_flow_leaves_the_others_their_slots() {
    const OTHER: u16 = 4;
    each(PLAIN, AttachRow::default(), |s| {
        let ends = Ends::of(OTHER);
        let tx = ends.tx(FlowRxRow::CRC | 4, 0);
        s.bench.flow(OTHER, &ends, &s.rx, &tx, &ATTACHED).unwrap();
        let stream = write(64);
        for n in 0..70 {
            let frame = s.segment(SEQ.wrapping_add(n), flag::ACK, None, &stream);
            s.bench.inject(frame);
        }
        for n in 0..20u32 {
            let seq = SEQ.wrapping_add(n * stream.len() as u32);
            let row = ends.peer_tx(4, 0);
            let frame = ethernet::segment(&row, &Default::default(), seq, flag::ACK, 9, &stream);
            s.bench.inject(frame);
        }
        s.bench.settle(1_000_000).unwrap();
        let reports = s.bench.reports_as_written(usize::MAX);
        let kinds = reports.iter().map(|r| PlacedReport::from_bytes(&r.0));
        let placed = kinds.filter(|r| r.kind == report_kind::PLACED && r.flow == OTHER);
        assert_eq!(placed.count(), 20);
        // It has its share, and loses the rest: its peer sends again.
        let raw = reports.iter().filter(|r| r.1.is_some()).count() as u32;
        assert_eq!(raw, SHARE);
        assert_eq!(
            s.bench.counter(Counter::RxDropNoRawCredit).unwrap(),
            70 - SHARE
        );
        // Slots that came back begin a new generation.
        let row = s.bench.read_table(table::ATTACH, FLOW.into()).unwrap();
        assert!(!AttachRow::from_bytes(&row.unwrap()).attached());
        let frame = s.segment(SEQ, flag::ACK, None, &stream);
        assert_eq!(s.hear(&frame).outcome(), (true, false, 0, 0));
    });
}

/// A quarter of the slots.
const SHARE: u32 = 16;

/// The host gives a slot back just when another segment takes one: whichever comes first, the new generation has a whole share for the flow.
#[test]
fn a_new_generation_begins_with_nothing_taken() {
    let stream = write(64);
    for kind in CardKind::available() {
        for cycles in 0..50 {
            let mut s = Setup::new(kind.build(1, 0), PLAIN, AttachRow::default());
            s.bench.hold_raw(true);
            let frame =
                |s: &Setup, n: u32| s.segment(SEQ.wrapping_add(n), flag::ACK, None, &stream);
            for n in 0..8 {
                let frame = frame(&s, n);
                assert!(s.hear(&frame).segment.raw());
            }
            let next = frame(&s, 8);
            s.bench.world.deliver(0, next, false);
            s.bench.world.run_cycles(cycles).unwrap();
            s.bench.ring(doorbell::RAW_HEAD, 1);
            s.bench.settle(100_000).unwrap();
            for n in 9..40 {
                let frame = frame(&s, n);
                s.bench.inject(frame);
            }
            s.bench.settle(100_000).unwrap();
            // The ninth is the old generation's last one, or the first one of the new.
            let taken = s.bench.read(reg::RAW_TAIL).unwrap();
            let whole = [8 + SHARE, 9 + SHARE];
            assert!(whole.contains(&taken), "{kind}, {cycles} cycles: {taken}");
        }
    }
}

/// Nothing comes behind a FIN: what lies at its own number is not placed.
#[test]
fn behind_a_fin_nothing_is_placed() {
    each(PLAIN, ATTACHED, |s| {
        let stream = write(64);
        let end = SEQ.wrapping_add(stream.len() as u32);
        let last = s.segment(SEQ, flag::ACK | flag::FIN, None, &stream);
        assert_eq!(
            s.hear(&last).outcome(),
            (false, true, 0, stream.len() as u16)
        );
        // The same again is old.
        assert!(s.hear(&last).segment.duplicate());
        let heard = s.data(end, &stream);
        assert_eq!(heard.outcome(), (true, false, 0, 0));
        assert!(heard.fpdus.is_empty());
    });
}
