//! Which segments are taken (docs/card.md, "Acceptance"; RFC 9293 §3.10.7.4, RFC 7323 §5, RFC 5961 §5): the same ones
//! by the card and by the engine.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_layout::SegmentReport;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::{flag, Options};

const HOUR: u64 = 3_600_000 * MS;

struct Standing {
    s: Script,
    qp: QpId,
    iova: u64,
}

/// A connection with receives of 100 bytes, one behind the other in memory; `ts`: timestamps are agreed.
fn standing(no_attach: bool, ts: Option<u32>) -> Standing {
    let mut s = Script::with(no_attach, &|c| c.timestamps = ts.is_some());
    s.ts_val = ts;
    let qp = s.qp();
    let (pd, now) = (s.pd, s.now);
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let iova = card::MEMORY;
    let stag = s
        .engine
        .register(pd, 0x1000, iova, 1600, access, &mut s.card)
        .unwrap();
    for id in 0..16 {
        let sges = [sge(stag, id * 100, 100)];
        let wr = RecvWr { id, sges: &sges };
        s.engine.post_recv(now, qp, &wr, &mut s.card).unwrap();
    }
    s.accepted(qp, RtrKinds::WRITE, &AcceptParams::default());
    s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
    s.wait(MS);
    s.events.clear();
    s.sent.clear();
    Standing { s, qp, iova }
}

fn send_of(msn: u32, payload: &[u8]) -> Vec<u8> {
    message(&DdpHeader::untagged(true, 0x43, 0, 0, msn, 0), payload)
}

impl Standing {
    /// The next Send arrives, is placed and acknowledged.
    #[track_caller]
    fn goes_on(&mut self, msn: u32) {
        let payload = [msn as u8 ^ 0x5a; 40];
        self.s.data(&send_of(msn, &payload));
        self.s.wait(MS);
        let at = self.iova + u64::from(msn - 1) * 100;
        assert_eq!(self.s.card.bytes(at, 40).unwrap(), payload);
        let last = self.s.sent.last().expect("an acknowledgment");
        assert_eq!(last.ack, self.s.seq, "{:?}", self.s.engine.stats());
        assert_eq!(
            self.s.completions.len() as u32,
            msn,
            "{:?}",
            self.s.completions
        );
    }
}

/// The same octets of the stream, first with IP options and then without: what was taken first stays.
#[test]
fn nothing_is_placed_twice() {
    for no_attach in [false, true] {
        let mut t = standing(no_attach, None);
        let first =
            t.s.frame(flag::ACK, t.s.seq, Options::default(), &send_of(1, b"AAAA"));
        t.s.card.receive(&with_ip_options(&first));
        t.s.work();
        assert_eq!(t.s.completions.len(), 1);
        assert_eq!(t.s.card.bytes(t.iova, 4).unwrap(), b"AAAA");
        t.s.data(&send_of(1, b"BBBB"));
        assert_eq!(t.s.card.bytes(t.iova, 4).unwrap(), b"AAAA");
        t.goes_on(2);
    }
}

/// A plain frame of a flow that the card knows: to a group address, say. The card has not judged it.
#[test]
fn a_plain_frame_is_never_taken_for_a_bound_connection() {
    let mut t = standing(false, None);
    let mut frame =
        t.s.frame(flag::ACK, t.s.seq, Options::default(), &send_of(1, b"AAAA"));
    frame[..6].copy_from_slice(&[0xff; 6]);
    t.s.card.receive(&frame);
    t.s.work();
    assert!(t.s.completions.is_empty());
    assert_eq!(t.s.engine.stats().frames_from_nobody, 1);
    t.goes_on(1);
}

