//! What the receive walk has to do with a segment: RFC 5044 §4 (FPDUs, markers, CRC), RFC 5041 §4, §5, §7 (headers, placement,
//! errors), RFC 5040 §4 and §4.8, and the order of the checks of docs/card.md. It shares nothing with the card or its model.
//!
//! Tables are written while the walk looks at them. So each row has a history, and an FPDU may be judged by any row that held
//! between the coming of its first byte and the first sight of its outcome.

use std::collections::{BTreeMap, VecDeque};

pub const LOCAL_WRITE: u8 = 1;
pub const REMOTE_WRITE: u8 = 4;
pub const READ_SINK: u8 = 8;
pub const COUNTERS: usize = 90;

const FPDUS: usize = 24;
const TO_ENGINE: usize = 26;
const NONZERO_PAD: usize = 27;
pub const CARRIED: usize = 87;
pub const CARRY_FULL: usize = 88;
/// Words that are carried at most.
const CARRY_WORDS: usize = 1024;

/// CRC32C bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

/// A row of table STAG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    pub valid: bool,
    pub key: u8,
    pub access: u8,
    pub pd: u32,
    pub base: u64,
    pub length: u64,
    pub iova: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sge {
    pub to: u64,
    pub length: u32,
    pub stag: u32,
}

/// A receive element, and whether host memory answers its reads with an error.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub sges: [Sge; 4],
    pub bad: bool,
}

impl Element {
    /// The SGEs before the first empty one.
    pub fn list(&self) -> impl Iterator<Item = &Sge> {
        self.sges.iter().take_while(|sge| sge.length != 0)
    }

    pub fn room(&self) -> u64 {
        self.list().map(|sge| u64::from(sge.length)).sum()
    }
}

/// A receive queue in host memory.
#[derive(Debug)]
pub struct Ring {
    pub log2: u8,
    pub slots: Vec<Option<Element>>,
    /// The fence behind which nothing may read it any more.
    pub retired: Option<u32>,
    pub dead: bool,
}

impl Ring {
    pub fn slot(&self, msn: u32) -> usize {
        (msn.wrapping_sub(1) & ((1 << self.log2) - 1)) as usize
    }
}

/// What a FLOW_RX row says of the walk.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub markers: bool,
    pub crc: bool,
    pub epoch: u8,
    pub pd: u32,
    pub marker_base: u32,
    pub ring: usize,
    /// FPDUs are carried over the ends of segments.
    pub carries: bool,
}

/// A value and when it was set.
#[derive(Debug)]
pub struct Timed<T>(Vec<(u64, T)>);

impl<T: Copy + Default> Timed<T> {
    pub fn new() -> Self {
        Self(vec![(0, T::default())])
    }

    pub fn set(&mut self, now: u64, value: T) {
        self.0.push((now, value));
    }

    pub fn now(&self) -> T {
        self.0.last().map(|v| v.1).unwrap_or_default()
    }

    /// All that it was in these cycles; what is set in one of them may be seen or not.
    fn within(&self, from: u64, to: u64) -> impl Iterator<Item = T> + '_ {
        let first = self.0.iter().rposition(|v| v.0 < from).unwrap_or(0);
        self.0[first..]
            .iter()
            .take_while(move |v| v.0 <= to)
            .map(|v| v.1)
    }
}

/// A segment in the walk.
#[derive(Debug)]
pub struct Segment {
    pub number: u64,
    pub flow: usize,
    pub row: Row,
    pub fin: bool,
    /// Where `bytes` begin.
    pub seq: u32,
    /// Its payload; in the walk with the octets that are carried before it.
    pub bytes: Vec<u8>,
    /// So many of them are carried.
    pub carried: usize,
    /// The FPDU that it does not end is carried out of it.
    pub kept: bool,
    pub chained: bool,
    /// Beyond a gap: Writes, Read Responses and messages of queue 0 are walked, and the first one only with a marker, or where it is certain.
    pub beyond: bool,
    pub certain: bool,
    /// The islands that end where it begins, and begin where it ends; and the one that it becomes beyond a gap.
    pub left: Option<u8>,
    pub right: Option<u8>,
    pub island: u8,
    pub msn: u32,
    pub mo: u32,
    pub started: u64,
}

