//! An established connection taken out of Linux' stack, and put into it.
//!
//! [`Frozen::new`] stops a socket by TCP_REPAIR and reads its state: numbers, windows, what the handshake agreed on, and the bytes of both
//! queues. Then either [`Frozen::leave`]: the connection is gone from the kernel, nothing is sent, and whoever has the state goes on with
//! it; or the `Frozen` is dropped, and the socket goes on as if nothing had been. [`put_back`] makes a socket of a state.
//!
//! ```text
//!   socket ──Frozen::new──► Frozen, state ──leave──► state alone: an engine adopts it, or put_back makes a socket of it
//!      ▲                        │
//!      └─────────drop───────────┘
//! ```
//!
//! While it is frozen and afterwards, frames of the connection must not reach the kernel: it would take bytes into a queue that has been
//! read, and answer RST once the connection is gone. An `NetInterface` (`weft-tools`) that nobody calls holds them.

mod freeze;
mod options;
mod put_back;
mod refusal;
mod state;

pub use freeze::Frozen;
pub use put_back::put_back;
pub use refusal::Refusal;
pub use state::ConnectionState;
