//! How a figure is drawn, on whatever it is drawn.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Figure, Point, Shape};

/// Colours that differ in brightness too, so that they can be told apart in grey (those of Okabe and Ito, in that order).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(204, 121, 167),
    RGBColor(0, 158, 115),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(120, 120, 120),
];
/// Length of a dash and of the gap behind it; no gap: a line.
const DASHES: [(u32, u32); 4] = [(1, 0), (6, 3), (2, 3), (10, 3)];
const FONT: &str = "sans-serif";
/// Of a place, how wide its bars are in all.
const BARS: f64 = 0.8;
/// Width of the legend, as its names need it, and from one line of it to the next.
const LEGEND: std::ops::RangeInclusive<usize> = 112..=220;
const LEGEND_LINE: i32 = 18;
/// Left of a name in it.
const SAMPLE: usize = 28;
/// What there is below the plot: of a line of ticks and the axis' name, and of each line of the source.
const BELOW_PLOT: u32 = 38;
const TICK_LINE: u32 = 13;
const SOURCE_LINE: u32 = 12;
/// Some letters in a line of the source; and the width of a letter of a tick.
const SOURCE_LETTERS: usize = 118;
const LETTER: usize = 5;
/// At least so wide are plot and legend.
const PLOT_AND_LEGEND: usize = 482;

/// An axis with ticks at chosen places.
struct Places {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for Places {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        from + (f64::from(to - from) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<Places, Places>>;

fn said<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> String {
    format!("a figure cannot be drawn: {error}")
}

pub(super) fn draw<B: DrawingBackend>(figure: &Figure, backend: B) -> Result<(), String> {
    let root = backend.into_drawing_area();
    root.fill(&WHITE).map_err(said)?;
    let source = lines_of(&figure.source);
    let of_source = 8 + SOURCE_LINE * source.len() as u32;
    let (above, below) = root.split_vertically(Figure::SIZE.1 - of_source);
    let (above, beside) = above.split_horizontally(Figure::SIZE.0 - legend_width(figure) as u32);
    let small = (FONT, 9).into_font().color(&RGBColor(90, 90, 90));
    for (n, line) in source.into_iter().enumerate() {
        let at = (12, 2 + (SOURCE_LINE as usize * n) as i32);
        let line = Text::new(line, at, small.clone());
        below.draw(&line).map_err(said)?;
    }

    let (xs, x_ticks) = match figure.shape.places() {
        Some(places) => {
            let ticks = (0..places.len()).map(|n| n as f64).collect();
            (-0.5..places.len() as f64 - 0.5, ticks)
        }
        None => figure.x.reach(points(figure).map(|point| point.x)),
    };
    let (ys, y_ticks) = figure.y.reach(heights(figure));
    // Names of places that have no room beside each other stand in several lines, in turn.
    let places = figure.shape.places().unwrap_or_default();
    let longest = places.iter().map(|place| place.chars().count()).max();
    let wide = LETTER * (longest.unwrap_or(0) + 2) * places.len();
    let room = PLOT_AND_LEGEND - legend_width(figure);
    let place_lines = wide.div_ceil(room).max(1);
    let below_plot = BELOW_PLOT + TICK_LINE * (place_lines as u32 - 1);
    let mut chart: Chart<'_, B> = ChartBuilder::on(&above)
        .caption(&figure.title, (FONT, 14))
        .margin(8)
        .margin_right(18)
        .x_label_area_size(below_plot)
        .y_label_area_size(52)
        .build_cartesian_2d(
            Places {
                range: xs,
                ticks: x_ticks,
            },
            Places {
                range: ys.clone(),
                ticks: y_ticks,
            },
        )
        .map_err(said)?;
    // What the chart would write over each other is written here.
    let tick = |x: &f64| match places {
        [] => figure.x.says(*x),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(figure.x.label())
        .y_desc(figure.y.label())
        .x_label_formatter(&tick)
        .y_label_formatter(&|y| figure.y.says(*y))
        .label_style((FONT, 10))
        .axis_desc_style((FONT, 11))
        .draw()
        .map_err(said)?;
    let middle = Pos::new(HPos::Center, VPos::Top);
    for (n, place) in places.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(n as f64, ys.start));
        let y = y + 8 + (TICK_LINE as usize * (n % place_lines)) as i32;
        let style = (FONT, 10).into_text_style(&above).pos(middle);
        let name = Text::new(place.clone(), (x, y), style);
        above.draw(&name).map_err(said)?;
    }
    match figure.shape {
        Shape::Lines => lines(figure, &mut chart)?,
        Shape::Steps => steps(figure, &mut chart)?,
        Shape::Bars(_) => bars(figure, ys.start, &mut chart)?,
        Shape::Stacked(_) => stacked(figure, &mut chart)?,
    }
    legend(figure, &beside)?;
    root.present().map_err(said)
}

/// The source in lines that have room.
fn lines_of(source: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in source.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < SOURCE_LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn points(figure: &Figure) -> impl Iterator<Item = &Point> {
    figure.series.iter().flat_map(|series| &series.points)
}

/// What the y axis has to reach.
fn heights(figure: &Figure) -> impl Iterator<Item = f64> + '_ {
    let stacked = match figure.shape {
        Shape::Stacked(ref places) => (0..places.len())
            .map(|place| {
                let there = points(figure).filter(move |point| point.x as usize == place);
                there.map(|point| point.y).sum()
            })
            .collect(),
        _ => Vec::new(),
    };
    let ends = points(figure).flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [low, point.y, high]
    });
    ends.chain(stacked)
}

