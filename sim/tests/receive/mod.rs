//! The receive front on every kind of card: which segments are taken, refused or handed up, its limits, and tables written while
//! frames come.

mod acceptance;
mod handover;
mod limits;
pub mod setup;
pub mod stretch;
mod tables;
