//! The source of a stream: sends packets into the design.

use super::{keep, Backward, Forward};
use crate::{Pace, Seed, Stall};
use std::collections::VecDeque;

/// Sends packets into the design, `N` bytes a beat.
pub struct Source<const N: usize> {
    queue: VecDeque<(Vec<u8>, u64)>,
    spare: Vec<Vec<u8>>,
    at: usize,
    pace: Pace,
    sent: u64,
}

impl<const N: usize> Source<N> {
    /// A source that pauses between beats as `stall` says.
    pub fn new(stall: Stall, seed: Seed) -> Self {
        Source {
            queue: VecDeque::new(),
            spare: Vec::new(),
            at: 0,
            pace: Pace::new(stall, seed.rng("axis source")),
            sent: 0,
        }
    }

    /// Queues a packet. An empty packet is not representable and is ignored.
    pub fn push(&mut self, packet: &[u8]) {
        self.push_with_user(packet, 0);
    }

    /// Queues a packet with a TUSER value, driven in all its beats.
    pub fn push_with_user(&mut self, packet: &[u8], user: u64) {
        if packet.is_empty() {
            return;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(packet);
        self.queue.push_back((copy, user));
    }

    /// Packets queued, the one being sent included.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Nothing queued, nothing on the bus.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Packets sent, up to their last beat's handshake.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// One cycle: takes note of the handshake, and sets the next cycle's beat.
    #[inline]
    pub fn cycle(&mut self, drive: &mut Forward<N>, seen: &Backward) {
        if drive.valid {
            if !seen.ready {
                return;
            }
            self.at += N;
            if drive.last {
                self.at = 0;
                self.sent += 1;
                if let Some((packet, _)) = self.queue.pop_front() {
                    self.spare.push(packet);
                }
            }
            drive.valid = false;
        }
        let Some((packet, user)) = self.queue.front() else {
            return;
        };
        if !self.pace.start() {
            return;
        }
        let rest = &packet[self.at..];
        let count = rest.len().min(N);
        drive.data[..count].copy_from_slice(&rest[..count]);
        drive.data[count..].fill(0);
        drive.keep = keep(count);
        drive.user = *user;
        drive.last = rest.len() <= N;
        drive.valid = true;
    }
}
