//! Posts.
//!
//! ```text
//!   one SGE, nothing unusual      short way: compiled into the program, no call
//!   a few SGEs, inline bytes      wide way: one call, writes into the queue as the short one does
//!   else                          long way: takes the lock whatever is unusual, or says why not
//! ```

use weft_queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};

use super::qp::Qp;
use super::rings::{Short, WorkQueue};
use super::wr::{self, needs, RecvWr, SendWr};
use super::{Access, VerbsError};

/// SGEs that the wide way takes at most.
const WIDE: usize = 4;

/// Who is to be told of what was posted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tell {
    Nobody,
    /// Who posts lets the engine look, if nobody else does.
    Device,
    /// The bell is to be rung first.
    Bell,
}

/// What became of a post in which nothing may be unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Usual {
    /// It is posted.
    Posted,
    /// It is posted, and who takes has to be told: [`Qp::settle_send`] or [`Qp::settle_recv`] has to follow.
    Late,
    /// Nothing was done: [`Qp::post_send`] or [`Qp::post_recv`] has to follow.
    No,
}

/// A work request of either queue.
trait Post: Sized {
    /// The same, made of its parts: for calls on which the fast path must not depend. Else it has to lie in memory for them.
    fn copied(&self) -> Self;

    /// Posts it by the short way.
    fn post_short(&self, qp: &Qp) -> Short;

    /// Posts it if that was not possible so, or says why not.
    fn post_rest(&self, qp: &Qp) -> Result<Tell, VerbsError>;

    /// The queue that it goes to.
    fn queue(qp: &Qp) -> &WorkQueue;

    /// What follows [`Short::Late`].
    #[inline(never)]
    fn settle(qp: &Qp) -> Tell {
        match Self::queue(qp).settle() {
            true => Tell::Bell,
            false => Tell::Nobody,
        }
    }

    /// The same for a post by itself, which tells who is to be told.
    #[cold]
    #[inline(never)]
    fn settle_alone(qp: &Qp) -> Result<(), VerbsError> {
        qp.tell(Self::settle(qp))
    }

    /// [`post_rest`](Self::post_rest) for a post by itself, likewise.
    #[cold]
    #[inline(never)]
    fn post_alone(&self, qp: &Qp) -> Result<(), VerbsError> {
        match tracing::level_enabled!(tracing::Level::TRACE) {
            true => self.post_traced(qp),
            false => qp.tell(self.post_rest(qp)?),
        }
    }

    /// The same in a span of its own.
    fn post_traced(&self, qp: &Qp) -> Result<(), VerbsError>;
}

impl Qp {
    /// Posts a work request to the send queue. Before the connection is established (but asked for) it waits
    /// there; after it failed it completes as flushed.
    ///
    /// It writes a WQE and rings; whoever has the device's lock, or this thread if nobody has it, sends ([`DeviceConfig::deferred`]:
    /// the next [`Device::progress`] does).
    ///
    /// [`DeviceConfig::deferred`]: crate::DeviceConfig::deferred
    /// [`Device::progress`]: crate::Device::progress
    #[inline(always)]
    #[doc(alias = "ibv_post_send")]
    pub fn post_send(&self, wr: SendWr<'_>) -> Result<(), VerbsError> {
        self.post(wr)
    }

    /// Posts a work request to the receive queue; possible before the connection is asked for.
    #[inline(always)]
    #[doc(alias = "ibv_post_recv")]
    pub fn post_recv(&self, wr: RecvWr<'_>) -> Result<(), VerbsError> {
        self.post(wr)
    }

    /// Posts a work request to the send queue as [`post_send`](Self::post_send), if nothing about it is unusual. For who can make the work request once more:
    /// nothing has to be kept of it.
    #[inline(always)]
    pub fn post_send_usual(&self, wr: SendWr<'_>) -> Usual {
        self.post_usual(wr)
    }

    /// The same of [`post_recv`](Self::post_recv).
    #[inline(always)]
    pub fn post_recv_usual(&self, wr: RecvWr<'_>) -> Usual {
        self.post_usual(wr)
    }

    /// After [`Usual::Late`] of [`post_send_usual`](Self::post_send_usual).
    #[cold]
    pub fn settle_send(&self) -> Result<(), VerbsError> {
        SendWr::settle_alone(self)
    }

    /// After [`Usual::Late`] of [`post_recv_usual`](Self::post_recv_usual).
    #[cold]
    pub fn settle_recv(&self) -> Result<(), VerbsError> {
        RecvWr::settle_alone(self)
    }

