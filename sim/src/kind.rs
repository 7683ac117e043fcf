//! The kinds of card a world can have.

use std::fmt;
use std::str::FromStr;

use rtl_sim::axi::Timing;

use crate::card::Card;
use crate::model::{ModelCard, Sizes};

/// Host memory as a card has it unless it is told otherwise: reads take 400 ns, and nothing else pauses.
pub fn host_memory() -> Timing {
    Timing::latency(100)
}

/// A kind of card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// The RTL, 512 bits wide.
    Rtl512,
    /// The RTL, 256 bits wide, with 4096 flows and 16384 STags.
    Rtl256,
    /// The RTL, 128 bits wide.
    Rtl128,
    /// The functional model.
    Model,
}

impl CardKind {
    /// The kinds that this build has.
    pub fn available() -> Vec<Self> {
        let mut kinds = vec![CardKind::Model];
        if cfg!(rtl) {
            kinds.extend([CardKind::Rtl512, CardKind::Rtl256, CardKind::Rtl128]);
        }
        kinds
    }

    /// The widest card of this build.
    pub fn widest() -> Self {
        if cfg!(rtl) {
            CardKind::Rtl512
        } else {
            CardKind::Model
        }
    }

    /// Bytes that it moves in a cycle: a beat of the RTL, or as the widest one.
    pub fn lanes(self) -> usize {
        match self {
            CardKind::Rtl512 | CardKind::Model => 64,
            CardKind::Rtl256 => 32,
            CardKind::Rtl128 => 16,
        }
    }

    /// The link that such a card can fill, in Gb/s.
    pub fn gbps(self) -> u64 {
        match self {
            CardKind::Rtl512 | CardKind::Model => 100,
            CardKind::Rtl256 => 50,
            CardKind::Rtl128 => 25,
        }
    }

    /// How many flows and STags it has.
    pub fn sizes(self) -> Sizes {
        match self {
            CardKind::Rtl256 => Sizes {
                flows: 4096,
                stags: 16384,
                ..Sizes::default()
            },
            CardKind::Rtl512 | CardKind::Rtl128 | CardKind::Model => Sizes::default(),
        }
    }

    /// A card of this kind: number `number` of the world with this seed. Host memory answers reads after 400 ns.
    ///
    /// # Panics
    /// If the kind is not [`available`](Self::available); parsing a name refuses such a kind with an error.
    pub fn build(self, seed: u64, number: u32) -> Box<dyn Card> {
        self.build_with(seed, number, host_memory())
    }

    /// The same, with host memory of this timing. The functional model has none.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn build_with(self, seed: u64, number: u32, memory: Timing) -> Box<dyn Card> {
        #[cfg(not(rtl))]
        let _ = memory;
        #[cfg(rtl)]
        let (own, around) = crate::rtl::with(seed, number, memory);
        match self {
            #[cfg(rtl)]
            CardKind::Rtl512 => Box::new(crate::rtl::Rtl512::new(own, around)),
            #[cfg(rtl)]
            CardKind::Rtl256 => Box::new(crate::rtl::Rtl256::new(own, around)),
            #[cfg(rtl)]
            CardKind::Rtl128 => Box::new(crate::rtl::Rtl128::new(own, around)),
            #[cfg(not(rtl))]
            CardKind::Rtl512 | CardKind::Rtl256 | CardKind::Rtl128 => {
                panic!("{self} was left out of this build (WEFT_NO_RTL)")
            }
            CardKind::Model => {
                let _ = (seed, number);
                Box::new(ModelCard::new(Sizes::default()))
            }
        }
    }
}

impl fmt::Display for CardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CardKind::Rtl512 => "rtl512",
            CardKind::Rtl256 => "rtl256",
            CardKind::Rtl128 => "rtl128",
            CardKind::Model => "model",
        })
    }
}

impl FromStr for CardKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let kind = match name {
            "rtl512" => CardKind::Rtl512,
            "rtl256" => CardKind::Rtl256,
            "rtl128" => CardKind::Rtl128,
            "model" => CardKind::Model,
            _ => {
                return Err(format!(
                    "no card is called `{name}`: there are rtl512, rtl256, rtl128 and model"
                ))
            }
        };
        if Self::available().contains(&kind) {
            return Ok(kind);
        }
        Err(format!(
            "{kind} was left out of this build: build without WEFT_NO_RTL, or take `--card model`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::{Table, Value};

    #[test]
    fn a_kind_is_as_large_as_the_configurations_that_it_simulates() {
        let configurations: Table = include_str!("../rtl/configs.toml").parse().unwrap();
        for kind in [CardKind::Rtl512, CardKind::Rtl256, CardKind::Rtl128] {
            let name = kind.to_string();
            let of = |config: &Table| -> Option<[Value; 3]> {
                let simulated = config.get("simulated")?.as_table()?;
                let usual = config.get("parameters")?.as_table()?;
                (simulated.get("card")?.as_str()? == name).then_some(())?;
                let value = |key| simulated.get(key).or(usual.get(key)).unwrap().clone();
                Some(["DATA_W", "NUM_FLOWS", "NUM_STAGS"].map(value))
            };
            let tables = configurations.values().filter_map(Value::as_table);
            let found: Vec<_> = tables.filter_map(of).collect();
            assert!(!found.is_empty(), "{name}");
            let sizes = kind.sizes();
            let size = [8 * kind.lanes(), sizes.flows, sizes.stags].map(|n| Value::from(n as i64));
            for one in found {
                assert_eq!(one, size, "{name}");
            }
        }
    }
}
