//! Completion channels and queues.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use weft_hostdrv::verbs::{CompChannel, Cq, Moderation, Notify, Wc, WcOpcode, WcStatus};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::device::of_context;
use crate::events::Events;
use crate::object::{given, zeros, Object};
use crate::process::{lock, Process};

/// `ibv_comp_channel`.
#[repr(C)]
struct Channel {
    c: ibv_comp_channel,
    events: Arc<Events<Announced>>,
}

// SAFETY: `repr(C)`, and `ibv_comp_channel` comes first.
unsafe impl Object for Channel {
    type C = ibv_comp_channel;
}

/// A queue that has announced a completion, by its handle's address.
type Announced = usize;

/// `ibv_cq`, which is an `ibv_cq_ex`.
#[repr(C)]
pub(crate) struct Queue {
    c: ibv_cq_ex,
    pub(crate) cq: Cq,
    process: &'static Process,
    announcer: Option<Arc<Announcer>>,
    acknowledged: Acknowledged,
    /// Places that work requests may want.
    promised: AtomicUsize,
}

// SAFETY: `repr(C)`, and `ibv_cq_ex` comes first, which begins as an `ibv_cq` does.
unsafe impl Object for Queue {
    type C = ibv_cq;
}

/// Where a queue says that it has something.
pub(crate) struct Announcer {
    weft: CompChannel,
    to: Arc<Events<Announced>>,
    armed: AtomicBool,
    /// The queue's handle, when it has one.
    handle: Mutex<Announced>,
}

impl Announcer {
    /// Was an event asked for that has not come?
    pub(crate) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    /// Hands on what the queue has announced.
    pub(crate) fn deliver(&self) {
        if !self.is_armed() {
            return;
        }
        while let Ok(Some(_)) = self.weft.try_get_event() {
            self.armed.store(false, Ordering::Release);
            self.to.push(*lock(&self.handle));
        }
    }
}

/// Events that were given to the program, and that it has acknowledged.
#[derive(Default)]
pub(crate) struct Acknowledged {
    counts: Mutex<(u64, u64)>,
    changed: Condvar,
}

impl Acknowledged {
    pub(crate) fn gave(&self) {
        lock(&self.counts).0 += 1;
    }

    pub(crate) fn acknowledge(&self, events: u64) {
        lock(&self.counts).1 += events;
        self.changed.notify_all();
    }

    /// What is destroyed waits until all its events are acknowledged, as rdma-core has it; but not for ever, as some programs acknowledge
    /// completions instead. Are they?
    pub(crate) fn wait(&self) -> bool {
        const LIMIT: Duration = Duration::from_secs(1);
        let counts = lock(&self.counts);
        let left = |(gave, acknowledged): &mut (u64, u64)| gave > acknowledged;
        let all = self.changed.wait_timeout_while(counts, LIMIT, left);
        !all.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Queue {
    /// A queue pair or a shared receive queue completes here: each of its work requests is to have a place, as this driver's queues never
    /// overrun. Programs that signal rarely ask for fewer.
    pub(crate) fn make_room(&self, places: usize) -> Answer<()> {
        let promised = self.promised.fetch_add(places, Ordering::Relaxed) + places;
        if promised > self.cq.cqe() {
            self.cq.resize(promised)?;
        }
        Ok(())
    }

    /// They are given back.
    pub(crate) fn give_room_back(&self, places: usize) {
        self.promised.fetch_sub(places, Ordering::Relaxed);
    }
}

/// # Safety
/// `context` and `channel` are the program's, or null.
unsafe fn create(
    context: *mut ibv_context,
    cqe: usize,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
) -> Answer<*mut ibv_cq> {
    // SAFETY: the caller's promise.
    let process = unsafe { of_context(context) }?;
    let device = &process.device;
    let weft = match channel.is_null() {
        true => None,
        false => Some(device.create_comp_channel()),
    };
    let cq = device.create_cq(cqe, weft.as_ref())?;
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_cq_ex = unsafe { zeros() };
    (c.context, c.channel, c.cq_context) = (context, channel, cq_context);
    c.cqe = c_int::try_from(cqe).unwrap_or(c_int::MAX);
    let announcer = match weft {
        None => None,
        Some(weft) => Some(Arc::new(Announcer {
            weft,
            // SAFETY: the caller's promise.
            to: unsafe { Channel::of(channel) }?.events.clone(),
            armed: AtomicBool::new(false),
            handle: Mutex::default(),
        })),
    };
    let handle = Queue {
        c,
        cq,
        process,
        announcer: announcer.clone(),
        acknowledged: Acknowledged::default(),
        promised: AtomicUsize::new(0),
    }
    .give();
    if let Some(announcer) = announcer {
        *lock(&announcer.handle) = handle as usize;
        process.add_announcer(&announcer);
        // SAFETY: the caller's promise.
        unsafe { (*channel).refcnt += 1 };
    }
    Ok(handle)
}

entries! {
    /// A channel.
    made fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
        of_context(context)?;
        let events = Arc::new(Events::new()?);
        let c = ibv_comp_channel { context, fd: events.file(), refcnt: 0 };
        Ok(Channel { c, events }.give())
    }

    /// It goes, unless a queue has it.
    verb fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
        if given(channel)?.refcnt > 0 {
            return refuse(libc::EBUSY, "a completion queue has the channel");
        }
        Channel::take(channel).map(drop)
    }

