//! Reliable-connected queue pairs.

use std::sync::Arc;

use weft_engine::commands::{self, Answer, Refusal};
use weft_engine::{
    self as engine, Access, QpId, QpState, Rung, TerminateCode, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
use weft_queues::{Capacity, Payload, SendWqe, Wqe, WqeOpcode};

use super::cq::Cq;
use super::error::access_name;
use super::pd::Pd;
use super::rings::{Rings, Short};
use super::taking::QpEntry;
use super::wr::{self, RecvWr, SendWr, Sge};
use super::VerbsError;
use crate::device::{Device, State};
use crate::error::DeviceError;

/// Work requests that a queue can have.
pub(super) const MAX_WORK: u32 = 32768;

/// Capacities of a queue pair (`ibv_qp_cap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpCap {
    /// Work requests under way in the send queue, 1 to 32768.
    pub max_send_wr: u32,
    /// Work requests in the receive queue, 1 to 32768.
    pub max_recv_wr: u32,
    /// SGEs of a send work request, 1 to 16. A segment takes from four at most: what is scattered more makes more segments.
    pub max_send_sge: usize,
    /// SGEs of a receive, 1 to 4.
    pub max_recv_sge: usize,
    /// Bytes inline, at most 256. A segment has 64 of them at most.
    pub max_inline_data: usize,
}

