//! MPA start-up frames (RFC 5044 §7.1.1) and the enhanced private data (RFC 6581 §9).

use crate::bytes::{array_at, u16_at, u8_at, Writer};

/// Bytes before the private data.
pub const HEADER: usize = 20;
/// Most bytes of private data, the enhanced four included.
pub const MAX_PRIVATE_DATA: usize = 512;
/// Bytes of these that the enhanced data have.
pub const RESERVED: usize = 4;
/// Bytes behind them that extensions have.
pub const EXTENDED: usize = 4;
/// Longest start-up frame.
pub const MAX_FRAME: usize = HEADER + MAX_PRIVATE_DATA;

const REQUEST_KEY: &[u8; 16] = b"MPA ID Req Frame";
const REPLY_KEY: &[u8; 16] = b"MPA ID Rep Frame";
const RTR_KEY: &[u8; 16] = b"MPA ID RtR Frame";
const MARKERS: u8 = 0x80;
const CRC: u8 = 0x40;
const REJECT: u8 = 0x20;
const ENHANCED: u8 = 0x10;
/// Reserved in RFC 6581 §9 (not checked on receipt): extensions follow the enhanced data, from a Weft end.
const EXTENSIONS: u8 = 0x04;
/// How they begin: whoever else sets that bit means something else.
const EXTENSIONS_KEY: [u8; 3] = *b"wft";

/// What two Weft ends may agree on beyond RFC 6581. Four bytes behind the enhanced data say what is asked for, or granted. A peer that does not know them
/// takes them for the application's private data, and grants nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extensions(u8);

impl Extensions {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// The initiator is XRC's, the responder its target: a Send's RsvdULP has the number of a shared receive queue.
    pub const XRC: Self = Self(1);
    /// [`RtrKinds::FRAME`], as the set has it.
    const RTR_FRAME: Self = Self(2);
    /// Each segment of either side begins with an FPDU. Who is not granted it goes on without.
    pub const ALIGNED: Self = Self(4);

    /// True if nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What both have.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A set of RTR kinds (RFC 6581 §9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RtrKinds(u8);

impl RtrKinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Zero-length Send (B).
    pub const SEND: Self = Self(1);
    /// Zero-length Write (C).
    pub const WRITE: Self = Self(2);
    /// Zero-length Read (D).
    pub const READ: Self = Self(4);
    /// The frame that was proposed in 2007 ([`FrameKind::Rtr`]): none of the RFC's, and only between Weft ends that ask for it.
    pub const FRAME: Self = Self(8);
    /// All three of the RFC.
    pub const ALL: Self = Self(7);

    /// Kinds of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Kinds that both have.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True if no kind is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all kinds of `other` are in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The kind to use if any may be: Read, else Write, else Send, else the frame; none if there is none.
    #[must_use]
    pub const fn preferred(self) -> Self {
        if self.contains(Self::READ) {
            Self::READ
        } else if self.contains(Self::WRITE) {
            Self::WRITE
        } else if self.contains(Self::SEND) {
            Self::SEND
        } else {
            self
        }
    }
}

/// The four bytes in front of the private data when S is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enhanced {
    /// A: an RTR follows.
    pub peer_to_peer: bool,
    /// B, C, D.
    pub rtr: RtrKinds,
    /// 14 bits.
    pub ird: u16,
    /// 14 bits.
    pub ord: u16,
    /// Beyond the RFC.
    pub extensions: Extensions,
}

impl Enhanced {
    /// An IRD or ORD that says "the application manages it".
    pub const UNSPECIFIED: u16 = 0x3fff;

    fn from_words(first: u16, second: u16) -> Self {
        let mut rtr = RtrKinds::NONE;
        if first & 0x4000 != 0 {
            rtr = rtr.union(RtrKinds::SEND);
        }
        if second & 0x8000 != 0 {
            rtr = rtr.union(RtrKinds::WRITE);
        }
        if second & 0x4000 != 0 {
            rtr = rtr.union(RtrKinds::READ);
        }
        Enhanced {
            peer_to_peer: first & 0x8000 != 0,
            rtr,
            ird: first & 0x3fff,
            ord: second & 0x3fff,
            extensions: Extensions::NONE,
        }
    }

    /// All extensions, that RTR kind among them.
    fn all_extensions(&self) -> Extensions {
        match self.rtr.contains(RtrKinds::FRAME) {
            true => self.extensions.union(Extensions::RTR_FRAME),
            false => self.extensions,
        }
    }

    /// Bytes of the private data that this takes.
    pub fn reserved(&self) -> usize {
        match self.all_extensions().is_empty() {
            true => RESERVED,
            false => RESERVED + EXTENDED,
        }
    }

    fn to_words(self) -> (u16, u16) {
        let bit = |set: bool, bit: u16| if set { bit } else { 0 };
        (
            bit(self.peer_to_peer, 0x8000)
                | bit(self.rtr.contains(RtrKinds::SEND), 0x4000)
                | (self.ird & 0x3fff),
            bit(self.rtr.contains(RtrKinds::WRITE), 0x8000)
                | bit(self.rtr.contains(RtrKinds::READ), 0x4000)
                | (self.ord & 0x3fff),
        )
    }
}

/// Request or reply, or what was proposed to follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// From the initiator.
    Request,
    /// From the responder.
    Reply,
    /// From the initiator behind the reply, before its first FPDU: the responder may send (proposed in 2007).
    Rtr,
}

/// Why bytes are no start-up frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// More bytes are needed: at least so many in all.
    Incomplete(usize),
    /// The key is none.
    Key,
    /// A revision that is not known.
    Revision(u8),
    /// PD_Length above 512.
    PrivateDataLength(u16),
    /// S is set, and the four bytes are missing.
    Enhanced,
}