#[test]
fn data_with_unusable_control_bits_or_acknowledgments() {
    for no_attach in [false, true] {
        let mut t = standing(no_attach, None);
        let payload = send_of(1, b"AAAA");
        let good = t.s.ack;
        // Nobody's: no ACK flag, or SYN or RST with data.
        for flags in [0, flag::PSH, flag::URG, flag::SYN, flag::SYN | flag::ACK] {
            t.s.send(flags, t.s.seq, Options::default(), &payload);
            t.s.wait(MS);
            assert!(t.s.completions.is_empty(), "{flags:02x}");
        }
        assert_eq!(t.s.engine.stats().refused_no_ack, 3);
        // The acknowledgment is of no use, but the data is in sequence.
        for (msn, ack) in [
            (1, good.wrapping_add(5000)),
            (2, good.wrapping_sub(1 << 24)),
        ] {
            t.s.ack = ack;
            t.s.data(&send_of(msn, b"AAAA"));
            t.s.ack = good;
            assert_eq!(t.s.completions.len() as u32, msn);
        }
        assert_eq!(t.s.engine.stats().acks_unacceptable, 2);
        t.goes_on(3);
    }
}

#[test]
fn data_beyond_the_window_changes_nothing() {
    for no_attach in [false, true] {
        let mut t = standing(no_attach, None);
        let attaches = t.s.engine.stats().attaches;
        let window = t.s.engine.config().receive_window;
        let payload = [0x55; 100];
        for distance in [window - 99, window, 1 << 30, i32::MAX as u32 - 100] {
            t.s.send(
                flag::ACK,
                t.s.seq.wrapping_add(distance),
                Options::default(),
                &payload,
            );
        }
        assert_eq!(t.s.engine.stats().refused_window, 4);
        t.goes_on(1);
        if !no_attach {
            assert_eq!(t.s.engine.stats().attaches, attaches, "it was detached");
        }
        // The last octets that fit are kept.
        let at = t.s.seq.wrapping_add(window - 100);
        t.s.send(flag::ACK, at, Options::default(), &payload);
        assert_eq!(t.s.engine.stats().refused_window, 4);
        t.goes_on(2);
    }
}

#[test]
fn old_timestamps_and_none() {
    for no_attach in [false, true] {
        let start = 0xffff_fff0;
        let mut t = standing(no_attach, Some(start));
        assert!(t.s.sent.iter().all(|s| s.options.timestamps.is_some()));
        t.s.ts_val = Some(start.wrapping_add(100));
        t.goes_on(1);
        let payload = send_of(2, b"AAAA");
        for ts in [
            None,
            Some(start),
            Some(start.wrapping_add(99)),
            Some(0x8000_0054),
        ] {
            t.s.ts_val = ts;
            t.s.send(flag::ACK, t.s.seq, Options::default(), &payload);
            assert_eq!(t.s.completions.len(), 1, "{ts:?}");
        }
        assert_eq!(t.s.engine.stats().refused_timestamp, 3);
        assert_eq!(t.s.engine.stats().refused_no_timestamp, 1);
        // Equal is not older. What comes without data is judged as well, but nothing old moves TS.Recent back.
        t.s.ts_val = Some(start.wrapping_add(100));
        t.goes_on(2);
        t.s.ts_val = Some(start);
        let wr = [sge(0, 0, 0)];
        let _ = (t.qp, wr);
        t.s.acknowledge();
        t.s.send(flag::ACK, t.s.seq, Options::default(), &send_of(3, b"AAAA"));
        assert_eq!(t.s.completions.len(), 2);
        t.s.ts_val = Some(start.wrapping_add(200));
        t.goes_on(3);
        assert_eq!(
            t.s.sent.last().unwrap().options.timestamps.unwrap().1,
            start.wrapping_add(200)
        );
    }
}

