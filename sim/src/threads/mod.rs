//! The threads of programs that use one world.
//!
//! The threads of a [`scope`] take turns: one runs at a time, and gives its turn up in a blocking call. The next is the next by number whose interrupt, wake-up or
//! deadline has come. Time goes on only when every thread waits. So the seed decides what a program of many threads does, as it does for one.
//!
//! Threads that no scope has spawned are served as they come (`unregistered`): what several of them do is not repeated.

mod scope;
mod seats;
mod table;
mod turns;
pub(crate) mod unregistered;

use std::sync::Arc;

pub use scope::{scope, scope_within, sleep, until, yield_now, Scope, ScopedThread};
pub use turns::Stuck;

pub(crate) use table::Call;
use turns::Turns;
use unregistered::Unregistered;

/// Who uses a world.
#[derive(Default)]
pub(crate) struct Threads {
    /// Those of a scope.
    pub(crate) turns: Arc<Turns>,
    /// All others.
    pub(crate) unregistered: Unregistered,
}
