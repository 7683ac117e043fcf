//! `ibv_cq_ex`: completions taken one after the other, and field by field.

use std::ffi::{c_int, c_uint};

use weft_hostdrv::verbs::Wc;

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::completions::{status, Queue, Said};
use crate::object::Object;

/// Fields that a completion of iWARP has, or that are zero.
const FIELDS: ibv_create_cq_wc_flags = IBV_WC_EX_WITH_BYTE_LEN
    | IBV_WC_EX_WITH_IMM
    | IBV_WC_EX_WITH_QP_NUM
    | IBV_WC_EX_WITH_SRC_QP
    | IBV_WC_EX_WITH_SLID
    | IBV_WC_EX_WITH_SL
    | IBV_WC_EX_WITH_DLID_PATH_BITS;

/// Can there be such a queue?
pub(crate) fn check(init: &ibv_cq_init_attr_ex) -> Answer<()> {
    if init.cqe == 0 {
        return refuse(libc::EINVAL, "a queue of no entries");
    }
    if init.wc_flags & !u64::from(FIELDS) != 0 {
        return refuse(libc::EOPNOTSUPP, "a field that completions do not have");
    }
    // One thread alone, or no care for overruns: no queue needs to know.
    if init.comp_mask & !IBV_CQ_INIT_ATTR_MASK_FLAGS != 0 {
        return refuse(libc::EOPNOTSUPP, "parents of completion queues");
    }
    Ok(())
}

/// Its calls.
pub(crate) fn give(queue: &mut ibv_cq_ex) {
    queue.start_poll = Some(start_poll);
    queue.next_poll = Some(next_poll);
    queue.end_poll = Some(end_poll);
    queue.read_opcode = Some(read_opcode);
    queue.read_vendor_err = Some(read_nothing);
    queue.read_byte_len = Some(read_byte_len);
    queue.read_imm_data = Some(read_imm_data);
    queue.read_qp_num = Some(read_qp_num);
    queue.read_src_qp = Some(read_nothing);
    queue.read_wc_flags = Some(read_wc_flags);
    queue.read_slid = Some(read_nothing);
    queue.read_sl = Some(read_no_byte);
    queue.read_dlid_path_bits = Some(read_no_byte);
}

/// Takes the next completion, whose queue is this thread's; false: there is none.
///
/// # Safety
/// The queue is the program's, and locked.
unsafe fn take(cq: *mut ibv_cq_ex) -> Answer<bool> {
    // SAFETY: the caller's promise: nobody else has `current`.
    unsafe {
        let queue = Queue::of(cq.cast())?;
        let current = &mut *queue.current.get();
        if queue.cq.poll_slice(std::slice::from_mut(current))? == 0 {
            return Ok(false);
        }
        ((*cq).wr_id, (*cq).status) = (current.wr_id, status(current.status));
    }
    Ok(true)
}

/// The completion that was taken last.
///
/// # Safety
/// As [`take`].
unsafe fn current<'a>(cq: *mut ibv_cq_ex) -> Answer<&'a Wc> {
    // SAFETY: the caller's promise.
    unsafe { Ok(&*Queue::of(cq.cast())?.current.get()) }
}

/// What a poll answers.
fn found(taken: bool) -> c_int {
    match taken {
        true => 0,
        false => libc::ENOENT,
    }
}

operations! {
    /// Locks the queue and takes a completion; without one, ENOENT, and it is not locked.
    status fn start_poll(cq: *mut ibv_cq_ex, _attr: *mut ibv_poll_cq_attr) -> c_int {
        Queue::of(cq.cast::<ibv_cq>())?;
        libc::pthread_mutex_lock(&raw mut (*cq).mutex);
        let taken = take(cq);
        if !matches!(taken, Ok(true)) {
            libc::pthread_mutex_unlock(&raw mut (*cq).mutex);
        }
        taken.map(found)
    }

    /// Takes another one.
    status fn next_poll(cq: *mut ibv_cq_ex) -> c_int {
        take(cq).map(found)
    }

    /// Unlocks it.
    void fn end_poll(cq: *mut ibv_cq_ex) {
        Queue::of(cq.cast::<ibv_cq>())?;
        libc::pthread_mutex_unlock(&raw mut (*cq).mutex);
        Ok(())
    }

    /// Of the completion that was taken.
    number fn read_opcode(cq: *mut ibv_cq_ex) -> ibv_wc_opcode {
        Ok(Said::of(current(cq)?).opcode)
    }

    /// Likewise.
    number fn read_byte_len(cq: *mut ibv_cq_ex) -> u32 {
        Ok(Said::of(current(cq)?).byte_len)
    }

    /// Its immediate data, or the key that was invalidated.
    number fn read_imm_data(cq: *mut ibv_cq_ex) -> __be32 {
        Ok(Said::of(current(cq)?).word)
    }

    /// Its queue pair.
    number fn read_qp_num(cq: *mut ibv_cq_ex) -> u32 {
        Ok(current(cq)?.qp_num)
    }

    /// Its flags.
    number fn read_wc_flags(cq: *mut ibv_cq_ex) -> c_uint {
        Ok(Said::of(current(cq)?).flags)
    }

    /// What iWARP has not is zero.
    number fn read_nothing(_cq: *mut ibv_cq_ex) -> u32 {
        Ok(0)
    }

    /// Likewise.
    number fn read_no_byte(_cq: *mut ibv_cq_ex) -> u8 {
        Ok(0)
    }
}
