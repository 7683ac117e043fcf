//! Goodput where the network loses and reorders: each congestion controller, over two lengths of path.

use std::io::{self, Write};

use serde::Serialize;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::{Congestion, EngineStats};

use crate::fabric::{Fabric, FabricConfig};
use crate::kind::CardKind;
use crate::link::{Faults, LinkConfig};
use crate::pair::{Pair, PairError};
use crate::perf::writes::{Writes, DEPTH};
use crate::transport::lock;

/// Bytes of a Write, unless others are asked for.
pub const BYTES: usize = 1 << 16;

/// Of IPv4 and TCP, without options.
const HEADERS: f64 = 40.0;

/// What is measured: one way, in nanoseconds.
pub const DELAYS: [u64; 2] = [500, 10_000];
/// Frames of a million that are lost.
pub const LOSSES: [u32; 6] = [0, 300, 1_000, 3_000, 10_000, 30_000];
/// Frames of a million that come late.
pub const REORDERED: u32 = 10_000;
/// Frames with payload, of a million, that are cut in two.
pub const CUTS: [u32; 2] = [10_000, 100_000];
/// The controllers, unless others are asked for. DCTCP is not among them: where nothing is marked it is Reno.
pub const CONTROLLERS: [Congestion; 3] = [Congestion::Reno, Congestion::Cubic, Congestion::Delay];

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Both ends ask for markers.
    pub markers: bool,
    /// Both ends ask that each segment begin with an FPDU.
    pub aligned: bool,
    /// Bytes of a Write.
    pub write_bytes: usize,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            markers: false,
            aligned: false,
            write_bytes: BYTES,
        }
    }
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Goodput {
    /// The controller.
    pub congestion: &'static str,
    /// One-way delay of the link.
    pub delay_ns: u64,
    /// Frames of a million that are lost.
    pub loss: u32,
    /// Frames of a million that come late.
    pub reorder: u32,
    /// Frames with payload, of a million, that are cut in two.
    pub resegment: u32,
    /// Gb/s of what Writes carried.
    pub gbps: f64,
    /// What TCP took for the round-trip time (SRTT), over all completions of Writes on average, in nanoseconds.
    pub round_trip_ns: f64,
    /// 1.22 MSS / (RTT √p) with that round-trip time, the line's rate at most, in Gb/s. `None`: nothing is lost.
    pub formula_gbps: Option<f64>,
    /// The same with the round-trip time of the path alone.
    pub formula_path_gbps: Option<f64>,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Tail loss probes.
    pub tail_probes: u64,
    /// Entries into fast recovery.
    pub recoveries: u64,
    /// Reductions taken back.
    pub undone: u64,
    /// How often the receiver's card got the flow back from its engine.
    pub attached_again: u64,
    /// Bytes that the receiver's host copied, for each byte that came.
    pub copied_per_byte: f64,
}

/// All runs.
#[derive(Clone, Debug, Serialize)]
pub struct LossTable {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Simulated time of each run.
    pub milliseconds: u64,
    /// The line's rate.
    pub link_gbps: u64,
    /// Bytes of a Write.
    pub write_bytes: usize,
    /// There are markers in what is sent.
    pub markers: bool,
    /// Each segment begins with an FPDU, as agreed.
    pub aligned: bool,
    /// The runs.
    pub runs: Vec<Goodput>,
}

impl LossTable {
    /// The controllers' names, in the order of the rows.
    pub fn controllers(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.congestion) {
                names.push(run.congestion);
            }
        }
        names
    }

    /// The runs of one row, in the order of the columns.
    pub fn row<'a>(&'a self, delay_ns: u64, name: &'a str) -> impl Iterator<Item = &'a Goodput> {
        let is_of = move |run: &&Goodput| run.delay_ns == delay_ns && run.congestion == name;
        self.runs.iter().filter(is_of)
    }
}

