//! Congestion controllers behind a slow port.

use super::super::queue::{QueueTable, Run};
use super::bars;
use crate::figures::{Axis, Draws, Figure, Table};

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// The port, and how Writes came.
fn port(run: &Run) -> String {
    let lone = if run.lone { ", lone" } else { "" };
    format!("{} Gb/s, {} µs{lone}", run.link_gbps, us(run.room_ns))
}

impl Draws for QueueTable {
    fn title(&self) -> String {
        format!("Weft: a slow port, card {}", self.card)
    }

    fn about(&self) -> String {
        format!(
            "Simulated: seed {}, MTU {}, {} ms each. A port drops what would wait longer than it has room for; lone Writes come one at a time.",
            self.seed, self.mtu, self.milliseconds
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let figure = |name: &str, y: Axis, of: &dyn Fn(&Run) -> f64| {
            let (shape, series) = bars(&self.runs, Run::name, port, |run| Some(of(run)));
            Figure {
                name: name.to_owned(),
                title: "behind a slow port".to_owned(),
                source: source.to_owned(),
                x: Axis::linear("controller", ""),
                y,
                shape,
                series,
            }
        };
        let wait = Axis::linear("mean wait of a frame", "µs");
        vec![
            figure("port-goodput", Axis::linear("goodput", "Gb/s"), &|run| {
                run.gbps
            }),
            figure("port-wait", wait, &|run| run.mean_wait_ns / 1e3),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        let of_port = |run: &Run| (run.link_gbps, run.room_ns, run.lone);
        let ports = self.runs.chunk_by(|a, b| of_port(a) == of_port(b));
        let tables = ports.map(|runs| {
            let caption = runs.first().map_or(String::new(), port);
            let head = [
                "controller",
                "Gb/s",
                "mean wait, µs",
                "longest",
                "marked",
                "reduced",
                "dropped",
                "at start",
                "sent again",
            ];
            let mut table = Table::new(caption, &head);
            for run in runs {
                table.rows.push(vec![
                    run.name(),
                    format!("{:.2}", run.gbps),
                    format!("{:.1}", run.mean_wait_ns / 1000.0),
                    format!("{:.1}", us(run.longest_wait_ns)),
                    run.marked.to_string(),
                    run.reductions.to_string(),
                    run.dropped.to_string(),
                    run.dropped_at_start.to_string(),
                    run.retransmits.to_string(),
                ]);
            }
            table
        });
        tables.collect()
    }
}