impl Segment {
    /// Its payload, without markers, is as long as one FPDU (RFC 5044 §4).
    pub fn is_alone(&self) -> bool {
        let length = self.bytes.first_chunk().map(|l| u16::from_be_bytes(*l));
        let whole = length.map(|l| (usize::from(l) + 2).next_multiple_of(4) + 4);
        !self.row.markers && whole == Some(self.bytes.len())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Whole,
    Partial,
    Error,
    NotWalked,
}

/// MSN and MO of queue 0.
pub type Queue = (u32, u32);

/// Those of an island, if messages of queue 0 are in it: of the first FPDU, and behind the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    pub queue: Option<(Queue, Queue)>,
    /// Its parts do not meet.
    pub torn: bool,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub stop: u8,
    pub len: u16,
    pub engine: bool,
    pub msn: u32,
    pub mo: u32,
}

/// An FPDU as it lies in its segment.
#[derive(Debug)]
struct Fpdu {
    end: usize,
    /// Length field, ULPDU and pad, without markers.
    plain: Vec<u8>,
    ulpdu: usize,
    marked: bool,
    markers_good: bool,
    crc_good: bool,
}

enum Framed {
    End,
    Partial,
    Whole(Fpdu),
}

fn be16(b: &[u8]) -> u16 {
    u16::from_be_bytes([b[0], b[1]])
}

fn be32(b: &[u8]) -> u32 {
    u32::from_be_bytes([b[0], b[1], b[2], b[3]])
}

/// RFC 5044 §4.1, §4.3, §4.4.
fn framed(s: &Segment, from: usize) -> Framed {
    let marker = |at: usize| {
        let since = s
            .seq
            .wrapping_add(at as u32)
            .wrapping_sub(s.row.marker_base);
        s.row.markers && since % 512 == 0
    };
    if from == s.bytes.len() {
        return Framed::End;
    }
    // FPDUPTR counts from the length field; a marker before it says 0.
    let begin = from + if marker(from) { 4 } else { 0 };
    let (mut at, mut plain, mut markers_good, mut marked) = (from, vec![], true, false);
    let mut total = None;
    while total != Some(plain.len()) {
        let Some(word) = s.bytes.get(at..at + 4) else {
            return Framed::Partial;
        };
        if marker(at) {
            marked = true;
            let pointer = usize::from(be16(&word[2..])) & !3;
            markers_good &= pointer == at.saturating_sub(begin);
        } else {
            plain.extend(word);
            let ulpdu = usize::from(be16(&plain));
            total = Some((2 + ulpdu).next_multiple_of(4) + 4);
        }
        at += 4;
    }
    let crc = plain.split_off(plain.len() - 4);
    Framed::Whole(Fpdu {
        end: at,
        ulpdu: usize::from(be16(&plain)),
        plain,
        marked,
        markers_good,
        crc_good: crc32c(&s.bytes[from..at - 4]).to_le_bytes() == crc[..],
    })
}

/// Whether the walk of a segment beyond a gap stops before an FPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strays {
    No,
    /// The element was posted meanwhile.
    Perhaps,
    Yes,
}

/// Address and bytes of each placement, or for the engine, or Terminate code and counter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Placed(Vec<(u64, usize)>),
    Engine,
    Error(u16, usize),
}

/// RFC 5041 §7.1 and RFC 5040 §4.8: where in host memory these bytes lie.
fn place(
    row: Region,
    stag: u32,
    pd: u32,
    right: u8,
    to: u64,
    bytes: usize,
) -> Result<u64, (u16, usize)> {
    let end = u128::from(to) + bytes as u128;
    if stag >> 8 == 0 || !row.valid || row.key != stag as u8 {
        Err((0x1100, 39))
    } else if end > 1 << 64 {
        Err((0x1103, 43))
    } else if row.pd != pd {
        Err((0x1102, 40))
    } else if row.access & right == 0 {
        Err((0x0102, 41))
    } else if to < row.base || end > u128::from(row.base) + u128::from(row.length) {
        Err((0x1101, 42))
    } else {
        Ok(row.iova.wrapping_add(to - row.base))
    }
}

/// A DDP segment's header (RFC 5041 §4.2, §4.3).
struct Header {
    tagged: bool,
    last: bool,
    stag_or_qn: u32,
    msn: u32,
    to_or_mo: u64,
    rsvd: u32,
    payload: usize,
}

