//! Scripts of packets, in the manner of packetdrill: what a peer sends, what the station's user does, and what the station has to answer,
//! and when. `tests/scripts/README.md` says how they are written.
#![allow(dead_code, missing_docs)]

pub mod line;
pub mod run;
