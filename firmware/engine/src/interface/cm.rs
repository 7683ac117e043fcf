//! Connection management: identifiers, parameters, events. The names follow librdmacm.

use alloc::boxed::Box;

use weft_tcp::handover::Handover;
use weft_wire::mpa::RtrKinds;
use weft_wire::terminate::TerminateCode;

use crate::interface::verbs::{QpId, SrqId};

/// Bytes of private data that an MPA frame holds (RFC 5044 §7.1.1); four fewer with revision 2, and another four where more than the RFC has is asked for.
/// Towards Linux siw stay below 252 (it counts them in eight bits).
pub const MAX_PRIVATE_DATA: usize = 512;

/// Largest IRD or ORD that can be said (RFC 6581 §9.1: 0x3fff stands for "not negotiated").
pub const MAX_READS: u16 = 0x3ffe;

/// Private data of a rejection by this side itself: the listener's line is full, or the backlog had no room in time.
pub const BUSY: &[u8] = b"weft: busy";

/// A connection. Never reused for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId {
    pub(crate) slot: u16,
    pub(crate) generation: u32,
}

/// An IPv4 address and a TCP port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// IPv4 address.
    pub ip: [u8; 4],
    /// TCP port.
    pub port: u16,
}

/// The way to a peer as somebody has found it before: with it nobody is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// MAC address of the next station.
    pub next_hop: [u8; 6],
    /// Largest IPv4 packet that passes; what exceeds this side's own is of no effect.
    pub mtu: u16,
}

/// One station's MAC address, and not a group's or nobody's.
pub fn is_station(mac: [u8; 6]) -> bool {
    mac[0] & 1 == 0 && mac != [0; 6]
}

/// MPA revision to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// RFC 5044.
    Rev1,
    /// RFC 6581: IRD and ORD are exchanged, peer-to-peer is possible.
    #[default]
    Rev2,
}

/// The application's private data of an MPA frame.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PrivateData(Box<[u8]>);

impl PrivateData {
    /// Copies the bytes; what exceeds [`MAX_PRIVATE_DATA`] is cut off.
    pub fn new(bytes: &[u8]) -> Self {
        PrivateData(bytes[..bytes.len().min(MAX_PRIVATE_DATA)].into())
    }
}

impl core::ops::Deref for PrivateData {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl core::fmt::Debug for PrivateData {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// How to connect. `Default` is what suits every known peer (all but `remote`): revision 2,
/// peer-to-peer with the 0-byte Read or Write as RTR, CRC on, markers off, IRD and ORD 16.
#[derive(Clone, Copy, Debug)]
pub struct ConnectParams<'a> {
    /// The listener's address.
    pub remote: Endpoint,
    /// Local port; `None`: one is chosen.
    pub local_port: Option<u16>,
    /// For the peer's application.
    pub private_data: &'a [u8],
    /// Reads of the peer that this side takes at a time.
    pub ird: u16,
    /// Reads of this side in flight at a time.
    pub ord: u16,
    /// Either side may send first: an RTR follows the start-up (RFC 6581 §9). Off: this side has to send first (RFC 5044).
    pub peer_to_peer: bool,
    /// The RTR kinds to offer; the 0-byte Read is taken if the reply leaves a choice.
    pub rtr: RtrKinds,
    /// Ask for CRC32C. It is on if either side asks.
    pub crc: bool,
    /// Ask the peer to put markers into what it sends.
    pub markers: bool,
    /// Ask that each segment of either side begin with an FPDU; so it is if the peer grants it ([`AcceptParams::aligned`]), as Weft ends alone do. Then a card
    /// that misses a segment places the Writes behind it at once, as with markers, without their octets. Another peer finds four more of private data.
    /// The risk: a box that cuts the stream anew lets a segment begin inside an FPDU (RFC 5044 §A.3), and CRC32C alone stands between the stream's octets and
    /// a false FPDU. So it is off, needs revision 2 and `crc`, and is for ways without such boxes.
    pub aligned: bool,
    /// MPA revision.
    pub revision: Revision,
    /// If the peer closes the connection instead of replying, try once more with revision 1 (RFC 6581 §5): without peer-to-peer.
    pub fall_back: bool,
    /// The way there. `None`: ARP finds it. A way on which the first SYN is not answered is doubted: the neighbour is asked for, and the
    /// SYN goes to who answers.
    pub route: Option<Route>,
    /// IPv4 type of service of what this side sends; its two low bits are ECN's, and of no effect.
    pub tos: u8,
}

impl Default for ConnectParams<'_> {
    fn default() -> Self {
        ConnectParams {
            remote: Endpoint::default(),
            local_port: None,
            private_data: &[],
            ird: 16,
            ord: 16,
            peer_to_peer: true,
            rtr: RtrKinds::READ.union(RtrKinds::WRITE),
            crc: true,
            markers: false,
            aligned: false,
            revision: Revision::Rev2,
            fall_back: false,
            route: None,
            tos: 0,
        }
    }
}

/// How to accept.
#[derive(Clone, Copy, Debug)]
pub struct AcceptParams<'a> {
    /// For the peer's application.
    pub private_data: &'a [u8],
    /// Reads of the peer that this side takes at a time; at least 1 is kept when an RTR by Read may come.
    pub ird: u16,
    /// Reads of this side in flight at a time.
    pub ord: u16,
    /// RTR kinds this side is content with; the Read is preferred, then the Write.
    pub rtr: RtrKinds,
    /// Ask for CRC32C. It is on if either side asks.
    pub crc: bool,
    /// Ask the peer to put markers into what it sends.
    pub markers: bool,
    /// Grant what [`ConnectParams::aligned`] asks for, with its risk, if CRC32C is agreed on.
    pub aligned: bool,
    /// IPv4 type of service of what this side sends from now on; its two low bits are ECN's, and of no effect.
    pub tos: u8,
}

