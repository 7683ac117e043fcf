//! The peer's window: closed for hours, closed over what is in flight, and small (RFC 9293 §3.8.6).
#![allow(missing_docs)]

use crate::bench;

use std::collections::VecDeque;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::flag;

const SECOND: u64 = 1_000 * MS;
const LENGTH: u32 = 8000;

/// A connection that stands, and a region to write from. From here on the test acknowledges.
fn standing() -> (Script, QpId, u32) {
    let mut s = Script::new(false);
    let qp = s.qp();
    let access = Access::LOCAL_WRITE;
    let stag = s
        .engine
        .register(s.pd, 0x1000, card::MEMORY, 100_000, access, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    s.wait(MS);
    s.auto_ack = false;
    s.sent.clear();
    (s, qp, stag)
}

fn post(s: &mut Script, qp: QpId, stag: u32, id: u64) {
    let sges = [sge(stag, 0, LENGTH)];
    let wr = write(id, 0x100, 0, &sges);
    s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
    s.work();
}

/// The peer says which window it has; nothing new is acknowledged.
fn window(s: &mut Script, window: u16) {
    s.window = window;
    s.acknowledge();
}

/// Bytes of data sent since the last look, and segments without any.
fn look(s: &mut Script) -> (usize, usize) {
    let sent = std::mem::take(&mut s.sent);
    let bytes = sent.iter().map(|s| s.payload.len()).sum();
    (bytes, sent.iter().filter(|s| s.payload.is_empty()).count())
}

/// Takes everything as it comes, until nothing comes any more.
fn take_all(s: &mut Script) {
    for _ in 0..100 {
        let end = s.sent.iter().filter(|s| !s.payload.is_empty());
        let end = end.map(|s| s.seq.wrapping_add(s.payload.len() as u32));
        let Some(end) = end.max_by_key(|end| end.wrapping_sub(s.ack) as i32) else {
            return;
        };
        s.sent.clear();
        s.ack = end;
        s.acknowledge();
        s.wait(MS);
    }
}

/// MUST-36, MUST-37; SHLD-29, SHLD-30: for as long as the peer answers.
#[test]
fn a_closed_window_is_probed_as_long_as_the_peer_answers() {
    let (mut s, qp, stag) = standing();
    window(&mut s, 0);
    post(&mut s, qp, stag, 1);
    assert_eq!(look(&mut s), (0, 0));
    let mut times = vec![s.now];
    while times.len() < 40 {
        s.wait(SECOND / 10);
        let probes = s.sent.len();
        assert_eq!(look(&mut s), (0, probes));
        if probes > 0 {
            times.push(s.now);
            s.acknowledge();
            look(&mut s);
        }
    }
    let gaps: Vec<u64> = times.windows(2).map(|w| (w[1] - w[0]) / SECOND).collect();
    // First after the retransmission time-out, in the end each minute.
    assert!(gaps[0] == 0 && gaps.is_sorted(), "{gaps:?}");
    assert!(gaps[20..].iter().all(|gap| *gap == 60), "{gaps:?}");
    assert!(s.events.is_empty() && s.completions.is_empty());
    assert!(s.engine.stats().window_probes >= 39);
    // It opens: everything goes at once.
    window(&mut s, 60000);
    take_all(&mut s);
    assert_eq!(s.completions.len(), 1);
    assert_eq!(s.completions[0].status, Status::Success);
    assert_eq!(s.engine.stats().retransmits, 0);
}

#[test]
fn a_peer_that_answers_no_probe_is_given_up() {
    let (mut s, qp, stag) = standing();
    window(&mut s, 0);
    post(&mut s, qp, stag, 1);
    s.wait(3600 * SECOND);
    let [Event::Disconnected { reason, .. }] = s.events[..] else {
        panic!("{:?}", s.events);
    };
    assert_eq!(reason, DisconnectReason::TimedOut);
    assert_eq!(s.engine.stats().window_probes, 12);
    assert!(s.sent.last().unwrap().flags & flag::RST != 0);
}

/// MUST-34, MUST-35, SHLD-15, SHLD-17: what is in flight is sent again and again; nothing new is sent.
#[test]
fn the_window_shrinks_over_what_is_under_way() {
    for small in [0u16, 100] {
        let (mut s, qp, stag) = standing();
        post(&mut s, qp, stag, 1);
        let (sent, _) = look(&mut s);
        assert!(sent > LENGTH as usize);
        window(&mut s, small);
        post(&mut s, qp, stag, 2);
        assert_eq!(look(&mut s).0, 0, "something new");
        // An hour, and more than a dozen times: the peer is there, and has no room.
        let mut again = 0;
        for _ in 0..36_000 {
            // The first expiries come soon one after the other.
            s.wait(if again < 4 {
                SECOND / 2000
            } else {
                SECOND / 10
            });
            let (bytes, _) = look(&mut s);
            if bytes > 0 {
                assert!(bytes <= 1460, "{bytes} at once");
                again += 1;
                s.acknowledge();
                look(&mut s);
            }
        }
        assert!(s.events.is_empty(), "{:?}", s.events);
        assert!(again > 20, "{again}");
        // It opens: nobody waits for a timer of a minute.
        let start = s.now;
        window(&mut s, 60000);
        s.wait(MS);
        assert!(!s.sent.is_empty());
        take_all(&mut s);
        assert_eq!(s.completions.len(), 2, "window {small}");
        assert!(s.now - start < SECOND);
    }
}

/// A window that stays smaller than a segment is used behind a probe, and one that stays smaller than any FPDU is
/// waited for.
#[test]
fn a_window_that_stays_small() {
    for (small, goes_on) in [
        (1000u16, true),
        (200, true),
        (151, true),
        (100, true),
        (60, true),
        (50, false),
    ] {
        let (mut s, qp, stag) = standing();
        window(&mut s, small);
        post(&mut s, qp, stag, 1);
        assert_eq!(look(&mut s).0, 0);
        for _ in 0..2000 {
            s.wait(SECOND);
            let sent = std::mem::take(&mut s.sent);
            for segment in sent {
                assert!(segment.payload.len() <= usize::from(small));
                if !segment.payload.is_empty() {
                    s.ack = segment.seq.wrapping_add(segment.payload.len() as u32);
                }
                s.acknowledge();
            }
        }
        assert!(s.events.is_empty(), "{:?}", s.events);
        assert_eq!(s.completions.len() == 1, goes_on, "window {small}");
    }
}

/// A peer that never has more room than this: what is sent is made to fit, without a probe for each, down to the smallest segment that FPDUs
/// are made for.
#[test]
fn a_window_that_was_never_larger() {
    for small in [151u16, 140] {
        let mut s = Script::new(false);
        s.window = small;
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::READ_SINK;
        let region = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 100_000, access, &mut s.card);
        let stag = region.unwrap();
        s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
        s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
        s.sent.clear();
        post(&mut s, qp, stag, 1);
        s.wait(10 * SECOND);
        assert_eq!(s.completions.len(), 1, "window {small}");
        let fits = |sent: &Sent| sent.payload.len() <= usize::from(small);
        assert!(s.sent.iter().all(fits));
        assert_eq!(s.engine.stats().window_probes, 0);
    }
}

