//! Atomics (RFC 7306 §5). Their requests go by the queue of the Read Requests and count with them (ORD, IRD); their answers have a queue of their own.
//!
//! The engine does them, one after the other, in the order in which they came and behind the Reads before them. So they are atomic among
//! themselves, whichever connections they come by (§5.3); a Write, the host's processor and another card are not kept out.

use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{Atomic, AtomicRequest, AtomicResponse};
use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::connection::link::{Link, POLL};
use crate::connection::shared::Shared;
use crate::connection::timers::Timer;
use crate::interface::verbs::{Access, Status};
use crate::memory::region::IovaRange;
use crate::queues::qp::{Asked, PendingResponse, Qp};
use crate::rdmap::fault::Fault;

/// Bytes that an atomic reads and writes.
const OPERAND: usize = 8;

impl Shared {
    /// The memory of a peer's atomic, if it may.
    fn atomic_place(&self, qp: &Qp, stag: u32, to: u64) -> Result<IovaRange, TerminateCode> {
        let (who, length) = ((qp.config.pd, qp.id), OPERAND as u32);
        let place = self
            .regions
            .remote(who, stag, to, length, Access::REMOTE_ATOMIC);
        let piece = place.map_err(|violation| violation.of_read_source())?;
        match piece.iova % OPERAND as u64 {
            0 => Ok(piece),
            // RFC 7306 §8.2.
            _ => Err(TerminateCode::RDMAP_CATASTROPHIC_STREAM),
        }
    }

    /// Does an atomic of a peer's on an STag and TO; what was there before.
    pub(crate) fn do_atomic<P: Port>(
        &mut self,
        qp: &Qp,
        (stag, to): (u32, u64),
        atomic: &Atomic,
        port: &mut P,
    ) -> Result<u64, TerminateCode> {
        let piece = self.atomic_place(qp, stag, to)?;
        let failed = |_| TerminateCode::RDMAP_LOCAL;
        let mut bytes = [0; OPERAND];
        port.copy_out(piece.iova, &mut bytes).map_err(failed)?;
        // The host's byte order.
        let value = u64::from_le_bytes(bytes);
        let after = atomic.apply(value);
        if after != value {
            let bytes = after.to_le_bytes();
            port.copy_in(piece.iova, &bytes).map_err(failed)?;
        }
        self.stats.atomics += 1;
        Ok(value)
    }
}

