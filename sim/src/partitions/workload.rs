//! Workload files: what `weft partitions` runs at every rung.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_hostdrv::{bounded, Congestion, Rung};

use super::limits;
use super::programs::Kind;
pub use super::ready::READY;
use crate::host::{CostIs, CostName, HostConfig, NoHost, Waits};

/// One load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// What it is called.
    pub name: String,
    /// A program that is run instead of single messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Kind>,
    /// Bytes of a message; each is as likely as the others.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// How likely a Send is, as a weight.
    #[serde(default)]
    pub send: u32,
    /// How likely a Write is.
    #[serde(default)]
    pub write: u32,
    /// How likely a Read is.
    #[serde(default)]
    pub read: u32,
    /// Each Send is answered by one of the same size; its latency is that of both.
    #[serde(default)]
    pub echo: bool,
    /// Messages under way on a connection.
    #[serde(default = "one")]
    pub depth: usize,
    /// Connections.
    #[serde(default = "one")]
    pub connections: usize,
    /// Open loop: requests of a program in a second, of all connections together. Without it each waits for the answer to the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u64>,
    /// What passes from an answer to the next request, in nanoseconds, on average.
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_ns: u64,
    /// Hosts of a program; more than two are at a switch.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub machines: usize,
    /// Bytes that each port has room for; any number, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// Messages, or requests, in all.
    pub messages: usize,
    /// Frames of a million that are lost, each way.
    #[serde(default)]
    pub loss: u32,
    /// Frames of a million that are cut in two on the way, each way.
    #[serde(default)]
    pub resegmented: u32,
    /// What comes while a flow is detached is not copied by the hosts, where the card can walk over it again.
    #[serde(default = "yes")]
    pub replay: bool,
    /// Delay of the link in nanoseconds, each way.
    #[serde(default = "delay")]
    pub delay_ns: u64,
    /// Congestion control of both ends, by its name. CUBIC, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The least that retransmission timers allow beyond SRTT, in microseconds. As devices have it, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_min_us: Option<u64>,
    /// The rung of the end that does not post. As that of the end that posts, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_end: Option<String>,
    /// Both hosts, by their name. As the run's, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Cores of each. As the run's, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// They sleep instead of polling. As the run's, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<bool>,
    /// Named costs of each, in nanoseconds. The others are as the run's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<CostName, u64>,
}

impl Load {
    /// The rungs of the two ends, where the first one's is this.
    pub fn rungs(&self, first: Rung) -> Result<[Rung; 2], WorkloadError> {
        let Some(name) = &self.other_end else {
            return Ok([first; 2]);
        };
        let other = Rung::from_str(name).map_err(|unknown| WorkloadError::Rung {
            load: self.name.clone(),
            given: name.clone(),
            reason: unknown.to_string(),
        })?;
        Ok([first, other])
    }

    /// Both hosts, of a run that has these.
    pub fn hosts(&self, usual: HostConfig) -> Result<HostConfig, WorkloadError> {
        let mut host = match &self.host {
            None => usual,
            Some(name) => self.named_host(name, usual)?,
        };
        if let (true, Some(what)) = (host.is_free(), self.of_hosts()) {
            let load = self.name.clone();
            return Err(WorkloadError::Free { load, what });
        }
        host.cores = self.cores.unwrap_or(host.cores);
        host.waits = match self.sleep {
            None => host.waits,
            Some(true) => Waits::Sleeping,
            Some(false) => Waits::Polling,
        };
        let of_sleepers = |name: &CostName| name.is_of_sleepers();
        if host.waits == Waits::Polling && self.costs.keys().any(of_sleepers) {
            let load = self.name.clone();
            return Err(WorkloadError::Polls { load });
        }
        let costs = self.costs.iter();
        let costs = costs.map(|(&name, &ns)| CostIs { name, ns });
        Ok(costs.fold(host, HostConfig::with_cost))
    }

