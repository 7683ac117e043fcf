//! What the full-stack tests share: a judge that is not Weft.

pub mod tshark;
