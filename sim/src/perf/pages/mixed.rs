//! Frames of several kinds.

use super::super::mixed::MixedTable;
use super::{bars, or_none};
use crate::figures::{Axis, Draws, Figure, Table};

impl Draws for MixedTable {
    fn title(&self) -> String {
        format!("Weft: frames of several kinds, card {}", self.card)
    }

    fn about(&self) -> String {
        format!(
            "Simulated: seed {}, {} frames as fast as the card takes them, and again at the pace of a {} Gb/s wire. \
             The figure has a row's number below it.",
            self.seed, self.frames, self.wire_gbps
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let rows = self.rows.iter().enumerate();
        let both = rows.flat_map(|(n, row)| {
            [("card", row.cycles), ("wire", row.wire_cycles)].map(|(who, cycles)| (n, who, cycles))
        });
        let both: Vec<_> = both.collect();
        let (shape, series) = bars(
            &both,
            |(n, ..)| (n + 1).to_string(),
            |(_, who, _)| (*who).to_owned(),
            |(.., cycles)| *cycles,
        );
        vec![Figure {
            name: "mixed".to_owned(),
            title: "cycles of a frame".to_owned(),
            source: source.to_owned(),
            x: Axis::linear("row of the table", ""),
            y: Axis::linear("of a frame", "cycles"),
            shape,
            series,
        }]
    }

    fn tables(&self) -> Vec<Table> {
        let head = [
            "frames", "row", "cycles", "wire", "dropped", "raw", "placed",
        ];
        let mut table = Table::new("", &head);
        for (n, row) in self.rows.iter().enumerate() {
            let fates = row.at_pace.as_ref();
            let count = |of: Option<usize>| of.map_or("-".to_owned(), |n| n.to_string());
            table.rows.push(vec![
                row.name.clone(),
                (n + 1).to_string(),
                or_none(row.cycles, 1),
                or_none(row.wire_cycles, 1),
                count(fates.map(|fates| fates.dropped)),
                count(fates.map(|fates| fates.raw)),
                count(fates.map(|fates| fates.placed)),
            ]);
        }
        vec![table]
    }
}
