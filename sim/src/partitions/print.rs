//! The figures for people.

use std::io::{self, Write};

use super::rows::rows;
use super::workload::Load;
use super::{AtRung, Figures, Measured, Partitions, SetUps};
use crate::host::CostIs;

/// What is asked for: operations, or a program's requests, and how large they are.
fn mix(load: &Load) -> String {
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
    let mut all = kinds.join(" : ");
    if let Some(kind) = load.program {
        all = match all.is_empty() {
            true => kind.name().to_owned(),
            false => format!("{}, {all}", kind.name()),
        };
    }
    if load.echo {
        all += ", answered,";
    }
    let sizes: Vec<String> = load.sizes.iter().map(ToString::to_string).collect();
    if !sizes.is_empty() {
        all += &format!(" of {} B", sizes.join(" or "));
    }
    if load.machines > 2 {
        all += &format!(", {} hosts", load.machines);
    }
    if let Some(room) = load.room {
        all += &format!(", ports with room for {room} B");
    }
    match (load.rate, load.think_ns) {
        (Some(rate), _) => all += &format!(", {rate} a second (Poisson)"),
        (None, 0) => {}
        (None, ns) => all += &format!(", {ns} ns of thought (exponential)"),
    }
    all
}

/// A load in a line.
pub(crate) fn describe(load: &Load) -> String {
    format!(
        "{}, {} in flight on each of {} connection{}, {} messages, {} of 1000000 frames lost, {} ns each way{}",
        mix(load),
        load.depth,
        load.connections,
        if load.connections == 1 { "" } else { "s" },
        load.messages,
        load.loss,
        load.delay_ns,
        match &load.other_end {
            Some(rung) => format!(", the other end at {rung}"),
            None => String::new(),
        } + &match load.rto_min_us {
            Some(us) => format!(", retransmission timers of {us} us and more"),
            None => String::new(),
        } + &about_host(load),
    )
}

/// Its hosts, if they are its own.
fn about_host(load: &Load) -> String {
    let host = load.host.as_ref().map(|name| format!(", hosts {name}"));
    let cores = load.cores.map(|cores| format!(", {cores} of their cores"));
    let costs = load.costs.iter();
    let costs = costs.map(|(&name, &ns)| format!(", {}", CostIs { name, ns }));
    let costs: String = costs.collect();
    let sleep = load.sleep.map(|sleep| match sleep {
        true => ", sleeping",
        false => ", polling",
    });
    let costs = sleep.unwrap_or_default().to_owned() + &costs;
    host.unwrap_or_default() + &cores.unwrap_or_default() + &costs
}

/// The card, and the clock of its processor if a rung has that at work.
pub(super) fn about_card(p: &Partitions) -> String {
    match p.processor_khz {
        None => p.card.clone(),
        Some(khz) => format!(
            "{} with a processor at {} MHz",
            p.card,
            f64::from(khz) / 1000.0
        ),
    }
}

/// The hosts, in words.
pub(super) fn about_hosts(p: &Partitions) -> String {
    match &p.host {
        None => "Host software takes no simulated time:\nwhat it costs is in the counts, not in latency and Gb/s.".into(),
        Some(host) => format!("Hosts: {host}."),
    }
}

/// The seeds, in words.
pub(super) fn about_seeds(p: &Partitions) -> String {
    let (first, last) = (p.seed, p.seed.wrapping_add(p.seeds - 1));
    match p.seeds {
        1 => format!("seed {first}"),
        _ => format!("seeds {first} to {last}: medians, and where they are with 95 %"),
    }
}

/// Prints the tables.
pub fn print(p: &Partitions, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Weft {}; card {}, MTU {}, link {} Gb/s, {}.\n{}\n\
         Both ends have the same rung unless a load says otherwise; counts are of both together. {}",
        p.version, about_card(p), p.mtu, p.link_gbps, about_seeds(p), p.command, about_hosts(p)
    )?;
    let width = if p.seeds > 1 { 18 } else { 12 };
    for measured in &p.loads {
        writeln!(
            out,
            "\n{}\n  {}\n",
            measured.load.name,
            describe(&measured.load)
        )?;
        write!(out, "  {:<34}", "")?;
        for rung in &measured.rungs {
            write!(out, " {:>width$}", rung.rung)?;
        }
        writeln!(out)?;
        let mut cells = |head: &str, name: &str, cells: &mut dyn Iterator<Item = String>| {
            write!(out, "  {head:<12}{name:<22}")?;
            for cell in cells {
                write!(out, " {cell:>width$}")?;
            }
            writeln!(out)
        };
        for (n, (layer, counts)) in by_layer(measured).into_iter().enumerate() {
            let head = if n == 0 { "host instr." } else { "" };
            let each =
                |count: Option<(f64, _)>| count.map_or("-".into(), |c| format!("{:.1}", c.0));
            cells(head, layer, &mut counts.into_iter().map(each))?;
        }
        for row in rows(p) {
            let found = || measured.rungs.iter().map(|at| row.over_all(at));
            cells(row.head, row.name, &mut found().map(|of| row.median(of)))?;
            if found().flatten().any(|interval| !interval.is_point()) {
                cells("", "  95 %", &mut found().map(|of| row.ends(of)))?;
            }
        }
        for at in &measured.rungs {
            if let Some(said) = about_timeouts(at) {
                writeln!(out, "  {}: {said}", at.rung)?;
            }
        }
    }
    set_ups(p, out)?;
    if let Some(area) = about_area(p) {
        writeln!(out, "\n{area}")?;
    }
    writeln!(out, "{}", about_instructions(p))?;
    if !p.missing.is_empty() {
        writeln!(out, "\nNot there:")?;
    }
    for missing in &p.missing {
        writeln!(out, "  {:<10} {}", missing.rung, missing.reason)?;
    }
    Ok(())
}

