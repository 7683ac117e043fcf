//! rping: the ping that every RDMA installation has (librdmacm's `rping`), spoken as rdma-core speaks it.
//!
//! ```text
//!   client                                          server
//!     writes "rdma-ping-N: ABC..." into its source
//!     Send: address, STag, length of the source ──►
//!     ◄── RDMA Read of the source ─────────────────
//!     ◄── Send: go ahead ──────────────────────────
//!     Send: address, STag, length of the sink ────►
//!     ◄── RDMA Write of the same bytes to the sink ─
//!     ◄── Send: go ahead ──────────────────────────
//!     compares sink and source, next N
//! ```
//!
//! Every Send has 16 bytes ([`Info`]). A ping moves data both ways by all three operations of RDMAP.

mod client;
mod info;
mod keys;
mod pattern;
mod report;
mod server;
mod session;

pub use client::{ClientConfig, RpingClient};
pub use info::Info;
pub use keys::Keys;
pub use pattern::{expected, MAX_SIZE, MIN_SIZE};
pub use report::{Role, RpingNote, RpingObserver, ServerReport, SessionReport, KEPT};
pub use server::{RpingServer, ServerConfig};

/// The port that rping's server has unless told otherwise.
pub const PORT: u16 = 7174;
/// Bytes of a ping unless told otherwise.
pub const SIZE: usize = 64;

/// What a work request was, as its `wr_id`.
mod work {
    pub const RECV: u64 = 1;
    pub const SEND: u64 = 2;
    pub const READ: u64 = 3;
    pub const WRITE: u64 = 4;
    pub const BIND: u64 = 5;
    pub const INVALIDATE: u64 = 6;

    /// For messages.
    pub fn name(wr_id: u64) -> &'static str {
        match wr_id {
            RECV => "receive",
            SEND => "Send",
            READ => "Read",
            BIND => "bind",
            INVALIDATE => "local invalidation",
            _ => "Write",
        }
    }
}
