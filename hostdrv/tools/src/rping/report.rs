//! What a run of rping says.

use std::collections::VecDeque;
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

/// Reports of connections that a server keeps: the latest ones.
pub const KEPT: usize = 256;

/// All connections of a server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServerReport {
    /// The latest, at most [`KEPT`], in the order of their ends.
    pub sessions: VecDeque<SessionReport>,
    /// Connections that ended, also those not kept.
    pub ended: u64,
    /// How many of these did not go as they should.
    pub failed: u64,
    /// Pings of all of them.
    pub iterations: u64,
    /// Requests turned away.
    pub rejected: u64,
    /// What ended the server itself.
    pub error: Option<PeerError>,
}

impl ServerReport {
    /// Was there a session, and did all go as they should?
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.ended > 0 && self.failed == 0
    }

    pub(super) fn add(&mut self, session: SessionReport) {
        self.ended += 1;
        self.failed += u64::from(!session.passed());
        self.iterations += session.iterations;
        if self.sessions.len() == KEPT {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_runs_for_long_keeps_the_latest_reports_and_counts_all() {
        let mut report = ServerReport::default();
        assert!(!report.passed(), "nobody came");
        for iterations in 0..KEPT as u64 + 44 {
            report.add(SessionReport {
                role: Role::Server,
                peer: None,
                negotiated: None,
                peer_private_data: String::new(),
                iterations,
                bytes_verified: 0,
                elapsed_ns: 0,
                connect_ns: None,
                latency: None,
                error: None,
            });
        }
        assert!(report.passed());
        assert_eq!((report.sessions.len(), report.ended), (KEPT, 300));
        assert_eq!(report.sessions[0].iterations, 44);
        assert_eq!(report.iterations, 299 * 300 / 2);
    }
}
