//! XRC between three programs as C has them: one accepts with a target and is killed, one opens its target and receives, one sends.

use std::ffi::{c_int, CString};
use std::mem::{offset_of, zeroed};
use std::path::Path;
use std::ptr::null_mut;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use weft_rdma::c::*;
use weft_rdma::cm::{channel::*, id::*};
use weft_rdma::{completions::*, device::*, memory::*, queue_pairs::*};

use super::program::{
    address, listening, next, say, CONNECTION_GONE, DEVICE_GONE, FINE, NO_DEVICE,
};

/// Messages that are received after the accepter has gone.
const AFTER: u32 = 30;
/// Receives in the queue: there is always one, whoever is late.
const RECEIVES: u32 = 512;
/// Between two messages.
const PAUSE: Duration = Duration::from_millis(4);
const BYTES: usize = 64;

/// What one of the programs is to do.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum Role {
    Accepts,
    Opens,
    SendsTo(u32),
}

/// Who does what where: a folder that has the domain's file, and what the test says.
#[derive(Serialize, Deserialize)]
pub struct XrcErrand {
    pub role: Role,
    pub folder: String,
    pub ip: [u8; 4],
    pub port: u16,
}

impl XrcErrand {
    fn address(&self) -> sockaddr_in {
        address(self.ip, self.port)
    }

    /// The number in a file that the test writes some time.
    fn told(&self, name: &str) -> Option<u32> {
        let said = std::fs::read_to_string(Path::new(&self.folder).join(name));
        said.ok()?.trim().parse().ok()
    }
}

/// The context, with what is found by way of `verbs_get_ctx`.
unsafe fn extended<'a>(context: *mut ibv_context) -> &'a verbs_context {
    let start = context.cast::<u8>();
    // SAFETY: every context here is a part of a `verbs_context`.
    unsafe { &*start.sub(offset_of!(verbs_context, context)).cast() }
}

/// The domain of the file, which is made if there is none.
unsafe fn domain(errand: &XrcErrand, context: *mut ibv_context) -> *mut ibv_xrcd {
    let name = CString::new(format!("{}/domain", errand.folder)).expect("a name");
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let oflags = libc::O_CREAT;
        let fd = libc::open(name.as_ptr(), libc::O_RDWR | oflags, 0o600);
        assert!(fd >= 0);
        let mut init = ibv_xrcd_init_attr {
            comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
            fd,
            oflags,
        };
        let xrcd = extended(context).open_xrcd.expect("there")(context, &mut init);
        assert!(!xrcd.is_null(), "{}", std::io::Error::last_os_error());
        xrcd
    }
}

/// Accepts one connection with a target, says its number, and does nothing more.
unsafe fn accepts(errand: &XrcErrand) -> c_int {
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let Some((channel, _)) = listening(errand.address()) else {
            return NO_DEVICE;
        };
        let Ok((RDMA_CM_EVENT_CONNECT_REQUEST, id)) = next(channel) else {
            return CONNECTION_GONE;
        };
        let mut init: ibv_qp_init_attr_ex = zeroed();
        init.qp_type = IBV_QPT_XRC_RECV;
        init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;
        (init.pd, init.xrcd) = (ibv_alloc_pd((*id).verbs), domain(errand, (*id).verbs));
        assert_eq!(rdma_create_qp_ex(id, &mut init), 0);
        assert_eq!(rdma_accept(id, null_mut()), 0);
        say(&format!("target {}", (*(*id).qp).qp_num));
        while next(channel).is_ok() {}
    }
    DEVICE_GONE
}

