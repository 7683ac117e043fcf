//! The figures of a run, for papers: rates by load, latencies as distributions, instructions by layer.

use super::print::by_layer;
use super::rows::{Count, PER_BYTE, PER_MESSAGE};
use super::workload::Load;
use super::{AtRung, Figures, Interval, Measured, Partitions, PARTS};
use crate::figures::{Axis, Figure, Point, Series, Shape};

/// A rate of each load at each rung: its file, its name, its unit, and the figure.
type Rate = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Figures) -> Option<f64>,
);

/// The steady state's, where a run has one.
const RATES: [Rate; 3] = [
    ("goodput", "goodput", "Gb/s", |f| {
        Some(f.steady.as_ref().map_or(f.gbps, |steady| steady.gbps))
    }),
    ("messages", "messages", "1/s", |f| {
        let steady = f.steady.as_ref();
        Some(steady.map_or(f.messages_per_second, |s| s.messages_per_second))
    }),
    ("cores", "busy cores, who posts", "", |f| {
        f.hosts.as_ref().map(|hosts| hosts[0].cores)
    }),
];

/// All figures that the run has.
pub fn figures(p: &Partitions) -> Vec<Figure> {
    let mut all = of_all(p);
    for measured in &p.loads {
        all.extend(of_load(p, measured));
    }
    all
}

/// Those in which the loads are beside each other.
pub(super) fn of_all(p: &Partitions) -> Vec<Figure> {
    let rates = RATES.iter();
    let mut all: Vec<Figure> = rates
        .filter_map(|&(name, title, unit, of)| by_load(p, name, Axis::linear(title, unit), &of))
        .collect();
    for (each, counts) in [("message", &PER_MESSAGE[..]), ("byte", &PER_BYTE)] {
        let drawn = counts.iter().filter(|count| count.drawn);
        all.extend(drawn.filter_map(|count| costs(p, each, count)));
    }
    all.extend(against_load(p));
    all
}

/// Those of one load.
pub(super) fn of_load(p: &Partitions, measured: &Measured) -> Vec<Figure> {
    let mut all: Vec<Figure> = distributions(p, measured).into();
    all.extend(instructions(p, measured));
    all
}

/// What a message or a byte of one costs; nothing, if no rung of any load has such a cost.
fn costs(p: &Partitions, each: &str, count: &Count) -> Option<Figure> {
    let of = count.of;
    let all = p.loads.iter().flat_map(|measured| &measured.rungs);
    let any = all.flat_map(|at| &at.all).any(|figures| of(figures) > 0.0);
    let y = Axis::linear(&format!("{} per {each}", count.name), "");
    any.then(|| by_load(p, &file(&y.name), y, &|f| Some(of(f))))?
}

/// What produced it: below each figure.
pub(super) fn source(p: &Partitions) -> String {
    format!("{}; Weft {}", p.command, p.version)
}

/// A file's name that is one everywhere.
fn file(text: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    text.chars().map(letter).collect()
}

/// A point that has an interval if its seeds differ.
fn point(x: f64, of: Interval) -> Point {
    Point {
        x,
        y: of.median,
        interval: (!of.is_point()).then_some((of.low, of.high)),
    }
}

/// The rungs that any load has, in the order of the ladder.
fn rungs(p: &Partitions) -> Vec<&'static str> {
    let mut names = Vec::new();
    for at in p.loads.iter().flat_map(|measured| &measured.rungs) {
        if !names.contains(&at.rung) {
            names.push(at.rung);
        }
    }
    names
}

