//! The card's clock, in the host's time: when what a report tells had come.
//!
//! The clock is read once in [`FRESH_NS`] of use, and goes on by its nominal rate in between. What it says is wrong by half the time of
//! a read and by the drift of two oscillators over that time: below 2 µs with reads of 1 µs and 100 ppm.

use weft_engine::{Arrived, ARRIVAL_BITS, ARRIVAL_UNIT_LOG2 as UNIT_LOG2};
use weft_layout::registers;

use crate::error::DeviceError;
use crate::mmio::Mmio;

const MASK: u64 = (1 << ARRIVAL_BITS) - 1;
/// So long a reading is good for.
const FRESH_NS: u64 = 10_000_000;
/// A reading that took longer says too little: the host did something else meanwhile.
const SLOW_NS: u64 = 4_000;
/// Readings until one is quick.
const TRIES: u32 = 3;

/// The clock as it was last read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// When, in the host's time.
    at: u64,
    cycles: u64,
}

#[derive(Debug)]
pub(super) struct Clock {
    khz: u64,
    /// `None`: it was not read yet, or the card has none.
    reading: Option<Reading>,
    /// The card has no clock.
    absent: bool,
    /// The next report came no earlier: then there was none, or the one before it came.
    since: u64,
}

impl Clock {
    pub(super) fn new(mmio: &Mmio) -> Result<Self, DeviceError> {
        Ok(Self {
            khz: mmio.read(registers::CLOCK_KHZ)?.into(),
            reading: None,
            absent: false,
            since: mmio.transport.now(),
        })
    }

    /// There is no report.
    pub(super) fn found_nothing(&mut self, now: u64) {
        self.since = now;
    }

    /// When that came which a report names so, in the host's time.
    pub(super) fn arrived(
        &mut self,
        mmio: &Mmio,
        now: u64,
        arrival: u32,
    ) -> Result<Arrived, DeviceError> {
        if self.absent || self.khz == 0 {
            return Ok(Arrived::Now);
        }
        let fresh = |reading: &Reading| now.saturating_sub(reading.at) < FRESH_NS;
        if !self.reading.as_ref().is_some_and(fresh) {
            self.read(mmio)?;
        }
        let Some(reading) = self.reading.filter(|_| !self.absent) else {
            return Ok(Arrived::Now);
        };
        let arrived = reading.arrived(self.khz, self.since, now, arrival);
        if let Arrived::At(at) = arrived {
            self.since = self.since.max(at);
        }
        Ok(arrived)
    }

    fn read(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        for _ in 0..TRIES {
            let before = mmio.transport.now();
            // Reading the low half keeps the high one.
            let low = mmio.read(registers::TIME_LO)?;
            let after = mmio.transport.now();
            let high = mmio.read(registers::TIME_HI)?;
            let cycles = u64::from(high) << 32 | u64::from(low);
            self.absent = cycles == 0;
            let at = before + (after - before) / 2;
            self.reading = Some(Reading { at, cycles });
            if after - before <= SLOW_NS {
                break;
            }
        }
        Ok(())
    }
}

impl Reading {
    /// Of a report that is taken at `now` and came after `since`. If the field may have wrapped since then, nobody knows when.
    fn arrived(&self, khz: u64, since: u64, now: u64, arrival: u32) -> Arrived {
        let nanos = |cycles: u64| (u128::from(cycles) * 1_000_000 / u128::from(khz)) as u64;
        let cycles = |ns: u64| (u128::from(ns) * u128::from(khz) / 1_000_000) as u64;
        let span = nanos((MASK + 1) << UNIT_LOG2);
        if now.saturating_sub(since) >= span / 2 {
            return Arrived::Unknown;
        }
        // The unit that it is now.
        let present = match now.checked_sub(self.at) {
            Some(since) => self.cycles.wrapping_add(cycles(since)),
            None => self.cycles.wrapping_sub(cycles(self.at - now)),
        } >> UNIT_LOG2;
        let age = present.wrapping_sub(arrival.into()) & MASK;
        if age > MASK / 2 {
            // The two clocks differ by a little, and it came just now.
            return Arrived::At(now);
        }
        Arrived::At(now.saturating_sub(nanos(age << UNIT_LOG2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KHZ: u64 = 250_000;
    const MS: u64 = 1_000_000;

    /// A card whose clock began 1 s before the host's: what its report would say of `at`, or of a little later.
    fn named(at: u64) -> u32 {
        ((((at + 1000 * MS) / 4) >> UNIT_LOG2) & MASK) as u32
    }

    fn reading(at: u64) -> Reading {
        Reading {
            at,
            cycles: (at + 1000 * MS) / 4,
        }
    }

    #[test]
    fn a_report_is_as_old_as_its_arrival_says() {
        for now in [5 * MS, 77 * MS, 540 * MS, 9_000 * MS] {
            for age in [0, 100, 2_000, 3 * MS, 200 * MS] {
                let age = age.min(now);
                let reading = reading(now.saturating_sub(MS));
                let since = now.saturating_sub(250 * MS);
                let Arrived::At(at) = reading.arrived(KHZ, since, now, named(now - age)) else {
                    panic!("known: {now} {age}");
                };
                let off = (now - age).abs_diff(at);
                assert!(off <= 32, "{age} ns ago is taken for {} ns ago", now - at);
            }
        }
    }

    #[test]
    fn after_a_long_absence_nobody_knows() {
        let now = 2_000 * MS;
        let late = reading(now).arrived(KHZ, now - 300 * MS, now, named(now - 290 * MS));
        assert_eq!(late, Arrived::Unknown);
    }

    #[test]
    fn nothing_comes_from_the_future() {
        let now = 50 * MS;
        let drift = reading(now).arrived(KHZ, now - MS, now, named(now + 900));
        assert_eq!(drift, Arrived::At(now));
    }
}
