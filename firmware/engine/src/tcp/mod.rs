//! TCP over the card's segments, and the neighbours it sends to: segments in and out, handshakes, timers, marks of congestion, the
//! fast path. What is lost and what may go is the crate `weft-tcp`. It sends what the queues have. Of `rdmap` it knows how a Write is told, of
//! `handover` the pieces in raw slots, and of `mpa` and `streaming` nothing.

pub mod acceptance;
pub mod arp;
pub mod ecn;
pub mod fast_path;
pub mod input;
pub mod limits;
pub mod output;
pub mod syn_cache;
pub mod timer_expiry;