impl Default for QpCap {
    fn default() -> Self {
        Self {
            max_send_wr: 64,
            max_recv_wr: 64,
            max_send_sge: 4,
            max_recv_sge: MAX_RECV_SGE,
            max_inline_data: 64,
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
    /// Its queues can be lent to another process ([`Qp::lend`]).
    pub lendable: bool,
    /// How much of its data path the card does; `None`: as the device says ([`DeviceConfig::rung`](crate::DeviceConfig::rung)).
    pub rung: Option<Rung>,
}

impl QpInit {
    /// One completion queue for both, default capacities.
    pub fn new(cq: &Cq) -> Self {
        Self {
            send_cq: cq.clone(),
            recv_cq: cq.clone(),
            cap: QpCap::default(),
            sq_sig_all: false,
            lendable: false,
            rung: None,
        }
    }

    /// The same, on this rung of the partition ladder. A rung that the card or the host cannot give is refused, with the reason.
    pub fn rung(mut self, rung: Rung) -> Self {
        self.rung = Some(rung);
        self
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
    rings: Arc<Rings>,
    cap: QpCap,
    sq_sig_all: bool,
    send_cq: Cq,
    recv_cq: Cq,
}

impl State {
    /// The engine says that a queue pair failed.
    pub(crate) fn qp_failed(&mut self, qp: QpId, terminate: Option<TerminateCode>, received: bool) {
        let Some(entry) = self.qps.get(&qp) else {
            return;
        };
        let qp_num = entry.rings.qp_num;
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

    /// The connection of a queue pair stands, and the peer takes no Reads.
    pub(crate) fn refuse_reads(&self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            entry.rings.refuse_reads();
        }
    }

    /// The peer of a queue pair whose connection was accepted has shown that it has the answer.
    pub(crate) fn qp_established(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            let qp_num = entry.rings.qp_num;
            self.tell(AsyncEvent::CommEstablished { qp_num });
        }
    }
}

/// Is it that the peer tried what it may not: remote protection errors of RDMAP (RFC 5040 §7.2), tagged buffer errors of DDP
/// (RFC 5041 §8.2)?
fn is_access_error(terminate: TerminateCode) -> bool {
    matches!(terminate.0 >> 8, 0x01 | 0x11)
}

/// The rights that work of the send queue needs to its own memory.
#[inline(always)]
fn needs(opcode: WqeOpcode) -> Access {
    match opcode {
        WqeOpcode::Read => Access::READ_SINK,
        _ => Access::NONE,
    }
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
        for (what, given) in [
            ("max_send_wr", cap.max_send_wr),
            ("max_recv_wr", cap.max_recv_wr),
        ] {
            check_size(what, given.into(), MAX_WORK.into(), "1 to 32768")?;
        }
        check_size(
            "max_send_sge",
            cap.max_send_sge as u64,
            MAX_SGE as u64,
            "1 to 16",
        )?;
        check_size(
            "max_recv_sge",
            cap.max_recv_sge as u64,
            MAX_RECV_SGE as u64,
            "1 to 4",
        )?;
        if cap.max_inline_data > MAX_INLINE {
            return Err(VerbsError::InvalidSize {
                what: "max_inline_data",
                given: cap.max_inline_data as u64,
                allowed: "0 to 256",
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
            rung: init.rung,
        };
        let mut state = device.lock();
        state.check_fault()?;
        let create = commands::create_qp(&config);
        let answer = device.command_in(&mut state, &create, &[]);
        let answer = answer.map_err(|refusal| match refusal {
            Refusal::Engine(engine::Error::Rung(rung, why)) => VerbsError::Rung { rung, why },
            refusal => refusal.into(),
        })?;
        let id = QpId::from_number(answer.qp);
        let qp_num = state.take_qp_num();
        let capacity = Capacity {
            send: cap.max_send_wr,
            sges: cap.max_send_sge,
            inline: cap.max_inline_data,
            recv: cap.max_recv_wr,
        };
        let (send_cq, recv_cq) = (init.send_cq.inner(), init.recv_cq.inner());
        let cqs = [send_cq.clone(), recv_cq.clone()];
        let deferred = device.is_deferred();
        let rings = match Rings::new(id, qp_num, capacity, cqs, init.lendable, deferred) {
            Ok(rings) => Arc::new(rings),
            Err(error) => {
                let _ = device.command_in(&mut state, &commands::destroy_qp(id), &[]);
                return Err(error);
            }
        };
        send_cq.join(&rings);
        if !Arc::ptr_eq(send_cq, recv_cq) {
            recv_cq.join(&rings);
        }
        state.add_qp(id, QpEntry::new(rings.clone()));
        let turn = state.finish_turn();
        drop(state);
        let qp = Self {
            inner: Arc::new(QpInner {
                pd: pd.clone(),
                rings,
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
        self.inner.rings.qp_num
    }

    /// Its protection domain.
    #[inline(always)]
    pub fn pd(&self) -> &Pd {
        &self.inner.pd
    }

    /// Its device.
    #[inline(always)]
    pub fn device(&self) -> &Device {
        self.inner.pd.device()
    }

    /// The card's flow that it has.
    #[inline(always)]
    pub fn flow(&self) -> u16 {
        self.inner.rings.flow()
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

    /// Is every send work request signaled?
    pub(super) fn signals_all(&self) -> bool {
        self.inner.sq_sig_all
    }

    #[inline(always)]
    pub(super) fn rings(&self) -> &Rings {
        &self.inner.rings
    }

    pub(crate) fn id(&self) -> QpId {
        self.inner.rings.id
    }

    /// Its state (`ibv_query_qp`).
    #[tracing::instrument(name = "query_qp", level = "debug", skip_all, fields(qp_num = self.qp_num()))]
    pub fn state(&self) -> Result<QpState, VerbsError> {
        Ok(commands::state_of(&self.ask()?)?)
    }

    /// Asks for its state and connection.
    pub(super) fn ask(&self) -> Result<Answer, VerbsError> {
        let (device, query) = (self.device(), commands::query_qp(self.id()));
        let now = device.now();
        Ok(device.lock().command(now, &query, &[])?)
    }

    /// May an SGE be used so?
    #[inline(always)]
    fn is_usable(&self, sge: &Sge<'_>, needs: Access) -> bool {
        sge.mr.pd().is(self.pd()) && sge.is_inside() && sge.mr.access().contains(needs)
    }

    /// An SGE as the queue has it; `work`: what it is of, `None`: a receive.
    fn check_sge(
        &self,
        sge: Sge<'_>,
        needs: Access,
        work: Option<WqeOpcode>,
    ) -> Result<weft_queues::Sge, VerbsError> {
        match self.is_usable(&sge, needs) {
            true => Ok(sge.queued()),
            false => Err(self.refuse_sge(sge, needs, work)),
        }
    }

    /// Why an SGE is refused.
    #[cold]
    fn refuse_sge(&self, sge: Sge<'_>, needs: Access, work: Option<WqeOpcode>) -> VerbsError {
        let Sge { mr, offset, length } = sge;
        let lkey = mr.lkey();
        if !mr.pd().device().is(self.device()) {
            return VerbsError::WrongDevice { what: "region" };
        }
        if !mr.pd().is(self.pd()) {
            return VerbsError::WrongPd {
                lkey,
                region_pd: mr.pd().id().number(),
                qp_pd: self.pd().id().number(),
            };
        }
        if !sge.is_inside() {
            return VerbsError::SgeBeyondMr {
                lkey,
                offset,
                length,
                region: mr.len() as u64,
            };
        }
        VerbsError::NoAccess {
            lkey,
            has: mr.access().bits(),
            needs: needs.bits(),
            name: access_name(needs),
            work: work.map_or("receive", wr::name),
        }
    }

    /// Several SGEs as the queue has them, those of no bytes left out (one would end a receive element's list).
    fn check_sges<'l>(
        &self,
        list: &'l mut [weft_queues::Sge; MAX_SGE],
        sges: &[Sge<'_>],
        needs: Access,
        work: Option<WqeOpcode>,
    ) -> Result<&'l [weft_queues::Sge], VerbsError> {
        let mut total = 0;
        let mut used = 0;
        for sge in sges {
            let sge = self.check_sge(*sge, needs, work)?;
            total += u64::from(sge.length);
            if sge.length > 0 {
                list[used] = sge;
                used += 1;
            }
        }
        if total > u32::MAX.into() {
            return Err(VerbsError::MessageTooLong(total));
        }
        Ok(&list[..used])
    }

    /// Work may be posted: a connection was asked for, or is over already.
    #[cold]
    fn check_state(&self, operation: &'static str) -> Result<(), VerbsError> {
        match self.state()? {
            QpState::Idle => Err(VerbsError::WrongQpState {
                operation,
                state: QpState::Idle,
            }),
            _ => Ok(()),
        }
    }

    /// Posts a work request to the send queue. Before the connection is established (but asked for) it waits
    /// there; after it failed it completes as flushed.
    ///
    /// It writes a WQE and rings; whoever has the device's lock, or this thread if nobody has it, sends ([`DeviceConfig::deferred`]:
    /// the next [`Device::progress`] does).
    ///
    /// [`DeviceConfig::deferred`]: crate::DeviceConfig::deferred
    #[inline(always)]
    pub fn post_send(&self, wr: SendWr<'_>) -> Result<(), VerbsError> {
        if tracing::level_enabled!(tracing::Level::TRACE) {
            return self.post_send_traced(&wr.copied());
        }
        match self.put_send_short(&wr) {
            Short::Posted => Ok(()),
            Short::Untold => self.told(true),
            Short::No => self.post_send_long(&wr.copied()),
        }
    }

    #[cold]
    #[tracing::instrument(name = "post_send", level = "trace", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    fn post_send_traced(&self, wr: &SendWr<'_>) -> Result<(), VerbsError> {
        self.post_send_long(wr)
    }

    #[inline(never)]
    fn post_send_long(&self, wr: &SendWr<'_>) -> Result<(), VerbsError> {
        let untold = self.put_send(wr)?;
        self.told(untold)
    }

    /// Who takes is told of what was posted.
    #[inline(never)]
    fn told(&self, untold: bool) -> Result<(), VerbsError> {
        Ok(self.device().posted(self.flow(), untold)?)
    }

    /// Posts work requests to the send queue, one after the other, and rings once. The first that is refused ends the list: `Err` has how
    /// many were posted before it, and why (`bad_wr` of `ibv_post_send`).
    #[tracing::instrument(name = "post_send", level = "trace", skip_all, fields(qp_num = self.qp_num()))]
    #[inline(always)]
    pub fn post_send_list<'a>(
        &self,
        list: impl IntoIterator<Item = SendWr<'a>>,
    ) -> Result<(), (usize, VerbsError)> {
        let (mut posted, mut tell) = (0, Short::Posted);
        for wr in list {
            let put = match self.put_send_short(&wr) {
                Short::No => self.put_send(&wr.copied()),
                Short::Posted => {
                    posted += 1;
                    continue;
                }
                Short::Untold => Ok(true),
            };
            match put {
                Ok(untold) => tell = tell.and(untold),
                Err(error) => return self.end_list(posted, tell, Err(error)),
            }
            posted += 1;
        }
        self.end_list(posted, tell, Ok(()))
    }

    /// Posts work requests to the receive queue, as [`post_send_list`](Self::post_send_list).
    #[tracing::instrument(name = "post_recv", level = "trace", skip_all, fields(qp_num = self.qp_num()))]
    #[inline(always)]
    pub fn post_recv_list<'a>(
        &self,
        list: impl IntoIterator<Item = RecvWr<'a>>,
    ) -> Result<(), (usize, VerbsError)> {
        let (mut posted, mut tell) = (0, Short::Posted);
        for wr in list {
            let put = match self.put_recv_short(&wr) {
                Short::No => self.put_recv(&wr.copied()),
                Short::Posted => {
                    posted += 1;
                    continue;
                }
                Short::Untold => Ok(true),
            };
            match put {
                Ok(untold) => tell = tell.and(untold),
                Err(error) => return self.end_list(posted, tell, Err(error)),
            }
            posted += 1;
        }
        self.end_list(posted, tell, Ok(()))
    }

    /// Who takes is told of a list, if need be.
    #[inline(never)]
    fn end_list(
        &self,
        posted: usize,
        tell: Short,
        refused: Result<(), VerbsError>,
    ) -> Result<(), (usize, VerbsError)> {
        if tell != Short::Posted {
            self.told(tell == Short::Untold)
                .map_err(|error| (posted, error))?;
        }
        refused.map_err(|error| (posted, error))
    }

    /// Writes a WQE of one SGE and its doorbell, if nothing is unusual.
    #[inline(always)]
    fn put_send_short(&self, wr: &SendWr<'_>) -> Short {
        let wr::Payload::One(sge) = wr.payload else {
            return Short::No;
        };
        if wr.misplaced != 0 || wr.opcode == WqeOpcode::Immediate || sge.length == 0 {
            return Short::No;
        }
        let needs = needs(wr.opcode);
        if wr.opcode == WqeOpcode::Read && !self.rings().takes_reads() {
            return Short::No;
        }
        if !self.is_usable(&sge, needs) {
            return Short::No;
        }
        let wqe = self.wqe(wr, Payload::Sges(&[]));
        self.rings().post_send_short(wr.wr_id, wqe, &sge)
    }

    /// Writes a WQE and its doorbell, whatever it is, or says why not. Is the bell to be rung?
    fn put_send(&self, wr: &SendWr<'_>) -> Result<bool, VerbsError> {
        if !self.rings().is_open() || wr.misplaced != 0 {
            self.check_send(wr)?;
        }
        let needs = needs(wr.opcode);
        let cap = self.inner.cap;
        let has_payload = match wr.payload {
            wr::Payload::Mixed => return Err(VerbsError::MixedPayload),
            wr::Payload::Inline(_) if wr.opcode == WqeOpcode::Read => {
                return Err(VerbsError::InlineRead)
            }
            wr::Payload::Inline(bytes) if bytes.len() > cap.max_inline_data => {
                return Err(VerbsError::InlineTooLong {
                    given: bytes.len(),
                    max: cap.max_inline_data,
                })
            }
            wr::Payload::Inline(bytes) => !bytes.is_empty(),
            _ => wr.payload.sges().iter().any(|sge| sge.length > 0),
        };
        if has_payload && wr.opcode == WqeOpcode::Immediate {
            return Err(engine::Error::ImmediatePayload.into());
        }
        if let wr::Payload::Inline(bytes) = wr.payload {
            return self.put_wqe(wr, Payload::Inline(bytes));
        }
        let sges = wr.payload.sges();
        if sges.len() > cap.max_send_sge {
            return Err(VerbsError::TooManySges {
                given: sges.len(),
                max: cap.max_send_sge,
            });
        }
        let mut list = [weft_queues::Sge::default(); MAX_SGE];
        let list = self.check_sges(&mut list, sges, needs, Some(wr.opcode))?;
        self.put_wqe(wr, Payload::Sges(list))
    }

    fn put_wqe(&self, wr: &SendWr<'_>, payload: Payload<'_>) -> Result<bool, VerbsError> {
        self.rings().post_send(wr.wr_id, &self.wqe(wr, payload))
    }

    #[inline(always)]
    fn wqe<'p>(&self, wr: &SendWr<'_>, payload: Payload<'p>) -> Wqe<'p> {
        let all_signaled = match self.inner.sq_sig_all {
            true => SendWqe::SIGNALED,
            false => 0,
        };
        Wqe {
            opcode: wr.opcode,
            flags: wr.flags | all_signaled,
            to: wr.to,
            stag: wr.stag,
            payload,
        }
    }

    /// May it be posted at all?
    #[cold]
    fn check_send(&self, wr: &SendWr<'_>) -> Result<(), VerbsError> {
        let rings = self.rings();
        if wr.misplaced != 0 {
            return Err(VerbsError::MeaninglessFlag {
                flag: wr.misplaced(),
                work: wr::name(wr.opcode),
            });
        }
        if rings.is_lent() {
            return Err(VerbsError::Lent);
        }
        self.device().check_fault()?;
        if !rings.is_bound() {
            self.check_state("post_send")?;
        }
        if wr.opcode == WqeOpcode::Read && !rings.takes_reads() {
            return Err(engine::Error::NoReadsAllowed.into());
        }
        Ok(())
    }

    /// Posts a work request to the receive queue; possible before the connection is asked for.
    #[inline(always)]
    pub fn post_recv(&self, wr: RecvWr<'_>) -> Result<(), VerbsError> {
        if tracing::level_enabled!(tracing::Level::TRACE) {
            return self.post_recv_traced(&wr.copied());
        }
        match self.put_recv_short(&wr) {
            Short::Posted => Ok(()),
            Short::Untold => self.told(true),
            Short::No => self.post_recv_long(&wr.copied()),
        }
    }

    #[cold]
    #[tracing::instrument(name = "post_recv", level = "trace", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    fn post_recv_traced(&self, wr: &RecvWr<'_>) -> Result<(), VerbsError> {
        self.post_recv_long(wr)
    }

    #[inline(never)]
    fn post_recv_long(&self, wr: &RecvWr<'_>) -> Result<(), VerbsError> {
        let untold = self.put_recv(wr)?;
        self.told(untold)
    }

    /// Writes an element of one SGE and its doorbell, if nothing is unusual.
    #[inline(always)]
    fn put_recv_short(&self, wr: &RecvWr<'_>) -> Short {
        let wr::Payload::One(sge) = wr.payload else {
            return Short::No;
        };
        match self.is_usable(&sge, Access::LOCAL_WRITE) {
            true => self.rings().post_recv_short(wr.wr_id, &sge),
            false => Short::No,
        }
    }

    #[cold]
    fn check_recv(&self) -> Result<(), VerbsError> {
        match self.rings().is_lent() {
            true => Err(VerbsError::Lent),
            false => Ok(self.device().check_fault()?),
        }
    }

    /// Writes an element and its doorbell, whatever it is, or says why not. Is the bell to be rung?
    fn put_recv(&self, wr: &RecvWr<'_>) -> Result<bool, VerbsError> {
        if !self.rings().takes_receives() {
            self.check_recv()?;
        }
        let (sges, max) = (wr.payload.sges(), self.inner.cap.max_recv_sge);
        if sges.len() > max {
            return Err(VerbsError::TooManySges {
                given: sges.len(),
                max,
            });
        }
        if let wr::Payload::Mixed = wr.payload {
            return Err(VerbsError::MixedPayload);
        }
        let mut list = [weft_queues::Sge::default(); MAX_SGE];
        let list = self.check_sges(&mut list, sges, Access::LOCAL_WRITE, None)?;
        self.rings().post_recv(wr.wr_id, list)
    }
}

impl std::fmt::Debug for Qp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Qp")
            .field("qp_num", &self.qp_num())
            .field("flow", &self.flow())
            .finish()
    }
}

impl Drop for QpInner {
    fn drop(&mut self) {
        let qp_num = self.rings.qp_num;
        let _span = tracing::debug_span!("destroy_qp", qp_num).entered();
        let device = self.pd.device();
        let mut state = device.lock();
        if state.deliver_completions() > 0 {
            device.announce();
        }
        let id = self.rings.id;
        let gone = device.command_in(&mut state, &commands::destroy_qp(id), &[]);
        let gone = gone.map(|_| ());
        tracing::debug!(qp_num, ?gone, "queue pair destroyed");
        state.remove_qp(id);
        self.rings.close();
        state.leave_regions();
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "queue pair of a device that failed");
        }
    }
}
