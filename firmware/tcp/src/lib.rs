//! TCP (RFC 9293) as far as it needs no packets: sequence arithmetic, round-trip time, loss recovery,
//! congestion control, reassembly.
//!
//! It has no clock, no threads and no input or output: time is a number of nanoseconds that the caller passes in. It knows
//! neither the format of a segment nor what the bytes mean.
#![no_std]

extern crate alloc;

pub mod control;
pub mod handover;
mod latest;
pub mod pages;
pub mod prr;
pub mod rack;
pub mod ranges;
pub mod reassembly;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
pub mod seq;
pub mod spare;
