//! Shared receive queues: receives that any of several queue pairs takes.
//!
//! Their elements end in any order. So an element lies in a slot; its completion names the slot, and a slot is free again when that was polled.

use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::commands;
use weft_engine::{self as engine, SrqId, MAX_RECV_SGE};
use weft_queues::{Cqe, SharedReceive};

use super::checks::{check_sges_of, OfWhat};
use super::cq::{Cq, CqInner};
use super::pd::Pd;
use super::qp::{check_size, queue_limit};
use super::refused::Refused;
use super::wr::{Payload, RecvWr};
use super::xrcd::Xrcd;
use super::{Access, VerbsError, MAX_SGE};
use crate::device::{Device, SharedReceives};
use weft_card_transport::queue_memory::QueueMemory;

/// What a shared receive queue is to be like (`ibv_srq_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqInit {
    /// Receives posted and not polled, 1 to 32768.
    pub max_wr: u32,
    /// SGEs of a receive, 1 to 4.
    pub max_sge: usize,
    /// [`AsyncEvent::SrqLimitReached`](super::AsyncEvent::SrqLimitReached) is told once, when fewer receives wait. 0: never.
    pub srq_limit: u32,
}

impl Default for SrqInit {
    fn default() -> Self {
        Self {
            max_wr: 64,
            max_sge: MAX_RECV_SGE,
            srq_limit: 0,
        }
    }
}

/// A shared receive queue as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SrqAttr {
    /// Receives posted and not polled at most.
    pub max_wr: u32,
    /// SGEs of a receive at most.
    pub max_sge: usize,
    /// The limit that stands; 0: none, or it was told.
    pub srq_limit: u32,
    /// Receives that no message has taken.
    pub waiting: u32,
}

/// A shared receive queue (`ibv_srq`). Clones are the same one. It lives as long as a handle or a queue pair has it; what waits in it then is gone
/// without completion.
///
/// A message of any of its queue pairs takes the next receive when its first segment is here, and its completion, in that queue pair's receive CQ,
/// says which queue pair that was. A Send that finds nothing ends its connection (RFC 5041 §7.1: Terminate 1202): keep enough in it, by the limit.
#[derive(Clone)]
pub struct Srq {
    inner: Arc<SrqInner>,
}

struct SrqInner {
    pd: Pd,
    rings: Arc<SrqRings>,
    /// The XRC domain that it is in.
    xrcd: Option<Xrcd>,
}

/// Its memory, and the receives in it.
pub(crate) struct SrqRings {
    pub(super) id: SrqId,
    srq_num: u32,
    init: SrqInit,
    layout: SharedReceive,
    memory: QueueMemory,
    posting: Mutex<Posting>,
    /// Of one of an XRC domain: where its receives complete.
    cq: Option<Arc<CqInner>>,
}

struct Posting {
    tail: u32,
    free: Vec<u32>,
    /// The `wr_id` of each slot that is in use.
    work: Vec<Option<u64>>,
}

impl SrqRings {
    fn posting(&self) -> MutexGuard<'_, Posting> {
        self.posting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives posted and not polled at most: so many completions there can be.
    pub(super) fn depth(&self) -> usize {
        self.init.max_wr as usize
    }

    /// The file, if it can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.memory.file()
    }

    /// A completion names this slot: its `wr_id`, and it is free. `None`: there is no such receive.
    pub(super) fn finish(&self, slot: u32) -> Option<u64> {
        let mut posting = self.posting();
        let wr_id = posting.work.get_mut(slot as usize)?.take()?;
        posting.free.push(slot);
        Some(wr_id)
    }

    fn post(&self, wr_id: u64, sges: &[weft_queues::Sge]) -> Result<(), VerbsError> {
        let posting = &mut *self.posting();
        let Some(slot) = posting.free.pop() else {
            return Err(VerbsError::SrqFull {
                max_wr: self.init.max_wr,
            });
        };
        if let Some(place) = posting.work.get_mut(slot as usize) {
            *place = Some(wr_id);
        }
        self.layout.put(self.memory(), posting.tail, slot, sges);
        posting.tail = posting.tail.wrapping_add(1);
        self.layout.ring(self.memory(), posting.tail);
        Ok(())
    }
}

