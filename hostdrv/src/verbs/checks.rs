//! The long way of a post: whatever the work request is, and why it is refused.

use weft_engine::{self as engine, QpState, MAX_SGE};
use weft_queues::{Carries, Operation, Payload, SendWqe, Wqe, WqeOpcode};

use super::error::access_name;
use super::pd::Pd;
use super::qp::Qp;
use super::wr::{self, needs, RecvWr, SendWr, Sge};
use super::xrcd::QpKind;
use super::{Access, VerbsError};

impl Qp {
    /// Writes a WQE and its doorbell, whatever it is, or says why not. Is the bell to be rung?
    #[inline(never)]
    pub(super) fn put_send(&self, wr: &SendWr<'_>) -> Result<bool, VerbsError> {
        let mut list = [weft_queues::Sge::default(); MAX_SGE];
        let payload = self.check_work(wr, &mut list)?;
        self.rings().post_send(wr.wr_id, &self.wqe(wr, payload))
    }

    /// The same of a Write and what is sent behind it, which are one work request.
    pub(super) fn put_pair(
        &self,
        write: &SendWr<'_>,
        immediate: &SendWr<'_>,
    ) -> Result<bool, VerbsError> {
        let is_pair = (write.opcode, immediate.opcode) == (WqeOpcode::Write, WqeOpcode::Immediate);
        if !is_pair {
            return Err(VerbsError::NoPair);
        }
        let mut lists = [[weft_queues::Sge::default(); MAX_SGE]; 2];
        let [first, second] = &mut lists;
        let payload = self.check_work(write, first)?;
        let write = Wqe {
            // Its end is the other's.
            flags: write.flags & !SendWqe::SIGNALED,
            ..self.wqe(write, payload)
        };
        let payload = self.check_work(immediate, second)?;
        let second = self.wqe(immediate, payload);
        self.rings().post_pair(immediate.wr_id, &write, &second)
    }

