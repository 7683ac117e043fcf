//! Bytes of the stream that the card handed up raw, until they make whole FPDUs.
//!
//! ```text
//!   base             next            range            base + capacity
//!    │ in order, not  │ gap ...      │ beyond the gap │ ...    │
//!    │ yet consumed   │              │                │        │
//! ```

use alloc::vec;
use alloc::vec::Vec;

use weft_wire::tcp::SackBlocks;

use super::ranges::Ranges;
use super::seq;

/// A ring of received bytes, indexed by sequence number.
#[derive(Debug)]
pub struct Reassembly {
    ring: Vec<u8>,
    base: u32,
    next: u32,
    beyond: Ranges,
    latest: u32,
}

impl Reassembly {
    /// A ring of `capacity` bytes, a power of two.
    pub fn new(capacity: u32) -> Self {
        let capacity = capacity.next_power_of_two();
        Reassembly {
            ring: vec![0; capacity as usize],
            base: 0,
            next: 0,
            beyond: Ranges::default(),
            latest: 0,
        }
    }

    /// Empties it; the next byte expected is `seq`.
    pub fn restart(&mut self, seq: u32) {
        self.base = seq;
        self.next = seq;
        self.beyond.clear();
    }

    /// First byte not yet consumed.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Next byte expected in order.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Bytes that fit.
    pub fn capacity(&self) -> u32 {
        self.ring.len() as u32
    }

    /// First byte that would not fit.
    pub fn limit(&self) -> u32 {
        self.base.wrapping_add(self.ring.len() as u32)
    }

    /// Bytes in order.
    pub fn available(&self) -> usize {
        self.next.wrapping_sub(self.base) as usize
    }

    /// Nothing buffered, in order or not.
    pub fn is_empty(&self) -> bool {
        self.base == self.next && self.beyond.is_empty()
    }

    /// Something lies beyond a gap.
    pub fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Stores bytes that begin at `seq`; what is old, does not fit or would make too many gaps is
    /// left out.
    pub fn insert(&mut self, seq: u32, bytes: &[u8]) {
        let old = seq::diff(self.next, seq).max(0) as usize;
        let Some(bytes) = bytes.get(old..) else {
            return;
        };
        let start = seq.wrapping_add(old as u32);
        let room = seq::diff(self.limit(), start).max(0) as usize;
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return;
        }
        let end = start.wrapping_add(bytes.len() as u32);
        if start == self.next {
            self.store(start, bytes);
            self.advance(end);
        } else if self.beyond.add(start, end) {
            self.store(start, bytes);
            self.latest = start;
        }
    }

    /// The card has dealt with everything before `seq`.
    pub fn skip_to(&mut self, seq: u32) {
        if seq::lt(self.next, seq) {
            self.base = seq;
            self.advance(seq);
        } else if seq::lt(self.base, seq) {
            self.base = seq;
        }
    }

    /// Copies in-order bytes from the front; how many.
    pub fn copy_front(&self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.available());
        let at = self.base as usize & (self.ring.len() - 1);
        let first = count.min(self.ring.len() - at);
        out[..first].copy_from_slice(&self.ring[at..at + first]);
        out[first..count].copy_from_slice(&self.ring[..count - first]);
        count
    }

    /// Takes in-order bytes from the front.
    pub fn consume(&mut self, count: usize) {
        self.base = self.base.wrapping_add(count.min(self.available()) as u32);
    }

    /// SACK blocks (RFC 2018 §4): the one with the latest bytes first.
    pub fn sack_blocks(&self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let ranges = self.beyond.as_slice();
        let latest = |r: &&(u32, u32)| seq::le(r.0, self.latest) && seq::lt(self.latest, r.1);
        let first = ranges.iter().find(latest);
        for range in first
            .into_iter()
            .chain(ranges.iter().filter(|r| !latest(r)))
        {
            blocks.push(range.0, range.1);
        }
        blocks
    }

    fn store(&mut self, seq: u32, bytes: &[u8]) {
        let at = seq as usize & (self.ring.len() - 1);
        let first = bytes.len().min(self.ring.len() - at);
        self.ring[at..at + first].copy_from_slice(&bytes[..first]);
        self.ring[..bytes.len() - first].copy_from_slice(&bytes[first..]);
    }

    fn advance(&mut self, next: u32) {
        self.next = next;
        // A range that begins at or before `next` is no longer beyond a gap.
        if let Some(end) = self.beyond.end_of(next) {
            self.next = end;
        }
        self.beyond.remove_before(self.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_pieces_in_any_order() {
        let data: Vec<u8> = (0..200u8).collect();
        let base = u32::MAX - 50;
        let piece = |r: &mut Reassembly, from: usize, to: usize| {
            r.insert(base.wrapping_add(from as u32), &data[from..to]);
        };
        let mut r = Reassembly::new(256);
        r.restart(base);
        piece(&mut r, 100, 150);
        piece(&mut r, 20, 60);
        assert_eq!(r.available(), 0);
        assert_eq!(
            r.sack_blocks().as_slice(),
            &[
                (base.wrapping_add(20), base.wrapping_add(60)),
                (base.wrapping_add(100), base.wrapping_add(150))
            ]
        );
        piece(&mut r, 0, 30);
        assert_eq!(r.available(), 60);
        piece(&mut r, 50, 110);
        assert_eq!(r.available(), 150);
        assert!(!r.has_gap());
        piece(&mut r, 10, 20);
        let mut out = [0; 150];
        assert_eq!(r.copy_front(&mut out), 150);
        assert_eq!(out[..], data[..150]);
        r.consume(150);
        assert!(r.is_empty());
        piece(&mut r, 140, 200);
        assert_eq!(r.available(), 50);
    }

    #[test]
    fn bytes_beyond_the_window_are_cut_off() {
        let mut r = Reassembly::new(16);
        r.restart(0);
        r.insert(0, &[1; 40]);
        assert_eq!(r.available(), 16);
        r.insert(16, &[2; 4]);
        assert_eq!(r.available(), 16);
        r.consume(4);
        r.insert(16, &[2; 10]);
        assert_eq!(r.available(), 16);
    }
}
