//! Writes and Read Responses beyond a gap (Sends: `beyond_sends`), of a flow whose framing is certain there: its card places them and keeps the flow.
#![allow(missing_docs)]

use std::ops::Range;

use crate::bench;

use bench::card::MEMORY;
use bench::oracle::fpdu;
use bench::oracle::segment::Segment;
use bench::traffic::{long_reads, long_writes, run_agreed};
use bench::under::{Under, BASE, LENGTH, WRITES};
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::mpa::Extensions;
use weft_wire::tcp::flag;

/// Why framing is certain beyond a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// There are markers.
    Markers,
    /// It was agreed that each segment begins with an FPDU.
    Agreement,
}

pub const BOTH: [By; 2] = [By::Markers, By::Agreement];

impl By {
    /// Who asks the peer for it, or grants it.
    pub fn accept(self) -> AcceptParams<'static> {
        AcceptParams {
            markers: self == By::Markers,
            aligned: self == By::Agreement,
            ..Default::default()
        }
    }
}

/// An engine, and its peer's stream whose framing is certain: Writes, each in a segment of its own.
pub struct Framed {
    by: By,
    pub t: Under,
    pub octets: Vec<u8>,
    pub ends: Vec<usize>,
}

impl Framed {
    /// By markers.
    fn new() -> Self {
        Self::with(&|_| ())
    }

    fn with(change: &dyn Fn(&mut EngineConfig)) -> Self {
        Self::by(By::Markers, change)
    }

    pub fn by(by: By, change: &dyn Fn(&mut EngineConfig)) -> Self {
        let t = Under::agreed(change, &by.accept());
        let mut stream = Self {
            by,
            t,
            octets: Vec::new(),
            ends: vec![0],
        };
        for n in 0..WRITES {
            let to = BASE + (n * LENGTH) as u64;
            let header = DdpHeader::tagged(true, 0x40, stream.t.stag, to);
            stream.push(&Segment::from(&header).with(&[n as u8 + 1; LENGTH]));
        }
        stream
    }

    /// One more FPDU at the stream's end.
    pub fn push(&mut self, ulpdu: &[u8]) {
        let seq = self.t.start.wrapping_add(self.octets.len() as u32);
        let base = self.t.s.card.rx_row(0).marker_base;
        let markers = (self.by == By::Markers).then_some(base);
        self.octets.extend(fpdu::frame(seq, markers, true, ulpdu));
        self.ends.push(self.octets.len());
    }

    pub fn at(&self, n: usize) -> u32 {
        self.t.start.wrapping_add(self.ends[n] as u32)
    }

    /// A segment of these FPDUs arrives, and the host sees its report.
    pub fn arrives(&mut self, these: Range<usize>) {
        self.octets(self.ends[these.start]..self.ends[these.end], 0);
    }

    pub fn octets(&mut self, these: Range<usize>, flags: u8) {
        let seq = self.t.start.wrapping_add(these.start as u32);
        let frame = self.t.frame(flags, seq, &self.octets[these]);
        self.t.s.card.receive(&frame);
        self.t.host();
    }

    /// The card does the replays that it is asked for.
    pub fn replays(&mut self) {
        while self.t.s.card.will_replay() {
            self.t.replays();
        }
    }

    /// The engine says that it has all before one FPDU, and these beyond.
    #[track_caller]
    pub fn says(&self, next: usize, beyond: &[(usize, usize)]) {
        assert_eq!(self.t.acked, self.at(next), "acknowledged");
        let blocks: Vec<_> = beyond
            .iter()
            .map(|(first, end)| (self.at(*first), self.at(*end)))
            .collect();
        assert_eq!(self.t.sack, blocks, "beyond");
    }

    /// So many Writes are there, each octet placed once, of them so many by the engine; and the card has the flow.
    #[track_caller]
    fn has(&mut self, writes: usize, by_hand: usize) {
        self.t.has(writes);
        let placed = self.t.s.card.placed_by_hand;
        assert_eq!(placed, (by_hand * LENGTH) as u64, "by hand");
        assert_eq!(self.t.s.card.attached(), 1);
        self.t.has_no_slot();
    }
}

