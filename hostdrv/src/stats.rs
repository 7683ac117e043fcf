//! What host and card count.

use std::ops::Index;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_layout::{Counter, NUM_COUNTERS};

/// The card's counters, read one after the other. They are 32 bits wide and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardCounters(pub(crate) [u32; NUM_COUNTERS]);

impl CardCounters {
    /// The counter of this name (`rx_frames`), if there is one.
    pub fn get(&self, name: &str) -> Option<u32> {
        counter_named(name).map(|counter| self[counter])
    }

    /// Name and value of each, in the card's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        Counter::ALL
            .iter()
            .map(|counter| (counter.name(), self[*counter]))
    }

    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &CardCounters) -> CardCounters {
        let mut difference = *self;
        for (value, before) in difference.0.iter_mut().zip(earlier.0) {
            *value = value.wrapping_sub(before);
        }
        difference
    }
}

impl Index<Counter> for CardCounters {
    type Output = u32;
    fn index(&self, counter: Counter) -> &u32 {
        &self.0[counter as usize]
    }
}

/// The counter of this name.
pub(crate) fn counter_named(name: &str) -> Option<Counter> {
    Counter::ALL.iter().copied().find(|c| c.name() == name)
}

macro_rules! host_stats {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// What the driver counts on its side of the bus; everything since the device was opened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct HostStats { $($(#[$doc])* pub $name: u64,)* }

        impl HostStats {
            /// Name and value of each.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// What was counted since `earlier`.
            pub fn since(&self, earlier: &HostStats) -> HostStats {
                HostStats { $($name: self.$name - earlier.$name,)* }
            }
        }

        /// The live counts.
        #[derive(Debug, Default)]
        pub(crate) struct HostCounts { $(pub(crate) $name: AtomicU64,)* }

        impl HostCounts {
            pub(crate) fn snapshot(&self) -> HostStats {
                HostStats { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

host_stats! {
    /// Register reads.
    mmio_reads,
    /// Register and doorbell writes.
    mmio_writes,
    /// Doorbells of these.
    doorbells,
    /// Bytes of DMA memory allocated and mapped, rings and receive queues included.
    dma_bytes_allocated,
    /// Jobs given to the card.
    jobs,
    /// Jobs of these that were written into the card's push window.
    jobs_pushed,
    /// Raw-frame jobs of these.
    frames_sent,
    /// Reports taken from the card.
    reports,
    /// Raw frames taken from the card.
    frames_received,
    /// Their bytes, copied out of their slots.
    frame_bytes_received,
    /// Bytes that the engine wrote into memory that the card sees: what it placed because the card did not, and segments that it made.
    bytes_copied_in,
    /// Table rows written or read.
    table_accesses,
    /// Times the driver waited for an interrupt.
    waits,
    /// Interrupts seen.
    interrupts,
    /// Calls of the engine.
    engine_steps,
    /// Messages whose end was told, by a CQE or without one.
    completions,
    /// Calls of `progress`, but for those of the thread that drives the device.
    progress_calls,
}

/// Adds to a count.
pub(crate) fn add(count: &AtomicU64, n: u64) {
    count.fetch_add(n, Ordering::Relaxed);
}
