//! Completion queues.

mod moderation;
mod resize;
mod xrc;

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use spin::mutex::{SpinMutex, SpinMutexGuard};
use weft_layout::{CqDoorbell, Cqe, CqeOpcode, CqeStatus};
use weft_queues::CompletionQueue;

pub use self::moderation::Moderation;
use self::moderation::Moderator;
use super::comp_channel::{deadline, Announce, CompChannel};
use super::rings::{Ended, Rings, WorkQueue};
use super::srq::SrqRings;
use super::wc::{usual, FoundWc, Wc, WcOpcode, WcStatus};
use super::VerbsError;
use crate::device::{Device, Said};
use weft_card_transport::queue_memory::QueueMemory;

/// Which completions make an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notify {
    /// The next one.
    Any,
    /// The next one whose sender asked for it, or that failed.
    Solicited,
}

/// A completion queue. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Cq {
    device: Device,
    inner: Arc<CqInner>,
}

pub(crate) struct CqInner {
    /// Its size. Only who has the device's lock and both sides changes it.
    cqe: AtomicUsize,
    announced: Option<Announce>,
    /// Its memory, if it can be lent: for good.
    shareable: Option<QueueMemory>,
    /// Places that neither work under way nor a CQE not polled has, once they are [counted](Taking::is_counted). Fewer than none for a moment
    /// in which somebody finds out that there is none.
    free: AtomicIsize,
    overruns: Said,
    writing: SpinMutex<Writing>,
    taking: SpinMutex<Taking>,
}

/// The ring, as both sides have it.
#[derive(Clone)]
struct Ring {
    layout: CompletionQueue,
    memory: QueueMemory,
}

/// The side of who completes; taken with the device's lock, but for arming.
struct Writing {
    ring: Ring,
    /// CQEs written.
    written: u32,
    moderator: Option<Moderator>,
}

/// The poller's side, while nobody else has it.
type Held<'a> = SpinMutexGuard<'a, Taking>;

/// IdlePolls before a thread that wants it goes to sleep: a poll takes some ten nanoseconds for each completion.
const LOOKS: usize = 64;
/// How long it sleeps each time. Whoever has it is not on a processor.
const NAP: Duration = Duration::from_micros(20);

/// No CQE has it.
const NEVER: u32 = u32::MAX;

/// The poller's side.
struct Taking {
    ring: Ring,
    next: Next,
    /// The queue pairs that complete here, by their flow.
    queues: Vec<Option<Arc<Rings>>>,
    /// Places of the queues that complete here, and of [`orphans`](Self::orphans): while each of them has one here, a place in a queue is one
    /// here as well.
    reserved: usize,
    /// There are more of them than CQEs: each place is counted from then on, those of a queue once it [is](WorkQueue::is_counted).
    is_counted: bool,
    /// CQEs of queue pairs that are no more, while places are not counted.
    orphans: usize,
    /// Shared receive queues whose receives complete here. Each has places for all of them, as long as it is here.
    shared: Vec<Shared>,
    /// Another process polls.
    is_lent: bool,
}

/// A shared receive queue whose receives complete here.
struct Shared {
    srq: Arc<SrqRings>,
    /// Its queue pairs that complete here.
    queue_pairs: usize,
    /// CQEs of those that are no more: their number, and how many.
    left: Vec<(u32, usize)>,
}

/// The next CQE.
struct Next {
    /// Its number: so many were taken.
    number: u32,
    /// What it has to have for the short way: [`CompletionQueue::plain`], or [`NEVER`].
    plain: u32,
    /// What it is on the next pass.
    turned: u32,
}

impl Next {
    fn new(layout: &CompletionQueue, number: u32) -> Self {
        Self {
            number,
            plain: layout.plain(number),
            turned: layout.plain(number.wrapping_add(layout.capacity())),
        }
    }

    /// It was taken.
    #[inline(always)]
    fn step(&mut self, layout: CompletionQueue, words: &[AtomicU64]) {
        let number = self.number.wrapping_add(1);
        self.number = number;
        layout.taken(words, number);
        if layout.is_first(number) {
            std::mem::swap(&mut self.plain, &mut self.turned);
        }
    }

