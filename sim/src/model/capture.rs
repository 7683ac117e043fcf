//! The capture ring: copies of frames, as they pass the MAC's port.

use std::collections::VecDeque;

use weft_layout::reg::{self, CaptureCtrl, CaptureLog2};
use weft_layout::{CaptureHeader, Counter};

use super::counters::Counters;
use crate::iommu::{Fault, Group, HostMemory};

/// Bytes of frames of one direction that may wait for room in the ring, in beats of 64 bytes, and frames.
const BUFFER: usize = 32 << 10;
const FRAMES: usize = 64;
const HEADER: usize = CaptureHeader::SIZE;
/// What CAPTURE_CTRL keeps of what is written.
const CAPTURE_CTRL_KEPT: u32 = CaptureCtrl::RECEIVED | CaptureCtrl::SENT | CaptureCtrl::SNAP_MASK;
/// Nothing is captured.
const OFF: [bool; 2] = [false; 2];

/// A frame that passes.
pub struct Passing<'a> {
    /// The frame.
    pub frame: &'a [u8],
    /// It is sent.
    pub sent: bool,
    /// The MAC's verdict.
    pub bad: bool,
    /// The clock at its last beat.
    pub clock: u64,
}

/// The ring and its registers.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    base: u64,
    log2: CaptureLog2,
    control: CaptureCtrl,
    head: u32,
    tail: u32,
    waiting: VecDeque<(CaptureHeader, Vec<u8>)>,
    lost: [u32; 2],
}

impl Capture {
    /// A register was written.
    pub fn write_register(&mut self, offset: u32, value: u32) {
        match offset {
            reg::CAPTURE_BASE_LO => self.base = self.base & !0xffff_ffff | u64::from(value),
            reg::CAPTURE_BASE_HI => self.base = self.base & 0xffff_ffff | u64::from(value) << 32,
            reg::CAPTURE_LOG2 => {
                self.log2 = CaptureLog2(value & (CaptureLog2::SLOT_MASK | CaptureLog2::COUNT_MASK));
                (self.head, self.tail) = (0, 0);
            }
            reg::CAPTURE_CTRL => self.control = CaptureCtrl(value & CAPTURE_CTRL_KEPT),
            _ => {}
        }
    }

    /// One of its registers, if it is one.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            reg::CAPTURE_BASE_LO => self.base as u32,
            reg::CAPTURE_BASE_HI => (self.base >> 32) as u32,
            reg::CAPTURE_LOG2 => self.log2.0,
            reg::CAPTURE_CTRL => self.control.with_busy(self.has_work()).0,
            reg::CAPTURE_TAIL => self.tail,
            _ => return None,
        })
    }

    /// Doorbell.
    pub fn set_head(&mut self, head: u32) {
        self.head = head;
    }

    fn slot_log2(&self) -> u32 {
        self.log2.slot().into()
    }

    fn count_log2(&self) -> u32 {
        self.log2.count().into()
    }

    /// What is captured: received, sent.
    fn on(&self) -> [bool; 2] {
        let possible =
            (7..=14).contains(&self.slot_log2()) && (1..=16).contains(&self.count_log2());
        [self.control.received(), self.control.sent()].map(|on| on && possible)
    }

    fn room(&self) -> bool {
        self.tail.wrapping_sub(self.head) >> self.count_log2() == 0
    }

    /// Is there something to write, or to forget?
    pub fn has_work(&self) -> bool {
        !self.waiting.is_empty() && (self.on() == OFF || self.room())
    }

    /// A frame passes.
    pub fn note(&mut self, passing: &Passing<'_>, counters: &mut Counters) {
        let side = usize::from(passing.sent);
        if !self.on()[side] {
            return;
        }
        let beats = |bytes: usize| bytes.next_multiple_of(64);
        let of_side = || self.waiting.iter().filter(|w| w.0.sent() == passing.sent);
        let captured = passing.frame.len().min(self.control.snap().into());
        let used: usize = of_side().map(|w| beats(w.1.len())).sum();
        if used + beats(captured) > BUFFER || of_side().count() >= FRAMES {
            self.lost[side] = self.lost[side].wrapping_add(1);
            counters.count([Counter::CaptureRxLost, Counter::CaptureTxLost][side]);
            return;
        }
        let header = CaptureHeader {
            length: passing.frame.len().min(65535) as u16,
            lost: self.lost[side],
            clock: passing.clock,
            ..CaptureHeader::default()
        }
        .with_sent(passing.sent)
        .with_bad(passing.bad);
        self.waiting
            .push_back((header, passing.frame[..captured].to_vec()));
    }

    /// Writes what there is room for.
    pub fn write(
        &mut self,
        memory: &mut dyn HostMemory,
        counters: &mut Counters,
    ) -> Result<(), Fault> {
        if self.on() == OFF {
            self.waiting.clear();
        }
        while self.has_work() {
            let Some((mut header, bytes)) = self.waiting.front().cloned() else {
                break;
            };
            let group = memory.begin();
            if group == Group::Waiting {
                break;
            }
            let side = usize::from(header.sent());
            let number = u64::from(self.tail & ((1 << self.count_log2()) - 1));
            let slot = self.base.wrapping_add(number << self.slot_log2());
            let captured = bytes.len().min((1 << self.slot_log2()) - HEADER);
            header.captured = captured as u16;
            header.phase = !(self.tail >> self.count_log2()) as u8 & CaptureHeader::PHASE;
            let written = memory
                .write(slot.wrapping_add(HEADER as u64), &bytes[..captured])
                .and_then(|()| memory.write(slot, &header.to_bytes()));
            if group == Group::Begun && !memory.commit() {
                break;
            }
            self.waiting.pop_front();
            self.tail = self.tail.wrapping_add(1);
            counters.count([Counter::CaptureRxFrames, Counter::CaptureTxFrames][side]);
            counters.add(Counter::DmaWriteRequests, 2);
            if let Err(fault) = written {
                counters.count(Counter::DmaWriteErrors);
                return Err(fault);
            }
        }
        Ok(())
    }
}
