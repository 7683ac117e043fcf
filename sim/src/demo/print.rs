//! The demonstration's report for people.

use std::io::{self, Write};

use super::Report;

/// Lines of the ladder that are shown.
const LADDER: usize = 40;

/// Prints a report.
pub fn print(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "The first connection, frame by frame (A connects to B; bytes of the frame at the right):\n")?;
    for line in report.ladder.iter().take(LADDER) {
        writeln!(out, "  {line}")?;
    }
    if report.ladder.len() > LADDER {
        writeln!(
            out,
            "  … {} more until here; all are in the capture",
            report.ladder.len() - LADDER
        )?;
    }
    writeln!(out, "\nTwelve ways to connect, in cycles of 4 ns:\n")?;
    writeln!(
        out,
        "  {:<22} {:>9} {:>9} {:>10} {:>8} {:>10}   {:>22}",
        "", "connect", "messages", "bytes", "frames", "cycles", "64 B: Send Write Read"
    )?;
    for way in &report.ways {
        let of = |operation: &str| {
            let found = way
                .moved
                .iter()
                .find(|m| m.operation == operation && m.bytes == 64);
            found.map_or(0, |m| m.cycles)
        };
        writeln!(
            out,
            "  {:<22} {:>9} {:>9} {:>10} {:>8} {:>10}   {:>10} {:>5} {:>5}",
            way.name,
            way.connect_cycles,
            way.messages,
            way.bytes,
            way.frames,
            way.cycles,
            of("Send"),
            of("Write"),
            of("Read")
        )?;
    }
    writeln!(
        out,
        "\nA Send and a Read end when the receiver has the bytes. A Write ends when its sender knows that the peer's TCP has them: an\n\
         acknowledgment comes back. `weft perf` has Writes in a row."
    )?;
    if let Some(way) = report.ways.first() {
        writeln!(out, "\nBy size ({}), cycles and Gb/s:\n", way.name)?;
        let mut sizes: Vec<usize> = way.moved.iter().map(|m| m.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        writeln!(
            out,
            "  {:>9}   {:>18} {:>18} {:>18}",
            "bytes", "Send", "Write", "Read"
        )?;
        for size in sizes {
            write!(out, "  {size:>9}  ")?;
            for operation in ["Send", "Write", "Read"] {
                let found = way
                    .moved
                    .iter()
                    .find(|m| m.operation == operation && m.bytes == size);
                match found {
                    Some(m) if m.cycles > 0 => {
                        let rate = size as f64 * 8.0 / (m.cycles as f64 * 4.0);
                        write!(out, " {:>9} {rate:>8.2}", m.cycles)?;
                    }
                    _ => write!(out, " {:>18}", "")?,
                }
            }
            writeln!(out)?;
        }
    }
    let bytes: u64 = report.ways.iter().map(|w| w.bytes).sum();
    let messages: usize = report.ways.iter().map(|w| w.messages).sum();
    writeln!(
        out,
        "\n{messages} messages, {bytes} bytes, all of them right. {} simulated cycles ({} and {} clocked), card {}, seed {}.",
        report.cycles, report.clocked[0], report.clocked[1], report.card, report.seed
    )?;
    for capture in &report.captures {
        writeln!(out, "Capture: {} (wireshark, or: tshark --disable-protocol rpcordma -r {0}; its RPC decoder trips over short Sends)", capture.display())?;
    }
    Ok(())
}
