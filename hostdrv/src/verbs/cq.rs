//! Completion queues and completion channels.

mod xrc;

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use spin::mutex::{SpinMutex, SpinMutexGuard};
use weft_layout::{CqDoorbell, Cqe, CqeOpcode, CqeStatus};
use weft_queues::CompletionQueue;

use super::rings::{Rings, WorkQueue};
use super::srq::SrqRings;
use super::VerbsError;
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;
use crate::queue_memory::QueueMemory;

/// How work ended (`ibv_wc_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)] // The numbers are the CQE's: nothing has to be translated.
pub enum WcStatus {
    /// Done.
    Success = CqeStatus::Success as u8,
    /// The card could not use this work's memory: `IBV_WC_LOC_PROT_ERR`.
    LocalProtectionError = CqeStatus::LocalProtection as u8,
    /// Not done, because the connection ended or failed before: `IBV_WC_WR_FLUSH_ERR`.
    WrFlushError = CqeStatus::Flushed as u8,
    /// The peer refused the access: `IBV_WC_REM_ACCESS_ERR`.
    RemoteAccessError = CqeStatus::RemoteAccess as u8,
    /// The peer could not do it: `IBV_WC_REM_OP_ERR`.
    RemoteOperationError = CqeStatus::RemoteOperation as u8,
    /// The work request says nothing that can be done: `IBV_WC_LOC_QP_OP_ERR`.
    LocalQpOperationError = CqeStatus::LocalOperation as u8,
    /// Something else: `IBV_WC_GENERAL_ERR`.
    GeneralError = CqeStatus::RemoteOperation as u8 + 1,
}

/// What was done (`ibv_wc_opcode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)] // Likewise.
pub enum WcOpcode {
    /// A Send of this side.
    Send = CqeOpcode::Send as u8,
    /// A Write of this side.
    RdmaWrite = CqeOpcode::Write as u8,
    /// A Read of this side.
    RdmaRead = CqeOpcode::Read as u8,
    /// A receive.
    Recv = CqeOpcode::Recv as u8,
    /// A local invalidate (`IBV_WC_LOCAL_INV`).
    LocalInvalidate = CqeOpcode::LocalInvalidate as u8,
    /// A bind of a memory window (`IBV_WC_BIND_MW`).
    BindMw = CqeOpcode::Bind as u8,
    /// A fast registration (`IB_WC_REG_MR`).
    FastRegister = CqeOpcode::FastRegister as u8,
    /// An atomic (`IBV_WC_FETCH_ADD`).
    FetchAdd = CqeOpcode::FetchAdd as u8,
    /// An atomic (`IBV_WC_COMP_SWAP`).
    CompSwap = CqeOpcode::CmpSwap as u8,
}

/// A work completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wc {
    /// Of the work request.
    pub wr_id: u64,
    /// How it ended.
    pub status: WcStatus,
    /// What it was.
    pub opcode: WcOpcode,
    /// Bytes moved; meaningful on success.
    pub byte_len: u32,
    /// The queue pair ([`Qp::qp_num`](super::Qp::qp_num)).
    pub qp_num: u32,
    /// A receive: the sender asked for an event.
    pub solicited: bool,
    /// A receive: this STag of ours was invalidated by it.
    pub invalidated_rkey: Option<u32>,
    /// A receive: it took Immediate Data, this (`IBV_WC_WITH_IMM`).
    pub imm_data: Option<u64>,
}

impl Default for Wc {
    /// Of nothing: to be written over by [`Cq::poll_slice`].
    fn default() -> Self {
        Self {
            wr_id: 0,
            status: WcStatus::GeneralError,
            opcode: WcOpcode::Send,
            byte_len: 0,
            qp_num: 0,
            solicited: false,
            invalidated_rkey: None,
            imm_data: None,
        }
    }
}

impl From<CqeStatus> for WcStatus {
    #[inline(always)]
    fn from(status: CqeStatus) -> Self {
        match status {
            CqeStatus::Success => WcStatus::Success,
            CqeStatus::Flushed => WcStatus::WrFlushError,
            CqeStatus::LocalProtection => WcStatus::LocalProtectionError,
            CqeStatus::LocalOperation => WcStatus::LocalQpOperationError,
            CqeStatus::RemoteAccess => WcStatus::RemoteAccessError,
            CqeStatus::RemoteOperation => WcStatus::RemoteOperationError,
        }
    }
}

