//! Figures for papers of what `weft perf` measures.

use super::loss::LossTable;
use super::queue::QueueTable;
use super::scale::ScaleTable;
use super::Performance;
use crate::card::CYCLE_NS;
use crate::figures::{Axis, Figure, Point, Series, Shape};

/// Something with a figure for each of its tables.
pub trait Draws {
    /// The figures. `source` is what they say of the run that made them.
    fn figures(&self, source: &str) -> Vec<Figure>;
}

/// The groups of equal keys, in the order in which they come.
fn groups<T, K: PartialEq>(all: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<&T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for one in all {
        let of = key(one);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, members)) => members.push(one),
            None => groups.push((of, vec![one])),
        }
    }
    groups
}

/// Bars: a place for each of `places`, a series for each of `series`.
fn bars<T>(
    all: &[T],
    place: impl Fn(&T) -> String,
    series: impl Fn(&T) -> String,
    y: impl Fn(&T) -> f64,
) -> (Shape, Vec<Series>) {
    let places: Vec<String> = groups(all, &place)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let series = groups(all, series).into_iter().map(|(name, members)| {
        let points = members.into_iter().filter_map(|one| {
            let at = places.iter().position(|known| *known == place(one))?;
            Some(Point::new(at as f64, y(one)))
        });
        Series {
            name,
            points: points.collect(),
        }
    });
    let series = series.collect();
    (Shape::Bars(places), series)
}

impl Draws for Performance {
    fn figures(&self, source: &str) -> Vec<Figure> {
        let Some(full) = &self.full_stack else {
            return Vec::new();
        };
        let rates = full.bandwidth.iter();
        let rates = rates.map(|row| Point::new(row.bytes as f64, row.gbps));
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
        vec![
            lines(
                "bandwidth",
                "Writes through the whole stack",
                Axis::linear("goodput", "Gb/s"),
                rates.collect(),
            ),
            lines(
                "ping-pong",
                "Sends there and back",
                Axis::linear("round trip", "ns"),
                pings.collect(),
            ),
        ]
    }
}

impl Draws for LossTable {
    fn figures(&self, source: &str) -> Vec<Figure> {
        let lost: Vec<_> = self.runs.iter().filter(|run| run.loss > 0).collect();
        let by_delay = groups(&lost, |run| run.delay_ns);
        let figures = by_delay.into_iter().map(|(delay_ns, runs)| {
            let controllers = groups(&runs, |run| run.congestion);
            let series = controllers.into_iter().map(|(name, runs)| {
                let points = runs.into_iter();
                let points = points.map(|run| Point::new(f64::from(run.loss) / 1e4, run.gbps));
                Series {
                    name: name.to_owned(),
                    points: points.collect(),
                }
            });
            Figure {
                name: format!("loss-{delay_ns}-ns"),
                title: format!("goodput under loss, {} µs each way", delay_ns as f64 / 1e3),
                source: source.to_owned(),
                x: Axis::log("frames lost, both ways", "%"),
                y: Axis::log("goodput", "Gb/s"),
                shape: Shape::Lines,
                series: series.collect(),
            }
        });
        figures.collect()
    }
}

impl Draws for ScaleTable {
    fn figures(&self, source: &str) -> Vec<Figure> {
        let with = |run: &super::scale::Sharing| match (run.idle, run.loss) {
            (0, 0) => "alone".to_owned(),
            (idle, 0) => format!("{idle} idle"),
            (0, loss) => format!("{} % lost", f64::from(loss) / 1e4),
            (idle, loss) => format!("{idle} idle, {} % lost", f64::from(loss) / 1e4),
        };
        let figure = |name: &str, y: Axis, of: &dyn Fn(&super::scale::Sharing) -> f64| {
            let place = |run: &super::scale::Sharing| run.congestion.to_owned();
            let (shape, series) = bars(&self.sharing, place, with, of);
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
        vec![
            figure(
                "shared-goodput",
                Axis::linear("goodput of all", "Gb/s"),
                &|run| run.gbps,
            ),
            figure("fairness", Axis::linear("Jain's index", ""), &|run| {
                run.jain
            }),
        ]
    }
}

impl Draws for QueueTable {
    fn figures(&self, source: &str) -> Vec<Figure> {
        let way = |run: &super::queue::Run| match run.lone {
            true => format!("{} Gb/s, lone", run.link_gbps),
            false => format!("{} Gb/s", run.link_gbps),
        };
        let figure = |name: &str, y: Axis, of: &dyn Fn(&super::queue::Run) -> f64| {
            let (shape, series) = bars(&self.runs, super::queue::Run::name, way, of);
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
        vec![
            figure("port-goodput", Axis::linear("goodput", "Gb/s"), &|run| {
                run.gbps
            }),
            figure(
                "port-wait",
                Axis::linear("mean wait of a frame", "µs"),
                &|run| run.mean_wait_ns / 1e3,
            ),
        ]
    }
}
