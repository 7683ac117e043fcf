//! Numbers that nobody outside can foresee: a seeded generator, and a keyed hash.

use core::fmt;
use core::hash::Hasher;

use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha12Rng;
use siphasher::sip::SipHasher24;
use weft_wire::crc32c::crc32c;

use crate::interface::cm::Endpoint;

/// What all secrets of an engine are made of: the same seed, the same frames. To be secret it has to come from the
/// operating system.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl From<u64> for Seed {
    /// For tests and simulations: nobody's secret.
    fn from(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Seed(bytes)
    }
}

impl Seed {
    /// The secret of a card's flow lookup. It says nothing about an engine's other secrets: the generator's second stream has it.
    pub fn hash_secret(&self) -> HashSecret {
        let mut random = ChaCha12Rng::from_seed(self.0);
        random.set_stream(1);
        HashSecret([(); 4].map(|()| random.next_u32()))
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// A cryptographic generator.
#[derive(Clone, Debug)]
pub struct Random(ChaCha12Rng);

impl Random {
    /// From a seed.
    pub fn new(seed: &Seed) -> Self {
        Random(ChaCha12Rng::from_seed(seed.0))
    }

    /// The next 32 bits.
    pub fn next(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Another generator, whose numbers say nothing about this one's.
    pub fn fork(&mut self) -> Random {
        let mut seed = [0; 32];
        self.0.fill_bytes(&mut seed);
        Random::new(&Seed(seed))
    }

    /// A key for a hash of its own.
    pub fn secret(&mut self) -> Secret {
        let mut key = [0; 16];
        self.0.fill_bytes(&mut key);
        Secret(key)
    }
}

/// What the hash of the card's flow lookup is keyed with: the words of HASH_SECRET. Without a secret anybody chooses ports of one address that fill both
/// buckets of somebody else.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct HashSecret(pub [u32; 4]);

impl fmt::Debug for HashSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashSecret(..)")
    }
}

impl HashSecret {
    /// The hash of a key as the card sees it: remote and local address, remote and local port. Bank 0 takes its low bits, bank 1 those from bit 16 up.
    pub fn hash(&self, key: &[u8; 12]) -> u32 {
        let bits = (0..96).filter(|bit| key[bit / 8] >> (bit % 8) & 1 != 0);
        bits.fold(crc32c(key), |hash, bit| {
            let (low, high) = (self.0[bit / 32], self.0[bit / 32 + 1]);
            hash ^ ((u64::from(high) << 32 | u64::from(low)) >> (bit % 32)) as u32
        })
    }
}

/// The key of a hash that only this engine can compute (SipHash-2-4).
#[derive(Clone)]
pub struct Secret([u8; 16]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// The hash of a connection's addresses, and of something more.
    pub fn hash(&self, local: Endpoint, remote: Endpoint, more: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&local.ip);
        hasher.write(&local.port.to_be_bytes());
        hasher.write(&remote.ip);
        hasher.write(&remote.port.to_be_bytes());
        hasher.write(&more.to_be_bytes());
        hasher.finish()
    }
}

/// The secrets of an engine.
#[derive(Clone, Debug)]
pub struct Secrets {
    sequence: Secret,
    timestamp: Secret,
}

impl Secrets {
    /// Fresh ones.
    pub fn new(random: &mut Random) -> Self {
        Secrets {
            sequence: random.secret(),
            timestamp: random.secret(),
        }
    }

    /// An initial sequence number (RFC 6528 §3): a clock of 4 µs, shifted differently for each connection, so that
    /// the numbers of successive connections between the same ports do not overlap, and nobody else can tell them.
    pub fn initial_sequence(&self, now: u64, local: Endpoint, remote: Endpoint) -> u32 {
        let clock = (now / 4_000) as u32;
        clock.wrapping_add(self.sequence.hash(local, remote, 0) as u32)
    }

    /// Where a connection's timestamps begin (RFC 7323 §7.1): they do not tell how long the machine has been up.
    pub fn timestamp_offset(&self, local: Endpoint, remote: Endpoint) -> u32 {
        self.timestamp.hash(local, remote, 0) as u32
    }
}
