//! `weft partitions`: a workload run at every rung of the partition ladder, with the price of each. See `docs/partitions.md`.

mod area;
mod at_pace;
pub mod book;
mod callgrind;
pub mod card_table;
mod connection;
pub mod cores_table;
mod figures;
mod instructions;
mod layers;
mod limits;
mod page;
mod plots;
mod print;
pub mod program_table;
mod programs;
mod ready;
mod rows;
pub mod rto_table;
pub mod run;
mod set_ups;
mod spread;
mod steady;
pub mod table;
pub mod workload;

use serde::Serialize;
use thiserror::Error;
use weft_hostdrv::cm::CmError;
use weft_hostdrv::verbs::{VerbsError, WcStatus};
use weft_hostdrv::Rung;

pub use area::Area;
pub use figures::{Counts, Each, Figures, HostFigures};
pub use instructions::{of_hosts, Counter, Instructions, OfLayer};
pub use layers::Layer;
pub use page::page;
pub use plots::figures;
pub(crate) use print::describe;
pub use print::print;
pub use set_ups::SetUps;
pub use spread::{Interval, OfFigure, OverSeeds, FEWEST};
pub use steady::{Steady, PARTS};

use self::run::{Had, Place};
use self::workload::{Load, WorkloadError};
use crate::fabric::FabricError;
use crate::host::HostConfig;
use crate::kind::CardKind;
use crate::pair::PairError;

/// What can go wrong.
#[derive(Debug, Error)]
pub enum PartitionsError {
    /// In the fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// In the workload.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// Between the two ends.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// In the verbs.
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    /// In the connection manager.
    #[error(transparent)]
    Cm(#[from] CmError),
    /// Work failed.
    #[error("{opcode} ended with {status:?}")]
    Completion {
        /// What it was.
        opcode: String,
        /// How it ended.
        status: WcStatus,
    },
    /// Other bytes than those that were moved.
    #[error("end {end}: the {length} bytes of slot {slot} are not those that were moved there")]
    Bytes {
        /// Of which end's memory.
        end: usize,
        /// Where.
        slot: usize,
        /// How many.
        length: usize,
    },
    /// A program was not told what it asked for.
    #[error("{0}")]
    Answer(String),
    /// At one rung of one load.
    #[error("load `{load}` at rung {rung}: {error}")]
    At {
        /// The load.
        load: String,
        /// The rung.
        rung: Rung,
        /// What went wrong.
        error: Box<PartitionsError>,
    },
}

impl PartitionsError {
    /// With the rung at which connections were made.
    fn at_connections(self, rung: Rung) -> Self {
        let (load, error) = ("connections".to_owned(), Box::new(self));
        PartitionsError::At { load, rung, error }
    }

    /// With where it happened.
    pub(crate) fn at(self, load: &Load, rung: Rung) -> Self {
        let (load, error) = (load.name.clone(), Box::new(self));
        PartitionsError::At { load, rung, error }
    }
}

/// A load at a rung.
#[derive(Clone, Debug, Serialize)]
pub struct AtRung {
    /// The rung, of both ends.
    pub rung: &'static str,
    /// Its figures, with the first seed.
    pub figures: Figures,
    /// Those of all seeds, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<OverSeeds>,
    /// Each seed's.
    #[serde(skip)]
    pub all: Vec<Figures>,
    /// Instructions of the hosts, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
}

impl AtRung {
    fn new(rung: Rung, first: Figures, others: Vec<Figures>) -> Self {
        let mut all = vec![first.clone()];
        all.extend(others);
        Self {
            rung: rung.name(),
            figures: first,
            over_seeds: (all.len() > 1).then(|| OverSeeds::of(&all)),
            all,
            instructions: None,
        }
    }

    /// A figure over all seeds, if each has it.
    pub fn over_all(&self, figure: &dyn Fn(&Figures) -> Option<f64>) -> Option<Interval> {
        let values: Option<Vec<f64>> = self.all.iter().map(figure).collect();
        Interval::of(values?)
    }
}

/// A load at all rungs that there are.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The load.
    pub load: Load,
    /// What it cost.
    pub rungs: Vec<AtRung>,
}

/// Connections made at a rung.
#[derive(Clone, Debug, Serialize)]
pub struct SetUpsAt {
    /// The rung, of both ends.
    pub rung: &'static str,
    /// The connections.
    pub set_ups: SetUps,
}

