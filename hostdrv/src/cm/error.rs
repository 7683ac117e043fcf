//! What the connection manager refuses, and why.

use std::net::{IpAddr, Ipv4Addr};

use thiserror::Error;
use weft_engine::commands::Refusal;

use super::address::NativeError;
use super::event::CmEventType;
use super::families::NO_IPV6;
use super::host_config::ConfigError;
use super::id::CmState;
use super::param::PEER_TO_PEER_VARIABLE;
use super::policy::PolicyError;
use super::route::RouteError;
use crate::error::DeviceError;
use crate::verbs::VerbsError;

/// Why a call was refused. Nothing was changed. (What the peer answers comes as an event.)
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CmError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The queue pair could not be made.
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    /// A callback waits for what comes when it has returned.
    #[error("a callback of the device waits for an event of it, which comes when the callback has returned")]
    InCallback,
    /// Not in this state of the identifier.
    #[error("{operation} is not possible in state {state:?}: {}", hint(.operation))]
    WrongState {
        /// What was to be done.
        operation: &'static str,
        /// The identifier's state.
        state: CmState,
    },
    /// The identifier has no queue pair.
    #[error("{operation} needs a queue pair: call create_qp first")]
    NoQp {
        /// What was to be done.
        operation: &'static str,
    },
    /// The identifier has a queue pair already.
    #[error("the identifier has a queue pair already (number {0}); an identifier has one")]
    HasQp(u32),
    /// Things of two devices do not go together.
    #[error("the {what} is of another device than the identifier")]
    WrongDevice {
        /// Which thing.
        what: &'static str,
    },
    /// Bound to an address that the device does not have.
    #[error("the device has the address {device}, not {given}; bind to that or to 0.0.0.0")]
    NotLocal {
        /// Asked for.
        given: Ipv4Addr,
        /// What it has.
        device: Ipv4Addr,
    },
    /// The data path has not this family of addresses.
    #[error("{0} is an IPv6 address, and {NO_IPV6}")]
    NoFamily(IpAddr),
    /// Peer-to-peer was insisted on, and the request has it not.
    #[error("the peer asked for a connection without peer-to-peer, so the client has to send first; accept with peer_to_peer None or Some(false), or reject")]
    PeerToPeerNotOffered,
    /// The environment variable holds nonsense.
    #[error("environment variable {PEER_TO_PEER_VARIABLE} is {0:?}; it must be 1, 0, on, off, true, false, yes or no")]
    Environment(String),
    /// The host's configuration cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A route record that is of no use.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A native address that is of no use.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// Names that say nothing.
    #[error("{node}, service {service}: {reason}")]
    Unresolved {
        /// The node.
        node: String,
        /// The service.
        service: String,
        /// Why not.
        reason: String,
    },
    /// Nobody answered ARP for the next station on the way.
    #[error("no station answers on the way to {address}")]
    NoStation {
        /// The address.
        address: Ipv4Addr,
    },
    /// Only members of a [`LoopbackHost`](super::LoopbackHost) are reached by the loop.
    #[error("the device is no member of a LoopbackHost; call LoopbackHost::join")]
    NotJoined,
    /// A device is a member once.
    #[error("the device is a member of a LoopbackHost already")]
    JoinedAlready,
    /// Members are told apart by their addresses.
    #[error("another member of the LoopbackHost has the address {0}")]
    AddressTaken(Ipv4Addr),
    /// A setting that the data path has not.
    #[error("{option} {given}: {why}")]
    NoOption {
        /// Which.
        option: &'static str,
        /// As it was asked for.
        given: u64,
        /// Why not.
        why: &'static str,
    },
    /// The host's policy cannot be read: nobody listens without it.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Another event than the one that was waited for.
    #[error("{wanted} was to come, and there came {}", describe(.came))]
    Unexpected {
        /// What was waited for.
        wanted: CmEventType,
        /// What came, with its status; `None`: nothing, until the time was over.
        came: Option<(CmEventType, i32)>,
    },
    /// Refused by the engine.
    #[error("refused: {0}")]
    Refused(#[from] weft_engine::Error),
}

impl From<Refusal> for CmError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Engine(error) => Self::Refused(error),
            other => DeviceError::Command(other.to_string()).into(),
        }
    }
}

fn describe(came: &Option<(CmEventType, i32)>) -> String {
    match came {
        Some((event, status)) => format!("{event}, status {status}"),
        None => "nothing".into(),
    }
}

fn hint(operation: &str) -> &'static str {
    match operation {
        "resolve_route" => "wait for ADDR_RESOLVED first",
        "connect" => "wait for ROUTE_RESOLVED first, and connect once",
        "accept" | "reject" => "only the identifier of a CONNECT_REQUEST can be answered, once",
        "disconnect" => "there is no connection",
        _ => "use a new identifier",
    }
}
