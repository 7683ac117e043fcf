//! Connection events.

use std::fmt;

use weft_engine::{DisconnectReason, RtrKinds};

use super::families::NO_IPV6;
use super::id::CmId;
use super::policy::{REJECTED_BUSY, REJECTED_BY_POLICY};
use super::start_up::{Agreed, ConnectFailure};

/// What happened (`rdma_cm_event_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CmEventType {
    /// `resolve_addr` found the way to the address.
    AddrResolved,
    /// `resolve_addr` did not.
    AddrError,
    /// `resolve_route` is done.
    RouteResolved,
    /// Somebody wants to connect: accept or reject.
    ConnectRequest,
    /// The connection did not come about.
    ConnectError,
    /// The peer does not answer.
    Unreachable,
    /// The peer refused: its application, or its TCP.
    Rejected,
    /// The connection stands.
    Established,
    /// A connection that was taken over stands, and carries plain bytes.
    StreamEstablished,
    /// The connection ended.
    Disconnected,
    /// Its addresses are free for another one: TCP has waited long enough. Comes some time after DISCONNECTED, to channels that
    /// [asked](super::EventChannel::report_everything).
    TimewaitExit,
    /// The next station on the way has another MAC address, or the way leads by another one. To channels that asked.
    AddrChange,
    /// The device does no more. To channels that asked; for every identifier that is not over, once.
    DeviceRemoval,
}

impl CmEventType {
    /// librdmacm's name of it; of one that librdmacm has not, a name like those.
    #[doc(alias = "rdma_event_str")]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AddrResolved => "RDMA_CM_EVENT_ADDR_RESOLVED",
            Self::AddrError => "RDMA_CM_EVENT_ADDR_ERROR",
            Self::RouteResolved => "RDMA_CM_EVENT_ROUTE_RESOLVED",
            Self::ConnectRequest => "RDMA_CM_EVENT_CONNECT_REQUEST",
            Self::ConnectError => "RDMA_CM_EVENT_CONNECT_ERROR",
            Self::Unreachable => "RDMA_CM_EVENT_UNREACHABLE",
            Self::Rejected => "RDMA_CM_EVENT_REJECTED",
            Self::Established => "RDMA_CM_EVENT_ESTABLISHED",
            Self::StreamEstablished => "STREAM_ESTABLISHED",
            Self::Disconnected => "RDMA_CM_EVENT_DISCONNECTED",
            Self::TimewaitExit => "RDMA_CM_EVENT_TIMEWAIT_EXIT",
            Self::AddrChange => "RDMA_CM_EVENT_ADDR_CHANGE",
            Self::DeviceRemoval => "RDMA_CM_EVENT_DEVICE_REMOVAL",
        }
    }
}

impl fmt::Display for CmEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An event (`rdma_cm_event`). It holds its identifier: of a CONNECT_REQUEST that is dropped with the
/// event, the connection is rejected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CmEvent {
    /// The identifier concerned; of a CONNECT_REQUEST a new one.
    pub id: CmId,
    /// The listening identifier, for a CONNECT_REQUEST.
    pub listen_id: Option<CmId>,
    /// What happened.
    pub event: CmEventType,
    /// 0, or a negative Linux errno that says why.
    pub status: i32,
    /// From the peer's application.
    pub private_data: Vec<u8>,
    /// CONNECT_REQUEST, REJECTED: the peer's ORD, so what `responder_resources` need not exceed. ESTABLISHED: IRD
    /// as agreed. `None`: the peer did not say.
    pub responder_resources: Option<u16>,
    /// CONNECT_REQUEST, REJECTED: the peer's IRD, so what `initiator_depth` should not exceed. ESTABLISHED: ORD as
    /// agreed.
    pub initiator_depth: Option<u16>,
    /// CONNECT_REQUEST: peer-to-peer is wanted, with these RTR kinds.
    pub rtr: Option<RtrKinds>,
    /// CONNECT_REQUEST: MPA revision of the request.
    pub mpa_revision: Option<u8>,
    /// CONNECT_REQUEST: the peer is an XRC initiator, so a target is to accept.
    pub xrc: bool,
    /// ESTABLISHED: everything that was agreed.
    pub agreed: Option<Agreed>,
    /// ESTABLISHED: the IRD that the peer's start-up frame said, whatever was made of it; 0x3fff: the programs settle it themselves
    /// (RFC 6581 §9.1). `None`: it did not say.
    pub peer_ird: Option<u16>,
    /// ESTABLISHED: the same of its ORD.
    pub peer_ord: Option<u16>,
    /// Why the connection did not come about; `None` with REJECTED: the peer's application said no.
    pub failure: Option<ConnectFailure>,
    /// DISCONNECTED: why.
    pub reason: Option<DisconnectReason>,
}

impl CmEvent {
    pub(super) fn new(id: CmId, event: CmEventType) -> Self {
        Self {
            id,
            listen_id: None,
            event,
            status: 0,
            private_data: Vec::new(),
            responder_resources: None,
            initiator_depth: None,
            rtr: None,
            mpa_revision: None,
            xrc: false,
            agreed: None,
            peer_ird: None,
            peer_ord: None,
            failure: None,
            reason: None,
        }
    }

