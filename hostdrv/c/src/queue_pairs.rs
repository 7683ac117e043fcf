//! Queue pairs.

use std::cell::UnsafeCell;
use std::ffi::c_int;

use weft_hostdrv::cm::CmId;
use weft_hostdrv::verbs::{Qp, QpCap, QpInit, QpState, Xrcd};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::cm::id::default_domain;
use crate::completions::Queue;
use crate::extended_posts::{self, Building};
use crate::memory::{Domain, Regions};
use crate::object::{given, zeros, Object};
use crate::process::{process, Process};
use crate::shared_receives::SharedQueue;
use crate::xrc::Given;

/// `ibv_qp`, which is an `ibv_qp_ex`.
#[repr(C)]
pub(crate) struct QueuePair {
    pub(crate) c: ibv_qp_ex,
    pub(crate) qp: Qp,
    pub(crate) regions: &'static Regions,
    process: &'static Process,
    /// What it was made with, and told the program.
    init: ibv_qp_init_attr,
    places: [usize; 2],
    /// An identifier has it, and ends its connection.
    of_id: bool,
    /// One more handle of a target: its end is this handle's alone.
    is_opened: bool,
    /// Work that `ibv_wr_start` began. Who has begun it has it to himself.
    pub(crate) building: UnsafeCell<Building>,
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

/// Beyond `ibv_qp_init_attr`.
#[derive(Default)]
pub(crate) struct Extended {
    /// The domain of an XRC target.
    pub(crate) xrcd: Option<Xrcd>,
    /// What `ibv_wr_start` is wanted for, if it is: `send_ops_flags`.
    pub(crate) operations: Option<u64>,
}

/// Completion queues of a queue pair, where it has them.
struct Queues<'a> {
    send: Option<&'a Queue>,
    recv: Option<&'a Queue>,
}

impl Queues<'_> {
    /// Each work request is to have a place.
    fn make_room(&self, places: [usize; 2]) -> Answer<()> {
        for (queue, places) in [self.send, self.recv].into_iter().zip(places) {
            if let Some(queue) = queue {
                queue.make_room(places)?;
            }
        }
        Ok(())
    }

    fn give_room_back(&self, places: [usize; 2]) {
        for (queue, places) in [self.send, self.recv].into_iter().zip(places) {
            if let Some(queue) = queue {
                queue.give_room_back(places);
            }
        }
    }
}

/// What the driver is to make, its completion queues, and the places that it wants there.
///
/// # Safety
/// The handles in `init` are the program's, or null.
unsafe fn wanted<'a>(
    init: &ibv_qp_init_attr,
    cap: QpCap,
    extended: &Extended,
) -> Answer<(QpInit, Queues<'a>, [usize; 2])> {
    let sends = cap.max_send_wr as usize;
    let sq_sig_all = init.sq_sig_all != 0;
    // SAFETY: the caller's promise.
    let queue = |cq: *mut ibv_cq| unsafe { Queue::of::<'a>(cq) };
    Ok(match init.qp_type {
        IBV_QPT_RC => {
            let (send, recv) = (queue(init.send_cq)?, queue(init.recv_cq)?);
            let srq = match init.srq.is_null() {
                true => None,
                // SAFETY: the caller's promise.
                false => Some(unsafe { SharedQueue::of(init.srq) }?.srq.clone()),
            };
            let receives = match srq {
                // A message of its own for each that it may have taken.
                Some(_) => 0,
                None => cap.max_recv_wr as usize,
            };
            let weft = QpInit {
                recv_cq: recv.cq.clone(),
                cap,
                srq,
                sq_sig_all,
                ..QpInit::new(&send.cq)
            };
            let (send, recv) = (Some(send), Some(recv));
            (weft, Queues { send, recv }, [sends, receives])
        }
        IBV_QPT_XRC_SEND => {
            let send = queue(init.send_cq)?;
            let weft = QpInit {
                cap: QpCap {
                    max_recv_wr: 1,
                    max_recv_sge: 1,
                    ..cap
                },
                sq_sig_all,
                ..QpInit::new(&send.cq).initiator()
            };
            let (send, recv) = (Some(send), None);
            (weft, Queues { send, recv }, [sends, 0])
        }
        IBV_QPT_XRC_RECV => {
            let Some(xrcd) = &extended.xrcd else {
                return refuse(libc::EINVAL, "an XRC target is of a domain");
            };
            let (send, recv) = (None, None);
            (xrcd.target(), Queues { send, recv }, [0, 0])
        }
        _ => return refuse(libc::EOPNOTSUPP, "iWARP has connections and nothing else"),
    })
}

/// Makes a queue pair, for an identifier or by itself, and writes what it has into `init`.
///
/// # Safety
/// The handles in it and `pd` are the program's, or null.
pub(crate) unsafe fn create(
    pd: *mut ibv_pd,
    init: &mut ibv_qp_init_attr,
    id: Option<&CmId>,
    extended: &Extended,
) -> Answer<*mut ibv_qp> {
    // SAFETY: the caller's promise.
    let domain = unsafe { Domain::of(pd) }?;
    let shown = capacities(&init.cap);
    // A Write with immediate data is two messages.
    let most = process()?.device.attributes().max_qp_wr;
    let twice = shown.max_send_wr.saturating_mul(2).min(most);
    let cap = QpCap {
        max_send_wr: twice.max(shown.max_send_wr),
        ..shown
    };
    // SAFETY: the caller's promise.
    let (weft, queues, places) = unsafe { wanted(init, cap, extended) }?;
    queues.make_room(places)?;
    let made = match id {
        Some(id) => id.create_qp(&domain.pd, &weft).map_err(Into::into),
        None => domain.pd.create_qp(&weft).map_err(Into::into),
    };
    let qp = match made {
        Ok(qp) => qp,
        Err(refused) => {
            queues.give_room_back(places);
            return Err(refused);
        }
    };
    init.cap = ibv_qp_cap {
        max_send_wr: shown.max_send_wr,
        max_recv_wr: shown.max_recv_wr,
        max_send_sge: shown.max_send_sge as u32,
        max_recv_sge: shown.max_recv_sge as u32,
        max_inline_data: shown.max_inline_data as u32,
    };
    // SAFETY: pointers that may be null and numbers; a mutex and a condition of zeros are usable ones.
    let mut c: ibv_qp_ex = unsafe { zeros() };
    if extended.operations.is_some() {
        extended_posts::give(&mut c);
    }
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
        is_opened: false,
        building: UnsafeCell::default(),
    }
    .give();
    process.qps.add(number, handle);
    Ok(handle)
}

