//! What a run of rping says.

use std::net::SocketAddrV4;

use serde::Serialize;

use super::super::connection::Negotiated;
use super::super::peer_error::PeerError;
use super::super::Latency;

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Connects and pings.
    Client,
    /// Listens and answers.
    Server,
}

/// One connection.
#[derive(Clone, Debug, Serialize)]
pub struct SessionReport {
    /// This side's role.
    pub role: Role,
    /// The peer.
    pub peer: Option<SocketAddrV4>,
    /// What was agreed; `None` if it did not come to that.
    pub negotiated: Option<Negotiated>,
    /// From the peer's application, escaped.
    pub peer_private_data: String,
    /// Pings that were right from beginning to end.
    pub iterations: u64,
    /// Bytes of these that were compared with what they should be.
    pub bytes_verified: u64,
    /// From the call of connect, or the request, to the end.
    pub elapsed_ns: u64,
    /// From the call of connect, or the request, to ESTABLISHED.
    pub connect_ns: Option<u64>,
    /// How long a ping took.
    pub latency: Option<Latency>,
    /// What went wrong.
    pub error: Option<PeerError>,
}

impl SessionReport {
    /// Did everything go as it should?
    pub fn passed(&self) -> bool {
        self.error.is_none()
    }
}

/// All connections of a server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServerReport {
    /// In the order of their ends.
    pub sessions: Vec<SessionReport>,
    /// Requests turned away.
    pub rejected: u64,
    /// What ended the server itself.
    pub error: Option<PeerError>,
}

impl ServerReport {
    /// Was there a session, and did all go as they should?
    pub fn passed(&self) -> bool {
        self.error.is_none()
            && !self.sessions.is_empty()
            && self.sessions.iter().all(SessionReport::passed)
    }
}

/// What happens meanwhile, for who wants to show it.
#[derive(Debug)]
pub enum RpingNote<'a> {
    /// A step of the protocol.
    Step(String),
    /// A ping came back (client) or arrived (server), with these bytes.
    Ping(&'a [u8]),
    /// A connection ended.
    Ended(&'a SessionReport),
}

/// Is told.
pub type RpingObserver = Box<dyn FnMut(RpingNote<'_>) + Send>;
