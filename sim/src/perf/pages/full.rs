//! The data path by itself, and the whole stack.

use super::super::data_path::Rate;
use super::super::Performance;
use super::{bars, or_none};
use crate::card::CYCLE_NS;
use crate::figures::{Axis, Draws, Figure, Point, Series, Shape, Table};

/// Each load in each direction that it has.
fn rates(p: &Performance) -> Vec<(&'static str, &'static str, Rate)> {
    let each = p.data_path.iter().flat_map(|measured| {
        let [rx, tx] = [measured.rates.rx, measured.rates.tx];
        let both = [("receive", rx), ("transmit", tx)];
        both.map(|(way, rate)| Some((measured.what, way, rate?)))
    });
    each.flatten().collect()
}

impl Draws for Performance {
    fn title(&self) -> String {
        format!("Weft: card {}, seed {}", self.card, self.seed)
    }

    fn about(&self) -> String {
        let wire = self
            .wire_to_memory_cycles_64b
            .map_or(String::new(), |cycles| {
                let ns = cycles * CYCLE_NS;
                format!(" From the wire to host memory, 64-byte Write: {cycles} cycles ({ns} ns).")
            });
        let error = self.full_stack_error.as_ref();
        let error = error.map_or(String::new(), |error| format!(" The whole stack: {error}"));
        format!(
            "Simulated cycle by cycle at 250 MHz; host memory answers reads after 400 ns, host software takes no simulated time. \
             Not measured on a board.{wire} Simulated cycles a second, one card under load: {:.0}.{error}",
            self.sim_cycles_per_second
        )
    }

    fn figures(&self, source: &str) -> Vec<Figure> {
        // Two directions of one load stand beside each other.
        let of = |(what, ..): &(&str, &str, Rate)| {
            let (_, load) = what.split_once(", ").unwrap_or(("", what));
            match what.starts_with("both") {
                true => format!("{load}, both ways"),
                false => load.to_owned(),
            }
        };
        let (shape, series) = bars(
            &rates(self),
            of,
            |(_, way, _)| (*way).to_owned(),
            |(.., rate)| Some(rate.gbps),
        );
        let mut all = vec![Figure {
            name: "data-path".to_owned(),
            title: "the data path by itself, one flow".to_owned(),
            source: source.to_owned(),
            x: Axis::linear("load", ""),
            y: Axis::linear("TCP payload", "Gb/s"),
            shape,
            series,
        }];
        let Some(full) = &self.full_stack else {
            return all;
        };
        let writes = full.bandwidth.iter();
        let writes = writes.map(|row| Point::new(row.bytes as f64, row.gbps));
        let pings = full.pingpong.iter();
        let pings = pings.map(|row| Point::new(row.bytes as f64, row.cycles * CYCLE_NS as f64));
        let bytes = Axis::log("message", "bytes");
        let lines = |name: &str, title: &str, y, points| Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            source: source.to_owned(),
            x: bytes.clone(),
            y,
            shape: Shape::Lines,
            series: vec![Series {
                name: self.card.clone(),
                points,
            }],
        };
        all.push(lines(
            "bandwidth",
            "Writes through the whole stack",
            Axis::linear("goodput", "Gb/s"),
            writes.collect(),
        ));
        all.push(lines(
            "ping-pong",
            "Sends there and back",
            Axis::linear("round trip", "ns"),
            pings.collect(),
        ));
        all
    }

    fn tables(&self) -> Vec<Table> {
        let caption = "The data path by itself, one flow";
        let mut path = Table::new(caption, &["load", "direction", "cycles a segment", "Gb/s"]);
        for (what, way, rate) in rates(self) {
            let numbers = [rate.cycles, rate.gbps].map(|value| or_none(Some(value), 1));
            let [cycles, gbps] = numbers;
            path.rows.push(vec![what.into(), way.into(), cycles, gbps]);
        }
        let Some(full) = &self.full_stack else {
            return vec![path];
        };
        let caption = format!(
            "Writes through the whole stack, MTU {}, link {} Gb/s and {} ns each way",
            full.mtu, full.link_gbps, full.link_delay_ns
        );
        let mut writes = Table::new(caption, &["bytes", "cycles each", "Gb/s"]);
        for row in &full.bandwidth {
            writes.rows.push(vec![
                row.bytes.to_string(),
                format!("{:.1}", row.cycles),
                format!("{:.2}", row.gbps),
            ]);
        }
        let head = ["bytes", "cycles, there and back", "ns"];
        let mut pings = Table::new("Ping-pong by Send", &head);
        for row in &full.pingpong {
            pings.rows.push(vec![
                row.bytes.to_string(),
                format!("{:.0}", row.cycles),
                format!("{:.0}", row.cycles * CYCLE_NS as f64),
            ]);
        }
        vec![path, writes, pings]
    }
}
