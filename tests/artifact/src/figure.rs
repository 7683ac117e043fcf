//! Figures of a whole result: those of its seeds as one, and bars of a table.

use std::fs;
use std::path::Path;

use weft_sim::figures::{Axis, Figure, Point, Series, Shape};
use weft_sim::partitions::Interval;

use crate::list::Plot;
use crate::table::{value, Table};

/// The figures that a step wrote, by name.
pub fn written(folder: &Path) -> Vec<Figure> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let figures = paths.iter().filter_map(|path| {
        let text = fs::read_to_string(path).ok()?;
        serde_json::from_str(&text).ok()
    });
    figures.collect()
}

/// The same figure of several seeds as one: medians, and where each is with 95 %. Of distributions the first seed's is left as it is.
pub fn over_seeds(all: &[Figure], source: &str) -> Option<Figure> {
    let first = all.first()?;
    if all.len() == 1 || first.shape == Shape::Steps {
        return Some(first.clone());
    }
    let series = first.series.iter().map(|series| {
        let same = all.iter().map(|figure| {
            let mut of = figure.series.iter();
            of.find(|one| one.name == series.name)
        });
        let same: Option<Vec<&Series>> = same.collect();
        Series {
            name: series.name.clone(),
            points: same.map_or(Vec::new(), |same| points(&same)),
        }
    });
    Some(Figure {
        source: source.to_owned(),
        series: series.collect(),
        ..first.clone()
    })
}

/// The points that all have, by their number.
fn points(same: &[&Series]) -> Vec<Point> {
    let count = same.iter().map(|series| series.points.len()).min();
    let at = |n: usize| {
        let of = |coordinate: &dyn Fn(&Point) -> f64| {
            let values = same.iter().map(|series| coordinate(&series.points[n]));
            Interval::of(values.collect())
        };
        let y = of(&|point| point.y)?;
        Some(Point {
            x: of(&|point| point.x)?.median,
            y: y.median,
            interval: (!y.is_point()).then_some((y.low, y.high)),
        })
    };
    (0..count.unwrap_or(0)).filter_map(at).collect()
}

/// Bars of a table's column; none, if it has not these columns.
pub fn of_table(
    table: &Table,
    plot: &Plot,
    name: &str,
    title: &str,
    source: &str,
) -> Option<Figure> {
    let column = |name: &String| table.head.iter().position(|known| known == name);
    let places: Vec<usize> = plot.places.iter().map(column).collect::<Option<_>>()?;
    let (by, y) = (column(&plot.series)?, column(&plot.y)?);
    let (mut names, mut series): (Vec<String>, Vec<Series>) = Default::default();
    for row in &table.rows {
        let cell = |n: usize| row.get(n).map_or("", String::as_str);
        let place = places.iter().map(|n| cell(*n).trim_matches('`'));
        let place = place.collect::<Vec<_>>().join(", ");
        let Some((height, interval)) = value(cell(y)) else {
            continue;
        };
        let x = names.iter().position(|known| *known == place);
        let x = x.unwrap_or_else(|| {
            names.push(place);
            names.len() - 1
        });
        let point = Point {
            interval,
            ..Point::new(x as f64, height)
        };
        let of = cell(by).trim_matches('`');
        match series.iter_mut().find(|one| one.name == of) {
            Some(one) => one.points.push(point),
            None => series.push(Series {
                name: of.to_owned(),
                points: vec![point],
            }),
        }
    }
    Some(Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        source: source.to_owned(),
        x: Axis::linear(&plot.places.join(", "), ""),
        y: Axis::linear(
            plot.y.trim_end_matches(&format!(", {}", plot.unit)),
            &plot.unit,
        ),
        shape: Shape::Bars(names),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_become_intervals() {
        let of = |y: f64| Figure {
            series: vec![Series {
                name: "a".to_owned(),
                points: vec![Point::new(1.0, y), Point::new(2.0, 5.0)],
            }],
            ..Figure::default()
        };
        let all: Vec<_> = (1..=9).map(|n| of(f64::from(n))).collect();
        let one = over_seeds(&all, "seeds 1 to 9").unwrap();
        assert_eq!(one.series[0].points[0].y, 5.0);
        assert_eq!(one.series[0].points[0].interval, Some((2.0, 8.0)));
        assert_eq!(one.series[0].points[1].interval, None);
        assert_eq!(one.source, "seeds 1 to 9");
    }

    #[test]
    fn a_column_becomes_bars() {
        let text = "| load | rung | Gb/s |\n|---|---|---|\n| 64 B | host | 1.5 (1.0 to 2.0) |\n| | crc | - |\n| 4 KiB | host | 3 |\n";
        let table = crate::table::tables(text, 1).remove(0);
        let plot = Plot {
            places: vec!["load".to_owned()],
            series: "rung".to_owned(),
            y: "Gb/s".to_owned(),
            unit: String::new(),
        };
        let figure = of_table(&table, &plot, "n", "t", "s").unwrap();
        assert_eq!(
            figure.shape,
            Shape::Bars(vec!["64 B".into(), "4 KiB".into()])
        );
        assert_eq!(figure.series.len(), 1);
        assert_eq!(figure.series[0].points[0].interval, Some((1.0, 2.0)));
        let other = Plot {
            y: "Mb/s".to_owned(),
            ..plot
        };
        assert!(of_table(&table, &other, "n", "t", "s").is_none());
    }
}
