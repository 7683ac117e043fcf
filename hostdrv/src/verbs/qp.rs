//! Reliable-connected queue pairs.

use std::sync::{Arc, Weak};

use weft_engine::commands::{self, Answer, Refusal};
use weft_engine::{self as engine, QpId, QpState, Rung, MAX_INLINE, MAX_RECV_SGE, MAX_SGE};
use weft_queues::Capacity;

use super::cq::Cq;
use super::pd::Pd;
use super::rings::Rings;
use super::srq::Srq;
use super::xrcd::QpKind;
use super::VerbsError;
use crate::device::{Device, StateGuard};

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
    /// Where it takes its receives from: a shared queue of its domain. Then it has none of its own, and `max_recv_wr` and `max_recv_sge` mean nothing.
    pub srq: Option<Srq>,
    /// What kind of queue pair. Of an XRC initiator or target the receive queue's sizes mean nothing.
    pub kind: QpKind,
    /// Every send work request is signaled.
    pub sq_sig_all: bool,
    /// Its queues can be lent to another process ([`Qp::share`]).
    pub shareable: bool,
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
            srq: None,
            kind: QpKind::Rc,
            sq_sig_all: false,
            shareable: false,
            rung: None,
        }
    }

    /// The same, which takes its receives from a shared queue.
    pub fn srq(mut self, srq: &Srq) -> Self {
        self.srq = Some(srq.clone());
        self
    }

    /// The same of an XRC initiator.
    pub fn initiator(mut self) -> Self {
        self.kind = QpKind::XrcInitiator;
        self
    }

    /// The same, on this rung of the partition ladder. A rung that the card or the host cannot give is refused, with the reason.
    pub fn rung(mut self, rung: Rung) -> Self {
        self.rung = Some(rung);
        self
    }
}

/// A queue pair. Clones are the same one; when the last one is dropped, its connection is aborted
/// and it is destroyed.
#[derive(Clone)]
pub struct Qp {
    inner: Arc<QpInner>,
}

pub(super) struct QpInner {
    pd: Pd,
    rings: Arc<Rings>,
    cap: QpCap,
    sq_sig_all: bool,
    send_cq: Cq,
    recv_cq: Cq,
    srq: Option<Srq>,
    kind: QpKind,
}

impl From<Arc<QpInner>> for Qp {
    fn from(inner: Arc<QpInner>) -> Self {
        Self { inner }
    }
}

