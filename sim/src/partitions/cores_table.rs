//! What more cores of a host are good for: the device's turns have one, each other a thread of the program.

use weft_hostdrv::Rung;

use super::book::{at_rung, cell, line, loads};
use super::table::Table;
use super::workload::Load;
use super::{Figures, PartitionsError, FEWEST};
use crate::host::{HostConfig, CORES};

/// Loads of the ladder that have rows.
const LOADS: [&str; 2] = [
    "64 B Writes, 16 connections",
    "4 KiB Writes, 16 connections",
];

/// Rungs that have rows: nothing on the card, and what it is for.
const RUNGS: [Rung; 2] = [Rung::Host, Rung::Placement];

/// The table.
pub fn table() -> Result<Table, PartitionsError> {
    let loads = loads()?.into_iter();
    Ok(Table {
        page: "partitions.md",
        mark: "cores",
        head: head(),
        loads: loads.filter(|load| LOADS.contains(&&*load.name)).collect(),
        rows: Box::new(|load| RUNGS.iter().map(|rung| row(load, *rung)).collect()),
    })
}

fn head() -> String {
    let columns: String = (1..=CORES).map(|cores| format!(" {cores} |")).collect();
    format!(
        "\
Gb/s by cores of each host, {FEWEST} seeds (`cargo run --release -p weft-sim --example ladder -- --cores`):

| Writes | rung |{columns}
|---|---|{}
",
        "---|".repeat(CORES)
    )
}

fn row(load: &Load, rung: Rung) -> Result<String, PartitionsError> {
    let gbps = |cores: usize| {
        let host = HostConfig {
            cores: cores as u32,
            ..HostConfig::default()
        };
        let at = at_rung(load, rung, FEWEST as u64, host)?;
        Ok(cell(&at, 1.0, &|f: &Figures| Some(f.steady?.gbps)))
    };
    let cells: Result<Vec<String>, PartitionsError> = (1..=CORES).map(gbps).collect();
    Ok(line(load, rung, &cells?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo run --release -p weft-sim --example ladder -- --cores --write` writes the page anew.
    #[test]
    fn rows_of_cores_are_not_stale() {
        let table = table().unwrap();
        let first = table.loads[0].name.clone();
        let stale = table.stale(|load| load.name == first).unwrap();
        assert!(stale.is_empty(), "the page has another: {stale:?}");
    }
}
