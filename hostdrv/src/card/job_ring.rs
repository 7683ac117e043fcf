//! The job ring: what the card is to send.

use weft_layout::{count_near, doorbells, registers, Job};

use crate::checks::write_checked;
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::stats::add;
use weft_card_transport::dma::{publish, DmaBuffer};

/// Slots of the largest push window.
const MAX_WINDOW: u32 = 32;

pub(super) struct JobRing {
    memory: DmaBuffer,
    slots: u32,
    /// Jobs written, jobs the card knows of, jobs the card is known to have done: modulo 2^32.
    posted: u32,
    rung: u32,
    done: u32,
    /// Slots of the card's push window, and how many jobs at a time go there.
    window: u32,
    push: u32,
    /// The jobs posted before this number are waited for.
    urgent: u32,
}

impl JobRing {
    pub(super) fn new(mmio: &Mmio, log2: u8, push: u32) -> Result<Self, DeviceError> {
        let slots = 1 << log2;
        let memory = mmio.dma_alloc(slots as usize * Job::SIZE)?;
        mmio.write_address(
            registers::JOB_BASE_LO,
            registers::JOB_BASE_HI,
            memory.iova(),
        )?;
        write_checked(mmio, registers::JOB_LOG2, log2.into())?;
        let mut window = mmio.read(registers::JOB_PUSH)?;
        if window > MAX_WINDOW || !(window == 0 || window.is_power_of_two()) {
            tracing::warn!(window, "not used: an impossible push window");
            window = 0;
        }
        Ok(Self {
            memory,
            slots,
            posted: 0,
            rung: 0,
            done: 0,
            window,
            push,
            urgent: 0,
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

    /// Takes the low 24 bits of JOB_DONE that a report has, which may be older than what the register said since; false if it
    /// cannot be.
    pub(super) fn learn_done_from_report(&mut self, low: u32) -> bool {
        let done = count_near(self.done, low);
        let old = (done.wrapping_sub(self.done) as i32) < 0;
        old || self.learn_done(done)
    }

    /// Writes a job, or as much of it as the card looks at, into its slot, which is free, and returns its number. The card hears of it
    /// by `ring`.
    pub(super) fn push<const N: usize>(
        &mut self,
        mmio: &Mmio,
        job: &[u8; N],
    ) -> Result<u32, DeviceError> {
        const { assert!(Job::NUMBER_AT + 4 <= N && N <= Job::SIZE) };
        let number = self.posted;
        let mut job = *job;
        job[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        self.memory.write(self.place(number), &job)?;
        self.posted = number.wrapping_add(1);
        add(&mmio.counts.jobs, 1);
        Ok(number)
    }

    /// Where a job lies in the ring.
    fn place(&self, number: u32) -> usize {
        (number & (self.slots - 1)) as usize * Job::SIZE
    }

    /// Somebody waits for the job posted last.
    pub(super) fn urge(&mut self) {
        self.urgent = self.posted;
    }

    /// Tells the card of the jobs posted since. A few, of which the last one is waited for, are written into the card, so that it need not
    /// fetch them; else it is told how many there are.
    pub(super) fn ring(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        let new = self.posted.wrapping_sub(self.rung);
        if new == 0 {
            return Ok(());
        }
        publish();
        // A slot of the window is free when its job before is done.
        if self.urgent != self.posted || new > self.push || self.outstanding() > self.window {
            mmio.ring(doorbells::JOB_TAIL, self.posted)?;
            self.rung = self.posted;
            return Ok(());
        }
        while self.rung != self.posted {
            let mut job = [0; Job::SIZE];
            self.memory.read(self.place(self.rung), &mut job)?;
            mmio.push_job(self.rung & (self.window - 1), &job)?;
            self.rung = self.rung.wrapping_add(1);
        }
        Ok(())
    }
}
