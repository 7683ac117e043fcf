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

/// Bytes of a Write: of those that follow each other, and of one by itself.
const BYTES: usize = 1 << 16;
const LONE: usize = 1 << 18;
/// How long the sender is silent after one by itself, in nanoseconds.
const PAUSE: u64 = 200_000;
/// One way, in nanoseconds.
const DELAY: u64 = 20_000;
/// Frames that would wait longer are marked, in nanoseconds.
const MARK: u64 = 10_000;
/// Simulated time before anything is counted, but for the frames that are dropped in it.
const START: u64 = 1_000_000;

/// A port, and what sends to it.
struct Port {
    /// How many times slower than the card it is.
    slower: u64,
    /// Frames that would wait longer are dropped, in nanoseconds.
    drop_ns: u64,
    /// Writes come one at a time, with pauses between them.
    lone: bool,
    ways: &'static [Way],
}

/// A controller, whether it asks for ECN marks, and whether it paces, if it is one that can.
type Way = (Congestion, bool, bool);

const PORTS: [Port; 5] = [
    Port {
        slower: 10,
        drop_ns: 100_000,
        lone: false,
        ways: &[
            (Congestion::Reno, false, true),
            (Congestion::Reno, true, true),
            (Congestion::Cubic, false, true),
            (Congestion::Cubic, true, true),
            (Congestion::Delay, false, true),
            (Congestion::Delay, false, false),
            (Congestion::Delay, true, true),
            (Congestion::Dctcp, true, true),
        ],
    },
    Port {
        slower: 10,
        drop_ns: 100_000,
        lone: true,
        ways: &UNMARKED,
    },
    Port {
        slower: 10,
        drop_ns: 25_000,
        lone: false,
        ways: &UNMARKED,
    },
    Port {
        slower: 10,
        drop_ns: 25_000,
        lone: true,
        ways: &UNMARKED,
    },
    Port {
        slower: 1,
        drop_ns: 25_000,
        lone: false,
        ways: &UNMARKED,
    },
];

/// Runs without marks: what pacing is good for.
const UNMARKED: [Way; 3] = [
    (Congestion::Cubic, false, true),
    (Congestion::Delay, false, true),
    (Congestion::Delay, false, false),
];

/// How many runs there are.
pub const RUNS: u64 = {
    let [first, others @ ..] = &PORTS;
    (first.ways.len() + others.len() * UNMARKED.len()) as u64
};

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The controller.
    pub congestion: &'static str,
    /// It asked for marks.
    pub marks: bool,
    /// It paced, if it is one that can.
    pub pacing: bool,
    /// Rate of the port.
    pub link_gbps: u64,
    /// Frames that would wait longer were dropped, in nanoseconds.
    pub room_ns: u64,
    /// Writes came one at a time, with pauses between them.
    pub lone: bool,
    /// Gb/s of what Writes carried, while they went.
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
    /// How many times the sender reduced its window for marks (RFC 3168 §6.1.2).
    pub reductions: u64,
    /// Segments sent again.
    pub retransmits: u64,
}

impl Run {
    /// The controller, and what is special about it here.
    pub(super) fn name(&self) -> String {
        match (self.marks, self.pacing) {
            (true, _) => format!("{}, marks", self.congestion),
            (_, false) => format!("{}, no pace", self.congestion),
            _ => self.congestion.to_owned(),
        }
    }
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
    let mut runs = Vec::new();
    let ways = |port: &'static Port| port.ways.iter().map(move |way| (port, *way));
    for (port, (congestion, marks, pacing)) in PORTS.iter().flat_map(ways) {
        let config = FabricConfig {
            seed,
            cards: vec![kind; 2],
            link: LinkConfig {
                gbps: (kind.gbps() / port.slower).max(1),
                delay_ns: DELAY,
                queue: Queue {
                    mark_ns: Some(MARK),
                    drop_ns: Some(port.drop_ns),
                },
                ..LinkConfig::default()
            },
            mtu,
            congestion,
            pacing,
            ecn: if marks { Ecn::Ask } else { Ecn::Never },
            ..FabricConfig::default()
        };
        runs.push(measure(&config, port.lone, milliseconds * 1_000_000)?);
        progress();
    }
    Ok(QueueTable {
        seed,
        card: kind.to_string(),
        mtu,
        milliseconds,
        runs,
    })
}

