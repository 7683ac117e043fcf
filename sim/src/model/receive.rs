//! The receive path: drop or not, whose is it, walk, place, report.

use weft_layout::{Counter, FpduReport, FrameReport, SegmentReport};

use super::checks::{self, Action, Header};
use super::counters::Counters;
use super::ethernet::{flag, parse, Parsed, Segment};
use super::mpa;
use super::reports::ReportRing;
use super::tables::Tables;
use crate::iommu::HostMemory;

/// What the registers say about receiving.
#[derive(Clone, Debug)]
pub struct Config {
    /// CTRL bit 1.
    pub enable: bool,
    /// Longest frame.
    pub mtu: u32,
    /// Station address.
    pub mac: [u8; 6],
    /// Take frames to others, too.
    pub promiscuous: bool,
}

/// The raw ring.
#[derive(Clone, Debug, Default)]
pub struct RawRing {
    /// IOVA.
    pub base: u64,
    slot_log2: u8,
    count_log2: u8,
    tail: u32,
    head: u32,
}

impl RawRing {
    /// RAW_LOG2 was written: a new ring.
    pub fn set_log2(&mut self, value: u32) {
        *self = Self {
            base: self.base,
            slot_log2: value as u8,
            count_log2: (value >> 8) as u8,
            ..Self::default()
        };
    }

    /// RAW_LOG2 as written.
    pub fn log2(&self) -> u32 {
        u32::from(self.count_log2) << 8 | u32::from(self.slot_log2)
    }

    /// Frames written.
    pub fn tail(&self) -> u32 {
        self.tail
    }

    /// The host has consumed so many.
    pub fn set_head(&mut self, head: u32) {
        self.head = head;
    }

    fn slot_bytes(&self) -> usize {
        1usize
            .checked_shl(self.slot_log2.into())
            .unwrap_or(usize::MAX)
    }

    fn has_room(&self) -> bool {
        (1..=12).contains(&self.count_log2)
            && self.tail.wrapping_sub(self.head) < 1 << self.count_log2
    }

    /// Writes a frame; answers its slot, and whether the write was good.
    fn put(&mut self, frame: &[u8], memory: &mut dyn HostMemory) -> (u16, bool) {
        let slot = self.tail & ((1 << self.count_log2) - 1);
        let good = memory
            .write(self.base + (u64::from(slot) << self.slot_log2), frame)
            .is_ok();
        self.tail = self.tail.wrapping_add(1);
        (slot as u16, good)
    }
}

/// A frame that passed the first checks and waits for its verdict.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The frame.
    pub frame: Vec<u8>,
    tcp: Option<Segment>,
}

/// The checks that need no table: `None` if the frame is dropped.
pub fn accept(
    frame: Vec<u8>,
    bad: bool,
    config: &Config,
    raw: &RawRing,
    counters: &mut Counters,
) -> Option<Accepted> {
    counters.count(Counter::RxFrames);
    counters.add(Counter::RxBytes, frame.len());
    let reason = if !config.enable {
        Some(Counter::RxDropDisabled)
    } else if bad {
        Some(Counter::RxDropFcs)
    } else if frame.len() < 14 {
        Some(Counter::RxDropRunt)
    } else if frame.len() > config.mtu as usize || frame.len() > raw.slot_bytes() {
        Some(Counter::RxDropOversize)
    } else if frame[..6] != config.mac && frame[0] & 1 == 0 && !config.promiscuous {
        Some(Counter::RxDropMac)
    } else {
        match parse(&frame) {
            Parsed::Drop(reason) => Some(reason),
            Parsed::Other => return Some(Accepted { frame, tcp: None }),
            Parsed::Tcp(segment) => {
                return Some(Accepted {
                    frame,
                    tcp: Some(segment),
                })
            }
        }
    };
    if let Some(reason) = reason {
        counters.count(reason);
    }
    None
}

