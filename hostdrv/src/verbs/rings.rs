//! The queues of a queue pair as this process posts to them, and what it remembers of the work until it has seen its end.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

use weft_engine::QpId;
use weft_layout::{Cqe, CqeOpcode};
use weft_queues::{Capacity, Payload, QueuePair, SendWqe, Sge, Wqe, MAX_BLOCKS};

use super::cq::CqInner;
use super::latch::{Held, Latch};
use super::srq::SrqRings;
use super::wr;
use super::VerbsError;
use crate::device::Queues;
use weft_card_transport::queue_memory::QueueMemory;

/// A queue pair's memory, and the work in it.
pub(crate) struct Rings {
    pub(super) id: QpId,
    pub(super) qp_num: u32,
    capacity: Capacity,
    pub(super) layout: QueuePair,
    memory: QueueMemory,
    pub(super) send: WorkQueue,
    pub(super) recv: WorkQueue,
    /// Where its receives come from instead.
    pub(super) shared: Option<Arc<SrqRings>>,
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
/// Nobody has its connection any more.
const ABANDONED: u8 = 16;

/// Why a post cannot go the short way: a reason of the queue's [`Latch`].
mod why {
    /// Who takes was not told since it looked: the bell has to be rung.
    pub(super) const UNTOLD: u32 = 1 << 2;
    /// No connection was asked for.
    pub(super) const UNBOUND: u32 = 1 << 3;
    /// The queue is lent, or its device failed.
    pub(super) const BARRED: u32 = 1 << 4;
    /// Who posts sends.
    pub(super) const DIRECT: u32 = 1 << 5;
    /// The completion queue has not a place for all the work of all its queues: places are counted.
    pub(super) const COUNTED: u32 = 1 << 6;
    /// Not all that others do is for a queue pair of this kind.
    pub(super) const KIND: u32 = 1 << 7;
}

/// A Write and the Immediate Data behind it are one work request to the program: bits of [`Work::mark`] that are the other way.
mod pair {
    /// The Write: it never makes a completion.
    pub(super) const WRITE: u32 = 1 << 30;
    /// The Immediate Data: their completion is that of both.
    pub(super) const IMMEDIATE: u32 = 1 << 31;
}

/// What the end of work is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// That of its work request, which has this `wr_id`.
    Work(u64),
    /// That of a Write with Immediate Data.
    Pair(u64),
    /// Nothing yet: more of the same work request follows.
    Part,
}

/// Work under way in one queue.
///
/// Who posts has `latch`; who polls, or gives the places of silent work back, has the completion queue's lock. They meet in `limit` only.
pub(super) struct WorkQueue {
    pub(super) cq: Arc<CqInner>,
    depth: u32,
    latch: Latch,
    /// Blocks or elements posted; the latch's.
    tail: AtomicU32,
    /// Work requests posted; the latch's.
    posted: AtomicU32,
    /// By a WQE's first block, or an element's number, modulo their number.
    work: Box<[Work]>,
    /// The block or element behind the last whose place was given back; the completion queue's.
    head: AtomicU32,
    /// Work requests that may have been posted in all: `depth` more than those whose places were given back. Written under the completion
    /// queue's lock.
    limit: AtomicU32,
}

/// What is remembered of a work request. Written before the doorbell, read behind its CQE or its `done`.
struct Work {
    wr_id: AtomicU64,
    /// The number of its first block, or of its element; all bits the other way if it is silent. Then what of a pair it is ([`pair`]).
    mark: AtomicU32,
    /// The block or element behind it.
    end: AtomicU32,
}

/// How a post by the short way ended. It names no queue: there is a register less to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// It is posted.
    Posted,
    /// It is posted, and something came up meanwhile: [`WorkQueue::settle`] has to follow.
    Late,
    /// Nothing was done: the long way knows why. [`WorkQueue::wake`] has to follow.
    No,
}

/// The oldest work of a queue.
pub(super) struct Oldest<'a>(&'a Work);

impl Oldest<'_> {
    #[inline(always)]
    pub(super) fn wr_id(&self) -> u64 {
        self.0.wr_id.load(Ordering::Relaxed)
    }
}

