//! A program as C has them: a server that sends back what it is sent, and a client that checks it. Memory is the heap's, and begins anywhere.

use std::io::Write;
use std::ptr::null_mut;

use weft_rdma::asynchronous::ibv_get_async_event;
use weft_rdma::c::*;
use weft_rdma::cm::{channel::*, id::*};
use weft_rdma::{completions::*, memory::*};

use super::Errand;

/// Bytes of a message.
const BYTES: usize = 3000;
/// Where they begin in a block of the heap's.
const OFFSET: usize = 100;

/// How a program ends.
pub const FINE: i32 = 0;
pub const WRONG_BYTES: i32 = 3;
pub const DEVICE_GONE: i32 = 4;
pub const CONNECTION_GONE: i32 = 5;
pub const NO_DEVICE: i32 = 6;

/// The bytes of a message.
fn pattern(seed: u64, message: u64) -> Vec<u8> {
    let start = (seed << 32 | message).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut state = start | 1;
    let step = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(step).take(BYTES).collect()
}

/// A connection's queues and memory: half of it is sent, half of it receives.
struct Ends {
    qp: *mut ibv_qp,
    cq: *mut ibv_cq,
    mr: *mut ibv_mr,
    memory: *mut u8,
}

// SAFETY: handles of the library's and memory that one thread uses at a time.
unsafe impl Send for Ends {}

impl Ends {
    /// Makes what an identifier connects with, and posts a receive.
    ///
    /// # Safety
    /// The identifier is the program's.
    unsafe fn of(id: *mut rdma_cm_id) -> Self {
        // SAFETY: the calls of a C program, in its order.
        unsafe {
            let pd = ibv_alloc_pd((*id).verbs);
            let cq = ibv_create_cq((*id).verbs, 8, null_mut(), null_mut(), 0);
            assert!(!pd.is_null() && !cq.is_null());
            let memory = libc::malloc(2 * BYTES + OFFSET).cast::<u8>().add(OFFSET);
            let rights = IBV_ACCESS_LOCAL_WRITE as i32;
            let mr = ibv_reg_mr(pd, memory.cast(), 2 * BYTES, rights);
            assert!(!mr.is_null(), "{}", std::io::Error::last_os_error());
            let mut init: ibv_qp_init_attr = std::mem::zeroed();
            (init.send_cq, init.recv_cq, init.qp_type) = (cq, cq, IBV_QPT_RC);
            (init.cap.max_send_wr, init.cap.max_send_sge) = (2, 1);
            (init.cap.max_recv_wr, init.cap.max_recv_sge) = (2, 1);
            assert_eq!(rdma_create_qp(id, pd, &mut init), 0);
            let (qp, mr) = ((*id).qp, mr);
            let ends = Self { qp, cq, mr, memory };
            assert_eq!(ends.receive(), 0);
            ends
        }
    }

    fn sge(&self, at: usize) -> ibv_sge {
        ibv_sge {
            addr: self.memory as u64 + at as u64,
            length: BYTES as u32,
            // SAFETY: the region that was made in `of`.
            lkey: unsafe { (*self.mr).lkey },
        }
    }

    fn receive(&self) -> i32 {
        let mut sge = self.sge(BYTES);
        // SAFETY: structures that live as long as the call; it is `ibv_post_recv` of the headers.
        unsafe {
            let mut wr: ibv_recv_wr = std::mem::zeroed();
            (wr.sg_list, wr.num_sge) = (&mut sge, 1);
            let mut bad = null_mut();
            let post = (*(*self.qp).context).ops.post_recv;
            post.map_or(-1, |post| post(self.qp, &mut wr, &mut bad))
        }
    }