#[test]
fn a_gap_is_filled() {
    for by in BOTH {
        let mut m = Framed::by(by, &|_| ());
        m.arrives(0..1);
        m.arrives(2..3);
        m.says(1, &[(2, 3)]);
        m.arrives(3..4);
        m.says(1, &[(2, 4)]);
        m.arrives(5..6);
        m.says(1, &[(5, 6), (2, 4)]);
        m.arrives(1..2);
        m.says(4, &[(5, 6)]);
        m.arrives(4..5);
        m.says(6, &[]);
        m.arrives(6..7);
        m.has(7, 0);
        let stats = m.t.s.engine.stats();
        assert_eq!((stats.attaches, stats.segments_beyond), (1, 3));
        assert_eq!(stats.bytes_copied, 0);
    }
}

/// What comes again of an island is told once as such (RFC 2883).
#[test]
fn what_was_placed_comes_again() {
    for by in BOTH {
        let mut m = Framed::by(by, &|_| ());
        m.arrives(2..4);
        m.arrives(3..4);
        m.says(0, &[(3, 4), (2, 4)]);
        m.arrives(1..2);
        m.says(0, &[(1, 4)]);
        m.arrives(0..1);
        m.says(4, &[]);
        m.has(4, 0);
    }
}

/// One island more than the card keeps: the flow is the engine's, which passes what the card has placed, until the card has the flow again.
#[test]
fn too_many_islands() {
    for replay in [0, 8192] {
        let mut m = Framed::with(&|config| config.replay = replay);
        for n in (1..18).step_by(2) {
            assert_eq!(m.t.s.card.attached(), 1);
            m.arrives(n..n + 1);
        }
        assert_eq!(m.t.s.card.attached(), 0);
        m.says(0, &[(17, 18), (15, 16), (13, 14), (11, 12)]);
        for n in [8, 4, 6, 16, 0, 12, 10, 14, 2] {
            m.arrives(n..n + 1);
            m.replays();
        }
        m.says(18, &[]);
        m.arrives(18..19);
        assert_eq!(m.t.s.card.attached(), 1);
        m.t.has(19);
        m.t.has_no_slot();
        let by_hand = m.t.s.card.placed_by_hand as usize / LENGTH;
        assert_eq!(by_hand, if replay == 0 { 10 } else { 0 });
    }
}

/// A Send beyond a gap for which no receive is posted takes the flow; the Write before it in its segment was placed. Both are there in their order.
#[test]
fn a_send_beyond_a_gap() {
    let mut m = Framed::new();
    let to = BASE + ((WRITES - 1) * LENGTH) as u64;
    let send = DdpHeader::untagged(true, 0x43, 0, 0, 1, 0);
    m.octets.truncate(m.ends[3]);
    m.ends.truncate(4);
    m.push(&Segment::from(&send).with(&[99; 300]));
    m.arrives(1..2);
    m.arrives(2..4);
    assert_eq!(m.t.s.card.attached(), 0);
    let sges = [sge(m.t.stag, to - BASE, LENGTH as u32)];
    let (s, qp) = (&mut m.t.s, m.t.qp);
    let wr = RecvWr { id: 7, sges: &sges };
    s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
    m.arrives(0..1);
    m.replays();
    m.says(4, &[]);
    let sink = m.t.s.card.bytes(MEMORY, WRITES * LENGTH).unwrap();
    assert!(sink[(WRITES - 1) * LENGTH..][..300]
        .iter()
        .all(|b| *b == 99));
    for n in 0..3 {
        assert!(sink[n * LENGTH..][..LENGTH]
            .iter()
            .all(|b| *b == n as u8 + 1));
    }
    assert!(m.t.s.engine.poll_completion().is_some());
}

