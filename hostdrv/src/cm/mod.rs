//! Connection management with librdmacm's names: identifiers, events, connection parameters.
//!
//! ```text
//!   active side                                  passive side
//!   resolve_addr   -> ADDR_RESOLVED              bind_addr, listen
//!   resolve_route  -> ROUTE_RESOLVED             CONNECT_REQUEST (event or callback)
//!   create_qp, connect                           create_qp, accept (or reject)
//!                  -> ESTABLISHED, REJECTED, ..                -> ESTABLISHED, ..
//!   disconnect     -> DISCONNECTED               DISCONNECTED <-
//! ```
//!
//! In one call at either end: [`EventChannel::connect`] and [`EventChannel::accept`] give a [`Connection`].
//!
//! Or apart from connecting: [`Device::get_addr_info`](crate::Device::get_addr_info) gives entries with all that connecting needs to know,
//! [`CmId::resolve_with`] takes one instead of the first two calls.

mod addr_info;
mod address;
#[cfg(feature = "async")]
mod async_connection;
mod backend;
mod channel;
mod client_gate;
mod connection;
mod device_state;
mod direct;
mod dispatch;
mod error;
mod event;
mod families;
mod host_config;
mod housekeeping;
mod id;
mod loopback;
mod options;
mod packet_filter;
mod param;
mod policy;
mod resolver;
mod route;
mod start_up;
mod take_over;

pub use addr_info::{AddrHints, AddrInfo, AddrQuery, PortSpace};
pub use address::addresses_of;
pub use address::{Address, Gid, GidAddr, NativeError, DEFAULT_PKEY};
#[cfg(feature = "async")]
pub use async_connection::{AsyncConnection, AsyncListener};
pub use channel::EventChannel;
pub use client_gate::client_gate;
pub use connection::Connection;
pub use direct::{Direct, DirectError, DirectName, DirectQp, DirectState};
pub use dispatch::{REJECTED_NO_PEER_TO_PEER, REJECTED_PEER_TO_PEER};
pub use error::CmError;
pub use event::{CmEvent, CmEventType};
pub use host_config::{ConfigError, HostConfig, CONFIG_FILE, CONFIG_VARIABLE};
pub use id::{CmId, CmState, ConnectRequest, Decision};
pub use loopback::LoopbackHost;
pub use options::CmOption;
pub use packet_filter::PacketFilter;
pub use param::{default_peer_to_peer, set_default_peer_to_peer, ConnParam, PEER_TO_PEER_VARIABLE};
pub use policy::{
    Asker, HostPolicy, Judgement, Policy, PolicyDirection, PolicyError, POLICY_FILE,
    POLICY_VARIABLE, REJECTED_BUSY, REJECTED_BY_POLICY,
};
pub use resolver::{
    answer_bytes, answer_from_bytes, Elsewhere, Question, Station, Table, TableError, Told,
    RESOLVER_SOCKET, RESOLVER_VARIABLE,
};
pub use resolver::{read_message, write_message, Until};
pub use route::{RouteError, RouteRecord, Source, TransportKind, ROUTE_VERSION};
pub use start_up::{Agreed, ConnectFailure};
pub use take_over::{MpaStart, TakeOverError};
pub use weft_engine::{DisconnectReason, Revision, RtrKinds, StreamState};