    fn send(&self, bytes: &[u8]) -> i32 {
        let mut sge = self.sge(0);
        // SAFETY: the first half of the memory; the rest as above.
        unsafe {
            self.memory.copy_from(bytes.as_ptr(), BYTES);
            let mut wr: ibv_send_wr = std::mem::zeroed();
            (wr.sg_list, wr.num_sge) = (&mut sge, 1);
            (wr.opcode, wr.send_flags) = (IBV_WR_SEND, IBV_SEND_SIGNALED);
            let mut bad = null_mut();
            let post = (*(*self.qp).context).ops.post_send;
            post.map_or(-1, |post| post(self.qp, &mut wr, &mut bad))
        }
    }

    /// What was received.
    fn received(&self) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        // SAFETY: the second half of the memory.
        unsafe { bytes.as_mut_ptr().copy_from(self.memory.add(BYTES), BYTES) };
        bytes
    }

    /// The opcode of the next completion, or how the program ends.
    fn complete(&self) -> Result<ibv_wc_opcode, i32> {
        // SAFETY: a structure that lives as long as the calls; it is `ibv_poll_cq` of the headers.
        unsafe {
            let mut wc: ibv_wc = std::mem::zeroed();
            loop {
                let poll = (*(*self.cq).context).ops.poll_cq;
                match poll.map_or(-1, |poll| poll(self.cq, 1, &mut wc)) {
                    0 => std::thread::yield_now(),
                    1 if wc.status == IBV_WC_SUCCESS => return Ok(wc.opcode),
                    1 => return Err(CONNECTION_GONE),
                    _ => return Err(DEVICE_GONE),
                }
            }
        }
    }

    /// Until both have come: what was sent has gone, and something was received.
    fn both(&self) -> Result<(), i32> {
        let (mut sent, mut received) = (false, false);
        while !(sent && received) {
            match self.complete()? {
                IBV_WC_SEND => sent = true,
                _ => received = true,
            }
        }
        Ok(())
    }

    /// Sends back what it is sent, as long as somebody sends.
    fn echo(&self) {
        while let Ok(opcode) = self.complete() {
            if opcode == IBV_WC_SEND {
                continue;
            }
            let bytes = self.received();
            if self.receive() != 0 || self.send(&bytes) != 0 {
                return;
            }
        }
    }
}

pub fn address(ip: [u8; 4], port: u16) -> sockaddr_in {
    // SAFETY: numbers.
    let mut address: sockaddr_in = unsafe { std::mem::zeroed() };
    (address.sin_family, address.sin_port) = (2, port.to_be());
    address.sin_addr.s_addr = u32::from_ne_bytes(ip);
    address
}

/// A channel and its listener at this address, and says so; `None`: there is no device.
pub unsafe fn listening(mut at: sockaddr_in) -> Option<(*mut rdma_event_channel, *mut rdma_cm_id)> {
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let channel = rdma_create_event_channel();
        if channel.is_null() {
            return None;
        }
        let mut listener = null_mut();
        assert_eq!(
            rdma_create_id(channel, &mut listener, null_mut(), RDMA_PS_TCP),
            0
        );
        assert_eq!(rdma_bind_addr(listener, (&raw mut at).cast()), 0);
        assert_eq!(rdma_listen(listener, 8), 0);
        say("listens");
        Some((channel, listener))
    }
}

/// The next event of a channel, which is acknowledged: what it is, and of which identifier.
pub unsafe fn next(
    channel: *mut rdma_event_channel,
) -> Result<(rdma_cm_event_type, *mut rdma_cm_id), i32> {
    let mut event = null_mut();
    // SAFETY: the program's channel.
    unsafe {
        if rdma_get_cm_event(channel, &mut event) != 0 {
            return Err(DEVICE_GONE);
        }
        let said = ((*event).event, (*event).id);
        rdma_ack_cm_event(event);
        match said.0 {
            RDMA_CM_EVENT_DEVICE_REMOVAL => Err(DEVICE_GONE),
            _ => Ok(said),
        }
    }
}

