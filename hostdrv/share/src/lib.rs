//! A card for several processes. A broker has the device and lends parts of it over a Unix socket: control rings, queue pairs with their
//! completion queues, memory, each by file descriptors. Who is gone, however it went, leaves nothing behind.
//!
//! ```text
//!   broker   Broker::bind(device, path) ── turn, turn, ..
//!                 ▲   requests of one packet; answers with files
//!   client   open(path) ── a Device, as a program has that owns its card
//!            Client::connect(path) ── control rings; create_qp, memory, XRC
//! ```
//!
//! What a client posts, polls and commands goes through the memory that it was lent, and never through the socket. Whoever sleeps, broker or client,
//! is woken by the other, and a client hears that the broker or the card is gone.
//!
//! The broker trusts nobody: what a client has is counted, for it and for its user; its ports and connections are the host's policy's to allow; and its
//! descriptors are never the broker's.
//!
//! The two may be of different versions: they agree on one that both speak.

mod asked;
mod borrowed_device;
mod broker;
mod client;
mod domains;
mod door;
mod limits;
mod memory;
mod own_domains;
mod packet;
mod queue_pairs;
mod session;
mod sized;
mod talk;
mod version;
mod waiting;
mod xrc;

pub use broker::{Broker, ShareError, ShareReport};
pub use client::{Client, SharedQp, SharedRegion};
pub use limits::Limits;
pub use xrc::{SharedTarget, SharedXrcd};

/// The device of the broker that listens at `path`: the same types as those of a card of this process's own.
///
/// # Errors
/// Nobody listens there, or turns this process away.
pub fn open(path: &std::path::Path) -> std::io::Result<weft_hostdrv::Device> {
    Client::connect(path)?.into_device()
}