/// Is `number` at or behind `done`?
#[inline(always)]
fn is_done(number: u32, done: u32) -> bool {
    done.wrapping_sub(number) as i32 >= 0
}

/// The mark of work at `number`.
#[inline(always)]
fn mark(signaled: bool, number: u32) -> u32 {
    match signaled {
        true => number,
        false => !number,
    }
}

#[inline(always)]
fn is_signaled(wqe: &Wqe<'_>) -> bool {
    wqe.flags & SendWqe::SIGNALED != 0
}

impl WorkQueue {
    fn new(cq: Arc<CqInner>, depth: u32, places: u32, reasons: u32) -> Self {
        let nothing = |place: u32| Work {
            wr_id: AtomicU64::new(0),
            mark: AtomicU32::new(!place),
            end: AtomicU32::new(place),
        };
        Self {
            cq,
            depth,
            latch: Latch::new(reasons | why::UNTOLD),
            tail: AtomicU32::new(0),
            posted: AtomicU32::new(0),
            work: (0..places).map(nothing).collect(),
            head: AtomicU32::new(0),
            limit: AtomicU32::new(depth),
        }
    }

    /// The place of the work at `number`.
    #[inline(always)]
    fn at(&self, number: u32) -> Option<&Work> {
        self.work.get(number as usize & (self.work.len() - 1))
    }

    /// Work requests under way, or done and not polled.
    fn under_way(&self) -> u32 {
        let posted = self.posted.load(Ordering::Relaxed);
        let freed = self.limit.load(Ordering::Acquire).wrapping_sub(self.depth);
        posted.wrapping_sub(freed)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        !self.has_room(1)
    }

    /// Is there a place for so many more, which are one at least?
    #[inline(always)]
    fn has_room(&self, places: u32) -> bool {
        let last = self.posted.load(Ordering::Relaxed).wrapping_add(places - 1);
        !is_done(self.limit.load(Ordering::Acquire), last)
    }

    /// Are its places in the completion queue counted? It does not change while that has its lock.
    #[inline(always)]
    pub(super) fn is_counted(&self) -> bool {
        self.latch.has(why::COUNTED)
    }

    /// Who takes looks at it: the next post rings.
    pub(super) fn look(&self) {
        self.latch.add(why::UNTOLD);
    }

    // ------------------------------------------------------------------ who posts

    /// Where the next work request goes; with the latch.
    #[inline(always)]
    fn next(&self) -> u32 {
        self.tail.load(Ordering::Relaxed)
    }

    /// What is to be remembered of the next work request, which has this place.
    #[inline(always)]
    fn place(&self, at: usize) -> Option<&Work> {
        self.work.get(at)
    }

    /// Something was posted by the short way.
    #[inline(always)]
    fn pass_back(&self, held: Held<'_>) -> Short {
        match held.pass_back() {
            true => Short::Posted,
            false => Short::Late,
        }
    }

    /// After [`Short::No`].
    pub(super) fn wake(&self) {
        self.latch.wake();
    }

    /// There is no room, or no place that it may be in.
    #[inline(always)]
    fn give_up(&self, held: Held<'_>) -> Short {
        held.give_up();
        Short::No
    }

    /// After [`Short::Late`]: is the bell to be rung?
    pub(super) fn settle(&self) -> bool {
        self.latch.settle(why::UNTOLD)
    }

