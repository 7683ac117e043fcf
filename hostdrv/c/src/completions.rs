//! Completion channels and queues.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use weft_hostdrv::verbs::{Cq, FoundWc, Moderation, Notify, Wc, WcOpcode, WcStatus};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::device::{check_vector, of_context};
use crate::events::Events;
use crate::object::{given, zeros, Object};
use crate::process::{lock, Process};
use crate::{extended_polls, immediate};

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
    pub(crate) c: ibv_cq_ex,
    pub(crate) cq: Cq,
    process: &'static Process,
    announcer: Option<Arc<Announcer>>,
    acknowledged: Acknowledged,
    /// What `ibv_start_poll` and `ibv_next_poll` found last. Who polls so has it to himself.
    pub(crate) current: UnsafeCell<Wc>,
    /// Places that work requests may want.
    promised: AtomicUsize,
}

// SAFETY: `repr(C)`, and `ibv_cq_ex` comes first, which begins as an `ibv_cq` does.
unsafe impl Object for Queue {
    type C = ibv_cq;
}

/// Where a queue says that it has something.
struct Announcer {
    to: Arc<Events<Announced>>,
    /// The queue's handle, as long as it has one.
    handle: Mutex<Option<Announced>>,
}

impl Announcer {
    /// The queue announces a completion.
    fn announce(&self) {
        let handle = lock(&self.handle);
        if let Some(handle) = *handle {
            self.to.push(handle);
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
    let announcer = match channel.is_null() {
        true => None,
        false => Some(Arc::new(Announcer {
            // SAFETY: the caller's promise.
            to: unsafe { Channel::of(channel) }?.events.clone(),
            handle: Mutex::default(),
        })),
    };
    let weft = announcer
        .clone()
        .map(|announcer| device.create_callback_comp_channel(move || announcer.announce()));
    let cq = device.create_cq(cqe, weft.as_ref())?;
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_cq_ex = unsafe { zeros() };
    (c.context, c.channel, c.cq_context) = (context, channel, cq_context);
    c.cqe = c_int::try_from(cqe).unwrap_or(c_int::MAX);
    let handle = Queue {
        c,
        cq,
        process,
        announcer: announcer.clone(),
        acknowledged: Acknowledged::default(),
        promised: AtomicUsize::new(0),
        current: UnsafeCell::new(Wc::default()),
    }
    .give();
    if let Some(announcer) = announcer {
        *lock(&announcer.handle) = Some(handle as usize);
        // SAFETY: the caller's promise.
        unsafe { (*channel).refcnt += 1 };
    }
    Ok(handle)
}

entries! {
    /// A channel.
    made fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
        let process = of_context(context)?;
        let events = Arc::new(Events::new()?);
        process.end_with_device(&events);
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
        vector: c_int,
    ) -> *mut ibv_cq {
        check_vector(vector)?;
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
            let handle = lock(&announcer.handle).take();
            announcer.to.remove(|announced| Some(*announced) == handle);
            (*(*cq).channel).refcnt -= 1;
        }
        if queue.acknowledged.wait() {
            drop(Queue::take(cq)?);
        }
        // Else the program may still name it: its memory stays.
        Ok(())
    }
}

fast_operations! {
    /// Completions, oldest first.
    count fn poll_cq(cq: *mut ibv_cq, count: c_int, to: *mut ibv_wc) -> c_int {
        usual {
            match Queue::peek(cq) {
                Some(queue) if count == 1 && queue.cq.poll_usual(&mut Written(to)) => Some(1),
                _ => None,
            }
        }
        else {
            Queue::of(cq)?.poll_many(count, to)
        }
    }
}

operations! {
    /// Asks for an event.
    verb fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
        let queue = Queue::of(cq)?;
        queue.cq.req_notify(match solicited_only {
            0 => Notify::Any,
            _ => Notify::Solicited,
        })?;
        // The program may sleep now.
        queue.process.device.leave_to_driver();
        Ok(())
    }

    /// A queue whose completions can be taken field by field.
    made fn create_cq_ex(context: *mut ibv_context, init: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
        let init = given(init)?;
        extended_polls::check(init)?;
        check_vector(c_int::try_from(init.comp_vector).unwrap_or(c_int::MAX))?;
        let made: *mut ibv_cq_ex = create(context, init.cqe as usize, init.cq_context, init.channel)?.cast();
        extended_polls::give(&mut *made);
        Ok(made)
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
        Ok(done as c_int)
    }
}

/// A structure of the program's that the short way of a poll writes.
struct Written(*mut ibv_wc);

