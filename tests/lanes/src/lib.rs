//! Linux guests for the tests that need a kernel: Weft's driver under the kernel's VFIO (`make test-vfio`), and Linux
//! soft-iWARP as the other end of the wire (`make test-peer`).
//!
//! A [`Guest`] is a Debian kernel in QEMU with an agent inside that runs commands for the host. What it boots is built
//! by the scripts in `images/`, once, into `target/guest`.

pub mod accel;
pub mod agent;
pub mod console;
pub mod guest;
pub mod host_disk;
pub mod images;
pub mod peer;
pub mod process;
pub mod qemu;
pub mod steps;
pub mod vfio;
pub mod wire;

pub use guest::{Guest, GuestError, Output};
pub use qemu::{Device, GuestConfig, Iommu, Memory, Net};