impl<P: Port> Link<'_, P> {
    /// An Atomic Request of the peer's: it is done when the responses before it are out.
    pub(crate) fn atomic_request(
        &mut self,
        header: &DdpHeader,
        ulpdu: usize,
        (msn, mo): (u32, u32),
        payload: &[u8],
    ) -> Result<(), Fault> {
        let fault = |code| Fault::about(code, ulpdu, header);
        let Some(qp) = self.qp.as_mut() else {
            return Err(fault(TerminateCode::DDP_LOCAL));
        };
        let wrong = if msn != qp.read_request_msn {
            Some(TerminateCode::DDP_MSN)
        } else if mo != 0 {
            Some(TerminateCode::DDP_MO)
        } else if payload.len() > AtomicRequest::SIZE {
            Some(TerminateCode::DDP_TOO_LONG)
        } else if qp.responses.len() >= usize::from(self.conn.agreed.ird.max(1)) {
            Some(TerminateCode::DDP_NO_BUFFER)
        } else if !header.is_last() {
            Some(TerminateCode::RDMAP_UNSPECIFIED)
        } else {
            None
        };
        if let Some(code) = wrong {
            return Err(fault(code));
        }
        let request = AtomicRequest::parse(payload);
        let request = request.ok_or(fault(TerminateCode::RDMAP_CATASTROPHIC_STREAM))?;
        let place = self.shared.atomic_place(qp, request.stag, request.to);
        place.map_err(fault)?;
        let region = self.shared.regions.ask(request.stag);
        let Some(qp) = self.qp.as_mut() else {
            return Err(fault(TerminateCode::DDP_LOCAL));
        };
        qp.read_request_msn = qp.read_request_msn.wrapping_add(1);
        qp.responses.push_back(PendingResponse {
            msn,
            region,
            asked: Asked::Atomic {
                request,
                before: None,
            },
        });
        Ok(())
    }

    /// Does the atomic that is to be answered next, unless that was done.
    pub(crate) fn atomic_work(&mut self) {
        let response = self.qp.as_ref().and_then(|qp| qp.responses.front());
        let Some(Asked::Atomic {
            request,
            before: None,
        }) = response.map(|response| response.asked)
        else {
            return;
        };
        // What is read for the Reads before it is what was there before it.
        if let Some(job) = self.qp.as_ref().and_then(|qp| qp.response_job) {
            if !self.is_done(job) {
                self.port.refresh_jobs_done();
            }
            if !self.is_done(job) {
                let at = self.now.saturating_add(POLL);
                return self.conn.timers.set(Timer::Retry, Some(at));
            }
            if let Some(qp) = self.qp.as_mut() {
                qp.response_job = None;
            }
        }
        let done = match self.qp.as_ref() {
            Some(qp) => {
                let place = (request.stag, request.to);
                self.shared.do_atomic(qp, place, &request.atomic, self.port)
            }
            None => Err(TerminateCode::DDP_LOCAL),
        };
        match done {
            Ok(value) => {
                let response = self.qp.as_mut().and_then(|qp| qp.responses.front_mut());
                if let Some(response) = response {
                    response.asked = Asked::Atomic {
                        request,
                        before: Some(value),
                    };
                }
            }
            Err(code) => {
                if let Some(qp) = self.qp.as_mut() {
                    qp.pop_response(&mut self.shared.regions);
                }
                self.fault(&Fault::of(code));
            }
        }
    }

    /// The peer's answer to the oldest request of this side, which has to be an atomic.
    pub(crate) fn atomic_response(
        &mut self,
        header: &DdpHeader,
        (msn, mo): (u32, u32),
        payload: &[u8],
    ) -> Result<(), TerminateCode> {
        let qp = self.qp.as_mut().ok_or(TerminateCode::DDP_LOCAL)?;
        if msn != qp.expected_atomic_msn {
            return Err(TerminateCode::DDP_MSN);
        }
        if mo != 0 {
            return Err(TerminateCode::DDP_MO);
        }
        if payload.len() > AtomicResponse::SIZE {
            return Err(TerminateCode::DDP_TOO_LONG);
        }
        let oldest = qp.reads.front().filter(|read| read.atomic);
        let read = *oldest.ok_or(TerminateCode::RDMAP_OPCODE)?;
        let response = AtomicResponse::parse(payload).filter(|_| header.is_last());
        let response = response.ok_or(TerminateCode::RDMAP_CATASTROPHIC_STREAM)?;
        if response.identifier != read.identifier() {
            return Err(TerminateCode::RDMAP_CATASTROPHIC_STREAM);
        }
        let (length, needs) = (OPERAND as u32, Access::LOCAL_WRITE);
        let pd = qp.config.pd;
        let sink = self
            .shared
            .regions
            .local(pd, read.stag, read.to, length, needs);
        let sink = sink.map_err(|_| TerminateCode::RDMAP_LOCAL)?;
        let placed = self.port.copy_in(sink.iova, &response.value.to_le_bytes());
        placed.map_err(|_| TerminateCode::RDMAP_LOCAL)?;
        qp.expected_atomic_msn = msn.wrapping_add(1);
        qp.reads.pop_front();
        if let Some(entry) = read.entry.and_then(|number| qp.sq.get_mut(number)) {
            entry.missing = 0;
            entry.outcome.get_or_insert(Status::Success);
        }
        qp.complete_sends(
            &mut self.shared.regions,
            &mut self.shared.queues.completions,
        );
        Ok(())
    }
}