impl FoundWc for Written {
    #[inline(always)]
    fn what(&mut self, of: WcOpcode, how: WcStatus, qp_num: u32) {
        let to = self.0;
        // SAFETY: who polls has room for a completion; its fields are numbers.
        unsafe {
            (*to).opcode = opcode(of);
            (*to).status = status(how);
            (*to).qp_num = qp_num;
        }
    }

    #[inline(always)]
    fn which(&mut self, wr_id: u64, byte_len: u32) {
        let to = self.0;
        // SAFETY: as above.
        unsafe {
            (*to).wr_id = wr_id;
            (*to).byte_len = byte_len;
            // All that is behind them is zero, as for any iWARP device.
            ((*to).vendor_err, (*to).wc_flags) = (0, 0);
            (*to).__bindgen_anon_1 = ibv_wc__bindgen_ty_1 { imm_data: 0 };
            ((*to).src_qp, (*to).pkey_index, (*to).slid) = (0, 0, 0);
            ((*to).sl, (*to).dlid_path_bits) = (0, 0);
        }
    }
}

/// What a completion is in rdma-core's terms.
pub(crate) struct Said {
    pub(crate) opcode: ibv_wc_opcode,
    pub(crate) flags: ibv_wc_flags,
    pub(crate) byte_len: u32,
    /// The immediate data, or the key that was invalidated.
    pub(crate) word: u32,
}

impl Said {
    pub(crate) fn of(wc: &Wc) -> Self {
        let plain = Self {
            opcode: opcode(wc.opcode),
            flags: 0,
            byte_len: wc.byte_len,
            word: 0,
        };
        match (wc.imm_data, wc.invalidated_rkey) {
            (Some(data), _) => Self {
                opcode: IBV_WC_RECV_RDMA_WITH_IMM,
                flags: IBV_WC_WITH_IMM,
                byte_len: immediate::length(data),
                word: immediate::word(data),
            },
            (None, Some(rkey)) => Self {
                flags: IBV_WC_WITH_INV,
                word: rkey,
                ..plain
            },
            (None, None) => plain,
        }
    }
}

/// # Safety
/// `to` is valid.
unsafe fn write_completion(wc: &Wc, to: *mut ibv_wc) {
    let said = Said::of(wc);
    // SAFETY: the caller's promise; all fields are written.
    unsafe {
        to.write(ibv_wc {
            wr_id: wc.wr_id,
            status: status(wc.status),
            opcode: said.opcode,
            vendor_err: 0,
            byte_len: said.byte_len,
            __bindgen_anon_1: ibv_wc__bindgen_ty_1 {
                imm_data: said.word,
            },
            qp_num: wc.qp_num,
            src_qp: 0,
            wc_flags: said.flags,
            pkey_index: 0,
            slid: 0,
            sl: 0,
            dlid_path_bits: 0,
        });
    }
}

/// The names of statuses by the driver's numbers: a table, since the short way of a poll has a number.
const STATUSES: [ibv_wc_status; 8] = {
    let mut table = [IBV_WC_GENERAL_ERR; 8];
    table[WcStatus::Success as usize] = IBV_WC_SUCCESS;
    table[WcStatus::WrFlushError as usize] = IBV_WC_WR_FLUSH_ERR;
    table[WcStatus::LocalProtectionError as usize] = IBV_WC_LOC_PROT_ERR;
    table[WcStatus::LocalQpOperationError as usize] = IBV_WC_LOC_QP_OP_ERR;
    table[WcStatus::RemoteAccessError as usize] = IBV_WC_REM_ACCESS_ERR;
    table[WcStatus::RemoteOperationError as usize] = IBV_WC_REM_OP_ERR;
    table
};

#[inline(always)]
pub(crate) fn status(status: WcStatus) -> ibv_wc_status {
    STATUSES[status as usize % STATUSES.len()]
}

/// The same of opcodes.
const OPCODES: [ibv_wc_opcode; 16] = {
    let mut table = [IBV_WC_SEND; 16];
    table[WcOpcode::RdmaWrite as usize] = IBV_WC_RDMA_WRITE;
    table[WcOpcode::RdmaRead as usize] = IBV_WC_RDMA_READ;
    table[WcOpcode::Recv as usize] = IBV_WC_RECV;
    table[WcOpcode::LocalInvalidate as usize] = IBV_WC_LOCAL_INV;
    table[WcOpcode::BindMw as usize] = IBV_WC_BIND_MW;
    table[WcOpcode::FastRegister as usize] = IBV_WC_BIND_MW;
    table[WcOpcode::FetchAdd as usize] = IBV_WC_FETCH_ADD;
    table[WcOpcode::CompSwap as usize] = IBV_WC_COMP_SWAP;
    table
};

#[inline(always)]
fn opcode(opcode: WcOpcode) -> ibv_wc_opcode {
    OPCODES[opcode as usize % OPCODES.len()]
}
