//! What the full-stack tests share: a judge and a peer that are not Weft.

pub mod peer;
pub mod tshark;