/// If it is there: bytes of the length field and what is behind.
fn header(fpdu: &Fpdu) -> Option<Header> {
    let p = &fpdu.plain;
    let tagged = fpdu.ulpdu >= 2 && p[2] & 0x80 != 0;
    let size = if tagged { 14 } else { 18 };
    if fpdu.ulpdu < size {
        return None;
    }
    let (stag_or_qn, msn, to_or_mo, rsvd) = if tagged {
        let to = u64::from(be32(&p[8..])) << 32 | u64::from(be32(&p[12..]));
        (be32(&p[4..]), 0, to, 0)
    } else {
        let mo = u64::from(be32(&p[16..]));
        (be32(&p[8..]), be32(&p[12..]), mo, be32(&p[4..]))
    };
    Some(Header {
        tagged,
        last: p[2] & 0x40 != 0,
        stag_or_qn,
        msn,
        to_or_mo,
        rsvd,
        payload: fpdu.ulpdu - size,
    })
}

fn known_opcode(tagged: bool, queue: u32, opcode: u8) -> bool {
    match (tagged, queue) {
        // Write, Read Response; Sends, Immediate Data; Read and Atomic Request; Terminate; Atomic Response.
        (true, _) => matches!(opcode, 0 | 2),
        (_, 0) => matches!(opcode, 3..=6 | 8 | 9),
        (_, 1) => matches!(opcode, 1 | 10),
        (_, 2) => opcode == 7,
        _ => opcode == 11,
    }
}

/// An operation as it came.
#[derive(Clone, Debug)]
pub struct Op {
    pub is_report: bool,
    pub last: bool,
    pub record: [u8; 64],
    pub iova: u64,
    pub bytes: usize,
    /// The cycle in which it was first seen.
    pub shown: u64,
}

/// The bytes that a placement has to have, and from which cycle on it may be seen.
#[derive(Debug)]
pub struct Run {
    pub bytes: Vec<u8>,
    pub from: u64,
}

pub struct Reference {
    pub regions: Vec<Timed<Region>>,
    pub tails: Vec<Timed<u32>>,
    pub rings: Vec<Ring>,
    /// Started and not done.
    pub segments: VecDeque<Segment>,
    /// For each segment so many of its bytes were taken by that cycle.
    pub fed: BTreeMap<u64, Vec<(u64, usize)>>,
    pub runs: VecDeque<Run>,
    pub counts: [u64; COUNTERS],
    /// How often each kind of outcome came, by Terminate code; 0: placed, 1: engine.
    pub seen: BTreeMap<u16, u32>,
    pub stops: [u32; 4],
    /// Segments beyond a gap, whole; stopped before their first FPDU, or before another one, though it was there.
    pub beyond: u32,
    pub strayed: [u32; 2],
    /// By flow and island.
    pub edges: BTreeMap<(usize, u8), Edges>,
    /// Islands passed in order that have messages: those that met, and those that did not.
    pub passed: [u32; 2],
    /// Segments that became an island with messages of one before it.
    pub joined: u32,
    /// Beyond a gap: MSN and MO in order, and MSN and MO of the first message.
    low: Queue,
    first: Option<Queue>,
    known: bool,
    begun: bool,
    offset: usize,
    stop: Stop,
    engine: bool,
    msn: u32,
    mo: u32,
    /// By flow, the octets of an FPDU that its segment did not end.
    carried: BTreeMap<usize, Vec<u8>>,
    /// How the last segment of each flow ended: what a chained one continues.
    left: BTreeMap<usize, (Stop, u32, u32)>,
    places: Vec<Op>,
}

impl Reference {
    pub fn new(flows: usize, stags: usize) -> Self {
        Self {
            regions: (0..stags).map(|_| Timed::new()).collect(),
            tails: (0..flows).map(|_| Timed::new()).collect(),
            rings: vec![],
            segments: VecDeque::new(),
            fed: BTreeMap::new(),
            runs: VecDeque::new(),
            counts: [0; COUNTERS],
            seen: BTreeMap::new(),
            stops: [0; 4],
            beyond: 0,
            strayed: [0; 2],
            edges: BTreeMap::new(),
            passed: [0; 2],
            joined: 0,
            low: (0, 0),
            first: None,
            known: false,
            begun: false,
            offset: 0,
            stop: Stop::Whole,
            engine: false,
            msn: 0,
            mo: 0,
            carried: BTreeMap::new(),
            left: BTreeMap::new(),
            places: vec![],
        }
    }

