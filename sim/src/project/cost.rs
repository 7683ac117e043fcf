//! What a message costs, measured: of one by itself, of the load as it is, and of as many as go where the line limits nothing.

use serde::Serialize;
use weft_hostdrv::Rung;

use super::stations::Instructions;
use crate::partitions::run::{run, Place};
use crate::partitions::workload::Load;
use crate::partitions::PartitionsError;

/// A line that limits nothing.
const NO_LIMIT_GBPS: u64 = 100_000;
/// Messages of the run with one under way.
const ALONE: usize = 50;
/// The most that may be under way, in bytes, so that a run's memory is bounded.
const MOST: usize = 4 << 20;

/// One end's share of a message.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct End {
    /// Bytes that its card reads from host memory.
    pub read_bytes: f64,
    /// In so many accesses.
    pub reads: f64,
    /// Bytes that it writes.
    pub written_bytes: f64,
    /// In so many.
    pub writes: f64,
    /// Register, doorbell and push-window writes of its host.
    pub mmio_writes: f64,
    /// Frames that it sends.
    pub frames: f64,
    /// What they take of the wire.
    pub wire_bytes: f64,
}

/// What a message of a load costs at a rung. Of an echo, both ways together.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Bytes of a message, on average.
    pub bytes: f64,
    /// How long one takes that is by itself: half of them take longer.
    pub unloaded_ns: f64,
    /// Rate of the line at which that was measured.
    pub unloaded_gbps: u64,
    /// Time of the slowest part of the two cards, from the rate where the line limits nothing; if the load as it is was faster, from that.
    pub card_ns: f64,
    /// The end that posts, and the other one.
    pub ends: [End; 2],
    /// Messages under way on a connection, as the load has it.
    pub depth: u64,
    /// What the host's software takes; `None`: not counted for this rung.
    pub instructions: Option<Instructions>,
}

/// Measures it.
pub fn measure(place: Place, rung: Rung, load: &Load) -> Result<Cost, PartitionsError> {
    let alone = Load {
        depth: 1,
        connections: 1,
        messages: load.messages.min(ALONE),
        ..load.clone()
    };
    let alone = run(place, rung, &alone)?;
    let usual = run(place, rung, load)?;
    let largest = load.sizes.iter().copied().max().unwrap_or(0).max(1);
    let many = Load {
        depth: (MOST / largest).clamp(1, 32),
        connections: 2,
        ..load.clone()
    };
    let gbps = NO_LIMIT_GBPS;
    let many = run(Place { gbps, ..place }, rung, &many)?;
    let each = |count: u64| count as f64 / load.messages as f64;
    let end = |n: usize| {
        let counts = &usual.ends[n];
        End {
            read_bytes: each(counts.dma_read_bytes),
            reads: each(counts.dma_reads),
            written_bytes: each(counts.dma_written_bytes),
            writes: each(counts.dma_writes),
            mmio_writes: each(counts.mmio_writes),
            frames: each(usual.frames[n]),
            wire_bytes: each(usual.wire_bytes[n]),
        }
    };
    Ok(Cost {
        bytes: each(usual.bytes),
        unloaded_ns: alone.latency_ns[0].unwrap_or(0) as f64,
        unloaded_gbps: place.gbps,
        // Where a receiver is slower than its sender, a line without a limit makes it lose frames: then the usual run was faster.
        card_ns: each(many.time_ns.min(usual.time_ns)),
        ends: [end(0), end(1)],
        depth: load.depth as u64,
        instructions: Instructions::of(rung),
    })
}