    /// What a work request is to move, as the queue has it, or why it may not be posted.
    fn check_work<'l>(
        &self,
        wr: &SendWr<'l>,
        list: &'l mut [weft_queues::Sge; MAX_SGE],
    ) -> Result<Payload<'l>, VerbsError> {
        if !self.rings().is_open() || wr.misplaced != 0 {
            self.check_send(wr)?;
        }
        self.check_kind(wr.opcode)?;
        let needs = needs(wr.opcode);
        let cap = self.cap();
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
        if has_payload && Operation::of(wr.opcode).carries == Carries::Value {
            return Err(engine::Error::NoPayloadAllowed.into());
        }
        if let wr::Payload::Inline(bytes) = wr.payload {
            return Ok(Payload::Inline(bytes));
        }
        let sges = wr.payload.sges();
        if sges.len() > cap.max_send_sge {
            return Err(VerbsError::TooManySges {
                given: sges.len(),
                max: cap.max_send_sge,
            });
        }
        let list = self.check_sges(list, sges, needs, Some(wr.opcode))?;
        Ok(Payload::Sges(list))
    }

    /// May it be posted at all?
    #[cold]
    fn check_send(&self, wr: &SendWr<'_>) -> Result<(), VerbsError> {
        if wr.misplaced != 0 {
            return Err(VerbsError::MeaninglessFlag {
                flag: wr.misplaced(),
                work: Operation::of(wr.opcode).name,
            });
        }
        self.check_open(wr.opcode)
    }

    /// Does a queue pair of this kind do that?
    pub(super) fn check_kind(&self, opcode: WqeOpcode) -> Result<(), VerbsError> {
        let is_its_own = match self.kind() {
            QpKind::Rc => Operation::of(opcode).is_of(false),
            QpKind::XrcInitiator => Operation::of(opcode).is_of(true),
            QpKind::XrcTarget(_) => false,
        };
        match is_its_own {
            true => Ok(()),
            false => Err(VerbsError::WrongQpKind {
                work: Operation::of(opcode).name,
                kind: self.kind().name(),
            }),
        }
    }

    /// May such work be posted to the send queue at all?
    pub(super) fn check_open(&self, opcode: WqeOpcode) -> Result<(), VerbsError> {
        self.check_kind(opcode)?;
        let rings = self.rings();
        let reads = Operation::of(opcode).is_request();
        if rings.is_lent() {
            return Err(VerbsError::Shared);
        }
        self.device().check_fault()?;
        self.check_abandoned()?;
        if !rings.is_bound() {
            self.check_state("post_send")?;
        }
        if reads && !rings.takes_reads() {
            return Err(engine::Error::NoReadsAllowed.into());
        }
        Ok(())
    }

    /// Writes an element and its doorbell, whatever it is, or says why not. Is the bell to be rung?
    #[inline(never)]
    pub(super) fn put_recv(&self, wr: &RecvWr<'_>) -> Result<bool, VerbsError> {
        if let Some(srq) = self.srq() {
            let srq_num = srq.srq_num();
            return Err(VerbsError::HasSrq { srq_num });
        }
        if !self.kind().is_rc() {
            return Err(VerbsError::WrongQpKind {
                work: "receive",
                kind: self.kind().name(),
            });
        }
        if !self.rings().takes_receives() {
            self.check_recv()?;
        }
        let (sges, max) = (wr.payload.sges(), self.cap().max_recv_sge);
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

    #[cold]
    fn check_recv(&self) -> Result<(), VerbsError> {
        if self.rings().is_lent() {
            return Err(VerbsError::Shared);
        }
        self.device().check_fault()?;
        self.check_abandoned()
    }

    fn check_abandoned(&self) -> Result<(), VerbsError> {
        match self.rings().is_abandoned() {
            true => Err(VerbsError::Abandoned {
                qp_num: self.qp_num(),
            }),
            false => Ok(()),
        }
    }

    /// May an SGE be used so?
    #[inline(always)]
    pub(super) fn is_usable(&self, sge: &Sge<'_>, needs: Access) -> bool {
        sge.mr.pd().is(self.pd()) && sge.is_inside() && sge.mr.access().contains(needs)
    }

    /// Several SGEs as the queue has them, those of no bytes left out (one would end a receive element's list).
    fn check_sges<'l>(
        &self,
        list: &'l mut [weft_queues::Sge; MAX_SGE],
        sges: &[Sge<'_>],
        needs: Access,
        work: Option<WqeOpcode>,
    ) -> Result<&'l [weft_queues::Sge], VerbsError> {
        let pd = self.pd();
        check_sges_of(&OfWhat { pd, needs, work }, list, sges)
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
}

/// What SGEs are of.
pub(super) struct OfWhat<'a> {
    /// The domain of its queue.
    pub(super) pd: &'a Pd,
    /// The rights that it needs.
    pub(super) needs: Access,
    /// `None`: a receive.
    pub(super) work: Option<WqeOpcode>,
}

impl OfWhat<'_> {
    /// An SGE as the queue has it.
    fn check(&self, sge: Sge<'_>) -> Result<weft_queues::Sge, VerbsError> {
        let usable = sge.mr.pd().is(self.pd) && sge.is_inside();
        match usable && sge.mr.access().contains(self.needs) {
            true => Ok(sge.queued()),
            false => Err(self.refuse(sge)),
        }
    }

    /// Why an SGE is refused.
    #[cold]
    fn refuse(&self, sge: Sge<'_>) -> VerbsError {
        let Sge { mr, offset, length } = sge;
        let (lkey, needs) = (mr.lkey(), self.needs);
        if !mr.pd().device().is(self.pd.device()) {
            return VerbsError::WrongDevice { what: "region" };
        }
        if !mr.pd().is(self.pd) {
            return VerbsError::WrongPd {
                lkey,
                region_pd: mr.pd().id().number(),
                qp_pd: self.pd.id().number(),
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
            work: self
                .work
                .map_or("receive", |opcode| Operation::of(opcode).name),
        }
    }
}

/// Several SGEs as the queue has them, those of no bytes left out (one would end a receive element's list).
pub(super) fn check_sges_of<'l>(
    of: &OfWhat<'_>,
    list: &'l mut [weft_queues::Sge; MAX_SGE],
    sges: &[Sge<'_>],
) -> Result<&'l [weft_queues::Sge], VerbsError> {
    let mut total = 0;
    let mut used = 0;
    for sge in sges {
        let sge = of.check(*sge)?;
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
