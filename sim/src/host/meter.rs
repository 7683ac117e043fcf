//! How often each step happened on a device: by the counts that driver and engine keep anyway.

use serde::Serialize;
use weft_hostdrv::Device;

use super::{HostConfig, STEPS};

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Work requests posted.
    pub posts: u64,
    /// Completions polled.
    pub polls: u64,
    /// Turns of the device that found something.
    pub turns: u64,
    /// Reports taken.
    pub reports: u64,
    /// Segments of these that came up raw.
    pub raw_segments: u64,
    /// Jobs given to the card.
    pub jobs: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Bytes copied.
    pub bytes_copied: u64,
    /// Bytes of CRC.
    pub bytes_checked: u64,
    /// MMIO writes.
    pub mmio_writes: u64,
    /// MMIO reads.
    pub mmio_reads: u64,
}

impl Done {
    /// By a device so far; posts, polls and turns are not the device's to count.
    pub fn of(device: &Device) -> Self {
        let (host, engine) = (device.host_stats(), device.engine_stats());
        Self {
            reports: host.reports,
            raw_segments: engine.segments_raw,
            jobs: host.jobs,
            retransmits: engine.retransmits,
            bytes_copied: engine.bytes_copied + host.frame_bytes_received,
            bytes_checked: engine.bytes_checked,
            mmio_writes: host.mmio_writes,
            mmio_reads: host.mmio_reads,
            ..Self::default()
        }
    }

    fn each(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            posts: with(self.posts, other.posts),
            polls: with(self.polls, other.polls),
            turns: with(self.turns, other.turns),
            reports: with(self.reports, other.reports),
            raw_segments: with(self.raw_segments, other.raw_segments),
            jobs: with(self.jobs, other.jobs),
            retransmits: with(self.retransmits, other.retransmits),
            bytes_copied: with(self.bytes_copied, other.bytes_copied),
            bytes_checked: with(self.bytes_checked, other.bytes_checked),
            mmio_writes: with(self.mmio_writes, other.mmio_writes),
            mmio_reads: with(self.mmio_reads, other.mmio_reads),
        }
    }

    /// Since then.
    pub fn since(self, before: Self) -> Self {
        self.each(before, u64::wrapping_sub)
    }

    /// Both.
    pub fn and(self, other: Self) -> Self {
        self.each(other, |one, two| one + two)
    }

    /// Its instructions.
    pub fn instructions(&self) -> f64 {
        let each = |step: &super::Step| step.instructions * (step.of)(self) as f64;
        STEPS.iter().map(each).sum()
    }

    /// Its time on a host, in nanoseconds.
    pub fn time_ns(&self, host: &HostConfig) -> f64 {
        let costs = &host.costs;
        host.instructions_ns(self.instructions())
            + costs.mmio_write_ns * self.mmio_writes as f64
            + costs.mmio_read_ns * self.mmio_reads as f64
            + costs.cache_miss_ns * (self.reports + self.polls) as f64
    }
}
