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

/// All of them.
pub const STEPS: [Step; 17] = [
    step("look that finds nothing", 300.0, |done| done.looks),
    step("send posted", 800.0, |done| done.sends),
    step("receive posted", 150.0, |done| done.receives),
    step("poll that finds", 75.0, |done| done.polls),
    step("turn of the device", 500.0, |done| done.turns),
    step("report", 300.0, |done| done.reports),
    step("FPDU placed by the card", 100.0, |done| done.fpdus),
    step("raw segment", 3000.0, |done| done.raw_segments),
    step("raw segment held in its slot", 500.0, |done| {
        done.held_segments
    }),
    step("job", 250.0, |done| done.jobs),
    step("FPDU made by the host", 500.0, |done| done.fpdus_made),
    step("segment sent again", 500.0, |done| done.retransmits),
    step("timer expired", 1000.0, |done| done.timers),
    step("flow given to the card", 1000.0, |done| done.attaches),
    step("replay", 1000.0, |done| done.replays),
    step("byte copied", 0.8, |done| done.bytes_copied),
    step("byte of CRC", 3.9, |done| done.bytes_checked),
];
