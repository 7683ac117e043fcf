//! Queue pairs.

use std::ffi::c_int;

use weft_hostdrv::cm::CmId;
use weft_hostdrv::verbs::{Qp, QpCap, QpInit, QpState};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::completions::Queue;
use crate::memory::{Domain, Regions};
use crate::object::{given, zeros, Object};
use crate::process::{process, Process};
use crate::shared_receives::SharedQueue;

/// `ibv_qp`, which is an `ibv_qp_ex`.
#[repr(C)]
pub(crate) struct QueuePair {
    c: ibv_qp_ex,
    pub(crate) qp: Qp,
    pub(crate) regions: &'static Regions,
    process: &'static Process,
    /// What it was made with, and told the program.
    init: ibv_qp_init_attr,
    places: [usize; 2],
    /// An identifier has it, and ends its connection.
    of_id: bool,
}

// SAFETY: `repr(C)`, and `ibv_qp_ex` comes first, which begins with an `ibv_qp`.
unsafe impl Object for QueuePair {
    type C = ibv_qp;
}

/// Bytes inline of each queue pair. Programs send a few without having asked, as other drivers round up.
const INLINE: usize = 64;

/// What is wanted, and what this driver has: at least as much.
fn capacities(cap: &ibv_qp_cap) -> QpCap {
    QpCap {
        max_send_wr: cap.max_send_wr.max(1),
        max_recv_wr: cap.max_recv_wr.max(1),
        max_send_sge: cap.max_send_sge.max(1) as usize,
        max_recv_sge: cap.max_recv_sge.max(1) as usize,
        max_inline_data: (cap.max_inline_data as usize).max(INLINE),
    }
}

/// Makes a queue pair, for an identifier or by itself, and writes what it has into `init`.
///
/// # Safety
/// The handles in it and `pd` are the program's, or null.
pub(crate) unsafe fn create(
    pd: *mut ibv_pd,
    init: &mut ibv_qp_init_attr,
    id: Option<&CmId>,
) -> Answer<*mut ibv_qp> {
    // SAFETY: the caller's promise.
    let domain = unsafe { Domain::of(pd) }?;
    if init.qp_type != IBV_QPT_RC {
        return refuse(libc::EOPNOTSUPP, "iWARP has connections and nothing else");
    }
    // SAFETY: the caller's promise.
    let (send, recv) = unsafe { (Queue::of(init.send_cq)?, Queue::of(init.recv_cq)?) };
    let srq = match init.srq.is_null() {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { SharedQueue::of(init.srq) }?.srq.clone()),
    };
    let cap = capacities(&init.cap);
    let places = [
        cap.max_send_wr as usize,
        match srq {
            // A message of its own for each that it may have taken.
            Some(_) => 0,
            None => cap.max_recv_wr as usize,
        },
    ];
    send.make_room(places[0])?;
    recv.make_room(places[1])?;
    let weft = QpInit {
        send_cq: send.cq.clone(),
        recv_cq: recv.cq.clone(),
        cap,
        srq,
        sq_sig_all: init.sq_sig_all != 0,
        ..QpInit::new(&send.cq)
    };
    let made = match id {
        Some(id) => id.create_qp(&domain.pd, &weft).map_err(Into::into),
        None => domain.pd.create_qp(&weft).map_err(Into::into),
    };
    let qp = match made {
        Ok(qp) => qp,
        Err(refused) => {
            send.give_room_back(places[0]);
            recv.give_room_back(places[1]);
            return Err(refused);
        }
    };
    init.cap = ibv_qp_cap {
        max_send_wr: cap.max_send_wr,
        max_recv_wr: cap.max_recv_wr,
        max_send_sge: cap.max_send_sge as u32,
        max_recv_sge: cap.max_recv_sge as u32,
        max_inline_data: cap.max_inline_data as u32,
    };
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_qp_ex = unsafe { zeros() };
    let base = &mut c.qp_base;
    // SAFETY: the domain is the program's.
    base.context = unsafe { (*pd).context };
    (base.qp_context, base.pd) = (init.qp_context, pd);
    (base.send_cq, base.recv_cq, base.srq) = (init.send_cq, init.recv_cq, init.srq);
    (base.qp_num, base.qp_type) = (qp.qp_num(), init.qp_type);
    base.state = if id.is_some() {
        IBV_QPS_INIT
    } else {
        IBV_QPS_RESET
    };
    let (process, number) = (process()?, qp.qp_num());
    let handle = QueuePair {
        c,
        qp,
        regions: &process.regions,
        process,
        init: *init,
        places,
        of_id: id.is_some(),
    }
    .give();
    process.qps.add(number, handle);
    Ok(handle)
}

