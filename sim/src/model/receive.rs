//! The receive path: drop or not, whose is it, walk, place, report.

use weft_layout::{
    fpdu_verdict, report_kind, trace_kind, trace_verdict, AttachRow, Counter, FpduReport,
    FrameReport, PlacedReport, Refusal, ReplayOutcome, ReplayReport, SegmentReport, TraceEntry,
};
use weft_wire::checks::Violation;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::fpdu::Markers;
use weft_wire::walk::Walk;

use super::acceptance::{judge, note_timestamp, Judgement};
use super::beyond::Beyond;
use super::checks::{self, position_of, Action};
use super::counters::Counters;
use super::ethernet::{flag, parse_for, Parsed, Segment};
use super::raw_ring::RawRing;
use super::reports::ReportRing;
use super::tables::{peers_key, Tables};
use super::trace::{Trace, NO_FLOW};
use super::transmit::Replay;
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

/// A frame that passed the first checks and waits for its verdict.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The frame.
    pub frame: Vec<u8>,
    /// When it had come, as reports say it.
    pub arrival: u32,
    tcp: Option<Segment>,
    replay: Option<Replay>,
}

impl Accepted {
    /// Bytes of a replay job.
    pub fn replay(bytes: Vec<u8>, replay: Replay) -> Self {
        Self {
            frame: bytes,
            arrival: 0,
            tcp: None,
            replay: Some(replay),
        }
    }

    /// Its event: in the store.
    pub fn event(&self) -> TraceEntry {
        TraceEntry {
            kind: trace_kind::FRAME_IN,
            detail: self.tcp.is_some().into(),
            flow: NO_FLOW,
            value: self.seq(),
            info: self.frame.len() as u16,
            ..TraceEntry::default()
        }
    }

    fn seq(&self) -> u32 {
        self.tcp.as_ref().map_or(0, |s| s.seq)
    }
}

/// The checks that need no table: `None` if the frame is dropped.
pub fn accept(
    frame: Vec<u8>,
    bad: bool,
    config: &Config,
    raw: &RawRing,
    counters: &mut Counters,
    trace: &mut Trace,
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
        match parse_for(&frame, frame[..6] == config.mac) {
            Parsed::Drop(reason) => Some(reason),
            Parsed::Other => {
                return Some(Accepted {
                    frame,
                    arrival: 0,
                    tcp: None,
                    replay: None,
                })
            }
            Parsed::Tcp(segment) => {
                return Some(Accepted {
                    frame,
                    arrival: 0,
                    tcp: Some(segment),
                    replay: None,
                })
            }
        }
    };
    if let Some(reason) = reason {
        counters.count(reason);
        trace.dropped(reason, frame.len(), NO_FLOW);
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
    /// Trace.
    pub trace: &'a mut Trace,
    /// Host memory.
    pub memory: &'a mut dyn HostMemory,
    /// Set when a DMA write failed.
    pub write_error: bool,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Behind the last octet.
    Whole,
    /// Inside an FPDU.
    Partial,
    /// At an FPDU with an error.
    Error,
}

