//! The Weft simulator: cards, host memory behind an IOMMU, links, captures, and the world in which
//! they run. See `docs/simulator.md`.
//!
//! Everything is deterministic: one seed decides every random choice, threads take turns ([`threads::scope`]), no clock
//! of the machine decides anything, and nothing depends on an address of the process. [`serve`] lets the world outside in, and so do several threads without a scope.

pub mod bench;
pub mod capture;
pub mod card;
pub mod demo;
pub mod fabric;
pub mod figures;
mod held;
pub mod host;
pub mod idle_polls;
pub mod iommu;
pub mod kind;
pub mod ladder;
pub mod link;
pub mod model;
pub mod pair;
pub mod partitions;
mod pcie;
pub mod perf;
pub mod project;
#[cfg(rtl)]
pub mod rtl;
pub mod seed;
pub mod serve;
mod switch;
pub mod threads;
pub mod transport;
pub mod world;
