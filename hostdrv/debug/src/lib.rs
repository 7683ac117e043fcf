//! What shows how a Weft card and its firmware work: the card's own record of events, copies of the frames at its MAC port, and its control
//! processor under GDB.
//!
//! Each looks at a card in use from beside it, and needs nothing of the data path.

pub mod capture;
mod debugger;
pub mod gdb;
mod symbols;
pub mod trace;

pub use debugger::{Debugger, Registers};
pub use symbols::Symbols;
