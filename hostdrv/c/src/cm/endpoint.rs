//! Endpoints: identifiers with all that they need, whose calls wait for their events.

use std::ffi::{c_int, c_uint};
use std::ptr;

use super::channel::next;
use super::id::{self, Identifier};
use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::completions::{
    ibv_ack_cq_events, ibv_create_comp_channel, ibv_create_cq, ibv_destroy_comp_channel,
    ibv_destroy_cq,
};
use crate::object::{given, zeros, Object};
use crate::process::{lock, process};
use crate::queue_pairs::Extended;
use crate::shared_receives::{self, InDomain};
use crate::xrc::{self, Given};

/// What a listener gives each connection: a queue pair in a domain.
pub(crate) struct Template {
    pd: *mut ibv_pd,
    init: ibv_qp_init_attr,
}

// SAFETY: pointers of the program's, which uses them from any thread.
unsafe impl Send for Template {}

/// A queue with a channel, for an identifier whose program names none.
///
/// # Safety
/// The identifier is the program's.
unsafe fn queue(
    id: *mut rdma_cm_id,
    places: c_uint,
) -> Answer<(*mut ibv_comp_channel, *mut ibv_cq)> {
    // SAFETY: the caller's promise.
    unsafe {
        let context = (*id).verbs;
        let channel = ibv_create_comp_channel(context);
        let places = c_int::try_from(places.max(1)).unwrap_or(c_int::MAX);
        let cq = match channel.is_null() {
            true => ptr::null_mut(),
            false => ibv_create_cq(context, places, id.cast(), channel, 0),
        };
        if cq.is_null() {
            if !channel.is_null() {
                ibv_destroy_comp_channel(channel);
            }
            return refuse(libc::ENOMEM, "no completion queue for the identifier");
        }
        Ok((channel, cq))
    }
}

/// Completion queues for what names none. Were some made?
///
/// # Safety
/// The identifier is the program's.
pub(crate) unsafe fn give_queues(id: *mut rdma_cm_id, init: &mut ibv_qp_init_attr) -> Answer<bool> {
    let mut made = false;
    // An XRC target completes nothing, an initiator receives nothing.
    let kind = init.qp_type;
    // SAFETY: the caller's promise.
    unsafe {
        if init.send_cq.is_null() && kind != IBV_QPT_XRC_RECV {
            ((*id).send_cq_channel, (*id).send_cq) = queue(id, init.cap.max_send_wr)?;
            init.send_cq = (*id).send_cq;
            made = true;
        }
        if init.recv_cq.is_null() && ![IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND].contains(&kind) {
            ((*id).recv_cq_channel, (*id).recv_cq) = queue(id, init.cap.max_recv_wr)?;
            init.recv_cq = (*id).recv_cq;
            made = true;
        }
    }
    Ok(made)
}

/// They go.
///
/// # Safety
/// The identifier is the program's, and has no queue pair any more.
pub(crate) unsafe fn take_queues(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    unsafe {
        let taken = |cq: &mut *mut ibv_cq, channel: &mut *mut ibv_comp_channel| {
            let cq = std::mem::replace(cq, ptr::null_mut());
            let channel = std::mem::replace(channel, ptr::null_mut());
            if !channel.is_null() {
                ibv_ack_cq_events(cq, 0);
                ibv_destroy_cq(cq);
                ibv_destroy_comp_channel(channel);
            }
        };
        taken(&mut (*id).send_cq, &mut (*id).send_cq_channel);
        taken(&mut (*id).recv_cq, &mut (*id).recv_cq_channel);
    }
}

/// # Safety
/// As `rdma_create_ep`.
unsafe fn prepare(
    id: *mut rdma_cm_id,
    info: &rdma_addrinfo,
    pd: *mut ibv_pd,
    init: *mut ibv_qp_init_attr,
) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(init) = init.as_mut() {
            init.qp_type = info.ai_qp_type as ibv_qp_type;
        }
        if info.ai_flags as u32 & RAI_PASSIVE != 0 {
            id::bind(id, info.ai_src_addr)?;
            if let Some(init) = init.as_ref() {
                let template = Template { pd, init: *init };
                *lock(&Identifier::of(id)?.template) = Some(template);
            }
            return Ok(());
        }
        id::resolve(id, info.ai_src_addr, info.ai_dst_addr)?;
        id::resolve_route(id)?;
        if !init.is_null() {
            id::create_qp(id, pd, init, Extended::default())?;
        }
    }
    Ok(())
}

