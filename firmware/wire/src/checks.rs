//! What is checked of a DDP segment before anything of it is placed, in the order of `docs/card.md` ("Checks"): one
//! implementation for all who do it in software. FPDU first ([`crate::walk`]), then [`ask`], then for a tagged segment
//! [`Region::place`], for one of queue 0 [`Position::expect`], [`fit`] and each piece of [`scatter`].

use core::ops::Range;

use crate::ddp::{DdpHeader, Target, VERSION};
use crate::rdmap::{self, opcode, queue};
use crate::terminate::TerminateCode;

/// What is wrong with an FPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A marker's FPDUPTR.
    Marker,
    /// CRC32C.
    Crc,
    /// The ULPDU is shorter than its DDP header.
    Header,
    /// DDP version.
    DdpVersion {
        /// Of a tagged segment.
        tagged: bool,
    },
    /// RDMAP version.
    RdmapVersion,
    /// No such queue.
    Queue,
    /// The opcode has no business there.
    Opcode,
    /// Not the next message of queue 0.
    Msn,
    /// Not the next byte of it.
    Mo,
    /// No receive element for it.
    NoBuffer,
    /// Longer than its receive element.
    TooLong,
    /// The receive element cannot be used.
    Element,
    /// No such STag.
    Stag,
    /// TO plus length wraps.
    Wrap,
    /// The region is not of the stream's domain.
    Domain,
    /// It does not give this right.
    Access,
    /// Out of its bounds.
    Bounds,
}

impl Violation {
    /// The Terminate of the segment (RFC 5044 §8, RFC 5041 §7; access is RDMAP's, RFC 5040 §4.8).
    pub fn of_segment(self) -> TerminateCode {
        match self {
            Violation::Marker => TerminateCode::MPA_MARKER,
            Violation::Crc => TerminateCode::MPA_CRC,
            Violation::Header | Violation::Element => TerminateCode::DDP_LOCAL,
            Violation::DdpVersion { tagged: true } => TerminateCode::DDP_TAGGED_VERSION,
            Violation::DdpVersion { tagged: false } => TerminateCode::DDP_UNTAGGED_VERSION,
            Violation::RdmapVersion => TerminateCode::RDMAP_VERSION,
            Violation::Queue => TerminateCode::DDP_QN,
            Violation::Opcode => TerminateCode::RDMAP_OPCODE,
            Violation::Msn => TerminateCode::DDP_MSN,
            Violation::Mo => TerminateCode::DDP_MO,
            Violation::NoBuffer => TerminateCode::DDP_NO_BUFFER,
            Violation::TooLong => TerminateCode::DDP_TOO_LONG,
            Violation::Stag => TerminateCode::DDP_STAG,
            Violation::Wrap => TerminateCode::DDP_WRAP,
            Violation::Domain => TerminateCode::DDP_NOT_ASSOCIATED,
            Violation::Access => TerminateCode::RDMAP_ACCESS,
            Violation::Bounds => TerminateCode::DDP_BOUNDS,
        }
    }

    /// The Terminate if it is the source of a Read Request that is wrong (RFC 5040 §4.8).
    pub fn of_read_source(self) -> TerminateCode {
        match self {
            Violation::Stag => TerminateCode::RDMAP_STAG,
            Violation::Wrap => TerminateCode::RDMAP_WRAP,
            Violation::Domain => TerminateCode::RDMAP_NOT_ASSOCIATED,
            Violation::Bounds => TerminateCode::RDMAP_BOUNDS,
            other => other.of_segment(),
        }
    }
}

/// The right that a tagged segment needs of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// A Write's.
    RemoteWrite,
    /// A Read Response's.
    ReadSink,
}

/// What a segment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Nothing is placed: tagged, without payload, so that STag and TO are not looked at.
    Nothing,
    /// A place in a region.
    Tagged {
        /// STag.
        stag: u32,
        /// Tagged offset.
        to: u64,
        /// What the region has to allow.
        right: Right,
    },
    /// A place in a receive element.
    Send {
        /// Message sequence number.
        msn: u32,
        /// Message offset.
        mo: u32,
    },
    /// Queue 1 to 3: nothing is placed, the engine reads it.
    Engine,
}

