//! Rounds that all hosts begin together: each some time after the end of the one before.

use rand_chacha::ChaCha8Rng;

use super::arrivals::exponential;
use super::step::Step;

pub(super) struct Rounds {
    rng: ChaCha8Rng,
    think_ns: f64,
    count: usize,
    number: usize,
    begin: u64,
}

impl Rounds {
    /// So many from now on.
    pub(super) fn new(rng: ChaCha8Rng, now: u64, count: usize, think_ns: u64) -> Self {
        Self {
            rng,
            think_ns: think_ns as f64,
            count,
            number: 0,
            begin: now,
        }
    }

    /// Rounds that are over.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// When the next one begins, or has begun.
    pub(super) fn due(&self) -> Option<u64> {
        (self.number < self.count).then_some(self.begin)
    }

    /// Whether it begins now, or has begun.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.due().is_some_and(|begin| begin <= now)
    }

    /// It is over, and so many bytes of each host are what they are to be.
    pub(super) fn end(&mut self, bytes: usize, step: &mut Step<'_>) {
        step.ended(self.begin, bytes);
        self.number += 1;
        self.begin = step.now() + exponential(&mut self.rng, self.think_ns);
    }
}