/// A sender that cuts anew what it sends again: a segment that meets an island is the engine's.
#[test]
fn cut_anew() {
    for by in BOTH {
        let mut m = Framed::by(by, &|_| ());
        m.arrives(2..4);
        let (first, last) = (m.ends[1] - 100, m.ends[2] + 300);
        m.octets(0..first, 0);
        m.octets(first..last, 0);
        assert_eq!(m.t.acked, m.at(4));
        m.arrives(4..5);
        m.t.has(5);
        assert_eq!(m.t.s.card.attached(), 1);
    }
}

/// A segment in order that ends inside an FPDU takes the flow once. Its row lets the card carry from then on.
#[test]
fn a_cut_takes_the_flow_once() {
    for by in BOTH {
        let mut m = Framed::by(by, &|_| ());
        m.arrives(0..1);
        for (cut, attached) in [(1, 0), (2, 1), (3, 1)] {
            let middle = m.ends[cut] + 100;
            m.octets(m.ends[cut]..middle, 0);
            assert_eq!(m.t.s.card.attached(), attached, "{by:?} {cut}");
            m.octets(middle..m.ends[cut + 1], 0);
            assert_eq!(m.t.s.card.attached(), 1, "{by:?} {cut}");
        }
        m.t.has(4);
    }
}

/// The flow is taken away, or the card loses it, with islands there: they are the engine's account from there on.
#[test]
fn an_error_beyond_a_gap() {
    let mut m = Framed::new();
    m.arrives(1..2);
    let at = m.ends[3] + 40;
    m.octets[at] ^= 1;
    m.arrives(3..4);
    assert_eq!(m.t.s.card.attached(), 0);
    m.arrives(0..1);
    m.says(2, &[(3, 4)]);
    m.arrives(2..3);
    // In its turn it ends the connection.
    let terminated = |e: &Event| matches!(e, Event::QpFatal { .. } | Event::Disconnected { .. });
    assert!(m.t.s.events.iter().any(terminated), "{:?}", m.t.s.events);
    m.t.has(3);
}

/// Behind a FIN nothing is an island, and one before it is passed.
#[test]
fn a_fin_behind_an_island() {
    for by in BOTH {
        let mut m = Framed::by(by, &|_| ());
        m.arrives(1..2);
        let end = m.ends[3];
        m.octets(m.ends[2]..end, flag::FIN);
        m.arrives(0..1);
        m.t.has(3);
        m.t.has_fin(m.at(3));
    }
}

/// The row asks for it where framing is certain alone, and where the configuration says so.
#[test]
fn who_asks_for_it() {
    let row = |m: &Framed| m.t.s.card.rx_row(0);
    for by in BOTH {
        let m = Framed::by(by, &|_| ());
        assert_eq!(row(&m).markers(), by == By::Markers);
        assert!(row(&m).beyond() && !row(&m).carry());
        let mut m = Framed::by(by, &|config| config.beyond = false);
        assert!(!row(&m).beyond());
        m.arrives(1..2);
        assert_eq!(m.t.s.card.attached(), 0);
        // Where segments are cut an FPDU is carried, and nothing is placed beyond a gap.
        let mut m = Framed::by(by, &|_| ());
        let cut = m.ends[1] - 100;
        m.octets(0..cut, 0);
        m.octets(cut..m.ends[1], 0);
        assert!(row(&m).carry() && !row(&m).beyond());
        m.arrives(2..3);
        assert_eq!(m.t.s.card.attached(), 0);
        m.arrives(1..2);
        m.replays();
        m.says(3, &[]);
        m.t.has(3);
    }
    let t = Under::new(4);
    assert!(!t.s.card.rx_row(0).beyond());
    // Asked for, and not granted; not asked for.
    for (asked, granted) in [
        (Extensions::ALIGNED, By::Markers),
        (Extensions::NONE, By::Agreement),
    ] {
        let accept = AcceptParams {
            markers: false,
            ..granted.accept()
        };
        let t = Under::asked(&|_| (), asked, &accept);
        assert!(!t.s.card.rx_row(0).beyond());
    }
}