    /// The oldest segment, its walk begun.
    fn begin(&mut self) -> Result<(), String> {
        let s = self.segments.front().ok_or("nothing is in the walk")?;
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        (self.offset, self.engine) = (0, false);
        let left = self.left.get(&s.flow).filter(|_| s.chained);
        let (stop, msn, mo) = left.copied().unwrap_or((Stop::Whole, s.msn, s.mo));
        (self.msn, self.mo) = (msn, mo);
        self.stop = match stop {
            Stop::Whole => Stop::Whole,
            _ => Stop::NotWalked,
        };
        (self.low, self.first, self.known) = ((self.msn, self.mo), None, !s.beyond);
        if let Some((_, next)) = self.edges_of(s, s.left).queue.filter(|_| s.beyond) {
            ((self.msn, self.mo), self.known) = (next, true);
        }
        Ok(())
    }

    fn edges_of(&self, s: &Segment, island: Option<u8>) -> Edges {
        let edges = island.and_then(|island| self.edges.get(&(s.flow, island)));
        edges.copied().unwrap_or_default()
    }

    /// docs/card.md, *Beyond a gap*.
    fn strays(&self, s: &Segment, fpdu: &Fpdu) -> Strays {
        if !s.beyond {
            return Strays::No;
        }
        if self.offset == 0 && !fpdu.marked && !s.certain {
            return Strays::Yes;
        }
        let Some(h) = header(fpdu) else {
            return Strays::Yes;
        };
        let (ddp, rdmap) = (fpdu.plain[2], fpdu.plain[3]);
        if h.tagged {
            let early = [0, 2].contains(&(rdmap & 15));
            return if early { Strays::No } else { Strays::Yes };
        }
        let good = ddp & 3 == 1 && rdmap >> 6 == 1 && h.stag_or_qn == 0;
        let follows = match self.known {
            true => (h.msn, h.to_or_mo) == (self.msn, u64::from(self.mo)),
            false => true,
        };
        // What is before it was perhaps completed.
        let follows = follows && h.msn.wrapping_sub(self.low.0) as i32 >= 0;
        if !good || !known_opcode(false, 0, rdmap & 15) || !follows {
            return Strays::Yes;
        }
        let from = self.taken(s, self.offset + 1).unwrap_or(0);
        let mut posted = self.tails[s.flow].within(from, u64::MAX);
        let (low, msn) = (self.low.0, h.msn);
        let mut there = posted
            .by_ref()
            .map(|tail| [low, msn].map(|at| tail.wrapping_sub(at) as i32 >= 0) == [true; 2]);
        let first = there.next().unwrap_or(false);
        match (first, there.all(|other| other == first)) {
            (true, true) => Strays::No,
            (false, true) => Strays::Yes,
            _ => Strays::Perhaps,
        }
    }

    /// Where a segment that is walked to its end leaves MSN and MO, and what its island becomes.
    fn meet(&mut self, s: &Segment) -> Queue {
        let (left, right) = (self.edges_of(s, s.left), self.edges_of(s, s.right));
        let here = (self.msn, self.mo);
        if !s.beyond {
            let Some((first, next)) = right.queue else {
                return here;
            };
            let meets = !right.torn && first == here;
            self.passed[usize::from(!meets)] += 1;
            return match meets {
                true => next,
                false => (next.0.wrapping_add(1 << 30), next.1),
            };
        }
        let before = self.known.then_some(here);
        let first = left.queue.map(|queue| queue.0).or(self.first);
        self.joined += u32::from(left.queue.is_some() && self.first.is_some());
        let apart = right
            .queue
            .is_some_and(|(first, _)| before.is_some_and(|before| before != first));
        let queue = match (first, right.queue) {
            (None, queue) => queue,
            (Some(first), None) => Some((first, here)),
            (Some(first), Some((_, next))) => Some((first, next)),
        };
        let torn = left.torn || right.torn || apart;
        self.edges.insert((s.flow, s.island), Edges { queue, torn });
        self.low
    }

