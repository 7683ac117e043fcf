//! What a host waits for beside its instructions.

use serde::Serialize;

/// Nanoseconds of what is no matter of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// An MMIO write until the processor goes on.
    pub mmio_write_ns: f64,
    /// An MMIO read: the processor waits for the answer.
    pub mmio_read_ns: f64,
    /// From a card's request to the first instruction of its handler.
    pub interrupt_ns: f64,
    /// From there to the thread that slept.
    pub wake_up_ns: f64,
    /// A line that the card has written since it was last read, from the last-level cache.
    pub cache_miss_ns: f64,
}

impl Costs {
    /// None.
    pub const FREE: Self = Self {
        mmio_write_ns: 0.0,
        mmio_read_ns: 0.0,
        interrupt_ns: 0.0,
        wake_up_ns: 0.0,
        cache_miss_ns: 0.0,
    };

    /// A server's, all of them assumed.
    pub const USUAL: Self = Self {
        // Posted, into a write-combining buffer.
        mmio_write_ns: 20.0,
        // A round trip over PCIe, usually under a microsecond (Miller et al., ANCS 2009).
        mmio_read_ns: 900.0,
        // A message-signalled write over PCIe, and the kernel's entry.
        interrupt_ns: 1000.0,
        // The scheduler, and a switch to a thread on an idle core.
        wake_up_ns: 3000.0,
        // A last-level cache, into which the card writes.
        cache_miss_ns: 20.0,
    };
}
