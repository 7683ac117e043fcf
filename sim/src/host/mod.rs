//! Simulated hosts: what a step of program, driver and engine takes of simulated time. See `docs/partitions.md`.
//!
//! A host has cores, a clock, and instructions for each step. A turn of the device begins when its core is free. What the turn did is charged
//! after it, and its MMIO writes reach the card when that time is over. A free host takes no time at all.

mod clock;
mod costs;
mod meter;
mod steps;

pub use clock::{HostUse, Hosts};
pub use costs::{CostIs, CostName, Costs, NoCost, MOST};
pub use meter::Done;
pub use steps::{Step, STEPS};

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// Cores of a host at most.
pub const CORES: usize = 4;

/// How a host learns of what its card wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Waits {
    /// It looks again and again.
    #[default]
    Polling,
    /// It sleeps until an interrupt or a timer wakes it.
    Sleeping,
}

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostConfig {
    /// Cores, at most [`CORES`]: the last has the device's turns, each before it a thread of the program. Alone it has both.
    pub cores: u32,
    /// Its clock; infinite: software takes no time.
    pub ghz: f64,
    /// Instructions of a cycle.
    pub ipc: f64,
    /// How it waits.
    pub waits: Waits,
    /// What is no matter of instructions.
    pub costs: Costs,
}

impl HostConfig {
    /// Software takes no simulated time.
    pub const fn free() -> Self {
        Self {
            cores: 1,
            ghz: f64::INFINITY,
            ipc: 1.0,
            waits: Waits::Polling,
            costs: Costs::FREE,
        }
    }

    /// One core of this clock, one instruction a cycle.
    pub const fn of(ghz: f64) -> Self {
        Self {
            ghz,
            costs: Costs::USUAL,
            ..Self::free()
        }
    }

    /// Threads of its program, each on a core of its own.
    pub fn threads(&self) -> usize {
        (self.cores as usize).saturating_sub(1).clamp(1, CORES - 1)
    }

    /// Whether software takes no time.
    pub fn is_free(&self) -> bool {
        self.ghz.is_infinite()
    }

    /// With this cost; a free host has none.
    pub fn with_cost(mut self, is: CostIs) -> Self {
        if !self.is_free() {
            self.costs.set(is.name, is.ns);
        }
        self
    }

    /// The nanoseconds of so many instructions.
    pub(crate) fn instructions_ns(&self, instructions: f64) -> f64 {
        instructions / (self.ipc * self.ghz)
    }
}

impl Default for HostConfig {
    /// 3 GHz.
    fn default() -> Self {
        Self::of(3.0)
    }
}

impl fmt::Display for HostConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_free() {
            return f.write_str("free: software takes no simulated time");
        }
        let cores = if self.cores == 1 { "core" } else { "cores" };
        let waits = match self.waits {
            Waits::Polling => "polling",
            Waits::Sleeping => "sleeping",
        };
        let (ghz, ipc) = (self.ghz, self.ipc);
        write!(f, "{} {cores} of {ghz} GHz, IPC {ipc}, {waits}", self.cores)?;
        match self.costs.unusual() {
            costs if costs.is_empty() => Ok(()),
            costs => write!(f, ", {costs}"),
        }
    }
}

/// No host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no host: it is `free`, or a clock as `3ghz`, from 0.01 to 100")]
pub struct NoHost(String);

impl FromStr for HostConfig {
    type Err = NoHost;

    /// `free`, or a clock: `3ghz`.
    fn from_str(text: &str) -> Result<Self, NoHost> {
        if text == "free" {
            return Ok(Self::free());
        }
        let number = text.strip_suffix("ghz").and_then(|n| n.parse().ok());
        let ghz = number.filter(|ghz: &f64| (0.01..=100.0).contains(ghz));
        ghz.map(Self::of).ok_or_else(|| NoHost(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_name() {
        let host = |text: &str| text.parse::<HostConfig>();
        assert!(host("free").unwrap().is_free());
        assert_eq!(host("2.5ghz").unwrap(), HostConfig::of(2.5));
        for text in [
            "", "3", "ghz", "0ghz", "-1ghz", "nanghz", "infghz", "1000ghz",
        ] {
            let refused = host(text).unwrap_err().to_string();
            assert!(refused.contains("is no host: it is `free`"), "{refused}");
        }
    }

    #[test]
    fn instructions_take_time() {
        assert_eq!(HostConfig::of(3.0).instructions_ns(3000.0), 1000.0);
        assert_eq!(HostConfig::free().instructions_ns(3000.0), 0.0);
    }
}
