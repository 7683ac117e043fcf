//! The queues of a queue pair as this process posts to them, and what it remembers of the work until it has seen its end.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::QpId;
use weft_queues::{Capacity, QueuePair, Wqe};

use super::cq::CqInner;
use super::memory::QueueMemory;
use super::wr::SgeList;
use super::VerbsError;
use crate::dma::SharedMemory;

/// A queue pair's memory, and the work in it.
pub(crate) struct Rings {
    pub(crate) id: QpId,
    pub(crate) qp_num: u32,
    pub(super) layout: QueuePair,
    memory: QueueMemory,
    pub(super) send: WorkQueue,
    pub(super) recv: WorkQueue,
    /// A connection was asked for, so work may be posted.
    bound: AtomicBool,
    /// The peer takes no Reads.
    no_reads: AtomicBool,
    /// Another process posts and polls.
    lent: AtomicBool,
}

/// Work under way in one queue, oldest first.
pub(super) struct WorkQueue {
    pub(super) cq: Arc<CqInner>,
    depth: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    work: VecDeque<Work>,
    /// Blocks or elements posted.
    tail: u32,
}

struct Work {
    /// Its first block or element.
    number: u32,
    /// The one behind it.
    end: u32,
    wr_id: u64,
    signaled: bool,
    /// Their regions are kept alive.
    sges: SgeList,
}

/// Is `number` at or behind `done`?
fn is_done(number: u32, done: u32) -> bool {
    done.wrapping_sub(number) as i32 >= 0
}

impl WorkQueue {
    fn new(cq: Arc<CqInner>, depth: u32) -> Self {
        Self {
            cq,
            depth: depth as usize,
            inner: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts: `put` writes at a number, says how many blocks that took, and rings for the tail that it is told of.
    #[inline]
    fn post(
        &self,
        wr_id: u64,
        signaled: bool,
        sges: SgeList,
        full: VerbsError,
        put: impl FnOnce(u32) -> u32,
        ring: impl FnOnce(u32),
    ) -> Result<(), VerbsError> {
        let mut inner = self.lock();
        if inner.work.len() >= self.depth {
            return Err(full);
        }
        self.cq.promise()?;
        let number = inner.tail;
        let end = number.wrapping_add(put(number));
        inner.tail = end;
        inner.work.push_back(Work {
            number,
            end,
            wr_id,
            signaled,
            sges,
        });
        ring(end);
        Ok(())
    }

    /// The work that a CQE is of: its `wr_id`, what held its regions, and whether there is work to [`reap`](Self::reap).
    #[inline]
    pub(super) fn finish(&self, number: u32, done: u32) -> Option<(u64, SgeList, bool)> {
        let mut inner = self.lock();
        let work = match inner.work.front() {
            Some(front) if front.number == number => inner.work.pop_front(),
            _ => {
                let at = inner.work.iter().position(|work| work.number == number)?;
                inner.work.remove(at)
            }
        }?;
        Some((work.wr_id, work.sges, inner.can_reap(done)))
    }

    /// Lets go of the oldest work if that is done and makes no CQE.
    pub(super) fn reap(&self, done: u32) -> Option<SgeList> {
        let mut inner = self.lock();
        if !inner.can_reap(done) {
            return None;
        }
        inner.work.pop_front().map(|work| work.sges)
    }

    /// Takes out all work; `cqes` of it have a CQE that nobody took. The places of what has none, and can have none any more, are
    /// given back.
    fn close(&self, done: u32, cqes: usize) -> Vec<SgeList> {
        let mut inner = self.lock();
        // What is done and silent has given its place back already.
        let silent = |work: &&Work| !work.signaled && is_done(work.end, done);
        let placed = inner.work.iter().filter(|work| !silent(work)).count();
        self.cq.forget(placed.saturating_sub(cqes));
        inner.work.drain(..).map(|work| work.sges).collect()
    }
}

impl Inner {
    fn can_reap(&self, done: u32) -> bool {
        let front = self.work.front();
        front.is_some_and(|work| !work.signaled && is_done(work.end, done))
    }
}

impl Rings {
    pub(super) fn new(
        id: QpId,
        qp_num: u32,
        capacity: Capacity,
        [send_cq, recv_cq]: [Arc<CqInner>; 2],
        lendable: bool,
    ) -> Result<Self, VerbsError> {
        let layout = QueuePair::new(capacity).ok_or(weft_engine::Error::InvalidQpConfig)?;
        Ok(Self {
            id,
            qp_num,
            layout,
            memory: QueueMemory::new(layout.bytes(), lendable)?,
            send: WorkQueue::new(send_cq, capacity.send),
            recv: WorkQueue::new(recv_cq, capacity.recv),
            bound: AtomicBool::new(false),
            no_reads: AtomicBool::new(false),
            lent: AtomicBool::new(false),
        })
    }

    pub(crate) fn flow(&self) -> u16 {
        self.id.flow()
    }

    pub(super) fn memory(&self) -> &SharedMemory {
        self.memory.memory()
    }

    /// The file, if they can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.memory.file()
    }

    /// Another process has them from now on; false: one has them already.
    pub(super) fn lend(&self) -> bool {
        !self.lent.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Acquire)
    }

    /// A connection was asked for.
    pub(crate) fn bind(&self) {
        self.bound.store(true, Ordering::Release);
    }

    pub(super) fn is_bound(&self) -> bool {
        self.bound.load(Ordering::Acquire)
    }

    /// The connection stands, and the peer takes no Reads.
    pub(crate) fn refuse_reads(&self) {
        self.no_reads.store(true, Ordering::Release);
    }

    pub(super) fn takes_reads(&self) -> bool {
        !self.no_reads.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn post_send(
        &self,
        wr_id: u64,
        signaled: bool,
        sges: SgeList,
        wqe: &Wqe<'_>,
    ) -> Result<(), VerbsError> {
        let full = VerbsError::SendQueueFull {
            depth: self.send.depth as u32,
        };
        self.send.post(
            wr_id,
            signaled,
            sges,
            full,
            |at| self.layout.put_send(self.memory(), at, wqe),
            |tail| self.layout.ring_send(self.memory(), tail),
        )
    }

    #[inline]
    pub(super) fn post_recv(
        &self,
        wr_id: u64,
        sges: SgeList,
        list: &[weft_queues::Sge],
    ) -> Result<(), VerbsError> {
        let full = VerbsError::RecvQueueFull {
            depth: self.recv.depth as u32,
        };
        let put = |at| {
            self.layout.put_recv(self.memory(), at, list);
            1
        };
        let ring = |tail| self.layout.ring_recv(self.memory(), tail);
        self.recv.post(wr_id, true, sges, full, put, ring)
    }

    pub(super) fn send_done(&self) -> u32 {
        self.layout.send_done(self.memory())
    }

    pub(super) fn recv_done(&self) -> u32 {
        self.layout.recv_done(self.memory())
    }

    /// The queue pair is no more: its completions are not to be had, and what held its regions is given back.
    pub(super) fn close(&self) -> Vec<SgeList> {
        let mut sges = Vec::new();
        let send = self.send.cq.leave(self, false);
        let recv = self.recv.cq.leave(self, true);
        sges.extend(self.send.close(self.send_done(), send));
        sges.extend(self.recv.close(self.recv_done(), recv));
        sges
    }
}