/// What a CQE was and how it ended ([`PlainCqe::what_and_how`](weft_queues::PlainCqe::what_and_how)), if both are usual: the first four codes of each, which
/// one comparison finds out.
#[inline(always)]
fn usual(codes: u16) -> Option<(WcOpcode, WcStatus)> {
    let above = codes.wrapping_sub(CqeOpcode::Send as u16);
    if above & 0xfcfc != 0 {
        return None;
    }
    let opcode = match above & 3 {
        0 => WcOpcode::Send,
        1 => WcOpcode::RdmaWrite,
        2 => WcOpcode::RdmaRead,
        _ => WcOpcode::Recv,
    };
    let status = match above >> 8 & 3 {
        0 => WcStatus::Success,
        1 => WcStatus::WrFlushError,
        2 => WcStatus::LocalProtectionError,
        _ => WcStatus::LocalQpOperationError,
    };
    Some((opcode, status))
}

impl From<CqeOpcode> for WcOpcode {
    #[inline(always)]
    fn from(opcode: CqeOpcode) -> Self {
        match opcode {
            CqeOpcode::Send => WcOpcode::Send,
            CqeOpcode::Write => WcOpcode::RdmaWrite,
            CqeOpcode::Read => WcOpcode::RdmaRead,
            CqeOpcode::Recv => WcOpcode::Recv,
            CqeOpcode::LocalInvalidate => WcOpcode::LocalInvalidate,
            CqeOpcode::Bind => WcOpcode::BindMw,
            CqeOpcode::FastRegister => WcOpcode::FastRegister,
            CqeOpcode::FetchAdd => WcOpcode::FetchAdd,
            CqeOpcode::CmpSwap => WcOpcode::CompSwap,
        }
    }
}

impl Wc {
    /// What a CQE says. Written in place: a completion is not copied on its way to the program.
    fn set(&mut self, wr_id: u64, cqe: &Cqe) {
        self.wr_id = wr_id;
        self.status = cqe.status().map_or(WcStatus::GeneralError, WcStatus::from);
        self.opcode = cqe.opcode().map_or(WcOpcode::Send, WcOpcode::from);
        self.byte_len = cqe.byte_len;
        self.qp_num = cqe.qp_num;
        self.solicited = cqe.solicited();
        self.invalidated_rkey = cqe.has_invalidated().then_some(cqe.invalidated);
        self.imm_data = cqe.has_immediate().then_some(cqe.immediate);
    }
}

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
    cqe: usize,
    channel: Option<Arc<ChannelInner>>,
    layout: CompletionQueue,
    memory: QueueMemory,
    /// Places that work under way or a CQE not polled has, once they are [counted](Taking::is_counted).
    promised: AtomicUsize,
    /// CQEs written; only by who has the device's lock.
    written: AtomicU32,
    taking: SpinMutex<Taking>,
}

/// The poller's side, while nobody else has it.
type Held<'a> = SpinMutexGuard<'a, Taking>;

/// Looks before a thread that wants it goes to sleep: a poll takes some ten nanoseconds for each completion.
const LOOKS: usize = 64;
/// How long it sleeps each time. Whoever has it is not on a processor.
const NAP: Duration = Duration::from_micros(20);

/// No CQE has it.
const NEVER: u32 = u32::MAX;

/// The poller's side.
#[derive(Default)]
struct Taking {
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
#[derive(Default)]
struct Next {
    /// Its number: so many were taken.
    number: u32,
    /// What it has to have for the short way: [`CompletionQueue::plain`], or [`NEVER`].
    plain: u32,
    /// What it is on the next pass.
    turned: u32,
}

impl Next {
    fn new(layout: &CompletionQueue) -> Self {
        Self {
            number: 0,
            plain: layout.plain(0),
            turned: layout.plain(layout.capacity()),
        }
    }

