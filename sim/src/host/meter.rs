//! How often each step happened on a device: by the counts that driver and engine keep anyway.

use serde::{Deserialize, Serialize};
use weft_hostdrv::Device;

use super::{CostName, HostConfig, STEPS};

macro_rules! done {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Done { $($(#[$doc])* pub $name: u64,)* }

        impl Done {
            fn each(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
                Self { $($name: with(self.$name, other.$name),)* }
            }
        }
    };
}

done! {
    /// Sends, Writes and Reads posted.
    sends,
    /// Receives posted.
    receives,
    /// Completions polled.
    polls,
    /// Looks at the device that found nothing.
    looks,
    /// Turns of the device that found something.
    turns,
    /// Listeners made.
    listens,
    /// Connections asked for, each with its identifier and queue pair.
    connects,
    /// Connections accepted, each with its queue pair.
    accepts,
    /// Calls that close a connection.
    disconnects,
    /// Queue pairs given back, with their identifiers.
    given_back,
    /// Regions registered or given back.
    registrations,
    /// Rows of the card's tables written or read.
    table_rows,
    /// Streams that were asked for and are over: their begin and end in turns of the device.
    streams_asked,
    /// The same of streams that were accepted.
    streams_accepted,
    /// Reports taken.
    reports,
    /// FPDUs of these that the card received.
    fpdus,
    /// FPDUs of these that the card has only checked.
    fpdus_checked,
    /// Segments that were nothing for the fast path.
    slow_segments,
    /// Segments of these whose payload came up raw.
    raw_segments,
    /// Completions made.
    completions,
    /// Jobs given to the card.
    jobs,
    /// Jobs of these that acknowledge, without data.
    acks,
    /// Segments with data that found something of this end under way.
    acks_with_data,
    /// FPDUs made by the host.
    fpdus_made,
    /// Segments sent again.
    retransmits,
    /// Bytes copied.
    bytes_copied,
    /// Bytes of CRC.
    bytes_checked,
    /// MMIO writes.
    mmio_writes,
    /// MMIO reads.
    mmio_reads,
    /// Mappings in the IOMMU.
    mappings,
}

impl Done {
    /// By a device so far; posts, polls, calls, looks, turns and mappings are not the device's to count.
    pub fn of(device: &Device) -> Self {
        let (host, engine) = (device.host_stats(), device.engine_stats());
        Self {
            table_rows: host.table_accesses,
            reports: host.reports,
            fpdus: engine.fpdus_card,
            fpdus_checked: engine.fpdus_checked,
            slow_segments: engine.segments_slow,
            raw_segments: engine.segments_raw,
            completions: host.completions,
            jobs: host.jobs,
            acks: engine.acks_sent,
            acks_with_data: engine.acks_with_data,
            fpdus_made: engine.fpdus_made,
            retransmits: engine.retransmits,
            bytes_copied: engine.bytes_copied + host.frame_bytes_received,
            bytes_checked: engine.bytes_checked,
            mmio_writes: host.mmio_writes,
            mmio_reads: host.mmio_reads,
            ..Self::default()
        }
    }

    /// Since then.
    pub fn since(self, before: Self) -> Self {
        self.each(before, u64::wrapping_sub)
    }

    /// Both.
    pub fn and(self, other: Self) -> Self {
        self.each(other, u64::wrapping_add)
    }

    /// Its instructions.
    pub fn instructions(&self) -> f64 {
        STEPS.iter().map(|step| step.of(self)).sum()
    }

    /// Its time on a host, in nanoseconds.
    pub fn time_ns(&self, host: &HostConfig) -> f64 {
        let waits = [
            (CostName::MmioWrite, self.mmio_writes),
            (CostName::MmioRead, self.mmio_reads),
            (CostName::CacheMiss, self.reports + self.polls),
            (CostName::Mapping, self.mappings),
        ];
        let waits = waits.map(|(name, times)| host.costs.ns(name) as f64 * times as f64);
        host.instructions_ns(self.instructions()) + waits.iter().sum::<f64>()
    }
}