/// What Reno gets where `loss` frames of a million are lost at random (Mathis and others, 1997): 1.22 MSS / (RTT √p), and never more than the
/// line carries. In Gb/s.
pub fn formula(mtu: u16, round_trip_ns: f64, loss: f64, line: u64) -> f64 {
    let mss = f64::from(mtu) - HEADERS;
    (1.22 * mss * 8.0 / (round_trip_ns.max(1.0) * (loss / 1e6).sqrt())).min(line as f64)
}

/// The faults of each column, and its name.
pub fn columns() -> Vec<(String, Faults)> {
    let clean = Faults::default();
    let percent = |parts: u32| f64::from(parts) / 10_000.0;
    let lost = LOSSES.map(|loss| (format!("{} %", percent(loss)), Faults { loss, ..clean }));
    let late = Faults {
        reorder: REORDERED,
        ..clean
    };
    let late = (format!("{} % reordered", percent(REORDERED)), late);
    let cut = CUTS.map(|resegment| {
        let name = format!("{} % cut", percent(resegment));
        (name, Faults { resegment, ..clean })
    });
    lost.into_iter().chain([late]).chain(cut).collect()
}

/// How many runs so many controllers take.
pub fn runs(controllers: usize) -> u64 {
    (DELAYS.len() * controllers * columns().len()) as u64
}

/// Measures everything, each run for so long in simulated time. `progress` hears that another is done.
pub fn run(
    kind: CardKind,
    seed: u64,
    mtu: u16,
    milliseconds: u64,
    controllers: &[Congestion],
    traffic: Traffic,
    mut progress: impl FnMut(),
) -> Result<LossTable, PairError> {
    let mut runs = Vec::new();
    for delay_ns in DELAYS {
        for &congestion in controllers {
            for (_, faults) in columns() {
                let link = LinkConfig {
                    gbps: kind.gbps(),
                    delay_ns,
                    ..LinkConfig::default()
                };
                let config = FabricConfig {
                    seed,
                    cards: vec![kind; 2],
                    link,
                    mtu,
                    congestion,
                    ..FabricConfig::default()
                };
                let time = milliseconds * 1_000_000;
                runs.push(goodput(&config, faults, time, traffic)?);
                progress();
            }
        }
    }
    Ok(LossTable {
        seed,
        card: kind.to_string(),
        mtu,
        milliseconds,
        link_gbps: kind.gbps(),
        write_bytes: traffic.write_bytes,
        markers: traffic.markers,
        aligned: traffic.aligned,
        runs,
    })
}

/// One run of `time` nanoseconds: Writes between two hosts of `config`, with these faults once they are connected.
///
/// # Errors
/// What a call or a completion says.
pub fn goodput(
    config: &FabricConfig,
    faults: Faults,
    time: u64,
    traffic: Traffic,
) -> Result<Goodput, PairError> {
    let fabric = Fabric::new(config)?;
    let bytes = traffic.write_bytes;
    let way = ConnParam {
        markers: traffic.markers,
        aligned: traffic.aligned,
        ..ConnParam::default()
    };
    let source: Vec<u8> = (0..bytes).map(|i| (i * 31) as u8).collect();
    let mut pair = Pair::connect(&fabric, 4000, &way, &way, &source, bytes)?;
    pair.established()?;
    let before = fabric.device(1).engine_stats();
    lock(fabric.world()).link(0).set_config(LinkConfig {
        faults,
        ..config.link
    });
    let start = fabric.now();
    let mut writes = Writes::default();
    let (mut round_trips, mut samples) = (0, 0_u64);
    while fabric.now() < start + time {
        writes.one_more(&fabric, &pair, bytes, usize::MAX)?;
        let connection = pair.ends[0].qp.query()?.connection;
        if let Some(round_trip) = connection.and_then(|info| info.round_trip) {
            round_trips += round_trip;
            samples += 1;
        }
    }
    let round_trip_ns = round_trips as f64 / samples.max(1) as f64;
    let formula = |round_trip| {
        let loss = f64::from(faults.loss);
        (faults.loss > 0).then(|| formula(config.mtu, round_trip, loss, config.link.gbps))
    };
    let took = fabric.now() - start;
    let stats: EngineStats = fabric.device(0).engine_stats();
    let receiver = fabric.device(1).engine_stats();
    let applied = |stats: &EngineStats| stats.attaches - stats.attaches_refused;
    let came = (writes.done * bytes).max(1) as f64;
    Ok(Goodput {
        congestion: config.congestion.name(),
        delay_ns: config.link.delay_ns,
        loss: faults.loss,
        reorder: faults.reorder,
        resegment: faults.resegment,
        gbps: (writes.done * bytes) as f64 * 8.0 / took.max(1) as f64,
        round_trip_ns,
        formula_gbps: formula(round_trip_ns),
        formula_path_gbps: formula(2.0 * config.link.delay_ns as f64),
        retransmits: stats.retransmits,
        timeouts: stats.timeouts,
        tail_probes: stats.tail_probes,
        recoveries: stats.fast_recoveries,
        undone: stats.recoveries_undone,
        attached_again: applied(&receiver).saturating_sub(applied(&before)),
        copied_per_byte: (receiver.bytes_copied - before.bytes_copied) as f64 / came,
    })
}