/// What handles an accepted frame works on.
pub struct Receive<'a> {
    /// Tables.
    pub tables: &'a mut Tables,
    /// Raw ring.
    pub raw: &'a mut RawRing,
    /// Reports.
    pub reports: &'a mut ReportRing,
    /// Counters.
    pub counters: &'a mut Counters,
    /// Host memory.
    pub memory: &'a mut dyn HostMemory,
    /// Set when a DMA write failed.
    pub write_error: bool,
}

/// Outcome of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Whole,
    Partial,
    Error,
}

impl Receive<'_> {
    /// Gives a frame its verdict and does what it asks for.
    pub fn handle(&mut self, accepted: &Accepted) {
        let Some(segment) = &accepted.tcp else {
            return self.other(&accepted.frame);
        };
        match self.tables.lookup(&segment.key) {
            Some(flow) => self.segment(&accepted.frame, segment, flow),
            None => self.other(&accepted.frame),
        }
    }

    fn raw_slot(&mut self, frame: &[u8]) -> u16 {
        let (slot, good) = self.raw.put(frame, self.memory);
        self.wrote(good);
        slot
    }

    fn wrote(&mut self, good: bool) {
        self.counters.count(Counter::DmaWriteRequests);
        if !good {
            self.counters.count(Counter::DmaWriteErrors);
            self.write_error = true;
        }
    }

    /// A frame of no known flow.
    fn other(&mut self, frame: &[u8]) {
        if !self.raw.has_room() {
            return self.counters.count(Counter::RxDropNoRawSlot);
        }
        let raw_slot = self.raw_slot(frame);
        self.counters.count(Counter::RxRawFrames);
        let report = FrameReport {
            kind: 3,
            raw_slot,
            raw_len: frame.len() as u16,
            ..FrameReport::default()
        };
        self.reports.push(report.to_bytes());
    }

    fn segment(&mut self, frame: &[u8], s: &Segment, flow: u16) {
        let f = usize::from(flow);
        let mut position = self.tables.positions[f];
        let (mut done, mut duplicate, mut raw) = (0, false, false);
        if s.len == 0 {
            raw = s.flags & (flag::SYN | flag::RST) != 0;
            if raw && !self.raw.has_room() {
                return self.counters.count(Counter::RxDropNoRawSlot);
            }
        } else {
            let attached = position.attached != 0 && self.tables.rx[f].flags & 4 != 0;
            let end = s.seq.wrapping_add(s.len as u32);
            duplicate = attached && end.wrapping_sub(position.rcv_nxt) as i32 <= 0;
            if !duplicate && !self.raw.has_room() {
                // Any payload may turn out to need a slot.
                return self.counters.count(Counter::RxDropNoRawSlot);
            }
            let special = s.flags & (flag::SYN | flag::RST | flag::URG) != 0;
            if !attached {
                raw = true;
                position.raw_count = position.raw_count.wrapping_add(1);
            } else if duplicate {
                self.counters.count(Counter::RxSegmentsDuplicate);
            } else if s.seq != position.rcv_nxt || special {
                raw = true;
                position.raw_count = position.raw_count.wrapping_add(1);
                position.attached = 0;
                self.counters.count(Counter::RxDetachGap);
            } else {
                let (walk, bytes, engine) = self.walk(
                    &frame[s.offset..s.offset + s.len],
                    s.seq,
                    flow,
                    &mut position,
                );
                done = bytes;
                position.rcv_nxt = s.seq.wrapping_add(done as u32);
                raw = engine || walk != Walk::Whole;
                if walk == Walk::Whole {
                    self.counters.count(Counter::RxSegmentsPlaced);
                } else {
                    position.raw_count = position.raw_count.wrapping_add(1);
                    position.attached = 0;
                    self.counters.count(if walk == Walk::Error {
                        Counter::RxDetachError
                    } else {
                        Counter::RxDetachPartial
                    });
                }
            }
            if raw {
                self.counters.count(Counter::RxSegmentsBypassed);
            }
        }
        self.tables.positions[f] = position;
        self.counters.count(Counter::RxSegments);
        let raw_slot = if raw { self.raw_slot(frame) } else { 0 };
        let (ts_val, ts_ecr) = s.timestamps.unwrap_or_default();
        let sack = |i: usize| s.sacks.get(i).copied().unwrap_or_default();
        let report = SegmentReport {
            kind: 1,
            flags: u8::from(raw)
                | u8::from(s.timestamps.is_some()) << 1
                | (position.attached & 1) << 2
                | u8::from(duplicate) << 3
                | (s.sacks.len() as u8) << 4,
            flow,
            seq: s.seq,
            ack: s.ack,
            window: s.window,
            tcp_flags: s.flags,
            raw_count: position.raw_count,
            ts_val,
            ts_ecr,
            payload_len: s.len as u16,
            done_len: done as u16,
            raw_slot,
            raw_len: if raw { frame.len() as u16 } else { 0 },
            sack0_left: sack(0).0,
            sack0_right: sack(0).1,
            sack1_left: sack(1).0,
            sack1_right: sack(1).1,
            sack2_left: sack(2).0,
            sack2_right: sack(2).1,
            ..SegmentReport::default()
        };
        self.reports.push(report.to_bytes());
    }

    /// Walks the payload from the front. Answers how it ended, the bytes before the FPDU where it
    /// stopped, and whether an FPDU is for the engine.
    fn walk(
        &mut self,
        payload: &[u8],
        seq: u32,
        flow: u16,
        position: &mut weft_layout::AttachRow,
    ) -> (Walk, usize, bool) {
        let row = self.tables.rx[usize::from(flow)];
        let markers = (row.flags & 1 != 0).then_some(row.marker_base);
        let (mut at, mut engine) = (0, false);
        while at < payload.len() {
            let here = seq.wrapping_add(at as u32);
            let Some(fpdu) = mpa::deframe(&payload[at..], here, markers) else {
                return (Walk::Partial, at, engine);
            };
            self.counters.count(Counter::RxFpdus);
            let header = Header::read(&fpdu.ulpdu);
            let verdict = checks::check(
                &fpdu,
                header.as_ref(),
                flow.into(),
                position,
                self.tables,
                self.memory,
            );
            let (code, terminate) = match &verdict {
                Ok(Action::Place(pieces)) => {
                    for (iova, range) in pieces {
                        let good = self.memory.write(*iova, &fpdu.ulpdu[range.clone()]).is_ok();
                        self.wrote(good);
                        self.counters.add(Counter::RxPlaceBytes, range.len());
                    }
                    self.counters.count(Counter::RxFpdusPlaced);
                    (0, 0)
                }
                Ok(Action::Engine) => {
                    engine = true;
                    self.counters.count(Counter::RxFpdusToEngine);
                    (1, 0)
                }
                Err((terminate, counter)) => {
                    self.counters.count(*counter);
                    (2, *terminate)
                }
            };
            if fpdu.nonzero_pad && code != 2 {
                self.counters.count(Counter::RxFpduNonzeroPad);
            }
            let h = header.unwrap_or_default();
            let payload_len = fpdu.ulpdu.len().saturating_sub(h.len) as u32;
            let report = FpduReport {
                kind: 2,
                flags: u8::from(header.is_some()),
                flow,
                seq: here,
                ddp_control: h.ddp_control,
                rdmap_control: h.rdmap_control,
                verdict: code,
                ulpdu_len: fpdu.ulpdu.len() as u16,
                terminate,
                stag_or_qn: h.stag_or_qn,
                msn: h.msn,
                to_or_mo: h.to_or_mo,
                rsvd_ulp: h.rsvd_ulp,
                payload_len: if header.is_some() { payload_len } else { 0 },
                offset: at as u16,
                ..FpduReport::default()
            };
            self.reports.push(report.to_bytes());
            if verdict.is_err() {
                return (Walk::Error, at, engine);
            }
            if code == 0 && !h.tagged {
                if h.ddp_control & 0x40 != 0 {
                    position.msn = position.msn.wrapping_add(1);
                    position.mo = 0;
                } else {
                    position.mo = position.mo.wrapping_add(payload_len);
                }
            }
            at += fpdu.bytes;
        }
        (Walk::Whole, at, engine)
    }
}
