//! The other end of the queues: the engine takes what was posted, and its completions become CQEs.

use std::sync::Arc;

use weft_engine::{
    self as engine, Atomic, Completion, Opcode, SendOp, Status, MAX_RECV_SGE, MAX_SGE,
};
use weft_layout::{AtomicOperands, Binding, Cqe, CqeOpcode, CqeStatus, SendWqe, WqeOpcode};
use weft_queues::{BadWqe, Payload, Taken};

use super::queue_pairs::Queues;
use super::State;

/// The device's side of a queue pair.
pub(super) struct QpEntry {
    pub(super) queues: Arc<dyn Queues>,
    /// Blocks and elements taken.
    send_taken: u32,
    recv_taken: u32,
    /// Its send queue holds what nobody understands: nothing more is taken from it.
    broken: bool,
}

/// What the engine calls a work request by: number, blocks, whether a CQE is wanted on success.
pub(super) fn engine_id(number: u32, blocks: u32, signaled: bool) -> u64 {
    u64::from(number) | u64::from(blocks) << 32 | u64::from(signaled) << 48
}

impl QpEntry {
    pub(super) fn new(queues: Arc<dyn Queues>) -> Self {
        Self {
            queues,
            send_taken: 0,
            recv_taken: 0,
            broken: false,
        }
    }

    /// The next WQE of the send queue.
    fn next_send(&mut self) -> Option<Result<(u32, Taken), BadWqe>> {
        if self.broken {
            return None;
        }
        let (layout, memory) = (self.queues.layout(), self.queues.memory());
        let tail = layout.send_tail(memory);
        let taken = layout.take_send(memory, self.send_taken, tail)?;
        Some(match taken {
            Ok(taken) => {
                let number = self.send_taken;
                self.send_taken = number.wrapping_add(taken.blocks);
                Ok((number, taken))
            }
            Err(bad) => {
                self.broken = true;
                Err(bad)
            }
        })
    }

    /// The next element of the receive queue.
    fn next_recv(&mut self) -> Option<(u32, [engine::Sge; MAX_RECV_SGE], usize)> {
        let (layout, memory) = (self.queues.layout(), self.queues.memory());
        let number = self.recv_taken;
        let posted = layout.recv_tail(memory).wrapping_sub(number);
        // A tail that is further away than the ring is long says nothing.
        if posted == 0 || posted > layout.recv_elements() {
            return None;
        }
        self.recv_taken = number.wrapping_add(1);
        let element = layout.take_recv(memory, number);
        let used = element.iter().take_while(|sge| sge.length > 0).count();
        Some((number, element.map(engine_sge), used))
    }
}

pub(super) fn engine_sge(sge: weft_queues::Sge) -> engine::Sge {
    engine::Sge {
        stag: sge.stag,
        to: sge.to,
        length: sge.length,
    }
}

/// Its payload is operands, in the WQE.
fn has_operands(opcode: WqeOpcode) -> bool {
    use WqeOpcode::{Bind, CmpSwap, FastRegister, FetchAdd, LocalInvalidate};
    matches!(
        opcode,
        Bind | CmpSwap | FastRegister | FetchAdd | LocalInvalidate
    )
}

/// What the engine is to do; `None`: nothing that it can.
fn operation(taken: &Taken) -> Option<SendOp> {
    let solicited = taken.has(SendWqe::SOLICITED);
    let invalidate = taken.has(SendWqe::INVALIDATE).then_some(taken.stag);
    Some(match taken.opcode {
        WqeOpcode::Send => SendOp::Send {
            solicited,
            invalidate,
        },
        _ if invalidate.is_some() => return None,
        WqeOpcode::XrcSend => SendOp::XrcSend {
            solicited,
            srq: taken.stag,
        },
        WqeOpcode::Immediate => SendOp::Immediate {
            solicited,
            data: taken.to,
        },
        _ if solicited => return None,
        WqeOpcode::LocalInvalidate => SendOp::LocalInvalidate { stag: taken.stag },
        WqeOpcode::Bind => SendOp::Bind(binding(taken)?),
        WqeOpcode::FastRegister => SendOp::FastRegister(binding(taken)?),
        WqeOpcode::FetchAdd | WqeOpcode::CmpSwap => atomic(taken)?.0,
        WqeOpcode::Write => SendOp::Write {
            stag: taken.stag,
            to: taken.to,
        },
        WqeOpcode::Read => SendOp::Read {
            stag: taken.stag,
            to: taken.to,
        },
    })
}

/// The operands that lie in a WQE.
fn operands<const SIZE: usize>(taken: &Taken) -> Option<[u8; SIZE]> {
    match taken.payload() {
        Payload::Inline(bytes) => bytes.try_into().ok(),
        Payload::Sges(_) => None,
    }
}

fn binding(taken: &Taken) -> Option<engine::Binding> {
    let record = Binding::from_bytes(&operands(taken)?);
    Some(engine::Binding {
        stag: taken.stag,
        base_to: taken.to,
        region: record.region_stag,
        region_to: record.region_to,
        length: record.length,
        access: engine::Access::from_bits(record.access)?,
    })
}

