//! `weft project`: what a workload would do at sizes that cannot be simulated, from costs that were. See `docs/partitions.md`.
//!
//! A message takes some time of each *station*: line, PCIe, card, host. Operational analysis (Denning and Buzen, "The operational
//! analysis of queueing network models", 1978; the bounds are those of Lazowska et al., "Quantitative system performance", chapter 5)
//! says between which rates such a system stands, whatever the order and the distribution of what it is asked for.

mod check;
mod cost;
mod page;
mod pcie;
mod print;
mod stations;

use serde::Serialize;
use weft_hostdrv::Rung;

pub use crate::pcie::Pcie;
pub use check::Checked;
pub use cost::Cost;
pub use print::print;
pub use stations::{Bounds, Host, Instructions, Target};

use crate::partitions::run::{look, Had, Place};
use crate::partitions::workload::Load;
use crate::partitions::{Missing, Name, PartitionsError};

/// What is to be predicted.
#[derive(Clone, Debug)]
pub struct Question {
    /// The card that is measured, the seed, the MTU; at the rate of its link.
    pub place: Place,
    /// The rungs.
    pub rungs: Vec<Rung>,
    /// The sizes to predict.
    pub targets: Vec<Target>,
    /// Whether sizes that can be simulated are, for comparison.
    pub check: bool,
}

/// One size.
#[derive(Clone, Debug, Serialize)]
pub struct Projected {
    /// What was assumed.
    pub target: Target,
    /// What follows.
    pub bounds: Bounds,
}

/// A load at a rung.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The load.
    pub load: Load,
    /// The rung, of both ends.
    pub rung: &'static str,
    /// What was measured.
    pub cost: Cost,
    /// What follows for each size.
    pub projected: Vec<Projected>,
    /// Where simulation reaches as well.
    pub checked: Vec<Checked>,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Projection {
    /// What it was measured with.
    pub version: String,
    /// The command that does it again.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rows of flows that the card has.
    pub rows: u64,
    /// The loads at their rungs.
    pub loads: Vec<Row>,
    /// Rungs that this card does not have.
    pub missing: Vec<Missing>,
}

/// Whether the instructions of a rung are counted, so that software is a station of it.
pub fn is_counted(rung: Rung) -> bool {
    Instructions::of(rung).is_some()
}

/// Measures each load at each rung, and predicts. `progress` hears what comes next.
pub fn run(
    name: Name,
    question: &Question,
    loads: &[Load],
    mut progress: impl FnMut(&str, Rung),
) -> Result<Projection, PartitionsError> {
    let place = question.place;
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for &rung in &question.rungs {
        match look(place, rung)? {
            Had::There(_) => there.push(rung),
            Had::Refused(reason) => missing.push(Missing {
                rung: rung.name(),
                reason,
            }),
        }
    }
    if let Some(load) = loads.iter().find(|load| load.program.is_some()) {
        let why = format!(
            "`{}` is a program: single messages are projected",
            load.name
        );
        return Err(PartitionsError::Answer(why));
    }
    let mut rows = Vec::new();
    for load in loads {
        for &rung in &there {
            progress(&load.name, rung);
            let at = |error: PartitionsError| error.at(load, rung);
            let cost = cost::measure(place, rung, load).map_err(at)?;
            let projected = question.targets.iter().map(|target| Projected {
                target: *target,
                bounds: stations::bounds(&cost, target),
            });
            let projected = projected.collect();
            let checked = if question.check {
                check::all(place, rung, load, &cost).map_err(at)?
            } else {
                Vec::new()
            };
            rows.push(Row {
                load: load.clone(),
                rung: rung.name(),
                cost,
                projected,
                checked,
            });
        }
    }
    Ok(Projection {
        version: name.version,
        command: name.command,
        seed: place.seed,
        card: place.kind.to_string(),
        mtu: place.mtu,
        rows: place.kind.sizes().flows as u64,
        loads: rows,
        missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostConfig;
    use crate::kind::CardKind;
    use crate::partitions::workload;

    #[test]
    fn a_program_is_not_projected() {
        let place = Place {
            kind: CardKind::Model,
            seed: 1,
            mtu: 1500,
            gbps: 100,
            host: HostConfig::free(),
        };
        let question = Question {
            place,
            rungs: Vec::new(),
            targets: Vec::new(),
            check: false,
        };
        let name = Name {
            version: String::new(),
            command: String::new(),
        };
        let loads = workload::read("rpc").unwrap();
        let refused = run(name, &question, &loads, |_, _| {}).err().unwrap();
        assert!(refused
            .to_string()
            .contains("single messages are projected"));
    }
}
