//! The host driver of the Weft card.
//!
//! From the bottom up: [`transport`] is the seam to a card (kernel VFIO, vfio-user or the in-process
//! simulator), [`dma`] the memory that host and card share, [`device`] a card with the engine that
//! controls it. Programs use [`verbs`] and [`cm`]. See `docs/driver.md`.

mod card;
pub mod cm;
pub mod device;
pub mod dma;
mod error;
mod mmio;
mod stats;
pub mod transport;
pub mod verbs;

pub use device::{Device, DeviceConfig};
pub use error::DeviceError;
pub use stats::{CardCounters, HostStats};
pub use weft_engine::{EngineConfig, EngineStats};
pub use weft_layout::Counter;
