//! The engine's hands on the card.

use weft_engine::{raw_frame_job, Full, MemoryError, Port, RawRing, RawSlots};
use weft_layout::{table, AttachRow, Job, ReceiveElement};

use super::Card;
use crate::error::DeviceError;
use crate::stats::add;

/// The shortest Ethernet frame that a raw-frame job may have.
const MIN_FRAME: usize = 14;

impl Card {
    /// Puts a job into the ring, of which the card looks at the first `N` bytes.
    fn post<const N: usize>(&mut self, job: &[u8; N]) -> Result<u32, Full> {
        if self.jobs.is_full() {
            self.refresh_jobs_done();
            if self.jobs.is_full() {
                return Err(Full);
            }
        }
        self.jobs.push(&self.mmio, job).map_err(|error| {
            self.set_fault(error);
            Full
        })
    }

    /// Sends a frame of the host's own stack. It leaves a quarter of the buffers to the engine, whose
    /// frames (ARP, SYN, RST) would else be lost behind the host's. `ask`: read JOB_DONE if it is full.
    pub(crate) fn send_host_frame(&mut self, frame: &[u8], ask: bool) -> Result<(), Full> {
        self.frames.reclaim(self.jobs.done());
        if self.frames.is_full_for_host() && ask {
            let done = self.refresh_jobs_done();
            self.frames.reclaim(done);
        }
        if self.frames.is_full_for_host() {
            return Err(Full);
        }
        self.send_frame(frame)
    }
}

/// What cannot be reported here is kept as the card's fault, which ends the device's next `progress`.
impl Port for Card {
    fn post_job(&mut self, job: &[u8; Job::SIZE]) -> Result<u32, Full> {
        self.post(job)
    }

    fn post_bare_job(&mut self, half: &[u8; Job::SIZE / 2]) -> Result<u32, Full> {
        self.post(half)
    }

    fn urgent(&mut self) {
        self.jobs.urge();
    }

    fn send_frame(&mut self, frame: &[u8]) -> Result<(), Full> {
        if !(MIN_FRAME..=self.frames.capacity()).contains(&frame.len()) {
            tracing::error!(len = frame.len(), "frame not sent: impossible length");
            return Ok(());
        }
        self.frames.reclaim(self.jobs.done());
        if self.frames.is_full() {
            let done = self.refresh_jobs_done();
            self.frames.reclaim(done);
        }
        if self.frames.is_full() {
            return Err(Full);
        }
        let iova = self.frames.fill(frame).map_err(|error| {
            self.set_fault(error);
            Full
        })?;
        let job = raw_frame_job(iova, frame.len() as u32);
        let number = self.post_job(&job.to_bytes())?;
        self.frames.assign(number);
        add(&self.mmio.counts.frames_sent, 1);
        Ok(())
    }

    fn jobs_done(&self) -> u32 {
        self.jobs.done()
    }

    fn refresh_jobs_done(&mut self) -> u32 {
        // The card can only finish what it knows of.
        let asked = self.ring_doorbells().and_then(|()| self.ask_jobs_done());
        asked.unwrap_or_else(|error| {
            self.set_fault(error);
            self.jobs.done()
        })
    }

    fn write_table(&mut self, table: u8, index: u32, row: &[u8; 64]) {
        if let Err(error) = self.write_row(table, index, row) {
            self.set_fault(error);
        }
    }

    fn read_table(&mut self, table: u8, index: u32) -> [u8; 64] {
        self.read_row(table, index).unwrap_or_else(|error| {
            self.set_fault(error);
            [0; 64]
        })
    }

    fn raw_seen(&self) -> u32 {
        self.raw.slots().taken()
    }

    fn has_report(&self) -> bool {
        self.reports.has_next()
    }

    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        let applied = self.write_row(table::ATTACH, flow.into(), &row.to_bytes());
        applied.unwrap_or_else(|error| {
            self.set_fault(error);
            false
        })
    }

    fn write_element(&mut self, flow: u16, slot: u32, element: &ReceiveElement) {
        match self.queues.write(flow, slot, element) {
            Ok(true) => {}
            Ok(false) => tracing::error!(flow, slot, "receive element for a flow without a queue"),
            Err(error) => self.set_fault(error),
        }
    }

    fn rq_tail(&mut self, flow: u16, posted: u32) {
        self.queues.note_tail(flow, posted);
    }

    fn rq_memory(&mut self, flow: u16, log2: u8) -> Option<u64> {
        match self.queues.provide(&self.mmio, flow, log2) {
            Ok(iova) => iova,
            Err(error) => {
                // Not a fault of the device: the engine answers the caller that there is no memory.
                tracing::warn!(flow, log2, %error, "no memory for a receive queue");
                None
            }
        }
    }

    fn send_memory(&mut self, flow: u16, bytes: u32) -> Option<u64> {
        let buffers = &mut self.send_buffers;
        match buffers.provide(&self.mmio, &mut self.memory, flow, bytes) {
            Ok(iova) => iova,
            Err(error) => {
                // As above.
                tracing::warn!(flow, bytes, %error, "no memory for a send buffer");
                None
            }
        }
    }

    fn give_frame(&mut self, frame: &[u8]) -> bool {
        self.given().is_some_and(|given| given.offer(frame))
    }

    fn slot_at(&self, slot: u16) -> Option<u64> {
        Some(self.raw.iova(slot))
    }

    fn copy_slot(&mut self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.raw.read(slot, at, bytes).map_err(|_| MemoryError)
    }

    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (memory, offset) = self.memory.find(iova, bytes.len()).ok_or(MemoryError)?;
        memory.write(offset, bytes).map_err(|_| MemoryError)?;
        add(&self.mmio.counts.bytes_copied_in, bytes.len() as u64);
        Ok(())
    }

    fn copy_out(&mut self, iova: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (memory, offset) = self.memory.find(iova, bytes.len()).ok_or(MemoryError)?;
        memory.read(offset, bytes).map_err(|_| MemoryError)
    }
}

impl RawRing for Card {
    type Frame = Vec<u8>;
    type Error = DeviceError;

    fn slots(&self) -> &RawSlots {
        self.raw.slots()
    }

    fn copy_frame<'f>(
        &mut self,
        (slot, length): (u16, u16),
        frame: &'f mut Vec<u8>,
    ) -> Result<&'f [u8], DeviceError> {
        frame.resize(length.into(), 0);
        self.raw.read(slot, 0, frame)?;
        add(&self.mmio.counts.frame_bytes_received, length.into());
        self.free_slot(slot)?;
        Ok(frame)
    }

    fn free_slot(&mut self, slot: u16) -> Result<(), DeviceError> {
        self.raw.free(&self.mmio, slot)
    }
}