    /// Do all go the long way?
    fn is_closed(&self) -> bool {
        self.plain == NEVER
    }

    /// From now on all go the long way.
    fn close(&mut self) {
        (self.plain, self.turned) = (NEVER, NEVER);
    }
}

impl Ring {
    #[inline(always)]
    fn words(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    /// The CQE of this number, if it is there.
    #[inline(always)]
    fn get(&self, number: u32) -> Option<Cqe> {
        self.layout.get(self.words(), number)
    }

    /// Asks for an event.
    fn arm(&self, armed: u8) {
        self.layout.arm(self.words(), armed);
    }
}

impl Taking {
    fn new(ring: Ring) -> Self {
        Self {
            next: Next::new(&ring.layout, 0),
            ring,
            queues: Vec::new(),
            reserved: 0,
            is_counted: false,
            orphans: 0,
            shared: Vec::new(),
            is_lent: false,
        }
    }

    /// The queue of a CQE. `None`: its queue pair is no more.
    #[inline(always)]
    fn queue(&self, cqe: &Cqe) -> Option<&WorkQueue> {
        let rings = self.queues.get(usize::from(cqe.flow))?.as_ref()?;
        if rings.qp_num != cqe.qp_num {
            return None;
        }
        Some(match cqe.opcode == CqeOpcode::Recv as u8 {
            true => &rings.recv,
            false => &rings.send,
        })
    }

    /// The shared queue that a CQE's receive came from, if it did. `None` as well: its queue pair is no more.
    fn srq(&self, cqe: &Cqe) -> Option<&SrqRings> {
        let rings = self.queues.get(usize::from(cqe.flow))?.as_ref()?;
        let is_it = rings.qp_num == cqe.qp_num && cqe.opcode == CqeOpcode::Recv as u8;
        rings.shared.as_deref().filter(|_| is_it)
    }

    fn shared_at(&self, srq: &Arc<SrqRings>) -> Option<usize> {
        let mut here = self.shared.iter();
        here.position(|shared| Arc::ptr_eq(&shared.srq, srq))
    }

    /// Places of all shared queues.
    fn shared_places(&self) -> usize {
        self.shared.iter().map(|shared| shared.srq.depth()).sum()
    }
}

impl fmt::Debug for CqInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CqInner")
            .field("cqe", &self.cqe())
            .field("promised", &self.promised())
            .finish_non_exhaustive()
    }
}

impl CqInner {
    fn cqe(&self) -> usize {
        self.cqe.load(Ordering::Relaxed)
    }

    /// Places that are counted and not free.
    fn promised(&self) -> usize {
        let free = self.free.load(Ordering::Relaxed);
        self.cqe().saturating_add_signed(free.saturating_neg())
    }

