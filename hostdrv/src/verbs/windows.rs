//! Memory windows, regions that get their memory by work of the send queue, local invalidation; and atomics.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use weft_engine::{commands, StagKind};
use weft_layout::{AtomicOperands, Binding};
use weft_queues::{Payload, SendWqe, Wqe, WqeOpcode};

use super::checks::{check_sges_of, OfWhat};
use super::pd::Pd;
use super::qp::Qp;
use super::remote_region::RemoteRegion;
use super::wr::Sge;
use super::{Access, VerbsError, MAX_SGE};
use crate::device::DeferredDeregistration;

/// Types of memory windows (`ibv_mw_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MwType {
    /// Every queue pair of its domain may use it, and it is bound anew as often as one likes.
    Type1,
    /// It is for the queue pair that binds it, until it is invalidated by that one or by its peer.
    Type2,
}

/// A memory window (`ibv_mw`): an STag for a part of a region, with rights of its own, given and taken by work of a send queue
/// ([`Qp::bind_mw`], [`Qp::local_invalidate`]). Clones are the same one; when the last is dropped it is deallocated.
#[derive(Clone, Debug)]
pub struct Mw {
    kind: MwType,
    stag: Arc<Stag>,
}

/// A region that was allocated without memory (`ib_alloc_mr`): [`Qp::fast_register`] gives it some, [`Qp::local_invalidate`] takes it away. Clones are the same
/// one.
#[derive(Clone, Debug)]
pub struct FastMr {
    stag: Arc<Stag>,
}

#[derive(Debug)]
struct Stag {
    pd: Pd,
    /// With the key that it has when all that was posted is done.
    rkey: AtomicU32,
}

impl Stag {
    fn alloc(pd: &Pd, kind: StagKind) -> Result<Arc<Self>, VerbsError> {
        let answer = pd
            .device()
            .command(&commands::alloc_stag(pd.id(), kind), &[])??;
        Ok(Arc::new(Self {
            pd: pd.clone(),
            rkey: AtomicU32::new(answer.stag),
        }))
    }

    fn rkey(&self) -> u32 {
        self.rkey.load(Ordering::Relaxed)
    }
}

impl Drop for Stag {
    fn drop(&mut self) {
        let mut state = self.pd.device().lock();
        state.leave(DeferredDeregistration {
            stag: self.rkey(),
            memory: None,
            keeps: Box::new(self.pd.clone()),
        });
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "window removed from a device that failed");
        }
    }
}

/// The next key of an STag (`ibv_inc_rkey`): the low 8 bits.
pub fn inc_rkey(rkey: u32) -> u32 {
    rkey & !0xff | (rkey + 1) & 0xff
}

impl Pd {
    /// A memory window that is bound to nothing (`ibv_alloc_mw`).
    #[tracing::instrument(name = "alloc_mw", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), ?kind))]
    #[doc(alias("ibv_alloc_mw", "ibv_dealloc_mw"))]
    pub fn alloc_mw(&self, kind: MwType) -> Result<Mw, VerbsError> {
        let stag_kind = match kind {
            MwType::Type1 => StagKind::Window1,
            MwType::Type2 => StagKind::Window2,
        };
        let stag = Stag::alloc(self, stag_kind)?;
        Ok(Mw { kind, stag })
    }

    /// A region without memory, for fast registration.
    #[tracing::instrument(name = "alloc_fast_mr", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
    pub fn alloc_fast_mr(&self) -> Result<FastMr, VerbsError> {
        let stag = Stag::alloc(self, StagKind::FastRegion)?;
        Ok(FastMr { stag })
    }
}

impl Mw {
    /// Its type.
    pub fn kind(&self) -> MwType {
        self.kind
    }

    /// Its STag, with the key that it has when all that was posted is done.
    pub fn rkey(&self) -> u32 {
        self.stag.rkey()
    }
}

impl FastMr {
    /// Its STag, with the key that it has when all that was posted is done.
    pub fn rkey(&self) -> u32 {
        self.stag.rkey()
    }
}

/// What a window or a fast-registered region is to name.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BindWr<'a> {
    wr_id: u64,
    sge: Sge<'a>,
    addr: Option<u64>,
    access: Access,
    flags: u8,
}

impl<'a> BindWr<'a> {
    /// This part of a region, with these rights. Its address is that of its first byte in the region, unless [`addr`](Self::addr) says another one.
    pub fn new(wr_id: u64, sge: Sge<'a>, access: Access) -> Self {
        Self {
            wr_id,
            sge,
            addr: None,
            access,
            flags: 0,
        }
    }

    /// The address (tagged offset) of its first byte.
    pub fn addr(mut self, addr: u64) -> Self {
        self.addr = Some(addr);
        self
    }

    /// Makes a completion on success too.
    pub fn signaled(mut self) -> Self {
        self.flags |= SendWqe::SIGNALED;
        self
    }

    /// Starts only when all Reads posted before are complete.
    pub fn fence(mut self) -> Self {
        self.flags |= SendWqe::FENCE;
        self
    }
}

