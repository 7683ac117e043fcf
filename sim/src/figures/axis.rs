//! Axes: what they reach over, and where they have ticks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// An axis.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Axis {
    /// What is on it.
    pub name: String,
    /// Its unit; empty: a number.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
}

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum Scale {
    /// From 0 on.
    #[default]
    Linear,
    /// Only what is above 0 is drawn.
    Log,
}

/// Ticks of a decade of a logarithmic axis.
const OF_DECADE: [f64; 3] = [1.0, 2.0, 5.0];
/// Decades from which on only whole ones have a tick.
const MANY_DECADES: i32 = 4;

impl Axis {
    /// An axis from 0 on.
    pub fn linear(name: &str, unit: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Linear,
        }
    }

    /// A logarithmic one.
    pub fn log(name: &str, unit: &str) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(name, unit)
        }
    }

    /// Name and unit.
    pub fn label(&self) -> String {
        match self.unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{} ({unit})", self.name),
        }
    }

    /// Where a value lies; nowhere if it is not to be drawn.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        match self.scale {
            _ if !value.is_finite() => None,
            Scale::Linear => Some(value),
            Scale::Log => (value > 0.0).then(|| value.log10()),
        }
    }

    /// What the axis reaches over for these values, and its ticks; both as they lie.
    pub(super) fn reach(&self, values: impl Iterator<Item = f64>) -> (Range<f64>, Vec<f64>) {
        let lie = values.filter_map(|value| self.at(value));
        let (low, high) = lie.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return (0.0..1.0, vec![0.0, 1.0]);
        }
        match self.scale {
            Scale::Linear => linear(low.min(0.0), high.max(0.0)),
            Scale::Log => log(low, high),
        }
    }

    /// What a tick says.
    pub(super) fn says(&self, lies: f64) -> String {
        let value = match self.scale {
            Scale::Linear => lies,
            Scale::Log => 10f64.powf(lies),
        };
        short(value)
    }
}

/// Some five ticks at 1, 2 or 5 of a power of ten.
fn linear(low: f64, high: f64) -> (Range<f64>, Vec<f64>) {
    if low == high {
        return (0.0..1.0, vec![0.0, 1.0]);
    }
    let span = high - low;
    let power = 10f64.powf((span / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.iter().map(|step| step * power);
    let step = step.clone().find(|step| span / step <= 6.0);
    let step = step.unwrap_or(span);
    let first = (low / step).floor() as i64;
    let last = ((high / step).ceil() as i64).max(first + 1);
    let ticks: Vec<f64> = (first..=last).map(|n| n as f64 * step).collect();
    (first as f64 * step..last as f64 * step, ticks)
}

fn log(low: f64, high: f64) -> (Range<f64>, Vec<f64>) {
    let decades = low.floor() as i32..=high.ceil() as i32;
    let many = decades.end() - decades.start() > MANY_DECADES;
    let ticks = decades.flat_map(|decade| {
        let of_decade = OF_DECADE
            .iter()
            .take(if many { 1 } else { OF_DECADE.len() });
        of_decade.map(move |part| f64::from(decade) + part.log10())
    });
    let ticks: Vec<f64> = ticks.collect();
    let within = 1e-9;
    let from = ticks.iter().rev().find(|tick| **tick <= low + within);
    let to = ticks.iter().find(|tick| **tick >= high - within);
    let from = *from.unwrap_or(&low);
    let to = to.copied().unwrap_or(high).max(from + 0.1);
    let seen = ticks.iter().copied();
    let seen = seen.filter(|tick| (from - within..=to + within).contains(tick));
    (from..to, seen.collect())
}

/// A number of three digits or fewer, with k and M.
fn short(value: f64) -> String {
    let (value, letter) = match value.abs() {
        big if big >= 999_500.0 => (value / 1e6, "M"),
        big if big >= 9_995.0 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        small if small < 0.1 => 4,
        small if small < 1.0 => 3,
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{letter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_values() {
        let axis = Axis::linear("rate", "Gb/s");
        assert_eq!(
            axis.reach([3.0, 92.4].into_iter()).1,
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(axis.reach([0.0].into_iter()).0, 0.0..1.0);
        let axis = Axis::log("latency", "ns");
        let (range, ticks) = axis.reach([1500.0, 40_000.0, -1.0].into_iter());
        assert_eq!((range.start, range.end), (3.0, 5e4f64.log10()));
        let said: Vec<_> = ticks.iter().map(|tick| axis.says(*tick)).collect();
        assert_eq!(said, ["1000", "2000", "5000", "10k", "20k", "50k"]);
    }

    #[test]
    fn values_that_cannot_be_drawn_are_none() {
        assert_eq!(Axis::linear("", "").at(f64::NAN), None);
        assert_eq!(Axis::log("", "").at(0.0), None);
        assert_eq!(Axis::log("", "").reach([0.0].into_iter()).0, 0.0..1.0);
    }
}