    /// Keeps places for work requests and their CQEs; `done`: how far the queue is done.
    fn reserve(
        &self,
        places: u32,
        full: fn(u32) -> VerbsError,
        done: impl FnOnce() -> u32,
    ) -> Result<Held<'_>, VerbsError> {
        let held = self.latch.lock();
        if !self.has_room(places) && !self.make_room(places, done) {
            return Err(full(self.depth));
        }
        if self.is_counted() {
            for promised in 0..places {
                if let Err(refused) = self.cq.promise() {
                    self.cq.forget(promised as usize);
                    return Err(refused);
                }
            }
        }
        Ok(held)
    }

    /// Gives back the places of what was done silently; true: there are so many now.
    #[cold]
    fn make_room(&self, places: u32, done: impl FnOnce() -> u32) -> bool {
        self.cq.reap(self, done());
        self.has_room(places)
    }

    /// The work request from `number` to `end` was put there.
    #[inline(always)]
    fn remember(&self, work: &Work, wr_id: u64, signaled: bool, number: u32, end: u32) {
        self.remember_as(work, wr_id, mark(signaled, number), end);
    }

    /// The same, with its mark.
    #[inline(always)]
    fn remember_as(&self, work: &Work, wr_id: u64, mark: u32, end: u32) {
        work.wr_id.store(wr_id, Ordering::Relaxed);
        work.mark.store(mark, Ordering::Relaxed);
        work.end.store(end, Ordering::Relaxed);
        let posted = self.posted.load(Ordering::Relaxed);
        self.posted.store(posted.wrapping_add(1), Ordering::Relaxed);
        self.tail.store(end, Ordering::Relaxed);
    }

    /// From now on its places in the completion queue are counted; how many it has. With the completion queue's lock, and its own.
    pub(super) fn count(&self, _held: &Held<'_>) -> usize {
        match self.latch.add(why::COUNTED) {
            true => self.under_way() as usize,
            false => 0,
        }
    }

    /// No post is under way while this lives.
    pub(super) fn hold(&self) -> Held<'_> {
        self.latch.lock()
    }

    // ------------------------------------------------------------------ who polls, with the completion queue's lock

    /// Gives back the place of the oldest work.
    #[inline(always)]
    pub(super) fn free_oldest(&self, oldest: Oldest<'_>) {
        self.free(oldest.0.end.load(Ordering::Relaxed), 1);
    }

    /// What the work that a CQE is of is to the program; all before it has its places back as well, and this says how many that are. `None`: no such
    /// work is under way.
    pub(super) fn finish(&self, number: u32) -> Option<(Ended, usize)> {
        let mut head = self.head.load(Ordering::Relaxed);
        let mut ended = 0;
        while ended < self.depth {
            let work = self.oldest(head)?;
            let what = work.ended(head);
            ended += 1;
            let is_it = head == number;
            head = work.end.load(Ordering::Relaxed);
            if is_it {
                self.free(head, ended);
                return Some((what, ended as usize));
            }
        }
        None
    }

    /// Gives back the places of the oldest work that is done and makes no CQE; how many.
    pub(super) fn reap(&self, done: u32) -> usize {
        let mut head = self.head.load(Ordering::Relaxed);
        let mut reaped = 0;
        while head != done && is_done(head, done) {
            let Some(work) = self.oldest(head) else {
                break;
            };
            if work.is_signaled_at(head) {
                break;
            }
            head = work.end.load(Ordering::Relaxed);
            reaped += 1;
        }
        self.free(head, reaped);
        reaped as usize
    }

    /// The work at `head`, if there is some.
    fn oldest(&self, head: u32) -> Option<&Work> {
        let work = self.at(head)?;
        let blocks = work.end.load(Ordering::Relaxed).wrapping_sub(head);
        (work.is_at(head) && (1..=MAX_BLOCKS).contains(&blocks)).then_some(work)
    }

    /// All before `head` has its places back: so many more.
    #[inline(always)]
    fn free(&self, head: u32, count: u32) {
        self.head.store(head, Ordering::Relaxed);
        let limit = self.limit.load(Ordering::Relaxed);
        self.limit
            .store(limit.wrapping_add(count), Ordering::Release);
    }

    /// Nothing is posted any more, and nobody polls: the places of all work are given back but for those of `cqes`, which are there and nobody
    /// took.
    fn close(&self, cqes: usize) {
        let _held = self.latch.lock();
        if self.is_counted() {
            let placed = self.under_way() as usize;
            self.cq.forget(placed.saturating_sub(cqes));
        }
    }

    /// Work requests that have a place at most.
    pub(super) fn depth(&self) -> usize {
        self.depth as usize
    }
}