/// After weeks without a segment a timestamp means nothing (RFC 7323 §5.5).
#[test]
fn a_timestamp_grows_old() {
    for no_attach in [false, true] {
        let mut t = standing(no_attach, Some(1000));
        t.goes_on(1);
        t.s.wait(26 * 24 * HOUR);
        // The peer's clock has gone on by more than half its range: to the card that looks old. The first attempt is
        // refused at the most, the retransmission is taken.
        t.s.ts_val = Some(1000u32.wrapping_add(0x8600_0000));
        t.s.send(
            flag::ACK,
            t.s.seq,
            Options::default(),
            &send_of(2, &[2 ^ 0x5a; 40]),
        );
        t.s.wait(200 * MS);
        if t.s.completions.len() < 2 {
            t.goes_on(2);
        } else {
            t.s.seq = t.s.seq.wrapping_add(send_of(2, &[0; 40]).len() as u32);
        }
        t.goes_on(3);
        t.goes_on(4);
    }
}

/// A peer that only acknowledges for weeks, and then sends: the card's TS.Recent must not be that old.
#[test]
fn acknowledgments_alone_keep_the_timestamp_young() {
    let mut t = standing(false, Some(1000));
    t.goes_on(1);
    for day in 1..40u32 {
        t.s.wait(24 * HOUR);
        t.s.ts_val = Some(1000 + day * 86_400_000);
        t.s.acknowledge();
    }
    let refused = t.s.engine.stats().refused_timestamp;
    t.goes_on(2);
    assert_eq!(t.s.engine.stats().refused_timestamp, refused);
    t.goes_on(3);
}

/// The clock of a peer that counts microseconds, as Linux may since 6.7, at this time of the test.
fn microseconds(t: &Standing) -> u32 {
    1000u32.wrapping_add((t.s.now / 1000) as u32)
}

/// A peer with such a clock that only acknowledges for longer than the clock takes for half of its round, and then sends.
#[test]
fn acknowledgments_alone_keep_the_timestamp_of_a_fast_clock_young() {
    for no_attach in [false, true] {
        let mut t = standing(no_attach, Some(1000));
        t.s.ts_val = Some(microseconds(&t));
        t.goes_on(1);
        for _ in 0..40 * 6 {
            t.s.wait(10_000 * MS);
            t.s.ts_val = Some(microseconds(&t));
            t.s.acknowledge();
        }
        t.goes_on(2);
        t.goes_on(3);
        assert_eq!(t.s.engine.stats().refused_timestamp, 0);
    }
}

/// A clock that is faster still: the age says nothing, the distance does.
#[test]
fn acknowledgments_alone_bring_the_card_along_by_ticks() {
    let mut t = standing(false, Some(1000));
    t.goes_on(1);
    for n in 1..=20u32 {
        t.s.wait(100 * MS);
        t.s.ts_val = Some(1000u32.wrapping_add(n * 200_000_000));
        t.s.acknowledge();
    }
    t.goes_on(2);
    assert_eq!(t.s.engine.stats().refused_timestamp, 0);
}

/// TS.Recent means nothing after half a round of a microsecond clock, and something before.
#[test]
fn a_timestamp_is_old_at_its_hour_and_not_before() {
    const LIFE: u64 = 1000 << 31;
    let mut t = standing(true, Some(1000));
    t.s.ts_val = Some(2000);
    t.goes_on(1);
    let taken = t.s.now - MS;
    t.s.ts_val = Some(1999);
    for (before, count) in [(LIFE / 2, 1), (1, 1), (0, 2)] {
        t.s.wait(taken + LIFE - before - t.s.now);
        t.s.send(
            flag::ACK,
            t.s.seq,
            Options::default(),
            &send_of(2, &[2 ^ 0x5a; 40]),
        );
        assert_eq!(t.s.completions.len(), count, "{before} ns before");
    }
    assert_eq!(t.s.engine.stats().refused_timestamp, 2);
    t.s.seq = t.s.seq.wrapping_add(send_of(2, &[0; 40]).len() as u32);
    t.goes_on(3);
}

