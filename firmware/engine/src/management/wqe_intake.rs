//! Work as it lies in queues in memory: taken for an [`Engine`], and completions as CQEs. Whoever has the engine uses it, in a driver or on a card.

use weft_layout::{AtomicOperands, Binding as Bound, Cqe, SendWqe, WqeOpcode};
use weft_queues::{
    BadWqe, Capacity, Carries, Memory, Payload as Carried, QueuePair, SharedReceive, Taken,
};
use weft_wire::rdmap::Atomic;

use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::verbs::{
    Access, Binding, Completion, Opcode, Payload, QpId, RecvWr, SendOp, SendWr, Sge, SrqId, Status,
    MAX_RECV_SGE, MAX_SGE,
};
use crate::management::engine::Engine;

/// How much was taken of a queue pair's queues.
#[derive(Debug, Default)]
pub struct WqeIntake {
    /// Blocks and elements.
    send: u32,
    recv: u32,
    /// As many as were posted, by the last look.
    send_tail: u32,
    recv_tail: u32,
    /// The send queue holds what nobody understands: nothing more is taken from it.
    broken: bool,
}

/// The queues of a queue pair: what may be posted, what lies where, and the memory.
pub struct IntakeQueues<'a, M: ?Sized> {
    /// Whose they are.
    pub qp: QpId,
    /// What may be posted.
    pub capacity: Capacity,
    /// What lies where.
    pub layout: QueuePair,
    /// Send queue, receive queue and their doorbells.
    pub memory: &'a M,
}

/// A shared receive queue: what lies where, the memory, and how much of it was taken.
pub struct SharedIntake<'a, M: ?Sized> {
    /// Which one.
    pub srq: SrqId,
    /// What lies where.
    pub layout: SharedReceive,
    /// The queue and its doorbell.
    pub memory: &'a M,
    /// Elements taken so far.
    pub taken: &'a mut u32,
}

/// Why work was not done, for a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// The send queue holds what nobody understands.
    Broken(BadWqe),
    /// The engine refused the WQE of this number.
    Send(u32, Error),
    /// The engine refused the element of this number.
    Recv(u32, Error),
}

/// What the engine is to call a work request: number, blocks, whether a CQE is wanted on success.
#[inline]
fn work_id(number: u32, blocks: u32, signaled: bool) -> u64 {
    u64::from(number) | u64::from(blocks) << 32 | u64::from(signaled) << 48
}

/// A completion, for the queues that its work was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Blocks or elements up to it that can be used again.
    pub done: u32,
    /// It was a receive.
    pub is_recv: bool,
    /// It succeeded.
    pub success: bool,
    /// The CQE is wanted.
    pub signaled: bool,
    /// But for the names of the queue pair.
    pub cqe: Cqe,
}

impl Finished {
    /// Of work that was posted by [`Engine::take_sends`] and [`Engine::take_recvs`].
    #[inline]
    pub fn of(completion: &Completion) -> Self {
        let id = completion.wr_id;
        let blocks = (id >> 32) as u16;
        let success = completion.status == Status::Success;
        Self {
            done: (id as u32).wrapping_add(blocks.into()),
            is_recv: completion.opcode == Opcode::Recv,
            success,
            // What fails has a CQE, which gives its room back.
            signaled: id >> 48 & 1 != 0 || !success,
            cqe: cqe_of(completion),
        }
    }
}

/// Memory as the engine names it.
#[inline]
fn sge_of(sge: weft_queues::Sge) -> Sge {
    Sge {
        stag: sge.stag,
        to: sge.to,
        length: sge.length,
    }
}