    /// Posts work requests to the send queue, one after the other, and rings once. The first that is refused ends the list: `Err` has how
    /// many were posted before it, and why (`bad_wr` of `ibv_post_send`).
    #[tracing::instrument(name = "post_send", level = "trace", skip_all, fields(qp_num = self.qp_num()))]
    #[inline(always)]
    #[doc(alias("ibv_wr_start", "ibv_wr_complete"))]
    pub fn post_send_list<'a>(
        &self,
        list: impl IntoIterator<Item = SendWr<'a>>,
    ) -> Result<(), (usize, VerbsError)> {
        self.post_list(list)
    }

    /// Posts work requests to the receive queue, as [`post_send_list`](Self::post_send_list).
    #[tracing::instrument(name = "post_recv", level = "trace", skip_all, fields(qp_num = self.qp_num()))]
    #[inline(always)]
    pub fn post_recv_list<'a>(
        &self,
        list: impl IntoIterator<Item = RecvWr<'a>>,
    ) -> Result<(), (usize, VerbsError)> {
        self.post_list(list)
    }

    /// A Write and [Immediate Data](SendWr::immediate) behind it as one work request (`IBV_WR_RDMA_WRITE_WITH_IMM`; RFC 7306 §6): both are posted or neither, and they
    /// make one completion, with the `wr_id` and the flags of `immediate`. They take two places of the send queue.
    pub fn post_write_with_immediate(
        &self,
        write: SendWr<'_>,
        immediate: SendWr<'_>,
    ) -> Result<(), VerbsError> {
        self.tell(match self.put_pair(&write, &immediate)? {
            true => Tell::Bell,
            false => Tell::Device,
        })
    }

    /// Work requests that the send queue has room for; what was done silently has given its places back.
    pub fn send_room(&self) -> u32 {
        self.rings().send_room()
    }

    /// Whatever is not usual is a call at its end, one for each way in which the short one can end: so the usual way saves no registers for it, and
    /// does not say how it ended.
    #[inline(always)]
    fn post<W: Post>(&self, wr: W) -> Result<(), VerbsError> {
        let short = match tracing::level_enabled!(tracing::Level::TRACE) {
            true => Short::No,
            false => wr.post_short(self),
        };
        match short {
            Short::Posted => Ok(()),
            Short::Late => W::settle_alone(self),
            Short::No => wr.copied().post_alone(self),
        }
    }

    #[inline(always)]
    fn post_usual<W: Post>(&self, wr: W) -> Usual {
        if tracing::level_enabled!(tracing::Level::TRACE) {
            return Usual::No;
        }
        match wr.post_short(self) {
            Short::Posted => Usual::Posted,
            Short::Late => Usual::Late,
            Short::No => Usual::No,
        }
    }

    #[inline(always)]
    fn post_list<W: Post>(
        &self,
        list: impl IntoIterator<Item = W>,
    ) -> Result<(), (usize, VerbsError)> {
        let (mut posted, mut tell) = (0, Tell::Nobody);
        for wr in list {
            match wr.post_short(self) {
                Short::Posted => {}
                Short::Late => tell = tell.max(W::settle(self)),
                Short::No => match wr.copied().post_rest(self) {
                    Ok(more) => tell = tell.max(more),
                    Err(error) => return self.end_list(posted, tell, Err(error)),
                },
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
        tell: Tell,
        refused: Result<(), VerbsError>,
    ) -> Result<(), (usize, VerbsError)> {
        self.tell(tell).map_err(|error| (posted, error))?;
        refused.map_err(|error| (posted, error))
    }

    /// Who takes is told of what was posted.
    fn tell(&self, tell: Tell) -> Result<(), VerbsError> {
        match tell {
            Tell::Nobody => Ok(()),
            tell => Ok(self.device().posted(self.flow(), tell == Tell::Bell)?),
        }
    }

    /// Posts a WQE that was checked.
    pub(super) fn post_wqe(&self, wr_id: u64, wqe: &Wqe<'_>) -> Result<(), VerbsError> {
        self.tell(match self.rings().post_send(wr_id, wqe)? {
            true => Tell::Bell,
            false => Tell::Device,
        })
    }

    /// A WQE of a work request.
    #[inline(always)]
    pub(super) fn wqe<'p>(&self, wr: &SendWr<'_>, payload: Payload<'p>) -> Wqe<'p> {
        let all_signaled = match self.signals_all() {
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

    /// May what its flags, its opcode and the peer say be posted without a further look?
    #[inline(always)]
    fn is_plain(&self, wr: &SendWr<'_>) -> bool {
        wr.misplaced == 0
            && wr.opcode as u8 <= WqeOpcode::Read as u8
            && (wr.opcode != WqeOpcode::Read || self.rings().takes_reads())
    }

    /// Posts a WQE of a few SGEs or inline bytes, if nothing else is unusual.
    #[inline(always)]
    fn post_send_wide(&self, wr: &SendWr<'_>) -> Short {
        if !self.is_plain(wr) {
            return Short::No;
        }
        let mut list = [Sge::default(); WIDE];
        let payload = match wr.payload {
            wr::Payload::Inline(bytes)
                if wr.opcode != WqeOpcode::Read && bytes.len() <= self.cap().max_inline_data =>
            {
                Payload::Inline(bytes)
            }
            wr::Payload::List(sges) if sges.len() <= self.cap().max_send_sge => {
                match self.put_few(&mut list, sges, needs(wr.opcode)) {
                    Some(list) => Payload::Sges(list),
                    None => return Short::No,
                }
            }
            _ => return Short::No,
        };
        self.rings().try_post_wqe(wr.wr_id, &self.wqe(wr, payload))
    }

    /// Posts an element of a few SGEs, if nothing else is unusual.
    #[inline(always)]
    fn post_recv_wide(&self, wr: &RecvWr<'_>) -> Short {
        let mut list = [Sge::default(); WIDE];
        let list = match wr.payload {
            wr::Payload::List(sges) if sges.len() <= self.cap().max_recv_sge => {
                self.put_few(&mut list, sges, Access::LOCAL_WRITE)
            }
            _ => None,
        };
        match list {
            Some(list) => self.rings().try_post_element(wr.wr_id, list),
            None => Short::No,
        }
    }

    /// A few SGEs as the queue has them; `None`: they are too many, or one has no bytes or may not be used so.
    #[inline(always)]
    fn put_few<'l>(
        &self,
        list: &'l mut [Sge; WIDE],
        sges: &[wr::Sge<'_>],
        needs: Access,
    ) -> Option<&'l [Sge]> {
        let places = list.get_mut(..sges.len())?;
        let mut total = 0u32;
        for (place, sge) in places.iter_mut().zip(sges) {
            if sge.length == 0 || !self.is_usable(sge, needs) {
                return None;
            }
            total = total.checked_add(sge.length)?;
            *place = sge.queued();
        }
        Some(places)
    }
}

/// What became of a post that did not end by the short way.
#[inline(always)]
fn rest<W: Post>(
    qp: &Qp,
    wide: Short,
    long: impl FnOnce() -> Result<bool, VerbsError>,
) -> Result<Tell, VerbsError> {
    match wide {
        Short::Posted => return Ok(Tell::Nobody),
        Short::Late => return Ok(W::settle(qp)),
        Short::No => W::queue(qp).wake(),
    }
    Ok(match long()? {
        true => Tell::Bell,
        false => Tell::Device,
    })
}

impl Post for SendWr<'_> {
    #[inline(always)]
    fn copied(&self) -> Self {
        SendWr::copied(self)
    }

    #[inline(always)]
    fn post_short(&self, qp: &Qp) -> Short {
        let wr::Payload::One(sge) = self.payload else {
            return Short::No;
        };
        // A message of no bytes has no SGE.
        if sge.length == 0 || !qp.is_plain(self) || !qp.is_usable(&sge, needs(self.opcode)) {
            return Short::No;
        }
        let wqe = qp.wqe(self, Payload::Sges(&[]));
        qp.rings().try_post_send(self.wr_id, wqe, &sge)
    }

    #[inline(never)]
    fn post_rest(&self, qp: &Qp) -> Result<Tell, VerbsError> {
        rest::<Self>(qp, qp.post_send_wide(self), || qp.put_send(self))
    }

    #[inline(always)]
    fn queue(qp: &Qp) -> &WorkQueue {
        &qp.rings().send
    }

    #[cold]
    #[tracing::instrument(name = "post_send", level = "trace", skip_all, fields(qp_num = qp.qp_num(), wr_id = self.wr_id))]
    fn post_traced(&self, qp: &Qp) -> Result<(), VerbsError> {
        qp.tell(self.post_rest(qp)?)
    }
}

impl Post for RecvWr<'_> {
    #[inline(always)]
    fn copied(&self) -> Self {
        RecvWr::copied(self)
    }

    #[inline(always)]
    fn post_short(&self, qp: &Qp) -> Short {
        let wr::Payload::One(sge) = self.payload else {
            return Short::No;
        };
        if !qp.is_usable(&sge, Access::LOCAL_WRITE) {
            return Short::No;
        }
        qp.rings().try_post_recv(self.wr_id, &sge)
    }

    #[inline(never)]
    fn post_rest(&self, qp: &Qp) -> Result<Tell, VerbsError> {
        rest::<Self>(qp, qp.post_recv_wide(self), || qp.put_recv(self))
    }

    #[inline(always)]
    fn queue(qp: &Qp) -> &WorkQueue {
        &qp.rings().recv
    }

    #[cold]
    #[tracing::instrument(name = "post_recv", level = "trace", skip_all, fields(qp_num = qp.qp_num(), wr_id = self.wr_id))]
    fn post_traced(&self, qp: &Qp) -> Result<(), VerbsError> {
        qp.tell(self.post_rest(qp)?)
    }
}
