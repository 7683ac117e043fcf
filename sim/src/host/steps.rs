//! The steps of a host's software, and the instructions of each: counted by callgrind (`cargo bench -p weft-sim --bench host_steps`).

use super::Done;

/// A step.
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Instructions of one.
    pub instructions: f64,
    /// How many there were.
    pub of: fn(&Done) -> u64,
}

/// A look at a device that finds nothing.
pub(super) const EMPTY_POLL: f64 = 300.0;

/// All of them.
pub const STEPS: [Step; 9] = [
    Step {
        name: "post",
        instructions: 74.0,
        of: |done| done.posts,
    },
    Step {
        name: "poll that finds",
        instructions: 75.0,
        of: |done| done.polls,
    },
    Step {
        name: "turn of the device",
        instructions: 1450.0,
        of: |done| done.turns,
    },
    Step {
        name: "report",
        instructions: 400.0,
        of: |done| done.reports,
    },
    Step {
        name: "raw segment",
        instructions: 4160.0,
        of: |done| done.raw_segments,
    },
    Step {
        name: "job",
        instructions: 300.0,
        of: |done| done.jobs,
    },
    Step {
        name: "retransmission",
        instructions: 1000.0,
        of: |done| done.retransmits,
    },
    Step {
        name: "byte copied",
        instructions: 0.8,
        of: |done| done.bytes_copied,
    },
    Step {
        name: "byte of CRC",
        instructions: 3.9,
        of: |done| done.bytes_checked,
    },
];
