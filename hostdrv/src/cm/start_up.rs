//! How a start-up came out.

use weft_engine::{self as engine, RtrKinds};

/// What the two sides agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreed {
    /// MPA revision: 1 or 2.
    pub revision: u8,
    /// CRC32C is checked and sent.
    pub crc: bool,
    /// Markers are in what this side sends.
    pub markers_sent: bool,
    /// Markers are in what this side receives.
    pub markers_received: bool,
    /// Reads of the peer that this side takes at a time.
    pub ird: u16,
    /// Reads of this side in flight at a time.
    pub ord: u16,
    /// Peer-to-peer is on, with these RTR kinds (for the initiator: the one it sent).
    pub rtr: Option<RtrKinds>,
    /// Each segment of either side begins with an FPDU.
    pub aligned: bool,
}

impl Agreed {
    pub(super) fn of_engine(agreed: engine::Agreed) -> Self {
        Self {
            revision: agreed.revision,
            crc: agreed.crc,
            markers_sent: agreed.markers_sent,
            markers_received: agreed.markers_received,
            ird: agreed.ird,
            ord: agreed.ord,
            rtr: agreed.rtr,
            aligned: agreed.aligned,
        }
    }

    pub(super) fn for_engine(self) -> engine::Agreed {
        engine::Agreed {
            revision: self.revision,
            crc: self.crc,
            markers_sent: self.markers_sent,
            markers_received: self.markers_received,
            ird: self.ird,
            ord: self.ord,
            rtr: self.rtr,
            aligned: self.aligned,
        }
    }
}

/// Why a connection did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// No answer to ARP or SYN.
    Unreachable,
    /// The port has no listener (RST to the SYN).
    Refused,
    /// The peer's TCP answered, its MPA did not.
    TimedOut,
    /// The peer closed or reset the connection during start-up, or ended it by another Terminate.
    Closed,
    /// The MPA reply is malformed or not an answer to the request.
    InvalidReply,
    /// The reply allows none of the offered RTR kinds (Terminate 2/0/07 was sent, or received).
    NoMatchingRtr,
    /// The peer takes fewer Reads than this side insists on (Terminate 2/0/06 was sent, or received).
    InsufficientReads,
    /// The card had no room for the flow: before the SYN, or the peer was rejected.
    NoResources,
    /// The first message was not what a first message may be, or the RTR never came.
    NoRtr,
    /// The peer speaks a revision of MPA that this side does not (0: the RDMA Consortium's).
    UnsupportedRevision,
    /// The peer's MSS leaves no room for an FPDU of 128 octets (RFC 5044 §4.5).
    SegmentTooSmall,
    /// The peer has accepted, but not as an XRC target: it does not know of XRC (Terminate 2/0/04 was sent).
    NoXrc,
    /// None of these.
    Other,
}

impl ConnectFailure {
    pub(super) fn of_engine(failure: engine::ConnectFailure) -> Self {
        use engine::ConnectFailure as F;
        match failure {
            F::Unreachable => Self::Unreachable,
            F::Refused => Self::Refused,
            F::TimedOut => Self::TimedOut,
            F::Closed => Self::Closed,
            F::InvalidReply => Self::InvalidReply,
            F::NoMatchingRtr => Self::NoMatchingRtr,
            F::InsufficientReads => Self::InsufficientReads,
            F::NoResources => Self::NoResources,
            F::NoRtr => Self::NoRtr,
            F::UnsupportedRevision => Self::UnsupportedRevision,
            F::SegmentTooSmall => Self::SegmentTooSmall,
            F::NoXrc => Self::NoXrc,
            _ => Self::Other,
        }
    }
}