    /// The file, if it can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.shareable.as_ref()?.file()
    }

    /// The poller's side, when nobody else has it. Giving it back is one store: nobody is woken.
    fn take(&self) -> Held<'_> {
        when_free(&self.taking)
    }

    /// Keeps a place for work that is being posted.
    #[inline(always)]
    pub(super) fn promise(&self) -> Result<(), VerbsError> {
        match self.try_promise() {
            true => Ok(()),
            false => self.promise_again(),
        }
    }

    #[inline(always)]
    fn try_promise(&self) -> bool {
        if self.free.fetch_sub(1, Ordering::Relaxed) <= 0 {
            self.forget(1);
            return false;
        }
        true
    }

    /// IdlePolls first for what was done silently: its places are free.
    #[cold]
    fn promise_again(&self) -> Result<(), VerbsError> {
        self.reap_all(&self.take());
        match self.try_promise() {
            true => Ok(()),
            false => Err(VerbsError::CqFull { cqe: self.cqe() }),
        }
    }

    /// Gives back the places of what was done silently in all queues.
    fn reap_all(&self, taking: &Taking) {
        let queues = taking.queues.iter().flatten();
        self.forget(queues.map(|rings| rings.reap(self)).sum());
    }

    /// Gives back the places of what was done silently in a queue, up to `done`.
    #[cold]
    pub(super) fn reap(&self, queue: &WorkQueue, done: u32) {
        let _taking = self.take();
        let reaped = queue.reap(done);
        if queue.is_counted() {
            self.forget(reaped);
        }
    }

    /// Another process polls from now on, and may write CQEs: none is believed, nor read.
    pub(super) fn share(&self) {
        let mut taking = self.take();
        taking.next.close();
        taking.is_lent = true;
    }

    /// CQEs written so far, modulo 2^32.
    pub(super) fn written(&self) -> u32 {
        when_free(&self.writing).written
    }

    /// Gives promised places back.
    #[inline(always)]
    pub(super) fn forget(&self, count: usize) {
        self.free.fetch_add(count as isize, Ordering::Relaxed);
    }

    /// As many places are counted from now on; how many were free.
    fn take_places(&self, count: usize) -> isize {
        self.free.fetch_sub(count as isize, Ordering::Relaxed)
    }

    /// The queues of a new queue pair complete here from now on: those of both, or the one. With the device's lock.
    pub(super) fn join(&self, rings: &Arc<Rings>) {
        let queues = [&rings.send, &rings.recv];
        let here = queues
            .into_iter()
            .filter(|queue| std::ptr::eq(self, &*queue.cq));
        let mut taking = self.take();
        let at = usize::from(rings.flow());
        if taking.queues.len() <= at {
            taking.queues.resize(at + 1, None);
        }
        taking.queues[at] = Some(rings.clone());
        taking.reserved += here.map(WorkQueue::depth).sum::<usize>();
        if taking.reserved <= self.cqe() && !taking.is_counted {
            return;
        }
        self.count_all(taking);
    }

    /// From now on each place is counted.
    fn count_all(&self, mut taking: Held<'_>) {
        if !taking.is_counted {
            taking.is_counted = true;
            taking.next.close();
            let placed = taking.orphans + taking.shared_places();
            self.take_places(placed);
        }
        // Who posts has its queue's lock and may want this one.
        let joined: Vec<_> = taking.queues.iter().flatten().cloned().collect();
        drop(taking);
        for rings in &joined {
            for queue in [&rings.send, &rings.recv] {
                if std::ptr::eq(self, &*queue.cq) {
                    self.count(queue);
                }
            }
        }
    }

    /// A queue pair that is about to [join](Self::join) takes its receives from a shared queue, if it does: that has a place here for each of them from
    /// now on, or the queue pair cannot be. With the device's lock.
    pub(super) fn admit(&self, rings: &Rings) -> Result<(), VerbsError> {
        let Some(srq) = &rings.shared else {
            return Ok(());
        };
        let sends = match std::ptr::eq(self, &*rings.send.cq) {
            true => rings.send.depth(),
            false => 0,
        };
        self.admit_shared(srq, sends)
    }

    /// Each receive of a shared queue has a place here from now on, or it cannot be; `sends`: places that will be wanted as well.
    fn admit_shared(&self, srq: &Arc<SrqRings>, sends: usize) -> Result<(), VerbsError> {
        let mut taking = self.take();
        if let Some(at) = taking.shared_at(srq) {
            taking.shared[at].queue_pairs += 1;
            return Ok(());
        }
        let places = srq.depth();
        let cqe = self.cqe();
        if taking.is_counted || taking.reserved + places + sends > cqe {
            self.count_all(taking);
            taking = self.take();
            if self.take_places(places) < places as isize {
                self.forget(places);
                return Err(VerbsError::CqFull { cqe });
            }
        }
        taking.reserved += places;
        taking.shared.push(Shared {
            srq: srq.clone(),
            queue_pairs: 1,
            left: Vec::new(),
        });
        Ok(())
    }

    /// Nothing of a shared queue completes here any more, if that is so: its places are free.
    fn dismiss(&self, taking: &mut Taking, at: usize) {
        let shared = &taking.shared[at];
        if shared.queue_pairs > 0 || !shared.left.is_empty() {
            return;
        }
        let places = taking.shared.swap_remove(at).srq.depth();
        taking.reserved -= places;
        if taking.is_counted {
            self.forget(places);
        }
    }

    /// From now on a queue's places are counted.
    fn count(&self, queue: &WorkQueue) {
        let held = queue.hold();
        let _taking = self.take();
        self.take_places(queue.count(&held));
    }

    /// The queue pair is no more: its CQEs that nobody took are passed over. How many there are of its receive or its send queue. With the
    /// device's lock.
    pub(super) fn leave(&self, rings: &Rings, recv: bool) -> usize {
        let mut taking = self.take();
        let gone = taking
            .queues
            .get_mut(usize::from(rings.flow()))
            .and_then(Option::take);
        if taking.is_lent {
            // It goes with its only queue pair, and what lies in it is whatever the borrower wrote.
            drop(taking);
            return 0;
        }
        let ring = taking.ring.clone();
        let count = |next: u32, recv: bool| {
            (0..ring.layout.capacity())
                .map_while(|ahead| ring.get(next.wrapping_add(ahead)))
                .filter(|cqe| {
                    cqe.qp_num == rings.qp_num && recv == (cqe.opcode == CqeOpcode::Recv as u8)
                })
                .count()
        };
        let left = count(taking.next.number, recv);
        // With the queue pair's name, at the first of two calls if both of its queues complete here: who polls between them knows what he finds.
        let is_first = gone.is_some() && std::ptr::eq(self, &*rings.recv.cq);
        let srq = rings.shared.as_ref().filter(|_| is_first);
        if let Some(at) = srq.and_then(|srq| taking.shared_at(srq)) {
            let received = count(taking.next.number, true);
            let shared = &mut taking.shared[at];
            shared.queue_pairs -= 1;
            if received > 0 {
                shared.left.push((rings.qp_num, received));
            }
            self.dismiss(&mut taking, at);
        }
        if !(taking.is_counted || recv && rings.shared.is_some()) {
            let queue = if recv { &rings.recv } else { &rings.send };
            taking.reserved = taking.reserved.saturating_sub(queue.depth()) + left;
            taking.orphans += left;
        }
        drop(taking);
        drop(gone);
        left
    }

    /// The place of a CQE whose queue pair is no more.
    fn pass_over(&self, taking: &mut Taking, cqe: &Cqe) {
        let mut shared = taking.shared.iter_mut().enumerate();
        let of_shared = shared.find_map(|(at, shared)| {
            let mut left = shared.left.iter_mut();
            let is_recv = cqe.opcode == CqeOpcode::Recv as u8;
            let left = left.find(|(qp_num, _)| is_recv && *qp_num == cqe.qp_num)?;
            left.1 -= 1;
            shared.left.retain(|(_, count)| *count > 0);
            shared.srq.finish(cqe.work);
            Some(at)
        });
        if let Some(at) = of_shared {
            return self.dismiss(taking, at);
        }
        if taking.is_counted {
            self.forget(1);
        } else if taking.orphans > 0 {
            taking.orphans -= 1;
            taking.reserved -= 1;
        }
    }

    /// Writes a CQE, for which there was a promise. Only by who has the device's lock.
    pub(super) fn complete(self: &Arc<Self>, cqe: Cqe) {
        let mut writing = when_free(&self.writing);
        let Writing {
            ring,
            written,
            moderator,
        } = &mut *writing;
        let (layout, memory) = (ring.layout, ring.words());
        if !layout.has_room(memory, *written) {
            // Who polls a lent queue says how much it took.
            if let Some(times) = self.overruns.again() {
                tracing::error!(?cqe, times, "the completion queue overran");
            }
            return;
        }
        layout.put(memory, *written, cqe);
        *written = written.wrapping_add(1);
        let Some(announced) = &self.announced else {
            return;
        };
        let armed = layout.disarm(memory);
        let failed = cqe.status != CqeStatus::Success as u8;
        let asked = armed & CqDoorbell::ANY != 0
            || armed & CqDoorbell::SOLICITED != 0 && (cqe.solicited() || failed);
        let waits = |moderator: &mut Moderator| moderator.waits(failed);
        if asked && !moderator.as_mut().is_some_and(waits) {
            drop(writing);
            announced.push(Arc::downgrade(self));
        } else if armed != 0 {
            ring.arm(armed);
        }
    }

    /// From now on all completions go the long way: some are not what their work is to the program.
    pub(super) fn take_long_way(&self) {
        self.take().next.close();
    }

    /// Writes the oldest completions, as many as there is room for; how many.
    fn pop(&self, found: &mut [Wc]) -> usize {
        self.pop_any(&mut self.take(), found)
    }

    /// The same, whatever they are.
    fn pop_any(&self, taking: &mut Taking, found: &mut [Wc]) -> usize {
        let mut count = 0;
        while let Some(wc) = found.get_mut(count) {
            let Some(cqe) = taking.ring.get(taking.next.number) else {
                break;
            };
            let Taking { ring, next, .. } = &mut *taking;
            next.step(ring.layout, ring.words());
            if cqe.of_xrc() {
                match self.finish_xrc(taking, &cqe) {
                    Some(wr_id) => {
                        wc.set(wr_id, &cqe);
                        count += 1;
                    }
                    None => report_stray(cqe),
                }
                continue;
            }
            if let Some(srq) = taking.srq(&cqe) {
                match srq.finish(cqe.work) {
                    Some(wr_id) => {
                        wc.set(wr_id, &cqe);
                        count += 1;
                    }
                    None => report_stray(cqe),
                }
                continue;
            }
            let Some(queue) = taking.queue(&cqe) else {
                self.pass_over(taking, &cqe);
                continue;
            };
            let Some((ended, places)) = queue.finish(cqe.work) else {
                report_stray(cqe);
                continue;
            };
            if queue.is_counted() {
                self.forget(places);
            }
            match ended {
                Ended::Work(wr_id) => wc.set(wr_id, &cqe),
                Ended::Pair(wr_id) => {
                    wc.set(wr_id, &cqe);
                    wc.opcode = WcOpcode::RdmaWrite;
                }
                Ended::Part => continue,
            }
            count += 1;
        }
        count
    }

    /// The short way: the oldest completion, if it has no flags and ends the oldest work of its queue. Was it so?
    #[inline(always)]
    fn pop_short(&self, taking: &mut Taking, found: &mut impl FoundWc) -> bool {
        let Taking {
            ring, next, queues, ..
        } = taking;
        let words = ring.words();
        let Some(cqe) = ring.layout.get_plain(words, next.number, next.plain) else {
            return false;
        };
        let Some(Some(rings)) = queues.get(usize::from(cqe.flow())) else {
            return false;
        };
        let Some((opcode, status)) = usual(cqe.what_and_how()) else {
            return false;
        };
        // Written as soon as it is known: so there is little to be kept. The long way writes over it.
        let (qp_num, number) = cqe.names();
        found.what(opcode, status, qp_num);
        if rings.qp_num != qp_num {
            return false;
        }
        let (queue, oldest) = match opcode {
            WcOpcode::Recv => (&rings.recv, rings.oldest_recv(number)),
            _ => (&rings.send, rings.oldest_send(number)),
        };
        let Some(oldest) = oldest else {
            return false;
        };
        found.which(oldest.wr_id(), cqe.byte_len());
        // The CQE's place is free before the work's: work that is posted there may complete at once.
        next.step(ring.layout, words);
        queue.free_oldest(oldest);
        true
    }

    /// The short way, if nobody else polls; was it so?
    #[inline(always)]
    fn pop_one(&self, found: &mut impl FoundWc) -> bool {
        let Some(mut taking) = self.taking.try_lock() else {
            return false;
        };
        self.pop_short(&mut taking, found)
    }
}