    /// Why it is as it is, in words; `None`: there is nothing to explain.
    pub fn why(&self) -> Option<String> {
        use CmEventType as E;
        let text = match (self.event, self.failure, self.reason) {
            (E::Rejected, None, _) => match self.status {
                busy if busy == -errno::EBUSY => "the listener is busy: try again later".into(),
                no if no == -errno::EACCES => {
                    "the host's policy does not allow it".into()
                }
                _ => match self.private_data.is_empty() {
                    true => "the peer's application said no".into(),
                    false => format!(
                        "the peer's application said no: {}",
                        String::from_utf8_lossy(&self.private_data)
                    ),
                },
            },
            (_, Some(failure), _) => explain(failure).into(),
            (E::Disconnected, _, Some(reason)) => match reason {
                DisconnectReason::Local => "this side closed it",
                DisconnectReason::Peer => "the peer closed it",
                DisconnectReason::Reset => "the peer reset it: it was aborted there, or its host forgot it",
                DisconnectReason::TimedOut => "the peer no longer answers",
                DisconnectReason::Aborted => "this side aborted it, or destroyed its queue pair",
                DisconnectReason::Terminated => {
                    "one side broke a rule of RDMA: the asynchronous event QpFatal has the Terminate"
                }
                _ => "no reason was given",
            }
            .into(),
            (E::AddrError, ..) if self.status == -errno::EAFNOSUPPORT => format!("an IPv6 address: {NO_IPV6}"),
            (E::AddrError, ..) => "the device has no way there: another network and no gateway, or not the address of a host".into(),
            (E::DeviceRemoval, ..) => "the device failed, and does no more".into(),
            _ => return None,
        };
        Some(text)
    }

    pub(super) fn with_status(mut self, errno: i32) -> Self {
        self.status = -errno;
        self
    }
}

/// Linux errno values.
pub(super) mod errno {
    pub const EIO: i32 = 5;
    pub const ENOMEM: i32 = 12;
    pub const EACCES: i32 = 13;
    pub const EBUSY: i32 = 16;
    pub const ENODEV: i32 = 19;
    pub const EPROTO: i32 = 71;
    pub const EMSGSIZE: i32 = 90;
    pub const EOPNOTSUPP: i32 = 95;
    pub const EAFNOSUPPORT: i32 = 97;
    pub const ECONNABORTED: i32 = 103;
    pub const ECONNRESET: i32 = 104;
    pub const ETIMEDOUT: i32 = 110;
    pub const ECONNREFUSED: i32 = 111;
    pub const EHOSTUNREACH: i32 = 113;
}

fn explain(failure: ConnectFailure) -> &'static str {
    match failure {
        ConnectFailure::Unreachable => "nobody answers: neither ARP nor SYN",
        ConnectFailure::Refused => "nobody listens on that port",
        ConnectFailure::TimedOut => "the peer's TCP answers, and its MPA does not",
        ConnectFailure::Closed => "the peer closed the connection during the start-up",
        ConnectFailure::InvalidReply => "what came is no answer to the MPA request",
        ConnectFailure::NoMatchingRtr => "the reply allows none of the RTR kinds that were offered",
        ConnectFailure::InsufficientReads => "the peer takes fewer Reads than this side insists on",
        ConnectFailure::NoResources => "the card has no room for another connection",
        ConnectFailure::NoRtr => {
            "the peer's first message did not come, or was none that may be first"
        }
        ConnectFailure::UnsupportedRevision => {
            "the peer speaks a revision of MPA that this side does not"
        }
        ConnectFailure::SegmentTooSmall => "the peer's segments have no room for an FPDU",
        ConnectFailure::NoXrc => "the peer is no XRC target",
        ConnectFailure::Other => "it did not come about",
    }
}

/// What a rejection says whose private data the peer's connection manager wrote.
pub(super) fn of_rejection(private_data: &[u8]) -> i32 {
    match private_data {
        REJECTED_BUSY => errno::EBUSY,
        REJECTED_BY_POLICY => errno::EACCES,
        _ => errno::ECONNREFUSED,
    }
}

/// Event and errno for a failure, as Linux' iw_cm has them for who asks where it knows the case.
pub(super) fn of_failure(failure: ConnectFailure) -> (CmEventType, i32) {
    use CmEventType::{ConnectError, Rejected, Unreachable};
    match failure {
        ConnectFailure::Unreachable | ConnectFailure::TimedOut => (Unreachable, errno::ETIMEDOUT),
        ConnectFailure::Refused => (Rejected, errno::ECONNREFUSED),
        ConnectFailure::Closed => (Rejected, errno::ECONNRESET),
        ConnectFailure::InvalidReply | ConnectFailure::UnsupportedRevision => {
            (ConnectError, errno::EPROTO)
        }
        ConnectFailure::NoMatchingRtr => (ConnectError, errno::EOPNOTSUPP),
        ConnectFailure::InsufficientReads | ConnectFailure::NoResources => {
            (ConnectError, errno::ENOMEM)
        }
        ConnectFailure::SegmentTooSmall => (ConnectError, errno::EMSGSIZE),
        ConnectFailure::NoXrc => (ConnectError, errno::EOPNOTSUPP),
        ConnectFailure::NoRtr => (ConnectError, errno::ETIMEDOUT),
        ConnectFailure::Other => (ConnectError, errno::EIO),
    }
}

/// Errno for the end of a connection; 0 if it was an orderly one.
pub(super) fn of_reason(reason: DisconnectReason) -> i32 {
    match reason {
        DisconnectReason::Local | DisconnectReason::Peer => 0,
        DisconnectReason::Reset => errno::ECONNRESET,
        DisconnectReason::TimedOut => errno::ETIMEDOUT,
        DisconnectReason::Aborted => errno::ECONNABORTED,
        DisconnectReason::Terminated => errno::EPROTO,
        _ => errno::EIO,
    }
}
