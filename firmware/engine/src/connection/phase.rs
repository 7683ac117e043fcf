//! How far a connection has come, and how it ends.

use crate::interface::cm::{ConnectFailure, DisconnectReason};

/// Who began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This side.
    Initiator,
    /// The peer.
    Responder,
}

/// TCP's state; FINs are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpState {
    /// Nothing sent yet.
    Closed,
    /// SYN sent.
    SynSent,
    /// SYN-ACK sent.
    SynReceived,
    /// Synchronized, up to the last FIN.
    Open,
    /// Both FINs are through, and ours was first.
    TimeWait,
    /// Gone.
    Dead,
}

/// How far the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Initiator: waits for ARP.
    Resolving,
    /// TCP's handshake.
    Handshake,
    /// Initiator: waits for the MPA reply.
    AwaitReply,
    /// Responder: waits for the MPA request.
    AwaitRequest,
    /// Responder: the request is whole; the application hears of it when the backlog has room.
    AwaitBacklog,
    /// Responder: the application has been asked.
    AwaitAnswer,
    /// Responder: the reply is sent; waits for the RTR or the first message.
    AwaitFirst,
    /// Up.
    Established,
    /// `disconnect`: the send queue is drained, then FIN.
    Closing,
    /// Nothing new is sent or taken; ends when all that was sent is acknowledged.
    Finishing,
    /// TCP is gone; ends when the card has done all jobs.
    Draining,
    /// Reported; no longer has a queue pair.
    Finished,
}

impl Phase {
    /// FPDUs are taken.
    pub fn receives(self) -> bool {
        matches!(
            self,
            Phase::AwaitFirst | Phase::Established | Phase::Closing
        )
    }
}

/// What to tell the application at the end.
#[derive(Clone, Copy, Debug, Default)]
pub enum TeardownReport {
    /// Nothing.
    #[default]
    Silent,
    /// It did not come about.
    Failed(ConnectFailure),
    /// The peer's application said no; what it said replaces our private data.
    Rejected {
        /// Its IRD, if it said so.
        ird: Option<u16>,
        /// Its ORD, if it said so.
        ord: Option<u16>,
    },
    /// It is over.
    Disconnected(DisconnectReason),
}