/// A request is one FPDU, or it waits: the peer's card would not know what to do with a half.
#[test]
fn requests_are_not_cut_for_a_small_window() {
    for (small, goes) in [(76u16, true), (75, false), (60, false)] {
        let (mut s, qp, _) = standing();
        let access = Access::LOCAL_WRITE | Access::READ_SINK;
        let sink = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 4096, access, &mut s.card)
            .unwrap();
        window(&mut s, small);
        let sges = [sge(sink, 0, 8)];
        let wr = SendWr {
            op: SendOp::Atomic {
                stag: 0x100,
                to: 0,
                atomic: Atomic::FetchAdd { add: 1, mask: 0 },
            },
            ..read(1, 0x100, 0, &sges)
        };
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
        s.work();
        for _ in 0..20 {
            s.wait(SECOND);
            s.acknowledge();
        }
        let mut lengths = s.sent.iter().map(|sent| sent.payload.len());
        assert_eq!(lengths.any(|length| length == 76), goes, "window {small}");
        assert!(s
            .sent
            .iter()
            .all(|sent| [0, 76].contains(&sent.payload.len())));
    }
}

/// A segment that comes while the window is closed is answered, and what it acknowledges counts.
#[test]
fn acknowledgments_count_while_the_window_is_closed() {
    let (mut s, qp, stag) = standing();
    post(&mut s, qp, stag, 1);
    let last = s.sent.last().unwrap();
    s.ack = last.seq.wrapping_add(last.payload.len() as u32);
    look(&mut s);
    window(&mut s, 0);
    s.wait(MS);
    assert_eq!(s.completions.len(), 1);
}

/// A peer that acknowledges each segment by itself and whose window is what limits: room for many segments is waited for, and a job sends them together.
#[test]
fn a_window_that_opens_bit_by_bit_is_used_for_many_segments_at_once() {
    let (mut s, qp, stag) = standing();
    // With the first Write the congestion window opens beyond the peer's.
    for id in 0..2 {
        let sges = [sge(stag, 0, 100_000)];
        let wr = write(id, 0x100, 0, &sges);
        let before = s.engine.stats().jobs;
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
        s.work();
        let mut sent = VecDeque::from(std::mem::take(&mut s.sent));
        let at_once: usize = sent.iter().map(|segment| segment.payload.len()).sum();
        let mut segments = 0;
        while let Some(segment) = sent.pop_front() {
            segments += 1;
            s.ack = segment.seq.wrapping_add(segment.payload.len() as u32);
            s.acknowledge();
            sent.extend(std::mem::take(&mut s.sent));
        }
        let jobs = s.engine.stats().jobs - before;
        if id == 1 {
            assert!(at_once > 40 * 1400, "{at_once}: not the window's size");
            // One for the window, and one for each quarter of it that comes free.
            assert_eq!(segments, 70);
            assert!(jobs <= 6, "{jobs} jobs");
        }
    }
    assert_eq!(s.completions.len(), 2);
}
