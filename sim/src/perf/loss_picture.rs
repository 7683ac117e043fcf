//! Goodput over loss as a picture: both axes logarithmic, a panel for each length of path, a line for each controller, and the formula's
//! curves. SVG, in one piece, without scripts.

use std::fmt::{self, Write};

use weft_hostdrv::Congestion;

use super::loss::{formula, Goodput, LossTable, DELAYS};

/// A panel's plot, in units of the picture: where it begins, and its size.
const LEFT: f64 = 56.0;
const TOP: f64 = 64.0;
const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 260.0;
/// From one panel to the next.
const STEP: f64 = 420.0;
/// The axes: losses in frames of a million, goodput in Gb/s.
const LOSS: (f64, f64) = (200.0, 50_000.0);
const GBPS: (f64, f64) = (1.0, 130.0);

/// Colours of the controllers.
const COLOURS: [(Congestion, &str); Congestion::ALL.len()] = [
    (Congestion::Reno, "#c2533a"),
    (Congestion::Cubic, "#2f6fb5"),
    (Congestion::Dctcp, "#8a5aa8"),
    (Congestion::Delay, "#3b8f4d"),
];
/// Dashes of the formula's curves.
const DASHES: [&str; CURVES.len()] = ["2 4", "8 4"];
/// Steps of a curve from point to point.
const STEPS: u32 = 16;

/// A round-trip time of a run.
type RoundTrip = fn(&Goodput) -> f64;
/// Whose round-trip time the formula's curves have.
const CURVES: [(&str, RoundTrip); 2] = [
    ("the path's RTT", |run| 2.0 * run.delay_ns as f64),
    ("SRTT of reno", |run| run.round_trip_ns),
];

const STYLE: &str = "text{font:12px sans-serif;fill:#334}.t{font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}\
.g{stroke:#dde;stroke-width:1}.l{fill:none;stroke-width:2}.f{fill:none;stroke:#667;stroke-width:1.5}";

fn part(value: f64, (low, high): (f64, f64)) -> f64 {
    ((value.max(low) / low).ln() / (high / low).ln()).min(1.0)
}

fn x(panel: f64, loss: f64) -> f64 {
    panel + LEFT + WIDTH * part(loss, LOSS)
}

fn y(gbps: f64) -> f64 {
    TOP + HEIGHT * (1.0 - part(gbps, GBPS))
}

/// The picture.
pub fn svg(table: &LossTable) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = picture(table, " xmlns=\"http://www.w3.org/2000/svg\"", &mut out);
    out
}

/// The picture and its figures as a page.
pub fn page(table: &LossTable) -> String {
    let mut out = String::new();
    let _ = write_page(table, &mut out);
    out
}

fn picture(table: &LossTable, namespace: &str, out: &mut String) -> fmt::Result {
    let panels = DELAYS.len() as f64;
    let (width, height) = (STEP * panels + 10.0, TOP + HEIGHT + 104.0);
    writeln!(
        out,
        "<svg{namespace} viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text class=\"t\" x=\"{LEFT}\" y=\"22\">Goodput over loss: card {}, seed {}, MTU {}, a line of {} Gb/s, {} ms a point</text>",
        table.card, table.seed, table.mtu, table.link_gbps, table.milliseconds
    )?;
    for (n, delay_ns) in DELAYS.into_iter().enumerate() {
        panel(table, delay_ns, STEP * n as f64, out)?;
    }
    let below = TOP + HEIGHT + 62.0;
    for (n, (name, colour)) in lines(table).enumerate() {
        let at = (LEFT + 130.0 * n as f64, below);
        key(out, at, (colour, ""), name)?;
    }
    for (n, ((name, _), dash)) in CURVES.iter().zip(DASHES).enumerate() {
        let name = format!("1.22 MSS / (RTT √p), {name}");
        let at = (LEFT + STEP * n as f64, below + 24.0);
        key(out, at, ("#667", dash), &name)?;
    }
    writeln!(out, "</svg>")
}

/// What a kind of line is.
fn key(
    out: &mut String,
    (x, y): (f64, f64),
    (colour, dash): (&str, &str),
    name: &str,
) -> fmt::Result {
    writeln!(
        out,
        "<path class=\"l\" stroke=\"{colour}\" stroke-dasharray=\"{dash}\" d=\"M{x} {}h30\"/><text x=\"{}\" y=\"{y}\">{name}</text>",
        y - 4.0,
        x + 36.0
    )
}

/// The controllers of a table, with their colours.
fn lines(table: &LossTable) -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = table.controllers();
    let colours = COLOURS.map(|(kind, colour)| (kind.name(), colour));
    colours
        .into_iter()
        .filter(move |(name, _)| names.contains(name))
}

