//! TCP over the card's segments, and the neighbours it sends to: segments in and out, handshakes, timers, marks of congestion, the
//! fast path. What is lost and what may go is the crate `weft-tcp`. It sends what the queues have, and may know the layers that it carries;
//! of who frames the stream it knows the pieces alone.

pub mod acceptance;
pub mod arp;
pub mod ecn;
pub mod fast_path;
pub mod input;
pub mod limits;
pub mod output;
pub mod syn_cache;
pub mod timer_expiry;
