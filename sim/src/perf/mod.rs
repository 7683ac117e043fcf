//! `weft perf`: bandwidth and latency, of the card's data path alone and of the whole stack.

pub mod data_path;
pub mod full_stack;
pub mod loss;
pub mod loss_picture;
pub mod mixed;
mod page;
pub mod pcie;
pub mod plots;
pub mod queue;
pub mod queue_page;
pub mod scale;
pub mod scale_page;
mod writes;

use std::io::{self, Write};

use serde::Serialize;

use self::data_path::{DataPathError, Load, Rates};
use self::full_stack::FullStack;
use crate::kind::{host_memory, CardKind};
use crate::pair::PairError;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Performance {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Receive, 1460-byte segments, one flow: Gb/s of TCP payload.
    pub rx_gbps: Option<f64>,
    /// Transmit, the same.
    pub tx_gbps: Option<f64>,
    /// Cycles for a tagged message of 64 bytes, the slower of the two directions.
    pub small_message_cycles: Option<f64>,
    /// From a frame's last beat to the last byte of its 64-byte Write in host memory.
    pub wire_to_memory_cycles_64b: Option<u64>,
    /// The whole stack: ping and pong of 64 bytes by Send.
    pub pingpong_cycles_64b: Option<f64>,
    /// The same with 4096 bytes.
    pub pingpong_cycles_4k: Option<f64>,
    /// One card under load in both directions, on one core of this machine.
    pub sim_cycles_per_second: f64,
    /// The data path: each direction alone, and both together.
    pub data_path: Vec<Measured>,
    /// The whole stack.
    pub full_stack: Option<FullStack>,
    /// Why there are no figures of the whole stack.
    pub full_stack_error: Option<String>,
}

/// A data-path measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// What was measured.
    pub what: &'static str,
    /// The result.
    pub rates: Rates,
}