/// What is invalidated.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct InvalidateWr {
    wr_id: u64,
    rkey: u32,
    flags: u8,
}

impl InvalidateWr {
    /// The STag of a window of type 2, or of a fast-registered region.
    pub fn new(wr_id: u64, rkey: u32) -> Self {
        Self {
            wr_id,
            rkey,
            flags: 0,
        }
    }

    /// Makes a completion on success too.
    pub fn signaled(mut self) -> Self {
        self.flags |= SendWqe::SIGNALED;
        self
    }

    /// Starts only when all Reads posted before are complete: those that fill what is taken away.
    pub fn fence(mut self) -> Self {
        self.flags |= SendWqe::FENCE;
        self
    }
}

/// An atomic (RFC 7306 §5): 8 aligned bytes of the peer's memory, whose region or window has `REMOTE_ATOMIC`. What was there before goes to `sink`, 8 bytes of a
/// region with `LOCAL_WRITE`. Numbers in memory are little-endian on both sides.
///
/// It counts with the Reads (ORD, IRD), and [`SendWr::fence`](super::SendWr::fence) waits for it as for them. Nothing negotiates it: a peer that does not know it ends the
/// connection (RFC 7306 §1.1).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AtomicWr<'a> {
    wr_id: u64,
    to: RemoteRegion,
    opcode: WqeOpcode,
    operand: u64,
    swap: u64,
    sink: Sge<'a>,
    flags: u8,
}

impl<'a> AtomicWr<'a> {
    fn new(
        wr_id: u64,
        opcode: WqeOpcode,
        to: RemoteRegion,
        operands: (u64, u64),
        sink: Sge<'a>,
    ) -> Self {
        Self {
            wr_id,
            to,
            opcode,
            operand: operands.0,
            swap: operands.1,
            sink,
            flags: 0,
        }
    }

    /// Adds to the number at the beginning of `to` (`IBV_WR_ATOMIC_FETCH_AND_ADD`).
    pub fn fetch_add(wr_id: u64, to: RemoteRegion, add: u64, sink: Sge<'a>) -> Self {
        Self::new(wr_id, WqeOpcode::FetchAdd, to, (add, 0), sink)
    }

    /// Stores `swap` there if the number is `compare` (`IBV_WR_ATOMIC_CMP_AND_SWP`).
    pub fn cmp_swap(wr_id: u64, to: RemoteRegion, compare: u64, swap: u64, sink: Sge<'a>) -> Self {
        Self::new(wr_id, WqeOpcode::CmpSwap, to, (compare, swap), sink)
    }

    /// Makes a completion on success too.
    pub fn signaled(mut self) -> Self {
        self.flags |= SendWqe::SIGNALED;
        self
    }

    /// Starts only when all Reads and atomics posted before are complete.
    pub fn fence(mut self) -> Self {
        self.flags |= SendWqe::FENCE;
        self
    }
}

impl Qp {
    /// Binds a window (`ibv_bind_mw`, `IBV_WR_BIND_MW`), behind all that was posted before and before what is posted afterwards; what the peer has to know of
    /// it. Its key is the [next](inc_rkey) one. The region needs `BIND`, and `LOCAL_WRITE` if the window is to be written; rights of a window are `REMOTE_READ`, `REMOTE_WRITE`,
    /// `REMOTE_ATOMIC` and `REMOTE_INVALIDATE`. A window of type 2 that is bound has to be invalidated first. A bind that cannot be done fails the queue pair.
    ///
    /// A region to which a window is bound stays registered, also behind its last handle.
    #[tracing::instrument(name = "bind_mw", level = "debug", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    #[doc(alias("ibv_bind_mw", "ibv_wr_bind_mw"))]
    pub fn bind_mw(&self, mw: &Mw, wr: BindWr<'_>) -> Result<RemoteRegion, VerbsError> {
        let remote = Access::REMOTE_READ
            | Access::REMOTE_WRITE
            | Access::REMOTE_ATOMIC
            | Access::REMOTE_INVALIDATE;
        if !remote.contains(wr.access) {
            return Err(VerbsError::WindowAccess {
                access: wr.access.bits(),
            });
        }
        self.put_binding(WqeOpcode::Bind, &mw.stag, &wr, Access::BIND)
    }

    /// Takes the memory away from a window of type 1, as a bind of no bytes does.
    #[tracing::instrument(name = "unbind_mw", level = "debug", skip_all, fields(qp_num = self.qp_num(), wr_id = wr_id))]
    pub fn unbind_mw(&self, mw: &Mw, wr_id: u64) -> Result<(), VerbsError> {
        if mw.kind != MwType::Type1 {
            return Err(VerbsError::NotOfType1);
        }
        let stag = self.next_key(&mw.stag)?;
        self.put_local(
            wr_id,
            WqeOpcode::Bind,
            0,
            (stag, 0),
            &Binding::default().to_bytes(),
        )?;
        mw.stag.rkey.store(stag, Ordering::Relaxed);
        Ok(())
    }

