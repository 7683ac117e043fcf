//! Messages of queue 0 beyond a gap: the card places them where they say they belong, and they are there when the stream has come to them.
#![allow(missing_docs)]

use crate::bench;
use crate::beyond::{stays_the_cards, By, Framed, BOTH};

use bench::card::MEMORY;
use bench::oracle::segment::Segment;
use bench::traffic::long_mix;
use bench::under::{BASE, LENGTH, WRITES};
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;

const LONG: u32 = LENGTH as u32;

impl Framed {
    /// So many receives are posted, each of two FPDUs' payload, one behind the other in memory; and nothing is in the stream.
    pub fn receives(by: By, count: u64) -> Self {
        let mut m = Self::by(by, &|_| ());
        (m.octets, m.ends) = (Vec::new(), vec![0]);
        for n in 0..count {
            m.receive(n, n as usize * 2);
        }
        m
    }

    /// One more is posted, of the places from this one on.
    pub fn receive(&mut self, id: u64, place: usize) {
        let sges = [sge(self.t.stag, (place * LENGTH) as u64, 2 * LONG)];
        let (s, wr) = (&mut self.t.s, RecvWr { id, sges: &sges });
        s.engine
            .post_recv(s.now, self.t.qp, &wr, &mut s.card)
            .unwrap();
        self.t.host();
    }

    /// The next FPDU is one of a Send, full of this octet.
    pub fn send(&mut self, msn: u32, mo: u32, last: bool, octet: u8) {
        self.untagged(0x43, 0, (msn, mo), last, &[octet; LENGTH]);
    }

    pub fn untagged(&mut self, opcode: u8, rsvd: u32, at: (u32, u32), last: bool, payload: &[u8]) {
        let header = DdpHeader::untagged(last, opcode, rsvd, 0, at.0, at.1);
        self.push(&Segment::from(&header).with(payload));
    }

    /// The receives that are complete, in this order, and how long what came for them is.
    #[track_caller]
    pub fn received(&mut self, these: &[(u64, u32)]) {
        let engine = &mut self.t.s.engine;
        let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion()).collect();
        assert!(done.iter().all(|done| done.status == Status::Success));
        let got: Vec<_> = done.iter().map(|c| (c.wr_id, c.byte_len)).collect();
        assert_eq!(got, these);
    }

    /// What each place of memory is full of.
    #[track_caller]
    pub fn holds(&mut self, octets: &[u8]) {
        let memory = self.t.s.card.bytes(MEMORY, WRITES * LENGTH).unwrap();
        for (n, octet) in octets.iter().enumerate() {
            let place = &memory[n * LENGTH..(n + 1) * LENGTH];
            assert!(place.iter().all(|o| o == octet), "place {n}: {}", place[0]);
        }
    }

    /// The card has had the flow all along, and copied was nothing.
    #[track_caller]
    pub fn is_the_cards(&mut self) {
        let stats = self.t.s.engine.stats();
        assert_eq!((stats.attaches, stats.bytes_copied), (1, 0));
        assert_eq!(self.t.s.card.placed_by_hand, 0);
        assert_eq!(self.t.s.card.attached(), 1);
        self.t.has_no_slot();
    }
}

/// Three Sends in four FPDUs: the second one has two.
fn three(by: By) -> Framed {
    let mut m = Framed::receives(by, 3);
    m.send(1, 0, true, 11);
    m.send(2, 0, false, 21);
    m.send(2, LONG, true, 22);
    m.send(3, 0, true, 31);
    m
}

const THREE: [(u64, u32); 3] = [(0, LONG), (1, 2 * LONG), (2, LONG)];

#[test]
fn sends_are_placed_and_wait() {
    for by in BOTH {
        let mut m = three(by);
        m.arrives(3..4);
        m.arrives(1..2);
        m.says(0, &[(1, 2), (3, 4)]);
        m.received(&[]);
        m.holds(&[0, 0, 21, 0, 31]);
        m.arrives(0..1);
        m.received(&THREE[..1]);
        m.arrives(2..3);
        m.received(&THREE[1..]);
        m.says(4, &[]);
        m.holds(&[11, 0, 21, 22, 31, 0]);
        m.is_the_cards();
        assert_eq!(m.t.s.engine.stats().segments_beyond, 2);
    }
}

