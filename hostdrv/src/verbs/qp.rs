//! Reliable-connected queue pairs.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_engine::{
    self as engine, Access, Opcode, Payload, QpId, QpState, SendOp, TerminateCode, MAX_INLINE,
    MAX_SGE,
};

use super::cq::{Cq, CqInner, Wc, WcStatus};
use super::error::access_name;
use super::pd::Pd;
use super::wr::{RecvWr, SendWr, Sge, SgeList};
use super::VerbsError;
use crate::device::{Device, State};
use crate::error::DeviceError;

/// Capacities of a queue pair (`ibv_qp_cap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpCap {
    /// Work requests under way in the send queue, 1 to 32768.
    pub max_send_wr: u32,
    /// Work requests in the receive queue, 1 to 32768.
    pub max_recv_wr: u32,
    /// SGEs of a send work request, 1 to 4.
    pub max_send_sge: usize,
    /// SGEs of a receive, 1 to 4.
    pub max_recv_sge: usize,
    /// Bytes inline, at most 64.
    pub max_inline_data: usize,
}

impl Default for QpCap {
    fn default() -> Self {
        Self {
            max_send_wr: 64,
            max_recv_wr: 64,
            max_send_sge: MAX_SGE,
            max_recv_sge: MAX_SGE,
            max_inline_data: MAX_INLINE,
        }
    }
}

/// What a new queue pair is to be like (`ibv_qp_init_attr`).
#[derive(Clone, Debug)]
pub struct QpInit {
    /// Where the send queue completes.
    pub send_cq: Cq,
    /// Where the receive queue completes; may be the same.
    pub recv_cq: Cq,
    /// Capacities.
    pub cap: QpCap,
    /// Every send work request is signaled.
    pub sq_sig_all: bool,
}

impl QpInit {
    /// One completion queue for both, default capacities.
    pub fn new(cq: &Cq) -> Self {
        Self {
            send_cq: cq.clone(),
            recv_cq: cq.clone(),
            cap: QpCap::default(),
            sq_sig_all: false,
        }
    }
}

/// What happened outside any work request (`ibv_async_event`).
///
/// Of the standard's others none can occur: completion queues do not overrun (`CQ_ERR`: work that could is refused), there are no shared
/// receive queues (`SRQ_*`, `QP_LAST_WQE_REACHED`), the send queue has no drained state (`SQ_DRAINED`), nothing migrates
/// (`PATH_MIG*`), a request that no queue pair takes is the connection manager's (`QP_REQ_ERR`), and the card has no register of its
/// link's state (`PORT_ACTIVE`, `PORT_ERR`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncEvent {
    /// The queue pair failed; everything in it was flushed.
    QpFatal {
        /// Which ([`Qp::qp_num`]).
        qp_num: u32,
        /// The Terminate that ended it, if one did.
        terminate: Option<TerminateCode>,
        /// True if the peer sent it, false if this side did.
        received: bool,
    },
    /// The peer tried to reach what it may not (`IBV_EVENT_QP_ACCESS_ERR`). Comes after `QpFatal`.
    QpAccessError {
        /// Which.
        qp_num: u32,
        /// The Terminate that this side sent.
        terminate: TerminateCode,
    },
    /// The peer's first message arrived at a queue pair whose connection this side accepted (`IBV_EVENT_COMM_EST`).
    CommEstablished {
        /// Which.
        qp_num: u32,
    },
    /// The device failed, and does no more (`IBV_EVENT_DEVICE_FATAL`).
    DeviceFatal(DeviceError),
}

/// A queue pair. Clones are the same one; when the last one is dropped, its connection is aborted
/// and it is destroyed.
#[derive(Clone)]
pub struct Qp {
    inner: Arc<QpInner>,
}

struct QpInner {
    pd: Pd,
    id: QpId,
    qp_num: u32,
    cap: QpCap,
    sq_sig_all: bool,
    send_cq: Cq,
    recv_cq: Cq,
}

