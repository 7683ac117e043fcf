//! `weft demo`: two cards connect in twelve ways and move a file by Send, Write and Read; every byte is
//! checked.

mod print;
mod ways;

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use crate::fabric::{Fabric, FabricConfig, FabricError};
use crate::iommu::Fault;
use crate::kind::CardKind;
use crate::ladder::Ladder;
use crate::link::LinkConfig;
use crate::pair::{Operation, Pair, PairError};
use crate::transport::lock;

pub use print::print;
pub use ways::Way;

/// What a demonstration is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Decides everything.
    pub seed: u64,
    /// Both cards.
    pub card: CardKind,
    /// The bytes to move.
    pub file: Vec<u8>,
    /// Where captures go.
    pub out: Option<PathBuf>,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Records waves of so many last cycles beside the captures.
    pub waves: Option<u64>,
}

/// Why a demonstration failed.
#[derive(Debug, Error)]
pub enum DemoError {
    /// Setting up, or between ways.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// In one of the ways.
    #[error("way {number} ({name}): {error}")]
    Way {
        /// Its number, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// What went wrong.
        error: Box<PairError>,
    },
    /// A card touched memory that it may not.
    #[error("way {number} ({name}): {fault}")]
    Fault {
        /// The way's number, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// The access.
        fault: Fault,
    },
}

/// A message moved.
#[derive(Clone, Debug, Serialize)]
pub struct Moved {
    /// Send, Write or Read.
    pub operation: &'static str,
    /// Bytes.
    pub bytes: usize,
    /// From the post to the completion.
    pub cycles: u64,
}

/// How one way went.
#[derive(Clone, Debug, Serialize)]
pub struct WayReport {
    /// Its name.
    pub name: &'static str,
    /// From `connect` to `ESTABLISHED` at the initiator.
    pub connect_cycles: u64,
    /// Messages.
    pub messages: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Cycles of simulated time for all of it.
    pub cycles: u64,
    /// Frames on the link, both directions.
    pub frames: u64,
    /// Every message, in order.
    pub moved: Vec<Moved>,
}

/// How the demonstration went.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// The ways.
    pub ways: Vec<WayReport>,
    /// A connection, frame by frame.
    pub ladder: Vec<String>,
    /// Simulated cycles in all.
    pub cycles: u64,
    /// Cycles for which each card was clocked.
    pub clocked: Vec<u64>,
    /// Where the captures are.
    pub captures: Vec<PathBuf>,
}

/// Messages of every way: bytes, and where they begin in source and target.
const SMALL: [(usize, usize, usize); 9] = [
    (0, 0, 0),
    (1, 3, 5),
    (3, 1, 2),
    (64, 0, 0),
    (65, 7, 61),
    (1441, 13, 3),
    (1442, 1, 1),
    (4099, 5, 63),
    (20_011, 11, 127),
];
/// A message of some MiB, in the first way only.
const LARGE: (usize, usize, usize) = (2_500_003, 9, 4095);

/// Runs it. `progress` hears of each way that is done.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, &WayReport)) -> Result<Report, DemoError> {
    let link = LinkConfig {
        gbps: plan.card.gbps(),
        ..LinkConfig::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed: plan.seed,
        cards: vec![plan.card; 2],
        link,
        mtu: plan.mtu,
        captures: plan.out.clone(),
        waves: plan.waves,
        ..FabricConfig::default()
    })?;
    let mut ways = Vec::new();
    let mut ladder = Vec::new();
    for (index, way) in Way::all().iter().enumerate() {
        let number = index + 1;
        let failed = |error| DemoError::Way {
            number,
            name: way.name,
            error: Box::new(error),
        };
        let report = connect_and_move(&fabric, plan, way, index, &mut ladder).map_err(failed)?;
        for card in 0..2 {
            if let Some(fault) = lock(fabric.world()).iommu(card).faults().first() {
                return Err(DemoError::Fault {
                    number,
                    name: way.name,
                    fault: *fault,
                });
            }
        }
        progress(number, &report);
        ways.push(report);
    }
    fabric.flush()?;
    let world = lock(fabric.world());
    Ok(Report {
        seed: plan.seed,
        card: plan.card.to_string(),
        file_bytes: plan.file.len(),
        ways,
        ladder,
        cycles: world.now() / crate::card::CYCLE_NS,
        clocked: (0..2).map(|card| world.work(card).0).collect(),
        captures: fabric.captures().map(Into::into).collect(),
    })
}

/// The source region: the file, again and again.
fn source(file: &[u8], len: usize) -> Vec<u8> {
    let filler = b"weft";
    let bytes = if file.is_empty() { &filler[..] } else { file };
    bytes.iter().copied().cycle().take(len).collect()
}

fn connect_and_move(
    fabric: &Fabric,
    plan: &Plan,
    way: &Way,
    index: usize,
    ladder: &mut Vec<String>,
) -> Result<WayReport, PairError> {
    let first = index == 0;
    let mut messages = SMALL.to_vec();
    if first {
        // The whole file at once, and a message of some MiB.
        messages.push((plan.file.len(), 0, 17));
        messages.push(LARGE);
    } else {
        messages.push((plan.file.len().min(60_000), 0, 17));
    }
    let room = messages
        .iter()
        .map(|(len, from, to)| len + from.max(to))
        .max()
        .unwrap_or(0)
        + 64;
    let source = source(&plan.file, room);
    let (start, frames) = {
        let mut world = lock(fabric.world());
        if first {
            world.link(0).watch();
        }
        (world.now(), world.link(0).frames())
    };
    let mut pair = Pair::connect(
        fabric,
        7471 + index as u16,
        &way.connect,
        &way.accept,
        &source,
        room,
    )?;
    if way.peer_to_peer() {
        pair.established()?;
    }
    let mut images = [vec![0; room], vec![0; room]];
    let mut moved = Vec::new();
    let mut bytes = 0;
    for (number, (len, from_offset, to_offset)) in messages.into_iter().enumerate() {
        for operation in Operation::ALL {
            // Both directions in turn; without peer-to-peer the initiator has to begin.
            for from in if len > 100_000 {
                vec![number % 2]
            } else {
                vec![0, 1]
            } {
                // Of a Read, the requester is the one who acts.
                let from = if operation == Operation::Read {
                    1 - from
                } else {
                    from
                };
                let cycles = pair.transfer(operation, from, from_offset, to_offset, len)?;
                pair.established()?;
                let data = &source[from_offset..from_offset + len];
                pair.check_target(operation, 1 - from, &mut images[1 - from], to_offset, data)?;
                moved.push(Moved {
                    operation: operation.name(),
                    bytes: len,
                    cycles,
                });
                bytes += len as u64;
            }
        }
        if first && len == 65 {
            *ladder = Ladder::lines(&lock(fabric.world()).link(0).take_seen());
        }
    }
    let connect_cycles = pair.connect_cycles;
    pair.disconnect()?;
    let mut world = lock(fabric.world());
    Ok(WayReport {
        name: way.name,
        connect_cycles,
        messages: moved.len(),
        bytes,
        cycles: (world.now() - start) / crate::card::CYCLE_NS,
        frames: world.link(0).frames() - frames,
        moved,
    })
}