/// A side, when nobody else has it.
fn when_free<T>(side: &SpinMutex<T>) -> SpinMutexGuard<'_, T> {
    let mut looks = 0;
    loop {
        if let Some(held) = side.try_lock() {
            return held;
        }
        looks += 1;
        match looks < LOOKS {
            true => std::hint::spin_loop(),
            false => std::thread::sleep(NAP),
        }
    }
}

/// The layout of a queue of so many entries.
fn layout_of(cqe: usize) -> Result<CompletionQueue, VerbsError> {
    let wrong = |allowed| VerbsError::InvalidSize {
        what: "the number of completion queue entries",
        given: cqe as u64,
        allowed,
    };
    match cqe {
        0 => Err(wrong("at least 1")),
        _ => CompletionQueue::new(cqe).ok_or(wrong("at most 16777216")),
    }
}

#[cold]
fn report_stray(cqe: Cqe) {
    tracing::error!(?cqe, "completion of work that is not under way");
}

impl Device {
    /// A completion queue of `cqe` entries. Work is accepted only while every completion it can make has a
    /// place, so the queue cannot overrun.
    #[tracing::instrument(name = "create_cq", level = "debug", skip_all, fields(device = self.name(), cqe = cqe))]
    #[doc(alias("ibv_create_cq", "ibv_create_cq_ex", "ibv_destroy_cq"))]
    pub fn create_cq(&self, cqe: usize, channel: Option<&CompChannel>) -> Result<Cq, VerbsError> {
        self.make_cq(cqe, channel, false)
    }

