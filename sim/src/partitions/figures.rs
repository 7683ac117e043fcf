//! What a load cost at a rung.

use serde::Serialize;
use weft_hostdrv::Device;
use weft_layout::ProcInfo;

use super::steady::{Latencies, Steady, PARTS};
use crate::fabric::Fabric;
use crate::host::HostUse;
use crate::link::Waits;
use crate::transport::lock;

/// What one end has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Register reads of the host.
    pub mmio_reads: u64,
    /// Register, doorbell and push-window writes of the host.
    pub mmio_writes: u64,
    /// Reads of host memory by the card, a burst being one.
    pub dma_reads: u64,
    /// Writes of it.
    pub dma_writes: u64,
    /// Bytes that it read.
    pub dma_read_bytes: u64,
    /// Bytes that it wrote.
    pub dma_written_bytes: u64,
    /// Interrupts that the host took.
    pub interrupts: u64,
    /// Calls of the engine.
    pub engine_steps: u64,
    /// Bytes that the host has copied: frames out of their slots, and what the engine copies.
    pub bytes_copied: u64,
    /// Bytes over which the host has computed a CRC32C.
    pub bytes_checked: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the congestion window that were taken back, because nothing was lost.
    pub taken_back: u64,
    /// Instructions of the firmware, if it has the engine.
    pub firmware_instructions: u64,
    /// Cycles that its processor was awake.
    pub firmware_cycles: u64,
    /// Bytes that the firmware has copied: frames that it fetched, and what its engine copies.
    pub firmware_bytes_copied: u64,
    /// Bytes over which it has computed a CRC32C.
    pub firmware_bytes_checked: u64,
}

/// What a device's firmware has counted so far, modulo 2^32, and the cycles of its processor.
fn firmware(device: &Device) -> Option<(ProcInfo, u64)> {
    let processor = device.processor()?;
    let info = processor.info().ok()??;
    Some((info, processor.state().ok()?.awake))
}

impl Counts {
    /// So far.
    pub fn of(fabric: &Fabric, number: usize) -> Self {
        let device = fabric.device(number);
        let (host, engine) = (device.host_stats(), device.engine_stats());
        let (info, firmware_cycles) = firmware(device).unwrap_or_default();
        let mut world = lock(fabric.world());
        let iommu = world.iommu(number);
        let (dma_reads, dma_writes) = iommu.transactions();
        let (dma_read_bytes, dma_written_bytes) = iommu.bytes();
        Self {
            mmio_reads: host.mmio_reads,
            mmio_writes: host.mmio_writes,
            dma_reads,
            dma_writes,
            dma_read_bytes,
            dma_written_bytes,
            interrupts: host.interrupts,
            engine_steps: host.engine_steps,
            bytes_copied: engine.bytes_copied + host.frame_bytes_received,
            bytes_checked: engine.bytes_checked,
            retransmits: engine.retransmits + u64::from(info.again),
            timeouts: engine.timeouts,
            taken_back: engine.recoveries_undone,
            firmware_instructions: info.instructions.into(),
            firmware_cycles,
            firmware_bytes_copied: info.copied.into(),
            firmware_bytes_checked: info.checked.into(),
        }
    }

