//! The data path behind PCIe ports.

use super::super::pcie::{PcieTable, Row};
use super::{bars, or_none};
use crate::figures::{Axis, Draws, Figure, Table};

/// What a row has: its head, and the figure.
type Column = (&'static str, fn(&Row) -> Option<f64>);

/// In Gb/s, of segments of 1460 bytes.
const SEGMENTS: [Column; 4] = [
    ("receive", |row| row.rx_gbps),
    ("send", |row| row.tx_gbps),
    ("both: receive", |row| row.both_rx_gbps),
    ("both: send", |row| row.both_tx_gbps),
];

/// In millions a second, of 64 bytes.
const MESSAGES: [Column; 3] = [
    ("Writes received", |row| row.write_rx_millions),
    ("Writes sent", |row| row.write_tx_millions),
    ("Sends received", |row| row.send_rx_millions),
];

fn port(row: &Row) -> String {
    row.port.clone().unwrap_or_else(|| "none".to_owned())
}

impl Draws for PcieTable {
    fn title(&self) -> String {
        format!("Weft: behind PCIe ports, card {}", self.card)
    }

    fn about(&self) -> String {
        format!(
            "Simulated: seed {}, the data path alone. A port is its generation and lanes, with 256 read requests in flight and narrow read latency \
             unless it says otherwise.",
            self.seed
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let figure = |name: &str, title: &str, y: Axis, columns: &[Column]| {
            let rows = self.rows.iter();
            let all = rows.flat_map(|row| columns.iter().map(move |(what, of)| (row, *what, of)));
            let all: Vec<_> = all.collect();
            let (shape, series) = bars(
                &all,
                |(row, ..)| port(row),
                |(_, what, _)| (*what).to_owned(),
                |(row, _, of)| of(row),
            );
            Figure {
                name: name.to_owned(),
                title: title.to_owned(),
                source: source.to_owned(),
                x: Axis::linear("port", ""),
                y,
                shape,
                series,
            }
        };
        vec![
            figure(
                "pcie-segments",
                "segments of 1460 bytes behind a port",
                Axis::linear("goodput", "Gb/s"),
                &SEGMENTS,
            ),
            figure(
                "pcie-messages",
                "messages of 64 bytes behind a port",
                Axis::linear("messages", "10^6/s"),
                &MESSAGES,
            ),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        let caption = "Gb/s of segments of 1460 bytes; million messages of 64 bytes a second";
        let columns: Vec<&Column> = SEGMENTS.iter().chain(&MESSAGES).collect();
        let heads = columns.iter().map(|(what, _)| *what);
        let heads: Vec<&str> = std::iter::once("port").chain(heads).collect();
        let mut table = Table::new(caption, &heads);
        for row in &self.rows {
            let cells = columns.iter().map(|(_, of)| or_none(of(row), 1));
            table
                .rows
                .push(std::iter::once(port(row)).chain(cells).collect());
        }
        vec![table]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(port: Option<&str>, sends: Option<f64>) -> Row {
        Row {
            port: port.map(str::to_owned),
            rx_gbps: Some(112.0),
            tx_gbps: Some(117.0),
            both_rx_gbps: Some(111.0),
            both_tx_gbps: Some(116.0),
            write_rx_millions: Some(50.0),
            write_tx_millions: Some(62.0),
            send_rx_millions: sends,
        }
    }

    #[test]
    fn a_figure_has_a_place_for_each_port_and_no_bar_for_nothing() {
        let table = PcieTable {
            seed: 1,
            card: "rtl512".into(),
            rows: vec![row(None, Some(27.0)), row(Some("3x16+wide"), None)],
        };
        let figures = table.figures("source");
        let points = |n: usize| figures[n].series.iter().map(|one| one.points.len());
        assert_eq!(points(0).collect::<Vec<_>>(), [2, 2, 2, 2]);
        assert_eq!(points(1).collect::<Vec<_>>(), [2, 2, 1]);
        let rows = &table.tables()[0].rows;
        assert_eq!(rows[0][0], "none");
        assert_eq!(rows[1][0], "3x16+wide");
        assert_eq!(rows[1][7], "-");
        assert!(table.page("source").unwrap().contains("3x16+wide"));
    }
}
