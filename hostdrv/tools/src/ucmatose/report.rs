//! What a run of ucmatose says.

use serde::Serialize;

use super::super::connection::Negotiated;
use super::super::peer_error::PeerError;
use super::super::Latency;

/// A connection that did not come to its end.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// Its round, from 0; of a server always 0.
    pub round: u64,
    /// Its number, from 0: in its round, or of the server's connections.
    pub connection: usize,
    /// Why.
    pub error: PeerError,
}

/// A run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UcmatoseReport {
    /// Rounds that came to their end.
    pub rounds: u64,
    /// Connections on which everything was moved and that were closed in order.
    pub connections: u64,
    /// Connections that were not.
    pub failures: u64,
    /// The first of them.
    pub failed: Vec<Failed>,
    /// Requests turned away by the server.
    pub rejected: u64,
    /// Messages received.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of these that were compared.
    pub bytes_verified: u64,
    /// What the first connection agreed on.
    pub negotiated: Option<Negotiated>,
    /// From the call of connect (or the request) to ESTABLISHED.
    pub connect: Option<Latency>,
    /// From the beginning of a round to its last DISCONNECTED (client).
    pub round: Option<Latency>,
    /// The whole run.
    pub elapsed_ns: u64,
    /// What ended the run itself.
    pub error: Option<PeerError>,
}

impl UcmatoseReport {
    /// Did everything go as it should?
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.failures == 0 && self.connections > 0
    }
}

/// What happens meanwhile, for who wants to show it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum UcmatoseNote {
    /// A round ended (client).
    Round {
        /// Rounds ended.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// A connection ended (server).
    Connection {
        /// Connections ended.
        done: u64,
    },
}

/// Is told.
pub type UcmatoseObserver = Box<dyn FnMut(UcmatoseNote) + Send>;
