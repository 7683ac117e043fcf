//! The projection for people.

use std::io::{self, Write};

use super::{Checked, Projected, Projection, Row};
use crate::partitions::describe;

/// What has to be known of every prediction.
pub(super) const ASSUMED: &str = "Reckoned, not simulated: between the rate if all wait at the slowest station and the rate if nobody waits (docs/partitions.md).\n\
     Nothing is lost, and nobody else is in the network.";

/// Where simulation lies.
pub(super) fn verdict(point: &Checked) -> String {
    let verdict = match point.outside() {
        0.0 => "between them".to_owned(),
        part => format!("{:.1} % outside", part * 100.0),
    };
    match point.retransmits {
        0 => verdict,
        again => format!("{verdict}, {again} segments sent again"),
    }
}

/// Prints the tables.
pub fn print(p: &Projection, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Weft {}; measured on card {}, MTU {}, seed {}.\n{}\n\
         {}",
        p.version, p.card, p.mtu, p.seed, p.command, ASSUMED
    )?;
    for row in &p.loads {
        writeln!(
            out,
            "\n{}, rung {}\n  {}",
            row.load.name,
            row.rung,
            describe(&row.load)
        )?;
        let cost = &row.cost;
        writeln!(
            out,
            "  a message by itself {:.0} ns; of the card {:.1} ns; on the wire {:.0} and {:.0} B; of PCIe {:.0} B read, {:.0} B written by who posts, {:.0} and {:.0} by the other",
            cost.unloaded_ns,
            cost.card_ns,
            cost.ends[0].wire_bytes,
            cost.ends[1].wire_bytes,
            cost.ends[0].read_bytes,
            cost.ends[0].written_bytes,
            cost.ends[1].read_bytes,
            cost.ends[1].written_bytes,
        )?;
        table(row, out)?;
        checked(row, out)?;
    }
    for missing in &p.missing {
        writeln!(out, "\nnot at rung {}: {}", missing.rung, missing.reason)?;
    }
    Ok(())
}

fn table(row: &Row, out: &mut impl Write) -> io::Result<()> {
    if row.projected.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n  {:>6} {:>5} {:>6} {:>8} {:>17} {:>19} {:>12} {:>6}  limit",
        "line", "PCIe", "hosts", "QPs", "Gb/s", "million messages/s", "unloaded, us", "cores"
    )?;
    for Projected { target, bounds } in &row.projected {
        let [least, most] = bounds.gbps;
        let [fewest, all] = bounds.messages_per_second.map(|rate| rate / 1e6);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        writeln!(
            out,
            "  {:>6} {:>5} {:>6} {:>8} {:>8.2} {:>8.2} {:>9.3} {:>9.3} {:>12.2} {:>6}  {}",
            or_none(target.gbps.map(|gbps| gbps.to_string())),
            or_none(target.pcie.map(|pcie| pcie.to_string())),
            target.hosts,
            target.queue_pairs,
            least,
            most,
            fewest,
            all,
            bounds.unloaded_ns / 1000.0,
            or_none(bounds.cores.map(|cores| format!("{cores:.2}"))),
            bounds.limit,
        )?;
    }
    Ok(())
}

fn checked(row: &Row, out: &mut impl Write) -> io::Result<()> {
    if row.checked.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n  {:>6} {:>5} {:>6} {:>22} {:>10}  million messages/s",
        "line", "QPs", "depth", "predicted", "simulated"
    )?;
    for point in &row.checked {
        let [least, most] = point.predicted.map(|rate| rate / 1e6);
        writeln!(
            out,
            "  {:>6} {:>5} {:>6} {:>10.4} {:>11.4} {:>10.4}  {}",
            point.gbps,
            point.queue_pairs,
            point.depth,
            least,
            most,
            point.simulated / 1e6,
            verdict(point),
        )?;
    }
    Ok(())
}
