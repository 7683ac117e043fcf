//! What a host waits for beside its instructions: named costs, each with a usual one, and others by `NAME=NS`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest, in nanoseconds.
pub const MOST: u64 = 10_000_000;

/// A cost by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostName {
    /// An MMIO write until the processor goes on.
    MmioWrite,
    /// An MMIO read: the processor waits for the answer.
    MmioRead,
    /// From a card's request to the first instruction of its handler.
    Interrupt,
    /// From there to the thread that slept.
    WakeUp,
    /// A line that the card has written since it was last read, from the last-level cache.
    CacheMiss,
    /// A mapping in the IOMMU, from the system call that makes it to the one that ends it.
    Mapping,
}

impl CostName {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::MmioWrite,
        Self::MmioRead,
        Self::Interrupt,
        Self::WakeUp,
        Self::CacheMiss,
        Self::Mapping,
    ];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MmioWrite => "mmio-write",
            Self::MmioRead => "mmio-read",
            Self::Interrupt => "interrupt",
            Self::WakeUp => "wake-up",
            Self::CacheMiss => "cache-miss",
            Self::Mapping => "mapping",
        }
    }

    /// Whether hosts that poll never have it.
    pub fn is_of_sleepers(self) -> bool {
        matches!(self, Self::Interrupt | Self::WakeUp)
    }

    /// A server's, in nanoseconds. All of them are assumed.
    const fn usual(self) -> u64 {
        match self {
            // Posted, into a write-combining buffer.
            Self::MmioWrite => 20,
            // A round trip over PCIe, usually under a microsecond (Miller et al., ANCS 2009).
            Self::MmioRead => 900,
            // A message-signalled write over PCIe, and the kernel's entry.
            Self::Interrupt => 1000,
            // The scheduler, and a switch to a thread on an idle core.
            Self::WakeUp => 3000,
            // A last-level cache, into which the card writes.
            Self::CacheMiss => 20,
            // Two system calls, a page pinned, an entry of the table, and its flush.
            Self::Mapping => 2000,
        }
    }
}

/// Nanoseconds of what is no matter of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Costs {
    mmio_write_ns: u64,
    mmio_read_ns: u64,
    interrupt_ns: u64,
    wake_up_ns: u64,
    cache_miss_ns: u64,
    mapping_ns: u64,
}

impl Costs {
    /// None.
    pub const FREE: Self = Self {
        mmio_write_ns: 0,
        mmio_read_ns: 0,
        interrupt_ns: 0,
        wake_up_ns: 0,
        cache_miss_ns: 0,
        mapping_ns: 0,
    };

    /// A server's.
    pub const USUAL: Self = Self {
        mmio_write_ns: CostName::MmioWrite.usual(),
        mmio_read_ns: CostName::MmioRead.usual(),
        interrupt_ns: CostName::Interrupt.usual(),
        wake_up_ns: CostName::WakeUp.usual(),
        cache_miss_ns: CostName::CacheMiss.usual(),
        mapping_ns: CostName::Mapping.usual(),
    };

    /// This one.
    pub fn ns(&self, name: CostName) -> u64 {
        match name {
            CostName::MmioWrite => self.mmio_write_ns,
            CostName::MmioRead => self.mmio_read_ns,
            CostName::Interrupt => self.interrupt_ns,
            CostName::WakeUp => self.wake_up_ns,
            CostName::CacheMiss => self.cache_miss_ns,
            CostName::Mapping => self.mapping_ns,
        }
    }

    /// Sets one.
    pub fn set(&mut self, name: CostName, ns: u64) {
        let cost = match name {
            CostName::MmioWrite => &mut self.mmio_write_ns,
            CostName::MmioRead => &mut self.mmio_read_ns,
            CostName::Interrupt => &mut self.interrupt_ns,
            CostName::WakeUp => &mut self.wake_up_ns,
            CostName::CacheMiss => &mut self.cache_miss_ns,
            CostName::Mapping => &mut self.mapping_ns,
        };
        *cost = ns;
    }

    /// Those that are not the usual ones, as [`CostIs`] reads them, with commas between.
    pub fn unusual(&self) -> String {
        let is_unusual = |name: &CostName| self.ns(*name) != name.usual();
        let names = CostName::ALL.into_iter().filter(is_unusual);
        let all: Vec<_> = names
            .map(|name| {
                let ns = self.ns(name);
                CostIs { name, ns }.to_string()
            })
            .collect();
        all.join(",")
    }
}

/// A cost that is set: `wake-up=5000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostIs {
    /// Which.
    pub name: CostName,
    /// Nanoseconds.
    pub ns: u64,
}

impl fmt::Display for CostIs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name.name(), self.ns)
    }
}

/// No cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given} is no cost: it is a name, =, and nanoseconds to {MOST}; names are {}",
    names()
)]
pub struct NoCost {
    given: String,
}

fn names() -> String {
    CostName::ALL.map(CostName::name).join(", ")
}

impl FromStr for CostIs {
    type Err = NoCost;

    fn from_str(text: &str) -> Result<Self, NoCost> {
        let cost = text.split_once('=').and_then(|(name, ns)| {
            let name = CostName::ALL.into_iter().find(|one| one.name() == name)?;
            let ns = ns.parse().ok().filter(|ns| *ns <= MOST)?;
            Some(Self { name, ns })
        });
        cost.ok_or_else(|| NoCost {
            given: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cost_is_set_by_its_name() {
        for name in CostName::ALL {
            let mut costs = Costs::USUAL;
            let is: CostIs = format!("{}=7", name.name()).parse().unwrap();
            costs.set(is.name, is.ns);
            assert_eq!((is.name, costs.ns(name)), (name, 7));
            assert_eq!(costs.unusual(), is.to_string());
            let others = CostName::ALL.into_iter().filter(|other| *other != name);
            for other in others {
                assert_eq!(costs.ns(other), Costs::USUAL.ns(other));
            }
        }
        assert_eq!(Costs::USUAL.unusual(), "");
    }

    #[test]
    fn what_is_no_cost_is_told_their_names() {
        for wrong in [
            "",
            "wake-up",
            "wake-up=",
            "wakeup=1",
            "wake-up=-1",
            "wake-up=10000001",
            "mapping=1=2",
        ] {
            let why = wrong.parse::<CostIs>().unwrap_err().to_string();
            let names = "mmio-write, mmio-read, interrupt, wake-up, cache-miss, mapping";
            assert!(why.contains(names), "{why}");
            assert!(why.starts_with(&format!("{wrong} is no cost")), "{why}");
        }
    }
}