/// Checks what a header says by itself, before `payload` bytes.
pub fn ask(header: &DdpHeader, payload: usize) -> Result<Ask, Violation> {
    let opcode = rdmap::opcode_of(header.rdmap_control);
    if header.version() != VERSION {
        let tagged = header.is_tagged();
        return Err(Violation::DdpVersion { tagged });
    }
    if header.rdmap_control & rdmap::VERSION_MASK != rdmap::VERSION {
        return Err(Violation::RdmapVersion);
    }
    match header.target {
        Target::Tagged { .. } if !rdmap::is_tagged_opcode(opcode) => Err(Violation::Opcode),
        Target::Tagged { .. } if payload == 0 => Ok(Ask::Nothing),
        Target::Tagged { stag, to } => Ok(Ask::Tagged {
            stag,
            to,
            right: match opcode {
                opcode::WRITE => Right::RemoteWrite,
                _ => Right::ReadSink,
            },
        }),
        Target::Untagged { qn, .. } if qn > queue::ATOMIC_RESPONSE => Err(Violation::Queue),
        Target::Untagged { qn, .. } if !rdmap::is_queue_opcode(qn, opcode) => {
            Err(Violation::Opcode)
        }
        Target::Untagged { qn, msn, mo, .. } if qn == queue::SEND => Ok(Ask::Send { msn, mo }),
        Target::Untagged { .. } => Ok(Ask::Engine),
    }
}

/// A region that an STag names, as far as the checks look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Its protection domain.
    pub domain: u32,
    /// It gives the right that is needed.
    pub allowed: bool,
    /// Tagged offset of its first byte.
    pub base: u64,
    /// Bytes of it.
    pub length: u64,
    /// Where its first byte is.
    pub iova: u64,
}

impl Region {
    /// Whether a stream of `domain` may reach `length` bytes at `to`; where the first of them is.
    pub fn place(&self, domain: u32, to: u64, length: u64) -> Result<u64, Violation> {
        // TO + length may be 2^64 itself.
        if length > 0 && to.checked_add(length - 1).is_none() {
            return Err(Violation::Wrap);
        }
        if self.domain != domain {
            return Err(Violation::Domain);
        }
        if !self.allowed {
            return Err(Violation::Access);
        }
        if !holds(self.base, self.length, to, length) {
            return Err(Violation::Bounds);
        }
        Ok(self.iova.wrapping_add(to.wrapping_sub(self.base)))
    }
}

/// True if `length` bytes at `to` lie in a region of `size` bytes at `base`.
pub fn holds(base: u64, size: u64, to: u64, length: u64) -> bool {
    to.checked_sub(base)
        .and_then(|offset| offset.checked_add(length))
        .is_some_and(|end| end <= size)
}

/// Where queue 0 stands: the message that comes next, and how much of it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Message sequence number.
    pub msn: u32,
    /// Message offset.
    pub mo: u32,
}

impl Position {
    /// Nothing but the next byte will do.
    pub fn expect(self, msn: u32, mo: u32) -> Result<(), Violation> {
        if msn != self.msn {
            return Err(Violation::Msn);
        }
        if mo != self.mo {
            return Err(Violation::Mo);
        }
        Ok(())
    }

    /// Goes on behind a segment of `length` bytes of payload, which may be the last of its message.
    pub fn pass(&mut self, length: u32, last: bool) {
        if last {
            self.msn = self.msn.wrapping_add(1);
            self.mo = 0;
        } else {
            self.mo = self.mo.wrapping_add(length);
        }
    }
}

/// Whether `payload` bytes at `mo` end inside a receive element of `room` bytes.
pub fn fit(mo: u32, payload: usize, room: u64) -> Result<(), Violation> {
    match u64::from(mo) + payload as u64 {
        end if end > room => Err(Violation::TooLong),
        _ => Ok(()),
    }
}

/// A run of payload, and where in a scatter list it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the SGE.
    pub sge: usize,
    /// Offset in it.
    pub offset: u32,
    /// Which bytes of the payload: at least one.
    pub bytes: Range<usize>,
}

/// The runs of `payload` bytes at `mo` of a message, for SGEs of these lengths. What has no room in them is left out.
pub fn scatter(
    lengths: impl IntoIterator<Item = u32>,
    mo: u32,
    payload: usize,
) -> impl Iterator<Item = Run> {
    let (mut skip, mut at) = (mo, 0);
    lengths
        .into_iter()
        .enumerate()
        .filter_map(move |(sge, length)| {
            let offset = skip.min(length);
            skip -= offset;
            let count = ((length - offset) as usize).min(payload - at);
            let bytes = at..at + count;
            at += count;
            (count > 0).then_some(Run { sge, offset, bytes })
        })
}
