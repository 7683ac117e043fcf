//! The figures as a page: plots and tables in one file, without scripts.

use std::fmt::{self, Write};

use super::print::{
    about_area, about_card, about_hosts, about_instructions, about_seeds, about_timeouts, by_layer,
    describe, PER_SET_UP,
};
use super::rows::rows;
use super::workload::Load;
use super::{AtRung, Figures, Measured, Partitions, PARTS};

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#223}\
table{border-collapse:collapse;margin:.6em 0 1.4em}td,th{padding:.15em .8em;text-align:right;white-space:nowrap}\
td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #dde}\
svg{width:100%;max-width:30em;font:11px sans-serif;margin-right:1em}.plots{display:flex;flex-wrap:wrap}\
.axis{stroke:#99a;fill:none}.host{fill:#c2604a;stroke:#c2604a}.crc{fill:#d9a52b;stroke:#d9a52b}.placement{fill:#4a78c2;stroke:#4a78c2}\
.firmware{fill:#4a9a5a;stroke:#4a9a5a}.full{fill:#77558f;stroke:#77558f}.line{fill:none;stroke-width:2}text{fill:#223;stroke:none}";

/// What a plot of bars shows: its title, and the figure.
type Bars = (&'static str, fn(&Figures) -> f64);

const BARS: [Bars; 8] = [
    ("bytes copied by the hosts, per byte", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_copied)
    }),
    ("bytes of CRC32C by the hosts, per byte", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_checked)
    }),
    ("bytes copied by firmware, per byte", |f| {
        f.per_byte.map_or(0.0, |each| each.firmware_bytes_copied)
    }),
    ("bytes of CRC32C by firmware, per byte", |f| {
        f.per_byte.map_or(0.0, |each| each.firmware_bytes_checked)
    }),
    ("DMA bytes, both ways, per byte", |f| {
        f.per_byte
            .map_or(0.0, |each| each.dma_read_bytes + each.dma_written_bytes)
    }),
    ("DMA transactions, both ways, per message", |f| {
        f.per_message.dma_reads + f.per_message.dma_writes
    }),
    ("MMIO reads and writes per message", |f| {
        f.per_message.mmio_reads + f.per_message.mmio_writes
    }),
    ("Gb/s of message bytes", |f| f.gbps),
];

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The page.
pub fn page(p: &Partitions) -> String {
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write(p, &mut html);
    html
}

fn write(p: &Partitions, out: &mut String) -> fmt::Result {
    let title = "Weft: the price of each rung";
    write!(
        out,
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1>\n\
         <p>Weft {}, card {}, MTU {}, link {} Gb/s, {}. Measured by <code>{}</code>. Simulated, not measured on a board.</p>\n\
         <p>Both ends have the same rung unless a load says otherwise, and counts are of both ends together. {}</p>\n",
        escaped(&p.version), escaped(&about_card(p)), p.mtu, p.link_gbps, escaped(&about_seeds(p)), escaped(&p.command), escaped(&about_hosts(p))
    )?;
    writeln!(out, "<p>{}</p>", escaped(&about_instructions(p)))?;
    against_load(p, out)?;
    for measured in &p.loads {
        load(p, measured, out)?;
    }
    set_ups(p, out)?;
    if let Some(area) = about_area(p) {
        writeln!(out, "<h2>On a chip</h2>\n<p>{}</p>", escaped(&area))?;
    }
    if !p.missing.is_empty() {
        writeln!(out, "<h2>Rungs that are not there</h2>\n<table>")?;
        for missing in &p.missing {
            writeln!(
                out,
                "<tr><td>{}<td>{}",
                missing.rung,
                escaped(&missing.reason)
            )?;
        }
        writeln!(out, "</table>")?;
    }
    Ok(())
}