    fn each(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            mmio_reads: with(self.mmio_reads, other.mmio_reads),
            mmio_writes: with(self.mmio_writes, other.mmio_writes),
            dma_reads: with(self.dma_reads, other.dma_reads),
            dma_writes: with(self.dma_writes, other.dma_writes),
            dma_read_bytes: with(self.dma_read_bytes, other.dma_read_bytes),
            dma_written_bytes: with(self.dma_written_bytes, other.dma_written_bytes),
            interrupts: with(self.interrupts, other.interrupts),
            engine_steps: with(self.engine_steps, other.engine_steps),
            bytes_copied: with(self.bytes_copied, other.bytes_copied),
            bytes_checked: with(self.bytes_checked, other.bytes_checked),
            retransmits: with(self.retransmits, other.retransmits),
            timeouts: with(self.timeouts, other.timeouts),
            taken_back: with(self.taken_back, other.taken_back),
            firmware_instructions: with(self.firmware_instructions, other.firmware_instructions),
            firmware_cycles: with(self.firmware_cycles, other.firmware_cycles),
            firmware_bytes_copied: with(self.firmware_bytes_copied, other.firmware_bytes_copied),
            firmware_bytes_checked: with(self.firmware_bytes_checked, other.firmware_bytes_checked),
        }
    }

    /// Since then.
    pub fn since(self, before: &Self) -> Self {
        // What the firmware counts begins anew after 2^32.
        let modulo = |now: u64, then: u64| u64::from((now as u32).wrapping_sub(then as u32));
        Self {
            firmware_instructions: modulo(self.firmware_instructions, before.firmware_instructions),
            firmware_bytes_copied: modulo(self.firmware_bytes_copied, before.firmware_bytes_copied),
            firmware_bytes_checked: modulo(
                self.firmware_bytes_checked,
                before.firmware_bytes_checked,
            ),
            ..self.each(*before, u64::wrapping_sub)
        }
    }

    /// Of both.
    pub fn and(self, other: Self) -> Self {
        self.each(other, |one, two| one + two)
    }
}

/// What was moved, in what time.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Messages; an echo and its answer are one.
    pub messages: usize,
    /// Bytes of them, answers included.
    pub bytes: u64,
    /// Simulated time of all.
    pub time_ns: u64,
    /// Messages under way at a time.
    pub in_flight: usize,
}

/// What a load cost at a rung.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Messages; an echo and its answer are one.
    pub messages: usize,
    /// Bytes of them, answers included.
    pub bytes: u64,
    /// Simulated time of all.
    pub time_ns: u64,
    /// Gb/s of message bytes.
    pub gbps: f64,
    /// Messages a second.
    pub messages_per_second: f64,
    /// Latencies in nanoseconds at [`PARTS`]: from the post to the completion, of an echo to the receive of its answer.
    /// `None`: too few messages for it.
    pub latency_ns: [Option<u64>; PARTS.len()],
    /// All of them, in their order.
    #[serde(skip)]
    pub took_ns: Vec<u64>,
    /// The same without the warm-up and the end; `None`: the run has no more than these.
    pub steady: Option<Steady>,
    /// The end that posts, and the other one.
    pub ends: [Counts; 2],
    /// Frames that each end sent.
    pub frames: [u64; 2],
    /// Frames of these that the network lost, or had no room for.
    pub lost: [u64; 2],
    /// What they took of the wire, preamble, FCS and gap included.
    pub wire_bytes: [u64; 2],
    /// Both together, for each message.
    pub per_message: Each,
    /// For each byte of a message; `None`: there are none.
    pub per_byte: Option<Each>,
    /// What each end's host was charged, if software takes time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<[HostFigures; 2]>,
}

/// What a host was charged.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HostFigures {
    /// What it was used for.
    #[serde(flatten)]
    pub used: HostUse,
    /// Instructions for each message.
    pub instructions_per_message: f64,
    /// Cores that were busy, looks that found nothing left out.
    pub cores: f64,
    /// Cores that would be at the link's rate, were each message to cost what it did.
    pub cores_at_line: f64,
}

impl HostFigures {
    /// Of a host that was used so.
    pub fn new(used: HostUse, figures: &Figures, gbps: u64) -> Self {
        let cores = used.busy_ns / figures.time_ns.max(1) as f64;
        Self {
            used,
            instructions_per_message: used.instructions / figures.messages.max(1) as f64,
            cores,
            cores_at_line: match figures.gbps > 0.0 {
                true => cores * gbps as f64 / figures.gbps,
                false => 0.0,
            },
        }
    }
}

