//! What the values of a load may be.

use std::ops::RangeInclusive;

use super::programs::Kind;
use super::workload::{Load, WorkloadError};
use crate::host::CORES;

/// Bytes under way on a connection, so that a load's memory is bounded.
const MOST: u64 = 32 << 20;

/// A range of values.
type Range = RangeInclusive<u64>;

/// What depends on the kind of load: how many sizes, weights of all and of Sends, hosts, connections, cores, requests under way on each; a rate.
struct OfKind {
    sizes: Range,
    weights: Range,
    sends: Range,
    machines: Range,
    connections: Range,
    cores: u64,
    depth: Range,
    rate: Range,
}

/// Of a load of single messages.
const MESSAGES: OfKind = OfKind {
    sizes: 1..=64,
    weights: 1..=1000,
    sends: 0..=1000,
    machines: 2..=2,
    connections: 1..=256,
    cores: CORES as u64,
    depth: 1..=32,
    rate: 0..=0,
};

fn of_kind(kind: Option<Kind>) -> OfKind {
    // A program is one thread, the device's turns another one.
    let program = OfKind {
        cores: 2,
        rate: 0..=100_000_000,
        ..MESSAGES
    };
    let rounds = OfKind {
        sizes: 1..=1,
        weights: 0..=0,
        machines: 2..=16,
        connections: 1..=1,
        cores: 2,
        depth: 1..=1,
        ..MESSAGES
    };
    match kind {
        None => MESSAGES,
        Some(Kind::KeyValue) => OfKind {
            sizes: 0..=0,
            ..program
        },
        Some(Kind::Rpc) => OfKind {
            weights: 0..=0,
            ..program
        },
        Some(Kind::Block) => OfKind {
            sends: 0..=0,
            ..program
        },
        Some(Kind::AllReduce) => rounds,
        Some(Kind::Incast) => OfKind {
            rate: program.rate,
            ..rounds
        },
        Some(Kind::Churn) => OfKind {
            sizes: 0..=0,
            weights: 0..=0,
            connections: 1..=256,
            depth: 1..=1,
            ..program
        },
    }
}

/// A range in words.
fn words(range: &Range) -> String {
    match (range.start(), range.end()) {
        (0, 0) => "left out".into(),
        (0, most) => format!("at most {most}"),
        (least, most) if least == most => format!("{most}"),
        (least, most) => format!("{least} to {most}"),
    }
}

/// Whether every value is one that can be run.
pub(super) fn check(load: &Load) -> Result<(), WorkloadError> {
    let of_kind = of_kind(load.program);
    let weights = u64::from(load.send) + u64::from(load.write) + u64::from(load.read);
    let largest = load.sizes.iter().max().map_or(0, |size| *size as u64);
    let not_sends = u64::from(load.write) + u64::from(load.read);
    let only = |is: bool, most: u64| 0..=if is { most } else { 0 };
    let is_program = load.program.is_some();
    let dearest = load.costs.values().copied().max().unwrap_or(0);
    let checks = [
        (
            "the number of sizes",
            load.sizes.len() as u64,
            of_kind.sizes,
        ),
        (
            "the largest size, depth times",
            largest.saturating_mul(load.depth as u64),
            0..=MOST,
        ),
        ("the sum of send, write and read", weights, of_kind.weights),
        (
            "the sum of write and read of an echo",
            if load.echo { not_sends } else { 0 },
            only(!load.echo, u64::MAX),
        ),
        ("send", load.send.into(), of_kind.sends),
        ("echo", load.echo.into(), only(!is_program, 1)),
        ("depth", load.depth as u64, of_kind.depth),
        ("connections", load.connections as u64, of_kind.connections),
        ("cores", load.cores.map_or(1, u64::from), 1..=of_kind.cores),
        ("rto_min_us", load.rto_min_us.unwrap_or(1), 1..=60_000_000),
        ("a cost", dearest, 0..=crate::host::MOST),
        ("machines", load.machines as u64, of_kind.machines),
        ("rate", load.rate.unwrap_or(0), of_kind.rate),
        (
            match load.rate {
                None => "think_ns",
                Some(_) => "think_ns beside a rate",
            },
            load.think_ns,
            only(is_program && load.rate.is_none(), 1_000_000_000),
        ),
        ("room", load.room.unwrap_or(0), only(is_program, 1 << 30)),
        ("messages", load.messages as u64, 1..=1_000_000),
        ("loss", load.loss.into(), 0..=100_000),
        ("resegmented", load.resegmented.into(), 0..=1_000_000),
        ("delay_ns", load.delay_ns, 0..=100_000_000),
    ];
    for (what, given, range) in checks {
        if !range.contains(&given) {
            return Err(WorkloadError::Value {
                load: load.name.clone(),
                what,
                given,
                allowed: words(&range),
            });
        }
    }
    Ok(())
}