/// An atomic, and where the old value goes.
fn atomic(taken: &Taken) -> Option<(SendOp, engine::Sge)> {
    if !matches!(taken.opcode, WqeOpcode::FetchAdd | WqeOpcode::CmpSwap) {
        return None;
    }
    let record = AtomicOperands::from_bytes(&operands(taken)?);
    let atomic = match taken.opcode {
        WqeOpcode::FetchAdd => Atomic::FetchAdd {
            add: record.operand,
            mask: 0,
        },
        _ => Atomic::CmpSwap {
            compare: record.operand,
            compare_mask: u64::MAX,
            swap: record.swap,
            swap_mask: u64::MAX,
        },
    };
    let (stag, to) = (taken.stag, taken.to);
    let sink = engine::Sge {
        stag: record.sink_stag,
        to: record.sink_to,
        length: 8,
    };
    Some((SendOp::Atomic { stag, to, atomic }, sink))
}

fn engine_opcode(opcode: WqeOpcode) -> Opcode {
    match opcode {
        WqeOpcode::Send | WqeOpcode::Immediate | WqeOpcode::XrcSend => Opcode::Send,
        WqeOpcode::Write => Opcode::Write,
        WqeOpcode::Read => Opcode::Read,
        WqeOpcode::LocalInvalidate => Opcode::LocalInvalidate,
        WqeOpcode::Bind => Opcode::Bind,
        WqeOpcode::FastRegister => Opcode::FastRegister,
        WqeOpcode::FetchAdd => Opcode::FetchAdd,
        WqeOpcode::CmpSwap => Opcode::CmpSwap,
    }
}

/// Why the engine never takes it, if it does not.
fn refused(posted: Result<(), engine::Error>) -> Option<engine::Error> {
    posted
        .err()
        .filter(|error| *error != engine::Error::QueueFull)
}

/// How a work request ends that the engine does not take: in its turn, and the queue pair with it.
pub(super) fn refusal(error: engine::Error) -> Status {
    match error {
        engine::Error::UnknownStag(_)
        | engine::Error::WrongPd(_)
        | engine::Error::OutOfBounds { .. }
        | engine::Error::NeedsLocalWrite(_)
        | engine::Error::NeedsRight(_)
        | engine::Error::NeedsReadSink(_) => Status::LocalProtection,
        _ => Status::LocalOperation,
    }
}

/// The CQE of a completion, but for what names the queue.
fn cqe_of(completion: &Completion) -> Cqe {
    let opcode = match completion.opcode {
        Opcode::Send => CqeOpcode::Send,
        Opcode::Write => CqeOpcode::Write,
        Opcode::Read => CqeOpcode::Read,
        Opcode::Recv => CqeOpcode::Recv,
        Opcode::LocalInvalidate => CqeOpcode::LocalInvalidate,
        Opcode::Bind => CqeOpcode::Bind,
        Opcode::FastRegister => CqeOpcode::FastRegister,
        Opcode::FetchAdd => CqeOpcode::FetchAdd,
        Opcode::CmpSwap => CqeOpcode::CmpSwap,
    };
    let status = match completion.status {
        Status::Success => CqeStatus::Success,
        Status::Flushed => CqeStatus::Flushed,
        Status::LocalProtection => CqeStatus::LocalProtection,
        Status::RemoteAccess => CqeStatus::RemoteAccess,
        Status::RemoteOperation => CqeStatus::RemoteOperation,
        _ => CqeStatus::LocalOperation,
    };
    Cqe {
        work: completion.wr_id as u32,
        byte_len: completion.byte_len,
        opcode: opcode as u8,
        status: status as u8,
        immediate: completion.immediate.unwrap_or(0),
        invalidated: completion.invalidated.unwrap_or(0),
        ..Cqe::default()
    }
    .with_solicited(completion.solicited)
    .with_has_immediate(completion.immediate.is_some())
    .with_has_invalidated(completion.invalidated.is_some())
}

impl State {
    /// Lets the engine take all that was posted.
    pub(crate) fn take_posted(&mut self, now: u64) {
        self.take_shared();
        while let Some(flow) = self.bells.take() {
            self.look(flow);
            self.take_from(now, flow);
        }
        for at in 0..self.lent.len() {
            self.take_from(now, self.lent[at]);
        }
    }

    /// Who posts to this flow's queues from now on rings.
    fn look(&self, flow: u16) {
        let id = self.flows.get(usize::from(flow)).copied().flatten();
        if let Some(entry) = id.and_then(|id| self.qps.get(&id)) {
            entry.queues.look();
        }
    }

    fn take_from(&mut self, now: u64, flow: u16) {
        let id = self.flows.get(usize::from(flow)).copied().flatten();
        if let Some(id) = id {
            self.take_recvs(now, id);
            self.take_sends(now, id);
            self.patience.posted(self.engine.segments_in_flight(flow));
        }
    }

