//! A path between a station of ours and a peer that is not ours: it loses, delays and duplicates frames by seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::US;

const DELAY: u64 = 20 * US;

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    Ours,
    Peer,
}

/// When it is there, a number that keeps the order, and what.
type OnTheWay = Reverse<(u64, u64, To, Vec<u8>)>;

pub struct Path {
    queue: BinaryHeap<OnTheWay>,
    count: u64,
    random: u64,
    /// In parts of 1000, each.
    pub faults: u64,
}

impl Path {
    pub fn new(seed: u64, faults: u64) -> Self {
        Path {
            queue: BinaryHeap::new(),
            count: 0,
            random: seed ^ 0x5deece66d,
            faults,
        }
    }

    fn chance(&mut self) -> bool {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) % 1000 < self.faults
    }

    fn push(&mut self, at: u64, to: To, frame: Vec<u8>) {
        self.count += 1;
        self.queue.push(Reverse((at, self.count, to, frame)));
    }

    /// A frame sets out.
    pub fn put(&mut self, now: u64, to: To, frame: Vec<u8>) {
        if self.chance() {
            return;
        }
        let mut at = now + DELAY;
        if self.chance() {
            at += 200 * US;
        }
        if self.chance() {
            self.push(at + 30 * US, to, frame.clone());
        }
        self.push(at, to, frame);
    }

    /// When the next frame is there.
    pub fn next(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse(next)| next.0)
    }

    /// A frame that is there.
    pub fn take(&mut self, now: u64) -> Option<(To, Vec<u8>)> {
        if self.next()? > now {
            return None;
        }
        let Reverse((_, _, to, frame)) = self.queue.pop()?;
        Some((to, frame))
    }
}
