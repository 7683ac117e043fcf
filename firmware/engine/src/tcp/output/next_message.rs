//! Which message is next, and what of it is left.

use weft_wire::mpa::RtrKinds;
use weft_wire::rdmap::{control, opcode, queue, AtomicRequest, AtomicResponse, ReadRequest};

use crate::connection::conn::{Conn, Phase};
use crate::connection::in_flight::Header;
use crate::interface::verbs::Sge;
use crate::memory::job_data::{copy_out, gather, Data, JOB_INLINE};
use crate::memory::region::{IovaRange, RegionRef};
use crate::queues::qp::{Asked, Qp};
use crate::queues::send_queue::Action;

/// The STag of a 0-byte RTR: never 0, and of no region (peers.md).
pub(super) const RTR_STAG: u32 = 1;

/// A ULPDU that a small window makes shorter than RFC 5044's 128 octets (§4.5: a promise of MPA's to DDP, which may use less).
const SMALLEST_ULPDU: usize = 32;

/// Which queue the next message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Terminate,
    Rtr,
    Response,
    AtomicResponse,
    Send,
    Read,
    Atomic,
}

/// A message, or what is left of one.
#[derive(Clone, Copy, Debug)]
pub struct NextMessage {
    pub(super) source: Source,
    pub(super) header: Header,
    /// What a job can have of what is left, and how many bytes that are.
    pub(super) data: Data,
    pub(super) reach: u32,
    /// The region of a Read Response's payload.
    pub(super) region: Option<RegionRef>,
    /// Where the bytes that it asks for go.
    pub(super) sink: Option<Sge>,
    /// Already sent.
    pub(super) sent: u32,
    /// All of it.
    pub(super) length: u32,
}

impl NextMessage {
    /// The least ULPDU that a piece of it may be sent as. A request is not cut.
    pub(super) fn least(&self) -> usize {
        match self.source {
            Source::Send | Source::Response => SMALLEST_ULPDU,
            _ => self.header.length() + self.length as usize,
        }
    }

    /// What it is to be read from, if that may be gone.
    pub fn region(&self) -> Option<RegionRef> {
        self.region
    }
}

/// What is to be sent next; `None`: nothing, or it has to wait for the peer.
pub fn next_message(conn: &Conn, qp: Option<&Qp>) -> Option<NextMessage> {
    if conn.fin_seq.is_some() || !conn.may_send {
        return None;
    }
    if let Some(terminate) = &conn.terminate {
        let mut bytes = [0; JOB_INLINE];
        bytes[..terminate.length].copy_from_slice(&terminate.bytes[..terminate.length]);
        return Some(NextMessage {
            source: Source::Terminate,
            header: untagged(opcode::TERMINATE, queue::TERMINATE, 1),
            data: Data::Inline(bytes),
            reach: terminate.length as u32,
            region: None,
            sink: None,
            sent: 0,
            length: terminate.length as u32,
        });
    }
    if !matches!(conn.phase, Phase::Established | Phase::Closing) {
        return None;
    }
    let qp = qp?;
    if conn.rtr_pending {
        return rtr(conn, qp);
    }
    // An atomic that is not done yet waits for the Reads before it.
    let response = qp.responses.front();
    let response = response.and_then(|response| match response.asked {
        Asked::Atomic { request, before } => {
            let answer = AtomicResponse {
                identifier: request.identifier,
                value: before?,
            };
            let (opcode, queue) = (opcode::ATOMIC_RESPONSE, queue::ATOMIC_RESPONSE);
            let header = untagged(opcode, queue, qp.atomic_msn);
            Some(inline(Source::AtomicResponse, header, &answer.to_bytes()))
        }
        Asked::Read {
            request,
            iova,
            sent,
        } => {
            let left = request.size - sent;
            let source = IovaRange {
                iova: iova.wrapping_add(u64::from(sent)),
                length: left,
            };
            let header = tagged(opcode::READ_RESPONSE, request.sink_stag, request.sink_to);
            Some(NextMessage {
                source: Source::Response,
                header,
                data: gather(core::iter::once(source), 0, left).0,
                reach: left,
                region: response.region,
                sink: None,
                sent,
                length: request.size,
            })
        }
    });
    // A message that was begun is finished first.
    let response_begun = response.as_ref().is_some_and(|message| message.sent > 0);
    let send_begun = qp.sq.next_entry().is_some_and(|entry| entry.sent > 0);
    if response_begun || response.is_some() && !send_begun && !qp.send_queue_next {
        return response;
    }
    next_request(conn, qp).or(response)
}

