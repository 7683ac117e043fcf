//! The ladder on a card beside that on the functional model: what is said of rungs on the model has to hold on the RTL.

use weft_hostdrv::Rung;

use super::book::{at_place, cell, latency, line, loads, percentile, RUNGS};
use super::run::Place;
use super::table::Table;
use super::workload::Load;
use super::{AtRung, Figures, PartitionsError, FEWEST};
use crate::host::HostConfig;
use crate::kind::CardKind;

/// Loads of the ladder that have rows, and the messages of each, for RTL takes its time.
const LOADS: [(&str, usize); 2] = [
    ("64 B Writes, 1 connection", 600),
    ("4 KiB Writes, 1 connection", 300),
];

/// The table of a card.
pub fn table(kind: CardKind) -> Result<Table, PartitionsError> {
    let all = loads()?;
    let of = |(name, messages): (&str, usize)| {
        let load = all.iter().find(|load| load.name == name)?.clone();
        Some(Load { messages, ..load })
    };
    Ok(Table {
        page: "partitions.md",
        mark: "ladder of a card",
        head: head(kind),
        loads: LOADS.into_iter().filter_map(of).collect(),
        rows: Box::new(move |load| rows(load, kind, FEWEST as u64)),
    })
}

/// What is compared, and the names of columns.
fn head(kind: CardKind) -> String {
    format!(
        "\
Card `{kind}` beside the model at its {} Gb/s, {FEWEST} seeds (`cargo run --release -p weft-sim --example ladder -- --card {kind}`):

| Writes | rung | Gb/s, {kind} | model | Gb/s, {kind} to model | p50, µs, {kind} | model | p99, µs, {kind} | model |
|---|---|---|---|---|---|---|---|---|
",
        kind.gbps()
    )
}

fn rows(load: &Load, kind: CardKind, seeds: u64) -> Result<String, PartitionsError> {
    let rows = RUNGS.iter().map(|rung| row(load, *rung, kind, seeds));
    rows.collect()
}

fn row(load: &Load, rung: Rung, kind: CardKind, seeds: u64) -> Result<String, PartitionsError> {
    let at = |card: CardKind| {
        let place = Place::first(card, kind.gbps(), HostConfig::default());
        at_place(load, rung, seeds, place)
    };
    let (card, model) = (at(kind)?, at(CardKind::Model)?);
    let gbps = |f: &Figures| Some(f.steady?.gbps);
    let cells = [
        cell(&card, 1.0, &gbps),
        cell(&model, 1.0, &gbps),
        ratio(&card, &model),
        cell(&card, 1000.0, &latency(0)),
        cell(&model, 1000.0, &latency(0)),
        percentile(&card, 2),
        percentile(&model, 2),
    ];
    Ok(line(load, rung, &cells))
}

/// The card's median rate as a part of the model's.
fn ratio(card: &AtRung, model: &AtRung) -> String {
    let median = |at: &AtRung| Some(at.over_all(&|f| Some(f.steady?.gbps))?.median);
    match (median(card), median(model)) {
        (Some(card), Some(model)) => format!("{:.1} %", 100.0 * card / model),
        _ => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card that is the model itself differs by nothing.
    #[test]
    fn the_model_is_as_fast_as_the_model() {
        let table = table(CardKind::Model).unwrap();
        assert_eq!(table.loads.len(), LOADS.len());
        let columns = table.head.lines().last().unwrap().matches('|').count();
        for load in &table.loads {
            let rows = rows(load, CardKind::Model, 1).unwrap();
            assert_eq!(rows.lines().count(), RUNGS.len());
            for row in rows.lines() {
                assert_eq!(row.matches('|').count(), columns, "{row}");
                let cells: Vec<&str> = row.split(" | ").collect();
                assert_eq!((cells[2], cells[4]), (cells[3], "100.0 %"), "{row}");
                assert_eq!(
                    (cells[5], cells[7]),
                    (cells[6], cells[8].trim_end_matches(" |"))
                );
                assert!(cells[7].parse::<f64>().is_ok(), "no p99 in {row}");
            }
        }
    }

    /// Cards that are not as fast are not said to be: the ratio is of what was measured.
    #[test]
    fn a_slower_card_is_told_from_the_model() {
        let load = &table(CardKind::Model).unwrap().loads[1];
        let at = |gbps| {
            let place = Place::first(CardKind::Model, gbps, HostConfig::default());
            at_place(load, Rung::Placement, 1, place).unwrap()
        };
        let part = ratio(&at(1), &at(100));
        let part: f64 = part.trim_end_matches(" %").parse().unwrap();
        assert!((5.0..15.0).contains(&part), "{part}");
    }
}
