//! The tools of bring-up and of everyday use, as a library: each runs on a [`Device`] or on a bare
//! [`Transport`](weft_card_transport::Transport), and gives a typed report. The `weft` command is a thin layer above.
//!
//! Those that talk to a peer are state machines ([`Machine`]): `poll` does what can be done now and never blocks, so that
//! several of them run in one thread; [`run`] is the loop for a program that has nothing else to do.

pub mod by_kernel;
pub mod capture;
pub mod connection;
pub mod interface;
mod latency;
mod machine;
pub mod peer_error;
pub mod probe;
pub mod regs;
pub mod resolver;
pub mod rping;
pub mod selftest;
pub mod stream;
pub mod tap;
pub mod trace;
pub mod ucmatose;

pub use latency::Latency;
pub use machine::{run, Machine};

#[cfg(doc)]
use weft_hostdrv::device::Device;
