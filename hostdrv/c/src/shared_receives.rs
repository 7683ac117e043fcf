//! Shared receive queues.

use std::ffi::{c_int, c_void};
use std::ptr;

use weft_hostdrv::verbs::{RecvWr, Srq, SrqInit, Xrcd};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::completions::Queue;
use crate::memory::{Domain, Regions};
use crate::object::{given, zeros, Object};
use crate::posting::post_receives;
use crate::process::{process, Process};
use crate::xrc::Given;

/// `ibv_srq`.
#[repr(C)]
pub(crate) struct SharedQueue {
    c: ibv_srq,
    pub(crate) srq: Srq,
    regions: &'static Regions,
    process: &'static Process,
    /// Of one of an XRC domain: where its receives complete.
    cq: *mut ibv_cq,
}

// SAFETY: `repr(C)`, and `ibv_srq` comes first.
unsafe impl Object for SharedQueue {
    type C = ibv_srq;
}

/// Where the receives of a queue of an XRC domain complete, and the domain.
pub(crate) struct InDomain<'a> {
    pub(crate) xrcd: &'a Xrcd,
    pub(crate) cq: *mut ibv_cq,
}

/// # Safety
/// The handles are the program's or null.
pub(crate) unsafe fn create(
    pd: *mut ibv_pd,
    context: *mut c_void,
    attr: &ibv_srq_attr,
    of: Option<InDomain<'_>>,
) -> Answer<*mut ibv_srq> {
    // SAFETY: the caller's promise.
    let domain = unsafe { Domain::of(pd) }?;
    let process = process()?;
    let wanted = SrqInit {
        max_wr: attr.max_wr.max(1),
        max_sge: attr.max_sge.max(1) as usize,
        srq_limit: 0,
    };
    let (srq, cq) = match of {
        None => (domain.pd.create_srq(&wanted)?, ptr::null_mut()),
        Some(of) => {
            // SAFETY: the caller's promise.
            let queue = unsafe { Queue::of(of.cq) }?;
            let places = wanted.max_wr as usize;
            queue.make_room(places)?;
            match domain.pd.create_xrc_srq(of.xrcd, &queue.cq, &wanted) {
                Ok(srq) => (srq, of.cq),
                Err(refused) => {
                    queue.give_room_back(places);
                    return Err(refused.into());
                }
            }
        }
    };
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_srq = unsafe { zeros() };
    // SAFETY: the domain is the program's.
    c.context = unsafe { (*pd).context };
    (c.srq_context, c.pd) = (context, pd);
    let number = srq.srq_num();
    let handle = SharedQueue {
        c,
        srq,
        regions: &process.regions,
        process,
        cq,
    }
    .give();
    process.srqs.add(number, handle);
    Ok(handle)
}

/// # Safety
/// As `ibv_create_srq_ex`.
pub(crate) unsafe fn create_extended(init: &ibv_srq_init_attr_ex) -> Answer<*mut ibv_srq> {
    let has = |bit| init.comp_mask & bit == bit;
    let kind = match has(IBV_SRQ_INIT_ATTR_TYPE) {
        true => init.srq_type,
        false => IBV_SRQT_BASIC,
    };
    if !has(IBV_SRQ_INIT_ATTR_PD) {
        return refuse(libc::EINVAL, "no domain of the shared receive queue");
    }
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            IBV_SRQT_BASIC => create(init.pd, init.srq_context, &init.attr, None),
            IBV_SRQT_XRC if has(IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ) => {
                let of = InDomain {
                    xrcd: &Given::of(init.xrcd)?.xrcd,
                    cq: init.cq,
                };
                create(init.pd, init.srq_context, &init.attr, Some(of))
            }
            IBV_SRQT_XRC => refuse(libc::EINVAL, "an XRC domain and a queue are wanted"),
            _ => refuse(
                libc::EOPNOTSUPP,
                "a kind of shared receive queue that there is not",
            ),
        }
    }
}

entries! {
    /// A shared receive queue.
    made fn ibv_create_srq(pd: *mut ibv_pd, init: *mut ibv_srq_init_attr) -> *mut ibv_srq {
        let init = given(init)?;
        create(pd, init.srq_context, &init.attr, None)
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
        shared.process.srqs.remove(shared.srq.srq_num(), srq);
        if !shared.cq.is_null() {
            Queue::of(shared.cq)?.give_room_back(shared.srq.query()?.max_wr as usize);
        }
        drop(shared.process.events.remove(|event| event.is_of_srq(srq)));
        Ok(())
    }
}

operations! {
    /// A shared receive queue of a domain, or of an XRC domain.
    made fn create_srq_ex(_context: *mut ibv_context, init: *mut ibv_srq_init_attr_ex) -> *mut ibv_srq {
        create_extended(given(init)?)
    }

    /// Its number: that of an XRC domain is what its peers send to.
    verb fn get_srq_num(srq: *mut ibv_srq, number: *mut u32) -> c_int {
        given(number)?;
        number.write(SharedQueue::of(srq)?.srq.srq_num());
        Ok(())
    }

    /// Receives.
    verb fn post_srq_recv(srq: *mut ibv_srq, wr: *mut ibv_recv_wr, bad: *mut *mut ibv_recv_wr) -> c_int {
        let shared = SharedQueue::of(srq)?;
        post_receives(shared.regions, (*srq).pd, wr, bad, |wr: RecvWr<'_>| shared.srq.post_recv(wr))
    }
}