    /// A completion queue for a queue pair that is lent to another process ([`Qp::share`](super::Qp::share)).
    #[tracing::instrument(name = "create_cq", level = "debug", skip_all, fields(device = self.name(), cqe = cqe))]
    pub fn create_shareable_cq(&self, cqe: usize) -> Result<Cq, VerbsError> {
        self.make_cq(cqe, None, true)
    }

    fn make_cq(
        &self,
        cqe: usize,
        channel: Option<&CompChannel>,
        shareable: bool,
    ) -> Result<Cq, VerbsError> {
        let layout = layout_of(cqe)?;
        if channel.is_some_and(|channel| !channel.device().is(self)) {
            return Err(VerbsError::WrongDevice {
                what: "completion channel",
            });
        }
        let bytes = layout.bytes();
        let memory = QueueMemory::new(bytes, shareable).ok_or(VerbsError::NoMemory { bytes })?;
        let shareable = shareable.then(|| memory.clone());
        let ring = Ring { layout, memory };
        Ok(Cq {
            device: self.clone(),
            inner: Arc::new(CqInner {
                cqe: AtomicUsize::new(cqe),
                announced: channel.map(|channel| channel.announce().clone()),
                shareable,
                free: AtomicIsize::new(cqe as isize),
                overruns: Said::default(),
                writing: SpinMutex::new(Writing {
                    ring: ring.clone(),
                    written: 0,
                    moderator: None,
                }),
                taking: SpinMutex::new(Taking::new(ring)),
            }),
        })
    }
}

