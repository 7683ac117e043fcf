//! Many connections as a page: a table with bars, in one file, without scripts.

use std::fmt::{self, Write};

use super::page::{bar, head};
use super::scale::ScaleTable;

/// The page.
pub fn page(table: &ScaleTable) -> String {
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write(table, &mut html);
    html
}

fn write(table: &ScaleTable, out: &mut String) -> fmt::Result {
    let title = format!(
        "Weft: many connections, card {}, seed {}, MTU {}",
        table.card, table.seed, table.mtu
    );
    head(&title, out)?;
    let largest = table.sharing.iter().map(|run| run.gbps).fold(1.0, f64::max);
    writeln!(
        out,
        "<p>Simulated. {} connections established in {:.2} ms, {:.0} a second.</p>\n\
         <table><caption>Some of them share the line for {} ms, the others are idle</caption>\n\
         <tr><th>controller<th>idle<th>lost<th>Gb/s<th class=bar>of the best<th>min<th>max<th>Jain",
        table.connections,
        table.connect_ns as f64 / 1e6,
        table.connections_per_second,
        table.milliseconds
    )?;
    for run in &table.sharing {
        writeln!(
            out,
            "<tr><td>{}<td>{}<td>{} %<td>{:.1}{}<td>{:.2}<td>{:.2}<td>{:.3}",
            run.congestion,
            run.idle,
            f64::from(run.loss) / 10_000.0,
            run.gbps,
            bar("rx", run.gbps / largest),
            run.min_gbps,
            run.max_gbps,
            run.jain
        )?;
    }
    writeln!(out, "</table>")
}
