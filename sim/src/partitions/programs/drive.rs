//! A program on simulated hosts: each takes a step when its core is free.

use super::scene::Scene;
use super::step::{Ended, Step};
use super::{Kind, Program};
use crate::fabric::{Fabric, FabricConfig, FabricError};
use crate::host::{Done, HostConfig, HostUse, Hosts};
use crate::idle_polls::IdlePolls;
use crate::link::{Faults, LinkConfig, Queue, Waits};
use crate::pair::LIMIT;
use crate::partitions::figures::{Counts, Figures, HostFigures, Moved};
use crate::partitions::run::{counted, Place};
use crate::partitions::workload::Load;
use crate::partitions::PartitionsError;
use crate::transport::lock;
use weft_hostdrv::Rung;

/// Runs a load that is a program. The first host has this rung, the others likewise unless the load says otherwise.
pub(in crate::partitions) fn run(
    place: Place,
    rung: Rung,
    load: &Load,
    kind: Kind,
    looks: &IdlePolls,
) -> Result<Figures, PartitionsError> {
    let host = load.hosts(place.host)?;
    let link = LinkConfig {
        gbps: place.gbps,
        delay_ns: load.delay_ns,
        ..LinkConfig::default()
    };
    let [first, other] = load.rungs(rung)?;
    let mut rungs = vec![other; load.machines];
    rungs[0] = first;
    let fabric = Fabric::new(&FabricConfig {
        seed: place.seed,
        cards: vec![place.kind; load.machines],
        link,
        switched: load.machines > 2,
        mtu: place.mtu,
        rungs,
        replay: load.replay,
        congestion: load.controller()?,
        rto_least: load.rto_least(),
        looks: looks.clone(),
        ..FabricConfig::default()
    })?;
    let mut scene = Scene::new(&fabric, load, place.seed)?;
    let mut program = kind.start(&mut scene)?;
    disturb(&fabric, load, link);
    let before = by_side(|n| Counts::of(&fabric, n), load.machines);
    let start = fabric.now();
    let (ended, used) = counted(looks, || all(&fabric, host, load.messages, &mut *program))?;
    let time_ns = fabric.now() - start;
    let after = by_side(|n| Counts::of(&fabric, n), load.machines);
    let ends =
        [0, 1].map(|side| sum(&after[side], Counts::and).since(&sum(&before[side], Counts::and)));
    let moved = Moved {
        messages: load.messages,
        bytes: ended.bytes,
        time_ns,
        in_flight: load.depth * load.connections,
    };
    let mut figures = Figures::new(moved, &ended.latencies, ends, wires(&fabric));
    if !host.is_free() {
        let used = by_side(|n| used[n], load.machines).map(|side| sum(&side, HostUse::and));
        figures.hosts = Some(used.map(|used| HostFigures::new(used, &figures, place.gbps)));
    }
    Ok(figures)
}

/// Of the first host, and of the others.
fn by_side<T>(of: impl Fn(usize) -> T, machines: usize) -> [Vec<T>; 2] {
    [vec![of(0)], (1..machines).map(of).collect()]
}

fn sum<T: Copy + Default>(all: &[T], and: fn(T, T) -> T) -> T {
    all.iter().copied().fold(T::default(), and)
}

/// Losses begin when all connections stand, and ports have no more room than they are to have.
fn disturb(fabric: &Fabric, load: &Load, link: LinkConfig) {
    let faults = Faults {
        loss: load.loss,
        resegment: load.resegmented,
        ..Faults::default()
    };
    let room = |bytes: u64| (8 * bytes).div_ceil(link.gbps.max(1));
    let queue = Queue {
        drop_ns: load.room.map(room),
        ..Queue::default()
    };
    let mut world = lock(fabric.world());
    for number in 0..world.links() {
        world.link(number).set_config(LinkConfig {
            faults,
            queue,
            ..link
        });
        for end in [0, 1] {
            world.link(number).take_waits(end);
        }
    }
}

/// What the links did: of the first host's frames, and of all others.
fn wires(fabric: &Fabric) -> [Waits; 2] {
    let mut world = lock(fabric.world());
    let mut sides = [Waits::default(); 2];
    for number in 0..world.links() {
        for end in [0, 1] {
            let waits = world.link(number).take_waits(end);
            let side = usize::from(number + end > 0);
            sides[side] = sides[side].and(waits);
        }
    }
    sides
}

/// All requests.
fn all(
    fabric: &Fabric,
    host: HostConfig,
    requests: usize,
    program: &mut dyn Program,
) -> Result<(Ended, Vec<HostUse>), PartitionsError> {
    let count = fabric.devices().len();
    let mut hosts = Hosts::new(fabric, host);
    let mut ended = Ended::default();
    let mut end = fabric.now() + LIMIT;
    while ended.requests < requests {
        let mut any = false;
        for number in 0..count {
            if hosts.is_program_free(number, 0) {
                let mut step = Step::new(fabric, &mut ended);
                any |= hosts.program(number, 0, || {
                    let any = program.act(number, &mut step)?;
                    Ok::<(bool, Done), PartitionsError>((any, step.done))
                })?;
            }
        }
        if any {
            end = fabric.now() + LIMIT;
        }
        any |= hosts.turns()?;
        if any {
            continue;
        }
        let now = fabric.now();
        if now >= end {
            let what = "an answer".to_owned();
            let limit = LIMIT;
            return Err(FabricError::TimedOut { what, limit, now }.into());
        }
        let due = program.due().filter(|due| *due > now);
        hosts.rest(due.map_or(end, |due| due.min(end)))?;
    }
    let used = (0..count).map(|number| hosts.used(number)).collect();
    Ok((ended, used))
}
