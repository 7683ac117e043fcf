//! What the least retransmission timer costs and saves, as the book has it: loads with losses and late hosts, at four lengths.

use weft_hostdrv::Rung;

use super::book::{at_rung, cell, latency, percentile, SEEDS};
use super::table::Table;
use super::workload::{self, Load};
use super::{Counts, Figures, PartitionsError};
use crate::host::HostConfig;

/// The least, in microseconds; none: as devices have it.
const LEAST: [Option<u64>; 4] = [None, Some(1_000), Some(5_000), Some(40_000)];

/// Above the rows.
pub const HEAD: &str = "\
| load | least | Gb/s | p50, µs | p99.9, µs | expiries | taken back |
|---|---|---|---|---|---|---|
";

/// The table.
pub fn table() -> Result<Table, PartitionsError> {
    Ok(Table {
        page: "tcp.md",
        mark: "least timers",
        head: HEAD.to_owned(),
        loads: workload::read("rto")?,
        rows: Box::new(rows),
    })
}

fn rows(load: &Load) -> Result<String, PartitionsError> {
    let rows = LEAST.into_iter().map(|least| row(load, least));
    rows.collect()
}

/// Of both ends, in a run.
fn both(of: fn(&Counts) -> u64) -> impl Fn(&Figures) -> Option<f64> {
    move |figures| Some(figures.ends.iter().map(of).sum::<u64>() as f64)
}

fn row(load: &Load, least: Option<u64>) -> Result<String, PartitionsError> {
    let load = &Load {
        rto_min_us: least,
        ..load.clone()
    };
    let at = at_rung(load, Rung::Placement, SEEDS, HostConfig::default())?;
    let cells = [
        cell(&at, 1.0, &|f| Some(f.steady?.gbps)),
        cell(&at, 1000.0, &latency(0)),
        percentile(&at, 3),
        cell(&at, 1.0, &both(|end| end.timeouts)),
        cell(&at, 1.0, &both(|end| end.taken_back)),
    ];
    let (name, said) = match least {
        None => (load.name.as_str(), "usual".to_owned()),
        Some(us) => ("", format!("{} ms", us / 1000)),
    };
    Ok(format!("| {name} | {said} | {} |\n", cells.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo run --release -p weft-sim --example rto -- --write` writes the page anew.
    #[test]
    fn rows_of_least_timers_are_not_stale() {
        let table = table().unwrap();
        let last = table.loads.last().unwrap().name.clone();
        let stale = table.stale(|load| load.name == last).unwrap();
        assert!(stale.is_empty(), "the page has another: {stale:?}");
    }
}
