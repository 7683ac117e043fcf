//! The card's RTL as a [`Card`](crate::card::Card): the Verilated `weft_card` with a host memory, a register master and
//! a MAC around it.

mod card;
mod memory;

use rtl_sim::axi::Timing;
use rtl_sim::{Seed, Stall};

pub use card::{Rtl128, Rtl512};

/// How the surroundings of the RTL behave.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Host memory.
    pub memory: Timing,
    /// Pauses of the MAC on transmit.
    pub mac: Stall,
    /// Register accesses in flight.
    pub registers: usize,
    /// What registers and memories hold before the first reset is drawn from this; from the card's own seed if there is none.
    pub start: Option<Seed>,
}

impl Default for Surroundings {
    /// Reads take 400 ns, and nothing else pauses.
    fn default() -> Self {
        Self {
            memory: Timing::latency(100),
            mac: Stall::Never,
            registers: 4,
            start: None,
        }
    }
}

/// The seed of card `number`'s own choices: register start values, latencies, pauses.
fn seed(seed: u64, number: u32) -> Seed {
    Seed(seed).derive(&format!("card {number}"))
}

/// The card at 512 bits.
pub fn card512(world_seed: u64, number: u32) -> Rtl512 {
    Rtl512::new(seed(world_seed, number), Surroundings::default())
}

/// The card at 128 bits.
pub fn card128(world_seed: u64, number: u32) -> Rtl128 {
    Rtl128::new(seed(world_seed, number), Surroundings::default())
}

/// The seed of card `number` and surroundings drawn at random from it: latencies, pauses, order of answers.
pub fn any(world_seed: u64, number: u32) -> (Seed, Surroundings) {
    let seed = seed(world_seed, number);
    let mut rng = seed.rng("surroundings");
    let around = Surroundings {
        memory: Timing::any(seed),
        mac: Stall::any(&mut rng),
        registers: rng.usize(1..8),
        start: None,
    };
    (seed, around)
}

/// A card at 512 bits in [any] surroundings.
pub fn any512(world_seed: u64, number: u32) -> Rtl512 {
    let (seed, around) = any(world_seed, number);
    Rtl512::new(seed, around)
}

/// A card at 128 bits in [any] surroundings.
pub fn any128(world_seed: u64, number: u32) -> Rtl128 {
    let (seed, around) = any(world_seed, number);
    Rtl128::new(seed, around)
}
