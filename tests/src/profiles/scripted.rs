//! A peer that plays a profile: MPA start-up, FPDUs, DDP and RDMAP by hand, as initiator or responder.

use super::profile::{Profile, Rtr};
use crate::peer::{crc32c, mpa_frame, tagged, untagged, Peer};

/// STag of the peer's one region; its TO begins at 0.
pub const STAG: u32 = 0x5157_0100;
/// Octets of it: the first half is read, the second is written, and behind it the sink of its own Read.
pub const REGION: usize = 3 * AREA;
/// Octets of each part.
pub const AREA: usize = 8192;
/// STag of the sink of the peer's own Read.
const SINK: u32 = 0x5157_0200;
/// Octets of payload in its FPDUs.
const CHUNK: usize = 1400;

const REQUEST: &[u8; 16] = b"MPA ID Req Frame";
const REPLY: &[u8; 16] = b"MPA ID Rep Frame";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The initiator's TCP, or the responder's.
    Handshake,
    AwaitReply,
    AwaitRequest,
    Running,
    Over,
}

/// What it does to Weft when it may speak: Send, Write, Read.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Octets to send.
    pub send: Vec<u8>,
    /// STag and TO of Weft's region, and the octets to write there.
    pub write: (u32, u64, Vec<u8>),
    /// STag and TO of Weft's region, and how many octets to read.
    pub read: (u32, u64, usize),
}

/// The peer.
pub struct Scripted {
    /// Its TCP.
    pub tcp: Peer,
    /// What it is like.
    pub profile: Profile,
    /// Its memory.
    pub memory: Vec<u8>,
    /// The Sends that came.
    pub inbox: Vec<Vec<u8>>,
    /// The first four octets of a Terminate that came.
    pub terminate: Option<[u8; 4]>,
    /// The RTR that came or went.
    pub rtr: Option<String>,
    /// The start-up frames of the present connection: request, reply.
    pub frames: [Vec<u8>; 2],
    /// What it did that is worth telling.
    pub story: Vec<String>,
    /// Its Read is done.
    pub read_done: bool,
    initiator: bool,
    state: State,
    at: usize,
    errand: Option<Errand>,
    crc: bool,
    rev1: bool,
    peer_to_peer: bool,
    heard: bool,
    taken: usize,
    partial_send: Vec<u8>,
    msn: [u32; 3],
}

impl Scripted {
    /// An initiator connects with the first [`step`](Self::step), a responder listens.
    pub fn new(profile: &Profile, mut tcp: Peer, initiator: bool, errand: Errand) -> Self {
        if initiator {
            tcp.connect();
        } else {
            tcp.listening = true;
        }
        Self {
            tcp,
            profile: profile.clone(),
            memory: vec![0; REGION],
            inbox: Vec::new(),
            terminate: None,
            rtr: None,
            frames: [Vec::new(), Vec::new()],
            story: Vec::new(),
            read_done: false,
            initiator,
            state: State::Handshake,
            at: 0,
            errand: Some(errand),
            crc: false,
            rev1: profile.revision == 1,
            peer_to_peer: false,
            heard: false,
            taken: 0,
            partial_send: Vec::new(),
            msn: [0; 3],
        }
    }

    /// True when nothing of it is under way.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// IdlePolls at what came, and says what is to be said.
    pub fn step(&mut self) {
        if self.tcp.taken != self.taken {
            // Another connection: everything begins anew.
            self.taken = self.tcp.taken;
            (self.state, self.at, self.heard) = (State::AwaitRequest, 0, false);
        }
        if self.tcp.reset && self.state != State::Over {
            self.reset();
        }
        match self.state {
            State::Handshake if self.initiator && self.tcp.connected => {
                self.request();
                self.state = State::AwaitReply;
            }
            State::AwaitReply => self.reply_came(),
            State::AwaitRequest => self.request_came(),
            State::Running => {
                while let Some(ulpdu) = self.next_fpdu() {
                    self.heard = true;
                    self.take(&ulpdu);
                }
                // A responder has to hear something first (RFC 5044 §7.1.2).
                if self.initiator || self.heard || (self.profile.eager && !self.peer_to_peer) {
                    self.speak();
                }
            }
            _ => {}
        }
        if self.tcp.closed && self.state != State::Over {
            self.tcp.close();
            self.state = State::Over;
        }
    }

