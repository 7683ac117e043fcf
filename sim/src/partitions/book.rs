//! The ladder as the book has it: where software takes time, on one core and on two.

use weft_hostdrv::Rung;

use super::run::{self, Place};
use super::table::Table;
use super::workload::{self, Load};
use super::{AtRung, Figures, PartitionsError};
use crate::host::HostConfig;
use crate::kind::CardKind;

/// Seeds of each row.
pub const SEEDS: u64 = 9;

/// Rungs that have rows.
pub const RUNGS: [Rung; 3] = [Rung::Host, Rung::Crc, Rung::Placement];

/// Above the rows.
pub const HEAD: &str = "\
| Writes | rung | Gb/s | 10^3 messages/s | p50, µs | p99, µs | p99.9, µs | cores at 100 Gb/s | Gb/s, 2 cores | p50, µs | p99, µs | p99.9, µs |
|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// The loads, in their order.
pub fn loads() -> Result<Vec<Load>, PartitionsError> {
    Ok(workload::read("ladder")?)
}

/// The table.
pub fn table() -> Result<Table, PartitionsError> {
    let rows = |load: &Load| RUNGS.iter().map(|rung| row(load, *rung, SEEDS)).collect();
    Ok(Table {
        page: "partitions.md",
        mark: "ladder",
        head: HEAD.to_owned(),
        loads: loads()?,
        rows: Box::new(rows),
    })
}

/// A figure with its interval, divided by `unit`.
pub(super) fn cell(at: &AtRung, unit: f64, figure: &dyn Fn(&Figures) -> Option<f64>) -> String {
    let Some(interval) = at.over_all(figure) else {
        return "-".into();
    };
    let text = |value: f64| {
        let value = value / unit;
        let digits = match value {
            _ if value >= 99.95 => 0,
            _ if value >= 9.995 => 1,
            _ => 2,
        };
        format!("{value:.digits$}")
    };
    let [median, low, high] = [interval.median, interval.low, interval.high].map(text);
    match low == high {
        true => median,
        false => format!("{median} ({low} to {high})"),
    }
}

/// A row's line: the load's name stands at its first rung.
pub(super) fn line(load: &Load, rung: Rung, cells: &[String]) -> String {
    let name = match rung {
        Rung::Host => load.name.replace(" Writes", ""),
        _ => String::new(),
    };
    format!("| {name} | {rung} | {} |\n", cells.join(" | "))
}

/// A load at a rung, between functional models, with so many seeds.
pub(super) fn at_rung(
    load: &Load,
    rung: Rung,
    seeds: u64,
    host: HostConfig,
) -> Result<AtRung, PartitionsError> {
    let place = Place::first(CardKind::Model, CardKind::Model.gbps(), host);
    at_place(load, rung, seeds, place)
}

/// The same at a place, from its seed on.
pub(super) fn at_place(
    load: &Load,
    rung: Rung,
    seeds: u64,
    place: Place,
) -> Result<AtRung, PartitionsError> {
    let figures = |more| {
        let seed = place.seed + more;
        let place = Place { seed, ..place };
        run::run(place, rung, load).map_err(|error| error.at(load, rung))
    };
    let others: Result<Vec<Figures>, _> = (1..seeds).map(figures).collect();
    Ok(AtRung::new(rung, figures(0)?, others?))
}

/// A percentile of the steady latency, in nanoseconds, by its place among those that are taken.
pub(super) fn latency(part: usize) -> impl Fn(&Figures) -> Option<f64> {
    move |figures| figures.steady.as_ref()?.latency_ns[part].map(|ns| ns as f64)
}

/// The same in microseconds, with its interval; where a run has too few messages for it, how many it has.
pub(super) fn percentile(at: &AtRung, part: usize) -> String {
    let is_there = at
        .all
        .iter()
        .all(|figures| latency(part)(figures).is_some());
    let steady = at
        .all
        .iter()
        .map(|figures| figures.steady.map_or(0, |steady| steady.messages));
    match (is_there, steady.min()) {
        (false, Some(fewest)) => format!("- (of {fewest})"),
        _ => cell(at, 1000.0, &latency(part)),
    }
}

/// A row: a load at a rung.
pub fn row(load: &Load, rung: Rung, seeds: u64) -> Result<String, PartitionsError> {
    let [one, two] = [1, 2].map(|cores| {
        let host = HostConfig {
            cores,
            ..HostConfig::default()
        };
        at_rung(load, rung, seeds, host)
    });
    let (one, two) = (one?, two?);
    let gbps = |f: &Figures| f.steady.as_ref().map(|steady| steady.gbps);
    let rate = |f: &Figures| f.steady.as_ref().map(|steady| steady.messages_per_second);
    let cores = |f: &Figures| {
        let hosts = f.hosts.as_ref()?;
        Some(hosts.iter().map(|host| host.cores_at_line).sum())
    };
    let cells = [
        cell(&one, 1.0, &gbps),
        cell(&one, 1000.0, &rate),
        cell(&one, 1000.0, &latency(0)),
        percentile(&one, 2),
        percentile(&one, 3),
        cell(&one, 1.0, &cores),
        cell(&two, 1.0, &gbps),
        cell(&two, 1000.0, &latency(0)),
        percentile(&two, 2),
        percentile(&two, 3),
    ];
    Ok(line(load, rung, &cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo run --release -p weft-sim --example ladder -- --write` writes the page anew.
    #[test]
    fn rows_of_the_book_are_not_stale() {
        let table = table().unwrap();
        let first = table.loads[0].name.clone();
        let stale = table.stale(|load| load.name == first).unwrap();
        assert!(stale.is_empty(), "the page has another: {stale:?}");
    }
}
