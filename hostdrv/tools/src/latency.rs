//! How long things took.

use std::fmt;

use serde::Serialize;

/// A summary of durations, in nanoseconds of the device's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// How many were measured.
    pub count: usize,
    /// The shortest.
    pub min_ns: u64,
    /// Half of them took no longer.
    pub median_ns: u64,
    /// 99 of 100 took no longer.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Their mean.
    pub mean_ns: u64,
}

impl Latency {
    /// The summary; `None` if there is nothing to sum up. Sorts.
    pub fn of(durations: &mut [u64]) -> Option<Self> {
        durations.sort_unstable();
        let count = durations.len();
        let (min, max) = (*durations.first()?, *durations.last()?);
        let sum: u128 = durations.iter().map(|d| u128::from(*d)).sum();
        // The smallest value that so many per cent do not exceed.
        let percentile = |percent: usize| durations[(count * percent).div_ceil(100).max(1) - 1];
        Some(Self {
            count,
            min_ns: min,
            median_ns: percentile(50),
            p99_ns: percentile(99),
            max_ns: max,
            mean_ns: (sum / count as u128) as u64,
        })
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |ns: u64| ns as f64 / 1000.0;
        write!(
            f,
            "min {:.3} median {:.3} 99% {:.3} max {:.3} µs",
            us(self.min_ns),
            us(self.median_ns),
            us(self.p99_ns),
            us(self.max_ns)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut durations: Vec<u64> = (1..=200).rev().collect();
        let latency = Latency::of(&mut durations).expect("there are some");
        assert_eq!((latency.min_ns, latency.max_ns), (1, 200));
        assert_eq!((latency.median_ns, latency.p99_ns), (100, 198));
        assert_eq!(latency.mean_ns, 100);
        assert_eq!(Latency::of(&mut []), None);
        let one = Latency::of(&mut [7]).expect("there is one");
        assert_eq!((one.median_ns, one.p99_ns), (7, 7));
    }
}
