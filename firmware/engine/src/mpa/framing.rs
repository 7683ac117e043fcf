//! The raw part of the stream: what the card could not frame, framed, checked and placed by the
//! engine with exactly the card's checks (`docs/card.md`, [`weft_wire::checks`]).

use weft_wire::checks::{self, Ask, Position, Right, Violation};
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::fpdu;
use weft_wire::mpa::RtrKinds;
use weft_wire::rdmap::{self, opcode};
use weft_wire::terminate::TerminateCode;
use weft_wire::walk::{Unit, Walk};

use crate::card::port::Port;
use crate::connection::conn::Phase;
use crate::connection::link::Link;
use crate::interface::verbs::Access;
use crate::queues::qp::{Qp, Receives};
use crate::rdmap::fault::Fault;
use crate::rdmap::placement::scatter;
use weft_tcp::seq;

impl<P: Port> Link<'_, P> {
    /// Takes what is in order, as far as it is whole.
    pub fn stream(&mut self) {
        if self.conn.byte_stream.is_some() && self.conn.phase != Phase::Draining {
            // It waits for its user.
            return;
        }
        self.pass_early();
        if self.conn.phase.receives() && self.replay() {
            return;
        }
        while self.conn.reassembly.available() > 0 {
            let went_on = match self.conn.phase {
                Phase::AwaitReply | Phase::AwaitRequest => self.startup_frame(),
                _ if self.awaits_rtr_frame() => self.startup_frame(),
                // Octets that the card carries as well: it frames them.
                phase if phase.receives() && self.conn.handover.is_attached() => false,
                phase if phase.receives() => {
                    self.software_fpdu(self.conn.reassembly.available_to())
                }
                Phase::Finishing | Phase::Draining | Phase::Finished => {
                    // Nobody wants it any more.
                    self.conn
                        .reassembly
                        .consume(usize::MAX, &mut self.shared.buffers.pool);
                    true
                }
                _ => false,
            };
            if !went_on {
                return;
            }
        }
    }

    /// Takes one FPDU from the front of the stream, of which the octets before `upto` are at hand; false if it is not whole yet.
    pub(crate) fn software_fpdu(&mut self, upto: u32) -> bool {
        let mut front = [0; 16];
        let seq = self.conn.reassembly.base();
        let there = seq::diff(upto, seq).max(0) as usize;
        let count = self.conn.reassembly.copy_front(&mut front).min(there);
        let markers = self.conn.rx_markers;
        let Ok(length) = fpdu::peek_length(&front[..count], seq, markers) else {
            return false;
        };
        if length > self.shared.buffers.wire.len() {
            // There is no memory to check it in.
            self.shared.stats.streams_without_memory += 1;
            self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
            return false;
        }
        if there < length {
            return false;
        }
        // Lent out, so that the rest of the link can be used meanwhile.
        let mut wire = core::mem::take(&mut self.shared.buffers.wire);
        let octets = wire.get_mut(..length).unwrap_or_default();
        self.conn.reassembly.copy_front(octets);
        self.shared.stats.bytes_copied += octets.len() as u64;
        self.conn
            .reassembly
            .consume(length, &mut self.shared.buffers.pool);
        if let Some(unit) = Walk::new(octets, seq, markers).next() {
            self.whole_fpdu(&unit);
        }
        self.shared.buffers.wire = wire;
        // Behind it there may be what the card has placed.
        self.pass_early();
        true
    }

    /// Takes the FPDUs that are whole at the front of octets that have just arrived, in order and with nothing before them that waits: they
    /// need not be kept. How many octets that is; none of a stream of plain bytes, which its user reads.
    pub fn fpdus_at_hand(&mut self, octets: &[u8]) -> usize {
        let start = self.conn.reassembly.next();
        let mut walk = Walk::new(octets, start, self.conn.rx_markers);
        let are_fpdus = self.conn.byte_stream.is_none() && !self.awaits_rtr_frame();
        while are_fpdus && self.conn.phase.receives() {
            let Some(unit) = walk.next() else {
                break;
            };
            let end = start.wrapping_add(walk.done() as u32);
            self.conn
                .reassembly
                .skip_to(end, &mut self.shared.buffers.pool);
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
        let mut scratch = core::mem::take(&mut self.shared.buffers.ulpdu);
        let ulpdu = unit.whole_ulpdu().unwrap_or_else(|| {
            self.shared.stats.bytes_copied += unit.found.ulpdu_length as u64;
            unit.unmarked(&mut scratch)
        });
        let placed = self.check_and_place(ulpdu);
        self.shared.buffers.ulpdu = scratch;
        if let Err(fault) = placed {
            self.fault(&fault);
        }
    }

    /// The card's checks, in the card's order; then placement and delivery.
    pub fn check_and_place(&mut self, ulpdu: &[u8]) -> Result<(), Fault> {
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
        self.ends(&header);
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
        let pd = self.shared.queues.element_pd(qp);
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
}
