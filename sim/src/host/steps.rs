//! The steps of a host's software, and the instructions of each: counted by callgrind (`cargo bench -p weft-sim --bench host_steps`).

use super::Done;

/// A step.
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Instructions of one.
    pub instructions: f64,
    /// How many there were.
    pub count: fn(&Done) -> u64,
}

impl Step {
    /// The instructions of all of them that were done.
    pub fn of(&self, done: &Done) -> f64 {
        self.instructions * (self.count)(done) as f64
    }
}

const fn step(name: &'static str, instructions: f64, count: fn(&Done) -> u64) -> Step {
    Step {
        name,
        instructions,
        count,
    }
}

/// A look at a device that finds nothing.
pub(super) const EMPTY_LOOK: f64 = STEPS[0].instructions;

/// FPDUs that the card placed.
fn placed(done: &Done) -> u64 {
    done.fpdus.saturating_sub(done.fpdus_checked)
}

/// All of them.
pub const STEPS: [Step; 26] = [
    step("look that finds nothing", 1542.0, |done| done.looks),
    step("send posted", 4615.0, |done| done.sends),
    step("receive posted", 2161.0, |done| done.receives),
    step("poll that finds", 242.0, |done| done.polls),
    step("turn of the device", 2078.0, |done| done.turns),
    step("report of a placed FPDU", 154.0, placed),
    step("report of a segment", 1681.0, |done| {
        done.reports.saturating_sub(placed(done))
    }),
    step("acknowledgment that comes with data", 1700.0, |done| {
        done.acks_with_data
    }),
    step("segment on the slow path", 1121.0, |done| {
        done.slow_segments
    }),
    step("raw segment", 700.0, |done| done.raw_segments),
    step("completion made", 517.0, |done| done.completions),
    step("job with data", 1048.0, |done| {
        done.jobs.saturating_sub(done.acks)
    }),
    step("acknowledgment", 1553.0, |done| done.acks),
    step("FPDU made by the host", 1462.0, |done| done.fpdus_made),
    step("segment sent again", 12_440.0, |done| done.retransmits),
    step("listener made", 5430.0, |done| done.listens),
    step("connection asked for", 29_400.0, |done| done.connects),
    step("connection accepted", 26_000.0, |done| done.accepts),
    step("connection closed", 4080.0, |done| done.disconnects),
    step("queue pair and identifier given back", 11_800.0, |done| {
        done.given_back
    }),
    step("memory registered or given back", 4700.0, |done| {
        done.registrations
    }),
    step("row of a table", 1400.0, |done| done.table_rows),
    step("stream asked for, begin and end", 24_600.0, |done| {
        done.streams_asked
    }),
    step("stream accepted, begin and end", 29_700.0, |done| {
        done.streams_accepted
    }),
    step("byte copied", 0.32, |done| done.bytes_copied),
    step("byte of CRC", 4.12, |done| done.bytes_checked),
];
