//! The card's part of a stream: what its reports say of a flow, and the flow offered to it again. What is decided, [`crate::handover`] decides.

use weft_layout::{fpdu_verdict, AttachRow, FpduReport, SegmentReport};
use weft_wire::checks::{self, Ask};
use weft_wire::ddp::{self, DdpHeader, Target};
use weft_wire::fpdu;
use weft_wire::mpa::RtrKinds;
use weft_wire::tcp::flag;
use weft_wire::terminate::TerminateCode;
use weft_wire::walk::Walk;

use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::handover::flow::{Opening, Stream, Told};
use crate::rdmap::fault::Fault;
use weft_tcp::seq;

/// A sender waits so long at most for a window that stands still; and one that has opened is told again so much later.
const WINDOW_WAIT: u64 = 500_000;
/// How often a window that has opened is told again, each time twice as late.
const WINDOW_TOLD: u8 = 6;

/// The segment has payload that counts.
fn has_payload(report: &SegmentReport) -> bool {
    report.payload_len > 0 && report.tcp_flags & (flag::SYN | flag::RST) == 0
}

/// The card has the flow behind a segment that ends inside an FPDU.
pub fn is_carried(report: &SegmentReport) -> bool {
    has_payload(report) && report.raw() && report.attached() && report.done_len < report.payload_len
}

impl Conn {
    /// What the received stream is like now, for the hand-over; `more`: the next report is at hand.
    pub fn stream_now(&self, more: bool) -> Stream {
        let next = self.reassembly.next();
        Stream {
            between: self.reassembly.is_empty() && !self.handover.out_of_order.is_replaying(),
            more,
            gap: self.reassembly.has_gap(),
            room: seq::diff(self.edge, next).max(0) as u32,
            // A window is told in units of 2^scale octets (RFC 7323 §2.2).
            enough: u32::from(self.mtu) + (1 << self.scale),
        }
    }

    /// The window's right edge stands before a sender that may wait for it.
    pub fn holds_up(&self) -> bool {
        self.phase.receives() && self.handover.holds_up(&self.stream_now(false))
    }
}