/// Receives in a queue of the domain, opens the other's target, and lets go of it some messages after the other one has gone.
unsafe fn opens(errand: &XrcErrand) -> c_int {
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let list = ibv_get_device_list(null_mut());
        let context = ibv_open_device(*list);
        if context.is_null() {
            return NO_DEVICE;
        }
        let (pd, xrcd) = (ibv_alloc_pd(context), domain(errand, context));
        let cq = ibv_create_cq(context, RECEIVES as c_int, null_mut(), null_mut(), 0);
        let mut init: ibv_srq_init_attr_ex = zeroed();
        init.srq_type = IBV_SRQT_XRC;
        init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE
            | IBV_SRQ_INIT_ATTR_PD
            | IBV_SRQ_INIT_ATTR_XRCD
            | IBV_SRQ_INIT_ATTR_CQ;
        (init.pd, init.xrcd, init.cq) = (pd, xrcd, cq);
        (init.attr.max_wr, init.attr.max_sge) = (RECEIVES, 1);
        let verbs = extended(context);
        let srq = verbs.create_srq_ex.expect("there")(context, &mut init);
        assert!(!srq.is_null(), "{}", std::io::Error::last_os_error());
        let memory = libc::malloc(BYTES);
        let mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE as c_int);
        assert!(!mr.is_null());
        let receive = || {
            let mut sge = ibv_sge {
                addr: memory as u64,
                length: BYTES as u32,
                lkey: (*mr).lkey,
            };
            let mut wr: ibv_recv_wr = zeroed();
            (wr.sg_list, wr.num_sge) = (&mut sge, 1);
            let post = (*context).ops.post_srq_recv.expect("there");
            assert_eq!(post(srq, &mut wr, &mut null_mut()), 0);
        };
        (0..RECEIVES).for_each(|_| receive());
        let mut number = 0;
        assert_eq!(verbs.get_srq_num.expect("there")(srq, &mut number), 0);
        say(&format!("srq {number}"));
        let target = loop {
            match errand.told("target") {
                Some(target) => break target,
                None => std::thread::sleep(PAUSE),
            }
        };
        let open = |qp_num, xrcd| {
            let mut asked = ibv_qp_open_attr {
                comp_mask: IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
                qp_num,
                xrcd,
                qp_context: null_mut(),
                qp_type: IBV_QPT_XRC_RECV,
            };
            verbs.open_qp.expect("there")(context, &mut asked)
        };
        assert!(open(target + 1, xrcd).is_null() && open(target, null_mut()).is_null());
        let [first, second] = [(); 2].map(|()| open(target, xrcd));
        assert!(!first.is_null() && !second.is_null());
        assert_eq!(((*first).qp_num, (*first).state), (target, IBV_QPS_RTS));
        assert_eq!(ibv_destroy_qp(second), 0);
        say("opened");
        let mut left = AFTER;
        while left > 0 {
            let mut wc: ibv_wc = zeroed();
            match (*context).ops.poll_cq.expect("there")(cq, 1, &mut wc) {
                0 => std::thread::yield_now(),
                1 if wc.status == IBV_WC_SUCCESS => {
                    assert_eq!(wc.qp_num, target);
                    receive();
                    left -= u32::from(errand.told("killed").is_some());
                }
                _ => return CONNECTION_GONE,
            }
        }
        assert_eq!(ibv_destroy_qp(first), 0);
        say("left");
        // It is there, and has the target no more: so the connection ends.
        while errand.told("over").is_none() {
            std::thread::sleep(PAUSE);
        }
    }
    FINE
}

/// Sends to a shared receive queue until the connection ends.
unsafe fn sends(errand: &XrcErrand, srq: u32) -> c_int {
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let channel = rdma_create_event_channel();
        let mut id = null_mut();
        assert_eq!(rdma_create_id(channel, &mut id, null_mut(), RDMA_PS_TCP), 0);
        let to = errand.address();
        assert_eq!(
            rdma_resolve_addr(id, null_mut(), (&raw const to).cast_mut().cast(), 2000),
            0
        );
        assert!(next(channel).is_ok());
        assert_eq!(rdma_resolve_route(id, 2000), 0);
        assert!(next(channel).is_ok());
        let pd = ibv_alloc_pd((*id).verbs);
        let cq = ibv_create_cq((*id).verbs, 8, null_mut(), null_mut(), 0);
        let mut init: ibv_qp_init_attr = zeroed();
        (init.send_cq, init.qp_type) = (cq, IBV_QPT_XRC_SEND);
        (init.cap.max_send_wr, init.cap.max_send_sge) = (2, 1);
        assert_eq!(rdma_create_qp(id, pd, &mut init), 0);
        assert_eq!(rdma_connect(id, null_mut()), 0);
        let Ok((RDMA_CM_EVENT_ESTABLISHED, _)) = next(channel) else {
            return CONNECTION_GONE;
        };
        say("works");
        let ops = (*(*id).verbs).ops;
        loop {
            let mut wr: ibv_send_wr = zeroed();
            (wr.opcode, wr.send_flags) = (IBV_WR_SEND, IBV_SEND_SIGNALED);
            wr.qp_type.xrc.remote_srqn = srq;
            if ops.post_send.expect("there")((*id).qp, &mut wr, &mut null_mut()) != 0 {
                break;
            }
            let mut wc: ibv_wc = zeroed();
            let poll = ops.poll_cq.expect("there");
            while poll(cq, 1, &mut wc) == 0 {
                std::thread::yield_now();
            }
            if wc.status != IBV_WC_SUCCESS {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        match next(channel) {
            Ok((RDMA_CM_EVENT_DISCONNECTED, _)) => FINE,
            _ => DEVICE_GONE,
        }
    }
}

/// The program.
pub fn run(errand: &XrcErrand) -> c_int {
    // SAFETY: each does the calls of a C program, in its order.
    unsafe {
        match errand.role {
            Role::Accepts => accepts(errand),
            Role::Opens => opens(errand),
            Role::SendsTo(srq) => sends(errand, srq),
        }
    }
}
