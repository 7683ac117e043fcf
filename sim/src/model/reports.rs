//! The report ring: room, phase, interrupts, and its end with the first report that cannot be written.

use std::collections::VecDeque;

use weft_layout::{
    is_bulk, job_status, report_kind, stands_for_both, trace_kind, Counter, JobReport, TraceEntry,
};

use super::counters::Counters;
use super::trace::{Trace, NO_FLOW};
use crate::iommu::{Group, HostMemory};

/// What came of a turn of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// An interrupt is due.
    pub interrupt: bool,
    /// A report could not be written.
    pub failed: bool,
}

/// Job reports that wait before those of jobs that are done are joined.
const JOINED: usize = 16;
/// Failures that wait beside these before transmit does.
const FAILURES: usize = 16;
/// Reports of receive that wait for room before no frame is taken. Of so many the one in the middle may need none of its own.
const IN_SIGHT: usize = 3;

/// The ring as the registers set it up.
#[derive(Clone, Debug, Default)]
pub struct ReportRing {
    /// IOVA, as it was written last.
    pub base: u64,
    /// That of the ring as it was set up.
    ring: u64,
    log2: u8,
    tail: u32,
    head: u32,
    /// The host has taken so many reports, and is to hear when there are so many more.
    armed: Option<(u32, u32)>,
    /// Cycles without a report after which it hears of fewer.
    gap: u16,
    /// When a report was last written, or the host asked.
    quiet_since: u64,
    /// A report was written that does not wait, and the host did not hear of it.
    hurry: bool,
    waiting: VecDeque<[u8; 64]>,
    broken: bool,
    alarm: bool,
    /// A done report that stands for those before it.
    late: Option<JobReport>,
}

impl ReportRing {
    /// A new ring: counts 0, phase 1. What waits for room goes to it.
    pub fn set_log2(&mut self, log2: u8) {
        *self = Self {
            base: self.base,
            ring: self.base,
            waiting: std::mem::take(&mut self.waiting),
            late: self.late.take(),
            log2,
            gap: self.gap,
            broken: self.broken,
            alarm: self.alarm,
            ..Self::default()
        };
    }

    /// log2 of the slots.
    pub fn log2(&self) -> u8 {
        self.log2
    }

    /// Reports written.
    pub fn tail(&self) -> u32 {
        self.tail
    }

    /// The host has consumed so many.
    pub fn set_head(&mut self, head: u32) {
        self.head = head;
    }

    /// The host wants an interrupt when the count is `more` beyond `seen`, or sooner.
    pub fn arm(&mut self, seen: u32, more: u32, now: u64) {
        self.armed = Some((seen, more));
        self.quiet_since = now;
        self.hurry &= self.untold() > 0;
    }

    /// What REPORT_GAP says.
    pub fn gap(&self) -> u16 {
        self.gap
    }

    /// Writes REPORT_GAP.
    pub fn set_gap(&mut self, cycles: u16) {
        self.gap = cycles;
    }

    /// A report of receive to write as soon as there is room.
    pub fn push(&mut self, report: [u8; 64], counters: &mut Counters) {
        self.waiting.push_back(report);
        self.merge(counters);
    }

    /// While the ring is full, a bare acknowledgment that a later one stands for as well needs no report. The first that waits stays.
    fn merge(&mut self, counters: &mut Counters) {
        while !self.room() {
            let mut of_receive = (0..self.waiting.len()).filter(|n| self.is_of_receive(*n));
            let three = [(); IN_SIGHT].map(|()| of_receive.next());
            let [Some(older), Some(middle), Some(newer)] = three else {
                return;
            };
            if !stands_for_both([older, middle, newer].map(|n| &self.waiting[n])) {
                return;
            }
            self.waiting.remove(middle);
            counters.count(Counter::RxReportsMerged);
        }
    }

    fn is_of_receive(&self, waiting: usize) -> bool {
        self.waiting
            .get(waiting)
            .is_some_and(|report| report[0] != report_kind::JOB)
    }

    /// May a frame be handled?
    pub fn has_room_for_frame(&self) -> bool {
        let waiting = (0..self.waiting.len()).filter(|n| self.is_of_receive(*n));
        waiting.count() < IN_SIGHT
    }

