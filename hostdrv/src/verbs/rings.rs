//! The queues of a queue pair as this process posts to them, and what it remembers of the work until it has seen its end.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use weft_engine::QpId;
use weft_queues::{Capacity, QueuePair, Sge, Wqe, MAX_BLOCKS};

use super::cq::CqInner;
use super::memory::QueueMemory;
use super::VerbsError;

/// A queue pair's memory, and the work in it.
pub(crate) struct Rings {
    pub(crate) id: QpId,
    pub(crate) qp_num: u32,
    pub(super) capacity: Capacity,
    pub(super) layout: QueuePair,
    memory: QueueMemory,
    pub(super) send: WorkQueue,
    pub(super) recv: WorkQueue,
    /// What may be posted.
    gate: AtomicU8,
}

/// A connection was asked for, so work may be posted.
const BOUND: u8 = 1;
/// The peer takes no Reads.
const NO_READS: u8 = 2;
/// Another process posts and polls.
const LENT: u8 = 4;
/// The device does no more.
const FAILED: u8 = 8;

/// Work under way in one queue.
///
/// Who posts has `posting`; who polls, or gives the places of silent work back, has the completion queue's lock. They meet in `freed` only.
pub(super) struct WorkQueue {
    pub(super) cq: Arc<CqInner>,
    depth: u32,
    posting: Mutex<Posting>,
    /// By a WQE's first block, or an element's number, modulo their number.
    work: Box<[Work]>,
    /// A [`Freed`].
    freed: AtomicU64,
}

/// How far posting has come.
#[derive(Default)]
struct Posting {
    /// Blocks or elements.
    tail: u32,
    /// Work requests.
    count: u32,
}

/// How far work has come whose places were given back: work requests, and the block or element behind them.
#[derive(Clone, Copy)]
struct Freed {
    count: u32,
    tail: u32,
}

impl Freed {
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self {
            count: word as u32,
            tail: (word >> 32) as u32,
        }
    }

    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.count) | u64::from(self.tail) << 32
    }
}

/// What is remembered of a work request. Written before the doorbell, read behind its CQE or its `done`.
#[derive(Default)]
struct Work {
    wr_id: AtomicU64,
    /// A [`Name`].
    name: AtomicU64,
}

/// Which work request it is.
#[derive(Clone, Copy)]
struct Name {
    /// The block behind its last, or the element behind it.
    end: u32,
    /// The work requests before it, modulo 2^16: more than a queue holds.
    count: u16,
    signaled: bool,
}

impl Name {
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self {
            end: word as u32,
            count: (word >> 32) as u16,
            signaled: word >> 48 != 0,
        }
    }

    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.end) | u64::from(self.count) << 32 | u64::from(self.signaled) << 48
    }
}

/// Is `number` at or behind `done`?
fn is_done(number: u32, done: u32) -> bool {
    done.wrapping_sub(number) as i32 >= 0
}