fn style(n: usize) -> ShapeStyle {
    COLOURS[n % COLOURS.len()].stroke_width(2)
}

/// A series' points as they lie.
fn lying(figure: &Figure, n: usize) -> Vec<(f64, f64)> {
    let points = figure.series[n].points.iter();
    let lie = points.filter_map(|p| Some((figure.x.at(p.x)?, figure.y.at(p.y)?)));
    lie.collect()
}

fn intervals<B: DrawingBackend>(
    figure: &Figure,
    n: usize,
    at: impl Fn(&Point) -> Option<f64>,
    chart: &mut Chart<'_, B>,
) -> Result<(), String> {
    let bars = figure.series[n].points.iter().filter_map(|point| {
        let (low, high) = point.interval?;
        let y = |value| figure.y.at(value);
        Some(ErrorBar::new_vertical(
            at(point)?,
            y(low)?,
            y(point.y)?,
            y(high)?,
            RGBColor(60, 60, 60).stroke_width(1),
            7,
        ))
    });
    chart.draw_series(bars).map_err(said)?;
    Ok(())
}

/// A line in the colour and the dashes of a series.
fn line<B: DrawingBackend>(
    n: usize,
    path: Vec<(f64, f64)>,
    chart: &mut Chart<'_, B>,
) -> Result<(), String> {
    let style = style(n);
    let (size, gap) = DASHES[n % DASHES.len()];
    let drawn = match gap {
        0 => chart.draw_series(LineSeries::new(path, style)),
        _ => chart.draw_series(DashedLineSeries::new(path, size, gap, style)),
    };
    drawn.map_err(said)?;
    Ok(())
}

fn lines<B: DrawingBackend>(figure: &Figure, chart: &mut Chart<'_, B>) -> Result<(), String> {
    for n in 0..figure.series.len() {
        let path = lying(figure, n);
        line(n, path.clone(), chart)?;
        intervals(figure, n, |point| figure.x.at(point.x), chart)?;
        let filled = COLOURS[n % COLOURS.len()].filled();
        let marks = path.into_iter();
        match n % 3 {
            0 => chart.draw_series(marks.map(|at| Circle::new(at, 3, filled))),
            1 => chart.draw_series(marks.map(|at| TriangleMarker::new(at, 4, filled))),
            _ => chart.draw_series(marks.map(|at| Cross::new(at, 3, style(n)))),
        }
        .map_err(said)?;
    }
    Ok(())
}

