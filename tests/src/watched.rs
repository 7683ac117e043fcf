//! Two devices and what they say to each other, counted.

use weft_sim::fabric::{Fabric, FabricConfig};

use crate::bench::Bench;

/// Two cards ([`crate::models`]) with a watched link.
pub fn watched(seed: u64) -> Bench {
    let config = FabricConfig {
        seed,
        cards: crate::models(),
        rungs: crate::rungs().to_vec(),
        ..FabricConfig::default()
    };
    let fabric = Fabric::new(&config).expect("two cards come up");
    fabric.world().lock().expect("whole").link(0).watch();
    Bench::from(fabric)
}

/// Frames of ARP, and all, since the link was watched.
pub fn frames(bench: &Bench) -> (usize, usize) {
    let fabric = bench.fabric().expect("simulated");
    let seen = fabric.world().lock().expect("whole").link(0).take_seen();
    let arp = seen.iter().filter(|seen| seen.frame[12..14] == [8, 6]);
    (arp.count(), seen.len())
}