/// # Safety
/// As `ibv_destroy_qp`.
pub(crate) unsafe fn destroy(qp: *mut ibv_qp) -> Answer<()> {
    // SAFETY: the caller's promise.
    let pair = unsafe { QueuePair::take(qp) }?;
    pair.process.qps.remove(pair.qp.qp_num());
    drop(pair.process.events.remove(|event| event.is_of_qp(qp)));
    let queues = [pair.c.qp_base.send_cq, pair.c.qp_base.recv_cq];
    for (queue, places) in queues.into_iter().zip(pair.places) {
        // SAFETY: a completion queue outlives the queue pairs that complete there.
        unsafe { Queue::of(queue) }?.give_room_back(places);
    }
    // An identifier's goes with the identifier, so that its connection gets to its end; but one that stands is given up.
    if !pair.of_id || pair.qp.state().is_ok_and(|state| state == QpState::Rts) {
        pair.qp.modify(QpState::Error)?;
    }
    Ok(())
}

fn state(state: QpState) -> ibv_qp_state {
    match state {
        QpState::Idle => IBV_QPS_INIT,
        QpState::Rts => IBV_QPS_RTS,
        QpState::Closing => IBV_QPS_SQD,
        QpState::Terminating | QpState::Error => IBV_QPS_ERR,
    }
}

entries! {
    /// A queue pair that no identifier has. Only an identifier connects one.
    made fn ibv_create_qp(pd: *mut ibv_pd, init: *mut ibv_qp_init_attr) -> *mut ibv_qp {
        given(init)?;
        create(pd, &mut *init, None)
    }

    /// It goes, and its connection with it.
    verb fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int {
        destroy(qp)
    }

    /// Its state, and what it was made with.
    verb fn ibv_query_qp(
        qp: *mut ibv_qp,
        attr: *mut ibv_qp_attr,
        _mask: c_int,
        init: *mut ibv_qp_init_attr,
    ) -> c_int {
        let pair = QueuePair::of(qp)?;
        let now = pair.qp.query()?;
        if !init.is_null() {
            init.write(pair.init);
        }
        given(attr)?;
        let mut found: ibv_qp_attr = zeros();
        found.qp_state = state(now.state);
        found.cur_qp_state = found.qp_state;
        found.cap = pair.init.cap;
        found.port_num = 1;
        found.path_mtu = IBV_MTU_1024;
        found.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        attr.write(found);
        (*qp).state = found.qp_state;
        Ok(())
    }

    /// To the error state. The others it reaches by its identifier, so that they are asked for in vain, and granted.
    verb fn ibv_modify_qp(qp: *mut ibv_qp, attr: *mut ibv_qp_attr, mask: c_int) -> c_int {
        let pair = QueuePair::of(qp)?;
        let wanted = given(attr)?.qp_state;
        if mask as u32 & IBV_QP_STATE == 0 {
            return Ok(());
        }
        match wanted {
            IBV_QPS_ERR => pair.qp.modify(QpState::Error)?,
            IBV_QPS_SQD => pair.qp.modify(QpState::Closing)?,
            IBV_QPS_RESET | IBV_QPS_INIT if pair.qp.state()? == QpState::Idle => {}
            IBV_QPS_RTR | IBV_QPS_RTS if pair.qp.state()? == QpState::Rts => {}
            _ => return refuse(libc::EOPNOTSUPP, "a queue pair of iWARP is connected by rdma_connect and rdma_accept"),
        }
        (*qp).state = wanted;
        Ok(())
    }

    /// The same structure, extended.
    made fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex {
        QueuePair::of(qp)?;
        refuse(libc::EOPNOTSUPP, "ibv_wr_start and its like")
    }
}

operations! {
    /// As `ibv_create_qp`, where nothing is asked for beyond it.
    made fn create_qp_ex(_context: *mut ibv_context, init: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp {
        create_extended(init, None)
    }
}

/// # Safety
/// `init` is null or valid, and the handles in it are the program's.
pub(crate) unsafe fn create_extended(
    init: *mut ibv_qp_init_attr_ex,
    id: Option<&CmId>,
) -> Answer<*mut ibv_qp> {
    // SAFETY: the caller's promise.
    let mask = unsafe { given(init) }?.comp_mask;
    if mask != IBV_QP_INIT_ATTR_PD {
        return refuse(libc::EOPNOTSUPP, "extensions of queue pairs");
    }
    // SAFETY: the caller's promise; the extended structure begins as the other.
    unsafe { create((*init).pd, &mut *init.cast::<ibv_qp_init_attr>(), id) }
}

/// Where a queue pair of an identifier stands now.
///
/// # Safety
/// It is null or the program's.
pub(crate) unsafe fn show_state(qp: *mut ibv_qp, now: ibv_qp_state) {
    if !qp.is_null() {
        // SAFETY: the caller's promise.
        unsafe { (*qp).state = now };
    }
}
