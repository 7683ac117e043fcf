//! What is left of a run without its beginning and its end: the rate in a steady state.

use serde::Serialize;

/// Parts of 10 000 of a latency's distribution, and what they are called.
pub const PARTS: [(usize, &str); 6] = [
    (5_000, "p50"),
    (9_000, "p90"),
    (9_900, "p99"),
    (9_990, "p99.9"),
    (9_999, "p99.99"),
    (10_000, "max"),
];

/// A message that is done.
#[derive(Clone, Copy, Debug)]
struct Ended {
    at: u64,
    took: u64,
    bytes: u64,
}

/// The messages that are done, in their order.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<Ended>);

/// Each part of these latencies, nearest rank, as far as there are enough of them for it.
fn parts(mut all: Vec<u64>) -> [Option<u64>; PARTS.len()] {
    all.sort_unstable();
    PARTS.map(|(part, _)| {
        let beyond = all.len() * (10_000 - part);
        let is_there = part == 10_000 || part <= 5_000 || beyond >= 10_000;
        let rank = (all.len() * part).div_ceil(10_000);
        let at = rank.saturating_sub(1);
        all.get(at).copied().filter(|_| is_there)
    })
}

impl Latencies {
    /// One more message ended at this time, so many nanoseconds after its post.
    pub fn add(&mut self, at: u64, took: u64, bytes: u64) {
        self.0.push(Ended { at, took, bytes });
    }

    /// [`PARTS`] of all.
    pub(super) fn parts(&self) -> [Option<u64>; PARTS.len()] {
        parts(self.0.iter().map(|ended| ended.took).collect())
    }

    /// The steady state, if there is one. `in_flight` is how many were under way at a time.
    pub(super) fn steady(&self, in_flight: usize) -> Option<Steady> {
        // The first tenth is left out, and what was under way when the first one ended; then those that no post followed.
        let first = in_flight.max(self.0.len() / 10);
        let last = self.0.len().checked_sub(in_flight + 1)?;
        let within = self.0.get(first..=last)?;
        let (before, after) = (within.first()?.at, within.last()?.at);
        let rest = within.get(1..)?;
        if rest.len() < in_flight.max(10) || after <= before {
            return None;
        }
        let ns = (after - before) as f64;
        let bytes: u64 = rest.iter().map(|ended| ended.bytes).sum();
        Some(Steady {
            messages: rest.len(),
            time_ns: after - before,
            gbps: bytes as f64 * 8.0 / ns,
            messages_per_second: rest.len() as f64 * 1e9 / ns,
            latency_ns: parts(rest.iter().map(|ended| ended.took).collect()),
        })
    }
}

/// What was moved while there was always the next message to be posted, the warm-up left out.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Steady {
    /// Messages.
    pub messages: usize,
    /// The time.
    pub time_ns: u64,
    /// Gb/s of message bytes.
    pub gbps: f64,
    /// Messages a second.
    pub messages_per_second: f64,
    /// Latencies in nanoseconds at [`PARTS`].
    pub latency_ns: [Option<u64>; PARTS.len()],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank_and_of_samples_that_have_them() {
        let of = |count: u64| parts((1..=count).rev().collect());
        let some = |parts: [u64; 6]| parts.map(Some);
        assert_eq!(of(0), [None; 6]);
        assert_eq!(of(9), [Some(5), None, None, None, None, Some(9)]);
        let of_200 = [Some(100), Some(180), Some(198), None, None, Some(200)];
        assert_eq!(of(200), of_200);
        assert_eq!(of(10_000), some([5000, 9000, 9900, 9990, 9999, 10_000]));
    }

    #[test]
    fn a_slow_beginning_and_a_slow_end_are_left_out() {
        let mut all = Latencies::default();
        let mut at = 0;
        for n in 0..100 {
            at += if (10..96).contains(&n) { 100 } else { 5000 };
            all.add(at, 400, 1000);
        }
        let steady = all.steady(4).unwrap();
        assert_eq!((steady.messages, steady.time_ns), (85, 8500));
        assert!((steady.gbps - 80.0).abs() < 1e-9, "{steady:?}");
        assert!((steady.messages_per_second - 1e7).abs() < 1e-3);
        // With so many in flight the run is nothing but beginning and end.
        assert!(all.steady(40).is_none());
        assert!(Latencies::default().steady(1).is_none());
    }
}
