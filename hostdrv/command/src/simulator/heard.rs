//! Options of a run that one of its loads has to hear: what none hears is refused, for its figures would be another question's.

use weft_sim::host::{HostConfig, Waits};
use weft_sim::partitions::workload::Load;

use super::host::Host;
use crate::command::Failure;

/// Whether each option of the hosts changes some load, and each load's own hosts can be had.
pub fn by_some(loads: &[Load], host: &Host, config: HostConfig) -> Result<(), Failure> {
    let mut all = Vec::new();
    for load in loads {
        all.push(load.hosts(config)?);
    }
    for given in host.given(config) {
        let with = loads.iter().map(|load| load.hosts(given.otherwise).ok());
        let is_heard = with.zip(&all).any(|(with, now)| with != Some(*now));
        if !is_heard {
            return Err(unheard(&given.option, "has its own"));
        }
        let sleeps = |host: &HostConfig| host.waits == Waits::Sleeping;
        if given.is_of_sleepers && !all.iter().any(sleeps) {
            return Err(unheard(
                &given.option,
                "polls, and it is a cost of hosts that sleep: add --sleep",
            ));
        }
    }
    Ok(())
}

/// Whether the least timer is some load's.
pub fn least_timer(loads: &[Load], us: Option<u64>) -> Result<(), Failure> {
    let is_heard = loads.iter().any(|load| load.rto_min_us.is_none());
    match us {
        Some(us) if !is_heard => Err(unheard(&format!("--rto-min {us}"), "has its own")),
        _ => Ok(()),
    }
}

fn unheard(option: &str, why: &str) -> Failure {
    format!("{option} would change nothing: each load {why}").into()
}