/// A rung that there is not.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// The rung.
    pub rung: &'static str,
    /// Why.
    pub reason: String,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Partitions {
    /// What it was measured with.
    pub version: String,
    /// The command that measures it again.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// As many seeds, from that one on.
    pub seeds: u64,
    /// The kind of card.
    pub card: String,
    /// The clock of its control processor in kHz, if a rung has that at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_khz: Option<u32>,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rate of the link.
    pub link_gbps: u64,
    /// Both hosts, if software takes time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostConfig>,
    /// The loads.
    pub loads: Vec<Measured>,
    /// How fast connections are made at each rung.
    pub set_ups: Vec<SetUpsAt>,
    /// The card on a chip; `None`: none of its width was recorded.
    pub area: Option<Area>,
    /// Rungs that no load could have.
    pub missing: Vec<Missing>,
    /// Why instructions were not counted that were to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
}

/// How a run is named.
#[derive(Clone, Debug)]
pub struct Name {
    /// What it is measured with.
    pub version: String,
    /// The command that measures it again.
    pub command: String,
}

/// What is run, and where.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Both cards.
    pub kind: CardKind,
    /// The seed.
    pub seed: u64,
    /// As many seeds, from that one on: one, or [`FEWEST`] and more.
    pub seeds: u64,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Both hosts.
    pub host: HostConfig,
    /// The loads.
    pub loads: Vec<Load>,
    /// The rungs.
    pub rungs: Vec<Rung>,
    /// Counts instructions, if they are asked for.
    pub counter: Option<Counter>,
    /// Each load is run so that a [`Counter`]'s profiler can tell what is counted.
    pub to_be_counted: bool,
}

/// Runs all loads at all rungs. `progress` hears what comes next: a load, and a rung.
pub fn run(
    name: Name,
    plan: &Plan,
    mut progress: impl FnMut(&str, Rung),
) -> Result<Partitions, PartitionsError> {
    let gbps = plan.kind.gbps();
    let place = Place {
        kind: plan.kind,
        seed: plan.seed,
        mtu: plan.mtu,
        gbps,
        host: plan.host,
    };
    let mut missing = Vec::new();
    let (mut there, mut processor_khz) = (Vec::new(), None);
    for &rung in &plan.rungs {
        match run::look(place, rung)? {
            Had::There(khz) => {
                there.push(rung);
                processor_khz = khz.or(processor_khz);
            }
            Had::Refused(reason) => missing.push(Missing {
                rung: rung.name(),
                reason,
            }),
        }
    }
    let mut measured = Vec::new();
    let (mut counter, mut not_counted) = (plan.counter.as_ref(), None);
    for load in &plan.loads {
        let mut rungs = Vec::new();
        for &rung in &there {
            progress(&load.name, rung);
            let run = match plan.to_be_counted {
                true => run::to_be_counted,
                false => run::run,
            };
            let at = |error: PartitionsError| error.at(load, rung);
            let figures = run(place, rung, load).map_err(at)?;
            let mut others = Vec::new();
            for n in 1..plan.seeds {
                let seed = plan.seed.wrapping_add(n);
                others.push(run(Place { seed, ..place }, rung, load).map_err(at)?);
            }
            let counted = counter.map(|counter| counter.count(load, rung, &figures));
            // What cannot be counted once is not tried again.
            let instructions = counted.transpose().unwrap_or_else(|why| {
                (counter, not_counted) = (None, Some(why));
                None
            });
            rungs.push(AtRung {
                instructions,
                ..AtRung::new(rung, figures, others)
            });
        }
        let load = load.clone();
        measured.push(Measured { load, rungs });
    }
    let mut set_ups = Vec::new();
    for &rung in there.iter().filter(|_| !plan.to_be_counted) {
        progress("connections", rung);
        let made = set_ups::measure(place, rung);
        set_ups.push(SetUpsAt {
            rung: rung.name(),
            set_ups: made.map_err(|error| error.at_connections(rung))?,
        });
    }
    Ok(Partitions {
        version: name.version,
        command: name.command,
        seed: plan.seed,
        seeds: plan.seeds,
        card: plan.kind.to_string(),
        processor_khz,
        mtu: plan.mtu,
        link_gbps: gbps,
        host: (!plan.host.is_free()).then_some(plan.host),
        loads: measured,
        set_ups,
        area: area::area(8 * plan.kind.lanes() as u32),
        missing,
        not_counted,
    })
}