    fn take_recvs(&mut self, now: u64, id: engine::QpId) {
        while let Some(entry) = self.qps.get_mut(&id) {
            let Some((number, list, used)) = entry.next_recv() else {
                return;
            };
            let wr = engine::RecvWr {
                id: engine_id(number, 1, true),
                sges: &list[..used],
            };
            let mut posted = self.engine.post_recv(now, id, &wr, &mut self.card);
            if let Some(error) = refused(posted) {
                tracing::warn!(flow = id.flow(), number, %error, "receive refused");
                let status = refusal(error);
                posted = self
                    .engine
                    .fail_recv(now, id, wr.id, status, &mut self.card);
            }
            if posted.is_err() {
                return self.put_back(id, |entry| entry.recv_taken = number);
            }
        }
    }

    fn take_sends(&mut self, now: u64, id: engine::QpId) {
        while let Some(entry) = self.qps.get_mut(&id) {
            let (number, taken) = match entry.next_send() {
                None => return,
                Some(Ok(next)) => next,
                Some(Err(bad)) => {
                    let qp_num = entry.queues.qp_num();
                    tracing::error!(qp_num, %bad, "nothing more is taken from this send queue");
                    let _ = self.engine.set_qp_error(now, id, &mut self.card);
                    return;
                }
            };
            let capacity = entry.queues.capacity();
            let mut sges = [engine::Sge::default(); MAX_SGE];
            let payload = match taken.payload() {
                // Their operands, not what they carry.
                _ if has_operands(taken.opcode) => {
                    let sink = atomic(&taken).map(|(_, sink)| sink);
                    sges[0] = sink.unwrap_or_default();
                    Ok(engine::Payload::Sges(&sges[..usize::from(sink.is_some())]))
                }
                Payload::Inline(bytes) if bytes.len() > capacity.inline => {
                    Err(engine::Error::InlineTooLong(bytes.len()))
                }
                Payload::Inline(bytes) => Ok(engine::Payload::Inline(bytes)),
                Payload::Sges(list) if list.len() > capacity.sges => {
                    Err(engine::Error::TooManySges(list.len()))
                }
                Payload::Sges(list) => {
                    for (place, sge) in sges.iter_mut().zip(list) {
                        *place = engine_sge(*sge);
                    }
                    Ok(engine::Payload::Sges(&sges[..list.len()]))
                }
            };
            let signaled = taken.has(SendWqe::SIGNALED);
            let wr_id = engine_id(number, taken.blocks, signaled);
            let mut posted = match (operation(&taken), payload) {
                (None, _) => Err(engine::Error::ImmediatePayload),
                (_, Err(error)) => Err(error),
                (Some(op), Ok(payload)) => {
                    let wr = engine::SendWr {
                        id: wr_id,
                        op,
                        payload,
                        // The room in the queue is given back at each end.
                        signalled: true,
                        fence: taken.has(SendWqe::FENCE),
                    };
                    self.engine.post_send(now, id, &wr, &mut self.card)
                }
            };
            if let Some(error) = refused(posted) {
                tracing::warn!(flow = id.flow(), number, %error, "work request refused");
                let work = (wr_id, engine_opcode(taken.opcode));
                let status = refusal(error);
                posted = self.engine.fail_send(now, id, work, status, &mut self.card);
            }
            if posted.is_err() {
                return self.put_back(id, |entry| entry.send_taken = number);
            }
        }
    }

    /// The engine has no place for it now. A ring may hold more than the engine's queue (small WQEs in room for large ones): it stays where it
    /// is until the next look.
    fn put_back(&mut self, id: engine::QpId, back: impl FnOnce(&mut QpEntry)) {
        if let Some(entry) = self.qps.get_mut(&id) {
            back(entry);
        }
    }

    /// Makes CQEs of the engine's completions; how many there were.
    pub(crate) fn deliver_completions(&mut self) -> usize {
        let mut delivered = 0;
        while let Some(completion) = self.engine.poll_completion() {
            let id = completion.wr_id;
            let signaled = id >> 48 & 1 != 0 || completion.status != Status::Success;
            let blocks = (id >> 32) as u16;
            let cqe = cqe_of(&completion);
            delivered += 1;
            if let Some(srq) = completion.srq {
                self.complete_xrc(srq, id as u32, completion.qp, cqe);
                continue;
            }
            self.complete(completion.qp, id as u32, blocks.into(), signaled, cqe);
        }
        delivered
    }

    fn complete(
        &mut self,
        id: engine::QpId,
        number: u32,
        blocks: u32,
        signaled: bool,
        mut cqe: Cqe,
    ) {
        let Some(entry) = self.qps.get(&id) else {
            return;
        };
        let queues = &entry.queues;
        let done = number.wrapping_add(blocks);
        let is_recv = cqe.opcode == CqeOpcode::Recv as u8;
        // What fails has a CQE, which gives its room back.
        if cqe.status == CqeStatus::Success as u8 {
            match is_recv {
                true if queues.is_shared() => {}
                true => queues.layout().set_recv_done(queues.memory(), done),
                false => queues.layout().set_send_done(queues.memory(), done),
            }
        }
        tracing::trace!(qp_num = queues.qp_num(), ?cqe, signaled, "completion");
        if signaled {
            cqe.qp_num = queues.qp_num();
            cqe.flow = id.flow();
            queues.complete(cqe);
        }
    }
}