/// Measures everything. `progress` hears what comes next.
pub fn run(
    kind: CardKind,
    seed: u64,
    mtu: u16,
    mut progress: impl FnMut(&'static str),
) -> Result<Performance, DataPathError> {
    let small = 64 + 20;
    let loads = [
        (
            "receive, 1460-byte segments",
            Load {
                segment: 1460,
                rx: 2000,
                tx: 0,
                per_message: 1,
            },
        ),
        (
            "transmit, 1460-byte segments",
            Load {
                segment: 1460,
                rx: 0,
                tx: 2000,
                per_message: 40,
            },
        ),
        (
            "both ways, 1460-byte segments",
            Load {
                segment: 1460,
                rx: 2000,
                tx: 2000,
                per_message: 40,
            },
        ),
        (
            "receive, 8960-byte segments",
            Load {
                segment: 8960,
                rx: 400,
                tx: 0,
                per_message: 1,
            },
        ),
        (
            "transmit, 8960-byte segments",
            Load {
                segment: 8960,
                rx: 0,
                tx: 400,
                per_message: 10,
            },
        ),
        (
            "both ways, 8960-byte segments",
            Load {
                segment: 8960,
                rx: 400,
                tx: 400,
                per_message: 10,
            },
        ),
        (
            "receive, 64-byte Writes",
            Load {
                segment: small,
                rx: 4000,
                tx: 0,
                per_message: 1,
            },
        ),
        (
            "transmit, 64-byte Writes",
            Load {
                segment: small,
                rx: 0,
                tx: 4000,
                per_message: 1,
            },
        ),
        (
            "both ways, 64-byte Writes",
            Load {
                segment: small,
                rx: 4000,
                tx: 4000,
                per_message: 1,
            },
        ),
    ];
    let mut data_path: Vec<Measured> = Vec::new();
    for (what, load) in loads {
        progress(what);
        data_path.push(Measured {
            what,
            rates: data_path::run(kind, seed, &load, host_memory())?,
        });
    }
    progress("wire to memory");
    let wire_to_memory_cycles_64b = data_path::wire_to_memory(kind, seed, host_memory())?;
    progress("the whole stack");
    let full: Result<FullStack, PairError> = full_stack::run(kind, seed, mtu);
    let (full_stack, full_stack_error) = match full {
        Ok(figures) => (Some(figures), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let rx = |i: usize| data_path[i].rates.rx;
    let tx = |i: usize| data_path[i].rates.tx;
    let slower = |a: f64, b: f64| a.max(b);
    let pingpong = |bytes: usize| {
        let list = &full_stack.as_ref()?.pingpong;
        list.iter().find(|p| p.bytes == bytes).map(|p| p.cycles)
    };
    Ok(Performance {
        seed,
        card: kind.to_string(),
        rx_gbps: rx(0).map(|r| r.gbps),
        tx_gbps: tx(1).map(|r| r.gbps),
        small_message_cycles: rx(6).zip(tx(7)).map(|(r, t)| slower(r.cycles, t.cycles)),
        wire_to_memory_cycles_64b,
        pingpong_cycles_64b: pingpong(64),
        pingpong_cycles_4k: pingpong(4096),
        sim_cycles_per_second: data_path[2].rates.simulated_per_second,
        full_stack_error,
        data_path,
        full_stack,
    })
}

pub use page::page;

/// Prints it for people.
pub fn print(p: &Performance, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Card {}, seed {}; 250 MHz, host memory reads take 400 ns.\n",
        p.card, p.seed
    )?;
    writeln!(out, "The data path by itself, one flow:\n")?;
    writeln!(
        out,
        "  {:<32} {:>14} {:>10} {:>14} {:>10}",
        "", "rx cycles/seg", "rx Gb/s", "tx cycles/seg", "tx Gb/s"
    )?;
    for m in &p.data_path {
        write!(out, "  {:<32}", m.what)?;
        for rate in [m.rates.rx, m.rates.tx] {
            match rate {
                Some(r) => write!(out, " {:>14.1} {:>10.1}", r.cycles, r.gbps)?,
                None => write!(out, " {:>14} {:>10}", "", "")?,
            }
        }
        writeln!(out)?;
    }
    if let Some(cycles) = p.wire_to_memory_cycles_64b {
        writeln!(
            out,
            "\n  wire to host memory, 64-byte Write: {cycles} cycles ({} ns)",
            cycles * 4
        )?;
    }
    if let Some(f) = &p.full_stack {
        writeln!(
            out,
            "\nThe whole stack, MTU {}, link {} Gb/s and {} ns each way (host software takes no simulated time):\n",
            f.mtu, f.link_gbps, f.link_delay_ns
        )?;
        for ping in &f.pingpong {
            writeln!(
                out,
                "  ping-pong of {} bytes by Send: {:.0} cycles ({:.0} ns)",
                ping.bytes,
                ping.cycles,
                ping.cycles * 4.0
            )?;
        }
        writeln!(
            out,
            "  A single Write of 64 bytes, to its completion: {:.0} cycles ({:.0} ns)",
            f.lone_write_cycles,
            f.lone_write_cycles * 4.0
        )?;
        writeln!(
            out,
            "\n  {:>8} {:>10} {:>8}   for each message, sender | receiver: MMIO reads, writes; DMA bytes; engine steps",
            "Write", "cycles", "Gb/s"
        )?;
        for b in &f.bandwidth {
            write!(out, "  {:>8} {:>10.1} {:>8.2}  ", b.bytes, b.cycles, b.gbps)?;
            for (side, end) in [(&b.sender, " |"), (&b.receiver, "\n")] {
                let dma = side.dma_read_bytes + side.dma_write_bytes;
                write!(
                    out,
                    " {:.2} {:.2} {:.0} {:.1}{end}",
                    side.mmio_reads, side.mmio_writes, dma, side.engine_steps
                )?;
            }
        }
    }
    if let Some(error) = &p.full_stack_error {
        writeln!(out, "\nThe whole stack: {error}")?;
    }
    writeln!(
        out,
        "\nSimulated cycles a second, one card under load: {:.0}",
        p.sim_cycles_per_second
    )
}
