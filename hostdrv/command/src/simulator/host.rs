//! `--host` and its kin: the hosts of a simulation.

use clap::Args;
use weft_sim::host::{CostIs, HostConfig, Waits};

/// What hosts a simulation has.
#[derive(Args)]
pub struct Host {
    /// Both hosts: `free`, whose software takes no simulated time, or a clock.
    #[arg(long, value_name = "HOST", default_value = "3ghz")]
    host: HostConfig,
    /// Cores of a host: with two, posts and polls have one, the device's turns the other.
    #[arg(long, value_name = "N", value_parser = cores)]
    cores: Option<u32>,
    /// The clock, in GHz.
    #[arg(long, value_name = "GHZ", value_parser = positive)]
    ghz: Option<f64>,
    /// Instructions of a cycle.
    #[arg(long, value_name = "N", value_parser = positive)]
    ipc: Option<f64>,
    /// Costs that are no matter of instructions, in nanoseconds: mmio-write, mmio-read, interrupt, wake-up, cache-miss, mapping.
    #[arg(long, value_name = "NAME=NS,..", value_delimiter = ',')]
    cost: Vec<CostIs>,
    /// Hosts sleep until an interrupt or a timer wakes them, instead of polling.
    #[arg(long)]
    sleep: bool,
}

/// The program is one thread, and turns of a device are made under its lock.
fn cores(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|cores| (1..=2).contains(cores));
    let why = "it is 1 or 2: a program's posts and polls are one thread, turns of a device one after the other; a third core would idle";
    number.ok_or_else(|| why.into())
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| (0.01..=100.0).contains(number));
    number.ok_or_else(|| "it is a number from 0.01 to 100".into())
}

impl Host {
    /// It.
    pub fn config(&self) -> HostConfig {
        let mut host = self.host;
        if host.is_free() {
            return host;
        }
        host.cores = self.cores.unwrap_or(host.cores);
        host.ghz = self.ghz.unwrap_or(host.ghz);
        host.ipc = self.ipc.unwrap_or(host.ipc);
        if self.sleep {
            host.waits = Waits::Sleeping;
        }
        self.cost.iter().copied().fold(host, HostConfig::with_cost)
    }

    /// The options that ask for it, if it is not the usual one.
    pub fn said(&self) -> String {
        let (host, usual) = (self.config(), HostConfig::default());
        if host.is_free() {
            return " --host free".into();
        }
        let mut said = String::new();
        if host.ghz != usual.ghz {
            said += &format!(" --host {}ghz", host.ghz);
        }
        if host.cores != usual.cores {
            said += &format!(" --cores {}", host.cores);
        }
        if host.ipc != usual.ipc {
            said += &format!(" --ipc {}", host.ipc);
        }
        if host.waits != usual.waits {
            said += " --sleep";
        }
        let costs = host.costs.unusual();
        if !costs.is_empty() {
            said += &format!(" --cost {costs}");
        }
        said
    }
}