    /// Gives a region that was allocated without memory a part of another one (`IB_WR_REG_MR`), and a new key; what the peer has to know of it. The card has
    /// one range of addresses for a region, so its pages are those of one mapping, one behind the other. It is for the peer: work of this side names the region that it is a part of.
    #[tracing::instrument(name = "fast_register", level = "debug", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    pub fn fast_register(&self, mr: &FastMr, wr: BindWr<'_>) -> Result<RemoteRegion, VerbsError> {
        self.put_binding(WqeOpcode::FastRegister, &mr.stag, &wr, Access::NONE)
    }

    /// Takes the memory away from a window of type 2 or a fast-registered region (`IBV_WR_LOCAL_INV`), behind all that was posted before. One that is not there
    /// any more, since the peer invalidated it, fails the queue pair.
    #[tracing::instrument(name = "local_invalidate", level = "debug", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    #[doc(alias = "ibv_wr_local_inv")]
    pub fn local_invalidate(&self, wr: InvalidateWr) -> Result<(), VerbsError> {
        self.check_open(WqeOpcode::LocalInvalidate)?;
        self.put_local(
            wr.wr_id,
            WqeOpcode::LocalInvalidate,
            wr.flags,
            (wr.rkey, 0),
            &[],
        )
    }

    /// Posts an atomic.
    #[tracing::instrument(name = "post_atomic", level = "trace", skip_all, fields(qp_num = self.qp_num(), wr_id = wr.wr_id))]
    pub fn post_atomic(&self, wr: AtomicWr<'_>) -> Result<(), VerbsError> {
        self.check_open(wr.opcode)?;
        if wr.sink.length != 8 {
            return Err(weft_engine::Error::AtomicPayload.into());
        }
        let sink = self.check_part(wr.sink, Access::LOCAL_WRITE, wr.opcode)?;
        let operands = AtomicOperands {
            sink_to: sink.to,
            sink_stag: sink.stag,
            operand: wr.operand,
            swap: wr.swap,
        };
        let to = (wr.to.rkey, wr.to.addr);
        self.put_local(wr.wr_id, wr.opcode, wr.flags, to, &operands.to_bytes())
    }

    fn put_binding(
        &self,
        opcode: WqeOpcode,
        stag: &Stag,
        wr: &BindWr<'_>,
        needs: Access,
    ) -> Result<RemoteRegion, VerbsError> {
        let rkey = self.next_key(stag)?;
        let local = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let writes = local | Access::REMOTE_ATOMIC | Access::READ_SINK;
        let needs = match wr.access.without(writes) == wr.access {
            true => needs,
            false => needs | Access::LOCAL_WRITE,
        };
        let part = self.check_part(wr.sge, needs, opcode)?;
        let addr = wr.addr.unwrap_or(part.to);
        if part.length == 0 || addr.checked_add(u64::from(part.length) - 1).is_none() {
            return Err(weft_engine::Error::InvalidRegion.into());
        }
        let binding = Binding {
            region_to: part.to,
            length: part.length.into(),
            region_stag: part.stag,
            access: wr.access.bits(),
        };
        self.put_local(
            wr.wr_id,
            opcode,
            wr.flags,
            (rkey, addr),
            &binding.to_bytes(),
        )?;
        stag.rkey.store(rkey, Ordering::Relaxed);
        Ok(RemoteRegion {
            addr,
            rkey,
            length: part.length.into(),
        })
    }

    /// The key that an STag has next.
    fn next_key(&self, stag: &Stag) -> Result<u32, VerbsError> {
        self.check_open(WqeOpcode::Bind)?;
        let rkey = stag.rkey();
        if !stag.pd.device().is(self.device()) {
            return Err(VerbsError::WrongDevice { what: "window" });
        }
        if !stag.pd.is(self.pd()) {
            return Err(VerbsError::WrongPd {
                lkey: rkey,
                region_pd: stag.pd.id().number(),
                qp_pd: self.pd().id().number(),
            });
        }
        Ok(inc_rkey(rkey))
    }

    /// A part of a region, which may be used so.
    fn check_part(
        &self,
        sge: Sge<'_>,
        needs: Access,
        opcode: WqeOpcode,
    ) -> Result<weft_queues::Sge, VerbsError> {
        let mut list = [weft_queues::Sge::default(); MAX_SGE];
        let of = OfWhat {
            pd: self.pd(),
            needs,
            work: Some(opcode),
        };
        let list = check_sges_of(&of, &mut list, &[sge])?;
        Ok(list.first().copied().unwrap_or_default())
    }

    /// Posts work whose operands lie in the WQE.
    fn put_local(
        &self,
        wr_id: u64,
        opcode: WqeOpcode,
        flags: u8,
        (stag, to): (u32, u64),
        operands: &[u8],
    ) -> Result<(), VerbsError> {
        let all = match self.signals_all() {
            true => SendWqe::SIGNALED,
            false => 0,
        };
        self.post_wqe(
            wr_id,
            &Wqe {
                opcode,
                flags: flags | all,
                to,
                stag,
                payload: Payload::Inline(operands),
            },
        )
    }
}
