//! A slow port with a short queue that marks: what each congestion controller makes of it, with marks and without.

use std::io::{self, Write};

use serde::Serialize;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::{Congestion, Ecn};

use crate::fabric::{Fabric, FabricConfig};
use crate::kind::CardKind;
use crate::link::{LinkConfig, Queue};
use crate::pair::{Pair, PairError};
use crate::perf::writes::{Writes, DEPTH};
use crate::transport::lock;

/// Bytes of a Write.
const BYTES: usize = 1 << 16;
/// How many times slower than the card the port is.
const SLOWER: u64 = 10;
/// One way, in nanoseconds.
const DELAY: u64 = 20_000;
/// Frames that would wait longer are marked, in nanoseconds.
const MARK: u64 = 10_000;
/// Frames that would wait longer are dropped.
const DROP: u64 = 100_000;
/// Simulated time before anything is counted, but for the frames that are dropped in it.
const START: u64 = 1_000_000;

/// The controllers and whether they ask for marks.
const WAYS: [(Congestion, bool); 7] = [
    (Congestion::Reno, false),
    (Congestion::Reno, true),
    (Congestion::Cubic, false),
    (Congestion::Cubic, true),
    (Congestion::Delay, false),
    (Congestion::Delay, true),
    (Congestion::Dctcp, true),
];

/// How many runs there are.
pub const RUNS: u64 = WAYS.len() as u64;

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The controller.
    pub congestion: &'static str,
    /// It asked for marks.
    pub marks: bool,
    /// Gb/s of what Writes carried.
    pub gbps: f64,
    /// Mean wait of a frame at the port, in nanoseconds.
    pub mean_wait_ns: f64,
    /// The longest.
    pub longest_wait_ns: u64,
    /// Frames dropped before the count began.
    pub dropped_at_start: u64,
    /// Frames dropped since.
    pub dropped: u64,
    /// Frames marked.
    pub marked: u64,
    /// How many times the sender heeded marks.
    pub heeded: u64,
    /// Segments sent again.
    pub retransmits: u64,
}

/// All runs.
#[derive(Clone, Debug, Serialize)]
pub struct QueueTable {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rate of the port.
    pub link_gbps: u64,
    /// Simulated time of each run.
    pub milliseconds: u64,
    /// The runs.
    pub runs: Vec<Run>,
}

/// Measures everything, each run for so long in simulated time. `progress` hears that another is done.
pub fn run(
    kind: CardKind,
    seed: u64,
    mtu: u16,
    milliseconds: u64,
    mut progress: impl FnMut(),
) -> Result<QueueTable, PairError> {
    let link_gbps = (kind.gbps() / SLOWER).max(1);
    let mut runs = Vec::new();
    for (congestion, marks) in WAYS {
        let config = FabricConfig {
            seed,
            cards: vec![kind; 2],
            link: LinkConfig {
                gbps: link_gbps,
                delay_ns: DELAY,
                queue: Queue {
                    mark_ns: Some(MARK),
                    drop_ns: Some(DROP),
                },
                ..LinkConfig::default()
            },
            mtu,
            congestion,
            ecn: if marks { Ecn::Ask } else { Ecn::Never },
            ..FabricConfig::default()
        };
        runs.push(measure(&config, marks, milliseconds * 1_000_000)?);
        progress();
    }
    Ok(QueueTable {
        seed,
        card: kind.to_string(),
        mtu,
        link_gbps,
        milliseconds,
        runs,
    })
}

fn measure(config: &FabricConfig, marks: bool, time: u64) -> Result<Run, PairError> {
    let fabric = Fabric::new(config)?;
    let way = ConnParam::default();
    let source: Vec<u8> = (0..BYTES).map(|i| (i * 31) as u8).collect();
    let mut pair = Pair::connect(&fabric, 4000, &way, &way, &source, BYTES)?;
    pair.established()?;
    let mut writes = Writes::default();
    let mut write_for = |time: u64| -> Result<(usize, u64), PairError> {
        let (start, before) = (fabric.now(), writes.done);
        while fabric.now() < start + time {
            writes.one_more(&fabric, &pair, BYTES, usize::MAX)?;
        }
        Ok((writes.done - before, fabric.now() - start))
    };
    let waits = || lock(fabric.world()).link(0).take_waits(0);
    write_for(START)?;
    let (at_start, before) = (waits(), fabric.device(0).engine_stats());
    let (done, took) = write_for(time)?;
    let (port, after) = (waits(), fabric.device(0).engine_stats());
    Ok(Run {
        congestion: config.congestion.name(),
        marks,
        gbps: (done * BYTES) as f64 * 8.0 / took.max(1) as f64,
        mean_wait_ns: port.waited_ns as f64 / (port.frames - port.dropped).max(1) as f64,
        longest_wait_ns: port.longest_ns,
        dropped_at_start: at_start.dropped,
        dropped: port.dropped,
        marked: port.marked,
        heeded: after.marks_heeded - before.marks_heeded,
        retransmits: after.retransmits - before.retransmits,
    })
}

/// Prints it for people.
pub fn print(table: &QueueTable, out: &mut impl Write) -> io::Result<()> {
    let us = |ns: u64| ns as f64 / 1000.0;
    writeln!(
        out,
        "Card {}, seed {}, MTU {}: Writes of {} KiB, {DEPTH} under way, over a port of {} Gb/s and {} us each way;",
        table.card,
        table.seed,
        table.mtu,
        BYTES >> 10,
        table.link_gbps,
        us(DELAY),
    )?;
    writeln!(
        out,
        "frames that would wait {} us are marked, {} us dropped. {} ms each, after {} ms.\n",
        us(MARK),
        us(DROP),
        table.milliseconds,
        us(START) / 1000.0,
    )?;
    writeln!(
        out,
        "  {:<14} {:>6} {:>11} {:>8} {:>8} {:>8} {:>8} {:>11} {:>9}",
        "", "Gb/s", "mean us", "longest", "marked", "heeded", "dropped", "(at start)", "re-sent"
    )?;
    for run in &table.runs {
        let name = match run.marks {
            true => format!("{}, marks", run.congestion),
            false => run.congestion.to_owned(),
        };
        writeln!(
            out,
            "  {name:<14} {:>6.2} {:>11.1} {:>8.1} {:>8} {:>8} {:>8} {:>11} {:>9}",
            run.gbps,
            run.mean_wait_ns / 1000.0,
            us(run.longest_wait_ns),
            run.marked,
            run.heeded,
            run.dropped,
            run.dropped_at_start,
            run.retransmits,
        )?;
    }
    Ok(())
}
