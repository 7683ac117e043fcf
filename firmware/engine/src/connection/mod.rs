//! A connection as a whole: its state, what it has in flight, its timers, what all connections share, and how it ends. It has
//! the state of every layer in it, so it knows the state of them all, and what none of them does with it.

pub mod admission;
pub mod buffers;
pub mod conn;
pub mod deadlines;
pub mod in_flight;
pub mod link;
pub mod outbox;
pub mod owed;
pub mod phase;
pub mod shared;
pub mod sizes;
pub mod teardown;
pub mod timers;