impl WorkQueue {
    fn new(cq: Arc<CqInner>, depth: u32, places: u32) -> Self {
        Self {
            cq,
            depth,
            posting: Mutex::default(),
            work: (0..places).map(|_| Work::default()).collect(),
            freed: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    fn at(&self, number: u32) -> Option<&Work> {
        self.work.get(number as usize & (self.work.len() - 1))
    }

    #[inline(always)]
    fn freed(&self) -> Freed {
        Freed::unpack(self.freed.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn is_full(&self, posting: &Posting) -> bool {
        posting.count.wrapping_sub(self.freed().count) >= self.depth
    }

    /// Gives back the places of what was done silently; true: there is one now.
    #[cold]
    fn make_room(&self, posting: &Posting, done: impl FnOnce() -> u32) -> bool {
        self.cq.reap(self, done());
        !self.is_full(posting)
    }

    /// Keeps a place for a work request and its CQE, for who puts it there and [`remember`](Self::remember)s it; `done`: how far the queue is done.
    #[inline(always)]
    fn reserve(
        &self,
        full: fn(u32) -> VerbsError,
        done: impl FnOnce() -> u32,
    ) -> Result<MutexGuard<'_, Posting>, VerbsError> {
        let posting = self.posting.lock();
        if self.is_full(&posting) && !self.make_room(&posting, done) {
            return Err(full(self.depth));
        }
        self.cq.promise()?;
        Ok(posting)
    }

    /// The work request from `posting.tail` to `end` was put there.
    #[inline(always)]
    fn remember(&self, posting: &mut Posting, wr_id: u64, signaled: bool, end: u32) {
        let name = Name {
            end,
            count: posting.count as u16,
            signaled,
        };
        if let Some(work) = self.at(posting.tail) {
            work.wr_id.store(wr_id, Ordering::Relaxed);
            work.name.store(name.pack(), Ordering::Relaxed);
        }
        posting.count = posting.count.wrapping_add(1);
        posting.tail = end;
    }

    /// The `wr_id` of the work that a CQE is of; all before it has its places back as well, and this says how many that are. `None`: no such
    /// work is under way. Only by who has the completion queue's lock.
    #[inline(always)]
    pub(super) fn finish(&self, number: u32) -> Option<(u64, usize)> {
        let work = self.at(number)?;
        let name = Name::unpack(work.name.load(Ordering::Relaxed));
        let freed = self.freed();
        let ahead = name.count.wrapping_sub(freed.count as u16);
        let is_there = name.end.wrapping_sub(number).wrapping_sub(1) < MAX_BLOCKS;
        if !is_there || u32::from(ahead) >= self.depth {
            return None;
        }
        let wr_id = work.wr_id.load(Ordering::Relaxed);
        let ended = u32::from(ahead) + 1;
        let freed = Freed {
            count: freed.count.wrapping_add(ended),
            tail: name.end,
        };
        self.freed.store(freed.pack(), Ordering::Release);
        Some((wr_id, ended as usize))
    }

    /// Gives back the places of the oldest work that is done and makes no CQE; how many. Only by who has the completion queue's lock.
    pub(super) fn reap(&self, done: u32) -> usize {
        let mut freed = self.freed();
        let mut reaped = 0;
        while freed.tail != done && is_done(freed.tail, done) {
            let Some(work) = self.at(freed.tail) else {
                break;
            };
            let name = Name::unpack(work.name.load(Ordering::Relaxed));
            if name.signaled {
                break;
            }
            freed.count = freed.count.wrapping_add(1);
            freed.tail = name.end;
            reaped += 1;
        }
        self.freed.store(freed.pack(), Ordering::Release);
        reaped
    }

    /// Nothing is posted any more, and nobody polls: the places of all work are given back but for those of `cqes`, which are there and nobody
    /// took.
    fn close(&self, cqes: usize) {
        let posting = self.posting.lock();
        let placed = posting.count.wrapping_sub(self.freed().count) as usize;
        self.cq.forget(placed.saturating_sub(cqes));
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
            capacity,
            layout,
            memory: QueueMemory::new(layout.bytes(), lendable)?,
            send: WorkQueue::new(send_cq, capacity.send, layout.send_blocks()),
            recv: WorkQueue::new(recv_cq, capacity.recv, layout.recv_elements()),
            gate: AtomicU8::new(0),
        })
    }

    #[inline(always)]
    pub(crate) fn flow(&self) -> u16 {
        self.id.flow()
    }

    #[inline(always)]
    pub(super) fn memory(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    /// The file, if they can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.memory.file()
    }

    /// Sets a bit of the gate; false: it was set.
    fn mark(&self, bit: u8) -> bool {
        self.gate.fetch_or(bit, Ordering::AcqRel) & bit == 0
    }

    /// Another process has them from now on; false: one has them already.
    pub(super) fn lend(&self) -> bool {
        self.mark(LENT)
    }

    /// A connection was asked for.
    pub(crate) fn bind(&self) {
        self.mark(BOUND);
    }

    /// The device does no more.
    pub(crate) fn fail(&self) {
        self.mark(FAILED);
    }

    /// The connection stands, and the peer takes no Reads.
    pub(crate) fn refuse_reads(&self) {
        self.mark(NO_READS);
    }

    /// Nothing is in the way of any send.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.gate.load(Ordering::Acquire) == BOUND
    }

    #[inline(always)]
    fn has(&self, bit: u8) -> bool {
        self.gate.load(Ordering::Acquire) & bit != 0
    }

    /// Nothing is in the way of a receive.
    #[inline(always)]
    pub(super) fn takes_receives(&self) -> bool {
        !self.has(LENT | FAILED)
    }

    pub(super) fn is_lent(&self) -> bool {
        self.has(LENT)
    }

    pub(super) fn is_bound(&self) -> bool {
        self.has(BOUND)
    }

    pub(super) fn takes_reads(&self) -> bool {
        !self.has(NO_READS)
    }

    #[inline(always)]
    pub(super) fn post_send(
        &self,
        wr_id: u64,
        signaled: bool,
        wqe: &Wqe<'_>,
    ) -> Result<(), VerbsError> {
        let (queue, layout, memory) = (&self.send, self.layout, self.memory());
        let full = |depth| VerbsError::SendQueueFull { depth };
        let mut posting = queue.reserve(full, || layout.send_done(memory))?;
        let at = posting.tail;
        let end = at.wrapping_add(layout.put_send(memory, at, wqe));
        queue.remember(&mut posting, wr_id, signaled, end);
        layout.ring_send(memory, end);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn post_recv(&self, wr_id: u64, list: &[Sge]) -> Result<(), VerbsError> {
        let (queue, layout, memory) = (&self.recv, self.layout, self.memory());
        let full = |depth| VerbsError::RecvQueueFull { depth };
        let mut posting = queue.reserve(full, || layout.recv_done(memory))?;
        let at = posting.tail;
        let end = at.wrapping_add(1);
        layout.put_recv(memory, at, list);
        queue.remember(&mut posting, wr_id, true, end);
        layout.ring_recv(memory, end);
        Ok(())
    }

    /// Gives back the places of what was done silently, if the send queue completes to `cq`; how many. Only by who has its lock.
    pub(super) fn reap(&self, cq: &CqInner) -> usize {
        if !std::ptr::eq(cq, &*self.send.cq) {
            return 0;
        }
        self.send.reap(self.layout.send_done(self.memory()))
    }

    /// The queue pair is no more: its completions are not to be had.
    pub(super) fn close(&self) {
        let send = self.send.cq.leave(self, false);
        let recv = self.recv.cq.leave(self, true);
        self.send.close(send);
        self.recv.close(recv);
    }
}