/// The device's side of a queue pair.
pub(crate) struct QpEntry {
    qp_num: u32,
    send: Queue,
    recv: Queue,
    /// A connection was asked for, so work may be posted.
    pub(crate) bound: bool,
}

/// Work that is under way in one queue, oldest first.
struct Queue {
    cq: Arc<CqInner>,
    work: VecDeque<Work>,
    next_number: u64,
}

struct Work {
    /// What the engine knows it by.
    number: u64,
    wr_id: u64,
    signaled: bool,
    /// Their regions are kept alive.
    sges: SgeList,
}

impl Queue {
    fn new(cq: &Cq) -> Self {
        Self {
            cq: cq.inner().clone(),
            work: VecDeque::new(),
            next_number: 0,
        }
    }

    fn accepted(&mut self, wr_id: u64, signaled: bool, sges: SgeList) {
        self.work.push_back(Work {
            number: self.next_number,
            wr_id,
            signaled,
            sges,
        });
        self.next_number += 1;
    }
}

impl State {
    /// Moves the engine's completions to the completion queues; how many.
    pub(crate) fn deliver_completions(&mut self) -> usize {
        let mut delivered = 0;
        while let Some(completion) = self.engine.poll_completion() {
            let Some(entry) = self.qps.get_mut(&completion.qp) else {
                continue;
            };
            let queue = match completion.opcode {
                Opcode::Recv => &mut entry.recv,
                Opcode::Send | Opcode::Write | Opcode::Read => &mut entry.send,
            };
            let Some(at) = queue
                .work
                .iter()
                .position(|work| work.number == completion.wr_id)
            else {
                tracing::error!(?completion, "completion of work that is not under way");
                continue;
            };
            let Some(work) = queue.work.remove(at) else {
                continue;
            };
            let wc = Wc::new(entry.qp_num, work.wr_id, &completion);
            tracing::trace!(?wc, signaled = work.signaled, "completion");
            delivered += 1;
            if work.signaled || wc.status != WcStatus::Success {
                queue.cq.push(wc);
            } else {
                queue.cq.forget(1);
            }
            // The last use of a region may be this one, and its drop wants the lock.
            self.release(work.sges);
        }
        delivered
    }

    /// The engine says that a queue pair failed.
    pub(crate) fn qp_failed(&mut self, qp: QpId, terminate: Option<TerminateCode>, received: bool) {
        let Some(entry) = self.qps.get(&qp) else {
            return;
        };
        let qp_num = entry.qp_num;
        tracing::warn!(qp_num, ?terminate, received, "queue pair failed");
        self.tell(AsyncEvent::QpFatal {
            qp_num,
            terminate,
            received,
        });
        if let (Some(terminate), false) = (terminate, received) {
            if is_access_error(terminate) {
                self.tell(AsyncEvent::QpAccessError { qp_num, terminate });
            }
        }
    }

    /// The peer of a queue pair whose connection was accepted has shown that it has the answer.
    pub(crate) fn qp_established(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            let qp_num = entry.qp_num;
            self.tell(AsyncEvent::CommEstablished { qp_num });
        }
    }
}

/// Is it that the peer tried what it may not: remote protection errors of RDMAP (RFC 5040 §7.2), tagged buffer errors of DDP
/// (RFC 5041 §8.2)?
fn is_access_error(terminate: TerminateCode) -> bool {
    matches!(terminate.0 >> 8, 0x01 | 0x11)
}

fn check_size(
    what: &'static str,
    given: u64,
    max: u64,
    allowed: &'static str,
) -> Result<(), VerbsError> {
    if (1..=max).contains(&given) {
        return Ok(());
    }
    Err(VerbsError::InvalidSize {
        what,
        given,
        allowed,
    })
}