/// Prints it for people.
pub fn print(table: &LossTable, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Card {}, seed {}, MTU {}{}: Gb/s of Writes of {}, {DEPTH} in flight, {} ms each; frames lost, reordered or cut both ways.",
        table.card,
        table.seed,
        table.mtu,
        match (table.markers, table.aligned) {
            (true, _) => ", markers",
            (false, true) => ", aligned",
            (false, false) => "",
        },
        match table.write_bytes {
            bytes if bytes % 1024 == 0 => format!("{} KiB", bytes >> 10),
            bytes => format!("{bytes} bytes"),
        },
        table.milliseconds
    )?;
    for delay_ns in DELAYS {
        rows(table, delay_ns, out)?;
    }
    writeln!(
        out,
        "\n  1.22 MSS/(RTT sqrt p): with the path's own round-trip time, and with the one that reno measured (SRTT).\n  \
         Below each: how often the receiver's card got the flow back from its engine, and bytes that its host copied for each that came."
    )
}

/// One length of path.
fn rows(table: &LossTable, delay_ns: u64, out: &mut impl Write) -> io::Result<()> {
    let runs = |name: &'static str| table.row(delay_ns, name);
    let names = table.controllers();
    write!(
        out,
        "\n  {:<16}",
        format!("{} us each way", delay_ns as f64 / 1000.0)
    )?;
    for (name, _) in columns() {
        write!(out, " {name:>13}")?;
    }
    writeln!(out)?;
    let mut row = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        write!(out, "  {name:<16}")?;
        for cell in cells {
            write!(out, " {cell:>13}")?;
        }
        writeln!(out)
    };
    for name in &names {
        row(name, &mut runs(name).map(|run| format!("{:.1}", run.gbps)))?;
    }
    if names.contains(&RENO) {
        for (name, of) in FORMULAS {
            let gbps = |run| of(run).map_or("-".into(), |gbps| format!("{gbps:.1}"));
            row(name, &mut runs(RENO).map(gbps))?;
        }
    }
    for name in &names {
        let handed = |run: &Goodput| format!("{}, {:.2}", run.attached_again, run.copied_per_byte);
        row(&format!("  of {name}"), &mut runs(name).map(handed))?;
    }
    Ok(())
}

/// The formula is of this controller.
pub(super) const RENO: &str = "reno";

/// What a run says of the formula.
pub(super) type Formula = fn(&Goodput) -> Option<f64>;

/// The formula's rows.
pub(super) const FORMULAS: [(&str, Formula); 2] = [
    ("formula, path", |run| run.formula_path_gbps),
    ("formula, SRTT", |run| run.formula_gbps),
];