/// Counts for each of something.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Each {
    /// Register reads.
    pub mmio_reads: f64,
    /// Register, doorbell and push-window writes.
    pub mmio_writes: f64,
    /// Reads of host memory by the cards.
    pub dma_reads: f64,
    /// Writes of it.
    pub dma_writes: f64,
    /// Bytes read.
    pub dma_read_bytes: f64,
    /// Bytes written.
    pub dma_written_bytes: f64,
    /// Interrupts.
    pub interrupts: f64,
    /// Calls of the engines.
    pub engine_steps: f64,
    /// Bytes copied by the hosts.
    pub bytes_copied: f64,
    /// Bytes of CRC computed by them.
    pub bytes_checked: f64,
    /// Instructions of the firmware.
    pub firmware_instructions: f64,
    /// Cycles that its processor was awake.
    pub firmware_cycles: f64,
    /// Bytes copied by the firmware.
    pub firmware_bytes_copied: f64,
    /// Bytes of CRC computed by it.
    pub firmware_bytes_checked: f64,
}

impl Each {
    pub(super) fn of(counts: &Counts, of: u64) -> Self {
        let each = |count: u64| count as f64 / of as f64;
        Self {
            mmio_reads: each(counts.mmio_reads),
            mmio_writes: each(counts.mmio_writes),
            dma_reads: each(counts.dma_reads),
            dma_writes: each(counts.dma_writes),
            dma_read_bytes: each(counts.dma_read_bytes),
            dma_written_bytes: each(counts.dma_written_bytes),
            interrupts: each(counts.interrupts),
            engine_steps: each(counts.engine_steps),
            bytes_copied: each(counts.bytes_copied),
            bytes_checked: each(counts.bytes_checked),
            firmware_instructions: each(counts.firmware_instructions),
            firmware_cycles: each(counts.firmware_cycles),
            firmware_bytes_copied: each(counts.firmware_bytes_copied),
            firmware_bytes_checked: each(counts.firmware_bytes_checked),
        }
    }
}

impl Figures {
    /// From what was counted.
    pub fn new(moved: Moved, latencies: &Latencies, ends: [Counts; 2], wires: [Waits; 2]) -> Self {
        let Moved {
            messages,
            bytes,
            time_ns,
            in_flight,
        } = moved;
        let both = ends[0].and(ends[1]);
        Self {
            messages,
            bytes,
            time_ns,
            gbps: bytes as f64 * 8.0 / time_ns.max(1) as f64,
            messages_per_second: messages as f64 * 1e9 / time_ns.max(1) as f64,
            latency_ns: latencies.parts(),
            took_ns: latencies.took(),
            steady: latencies.steady(in_flight),
            ends,
            frames: wires.map(|wire| wire.frames),
            lost: wires.map(|wire| wire.lost + wire.dropped),
            wire_bytes: wires.map(|wire| wire.wire_bytes),
            per_message: Each::of(&both, messages as u64),
            per_byte: (bytes > 0).then(|| Each::of(&both, bytes)),
            hosts: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(messages: usize, bytes: u64, latencies: Latencies, ends: [Counts; 2]) -> Figures {
        let moved = Moved {
            messages,
            bytes,
            time_ns: 1000,
            in_flight: 1,
        };
        Figures::new(moved, &latencies, ends, [Waits::default(); 2])
    }

    /// The firmware's counts are of 32 bits.
    #[test]
    fn what_firmware_counts_may_begin_anew() {
        let at = |count| Counts {
            mmio_writes: 1,
            firmware_instructions: count,
            firmware_bytes_copied: count,
            firmware_bytes_checked: count,
            ..Counts::default()
        };
        let since = at(6).since(&at(u64::from(u32::MAX) - 3));
        assert_eq!((since.firmware_instructions, since.mmio_writes), (10, 0));
        let bytes = (since.firmware_bytes_copied, since.firmware_bytes_checked);
        assert_eq!(bytes, (10, 10));
    }

    #[test]
    fn both_ends_count() {
        let end = |n| Counts {
            mmio_writes: n,
            bytes_copied: 100 * n,
            ..Counts::default()
        };
        let none = figures(2, 0, Latencies::default(), [end(1), end(3)]);
        assert!(none.per_byte.is_none());
        let figures = figures(2, 400, Latencies::default(), [end(1), end(3)]);
        assert_eq!(figures.per_message.mmio_writes, 2.0);
        assert_eq!(figures.per_byte.map(|each| each.bytes_copied), Some(1.0));
    }
}