impl QueuePair {
    /// One more handle of a target, which has this structure.
    pub(crate) fn of_target(qp: Qp, mut c: ibv_qp_ex) -> Answer<*mut ibv_qp> {
        let (process, number) = (process()?, qp.qp_num());
        (c.qp_base.qp_num, c.qp_base.qp_type) = (number, IBV_QPT_XRC_RECV);
        c.qp_base.state = state(qp.state()?);
        let handle = Self {
            c,
            qp,
            regions: &process.regions,
            process,
            // SAFETY: pointers that may be null and numbers.
            init: unsafe { zeros() },
            places: [0; 2],
            of_id: false,
            is_opened: true,
            building: UnsafeCell::default(),
        }
        .give();
        process.qps.add_if_new(number, handle);
        Ok(handle)
    }

    /// Does each Send say which shared queue of the peer takes it?
    pub(crate) fn is_initiator(&self) -> bool {
        self.c.qp_base.qp_type == IBV_QPT_XRC_SEND
    }
}

/// # Safety
/// As `ibv_destroy_qp`.
pub(crate) unsafe fn destroy(qp: *mut ibv_qp) -> Answer<()> {
    // SAFETY: the caller's promise.
    let pair = unsafe { QueuePair::take(qp) }?;
    pair.process.qps.remove(pair.qp.qp_num(), qp);
    drop(pair.process.events.remove(|event| event.is_of_qp(qp)));
    let queues = [pair.c.qp_base.send_cq, pair.c.qp_base.recv_cq];
    for (queue, places) in queues.into_iter().zip(pair.places) {
        // SAFETY: a completion queue outlives the queue pairs that complete there.
        if let (1.., Some(queue)) = (places, unsafe { Queue::peek(queue) }) {
            queue.give_room_back(places);
        }
    }
    if pair.is_opened {
        return Ok(());
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
        create(pd, &mut *init, None, &Extended::default())
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

    /// The same structure, extended; it was made for that.
    made fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex {
        match QueuePair::of(qp)?.c.wr_start {
            Some(_) => Ok(qp.cast()),
            None => refuse(libc::EOPNOTSUPP, "a queue pair that was made without send_ops_flags"),
        }
    }
}

operations! {
    /// As `ibv_create_qp`, with an XRC domain, and for `ibv_wr_start`, where it is asked for.
    made fn create_qp_ex(_context: *mut ibv_context, init: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp {
        let init = given(init.cast_const()).map(|_| &mut *init)?;
        let extended = extensions(init)?;
        let pd = domain_of(init)?;
        // The extended structure begins as the other.
        create(pd, &mut *(&raw mut *init).cast::<ibv_qp_init_attr>(), None, &extended)
    }
}

/// The protection domain that is asked for; an XRC target may do without.
fn domain_of(init: &ibv_qp_init_attr_ex) -> Answer<*mut ibv_pd> {
    match init.comp_mask & IBV_QP_INIT_ATTR_PD != 0 {
        true => Ok(init.pd),
        false if init.qp_type == IBV_QPT_XRC_RECV => default_domain(process()?),
        false => refuse(libc::EINVAL, "no domain of the queue pair"),
    }
}

/// What is asked for beyond a queue pair.
///
/// # Safety
/// The handles in `init` are the program's, or null.
pub(crate) unsafe fn extensions(init: &ibv_qp_init_attr_ex) -> Answer<Extended> {
    let has = |bit| init.comp_mask & bit != 0;
    const KNOWN: ibv_qp_init_attr_mask = IBV_QP_INIT_ATTR_PD
        | IBV_QP_INIT_ATTR_XRCD
        | IBV_QP_INIT_ATTR_CREATE_FLAGS
        | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    if init.comp_mask & !KNOWN != 0 || has(IBV_QP_INIT_ATTR_CREATE_FLAGS) && init.create_flags != 0
    {
        return refuse(libc::EOPNOTSUPP, "extensions of queue pairs");
    }
    let operations = has(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS).then_some(init.send_ops_flags);
    extended_posts::check(operations.unwrap_or(0))?;
    let xrcd = match has(IBV_QP_INIT_ATTR_XRCD) && !init.xrcd.is_null() {
        // SAFETY: the caller's promise.
        true => Some(unsafe { Given::of(init.xrcd) }?.xrcd.clone()),
        false => None,
    };
    Ok(Extended { xrcd, operations })
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
