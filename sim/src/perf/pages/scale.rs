//! Many connections.

use super::super::scale::{ScaleTable, Sharing};
use super::{bars, percent};
use crate::figures::{Axis, Draws, Figure, Table};

impl Draws for ScaleTable {
    fn title(&self) -> String {
        format!("Weft: many connections, card {}", self.card)
    }

    fn about(&self) -> String {
        format!(
            "Simulated: seed {}, MTU {}. {} connections established in {:.2} ms, {:.0} a second.",
            self.seed,
            self.mtu,
            self.connections,
            self.connect_ns as f64 / 1e6,
            self.connections_per_second
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let with = |run: &Sharing| match (run.idle, run.loss) {
            (0, 0) => "alone".to_owned(),
            (idle, 0) => format!("{idle} idle"),
            (0, loss) => format!("{} lost", percent(loss)),
            (idle, loss) => format!("{idle} idle, {} lost", percent(loss)),
        };
        let figure = |name: &str, y: Axis, of: &dyn Fn(&Sharing) -> f64| {
            let place = |run: &Sharing| run.congestion.to_owned();
            let (shape, series) = bars(&self.sharing, place, with, |run| Some(of(run)));
            Figure {
                name: name.to_owned(),
                title: "64 connections that share a line".to_owned(),
                source: source.to_owned(),
                x: Axis::linear("controller", ""),
                y,
                shape,
                series,
            }
        };
        let goodput = Axis::linear("goodput of all", "Gb/s");
        vec![
            figure("shared-goodput", goodput, &|run| run.gbps),
            figure("fairness", Axis::linear("Jain's index", ""), &|run| {
                run.jain
            }),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        let caption = format!(
            "Some of them share the line for {} ms, the others are idle",
            self.milliseconds
        );
        let head = ["controller", "idle", "lost", "Gb/s", "min", "max", "Jain"];
        let mut table = Table::new(caption, &head);
        for run in &self.sharing {
            table.rows.push(vec![
                run.congestion.to_owned(),
                run.idle.to_string(),
                percent(run.loss),
                format!("{:.1}", run.gbps),
                format!("{:.2}", run.min_gbps),
                format!("{:.2}", run.max_gbps),
                format!("{:.3}", run.jain),
            ]);
        }
        vec![table]
    }
}