    /// Closes in order.
    pub fn close(&mut self) {
        self.tcp.close();
        self.state = State::Over;
    }

    fn reset(&mut self) {
        let waiting = self.state == State::AwaitReply;
        self.state = State::Over;
        if !(waiting && self.profile.retries && !self.rev1) {
            self.story.push("was reset".into());
            return;
        }
        self.story.push("was reset, tries revision 1".into());
        let mut local = self.tcp.local;
        local.port += 1000;
        let mut tcp = Peer::new(
            local,
            self.tcp.remote,
            self.tcp.snd_nxt.wrapping_add(70_000),
        );
        tcp.connect();
        self.tcp = tcp;
        self.rev1 = true;
        self.state = State::Handshake;
    }

    fn frame(&self, key: &[u8; 16], flags: u8, halves: [u16; 2]) -> Vec<u8> {
        if self.rev1 {
            return mpa_frame(key, flags, 1, &[]);
        }
        let private: Vec<u8> = halves.iter().flat_map(|h| h.to_be_bytes()).collect();
        mpa_frame(key, flags | 0x10, 2, &private)
    }

    fn halves(&self, rtr: Option<Rtr>) -> [u16; 2] {
        let [ird, ord] = self.profile.reads;
        let Some(rtr) = rtr else { return [ird, ord] };
        let bit = |on: bool, bit: u16| if on { bit } else { 0 };
        [
            0x8000 | bit(rtr.send, 0x4000) | ird,
            bit(rtr.write, 0x8000) | bit(rtr.read, 0x4000) | ord,
        ]
    }

    fn request(&mut self) {
        let crc = if self.profile.crc { 0x40 } else { 0 };
        let frame = self.frame(REQUEST, crc, self.halves(self.profile.offers));
        self.tcp.send(&frame);
        self.frames = [frame, Vec::new()];
    }

    /// A start-up frame at the front: its flags, revision, and the halves of its enhanced data.
    fn start_up(&mut self, key: &[u8; 16]) -> Option<(u8, u8, Option<[u16; 2]>)> {
        let bytes = &self.tcp.received;
        let header = bytes.get(..20)?;
        assert_eq!(&header[..16], key, "the key of a start-up frame");
        let length = usize::from(u16::from_be_bytes([header[18], header[19]]));
        let frame = bytes.get(..20 + length)?.to_vec();
        let (flags, revision) = (frame[16], frame[17]);
        let half = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let enhanced = flags & 0x10 != 0 && revision >= 2 && length >= 4;
        let halves = enhanced.then(|| [half(20), half(22)]);
        self.at = frame.len();
        self.frames[usize::from(key == REPLY)] = frame;
        Some((flags, revision, halves))
    }

    fn reply_came(&mut self) {
        let Some((flags, revision, halves)) = self.start_up(REPLY) else {
            return;
        };
        if flags & 0x20 != 0 {
            self.story.push("was rejected".into());
            self.close();
            return;
        }
        self.crc = self.profile.crc || flags & 0x40 != 0;
        self.state = State::Running;
        if self.rev1 {
            assert_eq!((revision, halves), (1, None), "an unenhanced reply");
            if self.profile.unasked_read {
                self.say_rtr(Rtr::READ);
            }
            return;
        }
        let [ird, ord] = halves.expect("an enhanced request gets an enhanced reply");
        let Some(offered) = self.profile.offers else {
            return;
        };
        let agreed = Rtr {
            send: ird & 0x4000 != 0,
            write: ord & 0x8000 != 0,
            read: ord & 0x4000 != 0,
        };
        let named = match agreed {
            Rtr { write: true, .. } if self.profile.write_first => Rtr::WRITE,
            Rtr { read: true, .. } => Rtr::READ,
            Rtr { write: true, .. } => Rtr::WRITE,
            other => other,
        };
        if named.and(offered) == Rtr::NONE || (self.profile.exact && named != offered) {
            self.story.push(format!("finds no RTR in `{agreed}`"));
            self.say_terminate();
            return;
        }
        self.peer_to_peer = true;
        self.say_rtr(named);
    }