impl Work {
    /// Is it the work at `number`?
    fn is_at(&self, number: u32) -> bool {
        let mark = self.mark.load(Ordering::Relaxed);
        [0, pair::WRITE, pair::IMMEDIATE]
            .into_iter()
            .any(|of_pair| [number, !number].contains(&(mark ^ of_pair)))
    }

    /// Does it make a CQE in any case? It is the work at `number`.
    fn is_signaled_at(&self, number: u32) -> bool {
        let mark = self.mark.load(Ordering::Relaxed);
        [number, number ^ pair::IMMEDIATE].contains(&mark)
    }

    /// What its end is to the program; it is the work at `number`.
    fn ended(&self, number: u32) -> Ended {
        let wr_id = self.wr_id.load(Ordering::Relaxed);
        let mark = self.mark.load(Ordering::Relaxed);
        let is = |of_pair| [number, !number].contains(&(mark ^ of_pair));
        match (is(pair::WRITE), is(pair::IMMEDIATE)) {
            (true, _) => Ended::Part,
            (_, true) => Ended::Pair(wr_id),
            _ => Ended::Work(wr_id),
        }
    }
}

impl Rings {
    pub(super) fn new(
        id: QpId,
        qp_num: u32,
        capacity: Capacity,
        [send_cq, recv_cq]: [Arc<CqInner>; 2],
        shared: Option<Arc<SrqRings>>,
        memory: Option<QueueMemory>,
        deferred: bool,
    ) -> Result<Self, VerbsError> {
        let direct = match deferred {
            true => 0,
            false => why::DIRECT,
        };
        let (send, recv) = match shared {
            Some(_) => (capacity.send, 0),
            None => (capacity.send, capacity.recv),
        };
        let layout = QueuePair::new(capacity).ok_or(weft_engine::Error::InvalidQpConfig)?;
        let queue = WorkQueue::new(recv_cq, recv, layout.recv_elements(), direct);
        if shared.is_some() {
            // No completion is of its oldest work: there is none.
            queue.head.store(u32::MAX, Ordering::Relaxed);
        }
        let bytes = layout.bytes();
        Ok(Self {
            id,
            qp_num,
            capacity,
            layout,
            memory: memory.ok_or(VerbsError::NoMemory { bytes })?,
            send: WorkQueue::new(send_cq, send, layout.send_blocks(), direct | why::UNBOUND),
            recv: queue,
            shared,
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

    /// Nothing is posted from now on but what is being posted.
    fn bar(&self) {
        self.send.latch.add(why::BARRED);
        self.recv.latch.add(why::BARRED);
    }

    /// Each post is looked at: no short way.
    pub(super) fn look_at_each(&self) {
        self.send.latch.add(why::KIND);
        self.recv.latch.add(why::KIND);
    }

    /// Another process has them from now on; false: one has them already.
    pub(super) fn share(&self) -> bool {
        let lent = self.mark(LENT);
        self.bar();
        lent
    }

    /// Nothing is in the way of any send.
    pub(super) fn is_open(&self) -> bool {
        self.gate.load(Ordering::Acquire) == BOUND
    }

    #[inline(always)]
    fn has(&self, bit: u8) -> bool {
        self.gate.load(Ordering::Acquire) & bit != 0
    }

    /// Nothing is in the way of a receive.
    pub(super) fn takes_receives(&self) -> bool {
        !self.has(LENT | FAILED | ABANDONED)
    }

    /// Nobody has its connection any more: it was aborted.
    pub(super) fn abandon(&self) {
        self.mark(ABANDONED);
        self.bar();
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.has(ABANDONED)
    }

    pub(super) fn is_lent(&self) -> bool {
        self.has(LENT)
    }

    pub(super) fn is_bound(&self) -> bool {
        self.has(BOUND)
    }

    #[inline(always)]
    pub(super) fn takes_reads(&self) -> bool {
        !self.has(NO_READS)
    }

    /// Posts a work request of one SGE to the send queue, if nothing is unusual; `wqe` has no payload yet. There is no call in it, and what it
    /// needs it reads when it needs it: so it saves no registers.
    #[inline(always)]
    pub(super) fn try_post_send(&self, wr_id: u64, wqe: Wqe<'_>, sge: &wr::Sge<'_>) -> Short {
        let queue = &self.send;
        let Some(held) = queue.latch.try_pass() else {
            return Short::No;
        };
        let number = queue.next();
        if queue.is_full() {
            return queue.give_up(held);
        }
        let sges = [sge.queued()];
        let wqe = Wqe {
            payload: Payload::Sges(&sges),
            ..wqe
        };
        let memory = self.memory();
        if self.layout.put_send(memory, number, &wqe) != 1 {
            return queue.give_up(held);
        }
        // Read once more, so that it need not be kept.
        let number = queue.next();
        let Some(work) = queue.place(self.layout.send_at(number)) else {
            return queue.give_up(held);
        };
        let end = number.wrapping_add(1);
        queue.remember(work, wr_id, is_signaled(&wqe), number, end);
        self.layout.ring_send(memory, end);
        queue.pass_back(held)
    }

    /// The same for any WQE.
    #[inline(always)]
    pub(super) fn try_post_wqe(&self, wr_id: u64, wqe: &Wqe<'_>) -> Short {
        let (queue, memory) = (&self.send, self.memory());
        let Some(held) = queue.latch.try_pass() else {
            return Short::No;
        };
        let number = queue.next();
        let blocks = match queue.is_full() {
            true => 0,
            false => self.layout.put_send(memory, number, wqe),
        };
        let place = queue.place(self.layout.send_at(number));
        let (1.., Some(work)) = (blocks, place) else {
            return queue.give_up(held);
        };
        let end = number.wrapping_add(blocks);
        queue.remember(work, wr_id, is_signaled(wqe), number, end);
        self.layout.ring_send(memory, end);
        queue.pass_back(held)
    }

    /// Posts, or says why not. Is the bell to be rung?
    pub(super) fn post_send(&self, wr_id: u64, wqe: &Wqe<'_>) -> Result<bool, VerbsError> {
        let (queue, layout, memory) = (&self.send, self.layout, self.memory());
        let full = |depth| VerbsError::SendQueueFull { depth };
        let held = queue.reserve(1, full, || layout.send_done(memory))?;
        let number = queue.tail.load(Ordering::Relaxed);
        let end = number.wrapping_add(layout.put_send(memory, number, wqe));
        if let Some(work) = queue.at(number) {
            queue.remember(work, wr_id, is_signaled(wqe), number, end);
        }
        layout.ring_send(memory, end);
        Ok(held.leave(why::UNTOLD))
    }

    /// Posts a Write and the Immediate Data behind it, which are one work request, or neither. Is the bell to be rung?
    pub(super) fn post_pair(
        &self,
        wr_id: u64,
        write: &Wqe<'_>,
        immediate: &Wqe<'_>,
    ) -> Result<bool, VerbsError> {
        let (queue, layout, memory) = (&self.send, self.layout, self.memory());
        let full = |depth| VerbsError::SendQueueFull { depth };
        let held = queue.reserve(2, full, || layout.send_done(memory))?;
        // Before a CQE of the pair's can be there.
        queue.cq.take_long_way();
        let first = queue.next();
        let second = first.wrapping_add(layout.put_send(memory, first, write));
        let end = second.wrapping_add(layout.put_send(memory, second, immediate));
        let marks = [
            mark(false, first) ^ pair::WRITE,
            mark(is_signaled(immediate), second) ^ pair::IMMEDIATE,
        ];
        for ((number, end), mark) in [(first, second), (second, end)].into_iter().zip(marks) {
            if let Some(work) = queue.at(number) {
                queue.remember_as(work, wr_id, mark, end);
            }
        }
        layout.ring_send(memory, end);
        Ok(held.leave(why::UNTOLD))
    }

    /// Work requests that there is room for in the send queue.
    pub(super) fn send_room(&self) -> u32 {
        let queue = &self.send;
        let _held = queue.latch.lock();
        queue.cq.reap(queue, self.layout.send_done(self.memory()));
        queue.depth.saturating_sub(queue.under_way())
    }

    /// As [`try_post_send`](Self::try_post_send), of a receive.
    #[inline(always)]
    pub(super) fn try_post_recv(&self, wr_id: u64, sge: &wr::Sge<'_>) -> Short {
        let queue = &self.recv;
        let Some(held) = queue.latch.try_pass() else {
            return Short::No;
        };
        let number = queue.next();
        if queue.is_full() {
            return queue.give_up(held);
        }
        let (list, memory) = ([sge.queued()], self.memory());
        if !self.layout.put_recv(memory, number, &list) {
            return queue.give_up(held);
        }
        let number = queue.next();
        let Some(work) = queue.place(self.layout.recv_at(number)) else {
            return queue.give_up(held);
        };
        let end = number.wrapping_add(1);
        queue.remember(work, wr_id, true, number, end);
        self.layout.ring_recv(memory, end);
        queue.pass_back(held)
    }

    /// The same for any element.
    #[inline(always)]
    pub(super) fn try_post_element(&self, wr_id: u64, list: &[Sge]) -> Short {
        let (queue, memory) = (&self.recv, self.memory());
        let Some(held) = queue.latch.try_pass() else {
            return Short::No;
        };
        let number = queue.next();
        let is_put = !queue.is_full() && self.layout.put_recv(memory, number, list);
        let place = queue.place(self.layout.recv_at(number));
        let (true, Some(work)) = (is_put, place) else {
            return queue.give_up(held);
        };
        let end = number.wrapping_add(1);
        queue.remember(work, wr_id, true, number, end);
        self.layout.ring_recv(memory, end);
        queue.pass_back(held)
    }

    /// As [`post_send`](Self::post_send).
    pub(super) fn post_recv(&self, wr_id: u64, list: &[Sge]) -> Result<bool, VerbsError> {
        let (queue, layout, memory) = (&self.recv, self.layout, self.memory());
        let full = |depth| VerbsError::RecvQueueFull { depth };
        let held = queue.reserve(1, full, || layout.recv_done(memory))?;
        let number = queue.tail.load(Ordering::Relaxed);
        let end = number.wrapping_add(1);
        layout.put_recv(memory, number, list);
        if let Some(work) = queue.at(number) {
            queue.remember(work, wr_id, true, number, end);
        }
        layout.ring_recv(memory, end);
        Ok(held.leave(why::UNTOLD))
    }

    /// The work that a CQE of the send queue is of, if that is the oldest of all that have places. The CQE is this process's own: it is
    /// believed that there is such work. Only by who has the completion queue's lock.
    #[inline(always)]
    pub(super) fn oldest_send(&self, number: u32) -> Option<Oldest<'_>> {
        if self.send.head.load(Ordering::Relaxed) != number {
            return None;
        }
        let work = self.send.work.get(self.layout.send_at(number));
        work.map(Oldest)
    }

    /// The same of the receive queue.
    #[inline(always)]
    pub(super) fn oldest_recv(&self, number: u32) -> Option<Oldest<'_>> {
        if self.recv.head.load(Ordering::Relaxed) != number {
            return None;
        }
        let work = self.recv.work.get(self.layout.recv_at(number));
        work.map(Oldest)
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

/// What the device knows of them.
impl Queues for Rings {
    fn qp_num(&self) -> u32 {
        self.qp_num
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn layout(&self) -> QueuePair {
        self.layout
    }

    fn memory(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    fn look(&self) {
        self.send.look();
        self.recv.look();
    }

    fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn bind(&self) {
        self.mark(BOUND);
        self.send.latch.remove(why::UNBOUND);
    }

    fn fail(&self) {
        self.mark(FAILED);
        self.bar();
    }

    fn refuse_reads(&self) {
        self.mark(NO_READS);
    }

    fn complete(&self, cqe: Cqe) {
        let queue = match cqe.opcode == CqeOpcode::Recv as u8 {
            true => &self.recv,
            false => &self.send,
        };
        queue.cq.complete(cqe);
    }
}