/// A message of a few bytes that the job itself has.
pub(super) fn inline(source: Source, header: Header, payload: &[u8]) -> NextMessage {
    let (data, length) = copy_out(payload, 0, payload.len() as u32);
    NextMessage {
        source,
        header,
        data,
        reach: length,
        region: None,
        sink: None,
        sent: 0,
        length,
    }
}

/// The RTR (RFC 6581 §9.2): no work request stands behind it.
fn rtr(conn: &Conn, qp: &Qp) -> Option<NextMessage> {
    let mut bytes = [0; JOB_INLINE];
    let mut length = 0;
    let header = match conn.agreed.rtr? {
        RtrKinds::READ => {
            let request = ReadRequest {
                sink_stag: RTR_STAG,
                source_stag: RTR_STAG,
                ..ReadRequest::default()
            };
            length = ReadRequest::SIZE;
            bytes[..length].copy_from_slice(&request.to_bytes());
            untagged(opcode::READ_REQUEST, queue::READ_REQUEST, qp.read_msn)
        }
        RtrKinds::WRITE => tagged(opcode::WRITE, RTR_STAG, 0),
        _ => untagged(opcode::SEND, queue::SEND, qp.send_msn),
    };
    Some(NextMessage {
        source: Source::Rtr,
        header,
        data: Data::Inline(bytes),
        reach: length as u32,
        region: None,
        sink: None,
        sent: 0,
        length: length as u32,
    })
}

/// The send queue's next message, unless it has to wait.
fn next_request(conn: &Conn, qp: &Qp) -> Option<NextMessage> {
    // It may not have been issued.
    let entry = qp.sq.next().filter(|entry| entry.begun)?;
    let send = |header| {
        let (data, reach) = entry.rest();
        NextMessage {
            source: Source::Send,
            header,
            data,
            reach,
            region: None,
            sink: None,
            sent: entry.sent,
            length: entry.length,
        }
    };
    match entry.action() {
        Action::Send { opcode, rsvd_ulp } => Some(send(Header {
            rsvd_ulp,
            ..untagged(opcode, queue::SEND, qp.send_msn)
        })),
        Action::Write { stag, to } => Some(send(tagged(opcode::WRITE, stag, to))),
        Action::Atomic { stag, to, atomic } => {
            if qp.reads.len() >= usize::from(conn.agreed.ord) {
                return None;
            }
            let request = AtomicRequest {
                identifier: qp.sq.started,
                stag,
                to,
                atomic,
            };
            Some(inline(
                Source::Atomic,
                untagged(opcode::ATOMIC_REQUEST, queue::READ_REQUEST, qp.read_msn),
                &request.to_bytes(),
            ))
        }
        // It sends nothing.
        Action::Bind(_) | Action::FastRegister(_) | Action::LocalInvalidate { .. } => None,
        Action::Read { stag, to } => {
            // The ORD limit.
            if qp.reads.len() >= usize::from(conn.agreed.ord) {
                return None;
            }
            let sink = entry.next_sink()?;
            let request = ReadRequest {
                sink_stag: if sink.length == 0 {
                    RTR_STAG
                } else {
                    sink.stag
                },
                sink_to: sink.at,
                size: sink.length,
                source_stag: stag,
                source_to: to.wrapping_add(entry.requested_bytes()),
            };
            let mut bytes = [0; JOB_INLINE];
            bytes[..ReadRequest::SIZE].copy_from_slice(&request.to_bytes());
            Some(NextMessage {
                source: Source::Read,
                header: untagged(opcode::READ_REQUEST, queue::READ_REQUEST, qp.read_msn),
                data: Data::Inline(bytes),
                reach: ReadRequest::SIZE as u32,
                region: None,
                sink: (sink.length > 0).then_some(Sge {
                    stag: sink.stag,
                    to: sink.at,
                    length: sink.length,
                }),
                sent: 0,
                length: ReadRequest::SIZE as u32,
            })
        }
    }
}

fn untagged(opcode: u8, qn: u32, msn: u32) -> Header {
    Header {
        tagged: false,
        rdmap_control: control(opcode),
        stag_or_qn: qn,
        msn,
        to_or_mo: 0,
        rsvd_ulp: 0,
    }
}

fn tagged(opcode: u8, stag: u32, to: u64) -> Header {
    Header {
        tagged: true,
        rdmap_control: control(opcode),
        stag_or_qn: stag,
        msn: 0,
        to_or_mo: to,
        rsvd_ulp: 0,
    }
}
