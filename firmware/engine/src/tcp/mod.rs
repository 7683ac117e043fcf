//! TCP (RFC 9293) as far as it needs no memory of the data: sequence arithmetic, round-trip time,
//! congestion control and loss recovery, reassembly of what the card hands up raw.

pub mod ranges;
pub mod reassembly;
pub mod rtt;
pub mod sender;
pub mod seq;
