//! The programs as the book has them: each at three rungs, on hosts of one core.

use weft_hostdrv::Rung;

use super::book::{at_rung, cell, latency, percentile, RUNGS, SEEDS};
use super::table::Table;
use super::workload::{self, Load};
use super::{Figures, PartitionsError};
use crate::host::HostConfig;

/// Workloads that have rows.
const WORKLOADS: [&str; 6] = [
    "key-value",
    "rpc",
    "block-io",
    "all-reduce",
    "incast",
    "churn",
];

/// Above the rows.
pub const HEAD: &str = "\
| program | rung | 10^3 requests/s | Gb/s | p50, µs | p99, µs | p99.9, µs | cores, first host | cores, others |
|---|---|---|---|---|---|---|---|---|
";

/// The loads, in their order.
pub fn loads() -> Result<Vec<Load>, PartitionsError> {
    let mut all = Vec::new();
    for name in WORKLOADS {
        all.extend(workload::read(name)?);
    }
    Ok(all)
}

/// The table.
pub fn table() -> Result<Table, PartitionsError> {
    Ok(Table {
        page: "partitions.md",
        mark: "programs",
        head: HEAD.to_owned(),
        loads: loads()?,
        rows: Box::new(rows),
    })
}

/// The rows of a load.
fn rows(load: &Load) -> Result<String, PartitionsError> {
    RUNGS.iter().map(|rung| row(load, *rung)).collect()
}

fn row(load: &Load, rung: Rung) -> Result<String, PartitionsError> {
    let at = at_rung(load, rung, SEEDS, HostConfig::default())?;
    let steady = |f: &Figures| f.steady;
    let cores = |n: usize| move |f: &Figures| f.hosts.as_ref().map(|hosts| hosts[n].cores);
    let cells = [
        cell(&at, 1000.0, &|f| Some(steady(f)?.messages_per_second)),
        cell(&at, 1.0, &|f| Some(steady(f)?.gbps)),
        cell(&at, 1000.0, &latency(0)),
        percentile(&at, 2),
        percentile(&at, 3),
        cell(&at, 1.0, &cores(0)),
        cell(&at, 1.0, &cores(1)),
    ];
    let name = match rung {
        Rung::Host => &load.name,
        _ => "",
    };
    Ok(format!("| {name} | {rung} | {} |\n", cells.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo run --release -p weft-sim --example programs -- --write` writes the page anew.
    #[test]
    fn rows_of_programs_are_not_stale() {
        let sample = ["RPC, 512 B", "churn, one"];
        let is_in_sample = |load: &Load| sample.iter().any(|name| load.name.starts_with(name));
        let stale = table().unwrap().stale(is_in_sample).unwrap();
        assert!(stale.is_empty(), "the page has another: {stale:?}");
    }
}
