//! The sink of a stream: collects the packets that the design sends.

use super::{keep, Backward, Forward};
use crate::{Pace, Seed, Stall};
use std::collections::VecDeque;

/// A packet that came out of the design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Its bytes.
    pub data: Vec<u8>,
    /// TUSER of the last beat.
    pub user: u64,
    /// The cycle of the first beat's handshake.
    pub first: u64,
    /// The cycle of the last beat's handshake.
    pub last: u64,
}

/// Collects packets, `N` bytes a beat.
pub struct Sink<const N: usize> {
    packets: VecDeque<Received>,
    open: Received,
    in_packet: bool,
    spare: Vec<Vec<u8>>,
    pace: Pace,
    beats: u64,
}

impl<const N: usize> Sink<N> {
    /// A sink whose ready pauses as `stall` says.
    pub fn new(stall: Stall, seed: Seed) -> Self {
        Sink {
            packets: VecDeque::new(),
            open: Received::default(),
            in_packet: false,
            spare: Vec::new(),
            pace: Pace::new(stall, seed.rng("axis sink")),
            beats: 0,
        }
    }

    /// The oldest packet received.
    pub fn pop(&mut self) -> Option<Received> {
        self.packets.pop_front()
    }

    /// Gives a packet's memory back for later packets.
    pub fn recycle(&mut self, packet: Received) {
        self.spare.push(packet.data);
    }

    /// Whole packets waiting.
    pub fn pending(&self) -> usize {
        self.packets.len()
    }

    /// Whether a packet has begun and not ended.
    pub fn in_packet(&self) -> bool {
        self.in_packet
    }

    /// Beats received in all.
    pub fn beats(&self) -> u64 {
        self.beats
    }

    /// One cycle: takes the beat, and sets the next cycle's ready. `now` is the cycle's number.
    #[inline]
    pub fn cycle(&mut self, now: u64, drive: &mut Backward, seen: &Forward<N>) {
        let taken = drive.ready && seen.valid;
        if taken {
            self.take(now, seen);
        }
        drive.ready = self.pace.next(seen.valid && !taken);
    }

    fn take(&mut self, now: u64, beat: &Forward<N>) {
        self.beats += 1;
        if !self.in_packet {
            self.in_packet = true;
            self.open.first = now;
        }
        let count = beat.keep.count_ones() as usize;
        if beat.keep == keep(count) {
            self.open.data.extend_from_slice(&beat.data[..count.min(N)]);
        } else {
            let kept = beat
                .data
                .iter()
                .enumerate()
                .filter(|(lane, _)| beat.keep >> lane & 1 == 1);
            self.open.data.extend(kept.map(|(_, byte)| byte));
        }
        if beat.last {
            self.in_packet = false;
            self.open.last = now;
            self.open.user = beat.user;
            let mut next = Received {
                data: self.spare.pop().unwrap_or_default(),
                ..Received::default()
            };
            next.data.clear();
            self.packets
                .push_back(std::mem::replace(&mut self.open, next));
        }
    }
}