/// Bars for each load, one for each rung.
fn by_load(
    p: &Partitions,
    name: &str,
    y: Axis,
    of: &dyn Fn(&Figures) -> Option<f64>,
) -> Option<Figure> {
    let series = rungs(p).into_iter().map(|rung| {
        let loads = p.loads.iter().enumerate();
        let points = loads.filter_map(|(n, measured)| {
            let at = measured.rungs.iter().find(|at| at.rung == rung)?;
            Some(point(n as f64, at.over_all(of)?))
        });
        Series {
            name: rung.to_owned(),
            points: points.collect(),
        }
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let names = p.loads.iter().map(|measured| measured.load.name.clone());
    (!series.is_empty()).then(|| Figure {
        name: name.to_owned(),
        title: format!("{} by load and rung", y.name),
        source: source(p),
        x: Axis::linear("load", ""),
        y,
        shape: Shape::Bars(names.collect()),
        series,
    })
}

/// Part of the messages that took no longer, at each latency that occurs; of all seeds together.
fn part_below(at: &AtRung) -> Vec<(f64, f64)> {
    let all = at.all.iter().flat_map(|figures| &figures.took_ns);
    let mut took: Vec<u64> = all.copied().collect();
    took.sort_unstable();
    let count = took.len() as f64;
    let mut below: Vec<(f64, f64)> = Vec::new();
    for (n, ns) in took.into_iter().enumerate() {
        let part = (n + 1) as f64 / count;
        match below.last_mut() {
            Some(last) if last.0 == ns as f64 => last.1 = part,
            _ => below.push((ns as f64, part)),
        }
    }
    below
}

/// Latency as CDF and as CCDF.
fn distributions(p: &Partitions, measured: &Measured) -> [Figure; 2] {
    let of = |part: &dyn Fn(f64) -> f64| {
        let series = measured.rungs.iter().map(|at| {
            let points = part_below(at).into_iter();
            Series {
                name: at.rung.to_owned(),
                points: points
                    .map(|(ns, below)| Point::new(ns, part(below)))
                    .collect(),
            }
        });
        series.collect()
    };
    let name = &measured.load.name;
    let figure = |kind: &str, y, series| Figure {
        name: format!("{kind}-{}", file(name)),
        title: format!("latency of {name}"),
        source: source(p),
        x: Axis::log("latency", "ns"),
        y,
        shape: Shape::Steps,
        series,
    };
    [
        figure(
            "cdf",
            Axis::linear("part of messages", ""),
            of(&|below| below),
        ),
        figure(
            "ccdf",
            Axis::log("part of messages that took longer", ""),
            of(&|below| 1.0 - below),
        ),
    ]
}

/// Instructions of the hosts for a message, by layer, if they were counted.
fn instructions(p: &Partitions, measured: &Measured) -> Option<Figure> {
    let layers = by_layer(measured);
    // The last one is their sum.
    let (_, layers) = layers.split_last()?;
    let series = layers.iter().map(|(layer, counts)| {
        let counts = counts.iter().enumerate();
        let points = counts.filter_map(|(n, count)| Some(Point::new(n as f64, count.as_ref()?.0)));
        Series {
            name: (*layer).to_owned(),
            points: points.collect(),
        }
    });
    let names = measured.rungs.iter().map(|at| at.rung.to_owned());
    Some(Figure {
        name: format!("instructions-{}", file(&measured.load.name)),
        title: format!("instructions of both hosts, {}", measured.load.name),
        source: source(p),
        x: Axis::linear("rung", ""),
        y: Axis::linear("instructions for a message", ""),
        shape: Shape::Stacked(names.collect()),
        series: series.collect(),
    })
}

/// Loads that differ by nothing but how much is under way, and there are several.
fn by_depth(p: &Partitions) -> bool {
    let same = |load: &Load| Load {
        name: String::new(),
        depth: 0,
        rate: None,
        messages: 0,
        ..load.clone()
    };
    let mut loads = p.loads.iter().map(|measured| same(&measured.load));
    let first = loads.next();
    p.loads.len() > 1 && loads.all(|load| Some(load) == first)
}

/// Latency against goodput, a point for each load: where loads differ by nothing but how much is under way.
fn against_load(p: &Partitions) -> Vec<Figure> {
    if !by_depth(p) {
        return Vec::new();
    }
    let parts = PARTS.iter().enumerate();
    let parts = parts.filter(|(_, (part, _))| [5_000, 9_900].contains(part));
    let figure = |(part, (_, name)): (usize, &(usize, &str))| {
        let series = rungs(p).into_iter().map(|rung| {
            let at = p.loads.iter().filter_map(|measured| {
                let at = measured.rungs.iter().find(|at| at.rung == rung)?;
                let gbps = at.over_all(&|f| Some(f.gbps))?.median;
                let took = at.over_all(&|f| f.latency_ns[part].map(|ns| ns as f64))?;
                Some(point(gbps, took))
            });
            Series {
                name: rung.to_owned(),
                points: at.collect(),
            }
        });
        Figure {
            name: format!("load-{}", file(name)),
            title: format!("latency against load, {name}"),
            source: source(p),
            x: Axis::linear("goodput", "Gb/s"),
            y: Axis::log(&format!("latency, {name}"), "ns"),
            shape: Shape::Lines,
            series: series.collect(),
        }
    };
    parts.map(figure).collect()
}
