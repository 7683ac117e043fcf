//! The raw receive ring: frames that the card does not finish.

use weft_engine::RawSlots;
use weft_layout::{doorbells, reg, registers};

use crate::checks::write_checked;
use crate::error::DeviceError;
use crate::mmio::Mmio;
use weft_card_transport::dma::{DmaBuffer, OutOfBounds};

pub(super) struct RawRing {
    memory: DmaBuffer,
    /// Where slot 0 begins in `memory`.
    start: usize,
    slot_log2: u8,
    slots: RawSlots,
}

impl RawRing {
    /// `is_second`: for the card's second port, whose slots are as large as the first one's.
    pub(super) fn new(
        mmio: &Mmio,
        count_log2: u8,
        max_frame: u16,
        is_second: bool,
    ) -> Result<Self, DeviceError> {
        let slot_log2 = (11..=14)
            .find(|log2| usize::from(max_frame) <= 1 << log2)
            .unwrap_or(14);
        let slot = 1usize << slot_log2;
        // The ring is aligned to its slots, DMA memory only to pages.
        let spare = slot.saturating_sub(weft_card_transport::dma::PAGE_SIZE);
        let memory = mmio.dma_alloc((slot << count_log2) + spare)?;
        let iova = memory.iova().next_multiple_of(slot as u64);
        mmio.write_address(registers::RAW_BASE_LO, registers::RAW_BASE_HI, iova)?;
        let shape = reg::RawLog2::default()
            .with_slot(if is_second { 0 } else { slot_log2 })
            .with_count(count_log2);
        write_checked(mmio, registers::RAW_LOG2, shape)?;
        Ok(Self {
            start: (iova - memory.iova()) as usize,
            memory,
            slot_log2,
            slots: RawSlots::new(count_log2),
        })
    }

    /// Takes the frame of the next slot, which must be `slot`: it is needed until [`free`](Self::free).
    pub(super) fn take(&mut self, slot: u16, length: u16) -> Result<(), &'static str> {
        if usize::from(length) > 1 << self.slot_log2 {
            return Err("its raw frame is longer than a slot");
        }
        if !self.slots.take(slot) {
            return Err("its raw slot is not the next one");
        }
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

    /// Nobody needs the frame any more. The card hears of it when it is worth a doorbell.
    pub(super) fn free(&mut self, mmio: &Mmio, slot: u16) -> Result<(), DeviceError> {
        self.slots.free(slot);
        match self.slots.take_room() {
            Some(head) => Ok(mmio.ring(doorbells::RAW_HEAD, head)?),
            None => Ok(()),
        }
    }

    /// The account of its slots.
    pub(super) fn slots(&self) -> &RawSlots {
        &self.slots
    }
}
