//! The card's data path behind PCIe ports: what the link, the requests in flight, the latency of reads and a device beside it cost.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use rtl_sim::axi::{PciePort, Timing};
use serde::Serialize;

use super::data_path::{self, DataPathError, Load, FRAMING};
use super::mixed::{self, Mix};
use crate::card::CYCLE_NS;
use crate::kind::{host_memory, CardKind};
use crate::pcie::{Pcie, PAYLOAD, REQUEST};

/// How long reads take, by the shapes that Neugebauer et al. measured ("Understanding PCIe performance for end host networking", SIGCOMM 2018,
/// figure 6), rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Latency {
    /// Nearly all within 80 ns, as behind a Xeon E5.
    #[default]
    Narrow,
    /// A long tail, as behind a Xeon E3.
    Wide,
}

impl Latency {
    /// Shares of the reads, and the nanoseconds that none of them exceeds.
    fn shape(self) -> &'static [(f64, u64)] {
        match self {
            Self::Narrow => &[(0.001, 520), (0.5, 548), (0.999, 600), (1.0, 948)],
            Self::Wide => &[
                (0.01, 492),
                (0.5, 1212),
                (0.9, 2424),
                (0.99, 5708),
                (0.999, 11_988),
                (1.0, 12_000),
            ],
        }
    }
}

/// Read requests in flight: what 8 bits of a tag name.
const TAGS: u32 = 256;
/// Credit for posted data, in bytes, and how long a write has it: assumed, and far above what limits.
const POSTED: u32 = 16 << 10;
const POSTED_NS: u64 = 300;

/// A PCIe port and what is behind it: `3x16`, and after a `+` each what is not as usual: `tags=32`, `wide`, `beside=50`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    link: Pcie,
    tags: u32,
    latency: Latency,
    /// Per cent of the link.
    beside: u32,
}

impl Port {
    fn timing(self) -> Timing {
        let cycles = |ns: u64| (ns / CYCLE_NS) as u32;
        let shape = self.latency.shape().iter();
        Timing::behind(PciePort {
            bytes_per_cycle: self.link.bytes_a_ns() * CYCLE_NS as f64,
            payload: PAYLOAD,
            request: REQUEST,
            tags: self.tags,
            posted: POSTED,
            posted_cycles: cycles(POSTED_NS),
            latency: shape.map(|(share, ns)| (*share, cycles(*ns))).collect(),
            beside: f64::from(self.beside) / 100.0,
        })
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.link.fmt(f)?;
        if self.tags != TAGS {
            write!(f, "+tags={}", self.tags)?;
        }
        if self.latency == Latency::Wide {
            write!(f, "+wide")?;
        }
        if self.beside > 0 {
            write!(f, "+beside={}", self.beside)?;
        }
        Ok(())
    }
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split('+');
        let mut port = Port {
            link: parts.next().unwrap_or_default().parse()?,
            tags: TAGS,
            latency: Latency::Narrow,
            beside: 0,
        };
        for part in parts {
            let value = |name: &str| part.strip_prefix(name)?.parse::<u32>().ok();
            match (value("tags="), value("beside=")) {
                (Some(tags @ 1..=1024), _) => port.tags = tags,
                (_, Some(beside @ 0..=90)) => port.beside = beside,
                _ if part == "wide" => port.latency = Latency::Wide,
                _ => {
                    return Err(format!(
                        "`{part}` says nothing of a PCIe port: tags=1 to 1024, beside=0 to 90 (per cent of the link), or wide"
                    ))
                }
            }
        }
        Ok(port)
    }
}

/// The ports of the table, unless others are asked for.
pub const PORTS: [&str; 7] = [
    "3x8",
    "3x16",
    "4x16",
    "3x16+tags=32",
    "3x16+wide",
    "3x16+beside=50",
    "4x16+wide",
];