entries! {
    /// An identifier that is bound, or ready to connect.
    cm fn rdma_create_ep(
        id: *mut *mut rdma_cm_id,
        info: *mut rdma_addrinfo,
        pd: *mut ibv_pd,
        init: *mut ibv_qp_init_attr,
    ) -> c_int {
        given(id)?;
        let info = given(info.cast_const())?;
        let made = id::create(ptr::null_mut(), ptr::null_mut(), info.ai_port_space as rdma_port_space)?;
        if info.ai_qp_type != 0 {
            (*made).qp_type = info.ai_qp_type as ibv_qp_type;
        }
        if let Err(refused) = prepare(made, info, pd, init) {
            id::destroy_qp(made)?;
            id::destroy(made)?;
            return Err(refused);
        }
        id.write(made);
        Ok(())
    }

    /// It goes, with all that it was given.
    void fn rdma_destroy_ep(id: *mut rdma_cm_id) {
        // Before the queue in which it completes.
        if !(*id).srq.is_null() && (*id).qp_type == IBV_QPT_XRC_RECV {
            destroy_srq(id)?;
        }
        id::destroy_qp(id)?;
        if !(*id).srq.is_null() {
            destroy_srq(id)?;
        }
        id::destroy(id)
    }

    /// The next connection that is wanted, with a queue pair if the listener was given one.
    cm fn rdma_get_request(listen: *mut rdma_cm_id, id: *mut *mut rdma_cm_id) -> c_int {
        given(id)?;
        let listener = Identifier::of(listen)?;
        id::forget_event(listen)?;
        let event = next((*listen).channel)?;
        if (*event).event != RDMA_CM_EVENT_CONNECT_REQUEST {
            super::channel::acknowledge(event)?;
            return refuse(libc::EINVAL, "an event that is no request");
        }
        let new = (*event).id;
        let identifier = Identifier::of(new)?;
        identifier.become_synchronous(new)?;
        (*new).event = event;
        let template = lock(&listener.template);
        let made = template.as_ref().map(|template| (template.pd, template.init));
        drop(template);
        if let Some((pd, mut init)) = made {
            init.qp_context = new.cast();
            if let Err(refused) = id::create_qp(new, pd, &mut init, Extended::default()) {
                id::destroy(new)?;
                return Err(refused);
            }
        }
        id.write(new);
        Ok(())
    }

    /// A shared receive queue of the identifier.
    cm fn rdma_create_srq(id: *mut rdma_cm_id, pd: *mut ibv_pd, init: *mut ibv_srq_init_attr) -> c_int {
        Identifier::of(id)?;
        let init = given(init.cast_const())?;
        let mut extended: ibv_srq_init_attr_ex = zeros();
        (extended.srq_context, extended.attr) = (init.srq_context, init.attr);
        extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
        extended.pd = pd;
        extended.srq_type = match (*id).qp_type {
            IBV_QPT_XRC_RECV => IBV_SRQT_XRC,
            _ => IBV_SRQT_BASIC,
        };
        create_srq(id, &mut extended)
    }

    /// The same, of this or that kind.
    cm fn rdma_create_srq_ex(id: *mut rdma_cm_id, init: *mut ibv_srq_init_attr_ex) -> c_int {
        Identifier::of(id)?;
        given(init.cast_const())?;
        create_srq(id, &mut *init)
    }

    /// It goes.
    void fn rdma_destroy_srq(id: *mut rdma_cm_id) {
        destroy_srq(id)
    }
}

/// A shared receive queue, with what the program does not name: domains, and where it completes.
///
/// # Safety
/// As `rdma_create_srq_ex`.
unsafe fn create_srq(id: *mut rdma_cm_id, init: &mut ibv_srq_init_attr_ex) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if init.comp_mask & IBV_SRQ_INIT_ATTR_PD == 0 || init.pd.is_null() {
            init.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
            init.pd = match (*id).pd.is_null() {
                true => id::default_domain(process()?)?,
                false => (*id).pd,
            };
        }
        let is_xrc = init.comp_mask & IBV_SRQ_INIT_ATTR_TYPE != 0 && init.srq_type == IBV_SRQT_XRC;
        let srq = if is_xrc {
            if init.comp_mask & IBV_SRQ_INIT_ATTR_CQ == 0 || init.cq.is_null() {
                if (*id).recv_cq.is_null() {
                    ((*id).recv_cq_channel, (*id).recv_cq) = queue(id, init.attr.max_wr)?;
                }
                init.cq = (*id).recv_cq;
            }
            let named = init.comp_mask & IBV_SRQ_INIT_ATTR_XRCD != 0 && !init.xrcd.is_null();
            let xrcd = match named {
                true => Given::of(init.xrcd)?.xrcd.clone(),
                false => xrc::of_process()?,
            };
            let of = InDomain {
                xrcd: &xrcd,
                cq: init.cq,
            };
            shared_receives::create(init.pd, init.srq_context, &init.attr, Some(of))?
        } else {
            shared_receives::create(init.pd, init.srq_context, &init.attr, None)?
        };
        ((*id).srq, (*id).pd) = (srq, init.pd);
    }
    Ok(())
}

/// # Safety
/// As `rdma_destroy_srq`.
unsafe fn destroy_srq(id: *mut rdma_cm_id) -> Answer<()> {
    // SAFETY: the caller's promise.
    unsafe {
        Identifier::of(id)?;
        let srq = std::mem::replace(&mut (*id).srq, ptr::null_mut());
        shared_receives::ibv_destroy_srq(srq);
    }
    Ok(())
}

/// A structure of zeros to begin with.
pub(crate) fn no_info() -> rdma_addrinfo {
    // SAFETY: pointers that may be null and numbers.
    unsafe { zeros() }
}
