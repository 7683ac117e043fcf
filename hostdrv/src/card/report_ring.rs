//! The report ring: what arrived, and what became of it.

use weft_layout::{doorbells, registers, FrameReport, ReportKind, SegmentReport};

use crate::checks::write_checked;
use crate::error::DeviceError;
use crate::mmio::Mmio;
use weft_card_transport::dma::{observe, DmaBuffer};

const SIZE: usize = SegmentReport::SIZE;
/// Every report has its kind, its phase bit and JOB_DONE at the same place.
const KIND: usize = SegmentReport::KIND_AT;
const PHASE: usize = SegmentReport::PHASE_AT;
const JOB_DONE: usize = SegmentReport::JOB_DONE_AT;

/// An interrupt waits so long for one more report: twice what a segment of 1500 bytes takes at 25 Gb/s.
const GAP_NS: u64 = 1_000;

pub(super) struct ReportRing {
    memory: DmaBuffer,
    log2: u8,
    /// Reports taken, and of these the card has been told of: modulo 2^32.
    taken: u32,
    returned: u32,
}

/// A report as the card wrote it.
pub(super) struct Report {
    pub(super) number: u32,
    pub(super) bytes: [u8; SIZE],
}

impl ReportRing {
    pub(super) fn new(mmio: &Mmio, log2: u8) -> Result<Self, DeviceError> {
        let memory = mmio.dma_alloc(SIZE << log2)?;
        mmio.write_address(
            registers::REPORT_BASE_LO,
            registers::REPORT_BASE_HI,
            memory.iova(),
        )?;
        write_checked(mmio, registers::REPORT_LOG2, log2.into())?;
        let cycles = u64::from(mmio.read(registers::CLOCK_KHZ)?) * GAP_NS / 1_000_000;
        let gap = cycles.clamp(1, u64::from(u16::MAX)) as u32;
        write_checked(mmio, registers::REPORT_GAP, gap)?;
        Ok(Self {
            memory,
            log2,
            taken: 0,
            returned: 0,
        })
    }

    pub(super) fn taken(&self) -> u32 {
        self.taken
    }

    /// Reports that there is room for.
    pub(super) fn slots(&self) -> usize {
        1 << self.log2
    }

    /// Where the next report lies, if the card has written it: its phase is that of the pass through the ring.
    fn next(&self) -> Result<Option<usize>, DeviceError> {
        let slot = (self.taken & ((1 << self.log2) - 1)) as usize;
        let phase = !(self.taken >> self.log2) as u8 & SegmentReport::PHASE;
        let offset = slot * SIZE;
        let written = self.memory.memory().read_u8(offset + PHASE)?;
        Ok((written & SegmentReport::PHASE == phase).then_some(offset))
    }

    /// The next report has been written.
    pub(super) fn has_next(&self) -> bool {
        matches!(self.next(), Ok(Some(_)))
    }

    /// The next report, if the card has written it.
    pub(super) fn take(&mut self) -> Result<Option<Report>, DeviceError> {
        let Some(offset) = self.next()? else {
            return Ok(None);
        };
        observe();
        let mut bytes = [0; SIZE];
        self.memory.read(offset, &mut bytes)?;
        let number = self.taken;
        self.taken = number.wrapping_add(1);
        Ok(Some(Report { number, bytes }))
    }

    /// Returns the room of the reports taken, a quarter of the ring at a time.
    pub(super) fn return_room(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        if self.taken.wrapping_sub(self.returned) >= (1u32 << self.log2).div_ceil(4) {
            mmio.ring(doorbells::REPORT_HEAD, self.taken)?;
            self.returned = self.taken;
        }
        Ok(())
    }
}

impl Report {
    pub(super) fn kind(&self) -> u8 {
        self.bytes[KIND]
    }

    /// JOB_DONE, its low 24 bits.
    pub(super) fn job_done(&self) -> u32 {
        let b = &self.bytes[JOB_DONE..JOB_DONE + 3];
        u32::from_le_bytes([b[0], b[1], b[2], 0])
    }

    /// When what it tells had come, in units of the card's clock, if it is of a frame.
    pub(super) fn arrival(&self) -> Option<u32> {
        weft_engine::arrival(&self.bytes)
    }

    /// Slot and length of the raw frame that belongs to it, if one does.
    pub(super) fn raw_frame(&self) -> Result<Option<(u16, u16)>, &'static str> {
        match ReportKind::from_raw(self.kind()) {
            Some(ReportKind::Segment) => {
                let report = SegmentReport::from_bytes(&self.bytes);
                Ok(report.raw().then_some((report.raw_slot, report.raw_len)))
            }
            Some(ReportKind::Frame) => {
                let report = FrameReport::from_bytes(&self.bytes);
                Ok(Some((report.raw_slot, report.raw_len)))
            }
            Some(ReportKind::Fpdu | ReportKind::Placed | ReportKind::Job | ReportKind::Replay) => {
                Ok(None)
            }
            None => Err("no such kind"),
        }
    }
}