/// In whichever order its segments come, of one FPDU each or of several, the stream is the same.
#[test]
fn in_any_order() {
    let mut orders = vec![vec![]];
    for n in 0..4 {
        let longer = |order: &Vec<usize>| {
            let others = (0..4).filter(|other| !order.contains(other));
            let with = |other| [order.clone(), vec![other]].concat();
            others.map(with).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
        assert!(orders.iter().all(|order| order.len() == n + 1));
    }
    assert_eq!(orders.len(), 24);
    for by in BOTH {
        for order in &orders {
            let mut m = three(by);
            order.iter().for_each(|n| m.arrives(*n..*n + 1));
            m.received(&THREE);
            m.holds(&[11, 0, 21, 22, 31, 0]);
            m.is_the_cards();
        }
        for cuts in [[0, 1, 3, 4], [0, 2, 3, 4], [0, 1, 2, 4]] {
            for order in [[2, 1, 0], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1]] {
                let mut m = three(by);
                for n in order {
                    m.arrives(cuts[n]..cuts[n + 1]);
                }
                m.received(&THREE);
                m.holds(&[11, 0, 21, 22, 31, 0]);
                m.is_the_cards();
            }
        }
    }
}

/// A message goes on over three islands and what is lost between them, one receive after the other.
#[test]
fn across_islands() {
    for by in BOTH {
        let mut m = Framed::receives(by, 0);
        let sges = [sge(m.t.stag, 0, 8 * LONG), sge(m.t.stag, 8000, LONG)];
        for (id, sges) in [(0, &sges[..1]), (1, &sges[1..])] {
            let (s, wr) = (&mut m.t.s, RecvWr { id, sges });
            s.engine.post_recv(s.now, m.t.qp, &wr, &mut s.card).unwrap();
        }
        m.t.host();
        for n in 0..8 {
            m.send(1, n * LONG, n == 7, n as u8 + 1);
        }
        m.send(2, 0, true, 9);
        for n in [7..9, 5..6, 1..4] {
            m.arrives(n);
        }
        m.arrives(4..5);
        m.arrives(6..7);
        m.received(&[]);
        m.arrives(0..1);
        m.received(&[(0, 8 * LONG), (1, LONG)]);
        m.holds(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        m.is_the_cards();
    }
}

/// As many as receives are posted, all of them early.
#[test]
fn as_many_as_are_posted() {
    for by in BOTH {
        let mut m = Framed::receives(by, 0);
        (0..14).for_each(|id| m.receive(id, 18));
        (1..15).for_each(|msn| m.send(msn, 0, true, msn as u8));
        (1..14).rev().for_each(|n| m.arrives(n..n + 1));
        m.received(&[]);
        m.arrives(0..1);
        m.received(&(0..14).map(|id| (id, LONG)).collect::<Vec<_>>());
        m.is_the_cards();
    }
}

/// Between a Write, a Read Response and Sends the order is that of the stream.
#[test]
fn with_writes_and_responses() {
    for by in BOTH {
        let mut m = Framed::receives(by, 3);
        let (s, qp) = (&mut m.t.s, m.t.qp);
        let length = (WRITES * LENGTH) as u64;
        let sink = s
            .engine
            .register(s.pd, BASE, MEMORY, length, Access::READ_SINK, &mut s.card)
            .unwrap();
        let sges = [sge(sink, 10 * LENGTH as u64, LONG)];
        let wr = read(50, 77, 0, &sges);
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
        m.t.host();
        let tagged = |opcode, stag, place: usize| {
            DdpHeader::tagged(true, opcode, stag, BASE + (place * LENGTH) as u64)
        };
        let write = tagged(0x40, m.t.stag, 8);
        m.push(&Segment::from(&write).with(&[8; LENGTH]));
        m.send(1, 0, true, 11);
        let response = tagged(0x42, sink, 10);
        m.push(&Segment::from(&response).with(&[10; LENGTH]));
        m.send(2, 0, true, 21);
        m.push(&Segment::from(&tagged(0x40, m.t.stag, 9)).with(&[9; LENGTH]));
        m.send(3, 0, true, 31);
        m.arrives(3..6);
        m.arrives(1..3);
        m.received(&[]);
        m.arrives(0..1);
        m.received(&[(0, LONG), (50, LONG), (1, LONG), (2, LONG)]);
        m.holds(&[11, 0, 21, 0, 31, 0, 0, 0, 8, 9, 10]);
        m.is_the_cards();
    }
}

/// The card loses the flow before the stream has come to them: what is missing is copied, or replayed, and they are passed.
#[test]
fn without_the_card() {
    for (by, replay) in BOTH.map(|by| [(by, 0), (by, 8192)]).concat() {
        let mut m = Framed::by(by, &|config| config.replay = replay);
        (m.octets, m.ends) = (Vec::new(), vec![0]);
        (0..4).for_each(|n| m.receive(n, n as usize * 2));
        m.send(1, 0, true, 11);
        m.send(2, 0, false, 21);
        m.send(2, LONG, true, 22);
        m.send(3, 0, true, 31);
        m.send(4, 0, true, 41);
        m.arrives(3..4);
        m.arrives(1..2);
        // An island is met in part.
        let (first, last) = (m.ends[3] + 40, m.ends[4]);
        m.octets(first..last + 50, 0);
        assert_eq!(m.t.s.card.attached(), 0);
        m.received(&[]);
        m.arrives(2..3);
        m.replays();
        m.received(&[]);
        let cut = m.ends[1] - 100;
        m.octets(0..cut, 0);
        m.octets(cut..m.ends[1], 0);
        m.replays();
        m.received(&THREE);
        m.arrives(4..5);
        m.replays();
        m.received(&[(3, LONG)]);
        m.holds(&[11, 0, 21, 22, 31, 0, 41, 0]);
        m.t.has_no_slot();
    }
}

/// What a message does beside its octets, it does when the stream has come to it: an event, an STag that is invalid, the value of an immediate.
#[test]
fn what_they_say_waits() {
    for by in BOTH {
        let mut m = Framed::receives(by, 4);
        let s = &mut m.t.s;
        let access = Access::REMOTE_WRITE | Access::REMOTE_INVALIDATE;
        let stag = s
            .engine
            .register(s.pd, 0, MEMORY, 1000, access, &mut s.card)
            .unwrap();
        let valid = |m: &Framed| m.t.s.card.stag_row(stag).valid();
        m.untagged(0x45, 0, (1, 0), true, &[1; 10]);
        m.untagged(0x44, stag, (2, 0), false, &[2; LENGTH]);
        m.untagged(0x44, stag, (2, LONG), true, &[3; 10]);
        m.untagged(
            0x48,
            0,
            (3, 0),
            true,
            &0x1234_5678_9abc_def0_u64.to_be_bytes(),
        );
        m.untagged(0x46, 0, (4, 0), true, &[4; 10]);
        m.arrives(1..4);
        m.received(&[]);
        assert!(valid(&m));
        m.arrives(0..1);
        assert!(!valid(&m));
        let engine = &mut m.t.s.engine;
        let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion())
            .map(|c| (c.wr_id, c.byte_len, c.solicited, c.invalidated, c.immediate))
            .collect();
        let immediate = Some(0x1234_5678_9abc_def0);
        let expected = [
            (0, 10, true, None, None),
            (1, LONG + 10, false, Some(stag), None),
            (2, 8, false, None, immediate),
        ];
        assert_eq!(done, expected);
        m.is_the_cards();
        // No STag of that number: it says so in its turn.
        m.arrives(4..5);
        assert_eq!(m.t.s.engine.stats().terminates_sent, 1);
    }
}

/// A queue pair that ends with Sends beyond a gap: their receives are flushed.
#[test]
fn they_end_with_the_queue_pair() {
    for by in BOTH {
        let mut m = three(by);
        m.arrives(1..4);
        let (s, conn) = (&mut m.t.s, m.t.conn);
        s.engine.abort(s.now, conn, &mut s.card).unwrap();
        m.t.host();
        let engine = &mut m.t.s.engine;
        let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion())
            .map(|c| (c.wr_id, c.status))
            .collect();
        assert_eq!(done, [0, 1, 2].map(|id| (id, Status::Flushed)));
    }
}

#[test]
fn lost_sends_stay_the_cards() {
    stays_the_cards(7, long_mix);
}