impl Default for AcceptParams<'_> {
    fn default() -> Self {
        AcceptParams {
            private_data: &[],
            ird: 16,
            ord: 16,
            rtr: RtrKinds::ALL,
            crc: true,
            markers: false,
            aligned: false,
            tos: 0,
        }
    }
}

/// What the two sides agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// A stream of one stack on its way to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamHandover {
    /// This side.
    pub local: Endpoint,
    /// The other side.
    pub remote: Endpoint,
    /// Its TCP.
    pub tcp: Handover,
}

/// How RDMA begins behind the last byte of a stream.
#[derive(Clone, Debug)]
pub enum StartMpa<'a> {
    /// This side sends the MPA request. The addresses in it are the stream's, whatever they say here, and there is no second try. Ends
    /// in `Established`, `Rejected` or `ConnectError`.
    Active(ConnectParams<'a>),
    /// The peer does: a `ConnectRequest` follows, of this connection, which is answered with the stream's own queue pair.
    Passive,
    /// Both sides are past the start-up, which went some other way, and what it agreed on is this. No FPDU was sent yet.
    /// `Established` follows.
    Past(Agreed),
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
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// This side closed it in order, and the peer followed.
    Local,
    /// The peer closed it in order.
    Peer,
    /// RST from the peer.
    Reset,
    /// The peer no longer answers.
    TimedOut,
    /// `abort`, or the queue pair was destroyed.
    Aborted,
    /// After a Terminate, sent or received (see `Event::QpFatal`).
    Terminated,
}

/// What happened to connections and queue pairs, in the order it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Somebody wants to connect; answer by `accept` or `reject`.
    ConnectRequest {
        /// The new connection.
        conn: ConnId,
        /// The listening port.
        port: u16,
        /// Who.
        remote: Endpoint,
        /// From the peer's application.
        private_data: PrivateData,
        /// The peer's IRD (what its ORD should be matched with), if it said so.
        ird: Option<u16>,
        /// The peer's ORD, if it said so.
        ord: Option<u16>,
        /// An RTR will follow; then the RTR kinds offered.
        rtr: Option<RtrKinds>,
        /// MPA revision of the request.
        revision: u8,
        /// The peer is an XRC initiator: an XRC target is to accept.
        xrc: bool,
    },
    /// The connection stands. The initiator: the reply came, and the RTR, if there is one, is on
    /// its way. The responder: the RTR or the first message has arrived.
    Established {
        /// The connection.
        conn: ConnId,
        /// Its queue pair.
        qp: QpId,
        /// The initiator: from the peer's application. The responder: empty.
        private_data: PrivateData,
        /// What was agreed.
        agreed: Agreed,
        /// What the peer said of its IRD, in its reply or its request, if it did (RFC 6581 §9.1).
        ird: Option<u16>,
        /// The same of its ORD.
        ord: Option<u16>,
    },
    /// Somebody has connected to a port that is listened on for plain bytes; answer by `accept_stream` or `abort`.
    StreamRequest {
        /// The new connection.
        conn: ConnId,
        /// The listening port.
        port: u16,
        /// Who.
        remote: Endpoint,
    },
    /// A connection that carries plain bytes stands.
    StreamEstablished {
        /// The connection.
        conn: ConnId,
        /// Its queue pair.
        qp: QpId,
    },
    /// A connection that carried plain bytes is over, and its queue pair is free for another one.
    StreamClosed {
        /// The connection; it is gone.
        conn: ConnId,
        /// Its queue pair.
        qp: QpId,
        /// Why. `Local` and `Peer`: both sides have closed in order, this one first, or the peer.
        reason: DisconnectReason,
    },
    /// The peer's application does not want the connection.
    Rejected {
        /// The connection; it is gone.
        conn: ConnId,
        /// From the peer's application.
        private_data: PrivateData,
        /// The peer's IRD, if it said so.
        ird: Option<u16>,
        /// The peer's ORD, if it said so.
        ord: Option<u16>,
    },
    /// The connection did not come about. Also for a responder that had been asked already.
    ConnectError {
        /// The connection; it is gone.
        conn: ConnId,
        /// Why.
        reason: ConnectFailure,
    },
    /// An established connection ended; all its work requests have completed.
    Disconnected {
        /// The connection; it is gone.
        conn: ConnId,
        /// Its queue pair.
        qp: QpId,
        /// Why.
        reason: DisconnectReason,
    },
    /// The queue pair failed; everything in it is flushed. Comes before `Disconnected`.
    QpFatal {
        /// The queue pair.
        qp: QpId,
        /// The Terminate, if there was one.
        terminate: Option<TerminateCode>,
        /// True if the peer sent it, false if this side did.
        received: bool,
    },
    /// A shared receive queue has fewer elements than its limit, which is 0 from now on.
    SrqLimit {
        /// Which.
        srq: SrqId,
    },
    /// A queue pair takes nothing more from its shared receive queue: it failed or its connection is over, and everything in it is flushed.
    LastWqe {
        /// The queue pair.
        qp: QpId,
    },
    /// Nothing is left of a connection that is over, not even its time to wait ([`Engine::remembers`](crate::Engine::remembers)). Where the engine is on the
    /// card; elsewhere it is asked.
    Forgotten {
        /// The connection.
        conn: ConnId,
    },
    /// The next station on the way of a connection is another one ([`Engine::address_moves`](crate::Engine::address_moves)). Likewise.
    Moved {
        /// The connection.
        conn: ConnId,
    },
}

/// Events wait in a queue: what has no bound of its own lies behind a pointer.
const _: () = assert!(size_of::<Event>() <= 72);
