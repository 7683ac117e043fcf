//! The report ring: room, phase, interrupts.

use std::collections::VecDeque;

use weft_layout::{trace_kind, Counter, TraceEntry};

use super::counters::Counters;
use super::trace::{Trace, NO_FLOW};
use crate::iommu::{Fault, Group, HostMemory};

/// The ring as the registers set it up.
#[derive(Clone, Debug, Default)]
pub struct ReportRing {
    /// IOVA.
    pub base: u64,
    log2: u8,
    tail: u32,
    head: u32,
    armed: Option<u32>,
    waiting: VecDeque<[u8; 64]>,
}

impl ReportRing {
    /// A new ring: counts 0, phase 1.
    pub fn set_log2(&mut self, log2: u8) {
        *self = Self {
            base: self.base,
            log2,
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

    /// The host wants an interrupt when the count differs from `seen`.
    pub fn arm(&mut self, seen: u32) {
        self.armed = Some(seen);
    }

    /// A report to write as soon as there is room.
    pub fn push(&mut self, report: [u8; 64]) {
        self.waiting.push_back(report);
    }

    /// Is a report waiting for room?
    pub fn stalled(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Could one be written now?
    pub fn has_work(&self) -> bool {
        (self.stalled() && self.room()) || self.due()
    }

    fn room(&self) -> bool {
        (1..=16).contains(&self.log2) && self.tail.wrapping_sub(self.head) < 1 << self.log2
    }

    fn due(&self) -> bool {
        self.armed.is_some_and(|seen| seen != self.tail)
    }

    /// Writes what there is room for. `true`: an interrupt is due.
    pub fn write(
        &mut self,
        job_done: u32,
        memory: &mut dyn HostMemory,
        counters: &mut Counters,
        trace: &mut Trace,
    ) -> Result<bool, Fault> {
        let mut fault = None;
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
            report[56..60].copy_from_slice(&job_done.to_le_bytes());
            report[63] = phase as u8;
            let written = memory.write(self.base + u64::from(slot) * 64, &report);
            if group == Group::Begun && !memory.commit() {
                break;
            }
            fault = fault.or(written.err());
            self.waiting.pop_front();
            trace.record(event(&report, self.tail));
            self.tail = self.tail.wrapping_add(1);
            counters.count(Counter::Reports);
            counters.count(Counter::DmaWriteRequests);
        }
        let due = self.due();
        if due {
            trace.other(trace_kind::INTERRUPT, 0, self.tail, 0);
            self.armed = None;
        }
        match fault {
            None => Ok(due),
            Some(fault) => {
                counters.count(Counter::DmaWriteErrors);
                Err(fault)
            }
        }
    }
}

/// The event of a report: kind, flow, what an FPDU or a job is blamed for.
fn event(report: &[u8; 64], number: u32) -> TraceEntry {
    let at = |n: usize| u16::from_le_bytes([report[n], report[n + 1]]);
    TraceEntry {
        kind: trace_kind::REPORT,
        detail: report[0],
        flow: if report[0] == 3 { NO_FLOW } else { at(2) },
        value: number,
        info: match report[0] {
            2 => at(14),
            4 => report[1].into(),
            _ => 0,
        },
        ..TraceEntry::default()
    }
}