    /// A host of the load's own: its clock, and the rest as the run has it.
    fn named_host(&self, name: &str, usual: HostConfig) -> Result<HostConfig, WorkloadError> {
        let named: HostConfig = name.parse().map_err(|reason| WorkloadError::Host {
            load: self.name.clone(),
            reason,
        })?;
        Ok(match named.is_free() || usual.is_free() {
            true => named,
            false => HostConfig {
                ghz: named.ghz,
                ..usual
            },
        })
    }

    /// What the load says of its hosts beside their clock, if it says something.
    fn of_hosts(&self) -> Option<&'static str> {
        let own = [
            ("cores", self.cores.is_some()),
            ("sleep", self.sleep.is_some()),
            ("costs", !self.costs.is_empty()),
        ];
        own.into_iter()
            .find_map(|(what, is_given)| is_given.then_some(what))
    }

    /// The least that retransmission timers allow beyond SRTT.
    pub fn rto_least(&self) -> Option<Duration> {
        self.rto_min_us.map(Duration::from_micros)
    }

    /// The congestion controller of both ends.
    pub fn controller(&self) -> Result<Congestion, WorkloadError> {
        let Some(name) = &self.congestion else {
            return Ok(Congestion::default());
        };
        Congestion::named(name).ok_or_else(|| WorkloadError::Congestion {
            load: self.name.clone(),
            given: name.clone(),
        })
    }
}

fn one() -> usize {
    1
}

fn two() -> usize {
    2
}

fn is_two(machines: &usize) -> bool {
    *machines == 2
}

fn is_none(think_ns: &u64) -> bool {
    *think_ns == 0
}

fn yes() -> bool {
    true
}

fn delay() -> u64 {
    500
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    load: Vec<Load>,
}

/// Why a workload cannot be had.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The file.
    #[error(
        "cannot read the workload {path} ({reason}); ready ones are {}",
        super::ready::names()
    )]
    File {
        /// Its path.
        path: String,
        /// Why.
        reason: std::io::Error,
    },
    /// What is in it.
    #[error("{path} is no workload: {reason}")]
    Syntax {
        /// Its path, or the name of a ready one.
        path: String,
        /// Why.
        reason: toml::de::Error,
    },
    /// A value.
    #[error("load `{load}`: {what} is {given}, it must be {allowed}")]
    Value {
        /// Of which load.
        load: String,
        /// Which.
        what: &'static str,
        /// Given.
        given: u64,
        /// Possible.
        allowed: String,
    },
    /// No rung is called so.
    #[error("load `{load}`: other_end is {given}, but {reason}")]
    Rung {
        /// Of which load.
        load: String,
        /// Given.
        given: String,
        /// What there is.
        reason: String,
    },
    /// No host is called so.
    #[error("load `{load}`: host: {reason}")]
    Host {
        /// Of which load.
        load: String,
        /// What is wrong.
        reason: NoHost,
    },
    /// A free host has nothing of the kind.
    #[error("load `{load}`: {what} would change nothing, for the software of a free host takes no time; leave it out, or let the load have a clock, as host = \"3ghz\"")]
    Free {
        /// Of which load.
        load: String,
        /// What it says of its hosts.
        what: &'static str,
    },
    /// A host that polls has no wake-ups.
    #[error("load `{load}`: wake-up and interrupt are costs of hosts that sleep, and these poll; leave them out, or let them sleep: sleep = true")]
    Polls {
        /// Of which load.
        load: String,
    },
    /// No controller is called so.
    #[error("load `{load}`: congestion is {given}, but a controller is one of {}", Congestion::ALL.map(Congestion::name).join(", "))]
    Congestion {
        /// Of which load.
        load: String,
        /// Given.
        given: String,
    },
    /// There is nothing to run.
    #[error("{path} has no load")]
    Empty {
        /// Its path.
        path: String,
    },
}

/// The workload of a file, or the ready one of this name.
pub fn read(name: &str) -> Result<Vec<Load>, WorkloadError> {
    if let Some((_, text)) = READY.iter().find(|(ready, _)| *ready == name) {
        return parse(name, text);
    }
    let text = bounded::read_to_string(Path::new(name)).map_err(|reason| WorkloadError::File {
        path: name.to_owned(),
        reason,
    })?;
    parse(name, &text)
}

