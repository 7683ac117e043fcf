//! One load at one rung: two cards, their devices, and the connections between them.

use std::hint::black_box;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{QpInit, Wc};
use weft_hostdrv::Rung;

use super::connection::Connection;
use super::figures::{Counts, Figures, HostFigures, Moved};
use super::programs;
use super::steady::Latencies;
use super::workload::Load;
use super::PartitionsError;
use crate::fabric::{Fabric, FabricConfig, FabricError};
use crate::host::{HostConfig, Hosts};
use crate::idle_polls::IdlePolls;
use crate::kind::CardKind;
use crate::link::{Faults, LinkConfig};
use crate::pair::{Operation, Pair, LATER, LIMIT};
use crate::seed::{generator, Stream};
use crate::transport::lock;

/// The first port that the second end listens on.
const PORT: u16 = 4800;

/// What a load runs on.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Both cards.
    pub kind: CardKind,
    /// The seed.
    pub seed: u64,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rate of the link.
    pub gbps: u64,
    /// Both hosts.
    pub host: HostConfig,
}

impl Place {
    /// Frames of 1500 bytes, from seed 1 on.
    pub(super) fn first(kind: CardKind, gbps: u64, host: HostConfig) -> Self {
        Self {
            kind,
            seed: 1,
            mtu: 1500,
            gbps,
            host,
        }
    }
}

/// Whether a rung can be had.
pub enum Had {
    /// It can; with the clock of the processor that does it, in kHz, if one does.
    There(Option<u32>),
    /// Why not.
    Refused(String),
}

/// IdlePolls whether this rung can be had.
pub fn look(place: Place, rung: Rung) -> Result<Had, PartitionsError> {
    // With the engine on the card, which all of a device's queue pairs have, it is the device that can be had or not.
    let rungs = match rung {
        Rung::Firmware => vec![rung],
        _ => Vec::new(),
    };
    let made = Fabric::new(&FabricConfig {
        seed: place.seed,
        cards: vec![place.kind; 2],
        mtu: place.mtu,
        rungs,
        ..FabricConfig::default()
    });
    let fabric = match made {
        Err(FabricError::Device(why)) if rung == Rung::Firmware => {
            return Ok(Had::Refused(why.to_string()))
        }
        made => made?,
    };
    let device = fabric.device(0);
    let cq = device.create_cq(4, None)?;
    let made = device.alloc_pd()?.create_qp(&QpInit::new(&cq).rung(rung));
    Ok(match made {
        Ok(_) => Had::There(device.processor().map(|processor| processor.clock_khz())),
        Err(why) => Had::Refused(why.to_string()),
    })
}

/// Runs a load between two ends: the one that posts of this rung, the other one likewise unless the load says otherwise.
pub fn run(place: Place, rung: Rung, load: &Load) -> Result<Figures, PartitionsError> {
    with_looks(place, rung, load, &IdlePolls::default())
}

/// The same twice, the second time so that a profiler can tell what is counted.
pub(super) fn to_be_counted(
    place: Place,
    rung: Rung,
    load: &Load,
) -> Result<Figures, PartitionsError> {
    let looks = IdlePolls::noted();
    with_looks(place, rung, load, &looks)?;
    with_looks(place, rung, load, &looks.again())
}

