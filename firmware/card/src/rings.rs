//! What lies between the firmware and its card, in host memory: the rings of jobs, reports and raw frames, frames to send, and receive queues.
//!
//! In host memory and not in the processor's, since the card reads and writes there and nowhere else: it is the same card, whoever has its rings, and nothing
//! stands in the way of its bus. A job costs the processor a copy out, a report one or two copies in.

use alloc::vec::Vec;

use weft_engine::{MemoryError, RawSlots};
use weft_layout::{count_near, doorbells, registers, FrameReport, Job, ReportKind, SegmentReport};

use crate::dma::Aligned;
use crate::{dma, registers as card};

/// log2 of the slots.
const JOBS_LOG2: u8 = 5;
const REPORTS_LOG2: u8 = 9;
const RAW_LOG2: u8 = 7;
pub const RAW_SLOT_LOG2: u8 = 11;
/// Buffers of frames to send, and bytes of each.
const FRAMES: u32 = 8;
const FRAME_BYTES: usize = 1536;
const REPORT: usize = SegmentReport::SIZE;
/// Bytes of a raw frame's slot.
pub const RAW_SLOT: usize = 1 << RAW_SLOT_LOG2;
/// Reports that come at once, and jobs that go out at once: a burst of the bus each.
const TOGETHER: u32 = 4;

const JOBS_BYTES: u64 = (Job::SIZE << JOBS_LOG2) as u64;
const REPORTS_BYTES: u64 = (REPORT << REPORTS_LOG2) as u64;
const RAW_BYTES: u64 = (RAW_SLOT << RAW_LOG2) as u64;

/// Bytes that all but the receive queues take.
pub const BYTES: u64 = JOBS_BYTES + REPORTS_BYTES + RAW_BYTES + FRAMES as u64 * FRAME_BYTES as u64;

/// Longest frame that is received or sent.
pub const MAX_FRAME: u16 = 1518;
const _: () = assert!(MAX_FRAME as usize <= RAW_SLOT && MAX_FRAME as usize <= FRAME_BYTES);

/// Memory that the host gave for this.
pub const REFUSED: &str = "host memory refused what the host gave";

/// The rings, and how far both sides are.
pub struct Rings {
    jobs_at: u64,
    reports_at: u64,
    raw_at: u64,
    frames_at: u64,
    /// Jobs posted, in the ring, told to the card, known to be done.
    posted: u32,
    written: u32,
    rung: u32,
    done: u32,
    /// Jobs that are not in the ring yet: from `written` on, each where it is in the ring modulo [`TOGETHER`].
    jobs: Aligned<{ TOGETHER as usize * Job::SIZE }>,
    /// Reports and raw frames taken, and those that the card knows of.
    reports: u32,
    reports_told: u32,
    /// Reports that were fetched, and those that lie in the ring, as far as is known.
    fetched: u32,
    tail: u32,
    batch: Aligned<{ TOGETHER as usize * REPORT }>,
    raw: RawSlots,
    /// The jobs of the frame buffers, oldest first: how many, and the next buffer.
    frames: Vec<u32>,
    next_frame: u32,
    fault: Option<&'static str>,
}

impl Rings {
    /// Gives the firmware's port rings in the memory at `at`, a multiple of 2048.
    pub fn new(at: u64) -> Self {
        let (jobs_at, reports_at) = (at + RAW_BYTES, at + RAW_BYTES + JOBS_BYTES);
        card::write_of_port(registers::JOB_BASE_LO, jobs_at as u32);
        card::write_of_port(registers::JOB_BASE_HI, (jobs_at >> 32) as u32);
        card::write_of_port(registers::JOB_LOG2, JOBS_LOG2.into());
        card::write_of_port(registers::REPORT_BASE_LO, reports_at as u32);
        card::write_of_port(registers::REPORT_BASE_HI, (reports_at >> 32) as u32);
        card::write_of_port(registers::REPORT_LOG2, REPORTS_LOG2.into());
        card::write_of_port(registers::RAW_BASE_LO, at as u32);
        card::write_of_port(registers::RAW_BASE_HI, (at >> 32) as u32);
        let shape = weft_layout::reg::RawLog2::default()
            .with_slot(RAW_SLOT_LOG2)
            .with_count(RAW_LOG2);
        card::write_of_port(registers::RAW_LOG2, shape);
        Self {
            jobs_at,
            reports_at,
            raw_at: at,
            frames_at: reports_at + REPORTS_BYTES,
            posted: 0,
            written: 0,
            rung: 0,
            done: 0,
            jobs: Aligned([0; _]),
            reports: 0,
            reports_told: 0,
            fetched: 0,
            tail: 0,
            batch: Aligned([0; _]),
            raw: RawSlots::new(RAW_LOG2),
            frames: Vec::with_capacity(FRAMES as usize),
            next_frame: 0,
            fault: None,
        }
    }

