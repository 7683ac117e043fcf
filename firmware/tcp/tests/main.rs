//! Sender and goodput on paths without packets.

mod goodput;
mod path;
mod sender;