impl Qp {
    pub(super) fn create(pd: &Pd, init: &QpInit) -> Result<Self, VerbsError> {
        let device = pd.device();
        let cap = init.cap;
        check_size("max_send_wr", cap.max_send_wr.into(), 32768, "1 to 32768")?;
        check_size("max_recv_wr", cap.max_recv_wr.into(), 32768, "1 to 32768")?;
        check_size(
            "max_send_sge",
            cap.max_send_sge as u64,
            MAX_SGE as u64,
            "1 to 4",
        )?;
        check_size(
            "max_recv_sge",
            cap.max_recv_sge as u64,
            MAX_SGE as u64,
            "1 to 4",
        )?;
        if cap.max_inline_data > MAX_INLINE {
            return Err(VerbsError::InvalidSize {
                what: "max_inline_data",
                given: cap.max_inline_data as u64,
                allowed: "0 to 64",
            });
        }
        if !init.send_cq.device().is(device) || !init.recv_cq.device().is(device) {
            return Err(VerbsError::WrongDevice {
                what: "completion queue",
            });
        }
        let config = engine::QpConfig {
            pd: pd.id(),
            send_depth: cap.max_send_wr,
            recv_depth: cap.max_recv_wr,
            max_sge: cap.max_send_sge.max(cap.max_recv_sge) as u8,
        };
        let mut state = device.lock();
        state.check_fault()?;
        let id = device.turn(&mut state, |engine, _, card| {
            engine.create_qp(&config, card)
        })?;
        let qp_num = state.take_qp_num();
        let entry = QpEntry {
            qp_num,
            send: Queue::new(&init.send_cq),
            recv: Queue::new(&init.recv_cq),
            bound: false,
        };
        state.qps.insert(id, entry);
        let turn = state.finish_turn();
        drop(state);
        let qp = Self {
            inner: Arc::new(QpInner {
                pd: pd.clone(),
                id,
                qp_num,
                cap,
                sq_sig_all: init.sq_sig_all,
                send_cq: init.send_cq.clone(),
                recv_cq: init.recv_cq.clone(),
            }),
        };
        turn?;
        tracing::debug!(
            device = device.name(),
            qp_num,
            flow = id.flow(),
            ?cap,
            "queue pair"
        );
        Ok(qp)
    }

    /// Its number, in completions and messages.
    pub fn qp_num(&self) -> u32 {
        self.inner.qp_num
    }

    /// Its protection domain.
    pub fn pd(&self) -> &Pd {
        &self.inner.pd
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.inner.pd.device()
    }

    /// The card's flow that it has.
    pub fn flow(&self) -> u16 {
        self.inner.id.flow()
    }

    /// Where its send queue completes.
    pub fn send_cq(&self) -> &Cq {
        &self.inner.send_cq
    }

    /// Where its receive queue completes.
    pub fn recv_cq(&self) -> &Cq {
        &self.inner.recv_cq
    }

    /// Its capacities.
    pub fn cap(&self) -> QpCap {
        self.inner.cap
    }

    pub(crate) fn id(&self) -> QpId {
        self.inner.id
    }

    /// Its state (`ibv_query_qp`).
    #[tracing::instrument(name = "query_qp", level = "debug", skip_all, fields(qp_num = self.qp_num()))]
    pub fn state(&self) -> Result<QpState, VerbsError> {
        Ok(self.device().lock().engine.qp_state(self.id())?)
    }

    /// Moves it to the error state (`ibv_modify_qp`, `IBV_QPS_ERR`): its connection is aborted,
    /// everything in it is flushed.
    #[tracing::instrument(name = "modify_qp", level = "debug", skip_all, fields(qp_num = self.qp_num()))]
    pub fn modify_to_error(&self) -> Result<(), VerbsError> {
        let id = self.id();
        self.device()
            .with_engine(|engine, now, card| engine.set_qp_error(now, id, card))?
            .map_err(VerbsError::from)
    }

