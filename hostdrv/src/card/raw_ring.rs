//! The raw receive ring: frames that the card does not finish.

use weft_layout::{doorbells, reg, registers};

use super::write_checked;
use crate::dma::{DmaBuffer, OutOfBounds};
use crate::error::DeviceError;
use crate::mmio::Mmio;

pub(super) struct RawRing {
    memory: DmaBuffer,
    /// Where slot 0 begins in `memory`.
    start: usize,
    slot_log2: u8,
    count_log2: u8,
    /// Frames taken, those in front that nobody needs any more, and of these what the card has been told of: modulo 2^32.
    taken: u32,
    free: u32,
    returned: u32,
    /// Slots of frames that were taken and are still needed.
    lent: Vec<bool>,
}

impl RawRing {
    pub(super) fn new(mmio: &Mmio, count_log2: u8, max_frame: u16) -> Result<Self, DeviceError> {
        let slot_log2 = (11..=14)
            .find(|log2| usize::from(max_frame) <= 1 << log2)
            .unwrap_or(14);
        let slot = 1usize << slot_log2;
        // The ring is aligned to its slots, DMA memory only to pages.
        let spare = slot.saturating_sub(crate::dma::PAGE_SIZE);
        let memory = mmio.dma_alloc((slot << count_log2) + spare)?;
        let iova = memory.iova().next_multiple_of(slot as u64);
        mmio.write_address(registers::RAW_BASE_LO, registers::RAW_BASE_HI, iova)?;
        let shape = reg::RawLog2::default()
            .with_slot(slot_log2)
            .with_count(count_log2);
        write_checked(mmio, registers::RAW_LOG2, shape)?;
        Ok(Self {
            start: (iova - memory.iova()) as usize,
            memory,
            slot_log2,
            count_log2,
            taken: 0,
            free: 0,
            returned: 0,
            lent: vec![false; 1 << count_log2],
        })
    }

    fn slots(&self) -> u32 {
        1 << self.count_log2
    }

    /// Takes the frame of the next slot, which must be `slot`: it is needed until [`free`](Self::free).
    pub(super) fn take(&mut self, slot: u16, length: u16) -> Result<(), &'static str> {
        if u32::from(slot) != self.taken & (self.slots() - 1) {
            return Err("its raw slot is not the next one");
        }
        if usize::from(length) > 1 << self.slot_log2 {
            return Err("its raw frame is longer than a slot");
        }
        self.taken = self.taken.wrapping_add(1);
        self.set_lent(slot, true);
        Ok(())
    }

    /// Reads from a slot that was taken.
    pub(super) fn read(&self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), OutOfBounds> {
        let inside = at.checked_add(bytes.len());
        debug_assert!(inside.is_some_and(|end| end <= 1 << self.slot_log2));
        let start = self.start + (usize::from(slot) << self.slot_log2);
        self.memory.read(start + at, bytes)
    }

    /// Where the card finds a slot.
    pub(super) fn iova(&self, slot: u16) -> u64 {
        self.memory.iova() + self.start as u64 + (u64::from(slot) << self.slot_log2)
    }

    /// Nobody needs the frame any more.
    pub(super) fn free(&mut self, slot: u16) {
        self.set_lent(slot, false);
        while self.free != self.taken && !self.is_lent(self.free) {
            self.free = self.free.wrapping_add(1);
        }
    }

    fn set_lent(&mut self, slot: u16, lent: bool) {
        if let Some(entry) = self.lent.get_mut(usize::from(slot)) {
            *entry = lent;
        }
    }

    fn is_lent(&self, number: u32) -> bool {
        let slot = number & (self.slots() - 1);
        self.lent.get(slot as usize).copied().unwrap_or(false)
    }

    /// Slots from the first one that is still needed to the last one taken.
    fn waiting(&self) -> u32 {
        self.taken.wrapping_sub(self.free)
    }

    /// A frame may stay in its slot.
    pub(super) fn may_hold(&self) -> bool {
        self.waiting() <= self.slots() / 2
    }

    /// The slot that has to be free soon: all that were used after it wait for it.
    pub(super) fn wanted(&self) -> Option<u16> {
        let slot = self.free & (self.slots() - 1);
        (self.waiting() >= self.slots() / 4 * 3 && self.slots() > 4).then_some(slot as u16)
    }

    /// Returns slots that nobody needs, a quarter of the ring at a time; when frames stay in theirs, and so less of it is left, sooner.
    pub(super) fn return_room(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        let part = if self.waiting() == 0 { 4 } else { 16 };
        if self.free.wrapping_sub(self.returned) >= self.slots().div_ceil(part) {
            mmio.ring(doorbells::RAW_HEAD, self.free)?;
            self.returned = self.free;
        }
        Ok(())
    }
}
