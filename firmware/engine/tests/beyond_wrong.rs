//! Messages of queue 0 beyond a gap that are not those of the stream: they end the connection when it comes to them, and no receive is written to again
//! that was completed.
#![allow(missing_docs)]

use crate::bench;
use crate::beyond::{By, Framed, BOTH};

use bench::card::MEMORY;
use bench::oracle::fpdu;
use bench::oracle::segment::Segment;
use bench::under::{BASE, LENGTH, WRITES};
use bench::*;
use weft_engine::*;
use weft_layout::{report_kind, FpduReport};
use weft_wire::ddp::DdpHeader;
use weft_wire::terminate::Terminate;

const LONG: u32 = LENGTH as u32;
const MSN: u16 = 0x1203;
const MO: u16 = 0x1204;
const NO_BUFFER: u16 = 0x1202;

impl Framed {
    /// The connection has ended by this Terminate, about the FPDU of queue 0 with this MSN and MO; these receives are complete, all others flushed.
    #[track_caller]
    fn ends(&mut self, code: u16, about: (u32, u32), complete: &[u64]) {
        let fatal = self.t.s.events.iter().find_map(|event| match event {
            Event::QpFatal {
                terminate: Some(code),
                received: false,
                ..
            } => Some(code.0),
            _ => None,
        });
        assert_eq!(fatal, Some(code), "{:?}", self.t.s.events);
        let said = fpdu::ulpdus(&self.t.told).last().unwrap().clone();
        let said = Terminate::parse(&said[18..]).unwrap();
        assert_eq!(said.code.0, code);
        let (header, _) = DdpHeader::parse(said.ddp.unwrap().1).unwrap();
        let header = Segment::from(&header);
        assert_eq!((header.msn, header.to_or_mo as u32), about);
        let engine = &mut self.t.s.engine;
        let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion()).collect();
        let (good, flushed) = done.split_at(complete.len());
        assert!(good.iter().all(|c| c.status == Status::Success), "{good:?}");
        let ids: Vec<_> = good.iter().map(|c| c.wr_id).collect();
        assert_eq!(ids, complete);
        assert!(flushed.iter().all(|c| c.status == Status::Flushed));
    }
}

/// An island whose first message is another one than the stream's next, or another part of it.
#[test]
fn at_its_left_edge() {
    for by in BOTH {
        for (at, code) in [((3, 0), MSN), ((2, 1), MO), ((1, LONG), MSN)] {
            let mut m = Framed::receives(by, 4);
            m.send(1, 0, true, 11);
            m.send(at.0, at.1, true, 21);
            m.arrives(1..2);
            assert_eq!(m.t.s.card.attached(), 1);
            assert!(m.t.s.events.is_empty());
            m.arrives(0..1);
            m.ends(code, at, &[0]);
        }
        // In the message that the stream is in.
        let mut m = Framed::receives(by, 4);
        m.send(1, 0, false, 11);
        m.send(1, LONG + 4, true, 21);
        m.arrives(1..2);
        m.arrives(0..1);
        m.ends(MO, (1, LONG + 4), &[]);
    }
}

/// What comes behind an island is not what goes on with it.
#[test]
fn at_its_right_edge() {
    for by in BOTH {
        for (at, code) in [((2, 0), MSN), ((4, 0), MSN), ((3, 8), MO)] {
            for early in [false, true] {
                let mut m = Framed::receives(by, 4);
                m.send(1, 0, true, 11);
                m.send(2, 0, true, 21);
                m.send(at.0, at.1, true, 31);
                m.arrives(1..2);
                if early {
                    // Directly behind it: not even beyond the gap.
                    m.arrives(2..3);
                    assert_eq!(m.t.s.card.attached(), 0);
                }
                m.arrives(0..1);
                if !early {
                    m.arrives(2..3);
                }
                m.replays();
                m.ends(code, at, &[0, 1]);
                m.holds(&[11, 0, 21, 0, 0, 0, 0]);
            }
        }
    }
}

/// Two islands that do not fit: the stream ends between them, although nothing is between them any more.
#[test]
fn two_that_do_not_fit() {
    for by in BOTH {
        for (second, code) in [((2, 0), MSN), ((4, 0), MSN), ((3, 8), MO)] {
            let mut m = Framed::receives(by, 4);
            m.send(1, 0, true, 11);
            m.send(2, 0, true, 21);
            let to = DdpHeader::tagged(true, 0x40, m.t.stag, 0x1000 + 9000);
            m.push(&Segment::from(&to).with(&[9; LENGTH]));
            m.send(second.0, second.1, true, 31);
            m.arrives(3..4);
            m.arrives(1..2);
            m.arrives(2..3);
            assert_eq!(m.t.s.card.attached(), 1);
            m.says(0, &[(1, 4)]);
            m.arrives(0..1);
            m.ends(code, second, &[0, 1]);
        }
    }
}

