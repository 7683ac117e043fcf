//! XRC of a device that another process lends: domains that other borrowers of the same user may have as well, shared receive queues in them, targets.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use weft_engine::commands::{Answer, Command, Refusal};
use weft_engine::{Error, QpId, SrqId, XrcdId};
use weft_layout::Cqe;

use super::lent::Lent;
use super::lent_completions::LentCompletions;
use crate::error::DeviceError;

/// Which XRC domain is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XrcdAsked {
    /// A new one that no file names.
    Unnamed,
    /// The one of a file, by its file system and its inode: whoever says the same has the same.
    OfFile {
        /// What names it.
        name: (u64, u64),
        /// It may be one that is there.
        existing: bool,
        /// It may be a new one.
        new: bool,
    },
}

/// A target that was lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetLent {
    /// What commands call it.
    pub number: u32,
    /// Its number, which no other queue pair of the lender's has.
    pub qp_num: u32,
}

/// A shared receive queue of an XRC domain that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XrcReceivesAsked {
    /// Its XRC domain.
    pub xrcd: u32,
    /// Its protection domain.
    pub pd: u32,
    /// Receives posted and not polled.
    pub max_wr: u32,
    /// SGEs of a receive.
    pub max_sge: usize,
    /// Its limit.
    pub limit: u32,
}

impl XrcReceivesAsked {
    /// CQEs of its completion queue: a place for each receive.
    pub(super) fn cqe(&self) -> usize {
        self.max_wr.next_power_of_two() as usize
    }
}

/// What a lender has of XRC. Numbers of domains begin with 1.
pub trait XrcLender: Send + Sync {
    /// A domain, each time by another number. `None`: the file names none, or one where a new one is wanted.
    fn xrcd(&self, asked: XrcdAsked) -> io::Result<Option<u32>>;
    /// It is wanted no more.
    fn leave_xrcd(&self, xrcd: u32) -> io::Result<()>;
    /// A shared receive queue; its number in commands and on the wire, its memory, and that of its completion queue.
    fn xrc_receives(&self, asked: &XrcReceivesAsked) -> io::Result<(u32, [OwnedFd; 2])>;
    /// A target of an XRC domain, whose peer reaches this protection domain.
    fn target(&self, xrcd: u32, pd: u32) -> io::Result<TargetLent>;
    /// The target of this number, which another borrower has made: from now on it is this one's, too.
    fn open_target(&self, xrcd: u32, qp_num: u32) -> io::Result<TargetLent>;
    /// It is wanted no more.
    fn leave_target(&self, number: u32) -> io::Result<()>;
}

/// What a borrower has of it.
#[derive(Default)]
pub(super) struct LentXrc {
    /// The completion queue of each shared receive queue.
    completions: BTreeMap<SrqId, LentCompletions>,
    /// Numbers of targets.
    targets: BTreeMap<QpId, u32>,
}

impl LentXrc {
    /// A new target.
    pub(super) fn add_target(&mut self, qp: QpId, qp_num: u32) {
        self.targets.insert(qp, qp_num);
    }

    /// A new shared receive queue.
    pub(super) fn add_receives(&mut self, srq: SrqId, completions: LentCompletions) {
        self.completions.insert(srq, completions);
    }

    /// The number of a target, if it is one.
    pub(super) fn target(&self, qp: QpId) -> Option<u32> {
        self.targets.get(&qp).copied()
    }

    /// Is what commands call so a target?
    pub(super) fn has_target(&self, number: u32) -> bool {
        self.targets.contains_key(&QpId::from_number(number))
    }

    /// Is there a target of this number?
    pub(super) fn has_target_of(&self, qp_num: u32) -> bool {
        self.targets.values().any(|own| *own == qp_num)
    }

    /// A target that is destroyed.
    pub(super) fn forget(&mut self, qp: QpId) {
        self.targets.remove(&qp);
    }

    /// A shared receive queue that is destroyed.
    pub(super) fn forget_receives(&mut self, srq: SrqId) {
        self.completions.remove(&srq);
    }

    /// The oldest completion of any shared receive queue. It says which, and which target; nobody looks at the queue pair beside it.
    pub(super) fn take_completion(&mut self) -> Option<(QpId, Cqe)> {
        let mut all = self.completions.iter_mut();
        all.find_map(|(srq, completions)| {
            let cqe = completions.take()?.with_of_xrc(true);
            let invalidated = srq.number();
            Some((QpId::from_number(0), Cqe { invalidated, ..cqe }))
        })
    }

    /// Is there a completion that was not taken?
    pub(super) fn has_completion(&self) -> bool {
        let mut all = self.completions.values();
        all.any(|completions| completions.next().is_some())
    }
}

impl Lent {
    /// An XRC domain. `None`: there is none like that.
    pub(super) fn xrcd(&self, asked: XrcdAsked) -> Result<Option<u32>, DeviceError> {
        let xrcd = self.lender.xrcd(asked);
        xrcd.map_err(|error| self.failed(&error))
    }

    /// A shared receive queue of an XRC domain.
    pub(super) fn xrc_receives(
        &mut self,
        command: &Command,
    ) -> Result<Result<Answer, Refusal>, DeviceError> {
        let asked = XrcReceivesAsked {
            xrcd: command.xrcd,
            pd: command.pd,
            max_wr: command.recv_depth,
            max_sge: command.max_sge.into(),
            limit: command.srq_limit,
        };
        let made = self.lender.xrc_receives(&asked);
        let made = made.and_then(|(srq, [receives, completions])| {
            let completions = LentCompletions::of(asked.cqe(), completions);
            let completions = completions.inspect_err(|_| {
                let _ = self.lender.leave_shared_receives(srq);
            })?;
            Ok((srq, receives, completions))
        });
        let (srq, receives, completions) = match made {
            Ok(made) => made,
            Err(error) => {
                tracing::debug!(%error, "refused by the lender");
                self.check_lender()?;
                return Ok(Err(Error::NoMemory.into()));
            }
        };
        let id = SrqId::from_number(srq);
        self.shared.insert(id, receives);
        self.xrc.add_receives(id, completions);
        Ok(Ok(Answer {
            srq,
            ..Answer::default()
        }))
    }

    /// A target of an XRC domain.
    pub(super) fn xrc_target(&mut self, command: &Command) -> Result<QpId, DeviceError> {
        let made = self.lender.target(command.xrcd, command.pd);
        let made = made.map_err(|error| self.failed(&error))?;
        let id = QpId::from_number(made.number);
        self.xrc.add_target(id, made.qp_num);
        Ok(id)
    }

    /// A target of an XRC domain that another borrower has. `None`: this one has it.
    pub(super) fn open_target(
        &mut self,
        xrcd: XrcdId,
        qp_num: u32,
    ) -> Result<Option<QpId>, DeviceError> {
        if self.xrc.has_target_of(qp_num) {
            return Ok(None);
        }
        let opened = self.lender.open_target(xrcd.number(), qp_num);
        let opened = opened.map_err(|error| self.failed(&error))?;
        let id = QpId::from_number(opened.number);
        self.xrc.add_target(id, opened.qp_num);
        Ok(Some(id))
    }
}