/// Loads that differ by nothing but how much is under way, and there are several.
pub(super) fn by_depth(p: &Partitions) -> bool {
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

/// Latency against what is moved, a point for each load and a line for each rung: p50, p99, p99.99.
fn against_load(p: &Partitions, out: &mut String) -> fmt::Result {
    if !by_depth(p) {
        return Ok(());
    }
    writeln!(out, "<h2>Latency against load</h2>\n<div class=plots>")?;
    let rungs = p.loads.iter().map(|measured| &measured.rungs);
    let most_gbps = rungs
        .clone()
        .flatten()
        .fold(f64::MIN_POSITIVE, |most, at| most.max(at.figures.gbps));
    let parts = PARTS.iter().enumerate();
    for (part, (_, name)) in parts.filter(|(_, (of, _))| [5_000, 9_900, 9_999].contains(of)) {
        let all = rungs
            .clone()
            .flatten()
            .filter_map(|at| at.figures.latency_ns[part]);
        let most = all.max().unwrap_or(0).max(1) as f64;
        writeln!(
            out,
            "<svg viewBox=\"0 0 400 160\" role=img><title>{name} against load</title><text x=0 y=14 font-weight=bold>{name}, by Gb/s</text>\
             <text x=0 y=30>{most:.0} ns</text><text x=0 y=134>0</text><text x=330 y=146>{most_gbps:.1} Gb/s</text>\
             <path class=axis d=\"M55 25V130H390\"/>"
        )?;
        for n in 0..p.loads[0].rungs.len() {
            let rung = p.loads[0].rungs[n].rung;
            let figures = rungs.clone().filter_map(|at| Some(&at.get(n)?.figures));
            let points: Vec<String> = figures
                .filter_map(|f| {
                    let x = 55.0 + 330.0 * f.gbps / most_gbps;
                    let y = 130.0 - 105.0 * f.latency_ns[part]? as f64 / most;
                    Some(format!("{x:.1},{y:.1}"))
                })
                .collect();
            writeln!(
                out,
                "<polyline class=\"line\" points=\"{}\" style=\"stroke:currentColor\" color=\"{}\"><title>{rung}</title></polyline>",
                points.join(" "),
                colour(rung),
            )?;
        }
        writeln!(out, "</svg>")?;
    }
    writeln!(out, "</div>")
}

/// Connections made at once.
fn set_ups(p: &Partitions, out: &mut String) -> fmt::Result {
    let Some(first) = p.set_ups.first() else {
        return Ok(());
    };
    write!(
        out,
        "<h2>Connections</h2>\n<p>{} asked for at once</p>\n<table><tr><th>",
        first.set_ups.connections
    )?;
    for at in &p.set_ups {
        write!(out, "<th>{}", at.rung)?;
    }
    for (name, figure) in PER_SET_UP {
        write!(out, "\n<tr><td>{name}")?;
        for at in &p.set_ups {
            write!(out, "<td>{:.2}", figure(&at.set_ups))?;
        }
    }
    writeln!(out, "\n</table>")
}

fn load(p: &Partitions, measured: &Measured, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "<h2>{}</h2>\n<p>{}</p>\n<div class=plots>",
        escaped(&measured.load.name),
        escaped(&describe(&measured.load))
    )?;
    for (title, figure) in BARS {
        bars(title, measured, figure, out)?;
    }
    latencies(measured, out)?;
    writeln!(out, "</div>\n<table><tr><th>")?;
    for at in &measured.rungs {
        write!(out, "<th>{}", at.rung)?;
    }
    for (layer, counts) in by_layer(measured) {
        write!(
            out,
            "\n<tr><td>instructions of the hosts, {layer}, per message"
        )?;
        for count in counts {
            match count {
                Some((each, _)) => write!(out, "<td>{each:.1}")?,
                None => write!(out, "<td>-")?,
            }
        }
    }
    let mut head = "";
    for row in rows(p) {
        head = if row.head.is_empty() { head } else { row.head };
        write!(out, "\n<tr><td>{head} {}", row.name)?;
        for at in &measured.rungs {
            let found = row.over_all(at);
            write!(out, "<td>{}", row.median(found))?;
            if found.is_some_and(|interval| !interval.is_point()) {
                write!(out, " <small>{}</small>", row.ends(found))?;
            }
        }
    }
    writeln!(out, "\n</table>")?;
    for at in &measured.rungs {
        if let Some(said) = about_timeouts(at) {
            writeln!(out, "<p>{}: {said}.</p>", at.rung)?;
        }
    }
    Ok(())
}

/// A bar for each rung.
fn bars(
    title: &str,
    measured: &Measured,
    figure: fn(&Figures) -> f64,
    out: &mut String,
) -> fmt::Result {
    let over_all = |at: &AtRung| at.over_all(&|f| Some(figure(f)));
    let figures: Vec<f64> = measured
        .rungs
        .iter()
        .map(|at| over_all(at).map_or(0.0, |interval| interval.median))
        .collect();
    let most = figures.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let height = 34 + 20 * figures.len();
    writeln!(
        out,
        "<svg viewBox=\"0 0 400 {height}\" role=img><title>{title}</title><text x=0 y=14 font-weight=bold>{title}</text>"
    )?;
    for (n, (at, figure)) in measured.rungs.iter().zip(&figures).enumerate() {
        let y = 24 + 20 * n;
        let width = 230.0 * figure / most;
        writeln!(
            out,
            "<text x=0 y={}>{rung}</text><rect class={rung} x=75 y={y} width=\"{width:.1}\" height=14 /><text x=\"{:.1}\" y={}>{figure:.3}</text>",
            y + 11,
            80.0 + width,
            y + 11,
            rung = at.rung,
        )?;
    }
    writeln!(out, "<path class=axis d=\"M75 20V{}\"/></svg>", height - 8)
}

/// Latency by percentile, a line for each rung.
fn latencies(measured: &Measured, out: &mut String) -> fmt::Result {
    let all = measured.rungs.iter().flat_map(|at| at.figures.latency_ns);
    let most = all.flatten().max().unwrap_or(0).max(1) as f64;
    let x = |n: usize| 60.0 + 60.0 * n as f64;
    let y = |ns: u64| 130.0 - 105.0 * ns as f64 / most;
    writeln!(
        out,
        "<svg viewBox=\"0 0 400 160\" role=img><title>latency</title><text x=0 y=14 font-weight=bold>latency</text>\
         <text x=0 y=30>{most:.0} ns</text><text x=0 y=134>0</text><path class=axis d=\"M55 25V130H390\"/>"
    )?;
    for (n, (_, name)) in PARTS.iter().enumerate() {
        writeln!(out, "<text x=\"{}\" y=146>{name}</text>", x(n) - 10.0)?;
    }
    for at in &measured.rungs {
        let points = at.figures.latency_ns.iter().enumerate();
        let points: Vec<String> = points
            .filter_map(|(n, ns)| Some(format!("{:.1},{:.1}", x(n), y((*ns)?))))
            .collect();
        writeln!(
            out,
            "<polyline class=\"line\" points=\"{}\" style=\"stroke:currentColor\" color=\"{}\"><title>{}</title></polyline>",
            points.join(" "),
            colour(at.rung),
            at.rung
        )?;
    }
    writeln!(out, "</svg>")
}

/// As in the style.
fn colour(rung: &str) -> &'static str {
    match rung {
        "host" => "#c2604a",
        "crc" => "#d9a52b",
        "placement" => "#4a78c2",
        "firmware" => "#4a9a5a",
        _ => "#77558f",
    }
}
