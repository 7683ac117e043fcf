//! The job ring: what the card is to send.

use weft_layout::{doorbells, registers, Job};

use super::write_checked;
use crate::dma::{publish, DmaBuffer};
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::stats::add;

pub(super) struct JobRing {
    memory: DmaBuffer,
    slots: u32,
    /// Jobs written, jobs the card knows of, jobs the card is known to have done: modulo 2^32.
    posted: u32,
    rung: u32,
    done: u32,
}

impl JobRing {
    pub(super) fn new(mmio: &Mmio, log2: u8) -> Result<Self, DeviceError> {
        let slots = 1 << log2;
        let memory = mmio.dma_alloc(slots as usize * Job::SIZE)?;
        mmio.write_address(
            registers::JOB_BASE_LO,
            registers::JOB_BASE_HI,
            memory.iova(),
        )?;
        write_checked(mmio, registers::JOB_LOG2, log2.into())?;
        Ok(Self {
            memory,
            slots,
            posted: 0,
            rung: 0,
            done: 0,
        })
    }

    pub(super) fn posted(&self) -> u32 {
        self.posted
    }

    pub(super) fn done(&self) -> u32 {
        self.done
    }

    pub(super) fn outstanding(&self) -> u32 {
        self.posted.wrapping_sub(self.done)
    }

    pub(super) fn is_full(&self) -> bool {
        self.outstanding() == self.slots
    }

    /// Takes the JOB_DONE that the register has; false if it cannot be: it lies between the last one known
    /// and the jobs rung.
    pub(super) fn learn_done(&mut self, done: u32) -> bool {
        if done.wrapping_sub(self.done) > self.rung.wrapping_sub(self.done) {
            return false;
        }
        self.done = done;
        true
    }

    /// Takes the JOB_DONE of a report, which may be older than what the register said since; false if it
    /// cannot be.
    pub(super) fn learn_done_from_report(&mut self, done: u32) -> bool {
        let old = (done.wrapping_sub(self.done) as i32) < 0;
        old || self.learn_done(done)
    }

    /// Writes a job into its slot, which is free, and returns its number. The card hears of it by `ring`.
    pub(super) fn push(&mut self, mmio: &Mmio, job: &[u8; Job::SIZE]) -> Result<u32, DeviceError> {
        let number = self.posted;
        let slot = (number & (self.slots - 1)) as usize;
        self.memory.write(slot * Job::SIZE, job)?;
        self.posted = number.wrapping_add(1);
        add(&mmio.counts.jobs, 1);
        Ok(number)
    }

    pub(super) fn ring(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        if self.rung != self.posted {
            publish();
            mmio.ring(doorbells::JOB_TAIL, self.posted)?;
            self.rung = self.posted;
        }
        Ok(())
    }
}
