//! Figures over several seeds: the median, and an interval that holds the true one with 95 %.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Figures;

/// Of fewer seeds not even the least and the greatest make an interval of 95 %.
pub const FEWEST: usize = 6;

/// A median, and where it is with 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// The least that it may be.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

/// How many of the least, and of the greatest, lie without the interval: of `count` values each is below the median as a coin falls.
fn without(count: usize) -> usize {
    let (mut part, mut sum, mut below) = (0.5_f64.powi(count as i32), 0.0, 0);
    loop {
        sum += part;
        if sum > 0.025 || 2 * (below + 1) >= count {
            return below.saturating_sub(1);
        }
        part *= (count - below) as f64 / (below + 1) as f64;
        below += 1;
    }
}

impl Interval {
    /// Of these values, if there are any; it assumes nothing of how they are distributed.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let out = without(count);
        let at = |n: usize| values.get(n).copied();
        let middle = (at(count.checked_sub(1)? / 2)?, at(count / 2)?);
        Some(Self {
            median: (middle.0 + middle.1) / 2.0,
            low: at(out)?,
            high: at(count - 1 - out)?,
        })
    }

    /// All values were the same.
    pub fn is_point(&self) -> bool {
        self.low == self.high
    }
}

/// The figures of all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct OverSeeds {
    /// How many.
    pub seeds: usize,
    /// Each figure that every seed has.
    pub figures: Vec<OfFigure>,
}

/// A figure of all seeds.
#[derive(Clone, Debug, Serialize)]
pub struct OfFigure {
    /// Its path in the figures of a seed.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub interval: Interval,
}

impl OverSeeds {
    /// Of these.
    pub(super) fn of(all: &[Figures]) -> Self {
        let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for figures in all {
            if let Ok(value) = serde_json::to_value(figures) {
                leaves("", &value, &mut values);
            }
        }
        values.retain(|_, values| values.len() == all.len());
        let intervals = values.into_iter().filter_map(|(name, values)| {
            let interval = Interval::of(values)?;
            Some(OfFigure { name, interval })
        });
        Self {
            seeds: all.len(),
            figures: intervals.collect(),
        }
    }
}

/// The numbers in a value, by their paths.
fn leaves(path: &str, value: &Value, found: &mut BTreeMap<String, Vec<f64>>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    match value {
        Value::Number(number) => found
            .entry(path.to_owned())
            .or_default()
            .extend(number.as_f64()),
        Value::Array(all) => {
            for (n, one) in all.iter().enumerate() {
                leaves(&below(&n.to_string()), one, found);
            }
        }
        Value::Object(all) => {
            for (name, one) in all {
                leaves(&below(name), one, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_leaves_out_what_tables_of_the_sign_test_leave_out() {
        // Conover, Practical Nonparametric Statistics: the rank of the lower end, less one.
        for (count, out) in [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (30, 9)] {
            assert_eq!(without(count), out, "{count}");
        }
        let values = |count: usize| (1..=count).rev().map(|n| n as f64).collect();
        let interval = |count| Interval::of(values(count)).unwrap();
        assert_eq!(
            interval(9),
            Interval {
                median: 5.0,
                low: 2.0,
                high: 8.0
            }
        );
        assert_eq!(interval(6).median, 3.5);
        assert!(interval(1).is_point() && !interval(2).is_point());
        assert!(Interval::of(Vec::new()).is_none());
    }

    /// Of a fair coin's runs 95 % and more have the true median in their interval.
    #[test]
    fn the_interval_holds_the_median_as_often_as_it_says() {
        use rand::Rng;
        let mut rng = crate::seed::generator(1, crate::seed::Stream::Application);
        let mut holds = 0;
        for _ in 0..2000 {
            let values = (0..9).map(|_| rng.random_range(0.0..1.0_f64).powi(3));
            let interval = Interval::of(values.collect()).unwrap();
            holds += u32::from(interval.low <= 0.125 && 0.125 <= interval.high);
        }
        assert!((1880..=1990).contains(&holds), "{holds}");
    }
}