    /// The queue that has announced a completion, and its context.
    cm fn ibv_get_cq_event(
        channel: *mut ibv_comp_channel,
        cq: *mut *mut ibv_cq,
        cq_context: *mut *mut c_void,
    ) -> c_int {
        given(cq)?;
        given(cq_context)?;
        let events = Channel::of(channel)?.events.clone();
        let announced = events.take()? as *mut ibv_cq;
        Queue::of(announced)?.acknowledged.gave();
        cq.write(announced);
        cq_context.write((*announced).cq_context);
        Ok(())
    }

    /// The program has seen so many events of a queue.
    void fn ibv_ack_cq_events(cq: *mut ibv_cq, events: c_uint) {
        Queue::of(cq)?.acknowledged.acknowledge(events.into());
        Ok(())
    }

    /// A queue.
    made fn ibv_create_cq(
        context: *mut ibv_context,
        cqe: c_int,
        cq_context: *mut c_void,
        channel: *mut ibv_comp_channel,
        _vector: c_int,
    ) -> *mut ibv_cq {
        match usize::try_from(cqe) {
            Ok(cqe @ 1..) => create(context, cqe, cq_context, channel),
            _ => refuse(libc::EINVAL, "a queue of no entries"),
        }
    }

    /// Another size.
    verb fn ibv_resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int {
        let queue = Queue::of(cq)?;
        let Ok(wanted @ 1..) = usize::try_from(cqe) else {
            return refuse(libc::EINVAL, "a queue of no entries");
        };
        queue.cq.resize(wanted.max(queue.promised.load(Ordering::Relaxed)))?;
        (*cq).cqe = cqe;
        Ok(())
    }

    /// It goes, when all its events are acknowledged.
    verb fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int {
        let queue = Queue::of(cq)?;
        if let Some(announcer) = &queue.announcer {
            queue.process.remove_announcer(announcer);
            // Who delivers just now has it still.
            let handle = std::mem::take(&mut *lock(&announcer.handle));
            announcer.to.remove(|announced| [handle, 0].contains(announced));
            (*(*cq).channel).refcnt -= 1;
        }
        if queue.acknowledged.wait() {
            drop(Queue::take(cq)?);
        }
        // Else the program may still name it: its memory stays.
        Ok(())
    }
}

