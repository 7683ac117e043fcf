//! Sizes that can be simulated as well: what was predicted beside what is so.

use serde::Serialize;
use weft_hostdrv::Rung;

use super::cost::Cost;
use super::stations::{bounds, Target};
use crate::partitions::run::{run, Place};
use crate::partitions::workload::Load;
use crate::partitions::PartitionsError;

/// Shares of the card's own line rate, connections, and messages under way on each; none of them was measured for the cost.
const POINTS: [(u64, usize, usize); 6] = [
    (10, 1, 1),
    (4, 1, 4),
    (2, 1, 16),
    (1, 4, 2),
    (4, 4, 4),
    (10, 8, 8),
];

/// One of them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Checked {
    /// Rate of the line.
    pub gbps: u64,
    /// Connections.
    pub queue_pairs: u64,
    /// Messages under way on each.
    pub depth: u64,
    /// Messages a second that were predicted: at least, and at most.
    pub predicted: [f64; 2],
    /// Messages a second of the simulation.
    pub simulated: f64,
    /// Segments that were sent again: what a receiver loses that cannot keep up is not predicted.
    pub retransmits: u64,
}

impl Checked {
    /// By what part of the nearer bound the simulation lies outside; 0: it lies between them.
    pub fn outside(&self) -> f64 {
        let [least, most] = self.predicted;
        (1.0 - self.simulated / least)
            .max(self.simulated / most - 1.0)
            .max(0.0)
    }
}

/// Runs them.
pub(super) fn all(
    place: Place,
    rung: Rung,
    load: &Load,
    cost: &Cost,
) -> Result<Vec<Checked>, PartitionsError> {
    let point = |&(part, connections, depth): &(u64, usize, usize)| {
        let gbps = (place.gbps / part).max(1);
        let load = Load {
            connections,
            depth,
            ..load.clone()
        };
        let figures = run(Place { gbps, ..place }, rung, &load)?;
        let target = Target {
            gbps: Some(gbps as f64),
            pcie: None,
            hosts: 1,
            queue_pairs: connections as u64,
            depth: Some(depth as u64),
            card_speed: 1.0,
            rows: place.kind.sizes().flows as u64,
            memory_ns: 0.0,
            host: None,
        };
        Ok(Checked {
            gbps,
            queue_pairs: connections as u64,
            depth: depth as u64,
            predicted: bounds(cost, &target).messages_per_second,
            simulated: figures.messages_per_second,
            retransmits: figures.ends.iter().map(|end| end.retransmits).sum(),
        })
    };
    POINTS.iter().map(point).collect()
}