fn measure(config: &FabricConfig, lone: bool, time: u64) -> Result<Run, PairError> {
    let fabric = Fabric::new(config)?;
    let way = ConnParam::default();
    let bytes = if lone { LONE } else { BYTES };
    let source: Vec<u8> = (0..bytes).map(|i| (i * 31) as u8).collect();
    let mut pair = Pair::connect(&fabric, 4000, &way, &way, &source, bytes)?;
    pair.established()?;
    let mut writes = Writes::default();
    let mut write_for = |time: u64| -> Result<(usize, u64), PairError> {
        let (start, before) = (fabric.now(), writes.done);
        let mut paused = 0;
        while fabric.now() < start + time {
            let most = if lone { writes.done + 1 } else { usize::MAX };
            writes.one_more(&fabric, &pair, bytes, most)?;
            if lone {
                fabric.run_for(PAUSE)?;
                paused += PAUSE;
            }
        }
        Ok((writes.done - before, fabric.now() - start - paused))
    };
    let waits = || lock(fabric.world()).link(0).take_waits(0);
    write_for(START)?;
    let (at_start, before) = (waits(), fabric.device(0).engine_stats());
    let (done, took) = write_for(time)?;
    let (port, after) = (waits(), fabric.device(0).engine_stats());
    Ok(Run {
        congestion: config.congestion.name(),
        marks: config.ecn == Ecn::Ask,
        pacing: config.pacing,
        link_gbps: config.link.gbps,
        room_ns: config.link.queue.drop_ns.unwrap_or(u64::MAX),
        lone,
        gbps: (done * bytes) as f64 * 8.0 / took.max(1) as f64,
        mean_wait_ns: port.waited_ns as f64 / (port.frames - port.dropped).max(1) as f64,
        longest_wait_ns: port.longest_ns,
        dropped_at_start: at_start.dropped,
        dropped: port.dropped,
        marked: port.marked,
        reductions: after.ecn_reductions - before.ecn_reductions,
        retransmits: after.retransmits - before.retransmits,
    })
}

/// Prints it for people.
pub fn print(table: &QueueTable, out: &mut impl Write) -> io::Result<()> {
    let us = |ns: u64| ns as f64 / 1000.0;
    writeln!(
        out,
        "Card {}, seed {}, MTU {}: Writes of {} KiB, {DEPTH} in flight, over {} us each way, and a port that",
        table.card,
        table.seed,
        table.mtu,
        BYTES >> 10,
        us(DELAY),
    )?;
    writeln!(
        out,
        "marks what would wait {} us, if it may. {} ms each, after {} ms.",
        us(MARK),
        table.milliseconds,
        us(START) / 1000.0,
    )?;
    let mut port = None;
    for run in &table.runs {
        let this = (run.link_gbps, run.room_ns, run.lone);
        if port.replace(this) != Some(this) {
            let of = match run.lone {
                true => format!(
                    ", Writes of {} KiB, one at a time, {} us between them",
                    LONE >> 10,
                    us(PAUSE)
                ),
                false => String::new(),
            };
            writeln!(
                out,
                "\n{} Gb/s, what would wait {} us is dropped{of}:\n",
                run.link_gbps,
                us(run.room_ns)
            )?;
            writeln!(
                out,
                "  {:<14} {:>6} {:>11} {:>8} {:>8} {:>8} {:>8} {:>11} {:>9}",
                "",
                "Gb/s",
                "mean us",
                "longest",
                "marked",
                "reduced",
                "dropped",
                "(at start)",
                "re-sent"
            )?;
        }
        let name = run.name();
        writeln!(
            out,
            "  {name:<14} {:>6.2} {:>11.1} {:>8.1} {:>8} {:>8} {:>8} {:>11} {:>9}",
            run.gbps,
            run.mean_wait_ns / 1000.0,
            us(run.longest_wait_ns),
            run.marked,
            run.reductions,
            run.dropped,
            run.dropped_at_start,
            run.retransmits,
        )?;
    }
    Ok(())
}