    /// 2/0/07: no RTR kind in common.
    fn say_terminate(&mut self) {
        let code = match self.profile.swapped_terminate {
            true => [0x02, 0x07, 0, 0],
            false => [0x20, 0x07, 0, 0],
        };
        self.say(&untagged(0x41, 0x47, 2, 1, 0, &code));
        self.close();
    }

    fn request_came(&mut self) {
        let Some((flags, revision, halves)) = self.start_up(REQUEST) else {
            return;
        };
        if revision > self.profile.revision {
            self.story.push(format!("closes on revision {revision}"));
            self.close();
            return;
        }
        self.rev1 = revision == 1;
        let offered = halves.map(|[ird, ord]| {
            let rtr = Rtr {
                send: ird & 0x4000 != 0,
                write: ord & 0x8000 != 0,
                read: ord & 0x4000 != 0,
            };
            (ird & 0x8000 != 0, rtr)
        });
        if self.profile.insists && halves.is_some() && offered.is_none_or(|o| !o.0) {
            self.story.push("resets: A is not set".into());
            self.tcp.abort();
            self.state = State::Over;
            return;
        }
        if flags & 0x80 != 0 && self.profile.no_markers {
            self.story.push("rejects: it has no markers".into());
            let frame = self.frame(REPLY, 0x20 | flags & 0x40, self.halves(None));
            self.tcp.send(&frame);
            self.frames[1] = frame;
            self.close();
            return;
        }
        self.crc = self.profile.crc || flags & 0x40 != 0;
        let rtr = match offered {
            Some((true, kinds)) => {
                let [first, second] = self.profile.picks;
                let common = [first, second].map(|kind| kind.and(kinds));
                Some(match common {
                    [Rtr::NONE, Rtr::NONE] => first,
                    [Rtr::NONE, kind] | [kind, _] => kind,
                })
            }
            _ => None,
        };
        self.peer_to_peer = rtr.is_some();
        // The initiator's IRD is all that there is for the own ORD.
        let mut reads = self.halves(rtr);
        if let Some([ird, _]) = halves {
            let ord = (reads[1] & 0x3fff).min(ird & 0x3fff);
            reads[1] = reads[1] & 0xc000 | ord;
        }
        let crc = if self.crc { 0x40 } else { 0 };
        let frame = self.frame(REPLY, crc, reads);
        self.tcp.send(&frame);
        self.frames[1] = frame;
        self.state = State::Running;
    }

    fn next_fpdu(&mut self) -> Option<Vec<u8>> {
        let rest = &self.tcp.received[self.at..];
        let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
        let padded = (2 + length).next_multiple_of(4);
        let field = rest.get(padded..padded + 4)?;
        if self.crc {
            let sum = crc32c(&rest[..padded]).to_le_bytes();
            assert_eq!(field, sum, "CRC of an FPDU of the card");
        }
        let ulpdu = rest[2..2 + length].to_vec();
        self.at += padded + 4;
        Some(ulpdu)
    }

    fn take(&mut self, ulpdu: &[u8]) {
        let (last, opcode) = (ulpdu[0] & 0x40 != 0, ulpdu[1] & 15);
        if ulpdu[0] & 0x80 != 0 {
            let (stag, to) = (be32(&ulpdu[2..]), be64(&ulpdu[6..]) as usize);
            let payload = &ulpdu[14..];
            if payload.is_empty() {
                let refused = stag == 0 && self.profile.refuses_stag_0;
                assert!(!refused, "STag 0 in a tagged message of no bytes");
                if opcode == 0 {
                    self.rtr
                        .get_or_insert(format!("Write, STag {stag:#x}, TO {to}"));
                }
                return;
            }
            let own = if opcode == 0 { STAG } else { SINK };
            assert_eq!(stag, own, "the STag of a tagged message");
            let base = if opcode == 0 { 0 } else { 2 * AREA };
            self.memory[base + to..base + to + payload.len()].copy_from_slice(payload);
            self.read_done |= opcode == 2 && last;
            return;
        }
        let payload = &ulpdu[18..];
        match opcode {
            1 => self.answer(payload),
            7 => self.terminate = payload.first_chunk().copied(),
            _ => {
                self.partial_send.extend(payload);
                if last && self.partial_send.is_empty() {
                    self.rtr.get_or_insert("Send".into());
                } else if last {
                    self.inbox.push(std::mem::take(&mut self.partial_send));
                }
            }
        }
    }