    /// A segment is started: what is carried into it and out of it is known by its length fields alone.
    pub fn start(&mut self, mut s: Segment) {
        if s.row.carries {
            let mut bytes = self.carried.remove(&s.flow).unwrap_or_default();
            s.carried = bytes.len();
            s.seq = s.seq.wrapping_sub(bytes.len() as u32);
            bytes.append(&mut s.bytes);
            s.bytes = bytes;
            let mut at = 0;
            let rest = loop {
                match framed(&s, at) {
                    Framed::End => break None,
                    Framed::Partial => break Some(s.bytes[at..].to_vec()),
                    Framed::Whole(fpdu) => at = fpdu.end,
                }
            };
            let rest = rest.filter(|rest| !s.fin && rest.len() / 4 <= CARRY_WORDS);
            if let Some(rest) = rest {
                s.kept = true;
                self.carried.insert(s.flow, rest);
            }
        }
        self.segments.push_back(s);
    }

    /// When byte `count` (from 1) of a segment had been taken; what is carried was there before.
    fn taken(&self, s: &Segment, count: usize) -> Option<u64> {
        let count = count.saturating_sub(s.carried);
        if count == 0 {
            return Some(s.started);
        }
        let log = self.fed.get(&s.number)?;
        log.iter().find(|f| f.1 >= count).map(|f| f.0)
    }

    pub fn op(&mut self, op: Op) -> Result<(), String> {
        self.begin()?;
        let s = self.segments.front().ok_or("nothing is in the walk")?;
        if self.stop != Stop::Whole {
            return Err(format!("an operation behind {:?}: {op:x?}", self.stop));
        }
        let Framed::Whole(fpdu) = framed(s, self.offset) else {
            return Err(format!("an operation of no FPDU: {op:x?}"));
        };
        if self.strays(s, &fpdu) == Strays::Yes {
            return Err(format!(
                "an operation of what is not placed beyond a gap: {op:x?}"
            ));
        }
        let whole = self.taken(s, fpdu.end);
        if whole.is_none_or(|whole| op.shown < whole) {
            return Err(format!("before its FPDU was there: {op:x?}"));
        }
        if !op.is_report {
            self.places.push(op);
            return Ok(());
        }
        if let Some(h) = header(&fpdu).filter(|h| !h.tagged && !self.known) {
            (self.msn, self.mo) = (h.msn, h.to_or_mo as u32);
        }
        let s = self.segments.front().ok_or("nothing is in the walk")?;
        let places = std::mem::take(&mut self.places);
        let from = self.taken(s, self.offset + 1).unwrap_or(0);
        let to = places.first().map_or(op.shown, |place| place.shown);
        let outcomes = self.judge(s, &fpdu, from, to);
        let placed: Vec<_> = places.iter().map(|p| (p.iova, p.bytes)).collect();
        let found = outcomes.iter().find(|o| {
            let same = match o {
                Outcome::Placed(runs) => *runs == placed,
                _ => placed.is_empty(),
            };
            same && self.record(s, &fpdu, o) == op.record
        });
        let Some(outcome) = found else {
            return Err(format!(
                "flow {} {:?} FPDU at {} of {}: placed {placed:x?} {:02x?}\nshould be one of {outcomes:x?}\nfirst {:02x?}",
                s.flow,
                s.row,
                self.offset,
                s.bytes.len(),
                op.record,
                self.record(s, &fpdu, &outcomes[0])
            ));
        };
        let lasts = places.iter().rev().enumerate();
        if lasts.clone().any(|(n, place)| place.last != (n == 0)) {
            return Err("`last` is not on the last placement".into());
        }
        let head = header(&fpdu);
        // Placed payload, in order.
        let begin = 2 + fpdu.ulpdu - head.as_ref().map_or(0, |h| h.payload);
        let mut at = begin;
        for (_, bytes) in &placed {
            self.runs.push_back(Run {
                bytes: fpdu.plain[at..at + bytes].to_vec(),
                from: whole.unwrap_or(0),
            });
            at += bytes;
        }
        // What follows.
        self.counts[FPDUS] += 1;
        let pad = fpdu.plain[2 + fpdu.ulpdu..].iter().any(|b| *b != 0);
        let kind = match outcome {
            Outcome::Error(code, counter) => {
                self.counts[*counter] += 1;
                self.stop = Stop::Error;
                *code
            }
            Outcome::Engine => {
                self.counts[TO_ENGINE] += 1;
                self.engine = true;
                1
            }
            Outcome::Placed(_) => 0,
        };
        *self.seen.entry(kind).or_default() += 1;
        if kind < 2 {
            self.counts[NONZERO_PAD] += u64::from(pad);
            self.offset = fpdu.end;
            if let Some(h) = head.filter(|h| !h.tagged && h.stag_or_qn == 0) {
                self.known = true;
                self.first.get_or_insert((self.msn, self.mo));
                (self.msn, self.mo) = match h.last {
                    true => (self.msn.wrapping_add(1), 0),
                    false => (self.msn, self.mo + h.payload as u32),
                };
            }
        }
        Ok(())
    }