/// That a timer expired, whose length then is in every figure of the run.
pub(super) fn about_timeouts(at: &AtRung) -> Option<String> {
    let expired = |f: &Figures| f.ends.iter().map(|end| end.timeouts).sum::<u64>();
    let with = at.all.iter().filter(|f| expired(f) > 0).count();
    let all: u64 = at.all.iter().map(expired).sum();
    let times = if all == 1 { "once" } else { "several times" };
    (with > 0).then(|| match at.all.len() {
        1 => format!("a retransmission timer expired, {times}: its length is in latency and Gb/s"),
        seeds => format!("a retransmission timer expired with {with} of {seeds} seeds"),
    })
}

/// Instructions of each layer at each rung: for a message, and for a byte of one. None: they were not counted.
pub(super) type ByLayer = Vec<(&'static str, Vec<Option<(f64, Option<f64>)>>)>;

/// See [`ByLayer`]; empty where none were counted.
pub(super) fn by_layer(measured: &Measured) -> ByLayer {
    let counted = measured
        .rungs
        .iter()
        .find_map(|at| at.instructions.as_ref());
    let names = counted.map_or(Vec::new(), |i| i.layers.iter().map(|l| l.layer).collect());
    let of = |layer| {
        let rungs = measured.rungs.iter().map(move |at| {
            let all = at.instructions.as_ref()?.layers.iter();
            all.clone()
                .find(|l| l.layer == layer)
                .map(|l| (l.per_message, l.per_byte))
        });
        (layer, rungs.collect())
    };
    names.into_iter().map(of).collect()
}

/// How instructions were counted, or why not.
pub(super) fn about_instructions(p: &Partitions) -> String {
    let all = p.loads.iter().flat_map(|measured| &measured.rungs);
    let counted = all.filter_map(|at| at.instructions.as_ref()).next();
    let mut said = String::new();
    match (counted, &p.not_counted) {
        (None, None) => return "\nInstructions of the hosts are counted by --instructions.".into(),
        (Some(how), _) => {
            said += "\nInstructions: of the hosts' software for a message, by callgrind in a second run with the same figures; a line's by the layer whose source it is in,\n\
                     the library's by who called it. IdlePolls at a device that found nothing are not in them: the simulation looks whenever it may.";
            if !how.by_lines {
                said += " This build has no line tables:\nwhat is compiled into a function of another layer counts as that one's.";
            }
            if how.with_checks {
                said += " This build checks itself (overflow, assertions): a build with --release needs fewer.";
            }
        }
        _ => {}
    }
    if let Some(why) = &p.not_counted {
        said += &format!("\nInstructions were not counted: {why}.");
    }
    said
}

/// What is told of connections: its name, and the figure.
pub(super) type OfSetUp = (&'static str, fn(&SetUps) -> f64);

/// What is told of each connection.
pub(super) const PER_SET_UP: [OfSetUp; 8] = [
    ("a second", |s| s.per_second),
    ("MMIO reads each", |s| s.each.mmio_reads),
    ("MMIO writes each", |s| s.each.mmio_writes),
    ("DMA bytes each", |s| {
        s.each.dma_read_bytes + s.each.dma_written_bytes
    }),
    ("interrupts each", |s| s.each.interrupts),
    ("engine calls each", |s| s.each.engine_steps),
    ("firmware instructions", |s| s.each.firmware_instructions),
    ("firmware cycles", |s| s.each.firmware_cycles),
];

fn set_ups(p: &Partitions, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = p.set_ups.first() else {
        return Ok(());
    };
    let connections = first.set_ups.connections;
    write!(
        out,
        "\nConnections, {connections} asked for at once\n\n  {:<34}",
        ""
    )?;
    for at in &p.set_ups {
        write!(out, " {:>12}", at.rung)?;
    }
    for (n, (name, figure)) in PER_SET_UP.iter().enumerate() {
        let head = if n == 0 { "set-ups" } else { "" };
        write!(out, "\n  {head:<12}{name:<22}")?;
        for at in &p.set_ups {
            let digits = if n == 0 { 0 } else { 2 };
            write!(out, " {:>12.digits$}", figure(&at.set_ups))?;
        }
    }
    writeln!(out)
}

/// The card on a chip, in words.
pub(super) fn about_area(p: &Partitions) -> Option<String> {
    let a = p.area?;
    Some(format!(
        "The card on a chip (make area, UltraScale+), one circuit for all rungs: {:.0} LUTs, {:.0} registers and {} block RAMs\n\
         with {} flows and {} STags; {:.0} LUTs of it (rx_walk) are for nothing but crc and above. For firmware {:.0} LUTs and {} block RAMs more, with 64 KiB. A queue pair more, with four STags: {:.2} LUTs, {:.0} bytes of block RAM.",
        a.luts, a.registers, a.block_rams, a.flows, 4 * a.flows, a.walk_luts, a.processor_luts, a.processor_block_rams, a.luts_per_queue_pair, a.bytes_per_queue_pair
    ))
}
