//! What the full-stack tests share: a judge and a peer that are not Weft, and a card for the peer to meet.

pub mod peer;
pub mod target;
pub mod tshark;