    /// All that may become of an FPDU which came from cycle `from` on and is seen to be judged in cycle `to`.
    fn judge(&self, s: &Segment, fpdu: &Fpdu, from: u64, to: u64) -> Vec<Outcome> {
        let error = |code, counter| vec![Outcome::Error(code, counter)];
        if !fpdu.markers_good {
            return error(0x2003, 29);
        }
        if s.row.crc && !fpdu.crc_good {
            return error(0x2002, 28);
        }
        let Some(h) = header(fpdu) else {
            return error(0x1000, 30);
        };
        let (ddp, rdmap) = (fpdu.plain[2], fpdu.plain[3]);
        if ddp & 3 != 1 {
            return error(if h.tagged { 0x1104 } else { 0x1206 }, 31);
        }
        if rdmap >> 6 != 1 {
            return error(0x0205, 32);
        }
        if !h.tagged && h.stag_or_qn > 3 {
            return error(0x1201, 34);
        }
        if !known_opcode(h.tagged, h.stag_or_qn, rdmap & 15) {
            return error(0x0206, 33);
        }
        if h.tagged {
            if h.payload == 0 {
                return vec![Outcome::Placed(vec![])];
            }
            let right = if rdmap & 15 == 0 {
                REMOTE_WRITE
            } else {
                READ_SINK
            };
            let rows = self.rows(h.stag_or_qn, from, to).into_iter();
            let judged =
                rows.map(|row| place(row, h.stag_or_qn, s.row.pd, right, h.to_or_mo, h.payload));
            return judged
                .map(|r| match r {
                    Ok(iova) => Outcome::Placed(vec![(iova, h.payload)]),
                    Err((code, counter)) => Outcome::Error(code, counter),
                })
                .collect();
        }
        if h.stag_or_qn != 0 {
            return vec![Outcome::Engine];
        }
        if h.msn != self.msn {
            return error(0x1203, 35);
        }
        if h.to_or_mo != u64::from(self.mo) {
            return error(0x1204, 36);
        }
        let mut all = vec![];
        for tail in self.tails[s.flow].within(from, to) {
            if (tail.wrapping_sub(h.msn) as i32) < 0 {
                all.push(Outcome::Error(0x1202, 37));
            } else {
                all.extend(self.scatter(s, &h, from, to));
            }
        }
        all
    }

    /// RFC 5041 §5.3: into the element's buffers, from MO on.
    fn scatter(&self, s: &Segment, h: &Header, from: u64, to: u64) -> Vec<Outcome> {
        let unusable = Outcome::Error(0x1000, 44);
        let ring = &self.rings[s.row.ring];
        let Some(element) = ring.slots[ring.slot(h.msn)] else {
            return vec![]; // Never posted: no outcome is right.
        };
        if element.bad {
            return vec![unusable];
        }
        if h.to_or_mo + h.payload as u64 > element.room() {
            return vec![Outcome::Error(0x1205, 38)];
        }
        let mut lists: Vec<Vec<(u64, usize)>> = vec![vec![]];
        let mut all = vec![];
        let (mut skip, mut rest) = (h.to_or_mo, h.payload);
        for sge in element.list() {
            let length = u64::from(sge.length);
            if rest == 0 || skip >= length {
                skip -= skip.min(length);
                continue;
            }
            let piece = rest.min((length - skip) as usize);
            let mut next = vec![];
            for row in self.rows(sge.stag, from, to) {
                match place(row, sge.stag, s.row.pd, LOCAL_WRITE, sge.to + skip, piece) {
                    Ok(iova) => next.extend(lists.iter().map(|list| {
                        let mut list = list.clone();
                        list.push((iova, piece));
                        list
                    })),
                    Err(_) => all.push(unusable.clone()),
                }
            }
            lists = next;
            rest -= piece;
            skip = 0;
        }
        all.extend(lists.into_iter().map(Outcome::Placed));
        all
    }

