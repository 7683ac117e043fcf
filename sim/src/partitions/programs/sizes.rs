//! What is asked for, and how large it is: distributions that were published.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Keys by their popularity: the n-th most popular one is asked for in proportion to 1 / n^0.99, as in YCSB (Cooper et al., SoCC 2010).
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    /// Sums of the parts up to each key.
    sums: Vec<f64>,
}

/// The exponent of YCSB.
const SKEW: f64 = 0.99;

impl Zipf {
    /// Of so many keys.
    pub(super) fn new(keys: usize) -> Self {
        let mut sum = 0.0;
        let part = |n: usize| {
            sum += (n as f64).powf(-SKEW);
            sum
        };
        Self {
            sums: (1..=keys).map(part).collect(),
        }
    }

    /// A key: the number of its rank, from 0.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        let all = self.sums.last().copied().unwrap_or(1.0);
        let at = rng.random_range(0.0..all);
        let last = self.sums.len().saturating_sub(1);
        self.sums.partition_point(|sum| *sum <= at).min(last)
    }
}

/// The largest value: one of 2000 of the distribution would be larger.
pub(super) const LARGEST_VALUE: usize = 8192;

/// Bytes of a value as in Facebook's ETC pool: generalized Pareto, scale 214.476, shape 0.348238 (Atikoglu et al., SIGMETRICS 2012).
pub(super) fn etc_value(rng: &mut ChaCha8Rng) -> usize {
    let (scale, shape) = (214.476, 0.348_238);
    let beyond: f64 = 1.0 - rng.random_range(0.0..1.0);
    let bytes = scale / shape * (beyond.powf(-shape) - 1.0);
    (bytes.round() as usize).clamp(1, LARGEST_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{generator, Stream};

    #[test]
    fn popular_keys_have_their_part() {
        let (zipf, mut rng) = (Zipf::new(1000), generator(1, Stream::Application));
        let mut counts = vec![0; 1000];
        for _ in 0..100_000 {
            counts[zipf.draw(&mut rng)] += 1;
        }
        // 1 / the sum over n of n^-0.99 is 0.1294 for the first key; the tenth has 10^-0.99 of that.
        assert!((12_500..13_400).contains(&counts[0]), "{}", counts[0]);
        assert!((1_150..1_500).contains(&counts[9]), "{}", counts[9]);
        assert!(counts[999] < 60);
    }

    #[test]
    fn values_are_as_large_as_those_that_were_counted() {
        let mut rng = generator(1, Stream::Application);
        let mut all: Vec<usize> = (0..100_000).map(|_| etc_value(&mut rng)).collect();
        all.sort_unstable();
        // Quantiles of the distribution: scale / shape * ((1 - p)^-shape - 1).
        for (part, bytes) in [(0.5, 168.0), (0.9, 757.0), (0.99, 2446.0)] {
            let is = all[(part * 100_000.0) as usize] as f64;
            assert!((is / bytes - 1.0).abs() < 0.05, "{part}: {is}");
        }
        let largest = all.iter().filter(|bytes| **bytes == LARGEST_VALUE).count();
        assert!((20..100).contains(&largest), "{largest}");
    }
}