    /// Checks the SGEs and gives them as the engine wants them.
    fn check_sges(
        &self,
        sges: &SgeList,
        max: usize,
        needs: Access,
        work: &'static str,
    ) -> Result<([engine::Sge; MAX_SGE], usize), VerbsError> {
        if sges.given() > max {
            return Err(VerbsError::TooManySges {
                given: sges.given(),
                max,
            });
        }
        let mut list = [engine::Sge::default(); MAX_SGE];
        let mut used = 0;
        let mut total = 0;
        for sge in sges.iter() {
            let Sge { mr, offset, length } = sge;
            let lkey = mr.lkey();
            if !mr.pd().device().is(self.device()) {
                return Err(VerbsError::WrongDevice { what: "region" });
            }
            if !mr.pd().is(self.pd()) {
                return Err(VerbsError::WrongPd {
                    lkey,
                    region_pd: mr.pd().id().number(),
                    qp_pd: self.pd().id().number(),
                });
            }
            let region = mr.len() as u64;
            if offset
                .checked_add((*length).into())
                .is_none_or(|end| end > region)
            {
                return Err(VerbsError::SgeBeyondMr {
                    lkey,
                    offset: *offset,
                    length: *length,
                    region,
                });
            }
            if !mr.access().contains(needs) {
                return Err(VerbsError::NoAccess {
                    lkey,
                    has: mr.access().bits(),
                    needs: needs.bits(),
                    name: access_name(needs),
                    work,
                });
            }
            total += u64::from(*length);
            // An element of no bytes would end a receive element's list.
            if *length > 0 {
                list[used] = engine::Sge {
                    stag: lkey,
                    to: mr.addr() + offset,
                    length: *length,
                };
                used += 1;
            }
        }
        if total > u32::MAX.into() {
            return Err(VerbsError::MessageTooLong(total));
        }
        Ok((list, used))
    }

    /// What it means to the caller that the engine refused a work request; `full`: if its queue is full.
    fn refused(
        &self,
        operation: &'static str,
        wr_id: u64,
        state: QpState,
        full: VerbsError,
        error: engine::Error,
    ) -> VerbsError {
        let error = match error {
            engine::Error::QueueFull => full,
            engine::Error::WrongQpState => VerbsError::WrongQpState { operation, state },
            error => error.into(),
        };
        tracing::debug!(qp_num = self.qp_num(), wr_id, %error, operation, "refused");
        error
    }

    /// Posts a work request to the send queue. Before the connection is established (but asked for) it waits
    /// there; after it failed it completes as flushed.
    #[tracing::instrument(name = "post_send", level = "trace", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    pub fn post_send(&self, wr: SendWr) -> Result<(), VerbsError> {
        let QpInner {
            cap,
            id,
            sq_sig_all,
            ..
        } = &*self.inner;
        let work = wr.work();
        if let Some(flag) = wr.misplaced {
            return Err(VerbsError::MeaninglessFlag { flag, work });
        }
        let is_read = matches!(wr.op, SendOp::Read { .. });
        let needs = if is_read {
            Access::READ_SINK
        } else {
            Access::NONE
        };
        let (list, used) = self.check_sges(&wr.sg_list, cap.max_send_sge, needs, work)?;
        let payload = match &wr.inline {
            None => Payload::Sges(&list[..used]),
            Some(_) if is_read => return Err(VerbsError::InlineWith { with: "a Read" }),
            Some(_) if wr.sg_list.given() > 0 => {
                return Err(VerbsError::InlineWith { with: "SGEs" })
            }
            Some(inline) if inline.given() > cap.max_inline_data => {
                return Err(VerbsError::InlineTooLong {
                    given: inline.given(),
                    max: cap.max_inline_data,
                })
            }
            Some(inline) => Payload::Inline(inline.bytes()),
        };