impl<P: Port> Link<'_, P> {
    /// The report is of this binding of the flow.
    pub fn is_current(&mut self, epoch: u8) -> bool {
        let current = epoch == self.conn.handover.epoch();
        self.shared.stats.reports_stale += u64::from(!current);
        current
    }

    /// The card framed an FPDU.
    pub fn fpdu_report(&mut self, report: &FpduReport) {
        match report.verdict {
            fpdu_verdict::PLACED => {}
            fpdu_verdict::ENGINE => {
                self.conn.handover.fpdu_for_engine();
                return;
            }
            fpdu_verdict::PLACE_FAILED => {
                // The stream has moved on, and what belongs there is not there.
                self.shared.stats.placements_failed += 1;
                if self.conn.phase.receives() {
                    self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
                }
                return;
            }
            // The engine finds the error itself, in the raw frame.
            _ => {
                self.conn.handover.fpdu_in_error();
                return;
            }
        }
        let old = seq::lt(report.seq, self.conn.reassembly.base());
        if old || !self.conn.phase.receives() {
            return;
        }
        self.shared.stats.fpdus_card += 1;
        let header = DdpHeader {
            control: report.ddp_control,
            rdmap_control: report.rdmap_control,
            target: if report.ddp_control & ddp::TAGGED != 0 {
                Target::Tagged {
                    stag: report.stag_or_qn,
                    to: report.to_or_mo,
                }
            } else {
                Target::Untagged {
                    rsvd_ulp: report.rsvd_ulp,
                    qn: report.stag_or_qn,
                    msn: report.msn,
                    mo: report.to_or_mo as u32,
                }
            },
        };
        // In its segment it has this offset, negative where it began before that.
        let segment = report
            .seq
            .wrapping_sub(i32::from(report.offset as i16) as u32);
        let early = seq::lt(self.conn.reassembly.next(), segment);
        if !early || header.is_tagged() {
            self.ends(&header);
        }
        if early {
            return self.placed_early(report, &header);
        }
        let ulpdu = usize::from(report.ulpdu_len);
        if let Err(fault) = self.deliver(&header, ulpdu, report.payload_len, &[]) {
            self.fault(&fault);
        }
    }

    /// Before the segment itself: what its report says about the card, and the FPDUs of queues 1
    /// to 3 that the card framed in it.
    pub fn segment_report(&mut self, report: &SegmentReport, payload: &[u8]) {
        let stream = &self.conn.reassembly;
        self.conn.handover.segment(Told {
            payload: has_payload(report),
            raw: report.raw(),
            attached: report.attached(),
            cut: report.seq == stream.next()
                && !stream.has_gap()
                && report.done_len < report.payload_len
                && report.tcp_flags & flag::URG == 0,
        });
        let for_engine = self.conn.handover.take_for_engine();
        let carried = is_carried(report);
        self.shared.stats.segments_carried += u64::from(carried);
        if !self.conn.phase.receives() {
            return;
        }
        let done = payload.get(..usize::from(report.done_len));
        match done.filter(|done| !done.is_empty()) {
            Some(done) if for_engine => self.framed_in_segment(report.seq, done),
            // The card has moved on, and nobody has what was in them.
            None if for_engine => self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL)),
            _ if carried && payload.len() != usize::from(report.payload_len) => {
                self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
            }
            _ => {}
        }
    }

    /// The same as [`framed_by_card`](Self::framed_by_card), of a segment's octets: what the card has carried to it comes before them.
    fn framed_in_segment(&mut self, seq: u32, done: &[u8]) {
        let (base, before) = (
            self.conn.reassembly.base(),
            self.conn.reassembly.available(),
        );
        if before == 0 {
            return self.framed_by_card(seq, done);
        }
        let mut wire = core::mem::take(&mut self.shared.buffers.wire);
        let room = wire.len().saturating_sub(before);
        let count = room.min(done.len());
        let octets = wire.get_mut(..before + count).unwrap_or_default();
        let mut length = 0;
        if let Some((carried, rest)) = octets.split_at_mut_checked(before) {
            self.conn.reassembly.copy_front(carried);
            rest.copy_from_slice(&done[..count]);
            self.shared.stats.bytes_copied += octets.len() as u64;
            let first = Walk::new(octets, base, self.conn.rx_markers).next();
            length = first.map_or(0, |unit| unit.wire.len());
        }
        let whole = octets.get(..length).unwrap_or_default();
        match done.get(length.saturating_sub(before)..) {
            Some(rest) if length > before && base.wrapping_add(before as u32) == seq => {
                self.framed_by_card(base, whole);
                self.framed_by_card(base.wrapping_add(length as u32), rest);
            }
            // There is no memory for the FPDU.
            _ => self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL)),
        }
        self.shared.buffers.wire = wire;
    }

    /// Walks over FPDUs that the card has checked, and takes those that are for the engine: of a queue pair for which software places
    /// all of them, of another one those of queues 1 to 3.
    pub fn framed_by_card(&mut self, start: u32, octets: &[u8]) {
        let places = self.qp.as_ref().is_some_and(|qp| qp.software.is_some());
        let mut scratch = core::mem::take(&mut self.shared.buffers.ulpdu);
        for unit in Walk::new(octets, start, self.conn.rx_markers) {
            if seq::lt(unit.seq, self.conn.reassembly.base()) || !self.conn.phase.receives() {
                continue;
            }
            let ulpdu = unit.whole_ulpdu().unwrap_or_else(|| {
                self.shared.stats.bytes_copied += unit.found.ulpdu_length as u64;
                unit.unmarked(&mut scratch)
            });
            let taken = if places {
                self.shared.stats.fpdus_checked += 1;
                self.shared.stats.fpdus_card += 1;
                self.check_and_place(ulpdu)
            } else {
                self.deliver_if_for_engine(ulpdu)
            };
            if let Err(fault) = taken {
                self.fault(&fault);
            }
        }
        self.shared.buffers.ulpdu = scratch;
    }

    /// Of a ULPDU that the card has checked: it is for the engine if it is of queue 1 to 3, else the card has placed it.
    fn deliver_if_for_engine(&mut self, ulpdu: &[u8]) -> Result<(), Fault> {
        match DdpHeader::parse(ulpdu) {
            Some((header, payload)) if checks::ask(&header, payload.len()) == Ok(Ask::Engine) => {
                self.shared.stats.fpdus_card += 1;
                self.deliver(&header, ulpdu.len(), payload.len() as u32, payload)
            }
            _ => Ok(()),
        }
    }

    /// A report was handled: the flow is offered to the card, if it can have it, and a window that stands still opens as far as it has to.
    pub fn offer(&mut self) {
        self.try_attach();
        if self.conn.handover.edge_stands() {
            self.open_if_stuck();
        }
        if self.conn.holds_up() && !self.conn.timers.is_set(Timer::Window) {
            let at = self.now.saturating_add(WINDOW_WAIT);
            self.conn.timers.set(Timer::Window, Some(at));
        }
    }

    /// Lets the card take over, if the stream stands between two FPDUs and nothing is buffered.
    fn try_attach(&mut self) {
        let walks = self.card_walks() && !self.is_element_foreign() && !self.awaits_rtr_frame();
        let Some(qp) = self.qp.as_ref() else {
            return;
        };
        let flow = qp.id.flow();
        let conn = &mut *self.conn;
        let rtr_send = conn.phase == Phase::AwaitFirst && conn.agreed.rtr == Some(RtrKinds::SEND);
        if !self.shared.config.attach
            || conn.handover.is_attached()
            || !walks
            || !conn.committed
            || !conn.phase.receives()
            || rtr_send
            || conn.peer_fin.is_some()
        {
            return;
        }
        let stream = conn.stream_now(self.port.has_report());
        if !conn.handover.may_attach(&stream) {
            return;
        }
        let ts_valid = conn.timestamps && conn.ts_is_valid(self.now);
        let row = AttachRow {
            raw_seen: self.port.raw_seen(),
            rcv_nxt: conn.reassembly.next(),
            msn: qp.expected.msn,
            mo: qp.expected.mo,
            ts_recent: if ts_valid { conn.ts_recent } else { 0 },
            window: conn.reassembly.capacity(),
            ..AttachRow::default()
        }
        .with_attached(true)
        .with_ts_recent_valid(ts_valid);
        self.shared.stats.attaches += 1;
        let stood = conn.handover.edge_stands();
        if self.shared.config.carry && conn.handover.begins_to_be_cut() {
            self.write_receive_row();
        }
        let applied = self.port.attach(flow, &row);
        let conn = &mut *self.conn;
        conn.handover.attach_answered(applied);
        if applied {
            conn.card.ts_recent = conn.ts_recent;
            conn.card.ts_recent_at = self.now;
            if stood {
                self.window_opened(&stream);
            }
        } else {
            self.shared.stats.attaches_refused += 1;
        }
    }

    /// The window opens where the sender may not go on inside an FPDU.
    fn open_if_stuck(&mut self) {
        let stream = self.conn.stream_now(false);
        match self.conn.handover.open_if_stuck(&stream) {
            Opening::No => {}
            Opening::ToFpdu => {
                let (next, end) = (self.conn.reassembly.next(), self.end_of_front());
                // The window field says no fewer octets.
                let unit = (1u32 << self.conn.scale) - 1;
                let room = seq::diff(end, next).max(0) as u32;
                let edge = next.wrapping_add((room + unit) & !unit);
                self.conn.edge = seq::max(self.conn.edge, edge);
                self.conn.ack.now = true;
            }
            Opening::All => self.window_opened(&stream),
        }
    }

    /// Where the FPDU at the front of the stream ends, or its header where that is not there yet.
    fn end_of_front(&mut self) -> u32 {
        let mut front = [0; 16];
        let conn = &*self.conn;
        let count = match conn.handover.out_of_order.pieces().next() {
            Some(piece) => {
                let count = front.len().min(piece.length.into());
                let read = self
                    .port
                    .copy_slot(piece.slot, piece.at.into(), &mut front[..count]);
                read.map_or(0, |()| count)
            }
            None => conn.reassembly.copy_front(&mut front),
        };
        let base = conn.reassembly.base();
        let length = fpdu::peek_length(&front[..count], base, conn.rx_markers);
        base.wrapping_add(length.unwrap_or(front.len()) as u32)
    }

    /// A window that stood still has opened. Who waits for it hears of it once more, as an acknowledgment may be lost.
    fn window_opened(&mut self, stream: &Stream) {
        self.conn.ack.now = true;
        if stream.room < stream.enough {
            self.conn.window_told = WINDOW_TOLD;
            let at = self.now.saturating_add(WINDOW_WAIT);
            self.conn.timers.set(Timer::Window, Some(at));
        }
    }

    /// The sender may have waited long enough; or it has not used the window that was told.
    pub fn window_expired(&mut self) {
        if self.conn.holds_up() {
            let stream = self.conn.stream_now(false);
            self.conn.handover.open();
            self.window_opened(&stream);
        } else if self.conn.window_told > 0 {
            let told = WINDOW_TOLD - self.conn.window_told;
            self.conn.window_told -= 1;
            self.conn.ack.now = true;
            let at = self.now.saturating_add(WINDOW_WAIT << (told + 1));
            self.conn.timers.set(Timer::Window, Some(at));
        }
    }

    /// Data has come: the sender knows of the window.
    pub fn window_used(&mut self) {
        if core::mem::take(&mut self.conn.window_told) > 0 {
            self.conn.timers.set(Timer::Window, None);
        }
    }

    /// The card's TS.Recent goes on only with what it walks. If it is far behind ([`Conn::is_card_behind`]) it gets that of today. With
    /// segments of the flow in its walk it is not applied, and tried again at a later report.
    pub fn freshen_card(&mut self) {
        let conn = &mut *self.conn;
        let (Some(qp), true) = (self.qp.as_ref(), conn.is_card_behind(self.now)) else {
            return;
        };
        let ts_valid = conn.ts_is_valid(self.now);
        let row = AttachRow {
            ts_recent: if ts_valid { conn.ts_recent } else { 0 },
            ..AttachRow::default()
        }
        .with_freshen(true)
        .with_ts_recent_valid(ts_valid);
        if self.port.attach(qp.id.flow(), &row) {
            conn.card.ts_recent = conn.ts_recent;
            conn.card.ts_recent_at = self.now;
        }
    }
}
