//! From TCP segments to octet streams.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use super::segments::Segment;

/// A segment's place in its stream.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// First octet, counted from the first behind the SYN.
    pub start: u64,
    /// Octets.
    pub len: usize,
}

impl Piece {
    /// The octet behind it.
    pub fn end(&self) -> u64 {
        self.start + self.len as u64
    }
}

/// One direction's octets.
#[derive(Debug)]
pub struct Octets {
    /// Who sends.
    pub from: SocketAddrV4,
    /// Sequence number of the first octet, if the SYN was seen.
    pub first: Option<u32>,
    /// What came without a gap.
    pub bytes: Vec<u8>,
    /// Every segment with payload, in the order of the file.
    pub pieces: Vec<Piece>,
    /// In which frame an octet was sent first, by where that frame's octets begin.
    frames: BTreeMap<u64, usize>,
    /// Octets beyond a gap, by where they begin.
    beyond: BTreeMap<u64, Vec<u8>>,
    /// Segments that were sent before, at least in part.
    pub retransmissions: usize,
    /// A retransmission that differs from what it repeats: where.
    pub differs: Option<Piece>,
    /// Where the FIN is.
    pub fin: Option<u64>,
    /// FIN or RST was seen.
    pub ended: bool,
}

impl Octets {
    fn new(from: SocketAddrV4) -> Self {
        Self {
            from,
            first: None,
            bytes: Vec::new(),
            pieces: Vec::new(),
            frames: BTreeMap::new(),
            beyond: BTreeMap::new(),
            retransmissions: 0,
            differs: None,
            fin: None,
            ended: false,
        }
    }

    /// Octets beyond a gap.
    pub fn beyond(&self) -> u64 {
        self.beyond.values().map(|b| b.len() as u64).sum()
    }

    /// The sequence number of an octet.
    pub fn seq(&self, offset: u64) -> u32 {
        self.first.unwrap_or(0).wrapping_add(offset as u32)
    }

    /// The frame in which an octet was sent first.
    pub fn frame(&self, offset: u64) -> usize {
        let begun = self.frames.range(..=offset).next_back();
        begun.map_or(0, |(_, frame)| *frame)
    }

    fn take(&mut self, segment: &Segment) {
        let Some(first) = self.first else {
            return;
        };
        self.ended |= segment.fin || segment.rst;
        let next = self.bytes.len() as u64;
        let ahead = segment.seq.wrapping_sub(first.wrapping_add(next as u32)) as i32;
        let Some(start) = next.checked_add_signed(i64::from(ahead)) else {
            return; // A keepalive's octet before the first.
        };
        let payload = &segment.payload;
        if segment.fin {
            self.fin = Some(start + payload.len() as u64);
        }
        if payload.is_empty() || segment.syn {
            return;
        }
        let piece = Piece {
            start,
            len: payload.len(),
        };
        self.pieces.push(piece);
        self.frames.entry(start).or_insert(segment.frame);
        if start > next {
            let known = self.beyond.entry(start).or_default();
            if known.len() < payload.len() {
                known.clone_from(payload);
            }
            return;
        }
        let known = (next - start).min(payload.len() as u64) as usize;
        if known > 0 {
            self.retransmissions += 1;
            let before = &self.bytes[start as usize..start as usize + known];
            if before != &payload[..known] {
                self.differs.get_or_insert(piece);
            }
        }
        self.bytes.extend(&payload[known..]);
        while let Some((at, bytes)) = self.beyond.pop_first() {
            let next = self.bytes.len() as u64;
            if at > next {
                self.beyond.insert(at, bytes);
                break;
            }
            let known = (next - at) as usize;
            if known < bytes.len() {
                self.bytes.extend(&bytes[known..]);
            }
        }
    }
}

/// One connection: from the one who sent the first SYN, and to it.
#[derive(Debug)]
pub struct Stream {
    /// Both directions.
    pub directions: [Octets; 2],
}

/// All connections whose SYN is there, in the order of their SYNs.
pub fn reassemble(segments: &[Segment]) -> Vec<Stream> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut by_ends: BTreeMap<(SocketAddrV4, SocketAddrV4), usize> = BTreeMap::new();
    for segment in segments {
        let first = segment.seq.wrapping_add(1);
        if segment.syn && !segment.ack {
            let known = by_ends.get(&(segment.from, segment.to));
            let again = known.is_some_and(|n| streams[*n].directions[0].first == Some(first));
            if !again {
                let mut directions = [segment.from, segment.to].map(Octets::new);
                directions[0].first = Some(first);
                by_ends.insert((segment.from, segment.to), streams.len());
                streams.push(Stream { directions });
            }
            continue;
        }
        let (number, end) = match by_ends.get(&(segment.from, segment.to)) {
            Some(number) => (*number, 0),
            None => match by_ends.get(&(segment.to, segment.from)) {
                Some(number) => (*number, 1),
                None => continue,
            },
        };
        let octets = &mut streams[number].directions[end];
        if segment.syn && octets.first.is_none() {
            octets.first = Some(first);
        } else if !segment.syn {
            octets.take(segment);
        }
    }
    streams
}
