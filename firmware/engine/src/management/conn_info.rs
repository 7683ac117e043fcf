//! What can be asked of a connection.

use weft_tcp::control::Congestion;

use crate::connection::conn::Conn;
use crate::interface::cm::{Agreed, ConnId, Endpoint};

/// A connection as it stands: what `ss -ti` tells of a socket. Bytes are of TCP payload, times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnInfo {
    /// Its name.
    pub conn: ConnId,
    /// This side.
    pub local: Endpoint,
    /// The other side.
    pub remote: Endpoint,
    /// The next station on the way there; zeros until ARP has answered.
    pub next_hop: [u8; 6],
    /// What MPA's start-up agreed on; `None` until it is over.
    pub agreed: Option<Agreed>,
    /// Switches may mark what is sent (ECN).
    pub ecn: bool,
    /// Largest segment (EMSS, RFC 5044 §2).
    pub segment: u32,
    /// Smoothed round-trip time (RFC 6298); `None`: none was measured.
    pub round_trip: Option<u64>,
    /// Retransmission timeout.
    pub timeout: u64,
    /// Who decides how much is in flight.
    pub congestion: Congestion,
    /// How much that is at most.
    pub congestion_window: u32,
    /// How much the peer takes.
    pub peer_window: u32,
    /// Sent and not acknowledged.
    pub in_flight: u32,
    /// Times that fast recovery began.
    pub recoveries: u64,
}

impl ConnInfo {
    pub(crate) fn of(conn: &Conn) -> Self {
        let sender = &conn.sender;
        ConnInfo {
            conn: conn.id,
            local: conn.local,
            remote: conn.remote,
            next_hop: conn.remote_mac,
            agreed: conn.reported.then_some(conn.agreed),
            ecn: conn.ecn.agreed,
            segment: sender.mss,
            round_trip: sender.rtt.smoothed(),
            timeout: sender.rtt.timeout(),
            congestion: sender.congestion(),
            congestion_window: sender.cwnd(),
            peer_window: sender.window,
            in_flight: sender.flight(),
            recoveries: sender.counts.recoveries,
        }
    }
}
