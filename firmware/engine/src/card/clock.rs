//! The time of a clock of so many kHz, in nanoseconds; and when a report's frame had come, where that clock is the card's.

use weft_layout::{FrameReport, PlacedReport, ReportKind, SegmentReport};

use crate::card::card_times::Arrived;

/// Cycles of a unit of a report's arrival, as log2.
pub const ARRIVAL_UNIT_LOG2: u32 = 3;
/// Where each report of a frame says when that came.
const AT: usize = SegmentReport::ARRIVAL_AT;
const _: () = assert!(PlacedReport::ARRIVAL_AT == AT && FrameReport::ARRIVAL_AT == AT);
/// Bits of a report's arrival.
pub const ARRIVAL_BITS: u32 = 24;

/// When what a report tells had come, in units of the card's clock, if it is of a frame.
pub fn arrival(report: &[u8; SegmentReport::SIZE]) -> Option<u32> {
    match ReportKind::from_raw(report[SegmentReport::KIND_AT])? {
        ReportKind::Segment | ReportKind::Placed | ReportKind::Frame => {
            let b = &report[AT..];
            Some(u32::from_le_bytes([b[0], b[1], b[2], 0]))
        }
        ReportKind::Fpdu | ReportKind::Job | ReportKind::Replay => None,
    }
}

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

    /// When that came which a report names so, if this is the card's clock. The report is taken at cycle `now`, and came no earlier than `since`,
    /// which goes on to when it came. Where the field may have gone round since then, nobody knows.
    pub fn arrived(&self, arrival: u32, since: &mut u64, now: u64) -> Arrived {
        let unit = now >> ARRIVAL_UNIT_LOG2;
        if unit.saturating_sub(*since >> ARRIVAL_UNIT_LOG2) >> ARRIVAL_BITS > 0 {
            *since = now;
            return Arrived::Unknown;
        }
        let age = unit.wrapping_sub(arrival.into()) & ((1 << ARRIVAL_BITS) - 1);
        let at = unit.saturating_sub(age) << ARRIVAL_UNIT_LOG2;
        *since = at.max(*since);
        Arrived::At(self.nanoseconds(at))
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

    /// A report is as old as its arrival says, over all wraps of the field; behind an absence in which it may have wrapped nobody knows.
    #[test]
    fn a_report_came_when_its_arrival_says() {
        const WRAP: u64 = 1 << (ARRIVAL_UNIT_LOG2 + ARRIVAL_BITS);
        let clock = Clock::new(250_000);
        let named = |cycles: u64| (cycles >> ARRIVAL_UNIT_LOG2) as u32 & ((1 << ARRIVAL_BITS) - 1);
        for now in [10_000, WRAP - 3, WRAP, WRAP + 5, 7 * WRAP + 12_345, 1 << 50] {
            for age in [0, 7, 900, 10_000, 1 << 20, WRAP - 16] {
                let came = now.max(age) - age;
                let mut since = came.saturating_sub(8);
                let at = clock.arrived(named(came), &mut since, now.max(age));
                let Arrived::At(at) = at else {
                    panic!("known: {now} {age}");
                };
                let off = clock.nanoseconds(came) - at;
                assert!(off < 32, "{off} ns: {now} {age}");
                assert!(since <= came && came - since <= 8, "{now} {age}");
            }
            let mut since = now;
            let late = now + WRAP;
            let unknown = clock.arrived(named(late - 80), &mut since, late);
            assert_eq!((unknown, since), (Arrived::Unknown, late));
            let known = clock.arrived(named(late), &mut since, late + 80);
            assert_ne!(known, Arrived::Unknown, "the next one is known");
        }
    }

    /// Reports of frames say when these came, others nothing.
    #[test]
    fn what_is_no_frame_has_no_arrival() {
        let mut report = [0; SegmentReport::SIZE];
        report[AT..][..3].copy_from_slice(&[1, 2, 3]);
        for (kind, expected) in [
            (ReportKind::Segment, Some(0x03_0201)),
            (ReportKind::Placed, Some(0x03_0201)),
            (ReportKind::Frame, Some(0x03_0201)),
            (ReportKind::Fpdu, None),
            (ReportKind::Job, None),
            (ReportKind::Replay, None),
        ] {
            report[SegmentReport::KIND_AT] = kind as u8;
            assert_eq!(arrival(&report), expected);
        }
        report[SegmentReport::KIND_AT] = 0xff;
        assert_eq!(arrival(&report), None);
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