/// A message that is complete already, or that no receive is posted for: the flow is the engine's, which comes to the error in its turn.
#[test]
fn below_and_beyond_what_is_posted() {
    for by in BOTH {
        for (msn, code) in [(1, MSN), (2, MSN), (3, NO_BUFFER), (u32::MAX, MSN)] {
            let mut m = Framed::receives(by, 2);
            m.send(1, 0, true, 11);
            m.send(2, 0, true, 21);
            let to = DdpHeader::tagged(true, 0x40, m.t.stag, 0x1000 + 9000);
            m.push(&Segment::from(&to).with(&[9; LENGTH]));
            m.send(msn, 0, true, 31);
            m.arrives(0..2);
            m.arrives(3..4);
            assert_eq!(m.t.s.card.attached(), 0, "{msn}");
            m.arrives(2..3);
            m.replays();
            m.ends(code, (msn, 0), &[0, 1]);
            m.holds(&[11, 0, 21, 0]);
        }
        // Until the stream comes to it there is one.
        let mut m = Framed::receives(by, 1);
        m.send(1, 0, true, 11);
        m.send(2, 0, true, 21);
        m.arrives(1..2);
        assert_eq!(m.t.s.card.attached(), 0);
        m.receive(1, 2);
        m.arrives(0..1);
        m.replays();
        m.received(&[(0, LONG), (1, LONG)]);
        m.holds(&[11, 0, 21, 0]);
    }
}

/// The stream completes messages that an island has as well, and those that would follow in it: they stay as they are.
#[test]
fn behind_an_island_that_was_overtaken() {
    for by in BOTH {
        let mut m = Framed::receives(by, 4);
        m.send(1, 0, true, 11);
        m.send(2, 0, true, 21);
        let to = DdpHeader::tagged(true, 0x40, m.t.stag, 0x1000 + 9000);
        m.push(&Segment::from(&to).with(&[9; LENGTH]));
        m.send(1, 0, true, 99);
        m.send(2, 0, true, 98);
        m.arrives(3..4);
        m.arrives(0..2);
        m.received(&[(0, LONG), (1, LONG)]);
        m.holds(&[11, 0, 21, 0]);
        m.arrives(4..5);
        m.holds(&[11, 0, 21, 0]);
        m.arrives(2..3);
        m.replays();
        m.ends(MSN, (1, 0), &[]);
        m.holds(&[11, 0, 21, 0]);
    }
}

/// The card goes on behind an island that does not fit, before the engine has heard of it: nothing more is placed by what follows.
#[test]
fn before_the_engine_knows() {
    for by in BOTH {
        for next in [1, 2, 3, 4, 5] {
            let mut m = Framed::receives(by, 4);
            m.send(1, 0, true, 11);
            m.send(3, 0, true, 31);
            m.send(next, 0, true, 99);
            m.arrives(1..2);
            for n in [0, 2] {
                let octets = &m.octets[m.ends[n]..m.ends[n + 1]];
                let frame = m.t.frame(0, m.at(n), octets);
                m.t.s.card.receive(&frame);
            }
            m.t.host();
            m.ends(MSN, (3, 0), &[0]);
            m.holds(&[11, 0, 0, 0, 31, 0, 0, 0]);
        }
    }
}

/// A Send between two parts of one that go on with each other.
#[test]
fn between_two_parts() {
    for by in BOTH {
        let mut m = Framed::receives(by, 4);
        m.send(1, 0, true, 11);
        m.send(2, 0, false, 21);
        m.send(2, LONG, true, 99);
        m.send(2, LONG, true, 22);
        m.arrives(3..4);
        m.arrives(1..2);
        m.arrives(0..1);
        m.arrives(2..3);
        m.ends(MSN, (2, LONG), &[0, 1]);
    }
}

impl Framed {
    /// A Write, a part of a Read Response, a short Send, a longer one, the other part. All but the longer one has come, the Write last.
    fn around(length: usize, asked: bool) -> Self {
        // No FPDU needs a marker.
        let mut m = Framed::receives(By::Agreement, 2);
        let (s, qp) = (&mut m.t.s, m.t.qp);
        let all = (WRITES * LENGTH) as u64;
        let sink = s
            .engine
            .register(s.pd, BASE, MEMORY, all, Access::READ_SINK, &mut s.card)
            .unwrap();
        if asked {
            let sges = [sge(sink, 10 * LENGTH as u64, 2 * LONG)];
            let wr = read(50, 77, 0, &sges);
            s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
            m.t.host();
        }
        let to = BASE + 10 * LENGTH as u64;
        let part = |to, last| {
            let header = DdpHeader::tagged(last, 0x42, sink, to);
            Segment::from(&header).with(&vec![10; length])
        };
        let write = DdpHeader::tagged(true, 0x40, m.t.stag, BASE + 8 * LENGTH as u64);
        m.push(&Segment::from(&write).with(&[8; LENGTH]));
        m.push(&part(to, false));
        m.untagged(0x43, 0, (1, 0), true, &[11; 10]);
        m.send(2, 0, true, 21);
        m.push(&part(to + length as u64, length > 0));
        for n in [4, 1, 2] {
            m.arrives(n..n + 1);
        }
        m.received(&[]);
        assert_eq!(m.t.s.card.attached(), 1);
        m.arrives(0..1);
        m
    }
}

