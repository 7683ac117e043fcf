//! A box on the way that makes TCP segments anew: it cuts the stream where it likes, and fills the receiver's window to the octet.
//!
//! It tells the sender of more room than there is, and keeps what has none. Of one connection; frames of other kinds pass.

use std::collections::VecDeque;

use weft_tcp::seq;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};

/// A host and a frame that comes from it.
pub type From = (usize, Vec<u8>);

/// What the box does.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Octets of a segment, drawn for each: from, to.
    pub sizes: (u32, u32),
    /// Where a segment of the sender ends, one of the box ends: cut, not joined.
    pub ends: bool,
    /// The window is filled to the octet.
    pub fill: bool,
    /// No more than so many octets are in flight: what a receiver with that window would let come.
    pub window: u32,
}

/// One direction of the connection.
#[derive(Default)]
struct Way {
    /// Its sender's newest header.
    header: Option<FrameHeader>,
    /// It has not gone out yet.
    is_new: bool,
    /// Behind the last octet that went out; none before the SYN.
    sent: Option<u32>,
    /// What follows and has not gone out.
    kept: Vec<u8>,
    /// Where the sender's segments of it end.
    ends: VecDeque<u32>,
    /// The FIN is behind that.
    fin: bool,
    /// Its receiver's window scale.
    scale: u8,
    /// Its receiver has told of room up to here.
    edge: Option<u32>,
}

/// The box.
pub struct Middlebox {
    cuts: Cuts,
    ways: [Way; 2],
    random: u64,
}

impl Middlebox {
    pub fn new(seed: u64, cuts: Cuts) -> Self {
        Middlebox {
            cuts,
            ways: Default::default(),
            random: seed ^ 0x2545_f491,
        }
    }

    fn size(&mut self) -> usize {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let (least, most) = self.cuts.sizes;
        (least + (self.random >> 33) as u32 % (most - least + 1)) as usize
    }

    /// What comes out of the box when these frames of a host go in.
    pub fn pass(&mut self, from: usize, frames: Vec<Vec<u8>>) -> Vec<From> {
        let mut out = Vec::new();
        for frame in frames {
            if self.take(from, &frame, &mut out).is_none() {
                out.push((from, frame));
            }
        }
        for way in [from, 1 - from] {
            self.flush(way, &mut out);
        }
        out
    }

    /// None: the frame is not for the box.
    fn take(&mut self, from: usize, frame: &[u8], out: &mut Vec<From>) -> Option<()> {
        let (ethernet, packet) = EthernetHeader::parse(frame)?;
        let packet = Ipv4Packet::parse(packet).ok()?;
        if ethernet.ethertype != 0x0800 || packet.protocol != protocol::TCP {
            return None;
        }
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).ok()?;
        let end = segment.seq.wrapping_add(segment.payload.len() as u32);
        if segment.flags & flag::SYN != 0 {
            let (way, back) = self.both(from);
            if way.sent.is_none() {
                way.sent = Some(end.wrapping_add(1));
            }
            back.scale = segment.options.window_scale.unwrap_or(0);
            return None;
        }
        if segment.flags & flag::RST != 0 {
            return None;
        }
        let cuts = self.cuts;
        let (way, back) = self.both(from);
        let sent = way.sent?;
        // Room for the other direction.
        let told = u32::from(segment.window) << back.scale;
        let edge = segment.ack.wrapping_add(told.min(cuts.window));
        back.edge = Some(back.edge.map_or(edge, |before| seq::max(before, edge)));
        let header = FrameHeader {
            source_mac: ethernet.source,
            destination_mac: ethernet.destination,
            source_ip: packet.source,
            destination_ip: packet.destination,
            identification: 0,
            tos: packet.tos,
            source_port: segment.source_port,
            destination_port: segment.destination_port,
            seq: 0,
            ack: segment.ack,
            flags: segment.flags & !(flag::FIN | flag::PSH),
            window: if cuts.fill { 0xffff } else { segment.window },
            options: segment.options,
        };
        way.header = Some(header);
        way.is_new = true;
        let kept = sent.wrapping_add(way.kept.len() as u32);
        if segment.flags & flag::FIN != 0 && end == kept.wrapping_add(segment.payload.len() as u32)
        {
            // It goes out again where it has gone out.
            way.fin = true;
        }
        if segment.payload.is_empty() {
            if segment.flags & flag::FIN != 0 && seq::le(end, kept) {
                way.fin = true;
            }
            if seq::lt(segment.seq, sent) {
                // A probe.
                out.push((
                    from,
                    write(
                        &FrameHeader {
                            seq: segment.seq,
                            ..header
                        },
                        &[],
                    ),
                ));
            }
            return Some(());
        }
        if seq::lt(kept, end) && seq::le(segment.seq, kept) {
            let new = seq::diff(end, kept) as usize;
            way.ends.push_back(end);
            way.kept
                .extend(&segment.payload[segment.payload.len() - new..]);
        }
        if seq::lt(segment.seq, sent) {
            // Sent again.
            let count = (seq::diff(sent, segment.seq) as usize).min(segment.payload.len());
            let mut rest = &segment.payload[..count];
            let mut seq = segment.seq;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(self.size().min(rest.len()));
                out.push((from, write(&FrameHeader { seq, ..header }, now)));
                seq = seq.wrapping_add(now.len() as u32);
                rest = later;
            }
        } else if seq::lt(segment.seq, kept) {
            // Sent again, and the box has it: it asks for room.
            let seq = sent.wrapping_sub(1);
            out.push((from, write(&FrameHeader { seq, ..header }, &[])));
        }
        Some(())
    }

    /// The direction from there, and the other one.
    fn both(&mut self, from: usize) -> (&mut Way, &mut Way) {
        let [a, b] = &mut self.ways;
        if from == 0 {
            (a, b)
        } else {
            (b, a)
        }
    }

    /// What has room goes out.
    fn flush(&mut self, from: usize, out: &mut Vec<From>) {
        loop {
            let (size, cuts) = (self.size(), self.cuts);
            let way = &mut self.ways[from];
            let (Some(mut header), Some(sent)) = (way.header, way.sent) else {
                return;
            };
            header.seq = sent;
            let room = way.edge.map_or(0, |edge| seq::diff(edge, sent)).max(0) as usize;
            let next_end = way.ends.front().filter(|_| cuts.ends);
            let whole = next_end.map_or(way.kept.len(), |end| seq::diff(*end, sent) as usize);
            let count = size.min(room).min(whole);
            if way.kept.is_empty() && way.fin {
                way.fin = false;
                way.is_new = false;
                header.flags |= flag::FIN;
                out.push((from, write(&header, &[])));
                return;
            }
            if count == 0 {
                if std::mem::take(&mut way.is_new) {
                    out.push((from, write(&header, &[])));
                }
                return;
            }
            let piece: Vec<u8> = way.kept.drain(..count).collect();
            let sent = sent.wrapping_add(count as u32);
            way.sent = Some(sent);
            while way.ends.front().is_some_and(|end| seq::le(*end, sent)) {
                way.ends.pop_front();
            }
            way.is_new = false;
            out.push((from, write(&header, &piece)));
            // SACK blocks are told once.
            if let Some(header) = &mut way.header {
                header.options = Options {
                    timestamps: header.options.timestamps,
                    ..Options::default()
                };
            }
        }
    }
}

fn write(header: &FrameHeader, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 2048];
    let used = header.write(payload, &mut frame).expect("it fits");
    frame.truncate(used);
    frame
}
