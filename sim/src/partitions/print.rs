//! The figures for people.

use std::io::{self, Write};

use super::workload::Load;
use super::{Figures, Partitions, PARTS};

/// What is printed of each rung: its name, and the figure.
type Line = (&'static str, fn(&Figures) -> f64);

/// For each message.
const PER_MESSAGE: [Line; 10] = [
    ("MMIO reads", |f| f.per_message.mmio_reads),
    ("MMIO writes", |f| f.per_message.mmio_writes),
    ("DMA reads", |f| f.per_message.dma_reads),
    ("DMA bytes read", |f| f.per_message.dma_read_bytes),
    ("DMA writes", |f| f.per_message.dma_writes),
    ("DMA bytes written", |f| f.per_message.dma_written_bytes),
    ("interrupts", |f| f.per_message.interrupts),
    ("engine calls", |f| f.per_message.engine_steps),
    ("firmware instructions", |f| {
        f.per_message.firmware_instructions
    }),
    ("firmware cycles", |f| f.per_message.firmware_cycles),
];

/// For each byte of a message.
const PER_BYTE: [Line; 4] = [
    ("bytes copied by hosts", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_copied)
    }),
    ("bytes of CRC by hosts", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_checked)
    }),
    ("DMA bytes read", |f| {
        f.per_byte.map_or(0.0, |each| each.dma_read_bytes)
    }),
    ("DMA bytes written", |f| {
        f.per_byte.map_or(0.0, |each| each.dma_written_bytes)
    }),
];

/// A load in a line.
pub(crate) fn describe(load: &Load) -> String {
    let mix = [
        ("Send", load.send),
        ("Write", load.write),
        ("Read", load.read),
    ];
    let kinds: Vec<String> = mix
        .iter()
        .filter(|(_, weight)| *weight > 0)
        .map(|(name, weight)| format!("{weight} {name}"))
        .collect();
    let sizes: Vec<String> = load.sizes.iter().map(ToString::to_string).collect();
    format!(
        "{}{} of {} B, {} under way on each of {} connection{}, {} messages, {} of 1000000 frames lost, {} ns each way{}",
        kinds.join(" : "),
        if load.echo { ", answered," } else { "" },
        sizes.join(" or "),
        load.depth,
        load.connections,
        if load.connections == 1 { "" } else { "s" },
        load.messages,
        load.loss,
        load.delay_ns,
        match &load.other_end {
            Some(rung) => format!(", the other end at {rung}"),
            None => String::new(),
        },
    )
}

/// Prints the tables.
pub fn print(p: &Partitions, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Weft {}; card {}, MTU {}, link {} Gb/s, seed {}.\n{}\n\
         Both ends have the same rung unless a load says otherwise; counts are of both together. Host software takes no simulated time:\n\
         what it costs is in the counts, not in latency and Gb/s.",
        p.version, p.card, p.mtu, p.link_gbps, p.seed, p.command
    )?;
    for measured in &p.loads {
        writeln!(
            out,
            "\n{}\n  {}\n",
            measured.load.name,
            describe(&measured.load)
        )?;
        write!(out, "  {:<34}", "")?;
        for rung in &measured.rungs {
            write!(out, " {:>12}", rung.rung)?;
        }
        writeln!(out)?;
        let mut line = |head: &str, name: &str, figure: &dyn Fn(&Figures) -> String| {
            write!(out, "  {head:<12}{name:<22}")?;
            for rung in &measured.rungs {
                write!(out, " {:>12}", figure(&rung.figures))?;
            }
            writeln!(out)
        };
        for (n, (name, figure)) in PER_MESSAGE.iter().enumerate() {
            let head = if n == 0 { "per message" } else { "" };
            line(head, name, &|f| format!("{:.2}", figure(f)))?;
        }
        for (n, (name, figure)) in PER_BYTE.iter().enumerate() {
            let head = if n == 0 { "per byte" } else { "" };
            line(head, name, &|f| format!("{:.3}", figure(f)))?;
        }
        for (n, (_, name)) in PARTS.iter().enumerate() {
            let head = if n == 0 { "latency, ns" } else { "" };
            line(head, name, &|f| f.latency_ns[n].to_string())?;
        }
        line("Gb/s", "", &|f| format!("{:.2}", f.gbps))?;
        line("messages/s", "", &|f| {
            format!("{:.0}", f.messages_per_second)
        })?;
        line("sent again", "", &|f| {
            let [one, two] = &f.ends;
            match one.firmware_cycles + two.firmware_cycles {
                0 => (one.retransmits + two.retransmits).to_string(),
                _ => "not told".into(),
            }
        })?;
    }
    if !p.missing.is_empty() {
        writeln!(out, "\nNot there:")?;
    }
    for missing in &p.missing {
        writeln!(out, "  {:<10} {}", missing.rung, missing.reason)?;
    }
    Ok(())
}
