//! Figures for papers: what is drawn is a [`Figure`], and each becomes an SVG, a PDF and a CSV of the same points.

mod axis;
mod draw;
mod page;
mod pdf;
mod replace;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use axis::{Axis, Scale};
pub use page::{Draws, Page, Table};
pub use replace::replace;

/// A figure: axes with names and units, and series of points.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Figure {
    /// Name of its files.
    pub name: String,
    /// Above it.
    pub title: String,
    /// Below it: the run's command, seeds and version.
    pub source: String,
    /// Along.
    pub x: Axis,
    /// Upward.
    pub y: Axis,
    /// How the points are drawn.
    pub shape: Shape,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// How a figure's points are drawn.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub enum Shape {
    /// A line through the points of each series, and a mark at each.
    #[default]
    Lines,
    /// A line that goes up or down at each point: of a distribution.
    Steps,
    /// Bars beside each other at these places of the x axis: a point's `x` is the number of its place.
    Bars(Vec<String>),
    /// The same, on top of each other.
    Stacked(Vec<String>),
}

impl Shape {
    fn places(&self) -> Option<&[String]> {
        match self {
            Self::Bars(places) | Self::Stacked(places) => Some(places),
            Self::Lines | Self::Steps => None,
        }
    }
}

/// What has one colour, one dash and one line in the legend.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// Its points, in the order of x.
    pub points: Vec<Point>,
}

/// A point; with the ends of its interval, if it has one.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Point {
    /// Along.
    pub x: f64,
    /// Upward.
    pub y: f64,
    /// The interval of y.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// Without an interval.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            interval: None,
        }
    }
}

impl Figure {
    /// Width and height: of an SVG in px, of a PDF in points.
    pub const SIZE: (u32, u32) = (560, 360);

    /// As SVG.
    ///
    /// # Errors
    /// What could not be drawn.
    pub fn svg(&self) -> Result<String, String> {
        let mut out = String::new();
        let backend = plotters::backend::SVGBackend::with_string(&mut out, Self::SIZE);
        draw::draw(self, backend)?;
        Ok(out)
    }

    /// As a PDF of one page, with the text as text.
    ///
    /// # Errors
    /// What could not be drawn.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        draw::draw(self, pdf::Backend::new(&mut out, Self::SIZE))?;
        Ok(out)
    }

    /// Its points as CSV: a line for each, the units in the head.
    ///
    /// # Errors
    /// What could not be written.
    pub fn csv(&self) -> Result<String, String> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let say = |error: csv::Error| error.to_string();
        let y = self.y.label();
        let head = ["series", &self.x.label(), &y, "low", "high"];
        out.write_record(head).map_err(say)?;
        let places = self.shape.places();
        for series in &self.series {
            for point in &series.points {
                let place = places.and_then(|places| places.get(point.x as usize));
                let x = place.cloned().unwrap_or_else(|| point.x.to_string());
                let end = |end: Option<f64>| end.map_or(String::new(), |end| end.to_string());
                let low = end(point.interval.map(|(low, _)| low));
                let high = end(point.interval.map(|(_, high)| high));
                let record = [&series.name, &x, &point.y.to_string(), &low, &high];
                out.write_record(record).map_err(say)?;
            }
        }
        let bytes = out.into_inner().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// Writes each figure into a folder, which is made: NAME.svg, NAME.pdf, NAME.csv, and NAME.json, of which it can be drawn again.
///
/// # Errors
/// What could not be drawn or written.
pub fn write(figures: &[Figure], folder: &Path) -> Result<(), String> {
    let cannot = |path: &Path, error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for figure in figures {
        let (svg, pdf, csv) = (figure.svg()?, figure.pdf()?, figure.csv()?);
        let json = serde_json::to_string(figure).map_err(|error| error.to_string())?;
        let files = [
            ("svg", svg.as_bytes()),
            ("pdf", &pdf[..]),
            ("csv", csv.as_bytes()),
            ("json", json.as_bytes()),
        ];
        for (ending, bytes) in files {
            let path = folder.join(format!("{}.{ending}", figure.name));
            replace(&path, bytes).map_err(|error| cannot(&path, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(shape: Shape) -> Figure {
        let series = |name: &str, k: f64| Series {
            name: name.to_owned(),
            points: (0..3)
                .map(|n| Point {
                    interval: (n == 1).then_some((k, 4.0 * k)),
                    ..Point::new(f64::from(n), k * f64::from(n + 1))
                })
                .collect(),
        };
        Figure {
            name: "one".to_owned(),
            title: "A title".to_owned(),
            source: "a command".to_owned(),
            x: Axis::linear("load", ""),
            y: Axis::linear("rate", "Gb/s"),
            shape,
            series: vec![series("first", 1.0), series("second, too", 2.0)],
        }
    }

    fn places() -> Vec<String> {
        ["64 B", "4 KiB", "1 MiB"].map(str::to_owned).into()
    }

    #[test]
    fn every_shape_is_drawn_and_the_same_each_time() {
        let shapes = [
            Shape::Lines,
            Shape::Steps,
            Shape::Bars(places()),
            Shape::Stacked(places()),
        ];
        for shape in shapes {
            let figure = figure(shape);
            let (svg, pdf) = (figure.svg().unwrap(), figure.pdf().unwrap());
            assert!(svg.contains("rate (Gb/s)"), "{:?}", figure.shape);
            for text in ["A title", "a command", "second, too"] {
                assert!(svg.contains(text), "{text}: {:?}", figure.shape);
                let in_pdf = pdf.windows(text.len()).any(|part| part == text.as_bytes());
                assert!(in_pdf, "{text}: {:?}", figure.shape);
            }
            assert_eq!(figure.svg().unwrap(), svg);
            assert_eq!(figure.pdf().unwrap(), pdf);
        }
    }

    #[test]
    fn points_are_written_with_places_and_intervals() {
        let csv = figure(Shape::Bars(places())).csv().unwrap();
        let lines: Vec<_> = csv.lines().collect();
        assert_eq!(lines[0], "series,load,rate (Gb/s),low,high");
        assert_eq!(lines[2], "first,4 KiB,2,1,4");
        assert_eq!(lines[6], "\"second, too\",1 MiB,6,,");
    }

    #[test]
    fn a_figure_of_nothing_or_of_what_cannot_be_drawn_is_one() {
        let mut figure = Figure {
            y: Axis::log("rate", ""),
            ..Figure::default()
        };
        assert!(figure.svg().is_ok() && figure.pdf().is_ok());
        let points = vec![Point::new(f64::NAN, 1.0), Point::new(1.0, 0.0)];
        figure.series.push(Series {
            name: String::new(),
            points,
        });
        assert!(figure.svg().is_ok() && figure.pdf().is_ok());
    }
}
