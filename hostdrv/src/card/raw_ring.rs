//! The raw receive ring: frames that the card does not finish.

use weft_layout::{doorbells, reg, registers};

use super::write_checked;
use crate::dma::DmaBuffer;
use crate::error::DeviceError;
use crate::mmio::Mmio;

pub(super) struct RawRing {
    memory: DmaBuffer,
    /// Where slot 0 begins in `memory`.
    start: usize,
    slot_log2: u8,
    count_log2: u8,
    /// Frames taken, and of these the card has been told of: modulo 2^32.
    taken: u32,
    returned: u32,
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
            returned: 0,
        })
    }

    /// Copies the frame of the next slot, which must be `slot`, into `frame`.
    pub(super) fn take(
        &mut self,
        slot: u16,
        length: u16,
        frame: &mut Vec<u8>,
    ) -> Result<Result<(), &'static str>, DeviceError> {
        let expected = self.taken & ((1 << self.count_log2) - 1);
        if u32::from(slot) != expected {
            return Ok(Err("its raw slot is not the next one"));
        }
        if usize::from(length) > 1 << self.slot_log2 {
            return Ok(Err("its raw frame is longer than a slot"));
        }
        frame.resize(length.into(), 0);
        self.memory
            .read(self.start + (usize::from(slot) << self.slot_log2), frame)?;
        self.taken = self.taken.wrapping_add(1);
        Ok(Ok(()))
    }

    /// Returns the slots of the frames taken, a quarter of the ring at a time.
    pub(super) fn return_room(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        if self.taken.wrapping_sub(self.returned) >= (1u32 << self.count_log2).div_ceil(4) {
            mmio.ring(doorbells::RAW_HEAD, self.taken)?;
            self.returned = self.taken;
        }
        Ok(())
    }
}