pub(super) fn check_size(
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

/// Work requests of a queue at most, and how to say so.
pub(super) fn queue_limit(device: &Device) -> (u32, &'static str) {
    match device.limits() {
        Some((_, most)) => (most, "1 to 512 at rung firmware"),
        None => (MAX_WORK, "1 to 32768"),
    }
}

/// What may be posted, and receives of shared queues that it may have.
fn sizes(init: &QpInit, cap: QpCap) -> (Capacity, usize) {
    // A target's are those of any shared queue of its domain.
    let receives = match (&init.kind, &init.srq) {
        (QpKind::XrcTarget(_), _) => usize::MAX,
        (_, Some(srq)) => srq.rings().depth(),
        (_, None) => 0,
    };
    let capacity = Capacity {
        send: cap.max_send_wr,
        sges: cap.max_send_sge,
        inline: cap.max_inline_data,
        recv: cap.max_recv_wr,
    };
    (capacity, receives)
}

impl Qp {
    pub(super) fn create(pd: &Pd, init: &QpInit) -> Result<Self, VerbsError> {
        let device = pd.device();
        let mut cap = init.cap;
        if let Some(srq) = &init.srq {
            if !srq.pd().is(pd) {
                return Err(match srq.pd().device().is(device) {
                    false => VerbsError::WrongDevice {
                        what: "shared receive queue",
                    },
                    true => VerbsError::SrqOfOtherPd {
                        srq_pd: srq.pd().id().number(),
                        qp_pd: pd.id().number(),
                    },
                });
            }
            if init.shareable && srq.file().is_none() {
                return Err(VerbsError::NotShareable);
            }
            (cap.max_recv_wr, cap.max_recv_sge) = (1, 1);
        }
        if !init.kind.is_rc() {
            if let Some(srq) = &init.srq {
                let srq_num = srq.srq_num();
                return Err(VerbsError::HasSrq { srq_num });
            }
            (cap.max_recv_wr, cap.max_recv_sge) = (1, 1);
        }
        if let QpKind::XrcTarget(xrcd) = &init.kind {
            if !xrcd.device().is(device) {
                return Err(VerbsError::WrongDevice { what: "XRC domain" });
            }
        }
        let (most, allowed) = queue_limit(device);
        for (what, given) in [
            ("max_send_wr", cap.max_send_wr),
            ("max_recv_wr", cap.max_recv_wr),
        ] {
            check_size(what, given.into(), most.into(), allowed)?;
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
        if init.shareable {
            state.check_here("lending to other processes")?;
        }
        let create = match (&init.kind, &init.srq) {
            (QpKind::XrcInitiator, _) => commands::create_xrc_initiator(&config),
            (QpKind::XrcTarget(xrcd), _) => commands::create_xrc_target(&config, xrcd.id()),
            (QpKind::Rc, Some(srq)) => commands::create_qp_with_srq(&config, srq.rings().id),
            (QpKind::Rc, None) => commands::create_qp(&config),
        };
        let (capacity, receives) = sizes(init, cap);
        let id = match state.borrow_qp(&create, capacity, receives) {
            Some(id) => id?,
            None => {
                let answer = device.command_in(&mut state, &create, &[]);
                let answer = answer.map_err(|refusal| match refusal {
                    Refusal::Engine(engine::Error::Rung(rung, why)) => {
                        VerbsError::Rung { rung, why }
                    }
                    refusal => refusal.into(),
                })?;
                QpId::from_number(answer.qp)
            }
        };
        Self::of_flow(pd, init, cap, (state, id))
    }

    /// A handle of a target that a lender has, of another process. What it reaches is the other one's to say: of the domain here there is nothing in it.
    pub(super) fn of_lender(
        pd: &Pd,
        init: &QpInit,
        of_flow: (StateGuard<'_>, QpId),
    ) -> Result<Self, VerbsError> {
        Self::of_flow(pd, init, init.cap, of_flow)
    }

    /// The queue pair of a flow.
    fn of_flow(
        pd: &Pd,
        init: &QpInit,
        cap: QpCap,
        (mut state, id): (StateGuard<'_>, QpId),
    ) -> Result<Self, VerbsError> {
        let device = pd.device();
        let (capacity, receives) = sizes(init, cap);
        let qp_num = state.number_qp(id);
        let (send_cq, recv_cq) = (init.send_cq.inner(), init.recv_cq.inner());
        let cqs = [send_cq.clone(), recv_cq.clone()];
        let deferred = device.is_deferred();
        let memory = state.queue_memory(id, capacity, receives, init.shareable);
        let shared = init.srq.as_ref().map(|srq| srq.rings().clone());
        let made = memory
            .map_err(VerbsError::from)
            .and_then(|memory| Rings::new(id, qp_num, capacity, cqs, shared, memory, deferred));
        if let (Ok(rings), false) = (&made, init.kind.is_rc()) {
            rings.look_at_each();
        }
        let rings = match made.and_then(|rings| recv_cq.admit(&rings).map(|()| rings)) {
            Ok(rings) => Arc::new(rings),
            Err(error) => {
                let _ = device.command_in(&mut state, &commands::destroy_qp(id), &[]);
                state.remove_qp(id);
                return Err(error);
            }
        };
        send_cq.join(&rings);
        if !Arc::ptr_eq(send_cq, recv_cq) {
            recv_cq.join(&rings);
        }
        state.add_qp(id, rings.clone());
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
                srq: init.srq.clone(),
                kind: init.kind.clone(),
            }),
        };
        if let QpKind::XrcTarget(xrcd) = qp.kind() {
            xrcd.add_target(&qp);
        }
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

    /// What commands of a process that it is given to call it ([`ControlLease::give_qp`](super::ControlLease::give_qp)).
    pub fn number_in_commands(&self) -> u32 {
        self.id().number()
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

    /// The shared queue that it takes its receives from, if it has one.
    pub fn srq(&self) -> Option<&Srq> {
        self.inner.srq.as_ref()
    }

    /// What kind it is.
    pub fn kind(&self) -> &QpKind {
        &self.inner.kind
    }

    pub(super) fn downgrade(&self) -> Weak<QpInner> {
        Arc::downgrade(&self.inner)
    }

    /// Its capacities.
    #[inline(always)]
    pub fn cap(&self) -> QpCap {
        self.inner.cap
    }

    /// Is every send work request signaled?
    #[inline(always)]
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

    /// Its connection is aborted, since nobody holds it any more: posts say so from now on.
    pub(crate) fn abandon(&self) {
        self.rings().abandon();
    }

    /// Something lives as long as the card's flow is in use: beyond the last handle, while the connection closes.
    pub fn keep(&self, thing: impl Send + 'static) {
        self.device().lock().keep_with(self.id(), Box::new(thing));
    }

    /// Does another process post to it?
    pub(super) fn is_lent(&self) -> bool {
        self.rings().is_lent()
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
        // What was posted before the connection was closed is done first.
        state.take_posted(device.now());
        if !state.lingers(id) {
            let gone = device.command_in(&mut state, &commands::destroy_qp(id), &[]);
            let gone = gone.map(|_| ());
            tracing::debug!(qp_num, ?gone, "queue pair destroyed");
            // What it had taken from a shared receive queue.
            state.deliver_completions();
            state.remove_qp(id);
        }
        self.rings.close();
        state.leave_regions();
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "queue pair of a device that failed");
        }
    }
}
