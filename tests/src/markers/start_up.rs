//! The MPA start-up (RFC 5044 §7.1, RFC 6581).

use super::streams::Stream;

/// The first octets of the private data when S is set (RFC 6581 §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enhanced {
    /// A: peer-to-peer.
    pub peer_to_peer: bool,
    /// B: RTR by Send.
    pub send: bool,
    /// C: RTR by Write.
    pub write: bool,
    /// D: RTR by Read.
    pub read: bool,
    /// IRD.
    pub ird: u16,
    /// ORD.
    pub ord: u16,
}

/// A start-up frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartUpFrame {
    /// M: its sender wants markers.
    pub markers: bool,
    /// C.
    pub crc: bool,
    /// R.
    pub reject: bool,
    /// S.
    pub enhanced: Option<Enhanced>,
    /// Rev.
    pub revision: u8,
    /// What the applications say, the enhanced octets not counted.
    pub private_data: Vec<u8>,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its frame in the file.
    pub frame: usize,
}

/// Both frames.
#[derive(Clone, Debug)]
pub struct StartUp {
    /// The initiator's.
    pub request: StartUpFrame,
    /// The responder's, if it came.
    pub reply: Option<StartUpFrame>,
}

impl StartUp {
    /// CRC is on (RFC 5044 §7.1: if either end wants it; revision 0 always has it).
    pub fn crc(&self) -> bool {
        self.rev0() || self.request.crc || self.reply.as_ref().is_some_and(|r| r.crc)
    }

    /// Markers are in what the initiator sends, in what the responder sends: the receiver's M decides.
    pub fn markers(&self) -> [bool; 2] {
        let reply = self.reply.as_ref().is_some_and(|r| r.markers);
        [self.rev0() || reply, self.rev0() || self.request.markers]
    }

    /// The RDMA Consortium's revision.
    pub fn rev0(&self) -> bool {
        self.request.revision == 0
    }

    /// The connection came about.
    pub fn accepted(&self) -> bool {
        self.reply.as_ref().is_some_and(|r| !r.reject)
    }

    /// An RTR has to come, and these are the RTR kinds in both frames: Send, Write, Read.
    pub fn rtr(&self) -> Option<[bool; 3]> {
        let request = self.request.enhanced?;
        let reply = self.reply.as_ref()?.enhanced?;
        (request.peer_to_peer && reply.peer_to_peer).then_some([
            request.send && reply.send,
            request.write && reply.write,
            request.read && reply.read,
        ])
    }
}

/// Finds the start-up; `None` if there is no whole request at the beginning of the stream.
pub fn find(stream: &Stream) -> Option<StartUp> {
    let [initiator, responder] = &stream.directions;
    let mut request = parse(&initiator.bytes, b"MPA ID Req Frame")?;
    request.frame = initiator.frame(0);
    let mut reply = parse(&responder.bytes, b"MPA ID Rep Frame");
    if let Some(reply) = &mut reply {
        reply.frame = responder.frame(0);
    }
    Some(StartUp { request, reply })
}

fn parse(bytes: &[u8], key: &[u8; 16]) -> Option<StartUpFrame> {
    let header = bytes.get(..20)?;
    if &header[..16] != key {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[18], header[19]]));
    let private = bytes.get(20..20 + length)?;
    let (flags, revision) = (header[16], header[17]);
    let half = |at: usize| u16::from_be_bytes([private[at], private[at + 1]]);
    let enhanced = (flags & 0x10 != 0 && revision >= 2 && length >= 4).then(|| Enhanced {
        peer_to_peer: half(0) & 0x8000 != 0,
        send: half(0) & 0x4000 != 0,
        write: half(2) & 0x8000 != 0,
        read: half(2) & 0x4000 != 0,
        ird: half(0) & 0x3fff,
        ord: half(2) & 0x3fff,
    });
    Some(StartUpFrame {
        markers: flags & 0x80 != 0,
        crc: flags & 0x40 != 0,
        reject: flags & 0x20 != 0,
        enhanced,
        revision,
        private_data: private[if enhanced.is_some() { 4 } else { 0 }..].to_vec(),
        bytes: bytes[..20 + length].to_vec(),
        frame: 0,
    })
}
