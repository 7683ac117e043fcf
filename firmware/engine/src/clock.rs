//! The time of a clock of so many kHz, in nanoseconds.

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;

/// A clock that counts cycles.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    khz: u32,
    /// Nanoseconds of a cycle, in parts of 2^32.
    pace: u64,
}

impl Clock {
    /// Of so many kHz; none is one.
    pub fn new(khz: u32) -> Self {
        let khz = khz.max(1);
        Clock {
            khz,
            pace: (MS << 32) / u64::from(khz),
        }
    }

    /// The time after so many cycles: never back, late by a part in 10^10 at most, and good for 584 years.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        let exact = (u128::from(cycles) * u128::from(self.pace)) >> 32;
        u64::try_from(exact).unwrap_or(u64::MAX)
    }

    /// Cycles until so many nanoseconds have passed, at least one and `most` at most.
    pub fn cycles(&self, nanoseconds: u64, most: u32) -> u32 {
        let exact = (u128::from(nanoseconds) << 32).div_ceil(u128::from(self.pace.max(1)));
        u32::try_from(exact).unwrap_or(most).clamp(1, most)
    }

    /// Its kHz.
    pub fn khz(&self) -> u32 {
        self.khz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u32; 9] = [
        1, 1000, 62_500, 83_333, 100_000, 156_250, 250_000, 322_266, 4_000_000,
    ];
    const DAY: u64 = 24 * 3600 * 1000 * MS;

    /// Over years the time is that of a division without rounding, but for a part in 10^10.
    #[test]
    fn it_does_not_overflow() {
        for khz in RATES {
            let clock = Clock::new(khz);
            let mut before = 0;
            for days in [0, 1, 24, 49, 207, 208, 209, 213, 400, 10_000, 200_000] {
                let exact = u128::from(days * DAY);
                let cycles = exact * u128::from(khz) / u128::from(MS);
                let Ok(cycles) = u64::try_from(cycles) else {
                    continue;
                };
                let at = clock.nanoseconds(cycles);
                let late = (u128::from(cycles) * u128::from(MS) / u128::from(khz)) - u128::from(at);
                assert!(
                    late <= exact / 1_000_000_000 + 1,
                    "{khz} kHz, {days} days: {late} ns"
                );
                assert!(at >= before, "{khz} kHz, {days} days");
                before = at;
            }
            assert_eq!(clock.khz(), khz);
        }
    }

    /// Around the edges of words it goes on by a cycle's time, and never back.
    #[test]
    fn it_goes_on_at_the_edges() {
        for khz in RATES {
            let clock = Clock::new(khz);
            let cycle = MS.div_ceil(khz.into());
            for edge in [
                1 << 32,
                1 << 44,
                1 << 52,
                (1 << 54) + 7,
                u64::MAX / MS * u64::from(khz.min(1000)),
            ] {
                for cycles in edge - 3..edge + 3 {
                    let (one, next) = (clock.nanoseconds(cycles), clock.nanoseconds(cycles + 1));
                    assert!(next >= one && next - one <= cycle, "{khz} kHz, {cycles}");
                }
            }
        }
        assert_eq!(
            Clock::new(1).nanoseconds(u64::MAX),
            u64::MAX,
            "the end of time"
        );
    }

    /// Who sleeps so many cycles wakes when it is time, and no earlier.
    #[test]
    fn a_sleep_is_long_enough() {
        for khz in RATES {
            let clock = Clock::new(khz);
            for wait in [
                0,
                1,
                999,
                MS,
                999 * MS,
                8_000 * MS,
                DAY,
                300 * DAY,
                u64::MAX,
            ] {
                let cycles = clock.cycles(wait, 1 << 31);
                assert!((1..=1 << 31).contains(&cycles));
                let enough = clock.nanoseconds(cycles.into()) >= wait;
                assert!(enough || cycles == 1 << 31, "{khz} kHz, {wait} ns");
            }
        }
    }
}