    /// From now on all go the long way.
    fn close(&mut self) {
        (self.plain, self.turned) = (NEVER, NEVER);
    }
}

impl Taking {
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
            .field("cqe", &self.cqe)
            .field("promised", &self.promised.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

impl CqInner {
    #[inline(always)]
    fn memory(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    /// The file, if it can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.memory.file()
    }

    /// The poller's side, when nobody else has it. Giving it back is one store: nobody is woken.
    fn take(&self) -> Held<'_> {
        let mut looks = 0;
        loop {
            if let Some(taking) = self.taking.try_lock() {
                return taking;
            }
            looks += 1;
            match looks < LOOKS {
                true => std::hint::spin_loop(),
                false => std::thread::sleep(NAP),
            }
        }
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
        if self.promised.fetch_add(1, Ordering::Relaxed) >= self.cqe {
            self.forget(1);
            return false;
        }
        true
    }

    /// Looks first for what was done silently: its places are free.
    #[cold]
    fn promise_again(&self) -> Result<(), VerbsError> {
        let taking = self.take();
        let queues = taking.queues.iter().flatten();
        self.forget(queues.map(|rings| rings.reap(self)).sum());
        drop(taking);
        match self.try_promise() {
            true => Ok(()),
            false => Err(VerbsError::CqFull { cqe: self.cqe }),
        }
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

    /// Another process polls from now on, and may write CQEs: none is believed.
    pub(super) fn lend(&self) {
        self.take().next.close();
    }

    /// Gives promised places back.
    #[inline(always)]
    pub(super) fn forget(&self, count: usize) {
        self.promised.fetch_sub(count, Ordering::Relaxed);
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
        if taking.reserved <= self.cqe && !taking.is_counted {
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
            self.promised.fetch_add(placed, Ordering::Relaxed);
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
        if taking.is_counted || taking.reserved + places + sends > self.cqe {
            self.count_all(taking);
            taking = self.take();
            let promised = self.promised.fetch_add(places, Ordering::Relaxed);
            if promised + places > self.cqe {
                self.forget(places);
                return Err(VerbsError::CqFull { cqe: self.cqe });
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
        self.promised
            .fetch_add(queue.count(&held), Ordering::Relaxed);
    }

    /// The queue pair is no more: its CQEs that nobody took are passed over. How many there are of its receive or its send queue. With the
    /// device's lock.
    pub(super) fn leave(&self, rings: &Rings, recv: bool) -> usize {
        let mut taking = self.take();
        let gone = taking
            .queues
            .get_mut(usize::from(rings.flow()))
            .and_then(Option::take);
        let count = |next: u32, recv: bool| {
            (0..self.layout.capacity())
                .map_while(|ahead| self.layout.get(self.memory(), next.wrapping_add(ahead)))
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
        let number = self.written.load(Ordering::Relaxed);
        if !self.layout.has_room(self.memory(), number) {
            tracing::error!(?cqe, "the completion queue overran");
            return;
        }
        self.layout.put(self.memory(), number, cqe);
        self.written
            .store(number.wrapping_add(1), Ordering::Relaxed);
        let Some(channel) = &self.channel else {
            return;
        };
        let armed = self.layout.disarm(self.memory());
        let asked = armed & CqDoorbell::ANY != 0
            || armed & CqDoorbell::SOLICITED != 0
                && (cqe.solicited() || cqe.status != CqeStatus::Success as u8);
        if asked {
            channel.events.push(Arc::downgrade(self));
        } else if armed != 0 {
            self.layout.arm(self.memory(), armed);
        }
    }

    /// Writes the oldest completions, as many as there is room for; how many.
    fn pop(&self, found: &mut [Wc]) -> usize {
        self.pop_any(&mut self.take(), found)
    }

    /// The same, whatever they are.
    fn pop_any(&self, taking: &mut Taking, found: &mut [Wc]) -> usize {
        let (layout, memory) = (self.layout, self.memory());
        let mut count = 0;
        while let Some(wc) = found.get_mut(count) {
            let Some(cqe) = layout.get(memory, taking.next.number) else {
                break;
            };
            self.step(memory, &mut taking.next);
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
            let Some((wr_id, ended)) = queue.finish(cqe.work) else {
                report_stray(cqe);
                continue;
            };
            if queue.is_counted() {
                self.forget(ended);
            }
            wc.set(wr_id, &cqe);
            count += 1;
        }
        count
    }

    /// The short way: the oldest completion, if it has no flags and ends the oldest work of its queue. Was it so?
    #[inline(always)]
    fn pop_short(&self, taking: &mut Taking, wc: &mut Wc) -> bool {
        let memory = self.memory();
        let Some(cqe) = self
            .layout
            .get_plain(memory, taking.next.number, taking.next.plain)
        else {
            return false;
        };
        let Some(Some(rings)) = taking.queues.get(usize::from(cqe.flow())) else {
            return false;
        };
        let Some((opcode, status)) = usual(cqe.what_and_how()) else {
            return false;
        };
        // Written as soon as it is known: so there is little to be kept. The long way writes over it.
        wc.status = status;
        wc.opcode = opcode;
        let (qp_num, number) = cqe.names();
        wc.qp_num = qp_num;
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
        wc.wr_id = oldest.wr_id();
        wc.byte_len = cqe.byte_len();
        wc.solicited = false;
        wc.invalidated_rkey = None;
        wc.imm_data = None;
        // The CQE's place is free before the work's: work that is posted there may complete at once.
        self.step(memory, &mut taking.next);
        queue.free_oldest(oldest);
        true
    }

    /// The short way, if nobody else polls; was it so?
    #[inline(always)]
    fn pop_one(&self, wc: &mut Wc) -> bool {
        let Some(mut taking) = self.taking.try_lock() else {
            return false;
        };
        self.pop_short(&mut taking, wc)
    }

    /// One CQE was taken.
    #[inline(always)]
    fn step(&self, memory: &[AtomicU64], next: &mut Next) {
        let number = next.number.wrapping_add(1);
        next.number = number;
        self.layout.taken(memory, number);
        if self.layout.is_first(number) {
            std::mem::swap(&mut next.plain, &mut next.turned);
        }
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
    pub fn create_cq(&self, cqe: usize, channel: Option<&CompChannel>) -> Result<Cq, VerbsError> {
        self.make_cq(cqe, channel, false)
    }

    /// A completion queue for a queue pair that is lent to another process ([`Qp::lend`](super::Qp::lend)).
    #[tracing::instrument(name = "create_cq", level = "debug", skip_all, fields(device = self.name(), cqe = cqe))]
    pub fn create_lendable_cq(&self, cqe: usize) -> Result<Cq, VerbsError> {
        self.make_cq(cqe, None, true)
    }

    fn make_cq(
        &self,
        cqe: usize,
        channel: Option<&CompChannel>,
        lendable: bool,
    ) -> Result<Cq, VerbsError> {
        if cqe == 0 {
            return Err(VerbsError::InvalidSize {
                what: "the number of completion queue entries",
                given: 0,
                allowed: "at least 1",
            });
        }
        if channel.is_some_and(|channel| !channel.device.is(self)) {
            return Err(VerbsError::WrongDevice {
                what: "completion channel",
            });
        }
        let layout = CompletionQueue::new(cqe).ok_or(VerbsError::InvalidSize {
            what: "the number of completion queue entries",
            given: cqe as u64,
            allowed: "at most 16777216",
        })?;
        let bytes = layout.bytes();
        let memory = QueueMemory::new(bytes, lendable).ok_or(VerbsError::NoMemory { bytes })?;
        Ok(Cq {
            device: self.clone(),
            inner: Arc::new(CqInner {
                cqe,
                channel: channel.map(|channel| channel.inner.clone()),
                layout,
                memory,
                promised: AtomicUsize::new(0),
                written: AtomicU32::new(0),
                taking: SpinMutex::new(Taking {
                    next: Next::new(&layout),
                    ..Taking::default()
                }),
            }),
        })
    }

    /// A completion channel: where queues that were asked to announce their next completion do so.
    #[tracing::instrument(name = "create_comp_channel", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_comp_channel(&self) -> CompChannel {
        CompChannel {
            device: self.clone(),
            inner: Arc::default(),
        }
    }
}

impl Cq {
    pub(super) fn inner(&self) -> &Arc<CqInner> {
        &self.inner
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its size.
    pub fn cqe(&self) -> usize {
        self.inner.cqe
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
    pub fn poll_one(&self) -> Result<Option<Wc>, VerbsError> {
        let mut wc = Wc::default();
        let count = self.poll_slice(std::slice::from_mut(&mut wc))?;
        Ok((count > 0).then_some(wc))
    }

    /// Up to `max` completions, oldest first.
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
    pub fn req_notify(&self, which: Notify) -> Result<(), VerbsError> {
        if self.inner.channel.is_none() {
            return Err(VerbsError::NoChannel);
        }
        let armed = match which {
            Notify::Any => CqDoorbell::ANY,
            Notify::Solicited => CqDoorbell::SOLICITED,
        };
        self.inner.layout.arm(self.inner.memory(), armed);
        Ok(())
    }
}

/// A completion channel. Clones are the same channel.
#[derive(Clone, Debug)]
pub struct CompChannel {
    device: Device,
    inner: Arc<ChannelInner>,
}

#[derive(Debug, Default)]
struct ChannelInner {
    events: Arc<Events<Weak<CqInner>>>,
}

impl CompChannel {
    fn pop(&self) -> Option<Cq> {
        // A queue that is gone has nothing to say.
        let inner = self.inner.events.pop(|cq| cq.upgrade())?;
        Some(Cq {
            device: self.device.clone(),
            inner,
        })
    }

    /// A file that is readable while a queue has announced a completion, or the device has something to do: then call
    /// [`try_get_event`](Self::try_get_event). The order is that of `ibv_req_notify_cq` and a completion channel's `fd`: ask
    /// ([`Cq::req_notify`]), poll once more, wait for the file, take the event, ask again, poll until the queue is empty.
    pub fn readiness(&self) -> Result<Readiness, DeviceError> {
        self.device.readiness_of(&self.inner.events)
    }

    /// The queue that announced a completion, if one did. Never blocks.
    pub fn try_get_event(&self) -> Result<Option<Cq>, VerbsError> {
        if let Some(cq) = self.pop() {
            return Ok(Some(cq));
        }
        self.device.progress()?;
        Ok(self.pop())
    }

    /// The queue that announced a completion; sleeps until one does or the time is over.
    #[tracing::instrument(name = "get_cq_event", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn get_event(&self, timeout: Option<Duration>) -> Result<Option<Cq>, VerbsError> {
        let found = self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?;
        Ok(found)
    }
}

/// A point in the device's time.
pub(crate) fn deadline(device: &Device, timeout: Option<Duration>) -> Option<u64> {
    let nanos = |t: Duration| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX);
    timeout.map(|t| device.now().saturating_add(nanos(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is written where a code should be: what nobody knows is no success.
    #[test]
    fn codes_that_nobody_knows_are_errors() {
        for code in 0..=u8::MAX {
            let mut wc = Wc::default();
            let cqe = Cqe {
                status: code,
                opcode: code,
                ..Cqe::default()
            };
            wc.set(1, &cqe);
            let known = code <= CqeStatus::RemoteOperation as u8;
            assert_eq!(wc.status == WcStatus::GeneralError, !known, "{code}");
            assert_eq!(wc.status == WcStatus::Success, code == 0, "{code}");
            let send = !(2..=9).contains(&code);
            assert_eq!(wc.opcode == WcOpcode::Send, send, "{code}");
        }
    }

    /// The short way says of two codes what the long way says, or nothing.
    #[test]
    fn usual_codes_are_as_ever() {
        let mut found = 0;
        for codes in 0..=u16::MAX {
            let [opcode, status] = codes.to_le_bytes();
            let Some(short) = usual(codes) else {
                continue;
            };
            found += 1;
            let mut wc = Wc::default();
            let cqe = Cqe {
                status,
                opcode,
                ..Cqe::default()
            };
            wc.set(1, &cqe);
            assert_eq!(short, (wc.opcode, wc.status));
            assert!((1..=4).contains(&opcode));
        }
        assert_eq!(found, 16);
    }
}