/// A box makes segments anew, and one beyond a gap begins inside an FPDU, whose payload looks like a Write, all but its CRC: nothing of it is placed, the card
/// gives up the flow, and what comes in order is right.
#[test]
fn a_segment_that_begins_inside_an_fpdu() {
    let mut m = Framed::by(By::Agreement, &|_| ());
    let stag = m.t.stag;
    let header = |n: usize| DdpHeader::tagged(true, 0x40, stag, BASE + (n * LENGTH) as u64);
    let mut looks = fpdu::frame(0, None, true, &Segment::from(&header(9)).with(&[77; 300]));
    let last = looks.len() - 1;
    looks[last] ^= 1;
    let mut payload = vec![2; LENGTH];
    payload[100..100 + looks.len()].copy_from_slice(&looks);
    m.octets.truncate(m.ends[1]);
    m.ends.truncate(2);
    m.push(&Segment::from(&header(1)).with(&payload));
    m.push(&Segment::from(&header(2)).with(&[3; LENGTH]));
    // Behind the second FPDU's length field and header.
    let inside = m.ends[1] + 16 + 100;
    m.octets(inside..m.ends[2], 0);
    assert_eq!(m.t.s.card.attached(), 0);
    assert_eq!(m.t.s.card.placed, 0);
    m.octets(0..inside, 0);
    m.replays();
    m.says(2, &[]);
    m.arrives(2..3);
    m.says(3, &[]);
    assert_eq!(m.t.s.card.attached(), 1);
    let sink = m.t.s.card.bytes(MEMORY, 10 * LENGTH).unwrap();
    assert_eq!(sink[LENGTH..2 * LENGTH], payload[..]);
    assert!(sink[3 * LENGTH..].iter().all(|byte| *byte == 0));
    assert_eq!(m.t.s.engine.stats().terminates_sent, 0);
}

/// Two Reads are out, each of two FPDUs' payload, and their responses are the stream from its first octet on.
fn reads() -> (Framed, u32) {
    let mut m = Framed::new();
    (m.octets, m.ends) = (Vec::new(), vec![0]);
    let length = (WRITES * LENGTH) as u64;
    let (s, qp) = (&mut m.t.s, m.t.qp);
    let sink = s
        .engine
        .register(s.pd, BASE, MEMORY, length, Access::READ_SINK, &mut s.card)
        .unwrap();
    for n in 0..2 {
        let sges = [sge(sink, n * 2 * LENGTH as u64, 2 * LENGTH as u32)];
        let wr = read(n, 77, 0, &sges);
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
    }
    m.t.host();
    for n in 0..4 {
        let to = BASE + (n * LENGTH) as u64;
        m.respond(sink, to, n % 2 == 1, n as u8 + 1);
    }
    (m, sink)
}

impl Framed {
    fn respond(&mut self, sink: u32, to: u64, last: bool, byte: u8) {
        let header = DdpHeader::tagged(last, 0x42, sink, to);
        self.push(&Segment::from(&header).with(&[byte; LENGTH]));
    }

    /// The Reads that are complete, in this order.
    #[track_caller]
    fn completes(&mut self, these: &[u64]) {
        let engine = &mut self.t.s.engine;
        let done: Vec<_> = std::iter::from_fn(|| engine.poll_completion()).collect();
        assert!(done.iter().all(|done| done.status == Status::Success));
        let ids: Vec<_> = done.iter().map(|done| done.wr_id).collect();
        assert_eq!(ids, these);
    }
}

/// Responses beyond a gap are placed, and Reads complete when the stream has come to them.
#[test]
fn responses_are_placed_and_wait() {
    let (mut m, _) = reads();
    m.arrives(3..4);
    m.arrives(1..2);
    m.says(0, &[(1, 2), (3, 4)]);
    m.completes(&[]);
    assert_eq!(m.t.s.card.placed, 2 * LENGTH as u64);
    m.arrives(0..1);
    m.completes(&[0]);
    m.arrives(2..3);
    m.completes(&[1]);
    m.says(4, &[]);
    m.has(4, 0);
    assert_eq!(m.t.s.engine.stats().attaches, 1);
}