impl SharedReceives for SrqRings {
    fn id(&self) -> SrqId {
        self.id
    }

    fn srq_num(&self) -> u32 {
        self.srq_num
    }

    fn layout(&self) -> SharedReceive {
        self.layout
    }

    fn memory(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    fn complete(&self, cqe: Cqe) {
        if let Some(cq) = &self.cq {
            cq.complete(cqe);
        }
    }
}

impl Pd {
    /// A new shared receive queue for queue pairs of this domain (`ibv_create_srq`).
    #[tracing::instrument(name = "create_srq", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
    #[doc(alias(
        "ibv_create_srq",
        "ibv_create_srq_ex",
        "ibv_destroy_srq",
        "rdma_create_srq"
    ))]
    pub fn create_srq(&self, init: &SrqInit) -> Result<Srq, VerbsError> {
        self.make_srq(init, None, false)
    }

    /// A new shared receive queue of an XRC domain (`ibv_create_srq_ex` with `IBV_SRQT_XRC`): any Send to its [number](Srq::srq_num) takes a receive, whatever target of the
    /// domain it comes to, and completes in `cq`. It may have another protection domain than the targets; then the host places what follows a message's first segments.
    #[tracing::instrument(name = "create_xrc_srq", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
    #[doc(alias = "ibv_create_srq_ex")]
    pub fn create_xrc_srq(&self, xrcd: &Xrcd, cq: &Cq, init: &SrqInit) -> Result<Srq, VerbsError> {
        self.make_xrc_srq(xrcd, cq, init, false)
    }

    /// A shared receive queue whose memory another process may map ([`Srq::file`]) and post to; this process does not.
    pub fn create_shareable_srq(&self, init: &SrqInit) -> Result<Srq, VerbsError> {
        self.make_srq(init, None, true)
    }

    /// The same whose memory another process may map.
    pub(super) fn create_shareable_xrc_srq(
        &self,
        xrcd: &Xrcd,
        cq: &Cq,
        init: &SrqInit,
    ) -> Result<Srq, VerbsError> {
        self.make_xrc_srq(xrcd, cq, init, true)
    }

    fn make_xrc_srq(
        &self,
        xrcd: &Xrcd,
        cq: &Cq,
        init: &SrqInit,
        shareable: bool,
    ) -> Result<Srq, VerbsError> {
        for (what, device) in [
            ("XRC domain", xrcd.device()),
            ("completion queue", cq.device()),
        ] {
            if !device.is(self.device()) {
                return Err(VerbsError::WrongDevice { what });
            }
        }
        self.make_srq(init, Some((xrcd, cq)), shareable)
    }

    fn make_srq(
        &self,
        init: &SrqInit,
        xrc: Option<(&Xrcd, &Cq)>,
        shareable: bool,
    ) -> Result<Srq, VerbsError> {
        let device = self.device();
        let (most, allowed) = queue_limit(device);
        check_size("max_wr", init.max_wr.into(), most.into(), allowed)?;
        let max = MAX_RECV_SGE as u64;
        check_size("max_sge", init.max_sge as u64, max, "1 to 4")?;
        check_limit(init.srq_limit, init.max_wr)?;
        let layout = SharedReceive::new(init.max_wr).ok_or(engine::Error::InvalidSrq)?;
        let mut state = device.lock();
        state.check_fault()?;
        let config = engine::SrqConfig {
            pd: self.id(),
            depth: init.max_wr,
            max_sge: init.max_sge as u8,
            limit: init.srq_limit,
        };
        let create = match xrc {
            None => commands::create_srq(&config),
            Some((xrcd, _)) => commands::create_xrc_srq(&config, xrcd.id()),
        };
        let answer = device.command_in(&mut state, &create, &[])?;
        let id = SrqId::from_number(answer.srq);
        let bytes = layout.bytes();
        let memory = state.srq_memory(id, init.max_wr, shareable);
        let memory = memory
            .map_err(VerbsError::from)
            .and_then(|memory| memory.ok_or(VerbsError::NoMemory { bytes }));
        let memory = match memory {
            Ok(memory) => memory,
            Err(error) => {
                let _ = device.command_in(&mut state, &commands::destroy_srq(id), &[]);
                state.remove_srq(id);
                return Err(error);
            }
        };
        let rings = Arc::new(SrqRings {
            id,
            // Of an XRC domain it is the one on the wire.
            srq_num: match xrc {
                None => state.take_qp_num(),
                Some(_) => id.number(),
            },
            cq: xrc.map(|(_, cq)| cq.inner().clone()),
            init: *init,
            layout,
            memory,
            posting: Mutex::new(Posting {
                tail: 0,
                free: (0..init.max_wr).rev().collect(),
                work: vec![None; init.max_wr as usize],
            }),
        });
        if let Some(Err(error)) = rings.cq.as_ref().map(|cq| cq.admit_xrc(&rings)) {
            let _ = device.command_in(&mut state, &commands::destroy_srq(id), &[]);
            return Err(error);
        }
        state.add_srq(rings.clone());
        let turn = state.finish_turn();
        drop(state);
        let srq = Srq {
            inner: Arc::new(SrqInner {
                pd: self.clone(),
                rings,
                xrcd: xrc.map(|(xrcd, _)| xrcd.clone()),
            }),
        };
        turn?;
        tracing::debug!(
            device = device.name(),
            srq_num = srq.srq_num(),
            ?init,
            "shared receive queue"
        );
        Ok(srq)
    }
}

