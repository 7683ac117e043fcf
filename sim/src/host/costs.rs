//! What a host waits for beside its instructions: a name, a figure and a source for each.

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

/// A cost by name.
pub struct Cost {
    /// The name.
    pub name: &'static str,
    /// Where the figure is.
    pub of: fn(&Costs) -> f64,
    /// Where it comes from.
    pub source: &'static str,
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

    /// A server's.
    pub const USUAL: Self = Self {
        mmio_write_ns: 20.0,
        mmio_read_ns: 900.0,
        interrupt_ns: 1000.0,
        wake_up_ns: 3000.0,
        cache_miss_ns: 20.0,
    };
}

/// All of them.
pub const COSTS: [Cost; 5] = [
    Cost {
        name: "MMIO write",
        of: |costs| costs.mmio_write_ns,
        source: "assumed: posted, into a write-combining buffer",
    },
    Cost {
        name: "MMIO read",
        of: |costs| costs.mmio_read_ns,
        source: "assumed: a round trip over PCIe, usually under a microsecond (Miller et al., ANCS 2009)",
    },
    Cost {
        name: "interrupt delivery",
        of: |costs| costs.interrupt_ns,
        source: "assumed: a message-signalled write over PCIe, and the kernel's entry",
    },
    Cost {
        name: "wake-up of a sleeper",
        of: |costs| costs.wake_up_ns,
        source: "assumed: the scheduler, and a switch to a thread on an idle core",
    },
    Cost {
        name: "cache miss",
        of: |costs| costs.cache_miss_ns,
        source: "assumed: a last-level cache, into which the card writes",
    },
];