/// A start-up frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupFrame<'a> {
    /// Request or reply.
    pub kind: FrameKind,
    /// M: put markers into what you send me.
    pub markers: bool,
    /// C: CRC is wanted.
    pub crc: bool,
    /// R: rejected (a reply).
    pub reject: bool,
    /// 0, 1 or 2.
    pub revision: u8,
    /// S and its four bytes.
    pub enhanced: Option<Enhanced>,
    /// The application's private data.
    pub private_data: &'a [u8],
}

impl<'a> StartupFrame<'a> {
    /// Reads a frame from the front of the bytes received; also how many bytes it has.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, usize), FrameError> {
        // A wrong key is known as soon as one byte differs.
        let prefix = bytes.len().min(16);
        let kind = if bytes[..prefix] == REQUEST_KEY[..prefix] {
            FrameKind::Request
        } else if bytes[..prefix] == REPLY_KEY[..prefix] {
            FrameKind::Reply
        } else if bytes[..prefix] == RTR_KEY[..prefix] {
            FrameKind::Rtr
        } else {
            return Err(FrameError::Key);
        };
        let incomplete = FrameError::Incomplete(HEADER);
        let flags = u8_at(bytes, 16).ok_or(incomplete)?;
        let revision = u8_at(bytes, 17).ok_or(incomplete)?;
        let length = u16_at(bytes, 18).ok_or(incomplete)?;
        if revision > 2 {
            return Err(FrameError::Revision(revision));
        }
        if usize::from(length) > MAX_PRIVATE_DATA {
            return Err(FrameError::PrivateDataLength(length));
        }
        let end = HEADER + usize::from(length);
        let mut private_data = bytes.get(HEADER..end).ok_or(FrameError::Incomplete(end))?;
        let mut enhanced = None;
        // Before revision 2 the bit is reserved, and not checked (RFC 5044 §7.1.1).
        if flags & ENHANCED != 0 && revision >= 2 {
            let words: [u8; 4] = array_at(private_data, 0).ok_or(FrameError::Enhanced)?;
            enhanced = Some(Enhanced::from_words(
                u16::from_be_bytes([words[0], words[1]]),
                u16::from_be_bytes([words[2], words[3]]),
            ));
            private_data = &private_data[RESERVED..];
            let extended = array_at::<EXTENDED>(private_data, 0);
            if let (Some([key @ .., bits]), true) = (extended, flags & EXTENSIONS != 0) {
                if let (Some(enhanced), true) = (&mut enhanced, key == EXTENSIONS_KEY) {
                    let all = Extensions(bits);
                    let known = Extensions::XRC.union(Extensions::ALIGNED);
                    enhanced.extensions = all.intersection(known);
                    if all.contains(Extensions::RTR_FRAME) {
                        enhanced.rtr = enhanced.rtr.union(RtrKinds::FRAME);
                    }
                    private_data = &private_data[EXTENDED..];
                }
            }
        }
        Ok((
            StartupFrame {
                kind,
                markers: flags & MARKERS != 0,
                crc: flags & CRC != 0,
                reject: flags & REJECT != 0,
                revision,
                enhanced,
                private_data,
            },
            end,
        ))
    }

    /// Writes the frame; its length, or `None` if it does not fit (in `out`, or 512 bytes of
    /// private data).
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let extensions = self
            .enhanced
            .map_or(Extensions::NONE, |e| e.all_extensions());
        let reserved = self.enhanced.map_or(0, |e| e.reserved());
        let length = self.private_data.len() + reserved;
        if length > MAX_PRIVATE_DATA {
            return None;
        }
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let mut writer = Writer::new(out);
        writer
            .put(match self.kind {
                FrameKind::Request => REQUEST_KEY,
                FrameKind::Reply => REPLY_KEY,
                FrameKind::Rtr => RTR_KEY,
            })
            .u8(bit(self.markers, MARKERS)
                | bit(self.crc, CRC)
                | bit(self.reject, REJECT)
                | bit(self.enhanced.is_some(), ENHANCED)
                | bit(!extensions.is_empty(), EXTENSIONS))
            .u8(self.revision)
            .u16(length as u16);
        if let Some(enhanced) = self.enhanced {
            let (first, second) = enhanced.to_words();
            writer.u16(first).u16(second);
        }
        if !extensions.is_empty() {
            writer.put(&EXTENSIONS_KEY).u8(extensions.0);
        }
        writer.put(self.private_data);
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5044 §7.1.1: Res is not checked. S is one of its bits in revisions below 2, and what follows is the application's.
    #[test]
    fn reserved_bits_of_the_first_revision_are_not_looked_at() {
        for revision in [0, 1] {
            let frame = StartupFrame {
                kind: FrameKind::Request,
                markers: true,
                crc: false,
                reject: false,
                revision,
                enhanced: None,
                private_data: &[1, 2, 3, 4, 5, 6],
            };
            let mut bytes = [0; 64];
            let length = frame.write(&mut bytes).unwrap();
            for bits in 0..32 {
                bytes[16] = MARKERS | bits;
                let parsed = StartupFrame::parse(&bytes[..length]);
                assert_eq!(parsed, Ok((frame, length)), "{revision} {bits:05b}");
            }
        }
    }

    #[test]
    fn the_second_revision_needs_its_four_octets() {
        let mut bytes = *b"MPA ID Req Frame\x10\x02\0\x03abc";
        assert_eq!(StartupFrame::parse(&bytes), Err(FrameError::Enhanced));
        bytes[16] = 0;
        let (frame, _) = StartupFrame::parse(&bytes).unwrap();
        assert_eq!((frame.enhanced, frame.private_data), (None, &b"abc"[..]));
    }
}
