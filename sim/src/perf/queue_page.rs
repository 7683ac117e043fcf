//! Congestion controllers behind a slow port as a page: a table with bars for each port, in one file, without scripts.

use std::fmt::{self, Write};

use super::page::{bar, head};
use super::queue::{QueueTable, Run};

/// The page.
pub fn page(table: &QueueTable) -> String {
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write(table, &mut html);
    html
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn write(table: &QueueTable, out: &mut String) -> fmt::Result {
    let title = format!(
        "Weft: a slow port, card {}, seed {}, MTU {}",
        table.card, table.seed, table.mtu
    );
    head(&title, out)?;
    writeln!(out, "<p>Simulated, {} ms each.</p>", table.milliseconds)?;
    let of_port = |run: &Run| (run.link_gbps, run.room_ns, run.lone);
    for runs in table.runs.chunk_by(|a, b| of_port(a) == of_port(b)) {
        let (gbps, room, lone) = of_port(&runs[0]);
        let writes = if lone { ", single Writes" } else { "" };
        writeln!(
            out,
            "<table><caption>{gbps} Gb/s, what would wait {} µs is dropped{writes}</caption>\n\
             <tr><th>controller<th>Gb/s<th class=bar>of the port<th>mean wait, µs<th>longest<th>marked<th>reduced<th>dropped<th>at start<th>sent again",
            us(room)
        )?;
        for run in runs {
            writeln!(
                out,
                "<tr><td>{}<td>{:.2}{}<td>{:.1}<td>{:.1}<td>{}<td>{}<td>{}<td>{}<td>{}",
                run.name(),
                run.gbps,
                bar("tx", run.gbps / gbps as f64),
                run.mean_wait_ns / 1000.0,
                us(run.longest_wait_ns),
                run.marked,
                run.reductions,
                run.dropped,
                run.dropped_at_start,
                run.retransmits,
            )?;
        }
        writeln!(out, "</table>")?;
    }
    Ok(())
}