    /// A Read Request: its responses.
    fn answer(&mut self, request: &[u8]) {
        let (sink, sink_to) = (be32(request), be64(&request[4..]));
        let size = be32(&request[12..]) as usize;
        let (source, source_to) = (be32(&request[16..]), be64(&request[20..]) as usize);
        if size == 0 {
            let text = format!("Read, sink STag {sink:#x}, source STag {source:#x}");
            self.rtr.get_or_insert(text);
            self.say(&tagged(0xc1, 0x42, sink, sink_to, &[]));
            return;
        }
        assert_eq!(source, STAG, "the source of a Read");
        let bytes = self.memory[source_to..source_to + size].to_vec();
        self.say_tagged(0x42, sink, sink_to, &bytes);
    }

    fn speak(&mut self) {
        let Some(errand) = self.errand.take() else {
            return;
        };
        let chunks: Vec<_> = errand.send.chunks(CHUNK).collect();
        self.msn[0] += 1;
        for (n, chunk) in chunks.iter().enumerate() {
            let last = if n + 1 == chunks.len() { 0x41 } else { 0x01 };
            let mo = (n * CHUNK) as u32;
            self.say(&untagged(last, 0x43, 0, self.msn[0], mo, chunk));
        }
        let (stag, to, bytes) = &errand.write;
        self.say_tagged(0x40, *stag, *to, bytes);
        let (stag, to, length) = errand.read;
        self.say_read([SINK, stag], [0, to], length);
    }

    fn say_rtr(&mut self, kind: Rtr) {
        let [write, sink, source] = self.profile.rtr_stags;
        let to = self.profile.rtr_to;
        let text = if kind.write {
            self.say(&tagged(0xc1, 0x40, write, to, &[]));
            format!("Write, STag {write:#x}, TO {to}")
        } else {
            self.say_read([sink, source], [0, to], 0);
            format!("Read, sink STag {sink:#x}, source STag {source:#x}")
        };
        self.rtr = Some(text);
    }

    fn say_read(&mut self, [sink, source]: [u32; 2], [sink_to, to]: [u64; 2], length: usize) {
        self.msn[1] += 1;
        let mut request = sink.to_be_bytes().to_vec();
        request.extend(sink_to.to_be_bytes());
        request.extend((length as u32).to_be_bytes());
        request.extend(source.to_be_bytes());
        request.extend(to.to_be_bytes());
        self.say(&untagged(0x41, 0x41, 1, self.msn[1], 0, &request));
    }

    fn say_tagged(&mut self, rdmap: u8, stag: u32, to: u64, bytes: &[u8]) {
        let chunks: Vec<_> = bytes.chunks(CHUNK).collect();
        for (n, chunk) in chunks.iter().enumerate() {
            let ddp = if n + 1 == chunks.len() { 0xc1 } else { 0x81 };
            self.say(&tagged(ddp, rdmap, stag, to + (n * CHUNK) as u64, chunk));
        }
    }

    /// One FPDU in one segment.
    fn say(&mut self, ulpdu: &[u8]) {
        let mut bytes = (ulpdu.len() as u16).to_be_bytes().to_vec();
        bytes.extend(ulpdu);
        let pad = self.profile.pad;
        bytes.resize(bytes.len().next_multiple_of(4), pad);
        let crc = if self.crc { crc32c(&bytes) } else { 0 };
        bytes.extend(crc.to_le_bytes());
        self.tcp.send(&bytes);
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn be64(bytes: &[u8]) -> u64 {
    u64::from(be32(bytes)) << 32 | u64::from(be32(&bytes[4..]))
}
