//! The projection as figures and tables.

use super::print::{verdict, ASSUMED};
use super::{Projected, Projection, Row, Target};
use crate::figures::{Axis, Draws, Figure, Point, Series, Shape, Table};
use crate::partitions::describe;

/// What a line of the figure has in common: all but the line's rate.
fn common(target: &Target) -> String {
    let pcie = target
        .pcie
        .map_or(String::new(), |pcie| format!("{pcie}, "));
    let hosts = match target.hosts {
        1 => String::new(),
        hosts => format!("{hosts} hosts, "),
    };
    format!("{pcie}{hosts}{} QPs", target.queue_pairs)
}

/// Goodput over the line's rate. A point is the middle of its bounds, the bounds are its interval.
fn figure(n: usize, row: &Row, source: &str) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for Projected { target, bounds } in &row.projected {
        let Some(line) = target.gbps else { continue };
        let [low, high] = bounds.gbps;
        let point = Point {
            interval: Some((low, high)),
            ..Point::new(line, (low + high) / 2.0)
        };
        let name = common(target);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name,
                points: vec![point],
            }),
        }
    }
    Figure {
        name: format!("projected-{}", n + 1),
        title: format!("{}, rung {}: reckoned", row.load.name, row.rung),
        source: source.to_owned(),
        x: Axis::log("line", "Gb/s"),
        y: Axis::log("goodput, and its bounds", "Gb/s"),
        shape: Shape::Lines,
        series,
    }
}

fn projected(row: &Row) -> Table {
    let head = [
        "line, Gb/s",
        "PCIe",
        "hosts",
        "QPs",
        "Gb/s, at least",
        "at most",
        "million messages/s, at least",
        "at most",
        "unloaded, µs",
        "cores",
        "limit",
    ];
    let caption = format!(
        "{}, rung {}: {}",
        row.load.name,
        row.rung,
        describe(&row.load)
    );
    let mut table = Table::new(caption, &head);
    for Projected { target, bounds } in &row.projected {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let [least, most] = bounds.gbps.map(|gbps| format!("{gbps:.2}"));
        let rates = bounds.messages_per_second;
        let [fewest, all] = rates.map(|rate| format!("{:.3}", rate / 1e6));
        table.rows.push(vec![
            or_none(target.gbps.map(|gbps| gbps.to_string())),
            or_none(target.pcie.map(|pcie| pcie.to_string())),
            target.hosts.to_string(),
            target.queue_pairs.to_string(),
            least,
            most,
            fewest,
            all,
            format!("{:.2}", bounds.unloaded_ns / 1000.0),
            or_none(bounds.cores.map(|cores| format!("{cores:.2}"))),
            bounds.limit.to_owned(),
        ]);
    }
    table
}

/// Sizes that were simulated as well.
fn checked(row: &Row) -> Option<Table> {
    let head = [
        "line, Gb/s",
        "QPs",
        "in flight",
        "predicted, at least",
        "at most",
        "simulated",
        "million messages/s",
    ];
    let mut table = Table::new(
        "The same, simulated: none of it was measured for the prediction",
        &head,
    );
    for point in &row.checked {
        let [least, most] = point.predicted;
        let rates = [least, most, point.simulated].map(|rate| format!("{:.4}", rate / 1e6));
        let [least, most, simulated] = rates;
        table.rows.push(vec![
            point.gbps.to_string(),
            point.queue_pairs.to_string(),
            point.depth.to_string(),
            least,
            most,
            simulated,
            verdict(point),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

impl Draws for Projection {
    fn title(&self) -> String {
        format!("Weft: projected from card {}", self.card)
    }

    fn about(&self) -> String {
        let missing = self.missing.iter();
        let missing = missing.map(|one| format!(" Not at rung {}: {}.", one.rung, one.reason));
        format!(
            "Measured at MTU {}, seed {}. {ASSUMED}{}",
            self.mtu,
            self.seed,
            missing.collect::<String>()
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        let rows = self.loads.iter().enumerate();
        rows.map(|(n, row)| figure(n, row, source)).collect()
    }

    fn tables(&self) -> Vec<Table> {
        let rows = self.loads.iter();
        rows.flat_map(|row| std::iter::once(projected(row)).chain(checked(row)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use weft_hostdrv::Rung;

    use super::super::stations::{bounds, TOO_FEW};
    use super::super::{Checked, Cost, Instructions};
    use super::*;
    use crate::partitions::workload;

    fn projection() -> Projection {
        let text =
            "[[load]]\nname = \"Writes\"\nwrite = 1\nsizes = [1000]\ndepth = 8\nmessages = 1\n";
        let load = workload::parse("test", text).unwrap().remove(0);
        let cost = Cost {
            bytes: 1000.0,
            unloaded_ns: 2000.0,
            unloaded_gbps: 100,
            card_ns: 50.0,
            ends: Default::default(),
            depth: 8,
            instructions: Instructions::of(Rung::Placement),
        };
        let target = |line: f64, queue_pairs| Target {
            gbps: Some(line),
            pcie: "5x16".parse().ok(),
            hosts: 1,
            queue_pairs,
            depth: None,
            card_speed: 1.0,
            rows: 1024,
            memory_ns: 400.0,
            host: None,
        };
        let targets = [(100.0, 1), (100.0, 64), (400.0, 1), (400.0, 64)];
        let projected = targets.map(|(line, queue_pairs)| {
            let target = target(line, queue_pairs);
            let bounds = bounds(&cost, &target);
            Projected { target, bounds }
        });
        let checked = Checked {
            gbps: 100,
            queue_pairs: 1,
            depth: 1,
            predicted: [1e6, 2e6],
            simulated: 2.2e6,
            retransmits: 3,
        };
        let row = Row {
            load,
            rung: "placement",
            cost,
            projected: projected.into(),
            checked: vec![checked],
        };
        Projection {
            version: "1".to_owned(),
            command: "weft project".to_owned(),
            seed: 1,
            card: "rtl512".to_owned(),
            mtu: 1500,
            rows: 1024,
            loads: vec![row],
            missing: Vec::new(),
        }
    }

    #[test]
    fn a_line_for_each_number_of_queue_pairs_with_its_bounds() {
        let projection = projection();
        let figures = projection.figures("source");
        let [figure] = &figures[..] else {
            panic!("{} figures", figures.len());
        };
        let names: Vec<_> = figure.series.iter().map(|series| &series.name).collect();
        assert_eq!(names, ["5x16, 1 QPs", "5x16, 64 QPs"]);
        for series in &figure.series {
            let lines: Vec<f64> = series.points.iter().map(|point| point.x).collect();
            assert_eq!(lines, [100.0, 400.0]);
            for point in &series.points {
                let (low, high) = point.interval.unwrap();
                assert!(0.0 < low && low < point.y && point.y < high);
            }
        }
    }

    #[test]
    fn the_page_says_what_limits_and_what_is_assumed() {
        let html = projection().page("weft project --seed 1").unwrap();
        let parts = [
            TOO_FEW,
            "Nothing is lost",
            "10.0 % outside, 3 segments sent again",
        ];
        for part in parts.into_iter().chain(["weft project --seed 1", "<svg"]) {
            assert!(html.contains(part), "{part}");
        }
        assert_eq!(html.matches("<tr><td>").count(), 4 + 1);
    }
}