    fn rows(&self, stag: u32, from: u64, to: u64) -> Vec<Region> {
        match self.regions.get((stag >> 8) as usize) {
            Some(region) => region.within(from, to).collect(),
            None => vec![Region::default()],
        }
    }

    /// The report (docs/registers.md, fpdu_report).
    fn record(&self, s: &Segment, fpdu: &Fpdu, outcome: &Outcome) -> [u8; 64] {
        let mut r = [0; 64];
        r[0] = 2;
        r[2..4].copy_from_slice(&(s.flow as u16).to_le_bytes());
        let seq = s.seq.wrapping_add(self.offset as u32);
        r[4..8].copy_from_slice(&seq.to_le_bytes());
        let (verdict, code) = match outcome {
            Outcome::Placed(_) => (0, 0),
            Outcome::Engine => (1, 0),
            Outcome::Error(code, _) => (2, *code),
        };
        (r[10], r[11]) = (verdict, s.row.epoch);
        r[12..14].copy_from_slice(&(fpdu.ulpdu as u16).to_le_bytes());
        r[14..16].copy_from_slice(&code.to_le_bytes());
        if let Some(h) = header(fpdu) {
            r[1] = 1;
            (r[8], r[9]) = (fpdu.plain[2], fpdu.plain[3]);
            r[16..20].copy_from_slice(&h.stag_or_qn.to_le_bytes());
            r[20..24].copy_from_slice(&h.msn.to_le_bytes());
            r[24..32].copy_from_slice(&h.to_or_mo.to_le_bytes());
            r[32..36].copy_from_slice(&h.rsvd.to_le_bytes());
            r[36..40].copy_from_slice(&(h.payload as u32).to_le_bytes());
        }
        let offset = (self.offset as u16).wrapping_sub(s.carried as u16);
        r[40..42].copy_from_slice(&offset.to_le_bytes());
        r
    }

    /// The oldest segment is done.
    pub fn done(&mut self, done: Done) -> Result<Segment, String> {
        self.begin()?;
        if !self.places.is_empty() {
            return Err("done between a placement and its report".into());
        }
        let s = self.segments.pop_front().ok_or("done with nothing")?;
        let mut end = s.bytes.len();
        if self.stop == Stop::Whole {
            match framed(&s, self.offset) {
                Framed::End => {}
                Framed::Partial if s.kept => {
                    self.engine = true;
                    self.counts[CARRIED] += 1;
                    end = self.offset;
                }
                Framed::Partial => {
                    self.counts[CARRY_FULL] += u64::from(s.row.carries && !s.fin);
                    self.stop = Stop::Partial;
                }
                Framed::Whole(fpdu) if self.strays(&s, &fpdu) != Strays::No => {
                    self.strayed[usize::from(self.offset != 0)] += 1;
                    self.stop = Stop::Partial;
                }
                Framed::Whole(_) => return Err("done before all was told".into()),
            }
        }
        let (stop, len) = match self.stop {
            Stop::Whole => (0, end),
            Stop::Partial => (1, self.offset),
            Stop::Error => (2, self.offset),
            Stop::NotWalked => (3, 0),
        };
        if stop == 0 && end == s.bytes.len() {
            (self.msn, self.mo) = self.meet(&s);
        } else if s.beyond {
            (self.msn, self.mo) = self.low;
            self.edges.remove(&(s.flow, s.island));
        }
        let should = Done {
            stop,
            len: len.saturating_sub(s.carried) as u16,
            engine: self.engine,
            msn: self.msn,
            mo: self.mo,
        };
        if done != should {
            return Err(format!("{done:?}, should be {should:?}"));
        }
        self.stops[usize::from(stop)] += 1;
        self.beyond += u32::from(s.beyond && stop == 0);
        if stop != 0 {
            self.carried.remove(&s.flow);
        }
        self.left.insert(s.flow, (self.stop, self.msn, self.mo));
        self.begun = false;
        self.fed.remove(&s.number);
        Ok(s)
    }
}
