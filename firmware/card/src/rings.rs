//! What lies between the firmware and its card, in host memory: the rings of jobs, reports and raw frames, frames to send, and receive queues.
//!
//! In host memory and not in the processor's, since the card reads and writes there and nowhere else: it is the same card, whoever has its rings, and nothing
//! stands in the way of its bus. A job costs the processor a copy out, a report one or two copies in.

use alloc::vec::Vec;

use weft_layout::{doorbells, registers, Doorbell, FrameReport, Job, ReportKind, SegmentReport};

use crate::dma::Aligned;
use crate::{dma, registers as card};

/// log2 of the slots.
const JOBS_LOG2: u8 = 5;
const REPORTS_LOG2: u8 = 6;
const RAW_LOG2: u8 = 4;
const RAW_SLOT_LOG2: u8 = 11;
/// Buffers of frames to send, and bytes of each.
const FRAMES: u32 = 8;
const FRAME_BYTES: usize = 1536;
const REPORT: usize = SegmentReport::SIZE;
const RAW_SLOT: usize = 1 << RAW_SLOT_LOG2;

const JOBS_BYTES: u64 = (Job::SIZE << JOBS_LOG2) as u64;
const REPORTS_BYTES: u64 = (REPORT << REPORTS_LOG2) as u64;
const RAW_BYTES: u64 = (RAW_SLOT << RAW_LOG2) as u64;

/// Bytes that all but the receive queues take.
pub const BYTES: u64 = JOBS_BYTES + REPORTS_BYTES + RAW_BYTES + FRAMES as u64 * FRAME_BYTES as u64;

/// Longest frame that is received or sent.
pub const MAX_FRAME: u16 = 1518;
const _: () = assert!(MAX_FRAME as usize <= RAW_SLOT && MAX_FRAME as usize <= FRAME_BYTES);

/// The rings, and how far both sides are.
pub struct Rings {
    jobs_at: u64,
    reports_at: u64,
    raw_at: u64,
    frames_at: u64,
    /// Jobs posted, told to the card, known to be done.
    posted: u32,
    rung: u32,
    done: u32,
    /// Reports and raw frames taken, and those that the card knows of.
    reports: u32,
    reports_told: u32,
    raw: u32,
    raw_told: u32,
    /// The jobs of the frame buffers, oldest first: how many, and the next buffer.
    frames: Vec<u32>,
    next_frame: u32,
    failed: bool,
}

/// A number and the card's word for it: `ring` when they are a quarter of the ring apart.
fn tell(doorbell: Doorbell, count: u32, told: &mut u32, quarter: u32) {
    if count.wrapping_sub(*told) >= quarter {
        card::ring(doorbell, count);
        *told = count;
    }
}

impl Rings {
    /// Gives the card, which was just reset, rings in the memory at `at`, a multiple of 2048.
    pub fn new(at: u64) -> Self {
        let (jobs_at, reports_at) = (at + RAW_BYTES, at + RAW_BYTES + JOBS_BYTES);
        card::write(registers::JOB_BASE_LO, jobs_at as u32);
        card::write(registers::JOB_BASE_HI, (jobs_at >> 32) as u32);
        card::write(registers::JOB_LOG2, JOBS_LOG2.into());
        card::write(registers::REPORT_BASE_LO, reports_at as u32);
        card::write(registers::REPORT_BASE_HI, (reports_at >> 32) as u32);
        card::write(registers::REPORT_LOG2, REPORTS_LOG2.into());
        card::write(registers::RAW_BASE_LO, at as u32);
        card::write(registers::RAW_BASE_HI, (at >> 32) as u32);
        let shape = weft_layout::reg::RawLog2::default()
            .with_slot(RAW_SLOT_LOG2)
            .with_count(RAW_LOG2);
        card::write(registers::RAW_LOG2, shape);
        Self {
            jobs_at,
            reports_at,
            raw_at: at,
            frames_at: reports_at + REPORTS_BYTES,
            posted: 0,
            rung: 0,
            done: 0,
            reports: 0,
            reports_told: 0,
            raw: 0,
            raw_told: 0,
            frames: Vec::with_capacity(FRAMES as usize),
            next_frame: 0,
            failed: false,
        }
    }

    /// Host memory refused an access: nothing more can be done.
    pub fn failed(&self) -> bool {
        self.failed
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
        self.done = card::read(registers::JOB_DONE);
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
        let mut job = Aligned(*job);
        job.0[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        let slot = u64::from(number % (1 << JOBS_LOG2)) * Job::SIZE as u64;
        self.failed |= dma::write(self.jobs_at + slot, &job.0).is_err();
        self.posted = number.wrapping_add(1);
        Some(number)
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
        self.failed |= dma::write(at, frame).is_err();
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
            card::ring(doorbells::JOB_TAIL, self.posted);
            self.rung = self.posted;
        }
    }

    /// The next report, if there is one, and the bytes of its raw frame in `frame`, if it has one.
    pub fn take(&mut self, report: &mut [u8; REPORT], frame: &mut Vec<u8>) -> Option<bool> {
        let slot = self.reports % (1 << REPORTS_LOG2);
        let at = self.reports_at + u64::from(slot) * REPORT as u64;
        let phase = !(self.reports >> REPORTS_LOG2) as u8 & SegmentReport::PHASE;
        // A report is written front to back: what has the phase is read first.
        let mut last = Aligned([0; 4]);
        const LAST: usize = SegmentReport::PHASE_AT & !3;
        self.failed |= dma::read(at + LAST as u64, &mut last.0).is_err();
        if self.failed || last.0[SegmentReport::PHASE_AT - LAST] & SegmentReport::PHASE != phase {
            return None;
        }
        self.failed |= dma::read(at, report).is_err();
        self.reports = self.reports.wrapping_add(1);
        let done = &report[SegmentReport::JOB_DONE_AT..];
        let done = u32::from_le_bytes([done[0], done[1], done[2], done[3]]);
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
        if let Some((slot, length)) = raw {
            frame.clear();
            frame.resize(usize::from(length).min(RAW_SLOT), 0);
            let slot = u64::from(slot) % (1 << RAW_LOG2);
            let at = self.raw_at + (slot << RAW_SLOT_LOG2);
            self.failed |= dma::read(at, frame).is_err();
            self.raw = self.raw.wrapping_add(1);
        }
        tell(
            doorbells::REPORT_HEAD,
            self.reports,
            &mut self.reports_told,
            1 << (REPORTS_LOG2 - 2),
        );
        tell(
            doorbells::RAW_HEAD,
            self.raw,
            &mut self.raw_told,
            1 << (RAW_LOG2 - 2),
        );
        Some(raw.is_some())
    }

    /// Asks for an interrupt when there is a report that was not taken.
    pub fn arm(&self) {
        card::ring(doorbells::REPORT_ARM, self.reports);
    }
}
