//! Both ends of the interface between a card's broker and its clients, as version 1 had it: what a program or a broker of then does, by the
//! bytes of then. Frozen: it uses nothing of the driver, and nothing here is changed when the driver is. Whether the driver's ends still
//! understand these says `tests/tests/interface_versions.rs`.

mod broker;
mod client;
mod memory;
mod packet;
mod records;

pub use broker::{Broker, Served};
pub use client::{Client, Errand};
