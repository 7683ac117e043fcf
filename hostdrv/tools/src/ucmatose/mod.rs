//! ucmatose: many connections, then messages both ways, as librdmacm's `ucmatose` does it, and storms of that: connect,
//! move, disconnect, again and again.
//!
//! ```text
//!   client                                  server
//!     connects so many times
//!     ◄── so many Sends on each ─────────────
//!     so many Sends on each ────────────────►
//!     ◄── disconnects ───────────────────────
//! ```
//!
//! The server speaks first: without peer-to-peer (RFC 6581) that is possible only where the server's MPA does not wait for
//! the client's first FPDU, and Weft's does wait.

mod client;
mod report;
mod server;
mod session;
mod shared;

pub use client::UcmatoseClient;
pub use report::{Failed, UcmatoseNote, UcmatoseObserver, UcmatoseReport};
pub use server::UcmatoseServer;

use super::connection::ConnectionTerms;
use super::peer_error::PeerError;

/// The port that ucmatose's server has unless told otherwise.
pub const PORT: u16 = 7471;

/// Messages that a queue pair takes.
const MAX_MESSAGES: usize = 32_768;
/// Bytes that a connection has for its messages, each way.
const MAX_BYTES: usize = 64 << 20;

/// What is to be moved on each connection.
#[derive(Clone, Debug)]
pub struct Load {
    /// Connections of a round.
    pub connections: usize,
    /// Rounds; for a server 0 means: until it is stopped.
    pub rounds: u64,
    /// Messages each way on a connection.
    pub messages: usize,
    /// Bytes of a message.
    pub size: usize,
    /// Compare what arrives with what Weft's ucmatose sends (rdma-core's sends whatever its memory holds).
    pub verify: bool,
    /// All connections take their receives from one shared receive queue.
    pub srq: bool,
    /// How to connect or accept.
    pub terms: ConnectionTerms,
    /// Give a connection up when nothing happens on it for so long; `None`: never.
    pub patience_ns: Option<u64>,
}

impl Default for Load {
    /// ucmatose's: one connection, ten messages of 100 bytes.
    fn default() -> Self {
        Self {
            connections: 1,
            rounds: 1,
            messages: 10,
            size: 100,
            verify: false,
            srq: false,
            terms: ConnectionTerms::default(),
            patience_ns: Some(60_000_000_000),
        }
    }
}

impl Load {
    /// Messages of no bytes are none, as ucmatose has it.
    fn messages(&self) -> usize {
        if self.size == 0 {
            0
        } else {
            self.messages
        }
    }

    /// Receives of a shared receive queue: one for each message of all connections.
    fn shared_receives(&self) -> usize {
        self.connections.saturating_mul(self.messages().max(1))
    }

    fn check(&self) -> Result<(), PeerError> {
        let setting = |setting, value: usize, allowed: String| PeerError::Setting {
            setting,
            value: value as u64,
            allowed,
        };
        if self.connections == 0 {
            return Err(setting("the number of connections", 0, "at least 1".into()));
        }
        if self.messages() > MAX_MESSAGES {
            let allowed = format!("at most {MAX_MESSAGES}");
            return Err(setting("the number of messages", self.messages, allowed));
        }
        if self.srq && self.shared_receives() > MAX_MESSAGES {
            let allowed = format!("at most {MAX_MESSAGES} on all connections");
            return Err(setting("the number of messages", self.messages, allowed));
        }
        if self.srq && self.shared_receives().saturating_mul(self.size) > MAX_BYTES {
            let allowed = format!("at most {}", MAX_BYTES / self.shared_receives());
            return Err(setting("the size of a message", self.size, allowed));
        }
        if self.messages().max(1).saturating_mul(self.size) > MAX_BYTES {
            let allowed = format!("at most {}", MAX_BYTES / self.messages().max(1));
            return Err(setting("the size of a message", self.size, allowed));
        }
        Ok(())
    }

    /// The byte at `at` of message `number`.
    fn byte(number: usize, at: usize) -> u8 {
        (number.wrapping_mul(89) ^ at.wrapping_mul(31) ^ (at >> 8)) as u8
    }

    fn message(&self, number: usize) -> Vec<u8> {
        (0..self.size).map(|at| Self::byte(number, at)).collect()
    }
}
