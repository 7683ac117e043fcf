//! The card's RTL as a [`Card`](crate::card::Card): the Verilated `weft_card` with a host memory, a register master and
//! a MAC around it.

mod card;
mod memory;

use rtl_sim::axi::Timing;
pub use rtl_sim::axi::Visible;
use rtl_sim::{Seed, Stall};

pub use card::{Rtl128, Rtl256, Rtl512};

/// What goes behind the card's writes on its way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushes {
    /// Interrupts do.
    pub interrupts: bool,
    /// The answers to register reads do.
    pub answers: bool,
}

impl Default for Pushes {
    /// All of it, as it has to be.
    fn default() -> Self {
        Self {
            interrupts: true,
            answers: true,
        }
    }
}

/// How the surroundings of the RTL behave.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Host memory.
    pub memory: Timing,
    /// What waits for writes that the host does not see yet.
    pub pushes: Pushes,
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
            pushes: Pushes::default(),
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

/// A card's seed, and host memory of this timing; nothing else pauses.
pub fn with(world_seed: u64, number: u32, memory: Timing) -> (Seed, Surroundings) {
    let around = Surroundings {
        memory,
        ..Surroundings::default()
    };
    (seed(world_seed, number), around)
}

/// The card at 512 bits.
pub fn card512(world_seed: u64, number: u32) -> Rtl512 {
    Rtl512::new(seed(world_seed, number), Surroundings::default())
}

/// The card at 256 bits.
pub fn card256(world_seed: u64, number: u32) -> Rtl256 {
    Rtl256::new(seed(world_seed, number), Surroundings::default())
}

/// The card at 128 bits.
pub fn card128(world_seed: u64, number: u32) -> Rtl128 {
    Rtl128::new(seed(world_seed, number), Surroundings::default())
}

/// The seed of card `number` and surroundings drawn at random from it: latencies, pauses, order of answers.
pub fn any(world_seed: u64, number: u32) -> (Seed, Surroundings) {
    let seed = seed(world_seed, number);
    let mut rng = seed.rng("surroundings");
    // Of the orders of writes those with which an error of a write comes back to the card.
    let mut order = seed.rng("order of writes");
    let memory = Timing {
        visible: [Visible::AtOnce, Visible::Answered][order.usize(0..2)],
        hidden: order.u32(0..200),
        ..Timing::any(seed)
    };
    let around = Surroundings {
        memory,
        pushes: Pushes::default(),
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

/// A card at 256 bits in [any] surroundings.
pub fn any256(world_seed: u64, number: u32) -> Rtl256 {
    let (seed, around) = any(world_seed, number);
    Rtl256::new(seed, around)
}

/// A card at 128 bits in [any] surroundings.
pub fn any128(world_seed: u64, number: u32) -> Rtl128 {
    let (seed, around) = any(world_seed, number);
    Rtl128::new(seed, around)
}

/// [`any`], behind a bridge with this order of writes.
pub fn ordered(
    world_seed: u64,
    number: u32,
    visible: Visible,
    pushes: Pushes,
) -> (Seed, Surroundings) {
    let (seed, around) = any(world_seed, number);
    let hidden = [30, 300, 1500][seed.rng("order of writes").usize(0..3)];
    let memory = Timing {
        visible,
        hidden,
        ..around.memory
    };
    let ordered = Surroundings {
        memory,
        pushes,
        ..around
    };
    (seed, ordered)
}
