//! How fast a rung makes connections, and what each costs.

use serde::Serialize;
use weft_hostdrv::Rung;

use super::figures::{Counts, Each};
use super::run::Place;
use super::PartitionsError;
use crate::fabric::{Fabric, FabricConfig};
use crate::link::LinkConfig;
use crate::perf::scale::Crowd;

/// As many as an engine on the card has.
const CONNECTIONS: usize = 32;

/// Connections that were made at once.
#[derive(Clone, Debug, Serialize)]
pub struct SetUps {
    /// How many.
    pub connections: usize,
    /// Simulated time until the last one was established.
    pub time_ns: u64,
    /// Connections of a second, by that.
    pub per_second: f64,
    /// The end that asks, and the other one.
    pub ends: [Counts; 2],
    /// Both together, for each connection.
    pub each: Each,
}

/// Makes them, both ends of this rung.
pub(super) fn measure(place: Place, rung: Rung) -> Result<SetUps, PartitionsError> {
    let fabric = Fabric::new(&FabricConfig {
        seed: place.seed,
        cards: vec![place.kind; 2],
        link: LinkConfig {
            gbps: place.gbps,
            ..LinkConfig::default()
        },
        mtu: place.mtu,
        rungs: vec![rung; 2],
        ..FabricConfig::default()
    })?;
    let before = [0, 1].map(|n| Counts::of(&fabric, n));
    let start = fabric.now();
    let _all = Crowd::connect(&fabric, CONNECTIONS, || ())?;
    let time_ns = fabric.now() - start;
    let ends = [0, 1].map(|n| Counts::of(&fabric, n).since(&before[n]));
    Ok(SetUps {
        connections: CONNECTIONS,
        time_ns,
        per_second: CONNECTIONS as f64 * 1e9 / time_ns.max(1) as f64,
        ends,
        each: Each::of(&ends[0].and(ends[1]), CONNECTIONS as u64),
    })
}
