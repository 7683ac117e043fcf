//! The raw part of the stream: what the card could not frame, framed, checked and placed by the
//! engine with exactly the card's checks (`docs/card.md`, [`weft_wire::checks`]); and how the card gets back to work.

use weft_layout::{fpdu_verdict, AttachRow, FpduReport, SegmentReport};
use weft_wire::checks::{self, Ask, Position, Right, Violation};
use weft_wire::ddp::{self, DdpHeader, Target};
use weft_wire::fpdu;
use weft_wire::mpa::RtrKinds;
use weft_wire::rdmap::{self, opcode};
use weft_wire::tcp::flag;
use weft_wire::terminate::TerminateCode;
use weft_wire::walk::{Unit, Walk};

use crate::conn::Phase;
use crate::link::Link;
use crate::port::Port;
use crate::qp::{Qp, Receives};
use crate::rdmap::Fault;
use crate::usual::ends_write;
use crate::verbs::{Access, Sge};
use weft_tcp::seq;

/// Refusals after which the window's right edge stands still.
const PATIENCE: u32 = 6;
/// Refusals after which it moves again.
const GIVE_UP: u32 = 64;

impl<P: Port> Link<'_, P> {
    /// Takes what is in order, as far as it is whole.
    pub fn stream(&mut self) {
        if self.conn.bytes.is_some() && self.conn.phase != Phase::Ending {
            // It waits for its user.
            return;
        }
        if self.conn.phase.receives() && self.replay() {
            return;
        }
        while self.conn.reassembly.available() > 0 {
            let went_on = match self.conn.phase {
                Phase::AwaitReply | Phase::AwaitRequest => self.startup_frame(),
                _ if self.awaits_rtr_frame() => self.startup_frame(),
                phase if phase.receives() => self.software_fpdu(),
                Phase::Finishing | Phase::Ending | Phase::Finished => {
                    // Nobody wants it any more.
                    self.conn
                        .reassembly
                        .consume(usize::MAX, &mut self.shared.pool);
                    false
                }
                _ => false,
            };
            if !went_on {
                return;
            }
        }
    }

    /// Takes one FPDU from the front of the stream; false if it is not whole yet.
    fn software_fpdu(&mut self) -> bool {
        let mut front = [0; 16];
        let count = self.conn.reassembly.copy_front(&mut front);
        let seq = self.conn.reassembly.base();
        let markers = self.conn.rx_markers;
        let Ok(length) = fpdu::peek_length(&front[..count], seq, markers) else {
            return false;
        };
        if self.conn.reassembly.available() < length {
            return false;
        }
        // Lent out, so that the rest of the link can be used meanwhile.
        let mut wire = core::mem::take(&mut self.shared.wire);
        let octets = wire.get_mut(..length).unwrap_or_default();
        self.conn.reassembly.copy_front(octets);
        self.shared.stats.bytes_copied += octets.len() as u64;
        self.conn.reassembly.consume(length, &mut self.shared.pool);
        if let Some(unit) = Walk::new(octets, seq, markers).next() {
            self.whole_fpdu(&unit);
        }
        self.shared.wire = wire;
        true
    }

    /// Takes the FPDUs that are whole at the front of octets that have just arrived, in order and with nothing before them that waits: they
    /// need not be kept. How many octets that is; none of a stream of plain bytes, which its user reads.
    pub fn fpdus_at_hand(&mut self, octets: &[u8]) -> usize {
        let start = self.conn.reassembly.next();
        let mut walk = Walk::new(octets, start, self.conn.rx_markers);
        let are_fpdus = self.conn.bytes.is_none() && !self.awaits_rtr_frame();
        while are_fpdus && self.conn.phase.receives() {
            let Some(unit) = walk.next() else {
                break;
            };
            let end = start.wrapping_add(walk.done() as u32);
            self.conn.reassembly.skip_to(end, &mut self.shared.pool);
            self.whole_fpdu(&unit);
        }
        walk.done()
    }

    /// An FPDU is whole; the stream stands behind it.
    fn whole_fpdu(&mut self, unit: &Unit<'_>) {
        let check_crc = self.conn.agreed.crc;
        if check_crc {
            self.shared.stats.bytes_checked += unit.wire.len() as u64;
        }
        if let Err(violation) = unit.check(check_crc) {
            return self.fault(&Fault::of(violation.of_segment()));
        }
        self.shared.stats.fpdus_software += 1;
        self.shared.stats.nonzero_pads += u64::from(unit.found.nonzero_pad);
        let mut scratch = core::mem::take(&mut self.shared.ulpdu);
        let ulpdu = unit.whole_ulpdu().unwrap_or_else(|| {
            self.shared.stats.bytes_copied += unit.found.ulpdu_length as u64;
            unit.unmarked(&mut scratch)
        });
        let placed = self.check_and_place(ulpdu);
        self.shared.ulpdu = scratch;
        if let Err(fault) = placed {
            self.fault(&fault);
        }
    }

    /// The card's checks, in the card's order; then placement and delivery.
    fn check_and_place(&mut self, ulpdu: &[u8]) -> Result<(), Fault> {
        let Some((header, payload)) = DdpHeader::parse(ulpdu) else {
            return Err(Fault::of(Violation::Header.of_segment()));
        };
        let fault = |code| Fault::about(code, ulpdu.len(), &header);
        let ask = checks::ask(&header, payload.len()).map_err(|v| fault(v.of_segment()))?;
        match ask {
            Ask::Tagged { stag, to, right } => self.place_tagged(right, stag, to, payload),
            Ask::Send { msn, mo } => self.place_untagged(&header, (msn, mo), payload),
            Ask::Nothing | Ask::Engine => Ok(()),
        }
        .map_err(fault)?;
        self.shared.stats.bytes_copied += payload.len() as u64;
        self.conn.ack.prompt |=
            self.shared.config.prompt_ack && ends_write(header.control, header.rdmap_control);
        self.deliver(&header, ulpdu.len(), payload.len() as u32, payload)
    }

    fn place_tagged(
        &mut self,
        right: Right,
        stag: u32,
        to: u64,
        payload: &[u8],
    ) -> Result<(), TerminateCode> {
        let Some(qp) = self.qp.as_ref() else {
            return Err(TerminateCode::DDP_LOCAL);
        };
        let needs = match right {
            Right::RemoteWrite => Access::REMOTE_WRITE,
            Right::ReadSink => Access::READ_SINK,
        };
        let length = payload.len() as u32;
        let found = self
            .shared
            .regions
            .remote((qp.config.pd, qp.id), stag, to, length, needs);
        let piece = match found {
            Ok(piece) => piece,
            Err(violation) => {
                let unasked = violation == Violation::Access && right == Right::ReadSink;
                self.shared.stats.responses_unasked += u64::from(unasked);
                return Err(violation.of_segment());
            }
        };
        if right == Right::ReadSink {
            // The card judges by the region's right alone; here what was asked for is known.
            self.expect_response(stag, to, length)?;
        }
        self.port
            .copy_in(piece.iova, payload)
            .map_err(|_| TerminateCode::DDP_LOCAL)
    }

    fn place_untagged(
        &mut self,
        header: &DdpHeader,
        (msn, mo): (u32, u32),
        payload: &[u8],
    ) -> Result<(), TerminateCode> {
        let code = Violation::of_segment;
        let expected = self.qp.as_ref().map(|qp| qp.expected);
        if expected == Some(Position { msn, mo: 0 }) && mo == 0 && !self.is_rtr_send(msn) {
            if let Target::Untagged { rsvd_ulp, .. } = header.target {
                self.check_target_opcode(header.rdmap_control)?;
                self.take_shared(rsvd_ulp).map_err(code)?;
            }
        }
        let Some(qp) = self.qp.as_ref() else {
            return Err(TerminateCode::DDP_LOCAL);
        };
        qp.expected.expect(msn, mo).map_err(code)?;
        if self.is_rtr_send(msn) {
            return checks::fit(mo, payload.len(), 0).map_err(code);
        }
        let number = msn.wrapping_sub(1).wrapping_sub(qp.rq.shift);
        let element = *qp.rq.get(number).ok_or(code(Violation::NoBuffer))?;
        if element.fault.is_some() {
            return Err(code(Violation::Element));
        }
        checks::fit(mo, payload.len(), element.length.into()).map_err(code)?;
        // All SGEs are checked before the first byte is placed.
        let pd = self.shared.element_pd(qp);
        let pd = pd.ok_or(code(Violation::Element))?;
        for place in [false, true] {
            for (sge, bytes) in scatter(&element.sges, mo, payload) {
                let length = bytes.len() as u32;
                let piece = self
                    .shared
                    .regions
                    .local(pd, sge.stag, sge.to, length, Access::LOCAL_WRITE)
                    .map_err(|_| code(Violation::Element))?;
                if place {
                    self.port
                        .copy_in(piece.iova, bytes)
                        .map_err(|_| TerminateCode::DDP_LOCAL)?;
                }
            }
        }
        Ok(())
    }

    /// A Send whose RsvdULP is something else than the number of a shared queue is none that an XRC target takes.
    fn check_target_opcode(&self, rdmap_control: u8) -> Result<(), TerminateCode> {
        let is_target = |qp: &Qp| matches!(qp.receives, Receives::Domain(..));
        let plain = matches!(
            rdmap::opcode_of(rdmap_control),
            opcode::SEND | opcode::SEND_SE
        );
        match plain || !self.qp.as_deref().is_some_and(is_target) {
            true => Ok(()),
            false => Err(TerminateCode::RDMAP_OPCODE),
        }
    }

    /// True for the Send that is the peer's RTR.
    pub fn is_rtr_send(&self, msn: u32) -> bool {
        msn == 1
            && self.conn.phase == Phase::AwaitFirst
            && self.conn.agreed.rtr == Some(RtrKinds::SEND)
    }

    // ------------------------------------------------------------------ the card's part

    /// The report is of this binding of the flow.
    pub fn is_current(&mut self, epoch: u8) -> bool {
        let current = epoch == self.conn.card.epoch;
        self.shared.stats.reports_stale += u64::from(!current);
        current
    }

    /// The card framed an FPDU.
    pub fn fpdu_report(&mut self, report: &FpduReport) {
        match report.verdict {
            fpdu_verdict::PLACED => {}
            fpdu_verdict::ENGINE => {
                self.conn.card.for_engine = true;
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
                self.conn.card.in_error = true;
                return;
            }
        }
        let old = seq::lt(report.seq, self.conn.reassembly.base());
        if old || !self.conn.phase.receives() {
            return;
        }
        self.shared.stats.fpdus_card += 1;
        self.conn.ack.prompt |=
            self.shared.config.prompt_ack && ends_write(report.ddp_control, report.rdmap_control);
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
        let ulpdu = usize::from(report.ulpdu_len);
        if let Err(fault) = self.deliver(&header, ulpdu, report.payload_len, &[]) {
            self.fault(&fault);
        }
    }

    /// Before the segment itself: what its report says about the card, and the FPDUs of queues 1
    /// to 3 that the card framed in it.
    pub fn segment_report(&mut self, report: &SegmentReport, payload: &[u8]) {
        // A raw segment that the card left to the engine. Reports without one may be of before an ATTACH.
        let counts = report.raw()
            && report.payload_len > 0
            && report.tcp_flags & (flag::SYN | flag::RST) == 0;
        if counts && !report.attached() {
            self.conn.card.attached = false;
        }
        self.conn.card.in_error = false;
        if core::mem::take(&mut self.conn.card.for_engine) {
            match payload.get(..usize::from(report.done_len)) {
                Some(done) if !done.is_empty() => self.framed_by_card(report.seq, done),
                // The card has moved on, and nobody has what was in them.
                _ if self.conn.phase.receives() => {
                    self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
                }
                _ => {}
            }
        }
    }

    /// Walks over FPDUs that the card has checked, and takes those that are for the engine: of a queue pair for which software places
    /// all of them, of another one those of queues 1 to 3.
    pub fn framed_by_card(&mut self, start: u32, octets: &[u8]) {
        let places = self.qp.as_ref().is_some_and(|qp| qp.software.is_some());
        let mut scratch = core::mem::take(&mut self.shared.ulpdu);
        for unit in Walk::new(octets, start, self.conn.rx_markers) {
            if seq::lt(unit.seq, self.conn.reassembly.base()) || !self.conn.phase.receives() {
                continue;
            }
            let ulpdu = unit.whole_ulpdu().unwrap_or_else(|| {
                self.shared.stats.bytes_copied += unit.found.ulpdu_length as u64;
                unit.unmarked(&mut scratch)
            });
            let taken = if places {
                self.shared.stats.fpdus_card += 1;
                self.check_and_place(ulpdu)
            } else {
                self.deliver_if_for_engine(ulpdu)
            };
            if let Err(fault) = taken {
                self.fault(&fault);
            }
        }
        self.shared.ulpdu = scratch;
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

    /// Lets the card take over, if the stream stands between two FPDUs and nothing is buffered.
    pub fn try_attach(&mut self) {
        let walks = self.card_walks() && !self.is_element_foreign() && !self.awaits_rtr_frame();
        let Some(qp) = self.qp.as_ref() else {
            return;
        };
        let conn = &mut *self.conn;
        let rtr_send = conn.phase == Phase::AwaitFirst && conn.agreed.rtr == Some(RtrKinds::SEND);
        if !self.shared.config.attach
            || !conn.card.bound
            || !walks
            || conn.card.attached
            || !conn.committed
            || !conn.phase.receives()
            || rtr_send
            || conn.peer_fin.is_some()
            || !conn.reassembly.is_empty()
            || conn.held.is_replaying()
        {
            return;
        }
        if conn.card.pause > 0 && !conn.frozen {
            conn.card.pause -= 1;
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
        if self.port.attach(qp.id.flow(), &row) {
            conn.card.attached = true;
            conn.card.ts_recent_at = self.now;
            conn.card.refused = 0;
            conn.card.pause = 0;
            conn.held.overtaken = 0;
            // The window opens again; `acknowledge` tells the peer.
            conn.frozen = false;
        } else {
            self.shared.stats.attaches_refused += 1;
            self.not_attached();
        }
    }

    /// Raw segments keep coming: let the sender pause. If even that does not help, the engine goes on by itself for a while.
    pub fn not_attached(&mut self) {
        let conn = &mut *self.conn;
        conn.card.refused += 1;
        conn.card.pause = (1 << conn.card.refused.min(4)) - 1;
        if conn.card.refused >= GIVE_UP {
            conn.card.refused = 0;
            conn.held.overtaken = 0;
        }
        conn.frozen = conn.card.refused >= PATIENCE;
    }
}

impl<P: Port> Link<'_, P> {
    /// The card's TS.Recent goes on only with what it walks. If that is too long ago, the next timestamp may look old to
    /// it: it gets that of today. With segments of the flow in its walk it is not applied, and tried again at a later report.
    pub fn freshen_card(&mut self) {
        let conn = &mut *self.conn;
        let age = self.now.saturating_sub(conn.card.ts_recent_at);
        let (Some(qp), true) = (self.qp.as_ref(), conn.timestamps && conn.card.attached) else {
            return;
        };
        if age < crate::conn::TS_LIFE / 2 {
            return;
        }
        let ts_valid = conn.ts_is_valid(self.now);
        let row = AttachRow {
            ts_recent: if ts_valid { conn.ts_recent } else { 0 },
            ..AttachRow::default()
        }
        .with_freshen(true)
        .with_ts_recent_valid(ts_valid);
        if self.port.attach(qp.id.flow(), &row) {
            conn.card.ts_recent_at = self.now;
        }
    }
}

/// The pieces of a payload at `mo` of a message, with the SGEs they go to.
pub fn scatter<'a>(
    sges: &'a [Sge],
    mo: u32,
    payload: &'a [u8],
) -> impl Iterator<Item = (Sge, &'a [u8])> + 'a {
    let lengths = sges.iter().map(|sge| sge.length);
    checks::scatter(lengths, mo, payload.len()).filter_map(|run| {
        let sge = sges.get(run.sge)?;
        let bytes = payload.get(run.bytes)?;
        let sge = Sge {
            stag: sge.stag,
            to: sge.to.wrapping_add(u64::from(run.offset)),
            length: bytes.len() as u32,
        };
        Some((sge, bytes))
    })
}
