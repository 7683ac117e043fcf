//! One seed for everything: each part of the simulation draws from its own stream of it, so that a
//! change in how often one part draws does not disturb the others.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Who draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Faults of the link with this number.
    Link(u32),
    /// Host memory timing and register start values of the card with this number.
    Card(u32),
    /// Address layout of the card's IOMMU.
    Iommu(u32),
    /// Choices of the application or the test.
    Application,
    /// When the application asks for something.
    Arrivals,
    /// The engine's own generator on the card with this number.
    Engine(u32),
    /// When the cores of the host with this number begin.
    Host(u32),
}

impl Stream {
    fn number(self) -> u64 {
        match self {
            Stream::Application => 1,
            Stream::Arrivals => 2,
            Stream::Link(n) => 0x1_0000_0000 | u64::from(n),
            Stream::Card(n) => 0x2_0000_0000 | u64::from(n),
            Stream::Iommu(n) => 0x3_0000_0000 | u64::from(n),
            Stream::Engine(n) => 0x4_0000_0000 | u64::from(n),
            Stream::Host(n) => 0x5_0000_0000 | u64::from(n),
        }
    }
}

/// The generator of `stream` under `seed`.
pub fn generator(seed: u64, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream.number());
    rng
}
