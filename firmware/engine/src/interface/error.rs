//! Why a call was refused.

use core::fmt;

use crate::interface::rung::{Rung, RungError};
use crate::interface::verbs::MAX_INLINE;
use weft_tcp::handover::Impossible;

/// Why a call was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No such protection domain.
    UnknownPd,
    /// No such queue pair (or it was destroyed).
    UnknownQp,
    /// No such connection (or it is gone).
    UnknownConnection,
    /// No region has this STag, or its key differs.
    UnknownStag(u32),
    /// The region belongs to another protection domain than the queue pair.
    WrongPd(u32),
    /// The range does not lie inside its region.
    OutOfBounds {
        /// STag of the region.
        stag: u32,
        /// First byte asked for.
        to: u64,
        /// Bytes asked for.
        length: u32,
    },
    /// A receive buffer needs a region with local write access.
    NeedsLocalWrite(u32),
    /// The buffer that a Read fills needs a region with the Read-sink access bit: in iWARP the
    /// peer's Read Response writes it like a remote write.
    NeedsReadSink(u32),
    /// The region's base plus length exceeds 2^64, or an access bit is unknown.
    InvalidRegion,
    /// All STags are in use.
    NoStags,
    /// All flows of the card are in use.
    NoFlows,
    /// The card's flow lookup has no free place for this address pair.
    NoFlowKey,
    /// All connections are in use.
    NoConnections,
    /// There is no memory for its queues.
    NoMemory,
    /// All local ports are in use.
    NoPorts,
    /// A queue pair cannot have this rung.
    Rung(Rung, RungError),
    /// A depth is 0 or over 32768, or more SGEs were asked for than the card has.
    InvalidQpConfig,
    /// The send or receive queue is full.
    QueueFull,
    /// More SGEs than the queue pair (or the card) takes.
    TooManySges(usize),
    /// More inline bytes than a job slot holds.
    InlineTooLong(usize),
    /// A Read cannot have inline data.
    InlineRead,
    /// SGEs or inline bytes for work that carries none: all that it says is in the request.
    NoPayloadAllowed,
    /// A message of 2^32 bytes or more.
    MessageTooLong,
    /// The STag names no window or region that could be bound, registered or invalidated so: of another kind, still valid, or with windows bound to it.
    NotBindable(u32),
    /// A region needs this right, or the binding asks for one that it cannot have.
    NeedsRight(u32),
    /// An atomic has one SGE of 8 bytes.
    AtomicPayload,
    /// No such shared receive queue (or it was destroyed).
    UnknownSrq,
    /// A shared receive queue cannot have this depth, number of SGEs or limit; or the queue pair is of another domain.
    InvalidSrq,
    /// The queue pair has a shared receive queue, and none of its own.
    HasSrq,
    /// The queue pair is in a state in which this cannot be done.
    WrongQpState,
    /// The connection is in a state in which this cannot be done.
    WrongConnectionState,
    /// The region, domain or queue pair is still in use.
    InUse,
    /// Another listener has the port.
    PortInUse(u16),
    /// More private data than the MPA frame has room for.
    PrivateDataTooLong {
        /// Bytes given.
        given: usize,
        /// Bytes possible.
        limit: usize,
    },
    /// IRD or ORD above 16382.
    InvalidReadDepth(u16),
    /// Peer-to-peer needs MPA revision 2 and at least one RTR kind.
    InvalidPeerToPeer,
    /// Segments that begin with an FPDU need MPA revision 2 and CRC32C.
    InvalidAligned,
    /// A Read was posted, but the connection has an ORD of 0.
    NoReadsAllowed,
    /// No connection can be in this state.
    InvalidHandover(Impossible),
    /// The address is not a unicast address that can be reached.
    InvalidAddress,
    /// No such XRC domain.
    UnknownXrcd,
    /// A queue pair of this kind does not do that: an XRC initiator sends only to a shared queue that it names, and receives nothing; a target only receives, and
    /// is for a request of an initiator; both connect by revision 2, and not inside a host.
    WrongQpKind,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownXrcd => f.write_str("no such XRC domain"),
            Error::WrongQpKind => f.write_str("a queue pair of this kind does not do that"),
            Error::UnknownPd => f.write_str("no such protection domain"),
            Error::UnknownQp => f.write_str("no such queue pair"),
            Error::UnknownConnection => f.write_str("no such connection"),
            Error::UnknownStag(stag) => write!(f, "no region has STag {stag:#x}"),
            Error::WrongPd(stag) => write!(
                f,
                "the region of STag {stag:#x} belongs to another protection domain than the queue pair"
            ),
            Error::OutOfBounds { stag, to, length } => write!(
                f,
                "{length} bytes at {to:#x} do not lie inside the region of STag {stag:#x}"
            ),
            Error::NeedsLocalWrite(stag) => write!(
                f,
                "the region of STag {stag:#x} has no local write access: register it with LOCAL_WRITE"
            ),
            Error::NeedsReadSink(stag) => write!(
                f,
                "the region of STag {stag:#x} cannot be filled by a Read: register it with READ_SINK"
            ),
            Error::InvalidRegion => f.write_str("base plus length exceeds 2^64, or unknown access bits"),
            Error::NoStags => f.write_str("all STags are in use"),
            Error::NoFlows => f.write_str("all flows of the card are in use"),
            Error::NoFlowKey => {
                f.write_str("the card's flow lookup has no free place for this address pair: use another port")
            }
            Error::NoConnections => f.write_str("all connections are in use"),
            Error::NoMemory => f.write_str("no memory for the queues of one more queue pair"),
            Error::NoPorts => f.write_str("all local ports are in use"),
            Error::InvalidQpConfig => {
                f.write_str("queue depths are 1 to 32768, SGEs 1 to 4 per work request")
            }
            Error::Rung(rung, why) => write!(f, "no rung {rung}: {why}"),
            Error::QueueFull => f.write_str("the queue is full: poll completions first"),
            Error::TooManySges(n) => write!(f, "{n} SGEs are more than the queue pair takes"),
            Error::InlineTooLong(n) => write!(f, "{n} inline bytes, at most {MAX_INLINE} are possible"),
            Error::InlineRead => f.write_str("a Read cannot have inline data"),
            Error::NoPayloadAllowed => {
                f.write_str("such work has no SGEs and no inline data beside it")
            }
            Error::MessageTooLong => f.write_str("a message has less than 2^32 bytes"),
            Error::NotBindable(stag) => write!(
                f,
                "STag {stag:#x} cannot be bound, registered or invalidated so: it is of another kind, still valid, or has windows bound to it"
            ),
            Error::NeedsRight(stag) => write!(
                f,
                "the region of STag {stag:#x} does not give such rights: windows need BIND, and LOCAL_WRITE if the peer is to write"
            ),
            Error::AtomicPayload => f.write_str("an atomic has one SGE of 8 bytes"),
            Error::UnknownSrq => f.write_str("no such shared receive queue"),
            Error::InvalidSrq => f.write_str(
                "shared receive queues have a depth of 1 to 32768, 1 to 4 SGEs, a limit up to their depth, and queue pairs of their domain",
            ),
            Error::HasSrq => f.write_str("receives of this queue pair are posted to its shared receive queue"),
            Error::WrongQpState => f.write_str("not possible in this state of the queue pair"),
            Error::WrongConnectionState => f.write_str("not possible in this state of the connection"),
            Error::InUse => f.write_str("still in use"),
            Error::PortInUse(port) => write!(f, "port {port} has a listener already"),
            Error::PrivateDataTooLong { given, limit } => {
                write!(f, "{given} bytes of private data, at most {limit} are possible")
            }
            Error::InvalidReadDepth(n) => write!(f, "an IRD or ORD of {n}; at most 16382"),
            Error::InvalidPeerToPeer => {
                f.write_str("peer-to-peer needs MPA revision 2 and at least one RTR kind")
            }
            Error::InvalidAligned => f.write_str(
                "segments that begin with an FPDU (aligned) need MPA revision 2 and CRC32C: ask for both, or leave it off",
            ),
            Error::NoReadsAllowed => f.write_str("the connection has an ORD of 0, so no Read can be sent"),
            Error::InvalidHandover(why) => write!(f, "no connection can be in this state: {why}"),
            Error::InvalidAddress => f.write_str("not the address of a station that can be reached"),
        }
    }
}

impl core::error::Error for Error {}