fn steps<B: DrawingBackend>(figure: &Figure, chart: &mut Chart<'_, B>) -> Result<(), String> {
    for n in 0..figure.series.len() {
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (x, y) in lying(figure, n) {
            if let Some(&(_, before)) = path.last() {
                path.push((x, before));
            }
            path.push((x, y));
        }
        line(n, path, chart)?;
    }
    Ok(())
}

fn boxes<B: DrawingBackend>(
    n: usize,
    corners: Vec<[(f64, f64); 2]>,
    chart: &mut Chart<'_, B>,
) -> Result<(), String> {
    let boxes = corners.into_iter();
    let boxes = boxes.map(|corners| Rectangle::new(corners, COLOURS[n % COLOURS.len()].filled()));
    chart.draw_series(boxes).map_err(said)?;
    Ok(())
}

fn legend_width(figure: &Figure) -> usize {
    let names = figure
        .series
        .iter()
        .map(|series| series.name.chars().count());
    let longest = names.max().unwrap_or(0);
    (SAMPLE + (LETTER + 1) * longest).clamp(*LEGEND.start(), *LEGEND.end())
}

/// A line for each series, beside the plot: nothing of it is hidden.
fn legend<B: DrawingBackend>(
    figure: &Figure,
    beside: &DrawingArea<B, plotters::coord::Shift>,
) -> Result<(), String> {
    for (n, series) in figure.series.iter().enumerate() {
        let y = 46 + LEGEND_LINE * n as i32;
        if figure.shape.places().is_some() {
            let filled = COLOURS[n % COLOURS.len()].filled();
            let sample = Rectangle::new([(6, y - 5), (18, y + 5)], filled);
            beside.draw(&sample).map_err(said)?;
        } else {
            let (size, gap) = DASHES[n % DASHES.len()];
            let step = if gap == 0 { 22 } else { (size + gap) as usize };
            for x in (0..22).step_by(step) {
                let end = if gap == 0 {
                    22
                } else {
                    (x + size as i32).min(22)
                };
                let sample = PathElement::new([(x, y), (end, y)], style(n));
                beside.draw(&sample).map_err(said)?;
            }
        }
        let name = Text::new(
            series.name.clone(),
            (SAMPLE as i32, y - 5),
            (FONT, 10).into_font(),
        );
        beside.draw(&name).map_err(said)?;
    }
    Ok(())
}

fn bars<B: DrawingBackend>(
    figure: &Figure,
    floor: f64,
    chart: &mut Chart<'_, B>,
) -> Result<(), String> {
    let width = BARS / figure.series.len().max(1) as f64;
    for n in 0..figure.series.len() {
        let left = |point: &Point| point.x - BARS / 2.0 + width * n as f64;
        let points = figure.series[n].points.iter();
        let corners = points.filter_map(|point| {
            let y = figure.y.at(point.y)?;
            Some([(left(point), floor), (left(point) + width, y)])
        });
        boxes(n, corners.collect(), chart)?;
        let middle = |point: &Point| Some(left(point) + width / 2.0);
        intervals(figure, n, middle, chart)?;
    }
    Ok(())
}

fn stacked<B: DrawingBackend>(figure: &Figure, chart: &mut Chart<'_, B>) -> Result<(), String> {
    let places = figure.shape.places().map_or(0, <[String]>::len);
    let mut tops = vec![0.0; places];
    for n in 0..figure.series.len() {
        let mut corners = Vec::new();
        for point in &figure.series[n].points {
            let Some(top) = tops.get_mut(point.x as usize) else {
                continue;
            };
            let (low, high) = (*top, *top + point.y);
            corners.push([(point.x - BARS / 2.0, low), (point.x + BARS / 2.0, high)]);
            *top = high;
        }
        boxes(n, corners, chart)?;
    }
    Ok(())
}
