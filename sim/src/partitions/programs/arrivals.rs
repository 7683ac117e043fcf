//! When requests are made: at a rate, whatever becomes of them (open loop), or each some time after the answer to the one before (closed loop).

use std::collections::BTreeSet;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A draw from the exponential distribution with this mean.
pub(super) fn exponential(rng: &mut ChaCha8Rng, mean: f64) -> u64 {
    let part: f64 = rng.random_range(0.0..1.0);
    (-mean * (1.0 - part).ln()).round() as u64
}

/// A request that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Who makes it: of all lanes of all connections. A lane has one request under way.
    pub(super) lane: usize,
    /// Since when it wants to be made: what it waits for from then on is part of its latency.
    pub(super) since: u64,
}

/// Requests to come.
#[derive(Debug)]
pub(super) struct Arrivals {
    rng: ChaCha8Rng,
    /// Open loop: the mean time from one request to the next, and when the next one comes.
    open: Option<(f64, u64)>,
    /// Closed loop: the mean of what passes from an answer to the next request.
    think_ns: f64,
    /// Lanes without a request under way, and since when.
    free: BTreeSet<(u64, usize)>,
    left: usize,
}

impl Arrivals {
    /// `count` requests from `now` on, by so many lanes; `rate`: of all together in a second, as a Poisson process.
    pub(super) fn new(
        mut rng: ChaCha8Rng,
        now: u64,
        lanes: usize,
        count: usize,
        rate: Option<u64>,
        think_ns: u64,
    ) -> Self {
        let think_ns = think_ns as f64;
        let open = rate.map(|rate| {
            let mean = 1e9 / rate.max(1) as f64;
            (mean, now + exponential(&mut rng, mean))
        });
        // Thinkers do not begin all at once.
        let mut first = |_| match open {
            Some(_) => now,
            None => now + exponential(&mut rng, think_ns),
        };
        let free = (0..lanes).map(|lane| (first(lane), lane)).collect();
        Self {
            free,
            rng,
            open,
            think_ns,
            left: count,
        }
    }

    /// The next request, if it is to be made by now.
    pub(super) fn take(&mut self, now: u64) -> Option<Request> {
        let due = self.due().filter(|due| *due <= now)?;
        let (since, lane) = self.free.pop_first()?;
        self.left -= 1;
        let Some((mean, next)) = &mut self.open else {
            return Some(Request { lane, since });
        };
        let since = (*next).min(due);
        *next += exponential(&mut self.rng, *mean);
        Some(Request { lane, since })
    }

    /// When the next request is to be made, if a lane can make it.
    pub(super) fn due(&self) -> Option<u64> {
        let (free, _) = self.free.first().filter(|_| self.left > 0)?;
        Some(self.open.map_or(*free, |(_, next)| next.max(*free)))
    }

    /// A lane has its answer.
    pub(super) fn answered(&mut self, lane: usize, now: u64) {
        let think_ns = match self.open {
            Some(_) => 0,
            None => exponential(&mut self.rng, self.think_ns),
        };
        self.free.insert((now + think_ns, lane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{generator, Stream};

    fn arrivals(lanes: usize, rate: Option<u64>, think_ns: u64) -> Arrivals {
        let rng = generator(1, Stream::Application);
        Arrivals::new(rng, 1000, lanes, 20_000, rate, think_ns)
    }

    #[test]
    fn an_open_loop_has_its_rate_and_is_as_random_as_poisson() {
        let mut all = arrivals(1, Some(1_000_000), 5);
        let mut times = Vec::new();
        while let Some(due) = all.due() {
            assert_eq!(all.take(due.saturating_sub(1)), None);
            let request = all.take(due).expect("it is due");
            assert_eq!((request.lane, request.since), (0, due));
            times.push(due);
            all.answered(0, due);
        }
        assert_eq!(times.len(), 20_000);
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        let deviation = (square / gaps.len() as f64).sqrt();
        assert!((mean - 1000.0).abs() < 25.0, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.04, "{deviation} {mean}");
    }

    #[test]
    fn what_comes_while_all_lanes_are_busy_has_waited() {
        let mut all = arrivals(1, Some(1_000_000), 0);
        let first = all.take(1_000_000).expect("one");
        assert_eq!(all.due(), None);
        all.answered(first.lane, 2_000_000);
        // The lane is free again only now; the request has been there since soon after the first one.
        assert_eq!(all.due(), Some(2_000_000));
        let second = all.take(2_000_000).expect("another");
        assert!(first.since < second.since && second.since < 30_000);
    }

    #[test]
    fn a_closed_loop_thinks_before_it_asks_again() {
        let mut all = arrivals(4, None, 0);
        for lane in 0..4 {
            assert_eq!(all.take(1000), Some(Request { lane, since: 1000 }));
        }
        assert_eq!(all.due(), None);
        all.answered(2, 5000);
        assert_eq!(all.due(), Some(5000));
        let mut all = arrivals(1, None, 10_000);
        let mut thought = 0;
        for _ in 0..2000 {
            let due = all.due().expect("a lane is free");
            let now = due + 700;
            let request = all.take(now).expect("it is due");
            assert_eq!(request.since, due);
            all.answered(0, now);
            thought += all.due().expect("the next one") - now;
        }
        let mean = thought / 2000;
        assert!((9_300..10_700).contains(&mean), "{mean}");
    }
}
