//! Figures and tables of what `weft perf` measures.

mod full;
mod loss;
mod mixed;
mod pcie;
mod queue;
mod scale;

use crate::figures::{Point, Series, Shape};

/// The groups of equal keys, in the order in which they come.
fn groups<T, K: PartialEq>(all: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<&T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for one in all {
        let of = key(one);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, members)) => members.push(one),
            None => groups.push((of, vec![one])),
        }
    }
    groups
}

/// Bars: a place for each of `places`, a series for each of `series`; no bar where there is no height.
fn bars<T>(
    all: &[T],
    place: impl Fn(&T) -> String,
    series: impl Fn(&T) -> String,
    y: impl Fn(&T) -> Option<f64>,
) -> (Shape, Vec<Series>) {
    let places = groups(all, &place).into_iter().map(|(name, _)| name);
    let places: Vec<String> = places.collect();
    let series = groups(all, series).into_iter().map(|(name, members)| {
        let points = members.into_iter().filter_map(|one| {
            let at = places.iter().position(|known| *known == place(one))?;
            Some(Point::new(at as f64, y(one)?))
        });
        Series {
            name,
            points: points.collect(),
        }
    });
    let series = series.collect();
    (Shape::Bars(places), series)
}

/// Parts of a million as they are read.
fn percent(parts: u32) -> String {
    format!("{} %", f64::from(parts) / 1e4)
}

/// A number that there may be none of.
fn or_none(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}