/// One whose device is gone is told so as an asynchronous event, too; its work may be flushed before.
unsafe fn ended(context: *mut ibv_context, why: i32) -> i32 {
    // SAFETY: the program's context, and structures that live as long as the calls.
    unsafe {
        let mut polled = libc::pollfd {
            fd: (*context).async_fd,
            events: libc::POLLIN,
            revents: 0,
        };
        if libc::poll(&mut polled, 1, 5000) != 1 {
            return why;
        }
        // There may be some of its queue pairs. After the last one a call does not wait.
        let (mut event, mut fatal): (ibv_async_event, _) = (std::mem::zeroed(), 0);
        while ibv_get_async_event(context, &mut event) == 0 {
            fatal += u32::from(event.event_type == IBV_EVENT_DEVICE_FATAL);
        }
        match fatal {
            1 => DEVICE_GONE,
            _ => CONNECTION_GONE,
        }
    }
}

/// Serves until so many clients have gone.
fn serve(errand: &Errand) -> i32 {
    // SAFETY: the calls of a C program, in its order; each connection has a thread.
    unsafe {
        let Some((channel, listener)) = listening(address(errand.ip, errand.port)) else {
            return NO_DEVICE;
        };
        let mut gone = 0;
        while gone < errand.count {
            match next(channel) {
                Ok((RDMA_CM_EVENT_CONNECT_REQUEST, id)) => {
                    let ends = Ends::of(id);
                    assert_eq!(rdma_accept(id, null_mut()), 0);
                    std::thread::spawn(move || {
                        // All of it, and not its pointers alone.
                        let ends = ends;
                        ends.echo();
                    });
                }
                Ok((RDMA_CM_EVENT_DISCONNECTED, _)) => gone += 1,
                Ok(_) => {}
                Err(why) => return ended((*listener).verbs, why),
            }
        }
    }
    FINE
}

/// Sends so many messages, 0: without end, and checks what comes back.
fn ask(errand: &Errand) -> i32 {
    // SAFETY: the calls of a C program, in its order.
    unsafe {
        let channel = rdma_create_event_channel();
        if channel.is_null() {
            return NO_DEVICE;
        }
        let mut id = null_mut();
        assert_eq!(rdma_create_id(channel, &mut id, null_mut(), RDMA_PS_TCP), 0);
        let to = address(errand.ip, errand.port);
        let none: *mut sockaddr = null_mut();
        let steps: [&dyn Fn() -> i32; 2] = [
            &|| rdma_resolve_addr(id, none, (&raw const to).cast_mut().cast(), 2000),
            &|| rdma_resolve_route(id, 2000),
        ];
        for step in steps {
            assert_eq!(step(), 0);
            if let Err(why) = next(channel) {
                return ended((*id).verbs, why);
            }
        }
        let ends = Ends::of(id);
        assert_eq!(rdma_connect(id, null_mut()), 0);
        match next(channel) {
            Ok((RDMA_CM_EVENT_ESTABLISHED, _)) => {}
            Ok((other, _)) => {
                eprintln!("event {other}");
                return CONNECTION_GONE;
            }
            Err(why) => return ended((*id).verbs, why),
        }
        let mut message = 0;
        while errand.count == 0 || message < errand.count {
            let bytes = pattern(errand.seed, message);
            let done = match ends.send(&bytes) {
                0 => ends.both(),
                _ => Err(DEVICE_GONE),
            };
            if let Err(why) = done {
                return ended((*id).verbs, why);
            }
            if ends.received() != bytes {
                return WRONG_BYTES;
            }
            if ends.receive() != 0 {
                return ended((*id).verbs, DEVICE_GONE);
            }
            message += 1;
            if message == 5 {
                say("works");
            }
        }
    }
    // Its end in order is the library's, at exit.
    FINE
}

/// Tells the test something.
pub fn say(what: &str) {
    println!("{what}");
    let _ = std::io::stdout().flush();
}

/// The program.
pub fn run(errand: &Errand) -> i32 {
    match errand.serves {
        true => serve(errand),
        false => ask(errand),
    }
}
