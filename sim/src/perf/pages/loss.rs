//! Goodput under loss, beside what a formula says.

use super::super::loss::{Goodput, LossTable, FORMULAS, RENO};
use super::{groups, or_none, percent};
use crate::figures::{Axis, Draws, Figure, Point, Series, Shape, Table};

/// A line over the losses of these runs.
fn series(name: &str, runs: &[&&Goodput], y: impl Fn(&Goodput) -> Option<f64>) -> Series {
    let points = runs.iter().filter_map(|run| {
        let percent = f64::from(run.loss) / 1e4;
        Some(Point::new(percent, y(run)?))
    });
    Series {
        name: name.to_owned(),
        points: points.collect(),
    }
}

impl Draws for LossTable {
    fn title(&self) -> String {
        format!("Weft: goodput over loss, card {}", self.card)
    }

    fn about(&self) -> String {
        format!(
            "Simulated: seed {}, MTU {}, a line of {} Gb/s, Writes of {} bytes, {} ms a point. The formula is 1.22 MSS / (RTT √p).",
            self.seed, self.mtu, self.link_gbps, self.write_bytes, self.milliseconds
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let lost: Vec<_> = self.runs.iter().filter(|run| run.loss > 0).collect();
        let by_delay = groups(&lost, |run| run.delay_ns);
        let figures = by_delay.into_iter().map(|(delay_ns, runs)| {
            let mut all = Vec::new();
            for (name, runs) in groups(&runs, |run| run.congestion) {
                let runs: Vec<&&Goodput> = runs.into_iter().copied().collect();
                all.push(series(name, &runs, |run| Some(run.gbps)));
                if name == RENO {
                    all.extend(FORMULAS.map(|(formula, of)| series(formula, &runs, of)));
                }
            }
            // The formula's lines come last: they are no measurement.
            all.sort_by_key(|series| FORMULAS.iter().any(|(name, _)| *name == series.name));
            Figure {
                name: format!("loss-{delay_ns}-ns"),
                title: format!("goodput under loss, {} µs each way", delay_ns as f64 / 1e3),
                source: source.to_owned(),
                x: Axis::log("frames lost, both ways", "%"),
                y: Axis::log("goodput", "Gb/s"),
                shape: Shape::Lines,
                series: all,
            }
        });
        figures.collect()
    }

    fn tables(&self) -> Vec<Table> {
        let head = [
            "µs each way",
            "controller",
            "lost",
            "reordered",
            "cut",
            "Gb/s",
            "SRTT, µs",
            "formula, SRTT",
            "formula, path",
            "sent again",
            "timer",
            "probes",
            "recoveries",
            "undone",
            "attached again",
            "copied, bytes a byte",
        ];
        let mut table = Table::new("", &head);
        for run in &self.runs {
            table.rows.push(vec![
                (run.delay_ns as f64 / 1000.0).to_string(),
                run.congestion.to_owned(),
                percent(run.loss),
                percent(run.reorder),
                percent(run.resegment),
                format!("{:.1}", run.gbps),
                format!("{:.2}", run.round_trip_ns / 1000.0),
                or_none(run.formula_gbps, 1),
                or_none(run.formula_path_gbps, 1),
                run.retransmits.to_string(),
                run.timeouts.to_string(),
                run.tail_probes.to_string(),
                run.recoveries.to_string(),
                run.undone.to_string(),
                run.attached_again.to_string(),
                format!("{:.2}", run.copied_per_byte),
            ]);
        }
        vec![table]
    }
}