/// What the card does behind one port.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The port; none: host memory that answers after 400 ns, behind no link.
    pub port: Option<String>,
    /// Gb/s of TCP payload received, in segments of 1460 bytes; sent; and with both at once.
    pub rx_gbps: Option<f64>,
    /// Sent.
    pub tx_gbps: Option<f64>,
    /// Received while as much is sent.
    pub both_rx_gbps: Option<f64>,
    /// Sent while as much is received.
    pub both_tx_gbps: Option<f64>,
    /// Millions of 64-byte Writes received a second.
    pub write_rx_millions: Option<f64>,
    /// Sent.
    pub write_tx_millions: Option<f64>,
    /// Millions of 64-byte Sends received a second, of 64 flows in turn. `None`: the card gave frames to the host.
    pub send_rx_millions: Option<f64>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct PcieTable {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Measures the card without a port and behind each of these. `progress` hears which comes next.
pub fn run(
    kind: CardKind,
    seed: u64,
    ports: &[Port],
    mut progress: impl FnMut(&str),
) -> Result<PcieTable, DataPathError> {
    let mut rows = Vec::new();
    for port in std::iter::once(None).chain(ports.iter().map(Some)) {
        let name = port.map(Port::to_string);
        progress(name.as_deref().unwrap_or("no port"));
        let memory = || port.map_or_else(host_memory, |port| port.timing());
        let of = |segment, rx, tx, per_message| {
            let load = Load {
                segment,
                rx,
                tx,
                per_message,
            };
            data_path::run(kind, seed, &load, memory())
        };
        let (large, small) = (1460, 64 + FRAMING);
        let (rx, tx, both) = (
            of(large, 1000, 0, 1)?,
            of(large, 0, 1000, 40)?,
            of(large, 1000, 1000, 40)?,
        );
        let writes = [of(small, 2000, 0, 1)?.rx, of(small, 0, 2000, 1)?.tx];
        let sends = Mix::sends(64, 400).behind(memory());
        let sends = mixed::as_fast_as_it_goes(kind, seed, &sends, mixed::FRAMES)?;
        let millions = |cycles: f64| 1e3 / (cycles * CYCLE_NS as f64);
        rows.push(Row {
            port: name,
            rx_gbps: rx.rx.map(|rate| rate.gbps),
            tx_gbps: tx.tx.map(|rate| rate.gbps),
            both_rx_gbps: both.rx.map(|rate| rate.gbps),
            both_tx_gbps: both.tx.map(|rate| rate.gbps),
            write_rx_millions: writes[0].map(|rate| millions(rate.cycles)),
            write_tx_millions: writes[1].map(|rate| millions(rate.cycles)),
            send_rx_millions: sends.map(millions),
        });
    }
    Ok(PcieTable {
        seed,
        card: kind.to_string(),
        rows,
    })
}

/// Prints it for people.
pub fn print(table: &PcieTable, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Card {}, seed {}: the data path behind PCIe ports. Gb/s of segments of 1460 bytes; million messages a second of 64 bytes.\n",
        table.card, table.seed
    )?;
    writeln!(
        out,
        "  {:<16} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9}",
        "port", "receive", "send", "both: rx", "tx", "Writes rx", "Writes tx", "Sends rx"
    )?;
    for row in &table.rows {
        write!(out, "  {:<16}", row.port.as_deref().unwrap_or("none"))?;
        for (value, width) in [
            (row.rx_gbps, 8),
            (row.tx_gbps, 8),
            (row.both_rx_gbps, 8),
            (row.both_tx_gbps, 8),
            (row.write_rx_millions, 9),
            (row.write_tx_millions, 9),
            (row.send_rx_millions, 9),
        ] {
            match value {
                Some(value) => write!(out, " {value:>width$.1}")?,
                None => write!(out, " {:>width$}", "")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_as_it_is_written() {
        for text in PORTS {
            assert_eq!(
                text.parse::<Port>().map(|port| port.to_string()),
                Ok(text.into())
            );
        }
        for wrong in [
            "",
            "2x16",
            "3x16+tags=0",
            "3x16+beside=91",
            "3x16+narrow",
            "3x16 wide",
        ] {
            assert!(wrong.parse::<Port>().is_err(), "{wrong}");
        }
    }
}
