//! The memory of a shared receive queue: doorbell, the order in which elements were posted, and the elements.
//!
//! Queue pairs end with its elements in any order. So an element lies in a *slot* that whoever posts chooses among those that are free, and the
//! ring says which slot was posted when.

use weft_layout::QueueDoorbell;

use crate::memory::Memory;
use crate::wqe::{put_sge, Sge, MAX_RECV_SGE};
use crate::{BLOCK, BLOCK_WORDS};

/// Most elements.
const MAX_DEPTH: u32 = 1 << 15;
const DOORBELL: usize = 0;
const RING: usize = DOORBELL + QueueDoorbell::SIZE / 8;
const TAIL: usize = DOORBELL + QueueDoorbell::RECV_TAIL_AT / 8;

/// Where a shared receive queue's parts lie in its memory. It is the same value on both sides; memory is given with each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedReceive {
    slots: u32,
    mask: u32,
}

impl SharedReceive {
    /// Room for so many elements, 1 to 32768; `None` if there cannot be so many.
    pub fn new(elements: u32) -> Option<Self> {
        (1..=MAX_DEPTH).contains(&elements).then(|| SharedReceive {
            slots: elements,
            mask: elements.next_power_of_two() - 1,
        })
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        8 * self.element(self.slots)
    }

    /// Its slots.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    fn place(&self, number: u32) -> usize {
        RING + (number & self.mask) as usize
    }

    fn element(&self, slot: u32) -> usize {
        let ring = self.mask as usize + 1;
        (RING + ring).next_multiple_of(BLOCK / 8) + BLOCK_WORDS * slot as usize
    }

    // ------------------------------------------------------------------ who posts

    /// Writes an element of up to [`MAX_RECV_SGE`] SGEs into a slot that is free, as the one of this number, counted from 0; SGEs without
    /// length are left out.
    pub fn put<M: Memory + ?Sized>(&self, memory: &M, number: u32, slot: u32, sges: &[Sge]) {
        let mut used = sges.iter().filter(|sge| sge.length > 0);
        for place in 0..MAX_RECV_SGE {
            let sge = used.next().copied().unwrap_or_default();
            put_sge(memory, self.element(slot) + 2 * place, sge);
        }
        memory.store(self.place(number), slot.into());
    }

    /// Doorbell: so many elements were posted.
    pub fn ring<M: Memory + ?Sized>(&self, memory: &M, tail: u32) {
        memory.store_last(TAIL, tail.into());
    }

    // ------------------------------------------------------------------ who takes

    /// The slot and the SGEs of the element of this number, if it was posted. A tail or a slot that cannot be says nothing: `None`.
    pub fn take<M: Memory + ?Sized>(
        &self,
        memory: &M,
        number: u32,
    ) -> Option<(u32, [Sge; MAX_RECV_SGE])> {
        let posted = (memory.load_first(TAIL) as u32).wrapping_sub(number);
        if posted == 0 || posted > self.slots {
            return None;
        }
        let slot = u32::try_from(memory.load(self.place(number))).ok()?;
        if slot >= self.slots {
            return None;
        }
        let at = self.element(slot);
        let word = |word| memory.load(at + word);
        let sges = core::array::from_fn(|n| Sge::from_words([word(2 * n), word(2 * n + 1)]));
        Some((slot, sges))
    }
}