impl Cq {
    pub(super) fn of(device: &Device, inner: Arc<CqInner>) -> Self {
        Self {
            device: device.clone(),
            inner,
        }
    }

    pub(super) fn inner(&self) -> &Arc<CqInner> {
        &self.inner
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its size.
    pub fn cqe(&self) -> usize {
        self.inner.cqe()
    }

    /// Are the two the same queue?
    pub fn is(&self, other: &Cq) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    fn pop(&self) -> Option<Wc> {
        let mut wc = Wc::default();
        let count = self.inner.pop(std::slice::from_mut(&mut wc));
        (count > 0).then_some(wc)
    }

    /// Writes the oldest completions over `found`, as many as it has room for (`ibv_poll_cq`); how many. What is behind them in `found` means
    /// nothing. Lets the device make progress when there is none.
    ///
    /// There is one call in it, for whatever is not usual: so the usual way saves no registers for it.
    #[inline(always)]
    #[doc(alias = "ibv_poll_cq")]
    pub fn poll_slice(&self, found: &mut [Wc]) -> Result<usize, VerbsError> {
        let found = match found {
            [wc] => {
                if !tracing::level_enabled!(tracing::Level::TRACE) && self.inner.pop_one(wc) {
                    return Ok(1);
                }
                std::slice::from_mut(wc)
            }
            found => found,
        };
        Self::poll_else(found, self)
    }

    /// Writes the oldest completion, if nothing about it is unusual; was it so? Else [`poll_slice`](Self::poll_slice) has to follow, and writes over
    /// what was found.
    #[inline(always)]
    pub fn poll_usual(&self, found: &mut impl FoundWc) -> bool {
        !tracing::level_enabled!(tracing::Level::TRACE) && self.inner.pop_one(found)
    }

    /// The call that is not on the usual way.
    #[cold]
    #[inline(never)]
    fn poll_else(found: &mut [Wc], cq: &Cq) -> Result<usize, VerbsError> {
        Self::poll_rest(found, cq)
    }

    /// Whatever they are.
    #[inline(never)]
    fn poll_rest(found: &mut [Wc], cq: &Cq) -> Result<usize, VerbsError> {
        match tracing::level_enabled!(tracing::Level::TRACE) {
            true => cq.poll_traced(found),
            false => cq.poll_many(found),
        }
    }

    #[cold]
    #[tracing::instrument(name = "poll_cq", level = "trace", skip_all, fields(device = self.device.name()))]
    fn poll_traced(&self, found: &mut [Wc]) -> Result<usize, VerbsError> {
        self.poll_many(found)
    }

    fn poll_many(&self, found: &mut [Wc]) -> Result<usize, VerbsError> {
        let mut taking = self.inner.take();
        let mut count = 0;
        while let Some(wc) = found.get_mut(count) {
            if !self.inner.pop_short(&mut taking, wc) {
                let rest = found.get_mut(count..).unwrap_or_default();
                count += self.inner.pop_any(&mut taking, rest);
                break;
            }
            count += 1;
        }
        drop(taking);
        if count > 0 {
            return Ok(count);
        }
        self.device.progress()?;
        Ok(self.inner.pop(found))
    }

    /// The oldest completion, if there is one. Lets the device make progress when there is none.
    #[doc(alias = "ibv_start_poll")]
    pub fn poll_one(&self) -> Result<Option<Wc>, VerbsError> {
        let mut wc = Wc::default();
        let count = self.poll_slice(std::slice::from_mut(&mut wc))?;
        Ok((count > 0).then_some(wc))
    }

    /// The oldest completion, if there is one already: for a program whose device another thread drives. The device makes no progress by it.
    pub fn poll_there(&self) -> Option<Wc> {
        self.pop()
    }

    /// Up to `max` completions, oldest first.
    #[doc(alias = "ibv_next_poll")]
    pub fn poll(&self, max: usize) -> Result<Vec<Wc>, VerbsError> {
        let mut found = Vec::new();
        while found.len() < max {
            let next = if found.is_empty() {
                self.poll_one()?
            } else {
                self.pop()
            };
            match next {
                Some(wc) => found.push(wc),
                None => break,
            }
        }
        Ok(found)
    }

    /// The next completion, which has to be one of success: another one, or none in time, is an error. For programs that do one
    /// thing after the other.
    pub fn wait_success(&self, timeout: Option<Duration>) -> Result<Wc, VerbsError> {
        match self.wait_one(timeout)? {
            Some(wc) if wc.status == WcStatus::Success => Ok(wc),
            came => Err(VerbsError::NotDone {
                came: came.map(|wc| (wc.wr_id, wc.status)),
            }),
        }
    }

    /// The oldest completion; sleeps until there is one or the time is over.
    #[tracing::instrument(name = "wait_cq", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn wait_one(&self, timeout: Option<Duration>) -> Result<Option<Wc>, VerbsError> {
        let found = self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?;
        Ok(found)
    }

    /// Asks for one event in the completion channel at the next completion (`ibv_req_notify_cq`). Poll once
    /// more afterwards: a completion that was there already makes no event.
    #[tracing::instrument(name = "req_notify_cq", level = "debug", skip_all, fields(device = self.device.name(), ?which))]
    #[doc(alias = "ibv_req_notify_cq")]
    pub fn req_notify(&self, which: Notify) -> Result<(), VerbsError> {
        if self.inner.announced.is_none() {
            return Err(VerbsError::NoChannel);
        }
        let armed = match which {
            Notify::Any => CqDoorbell::ANY,
            Notify::Solicited => CqDoorbell::SOLICITED,
        };
        when_free(&self.inner.writing).ring.arm(armed);
        Ok(())
    }
}
