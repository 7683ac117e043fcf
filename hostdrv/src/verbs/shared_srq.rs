//! A shared receive queue lent to another process: it posts receives and polls what came for them, whatever target of the XRC domain that came to.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_layout::Cqe;
use weft_queues::{CompletionQueue, Sge, SharedReceive};

use super::cq::Cq;
use super::pd::Pd;
use super::shared_line::{NotPosted, SharedLine};
use super::srq::{Srq, SrqInit};
use super::xrcd::Xrcd;
use super::VerbsError;
use weft_card_transport::queue_memory::QueueMemory;

/// What a borrower has to know of a lent shared receive queue beside its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SrqTerms {
    /// Its number, which peers send to.
    pub srq_num: u32,
    /// Receives posted and not polled.
    pub max_wr: u32,
    /// CQEs of its completion queue.
    pub cqe: u32,
}

/// A shared receive queue of an XRC domain that another process posts to and polls. It lives as long as this.
#[derive(Debug)]
#[must_use = "the queue is destroyed when this is dropped"]
pub struct SrqLease {
    srq: Srq,
    cq: Cq,
}

impl Pd {
    /// A new shared receive queue of an XRC domain for another process, with a completion queue of its own. [`progress`](crate::Device::progress) of this
    /// process takes what is posted: each call looks.
    #[tracing::instrument(name = "share_srq", level = "debug", skip_all, fields(device = self.device().name()))]
    pub fn share_xrc_srq(
        &self,
        xrcd: &Xrcd,
        init: &SrqInit,
        cqe: usize,
    ) -> Result<SrqLease, VerbsError> {
        let cq = self.device().create_shareable_cq(cqe)?;
        let srq = self.create_shareable_xrc_srq(xrcd, &cq, init)?;
        cq.inner().share();
        Ok(SrqLease { srq, cq })
    }
}

impl SrqLease {
    /// The queue itself.
    pub fn srq(&self) -> &Srq {
        &self.srq
    }

    /// CQEs written so far, modulo 2^32.
    pub fn completions_written(&self) -> u32 {
        self.cq.inner().written()
    }

    /// The files of both memories, the queue's and its completion queue's, and what is in them.
    pub fn files(&self) -> Result<([BorrowedFd<'_>; 2], SrqTerms), VerbsError> {
        let files = self.srq.rings().file().zip(self.cq.inner().file());
        let (queue, completions) = files.ok_or(VerbsError::NotShareable)?;
        let terms = SrqTerms {
            srq_num: self.srq.srq_num(),
            max_wr: self.srq.rings().depth() as u32,
            cqe: self.cq.cqe() as u32,
        };
        Ok(([queue, completions], terms))
    }
}

/// A borrowed shared receive queue. It has no lock: one thread posts and polls.
pub struct SharedSrq {
    layout: SharedReceive,
    queue: QueueMemory,
    cq_layout: CompletionQueue,
    completions: QueueMemory,
    terms: SrqTerms,
    tail: u32,
    taken: u32,
    free: Vec<u32>,
    line: Option<Arc<SharedLine>>,
}

/// Bytes that a lent shared receive queue and its completion queue take, in files and beside them; `None`: there is none like this.
pub fn lent_srq_bytes(max_wr: u32, cqe: usize) -> Option<u64> {
    /// What the owner remembers of each receive.
    const REMEMBERED: usize = 32;
    let queue = SharedReceive::new(max_wr)?.bytes() + REMEMBERED * max_wr as usize;
    Some((queue + CompletionQueue::new(cqe)?.bytes()) as u64)
}

impl SharedSrq {
    /// Maps a lent queue, from files that came from [`SrqLease::files`] by whatever way.
    pub fn open([queue, completions]: [OwnedFd; 2], terms: SrqTerms) -> io::Result<Self> {
        let layout = SharedReceive::new(terms.max_wr);
        let layout = layout.zip(CompletionQueue::new(terms.cqe as usize));
        let none = || format!("no queue is like this: {terms:?}");
        let wrong = || io::Error::new(io::ErrorKind::InvalidInput, none());
        let (layout, cq_layout) = layout.ok_or_else(wrong)?;
        let queue = QueueMemory::map(queue)?;
        let completions = QueueMemory::map(completions)?;
        queue.check_room(layout.bytes())?;
        completions.check_room(cq_layout.bytes())?;
        Ok(Self {
            layout,
            queue,
            cq_layout,
            completions,
            terms,
            tail: 0,
            taken: 0,
            free: (0..terms.max_wr).rev().collect(),
            line: None,
        })
    }

    /// Posts fail when who lends it is gone.
    pub fn on(mut self, line: Arc<SharedLine>) -> Self {
        self.line = Some(line);
        self
    }

    /// Its terms.
    pub fn terms(&self) -> &SrqTerms {
        &self.terms
    }

    /// Posts a receive; its slot, which its CQE has.
    pub fn post_recv(&mut self, sges: &[Sge]) -> Result<u32, NotPosted> {
        SharedLine::check(&self.line)?;
        let slot = self.free.pop().ok_or(NotPosted::Full)?;
        let memory = self.queue.words();
        self.layout.put(memory, self.tail, slot, sges);
        self.tail = self.tail.wrapping_add(1);
        self.layout.ring(memory, self.tail);
        SharedLine::posted(&self.line);
        Ok(slot)
    }

    /// The oldest CQE. Its slot is free again.
    pub fn poll(&mut self) -> Option<Cqe> {
        let memory = self.completions.words();
        let cqe = self.cq_layout.get(memory, self.taken)?;
        self.taken = self.taken.wrapping_add(1);
        self.cq_layout.taken(memory, self.taken);
        self.free.push(cqe.work);
        Some(cqe)
    }
}
