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

mod channel;
mod dispatch;
mod error;
mod event;
mod id;
mod param;

pub use channel::EventChannel;
pub(crate) use dispatch::{dispatch, CmRegistry};
pub use error::CmError;
pub use event::{CmEvent, CmEventType};
pub use id::{CmId, CmState, ConnectRequest, Decision};
pub use param::{default_peer_to_peer, set_default_peer_to_peer, ConnParam, PEER_TO_PEER_VARIABLE};
pub use weft_engine::{Agreed, ConnectFailure, DisconnectReason, Revision, RtrKinds};