impl Receive<'_> {
    /// Gives a frame its verdict and does what it asks for.
    pub fn handle(&mut self, accepted: &Accepted) {
        if let Some(replay) = &accepted.replay {
            return self.replay(&accepted.frame, replay);
        }
        let Some(segment) = &accepted.tcp else {
            return self.other(accepted);
        };
        match self.tables.lookup(&segment.key) {
            Some(flow) => self.segment(accepted, segment, flow),
            None => self.other(accepted),
        }
    }

    fn no_raw_slot(&mut self, frame: &[u8], flow: u16) {
        self.counters.count(Counter::RxDropNoRawSlot);
        self.trace
            .dropped(Counter::RxDropNoRawSlot, frame.len(), flow);
    }

    /// Writes a raw frame; answers its slot, and what the report's status says of it.
    fn raw_slot(&mut self, frame: &[u8]) -> (u16, u8) {
        let (slot, good) = self.raw.put(frame, self.memory);
        self.wrote(good);
        if good {
            return (slot, 0);
        }
        self.counters.count(Counter::RxRawFailed);
        (slot, SegmentReport::RAW_FAILED)
    }

    fn wrote(&mut self, good: bool) {
        self.counters.count(Counter::DmaWriteRequests);
        if !good {
            self.counters.count(Counter::DmaWriteErrors);
            self.write_error = true;
        }
    }

    /// A frame of no known flow.
    fn other(&mut self, accepted: &Accepted) {
        let frame = &accepted.frame;
        if !self.raw.has_room_for_junk() {
            if !self.raw.has_room_for_walk() {
                return self.no_raw_slot(frame, NO_FLOW);
            }
            self.counters.count(Counter::RxDropRawReserved);
            let reason = Counter::RxDropRawReserved;
            return self.trace.dropped(reason, frame.len(), NO_FLOW);
        }
        self.trace
            .verdict(trace_verdict::NO_FLOW, NO_FLOW, accepted.seq(), frame.len());
        let (raw_slot, status) = self.raw_slot(frame);
        self.counters.count(Counter::RxRawFrames);
        let report = FrameReport {
            kind: report_kind::FRAME,
            raw_slot,
            raw_len: frame.len() as u16,
            status,
            arrival: accepted.arrival,
            ..FrameReport::default()
        };
        self.reports.push(report.to_bytes(), self.counters);
    }

    fn segment(&mut self, accepted: &Accepted, s: &Segment, flow: u16) {
        let frame = &accepted.frame[..];
        let f = usize::from(flow);
        let (row, mut position) = (self.tables.rx[f], self.tables.positions[f]);
        let judgement = judge(s, flow, &row, &position, &self.tables.islands);
        let needs_room = match judgement {
            Judgement::Bare => s.wants_raw(),
            Judgement::Refused(_) | Judgement::Duplicate => false,
            // Any payload may turn out to need a slot.
            Judgement::Bypassed
            | Judgement::Walk
            | Judgement::Beyond
            | Judgement::Leave
            | Judgement::NoIsland => true,
        };
        let walks = matches!(judgement, Judgement::Walk | Judgement::Beyond);
        let room = if walks {
            self.raw.has_room_for_walk()
        } else {
            self.raw.has_room()
        };
        if needs_room && !room {
            return self.no_raw_slot(frame, flow);
        }
        let taken = self.raw.taken(position.raw_seen, self.tables.taken[f]);
        if needs_room && !walks && taken >= self.raw.share() {
            self.counters.count(Counter::RxDropNoRawCredit);
            let reason = Counter::RxDropNoRawCredit;
            return self.trace.dropped(reason, frame.len(), flow);
        }
        // The flow's mark, if the engine has to complete the segment.
        let behind = self.raw.tail().wrapping_add(1) & 0xffff;
        let (mut done, mut raw, mut status) = (0, false, 0);
        let mut fpdus = Vec::new();
        let verdict = match judgement {
            Judgement::Bare => {
                raw = s.wants_raw();
                if raw {
                    position.raw_seen = behind;
                }
                trace_verdict::NO_PAYLOAD
            }
            Judgement::Refused(why) => {
                status = why.raw();
                let counter = match why {
                    Refusal::NoAck => Some(Counter::RxRefusedAck),
                    Refusal::Window => Some(Counter::RxRefusedWindow),
                    Refusal::Paws => Some(Counter::RxRefusedPaws),
                    Refusal::NoTimestamp => Some(Counter::RxRefusedNoTimestamp),
                    Refusal::None => None,
                };
                if let Some(counter) = counter {
                    self.counters.count(counter);
                }
                trace_verdict::REFUSED
            }
            Judgement::Bypassed => {
                raw = true;
                position.raw_seen = behind;
                trace_verdict::BYPASSED
            }
            Judgement::Duplicate => {
                self.counters.count(Counter::RxSegmentsDuplicate);
                trace_verdict::DUPLICATE
            }
            Judgement::Leave | Judgement::NoIsland => {
                raw = true;
                position.raw_seen = behind;
                position.attached &= !AttachRow::ATTACHED;
                self.counters.count(Counter::RxDetachGap);
                if judgement == Judgement::NoIsland {
                    self.counters.count(Counter::RxIslandsFull);
                }
                trace_verdict::GAP
            }
            Judgement::Walk | Judgement::Beyond => {
                let payload = &frame[s.offset..s.offset + s.len];
                let walked = match judgement {
                    Judgement::Beyond => self.walk_beyond(payload, s, flow, &mut fpdus),
                    _ => self.walk_on(payload, s, flow, &mut position, &mut fpdus),
                };
                let end = walked.end;
                (done, raw) = (walked.done, walked.raw);
                if judgement == Judgement::Walk {
                    // Behind its FIN, if it has one and is whole.
                    let fin = end == End::Whole && s.flags & flag::FIN != 0;
                    let next = walked.next.wrapping_add(fin.into());
                    position.rcv_nxt = next;
                    if end == End::Whole {
                        self.pass_island(flow, &mut position);
                    }
                    note_timestamp(s, &row, &mut position);
                }
                if end == End::Whole {
                    self.counters.count(Counter::RxSegmentsPlaced);
                } else {
                    position.raw_seen = behind;
                    position.attached &= !AttachRow::ATTACHED;
                    self.counters.count(if end == End::Error {
                        Counter::RxDetachError
                    } else {
                        Counter::RxDetachPartial
                    });
                }
                match end {
                    End::Whole if raw => trace_verdict::ENGINE,
                    End::Whole => trace_verdict::PLACED,
                    End::Partial => trace_verdict::PARTIAL,
                    End::Error => trace_verdict::ERROR,
                }
            }
        };
        let duplicate = judgement == Judgement::Duplicate;
        if raw && judgement != Judgement::Bare {
            self.counters.count(Counter::RxSegmentsBypassed);
        }
        self.trace.verdict(verdict, flow, s.seq, frame.len());
        if raw && !walks {
            self.tables.taken[f] = taken + 1;
        } else if walks && !position.attached() {
            self.tables.taken[f] = 1;
        }
        if !position.attached() {
            self.tables.carried.forget(flow);
            self.tables.islands.forget(flow);
        }
        self.tables.positions[f] = position;
        self.counters.count(Counter::RxSegments);
        let (raw_slot, failed) = if raw { self.raw_slot(frame) } else { (0, 0) };
        let (ts_val, ts_ecr) = s.timestamps.unwrap_or_default();
        let sack = |i: usize| s.sacks.get(i).copied().unwrap_or_default();
        let report = SegmentReport {
            kind: report_kind::SEGMENT,
            flow,
            seq: s.seq,
            ack: s.ack,
            window: s.window,
            tcp_flags: s.flags,
            ts_val,
            ts_ecr,
            payload_len: s.len as u16,
            done_len: done as u16,
            raw_slot,
            raw_len: if raw { frame.len() as u16 } else { 0 },
            status: status | failed | s.ecn << SegmentReport::IP_ECN_SHIFT,
            arrival: accepted.arrival,
            sack0_left: sack(0).0,
            sack0_right: sack(0).1,
            sack1_left: sack(1).0,
            sack1_right: sack(1).1,
            sack2_left: sack(2).0,
            sack2_right: sack(2).1,
            epoch: row.epoch,
            ..SegmentReport::default()
        }
        .with_raw(raw)
        .with_timestamps(s.timestamps.is_some())
        .with_attached(position.attached())
        .with_duplicate(duplicate)
        .with_sack_count(s.sacks.len() as u8);
        if let [fpdu] = &fpdus[..] {
            if let Some(both) = PlacedReport::of(fpdu, &report) {
                return self.reports.push(both.to_bytes(), self.counters);
            }
        }
        for fpdu in &fpdus {
            self.reports.push(fpdu.to_bytes(), self.counters);
        }
        self.reports.push(report.to_bytes(), self.counters);
    }

    /// Walks a piece of the stream that lay in host memory, from where its job says. The flow stays detached, its count what it is.
    fn replay(&mut self, bytes: &[u8], replay: &Replay) {
        let f = usize::from(replay.flow);
        let (row, position) = (self.tables.rx[f], self.tables.positions[f]);
        let mut at = position;
        if !replay.follows {
            (at.msn, at.mo) = (replay.msn, replay.mo);
        }
        let mut fpdus = Vec::new();
        let elsewhere = replay.follows && replay.seq != position.rcv_nxt;
        // It is looked up as a segment of the peer's would be.
        let known = self.tables.lookup(&peers_key(&self.tables.tx[f])) == Some(replay.flow);
        let refused = !known || !row.valid() || position.attached() || elsewhere;
        let (outcome, done) = if refused {
            self.counters.count(Counter::RxReplaysRefused);
            (ReplayOutcome::Refused, 0)
        } else {
            let (seq, flow) = (replay.seq, replay.flow);
            let (end, done, _) = self.walk(bytes, seq, flow, &mut at, &mut fpdus, None);
            let (outcome, counter) = match end {
                End::Whole => (ReplayOutcome::Whole, Counter::RxReplays),
                End::Partial => (ReplayOutcome::Partial, Counter::RxReplaysPartial),
                End::Error => (ReplayOutcome::Error, Counter::RxReplaysError),
            };
            self.counters.count(counter);
            // While it is detached only a replay that follows looks at these.
            let rcv_nxt = replay.seq.wrapping_add(done as u32);
            self.tables.positions[f] = AttachRow { rcv_nxt, ..at };
            (outcome, done)
        };
        let verdict = match refused {
            true => trace_verdict::REFUSED,
            false => trace_verdict::REPLAYED,
        };
        self.trace
            .verdict(verdict, replay.flow, replay.seq, bytes.len());
        if !known {
            return;
        }
        for fpdu in &fpdus {
            self.reports.push(fpdu.to_bytes(), self.counters);
        }
        let report = ReplayReport {
            kind: report_kind::REPLAY,
            flow: replay.flow,
            seq: replay.seq,
            payload_len: bytes.len() as u16,
            done_len: done as u16,
            epoch: row.epoch,
            ..ReplayReport::default()
        }
        .with_outcome(outcome);
        self.reports.push(report.to_bytes(), self.counters);
    }

    /// Walks the payload from the front. Answers how it ended, the bytes before the FPDU where it
    /// stopped, and whether an FPDU is for the engine; the FPDUs' reports go to `reports`.
    pub(super) fn walk(
        &mut self,
        octets: &[u8],
        seq: u32,
        flow: u16,
        position: &mut AttachRow,
        reports: &mut Vec<FpduReport>,
        mut beyond: Option<&mut Beyond>,
    ) -> (End, usize, bool) {
        let row = self.tables.rx[usize::from(flow)];
        let markers = Markers(row.markers().then_some(row.marker_base));
        let mut walk = Walk::new(octets, seq, markers);
        let mut engine = false;
        let mut scratch = Vec::new();
        for unit in walk.by_ref() {
            let ulpdu = unit.whole_ulpdu().unwrap_or_else(|| {
                scratch.resize(unit.found.ulpdu_length, 0);
                unit.unmarked(&mut scratch)
            });
            // Also of an FPDU that is wrong: the report says what stands there.
            let segment = DdpHeader::parse(ulpdu);
            if let Some(beyond) = &mut beyond {
                if !beyond.may_be_walked(&unit, segment, markers) {
                    return (End::Partial, unit.at, engine);
                }
                beyond.stand(position);
            }
            self.counters.count(Counter::RxFpdus);
            let verdict = unit.check(row.crc()).and_then(|()| {
                let (header, payload) = segment.ok_or(Violation::Header)?;
                let (tables, memory) = (&*self.tables, &mut *self.memory);
                checks::check(
                    &header,
                    payload.len(),
                    flow.into(),
                    position,
                    tables,
                    memory,
                )
            });
            let (header, payload) = segment.unzip();
            let payload = payload.unwrap_or_default();
            let (code, terminate) = match &verdict {
                Ok(Action::Place(pieces)) => {
                    let mut all_good = true;
                    for (iova, range) in pieces {
                        let good = self.memory.write(*iova, &payload[range.clone()]).is_ok();
                        all_good &= good;
                        self.wrote(good);
                        self.counters.add(Counter::RxPlaceBytes, range.len());
                    }
                    if all_good {
                        self.counters.count(Counter::RxFpdusPlaced);
                        (fpdu_verdict::PLACED, 0)
                    } else {
                        self.counters.count(Counter::RxPlaceFailed);
                        (fpdu_verdict::PLACE_FAILED, 0)
                    }
                }
                Ok(Action::Engine) => {
                    engine = true;
                    self.counters.count(Counter::RxFpdusToEngine);
                    (fpdu_verdict::ENGINE, 0)
                }
                Err(violation) => {
                    self.counters.count(checks::counter(*violation));
                    (fpdu_verdict::ERROR, violation.of_segment().0)
                }
            };
            if unit.found.nonzero_pad && code != fpdu_verdict::ERROR {
                self.counters.count(Counter::RxFpduNonzeroPad);
            }
            let report = FpduReport {
                kind: report_kind::FPDU,
                flow,
                seq: unit.seq,
                verdict: code,
                ulpdu_len: ulpdu.len() as u16,
                terminate,
                payload_len: payload.len() as u32,
                offset: unit.at as u16,
                epoch: row.epoch,
                ..header.map(said).unwrap_or_default()
            }
            .with_header_valid(header.is_some());
            reports.push(report);
            if verdict.is_err() {
                return (End::Error, unit.at, engine);
            }
            if let (Ok(Action::Place(_)), Some(header)) = (&verdict, header) {
                if !header.is_tagged() {
                    let mut queue = position_of(position);
                    let at = queue;
                    queue.pass(payload.len() as u32, header.is_last());
                    (position.msn, position.mo) = (queue.msn, queue.mo);
                    if let Some(beyond) = &mut beyond {
                        beyond.received(at, queue);
                    }
                }
            }
        }
        match walk.done() {
            done if done == octets.len() => (End::Whole, done, engine),
            done => (End::Partial, done, engine),
        }
    }
}

/// What a report says of a header.
fn said(header: DdpHeader) -> FpduReport {
    let common = FpduReport {
        ddp_control: header.control,
        rdmap_control: header.rdmap_control,
        ..FpduReport::default()
    };
    match header.target {
        Target::Tagged { stag, to } => FpduReport {
            stag_or_qn: stag,
            to_or_mo: to,
            ..common
        },
        Target::Untagged {
            rsvd_ulp,
            qn,
            msn,
            mo,
        } => FpduReport {
            rsvd_ulp,
            stag_or_qn: qn,
            msn,
            to_or_mo: mo.into(),
            ..common
        },
    }
}