        let device = self.device();
        let mut state = device.lock();
        state.check_fault()?;
        let queue_state = state.engine.qp_state(*id)?;
        let Some(entry) = state.qps.get_mut(id) else {
            return Err(engine::Error::UnknownQp.into());
        };
        if queue_state == QpState::Idle && !entry.bound {
            return Err(VerbsError::WrongQpState {
                operation: "post_send",
                state: queue_state,
            });
        }
        let full = VerbsError::SendQueueFull {
            depth: cap.max_send_wr,
        };
        if entry.send.work.len() >= cap.max_send_wr as usize {
            return Err(full);
        }
        let number = entry.send.next_number;
        let cq = entry.send.cq.clone();
        cq.promise()?;
        let engine_wr = engine::SendWr {
            id: number,
            op: wr.op,
            payload,
            // The driver filters: it must hear of every end, to let go of the regions.
            signalled: true,
            fence: wr.fence,
        };
        let posted = device.turn(&mut state, |engine, now, card| {
            engine.post_send(now, *id, &engine_wr, card)
        });
        if let Err(error) = posted {
            cq.forget(1);
            return Err(self.refused("post_send", wr.wr_id, queue_state, full, error));
        }
        tracing::trace!(qp_num = self.qp_num(), wr_id = wr.wr_id, work, "post_send");
        let signaled = wr.signaled || *sq_sig_all;
        if let Some(entry) = state.qps.get_mut(id) {
            entry.send.accepted(wr.wr_id, signaled, wr.sg_list);
        }
        Ok(state.finish_turn()?)
    }

    /// Posts a work request to the receive queue; possible before the connection is asked for.
    #[tracing::instrument(name = "post_recv", level = "trace", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    pub fn post_recv(&self, wr: RecvWr) -> Result<(), VerbsError> {
        let QpInner { cap, id, .. } = &*self.inner;
        let (list, used) = self.check_sges(
            &wr.sg_list,
            cap.max_recv_sge,
            Access::LOCAL_WRITE,
            "receive",
        )?;

        let device = self.device();
        let mut state = device.lock();
        state.check_fault()?;
        let queue_state = state.engine.qp_state(*id)?;
        let Some(entry) = state.qps.get_mut(id) else {
            return Err(engine::Error::UnknownQp.into());
        };
        let full = VerbsError::RecvQueueFull {
            depth: cap.max_recv_wr,
        };
        if entry.recv.work.len() >= cap.max_recv_wr as usize {
            return Err(full);
        }
        let number = entry.recv.next_number;
        let cq = entry.recv.cq.clone();
        cq.promise()?;
        let engine_wr = engine::RecvWr {
            id: number,
            sges: &list[..used],
        };
        let posted = device.turn(&mut state, |engine, now, card| {
            engine.post_recv(now, *id, &engine_wr, card)
        });
        if let Err(error) = posted {
            cq.forget(1);
            return Err(self.refused("post_recv", wr.wr_id, queue_state, full, error));
        }
        tracing::trace!(qp_num = self.qp_num(), wr_id = wr.wr_id, "post_recv");
        if let Some(entry) = state.qps.get_mut(id) {
            entry.recv.accepted(wr.wr_id, true, wr.sg_list);
        }
        Ok(state.finish_turn()?)
    }
}

impl std::fmt::Debug for Qp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Qp")
            .field("qp_num", &self.inner.qp_num)
            .field("flow", &self.inner.id.flow())
            .finish()
    }
}

impl Drop for QpInner {
    fn drop(&mut self) {
        let _span = tracing::debug_span!("destroy_qp", qp_num = self.qp_num).entered();
        let device = self.pd.device();
        let mut state = device.lock();
        if state.deliver_completions() > 0 {
            device.announce();
        }
        let gone = device.turn(&mut state, |engine, now, card| {
            engine.destroy_qp(now, self.id, card)
        });
        tracing::debug!(qp_num = self.qp_num, ?gone, "queue pair destroyed");
        if let Some(entry) = state.qps.remove(&self.id) {
            for queue in [entry.send, entry.recv] {
                queue.cq.forget(queue.work.len());
                queue.cq.remove_qp(self.qp_num);
                // Jobs that refer to these regions may still be in the ring; regions bury their memory when
                // they go, after the lock is released.
                state.release(queue.work);
            }
        }
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "queue pair of a device that failed");
        }
    }
}
