//! `weft partitions`: a workload run at every rung of the partition ladder, with the price of each. See `docs/partitions.md`.

mod figures;
mod page;
mod print;
pub mod run;
pub mod workload;

use serde::Serialize;
use thiserror::Error;
use weft_hostdrv::cm::CmError;
use weft_hostdrv::verbs::{VerbsError, WcStatus};
use weft_hostdrv::Rung;

pub use figures::{Counts, Each, Figures, PARTS};
pub use page::page;
pub(crate) use print::describe;
pub use print::print;

use self::run::Place;
use self::workload::{Load, WorkloadError};
use crate::fabric::FabricError;
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
    /// Its figures.
    pub figures: Figures,
}

/// A load at all rungs that there are.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The load.
    pub load: Load,
    /// What it cost.
    pub rungs: Vec<AtRung>,
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
    /// The kind of card.
    pub card: String,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rate of the link.
    pub link_gbps: u64,
    /// The loads.
    pub loads: Vec<Measured>,
    /// Rungs that no load could have.
    pub missing: Vec<Missing>,
}

/// How a run is named.
#[derive(Clone, Debug)]
pub struct Name {
    /// What it is measured with.
    pub version: String,
    /// The command that measures it again.
    pub command: String,
}

/// Runs all loads at all rungs. `progress` hears what comes next: a load, and a rung.
pub fn run(
    name: Name,
    kind: CardKind,
    seed: u64,
    mtu: u16,
    loads: &[Load],
    mut progress: impl FnMut(&str, Rung),
) -> Result<Partitions, PartitionsError> {
    let gbps = kind.gbps();
    let place = Place {
        kind,
        seed,
        mtu,
        gbps,
    };
    let mut missing = Vec::new();
    let mut there = Vec::new();
    for rung in Rung::ALL {
        match run::refused(place, rung)? {
            None => there.push(rung),
            Some(reason) => missing.push(Missing {
                rung: rung.name(),
                reason,
            }),
        }
    }
    let mut measured = Vec::new();
    for load in loads {
        let mut rungs = Vec::new();
        for &rung in &there {
            progress(&load.name, rung);
            let figures = run::run(place, rung, load).map_err(|error| error.at(load, rung))?;
            rungs.push(AtRung {
                rung: rung.name(),
                figures,
            });
        }
        let load = load.clone();
        measured.push(Measured { load, rungs });
    }
    Ok(Partitions {
        version: name.version,
        command: name.command,
        seed,
        card: kind.to_string(),
        mtu,
        link_gbps: gbps,
        loads: measured,
        missing,
    })
}
