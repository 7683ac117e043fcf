//! The protocol checker of a stream.

use super::{keep, Backward, Forward};
use crate::check::{Handshake, Place};
use crate::{Rule, Violation};

/// Checks a stream of `N` bytes a beat.
#[derive(Clone, Debug)]
pub struct Checker<const N: usize> {
    bus: String,
    handshake: Handshake<Forward<N>>,
    packed: bool,
    gapless: bool,
    inside: bool,
    longest: usize,
    limit: u64,
    length: usize,
}

impl<const N: usize> Checker<N> {
    /// A checker of a packed stream: the bytes of a packet are without holes, all beats but the last are full, and
    /// none is empty. Ready has to come within 10 000 cycles.
    pub fn new(name: &str) -> Self {
        Checker {
            bus: name.to_string(),
            handshake: Handshake::new(),
            packed: true,
            gapless: false,
            inside: false,
            longest: usize::MAX,
            limit: 10_000,
            length: 0,
        }
    }

    /// Any TKEEP is allowed.
    pub fn unpacked(mut self) -> Self {
        self.packed = false;
        self
    }

    /// A packet once begun has no gap, as a MAC needs it: valid is high as long as it is under way, whenever ready comes.
    pub fn gapless(mut self) -> Self {
        self.gapless = true;
        self
    }

    /// Packets have at most so many bytes.
    pub fn longest_packet(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Ready has to come within so many cycles.
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// One cycle.
    #[inline]
    pub fn cycle(
        &mut self,
        now: u64,
        reset: bool,
        forward: &Forward<N>,
        backward: &Backward,
    ) -> Result<(), Violation> {
        let place = Place {
            bus: &self.bus,
            channel: "T",
            now,
        };
        self.handshake.check(
            place,
            reset,
            self.limit,
            forward.valid,
            backward.ready,
            forward,
        )?;
        if reset {
            self.length = 0;
            self.inside = false;
            return Ok(());
        }
        if self.gapless && self.inside && !forward.valid {
            self.inside = false;
            return place.broken(Rule::Gap, format!("after {} bytes", self.length));
        }
        if !(forward.valid && backward.ready) {
            return Ok(());
        }
        self.inside = !forward.last;
        let count = forward.keep.count_ones() as usize;
        self.length += count;
        if self.packed {
            let detail = || format!("keep {:#x}, last {}", forward.keep, forward.last);
            if count == 0 {
                return place.broken(Rule::EmptyBeat, detail());
            }
            if forward.keep != keep(count) {
                return place.broken(Rule::KeepHole, detail());
            }
            if count < N && !forward.last {
                return place.broken(Rule::PartialBeat, detail());
            }
        }
        if self.length > self.longest {
            let detail = format!("{} bytes, at most {}", self.length, self.longest);
            self.length = 0;
            return place.broken(Rule::PacketTooLong, detail);
        }
        if forward.last {
            self.length = 0;
        }
        Ok(())
    }
}
