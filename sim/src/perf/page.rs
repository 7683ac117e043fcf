//! The figures as a page: tables with bars, in one file, without scripts.

use std::fmt::{self, Write};

use super::Performance;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#223}\
table{border-collapse:collapse;width:100%}td,th{padding:.2em .6em;text-align:right;white-space:nowrap}\
td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #dde}.bar{width:45%;text-align:left}\
svg{display:block;width:100%;height:1.1em}.rx{fill:#4a78c2}.tx{fill:#d98a2b}caption{text-align:left;font-weight:bold;padding:1.2em 0 .3em}";

/// A bar of this part of the width.
pub(super) fn bar(class: &str, part: f64) -> String {
    let width = (part * 100.0).clamp(0.0, 100.0);
    format!("<td class=bar><svg viewBox=\"0 0 100 4\" preserveAspectRatio=none><rect class={class} width=\"{width:.2}\" height=4 /></svg>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The page.
pub fn page(p: &Performance) -> String {
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write(p, &mut html);
    html
}

/// The beginning of a page.
pub(super) fn head(title: &str, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1>"
    )
}

fn write(p: &Performance, out: &mut String) -> fmt::Result {
    head(&format!("Weft: card {}, seed {}", p.card, p.seed), out)?;
    writeln!(
        out,
        "<p>Simulated cycle by cycle at 250 MHz; host memory answers reads after 400 ns. Not measured on a board.</p>"
    )?;
    let rates = p.data_path.iter().flat_map(|m| [m.rates.rx, m.rates.tx]);
    let most = rates.flatten().map(|r| r.gbps).fold(1.0, f64::max);
    write!(
        out,
        "<table><caption>The data path by itself, one flow</caption>\n<tr><th>load<th>direction<th>cycles a segment<th>Gb/s<th class=bar>\n"
    )?;
    for m in &p.data_path {
        for (name, class, rate) in [
            ("receive", "rx", m.rates.rx),
            ("transmit", "tx", m.rates.tx),
        ] {
            if let Some(r) = rate {
                let (what, bar) = (escaped(m.what), bar(class, r.gbps / most));
                writeln!(
                    out,
                    "<tr><td>{what}<td>{name}<td>{:.1}<td>{:.1}{bar}",
                    r.cycles, r.gbps
                )?;
            }
        }
    }
    writeln!(out, "</table>")?;
    if let Some(cycles) = p.wire_to_memory_cycles_64b {
        writeln!(
            out,
            "<p>From the wire to host memory, 64-byte Write: {cycles} cycles ({} ns).</p>",
            cycles * 4
        )?;
    }
    if let Some(f) = &p.full_stack {
        writeln!(
            out,
            "<table><caption>Writes through the whole stack, MTU {}, link {} Gb/s and {} ns each way</caption>\n\
             <tr><th>bytes<th>cycles each<th>Gb/s<th class=bar>of the link",
            f.mtu, f.link_gbps, f.link_delay_ns
        )?;
        for b in &f.bandwidth {
            let bar = bar("tx", b.gbps / f.link_gbps as f64);
            writeln!(
                out,
                "<tr><td>{}<td>{:.1}<td>{:.2}{bar}",
                b.bytes, b.cycles, b.gbps
            )?;
        }
        writeln!(out, "</table>\n<table><caption>Ping-pong by Send</caption>\n<tr><th>bytes<th>cycles, there and back<th>ns")?;
        for ping in &f.pingpong {
            writeln!(
                out,
                "<tr><td>{}<td>{:.0}<td>{:.0}",
                ping.bytes,
                ping.cycles,
                ping.cycles * 4.0
            )?;
        }
        writeln!(out, "</table>")?;
    }
    if let Some(error) = &p.full_stack_error {
        writeln!(out, "<p>The whole stack: {}</p>", escaped(error))?;
    }
    writeln!(
        out,
        "<p>Simulated cycles a second, one card under load: {:.0}. Host software takes no simulated time.</p>",
        p.sim_cycles_per_second
    )
}