/// The same where the card loses the flow before the stream has come to them: what is missing is copied, or replayed.
#[test]
fn responses_wait_without_the_card() {
    let (mut m, _) = reads();
    m.arrives(1..4);
    // Another sender's octets: the island is met in part.
    let (first, last) = (m.ends[3] + 40, m.ends[4]);
    let stream = m.octets.clone();
    m.octets.extend([0; 50]);
    m.octets(first..last + 50, 0);
    assert_eq!(m.t.s.card.attached(), 0);
    m.octets = stream;
    m.completes(&[]);
    let first = m.ends[1] - 100;
    m.octets(0..first, 0);
    m.octets(first..m.ends[1], 0);
    m.replays();
    m.completes(&[0, 1]);
}

/// A response that nobody asked for, beyond a gap, ends the connection when the stream has come to it, and not before.
#[test]
fn a_response_that_is_wrong() {
    let says = |m: &Framed| {
        let stats = m.t.s.engine.stats();
        (stats.responses_unasked, stats.terminates_sent)
    };
    let (mut m, sink) = reads();
    m.octets.truncate(m.ends[1]);
    m.ends.truncate(2);
    m.respond(sink, BASE + (5 * LENGTH) as u64, true, 9);
    m.arrives(1..2);
    assert_eq!(says(&m), (0, 0));
    m.arrives(0..1);
    assert_eq!(says(&m).0, 1);
    let terminated = |e: &Event| matches!(e, Event::QpFatal { .. } | Event::Disconnected { .. });
    assert!(m.t.s.events.iter().any(terminated), "{:?}", m.t.s.events);
}

/// With one frame in a hundred lost, the card keeps the flow, and nothing is copied.
pub fn stays_the_cards(seed: u64, traffic: impl Fn(&mut Bench, &Pair, u64)) {
    for (by, beyond) in BOTH.map(|by| [(by, true), (by, false)]).concat() {
        let mut b = Bench::with(seed, &|config| config.beyond = beyond);
        b.keep_capture = false;
        let params = ConnectParams {
            aligned: by == By::Agreement,
            ..Default::default()
        };
        let pair = b.connect(&params, &by.accept());
        b.faults.loss = 655;
        traffic(&mut b, &pair, 60);
        let stats = *b.hosts[1].engine.stats();
        eprintln!("{by:?}, {beyond}: {stats:?}");
        if beyond {
            assert_eq!((stats.attaches, stats.bytes_copied), (1, 0), "{stats:?}");
            assert!(stats.segments_beyond > 20, "{stats:?}");
        } else {
            assert!(stats.attaches > 10, "{stats:?}");
        }
    }
}

#[test]
fn losses_stay_the_cards() {
    stays_the_cards(5, long_writes);
}

#[test]
fn lost_responses_stay_the_cards() {
    stays_the_cards(6, long_reads);
}

/// Losses beside everything else that goes wrong: every octet is right, and no slot is lost.
#[test]
fn losses_and_everything() {
    for (by, faults) in BOTH
        .map(|by| {
            let loss = Faults {
                loss: 2000,
                ..Default::default()
            };
            [(by, loss), (by, Faults::EVERYTHING)]
        })
        .concat()
    {
        let mut beyond = 0;
        for seed in 0..40 {
            let change = |config: &mut EngineConfig| {
                config.replay = if seed & 1 == 0 { 0 } else { 4096 };
            };
            let params = ConnectParams {
                markers: by == By::Markers,
                aligned: by == By::Agreement,
                ..Default::default()
            };
            let ways = (&params, &by.accept());
            let b = run_agreed(4 * seed + 3, faults, &change, &|_| (), ways);
            for host in &b.hosts {
                assert_eq!(host.card.lent_out(), 0, "seed {seed}: a slot is lost");
                beyond += host.engine.stats().segments_beyond;
            }
        }
        eprintln!("{by:?}: {beyond} segments beyond gaps");
        assert!(beyond > 50, "{by:?}: {beyond}");
    }
}