/// Reads a workload; `path` is what messages call it.
pub fn parse(path: &str, text: &str) -> Result<Vec<Load>, WorkloadError> {
    let path = path.to_owned();
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(reason) => return Err(WorkloadError::Syntax { path, reason }),
    };
    if file.load.is_empty() {
        return Err(WorkloadError::Empty { path });
    }
    for load in &file.load {
        limits::check(load)?;
        load.rungs(Rung::default())?;
        load.controller()?;
        load.hosts(HostConfig {
            waits: Waits::Sleeping,
            ..HostConfig::default()
        })?;
    }
    Ok(file.load)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_ones_are_workloads() {
        for (name, _) in READY {
            assert!(!read(name).unwrap().is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let load = "[[load]]\nname = \"l\"\nsizes = [64]\nmessages = 1\n";
        let error = |text: &str| parse("f", text).unwrap_err().to_string();
        assert_eq!(
            error(load),
            "load `l`: the sum of send, write and read is 0, it must be 1 to 1000"
        );
        assert!(parse("f", &format!("{load}write = 1\n")).is_ok());
        assert!(error(&format!("{load}write = 1\nrtt = 5\n")).contains("unknown field `rtt`"));
        assert!(error(&format!("{load}write = 1\ndepth = 33\n")).contains("depth is 33"));
        assert!(error(&format!("{load}write = 1\necho = true\n")).contains("of an echo is 1"));
        let other = |rung| format!("{load}write = 1\nother_end = \"{rung}\"\n");
        let rungs = parse("f", &other("host")).unwrap()[0].rungs(Rung::Crc);
        assert_eq!(rungs.unwrap(), [Rung::Crc, Rung::Host]);
        assert!(error(&other("attic")).contains("other_end is attic, but a rung is one of host"));
        let by = |name| format!("{load}write = 1\ncongestion = \"{name}\"\n");
        let controller = parse("f", &by("dctcp")).unwrap()[0].controller();
        assert_eq!(controller.unwrap(), Congestion::Dctcp);
        assert!(error(&by("bbr")).contains("bbr, but a controller is one of reno, cubic"));
        let on = |host: &str| parse("f", &format!("{load}write = 1\n{host}\n"));
        let hosts = on("host = \"2ghz\"\ncores = 2").unwrap()[0].hosts(HostConfig::free());
        assert_eq!(
            hosts.unwrap().to_string(),
            "2 cores of 2 GHz, IPC 1, polling"
        );
        let refused = on("host = \"fast\"").unwrap_err().to_string();
        assert!(
            refused.contains("load `l`: host: fast is no host"),
            "{refused}"
        );
        assert!(on("cores = 5").is_err());
        let hosts = |text: &str| on(text).unwrap()[0].hosts(HostConfig::of(3.0));
        let set = hosts("costs = { wake-up = 5000, mmio-read = 700 }\nsleep = true");
        let said = "1 core of 3 GHz, IPC 1, sleeping, mmio-read=700,wake-up=5000";
        assert_eq!(set.unwrap().to_string(), said);
        let unknown = on("costs = { wakeup = 5000 }").unwrap_err().to_string();
        assert!(unknown.contains("unknown variant `wakeup`, expected one of `mmio-write`, `mmio-read`, `interrupt`, `wake-up`, `cache-miss`, `mapping`"), "{unknown}");
        let large = on("costs = { mapping = 10000001 }")
            .unwrap_err()
            .to_string();
        assert!(
            large.contains("a cost is 10000001, it must be at most 10000000"),
            "{large}"
        );
        let rpc = "[[load]]\nname = \"l\"\nprogram = \"rpc\"\nsizes = [64]\nmessages = 1\nrate = 5\nthink_ns = 5\n";
        assert_eq!(
            error(rpc),
            "load `l`: think_ns beside a rate is 5, it must be left out"
        );
        assert_eq!(error("load = []"), "f has no load");
        assert!(read("no/such/file")
            .unwrap_err()
            .to_string()
            .contains("default, echo"));
    }
}