    /// Why nothing more can be done.
    pub fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// What becomes of an access to host memory; false: the host gave that memory, and it was refused.
    fn check(&mut self, access: Result<(), dma::Failed>) -> bool {
        if access.is_err() {
            self.fault = Some(REFUSED);
        }
        access.is_ok()
    }

    pub fn done(&self) -> u32 {
        self.done
    }

    pub fn posted(&self) -> u32 {
        self.posted
    }

    pub fn reports(&self) -> u32 {
        self.reports
    }

    /// Asks the card, which first hears of all that was posted.
    pub fn ask_done(&mut self) -> u32 {
        self.ring();
        self.done = card::read_of_port(registers::JOB_DONE);
        self.done
    }

    /// Puts a job, or as much of it as the card looks at, into the ring; `None`: there is no room.
    pub fn post<const N: usize>(&mut self, job: &[u8; N]) -> Option<u32> {
        const { assert!(Job::NUMBER_AT + 4 <= N && N <= Job::SIZE) };
        let full = |rings: &Self| rings.posted.wrapping_sub(rings.done) >= 1 << JOBS_LOG2;
        if full(self) {
            self.ask_done();
            if full(self) {
                return None;
            }
        }
        let number = self.posted;
        let place = &mut self.jobs.0[(number % TOGETHER) as usize * Job::SIZE..][..N];
        place.copy_from_slice(job);
        place[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        self.posted = number.wrapping_add(1);
        if self.posted % TOGETHER == 0 {
            self.write_jobs();
        }
        Some(number)
    }

    /// Puts the jobs that were posted into the ring: they lie in one block of it.
    fn write_jobs(&mut self) {
        let count = self.posted.wrapping_sub(self.written) as usize;
        if count == 0 {
            return;
        }
        let first = (self.written % TOGETHER) as usize * Job::SIZE;
        let jobs = &self.jobs.0[first..][..count * Job::SIZE];
        let slot = u64::from(self.written % (1 << JOBS_LOG2)) * Job::SIZE as u64;
        let written = dma::write(self.jobs_at + slot, jobs);
        self.check(written);
        self.written = self.posted;
    }

    /// A place for a frame to send: where it is. `None`: all are in use.
    pub fn frame_place(&mut self, frame: &[u8]) -> Option<u64> {
        let used = |rings: &mut Self| {
            let done = rings.done;
            rings
                .frames
                .retain(|job| (done.wrapping_sub(*job) as i32) < 1);
            rings.frames.len() as u32 >= FRAMES
        };
        if used(self) {
            self.ask_done();
            if used(self) {
                return None;
            }
        }
        let at = self.frames_at + u64::from(self.next_frame) * FRAME_BYTES as u64;
        self.check(dma::write(at, frame));
        Some(at)
    }

    /// The place given last is of this job.
    pub fn frame_posted(&mut self, job: u32) {
        self.frames.push(job);
        self.next_frame = (self.next_frame + 1) % FRAMES;
    }

    /// Tells the card of what was posted.
    pub fn ring(&mut self) {
        if self.rung != self.posted {
            self.write_jobs();
            card::ring_of_port(doorbells::JOB_TAIL, self.posted);
            self.rung = self.posted;
        }
    }

    /// Fetches reports that lie in the ring: the card counts those whose write was answered. False: there are none.
    fn fetch(&mut self) -> bool {
        if self.tail == self.reports {
            self.tail = card::read_of_port(registers::REPORT_TAIL);
        }
        let there = self.tail.wrapping_sub(self.reports);
        if there == 0 || self.fault.is_some() {
            return false;
        }
        let count = there.min(TOGETHER - self.reports % TOGETHER);
        let first = (self.reports % TOGETHER) as usize * REPORT;
        let slot = self.reports % (1 << REPORTS_LOG2);
        let at = self.reports_at + u64::from(slot) * REPORT as u64;
        let batch = &mut self.batch.0[first..][..count as usize * REPORT];
        let read = dma::read(at, batch);
        self.fetched = self.reports.wrapping_add(count);
        self.check(read)
    }

    /// The next report, if there is one; the slot and the bytes of its raw frame, if it has one: until [`copy_frame`](Self::copy_frame) or
    /// [`free_slot`](Self::free_slot).
    pub fn take(&mut self, report: &mut [u8; REPORT]) -> Option<Option<(u16, u16)>> {
        if self.fetched == self.reports && !self.fetch() {
            return None;
        }
        let first = (self.reports % TOGETHER) as usize * REPORT;
        report.copy_from_slice(&self.batch.0[first..][..REPORT]);
        self.reports = self.reports.wrapping_add(1);
        let done = &report[SegmentReport::JOB_DONE_AT..];
        let done = u32::from_le_bytes([done[0], done[1], done[2], 0]);
        let done = count_near(self.done, done);
        if done.wrapping_sub(self.done) as i32 > 0 {
            self.done = done;
        }
        let raw = match ReportKind::from_raw(report[SegmentReport::KIND_AT]) {
            Some(ReportKind::Segment) => {
                let report = SegmentReport::from_bytes(report);
                report.raw().then_some((report.raw_slot, report.raw_len))
            }
            Some(ReportKind::Frame) => {
                let report = FrameReport::from_bytes(report);
                Some((report.raw_slot, report.raw_len))
            }
            _ => None,
        };
        if let Some((slot, _)) = raw {
            // The card's own order: a frame in another slot would be somebody else's.
            if !self.raw.take(slot) {
                self.fault =
                    Some("the card has put a frame into another raw slot than the next one");
            }
        }
        if self.reports.wrapping_sub(self.reports_told) >= 1 << (REPORTS_LOG2 - 2) {
            card::ring_of_port(doorbells::REPORT_HEAD, self.reports);
            self.reports_told = self.reports;
        }
        Some(raw)
    }

    /// Where the card finds a raw slot.
    pub fn slot_at(&self, slot: u16) -> u64 {
        self.raw_at + (u64::from(slot % (1 << RAW_LOG2)) << RAW_SLOT_LOG2)
    }

    /// Copies a raw frame out of its slot, which is free then; its bytes.
    pub fn copy_frame(&mut self, (slot, length): (u16, u16), frame: &mut [u8; RAW_SLOT]) -> usize {
        // Whole words, in one copy.
        let length = usize::from(length).min(RAW_SLOT);
        let words = length.next_multiple_of(4);
        self.check(dma::read(self.slot_at(slot), &mut frame[..words]));
        self.free_slot(slot);
        length
    }

    /// Reads from a slot that is still needed.
    pub fn copy_slot(&self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let end = at.checked_add(bytes.len()).ok_or(MemoryError)?;
        if end > RAW_SLOT {
            return Err(MemoryError);
        }
        dma::read(self.slot_at(slot) + at as u64, bytes).map_err(|_| MemoryError)
    }

    /// The account of the raw slots.
    pub fn slots(&self) -> &RawSlots {
        &self.raw
    }

    /// Nobody needs the raw frame in this slot.
    pub fn free_slot(&mut self, slot: u16) {
        self.raw.free(slot);
        if let Some(head) = self.raw.take_room() {
            card::ring_of_port(doorbells::RAW_HEAD, head);
        }
    }

    /// Asks for an interrupt when there is a report that was not taken.
    pub fn arm(&self) {
        card::ring_of_port(doorbells::REPORT_ARM, self.reports);
    }
}
