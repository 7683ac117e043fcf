//! Which connection's timer is due first: a heap that knows where each connection lies in it.

use alloc::vec;
use alloc::vec::Vec;

/// Not in the heap.
const ABSENT: u16 = u16::MAX;

/// The deadline of each slot that has one.
#[derive(Debug)]
pub struct Deadlines {
    /// A heap: no entry is due before the one at half its index.
    heap: Vec<(u64, u16)>,
    /// Where a slot's entry lies.
    places: Vec<u16>,
}

impl Deadlines {
    /// None yet, of so many slots.
    pub fn new(slots: usize) -> Self {
        Deadlines {
            heap: Vec::with_capacity(slots),
            places: vec![ABSENT; slots],
        }
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<u64> {
        self.heap.first().map(|(at, _)| *at)
    }

    /// Sets or clears that of a slot.
    pub fn set(&mut self, slot: u16, at: Option<u64>) {
        let Some(&place) = self.places.get(usize::from(slot)) else {
            return;
        };
        let index = usize::from(place);
        match (at, self.heap.get_mut(index)) {
            (None, None) => {}
            (None, Some(_)) => self.remove(index),
            (Some(at), None) => {
                self.heap.push((at, slot));
                self.up(self.heap.len() - 1);
            }
            (Some(at), Some(entry)) => {
                let before = core::mem::replace(&mut entry.0, at);
                if at < before {
                    self.up(index);
                } else if at > before {
                    self.down(index);
                }
            }
        }
    }

    /// Adds to a list the slots that are due.
    pub fn expired(&self, now: u64, slots: &mut Vec<u16>) {
        self.expired_below(0, now, slots);
    }

    fn expired_below(&self, index: usize, now: u64, slots: &mut Vec<u16>) {
        match self.heap.get(index) {
            Some((at, slot)) if *at <= now => {
                slots.push(*slot);
                self.expired_below(2 * index + 1, now, slots);
                self.expired_below(2 * index + 2, now, slots);
            }
            _ => {}
        }
    }

    fn remove(&mut self, index: usize) {
        let (_, slot) = self.heap.swap_remove(index);
        self.places[usize::from(slot)] = ABSENT;
        if index < self.heap.len() {
            self.up(index);
            let moved = self.heap[index].1;
            self.down(usize::from(self.places[usize::from(moved)]));
        }
    }

    fn up(&mut self, mut index: usize) {
        let entry = self.heap[index];
        while index > 0 {
            let above = (index - 1) / 2;
            if self.heap[above].0 <= entry.0 {
                break;
            }
            self.put(index, self.heap[above]);
            index = above;
        }
        self.put(index, entry);
    }

    fn down(&mut self, mut index: usize) {
        let entry = self.heap[index];
        loop {
            let left = 2 * index + 1;
            let Some(mut below) = self.heap.get(left).copied() else {
                break;
            };
            let mut next = left;
            if let Some(right) = self.heap.get(left + 1).filter(|right| right.0 < below.0) {
                (below, next) = (*right, left + 1);
            }
            if entry.0 <= below.0 {
                break;
            }
            self.put(index, below);
            index = next;
        }
        self.put(index, entry);
    }

    fn put(&mut self, index: usize, entry: (u64, u16)) {
        self.heap[index] = entry;
        self.places[usize::from(entry.1)] = index as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::random::Random;

    #[test]
    fn agrees_with_a_search() {
        const SLOTS: u32 = 40;
        let mut random = Random::new(&7.into());
        let mut deadlines = Deadlines::new(SLOTS as usize);
        let mut plain = [None; SLOTS as usize];
        for step in 0..20_000 {
            let slot = random.next() % SLOTS;
            let at = (random.next() % 4 > 0).then(|| u64::from(random.next() % 1000));
            deadlines.set(slot as u16, at);
            plain[slot as usize] = at;
            assert_eq!(deadlines.first(), plain.iter().flatten().min().copied());
            if step % 16 == 0 {
                let now = u64::from(random.next() % 1000);
                let mut expired = Vec::new();
                deadlines.expired(now, &mut expired);
                expired.sort_unstable();
                let expected: Vec<u16> = (0..SLOTS as u16)
                    .filter(|slot| plain[usize::from(*slot)].is_some_and(|at| at <= now))
                    .collect();
                assert_eq!(expired, expected);
            }
        }
    }
}