fn check_limit(limit: u32, max_wr: u32) -> Result<(), VerbsError> {
    match limit <= max_wr {
        true => Ok(()),
        false => Err(VerbsError::InvalidSize {
            what: "srq_limit",
            given: limit.into(),
            allowed: "0 to max_wr",
        }),
    }
}

impl Srq {
    /// Its memory, if it can be lent.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.inner.rings.file()
    }

    /// The XRC domain that it is in, if it is in one.
    pub fn xrcd(&self) -> Option<&Xrcd> {
        self.inner.xrcd.as_ref()
    }

    /// Its number, in events; in an XRC domain also what a peer sends to.
    #[doc(alias = "ibv_get_srq_num")]
    pub fn srq_num(&self) -> u32 {
        self.inner.rings.srq_num
    }

    /// Its protection domain.
    pub fn pd(&self) -> &Pd {
        &self.inner.pd
    }

    fn device(&self) -> &Device {
        self.inner.pd.device()
    }

    pub(super) fn rings(&self) -> &Arc<SrqRings> {
        &self.inner.rings
    }

    /// Posts a receive (`ibv_post_srq_recv`). It never blocks and makes no system call; the device sees it before the next report.
    #[tracing::instrument(name = "post_srq_recv", level = "trace", skip_all, fields(srq_num = self.srq_num(), wr_id = wr.wr_id))]
    #[doc(alias("ibv_post_srq_recv", "rdma_post_recv"))]
    pub fn post_recv(&self, wr: RecvWr<'_>) -> Result<(), VerbsError> {
        self.put(&wr)
    }

    /// Posts receives one after the other. The first that is refused ends the list: `Err` has how many were posted before it, and why.
    #[tracing::instrument(name = "post_srq_recv", level = "trace", skip_all, fields(srq_num = self.srq_num()))]
    pub fn post_recv_list<'a>(
        &self,
        list: impl IntoIterator<Item = RecvWr<'a>>,
    ) -> Result<(), (usize, VerbsError)> {
        for (posted, wr) in list.into_iter().enumerate() {
            self.put(&wr).map_err(|error| (posted, error))?;
        }
        Ok(())
    }

    fn put(&self, wr: &RecvWr<'_>) -> Result<(), VerbsError> {
        self.device().check_fault()?;
        let (sges, max) = (wr.payload.sges(), self.inner.rings.init.max_sge);
        if sges.len() > max {
            return Err(VerbsError::TooManySges {
                given: sges.len(),
                max,
            });
        }
        if let Payload::Mixed = wr.payload {
            return Err(VerbsError::MixedPayload);
        }
        let mut list = [weft_queues::Sge::default(); MAX_SGE];
        let of = OfWhat {
            pd: self.pd(),
            needs: Access::LOCAL_WRITE,
            work: None,
        };
        let list = check_sges_of(&of, &mut list, sges)?;
        self.inner.rings.post(wr.wr_id, list)
    }

    /// Asks for [`AsyncEvent::SrqLimitReached`](super::AsyncEvent::SrqLimitReached) when fewer than `limit` receives wait, once (`ibv_modify_srq` with
    /// `IBV_SRQ_LIMIT`); it comes at once if that is so already. 0: for none. Its size is for good.
    #[tracing::instrument(name = "modify_srq", level = "debug", skip_all, fields(srq_num = self.srq_num(), limit))]
    #[doc(alias = "ibv_modify_srq")]
    pub fn modify(&self, limit: u32) -> Result<(), VerbsError> {
        check_limit(limit, self.inner.rings.init.max_wr)?;
        let modify = commands::modify_srq(self.inner.rings.id, limit);
        self.device().command(&modify, &[])??;
        Ok(())
    }

    /// How it stands (`ibv_query_srq`).
    #[tracing::instrument(name = "query_srq", level = "debug", skip_all, fields(srq_num = self.srq_num()))]
    #[doc(alias = "ibv_query_srq")]
    pub fn query(&self) -> Result<SrqAttr, VerbsError> {
        let query = commands::query_srq(self.inner.rings.id);
        let state = commands::srq_state_of(&self.device().command(&query, &[])??);
        let init = self.inner.rings.init;
        Ok(SrqAttr {
            max_wr: init.max_wr,
            max_sge: init.max_sge,
            srq_limit: state.limit,
            waiting: state.waiting,
        })
    }

    /// Destroys it (`ibv_destroy_srq`); `SrqInUse` while a queue pair or another handle has it; its handle comes back. Without it the same happens when the last of them is
    /// gone.
    #[tracing::instrument(name = "destroy_srq", level = "debug", skip_all, fields(srq_num = self.srq_num()))]
    pub fn destroy(self) -> Result<(), Refused<Srq>> {
        match Arc::try_unwrap(self.inner) {
            Ok(_) => Ok(()),
            Err(inner) => {
                let error = VerbsError::SrqInUse {
                    srq_num: inner.rings.srq_num,
                    uses: Arc::strong_count(&inner) - 1,
                };
                Err(Refused::back(Srq { inner }, error))
            }
        }
    }
}

impl std::fmt::Debug for Srq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Srq")
            .field("srq_num", &self.srq_num())
            .field("init", &self.inner.rings.init)
            .finish()
    }
}

impl Drop for SrqInner {
    fn drop(&mut self) {
        let id = self.rings.id;
        let device = self.pd.device();
        let mut state = device.lock();
        let gone = device.command_in(&mut state, &commands::destroy_srq(id), &[]);
        let gone = gone.map(|_| ());
        tracing::debug!(
            srq_num = self.rings.srq_num,
            ?gone,
            "shared receive queue destroyed"
        );
        // What was received before is still polled.
        if state.deliver_completions() > 0 {
            device.announce();
        }
        state.remove_srq(id);
        if let Some(cq) = &self.rings.cq {
            cq.dismiss_xrc(&self.rings);
        }
        state.leave_regions();
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "shared receive queue of a device that failed");
        }
    }
}