operations! {
    /// Completions, oldest first.
    count fn poll_cq(cq: *mut ibv_cq, count: c_int, to: *mut ibv_wc) -> c_int {
        let queue = Queue::of(cq)?;
        if count == 1 {
            let mut found = Wc::default();
            if queue.cq.poll_slice(std::slice::from_mut(&mut found))? == 0 {
                queue.process.note_idle_poll();
                return Ok(0);
            }
            write_completion(&found, to);
            return Ok(1);
        }
        queue.poll_many(count, to)
    }

    /// Asks for an event.
    verb fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
        let queue = Queue::of(cq)?;
        let Some(announcer) = &queue.announcer else {
            return refuse(libc::EINVAL, "the queue has no channel");
        };
        // Before the queue may announce something: who hands it on has to look.
        announcer.armed.store(true, Ordering::Release);
        queue.cq.req_notify(match solicited_only {
            0 => Notify::Any,
            _ => Notify::Solicited,
        })?;
        // What has come since the last look announces itself to nobody else.
        queue.process.nudge();
        Ok(())
    }

    /// A queue, of which more can be asked one day.
    made fn create_cq_ex(context: *mut ibv_context, init: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
        let init = given(init)?;
        if init.comp_mask != 0 {
            return refuse(libc::EOPNOTSUPP, "flags and parents of completion queues");
        }
        Ok(create(context, init.cqe as usize, init.cq_context, init.channel)?.cast())
    }

    /// How many completions make an event.
    verb fn modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int {
        let moderate = given(attr)?.moderate;
        let count = moderate.cq_count;
        let period = Duration::from_micros(moderate.cq_period.into());
        Queue::of(cq)?.cq.modify((count > 1).then_some(Moderation { count, period }))?;
        Ok(())
    }
}

impl Queue {
    /// # Safety
    /// There is room for `count` completions.
    #[cold]
    #[inline(never)]
    unsafe fn poll_many(&self, count: c_int, to: *mut ibv_wc) -> Answer<c_int> {
        /// At a time.
        const MOST: usize = 32;
        let wanted = usize::try_from(count).unwrap_or(0);
        let mut found = [Wc::default(); MOST];
        let mut done = 0;
        while done < wanted {
            let part = &mut found[..MOST.min(wanted - done)];
            let came = self.cq.poll_slice(part)?;
            for (n, wc) in part[..came].iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { write_completion(wc, to.add(done + n)) };
            }
            done += came;
            if came < part.len() {
                break;
            }
        }
        if done == 0 {
            self.process.note_idle_poll();
        }
        Ok(done as c_int)
    }
}

/// # Safety
/// `to` is valid.
#[inline(always)]
unsafe fn write_completion(wc: &Wc, to: *mut ibv_wc) {
    let (status, opcode) = (status(wc.status), opcode(wc.opcode));
    let (flags, word) = match (wc.imm_data, wc.invalidated_rkey) {
        (None, None) => (0, 0),
        (_, Some(rkey)) => (IBV_WC_WITH_INV, rkey),
        (Some(data), None) => (IBV_WC_WITH_IMM, (data as u32).to_be()),
    };
    // SAFETY: the caller's promise; all fields are written.
    unsafe {
        to.write(ibv_wc {
            wr_id: wc.wr_id,
            status,
            opcode,
            vendor_err: 0,
            byte_len: wc.byte_len,
            __bindgen_anon_1: ibv_wc__bindgen_ty_1 { imm_data: word },
            qp_num: wc.qp_num,
            src_qp: 0,
            wc_flags: flags,
            pkey_index: 0,
            slid: 0,
            sl: 0,
            dlid_path_bits: 0,
        });
    }
}

fn status(status: WcStatus) -> ibv_wc_status {
    match status {
        WcStatus::Success => IBV_WC_SUCCESS,
        WcStatus::WrFlushError => IBV_WC_WR_FLUSH_ERR,
        WcStatus::LocalProtectionError => IBV_WC_LOC_PROT_ERR,
        WcStatus::LocalQpOperationError => IBV_WC_LOC_QP_OP_ERR,
        WcStatus::RemoteAccessError => IBV_WC_REM_ACCESS_ERR,
        WcStatus::RemoteOperationError => IBV_WC_REM_OP_ERR,
        _ => IBV_WC_GENERAL_ERR,
    }
}

fn opcode(opcode: WcOpcode) -> ibv_wc_opcode {
    match opcode {
        WcOpcode::Send => IBV_WC_SEND,
        WcOpcode::RdmaWrite => IBV_WC_RDMA_WRITE,
        WcOpcode::RdmaRead => IBV_WC_RDMA_READ,
        WcOpcode::Recv => IBV_WC_RECV,
        WcOpcode::LocalInvalidate => IBV_WC_LOCAL_INV,
        WcOpcode::BindMw | WcOpcode::FastRegister => IBV_WC_BIND_MW,
        WcOpcode::FetchAdd => IBV_WC_FETCH_ADD,
        WcOpcode::CompSwap => IBV_WC_COMP_SWAP,
    }
}