/// A Send between two parts of a Read Response is there before the second one.
#[test]
fn between_two_parts_of_a_response() {
    for length in [0, LENGTH] {
        let mut m = Framed::around(length, true);
        m.received(&[(0, 10)]);
        m.arrives(3..4);
        let read = (50, 2 * LONG);
        let all = [(1, LONG), read];
        m.received(if length > 0 { &all } else { &all[..1] });
        m.is_the_cards();
    }
}

/// Where nobody has asked for the response the stream ends before the Send.
#[test]
fn behind_a_part_that_nobody_asked_for() {
    let mut m = Framed::around(0, false);
    let fatal = |e: &Event| matches!(e, Event::QpFatal { .. });
    assert!(m.t.s.events.iter().any(fatal), "{:?}", m.t.s.events);
    m.arrives(3..4);
    let engine = &mut m.t.s.engine;
    let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion()).collect();
    assert!(done.iter().all(|done| done.status == Status::Flushed));
}

/// A card that says that it has placed in order what is not next: no receive is complete.
#[test]
fn in_order_and_not_its_turn() {
    for (at, code) in [((3, 0), MSN), ((1, 0), MSN), ((2, 8), MO)] {
        for early in [false, true] {
            let mut m = Framed::receives(BOTH[0], 4);
            m.send(1, 0, true, 11);
            let write = DdpHeader::tagged(true, 0x40, m.t.stag, BASE + 9 * LENGTH as u64);
            m.push(&Segment::from(&write).with(&[9; LENGTH]));
            m.send(2, 0, true, 21);
            let order = if early { [1..3, 0..1] } else { [0..1, 1..3] };
            for these in order {
                let octets = &m.octets[m.ends[these.start]..m.ends[these.end]];
                let frame = m.t.frame(0, m.at(these.start), octets);
                m.t.s.card.receive(&frame);
            }
            for (report, _) in &mut m.t.s.card.reports {
                let mut fpdu = FpduReport::from_bytes(report);
                if fpdu.kind == report_kind::FPDU && fpdu.msn == 2 {
                    (fpdu.msn, fpdu.to_or_mo) = (at.0, at.1.into());
                    *report = fpdu.to_bytes();
                }
            }
            m.t.host();
            m.ends(code, at, &[0]);
        }
    }
}

/// FPDUs that say nothing, of a message that has always another name: no list of them grows without end.
#[test]
fn more_than_there_can_be() {
    for by in BOTH {
        let mut m = Framed::receives(by, 1);
        m.send(1, 0, true, 11);
        m.send(1, 0, false, 12);
        for n in 0..11 {
            m.untagged(0x43 + n % 2 * 2, 0, (1, LONG), false, &[]);
        }
        m.arrives(1..12);
        assert!(m.t.s.events.is_empty());
        m.arrives(12..13);
        m.ends(MSN, (1, LONG), &[]);
    }
}

/// Whatever a peer sends beyond gaps: of a receive that is complete no octet changes.
#[test]
fn what_is_complete_stays() {
    let (mut complete, mut ended, mut beyond) = (0, 0, 0);
    for seed in 0..600_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) % below
        };
        let mut m = Framed::receives(BOTH[draw(2) as usize], 5);
        let mut next = (1, 0);
        for octet in 1..=24 {
            let last = draw(3) > 0;
            let at = match draw(12) {
                0 => ((next.0 + draw(5) as u32).saturating_sub(2), 0),
                1 => (next.0, draw(3) as u32 * LONG / 2),
                _ => next,
            };
            if draw(4) == 0 {
                let to = DdpHeader::tagged(true, 0x40, m.t.stag, 0x1000 + 18000);
                m.push(&Segment::from(&to).with(&[octet; LENGTH]));
                continue;
            }
            m.send(at.0, at.1, last, octet);
            next = match last {
                true => (at.0.wrapping_add(1), 0),
                false => (at.0, at.1 + LONG),
            };
        }
        let mut there: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut order: Vec<usize> = (0..24).collect();
        for _ in 0..draw(12) {
            let (a, b) = (draw(24) as usize, draw(24) as usize);
            let moved = order.remove(a);
            order.insert(b, moved);
        }
        for n in order.clone().into_iter().chain(order) {
            m.arrives(n..n + 1);
            m.replays();
            let engine = &mut m.t.s.engine;
            let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion()).collect();
            let memory = m.t.s.card.bytes(MEMORY, WRITES * LENGTH).unwrap();
            for c in done.iter().filter(|c| c.status == Status::Success) {
                let at = c.wr_id as usize * 2 * LENGTH;
                let octets = memory[at..at + c.byte_len as usize].to_vec();
                there.push((at, octets));
            }
            for (at, octets) in &there {
                let is = &memory[*at..at + octets.len()];
                assert!(is == octets, "seed {seed}: place {at} is written again");
            }
        }
        complete += there.len();
        let stats = m.t.s.engine.stats();
        (ended, beyond) = (
            ended + stats.terminates_sent,
            beyond + stats.segments_beyond,
        );
    }
    eprintln!("{complete} complete, {ended} ended, {beyond} segments beyond gaps");
    assert!(complete > 600 && ended > 200 && beyond > 600);
}