/// A pause of any length, at any clock: one segment is refused at the most, by a card that has not heard of the time.
#[test]
fn a_pause_longer_than_half_a_round_of_a_fast_clock() {
    for no_attach in [false, true] {
        for minutes in [20, 36, 50, 71, 90] {
            let mut t = standing(no_attach, Some(1000));
            t.s.ts_val = Some(microseconds(&t));
            t.goes_on(1);
            t.s.wait(minutes * 60_000 * MS);
            t.s.ts_val = Some(microseconds(&t));
            let again = send_of(2, &[2 ^ 0x5a; 40]);
            t.s.send(flag::ACK, t.s.seq, Options::default(), &again);
            let first = t.s.completions.len();
            assert!(first == 2 || !no_attach, "{minutes} min");
            t.s.wait(200 * MS);
            if first == 2 {
                t.s.seq = t.s.seq.wrapping_add(again.len() as u32);
            } else {
                t.goes_on(2);
            }
            t.goes_on(3);
        }
    }
}

/// Nobody makes the engine answer more than a few of these a second (RFC 5961 §7).
#[test]
fn challenge_acknowledgments_are_few() {
    let mut t = standing(false, None);
    for n in 0..1000 {
        let (flags, distance) = [
            (flag::RST, 10),
            (flag::SYN, 10),
            (flag::ACK, 1 << 24),
            (flag::ACK, 1 << 30),
        ][n % 4];
        t.s.send(
            flags,
            t.s.seq.wrapping_add(distance),
            Options::default(),
            &[],
        );
        t.s.send(
            flags,
            t.s.seq.wrapping_add(distance),
            Options::default(),
            &[1; 10],
        );
    }
    assert!((1..=10).contains(&t.s.sent.len()), "{}", t.s.sent.len());
    t.goes_on(1);
    // A second later there may be some again.
    t.s.wait(1_000 * MS);
    t.s.sent.clear();
    t.s.send(flag::RST, t.s.seq.wrapping_add(10), Options::default(), &[]);
    assert_eq!(t.s.sent.len(), 1);
}

/// A report of the queue pair that had the flow before, seen late.
#[test]
fn reports_of_another_binding_are_ignored() {
    let mut t = standing(false, None);
    t.s.auto_ack = true;
    let frame =
        t.s.frame(flag::RST | flag::ACK, t.s.seq, Options::default(), &[]);
    t.s.card.receive(&frame);
    let (mut report, raw) = t.s.card.take_report().unwrap();
    let mut late = SegmentReport::from_bytes(&report);
    assert_ne!(late.epoch, 0);
    late.epoch = late.epoch.wrapping_sub(1).max(1) ^ 0x80;
    report = late.to_bytes();
    t.s.engine
        .on_report(t.s.now, &report, raw.as_deref(), &mut t.s.card);
    t.s.work();
    assert!(t.s.events.is_empty(), "{:?}", t.s.events);
    assert_eq!(t.s.engine.stats().reports_stale, 1);
    t.goes_on(1);
}

#[test]
fn each_binding_of_a_flow_has_an_epoch_of_its_own() {
    let mut seen = Vec::new();
    let mut s = Script::new(false);
    for n in 0..300u32 {
        let qp = s.qp();
        s.seq = n.wrapping_mul(0x1234_5678);
        s.peer_port = 5000 + n as u16;
        let conn = s.accepted_again(qp, RtrKinds::NONE, &AcceptParams::default());
        let epoch = s.card.epoch_of(qp.flow());
        seen.push((qp.flow(), epoch));
        s.engine.abort(s.now, conn, &mut s.card).unwrap();
        s.work();
        s.engine.destroy_qp(s.now, qp, &mut s.card).unwrap();
        s.events.clear();
    }
    assert!(seen.iter().all(|(_, epoch)| *epoch != 0));
    for (n, (flow, epoch)) in seen.iter().enumerate() {
        let before = seen[..n].iter().rev().filter(|(f, _)| f == flow).take(50);
        assert!(before.clone().all(|(_, e)| e != epoch), "{n}: {seen:?}");
    }
}