/// What the engine is to do; `None`: nothing that it can.
#[inline]
fn operation(taken: &Taken) -> Option<SendOp> {
    let solicited = taken.has(SendWqe::SOLICITED);
    let invalidate = taken.has(SendWqe::INVALIDATE).then_some(taken.stag);
    if taken.has_misplaced_flags() {
        return None;
    }
    Some(match taken.opcode {
        WqeOpcode::Send => SendOp::Send {
            solicited,
            invalidate,
        },
        WqeOpcode::XrcSend => SendOp::XrcSend {
            solicited,
            srq: taken.stag,
        },
        WqeOpcode::Immediate => SendOp::Immediate {
            solicited,
            data: taken.to,
        },
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
        Carried::Inline(bytes) => bytes.try_into().ok(),
        Carried::Sges(_) => None,
    }
}

fn binding(taken: &Taken) -> Option<Binding> {
    let record = Bound::from_bytes(&operands(taken)?);
    Some(Binding {
        stag: taken.stag,
        base_to: taken.to,
        region: record.region_stag,
        region_to: record.region_to,
        length: record.length,
        access: Access::from_bits(record.access)?,
    })
}

/// An atomic, and where the old value goes.
#[inline]
fn atomic(taken: &Taken) -> Option<(SendOp, Sge)> {
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
    let sink = Sge {
        stag: record.sink_stag,
        to: record.sink_to,
        length: 8,
    };
    Some((SendOp::Atomic { stag, to, atomic }, sink))
}

/// Why the engine never takes it, if it does not.
fn refused(posted: Result<(), Error>) -> Option<Error> {
    posted.err().filter(|error| *error != Error::QueueFull)
}

/// How a work request ends that the engine does not take: when it would be issued, and the queue pair with it.
fn ends_by(error: Error) -> Status {
    match error {
        Error::UnknownStag(_)
        | Error::WrongPd(_)
        | Error::OutOfBounds { .. }
        | Error::NeedsLocalWrite(_)
        | Error::NeedsRight(_)
        | Error::NeedsReadSink(_) => Status::LocalProtection,
        _ => Status::LocalOperation,
    }
}

/// The CQE of a completion, but for what names the queue.
#[inline]
fn cqe_of(completion: &Completion) -> Cqe {
    Cqe {
        work: completion.wr_id as u32,
        byte_len: completion.byte_len,
        opcode: completion.opcode as u8,
        status: completion.status as u8,
        immediate: completion.immediate.unwrap_or(0),
        invalidated: completion.invalidated.unwrap_or(0),
        ..Cqe::default()
    }
    .with_solicited(completion.solicited)
    .with_has_immediate(completion.immediate.is_some())
    .with_has_invalidated(completion.invalidated.is_some())
}

impl WqeIntake {
    /// IdlePolls how much was posted. That much is taken from now on, and what is posted later is not seen: who posts rings, and then there is another look.
    #[inline]
    pub fn look<M: Memory + ?Sized>(&mut self, queues: &IntakeQueues<'_, M>) {
        (self.send_tail, self.recv_tail) = queues.layout.tails(queues.memory);
    }

    /// Not all that the last look found was taken: there was no place for it.
    pub fn is_left(&self) -> bool {
        (self.send != self.send_tail && !self.broken) || self.recv != self.recv_tail
    }

    /// The next WQE of the send queue.
    fn next_send<M: Memory + ?Sized>(
        &mut self,
        queues: &IntakeQueues<'_, M>,
    ) -> Option<Result<(u32, Taken), BadWqe>> {
        if self.broken {
            return None;
        }
        let tail = self.send_tail;
        let taken = queues.layout.take_send(queues.memory, self.send, tail)?;
        Some(match taken {
            Ok(taken) => {
                let number = self.send;
                self.send = number.wrapping_add(taken.blocks);
                Ok((number, taken))
            }
            Err(bad) => {
                self.broken = true;
                Err(bad)
            }
        })
    }

    /// The next element of the receive queue.
    fn next_recv<M: Memory + ?Sized>(
        &mut self,
        queues: &IntakeQueues<'_, M>,
    ) -> Option<(u32, [Sge; MAX_RECV_SGE], usize)> {
        let number = self.recv;
        let posted = self.recv_tail.wrapping_sub(number);
        // A tail that is further away than the ring is long says nothing.
        if posted == 0 || posted > queues.layout.recv_elements() {
            return None;
        }
        self.recv = number.wrapping_add(1);
        let element = queues.layout.take_recv(queues.memory, number);
        let used = element.iter().take_while(|sge| sge.length > 0).count();
        Some((number, element.map(sge_of), used))
    }
}

impl Engine {
    /// Takes all receive elements that [`WqeIntake::look`] found and for which there is a place. The rest stay where they are.
    pub fn take_recvs<M: Memory + ?Sized, P: Port>(
        &mut self,
        now: u64,
        posted: &mut WqeIntake,
        queues: &IntakeQueues<'_, M>,
        port: &mut P,
        mut tell: impl FnMut(NotDone),
    ) {
        while let Some((number, list, used)) = posted.next_recv(queues) {
            let wr = RecvWr {
                id: work_id(number, 1, true),
                sges: &list[..used],
            };
            let mut done = self.post_recv(now, queues.qp, &wr, port);
            if let Some(error) = refused(done) {
                tell(NotDone::Recv(number, error));
                done = self.fail_recv(now, queues.qp, wr.id, ends_by(error), port);
            }
            if done.is_err() {
                posted.recv = number;
                return;
            }
        }
    }

    /// Takes all that was posted to a shared receive queue. An element that is refused ends in its slot's completion, and `tell` hears of it.
    pub fn take_shared_recvs<M: Memory + ?Sized>(
        &mut self,
        posted: SharedIntake<'_, M>,
        mut tell: impl FnMut(NotDone),
    ) {
        let SharedIntake {
            srq,
            layout,
            memory,
            taken,
        } = posted;
        while let Some((slot, list)) = layout.take(memory, *taken) {
            let list = list.map(sge_of);
            let used = list.iter().take_while(|sge| sge.length > 0).count();
            let wr = RecvWr {
                id: work_id(slot, 1, true),
                sges: &list[..used],
            };
            if let Err(error) = self.post_srq_recv(srq, &wr) {
                tell(NotDone::Recv(slot, error));
                let failed = self.fail_srq_recv(srq, wr.id, ends_by(error));
                if failed.is_err() {
                    // It has no room: whoever posts has more slots than he said.
                    break;
                }
            }
            *taken = taken.wrapping_add(1);
        }
    }

    /// As [`take_recvs`](Self::take_recvs), of WQEs. A ring may hold more than the engine's queue (small WQEs in room for large ones).
    pub fn take_sends<M: Memory + ?Sized, P: Port>(
        &mut self,
        now: u64,
        posted: &mut WqeIntake,
        queues: &IntakeQueues<'_, M>,
        port: &mut P,
        mut tell: impl FnMut(NotDone),
    ) {
        while let Some(next) = posted.next_send(queues) {
            let (number, taken) = match next {
                Ok(next) => next,
                Err(bad) => {
                    tell(NotDone::Broken(bad));
                    let _ = self.set_qp_error(now, queues.qp, port);
                    return;
                }
            };
            let mut sges = [Sge::default(); MAX_SGE];
            let payload = match taken.payload() {
                // Their operands, not what they carry.
                _ if taken.operation().carries == Carries::Operands => {
                    let sink = atomic(&taken).map(|(_, sink)| sink);
                    sges[0] = sink.unwrap_or_default();
                    Ok(Payload::Sges(&sges[..usize::from(sink.is_some())]))
                }
                Carried::Inline(bytes) if bytes.len() > queues.capacity.inline => {
                    Err(Error::InlineTooLong(bytes.len()))
                }
                Carried::Inline(bytes) => Ok(Payload::Inline(bytes)),
                Carried::Sges(list) if list.len() > queues.capacity.sges => {
                    Err(Error::TooManySges(list.len()))
                }
                Carried::Sges(list) => {
                    for (place, sge) in sges.iter_mut().zip(list) {
                        *place = sge_of(*sge);
                    }
                    Ok(Payload::Sges(&sges[..list.len()]))
                }
            };
            let wr_id = work_id(number, taken.blocks, taken.has(SendWqe::SIGNALED));
            let mut done = match (operation(&taken), payload) {
                (None, _) => Err(Error::NoPayloadAllowed),
                (_, Err(error)) => Err(error),
                (Some(op), Ok(payload)) => {
                    let wr = SendWr {
                        id: wr_id,
                        op,
                        payload,
                        // The room in the queue is given back at each end.
                        signalled: true,
                        fence: taken.has(SendWqe::FENCE),
                    };
                    self.post_send(now, queues.qp, &wr, port)
                }
            };
            if let Some(error) = refused(done) {
                tell(NotDone::Send(number, error));
                let work = (wr_id, taken.opcode);
                done = self.fail_send(now, queues.qp, work, ends_by(error), port);
            }
            if done.is_err() {
                posted.send = number;
                return;
            }
        }
    }
}
