//! RDMAP (RFC 5040): what a message that was checked and placed means.

use weft_wire::checks::Violation;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::rdmap::{control, opcode, opcode_of, queue, AtomicRequest, ReadRequest, IMMEDIATE};
use weft_wire::terminate::{Terminate, TerminateCode};

use crate::card::port::Port;
use crate::connection::conn::Phase;
use crate::connection::link::Link;
use crate::interface::verbs::{Access, Status};
use crate::queues::qp::{Asked, PendingResponse, Received};
use crate::rdmap::fault::Fault;
use crate::rdmap::placement::scatter;

impl<P: Port> Link<'_, P> {
    /// A segment was placed, in order. `payload` is at hand for queues 1 to 3.
    pub fn deliver(
        &mut self,
        header: &DdpHeader,
        ulpdu: usize,
        length: u32,
        payload: &[u8],
    ) -> Result<(), Fault> {
        let fault = |code| Fault::about(code, ulpdu, header);
        let rtr_send = match header.target {
            Target::Untagged { qn: 0, msn, .. } => self.is_rtr_send(msn),
            _ => false,
        };
        let last = header.is_last();
        let opcode = opcode_of(header.rdmap_control);
        let result = match header.target {
            Target::Tagged { stag, to } if opcode == opcode::READ_RESPONSE => {
                self.read_response(stag, to, length, last)
            }
            // A Write needs nobody's attention.
            Target::Tagged { .. } => Ok(()),
            Target::Untagged {
                qn: queue::SEND,
                rsvd_ulp,
                msn,
                mo,
            } => self.send_arrived((opcode, rsvd_ulp), (msn, mo), length, last, rtr_send),
            Target::Untagged {
                qn: queue::READ_REQUEST,
                msn,
                mo,
                ..
            } if opcode == opcode::READ_REQUEST => {
                return self
                    .read_request(header, ulpdu, msn, mo, last, payload)
                    .inspect(|()| self.first_message());
            }
            Target::Untagged {
                qn: queue::TERMINATE,
                ..
            } => {
                self.terminate_arrived(payload);
                return Ok(());
            }
            Target::Untagged {
                qn: queue::READ_REQUEST,
                msn,
                mo,
                ..
            } => {
                return self
                    .atomic_request(header, ulpdu, (msn, mo), payload)
                    .inspect(|()| self.first_message());
            }
            Target::Untagged { msn, mo, .. } => self.atomic_response(header, (msn, mo), payload),
        };
        result.map_err(fault)?;
        self.first_message();
        Ok(())
    }

    /// The responder waits for the first message before it says anything.
    fn first_message(&mut self) {
        if self.conn.phase == Phase::AwaitFirst {
            self.responder_established();
        }
    }

    /// A Send was placed where it says that it belongs, by whomever: it counts where it is the next one.
    fn send_arrived(
        &mut self,
        (opcode, rsvd_ulp): (u8, u32),
        (msn, mo): (u32, u32),
        length: u32,
        last: bool,
        rtr: bool,
    ) -> Result<(), TerminateCode> {
        let (solicited, invalidates) = match opcode {
            opcode::SEND => (false, false),
            opcode::SEND_SE => (true, false),
            opcode::SEND_INVALIDATE => (false, true),
            opcode::SEND_SE_INVALIDATE => (true, true),
            opcode::IMMEDIATE => (false, false),
            opcode::IMMEDIATE_SE => (true, false),
            _ => return Err(TerminateCode::RDMAP_OPCODE),
        };
        let Some(qp) = self.qp.as_mut() else {
            return Err(TerminateCode::DDP_LOCAL);
        };
        let is_next = qp.expected.expect(msn, mo);
        is_next.map_err(Violation::of_segment)?;
        if !last {
            qp.expected.pass(length, false);
            return Ok(());
        }
        let mut invalidated = None;
        if invalidates {
            self.shared
                .regions
                .invalidate(qp.config.pd, qp.id, rsvd_ulp, self.port)?;
            invalidated = Some(rsvd_ulp);
        }
        let total = qp.expected.mo.wrapping_add(length);
        let immediate = match opcode {
            opcode::IMMEDIATE | opcode::IMMEDIATE_SE => Some(self.immediate(total)?),
            _ => None,
        };
        let Some(qp) = self.qp.as_mut() else {
            return Err(TerminateCode::DDP_LOCAL);
        };
        qp.expected.pass(length, true);
        if !rtr {
            qp.complete_recv(
                &Received {
                    byte_len: total,
                    solicited,
                    invalidated,
                    immediate,
                    status: Status::Success,
                },
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
        }
        Ok(())
    }

    /// What a message of an immediate, of `length` bytes, has left in its receive element. It has exactly 8
    /// (RFC 7306 §6.3).
    fn immediate(&mut self, length: u32) -> Result<u64, TerminateCode> {
        if length as usize != IMMEDIATE {
            return Err(TerminateCode::RDMAP_CATASTROPHIC_STREAM);
        }
        let qp = self.qp.as_ref().ok_or(TerminateCode::DDP_LOCAL)?;
        let element = qp.rq.get(qp.rq.completed);
        let sges = element.ok_or(TerminateCode::DDP_NO_BUFFER)?.sges;
        let mut data = [0; IMMEDIATE];
        let mut at = 0;
        for (sge, part) in scatter(&sges, 0, &[0; IMMEDIATE]) {
            let place = self.shared.regions.local(
                qp.config.pd,
                sge.stag,
                sge.to,
                part.len() as u32,
                Access::LOCAL_WRITE,
            );
            let piece = place.map_err(|_| TerminateCode::DDP_LOCAL)?;
            self.port
                .copy_out(piece.iova, &mut data[at..at + part.len()])
                .map_err(|_| TerminateCode::DDP_LOCAL)?;
            at += part.len();
        }
        Ok(u64::from_be_bytes(data))
    }

    /// A Read Request of the peer's (RFC 5040 §5.4).
    fn read_request(
        &mut self,
        header: &DdpHeader,
        ulpdu: usize,
        msn: u32,
        mo: u32,
        last: bool,
        payload: &[u8],
    ) -> Result<(), Fault> {
        let mut fault = Fault::about(TerminateCode::RDMAP_UNSPECIFIED, ulpdu, header);
        let Some(qp) = self.qp.as_mut() else {
            return Err(fault);
        };
        let checked = if msn != qp.read_request_msn {
            Err(TerminateCode::DDP_MSN)
        } else if mo != 0 {
            Err(TerminateCode::DDP_MO)
        } else if payload.len() > ReadRequest::SIZE {
            Err(TerminateCode::DDP_TOO_LONG)
        } else if qp.responses.len() >= usize::from(self.conn.agreed.ird.max(1)) {
            Err(TerminateCode::DDP_NO_BUFFER)
        } else if !last {
            Err(TerminateCode::RDMAP_UNSPECIFIED)
        } else {
            ReadRequest::parse(payload).ok_or(TerminateCode::RDMAP_UNSPECIFIED)
        };
        let request = match checked {
            Ok(request) => request,
            Err(code) => {
                fault.code = code;
                return Err(fault);
            }
        };
        // A Read of no bytes names no source (RFC 5040 §5.2.1), but is answered.
        let (mut iova, mut region) = (0, None);
        if request.size > 0 {
            let source = self.shared.regions.remote(
                (qp.config.pd, qp.id),
                request.source_stag,
                request.source_to,
                request.size,
                Access::REMOTE_READ,
            );
            match source {
                Ok(piece) => {
                    iova = piece.iova;
                    region = self.shared.regions.ask(request.source_stag);
                }
                Err(violation) => {
                    fault.code = violation.of_read_source();
                    fault.read_request = Some(request.to_bytes());
                    return Err(fault);
                }
            }
        }
        qp.read_request_msn = qp.read_request_msn.wrapping_add(1);
        qp.responses.push_back(PendingResponse {
            msn,
            region,
            asked: Asked::Read {
                request,
                iova,
                sent: 0,
            },
        });
        Ok(())
    }

    /// The region of what is to be answered next is no longer there: nothing of it is read any
    /// more, and the stream ends (RFC 5040 §4.8, §8).
    pub fn source_gone(&mut self) {
        let regions = &mut self.shared.regions;
        let response = self.qp.as_mut().and_then(|qp| qp.pop_response(regions));
        let Some(response) = response else {
            return;
        };
        self.shared.stats.reads_revoked += 1;
        let (opcode, size) = match response.asked {
            Asked::Read { .. } => (opcode::READ_REQUEST, ReadRequest::SIZE),
            Asked::Atomic { .. } => (opcode::ATOMIC_REQUEST, AtomicRequest::SIZE),
        };
        let (control, queue) = (control(opcode), queue::READ_REQUEST);
        let header = DdpHeader::untagged(true, control, 0, queue, response.msn, 0);
        let ulpdu = header.length() + size;
        self.fault(&Fault {
            read_request: response.asked.rest().map(|rest| rest.to_bytes()),
            ..Fault::about(TerminateCode::RDMAP_STAG, ulpdu, &header)
        });
    }

    /// A segment of a Read Response has to be what the oldest Read asked for.
    pub fn expect_response(
        &mut self,
        stag: u32,
        to: u64,
        length: u32,
    ) -> Result<(), TerminateCode> {
        let read = self.qp.as_ref().and_then(|qp| qp.reads.front());
        let read = read.filter(|read| !read.atomic);
        let wrong = match read {
            // It names memory that no Read has opened: so says the card too, unless another Read has (RFC 5040 §7.2: the fields first).
            _ if length > 0 && read.is_none_or(|read| stag != read.stag) => {
                TerminateCode::RDMAP_ACCESS
            }
            None => TerminateCode::RDMAP_OPCODE,
            Some(read) if length > 0 && (to != read.to || length > read.left) => {
                TerminateCode::DDP_BOUNDS
            }
            Some(_) => return Ok(()),
        };
        self.shared.stats.responses_unasked += 1;
        Err(wrong)
    }

    /// A segment of a Read Response was placed.
    pub(super) fn read_response(
        &mut self,
        stag: u32,
        to: u64,
        length: u32,
        last: bool,
    ) -> Result<(), TerminateCode> {
        self.expect_response(stag, to, length)?;
        let Some(qp) = self.qp.as_mut() else {
            return Err(TerminateCode::DDP_LOCAL);
        };
        let Some(read) = qp.reads.front_mut() else {
            return Err(TerminateCode::RDMAP_OPCODE);
        };
        if length > 0 {
            read.to = to.wrapping_add(u64::from(length));
            read.left -= length;
        }
        if !last {
            return Ok(());
        }
        if read.left > 0 {
            return Err(TerminateCode::DDP_BOUNDS);
        }
        let number = read.entry;
        if read.open {
            self.shared.regions.close_sink(read.stag, self.port);
        }
        qp.reads.pop_front();
        if let Some(number) = number {
            let all = qp.sq.has_asked_all(number);
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.missing = entry.missing.saturating_sub(1);
                if entry.missing == 0 && all {
                    entry.outcome.get_or_insert(Status::Success);
                }
            }
            qp.complete_sends(
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
        }
        Ok(())
    }

    fn terminate_arrived(&mut self, payload: &[u8]) {
        self.shared.stats.terminates_received += 1;
        let terminate = Terminate::parse(payload);
        if terminate.is_some_and(|terminate| terminate.siw_layout) {
            self.shared.stats.terminates_siw_layout += 1;
        }
        self.terminated_by_peer(terminate.map(|terminate| terminate.code));
    }
}
