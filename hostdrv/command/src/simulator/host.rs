//! `--host` and its kin: the hosts of a simulation.

use clap::Args;
use weft_sim::host::{CostIs, HostConfig, Waits, CORES};

use crate::command::Failure;

/// What hosts a simulation has.
#[derive(Args)]
pub struct Host {
    /// Both hosts: `free`, whose software takes no simulated time, or a clock. Left out: 3ghz.
    #[arg(long, value_name = "HOST")]
    host: Option<HostConfig>,
    /// Cores of a host: the last one has the device's turns, those before it a thread of the program each.
    #[arg(long, value_name = "N", value_parser = cores)]
    cores: Option<u32>,
    /// The clock, in GHz.
    #[arg(long, value_name = "GHZ", value_parser = positive, conflicts_with = "host")]
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

/// A device is one thread.
fn cores(text: &str) -> Result<u32, String> {
    let number = text.parse().ok();
    let number = number.filter(|cores| (1..=CORES as u32).contains(cores));
    number.ok_or_else(|| format!("it is 1 to {CORES}: one for the device's turns, each other for a thread of the program"))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| (0.01..=100.0).contains(number));
    number.ok_or_else(|| "it is a number from 0.01 to 100".into())
}

/// An option that was given, and the same hosts with another value of it.
pub struct Given {
    /// As users write it.
    pub option: String,
    /// The hosts, if it were another value.
    pub otherwise: HostConfig,
    /// Only hosts that sleep have it.
    pub is_of_sleepers: bool,
}

impl Host {
    /// It. A free host has nothing that the other options say.
    pub fn config(&self) -> Result<HostConfig, Failure> {
        let mut host = self.host.unwrap_or_default();
        if host.is_free() {
            return match self.given(host).into_iter().find(|one| one.option != "--host") {
                None => Ok(host),
                Some(Given { option, .. }) => Err(format!(
                    "--host free: software takes no time there, so {option} would change nothing; leave it out, or name a clock, as --host 3ghz"
                )
                .into()),
            };
        }
        host.cores = self.cores.unwrap_or(host.cores);
        host.ghz = self.ghz.unwrap_or(host.ghz);
        host.ipc = self.ipc.unwrap_or(host.ipc);
        if self.sleep {
            host.waits = Waits::Sleeping;
        }
        Ok(self.cost.iter().copied().fold(host, HostConfig::with_cost))
    }

    /// Each option that was given, of hosts that came of all of them.
    pub fn given(&self, host: HostConfig) -> Vec<Given> {
        let clock = match host.is_free() {
            true => HostConfig::default(),
            false => HostConfig {
                ghz: 2.0 * host.ghz,
                ..host
            },
        };
        let cores = HostConfig {
            cores: 3 - host.cores.clamp(1, 2),
            ..host
        };
        let ipc = HostConfig {
            ipc: 2.0 * host.ipc,
            ..host
        };
        let waits = HostConfig {
            waits: Waits::Polling,
            ..host
        };
        let options = [
            ("--host", self.host.is_some(), clock),
            ("--ghz", self.ghz.is_some(), clock),
            ("--cores", self.cores.is_some(), cores),
            ("--ipc", self.ipc.is_some(), ipc),
            ("--sleep", self.sleep, waits),
        ];
        let options = options.into_iter().filter(|(_, is_given, _)| *is_given);
        let options = options.map(|(option, _, otherwise)| Given {
            option: option.to_owned(),
            otherwise,
            is_of_sleepers: false,
        });
        let costs = self.cost.iter().map(|cost| Given {
            option: format!("--cost {cost}"),
            otherwise: host.with_cost(CostIs {
                ns: cost.ns + 1,
                ..*cost
            }),
            is_of_sleepers: cost.name.is_of_sleepers(),
        });
        options.chain(costs).collect()
    }
}

/// The options that ask for hosts, if they are not the usual ones.
pub fn said(host: &HostConfig) -> String {
    let usual = HostConfig::default();
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
