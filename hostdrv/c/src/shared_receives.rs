//! Shared receive queues.

use std::ffi::c_int;

use weft_hostdrv::verbs::{RecvWr, Srq, SrqInit};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::memory::{Domain, Regions};
use crate::object::{given, zeros, Object};
use crate::posting::post_receives;
use crate::process::{process, Process};

/// `ibv_srq`.
#[repr(C)]
pub(crate) struct SharedQueue {
    c: ibv_srq,
    pub(crate) srq: Srq,
    regions: &'static Regions,
    process: &'static Process,
}

// SAFETY: `repr(C)`, and `ibv_srq` comes first.
unsafe impl Object for SharedQueue {
    type C = ibv_srq;
}

/// # Safety
/// `pd` is the program's or null.
pub(crate) unsafe fn create(pd: *mut ibv_pd, init: &mut ibv_srq_init_attr) -> Answer<*mut ibv_srq> {
    // SAFETY: the caller's promise.
    let domain = unsafe { Domain::of(pd) }?;
    let process = process()?;
    let wanted = SrqInit {
        max_wr: init.attr.max_wr.max(1),
        max_sge: init.attr.max_sge.max(1) as usize,
        srq_limit: 0,
    };
    let srq = domain.pd.create_srq(&wanted)?;
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_srq = unsafe { zeros() };
    // SAFETY: the domain is the program's.
    c.context = unsafe { (*pd).context };
    (c.srq_context, c.pd) = (init.srq_context, pd);
    let number = srq.srq_num();
    let handle = SharedQueue {
        c,
        srq,
        regions: &process.regions,
        process,
    }
    .give();
    process.srqs.add(number, handle);
    Ok(handle)
}

entries! {
    /// A shared receive queue.
    made fn ibv_create_srq(pd: *mut ibv_pd, init: *mut ibv_srq_init_attr) -> *mut ibv_srq {
        given(init)?;
        create(pd, &mut *init)
    }

    /// Its limit.
    verb fn ibv_modify_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr, mask: c_int) -> c_int {
        let shared = SharedQueue::of(srq)?;
        if mask as u32 & IBV_SRQ_MAX_WR != 0 {
            return refuse(libc::EOPNOTSUPP, "another size of a shared receive queue");
        }
        if mask as u32 & IBV_SRQ_LIMIT != 0 {
            shared.srq.modify(given(attr)?.srq_limit)?;
        }
        Ok(())
    }

    /// As it stands.
    verb fn ibv_query_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr) -> c_int {
        given(attr)?;
        let now = SharedQueue::of(srq)?.srq.query()?;
        attr.write(ibv_srq_attr {
            max_wr: now.max_wr,
            max_sge: now.max_sge as u32,
            srq_limit: now.srq_limit,
        });
        Ok(())
    }

    /// It goes.
    verb fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int {
        let shared = SharedQueue::take(srq)?;
        shared.process.srqs.remove(shared.srq.srq_num());
        drop(shared.process.events.remove(|event| event.is_of_srq(srq)));
        Ok(())
    }
}

operations! {
    /// Receives.
    verb fn post_srq_recv(srq: *mut ibv_srq, wr: *mut ibv_recv_wr, bad: *mut *mut ibv_recv_wr) -> c_int {
        let shared = SharedQueue::of(srq)?;
        post_receives(shared.regions, wr, bad, |wr: RecvWr<'_>| shared.srq.post_recv(wr))
    }
}
