//! The capture ring: copies of frames as they passed the wire.

use weft_layout::{
    doorbells,
    reg::{CaptureCtrl, CaptureLog2},
    registers, CaptureHeader, Counter,
};

use weft_card_transport::dma::{observe, DmaBuffer, PAGE_SIZE};
use weft_hostdrv::checks::{check_presence, counter, trace_ring_size, write_checked};
use weft_hostdrv::device::MAX_FRAME;
use weft_hostdrv::mmio::{Mmio, ALL_ONES};
use weft_hostdrv::DeviceError;

use super::CaptureConfig;

const HEADER: usize = CaptureHeader::SIZE;
/// How often CAPTURE_CTRL is read until the card has written the frame that it began.
const BUSY_READS: u32 = 1000;

/// A frame as it lies in its slot.
pub(super) struct Slot {
    pub(super) header: CaptureHeader,
    pub(super) bytes: Vec<u8>,
    /// Frames of its direction that were left out before it, since the one before.
    pub(super) lost: u32,
}

impl Slot {
    pub(super) fn sent(&self) -> bool {
        self.header.sent()
    }

    pub(super) fn bad(&self) -> bool {
        self.header.bad()
    }
}

pub(super) struct CaptureRing {
    memory: DmaBuffer,
    /// Where slot 0 begins in `memory`.
    start: usize,
    slot_log2: u8,
    count_log2: u8,
    /// Frames taken, and of these the card has been told of: modulo 2^32.
    taken: u32,
    returned: u32,
    /// Frames left out so far, received and sent.
    lost: [u32; 2],
}

impl CaptureRing {
    /// Gives the card a capture ring, and turns it on. Whoever has the card's rings, this one is anybody's.
    pub(super) fn start(mmio: &Mmio, wanted: &CaptureConfig) -> Result<Self, DeviceError> {
        trace_ring_size(mmio)?;
        let on = mmio.read(registers::CAPTURE_CTRL)?;
        if on.0 == ALL_ONES {
            check_presence(mmio, "CAPTURE_CTRL")?;
        }
        if on.received() || on.sent() {
            return Err(DeviceError::CaptureRunning);
        }
        let lost = [
            counter(mmio, Counter::CaptureRxLost)?,
            counter(mmio, Counter::CaptureTxLost)?,
        ];
        let frame = usize::from(wanted.snap.min(MAX_FRAME));
        let slot_log2 = (7..14)
            .find(|log2| HEADER + frame <= 1 << log2)
            .unwrap_or(14);
        let slot = 1usize << slot_log2;
        // The ring is aligned to its slots, DMA memory only to pages.
        let spare = slot.saturating_sub(PAGE_SIZE);
        let memory = mmio.dma_alloc((slot << wanted.slots_log2) + spare)?;
        let iova = memory.iova().next_multiple_of(slot as u64);
        mmio.write_address(registers::CAPTURE_BASE_LO, registers::CAPTURE_BASE_HI, iova)?;
        let shape = CaptureLog2::default()
            .with_slot(slot_log2)
            .with_count(wanted.slots_log2);
        write_checked(mmio, registers::CAPTURE_LOG2, shape)?;
        let control = CaptureCtrl::default()
            .with_received(wanted.received)
            .with_sent(wanted.sent)
            .with_snap(wanted.snap);
        mmio.write(registers::CAPTURE_CTRL, control)?;
        // Once it is read back, frames are captured.
        let read = mmio.read(registers::CAPTURE_CTRL)?.with_busy(false);
        if read != control {
            return Err(DeviceError::Register {
                register: registers::CAPTURE_CTRL.name(),
                wrote: control.0,
                read: read.0,
            });
        }
        Ok(Self {
            start: (iova - memory.iova()) as usize,
            memory,
            slot_log2,
            count_log2: wanted.slots_log2,
            taken: 0,
            returned: 0,
            lost,
        })
    }

    /// The next frame, if the card has written it: its header's phase is that of the pass through the ring.
    pub(super) fn take(&mut self) -> Result<Option<Slot>, DeviceError> {
        let memory = self.memory.memory();
        let slot = (self.taken & ((1 << self.count_log2) - 1)) as usize;
        let phase = !(self.taken >> self.count_log2) as u8 & CaptureHeader::PHASE;
        let offset = self.start + (slot << self.slot_log2);
        if memory.read_u8(offset + CaptureHeader::PHASE_AT)? & CaptureHeader::PHASE != phase {
            return Ok(None);
        }
        observe();
        let mut header = [0; HEADER];
        memory.read(offset, &mut header)?;
        let header = CaptureHeader::from_bytes(&header);
        let captured = usize::from(header.captured);
        if captured > (1 << self.slot_log2) - HEADER || header.captured > header.length {
            return Err(DeviceError::BadCapture {
                number: self.taken,
                captured: header.captured,
                length: header.length,
            });
        }
        let bytes = memory.to_vec(offset + HEADER, captured)?;
        let total = &mut self.lost[usize::from(header.sent())];
        let lost = header.lost.wrapping_sub(*total);
        *total = header.lost;
        self.taken = self.taken.wrapping_add(1);
        Ok(Some(Slot {
            header,
            bytes,
            lost,
        }))
    }

    /// Returns the slots of the frames taken, a quarter of the ring at a time.
    pub(super) fn return_room(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        if self.taken.wrapping_sub(self.returned) >= (1u32 << self.count_log2).div_ceil(4) {
            mmio.ring(doorbells::CAPTURE_HEAD, self.taken)?;
            self.returned = self.taken;
        }
        Ok(())
    }

    /// Turns capture off. The memory of the ring if the card may still write to it.
    pub(super) fn stop(self, mmio: &Mmio) -> Option<DmaBuffer> {
        match is_off(mmio) {
            Ok(true) => None,
            Ok(false) => Some(self.memory),
            Err(error) => {
                // The next look at the card says it to who works with it.
                tracing::warn!(%error, "capture could not be turned off");
                Some(self.memory)
            }
        }
    }
}

fn is_off(mmio: &Mmio) -> Result<bool, DeviceError> {
    mmio.write(registers::CAPTURE_CTRL, CaptureCtrl::default())?;
    for _ in 0..BUSY_READS {
        let control = mmio.read(registers::CAPTURE_CTRL)?;
        if !(control.busy() || control.received() || control.sent()) {
            return Ok(true);
        }
    }
    Ok(false)
}
