//! libibverbs' and librdmacm's calls over the host driver of the Weft card.
//!
//! `libweft_rdma.so` is loaded before a C program's own libraries (`LD_PRELOAD`; `weft run` does it): its symbols have no version, so
//! they stand for any version that the program asks for. There is one device, which the environment names ([`settings`]); it is opened when the
//! program first needs it.
//!
//! ```text
//!   C program ──► cm: identifiers, events          device, memory, completions, queue_pairs, posting, extended_*, xrc
//!                      │                              │
//!                      └──────────► process ◄─────────┘     the device, which drives itself
//!                                      │
//!                                 weft-hostdrv
//! ```
//!
//! Every entry is made by one macro (`calls`), which says what a program has to keep to. No panic leaves it. A call that Weft does not have
//! answers EOPNOTSUPP, and is counted ([`absent`]).

#[macro_use]
mod calls;

pub mod absent;
pub mod asynchronous;
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    clippy::all
)]
mod bindings;
mod broker;
pub mod cm;
pub mod completions;
pub mod device;
mod events;
mod extended_polls;
mod extended_posts;
mod immediate;
mod interfaces;
pub mod memory;
pub mod names;
mod object;
pub mod posting;
mod process;
pub mod queue_pairs;
pub mod reregistering;
pub mod settings;
pub mod shared_receives;
mod xrc;

#[doc(hidden)]
pub use process::open_on;

/// The types of rdma-core's headers.
#[allow(missing_docs)]
pub mod c {
    pub use crate::bindings::*;
}