fn with_looks(
    place: Place,
    rung: Rung,
    load: &Load,
    looks: &IdlePolls,
) -> Result<Figures, PartitionsError> {
    if let Some(kind) = load.program {
        return programs::run(place, rung, load, kind, looks);
    }
    let Place {
        kind,
        seed,
        mtu,
        gbps,
        host,
    } = place;
    let host = load.hosts(host)?;
    let link = LinkConfig {
        gbps,
        delay_ns: load.delay_ns,
        ..LinkConfig::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed,
        cards: vec![kind; 2],
        link,
        mtu,
        rungs: load.rungs(rung)?.to_vec(),
        replay: load.replay,
        congestion: load.controller()?,
        rto_least: load.rto_least(),
        looks: looks.clone(),
        ..FabricConfig::default()
    })?;
    let largest = load.sizes.iter().copied().max().unwrap_or(0);
    let slots = 2 * load.depth;
    let room = (largest * slots).max(64);
    let source: Vec<u8> = (0..room).map(|at| (at * 31 + at / 253) as u8).collect();
    let mut connections = Vec::new();
    for number in 0..load.connections {
        let port = PORT + number as u16;
        let param = ConnParam::default();
        let pair = Pair::connect(&fabric, port, &param, &param, &source, room)?;
        connections.push(Connection::new(pair, slots));
    }
    let mut work = Work {
        fabric: &fabric,
        load,
        largest,
        rng: generator(seed, Stream::Application),
        latencies: Latencies::default(),
        bytes: 0,
        posted: 0,
        done: 0,
        next: [0; 3],
    };
    // Each connection stands on both sides when its first message has gone through.
    for connection in &mut connections {
        connection.open(&work)?;
    }
    // Losses begin when all stand: what is measured is the data path.
    let faults = Faults {
        loss: load.loss,
        resegment: load.resegmented,
        ..Faults::default()
    };
    let mut world = lock(fabric.world());
    world.link(0).set_config(LinkConfig { faults, ..link });
    for end in [0, 1] {
        world.link(0).take_waits(end);
    }
    drop(world);
    let before = [0, 1].map(|n| Counts::of(&fabric, n));
    let start = fabric.now();
    let mut hosts = (!host.is_free()).then(|| Hosts::new(&fabric, host));
    counted(looks, || work.all(&mut connections, hosts.as_mut()))?;
    let used = hosts.map(|hosts| [0, 1].map(|n| hosts.used(n)));
    let time_ns = fabric.now() - start;
    let ends = [0, 1].map(|n| Counts::of(&fabric, n).since(&before[n]));
    let mut world = lock(fabric.world());
    let wires = [0, 1].map(|end| world.link(0).take_waits(end));
    drop(world);
    fabric.run_for(LATER)?;
    for connection in &connections {
        connection.check(&source, largest)?;
    }
    let moved = Moved {
        messages: load.messages,
        bytes: work.bytes,
        time_ns,
        in_flight: load.depth * load.connections,
    };
    let mut figures = Figures::new(moved, &work.latencies, ends, wires);
    figures.hosts = used.map(|used| used.map(|host| HostFigures::new(host, &figures, gbps)));
    Ok(figures)
}

/// All messages, counted if it is known what is to be left out.
pub(super) fn counted<T>(looks: &IdlePolls, all: impl FnOnce() -> T) -> T {
    match looks.are_known() {
        true => looks.counted(|| weft_partitions_counted(all)),
        false => all(),
    }
}

/// While this runs, instructions are counted ([`super::instructions`]).
#[inline(never)]
fn weft_partitions_counted<T>(all: impl FnOnce() -> T) -> T {
    let all = all();
    // So that it stays a call.
    black_box(all)
}

/// What all connections share.
pub(super) struct Work<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) load: &'a Load,
    pub(super) largest: usize,
    rng: ChaCha8Rng,
    pub(super) latencies: Latencies,
    pub(super) bytes: u64,
    pub(super) posted: usize,
    pub(super) done: usize,
    /// The connections that post next, and that each end looks at next.
    pub(super) next: [usize; 3],
}

impl Work<'_> {
    /// The next message.
    pub(super) fn draw(&mut self) -> (Operation, usize) {
        let load = self.load;
        let weights = [
            (Operation::Send, load.send),
            (Operation::Write, load.write),
            (Operation::Read, load.read),
        ];
        let mut at = self.rng.random_range(0..load.send + load.write + load.read);
        let found = weights.into_iter().find(|(_, weight)| {
            let here = at < *weight;
            at = at.wrapping_sub(*weight);
            here
        });
        let operation = found.map_or(Operation::Write, |(operation, _)| operation);
        let size = self.rng.random_range(0..load.sizes.len());
        (operation, load.sizes[size])
    }

    /// All messages.
    fn all(
        &mut self,
        connections: &mut [Connection<'_>],
        hosts: Option<&mut Hosts<'_>>,
    ) -> Result<(), PartitionsError> {
        if let Some(hosts) = hosts {
            return self.all_at_pace(connections, hosts);
        }
        while self.done < self.load.messages {
            for connection in &mut *connections {
                while self.posted < self.load.messages && connection.has_room(self.load.depth) {
                    let (operation, length) = self.draw();
                    connection.post(self, operation, length)?;
                    self.posted += 1;
                }
            }
            let (number, end, wc) = self.fabric.run_until("a completion", LIMIT, || {
                let all = connections.iter().enumerate();
                let mut ends = all.flat_map(|(n, c)| [(n, 0, c), (n, 1, c)]);
                ends.find_map(|(n, end, connection)| {
                    let cq = &connection.pair.ends[end].cq;
                    let nothing = |wc: &Result<Option<Wc>, _>| matches!(wc, Ok(None));
                    let polled = self.fabric.looks().look(|| cq.poll_one(), nothing);
                    polled.transpose().map(|wc| wc.map(|wc| (n, end, wc)))
                })
            })??;
            connections[number].take(self, end, &wc)?;
        }
        Ok(())
    }
}