    /// A job's report. Of jobs that are done while many wait for room, the last one's stands for those before it.
    pub fn push_job(&mut self, report: &JobReport, counters: &mut Counters) {
        let done = report.status == job_status::DONE;
        if !done || self.late.is_none() && self.jobs_waiting() < JOINED {
            self.waiting.push_back(report.to_bytes());
        } else if self.late.replace(*report).is_some() {
            counters.count(Counter::TxReportsJoined);
        }
    }

    /// May a job run that could fail?
    pub fn has_room_for_job(&self) -> bool {
        self.jobs_waiting() < JOINED + FAILURES
    }

    fn jobs_waiting(&self) -> usize {
        let jobs = self.waiting.iter().filter(|r| r[0] == report_kind::JOB);
        jobs.count()
    }

    /// Is a report waiting for room?
    pub fn stalled(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A report could not be written: the ring is at its end until a reset.
    pub fn broken(&self) -> bool {
        self.broken
    }

    /// Could one be written now, or is the host to hear of one?
    pub fn has_work(&self) -> bool {
        (self.stalled() && self.room()) || self.alarm || self.untold() > 0
    }

    fn room(&self) -> bool {
        !self.broken
            && (1..=16).contains(&self.log2)
            && self.tail.wrapping_sub(self.head) < 1 << self.log2
    }

    /// Reports that the host has asked to hear of. (It may have taken one that is not counted yet.)
    fn untold(&self) -> u32 {
        let beyond = self
            .armed
            .map_or(0, |(seen, _)| self.tail.wrapping_sub(seen));
        if beyond >> 31 == 0 {
            beyond
        } else {
            0
        }
    }

    /// An interrupt is due; `Some(true)`: for want of another report.
    fn due(&self, now: u64) -> Option<bool> {
        let more = self.armed.map_or(0, |(_, more)| more);
        let untold = self.untold();
        if self.alarm || untold > 0 && (untold >= more || self.hurry) {
            return Some(false);
        }
        (untold > 0 && now >= self.quiet_since + u64::from(self.gap)).then_some(true)
    }

    /// Writes what there is room for.
    pub fn write(
        &mut self,
        now: u64,
        job_done: u32,
        memory: &mut dyn HostMemory,
        counters: &mut Counters,
        trace: &mut Trace,
    ) -> Turn {
        let mut failed = false;
        while self.room() {
            let Some(mut report) = self.waiting.front().copied() else {
                break;
            };
            // Each report alone: the host may act on it at once, so the card must not take it back.
            let group = memory.begin();
            if group == Group::Waiting {
                break;
            }
            let slot = self.tail & ((1 << self.log2) - 1);
            let phase = !(self.tail >> self.log2) & 1;
            report[56..59].copy_from_slice(&job_done.to_le_bytes()[..3]);
            report[63] = phase as u8;
            let written = memory.write(self.ring + u64::from(slot) * 64, &report);
            if group == Group::Begun && !memory.commit() {
                break;
            }
            counters.count(Counter::DmaWriteRequests);
            self.waiting.pop_front();
            trace.record(event(&report, self.tail));
            if written.is_err() {
                counters.count(Counter::DmaWriteErrors);
                (failed, self.broken, self.alarm) = (true, true, true);
                break;
            }
            if self.jobs_waiting() < JOINED {
                let late = self.late.take();
                self.waiting.extend(late.map(|r| r.to_bytes()));
            }
            self.tail = self.tail.wrapping_add(1);
            self.quiet_since = now;
            self.hurry |= !is_bulk(&report);
            counters.count(Counter::Reports);
        }
        self.merge(counters);
        let due = self.due(now);
        if let Some(by_gap) = due {
            trace.other(trace_kind::INTERRUPT, 0, self.tail, by_gap.into());
            if by_gap {
                counters.count(Counter::MsixGap);
            }
            (self.armed, self.alarm, self.hurry) = (None, false, false);
        }
        Turn {
            interrupt: due.is_some(),
            failed,
        }
    }
}

/// The event of a report: kind, flow, what an FPDU or a job is blamed for.
fn event(report: &[u8; 64], number: u32) -> TraceEntry {
    let at = |n: usize| u16::from_le_bytes([report[n], report[n + 1]]);
    TraceEntry {
        kind: trace_kind::REPORT,
        detail: report[0],
        flow: if report[0] == report_kind::FRAME {
            NO_FLOW
        } else {
            at(2)
        },
        value: number,
        info: match report[0] {
            report_kind::FPDU => at(14),
            report_kind::JOB => report[1].into(),
            _ => 0,
        },
        ..TraceEntry::default()
    }
}
