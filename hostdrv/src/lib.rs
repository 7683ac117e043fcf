//! The host driver of the Weft card.
//!
//! From the bottom up: [`transport`] is the seam to a card (kernel VFIO, vfio-user or the in-process
//! simulator), [`dma`] the memory that host and card share. See `docs/driver.md`.

pub mod dma;
pub mod transport;