fn panel(table: &LossTable, delay_ns: u64, from: f64, out: &mut String) -> fmt::Result {
    let (right, bottom) = (from + LEFT + WIDTH, TOP + HEIGHT);
    writeln!(
        out,
        "<text class=\"m\" x=\"{}\" y=\"{}\">{} µs each way</text>",
        from + LEFT + WIDTH / 2.0,
        TOP - 12.0,
        delay_ns as f64 / 1000.0
    )?;
    for gbps in [1.0, 3.0, 10.0, 30.0, 100.0] {
        writeln!(
            out,
            "<path class=\"g\" d=\"M{} {y:.1}H{right}\"/><text class=\"e\" x=\"{}\" y=\"{:.1}\">{gbps}</text>",
            from + LEFT,
            from + LEFT - 6.0,
            y(gbps) + 4.0,
            y = y(gbps)
        )?;
    }
    for loss in [300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0] {
        writeln!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {TOP}V{bottom}\"/><text class=\"m\" x=\"{x:.1}\" y=\"{}\">{} %</text>",
            bottom + 18.0,
            loss / 1e4,
            x = x(from, loss)
        )?;
    }
    writeln!(
        out,
        "<text class=\"m\" x=\"{}\" y=\"{}\">frames lost, both ways</text><text x=\"{}\" y=\"{}\">Gb/s</text>",
        from + LEFT + WIDTH / 2.0,
        bottom + 36.0,
        from + 14.0,
        TOP - 12.0
    )?;
    let lossy = |run: &&Goodput| run.delay_ns == delay_ns && run.loss > 0;
    for ((_, round_trip), dash) in CURVES.iter().zip(DASHES) {
        let reno = table.runs.iter().filter(lossy);
        let reno = reno.filter(|run| run.congestion == Congestion::Reno.name());
        let points: Vec<_> = reno
            .map(|run| (f64::from(run.loss), round_trip(run)))
            .collect();
        let path = line(from, &curve(table, &points));
        writeln!(
            out,
            "<path class=\"f\" stroke-dasharray=\"{dash}\" d=\"{path}\"/>"
        )?;
    }
    for (name, colour) in lines(table) {
        let runs = table.runs.iter().filter(lossy);
        let runs = runs.filter(|run| run.congestion == name);
        let points: Vec<_> = runs.map(|run| (f64::from(run.loss), run.gbps)).collect();
        writeln!(
            out,
            "<path class=\"l\" stroke=\"{colour}\" d=\"{}\"/>",
            line(from, &points)
        )?;
        for (loss, gbps) in points {
            writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{} at {} %: {gbps:.1} Gb/s</title></circle>",
                x(from, loss),
                y(gbps),
                name,
                loss / 1e4
            )?;
        }
    }
    Ok(())
}

/// The formula over the losses of these points, whose round-trip time is known; between them it changes as a power of the loss.
fn curve(table: &LossTable, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut curve = Vec::new();
    for pair in points.windows(2) {
        let [(loss, first), (next, last)] = [pair[0], pair[1]];
        for step in 0..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            let at = loss * (next / loss).powf(part);
            let round_trip = first * (last / first.max(1.0)).powf(part);
            let gbps = formula(table.mtu, round_trip, at, table.link_gbps);
            curve.push((at, gbps));
        }
    }
    curve
}

fn line(from: f64, points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (n, (loss, gbps)) in points.iter().enumerate() {
        let step = if n == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{step}{:.1} {:.1}", x(from, *loss), y(*gbps));
    }
    path
}

fn write_page(table: &LossTable, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>Weft: goodput over loss</title>\
         <style>body{{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#223}}\
         table{{border-collapse:collapse}}td,th{{padding:.2em .8em;text-align:right}}tr{{border-bottom:1px solid #dde}}svg{{max-width:100%;height:auto}}</style>"
    )?;
    picture(table, "", out)?;
    writeln!(
        out,
        "<table><tr><th>µs each way<th>controller<th>lost<th>reordered<th>cut<th>Gb/s<th>SRTT, µs<th>formula, SRTT<th>formula, path<th>sent again<th>timer<th>probes<th>recoveries<th>undone<th>attached again<th>copied, bytes a byte"
    )?;
    for run in &table.runs {
        let percent = |parts: u32| format!("{} %", f64::from(parts) / 1e4);
        let gbps = |value: Option<f64>| value.map_or("-".to_owned(), |gbps| format!("{gbps:.1}"));
        writeln!(
            out,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.1}<td>{:.2}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.2}",
            run.delay_ns as f64 / 1000.0,
            run.congestion,
            percent(run.loss),
            percent(run.reorder),
            percent(run.resegment),
            run.gbps,
            run.round_trip_ns / 1000.0,
            gbps(run.formula_gbps),
            gbps(run.formula_path_gbps),
            run.retransmits,
            run.timeouts,
            run.tail_probes,
            run.recoveries,
            run.undone,
            run.attached_again,
            run.copied_per_byte
        )?;
    }
    writeln!(out, "</table>")
}
